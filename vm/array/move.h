/* move.h -- elements from one strided place to another, as they are.  Whatever moves elements without changing them is
 * this one function: copies, slices, transpositions, `cat`, `flip`.
 *
 * What the strides mean is all the same to the caller.  Axes are put in the order of the destination, and neighbours
 * that both sides walk through evenly are joined; a short run that both sides have in one piece, such as a pixel,
 * counts as one element.  If the source then runs along another axis than the destination, tiles are turned around in a
 * room of their own, because the rows of a matrix whose width is a power of two share a set of the cache and would
 * drive each other out.  Large moves are shared out among the threads. */
#ifndef VM_MOVE_H
#define VM_MOVE_H
#include "vm/base/ctx.h"

/* n[0..rank-1] elements of 1, 2, 4, 8 or 16 bytes; steps count bytes.  The places may be one and the same, but must not
 * overlap otherwise; they need not be aligned.  Of elements that go to one place (a step of 0) the last one stays. */
void qmove_run(Ctx *c, size_t size, int rank, const int64_t *n, void *dst, const ptrdiff_t *dsteps, const void *src,
               const ptrdiff_t *ssteps);
#endif
