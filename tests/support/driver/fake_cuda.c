/* The fake libcuda.so.1 of the unit tests: see fake_cuda.h. */
#include "tests/support/driver/fake_cuda.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_CONTEXT = 201,
       INVALID_PTX = 218, CAPTURE_UNSUPPORTED = 900 };

typedef struct {
    char kind;
    int device;
    void *code;
} Handle; /* 's'tream, 'e'vent, 'c'ontext, 'm'odule: also its function */

static FakeCuda fake = {.devices = 1, .capability = 90, .max_threads = 1024, .blocks = 8, .fail_after = -1};
static struct { uintptr_t at; size_t n; int device; } *block; /* in the order of addresses */
static int nblocks, room;
static Handle contexts[2] = {{'c', 0, NULL}, {'c', 1, NULL}};
static Handle *stack[16];

/* Declared here: there is no header of the driver to take the declarations from. */
#define CU(name, symbol, args) int fake_##name args __asm__(symbol);
#include "devices/cuda_api.def"

FakeCuda *fake_cuda(void) { return &fake; }
size_t fake_cuda_size(void) { return sizeof fake; }

static int misused(const char *what) {
    if (!fake.misuse++) snprintf(fake.wrong, sizeof fake.wrong, "%s", what);
    return INVALID_VALUE;
}

enum { CAPTURE_GLOBAL, CAPTURE_RELAXED = 2 };
static _Thread_local int capture_mode = CAPTURE_GLOBAL;

/* What may be called while a graph is captured; much else would make the capture worthless. */
static bool can_record(const char *name) {
    static const char *const allowed[] = {"CtxPushCurrent", "CtxPopCurrent", "StreamIsCapturing", "StreamWaitEvent",
                                          "EventRecord", "MemcpyDtoDAsync", "MemsetD8Async", "LaunchKernel",
                                          "PointerGetAttribute", "ThreadExchangeStreamCaptureMode",
                                          "DevicePrimaryCtxRelease"};
    if (capture_mode == CAPTURE_RELAXED && !strcmp(name, "MemFree")) return true;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (!strcmp(name, allowed[i])) return true;
    return false;
}

/* Records a call; what it is to return instead of working. */
static int begin(const char *name, bool needs_context) {
    size_t n = strlen(fake.log);
    if (n + strlen(name) + 2 < sizeof fake.log) snprintf(fake.log + n, sizeof fake.log - n, "%s ", name);
    if (fake.fail_after >= 0 && fake.fail_after-- == 0) {
        snprintf(fake.failed, sizeof fake.failed, "%s", name);
        if (fake.fail_with >= 700) fake.dead = fake.fail_with;
        return fake.fail_with;
    }
    if (fake.dead && needs_context) return fake.dead;
    if (fake.capturing && !can_record(name)) return misused(name), CAPTURE_UNSUPPORTED;
    if (needs_context && !fake.depth) return misused(name), INVALID_CONTEXT;
    return SUCCESS;
}
#define BEGIN(name)                                                                                                    \
    int error = begin(name, true);                                                                                     \
    if (error) return error
#define BEGIN_ANYWHERE(name)                                                                                           \
    int error = begin(name, false);                                                                                    \
    if (error) return error

static void *make(char kind, int *counter) {
    Handle *h = malloc(sizeof *h);
    *h = (Handle){kind, fake.depth ? stack[fake.depth - 1]->device : 0, NULL};
    ++*counter;
    return h;
}

/* The default streams have names that are no addresses. */
static bool is_special(const void *handle) { return (uintptr_t)handle <= 2; }

static bool is(const void *handle, char kind) { return !is_special(handle) && ((const Handle *)handle)->kind == kind; }

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

/* Of the word that a block ends in all bytes are its own: atomic updates of bytes move whole words. */
bool fake_block(uint64_t p, uint64_t *begin, uint64_t *end) {
    int i = find(p, 1);
    return i >= 0 ? (*begin = block[i].at, *end = (block[i].at + block[i].n + 3) & ~(uint64_t)3, true) : false;
}

static bool add_block(uintptr_t p, size_t n) {
    int i = nblocks;
    if (nblocks == room) block = realloc(block, (size_t)(room = room ? 2 * room : 256) * sizeof *block);
    if (!block) return false;
    for (; i > 0 && block[i - 1].at > p; i--) block[i] = block[i - 1];
    block[i].at = p, block[i].n = n, block[i].device = stack[fake.depth - 1]->device;
    return nblocks++, true;
}

static void remove_block(int i) {
    memmove(&block[i], &block[i + 1], (size_t)(--nblocks - i) * sizeof *block);
}

/* -- devices and contexts ------------------------------------------------------------------------------------------ */
int fake_Init(unsigned flags) {
    BEGIN_ANYWHERE("Init");
    if (flags) return misused("Init with flags");
    return fake.devices ? SUCCESS : NO_DEVICE;
}

