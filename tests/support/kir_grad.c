#include "tests/support/kir_grad.h"

#include "lang/kernel/ir/kir.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PARAMS = 96 };

static uint64_t next(uint64_t *s) {
    uint64_t z = *s += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static double uniform(uint64_t *s) { return (double)(next(s) >> 11) * 0x1p-52 - 1; }

/* -- arrays and numbers as rows of doubles ------------------------------------------------------------------------- */
static int64_t count(const KParam *p, const KArg *a) {
    int64_t n = qdtype_is_complex((qs_dtype)p->dtype) ? 2 : 1;
    for (int i = 0; p->kind == KP_ARRAY && i < p->rank; i++) n *= a->dims[i];
    return n;
}

static size_t size_of(const KParam *p) { return qdtype_size(qdtype_real_of((qs_dtype)p->dtype)); }

/* The address of element e in row order, the parts of complex numbers one after the other. */
static int64_t place(const KParam *p, const KArg *a, int64_t e) {
    int parts = qdtype_is_complex((qs_dtype)p->dtype) ? 2 : 1;
    int64_t part = e % parts, at = 0;
    e /= parts;
    for (int i = p->rank - 1; i >= 0; i--) at += e % a->dims[i] * a->strides[i], e /= a->dims[i];
    return at * parts + part;
}

static double read(const KParam *p, const KArg *a, int64_t e) {
    qs_dtype d = qdtype_real_of((qs_dtype)p->dtype);
    if (p->kind == KP_NUM) return d == QS_F32 ? (double)(KSlot){a->bits}.F32 : (KSlot){a->bits}.F64;
    return qdtype_get(d, (char *)a->data + place(p, a, e) * (int64_t)size_of(p));
}

static void write(const KParam *p, KArg *a, int64_t e, double v) {
    qs_dtype d = qdtype_real_of((qs_dtype)p->dtype);
    KSlot s = {0};
    if (d == QS_F32) s.F32 = (float)v;
    else s.F64 = v;
    if (p->kind == KP_NUM) a->bits = s.bits;
    else qdtype_put(d, (char *)a->data + place(p, a, e) * (int64_t)size_of(p), v);
}

/* The memory that an argument touches: from its least to its last element. */
static void *fresh(Arena *arena, const KParam *p, const KArg *a) {
    int64_t low = 0, high = 0, parts = qdtype_is_complex((qs_dtype)p->dtype) ? 2 : 1;
    for (int i = 0; i < p->rank; i++) *(a->strides[i] < 0 ? &low : &high) += (a->dims[i] - 1) * a->strides[i];
    int64_t unit = parts * (int64_t)size_of(p);
    char *m = qarena_alloc(arena, (size_t)((high - low + 1) * unit) + 64);
    if (count(p, a)) memcpy(m, (char *)a->data + low * unit, (size_t)((high - low + 1) * unit));
    return m - low * unit;
}

static void copy_args(Arena *arena, const KFunc *f, const KArg *from, KArg *to) {
    for (int i = 0; i < f->nparams; i++) {
        to[i] = from[i];
        if (f->params[i].kind == KP_ARRAY) to[i].data = fresh(arena, &f->params[i], &from[i]);
    }
}

/* -- running ------------------------------------------------------------------------------------------------------- */
static int64_t positions(const KLaunch *l) {
    int64_t n = 1;
    for (int i = 0; i < l->rank; i++) n *= l->domain[i];
    return n;
}

static KArg row(Arena *arena, int64_t n) {
    return (KArg){.data = qarena_alloc(arena, (size_t)(n < 1 ? 1 : n) * 8), .dims = {n < 1 ? 1 : n}, .strides = {1}};
}

static void pack_strides(const KParam *p, KArg *a) {
    int64_t s = 1;
    for (int i = p->rank - 1; i >= 0; i--) a->strides[i] = s, s *= a->dims[i];
}

static void bind_extras(Arena *arena, const KGrad *d, KArg *args, const KLaunch *l, bool counted, const KArg *after) {
    int64_t room[KGRAD_TAPES];
    for (int t = 0; t < KGRAD_TAPES; t++) room[t] = d->room[t];
    for (int i = 0; i < d->nextra; i++)
        if (d->extra[i].kind == KX_COUNT && counted)
            room[d->extra[i].which] = *(int64_t *)args[d->first_extra + i].data;
    for (int i = 0; i < d->nextra; i++) {
        KArg *a = &args[d->first_extra + i];
        int which = d->extra[i].which;
        const KParam *p = &d->pass[0].func->params[d->first_extra + i];
        switch ((KExtraKind)d->extra[i].kind) {
        case KX_EXTENT: a->bits = (uint64_t)l->domain[which]; break;
        case KX_ROOM: a->bits = (uint64_t)room[which]; break;
        case KX_COUNT:
            if (!counted) *a = row(arena, 1);
            break;
        case KX_TAPE: *a = row(arena, counted ? room[which] * positions(l) : 1); break;
        case KX_GROUP:
        case KX_CLAIM:
            *a = args[which], pack_strides(p, a);
            a->data = qarena_alloc(arena, (size_t)count(p, a) * 8 + 8);
            break;
        case KX_AFTER: *a = after[which]; break;
        }
    }
}

static KLaunch domain_of(const KGradPass *p, const KArg *args, const KLaunch *l) {
    if (p->over < 0) {
        KLaunch same = *l;
        if (p->row) same.domain[l->rank - 1] = (l->domain[l->rank - 1] + p->row - 1) / p->row;
        return same;
    }
    KLaunch g = {.rank = p->func->rank};
    for (int i = 0; i < g.rank; i++) g.domain[i] = args[p->over].dims[p->axis[i]], g.block[i] = 1;
    return g;
}

qs_status kgradtest_run(Ctx *c, Arena *arena, const KFunc *f, const KGrad *d, KArg *args, const KLaunch *l) {
    KArg after[MAX_PARAMS], now[MAX_PARAMS];
    copy_args(arena, f, args, after);
    TRY(keval_run(c, f, after, l, NULL, NULL));
    for (int k = 0; k < d->npasses; k++) {
        const KGradPass *p = &d->pass[k];
        bool counted = !p->counts;
        if (k == 0 || d->pass[k - 1].counts) bind_extras(arena, d, args, l, counted, after);
        memcpy(now, args, sizeof now);
        for (int i = 0; i < f->nparams; i++)
            if (p->again && d->param[i].changed && f->params[i].kind == KP_ARRAY)
                now[i].data = fresh(arena, &f->params[i], &args[i]);
        for (int i = 0; i < f->nparams; i++)
            if (!d->param[i].needed && !d->param[i].changed && f->params[i].kind == KP_ARRAY) now[i].data = NULL;
        KLaunch where = domain_of(p, args, l);
        TRY(keval_run(c, p->func, now, &where, NULL, NULL));
    }
    return QS_OK;
}

/* -- checking ------------------------------------------------------------------------------------------------------ */
typedef struct {
    KGradCase *k;
    const KFunc *f;
    bool active[MAX_PARAMS];
    double *u[MAX_PARAMS], *v[MAX_PARAMS]; /* directions: of what goes in, of what comes out */
} Check;

static bool is_active(const Check *t, int i) { return t->active[i]; }

static void choose(Check *t) {
    uint64_t s = t->k->seed * 0x2545f4914f6cdd1du + 1;
    for (int i = 0; i < t->f->nparams; i++) {
        const KParam *p = &t->f->params[i];
        qs_dtype d = (qs_dtype)p->dtype;
        t->active[i] = t->k->active ? t->k->active[i] : qdtype_is_real(d) || qdtype_is_complex(d);
        int64_t n = count(p, &t->k->args[i]);
        t->u[i] = qarena_alloc(t->k->arena, (size_t)n * 8), t->v[i] = qarena_alloc(t->k->arena, (size_t)n * 8);
        for (int64_t e = 0; e < n; e++) t->u[i][e] = uniform(&s), t->v[i][e] = uniform(&s);
    }
}

/* Σ v · outputs, and the sum of sizes. */
static qs_status value_at(Check *t, double h, double *sum, double *size) {
    KArg args[MAX_PARAMS];
    copy_args(t->k->arena, t->f, t->k->args, args);
    for (int i = 0; i < t->f->nparams; i++)
        for (int64_t e = 0, n = count(&t->f->params[i], &args[i]); is_active(t, i) && e < n; e++)
            write(&t->f->params[i], &args[i], e, read(&t->f->params[i], &args[i], e) + h * t->u[i][e]);
    TRY(keval_run(t->k->ctx, t->f, args, &t->k->launch, NULL, NULL));
    *sum = 0;
    for (int i = 0; i < t->f->nparams; i++) {
        const KParam *p = &t->f->params[i];
        if (!is_active(t, i) || p->kind == KP_NUM) continue;
        for (int64_t e = 0, n = count(p, &args[i]); e < n; e++) {
            double x = t->v[i][e] * read(p, &args[i], e);
            *sum += x, *size += fabs(x);
        }
    }
    return QS_OK;
}

static KArg adjoint_arg(Check *t, const KGrad *d, const KFunc *g, int i, const double *from) {
    const KParam *p = &g->params[d->param[i].adjoint];
    KArg a = t->k->args[i];
    if (t->f->params[i].kind == KP_NUM) a = (KArg){.dims = {1}};
    pack_strides(p, &a);
    a.data = qarena_alloc(t->k->arena, (size_t)count(p, &a) * size_of(p) + 64);
    for (int64_t e = 0, n = count(p, &a); from && e < n; e++) write(p, &a, e, from[e]);
    return a;
}

static bool starts_at_zero(const Check *t, const KGrad *d, int i) {
    return d->param[i].stored || t->f->params[i].kind == KP_NUM;
}

static void count_ins(KGradCase *k, const KIns *i) {
    k->natomics += i->op == K_ATOMIC;
    k->nproducts += (i->op == K_MUL || i->op == K_DIV) && (i->dtype == QS_F32 || i->dtype == QS_F64);
}

static void count_passes(KGradCase *k, const KGrad *d) {
    k->npasses = d->npasses, k->natomics = k->nproducts = 0;
    for (int i = 0; i < d->npasses; i++)
        for (KRef r = 1; r < d->pass[i].func->nins; r++) count_ins(k, &d->pass[i].func->ins[r]);
}

static bool is_written(const Check *t, int i) { return t->f->params[i].kind == KP_ARRAY && t->f->params[i].written; }

/* Counts stores to adjoints of arrays that the kernel writes: adjoints of the old contents. */
static void count_zeros(const Check *t, const KGrad *d) {
    t->k->nzeros = 0;
    for (int i = 0; i < d->npasses; i++)
        for (KRef r = 1; r < d->pass[i].func->nins; r++)
            for (int p = 0; d->pass[i].func->ins[r].op == K_STORE && p < t->f->nparams; p++)
                t->k->nzeros += is_written(t, p) && (int)d->pass[i].func->ins[r].imm == d->param[p].adjoint;
}

/* read_sum: the part of the inputs that are only read.  without: the adjoints of old contents of written arrays are not
 * requested, and the others are accumulated; that changes no adjoint of an input. */
static qs_status by_reverse(Check *t, bool without, double *sum, double *read_sum, double *size) {
    KGrad d;
    KArg args[MAX_PARAMS] = {0};
    bool enters[MAX_PARAMS];
    for (int i = 0; i < t->f->nparams; i++) enters[i] = !is_written(t, i);
    KGradOf of = {.active = t->active, .enters = without ? enters : NULL, .adds = without ? enters : NULL};
    TRY(kautodiff_reverse(t->k->ctx, t->k->arena, t->f, &of, &d));
    if (without) count_zeros(t, &d);
    else count_passes(t->k, &d);
    copy_args(t->k->arena, t->f, t->k->args, args);
    const KFunc *g = d.pass[0].func;
    for (int i = 0; i < t->f->nparams; i++)
        if (is_active(t, i))
            args[d.param[i].adjoint] = adjoint_arg(t, &d, g, i, starts_at_zero(t, &d, i) ? NULL : t->v[i]);
    TRY(kgradtest_run(t->k->ctx, t->k->arena, t->f, &d, args, &t->k->launch));
    *sum = *read_sum = 0;
    for (int i = 0; i < t->f->nparams; i++) {
        if (!is_active(t, i) || (without && is_written(t, i))) continue;
        int a = d.param[i].adjoint;
        for (int64_t e = 0, n = count(&g->params[a], &args[a]); e < n; e++) {
            double x = read(&g->params[a], &args[a], e);
            if (d.param[i].stored) x += t->v[i][e]; /* inputs that are only read are outputs as well, unchanged */
            if (!is_written(t, i)) *read_sum += t->u[i][e] * x;
            *sum += t->u[i][e] * x, *size += fabs(t->u[i][e] * x);
        }
    }
    return QS_OK;
}

static qs_status by_forward(Check *t, double *sum, double *size) {
    KGrad d;
    KArg args[MAX_PARAMS] = {0};
    TRY(kautodiff_forward(t->k->ctx, t->k->arena, t->f, t->active, &d));
    copy_args(t->k->arena, t->f, t->k->args, args);
    const KFunc *g = d.pass[0].func;
    for (int i = 0; i < t->f->nparams; i++)
        if (is_active(t, i)) args[d.param[i].adjoint] = adjoint_arg(t, &d, g, i, t->u[i]);
    TRY(keval_run(t->k->ctx, g, args, &t->k->launch, NULL, NULL));
    *sum = 0;
    for (int i = 0; i < t->f->nparams; i++) {
        if (!is_active(t, i) || t->f->params[i].kind == KP_NUM) continue;
        int a = d.param[i].adjoint;
        for (int64_t e = 0, n = count(&g->params[a], &args[a]); e < n; e++) {
            double x = t->v[i][e] * read(&g->params[a], &args[a], e);
            *sum += x, *size += fabs(x);
        }
    }
    return QS_OK;
}

static bool near(double a, double b, double size, double tolerance) {
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= tolerance * (1 + size);
}

static void show(const KFunc *f, Text *why) {
    qtext_puts(why, "\n");
    kir_print(f, why);
}

static bool failed(Check *t, Text *why, const char *what) {
    qtext_printf(why, "%s: %s", what, t->k->ctx->err.text);
    show(t->f, why);
    qerr_clear(t->k->ctx);
    return false;
}

/* The derivative of the reverse derivative: as a kernel of its own, whose parameters are those and the adjoints. */
static bool check_again(Check *t, Text *why) {
    KGrad d;
    KArg args[MAX_PARAMS] = {0};
    bool active[MAX_PARAMS] = {0};
    KGradOf of = {.active = t->active};
    if (kautodiff_reverse(t->k->ctx, t->k->arena, t->f, &of, &d) != QS_OK) return failed(t, why, "reverse");
    copy_args(t->k->arena, t->f, t->k->args, args);
    const KFunc *g = d.pass[0].func;
    for (int i = 0; i < t->f->nparams; i++) {
        active[i] = t->active[i];
        if (!is_active(t, i)) continue;
        args[d.param[i].adjoint] = adjoint_arg(t, &d, g, i, t->f->params[i].kind == KP_NUM ? NULL : t->v[i]);
        active[d.param[i].adjoint] = true;
    }
    for (int k = 0; k < d.npasses; k++) {
        if (d.pass[k].again) return true; /* tapes: the passes are meaningful only together */
        bind_extras(t->k->arena, &d, args, &t->k->launch, true, NULL);
        KGradCase second = *t->k;
        second.func = d.pass[k].func, second.args = args, second.active = active, second.again = false;
        second.launch = domain_of(&d.pass[k], args, &t->k->launch);
        if (kgradtest_check(&second, why)) continue;
        qtext_printf(why, "\nthat is pass %d of the derivative of", k), show(t->f, why);
        return false;
    }
    return true;
}

bool kgradtest_check(KGradCase *k, Text *why) {
    Check t = {.k = k, .f = k->func};
    double h = 1e-5, up = 0, down = 0, size = 0, reverse = 0, forward = 0, own = 0, read_sum, all, part;
    choose(&t);
    if (by_reverse(&t, true, &all, &part, &own) != QS_OK) return failed(&t, why, "reverse, without");
    own = 0;
    if (by_reverse(&t, false, &reverse, &read_sum, &own) != QS_OK) return failed(&t, why, "reverse");
    if (!near(part, read_sum, own, k->rounding ? k->rounding : 1e-10)) {
        qtext_printf(why, "reverse %.17g, %.17g added to what has arrived", read_sum, part);
        show(k->func, why);
        return false;
    }
    if (!k->reverse_only && by_forward(&t, &forward, &own) != QS_OK) return failed(&t, why, "forward");
    if (!k->reverse_only && !near(reverse, forward, own, k->rounding ? k->rounding : 1e-10)) {
        qtext_printf(why, "reverse %.17g, forward %.17g", reverse, forward);
        show(k->func, why);
        KGrad d;
        if (kautodiff_reverse(k->ctx, k->arena, k->func, &(KGradOf){.active = t.active}, &d) != QS_OK) return false;
        for (int i = 0; i < d.npasses; i++) show(d.pass[i].func, why);
        return false;
    }
    if (!k->exact_only) {
        if (value_at(&t, h, &up, &size) != QS_OK || value_at(&t, -h, &down, &size) != QS_OK)
            return failed(&t, why, "value");
        double slope = (up - down) / (2 * h);
        if (!near(reverse, slope, size + own, k->tolerance ? k->tolerance : 1e-6)) {
            qtext_printf(why, "reverse %.17g, difference quotient %.17g", reverse, slope);
            show(k->func, why);
            return false;
        }
    }
    return !k->again || check_again(&t, why);
}
