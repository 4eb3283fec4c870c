/* link.c -- enters the names, types and functions of a unit into its module, then resolves every name it uses. */
#include "vm/program/link.h"
#include "vm/value/machine.h"

#include "lang/names/lint.h"
#include "lang/names/overload.h"
#include "lang/syntax/fold.h"
#include "vm/program/modtype.h"
#include "vm/program/names.h"
#include "vm/value/hooks.h"

#include <stdlib.h>
#include <string.h>

/* -- linking: names, types, functions ------------------------------------------------------------------------------ */

typedef struct {
    qs_vm *vm;
    Module *module;
} Entering;

static void enter_name(Entering *e, Str *name) {
    if (name && strcmp(name->s, "_") != 0) qnames_slot(e->vm, e->module, name);
}

static void enter_assigned(void *ud, Node **child) {
    Entering *e = ud;
    Node *n = *child;
    if (n->kind == N_DECL) enter_name(e, n->u.decl.name);
    if (n->kind == N_TRY) enter_name(e, n->u.tries.name);
    for (int i = 0; n->kind == N_FOR && i < n->u.loop.nvars; i++) enter_name(e, n->u.loop.names[i]);
    for (int i = 0; n->kind == N_ASSIGN && !n->u.assign.in_place && i < n->u.assign.ntargets; i++)
        if (n->u.assign.targets[i]->kind == N_IDENT) enter_name(e, n->u.assign.targets[i]->u.ident.name);
    if (!NODE_IS_EXPR(n)) qast_children(n, enter_assigned, e);
}

/* Enters the names that scope.c will define, because files that import each other need them before that. */
void qlink_enter(qs_vm *vm, Module *m, Unit *u) {
    Entering e = {vm, m};
    qmodtype_add(vm, m, u);
    for (int i = 0; i < u->nfuncs; i++) enter_name(&e, u->funcs[i]->u.func->name);
    for (int i = 0; i < u->main->body.n; i++) enter_assigned(&e, &u->main->body.at[i]);
}

/* Returns whether two functions write their parameters alike.  Functions with type parameters are compared later,
 * because the same name may mean different types in them. */
static bool same_parameters(const Func *a, const Func *b) {
    if (a->nparams != b->nparams || a->ntyparams || b->ntyparams) return false;
    for (int i = 0; i < a->nparams; i++) {
        const TypeExpr *s = a->params[i].type, *t = b->params[i].type;
        if (!s != !t || (s && (s->kind != TE_NAME || t->kind != TE_NAME || s->name != t->name))) return false;
    }
    return true;
}

/* The functions of a unit by name.  last: index of the last definition of a name; before[i]: index of the previous
 * definition of the same name as function i, -1: none. */
typedef struct {
    Map last;
    int *before;
} Definitions;

static Definitions collect_definitions(Ctx *c, const Unit *u) {
    Definitions d = {.before = qmem_alloc(c, qmem_size((size_t)u->nfuncs, sizeof *d.before, 0))};
    qmap_init(&d.last);
    for (int i = 0; i < u->nfuncs; i++) {
        Str *name = u->funcs[i]->u.func->name;
        uint64_t last;
        d.before[i] = qmap_get(&d.last, name, &last) ? (int)last : -1;
        qmap_set(&d.last, c, name, (uint64_t)i);
    }
    return d;
}

static void free_definitions(Ctx *c, const Unit *u, Definitions *d) {
    qmem_free(c, d->before, (size_t)u->nfuncs * sizeof *d->before);
    qmap_free(&d->last, c);
}

/* Collects the definitions of one name, the last one first.  If several definitions have equal parameters, only the
 * last one counts. */
static int own_functions(qs_vm *vm, const Unit *u, const Definitions *d, int last, Function **out) {
    int n = 0;
    for (int i = last; i >= 0; i = d->before[i]) {
        Func *f = u->funcs[i]->u.func;
        bool seen = false;
        for (int k = 0; k < n && !seen; k++) seen = same_parameters(out[k]->ast, f);
        if (!seen) out[n++] = qfn_script(vm, f, 0);
    }
    return n;
}

static int count_members(qs_value v) {
    const Function *f = v.u.p;
    return v.kind != QS_FUNCTION ? 0 : f->fkind == FN_SET ? f->nmembers : 1;
}

