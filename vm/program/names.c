/* names.c -- manages global slots and resolves names: first in the module, then in its imports (later ones first), then
 * among the built-ins.
 *
 * Functions of the same name are joined into a set; a variable hides the later candidates. */
#include "vm/program/names.h"
#include "lang/syntax/diag.h"
#include "vm/value/machine.h"

#include "vm/program/library.h"
#include "vm/program/unload.h"
#include "vm/value/hooks.h"

#include <string.h>

/* -- global slots -------------------------------------------------------------------------------------------------- */

enum { CELLS = 256 };
typedef struct GlobalCells {
    struct GlobalCells *next;
    qs_value at[CELLS];
} GlobalCells; /* the cells never move */

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
    m->global_names =
        qmem_resize(qvm_ctx(vm), m->global_names, cap * sizeof(Str *), qmem_size(m->cap_globals, sizeof(Str *), 0));
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

int qnames_slot(qs_vm *vm, Module *m, Str *name) {
    uint64_t slot;
    if (qmap_get(&m->names, name, &slot)) return (int)slot;
    if (!qunload_adopt(vm, m, name, &slot)) slot = (uint64_t)new_global(vm, name);
    qmap_set(&m->names, qvm_ctx(vm), name, slot);
    return (int)slot;
}

/* -- lookup -------------------------------------------------------------------------------------------------------- */

static void add_function(Meaning *w, int slot) {
    qs_value v = *qvm_global(w->vm, (uint64_t)slot);
    if (v.kind != QS_FUNCTION) return;
    qmem_grow(qvm_ctx(w->vm), &w->functions, &w->cap, w->n, sizeof(Function *));
    w->functions[w->n++] = v.u.p;
}

static bool meaning_in(void *ud, Module *m) {
    Meaning *w = ud;
    uint64_t slot;
    if (!qmap_get(&m->names, w->name, &slot)) return false;
    if (w->first < 0) w->first = (int)slot;
    if (qvm_global(w->vm, (uint64_t)w->first)->kind != QS_FUNCTION)
        return true; /* a variable hides the later candidates */
    add_function(w, (int)slot);
    return false;
}

static void add_builtin(Meaning *w) {
    uint64_t slot;
    if (!qmap_get(&qvm(w->vm)->builtins, w->name, &slot)) return;
    if (w->first < 0) w->first = (int)slot;
    add_function(w, (int)slot);
}

Meaning qnames_outside(qs_vm *vm, Module *m, Str *name) {
    Meaning w = {.vm = vm, .name = name, .first = -1};
    qmod_over_imports(vm, m, meaning_in, &w);
    if (w.n > 0 || w.first < 0) add_builtin(&w);
    return w;
}

void qnames_forget(Meaning *w) {
    qmem_free(qvm_ctx(w->vm), w->functions, w->cap * sizeof(Function *));
    w->functions = NULL, w->n = w->cap = 0;
}

