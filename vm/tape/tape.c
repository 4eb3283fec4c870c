/* tape.c -- implements traces, nodes and levels, the record that tape.h describes. */
#include "lang/syntax/ast.h"
#include "vm/base/type.h"
#include "vm/interp/interp.h"
#include "vm/tape/tape_internal.h"

#include <stdio.h>
#include <string.h>

static Tape *get_tape(qs_vm *vm) { /* created on first use */
    Machine *m = qvm(vm);
    if (!m->tape) {
        m->tape = qmem_alloc(&m->base, sizeof *m->tape);
        m->base.before_write = qsaved_before_write;
    }
    return m->tape;
}

qs_status qtape_library(qs_vm *vm, const char *name, int nin, const qs_value *in, int nout, qs_value *out) {
    (void)get_tape(vm);
    return qrule_call_named(vm, name, nin, in, nout, out);
}

/* -- levels -------------------------------------------------------------------------------------------------------- */
qs_status qtape_begin(qs_vm *vm, GradLevel *l) {
    Machine *m = qvm(vm);
    int k = 0;
    while (k < MAX_LEVELS && m->grad_levels >> k & 1) k++;
    if (k == MAX_LEVELS)
        return qerr_set(&m->base, QS_EVALUE,
                        "derivatives are nested too deep, or taken by too many threads: %d of "
                        "them run",
                        MAX_LEVELS);
    *l = (GradLevel){(uint64_t)1 << k, get_tape(vm)->serial + 1, m->grad_inside};
    m->tape->first[k] = l->first, m->tape->frames[k] = m->nframes;
    m->grad_inside = 0;
    m->grad_levels |= l->bit;
    return QS_OK;
}

void qtape_end(qs_vm *vm, const GradLevel *l) {
    Machine *m = qvm(vm);
    m->grad_inside = l->inside;
    m->grad_levels &= ~l->bit;
}

uint64_t qtape_live(const qs_vm *vm, const GradNode *n) {
    const Tape *tape = qtape_state(vm);
    uint64_t live = 0;
    for (uint64_t some = n->levels & ((const Machine *)vm)->grad_levels; some; some &= some - 1)
        if (n->serial >= tape->first[__builtin_ctzll(some)]) live |= some & -some;
    return live;
}

uint32_t qtape_frames(const qs_vm *vm) {
    uint32_t least = UINT32_MAX;
    for (uint64_t some = ((const Machine *)vm)->grad_levels; some; some &= some - 1) {
        uint32_t n = qtape_state(vm)->frames[__builtin_ctzll(some)];
        if (n < least) least = n;
    }
    return least;
}

void qtape_close(qs_vm *vm) {
    Machine *m = qvm(vm);
    if (!m->tape) return;
    m->base.before_write = qconverted_before_write;
    qmem_free(&m->base, m->tape->kept, m->tape->nbuckets * sizeof *m->tape->kept);
    qmem_free(&m->base, m->tape, sizeof *m->tape);
    m->tape = NULL;
}

/* -- nodes --------------------------------------------------------------------------------------------------------- */
/* A node without results has one trace as well, through which it is referenced. */
static int count_traces(int nout) { return nout > 1 ? nout : 1; }

static size_t node_bytes(int nin, int nout) {
    return qmem_size((size_t)nin, sizeof(Trace *),
                     qmem_size((size_t)count_traces(nout), sizeof(Trace), sizeof(GradNode)));
}

static GradNode *new_node(qs_vm *vm, const GradRule *rule, void *data, int nin, int nout) {
    Ctx *c = qvm_ctx(vm);
    GradNode *n = qmem_alloc(c, node_bytes(nin, nout));
    n->refs = 1, n->nin = nin, n->nout = nout;
    n->serial = ++qtape_state(vm)->serial;
    n->rule = rule, n->data = data, n->at = qvm(vm)->grad_at.src ? qvm(vm)->grad_at : qvm_here(vm);
    n->in = (Trace **)(n->out + count_traces(nout));
    for (int i = 0; i < count_traces(nout); i++) n->out[i].node = n;
    return n;
}

