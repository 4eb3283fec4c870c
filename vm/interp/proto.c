/* proto.c -- compiles functions to bytecode and creates the values of their literals. */
#include "vm/interp/proto.h"
#include "vm/interp/interp.h"

#include <string.h>

#include "lang/kernel/lower/fusion/fuse.h"
#include "vm/interp/jit.h"
#include "vm/program/modtype.h"
#include "vm/program/module.h"

/* -- callbacks of the bytecode compiler ---------------------------------------------------------------------------- */

static int builtin_slot(void *ud, const char *name) {
    uint64_t slot = 0;
    qs_vm *vm = ud;
    bool found = qmap_get(&qvm(vm)->builtins, qstr_cname(qvm_ctx(vm), name), &slot);
    return found ? (int)slot : 0;
}

static Fusible fusible(void *ud, const char *name, int nargs) {
    (void)ud;
    if (kfuse_reduction(name, nargs) != RED_NONE) return FUSIBLE_REDUCTION;
    if (kfuse_along(name, nargs) != RED_NONE) return FUSIBLE_ALONG;
    return kfuse_function(name, nargs) ? FUSIBLE_EACH : FUSIBLE_NOT;
}

/* Returns whether the global is a native that cannot change arrays.  Natives that call functions of the program may.
 * again: it has no effects either, so that a second call gives the same. */
static bool is_pure(void *ud, int slot, bool again) {
    qs_value v = *qvm_global(ud, (uint64_t)slot);
    const Function *f = v.kind == QS_FUNCTION ? v.u.p : NULL;
    return f && f->fkind == FN_NATIVE && !(again && f->acts) && strcmp(f->name->s, "parallel_do") != 0 &&
           strcmp(f->name->s, "serial_do") != 0;
}

static qs_status known_type(void *ud, TypeExpr *e, Func *in, const Type **out) {
    TypeMods mods = {0};
    *out = NULL;
    if (qmodtype_mentions_param(e, in)) return QS_OK;
    return qmodtype_resolve(ud, qmod_of(in), e, in->unit->src, NULL, out, &mods);
}

/* -- literals ------------------------------------------------------------------------------------------------------ */

static qs_value pointer_literal(uint32_t aux, void *p) {
    qs_value v = {QS_NIL, aux, {0}};
    v.u.p = p;
    return v;
}

qs_status qproto_table(qs_vm *vm, const NumTable *t, qs_value *out) {
    Array *a;
    bool wide = t->wide;
    if (t->whole) {
        void *at;
        TRY(qarr_make(vm, t->is_uint64 ? QS_U64 : QS_I64, t->rank, t->dims, false, &a, &at));
        *out = qarr_value(a);
        return memcpy(at, t->whole, t->n * sizeof *t->whole), QS_OK;
    }
    for (size_t i = 0; i < t->n; i++) wide |= qdtype_rounds_integral(t->at[i]);
    TRY(qarr_new(vm, wide ? QS_F64 : qvm_ctx(vm)->scalar_dtype, t->rank, t->dims, false, &a));
    *out = qarr_value(a);
    for (size_t i = 0; i < t->n; i++) TRY(qarr_put(vm, a, i, qs_num(t->at[i])));
    return QS_OK;
}

static qs_status type_literal(qs_vm *vm, Func *f, TypeExpr *e, qs_value *out) {
    const Type *t;
    TypeMods mods = {0};
    if (qmodtype_mentions_param(e, f)) {
        *out = pointer_literal(LIT_AUX_TYPE, e);
        return QS_OK;
    }
    TRY(qmodtype_resolve(vm, qmod_of(f), e, f->unit->src, NULL, &t, &mods));
    return qcall_type_value(vm, t, mods, out);
}

static qs_status make_literal(qs_vm *vm, Func *f, const Literal *l, qs_value *out) {
    switch (l->kind) {
    case LIT_NUM: *out = qs_num(l->u.num[0]); break;
    case LIT_INT: *out = qs_int(l->u.whole); break;
    case LIT_COMPLEX: return qval_complex(vm, l->u.num[0], l->u.num[1], out);
    case LIT_STR: *out = qval_retain(qval_object(QS_STRING, l->u.str)); break;
    case LIT_TYPE: return type_literal(vm, f, l->u.type, out);
    case LIT_FUNC: *out = pointer_literal(LIT_AUX_FUNC, l->u.func); break;
    case LIT_ARRAY: return qproto_table(vm, l->u.table, out);
    case LIT_NAMES: *out = pointer_literal(LIT_AUX_NAMES, l->u.names); break;
    case LIT_UNIT: *out = pointer_literal(LIT_AUX_UNIT, l->u.import); break;
    }
    return QS_OK;
}

