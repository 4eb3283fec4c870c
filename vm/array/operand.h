/* operand.h -- declares operands of elementwise operators and functions; internal to vm/array. */
#ifndef VM_OPERAND_H
#define VM_OPERAND_H
#include "vm/array/array.h"
#include "vm/array/contiguous.h"

enum Op;

/* Number of elements that are converted at once, so that they stay in the first-level cache. */
enum { PIECE = 512, PIECE_BYTES = PIECE * sizeof(QComplexD) };

/* -- scalar.c: operators on two values without arrays -------------------------------------------------------------- */
QComplexD qscalar_complex(qs_value number);
/* Returns the name of an operator for messages; operators without a symbol have the name of a function. */
const char *qscalar_op_name(enum Op op);
qs_status qscalar_mismatch(qs_vm *vm, enum Op op, qs_value a, qs_value b); /* error: not defined between a and b */
qs_status qscalar_binary(qs_vm *vm, enum Op op, qs_value a, qs_value b, qs_value *out);
qs_status qscalar_negate(qs_vm *vm, qs_value number, qs_value *out);

/* -- operand.c: operands of elementwise operations ----------------------------------------------------------------- */
typedef struct {
    const void *p;
    qs_dtype dtype;
    int rank;
    const int64_t *dims, *strides;
    union {
        double f;
        int64_t i;
        QComplexD z;
    } room; /* storage of a number operand */
} Operand;

/* The shape of a result: its normal form, and ndim, the largest number of dimensions of the operands. */
typedef struct {
    int ndim, rank;
    int64_t dims[QS_MAX_RANK];
} Extents;

typedef struct {
    LoopOp loop;
    qs_dtype compute, gives, out; /* input type of the loop, its output type, type of the result array */
    bool signs;                   /* comparison of uint64 with a signed type (qdtype_mixes_signs) */
    bool exact;                   /* an update of 64-bit integers by another type (run_exact) */
    Extents shape;
} Plan;

static inline bool qoperand_fits(qs_value v) { return v.kind == QS_ARRAY || qval_is_scalar(v); }
/* Compute the shape of the result; at least one argument must be an array. */
qs_status qoperand_shapes(qs_vm *vm, const char *what, const qs_value *args, int n, Extents *out);
qs_status qoperand_shape(qs_vm *vm, const char *what, qs_value a, qs_value b, Extents *out);
qs_status qoperand_result(qs_vm *vm, qs_dtype d, const Extents *x, Array **out); /* creates the result array */
qs_status qoperand_shape_error(qs_vm *vm, const char *what, const Array *a, const Array *b);
/* Returns the common type of two operands, before it is widened for the computation. */
qs_status qoperand_dtype(qs_vm *vm, enum Op op, qs_value a, qs_value b, qs_dtype *out);
static inline Term qoperand_term(qs_value v) {
    if (v.kind == QS_ARRAY) return (Term){(qs_dtype)qval_array(v)->dtype, false};
    return (Term){v.kind == QS_NUM ? QS_F64 : v.kind == QS_COMPLEX ? QS_C128 : QS_I64, true};
}
/* Adjusts a number operand to elements of dtype d before the common type is determined.  For bitwise operators it is
 * truncated to their width: -1 has all bits set, and too many bits are an error.  With 64-bit elements, an integral
 * number becomes an int if the operation compares or chooses, or if `keeps` (the result is stored in the elements), so
 * that no digit of the elements is lost. */
qs_status qoperand_number(qs_vm *vm, enum Op op, qs_dtype d, bool keeps, qs_value *number);
/* Returns the common type of elements of type d and a number: d, unless the number is an int that d does not hold.
 * This is an error; for a comparison (`order`) the type is float64. */
qs_status qoperand_int(qs_vm *vm, const char *what, bool order, qs_dtype d, qs_value number, qs_dtype *out);
qs_dtype qoperand_compute(qs_dtype d);
/* Returns whether b op= updates 64-bit integers of type d such that integral elements of b must not be rounded. */
bool qoperand_is_exact(enum Op op, qs_dtype d, qs_value b);
qs_status qoperand_plan(qs_vm *vm, enum Op op, qs_value a, qs_value b, Plan *p); /* sets all members except the shape */
/* Programs without integer types store integers in floats.  For bitwise operators, replaces an array *x (owned) of
 * floats by one of int64; a fraction is an error.  *back must be QS_B1 at first and receives the float type of the
 * result. */
qs_status qoperand_to_int64(qs_vm *vm, const char *fn, qs_value *x, qs_dtype *back);
qs_status qoperand_from_int64(qs_vm *vm, qs_value *x, qs_dtype back); /* converts back, with rounding */
/* Opens an operand for reading.  A number is converted to the type of the computation and stored in `room`, so *o must
 * not move afterwards. */
qs_status qoperand_open(qs_vm *vm, qs_value v, qs_dtype compute, Operand *o);
#endif
