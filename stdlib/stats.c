/* stats.c -- reductions, order statistics, searching. */
#include "stdlib/stdlib.h"
#include "devices/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int qstats_main_dim(const Array *a) {
    Shape s;
    qmatrix_shape(a, &s);
    for (int d = 0; d < s.rank; d++)
        if (s.dims[d] != 1) return d;
    return 0;
}

/* -- reductions over everything or one dimension ------------------------------------------------------------------- */
static qs_status reduce(qs_vm *vm, qs_call_args *c, const char *fn, Reduce r) {
    int dim = DIM_ALL;
    Array *a;
    if (c->in[0].kind == QS_BOOL || qval_is_number(c->in[0]) || c->in[0].kind != QS_ARRAY)
        TRY(qarg_array(vm, c, 0, fn, "x", &a));
    if (qarg_given(c, 1)) TRY(qarg_dim(vm, fn, c->in[1], &dim));
    return qred_run(vm, r, c->in[0], dim, &c->out[0]);
}
#define REDUCTION(name, id) qs_status qstats_##name(qs_vm *vm, qs_call_args *c) { return reduce(vm, c, #name, id); }
REDUCTION(sum, RED_SUM)
REDUCTION(prod, RED_PROD)
REDUCTION(mean, RED_MEAN)
REDUCTION(any, RED_ANY)
REDUCTION(all, RED_ALL)

qs_status qstats_squared_norm(qs_vm *vm, qs_call_args *c) { return reduce(vm, c, "squared_norm", RED_SUMSQ); }
qs_status qstats_norm(qs_vm *vm, qs_call_args *c) {
    TRY(reduce(vm, c, "norm", RED_SUMSQ));
    qs_value square = c->out[0];
    if (!qval_is_number(square)) return qarg_wrong(vm, "norm", "x", "an array of numbers", c->in[0]);
    c->out[0] = qs_num(sqrt(qval_number(square)));
    return QS_OK;
}

static qs_status cumulate(qs_vm *vm, qs_call_args *c, const char *fn, Reduce r) {
    Array *a, *out;
    TRY(qarg_array(vm, c, 0, fn, "x", &a));
    int dim = qstats_main_dim(a);
    if (qarg_given(c, 1)) TRY(qarg_dim(vm, fn, c->in[1], &dim));
    TRY(qred_cum(vm, r, a, dim, &out));
    c->out[0] = qarr_value(out);
    return QS_OK;
}
qs_status qstats_cumsum(qs_vm *vm, qs_call_args *c) { return cumulate(vm, c, "cumsum", RED_SUM); }
qs_status qstats_cumprod(qs_vm *vm, qs_call_args *c) { return cumulate(vm, c, "cumprod", RED_PROD); }

/* -- lines: an array cut along one dimension ----------------------------------------------------------------------- */
ArrayLines qstats_lines(const Array *a, int dim) {
    Shape s;
    qmatrix_shape(a, &s);
    ArrayLines l = {1, 1, 1};
    for (int d = 0; d < s.rank; d++) *(d < dim ? &l.outer : d == dim ? &l.n : &l.inner) *= (size_t)s.dims[d];
    return l;
}

int qstats_with_dim(const Array *a, int dim, int64_t n, int64_t dims[QS_MAX_RANK]) {
    int rank = qarr_size(a, dims);
    for (; rank <= dim; rank++) dims[rank] = 1;
    dims[dim] = n;
    return rank;
}

/* The array argument as packed float64, and the dimension to work along. */
static qs_status doubles_along(qs_vm *vm, qs_call_args *c, const char *fn, Array **a, const double **p, int *dim) {
    const void *q;
    TRY(qarg_packed(vm, c, 0, fn, "x", QS_F64, a, &q));
    *p = q;
    *dim = qstats_main_dim(*a);
    if (qarg_given(c, 1)) TRY(qarg_dim(vm, fn, c->in[1], dim));
    return QS_OK;
}

enum { LINES_WORK = 1 << 15 /* elements that are worth a thread */ };

