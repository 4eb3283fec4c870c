/* fake_cuda.h -- what a test sees of the recording fake of NVIDIA's driver.
 *
 * It is no GPU: memory is the host's, copies are made at once unless work is deferred, kernels do nothing unless a test
 * runs them itself (load, run).  It records calls, checks what the
 * real driver would crash or complain about (no current context, handles and addresses that are not its own), counts
 * what was made and not given back, and makes the n-th call fail with any error. */
#ifndef TESTS_SUPPORT_FAKE_CUDA_H
#define TESTS_SUPPORT_FAKE_CUDA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_DEAF_STREAMS = 1 /* for events */, FAKE_DEAF_HOST = 2 /* for events */ };
enum { FAKE_LAUNCHES = 8, FAKE_SLOTS = 64, FAKE_LOG = 1 << 16 };

typedef struct {
    unsigned grid, x, y, z, shared;
    uint64_t slot[FAKE_SLOTS];
} FakeLaunch;

typedef struct {
    void *first, *then;
} FakeOrder; /* what is queued on the stream `then` waits for the stream `first` */

typedef struct {
    /* what a test does with code; NULL: nothing.  run gives the driver's error: from 700 on it comes with a later
     * call */
    void *(*load)(const char *image, char *why, size_t n); /* NULL: it does not load, and why */
    int (*run)(void *code, const FakeLaunch *l, const uint64_t *slots);
    void (*unload)(void *code);
    int (*attribute)(void *code, int what); /* of a function; -1: nothing to say */
    size_t (*params)(void *code);           /* bytes of a function's parameters */
    /* what there is */
    int devices, capability /* 90 */, max_threads /* of a kernel */, blocks /* that a multiprocessor holds of 256 */;
    const char *jit_log; /* not NULL: modules do not load, and the driver says this */
    const char *jit_at;  /* NULL, or a word: that is about the first line of the code with it, which %d stands for */
    int local;           /* bytes of local memory that a kernel takes */
    int registers;       /* of a thread, if the code names no limit (.maxntid) */
    int newer;           /* the driver's version is as much higher */
    int pools;           /* blocks may come from a pool, in the order of a stream */
    size_t others;       /* bytes of the device that others hold */
    /* failures */
    long fail_after; /* the n-th call from now fails, 0 is the next; < 0: none */
    int fail_with;
    int defer;     /* nothing runs before it is waited for, then in an order that is allowed: the n-th */
    int deaf;      /* to show that a test hears what goes wrong: FAKE_DEAF_… does not wait */
    int capturing; /* a graph is recorded, of the stream that was the n-th one open when it was made, or of a
                           * default one (-n), and of those that wait for it: what may not be called is a mistake */
    int dead;      /* this error, once it was given: calls on a context give it again */
    /* what happened */
    int retained, streams, events, modules, pinned, depth; /* made and not given back; contexts pushed */
    size_t allocated;                                      /* device blocks */
    unsigned misuse;                                       /* calls that a real driver would not survive */
    char wrong[256];                                       /* the first of them */
    int links, compiled; /* links made and not given back; how often PTX was compiled */
    int nlaunches;
    FakeLaunch launch[FAKE_LAUNCHES];
    int norders;
    FakeOrder order[FAKE_LAUNCHES];
    char log[FAKE_LOG];          /* names of the calls, without cu, each with a blank behind it */
    char failed[64];             /* the call that failed */
    size_t uploaded, downloaded; /* bytes that copies from the host and to it were asked for */
} FakeCuda;

/* The start of work on a stream, for the fakes of libraries: `work` is queued there, with a copy of its job. */
typedef struct {
    void (*queue)(void *stream, void (*work)(void *job), const void *job, size_t n);
} FakeStream;

FakeCuda *fake_cuda(void);
/* The block of memory, of a device or pinned, with this address. */
bool fake_block(uint64_t p, uint64_t *begin, uint64_t *end);
size_t fake_cuda_size(void); /* of a FakeCuda, for tests/python/fake_gpu.py */
#endif
