/* loop_while.c -- finds the `for` that does the same as a `while` whose iterations can be counted, and variables that a
 * `for` changes by a constant.
 *
 *     while i < n        for i = i..1..n-1
 *         …                  …
 *         i += 1             i += 1
 *     end                end
 *
 * In `while i < n && x[i] > 0` the second operand leaves the loop: the body begins with `if x[i] > 0 else break end`.
 *
 * The variable must change once per iteration, by a constant integer, and the other side of the condition must have a
 * value that the body does not change.  Both must be integral when the loop begins, which the users of the new loop
 * test: kloop_counted_while for a loop inside another one, vm/launch/loop_value.c for the outermost loop.  Index tests
 * then move to the guard, and independent iterations run in parallel or as vectors, as in a `for`.
 *
 *     for v = x          k at the beginning of iteration i is k0 + i, where k0 is its value before the loop
 *         y[k] = v
 *         k += 1
 *     end
 *
 * Such a variable gets this value at the beginning of each iteration, so that it depends on no other iteration. */
#include "lang/kernel/lower/loop/loop_internal.h"
#include "lang/syntax/fold.h"
#include "vm/base/reduction.h"

#include <math.h>
#include <string.h>

typedef struct {
    const Node *loop;
    const Sym *sym;
    Node *counter, *bound;
    Op op; /* counter op bound */
    double step;
} CountedWhile;

/* -- the pattern --------------------------------------------------------------------------------------------------- */
static bool is_variable(const Sym *s) { return s && (s->kind == SYM_LOCAL || s->kind == SYM_GLOBAL); }

typedef struct {
    const Sym *sym;
    int n;
} SetCount;

static bool count_set(const Node *n, void *ud) {
    SetCount *c = ud;
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++)
        c->n += qast_symbol(n->u.assign.targets[i]) == c->sym;
    for (int i = 0; n->kind == N_FOR && i < n->u.loop.nvars; i++) c->n += n->u.loop.syms[i] == c->sym;
    return false;
}

/* Counts the assignments in the body that give the variable another value; elements do not count. */
static int count_sets(const Node *loop, const Sym *sym) {
    SetCount c = {sym, 0};
    (void)kquery_node(kquery_body_of(loop), true, count_set, &c);
    return c.n;
}

/* The constant by which the statement changes sym; 0: another statement. */
static double step_of(const Node *n, const Sym *sym) {
    double k = 0;
    const Node *target = qast_target(n);
    if (!target || qast_symbol(target) != sym) return 0;
    const Node *value = n->u.assign.value;
    bool in_place = n->u.assign.in_place;
    bool sum = value->kind == N_BINARY && value->op == OP_ADD,
         difference = value->kind == N_BINARY && value->op == OP_SUB;
    if (in_place) return qfold_number(value, &k) ? (n->op == OP_ADD ? k : n->op == OP_SUB ? -k : 0) : 0;
    if ((sum || difference) && qast_symbol(value->u.bin.a) == sym && qfold_number(value->u.bin.b, &k))
        return sum ? k : -k;
    return sum && qast_symbol(value->u.bin.b) == sym && qfold_number(value->u.bin.a, &k) ? k : 0;
}

static Op turn_comparison(Op op) {
    return op == OP_LT ? OP_GT : op == OP_LE ? OP_GE : op == OP_GT ? OP_LT : op == OP_GE ? OP_LE : op;
}

/* Whether `sym op bound` is false at last if sym changes by `step` each time. */
static bool leads_out(const CountedWhile *c) {
    bool up = c->op == OP_LT || c->op == OP_LE, down = c->op == OP_GT || c->op == OP_GE;
    return c->step == floor(c->step) && fabs(c->step) < 0x1p31 && ((up && c->step > 0) || (down && c->step < 0));
}

static bool find_counter(CountedWhile *c, Node *counter, Node *bound, Op op) {
    NodeList body = c->loop->u.whiles.body;
    c->sym = qast_symbol(counter), c->counter = counter, c->bound = bound, c->op = op, c->step = 0;
    if (!is_variable(c->sym)) return false;
    for (int i = 0; i < body.n && c->step == 0; i++) c->step = step_of(body.at[i], c->sym);
    return count_sets(c->loop, c->sym) == 1 && leads_out(c);
}

static bool is_fixed(const Node *loop, const Node *n);

