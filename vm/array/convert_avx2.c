/* convert_avx2.c -- compiles convert.c for processors with AVX2, without FMA so that all processors give the same
 * results. */
#include "vm/array/contiguous.h"
#include "vm/array/convert.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define QCONV_AVX2
#include "vm/array/convert.c"
#endif
