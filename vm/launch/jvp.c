/* jvp.c -- forward-mode derivative of a recorded launch: one launch repeats the original and computes its tangents.  If
 * no such code exists, the transpose of the backward pass is used. */
#include "lang/syntax/operators.h"
#include "vm/launch/gradient.h"

static qs_status tangent_form(qs_vm *vm, const Recorded *rec, const qs_value *dx, GradientForm **out) {
    GradientOf key = rec->gradient->key;
    key.forward = true;
    for (int i = 0; i < rec->n; i++) {
        const RecordedParam *p = &rec->param[i];
        key.adds[i] = key.enters[i] = false;
        key.active[i] = p->active && (p->written || dx[p->input].kind != QS_NIL);
    }
    return qgradient_form(vm, rec->form, rec->which, &key, out);
}

/* Only the contents that the backward pass reads were saved. */
static bool has_contents(const Recorded *rec, const KGrad *code) {
    for (int i = 0; i < rec->n; i++)
        if (rec->param[i].array && code->param[i].needed && !rec->param[i].contents) return false;
    return true;
}

/* Only the backward pass detects that several positions have written one element with =. */
static bool may_meet(const KGrad *back) {
    for (int i = 0; i < back->nextra; i++)
        if (back->extra[i].kind == KX_CLAIM) return true;
    return false;
}

/* Converts the tangent of the origin to that of the number parameter; the inverse of give_number. */
static qs_status take_number(qs_vm *vm, const RecordedParam *p, qs_value dx, qs_value *out) {
    qs_value from = qtape_plain(p->origin.from);
    if (from.kind == QS_ARRAY) return qslice_take(vm, qval_array(dx), p->origin.part, out);
    if (from.kind != QS_COMPLEX) return *out = qval_retain(dx), QS_OK;
    return qelementwise_apply(vm, p->origin.part ? EL_imag : EL_real, 1, &dx, out);
}

/* Broadcasts the tangent as its array was broadcast. */
static qs_status stretched(qs_vm *vm, qs_value dx, const NodeShape *s, qs_value *out) {
    Trace t = {.kind = QS_ARRAY, .dtype = (uint8_t)s->dtype, .rank = (uint8_t)s->rank, .ndim = (uint8_t)s->ndim};
    size_t count = 1;
    for (int d = 0; d < s->rank; d++) count *= (size_t)(t.dims[d] = s->dims[d]);
    if (qval_array(dx)->count == count) return *out = qval_retain(dx), QS_OK;
    qs_value zero;
    TRY(qtrace(vm)->form(vm, &t, &zero));
    qs_status st = qops_binary(vm, OP_ADD, dx, zero, out);
    return qval_release(vm, zero), st;
}

static qs_status open_tangent_array(Gradient *g, int i, qs_value dx) {
    NodeShape s = qrecord_shape(&g->rec->param[i]);
    qs_value x;
    if (dx.kind == QS_NIL) return qgradient_zeros(g->run.vm, &s, false, &g->adjoint[i]);
    TRY(stretched(g->run.vm, dx, &s, &x));
    qs_status st = qgradient_open_adjoint(g, i, x);
    return qval_release(g->run.vm, x), st;
}

static qs_status open_tangent_number(Gradient *g, int i, qs_value dx) {
    NodeShape s = {.ndim = 1, .rank = 1, .dims = {1}};
    s.dtype = (qs_dtype)g->rec->form->version[g->rec->which].func->params[i].dtype;
    qs_value x;
    TRY(take_number(g->run.vm, &g->rec->param[i], dx, &x));
    qs_status st = qslice_put(g->run.vm, &s, 1, (int64_t[]){0}, &x, &g->adjoint[i]);
    return qval_release(g->run.vm, x), st;
}

static qs_status open_tangents(Gradient *g, const qs_value *dx) {
    for (int i = 0; i < g->rec->n; i++) {
        const RecordedParam *p = &g->rec->param[i];
        TRY(qgradient_open_contents(g, i));
        if (g->code->param[i].adjoint >= 0)
            TRY((p->array ? open_tangent_array : open_tangent_number)(g, i, dx[p->input]));
    }
    return QS_OK;
}

static qs_status give_tangents(Gradient *g, qs_value *dy) {
    const Recorded *rec = g->rec;
    for (int k = 0; k < rec->nout; k++) {
        Array *a = g->adjoint[rec->out[k].param];
        if (!a || g->node->out[k].kind == QS_NIL) continue;
        if (rec->out[k].element >= 0) TRY(qslice_take(g->run.vm, a, rec->out[k].element, &dy[k]));
        else dy[k] = qval_retain(qval_object(QS_ARRAY, a));
    }
    return QS_OK;
}

/* Runs the forward-mode code of a recorded launch.  If positions share data other than by sums, there is no such code,
 * and the transposed backward pass is used. */
qs_status qjvp_forward(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy) {
    const Recorded *rec = n->data;
    Gradient g; /* not initialized, because it is large */
    GradientForm *form;
    if (rec->stopped) return qgradient_stopped(vm, n, rec);
    if (rec->gradient->refused) return qgradient_refusal(vm, n, rec->gradient);
    if (may_meet(&rec->gradient->code)) return qtrace(vm)->transpose(vm, n, dx, dy);
    TRY(tangent_form(vm, rec, dx, &form));
    if (form->refused || !has_contents(rec, &form->code)) return qtrace(vm)->transpose(vm, n, dx, dy);
    TRY(qkernel_swept(vm, n));
    qgradient_begin(&g, vm, n, form, NULL);
    qs_status s = open_tangents(&g, dx);
    if (s == QS_OK) s = qgradient_run(&g);
    if (s == QS_OK) s = give_tangents(&g, dy);
    return qgradient_close(&g), s;
}
