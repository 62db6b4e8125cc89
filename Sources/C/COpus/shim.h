#pragma once
#include <opus.h>

// Swift sees no variadic functions.

static inline int opus_shim_set_bitrate(OpusEncoder *encoder, opus_int32 bitrate) {
  return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(bitrate));
}
static inline int opus_shim_set_complexity(OpusEncoder *encoder, opus_int32 complexity) {
  return opus_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(complexity));
}
static inline int opus_shim_set_inband_fec(OpusEncoder *encoder, opus_int32 on) {
  return opus_encoder_ctl(encoder, OPUS_SET_INBAND_FEC(on));
}
static inline int opus_shim_set_packet_loss(OpusEncoder *encoder, opus_int32 percent) {
  return opus_encoder_ctl(encoder, OPUS_SET_PACKET_LOSS_PERC(percent));
}
static inline int opus_shim_set_dtx(OpusEncoder *encoder, opus_int32 on) {
  return opus_encoder_ctl(encoder, OPUS_SET_DTX(on));
}
static inline int opus_shim_reset_decoder(OpusDecoder *decoder) {
  return opus_decoder_ctl(decoder, OPUS_RESET_STATE);
}
