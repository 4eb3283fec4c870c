/* The fake libcuda.so.1 of the unit tests: see fake_cuda.h. */
#include "tests/support/driver/fake_cuda.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_CONTEXT = 201,
    NO_BINARY = 209,
    INVALID_PTX = 218,
    OUT_OF_RESOURCES = 701,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_ISOLATION = 905
};

typedef struct {
    FakeStream door; /* of a stream */
    char kind;
    int device;
    void *code;
    uint64_t ticket; /* of an event: when it was recorded last */
    int number;      /* of a stream: how many were open when it was made, with it */
    unsigned graph;  /* that it takes part in: a stream since it waited for it, an event that was recorded there */
    int limit;       /* of a module: threads of a block, as its code says; 0: it says nothing */
} Handle;            /* 's'tream, 'e'vent, 'c'ontext, 'm'odule: also its function */

static FakeCuda fake = {.devices = 1, .capability = 90, .max_threads = 1024, .blocks = 8, .fail_after = -1};
typedef enum { OF_HOST, OF_DEVICE, OF_POOL } BlockKind;
/* In the order of addresses.  Of a pool: there from the turn of its allocation on, leaving once its end is queued. */
static struct {
    uintptr_t at;
    size_t n;
    int device;
    BlockKind kind;
    bool there, leaving;
} * block;
static size_t cached[2]; /* bytes that the pool of a device has back, and others cannot have */
static int nblocks, room;
static const size_t total = (size_t)1 << 34; /* bytes of a device */
static Handle contexts[2] = {{.kind = 'c', .device = 0}, {.kind = 'c', .device = 1}};
static Handle *stack[16];

/* Declared here: there is no header of the driver to take the declarations from. */
#define CU(name, symbol, args) int fake_##name args __asm__(symbol);
#include "devices/cuda_api.def"

enum {
#define CUNUMBER(name, number, symbol) name = number,
#include "devices/cuda_api.def"
};

FakeCuda *fake_cuda(void) { return &fake; }
size_t fake_cuda_size(void) { return sizeof fake; }

static int misused(const char *what) {
    if (!fake.misuse++) snprintf(fake.wrong, sizeof fake.wrong, "%s", what);
    return INVALID_VALUE;
}

enum { CAPTURE_GLOBAL };
static _Thread_local int capture_mode = CAPTURE_GLOBAL;

/* -- graphs -------------------------------------------------------------------------------------------------------- */
/* The default streams have names that are no addresses. */
static bool is_special(const void *handle) { return (uintptr_t)handle <= 2; }

static bool is(const void *handle, char kind) { return !is_special(handle) && ((const Handle *)handle)->kind == kind; }

static unsigned graph; /* the number of the graph that is recorded */

/* A test has started to record another graph, or has stopped. */
static void notice_graph(void) {
    static int before;
    if (fake.capturing != before) graph++, before = fake.capturing;
}

static bool is_captured(const void *stream) {
    if (!fake.capturing || !stream) return false;
    if (is_special(stream)) return (intptr_t)stream == -fake.capturing;
    return ((const Handle *)stream)->number == fake.capturing || ((const Handle *)stream)->graph == graph;
}

static bool among(const char *const *names, const char *name) {
    while (*names && strcmp(*names, name) != 0) names++;
    return *names;
}

/* Calls that are allowed while a graph is recorded; many others would invalidate it.  stream: the stream of the
 * call. */
static bool may_call(const char *name, const void *stream) {
    static const char *const harmless[] = {"CtxPushCurrent",
                                           "CtxPopCurrent",
                                           "StreamIsCapturing",
                                           "PointerGetAttribute",
                                           "ThreadExchangeStreamCaptureMode",
                                           "DevicePrimaryCtxRelease",
                                           NULL};
    static const char *const recorded[] = {"StreamWaitEvent", "EventRecord",  "MemcpyDtoDAsync",
                                           "MemsetD8Async",   "LaunchKernel", NULL};
    static const char *const copies[] = {"MemcpyHtoDAsync", "MemcpyDtoHAsync", NULL};
    static const char *const relaxed[] = {"MemFree", "MemFreeAsync", "StreamDestroy", "EventQuery", NULL};
    bool elsewhere = stream && !is_special(stream) && !is_captured(stream); /* the default one waits for all others */
    return among(harmless, name) || (capture_mode == CAPTURE_RELAXED && among(relaxed, name)) ||
           (among(recorded, name) && (elsewhere || is_captured(stream))) || (among(copies, name) && elsewhere);
}