static bool is_counter(const Node *loop, const Node *n) {
    for (int i = 0; loop->kind == N_FOR && i < loop->u.loop.nvars; i++)
        if (loop->u.loop.syms[i] == qast_symbol(n)) return true;
    return false;
}

/* The body may set elements of the array, which does not change its extents. */
static bool is_fixed_extent(const Node *loop, const Node *n) {
    const ArgList *args = &n->u.call.args;
    bool named = qast_calls_builtin(n, "numel") || qast_calls_builtin(n, "size");
    const Sym *of = args->n ? qast_symbol(args->at[0].value) : NULL;
    if (!named || !is_variable(of) || count_sets(loop, of)) return false;
    return args->n == 1 || is_fixed(loop, args->at[1].value);
}

/* Whether the expression has the same value in each iteration: numbers, variables that the body does not set, their
 * extents, and sums, differences and products of these.  A function that is called cannot set them. */
static bool is_fixed(const Node *loop, const Node *n) {
    switch ((NodeKind)n->kind) {
    case N_NUM: return !n->u.num.imaginary && !n->u.num.int_value;
    case N_IDENT: return is_variable(qast_symbol(n)) && !kquery_sets(loop, qast_symbol(n)) && !is_counter(loop, n);
    case N_UNARY: return n->op == OP_NEG && is_fixed(loop, n->u.bin.a);
    case N_BINARY:
        return (n->op == OP_ADD || n->op == OP_SUB || n->op == OP_MUL) && is_fixed(loop, n->u.bin.a) &&
               is_fixed(loop, n->u.bin.b);
    case N_CALL: return is_fixed_extent(loop, n);
    default: return false;
    }
}

static bool is_and(const Node *n) { return n->kind == N_BINARY && n->op == OP_ANDAND; }

static bool is_element(const Node *n, void *ud) { return (void)ud, n->kind == N_INDEX; }

/* A second operand that reads no elements gains nothing: one exit is better for loops that run abreast (plan.h). */
static bool has_pattern(CountedWhile *c) {
    Node *cond = c->loop->u.whiles.cond;
    if (is_and(cond) && !kquery_node((NodeList){&cond, 1}, false, is_element, NULL)) return false;
    while (is_and(cond)) cond = cond->u.bin.a;
    NodeList body = c->loop->u.whiles.body;
    if (cond->kind != N_BINARY || kquery_node(body, false, kquery_is_continue, NULL)) return false;
    Node *a = cond->u.bin.a, *b = cond->u.bin.b;
    if (!find_counter(c, a, b, (Op)cond->op) && !find_counter(c, b, a, turn_comparison((Op)cond->op))) return false;
    return is_fixed(c->loop, c->bound);
}

/* -- the `for` ----------------------------------------------------------------------------------------------------- */
static Node *make_number(Unit *u, double v, uint32_t pos) {
    Node *n = qast_node(u, N_NUM, pos);
    n->u.num.value = v, n->u.num.integer = true;
    return n;
}

/* The last value for which the condition may hold. */
static Node *make_end(Unit *u, const CountedWhile *c) {
    if (c->op == OP_LE || c->op == OP_GE) return c->bound;
    Node *n = qast_node(u, N_BINARY, c->bound->pos);
    n->op = c->op == OP_LT ? OP_SUB : OP_ADD;
    n->u.bin.a = c->bound, n->u.bin.b = make_number(u, 1, c->bound->pos);
    return n;
}

/* if cond else break end */
static Node *make_exit(Unit *u, Node *cond) {
    Node *n = qast_node(u, N_IF, cond->pos);
    n->u.ifs.conds = qast_alloc(u, sizeof *n->u.ifs.conds), n->u.ifs.blocks = qast_alloc(u, sizeof *n->u.ifs.blocks);
    n->u.ifs.other = (NodeList){qast_alloc(u, sizeof *n->u.ifs.other.at), 1};
    n->u.ifs.conds[0] = cond, n->u.ifs.other.at[0] = qast_node(u, N_BREAK, cond->pos);
    n->u.ifs.n = 1, n->u.ifs.has_else = true;
    return n;
}

static NodeList make_body(Unit *u, Node *loop) {
    NodeList body = loop->u.whiles.body, all;
    int exits = 0;
    for (const Node *cond = loop->u.whiles.cond; is_and(cond); cond = cond->u.bin.a) exits++;
    if (!exits) return body;
    all = (NodeList){qast_alloc(u, qmem_size((size_t)(exits + body.n), sizeof *all.at, 0)), exits + body.n};
    if (body.n) memcpy(all.at + exits, body.at, (size_t)body.n * sizeof *all.at);
    for (Node *cond = loop->u.whiles.cond; is_and(cond); cond = cond->u.bin.a)
        all.at[--exits] = make_exit(u, cond->u.bin.b);
    return all;
}

