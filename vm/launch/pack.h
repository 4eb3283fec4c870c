/* pack.h -- private to the launch of kernels: cells of arrays as arguments.
 *
 * A cell whose entries are arrays of one size and element type, as vec[vec3] and vec[mat] are, enters a kernel as one
 * array, in which the dimensions of the entries come last.  What the kernel wrote goes back to the entries. */
#ifndef VM_PACK_H
#define VM_PACK_H
#include "vm/array/array.h"

typedef struct {
    const qs_value *given; /* the arguments as they came */
    qs_value *args;        /* with arrays for cells, owned; NULL: there is no such cell */
    uint8_t *inner;        /* of each: how many dimensions belong to the entries; 0: it is as it came */
    int n;
} Packed;

qs_status qpack_open(qs_vm *vm, int n, const qs_value *given, Packed *out);
qs_status qpack_back(qs_vm *vm, const Packed *p, int arg); /* to the entries of a cell that the kernel has written */
void qpack_close(qs_vm *vm, Packed *p);
#endif
