/* warning.h -- what is legal, and hardly meant.
 *
 * Everything that warns about a program comes here: the parser and the pass over names through the list of their unit
 * (lang/syntax/diag.h), what runs through qvm_warn.  A place warns once.  `--no-warnings` is Ctx.no_warnings; in a file
 * {!warnings off} ends them up to {!warnings on}, in the order of the text. */
#ifndef VM_WARNING_H
#define VM_WARNING_H
#include "vm/base/ctx.h"

bool qwarn_wanted(const Ctx *c, Where w);
/* Says it, unless it is not wanted or was said: QS_OK.  Who listens may make it an error, as Python does. */
qs_status qwarn_at(Ctx *c, Where w, const char *fmt, ...) QS_PRINTF(3, 4);
/* What only the values show, in the interpreter and in compiled loops (lang/kernel/lower/loop/loop.h). */
typedef enum {
    SLIP_FRACTION, /* an index without an access mode has a fraction */
    SLIP_CUT,      /* a variable of an integer type is given a number beyond it, or nan */
    SLIP_FLOAT32,  /* x == y, where x is y rounded to float32, which no number with a short fraction is */
    SLIP_PLACE     /* see qwarn_place, which says it */
} Slip;
qs_status qwarn_slip(Ctx *c, Where w, Slip s);
/* x[0..1], x[[0,1]] of an array of that many dimensions, where rows may be meant; name: what x is called, or NULL. */
qs_status qwarn_place(Ctx *c, Where w, const char *name, int rank);
/* [a, b] = f(…), where f gives one result: its `have` elements are unpacked into `want` variables.  QS_ESHAPE when
 * elements are left over; otherwise a warning, unless the list is `meant` to be unpacked: a cell, a lambda's result, or
 * one that is declared with so many elements. */
qs_status qwarn_unpacked(Ctx *c, Where w, const char *fn, size_t have, int want, bool meant);
/* A call of a function without effects is a statement. */
qs_status qwarn_unused(Ctx *c, Where w, const char *fn);
/* The call at pos of the text names a dimension by a literal, of an array that is no image: where the array has nothing
 * along it, this is a mistake.  In general code, where the dimension is computed or the array may be an image, it is
 * none, since an array has the extent 1 along each further dimension. */
void qwarn_note_dimension(Ctx *c, Source *src, uint32_t pos);
bool qwarn_dimension_is_noted(Where w);
/* fn(x, dim), where x has `rank` dimensions (1: it is a vec) and only one element along `dim`. */
qs_status qwarn_dimension(Ctx *c, Where w, const char *fn, int rank, int dim);
/* SLIP_FLOAT32: x and y are not equal.  Of a number with few digits in binary nobody can say it. */
bool qwarn_is_rounded(double x, double y);
/* From byte pos of the text on they are wanted, or not. */
void qwarn_switch(Ctx *c, Source *src, uint32_t pos, bool on);
#endif
