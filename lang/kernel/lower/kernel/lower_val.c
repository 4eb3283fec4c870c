/* lower_val.c -- operates on values: small arrays, elementwise operations, type joins, type names. */
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/lower/kernel/lower_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- components ---------------------------------------------------------------------------------------------------- */
SmallShape klval_shape(const Val *v) {
    SmallShape s = {.rank = v->rank};
    memcpy(s.dims, v->dims, (size_t)s.rank * sizeof *s.dims);
    return s;
}

int64_t klval_count(const Val *v) {
    int64_t n = 1;
    for (int i = 0; i < v->rank; i++) n *= v->dims[i];
    return n;
}

static Comp *new_components(Lower *L, int64_t n, qs_dtype d) {
    size_t parts = qdtype_is_complex(d) ? 2 : 1;
    return qarena_alloc(L->arena, qmem_size((size_t)(n ? n : 1), parts * sizeof(Comp), 0));
}

static void put_component(Val *v, int64_t i, Num n) {
    if (!qdtype_is_complex(v->dtype)) v->at[i] = n.re;
    else v->at[2 * i] = n.re, v->at[2 * i + 1] = n.im;
}

Num klval_num(const Val *v, int64_t i) {
    if (!qdtype_is_complex(v->dtype)) return (Num){.dtype = v->dtype, .re = v->at[i]};
    return (Num){.dtype = v->dtype, .re = v->at[2 * i], .im = v->at[2 * i + 1]};
}

void klval_number(Lower *L, Num n, Val *out) {
    *out = (Val){.kind = V_NUM, .dtype = (uint8_t)n.dtype, .at = new_components(L, 1, n.dtype)};
    put_component(out, 0, n);
}

/* A number that represents the joined type d of both: only its dtype and its weakness matter. */
static Num join_types(Num a, Num b, qs_dtype d) {
    if (!klnum_is_weak(a) || !klnum_is_weak(b)) return klnum_strong(0, d);
    if (a.re.weak->integral != b.re.weak->integral) return a.re.weak->integral ? b : a;
    return a.re.weak->bound >= b.re.weak->bound ? a : b;
}

static Num type_of_all(Lower *L, const Num *nums, int64_t n) {
    Num t = n ? nums[0] : klnum_strong(0, L->c->scalar_dtype);
    for (int64_t i = 1; i < n; i++)
        if (nums[i].dtype != t.dtype || nums[i].re.weak != t.re.weak)
            t = join_types(t, nums[i], klnum_join(L, t, nums[i]));
    return t;
}

void klval_from_nums(Lower *L, Num *nums, int rank, const int64_t *dims, Val *out) {
    Val v = {.kind = V_NUM, .rank = (uint8_t)rank};
    for (int i = 0; i < rank; i++) v.dims[i] = dims[i];
    int64_t n = klval_count(&v);
    Num t = type_of_all(L, nums, n);
    v.dtype = (uint8_t)t.dtype;
    v.at = new_components(L, n, t.dtype);
    for (int64_t i = 0; i < n; i++) put_component(&v, i, klnum_is_weak(t) ? nums[i] : klnum_cast(L, nums[i], t.dtype));
    *out = v;
}

void klval_vector(Lower *L, Num *nums, int64_t n, Val *out) { klval_from_nums(L, nums, 1, &n, out); }

static Num *new_nums(Lower *L, int64_t n) {
    return qarena_alloc(L->arena, qmem_size((size_t)(n ? n : 1), sizeof(Num), 0));
}

void klval_zero(Lower *L, qs_dtype d, int rank, const int64_t *dims, double fill, Val *out) {
    *out = (Val){.kind = V_NUM, .dtype = (uint8_t)d, .rank = (uint8_t)rank};
    for (int i = 0; i < rank; i++) out->dims[i] = dims[i];
    int64_t n = klval_count(out);
    out->at = new_components(L, n, d);
    Num k = klnum_cast(L, klnum_literal(L, fill, false), d);
    for (int64_t i = 0; i < n; i++) put_component(out, i, k);
}

