/* linalg.c -- implements linear algebra with LAPACK, which is loaded on first use.
 *
 * LAPACK expects column-major matrices, so arguments and results are transposed.  LAPACK computes in float64
 * (complex128), and the results are rounded to the dtype of the argument.  If a library of the device is expected to be
 * faster, it computes in the dtype of the argument instead (vm/array/device_math.h).  Its factors are stored in the
 * same matrices, and all later steps, including the signs of vectors, are common.  Source: LAPACK Users' Guide, 3rd
 * edition. */
#include "stdlib/builtins.h"
#include "stdlib/triangle.h"
#include "vm/array/device_math.h"
#include "vm/array/gemm.h"
#include "vm/program/python.h"

#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* -- the library --------------------------------------------------------------------------------------------------- */
/* clang-format off */
#define LAPACK(X)                                                                                                      \
    X(dgetrf) X(zgetrf) X(dgetri) X(zgetri) X(dgetrs) X(zgetrs) X(dgels) X(zgels) X(dpotrf) X(zpotrf)                  \
    X(dtrtrs) X(ztrtrs)                                                                                                \
    X(dgeqrf) X(zgeqrf) X(dgeqp3) X(zgeqp3) X(dorgqr) X(zungqr) X(dgesdd) X(zgesdd) X(dsyevd) X(zheevd)                \
    X(dgeev) X(zgeev)
/* clang-format on */

typedef void (*Routine)(void);
typedef struct Lapack {
    void *handle;
#define MEMBER(name) Routine name;
    LAPACK(MEMBER)
} Lapack;

static const char *const libraries[] = {"libopenblas.so.0", "liblapack.so.3", "liblapack.so", "libopenblas.so"};

static bool resolve_routines(Lapack *l) {
#define SYMBOL(name)                                                                                                   \
    if (!(l->name = (Routine)(uintptr_t)dlsym(l->handle, #name "_"))) return false;
    LAPACK(SYMBOL)
    return true;
}

bool qlinalg_available(void) {
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        Lapack l = {.handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL)};
        if (!l.handle) continue;
        bool good = resolve_routines(&l);
        dlclose(l.handle);
        if (good) return true;
    }
    return false;
}

/* Returns the library, loaded on first use.  LAPACK takes long even for small matrices, so other threads need not wait
 * for its end (qctx_let_go). */
static qs_status lapack(qs_vm *vm, const char *fn, Lapack **out) {
    Lib *lib = qlib(vm);
    qctx_let_go(qvm_ctx(vm));
    if ((*out = lib->lapack)) return QS_OK;
    char why[DYNLIB_WHY] = "";
    Lapack *l = qmem_alloc(qvm_ctx(vm), sizeof *l);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (!(l->handle = qgemm_library(libraries[i], why))) continue;
        if (resolve_routines(l)) return lib->lapack = *out = l, QS_OK;
        dlclose(l->handle);
    }
    qmem_free(qvm_ctx(vm), l, sizeof *l);
    if (*why) return qs_fail(vm, QS_EIO, "%s: needs LAPACK, which cannot be opened: %s", fn, why);
    return qs_fail(vm, QS_EVALUE, "%s: needs LAPACK; none of libopenblas.so.0 and liblapack.so.3 could be opened", fn);
}

void qlinalg_close(qs_vm *vm) {
    Lapack *l = qlib(vm)->lapack;
    if (l) qmem_free(qvm_ctx(vm), l, sizeof *l); /* the library stays loaded: its threads may be running */
    qlib(vm)->lapack = NULL;
}

/* Calls a Fortran routine: all arguments by address, lengths of character arguments at the end. */
#define CALL(routine, signature, ...) ((void(*) signature)(routine))(__VA_ARGS__)
#define P                             void *

/* The same, but releases the VM to other threads during the call if the matrix x is not small.  This is safe because
 * LAPACK works on private copies.  x is NULL for a query of the size of the workspace, which takes no time. */
#define CALL_APART(vm, x, ...)                                                                                         \
    do {                                                                                                               \
        const Python *python = release_for(vm, x);                                                                     \
        CALL(__VA_ARGS__);                                                                                             \
        qpython_acquire_vm(python);                                                                                    \
    } while (0)

/* -- matrices ------------------------------------------------------------------------------------------------------ */
typedef struct { /* column-major; elements of 1 (real) or 2 (complex) doubles */
    Ctx *ctx;
    int m, n, parts;
    double *a;
} Mat;

static double *at(const Mat *x, int i, int j) {
    return x->a + (size_t)x->parts * ((size_t)j * (size_t)x->m + (size_t)i);
}

static const Python *release_for(qs_vm *vm, const Mat *x) {
    enum { LONG = 64 * 64 }; /* number of elements from which LAPACK takes longer than a thread switch */
    bool is_short = !x || (size_t)x->m * (size_t)x->n < LONG;
    return is_short ? NULL : qpython_release_vm_to_compute(vm);
}

static size_t mat_bytes(const Mat *x) {
    size_t element = (size_t)x->parts * sizeof(double);
    return qmem_size(qmem_size((size_t)x->m, (size_t)x->n, 0), element, element);
}
static void mat_free(Mat *x) {
    if (x->a) qmem_try_free(x->ctx, x->a, mat_bytes(x));
    x->a = NULL;
}

static qs_status mat_new(qs_vm *vm, const char *fn, int m, int n, int parts, Mat *x) {
    *x = (Mat){qvm_ctx(vm), m, n, parts, NULL};
    x->a = qmem_try(x->ctx, mat_bytes(x));
    if (!x->a) return qs_fail(vm, QS_ENOMEM, "%s: no memory for a %d x %d matrix", fn, m, n);
    memset(x->a, 0, mat_bytes(x));
    return QS_OK;
}

static qs_dtype wide_type(int parts) { return parts == 2 ? QS_C128 : QS_F64; }

static qs_status matrix_shape(qs_vm *vm, const char *fn, const char *what, const Array *a, Shape *s) {
    if (a->rank > 2) return qs_fail(vm, QS_ESHAPE, "%s: %s must be a matrix, got %d dimensions", fn, what, a->rank);
    qmatrix_shape(a, s);
    if (s->dims[0] <= 1 << 20 && s->dims[1] <= 1 << 20) return QS_OK;
    return qs_fail(vm, QS_ESHAPE, "%s: %s may have 2^20 rows and columns, got %lld x %lld", fn, what,
                   (long long)s->dims[0], (long long)s->dims[1]);
}

/* Reads rows, columns and parts of in[i], without the elements. */
static qs_status mat_extents(qs_vm *vm, qs_call_args *c, int i, const char *what, Mat *x) {
    Array *a;
    Shape s;
    TRY(qarg_array(vm, c, i, what, &a));
    TRY(matrix_shape(vm, c->name, what, a, &s));
    *x = (Mat){qvm_ctx(vm), (int)s.dims[0], (int)s.dims[1], qdtype_is_complex((qs_dtype)a->dtype) ? 2 : 1, NULL};
    return QS_OK;
}

/* Copies in[i], transposed, to x.  parts 0: as in the argument. */
static qs_status mat_read(qs_vm *vm, qs_call_args *c, int i, const char *what, int parts, Mat *x) {
    Array *a;
    Shape s;
    const void *p;
    TRY(qarg_array(vm, c, i, what, &a));
    if (!parts) parts = qdtype_is_complex((qs_dtype)a->dtype) ? 2 : 1;
    TRY(qarg_packed(vm, c, i, what, wide_type(parts), &a, &p));
    TRY(matrix_shape(vm, c->name, what, a, &s));
    TRY(mat_new(vm, c->name, (int)s.dims[0], (int)s.dims[1], parts, x));
    if (a->count) qmatrix_move(vm, x->a, (int64_t[]){1, x->m}, p, s.strides, 2, s.dims, (size_t)parts * sizeof(double));
    return QS_OK;
}

/* Returns the real dtype of results for in[0]. */
static qs_dtype real_result(qs_vm *vm, const qs_call_args *c) { return qdtype_real_of(qarg_meet_float(vm, c, 0, 1)); }

