/* modtype.h -- handles the types that modules define (private to the VM). */
#ifndef VM_MODTYPE_H
#define VM_MODTYPE_H
#include "vm/program/module.h"

void qmodtype_add(qs_vm *vm, Module *m, Unit *u);              /* adds the type definitions of the unit */
qs_status qmodtype_resolve_all(qs_vm *vm, Module *m, Unit *u); /* resolves each of them */
void qmodtype_free(qs_vm *vm, ModType *t);

ModType *qmodtype_find(qs_vm *vm, Module *m, Str *name, Module **home); /* visible from m; NULL: not defined */
/* NULL: the type is generic, or wrong; in the latter case *status is set unless it was set before. */
const Type *qmodtype_of(qs_vm *vm, Module *home, ModType *t, qs_status *status);
qs_status qmodtype_resolve(qs_vm *vm, Module *m, TypeExpr *e, const Source *src, const TypeHost *params,
                           const Type **out, TypeMods *mods);
/* whether e names a type parameter of `in` or its parents */
bool qmodtype_mentions_param(const TypeExpr *e, const Func *in);
ModType *qmodtype_generic_of(qs_vm *vm, const Class *cls, ClassInstance **instance);
/* An instance of a generic class, made on first use; NULL: unknown. */
const Type *qmodtype_instance(qs_vm *vm, Module *m, Str *generic, const Type **args, int nargs);
#endif
