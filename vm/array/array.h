/* array.h -- numeric arrays: making them, reading them, functions of their elements, reductions.
 *
 *     array.c    making, viewing, reading        arith.c map_elements.c apply.c   operators, and functions of elements
 *     index.c    x[…]: select.c says which places are meant, gather.c moves their elements
 *     reduce.c   sums and their like             scalar.c operand.c       two numbers; values met element by element
 *     move.c     elements as they are            strided.c contiguous.c          strided runs, and the loops over
 * packed ones
 *     gemm.c matmul.c device_math.c              products, here or by the library of a device
 *
 * Arrays and numbers come in, new arrays go out, or old ones changed.  The interpreter, stdlib and bridge call these
 * files.  All of them but device_math.c work on host memory and take any strides; loops over contiguous data are the
 * fast path.
 *
 * Programs see the normal form of a shape (qarr_normalise): 1xN is a vec, and extents of 1 at the end, beyond the
 * second dimension, go.  So types, indices, kernels and loops deal with rank and dims, and know nothing of the rest.
 *
 * Others, as NumPy, see the shape that an array was made with (qarr_shape): its ndim counts what the normal form leaves
 * out, 1x3 and 4x4x1.  The rule of ndim, everywhere: who makes an array says it (zeros(1,3) has 2); of functions and
 * operators, the result has as many dimensions as the argument with the most, or more where it needs them (qarr_keep).
 *
 * `size(x)` has at least two entries, also for a single column ([N,1]): the original gives one entry there, which
 * breaks `[m,n] = size(x)` and `zeros(size(x))`.  It remembers the ndim of x (Array.size_of), and zeros(size(x)) has it
 * again (qarr_shape_args); so has a vec when the column that transpose made of it is transposed. */
#ifndef VM_ARRAY_H
#define VM_ARRAY_H
#include "vm/value/object.h"

struct qs_array_info;

/* -- array.c: making and viewing ----------------------------------------------------------------------------------- */
qs_status qarr_new(qs_vm *vm, qs_dtype d, int ndim, const int64_t *dims, bool zeroed, Array **out);
/* Memory of others as it lies: m->data is its first element, info says what is there, and whether it may be written.
 * The owner is released once, even on failure. */
qs_status qarr_wrap(qs_vm *vm, const struct qs_array_info *info, const Wrapped *m, Array **out);
qs_status qarr_like(qs_vm *vm, const Array *a, qs_dtype d, Array **out); /* same shape, contiguous, uninitialised */
qs_status qarr_view(qs_vm *vm, Array *base, int ndim, const int64_t *dims, const int64_t *strides, size_t offset,
                    Array **out);
/* The same also of an array whose derivative is recorded: vm/tape says what the view is. */
qs_status qarr_alias(qs_vm *vm, Array *base, int ndim, const int64_t *dims, const int64_t *strides, size_t offset,
                     Array **out);
qs_status qarr_contiguous(qs_vm *vm, Array *a, Array **out);          /* itself (retained) or a packed copy */
qs_status qarr_copy(qs_vm *vm, Array *a, Array **out);                /* always fresh and packed */
qs_status qarr_convert(qs_vm *vm, Array *a, qs_dtype d, Array **out); /* itself when it has dtype d already */
qs_status qarr_reshape(qs_vm *vm, Array *a, int ndim, const int64_t *dims, Array **out); /* a view when packed */
qs_status qarr_assign(qs_vm *vm, Array *dst, Array *src); /* same shape (or one element), converts */
qs_status qarr_fill(qs_vm *vm, Array *dst, qs_value number);
void qarr_free(qs_vm *vm, Array *a);                                             /* count reached 0 */
static inline qs_value qarr_value(Array *a) { return qval_object(QS_ARRAY, a); } /* takes the reference */
static inline Array *qval_array(qs_value v) { return (Array *)v.u.p; }
static inline void qarr_release(qs_vm *vm, Array *a) { qval_release(vm, qarr_value(a)); }

