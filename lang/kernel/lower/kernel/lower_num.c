/* lower_num.c -- lowers operations on single numbers: value ranges, weak numbers, casts, arithmetic. */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/kernel/lower_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- instructions -------------------------------------------------------------------------------------------------- */
/* Casts a value.  POS and DIM are available as int64 directly; a cast from int would only hide what they are. */
KRef klnum_cast_ref(Lower *L, KRef a, qs_dtype to) {
    const KIns *i = &L->f->ins[a];
    if (i->dtype == to) return a;
    if (to == QS_I64 && i->op == K_POS) return klnum_pure(L, (KMake){K_POS, .own = QS_I64, .imm = i->imm});
    if (to == QS_I64 && i->op == K_CAST && L->f->ins[i->a].op == K_DIM) return i->a;
    if (i->dtype == QS_B1 && to == QS_B1) return a;
    return klnum_pure(L, (KMake){K_CAST, .own = to, .a = a});
}

KRef klnum_math(Lower *L, MathFn fn, KRef a, KRef b) {
    return klnum_pure(L, (KMake){K_MATH, .flag = fn, .a = a, .b = b});
}

/* -- bounds -------------------------------------------------------------------------------------------------------- */
typedef struct {
    Lower *L;
    int left; /* instructions that may still be visited: several operands may have one operand in common */
} RangeSearch;
enum { MOST_VISITED = 256 };

static bool find_range(RangeSearch *s, KRef r, double *lo, double *hi);

static bool range_of_for(RangeSearch *s, const KIns *i, double *lo, double *hi) {
    double a, b, c, ends[2][2];
    if (!kir_is_const(s->L->f, i->c, &c)) return false;
    if (!find_range(s, i->a, &ends[0][0], &ends[0][1]) || !find_range(s, i->b, &ends[1][0], &ends[1][1])) return false;
    a = c < 0 ? ends[1][0] : ends[0][0], b = c < 0 ? ends[0][1] : ends[1][1];
    return *lo = a, *hi = b, true;
}

static bool range_of_pair(RangeSearch *s, const KIns *i, double *lo, double *hi) {
    double al, ah, bl, bh;
    if (!find_range(s, i->b, &bl, &bh)) return false;
    if (i->op == K_MOD && bl > 0) return *lo = 0, *hi = bh - 1, true;
    if (i->op == K_AND && bl >= 0) return *lo = 0, *hi = bh, true;
    if (!find_range(s, i->a, &al, &ah)) return false;
    switch (i->op) {
    case K_ADD: *lo = al + bl, *hi = ah + bh; break;
    case K_SUB: *lo = al - bh, *hi = ah - bl; break;
    case K_MUL:
        *lo = fmin(fmin(al * bl, al * bh), fmin(ah * bl, ah * bh));
        *hi = fmax(fmax(al * bl, al * bh), fmax(ah * bl, ah * bh));
        break;
    case K_MIN: *lo = fmin(al, bl), *hi = fmin(ah, bh); break;
    case K_MAX: *lo = fmax(al, bl), *hi = fmax(ah, bh); break;
    case K_DIV:
        if (bl <= 0) return false;
        *lo = al < 0 ? al : 0, *hi = ah > 0 ? trunc(ah / bl) : 0;
        break;
    default: return false;
    }
    return i->dtype == QS_I64 || (*lo >= -0x1p31 && *hi < 0x1p31); /* the range of an int that may wrap is unknown */
}

/* Elements with fewer bits than the int that they are loaded as. */
static bool range_of_load(const KFunc *f, const KIns *i, double *lo, double *hi) {
    qs_dtype d = (qs_dtype)f->params[i->imm].dtype;
    if (!qdtype_is_int(d) || d >= QS_I32) return false;
    return qdtype_int_span(d, lo, hi), true;
}

static bool find_range(RangeSearch *s, KRef r, double *lo, double *hi) {
    const KFunc *f = s->L->f;
    const KIns *i = &f->ins[r];
    const int32_t *block = s->L->job->block;
    if (kir_is_const(f, r, lo)) return *hi = *lo, true;
    if (s->left-- <= 0) return false;
    switch (i->op) {
    case K_BLKPOS: return block ? *lo = 0, *hi = block[i->imm] - 1, true : false;
    case K_FOR: return range_of_for(s, i, lo, hi);
    case K_LOAD: return range_of_load(f, i, lo, hi);
    case K_CAST: return qdtype_is_int(f->ins[i->a].dtype) && find_range(s, i->a, lo, hi);
    case K_ADD:
    case K_SUB:
    case K_MUL:
    case K_MIN:
    case K_MAX:
    case K_DIV:
    case K_MOD:
    case K_AND: return qdtype_is_int(i->dtype) && range_of_pair(s, i, lo, hi);
    default: return false;
    }
}

