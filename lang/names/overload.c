/* overload.c -- implements overload resolution; overload.h states the rules. */
#include "lang/names/overload.h"

#include <string.h>

/* -- element types ------------------------------------------------------------------------------------------------- */
static bool int_is_within(qs_dtype a, qs_dtype b) {
    double lo, hi, least, most;
    if (!qdtype_is_int(b)) return qdtype_size(b) > 2 || qdtype_size(a) == 1;
    qdtype_int_span(a, &lo, &hi), qdtype_int_span(b, &least, &most);
    return lo >= least && hi <= most;
}

/* Returns whether b can represent every number of a.  Integers count as exact in float32 and wider types. */
static bool dtype_is_within(qs_dtype a, qs_dtype b) {
    if (a == b || a == QS_B1) return true;
    if (b == QS_B1 || (qdtype_is_complex(a) && !qdtype_is_complex(b))) return false;
    if (qdtype_is_complex(b)) return dtype_is_within(qdtype_real_of(a), qdtype_real_of(b));
    if (qdtype_is_int(a)) return int_is_within(a, b);
    return qdtype_is_real(b) && qdtype_size(a) < qdtype_size(b);
}

/* float64 counts as scalar, and complex128 as cscalar, because arrays of these types are passed unchanged. */
static bool counts_as_scalar(const Ctx *c, qs_dtype given, qs_dtype t) {
    if (c->scalar_dtype != QS_F32 || qdtype_real_of(given) != QS_F64) return false;
    return dtype_is_within(qdtype_is_complex(given) ? QS_C64 : QS_F32, t);
}

static Fit fit_dtype(const Ctx *c, qs_dtype given, qs_dtype t) {
    if (given == t) return FIT_EXACT;
    if (qdtype_is_complex(given) && !qdtype_is_complex(t)) return FIT_NO;
    return dtype_is_within(given, t) || counts_as_scalar(c, given, t) ? FIT_CONVERTS : FIT_LOSSY;
}

static Fit worse(Fit a, Fit b) { return a < b ? a : b; }

/* -- arrays -------------------------------------------------------------------------------------------------------- */
typedef struct {
    Ctx *c;
    void *ud;      /* GivenCall.ud */
    int arg, axis; /* current argument; axis whose extent must be known first, or -1 */
} Fitting;

static Fit fit_type(Fitting *f, GivenArg *g, Declared d);

/* Computes the extents of a fixed-size type in the normal form of arrays and returns the rank: 1xN has rank 1, and
 * trailing extents of 1 beyond the second are dropped. */
static int normalise(const Type *t, int64_t *want) {
    int rank = t->nfixed;
    for (int i = 0; i < rank; i++) want[i] = t->dims[i];
    while (rank > 2 && want[rank - 1] == 1) rank--;
    if (rank == 2 && want[0] == 1) want[0] = want[1], rank = 1;
    return rank;
}

static bool have_extents(Fitting *f, GivenArg *g, int first, int n, const int64_t *want) {
    g->looked = true;
    for (int i = 0; i < n; i++) {
        int64_t extent = g->dims ? g->dims[first + i] : -1;
        if (extent < 0) return f->axis = first + i, true;
        if (extent != want[i]) return false;
    }
    return true;
}

static Fit fit_rank(Fitting *f, GivenArg *g, int rank, const Type *t) {
    int64_t want[QS_MAX_RANK];
    if (t->rank == RANK_ANY) return FIT_CONVERTS;
    if (!t->nfixed) return rank > t->rank ? FIT_NO : rank < t->rank ? FIT_CONVERTS : FIT_EXACT;
    if (rank != normalise(t, want) || !have_extents(f, g, 0, rank, want)) return FIT_NO;
    return rank < t->rank ? FIT_CONVERTS : FIT_EXACT;
}