/* Returns whether `general` accepts every call that `special` accepts and so hides it, because it has precedence. */
static bool covers_native(const Function *general, const Function *special) {
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

Function *qnames_set(qs_vm *vm, Str *name, Function **functions, int n) {
    Function *set = qfn_set(vm, name);
    for (int i = n; i-- > 0;) add_members(vm, set, functions[i]);
    return set;
}

qs_value qnames_joined(qs_vm *vm, Str *name, Function **functions, int n) {
    while (n > 1 && functions[0]->fkind == FN_SCRIPT && covers_native(functions[0], functions[n - 1])) n--;
    if (n == 1) return qval_retain(qval_object(QS_FUNCTION, functions[0]));
    return qval_object(QS_FUNCTION, qnames_set(vm, name, functions, n));
}

/* Values in Module.joined: twice the global slot of the joined set, plus STALE if it must be joined again. */
enum { STALE = 1 };

void qnames_joined_again(Module *m) {
    for (uint32_t i = 0; i < m->joined.n; i++) m->joined.entries[i].val |= STALE;
}

void qnames_rejoin(qs_vm *vm, Module *m) {
    for (uint32_t i = 0; i < m->joined.n; i++)
        if (m->joined.entries[i].val & STALE) (void)qnames_lookup(vm, m, m->joined.entries[i].key);
}

int qnames_lookup(qs_vm *vm, Module *m, Str *name) {
    uint64_t slot, joined = 0;
    Str *member;
    const Module *named = qmod_of_member(vm, m, name, &member);
    if (named) return qmap_get(&named->names, member, &slot) ? (int)slot : -1;
    if (qmap_get(&m->names, name, &slot)) return (int)slot;
    bool before = qmap_get(&m->joined, name, &joined);
    if (before && !(joined & STALE)) return (int)(joined / 2);
    Meaning w = qnames_outside(vm, m, name);
    /* unset: readers continue the lookup */
    if (w.n <= 1 && before) qinterp_put(vm, qvm_global(vm, joined / 2), qval_unset());
    if (w.n <= 1) return qnames_forget(&w), w.first;
    slot = before ? joined / 2 : (uint64_t)new_global(vm, name);
    qinterp_put(vm, qvm_global(vm, slot), qnames_joined(vm, name, w.functions, (int)w.n));
    qnames_forget(&w);
    qmap_set(&m->joined, qvm_ctx(vm), name, 2 * slot);
    return (int)slot;
}

qs_value qnames_value(qs_vm *vm, Module *m, int slot) {
    qs_value own = *qvm_global(vm, (uint64_t)slot);
    if (!qval_is_unset(own)) return qval_retain(own);
    Meaning w = qnames_outside(vm, m, qvm(vm)->global_names[slot]);
    qnames_forget(&w);
    return w.first < 0 ? own : qval_retain(*qvm_global(vm, (uint64_t)w.first));
}

qs_status qnames_no_value(qs_vm *vm, const char *name) {
    return qerr_set(qvm_ctx(vm), QS_ENAME, "%s is used before it has a value", name);
}

qs_status qnames_unset(qs_vm *vm, Module *m, int slot, qs_value *out) {
    *out = qnames_value(vm, m, slot);
    return qval_is_unset(*out) ? qnames_no_value(vm, qvm(vm)->global_names[slot]->s) : QS_OK;
}

void qnames_in(const Map *map, const NameVisitor *v) {
    for (uint32_t i = 0; i < map->n; i++)
        if (!qast_is_initial_name(map->entries[i].key) && map->entries[i].key->s[0] != '$') /* only syntax calls $f */
            v->f(v->ud, map->entries[i].key->s);
}

static bool visit_names_of(void *ud, Module *m) {
    qnames_in(&m->names, ud);
    qnames_in(&m->types, ud);
    return false;
}

void qnames_each(qs_vm *vm, Module *m, void (*f)(void *ud, const char *name), void *ud) {
    NameVisitor v = {f, ud};
    visit_names_of(&v, m);
    qmod_over_imports(vm, m, visit_names_of, &v);
    qnames_in(&qvm(vm)->builtins, &v);
}

bool qnames_offer(qs_vm *vm, Module *m, Nearest *near) {
    qnames_each(vm, m, qstr_offer, near);
    const LibDoc *same = qlibrary_hooks(vm)->called_elsewhere(near->wanted);
    if (same) near->best = same->name, near->instead = same->signature;
    const char *path = qlibrary_home(vm, qstr_cname(qvm_ctx(vm), near->wanted));
    if (path) near->best = NULL, near->home = strrchr(path, '/') + 1;
    else if (!near->best) qlibrary_names(vm, qstr_offer, near);
    return near->best || near->home;
}

qs_status qnames_unknown(qs_vm *vm, Module *m, const char *name) {
    Nearest near = {.wanted = name};
    Ctx *c = qvm_ctx(vm);
    (void)qnames_offer(vm, m, &near);
    Text text;
    qtext_init(&text, c);
    qdiag_unknown_name(&near, false, &text);
    qerr_set(c, QS_ENAME, "%s", text.s);
    return qtext_free(&text), QS_ENAME;
}

void qnames_close(qs_vm *vm) {
    Machine *m = qvm(vm);
    Ctx *c = qvm_ctx(vm);
    qmap_free(&m->builtins, c);
    qmap_free(&m->library, c);
    qmem_free(c, m->globals, m->cap_globals * sizeof *m->globals);
    for (GlobalCells *cells = m->cells, *next; cells; cells = next) {
        next = cells->next;
        qmem_free(c, cells, sizeof *cells);
    }
    qmem_free(c, m->global_names, m->cap_globals * sizeof *m->global_names);
}