/* Creates an array of dtype d, or of the complex type of that precision, from the first rows x cols of x. */
static qs_status mat_result(qs_vm *vm, const Mat *x, int rows, int cols, qs_dtype d, qs_value *out) {
    Array *a, *r;
    void *p;
    int64_t dims[2] = {rows, cols};
    TRY(qarr_make(vm, wide_type(x->parts), 2, dims, false, &a, &p));
    if (a->count)
        qmatrix_move(vm, p, (int64_t[]){cols, 1}, x->a, (int64_t[]){1, x->m}, 2, dims,
                     (size_t)x->parts * sizeof(double));
    qs_status s = qarr_convert(vm, a, x->parts == 2 ? qdtype_complex_of(qdtype_real_of(d)) : d, &r);
    qarr_release(vm, a);
    if (s == QS_OK) *out = qarr_value(r);
    return s;
}

/* Returns in[i] if its results have its own dtype, so that a library of the device may compute them; otherwise NULL. */
static Array *for_device(qs_vm *vm, const qs_call_args *c, int i) {
    if (c->in[i].kind != QS_ARRAY) return NULL;
    Array *a = qval_array(c->in[i]);
    return a->dtype == qarg_meet_float(vm, c, i, i + 1) ? a : NULL;
}

/* The same if the result is a number or depends on a tolerance: the device must then compute in float64. */
static Array *for_wide_device(qs_vm *vm, const qs_call_args *c) {
    Array *a = for_device(vm, c, 0);
    return a && qdtype_real_of((qs_dtype)a->dtype) == QS_F64 ? a : NULL;
}

/* Converts n numbers, which a device has stored in p with the precision of d, to doubles in place. */
static void widen_numbers(double *p, size_t n, qs_dtype d) {
    float f;
    if (qdtype_real_of(d) == QS_F64) return;
    for (size_t i = n; i-- > 0; p[i] = (double)f) memcpy(&f, (char *)p + i * sizeof f, sizeof f);
}

static void mat_widen(Mat *x, qs_dtype d) { widen_numbers(x->a, (size_t)x->m * (size_t)x->n * (size_t)x->parts, d); }

/* Converts values computed by a device; false if some are not finite, and the processor then reports the error. */
static bool values_widen(Mat *x, qs_dtype d) {
    bool good = true;
    widen_numbers(x->a, (size_t)x->m, d);
    for (int i = 0; i < x->m; i++) good = good && isfinite(x->a[i]);
    return good;
}

static qs_status not_converged(qs_vm *vm, const char *fn, const char *what, const Mat *a) {
    return qs_fail(vm, QS_EVALUE, "%s: the iteration did not converge for %s (%d x %d); does it hold nan or inf?", fn,
                   what, a->m, a->n);
}

static qs_status square(qs_vm *vm, const char *fn, const Mat *x) {
    return x->m == x->n ? QS_OK : qs_fail(vm, QS_ESHAPE, "%s: the matrix must be square, got %d x %d", fn, x->m, x->n);
}

/* Checks for nan and infinities, which routines for eigenvalues and singular values do not detect.  lower: these
 * routines read the lower half only. */
static qs_status all_finite(qs_vm *vm, const char *fn, const char *what, const Mat *x, bool lower) {
    size_t parts = (size_t)x->parts, rows = (size_t)x->m * parts;
    for (size_t j = 0; j < (size_t)x->n; j++)
        for (size_t i = lower ? j * parts : 0; i < rows; i++)
            if (!isfinite(x->a[j * rows + i])) return qs_fail(vm, QS_EVALUE, "%s: %s holds nan or inf", fn, what);
    return QS_OK;
}

/* Work space: the routine reports its size (lwork -1), then it is allocated. */
typedef struct {
    Ctx *ctx;
    double *p;
    int n;
    size_t bytes;
} Work;
static qs_status work_new(qs_vm *vm, const char *fn, double reals, Work *w) {
    *w = (Work){qvm_ctx(vm), NULL, (int)reals, qmem_size((size_t)reals, 2 * sizeof(double), 4 * sizeof(double))};
    w->p = qmem_try(w->ctx, w->bytes);
    return w->p ? QS_OK : qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu bytes of work space", fn, w->bytes);
}
static void work_free(Work *w) {
    if (w->p) qmem_try_free(w->ctx, w->p, w->bytes);
}

/* -- small matrices ----------------------------------------------------------------------------------------------- */
/* Real matrices of at most SMALL rows are solved here, by the same steps as in stdlib/kernels.q (eliminated,
 * small_solve and kernel_det).  Compiled loops inline those functions, so that both have the same bits. */
enum { SMALL = 4 };
static bool is_small(const Mat *a) { return a->parts == 1 && a->m == a->n && a->m && a->m <= SMALL; }

static void swap_rows(Mat *x, int i, int k, int from) {
    for (int j = from; j < x->n; j++) {
        double t = *at(x, i, j);
        *at(x, i, j) = *at(x, k, j), *at(x, k, j) = t;
    }
}

static void subtract_row(Mat *x, int i, int k, double factor, int from) {
    for (int j = from; j < x->n; j++) *at(x, i, j) -= factor * *at(x, k, j);
}

/* Eliminates below the diagonal of a, and in b; returns the sign of the permutation. */
static double eliminate(Mat *a, Mat *b) {
    double sign = 1;
    for (int k = 0; k < a->n; k++) {
        for (int i = k + 1; i < a->n; i++)
            if (fabs(*at(a, i, k)) > fabs(*at(a, k, k))) sign = -sign, swap_rows(a, k, i, k), swap_rows(b, k, i, 0);
        for (int i = k + 1; i < a->n; i++) {
            double d = *at(a, k, k), factor = d == 0 ? d : *at(a, i, k) / d;
            subtract_row(a, i, k, factor, k), subtract_row(b, i, k, factor, 0);
        }
    }
    return sign;
}

/* Replaces b by the solution; false: a is singular. */
static bool solve_small(Mat *a, Mat *b) {
    (void)eliminate(a, b);
    for (int i = 0; i < a->n; i++)
        if (*at(a, i, i) == 0) return false;
    for (int j = 0; j < b->n; j++)
        for (int i = a->n - 1; i >= 0; i--) {
            double t = *at(b, i, j);
            for (int k = i + 1; k < a->n; k++) t -= *at(a, i, k) * *at(b, k, j);
            *at(b, i, j) = t / *at(a, i, i);
        }
    return true;
}

static double small_det(Mat *x) {
    const double *a = x->a; /* of two and three rows: the same for the transpose */
    if (x->n == 1) return a[0];
    if (x->n == 2) return a[0] * a[3] - a[2] * a[1];
    if (x->n == 3)
        return a[0] * (a[4] * a[8] - a[7] * a[5]) - a[3] * (a[1] * a[8] - a[7] * a[2]) +
               a[6] * (a[1] * a[5] - a[4] * a[2]);
    Mat none = {.m = x->m};
    double det = eliminate(x, &none) * a[0];
    for (int i = 1; i < x->n; i++) det *= *at(x, i, i);
    return det;
}

/* -- LU: det, logdet, inv, solve ----------------------------------------------------------------------------------- */
typedef struct {
    Mat a;
    Work pivots;
    int info;
} Lu;
static int *pivots(Lu *f) { return (int *)(void *)f->pivots.p; }
static void lu_free(Lu *f) { mat_free(&f->a), work_free(&f->pivots); }

static qs_status lu(qs_vm *vm, const char *fn, Lapack *l, Lu *f) {
    TRY(work_new(vm, fn, f->a.m, &f->pivots));
    CALL_APART(vm, &f->a, f->a.parts == 2 ? l->zgetrf : l->dgetrf, (P, P, P, P, P, P), &f->a.m, &f->a.n, f->a.a,
               &f->a.m, f->pivots.p, &f->info);
    return QS_OK;
}

static qs_status lu_of(qs_vm *vm, qs_call_args *c, Lapack **l, Lu *f) {
    memset(f, 0, sizeof *f);
    TRY(lapack(vm, c->name, l));
    TRY(mat_read(vm, c, 0, "A", 0, &f->a));
    TRY(square(vm, c->name, &f->a));
    return f->a.m ? lu(vm, c->name, *l, f) : QS_OK;
}

