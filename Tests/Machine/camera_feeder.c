// The inside of a USB camera: gives the kernel's video gadget (f_uvc) numbered moving pictures, YUYV, MJPEG and H.264, and is told what goes wrong.
//
// Reads lines, and answers each with a line of JSON:
//   status          what the host has chosen, the number of the last picture, how many cameras there have been
//   silent on|off   no pictures come, the camera stays: a driver that hangs
//   damaged N       the next N pictures are cut in half
//   black on|off    the lens is covered
//
// At the top of each picture is the strip of Sources/Media/Camera/TimeCode.swift: the number, and the milliseconds of CLOCK_MONOTONIC at which the
// picture was given away. Below it, at (x, y) of picture n: Y = 64 + (x + y + 4n) % 128, U = 64 + 128x / width, V = 64 + 128y / height.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/usb/ch9.h>
#include <linux/usb/g_uvc.h>
#include <linux/usb/video.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <turbojpeg.h>
#include <unistd.h>
#include <wels/codec_api.h>

enum { YUYV = 1, MJPEG = 2, H264 = 3 };        // as gadgets.py numbers the formats
enum { BUFFERS = 3, MOST_PIXELS = 1280 * 720 };
// Controls of f_uvc, by what wIndex (entity and interface) and wValue (selector) of a request say.
#define CONTROL(entity, interface, selector) ((entity) << 16 | (interface) << 8 | (selector))
enum {
  PROBE = CONTROL(0, 1, UVC_VS_PROBE_CONTROL),
  COMMIT = CONTROL(0, 1, UVC_VS_COMMIT_CONTROL),
  EXPOSURE_MODE = CONTROL(1, 0, UVC_CT_AE_MODE_CONTROL),
  BRIGHTNESS = CONTROL(2, 0, UVC_PU_BRIGHTNESS_CONTROL),
};
enum { PAYLOAD = 3072 };                       // bytes in a microframe, as gadgets.py sets them

struct size {
  int width, height;
  uint32_t interval[4];  // of 100 ns, by format
};
// Frame numbers 1 and 2. What doesn't fit through USB 2 comes less often, as in real cameras.
static const struct size sizes[] = {{640, 360, {0, 333333, 333333, 666666}}, {1280, 720, {0, 1000000, 666666, 0}}};

static struct {
  int device, connections;
  bool streaming, silent, black;
  int damaged;
  struct uvc_streaming_control probe, commit;
  int being_set;  // the control that the next data is for
  int brightness;
  uint8_t exposure_mode;
  void *memory[BUFFERS];
  size_t length[BUFFERS];
  bool is_free[BUFFERS];
  uint32_t number;
  int64_t due;     // nanoseconds: the next picture
  int64_t closed;  // when the last connection ended
} camera = {.device = -1, .brightness = 128, .exposure_mode = 8};

static uint8_t luma[MOST_PIXELS], blue[MOST_PIXELS / 2], red[MOST_PIXELS / 2];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static const struct size *chosen_size(void) { return &sizes[camera.commit.bFrameIndex - 1]; }

// The strip.

static uint16_t checksum(uint32_t number, uint64_t milliseconds) {
  uint16_t remainder = 0xFFFF;
  uint8_t bytes[9];
  for (int i = 0; i < 4; i++) bytes[i] = number >> (24 - 8 * i);
  for (int i = 0; i < 5; i++) bytes[4 + i] = milliseconds >> (32 - 8 * i);
  for (size_t i = 0; i < sizeof bytes; i++) {
    remainder ^= bytes[i] << 8;
    for (int bit = 0; bit < 8; bit++) remainder = remainder & 0x8000 ? remainder << 1 ^ 0x1021 : remainder << 1;
  }
  return remainder;
}

