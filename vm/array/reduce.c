/* reduce.c -- implements the reductions of reduce.def over elements, and scans (cumsum, cumprod).
 *
 * The elements are converted, a piece of LANES elements at a time, to a lane type that holds the exact or nearly exact
 * result: double, int64, uint64, complex double, bool.  Each element of a piece belongs to a lane with its own partial
 * result.  The loops of contiguous.c merge pieces into the lanes, and the lanes are merged pairwise at the end.  Thus a
 * sum of n floats has the error of n/512 additions in double, and integers are exact.  In a reduction along a
 * dimension, the lanes may also be adjacent results.
 *
 * Large arrays are distributed among the threads.  The division into blocks depends only on the array, so the result
 * does not depend on the number of threads.
 *
 * For running sums, a row is divided twice: into blocks, for the threads, and each block into strands of 64 elements.
 * Within a strand each addition depends on the one before, so several strands are summed in parallel.  An element is
 * the sum before the block, plus the sum of the preceding strands of the block, plus the running sum of its strand.
 * One thread in one pass computes the same bits as several threads in a chain.
 *
 * In the chain, each thread takes the next block, sums it, passes on the sum before the next block, and writes the
 * elements while they are still in its cache, so memory is read only once.  A thread that has lost its processor would
 * delay all others; therefore a thread that waits too long for a block sums that block itself.  The last element of a
 * strand is exactly the sum that the next strand continues, so sums of nonnegative numbers never decrease.
 *
 * An array on a GPU is reduced there, by kernels with the same lane types (device_ops.h). */
#include "devices/threads.h"
#include "lang/kernel/elem/elem_host.h"
#include "vm/array/array.h"
#include "vm/array/contiguous.h"
#include "vm/array/convert.h"
#include "vm/array/device_ops.h"
#include "vm/array/strided.h"
#include "vm/base/dtype.h"
#include "vm/base/reduction.h"

#include <math.h>
#include <string.h>

enum { LANES = 512 };
typedef union {
    double f[LANES];
    int64_t i[LANES];
    uint64_t u[LANES];
    QComplexD z[LANES];
} Lanes;

/* The loops that combine elements. */
static const uint8_t loops[COMBINE__COUNT] = {
#define REDUCTION(...)
#define COMBINE(id, ...) [COMBINE_##id] = LOOP_##id,
#include "vm/base/reduce.def"
};

typedef struct {
    const ReduceInfo *r;
    qs_dtype from, lane, out; /* type of the elements, of the lanes, of a result array */
    Loop *merge;
    RowsLoop *rows; /* merges several pieces of elements of the lane type; may be NULL */
    size_t n;       /* number of elements per result */
    /* of the centre: MAP_EXP subtracts centre[i*centre_step] from the element in lane i */
    const double *centre;
    size_t centre_step;
} Plan;

/* -- the plan ------------------------------------------------------------------------------------------------------ */
static qs_dtype lane_dtype(ReduceLanes lanes, qs_dtype d) {
    if (lanes == LANES_BOOL) return QS_B1;
    if (lanes == LANES_SAME) return d < QS_I32 ? QS_I32 : qdtype_is_short(d) ? QS_F32 : d;
    if (lanes == LANES_REAL) return QS_F64;
    if (qdtype_is_complex(d)) return QS_C128;
    if (d >= QS_F16 || lanes == LANES_FLOAT) return QS_F64;
    return d == QS_U64 ? QS_U64 : QS_I64;
}

static qs_dtype out_dtype(qs_vm *vm, ReduceLanes lanes, qs_dtype d) {
    if (lanes == LANES_BOOL) return QS_B1;
    if (lanes == LANES_SAME) return d;
    qs_dtype scalar = qvm_ctx(vm)->scalar_dtype;
    if (lanes == LANES_REAL) return qdtype_real_of(qdtype_promote_scalar(d, false, scalar));
    if (d >= QS_F16 || lanes == LANES_FLOAT) return qdtype_promote_scalar(d, false, scalar);
    return d == QS_B1 ? scalar : d == QS_U64 ? QS_U64 : QS_I64;
}

static LoopOp loop_of(const Plan *p) { return (LoopOp)loops[p->r->combine]; }

static qs_status make_plan(qs_vm *vm, Reduce which, qs_dtype d, Plan *p) {
    const ReduceInfo *r = &qreduction_info[which];
    *p = (Plan){r, d, lane_dtype((ReduceLanes)r->lanes, d), out_dtype(vm, (ReduceLanes)r->lanes, d), .n = 0};
    p->merge = qcontig_get(loop_of(p), p->lane, LOOP_VV);
    if (p->from == p->lane && (r->map == MAP_SELF || r->map == MAP_TRUTH))
        p->rows = qcontig_loops()->rows(loop_of(p), p->lane);
    bool ordered = !qdtype_is_complex(d) || (r->lanes != LANES_SAME && !r->centre);
    if (p->merge && ordered) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: complex numbers have no order", r->name);
}

/* -- pieces and lanes ---------------------------------------------------------------------------------------------- */
static void map_complex(ReduceMap map, const QComplexD *z, double *x, size_t n) {
    if (map == MAP_SQUARE)
        for (size_t i = 0; i < n; i++) x[i] = z[i].re * z[i].re + z[i].im * z[i].im;
    else
        for (size_t i = 0; i < n; i++) x[i] = elem_abs_C128(z[i]);
}

static void map_lanes(const Plan *p, double *x, size_t n) {
    if (p->r->map == MAP_SQUARE) qcontig_get(LOOP_MUL, QS_F64, LOOP_VV)(n, x, x, x);
    for (size_t i = 0; p->r->map == MAP_ABS && i < n; i++) x[i] = fabs(x[i]);
    for (size_t i = 0; p->r->map == MAP_EXP && i < n; i++) x[i] = elem_exp_F64(x[i] - p->centre[i * p->centre_step]);
}

/* Whether the elements are combined as they are. */
static bool combines_elements(const Plan *p) { return p->r->map == MAP_SELF || p->r->map == MAP_TRUTH; }