bool klnum_range(Lower *L, KRef r, double *lo, double *hi) {
    return find_range(&(RangeSearch){L, MOST_VISITED}, r, lo, hi);
}

KRef klnum_holds(Lower *L, qs_dtype integer, KRef x) {
    double least = -INFINITY, most = INFINITY;
    (void)klnum_range(L, x, &least, &most);
    return kelem_holds(kbuild_rows(&L->walk), integer, x, (qs_dtype)L->f->ins[x].dtype, least, most);
}

/* The condition that n is representable in the integer type d, and n as the message shows it. */
static KRef held_condition(Lower *L, Num n, qs_dtype d, KRef *shown) {
    const Weak *w = n.re.weak;
    *shown = klnum_ref(L, n, !w ? n.dtype : w->whole ? QS_I64 : L->c->scalar_dtype);
    if (!w || !w->whole) return klnum_holds(L, d, *shown);
    return kelem_holds(kbuild_rows(&L->walk), d, *shown, QS_I64, -w->bound, w->bound);
}

void klnum_check_integral(Lower *L, const DeclaredInt *t, Num n) {
    char text[240];
    double known;
    KRef x, holds = held_condition(L, n, t->d, &x);
    if (kir_is_const(L->f, holds, &known) && known != 0) return;
    uint32_t pos = L->pos;
    L->pos = t->pos;
    snprintf(text, sizeof text, QDTYPE_NOT_HELD, t->what, qtype_name(t->type), "%0", qdtype_info[t->d].name);
    klnum_emit(L, (KMake){K_CHECK, .a = holds, .b = x, .imm = (uint64_t)kir_message(L->f, QS_EVALUE, text)});
    L->pos = pos;
}

/* -- weak numbers -------------------------------------------------------------------------------------------------- */
static Weak *new_weak(Lower *L, WeakOp op, Weak *a, Weak *b) {
    Weak *w = qarena_alloc(L->arena, sizeof *w);
    w->op = (uint8_t)op, w->a = a, w->b = b;
    return w;
}

static Weak *weak_const(Lower *L, double v, bool integral) {
    Weak *w = new_weak(L, WEAK_CONST, NULL, NULL);
    w->value = v, w->bound = fabs(v);
    w->whole = v == floor(v) && fabs(v) < 0x1p63;
    w->integral = integral && w->whole;
    return w;
}

Weak *klnum_weak_param(Lower *L, int source, Str *name, int bits, bool integral) {
    Weak *w = new_weak(L, WEAK_PARAM, NULL, NULL);
    w->source = source, w->name = name, w->outside = true;
    w->whole = bits > 0, w->integral = integral && bits > 0;
    w->bound = bits > 0 ? ldexp(1, bits) : 0;
    return w;
}

qs_dtype klnum_weak_dtype(Lower *L, const Weak *w) {
    if (!w->integral || w->bound > 0x1p62) return L->c->scalar_dtype;
    return w->bound < 0x1p31 ? QS_I32 : QS_I64;
}

static double weak_value(WeakOp op, double a, double b) {
    switch (op) {
    case WEAK_ADD: return a + b;
    case WEAK_SUB: return a - b;
    case WEAK_MUL: return a * b;
    case WEAK_DIV: return a / b;
    default: return -a;
    }
}

static double weak_bound(WeakOp op, const Weak *a, const Weak *b) {
    return op == WEAK_NEG ? a->bound : op == WEAK_MUL ? a->bound * b->bound : a->bound + b->bound;
}

static Weak *weak_op(Lower *L, WeakOp op, Weak *a, Weak *b) {
    bool integral = a->integral && (!b || b->integral) && op != WEAK_DIV;
    if (a->op == WEAK_CONST && (!b || b->op == WEAK_CONST)) {
        Weak *k = weak_const(L, weak_value(op, a->value, b ? b->value : 0), integral);
        return k->outside = a->outside || (b && b->outside), k;
    }
    Weak *w = new_weak(L, op, a, b);
    w->outside = a->outside || (b && b->outside);
    w->whole = a->whole && (!b || b->whole) && op != WEAK_DIV;
    w->integral = integral;
    w->bound = weak_bound(op, a, b);
    return w;
}

