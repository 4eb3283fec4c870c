/* Two devices whose driver runs nothing before it is waited for, and then in any order that it may: schedules of
 * launches, reads and writes of the host, copies, peer copies, evictions and blocks that others use on streams of their
 * own, drawn from a seed.  What is read is what a program would have computed step by step.
 *
 *     unit_schedules [seed [count]]
 *
 * That a missing order is heard is shown at the end: the same schedules, with a driver that forgets events. */
#include "devices/buffer.h"
#include "devices/heap.h"
#include "devices/ptx.h"
#include "tests/support/driver/fake_cuda.h"
#include "tests/unit/check.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { GPUS = 2, BUFFERS = 9, STEPS = 120, SMALL = 16000, LARGE = (9 << 20) / 4 + 1, LIMIT = 350 << 10 };

/* The driver as other users in the process call it. */
typedef struct {
#define CU(name, symbol, args) int(*name) args;
#include "devices/cuda_api.def"
} Api;

typedef struct {
    Buffer *b;
    uint32_t *want; /* the expected contents */
    int64_t n;
    int given; /* the device on which others hold it, or -1 */
} Array;

static FakeCuda *fake;
static bool (*block_of)(uint64_t p, uint64_t *begin, uint64_t *end);
static Api api;
static Ctx ctx;
static Device gpu[GPUS];
static Program *code[GPUS];
static void *context[GPUS], *theirs[GPUS]; /* a stream of other users */
static DevPtr named[GPUS];                 /* our stream, if they work there; or 0 */
static Array array[BUFFERS];
static uint64_t state;
static int wrong;

static uint64_t draw(uint64_t n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (state >> 16) % n;
}

/* -- the kernel: y = 3*y or 0, plus k*x and the position ----------------------------------------------------------- */
static uint32_t value(uint32_t y, uint32_t x, uint32_t k, int64_t i) { return 3 * y + x * k + (uint32_t)i; }

static int run(void *loaded, const FakeLaunch *l, const uint64_t *slots) {
    const uint64_t *a = slots + qptx_first_arg(1);
    uint32_t *y = (void *)(uintptr_t)a[0], *x = (void *)(uintptr_t)a[3];
    uint64_t begin, end;
    (void)loaded, (void)l;
    if (!block_of(a[0], &begin, &end) || !block_of(a[3], &begin, &end)) return wrong++, 0; /* it is not available */
    for (int64_t i = 0; i < (int64_t)a[1]; i++) y[i] = value(a[7] ? y[i] : 0, x[i % (int64_t)a[4]], (uint32_t)a[6], i);
    return 0;
}

static void *load(const char *image, char *why, size_t n) { return (void)image, (void)why, (void)n, &code; }

static void must(qs_status s) {
    CHECK(s == QS_OK);
    if (s != QS_OK) printf("  %s\n", ctx.err.text), qerr_clear(&ctx);
}

static DevArg whole(const Array *a, DevPtr at, bool only_read) {
    return (DevArg){.is_array = true, .block = at, .only_read = only_read, .rank = 1, .dims = {a->n}, .strides = {1}};
}

/* -- steps --------------------------------------------------------------------------------------------------------- */
static void launch(Array *y) {
    Array *x = &array[draw(BUFFERS)];
    Device *d = &gpu[draw(GPUS)];
    qs_access mode = x != y && draw(2) ? QS_WRITE : QS_READWRITE;
    uint32_t k = (uint32_t)draw(1000), keeps = mode == QS_READWRITE;
    DevPtr to = 0, from = 0;
    Launch l = {.rank = 1, .domain = {y->n}, .any_block = true};
    must(qbuf_lock(&ctx, y->b, d, mode, &to));
    if (x != y) must(qbuf_lock(&ctx, x->b, d, QS_READ, &from));
    DevArg args[] = {
        whole(y, to, false), whole(x, x == y ? to : from, x != y), {.bits = k, .size = 4}, {.bits = keeps, .size = 4}};
    must(d->ops->launch(d, code[d - gpu], &l, 4, args, NULL));
    if (x != y) must(qbuf_unlock(&ctx, x->b, d, QS_READ));
    must(qbuf_unlock(&ctx, y->b, d, mode));
    for (int64_t i = 0; i < y->n; i++) y->want[i] = value(keeps ? y->want[i] : 0, x->want[i % x->n], k, i);
}

