/* The cpu device against the reference evaluator: every instruction on edge values, then random kernels.
 * Arguments: first seed, how many. */
#include "lang/kernel/compile.h"
#include "lang/kernel/opt.h"
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

#include <stdlib.h>

static Ctx ctx;
static KCompiler *compiler;
static Device cpu;
static int nsplit;

static qs_status run(KCase *k) {
    Code code;
    Program *p;
    TRY(kcompile(compiler, k->func, &cpu, &code));
    qs_status s = cpu.ops->load(&cpu, &code, &p);
    kcompile_free(compiler, &code);
    if (s != QS_OK) return s;
    s = kgen_launch(&cpu, p, k);
    cpu.ops->unload(&cpu, p);
    return s;
}

/* What passes make of the kernel must be the kernel. */
static bool split_agrees(Arena *arena, const KCase *before, const KCase *want, bool rows, Text *why) {
    KSplit split;
    if (!kopt_interior(&ctx, arena, before->func, rows, &split)) return true;
    KCase *k = kgen_copy(before);
    kir_seal(split.func);
    k->func = split.func;
    nsplit++;
    return kir_verify(&ctx, split.func) == QS_OK && kgen_evaluate(k) == QS_OK && kgen_same(want, k, why);
}

static void compare(Arena *arena, KCase *k, const char *kind, uint64_t number) {
    KCase *d = kgen_copy(k), *before = kgen_copy(k);
    Text why;
    qtext_init(&why, &ctx);
    bool ok = kgen_evaluate(k) == QS_OK && split_agrees(arena, before, k, false, &why) &&
              split_agrees(arena, before, k, true, &why) && run(d) == QS_OK && kgen_same(k, d, &why);
    CHECK(ok);
    if (!ok) {
        printf("  %s %llu (%s): %s\n", kind, (unsigned long long)number, k->what ? k->what : "",
               ctx.err.status ? ctx.err.text : why.s);
        if (getenv("SHOW")) why.len = 0, kir_print(k->func, &why), puts(why.s);
    }
    qerr_clear(&ctx);
    qtext_free(&why);
}

static void each(uint64_t first, uint64_t n, bool random) {
    for (uint64_t i = first; i < first + n; i++) {
        Arena arena;
        qarena_init(&arena, &ctx);
        KCase *k = random ? kgen_random(&ctx, &arena, i, i % 2 ? KGEN_ALL : KGEN_ALL & ~(unsigned)KGEN_CHECK)
                          : kgen_suite(&ctx, &arena, (int)i);
        if (k) compare(&arena, k, random ? "seed" : "case", i);
        qarena_free(&arena);
    }
}

int main(int argc, char **argv) {
    qctx_init(&ctx, 32);
    compiler = kcompile_open(&ctx, "");
    cpu.ops = &qdev_cpu_ops, cpu.ctx = &ctx, ctx.nthreads = 3;
    if (cpu.ops->open(&cpu, 0) != QS_OK) return printf("%s\n", ctx.err.text), 1;
    if (argc < 2) each(0, (uint64_t)kgen_suite_size(), false);
    each(argc > 1 ? strtoull(argv[1], NULL, 10) : 1, argc > 2 ? strtoull(argv[2], NULL, 10) : 40, true);
    printf("%d kernels were split into interior and border\n", nsplit);
    cpu.ops->close(&cpu);
    kcompile_close(compiler);
    qctx_close(&ctx);
    return check_done();
}