/* A test may have emptied the log. */
static void log_call(const char *name) {
    static size_t n;
    size_t more = strlen(name);
    if (!*fake.log) n = 0;
    if (n + more + 2 >= sizeof fake.log) return;
    memcpy(fake.log + n, name, more), memcpy(fake.log + n + more, " ", 2);
    n += more + 1;
}

/* Records a call; returns the error to return instead of working. */
static int begin_on(const char *name, bool needs_context, const void *stream) {
    notice_graph();
    log_call(name);
    if (fake.fail_after >= 0 && fake.fail_after-- == 0) {
        snprintf(fake.failed, sizeof fake.failed, "%s", name);
        if (fake.fail_with >= 700 && fake.fail_with != OUT_OF_RESOURCES) fake.dead = fake.fail_with;
        return fake.fail_with;
    }
    if (fake.dead && needs_context) return fake.dead;
    if (fake.capturing && !may_call(name, stream)) return misused(name), CAPTURE_UNSUPPORTED;
    if (needs_context && !fake.depth) return misused(name), INVALID_CONTEXT;
    return SUCCESS;
}

static int begin(const char *name, bool needs_context) { return begin_on(name, needs_context, NULL); }
#define BEGIN(name)                                                                                                    \
    int error = begin(name, true);                                                                                     \
    if (error) return error
#define BEGIN_ANYWHERE(name)                                                                                           \
    int error = begin(name, false);                                                                                    \
    if (error) return error

static void *make(char kind, int *counter) {
    Handle *h = malloc(sizeof *h);
    *h = (Handle){.kind = kind, .device = fake.depth ? stack[fake.depth - 1]->device : 0};
    h->number = ++*counter;
    return h;
}

static void destroy(void *handle, int *counter) {
    ((Handle *)handle)->kind = 0;
    free(handle);
    --*counter;
}

/* The block with all of these bytes, or -1. */
static int find(uint64_t p, size_t n) {
    int low = 0, high = nblocks;
    while (low < high) {
        int middle = (low + high) / 2;
        if (block[middle].at + block[middle].n > p) high = middle;
        else low = middle + 1;
    }
    return low < nblocks && p >= block[low].at && p - block[low].at + n <= block[low].n ? low : -1;
}

/* For queuing work: a block whose free is queued must not be used any more. */
static bool is_mine(uint64_t p, size_t n) {
    int i = find(p, n);
    return i >= 0 && !block[i].leaving;
}

/* For work that is being executed. */
static bool is_there(uint64_t p, size_t n) {
    int i = find(p, n);
    return i >= 0 && block[i].there;
}

/* All bytes of the last word of a block belong to it: atomic updates of bytes access complete words. */
bool fake_block(uint64_t p, uint64_t *begin, uint64_t *end) {
    int i = find(p, 1);
    if (i < 0 || !block[i].there) return false;
    return *begin = block[i].at, *end = (block[i].at + block[i].n + 3) & ~(uint64_t)3, true;
}

static bool add_block(uintptr_t p, size_t n, BlockKind kind) {
    int i = nblocks;
    if (nblocks == room) block = realloc(block, (size_t)(room = room ? 2 * room : 256) * sizeof *block);
    if (!block) return false;
    for (; i > 0 && block[i - 1].at > p; i--) block[i] = block[i - 1];
    block[i].at = p, block[i].n = n, block[i].device = stack[fake.depth - 1]->device;
    block[i].kind = kind, block[i].there = kind != OF_POOL, block[i].leaving = false;
    return nblocks++, true;
}

static void remove_block(int i) { memmove(&block[i], &block[i + 1], (size_t)(--nblocks - i) * sizeof *block); }

/* -- devices and contexts ------------------------------------------------------------------------------------------ */
int fake_Init(unsigned flags) {
    BEGIN_ANYWHERE("Init");
    if (flags) return misused("Init with flags");
    return fake.devices ? SUCCESS : NO_DEVICE;
}

int fake_DriverGetVersion(int *version) { return *version = 12040 + fake.newer, SUCCESS; }

int fake_GetErrorName(int e, const char **out) {
    *out = e == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
           : e == 700         ? "CUDA_ERROR_ILLEGAL_ADDRESS"
           : e == INVALID_PTX ? "CUDA_ERROR_INVALID_PTX"
                              : "CUDA_ERROR_INVALID_VALUE";
    return SUCCESS;
}

int fake_GetErrorString(int e, const char **out) {
    *out = e == OUT_OF_MEMORY ? "out of memory"
           : e == 700         ? "an illegal memory access was encountered"
           : e == INVALID_PTX ? "a PTX JIT compilation failed"
                              : "invalid argument";
    return SUCCESS;
}

