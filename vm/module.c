/* module.c -- files as modules: finding, reading and linking them, and the tables of names.
 *
 * Linking goes in two steps over all files that are new, so that files may import each other: first every file's own
 * names, types and functions are entered, then every name that is used is looked up, in the file itself, in its imports
 * (later ones first, through theirs), and among the built-ins.  Nothing runs before all of it is known to be right. */
#include "vm/module.h"

#include "lang/diag.h"
#include "lang/parse.h"
#include "lang/rewrite.h"
#include "stdlib/stdlib.h"
#include "vm/library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- global slots ------------------------------------------------------------------------------------------------ */

enum { CELLS = 256 };
typedef struct GlobalCells { struct GlobalCells *next; qs_value at[CELLS]; } GlobalCells; /* cells never move */

static qs_value *new_cell(qs_vm *vm) {
    Machine *m = qvm(vm);
    uint32_t i = m->nglobals % CELLS;
    if (i == 0) {
        GlobalCells *more = qmem_alloc(qvm_ctx(vm), sizeof *more);
        more->next = m->cells;
        m->cells = more;
    }
    m->cells->at[i] = qval_unset();
    return &m->cells->at[i];
}

static int new_global(qs_vm *vm, Str *name) {
    Machine *m = qvm(vm);
    uint32_t cap = m->cap_globals;
    qmem_grow(qvm_ctx(vm), &m->globals, &m->cap_globals, m->nglobals, sizeof *m->globals);
    m->global_names = qmem_resize(qvm_ctx(vm), m->global_names, cap * sizeof(Str *), m->cap_globals * sizeof(Str *));
    m->globals[m->nglobals] = new_cell(vm);
    m->global_names[m->nglobals] = name;
    return (int)m->nglobals++;
}

void qvm_builtin(qs_vm *vm, const char *name, qs_value v) {
    Str *s = qstr_cname(qvm_ctx(vm), name);
    uint64_t slot;
    if (!qmap_get(&qvm(vm)->builtins, s, &slot)) {
        slot = (uint64_t)new_global(vm, s);
        qmap_set(&qvm(vm)->builtins, qvm_ctx(vm), s, slot);
    }
    qinterp_put(vm, qvm_global(vm, (uint64_t)slot), v);
}

int qmod_slot(qs_vm *vm, Module *m, Str *name) {
    uint64_t slot;
    if (qmap_get(&m->names, name, &slot)) return (int)slot;
    slot = (uint64_t)new_global(vm, name);
    qmap_set(&m->names, qvm_ctx(vm), name, slot);
    return (int)slot;
}

/* -- the walk over imports --------------------------------------------------------------------------------------- */

static uint32_t new_visit(qs_vm *vm) {
    uint32_t last = 0;
    for (Module *m = qvm(vm)->modules; m; m = m->next)
        if (m->visited > last) last = m->visited;
    return last + 1;
}

/* Calls f for m's imports, direct and indirect, those that win first; stops when f returns true. */
static bool each_import(Module *m, uint32_t visit, bool (*f)(void *ud, Module *m), void *ud) {
    for (uint32_t i = m->nimports; i-- > 0;) {
        Module *n = m->imports[i];
        if (n->visited == visit) continue;
        n->visited = visit;
        if (f(ud, n) || each_import(n, visit, f, ud)) return true;
    }
    return false;
}

static bool over_imports(qs_vm *vm, Module *m, bool (*f)(void *ud, Module *m), void *ud) {
    uint32_t visit = new_visit(vm);
    m->visited = visit;
    return each_import(m, visit, f, ud);
}

/* -- lookup ------------------------------------------------------------------------------------------------------ */

typedef struct { qs_vm *vm; Str *name; int first; Function *functions[32]; int n; } Meaning;

static void add_function(Meaning *w, int slot) {
    qs_value v = *qvm_global(w->vm, (uint64_t)slot);
    if (v.kind == QS_FUNCTION && w->n < 32) w->functions[w->n++] = v.u.p;
}

static bool meaning_in(void *ud, Module *m) {
    Meaning *w = ud;
    uint64_t slot;
    if (!qmap_get(&m->names, w->name, &slot)) return false;
    if (w->first < 0) w->first = (int)slot;
    if (qvm_global(w->vm, (uint64_t)w->first)->kind != QS_FUNCTION)
        return true; /* a variable hides what comes after it */
    add_function(w, (int)slot);
    return false;
}

static void add_builtin(Meaning *w) {
    uint64_t slot;
    if (!qmap_get(&qvm(w->vm)->builtins, w->name, &slot)) return;
    if (w->first < 0) w->first = (int)slot;
    add_function(w, (int)slot);
}

/* `general` takes every call that `special` takes, and comes first: special would never be chosen. */
static bool covers(const Function *general, const Function *special) {
    if (general->fkind != FN_SCRIPT || special->fkind != FN_NATIVE) return false;
    const Func *f = general->ast;
    int required = 0;
    for (int i = 0; i < f->nparams; i++) {
        if (f->params[i].type) return false;
        if (f->params[i].variadic) return special->native->min_in >= required;
        if (!f->params[i].init) required++;
    }
    return special->native->min_in >= required && special->native->max_in >= 0 && special->native->max_in <= f->nparams;
}

static void add_members(qs_vm *vm, Function *set, Function *from) {
    if (from->cls) set->cls = from->cls;
    if (from->fkind != FN_SET) qfn_set_add(vm, set, from);
    for (int i = 0; i < from->nmembers; i++) qfn_set_add(vm, set, from->members[i]);
}

