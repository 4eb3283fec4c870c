/* Every instruction: the evaluator accepts the suite of edge values, and its text form can be read back.  The results
 * of instructions are compared with literal definitions in 128-bit integers and wider floats. */
#include "lang/kernel/ir/sem.h"
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

static Ctx ctx;

/* -- semantics ----------------------------------------------------------------------------------------------------- */
typedef __int128 Wide;
static const qs_dtype ints[] = {QS_I32, QS_U32, QS_I64, QS_U64};

static bool is_signed(qs_dtype d) { return d == QS_I32 || d == QS_I64; }
static int width(qs_dtype d) { return 8 * (int)qdtype_size(d); }
static Wide lowest(qs_dtype d) { return is_signed(d) ? -((Wide)1 << (width(d) - 1)) : 0; }
static Wide highest(qs_dtype d) { return lowest(d) + ((Wide)1 << width(d)) - 1; }

static Wide wide(qs_dtype d, KSlot s) {
    return d == QS_I32 ? s.I32 : d == QS_U32 ? s.U32 : d == QS_I64 ? s.I64 : (Wide)s.U64;
}

static Wide wrapped(qs_dtype d, Wide v) {
    Wide m = (Wide)((unsigned __int128)v & (((unsigned __int128)1 << width(d)) - 1));
    return m > highest(d) ? m - ((Wide)1 << width(d)) : m;
}

