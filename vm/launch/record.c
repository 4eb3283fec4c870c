/* record.c -- records a launch as a node of the tape.
 *
 *     bound ── does an operand depend on a leaf? ── the gradient code is made and states which contents it reads
 *           ── these are saved ── the launch runs ── written arrays and variables get their traces
 *
 * The operands of the node are the array and number parameters of the launch, one each.  The trace of a number is
 * found by its binding (Origin): it belongs to a traced number, or to an array whose element is passed by value. */
#include "vm/launch/record.h"
#include "lang/kernel/ir/kir.h"

#include "devices/pool.h"

#include <string.h>

/* -- active parameters --------------------------------------------------------------------------------------------- */
static bool is_recorded(const Run *r, int i) {
    const KParam *p = &qlaunch_func(r)->params[i];
    if (!qdtype_is_smooth((qs_dtype)p->dtype) || p->log) return false;
    if (p->kind == KP_NUM) return qtape_is_recorded(r->vm, r->bound.origin[i].from);
    return r->bound.array[i] && qtape_is_recorded(r->vm, qval_object(QS_ARRAY, r->bound.array[i]));
}

static bool any_recorded(const Run *r) {
    for (int i = 0; i < qlaunch_func(r)->nparams; i++)
        if (is_recorded(r, i)) return true;
    return false;
}

/* Marks the active parameters: the recorded ones, and conservatively all that are written. */
static void find_active(const Run *r, GradientOf *of) {
    const KFunc *f = qlaunch_func(r);
    of->forward = false;
    for (int i = 0; i < f->nparams; i++) {
        const KParam *p = &f->params[i];
        of->enters[i] = is_recorded(r, i), of->adds[i] = of->one[i] = false;
        of->active[i] =
            of->enters[i] || (p->kind == KP_ARRAY && p->written && !p->log && qdtype_is_smooth((qs_dtype)p->dtype));
    }
}

/* -- saved values -------------------------------------------------------------------------------------------------- */
static qs_dtype adjoint_dtype(qs_dtype d) { return qdtype_is_complex(d) ? d : kir_value_dtype(d); }

/* The adjoint has the extents of the array, unless broadcasting has stretched it. */
static void set_shape(RecordedParam *p, const KParam *k, const DevArg *arg, const Array *a) {
    size_t count = 1;
    for (int d = 0; d < arg->rank; d++) {
        p->extent[d] = arg->dims[d], p->extent[arg->rank + d] = arg->strides[d];
        count *= (size_t)arg->dims[d];
    }
    bool own = a && a->count == count;
    p->dtype = (uint8_t)adjoint_dtype((qs_dtype)k->dtype), p->rank = (uint8_t)arg->rank;
    p->own_rank = own ? a->rank : p->rank, p->own_ndim = own ? a->ndim : p->rank;
    for (int d = 0; d < p->own_rank; d++) p->extent[2 * p->rank + d] = own ? a->dims[d] : arg->dims[d];
}

static qs_status keep_array(Run *r, Recorded *rec, int i) {
    RecordedParam *p = &rec->param[i];
    Array *a = r->bound.array[i];
    const KGrad *g = rec->gradient->refused ? NULL : &rec->gradient->code;
    qs_value kept;
    p->written = qlaunch_func(r)->params[i].written;
    set_shape(p, &qlaunch_func(r)->params[i], &r->bound.arg[i], a);
    if (!a || !g || !g->param[i].needed) return QS_OK;
    TRY(qtrace(r->vm)->keep(r->vm, qval_object(QS_ARRAY, a), &kept));
    return p->contents = qval_array(kept), QS_OK;
}

/* Returns the trace of the operand before the launch runs. */
static Trace *operand_trace(const Run *r, const RecordedParam *p, int i) {
    if (!p->array) return qtape_edge(r->vm, r->bound.origin[i].from);
    return r->bound.array[i] ? qtape_edge(r->vm, qval_object(QS_ARRAY, r->bound.array[i])) : NULL;
}

