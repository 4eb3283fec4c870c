/* lower_call.c -- lowers calls in kernels: overloads, methods, constructors, parameter conversion, nested launches. */
#include "lang/kernel/lower/kernel/lower_builtin_table.h"
#include "lang/syntax/fold.h"

#include <stdio.h>
#include <string.h>

/* -- arguments ----------------------------------------------------------------------------------------------------- */
/* Marks a private array argument as borrowed.  It is passed without a copy; the function makes one when it writes to it
 * (own_memory). */
static void mark_borrowed(Lower *L, Val *v) {
    if (v->kind != V_MEMORY || v->u.mem->shared) return;
    Memory *m = qarena_alloc(L->arena, sizeof *m);
    *m = *v->u.mem, m->borrowed = true;
    v->u.mem = m;
}

static qs_status convert_value(Walk *w, TypeExpr *type, const char *what, uint32_t pos, Val *v) {
    const Type *t;
    TypeMods mods;
    TRY(kltype_resolve((Lower *)w, type, &t, &mods));
    if (klvar_declares(t, mods)) klvar_modify(mods, v);
    return kltype_coerce((Lower *)w, t, what, pos, v);
}

/* Describes the check of a parameter with integer elements, which must not change its argument.  Returns false for
 * other types. */
static bool is_declared_int(Lower *L, const Param *p, const Type *t, DeclaredInt *out) {
    enum { ROOM = 140 };
    const Type *n = t;
    while (n->kind == TY_ARRAY) n = n->inner;
    if (n->kind != TY_NUM || !qdtype_is_int(n->dtype)) return false;
    char *what = qarena_alloc(L->arena, ROOM);
    snprintf(what, ROOM, "%.60s: argument %.60s", L->in->func->name->s, p->name->s);
    return *out = (DeclaredInt){what, t, n->dtype, p->pos}, true;
}

/* Checks that all numbers fit. checked: the host has checked run-time values. */
static qs_status pass_numbers(Lower *L, const DeclaredInt *t, bool checked, const Val *v) {
    Val all;
    double known;
    TRY(klval_components(L, v, &all));
    if (all.kind != V_NUM || qdtype_is_complex(all.dtype)) return QS_OK;
    for (int64_t i = 0, n = klval_count(&all); i < n; i++)
        if (!checked || klnum_known(L, klval_num(&all, i), &known)) klnum_check_integral(L, t, klval_num(&all, i));
    return QS_OK;
}

/* Elements are checked when they are read, unless the memory's element type always fits, or a variable has converted
 * them before. */
static void pass_elements(Lower *L, const DeclaredInt *t, Val *v) {
    qs_dtype d = klval_element(v);
    double least = 0, most = 1, lo, hi;
    if (qdtype_is_complex(d)) return;
    qdtype_int_span(t->d, &lo, &hi);
    if (qdtype_is_int(d)) qdtype_int_span(d, &least, &most);
    if (!qdtype_is_real(d) && least >= lo && most <= hi) return;
    klval_declare_elements(L, v, t->d)->declared = memcpy(qarena_alloc(L->arena, sizeof *t), t, sizeof *t);
}

static qs_status pass_whole(Lower *L, const Param *p, const Type *t, bool checked, Val *v) {
    DeclaredInt whole;
    bool private = v->kind == V_MEMORY && !v->u.mem->shared;
    if (!is_declared_int(L, p, t, &whole)) return QS_OK;
    if (v->kind == V_ARRAY) pass_elements(L, &whole, v);
    if (private && v->made.set == klval_made(whole.d).set) return QS_OK;
    if (!private && (v->kind != V_NUM || (checked && !v->rank))) return QS_OK;
    return pass_numbers(L, &whole, checked, v);
}

qs_status klcall_bind(Lower *L, const Param *p, bool checked, Val *v) {
    Var *var = &L->in->vars[p->sym->index];
    const Type *t = NULL;
    TypeMods mods = {0};
    TRY(kltype_bind(L, L->in, p->type, v));
    mark_borrowed(L, v);
    if (p->type) {
        TRY(kltype_resolve(L, p->type, &t, &mods));
        TRY(pass_whole(L, p, t, checked, v));
        TRY(kltype_coerce(L, t, p->name->s, L->pos, v));
    }
    TRY(klvar_assign(L, var, v, L->pos));
    if (t) klvar_declare(var, t, mods);
    return QS_OK;
}

