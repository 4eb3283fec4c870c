/* device_ops.h -- what is computed where the arrays are: on a device that has one that is read, when the host has not.
 * reduce.c, arith.c, map_elements.c and those that move elements ask before they fetch it, where qdevmath_asks;
 * vm/launch/axis_launch.c, elementwise_node.c and move_launch.c launch the kernels.
 *
 * *done false: it is the host's turn, because it has the arrays, too, or the device cannot have the kernel, which
 * --explain says. */
#ifndef VM_DEVICE_OPS_H
#define VM_DEVICE_OPS_H
#include "lang/kernel/elem/elem.h"
#include "vm/array/array.h"
#include "vm/array/contiguous.h"
#include "vm/array/device_math.h"

typedef struct { /* a reduction, or running results, of real or complex elements, of one array to one that is packed */
    const char *name;
    LoopOp op;     /* LOOP_ADD, MUL, MIN, MAX, OR, AND */
    qs_dtype lane; /* in which elements are merged */
    Array *x, *y;
    int rank;                      /* of the results, 1 at least */
    const int64_t *dims, *strides; /* of the results; in x, in elements */
    int64_t n, step;               /* elements that make a result, at least one; from each to the next */
    bool squares;                  /* of the elements, or of what they differ from the centres */
    Array *centres;                /* of float64, packed, one for each result; NULL: zeros */
    bool places; /* instead: the first place of an element that equals its centre, of the type of x; else 0 */
    double by;   /* each result is divided by this; 0: by nothing */
    bool root;   /* … and its root is taken */
    const int64_t *y_strides; /* not NULL: running results, which lie so in y, y_step apart */
    int64_t y_step;
    Array *beside; /* it is done where this one is, too; NULL: there is none */
} AxisOp;
qs_status qaxisop_run(qs_vm *vm, const AxisOp *a, bool *done);

/* Elements from one array to another: dims[0..rank-1] places, whose steps, and the places of the first ones, count
 * elements from the first one of each array.  lists[d] not NULL: along d the places are those in this array of int64,
 * below 0 none; `into`: in `to`, otherwise in `from`.  The two do not share memory. */
typedef struct {
    const char *name;
    Array *from, *to;
    int rank;
    const int64_t *dims, *from_steps, *to_steps;
    int64_t from_at, to_at;
    Array *const *lists;    /* NULL: none */
    const int64_t *extents; /* of the dimensions that have one, on the side that it is for */
    bool into, from_one;    /* from_one: the places in lists are counted from 1 */
    Array *mask;            /* where it is 0 `to` stays as it is; NULL: it does nowhere */
    const int64_t *mask_steps;
    Array *beside; /* it is done where this one is, too; NULL: there is none */
} ElementMove;
qs_status qmovelaunch_on_device(qs_vm *vm, const ElementMove *c, bool *done);
/* There or by the host; elements of one type, without lists. */
qs_status qarr_carry(qs_vm *vm, const ElementMove *c);

/* into = elem(args), computed in elements of type `compute`.  What is in place reads the elements that it writes. */
typedef struct {
    Elem elem;
    qs_dtype compute;
    int n;
    const qs_value *args;
    Array *into;
} RowCall;
qs_status qelementwise_on_device(qs_vm *vm, const RowCall *c, bool *done);
#endif
