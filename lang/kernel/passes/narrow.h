/* narrow.h -- integers that fit into fewer bits.
 *
 * Kernels compute in 32 bits.  Where the sources are bytes, or comparisons, and the results are small, fewer bits hold
 * them, and a vector holds more of them:
 *
 *     n = 0                            0
 *     for … 3 turns, for … 3 turns
 *       n += x[…]       uint8          0 … 2295: 16 bits
 *
 * Indices are computed in 64 bits, of which a GPU has no arithmetic.  In a small kernel (KIR_SMALL) most need 32:
 *
 *     pos - 2             -2 … 2^28-3    BOUND, INB with the same: 32 bits
 *     row*width + column  any            an element's number fits, or nobody asks for the element */
#ifndef LANG_KERNEL_NARROW_H
#define LANG_KERNEL_NARROW_H
#include "lang/kernel/ir/kir.h"

/* By instruction: 8 or 16, when its value and its operands fit into a signed number of so many bits; a LOCAL: when all
 * it ever holds does; else 0. */
uint8_t *knarrow_bits(Arena *a, const KFunc *f);
/* Of a small kernel: 32 for an int64 that fits into an int32 number; else 0. */
uint8_t *knarrow_indices(Arena *a, const KFunc *f);
#endif
