/* legal.h -- legalization: expresses a kernel in instructions that its target has.
 *
 *     DIV, MOD of integers    the divisor is never 0, nor -1 of a signed type, and MOD has unsigned operands; also in
 *                             atomic updates
 *     SHL, SHR                the count is within the width
 *     BOUND                   comparisons, a minimum, a division if the index is outside
 *     MIN, MAX, ABS           comparisons
 *     CAST, STORE             the converted value fits; a bool becomes a number by SELECT
 *     ATOMIC, AATOMIC         a load, the operation, a store: if positions run one after another; FETCH and AFETCH
 *                             likewise
 *
 * So a backend prints instructions with the meaning that they have in its language.  The bits below name what a
 * target has with the meaning of KIR (sem.h).  The remainder of floats is a function in every language.
 *
 * The emitters convert float16 and bfloat16 themselves, at each load and store (decode_element and encode of
 * emit_memory.c; load_text and store_text of emit_clike.c).  This pass could not replace all of these conversions: an
 * atomic update of a short element is a loop around an exchange of the word that contains it, with a conversion inside;
 * and NVIDIA and OpenCL have float16 instructions.
 *
 * For LLVM the pass changes little but division.  LLVM's conversions, minima and shifts are instructions or intrinsics,
 * which can be vectorized, and a BOUND is a call of a function, which does not split the loop as a branch would.
 * Comparisons instead would be much slower. */
#ifndef LANG_KERNEL_LEGAL_H
#define LANG_KERNEL_LEGAL_H
#include "lang/kernel/passes/opt.h"

enum {
    LEGAL_DIVIDE = 1,
    LEGAL_SHIFT = 2,
    LEGAL_BOUND = 4,
    LEGAL_EXTREME = 8,   /* MIN and MAX; for floats, the sign of a zero result is free */
    LEGAL_ABS = 16,      /* ABS of integers */
    LEGAL_SATURATE = 32, /* CAST and STORE to integers saturate, and convert NaN to 0 */
    LEGAL_TRUTH = 64,    /* CAST of a bool */
    LEGAL_ATOMIC = 128,
    LEGAL_ZEROS = 256, /* MIN and MAX of floats order zeros: with KFLAG_ZEROS, and in strict functions */
    LEGAL_FLOOR = 512, /* MOD of signed integers, by divisors other than 0 and -1 */
    LEGAL_ALL = 1023
};

/* Returns f if it is legal, otherwise a legal copy.  split: of f; becomes that of the copy; NULL: none.  MIN and
 * MAX with a constant zero become comparisons for every target: that is exact, and costs nothing. */
const KFunc *klegal(Ctx *c, Arena *arena, const KFunc *f, unsigned can, KSplit *split);
#endif
