/* lower_math.c -- built-ins that apply to numbers and small arrays, element by element. */
#include "lang/kernel/lower/lowering_builtins.h"
#include "lang/kernel/ir/sem.h"

#include <math.h>

/* -- one argument --------------------------------------------------------------------------------------------- */
static qs_status map(Lower *L, const BuiltinCall *c, MapOneFn *f, Val *out) {
    return klval_map(L, &c->args[0], f, c, out);
}

static qs_status need_real(Lower *L, const BuiltinCall *c, Num a) {
    return qdtype_is_complex(a.dtype) ? klbuiltin_refuse(L, c, "of a complex number is not available in kernels")
                                      : QS_OK;
}

static qs_status real_one(Lower *L, Num a, const void *ud, Num *out) {
    const BuiltinCall *c = ud;
    TRY(need_real(L, c, a));
    return *out = klnum_real_math(L, (MathFn)c->imm, a), QS_OK;
}

qs_status klmath_real(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, real_one, out); }

static KRef modulus(Lower *L, Num a) { return klnum_math(L, MF_hypot, a.re.ref, a.im.ref); }
static KRef argument(Lower *L, Num a) { return klnum_math(L, MF_atan2, a.im.ref, a.re.ref); }

static qs_status exp_one(Lower *L, Num a, const void *ud, Num *out) {
    (void)ud;
    if (!qdtype_is_complex(a.dtype)) return *out = klnum_real_math(L, MF_exp, a), QS_OK;
    return *out = klnum_polar(L, klnum_math(L, MF_exp, a.re.ref, 0), a.im.ref, a.dtype), QS_OK;
}

static qs_status log_one(Lower *L, Num a, const void *ud, Num *out) {
    (void)ud;
    if (!qdtype_is_complex(a.dtype)) return *out = klnum_real_math(L, MF_log, a), QS_OK;
    KRef size = klnum_math(L, MF_log, modulus(L, a), 0);
    *out = (Num){.dtype = a.dtype, .re = {.ref = size}, .im = {.ref = argument(L, a)}};
    return QS_OK;
}

static qs_status sqrt_one(Lower *L, Num a, const void *ud, Num *out) {
    (void)ud;
    if (!qdtype_is_complex(a.dtype)) return *out = klnum_real_math(L, MF_sqrt, a), QS_OK;
    KRef half = klnum_bin(L, K_MUL, argument(L, a), klnum_const(L, qdtype_real_of(a.dtype), 0.5));
    return *out = klnum_polar(L, klnum_math(L, MF_sqrt, modulus(L, a), 0), half, a.dtype), QS_OK;
}

qs_status klmath_exp(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, exp_one, out); }
qs_status klmath_log(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, log_one, out); }
qs_status klmath_sqrt(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, sqrt_one, out); }

static qs_status rounding_one(Lower *L, Num a, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    double v;
    if (klnum_whole(a) || a.dtype == QS_B1) return *out = a, QS_OK;
    if (klnum_is_weak(a) && klnum_known(L, a, &v)) { /* a known whole number may be an index or a size */
        double r = keval_math((MathFn)((const BuiltinCall *)ud)->imm, QS_F64, v, 0);
        return *out = klnum_literal(L, r, true), QS_OK;
    }
    return real_one(L, a, ud, out);
}

/* floor(a/b), trunc(a/b) and int(a/b) of whole numbers are exact.  The operands are computed once more for it, which
 * leaves nothing behind when they are simple. */
static qs_status exact_quotient(Lower *L, const BuiltinCall *c, bool down, Val *out, bool *done) {
    const Node *n =
        c->site && c->site->kind == N_CALL && c->site->u.call.args.n == 1 ? c->site->u.call.args.at[0].value : NULL;
    *done = n && klexpr_is_quotient(n) && klexpr_cheap(n);
    return *done ? klexpr_quotient(L, c->site->u.call.args.at[0].value, down, out, done) : QS_OK;
}

