/* diag.h -- messages about the text of a program. */
#ifndef LANG_DIAG_H
#define LANG_DIAG_H
#include "lang/ast.h"
void qdiag_error(Unit *u, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);   /* counts, appends to report, sets ctx->err if first */
void qdiag_warning(Unit *u, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);
#endif
