/* Kernels for NVIDIA devices: every instruction and random kernels become PTX, which ptxas accepts where it is
 * installed. */
#include "lang/kernel/compile.h"
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

static Ctx ctx;
static KCompiler *compiler;
static Device gpu;
static bool have_ptxas;
static char file[] = "/tmp/quasar-ptx-XXXXXX";

static bool assembles(const char *ptx) {
    char command[200];
    FILE *f = fopen(file, "w");
    if (!f || fputs(ptx, f) < 0 || fclose(f)) return false;
    snprintf(command, sizeof command, "ptxas -arch=%s -o /dev/null %s", gpu.arch, file);
    return system(command) == 0;
}

static void try_case(KCase *k, const char *kind, uint64_t number) {
    Text t;
    qtext_init(&t, &ctx);
    bool ok = kcompile_text(compiler, k->func, &gpu, "ptx", &t) == QS_OK && strstr(t.s, ".entry kernel");
    if (ok && have_ptxas) ok = assembles(t.s);
    CHECK(ok);
    if (!ok) printf("  %s %llu (%s): %s\n", kind, (unsigned long long)number, k->what, ctx.err.text);
    qerr_clear(&ctx);
    qtext_free(&t);
}

static void each(uint64_t first, uint64_t n, uint64_t step, bool random) {
    for (uint64_t i = first; i < first + n; i += step) {
        Arena arena;
        qarena_init(&arena, &ctx);
        KCase *k = random ? kgen_random(&ctx, &arena, i, KGEN_ALL) : kgen_suite(&ctx, &arena, (int)i);
        if (k) try_case(k, random ? "seed" : "case", i);
        qarena_free(&arena);
    }
}

int main(int argc, char **argv) {
    static DeviceOps ops = {.kind = "cuda", .code = CODE_PTX};
    qctx_init(&ctx, 32);
    close(mkstemp(file));
    have_ptxas = system("ptxas --version >/dev/null 2>&1") == 0;
    if (!have_ptxas) printf("skipped: ptxas is not installed, so the PTX is made but not checked\n");
    compiler = kcompile_open(&ctx, "");
    gpu.ops = &ops, gpu.ctx = &ctx;
    strcpy(gpu.arch, argc > 3 ? argv[3] : "sm_80");
    if (argc < 2) each(0, (uint64_t)kgen_suite_size(), 3, false);
    each(argc > 1 ? strtoull(argv[1], NULL, 10) : 1, argc > 2 ? strtoull(argv[2], NULL, 10) : 12, 1, true);
    kcompile_close(compiler);
    unlink(file);
    qctx_close(&ctx);
    return check_done();
}
