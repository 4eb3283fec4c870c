/* index.h -- declares indexing of arrays and cells, x[…]. */
#ifndef VM_INDEX_H
#define VM_INDEX_H
#include "vm/array/array.h"

enum Op;

/* The indices of x[…]: numbers, colons, spans, index vectors, masks of dtype bool; or a single coordinate vector if the
 * rank is 2 or more.  name: name of x, for messages; NULL: none. */
typedef struct Subscript {
    int n;
    const qs_value *at;
    TypeMods mods;
    const char *name;
    bool is_list; /* see INDEX_IS_LIST */
} Subscript;
qs_status qidx_get(qs_vm *vm, qs_value base, const Subscript *s, qs_value *out);
qs_status qidx_view(qs_vm *vm, qs_value array, const Subscript *s, qs_value *out); /* the same, a view if possible */
qs_status qidx_set(qs_vm *vm, qs_value base, const Subscript *s, qs_value v);
qs_status qidx_update(qs_vm *vm, enum Op op, qs_value base, const Subscript *s, qs_value v);
#endif
