/* mask.h -- declares loops over contiguous runs of elements and their truth values, one byte each.
 *
 * Elements are moved as bytes: `size` is 1, 2, 4, 8 or 16.  A truth value counts as true unless it is 0. */
#ifndef VM_MASK_H
#define VM_MASK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t qmask_count(size_t n, const uint8_t *mask);
/* Copies the elements of x that are true to out, and returns their number.  out has room for `room` elements, which is
 * at least that number; the elements after the last copied one may be overwritten. */
size_t qmask_compress(size_t size, size_t n, const uint8_t *mask, const void *x, void *out, size_t room);
/* Replaces the true elements of x by the next of `room` values, and returns how many it has used. */
size_t qmask_expand(size_t size, size_t n, const uint8_t *mask, const void *values, size_t room, void *x);
/* Replaces the true elements of x by those of y at the same positions, or by the single element y. */
void qmask_blend(size_t size, size_t n, const uint8_t *mask, const void *y, bool single, void *x);

/* The same for processors with AVX2.  Compress and expand take elements of 4 or 8 bytes, and return the number of
 * elements of x that they have visited, with the number of moved ones in *moved; the caller moves the rest. */
size_t qmask_count_avx2(size_t n, const uint8_t *mask);
size_t qmask_compress_avx2(size_t size, size_t n, const uint8_t *mask, const void *x, void *out, size_t room,
                           size_t *moved);
size_t qmask_expand_avx2(size_t size, size_t n, const uint8_t *mask, const void *values, size_t room, void *x,
                         size_t *moved);
void qmask_blend_avx2(size_t size, size_t n, const uint8_t *mask, const void *y, bool single, void *x);
#endif