/* -- protos -------------------------------------------------------------------------------------------------------- */

static void release_proto(qs_vm *vm, Proto *p) {
    Ctx *c = qvm_ctx(vm);
    for (uint32_t i = 0; i < p->chunk.nlits; i++) qval_release(vm, p->k[i]);
    qmem_free(c, p->k, p->chunk.nlits * sizeof *p->k);
    qmem_free(c, p->caches, p->chunk.ncaches * sizeof *p->caches);
    for (uint32_t i = 0; i < p->chunk.nfuses; i++) qlaunch_hooks(vm)->fuse_free(vm, p->chunk.fuses[i]);
    qlaunch_hooks(vm)->function_free(vm, p);
    qlaunch_hooks(vm)->loop_count_left(vm, p);
    for (uint32_t i = 0; i < p->chunk.nloops; i++) qlaunch_hooks(vm)->loop_free(vm, &p->chunk.loops[i]);
    qbytecode_free(&p->chunk);
    qmem_free(c, p, sizeof *p);
}

/* Returns the function in a global slot; NULL: there is none, or rewrite rules apply to its code. */
static const Func *program_function(void *ud, int slot) {
    qs_value v = *qvm_global(ud, (uint64_t)slot);
    const Function *f = v.kind == QS_FUNCTION ? v.u.p : NULL;
    int nrules = 0;
    if (f && f->fkind == FN_SCRIPT) (void)qmod_rules(ud, qmod_of(f->ast), &nrules);
    return f && f->fkind == FN_SCRIPT && !nrules ? f->ast : NULL;
}

qs_status qproto_of(qs_vm *vm, Func *f, bool echo, Proto **out) {
    Ctx *c = qvm_ctx(vm);
    if (f->machine) {
        *out = f->machine;
        return QS_OK;
    }
    if (f->qual == Q_KERNEL)
        return qerr_set(c, QS_ETYPE, "kernel %s cannot be called; parallel_do(size, …, %s) runs it", f->name->s,
                        f->name->s);
    BytecodeHost host = {.ud = vm,
                         .builtin = builtin_slot,
                         .function = program_function,
                         .type = known_type,
                         .fusible = fusible,
                         .pure = is_pure};
    host.rules = qmod_rules(vm, qmod_of(f), &host.nrules);
    Chunk chunk;
    TRY(qbytecode_compile(c, f, &host, echo, &chunk));
    Proto *p = qmem_alloc(c, sizeof *p);
    *p = (Proto){.chunk = chunk,
                 .func = f,
                 .nparams = (uint32_t)f->nparams,
                 .nouts = (uint32_t)f->nouts,
                 .variadic = f->nparams && f->params[f->nparams - 1].variadic};
    p->k = qmem_alloc(c, qmem_size(chunk.nlits, sizeof *p->k, 0));
    p->caches = qmem_alloc(c, qmem_size(chunk.ncaches, sizeof *p->caches, 0));
    qs_status s = QS_OK;
    for (uint32_t i = 0; i < chunk.nlits && s == QS_OK; i++) s = make_literal(vm, f, &chunk.lits[i], &p->k[i]);
    if (s != QS_OK) {
        release_proto(vm, p);
        return s;
    }
    p->look = qfunction_first_look(vm);
    p->next = qvm(vm)->protos;
    *out = f->machine = qvm(vm)->protos = p;
    return QS_OK;
}

static void drop_proto(qs_vm *vm, Proto *p) {
    Proto **at = &qvm(vm)->protos;
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    p->func->machine = NULL;
    release_proto(vm, p);
}

void qproto_close(qs_vm *vm) {
    while (qvm(vm)->protos) drop_proto(vm, qvm(vm)->protos);
    qconverted_close(vm);
}

static Proto *proto_of(qs_vm *vm, const Unit *u) {
    Proto *p = qvm(vm)->protos;
    while (p && p->func->unit != u) p = p->next;
    return p;
}

/* Releasing a value may run a finalizer that compiles code, which changes the list; so the search starts anew each
 * time. */
void qproto_drop_unit(qs_vm *vm, const Unit *u) {
    for (Proto *p; (p = proto_of(vm, u));) drop_proto(vm, p);
}
