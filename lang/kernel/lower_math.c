/* lower_math.c -- the built-ins of kbuiltins.def.  Elementwise functions apply to numbers and small arrays alike. */
#include "lang/kernel/lowering.h"
#include "lang/kernel/sem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct { const char *name; Node *site; const Val *args; int nargs, imm; } Call;
typedef enum { RED_SUM, RED_PROD, RED_MEAN, RED_ANY, RED_ALL, RED_SQUARES, RED_NORM } Reduction_;

static qs_status refuse(Lower *L, const Call *c, const char *why) {
    return klower_error(L, QS_ETYPE, L->pos, "%s %s", c->name, why);
}

static Num binary(Lower *L, Op op, Num a, Num b) { /* of operators that cannot fail on real numbers */
    Num r = a;
    if (klnum_binary(L, op, a, b, &r) != QS_OK) qerr_clear(L->c);
    return r;
}

static Num whole(Lower *L, double v) { return klnum_literal(L, v, true); }

/* -- elementwise, one argument ----------------------------------------------------------------------------------- */
static qs_status map(Lower *L, const Call *c, MapOneFn *f, Val *out) { return klval_map(L, &c->args[0], f, c, out); }

static qs_status need_real(Lower *L, const Call *c, Num a) {
    return qdtype_is_complex(a.dtype) ? refuse(L, c, "of a complex number is not available in kernels") : QS_OK;
}

static qs_status real_one(Lower *L, Num a, const void *ud, Num *out) {
    const Call *c = ud;
    TRY(need_real(L, c, a));
    return *out = klnum_real_math(L, (MathFn)c->imm, a), QS_OK;
}

static qs_status real_fn(Lower *L, const Call *c, Val *out) { return map(L, c, real_one, out); }

static Num from_polar(Lower *L, KRef size, KRef angle, qs_dtype d) {
    return (Num){.dtype = d, .re = {.ref = klnum_bin(L, K_MUL, size, klnum_math(L, MF_cos, angle, 0))},
                 .im = {.ref = klnum_bin(L, K_MUL, size, klnum_math(L, MF_sin, angle, 0))}};
}

static KRef modulus(Lower *L, Num a) { return klnum_math(L, MF_hypot, a.re.ref, a.im.ref); }
static KRef argument(Lower *L, Num a) { return klnum_math(L, MF_atan2, a.im.ref, a.re.ref); }

static qs_status exp_one(Lower *L, Num a, const void *ud, Num *out) {
    (void)ud;
    if (!qdtype_is_complex(a.dtype)) return *out = klnum_real_math(L, MF_exp, a), QS_OK;
    return *out = from_polar(L, klnum_math(L, MF_exp, a.re.ref, 0), a.im.ref, a.dtype), QS_OK;
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
    return *out = from_polar(L, klnum_math(L, MF_sqrt, modulus(L, a), 0), half, a.dtype), QS_OK;
}

static qs_status exp_fn(Lower *L, const Call *c, Val *out) { return map(L, c, exp_one, out); }
static qs_status log_fn(Lower *L, const Call *c, Val *out) { return map(L, c, log_one, out); }
static qs_status sqrt_fn(Lower *L, const Call *c, Val *out) { return map(L, c, sqrt_one, out); }

static qs_status rounding_one(Lower *L, Num a, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    double v;
    if (klnum_whole(a) || a.dtype == QS_B1) return *out = a, QS_OK;
    if (klnum_is_weak(a) && klnum_known(L, a, &v)) { /* a known whole number may be an index or a size */
        double r = keval_math((MathFn)((const Call *)ud)->imm, QS_F64, v, 0);
        return *out = klnum_literal(L, r, true), QS_OK;
    }
    return real_one(L, a, ud, out);
}

/* floor(a/b), trunc(a/b) and int(a/b) of whole numbers are exact.  The operands are computed once more for it, which
 * leaves nothing behind when they are simple. */
static qs_status exact_quotient(Lower *L, const Call *c, bool down, Val *out, bool *done) {
    const Node *n =
        c->site && c->site->kind == N_CALL && c->site->u.call.args.n == 1 ? c->site->u.call.args.at[0].value : NULL;
    *done = n && klexpr_is_quotient(n) && klexpr_cheap(n);
    return *done ? klexpr_quotient(L, c->site->u.call.args.at[0].value, down, out, done) : QS_OK;
}

static qs_status rounding(Lower *L, const Call *c, Val *out) {
    bool done = false, down = c->imm == MF_floor;
    if (down || c->imm == MF_trunc) TRY(exact_quotient(L, c, down, out, &done));
    return done ? QS_OK : map(L, c, rounding_one, out);
}

static qs_status frac_one(Lower *L, Num a, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    return *out = binary(L, OP_SUB, a, klnum_real_math(L, MF_floor, a)), QS_OK;
}

