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
double qloop_dot32_avx2(size_t n, const float *x, const float *y) { return qloop_dot32(n, x, y); }
double qloop_dot64_avx2(size_t n, const double *x, const double *y) { return qloop_dot64(n, x, y); }
double qloop_spread32_avx2(size_t n, const float *x, double from) { return qloop_spread32(n, x, from); }
double qloop_spread64_avx2(size_t n, const double *x, double from) { return qloop_spread64(n, x, from); }
double qloop_running32_avx2(size_t n, const float *x, double before, float *y) {
    return qloop_running32(n, x, before, y);
}
double qloop_running64_avx2(size_t n, const double *x, double before, double *y) {
    return qloop_running64(n, x, before, y);
}
void qloop_accumulate32_avx2(size_t n, size_t rows, const float *x, ptrdiff_t step, double *sums) {
    qloop_accumulate32(n, rows, x, step, sums);
}
#endif