int fake_DriverGetVersion(int *version) { return *version = 12040, SUCCESS; }

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
    case 1: return *out = 1024, SUCCESS;
    case 75: return *out = fake.capability / 10, SUCCESS;
    case 76: return *out = fake.capability % 10, SUCCESS;
    case 97: return *out = 232448, SUCCESS;
    default: return misused("DeviceGetAttribute");
    }
}

int fake_DeviceTotalMem(size_t *bytes, int device) {
    BEGIN_ANYWHERE("DeviceTotalMem");
    (void)device;
    return *bytes = (size_t)1 << 34, SUCCESS;
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

/* -- streams and events -------------------------------------------------------------------------------------------- */
int fake_StreamCreate(void **stream, unsigned flags) {
    BEGIN("StreamCreate");
    (void)flags;
    return *stream = make('s', &fake.streams), SUCCESS;
}

int fake_StreamDestroy(void *stream) {
    int error = begin("StreamDestroy", true);
    if (!is(stream, 's')) return misused("StreamDestroy");
    return destroy(stream, &fake.streams), error;
}

static int queue(const char *name, const void *stream) {
    BEGIN(name);
    if (is_special(stream)) return SUCCESS;
    if (!is(stream, 's') || ((const Handle *)stream)->device != stack[fake.depth - 1]->device) return misused(name);
    return SUCCESS;
}
#define QUEUE(name, stream)                                                                                            \
    int error = queue(name, stream);                                                                                   \
    if (error) return error

int fake_StreamSynchronize(void *stream) { return queue("StreamSynchronize", stream); }

int fake_StreamIsCapturing(void *stream, int *status) {
    QUEUE("StreamIsCapturing", stream);
    return *status = fake.capturing, SUCCESS;
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
    fake.order[fake.norders++ % FAKE_LAUNCHES] = (FakeOrder){((Handle *)event)->code, stream};
    return SUCCESS;
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
    ((Handle *)event)->code = stream;
    return SUCCESS;
}

int fake_EventSynchronize(void *event) {
    BEGIN("EventSynchronize");
    return is(event, 'e') ? SUCCESS : misused("EventSynchronize");
}

/* -- memory -------------------------------------------------------------------------------------------------------- */
static int give_memory(void **out, size_t n, size_t *counter) {
    if (!n || n > (size_t)1 << 34 || posix_memalign(out, 256, n + 4)) return OUT_OF_MEMORY;
    if (!add_block((uintptr_t)*out, n)) return free(*out), OUT_OF_MEMORY;
    ++*counter;
    return SUCCESS;
}

static int take_memory(uint64_t p, size_t *counter, const char *name) {
    int i = find(p, 0);
    if (i < 0 || block[i].at != p) return misused(name);
    remove_block(i);
    free((void *)(uintptr_t)p);
    --*counter;
    return SUCCESS;
}

int fake_MemAlloc(uint64_t *out, size_t n) {
    BEGIN("MemAlloc");
    void *p = NULL;
    error = give_memory(&p, n, &fake.allocated);
    return *out = (uintptr_t)p, error;
}

int fake_MemFree(uint64_t p) {
    int error = begin("MemFree", true), wrong = take_memory(p, &fake.allocated, "MemFree");
    return error ? error : wrong;
}

int fake_MemHostAlloc(void **out, size_t n, unsigned flags) {
    BEGIN("MemHostAlloc");
    size_t count = 0;
    (void)flags;
    error = give_memory(out, n, &count);
    fake.pinned += (int)count;
    return error;
}

int fake_MemFreeHost(void *p) {
    size_t count = 1;
    int error = begin("MemFreeHost", true), wrong = take_memory((uintptr_t)p, &count, "MemFreeHost");
    fake.pinned -= !wrong;
    return error ? error : wrong;
}

static int move(const char *name, uint64_t to, uint64_t from, size_t n, void *stream) {
    QUEUE(name, stream);
    if (!n || find(to, n) < 0 || find(from, n) < 0) return misused(name); /* host sides must be pinned, so known, too */
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n);
    return SUCCESS;
}

int fake_MemcpyHtoDAsync(uint64_t to, const void *from, size_t n, void *stream) {
    return move("MemcpyHtoDAsync", to, (uintptr_t)from, n, stream);
}

int fake_MemcpyDtoHAsync(void *to, uint64_t from, size_t n, void *stream) {
    return move("MemcpyDtoHAsync", (uintptr_t)to, from, n, stream);
}

int fake_MemcpyDtoDAsync(uint64_t to, uint64_t from, size_t n, void *stream) {
    return move("MemcpyDtoDAsync", to, from, n, stream);
}

int fake_MemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t n, void *stream) {
    if (!is(to_context, 'c') || !is(from_context, 'c')) return misused("MemcpyPeerAsync");
    return move("MemcpyPeerAsync", to, from, n, stream);
}

/* Sides that are not known are the host's. */
int fake_MemcpyAsync(uint64_t to, uint64_t from, size_t n, void *stream) {
    QUEUE("MemcpyAsync", stream);
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n);
    return SUCCESS;
}

