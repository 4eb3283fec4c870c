/* shared_update.c -- updates that positions share, other than sums.
 *
 * An element of such an array has a group: what it held, and all values that positions bring.
 *
 *     y[i] ^^= x   y[i] __= x   those that equal the result share its adjoint evenly, as in torch
 *     y[i] *= x    y[i] /= x    the adjoint times the product of the others: that of all but zeros, divided by x;
 *                               zeros are counted, and added up: a sum that is 0, and has a derivative
 *
 * What a position brings is compared with what came of it.  So it is on the tape, unless computing it again rounds
 * nothing.  The passes around the way back:
 *
 *     begin     over elements     of = old, or its factor; count = 0, or whether it is 0
 *     collect   over positions    of max= x; or of *= x, count += x == 0
 *     count     over positions    min, max: count += x == of
 *     share     over elements     min, max: adjoint /= count
 *     (the way back)              adjoint of x += x == of ? adjoint : 0; or adjoint times the product of the others
 *     end       over elements     the same for what it held
 *
 * Derivatives of products are right to second order where several factors are 0, and nan beyond. */
#include "lang/kernel/autodiff/rematerialize.h"

#include <float.h>
#include <math.h>

enum { VISITS = 256 };

static const uint8_t kind_of[KA__COUNT] = {
    [KA_MUL] = KGROUP_PRODUCT, [KA_DIV] = KGROUP_PRODUCT, [KA_MIN] = KGROUP_MIN, [KA_MAX] = KGROUP_MAX};

/* -- which arrays -------------------------------------------------------------------------------------------------- */
static bool touches(const KIns *i, uint64_t param) {
    return (i->op == K_LOAD || i->op == K_STORE || i->op == K_ATOMIC) && i->imm == param;
}

static qs_status refuse(Ctx *c, const KFunc *f, KRef r, const char *what) {
    return qerr_at(c, QS_ETYPE, (Where){f->src, f->ins[r].pos}, "kernel %s has no derivative: %s %s", f->name->s,
                   f->params[f->ins[r].imm].name->s, what);
}

static qs_status find_group(Ctx *c, const KFunc *f, KRef r, KGroup *out) {
    const KIns *i = &f->ins[r];
    out->kind = kind_of[i->flag];
    if (!out->kind) return refuse(c, f, r, "is updated where positions meet, and not by += -= *= /= ^^= __=");
    if (!kautodiff_is_float((qs_dtype)f->params[i->imm].dtype))
        return refuse(c, f, r, "is updated where positions meet; other than += and -= that wants float32 or float64");
    for (KRef k = 1; k < f->nins; k++) {
        const KIns *other = &f->ins[k];
        if (!touches(other, i->imm) || (other->op == K_ATOMIC && kind_of[other->flag] == out->kind)) continue;
        return refuse(c, f, k, "is updated in one way where positions meet, and touched in another");
    }
    return QS_OK;
}

qs_status kshared_find(Ctx *c, const KFunc *f, const bool *active, KGroup *group) {
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        if (i->op != K_ATOMIC || !active[i->imm] || group[i->imm].kind || kshared_is_sum(i)) continue;
        TRY(find_group(c, f, r, &group[i->imm]));
    }
    return QS_OK;
}

static bool rounds(const KIns *i) {
    static const KOp exact[] = {K_CONST, K_PARAM, K_NEG, K_ABS, K_MIN, K_MAX, K_SELECT, K_CAST};
    for (size_t k = 0; k < sizeof exact / sizeof *exact; k++)
        if (i->op == exact[k]) return false;
    return kautodiff_is_float((qs_dtype)i->dtype);
}

/* It has the same bits wherever it is computed again. */
static bool is_exact(const KFunc *f, KRef r, int *left) {
    const KIns *i = &f->ins[r];
    if (!r) return true;
    bool read = i->op == K_LOAD && !f->params[i->imm].written;
    bool computed = i->op == K_FOR || kir_ops[i->op].effect == KE_PURE;
    if (--*left < 0 || (!read && (!computed || rounds(i)))) return false;
    return is_exact(f, i->a, left) && is_exact(f, i->b, left) && is_exact(f, i->c, left);
}

