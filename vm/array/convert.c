/* convert.c -- converts runs of elements between dtypes.
 *
 * This file is compiled twice: directly, and from convert_avx2.c, which uses only the contiguous loops. */
#include "vm/array/convert.h"
#include "vm/array/contiguous.h"
#include "vm/array/move.h"

LOOPS_WITHOUT_TRAPS
#include <string.h>

/* The macros below generate two loops for each pair of dtypes: a contiguous one, which the compiler vectorizes, and a
 * strided one.  A source element is first read as a natural type (int32_t, int64_t, uint64_t, float, double or
 * QComplexD); a small function per destination type and natural type then converts it. */
_Static_assert(QS_NDTYPES == 15, "EACH_DTYPE lists them all");
/* clang-format off */
#define EACH_DTYPE(M, x)                                                                                               \
    M(B1, x) M(I8, x) M(U8, x) M(I16, x) M(U16, x) M(I32, x) M(U32, x) M(I64, x) M(U64, x) M(F16, x) M(BF16, x)        \
    M(F32, x) M(F64, x) M(C64, x) M(C128, x)
/* clang-format on */

#define DTYPE(id, name, ctype, ...) typedef ctype E_##id;
#include "vm/base/dtypes.def"

/* -- half precision, without branches so that loops are vectorized; same results as dtype.c ------------------------ */
static inline uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static inline float float_of(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* A multiplication corrects the exponent and also normalizes subnormals. */
static inline float from_half(uint16_t h) {
    uint32_t mag = (uint32_t)(h & 0x7fff) << 13;
    uint32_t big = mag >= 0x0f800000u ? 0x7f800000u : 0; /* infinity or NaN keep all exponent bits */
    return float_of(bits_of(float_of(mag) * 0x1p112f) | big | (uint32_t)(h & 0x8000) << 16);
}

/* Normal results are rounded in integer arithmetic.  Subnormal ones are rounded by adding 0.5, whose last bit has the
 * same weight as theirs. */
static inline uint16_t to_half(float f) {
    uint32_t u = bits_of(f), sign = u >> 16 & 0x8000, mag = u & 0x7fffffff;
    uint32_t normal = (mag - 0x38000000u + 0xfff + (mag >> 13 & 1)) >> 13;
    uint32_t small = bits_of(float_of(mag) + 0.5f) - 0x3f000000u;
    uint32_t big = mag > 0x7f800000u ? 0x7e00 : 0x7c00;
    return (uint16_t)(sign | (mag >= 0x47800000u ? big : mag < 0x38800000u ? small : normal));
}

static inline uint16_t to_bf16(float f) {
    uint32_t u = bits_of(f), round = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return (uint16_t)((u & 0x7fffffff) > 0x7f800000u ? (u >> 16 | 0x40) : round);
}

/* -- reading an element as its natural type ------------------------------------------------------------------------ */
#define GET(id, ctype, expr)                                                                                           \
    static inline ctype get_##id(E_##id e) { return expr; }
GET(B1, int32_t, e != 0) /* foreign memory may contain other values than 0 and 1 */
/* clang-format off */
GET(I8, int32_t, e)
GET(U8, int32_t, e)
GET(I16, int32_t, e)
GET(U16, int32_t, e)
GET(I32, int32_t, e)
GET(U32, int64_t, e)
GET(I64, int64_t, e)
GET(U64, uint64_t, e)
GET(F16, float, from_half(e))
GET(BF16, float, qdtype_bf16_to_float(e))
GET(F32, float, e)
GET(F64, double, e)
/* clang-format on */
GET(C64, QComplexD, ((QComplexD){(double)e.re, (double)e.im}))
GET(C128, QComplexD, ((QComplexD){e.re, e.im}))

/* -- writing a natural value --------------------------------------------------------------------------------------- */
static inline double limit(double x, double lo, double hi) {
    x = x == x ? x : 0;
    x = x < hi ? x : hi;
    return x > lo ? x : lo;
}
static inline float limitf(float x, float lo, float hi) {
    x = x == x ? x : 0;
    x = x < hi ? x : hi;
    return x > lo ? x : lo;
}

#define PUT_INT(id, lo, hi, from_f, from_d)                                                                            \
    static inline E_##id put_##id##_S(int64_t v) { return (E_##id)(v < (lo) ? (lo) : v > (hi) ? (hi) : v); }           \
    static inline E_##id put_##id##_I(int32_t v) { return put_##id##_S(v); }                                           \
    static inline E_##id put_##id##_U(uint64_t v) { return (E_##id)(v > (uint64_t)(hi) ? (uint64_t)(hi) : v); }        \
    static inline E_##id put_##id##_F(float v) { return (E_##id)(from_f); }                                            \
    static inline E_##id put_##id##_D(double v) { return (E_##id)(from_d); }                                           \
    static inline E_##id put_##id##_C(QComplexD v) { return put_##id##_D(v.re); }
#define PUT_NARROW(id, lo, hi) PUT_INT(id, lo, hi, (int)limitf(v, lo, hi), (int)limit(v, lo, hi))
/* clang-format off */
PUT_NARROW(I8, INT8_MIN, INT8_MAX)
PUT_NARROW(U8, 0, UINT8_MAX)
PUT_NARROW(I16, INT16_MIN, INT16_MAX)
PUT_NARROW(U16, 0, UINT16_MAX)
/* clang-format on */
/* The largest float below 2^31 is not INT32_MAX. */
PUT_INT(I32, INT32_MIN, INT32_MAX, v >= 0x1p31f ? INT32_MAX : (int32_t)limitf(v, -0x1p31f, 0x1.fffffep30f),
        limit(v, INT32_MIN, INT32_MAX))
/* clang-format off */
PUT_INT(U32, 0, UINT32_MAX, limit((double)v, 0, UINT32_MAX), limit(v, 0, UINT32_MAX))
/* clang-format on */

#define PUT_WIDE(id, from_s, from_u, from_d)                                                                           \
    static inline E_##id put_##id##_S(int64_t v) { return from_s; }                                                    \
    static inline E_##id put_##id##_I(int32_t v) { return put_##id##_S(v); }                                           \
    static inline E_##id put_##id##_U(uint64_t v) { return from_u; }                                                   \
    static inline E_##id put_##id##_D(double v) { return from_d; }                                                     \
    static inline E_##id put_##id##_F(float v) { return put_##id##_D((double)v); }                                     \
    static inline E_##id put_##id##_C(QComplexD v) { return put_##id##_D(v.re); }
/* clang-format off */
PUT_WIDE(I64, v, v > INT64_MAX ? INT64_MAX : (int64_t)v, qdtype_sat_i64(v, INT64_MIN, INT64_MAX))
PUT_WIDE(U64, v < 0 ? 0 : (uint64_t)v, v, qdtype_sat_u64(v, UINT64_MAX))
/* clang-format on */

#define PUT_REAL(id, from_float, from_other)                                                                           \
    static inline E_##id put_##id##_I(int32_t v) { return from_other; }                                                \
    static inline E_##id put_##id##_S(int64_t v) { return from_other; }                                                \
    static inline E_##id put_##id##_U(uint64_t v) { return from_other; }                                               \
    static inline E_##id put_##id##_D(double v) { return from_other; }                                                 \
    static inline E_##id put_##id##_F(float v) { return from_float; }                                                  \
    static inline E_##id put_##id##_C(QComplexD c) {                                                                   \
        double v = c.re;                                                                                               \
        return from_other;                                                                                             \
    }
