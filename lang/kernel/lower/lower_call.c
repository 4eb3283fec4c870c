/* lower_call.c -- calls: every function is inlined where it is called, with its own locals. */
#include "lang/kernel/lower/lowering.h"

#include <string.h>

/* -- arguments --------------------------------------------------------------------------------------------------- */
typedef struct { const Val *at; Str *const *names; int n; } Args;

static int find_argument(const Args *args, const Func *f, int param) {
    int positional = 0;
    while (positional < args->n && !args->names[positional]) positional++;
    if (param < positional) return param;
    for (int i = positional; i < args->n; i++)
        if (args->names[i] == f->params[param].name) return i;
    return -1;
}

static qs_status check_names(Lower *L, const Args *args, const Func *f) {
    for (int i = 0; i < args->n; i++) {
        bool found = !args->names[i];
        for (int k = 0; k < f->nparams && !found; k++) found = f->params[k].name == args->names[i];
        if (!found) return klower_error(L, QS_ENAME, L->pos, "%s has no parameter %s", f->name->s, args->names[i]->s);
    }
    if (args->n <= f->nparams) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s takes %d argument%s, got %d", f->name->s, f->nparams,
                        f->nparams == 1 ? "" : "s", args->n);
}

/* A private array is passed as it is; only when the function writes to it does it get a copy (own_memory). */
static void lend(Lower *L, Val *v) {
    if (v->kind != V_MEMORY || v->u.mem->shared) return;
    Memory *m = qarena_alloc(L->arena, sizeof *m);
    *m = *v->u.mem, m->borrowed = true;
    v->u.mem = m;
}

static qs_status bind_param(Lower *L, Inst *inst, const Param *p, Val *v) {
    kltype_bind(L, inst, p->type, v);
    Var *var = &inst->vars[p->sym->index];
    lend(L, v);
    if (p->type) {
        const Type *t;
        TypeMods mods;
        TRY(kltype_resolve(L, p->type, &t, &mods));
        if (mods.access != ACC_DEFAULT || mods.flags) v->mods = mods;
        TRY(kltype_coerce(L, t, p->name->s, L->pos, v));
    }
    return klvar_assign(L, var, v, L->pos);
}

static qs_status bind_params(Lower *L, Inst *inst, const Args *args) {
    const Func *f = inst->func;
    for (int i = 0; i < f->nparams; i++) {
        const Param *p = &f->params[i];
        Val v;
        int k = find_argument(args, f, i);
        uint32_t call_pos = L->pos;
        if (p->variadic)
            return klower_error(L, QS_ETYPE, p->pos,
                                "%s has a variable number of parameters and cannot be used in a kernel", f->name->s);
        if (k >= 0) v = args->at[k];
        else if (p->init) TRY(klexpr_lower(L, p->init, &v));
        else return klower_error(L, QS_ETYPE, p->pos, "%s: argument %s is missing", f->name->s, p->name->s);
        L->pos = call_pos;
        TRY(bind_param(L, inst, p, &v));
    }
    return QS_OK;
}

/* -- overloads --------------------------------------------------------------------------------------------------- */
static int distance_of(Lower *L, const Func *f, const Args *args) {
    int sum = 0, used = 0;
    for (int i = 0; i < f->nparams; i++) {
        int k = find_argument(args, f, i);
        if (k < 0 && !f->params[i].init) return -1;
        if (k < 0) { sum++; continue; }
        int d = kltype_distance(L, f, &f->params[i], &args->at[k]);
        if (d < 0) return -1;
        used++, sum += 4 * d;
    }
    return used == args->n ? sum : -1;
}

static qs_status choose(Lower *L, Closure **fn, const Args *args) {
    int best = -1;
    Closure *found = NULL, *builtin = NULL;
    Str *name = NULL;
    if (!(*fn)->noverloads) return QS_OK;
    for (int i = 0; i < (*fn)->noverloads; i++) {
        Closure *c = (*fn)->overloads[i].u.fn;
        if (!c->func) { builtin = c; continue; }
        int d = distance_of(L, c->func, args);
        name = c->func->name;
        if (d >= 0 && (best < 0 || d <= best)) best = d, found = c;
    }
    if (!found) found = builtin; /* what is built in serves where no definition of the user fits */
    if (!found) return klower_error(L, QS_ETYPE, L->pos, "no definition of %s fits these arguments", name->s);
    return *fn = found, QS_OK;
}

