/* opt.h -- declares kopt_interior, which splits a kernel into interior, border and edges: a copy of the kernel without
 * index tests runs where none can fail; another copy runs at the ends of rows and reads from a copy of the elements
 * around them. */
#include "lang/kernel/passes/passes.h"
#ifndef LANG_KERNEL_OPT_H
#define LANG_KERNEL_OPT_H

/* A kernel as kopt_interior transforms it:
 *
 *     prologue          the box lo … hi-1, from parameters and extents only
 *     IF ok and lo <= POS < hi
 *       fast            the kernel without the index tests that hold everywhere in the box
 *     ELSE
 *       full            the kernel
 *     END
 *
 * This is ordinary KIR, but a backend with loops over positions splits these loops at the box instead of testing.
 * Without tests there is no box, and `full` is empty unless `fast` is for strips only.
 *
 * In `fast` the loops over the last two axes may be merged (collapse.c), in launches where the outer number of each
 * pair is the inner one times the extent of the last axis. */
typedef struct {
    bool given;
    KRef lo[QS_MAX_RANK], hi[QS_MAX_RANK]; /* int64, by axis; 0: no bound on this axis */
    KRef ok;                               /* bool: the box is valid for this launch; 0: always */
} KBox;

/* Code for the ends of rows, in a kernel with two axes that reads two-dimensional arrays within constant distances
 * of its position.  The elements that EDGE_ROWS rows of EDGE_COLUMNS positions read are first copied to a pad;
 * elements outside of the array get the value that the access mode gives them.  `code` is the kernel, which reads
 * pads without tests.  Additions to an array are also summed in a pad, which starts with zeros and is added to the
 * array afterwards.
 *
 *          lo[1]            hi[1]
 *     lo[0]  ┌──────────────┐         index of element (row, column) in the pad: row*width + column, minus that of
 *            │  ┌────────┐  │         the first element of the pad
 *            │  └────────┘  │
 *     hi[0]  └──────────────┘ */
enum { EDGE_COLUMNS = 16, EDGE_ROWS = 16, EDGE_PADS = 4, EDGE_ZERO = -1 };
typedef struct {
    int param;            /* array parameter that the pad copies */
    int64_t lo[2], hi[2]; /* smallest and largest distance from the position, along each axis */
    int mode;             /* AccessMode of indices outside of the array; EDGE_ZERO: elements outside are 0 */
    bool sums;            /* positions only add to the array */
    KRef extent[2];       /* extents into which `mode` maps indices; EDGE_ZERO: 0 */
    KRef fill, fill_end;  /* code that computes `value`: the element at POS, inside or outside of the array */
    KRef value;           /* sums: the value of the pad at POS, which the following code adds to the array */
} KPad;
static inline int kpad_extent(const KPad *p, int axis) {
    return (axis ? EDGE_COLUMNS : EDGE_ROWS) + (int)(p->hi[axis] - p->lo[axis]);
}

typedef struct {
    int npads; /* 0: there is no code for edges */
    KPad pad[EDGE_PADS];
    KBox box; /* where all other tests hold, so that `code` omits them */
    KRef code, code_end;
} KEdge;

typedef struct {
    const KFunc *func;
    KBox box;  /* positions where no test fails */
    KBox near; /* positions where every mirrored or circular index is at most one period outside */
    KRef fast, fast_end, full, full_end; /* ranges of instructions */
    KEdge edge;
    bool lockstep;     /* `fast` has loops that run for a whole strip (FLAT_LOCKSTEP): for strips only */
    KRef prologue_end; /* the prologue is [1, prologue_end) */
    int ncollapse;     /* 0: the last two axes are not merged */
    struct {
        KRef outer, inner;
    } collapse[COLLAPSE_PAIRS];
} KSplit;

/* Splits a launch into an interior without bounds tests and a border with them.  Returns false if nothing is
 * gained.  rows: positions run in rows along the last axis, so that a BOUND of another axis costs time only once
 * per row; such BOUNDs stay if that makes the interior larger. */
bool kopt_interior(Ctx *c, Arena *arena, const KFunc *f, bool rows, KSplit *out);
/* Adapts the split to a copy of its function.  map: by instruction, its copy; start: by instruction, and for the end of
 * the function, where its copy begins. */
void kopt_renumber(KSplit *s, const KFunc *copy, const KRef *map, const KRef *start);
/* Replaces loops of a kernel whose positions do not run side by side in vectors; split: only loops of its interior;
 * NULL: the kernel is not split. */
const KFunc *kopt_replace_row_loops(Ctx *c, Arena *a, const KFunc *f, KSplit *split, KLoopPass p);
/* extremes.c: the same pass as kextremes_free, for kernels whose loops go along rows. */
const KFunc *kextremes_free_rows(Ctx *c, Arena *a, const KFunc *f, KSplit *split);
const KFunc *krowterms_block(Ctx *c, Arena *a, const KFunc *f, KSplit *split); /* row_terms.c */
#endif
