/* grad.c -- implements derivatives of functions: grad, vjp, jvp; adjoints.q builds further ones on them.
 *
 * A derivative of a function starts a level of the tape, makes the arguments leaves, calls the function, ends the
 * level, and runs the backward pass from the result (vm/tape/tape.h).  The program gets plain values, unless an outer
 * level still records them. */
#include "lang/syntax/ast.h"
#include "stdlib/builtins.h"
#include "vm/base/number.h"
#include "vm/tape/tape.h"
#include "vm/value/random_block.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 16 };

typedef struct { /* a recorded call of a function */
    int nx;
    qs_value x[MOST];  /* arguments: leaves, or constants */
    Trace *leaf[MOST]; /* record of the leaf; NULL: constant */
    qs_value y;
    Trace *result; /* record of y, retained; NULL: y depends on no leaf */
} Ran;

static void ran_free(qs_vm *vm, Ran *r) {
    for (int i = 0; i < r->nx; i++) qval_release(vm, r->x[i]);
    qval_release(vm, r->y);
    qtape_release(vm, r->result);
}

static qs_status make_leaves(qs_vm *vm, const GradLevel *l, qs_value f, const qs_value *x, int nleaves, Ran *r) {
    char why[WHY_CONSTANT];
    for (int i = 0; i < r->nx; i++) {
        if (i >= nleaves || !qtape_is_smooth(x[i]) || qtape_is_constant(vm, f, i, why)) {
            r->x[i] = qval_retain(x[i]);
            continue;
        }
        TRY(qtape_leaf(vm, l, x[i], &r->x[i]));
        r->leaf[i] = qtape_trace(r->x[i]);
    }
    return QS_OK;
}

/* Refuses results other than numbers and arrays: in a list, the record of an item would be lost. */
static qs_status check_result(qs_vm *vm, qs_value y) {
    qs_value v = qtape_plain(y);
    if (qval_is_scalar(v) || v.kind == QS_ARRAY) return QS_OK;
    return qs_fail(vm, QS_ETYPE, "a function whose derivative is taken must give a number or an array, got %s",
                   qval_type_name(vm, v));
}

static qs_status ran_run(qs_vm *vm, qs_value f, int nx, const qs_value *x, int nleaves, Ran *r) {
    GradLevel level;
    *r = (Ran){.nx = nx, .y = qs_nil()};
    for (int i = 0; i < nx; i++) r->x[i] = qs_nil();
    TRY(qtape_begin(vm, &level));
    qs_status s = make_leaves(vm, &level, f, x, nleaves, r);
    if (s == QS_OK) s = qvm_call(vm, f, nx, r->x, 1, &r->y);
    qtape_end(vm, &level);
    if (s == QS_OK) s = check_result(vm, r->y);
    if (s != QS_OK) return ran_free(vm, r), s;
    Trace *t = qtape_trace(r->y);
    if (t && t->node->serial >= level.first) r->result = qtape_retain(t);
    s = qtape_settle(vm, &r->y);
    return s == QS_OK ? s : (ran_free(vm, r), s);
}

static qs_status pull_back(qs_vm *vm, const Ran *r, qs_value dy, int n, qs_value *dx) {
    qs_status s = qbackward_reverse(vm, (Traces){1, &r->result}, &dy, (Traces){n, r->leaf}, dx);
    for (int i = 0; i < n && s == QS_OK; i++) s = qbackward_hand_out(vm, r->leaf[i], &dx[i]);
    for (int i = 0; i < n && s != QS_OK; i++) qval_release(vm, dx[i]), dx[i] = qs_nil();
    return s;
}

/* -- grad ---------------------------------------------------------------------------------------------------------- */
static qs_status check_arguments(qs_vm *vm, const qs_call_args *c) {
    if (c->nin > MOST) return qs_fail(vm, QS_ETYPE, "%s: at most %d arguments, got %d", c->name, MOST - 1, c->nin - 1);
    if (c->in[0].kind == QS_FUNCTION || c->in[0].kind == QS_FOREIGN) return QS_OK;
    return qarg_wrong(vm, c->name, "f", "a function", c->in[0]);
}

