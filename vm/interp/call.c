/* call.c -- selects the callee and arranges the arguments of a call: overloads, named and default arguments, type
 * parameters, constructors, methods. */
#include "lang/syntax/diag.h"
#include "vm/interp/frame.h"
#include "vm/interp/interp.h"
#include "vm/program/library.h"
#include "vm/program/modtype.h"
#include "vm/program/module.h"
#include "vm/program/names.h"
#include "vm/value/machine.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* -- parameters ---------------------------------------------------------------------------------------------------- */

typedef struct {
    qs_vm *vm;
    const Func *f;
} Resolving;

static qs_status resolve_type(void *ud, TypeExpr *e, const TypeHost *host, const Type **out) {
    const Resolving *r = ud;
    TypeMods mods = {0};
    return qmodtype_resolve(r->vm, qmod_of(r->f), e, r->f->unit->src, host, out, &mods);
}

bool qcall_declared(void *vm, const Func *f, const Param *p, Declared *out) {
    Resolving r = {vm, f};
    return qoverload_declared(qvm_ctx(vm), f, p, resolve_type, &r, out);
}

const Type *qvm_param_type(qs_vm *vm, const Func *f, int i) {
    Declared d;
    return i < f->nparams && qcall_declared(vm, f, &f->params[i], &d) && !d.open ? d.type : NULL;
}

static int param_named(const Func *f, const Str *name) {
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].name == name && !f->params[i].variadic) return i;
    return -1;
}

/* -- named arguments of built-ins: the names are taken from the signature, "var(x [, dim [, ddof]])" --------------- */

enum { MAX_NAMED = 64 };

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Returns the position of a parameter name in the text after "("; -1: not found.  A position may have several names
 * ("bins or edges").  A list ("[lo, hi]") has no name, nor have variadic arguments and all arguments behind them. */
static int slot_named(const char *p, const Str *name) {
    int slot = 0;
    for (; *p && *p != ')' && *p != '\n'; p++) {
        if (*p == ',') slot++;
        if (*p == '.' || *p == '"') return -1;
        if (*p == '[' && p[1] != ',') p += strcspn(p, "]\n") - 1;
        if (!in_word(*p)) continue;
        size_t n = 1;
        while (in_word(p[n])) n++;
        if (p[n] == '.') return -1;
        if (n == name->len && !memcmp(p, name->s, n)) return slot;
        p += n - 1;
    }
    return -1;
}

/* Returns the text behind the "(" of the next form of the signature after `from`, since there may be several: "mean(x)
 * or mean(x, dim)".  NULL: there is no further form. */
static const char *next_form(const qs_native_def *d, const char *from) {
    size_t n = strlen(d->name), line = from ? strcspn(from, "\n") : 0;
    for (const char *p = from; p && p + n < from + line; p++)
        if (!memcmp(p, d->name, n) && p[n] == '(') return p + n + 1;
    return NULL;
}

/* Returns whether the argument at a position of the text after "(" may be left out: it is in brackets that begin with a
 * comma, or the signature has [] for it, as in "min(x, [], dim)". */
static bool is_optional(const char *p, int slot) {
    int depth = 0;
    for (; *p && *p != ')' && *p != '\n'; p++) {
        if (*p == '[' && p[1] == ',') depth++;
        else if (*p == '[') p += strcspn(p, "]\n") - 1;
        else if (*p == ']') depth--;
        else if (*p == ',' && !--slot) return depth > 0 || !strncmp(p, ", []", 4);
    }
    return false;
}

/* Finds the positions of the named arguments in a form of the signature.  They must be distinct and behind the
 * positional arguments; every position without an argument before them must be optional.  Returns the number of
 * positions up to the last argument, or 0. */
static int places_in(const char *form, const CallArgs *a, int *place) {
    uint64_t taken = 0;
    int npos = a->nin - a->nnamed, n = a->nin;
    for (int i = 0; i < a->nnamed; i++) {
        int k = place[i] = slot_named(form, a->names[i]);
        if (k < npos || k >= npos + MAX_NAMED || (taken >> (k - npos) & 1)) return 0;
        taken |= (uint64_t)1 << (k - npos);
        if (k >= n) n = k + 1;
    }
    for (int k = npos; k < n; k++)
        if (!(taken >> (k - npos) & 1) && !is_optional(form, k)) return 0;
    return n;
}