static int draw_strip(int width, uint32_t number, uint64_t milliseconds) {
  milliseconds &= 0xFFFFFFFFFF;
  uint32_t words[] = {number, milliseconds, (uint32_t)(milliseconds >> 32) << 24 | checksum(number, milliseconds) << 8 | 0xA5};
  for (int row = 0; row < 3; row++)
    for (int y = row * width / 32; y < (row + 1) * width / 32; y++)
      for (int column = 0; column < 32; column++) {
        int left = column * width / 32, right = (column + 1) * width / 32;
        memset(luma + y * width + left, words[row] >> (31 - column) & 1 ? 220 : 32, right - left);
      }
  int height = 3 * width / 32;
  memset(blue, 128, height * width / 2);
  memset(red, 128, height * width / 2);
  return height;
}

static void draw(const struct size *size, uint32_t number) {
  int width = size->width;
  if (camera.black) {
    memset(luma, 16, width * size->height);
    memset(blue, 128, width * size->height / 2);
    memset(red, 128, width * size->height / 2);
    return;
  }
  uint8_t wave[128], line[MOST_PIXELS];
  for (int i = 0; i < 128; i++) {
    int value = 64 + i + camera.brightness - 128;
    wave[i] = value < 16 ? 16 : value > 235 ? 235 : value;
  }
  // One long line, of which each row is a part.
  for (int x = 0; x < width + size->height; x++) line[x] = wave[(x + 4 * number) & 127];
  int top = draw_strip(width, number, now() / 1000000);
  for (int y = top; y < size->height; y++) {
    memcpy(luma + y * width, line + y, width);
    memset(red + y * width / 2, 64 + 128 * y / size->height, width / 2);
    for (int x = 0; x < width / 2; x++) blue[y * width / 2 + x] = 64 + 256 * x / width;
  }
}

// H.264 as a camera codes it: constrained baseline, SPS and PPS before the key frame that a stream begins with, and no other one.

static ISVCEncoder *encoder;

static void check(bool works, const char *what) {
  if (works) return;
  fprintf(stderr, "camera feeder: %s\n", what);
  exit(1);
}

static void begin_coding(const struct size *size) {
  if (encoder) (*encoder)->Uninitialize(encoder);
  else check(!WelsCreateSVCEncoder(&encoder), "no encoder");
  SEncParamBase parameters = {.iUsageType = CAMERA_VIDEO_REAL_TIME, .iPicWidth = size->width, .iPicHeight = size->height, .iTargetBitrate = 2000000};
  parameters.iRCMode = RC_OFF_MODE;
  parameters.fMaxFrameRate = 15;
  check(!(*encoder)->Initialize(encoder, &parameters), "the encoder does not start");
}

// Writes a picture's access unit, and zeros behind it up to the length that each picture has to have; that length.
static size_t write_unit(const struct size *size, uint8_t *memory, size_t room) {
  // Every other row of chroma.
  static uint8_t planes[2][MOST_PIXELS / 4];
  int half = size->width / 2;
  for (int y = 0; y < size->height / 2; y++) {
    memcpy(planes[0] + y * half, blue + 2 * y * half, half);
    memcpy(planes[1] + y * half, red + 2 * y * half, half);
  }
  SSourcePicture picture = {.iColorFormat = videoFormatI420, .iStride = {size->width, half, half}, .pData = {luma, planes[0], planes[1]}};
  picture.iPicWidth = size->width;
  picture.iPicHeight = size->height;
  picture.uiTimeStamp = now() / 1000000;
  SFrameBSInfo coded = {0};
  check(!(*encoder)->EncodeFrame(encoder, &picture, &coded), "a picture could not be coded");
  size_t length = 0;
  for (int layer = 0; layer < coded.iLayerNum; layer++) {
    const SLayerBSInfo *part = &coded.sLayerInfo[layer];
    size_t count = 0;
    for (int i = 0; i < part->iNalCount; i++) count += part->pNalLengthInByte[i];
    check(length + count <= room, "a picture is too large");
    memcpy(memory + length, part->pBsBuf, count);
    length += count;
  }
  memset(memory + length, 0, room - length);
  return room;
}