static void free_node(qs_vm *vm, GradNode *n) {
    Ctx *c = qvm_ctx(vm);
    if (n->rule && n->rule->release) n->rule->release(vm, n);
    for (int i = 0; i < n->nin; i++) qtape_release(vm, n->in[i]);
    qmem_free(c, n, node_bytes(n->nin, n->nout));
}

/* Frees nodes iteratively: a chain of thousands of nodes would overflow the stack recursively. */
void qtape_release(qs_vm *vm, Trace *t) {
    Tape *tape = qtape_state(vm);
    if (!t || --t->node->refs) return;
    t->node->next = tape->dying;
    tape->dying = t->node;
    if (tape->burying) return;
    tape->burying = true;
    while (tape->dying) {
        GradNode *n = tape->dying;
        tape->dying = n->next;
        free_node(vm, n);
    }
    tape->burying = false;
}

/* -- traces -------------------------------------------------------------------------------------------------------- */

void qtape_free_number(qs_vm *vm, Traced *t) {
    qtape_release(vm, t->trace);
    qval_release(vm, t->value);
    qmem_free(qvm_ctx(vm), t, sizeof *t);
}

void qtape_free_array(qs_vm *vm, Array *a) {
    if (a->hdr.flags & ARRAY_KEPT) qsaved_forget(vm, a);
    if (a->family) qview_leave(vm, a);
    qtape_release(vm, a->trace);
    a->trace = NULL;
}

static qs_value attach_number(qs_vm *vm, qs_value v, Trace *t) {
    Traced *x = qmem_alloc(qvm_ctx(vm), sizeof *x);
    x->hdr = (Obj){1, QS_TRACED, 0, 0};
    x->value = v;
    x->trace = qtape_retain(t);
    return qval_object(QS_TRACED, x);
}

qs_value qtape_attach(qs_vm *vm, qs_value v, Trace *t) {
    if (v.kind == QS_NUM || v.kind == QS_COMPLEX) return attach_number(vm, v, t);
    Array *a = v.u.p;
    qtape_retain(t);
    qtape_release(vm, a->trace);
    a->trace = t;
    return v;
}

/* Returns the type of parameter i of f if it is declared as integers or truth values; otherwise NULL. */
static const Type *integral_parameter(qs_vm *vm, const Function *f, int i) {
    if (f->fkind != FN_SCRIPT || i >= f->ast->nparams || !f->ast->params[i].type) return NULL;
    const Type *t = qvm_param_type(vm, f->ast, i), *element = t && t->kind == TY_ARRAY ? t->inner : t;
    return element && element->kind == TY_NUM && !qdtype_is_smooth(element->dtype) ? t : NULL;
}

bool qtape_is_constant(qs_vm *vm, qs_value fn, int i, char why[WHY_CONSTANT]) {
    Function *f = fn.u.p, *const *all = &f;
    if (fn.kind != QS_FUNCTION) return false;
    while (f->fkind == FN_FOREIGN && f->nmembers) f = f->members[0]; /* checkpoint(f) */
    int n = f->fkind == FN_SET ? f->nmembers : 1;
    if (f->fkind == FN_SET) all = f->members;
    const Type *t = NULL;
    for (int k = 0; k < n; k++)
        if (!(t = integral_parameter(vm, all[k], i))) return false;
    if (!t) return false;
    snprintf(why, WHY_CONSTANT,
             "argument %.48s of %.48s is declared %.48s, and derivatives are taken to floats and "
             "complex numbers",
             all[n - 1]->ast->params[i].name->s, all[n - 1]->name ? all[n - 1]->name->s : "f", qtype_name(t));
    return true;
}

/* Stores type and shape of the adjoint of v in t; false: values of this type have no derivative. */
static bool describe_trace(qs_value v, Trace *t) {
    const Array *a = v.u.p;
    t->kind = (uint8_t)v.kind;
    if (!qtape_is_smooth(v)) return false;
    if (v.kind != QS_ARRAY) return true;
    t->dtype = a->dtype, t->rank = a->rank, t->ndim = a->ndim;
    memcpy(t->dims, a->dims, sizeof t->dims);
    return true;
}