/* Collects the earlier functions of this name in the module (the session), except those that are redefined. */
static int earlier_functions(qs_value v, Function **own, int nown, Function **out) {
    Function *f = v.u.p;
    int n = 0;
    for (int i = count_members(v); i-- > 0;) {
        Function *old = f->fkind == FN_SET ? f->members[i] : f;
        bool replaced = false;
        for (int k = 0; k < nown && !replaced; k++)
            replaced = old->fkind == FN_SCRIPT && same_parameters(own[k]->ast, old->ast);
        if (!replaced) out[n++] = old;
    }
    return n;
}

static void define_function(qs_vm *vm, Module *m, const Unit *u, const Definitions *d, int last) {
    Ctx *c = qvm_ctx(vm);
    Str *name = u->funcs[last]->u.func->name;
    int slot = qnames_slot(vm, m, name);
    qs_value earlier = *qvm_global(vm, (uint64_t)slot);
    Meaning outer = qnames_outside(vm, m, name);
    int room = count_members(earlier) + (int)outer.n;
    for (int i = last; i >= 0; i = d->before[i]) room++;
    Function **all = qmem_alloc(c, qmem_size((size_t)room, sizeof(Function *), 0));
    int own = own_functions(vm, u, d, last, all), n = own;
    n += earlier_functions(earlier, all, own, all + own);
    for (uint32_t i = 0; i < outer.n; i++) all[n++] = outer.functions[i];
    qnames_forget(&outer);
    uint64_t at;
    Class *cls = qmap_get(&m->types, name, &at) ? m->typedefs[at].cls : NULL;
    qs_value v;
    if (cls) {
        Function *set = qnames_set(vm, name, all, n);
        set->cls = cls;
        cls->ctors = set;
        v = qval_object(QS_FUNCTION, set);
    } else {
        v = qnames_joined(vm, name, all, n);
    }
    for (int i = 0; i < own; i++) qval_release(vm, qval_object(QS_FUNCTION, all[i]));
    qmem_free(c, all, (size_t)room * sizeof(Function *));
    qinterp_put(vm, qvm_global(vm, (uint64_t)slot), v);
}

static void define_functions(qs_vm *vm, Module *m, Unit *u) {
    Definitions d = collect_definitions(qvm_ctx(vm), u);
    for (int i = 0; i < u->nfuncs; i++) /* in the order of the first definitions */
        if (d.before[i] < 0) define_function(vm, m, u, &d, (int)*qmap_at(&d.last, u->funcs[i]->u.func->name));
    free_definitions(qvm_ctx(vm), u, &d);
}

/* -- callbacks for scope.c ----------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t hash;
    int index; /* of the function in its unit */
} Hashed;
typedef struct {
    qs_vm *vm;
    Module *module;
    Unit *unit;
    Hashed *hashed; /* the unit's functions, in the order of their hashes (qoverload_hash); NULL: not needed yet */
} ScopeUser;

static bool scope_module(void *ud, Str *name, Nearest *near) {
    const ScopeUser *u = ud;
    const Module *m = qmod_named(u->module, name);
    const NameVisitor v = {qstr_offer, near};
    if (m && near) qnames_in(&m->names, &v), qnames_in(&m->types, &v);
    return m;
}

static bool describe_global(qs_vm *vm, Str *name, int slot, Sym *out) {
    uint64_t builtin;
    out->kind = SYM_GLOBAL;
    out->index = slot;
    out->builtin = qmap_get(&qvm(vm)->builtins, name, &builtin) && (int)builtin == slot;
    out->function = qvm_global(vm, (uint64_t)slot)->kind == QS_FUNCTION;
    out->variable = !out->builtin && !out->function;
    return true;
}

static bool scope_lookup(void *ud, Str *name, Sym *out) {
    ScopeUser *u = ud;
    Module *home;
    int slot = qnames_lookup(u->vm, u->module, name);
    if (slot >= 0) return describe_global(u->vm, name, slot, out);
    qs_status ignored = QS_OK;
    ModType *t = qmodtype_find(u->vm, u->module, name, &home);
    const Type *type = t ? qmodtype_of(u->vm, home, t, &ignored) : qtype_builtin(qvm_ctx(u->vm), name->s);
    if (!t && !type) return false;
    out->kind = SYM_TYPE;
    out->type = type;
    out->constants = t && t->def->is_enum ? t->def : NULL;
    return true;
}

