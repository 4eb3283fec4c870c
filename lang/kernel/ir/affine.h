/* affine.h -- indices as sums: what passes need to know about where memory is touched. */
#ifndef LANG_KERNEL_AFFINE_H
#define LANG_KERNEL_AFFINE_H
#include "lang/kernel/ir/kir.h"

enum { AFFINE_TERMS = 12 };

/* constant + Σ factor · value of term; the terms are ordered and different, factors are not 0.  Arithmetic wraps
 * at 64 bits as KIR's does, so equal forms are equal values. */
typedef struct {
    int n;
    int64_t constant;
    struct {
        KRef ref;
        int64_t factor;
    } term[AFFINE_TERMS];
} Affine;

/* The int64 value r. */
bool kaffine_of(const KFunc *f, KRef r, Affine *out);
bool kaffine_add(Affine *a, const Affine *b, int64_t factor); /* a += factor * b; false: too many terms */
/* a and b can never be equal: they differ by a constant that is not 0. */
bool kaffine_differ(const Affine *a, const Affine *b);
KRef kaffine_leader(const KFunc *f, KRef r); /* the first instruction that certainly has the value of r */
#endif
