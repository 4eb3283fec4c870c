/* fused_backward.c -- runs two backward passes in one launch, without storing the adjoint between them.
 *
 * An adjoint that one backward pass produces ("above") may be read by one other pass ("below") only, at the position
 * where it would be stored.  Then the code of the pass below computes it with the code of the pass above
 * (lang/kernel/autodiff/producer_fusion.c), and one launch binds the arguments of both. */
#include "vm/launch/gradient.h"

#include "lang/kernel/ir/kir.h"

#include <string.h>

typedef struct {
    const Recorded *rec;
    int param, adjoint;
} Side; /* one side of the adjoint: the pass above produces it, the pass below reads it */

static Side side_above(const DeferredAdjoint *l) {
    const Recorded *rec = l->node->data;
    int i = 0;
    while (i < rec->n && rec->param[i].input != l->operand) i++;
    return (Side){rec, i, i < rec->n ? rec->gradient->code.param[i].adjoint : -1};
}

/* Finds the reading side.  The previous contents of the array must have no adjoint of their own, since the adjoint
 * would continue there.  Adjoints of half-precision arrays are rounded when stored, so they are not fused. */
static Side side_below(const GradNode *n, const DeferredAdjoint *l) {
    const Recorded *rec = n->data;
    const RecordedOut *out = &rec->out[l->of];
    const RecordedParam *p = &rec->param[out->param];
    bool ends = out->element < 0 && (p->input < 0 || !n->in[p->input]) && n->out[l->of].dtype == p->dtype;
    return (Side){rec, out->param, ends ? rec->gradient->code.param[out->param].adjoint : -1};
}

/* Is the gradient one launch over the positions of the original launch? */
static bool is_plain(const Side *s) {
    const KGrad *k = &s->rec->gradient->code;
    const KGradPass *p = k->pass;
    if (s->adjoint < 0 || !s->rec->param[s->param].array || s->rec->stopped) return false;
    for (int i = 0; i < k->nextra; i++)
        if (k->extra[i].kind != KX_EXTENT && k->extra[i].kind != KX_AFTER) return false;
    return k->npasses == 1 && p->over < 0 && !p->row && !p->again && !p->counts;
}

static double elements_of(const RecordedParam *p) {
    double n = 1;
    for (int d = 0; d < p->rank; d++) n *= (double)p->extent[d];
    return n;
}

static bool is_given_in_full(const Side *s) {
    return !s->rec->param[s->param].written &&
           qgradient_owns_all(s->rec, &s->rec->gradient->code.param[s->param], s->param);
}

/* Few elements are not worth compiling for.  With more positions than elements, some elements would be computed more
 * than once. */
static bool is_worth_joining(qs_vm *vm, const Side *above, const Side *below) {
    const RecordedParam *a = &above->rec->param[above->param], *b = &below->rec->param[below->param];
    bool same = a->rank == b->rank && !memcmp(a->extent, b->extent, (size_t)a->rank * sizeof *a->extent);
    bool alike = same || a->rank == 1;
    double n = elements_of(a), least = qvm(vm)->fuse_least <= 1 ? 1 : GRADIENT_MANY; /* 1: everything is compiled */
    return alike && a->dtype == b->dtype && n == elements_of(b) && n >= least &&
           qtune_positions(&below->rec->launch) <= n;
}

static JoinedForm *find_joined(const GradientForm *g, const KFunc *of, int param, int store) {
    JoinedForm *j = g->joined;
    while (j && (j->of != of->hash || j->param != param || j->store != store)) j = j->before;
    return j;
}

static qs_status make_joined(qs_vm *vm, GradientForm *g, const KFunc *of, int param, int store, JoinedForm **out) {
    KFunc *made = NULL;
    const KFunc *f = g->code.pass[0].func;
    JoinedForm *j = *out = qspec_new(vm, &g->base.gradients, sizeof *j, g->base.of->noun);
    j->base.of = &g->base;
    j->of = of->hash, j->param = param, j->store = store;
    j->before = g->joined, g->joined = j;
    if (f->nparams + of->nparams <= MAX_PARAMS)
        TRY(kproducer_make(qvm_ctx(vm), &j->base.arena, f, param, of, store, &made));
    if (!made) return QS_OK;
    qspec_set(&j->base, 0, made);
    qreport_explain(vm, qreport_location(f),
                    "%s%s: the adjoint of %s that its backward pass needs is computed there, and not stored",
                    j->base.noun, f->name->s, f->params[param].name->s);
    return QS_OK;
}