static qs_status lu_on_device(qs_vm *vm, const char *fn, Array *a, Lu *f, bool *done) {
    DevFactor d = {.kind = FACTOR_LU, .left = f->a.a, .values = f->pivots.p};
    TRY(qdevmath_factor(vm, fn, a, &d, done));
    if (*done) mat_widen(&f->a, d.dtype);
    return QS_OK;
}

/* Factors in[0] for a determinant; on a device possibly its transpose, which has the same one. */
static qs_status lu_for_number(qs_vm *vm, qs_call_args *c, Lu *f) {
    bool done = false;
    Lapack *l;
    Array *given = for_wide_device(vm, c);
    Mat a;
    memset(f, 0, sizeof *f);
    TRY(mat_extents(vm, c, 0, "A", &a));
    TRY(square(vm, c->name, &a));
    if (given) {
        TRY(mat_new(vm, c->name, a.m, a.m, a.parts, &f->a));
        TRY(work_new(vm, c->name, a.m, &f->pivots));
        TRY(lu_on_device(vm, c->name, given, f, &done));
    }
    if (done) return QS_OK;
    lu_free(f);
    return lu_of(vm, c, &l, f);
}

/* Returns log |det|, with det/|det| in z, so that the determinant cannot overflow. */
static double log_det(Lu *f, double z[2]) {
    double sum = 0;
    z[0] = 1, z[1] = 0;
    for (int i = 0; i < f->a.m; i++) {
        const double *d = f->a.a + (size_t)f->a.parts * ((size_t)i * (size_t)f->a.m + (size_t)i);
        double re = d[0], im = f->a.parts == 2 ? d[1] : 0, r = hypot(re, im);
        if (r == 0) return z[0] = z[1] = 0, -INFINITY;
        sum += log(r), re /= r, im /= r;
        if (pivots(f)[i] != i + 1) re = -re, im = -im;
        double t = z[0] * re - z[1] * im;
        z[1] = z[0] * im + z[1] * re, z[0] = t;
    }
    return sum;
}

static qs_status determinant(qs_vm *vm, qs_call_args *c, bool logarithm) {
    Lu f;
    double z[2] = {1, 0};
    qs_status s = lu_for_number(vm, c, &f);
    if (s == QS_OK) {
        double log = log_det(&f, z), scale = logarithm ? 0 : exp(log);
        bool complex = f.a.parts == 2;
        if (logarithm && complex) s = qval_complex(vm, log, atan2(z[1], z[0]), &c->out[0]);
        else if (logarithm) c->out[0] = qs_num(z[0] < 0 ? NAN : log);
        else if (complex) s = qval_complex(vm, z[0] * scale, z[1] * scale, &c->out[0]);
        else c->out[0] = qs_num(z[0] * scale);
    }
    lu_free(&f);
    return s;
}
qs_status qlinalg_det(qs_vm *vm, qs_call_args *c) {
    Mat a;
    TRY(mat_extents(vm, c, 0, "A", &a));
    if (!is_small(&a)) return determinant(vm, c, false);
    TRY(mat_read(vm, c, 0, "A", 0, &a));
    c->out[0] = qs_num(small_det(&a));
    return mat_free(&a), QS_OK;
}
qs_status qlinalg_logdet(qs_vm *vm, qs_call_args *c) { return determinant(vm, c, true); }

static qs_status singular(qs_vm *vm, const char *fn) {
    return qs_fail(vm, QS_EVALUE, "%s: the matrix is singular", fn);
}

static qs_status invert_small(qs_vm *vm, qs_call_args *c, qs_dtype d) {
    Mat a, x = {0};
    TRY(mat_read(vm, c, 0, "A", 0, &a));
    qs_status s = mat_new(vm, "inv", a.m, a.m, 1, &x);
    for (int i = 0; i < a.m && s == QS_OK; i++) *at(&x, i, i) = 1;
    if (s == QS_OK) s = solve_small(&a, &x) ? mat_result(vm, &x, x.m, x.n, d, &c->out[0]) : singular(vm, "inv");
    mat_free(&a), mat_free(&x);
    return s;
}

static qs_status invert(qs_vm *vm, Lapack *l, Lu *f) {
    Work w;
    if (f->info) return singular(vm, "inv");
    TRY(work_new(vm, "inv", 64.0 * f->a.m, &w));
    CALL_APART(vm, &f->a, f->a.parts == 2 ? l->zgetri : l->dgetri, (P, P, P, P, P, P, P), &f->a.m, f->a.a, &f->a.m,
               f->pivots.p, w.p, &w.n, &f->info);
    work_free(&w);
    return f->info ? singular(vm, "inv") : QS_OK;
}

qs_status qlinalg_inv(qs_vm *vm, qs_call_args *c) {
    Lapack *l;
    Lu f;
    Mat given;
    qs_dtype d = real_result(vm, c);
    TRY(mat_extents(vm, c, 0, "A", &given));
    if (is_small(&given)) return invert_small(vm, c, d);
    Array *a = for_device(vm, c, 0), *r = NULL;
    if (a) TRY(qdevmath_inverse(vm, a, &r));
    if (r) return c->out[0] = qarr_value(r), QS_OK;
    qs_status s = lu_of(vm, c, &l, &f);
    if (s == QS_OK && f.a.m) s = invert(vm, l, &f);
    if (s == QS_OK) s = mat_result(vm, &f.a, f.a.m, f.a.n, d, &c->out[0]);
    lu_free(&f);
    return s;
}

static bool is_zero_at(const Mat *x, int i, int j) {
    const double *p = x->a + (size_t)x->parts * ((size_t)j * (size_t)x->m + (size_t)i);
    return p[0] == 0 && p[x->parts - 1] == 0;
}

/* Returns 'U' or 'L' for a triangular matrix, 0 for any other. */
static char triangle_of(const Mat *x) {
    bool upper = true, lower = true;
    for (int j = 0; j < x->n && (upper || lower); j++)
        for (int i = 0; i < x->n && (upper || lower); i++)
            if (i != j && !is_zero_at(x, i, j)) *(i > j ? &upper : &lower) = false;
    return upper ? 'U' : lower ? 'L' : 0;
}

static qs_status solve_triangle(qs_vm *vm, Lapack *l, Mat *a, Mat *b, char half) {
    int info;
    CALL_APART(vm, a, a->parts == 2 ? l->ztrtrs : l->dtrtrs, (P, P, P, P, P, P, P, P, P, P, size_t, size_t, size_t),
               &half, "N", "N", &a->n, &b->n, a->a, &a->n, b->a, &b->m, &info, 1, 1, 1);
    return info ? singular(vm, "solve") : QS_OK;
}

/* Stores the factors in an array of n rows: the LU matrix of LAPACK, and the pivots as an additional column. */
static qs_status factors_result(qs_vm *vm, Lu *f, qs_value *out) {
    Mat all;
    int n = f->a.m, parts = f->a.parts;
    TRY(mat_new(vm, "solve", n, n + 1, parts, &all));
    size_t size = (size_t)n * (size_t)n * (size_t)parts;
    memcpy(all.a, f->a.a, size * sizeof(double));
    for (int i = 0; i < n; i++) all.a[size + (size_t)(i * parts)] = pivots(f)[i];
    qs_status s = mat_result(vm, &all, n, n + 1, wide_type(parts), out);
    return mat_free(&all), s;
}

static qs_status factors_read(qs_vm *vm, qs_call_args *c, int i, int n, int parts, Lu *f) {
    memset(f, 0, sizeof *f);
    TRY(mat_read(vm, c, i, "F", parts, &f->a));
    TRY(work_new(vm, c->name, n, &f->pivots));
    bool right = f->a.m == n && f->a.n == n + 1;
    size_t size = (size_t)n * (size_t)n * (size_t)parts;
    for (int k = 0; k < n && right; k++) {
        double p = f->a.a[size + (size_t)(k * parts)];
        right = p >= 1 && p <= n && p == floor(p);
        if (right) pivots(f)[k] = (int)p;
    }
    return right ? QS_OK
                 : qs_fail(vm, QS_EVALUE,
                           "%s: F must be the factors that [X, F] = solve(A, B) has given of "
                           "this A of %d rows",
                           c->name, n);
}

