/* gemm.c -- the product is cut into tiles of ROWS x COLUMNS that stay in registers while k runs; b is used a panel of
 * DEPTH rows at a time so that it stays in the cache.  Compiled twice, like loops.c, for the sake of wider registers. */
#include "vm/gemm.h"
#include "vm/base/dtype.h"
#include "vm/loops.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

enum { ROWS = 4, DEPTH = 256 };

#define ADD_PRODUCT(acc, x, y) ((acc) += (x) * (y))
#define ADD_PRODUCT_COMPLEX(acc, x, y)                                                                                 \
    ((acc).re += (x).re * (y).re - (x).im * (y).im, (acc).im += (x).re * (y).im + (x).im * (y).re)

#define ADD(sum, x) ((sum) += (x))
#define ADD_COMPLEX(sum, x) ((sum).re += (x).re, (sum).im += (x).im)

#define GEMM(id, T, COLUMNS, MAC)                                                                                      \
    static inline __attribute__((always_inline)) void tile_##id(size_t rows, size_t columns, size_t n, size_t k,       \
                                                                size_t depth, const T *a, const T *b, T *c) {          \
        T acc[ROWS][COLUMNS];                                                                                          \
        for (size_t r = 0; r < rows; r++)                                                                              \
            for (size_t j = 0; j < columns; j++) acc[r][j] = c[r * n + j];                                             \
        for (size_t p = 0; p < depth; p++)                                                                             \
            for (size_t r = 0; r < rows; r++)                                                                          \
                for (size_t j = 0; j < columns; j++) MAC(acc[r][j], a[r * k + p], b[p * n + j]);                       \
        for (size_t r = 0; r < rows; r++)                                                                              \
            for (size_t j = 0; j < columns; j++) c[r * n + j] = acc[r][j];                                             \
    }                                                                                                                  \
    static void edge_##id(size_t rows, size_t columns, size_t n, size_t k, size_t depth, const T *a, const T *b,       \
                          T *c) {                                                                                      \
        tile_##id(rows, columns, n, k, depth, a, b, c);                                                                \
    }                                                                                                                  \
    static void panel_##id(size_t m, size_t n, size_t k, size_t depth, const T *a, const T *b, T *c) {                 \
        for (size_t j = 0; j < n; j += COLUMNS)                                                                        \
            for (size_t i = 0; i < m; i += ROWS) {                                                                     \
                size_t rows = m - i < ROWS ? m - i : ROWS, columns = n - j < COLUMNS ? n - j : COLUMNS;                \
                if (columns < COLUMNS) edge_##id(rows, columns, n, k, depth, a + i * k, b + j, c + i * n + j);         \
                else if (rows == ROWS) tile_##id(ROWS, COLUMNS, n, k, depth, a + i * k, b + j, c + i * n + j);         \
                else                                                                                                   \
                    for (size_t r = 0; r < rows; r++)                                                                  \
                        tile_##id(1, COLUMNS, n, k, depth, a + (i + r) * k, b + j, c + (i + r) * n + j);               \
            }                                                                                                          \
    }                                                                                                                  \
    static void product_##id(size_t m, size_t n, size_t k, const void *a, const void *b, void *c) {                    \
        memset(c, 0, m * n * sizeof(T));                                                                               \
        for (size_t p = 0; p < k; p += DEPTH)                                                                          \
            panel_##id(m, n, k, k - p < DEPTH ? k - p : DEPTH, (const T *)a + p, (const T *)b + p * n, c);             \
    }

/* One column: rows of a against b, in as many partial sums as registers like. */
#define DOT(id, T, LANES, MAC, PLUS)                                                                                   \
    static void column_##id(size_t m, size_t k, const void *va, const void *vb, void *vc) {                            \
        const T *b = vb;                                                                                               \
        for (size_t i = 0; i < m; i++) {                                                                               \
            const T *a = (const T *)va + i * k;                                                                        \
            T acc[LANES], sum;                                                                                         \
            memset(acc, 0, sizeof acc);                                                                                \
            memset(&sum, 0, sizeof sum);                                                                               \
            size_t p = 0;                                                                                              \
            for (; p + LANES <= k; p += LANES)                                                                         \
                for (size_t l = 0; l < LANES; l++) MAC(acc[l], a[p + l], b[p + l]);                                    \
            for (; p < k; p++) MAC(sum, a[p], b[p]);                                                                   \
            for (size_t l = 0; l < LANES; l++) PLUS(sum, acc[l]);                                                      \
            ((T *)vc)[i] = sum;                                                                                        \
        }                                                                                                              \
    }