// Writes the picture in the chosen format; its length.
static size_t write_picture(uint8_t *memory, size_t room) {
  const struct size *size = chosen_size();
  int pixels = size->width * size->height;
  if (camera.commit.bFormatIndex == YUYV) {
    for (int i = 0; i < pixels / 2; i++) {
      memory[4 * i] = luma[2 * i];
      memory[4 * i + 1] = blue[i];
      memory[4 * i + 2] = luma[2 * i + 1];
      memory[4 * i + 3] = red[i];
    }
    return 2 * pixels;
  }
  if (camera.commit.bFormatIndex == H264) return write_unit(size, memory, camera.commit.dwMaxVideoFrameSize);
  static tjhandle compressor;
  if (!compressor) compressor = tjInitCompress();
  const uint8_t *planes[] = {luma, blue, red};
  const int strides[] = {size->width, size->width / 2, size->width / 2};
  unsigned char *target = memory;
  unsigned long length = room;
  if (tjCompressFromYUVPlanes(compressor, planes, size->width, strides, size->height, TJSAMP_422, &target, &length, 85, TJFLAG_NOREALLOC)) {
    fprintf(stderr, "camera feeder: %s\n", tjGetErrorStr2(compressor));
    exit(1);
  }
  return length;
}

// The stream.

static bool queue(int index) {
  struct v4l2_buffer buffer = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT, .memory = V4L2_MEMORY_MMAP, .index = index};
  draw(chosen_size(), ++camera.number);
  buffer.bytesused = write_picture(camera.memory[index], camera.length[index]);
  if (camera.damaged) camera.damaged--, buffer.bytesused /= 2;
  camera.is_free[index] = ioctl(camera.device, VIDIOC_QBUF, &buffer) < 0;
  return !camera.is_free[index];
}

static void stop(void) {
  if (!camera.streaming) return;
  camera.streaming = false;
  int type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
  struct v4l2_requestbuffers none = {.type = type, .memory = V4L2_MEMORY_MMAP};
  ioctl(camera.device, VIDIOC_STREAMOFF, &type);
  for (int i = 0; i < BUFFERS; i++) munmap(camera.memory[i], camera.length[i]);
  ioctl(camera.device, VIDIOC_REQBUFS, &none);
}

static void start(void) {
  const struct size *size = chosen_size();
  stop();
  struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
  format.fmt.pix.width = size->width;
  format.fmt.pix.height = size->height;
  format.fmt.pix.field = V4L2_FIELD_NONE;
  format.fmt.pix.pixelformat = camera.commit.bFormatIndex == YUYV ? V4L2_PIX_FMT_YUYV : V4L2_PIX_FMT_MJPEG;
  format.fmt.pix.sizeimage = camera.commit.dwMaxVideoFrameSize;
  struct v4l2_requestbuffers request = {.count = BUFFERS, .type = V4L2_BUF_TYPE_VIDEO_OUTPUT, .memory = V4L2_MEMORY_MMAP};
  if (ioctl(camera.device, VIDIOC_S_FMT, &format) < 0 || ioctl(camera.device, VIDIOC_REQBUFS, &request) < 0 || request.count != BUFFERS) return;
  for (int i = 0; i < BUFFERS; i++) {
    struct v4l2_buffer buffer = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT, .memory = V4L2_MEMORY_MMAP, .index = i};
    ioctl(camera.device, VIDIOC_QUERYBUF, &buffer);
    camera.length[i] = buffer.length;
    camera.memory[i] = mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, camera.device, buffer.m.offset);
    camera.is_free[i] = true;
  }
  if (camera.commit.bFormatIndex == H264) begin_coding(size);
  camera.streaming = true;
  camera.due = now();
  int type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
  if (ioctl(camera.device, VIDIOC_STREAMON, &type) < 0) stop();
}

// Takes back what was sent and gives away the next picture when it is time. Pictures for which no buffer is free are lost, as in a camera.
static void feed(void) {
  struct v4l2_buffer buffer = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT, .memory = V4L2_MEMORY_MMAP};
  while (!ioctl(camera.device, VIDIOC_DQBUF, &buffer)) camera.is_free[buffer.index] = true;
  int64_t time = now();
  if (time < camera.due) return;
  int64_t interval = camera.commit.dwFrameInterval * 100LL;
  camera.due += ((time - camera.due) / interval + 1) * interval;
  if (camera.silent) return;
  for (int i = 0; i < BUFFERS; i++)
    if (camera.is_free[i]) {
      queue(i);
      return;
    }
}

