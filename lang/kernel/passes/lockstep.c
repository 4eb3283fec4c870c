/* lockstep.c -- chooses loops that positions leave at different times, and that run in vectors nevertheless.
 *
 *     t = 0                                    inside = true for each position
 *     FOR k = 0..127                           until no position is inside:
 *       d = distance(t)                          d = distance(t)
 *       IF d < eps, BREAK              =>        inside = inside and not d < eps
 *       t = t + d                                t = inside ? t + d : t
 *
 * Positions leave a loop in different iterations if it is the `while` of a fractal, the march of a ray, or an iteration
 * to convergence.  It then runs for a whole strip of positions until the last one has left it (the KIR instruction ANY
 * tests the strip): its body is computed for all of them, and stores and SETs have the condition that the position
 * executes them.  The same happens to branches around such loops, to branches that end with a RET, and to the LOOP
 * around an inlined function, which runs once.
 *
 * A load with an index test is safe at every position.  Other loads get the condition. */
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

#include <string.h>

typedef struct {
    const KFunc *f;
    uint8_t *varies; /* kplan_varies */
    bool loops;      /* FORs that positions leave will be LOOPs */
    bool returns;    /* some positions execute a RET that others do not */
    uint8_t *chosen; /* by IF, LOOP and FOR: all positions run it together */
} Lockstep;

/* -- regions and jumps --------------------------------------------------------------------------------------------- */
static bool is_jump(uint8_t op) { return op == K_BREAK || op == K_CONTINUE || op == K_RET; }

static KRef target_of(const KFunc *f, KRef jump) { return f->ins[jump].op == K_RET ? 0 : kir_jump_target(f, jump); }

/* Returns the IF, LOOP or FOR around r; 0: none. */
static KRef region_around(const KFunc *f, KRef r) { return kir_opener(f, f->regions[r].around); }

static KRef end_of(const KFunc *f, KRef region) {
    KRef end = f->regions[region].end;
    return f->ins[end].op == K_ELSE ? f->regions[end].end : end;
}

/* Returns whether a CONTINUE begins the next iteration of the loop. */
static bool is_continued(const KFunc *f, KRef loop) {
    for (KRef r = loop + 1; r < f->regions[loop].end; r++)
        if (f->ins[r].op == K_CONTINUE && kir_jump_target(f, r) == loop) return true;
    return false;
}

static bool runs_once(const KFunc *f, KRef loop) {
    KRef last = f->regions[loop].end - 1;
    const KIns *i = &f->ins[last];
    return f->ins[loop].op == K_LOOP && f->regions[last].around == loop && i->op == K_BREAK && !i->imm &&
           !is_continued(f, loop);
}

static bool has_exit(const KFunc *f, KRef loop) {
    for (KRef r = loop + 1; r < f->regions[loop].end; r++) {
        if (!is_jump(f->ins[r].op)) continue;
        KRef to = target_of(f, r);
        if (to < loop || (to == loop && f->ins[r].op == K_BREAK)) return true;
    }
    return false;
}

/* Returns whether positions leave the FOR at different times: its bounds vary, or a jump leads out of it. */
static bool is_left_early(const Lockstep *l, KRef loop) {
    const KIns *i = &l->f->ins[loop];
    return l->varies[i->a] || l->varies[i->b] || l->varies[i->c] || has_exit(l->f, loop);
}

/* Returns whether it pays to run the loop, which positions leave at different times, for a strip.  A FOR whose bounds
 * vary often reads a row of its own for each position; then other vectors are better (row_terms.c). */
static bool does_pay(const KFunc *f, KRef loop) {
    bool loads = false;
    for (KRef r = loop + 1; r < f->regions[loop].end; r++) loads |= f->ins[r].op == K_LOAD;
    return f->ins[loop].op == K_LOOP || has_exit(f, loop) || is_continued(f, loop) || !loads;
}

/* -- choice -------------------------------------------------------------------------------------------------------- */
/* Chooses the regions around r, which positions execute differently, and all between r and the target of a jump. */
static void choose_around(Lockstep *l, KRef r, KRef target) {
    for (KRef x = r; x; x = region_around(l->f, x))
        if (x > target || l->varies[l->f->ins[x].op == K_IF ? l->f->ins[x].a : x]) l->chosen[x] = 1;
}

