/* kernel_spec.c -- specialisations: host values as the lowering sees them, and the way from a kernel to a program. */
#include "vm/launch/kernels.h"
#include "vm/session/module.h"
#include "vm/session/modtype.h"
#include "vm/session/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- signatures -------------------------------------------------------------------------------------------------- */
/* How many bits a whole number needs, in the steps that matter: exact as float32, an int, exact as float64. */
static int bits_of(double x) {
    if (x != floor(x)) return 0;
    double a = fabs(x);
    return a <= 0x1p24 ? 24 : a < 0x1p31 ? 31 : a <= 0x1p53 ? 53 : 0;
}

static int bits_of_int(int64_t x) {
    uint64_t a = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    return a <= 1u << 24 ? 24 : a < 1u << 31 ? 31 : 53;
}

static bool unit_last(const Array *a) {
    return a->rank == 0 || a->strides[a->rank - 1] == 1 || a->dims[a->rank - 1] <= 1;
}

static uint64_t address(const void *p) { return (uint64_t)(uintptr_t)p; }

static uint64_t array_signature(const Array *a) {
    return (uint64_t)a->dtype | (uint64_t)a->rank << 8 | (uint64_t)a->contiguous << 16 | (uint64_t)unit_last(a) << 17;
}

static uint64_t function_signature(const Function *f) {
    return address(f->fkind == FN_SCRIPT   ? (const void *)f->ast
                   : f->fkind == FN_NATIVE ? (const void *)f->native
                                           : (const void *)f);
}

static uint64_t string_signature(const Str *s) { return (uint64_t)s->hash << 16 ^ s->len; }

uint64_t qkspec_signature(qs_value v) {
    uint64_t s = 0;
    switch ((qs_kind)v.kind) {
    case QS_NUM: s = (uint64_t)bits_of(v.u.f); break;
    case QS_INT: s = (uint64_t)bits_of_int(v.u.i); break;
    case QS_ARRAY: s = array_signature(v.u.p); break;
    case QS_STRING: s = string_signature(v.u.p); break;
    case QS_FUNCTION: s = function_signature(v.u.p); break;
    case QS_OBJECT: s = address(((const Object *)v.u.p)->cls); break;
    case QS_TYPE: s = address(((const TypeValue *)v.u.p)->type); break;
    default: s = v.aux; break;
    }
    return s | (uint64_t)v.kind << 56;
}

/* -- sources ----------------------------------------------------------------------------------------------------- */
qs_value qkspec_value(qs_vm *vm, const KSource *s, const Request *r, const qs_value *values) {
    const void *parent = s->parent >= 0 ? values[s->parent].u.p : NULL;
    switch ((SourceKind)s->kind) {
    case SRC_KERNEL: return qval_object(QS_FUNCTION, r->kernel);
    case SRC_ARG: return r->args[s->index];
    case SRC_CAPTURE: return ((const Function *)parent)->captures[s->index];
    case SRC_GLOBAL: return *qvm_global(vm, (uint64_t)s->index);
    case SRC_FIELD: return ((const Object *)parent)->slots[s->index];
    case SRC_MEMBER: return qval_object(QS_FUNCTION, ((const Function *)parent)->members[s->index]);
    }
    return qs_nil();
}

static bool same_number(const KSource *s, qs_value v) {
    if (v.kind == QS_STRING) return qstr_equal(s->kept.u.p, v.u.p);
    if (v.kind == QS_COMPLEX)
        return s->num[0] == ((const Complex *)v.u.p)->re && s->num[1] == ((const Complex *)v.u.p)->im;
    return s->num[0] == qval_number(v);
}

static bool same_dims(const KSource *s, const Array *a) {
    for (int d = 0; d < a->rank; d++)
        if (s->dims_known >> d & 1 && a->dims[d] != s->dims[d]) return false;
    return true;
}

double qkspec_element(qs_vm *vm, Array *a, size_t i) {
    const void *p;
    if (qarr_read(vm, a, &p) != QS_OK) return 0;
    return qdtype_get((qs_dtype)a->dtype, (const char *)p + qarr_offset(a, i) * qdtype_size((qs_dtype)a->dtype));
}

