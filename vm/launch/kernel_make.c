/* kernel_make.c -- makes a specialization of a kernel: describes host values to the lowering pass, and analyzes the
 * code. */
#include "lang/kernel/ir/kir.h"
#include "vm/interp/interp.h"
#include "vm/launch/kernel_internal.h"
#include "vm/program/modtype.h"
#include "vm/program/module.h"
#include "vm/program/names.h"

#include <stdio.h>
#include <string.h>

/* -- callbacks of the lowering pass -------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    const Request *request;
    struct Device *device; /* the current device */
    CapturedList e;
    Arena *arena, *keep; /* arena for the duration of the compilation; arena of the specialization */
} Maker;

static int entry(Maker *m, From from, int parent, int index) { return qcaptured_add(&m->e, from, parent, index, NULL); }

static bool describe_value(Maker *m, int source, KVal *out);

static void describe_number(Maker *m, const Captured *s, qs_value v, KVal *out) {
    qs_dtype scalar = qvm_ctx(m->vm)->scalar_dtype;
    out->kind = KV_NUM, out->known = s->value_known;
    out->dtype = (uint8_t)(v.kind == QS_BOOL ? QS_B1 : v.kind == QS_COMPLEX ? qdtype_complex_of(scalar) : scalar);
    if (v.kind == QS_COMPLEX) {
        const Complex *z = v.u.p;
        out->num[0] = z->re, out->num[1] = z->im;
        return;
    }
    out->num[0] = qval_number(v);
    out->is_int = v.kind == QS_INT;
    out->bits = (uint8_t)qkey_bits(v);
}

static void describe_array(const Captured *s, const Array *a, KVal *out) {
    out->kind = s->by_value ? KV_VEC : KV_ARRAY, out->dtype = a->dtype;
    out->known = s->by_value && s->value_known, out->vec = s->vec;
    out->rank = a->rank;
    out->contiguous = a->contiguous || s->own, out->unit_last = qkey_unit_last(a) || s->own, out->own = s->own;
    for (int d = 0; d < a->rank; d++) out->dims[d] = s->dims_known >> d & 1 ? a->dims[d] : -1;
}

static bool describe_members(Maker *m, int source, const Function *set, KVal *out) {
    out->noverloads = set->nmembers;
    out->overloads = qarena_alloc(m->arena, qmem_size((size_t)set->nmembers, sizeof *out->overloads, 0));
    for (int i = 0; i < set->nmembers; i++) {
        int member = entry(m, FROM_MEMBER, source, i);
        if (member < 0 || !describe_value(m, member, &out->overloads[i])) return false;
    }
    return true;
}

static bool describe_function(Maker *m, int source, const Function *f, KVal *out) {
    out->kind = KV_FUNC;
    switch ((FunctionKind)f->fkind) {
    case FN_SCRIPT: out->func = f->ast; return true;
    case FN_NATIVE:
        out->unpacks = f->traits & TRAIT_UNPACKS, out->builtin = f->native->name, out->least = f->native->min_in,
        out->most = f->native->max_in;
        return true;
    case FN_SET: return describe_members(m, source, f, out);
    case FN_FOREIGN: return false;
    }
    return false;
}

/* A number field that the kernel sets: an array with one element, which is an entry. */
static void describe_own_number(KVal *out, const Type *t) {
    out->kind = KV_ARRAY, out->dtype = (uint8_t)t->dtype, out->own = true;
    out->rank = out->inner = 1, out->dims[0] = 1;
    out->contiguous = out->unit_last = true;
}

static const Type **field_types(Maker *m, const Class *cls) {
    const Type **t = qarena_alloc(m->arena, qmem_size((size_t)cls->nfields, sizeof *t, sizeof *t));
    for (int i = 0; i < cls->nfields; i++) t[i] = cls->fields[i].type ? cls->fields[i].type : qtype_any(qvm_ctx(m->vm));
    return t;
}

