/* bilinear_avx2.c -- compiles bilinear.c for processors with AVX2, without FMA so that all processors give the same
 * results. */
#include "stdlib/bilinear.h"
#include "vm/array/contiguous.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define QBILINEAR_AVX2
#include "stdlib/bilinear.c"
#endif
