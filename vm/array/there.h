/* there.h -- what is computed where the arrays are: on a device that has one that is read, when the host has not.
 * reduce.c, arith.c and each.c ask before they fetch it, where qdevmath_asks; vm/launch/along.c and row.c launch the
 * kernels.
 *
 * *done false: it is the host's turn, because it has the arrays, too, or the device cannot have the kernel, which
 * --explain says. */
#ifndef VM_THERE_H
#define VM_THERE_H
#include "lang/kernel/elem/elem.h"
#include "vm/array/array.h"
#include "vm/array/device_math.h"
#include "vm/array/packed.h"

typedef struct { /* a reduction of real or complex elements, of one array to one that is packed */
    const char *name;
    LoopOp op;         /* LOOP_ADD, MUL, MIN, MAX, OR, AND */
    qs_dtype lane;     /* in which elements are merged */
    Array *x, *y;
    int rank;          /* of the results, 1 at least */
    const int64_t *dims, *strides; /* of the results; in x, in elements */
    int64_t n, step;   /* elements that make a result, at least one; from each to the next */
    bool squares;      /* of the elements, or of what they differ from the centres */
    Array *centres;    /* of float64, packed, one for each result; NULL: zeros */
    double by;         /* each result is divided by this; 0: by nothing */
    bool root;         /* … and its root is taken */
} Along;
qs_status qalong_run(qs_vm *vm, const Along *a, bool *done);

/* into = elem(args), computed in elements of type `compute`.  What is in place reads the elements that it writes. */
typedef struct { Elem elem; qs_dtype compute; int n; const qs_value *args; Array *into; } RowCall;
qs_status qrow_on_device(qs_vm *vm, const RowCall *c, bool *done);
#endif
