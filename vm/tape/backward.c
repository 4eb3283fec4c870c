/* backward.c -- computes adjoints of leaves from adjoints of results, or tangents of results from tangents of leaves.
 *
 *     find     the nodes between the two: searched from the results down to the oldest leaf; kept if above a leaf
 *     order    by serial number: an operand is older than the result computed from it
 *     visit    each node once: its rule computes the adjoints of its operands from those of its results;
 *              or it is deferred: the nodes below compute the adjoints they need in their own backward step
 *
 * Rules compute with ordinary operations, and adjoints are added by the ordinary +. An enclosing level therefore
 * records the pass, and higher derivatives need no special code.  A pass may run inside another one. */
#include "lang/syntax/operators.h"
#include "vm/array/arith.h"
#include "vm/interp/interp.h"
#include "vm/tape/tape_internal.h"

#include <stdlib.h>

typedef struct {
    GradNode *node;
    qs_value *at; /* by result: its adjoint; nil: zero */
    bool wanted;
    /* number of nodes that still have to compute an adjoint which this deferred node would have given them */
    uint32_t readers;
    DeferredAdjoint late; /* node NULL: no adjoint of this node is deferred */
} Visit;

typedef struct {
    qs_vm *vm;
    Visit *visits;
    uint32_t n, cap;
    qs_value *values;
    size_t nvalues;  /* number of results of all nodes */
    uint64_t oldest; /* serial number of the oldest relevant node */
} BackwardPass;

/* -- finding the nodes --------------------------------------------------------------------------------------------- */
static void add_node(BackwardPass *s, GradNode *n, uint64_t mark) {
    if (n->mark == mark || n->serial < s->oldest) return;
    n->mark = mark;
    n->refs++;
    qmem_grow(qvm_ctx(s->vm), &s->visits, &s->cap, s->n, sizeof *s->visits);
    s->visits[s->n++] = (Visit){.node = n};
}

static int by_serial(const void *a, const void *b) {
    uint64_t x = ((const Visit *)a)->node->serial, y = ((const Visit *)b)->node->serial;
    return x < y ? -1 : x > y;
}

/* Finds the visit of t's node: by the index stored in the node, or by search if a nested pass has changed that
 * index. */
static Visit *visit_of(const BackwardPass *s, const Trace *t) {
    uint32_t lo = 0, hi = s->n;
    if (!t) return NULL;
    if (t->node->visit < s->n && s->visits[t->node->visit].node == t->node) return &s->visits[t->node->visit];
    if (t->node->serial < s->oldest) return NULL;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (s->visits[mid].node->serial < t->node->serial) lo = mid + 1;
        else hi = mid;
    }
    return lo < s->n && s->visits[lo].node == t->node ? &s->visits[lo] : NULL;
}

static int result_index(const Trace *t) { return (int)(t - t->node->out); }

/* A leaf ends a pass, even if it was made from a value that has a trace. */
static bool above_leaf(const BackwardPass *s, const Visit *v) {
    for (int i = 0; i < v->node->nin; i++) {
        const Visit *w = visit_of(s, v->node->in[i]);
        if (w && w->wanted) return true;
    }
    return false;
}