/* Finds or makes the fused code; NULL: fusing is impossible. */
static qs_status joined_of(qs_vm *vm, GradientForm *g, GradientForm *given, const DeferredAdjoint *l, const Side *below,
                           JoinedForm **out) {
    Side above = side_above(l);
    const KFunc *of = given->code.pass[0].func;
    if (g->code.npasses != 1) return *out = NULL, QS_OK;
    *out = find_joined(g, of, below->adjoint, above.adjoint);
    if (!*out) TRY(make_joined(vm, g, of, below->adjoint, above.adjoint, out));
    if (!(*out)->base.version[0].func) *out = NULL;
    return QS_OK;
}

qs_status qfusedback_joins(qs_vm *vm, const GradNode *n, const DeferredAdjoint *l, bool *yes) {
    const Recorded *up = l->node->data, *down = n->data;
    GradientForm *given;
    JoinedForm *j = NULL;
    *yes = false;
    if (up->gradient->refused || down->gradient->refused) return QS_OK;
    Side above = side_above(l), below = side_below(n, l);
    if (!is_plain(&above) || !is_plain(&below) || !is_given_in_full(&above)) return QS_OK;
    if (!is_worth_joining(vm, &above, &below)) return QS_OK;
    TRY(qgradient_choose(vm, up, l->dy, NULL, &given));
    TRY(joined_of(vm, down->gradient, given, l, &below, &j));
    return *yes = j != NULL, QS_OK;
}

/* Runs the passes separately if the variant that adds to an existing adjoint cannot be fused. */
static qs_status reverse_apart(qs_vm *vm, GradNode *n, const qs_value *dy, const DeferredAdjoint *l, qs_value *dx) {
    Ctx *c = qvm_ctx(vm);
    size_t given = (size_t)l->node->nin, room = (size_t)n->nout;
    qs_value *above = qmem_alloc(c, qmem_size(given, sizeof *above, 0)),
             *all = qmem_alloc(c, qmem_size(room, sizeof *all, 0));
    qs_status s = qgradient_reverse(vm, l->node, l->dy, above);
    memcpy(all, dy, room * sizeof *all);
    all[l->of] = above[l->operand];
    if (s == QS_OK) s = qgradient_reverse(vm, n, all, dx);
    for (size_t i = 0; i < given; i++) qval_release(vm, above[i]);
    qmem_free(c, above, given * sizeof *above), qmem_free(c, all, room * sizeof *all);
    return s;
}

static qs_status reverse_joined(qs_vm *vm, GradNode *n, const qs_value *dy, const DeferredAdjoint *l,
                                GradientForm *given, Gradient *g, qs_value *dx) {
    Gradient above;
    TRY(qkernel_swept(vm, l->node));
    TRY(qkernel_swept(vm, n));
    qgradient_begin(&above, vm, l->node, given, NULL);
    above.into = &g->run, above.first = g->code->pass[0].func->nparams;
    g->above = &above;
    qs_status s = qgradient_open(&above, l->dy);
    if (s == QS_OK) s = qgradient_finish(g, dy, dx);
    return qgradient_close(&above), s;
}

qs_status qfusedback_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, const DeferredAdjoint *l, qs_value *dx) {
    Gradient g;
    GradientForm *form, *given;
    Side below = side_below(n, l);
    JoinedForm *j;
    TRY(qgradient_choose(vm, n->data, dy, dx, &form));
    TRY(qgradient_choose(vm, l->node->data, l->dy, NULL, &given));
    TRY(joined_of(vm, form, given, l, &below, &j));
    if (!j) return reverse_apart(vm, n, dy, l, dx);
    qgradient_begin(&g, vm, n, form, dx);
    g.joined = j, g.without = below.param;
    return reverse_joined(vm, n, dy, l, given, &g, dx);
}
