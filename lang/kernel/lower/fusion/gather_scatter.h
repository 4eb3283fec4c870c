/* gather_scatter.h -- elements as they are from one place to another, in arrays that a device holds, as a kernel.
 *
 * A position of the launch is the place of an element: it moves x[at] to y[at], which both lie as they like.
 * AxisIndex a
 * dimension of which a list is given, the place on one side is the one that the list has there; where that is below 0
 * nothing is: a 0 comes from there, and what goes there is lost.  With a mask, y changes where the mask is not 0. */
#ifndef LANG_GATHER_SCATTER_H
#define LANG_GATHER_SCATTER_H
#include "lang/kernel/ir/kir.h"

typedef struct {
    uint8_t from, to; /* qs_dtype; two of the same size that are integers: bits are moved */
    uint8_t rank;
    uint8_t listed;       /* bit d: there is a list for dimension d … */
    bool into;            /* … of places in y, otherwise in x */
    bool from_one;        /* places in lists are counted from 1 */
    uint8_t masked, mask; /* with a mask, of that type */
} CarryKey;

/* Parameters: x; y; the mask, if there is one; a list of int64 for each dimension that has one. */
qs_status kgatherscatter_build(Ctx *c, Arena *arena, const CarryKey *k, KFunc **out);
#endif
