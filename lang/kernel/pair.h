/* pair.h -- complex numbers in KIR: two instructions, combined step by step as vm/loops.c does. */
#ifndef LANG_KERNEL_PAIR_H
#define LANG_KERNEL_PAIR_H
#include "lang/kernel/kir.h"

typedef struct { KRef re, im; } KPair;

KPair kpair_each(KFunc *f, KOp op, KPair a, KPair b, uint32_t pos); /* + and - */
KPair kpair_negative(KFunc *f, KPair a, uint32_t pos);
KPair kpair_times(KFunc *f, KPair a, KPair b, uint32_t pos);
KPair kpair_over(KFunc *f, KPair a, KPair b, uint32_t pos);
KPair kpair_whole_power(KFunc *f, KPair a, int n, uint32_t pos);    /* by squaring; n < 0: one over it */
KRef kpair_equal(KFunc *f, KPair a, KPair b, uint32_t pos);
#endif
