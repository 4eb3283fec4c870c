/* common_expr.c -- lowers expressions.
 *
 * The operands of `?`, `&&` and `||` are evaluated conditionally, unless they are cheap and cannot fail: then both are
 * evaluated and one is selected.  Whether an operand can fail may show only after its code was emitted; that code is
 * then removed (`take_back`) and emitted again under a condition. */
#include "lang/kernel/lower/common/common.h"
#include "lang/syntax/operators.h"

static KRef not(Walk * w, KRef c) { return kbuild_pure(w, (KMake){K_NOT, .a = c}); }

static qs_status lower_condition(Walk *w, Node *n, struct Val *out) {
    bool indexing = w->indexing;
    w->indexing = false;
    TRY(kexpr_lower(w, n, out));
    return w->indexing = indexing, w->pos = n->pos, QS_OK;
}

qs_status kexpr_cond(Walk *w, Node *n, KRef *out, int *known) {
    struct Val *v = kval_new(w, 1);
    TRY(lower_condition(w, n, v));
    return w->rules->expr->truth(w, v, out, known);
}

/* -- speculative code ---------------------------------------------------------------------------------------------- */
static void *begin_trial(Walk *w) { return w->rules->expr->mark ? w->rules->expr->mark(w) : NULL; }
static bool take_trial_back(Walk *w, void *m) { return m && w->rules->expr->take_back(w, m); }

/* -- && and || ----------------------------------------------------------------------------------------------------- */
/* Lowers a && b or a || b with b evaluated only if a does not decide the result. */
static qs_status lower_guarded(Walk *w, Node *n, KRef a, struct Val *out) {
    bool is_and = n->op == OP_ANDAND;
    KRef local = kbuild_local(w, a), b;
    int known;
    bool *before = kstmt_save(w);
    kbuild_flow(w, K_IF, is_and ? a : not(w, a));
    Point before_b = kstmt_point(w);
    bool resumed;
    TRY(kstmt_resume(w, &before_b, kexpr_cond(w, n->u.bin.b, &b, &known), &resumed));
    if (!resumed) kbuild_set(w, local, b);
    kbuild_end(w);
    kstmt_restore(w, before);
    w->rules->expr->boolean(w, kbuild_get(w, local), out);
    return QS_OK;
}

/* Lowers a && b or a || b whose first operand has the value a. */
static qs_status lower_second(Walk *w, Node *n, struct Val *a, struct Val *out) {
    const ExprRules *r = w->rules->expr;
    struct Val *b = kval_new(w, 1);
    KRef x, y;
    int known, ignored;
    bool is_and = n->op == OP_ANDAND;
    w->pos = n->u.bin.a->pos;
    if (!r->elementwise(a)) {
        TRY(r->truth(w, a, &x, &known));
        if (known >= 0 && (known == 1) != is_and) return r->boolean(w, x, out), QS_OK;
        if (known < 0 && !r->cheap(n->u.bin.b)) return lower_guarded(w, n, x, out);
    }
    void *before = begin_trial(w);
    TRY(kexpr_lower(w, n->u.bin.b, b));
    w->pos = n->u.bin.b->pos;
    if (r->elementwise(a) || r->elementwise(b)) return r->binary(w, (Op)n->op, a, b, out);
    TRY(r->truth(w, b, &y, &ignored));
    if (known < 0 && take_trial_back(w, before)) return lower_guarded(w, n, x, out);
    r->boolean(w, kbuild_pure(w, (KMake){is_and ? K_AND : K_OR, .a = x, .b = y}), out);
    return QS_OK;
}

static qs_status lower_logical(Walk *w, Node *n, struct Val *out) {
    struct Val *a = kval_new(w, 1);
    TRY(kexpr_lower(w, n->u.bin.a, a));
    return lower_second(w, n, a, out);
}

void kexpr_leave_if(Walk *w, KRef c) {
    kbuild_flow(w, K_IF, c);
    kbuild_flow(w, K_BREAK, 0);
    kbuild_end(w);
}

/* Lowers the condition n and leaves the loop where a in a && b is false, so that all code that follows knows what a and
 * b have tested.  *out is the last operand; *left: the loop may have been left. */
