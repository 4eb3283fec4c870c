/* small_op.c -- records arithmetic of numbers and of few elements, and lists of numbers, without a launch.
 *
 * A program of numbers and short vectors records thousands of operations with little work each, and recording a
 * launch (vm/launch/elementwise_node.c) costs far more.  Therefore sums, differences, products, quotients and
 * negations of real operands of one shape save their elements in the node, and the backward pass is a loop over them,
 * with the slopes that elem.def gives.  If an enclosing level records the pass, the same is computed by ordinary
 * operators. */
#include "lang/kernel/elem/elem.h"
#include "lang/syntax/operators.h"
#include "vm/array/operand.h"
#include "vm/interp/interp.h"
#include "vm/launch/launch.h"
#include "vm/tape/tape_internal.h"

#include <string.h>

enum { MOST_FEW = 32 };

/* kept: y and x of a product; y and the result of a quotient; a number is repeated for all elements. */
typedef struct {
    Elem e;
    int n, nkept;
    bool number[2]; /* by operand: it is a number; if all are, so is the result */
    double kept[];
} SmallOp;

static size_t bytes_of(int n, int nkept) {
    return qmem_size((size_t)n, (size_t)nkept * sizeof(double), sizeof(SmallOp));
}

static void free_op(qs_vm *vm, GradNode *n) {
    SmallOp *f = n->data;
    qmem_free(qvm_ctx(vm), f, bytes_of(f->n, f->nkept));
}

/* -- elements ------------------------------------------------------------------------------------------------------ */
static double load_element(const void *p, qs_dtype d, int i) {
    float x;
    double y;
    if (d == QS_F32) return memcpy(&x, (const float *)p + i, sizeof x), (double)x;
    return memcpy(&y, (const double *)p + i, sizeof y), y;
}

static qs_status load_values(qs_vm *vm, qs_value v, int n, double *to) {
    const void *p;
    v = qtape_plain(v);
    if (v.kind != QS_ARRAY) {
        for (int i = 0; i < n; i++) to[i] = qval_number(v);
        return QS_OK;
    }
    qtape_enter(vm);
    qs_status s = qarr_read(vm, v.u.p, &p);
    qtape_leave(vm);
    for (int i = 0; i < n && s == QS_OK; i++) to[i] = load_element(p, (qs_dtype)qval_array(v)->dtype, i);
    return s;
}

/* Returns an array of the type and shape of t. */
static qs_status store_array(qs_vm *vm, const Trace *t, int n, const double *from, qs_value *out) {
    Array *a;
    void *p;
    TRY(qarr_new(vm, (qs_dtype)t->dtype, t->rank, t->dims, false, &a));
    qarr_keep(a, t->ndim);
    qs_status s = qarr_write(vm, a, &p);
    if (s != QS_OK) return qarr_release(vm, a), s;
    for (int i = 0; i < n; i++)
        if (t->dtype == QS_F32) ((float *)p)[i] = (float)from[i];
        else ((double *)p)[i] = from[i];
    return *out = qarr_value(a), QS_OK;
}

/* Rounds x to the precision of the result type d. */
static double rounded(qs_dtype d, double x) { return d == QS_F32 ? (double)(float)x : x; }

/* -- conditions ---------------------------------------------------------------------------------------------------- */
static bool is_array_of_few(qs_value v) {
    const Array *a = v.u.p;
    return v.kind == QS_ARRAY && (a->dtype == QS_F32 || a->dtype == QS_F64) && a->count && a->count <= MOST_FEW &&
           a->contiguous && !qbuf_is_away(a->buf);
}

static bool suits(qs_value v, qs_value result) {
    v = qtape_plain(v);
    if (qval_is_number(v)) return true;
    if (result.kind != QS_ARRAY || !is_array_of_few(v)) return false;
    const Array *a = v.u.p, *r = result.u.p;
    return a->dtype == r->dtype && qarr_same_dims(a, r->rank, r->dims);
}

static bool is_ours(qs_vm *vm, Elem e, int n, const qs_value *in, qs_value result) {
    bool known = e == EL_add || e == EL_sub || e == EL_mul || e == EL_div || e == EL_neg;
    if (!known || qvm(vm)->fuse_least <= 1) return false; /* 1: everything is compiled */
    if (result.kind != QS_NUM && !is_array_of_few(result)) return false;
    return suits(in[0], result) && (n == 1 || suits(in[1], result));
}

/* -- the backward pass --------------------------------------------------------------------------------------------- */
static bool is_narrow(const GradNode *n) { return n->out[0].kind == QS_ARRAY && n->out[0].dtype == QS_F32; }

