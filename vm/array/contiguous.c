/* contiguous.c -- generates the elementwise loops over contiguous runs, and sums in double.
 *
 * This file is compiled twice: directly, and from contiguous_avx2.c for processors with AVX2. */
#include "vm/array/contiguous.h"

LOOPS_WITHOUT_TRAPS
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/elem/elem_host.h"

#include <math.h>
#include <string.h>

#define DTYPE(id, name, ctype, ...) typedef ctype E_##id;
#include "vm/base/dtypes.def"

/* The result may be stored in an operand, but always in the element that was read, so iterations are independent. */
#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Generates the loops of an operator for one element type, using the function in the row of elem.def. */
#define LOOPS(op, row, id, result) LOOPS_OF(op, id, result, elem_##row##_##id(x, y))
#define LOOPS_OF(op, id, result, expr)                                                                                 \
    static void op##_##id##_vv(size_t n, const void *va, const void *vb, void *vout) {                                 \
        const E_##id *a = va, *b = vb;                                                                                 \
        result *out = vout;                                                                                            \
        INDEPENDENT for (size_t i = 0; i < n; i++) {                                                                   \
            E_##id x = a[i], y = b[i];                                                                                 \
            out[i] = expr;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    static void op##_##id##_vs(size_t n, const void *va, const void *vb, void *vout) {                                 \
        const E_##id *a = va, y = *(const E_##id *)vb;                                                                 \
        result *out = vout;                                                                                            \
        INDEPENDENT for (size_t i = 0; i < n; i++) {                                                                   \
            E_##id x = a[i];                                                                                           \
            out[i] = expr;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    static void op##_##id##_sv(size_t n, const void *va, const void *vb, void *vout) {                                 \
        const E_##id x = *(const E_##id *)va, *b = vb;                                                                 \
        result *out = vout;                                                                                            \
        INDEPENDENT for (size_t i = 0; i < n; i++) {                                                                   \
            E_##id y = b[i];                                                                                           \
            out[i] = expr;                                                                                             \
        }                                                                                                              \
    }

#define EACH_INT(op, row, result)                                                                                      \
    LOOPS(op, row, I32, result(I32))                                                                                   \
    LOOPS(op, row, U32, result(U32)) LOOPS(op, row, I64, result(I64)) LOOPS(op, row, U64, result(U64))
#define EACH_REAL(op, row, result)    LOOPS(op, row, F32, result(F32)) LOOPS(op, row, F64, result(F64))
#define EACH_COMPLEX(op, row, result) LOOPS(op, row, C64, result(C64)) LOOPS(op, row, C128, result(C128))
#define STAYS(id)                     E_##id
#define TRUTH(id)                     uint8_t

#define ARITHMETIC(op, row) EACH_INT(op, row, STAYS) EACH_REAL(op, row, STAYS) EACH_COMPLEX(op, row, STAYS)
ARITHMETIC(ADD, add)
ARITHMETIC(SUB, sub)
ARITHMETIC(MUL, mul)
EACH_REAL(DIV, div, STAYS)
LOOPS(DIV, div, C128, E_C128)
/* complex64 is divided in float64, where the squares of ordinary floats neither overflow nor underflow.  The textbook
 * formula then gives the result of elem.def, up to the rounding of a double, and its loops are vectorized. */
static inline double squares(QComplexF y) { return (double)y.re * (double)y.re + (double)y.im * (double)y.im; }
/* Numerator and denominator have the sign of the larger part of y, as in elem.def, for the signs of zeros. */
static inline QComplexF over_ordinary(QComplexF x, QComplexF y) {
    double sign = copysign(1, (double)(fabsf(y.im) <= fabsf(y.re) ? y.re : y.im)), q = squares(y) * sign;
    double c = (double)y.re * sign, d = (double)y.im * sign, a = (double)x.re, b = (double)x.im;
    return (QComplexF){(float)((a * c + b * d) / q), (float)((b * c - a * d) / q)};
}
LOOPS_OF(DIV_ORDINARY, C64, E_C64, over_ordinary(x, y))
LOOPS(DIV_ANY, div, C64, E_C64)

static bool are_ordinary(size_t n, const QComplexF *y) {
    uint64_t odd = 0; /* as wide as the doubles, so that the loop is vectorized */
    for (size_t i = 0; i < n; i++) {
        double q = squares(y[i]);
        odd |= q > 0 && q < INFINITY ? 0 : 1;
    }
    return !odd;
}
/* Divides chunk by chunk with the loop that is suitable.  step_a, step_b: 0 for a single number, otherwise 1. */
static void divide_complex(size_t n, const QComplexF *a, size_t step_a, const QComplexF *b, size_t step_b,
                           QComplexF *out, Loop *plain, Loop *any) {
    enum { CHUNK = 512 };
    for (size_t at = 0; at < n; at += CHUNK) {
        size_t m = n - at < CHUNK ? n - at : CHUNK;
        bool fits = are_ordinary(step_b ? m : 1, b + at * step_b);
        (fits ? plain : any)(m, a + at * step_a, b + at * step_b, out + at);
    }
}
static void DIV_C64_vv(size_t n, const void *a, const void *b, void *out) {
    divide_complex(n, a, 1, b, 1, out, DIV_ORDINARY_C64_vv, DIV_ANY_C64_vv);
}
static void DIV_C64_vs(size_t n, const void *a, const void *b, void *out) {
    divide_complex(n, a, 1, b, 0, out, DIV_ORDINARY_C64_vs, DIV_ANY_C64_vs);
}
static void DIV_C64_sv(size_t n, const void *a, const void *b, void *out) {
    divide_complex(n, a, 0, b, 1, out, DIV_ORDINARY_C64_sv, DIV_ANY_C64_sv);
}
EACH_INT(MAX, max, STAYS)
EACH_REAL(MAX, max, STAYS)
EACH_INT(MIN, min, STAYS)
EACH_REAL(MIN, min, STAYS)

/* Combine four rows at once, so that the extremes are loaded and stored only once for them.  The bits of floats, with
 * those behind the sign inverted in negative numbers, are integers in the same order, in which -0 is less than 0 and
 * NaN is beyond the infinity of its sign. */
#define EXTREME(op, id, T, ORDER, infinity)                                                                            \
    static bool op##_rows_##id(size_t n, size_t rows, const void *vx, ptrdiff_t step, void *extremes) {                \
        typedef T Any __attribute__((may_alias));                                                                      \
        const Any *x = vx;                                                                                             \
        Any *restrict y = extremes;                                                                                    \
        T beyond = 0;                                                                                                  \
        for (size_t i = 0; i < n; i++) y[i] = KEY(T, y[i]);                                                            \
        for (; rows >= 4; rows -= 4, x += 4 * step) {                                                                  \
            const Any *restrict a = x, *restrict b = a + step, *restrict c = b + step, *restrict d = c + step;         \
            for (size_t i = 0; i < n; i++) {                                                                           \
                T k = KEY(T, a[i]), l = KEY(T, b[i]), m = KEY(T, c[i]), o = KEY(T, d[i]), z = y[i];                    \
                k = k ORDER l ? k : l, m = m ORDER o ? m : o;                                                          \
                k = k ORDER m ? k : m, y[i] = k ORDER z ? k : z;                                                       \
            }                                                                                                          \
        }                                                                                                              \
        for (; rows; rows--, x += step)                                                                                \
            for (size_t i = 0; i < n; i++) {                                                                           \
                T k = KEY(T, x[i]), z = y[i];                                                                          \
                y[i] = k ORDER z ? k : z;                                                                              \
            }                                                                                                          \
        for (size_t i = 0; i < n; i++) beyond |= y[i] ORDER(infinity), y[i] = KEY(T, y[i]);                            \
        return !beyond;                                                                                                \
    }
