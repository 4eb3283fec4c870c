/* loop_reduction.c -- recognizes reductions: variables and arrays that iterations only add to, multiply, or compare.
 *
 *     s += e    s = s + e - f    s *= e    s = max(s, e)    if e > s, s = e    s = e > s ? e : s    h[i] += e
 *
 * Such a variable does not prevent parallel iterations: each chunk of iterations begins with the identity of the
 * operator, and the results of the chunks are combined in their order, so the result does not depend on the number of
 * threads.  Compared with the sequential program, sums and products are rounded differently, as in any parallel sum;
 * extremes are the same, including the sign of zero.  A product may overflow or underflow in one order and not in
 * another, so a chunk reports the smallest and largest magnitude of its product. */
#include "lang/kernel/lower/loop/loop_internal.h"
#include "vm/base/reduction.h"

#include <string.h>

/* -- mentions ------------------------------------------------------------------------------------------------------ */
typedef struct {
    const LoopJob *job; /* statements of its rare branches do not count; NULL: all do */
    const Sym *sym;
    int mentions, accounted;
    uint8_t op;
    bool mixed;
} Search;

/* Whether n names a nested function that captures sym. */
static bool captures(const Node *n, const Sym *sym) {
    const Sym *of = qast_symbol(n);
    for (int i = 0; of && of->kind == SYM_NESTED && i < of->func->ncaptures; i++)
        if (of->func->captures[i].outer == sym) return true;
    return false;
}

/* The interpreter executes rare branches and makes the messages of errors, after all variables are set. */
static bool is_passed_over(const Search *s, const Node *n) {
    return s->job && (kloop_is_rare(s->job, n) || (qast_calls_builtin(n, "error") && qast_makes_message(n)));
}

static void count_mentions(void *ud, Node **child) {
    Search *s = ud;
    Node *n = *child;
    if (!n || is_passed_over(s, n)) return;
    s->mentions += qast_is_name(n, s->sym);
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++)
        s->mentions += qast_is_name(n->u.assign.targets[i], s->sym) && n->u.assign.targets[i] != NULL;
    for (int i = 0; n->kind == N_FOR && i < n->u.loop.nvars; i++) s->mixed |= n->u.loop.syms[i] == s->sym;
    if (n->kind == N_LAMBDA || n->kind == N_FUNC || captures(n, s->sym)) s->mixed = true;
    if (n->kind == N_ASSIGN) { /* targets were counted, but not the expressions in their indices */
        for (int i = 0; i < n->u.assign.ntargets; i++)
            if (n->u.assign.targets[i]->kind != N_IDENT) count_mentions(ud, &n->u.assign.targets[i]);
        count_mentions(ud, &n->u.assign.value);
    } else {
        qast_children(n, count_mentions, ud);
    }
}

static bool is_mentioned(const Node *n, const Sym *sym) {
    Search s = {.sym = sym};
    Node *copy = (Node *)(uintptr_t)n;
    count_mentions(&s, &copy);
    return s.mentions || s.mixed;
}

/* -- reduction patterns -------------------------------------------------------------------------------------------- */
static uint8_t op_of(int op) {
    switch (op) {
    case OP_ADD:
    case OP_SUB: return COMBINE_ADD;
    case OP_MUL:
    case OP_PWMUL: return COMBINE_MUL;
    case OP_MAXEQ: return COMBINE_MAX;
    case OP_MINEQ: return COMBINE_MIN;
    default: return COMBINE_NOT;
    }
}

/* The reduction of s = s + e, e + s, s - e, s*e, and of sums with several terms: s + e + f, e + (s - f).  A product has
 * one factor, because a product of s and one of several factors might underflow. */
static uint8_t sum_op(const Node *value, const Sym *s) {
    if (value->kind != N_BINARY) return COMBINE_NOT;
    const Node *a = value->u.bin.a, *b = value->u.bin.b;
    bool first = !is_mentioned(b, s);
    if (!first && (is_mentioned(a, s) || value->op == OP_SUB)) return COMBINE_NOT;
    uint8_t op = op_of(value->op);
    const Node *with = first ? a : b;
    return qast_is_name(with, s) || (op == COMBINE_ADD && sum_op(with, s) == COMBINE_ADD) ? op : COMBINE_NOT;
}

/* s = s + e, max(s, e) … */
static uint8_t pattern_op(const Node *value, const Sym *s) {
    if (value->kind == N_BINARY) return sum_op(value, s);
    if (value->kind != N_CALL || value->u.call.args.n != 2 || value->u.call.callee->kind != N_IDENT) return 0;
    const Node *a = value->u.call.args.at[0].value, *b = value->u.call.args.at[1].value;
    const char *name = value->u.call.callee->u.ident.name->s;
    bool one = (qast_is_name(a, s) && !is_mentioned(b, s)) || (qast_is_name(b, s) && !is_mentioned(a, s));
    return !one ? COMBINE_NOT : !strcmp(name, "max") ? COMBINE_MAX : !strcmp(name, "min") ? COMBINE_MIN : COMBINE_NOT;
}

static void add_pattern(Search *s, uint8_t op, int mentions_here) {
    if (s->op && s->op != op) s->mixed = true;
    s->op = op, s->accounted += mentions_here;
}

/* The reduction of `if e op s, s = e`; swapped: of `if s op e, s = e`. */
static uint8_t choice_of(int op, bool swapped) {
    switch (op) {
    case OP_LT: return swapped ? COMBINE_GT : COMBINE_LT;
    case OP_LE: return swapped ? COMBINE_GE : COMBINE_LE;
    case OP_GT: return swapped ? COMBINE_LT : COMBINE_GT;
    case OP_GE: return swapped ? COMBINE_LE : COMBINE_GE;
    default: return COMBINE_NOT;
    }
}