/* Returns the next n elements in the lane type: converted into `room`, or in place. */
static const void *fetch_lanes(const Plan *p, const char *src, ptrdiff_t step, size_t n, Lanes *room) {
    Lanes z;
    if (p->from == p->lane && combines_elements(p) && step == (ptrdiff_t)qdtype_size(p->lane) &&
        (uintptr_t)src % sizeof(double) == 0)
        return src;
    if (!combines_elements(p) && qdtype_is_complex(p->from)) {
        qconv_run(p->from, src, step, QS_C128, &z, sizeof *z.z, n);
        map_complex((ReduceMap)p->r->map, z.z, room->f, n);
        return room;
    }
    qconv_run(p->from, src, step, p->lane, room, (ptrdiff_t)qdtype_size(p->lane), n);
    if (!combines_elements(p)) map_lanes(p, room->f, n);
    return room;
}

static void fetch_into(const Plan *p, const char *src, ptrdiff_t step, size_t n, Lanes *lanes) {
    const void *at = fetch_lanes(p, src, step, n, lanes);
    if (at != lanes) memcpy(lanes, at, n * qdtype_size(p->lane));
}

static bool adds_floats(const Plan *p, const char *src, ptrdiff_t step) {
    bool packed = step == sizeof(float) && (uintptr_t)src % sizeof(float) == 0;
    return packed && p->from == QS_F32 && p->lane == QS_F64 && p->r->combine == COMBINE_ADD && combines_elements(p);
}

/* Merges several rows by the special loop, if there is one and no NaN. */
static bool merge_at_once(const Plan *p, Lanes *lanes, size_t rows, const char *src, ptrdiff_t apart, size_t n) {
    Lanes before;
    size_t size = qdtype_size(p->lane);
    if (!p->rows || rows < 4) return false;
    memcpy(&before, lanes, n * size);
    if (p->rows(n, rows, src, apart / (ptrdiff_t)size, lanes)) return true;
    memcpy(lanes, &before, n * size);
    return false;
}

/* Merges into the lanes n elements of each of several rows, which are `apart` bytes apart. */
static void merge_rows(const Plan *p, Lanes *lanes, size_t rows, const char *src, ptrdiff_t apart, ptrdiff_t step,
                       size_t n) {
    Lanes room;
    ptrdiff_t size = (ptrdiff_t)qdtype_size(p->from);
    bool aligned = step == size && apart % size == 0 && (uintptr_t)src % (uintptr_t)size == 0;
    if (aligned && adds_floats(p, src, step))
        qcontig_loops()->accumulate32(n, rows, (const void *)src, apart / size, lanes->f);
    else if (!aligned || !merge_at_once(p, lanes, rows, src, apart, n))
        for (; rows; rows--, src += apart) p->merge(n, lanes, fetch_lanes(p, src, step, n, &room), lanes);
}

static void merge_row(const Plan *p, Lanes *lanes, const char *src, ptrdiff_t step, size_t n) {
    merge_rows(p, lanes, 1, src, 0, step, n);
}

typedef struct {
    Lanes lanes;
    size_t used;
} Total;

static void add_run(const Plan *p, Total *t, const char *src, ptrdiff_t step, size_t n) {
    for (size_t m, rows; n; n -= m, src += step * (ptrdiff_t)m) {
        m = n < LANES ? n : LANES;
        rows = t->used == LANES && p->rows ? n / LANES : 0;
        if (rows) merge_rows(p, &t->lanes, rows, src, step * LANES, step, LANES), m = rows * LANES;
        else if (t->used) merge_row(p, &t->lanes, src, step, m);
        else fetch_into(p, src, step, t->used = m, &t->lanes); /* the first piece is the longest */
    }
}

static void merge_lanes(const Plan *p, Total *t) {
    size_t size = qdtype_size(p->lane);
    while (t->used > 1) {
        size_t half = (t->used + 1) / 2;
        p->merge(t->used - half, &t->lanes, (char *)&t->lanes + half * size, &t->lanes);
        t->used = half;
    }
}

/* Finishes m results.  Complex lanes of a mean are divided as pairs of doubles. */
static void finish_lanes(const Plan *p, Lanes *lanes, size_t m) {
    bool parts = p->lane == QS_C128;
    double n = (double)p->n;
    for (size_t i = 0; p->r->finish == FINISH_ROOT && i < m; i++) lanes->f[i] = sqrt(lanes->f[i]);
    for (size_t i = 0; p->r->finish == FINISH_LOG && i < m; i++)
        lanes->f[i] = elem_log_F64(lanes->f[i]) + p->centre[i * p->centre_step];
    if (p->r->finish == FINISH_MEAN)
        qcontig_get(LOOP_DIV, parts ? QS_F64 : p->lane, LOOP_VS)(parts ? 2 * m : m, lanes, &n, lanes);
}

/* -- centres ------------------------------------------------------------------------------------------------------- */
/* Returns the plan that computes the centres of p as doubles. */
static Plan plan_centre(const Plan *p) {
    Plan c = {.r = &qreduction_info[p->r->centre], .from = p->from, .lane = QS_F64, .out = QS_F64};
    c.merge = qcontig_get(loop_of(&c), QS_F64, LOOP_VV);
    return c;
}

/* Returns p with m centres. */
static Plan with_centre(const Plan *p, Lanes *centres, size_t m) {
    Plan q = *p;
    for (size_t i = 0; i < m; i++)
        if (!isfinite(centres->f[i])) centres->f[i] = 0;
    q.centre = centres->f, q.centre_step = m > 1;
    return q;
}

/* -- over everything ----------------------------------------------------------------------------------------------- */
/* BLOCK: elements per unit of work.  Up to FEW blocks are computed by the caller, without waking other threads. */
enum { BLOCK = 1 << 16, FEW = 3 };

