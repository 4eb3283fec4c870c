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

#include <math.h>
#include <string.h>

enum { MAX_LEAVES = 32, MAX_CASTS = 16 };

/* How statements of a group are linked: by a later one that reads both, by an array that both read, or by the value of
 * one that the other reads. */
typedef enum { LINK_LATER, LINK_ARRAY, LINK_RESULT } Link;

typedef struct {
    Coder *e;
    Node *leaves[MAX_LEAVES];
    Node *casts[MAX_CASTS];
    uint8_t cast_dtypes[MAX_CASTS];
    int n, nops, ncalls, ncasts, nlong; /* nlong: functions and powers that take long */
    bool ok, choice, parts, masked;     /* masked: contains x[mask] */
    uint8_t rows;                       /* number of reductions along `axis` */
    int axis;
    FuseItem items[FUSE_ITEMS]; /* the statements that are gathered into one region, before this one */
    Node *sources[FUSE_ITEMS];  /* in which the variables of each are mentioned */
    int of[FUSE_ITEMS];         /* the number of the statement to which it belongs */
    int nitems, nstatements;
    bool changes;                  /* one of them changes an array */
    FuseGuard guards[FUSE_GUARDS]; /* of the functions whose calls are parts of them */
    int nguards;
    FuseShift shifts[FUSE_SHIFTS]; /* without registers */
    int nshifts;
    bool no_shifts;    /* a leaf with circshift is evaluated before */
    uint32_t beside;   /* as in FuseRegion */
    bool grouped;      /* statements are being gathered */
    bool guarded;      /* contains leaves that the operators may not evaluate */
    Link link, needed; /* how each of them must be linked to earlier ones, and the weakest link that there is */
    uint32_t uses;     /* a bit for each item that the expression reads */
    /* the registers from which leaves of statements are computed: their values must not have operators of their own,
     * because leaves may be evaluated twice */
    uint8_t inputs[MAX_LEAVES];
    int ninputs;
} Gather;

static int item_number(const Gather *g, const Node *n) { return qfuse_item_of(g->items, g->nitems, n); }

