/* loop_number.c -- computes with real numbers: doubles with their int64 twins, ints, bools.
 *
 * A number is a double, and an integral one has an int64 twin as long as its bounds are known to fit in 53 bits.
 * Indices, counters and comparisons use the twin and keep their form for later passes; the value itself, including the
 * sign of zero, is the double.  Bounds come from counters, extents and literals.  A variable whose bounds keep growing
 * loses its twin, unless it changes in small steps, as a count does: no program runs long enough to bring that beyond
 * 53 bits; or unless it is demanded in a speculative version (loop_integer.c). */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/loop/loop_internal.h"

#include <math.h>
#include <string.h>

/* -- instructions -------------------------------------------------------------------------------------------------- */
KRef kloop_cast(Loops *L, KRef a, qs_dtype to) {
    return L->f->ins[a].dtype == to ? a : kbuild_pure(&L->walk, (KMake){K_CAST, .own = to, .a = a});
}

/* -- making -------------------------------------------------------------------------------------------------------- */
Number kloop_num(KRef v) { return (Number){.kind = LOOP_NUM, .v = v}; }
Number kloop_bool(KRef v) { return (Number){.kind = LOOP_BOOL, .v = v, .lo = 0, .hi = 1}; }
Number kloop_int(KRef v, double lo, double hi) { return (Number){.kind = LOOP_INT, .v = v, .lo = lo, .hi = hi}; }

Number kloop_wide(Loops *L, KRef v) {
    qmem_grow(L->c, &L->wide, &L->cap_wide, L->nwide, sizeof *L->wide);
    L->wide[L->nwide++] = v;
    return kloop_int(v, -0x1p63, 0x1p63);
}

Number kloop_from_int(Loops *L, KRef twin, double lo, double hi) {
    return (Number){
        .kind = LOOP_NUM, .v = kloop_cast(L, twin, QS_F64), .twin = twin, .lo = lo, .hi = hi, .unsigned_zero = true};
}

Number kloop_const(Loops *L, double v) {
    Number n = kloop_num(kloop_f64(L, v));
    if (v == floor(v) && kloop_is_exact(v, v) && !(v == 0 && signbit(v)))
        n.twin = kloop_i64(L, (int64_t)v), n.lo = n.hi = v, n.unsigned_zero = true;
    return n;
}

/* -- asking -------------------------------------------------------------------------------------------------------- */
KRef kloop_real(Loops *L, Number n) { return kloop_cast(L, n.v, QS_F64); }

KRef kloop_twin(Loops *L, Number n) {
    if (n.kind == LOOP_NUM) return n.twin;
    if (n.kind == LOOP_MIXED) return n.integral && kloop_is_exact(n.lo, n.hi) ? n.twin : 0;
    if (n.kind == LOOP_BOOL) return kloop_cast(L, n.v, QS_I64);
    return kloop_is_exact(n.lo, n.hi) ? n.v : 0;
}

KRef kloop_truth(Loops *L, Number n) {
    if (n.kind == LOOP_BOOL) return n.v;
    KRef r = n.kind == LOOP_NUM && n.twin ? n.twin : n.v;
    return kloop_op(L, K_NE, r, L->f->ins[r].dtype == QS_I64 ? kloop_i64(L, 0) : kloop_f64(L, 0));
}

bool kloop_known(Loops *L, Number n, double *v) { return kir_is_const(L->f, n.v, v); }

/* -- arithmetic ---------------------------------------------------------------------------------------------------- */
typedef struct {
    double lo, hi;
} Span;

static Span span_of(KOp op, Number a, Number b) {
    if (op == K_ADD) return (Span){a.lo + b.lo, a.hi + b.hi};
    if (op == K_SUB) return (Span){a.lo - b.hi, a.hi - b.lo};
    double p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
    return (Span){fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s))};
}

static bool is_unsigned(Number a) { return a.kind == LOOP_INT || a.kind == LOOP_BOOL || a.unsigned_zero; }
static bool is_nonzero(Number a) { return a.lo > 0 || a.hi < 0; }

