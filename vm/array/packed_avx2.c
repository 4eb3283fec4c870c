/* packed.c once more, for processors with AVX2.  Without FMA: every processor gives the same results. */
#include "vm/array/packed.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define QPACKED_AVX2
#include "vm/array/packed.c"
#else
Loop *qpacked_get_avx2(LoopOp op, qs_dtype d, LoopForm form) { return qpacked_get(op, d, form); }
double qpacked_sum32_avx2(size_t n, const float *x) { return qpacked_sum32(n, x); }
double qpacked_sum64_avx2(size_t n, const double *x) { return qpacked_sum64(n, x); }
double qpacked_dot32_avx2(size_t n, const float *x, const float *y) { return qpacked_dot32(n, x, y); }
double qpacked_dot64_avx2(size_t n, const double *x, const double *y) { return qpacked_dot64(n, x, y); }
double qpacked_spread32_avx2(size_t n, const float *x, double from) { return qpacked_spread32(n, x, from); }
double qpacked_spread64_avx2(size_t n, const double *x, double from) { return qpacked_spread64(n, x, from); }
double qpacked_running32_avx2(size_t n, const float *x, double before, float *y) {
    return qpacked_running32(n, x, before, y);
}
double qpacked_running64_avx2(size_t n, const double *x, double before, double *y) {
    return qpacked_running64(n, x, before, y);
}
void qpacked_accumulate32_avx2(size_t n, size_t rows, const float *x, ptrdiff_t step, double *sums) {
    qpacked_accumulate32(n, rows, x, step, sums);
}
#endif
