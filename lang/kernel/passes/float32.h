/* float32.h -- computes in float32 what a loop of the program computes in float64 from float32 elements.
 *
 * A loop computes in float64, as the interpreter does (KFunc.strict).  The pass changes instructions to float32 where
 * the bits stay the same:
 *
 *     minima, maxima, choices, signs and comparisons of float32 elements, and variables that hold only such values
 *     a + b, a - b, a * b, a / b and sqrt(a) of float32 elements whose result is rounded to float32 at once: 53 bits
 *         are more than twice 24, so that rounding twice gives the same number as rounding once
 *     sums and products of small integers, which are exact in both
 *
 * With fast math (KFunc.fast) an operation with a float32 element is done in float32.  Numbers of the program and
 * integers take the type of the other operand, and stay float64 among themselves; an operation with a float64 element
 * is done in float64.  Sums of 8- and 16-bit integers stay exact; other functions and quotients of them, and products
 * with fractions, are float32, as in kernels. */
#ifndef LANG_KERNEL_FLOAT32_H
#define LANG_KERNEL_FLOAT32_H
#include "lang/kernel/ir/kir.h"

/* Returns f itself if it is not strict, or if nothing is gained. */
const KFunc *kfloat32_narrow(Ctx *c, Arena *a, const KFunc *f);
#endif