static qs_status memory_components(Lower *L, Val v, Val *out) {
    int64_t n = klval_count(&v);
    int parts = qdtype_is_complex(v.dtype) ? 2 : 1;
    Num *nums = new_nums(L, n);
    for (int64_t i = 0; i < n * parts; i++) {
        KRef part = klnum_emit(L, (KMake){K_ALOAD, .a = v.u.mem->ref, .b = klnum_int(L, QS_I32, i)});
        if (i % parts) nums[i / 2].im.ref = part;
        else nums[i / parts] = klnum_strong(part, v.dtype);
    }
    klval_from_nums(L, nums, v.rank, v.dims, out);
    return out->made = v.made, QS_OK;
}

static qs_status check_size(Lower *L, const Val *v) {
    if (klval_count(v) <= KLOWER_UNROLL) return QS_OK;
    return klower_error(L, QS_ESHAPE, L->pos,
                        "%s is too big to be computed with as a whole in a kernel (%d elements at most)",
                        klval_type_name(L, v), KLOWER_UNROLL);
}

qs_status klval_components(Lower *L, const Val *v, Val *out) {
    switch (v->kind) {
    case V_UNKNOWN:
    case V_NUM: return *out = *v, QS_OK;
    case V_MEMORY: TRY(check_size(L, v)); return memory_components(L, *v, out); /* v may be *out */
    case V_ARRAY:
        for (int i = 0; i < v->rank; i++)
            if (v->dims[i] < 0) return klower_need(L, v->u.array->host.source, i, v->rank);
        TRY(check_size(L, v));
        return klidx_load_all(L, v, out);
    default: return klower_error(L, QS_ETYPE, L->pos, "a number or an array is wanted, got %s", klval_type_name(L, v));
    }
}

qs_status klval_one(Lower *L, const Val *v, const char *what, Num *out) {
    if (v->kind == V_NUM && klval_count(v) == 1) return *out = klval_num(v, 0), QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s must be a number, got %s", what, klval_type_name(L, v));
}

qs_status klval_truth(Lower *L, const Val *v, KRef *out, int *known) {
    double k;
    *known = -1, *out = 0;
    if (v->kind == V_UNKNOWN) return QS_OK;
    Val all;
    TRY(klval_components(L, v, &all));
    KRef r = klnum_int(L, QS_B1, 1);
    for (int64_t i = 0, n = klval_count(&all); i < n; i++)
        r = klnum_bin(L, K_AND, r, klnum_truth(L, klval_num(&all, i)));
    if (kir_is_const(L->f, r, &k)) *known = k != 0;
    return *out = r, QS_OK;
}

/* -- numbers that must be known when the kernel is compiled -------------------------------------------------------- */
static qs_status need_of_weak(Lower *L, const Weak *w) {
    if (w->op == WEAK_PARAM) return klower_need(L, w->source, -1, 0);
    if (w->a && w->a->op != WEAK_CONST) return need_of_weak(L, w->a);
    return w->b ? need_of_weak(L, w->b) : QS_OK;
}

static qs_status need_of_ref(Lower *L, KRef r) {
    const KIns *i = &L->f->ins[r];
    switch (i->op) {
    case K_BLKDIM: return L->out->needs_block = true, L->stopped = true, QS_EINTERNAL;
    case K_PARAM: return klower_need(L, L->binds[i->imm].source, -1, 0);
    case K_LOAD: return klower_need(L, L->binds[i->imm].source, -1, 0);
    case K_DIM:
        return klower_need(L, L->binds[i->imm >> 8].source, (int)(i->imm & 255), L->f->params[i->imm >> 8].rank);
    default: break;
    }
    if (kir_ops[i->op].effect != KE_PURE) return QS_OK;
    KRef operands[] = {i->a, i->b, i->c};
    for (int k = 0; k < 3; k++)
        if (operands[k]) TRY(need_of_ref(L, operands[k]));
    return QS_OK;
}