/* -- inlining ---------------------------------------------------------------------------------------------------- */
static qs_status declare_results(Lower *L, Inst *inst) {
    const Func *f = inst->func;
    for (int i = 0; i < f->nouts; i++) {
        const Type *t;
        TypeMods mods;
        if (!f->outs[i].type) continue;
        TRY(kltype_resolve(L, f->outs[i].type, &t, &mods));
        Var *v = &inst->vars[f->outs[i].sym->index];
        v->converts = t->kind == TY_NUM, v->declared = t->dtype;
    }
    return QS_OK;
}

static qs_status result(Lower *L, Inst *inst, int i, Val *out) {
    const Param *p = &inst->func->outs[i];
    const Type *t;
    TypeMods mods;
    TRY(klvar_read(L, &inst->vars[p->sym->index], p->pos, out));
    if (!p->type) return QS_OK;
    TRY(kltype_resolve(L, p->type, &t, &mods));
    return kltype_coerce(L, t, p->name->s, p->pos, out);
}

static qs_status collect_results(Lower *L, Inst *inst, Val *outs, int nouts) {
    const Func *f = inst->func;
    for (int i = 0; i < nouts; i++) {
        outs[i] = (Val){.kind = V_VOID};
        if (f->nouts && i < f->nouts) TRY(result(L, inst, i, &outs[i]));
        else if (!f->nouts && f->expr && i == 0) TRY(klexpr_lower(L, f->expr, &outs[0]));
    }
    if (!nouts && f->expr) return klexpr_lower(L, f->expr, &(Val){0});
    return QS_OK;
}

/* The results are values: what they were computed from may go out of scope. */
static qs_status settle(Lower *L, Val *outs, int nouts) {
    for (int i = 0; i < nouts; i++)
        if (outs[i].kind == V_MEMORY && !outs[i].u.mem->shared) TRY(klval_components(L, &outs[i], &outs[i]));
    return QS_OK;
}

static qs_status check_depth(Lower *L, const Func *f) {
    if (f->qual == Q_KERNEL)
        return klower_error(L, QS_ETYPE, L->pos, "kernel %s is called: use parallel_do or serial_do", f->name->s);
    if (L->calls < KLOWER_CALLS) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s calls itself; recursion is not possible in a kernel", f->name->s);
}

static qs_status inline_call(Lower *L, const Node *site, Closure *fn, const Args *args, Val *outs, int nouts) {
    Inst *inst;
    Caller saved;
    TRY(check_depth(L, fn->func));
    TRY(check_names(L, args, fn->func));
    L->calls++;
    TRY(klower_enter(L, site, fn, &inst, &saved));
    TRY(bind_params(L, inst, args));
    TRY(declare_results(L, inst));
    TRY(klstmt_body(L, inst));
    TRY(collect_results(L, inst, outs, nouts));
    TRY(settle(L, outs, nouts));
    L->calls--;
    return klower_leave(L, &saved);
}

static qs_status no_function(Lower *L, const char *name) {
    return klower_error(L, QS_ENAME, L->pos, "%s cannot be used in a kernel", name);
}

static qs_status call_function(Lower *L, const Node *site, Closure *fn, const Val *args, Str *const *names, int nargs,
                          Val *outs, int nouts) {
    int which;
    Args a = {args, names, nargs};
    TRY(choose(L, &fn, &a));
    if (fn->func) return inline_call(L, site, fn, &a, outs, nouts);
    if (!fn->builtin || !klbuiltin_find(fn->builtin, &which))
        return no_function(L, fn->builtin ? fn->builtin : "this function");
    Val only;
    TRY(klbuiltin_call(L, which, site && site->kind == N_CALL ? (Node *)(uintptr_t)site : NULL, args, nargs,
                    nouts ? &outs[0] : &only));
    for (int i = 1; i < nouts; i++) outs[i] = (Val){.kind = V_VOID};
    return QS_OK;
}

/* -- who is called ----------------------------------------------------------------------------------------------- */
static bool is_callable(const Val *v) { return v->kind == V_FUNC || v->kind == V_TYPE; }

static qs_status by_name(Lower *L, Str *name, Val *out) {
    const LowerHost *h = L->job->host;
    KVal v = {0};
    if (h && h->function && h->function(h->ud, name, &v)) return klower_import(L, &v, name, out), QS_OK;
    if (!klbuiltin_find(name->s, &(int){0})) return no_function(L, name->s);
    Closure *c = qarena_alloc(L->arena, sizeof *c);
    c->builtin = name->s;
    *out = (Val){.kind = V_FUNC};
    return out->u.fn = c, QS_OK;
}

