/* loop_while.c -- lowers a `while` whose iterations can be counted as a FOR.
 *
 *     while i < n        FOR k = i..1..n-1
 *         …                  i = k
 *         i += 1             …; i += 1
 *     end
 *
 * The variable must be integral, change once per iteration, by a constant, and the other side of the condition must be
 * an integral value that the body does not change.  Index tests then move to the guard, and iterations that are
 * independent become vectors, as in a `for`. */
#include "lang/kernel/lower/loop/loop_internal.h"
#include "lang/syntax/fold.h"

#include <math.h>
#include <string.h>

typedef struct {
    Loops *L;
    const Node *loop;
    const Sym *sym;
    Node *bound;
    Op op; /* sym op bound */
    double step;
    int sets; /* assignments of sym in the body */
} CountedWhile;

/* -- the pattern --------------------------------------------------------------------------------------------------- */
static const Sym *name_of(const Node *n) { return n->kind == N_IDENT ? n->u.ident.sym : NULL; }

static bool is_variable(const Sym *s) { return s && (s->kind == SYM_LOCAL || s->kind == SYM_GLOBAL); }

static bool count_set(const Node *n, void *ud) {
    CountedWhile *c = ud;
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++)
        c->sets += name_of(n->u.assign.targets[i]) == c->sym;
    for (int i = 0; n->kind == N_FOR && i < n->u.loop.nvars; i++) c->sets += n->u.loop.syms[i] == c->sym;
    return false;
}

/* The constant by which the statement changes sym; 0: another statement. */
static double step_of(const Node *n, const Sym *sym) {
    double k = 0;
    if (n->kind != N_ASSIGN || n->u.assign.ntargets != 1 || name_of(n->u.assign.targets[0]) != sym) return 0;
    const Node *value = n->u.assign.value;
    bool in_place = n->u.assign.in_place, typed = n->u.assign.types && n->u.assign.types[0];
    bool sum = value->kind == N_BINARY && value->op == OP_ADD,
         difference = value->kind == N_BINARY && value->op == OP_SUB;
    if (typed || n->u.assign.bracketed) return 0;
    if (in_place) return qfold_number(value, &k) ? (n->op == OP_ADD ? k : n->op == OP_SUB ? -k : 0) : 0;
    if ((sum || difference) && name_of(value->u.bin.a) == sym && qfold_number(value->u.bin.b, &k)) return sum ? k : -k;
    return sum && name_of(value->u.bin.b) == sym && qfold_number(value->u.bin.a, &k) ? k : 0;
}

static Op turn_comparison(Op op) {
    return op == OP_LT ? OP_GT : op == OP_LE ? OP_GE : op == OP_GT ? OP_LT : op == OP_GE ? OP_LE : op;
}

/* Whether `sym op bound` is false at last if sym changes by `step` each time. */
static bool leads_out(const CountedWhile *c) {
    bool up = c->op == OP_LT || c->op == OP_LE, down = c->op == OP_GT || c->op == OP_GE;
    return c->step == floor(c->step) && fabs(c->step) < 0x1p31 && ((up && c->step > 0) || (down && c->step < 0));
}

static bool finds_counter(CountedWhile *c, Node *counter, Node *bound, Op op) {
    NodeList body = c->loop->u.whiles.body;
    c->sym = name_of(counter), c->bound = bound, c->op = op, c->step = 0, c->sets = 0;
    if (!is_variable(c->sym)) return false;
    (void)kquery_node(body, true, count_set, c);
    for (int i = 0; i < body.n && c->step == 0; i++) c->step = step_of(body.at[i], c->sym);
    return c->sets == 1 && leads_out(c);
}

/* Whether the expression has the same value in each iteration: numbers, variables that the body does not set, their
 * extents, and sums, differences and products of these.  A function that is called cannot set them. */
static bool is_fixed(const CountedWhile *c, const Node *n) {
    const Sym *s = name_of(n);
    Value fn;
    switch ((NodeKind)n->kind) {
    case N_NUM: return true;
    case N_IDENT: return is_variable(s) && !kquery_sets(c->loop, s);
    case N_UNARY: return n->op == OP_NEG && is_fixed(c, n->u.bin.a);
    case N_BINARY:
        return (n->op == OP_ADD || n->op == OP_SUB || n->op == OP_MUL) && is_fixed(c, n->u.bin.a) &&
               is_fixed(c, n->u.bin.b);
    case N_CALL:
        if (n->u.call.callee->kind != N_IDENT || n->u.call.args.n < 1) return false;
        for (int i = 0; i < n->u.call.args.n; i++)
            if (!is_fixed(c, n->u.call.args.at[i].value)) return false;
        if (kloop_expr(c->L, n->u.call.callee, &fn) != QS_OK) return false;
        return kloop_is_builtin(&fn, "numel") || kloop_is_builtin(&fn, "size");
    default: return false;
    }
}

