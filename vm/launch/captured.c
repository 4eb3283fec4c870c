/* captured.c -- finds the captured values of a specialization.
 *
 * An entry may be contained in another one, such as a captured variable of a function or a field of an object.  It
 * has a higher index than its container.  Keys are compared in that order at each run: the key of the container
 * guarantees that the inner value exists. */
#include "vm/launch/spec_key.h"
#include "vm/value/machine.h"
#include "vm/value/trace.h"

#include <math.h>

static qs_value get_field(const Object *o, uint32_t index, const Str *name) {
    Str *found;
    qs_value v;
    bool has = qobj_field(o, index, &found, &v);
    return has && found && (found == name || qstr_equal(found, name)) ? v : qval_unset();
}

/* Returns c[number]; unset if there is no such item. */
static qs_value get_item(const Cell *c, double number) {
    bool row = c->rank == 1 || (c->rank == 2 && c->dims[0] == 1);
    bool has = row && number >= 0 && number < (double)c->count && number == floor(number);
    return has ? c->items[(size_t)number] : qval_unset();
}

qs_value qcaptured_given(qs_vm *vm, const Captured *e, const Site *s, const qs_value *before) {
    const void *parent = e->parent >= 0 ? before[e->parent].u.p : s->fn;
    switch ((From)e->from) {
    case FROM_FUNCTION: return qval_object(QS_FUNCTION, s->fn);
    case FROM_LOCAL: return s->locals[e->index];
    case FROM_GLOBAL: return *qvm_global(vm, (uint64_t)e->index);
    case FROM_CAPTURE: return ((const Function *)parent)->captures[e->index];
    case FROM_FIELD: return get_field(parent, (uint32_t)e->index, e->name);
    case FROM_ITEM: return get_item(parent, e->index < 0 ? -1.0 - e->index : qval_number(before[e->index]));
    case FROM_MEMBER: return qval_object(QS_FUNCTION, ((const Function *)parent)->members[e->index]);
    }
    return qs_nil();
}

qs_value qcaptured_value(qs_vm *vm, const Captured *e, const Site *s, const qs_value *before) {
    qs_value v = qcaptured_given(vm, e, s, before);
    return v.kind == QS_TRACED ? qkey_smooth(qtape_plain(v)) : v;
}

/* Compiles in how many channels the pixels of an image have, or coordinates the points of a list, so that accesses to
 * them have a constant stride.  Code that is compiled after several specializations is for any number (e->many), since
 * the numbers of k arrays have very many combinations. */
static void know_channels(qs_vm *vm, Captured *x, const Array *a) {
    int64_t n = a->rank > 1 && a->contiguous ? a->dims[a->rank - 1] : 0;
    if (n >= 2 && n <= qkey_channels(vm)) qkey_know_extent(x, a, a->rank - 1);
}

int qcaptured_add(CapturedList *e, From from, int parent, int index, const Str *name) {
    for (int i = 0; i < e->n; i++)
        if (e->at[i].from == from && e->at[i].parent == parent && e->at[i].index == index) return i;
    if (e->n == MAX_ENTRIES) return -1;
    Captured *x = &e->at[e->n];
    *x = (Captured){.from = (uint8_t)from, .parent = parent, .index = index, .name = name, .kept = qs_nil()};
    qs_value v = qcaptured_value(e->vm, x, &e->site, e->value);
    x->facts = qkey_facts(v, e->spec_kind);
    bool by_address = v.kind == QS_FUNCTION && ((const Function *)v.u.p)->fkind == FN_SET;
    if (e->spec_kind == SPEC_KERNEL && (v.kind == QS_STRING || by_address)) x->kept = qval_retain(v);
    x->value_known = e->spec_kind == SPEC_KERNEL && v.kind == QS_STRING;
    if (v.kind == QS_ARRAY && e->spec_kind != SPEC_EXPRESSION && !e->many) know_channels(e->vm, x, v.u.p);
    e->value[e->n] = v;
    return e->n++;
}

bool qcaptured_agree(qs_vm *vm, const Captured *e, int n, const Site *s, SpecKind t, qs_value *values) {
    for (int i = 0; i < n; i++) {
        values[i] = qcaptured_value(vm, &e[i], s, values);
        if (!qkey_agrees(vm, &e[i], values[i], t)) return false;
    }
    return true;
}

void qcaptured_release(qs_vm *vm, const Captured *e, int n) {
    for (int i = 0; i < n; i++) qval_release(vm, e[i].kept);
}
