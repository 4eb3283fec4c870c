/* scope.c -- resolves names to symbols.
 *
 * For each function, all assigned names are collected first, so that a name is local in the whole function; then every
 * identifier is looked up from the inside out.  A variable of an enclosing function is captured by each function in
 * between.  Functions defined inside functions need one more step: mentioning one creates a closure, so the mentioning
 * function needs access to everything that the closure captures.  spread_captures adds these captures until nothing
 * changes. */
#include "lang/names/scope.h"
#include "lang/syntax/operators.h"

#include "lang/names/first_read.h"
#include "lang/syntax/diag.h"
#include "lang/syntax/fold.h"

#include <string.h>

typedef struct Scope { /* a function being resolved */
    struct Scope *up;
    Func *f;   /* never the main body, whose names are globals */
    Map names; /* name -> Sym */
} Scope;

typedef struct {
    Func *at;
    Sym *nested;
} Mention;

typedef struct {
    Unit *u;
    Ctx *ctx;
    const ScopeHost *host;
    Scope *scope;    /* NULL: top level */
    Map globals;     /* name -> Sym of every global and type that the unit mentions */
    Map unknown;     /* names that were reported */
    Reduction *rule; /* the reduction whose parts are being resolved */
    bool in_pattern;
    Mention *mentions;
    uint32_t nmentions, cap_mentions;
    Func **funcs;
    uint32_t nfuncs, cap_funcs; /* all functions, parents first */
} Resolver;

static void resolve_node(Resolver *r, Node **slot);
static void resolve_func(Resolver *r, Func *f);

/* -- symbols ------------------------------------------------------------------------------------------------------- */
static Sym *new_symbol(Resolver *r, SymKind k, Str *name, uint32_t pos) {
    Sym *s = qast_alloc(r->u, sizeof *s);
    s->kind = k;
    s->name = name;
    s->pos = pos;
    return s;
}

static Sym *get_symbol(const Map *m, const Str *name) {
    uint64_t v;
    return qmap_get(m, name, &v) ? (Sym *)(uintptr_t)v : NULL;
}

static void put_symbol(Resolver *r, Map *m, Sym *s) { qmap_set(m, r->ctx, s->name, (uintptr_t)s); }

static bool has_mods(TypeMods m) { return m.access || m.flags; }

/* ?? without a modifier declares nothing. */
static void annotate_symbol(Sym *s, TypeExpr *type) {
    if (!type || (type->kind == TE_ANY && !has_mods(type->mods))) return;
    if (!s->declared) s->declared = type;
    if (!has_mods(s->mods)) s->mods = type->mods;
}

static void append(Resolver *r, Sym ***list, int *n, uint32_t *cap, Sym *s) {
    if ((uint32_t)*n == *cap) {
        uint32_t bigger = *cap ? *cap * 2 : 8;
        Sym **at = qast_alloc(r->u, qmem_size(bigger, sizeof *at, 0));
        if (*n) memcpy(at, *list, (size_t)*n * sizeof *at);
        *list = at;
        *cap = bigger;
    }
    (*list)[(*n)++] = s;
}

static Sym *add_local(Resolver *r, Str *name, uint32_t pos) {
    Func *f = r->scope->f;
    Sym *s = new_symbol(r, SYM_LOCAL, name, pos);
    s->owner = f;
    s->index = f->nlocals;
    append(r, &f->locals, &f->nlocals, &f->cap_locals, s);
    put_symbol(r, &r->scope->names, s);
    return s;
}

static Sym *add_capture(Resolver *r, Func *f, Sym *outer) {
    Sym *s = new_symbol(r, SYM_CAPTURE, outer->name, outer->pos);
    s->owner = f;
    s->index = f->ncaptures;
    s->declared = outer->declared;
    if ((uint32_t)f->ncaptures == f->cap_captures) {
        uint32_t bigger = f->cap_captures ? f->cap_captures * 2 : 8;
        Capture *at = qast_alloc(r->u, qmem_size(bigger, sizeof *at, 0));
        if (f->ncaptures) memcpy(at, f->captures, (size_t)f->ncaptures * sizeof *at);
        f->captures = at;
        f->cap_captures = bigger;
    }
    f->captures[f->ncaptures++] = (Capture){outer, s};
    return s;
}

