/* private_copies.h -- runs a launch that accumulates into arrays in parts, each with private copies (privatization).
 *
 *     blocks 0 … n-1 of the launch ── parts: ranges of blocks ── a copy of each array for every part
 *                                  ── the copies are added to the arrays, in the order of the parts
 *
 * Sums of floats depend on the order of their terms.  Therefore the number of parts depends only on the launch and the
 * kernel, never on the number of threads or on measured times.  Then a result has the same bits with one thread as with
 * sixty-four, and in each run.  The memory for copies is limited, which limits how many parts run at the same time.
 * This does not change the result, because the copies are added in order.  Privatization is also faster, because no
 * update is atomic. */
#ifndef DEVICES_PRIVATE_COPIES_H
#define DEVICES_PRIVATE_COPIES_H
#include "devices/native.h"
#include "devices/threads.h"

typedef struct {
    const NativeInfo *info;
    const DevArg *args;
    int nargs;
    int64_t nblocks, n; /* n: number of parts, at most nblocks */
} Parts;

/* Runs blocks first … last-1 with these arguments, which refer to the private copies. */
typedef void PartsJob(void *ud, const DevArg *args, int64_t first, int64_t last, int worker);

/* Returns the number of parts that is worth its cost; 1: the launch is not divided. */
int64_t qprivate_count(const NativeInfo *info, const DevArg *args, int64_t positions);
/* Runs all parts; threads NULL: on the calling thread only.  false: out of memory, and nothing was done. */
bool qprivate_run(Ctx *c, Threads *threads, const Parts *parts, PartsJob *fn, void *ud);
#endif
