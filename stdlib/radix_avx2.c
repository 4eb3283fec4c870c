/* radix_avx2.c -- compiles radix.c for processors with AVX2. */
#include "stdlib/radix.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define QRADIX_BYTES 32
#include "stdlib/radix.c"
#endif