static int native_places(const qs_native_def *d, const CallArgs *a, int *place) {
    if (a->nnamed > MAX_NAMED) return 0;
    int n = 0;
    for (const char *form = d->doc; !n && (form = next_form(d, form));) n = places_in(form, a, place);
    return n;
}

static qs_status misplaced(qs_vm *vm, const qs_native_def *d, const CallArgs *a) {
    int line = d->doc ? (int)strcspn(d->doc, "\n") : 0;
    if (!line) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s takes no named arguments", d->name);
    for (int i = 0; i < a->nnamed; i++) {
        bool known = false;
        for (const char *form = d->doc; (form = next_form(d, form));) known |= slot_named(form, a->names[i]) >= 0;
        if (!known)
            return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s has no argument %s: %.*s%s", d->name, a->names[i]->s, line,
                            d->doc, strcmp(a->names[i]->s, "dtype") ? "" : "; a conversion, uint8(x), gives the type");
    }
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: an argument is given twice, or one before %s is left out: %.*s",
                    d->name, a->names[a->nnamed - 1]->s, line, d->doc);
}

qs_status qcall_arrange_native(qs_vm *vm, const qs_native_def *d, const CallArgs *a, qs_value **args, int *nin) {
    Machine *m = qvm(vm);
    int place[MAX_NAMED], npos = a->nin - a->nnamed, n = native_places(d, a, place);
    if (!n) return misplaced(vm, d, a);
    qs_value *to = qframe_free_slot(m);
    if (to + n > m->stack_limit) return qframe_too_deep(vm);
    for (int i = 0; i < n; i++) qinterp_clear(vm, &to[i]);
    m->top = to + n;
    for (int i = 0; i < a->nin; i++) {
        to[i < npos ? i : place[i - npos]] = a->in[i];
        a->in[i] = qs_nil();
    }
    *args = to;
    *nin = n;
    return QS_OK;
}

/* -- overload resolution ------------------------------------------------------------------------------------------- */

static bool has_items(void *vm, const void *of, const Type *elem) {
    const Cell *c = of;
    for (size_t i = 0; i < c->count; i++)
        if (!qval_is_type(vm, c->items[i], elem)) return false;
    return true;
}

static bool function_takes(const void *of, int n) { return qval_takes(of, n); }
static bool foreign_takes(const void *of, int n) { return (void)n, ((const Foreign *)of)->ftype->call != NULL; }

/* Argument i counts as an integral number.  A traced number (QS_TRACED) does not. */
static bool is_integral(const CallArgs *a, int i) { return i < 64 && a->integral >> i & 1 && a->in[i].kind == QS_NUM; }

/* A kernel may take an array argument as an array of short vectors. */
static void describe_argument(qs_vm *vm, const CallArgs *a, int i, const LaunchRules *launch, GivenArg *out) {
    qs_value v = a->in[i];
    *out = (GivenArg){.type = qval_type(vm, v), .is_null = v.kind == QS_NIL, .integral = is_integral(a, i)};
    if (qval_is_object(v)) out->of = v.u.p;
    if (v.kind == QS_ARRAY) out->dims = ((const Array *)v.u.p)->dims;
    if (v.kind == QS_CELL) out->dims = ((const Cell *)v.u.p)->dims, out->items = has_items;
    if (v.kind == QS_FUNCTION) out->takes = function_takes;
    if (v.kind == QS_FOREIGN) out->takes = foreign_takes;
    const Class *cls = v.kind == QS_OBJECT ? ((const Object *)v.u.p)->cls : NULL;
    out->dynamic = v.kind == QS_OBJECT && (!cls || cls->kind == CLASS_DYNAMIC);
    out->is_flat = launch && v.kind == QS_ARRAY;
    out->fits_all = launch && launch->partial && v.kind == QS_NIL;
}

static Overload overload_of(const Function *fn) {
    if (fn->fkind == FN_SCRIPT) return (Overload){.func = fn->ast};
    if (fn->fkind == FN_NATIVE) return (Overload){NULL, fn->native->min_in, fn->native->max_in};
    return (Overload){NULL, 0, fn->fkind == FN_FOREIGN ? -1 : -2};
}