static qs_status frac_fn(Lower *L, const Call *c, Val *out) { return map(L, c, frac_one, out); }

static qs_status abs_one(Lower *L, Num a, const void *ud, Num *out) {
    double v;
    (void)ud;
    if (qdtype_is_complex(a.dtype)) return *out = klnum_strong(modulus(L, a), qdtype_real_of(a.dtype)), QS_OK;
    if (klnum_is_weak(a) && klnum_known(L, a, &v)) return *out = klnum_literal(L, fabs(v), a.re.weak->integral), QS_OK;
    qs_dtype d = a.dtype == QS_B1 ? QS_I32 : L->indexing && klnum_whole(a) ? QS_I64 : a.dtype;
    return *out = klnum_strong(klnum_un(L, K_ABS, klnum_ref(L, a, d)), d), QS_OK;
}

static qs_status abs_fn(Lower *L, const Call *c, Val *out) { return map(L, c, abs_one, out); }

static qs_status sign_one(Lower *L, Num a, const void *ud, Num *out) {
    Num zero = whole(L, 0), up, down;
    TRY(need_real(L, ud, a));
    TRY(klnum_binary(L, OP_GT, a, zero, &up));
    TRY(klnum_binary(L, OP_LT, a, zero, &down));
    Num less = klnum_select(L, klnum_truth(L, down), whole(L, -1), whole(L, 0));
    qs_dtype d = klnum_is_weak(a) || qdtype_is_int(a.dtype) || a.dtype == QS_B1 ? QS_I32 : a.dtype;
    return *out = klnum_cast(L, klnum_select(L, klnum_truth(L, up), whole(L, 1), less), d), QS_OK;
}

static qs_status sign_fn(Lower *L, const Call *c, Val *out) { return map(L, c, sign_one, out); }

static qs_status part_one(Lower *L, Num a, const void *ud, Num *out) {
    int part = ((const Call *)ud)->imm;
    if (!qdtype_is_complex(a.dtype)) return *out = part ? whole(L, 0) : a, QS_OK;
    return *out = klnum_strong(part ? a.im.ref : a.re.ref, qdtype_real_of(a.dtype)), QS_OK;
}

static qs_status part_fn(Lower *L, const Call *c, Val *out) { return map(L, c, part_one, out); }

static qs_status conj_one(Lower *L, Num a, const void *ud, Num *out) {
    (void)ud;
    *out = a;
    if (qdtype_is_complex(a.dtype)) out->im.ref = klnum_un(L, K_NEG, a.im.ref);
    return QS_OK;
}

static qs_status conj_fn(Lower *L, const Call *c, Val *out) { return map(L, c, conj_one, out); }

static qs_status angle_one(Lower *L, Num a, const void *ud, Num *out) {
    (void)ud;
    qs_dtype r = klnum_real_dtype(L, a);
    KRef x = klnum_part(L, a, 0, r), y = klnum_part(L, a, 1, r);
    return *out = klnum_strong(klnum_math(L, MF_atan2, y, x), r), QS_OK;
}

static qs_status angle_fn(Lower *L, const Call *c, Val *out) { return map(L, c, angle_one, out); }

static KRef classify_ref(Lower *L, KRef a, int which) {
    qs_dtype d = L->f->ins[a].dtype;
    if (which == 0) return klnum_bin(L, K_NE, a, a);
    KRef size = klnum_un(L, K_ABS, a), inf = klnum_const(L, d, INFINITY);
    return klnum_bin(L, which == 1 ? K_EQ : K_LT, size, inf);
}

static qs_status classify_one(Lower *L, Num a, const void *ud, Num *out) {
    int which = ((const Call *)ud)->imm;
    if (qdtype_is_int(a.dtype) || a.dtype == QS_B1)
        return *out = klnum_strong(klnum_int(L, QS_B1, which == 2), QS_B1), QS_OK;
    qs_dtype r = qdtype_real_of(a.dtype);
    KRef c = classify_ref(L, klnum_ref(L, a, r), which);
    if (qdtype_is_complex(a.dtype)) c = klnum_bin(L, which == 2 ? K_AND : K_OR, c, classify_ref(L, a.im.ref, which));
    return *out = klnum_strong(c, QS_B1), QS_OK;
}

static qs_status classify(Lower *L, const Call *c, Val *out) { return map(L, c, classify_one, out); }

static qs_status saturate_one(Lower *L, Num a, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    return *out = klnum_minmax(L, K_MIN, klnum_minmax(L, K_MAX, a, whole(L, 0)), whole(L, 1)), QS_OK;
}

static qs_status saturate_fn(Lower *L, const Call *c, Val *out) { return map(L, c, saturate_one, out); }

