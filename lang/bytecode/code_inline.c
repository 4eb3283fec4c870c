/* code_inline.c -- replaces calls of functions of the program by their values, in a copy of an expression.
 *
 *     f = x -> 0.5 + 0.5*erf(x/a)          y = b.*f(-c) becomes  x' = -c;  y = b.*(0.5 + 0.5*erf(x'/a))
 *
 * The function is a lambda with one value, or consists of assignments to its variables, without types and defaults.  It
 * reads all its variables, because a value that is not read may have an error.
 * The result is only used in a kernel.  The kernel runs if the guards hold: the name still means this function, and the
 * variables that a lambda has captured still have the same values.  Otherwise the call itself runs. */
#include "lang/bytecode/code.h"
#include "lang/syntax/fold.h"

#include <string.h>

enum { MOST_VARIABLES = 16, MOST_DEPTH = 6 };

typedef struct Body { /* a function whose copy is being made */
    const Sym *sym[MOST_VARIABLES];
    Node *value[MOST_VARIABLES];
    uint32_t used; /* a bit for each variable that is read */
    int n, depth;
    FuseGuard guard;
    const Func *func;
    uint32_t pos; /* of the call */
} Body;

typedef struct {
    Inliner *to;
    Body *body; /* NULL: the expression itself */
} Expansion;

/* -- functions that can be replaced -------------------------------------------------------------------------------- */
static bool is_plain_assignment(const Node *n) {
    const Node *target = qast_target(n);
    if (!target || n->flag || n->u.assign.in_place) return false;
    return qast_means(target, SYM_LOCAL);
}

static bool is_replaceable(const Func *f, int nargs) {
    int room = MOST_VARIABLES - f->nparams;
    bool plain = f->qual == Q_HOST && !f->ntyparams && !f->nattrs && f->nparams == nargs && f->body.n <= room;
    if (f->is_lambda ? !f->expr || f->body.n : f->nouts != 1 || f->outs[0].type || f->ncaptures || !f->body.n)
        return false;
    for (int i = 0; plain && i < f->nparams; i++)
        plain = !f->params[i].type && !f->params[i].init && !f->params[i].variadic;
    for (int i = 0; plain && i < f->body.n; i++) plain = is_plain_assignment(f->body.at[i]);
    return plain && (f->is_lambda || f->body.at[f->body.n - 1]->u.assign.targets[0]->u.ident.sym == f->outs[0].sym);
}

static void find_lambda(void *ud, Node **child) {
    Coder *e = ud;
    Node *n = *child;
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++) {
        const Node *t = n->u.assign.targets[i];
        int reg = t->kind == N_IDENT && t->u.ident.sym ? qcode_register(e, t->u.ident.sym) : -1;
        const Node *v = n->u.assign.value;
        if (reg >= 0 && (size_t)reg < e->nset && v->kind == N_LAMBDA) e->lambdas[reg] = v->u.lambda.func;
    }
    if (!NODE_IS_EXPR(n)) qast_children(n, find_lambda, e);
}

/* Returns the last lambda that the program assigns to the variable in the register; NULL: none. */
static const Func *lambda_in(Coder *e, int reg) {
    if (!e->lambdas) {
        e->lambdas = qcode_alloc(e, qmem_size(e->nset, sizeof *e->lambdas, sizeof *e->lambdas));
        memset(e->lambdas, 0, (e->nset + 1) * sizeof *e->lambdas);
        for (int i = 0; i < e->func->body.n; i++) find_lambda(e, &e->func->body.at[i]);
    }
    return (size_t)reg < e->nset ? e->lambdas[reg] : NULL;
}

/* Returns the function of the program that a call means, and how to check this when it runs; NULL: none. */
static const Func *find_function(Coder *e, const Node *call, bool within, FuseGuard *guard) {
    const Node *callee = call->u.call.callee;
    ArgList args = call->u.call.args;
    const Sym *s = qast_symbol(callee);
    if (!s || !e->host->function) return NULL;
    for (int i = 0; i < args.n; i++)
        if (args.at[i].name || args.at[i].type) return NULL;
    int reg = within && s->kind != SYM_GLOBAL ? -1 : qcode_register(e, s);
    const Func *f = reg >= 0                ? lambda_in(e, reg)
                    : s->kind == SYM_GLOBAL ? e->host->function(e->host->ud, s->index)
                                            : NULL;
    if (!f || !is_replaceable(f, args.n)) return NULL;
    return *guard = (FuseGuard){f->id, reg < 0 ? s->index : -1, -1, (uint8_t)(reg < 0 ? 0 : reg), 0}, f;
}

/* -- copies -------------------------------------------------------------------------------------------------------- */
static void expand_calls(void *ud, Node **child);

static bool add_guard(Inliner *to, FuseGuard guard) {
    for (int i = 0; i < to->nguards; i++)
        if (!memcmp(&to->guards[i], &guard, sizeof guard)) return true;
    if (to->nguards == FUSE_GUARDS) return false;
    return to->guards[to->nguards++] = guard, true;
}

static Node *make_name(Inliner *to, const Sym *s, uint32_t pos) {
    Node *n = qcode_alloc(to->e, sizeof *n);
    *n = (Node){.kind = N_IDENT, .pos = pos, .u.ident = {s->name, (Sym *)(uintptr_t)s}};
    return n;
}

