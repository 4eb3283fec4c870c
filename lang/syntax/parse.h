/* parse.h -- text to syntax tree. */
#ifndef LANG_PARSE_H
#define LANG_PARSE_H
#include "lang/syntax/ast.h"

#include <limits.h>

/* Parses a whole file.  Always gives a Unit (even with errors, for tools); QS_ESYNTAX when unit->nerrors > 0, and then
 * every message is in unit->report and the first also in ctx->err.  The unit keeps `src`. */
qs_status qparse_unit(Ctx *c, Source *src, Unit **out);
void qparse_free(Unit *u);
/* What import_native("filters") means: filters.so, unless the name ends as a library's; `end`: ".so" or ".dll". */
void qparse_native_name(const char *name, const char *end, char out[PATH_MAX]);
bool qparse_is_native(const char *name); /* it ends as the name of a library does */
/* For the prompt: does this text end inside an open block, bracket or continued line? */
bool qparse_incomplete(Ctx *c, const char *text, size_t n);
/* "vec[mat]", "cube{:}", "mat'circular" on its own (typename(), type(x,"…")). */
qs_status qparse_type(Ctx *c, const char *text, size_t n, Unit **unit, TypeExpr **out);
#endif