Sym *qscope_view(Func *f, Sym *sym) {
    if (!sym || sym->owner == f || sym->kind > SYM_CAPTURE) return sym;
    if (!f || !f->parent) return NULL;
    Sym *outer = qscope_view(f->parent, sym);
    for (int i = 0; i < f->ncaptures; i++)
        if (f->captures[i].outer == outer) return f->captures[i].inner;
    return NULL;
}

/* Works like qscope_view but adds missing captures; sets *added if there were any. */
static Sym *capture_view(Resolver *r, Func *f, Sym *sym, bool *added) {
    if (sym->owner == f || !f->parent) return sym;
    Sym *outer = capture_view(r, f->parent, sym, added);
    for (int i = 0; i < f->ncaptures; i++)
        if (f->captures[i].outer == outer) return f->captures[i].inner;
    *added = true;
    return add_capture(r, f, outer);
}

/* -- looking up ---------------------------------------------------------------------------------------------------- */
static Sym *define_global(Resolver *r, Str *name, uint32_t pos) {
    Sym *s = get_symbol(&r->globals, name);
    if (s) return s;
    s = new_symbol(r, SYM_GLOBAL, name, pos);
    s->index = r->host->define(r->host->ud, name);
    put_symbol(r, &r->globals, s);
    return s;
}

static Sym *add_global(Resolver *r, const Sym *found) {
    Sym *s = new_symbol(r, found->kind, found->name, found->pos);
    *s = *found;
    put_symbol(r, &r->globals, s);
    return s;
}

static Sym *lookup_global(Resolver *r, Str *name, uint32_t pos) {
    Sym *s = get_symbol(&r->globals, name);
    if (s) return s;
    Sym found = {.name = name, .pos = pos};
    if (!r->host->lookup(r->host->ud, name, &found)) {
        found.type = qtype_builtin(r->ctx, name->s);
        if (!found.type) return NULL;
        found.kind = SYM_TYPE;
    }
    return add_global(r, &found);
}

static Sym *autoload(Resolver *r, Str *name, uint32_t pos) {
    Sym found = {.name = name, .pos = pos};
    Text why;
    qtext_init(&why, r->ctx);
    bool loaded = r->host->autoload && r->host->autoload(r->host->ud, name, &found, &why);
    if (why.len && !qmap_at(&r->unknown, name)) {
        qmap_set(&r->unknown, r->ctx, name, 1);
        qdiag_error(r->u, pos, "%s: %s", name->s, why.s);
    }
    qtext_free(&why);
    return loaded ? add_global(r, &found) : NULL;
}

static Sym *lookup_from(Resolver *r, Scope *scope, Str *name, uint32_t pos) {
    if (!scope) return lookup_global(r, name, pos);
    Sym *s = get_symbol(&scope->names, name);
    if (s) return s;
    s = lookup_from(r, scope->up, name, pos);
    if (!s || (s->kind > SYM_CAPTURE && !(s->variable && scope->f->is_lambda))) return s;
    s = add_capture(r, scope->f, s);
    put_symbol(r, &scope->names, s);
    return s;
}

static void offer_all(const Map *m, Nearest *near) {
    for (uint32_t i = 0; i < m->n; i++) qstr_offer(near, m->entries[i].key->s);
}

/* Returns whether the name means a module here: local names hide it, all others do not. */
static bool is_module(const Resolver *r, Str *name, Nearest *near) {
    for (const Scope *s = r->scope; s; s = s->up)
        if (get_symbol(&s->names, name)) return false;
    return r->host->module && r->host->module(r->host->ud, name, near);
}

