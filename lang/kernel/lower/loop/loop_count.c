/* loop_count.c -- proves that counts fit the declared types of their variables.
 *
 *     n : int = 0
 *     for i = 0..m-1
 *         if x[i] > 0.5
 *             n += 1           the guard tests that 1 more than the last i - the first i fits an int
 *         end
 *     end
 *
 * An assignment to a variable of a declared integer type saturates, and warns if it does.  Both would keep a loop from
 * vectors.  If a loop sets such a variable only to constants and to itself plus a small number, the variable is at most
 * its largest start plus the sum of all steps, which the trip counts of the loops around them limit.  Each step is
 * tested by itself, multiplied by the number of steps.  Loops around a block that begins with a constant do not count:
 *
 *     for i = 0..99
 *         n : int = 0
 *         for j = 0..i
 *             n += 1           at most i+1 times since n = 0  */
#include "lang/kernel/lower/loop/loop_internal.h"

#include <math.h>

static const double MOST_TRIPS = 0x1p31, MOST_STEP = 0x1p29;

static KRef limit_trips(Loops *L, KRef n) {
    return kloop_op(L, K_MIN, kloop_op(L, K_MAX, n, kloop_i64(L, 0)), kloop_i64(L, (int64_t)MOST_TRIPS));
}

/* How often the current block runs, at most, in one run of the block `in`, or of the whole loop; 0: not known. */
static KRef count_runs(Loops *L, const BlockScope *in) {
    KRef runs = kloop_i64(L, 1);
    if (L->mode == MODE_PARALLEL && !kbuild_is_open(in)) return 0;
    for (const BlockScope *b = L->block; b && b != in; b = b->up) {
        if (!b->repeats) continue;
        const KIns loop = L->f->ins[b->head];
        double step;
        bool counted = loop.op == K_FOR && loop.dtype == QS_I64 && kir_is_const(L->f, loop.c, &step) && step != 0;
        if (!counted) return 0;
        KRef first = step > 0 ? loop.a : loop.b, last = step > 0 ? loop.b : loop.a;
        KRef trips = kloop_op(L, K_ADD, kloop_op(L, K_SUB, last, first), kloop_i64(L, 1));
        runs = limit_trips(L, kloop_op(L, K_MUL, runs, limit_trips(L, trips)));
    }
    return runs;
}

/* If the integer r of n is the value of v plus or minus a number, finds the bounds of this step. */
static bool find_step(const Loops *L, const Var *v, KRef r, Number n, double *down, double *up) {
    const KIns *sum = &L->f->ins[r];
    if (sum->op != K_ADD && sum->op != K_SUB) return false;
    for (int i = 0; i < (sum->op == K_ADD ? 2 : 1); i++) {
        const KIns *get = &L->f->ins[sum->arg[i]];
        bool known = kbuild_is_open(v->home) && v->val.num.v == sum->arg[i];
        if (!known && (get->op != K_GET || get->a != v->v)) continue;
        *down = fmax(0, (known ? v->val.num.lo : v->lo) - n.lo), *up = fmax(0, n.hi - (known ? v->val.num.hi : v->hi));
        return true;
    }
    return false;
}

/* Lets the guard test that all steps like this one keep v within lo … hi. */
static bool guard_steps(Loops *L, const Var *v, double down, double up, double lo, double hi) {
    KRef runs = count_runs(L, v->start), least = kloop_i64(L, (int64_t)v->least_start),
         most = kloop_i64(L, (int64_t)v->most_start);
    bool starts = v->starts, entered = v->entry.kind == LOOP_INT && L->mode != MODE_PARALLEL;
    if (!runs || v->steps * fmax(down, up) > MOST_STEP || (!starts && !entered)) return false;
    if (entered) {
        KRef entry = kloop_entry(L, v).num.v;
        least = starts ? kloop_op(L, K_MIN, least, entry) : entry,
        most = starts ? kloop_op(L, K_MAX, most, entry) : entry;
    }
    KRef below = kloop_op(L, K_MUL, runs, kloop_i64(L, (int64_t)down * v->steps));
    KRef above = kloop_op(L, K_MUL, runs, kloop_i64(L, (int64_t)up * v->steps));
    KRef first = kloop_i64(L, (int64_t)lo), size = kloop_i64(L, (int64_t)(hi - lo) + 1);
    const char *otherwise = "a count may not fit the type of its variable";
    return kloop_guard_optional(L, kloop_op(L, K_SUB, kloop_op(L, K_SUB, least, below), first), size, otherwise) &&
           kloop_guard_optional(L, kloop_op(L, K_SUB, kloop_op(L, K_ADD, most, above), first), size, otherwise);
}

bool kloop_count_fits(Loops *L, Var *v, qs_dtype d, Number *n) {
    double lo, hi, down, up, k;
    bool can = v && !v->uncounted && v->object < 0 && !L->module && !L->callees && !L->job->divides;
    if (!can || !qdtype_is_int(d) || qdtype_size(d) == 8) return false;
    KRef r = n->kind == LOOP_INT ? n->v : n->kind == LOOP_NUM ? n->twin : 0;
    qdtype_int_span(d, &lo, &hi);
    if (r && kir_is_const(L->f, r, &k) && k >= lo && k <= hi) {
        double least = v->starts ? fmin(v->least_start, k) : k, most = v->starts ? fmax(v->most_start, k) : k;
        L->changed |= !v->starts || least < v->least_start || most > v->most_start;
        v->least_start = least, v->most_start = most;
        return v->starts = v->counting = true, v->start = L->block, false;
    }
    if (!r || v->kind != LOOP_INT || !v->v || !find_step(L, v, r, *n, &down, &up)) return false;
    if (++v->steps_seen > v->steps) v->steps = v->steps_seen, L->changed = true;
    if (!guard_steps(L, v, down, up, lo, hi)) return false;
    v->counting = true;
    if (L->mode == MODE_EXACT) return false;
    return *n = kloop_int(r, lo, hi), true;
}
