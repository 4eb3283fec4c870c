/* gather.c -- moves elements between selected positions and a contiguous block.
 *
 * A selection that is evenly spaced in every dimension is a strided view and moves as one loop nest.  Dimensions with
 * lists are outer loops around it. */
#include "devices/threads.h"
#include "vm/array/convert.h"
#include "vm/array/device_ops.h"
#include "vm/array/move.h"
#include "vm/array/select.h"
#include "vm/array/strided.h"
#include "vm/base/dtype.h"
#include "vm/base/flag.h"

#include <string.h>

/* -- selections ---------------------------------------------------------------------------------------------------- */
typedef struct {
    size_t size; /* bytes per element */
    char *base, *block;
    bool store; /* direction: from block to base */
    int n;
    const Select *at;
    ptrdiff_t bsteps[QS_MAX_RANK]; /* strides of the base, in bytes per position */
    ptrdiff_t ksteps[QS_MAX_RANK]; /* strides of the block, in bytes per element; all 0 for a fill */
} Move;

#define LIST_LOOPS(bits, type)                                                                                         \
    static void gather_##bits(const int64_t *list, size_t n, const char *base, ptrdiff_t bstep, char *block,           \
                              ptrdiff_t kstep) {                                                                       \
        for (size_t i = 0; i < n; i++, block += kstep)                                                                 \
            if (list[i] >= 0) memcpy(block, base + list[i] * bstep, sizeof(type));                                     \
    }                                                                                                                  \
    static void scatter_##bits(const int64_t *list, size_t n, char *base, ptrdiff_t bstep, const char *block,          \
                               ptrdiff_t kstep) {                                                                      \
        for (size_t i = 0; i < n; i++, block += kstep)                                                                 \
            if (list[i] >= 0) memcpy(base + list[i] * bstep, block, sizeof(type));                                     \
    }
LIST_LOOPS(8, uint8_t)
LIST_LOOPS(16, uint16_t)
LIST_LOOPS(32, uint32_t)
LIST_LOOPS(64, uint64_t)
LIST_LOOPS(128, QComplexD)

static void gather_elements(size_t size, const int64_t *list, size_t n, const char *base, ptrdiff_t bstep, char *block,
                            ptrdiff_t kstep) {
    switch (size) {
    case 1: gather_8(list, n, base, bstep, block, kstep); break;
    case 2: gather_16(list, n, base, bstep, block, kstep); break;
    case 4: gather_32(list, n, base, bstep, block, kstep); break;
    case 8: gather_64(list, n, base, bstep, block, kstep); break;
    default: gather_128(list, n, base, bstep, block, kstep); break;
    }
}

static void scatter_elements(size_t size, const int64_t *list, size_t n, char *base, ptrdiff_t bstep, const char *block,
                             ptrdiff_t kstep) {
    switch (size) {
    case 1: scatter_8(list, n, base, bstep, block, kstep); break;
    case 2: scatter_16(list, n, base, bstep, block, kstep); break;
    case 4: scatter_32(list, n, base, bstep, block, kstep); break;
    case 8: scatter_64(list, n, base, bstep, block, kstep); break;
    default: scatter_128(list, n, base, bstep, block, kstep); break;
    }
}

static void move_list(const Move *m, int d, char *base, char *block) {
    const Select *s = &m->at[d];
    if (m->store) scatter_elements(m->size, s->list, s->count, base, m->bsteps[d], block, m->ksteps[d]);
    else gather_elements(m->size, s->list, s->count, base, m->bsteps[d], block, m->ksteps[d]);
}

static qs_dtype raw_dtype(size_t size) {
    return size == 1 ? QS_U8 : size == 2 ? QS_U16 : size == 4 ? QS_U32 : size == 8 ? QS_U64 : QS_C128;
}

