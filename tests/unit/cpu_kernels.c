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
static int nsplit, ntogether;

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

/* The passes must preserve the kernel's result. */
static bool split_agrees(const KCase *before, const KCase *want, bool rows, Text *why) {
    KSplit split;
    const KFunc *f = rows ? kearlyexits_loop(&ctx, before->arena, before->func) : before->func;
    if (!kopt_interior(&ctx, before->arena, f, rows, &split)) return true;
    KCase *k = kgen_copy(before);
    KFunc *interior = (KFunc *)(uintptr_t)split.func;
    kir_seal(interior);
    k->func = interior;
    nsplit++, ntogether += split.lockstep;
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

/* y[p] = x[p0 - 1, p1 + first] + x[p0, p1 + last], x mirrored */
static const char two_reads[] =
    "kernel \"two\" rank 2 {\n"
    "  param \"x\" array float32 rank 2 contiguous unit_last read\n"
    "  param \"y\" array float32 rank 2 contiguous unit_last written\n"
    "  %%1 = pos int64 0\n  %%2 = pos int64 1\n  %%3 = dim int64 x$0.0\n  %%4 = dim int64 x$0.1\n"
    "  %%5 = const int64 -1\n  %%6 = add int64 %%1 %%5\n  %%7 = const int64 %d\n  %%8 = add int64 %%2 %%7\n"
    "  %%9 = bound.mirror int64 %%6 %%3\n  %%10 = bound.mirror int64 %%8 %%4\n"
    "  %%11 = mul int64 %%9 %%4\n  %%12 = add int64 %%11 %%10\n  %%13 = load float32 x$0 %%12\n"
    "  %%14 = const int64 %d\n  %%15 = add int64 %%2 %%14\n"
    "  %%16 = bound.mirror int64 %%1 %%3\n  %%17 = bound.mirror int64 %%15 %%4\n"
    "  %%18 = mul int64 %%16 %%4\n  %%19 = add int64 %%18 %%17\n  %%20 = load float32 x$0 %%19\n"
    "  %%21 = add float32 %%13 %%20\n  %%22 = dim int64 y$1.0\n  %%23 = dim int64 y$1.1\n"
    "  %%24 = inb bool %%1 %%22\n  %%25 = inb bool %%2 %%23\n  %%26 = and bool %%24 %%25\n"
    "  %%27 = mul int64 %%1 %%23\n  %%28 = add int64 %%27 %%2\n  store y$1 %%28 %%21 %%26\n}\n";

/* Sums instead of y: x[p0 - 1, p1 + 3] is added to z[p0, p1 + last], mirrored like an index of x. */
static const char sums[] =
    "kernel \"sums\" rank 2 {\n"
    "  param \"x\" array float32 rank 2 contiguous unit_last read\n"
    "  param \"z\" array float32 rank 2 contiguous unit_last read written\n"
    "  %%1 = pos int64 0\n  %%2 = pos int64 1\n  %%3 = dim int64 x$0.0\n  %%4 = dim int64 x$0.1\n"
    "  %%5 = const int64 -1\n  %%6 = add int64 %%1 %%5\n  %%7 = const int64 3\n  %%8 = add int64 %%2 %%7\n"
    "  %%9 = bound.mirror int64 %%6 %%3\n  %%10 = bound.mirror int64 %%8 %%4\n"
    "  %%11 = mul int64 %%9 %%4\n  %%12 = add int64 %%11 %%10\n  %%13 = load float32 x$0 %%12\n"
    "  %%14 = const int64 %d\n  %%15 = add int64 %%2 %%14\n  %%16 = bound.mirror int64 %%1 %%3\n"
    "  %%17 = bound.mirror int64 %%15 %%4\n  %%18 = dim int64 z$1.1\n  %%19 = mul int64 %%16 %%18\n"
    "  %%20 = add int64 %%19 %%17\n  atomic.%s z$1 %%20 %%13\n}\n";

/* At the ends of rows, sums use pads; other updates have none, and then rows have no separate ends. */
static void check_sums(Arena *a, int last, const char *op, int npads) {
    KSplit split;
    KFunc *f;
    char text[2048];
    int n = snprintf(text, sizeof text, sums, last, op);
    CHECK(kir_parse(&ctx, a, text, (size_t)n, &f) == QS_OK);
    CHECK(kopt_interior(&ctx, a, f, true, &split) && split.edge.npads == npads);
    if (!npads) return;
    const KPad *pad = &split.edge.pad[1];
    CHECK(!split.edge.pad[0].sums && pad->sums && pad->param == 1 && pad->mode == ACC_MIRROR);
    CHECK(pad->lo[0] == 0 && pad->hi[0] == 0 && pad->lo[1] == 0 && pad->hi[1] == last);
}

/* The ends of rows are separate if they are wide, and the distance of reads is known. */
static void check_edges(void) {
    Arena a;
    KSplit split;
    KFunc *f;
    char text[2048];
    qarena_init(&a, &ctx);
    for (int last = 1; last < 40; last += 3) {
        int n = snprintf(text, sizeof text, two_reads, -4, last);
        CHECK(kir_parse(&ctx, &a, text, (size_t)n, &f) == QS_OK);
        CHECK(kopt_interior(&ctx, &a, f, true, &split) && split.box.given);
        const KPad *pad = &split.edge.pad[0];
        CHECK(split.edge.npads == (last >= 2 && last <= 32));
        if (!split.edge.npads) continue;
        CHECK(pad->param == 0 && pad->mode == ACC_MIRROR);
        CHECK(pad->lo[0] == -1 && pad->hi[0] == 0 && pad->lo[1] == -4 && pad->hi[1] == last);
    }
    check_sums(&a, 6, "add", 2);
    check_sums(&a, 40, "add", 0); /* too far */
    check_sums(&a, 6, "max", 0);
    qarena_free(&a);
}

int main(int argc, char **argv) {
    qctx_init(&ctx, 32);
    check_edges();
    compiler = kcompile_open(&ctx, "");
    cpu.ops = &qdev_cpu_ops, cpu.ctx = &ctx, ctx.nthreads = 3;
    if (cpu.ops->open(&cpu, 0) != QS_OK) return printf("%s\n", ctx.err.text), 1;
    kgen_program(&ctx, argc, argv, 20, KGEN_ALL, compare);
    if (argc < 2) kgen_each(&ctx, 101, 20, 1, KGEN_ALL & ~(unsigned)KGEN_CHECK, compare);
    unsigned parting = KGEN_FP64 | KGEN_PARTING;
    if (argc < 2) kgen_each(&ctx, 1, 60, 1, parting, compare), CHECK(ntogether > 10);
    else kgen_program(&ctx, argc, argv, 60, parting, compare);
    printf("%d kernels have loops that their positions leave at different times\n", ntogether);
    printf("%d kernels were split into interior and border\n", nsplit);
    cpu.ops->close(&cpu);
    kcompile_close(compiler);
    qctx_close(&ctx);
    return check_done();
}
