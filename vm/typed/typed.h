/* typed.h -- the arithmetic that keeps types, beside the language's: that of the Array API standard.
 *
 *     typed.c    elementwise functions over strided operands that meet from their ends; places that are gathered
 *     loops.c    the loops, made of typed.def and elem.def       typed_math.h   what elem.def does not say
 *     vector.c   functions of several floats at once
 *     typed_reduce.c     sums, extremes and their places, running sums   product.c      matrix products in stacks
 *
 * Arrays come in, new arrays go out.  bridge/py_typed.c calls these files for pyquasar.array_api; it has decided which
 * type the operands meet in, because Python's numbers take part in that.  Everything works on the host's memory.
 *
 * The types are those of the standard: bool, whole numbers of 8 to 64 bits, floats of 32 and 64, complex numbers of
 * both.  Whole numbers wrap.  Extents of 1, and empty shapes, are kept as they are (qarr_shape). */
#ifndef VM_TYPED_H
#define VM_TYPED_H
#include "vm/array/array.h"
#include "vm/array/gemm.h"

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

/* One row of operands: n results go to `out`, packed; step: bytes from one element of an operand to the next. */
typedef void TypedLoop(size_t n, char *out, const char *const *in, const ptrdiff_t *step);
TypedLoop *qtyped_loop(Typed f, qs_dtype d); /* NULL: not defined for elements of that type */
TypedLoop *qtyped_loop_avx2(Typed f, qs_dtype d);

/* Exponents whose powers are a product, a root or a quotient, which are rounded once. */
static inline bool qtyped_is_short_power(double y) { return y == 2 || y == 0.5 || y == -1; }
/* The same by vector functions of the C library; false: it has none, and nothing was done. */
bool qtyped_vector(Typed f, qs_dtype d, size_t n, char *out, const char *const *in, const ptrdiff_t *step);

enum { TYPED_ARGS = 3 };
typedef struct { /* an array as it was made; or one element */
    const void *p;
    qs_dtype dtype;
    int ndim;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK]; /* in elements */
} TypedArg;
qs_status qtyped_open(qs_vm *vm, Array *a, TypedArg *out); /* for reading */
TypedArg qtyped_number(qs_dtype d, const void *element);

/* The result of f of operands that are converted to d, except the condition of `where`, which is bool. */
qs_status qtyped_apply(qs_vm *vm, Typed f, qs_dtype d, const TypedArg *args, Array **out);
/* The elements of x, converted to the type of dst and spread to its shape, which x must fit, written there. */
qs_status qtyped_store(qs_vm *vm, Array *dst, const TypedArg *x);

/* Elements at `at`, counted from the first one of x in its memory: a packed array of the shape of `at`, int64; and the
 * other way, of a packed x of the type of a, or one element.  Whoever calls has checked the places. */
qs_status qtyped_gather(qs_vm *vm, Array *a, Array *at, Array **out);
qs_status qtyped_scatter(qs_vm *vm, Array *a, Array *at, Array *x);
/* Of packed x, seen as outer x n x inner: the places of packed `at` (int64, checked) along the middle. */
qs_status qtyped_take(qs_vm *vm, Array *x, int64_t outer, int64_t n, int64_t inner, Array *at, int ndim,
                      const int64_t *dims, Array **out);
qs_status qtyped_nonzero(qs_vm *vm, Array *x, Array **out); /* linear places, int64, of a packed x that is bool */
/* first + i*step, i < n, in the type d; whole numbers exactly. */
qs_status qtyped_arange(qs_vm *vm, qs_dtype d, int64_t n, double first, double step, int64_t ifirst, int64_t istep,
                        Array **out);

/* -- typed_reduce.c ------------------------------------------------------------------------------------------------ */
typedef enum { FOLD_SUM, FOLD_PROD, FOLD_MIN, FOLD_MAX, FOLD_ANY, FOLD_ALL, FOLD_COUNT, FOLD__COUNT } Fold;
/* AxisOp the dimensions whose bit is set in `axes`; they are left out, or kept with extent 1.  The result has type d:
 * sums and products are added up in the widest type of the kind, then cut to d.  min and max of nothing: QS_EVALUE. */
qs_status qtreduce_run(qs_vm *vm, Fold f, Array *x, unsigned axes, bool keep, qs_dtype d, Array **out);
/* The first place of the extreme along a dimension, int64, without that dimension; nan is the extreme where one is. */
qs_status qtreduce_position(qs_vm *vm, bool largest, Array *x, int axis, Array **out);
/* Running sums or products along a dimension, in the type d; initial: with what comes before the first. */
qs_status qtreduce_scan(qs_vm *vm, Fold f, Array *x, int axis, bool initial, qs_dtype d, Array **out);
/* Places in sorted packed x, of the type of v, before which v belong; right: behind equal ones.  nan is largest. */
qs_status qtreduce_search(qs_vm *vm, Array *x, Array *v, bool right, Array **out);

/* -- product.c ----------------------------------------------------------------------------------------------------- */
/* Of stacks of matrices m x k and k x n, packed, of one type; of whole numbers it wraps. */
qs_status qproduct_run(qs_vm *vm, Array *a, Array *b, GemmSize of, int ndim, const int64_t *dims, Array **out);
#endif