static void unknown_name(Resolver *r, Str *name, uint32_t pos) {
    if (qmap_at(&r->unknown, name)) return;
    qmap_set(&r->unknown, r->ctx, name, 1);
    if (is_module(r, name, NULL)) {
        qdiag_name_error(r->u, pos, "'%s' is a module and no value: its names are written %s.name", name->s, name->s);
        return;
    }
    Nearest near = {.wanted = name->s};
    for (Scope *s = r->scope; s; s = s->up) offer_all(&s->names, &near);
    offer_all(&r->globals, &near);
    if (r->host->offer) r->host->offer(r->host->ud, &near);
    Text text;
    qtext_init(&text, r->ctx);
    qdiag_unknown_name(&near, true, &text);
    qdiag_name_error(r->u, pos, "%s", text.s);
    qtext_free(&text);
}

static void mention(Resolver *r, Sym *nested) {
    if (!r->scope || r->scope->f == nested->owner) return;
    qmem_grow(r->ctx, &r->mentions, &r->cap_mentions, r->nmentions, sizeof *r->mentions);
    r->mentions[r->nmentions++] = (Mention){r->scope->f, nested};
}

static bool is_type_parameter(const Sym *s) { return s->kind == SYM_TYPE && !s->type; }

static void to_type(Resolver *r, Node *n) {
    TypeExpr *t = qast_type_of_expr(r->u, n);
    if (!t) {
        qdiag_error(r->u, n->pos, "the brackets after a type name hold types, as in vec[int]");
        return;
    }
    for (int i = 0; t->kind == TE_ARRAY && i < t->nargs; i++)
        if (has_mods(t->args[i]->mods)) qdiag_error(r->u, t->args[i]->pos, AST_MODE_REFUSED, "the type of elements");
    n->kind = N_TYPE;
    n->u.type = t;
}

static Sym *rule_variable(const Resolver *r, const Str *name) {
    for (int i = 0; r->rule && i < r->rule->nparams; i++)
        if (r->rule->params[i].name == name) return r->rule->params[i].sym;
    return NULL;
}

static Sym *lookup(Resolver *r, Str *name, uint32_t pos, bool called) {
    Sym *s = rule_variable(r, name);
    if (s && r->scope) qdiag_error(r->u, pos, "a lambda in a reduction cannot use its variable '%s'", name->s);
    if (!s) s = lookup_from(r, r->scope, name, pos);
    if (!s && r->in_pattern) s = define_global(r, name, pos); /* a function may be defined by rules only */
    if (!s && called) s = autoload(r, name, pos);
    if (!s) unknown_name(r, name, pos);
    else if (s->kind == SYM_NESTED) mention(r, s);
    return s;
}

static void resolve_name(Resolver *r, Node *n, bool called) {
    if (n->u.ident.sym) return;
    Sym *s = lookup(r, n->u.ident.name, n->pos, called);
    if (s && is_type_parameter(s)) to_type(r, n);
    else n->u.ident.sym = s;
}

/* -- collecting assigned names ------------------------------------------------------------------------------------- */
typedef struct {
    const Sym *sym;
    const Str *name;
    bool found;
} Occurrence; /* search for sym or for name */

static void refuse_module(Resolver *r, Str *name, uint32_t pos) {
    if (is_module(r, name, NULL))
        qdiag_error(r->u, pos, "'%s' names a module (import … as %s) and cannot be assigned or defined", name->s,
                    name->s);
}

static Sym *assigned(Resolver *r, Str *name, uint32_t pos) {
    if (!r->scope) {
        refuse_module(r, name, pos);
        Sym *global = define_global(r, name, pos);
        global->variable = true;
        return global;
    }
    Sym *s = get_symbol(&r->scope->names, name);
    if (s && s->kind == SYM_NESTED) {
        qdiag_error(r->u, pos, "'%s' is a function defined in this function and cannot be assigned to", name->s);
        return s;
    }
    return s && s->owner == r->scope->f && s->kind == SYM_LOCAL ? s : add_local(r, name, pos);
}