static qs_status nextpow2_one(Lower *L, Num a, const void *ud, Num *out) {
    double v;
    TRY(need_real(L, ud, a));
    if (klnum_known(L, a, &v)) return *out = whole(L, v > 1 ? exp2(ceil(log2(v))) : 1), QS_OK;
    Num up = klnum_real_math(L, MF_ceil, klnum_real_math(L, MF_log2, klnum_minmax(L, K_MAX, a, whole(L, 1))));
    return *out = klnum_real_math(L, MF_exp2, up), QS_OK;
}

static qs_status nextpow2_fn(Lower *L, const Call *c, Val *out) { return map(L, c, nextpow2_one, out); }

static qs_status int_one(Lower *L, Num a, const void *ud, Num *out) {
    double v;
    TRY(need_real(L, ud, a));
    if (klnum_is_weak(a) && klnum_known(L, a, &v)) return *out = whole(L, trunc(v)), QS_OK;
    if (klnum_is_weak(a) && a.re.weak->integral) return *out = a, QS_OK;
    return *out = qdtype_is_int(a.dtype) ? a : klnum_cast(L, a, L->indexing ? QS_I64 : QS_I32), QS_OK;
}

static qs_status int_fn(Lower *L, const Call *c, Val *out) {
    bool done;
    TRY(exact_quotient(L, c, false, out, &done));
    return done ? QS_OK : map(L, c, int_one, out);
}

static qs_status float_one(Lower *L, Num a, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    return *out = qdtype_is_real(a.dtype) ? a : klnum_cast(L, a, L->c->scalar_dtype), QS_OK;
}

static qs_status float_fn(Lower *L, const Call *c, Val *out) { return map(L, c, float_one, out); }

static qs_status not_one(Lower *L, Num a, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    qs_dtype d = a.dtype == QS_B1 || qdtype_is_int(a.dtype) ? a.dtype : QS_I32;
    return *out = klnum_strong(klnum_un(L, K_NOT, klnum_ref(L, a, d)), d), QS_OK;
}

static qs_status not_fn(Lower *L, const Call *c, Val *out) { return map(L, c, not_one, out); }

/* -- elementwise, two arguments ---------------------------------------------------------------------------------- */
static qs_status map2(Lower *L, const Call *c, MapTwoFn *f, Val *out) {
    return klval_map2(L, &c->args[0], &c->args[1], f, c, out);
}

static qs_dtype real_join(Lower *L, Num a, Num b) {
    qs_dtype d = klnum_join(L, a, b);
    return qdtype_is_real(d) ? d : L->c->scalar_dtype;
}

static qs_status real_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
    const Call *c = ud;
    TRY(need_real(L, c, a));
    TRY(need_real(L, c, b));
    qs_dtype d = real_join(L, a, b);
    return *out = klnum_strong(klnum_math(L, (MathFn)c->imm, klnum_ref(L, a, d), klnum_ref(L, b, d)), d), QS_OK;
}

static qs_status real_fn2(Lower *L, const Call *c, Val *out) { return map2(L, c, real_two, out); }

static qs_status operator_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
    return klnum_binary(L, (Op)((const Call *)ud)->imm, a, b, out);
}

static qs_status operator(Lower *L, const Call *c, Val *out) { return map2(L, c, operator_two, out); }

static qs_status mod_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
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

static qs_status mod_fn(Lower *L, const Call *c, Val *out) { return map2(L, c, mod_two, out); }

static qs_status complex_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
    TRY(need_real(L, ud, a));
    TRY(need_real(L, ud, b));
    qs_dtype r = real_join(L, a, b);
    *out = (Num){.dtype = qdtype_complex_of(r), .re = {.ref = klnum_ref(L, a, r)}, .im = {.ref = klnum_ref(L, b, r)}};
    return QS_OK;
}

static qs_status complex_fn(Lower *L, const Call *c, Val *out) { return map2(L, c, complex_two, out); }

static qs_status shift_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
    const Call *c = ud;
    TRY(need_real(L, c, a));
    TRY(need_real(L, c, b));
    qs_dtype d = qdtype_is_int(a.dtype) ? a.dtype : QS_I32;
    return *out = klnum_strong(klnum_bin(L, (KOp)c->imm, klnum_ref(L, a, d), klnum_ref(L, b, d)), d), QS_OK;
}

static qs_status shift(Lower *L, const Call *c, Val *out) { return map2(L, c, shift_two, out); }

static qs_status minmax_two(Lower *L, Num a, Num b, const void *ud, Num *out) {
    const Call *c = ud;
    return klnum_binary(L, c->imm == K_MIN ? OP_MINEQ : OP_MAXEQ, a, b, out);
}

