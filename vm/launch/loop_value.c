/* loop_value.c -- the values that enter a loop: where they are found, and what the compiler is told of them.
 *
 * A variant is for the kinds of all values that its code has asked for.  An entry may lie inside another one, as what a
 * function has captured and the fields of an object do; entries stand behind what they lie in. */
#include "vm/launch/loop_run.h"

#include "vm/session/module.h"
#include "vm/session/names.h"

#include <math.h>
#include <string.h>

static qs_value captured(qs_value fn, int index) {
    return fn.kind == QS_FUNCTION ? ((const Function *)fn.u.p)->captures[index] : qval_unset();
}

static qs_value field(qs_value object, int index, const Str *name) {
    Str *found;
    qs_value v;
    bool has = object.kind == QS_OBJECT && qobj_field(object.u.p, (uint32_t)index, &found, &v);
    return has && qstr_equal(found, name) ? v : qval_unset();
}

qs_value qloop_value(qs_vm *vm, const Frame *f, const LoopForm *v, int source) {
    const Entry *e = &v->source[source];
    switch ((From)e->from) {
    case FROM_LOCAL: return f->base[e->index];
    case FROM_CAPTURE: return f->fn->captures[e->index];
    case FROM_CLOSURE: return captured(qloop_value(vm, f, v, e->parent), e->index);
    case FROM_FIELD: return field(qloop_value(vm, f, v, e->parent), e->index, e->field);
    default: return *qvm_global(vm, (uint64_t)e->index);
    }
}

/* Where a symbol of the running function lives; false: it is no variable. */
static bool place_in(const Sym *sym, From *from) {
    if (sym->kind > SYM_GLOBAL) return false;
    *from = sym->kind == SYM_GLOBAL ? FROM_SLOT : sym->kind == SYM_CAPTURE ? FROM_CAPTURE : FROM_LOCAL;
    return true;
}

bool qloop_find(qs_vm *vm, const Frame *f, const Sym *sym, qs_value *out) {
    From from;
    if (!place_in(sym, &from)) return false;
    return *out = from == FROM_CAPTURE ? f->fn->captures[sym->index] : *qloop_place(vm, f, sym), true;
}

qs_value *qloop_place(qs_vm *vm, const Frame *f, const Sym *sym) {
    return sym->kind == SYM_GLOBAL ? qvm_global(vm, (uint64_t)sym->index) : &f->base[sym->index];
}

/* -- kinds ------------------------------------------------------------------------------------------------------- */
static void describe_number(double x, LoopValue *out) {
    out->whole = x == floor(x) && fabs(x) <= 0x1p31 && !(x == 0 && signbit(x));
    out->small = out->whole && fabs(x) <= LOOP_SMALL;
}

static bool unit_last(const Array *a) { return a->strides[a->rank - 1] == 1 || a->dims[a->rank - 1] <= 1; }

static void describe_array(const Array *a, LoopValue *out) {
    if (!a->rank || !qarr_aligned(a)) return;
    out->kind = LOOP_ARRAY, out->dtype = a->dtype, out->rank = a->rank;
    out->contiguous = a->contiguous, out->unit_last = unit_last(a);
    out->writable = !a->buf->readonly;
    out->small = true;
    for (int d = 0; d < a->rank; d++) out->small &= a->dims[d] <= LOOP_SMALL;
}

/* A function whose expressions a reduction has changed is not what its tree says. */
static void describe_function(qs_vm *vm, const Function *fn, LoopValue *out) {
    Proto *p;
    if (fn->fkind == FN_NATIVE) out->kind = LOOP_BUILTIN, out->builtin = fn->native->name;
    if (fn->fkind != FN_SCRIPT || fn->ast->qual == Q_KERNEL) return;
    ErrorState kept = qvm_ctx(vm)->err;
    if (qproto_of(vm, fn->ast, false, &p) != QS_OK) qvm_ctx(vm)->err = kept;
    else if (!p->chunk.nrewritten) out->kind = LOOP_FUNC, out->func = fn->ast;
}

static void describe(qs_vm *vm, qs_value v, LoopValue *out) {
    memset(out, 0, sizeof *out); /* compared as bytes */
    out->kind = LOOP_OTHER;
    switch ((qs_kind)v.kind) {
    case QS_NIL: out->kind = v.aux == NIL_UNSET ? LOOP_UNSET : LOOP_OTHER; break;
    case QS_NUM: out->kind = LOOP_NUM, describe_number(v.u.f, out); break;
    case QS_INT: out->kind = LOOP_INT, describe_number((double)v.u.i, out); break;
    case QS_BOOL: out->kind = LOOP_BOOL; break;
    case QS_COMPLEX: out->kind = LOOP_COMPLEX; break;
    case QS_ARRAY: describe_array(v.u.p, out); break;
    case QS_FUNCTION: describe_function(vm, v.u.p, out); break;
    case QS_OBJECT: out->kind = LOOP_OBJECT, out->cls = ((const Object *)v.u.p)->cls; break;
    default: break;
    }
}

/* The extents that are compiled in. */
static void describe_extents(const Array *a, uint8_t known, LoopValue *out) {
    out->known = known;
    for (int d = 0; d < a->rank; d++)
        if (known >> d & 1) out->dims[d] = a->dims[d];
}

