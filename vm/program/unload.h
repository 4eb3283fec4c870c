/* unload.h -- frees replaced modules and evaluated texts.  Functions that are still referenced keep working; the memory
 * is freed with the last of them.  A program whose types or rewrite rules may be in use is kept. */
#ifndef VM_UNLOAD_H
#define VM_UNLOAD_H
#include "vm/program/module.h"

/* Marks the code as replaced: no new functions are created from it. */
void qunload_unit(qs_vm *vm, Unit *u);
void qunload_module(qs_vm *vm, Module *m);
/* Frees code that is no longer used.  Does nothing while an error is set, because the report shows its source. */
void qunload_sweep(qs_vm *vm);

/* Lets m replace `old`: names of both share their slots, so that existing callers of f call the new f. */
void qunload_inherit(Module *m, Module *old);
bool qunload_adopt(qs_vm *vm, Module *m, Str *name, uint64_t *slot); /* false: nothing to inherit */
void qunload_settle(qs_vm *vm, Module *m, bool taken);               /* taken false: restores the values of `old` */
#endif