static KRef weak_ref(Lower *L, const Weak *w, qs_dtype d) {
    static const KOp ops[] = {[WEAK_ADD] = K_ADD, [WEAK_SUB] = K_SUB, [WEAK_MUL] = K_MUL, [WEAK_DIV] = K_DIV};
    if (w->op == WEAK_CONST) return klnum_const(L, d, w->value);
    if (w->op == WEAK_PARAM) return klower_host_num(L, w->source, 0, d, w->name);
    if (d == QS_B1 || (qdtype_is_int(d) && !w->whole)) return klnum_cast_ref(L, weak_ref(L, w, L->c->scalar_dtype), d);
    KRef a = weak_ref(L, w->a, d);
    return w->op == WEAK_NEG ? klnum_un(L, K_NEG, a) : klnum_bin(L, ops[w->op], a, weak_ref(L, w->b, d));
}

/* -- construction and queries -------------------------------------------------------------------------------------- */
Num klnum_strong(KRef ref, qs_dtype d) { return (Num){.dtype = d, .re = {.ref = ref}}; }

Num klnum_from_weak(Lower *L, Weak *w) { return (Num){.dtype = klnum_weak_dtype(L, w), .re = {.weak = w}}; }

Num klnum_literal(Lower *L, double v, bool integral) { return klnum_from_weak(L, weak_const(L, v, integral)); }

bool klnum_known(Lower *L, Num n, double *v) {
    if (n.re.weak) return n.re.weak->op == WEAK_CONST ? *v = n.re.weak->value, true : false;
    return !qdtype_is_complex(n.dtype) && kir_is_const(L->f, n.re.ref, v);
}

bool klnum_is_integral(Num n) { return n.re.weak ? n.re.weak->whole : qdtype_is_int(n.dtype); }

static bool weak_negative(const Weak *w) { return w->op != WEAK_CONST || w->value < 0; }

static qs_dtype join_int_weak(Lower *L, qs_dtype d, const Weak *w) {
    if (!w->integral) return L->c->scalar_dtype;
    if (d == QS_B1) d = QS_I32;
    if (d == QS_U64 && w->op == WEAK_CONST && w->value < 0) return QS_F64;
    if (d == QS_U32 && weak_negative(w)) return QS_I64;
    return d <= QS_U32 && w->bound >= 0x1p32 ? QS_I64 : d;
}

static qs_dtype join_real(qs_dtype a, qs_dtype b) {
    bool fa = qdtype_is_real(a), fb = qdtype_is_real(b);
    if (fa || fb) return fa && fb ? (a > b ? a : b) : fa ? a : b;
    return qdtype_promote(a, b);
}

/* The dtype of an element in memory, if it is an unsigned type: with other operands it behaves as on the host. */
static qs_dtype element_dtype(Lower *L, Num n) {
    const KIns *i = &L->f->ins[n.re.ref];
    qs_dtype d = n.dtype == QS_I32 && i->op == K_LOAD ? (qs_dtype)L->f->params[i->imm].dtype : n.dtype;
    return d == QS_U8 || d == QS_U16 ? d : n.dtype;
}

qs_dtype klnum_join(Lower *L, Num a, Num b) {
    if (!klnum_is_weak(b) && klnum_is_weak(a)) return klnum_join(L, b, a);
    if (klnum_is_weak(a)) {
        if (a.re.weak->integral != b.re.weak->integral) return L->c->scalar_dtype;
        return a.dtype > b.dtype ? a.dtype : b.dtype;
    }
    if (klnum_is_weak(b)) return a.dtype >= QS_F16 ? a.dtype : join_int_weak(L, a.dtype, b.re.weak);
    if (!qdtype_is_complex(a.dtype) && !qdtype_is_complex(b.dtype))
        return join_real(element_dtype(L, a), element_dtype(L, b));
    qs_dtype ra = qdtype_real_of(a.dtype), rb = qdtype_real_of(b.dtype);
    return ra == QS_F64 || rb == QS_F64 ? QS_C128 : QS_C64;
}

/* -- conversions --------------------------------------------------------------------------------------------------- */
KRef klnum_ref(Lower *L, Num n, qs_dtype d) {
    return n.re.weak ? weak_ref(L, n.re.weak, d) : klnum_cast_ref(L, n.re.ref, d);
}

KRef klnum_part(Lower *L, Num n, int part, qs_dtype d) {
    if (part == 0) return klnum_ref(L, n, d);
    return qdtype_is_complex(n.dtype) ? klnum_cast_ref(L, n.im.ref, d) : klnum_const(L, d, 0);
}

Num klnum_cast(Lower *L, Num n, qs_dtype d) {
    qs_dtype r = qdtype_real_of(d);
    Num out = {.dtype = d, .re = {.ref = klnum_ref(L, n, r)}};
    if (qdtype_is_complex(d)) out.im.ref = klnum_part(L, n, 1, r);
    return out;
}