int fake_DeviceGetCount(int *count) {
    BEGIN_ANYWHERE("DeviceGetCount");
    return *count = fake.devices, SUCCESS;
}

int fake_DeviceGet(int *device, int ordinal) {
    BEGIN_ANYWHERE("DeviceGet");
    if (ordinal >= fake.devices) return misused("DeviceGet");
    return *device = ordinal, SUCCESS;
}

int fake_DeviceGetName(char *out, int n, int device) {
    BEGIN_ANYWHERE("DeviceGetName");
    (void)device;
    return snprintf(out, (size_t)n, "Fake GPU"), SUCCESS;
}

int fake_DeviceGetAttribute(int *out, int what, int device) {
    (void)device;
    switch (what) {
    case DEVICE_MAX_THREADS: return *out = 1024, SUCCESS;
    case DEVICE_MULTIPROCESSORS: return *out = 108, SUCCESS;
    case DEVICE_RESIDENT_THREADS: return *out = 2048, SUCCESS;
    case DEVICE_MAJOR: return *out = fake.capability / 10, SUCCESS;
    case DEVICE_MINOR: return *out = fake.capability % 10, SUCCESS;
    case DEVICE_MAX_SHARED: return *out = 232448, SUCCESS;
    case DEVICE_MEMORY_POOLS: return *out = fake.pools, SUCCESS;
    default: return misused("DeviceGetAttribute");
    }
}

int fake_DeviceTotalMem(size_t *bytes, int device) {
    BEGIN_ANYWHERE("DeviceTotalMem");
    (void)device;
    return *bytes = total, SUCCESS;
}

int fake_DeviceCanAccessPeer(int *can, int device, int peer) { return *can = device != peer, SUCCESS; }

int fake_DevicePrimaryCtxRetain(void **context, int device) {
    BEGIN_ANYWHERE("DevicePrimaryCtxRetain");
    fake.retained++;
    return *context = &contexts[device], SUCCESS;
}

int fake_DevicePrimaryCtxRelease(int device) {
    (void)device;
    begin("DevicePrimaryCtxRelease", false);
    fake.retained--;
    return SUCCESS;
}

int fake_CtxPushCurrent(void *context) {
    BEGIN_ANYWHERE("CtxPushCurrent");
    if (!is(context, 'c')) return misused("CtxPushCurrent");
    return stack[fake.depth++] = context, SUCCESS;
}

int fake_CtxPopCurrent(void **context) {
    int error = begin("CtxPopCurrent", false);
    if (!fake.depth) return misused("CtxPopCurrent");
    *context = stack[--fake.depth];
    return error;
}

int fake_CtxEnablePeerAccess(void *peer, unsigned flags) {
    BEGIN("CtxEnablePeerAccess");
    if (!is(peer, 'c') || peer == stack[fake.depth - 1] || flags) return misused("CtxEnablePeerAccess");
    return SUCCESS;
}

/* -- what is queued ------------------------------------------------------------------------------------------------ */
/* With fake.defer no work runs before a wait; then the next work is chosen at random among the permitted.  Queued work
 * is ordered after earlier work of its stream, of the default stream, and after events that it waits for. */
typedef enum { Q_COPY, Q_SET, Q_LAUNCH, Q_WORK, Q_RECORD, Q_WAIT, Q_ALLOC, Q_FREE } QueuedKind;
enum { KNOWN_TO = 1, KNOWN_FROM = 2 };
typedef struct Queued {
    struct Queued *next;
    QueuedKind kind;
    const void *stream;
    uint64_t to, from, ticket;
    size_t n, pitch, rows;
    unsigned value, known; /* known: sides of a copy that are blocks */
    int width;
    void *code;
    FakeLaunch launch;
    uint64_t slots[512];
    void (*work)(void *job);
    char copy[]; /* of memory that is not pinned, or of a job */
} Queued;

static Queued *queued;
static uint64_t tickets;

static bool follows(const Queued *later, const Queued *earlier) {
    if (later->stream == earlier->stream || is_special(later->stream) || is_special(earlier->stream)) return true;
    return later->kind == Q_WAIT && earlier->kind == Q_RECORD && later->ticket == earlier->ticket;
}

static void set_memory(const Queued *q) {
    for (size_t row = 0; row < q->rows; row++)
        for (size_t i = 0; i < q->n; i += (size_t)q->width)
            memcpy((char *)(uintptr_t)q->to + row * q->pitch + i, &q->value, (size_t)q->width);
}

static void begin_block(uint64_t p) {
    int i = find(p, 0);
    if (i < 0) misused("memory went before it was there");
    else block[i].there = true;
}

