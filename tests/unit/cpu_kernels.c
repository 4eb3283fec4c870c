/* The cpu device against the reference evaluator: every instruction on edge values, then random kernels.
 * Arguments: first seed, how many. */
#include "lang/kernel/compile.h"
#include "lang/kernel/passes/opt.h"
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
static bool split_agrees(const KCase *before, const KCase *want, bool rows, Text *why) {
    KSplit split;
    if (!kopt_interior(&ctx, before->arena, before->func, rows, &split)) return true;
    KCase *k = kgen_copy(before);
    kir_seal(split.func);
    k->func = split.func;
    nsplit++;
    return kir_verify(&ctx, split.func) == QS_OK && kgen_evaluate(k) == QS_OK && kgen_same(want, k, why);
}

static void compare(KCase *k, const char *kind, uint64_t number) {
    KCase *d = kgen_copy(k), *before = kgen_copy(k);
    Text why;
    qtext_init(&why, &ctx);
    bool ok = kgen_evaluate(k) == QS_OK && split_agrees(before, k, false, &why) &&
              split_agrees(before, k, true, &why) && run(d) == QS_OK && kgen_same(k, d, &why);
    CHECK(ok);
    if (!ok) {
        printf("  %s %llu (%s): %s\n", kind, (unsigned long long)number, k->what ? k->what : "",
               ctx.err.status ? ctx.err.text : why.s);
        if (getenv("SHOW")) why.len = 0, kir_print(k->func, &why), puts(why.s);
    }
    qerr_clear(&ctx);
    qtext_free(&why);
}

int main(int argc, char **argv) {
    qctx_init(&ctx, 32);
    compiler = kcompile_open(&ctx, "");
    cpu.ops = &qdev_cpu_ops, cpu.ctx = &ctx, ctx.nthreads = 3;
    if (cpu.ops->open(&cpu, 0) != QS_OK) return printf("%s\n", ctx.err.text), 1;
    kgen_program(&ctx, argc, argv, 20, KGEN_ALL, compare);
    if (argc < 2) kgen_each(&ctx, 101, 20, 1, KGEN_ALL & ~(unsigned)KGEN_CHECK, compare);
    printf("%d kernels were split into interior and border\n", nsplit);
    cpu.ops->close(&cpu);
    kcompile_close(compiler);
    qctx_close(&ctx);
    return check_done();
}
