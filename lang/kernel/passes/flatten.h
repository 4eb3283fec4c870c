/* flatten.h -- replaces short branches by selections (if-conversion).
 *
 *     IF c                          t = LOAD …
 *       SET n = LOAD …      =>      SET n = c ? t : n
 *     END
 *
 * LLVM's vectorizer does this for simple branches, but not for loads that it cannot prove to be in range, nor for
 * the switch that LLVM makes of `n == 3 || (n == 4 && …)`.  Here it is known which loads cannot fail.
 *
 * Positions may leave a loop in different iterations, as the `while` of a fractal or of an iteration to convergence
 * does.  Such a loop runs for a whole strip of positions until the last one has left it: the KIR instruction ANY
 * tests the strip. */
#ifndef LANG_KERNEL_FLATTEN_H
#define LANG_KERNEL_FLATTEN_H
#include "lang/kernel/ir/kir.h"

/* How an instruction is copied.
 *
 * A LOOP that positions leave in different iterations runs until the last of them has left it.  Its body is
 * computed for all positions, and SETs keep the old value for a position that has left. */
typedef enum {
    FLAT_NOT,
    FLAT_GOES,    /* an IF, ELSE or END that is removed: both branches are computed */
    FLAT_LEAVES,  /* a BREAK of a FLAT_LOCKSTEP loop */
    FLAT_LOCKSTEP /* a LOOP that runs for all positions until the last has left it, and its END */
} Flat;

/* Returns, by instruction, a Flat.  loops: loops may become FLAT_LOCKSTEP.  sure: a BOUND or INB that cannot fail.
 * fixed: the launch determines the value; a branch on it is left to LLVM, which moves it out of the loop. */
uint8_t *kflatten_choose(Arena *a, const KFunc *f, bool loops, const uint8_t *sure, bool (*fixed)(void *self, KRef r),
                         void *self);
#endif
