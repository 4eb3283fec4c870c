/* index.c -- x[…] on arrays and cells, reading and writing, under every access mode.
 *
 * Each index becomes a selection of one dimension: a single place, evenly spaced places, or a list.  A selection of
 * even spacing in every dimension is a strided view and moves as one nest of loops; lists are walked around it.  Places
 * outside that a mode gives no value are marked: they read as 0 and ignore what is written. */
#include "devices/pool.h"
#include "devices/threads.h"
#include "vm/array.h"
#include "vm/base/dtype.h"
#include "vm/base/flag.h"
#include "vm/convert.h"
#include "vm/move.h"
#include "vm/nest.h"

#include <math.h>
#include <string.h>

enum { OUTSIDE = -1 };

/* What is indexed, seen with as many dimensions as there are indices. */
typedef struct {
    qs_vm *vm;
    const char *name;         /* of the variable, or "the array" */
    const char *of, *of_name; /* " of " and the name; "" and "" when there is none */
    AccessMode mode;
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
} Base;

typedef struct {
    size_t count;
    int64_t first, step;      /* evenly spaced places … */
    int64_t *list;            /* … or a list of them, OUTSIDE where there is none */
    size_t room;              /* allocated for the list */
    bool scalar, outside;     /* outside: a single place that does not exist */
    const Array *shape;       /* an index array of rank >= 2, whose shape a gathered vec takes */
} Select;

typedef struct { int n; Select at[QS_MAX_RANK]; } Selection;

/* -- access modes -------------------------------------------------------------------------------------------------- */
static int64_t floor_mod(int64_t i, int64_t n) {
    int64_t r = i % n;
    return r < 0 ? r + n : r;
}

bool qidx_bound(AccessMode m, int64_t i, int64_t n, int64_t *out) {
    *out = i;
    if (i >= 0 && i < n) return true;
    if (n <= 0) return false;
    switch (m) {
    case ACC_MIRROR: /* half-sample symmetric: -1 -> 0, n -> n-1, period 2n */
        i = floor_mod(i, 2 * n);
        *out = i < n ? i : 2 * n - 1 - i;
        return true;
    case ACC_CIRCULAR: *out = floor_mod(i, n); return true;
    case ACC_CLAMPED: *out = i < 0 ? 0 : n - 1; return true;
    default: return false;
    }
}

static bool has_boundary(AccessMode m) {
    return m == ACC_SAFE || m == ACC_MIRROR || m == ACC_CIRCULAR || m == ACC_CLAMPED;
}

static qs_status outside(const Base *b, int dim, double index) {
    int shown = b->rank == 1 ? 1 : dim; /* a vec is 1xN */
    return qerr_set(qvm_ctx(b->vm), QS_EINDEX, "index %.15g is outside dimension %d%s%s (size %lld)", index, shown,
                    b->of, b->of_name, (long long)b->dims[dim]);
}

/* The place an index means: rounded toward zero, downward when a mode gives negative places a meaning. */
static qs_status place(const Base *b, int dim, double x, int64_t *out) {
    if (isnan(x))
        return qerr_set(qvm_ctx(b->vm), QS_EINDEX, "an index of %s is not a number", b->name);
    double whole = has_boundary(b->mode) ? floor(x) : trunc(x);
    int64_t i = qdtype_sat_i64(whole, INT64_MIN / 4, INT64_MAX / 4);
    if (qidx_bound(b->mode, i, b->dims[dim], out)) return QS_OK;
    *out = OUTSIDE;
    return b->mode == ACC_SAFE ? QS_OK : outside(b, dim, whole);
}

/* -- from indices to selections ------------------------------------------------------------------------------------ */
static void close_selection(qs_vm *vm, Selection *s) {
    for (int d = 0; d < s->n; d++)
        if (s->at[d].list) qpool_put(qvm_ctx(vm), s->at[d].list, s->at[d].room * sizeof(int64_t));
}

static qs_status new_list(qs_vm *vm, Select *s, size_t n) {
    s->room = s->count = n;
    s->list = qpool_get(qvm_ctx(vm), n * sizeof *s->list);
    return s->list ? QS_OK : qerr_set(qvm_ctx(vm), QS_ENOMEM, "out of memory: an index list of %zu elements", n);
}

/* A mirrored or computed list may turn out evenly spaced all the same. */
static void even_out(qs_vm *vm, Select *s) {
    int64_t first = s->count ? s->list[0] : 0, step = s->count > 1 ? s->list[1] - first : 1;
    for (size_t k = 0; k < s->count; k++)
        if (s->list[k] < 0 || s->list[k] != first + (int64_t)k * step) return;
    s->first = first;
    s->step = step;
    qpool_put(qvm_ctx(vm), s->list, s->room * sizeof *s->list);
    s->list = NULL;
}

enum { PIECE = 256 }; /* places that are read at once */

/* Places that are all inside, in any mode: rounding toward zero is all there is to do.  false: one is not, or NaN. */
static bool places_inside(const double *x, size_t n, double size, int64_t *list) {
    bool outside = false;
    for (size_t k = 0; k < n; k++) outside |= !(x[k] >= 0 && x[k] < size);
    if (outside) return false;
    if (size <= INT32_MAX) /* for which there are vectors */
        for (size_t k = 0; k < n; k++) list[k] = (int32_t)x[k];
    else
        for (size_t k = 0; k < n; k++) list[k] = (int64_t)x[k];
    return true;
}

