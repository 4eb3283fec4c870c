/* moving.c -- computes the smallest or largest element of a window that moves along a dimension.
 *
 *     extremes of 1, 2, 4, 8, ... neighbours, each from two of the previous step  ──  two of them cover the window
 *
 * A tile of the array is copied to a work space, with elements around it that never win.  In the work space neighbours
 * along the dimension have a constant distance, so that each step is one loop over two contiguous vectors
 * (StencilLoops), whatever the dimension is.  The number of steps is the logarithm of the extent of the window. */
#include "devices/pool.h"
#include "devices/threads.h"
#include "stdlib/builtins.h"
#include "stdlib/stencil.h"
#include "vm/array/contiguous.h"
#include "vm/array/convert.h"
#include "vm/array/device_math.h"
#include "vm/program/module.h"
#include "vm/value/machine.h"

#include <math.h>
#include <string.h>

enum {
    TILE = 1 << 17,    /* bytes of a tile, which stays in the cache */
    RUN = 1024,        /* bytes of a row of a tile; shorter ones are loaded slowly */
    ELEMENTS = 1 << 15 /* minimum number of elements per thread */
};

/* A tile has `count` blocks of `length` positions, each with `columns` elements that are contiguous in the array. */
typedef struct {
    qs_vm *vm;
    ArrayLines lines;
    qs_dtype d, work; /* of the elements and of the work space */
    size_t before, after;
    size_t count, length, columns;
    size_t along, across; /* number of tiles along the dimension and across it */
    PairLoop *pair;
    unsigned char neutral[8]; /* the element that never wins */
    const char *src;
    char *dst, *scratch;
    size_t bytes;
} Moving;

