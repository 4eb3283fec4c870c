/* loop_value.c -- describes captured values and loop counters to the loop compiler.
 *
 * Objects are not compiled: their fields are read, and arrays in fields are written.  A field that the loop sets is a
 * variable of the loop, which is stored into the object at the end.  The object may therefore have only one name in
 * the loop, which is checked before each run. */
#include "vm/launch/loop_run.h"

#include "vm/program/modtype.h"
#include "vm/program/module.h"
#include "vm/program/names.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Finds where a symbol of the running function is stored; false: it is not a variable. */
static bool find_storage(const Sym *sym, From *from) {
    if (sym->kind > SYM_GLOBAL) return false;
    *from = sym->kind == SYM_GLOBAL ? FROM_GLOBAL : sym->kind == SYM_CAPTURE ? FROM_CAPTURE : FROM_LOCAL;
    return true;
}

bool qloop_find(qs_vm *vm, const Frame *f, const Sym *sym, qs_value *out) {
    From from;
    if (!find_storage(sym, &from)) return false;
    return *out = from == FROM_CAPTURE ? f->fn->captures[sym->index] : *qloop_storage(vm, f, sym), true;
}

qs_value *qloop_storage(qs_vm *vm, const Frame *f, const Sym *sym) {
    return sym->kind == SYM_GLOBAL ? qvm_global(vm, (uint64_t)sym->index) : &f->base[sym->index];
}

/* -- descriptions -------------------------------------------------------------------------------------------------- */
static void describe_array(const Captured *e, const Array *a, LoopValue *out) {
    if (!(e->facts & ARRAY_ALIGNED)) return;
    out->kind = LOOP_ARRAY, out->dtype = a->dtype, out->rank = a->rank;
    out->contiguous = a->contiguous, out->unit_last = qkey_unit_last(a);
    out->writable = e->facts & ARRAY_WRITABLE, out->small = e->facts & ARRAY_SMALL;
    out->known = e->dims_known;
    for (int d = 0; d < QS_MAX_RANK; d++) out->dims[d] = e->dims_known >> d & 1 ? e->dims[d] : -1;
}

static void describe_string(const Captured *e, LoopValue *out) {
    out->kind = e->facts & TEXT_CHAR ? LOOP_CHAR : LOOP_STRING, out->dtype = QS_U8, out->rank = 1;
    out->contiguous = out->unit_last = e->facts & TEXT_ASCII;
    for (int d = 0; d < QS_MAX_RANK; d++) out->dims[d] = -1;
}

/* A function is described unless a reduction has rewritten its expressions: then its tree differs from its
 * behaviour. */
static void describe_function(qs_vm *vm, const Function *fn, LoopValue *out) {
    Proto *p;
    if (fn->fkind == FN_NATIVE) out->kind = LOOP_BUILTIN, out->builtin = fn->native->name;
    if (fn->fkind == FN_SET) out->kind = LOOP_OVERLOADS;
    out->unpacks = fn->fkind == FN_NATIVE && fn->traits & TRAIT_UNPACKS;
    out->several = fn->fkind == FN_NATIVE && fn->native->max_out > 1;
    if (fn->fkind != FN_SCRIPT || fn->ast->qual == Q_KERNEL) return;
    ErrorState kept = qvm_ctx(vm)->err;
    if (qproto_of(vm, fn->ast, false, &p) != QS_OK) qvm_ctx(vm)->err = kept;
    else if (!p->chunk.nrewritten) out->kind = LOOP_FUNC, out->func = fn->ast;
}

