/* narrow.h -- finds integers that fit into fewer bits.
 *
 * Kernels compute in 32 bits.  If the operands are bytes or comparisons and the results are small, fewer bits
 * suffice, and a vector holds more elements:
 *
 *     n = 0                            0
 *     FOR 3 iterations, FOR 3 iterations
 *       n += x[…]       uint8          0 … 2295: 16 bits
 *
 * Indices are computed in 64 bits, for which GPUs have no arithmetic.  In a small kernel (KIR_SMALL) most need 32:
 *
 *     pos - 2             -2 … 2^28-3    BOUND and INB of it also need only 32 bits
 *     row*width + column  any            the number of an element fits; other values are not used */
#ifndef LANG_KERNEL_NARROW_H
#define LANG_KERNEL_NARROW_H
#include "lang/kernel/ir/kir.h"

/* Returns, by instruction, 8 or 16 if its value and its operands fit into a signed integer of that many bits; for a
 * LOCAL, if all its values do; else 0. */
uint8_t *knarrow_bits(Arena *a, const KFunc *f);
/* Returns, by instruction of a small kernel, 32 for an int64 that fits into an int32; else 0. */
uint8_t *knarrow_indices(Arena *a, const KFunc *f);
#endif
