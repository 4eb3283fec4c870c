/* The host side of the cuda device, run with a recording fake of the driver (tests/support/driver): the order and
 * arguments of calls, every call failing once, no leaks.  No kernel runs here. */
#include "devices/buffer.h"
#include "devices/cache.h"
#include "devices/heap.h"
#include "devices/llvm.h"
#include "devices/ptx.h"
#include "tests/support/driver/fake_cuda.h"
#include "tests/unit/check.h"
#include "vm/quasar.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static FakeCuda *fake;
static Ctx ctx;

static void reset(void) {
    *fake = (FakeCuda){.devices = 1, .capability = 90, .max_threads = 1024, .blocks = 8, .fail_after = -1};
}

enum { LEGACY = 1, PER_THREAD = 2 };     /* the default streams */
enum { OURS = 1, OTHERS = -PER_THREAD }; /* the recorder of a graph */

static bool asked_for(const char *calls) { return strstr(fake->log, calls) != NULL; }

static void forget(void) { fake->log[0] = 0, fake->nlaunches = 0; }

static bool clean(void) {
    bool ok = !fake->retained && !fake->streams && !fake->events && !fake->modules && !fake->pinned && !fake->depth &&
              !fake->allocated && !fake->misuse;
    if (!ok)
        printf("  left: context %d stream %d event %d module %d pinned %d depth %d blocks %zu, misuse: %s\n",
               fake->retained, fake->streams, fake->events, fake->modules, fake->pinned, fake->depth, fake->allocated,
               fake->wrong);
    return ok;
}

static void open_gpu(Device *d, int ordinal) {
    *d = (Device){.ops = &qdev_cuda_ops, .ctx = &ctx, .memory = ordinal + 1};
    CHECK(d->ops->open(d, ordinal) == QS_OK);
}

static Code code_of(const char *text) {
    return (Code){.kind = CODE_PTX, .entry = "kernel", .bytes = text, .n = strlen(text), .name = "blur"};
}

/* -- opening and closing ------------------------------------------------------------------------------------------- */
static void opening(void) {
    Device d;
    const char *why;
    reset();
    CHECK(qdev_cuda_ops.probe(&ctx, &why) == 1 && !why);
    open_gpu(&d, 0);
    CHECK_TEXT(qdev_name(&d), "Fake GPU");
    CHECK_TEXT(d.arch, "sm_90");
    CHECK(d.max_block == 1024 && d.total_memory == (size_t)1 << 34);
    CHECK_TEXT(fake->log, "Init DeviceGetCount Init DeviceGetCount DeviceGet DeviceGetName DeviceTotalMem "
                          "DevicePrimaryCtxRetain CtxPushCurrent StreamCreate EventCreate EventCreate StreamCreate "
                          "CtxPopCurrent ");
    forget();
    d.ops->close(&d);
    CHECK_TEXT(fake->log, "CtxPushCurrent StreamSynchronize StreamSynchronize EventDestroy StreamDestroy EventDestroy "
                          "StreamDestroy CtxPopCurrent DevicePrimaryCtxRelease ");
    CHECK(clean());
    fake->capability = 87;
    open_gpu(&d, 0);
    CHECK_TEXT(d.arch, "sm_87");
    d.ops->close(&d);
    fake->capability = 120; /* newer than any target of the code generator */
    open_gpu(&d, 0);
    CHECK_TEXT(d.arch, "sm_90");
    d.ops->close(&d);
}

static void refusals(void) {
    Device d = {.ops = &qdev_cuda_ops, .ctx = &ctx};
    const char *why;
    reset();
    fake->capability = 61;
    CHECK(d.ops->open(&d, 0) == QS_EDEVICE && !d.state);
    CHECK_TEXT(ctx.err.text, "Fake GPU: its compute capability is 6.1; 7.0 or more is needed");
    qerr_clear(&ctx);
    CHECK(d.ops->open(&d, 1) == QS_EDEVICE);
    CHECK_TEXT(ctx.err.text, "there is no CUDA device 1: 1 found");
    qerr_clear(&ctx);
    fake->devices = 0;
    CHECK(d.ops->probe(&ctx, &why) == 0);
    CHECK_TEXT(why, "NVIDIA's driver finds no device");
    reset();
    setenv("QUASAR_CUDA", "/nowhere/libcuda.so.1", 1);
    CHECK(d.ops->probe(&ctx, &why) == 0);
    CHECK(strstr(why, "/nowhere/libcuda.so.1, a part of NVIDIA's driver, cannot be opened: "));
    CHECK(strstr(why, "No such file or directory"));
    CHECK(d.ops->open(&d, 0) == QS_EDEVICE && !d.state);
    CHECK_TEXT(ctx.err.text, why);
    qerr_clear(&ctx);
    setenv("QUASAR_CUDA", "libm.so.6", 1);
    CHECK(d.ops->probe(&ctx, &why) == 0);
    CHECK_TEXT(why, "libm.so.6 is older than CUDA 11: update NVIDIA's driver");
    setenv("QUASAR_CUDA", FAKE_CUDA, 1);
    CHECK(clean());
}

/* -- transfers ----------------------------------------------------------------------------------------------------- */
static void transfers(void) {
    static const size_t sizes[] = {1, 4095, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, (12 << 20) + 5};
    Device d;
    DevPtr a, b;
    size_t most = 13 << 20;
    char *from = qmem_alloc(&ctx, most), *to = qmem_alloc(&ctx, most);
    for (size_t i = 0; i < most; i++) from[i] = (char)(i * 7 + i / 1000);
    reset();
    open_gpu(&d, 0);
    CHECK(d.ops->alloc(&d, most, &a) == QS_OK && d.ops->alloc(&d, most, &b) == QS_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(to, 0, most);
        CHECK(d.ops->upload(&d, a, 3, from, sizes[i]) == QS_OK);
        CHECK(d.ops->copy(&d, b, a, sizes[i] + 3) == QS_OK);
        CHECK(d.ops->download(&d, to, b, 3, sizes[i]) == QS_OK);
        CHECK(memcmp(from, to, sizes[i]) == 0 && to[sizes[i]] == 0);
    }
    forget();
    CHECK(d.ops->upload(&d, a, 0, from, 0) == QS_OK && d.ops->download(&d, to, a, 0, 0) == QS_OK);
    CHECK(d.ops->copy(&d, a, b, 0) == QS_OK && !*fake->log);
    CHECK(d.ops->upload(&d, a, 0, from, 10) == QS_OK);
    CHECK_TEXT(fake->log, "CtxPushCurrent MemcpyHtoDAsync EventRecord CtxPopCurrent ");
    forget();
    CHECK(d.ops->upload(&d, a, 0, from, (8 << 20) + 1) == QS_OK); /* a buffer is refilled after it was read */
    CHECK(strstr(fake->log, "MemcpyHtoDAsync EventRecord EventSynchronize MemcpyHtoDAsync EventRecord "));
    forget();
    CHECK(d.ops->download(&d, to, a, 0, (8 << 20) + 1) == QS_OK); /* one part ahead, alternating buffers */
    CHECK(strstr(fake->log, "MemcpyDtoHAsync EventRecord EventSynchronize MemcpyDtoHAsync EventRecord "
                            "EventSynchronize MemcpyDtoHAsync EventRecord EventSynchronize"));
    d.ops->free(&d, a), d.ops->free(&d, b);
    d.ops->close(&d);
    CHECK(clean());
    qmem_free(&ctx, from, most), qmem_free(&ctx, to, most);
}

static void between_devices(void) {
    Device d[2];
    DevPtr a, b;
    char word[8] = "1234567", got[8];
    reset();
    fake->devices = 2;
    open_gpu(&d[0], 0), open_gpu(&d[1], 1);
    CHECK_TEXT(qdev_name(&d[1]), "Fake GPU (cuda:1)");
    CHECK(d[0].ops->alloc(&d[0], 8, &a) == QS_OK && d[1].ops->alloc(&d[1], 8, &b) == QS_OK);
    CHECK(d[0].ops->upload(&d[0], a, 0, word, 8) == QS_OK);
    forget();
    CHECK(d[1].ops->peer(&d[1], b, &d[0], a, 8) == QS_OK);
    CHECK_TEXT(fake->log, "CtxPushCurrent EventRecord CtxPopCurrent CtxPushCurrent StreamWaitEvent CtxPopCurrent "
                          "CtxPushCurrent CtxEnablePeerAccess MemcpyPeerAsync CtxPopCurrent "
                          "CtxPushCurrent EventRecord CtxPopCurrent CtxPushCurrent StreamWaitEvent CtxPopCurrent ");
    forget();
    CHECK(d[1].ops->peer(&d[1], b, &d[0], a, 8) == QS_OK && !strstr(fake->log, "CtxEnablePeerAccess"));
    CHECK(d[1].ops->download(&d[1], got, b, 0, 8) == QS_OK && !memcmp(word, got, 8));
    d[0].ops->free(&d[0], a), d[1].ops->free(&d[1], b);
    d[0].ops->close(&d[0]), d[1].ops->close(&d[1]);
    CHECK(clean());
}

