/* opencl.c -- runs kernels on OpenCL 1.2 devices, through the ICD loader, which is opened at run time without headers.
 *
 * The first line of the generated code (lang/kernel/codegen/emit_opencl.c) lists what it needs:
 *
 *     exact   every work item of a group must be a position of the domain.  So blocks at the border of the domain are
 *             launched separately with their reduced size, in up to 2^rank launches
 *     fault   the last parameter is a Fault, which is cleared before and read after the launch
 *     fp64    float64 arithmetic;  atom64: 64-bit atomics;  serial: one work item runs the kernel;  fast: fast math
 *
 * The driver's binary is stored in the disk cache (devices/cache.h).  Its key includes the text, the options, and the
 * identity of the device and its driver.  If the driver refuses a cached binary, it is rebuilt from the text.
 *
 * There is one in-order queue per device.  We always set the local size, because implementations choose it badly. */
#include "devices/buildlog.h"
#include "devices/cache.h"
#include "vm/base/dynlib.h"
#include "vm/base/str.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t cl_uint;
typedef uint64_t cl_bits;

typedef struct {
#define CL(result, name, args) result(*name) args;
#include "devices/opencl_api.def"
} Api;

enum { /* names of the OpenCL standard without the prefix CL_ */
       SUCCESS = 0,
       ALLOCATION_FAILURE = -4,
       OUT_OF_HOST_MEMORY = -6,
       INVALID_BUFFER_SIZE = -61,
       MEM_READ_WRITE = 1,
       TYPE_GPU = 1 << 2,
       CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,
       PLATFORM_VERSION = 0x0901,
       PLATFORM_NAME = 0x0902,
       DEVICE_TYPE = 0x1000,
       DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
       DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
       DEVICE_SINGLE_FP_CONFIG = 0x101B,
       DEVICE_GLOBAL_MEM_SIZE = 0x101F,
       DEVICE_LOCAL_MEM_SIZE = 0x1023,
       DEVICE_AVAILABLE = 0x1027,
       DEVICE_COMPILER_AVAILABLE = 0x1028,
       DEVICE_NAME = 0x102B,
       DEVICE_VENDOR = 0x102C,
       DRIVER_VERSION = 0x102D,
       DEVICE_PROFILE = 0x102E,
       DEVICE_VERSION = 0x102F,
       DEVICE_EXTENSIONS = 0x1030,
       DEVICE_DOUBLE_FP_CONFIG = 0x1032,
       PROGRAM_BINARY_SIZES = 0x1165,
       PROGRAM_BINARIES = 0x1166,
       PROGRAM_BUILD_LOG = 0x1183,
       KERNEL_WORK_GROUP_SIZE = 0x11B0,
       KERNEL_LOCAL_MEM_SIZE = 0x11B2
};
static const cl_bits ALL_DEVICES = 0xFFFFFFFF;

typedef struct {
    cl_uint taken, message, pos, kinds;
    uint64_t value[2];
    int64_t at[8];
} Fault; /* same layout as in the generated code */

typedef struct {
    void *lib;
    Api f;
    void *platform, *id, *context, *queue, *fault;
    bool fp64, atom64;
    const char *options; /* build options without fast math */
    CacheKey driver;     /* key of everything except the text that binaries depend on */
    size_t max_items[3];
} State;

struct Program {
    void *program, *kernel;
    size_t max_block;
    bool exact, fault, serial, fast;
    char name[64];
};