static void end_block(uint64_t p) {
    int i = find(p, 0);
    if (i < 0 || !block[i].there) misused("memory goes before it is there");
    if (i < 0) return;
    cached[block[i].device] += block[i].n;
    remove_block(i);
    free((void *)(uintptr_t)p);
    --fake.allocated;
}

/* Memory that is not allocated yet, or was freed meanwhile, is an error here: a GPU would write to it all the same. */
static bool reaches(const Queued *q) {
    size_t all = q->kind == Q_SET ? q->pitch * (q->rows - 1) + q->n : q->n;
    bool ok = (!(q->known & KNOWN_TO) || is_there(q->to, all)) && (!(q->known & KNOWN_FROM) || is_there(q->from, q->n));
    if (!ok) misused("a copy of memory that is not there yet, or not any more");
    return ok;
}

static int execute(Queued *q) {
    if (q->kind == Q_ALLOC) begin_block(q->to);
    if (q->kind == Q_FREE) end_block(q->to);
    if (fake.dead || !reaches(q)) return SUCCESS;
    if (q->kind == Q_COPY) memmove((void *)(uintptr_t)q->to, (const void *)(uintptr_t)q->from, q->n);
    else if (q->kind == Q_SET) set_memory(q);
    else if (q->kind == Q_WORK) q->work(q->copy);
    int failed = q->kind == Q_LAUNCH && fake.run ? fake.run(q->code, &q->launch, q->slots) : SUCCESS;
    if (failed >= 700) fake.dead = failed; /* a kernel's error is returned by a later call */
    return failed >= 700 ? SUCCESS : failed;
}

static bool is_ready(const Queued *q) {
    for (const Queued *e = queued; e != q; e = e->next)
        if (follows(q, e)) return false;
    return true;
}

static void run_one(void) {
    static uint64_t seed;
    static int seeded;
    if (seeded != fake.defer) seeded = fake.defer, seed = 88172645463325252u ^ (uint64_t)fake.defer << 32;
    Queued **chosen = NULL;
    unsigned ready = 0;
    for (Queued **at = &queued; *at; at = &(*at)->next) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        if (is_ready(*at) && (seed >> 20) % ++ready == 0) chosen = at;
    }
    Queued *q = *chosen;
    *chosen = q->next;
    execute(q);
    free(q);
}

/* Runs work until the stream is empty; NULL: all streams. */
static void finish(const void *stream) {
    for (bool some = true; some;) {
        some = false;
        for (const Queued *q = queued; q; q = q->next) some |= !stream || is_special(stream) || q->stream == stream;
        if (some) run_one();
    }
}

static void finish_ticket(uint64_t ticket) {
    for (bool some = true; some;) {
        some = false;
        for (const Queued *q = queued; q; q = q->next) some |= q->kind == Q_RECORD && q->ticket == ticket;
        if (some) run_one();
    }
}

/* Takes what `like` says; at once unless work is deferred. */
static int put(const Queued *like, size_t copied) {
    Queued *q = malloc(sizeof *q + copied), **end = &queued;
    *q = *like, q->next = NULL;
    if (copied) memcpy(q->copy, (const void *)(uintptr_t)q->from, copied), q->from = (uintptr_t)q->copy;
    if (!fake.defer || is_captured(q->stream)) {
        int error = execute(q);
        return free(q), error;
    }
    while (*end) end = &(*end)->next;
    return *end = q, SUCCESS;
}

static void put_work(void *stream, void (*work)(void *job), const void *job, size_t n) {
    if (!is(stream, 's')) misused("a stream of a library");
    else put(&(Queued){.kind = Q_WORK, .stream = stream, .work = work, .from = (uintptr_t)job}, n);
}

/* -- streams and events -------------------------------------------------------------------------------------------- */
int fake_StreamCreate(void **stream, unsigned flags) {
    BEGIN("StreamCreate");
    (void)flags;
    *stream = make('s', &fake.streams);
    return ((Handle *)*stream)->door.queue = put_work, SUCCESS;
}

int fake_StreamDestroy(void *stream) {
    int error = begin("StreamDestroy", true);
    if (!is(stream, 's')) return misused("StreamDestroy");
    finish(stream);
    return destroy(stream, &fake.streams), error;
}

static int queue(const char *name, const void *stream) {
    int error = begin_on(name, true, stream);
    if (error) return error;
    if (is_special(stream)) return SUCCESS;
    if (!is(stream, 's') || ((const Handle *)stream)->device != stack[fake.depth - 1]->device) return misused(name);
    return SUCCESS;
}
#define QUEUE(name, stream)                                                                                            \
    int error = queue(name, stream);                                                                                   \
    if (error) return error

