/* legal.c -- replaces instructions that a target lacks; see legal.h.  Copies each instruction or expands it into
 * others; constants fold on the way. */
#include "lang/kernel/passes/legal.h"

#include <math.h>

typedef struct {
    const KFunc *f;
    KFunc *g;
    unsigned can;
    KRef *map;   /* instruction of f -> its value in g */
    KRef *start; /* instruction of f -> the first instruction of g that was made for it */
} Legal;

static bool is_signed(qs_dtype d) { return d == QS_I32 || d == QS_I64; }
static bool is_real(qs_dtype d) { return d == QS_F32 || d == QS_F64; }
static int bits_of(qs_dtype d) { return (int)qdtype_size(d) * 8; }
static qs_dtype dtype_of(const Legal *l, KRef r) { return (qs_dtype)l->g->ins[r].dtype; }

static KRef whole(Legal *l, qs_dtype d, int64_t v) { return kir_const_int(l->g, d, v, l->g->pos); }
static KRef float_const(Legal *l, qs_dtype d, double v) { return kir_const_num(l->g, d, v, l->g->pos); }

/* -- division ------------------------------------------------------------------------------------------------------ */
/* Returns b, or 1 if b is 0 or -1, where a processor's quotient differs from KIR's. */
static KRef divisor(Legal *l, KRef b, KRef *zero, KRef *minus) {
    qs_dtype d = dtype_of(l, b);
    *zero = kir_op(l->g, K_EQ, b, whole(l, d, 0));
    *minus = is_signed(d) ? kir_op(l->g, K_EQ, b, whole(l, d, -1)) : whole(l, QS_B1, 0);
    return kir_select(l->g, kir_op(l->g, K_OR, *zero, *minus), whole(l, d, 1), b);
}

static KRef legal_divide(Legal *l, KRef a, KRef b) {
    KRef zero, minus, q = kir_op(l->g, K_DIV, a, divisor(l, b, &zero, &minus));
    if (is_signed(dtype_of(l, a))) q = kir_select(l->g, minus, kir_op(l->g, K_NEG, a, 0), q);
    return kir_select(l->g, zero, whole(l, dtype_of(l, a), 0), q);
}

static KRef remainder_of(Legal *l, KRef a, KRef b) {
    KFunc *g = l->g;
    qs_dtype d = dtype_of(l, a);
    KRef zero, minus, by = divisor(l, b, &zero, &minus);
    if (!is_signed(d) || l->can & LEGAL_FLOOR) return kir_op(g, K_MOD, a, by);
    KRef r = kir_op(g, K_SUB, a, kir_op(g, K_MUL, kir_op(g, K_DIV, a, by), by)), none = whole(l, d, 0);
    KRef differ = kir_op(g, K_LT, kir_op(g, K_XOR, r, by), none);
    return kir_select(g, kir_op(g, K_AND, kir_op(g, K_NE, r, none), differ), kir_op(g, K_ADD, r, by), r);
}

static KRef legal_shift(Legal *l, KOp o, KRef a, KRef n) {
    KFunc *g = l->g;
    qs_dtype d = dtype_of(l, a);
    int64_t top = bits_of(d) - 1;
    KRef inside = kir_op(g, K_EQ, kir_op(g, K_AND, n, kir_op(g, K_NOT, whole(l, d, top), 0)), whole(l, d, 0));
    KRef count = kir_op(g, K_AND, n, whole(l, d, top));
    if (o == K_SHR && is_signed(d)) return kir_op(g, o, a, kir_select(g, inside, count, whole(l, d, top)));
    return kir_select(g, inside, kir_op(g, o, a, count), whole(l, d, 0));
}

/* -- minimum and maximum ------------------------------------------------------------------------------------------- */
static bool is_zero(const Legal *l, KRef r, bool *minus) {
    double v;
    if (!kir_is_const(l->g, r, &v) || v != 0) return false;
    return *minus = signbit(v), true;
}

/* Returns the extreme of x and a constant zero.  A comparison with nan is false, so that zero wins. */
static KRef beside_zero(Legal *l, KOp o, KRef x, KRef zero, bool minus) {
    bool most = o == K_MAX;
    KOp how = most == minus ? K_LE : K_LT;
    return kir_select(l->g, most ? kir_op(l->g, how, zero, x) : kir_op(l->g, how, x, zero), x, zero);
}

