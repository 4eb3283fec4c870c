/* lint.h -- warns about legal code that is probably a mistake, if recognizing it needs resolved names.
 *
 * vm/program/link.c calls it after the names of a unit are resolved; it reports with qdiag_warning.  The parser warns
 * about mistakes that are visible in the spelling, scope.c about assignments that do not change an outer variable.
 *
 *     7 % 2                  % begins a comment
 *     x[1.9], x[-1]          not valid indices: the first reads x[1], the second reads 0 in a kernel
 *     3..1                   an empty range
 *     x[find(c)]             find returns rows of positions, not a list of indices
 *     match x with | 1..5    a pattern compares x with the range; it does not test whether x is inside
 *     y = x                  in a kernel with the parameter y, which changes no element
 *     mean(x, 2)             a matrix has no dimension 2; only if `strict`, because images have one
 *     f(x : vec), f(y : vec) two definitions that no call distinguishes */
#ifndef LANG_LINT_H
#define LANG_LINT_H
#include "lang/names/scope.h"

void qlint_look(Unit *u, const ScopeHost *host, bool strict);
#endif
