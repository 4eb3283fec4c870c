/* loop_expr.c -- expressions. */
#include "lang/kernel/host/looping.h"

#include <math.h>
#include <string.h>

qs_status kloop_scalar(Loops *L, Node *n, Number *out) {
    Value v;
    TRY(kloop_expr(L, n, &v));
    L->pos = n->pos;
    if (v.what != WHAT_NUMBER) return kloop_decline(L, n->pos, "a value that is no number");
    return *out = v.num, QS_OK;
}

qs_status kloop_number(Loops *L, Node *n, Number *out) {
    TRY(kloop_scalar(L, n, out));
    return out->kind == LOOP_COMPLEX ? kloop_decline(L, n->pos, "a complex number here") : QS_OK;
}

qs_status kloop_cond(Loops *L, Node *n, KRef *out) {
    Number v;
    TRY(kloop_number(L, n, &v));
    return *out = kloop_truth(L, v), QS_OK;
}

/* -- choices ----------------------------------------------------------------------------------------------------- */
static bool is_effect(const Node *n, void *ud) { return (void)ud, n->kind == N_INDEX || n->kind == N_CALL; }

/* Reads no memory and calls nothing.  Arithmetic of ints may fail all the same, which only its code shows. */
static bool is_plain(Node *n) { return !kfind_node((NodeList){&n, 1}, true, is_effect, NULL); }

typedef struct { uint32_t nins, nfaults, loose, loose_pos; bool *set; } Mark;

static Mark mark_of(Loops *L) {
    return (Mark){L->f->nins, L->nfaults, L->loose, L->loose_pos, kloop_state(L)};
}

/* The code since the mark may fail: it is taken back, to be made again where it is asked for. */
static bool take_back(Loops *L, Mark m) {
    if (L->loose == m.loose) return false;
    L->f->nins = m.nins, L->nfaults = m.nfaults, L->loose = m.loose, L->loose_pos = m.loose_pos;
    kloop_restore(L, m.set);
    return true;
}

/* a && b with b computed only when a does not decide. */
static qs_status logical(Loops *L, Node *n, Number *out) {
    KRef a, b;
    bool is_and = n->op == OP_ANDAND;
    double k;
    TRY(kloop_cond(L, n->u.bin.a, &a));
    if (kir_is_const(L->f, a, &k) && (k != 0) != is_and) return *out = kloop_bool(a), QS_OK;
    if (is_plain(n->u.bin.b)) {
        Mark before = mark_of(L);
        TRY(kloop_cond(L, n->u.bin.b, &b));
        if (!take_back(L, before)) return *out = kloop_bool(kloop_op(L, is_and ? K_AND : K_OR, a, b)), QS_OK;
    }
    KRef local = kloop_emit(L, K_LOCAL, QS_B1, a, 0, 0, 0);
    bool *before = kloop_state(L);
    kloop_flow(L, K_IF, is_and ? a : kloop_not(L, a), 0);
    TRY(kloop_cond(L, n->u.bin.b, &b));
    kloop_emit(L, K_SET, QS_B1, local, b, 0, 0);
    kloop_emit(L, K_END, QS_B1, 0, 0, 0, 0);
    kloop_restore(L, before);
    return *out = kloop_bool(kloop_emit(L, K_GET, QS_B1, local, 0, 0, 0)), QS_OK;
}

static qs_status same_kind(Loops *L, const Node *n, Number a, Number b) {
    if (a.kind == b.kind && !a.maybe && !b.maybe) return QS_OK;
    return kloop_decline(L, n->pos, "two kinds of numbers in one expression with `?`");
}

/* Both sides may fail, so only one is computed.  The value lies in a LOCAL, a double without its twin. */
static qs_status branches(Loops *L, Node *n, KRef c, Number *out) {
    Number a, b;
    bool *before = kloop_state(L);
    static const qs_dtype dtypes[] = {
        [LOOP_NUM] = QS_F64, [LOOP_INT] = QS_I64, [LOOP_BOOL] = QS_B1, [LOOP_COMPLEX] = QS_F64};
    KRef locals[LOOP_COMPLEX + 1], im; /* by kind, which is known only inside */
    for (unsigned k = LOOP_NUM; k <= LOOP_COMPLEX; k++)
        locals[k] = kloop_emit(L, K_LOCAL, QS_B1, kir_const_int(L->f, dtypes[k], 0, L->pos), 0, 0, 0);
    im = kloop_emit(L, K_LOCAL, QS_B1, kloop_f64(L, 0), 0, 0, 0);
    kloop_flow(L, K_IF, c, 0);
    TRY(kloop_scalar(L, n->u.ternary.then, &a));
    kloop_emit(L, K_SET, QS_B1, locals[a.kind], a.v, 0, 0);
    if (a.im) kloop_emit(L, K_SET, QS_B1, im, a.im, 0, 0);
    kloop_restore(L, before);
    kloop_emit(L, K_ELSE, QS_B1, 0, 0, 0, 0);
    TRY(kloop_scalar(L, n->u.ternary.other, &b));
    TRY(same_kind(L, n, a, b));
    kloop_emit(L, K_SET, QS_B1, locals[b.kind], b.v, 0, 0);
    if (b.im) kloop_emit(L, K_SET, QS_B1, im, b.im, 0, 0);
    kloop_emit(L, K_END, QS_B1, 0, 0, 0, 0);
    kloop_restore(L, before);
    *out = (Number){.kind = a.kind, .v = kloop_get(L, locals[a.kind]), .lo = fmin(a.lo, b.lo), .hi = fmax(a.hi, b.hi)};
    if (a.im) out->im = kloop_get(L, im);
    return QS_OK;
}

