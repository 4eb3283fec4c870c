/* grad.c -- see grad.h. */
#include "lang/kernel/grad/grad.h"

qs_status kgrad_reverse(Ctx *c, Arena *arena, const KFunc *f, const bool *active, KGrad *out) {
    (void)arena, (void)active, (void)out;
    return qerr_set(c, QS_ETYPE, "kernel %s has no derivative yet", f->name->s);
}

qs_status kgrad_forward(Ctx *c, Arena *arena, const KFunc *f, const bool *active, KGrad *out) {
    return kgrad_reverse(c, arena, f, active, out);
}
