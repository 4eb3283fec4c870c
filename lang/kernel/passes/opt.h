/* opt.h -- passes from KIR to KIR.
 *
 *     opt.c       interior and border: where no index test can fail, a copy of the kernel without tests runs; a third
 *                 one for the ends of rows, which reads from a copy of what is around them
 *     window_sums.c   rows of a window get sums of their own, which neighbouring positions share
 *     flatten.c   short branches of that copy become selections: vectors have no branches
 *     collapse.c  the two last axes become one loop, where memory cannot tell them apart
 *     narrow.c    small ints in few bits, so that more of them fit into a vector
 *     plan.c      a kernel cut into pieces, each of which runs for a whole block or strip of positions
 *     legal.c     instructions that a target lacks become others that it has
 *     pipeline.c  the passes of each target, in order
 *
 * Each pass takes a verified KFunc and returns another one, or a table about it.  pipeline.c lists the passes of each
 * target in order. */
#ifndef LANG_KERNEL_OPT_H
#define LANG_KERNEL_OPT_H
#include "lang/kernel/passes/collapse.h"

/* What kopt_interior made of a kernel:
 *
 *     prologue          the box lo … hi-1, from parameters and extents only
 *     IF ok and lo <= POS < hi
 *       fast            the kernel without the index tests that hold everywhere in the box
 *     ELSE
 *       full            the kernel
 *     END
 *
 * It is KIR like any other, but a backend with loops over positions cuts these loops at the box instead of testing.
 * Without tests there is no box, and `full` is empty unless `fast` is for strips only.
 *
 * In `fast` the loops over the last two axes may be one (collapse.h), for launches where in each pair the outer
 * number is the inner one times the extent of the last axis. */
typedef struct {
    bool given;
    KRef lo[QS_MAX_RANK], hi[QS_MAX_RANK]; /* int64, by axis; 0: no bound on this axis */
    KRef ok;                               /* bool: the box is valid for this launch at all; 0: always */
} KBox;

/* The ends of rows, of a kernel over two axes that reads arrays of two dimensions within constant distances of its
 * position.  What EDGE_ROWS rows of EDGE_COLUMNS positions read is copied to a pad first, elements outside of the array
 * as the modifier says; `code` is the kernel, which reads pads without a test.  What they add to an array is summed up
 * in a pad, too, which begins with zeros and is added to the array afterwards.
 *
 *          lo[1]            hi[1]
 *     lo[0]  ┌──────────────┐         element (row, column) of the array has number row*width + column, less that of
 *            │  ┌────────┐  │         the pad's first one
 *            │  └────────┘  │
 *     hi[0]  └──────────────┘         */
enum { EDGE_COLUMNS = 16, EDGE_ROWS = 16, EDGE_PADS = 4, EDGE_ZERO = -1 };
typedef struct {
    int param;            /* of which array */
    int64_t lo[2], hi[2]; /* how far from itself a position reads, along each axis */
    int mode;             /* AccessMode of indices that are outside; EDGE_ZERO: what is outside is 0 */
    bool sums;            /* positions add to the array, and do nothing else with it */
    KRef extent[2];       /* what indices are mapped into, as `mode` says; EDGE_ZERO: 0 */
    KRef fill, fill_end;  /* makes `value`: what POS reads, inside or outside */
    KRef value;           /* sums: it is read from the pad at POS, and what follows it adds it to the array */
} KPad;
static inline int kpad_extent(const KPad *p, int axis) {
    return (axis ? EDGE_COLUMNS : EDGE_ROWS) + (int)(p->hi[axis] - p->lo[axis]);
}

typedef struct {
    int npads; /* 0: there is no such copy */
    KPad pad[EDGE_PADS];
    KBox box; /* where the other tests hold, which `code` has not either */
    KRef code, code_end;
} KEdge;

typedef struct {
    KFunc *func;
    KBox box;                            /* where no test fails */
    KBox near;                           /* where every mirrored or circular index is at most one period away */
    KRef fast, fast_end, full, full_end; /* ranges of instructions */
    KEdge edge;
    bool turns;        /* `fast` has loops that all positions turn (flatten.h): for strips only */
    KRef prologue_end; /* the prologue begins at 1 */
    int ncollapse;     /* 0: the axes are different */
    struct {
        KRef outer, inner;
    } collapse[COLLAPSE_PAIRS];
} KSplit;

/* Splits a launch into an interior without bounds tests and a border with them.  false: there is nothing to gain.
 * rows: positions run in rows along the last axis, so that an index map of another axis costs once per row: such maps
 * stay where that makes the interior larger. */
bool kopt_interior(Ctx *c, Arena *arena, const KFunc *f, bool rows, KSplit *out);
#endif
