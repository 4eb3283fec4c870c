/* stencil.c -- implements stencil.h; also compiled from stencil_avx2.c for processors with AVX2.
 *
 * Medians are selected by networks of exchanges, without branches, so that the loop over the windows of a row consists
 * of vector instructions.  The network for 25 elements is from N. Devillard, Fast median search (1998). */
#include "stdlib/stencil.h"
#include "vm/array/contiguous.h"

LOOPS_WITHOUT_TRAPS

#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))
#define EXCHANGE(T, a, b)                                                                                              \
    do {                                                                                                               \
        T low_ = MIN_OF(a, b);                                                                                         \
        (b) = MAX_OF(a, b), (a) = low_;                                                                                \
    } while (0)

/* Exchanges after which element 12 of 25 is the median. */
/* clang-format off */
#define MEDIAN_OF_25(S) \
    S(0, 1) S(3, 4) S(2, 4) S(2, 3) S(6, 7) S(5, 7) S(5, 6) S(9, 10) S(8, 10) \
    S(8, 9) S(12, 13) S(11, 13) S(11, 12) S(15, 16) S(14, 16) S(14, 15) S(18, 19) S(17, 19) \
    S(17, 18) S(21, 22) S(20, 22) S(20, 21) S(23, 24) S(2, 5) S(3, 6) S(0, 6) S(0, 3) \
    S(4, 7) S(1, 7) S(1, 4) S(11, 14) S(8, 14) S(8, 11) S(12, 15) S(9, 15) S(9, 12) \
    S(13, 16) S(10, 16) S(10, 13) S(20, 23) S(17, 23) S(17, 20) S(21, 24) S(18, 24) S(18, 21) \
    S(19, 22) S(8, 17) S(9, 18) S(0, 18) S(0, 9) S(10, 19) S(1, 19) S(1, 10) S(11, 20) \
    S(2, 20) S(2, 11) S(12, 21) S(3, 21) S(3, 12) S(13, 22) S(4, 22) S(4, 13) S(14, 23) \
    S(5, 23) S(5, 14) S(15, 24) S(6, 24) S(6, 15) S(7, 16) S(7, 19) S(13, 21) S(15, 23) \
    S(7, 13) S(7, 15) S(1, 9) S(3, 11) S(5, 17) S(11, 17) S(9, 17) S(4, 10) S(6, 12) \
    S(7, 14) S(4, 6) S(4, 7) S(12, 14) S(10, 14) S(6, 7) S(10, 12) S(6, 10) S(6, 17) \
    S(12, 17) S(7, 17) S(7, 10) S(12, 18) S(7, 12) S(10, 18) S(12, 20) S(10, 20) S(10, 12)
/* clang-format on */

#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* The columns of a window are sorted first, which three neighbouring windows share: the median of nine is the median of
 * the largest of the smallest, the median of the middle ones and the smallest of the largest. */
