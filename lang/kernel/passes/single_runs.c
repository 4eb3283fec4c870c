/* single_runs.c -- replaces a LOOP that runs once, and that branches leave, by conditions, and a short FOR that stores
 * elements by a copy of its body for each iteration.
 *
 *     LOOP                             IF !c
 *       IF c                             a
 *         BREAK                          IF d
 *       END                                b
 *       a                      =>        ELSE
 *       IF d                               rest
 *         b                              END
 *         BREAK                        END
 *       END
 *       rest
 *       BREAK
 *     END
 *
 * `continue` in a loop whose iterations are positions, and `return` in a function that is called there, are lowered as
 * such LOOPs.  A FOR over the channels of a pixel has one to four iterations.  Positions of a launch run in vectors
 * only if no loop with stores is inside. */
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

enum { MOST_COPIES = 4, MOST_INSTRUCTIONS = 500 };

typedef struct {
    const KFunc *f;
    KFunc *to;
    KRef *map; /* by instruction of f: its copy */
    KRef loop, end;
} Run;

static bool leaves(const Run *u, KRef r) { return u->f->ins[r].op == K_BREAK && kir_jump_target(u->f, r) == u->loop; }

/* Whether r is an IF of the LOOP that ends with a BREAK. */
static bool is_exit(const Run *u, KRef r) {
    KRef end = u->f->regions[r].end;
    return u->f->ins[r].op == K_IF && u->f->regions[r].around == u->loop && u->f->ins[end].op == K_END &&
           leaves(u, end - 1) && u->f->regions[end - 1].around == r;
}

/* Whether r is a FOR outside of other loops with few iterations, a store and no jump to it. */
static bool is_short(const Run *u, KRef r) {
    if (u->f->ins[r].op != K_FOR || kir_loop_around(u->f, r)) return false;
    int64_t n = kplan_iterations(u->f, r);
    bool stores = false;
    if (n < 1 || n > MOST_COPIES || n * (u->end - r) > MOST_INSTRUCTIONS) return false;
    for (KRef k = r + 1; k < u->end; k++) {
        int op = u->f->ins[k].op;
        stores |= op == K_STORE;
        if ((op == K_BREAK || op == K_CONTINUE) && kir_jump_target(u->f, k) == r) return false;
    }
    return stores;
}

static bool is_candidate(Run *u, KRef r) {
    u->loop = r, u->end = u->f->regions[r].end;
    if (is_short(u, r)) return true;
    if (u->f->ins[r].op != K_LOOP || !leaves(u, u->end - 1) || u->f->regions[u->end - 1].around != r) return false;
    for (KRef k = r + 1; k < u->end - 1; k++) {
        if (u->f->ins[k].op == K_CONTINUE && kir_jump_target(u->f, k) == r) return false;
        if (leaves(u, k) && !(is_exit(u, u->f->regions[k].around) && u->f->ins[k + 1].op == K_END)) return false;
    }
    return true;
}

static void copy_instruction(Run *u, KRef r) {
    KIns i = u->f->ins[r];
    bool jumps = i.op == K_BREAK || i.op == K_CONTINUE;
    if (jumps && kir_jump_target(u->f, r) < u->loop) i.imm--;
    if (jumps) kir_copy(u->to, &i, 0, 0, 0);
    else kir_copy_mapped(u->to, u->f, u->map, r);
}

static void copy_iterations(Run *u) {
    const KIns *i = &u->f->ins[u->loop];
    double first = 0, step = 0;
    kir_is_const(u->f, i->a, &first), kir_is_const(u->f, i->c, &step);
    for (int64_t k = 0, n = kplan_iterations(u->f, u->loop); k < n; k++) {
        u->map[u->loop] = kir_const_int(u->to, (qs_dtype)i->dtype, (int64_t)(first + step * (double)k), i->pos);
        for (KRef r = u->loop + 1; r < u->end; r++) copy_instruction(u, r);
    }
}

static void replace_loop(Run *u) {
    int open = 0;
    if (u->f->ins[u->loop].op == K_FOR) return copy_iterations(u);
    for (KRef r = u->loop + 1; r < u->end - 1; r++) {
        if (is_exit(u, r) && u->f->regions[r].end == r + 2) {
            kir_flow(u->to, K_IF, kir_op(u->to, K_NOT, u->map[u->f->ins[r].a], 0));
            open++, r += 2;
        } else if (leaves(u, r)) {
            kir_flow(u->to, K_ELSE, 0);
            open++, r++;
        } else {
            copy_instruction(u, r);
        }
    }
    while (open--) kir_flow(u->to, K_END, 0);
}

const KFunc *ksingleruns_open(Ctx *c, Arena *a, const KFunc *f) {
    Run u = {.f = f};
    KRef first = 1;
    while (first < f->nins && !is_candidate(&u, first)) first++;
    if (first == f->nins) return f;
    u.to = kir_shell(c, a, f), u.map = qarena_alloc(a, qmem_size(f->nins, sizeof *u.map, 0));
    for (KRef r = 1; r < f->nins; r++)
        if (is_candidate(&u, r)) replace_loop(&u), r = u.end;
        else kir_copy_mapped(u.to, f, u.map, r);
    return kir_finish(u.to, f);
}