// What the host asks for.

static void settle(struct uvc_streaming_control *control, int format, int frame) {
  format = format == MJPEG || format == H264 ? format : YUYV;
  frame = frame == 2 && format != H264 ? 2 : 1;
  const struct size *size = &sizes[frame - 1];
  *control = (struct uvc_streaming_control){
      .bmHint = 1,
      .bFormatIndex = format,
      .bFrameIndex = frame,
      .dwFrameInterval = size->interval[format],
      .dwMaxVideoFrameSize = format == H264 ? size->width * size->height / 2 : size->width * size->height * 2,
      .dwMaxPayloadTransferSize = PAYLOAD,
      .bmFramingInfo = 3,
      .bPreferedVersion = 1,
      .bMaxVersion = 1,
  };
}

static int32_t answer_streaming(const struct usb_ctrlrequest *request, uint8_t *data, const struct uvc_streaming_control *current) {
  struct uvc_streaming_control control;
  int32_t length = request->wLength < sizeof control ? request->wLength : sizeof control;
  switch (request->bRequest) {
  case UVC_SET_CUR: return length;
  case UVC_GET_CUR: control = *current; break;
  case UVC_GET_MIN:
  case UVC_GET_DEF: settle(&control, YUYV, 1); break;
  case UVC_GET_MAX: settle(&control, MJPEG, 2); break;
  case UVC_GET_LEN:
    data[0] = sizeof control, data[1] = 0;
    return 2;
  case UVC_GET_INFO:
    data[0] = 3;
    return 1;
  default: return -1;
  }
  memcpy(data, &control, length);
  return length;
}

// A number that the host may read and set.
static int32_t answer_number(const struct usb_ctrlrequest *request, uint8_t *data, int size, int maximum, int step, int initial, int value) {
  int answer;
  switch (request->bRequest) {
  case UVC_SET_CUR: return size;
  case UVC_GET_CUR: answer = value; break;
  case UVC_GET_MIN: answer = 0; break;
  case UVC_GET_MAX: answer = maximum; break;
  case UVC_GET_RES: answer = step; break;
  case UVC_GET_DEF: answer = initial; break;
  case UVC_GET_LEN: answer = size, size = 2; break;
  case UVC_GET_INFO: answer = 3, size = 1; break;
  default: return -1;
  }
  data[0] = answer, data[1] = answer >> 8;
  return size;
}

// The length of what is sent or expected; negative for a refusal.
static int32_t answer(const struct usb_ctrlrequest *request, uint8_t *data) {
  int control = request->wIndex << 8 | request->wValue >> 8;
  camera.being_set = request->bRequest == UVC_SET_CUR ? control : 0;
  switch (control) {
  case PROBE: return answer_streaming(request, data, &camera.probe);
  case COMMIT: return answer_streaming(request, data, &camera.commit);
  case BRIGHTNESS: return answer_number(request, data, 2, 255, 1, 128, camera.brightness);
  case EXPOSURE_MODE: return answer_number(request, data, 1, 9, 9, 8, camera.exposure_mode);
  default: return -1;
  }
}

static void take(const struct uvc_request_data *data) {
  struct uvc_streaming_control wanted = {0};
  memcpy(&wanted, data->data, data->length < (int)sizeof wanted ? data->length : (int)sizeof wanted);
  switch (camera.being_set) {
  case PROBE: settle(&camera.probe, wanted.bFormatIndex, wanted.bFrameIndex); break;
  case COMMIT: settle(&camera.commit, wanted.bFormatIndex, wanted.bFrameIndex); break;
  case BRIGHTNESS: camera.brightness = data->data[0]; break;
  case EXPOSURE_MODE: camera.exposure_mode = data->data[0]; break;
  }
}

// The device. It stands for one connection: when that ends, it is closed, and the kernel's next one looked for.

static const uint32_t events[] = {UVC_EVENT_CONNECT, UVC_EVENT_DISCONNECT, UVC_EVENT_SETUP, UVC_EVENT_DATA, UVC_EVENT_STREAMON, UVC_EVENT_STREAMOFF};