static Node *make_for(Unit *u, Node *loop, const CountedWhile *c) {
    Node *n = qast_node(u, N_FOR, loop->pos), *range = qast_node(u, N_RANGE, loop->u.whiles.cond->pos);
    range->u.range.lo = c->counter, range->u.range.hi = make_end(u, c);
    range->u.range.step = make_number(u, c->step, range->pos);
    n->u.loop.names = qast_alloc(u, sizeof *n->u.loop.names), n->u.loop.syms = qast_alloc(u, sizeof *n->u.loop.syms);
    n->u.loop.ranges = qast_alloc(u, sizeof *n->u.loop.ranges);
    n->u.loop.names[0] = c->counter->u.ident.name, n->u.loop.syms[0] = c->counter->u.ident.sym;
    n->u.loop.ranges[0] = range;
    n->u.loop.nvars = n->u.loop.nranges = 1;
    n->u.loop.body = make_body(u, loop), n->u.loop.origin = loop;
    return n;
}

Node *kloop_as_for(Unit *u, Node *loop) {
    CountedWhile c = {.loop = loop};
    if (loop->kind != N_WHILE || loop->u.whiles.examined) return loop->kind == N_WHILE ? loop->u.whiles.counted : NULL;
    loop->u.whiles.examined = true;
    return loop->u.whiles.counted = has_pattern(&c) ? make_for(u, loop, &c) : NULL;
}

/* -- inside another loop ------------------------------------------------------------------------------------------- */
/* Whether a number of a declared type remains as it is one step beyond the last. */
static bool fits_declared(const TypeExpr *type, double step, double lo, double hi) {
    qs_dtype d;
    double least, most;
    if (!type) return true;
    if (type->kind != TE_NAME) return false;
    if (!strcmp(type->name->s, "scalar")) return true;
    if (!qdtype_from_name(type->name->s, &d) || !qdtype_is_int(d)) return false;
    qdtype_int_span(d, &least, &most);
    return lo + fmin(step, 0) >= least && hi + fmax(step, 0) <= most;
}

static qs_status read_integral(Loops *L, Node *n, Number *out, bool *integral) {
    Value v;
    TRY(kloop_expr(L, n, &v));
    *integral = v.what == WHAT_NUMBER && (v.num.kind == LOOP_NUM || v.num.kind == LOOP_INT) && kloop_twin(L, v.num);
    return *out = v.num, QS_OK;
}

qs_status kloop_counted_while(Walk *w, Node *loop, bool *done) {
    Loops *L = (Loops *)w;
    const Func *in = L->in->func;
    Node *counted = kloop_as_for(in->unit, loop);
    if (!counted) return QS_OK;
    const Node *range = counted->u.loop.ranges[0];
    const Sym *sym = counted->u.loop.syms[0];
    Var *v = kloop_var(L, sym);
    Number first, last;
    bool starts, ends;
    if (!v || v->bound) return QS_OK;
    L->pos = range->pos;
    TRY(read_integral(L, range->u.range.lo, &first, &starts));
    TRY(read_integral(L, range->u.range.hi, &last, &ends));
    if (!starts || !ends) return QS_OK;
    const Func *f = sym->kind == SYM_GLOBAL ? L->root->func : in;
    double lo = fmin(first.lo, last.lo), hi = fmax(first.hi, last.hi);
    if (first.kind == LOOP_INT && !sym->declared) return QS_OK; /* the step makes it a number */
    if (!fits_declared(kquery_annotation(f, sym, loop->pos), range->u.range.step->u.num.value, lo, hi)) return QS_OK;
    return *done = true, kcounted_lower(w, counted);
}

/* -- variables that a `for` changes by a constant ------------------------------------------------------------------ */
/* The number before the loop; false: it is not known to be integral. */
static qs_status read_first(Loops *L, const Node *loop, Var *v, Number *first, bool *known) {
    Value x;
    *known = false;
    if (v->bound || v->kind != LOOP_NUM || v->sym->declared) return QS_OK;
    if (loop == L->job->loop && L->in == L->root) {
        if (v->entry.kind != LOOP_NUM || v->reduce) return QS_OK;
        x = kloop_entry(L, v);
    } else {
        if (!v->set || kloop_reduction(L->job, loop, v->sym) == COMBINE_ADD) return QS_OK;
        TRY(kloop_read(L, v->sym, &x));
    }
    return *known = x.num.twin != 0, *first = x.num, QS_OK;
}

