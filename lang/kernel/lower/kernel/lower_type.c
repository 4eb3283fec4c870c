/* lower_type.c -- resolves type annotations, converts values to them, binds type parameters, constructs values. */
#include "lang/kernel/lower/kernel/lower_internal.h"

/* -- resolving ----------------------------------------------------------------------------------------------------- */
static const Type *lookup_type(void *ud, Str *name) {
    Lower *L = ud;
    for (InlineFrame *i = L->in; i; i = i->up)
        for (int k = 0; k < i->func->ntyparams; k++)
            if (i->func->typarams[k] == name) return i->typarams[k] ? i->typarams[k] : qtype_any(L->c);
    const LowerHost *h = L->job->host;
    return h && h->type ? h->type(h->ud, L->in->func, name) : NULL;
}

static const Type *lookup_instance(void *ud, Str *generic, const Type **args, int nargs) {
    Lower *L = ud;
    const LowerHost *h = L->job->host;
    return h && h->instance ? h->instance(h->ud, L->in->func, generic, args, nargs) : NULL;
}

int64_t kltype_size(const Lower *L, const Str *name) {
    for (const InlineFrame *i = L->in; i; i = i->up)
        for (int k = 0; k < i->func->ntyparams; k++)
            if (i->func->typarams[k] == name) return i->sizes[k];
    return 0;
}

static bool known_dimension(void *ud, Str *name, double *value) {
    Lower *L = ud;
    int64_t size = kltype_size(L, name);
    if (size) return *value = (double)size, true;
    for (int i = 0; i < L->in->func->nlocals; i++) {
        const Var *v = &L->in->vars[i];
        if (v->name == name && v->val.kind == V_NUM && v->val.rank == 0)
            return klnum_known(L, klval_num(&v->val, 0), value);
    }
    return false;
}

static void offer_nothing(void *ud, Nearest *near) { (void)ud, (void)near; }

qs_status kltype_resolve(Lower *L, TypeExpr *e, const Type **out, TypeMods *mods) {
    TypeHost host = {L, lookup_type, lookup_instance, known_dimension, offer_nothing};
    const Func *f = L->in->func;
    *mods = (TypeMods){0};
    return qtypes_resolve(L->c, e, &host, f->unit ? f->unit->src : NULL, out, mods);
}

/* -- converting ---------------------------------------------------------------------------------------------------- */
static qs_status fail_unfit(Lower *L, const Type *t, const char *what, uint32_t pos, const Val *v) {
    return klower_error(L, QS_ETYPE, pos, "%s must be %s, got %s", what, qtype_name(t), klval_type_name(L, v));
}

/* A host number declared as a scalar stays weak: it is exact with any operand. */
static Num as_scalar(Lower *L, Num n) {
    if (!klnum_is_weak(n)) return klnum_cast(L, n, L->c->scalar_dtype);
    Weak *w = qarena_alloc(L->arena, sizeof *w);
    *w = *n.re.weak, w->integral = w->declared = false;
    return klnum_from_weak(L, w);
}

/* All floats count as scalars: float64 keeps its digits, as on the host. */
static bool counts_as(Lower *L, Num n, qs_dtype d) {
    bool wide = n.dtype == QS_F64 || (n.dtype == QS_C128 && qdtype_is_complex(d));
    return wide && qdtype_real_of(d) == L->c->scalar_dtype;
}

Num kltype_number(Lower *L, Num n, qs_dtype d) {
    bool plain = d == L->c->scalar_dtype && !qdtype_is_complex(n.dtype);
    if (plain && (klnum_is_weak(n) || !qdtype_is_real(n.dtype))) return as_scalar(L, n);
    if (!klnum_is_weak(n) && counts_as(L, n, d)) return qdtype_is_complex(d) ? klnum_cast(L, n, QS_C128) : n;
    return klnum_narrow(L, n, d);
}

