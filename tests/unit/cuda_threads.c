/* What a GPU would do with kernels made for it, thread by thread: the LLVM IR from which PTX is made is compiled for this
 * processor instead, with functions for what a thread asks the hardware; the cuda device launches it through the fake
 * driver; the reference evaluator says what must come out.  So the IR of every instruction, the slots, the numbering of
 * blocks and threads, shared memory, barriers, shuffles and faults are tested.  Races and PTX itself are not. */
#include "devices/llvm.h"
#include "devices/object.h"
#include "devices/ptx.h"
#include "lang/kernel/compile.h"
#include "lang/kernel/emit.h"
#include "tests/support/driver/fake_cuda.h"
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <ucontext.h>

enum { WARP = 32, THREADS = 1024, STACK = 128 << 10 };

static Ctx ctx;
static Llvm *llvm;
static Device gpu;
static FakeCuda *fake;
static bool any_block;

/* -- a block of threads, which take turns -------------------------------------------------------------------------- */
typedef void kernel_fn(const uint64_t *slots);
typedef struct { ucontext_t context; unsigned x, y, z; bool ended; int asked; uint32_t word; } Thread;

static struct {
    Thread thread[THREADS];
    char *stacks;
    unsigned n, now, alive, waiting, generation, block, warps;
    ucontext_t main;
    kernel_fn *run;
    const uint64_t *slots;
} block;

static Thread *me(void) { return &block.thread[block.now]; }

static void yield_turn(void) { swapcontext(&me()->context, &block.main); }

static void release_barrier(void) {
    if (block.waiting == block.alive) block.waiting = 0, block.generation++;
}

static void barrier(void) {
    unsigned mine = block.generation;
    block.waiting++;
    release_barrier();
    while (block.generation == mine) yield_turn();
}

/* In one round of turns every thread comes to where it asks next; those of a warp that ask the same are together. */
static uint32_t active_mask(void) {
    unsigned first = block.now / WARP * WARP;
    uint32_t mask = 0;
    me()->asked = 1;
    yield_turn();
    for (unsigned i = 0; i < WARP && first + i < block.n; i++)
        mask |= (uint32_t)(block.thread[first + i].asked == 1 && !block.thread[first + i].ended) << i;
    yield_turn();
    me()->asked = 0;
    block.warps += mask == UINT32_MAX;
    return mask;
}

static uint32_t shuffle_down(uint32_t mask, uint32_t word, uint32_t distance, uint32_t clamp) {
    unsigned lane = block.now % WARP;
    CHECK(mask == UINT32_MAX && clamp == 31);
    me()->word = word;
    yield_turn();
    uint32_t got = lane + distance < WARP ? block.thread[block.now + distance].word : word;
    yield_turn();
    return got;
}

static uint32_t tid_x(void) { return me()->x; }
static uint32_t tid_y(void) { return me()->y; }
static uint32_t tid_z(void) { return me()->z; }
static uint32_t ctaid_x(void) { return block.block; }
static uint32_t laneid(void) { return block.now % WARP; }

static void thread_main(void) {
    block.run(block.slots);
    me()->ended = true;
    block.alive--;
    release_barrier();
}

static void start_thread(unsigned i, const FakeLaunch *l) {
    Thread *t = &block.thread[i];
    *t = (Thread){.x = i % l->x, .y = i / l->x % l->y, .z = i / l->x / l->y};
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = block.stacks + (size_t)i * STACK;
    t->context.uc_stack.ss_size = STACK;
    t->context.uc_link = &block.main;
    makecontext(&t->context, thread_main, 0);
}

static void run_block(unsigned number, const FakeLaunch *l) {
    block.n = block.alive = l->x * l->y * l->z;
    block.block = number, block.waiting = 0;
    for (unsigned i = 0; i < block.n; i++) start_thread(i, l);
    while (block.alive)
        for (block.now = 0; block.now < block.n; block.now++)
            if (!me()->ended) swapcontext(&block.main, &me()->context);
}

/* -- code ---------------------------------------------------------------------------------------------------------- */
typedef struct { Object *object; struct { char *at; size_t n; } shared[8]; int nshared; } Image;

static void *resolve(void *ud, const char *name) {
    static const struct { const char *name; void (*fn)(void); } known[] = {
        {"gpu_barrier", (void (*)(void))barrier},         {"gpu_activemask", (void (*)(void))active_mask},
        {"gpu_shuffle", (void (*)(void))shuffle_down},    {"gpu_sreg_tid.x", (void (*)(void))tid_x},
        {"gpu_sreg_tid.y", (void (*)(void))tid_y},        {"gpu_sreg_tid.z", (void (*)(void))tid_z},
        {"gpu_sreg_ctaid.x", (void (*)(void))ctaid_x},    {"gpu_sreg_laneid", (void (*)(void))laneid}};
    (void)ud;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) return *(void **)(void *)(uintptr_t)&known[i].fn;
    if (!strncmp(name, "__nv_", 5)) name += 5; /* libdevice calls them what the C library does */
    return dlsym(RTLD_DEFAULT, name);
}