static void find_nodes(BackwardPass *s, Traces y, Traces x) {
    uint64_t mark = ++qtape_state(s->vm)->sweeps;
    s->oldest = UINT64_MAX;
    for (int i = 0; i < x.n; i++)
        if (x.at[i] && x.at[i]->node->serial < s->oldest) s->oldest = x.at[i]->node->serial;
    for (int i = 0; i < y.n; i++)
        if (y.at[i]) add_node(s, y.at[i]->node, mark);
    for (uint32_t k = 0; k < s->n; k++) {
        GradNode *n = s->visits[k].node;
        for (int i = 0; i < n->nin; i++)
            if (n->in[i]) add_node(s, n->in[i]->node, mark);
    }
    if (s->n) qsort(s->visits, s->n, sizeof *s->visits, by_serial);
    for (uint32_t k = 0; k < s->n; k++) s->visits[k].node->visit = k;
    for (int i = 0; i < x.n; i++) {
        Visit *v = visit_of(s, x.at[i]);
        if (v) v->wanted = true;
    }
    for (uint32_t k = 0; k < s->n; k++) s->nvalues += (size_t)s->visits[k].node->nout;
    qs_value *next = s->values = qmem_alloc(qvm_ctx(s->vm), qmem_size(s->nvalues, sizeof *s->values, 0));
    for (uint32_t k = 0; k < s->n; k++) {
        Visit *v = &s->visits[k];
        if (!v->wanted) v->wanted = above_leaf(s, v);
        v->at = next, next += v->node->nout;
    }
}

static void close_pass(BackwardPass *s) {
    for (uint32_t k = 0; k < s->n; k++) {
        Visit *v = &s->visits[k];
        for (int i = 0; i < v->node->nout; i++) qval_release(s->vm, v->at[i]);
        qtape_release(s->vm, &v->node->out[0]);
    }
    qmem_free(qvm_ctx(s->vm), s->values, s->nvalues * sizeof *s->values);
    qmem_free(qvm_ctx(s->vm), s->visits, s->cap * sizeof *s->visits);
}

/* -- adjoints ------------------------------------------------------------------------------------------------------ */
qs_status qbackward_zero(qs_vm *vm, const Trace *t, qs_value *out) {
    Array *a;
    if (t->kind == QS_COMPLEX) return qval_complex(vm, 0, 0, out);
    if (t->kind != QS_ARRAY) return *out = qs_num(0), QS_OK;
    TRY(qarr_new(vm, (qs_dtype)t->dtype, t->rank, t->dims, true, &a));
    qarr_keep(a, t->ndim);
    return *out = qarr_value(a), QS_OK;
}

/* Returns an array of the shape of t, with strides 0, in the memory of one element. */
static qs_status stretch(qs_vm *vm, const Trace *t, qs_value number, qs_value *out) {
    const int64_t one = 1, none[QS_MAX_RANK] = {0};
    Array *a, *x;
    TRY(qarr_new(vm, (qs_dtype)t->dtype, 1, &one, false, &a));
    qs_status s = qarr_fill(vm, a, number);
    if (s == QS_OK) s = qarr_view(vm, a, t->rank, t->dims, none, 0, &x);
    qarr_release(vm, a);
    if (s == QS_OK) *out = qarr_value(x);
    return s;
}

qs_status qbackward_form(qs_vm *vm, const Trace *t, qs_value *out) {
    if (t->kind == QS_COMPLEX) return qval_complex(vm, 0, 0, out);
    if (t->kind != QS_ARRAY) return *out = qs_num(0), QS_OK;
    return stretch(vm, t, qs_num(0), out);
}

static bool fits_trace(const Trace *t, qs_value v) {
    if (t->kind != QS_ARRAY) return v.kind == QS_NUM || (v.kind == QS_COMPLEX && t->kind == QS_COMPLEX);
    const Array *a = v.u.p;
    return v.kind == QS_ARRAY && a->dtype == t->dtype && qarr_same_dims(a, t->rank, t->dims);
}

/* Returns an array of the type and shape of t with equal elements. */
static qs_status fill_array(qs_vm *vm, const Trace *t, qs_value number, qs_value *out) {
    Array *a;
    TRY(qarr_new(vm, (qs_dtype)t->dtype, t->rank, t->dims, false, &a));
    qarr_keep(a, t->ndim);
    qs_status s = qarr_fill(vm, a, number);
    if (s != QS_OK) return qarr_release(vm, a), s;
    return *out = qarr_value(a), QS_OK;
}

