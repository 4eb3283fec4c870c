/* link.h -- private to the machine: a unit becomes part of its module. */
#ifndef VM_LINK_H
#define VM_LINK_H
#include "vm/program/module.h"

/* Two steps over all files that are new, so that files may import each other. */
void qlink_enter(qs_vm *vm, Module *m, Unit *u);
qs_status qlink_unit(qs_vm *vm, Module *m, Unit *u); /* what is wrong is in the unit's report */
#endif