/* Fits an array to a type such as vec[vec3], where the last dimensions of the array form the entries. */
static Fit fit_entries(Fitting *f, GivenArg *g, const Type *t) {
    const Type *e = t->inner;
    int outer = g->type->rank - e->rank;
    int64_t want[QS_MAX_RANK];
    if (e->kind == TY_ANY) return g->entries && g->type->rank - g->entries <= t->rank ? FIT_CONVERTS : FIT_NO;
    if (e->kind != TY_ARRAY || e->inner->kind != TY_NUM || e->rank == RANK_ANY || outer != t->rank) return FIT_NO;
    if (g->entries && g->entries != e->rank) return FIT_NO;
    for (int i = 0; i < e->nfixed; i++) want[i] = e->dims[i];
    if (e->nfixed && !have_extents(f, g, outer, e->nfixed, want)) return FIT_NO;
    return worse(FIT_CONVERTS, fit_dtype(f->c, g->type->inner->dtype, e->inner->dtype));
}

static Fit fit_items(Fitting *f, GivenArg *g, const Type *elem, bool open) {
    const Type *given = g->type->inner;
    if (elem->kind == TY_NUM) return FIT_NO;
    if (elem == given || (open && elem->kind == TY_ANY)) return FIT_EXACT;
    if (qtype_accepts(f->c, elem, given)) return FIT_CONVERTS;
    g->looked = true;
    return g->items && g->items(f->ud, g->of, elem) ? FIT_CONVERTS : FIT_NO;
}

static Fit fit_array(Fitting *f, GivenArg *g, const Type *t, bool open) {
    const Type *given = g->type;
    if (given->kind != TY_ARRAY) return FIT_NO;
    bool numeric = !g->items, any = open && t->inner->kind == TY_ANY;
    if (g->entries || (g->is_flat && numeric && t->inner->kind == TY_ARRAY)) return fit_entries(f, g, t);
    if (numeric && t->inner->kind != TY_NUM && !any) return FIT_NO;
    Fit elements = !numeric ? fit_items(f, g, t->inner, open)
                   : any    ? FIT_EXACT
                            : fit_dtype(f->c, given->inner->dtype, t->inner->dtype);
    return elements == FIT_NO ? FIT_NO : worse(elements, fit_rank(f, g, given->rank, t));
}

/* -- other types --------------------------------------------------------------------------------------------------- */
static Fit fit_number(const Ctx *c, const GivenArg *g, const Type *t) {
    if (g->type->kind != TY_NUM) return FIT_NO;
    Fit fit = fit_dtype(c, g->type->dtype, t->dtype);
    bool as_int = g->integral && fit == FIT_LOSSY && dtype_is_within(QS_I32, t->dtype);
    return as_int ? FIT_INTEGRAL : fit;
}

static Fit fit_function(GivenArg *g, const Type *t) {
    bool foreign = g->type->kind == TY_FOREIGN && t->kind == TY_FN;
    if (foreign) return g->takes && g->takes(g->of, 0) ? FIT_CONVERTS : FIT_NO;
    if (g->type->kind != t->kind) return FIT_NO;
    if (t->kind == TY_KERNEL || !t->args) return FIT_EXACT;
    g->looked = true;
    return !g->takes || g->takes(g->of, t->nargs) ? FIT_EXACT : FIT_NO;
}

static Fit fit_class(const GivenArg *g, const Type *t, bool open) {
    if (g->is_null || g->type == t) return FIT_EXACT;
    return open && t->generic && t->generic == g->type->generic ? FIT_EXACT : FIT_NO;
}

static Fit fit_member(Fitting *f, GivenArg *g, const Type *t, bool open) {
    Fit best = FIT_NO;
    for (int i = 0; i < t->nargs; i++) {
        Fit fit = fit_type(f, g, (Declared){t->args[i], open});
        if (fit > best) best = fit;
    }
    return best;
}

static Fit fit_type(Fitting *f, GivenArg *g, Declared d) {
    const Type *t = d.type;
    switch (t->kind) {
    case TY_ANY: return FIT_UNTYPED;
    case TY_NUM: return fit_number(f->c, g, t);
    case TY_ARRAY: return fit_array(f, g, t, d.open);
    case TY_FN:
    case TY_KERNEL: return fit_function(g, t);
    case TY_OBJECT: return g->is_null || g->dynamic || g->type->kind == TY_OBJECT ? FIT_EXACT : FIT_NO;
    case TY_CLASS: return fit_class(g, t, d.open);
    case TY_PTR: return fit_type(f, g, (Declared){t->inner, d.open});
    case TY_UNION: return fit_member(f, g, t, d.open);
    case TY_STRING:
    case TY_TYPE:
    case TY_FOREIGN: break;
    }
    return g->type->kind == t->kind ? FIT_EXACT : FIT_NO;
}

