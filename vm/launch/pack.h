/* pack.h -- private to the launch of kernels: cells of arrays and cells of objects as arguments.
 *
 * A cell whose entries are arrays of one size and element type, as vec[vec3] and vec[mat] are, enters a kernel as one
 * array, in which the dimensions of the entries come last.  What the kernel wrote goes back to the entries; so they
 * must not share memory with each other, or with another argument, because the copies do not.
 *
 * A cell of objects of one class enters as an array for each field that is a number, or an array of one size and
 * element type.  Kernels only read them, as they do with single objects of the host. */
#ifndef VM_PACK_H
#define VM_PACK_H
#include "vm/array/array.h"

typedef struct {
    const qs_value *given; /* the arguments as they came */
    qs_value *args;        /* with arrays for cells of arrays, then the fields of objects; owned; NULL: no such cell */
    int n, total;          /* arguments; these and fields */
    uint8_t *inner;        /* of each argument: how many dimensions belong to the entries; 0: it is as it came */
    struct Class **cls;    /* of each argument: that of the objects; NULL: it has none */
    int *first;            /* of each argument with objects: the number of its first field */
} Packed;

qs_status qpack_open(qs_vm *vm, int n, const qs_value *given, Packed *out);
qs_status qpack_alone(qs_vm *vm, const Packed *p, int arg); /* before a kernel writes to it */
qs_status qpack_back(qs_vm *vm, const Packed *p, int arg);  /* to the entries of a cell that the kernel has written */
void qpack_close(qs_vm *vm, Packed *p);
#endif
