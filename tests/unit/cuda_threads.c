/* GPU execution of generated kernels: the cuda device launches their PTX through the driver that executes it
 * (tests/support/driver/ptx_driver.c), and the results are compared with the reference evaluator.  So every
 * instruction, the slots, the numbering of blocks and threads, shared memory, barriers, shuffles and faults are tested,
 * on one target after the other, with NVIDIA's mathematical functions, if they are installed, and with our own. */
#include "devices/ptx.h"
#include "lang/kernel/compile.h"
#include "tests/support/driver/fake_cuda.h"
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

#include <dlfcn.h>
#include <stdlib.h>

static Ctx ctx;
static Device gpu;
static FakeCuda *fake;
static KCompiler *compiler[2]; /* the second with our own functions */
static bool any_block;
static unsigned turn;
static uint64_t (*executed)(const char *instruction);

/* -- cases --------------------------------------------------------------------------------------------------------- */
static qs_status launch_any(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args, DevFault *fault) {
    Launch mine = *l;
    mine.any_block = any_block;
    return qdev_cuda_ops.launch(d, p, &mine, nargs, args, fault);
}

static bool knows_blocks(const KFunc *f) {
    bool blocks = f->barrier || f->shared || f->fixed_block;
    for (KRef r = 1; r < f->nins; r++) blocks |= f->ins[r].op >= K_BLKPOS && f->ins[r].op <= K_BLKCNT;
    return blocks;
}

static qs_status load_case(KCase *k, Program **out) {
    static const char *const targets[] = {"sm_70", "sm_75", "sm_80", "sm_90"};
    bool own = turn & 1;
    const KFunc *f = k->func;
    Code code;
    if (turn / 8 % 2 && !f->serial) f = kir_small(k->func->arena, k->func);
    if (own) setenv("QUASAR_LIBDEVICE", "none", 1);
    else unsetenv("QUASAR_LIBDEVICE");
    TRY(kcompile_ahead(compiler[own], f, targets[turn++ / 2 % 4], &code));
    qs_status s = gpu.ops->load(&gpu, &code, out);
    kcompile_free(compiler[own], &code);
    return s;
}

static qs_status run(KCase *k) {
    Program *p;
    any_block = !knows_blocks(k->func);
    TRY(load_case(k, &p));
    qs_status s = kgen_launch(&gpu, p, k);
    gpu.ops->unload(&gpu, p);
    return s;
}

static void try_case(KCase *k, const char *kind, uint64_t number) { CHECK(kgen_agrees(k, run, kind, number)); }

/* s[0] += 1, or the smallest and largest position, in `positions` positions. */
static void one_element(KAtomic op, qs_dtype d, int64_t positions) {
    Arena arena;
    int64_t one = 1;
    qarena_init(&arena, &ctx);
    KCase *k = kgen_case(&ctx, &arena, "one element", 1);
    k->launch = (KLaunch){.rank = 1, .domain = {positions}, .block = {64}};
    int y = kgen_array(k, d, 1, &one, NULL, 0, 1);
    KRef pos = kir_add(k->func, (KMake){K_POS, .own = QS_I64});
    KRef v = op == KA_ADD || op == KA_SUB ? kir_const_num(k->func, d, 1, 0) : kgen_cast(k, d, pos);
    kir_add(k->func, (KMake){K_ATOMIC, .flag = op, .a = kgen_i64(k, 0), .b = v, .imm = (uint64_t)y});
    CHECK(kgen_finish(k) == QS_OK);
    uint64_t before = executed("shfl");
    try_case(k, "atomic", (uint64_t)op);
    CHECK((executed("shfl") > before) == (positions >= 32));
    qarena_free(&arena);
}

static void warps(void) {
    static const qs_dtype dtypes[] = {QS_I32, QS_U32, QS_I64, QS_U64, QS_F32, QS_F64};
    static const KAtomic ops[] = {KA_ADD, KA_SUB, KA_MIN, KA_MAX};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
            one_element(ops[k], dtypes[i], 1000); /* complete warps, and a partial one */
            one_element(ops[k], dtypes[i], 17);
        }
}

static bool open_everything(void) {
    static DeviceOps ops;
    void *lib = dlopen(PTX_DRIVER, RTLD_NOW | RTLD_LOCAL);
    FakeCuda *(*get)(void);
    CHECK(lib != NULL);
    if (!lib) return false;
    *(void **)(void *)&get = dlsym(lib, "fake_cuda");
    fake = get();
    *(void **)(void *)&executed = dlsym(lib, "fake_gpu_executed");
    setenv("QUASAR_CUDA", PTX_DRIVER, 1);
    ops = qdev_cuda_ops;
    ops.launch = launch_any;
    gpu = (Device){.ops = &ops, .ctx = &ctx, .memory = 1};
    return ops.open(&gpu, 0) == QS_OK;
}

int main(int argc, char **argv) {
    Code code;
    Arena arena;
    qctx_init(&ctx, 32);
    CHECK(open_everything());
    for (int i = 0; i < 2; i++) compiler[i] = kcompile_open(&ctx, "");
    qarena_init(&arena, &ctx);
    if (kcompile_ahead(compiler[0], kgen_suite(&ctx, &arena, 0)->func, "sm_80", &code) != QS_OK) {
        printf("skipped: %s\n", ctx.err.text);
        return 0;
    }
    kcompile_free(compiler[0], &code);
    if (argc < 2) warps();
    kgen_program(&ctx, argc, argv, 40, KGEN_ALL | KGEN_ENDING, try_case);
    gpu.ops->close(&gpu);
    CHECK(!fake->misuse && !fake->modules && !fake->allocated);
    if (fake->misuse) printf("  misuse: %s\n", fake->wrong);
    qarena_free(&arena);
    for (int i = 0; i < 2; i++) kcompile_close(compiler[i]);
    qctx_close(&ctx);
    return check_done(); /* an error in a kernel makes the driver end the process with status 70 */
}