static void disconnect(void) {
  stop();
  close(camera.device);
  camera.device = -1;
  camera.closed = now();
}

static void connect_again(void) {
  glob_t found;
  if (!glob("/sys/class/video4linux/video*/function_name", 0, NULL, &found) && found.gl_pathc) {
    char *name = found.gl_pathv[0] + strlen("/sys/class/video4linux"), path[64];
    snprintf(path, sizeof path, "/dev%.*s", (int)(strrchr(name, '/') - name), name);
    camera.device = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    for (size_t i = 0; camera.device >= 0 && i < sizeof events / sizeof *events; i++) {
      struct v4l2_event_subscription subscription = {.type = events[i]};
      if (ioctl(camera.device, VIDIOC_SUBSCRIBE_EVENT, &subscription) < 0) disconnect();
    }
  }
  globfree(&found);
}

static void handle_event(void) {
  struct v4l2_event event;
  if (ioctl(camera.device, VIDIOC_DQEVENT, &event) < 0) {
    if (errno != ENOENT && errno != EAGAIN) disconnect();
    return;
  }
  const struct uvc_event *detail = (const void *)event.u.data;
  struct uvc_request_data response = {.length = -1};
  switch (event.type) {
  case UVC_EVENT_CONNECT: camera.connections++; break;
  case UVC_EVENT_DISCONNECT: disconnect(); break;
  case UVC_EVENT_SETUP:
    response.length = answer(&detail->req, response.data);
    ioctl(camera.device, UVCIOC_SEND_RESPONSE, &response);
    break;
  case UVC_EVENT_DATA: take(&detail->data); break;
  case UVC_EVENT_STREAMON: start(); break;
  case UVC_EVENT_STREAMOFF: stop(); break;
  }
}

// The test.

static void obey(char *line) {
  char word[16] = "", value[16] = "";
  sscanf(line, "%15s %15s", word, value);
  bool on = !strcmp(value, "on");
  if (!strcmp(word, "silent")) camera.silent = on;
  else if (!strcmp(word, "black")) camera.black = on;
  else if (!strcmp(word, "damaged")) camera.damaged = atoi(value);
  else if (strcmp(word, "status")) {
    printf("{\"error\": \"unknown\"}\n");
    return;
  }
  const struct size *size = chosen_size();
  printf(
      "{\"streaming\": %s, \"format\": \"%s\", \"width\": %d, \"height\": %d, \"number\": %u, \"damaged\": %d, \"brightness\": %d, \"connections\": %d}\n",
      camera.streaming ? "true" : "false", (const char *[]){"", "YUYV", "MJPG", "H264"}[camera.commit.bFormatIndex], size->width, size->height, camera.number, camera.damaged,
      camera.brightness, camera.connections);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  settle(&camera.probe, YUYV, 1);
  settle(&camera.commit, YUYV, 1);
  char line[256];
  size_t length = 0;
  for (;;) {
    // What was unplugged needs a moment to go.
    if (camera.device < 0 && now() - camera.closed > 200000000) connect_again();
    struct pollfd sources[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = camera.device, .events = POLLPRI}};
    int64_t pause = camera.device < 0 ? 100000000 : camera.streaming ? camera.due - now() : 10000000000;
    if (pause < 0) pause = 0;
    struct timespec timeout = {.tv_sec = pause / 1000000000, .tv_nsec = pause % 1000000000};
    if (ppoll(sources, 2, &timeout, NULL) < 0 && errno != EINTR) return 1;
    if (sources[1].revents & POLLPRI) handle_event();
    else if (sources[1].revents & (POLLERR | POLLHUP)) disconnect();
    if (camera.streaming) feed();
    if (sources[0].revents & (POLLIN | POLLHUP)) {
      ssize_t count = read(STDIN_FILENO, line + length, sizeof line - 1 - length);
      if (count <= 0) return 0;
      length += count;
      line[length] = 0;
      for (char *end; (end = strchr(line, '\n')); length = strlen(line)) {
        *end = 0;
        obey(line);
        memmove(line, end + 1, strlen(end + 1) + 1);
      }
    }
  }
}
