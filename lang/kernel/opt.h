/* opt.h -- passes from KIR to KIR. */
#ifndef LANG_KERNEL_OPT_H
#define LANG_KERNEL_OPT_H
#include "lang/kernel/kir.h"

/* What kopt_interior made of a kernel:
 *
 *     prologue          the box lo … hi-1, from parameters and extents only
 *     IF ok and lo <= POS < hi
 *       fast            the kernel without the index tests that hold everywhere in the box
 *     ELSE
 *       full            the kernel
 *     END
 *
 * It is KIR like any other, but a backend with loops over positions cuts these loops at the box instead of testing. */
typedef struct {
    KFunc *func;
    KRef lo[QS_MAX_RANK], hi[QS_MAX_RANK]; /* int64, by axis; 0: no bound on this axis */
    KRef ok;                               /* bool: the box is valid for this launch at all */
    KRef fast, fast_end, full, full_end;   /* ranges of instructions; what lies before `fast` up to prologue_end is the prologue */
    KRef prologue_end;
} KSplit;

/* Splits a launch into an interior without bounds tests and a border with them.  false: there is nothing to split.
 * rows: positions run in rows along the last axis, so that an index map of another axis costs once per row: such maps
 * stay where that makes the interior larger. */
bool kopt_interior(Ctx *c, Arena *arena, const KFunc *f, bool rows, KSplit *out);
#endif
