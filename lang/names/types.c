/* types.c -- resolves type expressions to type descriptors. */
#include "lang/names/types.h"
#include "lang/syntax/operators.h"
#include "vm/base/libm.h"

#include <math.h>
#include <string.h>

typedef struct {
    Ctx *ctx;
    const TypeHost *host;
    const Source *src;
} Resolver;

static qs_status type_of(Resolver *r, TypeExpr *e, const Type **out);

static Where at(const Resolver *r, uint32_t pos) { return (Where){r->src, pos}; }

/* -- names --------------------------------------------------------------------------------------------------------- */
static const char *const common_names[] = {
    "scalar", "cscalar", "int",     "int8",    "int16",   "int32",  "int64",  "uint8",    "uint16",         "uint32",
    "uint64", "bool",    "float16", "float32", "float64", "string", "vec",    "mat",      "cube",           "cvec",
    "cmat",   "ccube",   "ivec",    "imat",    "icube",   "cell",   "object", "function", "kernel_function"};

/* Names of types in other languages, with the corresponding names here. */
static const char *const foreign_names[][2] = {{"float", "scalar"},    {"double", "scalar"}, {"real", "scalar"},
                                               {"complex", "cscalar"}, {"str", "string"},    {"integer", "int"},
                                               {"array", "vec"},       {"matrix", "mat"},    {"tensor", "cube"},
                                               {"list", "cell"},       {"dict", "object"},   {"callable", "function"}};

static qs_status unknown_type(Resolver *r, const TypeExpr *e) {
    for (size_t i = 0; i < sizeof foreign_names / sizeof *foreign_names; i++)
        if (!strcmp(e->name->s, foreign_names[i][0]))
            return qerr_at(r->ctx, QS_ENAME, at(r, e->pos), "unknown type '%s': did you mean '%s'?", e->name->s,
                           foreign_names[i][1]);
    Nearest near = {.wanted = e->name->s};
    for (size_t i = 0; i < sizeof common_names / sizeof *common_names; i++) qstr_offer(&near, common_names[i]);
    if (r->host && r->host->offer) r->host->offer(r->host->ud, &near);
    if (!near.best && (e->mods.access || e->mods.flags))
        return qerr_at(r->ctx, QS_ENAME, at(r, e->pos),
                       "unknown type '%s': an access mode stands after the type of a variable, as in y : mat'safe = x",
                       e->name->s);
    if (!near.best && e->name->len == 1)
        return qerr_at(r->ctx, QS_ENAME, at(r, e->pos),
                       "unknown type '%s': a function has its own type parameters, as in f[%s](x : vec[%s])",
                       e->name->s, e->name->s, e->name->s);
    if (!near.best) return qerr_at(r->ctx, QS_ENAME, at(r, e->pos), "unknown type '%s'", e->name->s);
    return qerr_at(r->ctx, QS_ENAME, at(r, e->pos), "unknown type '%s': did you mean '%s'?", e->name->s, near.best);
}

/* Resolves a name.  Only predefined types are cached: a name of the program may mean a different type in another
 * instance of a generic. */
static qs_status named(Resolver *r, TypeExpr *e, const Type **out) {
    const Type *t = r->host && r->host->lookup ? r->host->lookup(r->host->ud, e->name) : NULL;
    if (!t) t = e->resolved = qtype_builtin(r->ctx, e->name->s);
    if (!t) return unknown_type(r, e);
    *out = t;
    return QS_OK;
}

/* -- lists --------------------------------------------------------------------------------------------------------- */
enum { MAX_ARGS = 32 };

static qs_status types_of(Resolver *r, TypeExpr *e, const Type **args) {
    if (e->nargs > MAX_ARGS) return qerr_at(r->ctx, QS_ETYPE, at(r, e->pos), "a list of more than %d types", MAX_ARGS);
    for (int i = 0; i < e->nargs; i++) TRY(type_of(r, e->args[i], &args[i]));
    return QS_OK;
}

static qs_status alternatives(Resolver *r, TypeExpr *e, const Type **out) {
    const Type *args[MAX_ARGS];
    TRY(types_of(r, e, args));
    *out = e->nargs == 1 ? args[0] : qtype_union(r->ctx, args, e->nargs);
    return QS_OK;
}

static qs_status function(Resolver *r, TypeExpr *e, const Type **out) {
    const Type *args[MAX_ARGS], *result;
    TRY(types_of(r, e, args));
    for (int i = 0; i < e->nouts; i++)
        TRY(type_of(r, e->outs[i], &result)); /* checked, but not part of the descriptor */
    *out = qtype_fn(r->ctx, e->qual == Q_KERNEL ? TY_KERNEL : TY_FN, args, e->nargs);
    return QS_OK;
}

/* -- arrays -------------------------------------------------------------------------------------------------------- */
static const Type *with_element(Resolver *r, const Type *array, const Type *elem) {
    if (array->nfixed && elem->kind == TY_NUM) return qtype_fixed(r->ctx, elem, array->rank, array->dims);
    return qtype_array(r->ctx, elem, array->rank);
}

