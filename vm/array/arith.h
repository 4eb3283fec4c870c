/* arith.h -- operators on any two values: elementwise with broadcasting, matrix products.
 *
 * A comparison of arrays gives an array of bool.  It counts as 0 and 1 in arithmetic, and its type says that it is a
 * mask: so A[A<0] can be read, which the original refuses, and be assigned to without an import. */
#ifndef VM_ARITH_H
#define VM_ARITH_H
#include "lang/syntax/operators.h"
#include "vm/array/array.h"

/* Any operator of operators.def on any two values except short-circuit forms; script classes are the caller's business.
 * Shapes: equal, or one is a number, or equal rank with extents of 1 stretched, a vec counting as 1xN. */
qs_status qarith_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out);
/* The same; operands marked as owned are consumed, also on failure, and a result that fits takes over their storage. */
enum { ARITH_OWNS_A = 1, ARITH_OWNS_B = 2 };
qs_status qarith_binary_reuse(qs_vm *vm, Op op, qs_value a, qs_value b, unsigned owned, qs_value *out);
qs_status qarith_unary(qs_vm *vm, Op op, qs_value a, qs_value *out);
/* a op= b in a's storage (aliases see it), converted to a's dtype; QS_ETYPE when that would lose an imaginary part. */
qs_status qarith_update(qs_vm *vm, Op op, qs_value a, qs_value b);
/* c ? a : b of the elements of an array c, with broadcasting; a and b are numbers or arrays (where.c). */
qs_status qarith_where(qs_vm *vm, qs_value c, qs_value a, qs_value b, qs_value *out);
/* The int64 of a number whose bits the function fn wants; an error where it has none (elem.def). */
qs_status qscalar_whole(qs_vm *vm, const char *fn, qs_value number, int64_t *out);
/* A comparison of an int with a double, exactly. */
bool qarith_order(Op op, qs_value a, qs_value b);
/* `*` between arrays is the matrix product, unless one of them is a single element. */
bool qarith_is_product(Op op, qs_value a, qs_value b);
qs_status qarith_matmul(qs_vm *vm, Array *a, Array *b, qs_value *out); /* matmul.c: BLAS */
#endif
