/* OpenCL against the reference evaluator: every instruction, then random kernels (unit_opencl [seed [count]]).
 * Without a device it says so and passes. */
#include "lang/kernel/emit.h"
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

static Ctx ctx;
static Device device;

static qs_status run(KCase *k, Text *text) {
    Program *p;
    TRY(kemit_opencl(&ctx, k->func, text, NULL));
    Code code = {.kind = CODE_OPENCL, .entry = KEMIT_OPENCL_ENTRY, .bytes = text->s, .n = text->len, .name = k->what};
    TRY(device.ops->load(&device, &code, &p));
    qs_status s = kgen_launch(&device, p, k);
    device.ops->unload(&device, p);
    return s;
}

static void compare(KCase *k, const char *which, int number) {
    Text text, why;
    qtext_init(&text, &ctx), qtext_init(&why, &ctx);
    KCase *got = kgen_copy(k);
    bool ok = kgen_evaluate(k) == QS_OK && run(got, &text) == QS_OK && kgen_same(k, got, &why);
    CHECK(ok);
    if (!ok) printf("  %s %d: %s%s\n", which, number, ctx.err.status ? ctx.err.text : "", why.len ? why.s : "");
    if (!ok && getenv("SHOW_CODE")) puts(text.s);
    qerr_clear(&ctx);
    qtext_free(&text), qtext_free(&why);
}

static void with_case(KCase *(*make)(Arena *, int), const char *which, int number) {
    Arena arena;
    qarena_init(&arena, &ctx);
    KCase *k = make(&arena, number);
    CHECK(k != NULL);
    if (k) compare(k, which, number);
    qarena_free(&arena);
}

static KCase *suite_case(Arena *a, int n) { return kgen_suite(&ctx, a, n); }
static KCase *random_case(Arena *a, int n) { return kgen_random(&ctx, a, (uint64_t)n, KGEN_ALL | KGEN_ENDING); }

static void errors_are_sentences(void) {
    Program *p = NULL;
    const char *text = "/* quasar: */\n__kernel void nonsense";
    Code code = {.kind = CODE_OPENCL, .entry = KEMIT_OPENCL_ENTRY, .bytes = text, .n = strlen(text), .name = "broken"};
    CHECK(device.ops->load(&device, &code, &p) == QS_EDEVICE && strstr(ctx.err.text, "kernel broken does not build"));
    qerr_clear(&ctx);
    Device other = {.ops = &qdev_opencl_ops, .ctx = &ctx};
    CHECK(other.ops->open(&other, 1000) == QS_EDEVICE && strstr(ctx.err.text, "no OpenCL device 1000"));
    qerr_clear(&ctx);
}

int main(int argc, char **argv) {
    char cache[] = "/tmp/quasar-opencl-XXXXXX", command[80];
    if (mkdtemp(cache)) setenv("POCL_CACHE_DIR", cache, 0); /* PoCL's own would keep every random kernel */
    const char *why;
    qctx_init(&ctx, 32);
    device = (Device){.ops = &qdev_opencl_ops, .ctx = &ctx, .memory = 1};
    int n = device.ops->probe(&ctx, &why);
    if (!n) printf("skipped: %s\n", why);
    else if (device.ops->open(&device, 0) != QS_OK) CHECK(false), puts(ctx.err.text);
    else {
        printf("%s\n", device.name);
        int first = argc > 1 ? atoi(argv[1]) : 1, count = argc > 2 ? atoi(argv[2]) : 6;
        errors_are_sentences();
        if (argc < 2) for (int i = 0; i < kgen_suite_size(); i++) with_case(suite_case, "suite", i);
        for (int i = first; i < first + count; i++) with_case(random_case, "seed", i);
        device.ops->close(&device);
    }
    qctx_close(&ctx);
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return check_done() || system(command);
}
