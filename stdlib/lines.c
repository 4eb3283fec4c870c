/* lines.c -- statistics, differences and integrals along lines.
 *
 * A function here is given one line of the array as packed doubles, which it may rearrange, and writes the line of the
 * result; which lines there are, and where they lie, is known to `run` alone. */
#include "stdlib/stdlib.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef void LineFn(double *x, size_t n, double *y, size_t m, const void *with);

typedef struct {
    const char *fn;
    Array *a;
    const double *x;
    int dim; /* DIM_ALL: all elements are one line, and a result of one number is a number */
    ArrayLines l;
    qs_dtype d; /* of the result: never a question of values */
} Work;

/* Argument `at` as the array, argument `dim_at` as the dimension (else `dim`; main: the first longer than 1). */
static qs_status open_lines(qs_vm *vm, qs_call_args *c, const char *fn, int at, int dim_at, bool main, Work *w) {
    const void *p;
    *w = (Work){.fn = fn, .dim = DIM_ALL, .d = qvm_ctx(vm)->scalar_dtype};
    TRY(qarg_array(vm, c, at, fn, "x", &w->a));
    if (w->a->dtype == QS_F64) w->d = QS_F64;
    TRY(qarg_packed(vm, c, at, fn, "x", QS_F64, &w->a, &p));
    w->x = p;
    if (main) w->dim = qstats_main_dim(w->a);
    if (qarg_given(c, dim_at)) TRY(qarg_dim(vm, fn, c->in[dim_at], &w->dim));
    w->l = w->dim == DIM_ALL ? (ArrayLines){1, w->a->count, 1} : qstats_lines(w->a, w->dim);
    return QS_OK;
}

static qs_status not_empty(qs_vm *vm, const Work *w) {
    return w->l.n ? QS_OK : qs_fail(vm, QS_EVALUE, "%s: x must not be empty", w->fn);
}

/* Each line becomes one of m numbers in out[0]. */
static qs_status run(qs_vm *vm, qs_call_args *c, const Work *w, size_t m, LineFn *f, const void *with) {
    Ctx *ctx = qvm_ctx(vm);
    size_t n = w->l.n, bytes = (n + m + 1) * sizeof(double), size = qdtype_size(w->d);
    double *x = qmem_try(ctx, bytes), *y = x + n;
    if (!x) return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu numbers", w->fn, n + m);
    int64_t dims[QS_MAX_RANK] = {(int64_t)m};
    int rank = w->dim == DIM_ALL ? 1 : qstats_with_dim(w->a, w->dim, (int64_t)m, dims);
    ArrayLines out = {w->l.outer, m, w->l.inner};
    Array *r;
    void *q = NULL;
    bool number = w->dim == DIM_ALL && m == 1;
    qs_status s = number ? QS_OK : qarg_result(vm, c, 0, w->d, rank, dims, &r, &q);
    for (size_t k = 0; s == QS_OK && k < out.outer * out.inner; k++) {
        const double *from = w->x + qstats_line_at(&w->l, k);
        for (size_t i = 0; i < n; i++) x[i] = from[i * w->l.inner];
        f(x, n, y, m, with);
        if (number) c->out[0] = qs_num(y[0]);
        else
            for (size_t i = 0; i < m; i++)
                qdtype_put(w->d, (char *)q + (qstats_line_at(&out, k) + i * out.inner) * size, y[i]);
    }
    qmem_try_free(ctx, x, bytes);
    return s;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The numbers of x, without nan, in front; how many. */
static size_t drop_nan(double *x, size_t n) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i])) x[m++] = x[i];
    return m;
}

/* -- quantiles ----------------------------------------------------------------------------------------------------- */
typedef struct { const double *q; double scale; char method; } Quantiles;

/* Between the order statistics below and above a position. */
static double between(double lo, double hi, double t, char method) {
    switch (method) {
    case 'l': return lo;                                    /* lower */
    case 'h': return t > 0 ? hi : lo;                       /* higher */
    case 'm': return t > 0 ? (lo + hi)/2 : lo;              /* midpoint */
    default: return t == 0 || lo == hi ? lo : lo + t*(hi - lo);
    }
}

