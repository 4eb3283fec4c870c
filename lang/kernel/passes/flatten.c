/* flatten.c -- replaces short branches by selections (if-conversion).
 *
 *     IF c                          t = LOAD …
 *       SET n = LOAD …      =>      SET n = c ? t : n
 *     END
 *
 * LLVM's vectorizer does this for simple branches, but not for loads that it cannot prove to be in range, nor for
 * the switch that LLVM makes of `n == 3 || (n == 4 && …)`.  Here it is known which loads cannot fail.  Branches
 * around loops that positions leave at different times are chosen before, by lockstep.c. */
#include "lang/kernel/passes/passes.h"
enum { MAX_SIZE = 32 /* instructions of a branch */, VISITS = 64 };

/* Counts the BOUNDs of an index that is a sum of BOUNDs times strides; false: it is something else. */
static bool count_bounds(const KFunc *f, KRef index, int *bounds) {
    const KIns *i = &f->ins[index], *b = &f->ins[i->b];
    if (i->op == K_BOUND) return ++*bounds <= QS_MAX_RANK;
    if (i->op == K_ADD) return count_bounds(f, i->a, bounds) && count_bounds(f, i->b, bounds);
    return i->op == K_MUL && (b->op == K_DIM || b->op == K_STRIDE) && count_bounds(f, i->a, bounds);
}

/* Returns whether a load is inside of its array for every position, also for those that do not use it: each dimension
 * has a BOUND. */
bool kflatten_is_bounded(const KFunc *f, const KIns *load) {
    int bounds = 0;
    return count_bounds(f, load->a, &bounds) && bounds == f->params[load->imm].rank;
}

static bool is_always_true(const KFunc *f, const uint8_t *sure, KRef guard, int *visits) {
    const KIns *i = &f->ins[guard];
    if (++*visits > VISITS) return false;
    if (i->op == K_AND) return is_always_true(f, sure, i->a, visits) && is_always_true(f, sure, i->b, visits);
    return i->op == K_INB && sure[guard];
}

/* Returns true if r is harmless and cheap when its branch is not taken. */
static bool is_harmless(const KFunc *f, const uint8_t *sure, KRef r) {
    const KIns *i = &f->ins[r];
    bool real = i->dtype == QS_F32 || i->dtype == QS_F64;
    int visits = 0;
    switch ((KOp)i->op) {
    case K_LOCAL:
    case K_GET:
    case K_SET: return true;
    case K_LOAD: return i->b ? is_always_true(f, sure, i->b, &visits) : kflatten_is_bounded(f, i);
    case K_MATH:
    case K_MOD: return false;
    case K_DIV: return real;
    default: return kir_ops[i->op].effect == KE_PURE;
    }
}

/* -- branches ------------------------------------------------------------------------------------------------------ */
typedef struct {
    KRef first, other;
    uint32_t size;
    bool good;
} Region;

static void close_region(Region *region, Region *outer, KRef end, uint8_t *how) {
    bool good = region->good && region->size <= MAX_SIZE;
    if (good) how[region->first] = how[region->other] = how[end] = FLAT_GOES;
    if (outer) outer->good &= good, outer->size += region->size;
}

void kflatten_choose(const KFunc *f, const uint8_t *sure, bool (*fixed)(void *self, KRef r), void *self, uint8_t *how) {
    Region open[KIR_MAX_NESTING];
    int n = 0;
    for (KRef r = 1; r < f->nins; r++) {
        uint8_t op = f->ins[r].op;
        if (how[r] && n) open[n - 1].good = false; /* lockstep.c has chosen it */
        if (how[r]) continue;
        if (kir_opens(op)) open[n++] = (Region){r, 0, 0, op == K_IF && !fixed(self, f->ins[r].a)};
        else if (op == K_ELSE) open[n - 1].other = r;
        else if (op == K_END) {
            close_region(&open[n - 1], n > 1 ? &open[n - 2] : NULL, r, how);
            n--;
        } else if (n) open[n - 1].good &= is_harmless(f, sure, r), open[n - 1].size += op != K_CONST;
    }
    how[0] = 0;
}
