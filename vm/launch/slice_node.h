/* slice_node.h -- private to the launch: small operations that are recorded where their arguments are. */
#ifndef VM_SLICE_NODE_H
#define VM_SLICE_NODE_H
#include "vm/tape/tape.h"

/* The form of an adjoint: dense, with the extents of the array, or those over which broadcasting has stretched it. */
typedef struct {
    qs_dtype dtype;
    int ndim, rank;
    int64_t dims[QS_MAX_RANK];
} NodeShape;

qs_status qslice_copy(qs_vm *vm, qs_value v, const NodeShape *shape, Array **out); /* dense; a number fills it */
qs_status qslice_take(qs_vm *vm, Array *a, int64_t element, qs_value *out);        /* one element, a number */
/* Zeros of that shape, with numbers at some elements; nil ones are left away. */
qs_status qslice_put(qs_vm *vm, const NodeShape *shape, int n, const int64_t *element, const qs_value *number,
                     Array **out);
/* CapturedList of one shape lie in `packed` one behind the other: they were moved there; or the i-th was moved back. */
void qslice_packed(qs_vm *vm, int n, const qs_value *entries, qs_value packed);
void qslice_unpacked(qs_vm *vm, Trace *packed, int64_t i, qs_value entry); /* takes the edge */
#endif