/* -- copies beside the work ---------------------------------------------------------------------------------------- */
static Program *load_text(Device *d, const char *text);
static qs_status report(void *ud, const DevFault *f);
static void drop(void *ud);

static void launch_as(Device *d, Program *p, DevPtr a, bool only_read) {
    Launch l = {.rank = 1, .domain = {1000}, .any_block = true};
    DevArg arg = {.is_array = true, .block = a, .only_read = only_read, .rank = 1, .dims = {1000}, .strides = {1}};
    CHECK(d->ops->launch(d, p, &l, 1, &arg, NULL) == QS_OK);
}

static void launch_on(Device *d, Program *p, DevPtr a) { launch_as(d, p, a, false); }

/* A copy waits only for the launches that use its block, and a launch for the uploads to its blocks. */
static void beside(int pools) {
    enum { N = 2 << 20 };
    Device d;
    DevPtr a, b, c;
    char *bytes = qmem_alloc(&ctx, N);
    int n;
    reset();
    fake->pools = pools;
    open_gpu(&d, 0);
    Program *p = load_text(&d, "// quasar: shared=0\n"), *fails = load_text(&d, "// quasar: fault shared=0\n");
    CHECK(d.ops->alloc(&d, N, &a) == QS_OK && d.ops->alloc(&d, N, &b) == QS_OK && d.ops->alloc(&d, N, &c) == QS_OK);
    n = fake->norders;
    CHECK(d.ops->upload(&d, a, 0, bytes, N) == QS_OK && fake->norders == n);
    launch_on(&d, p, b);
    CHECK(fake->norders == n);
    launch_on(&d, p, a);
    CHECK(fake->norders == n + 1); /* for the upload; once */
    launch_on(&d, p, a);
    CHECK(fake->norders == n + 1 && d.busy(&d, c) == false);
    CHECK(d.ops->download(&d, bytes, c, 0, N) == QS_OK && fake->norders == n + 1);
    CHECK(d.ops->download(&d, bytes, b, 0, N) == QS_OK && fake->norders == n + 2); /* for the first launch */
    CHECK(d.ops->upload(&d, b, 0, bytes, N) == QS_OK && fake->norders == n + 2);
    CHECK(d.ops->upload(&d, a, 0, bytes, N) == QS_OK && fake->norders == n + 3); /* for the last one */
    CHECK(d.ops->copy(&d, c, a, N) == QS_OK && fake->norders == n + 4);
    CHECK(d.ops->upload(&d, b, 0, bytes, 16) == QS_OK && fake->norders == n + 4); /* small: in the order of the work */
    CHECK(d.ops->upload(&d, b, 0, bytes, N) == QS_OK && fake->norders == n + 5);  /* the copy may have used any block */
    launch_as(&d, p, b, true);
    CHECK(fake->norders == n + 6 && d.ops->download(&d, bytes, b, 0, N) == QS_OK);
    CHECK(fake->norders == n + 6); /* readers do not wait for readers; writers wait for readers */
    CHECK(d.ops->upload(&d, b, 0, bytes, N) == QS_OK && fake->norders == n + 7);
    DevAsync late = {.report = report, .drop = drop};
    Launch l = {.rank = 1, .domain = {10}, .any_block = true, .late = &late};
    CHECK(d.ops->launch(&d, fails, &l, 0, NULL, NULL) == QS_OK && d.owed == 1);
    CHECK(d.ops->download(&d, bytes, c, 0, N) == QS_OK && !d.owed); /* a possible failure is reported */
    d.ops->free(&d, a), d.ops->free(&d, b), d.ops->free(&d, c);
    d.ops->unload(&d, p), d.ops->unload(&d, fails);
    d.ops->close(&d);
    CHECK(clean());
    qmem_free(&ctx, bytes, N);
}

/* Small copies run in stream order, large ones after it. */
static void small_and_large(int defer) {
    enum { N = 64 << 10, PART = 16 };
    Device d;
    DevPtr a;
    static char bytes[N], got[N];
    reset();
    fake->defer = defer;
    open_gpu(&d, 0);
    CHECK(d.ops->alloc(&d, N, &a) == QS_OK);
    for (int turn = 1; turn <= 3; turn++) {
        memset(bytes, turn, N);
        CHECK(d.ops->upload(&d, a, 0, bytes, N) == QS_OK);
        char *part = memset(bytes + turn * PART, 10 * turn, PART);
        CHECK(d.ops->upload(&d, a, (size_t)(part - bytes), part, PART) == QS_OK);
        if (turn != 2) CHECK(d.ops->download(&d, got, a, 0, N) == QS_OK && !memcmp(got, bytes, N));
    }
    d.ops->free(&d, a);
    d.ops->close(&d);
    CHECK(clean());
}

/* A block that another device still reads is not overwritten, and a block is not freed while it is written, whatever
 * the order in which the driver runs its work. */
static void after_copies(int defer) {
    enum { N = 64 << 10 };
    Device d[2];
    DevPtr a, b;
    char *bytes = qmem_alloc(&ctx, N);
    reset();
    fake->devices = 2, fake->pools = 1, fake->defer = defer;
    open_gpu(&d[0], 0), open_gpu(&d[1], 1);
    CHECK(d[0].ops->alloc(&d[0], N, &a) == QS_OK && d[1].ops->alloc(&d[1], N, &b) == QS_OK);
    memset(bytes, 1, N);
    CHECK(d[0].ops->upload(&d[0], a, 0, bytes, N) == QS_OK && d[1].ops->peer(&d[1], b, &d[0], a, N) == QS_OK);
    memset(bytes, 2, N);
    CHECK(d[0].ops->upload(&d[0], a, 0, bytes, N) == QS_OK && d[0].ops->download(&d[0], bytes, a, 0, N) == QS_OK);
    CHECK(bytes[0] == 2 && bytes[N - 1] == 2);
    CHECK(d[1].ops->download(&d[1], bytes, b, 0, N) == QS_OK && bytes[0] == 1 && bytes[N - 1] == 1);
    CHECK(d[0].ops->upload(&d[0], a, 0, bytes, N) == QS_OK);
    d[0].ops->free(&d[0], a), d[1].ops->free(&d[1], b);
    CHECK(d[0].ops->sync(&d[0]) == QS_OK);
    d[0].ops->close(&d[0]), d[1].ops->close(&d[1]);
    CHECK(clean());
    qmem_free(&ctx, bytes, N);
}

/* Uploads go to an idle block. */
static void one_by_one(void) {
    enum { N = 2 << 20 };
    Device d;
    DevPtr p[4], first;
    reset();
    fake->defer = 1;
    open_gpu(&d, 0);
    Program *k = load_text(&d, "// quasar: shared=0\n");
    for (int i = 0; i < 4; i++) {
        CHECK(qheap_get_idle(&d, N, &p[i]) == QS_OK);
        launch_on(&d, k, p[i]);
        qheap_put(&d, p[i], N);
    }
    CHECK(p[1] != p[0] && p[2] == p[0] && fake->allocated <= 3); /* polling takes time: then the first is idle */
    CHECK(qheap_get(&d, N, &first) == QS_OK && first == p[3]);   /* the work itself reuses its last block */
    qheap_put(&d, first, N);
    launch_on(&d, k, p[0]);
    fake->capturing = OTHERS; /* they need not notice */
    CHECK(d.busy(&d, p[0]));
    CHECK(asked_for("ThreadExchangeStreamCaptureMode EventQuery ThreadExchangeStreamCaptureMode "));
    fake->capturing = 0;
    CHECK(d.ops->sync(&d) == QS_OK && !d.busy(&d, p[0]));
    d.ops->unload(&d, k);
    qheap_close(&d);
    d.ops->close(&d);
    CHECK(clean());
}

