/* moving.c -- computes the smallest or largest element of a window that moves along one dimension, or along rows and
 * columns.
 *
 *     extremes of 1, 4, 16, ... neighbours, each from four of the previous step  ──  the last step covers the window
 *
 * Each step is one loop over contiguous vectors (ExtremeLoop).  Along columns the vectors are rows of a tile, and each
 * step keeps only the last rows that the next one reads.  Along rows they are the same row at four offsets.  Rows and
 * columns outside the array are copies of the nearest one inside: a window that reaches them includes that one, too. */
#include "devices/pool.h"
#include "devices/threads.h"
#include "stdlib/builtins.h"
#include "stdlib/stencil.h"
#include "vm/array/convert.h"
#include "vm/array/device_math.h"
#include "vm/program/module.h"
#include "vm/value/machine.h"

#include <string.h>

enum {
    RING = 1 << 17,   /* bytes of the rows that are kept, which stay in the cache */
    NARROW = 128,     /* bytes of a row up to which neighbours along a dimension count as neighbours in a row */
    LEAST_ROW = 1024, /* bytes of a row of a tile */
    MOST_ROW = 1 << 14,
    LEAST_ROWS = 64,    /* rows of a tile */
    ELEMENTS = 1 << 15, /* minimum number of elements per thread */
    MOST_STEPS = 32     /* 4^32 elements exceed every window */
};

typedef struct {
    size_t n, before, after;       /* positions; the window reaches from k - before to k + after */
    size_t length, tiles;          /* positions of a tile, and the number of tiles */
    size_t extent[MOST_STEPS + 1]; /* elements that are compared after each step; the last one is the window */
    size_t steps;
} Side;

/* The array is outer x side[0].n x side[1].n x inner. */
typedef struct {
    qs_vm *vm;
    size_t outer, inner;
    Side side[2];
    qs_dtype d, work; /* of the elements and of the work space */
    ExtremeLoop *extreme;
    const char *src;
    char *dst, *scratch;
    size_t row, extended,
        bytes; /* bytes of a row that is kept, of one that is extended, and of the work space of a thread */
} Moving;

