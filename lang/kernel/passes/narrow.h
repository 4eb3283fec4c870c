/* narrow.h -- ints that fit into fewer bits.
 *
 * Kernels compute in 32 bits.  Where the sources are bytes, or comparisons, and the results are small, fewer bits hold
 * them, and a vector holds more of them:
 *
 *     n = 0                            0
 *     for … 3 turns, for … 3 turns
 *       n += x[…]       uint8          0 … 2295: 16 bits
 */
#ifndef LANG_KERNEL_NARROW_H
#define LANG_KERNEL_NARROW_H
#include "lang/kernel/ir/kir.h"

/* By instruction: 8 or 16, when its value and its operands fit into a signed number of so many bits; a LOCAL: when all
 * it ever holds does; else 0. */
uint8_t *knarrow_bits(Arena *a, const KFunc *f);
#endif