/* -- reductions -------------------------------------------------------------------------------------------------- */
static qs_status square(Lower *L, Num a, Num *out) {
    if (!qdtype_is_complex(a.dtype)) return klnum_binary(L, OP_MUL, a, a, out);
    KRef re = klnum_bin(L, K_MUL, a.re.ref, a.re.ref), im = klnum_bin(L, K_MUL, a.im.ref, a.im.ref);
    return *out = klnum_strong(klnum_bin(L, K_ADD, re, im), qdtype_real_of(a.dtype)), QS_OK;
}

static Op reduce_op(int which) {
    return which == RED_PROD ? OP_MUL : which == RED_ANY ? OP_OROR : which == RED_ALL ? OP_ANDAND : OP_ADD;
}

static Num reduce_start(Lower *L, int which) {
    if (which == RED_ANY || which == RED_ALL) return klnum_strong(klnum_int(L, QS_B1, which == RED_ALL), QS_B1);
    return whole(L, which == RED_PROD);
}

static qs_status reduce_term(Lower *L, int which, Num x, Num *out) {
    if (which == RED_SQUARES || which == RED_NORM) return square(L, x, out);
    if (which == RED_ANY || which == RED_ALL) x = klnum_strong(klnum_truth(L, x), QS_B1);
    else if (x.dtype == QS_B1) x = klnum_cast(L, x, QS_I32);
    return *out = x, QS_OK;
}

static qs_status reduce_finish(Lower *L, int which, Num sum, Num count, Val *out) {
    if (which == RED_MEAN) TRY(klnum_binary(L, OP_DIV, sum, count, &sum));
    if (which == RED_NORM) sum = klnum_real_math(L, MF_sqrt, sum);
    return klval_number(L, sum, out), QS_OK;
}

static qs_status reduce_small(Lower *L, const Call *c, const Val *v, Val *out) {
    int64_t n = klval_count(v);
    Num sum = reduce_start(L, c->imm), term;
    for (int64_t i = 0; i < n; i++) {
        TRY(reduce_term(L, c->imm, klval_num(v, i), &term));
        if (i == 0) sum = term;
        else TRY(klnum_binary(L, reduce_op(c->imm), sum, term, &sum));
    }
    return reduce_finish(L, c->imm, sum, whole(L, (double)n), out);
}

/* An array that is not small is gone through by loops, one for each dimension. */
typedef struct { KRef at[QS_MAX_RANK]; KRef count; } Walk;

static void open_walk(Lower *L, const Val *v, Walk *w) {
    KRef zero = klnum_int(L, QS_I64, 0), one = klnum_int(L, QS_I64, 1), n[QS_MAX_RANK];
    w->count = one;
    for (int d = 0; d < v->rank; d++) {
        n[d] = klidx_dim(L, v, v->rank == 1 ? 1 : d);
        w->count = klnum_bin(L, K_MUL, w->count, n[d]);
    }
    for (int d = 0; d < v->rank; d++) {
        w->at[d] = klnum_emit(L, K_FOR, QS_I64, 0, zero, klnum_bin(L, K_SUB, n[d], one), one, 0);
        klnum_open(L, true), L->depth++;
    }
}

static void close_walk(Lower *L, int rank) {
    while (rank--) klnum_close(L), L->depth--, klnum_emit(L, K_END, QS_B1, 0, 0, 0, 0, 0);
}

static qs_dtype walk_dtype(Lower *L, const Call *c, const Val *v) {
    if (c->imm == RED_ANY || c->imm == RED_ALL) return QS_B1;
    qs_dtype d = kir_value_dtype((qs_dtype)v->dtype);
    if (c->imm == RED_MEAN && qdtype_is_int(d)) return L->c->scalar_dtype;
    return d == QS_B1 ? QS_I32 : d;
}

static qs_status reduce_array(Lower *L, const Call *c, const Val *v, Val *out) {
    Walk w;
    Num x, term, sum, count;
    qs_dtype d = walk_dtype(L, c, v);
    if (qdtype_is_complex((qs_dtype)v->dtype))
        return refuse(L, c, "of a complex array of unknown size is not available in kernels");
    KRef acc = klnum_emit(L, K_LOCAL, QS_B1, 0, klnum_ref(L, reduce_start(L, c->imm), d), 0, 0, 0);
    open_walk(L, v, &w);
    TRY(klidx_element(L, v, w.at, v->rank, c->name, &x));
    TRY(reduce_term(L, c->imm, x, &term));
    TRY(klnum_binary(L, reduce_op(c->imm), klnum_strong(klnum_emit(L, K_GET, QS_B1, 0, acc, 0, 0, 0), d), term, &sum));
    klnum_emit(L, K_SET, QS_B1, 0, acc, klnum_ref(L, sum, d), 0, 0);
    close_walk(L, v->rank);
    count = klnum_strong(w.count, QS_I64);
    return reduce_finish(L, c->imm, klnum_strong(klnum_emit(L, K_GET, QS_B1, 0, acc, 0, 0, 0), d), count, out);
}

