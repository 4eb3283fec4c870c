/* fold.c -- folds constant numbers and matrices, and finds asserts that always fail. */
#include "lang/syntax/fold.h"
#include "lang/syntax/diag.h"
#include "lang/syntax/operators.h"
#include "vm/base/libm.h"

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
    case OP_PWPOW:
        *out = b == 2 ? a * a : qlibm_pow(a, b);
        return b != 0.5; /* .^0.5 is a square root, evaluated at run time */
    default: return false;
    }
}

/* The known value of a variable, a number or a string.  The newest entry of a variable is the valid one. */
typedef struct Known {
    struct Known *next;
    const Sym *sym;
    bool is_known;
    double number;
    const Str *str;
} Known;

static const Known *find_known(const Known *k, const Node *n) {
    if (n->kind != N_IDENT || !n->u.ident.sym) return NULL;
    while (k && k->sym != n->u.ident.sym) k = k->next;
    return k && k->is_known ? k : NULL;
}

static bool fold_number(const Known *all, const Node *n, double *out) {
    const Known *k;
    double a, b;
    switch ((NodeKind)n->kind) {
    case N_NUM: *out = n->u.num.value; return !n->u.num.imaginary && !n->u.num.int_value;
    case N_IDENT:
        if (!(k = find_known(all, n)) || k->str) return false;
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

uint64_t qfold_integral(const ArgList *args) {
    uint64_t bits = 0;
    double x;
    for (int i = 0; i < args->n && i < 64; i++)
        if (qfold_number(args->at[i].value, &x) && fabs(x) < 0x1p31 && x == trunc(x)) bits |= (uint64_t)1 << i;
    return bits;
}

static const Str *fold_string(const Known *all, const Node *n) {
    const Known *k = find_known(all, n);
    return n->kind == N_STR ? n->u.str : k ? k->str : NULL;
}

/* -- matrices ------------------------------------------------------------------------------------------------------ */

/* An item of a matrix literal.  whole: its exact value if is_whole; needs_integral: float64 cannot represent it. */
typedef struct {
    double number;
    __int128 whole;
    bool is_whole, needs_integral;
} Item;

static bool fold_item(const Node *n, Item *out) {
    *out = (Item){0};
    if (n->kind == N_UNARY && n->op != OP_NOT && fold_item(n->u.bin.a, out)) {
        if (n->op == OP_NEG) out->number = -out->number, out->whole = -out->whole;
        return true;
    }
    if (n->kind == N_NUM && n->u.num.int_value) {
        __int128 whole = n->u.num.is_uint64 ? (__int128)(uint64_t)n->u.num.int_value : n->u.num.int_value;
        *out = (Item){n->u.num.value, whole, true, true};
        return true;
    }
    if (!qfold_number(n, &out->number)) return false;
    out->is_whole = out->number == rint(out->number) && fabs(out->number) < 0x1p64;
    if (out->is_whole) out->whole = (__int128)out->number;
    return true;
}

/* Summary of the items.  needs_integral: float64 cannot represent one of them; all_whole: all are integers; least,
 * most: range of the integers, which includes 0. */
typedef struct {
    bool needs_integral, all_whole;
    __int128 least, most;
} Wholes;

static size_t count_numbers(const Node *n, int depth, int rank, int64_t *dims, Wholes *w) {
    Item x;
    if (n->kind != N_MATRIX) {
        if (depth != rank || !fold_item(n, &x)) return 0;
        w->needs_integral |= x.needs_integral, w->all_whole &= x.is_whole;
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

static size_t collect_items(const Node *n, NumTable *t, size_t to) {
    if (n->kind != N_MATRIX) {
        Item x;
        fold_item(n, &x);
        if (t->whole) t->whole[to] = (int64_t)(uint64_t)x.whole;
        else t->at[to] = x.number;
        return to + 1;
    }
    for (int i = 0; i < n->u.items.n; i++) to = collect_items(n->u.items.at[i], t, to);
    return to;
}

/* Determines the size of a matrix literal, and whether it needs integers (*whole).  Fails if the items are not
 * constant, or if one needs an integer type and no integer type can hold all of them. */
static bool measure_matrix(const Node *n, NumTable *t, bool *whole) {
    Wholes w = {.all_whole = true};
    *t = (NumTable){.rank = 0};
    *whole = false;
    for (const Node *m = n; m->kind == N_MATRIX && m->u.items.n; m = m->u.items.at[0])
        if (++t->rank > QS_MAX_RANK) return false;
    if (!t->rank) return t->rank = 1, true; /* [] */
    if (!(t->n = count_numbers(n, 0, t->rank, t->dims, &w))) return false;
    *whole = w.needs_integral;
    t->is_uint64 = w.most > INT64_MAX;
    return !*whole || (w.all_whole && w.least >= (t->is_uint64 ? 0 : INT64_MIN));
}

bool qfold_matrix(const Node *n, Arena *arena, NumTable **out) {
    NumTable t;
    bool whole;
    if (!measure_matrix(n, &t, &whole)) return false;
    *out = qarena_alloc(arena, sizeof t);
    if (whole) t.whole = qarena_alloc(arena, qmem_size(t.n, sizeof *t.whole, 0));
    else t.at = qarena_alloc(arena, qmem_size(t.n, sizeof(double), 1));
    collect_items(n, &t, 0);
    **out = t;
    return true;
}

bool qfold_is_constant(const Node *n) {
    double x;
    bool whole;
    NumTable t;
    return n->kind == N_MATRIX ? measure_matrix(n, &t, &whole) : n->kind == N_STR || qfold_number(n, &x);
}

bool qfold_is_list(NodeList at) {
    double number;
    bool list = at.n == 1 && at.at[0]->kind == N_MATRIX && at.at[0]->u.items.n == 2;
    for (int i = 0; list && i < 2; i++) list = qfold_number(at.at[0]->u.items.at[i], &number);
    return list || (at.n == 1 && at.at[0]->kind == N_RANGE);
}

/* -- conditions ---------------------------------------------------------------------------------------------------- */

typedef enum { UNKNOWN, NO, YES } Truth;

static Truth truth_of(bool b) { return b ? YES : NO; }

static Truth compare_order(Op op, double order, bool unordered) {
    switch (op) {
    case OP_EQ: return truth_of(!unordered && order == 0);
    case OP_NE: return truth_of(unordered || order != 0);
    case OP_LT: return truth_of(!unordered && order < 0);
    case OP_LE: return truth_of(!unordered && order <= 0);
    case OP_GT: return truth_of(!unordered && order > 0);
    case OP_GE: return truth_of(!unordered && order >= 0);
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
        Truth t = compare_order(n->op, x < y ? -1 : x > y, isnan(x) || isnan(y));
        if (t != UNKNOWN) return t;
    }
    const Str *s = fold_string(all, a), *t = fold_string(all, b);
    if (s && t && (n->op == OP_EQ || n->op == OP_NE)) return truth_of(qstr_equal(s, t) == (n->op == OP_EQ));
    return UNKNOWN;
}

static Truth condition(const Known *all, const Node *n) {
    double x;
    if (fold_number(all, n, &x)) return truth_of(x != 0);
    if (qast_is_builtin(n, "true")) return YES;
    if (qast_is_builtin(n, "false")) return NO;
    if (n->kind == N_BINARY) return binary_condition(all, n);
    if (n->kind == N_UNARY && n->op == OP_NOT) {
        Truth t = condition(all, n->u.bin.a);
        return t == UNKNOWN ? UNKNOWN : truth_of(t == NO);
    }
    return UNKNOWN;
}

/* Returns how many parts of the message of an assert are known: all of them, or only a text at its beginning. */
static int known_parts(const Known *all, const ArgList *args, Constant parts[CONSTANTS]) {
    int n = 0;
    for (int i = 1; i < args->n && n < CONSTANTS; i++, n++) {
        parts[n] = (Constant){.text = fold_string(all, args->at[i].value)};
        if (!parts[n].text && !fold_number(all, args->at[i].value, &parts[n].number)) break;
    }
    return n == args->n - 1 ? n : n && parts[0].text;
}

static void check_assert(Unit *u, const Known *all, const Node *n, const FoldHost *host) {
    if (!qast_calls_builtin(n, "assert") || n->u.call.args.n == 0) return;
    if (condition(all, n->u.call.args.at[0].value) != NO) return;
    Constant parts[CONSTANTS];
    Text text;
    qtext_init(&text, u->ctx);
    int known = known_parts(all, &n->u.call.args, parts);
    if (known) host->message(host->ud, known, parts, &text);
    qdiag_error(u, n->pos, "this assertion can never hold%s%s", text.len ? ": " : "", text.len ? text.s : "");
    qtext_free(&text);
}

/* Sets *unseen if a statement may change top-level variables in an untracked way: a block, a call of an unknown
 * function, or a call of eval. */
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

/* Records the values that an assignment gives to variables, or that they are unknown from here on. */
static void record_assignment(Unit *u, Known **all, const Node *n) {
    bool plain = qast_target(n) && !n->u.assign.in_place;
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

/* Asserts in branches are skipped: assert(false) there marks code that must not be reached.  In evaluated text every
 * call may change variables. */
void qfold_asserts(Unit *u, const FoldHost *host) {
    Known *all = NULL;
    for (int i = 0; i < u->main->body.n; i++) {
        Node *n = u->main->body.at[i];
        bool unseen = false, calls = false;
        if (n->kind == N_EXPR) check_assert(u, all, n->u.expr, host);
        find_unseen(&unseen, &u->main->body.at[i]);
        if (all && u->src->internal) find_call(&calls, &u->main->body.at[i]);
        if (unseen || calls) all = NULL;
        if (n->kind == N_ASSIGN) record_assignment(u, &all, n);
    }
}
