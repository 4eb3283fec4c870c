/* shared_update.c -- differentiates updates that several positions make to one element, other than sums.
 *
 * The group of an element is its old value and all values with which positions update it.
 *
 *     y[i] ^^= x   y[i] __= x   the values that equal the result share its adjoint evenly, as in PyTorch
 *     y[i] *= x    y[i] /= x    the adjoint times the product of the other factors: the product of the nonzero ones,
 *                               divided by x.  Zeros are counted, and also added up: the sum is 0, but has a derivative
 *
 * The backward pass compares a value with the result of the update.  So the value must have the same bits as
 * before: it is saved on a tape unless recomputing it does not round.  The passes around the backward pass:
 *
 *     begin     over elements     of = old value (1 if it is a factor 0); count = 0, or 1 for a factor 0
 *     collect   over positions    of max= x; for products: of *= x, count += x == 0
 *     count     over positions    min, max: count += x == of
 *     share     over elements     min, max: adjoint /= count
 *     backward pass               adjoint of x += x == of ? adjoint : 0; products: adjoint times the other factors
 *     end       over elements     the same for the old value
 *
 * If several factors are 0, derivatives of products are correct up to second order, and nan beyond. */
#include "lang/kernel/autodiff/rematerialize.h"
#include "lang/kernel/ir/kir.h"
#include "lang/kernel/passes/passes.h"

#include <float.h>
#include <math.h>

enum { VISITS = 256 };

static const uint8_t kind_of[KA__COUNT] = {
    [KA_MUL] = KGROUP_PRODUCT, [KA_DIV] = KGROUP_PRODUCT, [KA_MIN] = KGROUP_MIN, [KA_MAX] = KGROUP_MAX};

/* -- finding arrays ------------------------------------------------------------------------------------------------ */
static bool is_access_of(const KIns *i, uint64_t param) {
    return (i->op == K_LOAD || i->op == K_STORE || i->op == K_ATOMIC) && i->imm == param;
}

static qs_status refuse_update(Ctx *c, const KFunc *f, KRef r, const char *what) {
    return qerr_at(c, QS_ETYPE, (Where){f->src, f->ins[r].pos}, "kernel %s has no derivative: %s %s", f->name->s,
                   f->params[f->ins[r].imm].name->s, what);
}

