/* flatten.c -- replaces short branches by selections (if-conversion).
 *
 *     IF c                          t = LOAD …
 *       SET n = LOAD …      =>      SET n = c ? t : n
 *     END
 *
 * LLVM's vectorizer does this for simple branches, but not for loads that it cannot prove to be in range, nor for
 * the switch that LLVM makes of `n == 3 || (n == 4 && …)`.  Here it is known which loads cannot fail.
 *
 * Positions may leave a loop in different iterations, as the `while` of a fractal or of an iteration to convergence
 * does.  Such a loop runs for a whole strip of positions until the last one has left it: the KIR instruction ANY
 * tests the strip. */

#include "lang/kernel/passes/passes.h"
enum { MAX_DEPTH = 256, MAX_SIZE = 32 /* instructions of a branch */, VISITS = 64 };

/* Returns true if the index is certainly inside of its array: all varying parts of it are BOUNDs. */
static bool is_tested(const KFunc *f, KRef r, int *visits) {
    const KIns *i = &f->ins[r];
    if (++*visits > VISITS) return false;
    if (i->op == K_ADD || i->op == K_MUL) return is_tested(f, i->a, visits) && is_tested(f, i->b, visits);
    return i->op == K_BOUND || i->op == K_DIM || i->op == K_STRIDE || i->op == K_CONST;
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
    case K_LOAD: return i->b ? is_always_true(f, sure, i->b, &visits) : is_tested(f, i->a, &visits);
    case K_MATH:
    case K_MOD: return false;
    case K_DIV: return real;
    default: return kir_ops[i->op].effect == KE_PURE;
    }
}

/* -- loops that run for a whole strip ------------------------------------------------------------------------------ */

/* Returns true if a position that has left the loop may execute op: it has no effect outside. */
static bool keeps_quiet(uint8_t op) {
    return op == K_IF || op == K_ELSE || op == K_END || op == K_LOCAL || op == K_GET || op == K_SET || op == K_BREAK ||
           (kir_ops[op].effect == KE_PURE && op != K_BOUND && op != K_INB);
}

/* Returns true if the LOOP contains no other loop and does not access memory. */
static bool is_quiet(const KFunc *f, KRef loop) {
    int breaks = 0;
    for (KRef r = loop + 1; r < f->regions[loop].end; r++) {
        const KIns *i = &f->ins[r];
        if (!keeps_quiet(i->op) || (i->op == K_BREAK && i->imm)) return false;
        breaks += i->op == K_BREAK;
    }
    return breaks;
}

static bool in_branch(const KFunc *f, KRef r) {
    while ((r = f->regions[r].around))
        if (!kir_is_loop(f->ins[r].op)) return true;
    return false;
}

static bool never_in_strips(const KFunc *f) { /* such kernels do not run in strips */
    if (kir_has(f, K_ATOMIC) || kir_has(f, K_FETCH) || kir_has(f, K_LARRAY) || kir_has(f, K_CHECK)) return true;
    return f->serial || f->barrier || f->shared;
}

/* Chooses loops that are not inside branches, which some positions might not take. */
static void choose_strip_loops(const KFunc *f, uint8_t *how) {
    for (KRef r = 1; r < f->nins; r++) {
        if (f->ins[r].op != K_LOOP || in_branch(f, r) || !is_quiet(f, r)) continue;
        how[r] = how[f->regions[r].end] = FLAT_LOCKSTEP;
        r = f->regions[r].end;
    }
}

/* -- branches ------------------------------------------------------------------------------------------------------ */
typedef struct {
    KRef first, other;
    uint32_t size;
    bool good, lockstep;
} Region;

static void close_region(Region *region, Region *outer, KRef end, uint8_t *how) {
    bool good = region->good && (region->lockstep || region->size <= MAX_SIZE);
    if (good) how[region->first] = how[region->other] = how[end] = FLAT_GOES;
    if (outer) outer->good &= good, outer->size += region->size;
}

static void choose_branches(const KFunc *f, uint8_t *how, const uint8_t *sure, bool (*fixed)(void *self, KRef r),
                            void *self) {
    Region open[MAX_DEPTH];
    int n = 0;
    for (KRef r = 1; r < f->nins; r++) {
        uint8_t op = f->ins[r].op;
        bool inside = n && open[n - 1].lockstep; /* inside of a FLAT_LOCKSTEP loop */
        if (kir_opens(op)) {
            bool lockstep = inside || how[r] == FLAT_LOCKSTEP;
            open[n++] = (Region){r, 0, 0, op == K_IF && (lockstep || !fixed(self, f->ins[r].a)), lockstep};
        } else if (op == K_ELSE) open[n - 1].other = r;
        else if (op == K_END) {
            if (how[r] != FLAT_LOCKSTEP) close_region(&open[n - 1], n > 1 ? &open[n - 2] : NULL, r, how);
            else if (n > 1) open[n - 2].good = false;
            n--;
        } else if (inside) {
            if (op == K_BREAK) how[r] = FLAT_LEAVES;
        } else if (n) open[n - 1].good &= is_harmless(f, sure, r), open[n - 1].size += op != K_CONST;
    }
    how[0] = 0;
}

uint8_t *kflatten_choose(Arena *a, const KFunc *f, bool loops, const uint8_t *sure, bool (*fixed)(void *self, KRef r),
                         void *self) {
    uint8_t *how = qarena_alloc(a, f->nins);
    if (loops && !never_in_strips(f)) choose_strip_loops(f, how);
    choose_branches(f, how, sure, fixed, self);
    return how;
}