void kltype_numbers(Lower *L, const Val *v, qs_dtype d, Val *out) {
    int64_t n = klval_count(v);
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)(n ? n : 1), sizeof *nums, 0));
    for (int64_t i = 0; i < n; i++) nums[i] = kltype_number(L, klval_num(v, i), d);
    bool is_pos = v->is_pos && n && qdtype_is_int(d);
    klval_from_nums(L, nums, v->rank, v->dims, out);
    out->is_pos = is_pos;
}

static qs_status coerce_number(Lower *L, const Type *t, const char *what, uint32_t pos, Val *v) {
    if (v->kind != V_NUM || klval_count(v) != 1) return fail_unfit(L, t, what, pos, v);
    Num n = klval_num(v, 0);
    if (qdtype_is_complex(n.dtype) && !qdtype_is_complex(t->dtype)) return fail_unfit(L, t, what, pos, v);
    bool is_pos = v->is_pos;
    klval_number(L, kltype_number(L, n, t->dtype), v);
    v->is_pos = is_pos && qdtype_is_int(t->dtype);
    return QS_OK;
}

static bool dims_match(const Type *t, const Val *v) {
    if (!t->nfixed) return true;
    int skip = v->rank - t->rank; /* a vec for a matrix with one row */
    if (skip) return v->rank == 1 && t->rank == 2 && t->dims[0] == 1 && t->dims[1] == v->dims[0];
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] != v->dims[i]) return false;
    return true;
}

static qs_status coerce_small(Lower *L, const Type *t, const char *what, uint32_t pos, Val *v) {
    Val all;
    TRY(klval_components(L, v, &all));
    if (all.kind == V_UNKNOWN) return *v = all, QS_OK;
    if (t->nfixed && all.rank == 0) { /* one number fills the array */
        int64_t dims[QS_MAX_RANK];
        for (int i = 0; i < t->rank; i++) dims[i] = t->dims[i];
        Val zero, sum;
        klval_zero(L, QS_I32, t->rank, dims, 0, &zero);
        TRY(klval_binary(L, OP_ADD, &zero, &all, &sum));
        all = sum;
    }
    if (all.rank == 0 || (t->rank != RANK_ANY && all.rank > t->rank) || !dims_match(t, &all))
        return fail_unfit(L, t, what, pos, v);
    if (qdtype_is_complex(all.dtype) && !qdtype_is_complex(t->inner->dtype)) return fail_unfit(L, t, what, pos, v);
    kltype_numbers(L, &all, t->inner->dtype, v);
    v->made = klval_made(t->inner->dtype);
    return QS_OK;
}

/* Checks the extents of an array passed as a fixed-size type.  This happens at compile time, so they must be known. */
static qs_status check_fixed(Lower *L, const Type *t, const char *what, uint32_t pos, const Val *v) {
    for (int i = 0; i < t->nfixed; i++) {
        if (v->dims[i] < 0) return klower_need(L, v->u.array->host.source, i, v->rank);
        if (v->dims[i] != t->dims[i])
            return klower_error(L, QS_ESHAPE, pos, "%s must be %s, got extent %lld along dimension %d", what,
                                qtype_name(t), (long long)v->dims[i], t->nfixed == 1 ? 1 : i); /* a vec is 1xN */
    }
    return QS_OK;
}

/* A vec becomes a matrix with one row; missing extents of higher ranks are 1. */
static void raise_rank(Val *v, int rank) {
    if (v->rank == 1 && rank > 1) v->dims[1] = v->dims[0], v->dims[0] = 1, v->rank = 2;
    for (; v->rank < rank; v->rank++) v->dims[v->rank] = 1;
}

static bool elements_fit(const Type *inner, qs_dtype d) {
    if (inner->kind != TY_NUM) return inner->kind == TY_ANY;
    return qdtype_is_complex(inner->dtype) == qdtype_is_complex(d);
}

/* Elements in memory keep their dtype.  If a different one is declared, they are converted when read and written: a mat
 * of uint8 counts as scalars, a float array declared as ivec as integers.  All floats count as scalars. */
