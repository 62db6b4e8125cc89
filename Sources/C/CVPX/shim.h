#pragma once
#include <vpx/vpx_encoder.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>

// Swift sees neither casting macros nor variadic functions.

static inline vpx_codec_err_t vpx_shim_start_encoder(vpx_codec_ctx_t *context, const vpx_codec_enc_cfg_t *configuration) {
  return vpx_codec_enc_init(context, vpx_codec_vp8_cx(), configuration, 0);
}

static inline vpx_codec_err_t vpx_shim_start_decoder(vpx_codec_ctx_t *context, const vpx_codec_dec_cfg_t *configuration) {
  return vpx_codec_dec_init(context, vpx_codec_vp8_dx(), configuration, 0);
}

static inline vpx_codec_err_t vpx_shim_set(vpx_codec_ctx_t *context, int control, int value) {
  return vpx_codec_control_(context, control, value);
}

static inline vpx_codec_err_t vpx_shim_get(vpx_codec_ctx_t *context, int control, int *value) {
  return vpx_codec_control_(context, control, value);
}

enum { vpx_shim_force_key_frame = VPX_EFLAG_FORCE_KF, vpx_shim_is_key_frame = VPX_FRAME_IS_KEY, vpx_shim_realtime = VPX_DL_REALTIME };