/* Uses the special loops for contiguous floats whose sum, or sum of squares, is a double; false: not this case. */
static bool add_floats(const Plan *p, Total *t, const char *src, size_t n) {
    bool squares = p->r->map == MAP_SQUARE;
    if (p->lane != QS_F64 || p->r->combine != COMBINE_ADD || (!squares && !combines_elements(p)) ||
        (p->from != QS_F32 && p->from != QS_F64))
        return false;
    const void *x = src;
    t->used = 1;
    if (p->from == QS_F32) t->lanes.f[0] = squares ? qcontig_loops()->dot32(n, x, x) : qcontig_loops()->sum32(n, x);
    else t->lanes.f[0] = squares ? qcontig_loops()->dot64(n, x, x) : qcontig_loops()->sum64(n, x);
    return true;
}

typedef struct {
    const Plan *p;
    const char *at;
    size_t count, size;
    Total *parts;
} Blocks;

static void total_blocks(void *ud, int64_t first, int64_t last, int worker) {
    const Blocks *b = ud;
    size_t element = qdtype_size(b->p->from), lane = qdtype_size(b->p->lane);
    (void)worker;
    for (size_t k = (size_t)first; k < (size_t)last; k++) {
        size_t from = k * b->size, n = b->count - from < b->size ? b->count - from : b->size;
        Total t; /* only lanes that are used are initialised, as clearing all takes longer than a short sum */
        t.used = 0;
        if (!add_floats(b->p, &t, b->at + from * element, n)) {
            add_run(b->p, &t, b->at + from * element, (ptrdiff_t)element, n);
            merge_lanes(b->p, &t);
        }
        memcpy((char *)&b->parts->lanes + k * lane, &t.lanes, lane);
    }
}

/* Returns the block size for at most LANES blocks; each block has one lane. */
static size_t block_size(size_t count) { return count > (size_t)BLOCK * LANES ? (count + LANES - 1) / LANES : BLOCK; }

static void total_packed(Ctx *c, const Plan *p, const Array *a, const void *at, Total *t) {
    Blocks b = {p, at, a->count, block_size(a->count), t};
    t->used = (a->count + b.size - 1) / b.size;
    if (t->used <= FEW) total_blocks(&b, 0, (int64_t)t->used, 0);
    else qthreads_run(qthreads_of(c), (int64_t)t->used, 1, total_blocks, &b);
    merge_lanes(p, t);
}

static void total_array(Ctx *c, const Plan *p, const Array *a, const void *at, Total *t) {
    Nest n;
    if (a->contiguous) {
        total_packed(c, p, a, at, t);
        return;
    }
    t->used = 0;
    qstrided_begin(&n, a->rank, a->dims);
    qstrided_array(&n, at, a);
    qstrided_fuse(&n);
    while (qstrided_next(&n)) add_run(p, t, n.at[0], n.step[0], n.count);
    merge_lanes(p, t);
}

/* Integer results are computed modulo 2^64; comparing them with an estimate in double detects an overflow. */
static bool may_overflow(const Plan *p) {
    return (p->lane == QS_I64 || p->lane == QS_U64) && (p->r->combine == COMBINE_MUL || p->from >= QS_I64);
}

static Plan estimate(Plan p) {
    p.lane = p.out = QS_F64;
    p.merge = qcontig_get(loop_of(&p), QS_F64, LOOP_VV);
    return p;
}

static bool agree(double result, double estimate) { /* NaN: infinity times an exact 0 */
    return isnan(estimate) || fabs(estimate - result) < 0x1p62;
}

static qs_status overflow(qs_vm *vm, const Plan *p) {
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: integer overflow", p->r->name);
}

static qs_status check_overflow(qs_vm *vm, const Plan *p, const Array *a, const void *at, double result) {
    Total t;
    Plan rough = estimate(*p);
    total_array(qvm_ctx(vm), &rough, a, at, &t);
    return agree(result, t.lanes.f[0]) ? QS_OK : overflow(vm, p);
}

/* Checks many results against their estimates for overflow; takes the reference to the estimates. */
static qs_status check_each(qs_vm *vm, const Plan *p, Array *results, Array *estimates) {
    const void *x, *y;
    bool good = true;
    qs_status s = qarr_read(vm, results, &x);
    if (!s) s = qarr_read(vm, estimates, &y);
    for (size_t i = 0; !s && i < results->count; i++)
        good &= agree(qdtype_get(p->out, (const char *)x + i * qdtype_size(p->out)), ((const double *)y)[i]);
    qarr_release(vm, estimates);
    return s || good ? s : overflow(vm, p);
}

/* Returns a sum or product of integers as an int; for bools it is a count, a scalar. */
static qs_status int_result(qs_vm *vm, const Plan *p, const Array *a, const void *at, const Lanes *l, qs_value *out) {
    bool is_unsigned = p->lane == QS_U64;
    double approx = is_unsigned ? (double)l->u[0] : (double)l->i[0];
    if (may_overflow(p)) TRY(check_overflow(vm, p, a, at, approx));
    if (is_unsigned && l->u[0] > INT64_MAX) return overflow(vm, p);
    *out = p->from == QS_B1 ? qs_num(approx) : qs_int(l->i[0]);
    return QS_OK;
}

/* Returns an extreme as an element: converted to the element type and read like an element. */
static qs_status extreme_result(qs_vm *vm, const Plan *p, const Lanes *l, qs_value *out) {
    QComplexD element;
    qconv_run(p->lane, l, 0, p->from, &element, 0, 1);
    return qarr_load(vm, p->from, &element, out);
}

static qs_status empty_result(qs_vm *vm, const Plan *p, qs_value *out) {
    double x = p->r->empty;
    if (p->r->refuses_empty) return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: x must not be empty", p->r->name);
    if (p->lane == QS_B1) *out = qs_bool(x != 0);
    else if (p->lane == QS_C128) return qval_complex(vm, x, 0, out);
    else if (p->lane == QS_F64 || p->from == QS_B1) *out = qs_num(x);
    else *out = qs_int((int64_t)x);
    return QS_OK;
}

/* -- on a device --------------------------------------------------------------------------------------------------- */
static AxisOp on_device(const Plan *p, Array *a, Array *y) {
    return (AxisOp){.name = p->r->name,
                    .combine = (Combine)p->r->combine,
                    .lane = p->lane,
                    .x = a,
                    .y = y,
                    .map = (ReduceMap)p->r->map,
                    .by = p->r->finish == FINISH_MEAN ? (double)p->n : 0,
                    .root = p->r->finish == FINISH_ROOT,
                    .logarithm = p->r->finish == FINISH_LOG};
}

