/* single_runs.c -- replaces a LOOP that runs once, and that branches leave, by conditions.
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
 * such LOOPs.  LLVM does not vectorize the stores in them. */
#include "lang/kernel/passes/passes.h"

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

static bool is_candidate(Run *u, KRef r) {
    u->loop = r, u->end = u->f->regions[r].end;
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

static void replace_loop(Run *u) {
    int open = 0;
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