static double slope_times(const GradNode *n, int i, int k, double t) {
    const SmallOp *f = n->data;
    const double *kept = f->kept + k;
    qs_dtype d = is_narrow(n) ? QS_F32 : QS_F64;
    switch (f->e) {
    case EL_mul: return rounded(d, t * rounded(d, kept[i * f->n]));
    case EL_div: t = rounded(d, t / rounded(d, kept[0])); return i ? -rounded(d, t * kept[f->n]) : t;
    default: return f->e == EL_neg || (f->e == EL_sub && i) ? -t : t;
    }
}

static qs_status return_adjoint(qs_vm *vm, const GradNode *n, int i, qs_value dy, const double *t, qs_value *dx) {
    const SmallOp *f = n->data;
    double s[MOST_FEW], sum = 0;
    bool same = f->e == EL_add || (f->e == EL_sub && !i);
    if (same && !f->number[i]) return *dx = qval_retain(dy), QS_OK;
    for (int k = 0; k < f->n; k++) sum += s[k] = slope_times(n, i, k, t[k]);
    if (f->number[i]) return *dx = qs_num(sum), QS_OK;
    return store_array(vm, &n->out[0], f->n, s, dx);
}

/* Returns whether operators are needed, because the computation is recorded or the adjoint has another type or size. */
static bool asks_for_operators(const qs_vm *vm, const GradNode *n, qs_value dy) {
    if (n->out[0].kind == QS_ARRAY ? !is_array_of_few(dy) : dy.kind != QS_NUM) return true;
    bool live = qtape_is_on(vm) && qtape_is_recorded(vm, dy);
    for (int i = 0; i < n->nin && qtape_is_on(vm); i++) live = live || (n->in[i] && qtape_live(vm, n->in[i]->node));
    return live;
}

/* -- the backward pass by operators -------------------------------------------------------------------------------- */
static qs_status kept_value(qs_vm *vm, GradNode *n, int i, qs_value *out) {
    const SmallOp *f = n->data;
    bool result = f->e == EL_div && i == 1, number = result ? n->out[0].kind != QS_ARRAY : f->number[!i];
    Trace *t = result ? &n->out[0] : n->in[!i];
    if (number) *out = qs_num(f->kept[i * f->n]);
    else TRY(store_array(vm, &n->out[0], f->n, f->kept + i * f->n, out));
    if (t) *out = qtape_attach(vm, *out, t);
    return QS_OK;
}

static qs_status by_kept(qs_vm *vm, GradNode *n, Op op, int i, qs_value t, qs_value *out) {
    qs_value kept;
    TRY(kept_value(vm, n, i, &kept));
    qs_status s = qops_binary(vm, op, t, kept, out);
    return qval_release(vm, kept), s;
}

/* Returns the negation of v; consumes v. */
static qs_status negative(qs_vm *vm, qs_value v, qs_value *out) {
    qs_status s = qops_unary(vm, OP_NEG, v, out);
    return qval_release(vm, v), s;
}

static qs_status slope_by_operators(qs_vm *vm, GradNode *n, int i, qs_value t, qs_value *out) {
    const SmallOp *f = n->data;
    qs_value q, p;
    if (f->e == EL_mul) return by_kept(vm, n, OP_PWMUL, i, t, out);
    if (f->e == EL_neg || (f->e == EL_sub && i)) return qops_unary(vm, OP_NEG, t, out);
    if (f->e != EL_div) return *out = qval_retain(t), QS_OK;
    TRY(by_kept(vm, n, OP_PWDIV, 0, t, &q));
    if (!i) return *out = q, QS_OK;
    qs_status s = by_kept(vm, n, OP_PWMUL, 1, q, &p);
    qval_release(vm, q);
    return s == QS_OK ? negative(vm, p, out) : s;
}

/* Adds v to *sum; consumes v. */
static qs_status add_term(qs_vm *vm, qs_value v, qs_value *sum) {
    qs_value both;
    if (sum->kind == QS_NIL) return *sum = v, QS_OK;
    qs_status s = qops_binary(vm, OP_ADD, *sum, v, &both);
    qval_release(vm, v);
    if (s == QS_OK) qval_release(vm, *sum), *sum = both;
    return s;
}