/* Builds a loop nest of the evenly spaced dimensions. */
static void even_nest(const Move *m, Nest *n) {
    int64_t dims[QS_MAX_RANK], b[QS_MAX_RANK], k[QS_MAX_RANK];
    ptrdiff_t size = (ptrdiff_t)m->size;
    for (int d = 0; d < m->n; d++) {
        const Select *s = &m->at[d];
        dims[d] = s->list ? 1 : (int64_t)s->count;
        b[d] = m->bsteps[d] / size * s->step;
        k[d] = m->ksteps[d] / size;
    }
    qstrided_begin(n, m->n, dims);
    qstrided_operand(n, NULL, m->size, m->n, dims, b);
    qstrided_operand(n, NULL, m->size, m->n, dims, k);
    qstrided_fuse(n);
    qstrided_lengthen(n);
}

/* Returns the dimension of the list for the innermost loop: the last long one, whose elements are closest in memory.
 * -1: evenly spaced runs are better. */
static int inner_list(const Move *m) {
    size_t even = 1, longest = 0;
    int inner = -1;
    for (int d = 0; d < m->n; d++) {
        if (!m->at[d].list) even *= m->at[d].count;
        else if (m->at[d].count > longest) longest = m->at[d].count;
    }
    for (int d = 0; d < m->n; d++)
        if (m->at[d].list && m->at[d].count > longest / 16) inner = d;
    return even >= 16 && even >= longest / 16 ? -1 : inner;
}

typedef struct {
    ptrdiff_t bstep, kstep;
    size_t count;
} Run;
typedef struct {
    const Move *m;
    int inner;
    Run run;
} Walk;

static void move_run(const Move *m, const Run *r, char *base, char *block) {
    qs_dtype raw = raw_dtype(m->size);
    if (m->store) qconv_run(raw, block, r->kstep, raw, base, r->bstep, r->count);
    else qconv_run(raw, base, r->bstep, raw, block, r->kstep, r->count);
}

/* Iterates over the dimensions that are not part of the inner loop: all but the inner list, or all lists. */
static void walk_lists(const Walk *w, int d, char *base, char *block) {
    const Move *m = w->m;
    while (d < m->n && (d == w->inner || (w->inner < 0 && !m->at[d].list))) d++;
    if (d == m->n) {
        if (w->inner < 0) move_run(m, &w->run, base, block);
        else move_list(m, w->inner, base, block);
        return;
    }
    const Select *s = &m->at[d];
    for (size_t i = 0; i < s->count; i++, block += m->ksteps[d]) {
        int64_t at = s->list ? s->list[i] : (int64_t)i * s->step;
        if (at >= 0 || !s->list) walk_lists(w, d + 1, base + at * m->bsteps[d], block);
    }
}

/* Moves stretch by stretch of each even run and iterates over the lists for each, so that a stretch stays in the cache.
 */
static void walk_runs(Walk *w, char *base, char *block) {
    enum { STRETCH = 1024 };
    Nest n;
    even_nest(w->m, &n);
    n.at[0] = base;
    n.at[1] = block;
    while (qstrided_next(&n)) {
        w->run = (Run){n.step[0], n.step[1], 0};
        for (size_t at = 0; at < n.count; at += STRETCH) {
            w->run.count = n.count - at < STRETCH ? n.count - at : STRETCH;
            walk_lists(w, 0, n.at[0] + n.step[0] * (ptrdiff_t)at, n.at[1] + n.step[1] * (ptrdiff_t)at);
        }
    }
}

static void move_even(Ctx *c, const Move *m, char *base) {
    int64_t dims[QS_MAX_RANK];
    ptrdiff_t bsteps[QS_MAX_RANK];
    for (int d = 0; d < m->n; d++) dims[d] = (int64_t)m->at[d].count, bsteps[d] = m->bsteps[d] * m->at[d].step;
    if (m->store) qmove_run(c, m->size, m->n, dims, base, bsteps, m->block, m->ksteps);
    else qmove_run(c, m->size, m->n, dims, m->block, m->ksteps, base, bsteps);
}