static qs_status bind_param(Walk *w, const Param *p, Val *v) { return klcall_bind((Lower *)w, p, false, v); }

/* -- overloads ----------------------------------------------------------------------------------------------------- */
static bool is_special(const Param *p) { return klower_special(p->name) >= 0; }

static Overload overload_of(const Closure *fn) {
    if (fn->func) return (Overload){.func = fn->func};
    return (Overload){NULL, fn->host ? fn->host->least : 0, fn->host ? fn->host->most : -1};
}

/* Selects the overload that accepts the arguments and stores it in *fn.  The selection may request an extent first.
 * integral: see qfold_integral; a launch passes its numbers as they are. */
static qs_status find_overload(Lower *L, Closure **fn, const Args *args, uint64_t integral, bool launch, bool *found) {
    int n = (*fn)->noverloads ? (*fn)->noverloads : 1, positional = 0;
    Overload *all = qarena_alloc(L->arena, qmem_size((size_t)n, sizeof *all, 0));
    GivenArg *given = qarena_alloc(L->arena, qmem_size((size_t)(args->n + 1), sizeof *given, 0));
    for (int i = 0; i < n; i++) all[i] = overload_of((*fn)->noverloads ? (*fn)->overloads[i].u.fn : *fn);
    for (int i = 0; i < args->n; i++) {
        kltype_describe(L, &args->at[i], &given[i]);
        given[i].integral = i < 64 && integral >> i & 1 && given[i].type == qtype_scalar(L->c);
    }
    while (positional < args->n && !args->names[positional]) positional++;
    const Overloads o = {L->c, all, n, kltype_declared, L};
    const GivenCall call = {.at = given,
                            .n = args->n,
                            .names = args->names + positional,
                            .nnamed = args->n - positional,
                            .skips = launch ? is_special : NULL};
    Resolution r = qoverload_choose(&o, &call);
    if (r.arg >= 0) {
        const KVal *host = &args->at[r.arg].u.array->host;
        return klower_need(L, host->source, r.axis, host->rank);
    }
    *found = r.index >= 0;
    if (*found && (*fn)->noverloads) *fn = (*fn)->overloads[r.index].u.fn;
    return QS_OK;
}

static bool any_unknown(const Args *args) {
    for (int i = 0; i < args->n; i++)
        if (args->at[i].kind == V_UNKNOWN) return true;
    return false;
}

static const char *name_of(const Closure *fn) {
    for (int i = 0; i < fn->noverloads; i++)
        if (fn->overloads[i].u.fn->func) return fn->overloads[i].u.fn->func->name->s;
    return fn->func ? fn->func->name->s : fn->builtin ? fn->builtin : "this function";
}

static qs_status no_overload(Lower *L, const Closure *fn, const Args *args) {
    Text t;
    qtext_init(&t, L->c);
    for (int i = 0; i < args->n; i++) qtext_printf(&t, "%s%s", i ? ", " : "", klval_type_name(L, &args->at[i]));
    qs_status s = klower_error(L, QS_ETYPE, L->pos, "no %s takes the arguments (%s)", name_of(fn), t.s ? t.s : "");
    qtext_free(&t);
    return s;
}

/* -- inlining ------------------------------------------------------------------------------------------------------ */
static void new_frame(Walk *w, InlineFrame *in) {
    const Func *f = in->func;
    in->vars = qarena_alloc(w->keep, qmem_size((size_t)f->nlocals, sizeof *in->vars, sizeof *in->vars));
    for (int k = 0; k < f->nlocals; k++) in->vars[k].sym = f->locals[k], in->vars[k].name = f->locals[k]->name;
    in->typarams = qarena_alloc(w->keep, qmem_size((size_t)f->ntyparams, sizeof *in->typarams, sizeof *in->typarams));
    in->sizes = qarena_alloc(w->keep, qmem_size((size_t)f->ntyparams, sizeof *in->sizes, sizeof *in->sizes));
}

