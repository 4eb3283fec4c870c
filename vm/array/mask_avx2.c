/* mask_avx2.c -- compiles mask.c for processors with AVX2. */
#include "vm/array/mask.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2,popcnt")
#include <immintrin.h>
#define QMASK_AVX2
#include "vm/array/mask.c"
#endif
