/* interp.c -- executes bytecode: the dispatch loop.
 *
 * A script call pushes a Frame and stays in the same C call.  A native that calls back enters qvm_call, which runs
 * until
 * its own frame is left.  After an error, the frames are searched for a handler, down to the frame where this run
 * began.
 */
#include "vm/interp/interp.h"
#include "lang/syntax/operators.h"
#include "vm/array/contiguous.h"
#include "vm/interp/frame.h"
#include "vm/interp/jit.h"
#include "vm/program/module.h"
#include "vm/program/names.h"
#include "vm/value/trace.h"

#include <math.h>

static inline void set_num(qs_vm *vm, qs_value *r, double x) {
    if (__builtin_expect(r->kind >= QS_COMPLEX, 0)) qframe_drop(vm, r);
    *r = qs_num(x);
}

static inline void set_bool(qs_vm *vm, qs_value *r, bool b) {
    if (__builtin_expect(r->kind >= QS_COMPLEX, 0)) qframe_drop(vm, r);
    *r = qs_bool(b);
}

static qs_status compile_function(qs_vm *vm, Function *fn) { return qproto_of(vm, fn->ast, false, &fn->proto); }

/* -- fast access to single elements -------------------------------------------------------------------------------- */

static inline bool host_current(const Buffer *b) { return (b->valid & 1) && b->writer < 0; }
static inline bool host_alone(const Buffer *b) {
    return b->valid == 1 && b->writer < 0 && b->nreaders == 0 && !b->readonly && !b->kept && !b->watched && !b->unset;
}

/* Returns whether the index is integral and not negative, so that no access mode changes it within the bounds. */
static inline bool plain_index(const qs_value *v, int64_t *n) {
    if (v->kind == QS_NUM) {
        if (!(v->u.f >= 0 && v->u.f < 0x1p63)) return false;
        *n = (int64_t)v->u.f;
        return (double)*n == v->u.f;
    }
    *n = v->u.i;
    return v->kind == QS_INT;
}

static inline bool load_element(const Array *a, int64_t n, qs_value *out) {
    const void *p = (const void *)(uintptr_t)a->buf->block[HOST_MEMORY];
    size_t i = a->offset + (size_t)n;
    switch ((qs_dtype)a->dtype) {
    case QS_F32: *out = qs_num((double)((const float *)p)[i]); return true;
    case QS_F64: *out = qs_num(((const double *)p)[i]); return true;
    case QS_U8: *out = qs_int(((const uint8_t *)p)[i]); return true;
    case QS_I32: *out = qs_int(((const int32_t *)p)[i]); return true;
    case QS_B1: *out = qs_bool(((const uint8_t *)p)[i] != 0); return true;
    default: return false;
    }
}

static inline bool store_element(Array *a, int64_t n, double x) {
    void *p = (void *)(uintptr_t)a->buf->block[HOST_MEMORY];
    size_t i = a->offset + (size_t)n;
    switch ((qs_dtype)a->dtype) {
    case QS_F32: ((float *)p)[i] = (float)x; return true;
    case QS_F64: ((double *)p)[i] = x; return true;
    default: return false;
    }
}

static inline bool place1(const Array *a, const qs_value *i, int64_t *n) {
    return a->rank == 1 && a->contiguous && !a->trace && plain_index(i, n) && (uint64_t)*n < (uint64_t)a->dims[0];
}

static inline bool place2(const Array *a, const qs_value *at, int64_t *n) {
    int64_t r, c;
    if (a->rank != 2 || !a->contiguous || a->trace) return false;
    if (!plain_index(&at[0], &r) || !plain_index(&at[1], &c)) return false;
    *n = r * a->dims[1] + c;
    return (uint64_t)r < (uint64_t)a->dims[0] && (uint64_t)c < (uint64_t)a->dims[1];
}

/* Computes x[i] op= v or x[i,j] op= v for one float element; false: not possible here. */
static bool update_number(Array *a, const qs_value *at, double v, uint32_t what) {
    int64_t n;
    qs_value old;
    if ((what & 0xffff) == 1 ? !place1(a, at, &n) : (what & 0xffff) != 2 || !place2(a, at, &n)) return false;
    if (!host_alone(a->buf) || (a->dtype != QS_F32 && a->dtype != QS_F64) || !load_element(a, n, &old)) return false;
    switch ((Op)(what >> 16)) {
    case OP_ADD: return store_element(a, n, old.u.f + v);
    case OP_SUB: return store_element(a, n, old.u.f - v);
    case OP_MUL:
    case OP_PWMUL: return store_element(a, n, old.u.f * v);
    case OP_DIV:
    case OP_PWDIV: return store_element(a, n, old.u.f / v);
    default: return false;
    }
}

#define NUMBERS(a, b) ((a)->kind == QS_NUM && (b)->kind == QS_NUM)

/* -- fast access to characters and entries ------------------------------------------------------------------------- */

/* Reads an ASCII character of a string, or an entry of a dictionary; false: not possible here. */
static bool get_plain(qs_vm *vm, const qs_value *from, const qs_value *at, qs_value *out) {
    int64_t n;
    const Str *s = from->u.p;
    if (from->kind == QS_STRING) {
        if (!plain_index(at, &n) || (uint64_t)n >= s->len || (unsigned char)s->s[n] > 127) return false;
        return *out = qval_object(QS_STRING, qstr_new(qvm_ctx(vm), s->s + n, 1)), true;
    }
    const qs_value *v = from->kind == QS_OBJECT ? qobj_value(vm, from->u.p, *at) : NULL;
    return v ? *out = qval_retain(*v), true : false;
}

static bool set_plain(qs_vm *vm, const qs_value *to, const qs_value *at, qs_value v) {
    qs_value *slot = qtape_touches(v) ? NULL : qobj_value(vm, to->u.p, *at);
    if (!slot) return false;
    return qinterp_put(vm, slot, qval_retain(v)), true;
}