/* Checks that the first n arguments of c->in[0] are not declared constant, because derivatives to them are
 * requested. */
static qs_status check_declared(qs_vm *vm, const qs_call_args *c, int n) {
    char why[WHY_CONSTANT];
    for (int i = 0; i < n; i++)
        if (qtape_is_constant(vm, c->in[0], i, why)) return qs_fail(vm, QS_ETYPE, "%s: %s", c->name, why);
    return QS_OK;
}

static qs_status check_wanted(qs_vm *vm, const char *fn, const qs_value *x, int nx, int wanted) {
    if (wanted > nx) return qs_fail(vm, QS_ETYPE, "%s: %d derivatives are wanted, of %d arguments", fn, wanted, nx);
    for (int i = 0; i < wanted; i++)
        if (!qtape_is_smooth(x[i]))
            return qarg_wrong(vm, fn, "x", "a number or an array of floats or complex numbers", x[i]);
    return QS_OK;
}

/* Returns 1 in the shape of y, which must be a single real number. */
static qs_status one_of(qs_vm *vm, const char *fn, qs_value y, qs_value *out) {
    qs_value plain = qtape_plain(y);
    const Array *a = plain.u.p;
    Array *one;
    if (qval_is_number(plain)) return *out = qs_num(1), QS_OK;
    if (plain.kind != QS_ARRAY || a->count != 1 || qdtype_is_complex((qs_dtype)a->dtype))
        return qs_fail(vm, QS_ETYPE,
                       "%s: the function must give one real number, got %s; of several there is "
                       "jacobian, or vjp",
                       fn, qval_type_name(vm, plain));
    TRY(qarr_like(vm, a, (qs_dtype)a->dtype, &one));
    *out = qarr_value(one);
    return qarr_fill(vm, one, qs_num(1));
}

static qs_status gradient_of_values(qs_vm *vm, qs_call_args *c, bool value, int nx, int wanted) {
    Ran r;
    qs_value one = qs_nil();
    TRY(check_wanted(vm, c->name, c->in + 1, nx, wanted));
    TRY(ran_run(vm, c->in[0], nx, c->in + 1, wanted, &r));
    qs_status s = one_of(vm, c->name, r.y, &one);
    if (s == QS_OK) s = pull_back(vm, &r, one, wanted, c->out + value);
    if (s == QS_OK && value) c->out[0] = qval_retain(r.y);
    qval_release(vm, one);
    return ran_free(vm, &r), s;
}

/* -- grad with respect to the contents of cells and objects: the parameters of a model ----------------------------- */
typedef struct Leaves {
    qs_vm *vm;
    const char *fn;
    const GradLevel *level;
    int n, room;
    Trace **leaf;
    qs_value *dx; /* adjoints of the leaves, in their order */
    int next;
    qs_status (*at)(struct Leaves *l, qs_value v, qs_value *out); /* converts a value during the walk over a tree */
} Leaves;
enum { DEEPEST = 32 };

static qs_status add_leaf(Leaves *l, qs_value v, qs_value *out) {
    Ctx *ctx = qvm_ctx(l->vm);
    TRY(qtape_leaf(l->vm, l->level, v, out));
    if (l->n == l->room) {
        int room = l->room ? 2 * l->room : 16;
        Trace **more = qmem_alloc(ctx, qmem_size((size_t)room, sizeof *more, 0));
        if (l->n) memcpy(more, l->leaf, (size_t)l->n * sizeof *more);
        if (l->leaf) qmem_free(ctx, l->leaf, (size_t)l->room * sizeof *more);
        l->leaf = more, l->room = room;
    }
    l->leaf[l->n++] = qtape_retain(qtape_trace(*out));
    return QS_OK;
}

/* There are three walks over a tree of cells and objects.  The first copies it and makes its numbers and arrays leaves.
 * The second makes the tree of the gradient, with marks at the leaves and null for other values; this is done early,
 * since the function may change its argument.  The third replaces the marks by adjoints. */
