/* modtype.c -- resolves the types that a module defines: aliases, classes, and instances of generic classes. */
#include "vm/program/modtype.h"
#include "vm/value/machine.h"

#include "lang/names/overload.h"
#include "lang/syntax/fold.h"
#include "lang/syntax/operators.h"
#include "vm/program/names.h"
#include "vm/value/hooks.h"

#include <string.h>

static bool offer_types_of(void *near, Module *m) {
    const NameVisitor v = {qstr_offer, near};
    qnames_in(&m->types, &v);
    return false;
}

/* -- types --------------------------------------------------------------------------------------------------------- */

typedef struct {
    Str *name;
    Module *module;
    ModType *type;
} FindType;

static bool find_type_in(void *ud, Module *m) {
    FindType *f = ud;
    uint64_t i;
    if (!qmap_get(&m->types, f->name, &i)) return false;
    f->module = m;
    f->type = &m->typedefs[i];
    return true;
}

ModType *qmodtype_find(qs_vm *vm, Module *m, Str *name, Module **home) {
    FindType f = {name, NULL, NULL};
    Module *named = qmod_of_member(vm, m, name, &f.name);
    if (named) (void)find_type_in(&f, named);
    else if (!find_type_in(&f, m)) qmod_over_imports(vm, m, find_type_in, &f);
    if (f.type) *home = f.module;
    return f.type;
}

typedef struct {
    qs_vm *vm;
    Module *module;
    const TypeHost *params;
    qs_status status;
} TypeScope;

static const Type *lookup_type(void *ud, Str *name) {
    TypeScope *s = ud;
    const Type *t = s->params ? s->params->lookup(s->params->ud, name) : NULL;
    Module *home;
    if (t) return t;
    ModType *found = qmodtype_find(s->vm, s->module, name, &home);
    return found ? qmodtype_of(s->vm, home, found, &s->status) : NULL;
}

static bool constant_dim(void *ud, Str *name, double *value) {
    TypeScope *s = ud;
    if (s->params && s->params->constant && s->params->constant(s->params->ud, name, value)) return true;
    int slot = qnames_lookup(s->vm, s->module, name);
    if (slot < 0 || !qval_is_number(*qvm_global(s->vm, (uint64_t)slot))) return false;
    *value = qval_number(*qvm_global(s->vm, (uint64_t)slot));
    return true;
}

static const Type *instantiate(void *ud, Str *generic, const Type **args, int nargs);

static void offer_types(void *ud, Nearest *near) {
    TypeScope *s = ud;
    offer_types_of(near, s->module);
    qmod_over_imports(s->vm, s->module, offer_types_of, near);
}

qs_status qmodtype_resolve(qs_vm *vm, Module *m, TypeExpr *e, const Source *src, const TypeHost *params,
                           const Type **out, TypeMods *mods) {
    TypeScope s = {vm, m, params, QS_OK};
    const TypeHost host = {&s, lookup_type, instantiate, constant_dim, offer_types};
    qs_status status = qtypes_resolve(qvm_ctx(vm), e, &host, src, out, mods);
    return s.status ? s.status : status;
}

/* -- classes ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const TypeDef *def;
    const Type **args;
    int nargs;
} ClassParams;

static const Type *class_param(void *ud, Str *name) {
    const ClassParams *p = ud;
    for (int i = 0; i < p->def->ntyparams && i < p->nargs; i++)
        if (p->def->typarams[i] == name) return p->args[i];
    return NULL;
}

/* Evaluates a number, text or list of numbers (wide: as float64), or a constant such as true, pi or null.  Sets *is to
 * false for any other expression, which must be computed at run time. */
