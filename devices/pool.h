/* pool.h -- freed host blocks, kept for the next array of their size.
 *
 * A program makes and drops arrays of the same few sizes all the time.  For small ones the system's allocator costs
 * more than the arithmetic, for large ones the page faults of fresh memory do; taking back the block just dropped,
 * still warm in the caches, saves both.  What is kept is bounded, and given up before an allocation is allowed to
 * fail. */
#ifndef DEVICES_POOL_H
#define DEVICES_POOL_H
#include "vm/base/ctx.h"

void *qpool_get(Ctx *c, size_t n);          /* 64-byte aligned, not zeroed; NULL when there is no memory */
void qpool_put(Ctx *c, void *p, size_t n);  /* n as it was asked for; NULL is allowed */
void qpool_set_limit(Ctx *c, size_t limit); /* qpool_get refuses to give out more bytes; 0: no limit */
size_t qpool_limit(const Ctx *c, size_t *used);
void qpool_drain(Ctx *c); /* back to the system with everything kept */

/* Sizes by eighths of powers of two, so that at most an eighth of a block is slack: the number of n's size, which is 8k
 * for 2^k, and in *size what such blocks really have; n >= 8. */
static inline size_t qpool_step(size_t n, size_t *size) {
    size_t top = 63 - (size_t)__builtin_clzll(n), steps = (n + ((size_t)1 << (top - 3)) - 1) >> (top - 3);
    *size = steps << (top - 3);
    return 8 * top + steps - 8;
}
static inline size_t qpool_step_size(size_t step) { return (step % 8 + 8) << (step / 8 - 3); }
#endif