/* Whether the instruction has the same value at every position, known before the launch. */
static bool is_early(const KIns *i) {
    switch ((KOp)i->op) {
    case K_STRIDE:
    case K_POS:
    case K_BLKPOS:
    case K_BLKIDX:
    case K_BLKCNT: return false;
    default: return kir_ops[i->op].effect == KE_PURE;
    }
}

bool klval_is_early(Lower *L, KRef r) {
    bool *asked = memset(qarena_alloc(L->arena, (size_t)r + 1), 0, (size_t)r + 1);
    asked[r] = true;
    for (KRef k = r; k; k--) {
        const KIns *i = &L->f->ins[k];
        if (!asked[k]) continue;
        if (!is_early(i)) return false;
        asked[i->a] = asked[i->b] = asked[i->c] = true;
    }
    return true;
}

qs_status klval_need(Lower *L, Num n) { return n.re.weak ? need_of_weak(L, n.re.weak) : need_of_ref(L, n.re.ref); }

static qs_status known_size(Lower *L, Num n, const char *what, int64_t *out) {
    double v;
    if (klnum_known(L, n, &v)) {
        if (v < 0 || v != floor(v) || v > 0x1p31)
            return klower_error(L, QS_EVALUE, L->pos, "%s must be an integer ≥ 0, got %g", what, v);
        return *out = (int64_t)v, QS_OK;
    }
    TRY(klval_need(L, n));
    return klower_error(L, QS_EVALUE, L->pos, "%s must be known before the kernel runs", what);
}

qs_status klval_constants(Lower *L, const Val *v, const char *what, int64_t *out, int max, int *n) {
    Val all;
    TRY(klval_components(L, v, &all));
    int64_t count = klval_count(&all);
    if (all.rank > 1 || count > max)
        return klower_error(L, QS_ESHAPE, L->pos, "%s must be at most %d numbers, got %s", what, max,
                            klval_type_name(L, v));
    for (int i = 0; i < (int)count; i++) TRY(known_size(L, klval_num(&all, i), what, &out[i]));
    return *n = (int)count, QS_OK;
}

/* -- element types that arrays keep -------------------------------------------------------------------------------- */
qs_dtype klval_element(const Val *v) { return v->u.array->converts ? v->u.array->as : (qs_dtype)v->dtype; }

ArrayRef *klval_declare_elements(Lower *L, Val *v, qs_dtype d) {
    ArrayRef *a = qarena_alloc(L->arena, sizeof *a), *given = v->u.array;
    *a = *given, a->converts = true, a->as = d, a->declared = NULL;
    if (given->converts) a->under = given;
    return v->u.array = a;
}

Made klval_made_of(const Val *v) {
    bool number = v->kind == V_NUM && !v->rank && v->at && !klnum_is_weak(klval_num(v, 0));
    if (number && !qdtype_is_complex(v->dtype) && !qdtype_is_real(v->dtype))
        return v->made.set & MADE_ANY ? (Made){0} : klval_made(QS_I64);
    return v->kind == V_ARRAY ? klval_made(klval_element(v)) : v->made;
}

KRef klval_which(Lower *L, Made m) {
    int d = 0;
    if (m.which) return m.which;
    while (d < QS_NDTYPES && !(m.set >> d & 1)) d++;
    return klnum_int(L, QS_I32, d);
}

static uint16_t set_of_either(Made a, Made b) {
    return (uint16_t)(a.set == b.set ? a.set : (a.set ? a.set : MADE_ANY) | (b.set ? b.set : MADE_ANY));
}

Made klval_made_either(Lower *L, KRef c, const Val *a, const Val *b) {
    Made x = klval_made_of(a), y = klval_made_of(b);
    if (x.set == y.set && !x.which && !y.which) return x;
    return (Made){set_of_either(x, y), klnum_pick(L, c, klval_which(L, x), klval_which(L, y))};
}