qs_status qtape_no_tangent(qs_vm *vm, qs_value y, qs_value *out) {
    Trace t = {0};
    y = qtape_plain(y);
    if (!describe_trace(y, &t)) t.kind = QS_NUM;
    return qbackward_zero(vm, &t, out);
}

static void drop_trace(qs_vm *vm, qs_value v) {
    if (v.kind != QS_ARRAY || !qval_array(v)->trace) return;
    qtape_release(vm, qval_array(v)->trace);
    qval_array(v)->trace = NULL;
}

void qtape_record(qs_vm *vm, const GradRule *rule, void *data, int nin, Trace *const *in, int nout, qs_value *out) {
    GradNode *n = new_node(vm, rule, data, nin, nout);
    for (int i = 0; i < nin; i++)
        if ((n->in[i] = in[i])) n->levels |= qtape_live(vm, in[i]->node);
    for (int i = 0; i < nout; i++)
        if (n->levels && describe_trace(out[i], &n->out[i])) out[i] = qtape_attach(vm, out[i], &n->out[i]);
        else drop_trace(vm, out[i]);
    qtape_release(vm, &n->out[0]);
}

qs_status qtape_result(qs_vm *vm, GradNode *n, int i, qs_value kept, qs_value *out) {
    Array *view;
    if (kept.kind != QS_ARRAY) return *out = qtape_attach(vm, qval_retain(kept), &n->out[i]), QS_OK;
    Array *a = kept.u.p;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    int ndim = qarr_shape(a, dims, strides);
    TRY(qarr_alias(vm, a, ndim, dims, strides, a->offset, &view));
    return *out = qtape_attach(vm, qarr_value(view), &n->out[i]), QS_OK;
}

qs_status qtape_leaf(qs_vm *vm, const GradLevel *l, qs_value v, qs_value *out) {
    GradNode *n = new_node(vm, NULL, NULL, 1, 1);
    qs_value kept;
    qs_status s = qtape_keep_plain(vm, v, &kept);
    if (s == QS_OK && !describe_trace(kept, &n->out[0])) {
        qval_release(vm, kept);
        s = qerr_set(qvm_ctx(vm), QS_ETYPE,
                     "derivatives are taken to numbers and arrays of floats or complex numbers, "
                     "not to %s",
                     qval_type_name(vm, v));
    }
    if (s == QS_OK) {
        Trace *t = qtape_trace(v);
        uint64_t live = t ? qtape_live(vm, t->node) : 0;
        n->levels = l->bit | live;
        if (live) n->in[0] = qtape_retain(t);
        *out = qtape_attach(vm, kept, &n->out[0]);
    }
    qtape_release(vm, &n->out[0]);
    return s;
}

qs_status qtape_recorded(qs_vm *vm, qs_status s, int nout, qs_value *out) {
    for (int i = 0; i < nout && s != QS_OK; i++) qval_release(vm, out[i]), out[i] = qs_nil();
    return s;
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */
qs_status qtape_refuse(qs_vm *vm, const char *what, const char *why) {
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s has no derivative: %s", what, why);
}

qs_status qtape_refuse_number(qs_vm *vm) {
    return qtape_refuse(vm, "a number of Python",
                        "it remembers nothing of a value; an array of such is made by np.stack([x, y]), or [x, y] in a "
                        "program; stop_gradient(x) is a number that is constant");
}

qs_status qtape_forbidden(qs_vm *vm) {
    return qtape_refuse(vm, "this operation",
                        "it reads an array on which a derivative depends, and nothing is known "
                        "of how; write stop_gradient(…) around what counts as constant");
}

qs_status qtape_unwritten(qs_vm *vm) {
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "what a derivative is computed from is not written: write into copy(…)");
}

qs_status qtape_settle(qs_vm *vm, qs_value *y) {
    if (qtape_is_kept(*y)) TRY(qtape_own(vm, y));
    if (!qtape_trace(*y) || qtape_is_recorded(vm, *y)) return QS_OK;
    if (y->kind == QS_TRACED) {
        qs_value plain = qval_retain(qtape_plain(*y));
        qval_release(vm, *y);
        *y = plain;
    } else {
        Array *a = y->u.p;
        qtape_release(vm, a->trace);
        a->trace = NULL;
    }
    return QS_OK;
}