static void read_host(Array *a) {
    void *p = NULL;
    must(qbuf_host(&ctx, a->b, QS_READ, &p));
    wrong += p && memcmp(p, a->want, (size_t)a->n * 4) != 0;
}

static void write_host(Array *a) {
    void *p = NULL;
    uint32_t k = (uint32_t)draw(1 << 30);
    must(qbuf_host(&ctx, a->b, QS_READWRITE, &p));
    for (int64_t i = (int64_t)draw((uint64_t)a->n); p && i < a->n; i++) ((uint32_t *)p)[i] += k, a->want[i] += k;
    must(qbuf_settle(&ctx, a->b));
}

/* Requests the contents on a device without using them. */
static void move(Array *a) {
    Device *d = &gpu[draw(GPUS)];
    DevPtr p;
    must(qbuf_lock(&ctx, a->b, d, QS_READ, &p));
    must(qbuf_unlock(&ctx, a->b, d, QS_READ));
}

static void make(Array *a, int64_t n) {
    *a = (Array){.n = n, .want = calloc((size_t)n, 4), .given = -1};
    must(qbuf_new(&ctx, (size_t)n * 4, true, &a->b));
}

static void take_back(Array *a) {
    if (a->given >= 0) qbuf_take_back(a->b);
    a->given = -1;
}

static void drop(Array *a) {
    take_back(a);
    qbuf_release(&ctx, a->b);
    free(a->want);
}

static void make_anew(Array *a) {
    int64_t n = a->n;
    drop(a);
    make(a, n > SMALL ? n : 1 + (int64_t)draw(SMALL));
}

static void clone(Array *a) {
    Array *to = &array[draw(BUFFERS)];
    Buffer *copy;
    if (to == a || a->n > SMALL || to->n > SMALL) return;
    must(qbuf_clone(&ctx, a->b, &copy));
    drop(to);
    *to = (Array){.b = copy, .n = a->n, .want = malloc((size_t)a->n * 4), .given = -1};
    memcpy(to->want, a->want, (size_t)a->n * 4);
}

/* Others get the block, write it on their stream, after our work and before our next work.  On our stream they need not
 * ask, once they have its handle. */
static void give(Array *a) {
    int k = a->given >= 0 ? a->given : (int)draw(GPUS), byte = (int)draw(256);
    Device *d = &gpu[k];
    DevPtr p = 0, stream = named[k] ? named[k] : (uintptr_t)theirs[k];
    bool ask = !named[k] || draw(2);
    void *popped;
    must(qbuf_give(&ctx, a->b, d, false, &p));
    if (a->given >= 0) qbuf_take_back(a->b); /* once is counted */
    a->given = k;
    if (ask) must(d->ops->sharing->order(d, stream, true));
    CHECK(!api.CtxPushCurrent(context[k]));
    CHECK(!api.MemsetD8Async(p, (unsigned char)byte, (size_t)a->n * 4, (void *)(uintptr_t)stream));
    CHECK(!api.CtxPopCurrent(&popped));
    if (ask) must(d->ops->sharing->order(d, stream, false));
    memset(a->want, byte, (size_t)a->n * 4);
}

static void step(void) {
    Array *a = &array[draw(BUFFERS)];
    switch (draw(20)) {
    case 0:
    case 1: read_host(a); break;
    case 2:
    case 3: write_host(a); break;
    case 4:
    case 5: move(a); break;
    case 6: make_anew(a); break;
    case 7:
    case 8: clone(a); break;
    case 9: qheap_trim(&gpu[draw(GPUS)]); break;
    case 10: must(gpu[0].ops->sync(&gpu[draw(GPUS)])); break;
    case 11:
        if (array[0].given < 0 || a == &array[0]) give(&array[0]);
        break;
    case 12: take_back(&array[0]); break;
    default: launch(a);
    }
}