int fake_StreamSynchronize(void *stream) {
    QUEUE("StreamSynchronize", stream);
    finish(stream);
    cached[stack[fake.depth - 1]->device] = 0; /* a pool keeps nothing beyond that, unless it is told to */
    return fake.dead;
}

int fake_StreamIsCapturing(void *stream, int *status) {
    QUEUE("StreamIsCapturing", stream);
    return *status = is_captured(stream), SUCCESS;
}

int fake_ThreadExchangeStreamCaptureMode(int *mode) {
    BEGIN_ANYWHERE("ThreadExchangeStreamCaptureMode");
    int before = capture_mode;
    capture_mode = *mode;
    return *mode = before, SUCCESS;
}

int fake_StreamWaitEvent(void *stream, void *event, unsigned flags) {
    QUEUE("StreamWaitEvent", stream);
    if (!is(event, 'e') || flags) return misused("StreamWaitEvent");
    bool joins = fake.capturing && ((Handle *)event)->graph == graph;
    if (is_captured(stream) && !joins) return misused("a graph that waits for what is not in it"), CAPTURE_ISOLATION;
    if (joins && is(stream, 's')) ((Handle *)stream)->graph = graph;
    fake.order[fake.norders++ % FAKE_LAUNCHES] = (FakeOrder){((Handle *)event)->code, stream};
    if (fake.deaf == FAKE_DEAF_STREAMS) return SUCCESS;
    return put(&(Queued){.kind = Q_WAIT, .stream = stream, .ticket = ((Handle *)event)->ticket}, 0);
}

int fake_EventCreate(void **event, unsigned flags) {
    BEGIN("EventCreate");
    (void)flags;
    return *event = make('e', &fake.events), SUCCESS;
}

int fake_EventDestroy(void *event) {
    int error = begin("EventDestroy", true);
    if (!is(event, 'e')) return misused("EventDestroy");
    return destroy(event, &fake.events), error;
}

int fake_EventRecord(void *event, void *stream) {
    QUEUE("EventRecord", stream);
    if (!is(event, 'e') || (is(stream, 's') && ((Handle *)event)->device != ((Handle *)stream)->device))
        return misused("EventRecord");
    ((Handle *)event)->code = stream, ((Handle *)event)->ticket = ++tickets;
    ((Handle *)event)->graph = is_captured(stream) ? graph : 0;
    return put(&(Queued){.kind = Q_RECORD, .stream = stream, .ticket = tickets}, 0);
}

/* Polling takes time, in which some of the work is done. */
int fake_EventQuery(void *event) {
    enum { NOT_READY = 600 };
    BEGIN("EventQuery");
    if (!is(event, 'e')) return misused("EventQuery");
    if (queued) run_one();
    for (const Queued *q = queued; q; q = q->next)
        if (q->kind == Q_RECORD && q->ticket == ((Handle *)event)->ticket) return NOT_READY;
    return fake.dead;
}