/* -- errors -------------------------------------------------------------------------------------------------------- */
static const char *error_name(int e) {
    static const struct {
        int code;
        const char *name;
    } names[] = {{-1, "no device found"},
                 {-2, "the device is not available"},
                 {-3, "no compiler is available"},
                 {-4, "memory allocation failed"},
                 {-5, "out of resources"},
                 {-6, "out of host memory"},
                 {-11, "the build failed"},
                 {-14, "what it waits for has failed"},
                 {-30, "invalid value"},
                 {-34, "invalid context"},
                 {-36, "invalid queue"},
                 {-38, "invalid buffer"},
                 {-43, "invalid build options"},
                 {-45, "invalid program"},
                 {-46, "invalid kernel name"},
                 {-48, "invalid kernel"},
                 {-49, "invalid argument number"},
                 {-50, "invalid argument"},
                 {-51, "invalid argument size"},
                 {-52, "invalid arguments"},
                 {-54, "invalid block size"},
                 {-55, "invalid block extent"},
                 {-61, "invalid buffer size"},
                 {-63, "invalid launch size"},
                 {-1001, "no platform is installed"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == e) return names[i].name;
    return "error";
}

static bool is_memory(int e) { return e == ALLOCATION_FAILURE || e == OUT_OF_HOST_MEMORY || e == INVALID_BUFFER_SIZE; }

static qs_status checked(Device *d, const char *call, int e) {
    if (e == SUCCESS) return QS_OK;
    return qerr_set(d->ctx, is_memory(e) ? QS_ENOMEM : QS_EDEVICE, "%s: cl%s: %s (%d)", qdev_name(d), call,
                    error_name(e), e);
}
#define CALL(d, name, ...) checked(d, #name, state_of(d)->f.name(__VA_ARGS__))

static qs_status waited(Device *d, qs_status s) { return qdev_waited(d), s; }
/* Wraps calls in which the driver may execute queued work; PoCL also compiles in them. */
#define WAIT(d, ...) (qdev_wait(d), waited(d, CALL(d, __VA_ARGS__)))

static State *state_of(const Device *d) { return d->state; }

/* -- the driver's library and devices ------------------------------------------------------------------------------ */
static void *open_library(Ctx *c, Api *f, const char **why) {
    const char *named = getenv("QUASAR_OPENCL"), *library = named && *named ? named : "libOpenCL.so.1";
    char failure[DYNLIB_WHY] = "", text[DYNLIB_WHY + 40];
    void *lib = qdynlib_open(library, RTLD_NOW | RTLD_LOCAL, failure);
    snprintf(text, sizeof text, "%s cannot be opened: %s", library == named ? "QUASAR_OPENCL" : library, failure);
    *why = *failure ? qstr_cname(c, text)->s
           : library == named
               ? "the library that QUASAR_OPENCL names cannot be opened"
               : "libOpenCL.so.1 is not installed (Debian, Ubuntu: apt install ocl-icd-libopencl1, and a "
                 "driver)";
    if (!lib) return NULL;
    bool complete = true;
    /* POSIX lets a function address travel in a void *; C has no cast for it. */
#define CL(result, name, args) *(void **)(void *)&f->name = dlsym(lib, "cl" #name), complete = complete && f->name;
#include "devices/opencl_api.def"
    *why = complete ? NULL : "the OpenCL library lacks functions of OpenCL 1.2";
    if (complete) return lib;
    dlclose(lib);
    return NULL;
}

static bool usable(const Api *f, void *device) {
    cl_uint available = 0, compiler = 0;
    f->GetDeviceInfo(device, DEVICE_AVAILABLE, sizeof available, &available, NULL);
    f->GetDeviceInfo(device, DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler, NULL);
    return available && compiler;
}

enum { MAX_IDS = 16 };

/* Returns the number of usable devices of all platforms, and sets *platform and *id for the device number `wanted`. */
static int find_device(const Api *f, int wanted, void **platform, void **id) {
    void *platforms[MAX_IDS], *ids[MAX_IDS];
    cl_uint nplatforms = 0, nids;
    int n = 0;
    if (f->GetPlatformIDs(MAX_IDS, platforms, &nplatforms) != SUCCESS) return 0;
    for (cl_uint p = 0; p < nplatforms && p < MAX_IDS; p++) {
        if (f->GetDeviceIDs(platforms[p], ALL_DEVICES, MAX_IDS, ids, &nids) != SUCCESS) continue;
        for (cl_uint i = 0; i < nids && i < MAX_IDS; i++)
            if (usable(f, ids[i]) && n++ == wanted) *platform = platforms[p], *id = ids[i];
    }
    return n;
}

static int probe(Ctx *c, const char **why) {
    Api f;
    void *none;
    *why = NULL;
    void *lib = open_library(c, &f, why);
    if (!lib) return 0;
    int n = find_device(&f, -1, &none, &none);
    if (!n) *why = "no OpenCL driver offers a device (Debian, Ubuntu: apt install pocl-opencl-icd for the processor)";
    dlclose(lib);
    return n;
}

/* -- opening ------------------------------------------------------------------------------------------------------- */
static uint64_t device_bits(const State *s, cl_uint what) {
    uint64_t v = 0;
    s->f.GetDeviceInfo(s->id, what, sizeof v, &v, NULL);
    return v;
}

static bool has_extension(Device *d, const char *name) {
    const State *s = state_of(d);
    size_t n = 0;
    if (s->f.GetDeviceInfo(s->id, DEVICE_EXTENSIONS, 0, NULL, &n) != SUCCESS || !n) return false;
    char *list = qmem_alloc(d->ctx, n + 1);
    s->f.GetDeviceInfo(s->id, DEVICE_EXTENSIONS, n, list, NULL);
    size_t len = strlen(name);
    const char *at = strstr(list, name);
    while (at && !((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len]))) at = strstr(at + 1, name);
    qmem_free(d->ctx, list, n + 1);
    return at;
}

