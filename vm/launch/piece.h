/* piece.h -- private to the launch: small operations that are recorded where their arguments are. */
#ifndef VM_PIECE_H
#define VM_PIECE_H
#include "vm/grad/tape.h"

/* The form of an adjoint: dense, with the extents of the array, or those over which broadcasting has stretched it. */
typedef struct { qs_dtype dtype; int ndim, rank; int64_t dims[QS_MAX_RANK]; } Shape;

qs_status qpiece_copy(qs_vm *vm, qs_value v, const Shape *shape, Array **out);    /* dense; a number fills it */
qs_status qpiece_take(qs_vm *vm, Array *a, int64_t element, qs_value *out);       /* one element, a number */
/* Zeros of that shape, with numbers at some elements; nil ones are left away. */
qs_status qpiece_put(qs_vm *vm, const Shape *shape, int n, const int64_t *element, const qs_value *number, Array **out);
/* Entries of one shape lie in `packed` one behind the other: they were moved there; or the i-th was moved back. */
void qpiece_packed(qs_vm *vm, int n, const qs_value *entries, qs_value packed);
void qpiece_unpacked(qs_vm *vm, Trace *packed, int64_t i, qs_value entry); /* takes the edge */
#endif
