/* unload.h -- programs that were replaced, and texts that were evaluated: what lives of them works on, and their memory
 * goes with the last function.  A program whose types or rewrite rules may be in use stays. */
#ifndef VM_UNLOAD_H
#define VM_UNLOAD_H
#include "vm/program/module.h"

/* No new functions are made of it. */
void qunload_unit(qs_vm *vm, Unit *u);
void qunload_module(qs_vm *vm, Module *m);
/* Frees what is not used any more.  Not while an error is set: it shows its source. */
void qunload_sweep(qs_vm *vm);

/* m is to take the place of `old`: names of both keep their slots, so that whoever calls f calls the new f. */
void qunload_inherit(Module *m, Module *old);
bool qunload_adopt(qs_vm *vm, Module *m, Str *name, uint64_t *slot); /* false: there is nothing to inherit */
void qunload_settle(qs_vm *vm, Module *m, bool taken);               /* or else `old` gets its values back */
#endif
