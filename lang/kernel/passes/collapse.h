/* collapse.h -- merges the last two axes of a launch into one loop.
 *
 * Images have a short last axis, the colour channels: a loop of three iterations cannot be vectorized.  But if every
 * index depends on the last two positions p and q only as  s·(p·n + q),  where n is the extent of the last axis,
 * the loops over p and q can become one loop over p·n + q. */
#ifndef LANG_KERNEL_COLLAPSE_H
#define LANG_KERNEL_COLLAPSE_H
#include "lang/kernel/ir/kir.h"

enum { POLY_TERMS = 16, POLY_FACTORS = 6, COLLAPSE_PAIRS = 8 };

typedef struct {
    int64_t number;
    int n;
    KRef factor[POLY_FACTORS];
} Monomial; /* a number times factors, which are sorted; equal values have the same KRef */
typedef struct {
    Monomial outer, inner;
} CollapsePair; /* the factors of p and q in one index; the launch must satisfy outer = inner · extent of q */

/* Finds the conditions under which the axes can be merged; false: they cannot.  transparent: by instruction: a
 * BOUND whose value is its index, or an INB that is true. */
bool kcollapse_pairs(Arena *a, const KFunc *f, const uint8_t *transparent, CollapsePair *out, int *n);
#endif