/* clang-format off */
PUT_REAL(F16, to_half(v), to_half((float)v))
PUT_REAL(BF16, to_bf16(v), to_bf16((float)v))
PUT_REAL(F32, v, (float)v)
PUT_REAL(F64, (double)v, (double)v)
/* clang-format on */

#define PUT_OTHER(id, from_real, from_complex)                                                                         \
    static inline E_##id put_##id##_I(int32_t v) { return from_real; }                                                 \
    static inline E_##id put_##id##_S(int64_t v) { return from_real; }                                                 \
    static inline E_##id put_##id##_U(uint64_t v) { return from_real; }                                                \
    static inline E_##id put_##id##_F(float v) { return from_real; }                                                   \
    static inline E_##id put_##id##_D(double v) { return from_real; }                                                  \
    static inline E_##id put_##id##_C(QComplexD v) { return from_complex; }
PUT_OTHER(B1, v != 0, v.re != 0 || v.im != 0)
PUT_OTHER(C64, ((QComplexF){(float)v, 0}), ((QComplexF){(float)v.re, (float)v.im}))
PUT_OTHER(C128, ((QComplexD){(double)v, 0}), v)

/* -- the loops ----------------------------------------------------------------------------------------------------- */
typedef void Strided(const char *src, ptrdiff_t sstep, char *dst, ptrdiff_t dstep, size_t n);

#define PACKED(to, from, nat)                                                                                          \
    static void packed_##from##_##to(const void *restrict src, void *restrict dst, size_t n) {                         \
        const E_##from *restrict s = src;                                                                              \
        E_##to *restrict d = dst;                                                                                      \
        for (size_t i = 0; i < n; i++) d[i] = put_##to##_##nat(get_##from(s[i]));                                      \
    }
