/* kir.c -- builds KIR, folds constants, matches regions and computes the hash of a kernel; see kir.h. */
#include "lang/kernel/ir/sem.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

const KOpInfo kir_ops[K__COUNT] = {
#define KIR(op, effect, a, b, c, imm, result, flag)                                                                    \
    [K_##op] = {#op, KE_##effect, KARG_##a, KARG_##b, KARG_##c, KI_##imm, KR_##result, KF_##flag},
#include "lang/kernel/ir/kir.def"
};
const MathFnInfo kir_math[MF__COUNT] = {
#define MATHFN(id, nargs, f32, f64, how32, how64, libmvec, estimate, before, after, ...)                               \
    [MF_##id] = {#id,        nargs,        {MATH_##how32, MATH_##how64},                                               \
                 libmvec,    {#f32, #f64}, {"__nv_" #f32, "__nv_" #f64},                                               \
                 estimate,   before,       after,                                                                      \
                 __VA_ARGS__},
#include "lang/kernel/ir/mathfn.def"
};
_Static_assert(K__COUNT <= 64, "KIns.op and the evaluator's tables count on few ops");
_Static_assert(sizeof(KIns) == 32, "an instruction is half a cache line");
_Static_assert(sizeof(KSlot) == 8 && sizeof(double) == 8 && sizeof(float) == 4, "slots are 64 bits");

/* -- building ------------------------------------------------------------------------------------------------------ */
KFunc *kir_new(Ctx *c, Arena *arena, Str *name, const Source *src) {
    KFunc *f = qarena_alloc(arena, sizeof *f);
    f->arena = arena, f->ctx = c, f->name = name, f->src = src;
    f->rank = 1;
    f->cap = 64;
    f->ins = qarena_alloc(arena, qmem_size(f->cap, sizeof *f->ins, 0));
    f->nins = 1;
    return f;
}

static KIns *append(KFunc *f) {
    if (f->nins == f->cap) {
        KIns *more = qarena_alloc(f->arena, qmem_size(f->cap, 2 * sizeof *more, 0));
        memcpy(more, f->ins, f->cap * sizeof *more);
        f->ins = more, f->cap *= 2;
    }
    return &f->ins[f->nins++];
}

static qs_dtype result_dtype(const KFunc *f, const KMake *i) {
    switch ((KResultUse)kir_ops[i->op].result) {
    case KR_own: return i->own;
    case KR_same: return f->ins[i->a].dtype;
    case KR_of_b: return f->ins[i->b].dtype;
    case KR_i64: return QS_I64;
    case KR_bool:
    case KR_none: break;
    }
    return QS_B1;
}

KRef kir_add(KFunc *f, KMake i) {
    assert(i.a < f->nins && i.b < f->nins && i.c < f->nins);
    *append(f) = (KIns){.op = (uint8_t)i.op,
                        .dtype = (uint8_t)result_dtype(f, &i),
                        .flag = (uint16_t)i.flag,
                        .a = i.a,
                        .b = i.b,
                        .c = i.c,
                        .pos = i.pos,
                        .imm = i.imm};
    return f->nins - 1;
}

KRef kir_const_bits(KFunc *f, qs_dtype d, uint64_t bits, uint32_t pos) {
    return kir_add(f, (KMake){K_CONST, .own = d, .imm = bits, .pos = pos});
}

KRef kir_const_int(KFunc *f, qs_dtype d, int64_t v, uint32_t pos) {
    return kir_const_bits(f, d, ksem_pure(K_CAST, 0, QS_I64, d, (KSlot){.I64 = v}, (KSlot){0}, (KSlot){0}).bits, pos);
}

KRef kir_const_num(KFunc *f, qs_dtype d, double v, uint32_t pos) {
    return kir_const_bits(f, d, ksem_pure(K_CAST, 0, QS_F64, d, (KSlot){.F64 = v}, (KSlot){0}, (KSlot){0}).bits, pos);
}

/* Returns a copy of an array with room for one more element; these arrays are short. */
static void *grown(Arena *arena, const void *old, int n, size_t elem) {
    char *p = qarena_alloc(arena, qmem_size((size_t)n, elem, elem));
    if (n) memcpy(p, old, (size_t)n * elem);
    return p;
}

int kir_param(KFunc *f, const KParam *p) {
    f->params = grown(f->arena, f->params, f->nparams, sizeof *p);
    f->params[f->nparams] = *p;
    return f->nparams++;
}

int kir_message(KFunc *f, qs_status s, const char *text) {
    Str *t = qstr_cname(f->ctx, text);
    for (int i = 0; i < f->nmessages; i++)
        if (f->messages[i].text == t && f->messages[i].status == s) return i;
    f->messages = grown(f->arena, f->messages, f->nmessages, sizeof *f->messages);
    f->messages[f->nmessages] = (KMessage){t, s};
    return f->nmessages++;
}

bool kir_is_const(const KFunc *f, KRef r, double *v) {
    const KIns *i = &f->ins[r];
    if (!r || i->op != K_CONST) return false;
    *v = ksem_pure(K_CAST, 0, i->dtype, QS_F64, (KSlot){i->imm}, (KSlot){0}, (KSlot){0}).F64;
    return true;
}

bool kir_stores(const KFunc *f, KRef first, KRef last, uint64_t param) {
    for (KRef r = first; r < last; r++)
        if (f->ins[r].op == K_STORE && f->ins[r].imm == param) return true;
    return false;
}

bool kir_sets(const KFunc *f, KRef first, KRef last, KRef local) {
    for (KRef r = first; r < last; r++)
        if (f->ins[r].op == K_SET && f->ins[r].a == local) return true;
    return false;
}

bool kir_steps_by_one(const KFunc *f, KRef loop) {
    double c;
    return kir_is_const(f, f->ins[loop].c, &c) && (c == 1 || c == -1);
}

bool kir_counts_by_one(const KFunc *f, KRef loop) {
    double step;
    const KIns *i = &f->ins[loop];
    return i->op == K_FOR && i->dtype == QS_I64 && kir_is_const(f, i->c, &step) && step == 1;
}

/* -- folding ------------------------------------------------------------------------------------------------------- */
enum { PAIR = 16, /* combines (op, dtype) in one number for a switch */ SIGN_DEPTH = 6 /* operands of operands */ };
_Static_assert((int)QS_NDTYPES <= (int)PAIR, "dtypes in a pair");

#define UNARY(op, D, R)                                                                                                \
    case K_##op *PAIR + QS_##D:                                                                                        \
        r.R = ksem_##op##_##D(a.D);                                                                                    \
        return r;
#define BINARY(op, D, R)                                                                                               \
    case K_##op *PAIR + QS_##D:                                                                                        \
        r.R = ksem_##op##_##D(a.D, b.D);                                                                               \
        return r;
#define CONVERT(D, R)                                                                                                  \
    case QS_##D *PAIR + QS_##R: r.R = ksem_CAST_##D##_##R(a.D); return r;

static KSlot fold_cast(qs_dtype from, qs_dtype to, KSlot a) {
    KSlot r = {0};
    switch ((int)from * PAIR + (int)to) { KSEM_CAST(CONVERT) }
    return r;
}

static KSlot fold_arith(KOp op, qs_dtype from, KSlot a, KSlot b) {
    KSlot r = {0};
    switch ((int)op * PAIR + (int)from) { KSEM_UNARY(UNARY) KSEM_BINARY(BINARY) }
    return r;
}

static KSlot fold_math(MathFn fn, qs_dtype d, KSlot a, KSlot b) {
    KSlot r = {0};
    if (d == QS_F32) r.F32 = (float)keval_math(fn, d, (double)a.F32, (double)b.F32);
    else r.F64 = keval_math(fn, d, a.F64, b.F64);
    return r;
}

static KSlot canonical(qs_dtype d, KSlot r) {
    if (d == QS_I32) r.I64 = r.I32;
    return r;
}

KSlot ksem_pure(KOp op, uint16_t flag, qs_dtype from, qs_dtype to, KSlot a, KSlot b, KSlot c) {
    KSlot r = {0};
    switch (op) {
    case K_BOUND: r.I64 = ksem_bound((AccessMode)flag, a.I64, b.I64); break;
    case K_INB: r.B1 = ksem_inb(a.I64, b.I64); break;
    case K_SELECT: r = a.B1 ? b : c; break;
    case K_ANALYTIC: r = a; break;
    case K_CAST: r = fold_cast(from, to, a); break;
    case K_MATH: r = fold_math((MathFn)flag, to, a, b); break;
    default: r = fold_arith(op, from, a, b); break;
    }
    return canonical(to, r);
}

/* Returns whether r is the constant v, 0 or 1.  For floats, only +0 counts as 0. */
static bool is_value(const KFunc *f, KRef r, int v) {
    const KIns *i = &f->ins[r];
    return r && i->op == K_CONST && i->imm == fold_cast(QS_I32, (qs_dtype)i->dtype, (KSlot){.I32 = v}).bits;
}

/* Finds the range of an index, if it is easy to see. */
static bool interval(const KFunc *f, KRef r, int depth, int64_t *lo, int64_t *hi) {
    const KIns *i = &f->ins[r];
    int64_t b[2];
    if (depth == 0) return false;
    switch ((KOp)i->op) {
    case K_CONST: *lo = *hi = (int64_t)i->imm; break;
    case K_CAST: return f->ins[i->a].dtype == QS_I32 && i->dtype == QS_I64 && interval(f, i->a, depth - 1, lo, hi);
    case K_BLKPOS: *lo = 0, *hi = f->block[i->imm] - 1; return f->fixed_block;
    case K_FOR:
        if (!interval(f, i->a, 1, lo, &b[0]) || !interval(f, i->b, 1, &b[1], hi)) return false;
        if (*lo > *hi) *lo = b[1], *hi = b[0];
        break;
    case K_ADD:
        if (!interval(f, i->a, depth - 1, lo, hi) || !interval(f, i->b, depth - 1, &b[0], &b[1])) return false;
        *lo += b[0], *hi += b[1];
        break;
    default: return false;
    }
    return *lo >= INT32_MIN && *hi <= INT32_MAX;
}

static bool surely_inside(const KFunc *f, KRef index, KRef extent) {
    int64_t lo, hi;
    return f->ins[extent].op == K_CONST && interval(f, index, 4, &lo, &hi) && lo >= 0 &&
           hi < (int64_t)f->ins[extent].imm;
}

/* The sign of a float that is easy to see.  NaN may have any. */
typedef enum { SIGN_ANY, SIGN_NOT_NEGATIVE /* nor -0 */, SIGN_POSITIVE /* not subnormal either */ } Sign;

static Sign least_sign(Sign a, Sign b) { return a < b ? a : b; }

static Sign find_sign(const KFunc *f, KRef r, int depth) {
    const KIns *i = &f->ins[r];
    double v;
    if (kir_is_const(f, r, &v)) return v >= (double)FLT_MIN ? SIGN_POSITIVE : signbit(v) ? SIGN_ANY : SIGN_NOT_NEGATIVE;
    if (!kir_is_float((qs_dtype)i->dtype) || !depth) return SIGN_ANY;
    if (i->op == K_MUL && i->a == i->b) return SIGN_NOT_NEGATIVE;
    if (i->op == K_ABS) return SIGN_NOT_NEGATIVE;
    bool rooted = i->op == K_MATH && i->flag == MF_sqrt, cast = i->op == K_CAST && kir_is_float(f->ins[i->a].dtype);
    if (rooted || cast) return find_sign(f, i->a, depth - 1);
    if (i->op != K_ADD && i->op != K_MUL && i->op != K_DIV) return SIGN_ANY;
    Sign a = find_sign(f, i->a, depth - 1), b = a ? find_sign(f, i->b, depth - 1) : SIGN_ANY;
    return i->op == K_ADD && a && b ? (a > b ? a : b) : least_sign(least_sign(a, b), SIGN_NOT_NEGATIVE);
}

/* Whether the float r is larger than the constant `limit`, or NaN; or_equal: or if they may be equal. */
static bool exceeds(const KFunc *f, KRef r, KRef limit, bool or_equal) {
    double v;
    if (!kir_is_float((qs_dtype)f->ins[r].dtype) || !kir_is_const(f, limit, &v) || v > 0) return false;
    return find_sign(f, r, SIGN_DEPTH) >= (v < 0 || or_equal ? SIGN_NOT_NEGATIVE : SIGN_POSITIVE);
}

/* Returns a value that the instruction always equals: an operand, or a new constant; 0: none. */
static KRef identity(KFunc *f, KOp op, KRef a, KRef b, KRef c, uint32_t pos) {
    qs_dtype d = f->ins[a].dtype;
    bool integer = qdtype_is_int(d) || d == QS_B1;
    switch (op) {
    case K_ADD:
        if (is_value(f, b, 0) && (integer || find_sign(f, a, SIGN_DEPTH))) return a;
        return integer && is_value(f, a, 0) ? b : 0;
    case K_SUB: /* x - (+0) is x for floats too */
        if (is_value(f, b, 0)) return a;
        return integer && a == b ? kir_const_int(f, d, 0, pos) : 0;
    case K_MUL:
        if (is_value(f, b, 1)) return a;
        if (is_value(f, a, 1)) return b;
        if (integer && is_value(f, a, 0)) return a;
        return integer && is_value(f, b, 0) ? b : 0;
    case K_DIV: return is_value(f, b, 1) ? a : 0;
    case K_SHL:
    case K_SHR: return is_value(f, b, 0) ? a : 0;
    case K_MIN:
    case K_MAX: return a == b ? a : 0;
    case K_AND:
    case K_OR:
        if (a == b) return a;
        if (is_value(f, a, 0)) return op == K_AND ? a : b;
        if (is_value(f, b, 0)) return op == K_AND ? b : a;
        if (d == QS_B1 && is_value(f, a, 1)) return op == K_AND ? b : a;
        return d == QS_B1 && is_value(f, b, 1) ? (op == K_AND ? a : b) : 0;
    case K_XOR:
        if (is_value(f, b, 0)) return a;
        if (is_value(f, a, 0)) return b;
        return a == b ? kir_const_int(f, d, 0, pos) : 0;
    case K_NOT:
    case K_NEG: return f->ins[a].op == op ? f->ins[a].a : 0;
    case K_ABS: return f->ins[a].op == K_ABS ? a : 0;
    case K_LE:
    case K_EQ:
        if (exceeds(f, a, b, false)) return kir_const_int(f, QS_B1, 0, pos);
        return integer && a == b ? kir_const_int(f, QS_B1, 1, pos) : 0;
    case K_LT:
        if (exceeds(f, a, b, true)) return kir_const_int(f, QS_B1, 0, pos);
        return integer && a == b ? kir_const_int(f, QS_B1, 0, pos) : 0;
    case K_NE: return integer && a == b ? kir_const_int(f, QS_B1, 0, pos) : 0;
    case K_INB: return surely_inside(f, a, b) ? kir_const_int(f, QS_B1, 1, pos) : 0;
    case K_ANALYTIC: return f->ins[b].op == K_CONST && f->ins[c].op == K_CONST ? a : 0;
    case K_SELECT:
        if (f->ins[a].op == K_CONST) return f->ins[a].imm ? b : c;
        return b == c ? b : 0;
    default: return 0;
    }
}

static bool is_extended(const KFunc *f, KRef r) {
    return f->ins[r].op == K_CAST && f->ins[r].dtype == QS_I64 && f->ins[f->ins[r].a].dtype == QS_I32;
}

/* Whether the value x, converted to `to`, is the extreme of converted operands: casts keep the order of numbers. */
static bool is_wide_extreme(const KFunc *f, qs_dtype to, const KIns *x) {
    return to == QS_I32 && (x->op == K_MIN || x->op == K_MAX) && (is_extended(f, x->a) || is_extended(f, x->b));
}

KRef kir_fold(KFunc *f, KMake i) {
    assert(kir_ops[i.op].effect == KE_PURE && kir_ops[i.op].a != KARG__);
    qs_dtype to = result_dtype(f, &i);
    const KIns *x = &f->ins[i.a], *y = &f->ins[i.b], *z = &f->ins[i.c];
    if (i.op == K_CAST && x->dtype == to) return i.a;
    if (i.op == K_CAST && to == QS_I32 && is_extended(f, i.a)) return x->a;
    if (i.op == K_CAST && is_wide_extreme(f, to, x)) {
        KMake a = i, b = i, m = {(KOp)x->op, .pos = i.pos};
        a.a = x->a, b.a = x->b;
        m.a = kir_fold(f, a), m.b = kir_fold(f, b);
        return kir_fold(f, m);
    }
    if (x->op == K_CONST && (!i.b || y->op == K_CONST) && (!i.c || z->op == K_CONST)) {
        uint16_t flag = (uint16_t)i.flag;
        KSlot r = ksem_pure(i.op, flag, x->dtype, to, (KSlot){x->imm}, (KSlot){y->imm}, (KSlot){z->imm});
        return kir_const_bits(f, to, r.bits, i.pos);
    }
    KRef same = identity(f, i.op, i.a, i.b, i.c, i.pos);
    return same ? same : kir_add(f, i);
}

/* -- short forms --------------------------------------------------------------------------------------------------- */
KRef kir_emit(KFunc *f, KMake i) {
    i.pos = f->pos;
    return kir_add(f, i);
}

KRef kir_op(KFunc *f, KOp op, KRef a, KRef b) { return kir_fold(f, (KMake){op, .a = a, .b = b, .pos = f->pos}); }
KRef kir_select(KFunc *f, KRef c, KRef a, KRef b) {
    return kir_fold(f, (KMake){K_SELECT, .a = c, .b = a, .c = b, .pos = f->pos});
}
KRef kir_cast(KFunc *f, qs_dtype to, KRef a) { return kir_fold(f, (KMake){K_CAST, .own = to, .a = a, .pos = f->pos}); }
KRef kir_int(KFunc *f, int64_t v) { return kir_const_int(f, QS_I64, v, f->pos); }
KRef kir_zero(KFunc *f, qs_dtype d) { return kir_const_bits(f, d, 0, f->pos); }
KRef kir_local(KFunc *f, KRef v) { return kir_emit(f, (KMake){K_LOCAL, .a = v}); }
KRef kir_get(KFunc *f, KRef local) { return kir_emit(f, (KMake){K_GET, .a = local}); }
void kir_set(KFunc *f, KRef local, KRef v) { kir_emit(f, (KMake){K_SET, .a = local, .b = v}); }
void kir_flow(KFunc *f, KOp op, KRef condition) { kir_emit(f, (KMake){op, .a = condition}); }
KRef kir_for(KFunc *f, KRef first, KRef last, int64_t step, unsigned flag) {
    return kir_emit(f, (KMake){K_FOR, .own = QS_I64, .flag = flag, .a = first, .b = last, .c = kir_int(f, step)});
}

/* -- copying ------------------------------------------------------------------------------------------------------- */
KFunc *kir_shell(Ctx *c, Arena *arena, const KFunc *f) {
    KFunc *g = kir_new(c, arena, f->name, f->src);
    g->params = f->params, g->nparams = f->nparams, g->messages = f->messages, g->nmessages = f->nmessages;
    g->rank = f->rank, g->serial = f->serial, g->strict = f->strict, g->fast = f->fast, g->rounds = f->rounds;
    g->apart = f->apart, g->few = f->few;
    g->barrier = f->barrier, g->shared = f->shared, g->fixed_block = f->fixed_block;
    memcpy(g->block, f->block, sizeof g->block);
    g->callees = f->callees, g->ncallees = f->ncallees, g->ninputs = f->ninputs, g->noutputs = f->noutputs;
    memcpy(g->inputs, f->inputs, sizeof g->inputs), memcpy(g->outputs, f->outputs, sizeof g->outputs);
    return g;
}

KFunc *kir_shell_with(Ctx *c, Arena *arena, const KFunc *f, const KParam *params, int n) {
    KFunc *g = kir_shell(c, arena, f);
    KParam *p = qarena_alloc(arena, qmem_size((size_t)n, sizeof *p, sizeof *p));
    if (n) memcpy(p, params, (size_t)n * sizeof *p);
    g->params = p, g->nparams = n;
    return g;
}

KRef kir_copy(KFunc *to, const KIns *i, KRef a, KRef b, KRef c) {
    bool computed = kir_ops[i->op].effect == KE_PURE && kir_ops[i->op].a != KARG__;
    KMake new = kir_like(i, a, b, c);
    return computed ? kir_fold(to, new) : kir_add(to, new);
}

void kir_copy_mapped(KFunc *to, const KFunc *f, KRef *map, KRef r) {
    const KIns *i = &f->ins[r];
    map[r] = kir_copy(to, i, map[i->a], map[i->b], map[i->c]);
}

void kir_if_runs(KFunc *to, const KFunc *f, const KRef *map, KRef loop) {
    const KIns *i = &f->ins[loop];
    double step = 1;
    (void)kir_is_const(f, i->c, &step);
    kir_flow(to, K_IF, kir_op(to, K_LE, map[step > 0 ? i->a : i->b], map[step > 0 ? i->b : i->a]));
}

void kir_hoist(KFunc *to, const KFunc *f, KRef *map, KRef first, KRef r) {
    if (r < first || map[r]) return;
    for (int k = 0; k < 3; k++) kir_hoist(to, f, map, first, f->ins[r].arg[k]);
    kir_copy_mapped(to, f, map, r);
}

/* Sets regions and ops.  `open` is the innermost open region; the member `around` of the open regions serves as the
 * stack.  kir_verify reports regions that do not nest. */
static void match_regions(KFunc *f) {
    KRegion *regions = f->regions = qarena_alloc(f->arena, qmem_size(f->nins, sizeof *regions, 0));
    KRef open = 0;
    f->nregions = f->nins, f->ops = 0;
    for (KRef r = 1; r < f->nins; r++) {
        uint8_t op = f->ins[r].op;
        f->ops |= 1ull << (op & 63);
        bool ends = op == K_END || op == K_ELSE;
        KRef around = ends ? regions[open].around : open;
        if (ends) regions[open].end = r;
        regions[r] = (KRegion){0, ends ? open : 0, around};
        if (kir_opens(op) || op == K_ELSE) open = r;
        else if (op == K_END) open = around;
    }
    regions[0] = (KRegion){0};
}

KFunc *kir_finish(KFunc *to, const KFunc *f) {
    match_regions(to);
    to->hash = f->hash, to->small = f->small;
    return to;
}

static bool is_candidate(const KFunc *f, const KLoopPass *p, KRef r) {
    return f->ins[r].op == K_FOR && p->is_candidate(p->pass, r);
}

const KFunc *kir_replace_loops_in(Ctx *c, Arena *a, const KFunc *f, KLoopPass p, KRef first, KRef last, KRef *start) {
    while (first < last && !is_candidate(f, &p, first)) first++;
    if (first == last) return f;
    *p.to = kir_shell(c, a, f), *p.map = qarena_alloc(a, qmem_size(f->nins, sizeof **p.map, 0));
    for (KRef r = 1; r < f->nins; r++) {
        if (start) start[r] = (*p.to)->nins;
        if (r >= first && r < last && is_candidate(f, &p, r)) p.replace(p.pass), r = f->regions[r].end;
        else kir_copy_mapped(*p.to, f, *p.map, r);
    }
    if (start) start[f->nins] = (*p.to)->nins;
    return kir_finish(*p.to, f);
}

const KFunc *kir_replace_loops(Ctx *c, Arena *a, const KFunc *f, KLoopPass p) {
    return kir_replace_loops_in(c, a, f, p, 1, f->nins, NULL);
}

/* -- sealing ------------------------------------------------------------------------------------------------------- */
static uint64_t mix_hash(uint64_t h, uint64_t w) {
    h = (h ^ w) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static uint64_t hash_text(uint64_t h, const Str *s) {
    h = mix_hash(h, s->len);
    for (uint32_t i = 0; i < s->len; i++) h = mix_hash(h, (uint8_t)s->s[i]);
    return h;
}

/* A CHECK reports its source position, so that position is part of the code; no other position is. */
static uint64_t hash_ins(uint64_t h, const KIns *i) {
    h = mix_hash(h, (uint64_t)i->op | (uint64_t)i->dtype << 8 | (uint64_t)i->flag << 16 | (uint64_t)i->a << 32);
    h = mix_hash(h, (uint64_t)i->b | (uint64_t)i->c << 32);
    return mix_hash(mix_hash(h, i->imm), i->op == K_CHECK ? i->pos : 0);
}

static uint64_t hash_param(uint64_t h, const KParam *p) {
    unsigned bits =
        (unsigned)p->contiguous | (unsigned)p->unit_last << 1 | (unsigned)p->read << 2 | (unsigned)p->written << 3;
    bits |= (unsigned)p->log << 4 | (unsigned)p->distinct << 5;
    h = mix_hash(h, (uint64_t)p->kind | (uint64_t)p->dtype << 8 | (uint64_t)p->rank << 16 | (uint64_t)bits << 24);
    return hash_text(h, p->name);
}

static uint64_t hash_func(const KFunc *f) {
    uint64_t h = hash_text(1, f->name);
    uint64_t bits = (uint64_t)f->fast << 3 | (uint64_t)f->strict << 2 | (uint64_t)f->serial << 1;
    bits |= (uint64_t)f->apart << 7 | (uint64_t)f->rounds << 6 | (uint64_t)f->small << 5 | (uint64_t)f->few << 4;
    h = mix_hash(h, (uint64_t)f->rank << 32 | bits | (uint64_t)f->fixed_block);
    for (int i = 0; f->fixed_block && i < f->rank; i++) h = mix_hash(h, (uint64_t)f->block[i]);
    for (int i = 0; i < f->nparams; i++) h = hash_param(h, &f->params[i]);
    for (uint32_t i = 1; i < f->nins; i++) h = hash_ins(h, &f->ins[i]);
    for (int i = 0; i < f->ninputs; i++) h = mix_hash(h, f->inputs[i]);
    for (int i = 0; i < f->noutputs; i++) h = mix_hash(h, f->outputs[i]);
    for (int i = 0; i < f->ncallees; i++) h = mix_hash(h, f->callees[i]->hash);
    return h;
}

void kir_seal(KFunc *f) {
    f->barrier = f->shared = false;
    for (int i = 0; i < f->nparams; i++) f->params[i].read = f->params[i].written = false;
    for (uint32_t i = 1; i < f->nins; i++) {
        const KIns *k = &f->ins[i];
        if (k->op == K_BARRIER) f->barrier = true;
        if (k->op == K_SHARED) f->shared = true;
        if (kir_ops[k->op].imm != KI_param || k->imm >= (uint64_t)f->nparams) continue;
        KParam *p = &f->params[k->imm];
        if (k->op != K_STORE) p->read = true;
        if (!kir_is_memory(k->op) || k->op == K_LOAD) continue;
        if (!p->written) p->written_at = k->pos;
        p->written = true;
    }
    match_regions(f);
    f->hash = hash_func(f);
}

KFunc *kir_small(Arena *a, const KFunc *f) {
    KFunc *g = memcpy(qarena_alloc(a, sizeof *g), f, sizeof *g);
    g->small = true;
    g->hash = hash_func(g);
    return g;
}

const KFunc *kir_without_log(Arena *a, const KFunc *f) {
    bool logs = false;
    for (int i = 0; i < f->nparams; i++) logs |= f->params[i].log;
    if (!logs) return f;
    KFunc *g = kir_shell_with(f->ctx, a, f, f->params, f->nparams);
    KRef *map = qarena_alloc(a, qmem_size(f->nins, sizeof *map, sizeof *map));
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        bool drops = kir_is_memory(i->op) && f->params[i->imm].log;
        if (!drops) map[r] = kir_copy(g, i, map[i->a], map[i->b], map[i->c]);
        else if (kir_has_result(i)) map[r] = kir_const_num(g, (qs_dtype)i->dtype, 0, i->pos);
    }
    kir_seal(g);
    return g;
}