static void convert_elements(Lower *L, const Type *inner, Val *v) {
    qs_dtype d = klval_element(v);
    if (inner->kind != TY_NUM || qdtype_is_complex(d) || inner->dtype == d) return;
    if (!qdtype_is_real(inner->dtype) || !qdtype_is_real(d)) (void)klval_declare_elements(L, v, inner->dtype);
}

/* vec[vec3], mat[mat2x2] …: an array whose trailing dimensions are those of its entries. */
static qs_status coerce_entries(Lower *L, const Type *t, const char *what, uint32_t pos, Val *v) {
    const Type *e = t->inner;
    int outer = v->rank - e->rank;
    if (t->rank == RANK_ANY || e->rank == RANK_ANY || outer != t->rank || (v->inner && v->inner != e->rank) ||
        !elements_fit(e->inner, (qs_dtype)v->dtype))
        return fail_unfit(L, t, what, pos, v);
    convert_elements(L, e->inner, v);
    v->inner = (uint8_t)e->rank;
    for (int i = 0; i < e->nfixed; i++) {
        if (v->dims[outer + i] < 0) return klower_need(L, v->u.array->host.source, outer + i, v->rank);
        if (v->dims[outer + i] != e->dims[i])
            return klower_error(L, QS_ESHAPE, pos, "%s must be %s, got entries of extent %lld", what, qtype_name(t),
                                (long long)v->dims[outer + i]);
    }
    return QS_OK;
}

static qs_status coerce_array(Lower *L, const Type *t, const char *what, uint32_t pos, Val *v) {
    if (t->inner->kind == TY_ARRAY && t->inner->inner->kind == TY_NUM) return coerce_entries(L, t, what, pos, v);
    if (v->inner)
        return t->inner->kind == TY_ANY && v->rank - v->inner <= t->rank ? QS_OK : fail_unfit(L, t, what, pos, v);
    if (!elements_fit(t->inner, v->dtype)) return fail_unfit(L, t, what, pos, v);
    convert_elements(L, t->inner, v);
    if (t->rank == RANK_ANY) return QS_OK;
    if (v->rank > t->rank) return fail_unfit(L, t, what, pos, v);
    if (!t->nfixed || v->rank == 1) raise_rank(v, t->rank);
    return check_fixed(L, t, what, pos, v);
}

static bool is_object(const Type *t, const Val *v) {
    return v->kind == V_OBJECT && v->u.rec->type == (t->kind == TY_PTR ? t->inner : t);
}

static bool fits_kind(const Type *t, const Val *v) {
    switch (t->kind) {
    case TY_STRING: return v->kind == V_STRING;
    case TY_FN: return v->kind == V_FUNC;
    case TY_TYPE: return v->kind == V_TYPE;
    case TY_CLASS:
    case TY_PTR: return is_object(t, v) && !v->rank;
    case TY_ARRAY: return v->rank == t->rank && (t->inner->kind == TY_ANY || is_object(t->inner, v));
    case TY_OBJECT: return v->kind == V_OBJECT && !v->rank;
    default: return true;
    }
}

/* s : ivec = shared(256): the annotation sets the element type of a shared array that has not been used yet. */
static qs_status give_dtype(Lower *L, const Type *t, const char *what, uint32_t pos, Val *v) {
    if (!v->u.mem->shared || t->inner->kind != TY_NUM || t->inner->dtype == v->dtype) return QS_OK;
    if (v->u.mem->ref != L->f->nins - 1 || qdtype_is_complex(t->inner->dtype)) return fail_unfit(L, t, what, pos, v);
    v->dtype = (uint8_t)kir_value_dtype(t->inner->dtype), v->made = klval_made(t->inner->dtype);
    L->f->ins[v->u.mem->ref].dtype = v->dtype;
    return QS_OK;
}

