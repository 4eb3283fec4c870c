/* columns.c -- interchanges two loops if the inner one walks down the columns of arrays.
 *
 *     FOR j = a..b                            FOR i = c..d
 *       FOR i = c..d                    =>      FOR j = a..b
 *         y[i] = y[i] + A[i,j]*x[j]               y[i] = y[i] + A[i,j]*x[j]
 *       END                                     END
 *     END                                     END
 *
 * Each element that the nest stores to depends on i only, and each iteration i has its own.  So the operations on an
 * element keep their order and their bits, and the body reads its rows from front to back. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"

#include <string.h>

typedef struct {
    Arena *arena;
    const KFunc *f;
    KFunc *to;
    KRef *map;                    /* by instruction of f: its copy */
    KRef outer, end, inner, last; /* the FOR over j and its END, the FOR over i and its END */
    Invariants by_outer, by_inner;
} Nest;

static const KIns *get_ins(const Nest *n, KRef r) { return &n->f->ins[r]; }

/* Finds the inner loop; false: the nest is not perfect, or arrays may overlap. */
static bool find_nest(Nest *n, KRef outer) {
    n->outer = outer, n->end = n->f->regions[outer].end, n->inner = 0;
    for (KRef r = outer + 1; r < n->end && !n->inner; r++)
        if (get_ins(n, r)->op == K_FOR) n->inner = r, n->last = n->f->regions[r].end;
    if (!n->inner || n->last + 1 != n->end || !kir_counts_by_one(n->f, outer) || !kir_counts_by_one(n->f, n->inner))
        return false;
    n->by_outer = (Invariants){.arena = n->arena, .f = n->f, .loop = outer, .end = n->end};
    n->by_inner = (Invariants){.arena = n->arena, .f = n->f, .loop = n->inner, .end = n->last};
    const KIns *inner = get_ins(n, n->inner);
    return (get_ins(n, outer)->flag || inner->flag) && kaffine_is_invariant(&n->by_outer, inner->a) &&
           kaffine_is_invariant(&n->by_outer, inner->b);
}

/* Whether the body also reads the stored element, accesses no other one of this array, and i alone determines it. */
static bool is_element_of_row(Nest *n, const KIns *store) {
    int64_t by_outer, by_inner;
    bool read = false;
    for (KRef r = n->outer + 1; r < n->end; r++) {
        const KIns *i = get_ins(n, r);
        if ((i->op != K_LOAD && i->op != K_STORE) || i->imm != store->imm) continue;
        if (i->a != store->a) return false;
        read |= i->op == K_LOAD;
    }
    return read && kaffine_stride(&n->by_outer, store->a, &by_outer) && !by_outer &&
           kaffine_stride(&n->by_inner, store->a, &by_inner) && by_inner;
}

/* Checks the body; *gains: some access goes down a column, and along a row afterwards. */
static bool check_body(Nest *n, bool *gains) {
    bool stores = false;
    for (KRef r = n->outer + 1; r < n->last; r++) {
        const KIns *i = get_ins(n, r);
        int64_t by_outer, by_inner;
        bool load = i->op == K_LOAD && !i->b, store = i->op == K_STORE && !i->c;
        bool plain = load || store || i->op == K_SET || (i->op == K_GET && !kir_sets(n->f, n->outer + 1, n->end, i->a));
        if (r != n->inner && !plain && kir_ops[i->op].effect != KE_PURE) return false;
        if (store && (r < n->inner || !is_element_of_row(n, i))) return false;
        stores |= store;
        if (!load && !store) continue;
        if (!kaffine_stride(&n->by_outer, i->a, &by_outer) || by_outer < -1 || by_outer > 1) return false;
        bool column = !kaffine_stride(&n->by_inner, i->a, &by_inner) || by_inner < -1 || by_inner > 1;
        *gains |= by_outer && column;
    }
    return stores;
}

static bool is_candidate(void *pass, KRef r) {
    Nest *n = pass;
    bool gains = false;
    return n->f->strict && find_nest(n, r) && check_body(n, &gains) && gains;
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
static void copy_body(Nest *n) {
    for (KRef r = n->outer + 1; r < n->last; r++)
        if (r != n->inner) kir_copy_mapped(n->to, n->f, n->map, r);
}

static void interchange(void *pass) {
    Nest *n = pass;
    KFunc *to = n->to;
    const KIns *outer = get_ins(n, n->outer), *inner = get_ins(n, n->inner);
    to->pos = outer->pos;
    kir_hoist(n->to, n->f, n->map, n->outer + 1, inner->a), kir_hoist(n->to, n->f, n->map, n->outer + 1, inner->b);
    KRef a = n->map[outer->a], b = n->map[outer->b], c = n->map[inner->a], d = n->map[inner->b];
    kir_flow(to, K_IF, kir_op(to, K_AND, kir_op(to, K_LE, a, b), kir_op(to, K_LE, c, d)));
    n->map[n->inner] = kir_for(to, c, d, 1, KFLAG_REASSOC);
    n->map[n->outer] = kir_for(to, a, b, 1, KFLAG_FIXED);
    copy_body(n);
    kir_flow(to, K_END, 0);
    kir_flow(to, K_END, 0);
    kir_flow(to, K_ELSE, 0);
    for (KRef r = n->outer; r <= n->end; r++) kir_copy_mapped(to, n->f, n->map, r);
    kir_flow(to, K_END, 0);
}

void kcolumns_choose(Arena *a, const KFunc *f, uint8_t *chosen) {
    Nest n = {.arena = a, .f = f};
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_FOR && is_candidate(&n, r)) memset(chosen + r, 1, n.end - r), r = n.end;
}

const KFunc *kcolumns_interchange(Ctx *c, Arena *a, const KFunc *f) {
    Nest n = {.arena = a, .f = f};
    return kir_replace_loops(c, a, f, (KLoopPass){&n, &n.to, &n.map, is_candidate, interchange});
}
