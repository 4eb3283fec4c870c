/* contiguous_avx2.c -- compiles contiguous.c for processors with AVX2, without FMA so that all processors give the same
 * results. */
#include "vm/array/contiguous.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#define QPACKED_AVX2
#include "vm/array/contiguous.c"
#else
Loop *qcontig_get_avx2(LoopOp op, qs_dtype d, LoopForm form) { return qcontig_get(op, d, form); }
RowsLoop *qcontig_rows_avx2(LoopOp op, qs_dtype d) { return qcontig_rows(op, d); }
double qcontig_sum32_avx2(size_t n, const float *x) { return qcontig_sum32(n, x); }
double qcontig_sum64_avx2(size_t n, const double *x) { return qcontig_sum64(n, x); }
double qcontig_dot32_avx2(size_t n, const float *x, const float *y) { return qcontig_dot32(n, x, y); }
double qcontig_dot64_avx2(size_t n, const double *x, const double *y) { return qcontig_dot64(n, x, y); }
double qcontig_spread32_avx2(size_t n, const float *x, double from) { return qcontig_spread32(n, x, from); }
double qcontig_spread64_avx2(size_t n, const double *x, double from) { return qcontig_spread64(n, x, from); }
double qcontig_running32_avx2(size_t n, const float *x, double before, float *y) {
    return qcontig_running32(n, x, before, y);
}
double qcontig_running64_avx2(size_t n, const double *x, double before, double *y) {
    return qcontig_running64(n, x, before, y);
}
void qcontig_accumulate32_avx2(size_t n, size_t rows, const float *x, ptrdiff_t step, double *sums) {
    qcontig_accumulate32(n, rows, x, step, sums);
}
#endif
