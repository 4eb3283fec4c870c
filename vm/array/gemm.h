/* gemm.h -- matrix products of packed row-major matrices: BLAS where one is found, loops of our own otherwise. */
#ifndef VM_GEMM_H
#define VM_GEMM_H
#include "vm/value/object.h"

/* c (m x n) = a (m x k) times b (k x n).  d: int64 (wraps around), float32, float64, complex64, complex128. */
void qgemm_run(qs_vm *vm, qs_dtype d, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c);
/* dlopen of a library for linear algebra; of OpenBLAS with kernels for this processor. */
void *qgemm_library(const char *name);
/* Without BLAS, and its form for processors with AVX2 and FMA. */
void qgemm_own(qs_dtype d, size_t m, size_t n, size_t k, const void *a, const void *b, void *c);
void qgemm_own_avx2(qs_dtype d, size_t m, size_t n, size_t k, const void *a, const void *b, void *c);
#endif
