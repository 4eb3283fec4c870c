/* private_copies.h -- a launch that only accumulates into some arrays runs in parts, each with copies of them.
 *
 *     blocks 0 … n-1 of the launch ── parts: so many blocks after each other ── a copy of each array for every part
 *                                  ── the copies go into the arrays, in the order of the parts
 *
 * Sums of floats depend on the order of their terms.  So how many parts there are follows from the launch and the
 * kernel, never from the number of threads, nor from the time that something took: then a result has the same bits
 * with one thread and with sixty-four, and in each run.  Only so many copies exist at a time as memory is set apart
 * for; that decides how many parts run at once, and changes no bit, because copies go into the arrays one after the
 * other.  It is faster, too: no update is atomic. */
#ifndef DEVICES_PRIVATE_COPIES_H
#define DEVICES_PRIVATE_COPIES_H
#include "devices/native.h"
#include "devices/threads.h"

typedef struct {
    const NativeInfo *info;
    const DevArg *args;
    int nargs;
    int64_t nblocks, n; /* n: parts, at most as many as blocks */
} Parts;

/* Runs blocks first … last-1 with these arguments. */
typedef void PartsJob(void *ud, const DevArg *args, int64_t first, int64_t last, int worker);

/* How many are worth it; 1: it is not cut. */
int64_t qprivate_count(const NativeInfo *info, const DevArg *args, int64_t positions);
/* threads NULL: this one alone.  false: no memory, and nothing was done. */
bool qprivate_run(Ctx *c, Threads *threads, const Parts *parts, PartsJob *fn, void *ud);
#endif