static qs_status places_of_run(const Base *b, int dim, qs_dtype d, const char *p, ptrdiff_t step, size_t n,
                               int64_t *list) {
    double x[PIECE];
    for (size_t m; n; n -= m, p += step * (ptrdiff_t)m, list += m) {
        m = n < PIECE ? n : PIECE;
        qconv_run(d, p, step, QS_F64, x, sizeof *x, m);
        if (places_inside(x, m, (double)b->dims[dim], list)) continue;
        for (size_t k = 0; k < m; k++) TRY(place(b, dim, x[k], &list[k]));
    }
    return QS_OK;
}

/* Most index vectors are ranges, evenly spaced whole numbers inside: recognised as they are read, without a list. */
static bool select_range(const Base *b, int dim, const Array *a, const void *p, Select *s) {
    double x[PIECE], size = (double)b->dims[dim], origin = 0, step = 1;
    ptrdiff_t elem = (ptrdiff_t)qdtype_size((qs_dtype)a->dtype);
    if (!a->contiguous || a->count < 2) return false;
    for (size_t at = 0, m; at < a->count; at += m) {
        m = a->count - at < PIECE ? a->count - at : PIECE;
        qconv_run((qs_dtype)a->dtype, (const char *)p + (ptrdiff_t)at * elem, elem, QS_F64, x, sizeof *x, m);
        if (!at) origin = x[0], step = x[1] - x[0];
        double first = origin + (double)at * step;
        bool uneven = false;
        for (size_t k = 0; k < m; k++) uneven |= x[k] != first + (double)(int32_t)k * step;
        if (uneven || !(x[0] >= 0 && x[0] < size && x[m - 1] >= 0 && x[m - 1] < size)) return false;
    }
    if (origin != trunc(origin) || step != trunc(step)) return false;
    *s = (Select){.count = a->count, .first = (int64_t)origin, .step = (int64_t)step};
    return true;
}

static qs_status select_list(const Base *b, int dim, Array *a, Select *s) {
    const void *p;
    Nest n;
    TRY(qarr_read(b->vm, a, &p));
    bool even = select_range(b, dim, a, p, s);
    if (a->rank >= 2 && a->dims[1] != 1) s->shape = a;
    if (even) return QS_OK;
    TRY(new_list(b->vm, s, a->count));
    qnest_begin(&n, a->rank, a->dims);
    qnest_array(&n, p, a);
    qnest_fuse(&n);
    for (int64_t *list = s->list; qnest_next(&n); list += n.count)
        TRY(places_of_run(b, dim, (qs_dtype)a->dtype, n.at[0], n.step[0], n.count, list));
    even_out(b->vm, s);
    return QS_OK;
}

static bool truth_at(const Array *mask, const uint8_t *p, size_t k) { return p[(ptrdiff_t)qarr_offset(mask, k)] != 0; }

/* A bool vec as the index of one dimension: the places where it is true. */
static qs_status select_true(const Base *b, int dim, Array *mask, Select *s) {
    const void *p;
    size_t n = 0;
    if (mask->count != (size_t)b->dims[dim])
        return qerr_set(qvm_ctx(b->vm), QS_ESHAPE, "a mask of %zu elements does not fit dimension %d%s%s (size %lld)",
                        mask->count, b->rank == 1 ? 1 : dim, b->of, b->of_name,
                        (long long)b->dims[dim]);
    TRY(qarr_read(b->vm, mask, &p));
    TRY(new_list(b->vm, s, mask->count));
    for (size_t k = 0; k < mask->count; k++)
        if (truth_at(mask, p, k)) s->list[n++] = (int64_t)k;
    s->count = n;
    even_out(b->vm, s);
    return QS_OK;
}

static qs_status select_one(const Base *b, int dim, double x, Select *s) {
    s->count = 1;
    s->scalar = true;
    TRY(place(b, dim, x, &s->first));
    s->outside = s->first == OUTSIDE;
    return QS_OK;
}

static qs_status select_dim(const Base *b, int dim, qs_value at, Select *s) {
    *s = (Select){.step = 1};
    if (qval_is_colon(at)) return s->count = (size_t)b->dims[dim], QS_OK;
    if (qval_is_number(at)) return select_one(b, dim, qval_number(at), s);
    if (at.kind != QS_ARRAY || qdtype_is_complex((qs_dtype)qval_array(at)->dtype))
        return qerr_set(qvm_ctx(b->vm), QS_ETYPE,
                        "an index%s%s must be a number, a vector or :, got a value of type %s", b->of, b->of_name,
                        qval_type_name(b->vm, at));
    Array *a = qval_array(at);
    return a->dtype == QS_B1 ? select_true(b, dim, a, s) : select_list(b, dim, a, s);
}

static qs_status select_all(const Base *b, const qs_value *at, Selection *s) {
    s->n = 0;
    for (int d = 0; d < b->rank; d++) {
        s->n = d + 1;
        qs_status status = select_dim(b, d, at[d], &s->at[d]);
        if (status) return close_selection(b->vm, s), status;
    }
    return QS_OK;
}

