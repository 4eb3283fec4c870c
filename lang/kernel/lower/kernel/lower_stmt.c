/* lower_stmt.c -- lowers statements of kernels: assignment, declarations, loops over ranges and vectors. */
#include "lang/kernel/lower/kernel/lower_internal.h"

#include <math.h>
#include <string.h>

/* -- assignment ---------------------------------------------------------------------------------------------------- */
static qs_status apply_annotation(Lower *L, Var *v, TypeExpr *e, Val *x) {
    const Type *t;
    TypeMods mods;
    TRY(kltype_resolve(L, e, &t, &mods));
    TRY(kltype_coerce(L, t, v->name->s, e->pos, x));
    return klvar_declare(v, t, mods), QS_OK;
}

static qs_status keeps_real(Lower *L, const Var *v, const Val *x) {
    if (!v->converts || x->kind != V_NUM || !qdtype_is_complex(x->dtype) || qdtype_is_complex(v->declared))
        return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s is %s and cannot take a complex number", v->name->s,
                        qdtype_info[v->declared].name);
}

static qs_status set_name(Walk *w, Node *target, TypeExpr *e, Val *x) {
    Lower *L = (Lower *)w;
    Var *v = klvar_of(L, target->u.ident.sym);
    if (!v) return klower_error(L, QS_ETYPE, target->pos, "%s cannot be assigned in a kernel", target->u.ident.name->s);
    if (e) TRY(apply_annotation(L, v, e, x));
    TRY(keeps_real(L, v, x));
    return klvar_assign(L, v, x, target->pos);
}

static qs_status set_field(Walk *w, const Val *object, Node *target, Val *x) {
    Lower *L = (Lower *)w;
    Var *v;
    const Record *r;
    int i;
    const char *name = target->u.field.name->s;
    TRY(klexpr_field(L, object, target, &v, &r, &i));
    if (!r) return QS_OK;
    if (!v) return klidx_set_field(L, object, i, target, x);
    if (!r->is_mutable)
        return klower_error(L, QS_ETYPE, target->pos, "field %s of an immutable class cannot be written", name);
    TRY(kltype_coerce(L, r->types[i], name, target->pos, x));
    return klvar_assign(L, v, x, target->pos);
}

/* [a, b] = vector */
static qs_status spread_elements(Walk *w, const Val *x, int n, Val *out) {
    Lower *L = (Lower *)w;
    Val all;
    TRY(klval_components(L, x, &all));
    if (all.kind == V_UNKNOWN) L->changed = true;
    if (all.kind == V_NUM && klval_count(&all) < n)
        return klower_error(L, QS_ESHAPE, L->pos, "%d names are assigned from %s", n, klval_type_name(L, x));
    for (int i = 0; i < n; i++) {
        if (all.kind == V_NUM) klval_number(L, klval_num(&all, i), &out[i]);
        else out[i] = all;
    }
    return QS_OK;
}

/* Lowers a op= b.  Numbers get a new value, and so do operands of a matrix product; other arrays change in place. */
static qs_status combine_values(Walk *w, const Node *target, Op op, Val *old, Val *x, Val *out) {
    Lower *L = (Lower *)w;
    Val all;
    const char *name = target->kind == N_IDENT ? target->u.ident.name->s : target->u.field.name->s;
    if (old->kind == V_ARRAY || (old->kind == V_MEMORY && old->u.mem->shared))
        return klower_error(L, QS_ETYPE, L->pos, "%s is %s: a kernel changes its elements, %s[pos] %s …", name,
                            klval_type_name(L, old), name, qop_inplace(op));
    TRY(klval_binary(L, op, old, x, &all));
    bool in_place = (old->kind == V_NUM || old->kind == V_MEMORY) && old->rank && !(op == OP_MUL && x->rank);
    if (!in_place || all.kind == V_UNKNOWN) return *out = all, QS_OK;
    Var *v = target->kind == N_IDENT ? klvar_of(L, target->u.ident.sym) : NULL;
    if (v) v->changed = true;
    return klidx_keep(L, name, old, &all, out);
}

/* img : vec3 declares a variable that begins as zero. */
static qs_status lower_declaration(Lower *L, const Node *n) {
    const Type *t;
    TypeMods mods;
    Val zero;
    Var *v = klvar_of(L, n->u.decl.sym);
    TRY(kltype_resolve(L, n->u.decl.type, &t, &mods));
    if (!v) return QS_OK;
    klvar_declare(v, t, mods);
    if (t->kind != TY_NUM && !(t->kind == TY_ARRAY && t->nfixed)) return QS_OK;
    TRY(kltype_construct(L, n, t, &(Args){0}, &zero));
    return klvar_assign(L, v, &zero, n->pos);
}

/* -- match --------------------------------------------------------------------------------------------------------- */
static qs_status equal_pattern(Walk *w, const Val *x, Node *n, KRef *out) {
    Lower *L = (Lower *)w;
    Val pattern, same;
    int known;
    TRY(klexpr_lower(L, n, &pattern));
    TRY(klval_binary(L, OP_EQ, x, &pattern, &same));
    TRY(klval_truth(L, &same, out, &known));
    if (!*out) *out = klnum_int(L, QS_B1, 1); /* not known yet */
    return QS_OK;
}