#define MEDIANS(id, T)                                                                                                 \
    static void median3_##id(const void *const *rows, size_t n, void *scratch, void *result) {                         \
        const T *restrict x = rows[0], *restrict y = rows[1], *restrict z = rows[2];                                   \
        T *restrict low = scratch, *restrict middle = low + n + 2, *restrict high = middle + n + 2;                    \
        T *restrict out = result;                                                                                      \
        INDEPENDENT for (size_t i = 0; i < n; i++) {                                                                   \
            T a = x[i], b = y[i], c = z[i];                                                                            \
            EXCHANGE(T, a, b);                                                                                         \
            EXCHANGE(T, b, c);                                                                                         \
            EXCHANGE(T, a, b);                                                                                         \
            low[i + 1] = a, middle[i + 1] = b, high[i + 1] = c;                                                        \
        }                                                                                                              \
        low[0] = low[1], middle[0] = middle[1], high[0] = high[1];                                                     \
        low[n + 1] = low[n], middle[n + 1] = middle[n], high[n + 1] = high[n];                                         \
        INDEPENDENT for (size_t i = 0; i < n; i++) {                                                                   \
            T a = MAX_OF(low[i], low[i + 1]), b = middle[i], c = middle[i + 1], d = middle[i + 2];                     \
            T e = MIN_OF(high[i], high[i + 1]);                                                                        \
            a = MAX_OF(a, low[i + 2]), e = MIN_OF(e, high[i + 2]);                                                     \
            EXCHANGE(T, b, c);                                                                                         \
            c = MIN_OF(c, d), c = MAX_OF(b, c);                                                                        \
            EXCHANGE(T, a, c);                                                                                         \
            c = MIN_OF(c, e), out[i] = MAX_OF(a, c);                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    static void median5_##id(const void *const *rows, size_t n, void *scratch, void *result) {                         \
        const T *restrict v = rows[0], *restrict w = rows[1], *restrict x = rows[2], *restrict y = rows[3];            \
        const T *restrict z = rows[4];                                                                                 \
        T *restrict out = result;                                                                                      \
        (void)scratch;                                                                                                 \
        INDEPENDENT for (size_t i = 0; i < n; i++) {                                                                   \
            T p0 = v[i], p1 = v[i + 1], p2 = v[i + 2], p3 = v[i + 3], p4 = v[i + 4];                                   \
            T p5 = w[i], p6 = w[i + 1], p7 = w[i + 2], p8 = w[i + 3], p9 = w[i + 4];                                   \
            T p10 = x[i], p11 = x[i + 1], p12 = x[i + 2], p13 = x[i + 3], p14 = x[i + 4];                              \
            T p15 = y[i], p16 = y[i + 1], p17 = y[i + 2], p18 = y[i + 3], p19 = y[i + 4];                              \
            T p20 = z[i], p21 = z[i + 1], p22 = z[i + 2], p23 = z[i + 3], p24 = z[i + 4];                              \
            T low_;                                                                                                    \
            MEDIAN_OF_25(SORT_PAIR)                                                                                    \
            out[i] = p12;                                                                                              \
        }                                                                                                              \
    }
#define SORT_PAIR(a, b) low_ = MIN_OF(p##a, p##b), p##b = MAX_OF(p##a, p##b), p##a = low_;
MEDIANS(I8, int8_t)
MEDIANS(U8, uint8_t)
MEDIANS(I16, int16_t)
MEDIANS(U16, uint16_t)
MEDIANS(I32, int32_t)
MEDIANS(U32, uint32_t)
MEDIANS(I64, int64_t)
MEDIANS(U64, uint64_t)
MEDIANS(F32, float)
MEDIANS(F64, double)