qs_status qbackward_fit(qs_vm *vm, const Trace *t, qs_value v, qs_value *out) {
    qs_value args[2] = {v};
    if (v.kind == QS_NIL || fits_trace(t, qtape_plain(v))) return *out = qval_retain(v), QS_OK;
    if (v.kind == QS_NUM && t->kind == QS_ARRAY) return fill_array(vm, t, v, out);
    TRY(qbackward_form(vm, t, &args[1]));
    qs_status s = qrule_call_named(vm, "fit", 2, args, 1, out);
    qval_release(vm, args[1]);
    if (s != QS_OK || fits_trace(t, qtape_plain(*out))) return s;
    qval_release(vm, *out);
    return qerr_set(qvm_ctx(vm), QS_ESHAPE, "an adjoint of %s has not the shape of its value", qval_type_name(vm, v));
}

qs_status qbackward_check(qs_vm *vm, const char *what, qs_value value, qs_value v) {
    char wanted[SHAPE_TEXT], got[SHAPE_TEXT];
    value = qtape_plain(value), v = qtape_plain(v);
    const Array *a = value.kind == QS_ARRAY ? value.u.p : NULL, *b = v.kind == QS_ARRAY ? v.u.p : NULL;
    bool number = qval_is_scalar(v);
    bool fits = a && b ? qarr_same_shape(a, b) : (!a || a->count == 1) && (b ? b->count == 1 : number);
    if (fits && qarr_is_complex(v) && !qarr_is_complex(value))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s must be real, as its value is, got %s; real(x) is its real part",
                        what, qval_type_name(vm, v));
    if (fits) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_ESHAPE, "%s must have the size of its value, %s, got %s", what,
                    a ? qarr_shape_text(a, wanted) : "a number",
                    b        ? qarr_shape_text(b, got)
                    : number ? "a number"
                             : qval_type_name(vm, v));
}

/* Returns whether the storage has no other user, now or later. */
static bool is_own(const Array *a) {
    return qarr_is_spare(a) && a->contiguous && !(a->hdr.flags & (ARRAY_KEPT | ARRAY_AS_IS));
}

bool qbackward_owns(qs_value v) { return v.kind == QS_ARRAY && is_own(v.u.p) && !((const Array *)v.u.p)->trace; }

/* Adds v to *sum; consumes v. */
static qs_status add_adjoint(qs_vm *vm, qs_value *sum, qs_value v) {
    qs_value r;
    if (sum->kind == QS_NIL || v.kind == QS_NIL) {
        if (v.kind != QS_NIL) *sum = v;
        return QS_OK;
    }
    if (sum->kind == QS_NUM && v.kind == QS_NUM) return sum->u.f += v.u.f, QS_OK;
    qs_status s;
    if (qbackward_owns(*sum) && v.kind == QS_ARRAY && !qtape_is_recorded(vm, v)) {
        s = qarith_update(vm, OP_ADD, *sum, v);
    } else if ((s = qops_binary(vm, OP_ADD, *sum, v, &r)) == QS_OK) {
        qval_release(vm, *sum);
        *sum = r;
    }
    qval_release(vm, v);
    return s;
}

static qs_status add_arrived(BackwardPass *s, Trace *t, qs_value v) {
    Visit *w = visit_of(s, t);
    qs_value fitted;
    if (!w || !w->wanted) return QS_OK;
    bool number = v.kind == QS_NUM && t->kind == QS_ARRAY && w->at[result_index(t)].kind == QS_NIL;
    bool stretched = number && w->node->rule && w->node->rule->stretched;
    TRY(stretched ? stretch(s->vm, t, v, &fitted) : qbackward_fit(s->vm, t, v, &fitted));
    return add_adjoint(s->vm, &w->at[result_index(t)], fitted);
}

static bool any_there(const Visit *v) {
    if (v->late.node) return true;
    for (int i = 0; i < v->node->nout; i++)
        if (v->at[i].kind != QS_NIL) return true;
    return false;
}