static void nested_function(Resolver *r, Node *n) {
    Func *f = n->u.func;
    if (!r->scope) {
        refuse_module(r, f->name, n->pos);
        define_global(r, f->name, n->pos)->function = true;
        return;
    }
    Sym *s = get_symbol(&r->scope->names, f->name);
    if (s) {
        qdiag_error(r->u, n->pos, "'%s' is already the name of a %s in this function", f->name->s,
                    s->kind == SYM_NESTED ? "function" : "variable");
        return;
    }
    s = new_symbol(r, SYM_NESTED, f->name, n->pos);
    s->owner = r->scope->f;
    s->func = f;
    put_symbol(r, &r->scope->names, s);
}

static void collect_functions(void *ud, Node **child) {
    Node *n = *child;
    if (n->kind == N_FUNC) nested_function(ud, n);
    else if (!NODE_IS_EXPR(n)) qast_children(n, collect_functions, ud);
}

static void find_name(void *ud, Node **child) {
    Occurrence *o = ud;
    if ((*child)->kind == N_IDENT && (*child)->u.ident.name == o->name) o->found = true;
    else qast_children(*child, find_name, o);
}

/* Returns whether a top-level assignment creates a variable of this module.  x += 1 and x = x + 1 of an imported x do,
 * with a warning.  x += 1 of an existing or unknown x does not. */
static bool own_begins(Resolver *r, const Node *n, Str *name) {
    Occurrence o = {.name = name, .found = n->u.assign.in_place};
    const Sym *before = get_symbol(&r->globals, name);
    if ((before && before->variable) || !r->host->imported || !r->host->imported(r->host->ud, name)) return !o.found;
    find_name(&o, (Node **)&n->u.assign.value);
    if (o.found)
        qdiag_warning(r->u, n->pos,
                      "what a file assigns is its own: %s of the imported file stays, and this one "
                      "begins with its value",
                      name->s);
    return true;
}

static void collect_targets(Resolver *r, Node *n) {
    for (int i = 0; i < n->u.assign.ntargets; i++) {
        Node *t = n->u.assign.targets[i];
        if (t->kind != N_IDENT || !strcmp(t->u.ident.name->s, "_")) continue;
        if (!r->scope && !own_begins(r, n, t->u.ident.name)) continue;
        Sym *s = assigned(r, t->u.ident.name, t->pos);
        annotate_symbol(s, n->u.assign.types[i]);
        t->u.ident.sym = s;
    }
}

static void collect_assigned(void *ud, Node **child) {
    Resolver *r = ud;
    Node *n = *child;
    switch (n->kind) {
    case N_ASSIGN: collect_targets(r, n); return;
    case N_DECL: annotate_symbol(n->u.decl.sym = assigned(r, n->u.decl.name, n->pos), n->u.decl.type); return;
    case N_FOR:
        for (int i = 0; i < n->u.loop.nvars; i++) n->u.loop.syms[i] = assigned(r, n->u.loop.names[i], n->pos);
        break;
    case N_TRY:
        if (n->u.tries.name) n->u.tries.sym = assigned(r, n->u.tries.name, n->pos);
        break;
    default: break;
    }
    if (!NODE_IS_EXPR(n)) qast_children(n, collect_assigned, r);
}

static void collect_body(Resolver *r, Func *f) {
    for (int i = 0; i < f->body.n; i++) collect_functions(r, &f->body.at[i]);
    for (int i = 0; i < f->body.n; i++) collect_assigned(r, &f->body.at[i]);
}

/* -- resolving ----------------------------------------------------------------------------------------------------- */
/* Gives B the access mode of A in B = A. */
static void inherit_mode(const Node *n) {
    if (n->u.assign.ntargets != 1 || n->u.assign.in_place || n->u.assign.value->kind != N_IDENT) return;
    const Node *t = n->u.assign.targets[0];
    const Sym *from = n->u.assign.value->u.ident.sym;
    Sym *to = qast_symbol(t);
    if (to && from && !has_mods(to->mods) && !to->declared) to->mods = from->mods;
}

