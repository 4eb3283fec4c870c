/* rounded_sums.h -- computes sums that each iteration rounds to float32 in vectors, with the same bits.
 *
 *     FOR j = a..b                         LOOP over blocks of j
 *       s = float32(s + A[i,j]*x[j])         FOR j in the block
 *     END                            =>        p = A[i,j]*x[j]; q = p rounded to the spacing of s
 *                                              total += q; size += |q|
 *                                            END
 *                                            IF the block is regular: s += total
 *                                            ELSE FOR j in a part of the block: as before
 *                                          END
 *                                          FOR the remaining j: as before
 *
 * The numbers of float32 between two powers of two have one spacing.  While s stays between them, rounding s + p is
 * adding q, because s is a multiple of the spacing.  Sums of such multiples are exact in float64, so that they may be
 * regrouped and put into vectors.  A block is regular if s cannot leave its interval in any order of the terms and no p
 * is so close to the middle of two multiples that rounding s + p to float64 first could matter (then size is
 * infinite).  Values that are not finite, zero or subnormal are never regular.
 *
 * Without the pass each iteration waits for an addition and two conversions of the one before. */
#ifndef LANG_KERNEL_ROUNDED_SUMS_H
#define LANG_KERNEL_ROUNDED_SUMS_H
#include "lang/kernel/ir/kir.h"

/* Returns f itself if it has no such loop. */
const KFunc *kroundedsums_block(Ctx *c, Arena *a, const KFunc *f);
#endif