bool kloop_has_unsigned_zero(KOp op, Number a, Number b) {
    if (op == K_ADD) return is_unsigned(a) || is_unsigned(b);
    if (op == K_SUB || op == K_DIV) return is_unsigned(a); /* the divisor is positive */
    if ((a.lo > 0 && is_unsigned(b)) || (b.lo > 0 && is_unsigned(a)) || (a.v == b.v && is_unsigned(a))) return true;
    return (is_nonzero(a) && is_nonzero(b)) || (is_unsigned(a) && is_unsigned(b) && a.lo >= 0 && b.lo >= 0);
}

/* The value is the double; the twin is computed as long as it certainly fits. */
static Number real_arith(Loops *L, KOp op, Number a, Number b) {
    Number n = kloop_num(kloop_op(L, op, kloop_real(L, a), kloop_real(L, b)));
    KRef x = kloop_twin(L, a), y = kloop_twin(L, b);
    Span s = span_of(op, a, b);
    if (op == K_DIV || !x || !y || !kloop_is_exact(s.lo, s.hi)) return kloop_guess_arith(L, op, a, b, &n), n;
    n.twin = kloop_op(L, op, x, y), n.lo = s.lo, n.hi = s.hi;
    n.unsigned_zero = kloop_has_unsigned_zero(op, a, b);
    return n;
}

/* The condition that r = a op b did not overflow: a sum overflows if both operands have the opposite sign of r; a
 * difference is checked as the sum r + b = a. */
static KRef no_overflow(Loops *L, KOp op, KRef a, KRef b, KRef r) {
    KRef integral = op == K_ADD ? r : a, x = op == K_ADD ? a : r;
    KRef lost = kloop_op(L, K_AND, kloop_op(L, K_XOR, x, integral), kloop_op(L, K_XOR, b, integral));
    return kloop_op(L, K_LE, kloop_i64(L, 0), lost);
}

/* Emits the overflow check for r = a*b modulo 2^64.  The product in doubles shows if it certainly fits; otherwise a
 * division checks it. */
static void check_product(Loops *L, KRef a, KRef b, KRef r) {
    KRef zero = kloop_i64(L, 0), rough = kloop_op(L, K_MUL, kloop_cast(L, a, QS_F64), kloop_cast(L, b, QS_F64));
    KRef size = kloop_op(L, K_ABS, rough, 0);
    KRef minus = kloop_op(L, K_EQ, a, kloop_i64(L, -1)), least = kloop_op(L, K_EQ, b, kloop_i64(L, INT64_MIN));
    KRef lost = kloop_op(L, K_AND, minus, least);
    KRef back = kloop_op(L, K_OR, kloop_op(L, K_EQ, a, zero), kloop_op(L, K_EQ, kloop_op(L, K_DIV, r, a), b));
    kloop_flow(L, K_IF, kloop_op(L, K_LE, kloop_f64(L, 0x1p62), size));
    kloop_fail_unless(L, kloop_op(L, K_AND, back, kloop_not(L, lost)), QS_EVALUE, "integer overflow", 0, 0);
    kloop_flow(L, K_END, 0);
}

/* Whether the guard and the conditions around show that a + k or a - k does not overflow. */
static bool is_limited_sum(Loops *L, KOp op, Number a, Number b) {
    double k;
    bool small = kir_is_const(L->f, b.v, &k) && fabs(k) <= 0x1p60;
    return small && (k == 0 || kloop_is_limited(L, a.v, (op == K_ADD) == (k > 0)));
}

static void check_sum(Loops *L, KOp op, Number a, Number b, KRef r) {
    uint32_t loose = L->loose;
    bool guarded = is_limited_sum(L, op, a, b);
    if (guarded && L->mode != MODE_EXACT) return;
    kloop_fail_unless(L, no_overflow(L, op, a.v, b.v, r), QS_EVALUE, "integer overflow", 0, 0);
    if (guarded) L->loose = loose;
}

static qs_status int_arith(Loops *L, KOp op, Number a, Number b, Number *out) {
    Span s = span_of(op, a, b);
    KRef r = kloop_op(L, op, a.v, b.v);
    bool small = s.lo >= -0x1p62 && s.hi <= 0x1p62;
    if (!small) (void)kloop_expect_int(L, &a), (void)kloop_expect_int(L, &b);
    if (!small && op == K_MUL) check_product(L, a.v, b.v, r);
    else if (!small) check_sum(L, op, a, b, r);
    return *out = small ? kloop_int(r, s.lo, s.hi) : kloop_wide(L, r), QS_OK;
}