static bool same_elements(qs_vm *vm, const KSource *s, Array *a) {
    for (size_t i = 0; i < a->count; i++)
        if (qkspec_element(vm, a, i) != s->vec[i]) return false;
    return true;
}

bool qkspec_agrees(qs_vm *vm, const KSource *s, qs_value v) {
    if (qkspec_signature(v) != s->signature) return false;
    if (s->dims_known && !same_dims(s, v.u.p)) return false;
    if (!s->num_known) return true;
    return v.kind == QS_ARRAY ? same_elements(vm, s, v.u.p) : same_number(s, v);
}

/* -- what the lowering asks -------------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    const Request *request;
    KSource source[KRN_SOURCES];
    qs_value value[KRN_SOURCES];
    int n;
    Arena *arena, *keep;  /* for the making; as long as the specialisation */
} Maker;

/* The number of a source, a new one on first mention; -1: there are too many. */
static int source_of(Maker *m, SourceKind k, int parent, int index) {
    for (int i = 0; i < m->n; i++)
        if (m->source[i].kind == k && m->source[i].parent == parent && m->source[i].index == index) return i;
    if (m->n == KRN_SOURCES) return -1;
    KSource s = {.kind = (uint8_t)k, .parent = parent, .index = index, .kept = qs_nil()};
    qs_value v = qkspec_value(m->vm, &s, m->request, m->value);
    s.signature = qkspec_signature(v);
    bool by_address = v.kind == QS_FUNCTION && ((const Function *)v.u.p)->fkind == FN_SET;
    if (v.kind == QS_STRING || by_address) s.kept = qval_retain(v);
    s.num_known = v.kind == QS_STRING;
    m->value[m->n] = v;
    m->source[m->n] = s;
    return m->n++;
}

static bool describe(Maker *m, int source, KVal *out);

static void describe_number(Maker *m, const KSource *s, qs_value v, KVal *out) {
    qs_dtype scalar = qvm_ctx(m->vm)->scalar_dtype;
    out->kind = KV_NUM, out->known = s->num_known;
    out->dtype = (uint8_t)(v.kind == QS_BOOL ? QS_B1 : v.kind == QS_COMPLEX ? qdtype_complex_of(scalar) : scalar);
    if (v.kind == QS_COMPLEX) {
        const Complex *z = v.u.p;
        out->num[0] = z->re, out->num[1] = z->im;
        return;
    }
    out->num[0] = qval_number(v);
    out->bits = (uint8_t)(v.kind == QS_INT ? bits_of_int(v.u.i) : v.kind == QS_NUM ? bits_of(v.u.f) : 0);
}

static void describe_array(const KSource *s, const Array *a, KVal *out) {
    out->kind = s->by_value ? KV_VEC : KV_ARRAY, out->dtype = a->dtype;
    out->known = s->by_value && s->num_known, out->vec = s->vec;
    out->rank = a->rank ? a->rank : 1;
    out->contiguous = a->contiguous, out->unit_last = unit_last(a);
    for (int d = 0; d < a->rank; d++)
        if (s->dims_known >> d & 1) out->dims[d] = a->dims[d];
    if (!a->rank) out->dims[0] = 1;
}

static bool describe_members(Maker *m, int source, const Function *set, KVal *out) {
    out->noverloads = set->nmembers;
    out->overloads = qarena_alloc(m->arena, (size_t)set->nmembers * sizeof *out->overloads);
    for (int i = 0; i < set->nmembers; i++) {
        int member = source_of(m, SRC_MEMBER, source, i);
        if (member < 0 || !describe(m, member, &out->overloads[i])) return false;
    }
    return true;
}

static bool describe_function(Maker *m, int source, const Function *f, KVal *out) {
    out->kind = KV_FUNC;
    switch ((FunctionKind)f->fkind) {
    case FN_SCRIPT: out->func = f->ast; return true;
    case FN_NATIVE: out->builtin = f->native->name; return true;
    case FN_SET: return describe_members(m, source, f, out);
    case FN_FOREIGN: return false;
    }
    return false;
}

