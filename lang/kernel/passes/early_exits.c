/* early_exits.c -- makes a LOOP of a counted loop that positions leave at different times.
 *
 *     FOR k = a..b                     k = a
 *       IF x > 4                       LOOP
 *         BREAK                          IF k > b, BREAK
 *       END                    =>        IF x > 4, BREAK
 *       …                                …
 *     END                                k = k + 1
 *                                      END
 *
 * Positions that run in vectors leave a LOOP one by one (interior, in opt.c), but count a FOR together.  So a `for`
 * with a `break` is as fast as a `while` with two conditions. */
#include "lang/kernel/passes/passes.h"

typedef struct {
    const KFunc *f;
    KFunc *to;
    KRef *map; /* by instruction of f: its copy */
    KRef loop, end;
    double step;
} Exits;

/* Looks at the loop that begins at r: an innermost one, which a BREAK leaves. */
static bool is_candidate(void *pass, KRef r) {
    Exits *x = pass;
    const KIns *loop = &x->f->ins[r];
    bool leaves = false;
    x->loop = r, x->end = x->f->regions[r].end;
    if (loop->op != K_FOR || !kir_is_const(x->f, loop->c, &x->step) || x->step == 0) return false;
    for (KRef k = r + 1; k < x->end; k++) {
        const KIns *i = &x->f->ins[k];
        if (kir_is_loop(i->op) || i->op == K_CONTINUE || i->op == K_RET || i->op == K_CHECK) return false;
        if (i->op == K_BREAK && i->imm) return false;
        leaves |= i->op == K_BREAK;
    }
    return leaves;
}

static void replace_loop(void *pass) {
    Exits *x = pass;
    KFunc *to = x->to;
    const KIns *i = &x->f->ins[x->loop];
    KRef first = x->map[i->a], last = x->map[i->b], step = x->map[i->c];
    to->pos = i->pos;
    KRef counter = kir_local(to, first);
    kir_flow(to, K_LOOP, 0);
    KRef k = x->map[x->loop] = kir_get(to, counter);
    kir_flow(to, K_IF, x->step > 0 ? kir_op(to, K_LT, last, k) : kir_op(to, K_LT, k, last));
    kir_flow(to, K_BREAK, 0);
    kir_flow(to, K_END, 0);
    for (KRef r = x->loop + 1; r < x->end; r++) kir_copy_mapped(to, x->f, x->map, r);
    kir_set(to, counter, kir_op(to, K_ADD, k, step));
    kir_flow(to, K_END, 0);
}

const KFunc *kearlyexits_loop(Ctx *c, Arena *a, const KFunc *f) {
    Exits x = {.f = f};
    if (!f->strict || f->serial) return f;
    return kir_replace_loops(c, a, f, (KLoopPass){&x, &x.to, &x.map, is_candidate, replace_loop});
}