qs_status klmath_round(Lower *L, const BuiltinCall *c, Val *out) {
    bool done = false, down = c->imm == MF_floor;
    if (down || c->imm == MF_trunc) TRY(exact_quotient(L, c, down, out, &done));
    return done ? QS_OK : map(L, c, rounding_one, out);
}

static qs_status frac_one(Lower *L, Num a, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    return *out = klbuiltin_binary(L, OP_SUB, a, klnum_real_math(L, MF_floor, a)), QS_OK;
}

qs_status klmath_frac(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, frac_one, out); }

static qs_status abs_one(Lower *L, Num a, const void *ud, Num *out) {
    double v;
    (void)ud;
    if (qdtype_is_complex(a.dtype)) return *out = klnum_strong(modulus(L, a), qdtype_real_of(a.dtype)), QS_OK;
    if (klnum_is_weak(a) && klnum_known(L, a, &v)) return *out = klnum_literal(L, fabs(v), a.re.weak->integral), QS_OK;
    qs_dtype d = a.dtype == QS_B1 ? QS_I32 : L->indexing && klnum_whole(a) ? QS_I64 : a.dtype;
    return *out = klnum_strong(klnum_un(L, K_ABS, klnum_ref(L, a, d)), d), QS_OK;
}

qs_status klmath_abs(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, abs_one, out); }

static qs_status sign_one(Lower *L, Num a, const void *ud, Num *out) {
    Num zero = klbuiltin_whole(L, 0), up, down;
    TRY(need_real(L, ud, a));
    TRY(klnum_binary(L, OP_GT, a, zero, &up));
    TRY(klnum_binary(L, OP_LT, a, zero, &down));
    Num less = klnum_select(L, klnum_truth(L, down), klbuiltin_whole(L, -1), klbuiltin_whole(L, 0));
    qs_dtype d = klnum_is_weak(a) || qdtype_is_int(a.dtype) || a.dtype == QS_B1 ? QS_I32 : a.dtype;
    return *out = klnum_cast(L, klnum_select(L, klnum_truth(L, up), klbuiltin_whole(L, 1), less), d), QS_OK;
}

qs_status klmath_sign(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, sign_one, out); }

static qs_status part_one(Lower *L, Num a, const void *ud, Num *out) {
    int part = ((const BuiltinCall *)ud)->imm;
    if (!qdtype_is_complex(a.dtype)) return *out = part ? klbuiltin_whole(L, 0) : a, QS_OK;
    return *out = klnum_strong(part ? a.im.ref : a.re.ref, qdtype_real_of(a.dtype)), QS_OK;
}

qs_status klmath_part(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, part_one, out); }

Num klmath_conjugate(Lower *L, Num a) {
    if (qdtype_is_complex(a.dtype)) a.im.ref = klnum_un(L, K_NEG, a.im.ref);
    return a;
}

static qs_status conj_one(Lower *L, Num a, const void *ud, Num *out) {
    (void)ud;
    return *out = klmath_conjugate(L, a), QS_OK;
}

qs_status klmath_conj(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, conj_one, out); }

static qs_status angle_one(Lower *L, Num a, const void *ud, Num *out) {
    (void)ud;
    qs_dtype r = klnum_real_dtype(L, a);
    KRef x = klnum_part(L, a, 0, r), y = klnum_part(L, a, 1, r);
    return *out = klnum_strong(klnum_math(L, MF_atan2, y, x), r), QS_OK;
}

qs_status klmath_angle(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, angle_one, out); }

static KRef classify_ref(Lower *L, KRef a, int which) {
    qs_dtype d = L->f->ins[a].dtype;
    if (which == 0) return klnum_bin(L, K_NE, a, a);
    KRef size = klnum_un(L, K_ABS, a), inf = klnum_const(L, d, INFINITY);
    return klnum_bin(L, which == 1 ? K_EQ : K_LT, size, inf);
}