static void back_substitute(qs_vm *vm, Lapack *l, Lu *f, Mat *b, char how) {
    int info, n = f->a.m;
    CALL_APART(vm, &f->a, f->a.parts == 2 ? l->zgetrs : l->dgetrs, (P, P, P, P, P, P, P, P, P, size_t), &how, &n, &b->n,
               f->a.a, &n, f->pivots.p, b->a, &b->m, &info, 1);
}

/* Square A: solves by elimination, or directly if A is triangular.  Otherwise computes the least squares solution (the
 * shortest one if there are many). */
static qs_status solve_square(qs_vm *vm, Lapack *l, Mat *a, Mat *b, qs_value *factors) {
    Lu f = {.a = *a};
    if (is_small(a)) return solve_small(a, b) ? QS_OK : singular(vm, "solve");
    char half = triangle_of(a);
    if (half) return solve_triangle(vm, l, a, b, half);
    qs_status s = lu(vm, "solve", l, &f);
    if (s == QS_OK && f.info) s = singular(vm, "solve");
    if (s == QS_OK) back_substitute(vm, l, &f, b, 'N');
    if (s == QS_OK && factors) s = factors_result(vm, &f, factors);
    work_free(&f.pivots);
    return s;
}

/* Tests the triangle that gels leaves in A: R of its columns, or L of the rows if A is wide. */
static bool lacks_rank(const Mat *a) {
    int n = a->m < a->n ? a->m : a->n, longer = a->m > a->n ? a->m : a->n;
    return qtriangle_lacks_rank(a->a, (size_t)n, (size_t)a->m + 1, a->parts, (size_t)longer);
}

static qs_status solve_least_squares(qs_vm *vm, Lapack *l, Mat *a, Mat *b) {
    Work w;
    int info, ask = -1;
    double want[2];
    Routine r = a->parts == 2 ? l->zgels : l->dgels;
    CALL(r, (P, P, P, P, P, P, P, P, P, P, P, size_t), "N", &a->m, &a->n, &b->n, a->a, &a->m, b->a, &b->m, want, &ask,
         &info, 1);
    TRY(work_new(vm, "solve", want[0], &w));
    CALL_APART(vm, a, r, (P, P, P, P, P, P, P, P, P, P, P, size_t), "N", &a->m, &a->n, &b->n, a->a, &a->m, b->a, &b->m,
               w.p, &w.n, &info, 1);
    work_free(&w);
    return info || lacks_rank(a) ? qs_fail(vm, QS_EVALUE, "solve: the matrix has not full rank; use pinv(A)*B") : QS_OK;
}

/* Copies b to the first rows of a matrix that also has room for a longer solution. */
static qs_status solve_mats(qs_vm *vm, qs_call_args *c, Lapack *l, Mat *a, const Mat *b, qs_dtype d) {
    Mat x;
    int most = a->m > a->n ? a->m : a->n;
    if (a->m != b->m)
        return qs_fail(vm, QS_ESHAPE, "solve: A and B must have as many rows, got %d and %d%s", a->m, b->m,
                       b->m == 1 && b->n == a->m ? "; a vec is one row, and transpose(B) a column" : "");
    TRY(mat_new(vm, "solve", most, b->n, a->parts, &x));
    for (int j = 0; j < b->n; j++)
        memcpy(x.a + (size_t)j * (size_t)(most * a->parts), b->a + (size_t)j * (size_t)(b->m * a->parts),
               (size_t)(b->m * a->parts) * sizeof(double));
    qs_status s = a->m == 0 || a->n == 0 ? QS_OK
                  : a->m == a->n         ? solve_square(vm, l, a, &x, c->nout > 1 ? &c->out[1] : NULL)
                                         : solve_least_squares(vm, l, a, &x);
    if (s == QS_OK) s = mat_result(vm, &x, a->n, b->n, d, &c->out[0]);
    mat_free(&x);
    return s;
}

qs_status qlinalg_solve(qs_vm *vm, qs_call_args *c) {
    Lapack *l = NULL;
    Mat a = {0}, b = {0};
    Array *da = for_device(vm, c, 0), *db = for_device(vm, c, 1), *r = NULL;
    qs_dtype d = qarg_meet_float(vm, c, 0, 2);
    int parts = qarg_parts(c, 0, 2);
    if (c->nout > 1) c->out[1] = qs_nil();
    TRY(mat_extents(vm, c, 0, "A", &a));
    bool small = parts == 1 && is_small(&a);
    if (da && db && !small) TRY(qdevmath_solve(vm, da, db, &r));
    if (r) return c->out[0] = qarr_value(r), QS_OK;
    if (!small) TRY(lapack(vm, "solve", &l));
    qs_status s = mat_read(vm, c, 0, "A", parts, &a);
    if (s == QS_OK) s = mat_read(vm, c, 1, "B", parts, &b);
    if (s == QS_OK) s = solve_mats(vm, c, l, &a, &b, d);
    mat_free(&a), mat_free(&b);
    return s;
}

static qs_status factors_made(qs_vm *vm, qs_call_args *c, Lapack *l, int parts, Lu *f) {
    TRY(mat_read(vm, c, 0, "A", parts, &f->a));
    if (f->a.m) TRY(lu(vm, "solve_back", l, f));
    return f->info ? singular(vm, "solve_back") : QS_OK;
}

static qs_status solve_by_factors(qs_vm *vm, qs_call_args *c, Lapack *l, Lu *f, Mat *b) {
    int parts = qarg_parts(c, 0, 3);
    qs_dtype d = qarg_meet_float(vm, c, 0, 2); /* the factors F are always float64 or complex128 */
    Mat a;
    TRY(mat_extents(vm, c, 0, "A", &a));
    TRY(square(vm, "solve_back", &a));
    TRY(mat_read(vm, c, 1, "B", parts, b));
    if (b->m != a.m)
        return qs_fail(vm, QS_ESHAPE, "solve_back: A and B must have as many rows, got %d and %d", a.m, b->m);
    if (c->in[2].kind == QS_NIL) TRY(factors_made(vm, c, l, parts, f));
    else TRY(factors_read(vm, c, 2, a.m, parts, f));
    if (a.m) back_substitute(vm, l, f, b, 'C');
    return mat_result(vm, b, b->m, b->n, d, &c->out[0]);
}

qs_status qlinalg_solve_back(qs_vm *vm, qs_call_args *c) {
    Lapack *l;
    Lu f = {0};
    Mat b = {0};
    TRY(lapack(vm, c->name, &l));
    qs_status s = solve_by_factors(vm, c, l, &f, &b);
    mat_free(&b), lu_free(&f);
    return s;
}

/* -- signs of vectors ---------------------------------------------------------------------------------------------- */
/* A factorization determines each vector only up to a factor of modulus 1.  Here the first large element is made real
 * and positive.  "Large" means 0.9 times the largest: rounding does not change this choice, because exact ties are
 * frequent while such quotients are not. */
typedef struct {
    double re, im;
} Phase;

static Phase phase_of(const double *p, int parts) {
    double im = parts == 2 ? p[1] : 0, r = hypot(p[0], im);
    return r > 0 ? (Phase){p[0] / r, im / r} : (Phase){1, 0};
}

/* Returns the first large element of a column. */
static double *large_one(double *column, int n, int parts) {
    double *end = column + (size_t)n * (size_t)parts, *p = column, most = 0;
    for (; p < end; p += parts) most = fmax(most, hypot(p[0], parts == 2 ? p[1] : 0));
    for (p = column; p + parts < end && hypot(p[0], parts == 2 ? p[1] : 0) < 0.9 * most;) p += parts;
    return p;
}

/* Multiplies n elements, `step` apart, by u. */
static void rotate(double *p, int n, size_t step, int parts, Phase u) {
    if (u.re == 1 && u.im == 0) return;
    for (int i = 0; i < n; i++, p += step * (size_t)parts) {
        double re = p[0];
        p[0] = parts == 2 ? re * u.re - p[1] * u.im : re * u.re;
        if (parts == 2) p[1] = re * u.im + p[1] * u.re;
    }
}

