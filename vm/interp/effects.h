/* effects.h -- whether a call may do more than give its results. */
#ifndef VM_EFFECTS_H
#define VM_EFFECTS_H
#include "lang/syntax/ast.h"
#include "vm/quasar.h"
/* Whether a function of the program or the library may have an effect besides its results.  It has none when it writes
 * into no parameter, field or captured array, and calls nothing but built-in functions without effects, functions for
 * which the same holds, kernels, and checks of its arguments.  The answer is true when this is not certain. */
bool qeffects_of(qs_vm *vm, Func *f);
#endif