static bool scope_imported(void *ud, Str *name) {
    ScopeUser *u = ud;
    uint64_t own, builtin;
    bool set = qmap_get(&u->module->names, name, &own) && !qval_is_unset(*qvm_global(u->vm, own));
    Meaning outside = qnames_outside(u->vm, u->module, name);
    bool is_builtin = qmap_get(&qvm(u->vm)->builtins, name, &builtin) && (int)builtin == outside.first;
    bool function = outside.n > 0;
    qnames_forget(&outside);
    return !set && outside.first >= 0 && !function && !is_builtin;
}

static int scope_define(void *ud, Str *name) {
    ScopeUser *u = ud;
    return qnames_slot(u->vm, u->module, name);
}

static void scope_offer(void *ud, Nearest *near) {
    ScopeUser *u = ud;
    qnames_offer(u->vm, u->module, near);
}

/* Saves the current error while a check runs whose error becomes only a text. */
typedef struct {
    Ctx *c;
    ErrorState before;
} SavedError;

static SavedError begin_check(qs_vm *vm) {
    SavedError a = {qvm_ctx(vm), qvm_ctx(vm)->err};
    return qerr_clear(a.c), a;
}

static bool end_check(const SavedError *a, bool fails, Text *why) {
    if (fails) qtext_puts(why, a->c->err.text);
    qerr_clear(a->c);
    return a->c->err = a->before, fails;
}

/* Loads the library module of an unknown name.  Files of the library import their modules by name instead. */
static bool scope_autoload(void *ud, Str *name, Sym *out, Text *why) {
    ScopeUser *u = ud;
    int slot = -1;
    if (u->unit->src->library) return false;
    SavedError a = begin_check(u->vm);
    qs_status s = qmod_autoload(u->vm, u->module, u->unit, name, &slot);
    (void)end_check(&a, s != QS_OK, why);
    return s == QS_OK && slot >= 0 && describe_global(u->vm, name, slot, out);
}

static bool scope_call_fails(void *ud, const Node *call, Text *why) {
    enum { MOST = 64 };
    qs_vm *vm = ((ScopeUser *)ud)->vm;
    const Node *callee = call->u.call.callee;
    const ArgList *args = &call->u.call.args;
    const Sym *s = qast_symbol(callee);
    Str *names[MOST];
    int nnamed = 0;
    for (int i = 0; i < args->n && nnamed < MOST; i++)
        if (args->at[i].name) names[nnamed++] = args->at[i].name;
    if (!s || s->kind != SYM_GLOBAL || s->variable || nnamed == MOST) return false;
    qs_value v = *qvm_global(vm, (uint64_t)s->index);
    const CallArgs as = {args->n, NULL, nnamed, names, 0};
    SavedError a = begin_check(vm);
    return end_check(&a, v.kind == QS_FUNCTION && qinterp_hooks(vm)->fits(vm, v.u.p, &as) != QS_OK, why);
}

/* -- calls whose argument types are known at compile time ---------------------------------------------------------- */

static bool lambda_takes(const void *of, int n) { return ((const Func *)of)->nparams == n; }

/* Returns the rank of a list of numbers, or of nested lists of equal length; <= 0: it is not such a list. */
static int list_rank(const Node *n) {
    int inner = -1;
    for (int i = 0; i < n->u.items.n; i++) {
        double x;
        const Node *item = n->u.items.at[i];
        int rank = item->kind == N_MATRIX ? list_rank(item) : qfold_number(item, &x) ? 0 : -2;
        if (rank < 0 || (inner >= 0 && rank != inner)) return -2;
        inner = rank;
    }
    return inner + 1;
}

/* Returns the type of a call such as int(2) or point(…); NULL: unknown. */
static const Type *made_type(const ScopeUser *u, const Node *call) {
    const Sym *s = call->u.call.callee->u.ident.sym;
    const ArgList *args = &call->u.call.args;
    double x;
    if (s->kind == SYM_TYPE && s->type && s->type->kind == TY_CLASS) return s->type;
    const Type *t = qtype_builtin(qvm_ctx(u->vm), s->name->s);
    bool number = (s->kind == SYM_TYPE || !s->variable) && t && t->kind == TY_NUM && args->n == 1;
    return number && qfold_number(args->at[0].value, &x) ? t : NULL;
}

