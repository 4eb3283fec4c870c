/* index_sets.c -- splits an inner loop where a condition on its counter changes (index set splitting).
 *
 *     FOR j = a..b                     j = a
 *       IF j <= i                      LOOP
 *         s = s + x[i-j]                 e = the last counter up to which `j <= i` keeps its value
 *       END                      =>      IF j <= i
 *     END                                  FOR j = j..e
 *                                            s = s + x[i-j]
 *                                          END
 *                                        END
 *                                        IF e == b  BREAK  END
 *                                        j = e + 1
 *                                      END
 *
 * The parts have no test, so that LLVM can vectorize them; a part without effect is left out.  The order of the
 * iterations stays the same, and so do the bits.  Kernels whose positions run in vectors stay as they are.
 *
 * The condition consists of comparisons of integers.  One side of each is the counter plus or minus a value that all
 * iterations share, the other side is shared.  Arithmetic wraps in KIR, so the code tests that the moving side is
 * monotone from the current iteration to the last one: its step is 1, hence it does not wrap if its last value is on
 * the right side of its current value.  Otherwise the part is a single iteration. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

#include <string.h>

enum { COMPARISONS = 8, MOST = 400 /* instructions of a loop */ };

typedef struct {
    KRef cond;
    KRef moving, shared; /* the side that moves with the counter, and the other one */
    bool up;             /* the moving side grows with the iterations */
} Comparison;

typedef struct {
    const KFunc *f;
    KFunc *to;
    KRef *map;        /* by instruction of f: its copy */
    KRef loop, end;   /* the FOR that is looked at */
    KRef branch;      /* its IF */
    uint8_t *same;    /* by instruction of the body: all iterations compute the same value, in front of the loop, too */
    uint8_t *hoisted; /* by instruction of the body: its copy is in front of the loop */
    bool up;          /* the step is 1, not -1 */
    Comparison comparison[COMPARISONS];
    int n;
} Sets;

static const KIns *get_ins(const Sets *s, KRef r) { return &s->f->ins[r]; }
static bool is_shared(const Sets *s, KRef r) { return r < s->loop || s->same[r]; }

/* -- conditions ---------------------------------------------------------------------------------------------------- */
static bool is_jump(uint8_t op) { return op == K_BREAK || op == K_CONTINUE || op == K_RET || op == K_CHECK; }

/* Whether r has the same value in all iterations.  A load counts if the first iteration certainly executes it. */
static bool is_same(const Sets *s, KRef r, bool jumped) {
    const KIns *i = get_ins(s, r);
    if (i->op == K_GET) return i->a < s->loop && !kir_sets(s->f, s->loop + 1, s->end, i->a);
    if (i->op == K_LOAD)
        return !i->b && is_shared(s, i->a) && !jumped && s->f->regions[r].around == s->loop &&
               get_ins(s, s->loop)->flag && !kir_stores(s->f, s->loop + 1, s->end, i->imm);
    return kir_ops[i->op].effect == KE_PURE && is_shared(s, i->a) && is_shared(s, i->b) && is_shared(s, i->c);
}

/* Finds the values that all iterations share; false: the body has loops or other effects. */
static bool scan_body(Sets *s) {
    bool jumped = false;
    for (KRef r = s->loop + 1; r < s->end; r++) {
        uint8_t op = get_ins(s, r)->op, effect = kir_ops[op].effect;
        bool local = op == K_LOCAL || op == K_GET || op == K_SET;
        bool branch = op == K_IF || op == K_ELSE || op == K_END;
        if (is_jump(op)) jumped = true;
        else if (!local && !branch && !kir_is_memory(op) && effect != KE_PURE) return false;
        s->same[r] = is_same(s, r, jumped);
    }
    return true;
}

/* Whether r can be computed in front of the loop for any counter. */
static bool is_simple(const Sets *s, KRef r) {
    const KIns *i = get_ins(s, r);
    if (r == s->loop || is_shared(s, r)) return true;
    return kir_ops[i->op].effect == KE_PURE && is_simple(s, i->a) && is_simple(s, i->b) && is_simple(s, i->c);
}

/* Whether r is the counter, or minus the counter, plus shared values. */
static bool find_direction(const Sets *s, KRef r, bool *up) {
    Affine sum;
    int64_t factor = 0;
    if (!is_simple(s, r) || !kaffine_of(s->f, r, &sum)) return false;
    for (int i = 0; i < sum.n; i++) {
        if (sum.term[i].ref == s->loop) factor = sum.term[i].factor;
        else if (!is_shared(s, sum.term[i].ref)) return false;
    }
    *up = (factor > 0) == s->up;
    return factor == 1 || factor == -1;
}

static bool add_comparison(Sets *s, KRef r) {
    const KIns *i = get_ins(s, r);
    if (s->n == COMPARISONS || get_ins(s, i->a)->dtype != QS_I64) return false;
    Comparison c = {.cond = r, .moving = is_shared(s, i->b) ? i->a : i->b};
    c.shared = c.moving == i->a ? i->b : i->a;
    if (!is_shared(s, c.shared) || !find_direction(s, c.moving, &c.up)) return false;
    s->comparison[s->n++] = c;
    return true;
}

