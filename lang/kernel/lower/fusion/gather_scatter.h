/* gather_scatter.h -- builds kernels that copy elements between device arrays: gather, scatter, masked copy.
 *
 * Each position of the launch is the index of an element: it copies x[at] to y[at]; both arrays may have any strides.
 * For a dimension with a list, the index on one side is the entry of the list.  If the entry is negative, the element
 * does not exist: a gather yields 0, and a scatter drops the value.  With a mask, only elements of y with a nonzero
 * mask are changed. */
#ifndef LANG_GATHER_SCATTER_H
#define LANG_GATHER_SCATTER_H
#include "lang/kernel/ir/kir.h"

typedef struct {
    uint8_t from, to; /* qs_dtype; two integer types of the same size: the bits are copied */
    uint8_t rank;
    uint8_t listed;       /* bit d: dimension d has a list … */
    bool into;            /* … of indices into y (scatter); otherwise into x (gather) */
    bool from_one;        /* list entries count from 1 */
    uint8_t masked, mask; /* whether there is a mask, and its type */
} CarryKey;
_Static_assert(sizeof(CarryKey) == 8, "keys are compared by their bytes");

/* Parameters: x; y; the mask, if there is one; an int64 list for each dimension that has one. */
qs_status kgatherscatter_build(Ctx *c, Arena *arena, const CarryKey *k, KFunc **out);
#endif