/* Whether the statement assigns an element of a parameter or of a variable from outside f, in dead code, too. */
static bool stores_outside(const Node *n, void *ud) {
    const Func *f = ud;
    const Node *updated = klbuiltin_updated(n);
    for (int i = 0; i < (updated ? 1 : n->kind == N_ASSIGN ? n->u.assign.ntargets : 0); i++) {
        const Node *t = updated ? updated : n->u.assign.targets[i];
        bool element = t->kind == N_INDEX;
        const Sym *s = qast_written(t);
        if (element && s && (s->kind != SYM_LOCAL || s->index < f->nparams)) return true;
    }
    return false;
}

static void enter_function(Walk *w, InlineFrame *in) {
    Lower *L = (Lower *)w;
    L->nstoring += kquery_node(in->func->body, true, stores_outside, (void *)(uintptr_t)in->func) != NULL;
    memset(in->sizes, 0, (size_t)in->func->ntyparams * sizeof *in->sizes);
    klvar_enter(L, in);
}
static qs_status leave_function(Walk *w, InlineFrame *in) { return klvar_finish((Lower *)w, in); }

/* Declared results convert the values assigned to them. */
static qs_status declare_results(Walk *w, InlineFrame *in) {
    const Func *f = in->func;
    TRY(kltype_check_constraints((Lower *)w, in));
    for (int i = 0; i < f->nouts; i++) {
        const Type *t;
        TypeMods mods;
        if (!f->outs[i].type) continue;
        TRY(kltype_resolve((Lower *)w, f->outs[i].type, &t, &mods));
        klvar_declare(&in->vars[f->outs[i].sym->index], t, mods);
    }
    return QS_OK;
}

/* Reads a result as a value, because the memory that it was computed from may go out of scope. */
static qs_status read_result(Walk *w, const Param *p, Val *out) {
    Lower *L = (Lower *)w;
    const Type *t;
    TypeMods mods;
    if (p) TRY(klvar_read(L, &L->in->vars[p->sym->index], p->pos, out));
    if (p && p->type) {
        TRY(kltype_resolve(L, p->type, &t, &mods));
        TRY(kltype_coerce(L, t, p->name->s, p->pos, out));
    }
    return out->kind == V_MEMORY && !out->u.mem->shared ? klval_components(L, out, out) : QS_OK;
}

static qs_status may_inline(Walk *w, const Func *f, const Args *args) {
    (void)args;
    if (f->qual != Q_KERNEL) return QS_OK;
    return klower_error((Lower *)w, QS_ETYPE, w->pos, "kernel %s is called: use parallel_do or serial_do", f->name->s);
}

Callee klcall_callee(Closure *fn) { return (Callee){.func = fn->func, .captures = fn->captures, .closure = fn}; }

/* Returns the name that the function may have in kernels.q: that of a built-in or of a library function of the host. */
static const char *name_in_library(const Closure *fn) {
    const Func *f = fn->func ? fn->func : fn->noverloads ? fn->overloads[0].u.fn->func : NULL;
    if (!f) return fn->builtin;
    return f->unit && f->unit->src->library && f->qual != Q_DEVICE ? f->name->s : NULL;
}

/* Finds the function of kernels.q that is used for a function of the host: kernel_NAME or, for a call with several
 * results, kernel_two_NAME or kernel_full_NAME.  If none has as many results, the other one is used. */
static bool find_in_library(Lower *L, const char *name, int wanted, Closure **out) {
    const LowerHost *h = L->job->host;
    static const char *const forms[] = {"kernel_two_", "kernel_full_", "kernel_", "kernel_full_"};
    for (int i = wanted == 2 ? 0 : wanted > 1 ? 1 : 2; i < 4 && name && h && h->function; i++) {
        char text[64];
        KVal v = {0};
        Val f;
        snprintf(text, sizeof text, "%s%.40s", forms[i], name);
        if (!h->function(h->ud, qstr_cname(L->c, text), &v)) continue;
        klower_import(L, &v, qstr_cname(L->c, name), &f);
        return *out = f.u.fn, true;
    }
    return false;
}