static qs_status apply_arith(Loops *L, KOp op, Number a, Number b, Number *out) {
    if (a.kind == LOOP_INT && b.kind == LOOP_INT && op != K_DIV) return int_arith(L, op, a, b, out);
    return *out = real_arith(L, op, a, b), QS_OK;
}

static KRef real_row(Loops *L, Elem e, KRef x, KRef y) {
    return kelem_real(kbuild_rows(&L->walk), e, QS_F64, (KRef[]){x, y}).re;
}

/* A power of single numbers: exponents 2, 3 and 4 are products, and exponent 0.5 a square root; see qcontig_power. */
static qs_status real_power(Loops *L, Number a, Number b, Number *out) {
    double n;
    bool known = kloop_known(L, b, &n);
    KRef x = kloop_real(L, a), y = kloop_real(L, b), square = real_row(L, EL_mul, x, x);
    if (known && kelem_is_short_chain(n))
        return *out = kloop_num(n == 2 ? square : real_row(L, EL_mul, n == 3 ? x : square, square)), QS_OK;
    if (known && n == 0.5) return *out = kloop_num(real_row(L, EL_half_power, x, x)), QS_OK;
    KRef p = real_row(L, EL_pow, x, y);
    if (known) return *out = kloop_num(p), QS_OK;
    const KRef chains[] = {square, real_row(L, EL_mul, x, square), real_row(L, EL_mul, square, square)};
    for (int i = 0; i < 3; i++) {
        KRef equal = kloop_op(L, K_EQ, y, kloop_f64(L, i + 2));
        p = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = equal, .b = chains[i], .c = p});
    }
    KRef half = kloop_op(L, K_EQ, y, kloop_f64(L, 0.5)), root = real_row(L, EL_half_power, x, x);
    return *out = kloop_num(kbuild_pure(&L->walk, (KMake){K_SELECT, .a = half, .b = root, .c = p})), QS_OK;
}

static void leave_if(Loops *L, KRef c) {
    kloop_flow(L, K_IF, c);
    kloop_flow(L, K_BREAK, 0);
    kloop_flow(L, K_END, 0);
}

/* r *= x, with the overflow check. */
static void multiply_local(Loops *L, KRef r, KRef x) {
    KRef old = kbuild_get(&L->walk, r), product = kloop_op(L, K_MUL, old, x);
    check_product(L, old, x, product);
    kbuild_set(&L->walk, r, product);
}

/* x^n of ints by repeated squaring; a negative exponent gives a number. */
static qs_status int_power(Loops *L, Number a, Number b, Number *out) {
    KRef zero = kloop_i64(L, 0), one = kloop_i64(L, 1);
    KRef r = kbuild_local(&L->walk, one), x = kbuild_local(&L->walk, a.v), n = kbuild_local(&L->walk, b.v);
    Join join = kloop_begin_join(L);
    kloop_flow(L, K_IF, kloop_op(L, K_LE, zero, b.v));
    kloop_flow(L, K_LOOP, 0);
    KRef left = kbuild_get(&L->walk, n);
    kloop_flow(L, K_IF, kloop_op(L, K_NE, kloop_op(L, K_AND, left, one), zero));
    multiply_local(L, r, kbuild_get(&L->walk, x));
    kloop_flow(L, K_END, 0);
    left = kloop_op(L, K_SHR, left, one);
    kbuild_set(&L->walk, n, left);
    leave_if(L, kloop_op(L, K_EQ, left, zero));
    multiply_local(L, x, kbuild_get(&L->walk, x));
    kloop_flow(L, K_END, 0);
    TRY(kloop_join_add(L, &join, kloop_wide(L, kbuild_get(&L->walk, r))));
    if (b.lo < 0) {
        kloop_flow(L, K_ELSE, 0);
        TRY(real_power(L, kloop_to_num(L, a), kloop_to_num(L, b), out));
        TRY(kloop_join_add(L, &join, *out));
    }
    kloop_flow(L, K_END, 0);
    return *out = kloop_join_end(L, &join), QS_OK;
}

static qs_status apply_power(Loops *L, Number a, Number b, Number *out) {
    double n;
    bool square = kloop_known(L, b, &n) && n == 2;
    if (square && (a.kind == LOOP_INT) == (b.kind == LOOP_INT)) return apply_arith(L, K_MUL, a, a, out);
    return a.kind == LOOP_INT && b.kind == LOOP_INT ? int_power(L, a, b, out) : real_power(L, a, b, out);
}

