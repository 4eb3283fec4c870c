/* index.h -- x[…] on arrays and cells. */
#ifndef VM_INDEX_H
#define VM_INDEX_H
#include "lang/syntax/operators.h"
#include "vm/array/array.h"

/* Indices: numbers, colons, index vectors, masks of dtype bool; a coordinate vector when there is one index, rank >= 2.
 * `name` is the variable's name for messages, NULL when there is none. */
qs_status qidx_get(qs_vm *vm, qs_value base, int n, const qs_value *at, TypeMods mods, const char *name, qs_value *out);
qs_status qidx_set(qs_vm *vm, qs_value base, int n, const qs_value *at, TypeMods mods, const char *name, qs_value v);
qs_status qidx_update(qs_vm *vm, Op op, qs_value base, int n, const qs_value *at, TypeMods mods, const char *name,
                      qs_value v);
#endif