/* A local may have the name of a function: sum = 0.0 does not keep sum(x) from being called. */
static qs_status callee_of(Lower *L, Node *n, Val *out) {
    if (n->kind != N_IDENT) return klexpr_lower(L, n, out);
    const Sym *sym = n->u.ident.sym;
    Var *v = klvar_of(L, sym);
    if (v && v->type.kind == V_NUM) return by_name(L, n->u.ident.name, out);
    TRY(klexpr_symbol(L, sym, n->pos, out));
    if (is_callable(out) || out->kind == V_UNKNOWN) return QS_OK;
    return by_name(L, n->u.ident.name, out);
}

static qs_status method_of(Lower *L, const Node *n, Val *self, Val *out, bool *bound) {
    TRY(klexpr_lower(L, n->u.field.base, self));
    *bound = false;
    const Record *r = self->kind == V_OBJECT ? self->u.rec : NULL;
    for (int i = 0; r && i < r->nfields; i++) {
        if (r->names[i] != n->u.field.name) continue;
        *bound = true;
        if (r->vars) return klvar_read(L, r->vars[i], n->pos, out);
        return *out = r->fields[i], QS_OK;
    }
    return by_name(L, n->u.field.name, out);
}

static qs_status lower_args(Lower *L, const ArgList *list, Val *at, Str **names) {
    for (int i = 0; i < list->n; i++) {
        const Arg *a = &list->at[i];
        const Type *t;
        TypeMods mods;
        TRY(klexpr_lower(L, a->value, &at[i]));
        names[i] = a->name;
        if (!a->type) continue;
        TRY(kltype_resolve(L, a->type, &t, &mods));
        TRY(kltype_coerce(L, t, "the argument", a->pos, &at[i]));
    }
    return QS_OK;
}

/* A function of the name of a class is a constructor; where none of them fits the class itself is meant. */
static const Type *class_instead(Lower *L, const Closure *fn, const Args *args) {
    const LowerHost *h = L->job->host;
    const Func *f = fn->func ? fn->func : fn->noverloads ? fn->overloads[0].u.fn->func : NULL;
    if (!f || !h || !h->type) return NULL;
    if (fn->func && distance_of(L, fn->func, args) >= 0) return NULL;
    for (int i = 0; i < fn->noverloads; i++)
        if (fn->overloads[i].u.fn->func && distance_of(L, fn->overloads[i].u.fn->func, args) >= 0) return NULL;
    const Type *t = h->type(h->ud, L->inst->func, f->name);
    return t && t->kind == TY_CLASS ? t : NULL;
}

static qs_status call_value(Lower *L, Node *n, const Val *fn, const Val *args, Str *const *names, int nargs, Val *outs,
                            int nouts) {
    Args a = {args, names, nargs};
    const Type *t = fn->kind == V_TYPE ? fn->u.type : fn->kind == V_FUNC ? class_instead(L, fn->u.fn, &a) : NULL;
    if (fn->kind == V_FUNC && !t) return call_function(L, n, fn->u.fn, args, names, nargs, outs, nouts);
    if (!t) return klower_error(L, QS_ETYPE, n->pos, "%s is not a function", klval_type_name(L, fn));
    Val only;
    for (int i = 1; i < nouts; i++) outs[i] = (Val){.kind = V_VOID};
    return kltype_construct(L, n, t, args, names, nargs, nouts ? &outs[0] : &only);
}

qs_status klcall_lower(Lower *L, Node *n, Val *outs, int nouts) {
    Node *callee = n->u.call.callee;
    const ArgList *list = &n->u.call.args;
    Val fn, *args = qarena_alloc(L->arena, (size_t)(list->n + 1) * sizeof *args);
    Str **names = qarena_alloc(L->arena, (size_t)(list->n + 1) * sizeof *names);
    bool saved = L->indexing, bound = true;
    L->indexing = false;
    if (callee->kind == N_FIELD) TRY(method_of(L, callee, &args[0], &fn, &bound));
    else TRY(callee_of(L, callee, &fn));
    int first = bound ? 0 : 1; /* self comes first */
    TRY(lower_args(L, list, args + first, names + first));
    L->pos = n->pos;
    for (int i = 0; fn.kind == V_UNKNOWN && i < nouts; i++) outs[i] = (Val){0};
    if (fn.kind != V_UNKNOWN) TRY(call_value(L, n, &fn, args, names, list->n + first, outs, nouts));
    L->indexing = saved, L->pos = n->pos;
    return QS_OK;
}