static Num clamp_int(Lower *L, Num n, qs_dtype d) {
    double a, b, lo, hi;
    KRef r = klnum_ref(L, n, QS_I32);
    qdtype_int_span(d, &lo, &hi);
    if (klnum_range(L, r, &a, &b) && a >= lo && b <= hi) return klnum_strong(r, QS_I32);
    r = klnum_bin(L, K_MAX, r, klnum_int(L, QS_I32, (int64_t)lo));
    return klnum_strong(klnum_bin(L, K_MIN, r, klnum_int(L, QS_I32, (int64_t)hi)), QS_I32);
}

Num klnum_narrow(Lower *L, Num n, qs_dtype d) {
    switch (d) {
    case QS_B1: return klnum_strong(klnum_truth(L, n), QS_B1);
    case QS_I8:
    case QS_U8:
    case QS_I16:
    case QS_U16: return clamp_int(L, n, d);
    default: return klnum_cast(L, n, qdtype_is_short(d) ? QS_F32 : d);
    }
}

/* Recomputes an int expression for an index in int64, so that it keeps its form and does not wrap. */
static KRef widen_index(Lower *L, KRef r, int depth) {
    const KIns i = L->f->ins[r];
    if (i.dtype != QS_I32 || !depth) return klnum_cast_ref(L, r, QS_I64);
    switch (i.op) {
    case K_ADD:
    case K_SUB:
    case K_MUL: return klnum_bin(L, (KOp)i.op, widen_index(L, i.a, depth - 1), widen_index(L, i.b, depth - 1));
    case K_NEG: return klnum_un(L, K_NEG, widen_index(L, i.a, depth - 1));
    case K_PARAM:
        return klower_host_num(L, L->binds[i.imm].source, L->binds[i.imm].part, QS_I64, L->f->params[i.imm].name);
    default: return klnum_cast_ref(L, r, QS_I64);
    }
}

KRef klnum_index(Lower *L, Num n, bool down) {
    enum { DEPTH = 8 };
    double v;
    if (klnum_is_integral(n)) return n.re.weak ? klnum_ref(L, n, QS_I64) : widen_index(L, n.re.ref, DEPTH);
    if (klnum_known(L, n, &v)) return klnum_const(L, QS_I64, down ? floor(v) : v);
    if (n.re.weak && !down) return weak_ref(L, n.re.weak, QS_I64);
    KRef r = klnum_ref(L, n, qdtype_real_of(n.dtype));
    if (down && qdtype_is_real(n.dtype)) r = klnum_math(L, MF_floor, r, 0);
    return klnum_cast_ref(L, r, QS_I64);
}

static KRef is_nonzero(Lower *L, KRef r) {
    qs_dtype d = L->f->ins[r].dtype;
    return d == QS_B1 ? r : klnum_bin(L, K_NE, r, klnum_const(L, d, 0));
}

KRef klnum_truth(Lower *L, Num n) {
    KRef re = is_nonzero(L, klnum_ref(L, n, qdtype_real_of(n.dtype)));
    return qdtype_is_complex(n.dtype) ? klnum_bin(L, K_OR, re, is_nonzero(L, n.im.ref)) : re;
}

/* -- the rows of elem.def ------------------------------------------------------------------------------------------ */
/* Applies a row of elem.def to arguments converted to d. */
static Num apply_row(Lower *L, Elem e, const Num *x, qs_dtype d) {
    KBuild build = kbuild_rows(&L->walk);
    KRef refs[KLVAL_OPERANDS];
    KPair pairs[KLVAL_OPERANDS], z;
    qs_dtype r = qdtype_real_of(d);
    bool complex = qdtype_is_complex(d);
    for (int i = 0; i < kelem_info[e].nargs; i++) {
        refs[i] = klnum_ref(L, x[i], r);
        pairs[i] = (KPair){refs[i], complex ? klnum_part(L, x[i], 1, r) : 0};
    }
    z = complex ? kelem_complex(build, e, r, pairs) : kelem_real(build, e, d, refs);
    ElemGives gives = (ElemGives)(complex ? kelem_info[e].complex : kelem_info[e].real);
    if (gives == ELEM_TRUTH) return klnum_strong(z.re, QS_B1);
    if (gives != ELEM_COMPLEX) return klnum_strong(z.re, r);
    return (Num){.dtype = qdtype_complex_of(r), .re = {.ref = z.re}, .im = {.ref = z.im}};
}