/* -- a pool of blocks ---------------------------------------------------------------------------------------------- */
/* Blocks are allocated and freed in stream order without waiting; others can get the memory if they need it. */
static void pooled(int defer) {
    Device d;
    DevPtr a, b;
    char word[8] = "1234567", got[8];
    size_t most = (size_t)1 << 33;
    reset();
    fake->pools = 1, fake->defer = defer;
    open_gpu(&d, 0);
    CHECK(qheap_get(&d, 8, &a) == QS_OK && d.ops->upload(&d, a, 0, word, 8) == QS_OK);
    CHECK(qheap_get(&d, 8, &b) == QS_OK && d.ops->copy(&d, b, a, 8) == QS_OK);
    forget();
    d.ops->free(&d, a);
    CHECK_TEXT(fake->log, "CtxPushCurrent MemFreeAsync CtxPopCurrent ");
    CHECK(d.ops->download(&d, got, b, 0, 8) == QS_OK && !memcmp(word, got, 8));
    CHECK(d.ops->upload(&d, a, 0, word, 8) != QS_OK && fake->misuse == 1); /* it is freed */
    qerr_clear(&ctx), fake->misuse = 0;
    CHECK(qheap_get(&d, most, &a) == QS_OK);
    qheap_put(&d, a, most);                  /* more than the pool keeps */
    CHECK(qheap_get(&d, most, &a) == QS_OK); /* there is room only after the queue has reached this point */
    d.ops->free(&d, a);
    CHECK(d.ops->sharing->left(&d) < most);
    forget();
    qheap_trim(&d);
    CHECK(asked_for("StreamSynchronize MemPoolTrimTo ") && d.ops->sharing->left(&d) > most);
    qheap_put(&d, b, 8);
    qheap_close(&d);
    d.ops->close(&d);
    CHECK(clean());
}

/* The pool keeps no more memory than others leave. */
static void others_are_short(int pools) {
    Device d;
    DevPtr a, b;
    size_t n = (size_t)200 << 20;
    reset();
    fake->pools = pools;
    open_gpu(&d, 0);
    CHECK(qheap_get(&d, n, &a) == QS_OK && qheap_get(&d, n, &b) == QS_OK);
    qheap_put(&d, a, n), qheap_put(&d, b, n);
    CHECK(qheap_get(&d, n, &a) == QS_OK && qheap_get(&d, n, &b) == QS_OK && fake->allocated == 2); /* both were kept */
    fake->others = d.total_memory - 3 * n;
    qheap_put(&d, a, n);
    CHECK(fake->allocated == 2); /* this much may be kept in any case */
    qheap_put(&d, b, n);
    CHECK(fake->allocated == 0);
    fake->others = 0;
    qheap_close(&d);
    d.ops->close(&d);
    CHECK(clean());
}

/* Older drivers have no pools, or the device has none, or they are disabled. */
static void without_pool(void) {
    Device d;
    DevPtr a;
    for (int wanted = 0; wanted < 2; wanted++) {
        reset();
        fake->pools = !wanted;
        setenv("QUASAR_CUDA_WITHOUT", wanted ? "poo,pools" : "pool", 1);
        open_gpu(&d, 0);
        CHECK(d.ops->alloc(&d, 100, &a) == QS_OK);
        d.ops->free(&d, a);
        d.ops->close(&d);
        CHECK(asked_for("MemAlloc ") && asked_for("MemFree ") && !asked_for("Async ") && clean());
        forget();
    }
    unsetenv("QUASAR_CUDA_WITHOUT");
}

/* -- other users of the driver ------------------------------------------------------------------------------------- */
static bool waits(int i, DevPtr first, DevPtr then) {
    FakeOrder o = fake->order[i];
    return (uintptr_t)o.first == first && (uintptr_t)o.then == then;
}

static void queues(void) {
    Device d;
    reset();
    open_gpu(&d, 0);
    const SharingOps *s = d.ops->sharing;
    DevPtr ours = s->queue(&d);
    for (DevPtr same = 0; same <= LEGACY; same++) /* the driver orders them with ours */
        CHECK(s->order(&d, same, false) == QS_OK && s->order(&d, same, true) == QS_OK && !fake->norders);
    CHECK(s->order(&d, ours, false) == QS_OK && s->order(&d, ours, true) == QS_OK && !fake->norders);
    CHECK(s->order(&d, PER_THREAD, false) == QS_OK && waits(0, PER_THREAD, ours));
    CHECK(s->order(&d, PER_THREAD, true) == QS_OK && waits(1, ours, PER_THREAD) && fake->norders == 2);
    d.ops->close(&d);
    CHECK(clean());
}

/* Uploads do not run on the work stream: an observer that gets permission, or a user of our stream, is ordered after
 * them. */
static void behind_uploads(void) {
    enum { N = 64 << 10 };
    static char bytes[N];
    Device d;
    DevPtr a;
    reset();
    open_gpu(&d, 0);
    const SharingOps *s = d.ops->sharing;
    Program *k = load_text(&d, "// quasar: shared=0\n");
    CHECK(d.ops->alloc(&d, N, &a) == QS_OK && s->order(&d, PER_THREAD, false) == QS_OK);
    DevPtr ours = (uintptr_t)fake->order[0].then;
    CHECK(d.ops->upload(&d, a, 0, bytes, N) == QS_OK && fake->norders == 2);
    DevPtr copies = (uintptr_t)fake->order[1].then;
    CHECK(copies != ours && s->order(&d, ours, true) == QS_OK && fake->norders == 3 && waits(2, copies, ours));
    CHECK(s->order(&d, ours, true) == QS_OK && fake->norders == 3);
    CHECK(d.ops->upload(&d, a, 0, bytes, N) == QS_OK && fake->norders == 4 && waits(3, ours, copies));
    CHECK(s->order(&d, ours, false) == QS_OK && fake->norders == 5 && waits(4, copies, ours));
    CHECK(d.ops->upload(&d, a, 0, bytes, N) == QS_OK && fake->norders == 6 && waits(5, ours, copies));
    fake->capturing = OURS;
    Launch l = {.rank = 1, .domain = {1000}, .any_block = true};
    DevArg arg = {.is_array = true, .block = a, .rank = 1, .dims = {1000}, .strides = {1}};
    CHECK(d.ops->launch(&d, k, &l, 1, &arg, NULL) == QS_EDEVICE && fake->misuse == 1); /* a graph cannot wait for it */
    qerr_clear(&ctx), fake->misuse = 0, fake->capturing = 0;
    CHECK(s->queue(&d) == ours && fake->norders == 7 && waits(6, copies, ours));
    CHECK(d.ops->upload(&d, a, 0, bytes, N) == QS_OK && fake->norders == 9 && waits(0, copies, ours));
    fake->capturing = OURS;
    launch_on(&d, k, a);
    fake->capturing = 0;
    d.ops->free(&d, a);
    d.ops->unload(&d, k);
    d.ops->close(&d);
    CHECK(clean());
}

/* Our stream is part of a graph only after it waits for a stream that is. */
static void joins_a_graph(void) {
    enum { N = 64 << 10 };
    static char bytes[N];
    Device d;
    DevPtr a;
    reset();
    open_gpu(&d, 0);
    const SharingOps *s = d.ops->sharing;
    Program *k = load_text(&d, "// quasar: shared=0\n");
    CHECK(d.ops->alloc(&d, N, &a) == QS_OK && d.ops->upload(&d, a, 0, bytes, N) == QS_OK);
    launch_on(&d, k, a);
    fake->capturing = OTHERS;
    launch_on(&d, k, a);
    CHECK(!d.recording(&d) && s->order(&d, PER_THREAD, false) == QS_OK && d.recording(&d));
    launch_on(&d, k, a);
    CHECK(d.ops->sync(&d) == QS_EDEVICE && strstr(ctx.err.text, "nothing can be waited for, and a CUDA graph"));
    qerr_clear(&ctx);
    CHECK(s->order(&d, PER_THREAD, true) == QS_OK && !fake->misuse);
    fake->capturing = 0;
    CHECK(!d.recording(&d) && d.ops->sync(&d) == QS_OK);
    d.ops->free(&d, a);
    d.ops->unload(&d, k);
    d.ops->close(&d);
    CHECK(clean());
}

/* A failed upload without a waiter is complete: its block may be reused. */
static void unmarked(int defer) {
    enum { N = 64 << 10 };
    static char bytes[N];
    Device d;
    DevPtr a;
    reset();
    fake->pools = 1, fake->defer = defer;
    open_gpu(&d, 0);
    CHECK(d.ops->alloc(&d, N, &a) == QS_OK);
    for (int i = 0; i < 2; i++) CHECK(d.ops->upload(&d, a, 0, bytes, N) == QS_OK);
    CHECK(d.ops->sync(&d) == QS_OK);
    forget();
    fake->fail_after = 4, fake->fail_with = 1;
    CHECK(d.ops->upload(&d, a, 0, bytes, N) == QS_EDEVICE);
    CHECK_TEXT(fake->log, "CtxPushCurrent EventSynchronize MemcpyHtoDAsync EventRecord EventRecord StreamSynchronize "
                          "CtxPopCurrent ");
    qerr_clear(&ctx);
    d.ops->free(&d, a);
    d.ops->close(&d);
    CHECK(clean());
}

