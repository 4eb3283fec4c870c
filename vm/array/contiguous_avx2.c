/* contiguous_avx2.c -- compiles contiguous.c for processors with AVX2, without FMA so that all processors give the same
 * results. */
#include "vm/array/contiguous.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define QPACKED_AVX2
#include "vm/array/contiguous.c"
#endif