/* Whether the condition consists of comparisons that change a few times only. */
static bool add_condition(Sets *s, KRef r) {
    const KIns *i = get_ins(s, r);
    if (is_shared(s, r)) return true;
    if (i->op == K_NOT) return add_condition(s, i->a);
    if (i->op == K_AND || i->op == K_OR) return i->dtype == QS_B1 && add_condition(s, i->a) && add_condition(s, i->b);
    return i->op >= K_LT && i->op <= K_NE && add_comparison(s, r);
}

static bool can_split(void *pass, KRef loop) {
    Sets *s = pass;
    const KIns *i = get_ins(s, loop);
    double step;
    s->loop = loop, s->end = s->f->regions[loop].end;
    if (i->dtype != QS_I64 || !kir_steps_by_one(s->f, loop) || s->end - loop > MOST) return false;
    if (kplan_unrolls(s->f, loop) || !kir_is_const(s->f, i->c, &step) || !scan_body(s)) return false;
    s->up = step > 0;
    for (KRef r = loop + 1; r < s->end; r++) {
        if (get_ins(s, r)->op != K_IF || s->f->regions[r].around != loop) continue;
        s->branch = r, s->n = 0;
        if (add_condition(s, get_ins(s, r)->a) && s->n) return true;
    }
    return false;
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
static void hoist_value(Sets *s, KRef r) {
    if (r < s->loop || s->hoisted[r]) return;
    for (int k = 0; k < 3; k++) hoist_value(s, get_ins(s, r)->arg[k]);
    kir_copy_mapped(s->to, s->f, s->map, r);
    s->hoisted[r] = 1;
}

/* Copies the shared values of an expression to the front of the loop. */
static void hoist_shared(Sets *s, KRef r) {
    if (r <= s->loop) return;
    if (s->same[r]) hoist_value(s, r);
    else
        for (int k = 0; k < 3; k++) hoist_shared(s, get_ins(s, r)->arg[k]);
}

/* The value of r, part of a condition, in the iteration of this counter. */
static KRef value_at(Sets *s, KRef r, KRef counter) {
    const KIns *i = get_ins(s, r);
    if (r == s->loop) return counter;
    if (is_shared(s, r)) return s->map[r];
    KRef a = value_at(s, i->a, counter), b = value_at(s, i->b, counter), c = value_at(s, i->c, counter);
    return kir_copy(s->to, i, a, b, c);
}

/* The last value of the moving side, now `at`, with which the comparison keeps its value, or a later one than `end`. */
static KRef find_change(Sets *s, const Comparison *c, KRef at, KRef end) {
    const KIns *i = get_ins(s, c->cond);
    KFunc *to = s->to;
    KRef v = s->map[c->shared], one = kir_int(to, 1);
    KRef before = kir_op(to, c->up ? K_SUB : K_ADD, v, one);
    KRef ahead = c->up ? kir_op(to, K_LT, at, v) : kir_op(to, K_LT, v, at), meets = kir_op(to, K_EQ, at, v);
    if (i->op == K_EQ || i->op == K_NE) return kir_select(to, ahead, before, kir_select(to, meets, at, end));
    bool below = c->moving == i->a; /* the comparison holds for small values of the moving side */
    bool includes = (i->op == K_LE) == (below == c->up);
    /* includes: the comparison has the same value with `v` as with the values on the way to it */
    if (!includes) return kir_select(to, ahead, before, end);
    return kir_select(to, kir_op(to, K_OR, ahead, meets), v, end);
}

/* Limits the number of iterations that keep the value of the comparison; *steady: the moving side does not wrap. */
static KRef limit_by(Sets *s, const Comparison *c, KRef now, KRef last, KRef *steady) {
    KFunc *to = s->to;
    KRef at = value_at(s, c->moving, now), end = value_at(s, c->moving, last);
    *steady = kir_op(to, K_AND, *steady, c->up ? kir_op(to, K_LE, at, end) : kir_op(to, K_LE, end, at));
    KRef change = find_change(s, c, at, end);
    change = kir_op(to, c->up ? K_MIN : K_MAX, change, end);
    return c->up ? kir_op(to, K_SUB, change, at) : kir_op(to, K_SUB, at, change);
}

/* The counter of the last iteration that keeps the value of the condition. */
static KRef find_last(Sets *s, KRef now, KRef last) {
    KFunc *to = s->to;
    KRef more = s->up ? kir_op(to, K_SUB, last, now) : kir_op(to, K_SUB, now, last);
    KRef steady = kir_op(to, K_LE, kir_int(to, 0), more);
    for (int k = 0; k < s->n; k++) more = kir_op(to, K_MIN, more, limit_by(s, &s->comparison[k], now, last, &steady));
    more = kir_select(to, steady, more, kir_int(to, 0));
    return kir_op(to, s->up ? K_ADD : K_SUB, now, more);
}

/* A jump out of the loop also leaves the LOOP around its parts. */
static void copy_jump(Sets *s, KRef r) {
    KIns i = *get_ins(s, r);
    KRef target = kir_jump_target(s->f, r);
    i.imm += target < s->loop || (i.op == K_BREAK && target == s->loop);
    kir_copy(s->to, &i, 0, 0, 0);
}

/* Finds the instructions first … last-1 of the body that iterations with this value of the condition do not execute. */
static void find_skipped(const Sets *s, bool holds, KRef *first, KRef *last) {
    KRef end = s->f->regions[s->branch].end;
    bool either = get_ins(s, end)->op == K_ELSE, leaves = get_ins(s, end - 1)->op == K_CONTINUE;
    leaves = leaves && s->f->regions[end - 1].around == s->branch && kir_jump_target(s->f, end - 1) == s->loop;
    *first = holds ? end : s->branch, *last = end;
    if (holds && either) *last = s->f->regions[end].end;
    if (holds && leaves) *first = end - 1, *last = s->end;
}

/* Whether a SET in iterations without the instructions first … last-1 is overwritten before any GET. */
static bool is_overwritten(const Sets *s, KRef set, KRef first, KRef last) {
    KRef local = get_ins(s, set)->a;
    if (set > first || s->f->regions[set].around != s->loop) return false;
    for (KRef r = 1; r < s->f->nins; r++)
        if (get_ins(s, r)->op == K_GET && get_ins(s, r)->a == local && (r < first || r >= last)) return false;
    return true;
}

static bool has_effect(const Sets *s, KRef first, KRef last) {
    for (KRef r = s->loop + 1; r < s->end; r++) {
        const KIns *i = get_ins(s, r);
        if (r >= first && r < last) continue;
        if (is_jump(i->op) || (kir_is_memory(i->op) && i->op != K_LOAD)) return true;
        if (i->op == K_SET && i->a < s->loop && !is_overwritten(s, r, first, last)) return true;
    }
    return false;
}

/* Copies the iterations from `now` to `until`, in which the condition has this value. */
static void copy_part(Sets *s, KRef now, KRef until, bool holds) {
    KRef first, last, cond = get_ins(s, s->branch)->a, end = s->f->regions[s->branch].end;
    KRef other = get_ins(s, end)->op == K_ELSE ? s->f->regions[end].end : end;
    find_skipped(s, holds, &first, &last);
    if (!has_effect(s, first, last)) return;
    s->to->pos = get_ins(s, s->loop)->pos;
    s->map[s->loop] = kir_for(s->to, now, until, s->up ? 1 : -1, get_ins(s, s->loop)->flag);
    for (KRef r = s->loop + 1; r < s->end; r++) {
        const KIns *i = get_ins(s, r);
        if ((r >= first && r < last) || r == s->branch || r == end || r == other || s->hoisted[r]) continue;
        if (r == cond) s->map[r] = kir_const_int(s->to, QS_B1, holds, i->pos);
        else if (i->op == K_BREAK || i->op == K_CONTINUE) copy_jump(s, r);
        else kir_copy_mapped(s->to, s->f, s->map, r);
    }
    kir_flow(s->to, K_END, 0);
}

static void replace_loop(void *pass) {
    Sets *s = pass;
    KFunc *to = s->to;
    const KIns *i = get_ins(s, s->loop);
    KRef cond = get_ins(s, s->branch)->a, last = s->map[i->b], one = kir_int(to, 1);
    memset(s->hoisted, 0, s->f->nins), to->pos = i->pos;
    kir_if_runs(to, s->f, s->map, s->loop);
    hoist_shared(s, cond);
    KRef next = kir_local(to, s->map[i->a]);
    kir_flow(to, K_LOOP, 0);
    KRef now = kir_get(to, next), until = find_last(s, now, last);
    kir_flow(to, K_IF, value_at(s, cond, now));
    copy_part(s, now, until, true);
    kir_flow(to, K_ELSE, 0);
    copy_part(s, now, until, false);
    kir_flow(to, K_END, 0);
    to->pos = i->pos;
    kir_flow(to, K_IF, kir_op(to, K_EQ, until, last));
    kir_flow(to, K_BREAK, 0);
    kir_flow(to, K_END, 0);
    kir_set(to, next, kir_op(to, s->up ? K_ADD : K_SUB, until, one));
    kir_flow(to, K_END, 0);
    kir_flow(to, K_END, 0);
}

const KFunc *kindexsets_split(Ctx *c, Arena *a, const KFunc *f) {
    KPlan plan;
    Sets s = {.f = f};
    if (!f->strict || !kir_has(f, K_FOR) || !kir_has(f, K_IF) || f->barrier || f->shared) return f;
    if (!f->serial && kplan_strip(c, a, f, 1, f->nins, false, &plan) && !plan.chains) return f;
    s.same = qarena_alloc(a, f->nins), s.hoisted = qarena_alloc(a, f->nins);
    return kir_replace_loops(c, a, f, (KLoopPass){&s, &s.to, &s.map, can_split, replace_loop});
}