/* -- the base: an array or cell with as many dimensions as indices ------------------------------------------------- */
static qs_status count_error(const Base *b, int rank, int n) {
    return qerr_set(qvm_ctx(b->vm), QS_EINDEX, "%s has %d dimensions, %d ind%s given", b->name,
                    rank, n, n == 1 ? "ex" : "ices");
}

static void packed_strides(int rank, const int64_t *dims, int64_t *strides) {
    uint64_t step = 1;
    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = (int64_t)step;
        step *= (uint64_t)dims[d];
    }
}

/* A vec takes one index or two and more; further indices than there are dimensions meet extents of 1. */
static qs_status fit_rank(Base *b, int n) {
    if (n > QS_MAX_RANK) return count_error(b, b->rank, n);
    if (b->rank == 0) b->rank = 1, b->dims[0] = b->strides[0] = 1;
    if (b->rank == 1 && n > 1) {
        b->dims[1] = b->dims[0], b->strides[1] = b->strides[0];
        b->dims[0] = 1, b->strides[0] = 0;
        b->rank = 2;
    }
    while (b->rank > n && b->rank > 2 && b->dims[b->rank - 1] == 1) b->rank--; /* shapes from outside */
    for (; b->rank < n; b->rank++) b->dims[b->rank] = 1, b->strides[b->rank] = 0;
    return b->rank == n ? QS_OK : count_error(b, b->rank, n);
}

static void open_base(Base *b, qs_vm *vm, TypeMods mods, const char *name) {
    b->vm = vm;
    b->mode = (AccessMode)mods.access;
    b->name = name ? name : "the array";
    b->of = name ? " of " : "";
    b->of_name = name ? name : "";
}

static void open_array(Base *b, qs_vm *vm, const Array *a, TypeMods mods, const char *name) {
    open_base(b, vm, mods, name);
    b->rank = a->rank;
    for (int d = 0; d < a->rank; d++) b->dims[d] = a->dims[d], b->strides[d] = a->strides[d];
}

static void open_cell(Base *b, qs_vm *vm, const Cell *c, TypeMods mods, const char *name) {
    open_base(b, vm, mods, name);
    b->rank = c->rank;
    memcpy(b->dims, c->dims, c->rank * sizeof *b->dims);
    packed_strides(b->rank, b->dims, b->strides);
}

/* -- one index that addresses several dimensions ------------------------------------------------------------------- */
typedef enum { FORM_LIST, FORM_MASK, FORM_WHOLE, FORM_POSITION } Form;

static bool whole_shape(const Base *b, const Array *mask) {
    int64_t dims[QS_MAX_RANK], have[QS_MAX_RANK];
    int rank = qarr_size(mask, dims), n = b->rank;
    memcpy(have, b->dims, sizeof have);
    if (n < 2) have[1] = n ? have[0] : 1, have[0] = 1, n = 2;
    while (n > 2 && have[n - 1] == 1) n--;
    return rank == n && !memcmp(dims, have, (size_t)n * sizeof *dims);
}

/* What a lone index means: on rank >= 2 a vector is a position, a bool array of the same shape is a mask anywhere. */
static qs_status form_of(const Base *b, int n, const qs_value *at, Form *out) {
    *out = FORM_LIST;
    if (n != 1) return QS_OK;
    if (qval_is_colon(at[0])) return *out = FORM_WHOLE, QS_OK;
    const Array *a = at[0].kind == QS_ARRAY ? qval_array(at[0]) : NULL;
    if (a && a->dtype == QS_B1) {
        char text[SHAPE_TEXT];
        if (whole_shape(b, a)) return *out = FORM_MASK, QS_OK;
        if (b->rank < 2) return QS_OK;
        return qerr_set(qvm_ctx(b->vm), QS_ESHAPE, "a mask of shape %s does not fit %s", qarr_shape_text(a, text),
                        b->name);
    }
    if (a && !qdtype_is_complex((qs_dtype)a->dtype) && b->rank >= 2 && a->count >= (size_t)b->rank &&
        a->count <= QS_MAX_RANK)
        *out = FORM_POSITION;
    return QS_OK;
}

/* A position vector as that many numbers. */
static qs_status unpack_position(qs_vm *vm, qs_value at, int *n, qs_value parts[QS_MAX_RANK]) {
    Array *a = qval_array(at);
    *n = (int)a->count;
    for (int d = 0; d < *n; d++) TRY(qarr_get(vm, a, (size_t)d, &parts[d]));
    return QS_OK;
}