static Wide floor_div(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static Wide meaning(KOp op, qs_dtype d, Wide a, Wide b) {
    switch (op) {
    case K_ADD: return a + b;
    case K_SUB: return a - b;
    case K_MUL: return (Wide)((unsigned __int128)a * (unsigned __int128)b);
    case K_DIV: return b == 0 ? 0 : a / b;
    case K_MOD: return b == 0 ? 0 : a - b * floor_div(a, b);
    case K_MIN: return a < b ? a : b;
    case K_MAX: return a < b ? b : a;
    case K_AND: return a & b;
    case K_OR: return a | b;
    case K_XOR: return a ^ b;
    case K_SHL: return b < 0 || b >= width(d) ? 0 : a * ((Wide)1 << b);
    case K_SHR: return b < 0 || b >= width(d) ? (a < 0 ? -1 : 0) : floor_div(a, (Wide)1 << b);
    case K_NEG: return -a;
    case K_ABS: return a < 0 ? -a : a;
    case K_NOT: return -1 - a;
    case K_LT: return a < b;
    case K_LE: return a <= b;
    case K_EQ: return a == b;
    default: return a != b;
    }
}

static KSlot random_slot(uint64_t *state, qs_dtype d) { /* of any size, often near the ends */
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t r = *state >> 7 ^ *state << 31;
    unsigned kind = r & 7, shift = r >> 3 & 63;
    int64_t v = kind < 4 ? (int64_t)r >> shift : (int64_t)(r >> 9 & 7) - 3;
    if (kind == 4) v = (int64_t)((uint64_t)highest(d) + (uint64_t)v);
    if (kind == 5) v = (int64_t)((uint64_t)lowest(d) + (uint64_t)v);
    KSlot s = {.I64 = v};
    if (width(d) == 32) s.bits = is_signed(d) ? (uint64_t)(int64_t)s.I32 : s.U32;
    return s;
}

static void integers_mean_what_the_table_says(void) {
    static const KOp ops[] = {K_ADD, K_SUB, K_MUL, K_DIV, K_MOD, K_MIN, K_MAX, K_AND, K_OR, K_XOR,
                              K_SHL, K_SHR, K_NEG, K_ABS, K_NOT, K_LT,  K_LE,  K_EQ,  K_NE};
    uint64_t state = 1;
    for (size_t t = 0; t < 4; t++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            qs_dtype d = ints[t], to = kir_ops[ops[o]].result == KR_bool ? QS_B1 : d;
            int wrong = 0;
            for (int n = 0; n < 3000; n++) {
                KSlot a = random_slot(&state, d), b = random_slot(&state, d);
                KSlot r = ksem_pure(ops[o], 0, d, to, a, b, (KSlot){0});
                Wide want = meaning(ops[o], d, wide(d, a), wide(d, b));
                wrong += to == QS_B1 ? r.B1 != (want != 0) : wide(d, r) != wrapped(d, want);
            }
            CHECK(wrong == 0);
            if (wrong) printf("  %s of %s\n", kir_ops[ops[o]].name, qdtype_info[d].name);
        }
}

static void integers_convert_by_saturating(void) {
    uint64_t state = 2;
    for (int n = 0; n < 100000; n++) {
        qs_dtype from = ints[n & 3], to = ints[n >> 2 & 3];
        KSlot a = random_slot(&state, from);
        Wide v = wide(from, a), want = v < lowest(to) ? lowest(to) : v > highest(to) ? highest(to) : v;
        KSlot none = {0}, r = ksem_pure(K_CAST, 0, from, to, a, none, none);
        KSlot f = ksem_pure(K_CAST, 0, from, QS_F32, a, none, none),
              g = ksem_pure(K_CAST, 0, from, QS_F64, a, none, none);
        if (wide(to, r) == want && f.F32 == (float)(long double)v && g.F64 == (double)(long double)v) continue;
        CHECK(false);
        return;
    }
    CHECK(true);
}

static Wide cut(qs_dtype to, long double x) { /* toward zero, NaN 0 */
    return x != x                          ? 0
           : x <= (long double)lowest(to)  ? lowest(to)
           : x >= (long double)highest(to) ? highest(to)
                                           : (Wide)x;
}

static void floats_convert_toward_zero(void) {
    uint64_t state = 3;
    KSlot none = {0};
    for (int n = 0; n < 200000; n++) {
        qs_dtype to = ints[n & 3];
        KSlot a = {.U64 = random_slot(&state, QS_U64).U64 * 0x9e3779b97f4a7c15u}, b = {.U32 = a.U32};
        if (n & 4) a.F64 = (double)highest(to) * (1 + ((double)(state >> 60) - 8) * 0x1p-53), b.F32 = (float)a.F64;
        KSlot x = ksem_pure(K_CAST, 0, QS_F64, to, a, none, none), y = ksem_pure(K_CAST, 0, QS_F32, to, b, none, none);
        if (wide(to, x) == cut(to, (long double)a.F64) && wide(to, y) == cut(to, (long double)b.F32)) continue;
        CHECK(false);
        return;
    }
    CHECK(true);
}

/* Correctly rounded: + - * / computed in float64 and rounded to float32 equal the float32 operations. */
static void floats_are_rounded_at_each_step(void) {
    uint64_t state = 4;
    KSlot none = {0};
    for (int n = 0; n < 200000; n++) {
        KSlot a = {.U32 = random_slot(&state, QS_U32).U32 * 0x9e3779b9u},
              b = {.U32 = random_slot(&state, QS_U32).U32 * 0x85ebca6bu};
        double x = (double)a.F32, y = (double)b.F32;
        const KOp ops[] = {K_ADD, K_SUB, K_MUL, K_DIV};
        const float want[] = {(float)(x + y), (float)(x - y), (float)(x * y), (float)(x / y)};
        for (int o = 0; o < 4; o++) {
            float r = ksem_pure(ops[o], 0, QS_F32, QS_F32, a, b, none).F32;
            if (r == want[o] || (r != r && want[o] != want[o])) continue;
            CHECK(false);
            return;
        }
    }
    CHECK(true);
}

/* -- the suite ----------------------------------------------------------------------------------------------------- */

static void text_round_trip(Arena *arena, KCase *k) {
    Text t, t2;
    KFunc *f = NULL;
    qtext_init(&t, &ctx), qtext_init(&t2, &ctx);
    kir_print(k->func, &t);
    CHECK(kir_parse(&ctx, arena, t.s, t.len, &f) == QS_OK);
    if (ctx.err.status) printf("  %s: %s\n%s", k->what, ctx.err.text, t.s), qerr_clear(&ctx);
    else {
        kir_print(f, &t2);
        CHECK(!strcmp(t.s, t2.s) && f->hash == k->func->hash);
    }
    qtext_free(&t), qtext_free(&t2);
}

static void run_case(int number) {
    Arena arena;
    qarena_init(&arena, &ctx);
    KCase *k = kgen_suite(&ctx, &arena, number);
    CHECK(k != NULL);
    if (k) CHECK(kgen_evaluate(k) == QS_OK);
    if (ctx.err.status) printf("  case %d: %s\n", number, ctx.err.text), qerr_clear(&ctx);
    if (k) text_round_trip(&arena, k);
    qarena_free(&arena);
}

int main(void) {
    qctx_init(&ctx, 32);
    integers_mean_what_the_table_says();
    integers_convert_by_saturating();
    floats_convert_toward_zero();
    floats_are_rounded_at_each_step();
    for (int i = 0; i < kgen_suite_size(); i++) run_case(i);
    qctx_close(&ctx);
    return check_done();
}
