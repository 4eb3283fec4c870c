/* affine.h -- expresses indices as affine sums, so that passes can compare memory accesses. */
#ifndef LANG_KERNEL_AFFINE_H
#define LANG_KERNEL_AFFINE_H
#include "lang/kernel/ir/kir.h"

enum { AFFINE_TERMS = 12 };

/* constant + Σ factor · value of term.  The terms are sorted and distinct, and no factor is 0.  Arithmetic wraps at
 * 64 bits as in KIR, so equal sums mean equal values. */
typedef struct {
    int n;
    int64_t constant;
    struct {
        KRef ref;
        int64_t factor;
    } term[AFFINE_TERMS];
} Affine;

/* Expresses the int64 value r as a sum; false: r is not int64, or it is too complex. */
bool kaffine_of(const KFunc *f, KRef r, Affine *out);
bool kaffine_add(Affine *a, const Affine *b, int64_t factor); /* a += factor * b; false: too many terms */
/* Finds the factor of a FOR's counter in an index that is used in its body; false: the index depends on the counter
 * otherwise, or on memory. */
bool kaffine_stride(const KFunc *f, KRef index, KRef counter, int64_t *factor);
/* Returns true if a and b are never equal: they differ by a constant other than 0. */
bool kaffine_differ(const Affine *a, const Affine *b);
KRef kaffine_leader(const KFunc *f, KRef r); /* returns the first instruction that certainly has the value of r */
#endif