/* Converts memory to an array type; shared memory is not copied. */
static qs_status coerce_memory(Lower *L, const Type *t, const char *what, uint32_t pos, Val *v) {
    bool whole = t->inner->kind == TY_NUM && qdtype_is_int(t->inner->dtype);
    bool fits = (t->rank == RANK_ANY || v->rank <= t->rank) && dims_match(t, v);
    TRY(give_dtype(L, t, what, pos, v));
    if (whole && !v->u.mem->shared && v->made.set != klval_made(t->inner->dtype).set)
        return coerce_small(L, t, what, pos, v);
    return fits && !(whole && qdtype_is_real((qs_dtype)v->dtype)) ? QS_OK : fail_unfit(L, t, what, pos, v);
}

qs_status kltype_coerce(Lower *L, const Type *t, const char *what, uint32_t pos, Val *v) {
    L->pos = pos;
    if (v->kind == V_UNKNOWN) return QS_OK;
    if (t->kind == TY_NUM) return coerce_number(L, t, what, pos, v);
    if (t->kind != TY_ARRAY || v->kind == V_OBJECT) return fits_kind(t, v) ? QS_OK : fail_unfit(L, t, what, pos, v);
    if (v->kind == V_ARRAY) return coerce_array(L, t, what, pos, v);
    if (v->kind == V_MEMORY && (v->u.mem->shared || !t->nfixed)) return coerce_memory(L, t, what, pos, v);
    if ((v->kind != V_NUM && v->kind != V_MEMORY) || t->inner->kind != TY_NUM) return fail_unfit(L, t, what, pos, v);
    return coerce_small(L, t, what, pos, v);
}

/* -- generics and overloads ---------------------------------------------------------------------------------------- */
static const Type *element_type(Lower *L, const Val *v) { return qtype_num(L->c, (qs_dtype)v->dtype); }

static const Type *type_of(Lower *L, const Val *v) {
    if (v->kind == V_OBJECT) return v->u.rec->type;
    if (v->kind == V_STRING) return qtype_simple(L->c, TY_STRING);
    if (v->kind == V_FUNC) return qtype_simple(L->c, TY_FN);
    if (v->kind != V_NUM && v->kind != V_ARRAY && v->kind != V_MEMORY) return qtype_any(L->c);
    return v->rank ? qtype_array(L->c, element_type(L, v), v->rank) : element_type(L, v);
}

static void bind_name(InlineFrame *inst, const Str *name, const Type *t) {
    for (int i = 0; i < inst->func->ntyparams; i++)
        if (inst->func->typarams[i] == name) inst->typarams[i] = t;
}

/* l : list[T], for an object of list[scalar] */
static void bind_arguments(Lower *L, InlineFrame *inst, const TypeExpr *e, const Type *t) {
    const LowerHost *h = L->job->host;
    const Type *const *args;
    int n = h && h->arguments ? h->arguments(h->ud, t, &args) : 0;
    for (int i = 0; i < e->nargs && i < n; i++)
        if (e->args[i]->kind == TE_NAME) bind_name(inst, e->args[i]->name, args[i]);
}

/* Binds the N of vec(N) to the extent of the value, if no argument before has done so. */
static qs_status bind_sizes(Lower *L, InlineFrame *inst, const TypeExpr *e, const Val *v) {
    for (int i = 0; i < e->ndims && i < v->rank; i++)
        for (int k = 0; k < inst->func->ntyparams; k++) {
            if (e->dims[i]->kind != N_IDENT || e->dims[i]->u.ident.name != inst->func->typarams[k]) continue;
            if (v->kind == V_ARRAY && v->dims[i] < 0) return klower_need(L, v->u.array->host.source, i, v->rank);
            if (!inst->sizes[k]) inst->sizes[k] = v->dims[i];
        }
    return QS_OK;
}

qs_status kltype_bind(Lower *L, InlineFrame *inst, TypeExpr *e, const Val *v) {
    if (!e || v->kind == V_UNKNOWN || !inst->func->ntyparams) return QS_OK;
    bool is_array = v->rank && (v->kind == V_NUM || v->kind == V_ARRAY || v->kind == V_MEMORY);
    if (e->kind == TE_FIXED && is_array) TRY(bind_sizes(L, inst, e, v));
    if (e->kind == TE_FIXED) e = e->base;
    if (e->kind == TE_NAME) bind_name(inst, e->name, type_of(L, v));
    if (e->kind == TE_ARRAY && v->kind == V_OBJECT && !v->rank) bind_arguments(L, inst, e, v->u.rec->type);
    else if (e->kind == TE_ARRAY && e->nargs == 1 && e->args[0]->kind == TE_NAME && is_array)
        bind_name(inst, e->args[0]->name, element_type(L, v));
    return QS_OK;
}

