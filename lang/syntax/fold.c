/* fold.c -- what is known before the program runs: numbers made of numbers, and asserts that cannot hold. */
#include "lang/syntax/fold.h"
#include "lang/syntax/diag.h"
#include "lang/syntax/operators.h"

#include <math.h>
#include <string.h>

/* -- numbers ------------------------------------------------------------------------------------------------------- */

static bool fold_binary(Op op, double a, double b, double *out) {
    switch (op) {
    case OP_ADD: *out = a + b; return true;
    case OP_SUB: *out = a - b; return true;
    case OP_MUL:
    case OP_PWMUL: *out = a * b; return true;
    case OP_DIV:
    case OP_PWDIV: *out = a / b; return true;
    case OP_POW:
    case OP_PWPOW: *out = b == 2 ? a * a : pow(a, b); return b != 0.5; /* a root, when it runs */
    default: return false;
    }
}

/* What a variable holds, a number or a string, where that is known; the last entry of a variable counts. */
typedef struct Known {
    struct Known *next;
    const Sym *sym;
    bool is_known;
    double number;
    const Str *str;
} Known;

static const Known *known(const Known *k, const Node *n) {
    if (n->kind != N_IDENT || !n->u.ident.sym) return NULL;
    while (k && k->sym != n->u.ident.sym) k = k->next;
    return k && k->is_known ? k : NULL;
}

static bool fold_number(const Known *all, const Node *n, double *out) {
    const Known *k;
    double a, b;
    switch ((NodeKind)n->kind) {
    case N_NUM: *out = n->u.num.value; return !n->u.num.imaginary && !n->u.num.whole;
    case N_IDENT:
        if (!(k = known(all, n)) || k->str) return false;
        *out = k->number;
        return true;
    case N_UNARY:
        if (n->op == OP_NOT || !fold_number(all, n->u.bin.a, &a)) return false;
        *out = n->op == OP_NEG ? -a : a;
        return true;
    case N_BINARY:
        return fold_number(all, n->u.bin.a, &a) && fold_number(all, n->u.bin.b, &b) && fold_binary(n->op, a, b, out);
    default: return false;
    }
}

bool qfold_number(const Node *n, double *out) { return fold_number(NULL, n, out); }

static const Str *fold_string(const Known *all, const Node *n) {
    const Known *k = known(all, n);
    return n->kind == N_STR ? n->u.str : k ? k->str : NULL;
}

/* -- matrices ------------------------------------------------------------------------------------------------------ */

/* Item number `i` of a matrix literal: a number, and the same exactly where it is an integer. */
typedef struct {
    double number;
    __int128 whole;
    bool is_whole, needs_whole;
} Item;

static bool fold_item(const Node *n, Item *out) {
    *out = (Item){0};
    if (n->kind == N_UNARY && n->op != OP_NOT && fold_item(n->u.bin.a, out)) {
        if (n->op == OP_NEG) out->number = -out->number, out->whole = -out->whole;
        return true;
    }
    if (n->kind == N_NUM && n->u.num.whole) {
        __int128 whole = n->u.num.is_uint64 ? (__int128)(uint64_t)n->u.num.whole : n->u.num.whole;
        *out = (Item){n->u.num.value, whole, true, true};
        return true;
    }
    if (!qfold_number(n, &out->number)) return false;
    out->is_whole = out->number == rint(out->number) && fabs(out->number) < 0x1p64;
    if (out->is_whole) out->whole = (__int128)out->number;
    return true;
}

/* needs_whole: one item is an integer that float64 does not hold. */
typedef struct {
    bool needs_whole, all_whole;
    __int128 least, most;
} Wholes;

static size_t count_numbers(const Node *n, int depth, int rank, int64_t *dims, Wholes *w) {
    Item x;
    if (n->kind != N_MATRIX) {
        if (depth != rank || !fold_item(n, &x)) return 0;
        w->needs_whole |= x.needs_whole, w->all_whole &= x.is_whole;
        if (x.whole < w->least) w->least = x.whole;
        if (x.whole > w->most) w->most = x.whole;
        return 1;
    }
    if (depth == rank || n->u.items.n == 0 || (dims[depth] && dims[depth] != n->u.items.n)) return 0;
    dims[depth] = n->u.items.n;
    size_t total = 0;
    for (int i = 0; i < n->u.items.n; i++) {
        size_t part = count_numbers(n->u.items.at[i], depth + 1, rank, dims, w);
        if (!part) return 0;
        total += part;
    }
    return total;
}

