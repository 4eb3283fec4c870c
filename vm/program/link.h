/* link.h -- links a unit into its module (private to the VM). */
#ifndef VM_LINK_H
#define VM_LINK_H
#include "vm/program/module.h"

/* Linking has two steps, each for all new files, so that files may import each other. */
void qlink_enter(qs_vm *vm, Module *m, Unit *u);
qs_status qlink_unit(qs_vm *vm, Module *m, Unit *u); /* errors are in the report of the unit */
#endif