qs_status kltype_check_constraints(Lower *L, const InlineFrame *inst) {
    const Func *f = inst->func;
    for (int i = 0; i < f->ntyparams && f->constraints; i++) {
        const Type *t = inst->typarams[i], *limit;
        TypeMods mods;
        if (!t || !f->constraints[i]) continue;
        TRY(kltype_resolve(L, f->constraints[i], &limit, &mods));
        if (qoverload_is_within(t, limit)) continue;
        return klower_error(L, QS_ETYPE, f->constraints[i]->pos, "%s: type parameter %s must be %s, got %s", f->name->s,
                            f->typarams[i]->s, qtype_name(limit), qtype_name(t));
    }
    return QS_OK;
}

static qs_status resolve_type(void *lower, TypeExpr *e, const TypeHost *host, const Type **out) {
    Lower *L = lower;
    TypeMods mods;
    return qtypes_resolve(L->c, e, host, NULL, out, &mods);
}

bool kltype_declared(void *lower, const Func *f, const Param *p, Declared *out) {
    Lower *L = lower;
    const LowerHost *h = L->job->host;
    if (h && h->declared) return h->declared(h->ud, f, p, out);
    return qoverload_declared(L->c, f, p, resolve_type, L, out);
}

static bool closure_takes(const void *of, int n) {
    const Closure *c = of;
    for (int i = 0; i < c->noverloads; i++)
        if (closure_takes(c->overloads[i].u.fn, n)) return true;
    if (c->noverloads) return false;
    if (!c->func) return !c->host || (n >= c->host->least && (c->host->most == -1 || n <= c->host->most));
    int least = 0;
    while (least < c->func->nparams && !c->func->params[least].init && !c->func->params[least].variadic) least++;
    bool variadic = c->func->nparams && c->func->params[c->func->nparams - 1].variadic;
    return n >= least && (variadic || n <= c->func->nparams);
}

/* One dtype for each class of numbers, as on the host. */
static qs_dtype number_class(const Lower *L, qs_dtype d) {
    if (qdtype_is_complex(d)) return qdtype_complex_of(L->c->scalar_dtype);
    return qdtype_is_int(d) ? QS_I32 : qdtype_is_real(d) ? L->c->scalar_dtype : d;
}

static void describe_number(Lower *L, const Val *v, GivenArg *out) {
    const Weak *w = v->at[0].weak;
    bool made = v->made.set && !(v->made.set & MADE_ANY) && v->made.set != klval_made(QS_B1).set;
    bool is_int = w ? w->declared || made : qdtype_is_int((qs_dtype)v->dtype);
    qs_dtype d = is_int ? QS_I32 : w ? L->c->scalar_dtype : number_class(L, (qs_dtype)v->dtype);
    out->type = qtype_num(L->c, d);
}

/* The element type for overload resolution.  Integer literals count as scalars, as in lists of the host; elements made
 * as integers, and positions, are integers. */
static qs_dtype made_element(const Lower *L, const Val *v) {
    qs_dtype d = (qs_dtype)v->dtype;
    int only = 0;
    if (qdtype_is_complex(d) || qdtype_is_real(d) || d == QS_B1) return d;
    while (only < QS_NDTYPES && v->made.set != 1 << only) only++;
    return only < QS_NDTYPES ? (qs_dtype)only : v->is_pos ? QS_I32 : L->c->scalar_dtype;
}

static int normal_rank(int rank, int64_t *dims) {
    while (rank > 2 && dims[rank - 1] == 1) rank--;
    if (rank == 2 && dims[0] == 1) dims[0] = dims[1], rank = 1;
    return rank;
}