static size_t collect(const Node *n, NumTable *t, size_t to) {
    if (n->kind != N_MATRIX) {
        Item x;
        fold_item(n, &x);
        if (t->whole) t->whole[to] = (int64_t)(uint64_t)x.whole;
        else t->at[to] = x.number;
        return to + 1;
    }
    for (int i = 0; i < n->u.items.n; i++) to = collect(n->u.items.at[i], t, to);
    return to;
}

/* Fails where an integer needs all its digits and no type of integers holds all items. */
static bool measure(const Node *n, NumTable *t, bool *whole) {
    Wholes w = {.all_whole = true};
    *t = (NumTable){.rank = 0};
    *whole = false;
    for (const Node *m = n; m->kind == N_MATRIX && m->u.items.n; m = m->u.items.at[0])
        if (++t->rank > QS_MAX_RANK) return false;
    if (!t->rank) return t->rank = 1, true; /* [] */
    if (!(t->n = count_numbers(n, 0, t->rank, t->dims, &w))) return false;
    *whole = w.needs_whole;
    t->is_uint64 = w.most > INT64_MAX;
    return !*whole || (w.all_whole && w.least >= (t->is_uint64 ? 0 : INT64_MIN));
}

bool qfold_matrix(const Node *n, Arena *arena, NumTable **out) {
    NumTable t;
    bool whole;
    if (!measure(n, &t, &whole)) return false;
    *out = qarena_alloc(arena, sizeof t);
    if (whole) t.whole = qarena_alloc(arena, qmem_size(t.n, sizeof *t.whole, 0));
    else t.at = qarena_alloc(arena, qmem_size(t.n, sizeof(double), 1));
    collect(n, &t, 0);
    **out = t;
    return true;
}

bool qfold_is_constant(const Node *n) {
    double x;
    bool whole;
    NumTable t;
    return n->kind == N_MATRIX ? measure(n, &t, &whole) : n->kind == N_STR || qfold_number(n, &x);
}

bool qfold_is_list(NodeList at) {
    double number;
    bool list = at.n == 1 && at.at[0]->kind == N_MATRIX && at.at[0]->u.items.n == 2;
    for (int i = 0; list && i < 2; i++) list = qfold_number(at.at[0]->u.items.at[i], &number);
    return list || (at.n == 1 && at.at[0]->kind == N_RANGE);
}

/* -- conditions ---------------------------------------------------------------------------------------------------- */

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

static Truth condition(const Known *all, const Node *n);

static Truth binary_condition(const Known *all, const Node *n) {
    const Node *a = n->u.bin.a, *b = n->u.bin.b;
    double x, y;
    if (n->op == OP_ANDAND || n->op == OP_OROR) {
        Truth p = condition(all, a), q = condition(all, b), decides = n->op == OP_OROR ? YES : NO;
        if (p == decides || q == decides) return decides;
        return p == UNKNOWN || q == UNKNOWN ? UNKNOWN : p;
    }
    if (fold_number(all, a, &x) && fold_number(all, b, &y)) {
        Truth t = compare(n->op, x < y ? -1 : x > y, isnan(x) || isnan(y));
        if (t != UNKNOWN) return t;
    }
    const Str *s = fold_string(all, a), *t = fold_string(all, b);
    if (s && t && (n->op == OP_EQ || n->op == OP_NE)) return truth(qstr_equal(s, t) == (n->op == OP_EQ));
    return UNKNOWN;
}

static bool is_builtin_name(const Node *n, const char *name) {
    return n->kind == N_IDENT && strcmp(n->u.ident.name->s, name) == 0 && n->u.ident.sym &&
           n->u.ident.sym->kind == SYM_GLOBAL;
}

