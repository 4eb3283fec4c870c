/* code_region.c -- finds elementwise expressions and emits them so that the VM may run each as one kernel.
 *
 *     y = a + sin(b[i]).*c        first evaluates the leaves a, b[i], c in order,
 *                                 then the operators as usual; the region records where their code begins and ends
 *
 * Operators on numbers have no extra cost: the VM looks for a region only if an operator gets a large array.  If the
 * first operation is a call, a FUSE instruction starts the region instead.  Leaves are evaluated before the operators,
 * so they must not change arrays: an expression with a call of a function of the program is not a region.
 *
 * Fused and unfused evaluation must give the same results.  tests/scripts/fusion compares the two.  tests/arrays.py
 * runs random programs with every expression compiled, and again with one operator per line, where nothing can be
 * fused, computed in place or reused. */
#include "lang/bytecode/code.h"
#include "lang/syntax/operators.h"

#include <string.h>

enum { MAX_LEAVES = 12 };

typedef struct {
    Coder *e;
    Node *leaves[MAX_LEAVES];
    int n, nops, ncalls;
    bool ok, choice;
} Gather;

static int builtin_slot(const Node *callee) {
    const Sym *s = callee->kind == N_IDENT ? callee->u.ident.sym : NULL;
    return s && s->kind == SYM_GLOBAL ? s->index : -1;
}

static bool positional(ArgList args) {
    for (int i = 0; i < args.n; i++)
        if (args.at[i].name || args.at[i].type) return false;
    return true;
}

/* Returns how a call can be fused; only calls whose name means the built-in can. */
static Fusible call_kind(Coder *e, const Node *n) {
    const Node *callee = n->u.call.callee;
    int slot = builtin_slot(callee);
    if (slot < 0 || !e->host->fusible || !positional(n->u.call.args)) return FUSIBLE_NOT;
    const char *name = callee->u.ident.name->s;
    if (e->host->builtin(e->host->ud, name) != slot) return FUSIBLE_NOT;
    return e->host->fusible(e->host->ud, name, n->u.call.args.n);
}

static void check_pure(void *ud, Node **child) {
    Gather *g = ud;
    Node *n = *child;
    if (n->kind == N_CALL) {
        int slot = builtin_slot(n->u.call.callee);
        if (slot < 0 || !g->e->host->pure(g->e->host->ud, slot)) g->ok = false;
    }
    if (n->kind == N_LAMBDA || n->kind == N_META) g->ok = false;
    else qast_children(n, check_pure, g);
}

static bool fusible_operator(Op op) { return op <= OP_PWPOW && op != OP_ANDAND && op != OP_OROR; }

static bool has_value(const Coder *e, const Node *n) {
    int r = n->u.ident.sym ? qcode_register(e, n->u.ident.sym) : -1;
    return r >= 0 && (size_t)r < e->nset && e->set[r];
}

/* Returns whether an expression can be evaluated even if its value is not needed: it consists of numbers, variables
 * that certainly have a value, and fusible operations on them. */
static bool is_plain(Coder *e, const Node *n) {
    switch ((NodeKind)n->kind) {
    case N_NUM: return !n->u.num.whole;
    case N_IDENT: return has_value(e, n);
    case N_UNARY: return n->op == OP_NEG && is_plain(e, n->u.bin.a);
    case N_BINARY: return fusible_operator((Op)n->op) && is_plain(e, n->u.bin.a) && is_plain(e, n->u.bin.b);
    case N_TERNARY:
        return is_plain(e, n->u.ternary.cond) && is_plain(e, n->u.ternary.then) && is_plain(e, n->u.ternary.other);
    case N_CALL: break;
    default: return false;
    }
    if (call_kind(e, n) != FUSIBLE_EACH) return false;
    for (int i = 0; i < n->u.call.args.n; i++)
        if (!is_plain(e, n->u.call.args.at[i].value)) return false;
    return true;
}

static void collect_leaves(Gather *g, Node *n) {
    double folded;
    if (qfold_number(n, &folded) || (n->kind == N_NUM && !n->u.num.whole)) return;
    if (g->e->host->nrules && qcode_could_rewrite(g->e, n)) {
        g->ok = false;
        return;
    }
    if (n->kind == N_BINARY && fusible_operator((Op)n->op)) {
        g->nops++;
        g->ncalls += n->op == OP_PWPOW;
        collect_leaves(g, n->u.bin.a);
        collect_leaves(g, n->u.bin.b);
    } else if (n->kind == N_UNARY && n->op == OP_NEG) {
        g->nops++;
        collect_leaves(g, n->u.bin.a);
    } else if (n->kind == N_CALL && call_kind(g->e, n) == FUSIBLE_EACH) {
        g->nops++;
        g->ncalls++;
        for (int i = 0; i < n->u.call.args.n; i++) collect_leaves(g, n->u.call.args.at[i].value);
    } else if (n->kind == N_TERNARY && is_plain(g->e, n)) {
        g->nops++;
        g->choice = true;
        collect_leaves(g, n->u.ternary.cond);
        collect_leaves(g, n->u.ternary.then);
        collect_leaves(g, n->u.ternary.other);
    } else {
        check_pure(g, &n);
        if (n->kind == N_STR || n->kind == N_CELL || g->n == MAX_LEAVES) g->ok = false;
        else g->leaves[g->n++] = n;
    }
}