static qs_status save_param(Run *r, Recorded *rec, const bool *active, int i) {
    RecordedParam *p = &rec->param[i];
    const DevArg *a = &r->bound.arg[i];
    p->bits = a->bits, p->size = a->size, p->array = a->is_array;
    p->active = active[i], p->input = p->output = -1;
    p->origin = (Origin){qs_nil(), 0};
    if (p->array) TRY(keep_array(r, rec, i));
    else if (qtape_trace(r->bound.origin[i].from)) {
        p->origin.part = r->bound.origin[i].part;
        TRY(qtrace(r->vm)->keep(r->vm, r->bound.origin[i].from, &p->origin.from));
    }
    if (active[i]) rec->in[rec->nin] = operand_trace(r, p, i), p->input = rec->nin++;
    return QS_OK;
}

/* The gradient code assumes that arrays do not share memory, so a written array must not overlap another one. */
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
            TRY(qtrace(r->vm)->check_alone(r->vm, r->bound.array[i], f->params[i].name->s));
    return QS_OK;
}

void qrecord_free(qs_vm *vm, Recorded *rec) {
    for (int i = 0; i < rec->n; i++) {
        if (rec->param[i].contents) qarr_release(vm, rec->param[i].contents);
        if (rec->param[i].after) qarr_release(vm, rec->param[i].after);
        qval_release(vm, rec->param[i].origin.from);
    }
    for (int i = 0; rec->in && i < rec->nin; i++) qtrace(vm)->release(vm, rec->in[i]);
    if (rec->out != rec->first && rec->out) qmem_free(qvm_ctx(vm), rec->out, (size_t)rec->nout * sizeof *rec->out);
    if (rec->gradient) qspec_let_go(vm, &rec->gradient->base);
    qspec_let_go(vm, rec->form);
    qpool_put(qvm_ctx(vm), rec, rec->size);
}

static qs_status fill_record(Run *r, Recorded *rec) {
    GradientOf of; /* not initialized, because it is large */
    find_active(r, &of);
    TRY(check_written(r));
    TRY(qgradient_form(r->vm, r->form, r->which, &of, &rec->gradient));
    qspec_hold(&rec->gradient->base);
    for (int i = 0; i < rec->n; i++) TRY(save_param(r, rec, of.active, i));
    return QS_OK;
}

/* Allocates one block for the record, its parameters, their extents and the operands. */
static qs_status new_record(const Run *r, Recorded **out) {
    size_t n = (size_t)qlaunch_func(r)->nparams, extents = 0;
    for (size_t i = 0; i < n; i++) {
        const DevArg *a = &r->bound.arg[i];
        int own = a->is_array && r->bound.array[i] ? r->bound.array[i]->rank : 0;
        if (a->is_array) extents += (size_t)(2 * a->rank + (own > a->rank ? own : a->rank));
    }
    size_t params = n * sizeof(RecordedParam), edges = n * sizeof(Trace *);
    size_t size = qmem_size(extents, sizeof(int64_t), sizeof(Recorded) + params + edges);
    Recorded *rec = *out = qpool_get(qvm_ctx(r->vm), size);
    if (!rec) return qerr_set(qvm_ctx(r->vm), QS_ENOMEM, "no memory for the record of a launch");
    memset(rec, 0, sizeof *rec + params);
    rec->size = size, rec->n = (int)n, rec->out = rec->first;
    rec->param = (RecordedParam *)(rec + 1), rec->in = (Trace **)(rec->param + n);
    int64_t *next = (int64_t *)(rec->in + n);
    for (size_t i = 0; i < n; i++) {
        const DevArg *a = &r->bound.arg[i];
        int own = a->is_array && r->bound.array[i] ? r->bound.array[i]->rank : 0;
        rec->param[i].origin.from = qs_nil(), rec->param[i].extent = next;
        if (a->is_array) next += 2 * a->rank + (own > a->rank ? own : a->rank);
    }
    return QS_OK;
}

qs_status qrecord_begin(Run *r) {
    r->recorded = NULL;
    if (!qtape_is_on(r->vm) || r->unrecorded || !any_recorded(r)) return QS_OK;
    Recorded *rec;
    TRY(new_record(r, &rec));
    rec->form = qspec_hold(r->form), rec->which = r->which, rec->launch = r->launch;
    rec->device = r->chosen ? NULL : r->device, rec->optional = r->optional;
    qs_status s = fill_record(r, rec);
    if (s != QS_OK) return qrecord_free(r->vm, rec), s;
    return r->recorded = rec, QS_OK;
}