static qs_status lower_operands(Walk *w, Node *n, struct Val *out, bool *left) {
    const ExprRules *r = w->rules->expr;
    struct Val *a = kval_new(w, 1);
    KRef x;
    int known;
    if (n->kind != N_BINARY || n->op != OP_ANDAND) return kexpr_lower(w, n, out);
    TRY(lower_operands(w, n->u.bin.a, a, left));
    if (w->left) return QS_OK;
    w->pos = n->u.bin.a->pos;
    if (r->elementwise(a) || r->cheap(n->u.bin.b)) return lower_second(w, n, a, out);
    TRY(r->truth(w, a, &x, &known));
    if (known == 0) return r->boolean(w, x, out), QS_OK;
    if (known < 0) kexpr_leave_if(w, not(w, x)), *left = true;
    Point before_b = kstmt_point(w);
    bool resumed;
    TRY(kstmt_resume(w, &before_b, lower_operands(w, n->u.bin.b, out, left), &resumed));
    return w->left |= resumed, QS_OK;
}

qs_status kexpr_leave_unless(Walk *w, Node *n, bool *always) {
    struct Val *v = kval_new(w, 1);
    bool indexing = w->indexing, left = false;
    int known;
    KRef c;
    w->indexing = *always = false;
    TRY(lower_operands(w, n, v, &left));
    w->indexing = indexing, w->pos = n->pos;
    if (w->left) return QS_OK;
    TRY(w->rules->expr->truth(w, v, &c, &known));
    if (known != 1) kexpr_leave_if(w, not(w, c));
    return *always = known == 1 && !left, QS_OK;
}

/* -- choices ------------------------------------------------------------------------------------------------------- */
static qs_status lower_side(Walk *w, Node *n, void *choice, int *unknown) {
    struct Val *v = kval_new(w, 1);
    Point before = kstmt_point(w);
    bool resumed;
    TRY(kstmt_resume(w, &before, kexpr_lower(w, n, v), &resumed));
    if (resumed) return ++*unknown, QS_OK;
    w->pos = n->pos;
    return w->rules->expr->choice_set(w, choice, v);
}

static qs_status lower_branches(Walk *w, Node *n, KRef c, struct Val *out) {
    bool *before = kstmt_save(w);
    int unknown = 0;
    void *choice = w->rules->expr->choice(w, n, c);
    kbuild_flow(w, K_IF, c);
    TRY(lower_side(w, n->u.ternary.then, choice, &unknown));
    kstmt_restore(w, before);
    kbuild_flow(w, K_ELSE, 0);
    TRY(lower_side(w, n->u.ternary.other, choice, &unknown));
    kbuild_end(w);
    kstmt_restore(w, before);
    if (unknown == 2) return w->pending = true, QS_EVALUE;
    return w->rules->expr->choice_get(w, choice, out), QS_OK;
}

/* Evaluates both sides and selects element by element. */
static qs_status select_elements(Walk *w, Node *n, struct Val *c, struct Val *out) {
    struct Val *a = kval_new(w, 1), *b = kval_new(w, 1);
    TRY(kexpr_lower(w, n->u.ternary.then, a));
    TRY(kexpr_lower(w, n->u.ternary.other, b));
    w->pos = n->pos;
    return w->rules->expr->choose(w, c, a, b, out);
}

/* Whether n may be evaluated although it may not be chosen: it is cheap, or an element that the condition compares. */
static bool may_evaluate(const ExprRules *r, const Node *cond, const Node *n) {
    if (r->cheap(n)) return true;
    bool compared = n->kind == N_INDEX && cond->kind == N_BINARY && cond->op != OP_ANDAND && cond->op != OP_OROR &&
                    (qast_equal(cond->u.bin.a, n) || qast_equal(cond->u.bin.b, n));
    for (int i = 0; compared && i < n->u.index.at.n; i++) compared = r->cheap(n->u.index.at.at[i]);
    return compared;
}

