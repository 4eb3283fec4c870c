/* record.c -- a launch becomes a node of the tape.
 *
 *     bound ── does an operand depend on what a derivative is asked of? ── the code of the gradient says whose contents
 *     it wants again ── these are kept ── it runs ── arrays that were written, and variables, get their traces
 *
 * Operands are arrays and the numbers among the parameters, each parameter one.  Of numbers the trace comes with the
 * binding (Origin): a traced number, or an array of which an element is handed over by value. */
#include "vm/launch/record.h"

#include <string.h>

/* -- which parameters ---------------------------------------------------------------------------------------------- */
static bool is_smooth(qs_dtype d) { return d >= QS_F16; }

static bool is_recorded(const Run *r, int i) {
    const KParam *p = &qlaunch_func(r)->params[i];
    if (!is_smooth((qs_dtype)p->dtype)) return false;
    if (p->kind == KP_NUM) return qtape_is_recorded(r->vm, r->bound.origin[i].from);
    return r->bound.array[i] && qtape_is_recorded(r->vm, qval_object(QS_ARRAY, r->bound.array[i]));
}

static bool any_recorded(const Run *r) {
    for (int i = 0; i < qlaunch_func(r)->nparams; i++)
        if (is_recorded(r, i)) return true;
    return false;
}

/* What is written depends on what is recorded, as far as is known here. */
static void find_active(const Run *r, bool *active) {
    const KFunc *f = qlaunch_func(r);
    for (int i = 0; i < f->nparams; i++) {
        const KParam *p = &f->params[i];
        active[i] = is_recorded(r, i) || (p->kind == KP_ARRAY && p->written && is_smooth((qs_dtype)p->dtype));
    }
}

/* -- what is kept -------------------------------------------------------------------------------------------------- */
static qs_dtype adjoint_dtype(qs_dtype d) { return qdtype_is_complex(d) ? d : kir_value_dtype(d); }

static Shape shape_of(const KParam *p, const DevArg *arg, const Array *a) {
    Shape s = {.dtype = adjoint_dtype((qs_dtype)p->dtype), .rank = arg->rank, .ndim = arg->rank};
    size_t count = 1;
    for (int d = 0; d < arg->rank; d++) s.dims[d] = arg->dims[d], count *= (size_t)arg->dims[d];
    if (!a || a->count != count) return s;
    s.rank = a->rank, s.ndim = a->ndim;
    memcpy(s.dims, a->dims, sizeof s.dims);
    return s;
}

static qs_status keep_array(Run *r, Recorded *rec, int i) {
    RecordedParam *p = &rec->param[i];
    Array *a = r->bound.array[i];
    const KGrad *g = rec->gradient->refused ? NULL : &rec->gradient->code;
    qs_value kept;
    p->written = qlaunch_func(r)->params[i].written;
    p->shape = shape_of(&qlaunch_func(r)->params[i], &p->arg, a);
    if (!a || !g || !g->param[i].needed) return QS_OK;
    TRY(qtape_keep(r->vm, qval_object(QS_ARRAY, a), &kept));
    return p->contents = qval_array(kept), QS_OK;
}

/* The operand as it is before it runs. */
static Trace *edge(const Run *r, const RecordedParam *p, int i) {
    if (!p->array) return qtape_edge(r->vm, r->bound.origin[i].from);
    return r->bound.array[i] ? qtape_edge(r->vm, qval_object(QS_ARRAY, r->bound.array[i])) : NULL;
}

static qs_status keep(Run *r, Recorded *rec, const bool *active, int i) {
    RecordedParam *p = &rec->param[i];
    p->arg = r->bound.arg[i], p->array = p->arg.is_array, p->active = active[i], p->input = p->output = -1;
    p->origin = (Origin){qs_nil(), 0};
    if (p->array) TRY(keep_array(r, rec, i));
    else if (qtape_trace(r->bound.origin[i].from)) {
        p->origin.part = r->bound.origin[i].part;
        TRY(qtape_keep(r->vm, r->bound.origin[i].from, &p->origin.from));
    }
    if (active[i]) rec->in[rec->nin] = edge(r, p, i), p->input = rec->nin++;
    return QS_OK;
}

/* The gradient knows an array by one name. */
static qs_status check_names(const Run *r) {
    const KFunc *f = qlaunch_func(r);
    for (int i = 0; i < f->nparams; i++)
        for (int k = 0; k < f->nparams; k++) {
            const Array *a = f->params[i].kind == KP_ARRAY ? r->bound.array[i] : NULL;
            const Array *b = f->params[k].kind == KP_ARRAY ? r->bound.array[k] : NULL;
            if (i == k || !a || !b || !f->params[i].written || !qarr_overlap(a, b)) continue;
            return qerr_at(qvm_ctx(r->vm), QS_EVALUE, qvm_here(r->vm),
                           "%s%s has no derivative here: it writes %s, which shares memory with %s; pass copy(%s)",
                           r->form->noun, f->name->s, f->params[i].name->s, f->params[k].name->s, f->params[k].name->s);
        }
    return QS_OK;
}

static qs_status check_written(const Run *r) {
    const KFunc *f = qlaunch_func(r);
    TRY(check_names(r));
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].kind == KP_ARRAY && f->params[i].written && r->bound.array[i])
            TRY(qtape_check_alone(r->vm, r->bound.array[i]));
    return QS_OK;
}