int fake_EventSynchronize(void *event) {
    BEGIN("EventSynchronize");
    if (!is(event, 'e')) return misused("EventSynchronize");
    if (fake.deaf != FAKE_DEAF_HOST) finish_ticket(((Handle *)event)->ticket);
    return fake.dead;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */
static size_t bytes_left(void) {
    int device = stack[fake.depth - 1]->device;
    size_t used = fake.others + cached[device];
    for (int i = 0; i < nblocks; i++) used += block[i].kind != OF_HOST && block[i].device == device ? block[i].n : 0;
    return used < total ? total - used : 0;
}

static int give_memory(void **out, size_t n, size_t *counter, BlockKind kind) {
    if (!n || (kind != OF_HOST && n > bytes_left()) || posix_memalign(out, 256, n + 4)) return OUT_OF_MEMORY;
    if (!add_block((uintptr_t)*out, n, kind)) return free(*out), OUT_OF_MEMORY;
    ++*counter;
    return SUCCESS;
}

static int take_memory(uint64_t p, size_t *counter, const char *name) {
    int i = find(p, 0);
    if (i < 0 || block[i].at != p || block[i].leaving) return misused(name);
    if (block[i].kind != OF_POOL) finish(NULL); /* the driver waits */
    remove_block(find(p, 0));
    free((void *)(uintptr_t)p);
    --*counter;
    return SUCCESS;
}

int fake_MemAlloc(uint64_t *out, size_t n) {
    BEGIN("MemAlloc");
    void *p = NULL;
    error = give_memory(&p, n, &fake.allocated, OF_DEVICE);
    return *out = (uintptr_t)p, error;
}

int fake_MemGetInfo(size_t *left, size_t *all) {
    BEGIN("MemGetInfo");
    return *left = bytes_left(), *all = total, SUCCESS;
}

int fake_DeviceGetMemPool(void **pool, int device) {
    BEGIN("DeviceGetMemPool");
    if (!fake.pools) return misused("DeviceGetMemPool");
    return *pool = &cached[device], SUCCESS;
}

int fake_MemPoolTrimTo(void *pool, size_t keep) {
    BEGIN("MemPoolTrimTo");
    if ((pool != &cached[0] && pool != &cached[1]) || keep) return misused("MemPoolTrimTo");
    return *(size_t *)pool = 0, SUCCESS;
}

int fake_MemPoolSetAccess(void *pool, const void *access, size_t n) {
    enum { DEVICE = 1, READ_WRITE = 3 };
    const int *a = access;
    BEGIN("MemPoolSetAccess");
    bool ok = (pool == &cached[0] || pool == &cached[1]) && n == 1 && a[0] == DEVICE && a[2] == READ_WRITE;
    return ok && a[1] >= 0 && a[1] < fake.devices ? SUCCESS : misused("MemPoolSetAccess");
}

int fake_MemAllocAsync(uint64_t *out, size_t n, void *stream) {
    QUEUE("MemAllocAsync", stream);
    void *p = NULL;
    if (!fake.pools) return misused("MemAllocAsync");
    error = give_memory(&p, n, &fake.allocated, OF_POOL);
    if (error == SUCCESS) put(&(Queued){.kind = Q_ALLOC, .stream = stream, .to = (uintptr_t)p}, 0);
    return *out = (uintptr_t)p, error;
}

int fake_MemFreeAsync(uint64_t p, void *stream) {
    int error = queue("MemFreeAsync", stream), i = find(p, 0);
    if (i < 0 || block[i].at != p || block[i].kind != OF_POOL || block[i].leaving) return misused("MemFreeAsync");
    block[i].leaving = true;
    put(&(Queued){.kind = Q_FREE, .stream = stream, .to = p}, 0);
    return error;
}

int fake_MemFree(uint64_t p) {
    int error = begin("MemFree", true), wrong = take_memory(p, &fake.allocated, "MemFree");
    return error ? error : wrong;
}

int fake_MemHostAlloc(void **out, size_t n, unsigned flags) {
    BEGIN("MemHostAlloc");
    size_t count = 0;
    (void)flags;
    error = give_memory(out, n, &count, OF_HOST);
    fake.pinned += (int)count;
    return error;
}

int fake_MemHostGetDevicePointer(uint64_t *out, void *host, unsigned flags) {
    BEGIN("MemHostGetDevicePointer");
    int i = find((uintptr_t)host, 0);
    if (i < 0 || block[i].at != (uintptr_t)host || flags) return misused("MemHostGetDevicePointer");
    return *out = (uintptr_t)host, SUCCESS;
}

int fake_MemFreeHost(void *p) {
    size_t count = 1;
    int error = begin("MemFreeHost", true), wrong = take_memory((uintptr_t)p, &count, "MemFreeHost");
    fake.pinned -= !wrong;
    return error ? error : wrong;
}

static int move(const char *name, uint64_t to, uint64_t from, size_t n, void *stream) {
    QUEUE(name, stream);
    if (!n || !is_mine(to, n) || !is_mine(from, n)) return misused(name); /* host sides must be pinned, so known, too */
    return put(
        &(Queued){.kind = Q_COPY, .stream = stream, .to = to, .from = from, .n = n, .known = KNOWN_TO | KNOWN_FROM}, 0);
}

int fake_MemcpyHtoDAsync(uint64_t to, const void *from, size_t n, void *stream) {
    fake.uploaded += n;
    return move("MemcpyHtoDAsync", to, (uintptr_t)from, n, stream);
}

int fake_MemcpyDtoHAsync(void *to, uint64_t from, size_t n, void *stream) {
    fake.downloaded += n;
    return move("MemcpyDtoHAsync", (uintptr_t)to, from, n, stream);
}

int fake_MemcpyDtoDAsync(uint64_t to, uint64_t from, size_t n, void *stream) {
    return move("MemcpyDtoDAsync", to, from, n, stream);
}

int fake_MemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t n, void *stream) {
    if (!is(to_context, 'c') || !is(from_context, 'c')) return misused("MemcpyPeerAsync");
    return move("MemcpyPeerAsync", to, from, n, stream);
}