static bool choose_regions(Lockstep *l) {
    const KFunc *f = l->f;
    bool any = false;
    for (KRef r = 1; r < f->nins; r++)
        if (kir_is_loop(f->ins[r].op) && l->varies[r] && does_pay(f, r)) choose_around(l, r, r), any = true;
    for (KRef r = 1; any && r < f->nins; r++) {
        if (!is_jump(f->ins[r].op)) continue;
        KRef to = target_of(f, r);
        l->returns |= !to;
        if (!to || l->chosen[to]) choose_around(l, region_around(f, r), to);
    }
    return any;
}

/* Returns whether all positions can execute the instruction of a chosen region. */
static bool is_possible(const Lockstep *l, KRef r) {
    const KFunc *f = l->f;
    switch (f->ins[r].op) {
    case K_FOR: return l->loops || !is_left_early(l, r);
    case K_CONTINUE:
        for (KRef x = kir_loop_around(f, r); x != kir_jump_target(f, r); x = kir_loop_around(f, x))
            if (!runs_once(f, x)) return false;
        return true;
    case K_STORE: return !kir_loop_around(f, r) || kplan_is_side_by_side(f, l->varies, r);
    case K_LOAD:
    case K_IF:
    case K_ELSE:
    case K_END:
    case K_LOOP:
    case K_LOCAL:
    case K_GET:
    case K_SET:
    case K_BREAK:
    case K_RET: return true;
    default: return kir_ops[f->ins[r].op].effect == KE_PURE;
    }
}

static bool needs_guard(const KFunc *f, KRef r) {
    const KIns *i = &f->ins[r];
    return i->op == K_STORE || (i->op == K_LOAD && !i->b && !kflatten_is_bounded(f, i));
}

static Flat how_of(const Lockstep *l, KRef r) {
    const KFunc *f = l->f;
    KRef opener = f->ins[r].op == K_END ? kir_opener(f, f->regions[r].opener) : r;
    switch (f->ins[opener].op) {
    case K_IF:
    case K_ELSE: return FLAT_GOES;
    case K_LOOP: return runs_once(f, opener) ? FLAT_ONCE : FLAT_LOCKSTEP;
    case K_FOR: return is_left_early(l, opener) ? FLAT_LOCKSTEP : is_continued(f, opener) ? FLAT_COUNTS : FLAT_NOT;
    case K_BREAK:
    case K_CONTINUE:
    case K_RET: return FLAT_JUMPS;
    default: return needs_guard(f, r) ? FLAT_GUARDED : FLAT_NOT;
    }
}

/* Such kernels do not run in strips. */
static bool is_excluded(const KFunc *f) {
    return f->serial || f->barrier || f->shared || kir_has(f, K_ATOMIC) || kir_has(f, K_FETCH) ||
           kir_has(f, K_LARRAY) || kir_has(f, K_CHECK);
}

bool klockstep_choose(Ctx *c, Arena *a, const KFunc *f, bool loops, uint8_t *how) {
    if (is_excluded(f) || !(kir_has(f, K_LOOP) || kir_has(f, K_FOR))) return false;
    Lockstep l = {.f = f, .varies = kplan_varies(c, a, f), .loops = loops, .chosen = qarena_alloc(a, f->nins)};
    if (!choose_regions(&l)) return false;
    bool possible = true;
    KRef end = 0; /* of the chosen region around r */
    for (KRef r = 1; r < f->nins && possible; r++) {
        if (r > end && l.chosen[r]) end = end_of(f, r);
        bool inside = r <= end;
        possible = !inside || is_possible(&l, r);
        if (inside || f->ins[r].op == K_RET) how[r] = (uint8_t)how_of(&l, r);
        else if (l.returns && needs_guard(f, r)) how[r] = FLAT_GUARDED;
    }
    if (possible && memchr(how, FLAT_LOCKSTEP, f->nins)) return true;
    return memset(how, 0, f->nins), false;
}
