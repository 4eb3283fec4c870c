/* lint.h -- what is legal and hardly meant, as far as names tell; slips that show in the spelling alone are found by
 * the parser, assignments that do not reach outside by scope.c.  Called when a unit's names are known
 * (vm/program/link.c); says it by qdiag_warning.
 *
 *     7 % 2                  % begins a comment
 *     x[1.9], x[-1]          no places: the first is read as x[1], the second reads 0 in a kernel
 *     3..1                   no elements
 *     x[find(c)]             positions are no places
 *     match x with | 1..5    a pattern is no test whether x lies in it
 *     mean(x, 2)             of a matrix: when `strict`, since for images it is meant */
#ifndef LANG_LINT_H
#define LANG_LINT_H
#include "lang/names/scope.h"

void qlint_look(Unit *u, const ScopeHost *host, bool strict);
#endif