static qs_status lower_ternary(Walk *w, Node *n, struct Val *out) {
    const ExprRules *r = w->rules->expr;
    struct Val *v = kval_new(w, 1), *a = kval_new(w, 1), *b = kval_new(w, 1);
    KRef c;
    int known;
    TRY(lower_condition(w, n->u.ternary.cond, v));
    if (r->many(v)) return select_elements(w, n, v, out);
    TRY(r->truth(w, v, &c, &known));
    if (known >= 0) return kexpr_lower(w, known ? n->u.ternary.then : n->u.ternary.other, out);
    const Node *cond = n->u.ternary.cond;
    if (!may_evaluate(r, cond, n->u.ternary.then) || !may_evaluate(r, cond, n->u.ternary.other))
        return lower_branches(w, n, c, out);
    void *before = begin_trial(w);
    TRY(kexpr_lower(w, n->u.ternary.then, a));
    TRY(kexpr_lower(w, n->u.ternary.other, b));
    if (take_trial_back(w, before)) return lower_branches(w, n, c, out);
    w->pos = n->pos;
    return r->select(w, c, a, b, out);
}

/* -- other expressions --------------------------------------------------------------------------------------------- */
qs_status kexpr_read_again(Walk *w, Node *n, Node *later, struct Val *v) {
    const NodeList list = {&later, 1};
    if (!w->rules->expr->rereads || n->kind != N_IDENT || !kquery_node(list, true, kquery_is_call, NULL)) return QS_OK;
    memset(v, 0, w->rules->value_size);
    return kexpr_lower(w, n, v);
}

static qs_status lower_binary(Walk *w, Node *n, struct Val *out) {
    struct Val *a = kval_new(w, 1), *b = kval_new(w, 1);
    if (n->op == OP_ANDAND || n->op == OP_OROR) return lower_logical(w, n, out);
    TRY(kexpr_lower(w, n->u.bin.a, a));
    TRY(kexpr_lower(w, n->u.bin.b, b));
    TRY(kexpr_read_again(w, n->u.bin.a, n->u.bin.b, a));
    w->pos = n->pos;
    return w->rules->expr->binary(w, (Op)n->op, a, b, out);
}

static qs_status lower_unary(Walk *w, Node *n, struct Val *out) {
    struct Val *a = kval_new(w, 1);
    TRY(kexpr_lower(w, n->u.bin.a, a));
    w->pos = n->pos;
    return w->rules->expr->unary(w, (Op)n->op, a, out);
}

/* [a,b,c]; the rows of a matrix are items that are vectors. */
static qs_status lower_matrix(Walk *w, Node *n, struct Val *out) {
    NodeList list = n->u.items;
    struct Val *items = kval_new(w, list.n);
    for (int i = 0; i < list.n; i++) TRY(kexpr_lower(w, list.at[i], kval_at(w, items, i)));
    w->pos = n->pos;
    return w->rules->expr->matrix(w, items, list.n, out);
}

static qs_status lower_field(Walk *w, Node *n, struct Val *out) {
    struct Val *object = kval_new(w, 1);
    TRY(kexpr_lower(w, n->u.field.base, object));
    w->pos = n->pos;
    return w->rules->expr->field(w, object, n, out);
}

static qs_status lower_node(Walk *w, Node *n, struct Val *out) {
    const ExprRules *r = w->rules->expr;
    bool found = false;
    w->pos = n->pos;
    if (r->leaf) TRY(r->leaf(w, n, out, &found));
    if (found) return QS_OK;
    switch ((NodeKind)n->kind) {
    case N_NUM: return r->literal(w, n, out);
    case N_IDENT: return kcall_name(w, n->u.ident.sym, n->pos, out);
    case N_UNARY: return lower_unary(w, n, out);
    case N_BINARY: return lower_binary(w, n, out);
    case N_TERNARY: return lower_ternary(w, n, out);
    case N_CALL: return kcall_lower(w, n, out, 1);
    case N_INDEX: return r->index(w, n, out);
    case N_FIELD: return lower_field(w, n, out);
    case N_LAMBDA: return kcall_closure(w, n->u.lambda.func, out);
    case N_MATRIX: return lower_matrix(w, n, out);
    default: return r->other(w, n, out);
    }
}

qs_status kexpr_lower(Walk *w, Node *n, struct Val *out) {
    char *temp = w->temp, *end = w->temp_end;
    bool wide = w->wide_lists;
    w->wide_lists = wide && qast_carries_width(n);
    TRY(lower_node(w, n, out));
    w->wide_lists = wide;
    return kval_release(w, temp, end), QS_OK;
}
