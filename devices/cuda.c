/* cuda.c -- runs kernels on NVIDIA GPUs, through the driver, which is opened at run time without its headers.
 *
 * The functions and constants of the driver are listed in cuda_api.def.  The format of the code is described in
 * devices/ptx.h.  The environment variable QUASAR_CUDA_WITHOUT lists code paths that are disabled (without).
 *
 * Context.  We use the device's primary context, so that memory is shared with PyTorch, CuPy and other libraries in
 * this process.  Each device has one stream for work and one for transfers.  Both are ordinary streams, not
 * "non-blocking" ones: the driver orders them with the default stream, which those libraries use by default.
 *
 * Transfers.  Everything except reading results is asynchronous.  Transfers pass through two pinned buffers (stages),
 * because the driver does not specify exactly when it has read pageable memory.  When an upload returns, its source has
 * been copied; the device reads one stage while we fill the other.
 *
 * We never register foreign memory with the driver (cuMemHostRegister):
 *   - Registration takes time for each page.  Memory that is borrowed for a call could stay registered only during the
 *     call, since we are not notified when its owner frees it, and the driver would go on using the old pages.
 *   - Memory that is held for longer can lose its pages, too: after a fork (on WSL), the first writer may get new ones.
 *   - Another library that registers the same memory would get an error.
 *   - The gain is small: several threads fill the stages about as fast as the bus transfers them, and a direct copy
 *     would have to be waited for before the owner may write.
 *
 * Overlap.  Transfers have their own stream, so that the device copies while it computes:
 *
 *     stream   launch 1 (a) ─ cut ─ launch 2 (b) ─────────────── launch 3 (a)
 *     copies                    └─ upload to a ─ sent ───────────┘
 *
 * Each operation queued on `stream` gets a number.  For each block we record the number of the last operation that may
 * use it (used), of the last that may write it (written), and its last upload (sent).  A cut is an event in `stream`.
 * An upload waits for a cut after `used`, and a download for one after `written`.  A launch waits for the last upload,
 * unless `stream` already waits for the uploads to its blocks.  Other operations on `stream` wait for all uploads and
 * mark all blocks as used.  Copies never wait for operations that are queued later, so `stream` may wait for them at
 * any time.
 *
 * Graphs.  A graph that is being recorded contains addresses.  So nothing may be allocated for it, not even from kept
 * blocks: the next array would get them, and the graph would write into it.  A launch that has all its memory needs no
 * check; only operations that allocate, copy or wait ask the driver whether the stream is being captured.
 *
 * Faults.  A kernel that may fail writes its fault to host memory, where each launch has its own element.  Each
 * synchronization checks these and returns the first fault as its error.  So a launch need not wait, and a fault is
 * reported even if a later kernel, which used invalid results, has destroyed the context.
 *
 * An access to an invalid address is reported by some later call.  The context is unusable from then on (the driver
 * cannot restore it), and every later call fails with the message of the first failure.
 *
 * Code.  The driver compiles PTX to machine code once.  The result is stored in the disk cache, for this driver and
 * this type of device, and the next process loads it.
 *
 * Registers are divided among the threads of a block.  Code whose block size is unknown at compile time may use any
 * number of registers.  If a launch has a block that is too large for it, the code is compiled again with a limit
 * (fitting). */
#include "devices/buildlog.h"
#include "devices/cache.h"
#include "devices/cuda_math.h"
#include "devices/ptx.h"
#include "devices/threads.h"
#include "vm/base/dtype.h"
#include "vm/base/str.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
#define CU(name, symbol, args) int(*name) args;
#include "devices/cuda_api.def"
} Api;

enum { /* constants of the driver, without CUDA_ and CU_ */
#define CUNUMBER(name, number, symbol) name = number,
#include "devices/cuda_api.def"
};

enum { STAGES = 2, STAGE_BYTES = 4 << 20 };
enum { FAULTS = 256 };                     /* maximum number of running launches whose faults are unknown */
enum { LOCAL_MOST = 512 << 10 };           /* maximum local memory of a thread in bytes */
static const int64_t GRID_MAX = INT32_MAX; /* maximum number of blocks in a launch */

typedef struct {
    char *host;
    void *done;
    bool busy;
} Stage; /* busy: the device may use it until the event `done` */

enum { CUTS = 32 };
enum { BESIDE_LEAST = 32 << 10 }; /* minimum size in bytes of a transfer on `copies`, which costs events */
enum { CUT_LEAST = 1 << 20 };     /* minimum total size in bytes of a launch's blocks for a cut after it */
typedef struct {
    uint64_t at;
    void *event;
} Cut; /* an event after operation number `at` */
typedef struct {
    DevPtr at;
    size_t n;
    uint64_t used, written, sent;
} Mark; /* last uses of a block that we allocated */

typedef struct {
    Api f;
    int device;
    void *context;                   /* the primary context; NULL: we have not retained it */
    void *stream, *ready;            /* ready: event for ordering queues */
    void *pool;                      /* memory pool for stream-ordered allocation; NULL: cuMemAlloc is used */
    void *copies;                    /* stream of transfers with the host; NULL: they use `stream` */
    void *last_sent;                 /* event after the last upload */
    uint64_t queued, all_used, done; /* operations on `stream`: the last; the last that may use any block; the last
                                        known to have ended */
    uint64_t awaited;                /* operation on `stream` up to which `copies` waits */
    uint64_t sent, joined;           /* numbers of the last upload, and of the last that `stream` waits for */
    Cut cuts[CUTS];
    unsigned ncuts;
    bool lent;   /* libraries are queueing operations on `stream` that are not counted */
    bool shown;  /* others know the stream and may queue operations that are not counted */
    Mark *marks; /* sorted by address */
    uint32_t nmarks, marks_cap;
    bool alone;            /* only one thread fills and empties the stages */
    DevFault *faults;      /* array of FAULTS elements in pinned memory; NULL: not needed so far */
    DevPtr faults_there;   /* device address of `faults` */
    DevAsync late[FAULTS]; /* callbacks of the first d->owed launches */
    Stage stage[STAGES];
    unsigned next_stage; /* counts used stages; modulo STAGES, the index of the next one */
    CudaMath *math;      /* NULL: not needed so far */
    uint64_t peers;      /* bit i: access to the memory of device i was requested */
    char running[64];    /* name of the last kernel launched since the last synchronization; "": none */
    char dead[1024];     /* reason why the context is unusable; "": it is usable */
} State;

struct Program {
    void *module, *function;
    bool serial, fault;
    int threads;     /* threads of a block, if the device chooses the block */
    int max_threads; /* maximum threads of a block with the registers of this code */
    int registers;   /* registers of a thread */
    unsigned shared; /* dynamic shared memory in bytes */
    char name[64];
    char *text; /* PTX to compile again for larger blocks; NULL: not possible or not necessary */
    size_t n;   /* bytes of the text, without the NUL */
    Cache *cache;
    Program *wider; /* the same kernel for larger blocks, with fewer registers; NULL: not needed so far */
};

static State *state_of(const Device *d) { return d->state; }

/* Returns whether a code path is disabled by QUASAR_CUDA_WITHOUT, a list of names.  It is for optimizations whose
 * benefit on a device must be measured (tests/gpu). */
static bool without(const char *way) {
    const char *list = getenv("QUASAR_CUDA_WITHOUT");
    size_t n = strlen(way);
    while (list && *list) {
        size_t word = strcspn(list, ", ");
        if (word == n && !strncmp(list, way, n)) return true;
        list += word + strspn(list + word, ", ");
    }
    return false;
}

/* -- errors -------------------------------------------------------------------------------------------------------- */
/* Returns whether every call on the context fails after this error. */
static bool is_final(int e) {
    return e == ERROR_DEINITIALIZED || e == ERROR_ECC || e == ERROR_ILLEGAL_ADDRESS || e == ERROR_LAUNCH_TIMEOUT ||
           e == ERROR_CONTEXT_DESTROYED || e == ERROR_ASSERT || e == ERROR_NVLINK || e == ERROR_CONTAINED ||
           e == ERROR_TENSOR_MEMORY || e == ERROR_UNKNOWN || (e >= ERROR_HARDWARE_STACK && e <= ERROR_LAUNCH_FAILED);
}

