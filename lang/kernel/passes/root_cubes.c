/* root_cubes.c -- with fast math, divides by r*sqrt(r) without the third power of r.
 *
 *     a/(r*sqrt(r))     =>     q = 1/sqrt(r);  a*q*q*q
 *
 * LLVM multiplies by an estimate of 1/sqrt(r*r*r), which is NaN in float32 from r = 7e12 on.  Both forms need one
 * estimate and no division. */
#include "lang/kernel/passes/passes.h"

/* Returns the root if r is x*sqrt(x) or |x|*sqrt(x) in float32; 0: it is not. */
static KRef find_root(const KFunc *f, KRef r) {
    const KIns *i = &f->ins[r];
    for (int k = 0; k < 2 && i->op == K_MUL && i->dtype == QS_F32; k++) {
        KRef root = i->arg[k], other = i->arg[1 - k];
        bool rooted = f->ins[root].op == K_MATH && f->ins[root].flag == MF_sqrt;
        if (f->ins[other].op == K_ABS) other = f->ins[other].a;
        if (rooted && f->ins[root].a == other) return root;
    }
    return 0;
}

static KRef find_divisor(const KFunc *f, KRef r) { return f->ins[r].op == K_DIV ? find_root(f, f->ins[r].b) : 0; }

const KFunc *krootcubes_divide(Ctx *c, Arena *a, const KFunc *f) {
    KRef first = 1;
    while (f->fast && first < f->nins && !find_divisor(f, first)) first++;
    if (!f->fast || first == f->nins) return f;
    KFunc *to = kir_shell(c, a, f);
    KRef *map = qarena_alloc(a, qmem_size(f->nins, sizeof *map, 0));
    for (KRef r = 1; r < f->nins; r++) {
        KRef root = find_divisor(f, r);
        if (!root) {
            kir_copy_mapped(to, f, map, r);
            continue;
        }
        to->pos = f->ins[r].pos;
        KRef q = kir_op(to, K_DIV, kir_const_num(to, QS_F32, 1, to->pos), map[root]);
        map[r] = map[f->ins[r].a];
        for (int k = 0; k < 3; k++) map[r] = kir_op(to, K_MUL, map[r], q);
    }
    return kir_finish(to, f);
}
