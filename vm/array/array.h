/* array.h -- declares the operations on numeric arrays: creation, access, elementwise functions, reductions.
 *
 *     array.c    creation, views, access         arith.c map_elements.c apply.c   operators and elementwise functions
 *     index.c    x[…]: select.c resolves the indices, gather.c moves the selected elements
 *     reduce.c   sums and other reductions       scalar.c operand.c      two numbers; operands of elementwise functions
 *     move.c     moves without conversion        strided.c contiguous.c  strided loop nests; loops over contiguous runs
 *     gemm.c matmul.c device_math.c              matrix products on the host or by the library of a device
 *
 * The interpreter, stdlib and bridge call these files.  All of them except device_math.c work on host memory and accept
 * any strides; loops over contiguous data are the fast path.
 *
 * Programs see the normal form of a shape (qarr_normalise): 1xN is a vec, and trailing extents of 1 beyond the second
 * dimension are dropped.  Types, indices, kernels and loops use only rank and dims, which describe the normal form.
 *
 * Outside, for example in NumPy, an array has the shape that it was created with (qarr_shape): its ndim also counts
 * what the normal form drops, as in 1x3 and 4x4x1.  The creating function sets ndim (zeros(1,3) has 2).  The result of
 * functions and operators has as many dimensions as the argument with the most, or more if it needs them (qarr_keep).
 *
 * `size(x)` has at least two entries, also for a single column ([N,1]): the original language gives one entry there,
 * which breaks `[m,n] = size(x)` and `zeros(size(x))`.  The result of size remembers the ndim of x (Array.size_of), so
 * that zeros(size(x)) has the same ndim (qarr_shape_args).  Likewise, transposing a vec twice restores its ndim. */
#ifndef VM_ARRAY_H
#define VM_ARRAY_H
#include "vm/value/object.h"

enum Reduce; /* vm/base/reduction.h */
struct qs_array_info;

/* -- array.c: making and viewing ----------------------------------------------------------------------------------- */
qs_status qarr_new(qs_vm *vm, qs_dtype d, int ndim, const int64_t *dims, bool zeroed, Array **out);
/* The same, with a host pointer for writing the elements. */
qs_status qarr_make(qs_vm *vm, qs_dtype d, int ndim, const int64_t *dims, bool zeroed, Array **out, void **p);
/* Wraps foreign memory without a copy: m->data is the first element; info describes the array and whether it may be
 * written.  The owner is released exactly once, even on failure. */
qs_status qarr_wrap(qs_vm *vm, const struct qs_array_info *info, const Wrapped *m, Array **out);
qs_status qarr_like(qs_vm *vm, const Array *a, qs_dtype d, Array **out); /* same shape, contiguous, uninitialised */
qs_status qarr_view(qs_vm *vm, Array *base, int ndim, const int64_t *dims, const int64_t *strides, size_t offset,
                    Array **out);
/* Like qarr_view, but also for an array whose gradient is recorded; vm/tape decides what the view is. */
qs_status qarr_alias(qs_vm *vm, Array *base, int ndim, const int64_t *dims, const int64_t *strides, size_t offset,
                     Array **out);
qs_status qarr_contiguous(qs_vm *vm, Array *a, Array **out);          /* a itself (retained) or a contiguous copy */
qs_status qarr_convert(qs_vm *vm, Array *a, qs_dtype d, Array **out); /* a itself if it already has dtype d */
qs_status qarr_reshape(qs_vm *vm, Array *a, int ndim, const int64_t *dims, Array **out); /* a view if contiguous */
/* Like qarr_reshape, and also a view if only dimensions of extent 1 are added or left out. */
qs_status qarr_reshape_view(qs_vm *vm, Array *a, int ndim, const int64_t *dims, Array **out);
qs_status qarr_assign(qs_vm *vm, Array *dst, Array *src); /* converts; src has the same shape or one element */
qs_status qarr_fill(qs_vm *vm, Array *dst, qs_value number);
static inline qs_value qarr_value(Array *a) { return qval_object(QS_ARRAY, a); } /* takes the reference */
static inline Array *qval_array(qs_value v) { return (Array *)v.u.p; }
bool qarr_is_complex(qs_value v); /* returns true for a complex number, and for an array of complex elements */
bool qarr_is_truth(qs_value v);   /* returns true for a truth value, and for an array of truth values */
static inline void qarr_release(qs_vm *vm, Array *a) { qval_release(vm, qarr_value(a)); }

/* Returns a host pointer to the first element for reading; valid until anything else accesses the array. */
qs_status qarr_read(qs_vm *vm, Array *a, const void **p);
/* Call before an array is written by other means than the functions below: discards what is cached about its elements.
 */