static void addresses(void) {
    Device d[2];
    DevPtr a, b;
    char word[8] = "1234567", got[8] = "";
    reset();
    fake->devices = 2;
    open_gpu(&d[0], 0), open_gpu(&d[1], 1);
    const SharingOps *s = d[0].ops->sharing;
    CHECK(d[0].ops->alloc(&d[0], 8, &a) == QS_OK && d[1].ops->alloc(&d[1], 8, &b) == QS_OK);
    CHECK(s->ordinal(&d[0], a + 4) == 0 && s->ordinal(&d[0], b) == 1 && s->ordinal(&d[0], (uintptr_t)word) == -1);
    CHECK(s->move(&d[0], a, (uintptr_t)word, 8) == QS_OK && s->move(&d[0], b, a, 8) == QS_OK);
    CHECK(s->move(&d[0], (uintptr_t)got, b, 8) == QS_OK && !memcmp(word, got, 8));
    d[0].ops->free(&d[0], a), d[1].ops->free(&d[1], b);
    d[0].ops->close(&d[0]), d[1].ops->close(&d[1]);
    CHECK(clean());
}

/* A block that others hold is not moved or evicted, has the writes of every side, and outlives the device. */
static void given(int pools) {
    Device d;
    Buffer *b, *other;
    DevPtr p, q;
    void *host;
    reset();
    fake->pools = pools;
    open_gpu(&d, 0);
    d.limit = 4096;
    CHECK(qbuf_new(&ctx, 2048, true, &b) == QS_OK && qbuf_give(&ctx, b, &d, false, &p) == QS_OK);
    char *theirs = (char *)(uintptr_t)p;
    CHECK(qbuf_give(&ctx, b, NULL, false, &q) == QS_ELOCK);
    CHECK_TEXT(ctx.err.text, "the array is in use on Fake GPU and cannot be given away on the host at the same time");
    qerr_clear(&ctx);
    CHECK(qbuf_host(&ctx, b, QS_READWRITE, &host) == QS_OK);
    *(char *)host = 1;
    CHECK(qbuf_settle(&ctx, b) == QS_OK && theirs[0] == 1);
    theirs[1] = 2;
    CHECK(qbuf_host(&ctx, b, QS_READ, &host) == QS_OK && ((char *)host)[1] == 2);
    for (int i = 0; i < 3; i++) { /* there is room for one more */
        CHECK(qbuf_new(&ctx, 2048, true, &other) == QS_OK && qbuf_lock(&ctx, other, &d, QS_READWRITE, &q) == QS_OK);
        CHECK(qbuf_unlock(&ctx, other, &d, QS_READWRITE) == QS_OK && q != p);
        qbuf_release(&ctx, other);
    }
    qbuf_retain(b);
    CHECK(qbuf_outlive(&ctx, b) == QS_OK);
    qbuf_release(&ctx, b);
    qheap_close(&d);
    d.ops->close(&d);
    CHECK(fake->allocated == 1 && fake->retained == 1 && theirs[1] == 2);
    ctx.spaces[d.memory] = NULL;
    fake->capturing = OTHERS; /* they need not notice */
    qbuf_release(&ctx, b);
    fake->capturing = 0;
    CHECK(clean());
}

static void taken_back(void) {
    Device d;
    Buffer *b;
    DevPtr p;
    reset();
    open_gpu(&d, 0);
    CHECK(qbuf_new(&ctx, 64, true, &b) == QS_OK);
    CHECK(qbuf_give(&ctx, b, &d, false, &p) == QS_OK && qbuf_give(&ctx, b, &d, false, &p) == QS_OK);
    qbuf_take_back(b);
    CHECK(qbuf_give(&ctx, b, NULL, false, &p) == QS_ELOCK);
    qerr_clear(&ctx);
    qbuf_take_back(b);
    CHECK(qbuf_give(&ctx, b, NULL, false, &p) == QS_OK && b->valid == 1);
    CHECK(qbuf_lock(&ctx, b, &d, QS_READ, &p) == QS_OK && qbuf_unlock(&ctx, b, &d, QS_READ) == QS_OK && b->valid == 1);
    qbuf_take_back(b);
    CHECK(b->home < 0);
    for (int i = 0; i < UINT16_MAX + 2; i++) CHECK(qbuf_give(&ctx, b, &d, false, &p) == QS_OK);
    for (int i = 0; i < UINT16_MAX + 2; i++) qbuf_take_back(b);
    CHECK(b->home == d.memory); /* more than the limit: it stays there */
    qbuf_release(&ctx, b);
    qheap_close(&d);
    d.ops->close(&d);
    CHECK(clean());
}

/* -- launches ------------------------------------------------------------------------------------------------------ */
static Program *load_text(Device *d, const char *text) {
    Program *p = NULL;
    Code code = code_of(text);
    CHECK(d->ops->load(d, &code, &p) == QS_OK);
    return p;
}

static void arguments(Device *d) {
    Program *p = load_text(d, "// quasar: fault shared=0\n.entry kernel");
    DevArg args[] = {{.bits = 42, .size = 4},
                     {.is_array = true, .block = 0x10000, .offset = 24, .rank = 2, .dims = {5, 6}, .strides = {12, 2}}};
    Launch l = {.rank = 2, .domain = {100, 1000}, .block = {2, 64}};
    DevFault fault = {.message = 3};
    forget();
    CHECK(d->ops->launch(d, p, &l, 2, args, &fault) == QS_OK && fault.message == 0);
    CHECK_TEXT(fake->log,
               "CtxPushCurrent StreamIsCapturing MemHostAlloc MemHostGetDevicePointer LaunchKernel StreamSynchronize "
               "CtxPopCurrent ");
    const FakeLaunch *k = &fake->launch[0];
    CHECK(k->grid == 50 * 16 && k->x == 64 && k->y == 2 && k->z == 1 && k->shared == 0);
    static const uint64_t want[] = {0,  100,     1000, 2, 64, 50, 16, 0, (uint64_t)35 << 32 | 1u << 31,
                                    42, 0x10018, 5,    6, 12, 2};
    CHECK(k->slot[PTX_FAULT] != 0 && !memcmp(k->slot + PTX_FIRST, want, sizeof want));
    d->ops->unload(d, p);
}

/* The block shapes that the device chooses: rows of 32 neighbours, no axis longer than the domain, all threads used. */
static void shapes(Device *d) {
    static const struct {
        int rank;
        int64_t domain[3];
        unsigned grid, x, y, z;
    } t[] = {{1, {1000}, 4, 256, 1, 1},      {1, {100}, 1, 100, 1, 1},           {2, {1000, 1000}, 125 * 32, 32, 8, 1},
             {2, {2, 1000}, 8, 128, 2, 1},   {3, {480, 640, 3}, 3840, 3, 85, 1}, {3, {100, 3, 3}, 4, 3, 3, 28},
             {3, {1000, 1, 1}, 16, 1, 1, 64}};
    Program *p = load_text(d, "// quasar: shared=0\n");
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        Launch l = {.rank = t[i].rank, .any_block = true};
        memcpy(l.domain, t[i].domain, sizeof t[i].domain);
        forget();
        CHECK(d->ops->launch(d, p, &l, 0, NULL, NULL) == QS_OK);
        const FakeLaunch *k = &fake->launch[0];
        bool ok = k->grid == t[i].grid && k->x == t[i].x && k->y == t[i].y && k->z == t[i].z;
        CHECK(ok);
        if (!ok) printf("  case %zu: grid %u block %u %u %u\n", i, k->grid, k->x, k->y, k->z);
    }
    d->ops->unload(d, p);
}

/* Block numbers are computed without a division. */
static void divisions(void) {
    static const uint32_t edges[] = {1, 2, 3, 5, 7, 10, 641, 65535, 65536, 65537, 1u << 30, (1u << 30) + 1, INT32_MAX};
    bool ok = true;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        for (int k = 0; k < 2000; k++) {
            uint32_t d = edges[i], times = (uint32_t)k * 2654435761u % (INT32_MAX / d + 1);
            uint64_t by = qptx_divide_by(d), last = (uint64_t)d * times + d - 1;
            uint32_t end = last < INT32_MAX ? (uint32_t)last : INT32_MAX;
            uint32_t each[] = {d * times, end, (uint32_t)INT32_MAX - (uint32_t)k};
            for (int n = 0; n < 3; n++) ok &= each[n] / d == (each[n] * (by & UINT32_MAX)) >> (by >> 32);
        }
    CHECK(ok);
}

