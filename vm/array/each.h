/* each.h -- an elementwise function on as many numbers and arrays as it takes, with broadcasting.
 *
 * The row of elem.def says what it computes, and what becomes of whole and of complex numbers. */
#ifndef VM_EACH_H
#define VM_EACH_H
#include "lang/kernel/elem/elem.h"
#include "vm/array/array.h"

qs_status qeach_apply(qs_vm *vm, Elem e, const qs_value *args, qs_value *out);
#endif