/* A statistic of one line of n numbers with a stride. */
typedef double (*Statistic)(const double *x, size_t n, size_t step, double *scratch);

typedef struct {
    Statistic f;
    const double *x;
    ArrayLines lines;
    double *scratch; /* a line for each worker */
    qs_dtype d;
    char *out;
} Statistics;

static void statistics(void *ud, int64_t first, int64_t last, int worker) {
    const Statistics *s = ud;
    double *scratch = s->scratch + (size_t)worker * s->lines.n;
    for (size_t k = (size_t)first; k < (size_t)last; k++) {
        double y = s->f(s->x + qstats_line_at(&s->lines, k), s->lines.n, s->lines.inner, scratch);
        qdtype_put(s->d, s->out + k * qdtype_size(s->d), y);
    }
}

static qs_status statistic(qs_vm *vm, qs_call_args *c, const char *fn, bool whole, Statistic f) {
    Array *a, *r;
    const double *p;
    void *q;
    int dim;
    TRY(doubles_along(vm, c, fn, &a, &p, &dim));
    if (a->count == 0) return qs_fail(vm, QS_EVALUE, "%s: x must not be empty", fn);
    Ctx *ctx = qvm_ctx(vm);
    Statistics s = {.f = f, .x = p, .lines = whole ? (ArrayLines){1, a->count, 1} : qstats_lines(a, dim),
                    .d = whole ? QS_F64 : ctx->scalar_dtype};
    size_t lines = s.lines.outer * s.lines.inner, room = s.lines.n * sizeof(double);
    Threads *t = qthreads_of(ctx);
    if (lines > 1) room *= (size_t)qthreads_count(t);
    if (!(s.scratch = qmem_try(ctx, room))) return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu bytes", fn, room);
    double one;
    int64_t dims[QS_MAX_RANK];
    qs_status status = QS_OK;
    if (!whole) status = qarg_result(vm, c, 0, s.d, qstats_with_dim(a, dim, 1, dims), dims, &r, &q);
    s.out = whole ? (char *)&one : q;
    if (status == QS_OK) qthreads_run(t, (int64_t)lines, 1 + (int64_t)(LINES_WORK / s.lines.n), statistics, &s);
    if (status == QS_OK && whole) c->out[0] = qs_num(one);
    qmem_try_free(ctx, s.scratch, room);
    return status;
}

/* Two passes: the deviations from the mean do not cancel. */
static double variance(const double *x, size_t n, size_t step, double *scratch) {
    (void)scratch;
    double mean = 0, s = 0;
    for (size_t i = 0; i < n; i++) mean += x[i * step];
    mean /= (double)n;
    for (size_t i = 0; i < n; i++) s += (x[i * step] - mean) * (x[i * step] - mean);
    return n > 1 ? s / (double)(n - 1) : 0;
}
static double deviation(const double *x, size_t n, size_t step, double *scratch) {
    return sqrt(variance(x, n, step, scratch));
}

/* Puts the k-th smallest at x[k], smaller ones before it (Hoare's selection); no NaN in x. */
static void select_kth(double *x, size_t n, size_t k) {
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        double pivot = x[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;
        for (;;) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i >= j) break;
            double t = x[i];
            x[i++] = x[j], x[j--] = t;
        }
        if (x[j] > pivot) j--;
        if (k <= j) hi = j;
        else lo = j + 1;
    }
}

static double median(const double *x, size_t n, size_t step, double *scratch) {
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i * step])) return NAN;
        scratch[i] = x[i * step];
    }
    select_kth(scratch, n, n / 2);
    if (n % 2) return scratch[n / 2];
    double below = scratch[0];
    for (size_t i = 1; i < n / 2; i++) below = fmax(below, scratch[i]);
    return (below + scratch[n / 2]) / 2;
}

