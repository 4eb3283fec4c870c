/* math.c -- elementwise mathematics: one row of MAPS per function of one argument. */
#include "stdlib/stdlib.h"
#include "vm/array/arith.h"
#include "vm/base/libm.h"
#include "vm/array/packed.h"

#include <complex.h>
#include <math.h>
#include <string.h>

static bool is_numeric(qs_value v) { return qval_is_number(v) || v.kind == QS_ARRAY || v.kind == QS_COMPLEX; }

/* Every argument is a number or an array; `names` holds one letter for each. */
static qs_status numeric(qs_vm *vm, const qs_call_args *c, const char *fn, const char *names) {
    for (int i = 0; i < c->nin; i++)
        if (!is_numeric(c->in[i])) return qarg_wrong(vm, fn, (char[]){names[i], 0}, "a number or an array", c->in[i]);
    return QS_OK;
}

/* -- functions that libm lacks ------------------------------------------------------------------------------------- */
#define BOTH_PRECISIONS(fn, T, expr)                                                                                   \
    static T fn(T x) { return expr; }
BOTH_PRECISIONS(frac, double, x - floor(x))
BOTH_PRECISIONS(fracf, float, x - floorf(x))
BOTH_PRECISIONS(sign, double, x > 0 ? 1 : x < 0 ? -1 : x)
BOTH_PRECISIONS(signf, float, x > 0 ? 1 : x < 0 ? -1 : x)
BOTH_PRECISIONS(saturate, double, fmin(fmax(x, 0), 1))
BOTH_PRECISIONS(saturatef, float, fminf(fmaxf(x, 0), 1))

static double nextpow2(double x) { /* the smallest power of two >= x */
    int e;
    if (!isfinite(x) || x <= 0) return x <= 0 ? 1 : x;
    return frexp(x, &e) == 0.5 ? x : ldexp(1, e);
}

/* -- complex forms ------------------------------------------------------------------------------------------------- */
static double complex load(const double in[2]) { /* a complex has the layout of its parts; CMPLX is not everywhere */
    double complex z;
    memcpy(&z, in, sizeof z);
    return z;
}
static double complex made(double re, double im) { return load((double[]){re, im}); }
static void store(double out[2], double complex z) { out[0] = creal(z), out[1] = cimag(z); }
static double complex own(QComplexD (*fn)(QComplexD), double complex z) {
    QComplexD r = fn((QComplexD){creal(z), cimag(z)});
    return made(r.re, r.im);
}
#define COMPLEX_MAP(fn, expr)                                                                                          \
    static void fn##_of(const double in[2], double out[2]) {                                                           \
        double complex z = load(in);                                                                                   \
        store(out, expr);                                                                                              \
    }
COMPLEX_MAP(csin, csin(z))
COMPLEX_MAP(ccos, ccos(z))
COMPLEX_MAP(ctan, ctan(z))
COMPLEX_MAP(casin, casin(z))
COMPLEX_MAP(cacos, cacos(z))
COMPLEX_MAP(catan, catan(z))
COMPLEX_MAP(csinh, csinh(z))
COMPLEX_MAP(ccosh, ccosh(z))
COMPLEX_MAP(ctanh, ctanh(z))
COMPLEX_MAP(casinh, casinh(z))
COMPLEX_MAP(cacosh, cacosh(z))
COMPLEX_MAP(catanh, catanh(z))
COMPLEX_MAP(cexp, own(qpacked_complex_exp, z))
COMPLEX_MAP(cexp2, own(qpacked_complex_exp, z * 0.69314718055994530942))
COMPLEX_MAP(clog, clog(z))
COMPLEX_MAP(clog2, clog(z) / 0.69314718055994530942)
COMPLEX_MAP(clog10, clog(z) / 2.30258509299404568402)
COMPLEX_MAP(csqrt, own(qpacked_complex_sqrt, z))
COMPLEX_MAP(cfloor, made(floor(creal(z)), floor(cimag(z))))
COMPLEX_MAP(cceil, made(ceil(creal(z)), ceil(cimag(z))))
COMPLEX_MAP(cround, made(round(creal(z)), round(cimag(z))))
COMPLEX_MAP(ctrunc, made(trunc(creal(z)), trunc(cimag(z))))
COMPLEX_MAP(csign, z == 0 ? 0 : z / cabs(z))