/* One function value for all of them; functions[0] wins ties.  A new reference. */
static qs_value joined(qs_vm *vm, Str *name, Function **functions, int n) {
    while (n > 1 && functions[0]->fkind == FN_SCRIPT && covers(functions[0], functions[n - 1])) n--;
    if (n == 1) return qval_retain(qval_object(QS_FUNCTION, functions[0]));
    Function *set = qfn_set(vm, name);
    for (int i = n; i-- > 0;) add_members(vm, set, functions[i]);
    return qval_object(QS_FUNCTION, set);
}

int qmod_lookup(qs_vm *vm, Module *m, Str *name) {
    uint64_t slot;
    if (qmap_get(&m->names, name, &slot) || qmap_get(&m->joined, name, &slot)) return (int)slot;
    Meaning w = {.vm = vm, .name = name, .first = -1};
    over_imports(vm, m, meaning_in, &w);
    if (w.n > 0 || w.first < 0) add_builtin(&w);
    if (w.n <= 1) return w.first;
    int at = new_global(vm, name);
    *qvm_global(vm, (uint64_t)at) = joined(vm, name, w.functions, w.n);
    qmap_set(&m->joined, qvm_ctx(vm), name, (uint64_t)at);
    return at;
}

qs_status qmod_unset(qs_vm *vm, Module *m, int slot, qs_value *out) {
    Str *name = qvm(vm)->global_names[slot];
    Meaning w = {.vm = vm, .name = name, .first = -1};
    over_imports(vm, m, meaning_in, &w);
    if (w.first < 0 || w.n > 0) add_builtin(&w);
    if (w.first < 0 || qval_is_unset(*qvm_global(vm, (uint64_t)w.first))) return qops_unset(vm, name->s);
    *out = qval_retain(*qvm_global(vm, (uint64_t)w.first));
    return QS_OK;
}

typedef struct { void (*f)(void *ud, const char *name); void *ud; } NameVisitor;

static void visit_map(const Map *map, const NameVisitor *v) {
    for (uint32_t i = 0; i < map->n; i++)
        if (map->entries[i].key) v->f(v->ud, map->entries[i].key->s);
}

static bool visit_names_of(void *ud, Module *m) {
    visit_map(&m->names, ud);
    visit_map(&m->types, ud);
    return false;
}

void qmod_each_name(qs_vm *vm, Module *m, void (*f)(void *ud, const char *name), void *ud) {
    NameVisitor v = {f, ud};
    visit_names_of(&v, m);
    over_imports(vm, m, visit_names_of, &v);
    visit_map(&qvm(vm)->builtins, &v);
}

static void offer_name(void *near, const char *name) { qstr_offer(near, name); }

bool qmod_offer(qs_vm *vm, Module *m, Nearest *near) {
    qmod_each_name(vm, m, offer_name, near);
    const LibDoc *same = qlib_called_elsewhere(near->wanted);
    if (same) near->best = same->name;
    char path[PATH_MAX];
    if (qlibrary_home(vm, near->wanted, path)) near->home = qstr_cname(qvm_ctx(vm), strrchr(path, '/') + 1)->s;
    return near->best != NULL;
}

static bool offer_types_of(void *near, Module *m) {
    const NameVisitor v = {offer_name, near};
    visit_map(&m->types, &v);
    return false;
}

qs_status qmod_unknown(qs_vm *vm, Module *m, const char *what, const char *name) {
    Nearest near = {.wanted = name};
    if (qmod_offer(vm, m, &near))
        return qerr_set(qvm_ctx(vm), QS_ENAME, "unknown %s %s; did you mean %s?", what, name, near.best);
    return qerr_set(qvm_ctx(vm), QS_ENAME, "unknown %s %s", what, name);
}

/* -- types ------------------------------------------------------------------------------------------------------- */

typedef struct { qs_vm *vm; Module *into; } FindRules;
typedef struct { Str *name; Module *module; ModType *type; } FindType;

static bool find_type_in(void *ud, Module *m) {
    FindType *f = ud;
    uint64_t i;
    if (!qmap_get(&m->types, f->name, &i)) return false;
    f->module = m;
    f->type = &m->typedefs[i];
    return true;
}

static ModType *find_type(qs_vm *vm, Module *m, Str *name, Module **home) {
    FindType f = {name, NULL, NULL};
    if (!find_type_in(&f, m)) over_imports(vm, m, find_type_in, &f);
    if (f.type) *home = f.module;
    return f.type;
}

typedef struct { qs_vm *vm; Module *module; const TypeHost *params; qs_status status; } TypeScope;

static const Type *resolve_typedef(qs_vm *vm, Module *home, ModType *t, qs_status *status);

static const Type *lookup_type(void *ud, Str *name) {
    TypeScope *s = ud;
    const Type *t = s->params ? s->params->lookup(s->params->ud, name) : NULL;
    Module *home;
    if (t) return t;
    ModType *found = find_type(s->vm, s->module, name, &home);
    return found ? resolve_typedef(s->vm, home, found, &s->status) : NULL;
}

static bool constant_dim(void *ud, Str *name, double *value) {
    TypeScope *s = ud;
    if (s->params && s->params->constant && s->params->constant(s->params->ud, name, value)) return true;
    int slot = qmod_lookup(s->vm, s->module, name);
    if (slot < 0 || !qval_is_number(*qvm_global(s->vm, (uint64_t)slot))) return false;
    *value = qval_number(*qvm_global(s->vm, (uint64_t)slot));
    return true;
}

static const Type *instantiate(void *ud, Str *generic, const Type **args, int nargs);

static void offer_types(void *ud, Nearest *near) {
    TypeScope *s = ud;
    offer_types_of(near, s->module);
    over_imports(s->vm, s->module, offer_types_of, near);
}