/* Clears the rounding error in the imaginary part. */
static void make_real(double *p, int parts) {
    if (parts == 2) p[1] = 0;
}

static Phase conjugate(Phase u) { return (Phase){u.re, -u.im}; }
/* Normalizes the columns of v, or the columns of u and the rows of vt such that u*s*vt is unchanged. */
static void settle_vectors(Mat *u, Mat *vt) {
    for (int k = 0; k < u->n; k++) {
        double *large = large_one(at(u, 0, k), u->m, u->parts);
        Phase s = phase_of(large, u->parts);
        rotate(at(u, 0, k), u->m, 1, u->parts, conjugate(s));
        make_real(large, u->parts);
        if (vt) rotate(at(vt, k, 0), vt->n, (size_t)vt->m, vt->parts, s);
    }
}

/* Makes the diagonal of r real and ≥ 0; q*r is unchanged. */
static void settle_diagonal(Mat *q, Mat *r) {
    for (int k = 0; k < q->n; k++) {
        Phase s = phase_of(at(r, k, k), r->parts);
        rotate(at(r, k, k), r->n - k, (size_t)r->m, r->parts, conjugate(s));
        make_real(at(r, k, k), r->parts);
        rotate(at(q, 0, k), q->m, 1, q->parts, s);
    }
}

static void clear_below(Mat *x) {
    for (int j = 0; j < x->n; j++)
        for (int i = j + 1; i < x->m; i++)
            memset(x->a + (size_t)x->parts * ((size_t)j * (size_t)x->m + (size_t)i), 0,
                   (size_t)x->parts * sizeof(double));
}

/* -- lu ------------------------------------------------------------------------------------------------------------ */
/* Stores in order which row of A each row of the product of the factors is. */
static void row_order(Lu *f, double *order) {
    for (int i = 0; i < f->a.m; i++) order[i] = i;
    for (int i = 0; i < f->a.m && i < f->a.n; i++) {
        int other = pivots(f)[i] - 1;
        double row = order[i];
        order[i] = order[other], order[other] = row;
    }
}

/* Copies the lower factor, with its ones; row i becomes row order[i] unless order is NULL. */
static void lower_factor(const Mat *a, const double *order, Mat *x) {
    for (int j = 0; j < x->n; j++)
        for (int i = j; i < x->m; i++) {
            double *to = at(x, order ? (int)order[i] : i, j);
            if (i == j) *to = 1;
            else memcpy(to, at(a, i, j), (size_t)a->parts * sizeof(double));
        }
}

static qs_status lu_results(qs_vm *vm, qs_call_args *c, Lu *f, double *order) {
    Mat lower, *a = &f->a;
    int k = a->m < a->n ? a->m : a->n;
    int64_t rows = a->m;
    qs_dtype d = real_result(vm, c);
    row_order(f, order);
    if (c->nout > 2) TRY(qarg_exact(vm, order, 1, &rows, &c->out[2]));
    TRY(mat_new(vm, "lu", a->m, k, a->parts, &lower));
    lower_factor(a, c->nout > 2 ? NULL : order, &lower);
    qs_status s = mat_result(vm, &lower, a->m, k, d, &c->out[0]);
    mat_free(&lower);
    clear_below(a);
    return s == QS_OK ? mat_result(vm, a, k, a->n, d, &c->out[1]) : s;
}

qs_status qlinalg_lu(qs_vm *vm, qs_call_args *c) {
    Lapack *l;
    Lu f = {0};
    Work order = {0};
    if (c->nout < 2) return qs_fail(vm, QS_EVALUE, "lu: has two or three results, write [L, U] = lu(A)");
    TRY(lapack(vm, c->name, &l));
    qs_status s = mat_read(vm, c, 0, "A", 0, &f.a);
    if (s == QS_OK && (!f.a.m || !f.a.n)) s = qs_fail(vm, QS_ESHAPE, "lu: the matrix must not be empty");
    if (s == QS_OK) s = lu(vm, c->name, l, &f);
    if (s == QS_OK) s = work_new(vm, c->name, f.a.m, &order);
    if (s == QS_OK) s = lu_results(vm, c, &f, order.p);
    work_free(&order), lu_free(&f);
    return s;
}

/* -- chol, qr ------------------------------------------------------------------------------------------------------ */
/* Computes the upper triangular R with herm_transpose(R)*R = A.  If there is none, fails, or sets *flag to the order of
 * the first leading minor that is not positive. */
static qs_status cholesky(qs_vm *vm, qs_call_args *c, int *flag) {
    Lapack *l;
    Mat a = {0};
    int info = 0;
    qs_dtype d = real_result(vm, c);
    Array *given = for_device(vm, c, 0), *r = NULL;
    if (given) TRY(qdevmath_cholesky(vm, given, &r));
    if (flag) *flag = 0;
    if (r) return c->out[0] = qarr_value(r), QS_OK;
    TRY(lapack(vm, c->name, &l));
    qs_status s = mat_read(vm, c, 0, "A", 0, &a);
    if (s == QS_OK) s = square(vm, c->name, &a);
    if (s == QS_OK && a.m)
        CALL_APART(vm, &a, a.parts == 2 ? l->zpotrf : l->dpotrf, (P, P, P, P, P, size_t), "U", &a.n, a.a, &a.n, &info,
                   1);
    if (s == QS_OK && info && !flag)
        s = qs_fail(vm, QS_EVALUE, "%s: the matrix is not positive definite (leading minor %d)", c->name, info);
    if (s == QS_OK && info) memset(a.a, 0, mat_bytes(&a));
    if (s == QS_OK) clear_below(&a), s = mat_result(vm, &a, a.m, a.n, d, &c->out[0]);
    if (flag) *flag = info;
    mat_free(&a);
    return s;
}
qs_status qlinalg_chol(qs_vm *vm, qs_call_args *c) {
    return c->nout > 1 ? qlinalg_chol_ex(vm, c) : cholesky(vm, c, NULL);
}
qs_status qlinalg_chol_ex(qs_vm *vm, qs_call_args *c) {
    int info;
    TRY(cholesky(vm, c, &info));
    if (c->nout > 1) c->out[1] = qs_num(info);
    return QS_OK;
}

typedef struct {
    Mat q, r;
    Work order;
} Qr; /* q is m by k, k = min(m, n); r is m by n, only its upper half is used; order: of the columns, if permuted */
static void qr_free(Qr *x) { mat_free(&x->q), mat_free(&x->r), work_free(&x->order); }

/* Factors the matrix in x->r; if x->order has room, with columns permuted so that the diagonal of R descends. */
static void qr_factor(qs_vm *vm, Lapack *l, Qr *x, double *tau, Work *w, double *reals) {
    int info, *m = &x->r.m, *n = &x->r.n, *pivots = (int *)(void *)x->order.p;
    bool z = x->r.parts == 2;
    if (!pivots)
        CALL_APART(vm, &x->r, z ? l->zgeqrf : l->dgeqrf, (P, P, P, P, P, P, P, P), m, n, x->r.a, m, tau, w->p, &w->n,
                   &info);
    else if (z)
        CALL_APART(vm, &x->r, l->zgeqp3, (P, P, P, P, P, P, P, P, P, P), m, n, x->r.a, m, pivots, tau, w->p, &w->n,
                   reals, &info);
    else
        CALL_APART(vm, &x->r, l->dgeqp3, (P, P, P, P, P, P, P, P, P), m, n, x->r.a, m, pivots, tau, w->p, &w->n, &info);
    for (int j = pivots ? *n : 0; j-- > 0;) x->order.p[j] = pivots[j] - 1;
}

static qs_status qr_on_device(qs_vm *vm, Array *a, Qr *x, bool *done) {
    DevFactor f = {.kind = FACTOR_QR, .left = x->q.a, .right = x->r.a};
    TRY(qdevmath_factor(vm, "qr", a, &f, done));
    if (*done) mat_widen(&x->q, f.dtype), mat_widen(&x->r, f.dtype);
    return QS_OK;
}

