/* parse.h -- parses source text into a syntax tree. */
#ifndef LANG_PARSE_H
#define LANG_PARSE_H
#include "lang/syntax/ast.h"

#include <limits.h>

/* Parses a whole file.  *out is always set to a Unit, which the caller frees; tools need it even if there are errors.
 * Returns QS_ESYNTAX if unit->nerrors > 0; then unit->report has all messages and ctx->err the first one.  The unit
 * keeps a reference to `src`. */
qs_status qparse_unit(Ctx *c, Source *src, Unit **out);
void qparse_free(Unit *u);
/* Returns the file name that import_native(name) loads: `name` itself if it ends like a library, else `name` with `end`
 * appended, which is ".so" or ".dll". */
void qparse_native_name(const char *name, const char *end, char out[PATH_MAX]);
bool qparse_is_native(const char *name); /* whether the name ends like that of a library */
/* Returns whether the text ends inside an open block, bracket or continued line; the prompt then reads another line. */
bool qparse_incomplete(Ctx *c, const char *text, size_t n);
/* Parses a type such as "vec[mat]", "cube{:}" or "mat'circular", for typename() and type(x,"…"). */
qs_status qparse_type(Ctx *c, const char *text, size_t n, Unit **unit, TypeExpr **out);
#endif