qs_status qmod_type(qs_vm *vm, Module *m, TypeExpr *e, const Source *src, const TypeHost *params, const Type **out,
                    TypeMods *mods) {
    TypeScope s = {vm, m, params, QS_OK};
    const TypeHost host = {&s, lookup_type, instantiate, constant_dim, offer_types};
    qs_status status = qtypes_resolve(qvm_ctx(vm), e, &host, src, out, mods);
    return s.status ? s.status : status;
}

/* -- reductions -------------------------------------------------------------------------------------------------- */

static bool add_rules(void *ud, Module *m) {
    FindRules *f = ud;
    for (uint32_t i = 0; i < m->nunits; i++)
        for (int k = 0; k < m->units[i]->nreductions; k++) {
            Module *to = f->into;
            qmem_grow(qvm_ctx(f->vm), &to->rules, &to->cap_rules, to->nrules, sizeof *to->rules);
            to->rules[to->nrules++] = m->units[i]->reductions[k];
        }
    return false;
}

Reduction **qmod_rules(qs_vm *vm, Module *m, int *n) {
    if (!m->rules_known) {
        FindRules f = {vm, m};
        m->nrules = 0;
        over_imports(vm, m, add_rules, &f);
        add_rules(&f, m); /* its own last: of equals the latest wins */
        qrewrite_order(m->rules, (int)m->nrules);
        m->rules_known = true;
    }
    *n = (int)m->nrules;
    return m->rules;
}

/* -- classes ----------------------------------------------------------------------------------------------------- */

typedef struct { const TypeDef *def; const Type **args; int nargs; } ClassParams;

static const Type *class_param(void *ud, Str *name) {
    const ClassParams *p = ud;
    for (int i = 0; i < p->def->ntyparams && i < p->nargs; i++)
        if (p->def->typarams[i] == name) return p->args[i];
    return NULL;
}

/* Fields of a class whose type object exists already, since a field may point to the class itself. */
static qs_status class_fields(qs_vm *vm, Module *m, const TypeDef *def, const Source *src, const TypeHost *params,
                              Field *fields) {
    for (int i = 0; i < def->nfields; i++) {
        const Param *p = &def->fields[i];
        TypeMods mods = {0};
        fields[i].name = p->name;
        if (p->type) TRY(qmod_type(vm, m, p->type, src, params, &fields[i].type, &mods));
        double x;
        if (p->init && qfold_number(p->init, &x)) fields[i].init = qs_num(x);
        else if (p->init && p->init->kind == N_STR)
            fields[i].init = qval_retain(qval_object(QS_STRING, p->init->u.str));
    }
    return QS_OK;
}

/* The class without the types of its fields, which may mention it. */
static Class *new_class(qs_vm *vm, const TypeDef *def, Str *name) {
    Ctx *c = qvm_ctx(vm);
    Field *fields = qmem_alloc(c, (size_t)def->nfields * sizeof *fields);
    for (int i = 0; i < def->nfields; i++) fields[i].name = def->fields[i].name;
    Class *cls = qclass_new(vm, name, (ClassKind)def->class_kind, def->nfields, fields);
    qmem_free(c, fields, (size_t)def->nfields * sizeof *fields);
    return cls;
}

static const Source *source_of(const Module *m, const TypeDef *def) {
    for (uint32_t i = m->nunits; i-- > 0;)
        for (int k = 0; k < m->units[i]->ntypedefs; k++)
            if (m->units[i]->typedefs[k] == def) return m->units[i]->src;
    return NULL;
}

static const Type *resolve_typedef(qs_vm *vm, Module *home, ModType *t, qs_status *status) {
    if (t->type || t->def->ntyparams) return t->type;
    const Source *src = source_of(home, t->def);
    if (t->def->is_class) {
        TypeDef *def = t->def;
        Class *cls = t->cls = new_class(vm, def, def->name);
        t->type = cls->type;
        qs_status s = class_fields(vm, home, def, src, NULL, cls->fields);
        if (s && !*status) *status = s;
        return cls->type;
    }
    TypeMods mods = {0};
    if (t->resolving) {
        *status =
            qerr_at(qvm_ctx(vm), QS_ETYPE, (Where){src, t->def->pos}, "type %s is defined by itself", t->def->name->s);
        return NULL;
    }
    t->resolving = true;
    qs_status s = qmod_type(vm, home, t->def->alias, src, NULL, &t->type, &mods);
    t->resolving = false;
    if (s && !*status) *status = s;
    return t->type;
}

static Class *find_instance(const ModType *t, const Type **args, int nargs) {
    for (uint32_t i = 0; i < t->ninstances; i++)
        if (t->instances[i].nargs == nargs && !memcmp(t->instances[i].args, args, (size_t)nargs * sizeof *args))
            return t->instances[i].cls;
    return NULL;
}

static Str *instance_name(qs_vm *vm, const TypeDef *def, const Type **args, int nargs) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s[", def->name->s);
    for (int i = 0; i < nargs; i++) qtext_printf(&t, "%s%s", i ? "," : "", qtype_name(args[i]));
    qtext_puts(&t, "]");
    Str *s = qstr_name(qvm_ctx(vm), t.s, t.len);
    qtext_free(&t);
    return s;
}

