/* collapse.h -- two axes of a launch that memory cannot tell apart.
 *
 * Images have a short last axis, the colours: a loop of three turns cannot be vectorised.  But where every index
 * depends on the last two positions only as  s·(p·n + q),  with n the extent of the last axis, the loops over p
 * and q are one loop over p·n + q. */
#ifndef LANG_KERNEL_COLLAPSE_H
#define LANG_KERNEL_COLLAPSE_H
#include "lang/kernel/ir/kir.h"

enum { POLY_TERMS = 16, POLY_FACTORS = 6, COLLAPSE_PAIRS = 8 };

typedef struct {
    int64_t number;
    int n;
    KRef factor[POLY_FACTORS];
} Monomial; /* factors in order; equal values, one KRef */
typedef struct {
    Monomial outer, inner;
} CollapsePair; /* factors of p and q in one index: outer must be inner · extent of q */

/* transparent: by instruction; a BOUND that is its index, an INB that is true.  false: the axes cannot become one. */
bool kcollapse_pairs(Arena *a, const KFunc *f, const uint8_t *transparent, CollapsePair *out, int *n);
#endif
