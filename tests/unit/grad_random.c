/* Random kernels: forward and reverse derivatives are each other's transpose, wherever they exist; exact derivatives
 * and fast-math ones. */
#include "tests/support/kir_gen.h"
#include "tests/support/kir_grad.h"
#include "tests/unit/check.h"

#include <stdlib.h>

static Ctx ctx;
static int done, refused;

static bool is_refused(const char *why) { return strstr(why, "has no derivative"); }

static void try_seed(uint64_t seed, bool fast) {
    Arena arena;
    Text why;
    qarena_init(&arena, &ctx), qtext_init(&why, &ctx);
    KCase *k = kgen_random(&ctx, &arena, seed, KGEN_FP64 | KGEN_BARRIER);
    CHECK(k != NULL);
    k->func->fast = fast;
    KGradCase g = {.ctx = &ctx,
                   .arena = &arena,
                   .func = k->func,
                   .args = k->args,
                   .launch = k->launch,
                   .seed = seed,
                   .exact_only = true,
                   .rounding = 1e-5};
    bool ok = kgradtest_check(&g, &why);
    if (!ok && is_refused(why.s)) refused++, ok = true;
    else done++;
    CHECK(ok);
    if (!ok) printf("  seed %llu%s: %s\n", (unsigned long long)seed, fast ? ", fast" : "", why.s);
    qtext_free(&why), qarena_free(&arena);
}

int main(int argc, char **argv) {
    qctx_init(&ctx, 32);
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, n = argc > 2 ? strtoull(argv[2], NULL, 10) : 300;
    for (uint64_t s = first; s < first + n; s++) try_seed(s, false), try_seed(s, true);
    printf("%d derivatives, %d refused\n", done, refused);
    CHECK(done > refused);
    qctx_close(&ctx);
    return check_done();
}