/* -- schedules ----------------------------------------------------------------------------------------------------- */
static void open_devices(size_t limit, bool by_name) {
    Code text = {.kind = CODE_PTX, .entry = "kernel", .bytes = "// quasar: shared=0\n", .n = 20, .name = "step"};
    void *popped;
    for (int k = 0; k < GPUS; k++) {
        gpu[k] = (Device){.ops = &qdev_cuda_ops, .ctx = &ctx, .memory = k + 1};
        must(gpu[k].ops->open(&gpu[k], k));
        gpu[k].limit = limit;
        named[k] = by_name ? gpu[k].ops->sharing->queue(&gpu[k]) : 0;
        must(gpu[k].ops->load(&gpu[k], &text, &code[k]));
        CHECK(!api.DevicePrimaryCtxRetain(&context[k], k) && !api.CtxPushCurrent(context[k]) &&
              !api.StreamCreate(&theirs[k], 1) && !api.CtxPopCurrent(&popped));
    }
}

static void close_devices(void) {
    void *popped;
    for (int k = 0; k < GPUS; k++) {
        qheap_close(&gpu[k]);
        gpu[k].ops->unload(&gpu[k], code[k]);
        gpu[k].ops->close(&gpu[k]);
        ctx.spaces[k + 1] = NULL;
        CHECK(!api.CtxPushCurrent(context[k]) && !api.StreamDestroy(theirs[k]) && !api.CtxPopCurrent(&popped));
        api.DevicePrimaryCtxRelease(k);
    }
}

/* The number of wrong reads. */
static int schedule(uint64_t seed, int deaf) {
    bool large = seed % 16 == 7;
    int pools = seed % 4 != 3;
    *fake = (FakeCuda){.devices = GPUS,
                       .capability = 90,
                       .max_threads = 1024,
                       .blocks = 8,
                       .fail_after = -1,
                       .load = load,
                       .run = run,
                       .defer = (int)(seed % 1000000) + 1,
                       .deaf = deaf,
                       .pools = pools};
    state = seed * 0x9E3779B97F4A7C15u + 1, wrong = 0;
    open_devices(large || seed % 3 == 0 ? 0 : LIMIT, seed % 5 == 0);
    for (int i = 0; i < BUFFERS; i++) make(&array[i], large && i == 1 ? LARGE : 1 + (int64_t)draw(SMALL));
    for (int i = 0; i < STEPS; i++) step();
    for (int i = 0; i < BUFFERS; i++) take_back(&array[i]), read_host(&array[i]);
    for (int i = 0; i < BUFFERS; i++) drop(&array[i]);
    close_devices();
    if (deaf && fake->misuse) wrong++, fake->misuse = 0; /* memory that was not allocated */
    CHECK(!fake->misuse && !fake->allocated && !fake->retained && !fake->streams && !fake->events && !fake->modules);
    if (fake->misuse) printf("  misuse: %s\n", fake->wrong);
    return wrong;
}

static bool open_driver(void) {
    void *lib = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    FakeCuda *(*get)(void);
    if (!lib) return printf("%s\n", dlerror()), false;
    *(void **)(void *)&get = dlsym(lib, "fake_cuda"), fake = get();
    *(void **)(void *)&block_of = dlsym(lib, "fake_block");
#define CU(name, symbol, args) *(void **)(void *)&api.name = dlsym(lib, symbol);
#include "devices/cuda_api.def"
    return setenv("QUASAR_CUDA", FAKE_CUDA, 1) == 0;
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 60;
    int heard[3] = {0};
    qctx_init(&ctx, 32);
    CHECK(open_driver());
    for (uint64_t seed = first; fake && seed < first + count; seed++) {
        int n = schedule(seed, 0);
        CHECK(n == 0);
        if (n) printf("  %d wrong reads: unit_schedules %llu 1\n", n, (unsigned long long)seed);
        for (int deaf = FAKE_DEAF_STREAMS; argc < 2 && deaf <= FAKE_DEAF_HOST; deaf++)
            heard[deaf] += schedule(seed, deaf) > 0;
    }
    CHECK(argc > 1 || (heard[FAKE_DEAF_STREAMS] && heard[FAKE_DEAF_HOST]));
    if (argc < 2)
        printf("forgotten events of streams were heard by %d schedules of %d, of the host by %d\n",
               heard[FAKE_DEAF_STREAMS], (int)count, heard[FAKE_DEAF_HOST]);
    qctx_close(&ctx);
    return check_done();
}