static qs_status put_leaf(Leaves *l, qs_value v, qs_value *out) {
    if (qtape_is_smooth(v)) return add_leaf(l, v, out);
    return *out = qval_retain(v), QS_OK;
}

static qs_status put_mark(Leaves *l, qs_value v, qs_value *out) {
    (void)l;
    return *out = qtape_is_smooth(v) ? qs_bool(true) : qs_nil(), QS_OK;
}

static qs_status put_adjoint(Leaves *l, qs_value v, qs_value *out) {
    *out = qs_nil();
    if (v.kind != QS_NIL) *out = l->dx[l->next], l->dx[l->next++] = qs_nil();
    return QS_OK;
}

static qs_status map_tree(Leaves *l, qs_value v, int depth, qs_value *out);

static qs_status map_cell(Leaves *l, const Cell *from, int depth, Cell *to) {
    for (size_t i = 0; i < from->count; i++) {
        qs_value item = qs_nil();
        TRY(map_tree(l, from->items[i], depth + 1, &item));
        qval_release(l->vm, to->items[i]);
        to->items[i] = item;
    }
    return QS_OK;
}

static qs_status map_object(Leaves *l, const Object *from, int depth, Object *to) {
    qs_value key, v, item;
    for (uint32_t i = 0; qobj_entry(from, i, &key, &v); i++) {
        TRY(map_tree(l, v, depth + 1, &item));
        qs_status s = qobj_set_key(l->vm, to, key, item);
        qval_release(l->vm, item);
        TRY(s);
    }
    return QS_OK;
}

static qs_status map_tree(Leaves *l, qs_value v, int depth, qs_value *out) {
    Cell *cell;
    Object *object;
    if (depth > DEEPEST)
        return qs_fail(l->vm, QS_EVALUE, "%s: lists and objects are nested more than %d deep", l->fn, DEEPEST);
    if (v.kind == QS_CELL) {
        const Cell *from = v.u.p;
        TRY(qcell_new(l->vm, qtype_any(qvm_ctx(l->vm)), from->rank, from->dims, &cell));
        *out = qval_object(QS_CELL, cell);
        return map_cell(l, from, depth, cell);
    }
    if (v.kind != QS_OBJECT) return l->at(l, v, out);
    TRY(qobj_new(l->vm, NULL, &object));
    *out = qval_object(QS_OBJECT, object);
    return map_object(l, v.u.p, depth, object);
}

static bool is_tree(qs_value v) { return v.kind == QS_CELL || (v.kind == QS_OBJECT && !((Object *)v.u.p)->cls); }

static qs_status map_trees(Leaves *l, qs_status (*at)(Leaves *, qs_value, qs_value *), const qs_value *in, int n,
                           qs_value *out) {
    l->at = at;
    for (int i = 0; i < n; i++) TRY(map_tree(l, in[i], 0, &out[i]));
    return QS_OK;
}

static qs_status make_tree_leaves(Leaves *l, const qs_value *in, int nx, int wanted, qs_value *x, qs_value *form) {
    for (int i = wanted; i < nx; i++) x[i] = qval_retain(in[i]);
    TRY(map_trees(l, put_leaf, in, wanted, x));
    TRY(map_trees(l, put_mark, in, wanted, form));
    return l->n ? QS_OK : qs_fail(l->vm, QS_ETYPE, "%s: there is no float among the arguments", l->fn);
}

static qs_status make_tree_gradient(Leaves *l, const qs_value *form, int wanted, Trace *result, qs_value one,
                                    qs_value *out) {
    size_t bytes = qmem_size((size_t)l->n, sizeof *l->dx, 0);
    l->dx = qmem_alloc(qvm_ctx(l->vm), bytes);
    for (int i = 0; i < l->n; i++) l->dx[i] = qs_nil();
    qs_status s = qbackward_reverse(l->vm, (Traces){1, &result}, &one, (Traces){l->n, l->leaf}, l->dx);
    for (int i = 0; s == QS_OK && i < l->n; i++) s = qbackward_hand_out(l->vm, l->leaf[i], &l->dx[i]);
    if (s == QS_OK) s = map_trees(l, put_adjoint, form, wanted, out);
    for (int i = 0; i < l->n; i++) qval_release(l->vm, l->dx[i]);
    qmem_free(qvm_ctx(l->vm), l->dx, bytes);
    l->dx = NULL;
    return s;
}