void qrecord_stop(Run *r) {
    if (r->recorded) r->recorded->stopped = true;
}

void qrecord_drop(Run *r) {
    if (r->recorded) qrecord_free(r->vm, r->recorded);
    r->recorded = NULL;
}

/* -- --explain ----------------------------------------------------------------------------------------------------- */
static void put_kept(Text *t, const Recorded *rec, const KFunc *f) {
    int n = 0;
    for (int i = 0; i < rec->n; i++) {
        const Array *kept[] = {rec->param[i].contents, rec->param[i].after};
        for (int k = 0; k < 2; k++) {
            if (!kept[k]) continue;
            double bytes = (double)kept[k]->count * (double)qdtype_size((qs_dtype)kept[k]->dtype);
            qtext_printf(t, "%s%s%s (%.3g MB)", n++ ? ", " : "", k ? "the new " : "", f->params[i].name->s,
                         bytes / 1e6);
        }
    }
    if (!n) qtext_puts(t, "nothing");
}

static void explain_saved(const Run *r, Recorded *rec) {
    const KFunc *f = rec->form->version[rec->which].func;
    GradientForm *g = rec->gradient;
    Text t;
    if (g->reported || rec->row || !qvm(r->vm)->config.explain) return;
    g->reported = true;
    qtext_init(&t, qvm_ctx(r->vm));
    if (g->refused) qtext_printf(&t, "no derivative: %s", g->why.text);
    else qtext_puts(&t, "for its derivative is kept: "), put_kept(&t, rec, f);
    qreport_explain(r->vm, qreport_location(f), "%s%s: %s", rec->form->noun, f->name->s, t.s);
    qtext_free(&t);
}

/* -- after the launch ---------------------------------------------------------------------------------------------- */
/* Counts the outputs: written arrays, then variables; host memory that receives the variables is not an array. */
static int count_outs(const Run *r, const Recorded *rec, int n) {
    for (int i = 0; i < rec->n; i++) n += rec->param[i].written && rec->param[i].active && r->bound.array[i];
    return n;
}

/* Saves the results that the gradient reads. */
static qs_status keep_after(Run *r, Recorded *rec) {
    const GradientForm *g = rec->gradient;
    for (int i = 0; !g->refused && !rec->stopped && i < g->code.nextra; i++) {
        const KExtra *x = &g->code.extra[i];
        qs_value kept;
        if (x->kind != KX_AFTER) continue;
        if (!r->bound.array[x->which])
            return qerr_set(qvm_ctx(r->vm), QS_EINTERNAL, "a gradient wants memory that is gone");
        TRY(qtrace(r->vm)->keep_plain(r->vm, qval_object(QS_ARRAY, r->bound.array[x->which]), &kept));
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
    explain_saved(r, rec);
    r->recorded = NULL;
    rec->nout = count_outs(r, rec, n);
    qs_value few[2], *out = few;
    if (rec->nout > 2) {
        rec->out = qmem_alloc(c, qmem_size((size_t)rec->nout, sizeof *rec->out, 0));
        out = qmem_alloc(c, qmem_size((size_t)rec->nout, sizeof *out, 0));
    }
    Trace **in = rec->in;
    int nin = rec->nin, at = 0, nout = rec->nout;
    for (int i = 0; i < rec->n; i++)
        if (rec->param[i].written && rec->param[i].active && r->bound.array[i])
            rec->param[i].output = at, rec->out[at] = (RecordedOut){i, -1},
            out[at++] = qval_retain(qval_object(QS_ARRAY, r->bound.array[i]));
    for (int i = 0; i < n; i++) rec->out[at] = (RecordedOut){from[i].param, from[i].element}, out[at++] = *from[i].v;
    rec->in = NULL;
    qtrace(r->vm)->record(r->vm, &qgradient_rule, rec, nin, in, nout, out);
    for (int i = 0; i < nout - n; i++) qval_release(r->vm, out[i]);
    for (int i = 0; i < n; i++) *from[i].v = out[nout - n + i];
    if (out != few) qmem_free(c, out, (size_t)nout * sizeof *out);
    return QS_OK;
}