/* The variance of all elements of x, in place of it. */
static qs_status whole_variance(qs_vm *vm, qs_call_args *c, const char *fn, double *out) {
    Array *a;
    const void *p;
    TRY(qarg_floats(vm, c, 0, fn, "x", &a, &p));
    if (qdtype_is_complex((qs_dtype)a->dtype)) return qarg_wrong(vm, fn, "x", "real", c->in[0]);
    if (a->count == 0) return qs_fail(vm, QS_EVALUE, "%s: x must not be empty", fn);
    qs_value mean;
    TRY(qred_run(vm, RED_MEAN, c->in[0], DIM_ALL, &mean));
    *out = a->count > 1 ? qred_spread(vm, (qs_dtype)a->dtype, a->count, p, qval_number(mean)) / (double)(a->count - 1) : 0;
    return QS_OK;
}

qs_status qstats_var(qs_vm *vm, qs_call_args *c) {
    double v = 0;
    if (qarg_given(c, 1)) return statistic(vm, c, "var", false, variance);
    TRY(whole_variance(vm, c, "var", &v));
    return c->out[0] = qs_num(v), QS_OK;
}
qs_status qstats_std(qs_vm *vm, qs_call_args *c) {
    double v = 0;
    if (qarg_given(c, 1)) return statistic(vm, c, "std", false, deviation);
    TRY(whole_variance(vm, c, "std", &v));
    return c->out[0] = qs_num(sqrt(v)), QS_OK;
}
qs_status qstats_median(qs_vm *vm, qs_call_args *c) {
    Array *a;
    TRY(qarg_array(vm, c, 0, "median", "x", &a));
    return statistic(vm, c, "median", a->rank <= 1 && !qarg_given(c, 1), median);
}

/* -- extremes ------------------------------------------------------------------------------------------------------ */
/* The first position of the smallest (sign 1) or largest (-1) of n numbers; NaN loses against any number. */
static size_t extreme(const double *x, size_t n, size_t step, double sign) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (sign * x[i * step] < sign * x[best * step] || (isnan(x[best * step]) && !isnan(x[i * step]))) best = i;
    return best;
}

static qs_status extreme_index(qs_vm *vm, qs_call_args *c, const char *fn, double sign, int dim, qs_value *out) {
    Array *a;
    const void *p;
    TRY(qarg_packed(vm, c, 0, fn, "x", QS_F64, &a, &p));
    if (a->count == 0) return qs_fail(vm, QS_EVALUE, "%s: x must not be empty", fn);
    if (dim == DIM_ALL) return *out = qs_num((double)extreme(p, a->count, 1, sign)), QS_OK;
    ArrayLines l = qstats_lines(a, dim);
    Ctx *ctx = qvm_ctx(vm);
    size_t n = l.outer * l.inner;
    double *index = qmem_try(ctx, n * sizeof *index);
    if (!index) return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu numbers", fn, n);
    for (size_t k = 0; k < n; k++)
        index[k] = (double)extreme((const double *)p + qstats_line_at(&l, k), l.n, l.inner, sign);
    int64_t dims[QS_MAX_RANK];
    qs_status s = qarg_exact(vm, index, qstats_with_dim(a, dim, 1, dims), dims, out);
    qmem_try_free(ctx, index, n * sizeof *index);
    return s;
}

/* min(x), min(a, b), min(x, [], dim); the second result is the position of the first extreme. */
static qs_status extremes(qs_vm *vm, qs_call_args *c, const char *fn, Reduce r, Op op, double sign) {
    Array *a;
    int dim = DIM_ALL;
    bool absent =
        c->nin < 2 || c->in[1].kind == QS_NIL || (c->in[1].kind == QS_ARRAY && qval_array(c->in[1])->count == 0);
    if (!absent && c->nin == 2) return qarith_binary(vm, op, c->in[0], c->in[1], &c->out[0]);
    if (!absent)
        return qs_fail(vm, QS_ETYPE, "%s: with a dimension the second argument must be [], got %s", fn,
                       qs_type_name(vm, c->in[1]));
    if (qarg_given(c, 2)) TRY(qarg_dim(vm, fn, c->in[2], &dim));
    if (c->in[0].kind != QS_ARRAY) TRY(qarg_array(vm, c, 0, fn, "x", &a));
    TRY(qred_run(vm, r, c->in[0], dim, &c->out[0]));
    return c->nout > 1 ? extreme_index(vm, c, fn, sign, dim, &c->out[1]) : QS_OK;
}
qs_status qstats_min(qs_vm *vm, qs_call_args *c) { return extremes(vm, c, "min", RED_MIN, OP_MINEQ, 1); }
qs_status qstats_max(qs_vm *vm, qs_call_args *c) { return extremes(vm, c, "max", RED_MAX, OP_MAXEQ, -1); }
qs_status qstats_find_index_min(qs_vm *vm, qs_call_args *c) {
    return extreme_index(vm, c, "find_index_min", 1, DIM_ALL, &c->out[0]);
}
qs_status qstats_find_index_max(qs_vm *vm, qs_call_args *c) {
    return extreme_index(vm, c, "find_index_max", -1, DIM_ALL, &c->out[0]);
}

