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
/* What only the values show, in the interpreter and in compiled loops (lang/kernel/host/loop.h). */
typedef enum {
    SLIP_FRACTION, /* an index without an access mode has a fraction */
    SLIP_CUT,      /* a variable of an integer type is given a number beyond it, or nan */
    SLIP_FLOAT32,  /* x == y, where x is y rounded to float32, which no number with a short fraction is */
    SLIP_PLACE     /* see qwarn_place, which says it */
} Slip;
qs_status qwarn_slip(Ctx *c, Where w, Slip s);
/* x[0..1], x[[0,1]] of an array of that many dimensions, where rows may be meant; name: what x is called, or NULL. */
qs_status qwarn_place(Ctx *c, Where w, const char *name, int rank);
/* SLIP_FLOAT32: x and y are not equal.  Of a number with few digits in binary nobody can say it. */
bool qwarn_is_rounded(double x, double y);
/* From byte pos of the text on they are wanted, or not. */
void qwarn_switch(Ctx *c, Source *src, uint32_t pos, bool on);
#endif