/* Hints for functions that kernels lack: the code to write instead. */
static const char *const substitutes[][2] = {
    {"find", "test the elements in a loop; k = atomic_add(n[0], 1) numbers those that are found"},
    {"unique", "compare neighbours of sort(v) in a loop"},
    {"ismember", "write any(v == x)"},
    {"bincount", "h[k] += 1 counts"},
    {"histogram", "h[k] += 1 counts"},
    {"accumarray", "y[k] += v adds"},
    {"quantile", "interpolate between elements of sort(v)"},
    {"percentile", "interpolate between elements of sort(v)"},
    {"prctile", "interpolate between elements of sort(v)"},
    {"normalize", "write (v - mean(v))/std(v)"},
    {"interp2", "add the four neighbours with their weights"},
    {"meshgrid", "the position gives the coordinates"},
    {"orth", "use [u, s, v] = svd(m)"},
    {"null", "use [u, s, v] = svd(m)"},
    {"sqrtm", "use [v, d] = eig(m): v*diagm(sqrt(d))*inv(v)"},
    {"logm", "use [v, d] = eig(m): v*diagm(log(d))*inv(v)"},
    {"roots", "use eig of the companion matrix"},
    {"polyfit", "use solve"},
    {"tic", "measure the launch: tic() before it, toc() after sync()"},
    {"toc", "measure the launch: tic() before it, toc() after sync()"},
    {"time", "measure the launch from outside"},
    {"dict", "use an array and indices, or the fields of an object"},
    {"append", "x[atomic_add(n[0], 1)] = v adds to an array of known size"},
};

const char *klcall_substitute(const char *name) {
    for (size_t i = 0; i < sizeof substitutes / sizeof *substitutes; i++)
        if (!strcmp(name, substitutes[i][0])) return substitutes[i][1];
    return "call it outside, and pass its result to the kernel";
}

static qs_status no_function(Lower *L, const char *builtin) {
    if (!builtin) return klower_error(L, QS_ENAME, L->pos, "this function cannot be used in a kernel");
    if (!strcmp(builtin, "$format"))
        return klower_error(L, QS_ENAME, L->pos,
                            "a kernel makes no strings, so f\"…{x}\" cannot be used in it: printf(\"…%%g\", x) prints");
    if (!strcmp(builtin, "$dict"))
        return klower_error(L, QS_ENAME, L->pos,
                            "a kernel makes no dictionaries; pass their values as arguments, or an object of a class");
    return klower_error(L, QS_ENAME, L->pos, "%s cannot be used in a kernel; %s", builtin, klcall_substitute(builtin));
}

static void set_unknown(Val *outs, int n) {
    for (int i = 0; i < n; i++) outs[i] = (Val){0};
}

static void nothing_from(Val *outs, int from, int wanted) {
    for (int i = from; i < wanted; i++) outs[i] = (Val){.kind = V_VOID};
}

/* -- private arrays that a function changes ------------------------------------------------------------------------ */
typedef struct {
    const Sym *sym;
    bool whole; /* asks for an assignment of the whole parameter, not of its elements */
} Written;

static bool writes_param(const Node *n, void *ud) {
    const Written *w = ud;
    for (int i = 0; i < (n->kind == N_ASSIGN ? n->u.assign.ntargets : 0); i++) {
        const Node *t = n->u.assign.targets[i];
        bool whole = t->kind == N_IDENT && !n->u.assign.in_place;
        while (t->kind == N_INDEX) t = t->u.index.base;
        if (qast_is_name(t, w->sym) && whole == w->whole) return true;
    }
    return false;
}

/* How a function treats its parameter: SETS: it assigns the name first, so the array of the caller is not changed. */
typedef enum { CHANGES, SETS, MIXES } Treats;
static Treats treats_param(const Func *f, const Sym *sym) {
    Written elements = {sym, false}, whole = {sym, true};
    if (!kquery_node(f->body, true, writes_param, &whole)) return CHANGES;
    for (int i = 0; i < f->body.n; i++) {
        Node *n = f->body.at[i];
        if (writes_param(n, &whole)) return SETS;
        const NodeList one = {&n, 1};
        if (kquery_node(one, true, writes_param, &elements) || kquery_node(one, true, writes_param, &whole)) break;
    }
    return MIXES;
}