/* Warns if x is a float32 element and y a constant that float32 rounds: they are never equal. */
static void note_rounded(Loops *L, KRef x, KRef y) {
    const KIns *i = &L->f->ins[x];
    double k;
    if (i->op != K_CAST || L->f->ins[i->a].dtype != QS_F32 || !kir_is_const(L->f, y, &k)) return;
    if (qwarn_is_rounded((double)(float)k, k))
        kloop_note(L, SLIP_FLOAT32, kloop_op(L, K_EQ, x, kloop_f64(L, (double)(float)k)));
}

/* The sign of i - x for an int i of more than 53 bits and a double x, for comparison with 0.  If both are equal as
 * doubles, their integer values decide. */
static KRef order_of(Loops *L, KRef i, KRef x) {
    KRef d = kloop_cast(L, i, QS_F64), integral = kloop_cast(L, x, QS_I64), zero = kloop_f64(L, 0);
    KRef far = kloop_op(L, K_LE, kloop_f64(L, 0x1p63), x); /* greater than any int64 */
    KRef least = kbuild_const(&L->walk, QS_F64, -1), most = kloop_f64(L, 1);
    KRef greater = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = kloop_op(L, K_LT, integral, i), .b = most, .c = zero});
    KRef close =
        kbuild_pure(&L->walk, (KMake){K_SELECT, .a = kloop_op(L, K_LT, i, integral), .b = least, .c = greater});
    close = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = far, .b = least, .c = close});
    KRef apart = kloop_op(L, K_SUB, d, x); /* has the sign of the difference; NaN stays NaN */
    return kbuild_pure(&L->walk, (KMake){K_SELECT, .a = kloop_op(L, K_EQ, d, x), .b = close, .c = apart});
}

static qs_status apply_compare(Loops *L, Op op, Number a, Number b, Number *out) {
    if (a.kind == LOOP_NUM && a.guess && kloop_twin(L, b)) (void)kloop_expect_int(L, &a);
    if (b.kind == LOOP_NUM && b.guess && kloop_twin(L, a)) (void)kloop_expect_int(L, &b);
    KRef x = kloop_as_int(L, a), y = kloop_as_int(L, b);
    bool integral = x && y, far = a.kind == LOOP_INT ? !kloop_twin(L, a) : b.kind == LOOP_INT && !kloop_twin(L, b);
    if (!integral && far) {
        if (x) x = order_of(L, x, kloop_real(L, b)), y = kloop_f64(L, 0);
        else y = order_of(L, y, kloop_real(L, a)), x = kloop_f64(L, 0);
    } else if (!integral) x = kloop_real(L, a), y = kloop_real(L, b);
    if (op == OP_EQ || op == OP_NE) note_rounded(L, x, y), note_rounded(L, y, x);
    KPair c = kelem_real(kbuild_rows(&L->walk), kelem_operator(op), integral ? QS_I64 : QS_F64, (KRef[]){x, y});
    return *out = kloop_bool(c.re), QS_OK;
}

/* The int64 that n equals or is rounded from, which preserves order; 0: none. */
static KRef whole_of(Loops *L, Number n) {
    KRef t = kloop_twin(L, n);
    return t ? t : n.kind == LOOP_INT ? n.v : n.kind == LOOP_NUM ? n.wide : 0;
}

static qs_status apply_minmax(Loops *L, KOp op, Number a, Number b, Number *out) {
    if (a.kind == LOOP_INT && b.kind == LOOP_INT) {
        double lo = op == K_MIN ? fmin(a.lo, b.lo) : fmax(a.lo, b.lo),
               hi = op == K_MIN ? fmin(a.hi, b.hi) : fmax(a.hi, b.hi);
        return *out = kloop_int(kloop_op(L, op, a.v, b.v), lo, hi), QS_OK;
    }
    /* a variable is the first operand, so that the other one is not on its dependency chain */
    bool swapped = L->f->ins[b.v].op == K_GET;
    KRef p = kloop_real(L, a), q = kloop_real(L, b), x = whole_of(L, a), y = whole_of(L, b);
    Number n = kloop_num(kloop_op(L, op, swapped ? q : p, swapped ? p : q));
    if (x && y) {
        n.lo = op == K_MIN ? fmin(a.lo, b.lo) : fmax(a.lo, b.lo),
        n.hi = op == K_MIN ? fmin(a.hi, b.hi) : fmax(a.hi, b.hi);
        KRef integral = kloop_op(L, op, x, y);
        if (kloop_is_exact(n.lo, n.hi)) n.twin = integral;
        else n.wide = integral;
    }
    return *out = n, QS_OK;
}

