/* dtype.c -- implements type promotion and scalar conversions of element types. */
#include "vm/base/dtype.h"

#include <math.h>
#include <string.h>

const DtypeInfo qdtype_info[QS_NDTYPES] = {
#define DTYPE(id, name, ctype, bytes, cls, ...) [QS_##id] = {name, bytes, DC_##cls, __VA_ARGS__},
#include "vm/base/dtypes.def"
};
#define DTYPE(id, name, ctype, bytes, ...) _Static_assert(sizeof(ctype) == (bytes), "dtype size");
#include "vm/base/dtypes.def"

static bool has_sign(qs_dtype d) { return qdtype_info[d].cls == DC_SINT; }

static qs_dtype promote_int(qs_dtype a, qs_dtype b) {
    qs_dtype most = a > b ? a : b;
    if (most >= QS_U32 && !has_sign(a) && !has_sign(b)) return most;
    if (a < QS_I32) a = QS_I32;
    if (b < QS_I32) b = QS_I32;
    if (a == b) return a;
    if (a > b) {
        qs_dtype t = a;
        a = b;
        b = t;
    }
    if (b == QS_U64) return a == QS_U32 ? QS_U64 : QS_F64;
    return QS_I64; /* int with uint32, or anything with int64 */
}

bool qdtype_mixes_signs(qs_dtype a, qs_dtype b) { return (a == QS_U64 && has_sign(b)) || (b == QS_U64 && has_sign(a)); }

static bool wide_int(qs_dtype d) { return d >= QS_I32 && d <= QS_U64; }

qs_dtype qdtype_promote(qs_dtype a, qs_dtype b) {
    if (a > b) {
        qs_dtype t = a;
        a = b;
        b = t;
    }
    if (b <= QS_U64) return promote_int(a, b);
    if (b >= QS_C64) {
        if (b == QS_C128 || a == QS_F64 || wide_int(a)) return QS_C128;
        return QS_C64;
    }
    if (a == b) return a;
    if (wide_int(a)) return QS_F64;
    if (b == QS_F64) return QS_F64;
    if (a <= QS_U16) return (b == QS_F32 || a >= QS_I16) ? QS_F32 : b; /* half and bfloat16 hold 8-bit integers only */
    return QS_F32; /* two different small floats, or one with float32 */
}

qs_dtype qdtype_promote_scalar(qs_dtype a, bool weak_int, qs_dtype scalar_dtype) {
    if (a >= QS_F16) return a;
    if (weak_int) return a < QS_I32 ? QS_I32 : a;
    return wide_int(a) ? QS_F64 : scalar_dtype;
}

static qs_dtype meet_number(qs_dtype d, qs_dtype number, bool fraction, qs_dtype scalar_dtype) {
    qs_dtype r = qdtype_promote_scalar(d, number == QS_I64 && !fraction, scalar_dtype);
    return qdtype_is_complex(number) ? qdtype_complex_of(r) : r;
}

qs_dtype qdtype_meet(Term a, Term b, bool fraction, qs_dtype scalar_dtype) {
    if (a.number && b.number) {
        bool complex = qdtype_is_complex(a.dtype) || qdtype_is_complex(b.dtype);
        bool ints = a.dtype == QS_I64 && b.dtype == QS_I64 && !fraction;
        return complex ? QS_C128 : ints ? QS_I64 : QS_F64;
    }
    if (a.number) return meet_number(b.dtype, a.dtype, fraction, scalar_dtype);
    if (b.number) return meet_number(a.dtype, b.dtype, fraction, scalar_dtype);
    if (!fraction) return qdtype_promote(a.dtype, b.dtype);
    return qdtype_promote(qdtype_promote_scalar(a.dtype, false, scalar_dtype),
                          qdtype_promote_scalar(b.dtype, false, scalar_dtype));
}

qs_dtype qdtype_choose(Term a, Term b, qs_dtype list, qs_dtype met) {
    bool numbers = a.number && b.number;
    if (a.dtype == b.dtype && (!numbers || a.dtype == QS_B1)) return a.dtype;
    return numbers ? list : met;
}

qs_dtype qdtype_complex_of(qs_dtype d) {
    if (d >= QS_C64) return d;
    return d == QS_F64 || wide_int(d) ? QS_C128 : QS_C64;
}

qs_dtype qdtype_real_of(qs_dtype d) { return d == QS_C64 ? QS_F32 : d == QS_C128 ? QS_F64 : d; }

bool qdtype_from_name(const char *name, qs_dtype *out) {
    for (int i = 0; i < QS_NDTYPES; i++)
        if (!strcmp(qdtype_info[i].name, name)) return *out = (qs_dtype)i, true;
    if (!strcmp(name, "int32")) return *out = QS_I32, true;
    return false;
}

void qdtype_int_span(qs_dtype d, double *lo, double *hi) {
    double count = ldexp(1, (int)(8 * qdtype_size(d)));
    bool is_signed = d == QS_I8 || d == QS_I16 || d == QS_I32 || d == QS_I64;
    *lo = is_signed ? -count / 2 : 0, *hi = *lo + (count - 1);
}

double qdtype_range_count(double lo, double step, double hi) {
    double slack = fmin(QDTYPE_RANGE_UNIT * fmax(fabs(lo), fabs(hi)) / fabs(step), QDTYPE_RANGE_SLACK);
    double q = (hi - lo) / step, up = ceil(q), n = (up - q < slack ? up : floor(q)) + 1;
    return n > 0 ? n : 0;
}

