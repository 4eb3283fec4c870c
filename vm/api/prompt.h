/* prompt.h -- implements the interactive prompt and the dumps of qrun. */
#ifndef VM_PROMPT_H
#define VM_PROMPT_H
#include "vm/base/ctx.h"

/* Reads and runs statements until the end of input; true if they were typed or none failed. */
bool qprompt_run(qs_vm *vm);
/* Writes the syntax tree ("ast") or the instructions ("bytecode") of a text; path is used if text is NULL. */
qs_status qprompt_dump(qs_vm *vm, const char *path, const char *text, const char *what, Text *out);
/* Parses the program and resolves its names without running it. */
qs_status qprompt_check(qs_vm *vm, const char *path, const char *text);
#endif