/* Runs a reduction on a device, after that of its centres. */
static qs_status run_on_device(qs_vm *vm, const Plan *p, AxisOp *j, bool *done) {
    if (!p->r->centre) return qaxisop_run(vm, j, done);
    Plan c = plan_centre(p);
    AxisOp first = on_device(&c, j->x, NULL);
    first.rank = j->rank, first.dims = j->dims, first.strides = j->strides, first.n = j->n, first.step = j->step;
    TRY(qarr_new(vm, QS_F64, j->rank, j->dims, false, &first.y));
    qs_status s = qaxisop_run(vm, &first, done);
    j->centres = first.y;
    if (s == QS_OK && *done) s = qaxisop_run(vm, j, done);
    return qarr_release(vm, first.y), s;
}

/* Reduces all elements of a contiguous array on its device, as along a single dimension. */
static qs_status all_on_device(qs_vm *vm, const Plan *p, Array *a, Lanes *out, bool *done) {
    int64_t one = 1, none = 0;
    Array *r;
    const void *at;
    *done = false;
    if (!qdevmath_asks(vm) || !a->contiguous || may_overflow(p)) return QS_OK;
    TRY(qarr_new(vm, p->lane, 1, &one, false, &r));
    AxisOp j = on_device(p, a, r);
    j.rank = 1, j.dims = &one, j.strides = &none, j.n = (int64_t)a->count, j.step = 1;
    qs_status s = run_on_device(vm, p, &j, done);
    if (s == QS_OK && *done) s = qarr_read(vm, r, &at);
    if (s == QS_OK && *done) memcpy(out, at, qdtype_size(p->lane));
    return qarr_release(vm, r), s;
}

static qs_status reduce_all(qs_vm *vm, Plan *p, Array *a, qs_value *out) {
    const void *at = NULL;
    bool done;
    Total t;
    Total centre;
    p->n = a->count;
    if (!a->count) return empty_result(vm, p, out);
    TRY(all_on_device(vm, p, a, &t.lanes, &done));
    if (!done) {
        TRY(qarr_read(vm, a, &at));
        if (p->r->centre) {
            Plan c = plan_centre(p);
            total_array(qvm_ctx(vm), &c, a, at, &centre);
            *p = with_centre(p, &centre.lanes, 1);
        }
        total_array(qvm_ctx(vm), p, a, at, &t);
        finish_lanes(p, &t.lanes, 1);
    }
    if (p->r->lanes == LANES_SAME) return extreme_result(vm, p, &t.lanes, out);
    if (p->lane == QS_I64 || p->lane == QS_U64) return int_result(vm, p, a, at, &t.lanes, out);
    return qarr_load(vm, p->lane, &t.lanes, out);
}

/* -- sums of products ---------------------------------------------------------------------------------------------- */
typedef struct {
    qs_dtype d;
    const char *x, *y;
    double from, *parts;
    size_t count, size;
} Products;

static void sum_products(void *ud, int64_t first, int64_t last, int worker) {
    const Products *s = ud;
    bool single = s->d == QS_F32;
    (void)worker;
    for (size_t k = (size_t)first; k < (size_t)last; k++) {
        size_t at = k * s->size, n = s->count - at < s->size ? s->count - at : s->size;
        const void *x = s->x + at * qdtype_size(s->d), *y = s->y ? s->y + at * qdtype_size(s->d) : NULL;
        if (y) s->parts[k] = single ? qcontig_loops()->dot32(n, x, y) : qcontig_loops()->dot64(n, x, y);
        else s->parts[k] = single ? qcontig_loops()->spread32(n, x, s->from) : qcontig_loops()->spread64(n, x, s->from);
    }
}

static double sum_all_products(qs_vm *vm, Products s) {
    double parts[LANES];
    s.parts = parts, s.size = block_size(s.count);
    size_t n = (s.count + s.size - 1) / s.size;
    if (n <= FEW) sum_products(&s, 0, (int64_t)n, 0);
    else qthreads_run(qthreads_of(qvm_ctx(vm)), (int64_t)n, 1, sum_products, &s);
    return qcontig_loops()->sum64(n, parts) + 0.0; /* not -0 if there are none */
}

double qred_dot(qs_vm *vm, qs_dtype d, size_t n, const void *x, const void *y) {
    return sum_all_products(vm, (Products){.d = d, .x = x, .y = y, .count = n});
}

double qred_spread(qs_vm *vm, qs_dtype d, size_t n, const void *x, double from) {
    return sum_all_products(vm, (Products){.d = d, .x = x, .from = from, .count = n});
}

/* -- along one dimension ------------------------------------------------------------------------------------------- */
/* The shape of an array (qarr_size), split into the reduced dimension and the others. */
typedef struct {
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK]; /* the reduced dimension has extent 1 here */
    size_t n;                                        /* extent of the reduced dimension */
    ptrdiff_t step;                                  /* its stride in bytes */
} Split;

static Split split_shape(const Array *a, int dim) {
    Split s = {.n = 1};
    s.rank = qarr_size(a, s.dims);
    memcpy(s.strides + (a->rank < 2), a->strides, a->rank * sizeof *s.strides);
    if (dim >= s.rank) return s;
    s.n = (size_t)s.dims[dim];
    s.step = s.strides[dim] * (ptrdiff_t)qdtype_size((qs_dtype)a->dtype);
    s.dims[dim] = 1;
    return s;
}

static qs_status along_on_device(qs_vm *vm, const Plan *p, Array *a, const Split *s, Array *r, bool *done) {
    AxisOp j = on_device(p, a, r);
    j.rank = s->rank, j.dims = s->dims, j.strides = s->strides;
    j.n = (int64_t)s->n, j.step = s->step / (ptrdiff_t)qdtype_size(p->from);
    return run_on_device(vm, p, &j, done);
}

