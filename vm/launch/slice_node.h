/* slice_node.h -- small operations that are recorded on the tape if their arguments are; private to the launch code. */
#ifndef VM_SLICE_NODE_H
#define VM_SLICE_NODE_H
#include "vm/array/array.h"
#include "vm/value/trace.h"

/* Shape of an adjoint, which is dense: the extents of the array, or the ones that broadcasting has stretched it to. */
typedef struct {
    qs_dtype dtype;
    int ndim, rank;
    int64_t dims[QS_MAX_RANK];
} NodeShape;

bool qslice_fits(const Array *a, const NodeShape *shape); /* has this shape and type, and is contiguous */
/* Dense copy; a number is repeated. */
qs_status qslice_copy(qs_vm *vm, qs_value v, const NodeShape *shape, Array **out);
qs_status qslice_take(qs_vm *vm, Array *a, int64_t element, qs_value *out); /* one element, as a number */
/* Returns zeros of that shape, with numbers at some elements; nil numbers are skipped. */
qs_status qslice_put(qs_vm *vm, const NodeShape *shape, int n, const int64_t *element, const qs_value *number,
                     Array **out);
/* Records that n cell entries of one shape were copied into `packed`, one after the other; or that entry i was copied
 * back. */
void qslice_packed(qs_vm *vm, int n, const qs_value *entries, qs_value packed);
void qslice_unpacked(qs_vm *vm, Trace *packed, int64_t i, qs_value entry); /* consumes the reference */
#endif