qs_status qarr_touch(qs_vm *vm, Array *a);
qs_status qarr_write(qs_vm *vm, Array *a, void **p); /* returns a host pointer for writing; contents are kept */
qs_status qarr_settle(qs_vm *vm, Array *a);          /* call after writing: qbuf_settle */
/* The elements must not be written: the owner forbids it, the array is locked for reading, a gradient needs them, or
 * they are a converted copy, and the caller would not see the write. */
static inline bool qarr_is_readonly(const Array *a) {
    return qbuf_is_readonly(a->buf) || qbuf_is_guarded(a->buf) || (a->hdr.flags & ARRAY_KEPT);
}
/* Returns whether nothing else refers to the array or its memory, so that another result may reuse it. */
static inline bool qarr_is_spare(const Array *a) {
    return a->hdr.refs == 1 && !qbuf_shared(a->buf) && a->buf->home < 0 && !a->buf->kept;
}
/* Adds to the error of a failed lock which array it is: its name, or with NULL its type and shape.  Returns s. */
qs_status qarr_lock_failed(qs_vm *vm, Array *a, const char *name, qs_status s);
/* Converts a linear index (row-major over dims) to an element offset, for strided access. */
size_t qarr_offset(const Array *a, size_t linear);
qs_status qarr_get(qs_vm *vm, Array *a, size_t linear, qs_value *out); /* number, bool, int or complex value */
/* Reads an element of a uint64 array without rounding if no int64 holds it; otherwise, *large is false. */
qs_status qarr_get_large(qs_vm *vm, Array *a, size_t linear, uint64_t *out, bool *large);
qs_status qarr_put(qs_vm *vm, Array *a, size_t linear, qs_value v);
/* Load and store one element in memory.  Storing converts; QS_ETYPE if v is not a number or loses an imaginary part. */
qs_status qarr_load(qs_vm *vm, qs_dtype d, const void *p, qs_value *out);
qs_status qarr_store(qs_vm *vm, qs_dtype d, void *p, qs_value v);
static inline int64_t qarr_dim(const Array *a, int d) { return d < a->rank ? a->dims[d] : 1; }
/* Returns the shape as size(x) shows it: a vec [N] is 1xN.  Fills dims[0..n-1], returns n >= 2. */
int qarr_size(const Array *a, int64_t dims[QS_MAX_RANK]);
/* Computes the strides of a contiguous array.  For an empty array with huge other extents, a stride whose product in
 * bytes would overflow is 0. */
void qarr_packed_strides(int rank, const int64_t *dims, int64_t *strides);
/* Returns the shape that the array was created with; strides may be NULL.  Returns ndim. */
int qarr_shape(const Array *a, int64_t dims[QS_MAX_RANK], int64_t strides[QS_MAX_RANK]);
bool qarr_has_shape(const Array *a, int ndim, const int64_t *dims); /* compares with qarr_shape */
void qarr_keep(Array *a, int ndim);                                 /* sets ndim, to at least the rank */
bool qarr_same_dims(const Array *a, int rank, const int64_t *dims); /* compares normal forms */
bool qarr_same_shape(const Array *a, const Array *b);               /* compares normal forms */
/* Writes the shape as "3x4", for messages; returns buf. */
enum { SHAPE_TEXT = 176 };
const char *qarr_shape_text(const Array *a, char buf[SHAPE_TEXT]);
/* Returns whether the elements in host memory are aligned to their size.  Foreign memory need not be.  The VM accepts
 * unaligned elements, kernel code does not. */
bool qarr_aligned(const Array *a);
/* Returns whether elements of the two arrays may share memory. */
bool qarr_overlap(const Array *a, const Array *b);
/* Calls check for each element of src, which is real, and returns its first error; fn is passed on to check. */
typedef qs_status ElementCheck(qs_vm *vm, double x, const char *fn);
qs_status qarr_check(qs_vm *vm, Array *src, ElementCheck *check, const char *fn);
/* Returns an error if dst is an array of bool and src contains a number other than 0 and 1. */
qs_status qarr_check_truths(qs_vm *vm, const Array *dst, Array *src);
/* Returns whether the two arrays are the same elements in the same order, so that each is read before it is written. */
bool qarr_same_elements(const Array *a, const Array *b);
/* Converts a number or array to an array of dtype d (a number: one element); returns v itself, retained, if it fits. */
qs_status qarr_from_value(qs_vm *vm, qs_value v, qs_dtype d, Array **out);
/* Returns the numbers of a list argument (vec, number, cell of numbers) as doubles; the caller frees them with
 * qmem_free(ctx, *out, *n * 8). */
