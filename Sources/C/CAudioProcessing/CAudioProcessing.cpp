#include "CAudioProcessing.h"

#include <memory>
#include <new>

#include <webrtc/common.h>
#include <webrtc/modules/audio_processing/include/audio_processing.h>

namespace {
constexpr int rate = 48'000;
constexpr int block = rate / 100;
}  // namespace

struct voice_processing {
  std::unique_ptr<webrtc::AudioProcessing> module;
  webrtc::StreamConfig captured;
  webrtc::StreamConfig played{rate, 1};
  // The library writes what was played somewhere, altered or not.
  float unused[block];
};

voice_processing *voice_processing_create(voice_processing_settings settings) {
  std::unique_ptr<voice_processing> result(new (std::nothrow) voice_processing);
  if (!result) return nullptr;
  result->module.reset(webrtc::AudioProcessing::Create());
  if (!result->module) return nullptr;
  webrtc::AudioProcessing &module = *result->module;
  result->captured = webrtc::StreamConfig(rate, settings.channel_count);

  webrtc::ProcessingConfig streams;
  streams.input_stream() = streams.output_stream() = result->captured;
  streams.reverse_input_stream() = streams.reverse_output_stream() = result->played;
  int error = module.Initialize(streams);

  error |= module.high_pass_filter()->Enable(true);
  if (settings.echo_cancellation) {
    error |= module.echo_cancellation()->set_suppression_level(webrtc::EchoCancellation::kModerateSuppression);
    error |= module.echo_cancellation()->enable_drift_compensation(false);
    error |= module.echo_cancellation()->Enable(true);
  }
  if (settings.noise_suppression) {
    error |= module.noise_suppression()->set_level(webrtc::NoiseSuppression::kHigh);
    error |= module.noise_suppression()->Enable(true);
  }
  if (settings.gain_control) {
    error |= module.gain_control()->set_mode(webrtc::GainControl::kAdaptiveDigital);
    error |= module.gain_control()->Enable(true);
  }
  if (error != webrtc::AudioProcessing::kNoError) return nullptr;

  // The library makes some of its memory with the first blocks. Silence changes nothing else: it is nobody's noise.
  for (int number = 0; number < 5; number++) {
    float silence[2][block] = {};
    float *channels[] = {silence[0], silence[1]};
    voice_processing_analyze(result.get(), silence[0]);
    if (voice_processing_process(result.get(), channels) != webrtc::AudioProcessing::kNoError) return nullptr;
  }
  return result.release();
}

void voice_processing_free(voice_processing *processing) { delete processing; }

void voice_processing_analyze(voice_processing *processing, const float *played) {
  float *unused = processing->unused;
  processing->module->ProcessReverseStream(&played, processing->played, processing->played, &unused);
}

int32_t voice_processing_process(voice_processing *processing, float *const *captured) {
  // The reference comes aligned.
  processing->module->set_stream_delay_ms(0);
  return processing->module->ProcessStream(captured, processing->captured, processing->captured, captured);
}