static void leaves_free(Leaves *l) {
    for (int i = 0; i < l->n; i++) qtape_release(l->vm, l->leaf[i]);
    if (l->leaf) qmem_free(qvm_ctx(l->vm), l->leaf, (size_t)l->room * sizeof *l->leaf);
}

static qs_status gradient_of_trees(qs_vm *vm, qs_call_args *c, bool value, int nx, int wanted) {
    GradLevel level;
    Leaves l = {.vm = vm, .fn = c->name, .level = &level};
    qs_value x[MOST], form[MOST], y = qs_nil(), one = qs_nil();
    for (int i = 0; i < nx; i++) x[i] = form[i] = qs_nil();
    TRY(qtape_begin(vm, &level));
    qs_status s = make_tree_leaves(&l, c->in + 1, nx, wanted, x, form);
    if (s == QS_OK) s = qvm_call(vm, c->in[0], nx, x, 1, &y);
    qtape_end(vm, &level);
    if (s == QS_OK) s = check_result(vm, y);
    Trace *t = s == QS_OK ? qtape_trace(y) : NULL;
    if (t) t = t->node->serial >= level.first ? qtape_retain(t) : NULL;
    if (s == QS_OK) s = qtape_settle(vm, &y);
    if (s == QS_OK) s = one_of(vm, c->name, y, &one);
    if (s == QS_OK) s = make_tree_gradient(&l, form, wanted, t, one, c->out + value);
    if (s == QS_OK && value) c->out[0] = qval_retain(y);
    for (int i = 0; i < nx; i++) qval_release(vm, x[i]), qval_release(vm, form[i]);
    qtape_release(vm, t);
    qval_release(vm, y), qval_release(vm, one);
    return leaves_free(&l), s;
}

static qs_status gradient(qs_vm *vm, qs_call_args *c, bool value) {
    int nx = c->nin - 1, wanted = c->nout - value;
    bool tree = false;
    if (wanted < 1 - value) wanted = 1 - value;
    TRY(check_arguments(vm, c));
    TRY(check_declared(vm, c, wanted < nx ? wanted : nx));
    for (int i = 0; i < wanted && i < nx; i++) tree |= is_tree(c->in[1 + i]);
    if (tree && wanted <= nx) return gradient_of_trees(vm, c, value, nx, wanted);
    return gradient_of_values(vm, c, value, nx, wanted);
}

qs_status qgrad_grad(qs_vm *vm, qs_call_args *c) { return gradient(vm, c, false); }
qs_status qgrad_value_and_grad(qs_vm *vm, qs_call_args *c) { return gradient(vm, c, true); }

/* -- vjp: the pullback keeps the recorded call --------------------------------------------------------------------- */
/* The pullback of several arguments returns a list, so that [a, b] = pull(dy) works. */
typedef struct {
    qs_vm *vm;
    Ran ran;
} Pullback;

static void pullback_release(void *p) {
    Pullback *b = p;
    ran_free(b->vm, &b->ran);
    qmem_free(qvm_ctx(b->vm), b, sizeof *b);
}

static qs_status pullback_call(qs_vm *vm, void *p, qs_call_args *c) {
    const Pullback *b = p;
    qs_value dx[MOST];
    if (c->nin != 1)
        return qs_fail(vm, QS_ETYPE, "a pullback takes the adjoint of the result, got %d arguments", c->nin);
    TRY(qbackward_check(vm, "the adjoint that a pullback takes", b->ran.y, c->in[0]));
    TRY(pull_back(vm, &b->ran, c->in[0], b->ran.nx, dx));
    if (b->ran.nx == 1) return c->out[0] = dx[0], QS_OK;
    Cell *list;
    qs_status s = qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, &(int64_t){b->ran.nx}, &list);
    for (int i = 0; i < b->ran.nx; i++)
        if (s == QS_OK) list->items[i] = dx[i];
        else qval_release(vm, dx[i]);
    if (s == QS_OK) c->out[0] = qval_object(QS_CELL, list);
    return s;
}

