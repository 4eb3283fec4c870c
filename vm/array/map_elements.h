/* map_elements.h -- an elementwise function on as many numbers and arrays as it takes, with broadcasting.
 *
 * The row of elem.def says what it computes, and what becomes of whole and of complex numbers. */
#ifndef VM_MAP_ELEMENTS_H
#define VM_MAP_ELEMENTS_H
#include "lang/kernel/elem/elem.h"
#include "vm/array/array.h"

qs_status qmapelem_apply(qs_vm *vm, Elem e, const qs_value *args, qs_value *out);
#endif
