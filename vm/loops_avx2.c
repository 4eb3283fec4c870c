/* loops.c once more, for processors with AVX2.  Without FMA: every processor gives the same results. */
#include "vm/loops.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define QLOOP_AVX2
#include "vm/loops.c"
#else
Loop *qloop_get_avx2(LoopOp op, qs_dtype d, LoopForm form) { return qloop_get(op, d, form); }
double qloop_sum32_avx2(size_t n, const float *x) { return qloop_sum32(n, x); }
double qloop_sum64_avx2(size_t n, const double *x) { return qloop_sum64(n, x); }
void qloop_accumulate32_avx2(size_t n, const float *x, double *sums) { qloop_accumulate32(n, x, sums); }
#endif