static LoopValue describe_value(const Asking *a, int entry) {
    const Captured *e = &a->e.at[entry];
    qs_value v = a->e.value[entry];
    LoopValue out = {.kind = LOOP_OTHER, .source = entry};
    out.integral = (v.kind == QS_NUM || v.kind == QS_INT) && e->facts & NUM_31 && !(e->facts & NUM_MINUS_ZERO);
    out.small = out.integral && e->facts & NUM_20;
    switch ((qs_kind)v.kind) {
    case QS_NIL: out.kind = v.aux == NIL_UNSET ? LOOP_UNSET : LOOP_OTHER; break;
    case QS_NUM: out.kind = LOOP_NUM, out.fixed = e->value_known, out.number = v.u.f; break;
    case QS_INT: out.kind = LOOP_INT, out.fixed = e->value_known, out.number = (double)v.u.i; break;
    case QS_BOOL: out.kind = LOOP_BOOL; break;
    case QS_COMPLEX: out.kind = LOOP_COMPLEX; break;
    case QS_ARRAY: describe_array(e, v.u.p, &out); break;
    case QS_FUNCTION: describe_function(a->e.vm, v.u.p, &out); break;
    case QS_CELL: out.kind = LOOP_CELL; break;
    case QS_STRING: describe_string(e, &out); break;
    case QS_OBJECT:
        out.kind = LOOP_OBJECT, out.cls = ((const Object *)v.u.p)->cls, out.has_keys = qobj_has_keys(v.u.p);
        break;
    default: break;
    }
    return out;
}

/* -- callbacks of the compiler ------------------------------------------------------------------------------------- */
static LoopValue value_of(Asking *a, From from, int parent, int index, const Str *name) {
    int entry = qcaptured_add(&a->e, from, parent, index, name);
    if (entry < 0) return a->full = true, (LoopValue){.kind = LOOP_OTHER};
    return describe_value(a, entry);
}

/* While the variable has no value, its name may refer to something in an outer scope. */
static bool means_something(const Asking *a, const Sym *sym) {
    qs_vm *vm = a->e.vm;
    Meaning w = qnames_outside(vm, qmod_of(a->f->proto->func), qvm(vm)->global_names[sym->index]);
    qnames_forget(&w);
    return w.first >= 0 && !qval_is_unset(*qvm_global(vm, (uint64_t)w.first));
}

/* A lambda that calls itself has captured its own variable: a global one before it had a value, so that its value is
 * read now; else itself, which is then the entry `of`. */
static void ask_capture(Asking *a, int of, const Sym *sym, LoopValue *out) {
    const Sym *outer = sym->owner->captures[sym->index].outer;
    *out = value_of(a, FROM_CAPTURE, of, sym->index, NULL);
    if (out->kind == LOOP_UNSET && outer->kind == SYM_GLOBAL) *out = value_of(a, FROM_GLOBAL, -1, outer->index, NULL);
    if (of >= 0 && out->kind == LOOP_FUNC && a->e.value[out->source].u.p == a->e.value[of].u.p) out->source = of;
}

static void ask_symbol(void *ud, int of, const Sym *sym, LoopValue *out) {
    From from;
    *out = (LoopValue){.kind = LOOP_OTHER};
    if (!find_storage(sym, &from)) return;
    if (from == FROM_CAPTURE) {
        ask_capture(ud, of, sym, out);
        return;
    }
    if (of < 0 || from != FROM_LOCAL) *out = value_of(ud, from, -1, sym->index, NULL);
    if (from == FROM_GLOBAL && out->kind == LOOP_UNSET && means_something(ud, sym)) out->kind = LOOP_OTHER;
}

static void ask_field(void *ud, int of, const Str *name, LoopValue *out) {
    Asking *a = ud;
    qs_value object = a->e.value[of], v;
    uint32_t i = 0;
    Str *found = NULL;
    *out = (LoopValue){.kind = LOOP_UNSET};
    if (object.kind != QS_OBJECT) return;
    while (qobj_field(object.u.p, i, &found, &v) && !(found && qstr_equal(found, name))) i++;
    if (found && qstr_equal(found, name)) *out = value_of(a, FROM_FIELD, of, (int)i, name);
}

static void ask_item(void *ud, int of, int number, LoopValue *out) { *out = value_of(ud, FROM_ITEM, of, number, NULL); }

/* The number of a declared field; -1: there is none. */
static int find_declared(const Class *cls, const Str *name) {
    uint64_t i;
    return cls && qmap_get(&cls->index, name, &i) ? (int)i : -1;
}

