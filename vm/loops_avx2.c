/* loops.c once more, for processors with AVX2.  Without FMA: every processor gives the same results. */
#include "vm/loops.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define QLOOPS_AVX2
#include "vm/loops.c"
#else
Loop *qloops_get_avx2(LoopOp op, qs_dtype d, LoopForm form) { return qloops_get(op, d, form); }
double qloops_sum32_avx2(size_t n, const float *x) { return qloops_sum32(n, x); }
double qloops_sum64_avx2(size_t n, const double *x) { return qloops_sum64(n, x); }
double qloops_dot32_avx2(size_t n, const float *x, const float *y) { return qloops_dot32(n, x, y); }
double qloops_dot64_avx2(size_t n, const double *x, const double *y) { return qloops_dot64(n, x, y); }
double qloops_spread32_avx2(size_t n, const float *x, double from) { return qloops_spread32(n, x, from); }
double qloops_spread64_avx2(size_t n, const double *x, double from) { return qloops_spread64(n, x, from); }
double qloops_running32_avx2(size_t n, const float *x, double before, float *y) {
    return qloops_running32(n, x, before, y);
}
double qloops_running64_avx2(size_t n, const double *x, double before, double *y) {
    return qloops_running64(n, x, before, y);
}
void qloops_accumulate32_avx2(size_t n, size_t rows, const float *x, ptrdiff_t step, double *sums) {
    qloops_accumulate32(n, rows, x, step, sums);
}
#endif