/* Returns the extreme of two zeros.  MAX: the sum of zeros is -0 only if both are.  MIN: the negated sum of the
 * negated ones is +0 only if both are. */
static KRef of_zeros(Legal *l, KOp o, KRef a, KRef b) {
    if (o == K_MAX) return kir_op(l->g, K_ADD, a, b);
    return kir_op(l->g, K_NEG, kir_op(l->g, K_ADD, kir_op(l->g, K_NEG, a, 0), kir_op(l->g, K_NEG, b, 0)), 0);
}

/* Returns the extreme of a and b with either sign of a zero; a nan operand loses. */
static KRef either(Legal *l, KOp o, KRef a, KRef b) {
    KFunc *g = l->g;
    if (l->can & LEGAL_EXTREME) return kir_op(g, o, a, b);
    KRef less = o == K_MIN ? kir_op(g, K_LT, b, a) : kir_op(g, K_LT, a, b);
    return kir_select(g, is_real(dtype_of(l, a)) ? kir_op(g, K_OR, less, kir_op(g, K_NE, a, a)) : less, b, a);
}

static KRef exact_extreme(Legal *l, KOp o, KRef a, KRef b) {
    qs_dtype d = dtype_of(l, a);
    KRef m = either(l, o, a, b), zero = float_const(l, d, 0);
    if (!is_real(d)) return m;
    KRef zeros = kir_op(l->g, K_AND, kir_op(l->g, K_EQ, a, zero), kir_op(l->g, K_EQ, b, zero));
    return kir_select(l->g, zeros, of_zeros(l, o, a, b), m);
}

static KRef extreme_or_keep(Legal *l, KOp o, uint16_t flag, KRef a, KRef b) {
    bool minus, real = is_real(dtype_of(l, a)), orders = l->can & LEGAL_ZEROS;
    if (real && !(kir_is_exact(l->f) && orders)) {
        if (is_zero(l, b, &minus)) return beside_zero(l, o, a, b, minus);
        if (is_zero(l, a, &minus)) return beside_zero(l, o, b, a, minus);
    }
    bool zeros = real && !orders && (flag == KFLAG_ZEROS || kir_is_exact(l->f));
    if (l->can & LEGAL_EXTREME && !zeros)
        return kir_fold(l->g, (KMake){o, .flag = flag, .a = a, .b = b, .pos = l->g->pos});
    return exact_extreme(l, o, a, b);
}

static KRef least(Legal *l, KRef a, KRef b) { return extreme_or_keep(l, K_MIN, 0, a, b); }
static KRef most(Legal *l, KRef a, KRef b) { return extreme_or_keep(l, K_MAX, 0, a, b); }

static KRef absolute(Legal *l, KRef a) {
    qs_dtype d = dtype_of(l, a);
    if (is_real(d) || l->can & LEGAL_ABS) return kir_op(l->g, K_ABS, a, 0);
    return is_signed(d) ? kir_select(l->g, kir_op(l->g, K_LT, a, whole(l, d, 0)), kir_op(l->g, K_NEG, a, 0), a) : a;
}

/* -- indices ------------------------------------------------------------------------------------------------------- */
/* Mirrors the index a into 0 … n-1; every second stretch runs backward.  MIRROR: a stretch has n elements, and -1-a is
 * the image of a < 0.  REFLECT: it has n-1 up to the element at the next edge, and -a is the image, as a quotient that
 * is rounded toward zero gives. */
static KRef mirrored(Legal *l, AccessMode mode, KRef a, KRef n) {
    KFunc *g = l->g;
    KRef one = whole(l, QS_I64, 1), last = kir_op(g, K_SUB, n, one), x = a, length = n;
    if (mode == ACC_MIRROR) x = kir_op(g, K_XOR, a, kir_op(g, K_SHR, a, whole(l, QS_I64, 63)));
    else length = most(l, last, one);
    KRef stretch = kir_op(g, K_DIV, x, length), r = kir_op(g, K_SUB, x, kir_op(g, K_MUL, stretch, length));
    KRef forth = kir_op(g, K_EQ, kir_op(g, K_AND, stretch, one), whole(l, QS_I64, 0));
    if (mode == ACC_REFLECT) r = absolute(l, r);
    return kir_select(g, forth, r, kir_op(g, K_SUB, last, r));
}

