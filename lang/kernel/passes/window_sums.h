/* window_sums.h -- sums over windows get a sum of their own for each row of the window.
 *
 *     FOR m                                FOR m
 *       FOR n                                t = 0
 *         s += x[p+m, q+n]         =>        FOR n
 *       END                                    t += x[p+m, q+n]
 *     END                                    END
 *                                            s += t
 *                                          END
 *
 * Positions that are neighbours along the axis before the last one have all rows of their windows in common but one.
 * Where several of them are computed at once (emit_rows.c), equal sums are one: a window of 5x5 takes 24 additions, of
 * two, one below the other, 16 each, of four 12.  The order of a sum is free where it holds integers, which wrap, and
 * with fast math. */
#ifndef LANG_WINDOW_SUMS_H
#define LANG_WINDOW_SUMS_H
#include "lang/kernel/ir/kir.h"

/* f itself where it has no such sum. */
const KFunc *kwindowsums_regroup(Ctx *c, Arena *a, const KFunc *f);
#endif