/* The element type of two combined: the same type is kept if `keeps`, others are promoted as in arithmetic. */
static int combine_types(bool keeps, int a, int b) {
    if (a == QS_NDTYPES || b == QS_NDTYPES || (keeps && a == b)) return a > b ? a : b;
    qs_dtype d = qdtype_promote((qs_dtype)a, (qs_dtype)b);
    return qdtype_is_int(d) ? (int)d : QS_NDTYPES;
}

/* Combines two element types that depend on the path taken at run time. */
static Made met_by_path(Lower *L, bool keeps, Made a, Made b) {
    KRef x = klval_which(L, a), y = klval_which(L, b), which = klnum_int(L, QS_I32, QS_NDTYPES);
    Made out = {0, 0};
    for (int d = 0; d <= QS_NDTYPES; d++)
        for (int e = 0; e <= QS_NDTYPES; e++) {
            if (!(a.set >> d & 1) || !(b.set >> e & 1)) continue;
            KRef here = klnum_bin(L, K_AND, klnum_bin(L, K_EQ, x, klnum_int(L, QS_I32, d)),
                                  klnum_bin(L, K_EQ, y, klnum_int(L, QS_I32, e)));
            which = klnum_pick(L, here, klnum_int(L, QS_I32, combine_types(keeps, d, e)), which);
            out.set |= (uint16_t)(1 << combine_types(keeps, d, e));
        }
    return out.which = which, out;
}

/* Integral host numbers beside 64-bit elements take the elements' type if it can hold them (operand.c). */
static bool counts_as(Lower *L, const Val *v, qs_dtype d) {
    double x;
    if (v->kind != V_NUM || v->rank || !v->at || !v->at[0].weak) return false;
    const Weak *w = v->at[0].weak;
    bool least = d == QS_I64 || !klnum_known(L, klval_num(v, 0), &x) || x >= 0;
    return least && (w->integral || (w->whole && w->bound <= 0x1p53));
}

/* The element types of n values; chosen: integral numbers count as 64-bit elements. */
static void made_of_all(Lower *L, const Val *v, int n, bool chosen, Made *out) {
    qs_dtype d = QS_B1;
    for (int i = 0; i < n; i++) {
        out[i] = klval_made_of(&v[i]);
        for (qs_dtype wide = QS_I64; wide <= QS_U64; wide++)
            if (v[i].rank && out[i].set == klval_made(wide).set) d = wide;
    }
    for (int i = 0; i < n && chosen && d != QS_B1; i++)
        if (counts_as(L, &v[i], d)) out[i] = klval_made(d);
}

static bool is_bits(Elem e) { return e == EL_bitand || e == EL_bitor || e == EL_bitxor; }

static void make_together(Lower *L, Val *out, const Made *m, int n, bool keeps) {
    bool by_path = false;
    Made all = m[0];
    out->made = (Made){0};
    for (int i = 0; i < n; i++) by_path |= m[i].which != 0;
    for (int i = 0; i < n; i++)
        if (!m[i].set || !out->rank) return;
    for (int i = 1; i < n; i++)
        if (by_path) all = met_by_path(L, keeps, all, m[i]);
        else keeps &= m[i].set == all.set;
    if (by_path && n == 1 && !keeps) all = met_by_path(L, false, all, all);
    out->made = keeps || by_path ? all : klval_made((qs_dtype)out->dtype);
}

void klval_make_together(Lower *L, Val *out, const Val *v, int n, bool keeps) {
    Made *m = qarena_alloc(L->arena, qmem_size((size_t)n, sizeof *m, 0));
    made_of_all(L, v, n, keeps, m);
    make_together(L, out, m, n, keeps);
}

