/* loop_random.c -- lowers rand(), randn() and randi(n) in a loop to the generator of stdlib/random.c.
 *
 * Number n of the stream is computed from the seed and n alone.  If every iteration draws the same amount, an iteration
 * knows where its numbers begin, so iterations may run in parallel. */
#include "lang/kernel/lower/loop/loop_internal.h"

#include <string.h>

static KRef low_half(Loops *L, KRef a) {
    return kloop_cast(L, kloop_op(L, K_AND, a, kloop_i64(L, UINT32_MAX)), QS_U32);
}
static KRef high_half(Loops *L, KRef a) { return low_half(L, kloop_op(L, K_SHR, a, kloop_i64(L, 32))); }

static KRef state_param(Loops *L, LoopBindKind kind) {
    Str *name = qstr_cname(L->c, kind == LOOP_SEED ? "seed" : "drawn");
    return kloop_number_param(L, name, QS_I64, (LoopBind){(uint8_t)kind, 0});
}

/* The block of words with number n. */
static void draw_block(Loops *L, KRef n, KRef x[KPHILOX_WORDS]) {
    KRef seed = state_param(L, LOOP_SEED), key[2] = {low_half(L, seed), high_half(L, seed)};
    x[0] = low_half(L, n), x[1] = high_half(L, n), x[2] = x[3] = kbuild_int(&L->walk, QS_U32, 0);
    kphilox_mix(&L->walk, key, x);
}

/* -- position in the stream ---------------------------------------------------------------------------------------- */
/* Whether every iteration runs this code exactly once. */
static bool runs_in_every_iteration(const Loops *L) {
    return L->nlevels == 1 && L->block == L->body &&
           !kquery_node(kquery_body_of(L->job->loop), false, kquery_is_leaving, NULL) &&
           !kquery_node(kquery_body_of(L->job->loop), true, kquery_is_exit, NULL);
}

/* The number of the iteration, from 0. */
static KRef iteration_number(Loops *L) {
    const Level *v = &L->level[0];
    return kloop_op(L, K_DIV, kloop_op(L, K_SUB, v->counter, v->first), kloop_i64(L, (int64_t)v->step));
}

/* The stream position of the next number; in the first pass that draws any, a placeholder. */
static KRef next_number(Loops *L) {
    int64_t here = L->draws++;
    if (L->mode == MODE_PARALLEL) {
        KRef before = kloop_op(L, K_MUL, iteration_number(L), kloop_i64(L, L->out->draws));
        return kloop_op(L, K_ADD, kloop_op(L, K_ADD, state_param(L, LOOP_DRAWN), before), kloop_i64(L, here));
    }
    if (!runs_in_every_iteration(L) && !L->draws_vary) L->draws_vary = true, L->draws_pos = L->pos;
    kbuild_learn(&L->walk, &L->random);
    if (!L->drawn) return state_param(L, LOOP_DRAWN);
    KRef n = kbuild_get(&L->walk, L->drawn);
    return kbuild_set(&L->walk, L->drawn, kloop_op(L, K_ADD, n, kloop_i64(L, 1))), n;
}

void kloop_declare_random(Loops *L) {
    L->drawn = 0, L->draws = 0, L->draws_vary = false;
    if (L->random && L->mode != MODE_PARALLEL) L->drawn = kbuild_local(&L->walk, state_param(L, LOOP_DRAWN));
}

/* -- built-ins ----------------------------------------------------------------------------------------------------- */
bool kloop_is_random(const char *name, int nargs) {
    return (!nargs && (!strcmp(name, "rand") || !strcmp(name, "randn"))) || (nargs == 1 && !strcmp(name, "randi"));
}

static KRef draw_uniform(Loops *L, KRef x[KPHILOX_WORDS]) {
    draw_block(L, next_number(L), x);
    return kphilox_unit(&L->walk, QS_F64, x);
}

/* randi(n) is floor(u*n). */
static qs_status draw_below(Loops *L, Number n, Number *out) {
    KRef x[KPHILOX_WORDS], integral = n.kind == LOOP_COMPLEX ? 0 : kloop_twin(L, n);
    if (!integral) return kloop_decline(L, L->pos, "randi of a number that may have a fraction");
    KRef some = kloop_op(L, K_LE, kloop_i64(L, 1), integral);
    kloop_fail_unless(L, some, QS_EVALUE, "randi: n must be ≥ 1, got %0", integral, 0);
    KRef r = kloop_op(L, K_MUL, draw_uniform(L, x), kloop_real(L, n));
    r = kbuild_pure(&L->walk, (KMake){K_MATH, .flag = MF_floor, .a = r});
    *out = n.hi < 0x1p52 ? kloop_from_int(L, kloop_cast(L, r, QS_I64), 0, n.hi) : kloop_num(r);
    return QS_OK;
}

qs_status kloop_random(Loops *L, const char *name, const Number *n, Number *out) {
    if (L->module) return kloop_decline(L, L->pos, "random numbers");
    KRef x[KPHILOX_WORDS];
    if (n) return draw_below(L, *n, out);
    KRef u = draw_uniform(L, x);
    if (!strcmp(name, "randn")) u = kphilox_normal(&L->walk, QS_F64, u, kphilox_unit(&L->walk, QS_F64, x + 2), NULL);
    return *out = kloop_num(u), QS_OK;
}