static bool is_big(const Val *v) {
    enum { UNROLL = 64 };
    if (v->kind != V_ARRAY) return false;
    for (int i = 0; i < v->rank; i++)
        if (!v->dims[i]) return true;
    return klval_count(v) > UNROLL;
}

static qs_status reduce(Lower *L, const Call *c, Val *out) {
    Val v;
    if (is_big(&c->args[0])) return reduce_array(L, c, &c->args[0], out);
    TRY(klval_components(L, &c->args[0], &v));
    return reduce_small(L, c, &v, out);
}

static qs_status minmax_small(Lower *L, const Call *c, const Val *v, Val *out) {
    int64_t n = klval_count(v);
    if (!n) return refuse(L, c, "of an empty array");
    Num best = klval_num(v, 0);
    for (int64_t i = 1; i < n; i++) TRY(minmax_two(L, best, klval_num(v, i), c, &best));
    return klval_number(L, best, out), QS_OK;
}

/* Starts from nan, which loses; from the worst value for integers. */
static KRef minmax_start(Lower *L, int op, qs_dtype d) {
    if (qdtype_is_real(d)) return klnum_const(L, d, NAN);
    bool least = op == K_MAX;
    return klnum_const(L, d, least ? -INFINITY : INFINITY);
}

static qs_status minmax_array(Lower *L, const Call *c, const Val *v, Val *out) {
    Walk w;
    Num x;
    qs_dtype d = kir_value_dtype((qs_dtype)v->dtype);
    if (qdtype_is_complex((qs_dtype)v->dtype) || d == QS_B1) return refuse(L, c, "wants an array of real numbers");
    KRef acc = klnum_emit(L, K_LOCAL, QS_B1, 0, minmax_start(L, c->imm, d), 0, 0, 0);
    open_walk(L, v, &w);
    TRY(klidx_element(L, v, w.at, v->rank, c->name, &x));
    KRef old = klnum_emit(L, K_GET, QS_B1, 0, acc, 0, 0, 0);
    klnum_emit(L, K_SET, QS_B1, 0, acc, klnum_bin(L, (KOp)c->imm, old, klnum_ref(L, x, d)), 0, 0);
    close_walk(L, v->rank);
    klval_number(L, klnum_strong(klnum_emit(L, K_GET, QS_B1, 0, acc, 0, 0, 0), d), out);
    return QS_OK;
}

static qs_status minmax(Lower *L, const Call *c, Val *out) {
    Val v;
    if (c->nargs == 2) return map2(L, c, minmax_two, out);
    if (is_big(&c->args[0])) return minmax_array(L, c, &c->args[0], out);
    TRY(klval_components(L, &c->args[0], &v));
    return minmax_small(L, c, &v, out);
}

static qs_status dotprod(Lower *L, const Call *c, Val *out) {
    Val a, b;
    Num sum = whole(L, 0), term;
    TRY(klval_components(L, &c->args[0], &a));
    TRY(klval_components(L, &c->args[1], &b));
    int64_t n = klval_count(&a);
    if (n != klval_count(&b))
        return klower_error(L, QS_ESHAPE, L->pos, "dotprod: sizes do not match: %s and %s", klval_type_name(L, &a),
                            klval_type_name(L, &b));
    for (int64_t i = 0; i < n; i++) {
        TRY(klnum_binary(L, OP_MUL, klval_num(&a, i), klval_num(&b, i), &term));
        if (i == 0) sum = term;
        else TRY(klnum_binary(L, OP_ADD, sum, term, &sum));
    }
    return klval_number(L, sum, out), QS_OK;
}

/* -- made of others ---------------------------------------------------------------------------------------------- */
static qs_status clamp_fn(Lower *L, const Call *c, Val *out) {
    Val zero, low;
    Call max = {"clamp", NULL, NULL, 2, K_MAX}, min = {"clamp", NULL, NULL, 2, K_MIN};
    klval_number(L, whole(L, 0), &zero);
    const Val *lo = c->nargs == 3 ? &c->args[1] : &zero, *hi = &c->args[c->nargs - 1];
    TRY(klval_map2(L, &c->args[0], lo, minmax_two, &max, &low));
    return klval_map2(L, &low, hi, minmax_two, &min, out);
}

static qs_status lerp_fn(Lower *L, const Call *c, Val *out) { /* a*c + b*(1-c) */
    Val one, rest, x, y;
    klval_number(L, whole(L, 1), &one);
    TRY(klval_binary(L, OP_PWMUL, &c->args[0], &c->args[2], &x));
    TRY(klval_binary(L, OP_SUB, &one, &c->args[2], &rest));
    TRY(klval_binary(L, OP_PWMUL, &c->args[1], &rest, &y));
    return klval_binary(L, OP_ADD, &x, &y, out);
}

