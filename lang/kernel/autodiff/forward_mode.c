/* forward_mode.c -- forward derivatives: each value beside its tangent.
 *
 *     y = x*z                  y = x*z,  y' = x'*z + z'*x
 *     SET l = y                SET l = y, SET l' = y'
 *     STORE a[i] = y           STORE a[i] = y, STORE a'[i] = y'
 *
 * Control flow is that of f, so nothing has to be known twice.  A tangent that is surely zero is not computed. */
#include "lang/kernel/autodiff/autodiff_internal.h"

typedef struct {
    const KGrading *s;
    const KFunc *f;
    KFunc *g;
    KRef *map, *tangent; /* by instruction of f; of LOCALs and private or shared arrays their twins */
    uint32_t pos;
} Dual;

static bool is_live(const Dual *v, KRef r) { return r && v->s->act.live[r]; }
static KRef add(Dual *v, KMake i) {
    i.pos = v->pos;
    return kir_add(v->g, i);
}
static KRef fold(Dual *v, KOp op, KRef a, KRef b, KRef c) {
    return kir_fold(v->g, (KMake){op, .a = a, .b = b, .c = c, .pos = v->pos});
}
static KRef plus(Dual *v, KRef a, KRef b) { return !a ? b : !b ? a : fold(v, K_ADD, a, b, 0); }
static KRef zero(Dual *v, qs_dtype d) { return kir_const_bits(v->g, d, 0, v->pos); }
static KRef some(Dual *v, KRef r) { /* the tangent of r, where a number is wanted */
    return v->tangent[r] ? v->tangent[r] : zero(v, (qs_dtype)v->f->ins[r].dtype);
}

static KRef mapped(void *v, KRef r) { return ((Dual *)v)->map[r]; }

static KRef arithmetic(Dual *v, const KIns *i, KRef result) {
    KRef args[2] = {v->map[i->a], v->map[i->b]}, sum = 0;
    for (int k = 0; k < 2; k++)
        if (i->arg[k] && v->tangent[i->arg[k]])
            sum = plus(v, sum, kautodiff_slope(v->g, i, k, args, result, v->tangent[i->arg[k]]));
    return sum;
}

static KRef analytic(Dual *v, const KIns *i) {
    KPair slope = kautodiff_analytic(v->g, i, (KPair){v->map[i->b], v->map[i->c]});
    KRef sum = 0;
    for (int k = 1; k < 3; k++)
        if (v->tangent[i->arg[k]]) sum = plus(v, sum, kautodiff_along(v->g, i, k, slope, v->tangent[i->arg[k]]));
    return sum;
}

static int twin(const Dual *v, const KIns *i) { return v->s->param[i->imm].adjoint; }

static KRef of_param(Dual *v, const KIns *i, int p) {
    return add(
        v, (KMake){K_LOAD, .own = (qs_dtype)i->dtype, .a = kir_const_int(v->g, QS_I64, 0, v->pos), .imm = (uint64_t)p});
}

static KRef tangent_of(Dual *v, KRef r) {
    const KIns *i = &v->f->ins[r];
    if (!is_live(v, r)) return 0;
    switch ((KOp)i->op) {
    case K_PARAM: return of_param(v, i, twin(v, i));
    case K_LOAD:
        return add(v, (KMake){K_LOAD, .own = (qs_dtype)i->dtype, .a = kadjindex_packed(v->g, v->f, i, mapped, v),
                              .b = v->map[i->b], .imm = (uint64_t)twin(v, i)});
    case K_LOCAL: return add(v, (KMake){K_LOCAL, .a = some(v, i->a)});
    case K_LARRAY:
    case K_SHARED: return add(v, kir_like(i, 0, 0, 0));
    case K_GET: return add(v, (KMake){K_GET, .a = v->tangent[i->a]});
    case K_ALOAD: return add(v, (KMake){K_ALOAD, .a = v->tangent[i->a], .b = v->map[i->b]});
    case K_CAST:
        if (!v->tangent[i->a]) return 0;
        return kir_fold(v->g, (KMake){K_CAST, .own = (qs_dtype)i->dtype, .a = v->tangent[i->a], .pos = v->pos});
    case K_SELECT:
        if (!v->tangent[i->b] && !v->tangent[i->c]) return 0;
        return fold(v, K_SELECT, v->map[i->a], some(v, i->b), some(v, i->c));
    case K_ANALYTIC: return analytic(v, i);
    default: return arithmetic(v, i, v->map[r]);
    }
}

static void write(Dual *v, const KIns *i) {
    switch ((KOp)i->op) {
    case K_SET:
        if (is_live(v, i->a)) add(v, (KMake){K_SET, .a = v->tangent[i->a], .b = some(v, i->b)});
        return;
    case K_ASTORE:
    case K_AATOMIC:
        if (is_live(v, i->a)) add(v, kir_like(i, v->tangent[i->a], v->map[i->b], some(v, i->c)));
        return;
    case K_STORE:
    case K_ATOMIC:
        if (twin(v, i) < 0) return;
        add(v, (KMake){(KOp)i->op, .flag = i->flag, .a = kadjindex_packed(v->g, v->f, i, mapped, v), .b = some(v, i->b),
                       .c = v->map[i->c], .imm = (uint64_t)twin(v, i)});
        return;
    default: return;
    }
}

KFunc *kforward_make(const KGrading *s) {
    size_t n = s->f->nins;
    Dual v = {.s = s, .f = s->f, .g = kautodiff_shell(s)};
    v.map = qarena_alloc(s->arena, qmem_size(n, sizeof(KRef), 0)),
    v.tangent = qarena_alloc(s->arena, qmem_size(n, sizeof(KRef), 0));
    for (KRef r = 1; r < n; r++) {
        const KIns *i = &v.f->ins[r];
        v.pos = i->pos;
        write(&v, i); /* before the write itself: its operands are the same */
        v.map[r] = kir_copy(v.g, i, v.map[i->a], v.map[i->b], v.map[i->c]);
        v.tangent[r] = kir_has_result(i) ? tangent_of(&v, r) : 0;
    }
    kir_seal(v.g);
    return v.g;
}