/* -- special floats ------------------------------------------------------------------------------------------------ */
/* As an unsigned integer minus 1, -0 is the largest signed one, and NaN without sign is larger than infinity. */
#define SPECIAL(bits, inf)                                                                                             \
    static int special_##bits(const void *from, size_t n) {                                                            \
        const uint##bits##_t *x = from;                                                                                \
        int##bits##_t high = 0;                                                                                        \
        uint##bits##_t low = 0;                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                               \
            int##bits##_t y = (int##bits##_t)(x[i] - 1);                                                               \
            high = MAX_OF(high, y), low = MAX_OF(low, x[i]);                                                           \
        }                                                                                                              \
        bool zero = high == INT##bits##_MAX;                                                                           \
        return (zero            ? HAS_NEGATIVE_ZERO                                                                    \
                : high >= (inf) ? HAS_NAN                                                                              \
                                : 0) |                                                                                 \
               (low > (uint##bits##_t)((inf) | TOP##bits) ? HAS_NAN : 0);                                              \
    }
#define TOP16 0x8000
#define TOP32 0x80000000
#define TOP64 0x8000000000000000
SPECIAL(16, 0x7c00)
SPECIAL(32, 0x7f800000)
SPECIAL(64, 0x7ff0000000000000)

/* -- the smallest and the largest of four elements ----------------------------------------------------------------- */
/* Vectors of all operands are loaded before the same elements of out are stored, and no operand is behind out, so the
 * order of the loop is free.  The last operands are often the same. */
#define EXTREME(name, T, BEST, zero)                                                                                   \
    static void name(const void *const *from, size_t n, void *result) {                                                \
        const T *w = from[0], *x = from[1], *y = from[2], *z = from[3];                                                \
        T *out = result;                                                                                               \
        if (x == z) {                                                                                                  \
            INDEPENDENT for (size_t i = 0; i < n; i++) {                                                               \
                T a = w[i], d = z[i];                                                                                  \
                BEST(T, d, a);                                                                                         \
                out[i] = (T)(d zero);                                                                                  \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        INDEPENDENT for (size_t i = 0; i < n; i++) {                                                                   \
            T a = w[i], b = x[i], c = y[i], d = z[i];                                                                  \
            BEST(T, b, a);                                                                                             \
            BEST(T, d, c);                                                                                             \
            BEST(T, d, b);                                                                                             \
            out[i] = (T)(d zero);                                                                                      \
        }                                                                                                              \
    }
#define LEAST(T, x, y) x = (y) < (x) ? (y) : (x)
#define MOST(T, x, y)  x = (y) > (x) ? (y) : (x)
#define BEST_REAL(T, x, y, best)                                                                                       \
    do {                                                                                                               \
        T best_ = best;                                                                                                \
        bool nan_ = (y) != (y); /* a variable, so that gcc vectorizes */                                               \
        x = nan_ ? (x) : best_;                                                                                        \
    } while (0)
#define LEAST_REAL(T, x, y)      BEST_REAL(T, x, y, (x) < (y) ? (x) : (y))
#define MOST_REAL(T, x, y)       BEST_REAL(T, x, y, (x) > (y) ? (x) : (y))
#define EXTREMES(id, T, R, zero) EXTREME(least_##id, T, LEAST##R, zero) EXTREME(most_##id, T, MOST##R, zero)
EXTREMES(I8, int8_t, , )
EXTREMES(U8, uint8_t, , )
EXTREMES(I16, int16_t, , )
EXTREMES(U16, uint16_t, , )
EXTREMES(I32, int32_t, , )
EXTREMES(U32, uint32_t, , )
EXTREMES(I64, int64_t, , )
EXTREMES(U64, uint64_t, , )
EXTREMES(F32, float, _REAL, +0.0f)
EXTREMES(F64, double, _REAL, +0.0)

/* -- convolution --------------------------------------------------------------------------------------------------- */
typedef double Four __attribute__((vector_size(32)));
typedef double NearFour __attribute__((vector_size(32), aligned(8), may_alias)); /* unaligned, in memory */

/* Computes 4*vectors elements, which stay in registers. */
static inline __attribute__((always_inline)) void convolve_block(const Window *w, int vectors, size_t at, double *out) {
    Four sum[4];
    for (int k = 0; k < vectors; k++) sum[k] = *(NearFour *)(out + at + 4 * k);
    for (size_t r = 0; r < w->rows; r++) {
        const double *x = w->x + (ptrdiff_t)r * w->x_step + at, *f = w->f + (ptrdiff_t)r * w->f_step;
        for (size_t l = 0; l < w->taps; l++, x--)
            for (int k = 0; k < vectors; k++) sum[k] += f[l] * *(const NearFour *)(x + 4 * k);
    }
    for (int k = 0; k < vectors; k++) *(NearFour *)(out + at + 4 * k) = sum[k];
}

static void convolve_window(const Window *w, size_t n, double *out) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16) convolve_block(w, 4, i, out);
    for (; i + 4 <= n; i += 4) convolve_block(w, 1, i, out);
    for (; i < n; i++) {
        double sum = out[i];
        for (size_t r = 0; r < w->rows; r++)
            for (size_t l = 0; l < w->taps; l++)
                sum += w->f[(ptrdiff_t)r * w->f_step + (ptrdiff_t)l] *
                       w->x[(ptrdiff_t)r * w->x_step + (ptrdiff_t)i - (ptrdiff_t)l];
        out[i] = sum;
    }
}

#define ALL_KEYS(of)  of##_I8, of##_U8, of##_I16, of##_U16, of##_I32, of##_U32, of##_I64, of##_U64
#define ALL_TYPES(of) ALL_KEYS(of), of##_F32, of##_F64
static const StencilLoops loops = {{ALL_TYPES(median3)}, {ALL_TYPES(median5)}, convolve_window, {ALL_TYPES(least)},
                                   {ALL_TYPES(most)},    special_16,           special_32,      special_64};

#ifdef QSTENCIL_AVX2
const StencilLoops *qstencil_loops_avx2(void) { return &loops; }
#else
int qstencil_type(qs_dtype d) {
    switch (d) {
    case QS_I8: return KEY_I8;
    case QS_I16: return KEY_I16;
    case QS_U16: return KEY_U16;
    case QS_I32: return KEY_I32;
    case QS_U32: return KEY_U32;
    case QS_I64: return KEY_I64;
    case QS_U64: return KEY_U64;
    case QS_F32: return PLAIN_F32;
    case QS_F64: return PLAIN_F64;
    default: return KEY_U8;
    }
}

const StencilLoops *qstencil_loops(void) { return QCPU_AVX2 ? qstencil_loops_avx2() : &loops; }
#endif
