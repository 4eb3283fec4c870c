/* legal.h -- a kernel in terms of what its target has.
 *
 *     DIV, MOD of integers    the divisor is never 0, nor -1 of a signed one, and MOD is of unsigned ones only; an
 *                             atomic update divides by such a one, too
 *     SHL, SHR                the count is within the width
 *     BOUND                   comparisons, a minimum, a division where the index is outside
 *     MIN, MAX, ABS           comparisons
 *     CAST, STORE             what they convert fits; a truth value becomes a number by SELECT
 *     ATOMIC, AATOMIC         a load, the operation, a store: where one position runs after the other
 *
 * So a backend prints what its language has, as that language means it.  What it has with the meaning of KIR (sem.h) it
 * keeps, and says so by the bits below.  The remainder of floats is a function in every language.
 *
 * float16 and bfloat16 stay with the emitters, which make a value of each short element, and back (decode and encode
 * of emit_llvm.c; load_text and store_text of emit_clike.c).  An instruction that sees a float as bits would let this
 * pass do it, but not instead of them: an atomic update of a short element is a loop around an exchange of the word
 * in which it lies, and converts in its middle; and NVIDIA, AMD and OpenCL have instructions for float16, which the
 * pass would have to spare.  So the conversions would be written once more, and not in fewer places.
 *
 * LLVM keeps all but division.  Its conversions, minima and shifts are instructions or calls of intrinsics, which
 * become vectors as such, and a BOUND is a call of a function, which does not cut a loop into parts as a branch would.
 * Measured on x86 with 8 floats in a vector: as comparisons a blur with mirrored borders takes 11 times as long, one
 * line of min and max 2 times, conversions to int 1.2 times. */
#ifndef LANG_KERNEL_LEGAL_H
#define LANG_KERNEL_LEGAL_H
#include "lang/kernel/passes/opt.h"

enum {
    LEGAL_DIVIDE = 1,
    LEGAL_SHIFT = 2,
    LEGAL_BOUND = 4,
    LEGAL_EXTREME = 8,   /* MIN and MAX; of floats, whichever zero they give */
    LEGAL_ABS = 16,      /* of integers */
    LEGAL_SATURATE = 32, /* CAST and STORE to integers: into their range, and 0 of NaN */
    LEGAL_TRUTH = 64,    /* CAST of a truth value */
    LEGAL_ATOMIC = 128,
    LEGAL_ZEROS = 256, /* MIN and MAX with KFLAG_ZEROS, and in strict functions */
    LEGAL_FLOOR = 512, /* MOD of signed integers too, by such divisors */
    LEGAL_ALL = 1023
};

/* f, or a copy of it where there is something to do; split, if it is not NULL, is of f and becomes that of the copy.
 * MIN and MAX beside a known zero become comparisons for every target: that is exact, and costs nothing. */
const KFunc *klegal(Ctx *c, Arena *arena, const KFunc *f, unsigned can, KSplit *split);
#endif