/* Passes existing adjoint sums of the operands to the rule in dx, if it adds to them. */
static void lend_sums(BackwardPass *s, const GradNode *n, qs_value *dx) {
    for (int i = 0; n->rule->adds && i < n->nin; i++) {
        Visit *w = visit_of(s, n->in[i]);
        qs_value *sum = w && w->wanted ? &w->at[result_index(n->in[i])] : NULL;
        if (sum && qbackward_owns(*sum) && n->rule->adds(n, i, *sum)) dx[i] = *sum, *sum = qs_nil();
    }
}

/* Gives an error in a pass the source location of the recorded operation. */
static qs_status at_node(qs_vm *vm, const GradNode *n, qs_status s) {
    if (s != QS_OK && s != QS_EINTERRUPT) qerr_location(qvm_ctx(vm), n->at);
    return s;
}

static qs_status reverse_node(BackwardPass *s, const Visit *v) {
    GradNode *n = v->node;
    Ctx *c = qvm_ctx(s->vm);
    if (!n->rule) return n->in[0] ? add_arrived(s, n->in[0], v->at[0]) : QS_OK;
    bool done = false;
    if (n->rule->add) {
        Visit *w = visit_of(s, n->in[0]);
        TRY(at_node(s->vm, n, n->rule->add(s->vm, n, v->at, &w->at[result_index(n->in[0])], &done)));
    }
    if (done) return QS_OK;
    enum { FEW = 4 };
    qs_value few[FEW] = {{0}}, *dx = n->nin <= FEW ? few : qmem_alloc(c, qmem_size((size_t)n->nin, sizeof *dx, 0));
    lend_sums(s, n, dx);
    qs_status r =
        v->late.node ? n->rule->reverse_late(s->vm, n, v->at, &v->late, dx) : n->rule->reverse(s->vm, n, v->at, dx);
    for (int i = 0; i < n->nin; i++) {
        if (r == QS_OK && n->in[i] && dx[i].kind != QS_NIL) r = add_arrived(s, n->in[i], dx[i]);
        qval_release(s->vm, dx[i]);
    }
    if (dx != few) qmem_free(c, dx, (size_t)n->nin * sizeof *dx);
    return at_node(s->vm, n, r);
}

/* -- deferred adjoints --------------------------------------------------------------------------------------------- */
enum { NEAR = 64 }; /* maximum distance of the two nodes in the pass */

static bool is_one_of(const GradNode *n, Traces x) {
    for (int i = 0; i < x.n; i++)
        if (x.at[i] && x.at[i]->node == n) return true;
    return false;
}

/* Returns whether the operand t gets an adjoint only from v. */
static bool gives_all(const Visit *v, const Visit *w, const Trace *t) {
    int n = 0;
    if (v - w > NEAR || w->late.node || w->at[result_index(t)].kind != QS_NIL) return false;
    for (const Visit *u = w + 1; u <= v; u++)
        for (int i = 0; u->wanted && i < u->node->nin; i++) n += u->node->in[i] == t;
    return n == 1;
}

/* Finds the node below, not a leaf, that can compute the adjoint of the operand in its own backward step. */
static qs_status find_reader(BackwardPass *s, const Visit *v, int operand, Traces x, Visit **out) {
    const Trace *t = v->node->in[operand];
    Visit *w = visit_of(s, t);
    bool yes = false;
    if (w->node->rule != v->node->rule || is_one_of(w->node, x) || !gives_all(v, w, t)) return QS_OK;
    DeferredAdjoint late = {result_index(t), v->node, operand, v->at};
    TRY(v->node->rule->joins(s->vm, w->node, &late, &yes));
    if (yes) w->late = late, *out = w;
    return QS_OK;
}

/* Releases the adjoints of a node when they are not needed any more. */
static void drop_adjoints(BackwardPass *s, Visit *v) {
    Visit *above = v->late.node ? visit_of(s, v->late.node->out) : NULL;
    for (int i = 0; i < v->node->nout; i++) qval_release(s->vm, v->at[i]), v->at[i] = qs_nil();
    if (above && --above->readers == 0) drop_adjoints(s, above);
}