/* Describes the type of an expression; false: not known at compile time. */
static bool describe_node(const ScopeUser *u, const Node *n, GivenArg *out) {
    Ctx *c = qvm_ctx(u->vm);
    double x;
    TypeMods mods;
    const Sym *s = qast_symbol(n);
    const Node *callee = n->kind == N_CALL ? n->u.call.callee : NULL;
    *out = (GivenArg){0};
    if (qfold_number(n, &x)) out->type = qtype_scalar(c);
    else if (n->kind == N_STR) out->type = qtype_simple(c, TY_STRING);
    else if (n->kind == N_LAMBDA)
        out->type = qtype_simple(c, TY_FN), out->of = n->u.lambda.func, out->takes = lambda_takes;
    else if (n->kind == N_MATRIX && list_rank(n) > 0) out->type = qtype_array(c, qtype_scalar(c), list_rank(n));
    else if (callee && callee->kind == N_IDENT && callee->u.ident.sym) out->type = made_type(u, n);
    else if (s && s->declared && s->owner && !qmodtype_mentions_param(s->declared, s->owner)) {
        SavedError a = begin_check(u->vm);
        if (qmodtype_resolve(u->vm, u->module, s->declared, NULL, NULL, &out->type, &mods) != QS_OK) out->type = NULL;
        Text none;
        qtext_init(&none, c);
        (void)end_check(&a, false, &none);
    }
    return out->type && out->type->kind != TY_ANY && out->type->kind != TY_UNION;
}

static void write_line(const Func *f, Text *out) {
    int line, col;
    qsource_line_col(f->unit->src, f->pos, &line, &col);
    qtext_printf(out, "line %d", line);
}

static bool scope_call_ties(void *ud, const Node *call, Text *why) {
    enum { MOST = 16 };
    const ScopeUser *u = ud;
    const Node *callee = call->u.call.callee;
    const ArgList *args = &call->u.call.args;
    const Sym *s = qast_symbol(callee);
    GivenArg given[MOST];
    Str *names[MOST];
    const Func *chosen, *other;
    int nnamed = 0;
    if (!s || s->kind != SYM_GLOBAL || s->variable || args->n > MOST) return false;
    qs_value v = *qvm_global(u->vm, (uint64_t)s->index);
    if (v.kind != QS_FUNCTION || ((const Function *)v.u.p)->fkind != FN_SET) return false;
    for (int i = 0; i < args->n; i++) {
        if (args->at[i].type || !describe_node(u, args->at[i].value, &given[i])) return false;
        given[i].integral = qfold_integral(args) >> i & 1;
        if (args->at[i].name) names[nnamed++] = args->at[i].name;
    }
    const GivenCall given_call = {.at = given, .n = args->n, .names = names, .nnamed = nnamed, .ud = u->vm};
    if (!qinterp_hooks(u->vm)->tie(u->vm, v.u.p, &(CallArgs){args->n, NULL, nnamed, names, 0}, &given_call, &chosen,
                                   &other))
        return false;
    qtext_printf(why, "this call fits two definitions of %s equally well: that of ", s->name->s);
    write_line(other, why);
    qtext_puts(why, ", and that of ");
    write_line(chosen, why);
    qtext_puts(why, ", which is called because it is the later one");
    return true;
}

static int compare_hashed(const void *a, const void *b) {
    const Hashed *x = a, *y = b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : x->index - y->index;
}

static void hash_definitions(ScopeUser *u, const Overloads *o) {
    size_t n = (size_t)u->unit->nfuncs;
    u->hashed = qmem_alloc(o->c, qmem_size(n, sizeof *u->hashed, 0));
    for (size_t i = 0; i < n; i++) u->hashed[i] = (Hashed){qoverload_hash(o, u->unit->funcs[i]->u.func), (int)i};
    if (n) qsort(u->hashed, n, sizeof *u->hashed, compare_hashed);
}

/* Reports an earlier definition in the file whose parameters have the same types. */
static bool scope_repeats(void *ud, const Func *f, Text *why) {
    ScopeUser *u = ud;
    const Overloads o = {.c = qvm_ctx(u->vm), .declared = qinterp_hooks(u->vm)->declared, .ud = u->vm};
    int first = 0, last = u->unit->nfuncs;
    if (f->parent && !f->parent->is_main_body) return false;
    if (!u->hashed) hash_definitions(u, &o);
    uint64_t hash = qoverload_hash(&o, f);
    while (first < last) {
        int middle = first + (last - first) / 2;
        if (u->hashed[middle].hash < hash) first = middle + 1;
        else last = middle;
    }
    for (; first < u->unit->nfuncs && u->hashed[first].hash == hash; first++) {
        const Func *other = u->unit->funcs[u->hashed[first].index]->u.func;
        if (other == f) return false;
        if (other->name != f->name || !qoverload_same(&o, other, f)) continue;
        qtext_printf(why, "no call distinguishes this definition of %s from that of ", f->name->s);
        write_line(other, why);
        qtext_puts(why, ", which is never called: their parameters have the same types");
        return true;
    }
    return false;
}