/* Expands a BOUND.  Divides only if the index is outside, because most are inside and divisions are slow. */
static KRef legal_bound(Legal *l, AccessMode mode, KRef a, KRef extent) {
    KFunc *g = l->g;
    KRef n = most(l, extent, whole(l, QS_I64, 1));
    if (mode == ACC_CLAMPED) {
        KRef low = least(l, a, kir_op(g, K_SUB, n, whole(l, QS_I64, 1)));
        return most(l, low, whole(l, QS_I64, 0));
    }
    KRef kept = kir_local(g, a);
    kir_flow(g, K_IF, kir_op(g, K_NOT, kir_op(g, K_INB, a, extent), 0));
    kir_set(g, kept, mode == ACC_CIRCULAR ? remainder_of(l, a, n) : mirrored(l, mode, a, n));
    kir_flow(g, K_END, 0);
    return kir_get(g, kept);
}

/* -- conversions --------------------------------------------------------------------------------------------------- */
static KRef of_truth(Legal *l, qs_dtype to, KRef a) {
    if (is_real(to)) return kir_select(l->g, a, float_const(l, to, 1), float_const(l, to, 0));
    return kir_select(l->g, a, whole(l, to, 1), whole(l, to, 0));
}

typedef struct {
    int64_t lo;
    uint64_t hi;
    double beyond;
} Span; /* range of an integer type; beyond: hi + 1, which every float type can represent */
static Span span_of(qs_dtype d) {
    switch (d) {
    case QS_I32: return (Span){INT32_MIN, INT32_MAX, 0x1p31};
    case QS_U32: return (Span){0, UINT32_MAX, 0x1p32};
    case QS_I64: return (Span){INT64_MIN, INT64_MAX, 0x1p63};
    default: return (Span){0, UINT64_MAX, 0x1p64};
    }
}

static KRef float_to_int(Legal *l, qs_dtype to, KRef a) {
    KFunc *g = l->g;
    qs_dtype d = dtype_of(l, a);
    Span s = span_of(to);
    KRef below = kir_op(g, K_LT, a, float_const(l, d, (double)s.lo)),
         above = kir_op(g, K_LE, float_const(l, d, s.beyond), a);
    KRef odd = kir_op(g, K_OR, kir_op(g, K_OR, below, above), kir_op(g, K_NE, a, a));
    KRef v = kir_cast(g, to, kir_select(g, odd, float_const(l, d, 0), a));
    return kir_select(g, below, whole(l, to, s.lo), kir_select(g, above, kir_const_bits(g, to, s.hi, g->pos), v));
}

static KRef int_to_int(Legal *l, qs_dtype to, KRef a) {
    qs_dtype d = dtype_of(l, a);
    Span s = span_of(to), from = span_of(d);
    if (from.lo < s.lo) a = most(l, a, whole(l, d, s.lo));
    if (from.beyond > s.beyond) a = least(l, a, kir_const_bits(l->g, d, s.hi, l->g->pos));
    return kir_cast(l->g, to, a);
}

static KRef legal_cast(Legal *l, qs_dtype to, KRef a) {
    qs_dtype d = dtype_of(l, a);
    if (d == to) return a;
    if (d == QS_B1) return l->can & LEGAL_TRUTH ? kir_cast(l->g, to, a) : of_truth(l, to, a);
    if (is_real(to) || to == QS_B1 || l->can & LEGAL_SATURATE) return kir_cast(l->g, to, a);
    return is_real(d) ? float_to_int(l, to, a) : int_to_int(l, to, a);
}

/* -- updates ------------------------------------------------------------------------------------------------------- */
static KRef legal_arith(Legal *l, KOp o, uint16_t flag, KRef a, KRef b);

static KRef combined(Legal *l, KAtomic how, KRef a, KRef b) {
    static const KOp ops[KA__COUNT] = {K_ADD, K_SUB, K_MUL, K_DIV, K_MIN, K_MAX, K_AND, K_OR, K_XOR, K_MATH};
    if (how == KA_POW) return kir_fold(l->g, (KMake){K_MATH, .flag = MF_pow, .a = a, .b = b, .pos = l->g->pos});
    return legal_arith(l, ops[how], 0, a, b);
}

