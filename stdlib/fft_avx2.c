/* fft_avx2.c -- compiles fft_loops.c for processors with AVX2 and FMA. */
#include "stdlib/fft.h"
#include "vm/array/contiguous.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2,fma")
#define QFFT_AVX2
#include "stdlib/fft_loops.c"
#endif
