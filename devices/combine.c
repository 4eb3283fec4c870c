/* combine.c -- combines partial results element by element. */
#include "devices/combine.h"

#include <math.h>

#define EACH(expr)                                                                                                     \
    for (size_t i = 0; i < n; i++) a[i] = (expr)

#define INTEGER(name, T, U, least, most)                                                                               \
    static void start_##name(Combine op, T *a, size_t n) {                                                             \
        T v = op == COMBINE_MIN ? most : op == COMBINE_MAX ? least : op == COMBINE_AND ? (T) ~(U)0 : 0;                \
        EACH(v);                                                                                                       \
    }                                                                                                                  \
    static void into_##name(Combine op, T *restrict a, const T *restrict b, size_t n) {                                \
        switch (op) {                                                                                                  \
        case COMBINE_ADD: EACH((T)((U)a[i] + (U)b[i])); break;                                                         \
        case COMBINE_MIN: EACH(b[i] < a[i] ? b[i] : a[i]); break;                                                      \
        case COMBINE_MAX: EACH(b[i] > a[i] ? b[i] : a[i]); break;                                                      \
        case COMBINE_AND: EACH(a[i] & b[i]); break;                                                                    \
        case COMBINE_OR: EACH(a[i] | b[i]); break;                                                                     \
        case COMBINE_XOR: EACH(a[i] ^ b[i]); break;                                                                    \
        }                                                                                                              \
    }
INTEGER(i32, int32_t, uint32_t, INT32_MIN, INT32_MAX)
INTEGER(u32, uint32_t, uint32_t, 0, UINT32_MAX)
INTEGER(i64, int64_t, uint64_t, INT64_MIN, INT64_MAX)
INTEGER(u64, uint64_t, uint64_t, 0, UINT64_MAX)

/* These orders make the result independent of the order of operands: a number wins against NaN, and -0 is less than
 * +0. */
#define LESS(a, b) ((a) < (b) || (b) != (b) || ((a) == (b) && signbit(a)))
#define MORE(a, b) ((a) > (b) || (b) != (b) || ((a) == (b) && !signbit(a)))

#define REAL(name, T)                                                                                                  \
    static void start_##name(Combine op, T *a, size_t n) { EACH(op == COMBINE_ADD ? (T)-0.0 : (T)NAN); }               \
    static void into_##name(Combine op, T *restrict a, const T *restrict b, size_t n) {                                \
        if (op == COMBINE_ADD) EACH(a[i] + b[i]);                                                                      \
        else if (op == COMBINE_MIN) EACH(LESS(a[i], b[i]) ? a[i] : b[i]);                                              \
        else EACH(MORE(a[i], b[i]) ? a[i] : b[i]);                                                                     \
    }
REAL(f32, float)
REAL(f64, double)

void qcombine_start(Combine op, qs_dtype d, void *p, size_t n) {
    switch (d) {
    case QS_I32: start_i32(op, p, n); break;
    case QS_U32: start_u32(op, p, n); break;
    case QS_I64: start_i64(op, p, n); break;
    case QS_U64: start_u64(op, p, n); break;
    case QS_F32: start_f32(op, p, n); break;
    default: start_f64(op, p, n); break;
    }
}

void qcombine_into(Combine op, qs_dtype d, void *p, const void *from, size_t n) {
    switch (d) {
    case QS_I32: into_i32(op, p, from, n); break;
    case QS_U32: into_u32(op, p, from, n); break;
    case QS_I64: into_i64(op, p, from, n); break;
    case QS_U64: into_u64(op, p, from, n); break;
    case QS_F32: into_f32(op, p, from, n); break;
    default: into_f64(op, p, from, n); break;
    }
}