int fake_PointerGetAttribute(void *out, int what, uint64_t p) {
    BEGIN("PointerGetAttribute");
    int i = find(p, 0);
    if (what != 9) return misused("PointerGetAttribute");
    if (i < 0) return INVALID_VALUE;
    return memcpy(out, &block[i].device, sizeof block[i].device), SUCCESS;
}

int fake_MemsetD8Async(uint64_t to, unsigned char value, size_t n, void *stream) {
    QUEUE("MemsetD8Async", stream);
    if (find(to, n) < 0) return misused("MemsetD8Async");
    memset((void *)(uintptr_t)to, value, n);
    return SUCCESS;
}

int fake_MemsetD2D32Async(uint64_t to, size_t pitch, unsigned value, size_t width, size_t height, void *stream) {
    QUEUE("MemsetD2D32Async", stream);
    bool bad = to % 4 || pitch % 4 || pitch < width * 4 || !height;
    if (bad || find(to, pitch * (height - 1) + width * 4) < 0) return misused("MemsetD2D32Async");
    for (size_t i = 0; i < height; i++)
        for (size_t j = 0; j < width; j++) memcpy((char *)(uintptr_t)to + i * pitch + 4 * j, &value, 4);
    return SUCCESS;
}

/* -- code ---------------------------------------------------------------------------------------------------------- */
static int line_with(const char *text) {
    const char *at = fake.jit_at ? strstr(text, fake.jit_at) : NULL;
    int line = at != NULL;
    for (; at && text < at; text++) line += *text == '\n';
    return line;
}

int fake_ModuleLoadDataEx(void **module, const void *image, unsigned noptions, int *options, void **values) {
    BEGIN("ModuleLoadDataEx");
    if (!image || noptions != 2 || options[0] != 5 || options[1] != 6) return misused("ModuleLoadDataEx");
    if (fake.jit_log) {
        if (fake.jit_at) snprintf(values[0], (size_t)(uintptr_t)values[1], fake.jit_log, line_with(image));
        else snprintf(values[0], (size_t)(uintptr_t)values[1], "%s", fake.jit_log);
        return INVALID_PTX;
    }
    void *code = fake.load ? fake.load(image, values[0], (size_t)(uintptr_t)values[1]) : NULL;
    if (fake.load && !code) return INVALID_PTX;
    Handle *h = make('m', &fake.modules);
    h->code = code;
    *module = h;
    return SUCCESS;
}

int fake_ModuleUnload(void *module) {
    int error = begin("ModuleUnload", true);
    if (!is(module, 'm')) return misused("ModuleUnload");
    if (fake.unload) fake.unload(((Handle *)module)->code);
    return destroy(module, &fake.modules), error;
}

int fake_ModuleGetFunction(void **out, void *module, const char *name) {
    BEGIN("ModuleGetFunction");
    if (!is(module, 'm') || strcmp(name, "kernel") != 0) return misused("ModuleGetFunction");
    return *out = module, SUCCESS;
}

int fake_FuncGetAttribute(int *out, int what, void *f) {
    BEGIN("FuncGetAttribute");
    if (!is(f, 'm') || what < 0 || what > 9) return misused("FuncGetAttribute");
    *out = fake.attribute ? fake.attribute(((Handle *)f)->code, what) : -1;
    if (*out < 0) *out = what ? 0 : fake.max_threads;
    return SUCCESS;
}

int fake_FuncSetAttribute(void *f, int what, int value) {
    BEGIN("FuncSetAttribute");
    return is(f, 'm') && what == 8 && value > 0 ? SUCCESS : misused("FuncSetAttribute");
}

int fake_OccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *f, int threads, size_t shared) {
    BEGIN("OccupancyMaxActiveBlocksPerMultiprocessor");
    (void)shared;
    if (!is(f, 'm') || threads > fake.max_threads) return misused("Occupancy");
    return *blocks = fake.blocks * 256 / threads, SUCCESS;
}

int fake_LaunchKernel(void *f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned x, unsigned y, unsigned z,
                      unsigned shared, void *stream, void **arguments, void **extra) {
    QUEUE("LaunchKernel", stream);
    bool block_fits = x && y && z && z <= 64 && x * y * z <= (unsigned)fake.max_threads;
    if (!is(f, 'm') || !grid_x || grid_x > INT32_MAX || grid_y != 1 || grid_z != 1 || !block_fits || extra)
        return misused("LaunchKernel");
    FakeLaunch *l = &fake.launch[fake.nlaunches++ % FAKE_LAUNCHES];
    *l = (FakeLaunch){.grid = grid_x, .x = x, .y = y, .z = z, .shared = shared};
    memcpy(l->slot, arguments[0], sizeof l->slot);
    int failed = fake.run ? fake.run(((Handle *)f)->code, l, arguments[0]) : SUCCESS;
    if (failed >= 700) fake.dead = failed; /* a kernel's error comes with a later call */
    return failed >= 700 ? SUCCESS : failed;
}
