/* fold.c -- what is known before the program runs: numbers made of numbers, and asserts that cannot hold. */
#include "lang/syntax/fold.h"
#include "lang/syntax/diag.h"
#include "lang/syntax/operators.h"

#include <math.h>
#include <string.h>

/* -- numbers ----------------------------------------------------------------------------------------------------- */

static bool fold_binary(Op op, double a, double b, double *out) {
    switch (op) {
    case OP_ADD: *out = a + b; return true;
    case OP_SUB: *out = a - b; return true;
    case OP_MUL: case OP_PWMUL: *out = a * b; return true;
    case OP_DIV: case OP_PWDIV: *out = a / b; return true;
    case OP_POW: case OP_PWPOW: *out = b == 2 ? a * a : pow(a, b); return b != 0.5; /* a root, when it runs */
    default: return false;
    }
}

bool qfold_number(const Node *n, double *out) {
    double a, b;
    switch ((NodeKind)n->kind) {
    case N_NUM:
        *out = n->u.num.value;
        return !n->u.num.imaginary && !n->u.num.whole;
    case N_UNARY:
        if (n->op == OP_NOT || !qfold_number(n->u.bin.a, &a)) return false;
        *out = n->op == OP_NEG ? -a : a;
        return true;
    case N_BINARY: return qfold_number(n->u.bin.a, &a) && qfold_number(n->u.bin.b, &b) && fold_binary(n->op, a, b, out);
    default: return false;
    }
}

/* -- matrices ---------------------------------------------------------------------------------------------------- */

static size_t count_numbers(const Node *n, int depth, int rank, int64_t *dims) {
    double x;
    if (n->kind != N_MATRIX) return depth == rank && qfold_number(n, &x) ? 1 : 0;
    if (depth == rank || n->u.items.n == 0 || (dims[depth] && dims[depth] != n->u.items.n)) return 0;
    dims[depth] = n->u.items.n;
    size_t total = 0;
    for (int i = 0; i < n->u.items.n; i++) {
        size_t part = count_numbers(n->u.items.at[i], depth + 1, rank, dims);
        if (!part) return 0;
        total += part;
    }
    return total;
}

static double *collect(const Node *n, double *to) {
    if (n->kind != N_MATRIX) {
        qfold_number(n, to);
        return to + 1;
    }
    for (int i = 0; i < n->u.items.n; i++) to = collect(n->u.items.at[i], to);
    return to;
}

bool qfold_matrix(const Node *n, Arena *arena, NumTable **out) {
    NumTable t = {.rank = 0};
    for (const Node *m = n; m->kind == N_MATRIX && m->u.items.n; m = m->u.items.at[0])
        if (++t.rank > QS_MAX_RANK) return false;
    if (t.rank == 0) t.rank = 1; /* [] */
    else if (!(t.n = count_numbers(n, 0, t.rank, t.dims))) return false;
    *out = qarena_alloc(arena, sizeof t);
    t.at = qarena_alloc(arena, t.n * sizeof(double) + 1);
    collect(n, t.at);
    **out = t;
    return true;
}

/* -- conditions -------------------------------------------------------------------------------------------------- */

typedef enum { UNKNOWN, NO, YES } Truth;

static Truth truth(bool b) { return b ? YES : NO; }

static Truth compare(Op op, double order, bool unordered) {
    switch (op) {
    case OP_EQ: return truth(!unordered && order == 0);
    case OP_NE: return truth(unordered || order != 0);
    case OP_LT: return truth(!unordered && order < 0);
    case OP_LE: return truth(!unordered && order <= 0);
    case OP_GT: return truth(!unordered && order > 0);
    case OP_GE: return truth(!unordered && order >= 0);
    default: return UNKNOWN;
    }
}

static Truth condition(const Node *n);

static Truth binary_condition(const Node *n) {
    const Node *a = n->u.bin.a, *b = n->u.bin.b;
    double x, y;
    if (n->op == OP_ANDAND || n->op == OP_OROR) {
        Truth p = condition(a), q = condition(b), decides = n->op == OP_OROR ? YES : NO;
        if (p == decides || q == decides) return decides;
        return p == UNKNOWN || q == UNKNOWN ? UNKNOWN : p;
    }
    if (qfold_number(a, &x) && qfold_number(b, &y)) {
        Truth t = compare(n->op, x < y ? -1 : x > y, isnan(x) || isnan(y));
        if (t != UNKNOWN) return t;
    }
    if (a->kind == N_STR && b->kind == N_STR && (n->op == OP_EQ || n->op == OP_NE))
        return truth(qstr_equal(a->u.str, b->u.str) == (n->op == OP_EQ));
    return UNKNOWN;
}

static bool is_builtin_name(const Node *n, const char *name) {
    return n->kind == N_IDENT && strcmp(n->u.ident.name->s, name) == 0 && n->u.ident.sym &&
           n->u.ident.sym->kind == SYM_GLOBAL;
}

static Truth condition(const Node *n) {
    double x;
    if (qfold_number(n, &x)) return truth(x != 0);
    if (is_builtin_name(n, "true")) return YES;
    if (is_builtin_name(n, "false")) return NO;
    if (n->kind == N_BINARY) return binary_condition(n);
    if (n->kind == N_UNARY && n->op == OP_NOT) {
        Truth t = condition(n->u.bin.a);
        return t == UNKNOWN ? UNKNOWN : truth(t == NO);
    }
    return UNKNOWN;
}

static void check_assert(Unit *u, const Node *n) {
    if (n->kind != N_CALL || !is_builtin_name(n->u.call.callee, "assert") || n->u.call.args.n == 0) return;
    ArgList args = n->u.call.args;
    if (condition(args.at[0].value) != NO) return;
    if (args.n > 1 && args.at[1].value->kind == N_STR)
        qdiag_error(u, n->pos, "this assertion can never hold: %s", args.at[1].value->u.str->s);
    else qdiag_error(u, n->pos, "this assertion can never hold");
}

/* Those of the top level that run whatever happens: assert(false) in a branch says that it is never reached. */
void qfold_asserts(Unit *u) {
    for (int i = 0; i < u->main->body.n; i++)
        if (u->main->body.at[i]->kind == N_EXPR) check_assert(u, u->main->body.at[i]->u.expr);
}