static bool ask_settable(void *ud, const void *class, const Str *name, const Type **type) {
    const Class *cls = class;
    int i = find_declared(cls, name);
    (void)ud;
    *type = i >= 0 && cls->fields[i].type && cls->fields[i].type->kind != TY_ANY ? cls->fields[i].type : NULL;
    return !cls || cls->kind != CLASS_IMMUTABLE;
}

/* Whether a new object has a plain number in the field. */
static bool find_initial(qs_vm *vm, const Class *cls, LoopColumn *out) {
    qs_value v;
    if (qobj_initial(vm, cls, out->field, &v) != QS_OK) return qerr_clear(qvm_ctx(vm)), false;
    bool plain = v.kind == QS_NIL || v.kind == qloop_column_kind(out);
    double truth = v.kind == QS_BOOL ? (double)v.u.i : 0;
    out->initial = v.kind == QS_NIL ? 0 : v.u.i; /* qval_zero */
    if (v.kind == QS_BOOL) memcpy(&out->initial, &truth, sizeof truth);
    return qval_release(vm, v), plain;
}

static bool ask_column(void *ud, const void *class, const Str *name, LoopColumn *out) {
    const Class *cls = class;
    const Type *t = NULL;
    const Asking *a = ud;
    out->field = find_declared(cls, name);
    if (out->field >= 0) t = cls->fields[out->field].type;
    if (!t || t->kind != TY_NUM || qdtype_is_complex(t->dtype)) return false;
    out->dtype = (uint8_t)t->dtype;
    return (void)find_initial(a->e.vm, cls, out), true;
}

static const void *ask_made_class(void *ud, const Type *type, const void *class) {
    const Class *cls = !type ? class : type->kind == TY_CLASS ? type->cls : NULL;
    const Asking *a = ud;
    LoopColumn column;
    if (!cls || (type && cls->ctors) || cls->kind == CLASS_DYNAMIC) return NULL;
    for (int i = 0; i < cls->nfields; i++)
        if (!ask_column(ud, cls, cls->fields[i].name, &column) || !find_initial(a->e.vm, cls, &column)) return NULL;
    return cls;
}

static const Str *ask_field_name(void *ud, const void *class, int field) {
    const Class *cls = class;
    return (void)ud, field < cls->nfields ? cls->fields[field].name : NULL;
}

/* Finds the method as qcall_method does; objects of dynamic classes may get a field of that name meanwhile. */
static void ask_method(void *ud, const Func *from, const LoopValue *o, const Str *name, LoopValue *out) {
    Asking *a = ud;
    const Class *cls = o->cls;
    *out = (LoopValue){.kind = LOOP_OTHER};
    if (o->kind == LOOP_OBJECT && (!cls || cls->kind == CLASS_DYNAMIC || find_declared(cls, name) >= 0)) return;
    int slot = qnames_lookup(a->e.vm, qmod_of(from), (Str *)(uintptr_t)name);
    if (slot >= 0) *out = value_of(a, FROM_GLOBAL, -1, slot, NULL);
}

static bool has_types(const Function *f) {
    bool types = false;
    for (int i = 0; f->fkind == FN_SCRIPT && i < f->ast->nparams; i++) types |= f->ast->params[i].type != NULL;
    return types;
}

/* A name means the last definition that takes n arguments, if no definition has types. */
static void ask_overload(void *ud, int of, int n, LoopValue *out) {
    Asking *a = ud;
    const Function *set = a->e.value[of].u.p;
    int chosen = -1, least, most, found = 0;
    bool types = false;
    for (int i = 0; i < set->nmembers; i++) {
        const Function *f = set->members[i];
        bool known = qval_arity(f, &least, &most);
        if (known && (n < least || (most >= 0 && n > most))) continue;
        chosen = i, found++, types |= !known || has_types(f);
    }
    *out = (LoopValue){.kind = LOOP_OTHER};
    qkey_know_overloads(&a->e.at[of], a->e.value[of]);
    if (found && (found == 1 || !types)) *out = value_of(a, FROM_MEMBER, of, chosen, NULL);
}

