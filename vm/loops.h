/* loops.h -- elementwise loops over packed runs, one per operation, element type and place of a single number.
 *
 * Types: bool, int and uint32 and their 64-bit forms, float32, float64, complex64, complex128; the others are converted
 * by the caller.  Comparisons write bool, everything else the type it reads.  The result may be one of the operands. */
#ifndef VM_LOOPS_H
#define VM_LOOPS_H
#include "vm/base/dtype.h"

typedef enum {
    LOOP_ADD, LOOP_SUB, LOOP_MUL, LOOP_DIV, LOOP_POW, LOOP_MAX, LOOP_MIN, /* integers wrap; in max, min NaN loses */
    LOOP_EQ, LOOP_NE, LOOP_LT, LOOP_LE, LOOP_GT, LOOP_GE,
    LOOP_AND, LOOP_OR, LOOP_XOR, /* bitwise; of bool: logical */
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
Loop *qloop_get(LoopOp op, qs_dtype d, LoopForm form);
Loop *qloop_get_avx2(LoopOp op, qs_dtype d, LoopForm form);

/* Sums in double: of x, of x times y, of (x - from) squared. */
#define QLOOP_SUMS(build)                                                                                              \
    double qloop_sum32##build(size_t n, const float *x);                                                               \
    double qloop_sum64##build(size_t n, const double *x);                                                              \
    double qloop_dot32##build(size_t n, const float *x, const float *y);                                               \
    double qloop_dot64##build(size_t n, const double *x, const double *y);                                             \
    double qloop_spread32##build(size_t n, const float *x, double from);                                               \
    double qloop_spread64##build(size_t n, const double *x, double from);
QLOOP_SUMS()
QLOOP_SUMS(_avx2)
void qloop_accumulate32(size_t n, const float *x, double *sums); /* sums[i] += x[i] */
void qloop_accumulate32_avx2(size_t n, const float *x, double *sums);

/* In arrays x to a small whole power is made of multiplications alone. */
enum { POWER_MAX = 64 }; /* exponents up to this size are small */
/* The same operations on single numbers, where only squares are. */
double qloop_power(double x, double y);
QComplexD qloop_complex_mul(QComplexD x, QComplexD y);
QComplexD qloop_complex_div(QComplexD x, QComplexD y);
QComplexD qloop_complex_power(QComplexD x, QComplexD y);
#endif
