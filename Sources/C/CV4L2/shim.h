#pragma once
#include <errno.h>
#include <libv4l-plugin.h>
#include <libv4lconvert.h>
#include <linux/videodev2.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

// The kernel's requests are macros that Swift cannot see. Each call begins again when a signal breaks it off, and returns 0, or -1 with errno.
static inline int v4l2_request(int device, unsigned long request, void *argument) {
  int result;
  do result = ioctl(device, request, argument);
  while (result == -1 && errno == EINTR);
  return result == -1 ? -1 : 0;
}
#define V4L2_CALL(name, request, type) \
  static inline int v4l2_##name(int device, type *argument) { return v4l2_request(device, request, argument); }
V4L2_CALL(query_capability, VIDIOC_QUERYCAP, struct v4l2_capability)
V4L2_CALL(enumerate_formats, VIDIOC_ENUM_FMT, struct v4l2_fmtdesc)
V4L2_CALL(enumerate_sizes, VIDIOC_ENUM_FRAMESIZES, struct v4l2_frmsizeenum)
V4L2_CALL(enumerate_intervals, VIDIOC_ENUM_FRAMEINTERVALS, struct v4l2_frmivalenum)
V4L2_CALL(get_parameters, VIDIOC_G_PARM, struct v4l2_streamparm)
V4L2_CALL(set_parameters, VIDIOC_S_PARM, struct v4l2_streamparm)
V4L2_CALL(request_buffers, VIDIOC_REQBUFS, struct v4l2_requestbuffers)
V4L2_CALL(query_buffer, VIDIOC_QUERYBUF, struct v4l2_buffer)
V4L2_CALL(enqueue, VIDIOC_QBUF, struct v4l2_buffer)
V4L2_CALL(dequeue, VIDIOC_DQBUF, struct v4l2_buffer)
V4L2_CALL(export_buffer, VIDIOC_EXPBUF, struct v4l2_exportbuffer)
V4L2_CALL(stream_on, VIDIOC_STREAMON, int)
V4L2_CALL(stream_off, VIDIOC_STREAMOFF, int)
V4L2_CALL(query_control, VIDIOC_QUERY_EXT_CTRL, struct v4l2_query_ext_ctrl)
V4L2_CALL(dequeue_event, VIDIOC_DQEVENT, struct v4l2_event)
V4L2_CALL(subscribe_event, VIDIOC_SUBSCRIBE_EVENT, struct v4l2_event_subscription)
V4L2_CALL(unsubscribe_event, VIDIOC_UNSUBSCRIBE_EVENT, struct v4l2_event_subscription)
V4L2_CALL(get_priority, VIDIOC_G_PRIORITY, unsigned)
V4L2_CALL(set_priority, VIDIOC_S_PRIORITY, unsigned)
V4L2_CALL(get_selection, VIDIOC_G_SELECTION, struct v4l2_selection)
V4L2_CALL(set_selection, VIDIOC_S_SELECTION, struct v4l2_selection)
V4L2_CALL(encoder_command, VIDIOC_ENCODER_CMD, struct v4l2_encoder_cmd)
V4L2_CALL(decoder_command, VIDIOC_DECODER_CMD, struct v4l2_decoder_cmd)
V4L2_CALL(enumerate_inputs, VIDIOC_ENUMINPUT, struct v4l2_input)
V4L2_CALL(get_input, VIDIOC_G_INPUT, int)

// A format with its planes laid out the same way whether the queue is multi-planar or not.
struct v4l2_picture {
  uint32_t width, height, format, field;
  uint32_t plane_count;
  uint32_t strides[VIDEO_MAX_PLANES], sizes[VIDEO_MAX_PLANES];
  uint32_t color_space, encoding, quantization, transfer;
};
static inline int v4l2_is_multiplanar(uint32_t type) {
  return type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE || type == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE;
}
static inline void v4l2_pack(const struct v4l2_picture *picture, uint32_t type, struct v4l2_format *format) {
  memset(format, 0, sizeof *format);
  format->type = type;
  if (v4l2_is_multiplanar(type)) {
    struct v4l2_pix_format_mplane *p = &format->fmt.pix_mp;
    p->width = picture->width;
    p->height = picture->height;
    p->pixelformat = picture->format;
    p->field = picture->field;
    p->num_planes = picture->plane_count;
    p->colorspace = picture->color_space;
    p->ycbcr_enc = picture->encoding;
    p->quantization = picture->quantization;
    p->xfer_func = picture->transfer;
    for (uint32_t i = 0; i < picture->plane_count && i < VIDEO_MAX_PLANES; i++) {
      p->plane_fmt[i].bytesperline = picture->strides[i];
      p->plane_fmt[i].sizeimage = picture->sizes[i];
    }
  } else {
    struct v4l2_pix_format *p = &format->fmt.pix;
    p->width = picture->width;
    p->height = picture->height;
    p->pixelformat = picture->format;
    p->field = picture->field;
    p->bytesperline = picture->strides[0];
    p->sizeimage = picture->sizes[0];
    p->colorspace = picture->color_space;
    p->priv = V4L2_PIX_FMT_PRIV_MAGIC;
    p->ycbcr_enc = picture->encoding;
    p->quantization = picture->quantization;
    p->xfer_func = picture->transfer;
  }
}
static inline void v4l2_unpack(const struct v4l2_format *format, struct v4l2_picture *picture) {
  memset(picture, 0, sizeof *picture);
  if (v4l2_is_multiplanar(format->type)) {
    const struct v4l2_pix_format_mplane *p = &format->fmt.pix_mp;
    picture->width = p->width;
    picture->height = p->height;
    picture->format = p->pixelformat;
    picture->field = p->field;
    picture->plane_count = p->num_planes < VIDEO_MAX_PLANES ? p->num_planes : VIDEO_MAX_PLANES;
    picture->color_space = p->colorspace;
    picture->encoding = p->ycbcr_enc;
    picture->quantization = p->quantization;
    picture->transfer = p->xfer_func;
    for (uint32_t i = 0; i < picture->plane_count; i++) {
      picture->strides[i] = p->plane_fmt[i].bytesperline;
      picture->sizes[i] = p->plane_fmt[i].sizeimage;
    }
  } else {
    const struct v4l2_pix_format *p = &format->fmt.pix;
    picture->width = p->width;
    picture->height = p->height;
    picture->format = p->pixelformat;
    picture->field = p->field;
    picture->plane_count = 1;
    picture->strides[0] = p->bytesperline;
    picture->sizes[0] = p->sizeimage;
    picture->color_space = p->colorspace;
    if (p->priv == V4L2_PIX_FMT_PRIV_MAGIC) {
      picture->encoding = p->ycbcr_enc;
      picture->quantization = p->quantization;
      picture->transfer = p->xfer_func;
    }
  }
}
static inline int v4l2_get_picture(int device, uint32_t type, struct v4l2_picture *picture) {
  struct v4l2_format format;
  memset(&format, 0, sizeof format);
  format.type = type;
  // Without this a driver may leave out how colours are coded.
  if (!v4l2_is_multiplanar(type)) format.fmt.pix.priv = V4L2_PIX_FMT_PRIV_MAGIC;
  if (v4l2_request(device, VIDIOC_G_FMT, &format)) return -1;
  v4l2_unpack(&format, picture);
  return 0;
}
static inline int v4l2_set_picture(int device, uint32_t type, struct v4l2_picture *picture, int is_trial) {
  struct v4l2_format format;
  v4l2_pack(picture, type, &format);
  if (v4l2_request(device, is_trial ? VIDIOC_TRY_FMT : VIDIOC_S_FMT, &format)) return -1;
  v4l2_unpack(&format, picture);
  return 0;
}