static qs_status find_group(Ctx *c, const KFunc *f, KRef r, KGroup *out) {
    const KIns *i = &f->ins[r];
    out->kind = kind_of[i->flag];
    if (!out->kind) return refuse_update(c, f, r, "is updated where positions meet, and not by += -= *= /= ^^= __=");
    if (!kir_is_float((qs_dtype)f->params[i->imm].dtype))
        return refuse_update(c, f, r,
                             "is updated where positions meet; other than += and -= that wants float32 or float64");
    for (KRef k = 1; k < f->nins; k++) {
        const KIns *other = &f->ins[k];
        if (!is_access_of(other, i->imm) || (other->op == K_ATOMIC && kind_of[other->flag] == out->kind)) continue;
        return refuse_update(c, f, k, "is updated in one way where positions meet, and touched in another");
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
    return kir_is_float((qs_dtype)i->dtype);
}

/* Returns true if r has the same bits when it is computed again. */
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

/* -- instructions of g --------------------------------------------------------------------------------------------- */
static KRef real_const(KFunc *g, double x) { return kir_const_num(g, QS_F64, x, 0); }
static KRef zero_like(KFunc *g, KRef x) { return kir_const_bits(g, (qs_dtype)g->ins[x].dtype, 0, 0); }

static KRef load_element(KFunc *g, int param, KRef at, KRef guard) {
    qs_dtype d = kir_value_dtype((qs_dtype)g->params[param].dtype);
    return kir_add(g, (KMake){K_LOAD, .own = d, .a = at, .b = guard, .imm = (uint64_t)param});
}

static void store_element(KFunc *g, int param, KRef at, KRef x) {
    kir_add(g, (KMake){K_STORE, .a = at, .b = x, .imm = (uint64_t)param});
}

static void update_element(KFunc *g, int param, KAtomic op, KRef at, KRef x, KRef guard) {
    kir_add(g, (KMake){K_ATOMIC, .flag = op, .a = at, .b = x, .c = guard, .imm = (uint64_t)param});
}

static KRef is_zero(KFunc *g, KRef x) { return kir_op(g, K_EQ, x, zero_like(g, x)); }
static KRef one_if(KFunc *g, KRef c) { return kir_select(g, c, kir_int(g, 1), kir_int(g, 0)); }

/* Returns x, or nan if the product has overflowed or underflowed float64. */
static KRef nan_if_out_of_range(KFunc *g, KRef x) {
    KRef size = kir_op(g, K_ABS, x, 0);
    KRef in =
        kir_op(g, K_AND, kir_op(g, K_LE, real_const(g, DBL_MIN), size), kir_op(g, K_LE, size, real_const(g, DBL_MAX)));
    return kir_select(g, in, x, real_const(g, (double)NAN));
}

/* Returns pow(x, 1.5) for x = 0: the value and its first derivative are 0, the second derivative does not exist.
 * If `asked` is false, the result does not depend on x. */
static KRef vanishing_power(KFunc *g, KRef asked, KRef x) {
    return kir_fold(
        g, (KMake){K_MATH, .flag = MF_pow, .a = kir_select(g, asked, x, real_const(g, 1)), .b = real_const(g, 1.5)});
}

typedef struct {
    KRef of, zeros, count;
} Group; /* collected values of an element's group: see KGroup; zeros: sum of the zero factors, of a product */

static Group load_group(KFunc *g, const KGroup *k, KRef at, KRef guard) {
    Group r = {load_element(g, k->of, at, guard), 0, load_element(g, k->count, at, guard)};
    if (k->kind == KGROUP_PRODUCT) r.zeros = load_element(g, k->zeros, at, guard);
    return r;
}

/* Returns the product of all factors except x. */
static KRef product_of_others(KFunc *g, const Group *k, KRef x) {
    KRef zero = is_zero(g, x), none = kir_op(g, K_EQ, k->count, kir_int(g, 0)), p = nan_if_out_of_range(g, k->of);
    KRef one = kir_op(g, K_EQ, k->count, kir_int(g, 1)), two = kir_op(g, K_EQ, k->count, kir_int(g, 2));
    KRef some = kir_op(g, K_LT, kir_int(g, 1), k->count), many = kir_op(g, K_LT, kir_int(g, 2), k->count);
    KRef rest = kir_op(g, K_DIV, p, kir_select(g, zero, real_const(g, 1), x));
    KRef left = kir_op(g, K_SUB, k->zeros, x);
    KRef zeros_left = kir_select(g, two, left, vanishing_power(g, kir_op(g, K_AND, zero, many), left));
    KRef of_zero = kir_select(g, one, p, kir_op(g, K_MUL, p, zeros_left));
    KRef with_zeros = kir_op(g, K_MUL, rest, kir_select(g, one, k->zeros, vanishing_power(g, some, k->zeros)));
    return kir_select(g, zero, of_zero, kir_select(g, none, rest, with_zeros));
}

/* Returns the adjoint of x, a value of the group, from the adjoint of the result. */
static KRef part_of(KFunc *g, const KGroup *kind, const Group *k, KRef x, KRef adjoint) {
    qs_dtype d = (qs_dtype)g->ins[adjoint].dtype;
    if (kind->kind != KGROUP_PRODUCT) return kir_select(g, kir_op(g, K_EQ, x, k->of), adjoint, zero_like(g, adjoint));
    return kir_cast(g, d,
                    kir_op(g, K_MUL, kir_cast(g, QS_F64, adjoint), product_of_others(g, k, kir_cast(g, QS_F64, x))));
}

/* -- passes over positions ----------------------------------------------------------------------------------------- */
static KRef packed_index(KRemat *v, const KIns *i) { return kadjindex_packed(v->g, v->f, i, kremat_value, v); }

/* Returns the factor by which i multiplies. */
static KRef factor_of(KFunc *g, const KIns *i, KRef x) {
    x = kir_cast(g, QS_F64, x);
    return i->flag == KA_DIV ? kir_op(g, K_DIV, real_const(g, 1), x) : x;
}

static void collect_factor(KRemat *v, const KGroup *k, const KIns *i, KRef at, KRef guard) {
    KFunc *g = v->g;
    KRef x = factor_of(g, i, kremat_use(v, i->b)), zero = is_zero(g, x);
    update_element(g, k->of, KA_MUL, at, kir_select(g, zero, real_const(g, 1), x), guard);
    update_element(g, k->zeros, KA_ADD, at, kir_select(g, zero, x, real_const(g, 0)), guard);
    update_element(g, k->count, KA_ADD, at, one_if(g, zero), guard);
}

static void collect_update(KRemat *v, const KIns *i) {
    const KGroup *k = &v->s->group[i->imm];
    if (!k->kind) return;
    KRef at = packed_index(v, i), guard = kremat_use(v, i->c);
    if (k->kind == KGROUP_PRODUCT) collect_factor(v, k, i, at, guard);
    else update_element(v->g, k->of, (KAtomic)i->flag, at, kremat_use(v, i->b), guard);
}

static void count_winner(KRemat *v, const KIns *i) {
    const KGroup *k = &v->s->group[i->imm];
    if (!k->kind || k->kind == KGROUP_PRODUCT) return;
    KRef at = packed_index(v, i), guard = kremat_use(v, i->c), best = load_element(v->g, k->of, at, guard);
    update_element(v->g, k->count, KA_ADD, at, one_if(v->g, kir_op(v->g, K_EQ, kremat_use(v, i->b), best)), guard);
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
    kremat_iteration(&v, 1, s->f->nins);
    kir_seal(v.g);
    return *out = kdeadcode(s->ctx, s->arena, v.g, wanted, NULL), v.status;
}

qs_status kshared_collect(const KGrading *s, KFunc **out) { return over_positions(s, collect_update, false, out); }
qs_status kshared_count(const KGrading *s, KFunc **out) { return over_positions(s, count_winner, true, out); }

KRef kshared_back(KRemat *v, const KIns *i, KRef at, KRef adjoint) {
    const KGroup *kind = &v->s->group[i->imm];
    KRef guard = kremat_use(v, i->c), x = kremat_use(v, i->b);
    Group k = load_group(v->g, kind, at, guard);
    if (i->flag != KA_DIV) return part_of(v->g, kind, &k, x, adjoint);
    KRef f = factor_of(v->g, i, x), slope = kir_op(v->g, K_NEG, kir_op(v->g, K_MUL, f, f), 0);
    KRef wide = kir_op(v->g, K_MUL, kir_cast(v->g, QS_F64, adjoint), slope);
    return kir_cast(v->g, (qs_dtype)v->g->ins[adjoint].dtype, part_of(v->g, kind, &k, f, wide));
}

/* -- passes over elements ------------------------------------------------------------------------------------------ */
typedef struct {
    KFunc *g;
    KRef at, own;
} Element; /* index of the element in packed arrays, index in the array itself */

static KRef load_coordinate(KFunc *g, int axis) {
    return kir_add(g, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)axis});
}

