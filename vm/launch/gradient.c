/* gradient.c -- differentiates a launch by another launch.
 *
 *     adjoints of the written arrays ──► gradient code (lang/kernel/autodiff), made once per specialization and key
 *     saved contents                 ──► one launch, on the device of the original ──► adjoints of the inputs
 *
 * The launch of a gradient is an ordinary one: it is recorded if its arrays are recorded, so its own gradient is
 * taken the same way, and so on for higher derivatives. */
#include "vm/launch/gradient.h"

#include "lang/kernel/ir/kir.h"

#include <math.h>
#include <string.h>

/* -- gradient code ------------------------------------------------------------------------------------------------- */
static GradientForm *find_gradient(Specialization *of, int which, const GradientOf *key, size_t n) {
    for (Specialization *f = of->gradients.first; f; f = f->next) {
        GradientForm *g = (GradientForm *)f;
        if (g->which == which && g->key.forward == key->forward && !memcmp(g->key.active, key->active, n) &&
            !memcmp(g->key.enters, key->enters, n) && !memcmp(g->key.adds, key->adds, n) &&
            !memcmp(g->key.one, key->one, n))
            return g;
    }
    return NULL;
}

static qs_status make_passes(qs_vm *vm, Specialization *of, GradientForm *g) {
    const KGrad *k = &g->code;
    g->pass = qarena_alloc(&g->base.arena, qmem_size((size_t)k->npasses, sizeof *g->pass, sizeof *g->pass));
    for (int i = 0; i < k->npasses; i++) {
        const KFunc *f = k->pass[i].func;
        if (f->nparams > MAX_PARAMS)
            return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s%s: its gradient has %d parameters, %d at most are possible",
                            of->noun, f->name->s, f->nparams, MAX_PARAMS);
        g->pass[i] = qspec_new(vm, &g->base.gradients, sizeof(Specialization), of->noun);
        g->pass[i]->of = &g->base;
        qspec_set(g->pass[i], 0, f);
    }
    return QS_OK;
}

/* Makes the gradient code.  A refusal is stored and reported only when a derivative is requested, since most recorded
 * launches may never need one. */
static qs_status make_gradient(qs_vm *vm, Specialization *of, int which, const GradientOf *key, GradientForm *g) {
    Ctx *c = qvm_ctx(vm);
    const KFunc *f = kir_without_log(&g->base.arena, of->version[which].func);
    g->base.of = of, g->which = which;
    g->key = *key;
    KGradOf wanted = {g->key.active, g->key.enters, g->key.adds, g->key.one};
    qs_status s = key->forward ? kautodiff_forward(c, &g->base.arena, f, g->key.active, &g->code)
                               : kautodiff_reverse(c, &g->base.arena, f, &wanted, &g->code);
    if (s == QS_OK) s = make_passes(vm, of, g);
    if (s == QS_OK || s == QS_ENOMEM || s == QS_EINTERRUPT || s == QS_EINTERNAL) return s;
    g->refused = true, g->why = c->err;
    return qerr_clear(c), QS_OK;
}

qs_status qgradient_form(qs_vm *vm, Specialization *of, int which, const GradientOf *key, GradientForm **out) {
    if ((*out = find_gradient(of, which, key, (size_t)of->version[which].func->nparams))) return QS_OK;
    *out = qspec_new(vm, &of->gradients, sizeof **out, of->noun);
    qs_status s = make_gradient(vm, of, which, key, *out);
    if (s != QS_OK) qspec_drop_first(vm, &of->gradients);
    return s;
}

/* -- the launches -------------------------------------------------------------------------------------------------- */
static DevArg *bind_array(Gradient *g, int i, Array *a, int rank, const int64_t *dims) {
    bool written = qlaunch_func(g->into)->params[g->first + i].written;
    DevArg *arg = qbind_array(&g->into->bound, g->first + i, a, written ? QS_READWRITE : QS_READ);
    int64_t step = 1;
    arg->rank = rank;
    for (int d = rank - 1; d >= 0; d--) arg->dims[d] = dims[d], arg->strides[d] = step, step *= dims[d];
    return arg;
}