static qs_status evaluate_constant(qs_vm *vm, Module *m, const Node *n, bool wide, qs_value *out, bool *is) {
    double x;
    uint64_t slot;
    NumTable *t;
    *is = true;
    if (qfold_number(n, &x)) return *out = qs_num(x), QS_OK;
    if (n->kind == N_STR) return *out = qval_retain(qval_object(QS_STRING, n->u.str)), QS_OK;
    if (n->kind == N_IDENT && qmap_get(&qvm(vm)->builtins, n->u.ident.name, &slot) &&
        qnames_lookup(vm, m, n->u.ident.name) == (int)slot) { /* unless the program redefines the name */
        *out = *qvm_global(vm, slot);
        if (out->kind == QS_NIL || qval_is_scalar(*out)) return qval_retain(*out), QS_OK;
    }
    if (n->kind == N_UNARY && n->op == OP_NEG) { /* -inf, -pi */
        TRY(evaluate_constant(vm, m, n->u.bin.a, wide, out, is));
        if (*is && qval_is_number(*out)) return *out = qs_num(-qval_number(*out)), QS_OK;
        qval_release(vm, *out), *out = qs_nil();
    }
    Arena arena;
    qarena_init(&arena, qvm_ctx(vm));
    *is = n->kind == N_MATRIX && qfold_matrix(n, &arena, &t);
    if (*is) t->wide = wide;
    qs_status s = *is ? qinterp_hooks(vm)->table(vm, t, out) : QS_OK;
    return qarena_free(&arena), s;
}

static qs_status set_initial_value(qs_vm *vm, Module *m, const TypeDef *def, const Param *p, const Source *src,
                                   Field *f) {
    qs_value v = qs_nil(); /* the result after a failure */
    bool is;
    TRY(evaluate_constant(vm, m, p->init, f->type && f->type->kind == TY_ARRAY, &v, &is));
    qs_status s = QS_OK;
    if (!is) f->given = 1 + qnames_slot(vm, m, qast_initial_name(qvm_ctx(vm), def->name, p->name));
    else if (!f->type || v.kind == QS_NIL) f->init = qval_retain(v);
    else s = qval_coerce(vm, v, f->type, f->name->s, &f->init);
    if (s) qerr_location(qvm_ctx(vm), (Where){src, p->init->pos});
    return qval_release(vm, v), s;
}

/* Resolves the fields of a class.  The type object already exists, because a field may refer to the class itself. */
static qs_status class_fields(qs_vm *vm, Module *m, const TypeDef *def, const Source *src, const TypeHost *params,
                              Field *fields) {
    for (int i = 0; i < def->nfields; i++) {
        const Param *p = &def->fields[i];
        TypeMods mods = {0};
        fields[i].name = p->name;
        if (p->type) TRY(qmodtype_resolve(vm, m, p->type, src, params, &fields[i].type, &mods));
        if (p->init) TRY(set_initial_value(vm, m, def, p, src, &fields[i]));
    }
    return QS_OK;
}

/* Creates a class without the types of its fields, which may refer to it. */
static Class *new_class(qs_vm *vm, const TypeDef *def, Str *name) {
    Ctx *c = qvm_ctx(vm);
    Field *fields = qmem_alloc(c, qmem_size((size_t)def->nfields, sizeof *fields, 0));
    for (int i = 0; i < def->nfields; i++) fields[i].name = def->fields[i].name;
    Class *cls = qclass_new(vm, name, (ClassKind)def->class_kind, def->nfields, fields);
    qmem_free(c, fields, (size_t)def->nfields * sizeof *fields);
    return cls;
}