int qcode_leaf(const Coder *e, const Node *n) {
    for (int i = 0; e->fuse && i < e->fuse->nleaves; i++)
        if (e->fuse->leaves[i] == n) return e->fuse->regs[i];
    return -1;
}

static bool is_inner(const Node *n) {
    return n->kind == N_CALL || n->kind == N_BINARY || n->kind == N_UNARY || n->kind == N_TERNARY;
}

/* Returns whether the first operation in the order of evaluation is a call or a ?: of a plain variable. */
static bool call_first(const FuseRegion *r, const Node *n) {
    double folded;
    for (int i = 0; i < r->nleaves; i++)
        if (r->leaves[i] == n) return false;
    if (qfold_number(n, &folded)) return false;
    if (n->kind == N_CALL) {
        for (int i = 0; i < n->u.call.args.n; i++) {
            const Node *arg = n->u.call.args.at[i].value;
            if (is_inner(arg)) return call_first(r, arg);
        }
        return true;
    }
    if (n->kind == N_TERNARY) {
        const Node *c = n->u.ternary.cond;
        return c->kind == N_IDENT || call_first(r, c);
    }
    if (n->kind == N_UNARY) return call_first(r, n->u.bin.a);
    if (n->kind != N_BINARY) return false;
    const Node *a = n->u.bin.a, *b = n->u.bin.b;
    return call_first(r, is_inner(a) ? a : b);
}

static FuseRegion *add_region(Coder *e, const Gather *g) {
    Chunk *c = e->chunk;
    if (c->nfuses == c->cap_fuses) {
        uint32_t cap = c->cap_fuses ? 2 * c->cap_fuses : 4;
        FuseRegion *grown = qcode_alloc(e, qmem_size(cap, sizeof *grown, 0));
        if (c->nfuses) memcpy(grown, c->fuses, c->nfuses * sizeof *grown);
        c->fuses = grown;
        c->cap_fuses = cap;
    }
    FuseRegion *r = &c->fuses[c->nfuses++];
    *r = (FuseRegion){.nleaves = g->n, .nops = g->nops, .ncalls = g->ncalls, .choice = g->choice};
    r->leaves = qcode_alloc(e, qmem_size((size_t)g->n, sizeof *r->leaves, 0));
    r->regs = qcode_alloc(e, (size_t)g->n);
    memcpy(r->leaves, g->leaves, (size_t)g->n * sizeof *r->leaves);
    return r;
}

bool qcode_fused(Coder *e, Node *n, int dst) {
    if (e->fuse || !is_inner(n)) return false;
    bool reduction = n->kind == N_CALL && call_kind(e, n) == FUSIBLE_REDUCTION;
    Node *root = reduction ? n->u.call.args.at[0].value : n;
    Gather g = {.e = e, .ok = true};
    collect_leaves(&g, root);
    bool alone = g.nops == 1 && !reduction && !g.ncalls; /* fusion does not speed up a single operator */
    if (!g.ok || !g.n || !g.nops || alone) return false;

    int mark = e->top;
    /* Leaves may contain regions, so this region is added to the list after them. */
    uint8_t regs[MAX_LEAVES];
    for (int i = 0; i < g.n; i++) regs[i] = (uint8_t)qcode_any(e, g.leaves[i]);
    FuseRegion *list = add_region(e, &g), region = *list;
    uint32_t number = e->chunk->nfuses - 1;
    memcpy(region.regs, regs, (size_t)g.n);
    region.root = root;
    region.reduction = reduction ? n->u.call.callee->u.ident.name->s : NULL;
    region.start = qcode_pc(e);
    region.dst = (uint8_t)dst;
    e->fuse = &region;
    if (call_first(&region, root) || (reduction && g.nops == 0)) qcode_opx(e, BC_FUSE, 0, number);
    qcode_to(e, n, dst);
    e->fuse = NULL;
    region.end = qcode_pc(e);
    e->chunk->fuses[number] = region;
    e->top = mark;
    return true;
}