/* Binds the contents with the original strides; copies are dense. */
static void bind_contents(Gradient *g, int i) {
    const RecordedParam *p = &g->rec->param[i];
    DevArg *arg = bind_array(g, i, g->contents[i], p->rank, p->extent);
    for (int d = 0; g->contents[i] == p->contents && d < p->rank; d++) arg->strides[d] = p->extent[p->rank + d];
}

static void bind_number(Gradient *g, int i, uint64_t bits, size_t size, Origin from) {
    qbind_number(&g->into->bound, g->first + i, bits, size);
    g->into->bound.origin[g->first + i] = from;
}

static void bind_extra(Gradient *g, int i) {
    const KExtra *x = &g->code->extra[i];
    const RecordedParam *p = &g->rec->param[x->which];
    int at = g->code->first_extra + i;
    int64_t count = g->extra[i] ? (int64_t)g->extra[i]->count : 0;
    Origin none = {qs_nil(), 0};
    switch ((KExtraKind)x->kind) {
    case KX_EXTENT: bind_number(g, at, (uint64_t)g->rec->launch.domain[x->which], 8, none); break;
    case KX_ROOM: bind_number(g, at, (uint64_t)g->room[x->which], 8, none); break;
    case KX_GROUP:
    case KX_CLAIM:
    case KX_AFTER: bind_array(g, at, g->extra[i], p->rank, p->extent); break;
    case KX_COUNT:
    case KX_TAPE: bind_array(g, at, g->extra[i], 1, &count); break;
    }
}

static void bind_all(Gradient *g) {
    static const int64_t one[] = {1};
    for (int i = 0; i < g->rec->n; i++) {
        const RecordedParam *p = &g->rec->param[i];
        int adjoint = g->code->param[i].adjoint;
        if (p->array) bind_contents(g, i);
        else bind_number(g, i, p->bits, p->size, p->origin);
        if (adjoint < 0) continue;
        bind_array(g, adjoint, g->adjoint[i], p->array ? p->rank : 1, p->array ? p->extent : one);
    }
    for (int i = 0; i < g->code->nextra; i++) bind_extra(g, i);
}

static qs_status bind_gradient(Run *run) {
    Gradient *g = (Gradient *)run;
    bind_all(g);
    if (g->above) bind_all(g->above);
    return QS_OK;
}

/* -- adjoints of written arrays ------------------------------------------------------------------------------------ */
qs_status qgradient_zeros(qs_vm *vm, const NodeShape *s, bool covered, Array **out) {
    TRY(qarr_new(vm, s->dtype, s->rank, s->dims, !covered, out));
    if (covered) qbuf_unset((*out)->buf);
    return qarr_keep(*out, s->ndim), QS_OK;
}

/* Builds the adjoint of a result array from the adjoints of the numbers that were taken out of it. */
static qs_status put_numbers(Gradient *g, int param, const qs_value *dy) {
    const Recorded *rec = g->rec;
    int64_t *element = qmem_alloc(qvm_ctx(g->run.vm), qmem_size((size_t)rec->nout, sizeof *element, 0));
    qs_value *number = qmem_alloc(qvm_ctx(g->run.vm), qmem_size((size_t)rec->nout, sizeof *number, 0));
    int n = 0;
    for (int k = 0; k < rec->nout; k++)
        if (rec->out[k].param == param && dy[k].kind != QS_NIL) element[n] = rec->out[k].element, number[n++] = dy[k];
    NodeShape shape = qrecord_shape(&rec->param[param]);
    qs_status s = qslice_put(g->run.vm, &shape, n, element, number, &g->adjoint[param]);
    qmem_free(qvm_ctx(g->run.vm), element, (size_t)rec->nout * sizeof *element);
    qmem_free(qvm_ctx(g->run.vm), number, (size_t)rec->nout * sizeof *number);
    return s;
}