/* The reduction of `if cond, s = e`, for cond: e > s, s < e … */
static uint8_t choice_by(const Node *cond, const Node *e, const Sym *s) {
    if (cond->kind != N_BINARY || is_mentioned(e, s)) return COMBINE_NOT;
    const Node *a = cond->u.bin.a, *b = cond->u.bin.b;
    bool swapped = qast_is_name(a, s), fits = swapped ? qast_equal(b, e) : qast_is_name(b, s) && qast_equal(a, e);
    return fits ? choice_of(cond->op, swapped) : COMBINE_NOT;
}

/* if e > s, s = e */
static bool is_choice(Search *s, const Node *n) {
    if (n->kind != N_IF || n->u.ifs.n != 1 || n->u.ifs.has_else || n->u.ifs.blocks[0].n != 1) return false;
    const Node *set = n->u.ifs.blocks[0].at[0];
    if (set->kind != N_ASSIGN || set->u.assign.in_place || set->u.assign.ntargets != 1) return false;
    uint8_t choice = choice_by(n->u.ifs.conds[0], set->u.assign.value, s->sym);
    if (!qast_is_name(set->u.assign.targets[0], s->sym) || !choice) return false;
    return add_pattern(s, choice, 2), true;
}

/* s = e > s ? e : s */
static uint8_t ternary_choice(const Node *value, const Sym *s) {
    if (value->kind != N_TERNARY || !qast_is_name(value->u.ternary.other, s)) return COMBINE_NOT;
    return choice_by(value->u.ternary.cond, value->u.ternary.then, s);
}

static void find_forms(void *ud, Node **child) {
    Search *s = ud;
    Node *n = *child;
    if (!n || is_passed_over(s, n) || is_choice(s, n)) return;
    if (n->kind == N_ASSIGN && n->u.assign.ntargets == 1 && qast_is_name(n->u.assign.targets[0], s->sym)) {
        uint8_t op = n->u.assign.in_place ? op_of(n->op) : pattern_op(n->u.assign.value, s->sym);
        bool typed = n->u.assign.types && n->u.assign.types[0];
        uint8_t choice = n->u.assign.in_place ? COMBINE_NOT : ternary_choice(n->u.assign.value, s->sym);
        if (choice && !typed) add_pattern(s, choice, 3);
        if (op && !typed && !(n->u.assign.in_place && is_mentioned(n->u.assign.value, s->sym)))
            add_pattern(s, op, n->u.assign.in_place ? 1 : 2);
    }
    qast_children(n, find_forms, ud);
}

uint8_t kloop_reduction(const LoopJob *job, const Node *loop, const Sym *sym) {
    Search s = {.job = job, .sym = sym};
    if (loop->kind != N_FOR) return COMBINE_NOT;
    for (int i = 0; i < loop->u.loop.nvars; i++)
        if (loop->u.loop.syms[i] == sym) return COMBINE_NOT; /* each iteration sets its counter */
    for (int i = 0; i < loop->u.loop.body.n; i++) {
        count_mentions(&s, &loop->u.loop.body.at[i]);
        find_forms(&s, &loop->u.loop.body.at[i]);
    }
    return s.op && !s.mixed && s.mentions == s.accounted && !sym->declared ? s.op : 0;
}

/* -- the code ------------------------------------------------------------------------------------------------------ */
static bool reads_variable(const Loops *L, KRef r, const Var *v) {
    return L->f->ins[r].op == K_GET && L->f->ins[r].a == v->v;
}

/* Frees the order of the additions by which r adds terms to v, or subtracts them; returns whether r is such a sum. */
static bool free_sum(Loops *L, KRef r, const Var *v) {
    if (reads_variable(L, r, v)) return true;
    KIns *sum = &L->f->ins[r];
    if (sum->op != K_ADD && sum->op != K_SUB) return false;
    if (!free_sum(L, sum->a, v) && !(sum->op == K_ADD && free_sum(L, sum->b, v))) return false;
    return sum->flag = KFLAG_REASSOC, true;
}

void kloop_free_order(Loops *L, const Node *loop, KRef from) {
    for (int i = 0; i < L->in->nvars; i++) {
        const Var *v = &L->in->vars[i];
        bool sums = v->v && v->kind == LOOP_NUM && kloop_reduction(L->job, loop, v->sym) == COMBINE_ADD;
        for (KRef r = from; sums && r < L->f->nins; r++)
            if (L->f->ins[r].op == K_SET && L->f->ins[r].a == v->v) free_sum(L, L->f->ins[r].b, v);
    }
}

void kloop_watch(Loops *L, Var *v) {
    v->least = kbuild_local(&L->walk, kloop_f64(L, 1));
    v->most = kbuild_local(&L->walk, kloop_f64(L, 1));
}

void kloop_watched(Loops *L, const Var *v) {
    KRef size = kloop_op(L, K_ABS, kbuild_get(&L->walk, v->v), 0);
    kbuild_set(&L->walk, v->least, kloop_op(L, K_MIN, kbuild_get(&L->walk, v->least), size));
    kbuild_set(&L->walk, v->most, kloop_op(L, K_MAX, kbuild_get(&L->walk, v->most), size));
}

int kloop_sum_array(const Loops *L, int source) {
    if (L->mode != MODE_PARALLEL) return -1;
    for (int i = 0; i < L->out->nsums; i++)
        if (L->out->sums[i] == source) return i;
    return -1;
}