void qrecord_free(qs_vm *vm, Recorded *rec) {
    for (int i = 0; i < rec->n; i++) {
        if (rec->param[i].contents) qarr_release(vm, rec->param[i].contents);
        if (rec->param[i].after) qarr_release(vm, rec->param[i].after);
        qval_release(vm, rec->param[i].origin.from);
    }
    for (int i = 0; rec->in && i < rec->nin; i++) qtape_release(vm, rec->in[i]);
    Ctx *c = qvm_ctx(vm);
    if (rec->in) qmem_free(c, rec->in, (size_t)rec->n * sizeof *rec->in);
    if (rec->out) qmem_free(c, rec->out, (size_t)rec->nout * sizeof *rec->out);
    qmem_free(c, rec->param, (size_t)rec->n * sizeof *rec->param);
    if (rec->gradient) qform_let_go(vm, &rec->gradient->base);
    qform_let_go(vm, rec->form);
    qmem_free(c, rec, sizeof *rec);
}

static qs_status fill(Run *r, Recorded *rec) {
    bool active[MAX_PARAMS];
    find_active(r, active);
    TRY(check_written(r));
    TRY(qgradient_form(r->vm, r->form, r->which, active, &rec->gradient));
    qform_hold(&rec->gradient->base);
    for (int i = 0; i < rec->n; i++) TRY(keep(r, rec, active, i));
    return QS_OK;
}

qs_status qrecord_begin(Run *r) {
    Ctx *c = qvm_ctx(r->vm);
    r->recorded = NULL;
    if (!qtape_is_on(r->vm) || r->unrecorded || !any_recorded(r)) return QS_OK;
    Recorded *rec = qmem_alloc(c, sizeof *rec);
    size_t n = (size_t)qlaunch_func(r)->nparams;
    rec->form = qform_hold(r->form), rec->which = r->which, rec->launch = r->launch;
    rec->device = r->chosen ? NULL : r->device;
    rec->n = (int)n;
    rec->param = qmem_alloc(c, n * sizeof *rec->param), rec->in = qmem_alloc(c, n * sizeof *rec->in);
    for (size_t i = 0; i < n; i++) rec->param[i].origin.from = qs_nil();
    qs_status s = fill(r, rec);
    if (s != QS_OK) return qrecord_free(r->vm, rec), s;
    return r->recorded = rec, QS_OK;
}

void qrecord_drop(Run *r) {
    if (r->recorded) qrecord_free(r->vm, r->recorded);
    r->recorded = NULL;
}

/* -- afterwards ---------------------------------------------------------------------------------------------------- */
/* Arrays come first; the memory of the host in which variables lie is none. */
static int count_outs(const Run *r, const Recorded *rec, int n) {
    for (int i = 0; i < rec->n; i++) n += rec->param[i].written && rec->param[i].active && r->bound.array[i];
    return n;
}

/* What the gradient reads of the results. */
static qs_status keep_after(Run *r, Recorded *rec) {
    const GradientForm *g = rec->gradient;
    for (int i = 0; !g->refused && i < g->code.nextra; i++) {
        const KExtra *x = &g->code.extra[i];
        qs_value kept;
        if (x->kind != KX_AFTER) continue;
        if (!r->bound.array[x->which])
            return qerr_set(qvm_ctx(r->vm), QS_EINTERNAL, "a gradient wants memory that is gone");
        TRY(qtape_keep_plain(r->vm, qval_object(QS_ARRAY, r->bound.array[x->which]), &kept));
        rec->param[x->which].after = qval_array(kept);
    }
    return QS_OK;
}

qs_status qrecord_end(Run *r, int n, const Extracted *from) {
    Recorded *rec = r->recorded;
    Ctx *c = qvm_ctx(r->vm);
    if (!rec) return QS_OK;
    qs_status kept = keep_after(r, rec);
    if (kept != QS_OK) return qrecord_drop(r), kept;
    r->recorded = NULL;
    rec->nout = count_outs(r, rec, n);
    rec->out = qmem_alloc(c, (size_t)rec->nout * sizeof *rec->out);
    Trace **in = rec->in;
    qs_value *out = qmem_alloc(c, (size_t)rec->nout * sizeof *out);
    int nin = rec->nin, at = 0, nparams = rec->n, nout = rec->nout;
    for (int i = 0; i < rec->n; i++)
        if (rec->param[i].written && rec->param[i].active && r->bound.array[i])
            rec->param[i].output = at, rec->out[at] = (RecordedOut){i, -1},
            out[at++] = qval_retain(qval_object(QS_ARRAY, r->bound.array[i]));
    for (int i = 0; i < n; i++)
        rec->out[at] = (RecordedOut){from[i].param, from[i].element}, out[at++] = *from[i].v;
    rec->in = NULL;
    qtape_record(r->vm, &qgradient_rule, rec, nin, in, nout, out);
    for (int i = 0; i < nout - n; i++) qval_release(r->vm, out[i]);
    for (int i = 0; i < n; i++) *from[i].v = out[nout - n + i];
    qmem_free(c, in, (size_t)nparams * sizeof *in);
    qmem_free(c, out, (size_t)nout * sizeof *out);
    return QS_OK;
}