/* Returns whether n is the last expression of text from the prompt or eval, which is shown as the result. */
static bool is_shown(const Resolver *r, const Node *n) {
    NodeList body = r->u->main->body;
    return r->u->src->internal && !r->scope && body.n > 0 && n == body.at[body.n - 1];
}

/* Returns whether an expression is like ok || error("…"), whose right side may have an effect. */
static bool may_act(const Node *e) { return (e->op == OP_ANDAND || e->op == OP_OROR) && e->u.bin.b->kind == N_CALL; }

static bool begins_with_sign(const Node *e) {
    while (e->kind == N_BINARY) e = e->u.bin.a;
    return e->kind == N_UNARY && e->op != OP_NOT;
}

/* Reports statements without effect: `tic` for tic(), `x == 3` for x = 3, `x` for print x, `- x` on its own line. */
static void check_effect(Resolver *r, const Node *n) {
    const Node *e = n->u.expr;
    const Sym *s = qast_symbol(e);
    if (r->rule || is_shown(r, n)) return;
    if (s && (s->kind == SYM_NESTED || (s->function && !s->variable)))
        qdiag_error(r->u, e->pos, "the name of a function does nothing alone: did you mean %s()?", s->name->s);
    else if (s && s->kind <= SYM_GLOBAL)
        qdiag_warning(r->u, e->pos, "this statement does nothing: print %s shows the value", s->name->s);
    else if (e->kind == N_BINARY && e->op == OP_EQ)
        qdiag_warning(r->u, e->pos, "this comparison is not used: = assigns, == compares");
    else if (e->kind == N_UNARY || (e->kind == N_BINARY && !may_act(e)))
        qdiag_warning(r->u, n->pos, "this statement does nothing: %s",
                      begins_with_sign(e) ? "a line continues after an operator at its end"
                                          : "= keeps the value, print shows it");
    else if (e->kind == N_NUM) qdiag_warning(r->u, e->pos, "this statement does nothing: a list is written [a, b]");
}

static void resolve_child(void *ud, Node **child) { resolve_node(ud, child); }

/* Returns whether an index expression is a type such as vec[mat]. */
static bool base_is_type(Resolver *r, const Node *n) {
    while (n->kind == N_INDEX) n = n->u.index.base;
    if (n->kind == N_TYPE) return true;
    if (n->kind != N_IDENT || n->u.ident.sym || rule_variable(r, n->u.ident.name)) return false;
    Sym *s = lookup_from(r, r->scope, n->u.ident.name, n->pos);
    return s && s->kind == SYM_TYPE;
}

/* Reports x[0] = 1 and o.name = 1 if there is no variable x or o. */
static void check_base(Resolver *r, const Node *target) {
    const Node *base = target->kind == N_INDEX   ? target->u.index.base
                       : target->kind == N_FIELD ? target->u.field.base
                                                 : target;
    if (base == target || base->kind != N_IDENT || base->u.ident.sym || rule_variable(r, base->u.ident.name)) return;
    Str *name = base->u.ident.name;
    if (target->kind == N_FIELD && is_module(r, name, NULL)) {
        qdiag_error(
            r->u, base->pos,
            "%s.%s belongs to the module, whose statements alone assign it; elements of its arrays and fields of its "
            "objects can be set from here",
            name->s, target->u.field.name->s);
        return;
    }
    if (lookup_from(r, r->scope, name, base->pos) || qmap_at(&r->unknown, name)) return;
    qmap_set(&r->unknown, r->ctx, name, 1);
    qdiag_name_error(r->u, base->pos, "unknown name '%s': make it first, %s = %s", name->s, name->s,
                     target->kind == N_FIELD ? "object()" : "zeros(size), or cell(n)");
}

