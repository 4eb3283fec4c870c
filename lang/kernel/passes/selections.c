/* selections.c -- replaces branches that are cheap by selections.
 *
 *     IF d == 0                        x = d == 0 ? x + 1 : x
 *       x = x + 1                      y = d == 0 ? y : y - 1
 *     ELSE                       =>    D[i,j] = t < D[i,j] ? t : D[i,j]
 *       y = y - 1
 *     END
 *     IF t < D[i,j]
 *       D[i,j] = t
 *     END
 *
 * A processor that predicts a branch wrongly loses about twenty cycles, and LLVM vectorizes few loops with stores in
 * branches.  The pass looks at branches of compiled loops that contain a few cheap operations, variables that are set,
 * and elements that are stored.  An element must be stored in both branches, or loaded before the branch in the same
 * region with no store between, so that the index is inside the array, and the value is the old one.  Several elements
 * must be different ones, because all of them are stored.  No other iteration that runs at the same time accesses an
 * element that a compiled loop stores.
 *
 * The lowering makes a selection of `if v < w, v = e` itself (common_stmt.c), because indices and bounds of loops that
 * depend on v must be known to be extremes before the passes. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"

#include <string.h>

enum { COST = 16 /* most operations of a branch and its ELSE */, SLOTS = 6 /* most variables and elements */ };

/* A branch sets it: a variable of f, or an element. */
typedef struct {
    KRef local, index; /* local 0: an element */
    uint64_t param;
    KRef old; /* the LOAD of the element before the branch; 0: none */
} Slot;

typedef struct {
    const KFunc *f;
    KFunc *to;
    KRef *map; /* by instruction of f: its copy */
    Slot slot[SLOTS];
    int n, cost;
} Selections;

typedef struct {
    KRef at[SLOTS]; /* by slot: its value, an instruction of the copy; 0: it has not changed */
} Values;

static const KIns *get_ins(const Selections *s, KRef r) { return &s->f->ins[r]; }

/* The ELSE of the IF r, or its END if it has none; the END of both. */
static KRef find_else(const Selections *s, KRef r) { return s->f->regions[r].end; }
static KRef find_end(const Selections *s, KRef r) {
    KRef middle = find_else(s, r);
    return get_ins(s, middle)->op == K_ELSE ? s->f->regions[middle].end : middle;
}

static int find_slot(const Selections *s, const KIns *i) {
    for (int k = 0; k < s->n; k++) {
        const Slot *t = &s->slot[k];
        if (i->op == K_STORE ? !t->local && t->param == i->imm && t->index == i->a : t->local == i->a) return k;
    }
    return -1;
}

/* The LOAD of the element that the STORE sets, in the region of the branch and after all stores before it; 0: none. */
static KRef find_old(const Selections *s, KRef branch, const KIns *store) {
    KRef region = s->f->regions[branch].around;
    for (KRef r = branch - 1; r > region; r--) {
        const KIns *i = get_ins(s, r);
        bool writes = kir_ops[i->op].effect == KE_WRITE && i->op != K_SET && i->op != K_LOCAL;
        if (writes || i->op == K_BREAK || i->op == K_CONTINUE || i->op == K_RET) return 0;
        bool same = i->op == K_LOAD && !i->b && i->imm == store->imm && i->a == store->a;
        if (same && s->f->regions[r].around == region) return r;
    }
    return 0;
}

static bool add_slot(Selections *s, KRef branch, const KIns *i) {
    if (find_slot(s, i) >= 0) return true;
    if (s->n == SLOTS) return false;
    bool element = i->op == K_STORE;
    s->slot[s->n++] = (Slot){.local = element ? 0 : i->a,
                             .index = element ? i->a : 0,
                             .param = element ? i->imm : 0,
                             .old = element ? find_old(s, branch, i) : 0};
    return true;
}

static bool is_cheap(const KIns *i) {
    return kir_ops[i->op].effect == KE_PURE && i->op != K_DIV && i->op != K_MOD && i->op != K_MATH &&
           i->op != K_ANALYTIC && i->op != K_BOUND;
}

static bool is_free(const KIns *i) { return i->op == K_CONST || i->op == K_PARAM || i->op == K_DIM; }

static bool takes_ins(Selections *s, KRef branch, const KIns *i) {
    bool plain = i->op == K_STORE && !i->c && kir_is_unconverted(&s->f->params[i->imm]);
    if (i->op == K_SET || plain) return add_slot(s, branch, i);
    if (i->op == K_GET || i->op == K_IF || i->op == K_ELSE || i->op == K_END) return true;
    s->cost += !is_free(i);
    return is_cheap(i) && s->cost <= COST;
}

