/* help.h -- shows the help of `?name`.
 *
 * The description of a function is stored where the function is defined: for a built-in in its row of
 * stdlib/builtins.def, for a library function in the comment above it.  `?name`, docs/builtins.md and hints in error
 * messages all use it.  The columns with the MATLAB and NumPy names serve as a dictionary and answer `unknown name
 * 'argsort'` with `sort`.  If a name is unknown, the files of the library are searched for a function of that name.
 * Words of other languages that are not functions here are in lang/syntax/habits.def. */
#ifndef VM_HELP_H
#define VM_HELP_H
#include "vm/base/ctx.h"

/* Answers `? question` at the prompt: help on a name, else a list of functions whose description contains the word. */
void qhelp_show(qs_vm *vm, const char *question);
void qhelp_variables(qs_vm *vm);         /* implements `who`: lists the variables of the session */
void qhelp_manual(qs_vm *vm, Text *out); /* generates docs/builtins.md */
#endif