#define PRODUCTS(id, T, COLUMNS, MAC, PLUS) GEMM(id, T, COLUMNS, MAC) DOT(id, T, COLUMNS, MAC, PLUS)
PRODUCTS(I64, uint64_t, 8, ADD_PRODUCT, ADD)
PRODUCTS(F32, float, 16, ADD_PRODUCT, ADD)
PRODUCTS(F64, double, 8, ADD_PRODUCT, ADD)
PRODUCTS(C64, QComplexF, 8, ADD_PRODUCT_COMPLEX, ADD_COMPLEX)
PRODUCTS(C128, QComplexD, 4, ADD_PRODUCT_COMPLEX, ADD_COMPLEX)

static void own(qs_dtype d, size_t m, size_t n, size_t k, const void *a, const void *b, void *c) {
    switch (d) {
    case QS_F32: n == 1 ? column_F32(m, k, a, b, c) : product_F32(m, n, k, a, b, c); break;
    case QS_F64: n == 1 ? column_F64(m, k, a, b, c) : product_F64(m, n, k, a, b, c); break;
    case QS_C64: n == 1 ? column_C64(m, k, a, b, c) : product_C64(m, n, k, a, b, c); break;
    case QS_C128: n == 1 ? column_C128(m, k, a, b, c) : product_C128(m, n, k, a, b, c); break;
    default: n == 1 ? column_I64(m, k, a, b, c) : product_I64(m, n, k, a, b, c); break;
    }
}

#ifdef QGEMM_AVX2
void qgemm_own_avx2(qs_dtype d, size_t m, size_t n, size_t k, const void *a, const void *b, void *c) { own(d, m, n, k, a, b, c); }
#else
void qgemm_own(qs_dtype d, size_t m, size_t n, size_t k, const void *a, const void *b, void *c) {
    if (QCPU_AVX2 && QCPU_FMA) qgemm_own_avx2(d, m, n, k, a, b, c);
    else own(d, m, n, k, a, b, c);
}

/* -- BLAS, opened at the first product that is worth it --------------------------------------------------------------------- */
typedef void Real32(int, int, int, int, int, int, float, const void *, int, const void *, int, float, void *, int);
typedef void Real64(int, int, int, int, int, int, double, const void *, int, const void *, int, double, void *, int);
typedef void Cplx(int, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);

/* Numbers of multiplications: from the first on BLAS is faster, from the second on it pays for being opened. */
static const double worth_calling = 32 * 32 * 32, worth_opening = 192 * 192 * 192;

static void open_blas(qs_vm *vm) {
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3", "libcblas.so.3", "libmkl_rt.so.2"};
    qvm(vm)->blas.tried = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!lib) continue;
        void *s = dlsym(lib, "cblas_sgemm"), *d = dlsym(lib, "cblas_dgemm");
        void *c = dlsym(lib, "cblas_cgemm"), *z = dlsym(lib, "cblas_zgemm");
        if (s && d && c && z) {
            qvm(vm)->blas.gemm[0] = s, qvm(vm)->blas.gemm[1] = d, qvm(vm)->blas.gemm[2] = c, qvm(vm)->blas.gemm[3] = z;
            return;
        }
        dlclose(lib);
    }
}

static bool blas(qs_vm *vm, qs_dtype d, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };
    double work = (double)m * (double)n * (double)k;
    if (d < QS_F32 || work < worth_calling || m > INT_MAX || n > INT_MAX || k > INT_MAX) return false;
    if (!qvm(vm)->blas.tried && work >= worth_opening) open_blas(vm);
    void *f = qvm(vm)->blas.gemm[d - QS_F32];
    if (!f) return false;
    int im = (int)m, in = (int)n, ik = (int)k;
    const float one32[2] = {1, 0}, zero32[2] = {0, 0};
    const double one64[2] = {1, 0}, zero64[2] = {0, 0};
    bool single = d == QS_C64;
    if (d == QS_F32) ((Real32 *)f)(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, im, in, ik, 1, a, ik, b, in, 0, c, in);
    else if (d == QS_F64) ((Real64 *)f)(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, im, in, ik, 1, a, ik, b, in, 0, c, in);
    else
        ((Cplx *)f)(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, im, in, ik, single ? (const void *)one32 : one64, a, ik, b, in,
                    single ? (const void *)zero32 : zero64, c, in);
    return true;
}

void qgemm_run(qs_vm *vm, qs_dtype d, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) {
    if (m && n && !blas(vm, d, m, n, k, a, b, c)) qgemm_own(d, (size_t)m, (size_t)n, (size_t)k, a, b, c);
}
#endif