/* Computes the variance on a device in two passes, as on the host: the means, then the squared deviations from them. */
static qs_status spread_along(qs_vm *vm, Array *a, const Split *s, double ddof, bool root, Array *r, bool *done) {
    Array *means;
    double n = (double)s->n;
    AxisOp j = {.name = root ? "std" : "var",
                .combine = COMBINE_ADD,
                .lane = QS_F64,
                .x = a,
                .rank = s->rank,
                .dims = s->dims,
                .strides = s->strides,
                .n = (int64_t)s->n,
                .step = s->step / (ptrdiff_t)qdtype_size((qs_dtype)a->dtype),
                .by = n};
    TRY(qarr_new(vm, QS_F64, s->rank, s->dims, false, &means));
    j.y = means;
    qs_status status = qaxisop_run(vm, &j, done);
    if (status == QS_OK && *done) {
        j.map = MAP_SQUARE, j.centres = means, j.y = r, j.by = n > ddof ? n - ddof : 1, j.root = root;
        status = qaxisop_run(vm, &j, done);
    }
    return qarr_release(vm, means), status;
}

qs_status qred_spread_of(qs_vm *vm, Array *a, int dim, double ddof, bool root, qs_dtype d, qs_value *out, bool *done) {
    Array *r;
    ptrdiff_t size = (ptrdiff_t)qdtype_size((qs_dtype)a->dtype);
    Split s = dim == DIM_ALL ? (Split){1, {1}, {0}, a->count, size} : split_shape(a, dim);
    *done = false;
    if (!qdevmath_asks(vm) || !a->count || qdtype_is_complex((qs_dtype)a->dtype)) return QS_OK;
    if (dim == DIM_ALL && !a->contiguous) return QS_OK;
    TRY(qarr_new(vm, dim == DIM_ALL ? QS_F64 : d, s.rank, s.dims, false, &r));
    qs_status status = spread_along(vm, a, &s, ddof, root, r, done);
    if (status == QS_OK && *done && dim != DIM_ALL) return qarr_keep(r, a->ndim), *out = qarr_value(r), QS_OK;
    if (status == QS_OK && *done) status = qarr_get(vm, r, 0, out);
    return qarr_release(vm, r), status;
}

static void open_nest(Nest *n, const Split *s, const void *in, qs_dtype from, const int64_t *out_strides, void *out,
                      qs_dtype to) {
    qstrided_begin(n, s->rank, s->dims);
    qstrided_operand(n, out, qdtype_size(to), s->rank, s->dims, out_strides);
    qstrided_operand(n, in, qdtype_size(from), s->rank, s->dims, s->strides);
    qstrided_fuse(n);
}

/* Returns whether to compute one result after the other.  Otherwise many results are computed side by side, which suits
 * a short dimension, or one with a large stride. */
static bool one_by_one(const Split *s, const Nest *n) {
    ptrdiff_t other = n->steps[1][n->rank - 1];
    if (n->dims[n->rank - 1] == 1) return true; /* there is only one */
    return s->n >= 32 && (s->step < 0 ? -s->step : s->step) <= (other < 0 ? -other : other);
}

static void total_row(const Plan *p, const Split *s, const char *row, Total *t) {
    t->used = 0;
    bool packed = s->step == (ptrdiff_t)qdtype_size(p->from) && (uintptr_t)row % qdtype_size(p->from) == 0;
    if (packed && add_floats(p, t, row, s->n)) return;
    add_run(p, t, row, s->step, s->n);
    merge_lanes(p, t);
}

static void results_one_by_one(const Plan *p, const Split *s, const Nest *n, ptrdiff_t unused) {
    Total t, centre;
    Plan c = plan_centre(p), q = *p;
    (void)unused;
    for (size_t i = 0; i < n->count; i++) {
        const char *row = n->at[1] + n->step[1] * (ptrdiff_t)i;
        if (p->r->centre) total_row(&c, s, row, &centre), q = with_centre(p, &centre.lanes, 1);
        total_row(&q, s, row, &t);
        finish_lanes(&q, &t.lanes, 1);
        qconv_run(p->lane, &t.lanes, 0, p->out, n->at[0] + n->step[0] * (ptrdiff_t)i, 0, 1);
    }
}

static void results_side_by_side(const Plan *p, const Split *s, const Nest *n, ptrdiff_t unused) {
    Lanes lanes, centres;
    Plan c = plan_centre(p), q = *p;
    (void)unused;
    for (size_t at = 0, m; at < n->count; at += m) {
        m = n->count - at < LANES ? n->count - at : LANES;
        const char *src = n->at[1] + n->step[1] * (ptrdiff_t)at;
        if (p->r->centre) {
            fetch_into(&c, src, n->step[1], m, &centres);
            merge_rows(&c, &centres, s->n - 1, src + s->step, s->step, n->step[1], m);
            q = with_centre(p, &centres, m);
        }
        fetch_into(&q, src, n->step[1], m, &lanes);
        merge_rows(&q, &lanes, s->n - 1, src + s->step, s->step, n->step[1], m);
        finish_lanes(&q, &lanes, m);
        qconv_run(p->lane, &lanes, (ptrdiff_t)qdtype_size(p->lane), p->out, n->at[0] + n->step[0] * (ptrdiff_t)at,
                  n->step[0], m);
    }
}

static qs_status fill_identity(qs_vm *vm, const Plan *p, Array *r) {
    if (r->count && p->r->refuses_empty)
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: the dimension is empty", p->r->name);
    return qarr_fill(vm, r, qs_num(p->r->empty));
}

/* Work that is distributed along one dimension of its results. */
typedef void Lines(const Plan *p, const Split *s, const Nest *n, ptrdiff_t out_step);
typedef struct {
    const Plan *p;
    const Split *s;
    const char *in;
    char *out;
    int64_t strides[QS_MAX_RANK]; /* strides of the result, in elements */
    ptrdiff_t out_step;           /* scan: stride of the result along the scanned dimension, in bytes */
    int axis;
    Lines *lines;
} Shares;

