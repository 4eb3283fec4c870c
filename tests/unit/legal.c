/* A kernel that is rewritten for the capabilities of a target (passes/legal.h) has bitwise the same results: every
 * instruction on edge values, and random kernels, without each capability and with all of them; undivided, and split
 * into interior and border. */
#include "lang/kernel/passes/legal.h"
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

static Ctx ctx;
static unsigned can;
static bool cut;
static int splits;

static qs_status run(KCase *k) {
    KSplit split;
    const KFunc *f = k->func;
    bool halves = cut && kopt_interior(&ctx, k->arena, f, false, &split) && split.box.given;
    if (halves) f = split.func, splits++;
    f = klegal(&ctx, k->arena, f, can, halves ? &split : NULL);
    KFunc *g = qarena_alloc(k->arena, sizeof *g);
    *g = *f;
    kir_seal(g);
    TRY(kir_verify(&ctx, g));
    k->func = g;
    return kgen_evaluate(k);
}

static void try_case(KCase *k, const char *kind, uint64_t number) {
    if (!(can & LEGAL_ATOMIC) && k->func->barrier) return; /* positions run in parallel there */
    CHECK(kgen_agrees(k, run, kind, number));
}

/* Only instructions that the target has are left. */
static void check_primitive(KCase *k, const char *kind, uint64_t number) {
    Arena arena;
    qarena_init(&arena, &ctx);
    const KFunc *f = klegal(&ctx, &arena, k->func, 0, NULL);
    bool ok = !kir_has(f, K_BOUND) && !kir_has(f, K_MIN) && !kir_has(f, K_MAX) && !kir_has(f, K_ATOMIC) &&
              !kir_has(f, K_AATOMIC) && !kir_has(f, K_FETCH) && !kir_has(f, K_AFETCH);
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        bool real = i->dtype == QS_F32 || i->dtype == QS_F64;
        if (i->op == K_MOD && !real) ok &= i->dtype == QS_U32 || i->dtype == QS_U64;
        if (i->op == K_ABS) ok &= real;
        if (i->op == K_CAST) ok &= f->ins[i->a].dtype != QS_B1;
    }
    CHECK(ok);
    if (!ok) printf("  %s %llu: %s\n", kind, (unsigned long long)number, k->what);
    qarena_free(&arena);
}

int main(int argc, char **argv) {
    (void)argv;
    qctx_init(&ctx, 32);
    for (unsigned bit = 0; bit < 9; bit++) {
        can = bit < 8 ? LEGAL_ALL & ~(1u << bit) : LEGAL_ALL;
        kgen_each(&ctx, 0, (uint64_t)kgen_suite_size(), argc > 1 ? 1 : 3, 0, try_case);
    }
    can = 0;
    kgen_each(&ctx, 0, (uint64_t)kgen_suite_size(), 1, 0, try_case);
    kgen_each(&ctx, 0, (uint64_t)kgen_suite_size(), 1, 0, check_primitive);
    kgen_each(&ctx, 1, 200, 1, KGEN_ALL, try_case);
    cut = true;
    kgen_each(&ctx, 1, 400, 1, KGEN_ALL, try_case);
    CHECK(splits > 10);
    qctx_close(&ctx);
    return check_done();
}