static void slices(Device *d) {
    Program *p = load_text(d, "// quasar: shared=0\n");
    Launch l = {.rank = 1, .domain = {(int64_t)1 << 40}, .any_block = true};
    forget();
    CHECK(d->ops->launch(d, p, &l, 0, NULL, NULL) == QS_OK && fake->nlaunches == 3);
    CHECK(fake->launch[0].grid == INT32_MAX && fake->launch[1].slot[PTX_FIRST] == INT32_MAX);
    CHECK(fake->launch[2].grid == 2 && fake->launch[2].slot[PTX_FIRST] == 2 * (uint64_t)INT32_MAX);
    Launch wide = {.rank = 2, .domain = {2, (int64_t)1 << 45}, .any_block = true};
    CHECK(d->ops->launch(d, p, &wide, 0, NULL, NULL) == QS_EVALUE);
    CHECK_TEXT(ctx.err.text, "kernel blur: too many positions beyond the first axis");
    qerr_clear(&ctx);
    Launch empty = {.rank = 2, .domain = {5, 0}, .any_block = true};
    forget();
    CHECK(d->ops->launch(d, p, &empty, 0, NULL, NULL) == QS_OK && !fake->nlaunches);
    d->ops->unload(d, p);
}

static void blocks_given(Device *d) {
    Program *p = load_text(d, "// quasar: shared=65536\n"), *serial = load_text(d, "// quasar: serial shared=0\n");
    Launch l = {.rank = 3, .domain = {64, 64, 64}, .block = {4, 8, 16}};
    CHECK(strstr(fake->log, "FuncSetAttribute"));
    forget();
    CHECK(d->ops->launch(d, p, &l, 0, NULL, NULL) == QS_OK);
    CHECK(fake->launch[0].x == 16 && fake->launch[0].y == 8 && fake->launch[0].z == 4 &&
          fake->launch[0].shared == 65536);
    Launch large = {.rank = 1, .domain = {5000}, .block = {2048}};
    CHECK(d->ops->launch(d, p, &large, 0, NULL, NULL) == QS_EVALUE);
    CHECK_TEXT(ctx.err.text, "kernel blur: a block of 1x1x2048 positions is too large: Fake GPU allows 1024 for this "
                             "kernel, and 64 along its first axes together");
    qerr_clear(&ctx);
    Launch deep = {.rank = 3, .domain = {128, 2, 2}, .block = {128, 2, 2}};
    CHECK(d->ops->launch(d, p, &deep, 0, NULL, NULL) == QS_EVALUE);
    qerr_clear(&ctx);
    forget();
    Launch all = {.rank = 2, .domain = {300, 7}, .block = {1, 1}, .any_block = true};
    CHECK(d->ops->launch(d, serial, &all, 0, NULL, NULL) == QS_OK && fake->nlaunches == 1);
    CHECK(fake->launch[0].grid == 1 && fake->launch[0].x == 1 && fake->launch[0].slot[PTX_DOMAIN] == 300);
    d->ops->unload(d, p), d->ops->unload(d, serial);
    Code greedy = code_of("// quasar: shared=300000\n");
    CHECK(d->ops->load(d, &greedy, &p) == QS_EVALUE);
    CHECK_TEXT(ctx.err.text, "kernel blur: its shared arrays take 300000 bytes; Fake GPU has 232448 for a block");
    qerr_clear(&ctx);
}

/* Code compiled for any block size may use any number of registers, until a block is too large for that number. */
static const char of_blocks[] = "// quasar: blocks shared=0\n.visible .entry kernel(\n.param .u64 p\n)\n{\n}\n";

static qs_status launch_block(Device *d, Program *p, int32_t threads) {
    Launch l = {.rank = 1, .domain = {5000}, .block = {threads}};
    return d->ops->launch(d, p, &l, 0, NULL, NULL);
}

static void registers(void) {
    static const struct {
        int block, modules;
    } t[] = {{512, 1}, {500, 1}, {513, 2}, {640, 2}, {512, 2}, {1024, 3}, {900, 3}, {600, 3}};
    Device d;
    reset();
    fake->registers = 128;
    open_gpu(&d, 0);
    Program *p = load_text(&d, of_blocks), *other = load_text(&d, "// quasar: shared=0\n.entry kernel(){}");
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        CHECK(launch_block(&d, p, t[i].block) == QS_OK && fake->modules == t[i].modules + 1);
    CHECK(launch_block(&d, p, 1025) == QS_EVALUE && strstr(ctx.err.text, "allows 512 for this kernel"));
    qerr_clear(&ctx);
    CHECK(launch_block(&d, other, 513) == QS_EVALUE && strstr(ctx.err.text, "allows 512 for this kernel"));
    qerr_clear(&ctx);
    d.ops->unload(&d, p), d.ops->unload(&d, other);
    setenv("QUASAR_CUDA_WITHOUT", "nothing, registers", 1);
    p = load_text(&d, of_blocks);
    CHECK(launch_block(&d, p, 1024) == QS_OK && launch_block(&d, p, 32) == QS_OK && fake->modules == 1);
    unsetenv("QUASAR_CUDA_WITHOUT");
    fake->fail_after = 1, fake->fail_with = 701;
    CHECK(launch_block(&d, p, 1024) == QS_EDEVICE);
    CHECK(strstr(ctx.err.text, "Fake GPU: kernel blur: cuLaunchKernel of blocks of 1024 threads with 64 registers each "
                               "and 0 bytes of shared memory: "));
    qerr_clear(&ctx);
    d.ops->unload(&d, p);
    p = load_text(&d, of_blocks);
    fake->capturing = OURS; /* a graph cannot record code that is not loaded */
    CHECK(launch_block(&d, p, 512) == QS_OK && launch_block(&d, p, 1024) == QS_EDEVICE);
    CHECK(strstr(ctx.err.text, "was not loaded yet"));
    qerr_clear(&ctx);
    fake->capturing = 0;
    d.ops->unload(&d, p);
    d.ops->close(&d);
    CHECK(clean());
}

static void launches(void) {
    Device d;
    reset();
    open_gpu(&d, 0);
    arguments(&d);
    shapes(&d);
    divisions();
    slices(&d);
    blocks_given(&d);
    d.ops->close(&d);
    CHECK(clean());
}

/* -- asynchronous errors ------------------------------------------------------------------------------------------- */
static int faulty, reports, dropped, run_number; /* index of the launch with a fault, from 0; -1: none */

static int fail_one(void *code, const FakeLaunch *l, const uint64_t *slots) {
    DevFault *f = (void *)(uintptr_t)slots[PTX_FAULT];
    (void)code, (void)l;
    if (f && run_number == faulty) *f = (DevFault){.message = 7, .pos = 12};
    return run_number++, 0;
}

static qs_status report(void *ud, const DevFault *f) {
    reports++;
    return qerr_set(&ctx, QS_EVALUE, "launch %d: message %u at %u", (int)(intptr_t)ud, f->message, f->pos);
}

static void drop(void *ud) { (void)ud, dropped++; }

static bool launch_late(Device *d, Program *p, int number) {
    DevAsync late = {.report = report, .drop = drop, .ud = (void *)(intptr_t)number};
    Launch l = {.rank = 1, .domain = {10}, .any_block = true, .late = &late};
    qs_status s = d->ops->launch(d, p, &l, 0, NULL, NULL);
    return s == QS_OK && late.taken;
}

typedef struct {
    Device gpu, other;
    DevPtr there, elsewhere;
    Program *p;
    char byte;
} Late;

static qs_status by_sync(Late *l) { return l->gpu.ops->sync(&l->gpu); }
static qs_status by_download(Late *l) { return l->gpu.ops->download(&l->gpu, &l->byte, l->there, 0, 1); }
static qs_status by_move(Late *l) { return l->gpu.ops->sharing->move(&l->gpu, (uintptr_t)&l->byte, l->there, 1); }
static qs_status by_peer(Late *l) { return l->gpu.ops->peer(&l->other, l->elsewhere, &l->gpu, l->there, 1); }
static qs_status by_order(Late *l) { return l->gpu.ops->sharing->order(&l->gpu, 0, true); }
static qs_status by_launch(Late *l) { /* one whose error is synchronous */
    DevFault f;
    Launch own = {.rank = 1, .domain = {10}, .any_block = true};
    return l->gpu.ops->launch(&l->gpu, l->p, &own, 0, NULL, &f);
}

/* The block stays ours if the context ends meanwhile, and so does the cleanup record for its end. */
static void not_outlived(Late *l) {
    void (*release_it)(void *);
    void *owner;
    faulty = 0, run_number = 0;
    int streams = fake->streams, retained = fake->retained;
    CHECK(launch_late(&l->gpu, l->p, 0));
    fake->fail_after = 3, fake->fail_with = 700;
    CHECK(l->gpu.ops->sharing->outlive(&l->gpu, l->there, &release_it, &owner) == QS_EVALUE);
    CHECK_TEXT(fake->failed, "CtxPopCurrent");
    CHECK(fake->streams == streams && fake->retained == retained);
    qerr_clear(&ctx);
}

