/* hoist_loads.c -- loads an element that all iterations of a loop read in front of the loop.
 *
 *     position i                              position i
 *       FOR k = a..b                            IF a <= b
 *         d = (X[i,0] - C[k,0])^2                 x = X[i,0]
 *         …                              =>       FOR k = a..b
 *       END                                         d = (x - C[k,0])^2
 *                                                   …
 *                                                 END
 *                                               END
 *
 * Positions of a launch run in vectors only if neighbours read adjacent elements in loops (plan.c), and LLVM does not
 * move loads that are under the mask of a strip.  The pass looks at parallel loops, whose launch has tested that arrays
 * that are written do not overlap others, and at loads that the first iteration executes, so that no other element is
 * read than before. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"

typedef struct {
    Arena *arena;
    const KFunc *f;
    KFunc *to;
    KRef *map;      /* by instruction of f: its copy */
    KRef loop, end; /* the FOR that is looked at */
    Invariants same;
} Hoisting;

/* Whether r is a load of each iteration that has the same value in all. */
static bool is_hoisted(Hoisting *h, KRef r) {
    const KIns *i = &h->f->ins[r];
    bool plain = i->op == K_LOAD && !i->b && h->f->regions[r].around == h->loop && !h->f->params[i->imm].written;
    return plain && kaffine_is_invariant(&h->same, i->a);
}

static void replace_loop(void *pass) {
    Hoisting *h = pass;
    h->to->pos = h->f->ins[h->loop].pos;
    kir_if_runs(h->to, h->f, h->map, h->loop);
    for (KRef r = h->loop + 1; r < h->end; r++)
        if (is_hoisted(h, r)) kir_hoist(h->to, h->f, h->map, h->loop, r);
    for (KRef r = h->loop; r <= h->end; r++)
        if (r == h->loop || !h->map[r]) kir_copy_mapped(h->to, h->f, h->map, r);
    kir_flow(h->to, K_END, 0);
}

/* Looks at the loop that begins at r; one with an exit may not reach its loads. */
static bool is_candidate(void *pass, KRef r) {
    Hoisting *h = pass;
    double step;
    h->loop = r, h->end = h->f->regions[r].end;
    h->same = (Invariants){.arena = h->arena, .f = h->f, .loop = r, .end = h->end};
    if (h->f->ins[r].op != K_FOR || !kir_is_const(h->f, h->f->ins[r].c, &step) || step == 0) return false;
    bool any = false;
    for (KRef k = r + 1; k < h->end; k++) {
        KOp op = (KOp)h->f->ins[k].op;
        if (op == K_BREAK || op == K_CONTINUE || op == K_RET || op == K_CHECK) return false;
        any = any || is_hoisted(h, k);
    }
    return any;
}

const KFunc *khoist_loads(Ctx *c, Arena *a, const KFunc *f) {
    Hoisting h = {.arena = a, .f = f};
    if (!f->strict || f->serial) return f;
    return kir_replace_loops(c, a, f, (KLoopPass){&h, &h.to, &h.map, is_candidate, replace_loop});
}