qs_status qarr_doubles(qs_vm *vm, qs_value v, const char *what, double **out, size_t *n);
/* Reads the numbers of a real array of at most QS_MAX_RANK elements, such as a size.  false: v is another value, or an
 * error, which qarr_doubles reports. */
bool qarr_few_doubles(qs_vm *vm, qs_value v, double x[QS_MAX_RANK], size_t *n);
/* Sets the extents as those of a matrix or an array of a higher rank, in which a vec is one row; returns the rank. */
int qarr_matrix_dims(const Array *a, int64_t dims[QS_MAX_RANK]);
/* Sets the positions along each dimension of the first element after a cyclic shift by these numbers from dimension
 * `first` on; -1: from the first one, or for one number from the first one longer than 1.  false: one is no integer. */
bool qarr_cyclic_cut(int rank, const int64_t *dims, const double *by, size_t n, int first, int64_t cut[QS_MAX_RANK]);
/* Reads a shape from the arguments of zeros(a,b,…) or zeros(sizevec); `fn` names the function in messages. */
qs_status qarr_shape_args(qs_vm *vm, const char *fn, int n, const qs_value *args, int *rank, int64_t dims[QS_MAX_RANK]);
qs_status qarr_from_doubles(qs_vm *vm, const double *x, size_t n, Array **out); /* a vec of scalar elements */
qs_status qarr_range(qs_vm *vm, qs_dtype d, double lo, double step, double hi, Array **out); /* lo..step..hi */
/* Returns the element type of a list of numbers: d if it represents all of them, otherwise a wider type. */
qs_dtype qarr_literal_dtype(qs_dtype d, int n, const qs_value *items);
/* Evaluates [a,b,c]: numbers make a vec of d (or its complex type), vectors become the rows of a matrix, matrices the
 * planes of a cube; [v] with a single vector (a range) is that vec. */
qs_status qarr_literal(qs_vm *vm, qs_dtype d, int n, const qs_value *items, qs_value *out);

/* -- operand.c ----------------------------------------------------------------------------------------------------- */
/* Returns the common element type of n numbers and arrays.  Combined with arrays, numbers are weak, as in arithmetic.
 * Without arrays it is the type that represents the numbers exactly (float64, int64, bool, complex128).  An int that
 * the element type of the arrays does not hold makes the result float64.  Other values are ignored. */
qs_dtype qoperand_meet(qs_vm *vm, int n, const qs_value *v);
/* Returns the number v, prepared for a choice or comparison with elements of type d: an integral v with int64 or uint64
 * becomes an int, so that no digit of the elements is lost. */
qs_value qoperand_integral(qs_dtype d, qs_value v);

/* -- apply.c: binary functions that are not in elem.def ------------------------------------------------------------ */
qs_status qapply_two(qs_vm *vm, const char *name, double (*fn)(double, double), qs_value a, qs_value b, qs_value *out);
/* Applies a function of integers, exactly for all integer types.  Fractions of arguments are dropped; results saturate
 * to d, an integer type or float64. */
typedef __int128 Int128;
qs_status qapply_integers(qs_vm *vm, const char *name, Int128 (*fn)(Int128, Int128), qs_dtype d, qs_value a, qs_value b,
                          qs_value *out);

/* -- reduce.c: over all elements, or along one dimension that is kept with extent 1 -------------------------------- */
enum { DIM_ALL = -1 };
qs_status qred_run(qs_vm *vm, enum Reduce r, qs_value x, int dim, qs_value *out);
/* Return the sum of x[i]*y[i], and of (x[i] - from)^2, for n contiguous float32 or float64 elements; computed in double
 * by all threads. */
double qred_dot(qs_vm *vm, qs_dtype d, size_t n, const void *x, const void *y);
double qred_spread(qs_vm *vm, qs_dtype d, size_t n, const void *x, double from);
/* Computes on the device the variance (root: the standard deviation) of a real array that a device holds, along a
 * dimension or over all elements.  The result has type d (over all elements: float64).  *done false: the host must
 * compute it. */
qs_status qred_spread_of(qs_vm *vm, Array *a, int dim, double ddof, bool root, qs_dtype d, qs_value *out, bool *done);
qs_status qred_cum(qs_vm *vm, enum Reduce r, Array *x, int dim, Array **out); /* cumsum, cumprod */
/* Computes on the device the first positions of the extremes (RED_min, RED_max) of an array that a device holds, along
 * a dimension, or as a number over all elements; *done false: the host must compute them. */
qs_status qred_places(qs_vm *vm, enum Reduce r, Array *a, int dim, qs_value *out, bool *done);
#endif