/* Nothing else refers to v, and the backward pass drops it afterwards (vm/tape/backward.c): it can be changed in
 * place. */
static bool is_spare(qs_value v, const NodeShape *s) {
    const Array *a = v.kind == QS_ARRAY ? v.u.p : NULL;
    return a && qarr_is_spare(a) && a->hdr.flags == 0 && !a->trace && qslice_fits(a, s);
}

static bool is_changed(const KGrad *k, int param) {
    bool changed = false;
    for (int i = 0; i < k->npasses; i++) changed |= k->pass[i].func->params[k->param[param].adjoint].written;
    return changed;
}

/* Can the adjoint be read in place, because the code does not change it? */
static bool is_ready(const Gradient *g, int param, qs_value v, const NodeShape *s) {
    const Array *a = v.kind == QS_ARRAY ? v.u.p : NULL;
    return !is_changed(g->code, param) && a && qslice_fits(a, s);
}

qs_status qgradient_open_adjoint(Gradient *g, int param, qs_value dy) {
    static const int64_t one = 1;
    NodeShape s = qrecord_shape(&g->rec->param[param]);
    if (g->form->key.one[param]) return qarr_view(g->run.vm, dy.u.p, 1, &one, &one, 0, &g->adjoint[param]);
    if (!is_spare(dy, &s) && !is_ready(g, param, dy, &s)) return qslice_copy(g->run.vm, dy, &s, &g->adjoint[param]);
    return g->adjoint[param] = qval_array(qval_retain(dy)), QS_OK;
}

static qs_status open_written(Gradient *g, int param, const qs_value *dy) {
    const Recorded *rec = g->rec;
    for (int k = 0; k < rec->nout; k++)
        if (rec->out[k].param == param && rec->out[k].element < 0 && dy[k].kind != QS_NIL)
            return qgradient_open_adjoint(g, param, dy[k]);
    return put_numbers(g, param, dy);
}

bool qgradient_owns_all(const Recorded *rec, const KGradParam *k, int param) {
    const RecordedParam *a = &rec->param[param];
    const Launch *l = &rec->launch;
    if (k->stored != KSTORED_OWN || a->rank != l->rank) return false;
    for (int d = 0; d < l->rank; d++)
        if (a->extent[k->axis[d]] != l->domain[d]) return false;
    return true;
}

static bool is_covered(const Gradient *g, int param) {
    const KGradParam *k = &g->code->param[param];
    return k->stored == KSTORED_ALL || qgradient_owns_all(g->rec, k, param);
}

static bool is_lent(const qs_value *dx, const RecordedParam *p) {
    return p->array && p->input >= 0 && dx[p->input].kind == QS_ARRAY;
}

static qs_status open_adjoint(Gradient *g, int i, const qs_value *dy) {
    static const NodeShape one = {.ndim = 1, .rank = 1, .dims = {1}};
    const RecordedParam *p = &g->rec->param[i];
    if (p->array && p->written) return open_written(g, i, dy);
    if (is_lent(g->dx, p)) return g->adjoint[i] = qval_array(g->dx[p->input]), g->dx[p->input] = qs_nil(), QS_OK;
    NodeShape s = p->array ? qrecord_shape(p) : one;
    if (p->array) return qgradient_zeros(g->run.vm, &s, is_covered(g, i), &g->adjoint[i]);
    s.dtype = (qs_dtype)g->rec->form->version[g->rec->which].func->params[i].dtype;
    return qgradient_zeros(g->run.vm, &s, false, &g->adjoint[i]);
}

/* -- contents and auxiliary arrays --------------------------------------------------------------------------------- */
static qs_status vector(qs_vm *vm, qs_dtype d, int64_t n, bool zeroed, Array **out) {
    return qarr_new(vm, d, 1, &n, zeroed, out);
}

