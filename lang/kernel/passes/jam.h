/* jam.h -- runs several iterations of an outer loop together (unroll and jam).
 *
 *     FOR i = a..b                         FOR i = a..b by LANES
 *       s = q[i]                             s0 = q[i]; s1 = q[i+1]; …
 *       FOR j                                FOR j
 *         s = s + A[i,j]*p[j]        =>        s0 = s0 + A[i,j]*p[j]; s1 = s1 + A[i+1,j]*p[j]; …
 *       END                                  END
 *       q[i] = s                             q[i] = s0; q[i+1] = s1; …
 *     END                                  END
 *                                          FOR the remaining i: as before
 *
 * An inner loop that computes a variable from its last value waits for each operation.  The chains of several
 * iterations of the outer loop do not depend on each other, so the processor computes them at the same time, and LLVM
 * may put them into one vector.  Each chain keeps its order, so the results have the same bits.
 *
 * The outer loop is a FOR, or the positions of a launch along its last axis.  Iterations of a FOR must be independent,
 * or change the same elements in the same order before and after. */
#ifndef LANG_KERNEL_JAM_H
#define LANG_KERNEL_JAM_H
#include "lang/kernel/ir/kir.h"

/* lanes > 0: the instructions before `end` compute so many positions, which begin at POS; the others compute one. */
typedef struct {
    int lanes;
    KRef end;
} KJam;

/* Returns f itself if nothing is gained. */
const KFunc *kjam_loops(Ctx *c, Arena *a, const KFunc *f);
const KFunc *kjam_positions(Ctx *c, Arena *a, const KFunc *f, KJam *out);
#endif