/* Evaluates a row in float64 if all arguments are weak constants; leaves no instructions behind. */
static bool known_row(Lower *L, Elem e, const Num *x, double *v) {
    KRef refs[KLVAL_OPERANDS];
    uint32_t before = L->f->nins;
    KInto into = {L->f, &L->pos, false};
    if (kelem_info[e].real != ELEM_NUMBER) return false;
    for (int i = 0; i < kelem_info[e].nargs; i++) {
        if (!klnum_is_weak(x[i]) || !klnum_known(L, x[i], v)) return false;
        refs[i] = kir_const_num(L->f, QS_F64, *v, L->pos);
    }
    bool known = kir_is_const(L->f, kelem_real(kelem_into(&into), e, QS_F64, refs).re, v);
    return L->f->nins = before, known;
}

static bool same_elements(Lower *L, Num a, Num b) {
    return !klnum_is_weak(a) && !klnum_is_weak(b) && a.dtype == b.dtype && element_dtype(L, a) == element_dtype(L, b);
}

/* The common type of the arguments, as in kelem_meet: arguments of one type count once, and weak numbers come last. */
static qs_dtype common_dtype(Lower *L, Elem e, const Num *x, bool *whole) {
    int others = -1, n = kelem_info[e].nargs;
    Num all = x[0];
    *whole = true;
    for (int weak = 0; weak < 2; weak++)
        for (int i = 0; i < n; i++) {
            if (klnum_is_weak(x[i]) != weak) continue;
            *whole = *whole && klnum_is_integral(x[i]);
            if (others >= 0 && same_elements(L, all, x[i])) continue;
            all = others < 0 ? x[i] : (Num){.dtype = klnum_join(L, all, x[i])}, others++;
        }
    if (n > 1 && !others) all = (Num){.dtype = klnum_join(L, all, all)};
    return klnum_is_weak(all) ? klnum_weak_dtype(L, all.re.weak) : all.dtype;
}

static bool may_be_negative(Lower *L, Num n) {
    double lo, hi;
    if (klnum_is_weak(n)) return n.re.weak->integral && weak_negative(n.re.weak);
    return (n.dtype == QS_I32 || n.dtype == QS_I64) && !(klnum_range(L, n.re.ref, &lo, &hi) && lo >= 0);
}

static bool is_uint64(Num n) { return n.dtype == QS_U64 && !klnum_is_weak(n); }
static bool is_int(Num n) { return klnum_is_weak(n) ? n.re.weak->integral : qdtype_is_int(n.dtype); }

/* A uint64 with an operand that may be negative: gives the two as uint64 and int64. left: a is the signed one. */
static bool mixes_signs(Lower *L, Num a, Num b, KRef *x, KRef *y, bool *left) {
    *left = is_uint64(b) && may_be_negative(L, a);
    if (!*left && !(is_uint64(a) && may_be_negative(L, b))) return false;
    *x = klnum_ref(L, a, *left ? QS_I64 : QS_U64), *y = klnum_ref(L, b, *left ? QS_U64 : QS_I64);
    return true;
}

Num klnum_apply(Lower *L, Elem e, const Num *x) {
    double v;
    bool whole, left;
    KRef a, b;
    qs_dtype d = common_dtype(L, e, x, &whole);
    ElemIntegers rule = (ElemIntegers)kelem_info[e].integers;
    if (known_row(L, e, x, &v))
        return klnum_literal(L, v, v == floor(v) && (rule == ELEM_ITSELF || (rule != ELEM_FLOATS && whole)));
    if (rule == ELEM_ITSELF && (whole || d == QS_B1)) return x[0];
    if (e == EL_mod && mixes_signs(L, x[0], x[1], &a, &b, &left))
        return klnum_strong(kelem_mod_signs(kbuild_rows(&L->walk), a, b, left), QS_F64);
    if (kelem_truths_divide(e, x[0].dtype, x[kelem_info[e].nargs - 1].dtype)) rule = ELEM_FLOATS;
    if (d == QS_B1 || (rule == ELEM_FLOATS && qdtype_is_int(d))) d = rule == ELEM_FLOATS ? L->c->scalar_dtype : QS_I32;
    if (rule != ELEM_FLOATS && whole && L->indexing) d = QS_I64;
    return apply_row(L, e, x, d);
}

/* -- arithmetic ---------------------------------------------------------------------------------------------------- */
static qs_dtype arith_dtype(Lower *L, Elem e, Num a, Num b) {
    qs_dtype d = klnum_join(L, a, b);
    if (d == QS_B1) d = QS_I32;
    if (e == EL_div && qdtype_is_int(d)) return L->c->scalar_dtype;
    if (!qdtype_is_int(d)) return d;
    if (L->indexing) return QS_I64;
    /* A product with a host number, which is a double on the host, must not overflow where the double does not. */
    bool outside = (a.re.weak && a.re.weak->outside) || (b.re.weak && b.re.weak->outside);
    return e == EL_mul && outside ? QS_I64 : d;
}