/* The variable that the statement changes by a constant, also in a loop inside; NULL: none, or it is set elsewhere. */
static const Sym *find_changed(const Node *loop, const Node *n, double *step) {
    static const double most = 16; /* see loop_variable.c */
    const Node *target = qast_target(n);
    const Sym *sym = target ? qast_symbol(target) : NULL;
    for (int i = 0; n->kind == N_FOR && n->u.loop.nvars == 1 && i < n->u.loop.body.n && !sym; i++)
        sym = find_changed(loop, n->u.loop.body.at[i], step);
    if (n->kind != N_FOR) *step = is_variable(sym) ? step_of(n, sym) : 0;
    bool counts = *step != 0 && *step == floor(*step) && fabs(*step) <= most && sym != loop->u.loop.syms[0];
    return counts && count_sets(loop, sym) == 1 ? sym : NULL;
}

/* Multiplies the change by the number of iterations of the loop n, which does not depend on the loop around it. */
static qs_status multiply_change(Loops *L, const Node *loop, const Node *n, LoopStep *s, bool *known) {
    const Node *range = n->u.loop.ranges[0];
    Number lo, hi;
    bool starts, ends, fixed = range->kind == N_RANGE && !range->u.range.step;
    fixed = fixed && is_fixed(loop, range->u.range.lo) && is_fixed(loop, range->u.range.hi);
    *known = fixed && !kquery_node(n->u.loop.body, true, kquery_is_leaving, NULL);
    if (!*known) return QS_OK;
    TRY(read_integral(L, range->u.range.lo, &lo, &starts));
    TRY(read_integral(L, range->u.range.hi, &hi, &ends));
    *known = starts && ends;
    for (int i = 0; i < n->u.loop.body.n && *known; i++) {
        const Node *inner = n->u.loop.body.at[i];
        if (inner->kind == N_FOR && count_sets(inner, s->v->sym)) TRY(multiply_change(L, loop, inner, s, known));
    }
    if (!*known) return QS_OK;
    KRef count = kloop_op(L, K_ADD, kloop_op(L, K_SUB, hi.twin, lo.twin), kloop_i64(L, 1));
    s->change = kloop_op(L, K_MUL, s->change, kloop_op(L, K_MAX, count, kloop_i64(L, 0)));
    return QS_OK;
}

qs_status kloop_find_steps(Loops *L, const Node *loop, LoopSteps *out) {
    NodeList body = loop->u.loop.body;
    out->n = 0;
    if (kquery_node(body, false, kquery_is_continue, NULL)) return QS_OK;
    for (int i = 0; i < body.n && out->n < LOOP_STEPS; i++) {
        LoopStep s = {.v = NULL};
        double step = 0;
        bool known = false;
        const Sym *sym = find_changed(loop, body.at[i], &step);
        if (sym) s.v = kloop_var(L, sym);
        if (!s.v) continue;
        TRY(read_first(L, loop, s.v, &s.first, &known));
        s.change = kloop_i64(L, (int64_t)step), s.up = step > 0;
        if (known && body.at[i]->kind == N_FOR) TRY(multiply_change(L, loop, body.at[i], &s, &known));
        if (known) out->at[out->n++] = s;
    }
    return QS_OK;
}

qs_status kloop_set_steps(Loops *L, const LoopSteps *steps, KRef iteration) {
    static const double most = 0x1p52; /* changes in small steps reach no larger number */
    for (const LoopStep *s = steps->at; s < steps->at + steps->n; s++) {
        KRef now = kloop_op(L, K_ADD, s->first.twin, kloop_op(L, K_MUL, iteration, s->change));
        KRef begins = kloop_op(L, K_EQ, iteration, kloop_i64(L, 0));
        Value x = {.what = WHAT_NUMBER, .num = kloop_from_int(L, now, -most, most)};
        if (s->up) x.num.lo = s->first.lo;
        else x.num.hi = s->first.hi;
        if (!s->first.unsigned_zero) { /* it may begin with -0 */
            x.num.v = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = begins, .b = s->first.v, .c = x.num.v});
            x.num.unsigned_zero = false;
        }
        TRY(kloop_assign(L, s->v, &x));
    }
    return QS_OK;
}