#define KEY(T, bits) ((bits) ^ (((bits) >> (8 * sizeof(T) - 1)) & (sizeof(T) == 4 ? INT32_MAX : (T)INT64_MAX)))
EXTREME(MAX, F32, int32_t, >, 0x7f800000)
EXTREME(MAX, F64, int64_t, >, 0x7ff0000000000000)
EXTREME(MIN, F32, int32_t, <, ~0x7f800000)
EXTREME(MIN, F64, int64_t, <, ~0x7ff0000000000000)
static RowsLoop *rows_loop(LoopOp op, qs_dtype d) {
    if ((op != LOOP_MIN && op != LOOP_MAX) || (d != QS_F32 && d != QS_F64)) return NULL;
    if (op == LOOP_MAX) return d == QS_F32 ? MAX_rows_F32 : MAX_rows_F64;
    return d == QS_F32 ? MIN_rows_F32 : MIN_rows_F64;
}

EACH_INT(AND, bitand, STAYS)
EACH_INT(OR, bitor, STAYS)
EACH_INT(XOR, bitxor, STAYS)
LOOPS_OF(AND, B1, uint8_t, (x != 0) & (y != 0)) /* foreign memory may contain other values than 0 and 1 */
LOOPS_OF(OR, B1, uint8_t, (x | y) != 0)
LOOPS_OF(XOR, B1, uint8_t, (x != 0) != (y != 0))