static int count_elements(Walk *w, const Val *v) {
    (void)w;
    return (v->kind == V_NUM || v->kind == V_MEMORY) && v->rank ? (int)klval_count(v) : -1;
}

/* -- loops --------------------------------------------------------------------------------------------------------- */
static qs_dtype counter_dtype(const RangeVal *r) {
    const Num *parts[] = {&r->lo, &r->step, &r->hi};
    for (int i = 0; i < 3; i++) {
        const Weak *w = parts[i]->re.weak;
        if (w ? w->whole && w->bound >= 0x1p31 : qdtype_is_int(parts[i]->dtype) && parts[i]->dtype != QS_I32)
            return QS_I64;
    }
    return QS_I32;
}

/* hi as an integer, rounded up or down; NaN becomes an end before any start. */
static KRef round_end(Lower *L, Num hi, bool up, qs_dtype d) {
    double known, none = up ? INFINITY : -INFINITY;
    if (klnum_known(L, hi, &known)) return klnum_const(L, d, isnan(known) ? none : up ? ceil(known) : floor(known));
    qs_dtype real = klnum_real_dtype(L, hi);
    KRef x = klnum_ref(L, hi, real), whole = klnum_math(L, up ? MF_ceil : MF_floor, x, 0);
    return klnum_cast_ref(L, klnum_pick(L, klnum_bin(L, K_EQ, x, x), whole, klnum_const(L, real, none)), d);
}

/* The last value that an integral counter may take: hi rounded toward lo. */
static KRef last_whole(Lower *L, const RangeVal *r, qs_dtype d) {
    if (klnum_is_integral(r->hi)) return klnum_ref(L, r->hi, d);
    KRef down = klnum_bin(L, K_LT, klnum_ref(L, r->step, d), klnum_int(L, d, 0));
    return klnum_pick(L, down, round_end(L, r->hi, true, d), round_end(L, r->hi, false, d));
}

static Num open_whole(Lower *L, const RangeVal *r) {
    qs_dtype d = counter_dtype(r);
    KRef lo = klnum_ref(L, r->lo, d), hi = last_whole(L, r, d), step = klnum_ref(L, r->step, d);
    return klnum_strong(klnum_emit(L, (KMake){K_FOR, .own = d, .a = lo, .b = hi, .c = step}), d);
}

/* Opens a loop over real numbers.  The trip count is computed in the common type of the bounds; in float64 if all are
 * weak constants. */
static Num open_real(Lower *L, const RangeVal *r) {
    const Num all[] = {r->lo, r->step, r->hi};
    Num between = klnum_strong(0, klnum_real_dtype(L, klnum_strong(0, klnum_join(L, r->lo, r->step))));
    qs_dtype d = between.dtype, by = QS_F64;
    for (int i = 0; i < 3; i++)
        if (!klnum_is_weak(all[i]) || !klnum_known(L, all[i], &(double){0}))
            by = klnum_real_dtype(L, klnum_strong(0, klnum_join(L, between, r->hi)));
    KRef n =
        kcounted_iterations(&L->walk, by, klnum_ref(L, r->lo, by), klnum_ref(L, r->step, by), klnum_ref(L, r->hi, by));
    KRef lo = klnum_ref(L, r->lo, d), step = klnum_ref(L, r->step, d);
    return klnum_strong(kcounted_elements(&L->walk, d, lo, step, klnum_cast_ref(L, n, QS_I32)), d);
}

/* *value is the value of the loop variable. */
static void open_for(Lower *L, const RangeVal *r, Val *value) {
    bool whole = klnum_is_integral(r->lo) && klnum_is_integral(r->step);
    klval_number(L, whole ? open_whole(L, r) : open_real(L, r), value);
}

static qs_status bind_counter(Walk *w, const Node *n, int i, Val *v) {
    Lower *L = (Lower *)w;
    return klvar_assign(L, klvar_of(L, n->u.loop.syms[i]), v, n->pos);
}

static qs_status check_real_bounds(Lower *L, const RangeVal *r) {
    if (!qdtype_is_complex(r->lo.dtype) && !qdtype_is_complex(r->hi.dtype) && !qdtype_is_complex(r->step.dtype))
        return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "the bounds of a loop cannot be complex");
}

static qs_status range_rule(Walk *w, const Node *n, const RangeEnds *b, int i, RangeVal *out) {
    return (void)n, klexpr_range_of((Lower *)w, b, i, out);
}

static qs_status open_range(Walk *w, CountedLoop *t, const RangeVal *r, Val *counter) {
    Lower *L = (Lower *)w;
    (void)t;
    TRY(check_real_bounds(L, r));
    return open_for(L, r, counter), QS_OK;
}