static qs_status qr_run(qs_vm *vm, Lapack *l, Qr *x) {
    Work tau, w;
    int info, m = x->r.m, n = x->r.n, k = x->q.n;
    bool z = x->r.parts == 2;
    TRY(work_new(vm, "qr", (double)k + n, &tau));
    qs_status s = work_new(vm, "qr", 64.0 * (m > n ? m : n), &w);
    if (s == QS_OK) {
        qr_factor(vm, l, x, tau.p, &w, tau.p + 2 * (size_t)k);
        memcpy(x->q.a, x->r.a, (size_t)m * (size_t)k * (size_t)x->q.parts * sizeof(double));
        CALL_APART(vm, &x->q, z ? l->zungqr : l->dorgqr, (P, P, P, P, P, P, P, P, P), &m, &k, &k, x->q.a, &m, tau.p,
                   w.p, &w.n, &info);
    }
    work_free(&tau), work_free(&w);
    return s;
}

static qs_status qr_by_lapack(qs_vm *vm, qs_call_args *c, Qr *x) {
    Lapack *l;
    TRY(lapack(vm, "qr", &l));
    mat_free(&x->r);
    TRY(mat_read(vm, c, 0, "A", 0, &x->r));
    return qr_run(vm, l, x);
}

static qs_status qr_of(qs_vm *vm, qs_call_args *c, Qr *x) {
    Mat a;
    bool done = false;
    bool permuted = c->nout > 2;
    Array *given = permuted ? NULL : for_device(vm, c, 0);
    TRY(mat_extents(vm, c, 0, "A", &a));
    if (!a.m || !a.n) return qs_fail(vm, QS_ESHAPE, "qr: the matrix must not be empty");
    if (permuted) TRY(work_new(vm, "qr", a.n, &x->order));
    if (permuted) memset(x->order.p, 0, (size_t)a.n * sizeof(double));
    TRY(mat_new(vm, "qr", a.m, a.m < a.n ? a.m : a.n, a.parts, &x->q));
    TRY(mat_new(vm, "qr", a.m, a.n, a.parts, &x->r));
    if (given) TRY(qr_on_device(vm, given, x, &done));
    if (!done) TRY(qr_by_lapack(vm, c, x));
    return clear_below(&x->r), settle_diagonal(&x->q, &x->r), QS_OK;
}

qs_status qlinalg_qr(qs_vm *vm, qs_call_args *c) {
    Qr x = {0};
    qs_dtype d = real_result(vm, c);
    qs_status s = qr_of(vm, c, &x);
    if (s == QS_OK) s = mat_result(vm, &x.q, x.q.m, x.q.n, d, &c->out[0]);
    if (s == QS_OK && c->nout > 1) s = mat_result(vm, &x.r, x.q.n, x.r.n, d, &c->out[1]);
    if (s == QS_OK && c->nout > 2) s = qarg_exact(vm, x.order.p, 1, (int64_t[]){x.r.n}, &c->out[2]);
    qr_free(&x);
    return s;
}

/* -- singular values ----------------------------------------------------------------------------------------------- */
typedef struct {
    Mat u, vt, s;
    int k;
} Svd; /* A = u * diag(s) * vt; k = min(m, n) */
static void svd_free(Svd *x) { mat_free(&x->u), mat_free(&x->vt), mat_free(&x->s); }

static qs_status svd_run(qs_vm *vm, const char *fn, Lapack *l, Mat *a, const char *job, Svd *x) {
    Work w, small;
    int info = 0, ask = -1;
    bool z = a->parts == 2;
    double want[2];
    size_t k = (size_t)x->k, most = (size_t)(a->m > a->n ? a->m : a->n);
    TRY(work_new(vm, fn, (double)(8 * k + k * (5 * k + 7) + 2 * k * most),
                 &small)); /* iwork 8k, rwork of the complex form */
    int *iwork = (int *)(void *)small.p;
    double *rwork = small.p + 8 * k;
    for (int pass = 0; pass < 2; pass++) {
        double *space = pass ? w.p : want;
        int *n = pass ? &w.n : &ask;
        if (z)
            CALL_APART(vm, pass ? a : NULL, l->zgesdd, (P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, size_t),
                       (void *)(uintptr_t)job, &a->m, &a->n, a->a, &a->m, x->s.a, x->u.a, &a->m, x->vt.a, &x->k, space,
                       n, rwork, iwork, &info, 1);
        else
            CALL_APART(vm, pass ? a : NULL, l->dgesdd, (P, P, P, P, P, P, P, P, P, P, P, P, P, P, size_t),
                       (void *)(uintptr_t)job, &a->m, &a->n, a->a, &a->m, x->s.a, x->u.a, &a->m, x->vt.a, &x->k, space,
                       n, iwork, &info, 1);
        if (pass) work_free(&w);
        else {
            qs_status s = work_new(vm, fn, want[0], &w);
            if (s != QS_OK) return work_free(&small), s;
        }
    }
    work_free(&small);
    return info ? not_converged(vm, fn, "M", a) : QS_OK;
}

static qs_status svd_on_device(qs_vm *vm, const char *fn, Array *a, bool vectors, Svd *x, bool *done) {
    DevFactor f = {.kind = FACTOR_SVD, .left = vectors ? x->u.a : NULL, .right = x->vt.a, .values = x->s.a};
    TRY(qdevmath_factor(vm, fn, a, &f, done));
    if (*done && (*done = values_widen(&x->s, f.dtype))) mat_widen(&x->u, f.dtype), mat_widen(&x->vt, f.dtype);
    return QS_OK;
}

static qs_status svd_by_lapack(qs_vm *vm, qs_call_args *c, bool vectors, Svd *x) {
    Lapack *l;
    Mat a = {0};
    TRY(lapack(vm, c->name, &l));
    qs_status s = mat_read(vm, c, 0, "M", 0, &a);
    if (s == QS_OK) s = all_finite(vm, c->name, "M", &a, false);
    if (s == QS_OK && x->k) s = svd_run(vm, c->name, l, &a, vectors ? "S" : "N", x);
    mat_free(&a);
    return s;
}

/* given: the argument if a device may compute this, otherwise NULL. */
static qs_status svd_of(qs_vm *vm, qs_call_args *c, Array *given, bool vectors, Svd *x) {
    Mat a;
    bool done = false;
    memset(x, 0, sizeof *x);
    TRY(mat_extents(vm, c, 0, "M", &a));
    x->k = a.m < a.n ? a.m : a.n;
    TRY(mat_new(vm, c->name, x->k, 1, 1, &x->s));
    TRY(mat_new(vm, c->name, a.m, x->k, a.parts, &x->u));
    TRY(mat_new(vm, c->name, x->k, a.n, a.parts, &x->vt));
    if (given) TRY(svd_on_device(vm, c->name, given, vectors, x, &done));
    if (!done) TRY(svd_by_lapack(vm, c, vectors, x));
    if (vectors) settle_vectors(&x->u, &x->vt);
    return QS_OK;
}

/* Computes the conjugate transpose. */
static qs_status adjoint(qs_vm *vm, const char *fn, const Mat *x, Mat *out) {
    TRY(mat_new(vm, fn, x->n, x->m, x->parts, out));
    for (size_t i = 0; i < (size_t)x->m; i++)
        for (size_t j = 0; j < (size_t)x->n; j++)
            for (size_t k = 0; k < (size_t)x->parts; k++)
                out->a[(i * (size_t)x->n + j) * (size_t)x->parts + k] =
                    (k ? -1 : 1) * x->a[(j * (size_t)x->m + i) * (size_t)x->parts + k];
    return QS_OK;
}

static qs_status svd_results(qs_vm *vm, qs_call_args *c, Svd *x, qs_dtype real) {
    Mat v = {0}, s = {0};
    TRY(mat_result(vm, &x->u, x->u.m, x->k, real, &c->out[0]));
    qs_status status = mat_new(vm, "svd", x->k, x->k, 1, &s);
    for (int i = 0; status == QS_OK && i < x->k; i++) s.a[(size_t)i * (size_t)(x->k + 1)] = x->s.a[i];
    if (status == QS_OK) status = mat_result(vm, &s, x->k, x->k, real, &c->out[1]);
    if (status == QS_OK && c->nout > 2) status = adjoint(vm, "svd", &x->vt, &v);
    if (status == QS_OK && c->nout > 2) status = mat_result(vm, &v, v.m, v.n, real, &c->out[2]);
    mat_free(&v), mat_free(&s);
    return status;
}