/* -- sizes ------------------------------------------------------------------------------------------------------- */
static qs_status numeric(Lower *L, const Call *c, const Val *v) {
    if (v->kind == V_NUM || v->kind == V_ARRAY || v->kind == V_MEMORY) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s: an array is wanted, got %s", c->name, klval_type_name(L, v));
}

static Num extent(Lower *L, const Val *v, int d) {
    double k;
    KRef r = klidx_dim(L, v, d);
    if (kir_is_const(L->f, r, &k)) return whole(L, k);
    return klnum_strong(klnum_cast_ref(L, r, QS_I32), QS_I32);
}

static qs_status size_fn(Lower *L, const Call *c, Val *out) {
    const Val *v = &c->args[0];
    int64_t which[QS_MAX_RANK];
    int n = klidx_ndims(v);
    bool single = false;
    TRY(numeric(L, c, v));
    for (int i = 0; i < n; i++) which[i] = i;
    if (c->nargs == 2) {
        TRY(klval_constants(L, &c->args[1], "the dimension given to size", which, QS_MAX_RANK, &n));
        single = c->args[1].rank == 0;
    }
    Num nums[QS_MAX_RANK];
    for (int i = 0; i < n; i++) nums[i] = extent(L, v, (int)(which[i] < QS_MAX_RANK ? which[i] : QS_MAX_RANK));
    if (single) klval_number(L, nums[0], out);
    else klval_vector(L, nums, n, out);
    return QS_OK;
}

static qs_status numel_fn(Lower *L, const Call *c, Val *out) {
    const Val *v = &c->args[0];
    TRY(numeric(L, c, v));
    Num n = whole(L, 1);
    for (int d = 0; d < klidx_ndims(v); d++) n = binary(L, OP_MUL, n, extent(L, v, d));
    return klval_number(L, n, out), QS_OK;
}

static qs_status ndims_fn(Lower *L, const Call *c, Val *out) {
    TRY(numeric(L, c, &c->args[0]));
    return klval_number(L, whole(L, c->args[0].rank ? klidx_ndims(&c->args[0]) : 0), out), QS_OK;
}

static qs_status isempty_fn(Lower *L, const Call *c, Val *out) {
    Val n, zero;
    TRY(numel_fn(L, c, &n));
    klval_number(L, whole(L, 0), &zero);
    return klval_binary(L, OP_EQ, &n, &zero, out);
}

static qs_status type_test(Lower *L, const Call *c, Val *out) {
    const Val *v = &c->args[0];
    bool number = v->kind == V_NUM && v->rank == 0, complex = qdtype_is_complex((qs_dtype)v->dtype);
    bool numbers = v->kind == V_NUM || v->kind == V_ARRAY || v->kind == V_MEMORY;
    bool yes = c->imm == 0 ? number : numbers && complex == (c->imm == 2);
    return klval_number(L, klnum_strong(klnum_int(L, QS_B1, yes), QS_B1), out), QS_OK;
}

/* -- construction ------------------------------------------------------------------------------------------------ */
static qs_status shape_of(Lower *L, const Call *c, int first, int64_t dims[QS_MAX_RANK], int *rank) {
    char what[64];
    snprintf(what, sizeof what, "the size given to %.20s", c->name);
    *rank = 0;
    for (int i = first; i < c->nargs; i++) {
        int n;
        TRY(klval_constants(L, &c->args[i], what, dims + *rank, QS_MAX_RANK - *rank, &n));
        *rank += n;
    }
    while (*rank > 2 && dims[*rank - 1] == 1) (*rank)--;
    if (*rank == 2 && dims[0] == 1) dims[0] = dims[1], *rank = 1; /* 1xN is a vec */
    return *rank ? QS_OK : refuse(L, c, "wants a size");
}

static qs_status make_filled(Lower *L, const Call *c, qs_dtype d, Val *out) {
    enum { MOST = 1 << 16 };
    int64_t dims[QS_MAX_RANK];
    int rank;
    TRY(shape_of(L, c, 0, dims, &rank));
    Val shape = {.rank = (uint8_t)rank};
    memcpy(shape.dims, dims, sizeof dims);
    if (klval_count(&shape) > MOST) return refuse(L, c, "of more than 65536 elements is too big for a kernel");
    klval_zero(L, d, rank, dims, c->imm, out);
    return QS_OK;
}

static qs_status filled(Lower *L, const Call *c, Val *out) { return make_filled(L, c, L->c->scalar_dtype, out); }
static qs_status cfilled(Lower *L, const Call *c, Val *out) {
    return make_filled(L, c, qdtype_complex_of(L->c->scalar_dtype), out);
}