/* -- which of two types is more specific --------------------------------------------------------------------------- */
static bool is_within(Declared a, Declared b);

static bool elements_are_within(const Type *a, bool a_open, const Type *b, bool b_open) {
    bool a_any = a_open && a->kind == TY_ANY, b_any = b_open && b->kind == TY_ANY;
    if (a_any || b_any) return b_any;
    if (a->kind == TY_NUM || b->kind == TY_NUM) return a->kind == b->kind && dtype_is_within(a->dtype, b->dtype);
    return is_within((Declared){a, a_open}, (Declared){b, b_open});
}

static bool array_is_within(Declared a, Declared b) {
    const Type *s = a.type, *t = b.type;
    if (t->rank != RANK_ANY && (s->rank == RANK_ANY || s->rank > t->rank)) return false;
    if (t->nfixed && (s->nfixed != t->nfixed || memcmp(s->dims, t->dims, t->nfixed * sizeof *t->dims) != 0))
        return false;
    return elements_are_within(s->inner, a.open, t->inner, b.open);
}

static bool union_is_within(Declared a, Declared b) {
    for (int i = 0; i < a.type->nargs; i++)
        if (!is_within((Declared){a.type->args[i], a.open}, b)) return false;
    return true;
}

static bool is_within_member(Declared a, Declared b) {
    for (int i = 0; i < b.type->nargs; i++)
        if (is_within(a, (Declared){b.type->args[i], b.open})) return true;
    return false;
}

/* Returns whether type b accepts every value that type a accepts. */
static bool is_within(Declared a, Declared b) {
    const Type *s = a.type, *t = b.type;
    if (!t || t->kind == TY_ANY || (s == t && a.open <= b.open)) return true;
    if (!s || s->kind == TY_ANY) return false;
    if (s->kind == TY_PTR || t->kind == TY_PTR)
        return is_within((Declared){s->kind == TY_PTR ? s->inner : s, a.open},
                         (Declared){t->kind == TY_PTR ? t->inner : t, b.open});
    if (s->kind == TY_UNION) return union_is_within(a, b);
    if (t->kind == TY_UNION) return is_within_member(a, b);
    if (s->kind == TY_CLASS && t->kind == TY_OBJECT)
        return true; /* an argument that fits both is null or an object of that class */
    if (s->kind != t->kind) return false;
    if (s->kind == TY_NUM) return dtype_is_within(s->dtype, t->dtype);
    if (s->kind == TY_ARRAY) return array_is_within(a, b);
    if (s->kind == TY_FN || s->kind == TY_KERNEL) return !t->args || (s->args && s->nargs == t->nargs);
    return s->kind != TY_CLASS || (b.open && t->generic && t->generic == s->generic);
}

/* -- a call of one function ---------------------------------------------------------------------------------------- */
typedef struct {
    Declared declared;
    uint8_t fit;
} Slot;
typedef struct {
    Slot *at;
    bool takes, lossy;
    int left;
} Row;

/* Returns the parameter that argument i is passed to; -1: none. */
static int param_of(const Func *f, const GivenCall *call, int i) {
    int npos = call->n - call->nnamed, next = 0;
    for (int p = 0; p < f->nparams; p++) {
        const Param *param = &f->params[p];
        if (call->skips && call->skips(param)) continue;
        if (i >= npos && !param->variadic && param->name == call->names[i - npos]) return next >= npos ? p : -1;
        if (i < npos && (param->variadic || next == i)) return p;
        next++;
    }
    return -1;
}

static Fit fit_param(const Overloads *o, Fitting *f, const Func *func, const Param *p, GivenArg *g, Declared *d) {
    *d = (Declared){0};
    if (p->variadic || !p->type || g->fits_all) return FIT_UNTYPED;
    if (!o->declared(o->ud, func, p, d)) return FIT_NO;
    return d->type ? fit_type(f, g, *d) : FIT_UNTYPED;
}

static void fit_builtin(const Overload *x, const GivenCall *call, Row *row) {
    row->takes = call->n >= x->least && (x->most == -1 || call->n <= x->most);
    for (int i = 0; i < call->n; i++) row->at[i] = (Slot){.fit = FIT_UNTYPED};
}

