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
    if (bits == top) bits = 0; /* -0 */
    return bits & top ? ~bits & all : bits | top;
}

uint64_t qstats_key(qs_dtype d, const void *p) {
    if (d == QS_F64) { uint64_t u; memcpy(&u, p, 8); return key_of_float(u, 64, isnan(*(const double *)p)); }
    if (d == QS_F32) { uint32_t u; memcpy(&u, p, 4); return key_of_float(u, 32, isnan(*(const float *)p)); }
    if (d == QS_U64) return *(const uint64_t *)p;
    if (d == QS_I64) return (uint64_t)*(const int64_t *)p ^ 1ull << 63;
    if (qdtype_is_real(d)) { float x = (float)qdtype_get(d, p); return qstats_key(QS_F32, &x); }
    return (uint64_t)((int64_t)qdtype_get(d, p) + (1ll << 32));
}

enum { SMALL_SORT = 64 };

static void insertion_sort(SortItem *x, size_t n) {
    for (size_t i = 1; i < n; i++) {
        SortItem v = x[i];
        size_t j = i;
        for (; j > 0 && x[j - 1].key > v.key; j--) x[j] = x[j - 1];
        x[j] = v;
    }
}

/* Digits that all keys share are skipped. */
SortItem *qstats_sort_items(SortItem *x, SortItem *spare, size_t n) {
    if (n <= SMALL_SORT) return insertion_sort(x, n), x;
    for (int shift = 0; shift < 64; shift += 8) {
        size_t count[257] = {0};
        for (size_t i = 0; i < n; i++) count[(x[i].key >> shift & 255) + 1]++;
        if (count[(x[0].key >> shift & 255) + 1] == n) continue;
        for (int i = 1; i < 257; i++) count[i] += count[i - 1];
        for (size_t i = 0; i < n; i++) spare[count[x[i].key >> shift & 255]++] = x[i];
        SortItem *t = x;
        x = spare, spare = t;
    }
    return x;
}

static void sort_line(const char *src, char *dst, double *index, const ArrayLines *l, qs_dtype d, bool down, SortItem *items) {
    size_t size = qdtype_size(d), n = l->n;
    uint64_t nan = d == QS_F64 ? UINT64_MAX : UINT32_MAX;
    bool real = qdtype_is_real(d);
    for (size_t i = 0; i < n; i++) {
        uint64_t k = qstats_key(d, src + i * l->inner * size);
        items[i] = (SortItem){down && !(real && k == nan) ? ~k & (real && d != QS_F64 ? UINT32_MAX : UINT64_MAX) : k, i};
    }
    const SortItem *sorted = qstats_sort_items(items, items + n, n);
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
    if (c->in[0].kind == QS_CELL) return qsets_sort(vm, c, down);
    TRY(qarg_array(vm, c, 0, "sort", "x", &a));
    qs_dtype d = (qs_dtype)a->dtype;
    if (qdtype_is_complex(d)) return qarg_wrong(vm, "sort", "x", "real", c->in[0]);
    TRY(qarg_packed(vm, c, 0, "sort", "x", d, &a, &p));
    if (dim < 0) dim = qstats_main_dim(a);
    TRY(qarg_result(vm, c, 0, d, a->rank, a->dims, &r, &q));
    ArrayLines l = qstats_lines(a, dim);
    Ctx *ctx = qvm_ctx(vm);
    size_t bytes = 2 * l.n * sizeof(SortItem), nindex = c->nout > 1 ? a->count * sizeof(double) : 0;
    SortItem *items = qmem_try(ctx, bytes);
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
