/* rewrite.c -- matches the patterns of reductions and builds their replacements.
 *
 * Matching is structural: variables of the rule bind whole subexpressions, everything else must be equal.  If the
 * pattern has structure where the node has a placeholder of an earlier rewrite, the bound expression is matched
 * instead.
 * Rules can therefore recur on parts:  D(sin(u), x) = cos(u).*D(u, x).
 *
 * Rewriting terminates: inside its own result a rule applies only to nodes strictly smaller than the one it replaced,
 * and results nest at most MAX_NESTED deep. */
#include "lang/names/rewrite.h"

#include <string.h>

enum { MAX_NESTED = 32, MAX_SIZE = 100000, MAX_VARIABLES = 64, MAX_PLACES = 256 };

typedef struct {
    const Node *node;
    int variable;
} Place;

typedef struct {
    Unit *u;
    const Reduction *rule;
    const Node *bound[MAX_VARIABLES];
    Place places[MAX_PLACES]; /* occurrences of the variables in the matched node */
    int nplaces;
    Sym **temps;
    uint32_t pos; /* source position of the new nodes */
    bool failed;  /* the replacement would assign to something that is not assignable */
} Matcher;

/* -- matching ------------------------------------------------------------------------------------------------------ */
static bool match(Matcher *m, const Node *p, const Node *n);

static int variable_of(const Reduction *r, const Node *p) {
    if (p->kind != N_IDENT || !p->u.ident.sym) return -1;
    const Sym *s = p->u.ident.sym;
    return s->kind == SYM_LOCAL && !s->owner && s->index < r->nparams && r->params[s->index].sym == s ? s->index : -1;
}

static bool bind_variable(Matcher *m, int variable, const Node *n) {
    if (!NODE_IS_EXPR(n) || n->kind == N_COLON || m->nplaces == MAX_PLACES) return false;
    if (m->bound[variable] && !qast_equal(m->bound[variable], n)) return false;
    if (!m->bound[variable]) m->bound[variable] = n;
    m->places[m->nplaces++] = (Place){n, variable};
    return true;
}

static const Node *look_through(const Node *n) {
    while (qast_means(n, SYM_TEMP)) n = n->u.ident.sym->bound;
    return n;
}

/* Returns whether both names mean the same function or global; a local of that name does not match. */
static bool same_name(const Node *p, const Node *n) {
    if (p->u.ident.name != n->u.ident.name) return false;
    const Sym *s = n->u.ident.sym;
    return !s || s->kind == SYM_GLOBAL || s->kind == SYM_TYPE;
}

static bool match_lists(Matcher *m, NodeList p, NodeList n) {
    if (p.n != n.n) return false;
    for (int i = 0; i < p.n; i++)
        if (!match(m, p.at[i], n.at[i])) return false;
    return true;
}

static bool match_args(Matcher *m, ArgList p, ArgList n) {
    if (p.n != n.n) return false;
    for (int i = 0; i < p.n; i++)
        if (p.at[i].name != n.at[i].name || n.at[i].type || !match(m, p.at[i].value, n.at[i].value)) return false;
    return true;
}

static bool match_optional(Matcher *m, const Node *p, const Node *n) { return p && n ? match(m, p, n) : p == n; }

static bool match_assign(Matcher *m, const Node *p, const Node *n) {
    NodeList targets = {p->u.assign.targets, p->u.assign.ntargets},
             actual = {n->u.assign.targets, n->u.assign.ntargets};
    if (p->u.assign.in_place != n->u.assign.in_place || (p->u.assign.in_place && p->op != n->op)) return false;
    if (p->u.assign.bracketed != n->u.assign.bracketed) return false;
    for (int i = 0; i < actual.n; i++)
        if (n->u.assign.types[i]) return false;
    return match_lists(m, targets, actual) && match(m, p->u.assign.value, n->u.assign.value);
}

