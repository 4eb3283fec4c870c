/* first_read.h -- private to lang/names: finds locals that must be initialized from an outer variable of the same name.
 *
 * Both functions analyze a resolved function and one of its locals; scope.c uses the answers to add captures, and
 * lint.c the second one for parameters of kernels. */
#ifndef LANG_FIRST_READ_H
#define LANG_FIRST_READ_H
#include "lang/syntax/ast.h"

/* Returns whether f may read the local before assigning to it. */
bool qfirstread_is_read_first(const Func *f, const Sym *local);
/* Returns the first assignment to the local if its value is only ever used to compute its next value; NULL: the value
 * has another use. */
const Node *qfirstread_useless(const Func *f, const Sym *local);
#endif