/* -- sorting: stable radix sort on keys whose unsigned order is the order of the elements -------------------------- */
static uint64_t key_of_float(uint64_t bits, int width, bool nan) {
    uint64_t top = 1ull << (width - 1), all = top | (top - 1);
    if (nan) return all; /* after everything, whichever way */
    return bits & top ? ~bits & all : bits | top;
}

static uint64_t key_of(qs_dtype d, const void *p) {
    if (d == QS_F64) { uint64_t u; memcpy(&u, p, 8); return key_of_float(u, 64, isnan(*(const double *)p)); }
    if (d == QS_F32) { uint32_t u; memcpy(&u, p, 4); return key_of_float(u, 32, isnan(*(const float *)p)); }
    if (d == QS_U64) return *(const uint64_t *)p;
    if (d == QS_I64) return (uint64_t)*(const int64_t *)p ^ 1ull << 63;
    if (qdtype_is_real(d)) { float x = (float)qdtype_get(d, p); return key_of(QS_F32, &x); }
    return (uint64_t)((int64_t)qdtype_get(d, p) + (1ll << 32));
}

typedef struct { uint64_t key; size_t at; } Item;

/* Sorts n items; `spare` has room for n.  Digits that all keys share are skipped.  Gives the array that holds the
 * result. */
static Item *radix_sort(Item *x, Item *spare, size_t n) {
    for (int shift = 0; shift < 64; shift += 8) {
        size_t count[257] = {0};
        for (size_t i = 0; i < n; i++) count[(x[i].key >> shift & 255) + 1]++;
        if (count[(x[0].key >> shift & 255) + 1] == n) continue;
        for (int i = 1; i < 257; i++) count[i] += count[i - 1];
        for (size_t i = 0; i < n; i++) spare[count[x[i].key >> shift & 255]++] = x[i];
        Item *t = x;
        x = spare, spare = t;
    }
    return x;
}

static void insertion_sort(Item *x, size_t n) {
    for (size_t i = 1; i < n; i++) {
        Item v = x[i];
        size_t j = i;
        for (; j > 0 && x[j - 1].key > v.key; j--) x[j] = x[j - 1];
        x[j] = v;
    }
}

enum { SMALL_SORT = 64 };

static void sort_line(const char *src, char *dst, double *index, const ArrayLines *l, qs_dtype d, bool down, Item *items) {
    size_t size = qdtype_size(d), n = l->n;
    uint64_t nan = d == QS_F64 ? UINT64_MAX : UINT32_MAX;
    bool real = qdtype_is_real(d);
    for (size_t i = 0; i < n; i++) {
        uint64_t k = key_of(d, src + i * l->inner * size);
        items[i] = (Item){down && !(real && k == nan) ? ~k & (real && d != QS_F64 ? UINT32_MAX : UINT64_MAX) : k, i};
    }
    Item *sorted = items;
    if (n <= SMALL_SORT) insertion_sort(items, n);
    else sorted = radix_sort(items, items + n, n);
    for (size_t i = 0; i < n; i++) {
        memcpy(dst + i * l->inner * size, src + sorted[i].at * l->inner * size, size);
        if (index) index[i * l->inner] = (double)sorted[i].at;
    }
}