/* Stores a column of real numbers as a vec. */
static qs_status values_result(qs_vm *vm, Mat *x, qs_dtype d, qs_value *out) {
    Mat row = *x;
    row.n = x->m, row.m = 1;
    TRY(mat_result(vm, &row, 1, row.n, d, out));
    return qarr_keep(qval_array(*out), 1), QS_OK;
}

qs_status qlinalg_svd(qs_vm *vm, qs_call_args *c) {
    Svd x;
    qs_dtype real = real_result(vm, c);
    qs_status s = svd_of(vm, c, for_device(vm, c, 0), c->nout > 1, &x);
    if (s == QS_OK) s = c->nout > 1 ? svd_results(vm, c, &x, real) : values_result(vm, &x.s, real, &c->out[0]);
    svd_free(&x);
    return s;
}

/* Singular values up to this tolerance count as zero: max(m,n) * largest * epsilon of the precision of the argument. */
static qs_status tolerance(qs_vm *vm, qs_call_args *c, const Svd *x, qs_dtype real, double *out) {
    int most = x->u.m > x->vt.n ? x->u.m : x->vt.n;
    *out = x->k ? most * x->s.a[0] * (real == QS_F64 ? DBL_EPSILON : (double)FLT_EPSILON) : 0;
    return qarg_given(c, 1) ? qarg_num(vm, c->name, "tolerance", c->in[1], out) : QS_OK;
}

qs_status qlinalg_rank(qs_vm *vm, qs_call_args *c) {
    Svd x;
    double tol;
    int r = 0;
    qs_dtype real = real_result(vm, c);
    qs_status s = svd_of(vm, c, for_wide_device(vm, c), false, &x);
    if (s == QS_OK) s = tolerance(vm, c, &x, real, &tol);
    for (int i = 0; s == QS_OK && i < x.k; i++) r += x.s.a[i] > tol;
    c->out[0] = qs_num(r);
    svd_free(&x);
    return s;
}

qs_status qlinalg_cond(qs_vm *vm, qs_call_args *c) {
    Svd x;
    qs_status s = svd_of(vm, c, for_wide_device(vm, c), false, &x);
    if (s == QS_OK) c->out[0] = qs_num(x.k ? x.s.a[0] / x.s.a[x.k - 1] : 0);
    svd_free(&x);
    return s;
}

/* Computes V * diag(1/s) * U^H by scaled columns of V. */
static void pinv_sum(const Svd *x, const Mat *v, double tol, Mat *out) {
    size_t m = (size_t)x->u.m, n = (size_t)v->m, parts = (size_t)v->parts;
    for (size_t k = 0; k < (size_t)x->k && x->s.a[k] > tol; k++)
        for (size_t j = 0; j < m; j++)
            for (size_t i = 0; i < n; i++) {
                const double *p = v->a + (k * n + i) * parts, *q = x->u.a + (k * m + j) * parts;
                double *r = out->a + (j * n + i) * parts, w = 1 / x->s.a[k];
                if (parts == 1) r[0] += p[0] * q[0] * w;
                else r[0] += (p[0] * q[0] + p[1] * q[1]) * w, r[1] += (p[1] * q[0] - p[0] * q[1]) * w;
            }
}

qs_status qlinalg_pinv(qs_vm *vm, qs_call_args *c) {
    Svd x;
    Mat v = {0}, out = {0};
    double tol;
    qs_dtype real = real_result(vm, c);
    qs_status s = svd_of(vm, c, for_wide_device(vm, c), true, &x);
    if (s == QS_OK) s = tolerance(vm, c, &x, real, &tol);
    if (s == QS_OK) s = adjoint(vm, c->name, &x.vt, &v);
    if (s == QS_OK) s = mat_new(vm, c->name, v.m, x.u.m, v.parts, &out);
    if (s == QS_OK) {
        pinv_sum(&x, &v, tol, &out);
        s = mat_result(vm, &out, out.m, out.n, real, &c->out[0]);
    }
    mat_free(&v), mat_free(&out), svd_free(&x);
    return s;
}

/* -- eigenvalues --------------------------------------------------------------------------------------------------- */
static qs_status symeig_run(qs_vm *vm, Lapack *l, Mat *a, Mat *w, bool vectors) {
    int info = 0, ask = -1, iask;
    double want[2], rwant;
    const char *job = vectors ? "V" : "N";
    Work work = {0}, rwork = {0}, iwork = {0};
    qs_status s = QS_OK;
    for (int pass = 0; pass < 2 && s == QS_OK; pass++) {
        double *p = pass ? work.p : want, *q = pass ? rwork.p : &rwant;
        int *n = pass ? &work.n : &ask, *nr = pass ? &rwork.n : &ask, *ni = pass ? &iwork.n : &ask,
            *ip = pass ? (int *)(void *)iwork.p : &iask;
        if (a->parts == 2)
            CALL_APART(vm, pass ? a : NULL, l->zheevd, (P, P, P, P, P, P, P, P, P, P, P, P, P, size_t, size_t),
                       (void *)(uintptr_t)job, "L", &a->n, a->a, &a->n, w->a, p, n, q, nr, ip, ni, &info, 1, 1);
        else
            CALL_APART(vm, pass ? a : NULL, l->dsyevd, (P, P, P, P, P, P, P, P, P, P, P, size_t, size_t),
                       (void *)(uintptr_t)job, "L", &a->n, a->a, &a->n, w->a, p, n, ip, ni, &info, 1, 1);
        if (pass) break;
        s = work_new(vm, "symeig", want[0], &work);
        if (s == QS_OK) s = work_new(vm, "symeig", a->parts == 2 ? rwant : 1, &rwork);
        if (s == QS_OK) s = work_new(vm, "symeig", iask, &iwork);
    }
    work_free(&work), work_free(&rwork), work_free(&iwork);
    if (s == QS_OK && info) s = not_converged(vm, "symeig", "C", a);
    return s;
}

static qs_status symeig_on_device(qs_vm *vm, Array *given, bool vectors, Mat *a, Mat *w, bool *done) {
    DevFactor f = {.kind = FACTOR_EIGEN, .left = vectors ? a->a : NULL, .values = w->a};
    TRY(qdevmath_factor(vm, "symeig", given, &f, done));
    if (*done && (*done = values_widen(w, f.dtype))) mat_widen(a, f.dtype);
    return QS_OK;
}

static qs_status symeig_by_lapack(qs_vm *vm, qs_call_args *c, bool vectors, Mat *a, Mat *w) {
    Lapack *l;
    TRY(lapack(vm, "symeig", &l));
    mat_free(a);
    TRY(mat_read(vm, c, 0, "C", 0, a));
    TRY(all_finite(vm, "symeig", "C", a, true));
    return a->m ? symeig_run(vm, l, a, w, vectors) : QS_OK;
}

/* Computes the eigenvectors in a and the eigenvalues in w. */
static qs_status symeig_of(qs_vm *vm, qs_call_args *c, bool vectors, Mat *a, Mat *w) {
    bool done = false;
    Array *given = for_device(vm, c, 0);
    TRY(mat_extents(vm, c, 0, "C", a));
    TRY(square(vm, "symeig", a));
    TRY(mat_new(vm, "symeig", a->m, 1, 1, w));
    TRY(mat_new(vm, "symeig", a->m, a->m, a->parts, a));
    if (given) TRY(symeig_on_device(vm, given, vectors, a, w, &done));
    if (!done) TRY(symeig_by_lapack(vm, c, vectors, a, w));
    if (vectors) settle_vectors(a, NULL);
    return QS_OK;
}

qs_status qlinalg_symeig(qs_vm *vm, qs_call_args *c) {
    Mat a = {0}, w = {0};
    qs_dtype real = real_result(vm, c);
    qs_status s = symeig_of(vm, c, c->nout > 1, &a, &w);
    if (s == QS_OK && c->nout > 1) s = mat_result(vm, &a, a.m, a.n, real, &c->out[0]);
    if (s == QS_OK) s = values_result(vm, &w, real, &c->out[c->nout > 1]);
    mat_free(&a), mat_free(&w);
    return s;
}

