/* contiguous.h -- declares elementwise loops over contiguous runs, one per operation, element type and operand form.
 *
 * Types: bool, int, uint32, int64, uint64, float32, float64, complex64, complex128.  The caller converts other types.
 * Comparisons write bool; all other operations write the type that they read.  The result may be one of the operands.
 * */
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
    LOOP_MIN, /* arithmetic on integers wraps around; max and min ignore NaN */
    LOOP_EQ,
    LOOP_NE,
    LOOP_LT,
    LOOP_LE,
    LOOP_GT,
    LOOP_GE,
    LOOP_AND,
    LOOP_OR,
    LOOP_XOR, /* bitwise; logical for bool */
    LOOP_COUNT
} LoopOp;

/* A sum of more elements is the sum of two parts. */
enum { QCONTIG_BLOCK = 4096 };

typedef enum { LOOP_VV, LOOP_VS, LOOP_SV, LOOP_FORMS } LoopForm; /* operands: V a run of elements, S one number */
typedef void Loop(size_t n, const void *a, const void *b, void *out);

/* Select the build of files that are compiled several times: compiler and processor must support the vectors.  Other
 * compilers have the plain build only, and drop what these constants exclude. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define QCPU_AVX2 __builtin_cpu_supports("avx2")
#define QCPU_FMA  __builtin_cpu_supports("fma")
#define QCPU_AVX512                                                                                                    \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&  \
     __builtin_cpu_supports("avx512vl"))
#else
#define QCPU_AVX2   false
#define QCPU_FMA    false
#define QCPU_AVX512 false
#endif

/* The floating-point exception flags are not used; with this option gcc also vectorizes comparisons. */
#ifdef __clang__
#define LOOPS_WITHOUT_TRAPS
#else
#define LOOPS_WITHOUT_TRAPS _Pragma("GCC optimize(\"no-trapping-math\")")
#endif

/* Combines extremes[i] with the element i of each row; rows are `step` elements apart.  Returns false if NaN made the
 * result wrong. */
typedef bool RowsLoop(size_t n, size_t rows, const void *x, ptrdiff_t step, void *extremes);

/* The functions of one build of contiguous.c. */
enum { LOOP_STRAND = 64 };
typedef struct {
    Loop *const (*loop)[QS_NDTYPES][LOOP_FORMS]; /* by LoopOp; NULL: the operation is not defined for the type */
    RowsLoop *(*rows)(LoopOp op, qs_dtype d);    /* NULL: only `loop` has the operation for the type */
    /* Sums in double: sum of x, dot product of x and y, sum of (x - from) squared (spread). */
    double (*sum32)(size_t n, const float *x);
    double (*sum64)(size_t n, const double *x);
    double (*dot32)(size_t n, const float *x, const float *y);
    double (*dot64)(size_t n, const double *x, const double *y);
    double (*spread32)(size_t n, const float *x, double from);
    double (*spread64)(size_t n, const double *x, double from);
    /* Adds to sums[i] the element i of each row; rows are `step` elements apart. */
    void (*accumulate32)(size_t n, size_t rows, const float *x, ptrdiff_t step, double *sums);
    /* Compute the running sums y of n elements x, not in place, and return the sum of all.  The elements are divided
     * into strands of LOOP_STRAND elements.  Several strands are summed in parallel, because each addition depends on
     * the one before.  An element of y is before + (sum of the preceding strands + running sum within the strand).  The
     * last value of a strand is exactly the sum to which the next strand is added, so sums of nonnegative numbers never
     * decrease.  before: initial value; -0 adds nothing.  y NULL: only the sum is computed. */
    double (*running32)(size_t n, const float *x, double before, float *y);
    double (*running64)(size_t n, const double *x, double before, double *y);
} ContiguousLoops;
extern const ContiguousLoops qcontig_plain, qcontig_avx2;
static inline const ContiguousLoops *qcontig_loops(void) { return QCPU_AVX2 ? &qcontig_avx2 : &qcontig_plain; }
static inline Loop *qcontig_get(LoopOp op, qs_dtype d, LoopForm form) { return qcontig_loops()->loop[op][d][form]; }

/* Powers of single numbers.  (The array loops use products alone for all small integral exponents, qcontig_power only
 * for those of kelem_is_short_chain.) */
double qcontig_power(double x, double y);
QComplexD qcontig_complex_power(QComplexD x, QComplexD y);
#endif