static const qs_foreign_type pullback_type = {.name = "pullback", .release = pullback_release, .call = pullback_call};

qs_status qgrad_vjp(qs_vm *vm, qs_call_args *c) {
    TRY(check_arguments(vm, c));
    Pullback *b = qmem_alloc(qvm_ctx(vm), sizeof *b);
    b->vm = vm;
    qs_status s = ran_run(vm, c->in[0], c->nin - 1, c->in + 1, c->nin - 1, &b->ran);
    if (s != QS_OK) return qmem_free(qvm_ctx(vm), b, sizeof *b), s;
    c->out[0] = qval_retain(b->ran.y);
    qs_value pull = qval_object(QS_FOREIGN, qobj_foreign(vm, &pullback_type, b));
    if (c->nout > 1) c->out[1] = qval_retain(pull);
    qval_release(vm, pull);
    return QS_OK;
}

/* -- jvp ----------------------------------------------------------------------------------------------------------- */
typedef struct {
    int n;
    qs_value x[MOST];
} Items; /* retained, because the called function may change the cell */

static qs_status unpack_arguments(qs_vm *vm, qs_value v, Items *out) {
    const Cell *c = v.u.p;
    out->n = 0;
    if (v.kind != QS_CELL) return out->x[out->n++] = qval_retain(v), QS_OK;
    if (c->count > MOST) return qs_fail(vm, QS_ETYPE, "jvp: at most %d arguments", MOST);
    while (out->n < (int)c->count) out->x[out->n] = qval_retain(c->items[out->n]), out->n++;
    return QS_OK;
}

static void items_free(qs_vm *vm, Items *items) {
    for (int i = 0; i < items->n; i++) qval_release(vm, items->x[i]);
}

static qs_status fit_tangents(qs_vm *vm, const Ran *r, const qs_value *dx, qs_value *fitted) {
    for (int i = 0; i < r->nx; i++)
        if (r->leaf[i]) TRY(qbackward_fit(vm, r->leaf[i], dx[i], &fitted[i]));
    return QS_OK;
}

static qs_status push_forward(qs_vm *vm, const Ran *r, const qs_value *dx, qs_value *dy) {
    qs_value fitted[MOST];
    for (int i = 0; i < MOST; i++) fitted[i] = qs_nil();
    qs_status s = fit_tangents(vm, r, dx, fitted);
    Traces x = {r->nx, r->leaf}, y = {1, &r->result};
    if (s == QS_OK && r->result) s = qbackward_forward(vm, x, fitted, y, dy);
    if (s == QS_OK && r->result) s = qbackward_hand_out(vm, r->result, dy);
    else if (s == QS_OK) s = qtape_no_tangent(vm, r->y, dy);
    for (int i = 0; i < r->nx; i++) qval_release(vm, fitted[i]);
    return s;
}

/* Checks a tangent.  An argument declared as an integer has no tangent except 0. */
static qs_status check_tangent(qs_vm *vm, qs_value f, int i, qs_value x, qs_value dx) {
    char what[32], why[WHY_CONSTANT];
    qnum_print(what, sizeof what, "jvp: tangent %d", i);
    bool none = dx.kind == QS_NIL || (qval_is_number(dx) && qval_number(dx) == 0);
    if (!none && qtape_is_constant(vm, f, i, why)) return qs_fail(vm, QS_ETYPE, "jvp: %s", why);
    return qtape_is_smooth(x) ? qbackward_check(vm, what, x, dx) : QS_OK;
}

static qs_status along(qs_vm *vm, qs_call_args *c, const Items *x, const Items *dx) {
    Ran r;
    qs_value dy = qs_nil();
    if (x->n != dx->n) return qs_fail(vm, QS_ETYPE, "jvp: %d arguments, but %d tangents", x->n, dx->n);
    for (int i = 0; i < x->n; i++) TRY(check_tangent(vm, c->in[0], i, x->x[i], dx->x[i]));
    TRY(ran_run(vm, c->in[0], x->n, x->x, x->n, &r));
    qs_status s = push_forward(vm, &r, dx->x, &dy);
    c->out[0] = qval_retain(r.y);
    if (c->nout > 1) c->out[1] = dy;
    else qval_release(vm, dy);
    return ran_free(vm, &r), s;
}

