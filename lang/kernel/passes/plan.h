/* plan.h -- how the work of one position is cut so that positions can run side by side in loops.
 *
 * A cpu runs the positions of a block one after another, but BARRIER wants all of them to arrive before any goes on.
 * So the kernel is cut at barriers ("loop fission"), and each piece gets its own loop over the positions:
 *
 *     a = x[pos]                     for each position: keep a in its place of an array
 *     BARRIER
 *     FOR i in 0..n                  for i in 0..n:                    once for the block
 *       S[..] += a                       for each position: S[..] += a
 *       BARRIER                      …
 *
 * A loop or IF around a barrier runs once for the block ("common"); what decides about it must be the same for all
 * positions, which is proved here or refused.  Values that one piece makes and another uses are computed again where
 * that is cheap, else kept in an array with a place per position.
 *
 * The same cut serves speed, because LLVM never vectorises an outer loop.  A FOR that neighbouring positions share
 * (`for j = 0..n-1` in a pair-wise sum) runs around strips of 32 positions instead of inside each, and what is in it
 * becomes straight vector code; no sum is reordered but those of atomic updates.  These come one by one, after what a
 * strip can compute in vectors; but where neighbours update neighbours, as where a stencil is differentiated, and no
 * other thread does (sums of floats: emit_cpu.c), they are vectors, too.  Private arrays that all positions index alike
 * lie element by element, each for the whole strip; those in which all have the same are there once. */
#ifndef LANG_KERNEL_PLAN_H
#define LANG_KERNEL_PLAN_H
#include "lang/kernel/ir/kir.h"

typedef enum {
    KC_PIECE,  /* in the loop over positions */
    KC_COMMON, /* once for all positions, before the loop of its piece */
    KC_CONTROL /* structure around pieces, once for all positions */
} KPlanClass;

typedef enum { KH_HERE, KH_AGAIN /* computed again in each piece */, KH_KEPT } KPlanHome;

typedef struct {
    KRef first, last;      /* the instructions [first, last) that are cut */
    uint8_t *cls;          /* by instruction: KPlanClass */
    uint8_t *cut;          /* a new piece begins before it */
    uint8_t *home;         /* KPlanHome of the value, LOCAL or LARRAY */
    uint8_t *lanes;        /* LARRAY of a strip: not 0 when each position has one of its own */
    uint32_t *slot;        /* KH_KEPT: byte offset in the kept memory of one position */
    uint32_t item_bytes;   /* kept per position */
    uint32_t shared_bytes; /* SHARED arrays; slot says where */
    bool abreast;          /* positions of a strip touch elements side by side, its atomic updates different ones */
    bool mortal;           /* a position may end in one piece and must be skipped in the later ones */
    uint32_t alive;        /* then: slot of its byte */
} KPlan;

/* QS_EVALUE when a barrier stands where positions part. */
qs_status kplan_block(Ctx *c, Arena *a, const KFunc *f, KPlan *out);
/* By instruction of f, which waits at barriers: all positions of a block come to it, and find the same. */
uint8_t *kplan_common(Ctx *c, Arena *a, const KFunc *f);
/* Cuts [first, last) around the loops that positions along the last axis share, short ones of constant length only if
 * `all`; false: nothing to gain or impossible. */
bool kplan_strip(Ctx *c, Arena *a, const KFunc *f, KRef first, KRef last, bool all, KPlan *out);
/* Updates by this operator leave other bits when they come in another order: they round, or saturate.  Then one thread
 * makes all of them, or each has a copy of its own (devices/private_copies.h). */
bool kplan_rounds(KAtomic op, qs_dtype elem);
int64_t kplan_turns(const KFunc *f, KRef loop); /* of a FOR; -1: not constant */
/* A FOR of few turns with a short body, nested ones included: better unrolled than looped. */
bool kplan_unrolls(const KFunc *f, KRef loop);
bool kplan_is_small(const KFunc *f, KRef loop); /* the same where code runs rarely */
/* Positions that are neighbours along the axis before the last one read the same elements, as those of a stencil do;
 * [first, last) does little else, and is short enough to stand `times` times in straight code. */
bool kplan_rows_share(const KFunc *f, KRef first, KRef last, int times);
#endif