static const Type *instantiate(void *ud, Str *generic, const Type **args, int nargs) {
    TypeScope *s = ud;
    Module *home;
    ModType *t = find_type(s->vm, s->module, generic, &home);
    if (!t || !t->def->is_class || t->def->ntyparams != nargs) return NULL;
    Class *found = find_instance(t, args, nargs);
    if (found) return found->type;
    Ctx *c = qvm_ctx(s->vm);
    const Type **kept = qmem_alloc(c, (size_t)nargs * sizeof *kept);
    memcpy(kept, args, (size_t)nargs * sizeof *kept);
    uint32_t at = t->ninstances++;
    TypeDef *def = t->def;
    Class *cls = new_class(s->vm, def, instance_name(s->vm, def, args, nargs));
    qmem_grow(c, &t->instances, &t->cap_instances, at, sizeof *t->instances);
    t->instances[at] = (ClassInstance){kept, nargs, cls};
    ClassParams params = {def, kept, nargs};
    const TypeHost host = {.ud = &params, .lookup = class_param};
    qs_status status = class_fields(s->vm, home, def, source_of(home, def), &host, cls->fields);
    if (status && !s->status) s->status = status;
    return cls->type;
}

ModType *qmod_generic_of(qs_vm *vm, const Class *cls, ClassInstance **instance) {
    for (Module *m = qvm(vm)->modules; m; m = m->next)
        for (uint32_t i = 0; i < m->ntypedefs; i++)
            for (uint32_t k = 0; k < m->typedefs[i].ninstances; k++)
                if (m->typedefs[i].instances[k].cls == cls) {
                    *instance = &m->typedefs[i].instances[k];
                    return &m->typedefs[i];
                }
    return NULL;
}

static bool is_type_param(const Func *in, const Str *name) {
    for (; in; in = in->parent)
        for (int i = 0; i < in->ntyparams; i++)
            if (in->typarams[i] == name) return true;
    return false;
}

bool qmod_mentions_param(const TypeExpr *e, const Func *in) {
    if (!e) return false;
    if (e->name && is_type_param(in, e->name)) return true;
    if (qmod_mentions_param(e->base, in)) return true;
    for (int i = 0; i < e->nargs; i++)
        if (qmod_mentions_param(e->args[i], in)) return true;
    for (int i = 0; i < e->nouts; i++)
        if (qmod_mentions_param(e->outs[i], in)) return true;
    for (int i = 0; i < e->ndims; i++)
        if (e->dims[i]->kind == N_IDENT && is_type_param(in, e->dims[i]->u.ident.name)) return true;
    return false;
}

/* -- linking: names, types, functions ---------------------------------------------------------------------------- */

static void add_types(qs_vm *vm, Module *m, Unit *u) {
    for (int i = 0; i < u->ntypedefs; i++) {
        uint32_t at = m->ntypedefs++; /* an earlier definition stays, for the objects that are made already */
        qmem_grow(qvm_ctx(vm), &m->typedefs, &m->cap_typedefs, at, sizeof *m->typedefs);
        qmap_set(&m->types, qvm_ctx(vm), u->typedefs[i]->name, at);
        m->typedefs[at] = (ModType){.def = u->typedefs[i]};
    }
}

typedef struct { qs_vm *vm; Module *module; } Entering;