bool kshared_keep(const KFunc *f, const KGroup *group, uint8_t *kept) {
    bool any = false;
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        int left = VISITS;
        if (i->op == K_ATOMIC && group[i->imm].kind && !is_exact(f, i->b, &left)) kept[i->b] = 1, any = true;
    }
    return any;
}

/* -- numbers ------------------------------------------------------------------------------------------------------- */
static KRef fold(KFunc *g, KOp op, KRef a, KRef b, KRef c) { return kir_fold(g, (KMake){op, .a = a, .b = b, .c = c}); }
static KRef real(KFunc *g, double x) { return kir_const_num(g, QS_F64, x, 0); }
static KRef whole(KFunc *g, int64_t n) { return kir_const_int(g, QS_I64, n, 0); }
static KRef cast(KFunc *g, qs_dtype d, KRef a) { return kir_fold(g, (KMake){K_CAST, .own = d, .a = a}); }
static KRef zero_like(KFunc *g, KRef x) { return kir_const_bits(g, (qs_dtype)g->ins[x].dtype, 0, 0); }

static KRef load(KFunc *g, int param, KRef at, KRef guard) {
    qs_dtype d = kir_value_dtype((qs_dtype)g->params[param].dtype);
    return kir_add(g, (KMake){K_LOAD, .own = d, .a = at, .b = guard, .imm = (uint64_t)param});
}

static void store(KFunc *g, int param, KRef at, KRef x) {
    kir_add(g, (KMake){K_STORE, .a = at, .b = x, .imm = (uint64_t)param});
}

static void update(KFunc *g, int param, KAtomic op, KRef at, KRef x, KRef guard) {
    kir_add(g, (KMake){K_ATOMIC, .flag = op, .a = at, .b = x, .c = guard, .imm = (uint64_t)param});
}

static KRef is_zero(KFunc *g, KRef x) { return fold(g, K_EQ, x, zero_like(g, x), 0); }
static KRef one_if(KFunc *g, KRef c) { return fold(g, K_SELECT, c, whole(g, 1), whole(g, 0)); }

/* Of a product that has left what float64 holds nothing is known. */
static KRef known(KFunc *g, KRef x) {
    KRef size = fold(g, K_ABS, x, 0, 0);
    KRef in = fold(g, K_AND, fold(g, K_LE, real(g, DBL_MIN), size, 0), fold(g, K_LE, size, real(g, DBL_MAX), 0), 0);
    return fold(g, K_SELECT, in, x, real(g, (double)NAN));
}

/* Of x = 0: 0, as its first derivative is; the second is not.  Where it is not asked for, it depends on nothing. */
static KRef vanishing(KFunc *g, KRef asked, KRef x) {
    return kir_fold(g,
                    (KMake){K_MATH, .flag = MF_pow, .a = fold(g, K_SELECT, asked, x, real(g, 1)), .b = real(g, 1.5)});
}

typedef struct {
    KRef of, zeros, count;
} Group; /* what is known of an element; zeros: of a product */

static Group load_group(KFunc *g, const KGroup *k, KRef at, KRef guard) {
    Group r = {load(g, k->of, at, guard), 0, load(g, k->count, at, guard)};
    if (k->kind == KGROUP_PRODUCT) r.zeros = load(g, k->zeros, at, guard);
    return r;
}

/* The product of all factors but x. */
static KRef others(KFunc *g, const Group *k, KRef x) {
    KRef zero = is_zero(g, x), none = fold(g, K_EQ, k->count, whole(g, 0), 0), p = known(g, k->of);
    KRef one = fold(g, K_EQ, k->count, whole(g, 1), 0), two = fold(g, K_EQ, k->count, whole(g, 2), 0);
    KRef some = fold(g, K_LT, whole(g, 1), k->count, 0), many = fold(g, K_LT, whole(g, 2), k->count, 0);
    KRef rest = fold(g, K_DIV, p, fold(g, K_SELECT, zero, real(g, 1), x), 0);
    KRef left = fold(g, K_SUB, k->zeros, x, 0);
    KRef zeros_left = fold(g, K_SELECT, two, left, vanishing(g, fold(g, K_AND, zero, many, 0), left));
    KRef of_zero = fold(g, K_SELECT, one, p, fold(g, K_MUL, p, zeros_left, 0));
    KRef with_zeros = fold(g, K_MUL, rest, fold(g, K_SELECT, one, k->zeros, vanishing(g, some, k->zeros)), 0);
    return fold(g, K_SELECT, zero, of_zero, fold(g, K_SELECT, none, rest, with_zeros));
}

