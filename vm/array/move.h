/* move.h -- copies elements between strided memory without conversion.  All copies use this function: assignments,
 * slices, transpositions, `cat`, `flip`.
 *
 * The function finds a good order by itself.  It sorts the axes by the strides of the destination and merges neighbours
 * that are contiguous on both sides; a short run that is contiguous on both sides, such as a pixel, is copied as one
 * element.  If the source is contiguous along another axis than the destination, tiles are transposed in a local
 * buffer: the rows of a matrix whose width is a power of two share a set of the cache and would evict each other.
 * Large copies are distributed among the threads. */
#ifndef VM_MOVE_H
#define VM_MOVE_H
#include "vm/base/ctx.h"

/* Copies n[0..rank-1] elements of 1, 2, 4, 8 or 16 bytes; steps are in bytes.  Source and destination may be identical,
 * but must not overlap otherwise; they need not be aligned.  If several elements have the same destination (a step of
 * 0), the last one is kept. */
void qmove_run(Ctx *c, size_t size, int rank, const int64_t *n, void *dst, const ptrdiff_t *dsteps, const void *src,
               const ptrdiff_t *ssteps);
/* Copies n bytes; source and destination may be identical, but must not overlap otherwise. */
void qmove_bytes(void *dst, const void *src, size_t n);
#endif
