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

/* Loop-invariant values: pure functions of values before the FOR `loop`, of constants and of counters of loops in its
 * body.  Each instruction before `end` is looked at once.  Loop 0 stands for the launch: its invariants depend neither
 * on a position nor on a counter. */
typedef struct {
    Arena *arena;
    const KFunc *f;
    KRef loop, end, known; /* known: `fixed` is set for the instructions before this one */
    uint8_t *fixed;        /* by instruction from `loop` on; NULL: no value has been looked at */
} Invariants;
bool kaffine_is_invariant(Invariants *v, KRef r); /* r < v->end */
/* Finds the factor of the counter of v->loop in an index that is used in its body; false: the index depends on the
 * counter otherwise, or on memory. */
bool kaffine_stride(Invariants *v, KRef index, int64_t *factor);
/* Returns true if a and b are never equal: they differ by a constant other than 0. */
bool kaffine_differ(const Affine *a, const Affine *b);
/* Adds a PURE instruction as kir_fold does, but also folds sums and extremes whose operands are equal up to a constant.
 * int64 values must not wrap. */
KRef kaffine_fold(KFunc *f, KMake i);
/* Adds a FOR and returns its counter.  If its bounds differ by a constant, the FOR counts from 0, so that it has a
 * known length.  The bounds must not wrap. */
KRef kaffine_for(KFunc *f, KMake i);
KRef kaffine_leader(const KFunc *f, KRef r); /* returns the first instruction that certainly has the value of r */
#endif