/* Returns the number of parameters without an argument; -1: one of them has no default. */
static int count_left(const Func *f, const GivenCall *call, const bool *given) {
    if (call->partial) return 0;
    int left = qast_is_variadic(f);
    for (int p = 0; p < f->nparams; p++) {
        const Param *param = &f->params[p];
        if (given[p] || param->variadic || (call->skips && call->skips(param))) continue;
        if (!param->init) return -1;
        left++;
    }
    return left;
}

enum { MOST_PARAMS = 256 };

static void fit_row(const Overloads *o, Fitting *f, const Func *func, const GivenCall *call, Row *row) {
    bool given[MOST_PARAMS];
    if (func->nparams > MOST_PARAMS) return;
    memset(given, 0, (size_t)func->nparams * sizeof *given);
    for (int i = 0; i < call->n; i++) {
        int p = param_of(func, call, i);
        if (p < 0 || (given[p] && !func->params[p].variadic)) return;
        given[p] = true;
        Slot *s = &row->at[i];
        f->arg = i;
        s->fit = (uint8_t)fit_param(o, f, func, &func->params[p], &call->at[i], &s->declared);
        if (s->fit == FIT_NO || f->axis >= 0) return;
        row->lossy |= s->fit == FIT_LOSSY;
    }
    row->left = count_left(func, call, given);
    row->takes = row->left >= 0;
}

/* -- which of several functions ------------------------------------------------------------------------------------ */
typedef enum { EQUAL, BETTER, WORSE, UNRELATED } Order;

static Order order_of_slots(const Slot *a, const Slot *b) {
    if (a->fit != b->fit) return a->fit > b->fit ? BETTER : WORSE;
    if (a->fit == FIT_UNTYPED || a->fit == FIT_LOSSY) return EQUAL; /* a narrower type would lose more */
    bool below = is_within(a->declared, b->declared), above = is_within(b->declared, a->declared);
    return below && above ? EQUAL : below ? BETTER : above ? WORSE : UNRELATED;
}

static bool is_better(const Row *a, const Row *b, int nargs) {
    bool some = false;
    for (int i = 0; i < nargs; i++) {
        Order order = order_of_slots(&a->at[i], &b->at[i]);
        if (order == WORSE || order == UNRELATED) return false;
        some |= order == BETTER;
    }
    return some || a->left < b->left;
}

static void pick_best(const Row *rows, int n, int nargs, Resolution *out) {
    bool lossless = false;
    for (int i = 0; i < n; i++) lossless |= rows[i].takes && !rows[i].lossy;
    for (int i = n; i-- > 0 && out->tie < 0;) {
        if (!rows[i].takes || (lossless && rows[i].lossy)) continue;
        bool beaten = false;
        for (int k = 0; k < n && !beaten; k++)
            beaten = k != i && rows[k].takes && !(lossless && rows[k].lossy) && is_better(&rows[k], &rows[i], nargs);
        if (!beaten) *(out->index < 0 ? &out->index : &out->tie) = i;
    }
}

/* Turns integral scalars into ints if another argument is an int. */
static void meet_ints(Ctx *c, const GivenCall *call) {
    bool any = false;
    for (int i = 0; i < call->n; i++) any |= call->at[i].type->kind == TY_NUM && qdtype_is_int(call->at[i].type->dtype);
    for (int i = 0; any && i < call->n; i++)
        if (call->at[i].integral) call->at[i].type = qtype_num(c, QS_I32), call->at[i].integral = false;
}

static void fit_all(const Overloads *o, const GivenCall *call, Row *rows, Resolution *out) {
    meet_ints(o->c, call);
    for (int i = 0; i < o->n; i++) {
        Fitting f = {o->c, call->ud, -1, -1};
        if (o->at[i].func) fit_row(o, &f, o->at[i].func, call, &rows[i]);
        else fit_builtin(&o->at[i], call, &rows[i]);
        if (f.axis < 0) continue;
        out->arg = f.arg, out->axis = f.axis;
        return;
    }
    pick_best(rows, o->n, call->n, out);
}