static void quantile_line(double *x, size_t n, double *y, size_t m, const void *with) {
    const Quantiles *w = with;
    bool whole = drop_nan(x, n) == n;
    if (whole) qsort(x, n, sizeof *x, ascending);
    for (size_t i = 0; i < m; i++) {
        double at = w->q[i] / w->scale * (double)(n - 1);
        if (w->method == 'n') at = nearbyint(at);
        size_t k = (size_t)floor(at);
        y[i] = whole ? between(x[k], x[k + 1 < n ? k + 1 : k], at - floor(at), w->method) : NAN;
    }
}

static qs_status quantile_method(qs_vm *vm, const char *fn, qs_value v, char *out) {
    static const struct { const char *name; char method; } all[] = {
        {"linear", 'i'}, {"lower", 'l'}, {"higher", 'h'}, {"nearest", 'n'}, {"midpoint", 'm'}};
    const char *s;
    TRY(qarg_string(vm, fn, "method", v, &s, NULL));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(s, all[i].name)) return *out = all[i].method, QS_OK;
    return qs_fail(vm, QS_EVALUE, "%s: method must be linear, lower, higher, nearest or midpoint, got \"%s\"", fn, s);
}

static qs_status quantiles(qs_vm *vm, qs_call_args *c, const char *fn, double scale) {
    Work w;
    Array *q;
    const void *p;
    Quantiles with = {NULL, scale, 'i'};
    TRY(open_lines(vm, c, fn, 0, 2, false, &w));
    TRY(not_empty(vm, &w));
    TRY(qarg_packed(vm, c, 1, fn, "the second argument", QS_F64, &q, &p));
    if (qarg_given(c, 3)) TRY(quantile_method(vm, fn, c->in[3], &with.method));
    with.q = p;
    for (size_t i = 0; i < q->count; i++)
        if (!(with.q[i] >= 0 && with.q[i] <= scale))
            return qs_fail(vm, QS_EVALUE, "%s: the second argument must be 0 to %g, got %g", fn, scale, with.q[i]);
    return run(vm, c, &w, q->count, quantile_line, &with);
}
qs_status qlines_quantile(qs_vm *vm, qs_call_args *c) { return quantiles(vm, c, "quantile", 1); }
qs_status qlines_percentile(qs_vm *vm, qs_call_args *c) { return quantiles(vm, c, "percentile", 100); }

/* -- statistics of one number -------------------------------------------------------------------------------------- */
/* The most frequent value, of several the smallest. */
static void mode_line(double *x, size_t n, double *y, size_t m, const void *with) {
    (void)m, (void)with;
    n = drop_nan(x, n);
    qsort(x, n, sizeof *x, ascending);
    size_t best = 0;
    *y = NAN;
    for (size_t i = 0, from = 0; i < n; i++) {
        if (x[i] != x[from]) from = i;
        if (i - from + 1 > best) best = i - from + 1, *y = x[i];
    }
}
static void nansum_line(double *x, size_t n, double *y, size_t m, const void *with) {
    (void)m, (void)with;
    n = drop_nan(x, n);
    *y = 0;
    for (size_t i = 0; i < n; i++) *y += x[i];
}
static void nanmean_line(double *x, size_t n, double *y, size_t m, const void *with) {
    n = drop_nan(x, n);
    nansum_line(x, n, y, m, with);
    *y /= (double)n;
}
static void nanmin_line(double *x, size_t n, double *y, size_t m, const void *with) {
    (void)m, (void)with;
    *y = NAN;
    for (size_t i = 0; i < n; i++) *y = fmin(*y, x[i]);
}
static void nanmax_line(double *x, size_t n, double *y, size_t m, const void *with) {
    (void)m, (void)with;
    *y = NAN;
    for (size_t i = 0; i < n; i++) *y = fmax(*y, x[i]);
}

static qs_status statistic(qs_vm *vm, qs_call_args *c, const char *fn, bool empty, LineFn *f) {
    Work w;
    TRY(open_lines(vm, c, fn, 0, 1, false, &w));
    if (!empty) TRY(not_empty(vm, &w));
    return run(vm, c, &w, 1, f, NULL);
}
#define STATISTIC(name, empty)                                                                                         \
    qs_status qlines_##name(qs_vm *vm, qs_call_args *c) { return statistic(vm, c, #name, empty, name##_line); }