/* Sets the element type of an elementwise result as on the host: integers if all operands are, truth values always. */
static void make_each(Lower *L, Val *out, Elem e, const Val *v, int n) {
    Made m[KLVAL_OPERANDS];
    bool row = e < EL__COUNT && e != EL_neg, first = row && kelem_info[e].integers == ELEM_FIRST, numbers = is_bits(e);
    made_of_all(L, v, n, row && (kelem_keeps(e) || e == EL_mod), m);
    bool truths = m[0].set == klval_made(QS_B1).set;
    if (first && !v[0].rank) m[0] = klval_made(QS_I64);
    for (int i = 0; i < n && numbers; i++) /* bit operations: a number has the type of the elements */
        if (!v[i].rank && v[!i].rank) m[i] = m[!i] = m[!i].set == klval_made(QS_B1).set ? klval_made(QS_I32) : m[!i];
    make_together(L, out, m, first ? 1 : n, row && (kelem_keeps(e) || (truths && kelem_is_mask(e, QS_B1, QS_B1))));
    if (out->rank && out->dtype == QS_B1) out->made = klval_made(QS_B1);
}

/* Gives a number in a bit operation as many bits as the elements beside it. */
static void share_bits(Lower *L, Elem e, Val *v) {
    for (int i = 0; i < 2; i++)
        if (!v[i].rank && v[!i].rank && v[!i].dtype != QS_B1 && qdtype_is_int(v[!i].dtype))
            klval_number(L, klnum_bits_beside(L, e, klval_num(&v[i], 0), klval_made_of(&v[!i]), v[!i].dtype), &v[i]);
}

/* Fits a result that was computed as int into the elements' narrower type: bits are truncated, numbers saturate. */
static Num fit_into_type(Lower *L, Elem e, Made m, Num n) {
    Num out = n;
    for (int d = QS_B1; d <= QS_U32; d++) {
        double lo = 0, hi = 1;
        if (d != QS_B1) qdtype_int_span((qs_dtype)d, &lo, &hi);
        if (!(m.set >> d & 1) || n.dtype == QS_B1 || (e == EL_bitnot ? lo < 0 : d == QS_B1)) continue;
        if (d == QS_I32 || (d == QS_U32 && (e != EL_bitnot || n.dtype == QS_U32))) continue;
        KRef flipped = e == EL_bitnot ? klnum_bin(L, K_ADD, n.re.ref, klnum_const(L, n.dtype, hi + 1)) : 0;
        Num cut = flipped ? klnum_strong(flipped, n.dtype) : klnum_narrow(L, n, (qs_dtype)d);
        out = klnum_select(L, klnum_bin(L, K_EQ, klval_which(L, m), klnum_int(L, QS_I32, d)), cut, out);
    }
    return out;
}

static void recast_components(Lower *L, Val *v, qs_dtype d) {
    int64_t count = klval_count(v);
    Num *nums = new_nums(L, count);
    for (int64_t k = 0; k < count; k++) nums[k] = klnum_cast(L, klval_num(v, k), d);
    klval_from_nums(L, nums, v->rank, v->dims, v);
}

/* Makes elements of uint8 and uint16, which are computed as ints, unsigned beside wider unsigned operands. */
static void drop_sign(Lower *L, const Val *args, Val *v, int n) {
    uint16_t narrow = klval_made(QS_U8).set | klval_made(QS_U16).set;
    bool wide = false;
    for (int i = 0; i < n; i++) wide |= v[i].dtype == QS_U32 || v[i].dtype == QS_U64;
    for (int i = 0; i < n && wide; i++) {
        uint16_t set = klval_made_of(&args[i]).set;
        if (v[i].dtype != QS_I32 || !set || set & ~narrow) continue;
        recast_components(L, &v[i], QS_U32);
    }
}

static bool is_arith(Elem e) { return e == EL_add || e == EL_sub || e == EL_mul || e == EL_neg; }

/* If element types depend on the path, arithmetic is done in 64 bits and wrapped to the type of the path taken. */
static bool widen_by_path(Lower *L, Elem e, const Val *args, Val *v, int n) {
    bool by_path = false;
    for (int i = 0; i < n && is_arith(e); i++) by_path |= v[i].rank && klval_made_of(&args[i]).which;
    for (int i = 0; i < n; i++) by_path = by_path && v[i].dtype <= QS_I64;
    for (int i = 0; i < n && by_path; i++)
        if (!klval_count(&v[i]) || !v[i].at[0].weak) recast_components(L, &v[i], QS_I64);
    return by_path;
}