/* Returns whether the function accepts the argument names; for natives these are the names in the signature. */
static bool takes_names(const Function *fn, const CallArgs *a) {
    int place[MAX_NAMED];
    return fn->fkind != FN_NATIVE || !a->nnamed || native_places(fn->native, a, place);
}

/* Resolves a call among the members of a set; script: only among script functions. */
static Resolution resolve_overload(qs_vm *vm, const Function *set, bool script, const CallArgs *a,
                                   const GivenCall *call) {
    enum { FEW = 16 };
    Overload few[FEW], *all = few;
    size_t n = (size_t)set->nmembers;
    if (n > FEW) all = qmem_alloc(qvm_ctx(vm), qmem_size(n, sizeof *all, 0));
    for (size_t i = 0; i < n; i++) {
        all[i] = overload_of(set->members[i]);
        if (!takes_names(set->members[i], a) || (script && !all[i].func)) all[i].most = -2;
    }
    const Overloads o = {qvm_ctx(vm), all, set->nmembers, qcall_declared, vm};
    Resolution r = qoverload_choose(&o, call);
    if (all != few) qmem_free(qvm_ctx(vm), all, n * sizeof *all);
    return r;
}

/* -- cache of choices by the types of the arguments ---------------------------------------------------------------- */

static uint64_t address_bits(const void *p) { return (uint64_t)(uintptr_t)p; }

/* The choice depends on the numbers of arguments that a function takes, and on whether it is a kernel. */
static bool key_of_function(const Function *f, uint64_t *key) {
    int least, most;
    if (!qval_arity(f, &least, &most)) return false;
    bool kernel = f->fkind == FN_SCRIPT && f->ast->qual == Q_KERNEL;
    *key = (uint64_t)QS_FUNCTION << 56 | (uint64_t)kernel << 40 | (uint64_t)(least & 0xffff) << 16 | (most & 0xffff);
    return true;
}

/* Computes a key of all properties of argument i that a choice depends on, unless resolution has inspected the value
 * itself (GivenArg.looked), which for a function is part of the key.  false: such values have no key. */
static bool key_of(const CallArgs *a, int i, uint64_t *key) {
    qs_value v = a->in[i];
    switch ((qs_kind)v.kind) {
    case QS_NIL: *key = v.aux; break;
    case QS_NUM: *key = is_integral(a, i); break;
    case QS_ARRAY: *key = (uint64_t)((const Array *)v.u.p)->dtype << 8 | ((const Array *)v.u.p)->rank; break;
    case QS_OBJECT: *key = address_bits(((const Object *)v.u.p)->cls); break;
    case QS_CELL: *key = address_bits(((const Cell *)v.u.p)->elem) << 4 | ((const Cell *)v.u.p)->rank; break;
    case QS_FUNCTION: return key_of_function(v.u.p, key);
    case QS_BOOL:
    case QS_INT:
    case QS_COMPLEX:
    case QS_STRING:
    case QS_TYPE: *key = 0; break;
    default: return false;
    }
    *key |= (uint64_t)v.kind << 56;
    return true;
}

/* Computes the keys of the arguments and of the names; false: the call cannot be cached. */
static bool key_call(const CallArgs *a, uint64_t *key) {
    if (a->nin + a->nnamed > MOST_KEYS) return false;
    for (int i = 0; i < a->nin; i++)
        if (!key_of(a, i, &key[i])) return false;
    for (int i = 0; i < a->nnamed; i++) key[a->nin + i] = address_bits(a->names[i]); /* names are interned for good */
    return true;
}

static inline Chosen *find_chosen(qs_vm *vm, const Function *set, const CallArgs *a, bool launch, const uint64_t *key) {
    int n = a->nin + a->nnamed;
    Choices *c = set->choices;
    for (int i = 0; c && c->types == qvm(vm)->types_defined && i < MOST_CHOSEN; i++) {
        Chosen *x = &c->at[i];
        bool same = x->fn && x->n == a->nin && x->nnamed == a->nnamed && x->launch == launch;
        for (int k = 0; k < n && same; k++) same = x->key[k] == key[k];
        if (same) return x;
    }
    return NULL;
}