static bool describe_object(Maker *m, int source, const Object *o, KVal *out) {
    if (!o->cls || o->cls->kind == CLASS_DYNAMIC) return false;
    out->kind = KV_OBJECT, out->cls = o->cls, out->type = o->cls->type;
    out->is_mutable = o->cls->kind == CLASS_MUTABLE, out->types = field_types(m, o->cls);
    out->fields = qarena_alloc(m->arena, qmem_size((size_t)o->cls->nfields, sizeof *out->fields, sizeof *out->fields));
    out->names = qarena_alloc(m->arena, qmem_size((size_t)o->cls->nfields, sizeof *out->names, sizeof *out->names));
    for (int i = 0; i < o->cls->nfields; i++) {
        int field = qcaptured_add(&m->e, FROM_FIELD, source, i, o->cls->fields[i].name);
        if (field < 0) return false;
        /* a field that kernels cannot use is an error only if it is used */
        if (!describe_value(m, field, &out->fields[out->nfields])) out->fields[out->nfields] = (KVal){.kind = KV_NONE};
        out->names[out->nfields++] = o->cls->fields[i].name;
    }
    return true;
}

static bool describe_value(Maker *m, int source, KVal *out) {
    const Captured *s = &m->e.at[source];
    qs_value v = m->e.value[source];
    *out = (KVal){.kind = KV_NONE, .source = source};
    if (s->own && v.kind != QS_ARRAY)
        return describe_own_number(out, ((const Object *)m->e.value[s->parent].u.p)->cls->fields[s->index].type), true;
    switch ((qs_kind)v.kind) {
    case QS_BOOL:
    case QS_INT:
    case QS_NUM:
    case QS_COMPLEX: return describe_number(m, s, v, out), true;
    case QS_ARRAY: return describe_array(s, v.u.p, out), true;
    case QS_STRING: return out->kind = KV_STRING, out->str = v.u.p, true;
    case QS_TYPE: return out->kind = KV_TYPE, out->type = ((const TypeValue *)v.u.p)->type, true;
    case QS_FUNCTION: return describe_function(m, source, v.u.p, out);
    case QS_OBJECT: return describe_object(m, source, v.u.p, out);
    default: return false;
    }
}

static bool is_builtin(Maker *m, const Str *name, int slot) {
    uint64_t at;
    return qmap_get(&qvm(m->vm)->builtins, name, &at) && (int)at == slot;
}

static bool global_value(Maker *m, const Str *name, int slot, KVal *out) {
    int source = entry(m, FROM_GLOBAL, -1, slot);
    if (source < 0 || !describe_value(m, source, out)) return false;
    /* constants such as pi and true do not change */
    if (out->kind == KV_NUM && is_builtin(m, name, slot)) out->known = true;
    return true;
}

static bool ask_symbol(void *ud, const KVal *fn, const Sym *sym, KVal *out) {
    Maker *m = ud;
    if (sym->kind == SYM_GLOBAL) return global_value(m, sym->name, sym->index, out);
    if (sym->kind != SYM_CAPTURE || !fn) return false;
    int source = entry(m, FROM_CAPTURE, fn->source, sym->index);
    return source >= 0 && describe_value(m, source, out);
}

/* Finds a function of kernels.q, which has the built-ins for small arrays; its names begin with kernel_. */
static bool library_value(Maker *m, Str *name, KVal *out) {
    int slot = qmod_library_slot(m->vm, "kernels.q", name);
    return slot >= 0 && global_value(m, name, slot, out);
}

static bool ask_function(void *ud, Str *name, KVal *out) {
    Maker *m = ud;
    int slot = qnames_lookup(m->vm, qmod_of(m->request->site.fn->ast), name);
    bool found =
        slot >= 0 ? global_value(m, name, slot, out) : !strncmp(name->s, "kernel_", 7) && library_value(m, name, out);
    return found && out->kind == KV_FUNC;
}

