/* gpu_threads.c -- see gpu_threads.h. */
#include "tests/support/gpu_threads.h"
#include "devices/llvm.h"
#include "devices/elf.h"
#include "lang/kernel/emit/emit.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { WARP = 32, THREADS = 1024, STACK = 128 << 10 };

static Ctx *ctx;
static Llvm *llvm;
static unsigned whole_warps, mistakes;

static void mistake(const char *what) {
    if (!mistakes++) fprintf(stderr, "gpu_threads: %s\n", what);
}

/* -- a block of threads, which take turns -------------------------------------------------------------------------- */
typedef void kernel_fn(const uint64_t *slots);
typedef struct { ucontext_t context; unsigned x, y, z; bool ended; int asked; uint32_t word; } Thread;

static struct {
    Thread thread[THREADS];
    char *stacks;
    unsigned n, now, alive, waiting, generation, block;
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
    whole_warps += mask == UINT32_MAX;
    return mask;
}

static uint32_t shuffle_down(uint32_t mask, uint32_t word, uint32_t distance, uint32_t clamp) {
    unsigned lane = block.now % WARP;
    if (mask != UINT32_MAX || clamp != 31) mistake("a shuffle of a part of a warp");
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

static float quotient(float a, float b) { return a / b; }

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

/* Threads that never ask anything of each other need no turns. */
static void run_apart(unsigned number, const FakeLaunch *l) {
    block.block = number;
    for (block.now = 0; block.now < l->x * l->y * l->z; block.now++) {
        *me() = (Thread){.x = block.now % l->x, .y = block.now / l->x % l->y, .z = block.now / l->x / l->y};
        block.run(block.slots);
    }
}

static void run_together(unsigned number, const FakeLaunch *l) {
    block.n = block.alive = l->x * l->y * l->z;
    block.block = number, block.waiting = 0;
    for (unsigned i = 0; i < block.n; i++) start_thread(i, l);
    while (block.alive)
        for (block.now = 0; block.now < block.n; block.now++)
            if (!me()->ended) swapcontext(&block.main, &me()->context);
}

/* -- code ---------------------------------------------------------------------------------------------------------- */
typedef struct { ElfObject *object; bool together; struct { char *at; size_t n; } shared[8]; int nshared; } Image;

static void *resolve(void *ud, const char *name) {
    static const struct { const char *name; void (*fn)(void); } known[] = {
        {"gpu_barrier", (void (*)(void))barrier},         {"gpu_activemask", (void (*)(void))active_mask},
        {"gpu_shuffle", (void (*)(void))shuffle_down},    {"gpu_sreg_tid.x", (void (*)(void))tid_x},
        {"gpu_sreg_tid.y", (void (*)(void))tid_y},        {"gpu_sreg_tid.z", (void (*)(void))tid_z},
        {"gpu_sreg_ctaid.x", (void (*)(void))ctaid_x},    {"gpu_sreg_laneid", (void (*)(void))laneid},
        {"gpu_div", (void (*)(void))quotient},            {"gpu_sqrt", (void (*)(void))sqrtf},
        {"gpu_sin", (void (*)(void))sinf},                {"gpu_cos", (void (*)(void))cosf},
        {"gpu_ex2", (void (*)(void))exp2f},               {"gpu_lg2", (void (*)(void))log2f}};
    (void)ud;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) return *(void **)(void *)(uintptr_t)&known[i].fn;
    return dlsym(RTLD_DEFAULT, name);
}

/* Appends text with every `from` replaced. */
static void replace(Text *text, const char *from, const char *to) {
    Text out;
    qtext_init(&out, ctx);
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
    replace(ir, "@llvm.nvvm.", "@gpu_"); /* estimates: gpu_sin and the like */
    replace(ir, ".approx.ftz.f", "");
    replace(ir, "asm sideeffect \"activemask.b32 $0;\", \"=r\"()", "@gpu_activemask()");
    if (strstr(ir->s, "@gpu_activemask")) qtext_puts(ir, "declare i32 @gpu_activemask() convergent nounwind\n");
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
                m->shared[m->nshared].at = qelf_symbol(m->object, name);
                m->shared[m->nshared++].n = n * sizes[i].n;
            }
    }
}

static void *load_image(const char *image, char *why, size_t nwhy) {
    (void)why, (void)nwhy;
#if defined(__x86_64__)
    LlvmTarget host = {.arch = LLVM_X86, .cpu = "", .features = ""};
#else
    LlvmTarget host = {.arch = LLVM_AARCH64, .cpu = "", .features = ""};
#endif
    Text ir, object, math;
    Image *m = calloc(1, sizeof *m);
    qtext_init(&ir, ctx), qtext_init(&object, ctx), qtext_init(&math, ctx);
    qtext_puts(&ir, strchr(image, '\n')); /* behind the first line, which is no IR; begins with a new line */
    make_host_ir(&ir);
    if (kemit_math(ir.s, &math)) host.math = math.s;
    bool ok = qllvm_compile(ctx, llvm, &host, ir.s, ir.len, LLVM_OBJECT, &object) == QS_OK &&
              qelf_load(ctx, object.s, object.len, resolve, NULL, &m->object) == QS_OK;
    if (!ok) mistake(ctx->err.text);
    if (ok) find_shared(m, ir.s);
    m->together =
        strstr(ir.s, "@gpu_barrier") || strstr(ir.s, "@gpu_activemask"); /* else one after the other will do */
    qtext_free(&ir), qtext_free(&object), qtext_free(&math);
    return m;
}

/* Shared memory holds what others left there: code that relies on zeros has to make them. */
static int run_image(void *code, const FakeLaunch *l, const uint64_t *slots) {
    Image *m = code;
    void *entry = m->object ? qelf_symbol(m->object, "kernel") : NULL;
    if (!entry) return 0;
    memcpy(&block.run, &entry, sizeof entry);
    block.slots = slots;
    for (unsigned i = 0; i < l->grid; i++) {
        for (int k = 0; k < m->nshared; k++) memset(m->shared[k].at, 0xA5, m->shared[k].n);
        if (m->together) run_together(i, l);
        else run_apart(i, l);
    }
    return 0;
}

static void unload_image(void *code) {
    Image *m = code;
    if (m->object) qelf_unload(ctx, m->object);
    free(m);
}

/* -- taking part --------------------------------------------------------------------------------------------------- */
qs_status gpu_threads_open(Ctx *c, FakeCuda *fake) {
    ctx = c;
    TRY(qllvm_open(c, &llvm));
    block.stacks = malloc((size_t)THREADS * STACK);
    if (!block.stacks) return qerr_set(c, QS_ENOMEM, "no memory for stacks");
    fake->load = load_image, fake->run = run_image, fake->unload = unload_image;
    return QS_OK;
}

void gpu_threads_close(void) {
    free(block.stacks);
    qllvm_close(ctx, llvm);
}

unsigned gpu_threads_mistakes(void) { return mistakes; }

unsigned gpu_threads_whole_warps(void) { return whole_warps; }