static Num apply_arith(Lower *L, Elem e, WeakOp weak, Num a, Num b) {
    if (klnum_is_weak(a) && klnum_is_weak(b)) return klnum_from_weak(L, weak_op(L, weak, a.re.weak, b.re.weak));
    bool exact =
        L->indexing && e != EL_div && klnum_is_integral(a) && klnum_is_integral(b); /* an integral scalar stays exact */
    return apply_row(L, e, (Num[]){a, b}, exact ? QS_I64 : arith_dtype(L, e, a, b));
}

bool klnum_update(Lower *L, Op op, Num old, Num n, Num *out) {
    Elem e = kelem_operator(op);
    qs_dtype d = klnum_is_weak(n) ? klnum_weak_dtype(L, n.re.weak) : n.dtype;
    if (klnum_is_weak(old) || (old.dtype != QS_I64 && old.dtype != QS_U64) || L->indexing) return false;
    if ((e != EL_add && e != EL_sub && e != EL_mul) || qdtype_is_complex(d) || d == QS_B1 || d == old.dtype)
        return false;
    KRef x = klnum_ref(L, n, klnum_is_weak(n) && klnum_is_integral(n) ? QS_I64 : d);
    KRef r = kelem_update(kbuild_rows(&L->walk), e, old.dtype, old.re.ref, x, (qs_dtype)L->f->ins[x].dtype);
    return *out = klnum_strong(r, old.dtype), true;
}

static qs_status apply_compare(Lower *L, Op op, Num a, Num b, Num *out) {
    Elem e = kelem_operator(op);
    qs_dtype d = klnum_join(L, a, b);
    KRef x, y;
    bool left;
    if (mixes_signs(L, a, b, &x, &y, &left))
        return *out = klnum_strong(kelem_compare_signs(kbuild_rows(&L->walk), e, x, y, left), QS_B1), QS_OK;
    if ((is_uint64(a) || is_uint64(b)) && is_int(a) && is_int(b)) d = QS_U64; /* neither is negative */
    if (d == QS_B1 && op != OP_EQ && op != OP_NE) d = QS_I32;
    if (qdtype_is_complex(d) && kelem_info[e].complex == ELEM_NOTHING)
        return klower_error(L, QS_ETYPE, L->pos, "complex numbers have no order: `%s` cannot compare them",
                            qop_text(op));
    return *out = apply_row(L, e, (Num[]){a, b}, d), QS_OK;
}

/* The operand of a bit operation: a float must be integral and becomes int64; a known number becomes a literal. */
static Num with_bits(Lower *L, Elem e, Num a) {
    double v;
    if (klnum_is_weak(a) && klnum_known(L, a, &v) && klnum_is_integral(a)) return klnum_literal(L, v, true);
    bool has = klnum_is_weak(a) ? a.re.weak->integral : !qdtype_is_real(a.dtype);
    if (has) return a;
    if (!klnum_is_integral(a)) {
        char text[80];
        qs_dtype d = klnum_real_dtype(L, a);
        KRef x = klnum_ref(L, a, d), holds = kelem_has_bits(kbuild_rows(&L->walk), x, d);
        snprintf(text, sizeof text, "%s: " KELEM_NO_BITS "%%0", kelem_name(e));
        klnum_emit(L, (KMake){K_CHECK, .a = holds, .b = x, .imm = (uint64_t)kir_message(L->f, QS_ETYPE, text)});
    }
    return klnum_strong(klnum_ref(L, a, QS_I64), QS_I64);
}

/* The condition that the int64 n has no more bits than elements of type d, signed or unsigned. */
static KRef fits_bits(Lower *L, qs_dtype d, KRef n) {
    double count = ldexp(1, (int)(8 * qdtype_size(d)));
    if (d == QS_I64) return klnum_int(L, QS_B1, 1);
    if (d == QS_U64) return klnum_bin(L, K_LE, klnum_int(L, QS_I64, 0), n);
    return klnum_bin(L, K_AND, klnum_bin(L, K_LE, klnum_const(L, QS_I64, -count / 2), n),
                     klnum_bin(L, K_LT, n, klnum_const(L, QS_I64, count)));
}

/* The element of type d that has the bits of the int64 n. */
static KRef with_bits_of(Lower *L, qs_dtype d, KRef n) {
    double lo, hi, count = ldexp(1, (int)(8 * qdtype_size(d)));
    if (d == QS_I64 || d == QS_U64) return n;
    qdtype_int_span(d, &lo, &hi);
    if (lo < 0)
        return klnum_pick(L, klnum_bin(L, K_LT, klnum_const(L, QS_I64, hi), n),
                          klnum_bin(L, K_SUB, n, klnum_const(L, QS_I64, count)), n);
    return klnum_pick(L, klnum_bin(L, K_LT, n, klnum_int(L, QS_I64, 0)),
                      klnum_bin(L, K_ADD, n, klnum_const(L, QS_I64, count)), n);
}

