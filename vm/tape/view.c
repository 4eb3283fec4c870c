/* view.c -- views of an array as Python takes them: slices, transposes, reshaped arrays.
 *
 * A plain array gives a view that shares its memory.  For an array that is recorded, the elements are copied, and the
 * record contains their layout in the source and in the result.  The adjoint moves elements from the second layout to
 * the first, and its own adjoint moves them back, so one rule serves all orders of derivatives.  Changing such a copy
 * in place would not change the others, and is refused while others exist. */
#include "vm/base/dtype.h"
#include "vm/tape/tape_internal.h"

#include <string.h>

/* Layout of elements in a block of memory that holds them all; steps and first count elements. */
typedef struct {
    int ndim;
    int64_t dims[QS_MAX_RANK], steps[QS_MAX_RANK], first;
} Layout;
typedef struct {
    Layout at[2];
    int64_t span;
} Move; /* moves elements from layout 0 to layout 1 */

static const GradRule there, back;

/* Extends [*lo, *hi] by the range that the layout covers. */
static void extend(const Layout *l, int64_t *lo, int64_t *hi) {
    int64_t first = l->first, last = l->first;
    for (int d = 0; d < l->ndim; d++) {
        if (l->dims[d] == 0) return;
        int64_t way = (l->dims[d] - 1) * l->steps[d];
        *(way < 0 ? &first : &last) += way;
    }
    if (first < *lo) *lo = first;
    if (last > *hi) *hi = last;
}

static bool next_element(const Layout *l, int64_t *at, int64_t *place) {
    for (int d = l->ndim; d-- > 0;) {
        *place += l->steps[d];
        if (++at[d] < l->dims[d]) return true;
        *place -= l->dims[d] * l->steps[d];
        at[d] = 0;
    }
    return false;
}

/* Adds dense elements of n parts each at the positions of the layout; positions may coincide. */
#define ADD_OF(T)                                                                                                      \
    static void add_##T(const Layout *l, int n, const T *from, T *to) {                                                \
        int64_t at[QS_MAX_RANK] = {0}, place = l->first;                                                               \
        do {                                                                                                           \
            for (int i = 0; i < n; i++) to[place * n + i] += *from++;                                                  \
        } while (next_element(l, at, &place));                                                                         \
    }
ADD_OF(float)
ADD_OF(double)

/* Returns a new array with the elements that layout `to` selects; x has layout `from`.  Records nothing. */
static qs_status move_floats(qs_vm *vm, const Move *m, int from, Array *x, Array **out) {
    const Layout *to = &m->at[!from];
    Array *run = NULL, *view;
    const void *p;
    void *q;
    qs_dtype d = (qs_dtype)x->dtype;
    int parts = 1 + qdtype_is_complex(d);
    TRY(qarr_contiguous(vm, x, &x));
    qs_status s = qarr_new(vm, d, 1, &m->span, true, &run);
    if (s == QS_OK) s = qarr_read(vm, x, &p);
    if (s == QS_OK) s = qarr_write(vm, run, &q);
    if (s == QS_OK && x->count && qdtype_size(d) == sizeof(float) * (size_t)parts) add_float(&m->at[from], parts, p, q);
    else if (s == QS_OK && x->count) add_double(&m->at[from], parts, p, q);
    if (s == QS_OK) s = qarr_view(vm, run, to->ndim, to->dims, to->steps, (size_t)to->first, &view);
    if (run) qarr_release(vm, run);
    qarr_release(vm, x);
    TRY(s);
    s = qarr_copy(vm, view, out);
    if (s == QS_OK) qarr_keep(*out, to->ndim);
    return qarr_release(vm, view), s;
}