static qs_status classify_one(Lower *L, Num a, const void *ud, Num *out) {
    int which = ((const BuiltinCall *)ud)->imm;
    if (qdtype_is_int(a.dtype) || a.dtype == QS_B1)
        return *out = klnum_strong(klnum_int(L, QS_B1, which == 2), QS_B1), QS_OK;
    qs_dtype r = qdtype_real_of(a.dtype);
    KRef c = classify_ref(L, klnum_ref(L, a, r), which);
    if (qdtype_is_complex(a.dtype)) c = klnum_bin(L, which == 2 ? K_AND : K_OR, c, classify_ref(L, a.im.ref, which));
    return *out = klnum_strong(c, QS_B1), QS_OK;
}

qs_status klmath_classify(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, classify_one, out); }

static qs_status saturate_one(Lower *L, Num a, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    return *out = klnum_minmax(L, K_MIN, klnum_minmax(L, K_MAX, a, klbuiltin_whole(L, 0)), klbuiltin_whole(L, 1)),
           QS_OK;
}

qs_status klmath_saturate(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, saturate_one, out); }

static qs_status nextpow2_one(Lower *L, Num a, const void *ud, Num *out) {
    double v;
    TRY(need_real(L, ud, a));
    if (klnum_known(L, a, &v)) return *out = klbuiltin_whole(L, v > 1 ? exp2(ceil(log2(v))) : 1), QS_OK;
    Num up = klnum_real_math(L, MF_ceil, klnum_real_math(L, MF_log2, klnum_minmax(L, K_MAX, a, klbuiltin_whole(L, 1))));
    return *out = klnum_real_math(L, MF_exp2, up), QS_OK;
}

qs_status klmath_nextpow2(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, nextpow2_one, out); }

static qs_status int_one(Lower *L, Num a, const void *ud, Num *out) {
    double v, lo, hi;
    TRY(need_real(L, ud, a));
    qdtype_int_span(L->indexing ? QS_I64 : QS_I32, &lo, &hi);
    if (klnum_is_weak(a) && klnum_known(L, a, &v))
        return *out = klbuiltin_whole(L, isnan(v) ? 0 : trunc(fmin(fmax(v, lo), hi))), QS_OK;
    bool is = qdtype_is_int(a.dtype) && (L->indexing || !klnum_is_weak(a)); /* a number of the host may have 64 bits */
    return *out = is ? a : klnum_cast(L, a, L->indexing ? QS_I64 : QS_I32), QS_OK;
}

qs_status klmath_int(Lower *L, const BuiltinCall *c, Val *out) {
    bool done;
    TRY(exact_quotient(L, c, false, out, &done));
    return done ? QS_OK : map(L, c, int_one, out);
}

static qs_status float_one(Lower *L, Num a, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    return *out = qdtype_is_real(a.dtype) ? a : klnum_cast(L, a, L->c->scalar_dtype), QS_OK;
}

qs_status klmath_float(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, float_one, out); }

static qs_status not_one(Lower *L, Num a, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    qs_dtype d = a.dtype == QS_B1 || qdtype_is_int(a.dtype) ? a.dtype : QS_I32;
    return *out = klnum_strong(klnum_un(L, K_NOT, klnum_ref(L, a, d)), d), QS_OK;
}

qs_status klmath_not(Lower *L, const BuiltinCall *c, Val *out) { return map(L, c, not_one, out); }

/* -- two arguments -------------------------------------------------------------------------------------------- */
static qs_status map2(Lower *L, const BuiltinCall *c, MapTwoFn *f, Val *out) {
    return klval_map2(L, &c->args[0], &c->args[1], f, c, out);
}

static qs_dtype real_join(Lower *L, Num a, Num b) {
    qs_dtype d = klnum_join(L, a, b);
    return qdtype_is_real(d) ? d : L->c->scalar_dtype;
}

static qs_status real_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
    const BuiltinCall *c = ud;
    TRY(need_real(L, c, a));
    TRY(need_real(L, c, b));
    qs_dtype d = real_join(L, a, b);
    return *out = klnum_strong(klnum_math(L, (MathFn)c->imm, klnum_ref(L, a, d), klnum_ref(L, b, d)), d), QS_OK;
}