Num klnum_bits_beside(Lower *L, Elem e, Num a, Made m, qs_dtype as) {
    char text[100];
    double known;
    KRef n = klnum_ref(L, with_bits(L, e, a), QS_I64), out = n, which = klval_which(L, m);
    for (int d = QS_I8; d <= QS_U64; d++) {
        if (!(m.set >> d & 1)) continue;
        KRef is = klnum_bin(L, K_EQ, which, klnum_int(L, QS_I32, d));
        KRef holds = klnum_bin(L, K_OR, klnum_un(L, K_NOT, is), fits_bits(L, (qs_dtype)d, n));
        snprintf(text, sizeof text, KELEM_OTHER_BITS, kelem_name(e), "%0", (int)(8 * qdtype_size((qs_dtype)d)),
                 qdtype_info[d].name);
        if (!kir_is_const(L->f, holds, &known) || known == 0)
            klnum_emit(L, (KMake){K_CHECK, .a = holds, .b = n, .imm = (uint64_t)kir_message(L->f, QS_EVALUE, text)});
        out = klnum_pick(L, is, with_bits_of(L, (qs_dtype)d, n), out);
    }
    return klnum_strong(klnum_cast_ref(L, out, as), as);
}

static qs_status apply_bits(Lower *L, Elem e, Num a, Num b, Num *out) {
    if (qdtype_is_complex(a.dtype) || qdtype_is_complex(b.dtype))
        return klower_error(L, QS_ETYPE, L->pos, "bitwise operations need integers, not complex numbers");
    Num x[2] = {with_bits(L, e, a), with_bits(L, e, b)};
    qs_dtype d = klnum_join(L, x[0], x[1]);
    if (qdtype_is_real(d))
        return klower_error(L, QS_ETYPE, L->pos, "bitwise operations of uint64 beside a type with a sign: convert one");
    return *out = apply_row(L, e, x, d), QS_OK;
}

/* Inverts the bits of a number. */
Num klnum_flip(Lower *L, Num a) {
    if (a.dtype != QS_B1) a = with_bits(L, EL_bitnot, a);
    return apply_row(L, EL_bitnot, &a, a.dtype);
}

Num klnum_shift(Lower *L, Elem e, Num a, Num n, bool wide) {
    double lo, hi;
    a = with_bits(L, e, a), n = with_bits(L, e, n);
    qs_dtype d = a.dtype == QS_B1 ? QS_I32 : a.dtype, of_n = n.dtype == QS_B1 ? QS_I32 : n.dtype;
    bool literal = klnum_is_weak(a) && klnum_known(L, a, &lo) && klnum_known(L, n, &lo);
    if (wide || literal) d = QS_I64; /* it has the bits of a host number */
    KRef count = klnum_ref(L, n, of_n);
    bool never = klnum_range(L, count, &lo, &hi) && lo >= 0;
    if (L->indexing) d = d == QS_U64 ? d : QS_I64;
    return klnum_strong(kelem_shift(kbuild_rows(&L->walk), e, d, klnum_ref(L, a, d), count, of_n, never), d);
}

static qs_status apply_minmax(Lower *L, Elem e, Num a, Num b, Num *out) {
    if (qdtype_is_complex(a.dtype) || qdtype_is_complex(b.dtype))
        return klower_error(L, QS_ETYPE, L->pos, "complex numbers have no minimum or maximum");
    return *out = klnum_apply(L, e, (Num[]){a, b}), QS_OK;
}

/* A power with a known exponent: in an index, integral numbers stay integral; otherwise computed as for arrays. */
static bool power_known(Lower *L, Num a, double n, Num *out) {
    bool whole = L->indexing && n > 0 && klnum_is_integral(a), complex = qdtype_is_complex(a.dtype);
    qs_dtype r = whole ? QS_I64 : complex ? qdtype_real_of(a.dtype) : klnum_real_dtype(L, a);
    KPair z, x = {klnum_ref(L, a, r), complex ? klnum_part(L, a, 1, r) : 0};
    if (n == 0) return *out = klnum_literal(L, 1, true), true;
    if (!(whole && n != floor(n)) && kelem_power(kbuild_rows(&L->walk), r, x, n, &z))
        return *out = (Num){complex ? a.dtype : r, {.ref = z.re}, {.ref = z.im}}, true;
    return false;
}