qs_status qgrad_jvp(qs_vm *vm, qs_call_args *c) {
    Items x = {0}, dx = {0};
    TRY(check_arguments(vm, c));
    qs_status s = unpack_arguments(vm, c->in[1], &x);
    if (s == QS_OK) s = unpack_arguments(vm, c->in[2], &dx);
    if (s == QS_OK) s = along(vm, c, &x, &dx);
    items_free(vm, &x);
    return items_free(vm, &dx), s;
}

/* -- constants, and recomputation to save memory ------------------------------------------------------------------- */
qs_status qgrad_stop_gradient(qs_vm *vm, qs_call_args *c) {
    Array *copy;
    if (c->in[0].kind != QS_ARRAY || !qtape_is_recorded(vm, c->in[0]))
        return c->out[0] = qval_retain(qtape_plain(c->in[0])), QS_OK;
    qtape_enter(vm);
    qs_status s = qarr_copy(vm, c->in[0].u.p, &copy);
    qtape_leave(vm);
    if (s == QS_OK) c->out[0] = qarr_value(copy);
    return s;
}

typedef struct {
    qs_value f;
    RandomStream from;
    int nx;
    qs_value y /* result of the first call */, x[];
} Again; /* a call that is repeated in the backward pass */

static size_t again_bytes(const Again *a) { return sizeof *a + (size_t)a->nx * sizeof *a->x; }

static void again_release(qs_vm *vm, GradNode *n) {
    Again *a = n->data;
    for (int i = 0; i < a->nx; i++) qval_release(vm, a->x[i]);
    qval_release(vm, a->f);
    qval_release(vm, a->y);
    qmem_free(qvm_ctx(vm), a, again_bytes(a));
}

/* Repeats the call with the random numbers of the first call, while other threads draw from their own stream. */
static qs_status run_again(qs_vm *vm, const Again *a, Ran *r) {
    RandomStream *outer = qvm(vm)->random_own, again = a->from;
    qvm(vm)->random_own = &again;
    qs_status s = ran_run(vm, a->f, a->nx, a->x, a->nx, r);
    qvm(vm)->random_own = outer;
    return s;
}

/* During the first call the stream belongs to the call alone, so that its random numbers are consecutive.  Other
 * threads meanwhile draw from another stream, and continue with it if they did. */
typedef struct {
    RandomStream mine, others;
} Apart;

static void split_stream(Machine *m, Apart *a) {
    uint32_t w[4];
    a->mine = m->random;
    qrandom_block(~a->mine.seed, a->mine.drawn, w);
    m->random = a->others = (RandomStream){(uint64_t)w[1] << 32 | w[0], 0};
    m->random_own = &a->mine;
}

static void unite(Machine *m, const Apart *a) {
    if (m->random_own != &a->mine) return;
    m->random_own = NULL;
    if (m->random.seed == a->others.seed && m->random.drawn == a->others.drawn) m->random = a->mine;
}

/* Relative tolerance for a repeated call: other code may round differently, but a larger difference means that the
 * function has read something that changed. */
static double allowed(qs_value y) {
    qs_dtype d = y.kind == QS_ARRAY ? qdtype_real_of((qs_dtype)qval_array(y)->dtype) : QS_F32;
    return sqrt(d == QS_F64 ? DBL_EPSILON : d == QS_F32 ? FLT_EPSILON : 1e-3);
}

static bool is_near(const double *a, const double *b, size_t n, double part) {
    double apart = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        if (a[i] == b[i] || (isnan(a[i]) && isnan(b[i]))) size += isfinite(a[i]) ? fabs(a[i]) : 0;
        else apart += fabs(a[i] - b[i]), size += fabs(a[i]);
    }
    return apart <= part * size;
}