/* Finds the variable that the argument names: a local, or a field of an object made in the kernel. */
static qs_status variable_of(Lower *L, Node *arg, Var **out) {
    const Record *r;
    Val object;
    int i;
    *out = arg->kind == N_IDENT && arg->u.ident.sym ? klvar_of(L, arg->u.ident.sym) : NULL;
    if (arg->kind != N_FIELD) return QS_OK;
    TRY(klexpr_lower(L, arg->u.field.base, &object));
    return object.kind == V_OBJECT && !object.rank ? klexpr_field(L, &object, arg, out, &r, &i) : QS_OK;
}

/* Whether the function changes elements of the parameter, whose argument is a private array. */
static bool changes_private(const InlineFrame *in, const Param *p, const Val *given) {
    bool private = given->rank && (given->kind == V_NUM || (given->kind == V_MEMORY && !given->u.mem->shared));
    return private && p->sym && in->vars[p->sym->index].changed;
}

/* Each position of a launch in a kernel has its own copy of a private array. */
static qs_status check_launched(Lower *L, const InlineFrame *in, const Val *args, int nargs) {
    for (int i = 0, k = 0; i < in->func->nparams && k < nargs; i++) {
        const Param *p = &in->func->params[i];
        if (klower_special(p->name) >= 0 || !changes_private(in, p, &args[k++])) continue;
        return klower_error(L, QS_ETYPE, L->pos,
                            "kernel %s changes %s, which is an array of the kernel that launches it: write a loop, or "
                            "call a function",
                            in->func->name->s, p->name->s);
    }
    return QS_OK;
}

/* A private array is passed by value.  If the function has changed the parameter, the variable of the caller gets its
 * value, because on the host both are one array.  from: has the value; NULL: the parameter itself. */
static qs_status give_back(Lower *L, const InlineFrame *in, const Param *p, Node *arg, const Val *given, Var *from) {
    Var *v = &in->vars[p->sym->index], *to;
    uint32_t pos = L->pos;
    Val now;
    TRY(variable_of(L, arg, &to));
    Treats how = to ? treats_param(in->func, p->sym) : SETS;
    if (how == SETS) return QS_OK;
    if (how == MIXES)
        return klower_error(L, QS_ETYPE, pos,
                            "%s sets its parameter %s and changes elements of it, and the argument is an array of the "
                            "kernel: use another name in place of %s = …",
                            in->func->name->s, p->name->s, p->name->s);
    if (from) klvar_hidden_get(L, from, &now);
    else TRY(klvar_read(L, v, pos, &now));
    TRY(klval_components(L, &now, &now));
    bool converted = now.made.set != given->made.set; /* a copy on the host, too */
    if (now.kind != V_NUM || converted || klval_count(&now) != klval_count(given)) return QS_OK;
    now.rank = given->rank, memcpy(now.dims, given->dims, sizeof now.dims);
    to->changed = true;
    return klvar_assign(L, to, &now, pos);
}

/* Argument k of args: the object of a method precedes the written arguments. */
static Node *argument_node(const Node *site, const Args *args, int k) {
    const ArgList *list = &site->u.call.args;
    int self = args->n > list->n;
    return k < self ? site->u.call.callee->u.field.base : list->at[k - self].value;
}

static qs_status give_one_back(Lower *L, const Node *site, const Callee *fn, const Args *args, int param, int k,
                               const InlineFrame *in, Var *from) {
    const Param *p = &fn->func->params[param];
    if (!changes_private(in, p, &args->at[k])) return QS_OK;
    Node *arg = argument_node(site, args, k);
    for (int j = 0; j < args->n; j++)
        if (j != k && args->at[k].rank && qast_same_name(arg, argument_node(site, args, j)))
            return klower_error(L, QS_ETYPE, L->pos, "%s changes %s, which it is given twice: pass copy(%s)",
                                fn->func->name->s, arg->u.ident.name->s, arg->u.ident.name->s);
    return give_back(L, in, p, arg, &args->at[k], from);
}

qs_status klcall_give_back(Lower *L, const Node *site, const Callee *fn, const Args *args, const InlineFrame *in,
                           Var *const *back) {
    if (!site || site->kind != N_CALL || args->n - site->u.call.args.n > (site->u.call.callee->kind == N_FIELD))
        return QS_OK;
    for (int i = 0; i < fn->func->nparams; i++) {
        int k = kcall_find_argument(args, fn->func, i);
        if (k >= 0) TRY(give_one_back(L, site, fn, args, i, k, in, back ? back[i] : NULL));
    }
    return QS_OK;
}

