/* pair.h -- complex numbers in KIR: two instructions, combined step by step as vm/array/packed.c does. */
#ifndef LANG_KERNEL_PAIR_H
#define LANG_KERNEL_PAIR_H
#include "lang/kernel/ir/kir.h"

typedef struct { KRef re, im; } KPair;

/* Of larger real parts exp is taken in two factors. */
#define KPAIR_EXP_MOST    709.0
#define KPAIR_EXP_OF_MOST 8.218407461554972e307

KPair kpair_each(KFunc *f, KOp op, KPair a, KPair b, uint32_t pos); /* + and - */
KPair kpair_negative(KFunc *f, KPair a, uint32_t pos);
KPair kpair_times(KFunc *f, KPair a, KPair b, uint32_t pos);
KPair kpair_over(KFunc *f, KPair a, KPair b, uint32_t pos);
KPair kpair_whole_power(KFunc *f, KPair a, int n, uint32_t pos);    /* by squaring; n < 0: one over it */
/* Of float64. */
KPair kpair_power(KFunc *f, KPair a, KPair b, uint32_t pos);        /* exp(b*log(a)) */
KPair kpair_exp(KFunc *f, KPair a, uint32_t pos);
KPair kpair_sqrt(KFunc *f, KPair a, uint32_t pos);
KRef kpair_equal(KFunc *f, KPair a, KPair b, uint32_t pos);
#endif
