/* odd_opencl.c -- OpenCL as other drivers offer it: the real loader with the oddities that ODD_OPENCL names, in any
 * order, separated by commas.  QUASAR_OPENCL names this library; what is not defined here is the loader's.
 *
 *     nofp64  noatom64       the device lacks them
 *     version=OpenCL 1.1 x   what the device says of itself;  profile=EMBEDDED_PROFILE  likewise
 *     group=N                no kernel runs in blocks of more than N work items
 *     local=N                so many bytes of local memory
 *     spoil=WORD             WORD is misspelt when it first occurs in the text of a program
 *     nobinary               programs have no binary;  refuse  binaries are not taken back;  stale  they do not build
 *     poison                 buffers begin with bytes that nobody wrote: 0xA5
 *     slow=N                 a program takes N seconds more to build
 *     memory=N               buffers have N bytes in all, and that is noticed when they are first used
 *
 * ODD_OPENCL_LOG names a file that gets a line for each program: source or binary.
 *
 * `poison` finds what oclgrind 21.10 cannot: with OCLGRIND_UNINITIALIZED=1 that calls everything uninitialised that
 * kernels write behind a part of a buffer which the host has written (a kernel that stores 7 everywhere and one that
 * reads it are enough).  Its other tests work: OCL_ICD_VENDORS names a folder with a file whose one line is the path of
 * liboclgrind-rt-icd.so (its own command, which preloads a library, does not get along with a loader opened by dlopen),
 * then OCLGRIND_DATA_RACES=1 OCLGRIND_CHECK_API=1 OCLGRIND_LOG=…  In the scripts of kernels, kir, fusion and loops it
 * found no access outside memory, no misuse of the interface, and no race but the first look of a compare-and-swap loop
 * at its element.  Scripts with arrays of millions of elements are too slow for it and were left out. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint32_t cl_uint;
typedef uint64_t cl_bits;

typedef struct {
#define CL(result, name, args) result(*name) args;
#include "devices/opencl_api.def"
} Api;

/* Declared here: no header of OpenCL is needed to build. */
#define CL(result, name, args) result cl##name args;
#include "devices/opencl_api.def"

enum {
    OUT_OF_MEMORY = -4,
    BUILD_FAILED = -11,
    INVALID_VALUE = -30,
    INVALID_BINARY = -42,
    INVALID_GROUP = -54,
    DEVICE_LOCAL_MEM = 0x1023,
    DEVICE_PROFILE = 0x102E,
    DEVICE_VERSION = 0x102F,
    DEVICE_EXTENSIONS = 0x1030,
    DEVICE_FP64 = 0x1032,
    BINARY_SIZES = 0x1165,
    COPY_HOST_PTR = 1 << 5,
    KERNEL_GROUP = 0x11B0,
    BUFFERS = 256
};

static struct {
    void *buffer;
    size_t n;
    bool used;
} buffers[BUFFERS];
static void *stale; /* the program that does not build */

static const Api *real(void) {
    static Api api;
    if (!api.GetPlatformIDs) {
#define CL(result, name, args) *(void **)(void *)&api.name = dlsym(RTLD_NEXT, "cl" #name);
#include "devices/opencl_api.def"
    }
    return &api;
}

/* The value of an oddity, "" if it has none; NULL: it is not requested.  The text is valid until the next call. */
static const char *odd(const char *name) {
    static char value[128];
    size_t n = strlen(name);
    for (const char *at = getenv("ODD_OPENCL"); at && *at; at += strcspn(at, ","), at += *at == ',') {
        if (strncmp(at, name, n) != 0 || !strchr("=,", at[n])) continue;
        const char *text = at[n] == '=' ? at + n + 1 : "";
        snprintf(value, sizeof value, "%.*s", (int)strcspn(text, ","), text);
        return value;
    }
    return NULL;
}

