/* index.c -- elements of adjoints, which are packed whatever the strides of their arrays are.
 *
 * An index is a sum of coordinates times strides.  Where it names STRIDEs, those of a packed array take their place:
 * products of extents. */
#include "lang/kernel/grad/grading.h"

enum { DEPTH = 40 };

typedef struct { KFunc *g; const KFunc *f; uint64_t param; KUse *use; void *ud; uint32_t pos; } Pack;

static bool has_stride(const Pack *p, KRef r, int depth) {
    const KIns *i = &p->f->ins[r];
    if (!r || depth == 0) return false;
    if (i->op == K_STRIDE) return i->imm >> 8 == p->param;
    for (int k = 0; k < 3 && kir_ops[i->op].effect == KE_PURE; k++)
        if (has_stride(p, i->arg[k], depth - 1)) return true;
    return false;
}

static KRef stride(const Pack *p, int axis) {
    KRef n = kir_const_int(p->g, QS_I64, 1, p->pos);
    for (int a = axis + 1; a < p->f->params[p->param].rank; a++) {
        KRef extent = kir_add(p->g, K_DIM, QS_I64, 0, 0, 0, 0, p->param << 8 | (uint64_t)a, p->pos);
        n = kir_fold(p->g, K_MUL, QS_B1, 0, n, extent, 0, p->pos);
    }
    return n;
}

static KRef packed(const Pack *p, KRef r, int depth) {
    const KIns *i = &p->f->ins[r];
    if (!r) return 0;
    if (!has_stride(p, r, depth)) return p->use(p->ud, r);
    if (i->op == K_STRIDE) return stride(p, (int)(i->imm & 255));
    KRef a = packed(p, i->a, depth - 1), b = packed(p, i->b, depth - 1), c = packed(p, i->c, depth - 1);
    return kir_copy(p->g, i, a, b, c);
}

KRef kindex_packed(KFunc *g, const KFunc *f, const KIns *i, KUse *use, void *ud) {
    Pack p = {g, f, i->imm, use, ud, i->pos};
    return f->params[i->imm].contiguous ? use(ud, i->a) : packed(&p, i->a, DEPTH);
}