static void save_choice(qs_vm *vm, Function *set, const CallArgs *a, bool launch, const uint64_t *key, Function *fn) {
    Choices *c = set->choices;
    if (!c) c = set->choices = qmem_alloc(qvm_ctx(vm), sizeof *c);
    if (c->types != qvm(vm)->types_defined) *c = (Choices){.types = qvm(vm)->types_defined};
    Chosen *x = &c->at[c->next++ % MOST_CHOSEN];
    *x = (Chosen){.n = a->nin, .nnamed = a->nnamed, .launch = launch, .fn = fn};
    memcpy(x->key, key, (size_t)(a->nin + a->nnamed) * sizeof *key);
}

static qs_status no_overload(qs_vm *vm, const Function *set, const CallArgs *a) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    for (int i = 0; i < a->nin; i++) qtext_printf(&t, "%s%s", i ? ", " : "", qval_type_name(vm, a->in[i]));
    qs_status s = qerr_set(qvm_ctx(vm), QS_ETYPE, "no %s takes the arguments (%s)", set->name->s, t.s ? t.s : "");
    qtext_free(&t);
    return s;
}

bool qcall_tie(qs_vm *vm, const Function *set, const CallArgs *a, const GivenCall *call, const Func **chosen,
               const Func **other) {
    Resolution r = resolve_overload(vm, set, false, a, call);
    if (r.tie < 0) return false;
    *chosen = set->members[r.index]->ast, *other = set->members[r.tie]->ast;
    return *chosen && *other;
}

static qs_status select_anew(qs_vm *vm, const Function *set, const CallArgs *a, const LaunchRules *launch,
                             Function **out, bool *looked) {
    enum { FEW = 16 };
    GivenArg few[FEW], *given = few;
    size_t n = (size_t)a->nin;
    if (n > FEW) given = qmem_alloc(qvm_ctx(vm), qmem_size(n, sizeof *given, 0));
    for (int i = 0; i < a->nin; i++) describe_argument(vm, a, i, launch, &given[i]);
    GivenCall call = {.at = given, .n = a->nin, .names = a->names, .nnamed = a->nnamed, .ud = vm};
    if (launch) call.skips = launch->skips, call.partial = launch->partial;
    Resolution r = resolve_overload(vm, set, launch != NULL, a, &call);
    for (int i = 0; i < a->nin; i++) *looked |= given[i].looked && a->in[i].kind != QS_FUNCTION;
    if (given != few) qmem_free(qvm_ctx(vm), given, n * sizeof *given);
    if (r.index < 0) return no_overload(vm, set, a);
    return *out = set->members[r.index], QS_OK;
}

qs_status qcall_select(qs_vm *vm, Function *set, const CallArgs *a, const LaunchRules *launch, Function **out) {
    uint64_t key[MOST_KEYS];
    bool keyed = !(launch && launch->partial) && key_call(a, key), looked = false;
    Chosen *known = keyed ? find_chosen(vm, set, a, launch != NULL, key) : NULL;
    if (known) return *out = known->fn, QS_OK;
    TRY(select_anew(vm, set, a, launch, out, &looked));
    if (keyed && !looked) save_choice(vm, set, a, launch != NULL, key, *out);
    return QS_OK;
}

/* -- arguments to parameters --------------------------------------------------------------------------------------- */

static qs_status misnamed(qs_vm *vm, const Func *f, const Str *name, bool twice) {
    if (twice) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: argument %s is given twice", f->name->s, name->s);
    Nearest near = {.wanted = name->s};
    for (int i = 0; i < f->nparams; i++) qstr_offer(&near, f->params[i].name->s);
    if (near.best)
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s has no argument %s; did you mean %s?", f->name->s, name->s,
                        near.best);
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s has no argument %s", f->name->s, name->s);
}

static qs_status too_many(qs_vm *vm, const char *name, int most, int got) {
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s takes %s%d argument%s, got %d", name, most ? "at most " : "", most,
                    most == 1 ? "" : "s", got);
}