// Controls one by one: their structures are packed, which Swift cannot read. A compound control is no number: EINVAL.
static inline int v4l2_get_control(int device, uint32_t id, int is_wide, int64_t *value) {
  struct v4l2_ext_control control = {.id = id};
  struct v4l2_ext_controls controls = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 1, .controls = &control};
  if (v4l2_request(device, VIDIOC_G_EXT_CTRLS, &controls)) return -1;
  *value = is_wide ? control.value64 : control.value;
  return 0;
}
// All or none, as far as the driver can. `failed` is the index of the one it refused, `count` when it does not say.
static inline int v4l2_set_controls(int device, const uint32_t *ids, const int64_t *values, const unsigned char *are_wide, uint32_t count,
                                    uint32_t *failed) {
  struct v4l2_ext_control list[16];
  *failed = count;
  if (count > 16) return errno = E2BIG, -1;
  memset(list, 0, sizeof list);
  for (uint32_t i = 0; i < count; i++) {
    list[i].id = ids[i];
    if (are_wide[i]) list[i].value64 = values[i];
    else list[i].value = (int32_t)values[i];
  }
  struct v4l2_ext_controls controls = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = count, .controls = list};
  if (v4l2_request(device, VIDIOC_S_EXT_CTRLS, &controls)) return *failed = controls.error_idx, -1;
  return 0;
}
// An entry of a menu: its name (32 bytes), or its number in a menu of integers.
static inline int v4l2_query_menu(int device, uint32_t id, uint32_t index, char *name, int64_t *value) {
  struct v4l2_querymenu entry = {.id = id, .index = index};
  if (v4l2_request(device, VIDIOC_QUERYMENU, &entry)) return -1;
  memcpy(name, entry.name, 32);
  name[31] = 0;
  memcpy(value, entry.name, 8);
  return 0;
}
// Changes the input, except where it is the one already: some drivers stop streams for it.
static inline int v4l2_set_input(int device, int input) { return v4l2_request(device, VIDIOC_S_INPUT, &input); }
// Takes over the timings of the signal that is there (HDMI and the like).
static inline int v4l2_adopt_timings(int device) {
  struct v4l2_dv_timings timings;
  memset(&timings, 0, sizeof timings);
  if (v4l2_request(device, VIDIOC_QUERY_DV_TIMINGS, &timings)) return -1;
  return v4l2_request(device, VIDIOC_S_DV_TIMINGS, &timings);
}

// A device that libv4lconvert can ask nothing but what it insists on, so that it changes no control of a camera behind our back.
static void *v4l2_silent_init(int device) { return NULL; }
static void v4l2_silent_close(void *context) {}
static int v4l2_silent_ioctl(void *context, int device, unsigned long request, void *argument) {
  if (request == VIDIOC_QUERYCAP) return memset(argument, 0, sizeof(struct v4l2_capability)), 0;
  return errno = ENOTTY, -1;
}
static ssize_t v4l2_silent_read(void *context, int device, void *bytes, size_t count) { return -1; }
static ssize_t v4l2_silent_write(void *context, int device, const void *bytes, size_t count) { return -1; }
static inline struct libv4l_dev_ops v4l2_silent_operations(void) {
  struct libv4l_dev_ops operations = {.init = v4l2_silent_init,
                                      .close = v4l2_silent_close,
                                      .ioctl = v4l2_silent_ioctl,
                                      .read = v4l2_silent_read,
                                      .write = v4l2_silent_write};
  return operations;
}
