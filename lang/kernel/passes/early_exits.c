/* early_exits.c -- makes a LOOP of a counted loop that positions leave at different times.
 *
 *     FOR k = a..b                     k = a
 *       IF x > 4                       LOOP
 *         BREAK                          IF k > b, BREAK
 *       END                    =>        IF x > 4, BREAK
 *       …                                …
 *     END                                k = k + 1
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

/* Returns the condition that the counter k has passed `last`.  A counter may wrap behind a last value that is not
 * known; it is before the first value then. */
static KRef has_passed(KFunc *to, KRef k, KRef first, KRef last, double step) {
    double end;
    bool up = step > 0, known = kir_is_const(to, last, &end);
    KRef passed = up ? kir_op(to, K_LT, last, k) : kir_op(to, K_LT, k, last);
    if (known && fabs(end + step) <= INT32_MAX) return passed;
    return kir_op(to, K_OR, passed, up ? kir_op(to, K_LT, k, first) : kir_op(to, K_LT, first, k));
}

static bool is_candidate(const Exits *x, KRef r, double *step) {
    const KIns *i = &x->f->ins[r];
    return i->op == K_FOR && x->how[r] == FLAT_LOCKSTEP && kir_is_const(x->f, i->c, step) && *step != 0;
}

static KRef copy_one(Exits *x, KRef r);

static void replace_loop(Exits *x, KRef loop, double by) {
    KFunc *to = x->to;
    const KIns *i = &x->f->ins[loop];
    KRef first = x->map[i->a], last = x->map[i->b], step = x->map[i->c];
    to->pos = i->pos;
    KRef counter = kir_local(to, first);
    kir_flow(to, K_LOOP, 0);
    KRef k = x->map[loop] = kir_get(to, counter);
    kir_flow(to, K_IF, has_passed(to, k, first, last, by));
    kir_flow(to, K_BREAK, 0);
    kir_flow(to, K_END, 0);
    for (KRef r = loop + 1; r < x->f->regions[loop].end; r++) {
        bool continues = x->f->ins[r].op == K_CONTINUE && kir_jump_target(x->f, r) == loop;
        if (continues) kir_set(to, counter, kir_op(to, K_ADD, k, step));
        r = copy_one(x, r);
    }
    kir_set(to, counter, kir_op(to, K_ADD, k, step));
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