bool qloop_agrees(qs_vm *vm, const Frame *f, const LoopForm *v) {
    for (int i = 0; i < v->nsources; i++) {
        LoopValue now;
        const LoopValue *seen = &v->source[i].seen;
        qs_value x = qloop_value(vm, f, v, i);
        describe(vm, x, &now);
        now.source = seen->source;
        if (seen->known && now.kind == LOOP_ARRAY) describe_extents(x.u.p, seen->known, &now);
        if (memcmp(&now, seen, sizeof now)) return false;
    }
    return true;
}

/* -- questions of the compiler ----------------------------------------------------------------------------------- */
static LoopValue source_of(Asking *a, const Entry *e) {
    LoopForm *v = a->v;
    for (int i = 0; i < v->nsources; i++) {
        const Entry *s = &v->source[i];
        if (s->from == e->from && s->index == e->index && s->parent == e->parent) return s->seen;
    }
    if (v->nsources == SOURCES) return a->full = true, (LoopValue){.kind = LOOP_OTHER};
    Entry *s = &v->source[v->nsources];
    *s = *e;
    describe(a->vm, qloop_value(a->vm, a->f, v, v->nsources), &s->seen);
    s->seen.source = v->nsources++;
    return s->seen;
}

/* As long as the variable has no value, its name is that of something else. */
static bool means_something(const Asking *a, const Sym *sym) {
    qs_vm *vm = a->vm;
    Meaning w = qnames_outside(vm, qmod_of(a->f->proto->func), qvm(vm)->global_names[sym->index]);
    return w.first >= 0 && !qval_is_unset(*qvm_global(vm, (uint64_t)w.first));
}

static void ask(void *ud, int of, const Sym *sym, LoopValue *out) {
    Entry e = {.parent = of, .index = sym->index};
    From from;
    *out = (LoopValue){.kind = LOOP_OTHER};
    if (!place_in(sym, &from)) return;
    e.from = (uint8_t)from;
    if (of >= 0 && from == FROM_CAPTURE) e.from = FROM_CLOSURE;
    else e.parent = -1;
    if (of < 0 || from != FROM_LOCAL) *out = source_of(ud, &e);
    if (from == FROM_SLOT && out->kind == LOOP_UNSET && means_something(ud, sym)) out->kind = LOOP_OTHER;
}

static void ask_field(void *ud, int of, const Str *name, LoopValue *out) {
    Asking *a = ud;
    Entry e = {.from = FROM_FIELD, .parent = of, .field = name};
    qs_value object = qloop_value(a->vm, a->f, a->v, of), v;
    Str *found = NULL;
    *out = (LoopValue){.kind = LOOP_UNSET};
    if (object.kind != QS_OBJECT) return;
    while (qobj_field(object.u.p, (uint32_t)e.index, &found, &v) && !qstr_equal(found, name)) e.index++;
    if (found && qstr_equal(found, name)) *out = source_of(a, &e);
}

static bool ask_settable(void *ud, int of, const Str *name, const Type **type) {
    const Asking *a = ud;
    qs_value object = qloop_value(a->vm, a->f, a->v, of);
    const Class *cls = ((const Object *)object.u.p)->cls;
    *type = NULL;
    for (int i = 0; cls && i < cls->nfields; i++) {
        const Type *t = cls->fields[i].type;
        if (qstr_equal(cls->fields[i].name, name) && t && t->kind != TY_ANY) *type = t;
    }
    return !cls || cls->kind != CLASS_IMMUTABLE;
}

static int64_t ask_extent(void *ud, int source, int axis) {
    Asking *a = ud;
    LoopValue *seen = &a->v->source[source].seen;
    describe_extents(qloop_value(a->vm, a->f, a->v, source).u.p, (uint8_t)(seen->known | 1u << axis), seen);
    return seen->dims[axis];
}

LoopJob qloop_job(Asking *a, const LoopRegion *r) {
    Func *func = a->f->proto->func;
    const Machine *m = qvm(a->vm);
    LoopJob job = {.loop = r->loop, .func = func, .ud = a, .value = ask, .field = ask_field,
                   .settable = ask_settable, .extent = ask_extent,
                   .ends = m->config.final && func->unit == m->main_module->units[0]};
    memcpy(job.range, a->v->range, sizeof job.range);
    return job;
}

/* -- the counters ------------------------------------------------------------------------------------------------ */
Counter qloop_counter(const Frame *f, const LoopRegion *r, int i) {
    const qs_value *at = &f->base[r->reg + 4 * i]; /* as qops_for leaves them */
    return (Counter){at[1].u.f, at[2].u.f, at[3].u.i};
}

double qloop_last(const Counter *c) { return c->first + (double)(c->turns - 1) * c->step; }

LoopRange qloop_range(const Counter *c) {
    LoopRange r = {.step = c->step};
    bool whole = c->first == floor(c->first) && c->step == floor(c->step) && !(c->first == 0 && signbit(c->first));
    double most = fmax(fabs(c->first), fabs(qloop_last(c)));
    r.whole = whole && most <= 0x1p48 && fabs(c->step) <= 0x1p31;
    r.small = r.whole && most <= LOOP_SMALL;
    return r;
}
