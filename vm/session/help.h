/* help.h -- what `?name` shows. */
#ifndef VM_HELP_H
#define VM_HELP_H
#include "vm/base/ctx.h"

/* The answer to `? question` at the prompt: help on a name, else whatever speaks of the word. */
void qhelp_show(qs_vm *vm, const char *question);
void qhelp_variables(qs_vm *vm); /* what `who` shows: the variables of the session */
void qhelp_manual(qs_vm *vm, Text *out); /* docs/builtins.md */
#endif
