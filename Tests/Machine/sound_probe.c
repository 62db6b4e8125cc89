// Plays a sound into one sound device and records from another at the same time, and tells when each sample passed: what stands between the two
// devices is measured from outside.
//
//     sound-probe PLAYBACK CAPTURE SOUND RECORDING
//
// SOUND holds raw samples: 16 bits, 48 kHz, two channels; as many frames are recorded as it has. Writes lines of JSON: the index of a frame, and the
// nanosecond of CLOCK_MONOTONIC at which it passed the device, for "played" and "recorded" frames; and "xruns" at the end.

#include <alsa/asoundlib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { RATE = 48000, CHANNELS = 2, PERIOD = 480, PERIODS = 8 };

static int xruns;

static void fail(const char *what, int error) {
  fprintf(stderr, "sound-probe: %s: %s\n", what, snd_strerror(error));
  exit(1);
}

static snd_pcm_t *opened(const char *name, snd_pcm_stream_t direction) {
  snd_pcm_t *pcm;
  snd_pcm_hw_params_t *hardware;
  snd_pcm_sw_params_t *software;
  snd_pcm_uframes_t period = PERIOD, buffer = PERIOD * PERIODS;
  int error = snd_pcm_open(&pcm, name, direction, 0);
  if (error < 0) fail(name, error);
  snd_pcm_hw_params_alloca(&hardware);
  snd_pcm_hw_params_any(pcm, hardware);
  if ((error = snd_pcm_hw_params_set_access(pcm, hardware, SND_PCM_ACCESS_RW_INTERLEAVED)) < 0 ||
      (error = snd_pcm_hw_params_set_format(pcm, hardware, SND_PCM_FORMAT_S16_LE)) < 0 ||
      (error = snd_pcm_hw_params_set_channels(pcm, hardware, CHANNELS)) < 0 ||
      (error = snd_pcm_hw_params_set_rate(pcm, hardware, RATE, 0)) < 0 ||
      (error = snd_pcm_hw_params_set_period_size_near(pcm, hardware, &period, NULL)) < 0 ||
      (error = snd_pcm_hw_params_set_buffer_size_near(pcm, hardware, &buffer)) < 0 || (error = snd_pcm_hw_params(pcm, hardware)) < 0)
    fail(name, error);
  snd_pcm_sw_params_alloca(&software);
  snd_pcm_sw_params_current(pcm, software);
  snd_pcm_sw_params_set_tstamp_mode(pcm, software, SND_PCM_TSTAMP_ENABLE);
  snd_pcm_sw_params_set_tstamp_type(pcm, software, SND_PCM_TSTAMP_TYPE_MONOTONIC);
  snd_pcm_sw_params_set_start_threshold(pcm, software, direction == SND_PCM_STREAM_PLAYBACK ? PERIOD * (PERIODS / 2) : 1);
  if ((error = snd_pcm_sw_params(pcm, software)) < 0) fail(name, error);
  return pcm;
}

// Tells when the frame passes that comes after `count` frames which were written or read.
static void tell(snd_pcm_t *pcm, const char *what, long count) {
  snd_pcm_status_t *status;
  snd_htimestamp_t time;
  snd_pcm_status_alloca(&status);
  if (snd_pcm_status(pcm, status) < 0 || snd_pcm_status_get_state(status) != SND_PCM_STATE_RUNNING) return;
  snd_pcm_status_get_htstamp(status, &time);
  // What waits in the device: of playback it has still to pass, of capture it has passed already.
  long waiting = snd_pcm_status_get_delay(status);
  if (time.tv_sec == 0 && time.tv_nsec == 0) return;
  printf("{\"%s\": [%ld, %lld]}\n", what, *what == 'p' ? count - waiting : count + waiting, time.tv_sec * 1000000000LL + time.tv_nsec);
}

static void mend(snd_pcm_t *pcm, const char *what, long error) {
  if (error != -EPIPE) fail(what, error);
  xruns++;
  snd_pcm_prepare(pcm);
}

int main(int count, char **words) {
  if (count != 5) return 64;
  FILE *sound = fopen(words[3], "rb"), *recording = fopen(words[4], "wb");
  if (!sound || !recording) return 66;
  snd_pcm_t *playback = opened(words[1], SND_PCM_STREAM_PLAYBACK), *capture = opened(words[2], SND_PCM_STREAM_CAPTURE);
  int16_t block[PERIOD * CHANNELS];
  long played = 0, recorded = 0;
  snd_pcm_start(capture);
  while (fread(block, sizeof *block * CHANNELS, PERIOD, sound) == PERIOD) {
    long done = snd_pcm_writei(playback, block, PERIOD);
    if (done < 0) mend(playback, "playing", done);
    else played += done;
    tell(playback, "played", played);
    while (snd_pcm_avail_update(capture) >= PERIOD) {
      done = snd_pcm_readi(capture, block, PERIOD);
      if (done < 0) {
        mend(capture, "recording", done);
        snd_pcm_start(capture);
        break;
      }
      recorded += done;
      fwrite(block, sizeof *block * CHANNELS, done, recording);
      tell(capture, "recorded", recorded);
    }
    if (snd_pcm_state(capture) == SND_PCM_STATE_XRUN) {
      mend(capture, "recording", -EPIPE);
      snd_pcm_start(capture);
    }
  }
  printf("{\"xruns\": %d}\n", xruns);
  return fclose(recording) ? 74 : 0;
}