/* for v = vector: loops over its elements, which must be in memory. */
static qs_status each_element(Lower *L, Node *n, const Val *list) {
    Exits frame;
    Val counter, v, at = *list;
    Num element;
    if (list->kind == V_UNKNOWN) return L->changed = true, QS_OK;
    if (list->kind == V_NUM) {
        Var *h = klvar_hidden(L, n, 0);
        h->memory = h->merged = true;
        h->home = NULL, h->slots = NULL;
        TRY(klvar_assign(L, h, list, n->pos));
        TRY(klvar_read(L, h, n->pos, &at));
    }
    if (at.rank != 1 || (at.kind != V_ARRAY && at.kind != V_MEMORY))
        return klower_error(L, QS_ETYPE, n->pos, "a loop runs over a range or a vector, got %s",
                            klval_type_name(L, list));
    KRef last = klnum_bin(L, K_SUB, klidx_dim(L, &at, 1), klnum_int(L, QS_I64, 1));
    RangeVal r = {klnum_literal(L, 0, true), klnum_literal(L, 1, true), klnum_strong(last, QS_I64)};
    open_for(L, &r, &counter);
    kstmt_enter_loop(&L->walk, &frame);
    KRef i = klnum_index(L, klval_num(&counter, 0), false);
    TRY(klidx_element(L, &at, &i, 1, "the list", &element));
    klval_number(L, element, &v);
    TRY(bind_counter(&L->walk, n, 0, &v));
    TRY(kstmt_block(&L->walk, n->u.loop.body));
    kstmt_leave_loop(&L->walk);
    return QS_OK;
}

static qs_status lower_element_loop(Walk *w, Node *n, struct Range *range, bool *counted) {
    (void)range, (void)counted;
    Lower *L = (Lower *)w;
    Val list;
    TRY(klexpr_lower(L, n->u.loop.ranges[0], &list));
    L->pos = n->pos;
    return each_element(L, n, &list);
}

static const NestRules nest_rules = {.range_size = sizeof(RangeVal),
                                     .range = range_rule,
                                     .elements = lower_element_loop,
                                     .open = open_range,
                                     .bind = bind_counter};

static qs_status lower_barrier(Lower *L, const Node *n) {
    const char *scope = n->u.scope ? n->u.scope->s : "block";
    if (L->job->serial)
        return klower_error(L, QS_ETYPE, n->pos,
                            "syncthreads needs parallel_do: in serial_do positions run one after another");
    if (strcmp(scope, "block") && strcmp(scope, "warp"))
        return klower_error(L, QS_ETYPE, n->pos, "syncthreads(%s) is not available in kernels; use syncthreads", scope);
    L->updated = NULL;
    return kbuild_flow(&L->walk, K_BARRIER, 0), QS_OK;
}

/* -- the rules ----------------------------------------------------------------------------------------------------- */
static qs_status fail_forbidden(Lower *L, const Node *n, const char *what) {
    return klower_error(L, QS_ETYPE, n->pos, "%s cannot be used in a kernel", what);
}

static qs_status outside_a_loop(Lower *L, const Node *n) {
    return klower_error(L, QS_ESYNTAX, n->pos, "%s outside a loop", n->kind == N_BREAK ? "break" : "continue");
}

static qs_status lower_statement(Walk *w, Node *n) {
    Lower *L = (Lower *)w;
    switch ((NodeKind)n->kind) {
    case N_DECL: return lower_declaration(L, n);
    case N_SYNC: return lower_barrier(L, n);
    case N_FUNC: return QS_OK;
    case N_BREAK:
    case N_CONTINUE: return outside_a_loop(L, n);
    case N_PRINT: return klprint_statement(L, n);
    case N_TRY: return klower_error(L, QS_ETYPE, n->pos, "try cannot be used in a kernel: put the launch into the try");
    case N_IMPORT: return fail_forbidden(L, n, "import");
    case N_TYPEDEF: return fail_forbidden(L, n, "a type definition");
    case N_REDUCTION: return fail_forbidden(L, n, "a reduction");
    default: return klexpr_lower(L, n, &(Val){0});
    }
}

static qs_status fail_kernel(Walk *w, qs_status s, uint32_t pos, const char *sentence) {
    return klower_error((Lower *)w, s, pos, "%s", sentence);
}

static void set_nothing(Val *out) { *out = (Val){.kind = V_VOID}; }
static bool is_nothing(const Val *v) { return v->kind == V_VOID; }

/* Ends the position. */
static qs_status return_outermost(Walk *w, const Node *n) { return (void)n, kbuild_flow(w, K_RET, 0), QS_OK; }

const WalkRules klstmt_rules = {
    .call = &klcall_rules,
    .expr = &klexpr_rules,
    .nest = &nest_rules,
    .place = &klidx_rules,
    .value_size = sizeof(Val),
    .fail = fail_kernel,
    .nothing = set_nothing,
    .is_nothing = is_nothing,
    .count = count_elements,
    .spread = spread_elements,
    .equal = equal_pattern,
    .set_name = set_name,
    .set_element = klidx_assign,
    .set_field = set_field,
    .update_element = klidx_update,
    .update_field = klidx_update_field,
    .combine = combine_values,
    .statement = lower_statement,
    .return_outermost = return_outermost,
};