static void describe_error(const Api *f, int e, char *out, size_t n) {
    const char *name = NULL, *text = NULL;
    if (f->GetErrorName(e, &name) != SUCCESS || !name) name = "an error without a name";
    if (f->GetErrorString(e, &text) != SUCCESS || !text) text = name;
    snprintf(out, n, "%s (%s, %d)", text, name, e);
}

/* Records a failure that destroyed the context.  The message names the last queued kernel as the likely cause. */
static void bury(Device *d, const char *call, int e, const char *what) {
    State *s = state_of(d);
    if (*s->dead) return;
    snprintf(s->dead, sizeof s->dead, "%.60s cannot be used any more by this process: cu%s%s%s: %s%s", qdev_name(d),
             call, *s->running ? ", after kernel " : "", s->running, what,
             e == ERROR_LAUNCH_TIMEOUT ? "; where a display uses the GPU, a kernel may run for a few seconds" : "");
}

static qs_status checked(Device *d, const char *call, int e) {
    char what[256];
    if (e == SUCCESS) return QS_OK;
    describe_error(&state_of(d)->f, e, what, sizeof what);
    if (is_final(e)) bury(d, call, e, what);
    if (is_final(e)) return qerr_set(d->ctx, QS_EDEVICE, "%s", state_of(d)->dead);
    return qerr_set(d->ctx, e == ERROR_OUT_OF_MEMORY ? QS_ENOMEM : QS_EDEVICE, "%s: cu%s: %s", qdev_name(d), call,
                    what);
}
#define CALL(d, name, ...) checked(d, #name, state_of(d)->f.name(__VA_ARGS__))

static qs_status waited(Device *d, qs_status s) { return qdev_waited(d), s; }
#define WAIT(d, ...) (qdev_wait(d), waited(d, CALL(d, __VA_ARGS__)))

/* Checks the result of a call during cleanup, whose error cannot be reported; records only that the context is
 * unusable. */
static void quietly(Device *d, const char *call, int e) {
    char what[256];
    if (e == SUCCESS || !is_final(e)) return;
    describe_error(&state_of(d)->f, e, what, sizeof what);
    bury(d, call, e, what);
}
#define QUIETLY(d, name, ...) quietly(d, #name, state_of(d)->f.name(__VA_ARGS__))

/* Reports faults after a synchronization, when all queued work has ended or never will.  Only the first failed launch
 * is reported, because later failures, including the loss of the context, may be its consequences. */
static qs_status settle(Device *d, qs_status s) {
    State *k = state_of(d);
    int n = d->owed, failed = 0;
    while (failed < n && !k->faults[failed].message) failed++;
    d->owed = 0, d->ctx->owed -= n;
    if (failed < n && s != QS_OK) qerr_clear(d->ctx);
    if (failed < n) s = k->late[failed].report(k->late[failed].ud, &k->faults[failed]);
    for (int i = 0; i < n; i++) k->faults[i].message = 0, k->late[i].drop(k->late[i].ud);
    return s;
}

/* Makes our context current.  Each operation uses `TRY(enter_context(d)); return leave_context(d, work);`, which
 * restores the context of the caller. */
static qs_status enter_context(Device *d) {
    if (*state_of(d)->dead && d->owed) TRY(settle(d, QS_OK));
    if (*state_of(d)->dead) return qerr_set(d->ctx, QS_EDEVICE, "%s", state_of(d)->dead);
    return CALL(d, CtxPushCurrent, state_of(d)->context);
}

static qs_status leave_context(Device *d, qs_status s) {
    void *ours;
    QUIETLY(d, CtxPopCurrent, &ours);
    return *state_of(d)->dead && d->owed ? settle(d, s) : s;
}

/* Like enter_context, for callers that cannot report an error and do nothing if this returns false. */
static bool can_enter(Device *d) {
    State *s = state_of(d);
    return !*s->dead && s->f.CtxPushCurrent(s->context) == SUCCESS;
}