#define STRIDED(to, from, nat)                                                                                         \
    static void strided_##from##_##to(const char *src, ptrdiff_t sstep, char *dst, ptrdiff_t dstep, size_t n) {        \
        for (; n--; src += sstep, dst += dstep) { /* foreign memory need not be aligned */                             \
            E_##from e;                                                                                                \
            memcpy(&e, src, sizeof e);                                                                                 \
            E_##to r = put_##to##_##nat(get_##from(e));                                                                \
            memcpy(dst, &r, sizeof r);                                                                                 \
        }                                                                                                              \
    }
#ifdef QCONV_AVX2
#define LOOPS(to, from, nat) PACKED(to, from, nat)
#define ENTRY(to, from)      [QS_##to] = packed_##from##_##to,
typedef Packed *Entry;
#else
#define LOOPS(to, from, nat) PACKED(to, from, nat) STRIDED(to, from, nat)
#define ENTRY(to, from)      [QS_##to] = {packed_##from##_##to, strided_##from##_##to},
typedef struct {
    Packed *packed;
    Strided *strided;
} Entry;
#endif
/* clang-format off */
#define ALL_LOOPS_FROM(from, nat)                                                                                      \
    LOOPS(B1, from, nat) LOOPS(I8, from, nat) LOOPS(U8, from, nat) LOOPS(I16, from, nat) LOOPS(U16, from, nat)         \
    LOOPS(I32, from, nat) LOOPS(U32, from, nat) LOOPS(I64, from, nat) LOOPS(U64, from, nat) LOOPS(F16, from, nat)      \
    LOOPS(BF16, from, nat) LOOPS(F32, from, nat) LOOPS(F64, from, nat) LOOPS(C64, from, nat) LOOPS(C128, from, nat)
ALL_LOOPS_FROM(B1, I)
ALL_LOOPS_FROM(I8, I)
ALL_LOOPS_FROM(U8, I)
ALL_LOOPS_FROM(I16, I)
ALL_LOOPS_FROM(U16, I)
ALL_LOOPS_FROM(I32, I)
ALL_LOOPS_FROM(U32, S)
ALL_LOOPS_FROM(I64, S)
ALL_LOOPS_FROM(U64, U)
ALL_LOOPS_FROM(F16, F)
ALL_LOOPS_FROM(BF16, F)
ALL_LOOPS_FROM(F32, F)
ALL_LOOPS_FROM(F64, D)
ALL_LOOPS_FROM(C64, C)
ALL_LOOPS_FROM(C128, C)
/* clang-format on */

#define DTYPE(id, ...) [QS_##id] = {EACH_DTYPE(ENTRY, id)},
static const Entry loops[QS_NDTYPES][QS_NDTYPES] = {
#include "vm/base/dtypes.def"
};

#ifdef QCONV_AVX2
Packed *qconv_packed_avx2(qs_dtype from, qs_dtype to) { return loops[from][to]; }
#else
Packed *qconv_packed(qs_dtype from, qs_dtype to) {
    return QCPU_AVX2 ? qconv_packed_avx2(from, to) : loops[from][to].packed;
}

/* -- moving without converting ------------------------------------------------------------------------------------- */
#define MOVE(bits, type)                                                                                               \
    static void move_##bits(const char *src, ptrdiff_t sstep, char *dst, ptrdiff_t dstep, size_t n) {                  \
        for (; n--; src += sstep, dst += dstep) memcpy(dst, src, sizeof(type));                                        \
    }
/* clang-format off */
MOVE(8, uint8_t)
MOVE(16, uint16_t)
MOVE(32, uint32_t)
MOVE(64, uint64_t)
MOVE(128, QComplexD)
/* clang-format on */

static void move_run(size_t size, const char *src, ptrdiff_t sstep, char *dst, ptrdiff_t dstep, size_t n) {
    if (sstep == (ptrdiff_t)size && dstep == sstep) {
        qmove_bytes(dst, src, n * size);
        return;
    }
    Strided *f = size == 1 ? move_8 : size == 2 ? move_16 : size == 4 ? move_32 : size == 8 ? move_64 : move_128;
    f(src, sstep, dst, dstep, n);
}

static bool is_packed(qs_dtype d, const void *p, ptrdiff_t step) {
    size_t size = qdtype_size(d), align = qdtype_is_complex(d) ? size / 2 : size;
    return step == (ptrdiff_t)size && ((uintptr_t)p & (align - 1)) == 0;
}

void qconv_run(qs_dtype from, const void *src, ptrdiff_t sstep, qs_dtype to, void *dst, ptrdiff_t dstep, size_t n) {
    if (from == to) move_run(qdtype_size(from), src, sstep, dst, dstep, n);
    else if (is_packed(from, src, sstep) && is_packed(to, dst, dstep)) qconv_packed(from, to)(src, dst, n);
    else loops[from][to].strided(src, sstep, dst, dstep, n);
}
#endif
