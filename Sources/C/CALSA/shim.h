#pragma once
#include <alsa/asoundlib.h>

static void alsa_shim_ignore(const char *file, int line, const char *function, int error, const char *format, ...) {
  (void)file, (void)line, (void)function, (void)error, (void)format;
}

/// Has the library write nothing to the standard error: what fails is returned. Counts for the whole process.
static inline void alsa_shim_be_silent(void) { snd_lib_error_set_handler(alsa_shim_ignore); }