static const Type *ask_type(void *ud, Func *in, Str *name) {
    Maker *m = ud;
    Ctx *c = qvm_ctx(m->vm);
    ErrorState kept = c->err;
    TypeExpr e = {.kind = TE_NAME, .name = name};
    const Type *t = NULL;
    TypeMods mods;
    if (qmodtype_resolve(m->vm, qmod_of(in), &e, in->unit->src, NULL, &t, &mods) == QS_OK) return t;
    c->err = kept;
    return NULL;
}

static const Type *ask_instance(void *ud, Func *in, Str *generic, const Type **args, int nargs) {
    Maker *m = ud;
    ErrorState kept = qvm_ctx(m->vm)->err;
    const Type *t = qmodtype_instance(m->vm, qmod_of(in), generic, args, nargs);
    return qvm_ctx(m->vm)->err = kept, t;
}

static int ask_arguments(void *ud, const Type *t, const Type *const **args) {
    Maker *m = ud;
    ClassInstance *found;
    if (!t || t->kind != TY_CLASS || !t->cls || !qmodtype_generic_of(m->vm, t->cls, &found)) return 0;
    return *args = found->args, found->nargs;
}

static bool ask_declared(void *ud, const Func *f, const Param *p, Declared *out) {
    Maker *m = ud;
    ErrorState kept = qvm_ctx(m->vm)->err;
    bool known = qcall_declared(m->vm, f, p, out);
    return qvm_ctx(m->vm)->err = kept, known;
}

static double *elements_of(qs_vm *vm, Arena *arena, Array *a) {
    double *vec = qarena_alloc(arena, qmem_size(a->count, sizeof *vec, sizeof *vec));
    for (size_t i = 0; i < a->count; i++) vec[i] = qkey_element(vm, a, i);
    return vec;
}

static bool can_be_known(const Array *a) {
    return a->count <= KLOWER_BY_VALUE && !qdtype_is_complex((qs_dtype)a->dtype);
}

/* Describes the initial value of a field, which objects created by kernels have as well; false: kernels cannot
 * represent it. */
static bool describe_initial(Maker *m, qs_value v, KVal *out) {
    Captured known = {.value_known = true, .by_value = true, .dims_known = UINT8_MAX};
    *out = (KVal){.kind = KV_NONE};
    if (qval_is_number(v)) return describe_number(m, &known, v, out), true;
    if (v.kind == QS_STRING) return out->kind = KV_STRING, out->str = v.u.p, true;
    if (v.kind != QS_ARRAY) return v.kind == QS_NIL;
    Array *a = v.u.p;
    if (!can_be_known(a)) return false;
    known.vec = elements_of(m->vm, m->arena, a);
    return describe_array(&known, a, out), true;
}

static bool ask_fields(void *ud, const Type *t, KFields *out) {
    Maker *m = ud;
    const Class *c = t->cls;
    if (!c || c->kind == CLASS_DYNAMIC) return false;
    size_t n = (size_t)c->nfields + 1;
    *out = (KFields){.n = c->nfields, .is_mutable = c->kind == CLASS_MUTABLE};
    out->names = qarena_alloc(m->arena, qmem_size(n, sizeof *out->names, 0));
    out->types = qarena_alloc(m->arena, qmem_size(n, sizeof *out->types, 0));
    out->inits = qarena_alloc(m->arena, qmem_size(n, sizeof *out->inits, 0));
    for (int i = 0; i < c->nfields; i++) {
        out->names[i] = c->fields[i].name;
        out->types[i] = c->fields[i].type ? c->fields[i].type : qtype_any(qvm_ctx(m->vm));
        qs_value v;
        if (qobj_initial(m->vm, c, i, &v) != QS_OK) return false;
        bool can = describe_initial(m, v, &out->inits[i]);
        qval_release(m->vm, v);
        if (!can) return false;
    }
    return true;
}

