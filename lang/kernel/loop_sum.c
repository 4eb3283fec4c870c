/* loop_sum.c -- variables and arrays that the turns of a loop only add to.
 *
 *     s += e    s = s + e    s = max(s, e)    if e > s, s = e    h[i] += e
 *
 * Such a variable is no obstacle to running turns side by side: each chunk of turns begins with the identity of the
 * operator, and what the chunks have found is put together in their order, so the result does not depend on how many
 * threads there are.  Against the sequential program the rounding differs, as in any sum that is computed in parallel.
 */
#include "lang/kernel/looping.h"

#include <math.h>
#include <string.h>

/* -- mentions ---------------------------------------------------------------------------------------------------- */
typedef struct { const Sym *sym; int mentions, accounted; uint8_t op; bool mixed; } Search;

static bool is_sym(const Node *n, const Sym *s) { return n && n->kind == N_IDENT && n->u.ident.sym == s; }

/* A mention of a nested function is one of what it captures. */
static bool captures(const Node *n, const Sym *sym) {
    const Sym *of = n->kind == N_IDENT ? n->u.ident.sym : NULL;
    for (int i = 0; of && of->kind == SYM_NESTED && i < of->func->ncaptures; i++)
        if (of->func->captures[i].outer == sym) return true;
    return false;
}

static void count(void *ud, Node **child) {
    Search *s = ud;
    Node *n = *child;
    if (!n) return;
    s->mentions += is_sym(n, s->sym);
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++)
        s->mentions += is_sym(n->u.assign.targets[i], s->sym) && n->u.assign.targets[i] != NULL;
    for (int i = 0; n->kind == N_FOR && i < n->u.loop.nvars; i++) s->mixed |= n->u.loop.syms[i] == s->sym;
    if (n->kind == N_LAMBDA || n->kind == N_FUNC || captures(n, s->sym)) s->mixed = true;
    if (n->kind == N_ASSIGN) { /* targets were counted; what stands in their indices is not */
        for (int i = 0; i < n->u.assign.ntargets; i++)
            if (n->u.assign.targets[i]->kind != N_IDENT) count(ud, &n->u.assign.targets[i]);
        count(ud, &n->u.assign.value);
    } else {
        qast_children(n, count, ud);
    }
}

static bool mentions(const Node *n, const Sym *sym) {
    Search s = {.sym = sym};
    Node *copy = (Node *)(uintptr_t)n;
    count(&s, &copy);
    return s.mentions || s.mixed;
}

/* -- forms ------------------------------------------------------------------------------------------------------- */
static uint8_t op_of(int op) {
    switch (op) {
    case OP_ADD: case OP_SUB: return K_ADD;
    case OP_MUL: case OP_PWMUL: return K_MUL;
    case OP_MAXEQ: return K_MAX;
    case OP_MINEQ: return K_MIN;
    default: return 0;
    }
}

/* s = s + e, e + s, s - e, s*e, max(s, e) … */
static uint8_t form_of(const Node *value, const Sym *s) {
    if (value->kind == N_BINARY) {
        const Node *a = value->u.bin.a, *b = value->u.bin.b;
        bool first = is_sym(a, s) && !mentions(b, s), second = is_sym(b, s) && !mentions(a, s) && value->op != OP_SUB;
        return first || second ? op_of(value->op) : 0;
    }
    if (value->kind != N_CALL || value->u.call.args.n != 2 || value->u.call.callee->kind != N_IDENT) return 0;
    const Node *a = value->u.call.args.at[0].value, *b = value->u.call.args.at[1].value;
    const char *name = value->u.call.callee->u.ident.name->s;
    bool one = (is_sym(a, s) && !mentions(b, s)) || (is_sym(b, s) && !mentions(a, s));
    return !one ? 0 : !strcmp(name, "max") ? K_MAX : !strcmp(name, "min") ? K_MIN : 0;
}

static void account(Search *s, uint8_t op, int mentions_here) {
    if (s->op && s->op != op) s->mixed = true;
    s->op = op, s->accounted += mentions_here;
}

/* if e > s, s = e */
static bool is_choice(Search *s, const Node *n) {
    if (n->kind != N_IF || n->u.ifs.n != 1 || n->u.ifs.has_else || n->u.ifs.blocks[0].n != 1) return false;
    const Node *set = n->u.ifs.blocks[0].at[0], *cond = n->u.ifs.conds[0];
    if (set->kind != N_ASSIGN || set->u.assign.in_place || set->u.assign.ntargets != 1 || cond->kind != N_BINARY)
        return false;
    const Node *e = set->u.assign.value, *a = cond->u.bin.a, *b = cond->u.bin.b;
    bool greater = cond->op == OP_GT || cond->op == OP_GE, less = cond->op == OP_LT || cond->op == OP_LE;
    if (!is_sym(set->u.assign.targets[0], s->sym) || mentions(e, s->sym) || (!greater && !less)) return false;
    if (is_sym(b, s->sym) && qast_equal(a, e)) return account(s, greater ? K_MAX : K_MIN, 2), true;
    if (is_sym(a, s->sym) && qast_equal(b, e)) return account(s, greater ? K_MIN : K_MAX, 2), true;
    return false;
}

static void find_forms(void *ud, Node **child) {
    Search *s = ud;
    Node *n = *child;
    if (!n || is_choice(s, n)) return;
    if (n->kind == N_ASSIGN && n->u.assign.ntargets == 1 && is_sym(n->u.assign.targets[0], s->sym)) {
        uint8_t op = n->u.assign.in_place ? op_of(n->op) : form_of(n->u.assign.value, s->sym);
        bool typed = n->u.assign.types && n->u.assign.types[0];
        if (op && !typed && !(n->u.assign.in_place && mentions(n->u.assign.value, s->sym)))
            account(s, op, n->u.assign.in_place ? 1 : 2);
    }
    qast_children(n, find_forms, ud);
}

uint8_t kloop_reduction(const Node *loop, const Sym *sym) {
    Search s = {.sym = sym};
    for (int i = 0; i < loop->u.loop.body.n; i++) {
        count(&s, &loop->u.loop.body.at[i]);
        find_forms(&s, &loop->u.loop.body.at[i]);
    }
    return s.op && !s.mixed && s.mentions == s.accounted && !sym->declared ? s.op : 0;
}

double kloop_identity(uint8_t op) {
    return op == K_ADD ? 0 : op == K_MUL ? 1 : op == K_MAX ? -INFINITY : INFINITY;
}

/* -- the code ---------------------------------------------------------------------------------------------------- */
static bool gets(const Loops *L, KRef r, const Var *v) { return L->f->ins[r].op == K_GET && L->f->ins[r].a == v->v; }

void kloop_free_order(Loops *L, const Node *loop, KRef from) {
    for (int i = 0; i < L->in->nvars; i++) {
        const Var *v = &L->in->vars[i];
        uint8_t op = v->v && v->kind == LOOP_NUM ? kloop_reduction(loop, v->sym) : 0;
        for (KRef r = from; op && r < L->f->nins; r++) {
            const KIns *set = &L->f->ins[r];
            KIns *sum = &L->f->ins[set->b];
            if (set->op == K_SET && set->a == v->v && sum->op == op && (gets(L, sum->a, v) || gets(L, sum->b, v)))
                sum->flag = KFLAG_REASSOC;
        }
    }
}

int kloop_sum_array(const Loops *L, int source) {
    if (L->mode != MODE_PARALLEL) return -1;
    for (int i = 0; i < L->out->nsums; i++)
        if (L->out->sums[i] == source) return i;
    return -1;
}
