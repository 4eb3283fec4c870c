/* flatten.h -- branches that are cheaper computed on both sides than decided.
 *
 *     IF c                          t = LOAD …
 *       SET n = LOAD …      =>      SET n = c ? t : n
 *     END
 *
 * LLVM's vectoriser does so itself for simple branches, but gives up on loads that it cannot prove to be in range, and
 * on the switch that LLVM makes of `n == 3 || (n == 4 && …)`.  Here it is known which loads cannot fail.
 *
 * A loop that positions leave at different turns, as the `while` of a fractal or an iteration to convergence, is turned
 * for a whole strip of positions until the last one has left it: KIR's ANY asks the strip. */
#ifndef LANG_KERNEL_FLATTEN_H
#define LANG_KERNEL_FLATTEN_H
#include "lang/kernel/ir/kir.h"

/* How an instruction is copied.
 *
 * A LOOP that positions leave at different turns is turned for all of them until the last one has left: its body is
 * computed for all, and SETs keep the old value where a position is not in the loop any more. */
typedef enum {
    FLAT_NOT,
    FLAT_GOES,   /* an IF, ELSE or END: what is between them is computed anyway */
    FLAT_LEAVES, /* a BREAK of a loop that all turn */
    FLAT_TURNS   /* such a LOOP, and its END */
} Flat;

/* By instruction: Flat.  loops: loops may be turned for all; sure: a BOUND or INB that cannot fail; fixed: the launch
 * determines the value, so that its branch is better left to LLVM, which takes it out of the loop. */
uint8_t *kflatten_choose(Arena *a, const KFunc *f, bool loops, const uint8_t *sure, bool (*fixed)(void *self, KRef r),
                         void *self);
#endif