#define EQUALITY(op, row) EACH_INT(op, row, TRUTH) EACH_REAL(op, row, TRUTH) EACH_COMPLEX(op, row, TRUTH)
#define ORDER(op, row)    EACH_INT(op, row, TRUTH) EACH_REAL(op, row, TRUTH)
EQUALITY(EQ, eq)
EQUALITY(NE, ne)
ORDER(LT, lt)
ORDER(LE, le)
ORDER(GT, gt)
ORDER(GE, ge)

/* -- powers -------------------------------------------------------------------------------------------------------- */
/* Computes small integral powers in chunks, so that each multiplication is a vectorized loop. */
#define CHAIN(id, one, mul)                                                                                            \
    static E_##id chain_one_##id(E_##id square, int power) {                                                           \
        E_##id product = one;                                                                                          \
        KELEM_CHAIN(power, product = square, product = mul(product, square), square = mul(square, square))             \
        return product;                                                                                                \
    }                                                                                                                  \
    static void chain_##id(size_t n, const E_##id *a, int power, E_##id *out) {                                        \
        enum { CHUNK = 64 };                                                                                           \
        const E_##id unit = one;                                                                                       \
        E_##id square[CHUNK], product[CHUNK];                                                                          \
        for (size_t at = 0; at < n; at += CHUNK) {                                                                     \
            size_t m = n - at < CHUNK ? n - at : CHUNK;                                                                \
            for (size_t i = 0; i < m; i++) square[i] = a[at + i], product[i] = unit;                                   \
            KELEM_CHAIN(power, memcpy(product, square, m * sizeof *product),                                           \
                        MUL_##id##_vv(m, product, square, product), MUL_##id##_vv(m, square, square, square))          \
            if (power < 0) DIV_##id##_sv(m, &unit, product, out + at);                                                 \
            else                                                                                                       \
                for (size_t i = 0; i < m; i++) out[at + i] = product[i];                                               \
        }                                                                                                              \
    }
CHAIN(F32, 1, elem_mul_F32)
CHAIN(F64, 1, elem_mul_F64)
CHAIN(C64, ((E_C64){1, 0}), elem_mul_C64)
CHAIN(C128, ((E_C128){1, 0}), elem_mul_C128)

static bool real_chain(double y, int *power) { return kelem_is_chain(y) ? *power = (int)y, true : false; }
static bool complex_chain(double y, int *power) { return kelem_is_long_chain(y) ? *power = (int)y, true : false; }

/* See build_root_chain of elem.c. */
#define REAL_POWER(id)                                                                                                 \
    static E_##id root_chain_##id(E_##id x, double y) {                                                                \
        E_##id product = elem_half_power_##id(x);                                                                      \
        int n = (int)fabs(y);                                                                                          \
        if (n) product = elem_mul_##id(chain_one_##id((E_##id)fabs((double)x), n), product);                           \
        return y < 0 ? 1 / product : product;                                                                          \
    }                                                                                                                  \
    static E_##id power_##id(E_##id x, E_##id y) {                                                                     \
        int n;                                                                                                         \
        if (kelem_is_root_chain((double)y)) return root_chain_##id(x, (double)y);                                      \
        if (!real_chain((double)y, &n)) return elem_pow_##id(x, y);                                                    \
        return n < 0 ? 1 / chain_one_##id(x, n) : chain_one_##id(x, n);                                                \
    }
REAL_POWER(F32)
REAL_POWER(F64)

#define COMPLEX_POWER(id)                                                                                              \
    static E_##id power_##id(E_##id x, E_##id y) {                                                                     \
        int n;                                                                                                         \
        if (y.im != 0 || !complex_chain((double)y.re, &n)) return elem_pow_##id(x, y);                                 \
        E_##id z = chain_one_##id(x, n);                                                                               \
        return n < 0 ? elem_div_##id((E_##id){1, 0}, z) : z;                                                           \
    }
COMPLEX_POWER(C64)
COMPLEX_POWER(C128)

