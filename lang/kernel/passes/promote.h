/* promote.h -- keeps an element that all iterations of a loop change in a variable.
 *
 *     FOR j = a..b                         IF a <= b
 *       q[i] = q[i] + A[i,j]*p[j]            s = q[i]
 *     END                            =>      FOR j = a..b
 *                                              s = s + A[i,j]*p[j]
 *                                            END
 *                                            q[i] = s
 *                                          END
 *
 * The variable has the type of the element, so that each iteration rounds as before and the bits stay the same.  With
 * fast math LLVM may regroup the sum.  The lowering has proved that the body accesses the element by no other index
 * (KFLAG_FIXED, loop_dependence.c), and the launch has tested that arrays do not overlap. */
#ifndef LANG_KERNEL_PROMOTE_H
#define LANG_KERNEL_PROMOTE_H
#include "lang/kernel/ir/kir.h"

/* Returns f itself if it has no such loop. */
const KFunc *kpromote_elements(Ctx *c, Arena *a, const KFunc *f);
#endif