static void wrap_by_path(Lower *L, Val *v) {
    for (int64_t i = 0, n = v->dtype == QS_I64 ? klval_count(v) : 0; i < n; i++) {
        KRef x = v->at[i].ref, by = klnum_int(L, QS_I64, 32);
        KRef sign = klnum_bin(L, K_SHR, klnum_bin(L, K_SHL, x, by), by);
        KRef none = klnum_bin(L, K_AND, x, klnum_const(L, QS_I64, UINT32_MAX));
        x = klnum_pick(L, klnum_bin(L, K_EQ, klval_which(L, v->made), klnum_int(L, QS_I32, QS_I32)), sign, x);
        x = klnum_pick(L, klnum_bin(L, K_EQ, klval_which(L, v->made), klnum_int(L, QS_I32, QS_U32)), none, x);
        v->at[i].ref = x;
    }
}

/* Declines operations whose result would depend on uint64 or uint32 elements on only one path. */
static qs_status check_wraps(Lower *L, Elem e, const Val *v, int n) {
    bool shifts = e == EL_shl || e == EL_shr, less = e == EL_sub || e == EL_neg || e == EL_bitnot;
    for (int i = 0; i < n && (shifts || less || is_bits(e)); i++) {
        Made m = klval_made_of(&v[i]);
        bool longest = m.set & klval_made(QS_U64).set, wide = longest || m.set & klval_made(QS_U32).set;
        if (v[i].rank && m.which && (shifts ? wide : longest && (less || qdtype_is_real(v[i].dtype))))
            return klower_error(L, QS_ETYPE, L->pos,
                                "%s of elements that are %s on one path and of another type on another: convert them",
                                kelem_name(e), qdtype_info[longest ? QS_U64 : QS_U32].name);
    }
    return QS_OK;
}

/* -- elementwise --------------------------------------------------------------------------------------------------- */
qs_status klval_each(Lower *L, Elem e, const Val *args, int n, MapFn *f, const void *ud, Val *out) {
    Val v[KLVAL_OPERANDS];
    SmallShape of[KLVAL_OPERANDS], s;
    for (int k = 0; k < n; k++)
        if (args[k].kind == V_UNKNOWN) return *out = (Val){0}, QS_OK;
    for (int k = 0; k < n; k++) {
        TRY(klval_components(L, &args[k], &v[k]));
        if (v[k].kind == V_UNKNOWN) return *out = v[k], QS_OK;
        of[k] = klval_shape(&v[k]);
    }
    TRY(check_wraps(L, e, args, n));
    int odd = ksmall_meet(of, n, &s);
    if (odd < n)
        return klower_error(L, QS_ESHAPE, L->pos, "sizes do not match: %s and %s", klval_type_name(L, &args[odd - 1]),
                            klval_type_name(L, &args[odd]));
    int64_t count = ksmall_count(&s);
    Num *nums = new_nums(L, count), x[KLVAL_OPERANDS];
    if (is_bits(e)) share_bits(L, e, v);
    drop_sign(L, args, v, n);
    bool wide = widen_by_path(L, e, args, v, n);
    bool own = e < EL__COUNT && n == 1 && s.rank && kelem_info[e].integers == ELEM_INTEGERS;
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < n; k++) x[k] = klval_num(&v[k], ksmall_source(&s, i, &of[k]));
        TRY(f(L, x, ud, &nums[i]));
        if (own) nums[i] = fit_into_type(L, e, klval_made_of(&args[0]), nums[i]);
    }
    klval_from_nums(L, nums, s.rank, s.dims, out);
    make_each(L, out, e, args, n);
    if (wide && out->made.which) wrap_by_path(L, out);
    return QS_OK;
}

static qs_status binary_one(Lower *L, const Num *x, const void *op, Num *out) {
    return klnum_binary(L, (Op) * (const int *)op, x[0], x[1], out);
}

static qs_status unary_one(Lower *L, const Num *x, const void *op, Num *out) {
    return klnum_unary(L, (Op) * (const int *)op, *x, out);
}