static qs_status call_function(Lower *L, const Node *site, Closure *fn, const Args *args, Val *outs, int wanted) {
    int which;
    Callee callee = klcall_callee(fn);
    bool done = false;
    if (fn->func) TRY(klrecursion_call(L, site, fn, args, outs, wanted, &done));
    if (done) return QS_OK;
    if (fn->func) {
        TRY(kcall_inline(&L->walk, site, &callee, args, outs, wanted));
        return klcall_give_back(L, site, &callee, args, kcall_frame(&L->walk, site, &callee), NULL);
    }
    if (!fn->builtin || !klbuiltin_find(fn->builtin, &which)) return no_function(L, fn->builtin);
    Val only;
    nothing_from(outs, 1, wanted);
    TRY(klbuiltin_call(L, which, site && site->kind == N_CALL ? (Node *)(uintptr_t)site : NULL, args->at, args->n,
                       wanted ? &outs[0] : &only));
    return L->walk.unpacks = fn->host && fn->host->unpacks, QS_OK;
}

/* -- callees ------------------------------------------------------------------------------------------------------- */
static bool is_callable(const Val *v) { return v->kind == V_FUNC || v->kind == V_TYPE; }

static bool find_by_name(Lower *L, Str *name, Val *out) {
    const LowerHost *h = L->job->host;
    KVal v = {0};
    if (h && h->function && h->function(h->ud, name, &v)) return klower_import(L, &v, name, out), true;
    if (!klbuiltin_find(name->s, &(int){0})) return false;
    Closure *c = qarena_alloc(L->arena, sizeof *c);
    c->builtin = name->s;
    *out = (Val){.kind = V_FUNC};
    return out->u.fn = c, true;
}

static qs_status require_by_name(Lower *L, Str *name, Val *out) {
    if (find_by_name(L, name, out)) return QS_OK;
    return klower_error(L, QS_ENAME, L->pos, "%s cannot be used in a kernel", name->s);
}

/* Finds the called function.  A numeric local may have the name of a function: sum = 0.0 does not prevent sum(x). */
static qs_status callee_of(Lower *L, Node *n, Val *out) {
    if (n->kind != N_IDENT) return klexpr_lower(L, n, out);
    const Sym *sym = n->u.ident.sym;
    Var *v = klvar_of(L, sym);
    if (v && v->type.kind == V_NUM) return require_by_name(L, n->u.ident.name, out);
    TRY(kcall_name(&L->walk, sym, n->pos, out));
    if (is_callable(out) || out->kind == V_UNKNOWN || find_by_name(L, n->u.ident.name, out)) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s is %s, which cannot be called; elements are read with brackets: %s[i]",
                        n->u.ident.name->s, klval_type_name(L, out), n->u.ident.name->s);
}

static qs_status method_of(Lower *L, const Node *n, Val *self, Val *out, bool *bound) {
    TRY(klexpr_lower(L, n->u.field.base, self));
    *bound = false;
    const Record *r = self->kind == V_OBJECT ? self->u.rec : NULL;
    for (int i = 0; r && i < r->nfields; i++) {
        if (r->names[i] != n->u.field.name) continue;
        *bound = true;
        if (r->vars) return klvar_read(L, r->vars[i], n->pos, out);
        return klidx_field(L, self, i, n, out);
    }
    return require_by_name(L, n->u.field.name, out);
}

/* The class that a constructor is named after; it is used if no constructor accepts the arguments. */
static const Type *class_named(Lower *L, const Closure *fn) {
    const LowerHost *h = L->job->host;
    const Func *f = fn->func ? fn->func : fn->noverloads ? fn->overloads[0].u.fn->func : NULL;
    const Type *t = f && h && h->type ? h->type(h->ud, L->in->func, f->name) : NULL;
    return t && t->kind == TY_CLASS ? t : NULL;
}