qs_status qcall_count(qs_vm *vm, const qs_native_def *d, int nin) {
    if (nin >= d->min_in && (d->max_in < 0 || nin <= d->max_in)) return QS_OK;
    const char *some = d->max_in < 0            ? "at least "
                       : d->min_in == d->max_in ? ""
                       : nin < d->min_in        ? "at least "
                                                : "at most ";
    int n = nin < d->min_in ? d->min_in : d->max_in;
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s takes %s%d argument%s, got %d", d->name, some, n, n == 1 ? "" : "s",
                    nin);
}

/* Moves n positional arguments into a cell, the value of a variadic parameter. */
static qs_status pack_rest(qs_vm *vm, qs_value *from, int n, qs_value *out) {
    Cell *c;
    int64_t dims[1] = {n};
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, dims, &c));
    for (int i = 0; i < n; i++) {
        c->items[i] = from[i];
        from[i] = qs_nil();
    }
    *out = qval_object(QS_CELL, c);
    return QS_OK;
}

static qs_status place_named(qs_vm *vm, const Func *f, const CallArgs *a, qs_value *values) {
    for (int i = 0; i < a->nnamed; i++) {
        int p = param_named(f, a->names[i]);
        if (p < 0 || !qval_is_unset(a->in[p])) return misnamed(vm, f, a->names[i], p >= 0);
        a->in[p] = values[i];
        values[i] = qs_nil();
    }
    return QS_OK;
}

static qs_status missing_argument(qs_vm *vm, const Func *f, int i) {
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: argument %s is missing", f->name->s, f->params[i].name->s);
}

static qs_status fits_script(qs_vm *vm, const Func *f, const CallArgs *a) {
    uint64_t given = 0;
    int npos = a->nin - a->nnamed, fixed = f->nparams - qast_is_variadic(f);
    if (npos > fixed && !qast_is_variadic(f)) return too_many(vm, f->name->s, fixed, npos);
    if (fixed > MAX_NAMED) return QS_OK;
    for (int i = 0; i < a->nnamed; i++) {
        int p = param_named(f, a->names[i]);
        if (p < npos || given >> p & 1) return misnamed(vm, f, a->names[i], p >= 0);
        given |= (uint64_t)1 << p;
    }
    for (int i = npos; i < fixed; i++)
        if (!(given >> i & 1) && !f->params[i].init) return missing_argument(vm, f, i);
    return QS_OK;
}

static qs_status fits_any(qs_vm *vm, const Function *set, const CallArgs *a) {
    for (int i = 0; i < set->nmembers; i++) {
        qs_status s = qcall_fits(vm, set->members[i], a);
        if (s == QS_OK || set->cls) return qerr_clear(qvm_ctx(vm)), QS_OK;
        if (set->nmembers == 1) return s;
        qerr_clear(qvm_ctx(vm));
    }
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "no %s takes %d argument%s%s", set->name->s, a->nin, a->nin == 1 ? "" : "s",
                    a->nnamed ? " of these names" : "");
}

qs_status qcall_fits(qs_vm *vm, const Function *fn, const CallArgs *a) {
    int place[MAX_NAMED];
    if (fn->fkind == FN_SCRIPT) return fits_script(vm, fn->ast, a);
    if (fn->fkind == FN_SET) return fits_any(vm, fn, a);
    if (fn->fkind != FN_NATIVE) return QS_OK;
    TRY(qcall_count(vm, fn->native, a->nin));
    return a->nnamed && !native_places(fn->native, a, place) ? misplaced(vm, fn->native, a) : QS_OK;
}

