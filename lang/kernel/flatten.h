/* flatten.h -- branches that are cheaper computed on both sides than decided.
 *
 *     IF c                          t = LOAD …
 *       SET n = LOAD …      =>      SET n = c ? t : n
 *     END
 *
 * LLVM's vectoriser does so itself for simple branches, but gives up on loads that it cannot prove to be in range, and
 * on the switch that LLVM makes of `n == 3 || (n == 4 && …)`.  Here it is known which loads cannot fail. */
#ifndef LANG_KERNEL_FLATTEN_H
#define LANG_KERNEL_FLATTEN_H
#include "lang/kernel/kir.h"

/* By instruction: an IF, ELSE or END that goes.  sure: a BOUND or INB that cannot fail; fixed: the launch determines the
 * value, so that its branch is better left to LLVM, which takes it out of the loop. */
uint8_t *kflatten_choose(Arena *a, const KFunc *f, const uint8_t *sure, bool (*fixed)(void *self, KRef r), void *self);
#endif
