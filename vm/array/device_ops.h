/* device_ops.h -- declares operations that run on the device that holds an input array, if the host does not have it.
 * Elementwise operations on many elements also run as compiled code where the arrays are on the host.
 *
 * reduce.c, arith.c, map_elements.c and the functions that move elements try these before they copy the array to the
 * host (if qdevmath_asks).  vm/launch/axis_launch.c, elementwise_node.c and move_launch.c launch the kernels.
 *
 * *done false: the host must compute the result, because it has the arrays, too, or the device cannot run the kernel,
 * which --explain reports. */
#ifndef VM_DEVICE_OPS_H
#define VM_DEVICE_OPS_H
#include "lang/kernel/elem/elem.h"
#include "vm/array/array.h"
#include "vm/array/contiguous.h"
#include "vm/array/device_math.h"
#include "vm/base/reduction.h"

/* A reduction or scan along an axis, from array x (real or complex) to array y, which is contiguous unless y_strides.
 * */
typedef struct {
    const char *name;
    Combine combine;
    qs_dtype lane; /* type of the partial results */
    Array *x, *y;
    int rank;                      /* number of dimensions of the results, at least 1 */
    const int64_t *dims, *strides; /* extents of the results; their strides in x, in elements */
    int64_t n, step;               /* number of elements per result, at least 1; distance between them in x */
    /* What is combined: the mapped elements, or differences from the centres.  MAP_INDEX: the indices of the elements
     * that equal their centre (of x's type); the result is 0 if there is none. */
    ReduceMap map;
    Array *centres;           /* contiguous float64 array with one value per result; NULL: zeros */
    double by;                /* divisor of each result; 0: none */
    bool root;                /* takes the square root after the division */
    bool logarithm;           /* takes the logarithm and adds the centre */
    const int64_t *y_strides; /* not NULL: a scan; strides of y in the other dimensions */
    int64_t y_step;           /* scan: stride of y along the axis */
    Array *beside;            /* further array that selects the device; NULL: none */
} AxisOp;
qs_status qaxisop_run(qs_vm *vm, const AxisOp *a, bool *done);

/* A copy of dims[0..rank-1] elements from one array to another.  Steps and start positions count elements, from the
 * first element of each array.  lists[d] not NULL: an int64 array with the positions along d; negative positions are
 * skipped.  The lists index `to` if `into` is set, otherwise `from`.  The arrays do not share memory. */
typedef struct {
    const char *name;
    Array *from, *to;
    int rank;
    const int64_t *dims, *from_steps, *to_steps;
    int64_t from_at, to_at;
    Array *const *lists;    /* NULL: none */
    const int64_t *extents; /* extents of the indexed array in the dimensions with a list */
    bool into, from_one;    /* from_one: positions in lists count from 1 */
    Array *mask;            /* elements with mask 0 are not written; NULL: no mask */
    const int64_t *mask_steps;
    Array *beside; /* further array that selects the device; NULL: none */
} ElementMove;
qs_status qmovelaunch_on_device(qs_vm *vm, const ElementMove *c, bool *done);
/* Copies on the device or on the host; both arrays have one type, and there are no lists. */
qs_status qarr_carry(qs_vm *vm, const ElementMove *c);

/* into = elem(args), computed in type `compute`.  If `into` is an argument, each element is read before it is written.
 */
typedef struct {
    Elem elem;
    qs_dtype compute;
    int n;
    const qs_value *args;
    Array *into;
} RowCall;
qs_status qelementwise_compiled(qs_vm *vm, const RowCall *c, bool *done);
/* Whether qelementwise_compiled need be called: otherwise the host's loops compute the result. */
static inline bool qelementwise_asks(qs_vm *vm, const Array *into) {
    return into->count >= qvm(vm)->fuse_least || qdevmath_asks(vm);
}
#endif
