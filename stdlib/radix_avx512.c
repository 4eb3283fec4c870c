/* radix_avx512.c -- compiles radix.c for processors with AVX-512. */
#include "stdlib/radix.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq")
#define QRADIX_BYTES 64
#include "stdlib/radix.c"
#endif