Resolution qoverload_choose(const Overloads *o, const GivenCall *call) {
    enum { FEW_ROWS = 16, FEW_SLOTS = 128 };
    Row few_rows[FEW_ROWS], *rows = few_rows;
    Slot few_slots[FEW_SLOTS], *slots = few_slots;
    size_t n = (size_t)o->n, all = n * (size_t)call->n;
    Resolution out = {-1, -1, -1, -1};
    if (n > FEW_ROWS) rows = qmem_alloc(o->c, qmem_size(n, sizeof *rows, 0));
    if (all > FEW_SLOTS) slots = qmem_alloc(o->c, qmem_size(all, sizeof *slots, 0));
    memset(slots, 0, all * sizeof *slots);
    for (size_t i = 0; i < n; i++) rows[i] = (Row){.at = slots + i * (size_t)call->n};
    fit_all(o, call, rows, &out);
    if (rows != few_rows) qmem_free(o->c, rows, n * sizeof *rows);
    if (slots != few_slots) qmem_free(o->c, slots, all * sizeof *slots);
    return out;
}

bool qoverload_same(const Overloads *o, const Func *a, const Func *b) {
    if (a->nparams != b->nparams) return false;
    for (int i = 0; i < a->nparams; i++) {
        const Param *p = &a->params[i], *q = &b->params[i];
        Declared s = {0}, t = {0};
        if (p->variadic != q->variadic || !p->init != !q->init) return false;
        if (p->type && !o->declared(o->ud, a, p, &s)) return false;
        if (q->type && !o->declared(o->ud, b, q, &t)) return false;
        if (!is_within(s, t) || !is_within(t, s)) return false;
    }
    return true;
}

uint64_t qoverload_hash(const Overloads *o, const Func *f) {
    uint64_t hash = (uintptr_t)f->name;
    for (int i = 0; i < f->nparams; i++) {
        Declared d = {0};
        if (f->params[i].type) (void)o->declared(o->ud, f, &f->params[i], &d);
        while (d.type && d.type->kind == TY_PTR) d.type = d.type->inner;
        bool is_class = d.type && d.type->kind == TY_CLASS && !d.type->generic; /* other types equal differing ones */
        hash = (hash + (is_class ? (uintptr_t)d.type : 1)) * 0x9E3779B97F4A7C15u;
    }
    return hash;
}

/* -- declared types ------------------------------------------------------------------------------------------------ */
typedef struct {
    Ctx *c;
    const Func *f;
    bool open;
} Params;

static const Type *param_as_any(void *ud, Str *name) {
    Params *p = ud;
    for (const Func *f = p->f; f; f = f->parent)
        for (int i = 0; i < f->ntyparams; i++)
            if (f->typarams[i] == name) return p->open = true, qtype_any(p->c);
    return NULL;
}

/* Drops the size of vec(N) or mat(M,N) if it contains a type parameter: any size fits. */
static TypeExpr *without_open_size(Params *p, TypeExpr *e) {
    for (int i = 0; e->kind == TE_FIXED && i < e->ndims; i++)
        if (e->dims[i]->kind == N_IDENT && param_as_any(p, e->dims[i]->u.ident.name)) return e->base;
    return e;
}

bool qoverload_is_within(const Type *t, const Type *constraint) {
    return is_within((Declared){t, false}, (Declared){constraint, false});
}

/* The constraint of a parameter x : T. */
static TypeExpr *constraint_of(const Func *f, const TypeExpr *e) {
    for (; f && e->kind == TE_NAME; f = f->parent)
        for (int i = 0; i < f->ntyparams; i++)
            if (f->typarams[i] == e->name) return f->constraints ? f->constraints[i] : NULL;
    return NULL;
}

bool qoverload_declared(Ctx *c, const Func *f, const Param *p, ResolveType *resolve, void *ud, Declared *out) {
    Params params = {c, f, false};
    const TypeHost host = {.ud = &params, .lookup = param_as_any};
    *out = (Declared){p->type ? p->type->resolved : NULL, false};
    if (out->type || !p->type) return true;
    TypeExpr *limit = constraint_of(f, p->type), *e = without_open_size(&params, limit ? limit : p->type);
    if (resolve(ud, e, &host, &out->type) != QS_OK) return qerr_clear(c), false;
    return out->open = params.open, true;
}
