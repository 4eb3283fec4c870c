/* gemm.c -- products of matrices, by a library where there is one and else by loops of our own.
 *
 * The loops cut the product into tiles that stay in registers while k runs; b is used DEPTH rows at a time, so that a
 * strip of it stays in the first cache.  Compiled twice, like contiguous.c, for the sake of wider registers.
 *
 * A library computes on our threads: the product is cut into pieces, and OpenBLAS is asked for each of them with one
 * thread.  Its own threads may share a processor with the caller for seconds (devices/threads.c says why): with two of
 * them 512x512 took 1.4 ms, as long as with one, and it takes 0.74 ms on ours.  Afterwards the library has the number
 * of threads that it had, for whoever else uses it.  Builds that several threads may not call at once, and MKL, share
 * out the work themselves. */
#include "vm/array/gemm.h"
#include "devices/threads.h"
#include "vm/array/contiguous.h"
#include "vm/base/dtype.h"
#include "vm/value/machine.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, DEPTH = 256 };

/* Two vectors are the width of a tile.  The compiler splits them where registers are narrower. */
typedef float V_F32 __attribute__((vector_size(32)));
typedef double V_F64 __attribute__((vector_size(32)));
typedef float Near_F32 __attribute__((vector_size(32), aligned(4), may_alias)); /* as they lie in memory */
typedef double Near_F64 __attribute__((vector_size(32), aligned(8), may_alias));

/* c (rows x columns, of a row length n) += a (rows x depth, row length k) times b (depth x COLUMNS, row length bn).
 * b has all its columns, c only `columns` of them. */
#define TILE(id, T, WIDTH)                                                                                             \
    enum { COLUMNS_##id = 2 * WIDTH };                                                                                 \
    static inline __attribute__((always_inline)) void tile_##id(                                                       \
        size_t rows, size_t columns, size_t n, size_t k, size_t bn, size_t depth, const T *a, const T *b, T *c) {      \
        V_##id acc[ROWS][2];                                                                                           \
        memset(acc, 0, sizeof acc);                                                                                    \
        for (size_t p = 0; p < depth; p++, b += bn) {                                                                  \
            V_##id b0 = *(const Near_##id *)b, b1 = *(const Near_##id *)(b + WIDTH);                                   \
            _Pragma("GCC unroll 4") for (size_t r = 0; r < rows; r++) {                                                \
                acc[r][0] += a[r * k + p] * b0;                                                                        \
                acc[r][1] += a[r * k + p] * b1;                                                                        \
            }                                                                                                          \
        }                                                                                                              \
        for (size_t r = 0; r < rows; r++)                                                                              \
            for (size_t j = 0; j < columns; j++) c[r * n + j] += acc[r][j / WIDTH][j % WIDTH];                         \
    }

/* Complex and integer tiles are left to the compiler. */
#define ADD_PRODUCT(acc, x, y) ((acc) += (x) * (y))
#define ADD_PRODUCT_COMPLEX(acc, x, y)                                                                                 \
    ((acc).re += (x).re * (y).re - (x).im * (y).im, (acc).im += (x).re * (y).im + (x).im * (y).re)
#define PLAIN_TILE(id, T, MAC)                                                                                         \
    enum { COLUMNS_##id = 8 };                                                                                         \
    static inline void tile_##id(size_t rows, size_t columns, size_t n, size_t k, size_t bn, size_t depth, const T *a, \
                                 const T *b, T *c) {                                                                   \
        for (size_t p = 0; p < depth; p++)                                                                             \
            for (size_t r = 0; r < rows; r++)                                                                          \
                for (size_t j = 0; j < columns; j++) MAC(c[r * n + j], a[r * k + p], b[p * bn + j]);                   \
    }