static bool match(Matcher *m, const Node *p, const Node *n) {
    int variable = variable_of(m->rule, p);
    if (variable >= 0) return bind_variable(m, variable, n);
    n = look_through(n);
    if (p->kind != n->kind) return false;
    switch ((NodeKind)p->kind) {
    case N_IDENT: return same_name(p, n);
    case N_UNARY: return p->op == n->op && match(m, p->u.bin.a, n->u.bin.a);
    case N_BINARY: return p->op == n->op && match(m, p->u.bin.a, n->u.bin.a) && match(m, p->u.bin.b, n->u.bin.b);
    case N_TERNARY:
        return match(m, p->u.ternary.cond, n->u.ternary.cond) && match(m, p->u.ternary.then, n->u.ternary.then) &&
               match(m, p->u.ternary.other, n->u.ternary.other);
    case N_RANGE:
        return match(m, p->u.range.lo, n->u.range.lo) && match_optional(m, p->u.range.step, n->u.range.step) &&
               match(m, p->u.range.hi, n->u.range.hi);
    case N_CALL: return match(m, p->u.call.callee, n->u.call.callee) && match_args(m, p->u.call.args, n->u.call.args);
    case N_META: return p->u.meta.name == n->u.meta.name && match_args(m, p->u.meta.args, n->u.meta.args);
    case N_INDEX: return match(m, p->u.index.base, n->u.index.base) && match_lists(m, p->u.index.at, n->u.index.at);
    case N_FIELD: return p->u.field.name == n->u.field.name && match(m, p->u.field.base, n->u.field.base);
    case N_MATRIX:
    case N_CELL: return match_lists(m, p->u.items, n->u.items);
    case N_ASSIGN: return match_assign(m, p, n);
    default: return qast_equal(p, n);
    }
}

/* -- building ------------------------------------------------------------------------------------------------------ */
typedef int Chooser(const Matcher *m, const Node *n); /* returns the variable whose value replaces n; -1: none */

static int variable_here(const Matcher *m, const Node *n) { return variable_of(m->rule, n); }

static int variable_at_place(const Matcher *m, const Node *n) {
    for (int i = 0; i < m->nplaces; i++)
        if (m->places[i].node == n) return m->places[i].variable;
    return -1;
}

static bool can_be_assigned(const Node *n) {
    return (n->kind == N_IDENT && !(n->u.ident.sym && n->u.ident.sym->kind == SYM_TEMP)) || n->kind == N_INDEX ||
           n->kind == N_FIELD;
}

static Node *value_of(Matcher *m, int variable, bool target) {
    const Node *bound = m->bound[variable];
    if (target && !can_be_assigned(bound)) m->failed = true;
    if (target || !m->temps[variable]) return qast_clone(m->u, bound);
    Node *n = qast_node(m->u, N_IDENT, m->pos);
    n->u.ident.name = m->temps[variable]->name;
    n->u.ident.sym = m->temps[variable];
    return n;
}

typedef struct {
    Matcher *m;
    Chooser *choose;
} Builder;

/* Builds a copy of n with the variables replaced.  target: n is assigned to, so a variable is replaced by its bound
 * expression and not by a temporary with its value. */
static Node *build_node(Builder *b, const Node *n, bool target);

static void build_child(void *ud, Node **child) { *child = build_node(ud, *child, false); }

static void build_all(Builder *b, Node **at, int n, bool target) {
    for (int i = 0; i < n; i++) at[i] = build_node(b, at[i], target);
}

static Node *build_node(Builder *b, const Node *n, bool target) {
    int variable = b->choose(b->m, n);
    if (variable >= 0) return value_of(b->m, variable, target);
    Node *copy = qast_copy(b->m->u, n);
    copy->pos = b->m->pos;
    if (copy->kind == N_ASSIGN) {
        build_all(b, copy->u.assign.targets, copy->u.assign.ntargets, true);
        copy->u.assign.value = build_node(b, copy->u.assign.value, false);
    } else if (target && copy->kind == N_INDEX) {
        copy->u.index.base = build_node(b, copy->u.index.base, true);
        build_all(b, copy->u.index.at.at, copy->u.index.at.n, false);
    } else if (target && copy->kind == N_FIELD) {
        copy->u.field.base = build_node(b, copy->u.field.base, true);
    } else {
        qast_children(copy, build_child, b);
    }
    return copy;
}

