/* pack.h -- passes cells of arrays and cells of objects to kernels; private to kernel launches.
 *
 * A cell whose entries are arrays of one size and element type, such as vec[vec3] and vec[mat], is passed to a kernel
 * as one array, whose last dimensions are those of the entries.  After the launch, the array is copied back to the
 * entries.  The entries must therefore not share memory with each other or with another argument, because the copies
 * do not.
 *
 * A cell of objects of one class is passed as one array for each field that is a number, or an array of one size and
 * element type.  Kernels only read them, like single host objects. */
#ifndef VM_PACK_H
#define VM_PACK_H
#include "vm/array/array.h"

typedef struct {
    const qs_value *given; /* the original arguments */
    /* the arguments, with arrays in place of cells of arrays, then the fields of objects; owned; NULL: no such cell */
    qs_value *args;
    int n, total;       /* number of arguments; number of arguments and fields */
    uint8_t *inner;     /* by argument: number of dimensions that belong to the entries; 0: unchanged */
    struct Class **cls; /* by argument: class of the objects; NULL: not a cell of objects */
    int *first;         /* by argument with objects: index of its first field in args */
} Packed;

qs_status qpack_open(qs_vm *vm, int n, const qs_value *given, Packed *out);
/* Error if memory is shared; call before a kernel writes to it. */
qs_status qpack_alone(qs_vm *vm, const Packed *p, int arg);
/* Copies back to the entries of a cell that the kernel has written. */
qs_status qpack_back(qs_vm *vm, const Packed *p, int arg);
void qpack_close(qs_vm *vm, Packed *p);
#endif