/* Converts all elements to consecutive complex numbers. */
static qs_status pairs_of(qs_vm *vm, qs_value v, Array **out) {
    Array *a;
    TRY(qarr_from_value(vm, v, QS_C128, &a));
    qs_status s = qarr_contiguous(vm, a, out);
    return qarr_release(vm, a), s;
}

static qs_status compare_results(qs_vm *vm, qs_value was, qs_value is, bool *near) {
    Array *a, *b = NULL;
    const void *p, *q;
    TRY(pairs_of(vm, was, &a));
    qs_status s = pairs_of(vm, is, &b);
    if (s == QS_OK) s = qarr_read(vm, a, &p);
    if (s == QS_OK) s = qarr_read(vm, b, &q);
    if (s == QS_OK) *near = a->count == b->count && is_near(p, q, 2 * a->count, allowed(was));
    qarr_release(vm, a);
    if (b) qarr_release(vm, b);
    return s;
}

static qs_status check_again(qs_vm *vm, qs_value was, qs_value is) {
    bool near = false;
    qtape_enter(vm); /* an outer derivative records the repeated call */
    qs_status s = compare_results(vm, was, qtape_plain(is), &near);
    qtape_leave(vm);
    if (s != QS_OK || near) return s;
    return qtape_refuse(vm, "checkpoint",
                        "its function, which runs again in the backward pass, gives something else than "
                        "before: what it reads beside its arguments has changed");
}

static qs_status again_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    Ran r;
    TRY(run_again(vm, n->data, &r));
    qs_status s = check_again(vm, ((Again *)n->data)->y, r.y);
    if (s == QS_OK && r.result) s = qbackward_reverse(vm, (Traces){1, &r.result}, dy, (Traces){r.nx, r.leaf}, dx);
    return ran_free(vm, &r), s;
}

static const GradRule again_rule = {.name = "checkpoint", .reverse = again_reverse, .release = again_release};

/* Calls the function with plain arguments, so that nothing is recorded, unless it has captured recorded values. */
static qs_status call_plain(qs_vm *vm, const Again *a, qs_value *y) {
    qs_value x[MOST];
    qs_status s = QS_OK;
    for (int i = 0; i < a->nx; i++) x[i] = qs_nil();
    for (int i = 0; i < a->nx && s == QS_OK; i++) s = qtape_keep_plain(vm, a->x[i], &x[i]);
    if (s == QS_OK) s = qvm_call(vm, a->f, a->nx, x, 1, y);
    for (int i = 0; i < a->nx; i++) qval_release(vm, x[i]);
    if (s == QS_OK) s = check_result(vm, *y);
    if (s != QS_OK || !qtape_is_recorded(vm, *y)) return s == QS_OK ? qtape_own(vm, y) : s;
    return qtape_refuse(vm, "checkpoint",
                        "its function uses a value that a derivative depends on and that is no "
                        "argument of it; pass it as an argument");
}

static qs_status call_recorded(qs_vm *vm, qs_value f, qs_call_args *c) {
    Trace *edges[MOST];
    Apart apart;
    Again *a = qmem_alloc(qvm_ctx(vm), qmem_size((size_t)c->nin, sizeof *a->x, sizeof *a));
    GradNode n = {.data = a};
    *a = (Again){qval_retain(f), *qvm_random(vm), c->nin, qs_nil()};
    qs_status s = QS_OK;
    for (int i = 0; i < c->nin; i++) a->x[i] = qs_nil();
    for (int i = 0; i < c->nin && s == QS_OK; i++) s = qtape_keep(vm, c->in[i], &a->x[i]);
    for (int i = 0; i < c->nin; i++) edges[i] = qtape_edge(vm, c->in[i]);
    if (!qvm(vm)->random_own) split_stream(qvm(vm), &apart);
    if (s == QS_OK) s = call_plain(vm, a, &c->out[0]);
    unite(qvm(vm), &apart);
    if (s == QS_OK) s = qtape_keep_plain(vm, c->out[0], &a->y);
    if (s == QS_OK) return qtape_record(vm, &again_rule, a, c->nin, edges, 1, c->out), QS_OK;
    for (int i = 0; i < c->nin; i++) qtape_release(vm, edges[i]);
    return again_release(vm, &n), s;
}