/* Computes d[key] op= v for numbers, and += for strings, whose error is in *status; false: not possible here. */
static bool update_plain(qs_vm *vm, const qs_value *to, const qs_value *at, const qs_value *v, uint32_t what,
                         qs_status *status) {
    Op op = (Op)(what >> 16);
    qs_value *slot = (what & 0xffff) == 1 ? qobj_value(vm, to->u.p, *at) : NULL;
    *status = QS_OK;
    if (!slot) return false;
    if (slot->kind == QS_STRING && v->kind == QS_STRING && op == OP_ADD)
        return *status = qops_update(vm, op, slot, *v), true;
    if (!NUMBERS(slot, v)) return false;
    switch (op) {
    case OP_ADD: return slot->u.f += v->u.f, true;
    case OP_SUB: return slot->u.f -= v->u.f, true;
    case OP_MUL: return slot->u.f *= v->u.f, true;
    case OP_DIV: return slot->u.f /= v->u.f, true;
    default: return false;
    }
}

/* -- the dispatch loop --------------------------------------------------------------------------------------------- */

#define A         (w >> 8 & 0xff)
#define B         (w >> 16 & 0xff)
#define C         (w >> 24)
#define BX        (w >> 16)
#define RA        (base + A)
#define RB        (base + B)
#define RC        (base + C)
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define NEXT                                                                                                           \
    do {                                                                                                               \
        w = *pc++;                                                                                                     \
        goto *labels[w & 0xff];                                                                                        \
    } while (0)
#define SLOW(expr)                                                                                                     \
    do {                                                                                                               \
        f->pc = pc;                                                                                                    \
        if (__builtin_expect((status = (expr)) != QS_OK, 0)) goto fail;                                                \
    } while (0)
#define ATTEND()                                                                                                       \
    do {                                                                                                               \
        if (__builtin_expect(qflag_is_up(&m->attention), 0)) {                                                         \
            if (f && m->nframes > floor_frames) f->pc = pc;                                                            \
            if ((status = qvm_attend(vm)) != QS_OK) goto fail;                                                         \
        }                                                                                                              \
    } while (0)
#define JUMP_WHEN(cond)                                                                                                \
    do {                                                                                                               \
        if (cond) pc += (int32_t)*pc;                                                                                  \
        pc++;                                                                                                          \
    } while (0)

#define ARITHMETIC(id, op, expr)                                                                                       \
    L_##id : {                                                                                                         \
        qs_value *a = RB, *b = RC;                                                                                     \
        if (LIKELY(NUMBERS(a, b))) {                                                                                   \
            double x = a->u.f, y = b->u.f;                                                                             \
            set_num(vm, RA, expr);                                                                                     \
            NEXT;                                                                                                      \
        }                                                                                                              \
        SLOW(qstep_binary(vm, f, op, RA, a, b));                                                                       \
        pc = f->pc;                                                                                                    \
        NEXT;                                                                                                          \
    }
#define ARITHMETIC_K(id, op, first, second, expr)                                                                      \
    L_##id : {                                                                                                         \
        qs_value *a = RB, *b = &k[C];                                                                                  \
        if (LIKELY(a->kind == QS_NUM)) {                                                                               \
            double x = a->u.f, y = b->u.f;                                                                             \
            set_num(vm, RA, expr);                                                                                     \
            NEXT;                                                                                                      \
        }                                                                                                              \
        SLOW(qstep_binary(vm, f, op, RA, first, second));                                                              \
        pc = f->pc;                                                                                                    \
        NEXT;                                                                                                          \
    }
/* The numbers differ only by rounding to float32; the slow path warns about it. */
#define ODD(op, a, b)                                                                                                  \
    (((op) == OP_EQ || (op) == OP_NE) &&                                                                               \
     __builtin_expect((float)(a)->u.f == (float)(b)->u.f && (a)->u.f != (b)->u.f, 0))
#define COMPARISON(id, op, expr)                                                                                       \
    L_##id : {                                                                                                         \
        qs_value *a = RB, *b = RC;                                                                                     \
        if (LIKELY(NUMBERS(a, b)) && !ODD(op, a, b)) {                                                                 \
            double x = a->u.f, y = b->u.f;                                                                             \
            set_bool(vm, RA, expr);                                                                                    \
            NEXT;                                                                                                      \
        }                                                                                                              \
        SLOW(qstep_binary(vm, f, op, RA, a, b));                                                                       \
        pc = f->pc;                                                                                                    \
        NEXT;                                                                                                          \
    }
#define COMPARE_JUMP(id, op, other, expr)                                                                              \
    L_##id : {                                                                                                         \
        qs_value *a = RA, *b = other;                                                                                  \
        if (LIKELY(NUMBERS(a, b)) && !ODD(op, a, b)) {                                                                 \
            double x = a->u.f, y = b->u.f;                                                                             \
            JUMP_WHEN((expr) == (bool)C);                                                                              \
            NEXT;                                                                                                      \
        }                                                                                                              \
        SLOW(qstep_compare(vm, f, op, a, b, &truth));                                                                  \
        JUMP_WHEN(truth == (bool)C);                                                                                   \
        NEXT;                                                                                                          \
    }
#define UPDATE_BY(id, op, source, expr)                                                                                \
    L_##id : {                                                                                                         \
        qs_value *a = RA, *b = source;                                                                                 \
        if (LIKELY(NUMBERS(a, b))) {                                                                                   \
            double x = a->u.f, y = b->u.f;                                                                             \
            a->u.f = expr;                                                                                             \
            NEXT;                                                                                                      \
        }                                                                                                              \
        SLOW(qops_update(vm, op, a, *b));                                                                              \
        qframe_used(vm, f, b);                                                                                         \
        NEXT;                                                                                                          \
    }

static bool number_annotation(const Type *t, const Ctx *c) {
    return t->kind == TY_NUM && (t->dtype == c->scalar_dtype || t->dtype == QS_F64);
}

/* Checks the common annotations without a call: a scalar, an int, a class, a string, or an array with the same element
 * type and at most the declared rank. */