/* -- making the specialization ------------------------------------------------------------------------------------- */
/* Passes a small array by value: its extents are compiled in, and its elements become parameters. */
static void hand_over(Maker *m, int source) {
    Captured *s = &m->e.at[source];
    const Array *a = m->e.value[source].u.p;
    s->by_value = true;
    for (int d = 0; d < a->rank; d++) qkey_know_extent(s, a, d);
}

/* Is s an argument that the kernel writes to? */
static bool is_written(const Maker *m, const Captured *s) {
    const Func *f = m->request->site.fn->ast;
    for (int i = 0, next = 0; s->from == FROM_LOCAL && i < f->nparams; i++)
        if (klower_special(f->params[i].name) < 0 && next++ == s->index) return klower_assigns(f, f->params[i].sym);
    return false;
}

static qs_status written_size(const Maker *m, const char *field) {
    return qerr_set(qvm_ctx(m->vm), QS_EVALUE,
                    "kernel %s: the size of an array depends on field %s, which it writes to",
                    m->request->site.fn->name->s, field);
}

static qs_status elements_known(Maker *m, int source) {
    Captured *s = &m->e.at[source];
    Array *a = m->e.value[source].u.p;
    if (is_written(m, s))
        return qerr_set(qvm_ctx(m->vm), QS_EVALUE,
                        "kernel %s: the size of an array depends on elements of argument %d, which it writes to",
                        m->request->site.fn->name->s, s->index + 1);
    if (!can_be_known(a))
        return qerr_set(qvm_ctx(m->vm), QS_EVALUE, "kernel %s: the size of an array depends on the elements of %s",
                        m->request->site.fn->name->s, qval_type_name(m->vm, m->e.value[source]));
    hand_over(m, source);
    s->value_known = true;
    s->vec = elements_of(m->vm, m->keep, a);
    return QS_OK;
}

/* Gives the launch an array of its own for a field that the kernel sets. */
static qs_status make_own(Maker *m, Captured *s, qs_value v) {
    if (v.kind != QS_ARRAY) {
        const Field *f = &((const Object *)m->e.value[s->parent].u.p)->cls->fields[s->index];
        if (!f->type || f->type->kind != TY_NUM)
            return qerr_set(qvm_ctx(m->vm), QS_ETYPE,
                            "kernel %s: field %s is written and must have a declared type, as in %s : scalar",
                            m->request->site.fn->name->s, f->name->s, f->name->s);
        if (s->value_known) return written_size(m, f->name->s);
    }
    return s->own = true, QS_OK;
}

static qs_status make_known(Maker *m, KNeed need) {
    Captured *s = &m->e.at[need.source];
    qs_value v = m->e.value[need.source];
    if (need.axis == KNEED_OWN) return make_own(m, s, v);
    if (s->own && need.axis < 0) return written_size(m, s->name ? s->name->s : "an object");
    if (need.axis < 0 && v.kind == QS_ARRAY) return elements_known(m, need.source);
    if (need.axis < 0) {
        KVal k;
        s->value_known = true;
        describe_number(m, s, v, &k);
        memcpy(s->num, k.num, sizeof s->num);
        return QS_OK;
    }
    const Array *a = v.u.p;
    qkey_know_extent(s, a, need.rank > a->rank && a->rank == 1 ? need.axis - 1 : need.axis);
    return QS_OK;
}

/* Passes arguments by value whose declared type has a small fixed size, such as ivec2 and mat2x2. */
static qs_status find_by_value(Maker *m) {
    const Request *r = m->request;
    const Func *f = r->site.fn->ast;
    for (int i = 0, next = 0; i < f->nparams && next < r->nargs; i++) {
        const Param *p = &f->params[i];
        const Type *t;
        if (klower_special(p->name) >= 0) continue;
        int arg = next++, source = entry(m, FROM_LOCAL, -1, arg);
        if (!p->type || r->site.locals[arg].kind != QS_ARRAY || source < 0) continue;
        if (qmodtype_mentions_param(p->type, f)) continue;
        TRY(qmodtype_resolve(m->vm, qmod_of(f), p->type, f->unit->src, NULL, &t, NULL));
        if (klower_by_value(f, p, t) && ((const Array *)r->site.locals[arg].u.p)->count <= KLOWER_BY_VALUE)
            hand_over(m, source);
    }
    return QS_OK;
}