/* -- launches inside kernels ------------------------------------------------------------------------------------- */
typedef struct { int rank; Num extent[QS_MAX_RANK], counter[QS_MAX_RANK]; } Domain;

static qs_status launch_extents(Lower *L, const Val *dims, Domain *d) {
    Val all;
    TRY(klval_components(L, dims, &all));
    int64_t n = all.rank == 2 && all.dims[0] == 2 ? all.dims[1] : klval_count(&all); /* [dims, block]: the first row */
    if (n < 1 || n > QS_MAX_RANK)
        return klower_error(L, QS_ESHAPE, L->pos, "the size of a launch is %s", klval_type_name(L, dims));
    d->rank = (int)n;
    for (int i = 0; i < d->rank; i++) d->extent[i] = klval_num(&all, i);
    return QS_OK;
}

static void open_domain(Lower *L, Domain *d) {
    for (int i = 0; i < d->rank; i++) {
        KRef n = klnum_ref(L, d->extent[i], QS_I32), one = klnum_int(L, QS_I32, 1);
        KRef k = klnum_emit(L, K_FOR, QS_I32, 0, klnum_int(L, QS_I32, 0), klnum_bin(L, K_SUB, n, one), one, 0);
        d->counter[i] = klnum_strong(k, QS_I32);
    }
}

static void close_domain(Lower *L, const Domain *d) {
    for (int i = 0; i < d->rank; i++) kbuild_end(&L->walk);
}

/* Blocks of one position: blkidx is pos, blkcnt the extents. */
static qs_status bind_position(Lower *L, const Func *f, const Param *p, const Domain *d, Val *out) {
    Num nums[QS_MAX_RANK];
    int which = klower_special(p->name);
    for (int i = 0; i < d->rank; i++) {
        if (which == SPECIAL_POS || which == SPECIAL_BLKIDX) nums[i] = d->counter[i];
        else if (which == SPECIAL_BLKCNT) nums[i] = klnum_cast(L, d->extent[i], QS_I32);
        else nums[i] = klnum_strong(klnum_int(L, QS_I32, which == SPECIAL_BLKDIM), QS_I32);
    }
    return klower_position(L, f, p, nums, d->rank, out);
}

static qs_status bind_launch(Lower *L, Inst *inst, const Domain *d, const Val *args, int nargs) {
    const Func *f = inst->func;
    int next = 0;
    for (int i = 0; i < f->nparams; i++) {
        const Param *p = &f->params[i];
        Val v;
        if (klower_special(p->name) >= 0) TRY(bind_position(L, f, p, d, &v));
        else if (next < nargs) v = args[next++];
        else if (p->init) TRY(klexpr_lower(L, p->init, &v));
        else return klower_error(L, QS_ETYPE, p->pos, "%s: argument %s is missing", f->name->s, p->name->s);
        TRY(bind_param(L, inst, p, &v));
    }
    if (next == nargs) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s takes %d arguments, got %d", f->name->s, next, nargs);
}

qs_status klcall_launch(Lower *L, const Node *site, const Val *args, int nargs) {
    Domain d = {0};
    Inst *inst;
    Caller saved;
    const Val *fn = &args[nargs - 1];
    if (nargs < 2 || fn->kind != V_FUNC || !fn->u.fn->func)
        return klower_error(L, QS_ETYPE, L->pos, "a launch wants its size, arguments and a kernel");
    if (L->calls >= KLOWER_CALLS)
        return klower_error(L, QS_ETYPE, L->pos, "%s launches itself", fn->u.fn->func->name->s);
    TRY(launch_extents(L, &args[0], &d));
    open_domain(L, &d);
    L->calls++;
    TRY(klower_enter(L, site, fn->u.fn, &inst, &saved));
    TRY(bind_launch(L, inst, &d, args + 1, nargs - 2));
    TRY(klstmt_body(L, inst));
    if (inst->func->expr) TRY(klexpr_lower(L, inst->func->expr, &(Val){0}));
    L->calls--;
    TRY(klower_leave(L, &saved));
    close_domain(L, &d);
    return QS_OK;
}