/* One of five launches fails: the first waiter gets its error, once, and the device continues. */
static void reported_by(Late *l, qs_status wait(Late *), int which) {
    faulty = which, reports = dropped = run_number = 0;
    for (int i = 0; i < 5; i++) CHECK(launch_late(&l->gpu, l->p, i));
    CHECK(l->gpu.owed == 5 && !reports && !dropped);
    CHECK(wait(l) == (which < 0 ? QS_OK : QS_EVALUE) && reports == (which >= 0) && dropped == 5 && !l->gpu.owed);
    char want[60];
    snprintf(want, sizeof want, "launch %d: message 7 at 12", which);
    if (which >= 0) CHECK_TEXT(ctx.err.text, want);
    qerr_clear(&ctx);
    CHECK(by_sync(l) == QS_OK && wait(l) == QS_OK);
}

/* More launches than slots; and one whose successor has destroyed the context.  Deferred work never ran then. */
static void many_late(Late *l, int defer) {
    faulty = 3, reports = dropped = run_number = 0;
    int n = 0;
    while (launch_late(&l->gpu, l->p, n)) n++;
    CHECK(reports == 1 && dropped == n && n > 100 && !l->gpu.owed);
    qerr_clear(&ctx);
    faulty = 1, reports = dropped = run_number = 0;
    for (int i = 0; i < 3; i++) CHECK(launch_late(&l->gpu, l->p, i));
    fake->fail_after = 1, fake->fail_with = 700;
    CHECK(by_download(l) == (defer ? QS_EDEVICE : QS_EVALUE) && reports == !defer && dropped == 3);
    qerr_clear(&ctx);
    CHECK(by_sync(l) == QS_EDEVICE);
    qerr_clear(&ctx);
}

static void late(int defer, int pools) {
    qs_status (*const waits[])(Late *) = {by_sync, by_download, by_move, by_peer, by_order, by_launch};
    Late l = {.p = NULL};
    reset();
    fake->run = fail_one, fake->defer = defer, fake->devices = 2, fake->pools = pools;
    open_gpu(&l.gpu, 0), open_gpu(&l.other, 1);
    CHECK(l.gpu.ops->alloc(&l.gpu, 8, &l.there) == QS_OK && l.other.ops->alloc(&l.other, 8, &l.elsewhere) == QS_OK);
    l.p = load_text(&l.gpu, "// quasar: fault shared=0\n");
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        for (int which = -1; which < 5; which++) reported_by(&l, waits[i], which);
    Program *p = load_text(&l.other, "// quasar: fault shared=0\n");
    dropped = 0;
    CHECK(launch_late(&l.other, p, 0)); /* without a wait: the observer is released */
    l.other.ops->free(&l.other, l.elsewhere);
    l.other.ops->unload(&l.other, p);
    l.other.ops->close(&l.other);
    CHECK(dropped == 1);
    if (pools) not_outlived(&l);
    else many_late(&l, defer);
    l.gpu.ops->unload(&l.gpu, l.p);
    l.gpu.ops->close(&l.gpu);
    CHECK(!fake->misuse);
    reset();
}

/* -- failures ------------------------------------------------------------------------------------------------------ */
static void bad_code(void) {
    Device d;
    Program *p;
    Code code = code_of("// quasar: shared=0\n.version 7.8\n  add.f99 %r1, %r2;\n");
    reset();
    open_gpu(&d, 0);
    fake->jit_log = "ptxas application ptx input, line 3; error   : Unexpected type '.f99'";
    CHECK(d.ops->load(&d, &code, &p) == QS_EDEVICE);
    CHECK_TEXT(
        ctx.err.text,
        "Fake GPU: kernel blur cannot be loaded: cuModuleLoadDataEx: a PTX JIT compilation failed "
        "(CUDA_ERROR_INVALID_PTX, 218): ptxas application ptx input, line 3; error   : Unexpected type '.f99' in "
        "`add.f99 %r1, %r2;`");
    qerr_clear(&ctx);
    d.ops->close(&d);
    CHECK(clean());
}

/* -- cached machine code ------------------------------------------------------------------------------------------- */
static void load_once(const Code *code, int capability, int newer) {
    Device d;
    Program *p = NULL;
    fake->capability = capability, fake->newer = newer;
    open_gpu(&d, 0);
    CHECK(d.ops->load(&d, code, &p) == QS_OK);
    d.ops->unload(&d, p);
    d.ops->close(&d);
    CHECK(clean() && !fake->links);
}

/* The driver compiles once per device type and driver version, whatever number of processes load. */
static void kept(void) {
    char folder[] = "/tmp/quasar_cuda_XXXXXX";
    Code code = code_of("// quasar: shared=0\n");
    reset();
    CHECK(mkdtemp(folder) != NULL);
    code.cache = qcache_open(&ctx, folder, 0);
    load_once(&code, 90, 0);
    CHECK(fake->compiled == 1);
    load_once(&code, 90, 0);
    CHECK(fake->compiled == 1);
    load_once(&code, 90, 10);
    CHECK(fake->compiled == 2);
    load_once(&code, 100, 0);
    CHECK(fake->compiled == 3);
    load_once(&code, 103, 0); /* PTX of the same target, another device */
    CHECK(fake->compiled == 4);
    load_once(&code, 103, 0);
    CHECK(fake->compiled == 4);
    Device d;
    Program *p = NULL;
    open_gpu(&d, 0);
    forget();
    fake->fail_after = 3, fake->fail_with = 200; /* the cached code is rejected: it is compiled again */
    CHECK(d.ops->load(&d, &code, &p) == QS_OK && fake->compiled == 5);
    CHECK_TEXT(fake->failed, "ModuleLoadDataEx");
    d.ops->unload(&d, p);
    d.ops->close(&d);
    CHECK(clean() && !fake->links);
    qcache_clear(code.cache);
    qcache_close(&ctx, code.cache);
    CHECK(rmdir(folder) == 0 || access(folder, F_OK) == 0);
}

/* A driver that cannot link, or has no room, gets the PTX text. */
static void not_linked(void) {
    static const char *const calls[] = {"LinkCreate", "LinkAddData", "LinkComplete", "LinkDestroy", "ModuleLoadDataEx"};
    char folder[] = "/tmp/quasar_cuda_XXXXXX";
    Code code = code_of("// quasar: shared=0\n");
    CHECK(mkdtemp(folder) != NULL);
    for (long n = 0; n < 5; n++) {
        Device d;
        Program *p = NULL;
        reset();
        code.cache = qcache_open(&ctx, folder, 0);
        open_gpu(&d, 0);
        fake->fail_after = 3 + n, fake->fail_with = 1;
        CHECK(d.ops->load(&d, &code, &p) == QS_OK);
        CHECK_TEXT(fake->failed, calls[n]);
        d.ops->unload(&d, p);
        d.ops->close(&d);
        CHECK(clean() && !fake->links);
        qcache_clear(code.cache);
        qcache_close(&ctx, code.cache);
    }
}

static void local_memory(void) {
    Device d;
    Program *p = NULL;
    Code code = code_of("// quasar: shared=0\n");
    reset();
    open_gpu(&d, 0);
    fake->local = 80000; /* 108 multiprocessors with 2048 threads: 17.7 GB of 16 */
    CHECK(d.ops->load(&d, &code, &p) == QS_EVALUE);
    CHECK_TEXT(ctx.err.text,
               "kernel blur: its local arrays take 80000 bytes for each position; Fake GPU has room for 77672");
    qerr_clear(&ctx);
    fake->local = 70000;
    CHECK(d.ops->load(&d, &code, &p) == QS_OK);
    d.ops->unload(&d, p);
    d.ops->close(&d);
    CHECK(clean());
}

/* Errors that make a context unusable; any other error is reported and cleared. */
static void final_errors(void) {
    static const struct {
        int code;
        bool final;
    } errors[] = {{4, true},   {214, true}, {220, true}, {226, true},  {700, true}, {702, true},
                  {709, true}, {710, true}, {714, true}, {716, true},  {719, true}, {721, true},
                  {999, true}, {1, false},  {2, false},  {701, false}, {720, false}};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        Device d;
        DevPtr p = 0;
        reset();
        open_gpu(&d, 0);
        fake->fail_after = 2, fake->fail_with = errors[i].code;
        CHECK(d.ops->sync(&d) != QS_OK);
        bool said = strstr(ctx.err.text, "cannot be used any more") != NULL;
        CHECK(said == errors[i].final);
        CHECK((strstr(ctx.err.text, "a few seconds") != NULL) == (errors[i].code == 702));
        qerr_clear(&ctx);
        fake->dead = 0;
        CHECK((d.ops->alloc(&d, 16, &p) == QS_OK) != errors[i].final);
        qerr_clear(&ctx);
        if (p) d.ops->free(&d, p);
        d.ops->close(&d);
    }
}