static qs_status apply_power(Lower *L, Num a, Num b, Num *out) {
    double x = 0, n = 0;
    bool kx = klnum_known(L, a, &x), kn = klnum_known(L, b, &n), complex = qdtype_is_complex(b.dtype);
    double v;
    if (kx && kn && known_row(L, n == 0.5 ? EL_half_power : EL_pow, (Num[]){a, b}, &v))
        return *out = klnum_literal(L, v, klnum_is_integral(a) && v == floor(v) && fabs(v) < 0x1p31), QS_OK;
    if (kn && !complex && power_known(L, a, n, out)) return QS_OK;
    if (kx && x == 2 && !complex && !qdtype_is_complex(a.dtype)) return *out = klnum_apply(L, EL_exp2, &b), QS_OK;
    return *out = klnum_apply(L, EL_pow, (Num[]){a, b}), QS_OK;
}

qs_status klnum_binary(Lower *L, Op op, Num a, Num b, Num *out) {
    switch (op) {
    case OP_ADD: return *out = apply_arith(L, EL_add, WEAK_ADD, a, b), QS_OK;
    case OP_SUB: return *out = apply_arith(L, EL_sub, WEAK_SUB, a, b), QS_OK;
    case OP_MUL:
    case OP_PWMUL: return *out = apply_arith(L, EL_mul, WEAK_MUL, a, b), QS_OK;
    case OP_DIV:
    case OP_PWDIV: return *out = apply_arith(L, EL_div, WEAK_DIV, a, b), QS_OK;
    case OP_POW:
    case OP_PWPOW: return apply_power(L, a, b, out);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE: return apply_compare(L, op, a, b, out);
    case OP_ANDAND: return *out = klnum_strong(klnum_bin(L, K_AND, klnum_truth(L, a), klnum_truth(L, b)), QS_B1), QS_OK;
    case OP_OROR: return *out = klnum_strong(klnum_bin(L, K_OR, klnum_truth(L, a), klnum_truth(L, b)), QS_B1), QS_OK;
    case OP_BITAND: return apply_bits(L, EL_bitand, a, b, out);
    case OP_BITOR: return apply_bits(L, EL_bitor, a, b, out);
    case OP_BITXOR: return apply_bits(L, EL_bitxor, a, b, out);
    case OP_MAXEQ: return apply_minmax(L, EL_max, a, b, out);
    case OP_MINEQ: return apply_minmax(L, EL_min, a, b, out);
    default: return klower_error(L, QS_ETYPE, L->pos, "`%s` cannot be used in a kernel", qop_text(op));
    }
}

static Num apply_negate(Lower *L, Num a) {
    if (klnum_is_weak(a)) return klnum_from_weak(L, weak_op(L, WEAK_NEG, a.re.weak, NULL));
    return apply_row(L, EL_neg, &a, a.dtype == QS_B1 ? QS_I32 : a.dtype);
}

qs_status klnum_unary(Lower *L, Op op, Num a, Num *out) {
    if (op == OP_NEG) *out = apply_negate(L, a);
    else if (op == OP_NOT) *out = klnum_strong(klnum_un(L, K_NOT, klnum_truth(L, a)), QS_B1);
    else *out = a.dtype == QS_B1 ? klnum_cast(L, a, QS_I32) : a;
    return QS_OK;
}

/* -- functions ----------------------------------------------------------------------------------------------------- */
qs_dtype klnum_real_dtype(Lower *L, Num a) {
    if (klnum_is_weak(a)) return L->c->scalar_dtype;
    qs_dtype r = qdtype_real_of(a.dtype);
    return qdtype_is_real(r) ? r : L->c->scalar_dtype;
}

qs_dtype klnum_choice(Lower *L, Num a, Num b) {
    qs_dtype met = klnum_join(L, a, b);
    return qdtype_choose((Term){a.dtype, klnum_is_weak(a)}, (Term){b.dtype, klnum_is_weak(b)}, met, met);
}

Num klnum_select(Lower *L, KRef c, Num a, Num b) {
    double k;
    if (kir_is_const(L->f, c, &k)) return k != 0 ? a : b;
    qs_dtype d = klnum_choice(L, a, b);
    Num x = klnum_cast(L, a, d), y = klnum_cast(L, b, d);
    x.re.ref = klnum_pure(L, (KMake){K_SELECT, .a = c, .b = x.re.ref, .c = y.re.ref});
    if (qdtype_is_complex(d)) x.im.ref = klnum_pure(L, (KMake){K_SELECT, .a = c, .b = x.im.ref, .c = y.im.ref});
    return x;
}

qs_status klnum_choose(Lower *L, const Num *x, const void *ud, Num *out) {
    return (void)ud, *out = klnum_select(L, klnum_truth(L, x[0]), x[1], x[2]), QS_OK;
}