/* Reports only unknown names; other errors depend on run-time values, because sizes may be variables. */
static bool scope_type_fails(void *ud, TypeExpr *e, const Func *in, Text *why) {
    const ScopeUser *u = ud;
    const Type *t;
    TypeMods mods;
    if (qmodtype_mentions_param(e, in)) return false;
    SavedError a = begin_check(u->vm);
    return end_check(&a, qmodtype_resolve(u->vm, u->module, e, NULL, NULL, &t, &mods) == QS_ENAME, why);
}

/* Gets the message by calling assert itself, so that only one function formats it. */
static void assert_message(void *ud, int n, const Constant *parts, Text *out) {
    qs_vm *vm = ud;
    SavedError a = begin_check(vm);
    qs_value in[1 + CONSTANTS] = {qs_bool(false)}, none = qs_nil();
    uint64_t slot = *qmap_at(&qvm(vm)->builtins, qstr_cname(a.c, "assert"));
    for (int i = 0; i < n; i++)
        in[i + 1] = parts[i].text ? qval_retain(qval_object(QS_STRING, (Str *)parts[i].text)) : qs_num(parts[i].number);
    (void)qvm_call(vm, *qvm_global(vm, slot), n + 1, in, -1, &none);
    for (int i = 0; i <= n; i++) qval_release(vm, in[i]);
    qval_release(vm, none);
    (void)end_check(&a, true, out);
}

static qs_status resolve_names(qs_vm *vm, Module *m, Unit *u) {
    ScopeUser user = {vm, m, u, NULL};
    const ScopeHost host = {
        &user,           scope_lookup,  scope_autoload, scope_define,   scope_call_fails, scope_type_fails,
        scope_call_ties, scope_repeats, scope_offer,    scope_imported, scope_module};
    TRY(qscope_resolve(u, &host));
    qfold_asserts(u, &(FoldHost){vm, assert_message});
    if (!qvm_ctx(vm)->no_warnings) qlint_look(u, &host, qvm(vm)->config.strict);
    if (user.hashed) qmem_free(qvm_ctx(vm), user.hashed, (size_t)u->nfuncs * sizeof *user.hashed);
    return u->nerrors ? QS_EASSERT : QS_OK;
}

/* Saves the values of the unit's function names, so that they can be restored if the unit is rejected. */
static qs_value *save_functions(qs_vm *vm, Module *m, const Unit *u) {
    qs_value *before = qmem_alloc(qvm_ctx(vm), qmem_size((size_t)u->nfuncs, sizeof *before, 0));
    for (int i = 0; i < u->nfuncs; i++)
        before[i] = qval_retain(*qvm_global(vm, (uint64_t)qnames_slot(vm, m, u->funcs[i]->u.func->name)));
    return before;
}

static void settle_functions(qs_vm *vm, Module *m, const Unit *u, qs_value *before, bool taken) {
    for (int i = 0; !taken && i < u->nfuncs; i++) {
        qs_value *at = qvm_global(vm, (uint64_t)qnames_slot(vm, m, u->funcs[i]->u.func->name)), now = *at;
        *at = before[i];
        before[i] = now;
    }
    /* A released value may run a finalizer that compiles code; so nothing of u is used after the loop starts. */
    int n = u->nfuncs;
    for (int i = 0; i < n; i++) qval_release(vm, before[i]);
    qmem_free(qvm_ctx(vm), before, (size_t)n * sizeof *before);
}

qs_status qlink_unit(qs_vm *vm, Module *m, Unit *u) {
    TRY(qmodtype_resolve_all(vm, m, u));
    qs_value *before = save_functions(vm, m, u);
    define_functions(vm, m, u);
    qs_status s = resolve_names(vm, m, u);
    settle_functions(vm, m, u, before, s == QS_OK);
    return s;
}