static size_t divide_up(size_t n, size_t by) { return (n + by - 1) / by; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* -- a tile -------------------------------------------------------------------------------------------------------- */
/* Sets the offsets of the four windows of step k - 1 of which a window of step k consists. */
static void set_offsets(const Side *s, size_t k, size_t offset[4]) {
    size_t have = s->extent[k - 1], last = s->extent[k] - have;
    for (size_t i = 0; i < 4; i++) offset[i] = smaller(i * have, last);
    offset[3] = last;
}

static void convert_row(qs_dtype from, const char *x, qs_dtype to, char *y, size_t n) {
    qconv_run(from, x, (ptrdiff_t)qdtype_size(from), to, y, (ptrdiff_t)qdtype_size(to), n);
}

/* Returns how many rows of step k are kept; step 0 are the elements, which are kept only if they are converted. */
static size_t rows_kept(const Moving *m, size_t k) {
    const Side *s = &m->side[0];
    return k >= s->steps || (k == 0 && m->work == m->d) ? 0 : s->extent[k + 1] - s->extent[k] + 1;
}

/* Rows of a tile. */
typedef struct {
    const Moving *m;
    const char *src;              /* the first row of the array, at the first column that the tile reads */
    size_t n;                     /* elements of a row, including neighbours of the tile */
    char *ring[MOST_STEPS], *row; /* rows that are kept; the row that is extended */
} Rows;

static const char *source_row(const Rows *r, int64_t y) {
    const Moving *m = r->m;
    int64_t last = (int64_t)m->side[0].n - 1;
    y = y < 0 ? 0 : y > last ? last : y;
    return r->src + (size_t)y * m->side[1].n * m->inner * qdtype_size(m->d);
}

static char *kept_row(const Rows *r, size_t k, size_t y) { return r->ring[k] + y % rows_kept(r->m, k) * r->m->row; }

/* Computes all steps that the windows ending at row `y` complete, and stores the last one in `to`.  Row y of a step is
 * that of the windows that begin at row y - before; `first` is the first row that is needed. */
static void run_rows(const Rows *r, size_t y, size_t first, char *to) {
    const Moving *m = r->m;
    const Side *s = &m->side[0];
    bool converted = m->work != m->d;
    const char *src = source_row(r, (int64_t)y - (int64_t)s->before);
    if (converted) convert_row(m->d, src, m->work, s->steps ? kept_row(r, 0, y) : to, r->n);
    else if (s->steps == 0) memcpy(to, src, r->n * qdtype_size(m->d));
    for (size_t k = 1; k <= s->steps && y + 1 >= first + s->extent[k]; k++) {
        size_t at = y + 1 - s->extent[k], offset[4];
        const void *from[4];
        set_offsets(s, k, offset);
        for (size_t i = 0; i < 4; i++) {
            size_t row = at + offset[i];
            from[i] = k > 1 || converted ? kept_row(r, k - 1, row) : source_row(r, (int64_t)row - (int64_t)s->before);
        }
        m->extreme(from, r->n, k == s->steps ? to : kept_row(r, k, at));
    }
}

/* Stores n copies of the `size` bytes at x. */
static void fill_copies(char *to, const char *x, size_t n, size_t size) {
    if (n) memcpy(to, x, size);
    for (size_t done = 1; done < n; done *= 2) memcpy(to + done * size, to, smaller(done, n - done) * size);
}

/* Computes the extremes of the windows of `length` positions along the row, which was extended on both sides. */
static void run_columns(const Rows *r, size_t length, char *to) {
    const Moving *m = r->m;
    const Side *s = &m->side[1];
    size_t step = m->inner * qdtype_size(m->work), n = length + s->before + s->after;
    for (size_t k = 1; k <= s->steps; k++) {
        size_t offset[4];
        const void *from[4];
        set_offsets(s, k, offset);
        for (size_t i = 0; i < 4; i++) from[i] = r->row + offset[i] * step;
        m->extreme(from, (n + 1 - s->extent[k]) * m->inner, k == s->steps ? to : r->row);
    }
}

/* Computes `length[i]` positions of both sides, from at[i] on. */
static void run_tile(const Moving *m, size_t outer, const size_t at[2], const size_t length[2], char *scratch) {
    const Side *s = m->side;
    size_t size = qdtype_size(m->d), pixel = m->inner * qdtype_size(m->work);
    size_t left = smaller(s[1].before, at[1]), right = smaller(s[1].after, s[1].n - at[1] - length[1]);
    size_t extent = s[0].before + 1 + s[0].after;
    Rows r = {.m = m, .n = (left + length[1] + right) * m->inner, .row = scratch};
    r.src = m->src + (outer * s[0].n * s[1].n + at[1] - left) * m->inner * size;
    char *converted = scratch + m->extended, *kept = converted + m->extended;
    for (size_t k = 0; k < s[0].steps; kept += rows_kept(m, k++) * m->row) r.ring[k] = kept;
    char *inside = r.row + (s[1].before - left) * pixel;
    for (size_t y = at[0]; y < at[0] + length[0] + extent - 1; y++) {
        size_t row = y + 1 < at[0] + extent ? at[0] : y + 1 - extent;
        char *dst = m->dst + (((outer * s[0].n + row) * s[1].n + at[1]) * m->inner) * size;
        char *to = m->work == m->d ? dst : converted;
        run_rows(&r, y, at[0], s[1].steps ? inside : to);
        if (y + 1 < at[0] + extent) continue;
        if (s[1].steps) {
            fill_copies(r.row, inside, s[1].before - left, pixel);
            fill_copies(inside + r.n * qdtype_size(m->work), inside + r.n * qdtype_size(m->work) - pixel,
                        s[1].after - right, pixel);
            run_columns(&r, length[1], to);
        }
        if (to != dst) convert_row(m->work, to, m->d, dst, length[1] * m->inner);
    }
}

static void run_tiles(void *ud, int64_t first, int64_t last, int worker) {
    const Moving *m = ud;
    const Side *s = m->side;
    for (size_t i = (size_t)first; i < (size_t)last && !qflag_is_up(&qvm(m->vm)->interrupted); i++) {
        size_t at[] = {i / s[1].tiles % s[0].tiles * s[0].length, i % s[1].tiles * s[1].length}, length[2];
        for (int k = 0; k < 2; k++) length[k] = smaller(s[k].length, s[k].n - at[k]);
        run_tile(m, i / (s[0].tiles * s[1].tiles), at, length, m->scratch + (size_t)worker * m->bytes);
    }
}

static void plan_steps(Side *s, bool always) {
    size_t window = s->before + 1 + s->after;
    s->extent[0] = 1, s->steps = 0;
    while (s->extent[s->steps] < window || (always && s->steps == 0)) {
        s->extent[s->steps + 1] = smaller(4 * s->extent[s->steps], window);
        s->steps++;
    }
}

static void divide_side(Side *s, size_t length) {
    s->tiles = divide_up(s->n, smaller(length, s->n));
    s->length = divide_up(s->n, s->tiles);
    s->tiles = divide_up(s->n, s->length);
}

/* Chooses the steps and the extents of tiles; returns how many tiles there are.  Even a window of one element takes a
 * step, which replaces -0 by 0. */
static size_t divide_array(Moving *m) {
    Side *s = m->side;
    size_t pixel = m->inner * qdtype_size(m->work), window = s[0].before + 1 + s[0].after;
    size_t around = s[1].before + s[1].after, columns = RING / window / pixel, least = 1 + LEAST_ROW / pixel;
    plan_steps(&s[0], false);
    plan_steps(&s[1], s[0].steps == 0);
    if (columns > MOST_ROW / pixel) columns = MOST_ROW / pixel;
    if (columns < least) columns = least;
    divide_side(&s[1], columns + 2 * around);
    divide_side(&s[0], LEAST_ROWS + 4 * window);
    m->extended = (qmem_size(s[1].length + around, pixel, 0) + 63) & ~(size_t)63;
    m->row = (qmem_size(smaller(s[1].length + around, s[1].n), pixel, 0) + 63) & ~(size_t)63;
    size_t rows = 0;
    for (size_t k = 0; k < s[0].steps; k++) rows += rows_kept(m, k);
    m->bytes = qmem_size(rows, m->row, 2 * m->extended);
    return m->outer * s[0].tiles * s[1].tiles;
}

/* -- arguments ----------------------------------------------------------------------------------------------------- */
/* Reads the window: how many elements are before and behind the element itself; with `plane` above it and below it,
 * and on its left and right. */
static qs_status read_window(qs_vm *vm, qs_call_args *c, size_t around[4], bool *plane) {
    static const char *const wanted =
        "%s: window must be a number of elements, at least 1, [before, after] or, without dim, "
        "[above, below; left, right]";
    int64_t n;
    Array *a = c->in[1].kind == QS_ARRAY ? qval_array(c->in[1]) : NULL;
    bool pair = a && a->count == 2 && !qdtype_is_complex((qs_dtype)a->dtype);
    *plane = a && a->count == 4 && a->dims[0] == 2 && !qdtype_is_complex((qs_dtype)a->dtype) && !qarg_given(c, 2);
    if (pair || *plane) {
        for (size_t i = 0; i < a->count; i++) {
            qs_value x = qs_num(0);
            TRY(qarr_get(vm, a, i, &x));
            TRY(qarg_count(vm, c->name, "window", x, &n));
            around[i] = (size_t)n;
        }
        return QS_OK;
    }
    if (a && a->count != 1) return qs_fail(vm, QS_ESHAPE, wanted, c->name);
    TRY(qarg_count(vm, c->name, "window", c->in[1], &n));
    if (n < 1) return qs_fail(vm, QS_EVALUE, wanted, c->name);
    around[0] = (size_t)n / 2, around[1] = (size_t)n - 1 - around[0];
    return QS_OK;
}

static void set_side(Side *s, size_t n, size_t before, size_t after) {
    size_t most = n ? n - 1 : 0;
    *s = (Side){.n = n, .before = smaller(before, most), .after = smaller(after, most)};
}

/* Describes the array for one window: as rows, unless neighbours along the dimension are far from each other. */
static void set_lines(Moving *m, const ArrayLines *l, size_t before, size_t after) {
    bool narrow = l->inner * qdtype_size(m->d) <= NARROW;
    m->outer = narrow ? 1 : l->outer, m->inner = narrow ? l->inner : 1;
    set_side(&m->side[narrow], l->n, before, after);
    set_side(&m->side[!narrow], narrow ? l->outer : l->inner, 0, 0);
}

/* Reads the windows and the dimensions along which they move. */
static qs_status read_sides(qs_vm *vm, qs_call_args *c, const Array *a, Moving *m) {
    size_t around[4];
    bool plane;
    TRY(read_window(vm, c, around, &plane));
    int dim = plane ? 0 : qstats_main_dim(a);
    if (qarg_given(c, 2)) TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[2], &dim));
    ArrayLines l = qstats_lines(a, dim);
    set_lines(m, &l, around[0], around[1]);
    if (!plane || !a->count) return QS_OK;
    ArrayLines rows = qstats_lines(a, 1);
    if (l.n == 1 || around[0] + around[1] == 0) set_lines(m, &rows, around[2], around[3]);
    else if (rows.n > 1 && around[2] + around[3]) {
        m->outer = 1, m->inner = rows.inner;
        set_side(&m->side[0], l.n, around[0], around[1]);
        set_side(&m->side[1], rows.n, around[2], around[3]);
    }
    return QS_OK;
}

