/* Every instruction on edge values: the evaluator accepts all of the suite, and the text form of it is read back. */
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

static Ctx ctx;

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
    for (int i = 0; i < kgen_suite_size(); i++) run_case(i);
    qctx_close(&ctx);
    return check_done();
}
