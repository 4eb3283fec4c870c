/* map_elements.h -- applies an elementwise function to numbers and arrays, with broadcasting.
 *
 * The row of elem.def defines the function and its treatment of integers and complex numbers. */
#ifndef VM_MAP_ELEMENTS_H
#define VM_MAP_ELEMENTS_H
#include "vm/array/array.h"

enum Elem;

qs_status qmapelem_apply(qs_vm *vm, enum Elem e, const qs_value *args, qs_value *out);
#endif