static CacheKey identify(const State *s) {
    static const cl_uint names[] = {DEVICE_NAME, DEVICE_VENDOR, DEVICE_VERSION, DRIVER_VERSION};
    char text[512];
    size_t n;
    CacheKey k = qcache_key((CacheKey){{2, 0}}, s->options, strlen(s->options));
    if (s->f.GetPlatformInfo(s->platform, PLATFORM_VERSION, sizeof text, text, &n) == SUCCESS)
        k = qcache_key(k, text, n);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (s->f.GetDeviceInfo(s->id, names[i], sizeof text, text, &n) == SUCCESS) k = qcache_key(k, text, n);
    return k;
}

static void describe_device(Device *d) {
    State *s = state_of(d);
    char name[96] = "OpenCL device", platform[64] = "";
    size_t items[8] = {0}, group = 1;
    s->f.GetDeviceInfo(s->id, DEVICE_NAME, sizeof name, name, NULL);
    s->f.GetPlatformInfo(s->platform, PLATFORM_NAME, sizeof platform, platform, NULL);
    snprintf(d->named, sizeof d->named, "%.90s (%.30s)", name, platform);
    s->f.GetDeviceInfo(s->id, DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    s->f.GetDeviceInfo(s->id, DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items, NULL);
    memcpy(s->max_items, items, sizeof s->max_items);
    d->total_memory = (size_t)device_bits(s, DEVICE_GLOBAL_MEM_SIZE);
    d->elements = d->wide = device_bits(s, DEVICE_TYPE) & TYPE_GPU;
    d->max_block = group < 1024 ? (int32_t)group : 1024;
    s->fp64 = device_bits(s, DEVICE_DOUBLE_FP_CONFIG) != 0;
    s->atom64 = has_extension(d, "cl_khr_int64_base_atomics");
    bool exact_division = device_bits(s, DEVICE_SINGLE_FP_CONFIG) & CORRECTLY_ROUNDED_DIVIDE_SQRT;
    s->options = exact_division ? "-cl-std=CL1.2 -w -cl-fp32-correctly-rounded-divide-sqrt" : "-cl-std=CL1.2 -w";
    s->driver = identify(s);
}

static void close_device(Device *d) {
    State *s = state_of(d);
    if (!s) return;
    if (s->queue) s->f.Finish(s->queue);
    if (s->fault) s->f.ReleaseMemObject(s->fault);
    if (s->queue) s->f.ReleaseCommandQueue(s->queue);
    if (s->context) s->f.ReleaseContext(s->context);
    if (s->lib) dlclose(s->lib);
    qmem_free(d->ctx, s, sizeof *s);
    d->state = NULL;
}

static qs_status make_queue(Device *d) {
    State *s = state_of(d);
    int e;
    s->context = s->f.CreateContext(NULL, 1, &s->id, NULL, NULL, &e);
    TRY(checked(d, "CreateContext", s->context ? SUCCESS : e));
    s->queue = s->f.CreateCommandQueue(s->context, s->id, 0, &e);
    TRY(checked(d, "CreateCommandQueue", s->queue ? SUCCESS : e));
    s->fault = s->f.CreateBuffer(s->context, MEM_READ_WRITE, sizeof(Fault), NULL, &e);
    return checked(d, "CreateBuffer", s->fault ? SUCCESS : e);
}

static qs_status check_version(Device *d) {
    const State *s = state_of(d);
    char version[128] = "", profile[64] = "";
    int major = 0, minor = 0;
    s->f.GetDeviceInfo(s->id, DEVICE_VERSION, sizeof version, version, NULL);
    s->f.GetDeviceInfo(s->id, DEVICE_PROFILE, sizeof profile, profile, NULL);
    if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 12)
        return qerr_set(d->ctx, QS_EDEVICE, "%s: OpenCL 1.2 or later is needed, the device has %s", qdev_name(d),
                        version);
    if (!strcmp(profile, "EMBEDDED_PROFILE") && !has_extension(d, "cles_khr_int64"))
        return qerr_set(d->ctx, QS_EDEVICE, "%s: 64-bit integers are needed, which this device does not have",
                        qdev_name(d));
    return QS_OK;
}

