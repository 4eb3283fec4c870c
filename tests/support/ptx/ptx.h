/* ptx.h -- PTX text, executed by this processor as a GPU would: what the fake driver does with code when it is asked
 * to.
 *
 *     m = ptx_load(text, &host, why, sizeof why);      parsed, checked, decoded
 *     ptx_run(m, ptx_entry(m, "kernel"), &launch);     0, or the number of the driver's error
 *     ptx_unload(m);
 *
 * A warp is 32 threads in lockstep as long as they agree; where they part, those that are behind go first, and at times
 * somebody else: the order comes from the seed.  Warps of a block take turns of random length, if they have shared
 * memory, barriers or updates to notice each other by; blocks run one after the other, in a random order.
 *
 * What a GPU would notice is an error of the launch (an address that nobody owns, a misaligned one).  What a GPU would
 * not notice is a mistake all the same, printed when it happens and counted: shared memory read before it was written,
 * two threads of a block at one place of it without a barrier between them, a barrier that not all threads of a warp
 * reach together.
 *
 *     ptx.def         the instructions                    ptx_warp.c    blocks, warps, who goes on when threads part
 *     ptx_parse.c     text to tokens, names, functions    ptx_exec.c    what instructions compute
 *     ptx_decode.c    a statement to an instruction       ptx_cvt.c     conversions
 *     ptx_machine.h   what these share                    ptx_memory.c  loads, stores, atomics, and their checks
 *     ptx_approx.c    functions that are not exact        ptx_group.c   what threads of a warp ask each other */
#ifndef TESTS_SUPPORT_PTX_H
#define TESTS_SUPPORT_PTX_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct PtxModule PtxModule;

typedef struct {
    /* The block of memory with this address; false: there is none. */
    bool (*find)(void *ud, uint64_t at, uint64_t *begin, uint64_t *end);
    void *ud;
    uint64_t seed;
    bool race_free; /* shared memory is not watched for races */
} PtxHost;

typedef struct {
    unsigned grid[3], block[3], shared; /* shared: bytes that the launch adds */
    const void *params;                 /* the bytes of all parameters, as the entry lays them out */
    size_t nparams;
} PtxLaunch;

typedef struct {
    unsigned registers, instructions, shared, local, params, max_threads;
} PtxFacts;

enum {
    PTX_OK = 0,
    PTX_BAD_CODE = 218,
    PTX_ILLEGAL_ADDRESS = 700,
    PTX_TRAP = 715,
    PTX_MISALIGNED = 716,
    PTX_LAUNCH_FAILED = 719
};

/* NULL: `why` has the error, in one sentence with the line of the text. */
PtxModule *ptx_load(const char *text, const PtxHost *host, char *why, size_t n);
void ptx_unload(PtxModule *m);
int ptx_entry(const PtxModule *m, const char *name); /* -1: there is none */
PtxFacts ptx_facts(const PtxModule *m, int entry);
/* The offset of the i-th parameter of the entry, and its bytes; false: there are fewer. */
bool ptx_param(const PtxModule *m, int entry, int i, size_t *at, size_t *n);
/* The address of a .global variable, 0: there is none. */
uint64_t ptx_variable(const PtxModule *m, const char *name, size_t *bytes);
int ptx_run(PtxModule *m, int entry, const PtxLaunch *l);

unsigned ptx_mistakes(void);         /* in this process */
const char *ptx_first_mistake(void); /* "": none */
void ptx_forget_mistakes(void);      /* of a test that makes them on purpose */
uint64_t ptx_executed(void);         /* instructions times threads, in this process */
uint64_t ptx_asked(void);            /* bytes of global memory that its loads, stores and updates named */
/* Rows of ptx.def that were executed in this process, then those that were not. */
void ptx_coverage(void (*say)(void *ud, const char *instruction, uint64_t times), void *ud);
#endif
