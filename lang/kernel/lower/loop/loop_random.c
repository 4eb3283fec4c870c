/* loop_random.c -- lowers rand(), randn() and randi(n) in a loop to the generator of stdlib/random.c.
 *
 * Number n of the stream is computed from the seed and n alone.  If every iteration draws the same amount, an iteration
 * knows where its numbers begin, so iterations may run in parallel. */
#include "lang/kernel/lower/loop/loop_internal.h"

#include <string.h>

static KRef low_half(Loops *L, KRef a) { return kloop_op(L, K_AND, a, kloop_i64(L, UINT32_MAX)); }
static KRef high_half(Loops *L, KRef a) { return low_half(L, kloop_op(L, K_SHR, a, kloop_i64(L, 32))); }

static KRef state_param(Loops *L, LoopBindKind kind) {
    Str *name = qstr_cname(L->c, kind == LOOP_SEED ? "seed" : "drawn");
    return kloop_number_param(L, name, QS_I64, (LoopBind){(uint8_t)kind, 0});
}

/* Philox4x32-10, as in qrandom_block, with 32 bits in each int64. */
static void philox_block(Loops *L, KRef n, KRef x[4]) {
    KRef seed = state_param(L, LOOP_SEED);
    KRef k0 = low_half(L, seed), k1 = high_half(L, seed);
    x[0] = low_half(L, n), x[1] = high_half(L, n), x[2] = x[3] = kloop_i64(L, 0);
    for (int round = 0; round < 10; round++) {
        KRef p = kloop_op(L, K_MUL, x[0], kloop_i64(L, 0xD2511F53));
        KRef q = kloop_op(L, K_MUL, x[2], kloop_i64(L, 0xCD9E8D57));
        x[0] = kloop_op(L, K_XOR, kloop_op(L, K_XOR, high_half(L, q), x[1]), k0), x[1] = low_half(L, q);
        x[2] = kloop_op(L, K_XOR, kloop_op(L, K_XOR, high_half(L, p), x[3]), k1), x[3] = low_half(L, p);
        k0 = low_half(L, kloop_op(L, K_ADD, k0, kloop_i64(L, 0x9E3779B9)));
        k1 = low_half(L, kloop_op(L, K_ADD, k1, kloop_i64(L, 0xBB67AE85)));
    }
}

/* a number in [0,1) with 53 bits */
static KRef to_unit_interval(Loops *L, KRef hi, KRef lo) {
    KRef bits = kloop_op(L, K_OR, kloop_op(L, K_SHL, hi, kloop_i64(L, 21)), kloop_op(L, K_SHR, lo, kloop_i64(L, 11)));
    return kloop_op(L, K_MUL, kloop_cast(L, bits, QS_F64), kloop_f64(L, 0x1p-53));
}

static KRef emit_math(Loops *L, MathFn fn, KRef x) {
    return kbuild_pure(&L->walk, (KMake){K_MATH, .flag = fn, .a = x});
}

static KRef emit_normal(Loops *L, KRef u, KRef v) {
    KRef least = emit_math(L, MF_log, kloop_op(L, K_SUB, kloop_f64(L, 1), u));
    KRef r = emit_math(L, MF_sqrt, kloop_op(L, K_MUL, kloop_f64(L, -2), least));
    KRef angle = kloop_op(L, K_MUL, kloop_f64(L, 6.28318530717958647693), v);
    return kloop_op(L, K_MUL, r, emit_math(L, MF_cos, angle));
}

/* -- position in the stream ---------------------------------------------------------------------------------------- */
/* Whether every iteration runs this code exactly once. */
static bool runs_in_every_iteration(const Loops *L) {
    return L->nlevels == 1 && L->block == L->body &&
           !kquery_node(kquery_body_of(L->job->loop), false, kquery_is_leaving, NULL) &&
           !kquery_node(kquery_body_of(L->job->loop), true, kquery_is_return, NULL);
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

static KRef draw_uniform(Loops *L, KRef x[4]) {
    philox_block(L, next_number(L), x);
    return to_unit_interval(L, x[0], x[1]);
}

/* randi(n) is floor(u*n). */
static qs_status draw_below(Loops *L, Number n, Number *out) {
    KRef x[4], integral = n.kind == LOOP_COMPLEX ? 0 : kloop_twin(L, n);
    if (!integral) return kloop_decline(L, L->pos, "randi of a number that may have a fraction");
    KRef some = kloop_op(L, K_LE, kloop_i64(L, 1), integral);
    kloop_fail_unless(L, some, QS_EVALUE, "randi: n must be ≥ 1, got %0", integral, 0);
    KRef r = emit_math(L, MF_floor, kloop_op(L, K_MUL, draw_uniform(L, x), kloop_real(L, n)));
    *out = n.hi < 0x1p52 ? kloop_from_int(L, kloop_cast(L, r, QS_I64), 0, n.hi) : kloop_num(r);
    return QS_OK;
}

qs_status kloop_random(Loops *L, const char *name, const Number *n, Number *out) {
    if (L->module) return kloop_decline(L, L->pos, "random numbers");
    KRef x[4];
    if (n) return draw_below(L, *n, out);
    KRef u = draw_uniform(L, x);
    return *out = kloop_num(strcmp(name, "randn") ? u : emit_normal(L, u, to_unit_interval(L, x[2], x[3]))), QS_OK;
}