const Type *qmodtype_of(qs_vm *vm, Module *home, ModType *t, qs_status *status) {
    if (t->type || t->def->ntyparams) return t->type;
    const Source *src = t->src;
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
    qs_status s = qmodtype_resolve(vm, home, t->def->alias, src, NULL, &t->type, &mods);
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

/* Checks the types for which type parameters stand, as in type list[T : [scalar|cscalar]]. */
static qs_status check_constraints(qs_vm *vm, Module *m, const ModType *t, const Type **args) {
    const TypeDef *def = t->def;
    for (int i = 0; i < def->ntyparams; i++) {
        TypeExpr *e = def->constraints ? def->constraints[i] : NULL;
        const Type *limit;
        TypeMods mods = {0};
        if (!e) continue;
        TRY(qmodtype_resolve(vm, m, e, t->src, NULL, &limit, &mods));
        if (args[i]->kind != TY_ANY && !qoverload_is_within(args[i], limit))
            return qerr_at(qvm_ctx(vm), QS_ETYPE, (Where){t->src, e->pos}, "%s: type parameter %s must be %s, got %s",
                           def->name->s, def->typarams[i]->s, qtype_name(limit), qtype_name(args[i]));
    }
    return QS_OK;
}

static const Type *instantiate(void *ud, Str *generic, const Type **args, int nargs) {
    TypeScope *s = ud;
    Module *home;
    ModType *t = qmodtype_find(s->vm, s->module, generic, &home);
    if (!t || !t->def->is_class || t->def->ntyparams != nargs) return NULL;
    Class *found = find_instance(t, args, nargs);
    if (found) return found->type;
    qs_status allowed = check_constraints(s->vm, home, t, args);
    if (allowed && !s->status) s->status = allowed;
    if (allowed) return NULL;
    Ctx *c = qvm_ctx(s->vm);
    const Type **kept = qmem_alloc(c, qmem_size((size_t)nargs, sizeof *kept, 0));
    memcpy(kept, args, (size_t)nargs * sizeof *kept);
    uint32_t at = t->ninstances++;
    TypeDef *def = t->def;
    Class *cls = new_class(s->vm, def, instance_name(s->vm, def, args, nargs));
    cls->type->generic = def;
    qmem_grow(c, &t->instances, &t->cap_instances, at, sizeof *t->instances);
    t->instances[at] = (ClassInstance){kept, nargs, cls};
    ClassParams params = {def, kept, nargs};
    const TypeHost host = {.ud = &params, .lookup = class_param};
    qs_status status = class_fields(s->vm, home, def, t->src, &host, cls->fields);
    if (status && !s->status) s->status = status;
    return cls->type;
}

const Type *qmodtype_instance(qs_vm *vm, Module *m, Str *generic, const Type **args, int nargs) {
    TypeScope s = {vm, m, NULL, QS_OK};
    const Type *t = instantiate(&s, generic, args, nargs);
    return s.status == QS_OK ? t : NULL;
}

ModType *qmodtype_generic_of(qs_vm *vm, const Class *cls, ClassInstance **instance) {
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

bool qmodtype_mentions_param(const TypeExpr *e, const Func *in) {
    if (!e) return false;
    if (e->name && is_type_param(in, e->name)) return true;
    if (qmodtype_mentions_param(e->base, in)) return true;
    for (int i = 0; i < e->nargs; i++)
        if (qmodtype_mentions_param(e->args[i], in)) return true;
    for (int i = 0; i < e->nouts; i++)
        if (qmodtype_mentions_param(e->outs[i], in)) return true;
    for (int i = 0; i < e->ndims; i++)
        if (e->dims[i]->kind == N_IDENT && is_type_param(in, e->dims[i]->u.ident.name)) return true;
    return false;
}

/* -- the types of a unit ------------------------------------------------------------------------------------------- */

void qmodtype_add(qs_vm *vm, Module *m, Unit *u) {
    qvm(vm)->types_defined++;
    for (int i = 0; i < u->ntypedefs; i++) {
        uint32_t at = m->ntypedefs++; /* an earlier definition is kept for existing objects */
        qmem_grow(qvm_ctx(vm), &m->typedefs, &m->cap_typedefs, at, sizeof *m->typedefs);
        qmap_set(&m->types, qvm_ctx(vm), u->typedefs[i]->name, at);
        m->typedefs[at] = (ModType){.def = u->typedefs[i], .src = u->src};
    }
}

qs_status qmodtype_resolve_all(qs_vm *vm, Module *m, Unit *u) {
    qs_status s = QS_OK;
    for (int i = 0; i < u->ntypedefs && !s; i++) {
        uint64_t at;
        if (!qmap_get(&m->types, u->typedefs[i]->name, &at)) continue;
        const Type *t = qmodtype_of(vm, m, &m->typedefs[at], &s);
        u->typedefs[i]->type = t;
    }
    return s;
}

void qmodtype_free(qs_vm *vm, ModType *t) {
    Ctx *c = qvm_ctx(vm);
    qvm(vm)->types_defined++;
    if (t->cls) qclass_free(vm, t->cls);
    for (uint32_t i = 0; i < t->ninstances; i++) {
        qclass_free(vm, t->instances[i].cls);
        qmem_free(c, t->instances[i].args, (size_t)t->instances[i].nargs * sizeof(Type *));
    }
    qmem_free(c, t->instances, t->cap_instances * sizeof *t->instances);
}
