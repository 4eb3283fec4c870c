/* axis_kernel.h -- builds kernels for reductions and scans along one axis of a device array.
 *
 *     side by side   position (p, r) takes elements p, p+apart … of result r, and      neighbors in r are
 *                    stores y[p, r]                                                    adjacent in memory
 *     in groups      position (r, p) takes the same elements; each group merges        neighbors in p are
 *                    the values of its positions and stores y[r, group]                adjacent in memory
 *
 * If y has several partial values for each result, a second kernel reduces them to one, and so on.  The order of the
 * operations depends only on extents and layout.  The lane types are those of the host's loops (vm/array/reduce.c);
 * truth values are int32.
 *
 *     pieces         position (p, r) takes `apart` consecutive elements, from element p*apart of result r on.
 *                    It stores their total in y[p, r], or (running) each running result in the corresponding
 *                    element of y.  To these it adds the totals of what precedes: `before` has the running totals
 *                    of the pieces within stretches of `per` pieces, `far` the running totals of the stretches. */
#ifndef LANG_AXIS_KERNEL_H
#define LANG_AXIS_KERNEL_H
#include "lang/kernel/ir/kir.h"
#include "vm/base/reduction.h"

typedef struct {
    const char *name;     /* name of the kernel */
    uint8_t map, combine; /* ReduceMap, Combine */
    /* qs_dtype of the elements of x, of the merged values (int32 for truth values), and of the elements of y */
    uint8_t from, lane, to;
    uint8_t rank;       /* rank of the results */
    uint16_t group;     /* positions per group; 0: side by side */
    bool centred;       /* subtracts a float64 number, one per result, from each element first */
    bool divided, root; /* the result is divided by a number, and then its square root is taken */
    bool logarithm;     /* the centre is added to the logarithm of the result */
    /* MAP_INDEX merges element indices: the index of an element that equals the centre of its result (of the type of
     * x), and the largest int64 for others, which the last stage replaces by 0 (found). */
    bool found;
    bool pieces, running;
    uint8_t before; /* 1: has the parameter `before`; 2: `far`, too */
} AlongKey;
_Static_assert(sizeof(AlongKey) == sizeof(char *) + 16, "keys are compared by their bytes");

/* Parameters: x, with the dimensions of the results followed by the reduced axis; `centres` if centred, logarithm or
 * MAP_INDEX; y; apart (int64); by (float64) if divided; before and far, if present; per (int64) if `before` is
 * present. */
qs_status kaxis_build(Ctx *c, Arena *arena, const AlongKey *k, KFunc **out);
#endif
