/* flatten.c -- see flatten.h. */
#include "lang/kernel/flatten.h"

enum { MAX_DEPTH = 256, MAX_SIZE = 32 /* instructions of a branch */, VISITS = 64 };

/* The index cannot leave its array: all that varies in it went through a test. */
static bool tested(const KFunc *f, KRef r, int *visits) {
    const KIns *i = &f->ins[r];
    if (++*visits > VISITS) return false;
    if (i->op == K_ADD || i->op == K_MUL) return tested(f, i->a, visits) && tested(f, i->b, visits);
    return i->op == K_BOUND || i->op == K_DIM || i->op == K_STRIDE || i->op == K_CONST;
}

static bool always(const KFunc *f, const uint8_t *sure, KRef guard, int *visits) {
    const KIns *i = &f->ins[guard];
    if (++*visits > VISITS) return false;
    if (i->op == K_AND) return always(f, sure, i->a, visits) && always(f, sure, i->b, visits);
    return i->op == K_INB && sure[guard];
}

/* The instruction does no harm, and little work, where its branch is not taken. */
static bool harmless(const KFunc *f, const uint8_t *sure, KRef r) {
    const KIns *i = &f->ins[r];
    bool real = i->dtype == QS_F32 || i->dtype == QS_F64;
    int visits = 0;
    switch ((KOp)i->op) {
    case K_LOCAL: case K_GET: case K_SET: return true;
    case K_LOAD: return i->b ? always(f, sure, i->b, &visits) : tested(f, i->a, &visits);
    case K_MATH: case K_MOD: return false;
    case K_DIV: return real;
    default: return kir_ops[i->op].effect == KE_PURE;
    }
}

uint8_t *kflatten_choose(Arena *a, const KFunc *f, const uint8_t *sure, bool (*fixed)(void *self, KRef r), void *self) {
    struct { KRef first, other; uint32_t size; bool good; } open[MAX_DEPTH];
    uint8_t *goes = qarena_alloc(a, f->nins);
    int n = 0;
    for (KRef r = 1; r < f->nins; r++) {
        uint8_t op = f->ins[r].op;
        if (op == K_IF || op == K_LOOP || op == K_FOR) {
            open[n].first = r, open[n].other = 0, open[n].size = 0;
            open[n++].good = op == K_IF && !fixed(self, f->ins[r].a);
        } else if (op == K_ELSE) open[n - 1].other = r;
        else if (op == K_END) {
            bool good = open[--n].good && open[n].size <= MAX_SIZE;
            if (good) goes[open[n].first] = goes[open[n].other] = goes[r] = 1;
            if (n) open[n - 1].good &= good, open[n - 1].size += open[n].size;
        } else if (n) open[n - 1].good &= harmless(f, sure, r), open[n - 1].size += op != K_CONST;
    }
    goes[0] = 0;
    return goes;
}