/* -- one argument -------------------------------------------------------------------------------------------------- */
/*       name      float64    float32      complex      integers stay */
#define MAPS(X)                                                                                                        \
    X(sin,      sin,       sinf,        csin_of,     false)                                                            \
    X(cos,      cos,       cosf,        ccos_of,     false)                                                            \
    X(tan,      tan,       tanf,        ctan_of,     false)                                                            \
    X(asin,     asin,      asinf,       casin_of,    false)                                                            \
    X(acos,     acos,      acosf,       cacos_of,    false)                                                            \
    X(atan,     atan,      atanf,       catan_of,    false)                                                            \
    X(sinh,     sinh,      sinhf,       csinh_of,    false)                                                            \
    X(cosh,     cosh,      coshf,       ccosh_of,    false)                                                            \
    X(tanh,     tanh,      tanhf,       ctanh_of,    false)                                                            \
    X(asinh,    asinh,     asinhf,      casinh_of,   false)                                                            \
    X(acosh,    acosh,     acoshf,      cacosh_of,   false)                                                            \
    X(atanh,    atanh,     atanhf,      catanh_of,   false)                                                            \
    X(exp,      exp,       expf,        cexp_of,     false)                                                            \
    X(exp2,     exp2,      exp2f,       cexp2_of,    false)                                                            \
    X(expm1,    expm1,     expm1f,      NULL,        false)                                                            \
    X(log,      log,       logf,        clog_of,     false)                                                            \
    X(log2,     log2,      log2f,       clog2_of,    false)                                                            \
    X(log10,    log10,     log10f,      clog10_of,   false)                                                            \
    X(log1p,    log1p,     log1pf,      NULL,        false)                                                            \
    X(sqrt,     sqrt,      sqrtf,       csqrt_of,    false)                                                            \
    X(cbrt,     cbrt,      cbrtf,       NULL,        false)                                                            \
    X(erf,      erf,       erff,        NULL,        false)                                                            \
    X(erfc,     erfc,      erfcf,       NULL,        false)                                                            \
    X(lgamma,   qlibm_lgamma, NULL,     NULL,        false)                                                            \
    X(tgamma,   qlibm_tgamma, qlibm_tgammaf, NULL,    false)                                                           \
    X(floor,    floor,     floorf,      cfloor_of,   true)                                                             \
    X(ceil,     ceil,      ceilf,       cceil_of,    true)                                                             \
    X(round,    round,     roundf,      cround_of,   true)                                                             \
    X(trunc,    trunc,     truncf,      ctrunc_of,   true)                                                             \
    X(frac,     frac,      fracf,       NULL,        false)                                                            \
    X(sign,     sign,      signf,       csign_of,    true)                                                             \
    X(saturate, saturate,  saturatef,   NULL,        false)                                                            \
    X(nextpow2, nextpow2,  NULL,        NULL,        true)