/* Returns the parameter that receives argument i; NULL: there are more arguments than parameters. */
static const Param *param_of(const Func *f, int i) {
    for (int k = 0; k < f->nparams; k++)
        if (klower_special(f->params[k].name) < 0 && i-- == 0) return &f->params[k];
    return NULL;
}

static qs_status refuse_arg(const Maker *m, int i) {
    const Function *fn = m->request->site.fn;
    const Param *p = param_of(fn->ast, i);
    char number[32];
    snprintf(number, sizeof number, "argument %d", i + 1);
    return qerr_set(qvm_ctx(m->vm), QS_ETYPE, "kernel %s: %s is %s, which a kernel cannot take", fn->name->s,
                    p ? p->name->s : number, qval_type_name(m->vm, m->request->site.locals[i]));
}

/* Gives a packed array the dimensions of the cell and of its entries: the normal form of its shape may lack some with
 * one element (qkernel_fit_rank). */
static void give_entries(KVal *out, int rank, int inner) {
    const KVal given = *out;
    int skip = rank + inner > given.rank && given.rank == 1;
    out->rank = (uint8_t)(rank + inner), out->inner = (uint8_t)inner;
    for (int d = 0; d < out->rank; d++) out->dims[d] = d >= skip && d - skip < given.rank ? given.dims[d - skip] : 1;
}

/* Describes a cell of objects as an object whose fields are arrays with one element per object. */
static bool describe_objects(Maker *m, int arg, KVal *out) {
    const Packed *p = m->request->packed;
    Class *cls = p->cls[arg];
    const Cell *cell = p->given[arg].u.p;
    size_t n = (size_t)cls->nfields + 1;
    bool any = false;
    *out = (KVal){.kind = KV_OBJECT, .rank = cell->rank, .cls = cls, .type = cls->type};
    out->is_mutable = cls->kind == CLASS_MUTABLE, out->types = field_types(m, cls);
    out->fields = qarena_alloc(m->arena, qmem_size(n, sizeof *out->fields, 0));
    out->names = qarena_alloc(m->arena, qmem_size(n, sizeof *out->names, 0));
    for (; out->nfields < cls->nfields; out->nfields++) {
        KVal *f = &out->fields[out->nfields];
        int source = entry(m, FROM_LOCAL, -1, p->first[arg] + out->nfields);
        if (source < 0) return false;
        if (!describe_value(m, source, f)) *f = (KVal){.kind = KV_NONE};
        qs_value first = ((const Object *)cell->items[0].u.p)->slots[out->nfields];
        if (f->kind == KV_ARRAY)
            give_entries(f, out->rank, first.kind == QS_ARRAY ? qval_array(first)->rank : 0), any = true;
        out->names[out->nfields] = cls->fields[out->nfields].name;
    }
    return any;
}

static qs_status describe_args(Maker *m, KVal *args) {
    const Packed *p = m->request->packed;
    for (int i = 0; i < m->request->nargs; i++) {
        int source = entry(m, FROM_LOCAL, -1, i);
        bool objects = p && p->cls[i];
        if (source < 0 || !(objects ? describe_objects(m, i, &args[i]) : describe_value(m, source, &args[i])))
            return refuse_arg(m, i);
        if (p && p->inner[i]) give_entries(&args[i], ((const Cell *)p->given[i].u.p)->rank, p->inner[i]);
    }
    return QS_OK;
}