int64_t qdtype_sat_i64(double x, int64_t lo, int64_t hi) {
    if (!(x == x)) return 0;
    if (x <= (double)lo) return lo;
    if (x >= (double)hi) return hi; /* (double)INT64_MAX is 2^63: >= keeps the cast defined */
    return (int64_t)x;
}

uint64_t qdtype_sat_u64(double x, uint64_t hi) {
    if (!(x > 0)) return 0;
    if (x >= (double)hi) return hi;
    return (uint64_t)x;
}

bool qdtype_rounds_integral(double x) { return (double)(float)x != x && x == trunc(x) && fabs(x) < 0x1p64; }

float qdtype_half_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = (h >> 10) & 31, man = h & 0x3ff;
    union {
        uint32_t u;
        float f;
    } v;
    if (exp == 31) v.u = sign | 0x7f800000 | man << 13;
    else if (exp) v.u = sign | (exp + 112) << 23 | man << 13;
    else return (sign ? -1.0f : 1.0f) * ldexpf((float)man, -24);
    return v.f;
}

uint16_t qdtype_float_to_half(float f) {
    union {
        float f;
        uint32_t u;
    } v = {f};
    uint16_t sign = (uint16_t)(v.u >> 16 & 0x8000);
    uint32_t mag = v.u & 0x7fffffff;
    if (mag > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (mag >= 0x47800000) return (uint16_t)(sign | 0x7c00);
    if (mag < 0x38800000) return (uint16_t)(sign | (uint16_t)lrintf(ldexpf(fabsf(f), 24))); /* subnormal half */
    uint32_t rounded = mag - (112u << 23) + 0xfff + (mag >> 13 & 1);
    return (uint16_t)(sign | rounded >> 13);
}

uint16_t qdtype_float_to_bf16(float f) {
    union {
        float f;
        uint32_t u;
    } v = {f};
    if ((v.u & 0x7fffffff) > 0x7f800000) return (uint16_t)(v.u >> 16 | 0x40);
    return (uint16_t)((v.u + 0x7fff + (v.u >> 16 & 1)) >> 16);
}

double qdtype_get(qs_dtype d, const void *p) {
    switch (d) {
    case QS_B1: return *(const uint8_t *)p != 0;
    case QS_U8: return *(const uint8_t *)p;
    case QS_I8: return *(const int8_t *)p;
    case QS_I16: return *(const int16_t *)p;
    case QS_U16: return *(const uint16_t *)p;
    case QS_I32: return *(const int32_t *)p;
    case QS_U32: return *(const uint32_t *)p;
    case QS_I64: return (double)*(const int64_t *)p;
    case QS_U64: return (double)*(const uint64_t *)p;
    case QS_F16: return (double)qdtype_half_to_float(*(const uint16_t *)p);
    case QS_BF16: return (double)qdtype_bf16_to_float(*(const uint16_t *)p);
    case QS_F32: return (double)*(const float *)p;
    case QS_F64: return *(const double *)p;
    case QS_C64: return (double)((const QComplexF *)p)->re;
    case QS_C128: return ((const QComplexD *)p)->re;
    }
    return 0;
}

void qdtype_put(qs_dtype d, void *p, double x) {
    switch (d) {
    case QS_B1: *(uint8_t *)p = x != 0; break;
    case QS_I8: *(int8_t *)p = (int8_t)qdtype_sat_i64(x, INT8_MIN, INT8_MAX); break;
    case QS_U8: *(uint8_t *)p = (uint8_t)qdtype_sat_u64(x, UINT8_MAX); break;
    case QS_I16: *(int16_t *)p = (int16_t)qdtype_sat_i64(x, INT16_MIN, INT16_MAX); break;
    case QS_U16: *(uint16_t *)p = (uint16_t)qdtype_sat_u64(x, UINT16_MAX); break;
    case QS_I32: *(int32_t *)p = (int32_t)qdtype_sat_i64(x, INT32_MIN, INT32_MAX); break;
    case QS_U32: *(uint32_t *)p = (uint32_t)qdtype_sat_u64(x, UINT32_MAX); break;
    case QS_I64: *(int64_t *)p = qdtype_sat_i64(x, INT64_MIN, INT64_MAX); break;
    case QS_U64: *(uint64_t *)p = qdtype_sat_u64(x, UINT64_MAX); break;
    case QS_F16: *(uint16_t *)p = qdtype_float_to_half((float)x); break;
    case QS_BF16: *(uint16_t *)p = qdtype_float_to_bf16((float)x); break;
    case QS_F32: *(float *)p = (float)x; break;
    case QS_F64: *(double *)p = x; break;
    case QS_C64:
        ((QComplexF *)p)->re = (float)x;
        ((QComplexF *)p)->im = 0;
        break;
    case QS_C128:
        ((QComplexD *)p)->re = x;
        ((QComplexD *)p)->im = 0;
        break;
    }
}

int qdtype_order(int64_t i, double x) {
    if (isnan(x)) return 2;
    if (x >= 0x1p63) return -1;
    if (x < -0x1p63) return 1;
    int64_t whole = (int64_t)x; /* toward zero */
    if (i != whole) return i < whole ? -1 : 1;
    double rest = x - (double)whole;
    return rest > 0 ? -1 : rest < 0;
}
