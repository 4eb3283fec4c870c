/* device_math.h -- whether a device computes what the host could: matrix products, Fourier transforms and systems of
 * equations, by its libraries, where that ends sooner; reductions and operators, by kernels, where the arrays are. */
#ifndef VM_DEVICE_MATH_H
#define VM_DEVICE_MATH_H
#include "devices/device.h"
#include "vm/array/array.h"
#include "vm/array/gemm.h"
#include "vm/value/machine.h"

/* Each gives *out NULL where it is the processor's turn: no device with such a library, other element types or
 * layouts, too little work for what would have to be copied, or no room there even when everything that is kept for
 * reuse was given back.  --explain says which, when that changes. */
qs_status qdevmath_product(qs_vm *vm, Array *a, Array *b, GemmSize of, Array **out);
/* AxisOp `rank` dimensions from `first` on, of those in dims. */
qs_status qdevmath_fft(qs_vm *vm, Array *a, int ndims, const int64_t *dims, int first, int rank, bool inverse,
                       Array **out);
/* In the precision of the elements.  *out is NULL also where the device finds the matrix singular, or not positive
 * definite: the processor then judges it, in float64. */
qs_status qdevmath_solve(qs_vm *vm, Array *a, Array *b, Array **out);
qs_status qdevmath_inverse(qs_vm *vm, Array *a, Array **out);
qs_status qdevmath_cholesky(qs_vm *vm, Array *a, Array **out);
/* The parts of a factorization that f has memory for (DevFactor in devices/device.h), in the elements of a.  *done is
 * false where it is the processor's turn, also when the device's iteration did not converge. */
qs_status qdevmath_factor(qs_vm *vm, const char *what, Array *a, DevFactor *f, bool *done);
/* A convolution of neural layers, or an adjoint of it, by the library of the device that runs kernels.  c->refused: why
 * it must not, or NULL; in[2]: a bias for the forward one, or NULL.  *out is NULL where it is the turn of kernels; of
 * CONV_INPUT it has three dimensions: the planes of all images. */
qs_status qdevmath_convolve(qs_vm *vm, const char *what, DevConv *c, Array *const in[3], Array **out);
/* Whether what needs no library is computed by kernels on the device where a is, whose indices go up to `index`.  One
 * that is a processor has what is written for this one, unless QUASAR_LIBRARIES=always; --explain says so then. */
bool qdevmath_by_kernels(qs_vm *vm, const char *what, Array *a, Array *b, double index);
/* Whether these kernels failed with `s` because there was no room, so that it is the processor's turn. */
bool qdevmath_left(qs_vm *vm, const char *what, Array *a, Array *b, qs_status s);
/* What of these devices may hold an array that the host has not: the host alone has memory, or one of them has its own,
 * or all is computed there (QUASAR_LIBRARIES=always).  Decided once, as operators of few elements ask, too. */
enum { HELD_UNKNOWN, HELD_NEVER, HELD_MAYBE, HELD_ALWAYS };
int qdevmath_decide(Machine *m);
static inline int qdevmath_held(Machine *m) { return m->held ? m->held : qdevmath_decide(m); }
static inline bool qdevmath_asks(qs_vm *vm) { return qdevmath_held(qvm(vm)) != HELD_NEVER; }
/* The device on which something is computed because it has one of the arrays and the host has not; NULL: it is the
 * host's turn.  QUASAR_LIBRARIES=always: the device of kernels, wherever the arrays are. */
Device *qdevmath_holder(qs_vm *vm, int n, const qs_value *args);
/* QUASAR_LIBRARIES may be another one than when that was decided. */
void qdevmath_look_again(Machine *m);
/* Whether it failed with `s` because d has no room or cannot have its kernels: it is the host's turn.  Not while d
 * records a graph, of which the host cannot be part. */
bool qdevmath_refused(qs_vm *vm, Device *d, const char *what, Array *a, qs_status s);
#endif