static void run_share(void *ud, int64_t first, int64_t last, int worker) {
    const Shares *x = ud;
    Split s = *x->s;
    Nest n;
    (void)worker;
    s.dims[x->axis] = last - first;
    open_nest(&n, &s, x->in + first * s.strides[x->axis] * (ptrdiff_t)qdtype_size(x->p->from), x->p->from, x->strides,
              x->out + first * x->strides[x->axis] * (ptrdiff_t)qdtype_size(x->p->out), x->p->out);
    while (qstrided_next(&n)) x->lines(x->p, &s, &n, x->out_step);
}

/* Distributes the work along the longest dimension of the results, in shares of about a block.  Results that are
 * neighbours in memory stay together. */
static void share_out(Ctx *c, Shares *x) {
    const Split *s = x->s;
    int64_t results = 1, least = 1;
    for (int d = 0; d < s->rank; d++) {
        results *= s->dims[d];
        if (s->dims[d] > s->dims[x->axis]) x->axis = d;
    }
    if (results == 0) return;
    int64_t n = s->dims[x->axis], work = results * (int64_t)s->n, shares = work / BLOCK;
    if (s->strides[x->axis] == 1) least = LANES / 2;
    int64_t share = shares > FEW ? (n + shares - 1) / shares : n;
    if (share < least) share = least;
    if (share >= n) run_share(x, 0, n, 0);
    else qthreads_run(qthreads_of(c), n, share, run_share, x);
}

static qs_status reduce_into(qs_vm *vm, Plan *p, Array *a, const Split *s, Array *r) {
    const void *in;
    void *out;
    Nest n;
    Shares x = {.p = p, .s = s};
    bool done = false;
    p->n = s->n;
    if (!r->count) return QS_OK; /* the other extents may be huge */
    if (!s->n) return fill_identity(vm, p, r);
    if (r->count && qdevmath_asks(vm) && !may_overflow(p)) TRY(along_on_device(vm, p, a, s, r, &done));
    if (done) return QS_OK;
    TRY(qarr_read(vm, a, &in));
    TRY(qarr_write(vm, r, &out));
    x.in = in, x.out = out;
    qarr_packed_strides(s->rank, s->dims, x.strides);
    open_nest(&n, s, in, p->from, x.strides, out, p->out);
    x.lines = one_by_one(s, &n) ? results_one_by_one : results_side_by_side;
    share_out(qvm_ctx(vm), &x);
    return QS_OK;
}

static qs_status check_dim(qs_vm *vm, const char *name, int dim) {
    if (dim >= 0 && dim < QS_MAX_RANK) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: the dimension must be 0 to %d, got %d", name, QS_MAX_RANK - 1, dim);
}

static qs_status reduce_along(qs_vm *vm, Plan *p, Array *a, int dim, Array **out) {
    Split s = split_shape(a, dim);
    TRY(qarr_new(vm, p->out, s.rank, s.dims, false, out));
    qarr_keep(*out, a->ndim);
    qs_status status = reduce_into(vm, p, a, &s, *out);
    if (status) qarr_release(vm, *out);
    return status;
}

static qs_status reduce_dim(qs_vm *vm, Plan *p, Array *a, int dim, qs_value *out) {
    Array *r, *rough;
    Plan doubles = estimate(*p);
    TRY(check_dim(vm, p->r->name, dim));
    TRY(reduce_along(vm, p, a, dim, &r));
    qs_status s = QS_OK;
    if (may_overflow(p)) {
        s = reduce_along(vm, &doubles, a, dim, &rough);
        if (!s) s = check_each(vm, p, r, rough);
    }
    if (s) return qarr_release(vm, r), s;
    *out = qarr_value(r);
    return QS_OK;
}

/* Finds positions in two passes: the extremes, then the first positions of elements that equal them. */
static qs_status places_of(qs_vm *vm, const Plan *p, Array *a, const Split *s, Array *extremes, Array *y, bool *done) {
    AxisOp j = {.name = p->r->name,
                .map = MAP_INDEX,
                .combine = COMBINE_MIN,
                .lane = QS_I64,
                .x = a,
                .y = y,
                .rank = s->rank,
                .dims = s->dims,
                .strides = s->strides,
                .n = (int64_t)s->n,
                .step = s->step / (ptrdiff_t)qdtype_size(p->from),
                .centres = extremes};
    TRY(along_on_device(vm, p, a, s, extremes, done));
    return *done ? qaxisop_run(vm, &j, done) : QS_OK;
}

qs_status qred_places(qs_vm *vm, Reduce r, Array *a, int dim, qs_value *out, bool *done) {
    enum { EXACT = 1 << 24 }; /* float32 holds all positions up to here; longer dimensions are left to the host */
    Plan p;
    Array *extremes, *y;
    ptrdiff_t size = (ptrdiff_t)qdtype_size((qs_dtype)a->dtype);
    Split s = dim == DIM_ALL ? (Split){1, {1}, {0}, a->count, size} : split_shape(a, dim);
    *done = false;
    if (!qdevmath_asks(vm) || !a->count || (dim == DIM_ALL && !a->contiguous)) return QS_OK;
    if (qdtype_is_complex((qs_dtype)a->dtype) || s.n > EXACT) return QS_OK;
    TRY(make_plan(vm, r, (qs_dtype)a->dtype, &p));
    if (may_overflow(&p)) return QS_OK;
    TRY(qarr_new(vm, p.out, s.rank, s.dims, false, &extremes));
    qs_status status = qarr_new(vm, qvm_ctx(vm)->scalar_dtype, s.rank, s.dims, false, &y);
    if (status) return qarr_release(vm, extremes), status;
    status = places_of(vm, &p, a, &s, extremes, y, done);
    qarr_release(vm, extremes);
    if (status == QS_OK && *done && dim != DIM_ALL) return qarr_keep(y, a->ndim), *out = qarr_value(y), QS_OK;
    if (status == QS_OK && *done) status = qarr_get(vm, y, 0, out);
    return qarr_release(vm, y), status;
}

/* Returns x as an array; a number becomes one element, in a type that represents it exactly. */
static qs_status as_array(qs_vm *vm, Reduce r, qs_value x, Array **out) {
    if (x.kind == QS_ARRAY) return *out = qval_array(qval_retain(x)), QS_OK;
    if (qval_is_scalar(x)) return qarr_from_value(vm, x, qoperand_meet(vm, 1, &x), out);
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined for %s", qreduction_info[r].name, qval_type_name(vm, x));
}