static inline bool fits_at_once(const qs_value *v, const qs_value *type, const Ctx *c) {
    if (type->kind != QS_TYPE) return false;
    const Type *t = ((TypeValue *)type->u.p)->type;
    if (v->kind == QS_NUM) return number_annotation(t, c);
    if (v->kind == QS_INT) return t->kind == TY_NUM && t->dtype == QS_I32 && v->u.i == (int32_t)v->u.i;
    if (v->kind == QS_OBJECT)
        return t->kind == TY_CLASS && ((Object *)v->u.p)->cls && ((Object *)v->u.p)->cls->type == t;
    if (v->kind == QS_STRING) return t->kind == TY_STRING;
    if (v->kind != QS_ARRAY || t->kind != TY_ARRAY || t->nfixed || t->inner->kind != TY_NUM) return false;
    const Array *a = v->u.p;
    return (t->rank == RANK_ANY || a->rank <= t->rank) && t->inner->dtype == (qs_dtype)a->dtype;
}

/* Converts an integral scalar for an annotation int; false: not this case. */
static inline bool becomes_int(qs_value *v, const qs_value *type) {
    const Type *t = type->kind == QS_TYPE ? ((TypeValue *)type->u.p)->type : NULL;
    if (v->kind != QS_NUM || !t || t->kind != TY_NUM || t->dtype != QS_I32 || !(fabs(v->u.f) < 0x1p31)) return false;
    int64_t whole = (int64_t)v->u.f;
    if ((double)whole != v->u.f) return false;
    return *v = qs_int(whole), true;
}

/* Keeps one indirect jump per instruction, so that branch prediction has a separate history for each.  By default gcc
 * merges them. */
#if defined(__GNUC__) && !defined(__clang__)
#define DISPATCH __attribute__((optimize("no-gcse", "no-crossjumping")))
#else
#define DISPATCH
#endif

