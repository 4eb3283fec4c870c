/* vector.c -- calls the vectorized math functions of the C library (libmvec).
 *
 * Compiled kernels call the same functions; their errors are within the bounds of elem.def.  A function is used if its
 * row in mathfn.def has a libmvec function and typed.def has a row of the same name.  The last elements are padded to a
 * full vector, so that a result does not depend on the position of its element. */
#include "vm/array/contiguous.h"
#include "vm/typed/typed.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int row;
    const char *f32, *f64;
    int libc;
} known[] = {
#define MATHFN(id, nargs, f32, f64, hf, hd, mvec, ...) {TYPED_ROW_##id, #f32, #f64, mvec},
#define TYPED_ROW_sin                                  TY_sin
#define TYPED_ROW_cos                                  TY_cos
#define TYPED_ROW_tan                                  TY_tan
#define TYPED_ROW_asin                                 TY_asin
#define TYPED_ROW_acos                                 TY_acos
#define TYPED_ROW_atan                                 TY_atan
#define TYPED_ROW_sinh                                 TY_sinh
#define TYPED_ROW_cosh                                 TY_cosh
#define TYPED_ROW_tanh                                 TY_tanh
#define TYPED_ROW_asinh                                TY_asinh
#define TYPED_ROW_acosh                                TY_acosh
#define TYPED_ROW_atanh                                TY_atanh
#define TYPED_ROW_exp                                  TY_exp
#define TYPED_ROW_expm1                                TY_expm1
#define TYPED_ROW_log                                  TY_log
#define TYPED_ROW_log2                                 TY_log2
#define TYPED_ROW_log10                                TY_log10
#define TYPED_ROW_log1p                                TY_log1p
#define TYPED_ROW_atan2                                TY_atan2
#define TYPED_ROW_hypot                                TY_hypot
#define TYPED_ROW_pow                                  TY_pow
#define TYPED_ROW_exp2                                 -1
#define TYPED_ROW_sqrt                                 -1
#define TYPED_ROW_cbrt                                 -1
#define TYPED_ROW_floor                                -1
#define TYPED_ROW_ceil                                 -1
#define TYPED_ROW_round                                -1
#define TYPED_ROW_trunc                                -1
#define TYPED_ROW_erf                                  -1
#define TYPED_ROW_erfc                                 -1
#define TYPED_ROW_lgamma                               -1
#define TYPED_ROW_tgamma                               -1
#include "lang/kernel/ir/mathfn.def"
};

/* Addresses in the C library, shared by all VMs of the process. */
static struct { void *f32, *f64; } found[TY__COUNT];
static bool wide; /* the functions process vectors of 64 bytes instead of 32 */
static pthread_once_t looked = PTHREAD_ONCE_INIT;

static void *find_function(void *library, int nargs, int lanes, const char *name) {
    char symbol[64];
    snprintf(symbol, sizeof symbol, "_ZGV%cN%d%s_%s", wide ? 'e' : 'd', wide ? 2 * lanes : lanes,
             nargs == 2 ? "vv" : "v", name);
    return dlsym(library, symbol);
}

static void find_functions(void) {
    void *library = QCPU_AVX2 ? dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    wide = __builtin_cpu_supports("avx512f");
    for (size_t i = 0; library && i < sizeof known / sizeof *known; i++) {
        if (known[i].row < 0 || !known[i].libc) continue;
        int nargs = qtyped_info[known[i].row].nargs;
        found[known[i].row].f32 = find_function(library, nargs, 8, known[i].f32);
        found[known[i].row].f64 = find_function(library, nargs, 4, known[i].f64);
    }
}

/* take_…: loads a vector of n strided elements, padded with the last one.  run_…: calls the vector function f for n
 * elements. */
#define VECTOR(T, BYTES, D, isa)                                                                                       \
    typedef T V_##D __attribute__((vector_size(BYTES)));                                                               \
    __attribute__((target(isa))) static inline V_##D take_##D(const char *p, ptrdiff_t step, size_t n) {               \
        enum { N = BYTES / sizeof(T) };                                                                                \
        T room[N];                                                                                                     \
        V_##D v;                                                                                                       \
        if (n == N && step == (ptrdiff_t)sizeof(T)) return memcpy(&v, p, sizeof v), v;                                 \
        for (size_t k = 0; k < N; k++)                                                                                 \
            room[k] = *(const T *)(const void *)(p + (ptrdiff_t)(k < n ? k : n - 1) * step);                           \
        return memcpy(&v, room, sizeof v), v;                                                                          \
    }                                                                                                                  \
    __attribute__((target(isa))) static void run_##D(void *f, int nargs, size_t n, char *out, const char *const *in,   \
                                                     const ptrdiff_t *step) {                                          \
        enum { N = BYTES / sizeof(T) };                                                                                \
        V_##D (*of)(V_##D), (*of2)(V_##D, V_##D);                                                                      \
        memcpy(&of, &f, sizeof of), memcpy(&of2, &f, sizeof of2); /* C has no cast from an object to a function */     \
        for (size_t i = 0; i < n; i += N) {                                                                            \
            size_t m = n - i < N ? n - i : N;                                                                          \
            ptrdiff_t at = (ptrdiff_t)i;                                                                               \
            V_##D x = take_##D(in[0] + at * step[0], step[0], m);                                                      \
            V_##D r = nargs == 1 ? of(x) : of2(x, take_##D(in[1] + at * step[1], step[1], m));                         \
            memcpy(out + i * sizeof(T), &r, m * sizeof(T));                                                            \
        }                                                                                                              \
    }
VECTOR(float, 32, F32, "avx2")
VECTOR(double, 32, F64, "avx2")
VECTOR(float, 64, F32_wide, "avx512f")
VECTOR(double, 64, F64_wide, "avx512f")

/* Returns whether the common exponent of all elements has a faster formula (typed_power in typed_math.h). */
static bool is_short_power(qs_dtype d, const char *exponent) {
    double y = d == QS_F32 ? (double)*(const float *)(const void *)exponent : *(const double *)(const void *)exponent;
    return qtyped_is_short_power(y);
}

bool qtyped_vector(Typed f, qs_dtype d, size_t n, char *out, const char *const *in, const ptrdiff_t *step) {
    if ((d != QS_F32 && d != QS_F64) || (f == TY_pow && step[1] == 0 && is_short_power(d, in[1]))) return false;
    pthread_once(&looked, find_functions);
    void *fn = d == QS_F32 ? found[f].f32 : found[f].f64;
    if (!fn) return false;
    if (wide) (d == QS_F32 ? run_F32_wide : run_F64_wide)(fn, qtyped_info[f].nargs, n, out, in, step);
    else (d == QS_F32 ? run_F32 : run_F64)(fn, qtyped_info[f].nargs, n, out, in, step);
    return true;
}
#else
bool qtyped_vector(Typed f, qs_dtype d, size_t n, char *out, const char *const *in, const ptrdiff_t *step) {
    return (void)f, (void)d, (void)n, (void)out, (void)in, (void)step, false;
}
#endif