static qs_status resolve_element(Resolver *r, TypeExpr *e, const Type **out) { /* base[args] */
    const Type *args[MAX_ARGS], *base = NULL;
    TRY(types_of(r, e, args));
    if (e->base->kind == TE_NAME) base = qtype_builtin(r->ctx, e->base->name->s);
    if (!base && e->base->kind == TE_NAME && r->host && r->host->instantiate) {
        *out = r->host->instantiate(r->host->ud, e->base->name, args, e->nargs);
        if (*out) return QS_OK;
        if (r->ctx->err.status != QS_OK) return r->ctx->err.status;
    }
    if (!base) TRY(type_of(r, e->base, &base));
    if (base->kind != TY_ARRAY || e->nargs != 1)
        return qerr_at(r->ctx, QS_ETYPE, at(r, e->pos),
                       "%s cannot be followed by [%s]: it is not an array or generic type", qtype_name(base),
                       e->nargs == 1 ? qtype_name(args[0]) : "…");
    *out = with_element(r, base, args[0]);
    return QS_OK;
}

static qs_status any_rank(Resolver *r, TypeExpr *e, const Type **out) { /* cube{:}, cube{4} */
    const Type *base;
    TRY(type_of(r, e->base, &base));
    if (base->kind != TY_ARRAY || base->rank < 3)
        return qerr_at(r->ctx, QS_ETYPE, at(r, e->pos),
                       "a number of dimensions in braces belongs to a cube type, as in cube{:}");
    *out = qtype_array(r->ctx, base->inner, e->rank);
    return QS_OK;
}

/* -- fixed sizes --------------------------------------------------------------------------------------------------- */
static bool fold_constant(Resolver *r, const Node *n, double *v) {
    double a, b;
    switch (n->kind) {
    case N_NUM: *v = n->u.num.value; return !n->u.num.imaginary;
    case N_IDENT: return r->host && r->host->constant && r->host->constant(r->host->ud, n->u.ident.name, v);
    case N_UNARY:
        if (n->op != OP_NEG || !fold_constant(r, n->u.bin.a, &a)) return false;
        *v = -a;
        return true;
    case N_BINARY: break;
    default: return false;
    }
    if (!fold_constant(r, n->u.bin.a, &a) || !fold_constant(r, n->u.bin.b, &b)) return false;
    switch (n->op) {
    case OP_ADD: *v = a + b; return true;
    case OP_SUB: *v = a - b; return true;
    case OP_MUL: *v = a * b; return true;
    case OP_DIV: *v = a / b; return true;
    case OP_POW: *v = qlibm_pow(a, b); return true;
    default: return false;
    }
}

static qs_status resolve_extent(Resolver *r, const Node *n, int32_t *out) {
    double v;
    if (!fold_constant(r, n, &v))
        return qerr_at(r->ctx, QS_ETYPE, at(r, n->pos),
                       "the size of a fixed type must be known before the program runs%s%s",
                       n->kind == N_IDENT ? ", and is not for " : "", n->kind == N_IDENT ? n->u.ident.name->s : "");
    if (!(v >= 1 && v <= INT32_MAX) || v != floor(v))
        return qerr_at(r->ctx, QS_ETYPE, at(r, n->pos), "the size of a fixed type must be an integer ≥ 1, got %g", v);
    *out = (int32_t)v;
    return QS_OK;
}

/* Resolves vec(3), mat(2,2) or cube(2,3,2); a cube has three sizes or more.  Sizes of cells are dropped, because they
 * are not part of the type. */
static qs_status fixed(Resolver *r, TypeExpr *e, const Type **out) {
    const Type *base;
    int32_t dims[QS_MAX_RANK];
    TRY(type_of(r, e->base, &base));
    if (base->kind != TY_ARRAY || base->nfixed)
        return qerr_at(r->ctx, QS_ETYPE, at(r, e->pos), "%s cannot have a fixed size: only vec, mat and cube types can",
                       qtype_name(base));
    bool fits =
        base->rank >= 3 || base->rank == RANK_ANY ? e->ndims >= 3 && e->ndims <= QS_MAX_RANK : e->ndims == base->rank;
    if (!fits)
        return qerr_at(r->ctx, QS_ETYPE, at(r, e->pos), "%s takes %s%d size%s, got %d", qtype_name(base),
                       base->rank >= 1 && base->rank < 3 ? "" : "at least ", base->rank < 1 ? 3 : base->rank,
                       base->rank == 1 ? "" : "s", e->ndims);
    for (int i = 0; i < e->ndims; i++) TRY(resolve_extent(r, e->dims[i], &dims[i]));
    *out = base->inner->kind == TY_NUM ? qtype_fixed(r->ctx, base->inner, e->ndims, dims) : base;
    return QS_OK;
}

/* -- all type expressions ------------------------------------------------------------------------------------------ */
static qs_status pointer(Resolver *r, TypeExpr *e, const Type **out) {
    const Type *target;
    TRY(type_of(r, e->base, &target));
    *out = qtype_ptr(r->ctx, target);
    return QS_OK;
}

static qs_status type_of(Resolver *r, TypeExpr *e, const Type **out) {
    if (e->resolved) {
        *out = e->resolved;
        return QS_OK;
    }
    switch (e->kind) {
    case TE_NAME: return named(r, e, out);
    case TE_ARRAY: return resolve_element(r, e, out);
    case TE_FIXED: return fixed(r, e, out);
    case TE_RANK: return any_rank(r, e, out);
    case TE_FN: return function(r, e, out);
    case TE_PTR: return pointer(r, e, out);
    case TE_UNION: return alternatives(r, e, out);
    case TE_ANY: break;
    }
    *out = e->resolved = qtype_any(r->ctx);
    return QS_OK;
}

qs_status qtypes_resolve(Ctx *c, TypeExpr *e, const TypeHost *host, const Source *src, const Type **out,
                         TypeMods *mods) {
    Resolver r = {c, host, src};
    if (mods) *mods = e->mods;
    return type_of(&r, e, out);
}