/* Appends text with every `from` replaced. */
static void replace(Text *text, const char *from, const char *to) {
    Text out;
    qtext_init(&out, &ctx);
    const char *at = text->s;
    for (const char *hit; (hit = strstr(at, from)); at = hit + strlen(from)) {
        qtext_add(&out, at, (size_t)(hit - at));
        qtext_puts(&out, to);
    }
    qtext_puts(&out, at);
    qtext_free(text);
    *text = out;
}

/* The parameter of the kernel and the names of what the hardware provides. */
static void make_host_ir(Text *ir) {
    char byval[64];
    const char *at = strstr(ir->s, "ptr byval(");
    snprintf(byval, sizeof byval, "%.*s", at ? (int)(strstr(at, " %slots") - at) : 0, at ? at : "");
    replace(ir, byval, "ptr");
    replace(ir, " addrspace(1)", "");
    replace(ir, "external addrspace(3) global [0 x i8]", "dso_local global [232448 x i8] zeroinitializer");
    replace(ir, "= internal addrspace(3)", "= dso_local");
    replace(ir, "] undef, align 16", "] zeroinitializer, align 16");
    replace(ir, " addrspace(3)", "");
    replace(ir, "@llvm.nvvm.read.ptx.sreg.", "@gpu_sreg_");
    replace(ir, "@llvm.nvvm.barrier0", "@gpu_barrier");
    replace(ir, "@llvm.nvvm.shfl.sync.down.i32", "@gpu_shuffle");
    replace(ir, "asm sideeffect \"activemask.b32 $0;\", \"=r\"()", "@gpu_activemask()");
    qtext_puts(ir, "declare i32 @gpu_activemask() convergent nounwind\n");
}

static void find_shared(Image *m, const char *ir) {
    static const struct { const char *type; size_t n; } sizes[] = {{"i8", 1}, {"i16", 2}, {"half", 2}, {"bfloat", 2},
                                                                   {"i32", 4}, {"float", 4}, {"i64", 8}, {"double", 8}};
    for (const char *at = ir; (at = strstr(at, "\n@shared")); at++) {
        char name[32], type[16];
        unsigned long long n;
        if (sscanf(at, "\n@%31[^ ] = dso_local global [%llu x %15[^]]]", name, &n, type) != 3) continue;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (!strcmp(type, sizes[i].type) && m->nshared < 8) {
                m->shared[m->nshared].at = qobject_symbol(m->object, name);
                m->shared[m->nshared++].n = n * sizes[i].n;
            }
    }
}

static void *load_image(const char *image) {
    static const LlvmTarget host = {
#if defined(__x86_64__)
        LLVM_X86,
#else
        LLVM_AARCH64,
#endif
        "", ""};
    Text ir, object;
    Image *m = calloc(1, sizeof *m);
    qtext_init(&ir, &ctx), qtext_init(&object, &ctx);
    qtext_puts(&ir, strchr(image, '\n')); /* behind the first line, which is no IR; begins with a new line */
    make_host_ir(&ir);
    bool ok = qllvm_compile(&ctx, llvm, &host, ir.s, ir.len, LLVM_OBJECT, &object) == QS_OK &&
              qobject_load(&ctx, object.s, object.len, resolve, NULL, &m->object) == QS_OK;
    CHECK(ok);
    if (!ok) printf("  %s\n%s\n", ctx.err.text, getenv("SHOW_CODE") ? ir.s : "");
    if (ok) find_shared(m, ir.s);
    qtext_free(&ir), qtext_free(&object);
    return m;
}

/* Shared memory holds what others left there: code that relies on zeros has to make them. */
static void run_image(void *code, const FakeLaunch *l, const uint64_t *slots) {
    Image *m = code;
    void *entry = m->object ? qobject_symbol(m->object, "kernel") : NULL;
    if (!entry) return;
    memcpy(&block.run, &entry, sizeof entry);
    block.slots = slots;
    for (unsigned i = 0; i < l->grid; i++) {
        for (int k = 0; k < m->nshared; k++) memset(m->shared[k].at, 0xA5, m->shared[k].n);
        run_block(i, l);
    }
}

