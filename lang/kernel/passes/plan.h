/* plan.h -- cuts the code of one position into pieces, so that each piece can run for many positions.
 *
 * A CPU runs the positions of a block one after another, but at a BARRIER all of them must arrive before any
 * continues.  So the kernel is cut at barriers (loop fission), and each piece gets its own loop over the positions:
 *
 *     a = x[pos]                     for each position: store a in its element of an array
 *     BARRIER
 *     FOR i in 0..n                  for i in 0..n:                    once for the block
 *       S[..] += a                       for each position: S[..] += a
 *       BARRIER                      …
 *
 * A loop or IF around a barrier runs once for the block ("common").  Its condition must be the same for all
 * positions:  either this is proved here, or the kernel is refused.  A value that one piece computes and another
 * uses is computed again if that is cheap, otherwise stored in an array with an element per position.
 *
 * The same cut makes vector code, because LLVM does not vectorize outer loops.  A FOR that neighbouring positions
 * share (`for j = 0..n-1` in a pairwise sum) runs around strips of 32 positions instead of inside each, and its
 * body becomes straight vector code.  No sum is reordered except those of atomic updates.  Atomic updates run one
 * by one, after the part that a strip can compute in vectors.  They are vectorized too if the positions of a strip
 * update different elements side by side and no other thread does so (sums of floats: emit_cpu.c), as in the
 * derivative of a stencil.  A private array that all positions index alike is stored element by element, each for
 * the whole strip; if all positions have the same contents, there is one array. */
#ifndef LANG_KERNEL_PLAN_H
#define LANG_KERNEL_PLAN_H
#include "lang/kernel/ir/kir.h"

typedef enum {
    KC_PIECE,  /* code in the loop over positions */
    KC_COMMON, /* once for all positions, before the loop of its piece */
    KC_CONTROL /* control flow around pieces, once for all positions */
} KPlanClass;

typedef enum { KH_HERE, KH_AGAIN /* computed again in each piece */, KH_KEPT } KPlanHome;

typedef struct {
    KRef first, last; /* the instructions [first, last) that are cut */
    uint8_t *cls;     /* by instruction: KPlanClass */
    uint8_t *cut;     /* by instruction: a new piece begins before it */
    uint8_t *home;    /* by instruction: KPlanHome of the value, LOCAL or LARRAY */
    uint8_t *lanes;   /* by LARRAY, in strips: not 0 if each position has its own */
    uint32_t *slot;   /* KH_KEPT: byte offset in the saved memory of a position; SHARED: byte offset in shared memory */
    uint32_t item_bytes;   /* bytes saved per position */
    uint32_t shared_bytes; /* bytes of all SHARED arrays */
    bool abreast;          /* positions of a strip access adjacent elements, and update different ones */
    bool chains;           /* positions of a strip read rows of their own; their chains of operations overlap */
    bool mortal;           /* a position may end in one piece and must be skipped in later ones */
    uint32_t alive;        /* if mortal: byte offset of the flag that the position still runs */
} KPlan;

/* Returns QS_EVALUE if positions may diverge around a barrier. */
qs_status kplan_block(Ctx *c, Arena *a, const KFunc *f, KPlan *out);
/* Returns, by instruction of f, which has barriers: all positions of a block execute it, with the same result. */
uint8_t *kplan_common(Ctx *c, Arena *a, const KFunc *f);
/* Returns, by instruction: positions that differ along the last axis only have different values; by LOOP or FOR: they
 * leave it in different iterations. */
uint8_t *kplan_varies(Ctx *c, Arena *a, const KFunc *f);
/* Returns whether neighbouring positions access adjacent elements, or the same one, by a LOAD or STORE. */
bool kplan_is_side_by_side(const KFunc *f, uint8_t *varies, KRef access);
/* Cuts [first, last) around the loops that positions along the last axis share; short ones of constant length only
 * if `all`.  Returns false if that is impossible or gains nothing. */
bool kplan_strip(Ctx *c, Arena *a, const KFunc *f, KRef first, KRef last, bool all, KPlan *out);
/* Returns true if the order of updates by this operator changes the result, because they round or saturate.  Then
 * one thread makes all of them, or each has a private copy (devices/private_copies.h). */
bool kplan_rounds(KAtomic op, qs_dtype elem);
int64_t kplan_iterations(const KFunc *f, KRef loop); /* iterations of a FOR; -1: not constant, or more than 1e9 */
/* Returns true for a FOR that is better unrolled: few iterations of a short body, nested loops included. */
bool kplan_unrolls(const KFunc *f, KRef loop);
bool kplan_is_small(const KFunc *f, KRef loop); /* the same for code that runs rarely */
/* Returns whether the LOCAL of the SET, in a FOR, is read before in the same iteration, and is no sum in any order. */
bool kplan_is_recurrence(const KFunc *f, KRef loop, KRef set);
/* Returns true if no access in [first, last) follows a store to possibly the same element, where different array
 * parameters do not overlap.  LLVM reorders accesses within an iteration of a loop that is declared independent. */
bool kplan_stores_last(const KFunc *f, KRef first, KRef last);
/* Returns true if positions that are neighbours along the second-to-last axis read the same elements, as in a
 * stencil, and [first, last) does little else and is short enough to be repeated `times` times in straight code. */
bool kplan_rows_share(const KFunc *f, KRef first, KRef last, int times);
#endif
