/* gemm_fma.c -- compiles gemm.c for AVX2, with products that are not rounded before they are added. */
#include "vm/array/contiguous.h"
#include "vm/array/gemm.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2,fma")
#define QGEMM_FUSED qgemm_own_fma
#include "vm/array/gemm.c"
#endif