static qs_status eye_fn(Lower *L, const Call *c, Val *out) {
    int64_t dims[QS_MAX_RANK];
    int rank;
    TRY(shape_of(L, c, 0, dims, &rank));
    if (rank == 1) dims[1] = dims[0];
    if (rank > 2 || dims[0] * dims[1] > KLOWER_UNROLL) return refuse(L, c, "is too big for a kernel");
    Num *nums = qarena_alloc(L->arena, (size_t)(dims[0] * dims[1] + 1) * sizeof *nums);
    for (int64_t i = 0; i < dims[0] * dims[1]; i++)
        nums[i] = klnum_strong(klnum_const(L, L->c->scalar_dtype, i / dims[1] == i % dims[1]), L->c->scalar_dtype);
    return klval_from_nums(L, nums, 2, dims, out), QS_OK;
}

static qs_status linspace_fn(Lower *L, const Call *c, Val *out) {
    Num a, b, span, step;
    int64_t n;
    int one;
    TRY(klval_one(L, &c->args[0], "the start", &a));
    TRY(klval_one(L, &c->args[1], "the end", &b));
    TRY(klval_constants(L, &c->args[2], "the count given to linspace", &n, 1, &one));
    if (n < 1 || n > KLOWER_UNROLL) return refuse(L, c, "wants 1 to 1024 points in a kernel");
    TRY(klnum_binary(L, OP_SUB, b, a, &span));
    Num *nums = qarena_alloc(L->arena, (size_t)n * sizeof *nums);
    for (int64_t i = 0; i < n; i++) {
        TRY(klnum_binary(L, OP_MUL, span, klnum_literal(L, n > 1 ? (double)i / (double)(n - 1) : 0, false), &step));
        TRY(klnum_binary(L, OP_ADD, a, step, &nums[i]));
    }
    return klval_vector(L, nums, n, out), QS_OK;
}

static qs_status copy_fn(Lower *L, const Call *c, Val *out) { return klval_components(L, &c->args[0], out); }

static qs_status reshape_fn(Lower *L, const Call *c, Val *out) {
    int64_t dims[QS_MAX_RANK];
    int rank;
    Val v, shape = {0};
    TRY(klval_components(L, &c->args[0], &v));
    TRY(shape_of(L, c, 1, dims, &rank));
    shape.rank = (uint8_t)rank;
    memcpy(shape.dims, dims, sizeof dims);
    if (klval_count(&shape) != klval_count(&v))
        return klower_error(L, QS_ESHAPE, L->pos, "reshape: %s does not have %lld elements", klval_type_name(L, &v),
                            (long long)klval_count(&shape));
    *out = v, out->rank = shape.rank, out->is_pos = false;
    memcpy(out->dims, dims, sizeof dims);
    return QS_OK;
}

static qs_status transpose(Lower *L, const Call *c, Val *out) {
    Val v;
    TRY(klval_components(L, &c->args[0], &v));
    if (v.rank == 0) return *out = v, QS_OK;
    if (v.rank > 2) return refuse(L, c, "wants a vector or a matrix");
    int64_t rows = v.rank == 1 ? 1 : v.dims[0], cols = v.rank == 1 ? v.dims[0] : v.dims[1], dims[2] = {cols, rows};
    Num *nums = qarena_alloc(L->arena, (size_t)(rows * cols + 1) * sizeof *nums);
    for (int64_t i = 0; i < rows * cols; i++) {
        nums[i] = klval_num(&v, i % rows * cols + i / rows);
        if (c->imm) TRY(conj_one(L, nums[i], NULL, &nums[i]));
    }
    bool row = cols == 1;
    return klval_from_nums(L, nums, row ? 1 : 2, row ? dims + 1 : dims, out), QS_OK;
}

/* -- positions --------------------------------------------------------------------------------------------------- */
static qs_status quotient(Lower *L, Num a, Num b, Num *out) {
    qs_dtype d = klnum_join(L, a, b);
    if (!qdtype_is_int(d)) d = QS_I32;
    return *out = klnum_strong(klnum_bin(L, K_DIV, klnum_ref(L, a, d), klnum_ref(L, b, d)), d), QS_OK;
}

static qs_status ind2pos(Lower *L, const Call *c, Val *out) {
    Val size;
    Num rest, nums[QS_MAX_RANK];
    TRY(klval_components(L, &c->args[0], &size));
    TRY(klval_one(L, &c->args[1], "the index given to ind2pos", &rest));
    int n = (int)klval_count(&size);
    if (n < 1 || n > QS_MAX_RANK) return refuse(L, c, "wants a size of 1 to 8 numbers");
    for (int i = n - 1; i >= 0; i--) {
        Num extent_i = klval_num(&size, i);
        if (i == 0) { nums[0] = rest; break; }
        TRY(mod_two(L, rest, extent_i, c, &nums[i]));
        TRY(quotient(L, rest, extent_i, &rest));
    }
    return klval_vector(L, nums, n, out), QS_OK;
}