typedef struct {
    qs_vm *vm;
    qs_value f;
} Checkpoint;

static void checkpoint_release(void *p) {
    Checkpoint *k = p;
    qval_release(k->vm, k->f);
    qmem_free(qvm_ctx(k->vm), k, sizeof *k);
}

static qs_status checkpoint_call(qs_vm *vm, void *p, qs_call_args *c) {
    const Checkpoint *k = p;
    bool recorded = qtape_any(vm, c->nin, c->in);
    if (recorded && (c->nout > 1 || c->nin > MOST))
        return qtape_refuse(vm, "checkpoint", "it keeps functions with one result and at most 16 arguments");
    if (recorded) return call_recorded(vm, k->f, c);
    return qvm_call(vm, k->f, c->nin, c->in, c->nout > 1 ? c->nout : 1, c->out);
}

static const qs_foreign_type checkpoint_type = {
    .name = "checkpoint", .release = checkpoint_release, .call = checkpoint_call};

qs_status qgrad_checkpoint(qs_vm *vm, qs_call_args *c) {
    TRY(check_arguments(vm, c));
    const Function *f = c->in[0].u.p;
    if (c->in[0].kind == QS_FUNCTION && f->fkind == FN_SCRIPT && f->ast->nouts > 1)
        return qs_fail(vm, QS_ETYPE, "checkpoint: %s gives %d results; it keeps functions with one", f->name->s,
                       f->ast->nouts);
    Checkpoint *k = qmem_alloc(qvm_ctx(vm), sizeof *k);
    *k = (Checkpoint){vm, qval_retain(c->in[0])};
    qs_value again = qval_object(QS_FOREIGN, qobj_foreign(vm, &checkpoint_type, k));
    Function *fn = qfn_foreign(vm, qstr_cname(qvm_ctx(vm), "checkpoint"), again);
    if (c->in[0].kind == QS_FUNCTION) qfn_set_add(vm, fn, c->in[0].u.p);
    c->out[0] = qval_object(QS_FUNCTION, fn);
    qval_release(vm, again);
    return QS_OK;
}

/* -- functions implemented in adjoints.q --------------------------------------------------------------------------- */
/* Calls fn(f, {x…}) of adjoints.q. */
static qs_status by_list(qs_vm *vm, qs_call_args *c, const char *rule) {
    Cell *list;
    TRY(check_arguments(vm, c));
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, &(int64_t){c->nin - 1}, &list));
    for (int i = 1; i < c->nin; i++) list->items[i - 1] = qval_retain(c->in[i]);
    const qs_value in[2] = {c->in[0], qval_object(QS_CELL, list)};
    qs_status s = qtape_library(vm, rule, 2, in, 1, c->out);
    qval_release(vm, in[1]);
    return s;
}

/* Calls fn(f, x, …) of adjoints.q, which differentiates with respect to the first argument of f. */
static qs_status by_rule(qs_vm *vm, qs_call_args *c, const char *rule) {
    TRY(check_declared(vm, c, 1));
    return qtape_library(vm, rule, c->nin, c->in, 1, c->out);
}

qs_status qgrad_jacobian(qs_vm *vm, qs_call_args *c) { return by_rule(vm, c, "jacobian_of"); }
qs_status qgrad_hessian(qs_vm *vm, qs_call_args *c) { return by_rule(vm, c, "hessian_of"); }
qs_status qgrad_hvp(qs_vm *vm, qs_call_args *c) { return by_rule(vm, c, "hvp_of"); }
qs_status qgrad_gradcheck(qs_vm *vm, qs_call_args *c) { return by_list(vm, c, "gradcheck_of"); }
qs_status qgrad_diff(qs_vm *vm, qs_call_args *c) { return qtape_library(vm, "diff_of", 2, c->in, 1, c->out); }
qs_status qgrad_diffmul(qs_vm *vm, qs_call_args *c) { return by_rule(vm, c, "diffmul_of"); }