/* Unknown addresses are host memory. */
int fake_MemcpyAsync(uint64_t to, uint64_t from, size_t n, void *stream) {
    QUEUE("MemcpyAsync", stream);
    unsigned known = (find(to, n) < 0 ? 0 : KNOWN_TO) | (find(from, n) < 0 ? 0 : KNOWN_FROM);
    error = put(&(Queued){.kind = Q_COPY, .stream = stream, .to = to, .from = from, .n = n, .known = known},
                known & KNOWN_FROM ? 0 : n);
    if (!(known & KNOWN_TO)) finish(stream);
    return error;
}

int fake_PointerGetAttribute(void *out, int what, uint64_t p) {
    BEGIN("PointerGetAttribute");
    int i = find(p, 0);
    if (what != POINTER_DEVICE_ORDINAL) return misused("PointerGetAttribute");
    if (i < 0) return INVALID_VALUE;
    return memcpy(out, &block[i].device, sizeof block[i].device), SUCCESS;
}

int fake_MemsetD8Async(uint64_t to, unsigned char value, size_t n, void *stream) {
    QUEUE("MemsetD8Async", stream);
    if (!is_mine(to, n)) return misused("MemsetD8Async");
    return put(&(Queued){.kind = Q_SET,
                         .stream = stream,
                         .to = to,
                         .n = n,
                         .rows = 1,
                         .value = value,
                         .width = 1,
                         .known = KNOWN_TO},
               0);
}

int fake_MemsetD2D32Async(uint64_t to, size_t pitch, unsigned value, size_t width, size_t height, void *stream) {
    QUEUE("MemsetD2D32Async", stream);
    bool bad = to % 4 || pitch % 4 || pitch < width * 4 || !height;
    if (bad || !is_mine(to, pitch * (height - 1) + width * 4)) return misused("MemsetD2D32Async");
    return put(&(Queued){.kind = Q_SET,
                         .stream = stream,
                         .to = to,
                         .n = width * 4,
                         .pitch = pitch,
                         .rows = height,
                         .value = value,
                         .width = 4,
                         .known = KNOWN_TO},
               0);
}

/* -- code ---------------------------------------------------------------------------------------------------------- */
static int line_with(const char *text) {
    const char *at = fake.jit_at ? strstr(text, fake.jit_at) : NULL;
    int line = at != NULL;
    for (; at && text < at; text++) line += *text == '\n';
    return line;
}

/* Machine code is a mark, the device type, and the text. */
static const char mark[] = "\177machine code ";

static int refuse(const char *image, char *log, size_t n) {
    if (log && fake.jit_at) snprintf(log, n, fake.jit_log, line_with(image));
    else if (log) snprintf(log, n, "%s", fake.jit_log);
    return INVALID_PTX;
}

int fake_ModuleLoadDataEx(void **module, const void *image, unsigned noptions, int *options, void **values) {
    BEGIN("ModuleLoadDataEx");
    bool logs = noptions == 2;
    bool wrong = !image || (noptions && !logs) || (logs && (options[0] != 5 || options[1] != 6));
    if (wrong) return misused("ModuleLoadDataEx");
    const char *text = image;
    char *log = logs ? values[0] : NULL, unseen[400];
    size_t n = logs ? (size_t)(uintptr_t)values[1] : 0;
    bool machine = !strncmp(text, mark, sizeof mark - 1);
    if (machine && atoi(text + sizeof mark - 1) != fake.capability) return NO_BINARY;
    if (machine) text = strchr(text, '\n') + 1;
    else if (fake.jit_log) return refuse(text, log, n);
    else fake.compiled++;
    void *code = fake.load ? fake.load(text, log ? log : unseen, log ? n : sizeof unseen) : NULL;
    if (fake.load && !code) return INVALID_PTX;
    Handle *h = make('m', &fake.modules);
    const char *limit = strstr(text, ".maxntid ");
    h->code = code, h->limit = limit ? atoi(limit + 9) : 0;
    *module = h;
    return SUCCESS;
}

int fake_LinkCreate(unsigned noptions, int *options, void **values, void **link) {
    BEGIN("LinkCreate");
    (void)options, (void)values;
    if (noptions || !link) return misused("LinkCreate");
    return *link = make('l', &fake.links), SUCCESS;
}

int fake_LinkAddData(void *link, int kind, void *data, size_t n, const char *name, unsigned noptions, int *options,
                     void **values) {
    enum { PTX = 1 };
    BEGIN("LinkAddData");
    (void)options, (void)values;
    if (!is(link, 'l') || kind != PTX || !n || ((const char *)data)[n - 1] || !name || noptions)
        return misused("LinkAddData");
    if (fake.jit_log) return INVALID_PTX;
    char *made = malloc(n + 64);
    snprintf(made, n + 64, "%s%d\n%s", mark, fake.capability, (const char *)data);
    fake.compiled++;
    return ((Handle *)link)->code = made, SUCCESS;
}

