/* serial_loops.h -- says why innermost loops of serial code are not vectorized, for --explain. */
#ifndef LANG_KERNEL_SERIAL_LOOPS_H
#define LANG_KERNEL_SERIAL_LOOPS_H
#include "lang/kernel/ir/kfunc.h"

enum { SERIAL_REASON = 200 };
/* Calls `tell` for each such loop of f, a loop of the program, with the position of the loop and the reason. */
void kserial_explain(Ctx *c, const KFunc *f, void *ud, void (*report)(void *ud, uint32_t pos, const char *reason));
#endif