/* Replaces name.member, where name is a module, by the name of that member. */
static bool member_of_module(Resolver *r, Node *n) {
    const Node *base = n->u.field.base;
    if (base->kind != N_IDENT || base->u.ident.sym || rule_variable(r, base->u.ident.name)) return false;
    Str *module = base->u.ident.name, *member = n->u.field.name;
    Nearest near = {.wanted = member->s};
    if (!is_module(r, module, &near)) return false;
    Str *name = qast_member_name(r->u, module, member);
    Sym *s = lookup_from(r, r->scope, name, n->pos);
    if (!s && near.best)
        qdiag_name_error(r->u, n->pos, "module %s has no %s: did you mean '%s'?", module->s, member->s, near.best);
    else if (!s) qdiag_name_error(r->u, n->pos, "module %s has no %s", module->s, member->s);
    n->kind = N_IDENT;
    n->u.ident.name = name;
    n->u.ident.sym = s;
    return true;
}

/* Replaces a constant of an enum, such as color.red, by its value. */
static bool constant_of(Resolver *r, Node *n) {
    Node *base = n->u.field.base;
    bool member = base->kind == N_FIELD && member_of_module(r, base); /* module.color.red */
    if (base->kind != N_IDENT || (base->u.ident.sym && !member) || rule_variable(r, base->u.ident.name)) return false;
    const Sym *s = member ? base->u.ident.sym : lookup_from(r, r->scope, base->u.ident.name, base->pos);
    const TypeDef *d = s && s->kind == SYM_TYPE ? s->constants : NULL;
    Nearest near = {.wanted = n->u.field.name->s};
    for (int i = 0; d && i < d->nfields; i++) {
        if (d->fields[i].name == n->u.field.name) {
            uint32_t pos = n->pos;
            *n = *d->fields[i].init;
            n->pos = pos;
            return true;
        }
        qstr_offer(&near, d->fields[i].name->s);
    }
    if (d && near.best)
        qdiag_name_error(r->u, n->pos, "%s has no constant %s: did you mean '%s'?", d->name->s, near.wanted, near.best);
    else if (d) qdiag_name_error(r->u, n->pos, "%s has no constant %s", d->name->s, near.wanted);
    return d != NULL;
}

static void resolve_node(Resolver *r, Node **slot) {
    Node *n = *slot;
    switch (n->kind) {
    case N_ASSIGN:
        for (int i = 0; i < n->u.assign.ntargets; i++) check_base(r, n->u.assign.targets[i]);
        break;
    case N_IDENT:
        if (strcmp(n->u.ident.name->s, "_") != 0) resolve_name(r, n, false);
        return;
    case N_CALL:
        if (n->u.call.callee->kind == N_IDENT) resolve_name(r, n->u.call.callee, true);
        break;
    case N_INDEX:
        if (base_is_type(r, n)) {
            to_type(r, n);
            return;
        }
        break;
    case N_MATRIX:
        if (qfold_is_constant(n)) return; /* it may contain integers that need uint64 */
        break;
    case N_NUM:
        if (n->u.num.is_uint64 && (!r->scope || r->scope->f->qual == Q_HOST))
            qdiag_error(r->u, n->pos, "%s", QFOLD_UINT64);
        return;
    case N_FIELD:
        if (member_of_module(r, n) || constant_of(r, n)) return;
        break;
    case N_LAMBDA: resolve_func(r, n->u.lambda.func); return;
    case N_FUNC: resolve_func(r, n->u.func); return;
    default: break;
    }
    qast_children(n, resolve_child, r);
    if (n->kind == N_ASSIGN) inherit_mode(n);
    if (n->kind == N_EXPR) check_effect(r, n);
}

static void resolve_params(Resolver *r, Param *at, int n) {
    for (int i = 0; i < n; i++)
        if (at[i].init) resolve_node(r, &at[i].init);
}

