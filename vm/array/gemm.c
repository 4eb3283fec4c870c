/* gemm.c -- multiplies matrices, by a BLAS library if there is one, otherwise by built-in loops.
 *
 * The loops divide the product into tiles that stay in registers during the loop over k.  DEPTH rows of b are used at a
 * time, so that a strip of b stays in the first-level cache, and HEIGHT rows of a and of the product, which stay in the
 * second-level cache while all strips of b pass.  The file is compiled several times, like contiguous.c, to use
 * wider registers, and for instructions that multiply and add with one rounding.
 *
 * OpenBLAS runs on our threads: the product is divided into pieces, and each piece is a call with one BLAS thread.
 * Threads of the library itself may share a processor with the caller for seconds (see devices/threads.c).  Afterwards
 * the library's number of threads is restored, because other code of the process may use it.  MKL, and builds that do
 * not support concurrent calls, distribute the work themselves. */
#include "vm/array/gemm.h"
#include "devices/threads.h"
#include "vm/array/contiguous.h"
#include "vm/base/dtype.h"
#include "vm/value/machine.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifndef BYTES
#define BYTES 32
#endif
enum { ROWS = BYTES == 64 ? 12 /* AVX-512 has 32 registers */ : 6, DEPTH = 256, HEIGHT = 96 };

/* A tile is at most two vectors wide.  The compiler splits them if the registers are narrower. */
typedef float V_F32 __attribute__((vector_size(BYTES)));
typedef double V_F64 __attribute__((vector_size(BYTES)));
typedef float Near_F32 __attribute__((vector_size(BYTES), aligned(4), may_alias)); /* unaligned, in memory */
typedef double Near_F64 __attribute__((vector_size(BYTES), aligned(8), may_alias));

/* Computes c += a times b, with c: rows x columns, row length n; a: rows x depth, row length k; b: depth x COLUMNS, row
 * length bn.  b has all columns of `vectors` vectors, c `columns` of them: all, or less than one vector. */