/* The stack has room for all parameters behind a->in (STACK_SLACK).  On failure the slots still own their values. */
qs_status qcall_arrange(qs_vm *vm, Function *fn, const CallArgs *a) {
    const Func *f = fn->ast;
    qs_value *args = a->in;
    int nnamed = a->nnamed, npos = a->nin - nnamed, fixed = f->nparams - qast_is_variadic(f);
    qs_value named[MAX_NAMED], rest = qs_nil();
    if (nnamed > MAX_NAMED)
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: more than %d named arguments", f->name->s, MAX_NAMED);
    if (npos > fixed && !qast_is_variadic(f)) return too_many(vm, f->name->s, fixed, npos);
    if (qast_is_variadic(f)) TRY(pack_rest(vm, args + fixed, npos > fixed ? npos - fixed : 0, &rest));
    for (int i = 0; i < nnamed; i++) {
        named[i] = args[npos + i];
        args[npos + i] = qs_nil();
    }
    for (int i = npos; i < fixed; i++) qinterp_put(vm, &args[i], qval_unset());
    if (qast_is_variadic(f)) qinterp_put(vm, &args[fixed], rest);
    qs_status s = place_named(vm, f, a, named);
    for (int i = 0; i < nnamed; i++) qval_release(vm, named[i]);
    if (s != QS_OK) return s;
    for (int i = 0; i < fixed; i++)
        if (qval_is_unset(args[i]) && !f->params[i].init) return missing_argument(vm, f, i);
    return QS_OK;
}

/* -- type parameters ----------------------------------------------------------------------------------------------- */

typedef struct {
    Frame *frame;
    qs_vm *vm;
} Bindings;

static qs_value *binding(Frame *f, const Str *name) {
    const Func *fn = f->proto->func;
    for (int i = 0; i < fn->ntyparams; i++)
        if (fn->typarams[i] == name) return &f->base[fn->nlocals + i];
    return NULL;
}

static const Type *bound_type(void *ud, Str *name) {
    const Bindings *b = ud;
    qs_value *v = binding(b->frame, name);
    return v && v->kind == QS_TYPE ? ((TypeValue *)v->u.p)->type : NULL;
}

static bool bound_number(void *ud, Str *name, double *out) {
    const Bindings *b = ud;
    qs_value *v = binding(b->frame, name);
    if (!v || !qval_is_number(*v)) return false;
    *out = qval_number(*v);
    return true;
}

qs_status qcall_type(qs_vm *vm, Frame *f, TypeExpr *e, const Type **out) {
    Bindings b = {f, vm};
    const TypeHost host = {.ud = &b, .lookup = bound_type, .constant = bound_number};
    const Func *fn = f->proto->func;
    TypeMods mods = {0};
    return qmodtype_resolve(vm, qmod_of(fn), e, fn->unit->src, &host, out, &mods);
}

static void bind_type(qs_vm *vm, Frame *f, const Str *name, const Type *t) {
    qs_value *slot = binding(f, name);
    if (slot && slot->kind == QS_NIL) qinterp_put(vm, slot, qobj_type(vm, t, (TypeMods){0}));
}

/* Binds the type parameters in the type expression e so that it matches type t. */
static void unify(qs_vm *vm, Frame *f, const TypeExpr *e, const Type *t) {
    ClassInstance *instance = NULL;
    switch (e->kind) {
    case TE_NAME: bind_type(vm, f, e->name, t); break;
    case TE_ARRAY:
        if (t->kind == TY_ARRAY && e->nargs == 1) unify(vm, f, e->args[0], t->inner);
        else if (t->kind == TY_CLASS && t->cls && qmodtype_generic_of(vm, t->cls, &instance))
            for (int i = 0; i < e->nargs && i < instance->nargs; i++) unify(vm, f, e->args[i], instance->args[i]);
        break;
    case TE_PTR:
        if (e->base) unify(vm, f, e->base, t->kind == TY_PTR ? t->inner : t);
        break;
    case TE_FIXED:
    case TE_RANK:
        if (e->base) unify(vm, f, e->base, t);
        break;
    default: break;
    }
}

/* Binds the N of vec(N) to the extent of the value. */
static void unify_dims(qs_vm *vm, Frame *f, const TypeExpr *e, qs_value v) {
    if (e->kind != TE_FIXED || v.kind != QS_ARRAY) return;
    const Array *a = v.u.p;
    for (int i = 0; i < e->ndims && i < a->rank; i++) {
        qs_value *slot = e->dims[i]->kind == N_IDENT ? binding(f, e->dims[i]->u.ident.name) : NULL;
        if (slot && slot->kind == QS_NIL) qinterp_put(vm, slot, qs_num((double)a->dims[i]));
    }
}

