/* slice_node.c -- derivative rules of small operations: a dense copy, which is its own adjoint; an element taken out,
 * and elements put in; the entries of a cell packed into an array, and one entry unpacked.  The last four form two
 * pairs that are adjoint to each other. */
#include "vm/launch/slice_node.h"

#include <string.h>

typedef struct {
    int n;
    int64_t element[];
} Positions;

static Positions *new_positions(qs_vm *vm, int n, const int64_t *element) {
    Positions *p = qmem_alloc(qvm_ctx(vm), qmem_size((size_t)n, sizeof *element, sizeof *p));
    p->n = n;
    memcpy(p->element, element, (size_t)n * sizeof *element);
    return p;
}

static void free_positions(qs_vm *vm, GradNode *n) {
    Positions *p = n->data;
    qmem_free(qvm_ctx(vm), p, sizeof *p + (size_t)p->n * sizeof *p->element);
}

static NodeShape shape_of_trace(const Trace *t) {
    NodeShape s = {.dtype = (qs_dtype)t->dtype, .ndim = t->ndim, .rank = t->rank};
    memcpy(s.dims, t->dims, sizeof s.dims);
    return s;
}

/* -- a copy -------------------------------------------------------------------------------------------------------- */
static qs_status pass_adjoint(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    (void)vm;
    if (n->in[0]) dx[0] = qval_retain(dy[0]);
    return QS_OK;
}
static const GradRule copy_rule = {.name = "a copy", .reverse = pass_adjoint, .release = NULL};

bool qslice_fits(const Array *a, const NodeShape *s) {
    return a->contiguous && a->dtype == s->dtype && a->rank == s->rank &&
           !memcmp(a->dims, s->dims, (size_t)s->rank * sizeof *s->dims);
}

static qs_status copied(qs_vm *vm, qs_value v, const NodeShape *s, Array **out) {
    if (v.kind == QS_ARRAY && qslice_fits(qval_array(v), s)) { /* copies on the device that has the data */
        TRY(qarr_copy(vm, qval_array(v), out));
        return qarr_keep(*out, s->ndim), QS_OK;
    }
    TRY(qarr_new(vm, s->dtype, s->rank, s->dims, false, out));
    qarr_keep(*out, s->ndim);
    if (v.kind != QS_ARRAY) return qarr_fill(vm, *out, qtape_plain(v));
    return qarr_assign(vm, *out, qval_array(v));
}

static void record_node(qs_vm *vm, const GradRule *rule, void *data, int n, const qs_value *in, qs_value *out) {
    Trace **edges = qmem_alloc(qvm_ctx(vm), qmem_size((size_t)n, sizeof *edges, 0));
    for (int i = 0; i < n; i++) edges[i] = qtape_edge(vm, in[i]);
    qtrace(vm)->record(vm, rule, data, n, edges, 1, out);
    qmem_free(qvm_ctx(vm), edges, (size_t)n * sizeof *edges);
}

qs_status qslice_copy(qs_vm *vm, qs_value v, const NodeShape *s, Array **out) {
    *out = NULL;
    qtape_enter(vm);
    qs_status st = copied(vm, v, s, out);
    qtape_leave(vm);
    if (st != QS_OK && *out) qarr_release(vm, *out), *out = NULL;
    qs_value made = qval_object(QS_ARRAY, *out);
    if (st == QS_OK && qtape_is_on(vm) && qtape_is_recorded(vm, v)) record_node(vm, &copy_rule, NULL, 1, &v, &made);
    return st;
}

/* -- elements ------------------------------------------------------------------------------------------------------ */
static qs_status put_back(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    const Positions *p = n->data;
    NodeShape s = shape_of_trace(n->in[0]);
    Array *a;
    TRY(qslice_put(vm, &s, 1, p->element, dy, &a));
    return dx[0] = qarr_value(a), QS_OK;
}
static const GradRule take_rule = {.name = "an element", .reverse = put_back, .release = free_positions};

static qs_status take_back(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    const Positions *p = n->data;
    for (int i = 0; i < n->nin; i++)
        if (n->in[i]) TRY(qslice_take(vm, qval_array(dy[0]), p->element[i], &dx[i]));
    return QS_OK;
}
static const GradRule put_rule = {.name = "elements", .reverse = take_back, .release = free_positions};

qs_status qslice_take(qs_vm *vm, Array *a, int64_t element, qs_value *out) {
    qs_value from = qval_object(QS_ARRAY, a);
    qtape_enter(vm);
    qs_status s = qarr_get(vm, a, (size_t)element, out);
    qtape_leave(vm);
    if (s != QS_OK || !qtape_is_on(vm) || !qtape_is_recorded(vm, from)) return s;
    return record_node(vm, &take_rule, new_positions(vm, 1, &element), 1, &from, out), QS_OK;
}