/* A later call reports the error of a kernel; from then on there is one message, and no driver call. */
static void sticky(void) {
    static const char sentence[] =
        "Fake GPU cannot be used any more by this process: cuStreamSynchronize, after kernel "
        "blur: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)";
    Device d;
    DevPtr p;
    char byte = 0;
    Launch l = {.rank = 1, .domain = {10}, .any_block = true};
    reset();
    open_gpu(&d, 0);
    Program *k = load_text(&d, "// quasar: shared=0\n");
    CHECK(d.ops->alloc(&d, 100, &p) == QS_OK && d.ops->launch(&d, k, &l, 0, NULL, NULL) == QS_OK);
    fake->fail_after = 2, fake->fail_with = 700;
    CHECK(d.ops->sync(&d) == QS_EDEVICE);
    CHECK_TEXT(ctx.err.text, sentence);
    qerr_clear(&ctx);
    forget();
    CHECK(d.ops->upload(&d, p, 0, &byte, 1) == QS_EDEVICE);
    CHECK_TEXT(ctx.err.text, sentence);
    qerr_clear(&ctx);
    CHECK(d.ops->launch(&d, k, &l, 0, NULL, NULL) == QS_EDEVICE && d.ops->alloc(&d, 1, &p) == QS_EDEVICE);
    qerr_clear(&ctx);
    d.ops->free(&d, p);
    d.ops->unload(&d, k);
    d.ops->close(&d);
    CHECK_TEXT(fake->log, "DevicePrimaryCtxRelease ");
    CHECK(!fake->retained && !fake->depth && !fake->misuse);
}

static qs_status use(Device *d, Program **p, DevPtr *a) {
    char bytes[64] = {0};
    Code code = code_of("// quasar: fault shared=60000\n");
    Launch l = {.rank = 1, .domain = {1000}, .any_block = true};
    DevFault fault;
    TRY(d->ops->alloc(d, sizeof bytes, a));
    TRY(d->ops->upload(d, *a, 0, bytes, sizeof bytes));
    TRY(d->ops->load(d, &code, p));
    DevArg arg = {.is_array = true, .block = *a, .rank = 1, .dims = {64}, .strides = {1}};
    TRY(d->ops->launch(d, *p, &l, 1, &arg, &fault));
    TRY(d->ops->copy(d, *a, *a, sizeof bytes));
    TRY(d->ops->download(d, bytes, *a, 0, sizeof bytes));
    return d->ops->sync(d);
}

/* Runs everything once with the n-th call failing; returns false if there are fewer calls than n. */
static bool with_failure(long n, int error, int pools) {
    Device d = {.ops = &qdev_cuda_ops, .ctx = &ctx};
    Program *p = NULL;
    DevPtr a = 0;
    reset();
    fake->fail_after = n, fake->fail_with = error, fake->pools = pools;
    qs_status s = d.ops->open(&d, 0);
    if (s == QS_OK) {
        s = use(&d, &p, &a);
        if (a) d.ops->free(&d, a);
        if (p) d.ops->unload(&d, p);
        d.ops->close(&d);
    }
    bool failed = *fake->failed,
         quiet = strstr("CtxPopCurrent StreamIsCapturing StreamDestroy EventDestroy MemFree MemFreeHost MemFreeAsync "
                        "DeviceGetMemPool ModuleUnload DevicePrimaryCtxRelease CtxPushCurrent StreamSynchronize",
                        fake->failed) != NULL;
    quiet |= error == 2 && !strcmp(fake->failed, "MemAllocAsync"); /* requested again */
    bool told = s == QS_OK ? !*ctx.err.text : ctx.err.status == s && *ctx.err.text;
    bool unreachable = s == QS_OK && !strcmp(fake->failed, "CtxPushCurrent"); /* shutdown: nothing can be freed */
    if ((error == 700 && failed) || unreachable) CHECK(!fake->retained && !fake->depth && !fake->misuse);
    else CHECK(clean());
    CHECK(told && (!failed || s != QS_OK || quiet));
    if (s != QS_OK && strncmp(fake->failed, "Init", 4) != 0 && strncmp(fake->failed, "DeviceGetCount", 14) != 0)
        CHECK(strstr(ctx.err.text, fake->failed) != NULL);
    if (error == 2 && s != QS_OK && strstr(fake->failed, "Mem")) CHECK(s == QS_ENOMEM);
    qerr_clear(&ctx);
    return failed;
}

static void every_failure(void) {
    static const int errors[] = {1, 2, 700};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        for (int pools = 0; pools < 2; pools++) {
            long n = 0;
            while (with_failure(n, errors[i], pools)) n++;
            CHECK(n > 40);
        }
    }
}

/* -- a VM ---------------------------------------------------------------------------------------------------------- */
/* Scripts reach the driver: code is generated, loaded and launched; after the VM closes nothing is leaked. */
static void whole(void) {
    static const char text[] = "function [] = __kernel__ add(x : vec, y : vec, pos : int)\n y[pos] += x[pos]\nend\n"
                               "a = ones(300000)\nb = ones(300000)\nc = ones(300000)\n"
                               "for i = 1..4\n parallel_do(300000, a, b, add)\n parallel_do(300000, b, c, add)\nend\n"
                               "total = c[5]";
    qs_config c;
    qs_config_init(&c);
    c.device = "cuda", c.memory_limit = 3 << 20, c.cache_dir = "";
    qs_vm *vm = NULL;
    qs_device_info info;
    reset();
    CHECK(qs_open(&c, &vm) == QS_OK && qs_device(vm, 1, &info) && info.default_device);
    CHECK_TEXT(info.kind, "cuda");
    qs_status s = qs_load(vm, "test.q", text, sizeof text - 1);
    CHECK(s == QS_OK);
    if (s) printf("  %s\n", qs_error(vm));
    CHECK(fake->nlaunches == 8 && fake->launch[0].slot[PTX_DOMAIN] == 300000);
    qs_close(vm);
    CHECK(clean());
}

/* Code with 32-bit indices is for launches and arrays within that range; others get their own code, once. */
static void sizes(void) {
    static const char text[] = "function [] = __kernel__ set(x : vec, pos : int)\n"
                               " if pos < 10\n  x[pos] = 1\n endif\nend\n"
                               "a = ones(1000)\nfunction [] = go(n)\n parallel_do(n, a, set)\nend\ngo(1000)\n";
    static const struct {
        const char *run;
        int programs;
    } each[] = {{"go(1000)", 1}, {"go(2^28)", 1}, {"go(2^28+1)", 2}, {"go(2^30)", 2}, {"go(10)", 2}};
    qs_config c;
    qs_config_init(&c);
    c.device = "cuda", c.cache_dir = "";
    qs_vm *vm = NULL;
    reset();
    CHECK(qs_open(&c, &vm) == QS_OK && qs_load(vm, "test.q", text, sizeof text - 1) == QS_OK);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        CHECK(qs_eval(vm, each[i].run, NULL) == QS_OK);
        CHECK(fake->modules == each[i].programs);
    }
    qs_close(vm);
    CHECK(clean());
}

/* A driver message about the code of a kernel is reported at the kernel's line of the script. */
static void bad_kernel(void) {
    static const char text[] = "a = ones(100)\nfunction [] = __kernel__ add(x : vec, pos : int)\n x[pos] += 1\nend\n"
                               "parallel_do(100, a, add)\n";
    qs_config c;
    qs_config_init(&c);
    c.device = "cuda", c.cache_dir = "";
    qs_vm *vm = NULL;
    reset();
    fake->jit_log = "ptxas application ptx input, line 1; error   : no such thing";
    CHECK(qs_open(&c, &vm) == QS_OK && qs_load(vm, "bad.q", text, sizeof text - 1) == QS_EDEVICE);
    CHECK(strstr(qs_error(vm), "kernel add cannot be loaded") && strstr(qs_error(vm), "no such thing in `// quasar"));
    bool placed = strstr(qs_error_report(vm), "bad.q:3:") != NULL;
    CHECK(placed);
    if (!placed) printf("  %s\n", qs_error_report(vm));
    qs_close(vm);
    CHECK(clean());
}