/* Lowers until no more known values are needed; each iteration makes at least one more value known. */
static qs_status lower(Maker *m, KernelSpecialization *s, LowerResult *out) {
    Ctx *c = qvm_ctx(m->vm);
    const Request *r = m->request;
    LowerHost host = {m, ask_symbol, ask_function, ask_type, ask_fields, ask_instance, ask_arguments, ask_declared};
    const qs_config *config = &qvm(m->vm)->config;
    LowerJob job = {.nargs = r->nargs,
                    .rank = r->rank,
                    .serial = r->serial,
                    .checked = config->checked,
                    .fast_math = config->fast_math,
                    .device = m->device->ops->kind,
                    .gpu = m->device->wide,
                    .host = &host};
    KVal *args = qarena_alloc(m->arena, qmem_size((size_t)r->nargs, sizeof *args, sizeof *args));
    int self = entry(m, FROM_FUNCTION, -1, 0);
    job.args = args;
    TRY(find_by_value(m));
    for (int attempt = 0; attempt < MAX_ENTRIES; attempt++) {
        describe_value(m, self, &job.fn);
        TRY(describe_args(m, args));
        TRY(klower_kernel(c, &s->base.arena, &job, out));
        bool shares = out->func && (out->func->shared || out->func->barrier);
        /* If positions of a block cooperate, the code is compiled for a given block size, so that loops over the block
         * have constant lengths. */
        bool again = shares && r->explicit_block && !job.block;
        if (out->func && !again) return QS_OK;
        if (again || out->needs_block) job.block = s->block;
        for (int i = 0; i < out->nneeds; i++) TRY(make_known(m, out->needs[i]));
    }
    return qerr_set(c, QS_EINTERNAL, "kernel %s: values are needed without end", r->site.fn->name->s);
}

/* -- arrays that are written completely ---------------------------------------------------------------------------- */
static bool is_position(const KFunc *f, KRef r, int axis) {
    return f->ins[r].op == K_POS && f->ins[r].imm == (uint64_t)axis;
}

static bool is_extent(const KFunc *f, KRef r, uint64_t param, int axis) {
    return f->ins[r].op == K_DIM && f->ins[r].imm == (param << 8 | (uint64_t)axis);
}

/* Is r the index (pos0*dim1 + pos1)*dim2 + pos2 …, the element at pos? */
static bool is_own_element(const KFunc *f, KRef r, uint64_t param, int axis) {
    if (axis == 0) return is_position(f, r, 0);
    const KIns *add = &f->ins[r], *mul = &f->ins[add->a];
    return add->op == K_ADD && mul->op == K_MUL && is_position(f, add->b, axis) && is_extent(f, mul->b, param, axis) &&
           is_own_element(f, mul->a, param, axis - 1);
}

static bool is_own_test(const KFunc *f, KRef r, uint64_t param) {
    const KIns *i = &f->ins[r];
    if (!r) return true;
    if (i->op == K_AND) return is_own_test(f, i->a, param) && is_own_test(f, i->b, param);
    if (i->op != K_INB || f->ins[i->a].op != K_POS) return false;
    return is_extent(f, i->b, param, (int)f->ins[i->a].imm);
}

/* Marks the parameters that are only written, by a store that every position reaches.  Their old contents need not be
 * transferred to the device. */
static void find_covered(KernelSpecialization *s) {
    const KFunc *f = s->base.version[0].func;
    int depth = 0;
    s->covers = qarena_alloc(&s->base.arena, (size_t)f->nparams + 1);
    if (s->base.version[0].checks || kir_has(f, K_RET)) return;
    for (uint32_t r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        if (i->op == K_IF || i->op == K_LOOP || i->op == K_FOR) depth++;
        if (i->op == K_END) depth--;
        if (i->op != K_STORE || depth) continue;
        const KParam *p = &f->params[i->imm];
        bool simple = !p->read && p->contiguous && p->rank == f->rank && !qdtype_is_complex((qs_dtype)p->dtype);
        s->covers[i->imm] |= simple && is_own_element(f, i->a, i->imm, p->rank - 1) && is_own_test(f, i->c, i->imm);
    }
}