#define TILE(id, T, WIDTH)                                                                                             \
    enum { COLUMNS_##id = 2 * WIDTH, VECTOR_##id = WIDTH };                                                            \
    static inline                                                                                                      \
        __attribute__((always_inline)) void tile_##id(size_t rows, size_t vectors, size_t columns, size_t n, size_t k, \
                                                      size_t bn, size_t depth, const T *a, const T *b, T *c) {         \
        V_##id acc[ROWS][2];                                                                                           \
        memset(acc, 0, sizeof acc);                                                                                    \
        for (size_t p = 0; p < depth; p++, b += bn) {                                                                  \
            V_##id b0 = *(const Near_##id *)b, b1 = *(const Near_##id *)(b + (vectors - 1) * WIDTH);                   \
            _Pragma("GCC unroll 12") for (size_t r = 0; r < rows; r++) {                                               \
                acc[r][0] += a[r * k + p] * b0;                                                                        \
                if (vectors > 1) acc[r][1] += a[r * k + p] * b1;                                                       \
            }                                                                                                          \
        }                                                                                                              \
        _Pragma("GCC unroll 12") for (size_t r = 0; columns >= WIDTH && r < rows; r++) {                               \
            *(Near_##id *)(c + r * n) += acc[r][0];                                                                    \
            if (vectors > 1) *(Near_##id *)(c + r * n + WIDTH) += acc[r][1];                                           \
        }                                                                                                              \
        for (size_t r = 0; columns < WIDTH && r < rows; r++)                                                           \
            for (size_t j = 0; j < columns; j++) c[r * n + j] += acc[r][0][j];                                         \
    }

/* For complex and integer tiles the compiler chooses the vectors. */
#define ADD_PRODUCT(acc, x, y) ((acc) += (x) * (y))
#define ADD_PRODUCT_COMPLEX(acc, x, y)                                                                                 \
    ((acc).re += (x).re * (y).re - (x).im * (y).im, (acc).im += (x).re * (y).im + (x).im * (y).re)
#define PLAIN_TILE(id, T, MAC)                                                                                         \
    enum { COLUMNS_##id = 8, VECTOR_##id = 8 };                                                                        \
    static inline void tile_##id(size_t rows, size_t vectors, size_t columns, size_t n, size_t k, size_t bn,           \
                                 size_t depth, const T *a, const T *b, T *c) {                                         \
        (void)vectors;                                                                                                 \
        for (size_t p = 0; p < depth; p++)                                                                             \
            for (size_t r = 0; r < rows; r++)                                                                          \
                for (size_t j = 0; j < columns; j++) MAC(c[r * n + j], a[r * k + p], b[p * bn + j]);                   \
    }

/* Multiplies `rows` rows of a, from row i on; the compiler unrolls the loops of a full tile. */
#define ROWS_OF(id, T, rows)                                                                                           \
    do {                                                                                                               \
        const T *ai = a + i * k;                                                                                       \
        T *ci = c + i * n;                                                                                             \
        if (columns == COLUMNS_##id) tile_##id(rows, 2, COLUMNS_##id, n, k, bn, depth, ai, b, ci);                     \
        else if (columns == VECTOR_##id) tile_##id(rows, 1, VECTOR_##id, n, k, bn, depth, ai, b, ci);                  \
        else tile_##id(rows, 1, columns, n, k, bn, depth, ai, b, ci);                                                  \
    } while (0)

/* Multiplies DEPTH rows of b at a time by all of a.  The last columns are first copied to a block of a full vector. */
#define PRODUCT(id, T)                                                                                                 \
    static void strip_##id(size_t m, size_t columns, size_t n, size_t k, size_t bn, size_t depth, const T *a,          \
                           const T *b, T *c) {                                                                         \
        size_t i = 0;                                                                                                  \
        for (; i + ROWS <= m; i += ROWS) ROWS_OF(id, T, ROWS);                                                         \
        for (; i + 4 <= m; i += 4) ROWS_OF(id, T, 4);                                                                  \
        for (; i + 2 <= m; i += 2) ROWS_OF(id, T, 2);                                                                  \
        if (i < m) ROWS_OF(id, T, 1);                                                                                  \
    }                                                                                                                  \
    static void product_##id(size_t m, size_t n, size_t k, const T *a, const T *b, T *c) {                             \
        T edge[DEPTH * VECTOR_##id];                                                                                   \
        size_t rest = n % VECTOR_##id, end = n - rest;                                                                 \
        memset(edge, 0, rest ? (k < DEPTH ? k : DEPTH) * VECTOR_##id * sizeof(T) : 0);                                 \
        if (!k) memset(c, 0, m *n * sizeof(T));                                                                        \
        for (size_t p = 0; p < k; p += DEPTH) {                                                                        \
            size_t depth = k - p < DEPTH ? k - p : DEPTH;                                                              \
            for (size_t r = 0; rest && r < depth; r++)                                                                 \
                memcpy(edge + r * VECTOR_##id, b + (p + r) * n + end, rest * sizeof(T));                               \
            for (size_t i = 0; i < m; i += HEIGHT) {                                                                   \
                size_t rows = m - i < HEIGHT ? m - i : HEIGHT;                                                         \
                const T *ai = a + i * k + p;                                                                           \
                T *ci = c + i * n;                                                                                     \
                if (!p) memset(ci, 0, rows *n * sizeof(T));                                                            \
                for (size_t j = 0, wide; j < end; j += wide) {                                                         \
                    wide = end - j < COLUMNS_##id ? VECTOR_##id : COLUMNS_##id;                                        \
                    strip_##id(rows, wide, n, k, n, depth, ai, b + p * n + j, ci + j);                                 \
                }                                                                                                      \
                if (rest) strip_##id(rows, rest, n, k, VECTOR_##id, depth, ai, edge, ci + end);                        \
            }                                                                                                          \
        }                                                                                                              \
    }

TILE(F32, float, (BYTES / 4))
TILE(F64, double, (BYTES / 8))
PRODUCT(F32, float)
PRODUCT(F64, double)

#ifdef QGEMM_FUSED
void QGEMM_FUSED(const Gemm *g) {
    size_t m = (size_t)g->size.m, n = (size_t)g->size.n, k = (size_t)g->size.k;
    if (g->d == QS_F32) product_F32(m, n, k, g->a, g->b, g->c);
    else product_F64(m, n, k, g->a, g->b, g->c);
}
#else
PLAIN_TILE(I64, uint64_t, ADD_PRODUCT)
PLAIN_TILE(C64, QComplexF, ADD_PRODUCT_COMPLEX)
PLAIN_TILE(C128, QComplexD, ADD_PRODUCT_COMPLEX)
PRODUCT(I64, uint64_t)
PRODUCT(C64, QComplexF)
PRODUCT(C128, QComplexD)

/* Multiplies by a matrix b with one column: each row of a times b, with two vectors of partial sums.  Several rows are
 * multiplied at a time, because each addition depends on the one before. */
#define COLUMN(id, T, WIDTH)                                                                                           \
    static inline __attribute__((always_inline)) void dots_##id(size_t rows, size_t k, const T *a, const T *b, T *c) { \
        V_##id acc[4][2];                                                                                              \
        size_t p = 0;                                                                                                  \
        memset(acc, 0, sizeof acc);                                                                                    \
        for (; p + 2 * WIDTH <= k; p += 2 * WIDTH) {                                                                   \
            V_##id b0 = *(const Near_##id *)(b + p), b1 = *(const Near_##id *)(b + p + WIDTH);                         \
            _Pragma("GCC unroll 4") for (size_t r = 0; r < rows; r++) {                                                \
                acc[r][0] += *(const Near_##id *)(a + r * k + p) * b0;                                                 \
                acc[r][1] += *(const Near_##id *)(a + r * k + p + WIDTH) * b1;                                         \
            }                                                                                                          \
        }                                                                                                              \
        for (size_t r = 0; r < rows; r++) {                                                                            \
            T sum = 0;                                                                                                 \
            V_##id both = acc[r][0] + acc[r][1];                                                                       \
            for (size_t q = p; q < k; q++) sum += a[r * k + q] * b[q];                                                 \
            for (size_t l = 0; l < WIDTH; l++) sum += both[l];                                                         \
            c[r] = sum;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    static void column_##id(size_t m, size_t k, const T *a, const T *b, T *c) {                                        \
        size_t i = 0;                                                                                                  \
        for (; i + 4 <= m; i += 4) dots_##id(4, k, a + i * k, b, c + i);                                               \
        for (; i < m; i++) dots_##id(1, k, a + i * k, b, c + i);                                                       \
    }
COLUMN(F32, float, 8)
COLUMN(F64, double, 4)

/* Multiplies a row a with k elements by b, whose rows are bn apart: sums of eight rows of b at a time, for WIDE
 * columns, which stay in the cache, and DEPTH rows.  Fewer than eight rows are added one after another, as in all other
 * small products, so that a product has the same bits whether its operands are stored by rows or by columns, and in a
 * compiled loop. */
#define ROW(id, T)                                                                                                     \
    static void row_##id(size_t n, size_t k, size_t bn, const T *a, const T *b, T *c) {                                \
        enum { WIDE_##id = 2048 };                                                                                     \
        T sum[WIDE_##id];                                                                                              \
        memset(c, 0, n * sizeof(T));                                                                                   \
        for (size_t at = 0; at < n; at += WIDE_##id)                                                                   \
            for (size_t p = 0, m = n - at < WIDE_##id ? n - at : WIDE_##id; p < k;) {                                  \
                size_t end = k - p < DEPTH ? k : p + DEPTH;                                                            \
                memset(sum, 0, m * sizeof(T));                                                                         \
                for (; p + 8 <= end; p += 8) {                                                                         \
                    const T *b0 = b + p * bn + at, *b1 = b0 + bn, *b2 = b1 + bn, *b3 = b2 + bn;                        \
                    const T *b4 = b3 + bn, *b5 = b4 + bn, *b6 = b5 + bn, *b7 = b6 + bn;                                \
                    T a0 = a[p], a1 = a[p + 1], a2 = a[p + 2], a3 = a[p + 3];                                          \
                    T a4 = a[p + 4], a5 = a[p + 5], a6 = a[p + 6], a7 = a[p + 7];                                      \
                    for (size_t j = 0; j < m; j++) {                                                                   \
                        T first = (a0 * b0[j] + a1 * b1[j]) + (a2 * b2[j] + a3 * b3[j]);                               \
                        sum[j] += first, sum[j] += (a4 * b4[j] + a5 * b5[j]) + (a6 * b6[j] + a7 * b7[j]);              \
                    }                                                                                                  \
                }                                                                                                      \
                for (; k >= 8 && p + 4 <= end; p += 4) {                                                               \
                    const T *b0 = b + p * bn + at, *b1 = b0 + bn, *b2 = b1 + bn, *b3 = b2 + bn;                        \
                    T a0 = a[p], a1 = a[p + 1], a2 = a[p + 2], a3 = a[p + 3];                                          \
                    for (size_t j = 0; j < m; j++) sum[j] += (a0 * b0[j] + a1 * b1[j]) + (a2 * b2[j] + a3 * b3[j]);    \
                }                                                                                                      \
                for (; p < end; p++)                                                                                   \
                    for (size_t j = 0; j < m; j++) sum[j] += a[p] * b[p * bn + at + j];                                \
                for (size_t j = 0; j < m; j++) c[at + j] += sum[j];                                                    \
            }                                                                                                          \
    }
ROW(F32, float)
ROW(F64, double)

static void multiply_own(const Gemm *g) {
    size_t m = (size_t)g->size.m, n = (size_t)g->size.n, k = (size_t)g->size.k, bn = g->length ? (size_t)g->length : n;
    if (m == 1 && n > 1 && g->d == QS_F32) {
        row_F32(n, k, bn, g->a, g->b, g->c);
        return;
    }
    if (m == 1 && n > 1 && g->d == QS_F64) {
        row_F64(n, k, bn, g->a, g->b, g->c);
        return;
    }
    switch (g->d) {
    case QS_F32: n == 1 ? column_F32(m, k, g->a, g->b, g->c) : product_F32(m, n, k, g->a, g->b, g->c); break;
    case QS_F64: n == 1 ? column_F64(m, k, g->a, g->b, g->c) : product_F64(m, n, k, g->a, g->b, g->c); break;
    case QS_C64: product_C64(m, n, k, g->a, g->b, g->c); break;
    case QS_C128: product_C128(m, n, k, g->a, g->b, g->c); break;
    default: product_I64(m, n, k, g->a, g->b, g->c); break;
    }
}

#ifdef QGEMM_AVX2
void qgemm_own_avx2(const Gemm *g) { multiply_own(g); }
#else
void qgemm_own(const Gemm *g) {
    if (QCPU_AVX512 && g->fused) qgemm_own_avx512(g);
    else if (QCPU_AVX2 && QCPU_FMA && g->fused) qgemm_own_fma(g);
    else if (QCPU_AVX2 && QCPU_FMA) qgemm_own_avx2(g);
    else multiply_own(g);
}

static double work_of(const Gemm *g) { return (double)g->size.m * (double)g->size.n * (double)g->size.k; }

/* Returns the byte offset of an element of a matrix with row length `length`. */
static int64_t offset(const Gemm *g, int64_t row, int64_t length, int64_t column) {
    return (row * length + column) * (int64_t)qdtype_size(g->d);
}

/* -- BLAS, opened at the first product that is large enough -------------------------------------------------------- */
typedef void Real32(int, int, int, int, int, int, float, const void *, int, const void *, int, float, void *, int);
typedef void Real64(int, int, int, int, int, int, double, const void *, int, const void *, int, double, void *, int);
typedef void Cplx(int, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *,
                  void *, int);

/* Thresholds, as numbers of multiplications: to round only the sums (compiled loops, which have the same results, make
 * smaller products); to call an open BLAS; to open BLAS; to use threads without BLAS; and the
 * size of a piece with BLAS. */
static const double worth_fusing = 8 * 8 * 8, worth_calling = 64 * 64 * 64, worth_opening = 320.0 * 320 * 320,
                    worth_sharing = 128 * 128 * 128, worth_a_piece = 192 * 192 * 192;

/* Finds the functions that get and set the number of threads of the library.  Only OpenBLAS with POSIX threads is known
 * to support concurrent calls: a build without threads may not, and one with OpenMP has a thread count per caller. */
static void find_threads(qs_vm *vm, void *lib) {
    static const char *const names[][2] = {{"openblas_get_num_threads", "openblas_set_num_threads"},
                                           {"MKL_Get_Max_Threads", "MKL_Set_Num_Threads"}};
    enum { POSIX_THREADS = 1 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *get = dlsym(lib, names[i][0]), *set = dlsym(lib, names[i][1]);
        void *kind = dlsym(lib, "openblas_get_parallel");
        int (*parallel)(void);
        if (!get || !set) continue;
        memcpy(&qvm(vm)->blas.threads, &get, sizeof get);
        memcpy(&qvm(vm)->blas.set_threads, &set, sizeof set);
        memcpy(&parallel, &kind, sizeof kind);
        qvm(vm)->blas.side_by_side = parallel && parallel() == POSIX_THREADS;
        return;
    }
}

/* Returns OpenBLAS's name of the best kernels for this processor; NULL: unknown. */
static const char *best_kernels(void) {
#if defined(__x86_64__)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx512 ? "SkylakeX" : avx2 ? "Haswell" : NULL;
#else
    return NULL;
#endif
}

static bool has_oldest_kernels(void *lib) {
    void *symbol = dlsym(lib, "openblas_get_corename");
    const char *(*name)(void);
    memcpy(&name, &symbol, sizeof name);
    return symbol && strcmp(name(), "Prescott") == 0;
}

/* An OpenBLAS that is older than the processor does not recognize it and selects its oldest, slow kernels.  It reads
 * the
 * variable when it is opened; the variable is removed afterwards, so that other code does not see it. */
void *qgemm_library(const char *name, char why[DYNLIB_WHY]) {
    static const char variable[] = "OPENBLAS_CORETYPE";
    void *lib = qdynlib_open(name, RTLD_NOW | RTLD_LOCAL, why);
    if (!lib || getenv(variable) || !best_kernels() || !has_oldest_kernels(lib)) return lib;
    dlclose(lib); /* no effect if other code has it open */
    setenv(variable, best_kernels(), 1);
    lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    unsetenv(variable);
    return lib;
}

static void open_blas(qs_vm *vm) {
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3", "libcblas.so.3", "libmkl_rt.so.2"};
    qvm(vm)->blas.tried = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *lib = qgemm_library(names[i], (char[DYNLIB_WHY]){""}); /* no error: built-in loops are the fallback */
        if (!lib) continue;
        void *s = dlsym(lib, "cblas_sgemm"), *d = dlsym(lib, "cblas_dgemm");
        void *c = dlsym(lib, "cblas_cgemm"), *z = dlsym(lib, "cblas_zgemm");
        if (s && d && c && z) {
            qvm(vm)->blas.gemm[0] = s, qvm(vm)->blas.gemm[1] = d, qvm(vm)->blas.gemm[2] = c, qvm(vm)->blas.gemm[3] = z;
            find_threads(vm, lib);
            return;
        }
        dlclose(lib);
    }
}

/* Sets the library's number of threads and returns the previous one, which the caller restores. */
static int lend_threads(qs_vm *vm, int n) {
    if (!qvm(vm)->blas.set_threads) return n;
    int had = qvm(vm)->blas.threads();
    if (had != n) qvm(vm)->blas.set_threads(n);
    return had;
}

/* A product divided into a grid of pieces; each piece is one call of the library. */
typedef struct {
    Gemm all;
    void *f;
    int64_t rows, columns; /* size of a piece; the last ones may be smaller */
    int64_t across;        /* number of pieces in a row of the grid */
} Grid;

static void multiply_piece(const Grid *g, int64_t piece) {
    enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };
    const Gemm *all = &g->all;
    GemmSize s = all->size;
    int64_t i = piece / g->across * g->rows, j = piece % g->across * g->columns;
    int m = (int)(s.m - i < g->rows ? s.m - i : g->rows), n = (int)(s.n - j < g->columns ? s.n - j : g->columns);
    int k = (int)s.k, row = (int)s.n, ta = all->ta ? TRANSPOSE : NO_TRANSPOSE, tb = all->tb ? TRANSPOSE : NO_TRANSPOSE;
    int lda = all->ta ? (int)s.m : k, ldb = all->tb ? k : row;
    const void *a = (const char *)all->a + (all->ta ? offset(all, 0, s.m, i) : offset(all, i, s.k, 0));
    const void *b = (const char *)all->b + (all->tb ? offset(all, j, s.k, 0) : offset(all, 0, s.n, j));
    void *c = (char *)all->c + offset(all, i, s.n, j);
    const float one32[2] = {1, 0}, zero32[2] = {0, 0};
    const double one64[2] = {1, 0}, zero64[2] = {0, 0};
    bool single = all->d == QS_C64;
    if (all->d == QS_F32) ((Real32 *)g->f)(ROW_MAJOR, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, row);
    else if (all->d == QS_F64) ((Real64 *)g->f)(ROW_MAJOR, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, row);
    else
        ((Cplx *)g->f)(ROW_MAJOR, ta, tb, m, n, k, single ? (const void *)one32 : one64, a, lda, b, ldb,
                       single ? (const void *)zero32 : zero64, c, row);
}

static void multiply_pieces(void *ud, int64_t first, int64_t last, int worker) {
    (void)worker;
    for (; first < last; first++) multiply_piece(ud, first);
}

static int64_t pieces_of(int64_t n, int64_t piece) { return (n + piece - 1) / piece; }

/* Returns the length of each of `parts` parts of n, rounded up to whole tiles of the library. */
static int64_t part_length(int64_t n, int64_t parts) {
    enum { TILE_SIDE = 32 };
    return pieces_of(pieces_of(n, parts), TILE_SIDE) * TILE_SIDE;
}

/* Divides the product into about `pieces` pieces that are as square as possible, because each piece reads its rows of a
 * and its columns of b.  Returns their number. */
static int64_t cut_grid(Grid *g, int64_t pieces) {
    int64_t least = INT64_MAX;
    for (int64_t down = 1; down <= pieces; down++) {
        int64_t rows = part_length(g->all.size.m, down), columns = part_length(g->all.size.n, pieces / down);
        if (pieces % down || rows + columns >= least) continue;
        least = rows + columns, g->rows = rows, g->columns = columns;
    }
    g->across = pieces_of(g->all.size.n, g->columns);
    return g->across * pieces_of(g->all.size.m, g->rows);
}

/* Returns one piece per thread, or two for large products, because a thread may have to share its processor.  The
 * library repacks the operands of each piece, so pieces must not be small. */
static int64_t pieces_for(int threads, double work) {
    enum { CALLERS = 48 /* concurrent calls that every build of the library supports */, MUCH = 16 };
    int64_t most = threads < CALLERS ? threads : CALLERS;
    double pieces = work / worth_a_piece;
    if (most == 1 || pieces < 2) return 1;
    return pieces < (double)most ? (int64_t)pieces : pieces < (double)(MUCH * most) ? most : 2 * most;
}

/* Multiplies by the library, if possible on our threads, each of which has its own processor (see above).  false: no
 * library, or the product is too small or too large. */
static bool multiply_by_blas(qs_vm *vm, const Gemm *of) {
    double work = work_of(of);
    GemmSize s = of->size;
    if (of->d < QS_F32 || work < worth_calling || s.m > INT_MAX || s.n > INT_MAX || s.k > INT_MAX) return false;
    if (!qvm(vm)->blas.tried && work >= worth_opening) open_blas(vm);
    Grid g = {*of, qvm(vm)->blas.gemm[of->d - QS_F32], s.m, s.n, 1};
    if (!g.f) return false;
    Threads *t = qthreads_of(qvm_ctx(vm));
    int threads = qthreads_count(t);
    bool ours = qvm(vm)->blas.side_by_side;
    int64_t pieces = ours ? pieces_for(threads, work) : 1;
    int had = lend_threads(vm, ours ? 1 : threads);
    if (pieces > 1) qthreads_run(t, cut_grid(&g, pieces), 1, multiply_pieces, &g);
    else multiply_piece(&g, 0);
    lend_threads(vm, had);
    return true;
}

/* -- without BLAS -------------------------------------------------------------------------------------------------- */
enum { BAND = HEIGHT }; /* rows of the result per unit of work */

static void multiply_bands(void *ud, int64_t first, int64_t last, int worker) {
    const Gemm *all = ud;
    Gemm g = *all;
    int64_t from = first * BAND, to = last * BAND;
    (void)worker;
    g.size.m = (to < all->size.m ? to : all->size.m) - from;
    g.a = (const char *)g.a + offset(all, from, g.size.k, 0), g.c = (char *)g.c + offset(all, from, g.size.n, 0);
    qgemm_own(&g);
}

enum { STRIPE = 1024 }; /* columns of a row per unit of work */

static void multiply_stripes(void *ud, int64_t first, int64_t last, int worker) {
    const Gemm *all = ud;
    Gemm g = *all;
    int64_t from = first * STRIPE, to = last * STRIPE < all->size.n ? last * STRIPE : all->size.n;
    (void)worker;
    g.size.n = to - from, g.length = all->size.n;
    g.b = (const char *)g.b + offset(all, 0, all->size.n, from), g.c = (char *)g.c + offset(all, 0, all->size.n, from);
    qgemm_own(&g);
}

static bool is_row(const Gemm *g) { return g->size.m == 1 && g->size.n > 1 && (g->d == QS_F32 || g->d == QS_F64); }

bool qgemm_transposed(qs_vm *vm, const Gemm *g) { return multiply_by_blas(vm, g); }

void qgemm_run(qs_vm *vm, const Gemm *g) {
    if (g->size.m && is_row(g)) { /* limited by memory */
        int64_t stripes = (g->size.n + STRIPE - 1) / STRIPE;
        bool share = work_of(g) > worth_sharing;
        qthreads_run(qthreads_of(qvm_ctx(vm)), stripes, share ? 1 : stripes, multiply_stripes, (void *)(uintptr_t)g);
        return;
    }
    if (!g->size.m || !g->size.n || multiply_by_blas(vm, g)) return;
    int64_t bands = (g->size.m + BAND - 1) / BAND;
    bool many = work_of(g) > worth_sharing;
    Gemm all = *g;
    all.fused = g->size.n > 1 && (g->d == QS_F32 || g->d == QS_F64) && work_of(g) >= worth_fusing;
    qthreads_run(qthreads_of(qvm_ctx(vm)), bands, many ? 1 : bands, multiply_bands, &all);
}
#endif
#endif