/* Defers the node if the readers can compute all of its adjoints; otherwise defers none. */
static qs_status defer_node(BackwardPass *s, Visit *v, Traces x, bool *left) {
    Visit *reader[MOST_RESULTS];
    int n = 0;
    *left = v->node->rule && v->node->rule->joins && !v->late.node;
    for (int i = 0; i < v->node->nin && *left; i++) {
        Visit *w = visit_of(s, v->node->in[i]);
        if (!w || !w->wanted) continue;
        reader[n] = NULL;
        if (n < MOST_RESULTS) TRY(find_reader(s, v, i, x, &reader[n]));
        *left = n < MOST_RESULTS && reader[n++];
    }
    *left = *left && n;
    v->readers = *left ? (uint32_t)n : 0;
    for (int k = 0; k < n && !*left; k++)
        if (reader[k]) reader[k]->late = (DeferredAdjoint){0};
    return QS_OK;
}

static qs_status take_adjoints(const BackwardPass *s, Traces t, qs_value *out) {
    for (int i = 0; i < t.n; i++) {
        const Visit *v = visit_of(s, t.at[i]);
        out[i] = v ? qval_retain(v->at[result_index(t.at[i])]) : qs_nil();
    }
    return QS_OK;
}

qs_status qbackward_reverse(qs_vm *vm, Traces y, const qs_value *dy, Traces x, qs_value *dx) {
    BackwardPass s = {.vm = vm};
    qs_status r = QS_OK;
    find_nodes(&s, y, x);
    for (int i = 0; i < y.n && r == QS_OK; i++)
        if (y.at[i] && dy[i].kind != QS_NIL) r = add_arrived(&s, y.at[i], dy[i]);
    for (uint32_t k = s.n; k-- > 0 && r == QS_OK;) {
        Visit *v = &s.visits[k];
        bool left = false;
        if (!v->wanted || !any_there(v) || is_one_of(v->node, x)) continue;
        if ((r = defer_node(&s, v, x, &left)) == QS_OK && !left) r = reverse_node(&s, v);
        if (!left) drop_adjoints(&s, v);
    }
    for (int i = 0; i < x.n; i++) dx[i] = qs_nil();
    if (r == QS_OK) r = take_adjoints(&s, x, dx);
    close_pass(&s);
    return r;
}

/* -- forward mode -------------------------------------------------------------------------------------------------- */
/* A rule is linear in the adjoints of the results, so it is recorded for zero adjoints and differentiated backward. */
qs_status qbackward_transpose(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy) {
    Ctx *c = qvm_ctx(vm);
    size_t nin = (size_t)n->nin, nout = (size_t)n->nout;
    qs_value *u = qmem_alloc(c, qmem_size(nout, sizeof *u, 0)), *g = qmem_alloc(c, qmem_size(nin, sizeof *g, 0));
    Trace **from = qmem_alloc(c, qmem_size(nout, sizeof *from, 0)), **to = qmem_alloc(c, qmem_size(nin, sizeof *to, 0));
    GradLevel level;
    qs_status s = qtape_begin(vm, &level);
    if (s == QS_OK) {
        for (size_t i = 0; i < nout && s == QS_OK; i++) {
            qs_value zero = qs_nil();
            if (n->out[i].kind != QS_NIL && (s = qbackward_zero(vm, &n->out[i], &zero)) == QS_OK)
                s = qtape_leaf(vm, &level, zero, &u[i]);
            qval_release(vm, zero);
        }
        if (s == QS_OK) s = n->rule->reverse(vm, n, u, g);
        for (size_t i = 0; i < nin; i++) {
            qs_value whole = qs_nil();
            if (s == QS_OK && n->in[i]) s = qbackward_fit(vm, n->in[i], g[i], &whole);
            qval_release(vm, g[i]);
            g[i] = whole;
            to[i] = dx[i].kind == QS_NIL ? NULL : qtape_trace(g[i]);
        }
        qtape_end(vm, &level);
        for (size_t i = 0; i < nout; i++) from[i] = qtape_trace(u[i]);
        if (s == QS_OK) s = qbackward_reverse(vm, (Traces){n->nin, to}, dx, (Traces){n->nout, from}, dy);
    }
    for (size_t i = 0; i < nout; i++) qval_release(vm, u[i]);
    for (size_t i = 0; i < nin; i++) qval_release(vm, g[i]);
    qmem_free(c, u, nout * sizeof *u), qmem_free(c, g, nin * sizeof *g);
    qmem_free(c, from, nout * sizeof *from), qmem_free(c, to, nin * sizeof *to);
    return s;
}

