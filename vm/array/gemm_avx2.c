/* gemm_avx2.c -- compiles gemm.c for processors with AVX2 and FMA. */
#include "vm/array/contiguous.h"
#include "vm/array/gemm.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2,fma")
#define QGEMM_AVX2
#include "vm/array/gemm.c"
#endif