static qs_status compare_strings(Lower *L, Op op, const Val *a, const Val *b, Val *out) {
    if (a->kind != b->kind || (op != OP_EQ && op != OP_NE))
        return klower_error(L, QS_ETYPE, L->pos, "`%s` does not apply to %s and %s in a kernel", qop_text(op),
                            klval_type_name(L, a), klval_type_name(L, b));
    klval_number(L, klnum_strong(klnum_int(L, QS_B1, qstr_equal(a->u.str, b->u.str) == (op == OP_EQ)), QS_B1), out);
    return QS_OK;
}

static qs_status matmul(Lower *L, const Val *a, const Val *b, Val *out) {
    Val x, y;
    Product p;
    TRY(klval_components(L, a, &x));
    TRY(klval_components(L, b, &y));
    SmallShape left = klval_shape(&x), right = klval_shape(&y);
    if (x.rank > 2 || y.rank > 2)
        return klower_error(L, QS_ESHAPE, L->pos,
                            "`*` multiplies matrices, got %s and %s; use `.*` for the elementwise product",
                            klval_type_name(L, a), klval_type_name(L, b));
    if (!ksmall_product(&left, &right, &p))
        return klower_error(L, QS_ESHAPE, L->pos,
                            "`*` is the matrix product: %s and %s do not fit; use `.*` or dotprod",
                            klval_type_name(L, a), klval_type_name(L, b));
    SmallShape shape = ksmall_matrix(p.rows, p.cols);
    int64_t n = ksmall_count(&shape);
    Num *nums = new_nums(L, n);
    for (int64_t i = 0; i < n; i++) {
        Num sum = klnum_literal(L, 0, true), term;
        for (int64_t k = 0; k < p.depth; k++) {
            TRY(klnum_binary(L, OP_MUL, klval_num(&x, ksmall_left(&p, i, k)), klval_num(&y, ksmall_right(&p, i, k)),
                             &term));
            if (k == 0) sum = term;
            else TRY(klnum_binary(L, OP_ADD, sum, term, &sum));
        }
        nums[i] = sum;
    }
    klval_from_nums(L, nums, shape.rank, shape.dims, out);
    return klval_make_together(L, out, (Val[]){x, y}, 2, false), QS_OK;
}

static bool is_product(Op op, const Val *a, const Val *b) {
    return op == OP_MUL && a->kind != V_UNKNOWN && b->kind != V_UNKNOWN && a->rank && b->rank;
}

qs_status klval_binary(Lower *L, Op op, const Val *a, const Val *b, Val *out) {
    int which = (int)op;
    if (a->kind == V_STRING || b->kind == V_STRING) return compare_strings(L, op, a, b, out);
    if (is_product(op, a, b)) return matmul(L, a, b, out);
    return klval_each(L, kelem_operator(op), (Val[]){*a, *b}, 2, binary_one, &which, out);
}

qs_status klval_unary(Lower *L, Op op, const Val *a, Val *out) {
    int which = (int)op;
    return klval_each(L, op == OP_NEG ? EL_neg : EL_real, a, 1, unary_one, &which, out);
}

/* -- conversions and types ----------------------------------------------------------------------------------------- */
void klval_narrow(Lower *L, const Val *v, qs_dtype d, Val *out) {
    int64_t n = klval_count(v);
    Num *nums = new_nums(L, n);
    for (int64_t i = 0; i < n; i++) nums[i] = klnum_narrow(L, klval_num(v, i), d);
    klval_from_nums(L, nums, v->rank, v->dims, out);
    out->is_pos = v->is_pos && n && qdtype_is_int(d);
}

/* The number that represents the type of v: a weak one if its components are weak. */
static Num type_num(Lower *L, const Val *v) {
    if (!v->at || !v->at[0].weak) return klnum_strong(0, v->dtype);
    int64_t n = klval_count(v);
    Num t = klval_num(v, 0);
    for (int64_t i = 1; i < n; i++) t = join_types(t, klval_num(v, i), klnum_join(L, t, klval_num(v, i)));
    return t;
}

