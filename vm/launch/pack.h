/* pack.h -- passes cells of arrays and cells of objects to kernels; private to kernel launches.
 *
 * A cell whose entries are arrays of one size and element type, such as vec[vec3] and vec[mat], is passed to a kernel
 * as one array, whose last dimensions are those of the entries.  After the launch, the array is copied back to the
 * entries.  The entries must therefore not share memory with each other or with another argument, because the copies
 * do not.
 *
 * A cell of objects of one class is passed as one array for each field that is a number, or an array of one size and
 * element type.  Fields that the kernel writes are copied back: numbers into the objects, elements into the arrays of
 * the fields.  A field that is set as a whole gets new arrays, as on the host.
 *
 * A field of a single object is passed as it is, unless the kernel sets it: then it is an array that only the launch
 * has (Captured.own), with one element in place of a number.  The field gets it, or its number, after the launch. */
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
/* Error if memory is shared; call before a kernel writes to argument `arg`, or to a field at that index in `args`.
 * own: the field is set as a whole. */
qs_status qpack_alone(qs_vm *vm, const Packed *p, int arg, bool own);
/* Copies back to the entries of a cell, or to fields of its objects, that the kernel has written. */
qs_status qpack_back(qs_vm *vm, const Packed *p, int arg, bool own);
void qpack_close(qs_vm *vm, Packed *p);
/* Returns an array for a field of a single object; gives the field what the array has after the launch. */
qs_status qpack_field(qs_vm *vm, const Object *o, int field, qs_value *out);
qs_status qpack_field_back(qs_vm *vm, Object *o, int field, qs_value packed);
bool qpack_has_object(const Packed *p, const Object *o); /* whether a cell of objects has it */
#endif