/* What the adjoint of the result is for one of the group. */
static KRef part_of(KFunc *g, const KGroup *kind, const Group *k, KRef x, KRef adjoint) {
    qs_dtype d = (qs_dtype)g->ins[adjoint].dtype;
    if (kind->kind != KGROUP_PRODUCT)
        return fold(g, K_SELECT, fold(g, K_EQ, x, k->of, 0), adjoint, zero_like(g, adjoint));
    return cast(g, d, fold(g, K_MUL, cast(g, QS_F64, adjoint), others(g, k, cast(g, QS_F64, x)), 0));
}

/* -- over positions ------------------------------------------------------------------------------------------------ */
static KRef use(void *v, KRef r) { return kremat_use(v, r); }
static KRef place(KRemat *v, const KIns *i) { return kadjindex_packed(v->g, v->f, i, use, v); }

/* What i brings, as a factor. */
static KRef factor(KFunc *g, const KIns *i, KRef x) {
    x = cast(g, QS_F64, x);
    return i->flag == KA_DIV ? fold(g, K_DIV, real(g, 1), x, 0) : x;
}

static void collect_factor(KRemat *v, const KGroup *k, const KIns *i, KRef at, KRef guard) {
    KFunc *g = v->g;
    KRef x = factor(g, i, kremat_use(v, i->b)), zero = is_zero(g, x);
    update(g, k->of, KA_MUL, at, fold(g, K_SELECT, zero, real(g, 1), x), guard);
    update(g, k->zeros, KA_ADD, at, fold(g, K_SELECT, zero, x, real(g, 0)), guard);
    update(g, k->count, KA_ADD, at, one_if(g, zero), guard);
}

static void collect(KRemat *v, const KIns *i) {
    const KGroup *k = &v->s->group[i->imm];
    if (!k->kind) return;
    KRef at = place(v, i), guard = kremat_use(v, i->c);
    if (k->kind == KGROUP_PRODUCT) collect_factor(v, k, i, at, guard);
    else update(v->g, k->of, (KAtomic)i->flag, at, kremat_use(v, i->b), guard);
}

static void count_winner(KRemat *v, const KIns *i) {
    const KGroup *k = &v->s->group[i->imm];
    if (!k->kind || k->kind == KGROUP_PRODUCT) return;
    KRef at = place(v, i), guard = kremat_use(v, i->c), best = load(v->g, k->of, at, guard);
    update(v->g, k->count, KA_ADD, at, one_if(v->g, fold(v->g, K_EQ, kremat_use(v, i->b), best, 0)), guard);
}

static qs_status over_positions(const KGrading *s, KVisit *visit, bool counts, KFunc **out) {
    KRemat v;
    bool *wanted = qarena_alloc(s->arena, (size_t)s->nparams + 1);
    for (int p = 0; p < s->f->nparams; p++) {
        const KGroup *k = &s->group[p];
        if (!k->kind) continue;
        wanted[k->count] = true;
        if (!counts) wanted[k->of] = true;
        if (k->kind == KGROUP_PRODUCT) wanted[k->zeros] = true;
    }
    kremat_begin(&v, s);
    v.update = visit;
    kremat_turn(&v, 1, s->f->nins);
    kir_seal(v.g);
    return *out = kdeadcode(s->ctx, s->arena, v.g, wanted, NULL), v.status;
}

qs_status kshared_collect(const KGrading *s, KFunc **out) { return over_positions(s, collect, false, out); }
qs_status kshared_count(const KGrading *s, KFunc **out) { return over_positions(s, count_winner, true, out); }