qs_status kloop_binary(Loops *L, Op op, Number a, Number b, Number *out) {
    if (qop_is_bitwise(op)) return kloop_bits(L, op, a, b, out);
    if (a.kind == LOOP_MIXED || b.kind == LOOP_MIXED) return kloop_mixed_binary(L, op, a, b, out);
    switch (op) {
    case OP_ADD: return apply_arith(L, K_ADD, a, b, out);
    case OP_SUB: return apply_arith(L, K_SUB, a, b, out);
    case OP_MUL:
    case OP_PWMUL: return apply_arith(L, K_MUL, a, b, out);
    case OP_DIV:
    case OP_PWDIV: return apply_arith(L, K_DIV, a, b, out);
    case OP_POW:
    case OP_PWPOW: return apply_power(L, a, b, out);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE: return apply_compare(L, op, a, b, out);
    case OP_MAXEQ: return apply_minmax(L, K_MAX, a, b, out);
    case OP_MINEQ: return apply_minmax(L, K_MIN, a, b, out);
    default: return kloop_decline(L, L->pos, "the operator `%s`", *qop_text(op) ? qop_text(op) : qop_inplace(op));
    }
}

static qs_status apply_negate(Loops *L, Number a, Number *out) {
    if (a.kind == LOOP_INT) {
        KRef least = kloop_i64(L, INT64_MIN);
        if (a.lo < -0x1p62) kloop_fail_unless(L, kloop_op(L, K_NE, a.v, least), QS_EVALUE, "integer overflow", 0, 0);
        return *out = kloop_int(kloop_op(L, K_NEG, a.v, 0), -a.hi, -a.lo), QS_OK;
    }
    *out = kloop_num(kloop_op(L, K_NEG, kloop_real(L, a), 0));
    KRef t = kloop_twin(L, a);
    if (t) out->twin = kloop_op(L, K_NEG, t, 0), out->lo = -a.hi, out->hi = -a.lo, out->unsigned_zero = is_nonzero(a);
    else kloop_guess_negate(L, a, out);
    return QS_OK;
}

qs_status kloop_unary(Loops *L, Op op, Number a, Number *out) {
    if (a.kind == LOOP_MIXED && op != OP_NOT) return kloop_mixed_unary(L, op, a, out);
    if (op == OP_NEG) return apply_negate(L, a, out);
    if (op == OP_NOT) return *out = kloop_bool(kloop_op(L, K_NOT, kloop_truth(L, a), 0)), QS_OK;
    if (a.kind == LOOP_BOOL) a = kloop_from_int(L, kloop_twin(L, a), 0, 1);
    return *out = a, QS_OK;
}

Number kloop_to_int(Loops *L, Number a) {
    Number cut_off;
    if (a.kind == LOOP_INT) return a;
    if (kloop_whole_quotient(L, false, a, &cut_off)) return kloop_int(cut_off.twin, cut_off.lo, cut_off.hi);
    if (a.kind == LOOP_NUM) (void)kloop_expect_int(L, &a);
    KRef t = a.kind == LOOP_MIXED ? kloop_as_int(L, a) : kloop_twin(L, a);
    if (t) return kloop_int(t, a.lo, a.hi);
    KRef cut = kloop_cast(L, a.v, QS_I64);
    if (a.is_int) cut = kbuild_pure(&L->walk, (KMake){K_SELECT, .a = a.is_int, .b = a.twin, .c = cut});
    return kloop_wide(L, cut);
}

static Number saturate_int(Loops *L, Number a, double lo, double hi) {
    KRef v = a.v;
    if (a.lo < lo) v = kloop_op(L, K_MAX, v, kloop_i64(L, (int64_t)lo));
    if (a.hi > hi) v = kloop_op(L, K_MIN, v, kloop_i64(L, (int64_t)hi));
    return kloop_int(v, fmax(a.lo, lo), fmin(a.hi, hi));
}

