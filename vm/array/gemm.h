/* gemm.h -- multiplies contiguous row-major matrices, by BLAS if one is found, otherwise by built-in loops. */
#ifndef VM_GEMM_H
#define VM_GEMM_H
#include "vm/base/dynlib.h"
#include "vm/value/object.h"

/* c (m x n) = a (m x k) times b (k x n).  ta: a is stored by columns, so its memory is that of a k x m matrix; tb: the
 * same of b.  d: int64 (wraps around), float32, float64, complex64, complex128. */
typedef struct {
    int64_t m, n, k;
} GemmSize;
typedef struct {
    qs_dtype d;
    GemmSize size;
    const void *a, *b;
    void *c;
    bool ta, tb;
    int64_t length; /* of the rows of b; 0: n */
    bool fused;     /* products need not be rounded before they are added; float32 or float64 with n > 1 */
} Gemm;
void qgemm_run(qs_vm *vm, const Gemm *g); /* not ta, not tb */
/* Multiplies with ta or tb by BLAS; false: it is not there, or not worth a call. */
bool qgemm_transposed(qs_vm *vm, const Gemm *g);
/* Opens a linear algebra library with dlopen; makes OpenBLAS use kernels for this processor. */
void *qgemm_library(const char *name, char why[DYNLIB_WHY]);
/* Multiplies without BLAS; the other functions are compiled for AVX2, and, if `fused` is set, for FMA and AVX-512. */
void qgemm_own(const Gemm *g);
void qgemm_own_avx2(const Gemm *g);
void qgemm_own_fma(const Gemm *g);
void qgemm_own_avx512(const Gemm *g);
#endif
