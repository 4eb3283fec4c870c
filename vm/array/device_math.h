/* device_math.h -- decides whether a device or the host computes an operation, and calls the libraries of devices.
 *
 * Matrix products, Fourier transforms and systems of equations are computed by a library of the device if this is
 * estimated to be faster.  Reductions and operators are computed by kernels on the device that holds the arrays. */
#ifndef VM_DEVICE_MATH_H
#define VM_DEVICE_MATH_H
#include "devices/device.h"
#include "vm/array/array.h"
#include "vm/array/gemm.h"
#include "vm/value/machine.h"

/* Each of these functions sets *out to NULL if the processor must compute the result: no device has such a library, the
 * element types or layouts are not supported, there is too little work for the bytes to be copied, or the device is out
 * of memory even after all pooled memory was released.  --explain reports the reason whenever it changes. */
qs_status qdevmath_product(qs_vm *vm, Array *a, Array *b, GemmSize of, Array **out);
/* Transforms along `rank` of the dimensions in dims, starting with `first`. */
qs_status qdevmath_fft(qs_vm *vm, Array *a, int ndims, const int64_t *dims, int first, int rank, bool inverse,
                       Array **out);
/* Compute in the precision of the elements.  *out is also NULL if the device finds the matrix singular, or not positive
 * definite; the processor then decides in float64. */
qs_status qdevmath_solve(qs_vm *vm, Array *a, Array *b, Array **out);
qs_status qdevmath_inverse(qs_vm *vm, Array *a, Array **out);
qs_status qdevmath_cholesky(qs_vm *vm, Array *a, Array **out);
/* Computes the parts of a factorization for which f has memory (DevFactor in devices/device.h), in the element type of
 * a.  *done is false if the processor must compute it, also if the device's iteration did not converge. */
qs_status qdevmath_factor(qs_vm *vm, const char *what, Array *a, DevFactor *f, bool *done);
/* Computes a convolution of neural networks, or its adjoint, by the library of the device that runs kernels.
 * c->refused: reason why the library must not be used, or NULL; in[2]: bias of the forward convolution, or NULL.  *out
 * is NULL if kernels must compute it.  For CONV_INPUT the result has three dimensions: the planes of all images. */
qs_status qdevmath_convolve(qs_vm *vm, const char *what, DevConv *c, Array *const in[3], Array **out);
/* Returns whether kernels on the device that holds a compute an operation that needs no library; its largest index is
 * `index`.  A device that is a processor uses the host code instead, unless QUASAR_LIBRARIES=always; --explain reports
 * this. */
bool qdevmath_by_kernels(qs_vm *vm, const char *what, Array *a, Array *b, double index);
/* Returns whether these kernels failed with `s` for lack of memory, so that the processor must compute the result. */
bool qdevmath_left(qs_vm *vm, const char *what, Array *a, Array *b, qs_status s);
/* Whether some device may hold an array that the host does not have.  NEVER: all devices use host memory; MAYBE: a
 * device has its own memory; ALWAYS: everything is computed on the device (QUASAR_LIBRARIES=always).  The value is
 * cached, because even operators on few elements need it. */
enum { HELD_UNKNOWN, HELD_NEVER, HELD_MAYBE, HELD_ALWAYS };
int qdevmath_decide(Machine *m);
static inline int qdevmath_held(Machine *m) { return m->held ? m->held : qdevmath_decide(m); }
static inline bool qdevmath_asks(qs_vm *vm) { return qdevmath_held(qvm(vm)) != HELD_NEVER; }
/* Returns the device that computes an operation because it holds one of the arrays and the host does not; NULL: the
 * host computes it.  With QUASAR_LIBRARIES=always: the device of kernels, wherever the arrays are. */
Device *qdevmath_holder(qs_vm *vm, int n, const qs_value *args);
/* Discards the cached value, because QUASAR_LIBRARIES may have changed. */
void qdevmath_look_again(Machine *m);
/* Returns whether an operation failed with `s` because d has no memory or cannot compile its kernels, so that the host
 * must compute it.  Never true while d records a graph, because the host cannot be part of it. */
bool qdevmath_refused(qs_vm *vm, Device *d, const char *what, Array *a, qs_status s);
#endif