static qs_status pos2ind(Lower *L, const Call *c, Val *out) {
    Val size, pos;
    TRY(klval_components(L, &c->args[0], &size));
    TRY(klval_components(L, &c->args[1], &pos));
    int64_t n = klval_count(&size);
    if (n < 1 || n != klval_count(&pos)) return refuse(L, c, "wants a size and a position of the same length");
    Num at = klval_num(&pos, 0);
    for (int64_t i = 1; i < n; i++)
        at = binary(L, OP_ADD, binary(L, OP_MUL, at, klval_num(&size, i)), klval_num(&pos, i));
    return klval_number(L, at, out), QS_OK;
}

/* -- shared memory, checks, launches ----------------------------------------------------------------------------- */
static qs_status shared(Lower *L, const Call *c, Val *out) {
    int64_t dims[QS_MAX_RANK];
    int rank;
    if (L->job->serial) return refuse(L, c, "needs parallel_do: in serial_do positions run one after another");
    TRY(shape_of(L, c, 0, dims, &rank));
    *out = (Val){.kind = V_MEMORY, .dtype = (uint8_t)L->c->scalar_dtype, .rank = (uint8_t)rank};
    memcpy(out->dims, dims, sizeof dims);
    int64_t n = klval_count(out);
    if (n < 1 || n > 1 << 20) return refuse(L, c, "wants 1 to 1048576 elements");
    out->u.mem = qarena_alloc(L->arena, sizeof(Memory));
    out->u.mem->shared = true;
    out->u.mem->ref = klnum_emit(L, K_SHARED, L->c->scalar_dtype, (uint16_t)c->imm, 0, 0, 0, (uint64_t)n);
    return QS_OK;
}

/* A message is a text with %0 and %1 for values; a user's text has neither. */
static int user_message(Lower *L, qs_status s, const char *text) {
    char safe[QERR_TEXT / 4];
    size_t k = 0;
    for (; *text && k + 2 < sizeof safe; text++) {
        if (*text == '%') safe[k++] = '%';
        safe[k++] = *text;
    }
    safe[k] = '\0';
    return kir_message(L->f, s, safe);
}

static qs_status message_text(Lower *L, const Call *c, int i, const char *otherwise, const char **out) {
    *out = otherwise;
    if (i >= c->nargs) return QS_OK;
    if (c->args[i].kind != V_STRING)
        return klower_error(L, QS_ETYPE, L->pos, "%s: the message must be a string", c->name);
    return *out = c->args[i].u.str->s, QS_OK;
}

static qs_status assert_fn(Lower *L, const Call *c, Val *out) {
    KRef holds;
    int known;
    const char *text;
    *out = (Val){.kind = V_VOID};
    TRY(klval_truth(L, &c->args[0], &holds, &known));
    TRY(message_text(L, c, 1, "the assertion does not hold", &text));
    if (known != 1) klnum_emit(L, K_CHECK, QS_B1, 0, holds, 0, 0, (uint64_t)user_message(L, QS_EASSERT, text));
    return QS_OK;
}

static qs_status error_fn(Lower *L, const Call *c, Val *out) {
    const char *text;
    *out = (Val){.kind = V_VOID};
    TRY(message_text(L, c, 0, "", &text));
    klnum_emit(L, K_CHECK, QS_B1, 0, klnum_int(L, QS_B1, 0), 0, 0, (uint64_t)user_message(L, QS_EUSER, text));
    return QS_OK;
}

static qs_status launch(Lower *L, const Call *c, Val *out) {
    *out = (Val){.kind = V_VOID};
    return klcall_launch(L, c->site, c->args, c->nargs);
}

static qs_status forbidden(Lower *L, const Call *c, Val *out) {
    (void)out;
    return refuse(L, c, "cannot be used in a kernel");
}

/* -- the table --------------------------------------------------------------------------------------------------- */
typedef qs_status Handler(Lower *, const Call *, Val *);
static const struct { const char *name; int8_t min, max; Handler *handler; int imm; } table[] = {
#define KBUILTIN(name, min, max, handler, imm) {#name, min, max, handler, imm},
#include "lang/kernel/kbuiltins.def"
};

bool klmath_find(const char *name, int *which) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].name, name)) return *which = (int)i, true;
    return false;
}

qs_status klmath_call(Lower *L, int which, Node *site, const Val *args, int nargs, Val *out) {
    Call c = {table[which].name, site, args, nargs, table[which].imm};
    if (nargs < table[which].min || (table[which].max >= 0 && nargs > table[which].max))
        return klower_error(L, QS_ETYPE, L->pos, "%s: %d argument%s cannot be used in a kernel", c.name, nargs,
                            nargs == 1 ? "" : "s");
    bool unknown = false;
    for (int i = 0; i < nargs; i++) unknown |= args[i].kind == V_UNKNOWN;
    if (unknown) return *out = (Val){0}, QS_OK;
    return table[which].handler(L, &c, out);
}
