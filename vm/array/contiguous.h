/* contiguous.h -- elementwise loops over packed runs, one per operation, element type and place of a single number.
 *
 * Types: bool, int and uint32 and their 64-bit forms, float32, float64, complex64, complex128; the others are converted
 * by the caller.  Comparisons write bool, everything else the type it reads.  The result may be one of the operands. */
#ifndef VM_CONTIGUOUS_H
#define VM_CONTIGUOUS_H
#include "vm/base/dtype.h"

typedef enum {
    LOOP_ADD,
    LOOP_SUB,
    LOOP_MUL,
    LOOP_DIV,
    LOOP_POW,
    LOOP_MAX,
    LOOP_MIN, /* integers wrap; in max, min NaN loses */
    LOOP_EQ,
    LOOP_NE,
    LOOP_LT,
    LOOP_LE,
    LOOP_GT,
    LOOP_GE,
    LOOP_AND,
    LOOP_OR,
    LOOP_XOR, /* bitwise; of bool: logical */
    LOOP_COUNT
} LoopOp;

typedef enum { LOOP_VV, LOOP_VS, LOOP_SV, LOOP_FORMS } LoopForm; /* vector and vector, vector and number, reverse */
typedef void Loop(size_t n, const void *a, const void *b, void *out);

/* Which build of a file compiled twice serves: the compiler must be able to aim at AVX2, the processor have it. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define QCPU_AVX2 __builtin_cpu_supports("avx2")
#define QCPU_FMA  __builtin_cpu_supports("fma")
#else
#define QCPU_AVX2 false
#define QCPU_FMA  false
#endif

/* Nobody reads the floating-point flags; without them gcc vectorises comparisons too. */
#ifdef __clang__
#define LOOPS_WITHOUT_TRAPS
#else
#define LOOPS_WITHOUT_TRAPS _Pragma("GCC optimize(\"no-trapping-math\")")
#endif

/* NULL when the operation is not defined for the type. */
Loop *qcontig_get(LoopOp op, qs_dtype d, LoopForm form);
Loop *qcontig_get_avx2(LoopOp op, qs_dtype d, LoopForm form);

/* Sums in double: of x, of x times y, of (x - from) squared. */
#define QPACKED_SUMS(build)                                                                                            \
    double qcontig_sum32##build(size_t n, const float *x);                                                             \
    double qcontig_sum64##build(size_t n, const double *x);                                                            \
    double qcontig_dot32##build(size_t n, const float *x, const float *y);                                             \
    double qcontig_dot64##build(size_t n, const double *x, const double *y);                                           \
    double qcontig_spread32##build(size_t n, const float *x, double from);                                             \
    double qcontig_spread64##build(size_t n, const double *x, double from);
QPACKED_SUMS()
QPACKED_SUMS(_avx2)
/* sums[i] += x[i] of so many rows, `step` elements apart. */
void qcontig_accumulate32(size_t n, size_t rows, const float *x, ptrdiff_t step, double *sums);
void qcontig_accumulate32_avx2(size_t n, size_t rows, const float *x, ptrdiff_t step, double *sums);

/* y[i] += f[0]*x[i] + f[1]*x[i-1] + … over LOOP_TAPS factors, from the left to the right. */
enum { LOOP_TAPS = 4 };
void qcontig_taps64(size_t n, const double *x, const double f[LOOP_TAPS], double *y);
void qcontig_taps64_avx2(size_t n, const double *x, const double f[LOOP_TAPS], double *y);

/* Running sums y of n elements x, not in place; gives the sum of all.  A strand of LOOP_STRAND elements is added up
 * from its beginning, several at once because each addition waits for the one before: an element of y is `before`, plus
 * the sum of the strands before its own, plus that of its strand so far, from the right to the left.  So the last of a
 * strand is what the next one is added to, and sums of numbers that are not negative never fall.  before: -0 is
 * nothing.  y NULL: the sum alone. */
enum { LOOP_STRAND = 64 };
#define QPACKED_RUNNING(build)                                                                                         \
    double qcontig_running32##build(size_t n, const float *x, double before, float *y);                                \
    double qcontig_running64##build(size_t n, const double *x, double before, double *y);
QPACKED_RUNNING()
QPACKED_RUNNING(_avx2)

/* In arrays x to a small whole power is made of multiplications alone. */
/* The same operations on single numbers, where only squares are. */
double qcontig_power(double x, double y);
QComplexD qcontig_complex_power(QComplexD x, QComplexD y);
#endif