static void move_all(Ctx *c, const Move *m) {
    Walk w = {.m = m, .inner = inner_list(m)};
    char *base = m->base;
    bool even = true;
    for (int d = 0; d < m->n; d++) {
        if (m->at[d].outside) return;
        if (!m->at[d].list) base += m->at[d].first * m->bsteps[d];
        else even = false;
    }
    if (even) move_even(c, m, base);
    else if (w.inner < 0) walk_runs(&w, base, m->block);
    else walk_lists(&w, 0, base, m->block);
}

/* Computes the strides in bytes; the block is contiguous over the counts, or one element for all (fill). */
static Move open_move(const Base *b, const Selection *s, size_t size, char *base, char *block, bool fill) {
    Move m = {.size = size, .base = base, .block = block, .n = s->n, .at = s->at};
    ptrdiff_t step = (ptrdiff_t)size;
    for (int d = s->n - 1; d >= 0; d--) {
        m.bsteps[d] = b->strides[d] * (ptrdiff_t)size;
        m.ksteps[d] = fill ? 0 : step;
        step *= (ptrdiff_t)s->at[d].count;
    }
    return m;
}

void qgather_read(const Base *b, const Selection *s, size_t size, const void *base, void *block) {
    Move m = open_move(b, s, size, (char *)(uintptr_t)base, block, false);
    move_all(qvm_ctx(b->vm), &m);
}

void qgather_write(const Base *b, const Selection *s, size_t size, void *base, const void *block, bool fill) {
    Move m = open_move(b, s, size, base, (char *)(uintptr_t)block, fill);
    m.store = true;
    move_all(qvm_ctx(b->vm), &m);
}

/* -- on a device --------------------------------------------------------------------------------------------------- */
static qs_status list_array(qs_vm *vm, const Select *s, Array **out) {
    void *p;
    int64_t n = (int64_t)s->count;
    TRY(qarr_make(vm, QS_I64, 1, &n, false, out, &p));
    return memcpy(p, s->list, s->count * sizeof *s->list), QS_OK;
}

/* Computes the strides of the block, which is contiguous, or one element for all (fill). */
static void block_steps(const Selection *s, bool fill, const int64_t *dims, int64_t *steps) {
    int64_t step = 1;
    for (int d = s->n - 1; d >= 0; d--) steps[d] = fill ? 0 : step, step *= dims[d];
}

/* Returns whether a position may occur twice.  Then the last element must be kept; kernels have no such order. */
static bool comes_twice(const Select *s) {
    for (size_t i = 1; s->list && i < s->count; i++)
        if (s->list[i] <= s->list[i - 1]) return true;
    return false;
}

qs_status qgather_on_device(const Base *b, Array *a, const Selection *s, Array *block, bool into, bool *done) {
    int64_t dims[QS_MAX_RANK], base[QS_MAX_RANK], steps[QS_MAX_RANK], at = 0;
    Array *lists[QS_MAX_RANK] = {NULL};
    qs_status status = QS_OK;
    *done = false;
    qs_value ends[2] = {qarr_value(a), qarr_value(block)};
    if (!block->contiguous || !qdevmath_holder(b->vm, 2, ends)) return QS_OK;
    for (int d = 0; d < s->n; d++) {
        const Select *x = &s->at[d];
        if (x->outside || (into && block->count > 1 && comes_twice(x))) return QS_OK;
        dims[d] = (int64_t)x->count, base[d] = x->list ? b->strides[d] : b->strides[d] * x->step;
        if (!x->list) at += x->first * b->strides[d];
    }
    block_steps(s, into && block->count == 1, dims, steps);
    for (int d = 0; d < s->n && status == QS_OK; d++)
        if (s->at[d].list) status = list_array(b->vm, &s->at[d], &lists[d]);
    ElementMove c = {.name = into ? "x[…] = y" : "x[…]",
                     .from = into ? block : a,
                     .to = into ? a : block,
                     .rank = s->n,
                     .dims = dims,
                     .from_steps = into ? steps : base,
                     .to_steps = into ? base : steps,
                     .from_at = into ? 0 : at,
                     .to_at = into ? at : 0,
                     .lists = lists,
                     .extents = b->dims,
                     .into = into};
    if (status == QS_OK) status = qmovelaunch_on_device(b->vm, &c, done);
    for (int d = 0; d < s->n; d++)
        if (lists[d]) qarr_release(b->vm, lists[d]);
    return status;
}