KRef kshared_back(KRemat *v, const KIns *i, KRef at, KRef adjoint) {
    const KGroup *kind = &v->s->group[i->imm];
    KRef guard = kremat_use(v, i->c), x = kremat_use(v, i->b);
    Group k = load_group(v->g, kind, at, guard);
    if (i->flag != KA_DIV) return part_of(v->g, kind, &k, x, adjoint);
    KRef f = factor(v->g, i, x), slope = fold(v->g, K_NEG, fold(v->g, K_MUL, f, f, 0), 0, 0);
    KRef wide = fold(v->g, K_MUL, cast(v->g, QS_F64, adjoint), slope, 0);
    return cast(v->g, (qs_dtype)v->g->ins[adjoint].dtype, part_of(v->g, kind, &k, f, wide));
}

/* -- over elements ------------------------------------------------------------------------------------------------- */
typedef struct {
    KFunc *g;
    KRef at, own;
} Element; /* in packed arrays, in the array itself */

static KRef coordinate(KFunc *g, int axis) { return kir_add(g, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)axis}); }

static KRef extent(KFunc *g, KOp op, int param, int axis) {
    return kir_add(g, (KMake){op, .own = QS_I64, .imm = (uint64_t)param << 8 | (uint64_t)axis});
}

static Element over_elements(const KGrading *s, int p) {
    KFunc *g = kautodiff_shell(s);
    g->rank = s->params[p].rank;
    g->serial = g->barrier = g->shared = g->fixed_block = false;
    Element e = {g, coordinate(g, 0), 0};
    for (int d = 1; d < g->rank; d++)
        e.at = fold(g, K_ADD, fold(g, K_MUL, e.at, extent(g, K_DIM, p, d), 0), coordinate(g, d), 0);
    if (s->params[p].contiguous) return e.own = e.at, e;
    for (int d = 0; d < g->rank; d++) {
        KRef step = fold(g, K_MUL, coordinate(g, d), extent(g, K_STRIDE, p, d), 0);
        e.own = e.own ? fold(g, K_ADD, e.own, step, 0) : step;
    }
    return e;
}

KFunc *kshared_begin(const KGrading *s, int p) {
    const KGroup *k = &s->group[p];
    Element e = over_elements(s, p);
    KRef old = load(e.g, p, e.own, 0), zero = is_zero(e.g, old);
    bool product = k->kind == KGROUP_PRODUCT;
    if (product) {
        old = cast(e.g, QS_F64, old);
        store(e.g, k->zeros, e.at, fold(e.g, K_SELECT, zero, old, real(e.g, 0)));
        old = fold(e.g, K_SELECT, zero, real(e.g, 1), old);
    }
    store(e.g, k->of, e.at, old);
    store(e.g, k->count, e.at, product ? one_if(e.g, zero) : whole(e.g, 0));
    return kir_seal(e.g), e.g;
}

/* Where nothing equals the result, it is nan, and so is the adjoint of nothing. */
KFunc *kshared_share(const KGrading *s, int p) {
    const KGroup *k = &s->group[p];
    Element e = over_elements(s, p);
    KRef adjoint = load(e.g, s->param[p].adjoint, e.at, 0);
    KRef own = one_if(e.g, fold(e.g, K_EQ, load(e.g, p, e.own, 0), load(e.g, k->of, e.at, 0), 0));
    KRef n = fold(e.g, K_MAX, fold(e.g, K_ADD, load(e.g, k->count, e.at, 0), own, 0), whole(e.g, 1), 0);
    n = cast(e.g, (qs_dtype)e.g->ins[adjoint].dtype, n);
    store(e.g, s->param[p].adjoint, e.at, fold(e.g, K_DIV, adjoint, n, 0));
    return kir_seal(e.g), e.g;
}

KFunc *kshared_end(const KGrading *s, int p) {
    Element e = over_elements(s, p);
    Group k = load_group(e.g, &s->group[p], e.at, 0);
    KRef adjoint = load(e.g, s->param[p].adjoint, e.at, 0), old = load(e.g, p, e.own, 0);
    store(e.g, s->param[p].adjoint, e.at, part_of(e.g, &s->group[p], &k, old, adjoint));
    return kir_seal(e.g), e.g;
}