static bool has_pattern(CountedWhile *c) {
    Node *cond = c->loop->u.whiles.cond;
    NodeList body = c->loop->u.whiles.body;
    if (cond->kind != N_BINARY || kquery_node(body, false, kquery_is_continue, NULL)) return false;
    Node *a = cond->u.bin.a, *b = cond->u.bin.b;
    if (!finds_counter(c, a, b, (Op)cond->op) && !finds_counter(c, b, a, turn_comparison((Op)cond->op))) return false;
    return is_fixed(c, c->bound);
}

/* -- the loop ------------------------------------------------------------------------------------------------------ */
/* Whether a number of a declared type remains as it is one step beyond the last. */
static bool fits_declared(const CountedWhile *c, const TypeExpr *type, double lo, double hi) {
    qs_dtype d;
    double least, most;
    if (!type) return true;
    if (type->kind != TE_NAME) return false;
    if (!strcmp(type->name->s, "scalar")) return true;
    if (!qdtype_from_name(type->name->s, &d) || !qdtype_is_int(d)) return false;
    qdtype_int_span(d, &least, &most);
    return lo + fmin(c->step, 0) >= least && hi + fmax(c->step, 0) <= most;
}

/* The last value for which the condition may hold, as the end of a FOR. */
static KRef last_value(Loops *L, const CountedWhile *c, Number bound) {
    int by = c->op == OP_LT ? -1 : c->op == OP_GT ? 1 : 0;
    return by ? kloop_op(L, K_ADD, kloop_twin(L, bound), kloop_i64(L, by)) : kloop_twin(L, bound);
}

/* The variable at the beginning of an iteration.  The first value may be -0. */
static Number counter_number(Loops *L, Number first, KRef k, double lo, double hi) {
    if (first.kind == LOOP_INT) return kloop_int(k, lo, hi);
    Number n = kloop_from_int(L, k, lo, hi);
    if (first.unsigned_zero || first.lo > 0 || first.hi < 0) return n;
    KRef begins = kloop_op(L, K_EQ, k, kloop_twin(L, first));
    n.v = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = begins, .b = first.v, .c = n.v});
    return n.unsigned_zero = false, n;
}

static qs_status lower_counted(Loops *L, const CountedWhile *c, Var *v, Number first, Number bound) {
    Exits frame;
    double lo = c->step > 0 ? first.lo : bound.lo, hi = c->step > 0 ? bound.hi : first.hi;
    KRef last = last_value(L, c, bound), start = L->f->nins;
    bool *before = kstmt_save(&L->walk);
    kloop_forget(L, c->loop);
    KRef k = kloop_emit(
        L, (KMake){K_FOR, .own = QS_I64, .a = kloop_twin(L, first), .b = last, .c = kloop_i64(L, (int64_t)c->step)});
    kstmt_enter_loop(&L->walk, &frame);
    Value x = {.what = WHAT_NUMBER, .num = counter_number(L, first, k, lo, hi)};
    TRY(kloop_assign(L, v, &x));
    TRY(kstmt_block(&L->walk, c->loop->u.whiles.body));
    if (!L->module) kloop_mark_independent(L, start);
    kstmt_leave_loop(&L->walk);
    return kstmt_restore(&L->walk, before), QS_OK;
}

qs_status kloop_counted_while(Walk *w, Node *loop, bool *done) {
    Loops *L = (Loops *)w;
    CountedWhile c = {.L = L, .loop = loop};
    Value first, bound;
    if (!has_pattern(&c)) return QS_OK;
    Var *v = kloop_var(L, c.sym);
    if (!v || v->bound) return QS_OK;
    L->pos = loop->u.whiles.cond->pos;
    TRY(kloop_read(L, c.sym, &first));
    TRY(kloop_expr(L, c.bound, &bound));
    if (first.what != WHAT_NUMBER || bound.what != WHAT_NUMBER) return QS_OK;
    bool real = first.num.kind == LOOP_NUM || first.num.kind == LOOP_INT;
    real = real && (bound.num.kind == LOOP_NUM || bound.num.kind == LOOP_INT);
    if (!real || !kloop_twin(L, first.num) || !kloop_twin(L, bound.num)) return QS_OK;
    const Func *f = c.sym->kind == SYM_GLOBAL ? L->root->func : L->in->func;
    double lo = fmin(first.num.lo, bound.num.lo), hi = fmax(first.num.hi, bound.num.hi);
    if (first.num.kind == LOOP_INT && !c.sym->declared) return QS_OK; /* the step makes it a number */
    if (!fits_declared(&c, kquery_annotation(f, c.sym, loop->pos), lo, hi)) return QS_OK;
    *done = true;
    return lower_counted(L, &c, v, first.num, bound.num);
}
