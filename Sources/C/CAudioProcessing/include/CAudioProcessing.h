// Voice processing for Swift: webrtc-audio-processing behind a plain C face. All sound is 48 kHz in blocks of 480 samples per channel, one array of floats
// of -1 to 1 for each channel. After it was made, a processor neither allocates nor waits; it takes the library's own mutexes, which nobody else holds as
// long as one thread alone calls it.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct voice_processing;

struct voice_processing_settings {
  /// Of the microphone: 1 or 2.
  int32_t channel_count;
  bool echo_cancellation;
  bool noise_suppression;
  bool gain_control;
};

/// Returns NULL when the library does not take the settings.
struct voice_processing *voice_processing_create(struct voice_processing_settings settings);
void voice_processing_free(struct voice_processing *processing);

/// What is played, one channel; to be called before each block of the microphone.
void voice_processing_analyze(struct voice_processing *processing, const float *played);

/// Processes a block of the microphone in place. Returns 0, or the library's error.
int32_t voice_processing_process(struct voice_processing *processing, float *const *captured);

#ifdef __cplusplus
}
#endif
