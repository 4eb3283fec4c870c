/* wavefront.h -- runs rows of a loop nest together whose elements depend on elements to the left and above.
 *
 *     FOR i = a..b                                  FOR i = a..b by ROWS
 *       FOR j = c..d                                  FOR j = c..d
 *         A[i,j] = f(A[i,j-1], A[i-1,j+1])    =>        A[i,j] = f(A[i,j-1], A[i-1,j+1])
 *       END                                             A[i+1,j-2] = f(A[i+1,j-3], A[i,j-1])
 *     END                                               A[i+2,j-4] = …
 *                                                     END
 *                                                   END
 *                                                   FOR the remaining i: as before
 *
 * Each iteration of the inner loop waits for the element that the one before has stored.  The rows follow each other at
 * a distance that keeps every pair of dependent iterations in order, so the processor computes them at the same time
 * and the results have the same bits.  The iterations at the ends of the rows run before and after the common loop. */
#ifndef LANG_KERNEL_WAVEFRONT_H
#define LANG_KERNEL_WAVEFRONT_H
#include "lang/kernel/ir/kir.h"

/* Returns f itself if it has no such loops. */
const KFunc *kwavefront_rows(Ctx *c, Arena *a, const KFunc *f);
#endif