qs_status kloop_convert_to(Loops *L, qs_dtype d, Number *n) {
    double lo, hi;
    /* A number beyond 2^63 would remain a number. */
    if (d == QS_U64 && (n->kind == LOOP_COMPLEX || !kloop_as_int(L, *n)))
        return kloop_decline(L, L->pos, "a conversion to uint64 of a number that is perhaps no int; int64 is compiled");
    if (d == QS_B1 && n->kind != LOOP_COMPLEX) return *n = kloop_bool(kloop_truth(L, *n)), QS_OK;
    if (n->kind == LOOP_COMPLEX || (d != L->c->scalar_dtype && d != QS_F64 && !qdtype_is_int(d)))
        return kloop_decline(L, L->pos, "a conversion to %s", qdtype_info[d].name);
    if (!qdtype_is_int(d)) return *n = kloop_to_num(L, *n), QS_OK;
    qdtype_int_span(d, &lo, &hi);
    return *n = saturate_int(L, kloop_to_int(L, *n), lo, hi), QS_OK;
}

qs_status kloop_convert(Loops *L, const Str *type, Number *n) {
    const char *name = type && n->kind != LOOP_COMPLEX ? type->s : "";
    if (!strcmp(name, "scalar")) return kloop_convert_to(L, L->c->scalar_dtype, n);
    qs_dtype d;
    if (qdtype_from_name(name, &d)) return kloop_convert_to(L, d, n);
    return kloop_decline(L, L->pos, "a conversion to %s", *name ? name : "a type");
}

static bool integer_named(const Str *type, qs_dtype *d) {
    return type && qdtype_from_name(type->s, d) && qdtype_is_int(*d);
}

void kloop_note_cut(Loops *L, qs_dtype d, Number n) {
    double lo, hi;
    if (!qdtype_is_int(d) || n.kind == LOOP_COMPLEX || n.kind == LOOP_BOOL) return;
    qdtype_int_span(d, &lo, &hi);
    if (kloop_as_int(L, n) && n.lo >= lo && n.hi <= hi) return;
    KRef twin = kloop_twin(L, n);
    if (twin && qdtype_size(d) < 8) {
        KRef least = kloop_op(L, K_LE, kloop_i64(L, (int64_t)lo), twin);
        KRef fits = kloop_op(L, K_AND, least, kloop_op(L, K_LE, twin, kloop_i64(L, (int64_t)hi)));
        return kloop_note(L, SLIP_CUT, kloop_not(L, fits));
    }
    KRef x = kbuild_pure(&L->walk, (KMake){K_MATH, .flag = MF_trunc, .a = kloop_real(L, n)});
    KRef above = kloop_op(L, K_LE, kloop_f64(L, lo), x), below = kloop_op(L, K_LT, x, kloop_f64(L, hi + 1));
    KRef cut = kloop_not(L, kloop_op(L, K_AND, above, below));
    if (n.is_int && n.lo >= lo && n.hi <= hi) cut = kloop_op(L, K_AND, cut, kloop_not(L, n.is_int));
    kloop_note(L, SLIP_CUT, cut);
}

qs_status kloop_settle(Loops *L, const Str *type, Number *n) {
    qs_dtype d;
    double lo, hi;
    if (integer_named(type, &d) && n->kind == LOOP_NUM) (void)kloop_expect_int(L, n);
    if (integer_named(type, &d)) kloop_note_cut(L, d, *n);
    if (L->module && integer_named(type, &d) && n->kind != LOOP_COMPLEX && kloop_twin(L, *n)) {
        qdtype_int_span(d, &lo, &hi); /* other numbers have ended the function */
        n->lo = fmax(n->lo, lo), n->hi = fmin(n->hi, hi);
    }
    return kloop_convert(L, type, n);
}

Number kloop_to_num(Loops *L, Number a) {
    KRef t = kloop_twin(L, a);
    if (a.kind == LOOP_NUM) return a;
    if (!t) return kloop_num(kloop_real(L, a));
    if (a.kind != LOOP_MIXED || a.unsigned_zero) return kloop_from_int(L, t, a.lo, a.hi);
    return (Number){.kind = LOOP_NUM, .v = a.v, .twin = t, .lo = a.lo, .hi = a.hi};
}