/* sort(x), sort(x, dim), sort(x, "descend"), sort(x, dim, "descend"); the second result holds the old positions. */
qs_status qstats_sort(qs_vm *vm, qs_call_args *c) {
    Array *a, *r;
    const void *p;
    void *q;
    bool down = false;
    int dim = -1;
    for (int i = 1; i < c->nin; i++) {
        const char *mode;
        if (c->in[i].kind != QS_STRING) { TRY(qarg_dim(vm, "sort", c->in[i], &dim)); continue; }
        TRY(qarg_string(vm, "sort", "mode", c->in[i], &mode, NULL));
        down = !strcmp(mode, "descend");
        if (!down && strcmp(mode, "ascend"))
            return qs_fail(vm, QS_EVALUE, "sort: mode must be \"ascend\" or \"descend\", got \"%s\"", mode);
    }
    TRY(qarg_array(vm, c, 0, "sort", "x", &a));
    qs_dtype d = (qs_dtype)a->dtype;
    if (qdtype_is_complex(d)) return qarg_wrong(vm, "sort", "x", "real", c->in[0]);
    TRY(qarg_packed(vm, c, 0, "sort", "x", d, &a, &p));
    if (dim < 0) dim = qstats_main_dim(a);
    TRY(qarg_result(vm, c, 0, d, a->rank, a->dims, &r, &q));
    ArrayLines l = qstats_lines(a, dim);
    Ctx *ctx = qvm_ctx(vm);
    size_t bytes = 2 * l.n * sizeof(Item), nindex = c->nout > 1 ? a->count * sizeof(double) : 0;
    Item *items = qmem_try(ctx, bytes);
    double *index = nindex ? qmem_try(ctx, nindex) : NULL;
    qs_status s =
        items && (index || !nindex) ? QS_OK : qs_fail(vm, QS_ENOMEM, "sort: no memory for %zu elements", a->count);
    for (size_t k = 0, size = qdtype_size(d); s == QS_OK && l.n && k < l.outer * l.inner; k++) {
        size_t at = qstats_line_at(&l, k);
        sort_line((const char *)p + at * size, (char *)q + at * size, index ? index + at : NULL, &l, d, down, items);
    }
    if (s == QS_OK && c->nout > 1) s = qarg_exact(vm, index, a->rank, a->dims, &c->out[1]);
    if (items) qmem_try_free(ctx, items, bytes);
    if (index) qmem_try_free(ctx, index, nindex);
    return s;
}

/* -- search -------------------------------------------------------------------------------------------------------- */
/* The rows of positions of true elements, in order; `at` counts the position of the line of last indices being read. */
#define POSITIONS(T)                                                                                                   \
    static void positions_##T(const uint8_t *x, size_t count, int rank, const int64_t *dims, T *row) {                 \
        int64_t at[QS_MAX_RANK] = {0}, n = dims[rank - 1];                                                             \
        for (size_t i = 0; i < count; i += (size_t)n) {                                                                \
            for (int64_t j = 0; j < n; j++) {                                                                          \
                if (!x[i + (size_t)j]) continue;                                                                       \
                for (int d = 0; d < rank - 1; d++) *row++ = (T)at[d];                                                  \
                *row++ = (T)j;                                                                                         \
            }                                                                                                          \
            for (int d = rank - 2; d >= 0 && ++at[d] == dims[d]; d--) at[d] = 0;                                       \
        }                                                                                                              \
    }
POSITIONS(float)
POSITIONS(double)

/* Positions must stay exact: float32 holds those up to 2^24. */
static qs_dtype position_type(qs_vm *vm, int rank, const int64_t *dims) {
    for (int d = 0; d < rank; d++)
        if (dims[d] > 1 << 24) return QS_F64;
    return qvm_ctx(vm)->scalar_dtype;
}