qs_status klmath_real2(Lower *L, const BuiltinCall *c, Val *out) { return map2(L, c, real_two, out); }

static qs_status operator_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
    return klnum_binary(L, (Op)((const BuiltinCall *)ud)->imm, a, b, out);
}

qs_status klmath_operator(Lower *L, const BuiltinCall *c, Val *out) { return map2(L, c, operator_two, out); }

qs_status klmath_mod_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
    double x, y;
    TRY(need_real(L, ud, a));
    TRY(need_real(L, ud, b));
    if (klnum_is_weak(a) && klnum_is_weak(b) && klnum_known(L, a, &x) && klnum_known(L, b, &y) && y != 0)
        return *out = klnum_literal(L, ksem_MOD_F64(x, y), klnum_whole(a) && klnum_whole(b)), QS_OK;
    qs_dtype d = klnum_join(L, a, b);
    if (d == QS_B1) d = QS_I32;
    if (klnum_whole(a) && klnum_whole(b) && L->indexing) d = QS_I64;
    return *out = klnum_strong(klnum_bin(L, K_MOD, klnum_ref(L, a, d), klnum_ref(L, b, d)), d), QS_OK;
}

qs_status klmath_mod(Lower *L, const BuiltinCall *c, Val *out) { return map2(L, c, klmath_mod_two, out); }

static qs_status complex_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    TRY(need_real(L, ud, b));
    qs_dtype r = real_join(L, a, b);
    *out = (Num){.dtype = qdtype_complex_of(r), .re = {.ref = klnum_ref(L, a, r)}, .im = {.ref = klnum_ref(L, b, r)}};
    return QS_OK;
}

qs_status klmath_complex(Lower *L, const BuiltinCall *c, Val *out) { return map2(L, c, complex_two, out); }

static qs_status shift_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
    const BuiltinCall *c = ud;
    TRY(need_real(L, c, a));
    TRY(need_real(L, c, b));
    qs_dtype d = qdtype_is_int(a.dtype) ? a.dtype : QS_I32;
    return *out = klnum_strong(klnum_bin(L, (KOp)c->imm, klnum_ref(L, a, d), klnum_ref(L, b, d)), d), QS_OK;
}

qs_status klmath_shift(Lower *L, const BuiltinCall *c, Val *out) { return map2(L, c, shift_two, out); }

static qs_status minmax_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
    const BuiltinCall *c = ud;
    return klnum_binary(L, c->imm == K_MIN ? OP_MINEQ : OP_MAXEQ, a, b, out);
}

qs_status klmath_minmax(Lower *L, const BuiltinCall *c, Val *out) {
    return c->nargs == 2 ? map2(L, c, minmax_two, out) : klreduce_minmax(L, c, out);
}

/* -- made of others ---------------------------------------------------------------------------------------------- */
qs_status klmath_clamp(Lower *L, const BuiltinCall *c, Val *out) {
    Val zero, low;
    BuiltinCall max = {"clamp", NULL, NULL, 2, K_MAX}, min = {"clamp", NULL, NULL, 2, K_MIN};
    klval_number(L, klbuiltin_whole(L, 0), &zero);
    const Val *lo = c->nargs == 3 ? &c->args[1] : &zero, *hi = &c->args[c->nargs - 1];
    TRY(klval_map2(L, &c->args[0], lo, minmax_two, &max, &low));
    return klval_map2(L, &low, hi, minmax_two, &min, out);
}

qs_status klmath_lerp(Lower *L, const BuiltinCall *c, Val *out) { /* a*c + b*(1-c) */
    Val one, rest, x, y;
    klval_number(L, klbuiltin_whole(L, 1), &one);
    TRY(klval_binary(L, OP_PWMUL, &c->args[0], &c->args[2], &x));
    TRY(klval_binary(L, OP_SUB, &one, &c->args[2], &rest));
    TRY(klval_binary(L, OP_PWMUL, &c->args[1], &rest, &y));
    return klval_binary(L, OP_ADD, &x, &y, out);
}