static Truth condition(const Known *all, const Node *n) {
    double x;
    if (fold_number(all, n, &x)) return truth(x != 0);
    if (is_builtin_name(n, "true")) return YES;
    if (is_builtin_name(n, "false")) return NO;
    if (n->kind == N_BINARY) return binary_condition(all, n);
    if (n->kind == N_UNARY && n->op == OP_NOT) {
        Truth t = condition(all, n->u.bin.a);
        return t == UNKNOWN ? UNKNOWN : truth(t == NO);
    }
    return UNKNOWN;
}

/* What is known of the message of an assert: all of it, or the text that it begins with. */
static int known_parts(const Known *all, const ArgList *args, Constant parts[CONSTANTS]) {
    int n = 0;
    for (int i = 1; i < args->n && n < CONSTANTS; i++, n++) {
        parts[n] = (Constant){.text = fold_string(all, args->at[i].value)};
        if (!parts[n].text && !fold_number(all, args->at[i].value, &parts[n].number)) break;
    }
    return n == args->n - 1 ? n : n && parts[0].text;
}

static void check_assert(Unit *u, const Known *all, const Node *n, const FoldHost *host) {
    if (n->kind != N_CALL || !is_builtin_name(n->u.call.callee, "assert") || n->u.call.args.n == 0) return;
    if (condition(all, n->u.call.args.at[0].value) != NO) return;
    Constant parts[CONSTANTS];
    Text text;
    qtext_init(&text, u->ctx);
    int known = known_parts(all, &n->u.call.args, parts);
    if (known) host->message(host->ud, known, parts, &text);
    qdiag_error(u, n->pos, "this assertion can never hold%s%s", text.len ? ": " : "", text.len ? text.s : "");
    qtext_free(&text);
}

/* Whether a statement may change variables of the top level in a way that is not seen: a block that assigns, and calls
 * of what may be anything, or may evaluate text (all calls, in a text that is itself evaluated). */
static void find_unseen(void *ud, Node **child) {
    bool *unseen = ud;
    const Node *n = *child, *f = n->kind == N_CALL ? n->u.call.callee : NULL;
    if (!NODE_IS_EXPR(n) && n->kind != N_EXPR && n->kind != N_PRINT && n->kind != N_ASSIGN && n->kind != N_FUNC)
        *unseen = true;
    if (f && (f->kind != N_IDENT || !f->u.ident.sym || f->u.ident.sym->kind != SYM_GLOBAL ||
              !f->u.ident.sym->function || !strcmp(f->u.ident.name->s, "eval")))
        *unseen = true;
    qast_children(*child, find_unseen, unseen);
}

static void find_call(void *ud, Node **child) {
    if ((*child)->kind == N_CALL) *(bool *)ud = true;
    else qast_children(*child, find_call, ud);
}

/* What a statement assigns is known from now on, or no more. */
static void learn(Unit *u, Known **all, const Node *n) {
    bool plain = n->u.assign.ntargets == 1 && !n->u.assign.in_place && !n->u.assign.bracketed && !n->u.assign.types[0];
    for (int i = 0; i < n->u.assign.ntargets; i++) {
        const Node *to = n->u.assign.targets[i];
        if (to->kind != N_IDENT || !to->u.ident.sym) continue;
        Known *k = qast_alloc(u, sizeof *k);
        *k = (Known){.next = *all, .sym = to->u.ident.sym};
        if (plain) k->str = fold_string(*all, n->u.assign.value);
        k->is_known = plain && (k->str || fold_number(*all, n->u.assign.value, &k->number));
        *all = k;
    }
}

/* Those of the top level that run whatever happens: assert(false) in a branch says that it is never reached. */
void qfold_asserts(Unit *u, const FoldHost *host) {
    Known *all = NULL;
    for (int i = 0; i < u->main->body.n; i++) {
        Node *n = u->main->body.at[i];
        bool unseen = false, calls = false;
        if (n->kind == N_EXPR) check_assert(u, all, n->u.expr, host);
        find_unseen(&unseen, &u->main->body.at[i]);
        if (all && u->src->internal) find_call(&calls, &u->main->body.at[i]);
        if (unseen || calls) all = NULL;
        if (n->kind == N_ASSIGN) learn(u, &all, n);
    }
}