static qs_status ternary(Loops *L, Node *n, Number *out) {
    KRef c;
    Number a, b;
    TRY(kloop_cond(L, n->u.ternary.cond, &c));
    if (!is_plain(n->u.ternary.then) || !is_plain(n->u.ternary.other)) return branches(L, n, c, out);
    Mark before = mark_of(L);
    TRY(kloop_scalar(L, n->u.ternary.then, &a));
    TRY(kloop_scalar(L, n->u.ternary.other, &b));
    if (take_back(L, before)) return branches(L, n, c, out);
    TRY(same_kind(L, n, a, b));
    return *out = kloop_choose(L, c, a, b), QS_OK;
}

/* -- expressions ------------------------------------------------------------------------------------------------- */
qs_status kloop_operator(Loops *L, Op op, const Value *x, const Value *y, Value *out) {
    Value r = {.what = WHAT_NUMBER}, a = *x, b = *y;
    kloop_short(L, &a);
    kloop_short(L, &b);
    if (kloop_is_vectorial(&a, &b)) return kloop_vector_binary(L, op, &a, &b, out);
    if (a.what != WHAT_NUMBER || b.what != WHAT_NUMBER) return kloop_decline(L, L->pos, "a value that is no number");
    bool complex = a.num.kind == LOOP_COMPLEX || b.num.kind == LOOP_COMPLEX;
    TRY((complex ? kloop_complex_binary : kloop_binary)(L, op, a.num, b.num, &r.num));
    return *out = r, QS_OK;
}

static qs_status binary(Loops *L, Node *n, Value *out) {
    Value a, b;
    if (n->op == OP_ANDAND || n->op == OP_OROR) return logical(L, n, &out->num);
    TRY(kloop_expr(L, n->u.bin.a, &a));
    TRY(kloop_expr(L, n->u.bin.b, &b));
    L->pos = n->pos;
    return kloop_operator(L, (Op)n->op, &a, &b, out);
}

static qs_status unary(Loops *L, Node *n, Value *out) {
    Value a;
    TRY(kloop_expr(L, n->u.bin.a, &a));
    L->pos = n->pos;
    kloop_short(L, &a);
    if (a.what == WHAT_VECTOR) return kloop_vector_unary(L, (Op)n->op, &a, out);
    if (a.what != WHAT_NUMBER) return kloop_decline(L, n->pos, "a value that is no number");
    return (a.num.kind == LOOP_COMPLEX ? kloop_complex_unary : kloop_unary)(L, (Op)n->op, a.num, &out->num);
}

static qs_status row(Loops *L, NodeList items, Number *at) {
    for (int i = 0; i < items.n; i++) {
        TRY(kloop_number(L, items.at[i], &at[i]));
        bool whole = kloop_twin(L, at[i]); /* stays what it is: the host would take float64 for it */
        at[i] = whole ? kloop_to_num(L, at[i]) : kloop_rounded(L, at[i]);
    }
    return QS_OK;
}

/* [a,b,c] and [[a,b],[c,d]] */
static qs_status matrix(Loops *L, Node *n, Value *out) {
    NodeList items = n->u.items;
    bool nested = items.n && items.at[0]->kind == N_MATRIX;
    int cols = nested ? items.at[0]->u.items.n : items.n, rows = nested ? items.n : 1;
    if (!cols || cols > LOOP_VECTOR_MAX || rows > LOOP_VECTOR_MAX || rows * cols > LOOP_VECTOR_MAX)
        return kloop_decline(L, n->pos, "an array of %s elements made in the loop", cols ? "many" : "no");
    *out = kloop_matrix(L, rows, cols);
    if (!nested) return row(L, items, out->at);
    for (int i = 0; i < rows; i++) {
        bool fits = items.at[i]->kind == N_MATRIX && items.at[i]->u.items.n == cols;
        if (!fits) return kloop_decline(L, n->pos, "a matrix that is not made of rows of numbers");
        TRY(row(L, items.at[i]->u.items, out->at + i * cols));
    }
    return QS_OK;
}

static qs_status field(Loops *L, Node *n, Value *out) {
    Value object;
    TRY(kloop_expr(L, n->u.field.base, &object));
    L->pos = n->pos;
    if (object.what != WHAT_OBJECT) return kloop_decline(L, n->pos, "a field of something that is no object");
    return kloop_field(L, &object, n->u.field.name, out);
}

static qs_status literal(Loops *L, Node *n, Number *out) {
    *out = kloop_const(L, n->u.num.value);
    if (n->u.num.imaginary) *out = kloop_complex(kloop_f64(L, 0), out->v);
    return QS_OK;
}

qs_status kloop_expr(Loops *L, Node *n, Value *out) {
    L->pos = n->pos;
    *out = (Value){.what = WHAT_NUMBER};
    switch ((NodeKind)n->kind) {
    case N_NUM: return literal(L, n, &out->num);
    case N_IDENT: return kcall_name(&L->walk, n->u.ident.sym, n->pos, out);
    case N_UNARY: return unary(L, n, out);
    case N_BINARY: return binary(L, n, out);
    case N_TERNARY: return ternary(L, n, &out->num);
    case N_INDEX: return kloop_load(L, n, out);
    case N_CALL: return kcall_lower(&L->walk, n, out, 1);
    case N_MATRIX: return matrix(L, n, out);
    case N_FIELD: return field(L, n, out);
    case N_LAMBDA: return kcall_closure(&L->walk, n->u.lambda.func, out);
    case N_STR: return kloop_decline(L, n->pos, "a string");
    case N_RANGE: case N_COLON: return kloop_decline(L, n->pos, "a slice or a range as a value");
    default: return kloop_decline(L, n->pos, "an expression of this kind");
    }
}
