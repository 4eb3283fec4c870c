/* index_tests.h -- makes the index tests of an inner loop once, in front of it.
 *
 *     FOR c = n..w[i] by -1                ok = c - w[i] is inside for c = n and for c = w[i], and w[i] >= 0
 *       if c - w[i] is outside: BREAK      IF ok
 *       x[c] = max(x[c], x[c - w[i]])        FOR c = n..w[i] by -1, flag AHEAD
 *     END                              =>      x[c] = max(x[c], x[c - w[i]])
 *                                            END
 *                                          ELSE
 *                                            the loop as it was
 *                                          END
 *
 * The guard of a loop of the program makes tests that depend on its counters and parameters only.  This pass makes
 * those that depend on a value of an outer iteration, for example on an element.  A loop without tests has no early
 * exit, so that LLVM can vectorize it.
 *
 * An index that is tested must be a multiple of the counter plus a value that all iterations share.  The lowering has
 * proved that the launch tests whether arrays overlap (the flag of the FOR).  If the iterations are not known to be
 * independent, the loop must read each element before the iteration that stores it (KFLAG_AHEAD), which is part of the
 * condition if it depends on values.
 *
 * An integer that all iterations share and that takes part in the arithmetic is often exact in float32.  The condition
 * includes this, so that the pass float32 can compute in float32. */
#ifndef LANG_KERNEL_INDEX_TESTS_H
#define LANG_KERNEL_INDEX_TESTS_H
#include "lang/kernel/ir/kir.h"

/* Returns f itself if it has no such loop. */
const KFunc *kindextests_hoist(Ctx *c, Arena *a, const KFunc *f);
/* Returns, by instruction of f, whether it is in a loop that the pass changes. */
uint8_t *kindextests_chosen(Arena *a, const KFunc *f);
#endif
