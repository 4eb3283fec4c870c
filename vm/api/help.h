/* help.h -- what `?name` shows.
 *
 * What is said of a function stands where the function is defined: of a built-in in its row of stdlib/builtins.def, of
 * a library function in the comment above it.  `?name`, docs/builtins.md and the hints in error messages are made of
 * that. The columns with the names that MATLAB and NumPy have serve twice, as a dictionary and to answer `unknown name
 * 'argsort'` with `sort`.  A function of the library that is not imported is found by looking through the library's
 * files, but only when a name is unknown.  Words of other languages that are no functions here are in
 * lang/syntax/habits.def. */
#ifndef VM_HELP_H
#define VM_HELP_H
#include "vm/base/ctx.h"

/* The answer to `? question` at the prompt: help on a name, else whatever speaks of the word. */
void qhelp_show(qs_vm *vm, const char *question);
void qhelp_variables(qs_vm *vm);         /* what `who` shows: the variables of the session */
void qhelp_manual(qs_vm *vm, Text *out); /* docs/builtins.md */
#endif