qs_status qred_run(qs_vm *vm, Reduce r, qs_value x, int dim, qs_value *out) {
    Plan p;
    Array *a;
    TRY(as_array(vm, r, x, &a));
    qs_status s = make_plan(vm, r, (qs_dtype)a->dtype, &p);
    if (!s) s = dim == DIM_ALL ? reduce_all(vm, &p, a, out) : reduce_dim(vm, &p, a, dim, out);
    qarr_release(vm, a);
    return s;
}

/* -- running results ----------------------------------------------------------------------------------------------- */
static void running_side_by_side(const Plan *p, const Split *s, const Nest *n, ptrdiff_t out_step) {
    Lanes lanes;
    ptrdiff_t size = (ptrdiff_t)qdtype_size(p->lane);
    for (size_t at = 0, m; at < n->count; at += m) {
        m = n->count - at < LANES ? n->count - at : LANES;
        const char *src = n->at[1] + n->step[1] * (ptrdiff_t)at;
        char *dst = n->at[0] + n->step[0] * (ptrdiff_t)at;
        for (size_t i = 0; i < s->n; i++, src += s->step, dst += out_step) {
            if (i) merge_row(p, &lanes, src, n->step[1], m);
            else fetch_into(p, src, n->step[1], m, &lanes);
            qconv_run(p->lane, &lanes, size, p->out, dst, n->step[0], m);
        }
    }
}

/* Scans along rows.  A row is divided into blocks: an element of the result is the result before its block, combined
 * with the running result within the block (see running32 in contiguous.h). */
#define STRANDS(name, T, OP)                                                                                           \
    static void name(void *lanes, size_t n) {                                                                          \
        T *x = lanes, sum[LANES / LOOP_STRAND];                                                                        \
        if (n < LANES) {                                                                                               \
            for (size_t i = 1; i < n; i++)                                                                             \
                if (i % LOOP_STRAND) x[i] = OP(x[i - 1], x[i]);                                                        \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t k = 0; k < LANES / LOOP_STRAND; k++) sum[k] = x[k * LOOP_STRAND];                                  \
        for (size_t i = 1; i < LOOP_STRAND; i++)                                                                       \
            for (size_t k = 0; k < LANES / LOOP_STRAND; k++)                                                           \
                x[k * LOOP_STRAND + i] = sum[k] = OP(sum[k], x[k * LOOP_STRAND + i]);                                  \
    }
#define PLUS(x, y)         ((x) + (y))
#define TIMES(x, y)        ((x) * (y))
#define PLUS_COMPLEX(x, y) ((QComplexD){(x).re + (y).re, (x).im + (y).im})
STRANDS(sums_F64, double, PLUS)
STRANDS(sums_U64, uint64_t, PLUS)
STRANDS(sums_C128, QComplexD, PLUS_COMPLEX)
STRANDS(products_F64, double, TIMES)
STRANDS(products_U64, uint64_t, TIMES)
STRANDS(products_C128, QComplexD, elem_mul_C128)

/* Computes the running results of each strand of a piece in place.  Sums and products only have these lane types. */
typedef void Strands(void *lanes, size_t n);
static Strands *strands_of(const Plan *p) {
    bool sum = p->r->combine == COMBINE_ADD;
    if (p->lane == QS_F64) return sum ? sums_F64 : products_F64;
    if (p->lane == QS_C128) return sum ? sums_C128 : products_C128;
    return sum ? sums_U64 : products_U64;
}

typedef struct {
    const Plan *p;
    const Split *s;
    Strands *strands;
    Loop *shift; /* combines a number with the lanes */
    const char *src;
    char *dst;
    ptrdiff_t out_step;
    QComplexD *before;  /* before[k]: result of all elements before block k, k > 0 */
    ThreadsChain chain; /* order of the blocks among the threads */
} Running;

/* Returns whether the special loops for running sums of contiguous floats apply. */
static bool runs_floats(const Running *r) {
    const Plan *p = r->p;
    ptrdiff_t size = (ptrdiff_t)qdtype_size(p->from);
    return p->r->combine == COMBINE_ADD && (p->from == QS_F32 || p->from == QS_F64) && p->out == p->from &&
           r->s->step == size && r->out_step == size && (uintptr_t)r->src % (size_t)size == 0;
}

static double run_floats(const Running *r, size_t at, size_t n, const QComplexD *before, bool write) {
    double first = before ? before->re : -0.0;
    size_t size = qdtype_size(r->p->from);
    const void *x = r->src + at * size;
    void *y = write ? r->dst + at * size : NULL;
    return size == sizeof(float) ? qcontig_loops()->running32(n, x, first, y)
                                 : qcontig_loops()->running64(n, x, first, y);
}

/* Scans block k and returns the result of the block alone.  write: also stores the elements, combined with *before
 * (NULL: nothing precedes). */
static QComplexD running_block(const Running *r, size_t k, const QComplexD *before, bool write) {
    Lanes lanes;
    QComplexD sum = {0, 0};
    const Plan *p = r->p;
    size_t size = qdtype_size(p->lane), begin = k * BLOCK, end = r->s->n - begin < BLOCK ? r->s->n : begin + BLOCK;
    if (runs_floats(r)) return (QComplexD){run_floats(r, begin, end - begin, before, write), 0};
    for (size_t at = begin, n; at < end; at += n) {
        n = end - at < LANES ? end - at : LANES;
        fetch_into(p, r->src + r->s->step * (ptrdiff_t)at, r->s->step, n, &lanes);
        r->strands(&lanes, n);
        for (size_t i = 0, m; i < n; i += m) {
            char *x = (char *)&lanes + i * size;
            m = n - i < LOOP_STRAND ? n - i : LOOP_STRAND;
            if (at + i > begin) r->shift(m, &sum, x, x);
            memcpy(&sum, x + (m - 1) * size, size);
        }
        if (!write) continue;
        if (before) r->shift(n, before, &lanes, &lanes);
        qconv_run(p->lane, &lanes, (ptrdiff_t)size, p->out, r->dst + r->out_step * (ptrdiff_t)at, r->out_step, n);
    }
    return sum;
}

