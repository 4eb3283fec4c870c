/* piece.c -- three small rules: a dense copy, an element taken out, elements put in.  The last two are adjoint to each
 * other, the first to itself. */
#include "vm/launch/record.h"

#include <string.h>

typedef struct { int n; int64_t element[]; } Places;

static Places *places(qs_vm *vm, int n, const int64_t *element) {
    Places *p = qmem_alloc(qvm_ctx(vm), sizeof *p + (size_t)n * sizeof *element);
    p->n = n;
    memcpy(p->element, element, (size_t)n * sizeof *element);
    return p;
}

static void forget(qs_vm *vm, GradNode *n) {
    Places *p = n->data;
    qmem_free(qvm_ctx(vm), p, sizeof *p + (size_t)p->n * sizeof *p->element);
}

static Shape shape_of_trace(const Trace *t) {
    Shape s = {.dtype = (qs_dtype)t->dtype, .ndim = t->ndim, .rank = t->rank};
    memcpy(s.dims, t->dims, sizeof s.dims);
    return s;
}

/* -- a copy -------------------------------------------------------------------------------------------------------- */
static qs_status same(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    (void)vm;
    if (n->in[0]) dx[0] = qval_retain(dy[0]);
    return QS_OK;
}
static const GradRule copy_rule = {.name = "a copy", .reverse = same, .release = NULL};

static qs_status copied(qs_vm *vm, qs_value v, const Shape *s, Array **out) {
    TRY(qarr_new(vm, s->dtype, s->rank, s->dims, false, out));
    qarr_keep(*out, s->ndim);
    if (v.kind != QS_ARRAY) return qarr_fill(vm, *out, qtape_plain(v));
    return qarr_assign(vm, *out, qval_array(v));
}

static void record(qs_vm *vm, const GradRule *rule, void *data, int n, const qs_value *in, qs_value *out) {
    Trace **edges = qmem_alloc(qvm_ctx(vm), (size_t)n * sizeof *edges);
    for (int i = 0; i < n; i++) edges[i] = qtape_edge(vm, in[i]);
    qtape_record(vm, rule, data, n, edges, 1, out);
    qmem_free(qvm_ctx(vm), edges, (size_t)n * sizeof *edges);
}

qs_status qpiece_copy(qs_vm *vm, qs_value v, const Shape *s, Array **out) {
    *out = NULL;
    qtape_enter(vm);
    qs_status st = copied(vm, v, s, out);
    qtape_leave(vm);
    if (st != QS_OK && *out) qarr_release(vm, *out), *out = NULL;
    qs_value made = qval_object(QS_ARRAY, *out);
    if (st == QS_OK && qtape_is_on(vm) && qtape_is_recorded(vm, v)) record(vm, &copy_rule, NULL, 1, &v, &made);
    return st;
}

/* -- elements ------------------------------------------------------------------------------------------------------ */
static qs_status put_back(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    const Places *p = n->data;
    Shape s = shape_of_trace(n->in[0]);
    Array *a;
    TRY(qpiece_put(vm, &s, 1, p->element, dy, &a));
    return dx[0] = qarr_value(a), QS_OK;
}
static const GradRule take_rule = {.name = "an element", .reverse = put_back, .release = forget};

static qs_status take_back(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    const Places *p = n->data;
    for (int i = 0; i < n->nin; i++)
        if (n->in[i]) TRY(qpiece_take(vm, qval_array(dy[0]), p->element[i], &dx[i]));
    return QS_OK;
}
static const GradRule put_rule = {.name = "elements", .reverse = take_back, .release = forget};

qs_status qpiece_take(qs_vm *vm, Array *a, int64_t element, qs_value *out) {
    qs_value from = qval_object(QS_ARRAY, a);
    qtape_enter(vm);
    qs_status s = qarr_get(vm, a, (size_t)element, out);
    qtape_leave(vm);
    if (s != QS_OK || !qtape_is_on(vm) || !qtape_is_recorded(vm, from)) return s;
    return record(vm, &take_rule, places(vm, 1, &element), 1, &from, out), QS_OK;
}

qs_status qpiece_put(qs_vm *vm, const Shape *s, int n, const int64_t *element, const qs_value *number, Array **out) {
    qs_status st = QS_OK;
    TRY(qarr_new(vm, s->dtype, s->rank, s->dims, true, out));
    qarr_keep(*out, s->ndim);
    for (int i = 0; i < n && st == QS_OK; i++) st = qarr_put(vm, *out, (size_t)element[i], qtape_plain(number[i]));
    qs_value made = qval_object(QS_ARRAY, *out);
    if (st != QS_OK) return qarr_release(vm, *out), *out = NULL, st;
    if (qtape_is_on(vm) && qtape_any(vm, n, number))
        record(vm, &put_rule, places(vm, n, element), n, number, &made);
    return QS_OK;
}