#define POW_LOOPS(id, whole)                                                                                           \
    LOOPS_OF(POW, id, E_##id, power_##id(x, y))                                                                        \
    static void POW_##id##_one(size_t n, const void *a, const void *b, void *out) { /* vector and one number */        \
        int power;                                                                                                     \
        if (!whole(*(const E_##id *)b, &power)) POW_##id##_vs(n, a, b, out);                                           \
        else if (power == 2) MUL_##id##_vv(n, a, a, out);                                                              \
        else chain_##id(n, a, power, out);                                                                             \
    }
#define WHOLE_REAL(y, power)    real_chain((double)(y), power)
#define WHOLE_COMPLEX(y, power) ((y).im == 0 && complex_chain((double)(y).re, power))
POW_LOOPS(F32, WHOLE_REAL)
POW_LOOPS(F64, WHOLE_REAL)
POW_LOOPS(C64, WHOLE_COMPLEX)
POW_LOOPS(C128, WHOLE_COMPLEX)

/* -- table of loops ------------------------------------------------------------------------------------------------ */
#define FORMS(op, id) [QS_##id] = {op##_##id##_vv, op##_##id##_vs, op##_##id##_sv},
#define INTS(op)      FORMS(op, I32) FORMS(op, U32) FORMS(op, I64) FORMS(op, U64)
#define REALS(op)     FORMS(op, F32) FORMS(op, F64)
#define COMPLEXES(op) FORMS(op, C64) FORMS(op, C128)
#define POWERS(id)    [QS_##id] = {POW_##id##_vv, POW_##id##_one, POW_##id##_sv},

static Loop *const table[LOOP_COUNT][QS_NDTYPES][LOOP_FORMS] = {
    [LOOP_ADD] = {INTS(ADD) REALS(ADD) COMPLEXES(ADD)},
    [LOOP_SUB] = {INTS(SUB) REALS(SUB) COMPLEXES(SUB)},
    [LOOP_MUL] = {INTS(MUL) REALS(MUL) COMPLEXES(MUL)},
    [LOOP_DIV] = {REALS(DIV) COMPLEXES(DIV)},
    [LOOP_POW] = {POWERS(F32) POWERS(F64) POWERS(C64) POWERS(C128)},
    [LOOP_MAX] = {INTS(MAX) REALS(MAX)},
    [LOOP_MIN] = {INTS(MIN) REALS(MIN)},
    [LOOP_EQ] = {INTS(EQ) REALS(EQ) COMPLEXES(EQ)},
    [LOOP_NE] = {INTS(NE) REALS(NE) COMPLEXES(NE)},
    [LOOP_LT] = {INTS(LT) REALS(LT)},
    [LOOP_LE] = {INTS(LE) REALS(LE)},
    [LOOP_GT] = {INTS(GT) REALS(GT)},
    [LOOP_GE] = {INTS(GE) REALS(GE)},
    [LOOP_AND] = {FORMS(AND, B1) INTS(AND)},
    [LOOP_OR] = {FORMS(OR, B1) INTS(OR)},
    [LOOP_XOR] = {FORMS(XOR, B1) INTS(XOR)},
};

/* -- sums, in double ----------------------------------------------------------------------------------------------- */
enum { SUMS = 16, BLOCK = QCONTIG_BLOCK };

/* first: what a sum begins with; -0, so that the sum of elements that are all -0 is -0 for every n, as in kernels. */
#define SUM(name, id, operand, value, next, first)                                                                     \
    static double name##_block_##id(size_t n, const E_##id *x, operand y) {                                            \
        double part[SUMS];                                                                                             \
        for (size_t l = 0; l < SUMS; l++) part[l] = first;                                                             \
        size_t i = 0;                                                                                                  \
        for (; i + SUMS <= n; i += SUMS)                                                                               \
            for (size_t l = 0; l < SUMS; l++) part[l] += value(x[i + l], y, i + l);                                    \
        for (size_t l = 0; i < n; i++, l++) part[l] += value(x[i], y, i);                                              \
        for (size_t half = SUMS / 2; half; half /= 2)                                                                  \
            for (size_t l = 0; l < half; l++) part[l] += part[l + half];                                               \
        return part[0];                                                                                                \
    }                                                                                                                  \
    static double name##_##id(size_t n, const E_##id *x,                                                               \
                              operand y) { /* splits in halves, so that the error grows with log n */                  \
        if (n <= BLOCK) return name##_block_##id(n, x, y);                                                             \
        size_t half = n / 2 / SUMS * SUMS;                                                                             \
        return name##_##id(half, x, y) + name##_##id(n - half, x + half, next(y, half));                               \
    }
#define PLAIN(x, y, i)   ((void)(y), (double)(x))
#define PRODUCT(x, y, i) ((double)(x) * (double)(y)[i])
#define SQUARE(x, y, i)  (((double)(x) - (y)) * ((double)(x) - (y)))
#define AFTER(y, half)   ((y) + (half))
#define SAME(y, half)    (y)
SUM(sum, F32, int, PLAIN, SAME, -0.0)
SUM(sum, F64, int, PLAIN, SAME, -0.0)
SUM(dot, F32, const float *, PRODUCT, AFTER, 0)
SUM(dot, F64, const double *, PRODUCT, AFTER, 0)
SUM(spread, F32, double, SQUARE, SAME, 0)
SUM(spread, F64, double, SQUARE, SAME, 0)

/* Adds four rows at once, so that the sums are loaded and stored only once for them. */
static void accumulate(size_t n, size_t rows, const float *x, ptrdiff_t step, double *restrict sums) {
    for (; rows >= 4; rows -= 4, x += 4 * step) {
        const float *restrict a = x, *restrict b = x + step, *restrict c = x + 2 * step, *restrict d = x + 3 * step;
        for (size_t i = 0; i < n; i++) sums[i] += ((double)a[i] + (double)b[i]) + ((double)c[i] + (double)d[i]);
    }
    for (; rows; rows--, x += step)
        for (size_t i = 0; i < n; i++) sums[i] += (double)x[i];
}

/* -- running sums, in double --------------------------------------------------------------------------------------- */
enum { STRANDS = 8, PIECE = STRANDS * LOOP_STRAND };

#define RUNNING(id)                                                                                                    \
    static void strands_##id(size_t n, const E_##id *x, double *sums) {                                                \
        double sum[STRANDS] = {0};                                                                                     \
        if (n < PIECE) {                                                                                               \
            for (size_t i = 0; i < n; i++) sums[i] = i % LOOP_STRAND ? sums[i - 1] + (double)x[i] : (double)x[i];      \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t k = 0; k < STRANDS; k++) sums[k * LOOP_STRAND] = sum[k] = (double)x[k * LOOP_STRAND];              \
        for (size_t i = 1; i < LOOP_STRAND; i++)                                                                       \
            for (size_t k = 0; k < STRANDS; k++) sums[k * LOOP_STRAND + i] = sum[k] += (double)x[k * LOOP_STRAND + i]; \
    }                                                                                                                  \
    static double running_##id(size_t n, const E_##id *x, double before, E_##id *y) {                                  \
        double sums[PIECE], sum = -0.0; /* neutral element of addition, also for -0 */                                 \
        for (size_t at = 0, m; at < n; at += m) {                                                                      \
            m = n - at < PIECE ? n - at : PIECE;                                                                       \
            strands_##id(m, x + at, sums);                                                                             \
            for (size_t i = 0, k; i < m; sum += sums[i + k - 1], i += k) {                                             \
                k = m - i < LOOP_STRAND ? m - i : LOOP_STRAND;                                                         \
                for (size_t j = i; y && j < i + k; j++) y[at + j] = (E_##id)(before + (sum + sums[j]));                \
            }                                                                                                          \
        }                                                                                                              \
        return sum;                                                                                                    \
    }
RUNNING(F32)
RUNNING(F64)

static double sum_32(size_t n, const float *x) { return sum_F32(n, x, 0); }
static double sum_64(size_t n, const double *x) { return sum_F64(n, x, 0); }
#define BUILD                                                                                                          \
    { table, rows_loop, sum_32, sum_64, dot_F32, dot_F64, spread_F32, spread_F64, accumulate, running_F32, running_F64 }
#ifdef QPACKED_AVX2
const ContiguousLoops qcontig_avx2 = BUILD;
#else
const ContiguousLoops qcontig_plain = BUILD;
double qcontig_power(double x, double y) {
    double square = elem_mul_F64(x, x);
    if (kelem_is_short_chain(y)) return y == 2 ? square : elem_mul_F64(y == 3 ? x : square, square);
    return y == 0.5 ? elem_half_power_F64(x) : elem_pow_F64(x, y);
}
QComplexD qcontig_complex_power(QComplexD x, QComplexD y) { return power_C128(x, y); }
#endif