/* The message of a driver that rejects the first line with this word, at this location of the script. */
static void refused_at(const char *text, const char *folder, const char *word, const char *place) {
    qs_config c;
    qs_vm *vm = NULL;
    qs_config_init(&c);
    c.device = "cuda", c.cache_dir = folder;
    reset();
    fake->jit_log = "ptxas application ptx input, line %d; error   : no such thing\nptxas fatal   : aborted\n";
    fake->jit_at = word;
    CHECK(qs_open(&c, &vm) == QS_OK && qs_load(vm, "bad.q", text, strlen(text)) == QS_EDEVICE);
    bool placed = strstr(qs_error_report(vm), place) != NULL;
    CHECK(placed && strstr(qs_error(vm), "no such thing in `") && strstr(qs_error(vm), word));
    if (!placed) printf("  %s: %s\n", word, qs_error_report(vm));
    qs_close(vm);
}

/* A rejected instruction is reported at its statement, however much of the code came from the cache, which has no
 * locations.  Without LLVM the kernel's location is reported. */
static void refused_line(void) {
    static const char text[] = "a = ones(100)\nb = ones(100)\n"
                               "function [] = __kernel__ work(x : vec, y : vec, pos : int)\n"
                               " s = x[pos]*2\n"
                               " for k = 0..9\n"
                               "  s = s + 1\n"
                               "  s = sqrt(abs(s))\n"
                               " end\n"
                               " y[pos] = s\nend\n"
                               "parallel_do(100, a, b, work)\n";
    static const struct {
        const char *word, *place;
    } each[] = {
        {"sqrt.rn.f32", "bad.q:7:"}, {"ld.global", "bad.q:4:"}, {"st.global", "bad.q:9:"}, {".version", "bad.q:3:"}};
    char folder[] = "/tmp/quasar-cuda-XXXXXX", remove[100];
    CHECK(mkdtemp(folder) != NULL);
    for (size_t i = 0; i < 2 * (sizeof each / sizeof *each); i++) /* without, then with code in the cache */
        refused_at(text, folder, each[i / 2].word, each[i / 2].place);
    setenv("QUASAR_LLVM", "/nowhere", 1);
    refused_at(text, folder, "sqrt.rn.f32", "bad.q:3:");
    unsetenv("QUASAR_LLVM");
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    CHECK(!system(remove) && clean());
}

static void refuses(qs_vm *vm, const char *script, const char *sentence) {
    CHECK(qs_eval(vm, script, NULL) != QS_OK);
    bool told = strstr(qs_error(vm), sentence) != NULL;
    CHECK(told);
    if (!told) printf("  %s: %s\n", script, qs_error(vm));
    qs_error_clear(vm);
}

/* A program that ran once can be recorded as part of a graph: only the launches reach the driver.  An operation that
 * would break the capture is an error before the driver is called, with the name of the array or kernel. */
static void recording(void) {
    static const char text[] =
        "function [] = __kernel__ add(x : vec, y : vec, pos : int)\n y[pos] += x[pos]\nend\n"
        "function [] = __kernel__ sure(x : vec'checked, pos : int)\n x[pos] = 1\nend\n"
        "function [] = __kernel__ set(x : vec, pos : int)\n x[pos] = 6\nend\n"
        "function [] = __kernel__ fresh(x : vec, pos : int)\n x[pos] = 7\nend\n"
        "a = ones(1000)\nb = ones(1000)\n"
        "function [] = step()\n parallel_do(1000, a, b, add)\n parallel_do(1000, b, a, add)\nend\n"
        "step()\nparallel_do(1000, a, sure)\nparallel_do(1000, a, set)\n";
    qs_config c;
    qs_config_init(&c);
    c.device = "cuda", c.cache_dir = "";
    qs_vm *vm = NULL;
    reset();
    CHECK(qs_open(&c, &vm) == QS_OK && qs_load(vm, "test.q", text, sizeof text - 1) == QS_OK);
    forget();
    fake->capturing = OURS;
    CHECK(qs_eval(vm, "step()", NULL) == QS_OK);
    CHECK_TEXT(fake->log, "CtxPushCurrent LaunchKernel CtxPopCurrent CtxPushCurrent LaunchKernel CtxPopCurrent ");
    forget();
    refuses(vm, "parallel_do(1000, ones(1000), b, add)", "x would have to be copied to Fake GPU, and a CUDA graph");
    refuses(vm, "parallel_do(1000, zeros(1000), set)", "x has no memory yet on Fake GPU, and a CUDA graph is being");
    refuses(vm, "print(a[3])", "the array (vec, 1x1000) would have to be copied from Fake GPU, and a CUDA graph");
    refuses(vm, "parallel_do(1000, a, fresh)", "kernel fresh was not loaded yet");
    refuses(vm, "parallel_do(1000, a, sure)", "kernel sure may fail, which the host would wait for, and a CUDA graph");
    refuses(vm, "sync()", "nothing can be waited for, and a CUDA graph is being recorded on Fake GPU");
    CHECK(!fake->nlaunches && !fake->misuse);
    fake->capturing = 0;
    CHECK(qs_eval(vm, "a[0] = 5", NULL) == QS_OK);
    fake->capturing = OURS;
    refuses(vm, "step()", "x would have to be copied to Fake GPU");
    CHECK(qs_eval(vm, "a = 0", NULL) == QS_OK); /* its memory is kept */
    fake->capturing = 0;
    qs_close(vm);
    if (fake->misuse) printf("  %s\n", fake->wrong);
    CHECK(clean());
}

static bool have_compiler(void) {
    Llvm *l = NULL;
    bool here = qllvm_open(&ctx, &l) == QS_OK;
    if (here) qllvm_close(&ctx, l);
    return here;
}

static char said[4096];

static void hear(void *ud, int fd, const char *text, size_t n) {
    size_t at = strlen(said);
    (void)ud;
    if (fd == 2 && at + n < sizeof said) memcpy(said + at, text, n), said[at + n] = 0;
}

/* A kernel begins on the CPU, where its data are; auto tries the device, which takes no time at all here, after the CPU
 * took long enough, and then keeps it.  A device that cannot load the kernel is never tried again. */
static void choosing(bool broken) {
    static const char text[] = "function [] = __kernel__ work(x : vec, y : vec, pos : int)\n s = 0.0\n"
                               " for k = 0..400\n  s += sqrt(abs(x[pos] - s))\n end\n y[pos] = s\nend\n"
                               "a = ones(40000)\nb = ones(40000)\nt = 0\ntic()\n"
                               "repeat\n parallel_do(40000, a, b, work)\n t = toc(\"\")\nuntil t > 1500\n";
    qs_config c;
    qs_config_init(&c);
    c.device = "auto:cpu,cuda", c.cache_dir = "", c.explain = true, c.write = hear, c.threads = 1;
    qs_vm *vm = NULL;
    reset();
    said[0] = 0;
    fake->jit_log = broken ? "line 1" : NULL;
    CHECK(qs_open(&c, &vm) == QS_OK);
    CHECK(qs_load(vm, "work.q", text, sizeof text - 1) == QS_OK);
    bool tried = strstr(said, "kernel work runs on cuda:0, as a trial: cpu:0 ") != NULL;
    CHECK(strstr(said, "kernel work runs on cpu:0, nearest to its data") && tried);
    if (broken) CHECK(!fake->nlaunches && strstr(said, "cuda:0 cannot") && strstr(said, "cpu:0, which ends soonest"));
    else CHECK(fake->nlaunches > 100); /* in a second and a half: where launches take no time */
    if (!tried) printf("%s\n", said);
    qs_close(vm);
    CHECK(clean());
}

int main(void) {
    void *lib = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    FakeCuda *(*get)(void);
    CHECK(lib != NULL);
    if (!lib) return check_done();
    *(void **)(void *)&get = dlsym(lib, "fake_cuda");
    fake = get();
    setenv("QUASAR_CUDA", FAKE_CUDA, 1);
    qctx_init(&ctx, 32);
    opening();
    refusals();
    transfers();
    between_devices();
    queues();
    behind_uploads();
    joins_a_graph();
    addresses();
    given(0), given(1);
    beside(0), beside(1);
    for (int defer = 1; defer <= 24; defer++) after_copies(defer), unmarked(defer), small_and_large(defer);
    one_by_one();
    pooled(0), pooled(1);
    others_are_short(0), others_are_short(1);
    without_pool();
    taken_back();
    launches();
    registers();
    late(0, 0), late(0, 1);
    late(3, 0);
    bad_code();
    kept();
    not_linked();
    local_memory();
    final_errors();
    sticky();
    every_failure();
    if (have_compiler()) {
        whole();
        sizes();
        bad_kernel();
        refused_line();
        recording();
        choosing(false);
        choosing(true);
    } else printf("skipped: machines with such a device, because %s\n", ctx.err.text);
    qerr_clear(&ctx);
    qctx_close(&ctx);
    CHECK(ctx.bytes == 0);
    return check_done();
}