static qs_status run_by_kernel(qs_vm *vm, qs_call_args *c, const Array *a, const Moving *m, bool least) {
    qs_value fn, x = c->in[0];
    size_t outer = m->outer, inner = m->side[1].n * m->inner;
    TRY(qmod_library(vm, "moving.q", "moving_extreme", &fn));
    for (int k = 0; k < 2; k++) {
        const Side *s = &m->side[k];
        bool needed = s->before + s->after || (k == 1 && x.u.p == c->in[0].u.p);
        qs_value y = qs_nil(), in[7] = {x,
                                        qs_num((double)outer),
                                        qs_num((double)s->n),
                                        qs_num((double)inner),
                                        qs_num((double)s->before),
                                        qs_num((double)s->after),
                                        qs_num(least)};
        if (needed) {
            qs_status e = qvm_call(vm, fn, 7, in, 1, &y);
            if (x.u.p != c->in[0].u.p) qs_release(vm, x);
            TRY(e);
            x = y;
        }
        outer *= s->n, inner = m->inner;
    }
    c->out[0] = x;
    qarg_keep(c->out[0], a);
    return QS_OK;
}

static qs_status run_window(qs_vm *vm, qs_call_args *c, bool least) {
    Array *a, *y;
    const void *p;
    void *q;
    Moving m = {.vm = vm};
    TRY(qarg_array(vm, c, 0, "x", &a));
    m.d = (qs_dtype)a->dtype;
    if (qdtype_is_complex(m.d)) return qarg_wrong(vm, c->name, "x", "real", c->in[0]);
    TRY(read_sides(vm, c, a, &m));
    bool floats = m.d == QS_F16 || m.d == QS_BF16 || m.d == QS_F32 || m.d == QS_F64;
    if (a->count && floats && c->in[0].kind == QS_ARRAY && qdevmath_by_kernels(vm, c->name, a, a, (double)a->count)) {
        qs_status s = run_by_kernel(vm, c, a, &m, least);
        if (!qdevmath_left(vm, c->name, a, a, s)) return s;
    }
    TRY(qarg_packed(vm, c, 0, "x", m.d, &a, &p));
    TRY(qarg_result_like(vm, c, 0, m.d, a, &y, &q));
    if (!a->count) return QS_OK;
    m.work = m.d == QS_F16 || m.d == QS_BF16 ? QS_F32 : m.d;
    m.extreme = (least ? qstencil_loops()->least : qstencil_loops()->most)[qstencil_type(m.work)];
    m.src = p, m.dst = q;
    Threads *t = qthreads_of(qvm_ctx(vm));
    int64_t tiles = (int64_t)divide_array(&m);
    int64_t grain = 1 + (int64_t)(ELEMENTS / (m.side[0].length * m.side[1].length * m.inner));
    size_t bytes = qmem_size((size_t)qthreads_workers(t, tiles, grain), m.bytes, 0);
    if (!(m.scratch = qpool_get(qvm_ctx(vm), bytes)))
        return qs_fail(vm, QS_ENOMEM, "%s: no memory for its tiles", c->name);
    qdoing_stage(&qvm_ctx(vm)->doing, 0, 1, 0);
    qthreads_run(t, tiles, grain, run_tiles, &m);
    qpool_put(qvm_ctx(vm), m.scratch, bytes);
    return QS_OK;
}

/* movmin(x, window [, dim]), movmax(x, window [, dim]) */
qs_status qmoving_min(qs_vm *vm, qs_call_args *c) { return run_window(vm, c, true); }
qs_status qmoving_max(qs_vm *vm, qs_call_args *c) { return run_window(vm, c, false); }