/* Half-precision elements are added in float and rounded once. */
static qs_status move_elements(qs_vm *vm, const Move *m, int from, Array *x, Array **out) {
    Array *wide, *sum;
    qs_dtype d = (qs_dtype)x->dtype;
    if (d != QS_F16 && d != QS_BF16) return move_floats(vm, m, from, x, out);
    TRY(qarr_convert(vm, x, QS_F32, &wide));
    qs_status s = move_floats(vm, m, from, wide, &sum);
    qarr_release(vm, wide);
    TRY(s);
    s = qarr_convert(vm, sum, d, out);
    if (s == QS_OK) qarr_keep(*out, m->at[!from].ndim);
    return qarr_release(vm, sum), s;
}

static qs_status move_recorded(qs_vm *vm, const Move *m, int from, qs_value v, qs_value *out) {
    Array *r;
    Trace *edge = qtape_edge(vm, v);
    qtape_enter(vm);
    qs_status s = move_elements(vm, m, from, v.u.p, &r);
    qtape_leave(vm);
    if (s != QS_OK) return qtape_release(vm, edge), s;
    Move *data = qmem_alloc(qvm_ctx(vm), sizeof *data);
    *data = *m;
    *out = qarr_value(r);
    qtape_record(vm, from ? &back : &there, data, 1, &edge, 1, out);
    return QS_OK;
}

static void free_move(qs_vm *vm, GradNode *n) { qmem_free(qvm_ctx(vm), n->data, sizeof(Move)); }
static qs_status there_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    return move_recorded(vm, n->data, 1, dy[0], &dx[0]);
}
static qs_status back_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    return move_recorded(vm, n->data, 0, dy[0], &dx[0]);
}
/* The rules are linear: tangents move like values. */
static const GradRule there = {
    .name = "a view", .reverse = there_reverse, .forward = back_reverse, .release = free_move};
static const GradRule back = {
    .name = "the adjoint of a view", .reverse = back_reverse, .forward = there_reverse, .release = free_move};

static Layout layout_of(int ndim, const int64_t *dims, const int64_t *steps, int64_t first) {
    Layout l = {.ndim = ndim, .first = first};
    memcpy(l.dims, dims, (size_t)ndim * sizeof *dims);
    memcpy(l.steps, steps, (size_t)ndim * sizeof *steps);
    return l;
}

/* -- families ------------------------------------------------------------------------------------------------------ */
/* An array, its views, and their views, while they exist: in Python they share their elements. */
typedef struct Family {
    uint32_t members;
} Family;

static void add_member(Array *a, Family *f) { a->family = f, f->members++; }

static void join_family(qs_vm *vm, Array *a, Array *view) {
    if (!a->family) add_member(a, qmem_alloc(qvm_ctx(vm), sizeof *a->family));
    add_member(view, a->family);
}

void qview_leave(qs_vm *vm, Array *a) {
    if (!--a->family->members) qmem_free(qvm_ctx(vm), a->family, sizeof *a->family);
    a->family = NULL;
}

bool qview_has_relatives(const Array *a) { return a->family && a->family->members > 1; }

qs_status qhook_view(qs_vm *vm, Array *a, int ndim, const int64_t *dims, const int64_t *steps, size_t offset,
                     Array **out) {
    int64_t own[QS_MAX_RANK], strides[QS_MAX_RANK], lo = INT64_MAX, hi = INT64_MIN;
    qs_value r;
    Move m;
    if (!qtape_is_recorded(vm, qarr_value(a))) return qarr_view(vm, a, ndim, dims, steps, offset, out);
    int n = qarr_shape(a, own, strides);
    m.at[0] = layout_of(n, own, strides, (int64_t)a->offset);
    m.at[1] = layout_of(ndim, dims, steps, (int64_t)offset);
    extend(&m.at[0], &lo, &hi), extend(&m.at[1], &lo, &hi);
    if (lo > hi) lo = hi = 0;
    m.span = hi - lo + 1, m.at[0].first -= lo, m.at[1].first -= lo;
    if (!a->count) m.at[0].first = m.at[1].first = 0;
    TRY(move_recorded(vm, &m, 0, qarr_value(a), &r));
    join_family(vm, a, r.u.p);
    return *out = r.u.p, QS_OK;
}
