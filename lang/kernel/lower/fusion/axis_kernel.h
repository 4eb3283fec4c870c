/* axis_kernel.h -- sums and their like of arrays that a device holds, as a kernel: one result for each place across the
 * dimension that is walked along.
 *
 *     side by side   position (p, r) takes the elements p, p+apart … of result r     y[p, r]      neighbours of r are
 *     in groups      position (r, p) of a group of positions does, and the group     y[r, group]  neighbours of p are
 *                    merges what its positions have
 *
 * Where y has several parts of each result, a second kernel makes one of them, and so on.  What is added to what
 * depends on extents and layout alone; the lane types are those of the host's loops (vm/array/reduce.c), truths are
 * int32.
 *
 *     pieces         position (p, r) takes `apart` elements in their order, from element p*apart of result r on.  It
 *                    writes what they make together to y[p, r], or each result on the way (running) to y as it lies.
 *                    To these it adds what is before them: `before` has the running results of the pieces within
 *                    stretches of `per` pieces, `far` those of the stretches. */
#ifndef LANG_AXIS_KERNEL_H
#define LANG_AXIS_KERNEL_H
#include "lang/kernel/ir/kir.h"

typedef enum { ALONG_ADD, ALONG_MUL, ALONG_MIN, ALONG_MAX, ALONG_OR, ALONG_AND } AlongOp;

typedef struct {
    const char *name;       /* of the kernel */
    uint8_t op;             /* AlongOp */
    uint8_t from, lane, to; /* qs_dtype of elements of x, of what is merged (int32 of truths), of elements of y */
    uint8_t rank;           /* of the results */
    uint16_t group;         /* positions of a group; 0: side by side */
    bool squares;           /* of the elements */
    bool centred;           /* from each element a number of its result, of float64, is taken first */
    bool divided, root;     /* the result is divided by a number, and then its root is taken */
    bool places;            /* numbers of elements are merged: of those that equal the centre of their result, which is
                              of the type of x; of others the largest number … */
    bool found;             /* … which the last stage makes 0 */
    bool pieces, running;
    uint8_t before; /* 1: before; 2: far, too */
} AlongKey;

/* Parameters: x with the dimensions of the results and then the one that is walked along; `centres` if centred or
 * places; y; apart (int64); by (float64) if divided; before, far and per (int64) if they are. */
qs_status kaxis_build(Ctx *c, Arena *arena, const AlongKey *k, KFunc **out);
#endif