static void enter_name(Entering *e, Str *name) {
    if (name && strcmp(name->s, "_") != 0) qmod_slot(e->vm, e->module, name);
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

/* What scope.c will define: files that import each other need it before. */
static void enter_names(qs_vm *vm, Module *m, Unit *u) {
    Entering e = {vm, m};
    for (int i = 0; i < u->nfuncs; i++) enter_name(&e, u->funcs[i]->u.func->name);
    for (int i = 0; i < u->main->body.n; i++) enter_assigned(&e, &u->main->body.at[i]);
}

static qs_status resolve_types(qs_vm *vm, Module *m, Unit *u) {
    qs_status s = QS_OK;
    for (int i = 0; i < u->ntypedefs && !s; i++) {
        uint64_t at;
        if (!qmap_get(&m->types, u->typedefs[i]->name, &at)) continue;
        const Type *t = resolve_typedef(vm, m, &m->typedefs[at], &s);
        u->typedefs[i]->type = t;
    }
    return s;
}

static bool same_parameters(const Func *a, const Func *b) {
    if (a->nparams != b->nparams) return false;
    for (int i = 0; i < a->nparams; i++) {
        const TypeExpr *s = a->params[i].type, *t = b->params[i].type;
        if (!s != !t || (s && (s->kind != TE_NAME || t->kind != TE_NAME || s->name != t->name))) return false;
    }
    return true;
}

/* Functions of this unit called `name`, the last definition first; of equal ones only the last. */
static int own_functions(qs_vm *vm, Unit *u, const Str *name, Function **out, int max) {
    int n = 0;
    for (int i = u->nfuncs; i-- > 0 && n < max;) {
        Func *f = u->funcs[i]->u.func;
        bool seen = f->name != name;
        for (int k = 0; k < n && !seen; k++) seen = same_parameters(out[k]->ast, f);
        if (!seen) out[n++] = qfn_script(vm, f, 0);
    }
    return n;
}

/* What the name meant before in this module (the session), as far as it is not defined anew. */
static int earlier_functions(qs_value v, Function **own, int nown, Function **out) {
    Function *f = v.u.p;
    int n = 0, count = v.kind != QS_FUNCTION ? 0 : f->fkind == FN_SET ? f->nmembers : 1;
    for (int i = count; i-- > 0 && n < 16;) {
        Function *old = f->fkind == FN_SET ? f->members[i] : f;
        bool replaced = false;
        for (int k = 0; k < nown && !replaced; k++)
            replaced = old->fkind == FN_SCRIPT && same_parameters(own[k]->ast, old->ast);
        if (!replaced) out[n++] = old;
    }
    return n;
}

static void define_function(qs_vm *vm, Module *m, Unit *u, Str *name) {
    int slot = qmod_slot(vm, m, name);
    Meaning outer = {.vm = vm, .name = name, .first = -1};
    Function *all[64];
    int own = own_functions(vm, u, name, all, 16), n = own;
    n += earlier_functions(*qvm_global(vm, (uint64_t)slot), all, own, all + own);
    over_imports(vm, m, meaning_in, &outer);
    if (outer.n > 0 || outer.first < 0) add_builtin(&outer);
    for (int i = 0; i < outer.n && n < 64; i++) all[n++] = outer.functions[i];
    uint64_t at;
    Class *cls = qmap_get(&m->types, name, &at) ? m->typedefs[at].cls : NULL;
    qs_value v;
    if (cls) {
        Function *set = qfn_set(vm, name);
        for (int i = n; i-- > 0;) add_members(vm, set, all[i]);
        set->cls = cls;
        cls->ctors = set;
        v = qval_object(QS_FUNCTION, set);
    } else {
        v = joined(vm, name, all, n);
    }
    for (int i = 0; i < own; i++) qval_release(vm, qval_object(QS_FUNCTION, all[i]));
    qinterp_put(vm, qvm_global(vm, (uint64_t)slot), v);
}

static void define_functions(qs_vm *vm, Module *m, Unit *u) {
    for (int i = 0; i < u->nfuncs; i++) {
        bool again = false;
        Str *name = u->funcs[i]->u.func->name;
        for (int k = 0; k < i && !again; k++) again = u->funcs[k]->u.func->name == name;
        if (!again) define_function(vm, m, u, name);
    }
}

/* -- what scope.c asks ------------------------------------------------------------------------------------------- */

typedef struct { qs_vm *vm; Module *module; } ScopeUser;

static bool scope_lookup(void *ud, Str *name, Sym *out) {
    ScopeUser *u = ud;
    Module *home;
    int slot = qmod_lookup(u->vm, u->module, name);
    if (slot >= 0) {
        uint64_t builtin;
        bool is_builtin = qmap_get(&qvm(u->vm)->builtins, name, &builtin) && (int)builtin == slot;
        out->kind = SYM_GLOBAL;
        out->index = slot;
        out->variable = !is_builtin && qvm_global(u->vm, (uint64_t)slot)->kind != QS_FUNCTION;
        return true;
    }
    qs_status ignored = QS_OK;
    ModType *t = find_type(u->vm, u->module, name, &home);
    const Type *type = t ? resolve_typedef(u->vm, home, t, &ignored) : qtype_builtin(qvm_ctx(u->vm), name->s);
    if (!t && !type) return false;
    out->kind = SYM_TYPE;
    out->type = type;
    return true;
}

static int scope_define(void *ud, Str *name) {
    ScopeUser *u = ud;
    return qmod_slot(u->vm, u->module, name);
}

static void scope_offer(void *ud, Nearest *near) {
    ScopeUser *u = ud;
    qmod_offer(u->vm, u->module, near);
}

static qs_status resolve_names(qs_vm *vm, Module *m, Unit *u) {
    ScopeUser user = {vm, m};
    const ScopeHost host = {&user, scope_lookup, scope_define, scope_offer};
    TRY(qscope_resolve(u, &host));
    qfold_asserts(u);
    return u->nerrors ? QS_EASSERT : QS_OK;
}

/* -- reading ----------------------------------------------------------------------------------------------------- */

static Module *new_module(qs_vm *vm, const char *path) {
    Ctx *c = qvm_ctx(vm);
    Module *m = qmem_alloc(c, sizeof *m);
    m->path_size = strlen(path) + 1;
    m->path = qmem_alloc(c, m->path_size);
    memcpy(m->path, path, m->path_size);
    m->next = qvm(vm)->modules;
    qvm(vm)->modules = m;
    return m;
}

/* Diagnostics of a unit become the machine's report: all of them, not only the first. */
static qs_status failed_unit(qs_vm *vm, Unit *u, qs_status s) {
    if (u->nerrors > 0) {
        qtext_free(&qvm(vm)->report);
        qtext_puts(&qvm(vm)->report, u->report.s ? u->report.s : "");
        qvm(vm)->refused = true;
    }
    return s;
}

static void show_warnings(qs_vm *vm, const Unit *u) {
    if (u->nwarnings > 0 && u->nerrors == 0) qvm_diagnostic(vm, u->report.s, u->report.len);
}

static qs_status parse(qs_vm *vm, Module *m, Source *src, Unit **out) {
    Ctx *c = qvm_ctx(vm);
    Unit *u = NULL;
    qs_status s = qparse_unit(c, src, &u);
    if (u) {
        qmem_grow(c, &m->units, &m->cap_units, m->nunits, sizeof *m->units);
        m->units[m->nunits++] = u;
        u->module = m;
    }
    *out = u;
    return s ? failed_unit(vm, u, s) : QS_OK;
}

static char *read_file(qs_vm *vm, const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    char block[16384];
    for (size_t got; (got = fread(block, 1, sizeof block, f)) > 0;) qtext_add(&t, block, got);
    bool bad = ferror(f) || t.lost;
    fclose(f);
    char *text = malloc(t.len + 1);
    if (text) memcpy(text, t.s ? t.s : "", t.len + 1);
    *n = t.len;
    qtext_free(&t);
    if (!bad) return text;
    free(text);
    return NULL;
}

/* -- import names ------------------------------------------------------------------------------------------------ */

static void expand(const char *s, Text *out) {
    static const struct { const char *name, *value; } variables[] = {{"${BITNESS}", "64"}, {"${NATIVEEXT}", "so"}};
    while (*s) {
        int i = 0;
        while (i < 2 && strncmp(s, variables[i].name, strlen(variables[i].name)) != 0) i++;
        if (i < 2) {
            qtext_puts(out, variables[i].value);
            s += strlen(variables[i].name);
        } else {
            qtext_add(out, *s == '\\' ? "/" : s, 1);
            s++;
        }
    }
}

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), k = strlen(end);
    return n >= k && strcasecmp(s + n - k, end) == 0;
}

