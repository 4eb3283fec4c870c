/* OpenCL against the reference evaluator: every instruction, then random kernels (unit_opencl [seed [count]]).
 * Without a device it says so and passes. */
#include "lang/kernel/codegen/emit.h"
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

static Ctx ctx;
static Device device;

static qs_status run(KCase *k) {
    Program *p = NULL;
    Text text;
    qtext_init(&text, &ctx);
    qs_status s = kemit_opencl(&ctx, k->func, &text, NULL);
    Code code = {.kind = CODE_OPENCL, .entry = KEMIT_OPENCL_ENTRY, .bytes = text.s, .n = text.len, .name = k->what};
    if (s == QS_OK) s = device.ops->load(&device, &code, &p);
    if (s == QS_OK) s = kgen_launch(&device, p, k);
    if (s != QS_OK && getenv("SHOW_CODE")) puts(text.s);
    if (p) device.ops->unload(&device, p);
    qtext_free(&text);
    return s;
}

static void try_case(KCase *k, const char *kind, uint64_t number) { CHECK(kgen_agrees(k, run, kind, number)); }

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
        printf("%s\n", qdev_name(&device));
        errors_are_sentences();
        kgen_program(&ctx, argc, argv, 6, KGEN_ALL | KGEN_ENDING, try_case);
        device.ops->close(&device);
    }
    qctx_close(&ctx);
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return check_done() || system(command);
}