/* The constant integral arguments of a call.  The object of a method is an argument in front of those in the tree. */
static uint64_t integral_of(const Node *n, const Args *args) {
    const ArgList *written = &n->u.call.args;
    return n->kind == N_CALL ? qfold_integral(written) << (args->n > written->n ? 1 : 0) : 0;
}

static qs_status apply_function(Lower *L, Node *n, Closure *fn, const Args *args, Val *outs, int wanted) {
    bool found = true, unknown = any_unknown(args);
    Val only;
    int which;
    bool known = fn->builtin && klbuiltin_find(fn->builtin, &which) && klbuiltin_takes(which, args->n, wanted);
    if (!known && find_in_library(L, name_in_library(fn), wanted, &fn) && unknown)
        return set_unknown(outs, wanted), QS_OK; /* a later pass knows the sizes */
    for (int i = 0; unknown && fn->noverloads && i < wanted; i++) outs[i] = (Val){0};
    if (unknown && fn->noverloads) return QS_OK; /* a later pass knows which one is called */
    const Closure *all = fn;
    if (!unknown && (fn->func || fn->noverloads)) TRY(find_overload(L, &fn, args, integral_of(n, args), false, &found));
    const Type *t = found ? NULL : class_named(L, all);
    if (t) {
        nothing_from(outs, 1, wanted);
        return kltype_construct(L, n, t, args, wanted ? &outs[0] : &only);
    }
    if (!found && all->noverloads) return no_overload(L, all, args);
    return call_function(L, n, fn, args, outs, wanted);
}

static qs_status apply_callee(Walk *w, Node *n, Val *fn, const Args *args, Val *outs, int wanted) {
    Lower *L = (Lower *)w;
    Val only;
    for (int i = 0; fn->kind == V_UNKNOWN && i < wanted; i++) outs[i] = (Val){0};
    if (fn->kind == V_UNKNOWN) return QS_OK;
    if (fn->kind == V_FUNC) return apply_function(L, n, fn->u.fn, args, outs, wanted);
    if (fn->kind != V_TYPE) return klower_error(L, QS_ETYPE, n->pos, "%s is not a function", klval_type_name(L, fn));
    nothing_from(outs, 1, wanted);
    return kltype_construct(L, n, fn->u.type, args, wanted ? &outs[0] : &only);
}

static qs_status callee_rule(Walk *w, Called *c) {
    Lower *L = (Lower *)w;
    Node *callee = c->site->u.call.callee;
    bool bound = true;
    if (callee->kind == N_FIELD) TRY(method_of(L, callee, c->args, c->fn, &bound));
    else TRY(callee_of(L, callee, c->fn));
    KAtomic k;
    const char *builtin = c->fn->kind == V_FUNC && !c->fn->u.fn->func ? c->fn->u.fn->builtin : NULL;
    c->done = bound && builtin && klbuiltin_updates(builtin, &k);
    if (c->done) return klidx_fetch(L, builtin, c->site, k, c->wanted ? c->outs : NULL);
    return c->self = !bound, QS_OK;
}

const CallRules klcall_rules = {
    .variable = klexpr_variable,
    .function = klexpr_function,
    .outside = klexpr_outside,
    .callee = callee_rule,
    .apply = apply_callee,
    .convert = convert_value,
    .place = "a kernel",
    .most_calls = KLOWER_CALLS,
    .may_inline = may_inline,
    .new_frame = new_frame,
    .enter = enter_function,
    .leave = leave_function,
    .bind = bind_param,
    .bound = declare_results,
    .result = read_result,
};

/* -- launches inside kernels --------------------------------------------------------------------------------------- */
typedef struct {
    int rank;
    Num extent[QS_MAX_RANK], counter[QS_MAX_RANK];
} Domain;

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

static bool is_trivial(Lower *L, Num extent) {
    double n;
    return kir_is_const(L->f, klnum_ref(L, extent, QS_I32), &n) && n == 1;
}

static void fit_domain(Lower *L, Domain *d, const Func *f) {
    bool ones[QS_MAX_RANK];
    for (int i = 0; i < d->rank; i++) ones[i] = is_trivial(L, d->extent[i]);
    KFit fit = klower_fit(d->rank, klower_positions(f), ones);
    d->rank -= fit.front + fit.back + fit.beyond;
    memmove(d->extent, d->extent + fit.front, (size_t)d->rank * sizeof *d->extent);
}