qs_status qslice_put(qs_vm *vm, const NodeShape *s, int n, const int64_t *element, const qs_value *number,
                     Array **out) {
    qs_status st = QS_OK;
    TRY(qarr_new(vm, s->dtype, s->rank, s->dims, true, out));
    qarr_keep(*out, s->ndim);
    for (int i = 0; i < n && st == QS_OK; i++) st = qarr_put(vm, *out, (size_t)element[i], qtape_plain(number[i]));
    qs_value made = qval_object(QS_ARRAY, *out);
    if (st != QS_OK) return qarr_release(vm, *out), *out = NULL, st;
    if (qtape_is_on(vm) && qtape_any(vm, n, number))
        record_node(vm, &put_rule, new_positions(vm, n, element), n, number, &made);
    return QS_OK;
}

/* -- entries of a cell --------------------------------------------------------------------------------------------- */
static int64_t count_of(const NodeShape *s) {
    int64_t n = 1;
    for (int d = 0; d < s->rank; d++) n *= s->dims[d];
    return n;
}

/* Returns entry i of `packed`, dense.  With `into`, returns zeros of the shape s with the array `from` as entry i. */
static qs_status copy_slice(qs_vm *vm, Array *from, int64_t i, const NodeShape *s, bool into, Array **out) {
    NodeShape small = *s;
    Array *view, *whole;
    int64_t n = into ? (int64_t)from->count : count_of(s), strides[QS_MAX_RANK], step = 1;
    if (into) small.rank = from->rank, memcpy(small.dims, from->dims, sizeof small.dims);
    for (int d = small.rank; d-- > 0;) strides[d] = step, step *= small.dims[d];
    TRY(qarr_new(vm, s->dtype, s->rank, s->dims, into, out));
    qarr_keep(*out, s->ndim);
    whole = into ? *out : from;
    TRY(qarr_view(vm, whole, small.rank, small.dims, strides, (size_t)(i * n), &view));
    qs_status st = into ? qarr_assign(vm, view, from) : qarr_assign(vm, *out, view);
    return qarr_release(vm, view), st;
}

static qs_status apply_slice(qs_vm *vm, const GradRule *rule, Array *from, int64_t i, const NodeShape *s, bool into,
                             Array **out) {
    qs_value in = qval_object(QS_ARRAY, from), made;
    *out = NULL;
    qtape_enter(vm);
    qs_status st = copy_slice(vm, from, i, s, into, out);
    qtape_leave(vm);
    if (st != QS_OK && *out) qarr_release(vm, *out), *out = NULL;
    made = qval_object(QS_ARRAY, *out);
    if (st == QS_OK && qtape_is_on(vm) && qtape_is_recorded(vm, in))
        record_node(vm, rule, new_positions(vm, 1, &i), 1, &in, &made);
    return st;
}

static qs_status put_entry(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx);
static qs_status take_entry(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx);
static const GradRule entry_rule = {.name = "an entry", .reverse = put_entry, .release = free_positions};
static const GradRule entered_rule = {.name = "an entry", .reverse = take_entry, .release = free_positions};

static qs_status put_entry(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    NodeShape whole = shape_of_trace(n->in[0]);
    Array *a;
    TRY(apply_slice(vm, &entered_rule, qval_array(dy[0]), ((const Positions *)n->data)->element[0], &whole, true, &a));
    return dx[0] = qarr_value(a), QS_OK;
}

static qs_status take_entry(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    NodeShape one = shape_of_trace(n->in[0]);
    Array *a;
    TRY(apply_slice(vm, &entry_rule, qval_array(dy[0]), ((const Positions *)n->data)->element[0], &one, false, &a));
    return dx[0] = qarr_value(a), QS_OK;
}

static qs_status unpack_adjoints(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    for (int i = 0; i < n->nin; i++) {
        Array *a;
        if (!n->in[i]) continue;
        NodeShape one = shape_of_trace(n->in[i]);
        TRY(apply_slice(vm, &entry_rule, qval_array(dy[0]), i, &one, false, &a));
        dx[i] = qarr_value(a);
    }
    return QS_OK;
}
static const GradRule packed_rule = {.name = "entries of a cell", .reverse = unpack_adjoints};

void qslice_packed(qs_vm *vm, int n, const qs_value *entries, qs_value packed) {
    if (qtape_is_on(vm) && qtape_any(vm, n, entries)) record_node(vm, &packed_rule, NULL, n, entries, &packed);
}

void qslice_unpacked(qs_vm *vm, Trace *packed, int64_t i, qs_value entry) {
    qtrace(vm)->record(vm, &entry_rule, new_positions(vm, 1, &i), 1, &packed, 1, &entry);
}
