/* diag.h -- reports errors and warnings about the source text of a program. */
#ifndef LANG_DIAG_H
#define LANG_DIAG_H
#include "lang/syntax/ast.h"
/* All append to unit->report.  Errors are counted in unit->nerrors, and the first one is also set in ctx->err.
 * Warnings are stored in unit->warnings until the unit turns out to have no errors. */
void qdiag_error(Unit *u, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);      /* QS_ESYNTAX */
void qdiag_name_error(Unit *u, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4); /* QS_ENAME */
void qdiag_verror(Unit *u, qs_status s, uint32_t pos, const char *fmt, va_list ap);
void qdiag_warning(Unit *u, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);
/* Returns a hint what to write instead of a word of another language (habits.def); NULL: the word is not listed. */
const char *qdiag_habit(const char *word, size_t n);
/* Appends the error message for the unknown name near->wanted: what to write instead, from habits.def, the library, a
 * list of functions of Python (python_names.def), or a similar name.  script: for a script, else for Python and C. */
void qdiag_unknown_name(const Nearest *near, bool script, Text *out);
#endif
