/* A libcuda.so.1 that executes PTX: the fake driver (fake_cuda.h), with the interpreter of tests/support/ptx.  Any
 * program that opens it has an NVIDIA device:
 *
 *     QUASAR_CUDA=build/libptx_driver.so QUASAR_CACHE_DIR=out/cache-ptx build/qrun --device cuda script.q
 *
 * FAKE_GPU_ARCH=70 … the compute capability; FAKE_GPU_POOLS=0 a driver without pools of memory; FAKE_GPU_SEED the
 * order of threads and warps; FAKE_GPU_DEFER=1 that nothing runs before somebody waits for it; FAKE_GPU_REPORT a file
 * to which is appended what was executed, FAKE_GPU_TEXTS one to which the text of each module is appended,
 * FAKE_GPU_DUMP one for the text of the first kernel with a mistake.  What a GPU would not have borne is printed when
 * it happens, and makes the process end with status 70. */
#include "tests/support/driver/fake_cuda.h"
#include "tests/support/ptx/ptx.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    PtxModule *module;
    int entry;
} Image;

static bool find(void *ud, uint64_t at, uint64_t *begin, uint64_t *end) { return (void)ud, fake_block(at, begin, end); }

static uint64_t number(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void keep_text(const char *text) {
    const char *name = getenv("FAKE_GPU_TEXTS");
    FILE *f = name ? fopen(name, "a") : NULL;
    if (f) fputs(text, f), fclose(f);
}

static void *load(const char *text, char *why, size_t n) {
    keep_text(text);
    PtxHost host = {.find = find, .seed = number("FAKE_GPU_SEED", 1)};
    PtxModule *m = ptx_load(text, &host, why, n);
    if (!m) return fprintf(stderr, "ptx: %s\n", why), NULL;
    Image *i = malloc(sizeof *i);
    *i = (Image){m, ptx_entry(m, "kernel")};
    return i;
}

static void unload(void *code) {
    ptx_unload(((Image *)code)->module);
    free(code);
}

static int run(void *code, const FakeLaunch *l, const uint64_t *slots) {
    const Image *i = code;
    PtxLaunch launch = {.grid = {l->grid, 1, 1},
                        .block = {l->x, l->y, l->z},
                        .shared = l->shared,
                        .params = slots,
                        .nparams = ptx_facts(i->module, i->entry).params};
    return ptx_run(i->module, i->entry, &launch);
}

static size_t params(void *code) { return ptx_facts(((Image *)code)->module, ((Image *)code)->entry).params; }

/* Numbers of the driver's interface. */
static int attribute(void *code, int what) {
    enum { SHARED = 1, LOCAL = 3, REGISTERS = 4 };
    const Image *i = code;
    PtxFacts facts = ptx_facts(i->module, i->entry);
    if (what == SHARED) return (int)facts.shared;
    if (what == LOCAL) return (int)facts.local;
    return what == REGISTERS ? (int)facts.registers : -1;
}

__attribute__((constructor)) static void begin(void) {
    FakeCuda *fake = fake_cuda();
    fake->load = load, fake->run = run, fake->unload = unload, fake->attribute = attribute;
    fake->params = params, fake->defer = (int)number("FAKE_GPU_DEFER", 0);
    fake->capability = (int)number("FAKE_GPU_ARCH", 90), fake->pools = (int)number("FAKE_GPU_POOLS", 1);
}

/* How often an instruction was executed, for tests that look whether code goes the way that they mean. */
uint64_t fake_gpu_executed(const char *instruction);

typedef struct {
    const char *name;
    uint64_t times;
} Sought;

static void seek(void *ud, const char *instruction, uint64_t times) {
    Sought *s = ud;
    if (!strcmp(s->name, instruction)) s->times = times;
}

uint64_t fake_gpu_executed(const char *instruction) {
    Sought s = {instruction, 0};
    ptx_coverage(seek, &s);
    return s.times;
}

static void say(void *ud, const char *instruction, uint64_t times) {
    fprintf(ud, "%s %" PRIu64 "\n", instruction, times);
}

__attribute__((destructor)) static void end(void) {
    const FakeCuda *fake = fake_cuda();
    const char *name = getenv("FAKE_GPU_REPORT");
    FILE *report = name ? fopen(name, "a") : NULL;
    if (report) {
        ptx_coverage(say, report);
        say(report, "threads'-instructions", ptx_executed());
        say(report, "bytes-of-global-memory", ptx_asked());
        fclose(report);
    }
    if (!fake->misuse && !ptx_mistakes()) return;
    fflush(stdout);
    fprintf(stderr, "ptx: %u mistakes; %s%s\n", ptx_mistakes(), fake->misuse ? "misuse of the driver: " : "",
            fake->wrong);
    _exit(70);
}