static qs_status forward_node(BackwardPass *s, Visit *v) {
    GradNode *n = v->node;
    Ctx *c = qvm_ctx(s->vm);
    qs_value *dx = qmem_alloc(c, qmem_size((size_t)n->nin, sizeof *dx, 0)),
             *dy = qmem_alloc(c, qmem_size((size_t)n->nout, sizeof *dy, 0));
    bool any = false;
    for (int i = 0; i < n->nin; i++) {
        const Visit *w = visit_of(s, n->in[i]);
        if (w) dx[i] = qval_retain(w->at[result_index(n->in[i])]);
        any |= dx[i].kind != QS_NIL;
    }
    qs_status r = QS_OK;
    if (any && !n->rule) dy[0] = qval_retain(dx[0]);
    else if (any) r = n->rule->forward ? n->rule->forward(s->vm, n, dx, dy) : qbackward_transpose(s->vm, n, dx, dy);
    for (int i = 0; i < n->nout; i++) {
        if (r == QS_OK && dy[i].kind != QS_NIL) r = add_arrived(s, &n->out[i], dy[i]);
        qval_release(s->vm, dy[i]);
    }
    for (int i = 0; i < n->nin; i++) qval_release(s->vm, dx[i]);
    qmem_free(c, dx, (size_t)n->nin * sizeof *dx), qmem_free(c, dy, (size_t)n->nout * sizeof *dy);
    return at_node(s->vm, n, r);
}

qs_status qbackward_forward(qs_vm *vm, Traces x, const qs_value *dx, Traces y, qs_value *dy) {
    BackwardPass s = {.vm = vm};
    qs_status r = QS_OK;
    find_nodes(&s, y, x);
    for (int i = 0; i < x.n && r == QS_OK; i++)
        if (x.at[i]) r = add_arrived(&s, x.at[i], dx[i]);
    for (uint32_t k = 0; k < s.n && r == QS_OK; k++)
        if (s.visits[k].wanted && !is_one_of(s.visits[k].node, x)) r = forward_node(&s, &s.visits[k]);
    for (int i = 0; i < y.n; i++) dy[i] = qs_nil();
    if (r == QS_OK) r = take_adjoints(&s, y, dy);
    close_pass(&s);
    return r;
}

qs_status qbackward_hand_out(qs_vm *vm, const Trace *t, qs_value *v) {
    qs_value copy;
    if (v->kind == QS_NIL) return t ? qbackward_zero(vm, t, v) : QS_OK;
    if (v->kind != QS_ARRAY) return QS_OK;
    if (!is_own(v->u.p)) {
        qs_value fn;
        TRY(qvm_lookup_builtin(vm, "copy", &fn));
        qs_status s = qvm_call(vm, fn, 1, v, 1, &copy);
        qval_release(vm, fn);
        if (s != QS_OK) return s;
        qval_release(vm, *v);
        *v = copy;
    }
    if (t && t->kind == QS_ARRAY) qarr_keep(v->u.p, t->ndim);
    return QS_OK;
}