static size_t odd_number(const char *name, size_t otherwise) {
    const char *value = odd(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static void note(const char *what) {
    const char *path = getenv("ODD_OPENCL_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) fprintf(f, "%s\n", what), fclose(f);
}

/* -- what the device says of itself -------------------------------------------------------------------------------- */
static int answer(const char *text, size_t n, void *out, size_t *size) {
    size_t need = strlen(text) + 1;
    if (size) *size = need;
    if (!out) return 0;
    if (n < need) return INVALID_VALUE;
    memcpy(out, text, need);
    return 0;
}

int clGetDeviceInfo(void *device, cl_uint what, size_t n, void *out, size_t *size) {
    const char *version = what == DEVICE_VERSION ? odd("version") : what == DEVICE_PROFILE ? odd("profile") : NULL;
    if (version) return answer(version, n, out, size);
    if (what == DEVICE_EXTENSIONS && odd("noatom64")) return answer("cl_khr_int64_base_atomics_not", n, out, size);
    int e = real()->GetDeviceInfo(device, what, n, out, size);
    if (what == DEVICE_FP64 && odd("nofp64") && out) memset(out, 0, n);
    if (what == DEVICE_LOCAL_MEM && odd("local") && out) *(uint64_t *)out = odd_number("local", 0);
    return e;
}

int clGetKernelWorkGroupInfo(void *kernel, void *device, cl_uint what, size_t n, void *out, size_t *size) {
    int e = real()->GetKernelWorkGroupInfo(kernel, device, what, n, out, size);
    if (what == KERNEL_GROUP && odd("group") && out) *(size_t *)out = odd_number("group", 0);
    return e;
}

/* -- programs ------------------------------------------------------------------------------------------------------ */
void *clCreateProgramWithSource(void *context, cl_uint n, const char *const *texts, const size_t *lengths, int *error) {
    const char *word = odd("spoil"), *at = word ? strstr(texts[0], word) : NULL;
    note("source");
    if (!at) return real()->CreateProgramWithSource(context, n, texts, lengths, error);
    char *text = strdup(texts[0]);
    text[at - texts[0]] = '#'; /* no token of the language */
    void *program = real()->CreateProgramWithSource(context, 1, (const char *const[]){text}, NULL, error);
    free(text);
    return program;
}

void *clCreateProgramWithBinary(void *context, cl_uint n, void *const *devices, const size_t *lengths,
                                const unsigned char *const *binaries, int *states, int *error) {
    note("binary");
    if (odd("refuse")) return *error = INVALID_BINARY, NULL;
    void *program = real()->CreateProgramWithBinary(context, n, devices, lengths, binaries, states, error);
    if (odd("stale")) stale = program;
    return program;
}

int clBuildProgram(void *program, cl_uint n, void *const *devices, const char *options, void (*notify)(void *, void *),
                   void *ud) {
    if (program == stale && stale) return stale = NULL, BUILD_FAILED;
    unsigned left = odd("slow") ? (unsigned)atoi(odd("slow")) : 0;
    while (left) left = sleep(left); /* whole seconds, signals or not */
    return real()->BuildProgram(program, n, devices, options, notify, ud);
}

int clGetProgramInfo(void *program, cl_uint what, size_t n, void *out, size_t *size) {
    int e = real()->GetProgramInfo(program, what, n, out, size);
    if (what == BINARY_SIZES && odd("nobinary") && out) memset(out, 0, n);
    return e;
}

/* -- memory that is found when it is used -------------------------------------------------------------------------- */
void *clCreateBuffer(void *context, cl_bits flags, size_t n, void *host, int *error) {
    void *data = odd("poison") && !host ? malloc(n) : NULL;
    if (data) memset(data, 0xA5, n), flags |= COPY_HOST_PTR;
    void *buffer = real()->CreateBuffer(context, flags, n, data ? data : host, error);
    free(data);
    for (int i = 0; buffer && i < BUFFERS; i++)
        if (!buffers[i].buffer) {
            buffers[i].buffer = buffer, buffers[i].n = n, buffers[i].used = false;
            break;
        }
    return buffer;
}

int clReleaseMemObject(void *buffer) {
    for (int i = 0; i < BUFFERS; i++)
        if (buffers[i].buffer == buffer) buffers[i].buffer = NULL;
    return real()->ReleaseMemObject(buffer);
}

static bool use(void *buffer) { /* false: there is no room for it */
    size_t total = 0, most = odd_number("memory", SIZE_MAX);
    for (int i = 0; i < BUFFERS; i++) {
        if (!buffers[i].buffer) continue;
        if (buffers[i].buffer == buffer) buffers[i].used = true;
        if (buffers[i].used) total += buffers[i].n;
    }
    for (int i = 0; i < BUFFERS && total > most; i++)
        if (buffers[i].buffer == buffer) buffers[i].used = false;
    return total <= most;
}

int clEnqueueWriteBuffer(void *queue, void *buffer, cl_uint blocking, size_t offset, size_t n, const void *from,
                         cl_uint nwait, void *const *wait, void **event) {
    if (!use(buffer)) return OUT_OF_MEMORY;
    return real()->EnqueueWriteBuffer(queue, buffer, blocking, offset, n, from, nwait, wait, event);
}

int clSetKernelArg(void *kernel, cl_uint index, size_t n, const void *value) {
    void *buffer;
    if (n == sizeof buffer) {
        memcpy(&buffer, value, n);
        if (!use(buffer)) return OUT_OF_MEMORY;
    }
    return real()->SetKernelArg(kernel, index, n, value);
}

int clEnqueueNDRangeKernel(void *queue, void *kernel, cl_uint dims, const size_t *offset, const size_t *global,
                           const size_t *local, cl_uint nwait, void *const *wait, void **event) {
    size_t items = 1;
    for (cl_uint i = 0; i < dims; i++) items *= local[i];
    if (items > odd_number("group", SIZE_MAX)) return INVALID_GROUP;
    return real()->EnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, nwait, wait, event);
}
