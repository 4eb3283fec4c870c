/* index.h -- x[…] on arrays and cells. */
#ifndef VM_INDEX_H
#define VM_INDEX_H
#include "lang/syntax/operators.h"
#include "vm/array/array.h"

/* What stands in the brackets of x[…]: numbers, colons, index vectors, masks of dtype bool; one coordinate vector where
 * the rank is 2 or more.  name: of x, for messages; NULL: it has none. */
typedef struct Subscript {
    int n;
    const qs_value *at;
    TypeMods mods;
    const char *name;
    bool is_list; /* written as INDEX_IS_LIST says */
} Subscript;
qs_status qidx_get(qs_vm *vm, qs_value base, const Subscript *s, qs_value *out);
qs_status qidx_set(qs_vm *vm, qs_value base, const Subscript *s, qs_value v);
qs_status qidx_update(qs_vm *vm, Op op, qs_value base, const Subscript *s, qs_value v);
#endif