/* Runs the function at *entry, followed by entry_nin arguments on the stack, until it has returned. */
static DISPATCH qs_status run_function(qs_vm *vm, qs_value *entry, int entry_nin, const NameTable *entry_names,
                                       uint32_t entry_want, uint64_t entry_integral) {
    static const void *const labels[] = {
#define OPCODE(id, words, doc) &&L_##id,
#include "lang/bytecode/opcodes.def"
    };
    Machine *const m = qvm(vm);
    const uint32_t floor_frames = m->nframes;
    const uint32_t *pc = NULL;
    qs_value *base = NULL, *k = NULL;
    Frame *f = NULL;
    uint32_t w;
    bool truth;
    qs_status status = QS_OK;
    /* the call that is being prepared */
    qs_value *ret = entry, *args = entry + 1;
    int nin = entry_nin;
    uint32_t want = entry_want;
    const NameTable *names = entry_names;
    Function *fn;
    goto call_value;

L_MOVE : {
    qs_value *a = RA, *b = RB, v = *b;
    if (__builtin_expect(v.kind >= QS_COMPLEX, 0)) {
        if (qframe_is_temp(f, b)) b->kind = QS_NIL, b->aux = 0;
        else ((Obj *)v.u.p)->refs++;
    }
    if (__builtin_expect(a->kind >= QS_COMPLEX, 0)) qframe_drop(vm, a);
    *a = v;
    NEXT;
}
L_COPY:
    qinterp_put(vm, RA, qval_retain(*RB));
    NEXT;
L_LOADK : {
    qs_value v = k[BX];
    if (v.kind >= QS_COMPLEX) ((Obj *)v.u.p)->refs++;
    qframe_drop(vm, RA);
    *RA = v;
    NEXT;
}
L_LOADN:
    set_num(vm, RA, (double)(int16_t)BX);
    NEXT;
L_LOADBOOL:
    set_bool(vm, RA, B != 0);
    NEXT;
L_LOADNIL : {
    qs_value v = {QS_NIL, B, {0}};
    qinterp_put(vm, RA, v);
    NEXT;
}
L_LOADTYPE : {
    const Type *t;
    qs_value v;
    SLOW(qcall_type(vm, f, k[BX].u.p, &t));
    SLOW(qcall_type_value(vm, t, (TypeMods){0}, &v));
    qinterp_put(vm, RA, v);
    NEXT;
}
L_OWN:
    SLOW(qstep_own(vm, RA));
    NEXT;
L_ARRAYK:
    SLOW(qstep_array(vm, k[BX], RA));
    NEXT;
L_GETGLOBAL : {
    qs_value v = *m->globals[*pc++];
    if (v.kind >= QS_COMPLEX) ((Obj *)v.u.p)->refs++;
    else if (__builtin_expect(qval_is_unset(v), 0)) SLOW(qnames_unset(vm, qmod_of(f->proto->func), (int)pc[-1], &v));
    qframe_drop(vm, RA);
    *RA = v;
    NEXT;
}
L_SETGLOBAL : {
    qs_value *a = RA, v = *a;
    if (v.kind >= QS_COMPLEX) {
        if (qframe_is_temp(f, a)) a->kind = QS_NIL, a->aux = 0;
        else ((Obj *)v.u.p)->refs++;
    }
    qinterp_put(vm, m->globals[*pc++], v);
    NEXT;
}
L_GETCAP : {
    qs_value v = f->fn->captures[BX];
    if (v.kind >= QS_COMPLEX) ((Obj *)v.u.p)->refs++;
    else if (__builtin_expect(qval_is_unset(v), 0)) SLOW(qstep_capture(vm, f, BX, &v));
    qframe_drop(vm, RA);
    *RA = v;
    NEXT;
}
L_CHECKSET:
    if (__builtin_expect(qval_is_unset(*RA), 0)) SLOW(qnames_no_value(vm, ((Str *)k[BX].u.p)->s));
    NEXT;
L_BEGIN : {
    bool captured = B;
    qinterp_put(vm, RA, qstep_begin(vm, f, captured, *pc++));
    NEXT;
}
L_ALIAS:
    qframe_enter_aliases(vm, f);
    NEXT;
L_FILL : {
    qs_value *a = RA;
    uint32_t slot = *pc++;
    if (__builtin_expect(qval_is_unset(*a), 0)) SLOW(qnames_unset(vm, qmod_of(f->proto->func), (int)slot, a));
    NEXT;
}
L_SELF:
    qinterp_put(vm, RA, qval_retain(qval_object(QS_FUNCTION, f->fn)));
    NEXT;
L_CLOSURE : {
    Func *func = k[BX].u.p;
    SLOW(qstep_closure(vm, f, func, pc, RA));
    pc += func->ncaptures;
    NEXT;
}
L_CLEAR : {
    qs_value *a = RA;
    for (uint32_t n = B; n-- > 0; a++) qframe_drop(vm, a);
    NEXT;
}
L_RETHROW : {
    SLOW(qframe_rethrow(vm, RA));
    NEXT;
}
L_COERCE : {
    uint32_t x = *pc++;
    if (LIKELY(fits_at_once(RA, &k[x & 0xffff], &m->base) || becomes_int(RA, &k[x & 0xffff]))) NEXT;
    qs_value what = x >> 16 == 0xffff ? qs_nil() : k[x >> 16];
    SLOW(qops_coerce(vm, f, RA, k[x & 0xffff], what, B));
    NEXT;
}
L_JTYPE : {
    const Type *t;
    if (LIKELY(k[pc[0]].kind == QS_TYPE)) t = ((TypeValue *)k[pc[0]].u.p)->type;
    else SLOW(qcall_type(vm, f, k[pc[0]].u.p, &t));
    pc++;
    JUMP_WHEN(!qval_is_type(vm, *RA, t));
    NEXT;
}
L_JSPACE : {
    const Foreign *x = RA->kind == QS_FOREIGN ? RA->u.p : NULL;
    JUMP_WHEN(x && x->ftype->is_space && x->ftype->is_space(x->p));
    NEXT;
}
L_CONVERT : {
    qs_value *b = RB, v;
    const Type *t = ((TypeValue *)k[*pc++].u.p)->type;
    if (LIKELY(b->kind == QS_NUM && t->dtype == QS_I32 && fabs(b->u.f) < 0x1p31)) {
        double x = b->u.f;
        qframe_drop(vm, RA);
        *RA = qs_int((int64_t)x);
        NEXT;
    }
    SLOW(qval_construct(vm, t, 1, b, &v));
    qframe_used(vm, f, b);
    qinterp_put(vm, RA, v);
    NEXT;
}
L_DEFAULT:
    JUMP_WHEN(!qval_is_unset(*RA));
    NEXT;
L_RULE:
    if (!qtape_is_on(vm) || !qtrace(vm)->follows_rule(vm, (int)f->proto->nparams, base)) NEXT;
    SLOW(qinvoke_with_rule(vm, f));
    goto returned;
L_BINDTYPES:
    SLOW(qcall_bind_types(vm, f, (int)A));
    NEXT;

    ARITHMETIC(ADD, OP_ADD, x + y)
    ARITHMETIC(SUB, OP_SUB, x - y)
    ARITHMETIC(MUL, OP_MUL, x * y)
    ARITHMETIC(PWMUL, OP_PWMUL, x * y)
    ARITHMETIC(DIV, OP_DIV, x / y)
    ARITHMETIC(PWDIV, OP_PWDIV, x / y)
    ARITHMETIC(POW, OP_POW, qcontig_power(x, y))
    ARITHMETIC(PWPOW, OP_PWPOW, qcontig_power(x, y))
    COMPARISON(EQ, OP_EQ, x == y)
    COMPARISON(NE, OP_NE, x != y)
    COMPARISON(LT, OP_LT, x < y)
    COMPARISON(LE, OP_LE, x <= y)
    COMPARISON(GT, OP_GT, x > y)
    COMPARISON(GE, OP_GE, x >= y)
    ARITHMETIC_K(ADDK, OP_ADD, a, b, x + y)
    ARITHMETIC_K(SUBK, OP_SUB, a, b, x - y)
    ARITHMETIC_K(MULK, OP_MUL, a, b, x * y)
    ARITHMETIC_K(DIVK, OP_DIV, a, b, x / y)
    ARITHMETIC_K(RSUBK, OP_SUB, b, a, y - x)
    ARITHMETIC_K(RDIVK, OP_DIV, b, a, y / x)
L_BINARY : {
    Op op = (Op)*pc++;
    SLOW(qstep_binary(vm, f, op, RA, RB, RC));
    pc = f->pc;
    NEXT;
}
L_CONCAT : {
    qs_value *b = RB, v;
    SLOW(qops_concat(vm, (int)C, b, &v));
    for (uint32_t i = 0; i < C; i++) qframe_drop(vm, &b[i]);
    qinterp_put(vm, RA, v);
    NEXT;
}
L_UNARY : {
    qs_value *b = RB;
    if (LIKELY(b->kind == QS_NUM)) {
        double x = b->u.f;
        if (C == OP_NEG) set_num(vm, RA, -x);
        else if (C == OP_PLUS) set_num(vm, RA, x);
        else set_bool(vm, RA, x == 0);
        NEXT;
    }
    SLOW(qstep_unary(vm, f, (Op)C, RA, b));
    pc = f->pc;
    NEXT;
}
    UPDATE_BY(ADDTO, OP_ADD, RB, x + y)
    UPDATE_BY(SUBTO, OP_SUB, RB, x - y)
    UPDATE_BY(MULTO, OP_MUL, RB, x * y)
    UPDATE_BY(DIVTO, OP_DIV, RB, x / y)
    UPDATE_BY(ADDTOK, OP_ADD, &k[BX], x + y)
L_UPDATE : {
    qs_value *b = RB;
    SLOW(qops_update(vm, (Op)C, RA, *b));
    qframe_used(vm, f, b);
    NEXT;
}
L_AND:
L_OR : {
    qs_value *a = RA;
    bool t;
    if (a->kind == QS_ARRAY || a->kind == QS_FOREIGN) { /* element by element, in the BINARY that follows */
        pc++;
        NEXT;
    }
    SLOW(qval_truth(vm, *a, &t));
    set_bool(vm, a, t);
    JUMP_WHEN(t == ((w & 0xff) == BC_OR));
    NEXT;
}
L_CHOICE : {
    qs_value *a = RA;
    bool t;
    if (a->kind == QS_ARRAY && qval_array(*a)->count != 1) {
        pc++;
        NEXT;
    }
    SLOW(qval_truth(vm, *a, &t));
    qinterp_clear(vm, a);
    JUMP_WHEN(!t);
    NEXT;
}
L_CHOSEN : {
    qs_value *b = RB;
    bool all = true;
    if (b->kind != QS_NIL) SLOW(qops_settles(vm, b, &all));
    if (all) qinterp_put(vm, RA, b[1]), b[1] = qs_nil();
    JUMP_WHEN(all);
    NEXT;
}
L_CHOOSE : {
    qs_value *b = RB;
    if (b->kind != QS_NIL) SLOW(qops_choose(vm, b));
    qinterp_put(vm, RA, b[2]);
    b[2] = qs_nil();
    NEXT;
}
L_JMP:
    pc += (int32_t)*pc + 1;
    NEXT;
L_WHILE : {
    LoopRegion *r = &f->proto->chunk.loops[BX];
    bool done;
    if (A && qloop_asks_begin(vm, r)) {
        SLOW(qlaunch_hooks(vm)->loop_begin(vm, f, r, &done));
        pc = f->pc;
    }
    NEXT;
}
L_LOOP:
    ATTEND();
    pc += (int32_t)*pc + 1;
    if (A == BACK_CONDITION ? __builtin_expect(--m->loop_look <= 0, 0) : A == BACK_ITEMS && qloop_is_left(f, BX)) {
        bool done;
        SLOW(qlaunch_hooks(vm)->loop_end_iteration(vm, f, &f->proto->chunk.loops[BX], &done));
        pc = f->pc;
    }
    NEXT;
L_JTEST : {
    qs_value *a = RA;
    bool t;
    if (LIKELY(a->kind == QS_BOOL)) {
        t = a->u.i != 0;
    } else {
        SLOW(qops_decide(vm, *a, &t));
        qframe_used(vm, f, a);
    }
    JUMP_WHEN(t == (bool)B);
    NEXT;
}
    COMPARE_JUMP(JEQ, OP_EQ, RB, x == y)
    COMPARE_JUMP(JNE, OP_NE, RB, x != y)
    COMPARE_JUMP(JLT, OP_LT, RB, x < y)
    COMPARE_JUMP(JLE, OP_LE, RB, x <= y)
    COMPARE_JUMP(JGT, OP_GT, RB, x > y)
    COMPARE_JUMP(JGE, OP_GE, RB, x >= y)
    COMPARE_JUMP(JEQK, OP_EQ, &k[B], x == y)
    COMPARE_JUMP(JNEK, OP_NE, &k[B], x != y)
    COMPARE_JUMP(JLTK, OP_LT, &k[B], x < y)
    COMPARE_JUMP(JLEK, OP_LE, &k[B], x <= y)
    COMPARE_JUMP(JGTK, OP_GT, &k[B], x > y)
    COMPARE_JUMP(JGEK, OP_GE, &k[B], x >= y)
L_JMATCH : {
    bool same = qops_match(vm, *RA, *RB, C);
    qframe_used(vm, f, RB);
    JUMP_WHEN(same);
    NEXT;
}
L_RANGE:
    SLOW(qstep_range(vm, f, LIST_MATRIX, RB, C, RA));
    NEXT;
L_SPAN:
    SLOW(qstep_span(vm, f, RB, C, RA));
    NEXT;
L_WIDERANGE:
    SLOW(qstep_range(vm, f, LIST_WIDE, RB, C, RA));
    NEXT;
L_MATRIX:
    SLOW(qstep_literal(vm, LIST_MATRIX, (int)C, RB, RA));
    NEXT;
L_WIDEMATRIX:
    SLOW(qstep_literal(vm, LIST_WIDE, (int)C, RB, RA));
    NEXT;
L_CELL:
    SLOW(qstep_literal(vm, LIST_CELL, (int)C, RB, RA));
    NEXT;
L_APPEND:
    SLOW(qops_append(vm, RA, (int)C, RB));
    NEXT;
L_MATRIXOF:
    SLOW(qstep_literal_of(vm, LIST_MATRIX, RB, RA));
    NEXT;
L_WIDEMATRIXOF:
    SLOW(qstep_literal_of(vm, LIST_WIDE, RB, RA));
    NEXT;
L_CELLOF:
    SLOW(qstep_literal_of(vm, LIST_CELL, RB, RA));
    NEXT;

L_GETELEM1 : {
    qs_value *b = RB, *i = RC, v;
    int64_t n;
    if (LIKELY(b->kind == QS_ARRAY)) {
        Array *x = b->u.p;
        if (LIKELY(place1(x, i, &n) && host_current(x->buf) && load_element(x, n, &v))) {
            qframe_used(vm, f, b);
            pc++;
            qframe_drop(vm, RA);
            *RA = v;
            NEXT;
        }
    } else if (b->kind == QS_CELL) {
        Cell *x = b->u.p;
        if (LIKELY(x->rank == 1 && plain_index(i, &n) && (uint64_t)n < x->count)) {
            v = qval_retain(x->items[n]);
            qframe_used(vm, f, b);
            pc++;
            qinterp_put(vm, RA, v);
            NEXT;
        }
    } else if (get_plain(vm, b, i, &v)) {
        qframe_used(vm, f, b);
        qframe_used(vm, f, i);
        pc++;
        qinterp_put(vm, RA, v);
        NEXT;
    }
    SLOW(qstep_get(vm, f, RA, b, 1, i, *pc));
    pc++;
    NEXT;
}
L_GETELEM2 : {
    qs_value *b = RB, *i = RC, v;
    int64_t n;
    if (LIKELY(b->kind == QS_ARRAY)) {
        Array *x = b->u.p;
        if (LIKELY(place2(x, i, &n) && host_current(x->buf) && load_element(x, n, &v))) {
            qframe_used(vm, f, b);
            pc++;
            qframe_drop(vm, RA);
            *RA = v;
            NEXT;
        }
    }
    SLOW(qstep_get(vm, f, RA, b, 2, i, *pc));
    pc++;
    NEXT;
}
L_GETELEM:
    SLOW(qstep_get(vm, f, RA, RB, (int)pc[1], RC, pc[0]));
    pc += 2;
    NEXT;
L_GETPART:
    SLOW(qstep_part(vm, f, RA, RB, (int)pc[1], RC, pc[0]));
    pc += 2;
    NEXT;
L_TRANSPOSE:
    SLOW(qstep_transpose(vm, f, RA, RB, RC, *pc));
    pc++;
    NEXT;
L_SETTLE:
    SLOW(qstep_settle(vm, RA));
    NEXT;
L_SETELEM1 : {
    qs_value *a = RA, *i = RB, *v = RC;
    int64_t n;
    if (LIKELY(a->kind == QS_ARRAY && v->kind == QS_NUM)) {
        Array *x = a->u.p;
        if (LIKELY(place1(x, i, &n) && host_alone(x->buf) && store_element(x, n, v->u.f))) {
            qframe_used(vm, f, a);
            pc++;
            NEXT;
        }
    }
    if (a->kind == QS_CELL && ((Cell *)a->u.p)->elem->kind == TY_ANY) {
        Cell *x = a->u.p;
        if (LIKELY(x->rank == 1 && plain_index(i, &n) && (uint64_t)n < x->count)) {
            qinterp_put(vm, &x->items[n], qval_retain(*v));
            qframe_used(vm, f, v);
            qframe_used(vm, f, a);
            pc++;
            NEXT;
        }
    } else if (a->kind == QS_OBJECT && set_plain(vm, a, i, *v)) {
        qframe_used(vm, f, v);
        qframe_used(vm, f, i);
        qframe_used(vm, f, a);
        pc++;
        NEXT;
    }
    SLOW(qstep_set(vm, f, a, 1, i, v, *pc));
    pc++;
    NEXT;
}
L_SETELEM2 : {
    qs_value *a = RA, *i = RB, *v = RC;
    int64_t n;
    if (LIKELY(a->kind == QS_ARRAY && v->kind == QS_NUM)) {
        Array *x = a->u.p;
        if (LIKELY(place2(x, i, &n) && host_alone(x->buf) && store_element(x, n, v->u.f))) {
            qframe_used(vm, f, a);
            pc++;
            NEXT;
        }
    }
    SLOW(qstep_set(vm, f, a, 2, i, v, *pc));
    pc++;
    NEXT;
}
L_SETELEM:
    SLOW(qstep_set(vm, f, RA, (int)pc[1], RB, RC, pc[0]));
    pc += 2;
    NEXT;
L_UPDELEM:
    if (RA->kind == QS_ARRAY && RC->kind == QS_NUM && update_number(RA->u.p, RB, RC->u.f, pc[1])) {
        qframe_used(vm, f, RA);
        pc += 2;
        NEXT;
    }
    if (RA->kind == QS_OBJECT && update_plain(vm, RA, RB, RC, pc[1], &status)) {
        SLOW(status);
        qframe_used(vm, f, RA);
        qframe_used(vm, f, RB);
        qframe_used(vm, f, RC);
        pc += 2;
        NEXT;
    }
    SLOW(qstep_update(vm, f, (Op)(pc[1] >> 16), RA, (int)(pc[1] & 0xffff), RB, RC, pc[0]));
    pc += 2;
    NEXT;

L_GETFIELD : {
    qs_value *b = RB, v;
    uint32_t x = *pc;
    FieldCache *cache = &f->proto->caches[FIELD_CACHE(x)];
    Object *o = b->u.p;
    if (LIKELY(b->kind == QS_OBJECT && o->cls && o->cls == cache->shape)) v = qval_retain(o->slots[cache->slot]);
    else SLOW(qops_get_field(vm, *b, k[FIELD_NAME(x)].u.p, cache, &v));
    pc++;
    if (!C) qframe_used(vm, f, b);
    qinterp_put(vm, RA, v);
    NEXT;
}
L_SETFIELD : {
    qs_value *a = RA, *b = RB;
    uint32_t x = *pc;
    const FieldCache *cache = &f->proto->caches[FIELD_CACHE(x)];
    Object *o = a->u.p;
    if (LIKELY(a->kind == QS_OBJECT && o->cls && o->cls == cache->shape && b->kind == QS_NUM)) {
        o->slots[cache->slot] = *b; /* only scalar fields are cached */
        pc++;
        qframe_used(vm, f, a);
        NEXT;
    }
    SLOW(qops_set_field(vm, *a, k[FIELD_NAME(x)].u.p, &f->proto->caches[FIELD_CACHE(x)], *b));
    pc++;
    qframe_used(vm, f, a);
    qframe_used(vm, f, b);
    NEXT;
}

L_CALLG : {
    const qs_value *g = m->globals[*pc++];
    ret = RA;
    args = ret + 1;
    nin = (int)B;
    want = C;
    names = NULL;
    f->pc = pc;
    if (LIKELY(g->kind == QS_FUNCTION)) {
        fn = g->u.p;
        if (fn->fkind == FN_NATIVE) goto call_native;
        fn->gc.hdr.refs++;
        qframe_drop(vm, ret);
        *ret = qval_object(QS_FUNCTION, fn);
        goto call_function;
    }
    qs_value other = *g;
    if (qval_is_unset(other)) SLOW(qnames_unset(vm, qmod_of(f->proto->func), (int)pc[-1], &other));
    else qval_retain(other);
    qinterp_put(vm, ret, other);
    goto call_value;
}
L_CALLN:
    names = k[*pc++].u.p;
    goto call_registers;
L_CALL:
    names = NULL;
call_registers:
    ret = RA;
    args = ret + 1;
    nin = (int)B;
    want = C;
    f->pc = pc;
    goto call_value;
L_METHOD : {
    bool is_field = false;
    qs_value v;
    uint32_t x = pc[0], names_at = pc[1];
    ret = RA;
    if (ret[1].kind == QS_FOREIGN && ((Foreign *)ret[1].u.p)->ftype->method) {
        bool found = true;
        names = names_at == NO_NAMES ? NULL : k[names_at].u.p;
        SLOW(qinvoke_method(vm, ret, (int)B, k[FIELD_NAME(x)].u.p, names, C, &found));
        if (found) {
            pc += 2;
            NEXT;
        }
    }
    FieldCache *cache = &f->proto->caches[FIELD_CACHE(x)];
    const Object *o = ret[1].u.p;
    if (LIKELY(ret[1].kind == QS_OBJECT && o->cls && o->cls == cache->shape)) v = qval_retain(*m->globals[cache->slot]);
    else SLOW(qcall_method(vm, f->proto->func, ret[1], k[FIELD_NAME(x)].u.p, cache, &v, &is_field));
    pc += 2;
    f->pc = pc;
    args = ret + 1;
    nin = (int)B + 1;
    want = C;
    names = names_at == NO_NAMES ? NULL : k[names_at].u.p;
    qinterp_put(vm, ret, v);
    if (is_field) {
        qframe_drop(vm, args);
        args++;
        nin--;
    }
    goto call_value;
}

call_value:
    if (__builtin_expect(ret->kind != QS_FUNCTION, 0)) goto call_other;
    fn = ret->u.p;
call_function:
    if (LIKELY(fn->fkind == FN_SCRIPT)) {
        if (__builtin_expect(!fn->proto, 0) && (status = compile_function(vm, fn)) != QS_OK) goto fail;
        Proto *p = fn->proto;
        if (__builtin_expect(nin != (int)p->nparams || p->variadic || names, 0)) {
            CallArgs all = qcall_args(nin, args, names);
            status = qcall_arrange(vm, fn, &all);
            if (status != QS_OK) goto fail;
        }
        ATTEND();
        if ((status = qframe_push(vm, fn, p, args, ret, want)) != QS_OK) goto fail;
        f = &m->frames[m->nframes - 1];
        pc = p->chunk.code;
        k = p->k;
        base = args;
        if (__builtin_expect(--p->look < 0, 0)) {
            bool done;
            SLOW(qlaunch_hooks(vm)->function_enter(vm, f, &done));
            if (done) goto returned;
        }
        NEXT;
    }
    if (fn->fkind == FN_NATIVE) {
    call_native:
        if ((status = qinvoke(vm, fn, args, nin, names, ret, want)) != QS_OK) goto fail;
        goto called_out;
    }
    if (fn->fkind == FN_FOREIGN) {
        qinterp_put(vm, ret, qval_retain(fn->captures[0]));
        goto call_other;
    }
    {
        Function *chosen = NULL;
        Class *cls = fn->cls;
        CallArgs all = qcall_args(nin, args, names);
        all.integral = entry_integral;
        if (f) all.integral = qbytecode_integral(&f->proto->chunk, (uint32_t)(f->pc - f->proto->chunk.code));
        if (f) all.integral >>= args - ret - 1; /* a function in a field does not get the object */
        status = qcall_select(vm, fn, &all, NULL, &chosen);
        if (status == QS_OK) {
            fn = chosen;
            goto call_function;
        }
        if (!cls) goto fail;
        qerr_clear(&m->base);
        qinterp_put(vm, ret, qobj_type(vm, cls->type, (TypeMods){0}));
        if ((status = qinvoke(vm, NULL, args, nin, names, ret, want)) != QS_OK) goto fail;
        goto called_out;
    }
call_other:
    if (ret->kind == QS_TYPE && ((TypeValue *)ret->u.p)->cls && ((TypeValue *)ret->u.p)->cls->ctors) {
        fn = ((TypeValue *)ret->u.p)->cls->ctors;
        qinterp_put(vm, ret, qval_retain(qval_object(QS_FUNCTION, fn)));
        goto call_function;
    }
    if ((status = qinvoke(vm, NULL, args, nin, names, ret, want)) != QS_OK) goto fail;
called_out:
    if (m->nframes == floor_frames) return QS_OK;
    NEXT;

L_RETURN : {
    Proto *p = f->proto;
    qs_value *r = f->ret, *result = RA;
    if (LIKELY(f->want == 1 && p->nouts >= 1 && result->kind == QS_NUM)) { /* reads it as a double, as it was written */
        double x = result->u.f;
        qframe_pop(vm, f);
        qframe_drop(vm, r);
        *r = qs_num(x);
    } else if (f->want == 1 && p->nouts >= 1 && !qval_is_unset(*result)) {
        qs_value v = *result;
        result->kind = QS_NIL;
        qframe_pop(vm, f);
        qinterp_put(vm, r, v);
    } else if (f->want == 0) {
        qframe_pop(vm, f);
        qframe_drop(vm, r);
        if (__builtin_expect(p->nouts > 0 && m->nframes > floor_frames, 0))
            if ((status = qinvoke_unused(vm, p->func)) != QS_OK) goto fail;
    } else {
        SLOW(qinvoke_leave(vm, f, result, (int)p->nouts));
    }
    goto returned;
}
L_RETURN1 : {
    qs_value *r = f->ret, *result = RA;
    if (LIKELY((f->want == 1 || f->want == WANT_MAYBE) && !qval_is_unset(*result))) {
        qs_value v = *result;
        if (qframe_is_temp(f, result)) result->kind = QS_NIL;
        else qval_retain(v);
        qframe_pop(vm, f);
        qinterp_put(vm, r, v);
    } else {
        SLOW(qinvoke_leave(vm, f, result, !qval_is_unset(*result)));
    }
}
returned:
    if (m->nframes == floor_frames) return QS_OK;
    f--; /* frames are stored contiguously */
    pc = f->pc;
    base = f->base;
    k = f->proto->k;
    NEXT;

L_FORPREP:
    SLOW(qops_for(vm, RA, C));
iterations : {
    qs_value *r = RA;
    if (__builtin_expect(qloop_asks(vm, f, r[3].u.i), 0)) {
        bool done;
        SLOW(qlaunch_hooks(vm)->loop_enter(vm, f, (uint32_t)(pc - 1 - f->proto->chunk.code), &done));
        if (done) {
            pc = f->pc;
            NEXT;
        }
    }
    if (r[3].u.i > 0) {
        set_num(vm, RB, r[1].u.f);
        pc++;
    } else {
        pc += (int32_t)*pc + 1;
    }
    NEXT;
}
L_FORLOOP : {
    qs_value *r = RA;
    int64_t i = ++r[0].u.i;
    if (LIKELY(i < r[3].u.i)) {
        ATTEND();
        set_num(vm, RB, r[1].u.f + (double)i * r[2].u.f);
        pc += (int32_t)*pc;
    } else if (i == LOOP_PAUSED) {
        ATTEND();
        r[0].u.i = 0, r[1].u.f += r[2].u.f, r[3].u.i--;
        pc += (int32_t)*pc; /* behind FORPREP */
        goto iterations;
    }
    pc++;
    NEXT;
}
L_FORDIMS : {
    qs_value *a = RA;
    SLOW(qops_for_dims(vm, a, (int)(C & 127), C & 128, RB));
    for (int i = 0; i < 3; i++) qframe_drop(vm, &a[i]);
    NEXT;
}
L_FORDIM:
    RA[0].u.i = 0;
    goto iterations;
L_ITER:
    SLOW(qops_iter(vm, RA));
    if (qloop_asks_items(vm, f, RA[0])) {
        bool done;
        SLOW(qlaunch_hooks(vm)->loop_enter(vm, f, (uint32_t)(pc - 1 - f->proto->chunk.code), &done));
        if (done) pc = f->pc;
    }
    NEXT;
L_NEXT : {
    qs_value v;
    bool more;
    SLOW(qops_next(vm, RA, &v, &more));
    if (more) qinterp_put(vm, RB, v);
    JUMP_WHEN(!more);
    NEXT;
}
L_DESTRUCT : {
    qs_value *a = RA, *b = RB, whole = qval_retain(*b);
    qframe_used(vm, f, b);
    for (uint32_t i = 0; i < C; i++) qinterp_clear(vm, &a[i]);
    f->pc = pc;
    status = qops_destruct(vm, whole, (int)C, a);
    qval_release(vm, whole);
    if (status != QS_OK) goto fail;
    NEXT;
}
L_GROUP : {
    FuseRegion *r = f->proto->chunk.fuses[BX];
    bool waits = r->wait || m->fuse_least == SIZE_MAX || qtape_is_on(vm);
    for (int i = 0; i < r->ninputs && !waits; i++)
        waits = base[r->inputs[i]].kind != QS_ARRAY && !qval_is_number(base[r->inputs[i]]);
    if (r->wait) r->wait--;
    JUMP_WHEN(waits);
    NEXT;
}
L_FUSE : {
    FuseRegion *r = f->proto->chunk.fuses[BX];
    bool done, any = r->updates || r->inputs || r->items || (m->fuse_least <= 1 && !r->nguards);
    for (int i = 0; i < r->nleaves && !any; i++) any = base[r->regs[i]].kind == QS_ARRAY; /* most are of numbers */
    if (r->updates && r->nat && base[r->base].kind == QS_OBJECT) any = false;             /* d[key] += v */
    if (!any) NEXT;
    SLOW(qlaunch_hooks(vm)->fuse_region(vm, f, r, &done));
    pc = f->pc;
    NEXT;
}
L_IMPORT:
    SLOW(qmod_import(vm, k[BX].u.p));
    NEXT;

fail:
    if (status == QS_EINTERRUPT) (void)qvm_take_interrupt(vm); /* a kernel does not clear the flag */
    if (!qframe_unwind(vm, status, floor_frames)) return status;
    f = &m->frames[m->nframes - 1];
    pc = f->pc;
    base = f->base;
    k = f->proto->k;
    NEXT;
}

