#include "vm/program/unload.h"

#include "lang/syntax/parse.h"
#include "vm/value/hooks.h"
#include "vm/value/machine.h"

#include <string.h>

/* -- freeing ------------------------------------------------------------------------------------------------------- */

/* Types and rules are referenced by address from other programs. */
static bool is_freeable(const Unit *u) { return !u->loose && !u->ntypedefs && !u->nreductions; }

void qunload_unit(qs_vm *vm, Unit *u) {
    if (!is_freeable(u)) return;
    u->loose = true;
    if (u->functions > 0) return;
    u->next_dead = qvm(vm)->dead_units;
    qvm(vm)->dead_units = u;
}

void qunload_module(qs_vm *vm, Module *m) {
    if (m->state < MOD_FAILED) { /* a finalizer replaced the module before it had run */
        m->left = true;
        return;
    }
    Function *main = m->main;
    m->main = NULL;
    for (uint32_t i = 0; i < m->nunits; i++) qunload_unit(vm, m->units[i]);
    if (main) qval_release(vm, qval_object(QS_FUNCTION, main));
}

static void leave_module(Module *m, const Unit *u) {
    uint32_t i = m->nunits;
    while (i-- > 0 && m->units[i] != u) {}
    memmove(&m->units[i], &m->units[i + 1], (--m->nunits - i) * sizeof(Unit *));
}

static void free_unit(qs_vm *vm, Unit *u) {
    Module *m = u->module;
    Source *src = u->src;
    qinterp_hooks(vm)->drop_unit(vm, u);
    qlaunch_hooks(vm)->kernel_forget(vm, u);
    leave_module(m, u);
    qparse_free(u);
    qsource_drop(qvm_ctx(vm), src);
    if (m != qvm(vm)->session && m->nunits == 0) qmod_free(vm, m);
}

/* Freeing code releases values, which may be the last functions of other programs; the list may grow meanwhile. */
void qunload_sweep(qs_vm *vm) {
    Machine *v = qvm(vm);
    /* The error may refer to one of these units. */
    while (v->dead_units && v->base.err.status == QS_OK && !v->base.owed) {
        Unit *u = v->dead_units;
        v->dead_units = u->next_dead;
        free_unit(vm, u);
    }
}

/* -- slots --------------------------------------------------------------------------------------------------------- */

void qunload_inherit(Module *m, Module *old) {
    if (old && old->state >= MOD_FAILED && old->ntypedefs == 0) m->heir_of = old;
}

bool qunload_adopt(qs_vm *vm, Module *m, Str *name, uint64_t *slot) {
    if (!m->heir_of || !qmap_get(&m->heir_of->names, name, slot)) return false;
    qmem_grow(qvm_ctx(vm), &m->adopted, &m->cap_adopted, m->nadopted, sizeof *m->adopted);
    qs_value *at = qvm_global(vm, *slot);
    m->adopted[m->nadopted++] = (Adopted){*slot, *at};
    *at = qval_unset();
    return true;
}

/* Releases old values only after all slots are set: a finalizer may compile the same module again. */
void qunload_settle(qs_vm *vm, Module *m, bool taken) {
    Adopted *list = m->adopted;
    uint32_t n = m->nadopted, cap = m->cap_adopted;
    m->adopted = NULL, m->nadopted = m->cap_adopted = 0;
    m->heir_of = NULL;
    for (uint32_t i = 0; !taken && i < n; i++) {
        qs_value *at = qvm_global(vm, list[i].slot), now = *at;
        *at = list[i].before;
        list[i].before = now;
    }
    for (uint32_t i = 0; i < n; i++) qval_release(vm, list[i].before);
    qmem_free(qvm_ctx(vm), list, cap * sizeof *list);
}