/* Host pointers to the first element; valid until anything else touches the array. */
qs_status qarr_read(qs_vm *vm, Array *a, const void **p);
/* What is written by another door than those below: nothing that was known of its elements holds any more. */
qs_status qarr_touch(qs_vm *vm, Array *a);
qs_status qarr_write(qs_vm *vm, Array *a, void **p); /* contents are kept */
qs_status qarr_settle(qs_vm *vm, Array *a);          /* after writing: qbuf_settle */
/* Nobody may write to its elements: its owner forbids it, it is locked for reading, or a derivative needs them. */
static inline bool qarr_is_readonly(const Array *a) { return qbuf_is_readonly(a->buf) || (a->hdr.flags & ARRAY_KEPT); }
/* The sentence of a failed lock says which array it is: its name, or with NULL its type and shape.  Returns s. */
qs_status qarr_lock_failed(qs_vm *vm, Array *a, const char *name, qs_status s);
/* Linear index (row-major over dims) to element offset, for strided access. */
size_t qarr_offset(const Array *a, size_t linear);
qs_status qarr_get(qs_vm *vm, Array *a, size_t linear, qs_value *out); /* number, bool, int or complex value */
qs_status qarr_put(qs_vm *vm, Array *a, size_t linear, qs_value v);
/* One element of memory; storing converts, QS_ETYPE when v is no number or loses an imaginary part. */
qs_status qarr_load(qs_vm *vm, qs_dtype d, const void *p, qs_value *out);
qs_status qarr_store(qs_vm *vm, qs_dtype d, void *p, qs_value v);
static inline int64_t qarr_dim(const Array *a, int d) { return d < a->rank ? a->dims[d] : 1; }
/* As size(x) shows it: a vec [N] is 1xN.  Fills dims[0..n-1], returns n >= 2. */
int qarr_size(const Array *a, int64_t dims[QS_MAX_RANK]);
/* The strides of packed elements.  Those of an empty array whose other extents are huge are 0 where their product, in
 * bytes, would overflow. */
void qarr_packed_strides(int rank, const int64_t *dims, int64_t *strides);
/* As it was made; strides may be NULL.  Returns ndim. */
int qarr_shape(const Array *a, int64_t dims[QS_MAX_RANK], int64_t strides[QS_MAX_RANK]);
bool qarr_has_shape(const Array *a, int ndim, const int64_t *dims); /* as it was made */
void qarr_keep(Array *a, int ndim);                                 /* so many dimensions, or as many as it needs */
int qarr_normalise(int rank, int64_t *dims);                        /* to the normal form, in place; the rank */
bool qarr_same_dims(const Array *a, int rank, const int64_t *dims); /* of a normal form */
bool qarr_same_shape(const Array *a, const Array *b);               /* as programs see shapes */
/* "3x4", for messages; buf is returned. */
enum { SHAPE_TEXT = 176 };
const char *qarr_shape_text(const Array *a, char buf[SHAPE_TEXT]);
/* Whether elements lie in the host's memory where their size wants; foreign ones need not.  The rest of the machine
 * bears it, code of kernels does not. */
