/* gemm.h -- matrix products of packed row-major matrices: BLAS where one is found, loops of our own otherwise. */
#ifndef VM_GEMM_H
#define VM_GEMM_H
#include "vm/base/dynlib.h"
#include "vm/value/object.h"

/* c (m x n) = a (m x k) times b (k x n).  d: int64 (wraps around), float32, float64, complex64, complex128. */
typedef struct {
    int64_t m, n, k;
} GemmSize;
typedef struct {
    qs_dtype d;
    GemmSize size;
    const void *a, *b;
    void *c;
} Gemm;
void qgemm_run(qs_vm *vm, const Gemm *g);
/* dlopen of a library for linear algebra; of OpenBLAS with kernels for this processor. */
void *qgemm_library(const char *name, char why[DYNLIB_WHY]);
/* Without BLAS, and its form for processors with AVX2 and FMA. */
void qgemm_own(const Gemm *g);
void qgemm_own_avx2(const Gemm *g);
#endif
