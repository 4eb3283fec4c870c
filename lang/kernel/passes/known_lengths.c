/* known_lengths.c -- lets loops of known length count from 0.
 *
 *     FOR k = i-1 .. i+1                   FOR c = 0 .. 2
 *       s += x[k]                    =>      s += x[i-1 + c]
 *     END                                  END
 *
 * A loop with constant bounds is unrolled, or runs once for a strip of positions (plan.h). */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"

const KFunc *kknown_lengths(Ctx *c, Arena *a, const KFunc *f) {
    if (!f->strict || !kir_has(f, K_POS) || !kir_has(f, K_FOR)) return f; /* other functions may wrap */
    KFunc *to = kir_shell(c, a, f);
    KRef *map = qarena_alloc(a, qmem_size(f->nins, sizeof *map, 0));
    bool changed = false;
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        if (i->op != K_FOR) {
            kir_copy_mapped(to, f, map, r);
            continue;
        }
        map[r] = kaffine_for(to, kir_like(i, map[i->a], map[i->b], map[i->c]));
        changed |= to->ins[map[r]].op != K_FOR;
    }
    return changed ? kir_finish(to, f) : f;
}
