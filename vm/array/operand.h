/* operand.h -- private to operators and functions of elements: arith.c, apply.c, scalar.c, operand.c. */
#ifndef VM_OPERAND_H
#define VM_OPERAND_H
#include "lang/syntax/operators.h"
#include "vm/array/array.h"
#include "vm/array/contiguous.h"

/* Elements that are converted at once: they stay in the first cache. */
enum { PIECE = 512, PIECE_BYTES = PIECE * sizeof(QComplexD) };

/* -- scalar.c: two values that are not taken element by element ---------------------------------------------------- */
static inline bool qscalar_is_number(qs_value v) { return qval_is_number(v) || v.kind == QS_COMPLEX; }
QComplexD qscalar_complex(qs_value number);
/* The operator as messages call it; those without a sign of their own are known as functions. */
const char *qscalar_op_name(Op op);
qs_status qscalar_mismatch(qs_vm *vm, Op op, qs_value a, qs_value b); /* the error */
qs_status qscalar_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out);
qs_status qscalar_negate(qs_vm *vm, qs_value number, qs_value *out);

/* -- operand.c: those that are ------------------------------------------------------------------------------------- */
typedef struct {
    const void *p;
    qs_dtype dtype;
    int rank;
    const int64_t *dims, *strides;
    union {
        double f;
        int64_t i;
        QComplexD z;
    } room; /* of a number that takes part */
} Operand;

/* Of a result: its normal form, and how many dimensions its operands have. */
typedef struct {
    int ndim, rank;
    int64_t dims[QS_MAX_RANK];
} Extents;

typedef struct {
    LoopOp loop;
    qs_dtype compute, gives, out; /* type of the loop, what it writes, type of the result array */
    bool signs;                   /* a comparison where qdtype_mixes_signs */
    Extents shape;
} Plan;

static inline bool qoperand_fits(qs_value v) { return v.kind == QS_ARRAY || qscalar_is_number(v); }
/* Shape of the result; one of them is an array. */
qs_status qoperand_shapes(qs_vm *vm, const char *what, const qs_value *args, int n, Extents *out);
qs_status qoperand_shape(qs_vm *vm, const char *what, qs_value a, qs_value b, Extents *out);
qs_status qoperand_result(qs_vm *vm, qs_dtype d, const Extents *x, Array **out); /* an array for it */
qs_status qoperand_shape_error(qs_vm *vm, const char *what, const Array *a, const Array *b);
/* The type in which the two meet, before it is widened for computing. */
qs_status qoperand_dtype(qs_vm *vm, Op op, qs_value a, qs_value b, qs_dtype *out);
static inline Term qoperand_term(qs_value v) {
    if (v.kind == QS_ARRAY) return (Term){(qs_dtype)qval_array(v)->dtype, false};
    return (Term){v.kind == QS_NUM ? QS_F64 : v.kind == QS_COMPLEX ? QS_C128 : QS_I64, true};
}
/* The type in which elements of type d meet a number: d, unless it is an int that they do not hold.  That is an error,
 * but in a comparison they meet in float64. */
/* What a number is beside elements of dtype d before the types meet.  Of bits it has as many as they: -1 is all of
 * them, and more than they have is an error.  Beside 64 bits a whole number is an int where the result has no type of
 * its own (keeps: it goes into the elements), so that no digit of theirs is lost. */
qs_status qoperand_number(qs_vm *vm, Op op, qs_dtype d, bool keeps, qs_value *number);
qs_status qoperand_int(qs_vm *vm, const char *what, bool order, qs_dtype d, qs_value number, qs_dtype *out);
qs_dtype qoperand_compute(qs_dtype d);
qs_status qoperand_plan(qs_vm *vm, Op op, qs_value a, qs_value b, Plan *p); /* all but the shape */
/* Floats hold the integers of a program that never asked for integer types: for bits, an array *x (owned) of them
 * becomes one of int64, a fraction is an error; back, QS_B1 at first, is then the type of the floats for the result. */
qs_status qoperand_to_whole(qs_vm *vm, const char *fn, qs_value *x, qs_dtype *back);
qs_status qoperand_from_whole(qs_vm *vm, qs_value *x, qs_dtype back); /* rounded, as all of their arithmetic is */
/* A number takes part in the type of the computation; its `room` must not move afterwards. */
qs_status qoperand_open(qs_vm *vm, qs_value v, qs_dtype compute, Operand *o);
#endif
