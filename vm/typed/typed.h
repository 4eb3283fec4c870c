/* typed.h -- declares the type-preserving arithmetic of the Array API standard, which differs from the language's.
 *
 *     typed.c         elementwise functions with the broadcasting of the standard; gather and scatter
 *     loops.c         loops generated from typed.def and elem.def     typed_math.h   functions that are not in elem.def
 *     vector.c        vectorized functions of the C library
 *     typed_reduce.c  sums, extremes and their positions, scans       product.c      stacks of matrix products
 *
 * bridge/py_typed.c calls these files for pyquasar.array_api.  The bridge determines the common type of the operands,
 * because it depends on Python's numbers.  All functions work on host memory and return new arrays.
 *
 * The types are those of the standard: bool, integers of 8 to 64 bits, floats of 32 and 64 bits, complex numbers of
 * both.  Integers wrap around.  Shapes keep extents of 1 and may be empty (qarr_shape). */
#ifndef VM_TYPED_H
#define VM_TYPED_H
#include "vm/array/array.h"
#include "vm/array/gemm.h"

enum Reduce;

typedef enum {
#define TYPED(name, ...) TY_##name,
#include "vm/typed/typed.def"
    TY__COUNT
} Typed;
typedef enum { TYPED_SAME, TYPED_TRUTH, TYPED_PART } TypedGives;
typedef struct {
    const char *name;
    int nargs;
    TypedGives gives;
    const char *help;
} TypedInfo;
extern const TypedInfo qtyped_info[TY__COUNT];

/* Computes n contiguous results from one row of each operand; step: distance of its elements in bytes. */
typedef void TypedLoop(size_t n, char *out, const char *const *in, const ptrdiff_t *step);
TypedLoop *qtyped_loop(Typed f, qs_dtype d); /* NULL: not defined for elements of type d */
TypedLoop *qtyped_loop_avx2(Typed f, qs_dtype d);

/* Exponents whose powers are computed by a product, a root or a quotient, with a single rounding. */
static inline bool qtyped_is_short_power(double y) { return y == 2 || y == 0.5 || y == -1; }
/* Computes a row by a vector function of the C library; false: there is none, and nothing was done. */
bool qtyped_vector(Typed f, qs_dtype d, size_t n, char *out, const char *const *in, const ptrdiff_t *step);

enum { TYPED_ARGS = 3 };
typedef struct { /* an array with the shape that it was created with (qarr_shape), or one element */
    const void *p;
    qs_dtype dtype;
    int ndim;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK]; /* in elements */
} TypedArg;
qs_status qtyped_open(qs_vm *vm, Array *a, TypedArg *out); /* for reading */
TypedArg qtyped_number(qs_dtype d, const void *element);

/* Applies f to the operands, converted to d.  The condition of `where` is converted to bool instead. */
qs_status qtyped_apply(qs_vm *vm, Typed f, qs_dtype d, const TypedArg *args, Array **out);
/* Writes the elements of x to dst, converted to its type and broadcast to its shape. */
qs_status qtyped_store(qs_vm *vm, Array *dst, const TypedArg *x);

/* Read or write elements of a at the positions in `at`, an int64 array of offsets from the first element of a in
 * memory.  qtyped_gather returns a contiguous array with the shape of `at`; the x of qtyped_scatter is contiguous and
 * has the type of a, or has one element.  The caller has checked the positions. */
qs_status qtyped_gather(qs_vm *vm, Array *a, Array *at, Array **out);
qs_status qtyped_scatter(qs_vm *vm, Array *a, Array *at, Array *x);
/* Reads from contiguous x, viewed as outer x n x inner, the positions in `at` (contiguous int64, checked) along the
 * middle dimension. */
qs_status qtyped_take(qs_vm *vm, Array *x, int64_t outer, int64_t n, int64_t inner, Array *at, int ndim,
                      const int64_t *dims, Array **out);
qs_status qtyped_nonzero(qs_vm *vm, Array *x, Array **out); /* int64 linear indices; x is a contiguous bool array */
/* Computes first + i*step for i < n in type d; for integer types exactly, from ifirst and istep. */
qs_status qtyped_arange(qs_vm *vm, qs_dtype d, int64_t n, double first, double step, int64_t ifirst, int64_t istep,
                        Array **out);

/* -- typed_reduce.c ------------------------------------------------------------------------------------------------ */
/* Reduces along the dimensions whose bit is set in `axes`; these are dropped, or kept with extent 1.  The result has
 * type d.  Sums and products are accumulated in the widest type of their class, then converted to d.  min and max of no
 * elements: QS_EVALUE. */
qs_status qtreduce_run(qs_vm *vm, enum Reduce r, Array *x, unsigned axes, bool keep, qs_dtype d, Array **out);
/* Returns the first positions of the extremes along a dimension, int64, without that dimension; a nan is the extreme.
 * */
qs_status qtreduce_position(qs_vm *vm, bool largest, Array *x, int axis, Array **out);
/* Computes running sums or products along a dimension, in type d; initial: preceded by 0 or 1. */
qs_status qtreduce_scan(qs_vm *vm, enum Reduce r, Array *x, int axis, bool initial, qs_dtype d, Array **out);
/* Returns the positions in sorted contiguous x at which to insert the elements of v, which has the same type; right:
 * behind equal elements.  nan is the largest. */
qs_status qtreduce_search(qs_vm *vm, Array *x, Array *v, bool right, Array **out);

/* -- product.c ----------------------------------------------------------------------------------------------------- */
/* Multiplies stacks of contiguous m x k and k x n matrices of one type; integers wrap around. */
qs_status qproduct_run(qs_vm *vm, Array *a, Array *b, GemmSize of, int ndim, const int64_t *dims, Array **out);
#endif