/* -- moving elements between the selected places and a block ------------------------------------------------------- */
typedef struct {
    size_t size;                          /* of an element */
    char *base, *block;
    bool store;                           /* from block to base */
    int n;
    const Select *at;
    ptrdiff_t bsteps[QS_MAX_RANK];        /* of the base, per place, bytes */
    ptrdiff_t ksteps[QS_MAX_RANK];        /* of the block, per element, bytes; all 0 for a fill */
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

static void gather(size_t size, const int64_t *list, size_t n, const char *base, ptrdiff_t bstep, char *block,
                   ptrdiff_t kstep) {
    switch (size) {
    case 1: gather_8(list, n, base, bstep, block, kstep); break;
    case 2: gather_16(list, n, base, bstep, block, kstep); break;
    case 4: gather_32(list, n, base, bstep, block, kstep); break;
    case 8: gather_64(list, n, base, bstep, block, kstep); break;
    default: gather_128(list, n, base, bstep, block, kstep); break;
    }
}

static void scatter(size_t size, const int64_t *list, size_t n, char *base, ptrdiff_t bstep, const char *block,
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
    if (m->store) scatter(m->size, s->list, s->count, base, m->bsteps[d], block, m->ksteps[d]);
    else gather(m->size, s->list, s->count, base, m->bsteps[d], block, m->ksteps[d]);
}

static qs_dtype raw_dtype(size_t size) {
    return size == 1 ? QS_U8 : size == 2 ? QS_U16 : size == 4 ? QS_U32 : size == 8 ? QS_U64 : QS_C128;
}

/* The evenly spaced dimensions, as one nest. */
static void even_nest(const Move *m, Nest *n) {
    int64_t dims[QS_MAX_RANK], b[QS_MAX_RANK], k[QS_MAX_RANK];
    ptrdiff_t size = (ptrdiff_t)m->size;
    for (int d = 0; d < m->n; d++) {
        const Select *s = &m->at[d];
        dims[d] = s->list ? 1 : (int64_t)s->count;
        b[d] = m->bsteps[d] / size * s->step;
        k[d] = m->ksteps[d] / size;
    }
    qnest_begin(n, m->n, dims);
    qnest_operand(n, NULL, m->size, m->n, dims, b);
    qnest_operand(n, NULL, m->size, m->n, dims, k);
    qnest_fuse(n);
    qnest_lengthen(n);
}

/* The dimension whose list is walked in the innermost loop: the longest; -1 when evenly spaced runs are better. */
static int inner_list(const Move *m) {
    size_t even = 1, longest = 0;
    int inner = -1;
    for (int d = 0; d < m->n; d++) {
        if (!m->at[d].list) even *= m->at[d].count;
        else if (m->at[d].count > longest) longest = m->at[d].count, inner = d;
    }
    return even >= 16 && even >= longest / 16 ? -1 : inner;
}

typedef struct { ptrdiff_t bstep, kstep; size_t count; } Run;
typedef struct { const Move *m; int inner; Run run; } Walk;

static void move_run(const Move *m, const Run *r, char *base, char *block) {
    qs_dtype raw = raw_dtype(m->size);
    if (m->store) qconv_run(raw, block, r->kstep, raw, base, r->bstep, r->count);
    else qconv_run(raw, base, r->bstep, raw, block, r->kstep, r->count);
}

/* Steps through the dimensions that are not part of the inner loop: all but the inner list, or all lists. */
static void walk(const Walk *w, int d, char *base, char *block) {
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
        if (at >= 0 || !s->list) walk(w, d + 1, base + at * m->bsteps[d], block);
    }
}

