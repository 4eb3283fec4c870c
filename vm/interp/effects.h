/* effects.h -- determines whether a function may have side effects. */
#ifndef VM_EFFECTS_H
#define VM_EFFECTS_H
#include "lang/syntax/ast.h"
#include "vm/quasar.h"
/* Returns whether a script function of the program or the library may have side effects.  It has none if it writes to
 * no parameter, field or captured array, and calls only built-ins without side effects, script functions without side
 * effects, kernels, and checks of its arguments.  The answer is conservative: true if unknown. */
bool qeffects_of(qs_vm *vm, Func *f);
#endif