/* Gives a pass its own copy if it changes the contents, otherwise the originals, whatever earlier passes have
 * changed. */
static qs_status fresh_contents(Gradient *g, int i, bool changes) {
    const RecordedParam *p = &g->rec->param[i];
    NodeShape s = qrecord_shape(p);
    s.dtype = (qs_dtype)p->contents->dtype;
    if (g->contents[i]) qarr_release(g->run.vm, g->contents[i]);
    g->contents[i] = NULL;
    if (changes) return qslice_copy(g->run.vm, qval_object(QS_ARRAY, p->contents), &s, &g->contents[i]);
    p->contents->hdr.refs++;
    return g->contents[i] = p->contents, QS_OK;
}

/* If no elements are read, any array will do; an array that is only written needs memory of its full size. */
qs_status qgradient_open_contents(Gradient *g, int i) {
    const RecordedParam *p = &g->rec->param[i];
    const KFunc *of = g->rec->form->version[g->rec->which].func;
    const KGradParam *k = &g->code->param[i];
    if (!p->array || (k->changed && p->contents)) return QS_OK;
    qs_dtype d = (qs_dtype)of->params[i].dtype;
    NodeShape s = qrecord_shape(p);
    if (k->changed) return qarr_new(g->run.vm, d, s.rank, s.dims, true, &g->contents[i]);
    if (!p->contents) return vector(g->run.vm, d, 1, true, &g->contents[i]);
    p->contents->hdr.refs++;
    return g->contents[i] = p->contents, QS_OK;
}

static qs_dtype extra_dtype(const Gradient *g, int i) {
    return (qs_dtype)g->code->pass[0].func->params[g->code->first_extra + i].dtype;
}

static qs_status open_extra(Gradient *g, int i) {
    const KExtra *x = &g->code->extra[i];
    const RecordedParam *p = &g->rec->param[x->which];
    qs_value v;
    if (x->kind == KX_COUNT) return vector(g->run.vm, QS_I64, 1, true, &g->extra[i]);
    /* replaced when its size is known */
    if (x->kind == KX_TAPE) return vector(g->run.vm, QS_B1, 1, true, &g->extra[i]);
    if (x->kind == KX_GROUP || x->kind == KX_CLAIM)
        return qarr_new(g->run.vm, extra_dtype(g, i), p->rank, p->extent, x->kind == KX_CLAIM, &g->extra[i]);
    if (x->kind != KX_AFTER) return QS_OK;
    TRY(qtrace(g->run.vm)->result(g->run.vm, (GradNode *)(uintptr_t)g->node, p->output, qval_object(QS_ARRAY, p->after),
                                  &v));
    g->extra[i] = qval_array(v);
    if (g->extra[i]->contiguous) return QS_OK;
    NodeShape s = qrecord_shape(p);
    s.dtype = (qs_dtype)p->after->dtype, g->extra[i] = NULL;
    qs_status st = qslice_copy(g->run.vm, v, &s, &g->extra[i]);
    return qval_release(g->run.vm, v), st;
}

/* Is the adjoint neither read nor written by the launch? */
static bool is_left_out(const Gradient *g, int i) {
    bool written = g->rec->param[i].array && g->rec->param[i].written;
    return g->into != &g->run ? !written : g->above && i == g->without;
}

qs_status qgradient_open(Gradient *g, const qs_value *dy) {
    memcpy(g->room, g->code->room, sizeof g->room);
    for (int i = 0; i < g->rec->n; i++) {
        TRY(qgradient_open_contents(g, i));
        if (!g->rec->param[i].active) continue;
        if (!is_left_out(g, i)) TRY(open_adjoint(g, i, dy));
        else
            TRY(vector(g->run.vm, (qs_dtype)g->code->pass[0].func->params[g->code->param[i].adjoint].dtype, 1, true,
                       &g->adjoint[i]));
    }
    for (int i = 0; i < g->code->nextra; i++) TRY(open_extra(g, i));
    return QS_OK;
}