/* Describes an array for overload resolution, with its rank on the host, even if a parameter has declared a higher
 * one. */
static void describe_array(Lower *L, const Val *v, GivenArg *out) {
    bool outside = v->kind == V_ARRAY;
    int rank = outside && v->u.array->host.rank < v->rank ? v->u.array->host.rank : v->rank;
    int64_t *dims = qarena_alloc(L->arena, qmem_size(QS_MAX_RANK + 1, sizeof *dims, 0));
    int skip = rank == 1 && v->rank > 1;
    for (int i = 0; i < rank; i++) dims[i] = v->dims[i + skip];
    if (!outside) rank = normal_rank(rank, dims);
    qs_dtype d = outside ? klval_element(v) : made_element(L, v);
    out->type = qtype_array(L->c, qtype_num(L->c, d), rank);
    out->dims = dims, out->is_flat = outside, out->entries = v->inner;
}

static bool no_items(void *ud, const void *of, const Type *elem) { return (void)ud, (void)of, (void)elem, false; }

void kltype_describe(Lower *L, const Val *v, GivenArg *out) {
    *out = (GivenArg){.type = type_of(L, v)};
    if (v->kind == V_NUM && !v->rank) describe_number(L, v, out);
    else if (v->kind == V_NUM || v->kind == V_ARRAY || v->kind == V_MEMORY) describe_array(L, v, out);
    else if (v->kind == V_TYPE) out->type = qtype_simple(L->c, TY_TYPE);
    else if (v->kind == V_OBJECT && v->rank) out->type = qtype_array(L->c, out->type, v->rank), out->items = no_items;
    else if (v->kind == V_FUNC) out->of = v->u.fn, out->takes = closure_takes;
    bool kernel = v->kind == V_FUNC && v->u.fn->func && v->u.fn->func->qual == Q_KERNEL;
    if (kernel) out->type = qtype_simple(L->c, TY_KERNEL);
}

/* -- construction: int(x), vec3(a,b,c), mat(2,2) ------------------------------------------------------------------- */
static qs_status convert_to(Lower *L, const Type *t, const Val *v, Val *out) {
    Val all;
    TRY(klval_components(L, v, &all));
    if (all.kind == V_UNKNOWN) return *out = all, QS_OK;
    bool narrowing = qdtype_is_complex(all.dtype) && !qdtype_is_complex(t->dtype);
    if (narrowing)
        return klower_error(L, QS_ETYPE, L->pos, "%s of a complex number: use real(x) or abs(x)", qtype_name(t));
    klval_narrow(L, &all, t->dtype, out);
    out->made = klval_made(t->dtype);
    return QS_OK;
}

static qs_status zeros_of(Lower *L, const Type *t, const Val *args, int nargs, Val *out) {
    int64_t dims[QS_MAX_RANK] = {0};
    int rank = 0;
    for (int i = 0; i < nargs; i++) {
        int n;
        TRY(klval_constants(L, &args[i], "the size of a local array", dims + rank, QS_MAX_RANK - rank, &n));
        rank += n;
    }
    if (!nargs) {
        rank = t->nfixed;
        for (int i = 0; i < rank; i++) dims[i] = t->dims[i];
    }
    if (!rank) return klower_error(L, QS_ESHAPE, L->pos, "the size of %s is missing", qtype_name(t));
    klval_zero(L, kir_value_dtype(t->inner->dtype), rank, dims, 0, out);
    out->made = klval_made(t->inner->dtype);
    return QS_OK;
}

static qs_status components_of(Lower *L, const Type *t, const Val *args, int nargs, Val *out) {
    Num nums[QS_MAX_RANK * 4];
    for (int i = 0; i < nargs; i++) TRY(klval_one(L, &args[i], "a component", &nums[i]));
    klval_vector(L, nums, nargs, out);
    return kltype_coerce(L, t, "the value", L->pos, out);
}