/* -- the driver's library and devices ------------------------------------------------------------------------------ */
/* Formats a reason, which is valid as long as the Ctx. */
QS_PRINTF(2, 3) static const char *sentence(Ctx *c, const char *fmt, ...) {
    char text[1200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return qstr_cname(c, text)->s;
}

/* Opens the driver's library.  It is never closed, because drivers crash if they are closed while others use them. */
static bool open_library(Ctx *c, Api *f, const char **why) {
    const char *named = getenv("QUASAR_CUDA"), *library = named && *named ? named : "libcuda.so.1";
    void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    bool complete = true;
    if (!lib) {
        *why = sentence(c, "%.500s, a part of NVIDIA's driver, cannot be opened: %.500s", library, dlerror());
        return false;
    }
    /* POSIX lets a function address travel in a void *; C has no cast for it. */
#define FIND(name, symbol)          *(void **)(void *)&f->name = dlsym(lib, symbol)
#define CU(name, symbol, args)      FIND(name, symbol), complete = complete && f->name;
#define CULATER(name, symbol, args) FIND(name, symbol);
#include "devices/cuda_api.def"
#undef FIND
    *why = complete ? NULL : sentence(c, "%.500s is older than CUDA 11: update NVIDIA's driver", library);
    return complete;
}

/* Returns the number of devices; 0: *why is the reason. */
static int count_devices(const Api *f, const char **why) {
    int n = 0, e = f->Init(0);
    *why = "NVIDIA's driver finds no device";
    if (e == ERROR_NO_DEVICE) return 0;
    if (e == SUCCESS) e = f->DeviceGetCount(&n);
    if (e == SUCCESS && n > 0) return *why = NULL, n;
    if (e != SUCCESS && (f->GetErrorString(e, why) != SUCCESS || !*why)) *why = "NVIDIA's driver does not start";
    return 0;
}

static int probe_cuda(Ctx *c, const char **why) {
    Api f = {0};
    return open_library(c, &f, why) ? count_devices(&f, why) : 0;
}

/* -- recording ----------------------------------------------------------------------------------------------------- */
/* Returns whether our stream is being captured in a graph, which happens when it waits for a captured stream. */
static bool records(Device *d) {
    int status = 0;
    QUIETLY(d, StreamIsCapturing, state_of(d)->stream, &status);
    return status != 0;
}

static bool is_recording(Device *d) {
    if (!can_enter(d)) return false;
    bool recording = records(d);
    (void)leave_context(d, QS_OK);
    return recording;
}

static qs_status cannot_record(Device *d, const char *kernel, const char *why) {
    return qerr_set(d->ctx, QS_EDEVICE, "%s%s%s, and a CUDA graph is being recorded on %s", *kernel ? "kernel " : "",
                    kernel, why, qdev_name(d));
}

/* Relaxes the capture mode of this thread, so that the next calls do not disturb an unrelated graph that others are
 * recording on it.  Sets *mode to the previous mode, which the caller restores by exchanging again. */
static bool relax(const Api *f, int *mode) {
    *mode = CAPTURE_RELAXED;
    return f->ThreadExchangeStreamCaptureMode(mode) == SUCCESS;
}

/* -- two streams --------------------------------------------------------------------------------------------------- */
/* Returns the index at which the mark of the block is or would be inserted. */
static uint32_t place_of(const State *s, DevPtr p) {
    uint32_t low = 0, high = s->nmarks;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (s->marks[middle].at < p) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Returns the mark of a block that we allocated; NULL: other memory, which may also be used through other addresses. */
static Mark *mark_of(const State *s, DevPtr p) {
    uint32_t i = place_of(s, p);
    return i < s->nmarks && s->marks[i].at == p ? &s->marks[i] : NULL;
}

static void add_mark(Device *d, DevPtr p, size_t n) {
    State *s = state_of(d);
    uint32_t i = place_of(s, p);
    if (!s->copies) return;
    qmem_grow(d->ctx, &s->marks, &s->marks_cap, s->nmarks + 1, sizeof *s->marks);
    memmove(&s->marks[i + 1], &s->marks[i], (s->nmarks++ - i) * sizeof *s->marks);
    s->marks[i] = (Mark){.at = p, .n = n};
}

static void remove_mark(State *s, DevPtr p) {
    Mark *m = mark_of(s, p);
    if (m) memmove(m, m + 1, (size_t)(s->marks + s->nmarks-- - (m + 1)) * sizeof *m);
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Makes `stream` wait for all uploads. */
static qs_status join_uploads(Device *d) {
    State *s = state_of(d);
    if (s->joined == s->sent) return QS_OK;
    TRY(CALL(d, StreamWaitEvent, s->stream, s->last_sent, 0));
    s->joined = s->sent;
    return QS_OK;
}

static void quietly_join(Device *d) {
    if (join_uploads(d) != QS_OK) qerr_clear(d->ctx);
}

static void use_all(Device *d) { state_of(d)->all_used = ++state_of(d)->queued; }

/* Prepares for queueing an operation that may use any block. */
static qs_status join_and_use_all(Device *d) {
    use_all(d);
    return join_uploads(d);
}

static qs_status make_cut(Device *d) {
    State *s = state_of(d);
    Cut *c = &s->cuts[s->ncuts % CUTS];
    if (!c->event) TRY(CALL(d, EventCreate, &c->event, EVENT_DISABLE_TIMING));
    c->at = 0;
    TRY(CALL(d, EventRecord, c->event, s->stream));
    c->at = s->queued, s->ncuts++;
    return QS_OK;
}

/* Returns the first cut at or after this operation; NULL: there is none. */
static const Cut *cut_from(const State *s, uint64_t number) {
    const Cut *found = NULL;
    for (const Cut *c = s->cuts; c < s->cuts + CUTS; c++)
        if (c->at >= number && c->at && (!found || c->at < found->at)) found = c;
    return found;
}

/* Makes `copies` wait for this operation on `stream`, and for all that others may have queued there. */
static qs_status await(Device *d, uint64_t number) {
    State *s = state_of(d);
    if (s->shown) use_all(d);
    number = later(number, s->all_used);
    if (number <= later(s->done, s->awaited)) return QS_OK;
    if (!cut_from(s, number)) TRY(make_cut(d));
    const Cut *c = cut_from(s, number);
    TRY(CALL(d, StreamWaitEvent, s->copies, c->event, 0));
    s->awaited = c->at;
    return QS_OK;
}

/* Records an event after the uploads on `copies`, for which others can wait.  If that fails, waits here. */
static qs_status mark_sent(Device *d) {
    State *s = state_of(d);
    qs_status marked = CALL(d, EventRecord, s->last_sent, s->copies);
    if (marked == QS_OK) s->sent++;
    else QUIETLY(d, StreamSynchronize, s->copies);
    return marked;
}

static int query(const Api *f, void *event) {
    int mode;
    bool relaxed = relax(f, &mode);
    int e = f->EventQuery(event);
    if (relaxed) f->ThreadExchangeStreamCaptureMode(&mode);
    return e;
}

static bool is_over(Device *d, const Mark *m) {
    State *s = state_of(d);
    uint64_t number = later(m->used, s->all_used);
    const Cut *c = number > s->done ? cut_from(s, number) : NULL;
    if (!c) return number <= s->done;
    int e = query(&s->f, c->event);
    if (e != ERROR_NOT_READY) quietly(d, "EventQuery", e);
    if (e == SUCCESS) s->done = later(s->done, c->at);
    return e == SUCCESS;
}

static bool is_busy(Device *d, DevPtr p) {
    const Mark *m = mark_of(state_of(d), p);
    if (!m || !can_enter(d)) return false;
    bool over = is_over(d, m);
    (void)leave_context(d, QS_OK);
    return !over;
}

/* -- libraries ----------------------------------------------------------------------------------------------------- */
static CudaMath *libraries(Device *d) {
    State *s = state_of(d);
    int version = 0;
    if (s->math) return s->math;
    if (s->f.DriverGetVersion(&version) != SUCCESS) version = 0;
    return s->math = qcudamath_open(d, version);
}

static const char *why_missing(Device *d, DevLibrary lib) { return qcudamath_missing(d, libraries(d), lib); }

/* Ends the use of the stream by a library, which lend_stream() began. */
static qs_status hand_back(Device *d, qs_status s) {
    state_of(d)->lent = false;
    use_all(d);
    return leave_context(d, s);
}

static qs_status lend_stream(Device *d) {
    TRY(enter_context(d));
    state_of(d)->lent = true;
    qs_status s = join_uploads(d);
    return s == QS_OK ? QS_OK : hand_back(d, s);
}

static qs_status gemm(Device *d, const DevGemm *g) {
    TRY(lend_stream(d));
    return hand_back(d, qcudamath_gemm(d, libraries(d), state_of(d)->stream, g));
}

static qs_status fft(Device *d, const DevFft *f) {
    size_t n = (size_t)(f->inner * f->outer) * (f->wide ? 16 : 8);
    for (int i = 0; i < f->rank; i++) n *= (size_t)f->n[i];
    TRY(lend_stream(d));
    qs_status s = f->real ? CALL(d, MemsetD8Async, f->data, 0, n, state_of(d)->stream) : QS_OK;
    return hand_back(d, s == QS_OK ? qcudamath_fft(d, libraries(d), state_of(d)->stream, f) : s);
}

/* Initializes x: zeros for Cholesky, the identity matrix for an inverse.  In the float 1, only bits of the highest
 * 32-bit word are set. */
static qs_status start_of(Device *d, const DevSolve *s) {
    size_t size = qdtype_size(s->dtype), n = (size_t)s->n;
    bool wide = s->dtype == QS_F64 || s->dtype == QS_C128;
    if (s->kind == SOLVE_SYSTEM) return QS_OK;
    TRY(CALL(d, MemsetD8Async, s->x, 0, n * n * size, state_of(d)->stream));
    if (s->kind == SOLVE_CHOLESKY) return QS_OK;
    return CALL(d, MemsetD2D32Async, s->x + (wide ? 4 : 0), (n + 1) * size, wide ? 0x3ff00000 : 0x3f800000, 1, n,
                state_of(d)->stream);
}

static qs_status solve(Device *d, DevSolve *job) {
    TRY(lend_stream(d));
    qs_status s = start_of(d, job);
    return hand_back(d, s == QS_OK ? qcudamath_solve(d, libraries(d), state_of(d)->stream, job) : s);
}

static qs_status factor(Device *d, DevFactor *job) {
    TRY(lend_stream(d));
    if (records(d)) return hand_back(d, cannot_record(d, "", "a factorization would have to come to the host"));
    return hand_back(d, qcudamath_factor(d, libraries(d), state_of(d)->stream, job));
}

static qs_status run_convolution(Device *d, DevConv *c) {
    TRY(lend_stream(d));
    return hand_back(d, qcudamath_convolve(d, libraries(d), state_of(d)->stream, c));
}

static const MathOps math = {why_missing, gemm, fft, solve, factor, run_convolution};

/* -- opening ------------------------------------------------------------------------------------------------------- */
static int attribute(Device *d, int what) {
    const State *s = state_of(d);
    int v = 0;
    return s->f.DeviceGetAttribute(&v, what, s->device) == SUCCESS ? v : 0;
}

static qs_status choose_target(Device *d) {
    int has = attribute(d, DEVICE_MAJOR) * 10 + attribute(d, DEVICE_MINOR), target = qptx_target(has);
    if (target) return snprintf(d->arch, sizeof d->arch, "sm_%d", target), QS_OK;
    return qerr_set(d->ctx, QS_EDEVICE, "%s: its compute capability is %d.%d; 7.0 or more is needed", qdev_name(d),
                    has / 10, has % 10);
}

static qs_status describe_device(Device *d, int ordinal, int count) {
    char name[96] = "";
    TRY(CALL(d, DeviceGetName, name, sizeof name, state_of(d)->device));
    name[sizeof name - 1] = 0;
    if (count > 1) snprintf(d->named, sizeof d->named, "%s (%s:%d)", name, d->ops->kind, ordinal);
    else snprintf(d->named, sizeof d->named, "%s", name);
    TRY(CALL(d, DeviceTotalMem, &d->total_memory, state_of(d)->device));
    d->max_block = attribute(d, DEVICE_MAX_THREADS), d->wide = true, d->elements = !without("elements");
    return choose_target(d);
}

/* Uses the default memory pool of the device, which all stream-ordered allocations of the process share, so that others
 * can allocate what we free. */
static void find_pool(Device *d) {
    State *s = state_of(d);
    int supported = 0;
    bool there = s->f.MemAllocAsync && s->f.MemFreeAsync && s->f.DeviceGetMemPool && s->f.MemPoolTrimTo;
    if (!there || without("pool")) return;
    if (s->f.DeviceGetAttribute(&supported, DEVICE_MEMORY_POOLS, s->device) != SUCCESS || !supported) return;
    int e = s->f.DeviceGetMemPool(&s->pool, s->device);
    if (e != SUCCESS) s->pool = NULL;
    quietly(d, "DeviceGetMemPool", e);
}

static qs_status make_queue(Device *d) {
    State *s = state_of(d);
    find_pool(d);
    s->alone = without("threads");
    TRY(CALL(d, StreamCreate, &s->stream, STREAM_DEFAULT));
    TRY(CALL(d, EventCreate, &s->ready, EVENT_DISABLE_TIMING));
    if (without("overlap")) return QS_OK;
    TRY(CALL(d, EventCreate, &s->last_sent, EVENT_DISABLE_TIMING));
    TRY(CALL(d, StreamCreate, &s->copies, STREAM_DEFAULT));
    return d->busy = is_busy, QS_OK;
}

static qs_status find_and_open(Device *d, int ordinal) {
    State *s = state_of(d);
    const char *why = NULL;
    int n = open_library(d->ctx, &s->f, &why) ? count_devices(&s->f, &why) : 0;
    if (!n) return qerr_set(d->ctx, QS_EDEVICE, "%s", why);
    if (ordinal < 0 || ordinal >= n)
        return qerr_set(d->ctx, QS_EDEVICE, "there is no CUDA device %d: %d found", ordinal, n);
    TRY(CALL(d, DeviceGet, &s->device, ordinal));
    TRY(describe_device(d, ordinal, n));
    TRY(CALL(d, DevicePrimaryCtxRetain, &s->context, s->device));
    TRY(enter_context(d));
    return leave_context(d, make_queue(d));
}

static void free_queue(Device *d) {
    State *s = state_of(d);
    for (int i = 0; i < STAGES; i++) {
        if (s->stage[i].done) QUIETLY(d, EventDestroy, s->stage[i].done);
        if (s->stage[i].host) QUIETLY(d, MemFreeHost, s->stage[i].host);
    }
    if (s->faults) QUIETLY(d, MemFreeHost, s->faults);
    for (int i = 0; i < CUTS; i++)
        if (s->cuts[i].event) QUIETLY(d, EventDestroy, s->cuts[i].event);
    if (s->last_sent) QUIETLY(d, EventDestroy, s->last_sent);
    if (s->copies) QUIETLY(d, StreamDestroy, s->copies);
    if (s->ready) QUIETLY(d, EventDestroy, s->ready);
    if (s->stream) QUIETLY(d, StreamDestroy, s->stream);
}

/* Closes the device.  If the context is unusable, it is only released, and the driver frees its objects. */
static void close_device(Device *d) {
    State *s = state_of(d);
    if (!s) return;
    for (int i = 0; i < d->owed; i++) s->late[i].drop(s->late[i].ud);
    d->ctx->owed -= d->owed, d->owed = 0;
    if (s->context && can_enter(d)) {
        if (s->copies) QUIETLY(d, StreamSynchronize, s->copies);
        if (s->stream) QUIETLY(d, StreamSynchronize, s->stream);
        qcudamath_close(d, s->math, !*s->dead), s->math = NULL;
        free_queue(d);
        (void)leave_context(d, QS_OK);
    }
    qcudamath_close(d, s->math, false);
    if (s->context) s->f.DevicePrimaryCtxRelease(s->device);
    qmem_free(d->ctx, s->marks, s->marks_cap * sizeof *s->marks);
    qmem_free(d->ctx, s, sizeof *s);
    d->state = NULL;
}

static qs_status open_cuda(Device *d, int ordinal) {
    d->state = qmem_alloc(d->ctx, sizeof(State));
    d->ordinal = ordinal, d->math = &math, d->recording = is_recording, d->late = true;
    snprintf(d->named, sizeof d->named, "CUDA device %d", ordinal);
    qs_status s = find_and_open(d, ordinal);
    if (s != QS_OK) close_device(d);
    return s;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */
/* Waits for the queue, so that freed blocks are back in the pool, and returns the unused memory of the pool to the
 * driver. */
static void empty_pool(Device *d) {
    QUIETLY(d, StreamSynchronize, state_of(d)->stream);
    QUIETLY(d, MemPoolTrimTo, state_of(d)->pool, 0);
}

/* Allocates a block on `copies`, ahead of queued work on `stream`, so that an upload can fill it at once. */
static qs_status alloc_ordered(Device *d, size_t n, DevPtr *out) {
    State *s = state_of(d);
    void *stream = s->copies ? s->copies : s->stream;
    int e = s->f.MemAllocAsync(out, n, stream);
    if (e == ERROR_OUT_OF_MEMORY) empty_pool(d), e = s->f.MemAllocAsync(out, n, stream);
    TRY(checked(d, "MemAllocAsync", e));
    qs_status ordered = s->copies ? mark_sent(d) : QS_OK;
    if (ordered == QS_OK) ordered = join_uploads(d);
    if (ordered != QS_OK) QUIETLY(d, MemFreeAsync, *out, stream);
    return ordered;
}

static qs_status alloc_block(Device *d, size_t n, DevPtr *out) {
    DevPtr block = 0;
    TRY(enter_context(d));
    n = n ? n : 1;
    qs_status s = leave_context(d, state_of(d)->pool ? alloc_ordered(d, n, &block) : CALL(d, MemAlloc, &block, n));
    if (s == QS_OK) *out = block, add_mark(d, block, n);
    return s;
}

static void release_block(Device *d, DevPtr p) {
    if (!p || !can_enter(d)) return;
    remove_mark(state_of(d), p);
    quietly_join(d);
    if (state_of(d)->pool) QUIETLY(d, MemFreeAsync, p, state_of(d)->stream);
    else QUIETLY(d, MemFree, p);
    (void)leave_context(d, QS_OK);
}

static qs_status make_stage(Device *d, Stage *g) {
    void *p;
    if (!g->done) TRY(CALL(d, EventCreate, &g->done, EVENT_DISABLE_TIMING));
    if (g->host) return QS_OK;
    TRY(CALL(d, MemHostAlloc, &p, STAGE_BYTES, 0));
    g->host = p;
    return QS_OK;
}

static qs_status wait_stage(Device *d, Stage *g) {
    if (g->busy) TRY(WAIT(d, EventSynchronize, g->done));
    g->busy = false;
    return QS_OK;
}

/* Returns the next pinned buffer, after waiting until the device no longer uses it. */
static qs_status next_stage(Device *d, Stage **out) {
    Stage *g = &state_of(d)->stage[state_of(d)->next_stage++ % STAGES];
    TRY(make_stage(d, g));
    TRY(wait_stage(d, g));
    return *out = g, QS_OK;
}

static qs_status mark_busy(Device *d, Stage *g, void *stream) {
    g->busy = true; /* even if recording the event fails, because then nothing more will run */
    return CALL(d, EventRecord, g->done, stream);
}

static size_t part_of(size_t left) { return left < STAGE_BYTES ? left : STAGE_BYTES; }

/* All threads copy to and from the stages, because one thread is slower than the bus. */
enum { PIECE = 256 << 10 };
typedef struct {
    char *to;
    const char *from;
    size_t n;
} Bytes;

static void copy_pieces(void *ud, int64_t first, int64_t last, int worker) {
    const Bytes *b = ud;
    size_t from = (size_t)first * PIECE, to = (size_t)last * PIECE;
    (void)worker;
    memcpy(b->to + from, b->from + from, (to < b->n ? to : b->n) - from);
}

static void copy_bytes(Device *d, void *to, const void *from, size_t n) {
    Bytes b = {to, from, n};
    if (n <= 2 * PIECE || state_of(d)->alone) memcpy(to, from, n);
    else qthreads_run(qthreads_of(d->ctx), (int64_t)((n + PIECE - 1) / PIECE), 1, copy_pieces, &b);
}

static qs_status send(Device *d, void *stream, DevPtr to, const char *from, size_t n) {
    Stage *g;
    for (size_t at = 0, part; at < n; at += part) {
        part = part_of(n - at);
        TRY(next_stage(d, &g));
        copy_bytes(d, g->host, from + at, part);
        TRY(CALL(d, MemcpyHtoDAsync, to + at, g->host, part, stream));
        TRY(mark_busy(d, g, stream));
    }
    return QS_OK;
}

static qs_status request(Device *d, void *stream, DevPtr from, size_t n, Stage **out) {
    TRY(next_stage(d, out));
    TRY(CALL(d, MemcpyDtoHAsync, (*out)->host, from, n, stream));
    return mark_busy(d, *out, stream);
}

/* Downloads in parts; the device fills one stage while we empty the other. */
static qs_status receive(Device *d, void *stream, char *to, DevPtr from, size_t n) {
    Stage *now, *next = NULL;
    TRY(request(d, stream, from, part_of(n), &now));
    for (size_t at = 0, part; at < n; at += part, now = next) {
        part = part_of(n - at);
        if (at + part < n) TRY(request(d, stream, from + at + part, part_of(n - at - part), &next));
        TRY(wait_stage(d, now));
        copy_bytes(d, to + at, now->host, part);
    }
    return QS_OK;
}

/* Decides whether a transfer between the host and this block can use `copies`; returns the mark of the block, or NULL.
 * A download while faults are unknown must use `stream`, so that it reports them. */
static Mark *beside(Device *d, DevPtr block, size_t n, bool waits) {
    const State *s = state_of(d);
    bool may = s->copies && !s->lent && n >= BESIDE_LEAST && !(waits && d->owed);
    return may ? mark_of(s, block) : NULL;
}

/* Prepares a transfer on `stream`, after all queued work and uploads. */
static qs_status prepare_behind(Device *d, DevPtr block) {
    State *s = state_of(d);
    Mark *m = mark_of(s, block);
    s->queued++;
    if (m) m->used = m->written = s->queued;
    return join_uploads(d);
}

static qs_status send_to(Device *d, DevPtr block, size_t off, const char *from, size_t n) {
    Mark *m = beside(d, block, n, false);
    if (!m) {
        TRY(prepare_behind(d, block));
        return send(d, state_of(d)->stream, block + off, from, n);
    }
    TRY(await(d, m->used));
    qs_status s = send(d, state_of(d)->copies, block + off, from, n), marked = mark_sent(d);
    m->sent = state_of(d)->sent;
    if (marked == QS_OK && state_of(d)->shown) marked = join_uploads(d);
    return s == QS_OK ? marked : s;
}

static qs_status receive_from(Device *d, DevPtr block, size_t off, char *to, size_t n) {
    const Mark *m = beside(d, block, n, true);
    if (!m) {
        TRY(prepare_behind(d, block));
        TRY(receive(d, state_of(d)->stream, to, block + off, n));
        return settle(d, QS_OK); /* all earlier work has ended, too */
    }
    TRY(await(d, m->written));
    return receive(d, state_of(d)->copies, to, block + off, n);
}

static qs_status upload_block(Device *d, DevPtr to, size_t off, const void *from, size_t n) {
    if (!n) return QS_OK;
    TRY(enter_context(d));
    return leave_context(d, send_to(d, to, off, from, n));
}

static qs_status download_block(Device *d, void *to, DevPtr from, size_t off, size_t n) {
    if (!n) return QS_OK;
    TRY(enter_context(d));
    return qdev_heed(d, leave_context(d, receive_from(d, from, off, to, n)));
}

static qs_status copy_ordered(Device *d, DevPtr to, DevPtr from, size_t n) {
    TRY(join_and_use_all(d));
    return CALL(d, MemcpyDtoDAsync, to, from, n, state_of(d)->stream);
}

static qs_status copy_block(Device *d, DevPtr to, DevPtr from, size_t n) {
    if (!n) return QS_OK;
    TRY(enter_context(d));
    return leave_context(d, copy_ordered(d, to, from, n));
}

/* -- waiting ------------------------------------------------------------------------------------------------------- */
static qs_status wait_queue(Device *d) {
    TRY(join_uploads(d));
    TRY(WAIT(d, StreamSynchronize, state_of(d)->stream));
    state_of(d)->running[0] = 0, state_of(d)->done = state_of(d)->queued;
    return settle(d, QS_OK);
}

static qs_status wait_all(Device *d) {
    return records(d) ? cannot_record(d, "", "nothing can be waited for") : wait_queue(d);
}

static qs_status sync(Device *d) {
    TRY(enter_context(d));
    return qdev_heed(d, leave_context(d, wait_all(d)));
}

/* -- between devices ----------------------------------------------------------------------------------------------- */
/* Makes the queue of `d` wait for all work that is queued on `other` now. */
static qs_status queue_after(Device *d, Device *other) {
    TRY(enter_context(other));
    qs_status s = join_uploads(other);
    TRY(leave_context(other,
                      s == QS_OK ? CALL(other, EventRecord, state_of(other)->ready, state_of(other)->stream) : s));
    TRY(enter_context(d));
    use_all(d);
    return leave_context(d, CALL(d, StreamWaitEvent, state_of(d)->stream, state_of(other)->ready, 0));
}

/* Enables direct access between two devices, if supported, so that the driver need not copy through host memory. */
static void open_peer(Device *to, Device *from) {
    State *s = state_of(to);
    int can = 0;
    if (from->ordinal >= 64 || s->peers >> from->ordinal & 1) return;
    s->peers |= (uint64_t)1 << from->ordinal;
    if (s->f.DeviceCanAccessPeer(&can, s->device, state_of(from)->device) != SUCCESS || !can) return;
    QUIETLY(to, CtxEnablePeerAccess, state_of(from)->context, 0);
    int access[ACCESS_BYTES / sizeof(int)] = {LOCATION_DEVICE, s->device};
    access[ACCESS_FLAGS / sizeof(int)] = ACCESS_READ_WRITE;
    if (state_of(from)->pool && s->f.MemPoolSetAccess) QUIETLY(to, MemPoolSetAccess, state_of(from)->pool, access, 1);
}

static qs_status copy_from_peer(Device *to, DevPtr dst, Device *from, DevPtr src, size_t n) {
    open_peer(to, from);
    TRY(join_and_use_all(to));
    return CALL(to, MemcpyPeerAsync, dst, state_of(to)->context, src, state_of(from)->context, n, state_of(to)->stream);
}

/* Copies from another device.  Faults of `from` are reported here, since a synchronization with `to` would not. */
static qs_status peer(Device *to, DevPtr dst, Device *from, DevPtr src, size_t n) {
    if (!n) return QS_OK;
    if (from->owed) TRY(sync(from));
    TRY(queue_after(to, from));
    TRY(enter_context(to));
    TRY(leave_context(to, copy_from_peer(to, dst, from, src, n)));
    return queue_after(from, to); /* so that the source is not overwritten too early */
}

/* -- sharing with other libraries ---------------------------------------------------------------------------------- */
/* The default stream, which the driver orders with ours; 0 also denotes it. */
enum { STREAM_LEGACY = 1 };

/* Returns our stream to other libraries.  From now on it waits for each upload (send_to), so that waiting for the
 * stream also waits for uploads. */
static DevPtr queue_name(Device *d) {
    state_of(d)->shown = true;
    if (state_of(d)->sent != state_of(d)->joined && can_enter(d)) quietly_join(d), (void)leave_context(d, QS_OK);
    return (uintptr_t)state_of(d)->stream;
}

/* Makes stream `after` wait for `before`; one or both are ours.  Others must also wait for our uploads, and their work
 * may use all blocks. */
static qs_status queue_order(Device *d, void *before, void *after) {
    TRY(join_and_use_all(d));
    if (before == after) return QS_OK;
    TRY(CALL(d, EventRecord, state_of(d)->ready, before));
    return CALL(d, StreamWaitEvent, after, state_of(d)->ready, 0);
}

static qs_status order(Device *d, DevPtr stream, bool back) {
    void *theirs = (void *)(uintptr_t)stream, *ours = state_of(d)->stream;
    if (back && d->owed) TRY(sync(d));         /* others would not check our faults */
    if (stream <= STREAM_LEGACY) return QS_OK; /* the driver orders it with our streams */
    TRY(enter_context(d));
    return leave_context(d, back ? queue_order(d, ours, theirs) : queue_order(d, theirs, ours));
}

/* A block that outlives its Device.  It retains the primary context. */
typedef struct {
    Api f;
    int device;
    void *context;
    DevPtr block;
    void *queue;
} Orphan;

static void free_orphan(void *p) {
    Orphan *o = p;
    void *context;
    int mode;
    if (o->f.CtxPushCurrent(o->context) == SUCCESS) {
        bool relaxed = relax(&o->f, &mode);
        if (o->queue) o->f.MemFreeAsync(o->block, o->queue), o->f.StreamDestroy(o->queue);
        else o->f.MemFree(o->block);
        if (relaxed) o->f.ThreadExchangeStreamCaptureMode(&mode);
        o->f.CtxPopCurrent(&context);
    }
    o->f.DevicePrimaryCtxRelease(o->device);
    free(o);
}

/* Creates a stream for freeing a block of the pool, which is stream-ordered.  Like ours, it is ordered with the default
 * stream. */
static qs_status queue_of_orphan(Device *d, Orphan *o) {
    if (!state_of(d)->pool) return QS_OK;
    qs_status s = enter_context(d);
    if (s == QS_OK) s = leave_context(d, CALL(d, StreamCreate, &o->queue, STREAM_DEFAULT));
    if (s != QS_OK && o->queue) o->f.StreamDestroy(o->queue);
    if (s != QS_OK) o->f.DevicePrimaryCtxRelease(o->device);
    return s;
}

static qs_status outlive(Device *d, DevPtr block, void (**release_it)(void *), void **owner) {
    Orphan *o = malloc(sizeof *o); /* not from the Ctx, which it outlives */
    if (!o) return qerr_set(d->ctx, QS_ENOMEM, "out of memory");
    *o = (Orphan){.f = state_of(d)->f, .device = state_of(d)->device, .block = block};
    qs_status s = CALL(d, DevicePrimaryCtxRetain, &o->context, o->device);
    if (s == QS_OK) s = queue_of_orphan(d, o);
    if (s != QS_OK) return free(o), s;
    *release_it = free_orphan, *owner = o;
    return QS_OK;
}

static qs_status move_any(Device *d, DevPtr to, DevPtr from, size_t n) {
    if (records(d)) return cannot_record(d, "", "memcpy would have to wait");
    TRY(join_and_use_all(d));
    TRY(CALL(d, MemcpyAsync, to, from, n, state_of(d)->stream));
    return wait_queue(d);
}

static qs_status move_bytes(Device *d, DevPtr to, DevPtr from, size_t n) {
    if (!n) return QS_OK;
    TRY(enter_context(d));
    return leave_context(d, move_any(d, to, from, n));
}

static int ordinal_of(Device *d, DevPtr p) {
    int ordinal = -1;
    if (!can_enter(d)) return -1;
    if (state_of(d)->f.PointerGetAttribute(&ordinal, POINTER_DEVICE_ORDINAL, p) != SUCCESS) ordinal = -1;
    (void)leave_context(d, QS_OK);
    return ordinal;
}

static void give_back(Device *d) {
    if (!state_of(d)->pool || !can_enter(d)) return;
    empty_pool(d);
    (void)leave_context(d, QS_OK);
}

static size_t bytes_left(Device *d) {
    size_t left = SIZE_MAX, all;
    if (!can_enter(d)) return SIZE_MAX;
    if (state_of(d)->f.MemGetInfo(&left, &all) != SUCCESS) left = SIZE_MAX;
    (void)leave_context(d, QS_OK);
    return left;
}

static const SharingOps sharing = {queue_name, order, ordinal_of, move_bytes, outlive, give_back, bytes_left};

/* -- code ---------------------------------------------------------------------------------------------------------- */
/* Quotes the line of the text that the driver's log names ("line 23; error: …"); "": none. */
static void quote_line(const char *text, const char *log, char *out, size_t n) {
    const char *at = strstr(log, "line ");
    long line = at ? strtol(at + 5, NULL, 10) : 0;
    *out = 0;
    for (; line > 1 && text; line--) text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    if (line != 1 || !text) return;
    text += strspn(text, " \t");
    snprintf(out, n, " in `%.*s`", (int)strcspn(text, "\n") < 100 ? (int)strcspn(text, "\n") : 100, text);
}

/* Sets an error at a script position; 0: the caller adds the location. */
QS_PRINTF(5, 6)
static qs_status error_at(Device *d, qs_status kind, const Code *code, uint32_t pos, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    qs_status s = qerr_vset(d->ctx, kind, (Where){pos ? code->lines.src : NULL, pos}, fmt, args);
    va_end(args);
    return s;
}

static qs_status load_failed(Device *d, const Program *p, const Code *code, int e, const char *log) {
    char what[256], line[128];
    Text report;
    if (is_final(e)) return checked(d, "ModuleLoadDataEx", e);
    describe_error(&state_of(d)->f, e, what, sizeof what);
    quote_line(code->bytes, log, line, sizeof line);
    qtext_init(&report, d->ctx);
    qbuildlog_translate(&code->lines, log, &report);
    while (report.len && report.s[report.len - 1] == '\n') report.s[--report.len] = 0;
    const char *all = report.len ? report.s : "", *rest = all + strcspn(all, "\n");
    qs_status s =
        error_at(d, e == ERROR_OUT_OF_MEMORY ? QS_ENOMEM : QS_EDEVICE, code, qbuildlog_error(&code->lines, log),
                 "%s: kernel %s cannot be loaded: cuModuleLoadDataEx: %s%s%.*s%s%.800s", qdev_name(d), p->name, what,
                 *all ? ": " : "", (int)(rest - all), all, line, rest);
    qtext_free(&report);
    return s;
}

/* Returns the key of everything except the text that machine code depends on. */
static CacheKey machine_key(Device *d) {
    const Api *f = &state_of(d)->f;
    int word[] = {0, attribute(d, DEVICE_MAJOR), attribute(d, DEVICE_MINOR)};
    char name[96] = "";
    if (f->DriverGetVersion(&word[0]) != SUCCESS) word[0] = 0;
    if (f->DeviceGetName(name, sizeof name - 1, state_of(d)->device) != SUCCESS) *name = 0;
    return qcache_key(qcache_key((CacheKey){{3, 0}}, word, sizeof word), name, strlen(name));
}

/* Compiles the text to machine code.  false: failed; the caller then loads the text directly, which gives an error
 * message. */
static bool link_code(Device *d, const Code *code, Text *out) {
    const Api *f = &state_of(d)->f;
    void *link = NULL, *made = NULL;
    size_t n = 0;
    int e = f->LinkCreate(0, NULL, NULL, &link);
    if (e == SUCCESS)
        e = f->LinkAddData(link, JIT_INPUT_PTX, (void *)(uintptr_t)code->bytes, code->n + 1, code->name, 0, NULL, NULL);
    if (e == SUCCESS) e = f->LinkComplete(link, &made, &n);
    if (e == SUCCESS) qtext_add(out, made, n);
    quietly(d, "LinkComplete", e);
    if (link) f->LinkDestroy(link);
    return e == SUCCESS && out->len;
}

static bool start_binary(Device *d, Program *p, const Text *binary) {
    int e = state_of(d)->f.ModuleLoadDataEx(&p->module, binary->s, 0, NULL, NULL);
    if (e != SUCCESS) p->module = NULL;
    quietly(d, "ModuleLoadDataEx", e);
    return p->module;
}

/* Loads the module from the cache, or compiles it and stores it there; false: neither was possible. */
static bool load_kept(Device *d, Program *p, const Code *code) {
    Text binary;
    CacheKey key = qcache_key(machine_key(d), code->bytes, code->n);
    qtext_init(&binary, d->ctx);
    bool done = qcache_get(code->cache, key, &binary) && start_binary(d, p, &binary);
    if (!done && !*state_of(d)->dead) {
        binary.len = 0;
        done = link_code(d, code, &binary) && start_binary(d, p, &binary);
        if (done) qcache_put(code->cache, key, binary.s, binary.len);
    }
    qtext_free(&binary);
    return done;
}

static qs_status load_module(Device *d, Program *p, const Code *code) {
    enum { LOG = 4096 };
    if (code->cache && !*qcache_why(code->cache) && load_kept(d, p, code)) return QS_OK;
    if (*state_of(d)->dead) return qerr_set(d->ctx, QS_EDEVICE, "%s", state_of(d)->dead);
    char *log = qmem_alloc(d->ctx, LOG); /* zeroed */
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG};
    int e = state_of(d)->f.ModuleLoadDataEx(&p->module, code->bytes, 2, options, values);
    log[LOG - 1] = 0;
    qs_status s = e == SUCCESS ? QS_OK : load_failed(d, p, code, e, log);
    if (e != SUCCESS) p->module = NULL;
    qmem_free(d->ctx, log, LOG);
    return s;
}

/* Chooses the block size with the highest occupancy; among equals the first in the list. */
static qs_status choose_threads(Device *d, Program *p) {
    static const int sizes[] = {256, 128, 512};
    int best = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int blocks = 0;
        if (sizes[i] > p->max_threads) continue;
        TRY(CALL(d, OccupancyMaxActiveBlocksPerMultiprocessor, &blocks, p->function, sizes[i], p->shared));
        if (blocks * sizes[i] > best) best = blocks * sizes[i], p->threads = sizes[i];
    }
    if (!best) p->threads = p->max_threads < 64 ? p->max_threads : 64;
    return QS_OK;
}

/* Requests dynamic shared memory, which is necessary above the default limit of 48 kB. */
static qs_status allow_shared(Device *d, const Program *p) {
    int most = attribute(d, DEVICE_MAX_SHARED);
    if (p->shared > (unsigned)most)
        return qerr_set(d->ctx, QS_EVALUE, "kernel %s: its shared arrays take %u bytes; %s has %d for a block", p->name,
                        p->shared, qdev_name(d), most);
    return CALL(d, FuncSetAttribute, p->function, FUNC_MAX_DYNAMIC_SHARED, (int)p->shared);
}

/* Checks the local memory, which every resident thread needs.  The driver's error would only say that resources are
 * missing. */
static qs_status check_local(Device *d, const Program *p) {
    int bytes = 0;
    TRY(CALL(d, FuncGetAttribute, &bytes, FUNC_LOCAL, p->function));
    uint64_t threads = (uint64_t)attribute(d, DEVICE_MULTIPROCESSORS) * (uint64_t)attribute(d, DEVICE_RESIDENT_THREADS);
    if (bytes <= LOCAL_MOST && (uint64_t)bytes * threads <= d->total_memory) return QS_OK;
    return qerr_set(d->ctx, QS_EVALUE,
                    "kernel %s: its local arrays take %d bytes for each position; %s has room for %llu", p->name, bytes,
                    qdev_name(d),
                    (unsigned long long)(threads && d->total_memory / threads < LOCAL_MOST ? d->total_memory / threads
                                                                                           : LOCAL_MOST));
}

static qs_status prepare_program(Device *d, Program *p, const Code *code) {
    PtxNeeds needs = qptx_needs(code->bytes);
    if (records(d)) return cannot_record(d, p->name, " was not loaded yet, as it is when it runs for the first time");
    p->serial = needs.serial, p->fault = needs.fault, p->shared = needs.shared;
    TRY(load_module(d, p, code));
    TRY(CALL(d, ModuleGetFunction, &p->function, p->module, code->entry));
    if (p->shared) TRY(allow_shared(d, p));
    TRY(check_local(d, p));
    TRY(CALL(d, FuncGetAttribute, &p->max_threads, FUNC_MAX_THREADS, p->function));
    TRY(CALL(d, FuncGetAttribute, &p->registers, FUNC_REGISTERS, p->function));
    return choose_threads(d, p);
}

static void unload_program(Device *d, Program *p) {
    if (p->wider) unload_program(d, p->wider);
    if (p->module && can_enter(d)) {
        QUIETLY(d, ModuleUnload, p->module);
        (void)leave_context(d, QS_OK);
    }
    if (p->text) qmem_free(d->ctx, p->text, p->n + 1);
    qmem_free(d->ctx, p, sizeof *p);
}

static qs_status load_text(Device *d, const Code *code, Program **out) {
    TRY(enter_context(d));
    Program *p = qmem_alloc(d->ctx, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", code->name);
    qs_status s = leave_context(d, prepare_program(d, p, code));
    if (s == QS_OK) *out = p;
    else unload_program(d, p);
    return s;
}

/* Loads the text with a maximum block size.  The number of lines does not change, so that line numbers in the driver's
 * log remain valid. */
static qs_status load_limited(Device *d, const Code *code, int threads, Program **out) {
    Text text;
    Code limited = *code;
    qtext_init(&text, d->ctx);
    qptx_limit(code->bytes, code->n, threads, &text);
    limited.bytes = text.s, limited.n = text.len;
    qs_status s = load_text(d, &limited, out);
    qtext_free(&text);
    return s;
}

/* Loads code, and keeps its text if it may have to be compiled again for larger blocks. */
static qs_status load_program(Device *d, const Code *code, Program **out) {
    bool blocks = qptx_needs(code->bytes).blocks;
    if (blocks && without("registers")) return load_limited(d, code, d->max_block, out);
    TRY(load_text(d, code, out));
    Program *p = *out;
    if (!blocks || p->max_threads >= d->max_block) return QS_OK;
    p->text = memcpy(qmem_alloc(d->ctx, code->n + 1), code->bytes, code->n);
    p->n = code->n, p->cache = code->cache;
    return QS_OK;
}

/* Replaces *p by code for blocks of this many threads.  Limits are multiples of four warps, the granularity of register
 * allocation. */
static qs_status fitting(Device *d, Program **p, int64_t threads) {
    enum { STEP = 128 };
    Code code = {.kind = CODE_PTX,
                 .entry = "kernel",
                 .bytes = (*p)->text,
                 .n = (*p)->n,
                 .name = (*p)->name,
                 .cache = (*p)->cache};
    while (threads > (*p)->max_threads && (*p)->wider) *p = (*p)->wider;
    if (!code.bytes || threads <= (*p)->max_threads) return QS_OK;
    TRY(load_limited(d, &code, (int)(threads + STEP - 1) / STEP * STEP, &(*p)->wider));
    return *p = (*p)->wider, QS_OK;
}

/* -- launching ----------------------------------------------------------------------------------------------------- */
typedef struct {
    int rank;
    int64_t block[QS_MAX_RANK], count[QS_MAX_RANK]; /* extents of a block, and number of blocks */
    unsigned x, y, z;                               /* block dimensions for the driver */
    uint64_t slot[PTX_SLOTS];
    int nslots;
} Grid;

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* Chooses the block extents: 32 positions along the last axis, where neighbours are adjacent in memory, then positions
 * along the axes before it, and then the remaining threads along the last axis again. */
static void shape_block(Grid *g, const Launch *l, int64_t threads) {
    int last = l->rank - 1;
    for (int a = 0; a < l->rank; a++) g->block[a] = 1;
    g->block[last] = min64(l->domain[last], min64(threads, last ? 32 : threads));
    if (last > 0) g->block[last - 1] = min64(l->domain[last - 1], threads / g->block[last]);
    if (last > 1)
        g->block[last - 2] = min64(min64(l->domain[last - 2], 64), threads / (g->block[last] * g->block[last - 1]));
    int64_t others = 1;
    for (int a = 0; a < last; a++) others *= g->block[a];
    g->block[last] = min64(l->domain[last], threads / others);
}

static qs_status block_too_large(Device *d, const Program *p, const Grid *g) {
    return qerr_set(d->ctx, QS_EVALUE,
                    "kernel %s: a block of %lldx%lldx%lld positions is too large: %s allows %d for this kernel, and 64 "
                    "along its first axes together",
                    p->name, (long long)g->z, (long long)g->y, (long long)g->x, qdev_name(d), p->max_threads);
}

/* Computes the block dimensions and finds the code for a block of this size. */
static qs_status measure_block(Device *d, Program **p, Grid *g) {
    int64_t z = 1, all = 1;
    for (int a = 0; a < g->rank; a++) {
        if (g->block[a] < 1 || g->block[a] > INT32_MAX / all)
            return qerr_set(d->ctx, QS_EVALUE, "kernel %s: block extent %lld along dimension %d", (*p)->name,
                            (long long)g->block[a], a);
        all *= g->block[a];
        if (a < g->rank - 2) z *= g->block[a];
    }
    g->x = (unsigned)g->block[g->rank - 1], g->y = g->rank > 1 ? (unsigned)g->block[g->rank - 2] : 1,
    g->z = (unsigned)z;
    if (all <= d->max_block && z <= 64) TRY(fitting(d, p, all));
    return all > (*p)->max_threads || z > 64 ? block_too_large(d, *p, g) : QS_OK;
}

static qs_status put_slot(Device *d, const Program *p, Grid *g, uint64_t bits) {
    if (g->nslots == PTX_SLOTS)
        return qerr_set(d->ctx, QS_EVALUE, "kernel %s: its parameters take more than %d bytes", p->name, PTX_SLOTS * 8);
    return g->slot[g->nslots++] = bits, QS_OK;
}

static qs_status put_arguments(Device *d, const Program *p, Grid *g, const Launch *l, int nargs, const DevArg *args) {
    TRY(put_slot(d, p, g, 0)); /* address of the fault, set by place_fault */
    TRY(put_slot(d, p, g, 0)); /* first block along axis 0, set by launch_slices */
    for (int a = 0; a < l->rank; a++) TRY(put_slot(d, p, g, (uint64_t)l->domain[a]));
    for (int a = 0; a < l->rank; a++) TRY(put_slot(d, p, g, (uint64_t)g->block[a]));
    for (int a = 0; a < l->rank; a++) TRY(put_slot(d, p, g, (uint64_t)g->count[a]));
    for (int a = 0; a < l->rank; a++) /* not used for axis 0; too large counts are refused later */
        TRY(put_slot(d, p, g, a && g->count[a] <= INT32_MAX ? qptx_divide_by((uint32_t)g->count[a]) : 0));
    for (int i = 0; i < nargs; i++) {
        const DevArg *x = &args[i];
        TRY(put_slot(d, p, g, x->is_array ? x->block + x->offset : x->bits));
        for (int a = 0; x->is_array && a < x->rank; a++) TRY(put_slot(d, p, g, (uint64_t)x->dims[a]));
        for (int a = 0; x->is_array && a < x->rank; a++) TRY(put_slot(d, p, g, (uint64_t)x->strides[a]));
    }
    return QS_OK;
}

static qs_status launch_failed(Device *d, const Program *p, const Grid *g, int e) {
    char what[256], block[120] = "";
    if (e == SUCCESS || is_final(e)) return checked(d, "LaunchKernel", e);
    describe_error(&state_of(d)->f, e, what, sizeof what);
    if (e == ERROR_LAUNCH_RESOURCES)
        snprintf(block, sizeof block, " of blocks of %u threads with %d registers each and %u bytes of shared memory",
                 g->x * g->y * g->z, p->registers, p->shared);
    return qerr_set(d->ctx, QS_EDEVICE, "%s: kernel %s: cuLaunchKernel%s: %s", qdev_name(d), p->name, block, what);
}

static qs_status launch_grid(Device *d, const Program *p, Grid *g, int64_t blocks) {
    void *arguments[] = {g->slot};
    return launch_failed(d, p, g,
                         state_of(d)->f.LaunchKernel(p->function, (unsigned)blocks, 1, 1, g->x, g->y, g->z, p->shared,
                                                     state_of(d)->stream, arguments, NULL));
}

/* Launches the grid in slices along axis 0, because a launch is limited to 2^31-1 blocks. */
static qs_status launch_slices(Device *d, const Program *p, Grid *g) {
    int64_t row = 1;
    for (int a = 1; a < g->rank; a++)
        if (__builtin_mul_overflow(row, g->count[a], &row) || row > GRID_MAX)
            return qerr_set(d->ctx, QS_EVALUE, "kernel %s: too many positions beyond the first axis", p->name);
    for (int64_t first = 0, most = GRID_MAX / row; first < g->count[0]; first += most) {
        g->slot[PTX_FIRST] = (uint64_t)first;
        TRY(launch_grid(d, p, g, min64(most, g->count[0] - first) * row));
    }
    return QS_OK;
}

static qs_status make_faults(Device *d) {
    State *s = state_of(d);
    void *p;
    if (!s->faults) {
        TRY(CALL(d, MemHostAlloc, &p, FAULTS * sizeof(DevFault), HOSTALLOC_DEVICEMAP));
        s->faults = memset(p, 0, FAULTS * sizeof(DevFault));
    }
    return s->faults_there ? QS_OK : CALL(d, MemHostGetDevicePointer, &s->faults_there, s->faults, 0);
}

static qs_status place_fault(Device *d, Grid *g) {
    TRY(make_faults(d));
    if (d->owed == FAULTS) TRY(wait_queue(d));
    g->slot[PTX_FAULT] = state_of(d)->faults_there + (unsigned)d->owed * sizeof(DevFault);
    return QS_OK;
}

/* Waits for a synchronous launch and reads its fault.  The fault of an earlier launch is reported first. */
static qs_status read_fault(Device *d, DevFault *out) {
    DevFault *place = &state_of(d)->faults[d->owed];
    qs_status s = wait_queue(d);
    bool followed = place->message && s == QS_EDEVICE && !d->ctx->err.late; /* the fault caused the device error */
    if (followed) qerr_clear(d->ctx), s = QS_OK;
    if (s == QS_OK && out) *out = *place;
    place->message = 0;
    return s;
}

/* Discards the fault of a launch that failed, after waiting, because some of its slices may be running. */
static qs_status give_up(Device *d, qs_status s) {
    wait_queue(d);
    state_of(d)->faults[d->owed].message = 0;
    return s;
}

static qs_status keep_fault(Device *d, DevAsync *late, DevFault *out) {
    if (!late) return read_fault(d, out);
    late->taken = true;
    state_of(d)->late[d->owed++] = *late, d->ctx->owed++;
    return QS_OK;
}

/* Counts the launch, marks its blocks as used and written, and makes `stream` wait for uploads to them.  Adds the sizes
 * of its blocks to *bytes. */
static qs_status use_blocks(Device *d, int nargs, const DevArg *args, size_t *bytes) {
    State *s = state_of(d);
    bool waits = false;
    s->queued++;
    for (int i = 0; i < nargs && s->copies; i++) {
        Mark *m = args[i].is_array ? mark_of(s, args[i].block) : NULL;
        if (!m) continue;
        waits = waits || m->sent > s->joined, m->used = s->queued, *bytes += m->n;
        if (!args[i].only_read) m->written = s->queued;
    }
    return waits ? join_uploads(d) : QS_OK;
}

static qs_status queue_launch(Device *d, const Program *p, Grid *g, DevAsync *late, DevFault *fault) {
    State *s = state_of(d);
    if (p->fault && records(d)) return cannot_record(d, p->name, " may fail, which the host would wait for");
    if (p->fault) TRY(place_fault(d, g));
    snprintf(s->running, sizeof s->running, "%s", p->name);
    if (p->serial) g->x = g->y = g->z = 1;
    qs_status queued = p->serial ? launch_grid(d, p, g, 1) : launch_slices(d, p, g);
    if (queued != QS_OK) return p->fault ? give_up(d, queued) : queued;
    return p->fault ? keep_fault(d, late, fault) : QS_OK;
}

static qs_status launch_kernel(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args, DevFault *fault) {
    Grid g = {.rank = l->rank};
    if (fault) *fault = (DevFault){0};
    for (int a = 0; a < l->rank; a++)
        if (l->domain[a] < 1) return QS_OK;
    if (l->any_block && !l->tuned && !p->serial) shape_block(&g, l, p->threads);
    else
        for (int a = 0; a < l->rank; a++) g.block[a] = l->block[a];
    TRY(measure_block(d, &p, &g));
    for (int a = 0; a < l->rank; a++) g.count[a] = (l->domain[a] - 1) / g.block[a] + 1;
    TRY(put_arguments(d, p, &g, l, nargs, args));
    TRY(enter_context(d));
    size_t bytes = 0;
    qs_status s = use_blocks(d, nargs, args, &bytes);
    if (s == QS_OK) s = queue_launch(d, p, &g, l->late, fault);
    if (s == QS_OK && bytes >= CUT_LEAST && !records(d)) s = make_cut(d);
    return leave_context(d, s);
}

const DeviceOps qdev_cuda_ops = {"cuda",        CODE_PTX,     probe_cuda,     open_cuda,  close_device, alloc_block,
                                 release_block, upload_block, download_block, copy_block, load_program, unload_program,
                                 launch_kernel, sync,         peer,           &sharing,   NULL};