static void declare_params(Resolver *r, Func *f) {
    for (int i = 0; i < f->nparams; i++) {
        Param *p = &f->params[i];
        if (get_symbol(&r->scope->names, p->name))
            qdiag_error(r->u, p->pos, "two parameters are called '%s'", p->name->s);
        annotate_symbol(p->sym = add_local(r, p->name, p->pos), p->type);
    }
    for (int i = 0; i < f->nouts; i++) { /* in y = f(y), the result and the parameter are one variable */
        Param *p = &f->outs[i];
        Sym *s = get_symbol(&r->scope->names, p->name);
        annotate_symbol(p->sym = s && s->kind == SYM_LOCAL ? s : add_local(r, p->name, p->pos), p->type);
    }
}

/* -- locals that are initialized from an outer variable ------------------------------------------------------------ */
static bool is_variable(const Sym *s) { return s && (s->kind < SYM_GLOBAL || (s->kind == SYM_GLOBAL && s->variable)); }

static bool is_declared(const Func *f, const Sym *local) { /* returns whether it is a parameter or result */
    for (int i = 0; i < f->nouts; i++)
        if (f->outs[i].sym == local) return true;
    return local->index < f->nparams;
}

static Sym *find_outer(Resolver *r, const Sym *local) {
    Sym *s = NULL;
    for (Scope *scope = r->scope->up; scope && !s; scope = scope->up) s = get_symbol(&scope->names, local->name);
    return s ? s : lookup_global(r, local->name, local->pos);
}

static Node *name_of(Resolver *r, Sym *s, uint32_t pos) {
    Node *n = qast_node(r->u, N_IDENT, pos);
    n->u.ident.name = s->name;
    n->u.ident.sym = s;
    return n;
}

static Node *beginning(Resolver *r, Sym *local, Sym *outer) {
    Node *n = qast_node(r->u, N_ASSIGN, local->pos);
    n->flag = ASSIGN_BEGINS;
    n->u.assign.ntargets = 1;
    n->u.assign.targets = qast_alloc(r->u, sizeof(Node *));
    n->u.assign.types = qast_alloc(r->u, sizeof(TypeExpr *));
    n->u.assign.targets[0] = name_of(r, local, local->pos);
    n->u.assign.types[0] = NULL;
    n->u.assign.value = name_of(r, outer, local->pos);
    return n;
}

static void prepend(Resolver *r, NodeList *l, Node *n) {
    Node **at = qast_alloc(r->u, qmem_size((size_t)l->n, sizeof *at, sizeof *at));
    at[0] = n;
    if (l->n) memcpy(at + 1, l->at, (size_t)l->n * sizeof *at);
    *l = (NodeList){at, l->n + 1};
}

static void begin_locals(Resolver *r, Func *f) {
    for (int i = f->nparams; i < f->nlocals; i++) {
        Sym *s = f->locals[i];
        if (is_declared(f, s) || !is_variable(find_outer(r, s)) || !qfirstread_is_read_first(f, s)) continue;
        const Node *useless = qfirstread_useless(f, s);
        if (useless)
            qdiag_warning(r->u, useless->pos, "%s outside stays as it is: what a function assigns is its own",
                          s->name->s);
        Sym *outer = lookup_from(r, r->scope->up, s->name, s->pos);
        if (outer->kind < SYM_GLOBAL || f->is_lambda) outer = add_capture(r, f, outer);
        Node *n = beginning(r, s, outer);
        prepend(r, &f->body, n);
        inherit_mode(n);
    }
}

static void declare_type_parameters(Resolver *r, Func *f) {
    for (int i = 0; i < f->ntyparams; i++)
        put_symbol(r, &r->scope->names, new_symbol(r, SYM_TYPE, f->typarams[i], f->pos));
}