/* Quasar.UI.dll and its like are modules of the library where it has them, and nothing otherwise; so is the bridge. */
static bool known_library(const char *path, char *q_name, size_t size) {
    static const struct { const char *name, *file;
    } libraries[] = {{"Quasar.UI", "ui.q"},           {"Quasar.Video", "video.q"},
                     {"Quasar.Runtime", "runtime.q"}, {"Quasar.CompMath", "compmath.q"},
                     {"Quasar.DNN", "dnn.q"},         {"pyquasar", "pyquasar.q"}};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        size_t n = strlen(libraries[i].name);
        if (strncasecmp(name, libraries[i].name, n) != 0 || name[n] != '.') continue;
        snprintf(q_name, size, "%s", libraries[i].file);
        return true;
    }
    return false;
}

static bool is_binary(const char *path) {
    return ends_with(path, ".dll") || ends_with(path, ".so") || ends_with(path, ".pyd");
}

/* out empty: the import is harmless and means nothing. */
static qs_status resolve_import(qs_vm *vm, const Unit *u, const Node *n, char out[PATH_MAX]) {
    Text path;
    char file[64] = "";
    qs_status s = QS_OK;
    Where w = qast_where(u, n->pos);
    const char *importer = u->src->internal ? NULL : u->src->path;
    qtext_init(&path, qvm_ctx(vm));
    expand(n->u.import.path->s, &path);
    const char *name = path.s ? path.s : "";
    out[0] = 0;
    if (is_binary(name) && known_library(name, file, sizeof file)) {
        if (!qlibrary_find(vm, file, out)) out[0] = 0;
    } else if (is_binary(name)) {
        s = qerr_at(qvm_ctx(vm), QS_EIO, w, "library %s is not available: only .q files can be imported", name);
    } else if (!qlibrary_find_import(vm, importer, name, out)) {
        s = qerr_at(qvm_ctx(vm), QS_EIO, w,
                    "cannot find %s, neither beside the file that imports it nor in the library", name);
    }
    qtext_free(&path);
    return s;
}

/* -- loading ----------------------------------------------------------------------------------------------------- */

static Module *module_at(qs_vm *vm, const char *path) {
    for (Module *m = qvm(vm)->modules; m; m = m->next)
        if (strcmp(m->path, path) == 0 && m != qvm(vm)->session) return m;
    return NULL;
}

/* What was concluded from all names and rules that a module sees. */
static void forget_derived(qs_vm *vm, Module *m) {
    m->rules_known = false;
    qmap_free(&m->joined, qvm_ctx(vm));
    qmap_init(&m->joined);
}

void qmod_use(qs_vm *vm, Module *into, Module *m) {
    uint32_t at = into->nimports;
    forget_derived(vm, into);
    for (uint32_t i = 0; i < into->nimports; i++)
        if (into->imports[i] == m) at = i;
    if (into == m) return;
    if (at == into->nimports) {
        qmem_grow(qvm_ctx(vm), &into->imports, &into->cap_imports, into->nimports, sizeof *into->imports);
        into->nimports++;
    }
    for (; at + 1 < into->nimports; at++) into->imports[at] = into->imports[at + 1]; /* the latest wins */
    into->imports[into->nimports - 1] = m;
}

typedef struct Fresh { Module *at[256]; int n; } Fresh; /* modules read by this load, imported ones first */

static qs_status read_module(qs_vm *vm, const char *path, Fresh *fresh, Module **out);

static qs_status read_imports(qs_vm *vm, Module *m, Unit *u, Fresh *fresh) {
    for (int i = 0; i < u->imports.n; i++) {
        char path[PATH_MAX];
        Module *imported;
        Node *n = u->imports.at[i];
        TRY(resolve_import(vm, u, n, path));
        if (!path[0]) continue;
        TRY(read_module(vm, path, fresh, &imported));
        n->u.import.unit = imported->units[0];
        qmod_use(vm, m, imported);
    }
    return QS_OK;
}

static qs_status read_source(qs_vm *vm, Module *m, Source *src, Fresh *fresh) {
    Unit *u;
    TRY(parse(vm, m, src, &u));
    TRY(read_imports(vm, m, u, fresh));
    if (fresh->n == 256) return qerr_set(qvm_ctx(vm), QS_EIO, "more than 256 files import each other");
    fresh->at[fresh->n++] = m;
    return QS_OK;
}