/* -- objects made in a kernel -------------------------------------------------------------------------------------- */
static qs_status field_value(Lower *L, const KFields *f, int i, const Args *args, Val *out) {
    for (int k = 0; k < args->n; k++)
        if (args->names[k] ? args->names[k] == f->names[i] : k == i) return *out = args->at[k], QS_OK;
    const Type *t = f->types[i];
    if (f->inits[i].kind != KV_NONE) return klower_import(L, &f->inits[i], f->names[i], out), QS_OK;
    if (t->kind == TY_NUM) return klval_zero(L, kir_value_dtype(t->dtype), 0, NULL, 0, out), QS_OK;
    if (t->kind == TY_ARRAY && t->nfixed && t->inner->kind == TY_NUM) return zeros_of(L, t, NULL, 0, out);
    return klower_error(L, QS_ETYPE, L->pos, "field %s needs a value in a kernel", f->names[i]->s);
}

static qs_status check_field_names(Lower *L, const Type *t, const KFields *f, const Args *args) {
    for (int k = 0; k < args->n; k++) {
        const Str *name = args->names[k];
        bool found = !name && k < f->n;
        for (int i = 0; name && i < f->n; i++) found |= name == f->names[i];
        if (found) continue;
        if (name) return klower_error(L, QS_ENAME, L->pos, "%s has no field %s", qtype_name(t), name->s);
        return klower_error(L, QS_ETYPE, L->pos, "%s has %d fields, got %d values", qtype_name(t), f->n, args->n);
    }
    return QS_OK;
}

static qs_status make_object(Lower *L, const Node *site, const Type *t, const Args *args, Val *out) {
    const LowerHost *h = L->job->host;
    KFields f;
    if (!h || !h->fields || !h->fields(h->ud, t, &f))
        return klower_error(L, QS_ETYPE, L->pos, "%s cannot be made in a kernel", qtype_name(t));
    TRY(check_field_names(L, t, &f, args));
    Record *r = qarena_alloc(L->arena, sizeof *r);
    *r = (Record){.names = f.names, .nfields = f.n, .type = t, .types = f.types, .is_mutable = f.is_mutable};
    r->vars = qarena_alloc(L->arena, qmem_size((size_t)f.n, sizeof *r->vars, sizeof *r->vars));
    for (int i = 0; i < f.n; i++) {
        Val v;
        TRY(field_value(L, &f, i, args, &v));
        TRY(kltype_coerce(L, f.types[i], f.names[i]->s, L->pos, &v));
        r->vars[i] = klvar_hidden(L, site, i);
        r->vars[i]->name = f.names[i];
        klvar_declare(r->vars[i], f.types[i], (TypeMods){0});
        TRY(klvar_assign(L, r->vars[i], &v, L->pos));
    }
    *out = (Val){.kind = V_OBJECT};
    return out->u.rec = r, QS_OK;
}

qs_status kltype_construct(Lower *L, const Node *site, const Type *t, const Args *given, Val *out) {
    const Val *args = given->at;
    int nargs = given->n;
    for (int i = 0; i < nargs; i++)
        if (args[i].kind == V_UNKNOWN) return *out = (Val){0}, QS_OK;
    if (t->kind == TY_CLASS) return make_object(L, site, t, given, out);
    if (t->kind == TY_NUM && nargs == 1) return convert_to(L, t, &args[0], out);
    if (t->kind == TY_NUM && nargs == 0) return klval_zero(L, t->dtype, 0, NULL, 0, out), QS_OK;
    if (t->kind != TY_ARRAY || t->inner->kind != TY_NUM)
        return klower_error(L, QS_ETYPE, L->pos, "%s cannot be made in a kernel", qtype_name(t));
    bool list = t->nfixed && t->rank == 1 && nargs > 1 && nargs == t->dims[0] && nargs <= QS_MAX_RANK * 4;
    if (list) return components_of(L, t, args, nargs, out);
    if (t->nfixed && nargs == 1 && args[0].rank) return *out = args[0], kltype_coerce(L, t, "the value", L->pos, out);
    return zeros_of(L, t, args, nargs, out);
}