/* -- calls from C -------------------------------------------------------------------------------------------------- */

/* Pushes the function and its arguments onto the stack; the results are returned in the same slots. */
qs_status qvm_call_named(qs_vm *vm, qs_value fn, const CallArgs *a, int nout, qs_value *out) {
    int nin = a->nin;
    Machine *m = qvm(vm);
    qs_value *top = m->top, *ret = qframe_free_slot(m);
    bool maybe = nout < 0;
    if (maybe) nout = 1;
    if (m->depth >= MAX_NESTING)
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "the recursion is too deep (%u calls between scripts and built-ins)",
                        m->depth);
    if (nin < 0 || nout > MAX_WANTED || ret + nin + MAX_WANTED > m->stack_limit) return qframe_too_deep(vm);
    qinterp_put(vm, ret, qval_retain(fn));
    for (int i = 0; i < nin; i++) qinterp_put(vm, ret + 1 + i, qval_retain(a->in[i]));
    for (int i = 1 + nin; i < nout; i++) qinterp_clear(vm, ret + i);
    m->top = ret + 1 + (nin > nout ? nin : nout);
    NameTable table = {a->nnamed, (Str **)a->names};
    uint32_t inside = m->grad_inside;
    m->depth++;
    m->grad_inside = 0; /* functions called by a built-in are recorded */
    qs_status s =
        run_function(vm, ret, nin, a->nnamed ? &table : NULL, maybe ? WANT_MAYBE : (uint32_t)nout, a->integral);
    m->depth--;
    if (__builtin_expect(m->base.owed && !m->depth, 0)) s = qlaunch_hooks(vm)->end_call(vm, s);
    m->grad_inside = inside;
    m->top = top;
    for (int i = 0; i < nout && s == QS_OK; i++) {
        out[i] = qval_is_unset(ret[i]) ? qs_nil() : ret[i];
        ret[i] = qs_nil();
    }
    for (int i = 0; i <= (nin > nout ? nin : nout); i++) qinterp_clear(vm, ret + i);
    return s;
}

qs_status qvm_call(qs_vm *vm, qs_value fn, int nin, const qs_value *in, int nout, qs_value *out) {
    return qvm_call_named(vm, fn, &(CallArgs){.nin = nin, .in = (qs_value *)in}, nout, out);
}
