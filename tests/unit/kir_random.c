/* Random kernels: valid, and deterministic in the evaluator; the text form is read back. */
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

#include <stdlib.h>

static Ctx ctx;

static void try_seed(uint64_t seed) {
    Arena arena;
    qarena_init(&arena, &ctx);
    KCase *k = kgen_random(&ctx, &arena, seed, KGEN_ALL | KGEN_ENDING);
    CHECK(k != NULL);
    if (k) {
        KCase *again = kgen_copy(k);
        Text t, why;
        qtext_init(&t, &ctx), qtext_init(&why, &ctx);
        kir_print(k->func, &t);
        CHECK(kgen_evaluate(k) == QS_OK);
        CHECK(kir_parse(&ctx, &arena, t.s, t.len, &again->func) == QS_OK && again->func->hash == k->func->hash);
        if (!ctx.err.status) CHECK(kgen_evaluate(again) == QS_OK && kgen_same(k, again, &why));
        if (why.len) printf("  %s\n", why.s);
        qtext_free(&t), qtext_free(&why);
    }
    if (ctx.err.status) printf("  seed %llu: %s\n", (unsigned long long)seed, ctx.err.text), qerr_clear(&ctx);
    qarena_free(&arena);
}

int main(int argc, char **argv) {
    qctx_init(&ctx, 32);
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, n = argc > 2 ? strtoull(argv[2], NULL, 10) : 300;
    for (uint64_t s = first; s < first + n; s++) try_seed(s);
    qctx_close(&ctx);
    return check_done();
}
