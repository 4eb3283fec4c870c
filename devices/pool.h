/* pool.h -- keeps freed host blocks for reuse by the next array of the same size.
 *
 * Programs allocate and free arrays of the same few sizes all the time.  For small arrays the system's allocator costs
 * more than the arithmetic; for large arrays the page faults of fresh memory do.  Reusing the block that was just freed
 * avoids both costs, and its contents are still in the caches.  The pool is bounded, and it is emptied before an
 * allocation is allowed to fail. */
#ifndef DEVICES_POOL_H
#define DEVICES_POOL_H
#include "vm/base/ctx.h"

void *qpool_get(Ctx *c, size_t n);          /* 64-byte aligned, not zeroed; NULL: out of memory */
void qpool_put(Ctx *c, void *p, size_t n);  /* n: the size passed to qpool_get; p may be NULL */
void qpool_set_limit(Ctx *c, size_t limit); /* maximum number of allocated bytes; 0: no limit */
size_t qpool_limit(const Ctx *c, size_t *used);
void qpool_drain(Ctx *c); /* returns all kept blocks to the system */

/* Returns the size class of n (n >= 8) and sets *size to the block size of that class.  There are eight classes per
 * power of two, so that at most an eighth of a block is unused; 2^k has the class 8k. */
static inline size_t qpool_step(size_t n, size_t *size) {
    size_t top = 63 - (size_t)__builtin_clzll(n), steps = (n + ((size_t)1 << (top - 3)) - 1) >> (top - 3);
    *size = steps << (top - 3);
    return 8 * top + steps - 8;
}
static inline size_t qpool_step_size(size_t step) { return (step % 8 + 8) << (step / 8 - 3); }
#endif