static void unload_image(void *code) {
    Image *m = code;
    if (m->object) qobject_unload(&ctx, m->object);
    free(m);
}

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
    static const KTarget target = {.kind = KT_NVPTX, .half = true};
    Text text;
    qtext_init(&text, &ctx);
    kemit_ptx_needs(k->func, &text);
    qs_status s = kemit_llvm(&ctx, k->func, &target, &text);
    Code code = {.kind = CODE_PTX, .entry = "kernel", .bytes = text.s, .n = text.len, .name = k->what};
    if (s == QS_OK) s = gpu.ops->load(&gpu, &code, out);
    qtext_free(&text);
    return s;
}

static void try_case(KCase *want, const char *kind, uint64_t number) {
    Program *p = NULL;
    Text why;
    qtext_init(&why, &ctx);
    KCase *got = kgen_copy(want);
    any_block = !knows_blocks(want->func);
    bool ok = kgen_evaluate(want) == QS_OK && load_case(got, &p) == QS_OK && kgen_launch(&gpu, p, got) == QS_OK &&
              kgen_same(want, got, &why);
    CHECK(ok);
    if (!ok) printf("  %s %llu (%s): %s %s\n", kind, (unsigned long long)number, want->what, ctx.err.text,
                    why.s ? why.s : "");
    qerr_clear(&ctx);
    if (p) gpu.ops->unload(&gpu, p);
    qtext_free(&why);
}

static void each(uint64_t first, uint64_t n, bool random) {
    for (uint64_t i = first; i < first + n; i++) {
        Arena arena;
        qarena_init(&arena, &ctx);
        KCase *k = random ? kgen_random(&ctx, &arena, i, KGEN_ALL | KGEN_ENDING) : kgen_suite(&ctx, &arena, (int)i);
        if (k) try_case(k, random ? "seed" : "case", i);
        qarena_free(&arena);
    }
}

/* s[0] += 1, or the smallest and largest position, in `positions` positions. */
static void one_element(KAtomic op, qs_dtype d, int64_t positions) {
    Arena arena;
    int64_t one = 1;
    qarena_init(&arena, &ctx);
    KCase *k = kgen_case(&ctx, &arena, "one element", 1);
    k->launch = (KLaunch){.rank = 1, .domain = {positions}, .block = {64}};
    int y = kgen_array(k, d, 1, &one, NULL, 0, 1);
    KRef pos = kir_add(k->func, K_POS, QS_I64, 0, 0, 0, 0, 0, 0);
    KRef v = op == KA_ADD || op == KA_SUB ? kir_const_num(k->func, d, 1, 0) : kgen_cast(k, d, pos);
    kir_add(k->func, K_ATOMIC, QS_B1, op, kgen_i64(k, 0), v, 0, (uint64_t)y, 0);
    CHECK(kgen_finish(k) == QS_OK);
    block.warps = 0;
    try_case(k, "atomic", (uint64_t)op);
    CHECK((block.warps > 0) == (positions >= WARP));
    qarena_free(&arena);
}

static void warps(void) {
    static const qs_dtype dtypes[] = {QS_I32, QS_U32, QS_I64, QS_U64, QS_F32, QS_F64};
    static const KAtomic ops[] = {KA_ADD, KA_SUB, KA_MIN, KA_MAX};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
            one_element(ops[k], dtypes[i], 1000); /* whole warps, and the rest of one */
            one_element(ops[k], dtypes[i], 17);
        }
}

static bool open_everything(void) {
    static DeviceOps ops;
    void *lib = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    FakeCuda *(*get)(void);
    CHECK(lib != NULL);
    if (!lib) return false;
    *(void **)(void *)&get = dlsym(lib, "fake_cuda");
    fake = get();
    fake->load = load_image, fake->run = run_image, fake->unload = unload_image;
    setenv("QUASAR_CUDA", FAKE_CUDA, 1);
    ops = qdev_cuda_ops;
    ops.launch = launch_any;
    gpu = (Device){.ops = &ops, .ctx = &ctx, .memory = 1};
    block.stacks = malloc((size_t)THREADS * STACK);
    return block.stacks && ops.open(&gpu, 0) == QS_OK;
}

int main(int argc, char **argv) {
    qctx_init(&ctx, 32);
    if (qllvm_open(&ctx, &llvm) != QS_OK) {
        printf("skipped: %s\n", ctx.err.text);
        return 0;
    }
    CHECK(open_everything());
    if (argc < 2) {
        each(0, (uint64_t)kgen_suite_size(), false);
        warps();
    }
    each(argc > 1 ? strtoull(argv[1], NULL, 10) : 1, argc > 2 ? strtoull(argv[2], NULL, 10) : 40, true);
    gpu.ops->close(&gpu);
    CHECK(!fake->misuse && !fake->modules && !fake->allocated);
    if (fake->misuse) printf("  misuse: %s\n", fake->wrong);
    free(block.stacks);
    qllvm_close(&ctx, llvm);
    qctx_close(&ctx);
    return check_done();
}
