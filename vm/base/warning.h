/* warning.h -- what is legal, and hardly meant.
 *
 * Everything that warns about a program comes here: the parser and the pass over names through the list of their unit
 * (lang/syntax/diag.h), what runs through qvm_warn.  A place warns once.  `--no-warnings` is Ctx.no_warnings; in a file
 * {!warnings off} ends them up to {!warnings on}, in the order of the text. */
#ifndef VM_WARNING_H
#define VM_WARNING_H
#include "vm/base/ctx.h"

bool qwarn_wanted(const Ctx *c, Where w);
/* Says it, unless it is not wanted or was said: QS_OK.  Who listens may make it an error, as Python does. */
qs_status qwarn_at(Ctx *c, Where w, const char *fmt, ...) QS_PRINTF(3, 4);
/* From byte pos of the text on they are wanted, or not. */
void qwarn_switch(Ctx *c, Source *src, uint32_t pos, bool on);
#endif