static qs_status find_and_open(Device *d, int ordinal) {
    State *s = state_of(d);
    const char *why = NULL;
    s->lib = open_library(d->ctx, &s->f, &why);
    if (!s->lib) return qerr_set(d->ctx, QS_EDEVICE, "%s", why);
    int n = find_device(&s->f, ordinal, &s->platform, &s->id);
    if (ordinal < 0 || ordinal >= n)
        return qerr_set(d->ctx, QS_EDEVICE, "there is no OpenCL device %d: %d found", ordinal, n);
    describe_device(d);
    TRY(check_version(d));
    return make_queue(d);
}

static qs_status open_device(Device *d, int ordinal) {
    d->state = qmem_alloc(d->ctx, sizeof(State));
    d->ordinal = ordinal;
    snprintf(d->named, sizeof d->named, "OpenCL device %d", ordinal);
    qs_status s = find_and_open(d, ordinal);
    if (s != QS_OK) close_device(d);
    return s;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */
static void *mem(DevPtr p) { return (void *)(uintptr_t)p; }

static void release_block(Device *d, DevPtr p) {
    if (p) state_of(d)->f.ReleaseMemObject(mem(p));
}

/* Allocates a block.  The size is rounded up to whole words, because 8-bit and 16-bit atomics exchange the word around
 * the element.  Some drivers allocate memory at the first use of a buffer; so the block is written here, where a
 * failure can still lead to an eviction. */
static qs_status alloc_block(Device *d, size_t n, DevPtr *out) {
    static const uint64_t first;
    const State *s = state_of(d);
    int e;
    size_t whole = n ? (n + 7) & ~(size_t)7 : 8;
    void *p = whole < n ? NULL : s->f.CreateBuffer(s->context, MEM_READ_WRITE, whole, NULL, &e);
    qdev_wait(d);
    if (p && s->f.EnqueueWriteBuffer(s->queue, p, 1, 0, sizeof first, &first, 0, NULL, NULL) != SUCCESS)
        s->f.ReleaseMemObject(p), p = NULL;
    qdev_waited(d);
    if (!p) return qerr_set(d->ctx, QS_ENOMEM, "%s: no room for %zu bytes", qdev_name(d), n);
    *out = (DevPtr)(uintptr_t)p;
    return QS_OK;
}

static qs_status upload_block(Device *d, DevPtr to, size_t off, const void *from, size_t n) {
    if (!n) return QS_OK;
    return WAIT(d, EnqueueWriteBuffer, state_of(d)->queue, mem(to), 1, off, n, from, 0, NULL, NULL);
}

static qs_status download_block(Device *d, void *to, DevPtr from, size_t off, size_t n) {
    if (!n) return QS_OK;
    return qdev_heed(d, WAIT(d, EnqueueReadBuffer, state_of(d)->queue, mem(from), 1, off, n, to, 0, NULL, NULL));
}

static qs_status copy_block(Device *d, DevPtr to, DevPtr from, size_t n) {
    if (!n) return QS_OK;
    return WAIT(d, EnqueueCopyBuffer, state_of(d)->queue, mem(from), mem(to), 0, 0, n, 0, NULL, NULL);
}

/* -- code ---------------------------------------------------------------------------------------------------------- */
static bool says(const char *text, const char *word) { /* returns whether the first line contains the word */
    const char *end = strchr(text, '\n'), *at = strstr(text, word);
    return at && end && at < end;
}

/* Sets an error at a script position; 0: the caller adds the location. */
static qs_status QS_PRINTF(4, 5) error_at(Device *d, const Code *code, uint32_t pos, const char *fmt, ...) {
    Where w = {pos ? code->lines.src : NULL, pos};
    va_list ap;
    va_start(ap, fmt);
    qs_status s = qerr_vset(d->ctx, QS_EDEVICE, w, fmt, ap);
    va_end(ap);
    return s;
}

static qs_status build_failed(Device *d, const Program *p, const Code *code) {
    const State *s = state_of(d);
    Text report;
    size_t n = 0;
    s->f.GetProgramBuildInfo(p->program, s->id, PROGRAM_BUILD_LOG, 0, NULL, &n);
    char *log = qmem_alloc(d->ctx, n + 1);
    if (n) s->f.GetProgramBuildInfo(p->program, s->id, PROGRAM_BUILD_LOG, n, log, NULL);
    qtext_init(&report, d->ctx);
    qbuildlog_translate(&code->lines, log, &report);
    while (report.len && report.s[report.len - 1] == '\n') report.s[--report.len] = 0;
    qs_status st = error_at(d, code, qbuildlog_error(&code->lines, log), "%s: kernel %s does not build: %.800s",
                            qdev_name(d), p->name, report.len ? report.s : "the driver gives no reason");
    qtext_free(&report);
    qmem_free(d->ctx, log, n + 1);
    return st;
}

/* Returns the script position of the first line of the text that has one and contains the word; 0: none. */
static uint32_t position_of(const Code *code, const char *word) {
    uint32_t line = 1;
    for (const char *row = code->bytes, *end; *row; row = *end ? end + 1 : end, line++) {
        uint32_t pos = qbuildlog_position(&code->lines, line);
        const char *at = pos ? strstr(row, word) : NULL;
        end = row + strcspn(row, "\n");
        if (at && at < end) return pos;
    }
    return 0;
}

static qs_status check_needs(Device *d, const Program *p, const Code *code) {
    const State *s = state_of(d);
    if (says(code->bytes, " fp64") && !s->fp64)
        return error_at(d, code, position_of(code, "double"),
                        "%s: kernel %s computes in float64, which this device does not have", qdev_name(d), p->name);
    if (says(code->bytes, " atom64") && !s->atom64) {
        uint32_t exchange = position_of(code, "ulong *)&");
        return error_at(d, code, exchange ? exchange : position_of(code, "atom_"),
                        "%s: kernel %s needs 64-bit atomics, which this device does not have", qdev_name(d), p->name);
    }
    return QS_OK;
}

static void *make_kernel(const State *s, const Program *p, const Code *code, int *e) {
    return s->f.CreateKernel(p->program, code->entry, e);
}

/* Builds the program.  Fast math does not use -cl-fast-relaxed-math, which assumes that no NaN or infinity occurs. */
static int compile(Device *d, const Program *p) {
    const State *s = state_of(d);
    const char *options = p->fast ? "-cl-std=CL1.2 -w -cl-unsafe-math-optimizations" : s->options;
    qdev_wait(d);
    int e = s->f.BuildProgram(p->program, 1, &s->id, options, NULL, NULL);
    return qdev_waited(d), e;
}

static void stop(Device *d, Program *p) {
    if (p->kernel) state_of(d)->f.ReleaseKernel(p->kernel);
    if (p->program) state_of(d)->f.ReleaseProgram(p->program);
    p->kernel = p->program = NULL;
}

/* Loads a binary; false: the driver refuses it. */
static bool start_binary(Device *d, Program *p, const Code *code, const Text *binary) {
    const State *s = state_of(d);
    const unsigned char *bytes = (const unsigned char *)binary->s;
    int refused, e;
    p->program = s->f.CreateProgramWithBinary(s->context, 1, &s->id, &binary->len, &bytes, &refused, &e);
    if (p->program && compile(d, p) == SUCCESS) p->kernel = make_kernel(s, p, code, &e);
    if (!p->kernel) stop(d, p);
    return p->kernel;
}

static bool start_kept(Device *d, Program *p, const Code *code, CacheKey key) {
    Text binary;
    qtext_init(&binary, d->ctx);
    bool ok = qcache_get(code->cache, key, &binary) && start_binary(d, p, code, &binary);
    qtext_free(&binary);
    return ok;
}

static qs_status start_source(Device *d, Program *p, const Code *code) {
    const State *s = state_of(d);
    const char *text = code->bytes;
    int e;
    p->program = s->f.CreateProgramWithSource(s->context, 1, &text, &code->n, &e);
    TRY(checked(d, "CreateProgramWithSource", p->program ? SUCCESS : e));
    e = compile(d, p);
    if (e != SUCCESS) return is_memory(e) ? checked(d, "BuildProgram", e) : build_failed(d, p, code);
    p->kernel = make_kernel(s, p, code, &e);
    return checked(d, "CreateKernel", p->kernel ? SUCCESS : e);
}

/* Sets out to the binary of the program; leaves it empty if the driver has none. */
static void get_binary(const State *s, const Program *p, Text *out) {
    size_t n = 0;
    if (s->f.GetProgramInfo(p->program, PROGRAM_BINARY_SIZES, sizeof n, &n, NULL) != SUCCESS || !n) return;
    if (!qtext_reserve(out, n)) return;
    if (s->f.GetProgramInfo(p->program, PROGRAM_BINARIES, sizeof out->s, &out->s, NULL) == SUCCESS) out->len = n;
}

static void cache_binary(Device *d, const Program *p, const Code *code, CacheKey key) {
    Text binary;
    qtext_init(&binary, d->ctx);
    get_binary(state_of(d), p, &binary);
    if (binary.len) qcache_put(code->cache, key, binary.s, binary.len);
    qtext_free(&binary);
}

static qs_status check_kernel(Device *d, Program *p, const Code *code) {
    const State *s = state_of(d);
    uint64_t shared = 0, most = device_bits(s, DEVICE_LOCAL_MEM_SIZE);
    TRY(CALL(d, GetKernelWorkGroupInfo, p->kernel, s->id, KERNEL_WORK_GROUP_SIZE, sizeof p->max_block, &p->max_block,
             NULL));
    TRY(CALL(d, GetKernelWorkGroupInfo, p->kernel, s->id, KERNEL_LOCAL_MEM_SIZE, sizeof shared, &shared, NULL));
    if (shared <= most) return QS_OK;
    return error_at(d, code, position_of(code, "__local"), "%s: a block of kernel %s shares %llu bytes: at most %llu",
                    qdev_name(d), p->name, (unsigned long long)shared, (unsigned long long)most);
}

static qs_status build_program(Device *d, Program *p, const Code *code) {
    const State *s = state_of(d);
    const char *text = code->bytes;
    bool keeps = code->cache && !*qcache_why(code->cache);
    TRY(check_needs(d, p, code));
    p->exact = says(text, " exact"), p->fault = says(text, " fault"), p->serial = says(text, " serial");
    p->fast = says(text, " fast");
    CacheKey key = qcache_key(s->driver, text, code->n);
    if (!keeps || !start_kept(d, p, code, key)) {
        TRY(start_source(d, p, code));
        if (keeps) cache_binary(d, p, code, key);
    }
    return check_kernel(d, p, code);
}

static void unload_program(Device *d, Program *p) {
    stop(d, p);
    qmem_free(d->ctx, p, sizeof *p);
}

static qs_status load_program(Device *d, const Code *code, Program **out) {
    Program *p = qmem_alloc(d->ctx, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", code->name);
    qs_status s = build_program(d, p, code);
    if (s == QS_OK) *out = p;
    else unload_program(d, p);
    return s;
}

/* -- launching ----------------------------------------------------------------------------------------------------- */
/* Part of a launch, which is passed to the kernel as q_launch.  For `rank` axes this is: long domain; int block,
 * extent, first, span, count. */
typedef struct {
    int rank;
    int64_t domain[QS_MAX_RANK];
    int32_t block[QS_MAX_RANK];  /* block extents that the kernel sees */
    int32_t extent[QS_MAX_RANK]; /* extents of the blocks of this part: `block`, or less at the border */
    int32_t first[QS_MAX_RANK], span[QS_MAX_RANK]; /* index of the first block of this part, and number of blocks */
    int32_t count[QS_MAX_RANK];                    /* number of blocks of the launch */
} Part;

static size_t pack(const Part *p, char out[QS_MAX_RANK * 28 + 8]) {
    size_t rank = (size_t)p->rank, at = rank * 8;
    const int32_t *ints[] = {p->block, p->extent, p->first, p->span, p->count};
    memcpy(out, p->domain, at);
    for (int i = 0; i < 5; i++, at += rank * 4) memcpy(out + at, ints[i], rank * 4);
    return (at + 7) & ~(size_t)7; /* the padding of the C struct */
}

static qs_status set_arguments(Device *d, Program *p, int nargs, const DevArg *args) {
    cl_uint n = 1; /* argument 0 is the Part */
    for (int i = 0; i < nargs; i++) {
        const DevArg *a = &args[i];
        if (!a->is_array) {
            TRY(CALL(d, SetKernelArg, p->kernel, n++, a->size, &a->bits));
            continue;
        }
        void *block = mem(a->block);
        size_t rank = (size_t)a->rank;
        int64_t view[1 + 2 * QS_MAX_RANK];
        view[0] = (int64_t)a->offset;
        memcpy(view + 1, a->dims, rank * 8);
        memcpy(view + 1 + rank, a->strides, rank * 8);
        TRY(CALL(d, SetKernelArg, p->kernel, n++, sizeof block, &block));
        TRY(CALL(d, SetKernelArg, p->kernel, n++, (1 + 2 * rank) * 8, view));
    }
    return p->fault ? CALL(d, SetKernelArg, p->kernel, n, sizeof(void *), &state_of(d)->fault) : QS_OK;
}

/* Maps axes to OpenCL dimensions: the last axis is dimension 0, the one before is 1, and all others together are 2. */
static void sizes_of(int rank, const int32_t *extent, size_t sizes[3]) {
    for (int i = 0; i < 3; i++) sizes[i] = 1;
    for (int a = rank - 1, dim = 0; a >= 0; a--, dim += dim < 2) sizes[dim] *= (size_t)extent[a];
}

static cl_uint work_sizes(const Part *p, size_t global[3], size_t local[3]) {
    sizes_of(p->rank, p->extent, local);
    sizes_of(p->rank, p->span, global);
    for (int i = 0; i < 3; i++) global[i] *= local[i];
    return p->rank < 3 ? (cl_uint)p->rank : 3;
}

static bool takes(const Device *d, const Program *p, const size_t local[3]) {
    bool ok = local[0] * local[1] * local[2] <= p->max_block;
    for (int i = 0; i < 3; i++) ok = ok && local[i] <= state_of(d)->max_items[i];
    return ok;
}

/* Halves the block of a kernel that does not use its block until the device accepts it. */
static void fit_block(const Device *d, const Program *p, int rank, int32_t *block) {
    size_t local[3];
    for (sizes_of(rank, block, local); !takes(d, p, local); sizes_of(rank, block, local)) {
        int longest = 0;
        for (int a = 1; a < rank; a++)
            if (block[a] > block[longest]) longest = a;
        if (block[longest] == 1) return;
        block[longest] /= 2;
    }
}

static qs_status check_block(Device *d, const Program *p, const size_t local[3]) {
    size_t n = local[0] * local[1] * local[2];
    if (takes(d, p, local)) return QS_OK;
    if (n > p->max_block)
        return qerr_set(d->ctx, QS_EDEVICE, "%s: a block of %zu positions is too large for kernel %s: at most %zu",
                        qdev_name(d), n, p->name, p->max_block);
    int i = 0;
    while (local[i] <= state_of(d)->max_items[i]) i++;
    return qerr_set(d->ctx, QS_EDEVICE, "%s: a block of kernel %s is %zu long along one axis: at most %zu",
                    qdev_name(d), p->name, local[i], state_of(d)->max_items[i]);
}

static qs_status launch_part(Device *d, Program *p, const Part *part) {
    char packed[QS_MAX_RANK * 28 + 8] = {0};
    size_t n = pack(part, packed), global[3] = {1, 1, 1}, local[3] = {1, 1, 1};
    cl_uint dims = p->serial ? 1 : work_sizes(part, global, local);
    TRY(check_block(d, p, local));
    TRY(CALL(d, SetKernelArg, p->kernel, 0, n, packed));
    return WAIT(d, EnqueueNDRangeKernel, state_of(d)->queue, p->kernel, dims, NULL, global, local, 0, NULL, NULL);
}

/* Selects the blocks of one part.  Bit a of `border` selects the last, smaller block along axis a, otherwise the full
 * blocks.  false: there are no such blocks. */
static bool choose_part(Part *p, unsigned border) {
    for (int a = 0; a < p->rank; a++) {
        int32_t left = (int32_t)(p->domain[a] % p->block[a]), full = (int32_t)(p->domain[a] / p->block[a]);
        bool at_border = border >> a & 1;
        p->extent[a] = at_border ? left : p->block[a];
        p->first[a] = at_border ? full : 0;
        p->span[a] = at_border ? 1 : full;
        if (!p->extent[a] || !p->span[a]) return false;
    }
    return true;
}

static qs_status launch_parts(Device *d, Program *p, Part *part) {
    if (p->exact && !p->serial) {
        for (unsigned border = 0; border < 1u << part->rank; border++)
            if (choose_part(part, border)) TRY(launch_part(d, p, part));
        return QS_OK;
    }
    memcpy(part->extent, part->block, sizeof part->extent);
    memcpy(part->span, part->count, sizeof part->span);
    return launch_part(d, p, part);
}

static bool is_empty(const Launch *l) {
    for (int a = 0; a < l->rank; a++)
        if (l->domain[a] < 1) return true;
    return false;
}

/* Computes block sizes and counts.  The generated code counts blocks in an int, along each axis and along all axes that
 * share a dimension together; more blocks are an error. */
static qs_status measure_blocks(Device *d, const Program *p, const Launch *l, Part *part) {
    double blocks = 1;
    *part = (Part){.rank = l->rank};
    memcpy(part->domain, l->domain, sizeof part->domain);
    memcpy(part->block, l->block, sizeof part->block);
    for (int a = 0; a < l->rank; a++)
        if (l->block[a] < 1)
            return qerr_set(d->ctx, QS_EINTERNAL, "%s: kernel %s launched with block extent %d", qdev_name(d), p->name,
                            l->block[a]);
    if (l->any_block) fit_block(d, p, l->rank, part->block);
    for (int a = 0; a < l->rank; a++) {
        int64_t count = l->domain[a] / part->block[a] + (l->domain[a] % part->block[a] != 0);
        blocks = (a < l->rank - 2 ? blocks : 1) * (double)count;
        if (blocks > INT32_MAX && !p->serial)
            return qerr_set(d->ctx, QS_EVALUE, "%s: kernel %s: %g blocks along one axis are too many", qdev_name(d),
                            p->name, blocks);
        part->count[a] = (int32_t)count;
    }
    return QS_OK;
}

static double slot_value(uint64_t bits, unsigned dtype) {
    union {
        uint32_t u;
        float f;
    } single = {(uint32_t)bits};
    union {
        uint64_t u;
        double f;
    } wide = {bits};
    switch ((qs_dtype)dtype) {
    case QS_F32: return (double)single.f;
    case QS_F64: return wide.f;
    case QS_U64: return (double)bits;
    default: return (double)(int64_t)bits;
    }
}

static qs_status read_fault(Device *d, DevFault *out) {
    Fault f;
    TRY(WAIT(d, EnqueueReadBuffer, state_of(d)->queue, state_of(d)->fault, 1, 0, sizeof f, &f, 0, NULL, NULL));
    if (!f.taken || !out) return qdev_heed(d, QS_OK);
    *out = (DevFault){.message = f.message, .pos = f.pos};
    for (int i = 0; i < 2; i++) out->value[i] = slot_value(f.value[i], f.kinds >> 8 * i & 255);
    memcpy(out->at, f.at, sizeof out->at);
    return QS_OK;
}

static qs_status launch_kernel(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args, DevFault *fault) {
    static const Fault none;
    Part part;
    if (fault) *fault = (DevFault){0};
    if (is_empty(l)) return QS_OK;
    TRY(measure_blocks(d, p, l, &part));
    TRY(set_arguments(d, p, nargs, args));
    if (p->fault)
        TRY(CALL(d, EnqueueWriteBuffer, state_of(d)->queue, state_of(d)->fault, 0, 0, sizeof none, &none, 0, NULL,
                 NULL));
    TRY(launch_parts(d, p, &part));
    if (p->fault) return read_fault(d, fault);
    return WAIT(d, Flush, state_of(d)->queue);
}

static qs_status sync(Device *d) { return qdev_heed(d, WAIT(d, Finish, state_of(d)->queue)); }

const DeviceOps qdev_opencl_ops = {
    "opencl",      CODE_OPENCL,  probe,          open_device, close_device, alloc_block,
    release_block, upload_block, download_block, copy_block,  load_program, unload_program,
    launch_kernel, sync,         NULL,           NULL,        NULL};