#define MAP_NATIVE(name, f64, f32, cplx, keeps)                                                                        \
    static const MapFn name##_map = {#name, f64, f32, cplx, keeps};                                                    \
    qs_status qmath_##name(qs_vm *vm, qs_call_args *c) {                                                               \
        TRY(numeric(vm, c, #name, "x"));                                                                               \
        return qapply_one(vm, &name##_map, c->in[0], &c->out[0]);                                                      \
    }
MAPS(MAP_NATIVE)

/* -- complex numbers ----------------------------------------------------------------------------------------------- */
static const MapFn abs_map = {"abs", fabs, fabsf, NULL, true};

/* Squares of floats, and the sum of two, are far from the limits of a double. */
static float modulus_f32(float re, float im) {
    bool endless = isinf(re) || isinf(im);
    return endless ? INFINITY : (float)sqrt((double)re * re + (double)im * im);
}

/* One real number per complex element. */
typedef struct {
    double (*of)(double re, double im);
    void (*singles)(const QComplexF *z, float *out, size_t n);
    void (*doubles)(const QComplexD *z, double *out, size_t n);
} Part;

#define PART(name, f64, f32)                                                                                           \
    static double name##_of_parts(double re, double im) { return (void)re, (void)im, f64; }                            \
    static void name##_of_singles(const QComplexF *z, float *out, size_t n) {                                          \
        for (size_t i = 0; i < n; i++) {                                                                               \
            float re = z[i].re, im = z[i].im;                                                                          \
            out[i] = ((void)re, (void)im, f32);                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_of_doubles(const QComplexD *z, double *out, size_t n) {                                         \
        for (size_t i = 0; i < n; i++) out[i] = name##_of_parts(z[i].re, z[i].im);                                     \
    }                                                                                                                  \
    static const Part part_##name = {name##_of_parts, name##_of_singles, name##_of_doubles};

PART(abs, hypot(re, im), modulus_f32(re, im))
PART(angle, atan2(im, re), (float)atan2((double)im, (double)re))
PART(real, re, re)
PART(imag, im, im)

static qs_status split(qs_vm *vm, qs_call_args *c, const char *fn, const Part *part) {
    if (c->in[0].kind == QS_COMPLEX) {
        const Complex *z = c->in[0].u.p;
        c->out[0] = qs_num(part->of(z->re, z->im));
        return QS_OK;
    }
    Array *a, *r;
    const void *p;
    void *q;
    TRY(qarg_floats(vm, c, 0, fn, "x", &a, &p));
    TRY(qarg_result_like(vm, c, 0, qdtype_real_of((qs_dtype)a->dtype), a, &r, &q));
    if (a->dtype == QS_C64) part->singles(p, q, a->count);
    else part->doubles(p, q, a->count);
    return QS_OK;
}

static bool is_complex(qs_value v) {
    return v.kind == QS_COMPLEX || (v.kind == QS_ARRAY && qdtype_is_complex((qs_dtype)qval_array(v)->dtype));
}

/* Numbers only: what a function of real arguments gives when the argument itself is the answer. */
static qs_status same(qs_vm *vm, qs_call_args *c, const char *fn) {
    TRY(numeric(vm, c, fn, "z"));
    c->out[0] = qval_retain(c->in[0]);
    return QS_OK;
}

qs_status qmath_abs(qs_vm *vm, qs_call_args *c) {
    TRY(numeric(vm, c, "abs", "x"));
    if (is_complex(c->in[0])) return split(vm, c, "abs", &part_abs);
    return qapply_one(vm, &abs_map, c->in[0], &c->out[0]);
}

qs_status qmath_real(qs_vm *vm, qs_call_args *c) {
    return is_complex(c->in[0]) ? split(vm, c, "real", &part_real) : same(vm, c, "real");
}

static double zero_of(double x) { (void)x; return 0; }
static double angle_of(double x) { return atan2(0, x); }
static const MapFn imag_map = {"imag", zero_of, NULL, NULL, true}, angle_map = {"angle", angle_of, NULL, NULL, false};

qs_status qmath_imag(qs_vm *vm, qs_call_args *c) {
    TRY(numeric(vm, c, "imag", "z"));
    return is_complex(c->in[0]) ? split(vm, c, "imag", &part_imag) : qapply_one(vm, &imag_map, c->in[0], &c->out[0]);
}

qs_status qmath_angle(qs_vm *vm, qs_call_args *c) {
    TRY(numeric(vm, c, "angle", "z"));
    return is_complex(c->in[0]) ? split(vm, c, "angle", &part_angle) : qapply_one(vm, &angle_map, c->in[0], &c->out[0]);
}

static void conj_of(const double in[2], double out[2]) { out[0] = in[0], out[1] = -in[1]; }
static double identity(double x) { return x; }
static const MapFn conj_map = {"conj", identity, NULL, conj_of, true};

qs_status qmath_conj(qs_vm *vm, qs_call_args *c) {
    return is_complex(c->in[0]) ? qapply_one(vm, &conj_map, c->in[0], &c->out[0]) : same(vm, c, "conj");
}

qs_status qmath_complex(qs_vm *vm, qs_call_args *c) {
    /* not re + im*j, in which an infinite im would make a real part of nan */
    qs_value parts[2] = {c->in[0], c->nin == 2 ? c->in[1] : qs_num(0)};
    if (c->nin == 1 && is_complex(parts[0])) return same(vm, c, "complex");
    for (int i = 0; i < 2; i++)
        if (!is_numeric(parts[i]) || is_complex(parts[i]))
            return qarg_wrong(vm, "complex", i ? "im" : "re", "a real number or array", parts[i]);
    return qapply_join(vm, "complex", parts[0], parts[1], &c->out[0]);
}

/* -- two and three arguments --------------------------------------------------------------------------------------- */
static double floor_mod(double x, double a) { /* in [0,a) for a > 0, (a,0] for a < 0 */
    double r = fmod(x, a);
    return r == 0 ? copysign(0, a) : (r < 0) != (a < 0) ? r + a : r;
}
static int places(double n) { return (int)qdtype_sat_i64(n, -9999, 9999); } /* no double is longer */
static double shift_left(double x, double n) { return trunc(ldexp(trunc(x), places(n))); }
static double shift_right(double x, double n) { return floor(ldexp(trunc(x), -places(n))); }

static Whole floor_mod_whole(Whole x, Whole a) {
    Whole r = a == -1 ? 0 : x == (int64_t)x && a == (int64_t)a ? (int64_t)x % (int64_t)a : x % a;
    return r != 0 && (r < 0) != (a < 0) ? r + a : r;
}
static Whole shift_right_whole(Whole x, Whole n);
static Whole shift_left_whole(Whole x, Whole n) {
    if (n < 0) return shift_right_whole(x, -n);
    bool far = n >= 64 && x != 0; /* beyond what any type holds */
    return far ? (x < 0 ? -1 : 1) * ((Whole)1 << 100) : x * ((Whole)1 << (n & 63));
}
static Whole shift_right_whole(Whole x, Whole n) {
    return n < 0 ? shift_left_whole(x, -n) : x >> (n < 100 ? n : 100);
}

static bool is_integer(qs_value v) {
    return v.kind == QS_INT || (v.kind == QS_ARRAY && qdtype_is_int((qs_dtype)qval_array(v)->dtype));
}

/* What was computed in floats, as the integers that it holds. */
static qs_status narrow(qs_vm *vm, qs_value *x, qs_dtype d) {
    Array *r;
    if (x->kind == QS_NUM) return *x = qs_int(qdtype_sat_i64(x->u.f, INT64_MIN, INT64_MAX)), QS_OK;
    TRY(qarr_convert(vm, qval_array(*x), d, &r));
    qval_release(vm, *x);
    *x = qarr_value(r);
    return QS_OK;
}

static qs_dtype dtype_of(qs_value v) { return v.kind == QS_ARRAY ? (qs_dtype)qval_array(v)->dtype : QS_I32; }

static qs_status binary(qs_vm *vm, qs_call_args *c, const char *fn, const char *names, double (*f)(double, double)) {
    TRY(numeric(vm, c, fn, names));
    return qapply_two(vm, fn, f, c->in[0], c->in[1], &c->out[0]);
}
qs_status qmath_atan2(qs_vm *vm, qs_call_args *c) { return binary(vm, c, "atan2", "yx", atan2); }
qs_status qmath_hypot(qs_vm *vm, qs_call_args *c) { return binary(vm, c, "hypot", "xy", hypot); }

static bool no_zero(qs_vm *vm, qs_value v) {
    qs_value all;
    if (v.kind == QS_INT) return v.u.i != 0;
    return qred_run(vm, RED_ALL, v, DIM_ALL, &all) == QS_OK && all.u.i;
}

/* An int beside elements of uint64 is one of them, unless it is negative. */
static qs_dtype whole_type(qs_value x, qs_value a) {
    qs_value n = x.kind == QS_INT ? x : a;
    bool beside = dtype_of(x) == QS_U64 || dtype_of(a) == QS_U64;
    return beside && n.kind == QS_INT && n.u.i >= 0 ? QS_U64 : qdtype_promote(dtype_of(x), dtype_of(a));
}

/* Of integers an integer, unless there is a modulus 0: nan has no place there. */
qs_status qmath_mod(qs_vm *vm, qs_call_args *c) {
    qs_value x = c->in[0], a = c->in[1];
    if (!is_integer(x) || !is_integer(a) || !no_zero(vm, a)) return binary(vm, c, "mod", "xa", floor_mod);
    return qapply_whole(vm, "mod", floor_mod_whole, whole_type(x, a), x, a, &c->out[0]);
}

static qs_status shift(qs_vm *vm, qs_call_args *c, const char *fn, double (*real)(double, double),
                       Whole (*whole)(Whole, Whole)) {
    if (!is_integer(c->in[0])) return binary(vm, c, fn, "an", real);
    TRY(numeric(vm, c, fn, "an"));
    return qapply_whole(vm, fn, whole, dtype_of(c->in[0]), c->in[0], c->in[1], &c->out[0]);
}
qs_status qmath_shl(qs_vm *vm, qs_call_args *c) { return shift(vm, c, "shl", shift_left, shift_left_whole); }
qs_status qmath_shr(qs_vm *vm, qs_call_args *c) { return shift(vm, c, "shr", shift_right, shift_right_whole); }

qs_status qmath_pow(qs_vm *vm, qs_call_args *c) {
    TRY(numeric(vm, c, "pow", "xa"));
    return qarith_binary(vm, OP_PWPOW, c->in[0], c->in[1], &c->out[0]);
}

/* Arrays of floats hold the integers of a program that never asked for integer types: they take part as int64, and the
 * result is of their dtype again. */
static qs_status bits(qs_vm *vm, qs_call_args *c, const char *fn, Op op) {
    qs_dtype back = QS_B1;
    TRY(numeric(vm, c, fn, "ab"));
    for (int i = 0; i < 2; i++) {
        Array *a;
        if (c->in[i].kind != QS_ARRAY || !qdtype_is_real(dtype_of(c->in[i]))) continue;
        back = back == QS_B1 ? dtype_of(c->in[i]) : qdtype_promote(back, dtype_of(c->in[i]));
        TRY(qarr_convert(vm, qval_array(c->in[i]), QS_I64, &a));
        qval_release(vm, c->in[i]);
        c->in[i] = qarr_value(a);
    }
    TRY(qarith_binary(vm, op, c->in[0], c->in[1], &c->out[0]));
    return back == QS_B1 ? QS_OK : narrow(vm, &c->out[0], back);
}
qs_status qmath_and(qs_vm *vm, qs_call_args *c) { return bits(vm, c, "and", OP_BITAND); }
qs_status qmath_or(qs_vm *vm, qs_call_args *c) { return bits(vm, c, "or", OP_BITOR); }
qs_status qmath_xor(qs_vm *vm, qs_call_args *c) { return bits(vm, c, "xor", OP_BITXOR); }

/* One element of the type of those of x that has every bit; -1 for numbers and where elements are floats. */
static qs_status every_bit(qs_vm *vm, qs_value x, qs_value *out) {
    Array *a;
    void *p;
    if (!is_integer(x) || x.kind != QS_ARRAY) return *out = qs_int(-1), QS_OK;
    TRY(qarr_new(vm, dtype_of(x), 1, &(int64_t){1}, false, &a));
    *out = qarr_value(a);
    TRY(qarr_write(vm, a, &p));
    memset(p, 0xff, qdtype_size(dtype_of(x)));
    return QS_OK;
}

/* Truth values are negated; integers have every bit flipped. */
qs_status qmath_not(qs_vm *vm, qs_call_args *c) {
    qs_value x = c->in[0], ones = qs_nil();
    TRY(numeric(vm, c, "not", "a"));
    bool truth = x.kind == QS_BOOL || (x.kind == QS_ARRAY && qval_array(x)->dtype == QS_B1);
    if (truth) return qarith_unary(vm, OP_NOT, x, &c->out[0]);
    qs_status s = every_bit(vm, x, &ones);
    qs_value in[2] = {x, ones};
    qs_call_args flipped = {2, 1, in, c->out, 0, NULL};
    if (s == QS_OK) s = bits(vm, &flipped, "not", OP_BITXOR);
    qval_release(vm, ones);
    c->in[0] = in[0]; /* it may have been replaced by its integers */
    return s;
}

/* clamp(x, hi) clips to [0, hi]; clamp(x, lo, hi) to [lo, hi]. */
qs_status qmath_clamp(qs_vm *vm, qs_call_args *c) {
    qs_value above;
    TRY(numeric(vm, c, "clamp", "xlh"));
    TRY(qarith_binary(vm, OP_MAXEQ, c->in[0], c->nin == 3 ? c->in[1] : qs_num(0), &above));
    qs_status s = qarith_binary(vm, OP_MINEQ, above, c->in[c->nin - 1], &c->out[0]);
    qval_release(vm, above);
    return s;
}

/* lerp(a, b, c) = a*c + b*(1-c) (language.md U33), computed as b + (a-b)*c. */
qs_status qmath_lerp(qs_vm *vm, qs_call_args *c) {
    qs_value d, e;
    TRY(numeric(vm, c, "lerp", "abc"));
    TRY(qarith_binary(vm, OP_SUB, c->in[0], c->in[1], &d));
    qs_status s = qarith_binary(vm, OP_PWMUL, d, c->in[2], &e);
    qval_release(vm, d);
    TRY(s);
    s = qarith_binary(vm, OP_ADD, e, c->in[1], &c->out[0]);
    qval_release(vm, e);
    return s;
}

/* -- tests on floats ----------------------------------------------------------------------------------------------- */
typedef enum { TEST_NAN, TEST_INF, TEST_FINITE } Test;
static bool passes(Test t, double x) { return t == TEST_NAN ? isnan(x) : t == TEST_INF ? isinf(x) : isfinite(x); }
static bool passes_complex(Test t, double re, double im) {
    return t == TEST_FINITE ? passes(t, re) && passes(t, im) : passes(t, re) || passes(t, im);
}

static qs_status test(qs_vm *vm, qs_call_args *c, const char *fn, Test t) {
    qs_value x = c->in[0];
    if (qval_is_number(x)) return c->out[0] = qs_bool(passes(t, qval_number(x))), QS_OK;
    if (x.kind == QS_COMPLEX)
        return c->out[0] = qs_bool(passes_complex(t, ((Complex *)x.u.p)->re, ((Complex *)x.u.p)->im)), QS_OK;
    Array *a, *r;
    const void *p;
    void *q;
    TRY(qarg_floats(vm, c, 0, fn, "x", &a, &p));
    TRY(qarg_result_like(vm, c, 0, QS_B1, a, &r, &q));
    uint8_t *y = q;
    for (size_t i = 0; i < a->count; i++) switch (a->dtype) {
        case QS_F32: y[i] = passes(t, (double)((const float *)p)[i]); break;
        case QS_F64: y[i] = passes(t, ((const double *)p)[i]); break;
        case QS_C64:
            y[i] = passes_complex(t, (double)((const float *)p)[2 * i], (double)((const float *)p)[2 * i + 1]);
            break;
        default: y[i] = passes_complex(t, ((const double *)p)[2 * i], ((const double *)p)[2 * i + 1]); break;
        }
    return QS_OK;
}
qs_status qmath_isnan(qs_vm *vm, qs_call_args *c) { return test(vm, c, "isnan", TEST_NAN); }
qs_status qmath_isinf(qs_vm *vm, qs_call_args *c) { return test(vm, c, "isinf", TEST_INF); }
qs_status qmath_isfinite(qs_vm *vm, qs_call_args *c) { return test(vm, c, "isfinite", TEST_FINITE); }

/* -- conversions --------------------------------------------------------------------------------------------------- */
qs_status qmath_int(qs_vm *vm, qs_call_args *c) {
    qs_value x = c->in[0];
    if (qval_is_number(x)) {
        c->out[0] = x.kind == QS_NUM ? qs_int(qdtype_sat_i64(x.u.f, INT64_MIN, INT64_MAX)) : qs_int(x.u.i);
        return QS_OK;
    }
    if (x.kind != QS_ARRAY || is_complex(x)) return qarg_wrong(vm, "int", "x", "a real number or array", x);
    Array *r;
    TRY(qarr_convert(vm, qval_array(x), QS_I32, &r));
    c->out[0] = qarr_value(r);
    return QS_OK;
}

qs_status qmath_float(qs_vm *vm, qs_call_args *c) {
    qs_value x = c->in[0];
    if (qval_is_number(x)) return c->out[0] = qs_num(qval_number(x)), QS_OK;
    if (x.kind != QS_ARRAY || is_complex(x)) return qarg_wrong(vm, "float", "x", "a real number or array", x);
    Array *a = qval_array(x), *r;
    qs_dtype d = (qs_dtype)a->dtype;
    TRY(qarr_convert(vm, a, qdtype_is_real(d) ? d : qdtype_promote_scalar(d, false, qvm_ctx(vm)->scalar_dtype), &r));
    c->out[0] = qarr_value(r);
    return QS_OK;
}

/* A number has no element type and stays one. */
qs_status qmath_cast_like(qs_vm *vm, qs_call_args *c) {
    Array *x, *y, *r;
    if (c->in[0].kind != QS_ARRAY) {
        if (!qval_is_number(c->in[0]) && c->in[0].kind != QS_COMPLEX)
            return qarg_wrong(vm, "cast_like", "x", "a number or an array", c->in[0]);
        return c->out[0] = qval_retain(c->in[0]), QS_OK;
    }
    x = qval_array(c->in[0]);
    TRY(qarg_array(vm, c, 1, "cast_like", "y", &y));
    if (qdtype_is_complex(x->dtype) && !qdtype_is_complex(y->dtype))
        return qarg_wrong(vm, "cast_like", "x", "real when y is", c->in[0]);
    TRY(qarr_convert(vm, x, (qs_dtype)y->dtype, &r));
    return c->out[0] = qarr_value(r), QS_OK;
}

/* -- closeness ----------------------------------------------------------------------------------------------------- */
static double gap(double a, double b) { return a == b ? 0 : isinf(a) || isinf(b) ? NAN : fabs(a - b); }

/* The gap between one part, qmath_real or qmath_imag, of a and b, which are argument slots. */
static qs_status gap_of(qs_vm *vm, const char *fn, qs_native_fn *part, qs_value ab[2], qs_value *out) {
    qs_value a = qs_nil(), b = qs_nil();
    qs_status s = part(vm, &(qs_call_args){1, 1, &ab[0], &a, 0, NULL});
    if (s == QS_OK) s = part(vm, &(qs_call_args){1, 1, &ab[1], &b, 0, NULL});
    if (s == QS_OK) s = qapply_two(vm, fn, gap, a, b, out);
    qval_release(vm, a), qval_release(vm, b);
    return s;
}

static qs_status distance_of(qs_vm *vm, const char *fn, qs_value ab[2], qs_value *out) {
    if (!is_complex(ab[0]) && !is_complex(ab[1])) return qapply_two(vm, fn, gap, ab[0], ab[1], out);
    qs_value re = qs_nil(), im = qs_nil();
    qs_status s = gap_of(vm, fn, qmath_real, ab, &re);
    if (s == QS_OK) s = gap_of(vm, fn, qmath_imag, ab, &im);
    if (s == QS_OK) s = qapply_two(vm, fn, hypot, re, im, out);
    qval_release(vm, re), qval_release(vm, im);
    return s;
}

/* The gap against a limit that grows with |b|; both broadcast. */
static qs_status closeness(qs_vm *vm, qs_call_args *c, const char *fn, qs_value *out) {
    double rtol = 1e-5, atol = 1e-8;
    qs_value distance = qs_nil(), size = qs_nil(), part = qs_nil(), limit = qs_nil();
    if (qarg_given(c, 2)) TRY(qarg_num(vm, fn, "rtol", c->in[2], &rtol));
    if (qarg_given(c, 3)) TRY(qarg_num(vm, fn, "atol", c->in[3], &atol));
    TRY(distance_of(vm, fn, c->in, &distance));
    qs_call_args modulus = {1, 1, &c->in[1], &size, 0, NULL};
    qs_status s = qmath_abs(vm, &modulus);
    if (s == QS_OK) s = qarith_binary(vm, OP_MUL, size, qs_num(rtol), &part);
    if (s == QS_OK) s = qarith_binary(vm, OP_ADD, part, qs_num(atol), &limit);
    if (s == QS_OK) s = qarith_binary(vm, OP_LE, distance, limit, out);
    qval_release(vm, distance), qval_release(vm, size), qval_release(vm, part), qval_release(vm, limit);
    return s;
}
qs_status qmath_isclose(qs_vm *vm, qs_call_args *c) { return closeness(vm, c, "isclose", &c->out[0]); }
qs_status qmath_allclose(qs_vm *vm, qs_call_args *c) {
    qs_value close = qs_nil();
    TRY(closeness(vm, c, "allclose", &close));
    qs_status s = close.kind == QS_ARRAY ? qred_run(vm, RED_ALL, close, DIM_ALL, &c->out[0]) : QS_OK;
    if (close.kind != QS_ARRAY) c->out[0] = close;
    else qval_release(vm, close);
    return s;
}
