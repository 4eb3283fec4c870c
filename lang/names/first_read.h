/* first_read.h -- private to lang/names: which locals begin with the value of a variable outside.
 *
 * A resolved body and one of its locals come in; scope.c captures what the answers ask for. */
#ifndef LANG_FIRST_READ_H
#define LANG_FIRST_READ_H
#include "lang/syntax/ast.h"

/* Whether f may read its local before it has given it a value. */
bool qfirstread_is_read_first(const Func *f, const Sym *local);
/* The first assignment to the local when all that is ever done with it is to make its next value; NULL: it is used. */
const Node *qfirstread_useless(const Func *f, const Sym *local);
#endif