/* Returns an expression with the value that costs nothing to repeat; NULL: there is none. */
static Node *bind_value(Inliner *to, const Sym *variable, Node *value, uint32_t pos) {
    double number;
    if (value->kind == N_IDENT || qcode_is_part(value) || qfold_number(value, &number)) return value;
    Sym *s = qcode_alloc(to->e, sizeof *s);
    *s = (Sym){.kind = SYM_TEMP, .name = variable->name, .pos = pos};
    return to->bind(to->ud, s, value) ? make_name(to, s, pos) : NULL;
}

static bool set_variable(Inliner *to, Body *b, const Sym *variable, Node *value) {
    if (b->n == MOST_VARIABLES) return false;
    b->sym[b->n] = variable, b->value[b->n] = bind_value(to, variable, value, b->pos);
    return b->value[b->n++] != NULL;
}

/* Replaces a variable of a function. */
static void replace_variable(Expansion *x, Node **child) {
    Inliner *to = x->to;
    Body *b = x->body;
    const Sym *s = (*child)->u.ident.sym;
    for (int i = b->n - 1; i >= 0; i--)
        if (b->sym[i] == s) {
            b->used |= 1u << i;
            *child = b->value[i];
            return;
        }
    if (s && s->kind == SYM_GLOBAL && !s->variable && qcode_register(to->e, s) < 0) return;
    const Sym *outer = s && s->kind == SYM_CAPTURE && b->guard.slot < 0 ? b->func->captures[s->index].outer : NULL;
    int reg = outer ? qcode_register(to->e, outer) : -1;
    FuseGuard guard = b->guard;
    guard.capture = s ? s->index : 0, guard.outer = (uint8_t)(reg < 0 ? 0 : reg);
    if (reg < 0 || to->is_bound(to->ud, outer) || !add_guard(to, guard)) to->ok = false;
    else *child = make_name(to, outer, b->pos);
}

static Node *copy_value(Expansion *x, const Node *value) {
    Node *copy = qast_clone(x->to->e->func->unit, value);
    expand_calls(x, &copy);
    return copy;
}

/* Returns whether the copy contains all values that may have an error. */
static bool uses_values(const Body *b) {
    double number;
    for (int i = 0; i < b->n; i++)
        if (!(b->used >> i & 1) && !qfold_number(b->value[i], &number)) return false;
    return true;
}

static void replace_call(Expansion *outer, Node **child, const Func *f, FuseGuard guard) {
    Inliner *to = outer->to;
    Node *call = *child;
    Body b = {.func = f, .guard = guard, .pos = call->pos, .depth = outer->body ? outer->body->depth + 1 : 0};
    Expansion x = {to, &b};
    to->ok = to->ok && b.depth < MOST_DEPTH && add_guard(to, guard);
    for (int i = 0; to->ok && i < f->nparams; i++)
        to->ok = set_variable(to, &b, f->params[i].sym, call->u.call.args.at[i].value);
    for (int i = 0; to->ok && i < f->body.n; i++) {
        const Node *n = f->body.at[i];
        Node *value = copy_value(&x, n->u.assign.value);
        if (i + 1 == f->body.n) *child = value;
        else to->ok = to->ok && set_variable(to, &b, n->u.assign.targets[0]->u.ident.sym, value);
    }
    if (to->ok && f->is_lambda) *child = copy_value(&x, f->expr);
    to->ok = to->ok && uses_values(&b);
}

static void expand_calls(void *ud, Node **child) {
    Expansion *x = ud;
    Node *n = *child;
    FuseGuard guard;
    if (n->kind == N_LAMBDA || !x->to->ok) {
        x->to->ok = x->to->ok && !x->body;
        return;
    }
    if (x->body) n->pos = x->body->pos;
    if (n->kind == N_IDENT && x->body) replace_variable(x, child);
    else if (n->kind != N_CALL) qast_children(n, expand_calls, x);
    if (n->kind != N_CALL) return;
    const Node *callee = n->u.call.callee;
    const Sym *s = qast_symbol(callee);
    for (int i = 0; i < n->u.call.args.n; i++) expand_calls(x, &n->u.call.args.at[i].value);
    const Func *f = find_function(x->to->e, n, x->body, &guard);
    if (f) replace_call(x, child, f, guard);
    else if (x->body && callee->kind != N_TYPE && !(s && (s->kind == SYM_GLOBAL || s->kind == SYM_TYPE)))
        x->to->ok = false;
}

typedef struct {
    Coder *e;
    bool found;
} Search;

static void find_call(void *ud, Node **child) {
    Search *s = ud;
    FuseGuard guard;
    if ((*child)->kind == N_CALL && find_function(s->e, *child, false, &guard)) s->found = true;
    if ((*child)->kind != N_LAMBDA && !s->found) qast_children(*child, find_call, s);
}

bool qcode_calls_functions(Coder *e, Node *n) {
    Search s = {e, false};
    find_call(&s, &n);
    return s.found;
}

Node *qcode_inlined(Inliner *to, Node *n) {
    if (!qcode_calls_functions(to->e, n)) return n;
    Expansion x = {to, NULL};
    Node *copy = copy_value(&x, n);
    return to->ok ? copy : NULL;
}
