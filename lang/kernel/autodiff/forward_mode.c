/* forward_mode.c -- builds the forward mode: computes the tangent of each value next to the value.
 *
 *     y = x*z                  y = x*z,  y' = x'*z + z'*x
 *     SET l = y                SET l = y, SET l' = y'
 *     STORE a[i] = y           STORE a[i] = y, STORE a'[i] = y'
 *
 * The control flow is that of f, so no value has to be recomputed.  A tangent that is known to be zero is not
 * computed. */
#include "lang/kernel/autodiff/autodiff_internal.h"
#include "lang/kernel/elem/elem_build.h"

typedef struct {
    const KGrading *s;
    const KFunc *f;
    KFunc *g;
    KRef *map, *tangent; /* by instruction of f: its value, its tangent; for LOCALs and arrays: the two copies */
} Dual;

static bool is_live(const Dual *v, KRef r) { return r && v->s->act.live[r]; }
static KRef tangent_or_zero(Dual *v, KRef r) { /* the tangent of r, as an explicit 0 if it is zero */
    return v->tangent[r] ? v->tangent[r] : kir_zero(v->g, (qs_dtype)v->f->ins[r].dtype);
}

static KRef use_value(void *v, KRef r) { return ((Dual *)v)->map[r]; }

static KRef arithmetic_tangent(Dual *v, const KIns *i, KRef result) {
    KRef args[2] = {v->map[i->a], v->map[i->b]}, sum = 0;
    for (int k = 0; k < 2; k++)
        if (i->arg[k] && v->tangent[i->arg[k]])
            sum = kautodiff_add(v->g, sum, kautodiff_slope(v->g, i, k, args, result, v->tangent[i->arg[k]]));
    return sum;
}

static KRef analytic_tangent(Dual *v, const KIns *i) {
    KPair slope = kautodiff_analytic(v->g, i, (KPair){v->map[i->b], v->map[i->c]});
    KRef sum = 0;
    for (int k = 1; k < 3; k++)
        if (v->tangent[i->arg[k]])
            sum = kautodiff_add(v->g, sum, kautodiff_along(v->g, i, k, slope, v->tangent[i->arg[k]]));
    return sum;
}

static int tangent_param(const Dual *v, const KIns *i) { return v->s->param[i->imm].adjoint; }

static KRef load_param_tangent(Dual *v, const KIns *i, int p) {
    return kir_emit(v->g, (KMake){K_LOAD, .own = (qs_dtype)i->dtype, .a = kir_int(v->g, 0), .imm = (uint64_t)p});
}

static KRef tangent_of(Dual *v, KRef r) {
    const KIns *i = &v->f->ins[r];
    if (!is_live(v, r)) return 0;
    switch ((KOp)i->op) {
    case K_PARAM: return load_param_tangent(v, i, tangent_param(v, i));
    case K_LOAD:
        return kir_emit(v->g,
                        (KMake){K_LOAD, .own = (qs_dtype)i->dtype, .a = kadjindex_packed(v->g, v->f, i, use_value, v),
                                .b = v->map[i->b], .imm = (uint64_t)tangent_param(v, i)});
    case K_LOCAL: return kir_local(v->g, tangent_or_zero(v, i->a));
    case K_LARRAY:
    case K_SHARED: return kir_emit(v->g, kir_like(i, 0, 0, 0));
    case K_GET: return kir_get(v->g, v->tangent[i->a]);
    case K_ALOAD: return kir_emit(v->g, (KMake){K_ALOAD, .a = v->tangent[i->a], .b = v->map[i->b]});
    case K_CAST:
        if (!v->tangent[i->a]) return 0;
        return kir_cast(v->g, (qs_dtype)i->dtype, v->tangent[i->a]);
    case K_SELECT:
        if (!v->tangent[i->b] && !v->tangent[i->c]) return 0;
        return kir_select(v->g, v->map[i->a], tangent_or_zero(v, i->b), tangent_or_zero(v, i->c));
    case K_ANALYTIC: return analytic_tangent(v, i);
    default: return arithmetic_tangent(v, i, v->map[r]);
    }
}

static void write_tangent(Dual *v, const KIns *i) {
    switch ((KOp)i->op) {
    case K_SET:
        if (is_live(v, i->a)) kir_set(v->g, v->tangent[i->a], tangent_or_zero(v, i->b));
        return;
    case K_ASTORE:
    case K_AATOMIC:
        if (is_live(v, i->a)) kir_emit(v->g, kir_like(i, v->tangent[i->a], v->map[i->b], tangent_or_zero(v, i->c)));
        return;
    case K_STORE:
    case K_ATOMIC:
        if (tangent_param(v, i) < 0) return;
        kir_emit(v->g, (KMake){(KOp)i->op, .flag = i->flag, .a = kadjindex_packed(v->g, v->f, i, use_value, v),
                               .b = tangent_or_zero(v, i->b), .c = v->map[i->c], .imm = (uint64_t)tangent_param(v, i)});
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
        v.g->pos = i->pos;
        write_tangent(&v, i); /* before the write itself: its operands are the same */
        kir_copy_mapped(v.g, v.f, v.map, r);
        v.tangent[r] = kir_has_result(i) ? tangent_of(&v, r) : 0;
    }
    kir_seal(v.g);
    return v.g;
}
