/* early_exits.c -- makes a LOOP of a counted loop that positions leave at different times.
 *
 *     FOR k = a..b                     k = a, more = a <= b
 *       IF x > 4                       LOOP
 *         BREAK                          IF !more, BREAK
 *       END                    =>        IF x > 4, BREAK
 *       …                                …
 *     END                                more = b - k >= 1, k = k + 1
 *                                      END
 *
 * Positions that run in vectors leave a LOOP one by one (lockstep.c), but count a FOR together.  So a `for` with a
 * `break` is as fast as a `while` with two conditions.  The counter also changes before a CONTINUE. */
#include "lang/kernel/passes/passes.h"

#include <math.h>

typedef struct {
    const KFunc *f;
    KFunc *to;
    KRef *map; /* by instruction of f: its copy */
    uint8_t *how;
} Exits;

static bool is_candidate(const Exits *x, KRef r, double *step) {
    const KIns *i = &x->f->ins[r];
    return i->op == K_FOR && x->how[r] == FLAT_LOCKSTEP && kir_is_const(x->f, i->c, step) && *step != 0 &&
           fabs(*step) <= INT32_MAX;
}

static KRef copy_one(Exits *x, KRef r);

typedef struct {
    KRef counter, more; /* LOCALs; more: there is a next iteration */
    KRef last, step;
    bool up;
} Counted;

/* Counts.  Whether there is a next iteration is decided before the counter changes, which may wrap then.  The distance
 * to the last value is at least 0, so that a negative one has wrapped and is large. */
static void count(KFunc *to, const Counted *c, KRef k) {
    qs_dtype d = (qs_dtype)to->ins[k].dtype;
    KRef left = c->up ? kir_op(to, K_SUB, c->last, k) : kir_op(to, K_SUB, k, c->last);
    KRef step = c->up ? c->step : kir_op(to, K_NEG, c->step, 0);
    KRef wraps = kir_op(to, K_LT, left, kir_const_int(to, d, 0, 0));
    kir_set(to, c->more, kir_op(to, K_OR, wraps, kir_op(to, K_LE, step, left)));
    kir_set(to, c->counter, kir_op(to, K_ADD, k, c->step));
}

static void replace_loop(Exits *x, KRef loop, double by) {
    KFunc *to = x->to;
    const KIns *i = &x->f->ins[loop];
    Counted c = {.last = x->map[i->b], .step = x->map[i->c], .up = by > 0};
    KRef first = x->map[i->a];
    to->pos = i->pos;
    c.counter = kir_local(to, first);
    c.more = kir_local(to, c.up ? kir_op(to, K_LE, first, c.last) : kir_op(to, K_LE, c.last, first));
    kir_flow(to, K_LOOP, 0);
    KRef k = x->map[loop] = kir_get(to, c.counter);
    kir_flow(to, K_IF, kir_op(to, K_NOT, kir_get(to, c.more), 0));
    kir_flow(to, K_BREAK, 0);
    kir_flow(to, K_END, 0);
    for (KRef r = loop + 1; r < x->f->regions[loop].end; r++) {
        if (x->f->ins[r].op == K_CONTINUE && kir_jump_target(x->f, r) == loop) count(to, &c, k);
        r = copy_one(x, r);
    }
    count(to, &c, k);
    kir_flow(to, K_END, 0);
}

/* Copies the instruction, or the loop that begins with it; returns the last instruction copied. */
static KRef copy_one(Exits *x, KRef r) {
    double step;
    if (!is_candidate(x, r, &step)) return kir_copy_mapped(x->to, x->f, x->map, r), r;
    return replace_loop(x, r, step), x->f->regions[r].end;
}

const KFunc *kearlyexits_loop(Ctx *c, Arena *a, const KFunc *f) {
    Exits x = {.f = f, .how = qarena_alloc(a, f->nins)};
    if (!kir_has(f, K_FOR) || !klockstep_choose(c, a, f, true, x.how)) return f;
    x.to = kir_shell(c, a, f), x.map = qarena_alloc(a, qmem_size(f->nins, sizeof *x.map, 0));
    for (KRef r = 1; r < f->nins; r++) r = copy_one(&x, r);
    return kir_finish(x.to, f);
}