qs_status qstats_find(qs_vm *vm, qs_call_args *c) {
    Array *a, *r;
    const void *p;
    void *q;
    TRY(qarg_array(vm, c, 0, "find", "x", &a));
    qs_value is_true;
    TRY(qarith_binary(vm, OP_NE, c->in[0], qs_num(0), &is_true));
    qval_release(vm, c->in[0]);
    c->in[0] = is_true;
    TRY(qarg_packed(vm, c, 0, "find", "x", QS_B1, &a, &p));
    const uint8_t *x = p;
    int64_t dims[QS_MAX_RANK], n = 0;
    int rank = qarr_size(a, dims);
    for (size_t i = 0; i < a->count; i++) n += x[i];
    qs_dtype d = position_type(vm, rank, dims);
    TRY(qarg_result(vm, c, 0, d, 2, (int64_t[]){n, rank}, &r, &q));
    if (d == QS_F32) positions_float(x, a->count, rank, dims, q);
    else positions_double(x, a->count, rank, dims, q);
    return QS_OK;
}

/* The sorted distinct elements, as a vec. */
qs_status qstats_unique(qs_vm *vm, qs_call_args *c) {
    Array *a, *flat, *r;
    TRY(qarg_array(vm, c, 0, "unique", "x", &a));
    TRY(qarr_reshape(vm, a, 1, (int64_t[]){(int64_t)a->count}, &flat));
    qs_value sorted = qs_nil();
    qs_call_args sort = {1, 1, (qs_value[]){qarr_value(flat)}, &sorted, 0, NULL};
    qs_status s = qstats_sort(vm, &sort);
    qval_release(vm, sort.in[0]);
    if (s != QS_OK) { qval_release(vm, sorted); return s; }
    void *p;
    s = qarr_write(vm, qval_array(sorted), &p);
    size_t size = qdtype_size((qs_dtype)a->dtype);
    int64_t n = 0;
    for (size_t i = 0; s == QS_OK && i < a->count; i++)
        if (i == 0 || memcmp((char *)p + i * size, (char *)p + (size_t)(n - 1) * size, size))
            memmove((char *)p + (size_t)n++ * size, (char *)p + i * size, size);
    void *q;
    if (s == QS_OK) s = qarg_result(vm, c, 0, (qs_dtype)a->dtype, 1, &n, &r, &q);
    if (s == QS_OK) memcpy(q, p, (size_t)n * size);
    qval_release(vm, sorted);
    return s;
}

/* -- products of vectors ------------------------------------------------------------------------------------------- */
static void dot_complex(const Array *a, const void *p, const void *q, double out[2]) {
    for (size_t i = 0; i < a->count; i++) {
        bool f = a->dtype == QS_C64;
        double ar = f ? (double)((const float *)p)[2 * i] : ((const double *)p)[2 * i];
        double ai = f ? (double)((const float *)p)[2 * i + 1] : ((const double *)p)[2 * i + 1];
        double br = f ? (double)((const float *)q)[2 * i] : ((const double *)q)[2 * i];
        double bi = f ? (double)((const float *)q)[2 * i + 1] : ((const double *)q)[2 * i + 1];
        out[0] += ar * br - ai * bi, out[1] += ar * bi + ai * br;
    }
}

qs_status qstats_dotprod(qs_vm *vm, qs_call_args *c) {
    Array *a, *b;
    const void *p, *q;
    TRY(qarg_floats(vm, c, 0, "dotprod", "a", &a, &p));
    TRY(qarg_floats(vm, c, 1, "dotprod", "b", &b, &q));
    if (a->count != b->count)
        return qs_fail(vm, QS_ESHAPE, "dotprod: a and b must have as many elements, got %zu and %zu", a->count,
                       b->count);
    qs_dtype d = qdtype_promote((qs_dtype)a->dtype, (qs_dtype)b->dtype);
    TRY(qarg_packed(vm, c, 0, "dotprod", "a", d, &a, &p));
    TRY(qarg_packed(vm, c, 1, "dotprod", "b", d, &b, &q));
    if (!qdtype_is_complex(d)) return c->out[0] = qs_num(qred_dot(vm, d, a->count, p, q)), QS_OK;
    double z[2] = {0, 0};
    dot_complex(a, p, q, z);
    return qval_complex(vm, z[0], z[1], &c->out[0]);
}
