/* modtype.h -- private to the machine: the types that modules define. */
#ifndef VM_MODTYPE_H
#define VM_MODTYPE_H
#include "vm/program/module.h"

void qmodtype_add(qs_vm *vm, Module *m, Unit *u);              /* enters what the unit defines */
qs_status qmodtype_resolve_all(qs_vm *vm, Module *m, Unit *u); /* says what each of them is */
void qmodtype_free(qs_vm *vm, ModType *t);

ModType *qmodtype_find(qs_vm *vm, Module *m, Str *name, Module **home); /* as seen from m; NULL: not defined */
/* NULL: generic, or wrong, which *status says unless it is set. */
const Type *qmodtype_of(qs_vm *vm, Module *home, ModType *t, qs_status *status);
qs_status qmodtype_resolve(qs_vm *vm, Module *m, TypeExpr *e, const Source *src, const TypeHost *params,
                           const Type **out, TypeMods *mods);
bool qmodtype_mentions_param(const TypeExpr *e, const Func *in); /* a type parameter of `in` or its parents */
ModType *qmodtype_generic_of(qs_vm *vm, const Class *cls, ClassInstance **instance);
#endif