/* The lists are walked for a stretch of each even run before the next stretch, which so stays in the cache. */
static void walk_runs(Walk *w, char *base, char *block) {
    enum { STRETCH = 1024 };
    Nest n;
    even_nest(w->m, &n);
    n.at[0] = base;
    n.at[1] = block;
    while (qnest_next(&n)) {
        w->run = (Run){n.step[0], n.step[1], 0};
        for (size_t at = 0; at < n.count; at += STRETCH) {
            w->run.count = n.count - at < STRETCH ? n.count - at : STRETCH;
            walk(w, 0, n.at[0] + n.step[0] * (ptrdiff_t)at, n.at[1] + n.step[1] * (ptrdiff_t)at);
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

static void move_selection(Ctx *c, const Move *m) {
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
    else walk(&w, 0, base, m->block);
}

/* Element steps to byte steps; the block is packed over the counts, or one element for all (a fill). */
static Move open_move(const Base *b, const Selection *s, size_t size, void *base, void *block, bool fill) {
    Move m = {.size = size, .base = base, .block = block, .n = s->n, .at = s->at};
    ptrdiff_t step = (ptrdiff_t)size;
    for (int d = s->n - 1; d >= 0; d--) {
        m.bsteps[d] = b->strides[d] * (ptrdiff_t)size;
        m.ksteps[d] = fill ? 0 : step;
        step *= (ptrdiff_t)s->at[d].count;
    }
    return m;
}

/* -- shapes of selections ------------------------------------------------------------------------------------------ */
static int count_lists(const Selection *s, int *last) {
    int n = 0;
    for (int d = 0; d < s->n; d++)
        if (!s->at[d].scalar) n++, *last = d;
    return n;
}

static bool single(const Selection *s) { int last; return count_lists(s, &last) == 0; }

static bool anything_outside(const Selection *s) {
    for (int d = 0; d < s->n; d++) {
        const Select *at = &s->at[d];
        if (at->outside) return true;
        for (size_t k = 0; at->list && k < at->count; k++)
            if (at->list[k] == OUTSIDE) return true;
    }
    return false;
}

/* Single places at the end drop their dimensions; so do those in front of the only other one: img[y,x,:] is a vec. */
static int selected_shape(const Selection *s, int64_t dims[QS_MAX_RANK]) {
    int last = 0, n = count_lists(s, &last);
    if (s->n == 1 && s->at[0].shape) {
        memcpy(dims, s->at[0].shape->dims, s->at[0].shape->rank * sizeof *dims);
        return s->at[0].shape->rank;
    }
    for (int d = 0; d <= last; d++) dims[d] = (int64_t)s->at[d].count;
    if (n == 1 && last >= 2) return dims[0] = dims[last], 1;
    if (last == 0 && s->n > 1) return dims[1] = 1, 2;
    return last + 1;
}

static size_t selected_count(const Selection *s) {
    size_t n = 1;
    for (int d = 0; d < s->n; d++)
        if (__builtin_mul_overflow(n, s->at[d].count, &n)) return SIZE_MAX;
    return n;
}

/* -- reading an array ---------------------------------------------------------------------------------------------- */
/* The usual case, before anything is prepared: numbers inside, one per dimension of a packed array. */
static bool quick_place(const Array *a, int n, const qs_value *at, size_t *linear) {
    size_t k = 0;
    if (n != a->rank || !a->contiguous) return false;
    for (int d = 0; d < n; d++) {
        int64_t i;
        if (at[d].kind == QS_NUM) {
            if (!(at[d].u.f >= 0 && at[d].u.f < 0x1p62)) return false;
            i = (int64_t)at[d].u.f;
        } else if (at[d].kind == QS_INT) i = at[d].u.i;
        else return false;
        if (i < 0 || i >= a->dims[d]) return false;
        k = k * (size_t)a->dims[d] + (size_t)i;
    }
    *linear = k;
    return true;
}

static const void *element_of(const Base *b, const Selection *s, const void *p, size_t size) {
    ptrdiff_t at = 0;
    for (int d = 0; d < s->n; d++) {
        if (s->at[d].outside) return NULL;
        at += s->at[d].first * b->strides[d];
    }
    return (const char *)p + at * (ptrdiff_t)size;
}

static qs_status get_selection(const Base *b, Array *a, const Selection *s, qs_value *out) {
    int64_t dims[QS_MAX_RANK];
    const QComplexD zero = {0, 0};
    const void *p;
    void *block;
    Array *r;
    size_t size = qdtype_size((qs_dtype)a->dtype);
    TRY(qarr_read(b->vm, a, &p));
    if (single(s)) {
        const void *e = element_of(b, s, p, size);
        return qarr_load(b->vm, (qs_dtype)a->dtype, e ? e : &zero, out);
    }
    int rank = selected_shape(s, dims);
    TRY(qarr_new(b->vm, (qs_dtype)a->dtype, rank, dims, anything_outside(s), &r));
    qs_status status = qarr_write(b->vm, r, &block);
    if (status) return qarr_release(b->vm, r), status;
    if (r->count) {
        Move m = open_move(b, s, size, (void *)(uintptr_t)p, block, false);
        move_selection(qvm_ctx(b->vm), &m);
    }
    *out = qarr_value(r);
    return QS_OK;
}

/* -- a long list of places in a vec: read, and what is there fetched, piece by piece ------------------------------- */
typedef struct {
    qs_dtype d;              /* of the list */
    size_t count, size;
    const char *list, *base;
    ptrdiff_t step;          /* of the base, bytes */
    double extent;
    char *out;
    Flag outside;            /* a place is not inside: modes and errors are for those who go one by one */
} Fetch;
enum { LONG_LIST = 1 << 12, FETCHED = 1 << 14 /* places that are worth a thread */ };

static void fetch_places(void *ud, int64_t first, int64_t last, int worker) {
    Fetch *f = ud;
    double x[PIECE];
    int64_t list[PIECE];
    size_t elem = qdtype_size(f->d), end = (size_t)last * FETCHED < f->count ? (size_t)last * FETCHED : f->count;
    (void)worker;
    for (size_t at = (size_t)first * FETCHED, n; at < end && !qflag_is_up(&f->outside); at += n) {
        n = end - at < PIECE ? end - at : PIECE;
        qconv_run(f->d, f->list + at * elem, (ptrdiff_t)elem, QS_F64, x, sizeof *x, n);
        if (!places_inside(x, n, f->extent, list)) qflag_raise(&f->outside);
        else gather(f->size, list, n, f->base, f->step, f->out + at * f->size, (ptrdiff_t)f->size);
    }
}

/* A list that begins evenly is left to those who look for ranges. */
static bool begins_evenly(const Array *list, const void *p) {
    double x[PIECE];
    bool uneven = false;
    ptrdiff_t elem = (ptrdiff_t)qdtype_size((qs_dtype)list->dtype);
    qconv_run((qs_dtype)list->dtype, p, elem, QS_F64, x, sizeof *x, PIECE);
    for (size_t k = 2; k < PIECE; k++) uneven |= x[k] - x[k - 1] != x[1] - x[0];
    return !uneven;
}

/* *out stays as it is if it is not that simple. */
static qs_status fetch_list(const Base *b, Array *a, qs_value at, qs_value *out) {
    const void *p, *base;
    void *block;
    Array *list = at.kind == QS_ARRAY ? qval_array(at) : NULL, *r;
    if (!list || list->count < LONG_LIST || !list->contiguous || b->rank != 1 || list->dtype == QS_B1 ||
        qdtype_is_complex((qs_dtype)list->dtype))
        return QS_OK;
    TRY(qarr_read(b->vm, list, &p));
    if (begins_evenly(list, p)) return QS_OK;
    TRY(qarr_read(b->vm, a, &base));
    bool column = list->rank < 2 || list->dims[1] == 1;
    int64_t count = (int64_t)list->count;
    TRY(qarr_new(b->vm, (qs_dtype)a->dtype, column ? 1 : list->rank, column ? &count : list->dims, false, &r));
    qs_status s = qarr_write(b->vm, r, &block);
    if (s) return qarr_release(b->vm, r), s;
    size_t size = qdtype_size((qs_dtype)a->dtype);
    Fetch f = {.d = (qs_dtype)list->dtype, .count = list->count, .size = size, .list = p, .base = base,
               .step = b->strides[0] * (ptrdiff_t)size, .extent = (double)b->dims[0], .out = block};
    qthreads_run(qthreads_of(qvm_ctx(b->vm)), (count + FETCHED - 1) / FETCHED, 1, fetch_places, &f);
    if (qflag_is_up(&f.outside)) return qarr_release(b->vm, r), QS_OK;
    return *out = qarr_value(r), QS_OK;
}

static void open_mask_nest(Nest *n, const Array *a, const void *p, const Array *mask, const void *q) {
    qnest_begin(n, a->rank, a->dims);
    qnest_array(n, p, a);
    qnest_array(n, q, mask);
    qnest_fuse(n);
}

static size_t count_true(Nest n) {
    size_t total = 0;
    while (qnest_next(&n))
        for (size_t i = 0; i < n.count; i++) total += n.at[1][(ptrdiff_t)i * n.step[1]] != 0;
    return total;
}

/* A[mask]: the elements where it is true, as a vec in row-major order. */
static qs_status get_masked(qs_vm *vm, Array *a, Array *mask, qs_value *out) {
    size_t size = qdtype_size((qs_dtype)a->dtype);
    const void *p, *q;
    void *block;
    Array *r;
    Nest n;
    TRY(qarr_read(vm, a, &p));
    TRY(qarr_read(vm, mask, &q));
    open_mask_nest(&n, a, p, mask, q);
    TRY(qarr_new(vm, (qs_dtype)a->dtype, 1, &(int64_t){(int64_t)count_true(n)}, false, &r));
    qs_status s = qarr_write(vm, r, &block);
    if (s) return qarr_release(vm, r), s;
    char *to = block;
    while (qnest_next(&n))
        for (size_t i = 0; i < n.count; i++)
            if (n.at[1][(ptrdiff_t)i * n.step[1]]) {
                memcpy(to, n.at[0] + (ptrdiff_t)i * n.step[0], size);
                to += size;
            }
    *out = qarr_value(r);
    return QS_OK;
}

static qs_status get_array(Base *b, Array *a, int n, const qs_value *at, qs_value *out) {
    qs_value parts[QS_MAX_RANK];
    Selection s;
    Form form;
    TRY(form_of(b, n, at, &form));
    if (form == FORM_MASK) return get_masked(b->vm, a, qval_array(at[0]), out);
    if (form == FORM_WHOLE) {
        Array *copy;
        TRY(qarr_copy(b->vm, a, &copy));
        return *out = qarr_value(copy), QS_OK;
    }
    if (form == FORM_POSITION) {
        TRY(unpack_position(b->vm, at[0], &n, parts));
        at = parts;
    }
    TRY(fit_rank(b, n));
    *out = qs_nil();
    if (n == 1) TRY(fetch_list(b, a, at[0], out));
    if (out->kind != QS_NIL) return QS_OK;
    TRY(select_all(b, at, &s));
    qs_status status = get_selection(b, a, &s, out);
    close_selection(b->vm, &s);
    return status;
}

/* -- writing to an array ------------------------------------------------------------------------------------------- */
static qs_status assign_error(const Base *b, const Array *value, int rank, const int64_t *dims) {
    char have[SHAPE_TEXT], want[SHAPE_TEXT];
    Array shape = {.rank = (uint8_t)rank};
    memcpy(shape.dims, dims, (size_t)rank * sizeof *dims);
    return qerr_set(qvm_ctx(b->vm), QS_ESHAPE, "cannot assign an array of %s to a selection of %s%s%s",
                    qarr_shape_text(value, have), qarr_shape_text(&shape, want), b->of, b->of_name);
}

/* Shapes agree when they do without their extents of 1: a row of values fits a column. */
static bool same_extents(int na, const int64_t *a, int nb, const int64_t *b) {
    int i = 0, j = 0;
    for (;; i++, j++) {
        while (i < na && a[i] == 1) i++;
        while (j < nb && b[j] == 1) j++;
        if (i == na || j == nb) return i == na && j == nb;
        if (a[i] != b[j]) return false;
    }
}

/* The value as packed elements of a's dtype, in storage that writing to a does not change. */
static qs_status value_block(qs_vm *vm, Array *a, qs_value v, Array **out) {
    if (v.kind == QS_ARRAY && qdtype_is_complex((qs_dtype)qval_array(v)->dtype) &&
        !qdtype_is_complex((qs_dtype)a->dtype))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "cannot assign complex numbers to an array of %s",
                        qdtype_info[a->dtype].name);
    if (v.kind != QS_ARRAY || qval_array(v)->dtype != a->dtype) return qarr_from_value(vm, v, (qs_dtype)a->dtype, out);
    if (qarr_overlap(a, qval_array(v))) return qarr_copy(vm, qval_array(v), out);
    return qarr_contiguous(vm, qval_array(v), out);
}

static qs_status put_selection(const Base *b, Array *a, const Selection *s, Array *value) {
    const void *block;
    void *p;
    size_t count = selected_count(s);
    int64_t dims[QS_MAX_RANK];
    int rank = selected_shape(s, dims);
    if (value->count != 1 && (count != value->count || !same_extents(rank, dims, value->rank, value->dims)))
        return assign_error(b, value, rank, dims);
    if (!count) return QS_OK;
    TRY(qarr_read(b->vm, value, &block));
    TRY(qarr_write(b->vm, a, &p));
    Move m = open_move(b, s, qdtype_size((qs_dtype)a->dtype), p, (void *)(uintptr_t)block, value->count == 1);
    m.store = true;
    move_selection(qvm_ctx(b->vm), &m);
    return qarr_settle(b->vm, a);
}

/* A[mask] = v: v is one number, one element for each true of the mask, or an array of A's shape. */
static qs_status put_masked(const Base *b, Array *a, Array *mask, Array *value) {
    size_t size = qdtype_size((qs_dtype)a->dtype);
    const void *q, *block;
    void *p;
    Nest n;
    TRY(qarr_read(b->vm, mask, &q));
    TRY(qarr_read(b->vm, value, &block));
    TRY(qarr_write(b->vm, a, &p));
    open_mask_nest(&n, a, p, mask, q);
    size_t chosen = count_true(n);
    bool parallel = value->count != chosen && qarr_same_shape(a, value);
    ptrdiff_t step = value->count == 1 ? 0 : (ptrdiff_t)size;
    if (value->count != 1 && value->count != chosen && !parallel)
        return assign_error(b, value, 1, &(int64_t){(int64_t)chosen});
    const char *from = block;
    while (qnest_next(&n))
        for (size_t i = 0; i < n.count; i++) {
            bool take = n.at[1][(ptrdiff_t)i * n.step[1]] != 0;
            if (take) memcpy(n.at[0] + (ptrdiff_t)i * n.step[0], from, size);
            if (take || parallel) from += step;
        }
    return qarr_settle(b->vm, a);
}

static qs_status put_form(Base *b, Array *a, Form form, int n, const qs_value *at, Array *value) {
    Selection s;
    if (form == FORM_MASK) return put_masked(b, a, qval_array(at[0]), value);
    if (form == FORM_WHOLE) {
        if (value->count != 1 && !qarr_same_shape(a, value)) return assign_error(b, value, a->rank, a->dims);
        return qarr_assign(b->vm, a, value);
    }
    TRY(fit_rank(b, n));
    TRY(select_all(b, at, &s));
    qs_status status = put_selection(b, a, &s, value);
    close_selection(b->vm, &s);
    return status;
}

static qs_status set_array(Base *b, Array *a, int n, const qs_value *at, qs_value v) {
    qs_value parts[QS_MAX_RANK];
    Form form;
    Array *value;
    TRY(form_of(b, n, at, &form));
    if (form == FORM_POSITION) {
        TRY(unpack_position(b->vm, at[0], &n, parts));
        at = parts;
    }
    TRY(value_block(b->vm, a, v, &value));
    qs_status s = put_form(b, a, form, n, at, value);
    qarr_release(b->vm, value);
    return s;
}

/* -- cells --------------------------------------------------------------------------------------------------------- */
/* Where the k-th selected item lies; OUTSIDE when it does not exist. */
static int64_t item_place(const Base *b, const Selection *s, size_t k) {
    int64_t at = 0;
    for (int d = s->n - 1; d >= 0; d--) {
        const Select *x = &s->at[d];
        size_t i = k % x->count;
        int64_t place = x->list ? x->list[i] : x->first + (int64_t)i * x->step;
        if (x->outside || place < 0) return OUTSIDE;
        at += place * b->strides[d];
        k /= x->count;
    }
    return at;
}

static qs_status get_items(const Base *b, Cell *c, const Selection *s, qs_value *out) {
    int64_t dims[QS_MAX_RANK], at;
    Cell *r;
    if (single(s)) {
        if ((at = item_place(b, s, 0)) == OUTSIDE) return qval_zero(b->vm, c->elem, out);
        return *out = qval_retain(c->items[at]), QS_OK;
    }
    int rank = selected_shape(s, dims);
    TRY(qcell_new(b->vm, c->elem, rank, dims, &r));
    for (size_t k = 0; k < r->count; k++) {
        if ((at = item_place(b, s, k)) == OUTSIDE) continue;
        qval_release(b->vm, r->items[k]);
        r->items[k] = qval_retain(c->items[at]);
    }
    *out = qval_object(QS_CELL, r);
    return QS_OK;
}

/* A cell of as many items is distributed, anything else goes to every selected place. */
static qs_status put_items(const Base *b, Cell *c, const Selection *s, qs_value v) {
    size_t count = selected_count(s);
    const Cell *from = v.kind == QS_CELL && !single(s) ? v.u.p : NULL;
    if (from && from->count != count)
        return qerr_set(qvm_ctx(b->vm), QS_ESHAPE, "cannot assign a cell of %zu items to %zu items%s%s", from->count,
                        count, b->of, b->of_name);
    for (size_t k = 0; k < count; k++) {
        int64_t at = item_place(b, s, k);
        if (at != OUTSIDE) TRY(qcell_store(b->vm, c, (size_t)at, from ? from->items[k] : v));
    }
    return QS_OK;
}

/* The positions a mask selects, as a selection of one dimension over the items in a row. */
static qs_status select_masked(Base *b, Array *mask, size_t count, Selection *s) {
    b->rank = 1, b->dims[0] = (int64_t)count, b->strides[0] = 1;
    s->n = 1;
    s->at[0] = (Select){.step = 1};
    qs_status status = select_true(b, 0, mask, &s->at[0]);
    if (status) close_selection(b->vm, s);
    return status;
}

static qs_status select_items(Base *b, Cell *c, int n, const qs_value *at, Selection *s) {
    qs_value parts[QS_MAX_RANK];
    Form form;
    TRY(form_of(b, n, at, &form));
    if (form == FORM_MASK) return select_masked(b, qval_array(at[0]), c->count, s);
    if (form == FORM_WHOLE) {
        s->n = b->rank;
        for (int d = 0; d < b->rank; d++) s->at[d] = (Select){.step = 1, .count = (size_t)b->dims[d]};
        return QS_OK;
    }
    if (form == FORM_POSITION) {
        TRY(unpack_position(b->vm, at[0], &n, parts));
        at = parts;
    }
    TRY(fit_rank(b, n));
    return select_all(b, at, s);
}

static qs_status get_cell(Base *b, Cell *c, int n, const qs_value *at, qs_value *out) {
    Selection s;
    TRY(select_items(b, c, n, at, &s));
    qs_status status = get_items(b, c, &s, out);
    close_selection(b->vm, &s);
    return status;
}

static qs_status set_cell(Base *b, Cell *c, int n, const qs_value *at, qs_value v) {
    Selection s;
    TRY(select_items(b, c, n, at, &s));
    qs_status status = put_items(b, c, &s, v);
    close_selection(b->vm, &s);
    return status;
}

/* -- the entries --------------------------------------------------------------------------------------------------- */
static qs_status cannot_index(qs_vm *vm, qs_value base, const char *name) {
    const char *type = qval_type_name(vm, base);
    if (!name) return qerr_set(qvm_ctx(vm), QS_ETYPE, "a value of type %s cannot be indexed", type);
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s has type %s and cannot be indexed", name, type);
}

qs_status qidx_get(qs_vm *vm, qs_value base, int n, const qs_value *at, TypeMods mods, const char *name,
                   qs_value *out) {
    Base b;
    size_t linear;
    if (base.kind == QS_ARRAY) {
        Array *a = qval_array(base);
        if (quick_place(a, n, at, &linear)) return qarr_get(vm, a, linear, out);
        open_array(&b, vm, a, mods, name);
        return get_array(&b, a, n, at, out);
    }
    if (base.kind != QS_CELL) return cannot_index(vm, base, name);
    open_cell(&b, vm, base.u.p, mods, name);
    return get_cell(&b, base.u.p, n, at, out);
}

qs_status qidx_set(qs_vm *vm, qs_value base, int n, const qs_value *at, TypeMods mods, const char *name, qs_value v) {
    Base b;
    size_t linear;
    if (base.kind == QS_ARRAY) {
        Array *a = qval_array(base);
        if (v.kind != QS_ARRAY && quick_place(a, n, at, &linear)) return qarr_put(vm, a, linear, v);
        open_array(&b, vm, a, mods, name);
        return set_array(&b, a, n, at, v);
    }
    if (base.kind != QS_CELL) return cannot_index(vm, base, name);
    open_cell(&b, vm, base.u.p, mods, name);
    return set_cell(&b, base.u.p, n, at, v);
}

qs_status qidx_update(qs_vm *vm, Op op, qs_value base, int n, const qs_value *at, TypeMods mods, const char *name,
                      qs_value v) {
    qs_value old, new;
    if (base.kind == QS_ARRAY && n == 1 && qval_is_colon(at[0])) return qarith_update(vm, op, base, v);
    TRY(qidx_get(vm, base, n, at, mods, name, &old));
    TRY(qarith_binary_reuse(vm, op, old, v, ARITH_OWNS_A, &new));
    qs_status s = qidx_set(vm, base, n, at, mods, name, new);
    qval_release(vm, new);
    return s;
}
