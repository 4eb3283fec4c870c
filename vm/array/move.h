/* move.h -- elements from one strided place to another, as they are: copies, slices, transpositions, permutations.
 *
 * What the strides mean is all the same to the caller: axes are put in the order of the destination, neighbours that
 * both sides walk through evenly are joined, and where the source runs along another axis than the destination, small
 * tiles are turned around in the first-level cache.  Large moves are shared out among the threads. */
#ifndef VM_MOVE_H
#define VM_MOVE_H
#include "vm/base/ctx.h"

/* n[0..rank-1] elements of 1, 2, 4, 8 or 16 bytes; steps count bytes.  The places may be one and the same, but must not
 * overlap otherwise; they need not be aligned.  Of elements that go to one place (a step of 0) the last one stays. */
void qmove_run(Ctx *c, size_t size, int rank, const int64_t *n, void *dst, const ptrdiff_t *dsteps, const void *src,
               const ptrdiff_t *ssteps);
#endif