static KRef load_extent(KFunc *g, KOp op, int param, int axis) {
    return kir_add(g, (KMake){op, .own = QS_I64, .imm = (uint64_t)param << 8 | (uint64_t)axis});
}

static Element over_elements(const KGrading *s, int p) {
    KFunc *g = kautodiff_shell(s);
    g->rank = s->params[p].rank;
    g->serial = g->barrier = g->shared = g->fixed_block = false;
    Element e = {g, load_coordinate(g, 0), 0};
    for (int d = 1; d < g->rank; d++)
        e.at = kir_op(g, K_ADD, kir_op(g, K_MUL, e.at, load_extent(g, K_DIM, p, d)), load_coordinate(g, d));
    if (s->params[p].contiguous) return e.own = e.at, e;
    for (int d = 0; d < g->rank; d++) {
        KRef step = kir_op(g, K_MUL, load_coordinate(g, d), load_extent(g, K_STRIDE, p, d));
        e.own = e.own ? kir_op(g, K_ADD, e.own, step) : step;
    }
    return e;
}

KFunc *kshared_begin(const KGrading *s, int p) {
    const KGroup *k = &s->group[p];
    Element e = over_elements(s, p);
    KRef old = load_element(e.g, p, e.own, 0), zero = is_zero(e.g, old);
    bool product = k->kind == KGROUP_PRODUCT;
    if (product) {
        old = kir_cast(e.g, QS_F64, old);
        store_element(e.g, k->zeros, e.at, kir_select(e.g, zero, old, real_const(e.g, 0)));
        old = kir_select(e.g, zero, real_const(e.g, 1), old);
    }
    store_element(e.g, k->of, e.at, old);
    store_element(e.g, k->count, e.at, product ? one_if(e.g, zero) : kir_int(e.g, 0));
    return kir_seal(e.g), e.g;
}

/* If no value equals the result, the result is nan; its adjoint is divided by 1 and reaches no value. */
KFunc *kshared_share(const KGrading *s, int p) {
    const KGroup *k = &s->group[p];
    Element e = over_elements(s, p);
    KRef adjoint = load_element(e.g, s->param[p].adjoint, e.at, 0);
    KRef own = one_if(e.g, kir_op(e.g, K_EQ, load_element(e.g, p, e.own, 0), load_element(e.g, k->of, e.at, 0)));
    KRef n = kir_op(e.g, K_MAX, kir_op(e.g, K_ADD, load_element(e.g, k->count, e.at, 0), own), kir_int(e.g, 1));
    n = kir_cast(e.g, (qs_dtype)e.g->ins[adjoint].dtype, n);
    store_element(e.g, s->param[p].adjoint, e.at, kir_op(e.g, K_DIV, adjoint, n));
    return kir_seal(e.g), e.g;
}

KFunc *kshared_end(const KGrading *s, int p) {
    Element e = over_elements(s, p);
    Group k = load_group(e.g, &s->group[p], e.at, 0);
    KRef adjoint = load_element(e.g, s->param[p].adjoint, e.at, 0), old = load_element(e.g, p, e.own, 0);
    store_element(e.g, s->param[p].adjoint, e.at, part_of(e.g, &s->group[p], &k, old, adjoint));
    return kir_seal(e.g), e.g;
}