static qs_status check_constraint(qs_vm *vm, Frame *f, int i) {
    const Func *fn = f->proto->func;
    const qs_value *bound = binding(f, fn->typarams[i]);
    const Type *t = bound->kind == QS_TYPE ? ((TypeValue *)bound->u.p)->type : NULL, *limit;
    TypeMods mods;
    if (!t || !fn->constraints || !fn->constraints[i]) return QS_OK;
    TRY(qmodtype_resolve(vm, qmod_of(fn), fn->constraints[i], fn->unit->src, NULL, &limit, &mods));
    if (qoverload_is_within(t, limit)) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: type parameter %s must be %s, got %s", fn->name->s, fn->typarams[i]->s,
                    qtype_name(limit), qtype_name(t));
}

qs_status qcall_bind_types(qs_vm *vm, Frame *f, int first) {
    const Func *fn = f->proto->func;
    for (int i = 0; i < fn->ntyparams; i++) qinterp_clear(vm, &f->base[first + i]);
    for (int i = 0; i < fn->nparams; i++) {
        const Param *p = &fn->params[i];
        if (!p->type || qval_is_unset(f->base[i])) continue;
        unify(vm, f, p->type, qval_type(vm, f->base[i]));
        unify_dims(vm, f, p->type, f->base[i]);
    }
    for (int i = 0; i < fn->ntyparams; i++) TRY(check_constraint(vm, f, i));
    for (int i = 0; i < fn->ntyparams; i++) bind_type(vm, f, fn->typarams[i], qtype_any(qvm_ctx(vm)));
    return QS_OK;
}

qs_status qcall_type_value(qs_vm *vm, const Type *t, TypeMods mods, qs_value *out) {
    *out = qobj_type(vm, t, mods);
    return QS_OK;
}

/* -- constructors -------------------------------------------------------------------------------------------------- */

static qs_status fill_fields(qs_vm *vm, Object *o, const CallArgs *a) {
    const Class *cls = o->cls;
    int npos = a->nin - a->nnamed;
    if (npos > cls->nfields) return too_many(vm, cls->name->s, cls->nfields, npos);
    for (int i = 0; i < a->nin; i++)
        TRY(qobj_init(vm, o, i < npos ? cls->fields[i].name : a->names[i - npos], a->in[i]));
    return QS_OK;
}

static qs_status construct(qs_vm *vm, Class *cls, const CallArgs *a, qs_value *out) {
    Object *o;
    TRY(qobj_new(vm, cls, &o));
    qs_status s = fill_fields(vm, o, a);
    if (s == QS_OK) *out = qval_object(QS_OBJECT, o);
    else qval_release(vm, qval_object(QS_OBJECT, o));
    return s;
}

/* -- calls of values that are not functions ------------------------------------------------------------------------ */

qs_status qcall_foreign(qs_vm *vm, Foreign *f, Str *method, const CallArgs *a, int nout, qs_value *out, bool *found) {
    qs_value strings[MAX_NAMED];
    if (!method && !f->ftype->call) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s cannot be called", f->ftype->name);
    if (a->nnamed > MAX_NAMED) return qerr_set(qvm_ctx(vm), QS_EVALUE, "more than %d named arguments", MAX_NAMED);
    for (int i = 0; i < a->nnamed; i++) strings[i] = qval_object(QS_STRING, a->names[i]);
    qs_call_args c = {a->nin, nout, a->in, out, a->nnamed, strings, method ? method->s : f->ftype->name};
    if (method) return f->ftype->method(vm, f->p, qval_object(QS_STRING, method), &c, found);
    return f->ftype->call(vm, f->p, &c);
}

static bool is_variable(const Func *f, Str *name) {
    for (int i = 0; i < f->nlocals; i++)
        if (f->locals[i]->name == name) return true;
    return qmap_at(&qmod_of(f)->names, name) != NULL;
}

/* Returns the name at the current source location if it is a variable that hides a built-in or library function; else
 * NULL. */
static const Str *hidden(qs_vm *vm) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    Where w = qvm_here(vm);
    if (!w.src) return NULL;
    const char *at = w.src->text + w.pos;
    Str *name = qstr_name(qvm_ctx(vm), at, strspn(at, letters));
    const Func *f = qvm(vm)->nframes ? qframe_current(vm)->fn->ast : NULL;
    if (!f || !is_variable(f, name)) return NULL;
    return qmap_at(&qvm(vm)->builtins, name) || qlibrary_home(vm, name) ? name : NULL;
}