int fake_LinkComplete(void *link, void **cubin, size_t *n) {
    BEGIN("LinkComplete");
    if (!is(link, 'l') || !((Handle *)link)->code) return misused("LinkComplete");
    *cubin = ((Handle *)link)->code, *n = strlen(*cubin) + 1;
    return SUCCESS;
}

int fake_LinkDestroy(void *link) {
    int error = begin("LinkDestroy", true);
    if (!is(link, 'l')) return misused("LinkDestroy");
    free(((Handle *)link)->code);
    return destroy(link, &fake.links), error;
}

int fake_ModuleUnload(void *module) {
    int error = begin("ModuleUnload", true);
    if (!is(module, 'm')) return misused("ModuleUnload");
    finish(NULL);
    if (fake.unload) fake.unload(((Handle *)module)->code);
    return destroy(module, &fake.modules), error;
}

int fake_ModuleGetFunction(void **out, void *module, const char *name) {
    BEGIN("ModuleGetFunction");
    if (!is(module, 'm') || strcmp(name, "kernel") != 0) return misused("ModuleGetFunction");
    return *out = module, SUCCESS;
}

/* A multiprocessor has 65536 registers.  A thread gets a multiple of 8, a warp that of each thread, and four warps are
 * served at a time. */
enum { REGISTERS = 65536, MOST_OF_THREAD = 255 };

static int asked(const Handle *f, int what, int otherwise) {
    int v = fake.attribute ? fake.attribute(f->code, what) : -1;
    return v < 0 ? otherwise : v;
}

/* Of code that names a limit as many as so many threads may have. */
static int registers_of(const Handle *f) {
    int want = asked(f, FUNC_REGISTERS, fake.registers);
    int most = f->limit && REGISTERS / f->limit < MOST_OF_THREAD ? REGISTERS / f->limit / 8 * 8 : MOST_OF_THREAD;
    return want < most ? want : most;
}

static int threads_of(const Handle *f) {
    int each = (registers_of(f) + 7) / 8 * 8;
    int most = f->limit && f->limit < fake.max_threads ? f->limit : fake.max_threads;
    int warps = each ? REGISTERS / (32 * each) / 4 * 4 : most;
    return warps * 32 < most ? warps * 32 : most;
}

int fake_FuncGetAttribute(int *out, int what, void *f) {
    BEGIN("FuncGetAttribute");
    if (!is(f, 'm') || what < 0 || what > 9) return misused("FuncGetAttribute");
    if (what == FUNC_MAX_THREADS) *out = threads_of(f);
    else if (what == FUNC_REGISTERS) *out = registers_of(f);
    else *out = asked(f, what, what == FUNC_LOCAL ? fake.local : 0);
    return SUCCESS;
}

int fake_FuncSetAttribute(void *f, int what, int value) {
    BEGIN("FuncSetAttribute");
    return is(f, 'm') && what == FUNC_MAX_DYNAMIC_SHARED && value > 0 ? SUCCESS : misused("FuncSetAttribute");
}

int fake_OccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *f, int threads, size_t shared) {
    BEGIN("OccupancyMaxActiveBlocksPerMultiprocessor");
    (void)shared;
    if (!is(f, 'm') || threads > threads_of(f)) return misused("Occupancy");
    return *blocks = fake.blocks * 256 / threads, SUCCESS;
}

int fake_LaunchKernel(void *f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned x, unsigned y, unsigned z,
                      unsigned shared, void *stream, void **arguments, void **extra) {
    QUEUE("LaunchKernel", stream);
    bool block_fits = is(f, 'm') && x && y && z && z <= 64 && x * y * z <= (unsigned)fake.max_threads;
    block_fits = block_fits && (!((Handle *)f)->limit || x * y * z <= (unsigned)((Handle *)f)->limit);
    if (!is(f, 'm') || !grid_x || grid_x > INT32_MAX || grid_y != 1 || grid_z != 1 || !block_fits || extra)
        return misused("LaunchKernel");
    if (x * y * z > (unsigned)threads_of(f)) return OUT_OF_RESOURCES;
    FakeLaunch *l = &fake.launch[fake.nlaunches++ % FAKE_LAUNCHES];
    *l = (FakeLaunch){.grid = grid_x, .x = x, .y = y, .z = z, .shared = shared};
    memcpy(l->slot, arguments[0], sizeof l->slot);
    Queued q = {.kind = Q_LAUNCH, .stream = stream, .code = ((Handle *)f)->code, .launch = *l};
    memcpy(q.slots, arguments[0], fake.params ? fake.params(q.code) : sizeof l->slot);
    return put(&q, 0);
}
