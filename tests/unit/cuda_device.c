/* CUDA against the reference evaluator, on a real device: every instruction, random kernels (unit_cuda_device
 * [seed [count]]), transfers of all sizes.  Without a device it says so and passes. */
#include "lang/kernel/compile.h"
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

#include <stdlib.h>

static Ctx ctx;
static KCompiler *compiler;
static Device device;
static bool any_block;

static bool knows_blocks(const KFunc *f) {
    bool blocks = f->barrier || f->shared || f->fixed_block;
    for (KRef r = 1; r < f->nins; r++) blocks |= f->ins[r].op >= K_BLKPOS && f->ins[r].op <= K_BLKCNT;
    return blocks;
}

static qs_status launch_any(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args, DevFault *fault) {
    Launch mine = *l;
    mine.any_block = any_block;
    return qdev_cuda_ops.launch(d, p, &mine, nargs, args, fault);
}

static qs_status run(KCase *k) {
    Program *p;
    Code code;
    TRY(kcompile(compiler, k->func, &device, &code));
    qs_status s = device.ops->load(&device, &code, &p);
    kcompile_free(compiler, &code);
    TRY(s);
    any_block = !knows_blocks(k->func);
    s = kgen_launch(&device, p, k);
    device.ops->unload(&device, p);
    return s;
}

static void try_case(KCase *k, const char *kind, uint64_t number) { CHECK(kgen_agrees(k, run, kind, number)); }

/* s[0] += 1 in a million positions: warps add up, many blocks meet. */
static void one_element(qs_dtype d) {
    Arena arena;
    int64_t one = 1;
    qarena_init(&arena, &ctx);
    KCase *k = kgen_case(&ctx, &arena, "one element", 1);
    k->launch = (KLaunch){.rank = 1, .domain = {1000003}, .block = {256}};
    int y = kgen_array(k, d, 1, &one, NULL, 0, 1);
    kir_add(k->func, (KMake){K_ATOMIC, .flag = KA_ADD, .a = kgen_i64(k, 0), .b = kir_const_num(k->func, d, 1, 0),
                             .imm = (uint64_t)y});
    CHECK(kgen_finish(k) == QS_OK);
    try_case(k, "atomic", (uint64_t)d);
    qarena_free(&arena);
}

static void transfers(void) {
    static const size_t sizes[] = {1, 1000, (4 << 20) - 1, (4 << 20) + 1, (40 << 20) + 7};
    size_t most = 41 << 20;
    DevPtr p, q;
    char *from = qmem_alloc(&ctx, most), *to = qmem_alloc(&ctx, most);
    for (size_t i = 0; i < most; i++) from[i] = (char)(i * 7 + i / 1000);
    CHECK(device.ops->alloc(&device, most, &p) == QS_OK && device.ops->alloc(&device, most, &q) == QS_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK(device.ops->upload(&device, p, 5, from, sizes[i]) == QS_OK);
        CHECK(device.ops->copy(&device, q, p, sizes[i] + 5) == QS_OK);
        CHECK(device.ops->download(&device, to, q, 5, sizes[i]) == QS_OK && !memcmp(from, to, sizes[i]));
    }
    device.ops->free(&device, p), device.ops->free(&device, q);
    CHECK(device.ops->alloc(&device, (size_t)1 << 50, &p) == QS_ENOMEM);
    qerr_clear(&ctx);
    qmem_free(&ctx, from, most), qmem_free(&ctx, to, most);
}

int main(int argc, char **argv) {
    DeviceOps ops = qdev_cuda_ops;
    const char *why;
    qctx_init(&ctx, 32);
    bool here = ops.probe(&ctx, &why) > 0;
    if (!here) printf("skipped: %s\n", why);
    ops.launch = launch_any;
    device = (Device){.ops = &ops, .ctx = &ctx, .memory = 1};
    compiler = kcompile_open(&ctx, argc < 2 ? NULL : "");
    if (here && ops.open(&device, 0) != QS_OK) CHECK(false), puts(ctx.err.text);
    else if (here) {
        printf("%s, %s\n", qdev_name(&device), device.arch);
        transfers();
        for (int d = QS_I32; argc < 2 && d <= QS_U64; d++) one_element((qs_dtype)d);
        kgen_program(&ctx, argc, argv, 40, KGEN_ALL | KGEN_ENDING, try_case);
        CHECK(ops.sync(&device) == QS_OK);
        ops.close(&device);
    }
    kcompile_close(compiler);
    qctx_close(&ctx);
    return check_done();
}