static qs_status too_large(Gradient *g, double bytes) {
    return qerr_at(qvm_ctx(g->run.vm), QS_ENOMEM, g->node->at,
                   "the gradient of %s%s would keep %.3g GB of what its iterations compute", g->rec->form->noun,
                   g->rec->form->version[g->rec->which].func->name->s, bytes / 1e9);
}

/* Allocates the tapes, whose sizes are known now. */
static qs_status open_tapes(Gradient *g) {
    double positions = qtune_positions(&g->rec->launch);
    for (int i = 0; i < g->code->nextra; i++) {
        const KExtra *x = &g->code->extra[i];
        if (x->kind != KX_TAPE) continue;
        qs_dtype d = extra_dtype(g, i);
        double n = fmax(positions * (double)g->room[x->which], 1), bytes = n * (double)qdtype_size(d);
        if (bytes > 0x1p46) return too_large(g, bytes);
        qarr_release(g->run.vm, g->extra[i]), g->extra[i] = NULL;
        TRY(vector(g->run.vm, d, (int64_t)n, false, &g->extra[i]));
    }
    return QS_OK;
}

static qs_status read_counts(Gradient *g) {
    for (int i = 0; i < g->code->nextra; i++) {
        const void *p;
        if (g->code->extra[i].kind != KX_COUNT) continue;
        TRY(qarr_read(g->run.vm, g->extra[i], &p));
        g->room[g->code->extra[i].which] = *(const int64_t *)p;
    }
    return QS_OK;
}

void qgradient_close(Gradient *g) {
    for (int i = 0; i < g->rec->n; i++) {
        if (g->contents[i]) qarr_release(g->run.vm, g->contents[i]);
        if (g->adjoint[i]) qarr_release(g->run.vm, g->adjoint[i]);
    }
    for (int i = 0; i < g->code->nextra; i++)
        if (g->extra[i]) qarr_release(g->run.vm, g->extra[i]);
}

/* -- passes -------------------------------------------------------------------------------------------------------- */
static void set_launch(Gradient *g, const KGradPass *pass) {
    Run *r = &g->run;
    r->launch = g->rec->launch;
    if (pass->over >= 0) {
        const RecordedParam *a = &g->rec->param[pass->over];
        r->launch = (Launch){.rank = pass->func->rank, .any_block = true};
        for (int d = 0; d < r->launch.rank; d++) r->launch.domain[d] = a->extent[pass->axis[d]], r->launch.block[d] = 1;
    }
    if (pass->row) {
        int64_t *last = &r->launch.domain[r->launch.rank - 1];
        *last = (*last + pass->row - 1) / pass->row;
    }
    r->positions = qtune_positions(&r->launch);
    r->steps = r->form->version[0].nloops ? (double)INFINITY : r->positions * qlaunch_func(r)->nins;
}

static bool is_only_there(const Array *a) { return a && qbuf_is_away(a->buf); }

/* A few elements are not worth compiling for, unless they are on a GPU, where running is cheaper than copying back. */
static bool is_away(const Gradient *g) {
    const Device *d = qvm(g->run.vm)->device;
    bool away = false;
    for (int i = 0; i < g->rec->n; i++) away = away || is_only_there(g->contents[i]) || is_only_there(g->adjoint[i]);
    return away && d && d->elements;
}