static Sym *placeholder(Matcher *m, int variable) {
    const Node *bound = m->bound[variable];
    if (bound->kind == N_IDENT || bound->kind == N_NUM || bound->kind == N_STR || bound->kind == N_TYPE) return NULL;
    Sym *s = qast_alloc(m->u, sizeof *s);
    s->kind = SYM_TEMP;
    s->name = m->rule->params[variable].name;
    s->pos = bound->pos;
    s->bound = (Node *)bound;
    return s;
}

static bool construct(Matcher *m, const Node *node, Rewrite *out) {
    int n = m->rule->nparams;
    out->rule = m->rule;
    out->n = n;
    out->bound = qast_alloc(m->u, qmem_size((size_t)n, sizeof(Node *), 0));
    out->temps = m->temps = qast_alloc(m->u, qmem_size((size_t)n, sizeof(Sym *), 0));
    for (int i = 0; i < n; i++) out->bound[i] = (Node *)m->bound[i], m->temps[i] = placeholder(m, i);
    Builder rule = {m, variable_here}, same = {m, variable_at_place};
    out->replacement = build_node(&rule, m->rule->replacement, false);
    out->where = m->rule->where ? build_node(&rule, m->rule->where, false) : NULL;
    out->original = build_node(&same, node, false);
    return !m->failed;
}

/* -- choosing ------------------------------------------------------------------------------------------------------ */
static void add_size(void *ud, Node **child) {
    int *size = ud;
    Node *n = (Node *)look_through(*child);
    if (++*size < MAX_SIZE) qast_children(n, add_size, size);
}

static int size_of(const Node *n) {
    int size = 0;
    Node *root = (Node *)n;
    add_size(&size, &root);
    return size;
}

static bool allowed(const Reduction *rule, int size, const RewriteFrame *active) {
    for (; active; active = active->up)
        if (active->rule == rule && (size >= active->size || size >= MAX_SIZE)) return false;
    return true;
}

static int guard_rank(const TypeExpr *t) { /* higher for a guard that excludes more */
    if (!t) return 0;
    switch (t->kind) {
    case TE_ANY: return 0;
    case TE_UNION: return 1;
    case TE_RANK: return 2;
    case TE_FIXED: return 4;
    default: return 3; /* an alias of a union counts as a type here */
    }
}

static int guard_specificity(const Reduction *r) {
    int sum = r->where != NULL;
    for (int i = 0; i < r->nparams; i++) sum += 2 * guard_rank(r->params[i].type);
    return sum;
}

static bool goes_before(const Reduction *later, const Reduction *earlier) {
    int guards = guard_specificity(later) - guard_specificity(earlier);
    return guards ? guards > 0 : size_of(later->pattern) >= size_of(earlier->pattern);
}

void qrewrite_order(Reduction **rules, int n) {
    for (int i = 1; i < n; i++) {
        Reduction *r = rules[i];
        int k = 0;
        while (k < i && !goes_before(r, rules[k])) k++;
        memmove(&rules[k + 1], &rules[k], (size_t)(i - k) * sizeof *rules);
        rules[k] = r;
    }
}

static bool may_match(const Reduction *r, const Node *node) { /* quick test before matching */
    bool statement = node->kind == N_ASSIGN || node->kind == N_EXPR;
    if (!statement && r->replacement->kind == N_ASSIGN) return false;
    const Node *root = node->kind == N_EXPR ? node->u.expr : node;
    return r->pattern->kind == root->kind && r->nparams <= MAX_VARIABLES;
}

bool qrewrite_find(Unit *u, Reduction *const *rules, int n, const Node *node, const RewriteFrame *active,
                   Rewrite *out) {
    const Node *root = node->kind == N_EXPR ? node->u.expr : node;
    int depth = active ? active->depth + 1 : 1, size = 0;
    if (depth > MAX_NESTED) return false;
    for (int i = 0; i < n; i++) {
        if (!may_match(rules[i], node)) continue;
        if (!size) size = size_of(root);
        if (!allowed(rules[i], size, active)) continue;
        Matcher m = {.u = u, .rule = rules[i], .pos = root->pos};
        if (!match(&m, rules[i]->pattern, root) || !construct(&m, node, out)) continue;
        out->frame = (RewriteFrame){active, rules[i], size, depth};
        return true;
    }
    return false;
}