bool qarr_aligned(const Array *a);
/* Whether elements of the two may share memory. */
bool qarr_overlap(const Array *a, const Array *b);
/* The first error that check has with an element of src, which is real; fn is handed on to it. */
typedef qs_status ElementCheck(qs_vm *vm, double x, const char *fn);
qs_status qarr_check(qs_vm *vm, Array *src, ElementCheck *check, const char *fn);
/* An error where numbers of src that are neither 0 nor 1 would be stored in an array of bool. */
qs_status qarr_check_truths(qs_vm *vm, const Array *dst, Array *src);
/* Whether the two are the same elements in the same order: each may be read before it is written. */
bool qarr_same_elements(const Array *a, const Array *b);
/* Any number or array as an array of dtype d (numbers: one element); a reference to itself when it fits. */
qs_status qarr_from_value(qs_vm *vm, qs_value v, qs_dtype d, Array **out);
/* Numbers of a list argument (vec, number, cell of numbers) as doubles; frees with qmem_free(ctx, *out, *n * 8). */
qs_status qarr_doubles(qs_vm *vm, qs_value v, const char *what, double **out, size_t *n);
/* Shape from the arguments of zeros(a,b,…) or zeros(sizevec); `fn` names the function in messages. */
qs_status qarr_shape_args(qs_vm *vm, const char *fn, int n, const qs_value *args, int *rank, int64_t dims[QS_MAX_RANK]);
qs_status qarr_from_doubles(qs_vm *vm, const double *x, size_t n, Array **out);              /* a vec of scalar */
qs_status qarr_range(qs_vm *vm, qs_dtype d, double lo, double step, double hi, Array **out); /* lo..step..hi */
/* The type of a list of numbers that is of type d when it holds them. */
qs_dtype qarr_literal_dtype(qs_dtype d, int n, const qs_value *items);
/* [a,b,c]: numbers make a vec of d (or its complex type), vectors stack as rows, matrices as a cube; [v] with one
 * vector, a range, is that vec. */
qs_status qarr_literal(qs_vm *vm, qs_dtype d, int n, const qs_value *items, qs_value *out);

/* -- operand.c ----------------------------------------------------------------------------------------------------- */
/* The element type in which n numbers and arrays meet.  Beside arrays numbers are weak, as in arithmetic; where they
 * stand alone it is the type that loses nothing of them (float64, int64, bool, complex128).  An int that the elements
 * of the arrays do not hold makes float64 of them.  Other values take no part. */
qs_dtype qoperand_meet(qs_vm *vm, int n, const qs_value *v);
/* v, a number beside elements of type d where something is chosen or compared: a whole one beside int64 or uint64 is an
 * int, so that no digit of theirs is lost. */
qs_value qoperand_whole(qs_dtype d, qs_value v);

/* -- apply.c: functions of two elements that have no row ----------------------------------------------------------- */
qs_status qapply_two(qs_vm *vm, const char *name, double (*fn)(double, double), qs_value a, qs_value b, qs_value *out);
/* A function of integers, exact whatever their types; fractions of arguments are left away, results saturate to d,
 * an integer type or float64. */
typedef __int128 Whole;
qs_status qapply_whole(qs_vm *vm, const char *name, Whole (*fn)(Whole, Whole), qs_dtype d, qs_value a, qs_value b,
                       qs_value *out);

/* -- reduce.c: over all elements, or along one dimension that is kept with extent 1 -------------------------------- */
typedef enum { RED_SUM, RED_PROD, RED_MIN, RED_MAX, RED_MEAN, RED_ANY, RED_ALL, RED_SUMSQ } Reduce;
enum { DIM_ALL = -1 };
qs_status qred_run(qs_vm *vm, Reduce r, qs_value x, int dim, qs_value *out);
/* In double, by all threads: the sum of x[i]*y[i], and of (x[i] - from)^2, of n packed float32 or float64. */
double qred_dot(qs_vm *vm, qs_dtype d, size_t n, const void *x, const void *y);
double qred_spread(qs_vm *vm, qs_dtype d, size_t n, const void *x, double from);
/* The variance along a dimension or over everything, or its root, in elements of type d (float64: over everything), of
 * a real array that a device holds; *done false: it is the host's turn. */
qs_status qred_spread_of(qs_vm *vm, Array *a, int dim, double ddof, bool root, qs_dtype d, qs_value *out, bool *done);
qs_status qred_cum(qs_vm *vm, Reduce r, Array *x, int dim, Array **out); /* cumsum, cumprod */
/* The first places of the extremes (RED_MIN, RED_MAX) along a dimension, or as a number that over everything, of an
 * array that a device holds; *done false: it is the host's turn. */
qs_status qred_places(qs_vm *vm, Reduce r, Array *a, int dim, qs_value *out, bool *done);
#endif