static void open_domain(Lower *L, Domain *d) {
    for (int i = 0; i < d->rank; i++) {
        KRef n = klnum_ref(L, d->extent[i], QS_I32), one = klnum_int(L, QS_I32, 1);
        KRef k = klnum_emit(
            L, (KMake){K_FOR, .own = QS_I32, .a = klnum_int(L, QS_I32, 0), .b = klnum_bin(L, K_SUB, n, one), .c = one});
        d->counter[i] = klnum_strong(k, QS_I32);
    }
}

/* A nested launch has blocks of one position: blkidx is pos, and blkcnt the extents. */
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

static qs_status bind_launch(Lower *L, const Domain *d, const Val *args, int nargs) {
    const Func *f = L->in->func;
    int next = 0;
    for (int i = 0; i < f->nparams; i++) {
        const Param *p = &f->params[i];
        Val v;
        if (klower_special(p->name) >= 0) TRY(bind_position(L, f, p, d, &v));
        else if (next < nargs) v = args[next++];
        else if (p->init) TRY(klexpr_lower(L, p->init, &v));
        else return klower_error(L, QS_ETYPE, p->pos, "%s: argument %s is missing", f->name->s, p->name->s);
        TRY(bind_param(&L->walk, p, &v));
    }
    if (next == nargs) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s takes %d arguments, got %d", f->name->s, next, nargs);
}

static bool has_stores(const KFunc *f, uint32_t from) {
    for (uint32_t i = from; i < f->nins; i++)
        if (kir_is_memory(f->ins[i].op) && f->ins[i].op != K_LOAD) return true;
    return false;
}

/* A kernel given as a lambda may end with a call to a function that stores; any other final value would be lost and is
 * an error. */
qs_status klcall_kernel_body(Lower *L) {
    const Func *f = L->in->func;
    Val v = {.kind = V_VOID};
    uint32_t from = L->f->nins;
    int storing = L->nstoring;
    TRY(kstmt_body(&L->walk, L->in));
    if (f->expr) TRY(klexpr_lower(L, f->expr, &v));
    if (!f->nouts && (v.kind == V_VOID || L->unknown || L->nstoring > storing || has_stores(L->f, from))) return QS_OK;
    return klower_error(L, QS_ETYPE, f->nouts ? f->outs[0].pos : f->expr->pos,
                        "nobody gets this result; a kernel has none, and stores into an array that it is given");
}

qs_status klcall_launch(Lower *L, const Node *site, const Val *args, int nargs) {
    Domain d = {0};
    Closure *fn = nargs >= 2 && args[nargs - 1].kind == V_FUNC ? args[nargs - 1].u.fn : NULL;
    bool found = true;
    if (fn && fn->noverloads) {
        const Closure *all = fn;
        Str **names = qarena_alloc(L->arena, qmem_size((size_t)nargs, sizeof *names, 0));
        Args given = {(Val *)(uintptr_t)args + 1, names, nargs - 2};
        if (any_unknown(&given)) return QS_OK;
        TRY(find_overload(L, &fn, &given, 0, true, &found));
        if (!found) return no_overload(L, all, &given);
    }
    if (!fn || !fn->func) return klower_error(L, QS_ETYPE, L->pos, "a launch wants its size, arguments and a kernel");
    if (L->calls >= KLOWER_CALLS) return klower_error(L, QS_ETYPE, L->pos, "%s launches itself", fn->func->name->s);
    TRY(launch_extents(L, &args[0], &d));
    fit_domain(L, &d, fn->func);
    open_domain(L, &d);
    L->calls++;
    Callee callee = klcall_callee(fn);
    Caller saved = kcall_enter(&L->walk, site, &callee);
    TRY(bind_launch(L, &d, args + 1, nargs - 2));
    TRY(klcall_kernel_body(L));
    L->calls--;
    TRY(kcall_leave(&L->walk, &saved));
    TRY(check_launched(L, kcall_frame(&L->walk, site, &callee), args + 1, nargs - 2));
    kbuild_end_loops(&L->walk, d.rank);
    return QS_OK;
}