/* DEPTH rows of b against all of a.  The last columns are copied to a block of full width first. */
#define PRODUCT(id, T)                                                                                                 \
    static void strip_##id(size_t m, size_t columns, size_t n, size_t k, size_t bn, size_t depth, const T *a,          \
                           const T *b, T *c) {                                                                         \
        size_t i = 0;                                                                                                  \
        for (; i + ROWS <= m; i += ROWS) {                                                                             \
            if (columns == COLUMNS_##id) tile_##id(ROWS, COLUMNS_##id, n, k, bn, depth, a + i * k, b, c + i * n);      \
            else tile_##id(ROWS, columns, n, k, bn, depth, a + i * k, b, c + i * n);                                   \
        }                                                                                                              \
        for (; i < m; i++) tile_##id(1, columns, n, k, bn, depth, a + i * k, b, c + i * n);                            \
    }                                                                                                                  \
    static void product_##id(size_t m, size_t n, size_t k, const T *a, const T *b, T *c) {                             \
        T edge[DEPTH * COLUMNS_##id];                                                                                  \
        memset(c, 0, m *n * sizeof(T));                                                                                \
        memset(edge, 0, n % COLUMNS_##id ? (k < DEPTH ? k : DEPTH) * COLUMNS_##id * sizeof(T) : 0);                    \
        for (size_t p = 0; p < k; p += DEPTH) {                                                                        \
            size_t depth = k - p < DEPTH ? k - p : DEPTH, j = 0, rest = n % COLUMNS_##id;                              \
            for (; j + COLUMNS_##id <= n; j += COLUMNS_##id)                                                           \
                strip_##id(m, COLUMNS_##id, n, k, n, depth, a + p, b + p * n + j, c + j);                              \
            if (!rest) continue;                                                                                       \
            for (size_t r = 0; r < depth; r++) memcpy(edge + r * COLUMNS_##id, b + (p + r) * n + j, rest * sizeof(T)); \
            strip_##id(m, rest, n, k, COLUMNS_##id, depth, a + p, edge, c + j);                                        \
        }                                                                                                              \
    }

TILE(F32, float, 8)
TILE(F64, double, 4)
PLAIN_TILE(I64, uint64_t, ADD_PRODUCT)
PLAIN_TILE(C64, QComplexF, ADD_PRODUCT_COMPLEX)
PLAIN_TILE(C128, QComplexD, ADD_PRODUCT_COMPLEX)
PRODUCT(F32, float)
PRODUCT(F64, double)
PRODUCT(I64, uint64_t)
PRODUCT(C64, QComplexF)
PRODUCT(C128, QComplexD)

/* One column: rows of a against b, in as many partial sums as two vectors hold. */
#define COLUMN(id, T, WIDTH)                                                                                           \
    static void column_##id(size_t m, size_t k, const T *a, const T *b, T *c) {                                        \
        for (size_t i = 0; i < m; i++, a += k) {                                                                       \
            V_##id acc0 = {0}, acc1 = {0};                                                                             \
            size_t p = 0;                                                                                              \
            for (; p + 2 * WIDTH <= k; p += 2 * WIDTH) {                                                               \
                acc0 += *(const Near_##id *)(a + p) * *(const Near_##id *)(b + p);                                     \
                acc1 += *(const Near_##id *)(a + p + WIDTH) * *(const Near_##id *)(b + p + WIDTH);                     \
            }                                                                                                          \
            T sum = 0;                                                                                                 \
            acc0 += acc1;                                                                                              \
            for (; p < k; p++) sum += a[p] * b[p];                                                                     \
            for (size_t l = 0; l < WIDTH; l++) sum += acc0[l];                                                         \
            c[i] = sum;                                                                                                \
        }                                                                                                              \
    }
COLUMN(F32, float, 8)
COLUMN(F64, double, 4)

static void own(const Gemm *g) {
    size_t m = (size_t)g->size.m, n = (size_t)g->size.n, k = (size_t)g->size.k;
    switch (g->d) {
    case QS_F32: n == 1 ? column_F32(m, k, g->a, g->b, g->c) : product_F32(m, n, k, g->a, g->b, g->c); break;
    case QS_F64: n == 1 ? column_F64(m, k, g->a, g->b, g->c) : product_F64(m, n, k, g->a, g->b, g->c); break;
    case QS_C64: product_C64(m, n, k, g->a, g->b, g->c); break;
    case QS_C128: product_C128(m, n, k, g->a, g->b, g->c); break;
    default: product_I64(m, n, k, g->a, g->b, g->c); break;
    }
}

#ifdef QGEMM_AVX2
void qgemm_own_avx2(const Gemm *g) { own(g); }
#else
void qgemm_own(const Gemm *g) {
    if (QCPU_AVX2 && QCPU_FMA) qgemm_own_avx2(g);
    else own(g);
}

static double work_of(const Gemm *g) { return (double)g->size.m * (double)g->size.n * (double)g->size.k; }

/* How many bytes behind the first an element lies, of a matrix whose rows have so many. */
static int64_t offset(const Gemm *g, int64_t row, int64_t length, int64_t column) {
    return (row * length + column) * (int64_t)qdtype_size(g->d);
}

/* -- BLAS, opened at the first product that is worth it ------------------------------------------------------------ */
typedef void Real32(int, int, int, int, int, int, float, const void *, int, const void *, int, float, void *, int);
typedef void Real64(int, int, int, int, int, int, double, const void *, int, const void *, int, double, void *, int);
typedef void Cplx(int, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *,
                  void *, int);

/* Numbers of multiplications: from the first on BLAS is faster, from the second on it pays for being opened; without
 * it, from the third on threads share the work, and with it a piece has the fourth. */
static const double worth_calling = 64 * 64 * 64, worth_opening = 320.0 * 320 * 320, worth_sharing = 128 * 128 * 128,
                    worth_a_piece = 192 * 192 * 192;

/* Libraries that have threads of their own tell how many, and let us say.  OpenBLAS with POSIX threads may be called by
 * several threads at once; one without threads perhaps may not, and one with OpenMP has a number for each caller. */
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

/* What OpenBLAS calls the kernels that this processor can run; NULL: those for any. */
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

/* An OpenBLAS that is older than the processor does not know it, and takes its oldest kernels, six times slower.  It
 * looks at the variable while it is opened, and nobody else shall see that. */
void *qgemm_library(const char *name, char why[DYNLIB_WHY]) {
    static const char variable[] = "OPENBLAS_CORETYPE";
    void *lib = qdynlib_open(name, RTLD_NOW | RTLD_LOCAL, why);
    if (!lib || getenv(variable) || !best_kernels() || !has_oldest_kernels(lib)) return lib;
    dlclose(lib); /* where others have it open it stays as it is */
    setenv(variable, best_kernels(), 1);
    lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    unsetenv(variable);
    return lib;
}

static void open_blas(qs_vm *vm) {
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3", "libcblas.so.3", "libmkl_rt.so.2"};
    qvm(vm)->blas.tried = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *lib = qgemm_library(names[i], (char[DYNLIB_WHY]){""}); /* there are loops of our own */
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

/* As many threads as are ours.  The library may serve others in this process, who get back what they had. */
static int lend_threads(qs_vm *vm, int n) {
    if (!qvm(vm)->blas.set_threads) return n;
    int had = qvm(vm)->blas.threads();
    if (had != n) qvm(vm)->blas.set_threads(n);
    return had;
}

/* A product in pieces that lie in a grid, a call of the library for each. */
typedef struct {
    Gemm all;
    void *f;
    int64_t rows, columns; /* of a piece; of the last ones, what is left */
    int64_t across;        /* pieces side by side */
} Grid;

static void multiply_piece(const Grid *g, int64_t piece) {
    enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };
    const Gemm *all = &g->all;
    GemmSize s = all->size;
    int64_t i = piece / g->across * g->rows, j = piece % g->across * g->columns;
    int m = (int)(s.m - i < g->rows ? s.m - i : g->rows), n = (int)(s.n - j < g->columns ? s.n - j : g->columns);
    int k = (int)s.k, row = (int)s.n;
    const void *a = (const char *)all->a + offset(all, i, s.k, 0), *b = (const char *)all->b + offset(all, 0, s.n, j);
    void *c = (char *)all->c + offset(all, i, s.n, j);
    const float one32[2] = {1, 0}, zero32[2] = {0, 0};
    const double one64[2] = {1, 0}, zero64[2] = {0, 0};
    bool single = all->d == QS_C64;
    if (all->d == QS_F32) ((Real32 *)g->f)(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, 1, a, k, b, row, 0, c, row);
    else if (all->d == QS_F64)
        ((Real64 *)g->f)(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, 1, a, k, b, row, 0, c, row);
    else
        ((Cplx *)g->f)(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, single ? (const void *)one32 : one64, a, k, b,
                       row, single ? (const void *)zero32 : zero64, c, row);
}

static void multiply_pieces(void *ud, int64_t first, int64_t last, int worker) {
    (void)worker;
    for (; first < last; first++) multiply_piece(ud, first);
}

static int64_t pieces_of(int64_t n, int64_t piece) { return (n + piece - 1) / piece; }

/* Of n, each of so many parts: in whole tiles of the library. */
static int64_t part(int64_t n, int64_t parts) {
    enum { TILE_SIDE = 32 };
    return pieces_of(pieces_of(n, parts), TILE_SIDE) * TILE_SIDE;
}

/* As square as so many pieces can be: each one reads its rows of a and its columns of b. */
static int64_t cut(Grid *g, int64_t pieces) {
    int64_t least = INT64_MAX;
    for (int64_t down = 1; down <= pieces; down++) {
        int64_t rows = part(g->all.size.m, down), columns = part(g->all.size.n, pieces / down);
        if (pieces % down || rows + columns >= least) continue;
        least = rows + columns, g->rows = rows, g->columns = columns;
    }
    g->across = pieces_of(g->all.size.n, g->columns);
    return g->across * pieces_of(g->all.size.m, g->rows);
}

/* One for each thread; of much work two, because a thread may have to share its processor.  Each piece is packed anew
 * by the library, so they must not be small. */
static int64_t pieces_for(int threads, double work) {
    enum { CALLERS = 48 /* of the library at once: every build has room for so many */, MUCH = 16 };
    int64_t most = threads < CALLERS ? threads : CALLERS;
    double pieces = work / worth_a_piece;
    if (most == 1 || pieces < 2) return 1;
    return pieces < (double)most ? (int64_t)pieces : pieces < (double)(MUCH * most) ? most : 2 * most;
}

/* By threads of ours where that may be: they are kept on processors of their own, where those of a library may share
 * one for seconds. */
static bool blas(qs_vm *vm, const Gemm *of) {
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
    if (pieces > 1) qthreads_run(t, cut(&g, pieces), 1, multiply_pieces, &g);
    else multiply_piece(&g, 0);
    lend_threads(vm, had);
    return true;
}

/* -- without it ---------------------------------------------------------------------------------------------------- */
enum { BAND = 16 * ROWS }; /* rows of the result for a thread */

static void multiply_bands(void *ud, int64_t first, int64_t last, int worker) {
    const Gemm *all = ud;
    Gemm g = *all;
    int64_t from = first * BAND, to = last * BAND;
    (void)worker;
    g.size.m = (to < all->size.m ? to : all->size.m) - from;
    g.a = (const char *)g.a + offset(all, from, g.size.k, 0), g.c = (char *)g.c + offset(all, from, g.size.n, 0);
    qgemm_own(&g);
}

void qgemm_run(qs_vm *vm, const Gemm *g) {
    if (!g->size.m || !g->size.n || blas(vm, g)) return;
    int64_t bands = (g->size.m + BAND - 1) / BAND;
    bool many = work_of(g) > worth_sharing;
    qthreads_run(qthreads_of(qvm_ctx(vm)), bands, many ? 1 : bands, multiply_bands, (void *)(uintptr_t)g);
}
#endif