STATISTIC(mode, false)
STATISTIC(nansum, true)
STATISTIC(nanmean, false)
STATISTIC(nanmin, false)
STATISTIC(nanmax, false)

/* -- integrals ----------------------------------------------------------------------------------------------------- */
/* Areas under y from the first point to each; `with`: the places of the points, NULL for 0, 1, 2, … */
static void cumulative_line(double *x, size_t n, double *y, size_t m, const void *with) {
    const double *at = with;
    double s = 0;
    for (size_t i = 0; i < n; i++) {
        if (i) s += (x[i] + x[i - 1])/2 * (at ? at[i] - at[i - 1] : 1);
        y[m == 1 ? 0 : i] = s;
    }
    if (!n && m) *y = 0;
}

/* f(y), f(x, y), f(x, y, dim) */
static qs_status trapezoids(qs_vm *vm, qs_call_args *c, const char *fn, bool all) {
    Work w;
    Array *at;
    const void *p = NULL;
    qs_value x = c->in[0];
    bool spaced = c->nin > 1 && x.kind != QS_NIL && !(x.kind == QS_ARRAY && qval_array(x)->count == 0);
    TRY(open_lines(vm, c, fn, c->nin > 1, 2, true, &w));
    if (spaced) {
        TRY(qarg_packed(vm, c, 0, fn, "x", QS_F64, &at, &p));
        if (at->count != w.l.n)
            return qs_fail(vm, QS_ESHAPE, "%s: x must have %zu elements as y does, got %zu", fn, w.l.n, at->count);
    }
    if (!all && !qarg_given(c, 2) && w.a->rank <= 1) w.dim = DIM_ALL, w.l = (ArrayLines){1, w.a->count, 1};
    return run(vm, c, &w, all ? w.l.n : 1, cumulative_line, p);
}
qs_status qlines_trapz(qs_vm *vm, qs_call_args *c) { return trapezoids(vm, c, "trapz", false); }
qs_status qlines_cumulative_trapezoid(qs_vm *vm, qs_call_args *c) {
    return trapezoids(vm, c, "cumulative_trapezoid", true);
}

/* -- differences --------------------------------------------------------------------------------------------------- */
/* All but the first (skip 1) or last (skip 0) slice along dim, as a view. */
static qs_status slices(qs_vm *vm, Array *a, const Shape *s, int dim, int64_t skip, qs_value *out) {
    Array *v;
    int64_t dims[QS_MAX_RANK];
    memcpy(dims, s->dims, sizeof dims);
    dims[dim]--;
    TRY(qarr_view(vm, a, s->rank, dims, s->strides, (size_t)(skip * s->strides[dim]), &v));
    *out = qarr_value(v);
    return QS_OK;
}

qs_status qlines_diff(qs_vm *vm, qs_call_args *c) {
    Array *a, *packed;
    Shape s;
    TRY(qarg_array(vm, c, 0, "diff", "x", &a));
    int dim = qstats_main_dim(a);
    if (qarg_given(c, 1)) TRY(qarg_dim(vm, "diff", c->in[1], &dim));
    qmatrix_shape(a, &s);
    if (a->count == 0 || dim >= s.rank || s.dims[dim] < 2) { /* no two neighbours */
        int64_t dims[QS_MAX_RANK];
        int rank = a->count ? qstats_with_dim(a, dim, 0, dims) : (dims[0] = 0, 1);
        void *p;
        return qarg_result(vm, c, 0, (qs_dtype)a->dtype, rank, dims, &packed, &p);
    }
    qs_value left = qs_nil(), right = qs_nil();
    TRY(qarr_contiguous(vm, a, &packed));
    qmatrix_shape(packed, &s);
    qs_status st = slices(vm, packed, &s, dim, 0, &left);
    if (st == QS_OK) st = slices(vm, packed, &s, dim, 1, &right);
    if (st == QS_OK) st = qarith_binary(vm, OP_SUB, right, left, &c->out[0]);
    qval_release(vm, left), qval_release(vm, right);
    qarr_release(vm, packed);
    return st;
}
