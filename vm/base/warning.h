/* warning.h -- reports warnings: code that is legal, but probably not what the author meant.
 *
 * All warnings about a program pass through here: the parser and name resolution use the list of their unit
 * (lang/syntax/diag.h), the running program uses qvm_warn.  Each source location warns once.  `--no-warnings` sets
 * Ctx.no_warnings; in a file, {!warnings off} suppresses the warnings up to the next {!warnings on}, in text order. */
#ifndef VM_WARNING_H
#define VM_WARNING_H
#include "vm/base/ctx.h"

bool qwarn_wanted(const Ctx *c, Where w);
bool qwarn_code(Where w); /* a warning about the code there helps: it is not the library, which a user cannot change */
bool qwarn_expected(const Ctx *c, Where w); /* qwarn_at would report: the location has not warned yet */
/* Reports a warning, unless warnings are off or the location has already had one; then returns QS_OK.  The receiver may
 * turn it into an error, as Python does. */
qs_status qwarn_at(Ctx *c, Where w, const char *fmt, ...) QS_PRINTF(3, 4);
/* Warnings that depend on values, from the interpreter and from compiled loops (lang/kernel/lower/loop/loop.h). */
typedef enum {
    SLIP_FRACTION, /* an index without an access mode has a fraction */
    SLIP_CUT,      /* a variable of an integer type is assigned nan or a number beyond its range */
    SLIP_FLOAT32,  /* x == y is false because x is y rounded to float32, see qwarn_is_rounded */
    SLIP_MEAN,     /* the mean of no elements */
    SLIP_PLACE     /* reported by qwarn_location */
} Slip;
qs_status qwarn_slip(Ctx *c, Where w, Slip s);
/* Warns about x[0..1] or x[[0,1]], which selects one element, where rows may be meant.  name: the name of x, or NULL;
 * rank: its number of dimensions. */
qs_status qwarn_location(Ctx *c, Where w, const char *name, int rank);
/* Checks [a, b] = f(…) if f returns one result, whose `have` elements are unpacked into `want` variables.  Returns
 * QS_ESHAPE if elements are left over.  Otherwise warns, unless unpacking is `meant`: the result is a cell, comes from
 * a lambda, or is declared with that many elements. */
qs_status qwarn_unpacked(Ctx *c, Where w, const char *fn, size_t have, int want, bool meant);
/* Warns that a call of the function fn, which has no side effects, is used as a statement. */
qs_status qwarn_unused(Ctx *c, Where w, const char *fn);
/* Notes that the call at offset pos names a dimension by a literal, for an array that is not an image.  If the array
 * has only one element along it, this is a mistake.  In general code, with a computed dimension or an array that may be
 * an image, it is not a mistake, because an array has the extent 1 along each further dimension. */
void qwarn_note_dimension(Ctx *c, Source *src, uint32_t pos);
bool qwarn_dimension_is_noted(Where w);
/* Warns about fn(x, dim) if x has `rank` dimensions (1: a vec) and only one element along `dim`. */
qs_status qwarn_dimension(Ctx *c, Where w, const char *fn, int rank, int dim);
/* Returns whether x and y differ only because one is the other rounded to float32 (SLIP_FLOAT32).  A float32 whose low
 * eight bits are 0 is not reported: it may be exact. */
bool qwarn_is_rounded(double x, double y);
/* Turns warnings on or off from byte pos of the text. */
void qwarn_switch(Ctx *c, Source *src, uint32_t pos, bool on);
#endif
