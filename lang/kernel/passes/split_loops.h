/* split_loops.h -- splits an inner loop at the iteration that stores an element which all iterations read.
 *
 *     FOR j = a..b                                      j = a
 *       D[i,j] = min(D[i,j], D[i,k] + D[k,j])           LOOP while j <= b
 *     END                                        =>       e = j < k ? min(b, k-1) : j == k ? k : b
 *                                                         v = D[i,k]
 *                                                         FOR j = j..e
 *                                                           D[i,j] = min(D[i,j], v + D[k,j])
 *                                                         END
 *                                                         j = e + 1
 *                                                       END
 *
 * Every iteration reads the same value as before, so the bits stay the same, and LLVM can vectorize the parts.  The
 * body stores into one array only, at one index that moves with the counter. */
#ifndef LANG_KERNEL_SPLIT_LOOPS_H
#define LANG_KERNEL_SPLIT_LOOPS_H
#include "lang/kernel/ir/kir.h"

/* Returns f itself if it has no such loop. */
const KFunc *ksplit_loops(Ctx *c, Arena *a, const KFunc *f);
#endif