static size_t divide_up(size_t n, size_t by) { return (n + by - 1) / by; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static int pair_type(qs_dtype d) {
    switch (d) {
    case QS_I8: return KEY_I8;
    case QS_I16: return KEY_I16;
    case QS_U16: return KEY_U16;
    case QS_I32: return KEY_I32;
    case QS_U32: return KEY_U32;
    case QS_I64: return KEY_I64;
    case QS_U64: return KEY_U64;
    case QS_F32: return PAIR_F32;
    case QS_F64: return PAIR_F64;
    default: return KEY_U8;
    }
}

/* Sets the element that loses against every other one: NaN, or the last integer of the type. */
static void set_neutral(Moving *m, bool least) {
    size_t size = qdtype_size(m->work);
    float narrow = NAN;
    double wide = NAN;
    if (m->work == QS_F32) memcpy(m->neutral, &narrow, size);
    else if (m->work == QS_F64) memcpy(m->neutral, &wide, size);
    else {
        bool has_sign = m->work == QS_I8 || m->work == QS_I16 || m->work == QS_I32 || m->work == QS_I64;
        memset(m->neutral, least ? 0xff : 0, size);
        if (has_sign) m->neutral[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? size - 1 : 0] ^= 0x80;
    }
}

/* -- a tile -------------------------------------------------------------------------------------------------------- */
static void fill_neutral(const Moving *m, char *to, size_t n) {
    size_t size = qdtype_size(m->work);
    if (n == 0) return;
    memcpy(to, m->neutral, size);
    for (size_t done = 1; done < n; done *= 2) memcpy(to + done * size, to, smaller(done, n - done) * size);
}

/* Copies n elements to the work space.  -0 becomes 0. */
static void load_elements(const Moving *m, const char *from, size_t n, char *to) {
    if (m->work == m->d) memcpy(to, from, n * qdtype_size(m->d));
    else qconv_run(m->d, from, (ptrdiff_t)qdtype_size(m->d), m->work, to, (ptrdiff_t)qdtype_size(m->work), n);
    if (m->work == QS_F32)
        for (size_t i = 0; i < n; i++) ((float *)(void *)to)[i] += 0.0f;
    if (m->work == QS_F64)
        for (size_t i = 0; i < n; i++) ((double *)(void *)to)[i] += 0.0;
}

static void store_elements(const Moving *m, const char *from, size_t n, char *to) {
    if (m->work == m->d) memcpy(to, from, n * qdtype_size(m->d));
    else qconv_run(m->work, from, (ptrdiff_t)qdtype_size(m->work), m->d, to, (ptrdiff_t)qdtype_size(m->d), n);
}

/* Replaces each of the n elements by the extreme of the window of `extent` elements that begins there.  Neighbours in a
 * window are `step` elements apart. */
static void take_extremes(const Moving *m, char *x, size_t n, size_t extent, size_t step) {
    size_t size = qdtype_size(m->work), have = 1;
    for (; 2 * have <= extent; have *= 2) n -= have * step, m->pair(x, x + have * step * size, n, x);
    if (have < extent) m->pair(x, x + (extent - have) * step * size, n - (extent - have) * step, x);
}

static void run_tile(const Moving *m, size_t outer, size_t count, size_t at, size_t column, char *scratch) {
    size_t n = m->lines.n, inner = m->lines.inner, size = qdtype_size(m->d), work = qdtype_size(m->work);
    size_t columns = smaller(m->columns, inner - column), length = smaller(m->length, n - at);
    size_t extent = m->before + 1 + m->after, rows = length + extent - 1, row = columns * work;
    size_t first = at > m->before ? at - m->before : 0, end = smaller(n, at + length + m->after);
    size_t skipped = first + m->before - at;
    for (size_t k = 0; k < count; k++) {
        char *to = scratch + k * rows * row;
        const char *from = m->src + ((outer + k) * n * inner + column) * size;
        fill_neutral(m, to, skipped * columns);
        char *inside = to + skipped * row;
        if (columns == inner) load_elements(m, from + first * inner * size, (end - first) * inner, inside);
        else
            for (size_t i = first; i < end; i++, inside += row)
                load_elements(m, from + i * inner * size, columns, inside);
        fill_neutral(m, to + (skipped + end - first) * row, (rows - skipped - (end - first)) * columns);
    }
    take_extremes(m, scratch, count * rows * columns, extent, columns);
    for (size_t k = 0; k < count; k++) {
        const char *from = scratch + k * rows * row;
        char *to = m->dst + (((outer + k) * n + at) * inner + column) * size;
        if (columns == inner) store_elements(m, from, length * inner, to);
        else
            for (size_t i = 0; i < length; i++) store_elements(m, from + i * row, columns, to + i * inner * size);
    }
}

static void run_tiles(void *ud, int64_t first, int64_t last, int worker) {
    const Moving *m = ud;
    char *scratch = m->scratch + (size_t)worker * m->bytes;
    for (size_t i = (size_t)first; i < (size_t)last && !qflag_is_up(&qvm(m->vm)->interrupted); i++) {
        size_t outer = i / (m->along * m->across) * m->count;
        run_tile(m, outer, smaller(m->count, m->lines.outer - outer), i / m->across % m->along * m->length,
                 i % m->across * m->columns, scratch);
    }
}

/* Chooses the extents of tiles; returns how many there are. */
static size_t divide_array(Moving *m) {
    const ArrayLines *l = &m->lines;
    size_t size = qdtype_size(m->work), around = m->before + m->after, most = TILE / size;
    size_t columns = smaller(l->inner, RUN / size), length = most / columns;
    m->length = smaller(l->n, length > 2 * around ? length - around : around + 1);
    m->columns = smaller(l->inner, most / (m->length + around));
    if (m->columns < columns) m->columns = columns;
    m->count = most / ((m->length + around) * m->columns);
    if (m->count == 0 || m->length < l->n || m->columns < l->inner) m->count = 1;
    m->count = smaller(m->count, l->outer);
    m->along = divide_up(l->n, m->length), m->across = divide_up(l->inner, m->columns);
    m->bytes = qmem_size(qmem_size(qmem_size(m->count, m->length + around, 0), m->columns, 0), size, 0);
    return divide_up(l->outer, m->count) * m->along * m->across;
}

/* -- arguments ----------------------------------------------------------------------------------------------------- */
/* Reads the window: the number of elements, or how many of them are before and behind the element itself. */
static qs_status window_of(qs_vm *vm, qs_call_args *c, size_t *before, size_t *after) {
    static const char *const wanted = "%s: window must be a number of elements, at least 1, or [before, after]";
    int64_t n[2];
    Array *a = c->in[1].kind == QS_ARRAY ? qval_array(c->in[1]) : NULL;
    if (a && a->count == 2 && !qdtype_is_complex((qs_dtype)a->dtype)) {
        for (size_t i = 0; i < 2; i++) {
            qs_value x = qs_num(0);
            TRY(qarr_get(vm, a, i, &x));
            TRY(qarg_count(vm, c->name, "window", x, &n[i]));
        }
        *before = (size_t)n[0], *after = (size_t)n[1];
        return QS_OK;
    }
    if (a && a->count != 1) return qs_fail(vm, QS_ESHAPE, wanted, c->name);
    TRY(qarg_count(vm, c->name, "window", c->in[1], &n[0]));
    if (n[0] < 1) return qs_fail(vm, QS_EVALUE, wanted, c->name);
    *before = (size_t)n[0] / 2, *after = (size_t)n[0] - 1 - *before;
    return QS_OK;
}

static qs_status run_by_kernel(qs_vm *vm, qs_call_args *c, const Array *a, const Moving *m, bool least) {
    qs_value fn, in[7] = {c->in[0],
                          qs_num((double)m->lines.outer),
                          qs_num((double)m->lines.n),
                          qs_num((double)m->lines.inner),
                          qs_num((double)m->before),
                          qs_num((double)m->after),
                          qs_num(least)};
    TRY(qmod_library(vm, "moving.q", "moving_extreme", &fn));
    c->out[0] = qs_nil();
    TRY(qvm_call(vm, fn, 7, in, 1, &c->out[0]));
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
    TRY(window_of(vm, c, &m.before, &m.after));
    int dim = qstats_main_dim(a);
    if (qarg_given(c, 2)) TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[2], &dim));
    m.lines = qstats_lines(a, dim);
    if (m.lines.n) m.before = smaller(m.before, m.lines.n - 1), m.after = smaller(m.after, m.lines.n - 1);
    bool floats = m.d == QS_F16 || m.d == QS_BF16 || m.d == QS_F32 || m.d == QS_F64;
    if (a->count && floats && c->in[0].kind == QS_ARRAY && qdevmath_by_kernels(vm, c->name, a, a, (double)a->count)) {
        qs_status s = run_by_kernel(vm, c, a, &m, least);
        if (!qdevmath_left(vm, c->name, a, a, s)) return s;
    }
    TRY(qarg_packed(vm, c, 0, "x", m.d, &a, &p));
    TRY(qarg_result_like(vm, c, 0, m.d, a, &y, &q));
    if (!a->count) return QS_OK;
    m.work = m.d == QS_F16 || m.d == QS_BF16 ? QS_F32 : m.d;
    m.pair = (least ? qstencil_loops()->least : qstencil_loops()->most)[pair_type(m.work)];
    m.src = p, m.dst = q;
    set_neutral(&m, least);
    Threads *t = qthreads_of(qvm_ctx(vm));
    int64_t tiles = (int64_t)divide_array(&m), grain = 1 + (int64_t)(ELEMENTS / (m.count * m.length * m.columns));
    m.bytes = (m.bytes + 63) & ~(size_t)63;
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