/* Interleaves the eigenvalues of dgeev, which returns all real parts before all imaginary parts. */
static void join_values(const double *parts, int n, Mat *w) {
    for (int i = 0; i < n; i++) w->a[2 * i] = parts[i], w->a[2 * i + 1] = parts[n + i];
}

/* Expands the vectors of dgeev, which returns for two conjugate eigenvalues the real and imaginary part of the first
 * vector. */
static void join_vectors(const double *x, const double *imag, Mat *v) {
    size_t n = (size_t)v->m;
    for (size_t j = 0; j < n; j++) {
        bool first = imag[j] > 0, second = imag[j] < 0;
        const double *re = x + (second ? j - 1 : j) * n, *im = re + n;
        for (size_t i = 0; i < n; i++) {
            v->a[2 * (j * n + i)] = re[i];
            v->a[2 * (j * n + i) + 1] = first ? im[i] : second ? -im[i] : 0;
        }
    }
}

/* Computes the eigenvalues w of a, its right vectors v if v has room, and its left vectors u if u has. */
static qs_status eig_run(qs_vm *vm, Lapack *l, Mat *a, Mat *w, Mat *u, Mat *v) {
    int info = 0, ask = -1;
    double want[2];
    const char *left = u->a ? "V" : "N", *right = v->a ? "V" : "N";
    bool real = a->parts == 1;
    Work work = {0}, reals;
    Mat x = {0}, y = {0}; /* vectors of a real matrix as LAPACK returns them */
    TRY(work_new(vm, "eig", 2.0 * a->n, &reals));
    qs_status s = real && v->a ? mat_new(vm, "eig", a->m, a->n, 1, &x) : QS_OK;
    if (s == QS_OK && real && u->a) s = mat_new(vm, "eig", a->m, a->n, 1, &y);
    for (int pass = 0; pass < 2 && s == QS_OK; pass++) {
        double *room = pass ? work.p : want;
        int *size = pass ? &work.n : &ask;
        if (a->parts == 2)
            CALL_APART(vm, pass ? a : NULL, l->zgeev, (P, P, P, P, P, P, P, P, P, P, P, P, P, P, size_t, size_t),
                       (void *)(uintptr_t)left, (void *)(uintptr_t)right, &a->n, a->a, &a->n, w->a, u->a, &a->n, v->a,
                       &a->n, room, size, reals.p, &info, 1, 1);
        else
            CALL_APART(vm, pass ? a : NULL, l->dgeev, (P, P, P, P, P, P, P, P, P, P, P, P, P, P, size_t, size_t),
                       (void *)(uintptr_t)left, (void *)(uintptr_t)right, &a->n, a->a, &a->n, reals.p, reals.p + a->n,
                       y.a, &a->n, x.a, &a->n, room, size, &info, 1, 1);
        if (!pass) s = work_new(vm, "eig", want[0], &work);
    }
    if (s == QS_OK && info) s = not_converged(vm, "eig", "A", a);
    if (s == QS_OK && real) join_values(reals.p, a->n, w);
    if (s == QS_OK && x.a) join_vectors(x.a, reals.p + a->n, v);
    if (s == QS_OK && y.a) join_vectors(y.a, reals.p + a->n, u);
    work_free(&work), work_free(&reals), mat_free(&x), mat_free(&y);
    return s;
}

/* The result is always complex: its dtype never depends on values. */
qs_status qlinalg_eig(qs_vm *vm, qs_call_args *c) {
    Lapack *l;
    Mat a = {0}, w = {0}, u = {0}, v = {0};
    qs_dtype d = real_result(vm, c);
    TRY(lapack(vm, c->name, &l));
    qs_status s = mat_read(vm, c, 0, "A", 0, &a);
    if (s == QS_OK) s = square(vm, c->name, &a);
    if (s == QS_OK) s = all_finite(vm, c->name, "A", &a, false);
    if (s == QS_OK) s = mat_new(vm, c->name, a.m, 1, 2, &w);
    if (s == QS_OK && c->nout > 1) s = mat_new(vm, c->name, a.m, a.n, 2, &v);
    if (s == QS_OK && c->nout > 2) s = mat_new(vm, c->name, a.m, a.n, 2, &u);
    if (s == QS_OK && a.m) s = eig_run(vm, l, &a, &w, &u, &v);
    if (s == QS_OK && c->nout > 1) s = mat_result(vm, &v, a.m, a.n, d, &c->out[0]);
    if (s == QS_OK && c->nout > 2) s = mat_result(vm, &u, a.m, a.n, d, &c->out[2]);
    if (s == QS_OK) s = values_result(vm, &w, d, &c->out[c->nout > 1]);
    mat_free(&a), mat_free(&w), mat_free(&u), mat_free(&v);
    return s;
}

static void quotient(const double *x, const double *y, size_t parts, double *out) {
    double _Complex a, b; /* stored as a real and an imaginary part */
    if (parts == 1) {
        *out = *x / *y;
        return;
    }
    memcpy(&a, x, sizeof a), memcpy(&b, y, sizeof b);
    a /= b;
    memcpy(out, &a, sizeof a);
}

/* The matrix whose eigenvalues are the roots of p[0]*x^n + … + p[n]. */
static void companion(const double *p, Mat *x) {
    size_t parts = (size_t)x->parts;
    for (int j = 0; j < x->n; j++) {
        quotient(p + parts * (size_t)(j + 1), p, parts, at(x, 0, j));
        for (size_t k = 0; k < parts; k++) at(x, 0, j)[k] *= -1;
        if (j + 1 < x->n) at(x, j + 1, j)[0] = 1;
    }
}

static bool is_zero(const Numbers *p, size_t i) {
    return p->x[i * (size_t)p->parts] == 0 && p->x[(i + 1) * (size_t)p->parts - 1] == 0;
}

/* Leading zero coefficients are ignored; each trailing zero coefficient is a root at 0. */
qs_status qlinalg_roots(qs_vm *vm, qs_call_args *c) {
    Lapack *l;
    Numbers p;
    Mat a = {0}, w = {0}, none = {0};
    qs_dtype d = real_result(vm, c);
    TRY(qarg_wide(vm, c, 0, "p", qarg_parts(c, 0, 1), &p));
    if (p.n > 1 << 20) return qs_fail(vm, QS_EVALUE, "roots: p may have 2^20 coefficients, got %zu", p.n);
    TRY(lapack(vm, c->name, &l));
    int first = 0, last = (int)p.n - 1;
    while (first <= last && is_zero(&p, (size_t)first)) first++;
    while (last > first && is_zero(&p, (size_t)last)) last--;
    int degree = first > last ? 0 : last - first, all = first > last ? 0 : (int)p.n - 1 - first;
    qs_status s = mat_new(vm, c->name, degree, degree, p.parts, &a);
    if (s == QS_OK) s = mat_new(vm, c->name, all, 1, 2, &w);
    if (s == QS_OK) companion(p.x + (size_t)first * (size_t)p.parts, &a);
    if (s == QS_OK) s = all_finite(vm, c->name, "p, or p/p[0],", &a, false);
    if (s == QS_OK && degree) s = eig_run(vm, l, &a, &w, &none, &none);
    if (s == QS_OK) s = values_result(vm, &w, d, &c->out[0]);
    mat_free(&a), mat_free(&w);
    return s;
}

/* -- without LAPACK ------------------------------------------------------------------------------------------------ */
qs_status qlinalg_trace(qs_vm *vm, qs_call_args *c) {
    Mat a = {0};
    double z[2] = {0, 0};
    qs_status s = mat_read(vm, c, 0, "A", 0, &a);
    if (s == QS_OK) s = square(vm, c->name, &a);
    for (size_t i = 0; s == QS_OK && i < (size_t)a.m; i++)
        for (size_t k = 0; k < (size_t)a.parts; k++) z[k] += a.a[i * (size_t)(a.m + 1) * (size_t)a.parts + k];
    mat_free(&a);
    if (s != QS_OK) return s;
    if (a.parts == 2) return qval_complex(vm, z[0], z[1], &c->out[0]);
    return c->out[0] = qs_num(z[0]), QS_OK;
}