/* Whether every element has a value: it is stored in all branches, or was loaded. */
static bool sets_slot(const Selections *s, KRef first, KRef last, int slot) {
    for (KRef r = first; r < last; r++) {
        const KIns *i = get_ins(s, r);
        if (i->op == K_STORE && find_slot(s, i) == slot) return true;
        if (i->op != K_IF) continue;
        KRef middle = find_else(s, r), end = find_end(s, r);
        if (sets_slot(s, r + 1, middle, slot) && middle < end && sets_slot(s, middle + 1, end, slot)) return true;
        r = end;
    }
    return false;
}

/* Whether the launch has tested that arrays do not overlap: iterations are independent. */
static bool are_apart(const Selections *s, KRef branch) {
    KRef loop = kir_loop_around(s->f, branch);
    return loop ? get_ins(s, loop)->op == K_FOR && get_ins(s, loop)->flag : !s->f->serial;
}

static bool are_different(const Selections *s, KRef branch, const Slot *a, const Slot *b) {
    Affine p, q;
    if (a->param != b->param) return are_apart(s, branch);
    return kaffine_of(s->f, a->index, &p) && kaffine_of(s->f, b->index, &q) && kaffine_differ(&p, &q);
}

/* Whether no two slots are one element. */
static bool has_different_elements(const Selections *s, KRef branch) {
    for (int k = 0; k < s->n; k++)
        for (int m = 0; m < k; m++)
            if (!s->slot[k].local && !s->slot[m].local && !are_different(s, branch, &s->slot[k], &s->slot[m]))
                return false;
    return true;
}

/* Whether the IF becomes selections. */
static bool is_selection(Selections *s, KRef branch) {
    KRef end = find_end(s, branch), middle = find_else(s, branch);
    s->n = s->cost = 0;
    for (KRef r = branch + 1; r < end; r++)
        if (!takes_ins(s, branch, get_ins(s, r))) return false;
    for (int k = 0; k < s->n; k++) {
        bool all = middle < end && sets_slot(s, branch + 1, middle, k) && sets_slot(s, middle + 1, end, k);
        if (!s->slot[k].local && !s->slot[k].old && !all) return false;
    }
    return s->n > 0 && has_different_elements(s, branch);
}

static KRef value_of(Selections *s, const Values *v, int slot) {
    const Slot *t = &s->slot[slot];
    return v->at[slot] ? v->at[slot] : t->local ? kir_get(s->to, s->map[t->local]) : s->map[t->old];
}

/* Computes what the instructions set. */
static void emit_branch(Selections *s, KRef first, KRef last, Values *v) {
    for (KRef r = first; r < last; r++) {
        const KIns *i = get_ins(s, r);
        int slot = i->op == K_GET || i->op == K_SET || i->op == K_STORE ? find_slot(s, i) : -1;
        s->to->pos = i->pos;
        if (i->op == K_SET || i->op == K_STORE) {
            v->at[slot] = s->map[i->b];
        } else if (slot >= 0) {
            s->map[r] = value_of(s, v, slot);
        } else if (i->op == K_IF) {
            Values yes = *v, no = *v;
            KRef middle = find_else(s, r), end = find_end(s, r);
            emit_branch(s, r + 1, middle, &yes);
            if (middle < end) emit_branch(s, middle + 1, end, &no);
            for (int k = 0; k < s->n; k++) {
                bool known = s->slot[k].local || s->slot[k].old || (yes.at[k] && no.at[k]);
                if (yes.at[k] == no.at[k]) v->at[k] = yes.at[k];
                else if (known) v->at[k] = kir_select(s->to, s->map[i->a], value_of(s, &yes, k), value_of(s, &no, k));
            }
            r = end;
        } else {
            kir_copy_mapped(s->to, s->f, s->map, r);
        }
    }
}

static void replace_branch(Selections *s, KRef branch) {
    Values v = {{0}};
    emit_branch(s, branch, branch + 1, &v);
    for (int k = 0; k < s->n; k++) {
        const Slot *t = &s->slot[k];
        if (v.at[k] && t->local) kir_set(s->to, s->map[t->local], v.at[k]);
        else if (v.at[k]) kir_emit(s->to, (KMake){K_STORE, .a = s->map[t->index], .b = v.at[k], .imm = t->param});
    }
}

const KFunc *kselections_make(Ctx *c, Arena *a, const KFunc *f) {
    Selections s = {.f = f};
    KRef first = 1;
    if (!f->strict) return f;
    while (first < f->nins && !(f->ins[first].op == K_IF && is_selection(&s, first))) first++;
    if (first == f->nins) return f;
    s.to = kir_shell(c, a, f), s.map = qarena_alloc(a, qmem_size(f->nins, sizeof *s.map, 0));
    for (KRef r = 1; r < f->nins; r++) {
        if (r >= first && f->ins[r].op == K_IF && is_selection(&s, r)) replace_branch(&s, r), r = find_end(&s, r);
        else kir_copy_mapped(s.to, f, s.map, r);
    }
    return kir_finish(s.to, f);
}