/* Stores v, saturated to the range of 8- and 16-bit memory. */
static KRef legal_store(Legal *l, const KIns *i, KRef at, KRef v, KRef guard) {
    qs_dtype d = (qs_dtype)l->g->params[i->imm].dtype;
    double lo, hi;
    if (d >= QS_I8 && d <= QS_U16 && !(l->can & LEGAL_SATURATE)) {
        qdtype_int_span(d, &lo, &hi);
        v = least(l, most(l, v, whole(l, QS_I32, (int64_t)lo)), whole(l, QS_I32, (int64_t)hi));
    }
    return kir_emit(l->g, (KMake){K_STORE, .a = at, .b = v, .c = guard, .imm = i->imm});
}

static void update_array(Legal *l, const KIns *i, KRef at, KRef v, KRef guard) {
    qs_dtype d = kir_value_dtype((qs_dtype)l->g->params[i->imm].dtype);
    KRef old = kir_emit(l->g, (KMake){K_LOAD, .own = d, .a = at, .b = guard, .imm = i->imm});
    legal_store(l, i, at, combined(l, (KAtomic)i->flag, old, v), guard);
}

static void update_shared(Legal *l, const KIns *i, KRef array, KRef at, KRef v) {
    KRef old = kir_emit(l->g, (KMake){K_ALOAD, .a = array, .b = at});
    kir_emit(l->g, (KMake){K_ASTORE, .a = array, .b = at, .c = combined(l, (KAtomic)i->flag, old, v)});
}

static KRef fetched(Legal *l, const KIns *i, KRef old, KRef value) {
    const KIns *v = &l->g->ins[value];
    if (i->flag == KA_XCHG) return value;
    if (i->flag == KA_CAS) return kir_select(l->g, kir_op(l->g, K_EQ, old, v->b), v->a, old);
    return combined(l, (KAtomic)i->flag, old, value);
}

static KRef fetch_array(Legal *l, const KIns *i, KRef at, KRef v, KRef guard) {
    KRef old = kir_emit(l->g, (KMake){K_LOAD, .own = (qs_dtype)i->dtype, .a = at, .b = guard, .imm = i->imm});
    legal_store(l, i, at, fetched(l, i, old, v), guard);
    return old;
}

static KRef fetch_shared(Legal *l, const KIns *i, KRef array, KRef at, KRef v) {
    KRef old = kir_emit(l->g, (KMake){K_ALOAD, .a = array, .b = at});
    kir_emit(l->g, (KMake){K_ASTORE, .a = array, .b = at, .c = fetched(l, i, old, v)});
    return old;
}

static void repeat_update(Legal *l, const KIns *i, KAtomic how, const KRef *x) {
    kir_emit(l->g, (KMake){(KOp)i->op, .own = (qs_dtype)i->dtype, .flag = how, .a = x[0], .b = x[1], .c = x[2],
                           .imm = i->imm});
}

/* Expands an atomic division: x/0 = 0 is x & 0, and x/-1 is x * -1. */
static void divide_atomically(Legal *l, const KIns *i, const KRef *x, int at) {
    KFunc *g = l->g;
    KRef zero, minus, args[3] = {x[0], x[1], x[2]};
    qs_dtype d = dtype_of(l, x[at]);
    double k;
    args[at] = divisor(l, x[at], &zero, &minus);
    if (kir_is_const(g, zero, &k) && k == 0 && kir_is_const(g, minus, &k) && k == 0) {
        repeat_update(l, i, KA_DIV, args);
        return;
    }
    kir_flow(g, K_IF, kir_op(g, K_OR, zero, minus));
    KRef never[3] = {x[0], x[1], x[2]};
    never[at] = kir_select(g, zero, whole(l, d, 0), whole(l, d, -1));
    repeat_update(l, i, is_signed(d) ? KA_MUL : KA_AND, never); /* x * 0 is 0 as well */
    kir_flow(g, K_ELSE, 0);
    repeat_update(l, i, KA_DIV, args);
    kir_flow(g, K_END, 0);
}

