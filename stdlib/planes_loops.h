/* planes_loops.h -- implements the loops of planes.h for both element types.  It is included once for each instruction
 * set, with BYTES (the width of a vector) defined, and includes itself with REAL and N(name) for each type.  Each tile
 * size has its own function, so that the sums stay in registers. */
#ifndef REAL
#define REAL    float
#define N(name) name##_f32
#include "stdlib/planes_loops.h"
#undef REAL
#undef N
#define REAL    double
#define N(name) name##_f64
#include "stdlib/planes_loops.h"
#undef REAL
#undef N
#else

typedef REAL N(V) __attribute__((vector_size(BYTES)));
/* For unaligned loads and stores. */
typedef REAL N(Near) __attribute__((vector_size(BYTES), aligned(sizeof(REAL)), may_alias));
enum { N(LANES) = BYTES / sizeof(REAL), N(MOST) = 3 };

/* -- gather -------------------------------------------------------------------------------------------------------- */
static inline int64_t N(larger)(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t N(smaller)(int64_t a, int64_t b) { return a < b ? a : b; }

/* Stores n sums, for positions from p on, in a plane of the result. */
static void N(put)(const REAL *sum, int64_t p, int64_t n, const PlanesTarget *to, REAL *out) {
    for (int64_t y = p / to->pitch, end = p + n; y * to->pitch < end && y < to->rows; y++) {
        int64_t row = y * to->step[0] + to->first[0], from = N(larger)(p - y * to->pitch, 0);
        int64_t last = N(smaller)(end - y * to->pitch, to->columns), step = to->step[1];
        if (row < 0 || row >= to->extent[0]) continue;
        if (to->first[1] < 0) from = N(larger)(from, (-to->first[1] + step - 1) / step);
        last = N(smaller)(last, (to->extent[1] - to->first[1] + step - 1) / step);
        if (from >= last) continue;
        const REAL *s = sum + y * to->pitch - p + from;
        REAL *o = out + row * to->extent[1] + to->first[1] + from * step;
        if (step == 1) memcpy(o, s, (size_t)(last - from) * sizeof(REAL));
        else
            for (int64_t i = 0; i < last - from; i++) o[i * step] = s[i];
    }
}

#define GATHER(rows, vectors)                                                                                          \
    static void N(gather_##rows##_##vectors)(size_t taps, const REAL *w, const REAL *x, const int64_t *off,            \
                                             const REAL *bias, REAL *sum) {                                            \
        N(V) acc[rows][vectors];                                                                                       \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
            _Pragma("GCC unroll 3") for (int v = 0; v < vectors; v++) acc[r][v] = (N(V)){0} + (bias ? bias[r] : 0);    \
        for (size_t t = 0; t < taps; t++, w += rows) {                                                                 \
            const REAL *from = x + off[t];                                                                             \
            N(V) b[vectors];                                                                                           \
            _Pragma("GCC unroll 3") for (int v = 0; v < vectors; v++) b[v] = *(const N(Near) *)(from + v * N(LANES));  \
            _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                     \
                _Pragma("GCC unroll 3") for (int v = 0; v < vectors; v++) acc[r][v] += w[r] * b[v];                    \
        }                                                                                                              \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
                _Pragma("GCC unroll 3") for (int v = 0; v < vectors; v++) *                                            \
            (N(Near) *)(sum + r * PLANES_SPAN + v * N(LANES)) = acc[r][v];                                             \
    }
#if BYTES == 64 /* AVX-512 has 32 registers */
GATHER(8, 3)
GATHER(8, 2)
GATHER(8, 1)
#endif
GATHER(4, 3)
GATHER(4, 2)
GATHER(4, 1)
GATHER(2, 3)
GATHER(2, 2)
GATHER(2, 1)
GATHER(1, 3)
GATHER(1, 2)
GATHER(1, 1)
#undef GATHER

typedef void N(Tile)(size_t, const REAL *, const REAL *, const int64_t *, const REAL *, REAL *);
static void N(gather)(int rows, size_t taps, const void *w, const void *x, const int64_t *off, int64_t p, int64_t n,
                      const void *bias, const PlanesTarget *to, void *out, int64_t plane) {
    static N(Tile) *const tiles[][3] = {
#define ROW(r)                                                                                                         \
    { N(gather_##r##_1), N(gather_##r##_2), N(gather_##r##_3) }
        ROW(1),
        ROW(2),
        ROW(4),
#if BYTES == 64
        ROW(8)
#endif
#undef ROW
    };
    REAL sum[PLANES_ROWS * PLANES_SPAN];
    int64_t vectors = (n + N(LANES) - 1) / N(LANES);
    tiles[rows == 8 ? 3 : rows == 4 ? 2 : rows - 1][vectors - 1](taps, w, (const REAL *)x + p, off, bias, sum);
    for (int r = 0; r < rows; r++) N(put)(sum + r * PLANES_SPAN, p, n, to, (REAL *)out + r * plane);
}

/* -- dot ----------------------------------------------------------------------------------------------------------- */
/* Adds the lanes of a vector pairwise as a tree. */
static inline REAL N(lanes_sum)(N(V) v) {
    REAL x[N(LANES)];
    memcpy(x, &v, sizeof x);
    for (int half = N(LANES) / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) x[l] += x[l + half];
    return x[0];
}

#define DOT(rows, taps)                                                                                                \
    static void N(dot_##rows##_##taps)(int64_t images, int64_t n, const REAL *d, int64_t dplane, int64_t dn,           \
                                       const REAL *x, const int64_t *off, int64_t xn, bool add, REAL *dw,              \
                                       int64_t pitch) {                                                                \
        N(V) acc[rows][taps];                                                                                          \
        memset(acc, 0, sizeof acc);                                                                                    \
        for (; images > 0; images--, d += dn, x += xn)                                                                 \
            for (int64_t p = 0; p < n; p += N(LANES)) {                                                                \
                N(V) b[taps];                                                                                          \
                _Pragma("GCC unroll 4") for (int t = 0; t < taps; t++) b[t] = *(const N(Near) *)(x + off[t] + p);      \
                _Pragma("GCC unroll 6") for (int r = 0; r < rows; r++) {                                               \
                    N(V) a = *(const N(Near) *)(d + r * dplane + p);                                                   \
                    _Pragma("GCC unroll 4") for (int t = 0; t < taps; t++) acc[r][t] += a * b[t];                      \
                }                                                                                                      \
            }                                                                                                          \
        _Pragma("GCC unroll 6") for (int r = 0; r < rows; r++)                                                         \
            _Pragma("GCC unroll 4") for (int t = 0; t < taps; t++) {                                                   \
            REAL s = N(lanes_sum)(acc[r][t]);                                                                          \
            dw[r * pitch + t] = add ? dw[r * pitch + t] + s : s;                                                       \
        }                                                                                                              \
    }
#define DOTS(rows) DOT(rows, 1) DOT(rows, 2) DOT(rows, 3) DOT(rows, 4)
DOTS(1)
DOTS(2)
DOTS(3)
DOTS(4)
DOTS(5)
DOTS(6)
#undef DOT
#undef DOTS

typedef void N(Dot)(int64_t, int64_t, const REAL *, int64_t, int64_t, const REAL *, const int64_t *, int64_t, bool,
                    REAL *, int64_t);
static void N(dot)(int rows, int taps, int64_t images, int64_t n, const void *d, int64_t dplane, int64_t dn,
                   const void *x, const int64_t *off, int64_t xn, bool add, void *dw, int64_t pitch) {
#define ROW(r)                                                                                                         \
    { N(dot_##r##_1), N(dot_##r##_2), N(dot_##r##_3), N(dot_##r##_4) }
    static N(Dot) *const dots[][4] = {ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6)};
#undef ROW
    dots[rows - 1][taps - 1](images, n, d, dplane, dn, x, off, xn, add, dw, pitch);
}

static const PlanesLoops N(loops) = {
    N(LANES), N(MOST) * N(LANES), BYTES == 64 ? 8 : 4, BYTES == 64 ? 6 : 4, BYTES == 64 ? 4 : 3, N(gather), N(dot)};
#endif