static qs_status run_pass(Gradient *g, int i) {
    Run *r = &g->run;
    const KGradPass *pass = &g->code->pass[i];
    for (int k = 0; k < g->rec->n; k++)
        if (g->code->param[k].changed && g->rec->param[k].contents)
            TRY(fresh_contents(g, k, pass->func->params[k].written));
    r->form = g->joined ? &g->joined->base : g->form->pass[i], r->which = 0;
    r->optional = g->rec->optional, r->chosen = false, r->device = g->rec->device;
    r->bind = bind_gradient, r->fit = NULL, r->unrecorded = false, r->late = true, r->fault.message = 0;
    set_launch(g, pass);
    if (r->positions == 0) return QS_OK;
    TRY(g->rec->row && !is_away(g) && qelementwise_is_small(r) ? qelementwise_run(r) : qlaunch_run(r));
    if (!r->fault.message) return qrecord_end(r, 0, NULL);
    qrecord_drop(r);
    return qlaunch_fault(r, (Where){qlaunch_func(r)->src, r->fault.pos});
}

qs_status qgradient_run(Gradient *g) {
    bool open = false;
    for (int i = 0; i < g->code->npasses; i++) {
        if (!g->code->pass[i].counts && !open) {
            TRY(read_counts(g));
            TRY(open_tapes(g));
            open = true;
        }
        TRY(run_pass(g, i));
    }
    return QS_OK;
}

/* -- the derivative rule ------------------------------------------------------------------------------------------- */
/* GradRule.adds: should the code add to the existing adjoint?  If the present code would store instead, an adding
 * variant is made only for many elements, where it saves a pass. */
static bool wants_adding(const GradNode *n, int input, qs_value sum) {
    const Recorded *rec = n->data;
    const Array *a = sum.u.p;
    int i = 0;
    while (i < rec->n && rec->param[i].input != input) i++;
    if (i == rec->n || rec->gradient->refused || !rec->param[i].array || rec->param[i].written) return false;
    NodeShape s = qrecord_shape(&rec->param[i]);
    if (a->dtype != s.dtype || a->rank != s.rank || memcmp(a->dims, s.dims, (size_t)s.rank * sizeof *s.dims))
        return false;
    return !rec->gradient->code.param[i].stored || a->count >= GRADIENT_MANY;
}

/* Is v one number for all elements, whose own derivative is not recorded? */
static bool is_one(qs_vm *vm, qs_value v, qs_dtype d) {
    const Array *a = v.kind == QS_ARRAY ? v.u.p : NULL;
    if (!a || a->dtype != d || qdtype_is_complex(d) || a->count < 2 || qtape_is_recorded(vm, v)) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != 1 && a->strides[i] != 0) return false;
    return true;
}

qs_status qgradient_choose(qs_vm *vm, const Recorded *rec, const qs_value *dy, const qs_value *dx, GradientForm **out) {
    GradientOf key = rec->gradient->key;
    bool other = false;
    for (int k = 0; k < rec->nout; k++) {
        int i = rec->out[k].param;
        if (rec->out[k].element >= 0 || is_changed(&rec->gradient->code, i)) continue;
        key.one[i] = is_one(vm, dy[k], (qs_dtype)rec->param[i].dtype);
        other = other || key.one[i];
    }
    for (int i = 0; i < rec->n; i++) {
        key.adds[i] = dx && is_lent(dx, &rec->param[i]) && rec->gradient->code.param[i].stored;
        other = other || key.adds[i];
    }
    if (other) return qgradient_form(vm, rec->form, rec->which, &key, out);
    return *out = rec->gradient, QS_OK;
}

void qgradient_begin(Gradient *g, qs_vm *vm, const GradNode *n, GradientForm *form, qs_value *dx) {
    g->into = &g->run, g->first = 0, g->above = NULL, g->joined = NULL;
    g->run.vm = vm, g->node = n, g->rec = n->data, g->form = form, g->code = &form->code, g->dx = dx;
    memset(g->contents, 0, (size_t)g->rec->n * sizeof *g->contents);
    memset(g->adjoint, 0, (size_t)g->rec->n * sizeof *g->adjoint);
    memset(g->extra, 0, (size_t)g->code->nextra * sizeof *g->extra);
}

