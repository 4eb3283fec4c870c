/* prompt.h -- what qrun shows besides a program's own output: the prompt, dumps. */
#ifndef VM_PROMPT_H
#define VM_PROMPT_H
#include "vm/base/ctx.h"

/* Reads and runs statements until the end of input; true when somebody typed them or none failed. */
bool qprompt_run(qs_vm *vm);
/* The syntax tree ("ast") or the instructions ("bytecode") of a text, or of a file where it is NULL. */
qs_status qprompt_dump(qs_vm *vm, const char *path, const char *text, const char *what, Text *out);
/* Whether it can be parsed, and its names are known; nothing runs. */
qs_status qprompt_check(qs_vm *vm, const char *path, const char *text);
#endif