static qs_status not_callable(qs_vm *vm, qs_value callee) {
    bool indexed = callee.kind == QS_ARRAY || callee.kind == QS_CELL;
    const Str *name = hidden(vm);
    if (callee.kind == QS_NIL)
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "null cannot be called; the null space of a matrix is null_space(A)");
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s cannot be called%s%s%s%s", qval_type_name(vm, callee),
                    name ? ": the variable " : "", name ? name->s : "", name ? " hides the function" : "",
                    indexed ? "; elements are read with brackets: x[i]" : "");
}

qs_status qcall_other(qs_vm *vm, qs_value callee, const CallArgs *a, int nout, qs_value *out) {
    if (callee.kind == QS_FOREIGN) return qcall_foreign(vm, callee.u.p, NULL, a, nout, out, NULL);
    if (callee.kind == QS_TYPE) {
        const TypeValue *t = callee.u.p;
        if (t->cls) return construct(vm, t->cls, a, out);
        if (a->nnamed) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s takes no named arguments", qtype_name(t->type));
        return qval_construct(vm, t->type, a->nin, a->in, out);
    }
    return not_callable(vm, callee);
}

/* -- methods ------------------------------------------------------------------------------------------------------- */

static qs_status no_method(qs_vm *vm, Module *m, qs_value v, const Str *name) {
    Nearest near = {.wanted = name->s};
    if (v.kind == QS_OBJECT) {
        Str *field;
        qs_value x;
        for (uint32_t i = 0; qobj_field(v.u.p, i, &field, &x); i++)
            if (field) qstr_offer(&near, field->s);
    }
    const char *habit = near.best ? NULL : qdiag_habit(name->s, name->len);
    if (habit)
        return qerr_set(qvm_ctx(vm), QS_ENAME, "%s has no function %s: %s", qval_type_name(vm, v), name->s, habit);
    if (!near.best) qnames_offer(vm, m, &near);
    char hint[160] = "";
    if (near.best) snprintf(hint, sizeof hint, "; did you mean %s?", near.best);
    return qerr_set(qvm_ctx(vm), QS_ENAME, "%s has no field or function %s%s", qval_type_name(vm, v), name->s, hint);
}

qs_status qcall_method(qs_vm *vm, Func *from, qs_value v, Str *name, FieldCache *cache, qs_value *fn, bool *is_field) {
    Module *m = qmod_of(from);
    if (v.kind == QS_OBJECT && qobj_has(v.u.p, name)) return *is_field = true, qobj_get(vm, v.u.p, name, fn);
    *is_field = false;
    const qs_foreign_type *t = v.kind == QS_FOREIGN ? ((Foreign *)v.u.p)->ftype : NULL;
    int slot = qnames_lookup(vm, m, name);
    bool function = slot >= 0 && qvm_global(vm, (uint64_t)slot)->kind == QS_FUNCTION;
    if (t && t->get && !function) {
        *is_field = true;
        return t->get(vm, ((Foreign *)v.u.p)->p, qval_object(QS_STRING, name), fn);
    }
    if (t && t->get) { /* an attribute takes precedence over a function of the same name */
        ErrorState kept = qvm_ctx(vm)->err;
        *is_field = t->get(vm, ((Foreign *)v.u.p)->p, qval_object(QS_STRING, name), fn) == QS_OK;
        if (*is_field) return QS_OK;
        qval_release(vm, qvm_ctx(vm)->err.payload);
        qvm_ctx(vm)->err = kept;
    }
    if (!function) TRY(qmod_autoload(vm, m, from->unit, name, &slot));
    if (slot < 0) return no_method(vm, m, v, name);
    const Class *cls = v.kind == QS_OBJECT ? ((Object *)v.u.p)->cls : NULL;
    if (cls && cls->kind != CLASS_DYNAMIC) *cache = (FieldCache){cls, (uint32_t)slot};
    *fn = qval_retain(*qvm_global(vm, (uint64_t)slot));
    return QS_OK;
}