/* Stores the result before block k + 1 and announces it; only the first thread that has summed block k does so. */
static void hand_on(Running *r, int64_t k, QComplexD block) {
    if (!qthreads_claim(&r->chain, k)) return;
    if (k) r->shift(1, &r->before[k], &block, &r->before[k + 1]);
    else r->before[1] = block;
    qthreads_hand_on(&r->chain, k);
}

/* Processes blocks in their order, each by a free thread.  The result of a block is passed on before its elements,
 * which
 * are then still in the cache, are written.  A thread that waits too long for a preceding block sums it itself. */
static void run_blocks(void *ud, int64_t first, int64_t last, int worker) {
    Running *r = ud;
    (void)worker;
    for (; first < last; first++) {
        int64_t k = qthreads_take(&r->chain), known;
        QComplexD block = running_block(r, (size_t)k, NULL, false);
        while ((known = qthreads_await(&r->chain, k)) < k)
            hand_on(r, known, running_block(r, (size_t)known, NULL, false));
        hand_on(r, k, block);
        running_block(r, (size_t)k, k ? &r->before[k] : NULL, true);
    }
}

static size_t blocks_of(const Split *s) { return (s->n + BLOCK - 1) / BLOCK; }

static Running open_running(const Plan *p, const Split *s, ptrdiff_t out_step) {
    return (Running){.p = p,
                     .s = s,
                     .strands = strands_of(p),
                     .shift = qcontig_get(loop_of(p), p->lane, LOOP_SV),
                     .out_step = out_step};
}

/* Scans rows by one thread, which knows the result before each block when it reaches the block. */
static void running_rows(const Plan *p, const Split *s, const Nest *n, ptrdiff_t out_step) {
    Running r = open_running(p, s, out_step);
    for (size_t i = 0; i < n->count; i++) {
        QComplexD before, block;
        r.src = n->at[1] + n->step[1] * (ptrdiff_t)i, r.dst = n->at[0] + n->step[0] * (ptrdiff_t)i;
        for (size_t k = 0; k < blocks_of(s); k++) {
            block = running_block(&r, k, k ? &before : NULL, true);
            if (k) r.shift(1, &before, &block, &before);
            else before = block;
        }
    }
}

/* Scans long rows one after the other, each by all threads. */
static void running_long_rows(Ctx *c, const Plan *p, const Split *s, Nest *n, ptrdiff_t out_step) {
    Running r = open_running(p, s, out_step);
    size_t blocks = blocks_of(s), bytes = qmem_size(blocks, sizeof *r.before, sizeof *r.before);
    r.before = qmem_alloc(c, bytes);
    while (qstrided_next(n))
        for (size_t i = 0; i < n->count; i++) {
            r.src = n->at[1] + n->step[1] * (ptrdiff_t)i, r.dst = n->at[0] + n->step[0] * (ptrdiff_t)i;
            r.chain = (ThreadsChain){0};
            qthreads_run(qthreads_of(c), (int64_t)blocks, 1, run_blocks, &r);
        }
    qmem_free(c, r.before, bytes);
}

static qs_status running_on_device(qs_vm *vm, const Plan *p, Array *a, int dim, Array *y, bool *done) {
    Split s = split_shape(a, dim), to = split_shape(y, dim);
    AxisOp j = on_device(p, a, y);
    *done = false;
    if (!a->count || !qdevmath_asks(vm) || may_overflow(p)) return QS_OK;
    j.rank = s.rank, j.dims = s.dims, j.strides = s.strides, j.y_strides = to.strides;
    j.n = (int64_t)s.n, j.step = s.step / (ptrdiff_t)qdtype_size(p->from);
    j.y_step = to.step / (ptrdiff_t)qdtype_size(p->out);
    return qaxisop_run(vm, &j, done);
}

static qs_status run_into(qs_vm *vm, const Plan *p, Array *a, int dim, Array *result) {
    int64_t dims[QS_MAX_RANK];
    const void *in;
    void *out;
    bool done;
    Nest n;
    int rank = qarr_size(a, dims);
    if (!a->count) return QS_OK; /* the other extents may be huge */
    TRY(running_on_device(vm, p, a, dim, result, &done));
    if (done) return QS_OK;
    TRY(qarr_read(vm, a, &in));
    TRY(qarr_write(vm, result, &out));
    Split s = split_shape(a, dim);
    Shares x = {.p = p, .s = &s, .in = in, .out = out};
    qarr_packed_strides(rank, dims, x.strides);
    x.out_step = dim < rank ? x.strides[dim] * (ptrdiff_t)qdtype_size(p->out) : 0;
    open_nest(&n, &s, in, p->from, x.strides, out, p->out);
    bool rows = one_by_one(&s, &n);
    if (rows && blocks_of(&s) > FEW && qthreads_count(qthreads_of(qvm_ctx(vm))) > 1) {
        running_long_rows(qvm_ctx(vm), p, &s, &n, x.out_step);
        return QS_OK;
    }
    x.lines = rows ? running_rows : running_side_by_side;
    share_out(qvm_ctx(vm), &x);
    return QS_OK;
}

static qs_status run_along(qs_vm *vm, const Plan *p, Array *a, int dim, Array **result) {
    TRY(qarr_like(vm, a, p->out, result));
    qs_status s = run_into(vm, p, a, dim, *result);
    if (s) qarr_release(vm, *result);
    return s;
}

qs_status qred_cum(qs_vm *vm, Reduce r, Array *a, int dim, Array **result) {
    Plan p, doubles;
    Array *rough;
    TRY(check_dim(vm, qreduction_info[r].name, dim));
    TRY(make_plan(vm, r, (qs_dtype)a->dtype, &p));
    TRY(run_along(vm, &p, a, dim, result));
    if (!may_overflow(&p)) return QS_OK;
    doubles = estimate(p);
    qs_status s = run_along(vm, &doubles, a, dim, &rough);
    if (!s) s = check_each(vm, &p, *result, rough);
    if (s) qarr_release(vm, *result);
    return s;
}