static const char *shown_path(const char *path, char buf[PATH_MAX]) { /* relative to where we are, when it lies below */
    size_t n;
    if (!getcwd(buf, PATH_MAX)) return path;
    n = strlen(buf);
    return strncmp(path, buf, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static qs_status read_module(qs_vm *vm, const char *path, Fresh *fresh, Module **out) {
    size_t n;
    char cwd[PATH_MAX];
    if ((*out = module_at(vm, path))) return QS_OK;
    char *text = read_file(vm, path, &n);
    if (!text) return qerr_set(qvm_ctx(vm), QS_EIO, "cannot read %s", path);
    Source *src = qsource_add(qvm_ctx(vm), shown_path(path, cwd), text, n);
    free(text);
    *out = new_module(vm, path);
    return read_source(vm, *out, src, fresh);
}

static qs_status link_unit(qs_vm *vm, Module *m, Unit *u) {
    qs_status s = resolve_types(vm, m, u);
    if (!s) define_functions(vm, m, u);
    if (!s) s = resolve_names(vm, m, u);
    if (s) return failed_unit(vm, u, s);
    show_warnings(vm, u);
    return QS_OK;
}

static Function *main_function(qs_vm *vm, Unit *u) { return qfn_script(vm, u->main, 0); }

static qs_status link_modules(qs_vm *vm, Fresh *fresh) {
    for (int i = 0; i < fresh->n; i++) {
        Unit *u = fresh->at[i]->units[0];
        add_types(vm, fresh->at[i], u);
        enter_names(vm, fresh->at[i], u);
    }
    for (int i = 0; i < fresh->n; i++) {
        TRY(link_unit(vm, fresh->at[i], fresh->at[i]->units[0]));
        fresh->at[i]->main = main_function(vm, fresh->at[i]->units[0]);
        fresh->at[i]->state = MOD_LINKED;
    }
    return QS_OK;
}

/* A file that was refused is forgotten, so that it can be loaded again when it has been mended. */
static void forget(Fresh *fresh) {
    for (int i = 0; i < fresh->n; i++)
        if (fresh->at[i]->state == MOD_PARSED) fresh->at[i]->path[0] = 0;
}

qs_status qmod_load_file(qs_vm *vm, const char *path, Module **out) {
    char real[PATH_MAX];
    Fresh fresh = {.n = 0};
    if (!realpath(path, real)) return qerr_set(qvm_ctx(vm), QS_EIO, "cannot read %s", path);
    qs_status s = read_module(vm, real, &fresh, out);
    if (!s) s = link_modules(vm, &fresh);
    if (s) {
        forget(&fresh);
        Module *m = module_at(vm, real);
        if (m && m->state == MOD_PARSED) m->path[0] = 0;
    }
    return s;
}

/* Nobody sees m any more; what was compiled from it works on. */
static void retire(qs_vm *vm, Module *m) {
    m->path[0] = 0;
    for (Module *user = qvm(vm)->modules; user; user = user->next)
        for (uint32_t i = user->nimports; i-- > 0;) {
            if (user->imports[i] != m) continue;
            for (uint32_t k = i; k + 1 < user->nimports; k++) user->imports[k] = user->imports[k + 1];
            user->nimports--;
            forget_derived(vm, user);
        }
}

/* In the place of a module of that name, if the text is right. */
qs_status qmod_load_text(qs_vm *vm, const char *name, const char *text, size_t n, Module **out) {
    Fresh fresh = {.n = 0};
    Source *src = qsource_add(qvm_ctx(vm), name, text, n);
    Module *old = module_at(vm, name);
    *out = new_module(vm, name);
    qs_status s = read_source(vm, *out, src, &fresh);
    if (!s) s = link_modules(vm, &fresh);
    if (s) forget(&fresh);
    else if (old) retire(vm, old);
    return s;
}

/* -- running ----------------------------------------------------------------------------------------------------- */

qs_status qmod_run(qs_vm *vm, Module *m) {
    if (m->state != MOD_LINKED) return QS_OK;
    m->state = MOD_RUNNING;
    qs_status s = qvm_call(vm, qval_object(QS_FUNCTION, m->main), 0, NULL, 0, NULL, 0, NULL);
    m->state = MOD_DONE;
    return s;
}

qs_status qmod_import(qs_vm *vm, Node *import) {
    const Unit *u = import->u.import.unit;
    return u ? qmod_run(vm, u->module) : QS_OK;
}

static qs_status eval_unit(qs_vm *vm, Module *m, Unit *u, Fresh *fresh) {
    TRY(read_imports(vm, m, u, fresh));
    TRY(link_modules(vm, fresh));
    add_types(vm, m, u);
    enter_names(vm, m, u);
    return link_unit(vm, m, u);
}

/* Does anything that lives on point into this unit? */
static bool leaves_traces(const Unit *u, const Proto *p) {
    if (u->nfuncs || u->ntypedefs || u->nreductions || u->imports.n || u->report.len) return true;
    for (uint32_t i = 0; i < p->chunk.nlits; i++)
        if (p->chunk.lits[i].kind == LIT_FUNC) return true;
    return false;
}

/* A host program may evaluate without end: the last unit of the session goes when it left nothing but values. */
static void drop_unit(qs_vm *vm, Module *m, Proto *p) {
    Unit *u = m->units[m->nunits - 1];
    if (u->main != p->func || leaves_traces(u, p)) return;
    Source *src = u->src;
    m->nunits--;
    qproto_drop(vm, p);
    qparse_free(u);
    qsource_drop(qvm_ctx(vm), src);
}

qs_status qmod_eval(qs_vm *vm, const char *text, size_t n, qs_value *out) {
    Module *m = qvm(vm)->session;
    Fresh fresh = {.n = 0};
    Unit *u;
    Proto *p;
    Source *src = qsource_add(qvm_ctx(vm), "input", text, n);
    src->internal = true;
    TRY(parse(vm, m, src, &u));
    if (u->nfuncs || u->nreductions || u->imports.n) forget_derived(vm, m);
    qs_status s = eval_unit(vm, m, u, &fresh);
    if (s) {
        forget(&fresh);
        return s;
    }
    TRY(qproto_of(vm, u->main, true, &p));
    Function *f = main_function(vm, u);
    *out = qs_nil();
    s = qvm_call(vm, qval_object(QS_FUNCTION, f), 0, NULL, 0, NULL, -1, out);
    qval_release(vm, qval_object(QS_FUNCTION, f));
    if (s == QS_OK) drop_unit(vm, m, p); /* an error is shown with its source */
    return s;
}

const char *qvm_script(qs_vm *vm, const char **folder) {
    const Module *m = qvm(vm)->main_module;
    const char *slash = m ? strrchr(m->path, '/') : NULL;
    *folder = slash ? qstr_name(qvm_ctx(vm), m->path, (size_t)(slash - m->path))->s : "";
    return m ? m->path : "";
}

qs_status qvm_lookup(qs_vm *vm, const char *name, qs_value *out) {
    int slot = qmod_lookup(vm, qvm(vm)->session, qstr_cname(qvm_ctx(vm), name));
    if (slot < 0) return qmod_unknown(vm, qvm(vm)->session, "name", name);
    if (qval_is_unset(*qvm_global(vm, (uint64_t)slot))) return qmod_unset(vm, qvm(vm)->session, slot, out);
    *out = qval_retain(*qvm_global(vm, (uint64_t)slot));
    return QS_OK;
}

qs_status qvm_lookup_in(qs_vm *vm, const char *module, const char *name, qs_value *out) {
    Module *m = module_at(vm, module);
    uint64_t slot;
    if (!m) return qerr_set(qvm_ctx(vm), QS_ENAME, "no module is called %s", module);
    if (!qmap_get(&m->names, qstr_cname(qvm_ctx(vm), name), &slot) || qval_is_unset(*qvm_global(vm, slot)))
        return qerr_set(qvm_ctx(vm), QS_ENAME, "module %s defines no %s", module, name);
    *out = qval_retain(*qvm_global(vm, slot));
    return QS_OK;
}

void qvm_each_name(qs_vm *vm, const char *module, void (*f)(void *ud, const char *name), void *ud) {
    const NameVisitor v = {f, ud};
    Module *m = module ? module_at(vm, module) : NULL;
    if (!module) qmod_each_name(vm, qvm(vm)->session, f, ud);
    else if (m) visit_map(&m->names, &v);
}

qs_status qvm_type_named(qs_vm *vm, const char *text, size_t n, const Type **out, TypeMods *mods) {
    Unit *u;
    TypeExpr *e;
    TRY(qparse_type(qvm_ctx(vm), text, n, &u, &e));
    Module *from = qvm(vm)->session;
    Frame *f = qvm(vm)->nframes ? qinterp_frame(vm) : NULL;
    if (f) from = qmod_of(f->proto->func);
    qs_status s = qmod_type(vm, from, e, u->src, NULL, out, mods);
    ErrorState *err = &qvm_ctx(vm)->err;
    if (s != QS_OK && err->where.src == u->src) { /* a place in a text that goes; that of the caller says more */
        err->where = (Where){NULL, 0};
        err->placed = false;
    }
    qparse_free(u);
    return s;
}

/* -- opening and closing ----------------------------------------------------------------------------------------- */

qs_status qmod_open(qs_vm *vm) {
    qmap_init(&qvm(vm)->builtins);
    qvm(vm)->session = new_module(vm, "input");
    return QS_OK;
}

static void free_typedef(qs_vm *vm, ModType *t) {
    Ctx *c = qvm_ctx(vm);
    if (t->cls) qclass_free(vm, t->cls);
    for (uint32_t i = 0; i < t->ninstances; i++) {
        qclass_free(vm, t->instances[i].cls);
        qmem_free(c, t->instances[i].args, (size_t)t->instances[i].nargs * sizeof(Type *));
    }
    qmem_free(c, t->instances, t->cap_instances * sizeof *t->instances);
}

static void close_module(qs_vm *vm, Module *m) {
    Ctx *c = qvm_ctx(vm);
    for (uint32_t i = 0; i < m->nunits; i++) qparse_free(m->units[i]);
    for (uint32_t i = 0; i < m->ntypedefs; i++) free_typedef(vm, &m->typedefs[i]);
    qmap_free(&m->names, c);
    qmap_free(&m->joined, c);
    qmap_free(&m->types, c);
    qmem_free(c, m->rules, m->cap_rules * sizeof *m->rules);
    qmem_free(c, m->units, m->cap_units * sizeof *m->units);
    qmem_free(c, m->typedefs, m->cap_typedefs * sizeof *m->typedefs);
    qmem_free(c, m->imports, m->cap_imports * sizeof *m->imports);
    qmem_free(c, m->path, m->path_size);
    qmem_free(c, m, sizeof *m);
}

/* Globals first: what they hold may need classes and code to be released. */
void qmod_close(qs_vm *vm) {
    Machine *m = qvm(vm);
    Ctx *c = qvm_ctx(vm);
    for (uint32_t i = 0; i < m->nglobals; i++) qinterp_clear(vm, m->globals[i]);
    for (Module *at = m->modules; at; at = at->next)
        if (at->main) {
            qval_release(vm, qval_object(QS_FUNCTION, at->main));
            at->main = NULL;
        }
    qgc_collect(vm);
    qproto_close(vm);
    for (Module *at = m->modules, *next; at; at = next) {
        next = at->next;
        close_module(vm, at);
    }
    qmap_free(&m->builtins, c);
    qmem_free(c, m->globals, m->cap_globals * sizeof *m->globals);
    for (GlobalCells *cells = m->cells, *next; cells; cells = next) {
        next = cells->next;
        qmem_free(c, cells, sizeof *cells);
    }
    qmem_free(c, m->global_names, m->cap_globals * sizeof *m->global_names);
}