static bool same_dims(const Val *a, const Val *b) {
    return a->rank == b->rank && !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

/* Makes a type value that is kept from pass to pass, so a weak number is copied without its operands. */
static void make_type(Lower *L, Num t, const Val *shape, Val *out) {
    Val v = {.kind = V_NUM, .dtype = (uint8_t)t.dtype, .rank = shape->rank};
    if (v.rank) v.made.set = shape->made.set;
    memcpy(v.dims, shape->dims, sizeof v.dims);
    if (klnum_is_weak(t)) {
        int64_t n = klval_count(&v);
        Weak *w = qarena_alloc(L->keep, sizeof *w);
        *w = *t.re.weak, w->a = w->b = NULL;
        v.at = qarena_alloc(L->keep, qmem_size((size_t)(n ? n : 1), sizeof *v.at, 0));
        for (int64_t i = 0; i < n; i++) v.at[i].weak = w;
    }
    *out = v;
}

bool klval_join(Lower *L, const Val *a, const Val *b, Val *out) {
    if (a->kind == V_UNKNOWN) return make_type(L, type_num(L, b), b, out), true;
    if (a->rank && b->rank && !same_dims(a, b)) return false;
    Num x = type_num(L, a), y = type_num(L, b);
    make_type(L, join_types(x, y, klnum_choice(L, x, y)), a->rank ? a : b, out);
    if (a->rank && b->rank) out->made.set = set_of_either(a->made, b->made);
    return true;
}

bool klval_same(const Val *a, const Val *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case V_ARRAY: return a->u.array->host.source == b->u.array->host.source && a->rank == b->rank;
    case V_MEMORY: return a->u.mem->ref == b->u.mem->ref;
    case V_FUNC:
        return a->u.fn->func == b->u.fn->func && a->u.fn->builtin == b->u.fn->builtin &&
               a->u.fn->captures == b->u.fn->captures;
    case V_STRING: return qstr_equal(a->u.str, b->u.str);
    case V_TYPE: return a->u.type == b->u.type;
    case V_OBJECT: return a->u.rec == b->u.rec;
    default: return false;
    }
}

/* -- names for messages -------------------------------------------------------------------------------------------- */
static const char *scalar_name(Lower *L, qs_dtype d) {
    if (d == L->c->scalar_dtype) return "scalar";
    if (d == qdtype_complex_of(L->c->scalar_dtype)) return "cscalar";
    return qdtype_info[d].name;
}

const char *klval_type_name(Lower *L, const Val *v) {
    static const char *const shapes[] = {"scalar", "vec", "mat", "cube"};
    static const char *const kinds[] = {[V_UNKNOWN] = "an unknown type",
                                        [V_VOID] = "nothing",
                                        [V_FUNC] = "a function",
                                        [V_STRING] = "a string",
                                        [V_TYPE] = "a type",
                                        [V_OBJECT] = "an object",
                                        [V_COLON] = "`:`"};
    if (v->kind == V_OBJECT && v->u.rec->type)
        return qtype_name(v->rank ? qtype_array(L->c, v->u.rec->type, v->rank) : v->u.rec->type);
    if (v->kind != V_NUM && v->kind != V_ARRAY && v->kind != V_MEMORY) return kinds[v->kind];
    if (v->rank == 0) return scalar_name(L, v->dtype);
    char *s = qarena_alloc(L->arena, 96), *p = s;
    p += v->rank < 4 ? snprintf(p, 16, "%s", shapes[v->rank]) : snprintf(p, 16, "cube{%d}", v->rank);
    for (int i = 0; v->kind != V_ARRAY && i < v->rank && p < s + 60; i++)
        p += snprintf(p, 12, i ? "x%d" : "%d", (int)v->dims[i]);
    if (v->dtype != L->c->scalar_dtype) snprintf(p, 24, "[%s]", scalar_name(L, v->dtype));
    return s;
}
