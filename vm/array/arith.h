/* arith.h -- declares the operators on any two values: elementwise with broadcasting, and matrix products.
 *
 * A comparison of arrays gives an array of bool.  It counts as 0 and 1 in arithmetic, and its type marks it as a mask.
 * Therefore A[A<0] can be read, which the original language refuses, and be assigned to without an import. */
#ifndef VM_ARITH_H
#define VM_ARITH_H
#include "vm/array/array.h"

enum Op;

/* Applies an operator of operators.def to two values.  The caller handles short-circuit evaluation and script classes.
 * Shapes must be equal, or one operand is a number, or extents of 1 are stretched, where a vec counts as 1xN. */
qs_status qarith_binary(qs_vm *vm, enum Op op, qs_value a, qs_value b, qs_value *out);
/* Like qarith_binary, but consumes operands marked as owned, also on failure.  A result that fits reuses their storage.
 */
enum { ARITH_OWNS_A = 1, ARITH_OWNS_B = 2 };
qs_status qarith_binary_reuse(qs_vm *vm, enum Op op, qs_value a, qs_value b, unsigned owned, qs_value *out);
qs_status qarith_unary(qs_vm *vm, enum Op op, qs_value a, qs_value *out);
/* Computes a op= b in a's storage (aliases see it), converted to a's dtype; QS_ETYPE if this would lose an imaginary
 * part. */
qs_status qarith_update(qs_vm *vm, enum Op op, qs_value a, qs_value b);
/* Computes c ? a : b for the elements of an array c, with broadcasting; a and b are numbers or arrays (where.c). */
qs_status qarith_where(qs_vm *vm, qs_value c, qs_value a, qs_value b, qs_value *out);
/* Converts a number to int64 for the bitwise function fn; an error if it is not integral (elem.def). */
qs_status qscalar_int64(qs_vm *vm, const char *fn, qs_value number, int64_t *out);
/* Compares an int and a double exactly. */
bool qarith_order(enum Op op, qs_value a, qs_value b);
/* Returns whether the operation is a matrix product: `*` between two arrays with more than one element. */
bool qarith_is_product(enum Op op, qs_value a, qs_value b);
qs_status qarith_matmul(qs_vm *vm, Array *a, Array *b, qs_value *out); /* matmul.c: BLAS */
#endif