static qs_status forward_op(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy) {
    qs_value term;
    for (int i = 0; i < n->nin; i++) {
        if (dx[i].kind == QS_NIL) continue;
        TRY(slope_by_operators(vm, n, i, dx[i], &term));
        TRY(add_term(vm, term, &dy[0]));
    }
    if (n->out[0].kind != QS_ARRAY || qtape_plain(dy[0]).kind == QS_ARRAY) return QS_OK;
    TRY(qbackward_zero(vm, &n->out[0], &term)); /* only a number operand beside an array has a tangent */
    return add_term(vm, term, &dy[0]);
}

static qs_status reverse_op(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    const SmallOp *f = n->data;
    double t[MOST_FEW];
    if (dy[0].kind == QS_NIL) return QS_OK;
    bool operators = asks_for_operators(vm, n, dy[0]);
    if (!operators) TRY(load_values(vm, dy[0], f->n, t));
    for (int i = 0; i < n->nin; i++) {
        if (!n->in[i]) continue;
        if (operators) TRY(slope_by_operators(vm, n, i, dy[0], &dx[i]));
        else TRY(return_adjoint(vm, n, i, dy[0], t, &dx[i]));
    }
    return QS_OK;
}

static const GradRule few_rule = {
    .name = "arithmetic", .reverse = reverse_op, .forward = forward_op, .release = free_op};

/* -- recording ----------------------------------------------------------------------------------------------------- */
static qs_status save_operands(qs_vm *vm, SmallOp *f, const qs_value *in, qs_value result) {
    if (!f->nkept) return QS_OK;
    TRY(load_values(vm, in[1], f->n, f->kept));
    return load_values(vm, f->e == EL_mul ? in[0] : result, f->n, f->kept + f->n);
}

qs_status qsmallop_record(qs_vm *vm, Elem e, int n, const qs_value *in, qs_value *result) {
    if (!is_ours(vm, e, n, in, *result)) return qelementwise_record(vm, e, n, in, result);
    int count = result->kind == QS_ARRAY ? (int)qval_array(*result)->count : 1;
    int nkept = e == EL_mul || e == EL_div ? 2 : 0;
    SmallOp *f = qmem_alloc(qvm_ctx(vm), bytes_of(count, nkept));
    Trace *edges[2] = {NULL, NULL};
    f->e = e, f->n = count, f->nkept = nkept;
    for (int i = 0; i < n; i++) f->number[i] = qtape_plain(in[i]).kind != QS_ARRAY;
    qs_status s = save_operands(vm, f, in, *result);
    if (s != QS_OK) return free_op(vm, &(GradNode){.data = f}), s;
    for (int i = 0; i < n; i++) edges[i] = qtape_edge(vm, in[i]);
    qtape_record(vm, &few_rule, f, n, edges, 1, result);
    return QS_OK;
}

/* -- [a, b, c] ----------------------------------------------------------------------------------------------------- */
static qs_status list_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    bool recorded = qtape_is_recorded(vm, dy[0]);
    if (dy[0].kind == QS_NIL) return QS_OK;
    for (int i = 0; i < n->nin; i++) {
        if (!n->in[i]) continue;
        if (recorded) TRY(qhook_element(vm, dy[0], i, &dx[i]));
        else TRY(qarr_get(vm, dy[0].u.p, (size_t)i, &dx[i]));
    }
    return QS_OK;
}

static qs_status list_forward(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy) {
    Ctx *c = qvm_ctx(vm);
    qs_value *items = qmem_alloc(c, qmem_size((size_t)n->nin, sizeof *items, 0));
    for (int i = 0; i < n->nin; i++) items[i] = dx[i].kind == QS_NIL ? qs_num(0) : dx[i];
    qs_status s = qhook_literal(vm, (qs_dtype)n->out[0].dtype, n->nin, items, &dy[0]);
    qmem_free(c, items, (size_t)n->nin * sizeof *items);
    return s;
}

static const GradRule list_rule = {.name = "a list", .reverse = list_reverse, .forward = list_forward};

bool qsmallop_record_list(qs_vm *vm, int n, const qs_value *items, qs_value *out) {
    for (int i = 0; i < n; i++) {
        qs_value v = qtape_plain(items[i]);
        if (!qval_is_number(v) && v.kind != QS_COMPLEX) return false;
    }
    Ctx *c = qvm_ctx(vm);
    Trace **edges = qmem_alloc(c, qmem_size((size_t)n, sizeof *edges, 0));
    for (int i = 0; i < n; i++) edges[i] = qtape_edge(vm, items[i]);
    qtape_record(vm, &list_rule, NULL, n, edges, 1, out);
    qmem_free(c, edges, (size_t)n * sizeof *edges);
    return true;
}
