/* window_sums.h -- splits the sum over a window into one sum per row.
 *
 *     FOR m                                FOR m
 *       FOR n                                t = 0
 *         s += x[p+m, q+n]         =>        FOR n
 *       END                                    t += x[p+m, q+n]
 *     END                                    END
 *                                            s += t
 *                                          END
 *
 * The windows of two neighbours along the second-to-last axis have all rows but one in common.  If several positions
 * are computed together (emit_rows.c), equal sums are computed once.  A window of 5x5 takes 24 additions; two
 * windows, one below the other, take 16 each, and four take 12 each.  Sums may be reordered if they are integers,
 * which wrap, or with fast math. */
#ifndef LANG_WINDOW_SUMS_H
#define LANG_WINDOW_SUMS_H
#include "lang/kernel/ir/kir.h"

/* Returns f itself if it has no such sum. */
const KFunc *kwindowsums_regroup(Ctx *c, Arena *a, const KFunc *f);
#endif
