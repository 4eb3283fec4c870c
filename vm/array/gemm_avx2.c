/* gemm.c once more, for processors with AVX2 and FMA. */
#include "vm/array/gemm.h"
#include "vm/array/packed.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2,fma")
#define QGEMM_AVX2
#include "vm/array/gemm.c"
#else
void qgemm_own_avx2(qs_dtype d, size_t m, size_t n, size_t k, const void *a, const void *b, void *c) {
    qgemm_own(d, m, n, k, a, b, c);
}
#endif