/* Returns i times a number; releases x. */
static qs_status imaginary(qs_vm *vm, qs_value x, qs_value *out) {
    qs_status s = qelementwise_apply(vm, EL_complex, 2, (qs_value[]){qs_num(0), x}, out);
    return qval_release(vm, x), s;
}

/* Converts the adjoint of a number parameter to that of its origin: the number, an imaginary part, or an array
 * element. */
static qs_status give_number(qs_vm *vm, const RecordedParam *p, Array *adjoint, qs_value *out) {
    qs_value v;
    Array *a;
    TRY(qslice_take(vm, adjoint, 0, &v));
    if (p->origin.from.kind != QS_ARRAY && p->origin.part) return imaginary(vm, v, out);
    if (p->origin.from.kind != QS_ARRAY) return *out = v, QS_OK;
    const Array *from = qval_array(p->origin.from);
    NodeShape s = {.dtype = (qs_dtype)adjoint->dtype, .ndim = from->ndim, .rank = from->rank};
    memcpy(s.dims, from->dims, sizeof s.dims);
    qs_status st = qslice_put(vm, &s, 1, (int64_t[]){p->origin.part}, &v, &a);
    qval_release(vm, v);
    if (st == QS_OK) *out = qarr_value(a);
    return st;
}

static qs_status return_adjoints(Gradient *g, qs_value *dx) {
    for (int i = 0; i < g->rec->n; i++) {
        const RecordedParam *p = &g->rec->param[i];
        if (p->input < 0 || !g->node->in[p->input]) continue;
        if (!p->array) TRY(give_number(g->run.vm, p, g->adjoint[i], &dx[p->input]));
        else dx[p->input] = qarr_value(g->adjoint[i]), g->adjoint[i] = NULL;
    }
    return QS_OK;
}

static bool all_zero(const Recorded *rec, const qs_value *dy) {
    for (int k = 0; k < rec->nout; k++)
        if (dy[k].kind != QS_NIL) return false;
    return true;
}

qs_status qgradient_refusal(qs_vm *vm, const GradNode *n, const GradientForm *f) {
    Ctx *c = qvm_ctx(vm);
    c->err = f->why;
    return qerr_location(c, n->at), f->why.status;
}

qs_status qgradient_stopped(qs_vm *vm, const GradNode *n, const Recorded *rec) {
    return qerr_at(qvm_ctx(vm), QS_EVALUE, n->at, "%s%s has no derivative here: an error stopped it before its end",
                   rec->form->noun, rec->form->version[rec->which].func->name->s);
}

qs_status qgradient_finish(Gradient *g, const qs_value *dy, qs_value *dx) {
    qs_status s = qgradient_open(g, dy);
    if (s == QS_OK) s = qgradient_run(g);
    if (s == QS_OK) s = return_adjoints(g, dx);
    return qgradient_close(g), s;
}

qs_status qgradient_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    const Recorded *rec = n->data;
    Gradient g; /* not initialized, because it is large */
    GradientForm *form;
    if (all_zero(rec, dy)) return QS_OK;
    if (rec->stopped) return qgradient_stopped(vm, n, rec);
    if (rec->gradient->refused) return qgradient_refusal(vm, n, rec->gradient);
    TRY(qkernel_swept(vm, n));
    TRY(qgradient_choose(vm, rec, dy, dx, &form));
    qgradient_begin(&g, vm, n, form, dx);
    return qgradient_finish(&g, dy, dx);
}

static void release_node(qs_vm *vm, GradNode *n) { qrecord_free(vm, n->data); }

const GradRule qgradient_rule = {.name = "a launch",
                                 .reverse = qgradient_reverse,
                                 .forward = qjvp_forward,
                                 .release = release_node,
                                 .adds = wants_adding,
                                 .joins = qfusedback_joins,
                                 .reverse_late = qfusedback_reverse,
                                 .stretched = true};
