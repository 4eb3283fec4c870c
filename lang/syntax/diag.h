/* diag.h -- messages about the text of a program. */
#ifndef LANG_DIAG_H
#define LANG_DIAG_H
#include "lang/syntax/ast.h"
/* Each counts, appends to unit->report, and an error also goes to ctx->err when it is the first.  A warning is kept in
 * unit->warnings until it is known that the unit has no errors. */
void qdiag_error(Unit *u, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);      /* QS_ESYNTAX */
void qdiag_name_error(Unit *u, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4); /* QS_ENAME */
void qdiag_verror(Unit *u, qs_status s, uint32_t pos, const char *fmt, va_list ap);
void qdiag_warning(Unit *u, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);
/* What to write instead of a word of another language (habits.def); NULL: it is none. */
const char *qdiag_habit(const char *word, size_t n);
#endif
