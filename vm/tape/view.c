/* view.c -- some elements of an array in another shape, as Python takes them: slices, transposes, reshaped arrays.
 *
 * Plain arrays give a view, which shares their memory.  Of an array whose derivative is recorded the elements are
 * copied, and the record says where they lay: adjoints go back by the same two layouts the other way round, and that
 * again by the first ones.  So one rule serves all of it, to any order.  To change one of them in place would not reach
 * the others, and is refused while there are any. */
#include "vm/base/dtype.h"
#include "vm/tape/tape_internal.h"

#include <string.h>

/* Where the elements of an array lie in a run of memory that holds them all; steps and first count elements. */
typedef struct {
    int ndim;
    int64_t dims[QS_MAX_RANK], steps[QS_MAX_RANK], first;
} Layout;
typedef struct {
    Layout at[2];
    int64_t span;
} Move; /* elements of layout 0 go where layout 1 has them */

static const GradRule there, back;

/* Extends [*lo, *hi] by what the layout touches. */
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

static bool next(const Layout *l, int64_t *at, int64_t *place) {
    for (int d = l->ndim; d-- > 0;) {
        *place += l->steps[d];
        if (++at[d] < l->dims[d]) return true;
        *place -= l->dims[d] * l->steps[d];
        at[d] = 0;
    }
    return false;
}

/* Adds packed elements, of which each is n parts, where the layout says: two of them may go to one place. */
#define ADD_OF(T)                                                                                                      \
    static void add_##T(const Layout *l, int n, const T *from, T *to) {                                                \
        int64_t at[QS_MAX_RANK] = {0}, place = l->first;                                                               \
        do {                                                                                                           \
            for (int i = 0; i < n; i++) to[place * n + i] += *from++;                                                  \
        } while (next(l, at, &place));                                                                                 \
    }
ADD_OF(float)
ADD_OF(double)

/* The elements of x, which lie as layout `from` says, as a new array of what layout `to` says; no record. */
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

/* Halves are added as floats, and rounded once. */
static qs_status move(qs_vm *vm, const Move *m, int from, Array *x, Array **out) {
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

static qs_status moved(qs_vm *vm, const Move *m, int from, qs_value v, qs_value *out) {
    Array *r;
    Trace *edge = qtape_edge(vm, v);
    qtape_enter(vm);
    qs_status s = move(vm, m, from, v.u.p, &r);
    qtape_leave(vm);
    if (s != QS_OK) return qtape_release(vm, edge), s;
    Move *data = qmem_alloc(qvm_ctx(vm), sizeof *data);
    *data = *m;
    *out = qarr_value(r);
    qtape_record(vm, from ? &back : &there, data, 1, &edge, 1, out);
    return QS_OK;
}

static void release(qs_vm *vm, GradNode *n) { qmem_free(qvm_ctx(vm), n->data, sizeof(Move)); }
static qs_status there_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    return moved(vm, n->data, 1, dy[0], &dx[0]);
}
static qs_status back_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    return moved(vm, n->data, 0, dy[0], &dx[0]);
}
/* Linear: tangents go the way of the values. */
static const GradRule there = {.name = "a view", .reverse = there_reverse, .forward = back_reverse, .release = release};
static const GradRule back = {
    .name = "the adjoint of a view", .reverse = back_reverse, .forward = there_reverse, .release = release};

static Layout layout_of(int ndim, const int64_t *dims, const int64_t *steps, int64_t first) {
    Layout l = {.ndim = ndim, .first = first};
    memcpy(l.dims, dims, (size_t)ndim * sizeof *dims);
    memcpy(l.steps, steps, (size_t)ndim * sizeof *steps);
    return l;
}

/* -- families ------------------------------------------------------------------------------------------------------ */
/* An array, its views, and theirs, as long as they live: to Python they are the same elements. */
typedef struct Family {
    uint32_t members;
} Family;

static void enter(Array *a, Family *f) { a->family = f, f->members++; }

static void join(qs_vm *vm, Array *a, Array *view) {
    if (!a->family) enter(a, qmem_alloc(qvm_ctx(vm), sizeof *a->family));
    enter(view, a->family);
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
    TRY(moved(vm, &m, 0, qarr_value(a), &r));
    join(vm, a, r.u.p);
    return *out = r.u.p, QS_OK;
}