static int builtin_slot(const Node *callee) {
    const Sym *s = qast_symbol(callee);
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

/* Returns the part of an array that a leaf reads without a copy: x[1..3], or the operand of reshape(x[1..3], …) and
 * squeeze(x[1..3]), which are views of it if only extents of 1 change; NULL: none. */
static Node *part_in(Coder *e, Node *n) {
    if (n->kind != N_CALL) return qcode_is_part(n) ? n : NULL;
    ArgList args = n->u.call.args;
    int slot = builtin_slot(n->u.call.callee);
    if (slot < 0 || !positional(args) || !args.n || !qcode_is_part(args.at[0].value)) return NULL;
    bool views = slot == e->host->builtin(e->host->ud, "reshape") || slot == e->host->builtin(e->host->ud, "squeeze");
    return views ? args.at[0].value : NULL;
}

static int emit_leaf(Coder *e, Node *n) {
    Node *part = part_in(e, n);
    return !part ? qcode_any(e, n) : part == n ? qcode_part(e, n) : qcode_part_of_call(e, n, part);
}

/* Returns the dimension of a reduction along a known one: sum(x, 1), min(x, [], 1); -1: n is something else. */
static int axis_of(Coder *e, const Node *n) {
    double axis;
    if (n->kind != N_CALL || call_kind(e, n) != FUSIBLE_ALONG) return -1;
    ArgList args = n->u.call.args;
    const Node *between = args.n == 3 ? args.at[1].value : NULL;
    if (between && (between->kind != N_MATRIX || between->u.items.n)) return -1;
    return qfold_number(args.at[args.n - 1].value, &axis) && axis >= 0 && axis < QS_MAX_RANK ? (int)axis : -1;
}

static void check_pure(void *ud, Node **child);

Node *qcode_transposed(Coder *e, const Node *product, const Node *n) {
    if (product->kind != N_BINARY || product->op != OP_MUL || n->kind != N_CALL) return NULL;
    Node *other = product->u.bin.a == n ? product->u.bin.b : product->u.bin.a;
    ArgList args = n->u.call.args;
    int slot = builtin_slot(n->u.call.callee);
    double number;
    Gather g = {.e = e, .ok = true};
    if (slot < 0 || args.n != 1 || !positional(args) || args.at[0].value->kind != N_IDENT) return NULL;
    if (e->host->builtin(e->host->ud, "transpose") != slot || qfold_number(other, &number)) return NULL;
    return check_pure(&g, &other), g.ok ? args.at[0].value : NULL;
}

static bool has_transposed(Coder *e, const Node *n) {
    return n->kind == N_BINARY && (qcode_transposed(e, n, n->u.bin.a) || qcode_transposed(e, n, n->u.bin.b));
}

/* Adds a variable that is part of a leaf to the inputs of the statements. */
static void add_input(Gather *g, const Node *n) {
    int slot = builtin_slot(n), reg = n->u.ident.sym ? qcode_register(g->e, n->u.ident.sym) : -1;
    if (reg < 0 && slot >= 0 && g->e->host->pure(g->e->host->ud, slot, true)) return;
    for (int i = 0; i < g->ninputs; i++)
        if (g->inputs[i] == reg) return;
    if (reg < 0 || g->ninputs == MAX_LEAVES) g->ok = false;
    else g->inputs[g->ninputs++] = (uint8_t)reg;
}

static void check_pure(void *ud, Node **child) {
    Gather *g = ud;
    Node *n = *child;
    if (g->grouped && n->kind == N_IDENT) add_input(g, n);
    if (n->kind == N_CALL) {
        int slot = builtin_slot(n->u.call.callee);
        bool again = g->grouped || g->choice; /* the code without a kernel evaluates it once more */
        if (slot < 0 || !g->e->host->pure(g->e->host->ud, slot, again)) g->ok = false;
    }
    if (item_number(g, n) >= 0 || (g->grouped && n->kind == N_FIELD)) g->ok = false;
    if (n->kind == N_LAMBDA || n->kind == N_META) g->ok = false;
    else qast_children(n, check_pure, g);
}

static bool fusible_operator(Op op) { return op <= OP_PWPOW && op != OP_ANDAND && op != OP_OROR; }
static bool is_logical(const Node *n) { return n->kind == N_BINARY && (n->op == OP_ANDAND || n->op == OP_OROR); }
static bool fusible_unary(const Node *n) { return n->kind == N_UNARY && (n->op == OP_NEG || n->op == OP_NOT); }

/* Returns whether operators join literals and ranges in n to its value, which have other elements in a conversion to a
 * wide type. */
static bool joins_lists(const Node *n) {
    if (n->kind == N_MATRIX || n->kind == N_RANGE) return true;
    if (n->kind == N_UNARY) return joins_lists(n->u.bin.a);
    if (n->kind == N_BINARY) return joins_lists(n->u.bin.a) || joins_lists(n->u.bin.b);
    return n->kind == N_TERNARY && (joins_lists(n->u.ternary.then) || joins_lists(n->u.ternary.other));
}

/* Returns the element type of a conversion that can be fused; -1: n is something else. */
static int cast_dtype(Coder *e, const Node *n) {
    const Type *t;
    if (n->kind != N_CALL || !qcode_conversion(e, n, &t) || t->dtype == QS_B1 || t->dtype >= QS_C64) return -1;
    return qcode_is_wide(t) && joins_lists(n->u.call.args.at[0].value) ? -1 : (int)t->dtype;
}

static bool has_value(const Coder *e, const Node *n) {
    if (n->u.ident.sym && n->u.ident.sym->kind == SYM_TEMP) return true;
    int r = n->u.ident.sym ? qcode_register(e, n->u.ident.sym) : -1;
    return r >= 0 && (size_t)r < e->nset && e->set[r];
}

static bool is_plain(Coder *e, const Node *n, bool slices);

/* x[i,:], x[a..b,j] */
static bool is_plain_slice(Coder *e, const Node *n) {
    bool slice = false, plain = n->u.index.base->kind == N_IDENT && has_value(e, n->u.index.base);
    for (int i = 0; i < n->u.index.at.n && plain; i++) {
        const Node *at = n->u.index.at.at[i];
        const Node *ends[3] = {at, NULL, NULL};
        if (at->kind == N_RANGE) ends[0] = at->u.range.lo, ends[1] = at->u.range.step, ends[2] = at->u.range.hi;
        slice |= at->kind == N_RANGE || at->kind == N_COLON;
        for (int k = 0; k < 3 && at->kind != N_COLON; k++) plain = plain && (!ends[k] || is_plain(e, ends[k], false));
    }
    return slice && plain;
}

/* Returns whether an expression can be evaluated even if its value is not needed: it consists of numbers, variables
 * that certainly have a value, and fusible operations on them.  slices: and of slices, which may cause an error. */
static bool is_plain(Coder *e, const Node *n, bool slices) {
    switch ((NodeKind)n->kind) {
    case N_NUM: return !n->u.num.int_value;
    case N_IDENT: return has_value(e, n);
    case N_INDEX: return slices && is_plain_slice(e, n);
    case N_UNARY: return fusible_unary(n) && is_plain(e, n->u.bin.a, slices);
    case N_BINARY:
        if (!fusible_operator((Op)n->op) && !is_logical(n)) return false;
        return is_plain(e, n->u.bin.a, slices) && is_plain(e, n->u.bin.b, slices);
    case N_TERNARY:
        return is_plain(e, n->u.ternary.cond, slices) && is_plain(e, n->u.ternary.then, slices) &&
               is_plain(e, n->u.ternary.other, slices);
    case N_CALL: break;
    default: return false;
    }
    if (call_kind(e, n) != FUSIBLE_EACH && cast_dtype(e, n) < 0) return false;
    for (int i = 0; i < n->u.call.args.n; i++)
        if (!is_plain(e, n->u.call.args.at[i].value, slices)) return false;
    return true;
}

static bool is_inner(const Node *n) {
    return n->kind == N_CALL || n->kind == N_BINARY || n->kind == N_UNARY || n->kind == N_TERNARY;
}

/* Returns whether the leaves of an expression may be evaluated although its value may not be needed.  In statements, an
 * error or a warning of a slice only ends the evaluation (Ctx.retries). */
static bool may_evaluate(Gather *g, const Node *n) {
    bool plain = is_plain(g->e, n, false);
    g->guarded = g->guarded || !plain;
    return plain || (g->grouped && is_plain(g->e, n, true));
}

/* Counts a power as a function; with a small integer as exponent, it consists of a few products. */
static void add_power(Gather *g, const Node *n) {
    enum { FEW = 16 };
    double exponent;
    if (n->op != OP_PWPOW) return;
    bool few = qfold_number(n->u.bin.b, &exponent) && fabs(exponent) <= FEW && exponent == (int)exponent;
    g->ncalls++, g->nlong += !few;
}

/* Returns whether n is circshift(variable, shift [, dim]).  Sets *dim to the dimension; -1: not given. */
static bool is_shift(Coder *e, const Node *n, int8_t *dim) {
    double axis;
    int slot = n->kind == N_CALL ? builtin_slot(n->u.call.callee) : -1;
    if (slot < 0 || !positional(n->u.call.args) || e->host->builtin(e->host->ud, "circshift") != slot) return false;
    ArgList args = n->u.call.args;
    *dim = -1;
    if (args.n < 2 || args.n > 3 || args.at[0].value->kind != N_IDENT) return false;
    if (args.n == 2) return true;
    if (!qfold_number(args.at[2].value, &axis) || !(axis >= 0 && axis < QS_MAX_RANK)) return false;
    return *dim = (int8_t)axis, true;
}

/* Returns whether n is an operation of the expression, and counts it.  *nargs: if it is a call, how many of its
 * arguments are operands. */
static bool note_operation(Gather *g, Node *n, int *nargs) {
    int cast, axis;
    *nargs = 1;
    if (n->kind == N_BINARY && fusible_operator((Op)n->op) && !has_transposed(g->e, n)) return add_power(g, n), true;
    /* The second operand of a logical operator is not evaluated if the first one is a number that decides. */
    if (is_logical(n) && may_evaluate(g, n->u.bin.b) && (is_plain(g->e, n->u.bin.a, false) || is_inner(n->u.bin.a)))
        return true;
    if (fusible_unary(n)) return true;
    if ((cast = cast_dtype(g->e, n)) >= 0 && g->ncasts < MAX_CASTS) {
        g->casts[g->ncasts] = n, g->cast_dtypes[g->ncasts++] = (uint8_t)cast;
        return true;
    }
    if (n->kind == N_CALL && call_kind(g->e, n) == FUSIBLE_EACH) {
        *nargs = n->u.call.args.n;
        return g->ncalls++, g->nlong++, true;
    }
    if ((axis = axis_of(g->e, n)) >= 0 && (!g->rows || axis == g->axis)) {
        g->rows = (uint8_t)(g->rows + (g->rows < UINT8_MAX)), g->axis = axis;
        return true;
    }
    if (n->kind != N_TERNARY || !may_evaluate(g, n->u.ternary.then) || !may_evaluate(g, n->u.ternary.other))
        return false;
    return g->choice = true;
}

static void append_leaf(Gather *g, Node *n) {
    if (n->kind != N_IDENT || !g->grouped) check_pure(g, &n);
    FuseShift shift = {.leaf = (uint8_t)g->n};
    if (n->kind == N_STR || n->kind == N_CELL || g->n == MAX_LEAVES) {
        g->ok = false;
        return;
    }
    if (!g->no_shifts && g->nshifts < FUSE_SHIFTS && is_shift(g->e, n, &shift.dim)) g->shifts[g->nshifts++] = shift;
    g->leaves[g->n++] = n, g->parts = g->parts || part_in(g->e, n);
}

static void collect_leaves(Gather *g, Node *n) {
    double folded;
    int nargs, item = item_number(g, n);
    if (qfold_number(n, &folded) || (n->kind == N_NUM && !n->u.num.int_value)) return;
    if (item >= 0) {
        g->uses |= 1u << item;
        return;
    }
    if (g->e->host->nrules && qcode_could_rewrite(g->e, n)) {
        g->ok = false;
        return;
    }
    if (!note_operation(g, n, &nargs)) {
        append_leaf(g, n);
        return;
    }
    g->nops++;
    if (n->kind == N_CALL) {
        for (int i = 0; i < nargs; i++) collect_leaves(g, n->u.call.args.at[i].value);
    } else if (n->kind == N_TERNARY) {
        collect_leaves(g, n->u.ternary.cond);
        collect_leaves(g, n->u.ternary.then);
        collect_leaves(g, n->u.ternary.other);
    } else {
        collect_leaves(g, n->u.bin.a);
        if (n->kind == N_BINARY) collect_leaves(g, n->u.bin.b);
    }
}

static FuseShift *find_shift(const FuseRegion *r, int leaf) {
    for (int i = 0; i < r->nshifts; i++)
        if (r->shifts[i].leaf == leaf) return &r->shifts[i];
    return NULL;
}

/* Returns the number of the leaf whose value is that of n, which a register has; -1: there is none. */
static int find_leaf(const FuseRegion *r, const Node *n) {
    for (int i = 0; i < r->nleaves; i++)
        if (r->leaves[i] == n) return find_shift(r, i) ? -1 : i;
    return -1;
}

int qcode_leaf(const Coder *e, const Node *n) {
    int leaf = e->fuse ? find_leaf(e->fuse, n) : -1;
    return leaf < 0 ? -1 : e->fuse->regs[leaf];
}

/* Returns whether the first operation in the order of evaluation is a call or a ?: of a leaf. */
static bool call_first(const FuseRegion *r, const Node *n) {
    double folded;
    if (find_leaf(r, n) >= 0 || qfold_number(n, &folded)) return false;
    if (n->kind == N_CALL) {
        for (int i = 0; i < r->nshifts; i++)
            if (r->leaves[r->shifts[i].leaf] == n) return true;
        for (int i = 0; i < n->u.call.args.n; i++) {
            const Node *arg = n->u.call.args.at[i].value;
            if (is_inner(arg)) return call_first(r, arg);
        }
        return true;
    }
    if (n->kind == N_TERNARY) {
        const Node *c = n->u.ternary.cond;
        return find_leaf(r, c) >= 0 || call_first(r, c);
    }
    if (n->kind == N_UNARY) return call_first(r, n->u.bin.a);
    if (n->kind != N_BINARY) return false;
    const Node *a = n->u.bin.a, *b = n->u.bin.b;
    return call_first(r, is_inner(a) ? a : b);
}

static void *copy_array(Coder *e, const void *from, int n, size_t size) {
    void *copy = qcode_alloc(e, qmem_size((size_t)n, size, 1));
    return memcpy(copy, from, (size_t)n * size);
}

static bool is_needed(const Gather *g, int item);

/* Adds a region with what was gathered for it, and the fields of `like`.  Its root may be the last item, which then
 * follows the other ones. */
static FuseRegion *add_region(const Gather *g, FuseRegion like) {
    Coder *e = g->e;
    Chunk *c = e->chunk;
    c->fuses = qcode_grow(e, (void *)c->fuses, c->nfuses, &c->cap_fuses, sizeof *c->fuses);
    FuseRegion *r = c->fuses[c->nfuses] = qcode_alloc(e, sizeof *r);
    *r = like;
    r->number = c->nfuses++;
    r->nops = g->nops, r->ncalls = g->ncalls, r->choice = g->choice, r->beside = g->beside;
    r->rows = g->rows, r->axis = g->axis, r->changes = g->changes;
    r->nleaves = g->n, r->leaves = copy_array(e, g->leaves, g->n, sizeof *r->leaves);
    r->regs = qcode_alloc(e, (size_t)g->n + 1);
    r->nshifts = g->nshifts, r->shifts = copy_array(e, g->shifts, g->nshifts, sizeof *r->shifts);
    r->ncasts = g->ncasts, r->casts = copy_array(e, g->casts, g->ncasts, sizeof *r->casts);
    r->cast_dtypes = copy_array(e, g->cast_dtypes, g->ncasts, sizeof *r->cast_dtypes);
    if (!g->nitems && !g->nguards) return r;
    r->items = copy_array(e, g->items, g->nitems, sizeof *r->items);
    for (int i = 0; i < r->nitems; i++) r->items[i].stored = is_needed(g, i);
    r->nguards = g->nguards, r->guards = copy_array(e, g->guards, g->nguards, sizeof *r->guards);
    if (g->grouped) r->ninputs = g->ninputs, r->inputs = copy_array(e, g->inputs, g->ninputs, 1);
    return r;
}

/* Evaluates the variable or the part of it that the region assigns to. */
static void emit_target(Coder *e, FuseRegion *r, Node *target) {
    bool part = target->kind == N_INDEX;
    r->base = (uint8_t)qcode_any(e, part ? target->u.index.base : target);
    if (!part) return;
    r->at = (uint8_t)qcode_indices(e, target->u.index.at), r->nat = target->u.index.at.n;
    r->index = qcode_index_word(e, target);
}

/* Begins the code of a region: evaluates its leaves, and the target that it assigns to; NULL: there is none.  An update
 * evaluates the target first, which is leaf 0. */
static void begin_region(Coder *e, FuseRegion *r, Node *target) {
    if (r->updates && target) emit_target(e, r, target), r->regs[0] = r->base;
    for (int i = r->updates && target; i < r->nleaves; i++) {
        Node *leaf = r->leaves[i];
        FuseShift *shift = find_shift(r, i);
        if (shift) {
            r->regs[i] = (uint8_t)qcode_any(e, leaf->u.call.args.at[0].value);
            shift->reg = (uint8_t)qcode_any(e, leaf->u.call.args.at[1].value);
            continue;
        }
        r->regs[i] = (uint8_t)(qcode_leaf(e, leaf) < 0 ? emit_leaf(e, leaf) : qcode_any(e, leaf));
    }
    if (!r->updates && target) emit_target(e, r, target);
    r->start = qcode_pc(e);
}

/* Emits a region.  part: the elements that the value is assigned to; NULL: it is a value in register dst.  Inside of a
 * region with reductions along a dimension, or of an update of an array, emits a region that runs where the whole one
 * cannot. */
static bool fuse_whole(Coder *e, Node *n, int dst, Node *part) {
    const FuseRegion *outer = e->fuse;
    if (outer && (e->within || (!outer->rows && !outer->updates))) return false;
    bool reduction = !outer && n->kind == N_CALL && call_kind(e, n) == FUSIBLE_REDUCTION;
    Node *root = reduction ? n->u.call.args.at[0].value : n;
    Gather g = {.e = e, .ok = true, .no_shifts = reduction || outer};
    collect_leaves(&g, root);
    if (g.nshifts && g.rows) g = (Gather){.e = e, .ok = true, .no_shifts = true}, collect_leaves(&g, root);
    for (int i = 0; part && i < part->u.index.at.n; i++) check_pure(&g, &part->u.index.at.at[i]);
    /* fusion does not speed up a single operator on whole arrays */
    bool alone = g.nops == 1 && !reduction && !g.ncalls && ((!g.parts && !g.nshifts) || outer) && !part;
    if ((part || outer) && (reduction || g.rows)) return false;
    if (!g.ok || !g.n || !g.nops || alone || (g.rows && (reduction || g.nops == 1))) return false;
    for (int i = 0; outer && i < g.n; i++)
        if (qcode_leaf(e, g.leaves[i]) < 0) return false;

    int mark = e->top;
    FuseRegion *r = add_region(&g, (FuseRegion){.root = root, .dst = (uint8_t)dst});
    if (reduction) r->reduction = n->u.call.callee->u.ident.name->s;
    begin_region(e, r, part);
    if (call_first(r, root) || (reduction && g.nops == 0)) qcode_opx(e, BC_FUSE, 0, r->number);
    if (outer) e->within = true;
    else e->fuse = r;
    qcode_to(e, n, dst);
    e->fuse = outer, e->within = false;
    /* abs(x[1..3]) of unsigned integers is its operand */
    if (g.parts && !outer && !reduction && root->kind != N_BINARY) qcode_op(e, BC_SETTLE, dst, 0, 0);
    r->end = qcode_pc(e);
    if (part) qcode_set_element(e, part, r->base, r->at, dst), r->stored = qcode_pc(e);
    e->top = mark;
    return true;
}

bool qcode_fused_into(Coder *e, Node *part, Node *value) {
    if (!qcode_is_part(part) || !is_inner(value) || e->fuse || !has_value(e, part->u.index.base)) return false;
    int mark = e->top;
    bool fused = fuse_whole(e, value, qcode_temps(e, 1), part);
    e->top = mark;
    return fused;
}

/* -- masked elements ----------------------------------------------------------------------------------------------- */
/* Returns whether two expressions of numbers, variables and elementwise operations have the same value. */
static bool is_same_tree(Coder *e, const Node *a, const Node *b) {
    if (a->kind != b->kind || a->op != b->op) return false;
    switch ((NodeKind)a->kind) {
    case N_NUM:
        return a->u.num.value == b->u.num.value && a->u.num.imaginary == b->u.num.imaginary &&
               a->u.num.int_value == b->u.num.int_value;
    case N_IDENT: return a->u.ident.sym && a->u.ident.sym == b->u.ident.sym;
    case N_UNARY: return is_same_tree(e, a->u.bin.a, b->u.bin.a);
    case N_BINARY: return is_same_tree(e, a->u.bin.a, b->u.bin.a) && is_same_tree(e, a->u.bin.b, b->u.bin.b);
    case N_CALL: break;
    default: return false;
    }
    ArgList x = a->u.call.args, y = b->u.call.args;
    bool same = call_kind(e, a) == FUSIBLE_EACH && call_kind(e, b) == FUSIBLE_EACH && x.n == y.n &&
                builtin_slot(a->u.call.callee) == builtin_slot(b->u.call.callee);
    for (int i = 0; same && i < x.n; i++) same = is_same_tree(e, x.at[i].value, y.at[i].value);
    return same;
}

static bool add_leaf(Gather *g, Node *n) {
    if (n->kind != N_IDENT || g->n == MAX_LEAVES || !has_value(g->e, n)) return false;
    return g->leaves[g->n++] = n, true;
}

/* Collects the leaves of an expression over whole arrays; false: it contains more than variables and operations. */
static bool collect_whole(Gather *g, Node *n) {
    int first = g->n;
    collect_leaves(g, n);
    bool fits = g->ok && !g->rows && (g->n > first || g->uses);
    for (int i = first; fits && i < g->n; i++) fits = g->leaves[i]->kind == N_IDENT && has_value(g->e, g->leaves[i]);
    return fits;
}

/* Collects the leaves of a value that consists of numbers, x[mask] and (expression)[mask]; false: it contains something
 * else. */
static bool collect_masked(Gather *g, Node *n, const Node *mask) {
    double folded;
    if (qfold_number(n, &folded) || (n->kind == N_NUM && !n->u.num.int_value)) return true;
    switch ((NodeKind)n->kind) {
    case N_IDENT: g->beside |= 1u << g->n; return item_number(g, n) < 0 && add_leaf(g, n);
    case N_INDEX: {
        NodeList at = n->u.index.at;
        g->masked = true;
        return at.n == 1 && is_same_tree(g->e, at.at[0], mask) && collect_whole(g, n->u.index.base);
    }
    case N_UNARY: g->nops++; return n->op == OP_NEG && collect_masked(g, n->u.bin.a, mask);
    case N_BINARY:
        g->nops++, add_power(g, n);
        return fusible_operator((Op)n->op) && collect_masked(g, n->u.bin.a, mask) &&
               collect_masked(g, n->u.bin.b, mask);
    case N_CALL: break;
    default: return false;
    }
    g->nops++, g->ncalls++, g->nlong++;
    bool fits = call_kind(g->e, n) == FUSIBLE_EACH;
    for (int i = 0; fits && i < n->u.call.args.n; i++) fits = collect_masked(g, n->u.call.args.at[i].value, mask);
    return fits;
}

static bool may_be_mask(const Node *n) {
    return n->kind == N_IDENT || n->kind == N_BINARY || (n->kind == N_UNARY && n->op == OP_NOT);
}

/* Adds a region whose leaves are variables, and the FUSE at which it begins. */
static FuseRegion *begin_at_once(const Gather *g, FuseRegion like) {
    FuseRegion *r = add_region(g, like);
    begin_region(g->e, r, NULL);
    qcode_opx(g->e, BC_FUSE, 0, r->number);
    return r;
}

/* Begins y[mask] = value, or y[mask] op= value. */
static FuseRegion *begin_masked(Coder *e, Node *target, int op, Node *value) {
    bool updates = op != OP__COUNT;
    Gather g = {.e = e, .ok = true, .nops = 1 + updates};
    if (target->kind != N_INDEX || target->u.index.at.n != 1 || e->fuse || e->host->nrules) return NULL;
    Node *mask = target->u.index.at.at[0];
    if (!may_be_mask(mask) || !add_leaf(&g, target->u.index.base)) return NULL;
    int nops = g.nops;
    if (!collect_whole(&g, mask) || !collect_masked(&g, value, mask)) return NULL;
    /* y[m] = v needs no kernel */
    if (g.nops == nops && !updates && !g.masked) return NULL;
    return begin_at_once(&g, (FuseRegion){.root = value, .mask = mask, .updates = updates, .op = (uint8_t)op});
}

FuseRegion *qcode_begin_update(Coder *e, Node *target, int op, Node *value) {
    bool part = qcode_is_part(target);
    FuseRegion *r = begin_masked(e, target, op, value);
    if (r || e->fuse || e->host->nrules || !fusible_operator((Op)op)) return r;
    if ((!part && target->kind != N_IDENT) || !has_value(e, part ? target->u.index.base : target)) return NULL;
    Node *root = qcode_alloc(e, sizeof *root);
    *root = (Node){.kind = N_BINARY, .op = (uint8_t)op, .pos = value->pos, .u.bin = {target, value}};
    Gather g = {.e = e, .ok = true};
    collect_leaves(&g, root);
    if (!g.ok || g.rows || (g.nops == 1 && !g.parts && !g.nshifts)) return NULL;
    r = add_region(&g, (FuseRegion){.root = root, .updates = true, .dst = (uint8_t)qcode_temps(e, 1)});
    begin_region(e, r, target);
    if (g.nops == 1 || call_first(r, value)) qcode_opx(e, BC_FUSE, 0, r->number);
    return e->fuse = r, r;
}

void qcode_end_update(Coder *e, FuseRegion *r, Node *target) {
    int after = 0;
    if (!r) return;
    e->fuse = NULL;
    if (r->nat) qcode_jump(e, BC_JMP, 0, 0, 0, &after);
    r->end = qcode_pc(e);
    if (r->nat) qcode_set_element(e, target, r->base, r->at, r->dst), qcode_here(e, after);
    if (!r->mask) r->stored = qcode_pc(e);
}

/* -- reductions of masked elements --------------------------------------------------------------------------------- */
/* Returns the first index of elements in n that may be a mask; NULL: there is none. */
static Node *find_mask(Coder *e, Node *n) {
    Node *mask = NULL;
    switch ((NodeKind)n->kind) {
    case N_INDEX: return n->u.index.at.n == 1 && may_be_mask(n->u.index.at.at[0]) ? n->u.index.at.at[0] : NULL;
    case N_UNARY: return find_mask(e, n->u.bin.a);
    case N_BINARY: return (mask = find_mask(e, n->u.bin.a)) ? mask : find_mask(e, n->u.bin.b);
    case N_CALL: break;
    default: return NULL;
    }
    if (call_kind(e, n) != FUSIBLE_EACH) return NULL;
    for (int i = 0; i < n->u.call.args.n && !mask; i++) mask = find_mask(e, n->u.call.args.at[i].value);
    return mask;
}

/* Begins the code of sum(x[mask]), numel(x[mask]) and similar as a region that runs as one kernel if x and mask suit.
 * Returns NULL if n is something else. */
static FuseRegion *begin_masked_reduction(Coder *e, Node *n, int dst) {
    Gather g = {.e = e, .ok = true, .nops = 1};
    if (n->kind != N_CALL || n->u.call.args.n != 1 || !positional(n->u.call.args) || e->host->nrules) return NULL;
    Node *root = n->u.call.args.at[0].value, *mask = find_mask(e, root);
    const Node *callee = n->u.call.callee;
    int slot = builtin_slot(callee);
    if (!mask || slot < 0) return NULL;
    bool counts = e->host->builtin(e->host->ud, "numel") == slot;
    if (!counts && call_kind(e, n) != FUSIBLE_REDUCTION) return NULL;
    if (!collect_whole(&g, mask) || !collect_masked(&g, root, mask)) return NULL;
    const char *name = callee->u.ident.name->s;
    return begin_at_once(&g, (FuseRegion){.root = root, .mask = mask, .reduction = name, .dst = (uint8_t)dst});
}

static FuseRegion *begin_called(Coder *e, Node *n, int dst);

bool qcode_fused(Coder *e, Node *n, int dst) {
    FuseRegion *r = NULL;
    if (!is_inner(n)) return false;
    if (!e->fuse && n != e->reduction && !(r = begin_masked_reduction(e, n, dst))) r = begin_called(e, n, dst);
    if (!r) return fuse_whole(e, n, dst, NULL);
    const Node *outer = e->reduction;
    e->reduction = n;
    qcode_to(e, n, dst);
    e->reduction = outer;
    return r->end = qcode_pc(e), true;
}

/* -- statements ---------------------------------------------------------------------------------------------------- */
/* Consecutive statements over the same arrays run as one kernel, which stores only the values that are read later:
 *
 *     d = x - y                        GROUP, the leaves x and y, FUSE, the code behind the last statement;
 *     s = sqrt(d.^2 + 1)               then, for arrays that do not suit, the statements as usual
 *
 * The leaves of all statements are evaluated before the first one, and again if the kernel is declined, so their
 * evaluation must have no effects.  An error in it is discarded, and so is a warning; the statements report theirs in
 * order. */

static void count_mention(void *ud, Node **child) {
    Coder *e = ud;
    const Node *n = *child;
    const Func *inner = n->kind == N_LAMBDA ? n->u.lambda.func : n->kind == N_FUNC ? n->u.func : NULL;
    const Sym *s = qast_symbol(n);
    if (s && s->kind == SYM_LOCAL) e->mentions[s->index]++;
    for (int i = 0; inner && i < inner->ncaptures; i++)
        if (inner->captures[i].outer->kind == SYM_LOCAL) e->mentions[inner->captures[i].outer->index] += 2;
    qast_children(*child, count_mention, e);
}

static void count_mentions(Coder *e) {
    if (e->mentions) return;
    Func *f = e->func;
    e->mentions = qcode_alloc(e, qmem_size((size_t)f->nlocals + 1, sizeof *e->mentions, 0));
    memset(e->mentions, 0, ((size_t)f->nlocals + 1) * sizeof *e->mentions);
    for (int i = 0; i < f->body.n; i++) count_mention(e, &f->body.at[i]);
    if (f->expr) count_mention(e, &f->expr);
    for (int i = 0; i < f->nouts; i++)
        if (f->outs[i].sym && f->outs[i].sym->kind == SYM_LOCAL) e->mentions[f->outs[i].sym->index]++;
}

typedef struct {
    const Sym *sym;
    uint32_t n; /* how often the variable is mentioned */
} Mentions;

static void count_in(void *ud, Node **child) {
    Mentions *m = ud;
    if (qast_is_name(*child, m->sym)) m->n++;
    qast_children(*child, count_in, m);
}

/* Returns how often the expression reads the variable. */
static uint32_t reads_of(Node *n, const Sym *s) {
    Mentions m = {.sym = s};
    count_in(&m, &n);
    return m.n;
}

/* Returns the variable whose elements a leaf has: that of x, x[i,:] and transpose(x); NULL: there is none. */
static const Sym *array_of(const Node *n) {
    while (n->kind == N_INDEX || (n->kind == N_CALL && n->u.call.args.n))
        n = n->kind == N_INDEX ? n->u.index.base : n->u.call.args.at[0].value;
    return qast_symbol(n);
}

/* Returns whether items i and k read the same array. */
static bool share_array(const Gather *g, int i, int k) {
    int end_i = i + 1 < g->nitems ? g->items[i + 1].first : g->n, end_k = g->items[k + 1].first;
    for (int a = g->items[i].first; a < end_i; a++)
        for (int b = g->items[k].first; b < end_k; b++)
            if (array_of(g->leaves[a]) && array_of(g->leaves[a]) == array_of(g->leaves[b])) return true;
    return false;
}

/* Returns the items before i to which it is linked, as bits: by its statement, by its operands, and by arrays if these
 * suffice. */
static uint32_t links_of(const Gather *g, int i) {
    uint32_t links = g->items[i].uses;
    for (int k = 0; k < i; k++)
        if (g->of[i] == g->of[k] || (g->link != LINK_RESULT && share_array(g, i, k))) links |= 1u << k;
    return links;
}

/* Returns whether all items are linked, directly or through others. */
static bool are_linked(const Gather *g) {
    uint32_t reached = 1, before = 0, all = (1u << g->nitems) - 1;
    while (g->nitems && reached != before && reached != all) {
        before = reached;
        for (int i = 1; i < g->nitems; i++) {
            uint32_t links = links_of(g, i);
            if (reached >> i & 1) reached |= links;
            else if (reached & links) reached |= 1u << i;
        }
    }
    return !g->nitems || reached == all;
}

/* Collects an expression and adds it to the items.  source: in which its variables are mentioned; NULL: none. */
static bool collect_item(Gather *g, FuseItem item, Node *source) {
    int nops = g->nops, nlong = g->nlong;
    if (g->nitems == FUSE_ITEMS) return false;
    item.first = g->n, g->uses = 0;
    collect_leaves(g, item.root);
    item.stored = true, item.calls = g->nlong > nlong, item.uses = g->uses;
    g->of[g->nitems] = g->nstatements, g->sources[g->nitems] = source, g->items[g->nitems++] = item;
    return g->ok && g->nops > nops;
}

static bool bind_value(void *ud, const Sym *s, Node *value) {
    return collect_item(ud, (FuseItem){.root = value, .sym = s}, NULL);
}

static bool is_assigned(void *ud, const Sym *s) {
    const Gather *g = ud;
    for (int i = 0; i < g->nitems; i++)
        if (g->items[i].sym == s) return true;
    return false;
}

/* Returns the expression without calls of functions of the program, whose arguments become items; NULL: impossible. */
static Node *inline_calls(Gather *g, Node *n) {
    Inliner to = {.e = g->e, .nguards = g->nguards, .ud = g, .bind = bind_value, .is_bound = is_assigned, .ok = true};
    memcpy(to.guards, g->guards, sizeof to.guards);
    n = qcode_inlined(&to, n);
    memcpy(g->guards, to.guards, sizeof to.guards), g->nguards = to.nguards;
    return n;
}

/* Begins the code of an expression, or a reduction of one, that calls functions of the program and reads variables as a
 * region that runs as one kernel if they suit.  Returns NULL if n is something else. */
static FuseRegion *begin_called(Coder *e, Node *n, int dst) {
    Gather g = {.e = e, .ok = true};
    if (e->host->nrules || !qcode_calls_functions(e, n)) return NULL;
    bool reduction = n->kind == N_CALL && call_kind(e, n) == FUSIBLE_REDUCTION;
    Node *root = inline_calls(&g, reduction ? n->u.call.args.at[0].value : n);
    if (!root || !collect_item(&g, (FuseItem){.root = root}, NULL) || (reduction && g.rows)) return NULL;
    for (int i = 0; i < g.n; i++)
        if (g.leaves[i]->kind != N_IDENT || !has_value(e, g.leaves[i])) return NULL;
    const FuseItem *last = &g.items[g.nitems - 1];
    FuseRegion like = {.root = root, .dst = (uint8_t)dst, .first = last->first, .uses = last->uses};
    like.nitems = g.nitems - 1, like.reduction = reduction ? n->u.call.callee->u.ident.name->s : NULL;
    return begin_at_once(&g, like);
}

/* Returns whether the items that were added to those before suit them. */
static bool join_items(Gather *g, const Gather *before) {
    uint32_t links = 0, earlier = (1u << before->nitems) - 1;
    bool linked = !before->nitems, fits = g->n && !(g->rows && (g->changes || g->nshifts));
    for (int i = before->nitems; i < g->nitems; i++) {
        linked = linked || g->items[i].uses & earlier;
        links |= linked ? 0 : links_of(g, i) & earlier;
    }
    Link link = linked ? LINK_RESULT : links ? LINK_ARRAY : LINK_LATER;
    if (link < g->needed) g->needed = link;
    return fits && link >= g->link;
}

/* Adds `sym = root`, whose value belongs into register `home`, to the statements; false: it does not suit them. */
static bool add_item(Gather *g, const Sym *sym, Node *root, int home, Node *source) {
    Gather before = *g;
    for (int i = 0; i < g->nitems; i++)
        if (sym && g->items[i].array && g->items[i].sym == sym) return false;
    FuseItem item = {.root = is_inner(root) ? inline_calls(g, root) : NULL, .sym = sym, .dst = (uint8_t)home};
    if (!item.root || !collect_item(g, item, source) || !join_items(g, &before)) return *g = before, false;
    if (sym) g->e->set[home] = true; /* for is_plain; the caller restores it */
    return true;
}

/* Returns whether the statement is array op= value, array[mask] = value or array[mask] op= value. */
static bool changes_array(Coder *e, const Node *n) {
    const Node *target = qast_target(n), *array = target;
    double number;
    if (!target || n->flag || (n->u.assign.in_place && !fusible_operator((Op)n->op))) return false;
    if (target->kind == N_INDEX) {
        if (target->u.index.at.n != 1 || !may_be_mask(target->u.index.at.at[0])) return false;
        array = target->u.index.base;
    } else if (!n->u.assign.in_place || qfold_number(n->u.assign.value, &number)) return false;
    if (array->kind != N_IDENT || !has_value(e, array)) return false;
    return !qcode_has_type(e, array->u.ident.sym);
}

/* Collects array[mask] op= root. */
static bool collect_change(Gather *g, FuseItem item, Node *source) {
    int nlong = g->nlong, old = item_number(g, item.array);
    if (g->nitems == FUSE_ITEMS) return false;
    item.first = g->n, g->uses = old >= 0 ? 1u << old : 0;
    bool fits = (old >= 0 || add_leaf(g, item.array)) && collect_whole(g, item.mask);
    fits = fits && collect_masked(g, item.root, item.mask);
    item.stored = true, item.calls = g->nlong > nlong, item.uses = g->uses;
    g->of[g->nitems] = g->nstatements, g->sources[g->nitems] = source, g->items[g->nitems++] = item;
    g->nops += 1 + (item.op != OP__COUNT);
    return fits && g->ok;
}

/* Adds a statement that changes the elements of an array. */
static bool add_change(Gather *g, Node *n) {
    Gather before = *g;
    if (!changes_array(g->e, n)) return false;
    Node *array = n->u.assign.targets[0], *root = n->u.assign.value, *mask = NULL;
    if (array->kind == N_INDEX) mask = array->u.index.at.at[0], array = array->u.index.base;
    int old = item_number(g, array);
    if (old >= 0 && !g->items[old].array) return false;
    FuseItem item = {.root = root, .sym = array->u.ident.sym, .array = array, .mask = mask, .op = OP__COUNT};
    for (int i = 0; i < g->nshifts; i++)
        if (array_of(g->leaves[g->shifts[i].leaf]) == item.sym) return false;
    item.dst = (uint8_t)qcode_register(g->e, item.sym);
    if (mask && n->u.assign.in_place) item.op = n->op;
    if (!mask && !(root = inline_calls(g, root))) return *g = before, false;
    item.target = old >= 0 ? g->items[old].target : g->n, g->changes = true;
    if (!mask) {
        item.root = qcode_alloc(g->e, sizeof *root);
        *item.root = (Node){.kind = N_BINARY, .op = n->op, .pos = root->pos, .u.bin = {array, root}};
    }
    bool fits = mask ? collect_change(g, item, n) : collect_item(g, item, n);
    return (fits && join_items(g, &before)) || (*g = before, false);
}

/* Adds the parts of the last statement that suit the others, as values in temporaries. */
static void add_parts(void *ud, Node **child) {
    Gather *g = ud;
    Node *n = *child;
    if (n->kind != N_CALL && n->kind != N_BINARY && n->kind != N_UNARY && n->kind != N_MATRIX) return;
    if (n->kind == N_CALL && !positional(n->u.call.args)) return;
    if (is_inner(n) && add_item(g, NULL, n, g->e->top, n)) qcode_temps(g->e, 1);
    else qast_children(n, add_parts, g);
}

/* Decides which values are needed after the statements.  A local variable that they alone mention, after its
 * assignment, is not; nor is a value that they replace.  Functions may read a global variable. */
static bool is_needed(const Gather *g, int item) {
    const Sym *s = g->items[item].sym;
    uint32_t within = 0;
    bool before = false;
    for (int i = 0; i < g->nitems; i++) {
        if (s && i > item && g->items[i].sym == s) return false;
        within += g->sources[i] ? reads_of(g->sources[i], s) : 0;
    }
    if (s && s->kind == SYM_TEMP) return false;
    if (g->items[item].array) return true;
    for (int i = 0; i < g->n; i++) before = before || reads_of(g->leaves[i], s) > 0;
    return !s || before || s->kind != SYM_LOCAL || within != g->e->mentions[s->index];
}

/* Emits what follows the kernel: the assignment to a part of an array, or the rest of the last statement. */
static void emit_rest(Gather *g, FuseRegion *r, Node *last, Node *part) {
    Coder *e = g->e;
    Node *leaves[FUSE_ITEMS];
    uint8_t regs[FUSE_ITEMS];
    FuseRegion parts = {.leaves = leaves, .regs = regs};
    if (part) {
        qcode_set_element(e, part, r->base, r->at, r->dst);
        r->stored = qcode_pc(e);
    } else if (last) {
        for (int i = 0; i < g->nitems; i++)
            if (!g->items[i].sym) leaves[parts.nleaves] = g->sources[i], regs[parts.nleaves++] = g->items[i].dst;
        e->fuse = &parts;
        qcode_statement(e, last);
        e->fuse = NULL;
    }
}

static int gather_group(Coder *e, Node **statements, int n, Link link);

/* Emits the statements as one region: last is one with parts in the region, part the elements that the last item is
 * assigned to; NULL: there is none. */
static void emit_group(Gather *g, int mark, Node **statements, int n, Node *last, Node *part) {
    Coder *e = g->e;
    int within = 0, after = 0, before = e->top;
    bool *set = qcode_state(e);
    FuseItem *final = &g->items[g->nitems - 1];
    FuseRegion like = {.first = g->n, .nitems = g->nitems, .dst = final->dst}; /* all statements change arrays */
    if (!final->array) like.root = final->root, like.first = final->first, like.uses = final->uses, like.nitems--;
    FuseRegion *r = add_region(g, like);
    qcode_at(e, statements[0]->pos);
    qcode_jump(e, BC_GROUP, 0, (int)(r->number & 0xff), (int)(r->number >> 8), &within);
    uint32_t start = qcode_pc(e); /* the handler of the leaves leads to the statements */
    begin_region(e, r, part);
    qcode_at(e, final->root->pos);
    qcode_opx(e, BC_FUSE, 0, r->number);
    qcode_catch_repeated(e, start, qcode_pc(e), qcode_pc(e), e->top, before);
    if (e->top >= before) qcode_op(e, BC_CLEAR, before, e->top - before + 1, 0);
    qcode_temps(e, 1);
    qcode_jump(e, BC_JMP, 0, 0, 0, &within);
    r->start = r->end = qcode_pc(e);
    uint32_t exits = e->chunk->nexits;
    emit_rest(g, r, last, part);
    e->chunk->nexits = exits; /* this code needs the results of the region */
    qcode_jump(e, BC_JMP, 0, 0, 0, &after);
    qcode_here(e, within);
    e->top = mark;
    qcode_restore(e, set);
    /* where the arrays have different shapes, some of the statements may run together */
    const Node *outer = e->reduction;
    if (n == 1) e->reduction = statements[0]->u.assign.value; /* it is no region again */
    for (int i = 0, k; i < n; i += k ? k : 1)
        if (!(k = g->needed < LINK_RESULT ? gather_group(e, statements + i, n - i, g->needed + 1) : 0))
            qcode_statement(e, statements[i]);
    e->reduction = outer;
    qcode_here(e, after);
}

/* Returns the target of a statement `target = value` that may belong to a group; NULL: something else. */
static Node *assigned_target(const Node *n) {
    Node *target = qast_target(n);
    return target && !n->flag && !n->u.assign.in_place ? target : NULL;
}

/* Returns the variable of a statement `variable = expression` that may belong to a group; NULL: something else. */
static const Sym *assigned_variable(Coder *e, const Node *n) {
    const Node *target = assigned_target(n);
    const Sym *s = qast_symbol(target);
    return s && qcode_register(e, s) >= 0 && !qcode_has_type(e, s) ? s : NULL;
}

/* Returns the elements that a statement assigns to, if the last item of a group may be assigned there. */
static Node *assigned_part(Gather *g, const Node *n) {
    Node *part = assigned_target(n);
    if (!part || !qcode_is_part(part) || !has_value(g->e, part->u.index.base)) return NULL;
    Gather pure = *g;
    check_pure(&pure, &part);
    return pure.ok ? *g = pure, part : NULL;
}

static bool add_statement(Gather *g, Node *n) {
    const Sym *s = assigned_variable(g->e, n);
    return s ? add_item(g, s, n->u.assign.value, qcode_register(g->e, s), n) : add_change(g, n);
}

/* Adds the next statement.  Only a part of it may belong to the group: x[i..j] = value, or y = function(value).  Sets
 * *part or *last to it. */
static void add_last(Gather *g, Node *next, Node **part, Node **last) {
    int items = g->nitems;
    Node *value = next->u.assign.value;
    Link link = g->link;
    *part = *last = NULL;
    if (next->kind != N_ASSIGN) return;
    if (g->link == LINK_LATER) g->link = LINK_ARRAY;
    if ((*part = assigned_part(g, next)) && !g->rows && add_item(g, NULL, value, g->e->top, next)) qcode_temps(g->e, 1);
    else if (*part = NULL, assigned_variable(g->e, next)) add_parts(g, &value);
    if (!*part && g->nitems > items) *last = next;
    g->link = link;
}

/* Takes the statements of one block, in order.  Returns how many of them join a group; 0: the first one joins none. */
static int gather_group(Coder *e, Node **statements, int n, Link link) {
    /* The leaves and the parts of the last statement stay in registers while a leaf is computed: from an array and for
     * each dimension an index, whose range has three numbers.  Elements that are assigned to need as many. */
    enum { PART_REGISTERS = 1 + 4 * QS_MAX_RANK, NEEDED = MAX_LEAVES + FUSE_ITEMS + 2 * PART_REGISTERS };
    enum { AHEAD = 4 }; /* most statements that only a later one may link */
    if (e->fuse || e->host->nrules) return 0;
    bool calls = statements[0]->kind == N_ASSIGN && qcode_calls_functions(e, statements[0]->u.assign.value);
    if (!calls && !assigned_variable(e, statements[0]) && !changes_array(e, statements[0])) return 0;
    if (e->top + NEEDED > MAX_REGISTERS) return 0;
    int mark = e->top, count = 0, linked = 0, top = mark; /* linked: how many of the first statements are */
    bool *set = qcode_state(e), *set_linked = set;
    Gather g = {.e = e, .ok = true, .grouped = true, .link = link, .needed = LINK_RESULT}, before = g;
    Node *last = NULL, *part = NULL;
    while (count < n && count <= linked + AHEAD && add_statement(&g, statements[count])) {
        g.nstatements = ++count;
        if (are_linked(&g)) before = g, linked = count, set_linked = qcode_state(e), top = e->top;
    }
    if ((count || calls) && count < n) add_last(&g, statements[count], &part, &last);
    if (!are_linked(&g)) {
        g = before, count = linked, e->top = top;
        qcode_restore(e, set_linked);
        add_last(&g, statements[count], &part, &last);
    }
    if (part || last) count++;
    qcode_restore(e, set);
    if (g.nitems < 2 && !g.nguards && !g.guarded) return e->top = mark, 0;
    count_mentions(e);
    emit_group(&g, mark, statements, count, last, part);
    return count;
}

int qcode_group(Coder *e, Node **statements, int n) { return gather_group(e, statements, n, LINK_LATER); }