static void ask_library(void *ud, Str *name, LoopValue *out) {
    Asking *a = ud;
    int slot = qmod_library_slot(a->e.vm, "kernels.q", name);
    *out = slot >= 0 ? value_of(a, FROM_GLOBAL, -1, slot, NULL) : (LoopValue){.kind = LOOP_OTHER};
}

static bool ask_takes(void *ud, const LoopValue *v, const Func *f, int param) {
    const Asking *a = ud;
    Ctx *c = qvm_ctx(a->e.vm);
    const Type *t = qvm_param_type(a->e.vm, f, param);
    return t && v->kind == LOOP_ARRAY && qtype_accepts(c, t, qtype_array(c, qtype_num(c, (qs_dtype)v->dtype), v->rank));
}

static bool ask_class(void *ud, const void *class, const Func *f, TypeExpr *e) {
    const Asking *a = ud;
    const Type *t = NULL;
    TypeMods mods;
    if (qmodtype_mentions_param(e, f)) return false;
    if (qmodtype_resolve(a->e.vm, qmod_of(f), e, f->unit->src, NULL, &t, &mods) != QS_OK)
        return qerr_clear(qvm_ctx(a->e.vm)), false;
    return t && t == ((const Class *)class)->type;
}

/* The vector is in a register of the interpreter. */
static void ask_items(void *ud, LoopValue *out) {
    Asking *a = ud;
    *out = value_of(a, FROM_LOCAL, -1, a->region->reg, NULL);
}

static int64_t ask_extent(void *ud, int source, int axis) {
    Asking *a = ud;
    qkey_know_extent(&a->e.at[source], a->e.value[source].u.p, axis);
    return a->e.at[source].dims[axis];
}

static const Str *ask_text(void *ud, int source) {
    Asking *a = ud;
    return qkey_know_text(&a->e.at[source], a->e.value[source]);
}

static int64_t ask_peek(void *ud, int source, int axis) {
    const Asking *a = ud;
    qs_value v = a->e.value[source];
    return v.kind == QS_ARRAY ? ((const Array *)v.u.p)->dims[axis] : INT64_MAX;
}

static double ask_number(void *ud, int source, bool fix) {
    Asking *a = ud;
    if (!describe_value(a, source).integral) return NAN;
    if (fix) qkey_know_number(&a->e.at[source], a->e.value[source]);
    return qval_number(a->e.value[source]);
}

static bool ask_positive(void *ud, int source, int axis) {
    Asking *a = ud;
    return !a->e.many && qkey_know_positive(&a->e.at[source], a->e.value[source], axis);
}

static bool ask_list(void *ud, int source, LoopItems *out) {
    static const uint8_t kinds[] = {[QS_NUM] = LOOP_NUM,
                                    [QS_INT] = LOOP_INT,
                                    [QS_BOOL] = LOOP_BOOL,
                                    [QS_OBJECT] = LOOP_ITEM,
                                    [QS_ARRAY] = LOOP_VECTOR};
    Asking *a = ud;
    bool list = qkey_know_list(&a->e.at[source], a->e.value[source]);
    const ItemKey *k = &a->e.at[source].items;
    *out = (LoopItems){.cls = k->cls, .dtype = (uint8_t)k->dtype, .n = (int)(k->count < INT_MAX ? k->count : INT_MAX)};
    if (list && k->kind >= 0) out->kind = kinds[k->kind];
    bool element = k->dtype == (int)qvm_ctx(a->e.vm)->scalar_dtype || k->dtype == QS_F64;
    return list && (out->kind != LOOP_VECTOR || (element && k->count));
}

static void ask_any_number(void *ud, int source) {
    Asking *a = ud;
    qkey_any_number(&a->e.at[source]);
}

static bool ask_sole(void *ud, int source) {
    Asking *a = ud;
    return qkey_know_sole(&a->e.at[source], a->e.value[source].u.p);
}

/* Whether the loop, a loop around it, or its function asks for fast math; the innermost decides.  A loop inside it that
 * excludes fast math excludes it for the whole region.  r: NULL for a function. */