/* -- dispatch ------------------------------------------------------------------------------------------------------ */
static KRef legal_arith(Legal *l, KOp o, uint16_t flag, KRef a, KRef b) {
    bool real = is_real(dtype_of(l, a));
    if (o == K_MIN || o == K_MAX) return extreme_or_keep(l, o, flag, a, b);
    if (!real && o == K_DIV && !(l->can & LEGAL_DIVIDE)) return legal_divide(l, a, b);
    if (!real && o == K_MOD && !(l->can & LEGAL_DIVIDE)) return remainder_of(l, a, b);
    if ((o == K_SHL || o == K_SHR) && !(l->can & LEGAL_SHIFT)) return legal_shift(l, o, a, b);
    return kir_fold(l->g, (KMake){o, .flag = flag, .a = a, .b = b, .pos = l->g->pos});
}

static KRef legal_one(Legal *l, const KIns *i) {
    KRef a = l->map[i->a], b = l->map[i->b], c = l->map[i->c];
    switch ((KOp)i->op) {
    case K_DIV:
    case K_MOD:
    case K_MIN:
    case K_MAX:
    case K_SHL:
    case K_SHR: return legal_arith(l, (KOp)i->op, i->flag, a, b);
    case K_ABS: return absolute(l, a);
    case K_ANALYTIC: return a;
    case K_CAST: return legal_cast(l, (qs_dtype)i->dtype, a);
    case K_BOUND:
        if (l->can & LEGAL_BOUND) break;
        return legal_bound(l, (AccessMode)i->flag, a, b);
    case K_STORE: return legal_store(l, i, a, b, c);
    case K_ATOMIC:
    case K_AATOMIC: {
        int at = i->op == K_ATOMIC ? 1 : 2;
        bool array = i->op == K_ATOMIC, whole = !is_real(dtype_of(l, array ? b : c));
        if (!(l->can & LEGAL_ATOMIC)) return array ? update_array(l, i, a, b, c) : update_shared(l, i, a, b, c), 0;
        if (i->flag != KA_DIV || !whole || l->can & LEGAL_DIVIDE) break;
        return divide_atomically(l, i, (KRef[]){a, b, c}, at), 0;
    }
    case K_FETCH:
        if (l->can & LEGAL_ATOMIC) break;
        return fetch_array(l, i, a, b, c);
    case K_AFETCH:
        if (l->can & LEGAL_ATOMIC) break;
        return fetch_shared(l, i, a, b, c);
    default: break;
    }
    return kir_copy(l->g, i, a, b, c);
}

static bool has_known_zero(const KFunc *f) {
    double v;
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        if ((i->op != K_MIN && i->op != K_MAX) || !is_real((qs_dtype)i->dtype)) continue;
        if ((kir_is_const(f, i->a, &v) && v == 0) || (kir_is_const(f, i->b, &v) && v == 0)) return true;
    }
    return false;
}

/* Returns true if f has no instruction that the target lacks. */
static bool is_legal(const KFunc *f, unsigned can) {
    bool divides = kir_has(f, K_DIV) || kir_has(f, K_MOD) || kir_has(f, K_ATOMIC) || kir_has(f, K_AATOMIC);
    if (!divides) can |= LEGAL_DIVIDE;
    return can == LEGAL_ALL && (kir_is_exact(f) || !(kir_has(f, K_MIN) || kir_has(f, K_MAX)) || !has_known_zero(f));
}

const KFunc *klegal(Ctx *c, Arena *arena, const KFunc *f, unsigned can, KSplit *split) {
    if (is_legal(f, can)) return f;
    Legal l = {.f = f, .can = can, .g = kir_shell(c, arena, f)};
    l.map = qarena_alloc(arena, qmem_size(f->nins, sizeof *l.map, 0));
    l.start = qarena_alloc(arena, qmem_size(f->nins, sizeof *l.start, sizeof *l.start));
    for (KRef r = 1; r < f->nins; r++) {
        l.g->pos = f->ins[r].pos, l.start[r] = l.g->nins;
        l.map[r] = legal_one(&l, &f->ins[r]);
    }
    l.start[f->nins] = l.g->nins;
    kir_finish(l.g, f);
    if (split) kopt_renumber(split, l.g, l.map, l.start);
    return l.g;
}
