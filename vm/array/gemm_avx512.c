/* gemm_avx512.c -- compiles gemm.c for AVX-512, as gemm_fma.c. */
#include "vm/array/contiguous.h"
#include "vm/array/gemm.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")
#define QGEMM_FUSED qgemm_own_avx512
#define BYTES       64
#include "vm/array/gemm.c"
#endif