static bool asks_fast(const Asking *a, const LoopRegion *r, bool otherwise) {
    const Chunk *c = &a->f->proto->chunk;
    const Func *f = a->f->proto->func;
    bool fast = otherwise, wrong = false;
    for (int i = 0; i < f->nattrs; i++) fast = qast_asks_fast(f->attrs[i], fast, &wrong);
    for (uint32_t i = c->nloops; i-- > 0;) { /* an outer loop ends later, and so is registered later */
        const LoopRegion *outer = &c->loops[i];
        if (r && outer->loop->kind == N_FOR && outer->start <= r->start && outer->end >= r->end)
            fast = qast_asks_fast(outer->loop->u.loop.attr, fast, &wrong);
    }
    for (uint32_t i = 0; i < c->nloops && fast; i++) {
        const LoopRegion *inner = &c->loops[i];
        if (inner->loop->kind == N_FOR && (!r || (inner->start >= r->start && inner->end <= r->end)))
            fast = qast_asks_fast(inner->loop->u.loop.attr, true, &wrong);
    }
    return fast;
}

LoopJob qloop_job(Asking *a, const LoopRegion *r, Node *loop, const LoopRange *ranges) {
    a->region = r;
    Func *func = a->f->proto->func;
    const Machine *m = qvm(a->e.vm);
    LoopJob job = {.loop = loop,
                   .func = func,
                   .ud = a,
                   .value = ask_symbol,
                   .field = ask_field,
                   .item = ask_item,
                   .settable = ask_settable,
                   .column = ask_column,
                   .made_class = ask_made_class,
                   .field_name = ask_field_name,
                   .method = ask_method,
                   .overload = ask_overload,
                   .library = ask_library,
                   .takes = ask_takes,
                   .is_class = ask_class,
                   .extent = ask_extent,
                   .text = ask_text,
                   .peek = ask_peek,
                   .number = ask_number,
                   .any_number = ask_any_number,
                   .positive = ask_positive,
                   .sole = ask_sole,
                   .list = ask_list,
                   .items = ask_items,
                   .fast_math = asks_fast(a, r, m->config.fast_math),
                   .ends = m->config.final && func->unit == m->main_module->units[0]};
    if (ranges) memcpy(job.range, ranges, sizeof job.range);
    return job;
}

/* -- counters ------------------------------------------------------------------------------------------------------ */
Counter qloop_counter(const Frame *f, const LoopRegion *r, int i) {
    if (qloop_is_over_items(r)) {
        qs_value v = f->base[r->reg];
        size_t count = v.kind == QS_CELL ? ((const Cell *)v.u.p)->count : qval_array(v)->count;
        int64_t next = f->base[r->reg + 1].u.i;
        return (Counter){(double)next, 1, (int64_t)count - next};
    }
    const qs_value *at = &f->base[r->reg + LOOP_REGISTERS * i]; /* the layout that qops_for writes */
    return (Counter){at[1].u.f, at[2].u.f, at[3].u.i};
}

bool qloop_count_while(qs_vm *vm, const Frame *f, const Node *as_for, Counter *out) {
    const Node *range = as_for->u.loop.ranges[0];
    const Sym *sym = as_for->u.loop.syms[0];
    qs_value first;
    if (sym->declared || !qloop_find(vm, f, sym, &first) || first.kind != QS_NUM) return false;
    double step = range->u.range.step->u.num.value, last = qloop_bound(vm, f, range->u.range.hi);
    double steps = floor((last - first.u.f) / step);
    if (last != floor(last) || !(fabs(last) <= 0x1p48) || !(steps >= 0)) return false;
    *out = (Counter){first.u.f, step, (int64_t)steps + 1};
    return qloop_range(out).integral;
}

double qloop_last(const Counter *c) { return c->first + (double)(c->iterations - 1) * c->step; }

LoopRange qloop_range(const Counter *c) {
    LoopRange r = {.step = c->step};
    bool integral = c->first == floor(c->first) && c->step == floor(c->step) && !(c->first == 0 && signbit(c->first));
    double most = fmax(fabs(c->first), fabs(qloop_last(c)));
    r.integral = integral && most <= 0x1p48 && fabs(c->step) <= 0x1p31;
    r.small = r.integral && most <= LOOP_SMALL;
    return r;
}