static bool describe_object(Maker *m, int source, const Object *o, KVal *out) {
    if (!o->cls || o->cls->kind == CLASS_DYNAMIC) return false;
    out->kind = KV_OBJECT, out->cls = o->cls, out->type = o->cls->type;
    out->is_mutable = o->cls->kind == CLASS_MUTABLE;
    out->fields = qarena_alloc(m->arena, (size_t)(o->cls->nfields + 1) * sizeof *out->fields);
    out->names = qarena_alloc(m->arena, (size_t)(o->cls->nfields + 1) * sizeof *out->names);
    for (int i = 0; i < o->cls->nfields; i++) {
        int field = source_of(m, SRC_FIELD, source, i);
        if (field < 0) return false;
        /* a field that no kernel can use matters only when it is used */
        if (!describe(m, field, &out->fields[out->nfields])) out->fields[out->nfields] = (KVal){.kind = KV_NONE};
        out->names[out->nfields++] = o->cls->fields[i].name;
    }
    return true;
}

static bool describe(Maker *m, int source, KVal *out) {
    const KSource *s = &m->source[source];
    qs_value v = m->value[source];
    *out = (KVal){.kind = KV_NONE, .source = source};
    switch ((qs_kind)v.kind) {
    case QS_BOOL: case QS_INT: case QS_NUM: case QS_COMPLEX: return describe_number(m, s, v, out), true;
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
    int source = source_of(m, SRC_GLOBAL, -1, slot);
    if (source < 0 || !describe(m, source, out)) return false;
    if (out->kind == KV_NUM && is_builtin(m, name, slot)) out->known = true; /* pi, true: they do not change */
    return true;
}

static bool ask_symbol(void *ud, const KVal *fn, const Sym *sym, KVal *out) {
    Maker *m = ud;
    if (sym->kind == SYM_GLOBAL) return global_value(m, sym->name, sym->index, out);
    if (sym->kind != SYM_CAPTURE || !fn) return false;
    int source = source_of(m, SRC_CAPTURE, fn->source, sym->index);
    return source >= 0 && describe(m, source, out);
}

static bool ask_function(void *ud, Str *name, KVal *out) {
    Maker *m = ud;
    int slot = qnames_lookup(m->vm, qmod_of(m->request->kernel->ast), name);
    return slot >= 0 && global_value(m, name, slot, out) && out->kind == KV_FUNC;
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

static bool ask_fields(void *ud, const Type *t, KFields *out) {
    Maker *m = ud;
    const Class *c = t->cls;
    if (!c || c->kind == CLASS_DYNAMIC) return false;
    size_t n = (size_t)c->nfields + 1;
    *out = (KFields){.n = c->nfields, .is_mutable = c->kind == CLASS_MUTABLE};
    out->names = qarena_alloc(m->arena, n * sizeof *out->names);
    out->types = qarena_alloc(m->arena, n * sizeof *out->types);
    out->inits = qarena_alloc(m->arena, n * sizeof *out->inits);
    for (int i = 0; i < c->nfields; i++) {
        const KSource known = {.num_known = true};
        qs_value v = c->fields[i].init;
        out->names[i] = c->fields[i].name;
        out->types[i] = c->fields[i].type ? c->fields[i].type : qtype_any(qvm_ctx(m->vm));
        out->inits[i].kind = KV_NONE;
        if (qval_is_number(v)) describe_number(m, &known, v, &out->inits[i]);
    }
    return true;
}

/* -- making ------------------------------------------------------------------------------------------------------ */
/* A small array is handed over by value: its extents are compiled in, its elements become parameters. */
static void hand_over(Maker *m, int source) {
    KSource *s = &m->source[source];
    const Array *a = m->value[source].u.p;
    s->by_value = true;
    s->dims_known = (uint8_t)((1u << a->rank) - 1);
    memcpy(s->dims, a->dims, sizeof s->dims);
}

/* Is the source an argument that the kernel writes to? */
static bool is_written(const Maker *m, const KSource *s) {
    const Func *f = m->request->kernel->ast;
    for (int i = 0, next = 0; s->kind == SRC_ARG && i < f->nparams; i++)
        if (klower_special(f->params[i].name) < 0 && next++ == s->index) return klower_assigns(f, f->params[i].sym);
    return false;
}

static qs_status elements_known(Maker *m, int source) {
    KSource *s = &m->source[source];
    Array *a = m->value[source].u.p;
    if (is_written(m, s))
        return qerr_set(qvm_ctx(m->vm), QS_EVALUE,
                        "kernel %s: the size of an array depends on elements of argument %d, which it writes to",
                        m->request->kernel->name->s, s->index + 1);
    if (a->count > KLOWER_BY_VALUE || qdtype_is_complex((qs_dtype)a->dtype))
        return qerr_set(qvm_ctx(m->vm), QS_EVALUE, "kernel %s: the size of an array depends on the elements of %s",
                        m->request->kernel->name->s, qval_type_name(m->vm, m->value[source]));
    hand_over(m, source);
    s->num_known = true;
    s->vec = qarena_alloc(m->keep, (a->count + 1) * sizeof *s->vec);
    for (size_t i = 0; i < a->count; i++) s->vec[i] = qkspec_element(m->vm, a, i);
    return QS_OK;
}

static qs_status make_known(Maker *m, KNeed need) {
    KSource *s = &m->source[need.source];
    qs_value v = m->value[need.source];
    if (need.axis < 0 && v.kind == QS_ARRAY) return elements_known(m, need.source);
    if (need.axis < 0) {
        KVal k;
        s->num_known = true;
        describe_number(m, s, v, &k);
        memcpy(s->num, k.num, sizeof s->num);
        return QS_OK;
    }
    const Array *a = v.u.p;
    int d = need.rank > a->rank && a->rank == 1 ? need.axis - 1 : need.axis;
    s->dims_known |= (uint8_t)(1u << d);
    s->dims[d] = a->dims[d];
    return QS_OK;
}

/* Arguments whose declared type is a small fixed size: ivec2, mat2x2. */
static qs_status find_by_value(Maker *m) {
    const Request *r = m->request;
    const Func *f = r->kernel->ast;
    for (int i = 0, next = 0; i < f->nparams && next < r->nargs; i++) {
        const Param *p = &f->params[i];
        const Type *t;
        if (klower_special(p->name) >= 0) continue;
        int arg = next++, source = source_of(m, SRC_ARG, -1, arg);
        if (!p->type || r->args[arg].kind != QS_ARRAY || source < 0) continue;
        if (qmodtype_mentions_param(p->type, f)) continue;
        TRY(qmodtype_resolve(m->vm, qmod_of(f), p->type, f->unit->src, NULL, &t, NULL));
        if (klower_by_value(f, p, t) && ((const Array *)r->args[arg].u.p)->count <= KLOWER_BY_VALUE)
            hand_over(m, source);
    }
    return QS_OK;
}

static qs_status refuse_arg(const Maker *m, int i) {
    Text got;
    qtext_init(&got, qvm_ctx(m->vm));
    qval_put_type(m->vm, &got, m->request->args[i]);
    qs_status s = qerr_set(qvm_ctx(m->vm), QS_ETYPE, "kernel %s: argument %d is %s, which a kernel cannot take",
                           m->request->kernel->name->s, i + 1, got.s);
    qtext_free(&got);
    return s;
}

static qs_status describe_args(Maker *m, KVal *args) {
    for (int i = 0; i < m->request->nargs; i++) {
        int source = source_of(m, SRC_ARG, -1, i);
        if (source < 0 || !describe(m, source, &args[i])) return refuse_arg(m, i);
    }
    return QS_OK;
}

/* Lowers until nothing more is needed; each turn makes at least one more value known. */
static qs_status lower(Maker *m, Spec *s, LowerResult *out) {
    Ctx *c = qvm_ctx(m->vm);
    const Request *r = m->request;
    LowerHost host = {m, ask_symbol, ask_function, ask_type, ask_fields};
    const qs_config *config = &qvm(m->vm)->config;
    LowerJob job = {.nargs = r->nargs,
                    .rank = r->rank,
                    .serial = r->serial,
                    .checked = config->checked,
                    .fast_math = config->fast_math,
                    .host = &host};
    KVal *args = qarena_alloc(m->arena, (size_t)(r->nargs + 1) * sizeof *args);
    int self = source_of(m, SRC_KERNEL, -1, 0);
    job.args = args;
    TRY(find_by_value(m));
    for (int turn = 0; turn < KRN_SOURCES; turn++) {
        describe(m, self, &job.fn);
        TRY(describe_args(m, args));
        TRY(klower_kernel(c, &s->arena, &job, out));
        bool shares = out->func && (out->func->shared || out->func->barrier);
        /* A given block is compiled for, where positions work together: then the loops over them have known lengths. */
        bool again = shares && r->explicit_block && !job.block;
        if (out->func && !again) return QS_OK;
        if (again || out->needs_block) job.block = s->block;
        for (int i = 0; i < out->nneeds; i++) TRY(make_known(m, out->needs[i]));
    }
    return qerr_set(c, QS_EINTERNAL, "kernel %s: values are needed without end", r->kernel->name->s);
}

/* -- what is written completely ---------------------------------------------------------------------------------- */
static bool is_position(const KFunc *f, KRef r, int axis) {
    return f->ins[r].op == K_POS && f->ins[r].imm == (uint64_t)axis;
}

static bool is_extent(const KFunc *f, KRef r, uint64_t param, int axis) {
    return f->ins[r].op == K_DIM && f->ins[r].imm == (param << 8 | (uint64_t)axis);
}

/* (pos0*dim1 + pos1)*dim2 + pos2 … : the element at pos */
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

/* A parameter that is only written, by a store that every position reaches: what it held before does not matter, so
 * it need not be brought to the device. */
static void find_covered(Spec *s) {
    const KFunc *f = s->func;
    int depth = 0;
    s->covers = qarena_alloc(&s->arena, (size_t)f->nparams + 1);
    if (s->has_check || kir_has(f, K_RET)) return;
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

/* 0 is nobody; that two specialisations have one name does no harm but to predictions. */
static uint8_t next_maker(KernelCache *k) { return k->makers = (uint8_t)(k->makers % UINT8_MAX + 1); }

static void finish(Maker *m, Spec *s, const LowerResult *r) {
    s->func = r->func, s->binds = r->binds;
    s->has_check = kir_has(r->func, K_CHECK);
    s->uses_blocks = kir_knows_blocks(r->func);
    find_covered(s);
    s->nsources = m->n;
    s->patience = 1, s->maker = next_maker(qvm(m->vm)->kernels);
    s->sources = qarena_alloc(&s->arena, (size_t)(m->n + 1) * sizeof *s->sources);
    memcpy(s->sources, m->source, (size_t)m->n * sizeof *s->sources);
}

static void release_sources(qs_vm *vm, const KSource *s, int n) {
    for (int i = 0; i < n; i++) qval_release(vm, s[i].kept);
}

static qs_status check_params(qs_vm *vm, const KFunc *f) {
    if (f->nparams <= KRN_PARAMS) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "kernel %s: %d values enter it, %d at most can", f->name->s, f->nparams,
                    KRN_PARAMS);
}

qs_status qkspec_make(qs_vm *vm, const Request *r, uint64_t key, Spec **out) {
    Ctx *c = qvm_ctx(vm);
    Maker *m = qmem_alloc(c, sizeof *m);
    Arena scratch;
    LowerResult result;
    Spec *s = qmem_alloc(c, sizeof *s);
    qarena_init(&scratch, c);
    qarena_init(&s->arena, c);
    s->key = key, s->rank = r->rank, s->serial = r->serial, s->explicit_block = r->explicit_block;
    memcpy(s->block, r->block, sizeof s->block);
    m->vm = vm, m->request = r, m->arena = &scratch, m->keep = &s->arena;
    qs_status status = lower(m, s, &result);
    if (status == QS_OK) status = check_params(vm, result.func);
    if (status == QS_OK) finish(m, s, &result);
    else release_sources(vm, m->source, m->n);
    qarena_free(&scratch);
    qmem_free(c, m, sizeof *m);
    if (status == QS_OK) return *out = s, QS_OK;
    qkspec_free(vm, s);
    return status;
}

void qkspec_free(qs_vm *vm, Spec *s) {
    for (int i = 0; i < MAX_DEVICES; i++)
        if (s->on[i].program) qkspec_release(vm, s->on[i].program);
    release_sources(vm, s->sources, s->nsources);
    qarena_free(&s->arena);
    qmem_free(qvm_ctx(vm), s, sizeof *s);
}

KernelCache *qkspec_cache(qs_vm *vm) {
    Machine *m = qvm(vm);
    if (m->kernels) return m->kernels;
    m->kernels = qmem_alloc(&m->base, sizeof *m->kernels);
    return m->kernels;
}

/* -- programs ---------------------------------------------------------------------------------------------------- */
static Loaded *find_loaded(const KernelCache *k, const Device *d, uint64_t hash) {
    if (d->ops->code == CODE_KIR) return NULL; /* such a program is the KFunc itself */
    for (Loaded *l = k->loaded; l; l = l->next)
        if (l->hash == hash && l->device == d) return l;
    return NULL;
}

static void remember(qs_vm *vm, Device *d, uint64_t hash, Program *p) {
    Loaded *l = qmem_alloc(qvm_ctx(vm), sizeof *l);
    *l = (Loaded){qvm(vm)->kernels->loaded, hash, d, p, 1};
    qvm(vm)->kernels->loaded = l;
}

qs_status qkspec_compile_ahead(qs_vm *vm, const KFunc *f) {
    KernelCache *k = qkspec_cache(vm);
    Code code;
    if (!qvm(vm)->config.compile_for || kcompile_differs(f, CODE_PTX)) return QS_OK;
    if (!k->compiler) k->compiler = kcompile_open(qvm_ctx(vm), qvm(vm)->config.cache_dir);
    TRY(kcompile_ahead(k->compiler, f, qvm(vm)->config.compile_for, &code));
    qkreport_code(vm, &code);
    kcompile_free(k->compiler, &code);
    return QS_OK;
}

/* Code that a driver refuses is made once more, with positions, and refused again: then the error has the statement's
 * place.  Where it cannot be made, the first error stands. */
static qs_status load_located(qs_vm *vm, const KFunc *f, Device *d, Program **out) {
    Ctx *c = qvm_ctx(vm);
    KCompiler *compiler = qvm(vm)->kernels->compiler;
    ErrorState first = c->err;
    Code code;
    qerr_clear(c);
    qs_status s = kcompile_located(compiler, f, d, &code);
    if (s == QS_OK) {
        s = d->ops->load(d, &code, out);
        kcompile_free(compiler, &code);
    } else c->err = first, s = QS_EDEVICE;
    return s;
}

qs_status qkspec_program(qs_vm *vm, const KFunc *f, Device *d, Program **out) {
    KernelCache *k = qkspec_cache(vm);
    Code code;
    Loaded *known = find_loaded(k, d, f->hash);
    if (known) return known->users++, *out = known->program, QS_OK;
    if (!k->compiler) k->compiler = kcompile_open(qvm_ctx(vm), qvm(vm)->config.cache_dir);
    TRY(qkspec_compile_ahead(vm, f));
    TRY(qkreport_show(vm, k->compiler, f, d));
    TRY(kcompile(k->compiler, f, d, &code));
    qs_status status = d->ops->load(d, &code, out);
    kcompile_free(k->compiler, &code);
    if (status == QS_EDEVICE && kcompile_locates(code.kind) && f->src) status = load_located(vm, f, d, out);
    if (status != QS_OK && f->src) qerr_place(qvm_ctx(vm), (Where){f->src, f->ins[1].pos});
    if (status == QS_OK) remember(vm, d, f->hash, *out);
    return status;
}

void qkspec_release(qs_vm *vm, Program *p) {
    Loaded **at = &qvm(vm)->kernels->loaded;
    while (*at && (*at)->program != p) at = &(*at)->next;
    Loaded *l = *at;
    if (!l || --l->users) return;
    *at = l->next;
    l->device->ops->unload(l->device, p);
    qmem_free(qvm_ctx(vm), l, sizeof *l);
}

qs_status qkspec_load(qs_vm *vm, Spec *s, Device *d, Program **out) {
    SpecOn *on = &s->on[d - qvm(vm)->devices];
    if (!on->program) {
        double start = qkchoose_now();
        TRY(qkspec_program(vm, s->func, d, &on->program));
        qkchoose_made(vm, d, qkchoose_now() - start);
    }
    return *out = on->program, QS_OK;
}
