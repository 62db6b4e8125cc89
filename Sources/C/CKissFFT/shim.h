#pragma once
// What pkg-config defines for the library of single-precision transforms.
#define kiss_fft_scalar float
#define KISS_FFT_SHARED
#include <kissfft/kiss_fftr.h>
