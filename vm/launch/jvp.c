/* jvp.c -- the forward derivative of a launch that was recorded: one launch that does what that one did, beside its
 * tangents.  Where they are not known so, the transpose of the way back gives them. */
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

/* What is kept is what the way back reads. */
static bool has_contents(const Recorded *rec, const KGrad *code) {
    for (int i = 0; i < rec->n; i++)
        if (rec->param[i].array && code->param[i].needed && !rec->param[i].contents) return false;
    return true;
}

/* Only the way back finds out whether positions have written one element with =. */
static bool may_meet(const KGrad *back) {
    for (int i = 0; i < back->nextra; i++)
        if (back->extra[i].kind == KX_CLAIM) return true;
    return false;
}

/* See give_number. */
static qs_status take_number(qs_vm *vm, const RecordedParam *p, qs_value dx, qs_value *out) {
    qs_value from = qtape_plain(p->origin.from);
    if (from.kind == QS_ARRAY) return qslice_take(vm, qval_array(dx), p->origin.part, out);
    if (from.kind != QS_COMPLEX) return *out = qval_retain(dx), QS_OK;
    return qelementwise_apply(vm, p->origin.part ? EL_imag : EL_real, 1, &dx, out);
}

/* As broadcasting has stretched its array. */
static qs_status stretched(qs_vm *vm, qs_value dx, const NodeShape *s, qs_value *out) {
    Trace t = {.kind = QS_ARRAY, .dtype = (uint8_t)s->dtype, .rank = (uint8_t)s->rank, .ndim = (uint8_t)s->ndim};
    size_t count = 1;
    for (int d = 0; d < s->rank; d++) count *= (size_t)(t.dims[d] = s->dims[d]);
    if (qval_array(dx)->count == count) return *out = qval_retain(dx), QS_OK;
    qs_value zero;
    TRY(qbackward_form(vm, &t, &zero));
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

/* One launch that does what the recorded one did, beside its tangents.  Where positions share other than by sums, there
 * is none. */
qs_status qjvp_forward(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy) {
    const Recorded *rec = n->data;
    Gradient g; /* too large to be cleared each time */
    GradientForm *form;
    if (rec->stopped) return qgradient_stopped(vm, n, rec);
    if (rec->gradient->refused) return qgradient_refusal(vm, n, rec->gradient);
    if (may_meet(&rec->gradient->code)) return qbackward_transpose(vm, n, dx, dy);
    TRY(tangent_form(vm, rec, dx, &form));
    if (form->refused || !has_contents(rec, &form->code)) return qbackward_transpose(vm, n, dx, dy);
    TRY(qkernel_swept(vm, n));
    qgradient_begin(&g, vm, n, form, NULL);
    qs_status s = open_tangents(&g, dx);
    if (s == QS_OK) s = qgradient_run(&g);
    if (s == QS_OK) s = give_tangents(&g, dy);
    return qgradient_close(&g), s;
}