static void finish_specialization(Maker *m, KernelSpecialization *s, const LowerResult *r) {
    qspec_set(&s->base, 0, r->func);
    qspec_enter(&s->base, &m->e);
    s->binds = r->binds, s->prints = r->prints, s->nprints = r->nprints;
    s->device = r->asks_device ? m->device : NULL;
    s->uses_blocks = kir_knows_blocks(r->func);
    find_covered(s);
}

/* Compiles the 32-bit version ahead of time, too, for devices that are not present (kernel.c, fit_indices). */
static qs_status compile_small(Maker *m, const KernelSpecialization *s) {
    if (!qvm(m->vm)->config.compile_for || s->serial) return QS_OK;
    return qdevprog_compile_ahead(m->vm, kir_small(m->arena, s->base.version[0].func));
}

/* Reports that the processor runs launches on one thread: the values of atomic functions depend on the order of
 * positions, which thus is the same in each run. */
static void report_order(qs_vm *vm, const KFunc *f) {
    for (KRef r = 1; r < f->nins && !f->serial; r++) {
        const KIns *i = &f->ins[r];
        if (!kir_is_fetch(i->op)) continue;
        bool prints = i->op == K_FETCH && f->params[i->imm].log;
        qreport_explain(vm, (Where){f->src, i->pos},
                        "kernel %s: on one thread of the processor, in the order of positions: %s", f->name->s,
                        prints ? "it prints" : "it uses the value of an atomic function");
        return;
    }
}

static qs_status check_params(qs_vm *vm, const KFunc *f) {
    if (f->nparams <= MAX_PARAMS) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "kernel %s: %d values enter it, %d at most can", f->name->s, f->nparams,
                    MAX_PARAMS);
}

static void keep_cells(KernelSpecialization *s, const Packed *p) {
    size_t n = (size_t)p->n;
    s->inner = memcpy(qarena_alloc(&s->base.arena, n), p->inner, n);
    s->cls = memcpy(qarena_alloc(&s->base.arena, qmem_size(n, sizeof *p->cls, 0)), p->cls, n * sizeof *p->cls);
}

enum { SPECIAL_FORMS = 64 /* per kernel; further ones compile in fewer values */ };

qs_status qkernel_make(qs_vm *vm, SpecializationList *forms, const Request *r, KernelSpecialization **out) {
    Ctx *c = qvm_ctx(vm);
    Maker *m = qmem_alloc(c, sizeof *m);
    Arena scratch;
    LowerResult result;
    KernelSpecialization *s = *out = qspec_new(vm, forms, sizeof *s, "kernel ");
    qarena_init(&scratch, c);
    if (r->packed) keep_cells(s, r->packed);
    s->rank = r->rank, s->nargs = r->nargs, s->serial = r->serial, s->explicit_block = r->explicit_block;
    memcpy(s->block, r->block, sizeof s->block);
    m->vm = m->e.vm = vm, m->request = r, m->arena = &scratch, m->keep = &s->base.arena;
    m->e.site = r->site, m->e.spec_kind = SPEC_KERNEL, m->e.many = forms->n > SPECIAL_FORMS;
    qs_status status = qdevices_current(vm, &m->device);
    if (status == QS_OK) status = lower(m, s, &result);
    if (status == QS_OK) status = check_params(vm, result.func);
    if (status == QS_OK) report_order(vm, result.func);
    if (status == QS_OK) finish_specialization(m, s, &result), status = compile_small(m, s);
    else qcaptured_release(vm, m->e.at, m->e.n), qspec_drop_first(vm, forms);
    qarena_free(&scratch);
    qmem_free(c, m, sizeof *m);
    return status;
}