static void resolve_func(Resolver *r, Func *f) {
    Scope scope = {.up = r->scope, .f = f};
    qmem_grow(r->ctx, &r->funcs, &r->cap_funcs, r->nfuncs, sizeof(Func *));
    r->funcs[r->nfuncs++] = f;
    qmap_init(&scope.names);
    r->scope = &scope;
    declare_type_parameters(r, f);
    declare_params(r, f);
    collect_body(r, f);
    resolve_params(r, f->params, f->nparams);
    for (int i = 0; i < f->body.n; i++) resolve_node(r, &f->body.at[i]);
    if (f->expr) resolve_node(r, &f->expr);
    begin_locals(r, f);
    r->scope = scope.up;
    qmap_free(&scope.names, r->ctx);
}

static void find_symbol(void *ud, Node **child) {
    Occurrence *o = ud;
    if (qast_is_name(*child, o->sym)) o->found = true;
    else qast_children(*child, find_symbol, o);
}

static void check_pattern(Resolver *r, Reduction *d) {
    if (d->pattern->kind == N_IDENT)
        qdiag_error(r->u, d->pattern->pos, "a single name is not a pattern: it would match everything");
    for (int i = 0; i < d->nparams; i++) {
        Occurrence o = {.sym = d->params[i].sym};
        find_symbol(&o, &d->pattern);
        if (!o.found) qdiag_error(r->u, d->params[i].pos, "'%s' does not occur in the pattern", d->params[i].name->s);
    }
}

/* Resolves a rule.  Its variables are numbered placeholders that belong to no function. */
static void resolve_reduction(Resolver *r, Reduction *d) {
    for (int i = 0; i < d->nparams; i++) {
        Sym *s = d->params[i].sym = new_symbol(r, SYM_LOCAL, d->params[i].name, d->params[i].pos);
        s->index = i;
        annotate_symbol(s, d->params[i].type);
    }
    r->rule = d;
    r->in_pattern = true;
    resolve_node(r, &d->pattern);
    r->in_pattern = false;
    check_pattern(r, d);
    resolve_node(r, &d->replacement);
    if (d->where) resolve_node(r, &d->where);
    r->rule = NULL;
}

/* -- captures and access modes of closures ------------------------------------------------------------------------- */
static bool spread_once(Resolver *r) {
    bool added = false;
    for (uint32_t i = 0; i < r->nmentions; i++) {
        const Func *g = r->mentions[i].nested->func;
        for (int k = 0; k < g->ncaptures; k++) capture_view(r, r->mentions[i].at, g->captures[k].outer, &added);
    }
    return added;
}

static void spread_captures(Resolver *r) {
    while (spread_once(r)) {}
}

static void spread_modes(Resolver *r) {
    for (uint32_t i = 0; i < r->nfuncs; i++)
        for (int k = 0; k < r->funcs[i]->ncaptures; k++) {
            Capture *c = &r->funcs[i]->captures[k];
            c->inner->mods = c->outer->mods;
            c->inner->declared = c->outer->declared;
        }
}

qs_status qscope_resolve(Unit *u, const ScopeHost *host) {
    Resolver r = {.u = u, .ctx = u->ctx, .host = host};
    int before = u->nerrors;
    qmap_init(&r.globals);
    qmap_init(&r.unknown);
    collect_body(&r, u->main);
    for (int i = 0; i < u->nreductions; i++) resolve_reduction(&r, u->reductions[i]);
    for (int i = 0; i < u->ntypedefs; i++) resolve_params(&r, u->typedefs[i]->fields, u->typedefs[i]->nfields);
    for (int i = 0; i < u->main->body.n; i++) resolve_node(&r, &u->main->body.at[i]);
    spread_captures(&r);
    spread_modes(&r);
    qmap_free(&r.globals, r.ctx);
    qmap_free(&r.unknown, r.ctx);
    qmem_free(r.ctx, r.mentions, r.cap_mentions * sizeof *r.mentions);
    qmem_free(r.ctx, r.funcs, r.cap_funcs * sizeof *r.funcs);
    return u->nerrors > before ? QS_ENAME : QS_OK;
}