/* -- a long list of positions in a vec, read and gathered piece by piece ------------------------------------------- */
typedef struct {
    qs_dtype d; /* type of the list */
    size_t count, size;
    const char *list, *base;
    ptrdiff_t step; /* stride of the base, in bytes */
    double extent;
    char *out;
    Flag outside; /* set if a position is not inside: then the general code handles access modes and errors */
} Fetch;
enum { LONG_LIST = 1 << 12, FETCHED = 1 << 14 /* positions per chunk of work */ };

static void fetch_places(void *ud, int64_t first, int64_t last, int worker) {
    Fetch *f = ud;
    int64_t list[PIECE];
    size_t elem = qdtype_size(f->d), end = (size_t)last * FETCHED < f->count ? (size_t)last * FETCHED : f->count;
    (void)worker;
    for (size_t at = (size_t)first * FETCHED, n; at < end && !qflag_is_up(&f->outside); at += n) {
        n = end - at < PIECE ? end - at : PIECE;
        const char *p = f->list + at * elem;
        if (!qselect_run(f->d, p, (ptrdiff_t)elem, n, f->extent, list)) qflag_raise(&f->outside);
        else gather_elements(f->size, list, n, f->base, f->step, f->out + at * f->size, (ptrdiff_t)f->size);
    }
}

/* Returns whether a list begins evenly spaced; such lists are left to select_range. */
static bool begins_evenly(const Array *list, const void *p) {
    double x[PIECE];
    bool uneven = false;
    ptrdiff_t elem = (ptrdiff_t)qdtype_size((qs_dtype)list->dtype);
    qconv_run((qs_dtype)list->dtype, p, elem, QS_F64, x, sizeof *x, PIECE);
    for (size_t k = 2; k < PIECE; k++) uneven |= x[k] - x[k - 1] != x[1] - x[0];
    return !uneven;
}

qs_status qgather_list(const Base *b, Array *a, qs_value at, qs_value *out) {
    const void *p, *base;
    void *block;
    Array *list = at.kind == QS_ARRAY ? qval_array(at) : NULL, *r;
    if (!list || list->count < LONG_LIST || !list->contiguous || b->rank != 1 || list->dtype == QS_B1 ||
        qdtype_is_complex((qs_dtype)list->dtype))
        return QS_OK;
    if (qdevmath_asks(b->vm) && qdevmath_holder(b->vm, 1, (qs_value[]){qarr_value(a)})) return QS_OK;
    TRY(qarr_read(b->vm, list, &p));
    if (begins_evenly(list, p)) return QS_OK;
    TRY(qarr_read(b->vm, a, &base));
    bool column = list->rank < 2 || list->dims[1] == 1;
    int64_t count = (int64_t)list->count;
    TRY(qarr_make(b->vm, (qs_dtype)a->dtype, column ? 1 : list->rank, column ? &count : list->dims, false, &r, &block));
    size_t size = qdtype_size((qs_dtype)a->dtype);
    Fetch f = {.d = (qs_dtype)list->dtype,
               .count = list->count,
               .size = size,
               .list = p,
               .base = base,
               .step = b->strides[0] * (ptrdiff_t)size,
               .extent = (double)b->dims[0],
               .out = block};
    qthreads_run(qthreads_of(qvm_ctx(b->vm)), (count + FETCHED - 1) / FETCHED, 1, fetch_places, &f);
    if (qflag_is_up(&f.outside)) return qarr_release(b->vm, r), QS_OK;
    return *out = qarr_value(r), QS_OK;
}
