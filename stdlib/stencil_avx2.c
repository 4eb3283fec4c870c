/* stencil_avx2.c -- compiles stencil.c for processors with AVX2, without FMA so that all processors give the same
 * results. */
#include "stdlib/stencil.h"
#include "vm/array/contiguous.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define QSTENCIL_AVX2
#include "stdlib/stencil.c"
#endif
