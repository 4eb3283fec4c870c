/* interchange.h -- interchanges loops of serial code, so that the innermost one has independent iterations.
 *
 *     FOR j = a..b                         FOR j0 = a..b by LANES
 *       s = 0                                FOR l: s[l] = 0
 *       FOR k                                FOR k
 *         s = s + d[k,i]*d[k,j]      =>        FOR l: s[l] = s[l] + d[k,i]*d[k,j0+l]
 *       END                                  END
 *       c[i,j] = s                           FOR l: c[i,j0+l] = s[l]
 *     END                                  END
 *
 * Each iteration j still executes the same operations in the same order, so that the results have the same bits.  The
 * iterations of j must be independent: the lowering has proved that and has set KFLAG_REASSOC on the FOR
 * (loop_dependence.c).  Variables that each iteration sets first become arrays with an element for each lane.
 *
 * A loop is interchanged if the loops inside it only have counters with bounds that do not depend on j, if neighbouring
 * iterations access neighbouring elements or the same one, and if the inner loops could not be vectorized as well: they
 * accumulate, or access elements with a stride.  Few iterations run as before. */
#ifndef LANG_KERNEL_INTERCHANGE_H
#define LANG_KERNEL_INTERCHANGE_H
#include "lang/kernel/ir/kir.h"

/* Returns f itself if it has no such loop. */
const KFunc *kinterchange_loops(Ctx *c, Arena *a, const KFunc *f);
/* Returns, by instruction: it is in a loop that is interchanged. */
uint8_t *kinterchange_chosen(Arena *a, const KFunc *f);
#endif
