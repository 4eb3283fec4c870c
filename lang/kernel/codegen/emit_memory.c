/* emit_memory.c -- emits accesses to memory as LLVM IR: elements of arrays, atomic updates, private and shared
 * arrays. */
#include "lang/kernel/codegen/emit_llvm.h"

#include <stdio.h>
#include <string.h>

/* -- memory -------------------------------------------------------------------------------------------------------- */

/* Conversions for processors without instructions for them, in integer arithmetic so that they vectorize.  They round
 * like vm/base/dtype.c. */
static const char half_to_float[] =
    "define internal float @half_to_float(i16 %h) alwaysinline {\n"
    "  %x = zext i16 %h to i32\n  %s0 = and i32 %x, 32768\n  %s = shl i32 %s0, 16\n  %m = and i32 %x, 32767\n"
    /* rebias the exponent by 112 << 23; again for infinities and NaN */
    "  %n0 = shl i32 %m, 13\n  %n1 = add i32 %n0, 939524096\n  %big = icmp ugt i32 %m, 31743\n"
    "  %n2 = add i32 %n1, 939524096\n  %n = select i1 %big, i32 %n2, i32 %n1\n"
    /* subnormals are multiples of 2^-24 */
    "  %small = icmp ult i32 %m, 1024\n  %d0 = uitofp i32 %m to float\n"
    "  %d1 = fmul float %d0, 0x3E70000000000000\n  %d = bitcast float %d1 to i32\n"
    "  %r = select i1 %small, i32 %d, i32 %n\n  %b = or i32 %r, %s\n"
    "  %f = bitcast i32 %b to float\n  ret float %f\n}\n";
static const char float_to_half[] =
    "define internal i16 @float_to_half(float %f) alwaysinline {\n"
    "  %x = bitcast float %f to i32\n  %s0 = lshr i32 %x, 16\n  %s = and i32 %s0, 32768\n"
    "  %m = and i32 %x, 2147483647\n"
    /* rebias the exponent by -(112 << 23), and add 0xfff plus the odd bit, so that the shift rounds to nearest even */
    "  %o0 = lshr i32 %m, 13\n  %odd = and i32 %o0, 1\n  %n0 = add i32 %m, 3355447295\n"
    "  %n1 = add i32 %n0, %odd\n  %n = lshr i32 %n1, 13\n"
    /* the unit in the last place of 0.5 is that of a subnormal half, so adding 0.5 rounds */
    "  %mf = bitcast i32 %m to float\n  %t = fadd float %mf, 0x3FE0000000000000\n"
    "  %tb = bitcast float %t to i32\n  %d = sub i32 %tb, 1056964608\n"
    "  %small = icmp ult i32 %m, 947912704\n  %r0 = select i1 %small, i32 %d, i32 %n\n"
    "  %big = icmp uge i32 %m, 1199570944\n  %r1 = select i1 %big, i32 31744, i32 %r0\n"
    "  %nan = icmp ugt i32 %m, 2139095040\n  %r2 = select i1 %nan, i32 32256, i32 %r1\n"
    "  %b = or i32 %r2, %s\n  %h = trunc i32 %b to i16\n  ret i16 %h\n}\n";
static const char float_to_bf16[] =
    "define internal i16 @float_to_bf16(float %f) alwaysinline {\n"
    "  %x = bitcast float %f to i32\n  %o0 = lshr i32 %x, 16\n  %odd = and i32 %o0, 1\n  %r0 = add i32 %x, 32767\n"
    "  %r1 = add i32 %r0, %odd\n  %r = lshr i32 %r1, 16\n  %q = or i32 %o0, 64\n  %nan = fcmp uno float %f, %f\n"
    "  %b = select i1 %nan, i32 %q, i32 %r\n  %h = trunc i32 %b to i16\n  ret i16 %h\n}\n";

/* Requests the definition of a helper function, by a comment among the declarations (add_helpers). */
void emit_need_helper(Emit *e, const char *name) { emit_declare(e, "; %s", name); }

/* Converts the stored value of an element to the dtype of computations; encode converts back. */
static Opnd decode_element(Emit *e, qs_dtype d, Opnd raw) {
    switch (d) {
    case QS_B1: return emit_def(e, "icmp ne i8 %s, 0", raw.s);
    case QS_I8: return emit_def(e, "sext i8 %s to i32", raw.s);
    case QS_U8: return emit_def(e, "zext i8 %s to i32", raw.s);
    case QS_I16: return emit_def(e, "sext i16 %s to i32", raw.s);
    case QS_U16: return emit_def(e, "zext i16 %s to i32", raw.s);
    case QS_F16:
        if (e->t->half) return emit_def(e, "fpext half %s to float", raw.s);
        emit_need_helper(e, "half_to_float");
        return emit_def(e, "call float @half_to_float(i16 %s)", raw.s);
    case QS_BF16: {
        Opnd wide = emit_def(e, "zext i16 %s to i32", raw.s);
        return emit_def(e, "bitcast i32 %s to float", emit_bin(e, "shl", "i32", wide, emit_lit(16)).s);
    }
    default: return raw;
    }
}

static Opnd encode(Emit *e, qs_dtype d, Opnd v) {
    switch (d) {
    case QS_B1: return emit_def(e, "zext i1 %s to i8", v.s);
    case QS_I8: return emit_def(e, "trunc i32 %s to i8", emit_clamp(e, v, INT8_MIN, INT8_MAX).s);
    case QS_U8: return emit_def(e, "trunc i32 %s to i8", emit_clamp(e, v, 0, UINT8_MAX).s);
    case QS_I16: return emit_def(e, "trunc i32 %s to i16", emit_clamp(e, v, INT16_MIN, INT16_MAX).s);
    case QS_U16: return emit_def(e, "trunc i32 %s to i16", emit_clamp(e, v, 0, UINT16_MAX).s);
    case QS_F16:
        if (e->t->half) return emit_def(e, "fptrunc float %s to half", v.s);
        emit_need_helper(e, "float_to_half");
        return emit_def(e, "call i16 @float_to_half(float %s)", v.s);
    case QS_BF16: emit_need_helper(e, "float_to_bf16"); return emit_def(e, "call i16 @float_to_bf16(float %s)", v.s);
    default: return v;
    }
}

Opnd emit_elem(Emit *e, qs_dtype elem, const char *space, Opnd base, Opnd index) {
    return emit_def(e, "getelementptr inbounds %s, ptr%s %s, i64 %s", emit_mem_type(e, elem), space, base.s, index.s);
}

Opnd emit_load(Emit *e, qs_dtype elem, const char *space, Place at) {
    if (at.is_bit) return emit_def(e, "load i1, ptr%s %s", space, at.ptr.s);
    Opnd raw = emit_def(e, "load %s, ptr%s %s, align %zu%s", emit_mem_type(e, elem), space, at.ptr.s,
                        emit_mem_size(elem), at.tail);
    return decode_element(e, elem, raw);
}

static void store_raw(Emit *e, qs_dtype elem, const char *space, Place at, Opnd raw) {
    emit_put(e, "store %s %s, ptr%s %s, align %zu%s", emit_mem_type(e, elem), raw.s, space, at.ptr.s,
             emit_mem_size(elem), at.tail);
}

void emit_store(Emit *e, qs_dtype elem, const char *space, Place at, Opnd v) {
    if (at.is_bit) emit_put(e, "store i1 %s, ptr%s %s", v.s, space, at.ptr.s);
    else store_raw(e, elem, space, at, encode(e, elem, v));
}

/* Encodes a number as a small integer.  The nearest one that the element can hold comes first, so that its conversion
 * needs no tests; NaN is 0. */
static Opnd encode_number(Emit *e, qs_dtype elem, qs_dtype from, Opnd x) {
    bool sign = elem == QS_I8 || elem == QS_I16;
    int bits = 8 * (int)emit_mem_size(elem), low = sign ? -(1 << (bits - 1)) : 0;
    const char *t = emit_type(from), *small = emit_mem_type(e, elem);
    Opnd least = emit_opnd("%d.0", low), most = emit_opnd("%d.0", low + (1 << bits) - 1);
    if (sign) x = emit_select(e, emit_bin(e, "fcmp ord", t, x, x), t, x, emit_opnd("0.0"));
    x = emit_select(e, emit_bin(e, "fcmp ogt", t, x, least), t, x, least);
    x = emit_select(e, emit_bin(e, "fcmp olt", t, x, most), t, x, most);
    return emit_def(e, "trunc i32 %s to %s", emit_def(e, "fptosi %s %s to i32", t, x.s).s, small);
}

/* Metadata of accesses in loops without dependences (access group !0): loads do not alias the scope of the stores. */
static const char apart_load[] = ", !llvm.access.group !0, !noalias !9";
static const char apart_store[] = ", !llvm.access.group !0, !alias.scope !9";

/* Returns the index of an element.  In a small kernel on a GPU it is extended from its low half, which is enough. */
static Opnd element_number(Emit *e, KRef r) {
    return e->f->small && e->t->threads ? emit_def(e, "sext i32 %s to i64", emit_low_arg(e, r).s) : emit_arg(e, r);
}

/* Whether the value r may differ between iterations of the loop. */
static bool may_vary(const KFunc *f, KRef loop, KRef r, int depth) {
    const KIns *i = &f->ins[r];
    if (r <= loop || i->op == K_CONST) return r == loop;
    if (!depth || kir_ops[i->op].effect != KE_PURE) return true;
    return may_vary(f, loop, i->a, depth - 1) || may_vary(f, loop, i->b, depth - 1) ||
           may_vary(f, loop, i->c, depth - 1);
}

/* Whether LLVM may know that the access overlaps with no other array.  A load in a loop with independent iterations
 * has no use for it unless it can leave the loop.  LLVM would keep the neighbours of an element in registers from one
 * iteration to the next, and shuffle vectors for it. */
static bool has_scope(const Emit *e, const KIns *i) {
    enum { DEEP = 6 };
    KRef loop = e->depth ? e->loop[e->depth - 1].loop : 0;
    if (!e->scopes || i->op != K_LOAD || !*e->group) return e->scopes;
    return loop && !may_vary(e->f, loop, i->a, DEEP);
}

static Place array_elem(Emit *e, const KIns *i) {
    Opnd base = e->param(e, (int)i->imm), at = element_number(e, i->a);
    if (e->pads && *e->pads[i->imm].s) at = emit_bin(e, "sub", "i64", at, e->pads[i->imm]);
    /* All positions of a strip make one update before the next one.  LLVM must therefore not derive whether two
     * updates of the array by one position have the same element or different ones. */
    if (i->op == K_ATOMIC && *e->updates) base = e->disguise(e, base);
    Opnd ptr = emit_elem(e, (qs_dtype)e->f->params[i->imm].dtype, e->array_space, base, at);
    const char *tail = has_scope(e, i) ? e->scopes[i->imm][*e->group != 0] : e->group;
    return (Place){ptr, .tail = !e->apart ? tail : i->op == K_LOAD ? apart_load : apart_store};
}

/* An access that runs only if its guard holds.  Its value is 0 otherwise. */
typedef struct {
    uint32_t from, done;
} Guarded;

static Guarded open_guarded(Emit *e, KRef guard) {
    Guarded g = {emit_new(e), 0};
    uint32_t yes = emit_new(e);
    g.done = emit_new(e);
    Opnd holds = emit_arg(e, guard);
    emit_label(e, g.from);
    emit_branch(e, holds, yes, g.done);
    return emit_label(e, yes), g;
}

static void close_guarded(Emit *e, Guarded g, KRef r, Opnd v) {
    qs_dtype d = (qs_dtype)e->f->ins[r].dtype;
    uint32_t accessed = emit_new(e);
    emit_label(e, accessed);
    emit_label(e, g.done);
    Opnd none = emit_literal(d, 0);
    emit_set(e, r, emit_def(e, "phi %s [ %s, %%L%u ], [ %s, %%L%u ]", emit_type(d), none.s, g.from, v.s, accessed));
}

void emit_load_element(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    qs_dtype elem = (qs_dtype)e->f->params[i->imm].dtype;
    if (!i->b) {
        emit_set(e, r, emit_load(e, elem, e->array_space, array_elem(e, i)));
        return;
    }
    Guarded g = open_guarded(e, i->b);
    close_guarded(e, g, r, emit_load(e, elem, e->array_space, array_elem(e, i)));
}

/* Emits `effect` under the condition of operand c, if there is one. */
void emit_guarded(Emit *e, const KIns *i, void (*effect)(Emit *, const KIns *)) {
    if (!i->c) {
        effect(e, i);
        return;
    }
    uint32_t yes = emit_new(e), done = emit_new(e);
    emit_branch(e, emit_arg(e, i->c), yes, done);
    emit_label(e, yes);
    effect(e, i);
    emit_label(e, done);
}

void emit_store_element(Emit *e, const KIns *i) {
    qs_dtype elem = (qs_dtype)e->f->params[i->imm].dtype;
    const KIns *cast = &e->f->ins[i->b];
    qs_dtype from = (qs_dtype)e->f->ins[cast->a].dtype;
    Place at = array_elem(e, i);
    if (cast->op == K_CAST && cast->dtype == QS_I32 && emit_is_float(from) && emit_mem_size(elem) < sizeof(int32_t))
        store_raw(e, elem, e->array_space, at, encode_number(e, elem, from, emit_arg(e, cast->a)));
    else emit_store(e, elem, e->array_space, at, emit_arg(e, i->b));
}

/* Access modes with a division are separate functions.  A kernel has many of these computations, and control flow for
 * each would make compilation slow.  LLVM merges equal calls. */
static const char mirror_function[] =
    "define internal $t @$n($t %a, $t %n) noinline nounwind willreturn speculatable memory(none) {\n"
    "  %in = icmp ult $t %a, %n\n  br i1 %in, label %inside, label %outside\ninside:\n  ret $t %a\noutside:\n"
    /* the image of a < 0: -1-a, or with $e = 1 -a, where the element at the edge occurs once in a period */
    "  %s = ashr $t %a, $s\n  %x0 = xor $t %a, %s\n  %o = and $t %s, $e\n  %x = add $t %x0, %o\n"
    "  %last = sub $t %n, $e\n  %p0 = shl $t %last, 1\n  %q = icmp eq $t %p0, 0\n  %p = select i1 %q, $t 1, $t %p0\n"
    "  %r = urem $t %x, %p\n  %p1 = add $t %p0, $f\n  %b = sub $t %p1, %r\n  %c = icmp ult $t %r, %n\n"
    "  %v = select i1 %c, $t %r, $t %b\n  ret $t %v\n}\n";
static const char circular_function[] =
    "define internal $t @$n($t %a, $t %n) noinline nounwind willreturn speculatable memory(none) {\n"
    "  %in = icmp ult $t %a, %n\n  br i1 %in, label %inside, label %outside\ninside:\n  ret $t %a\noutside:\n"
    "  %r = srem $t %a, %n\n  %c = icmp slt $t %r, 0\n  %u = add $t %r, %n\n"
    "  %v = select i1 %c, $t %u, $t %r\n  ret $t %v\n}\n";

void emit_add_helpers(Emit *e, Text *out) {
    static const char *const helpers[][2] = {{"; half_to_float\n", half_to_float}, {"; float_to_half\n", float_to_half},
                                             {"; float_to_bf16\n", float_to_bf16}, {"; mirror\n", mirror_function},
                                             {"; mirror32\n", mirror_function},    {"; reflect\n", mirror_function},
                                             {"; reflect32\n", mirror_function},   {"; circular\n", circular_function},
                                             {"; circular32\n", circular_function}};
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
        char name[32];
        if (!e->decls.len || !strstr(e->decls.s, helpers[i][0])) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(helpers[i][0] + 2, "\n"), helpers[i][0] + 2);
        bool narrow = strstr(name, "32") != NULL, once = !strncmp(name, "reflect", 7);
        emit_fill(
            out, helpers[i][1], "ntsef",
            (const char *[]){name, narrow ? "i32" : "i64", narrow ? "31" : "63", once ? "1" : "0", once ? "0" : "-1"});
    }
}

/* -- atomics ------------------------------------------------------------------------------------------------------- */
Opnd emit_combine(Emit *e, KAtomic op, qs_dtype d, Opnd a, Opnd b) {
    static const KOp ops[KA__COUNT] = {K_ADD, K_SUB, K_MUL, K_DIV, K_MIN, K_MAX, K_AND, K_OR, K_XOR, K_MATH};
    bool extremes = (op == KA_MIN || op == KA_MAX) && emit_is_float(d) && !e->t->orders_zeros;
    if (extremes) return emit_extreme_in_order(e, ops[op], d, a, b); /* same zero in any order of updates */
    return op == KA_POW ? emit_math_call(e, MF_pow, d, a, b) : emit_arith(e, ops[op], d, 0, a, b);
}

static void plain_update(Emit *e, KAtomic op, qs_dtype elem, const char *space, Opnd ptr, Opnd v) {
    Opnd old = emit_load(e, elem, space, (Place){ptr, .tail = e->updates});
    emit_store(e, elem, space, (Place){ptr, .tail = e->updates}, emit_combine(e, op, kir_value_dtype(elem), old, v));
}

/* Returns the operation of atomicrmw for an update; NULL: there is none. */
static const char *direct(KAtomic op, qs_dtype elem) {
    bool real = elem == QS_F32 || elem == QS_F64, sign = emit_is_signed(elem);
    if (!real && (elem < QS_I32 || elem > QS_U64)) return NULL;
    switch (op) {
    case KA_ADD: return real ? "fadd" : "add";
    case KA_SUB: return real ? "fadd" : "sub";               /* of -v: processors have no atomic fsub */
    case KA_MIN: return real ? NULL : sign ? "min" : "umin"; /* fmin and fmax do not specify which zero they return */
    case KA_MAX: return real ? NULL : sign ? "max" : "umax";
    case KA_AND: return "and";
    case KA_OR: return "or";
    case KA_XOR: return "xor";
    default: return NULL;
    }
}

/* Emits a compare-and-swap loop, for any operator and elements of any size.  Returns the element before. */
static Opnd swap_loop(Emit *e, KAtomic op, qs_dtype elem, const char *space, Opnd ptr, Opnd v) {
    unsigned bits = (unsigned)emit_mem_size(elem) * 8;
    const char *mem = emit_mem_type(e, elem);
    char raw[8];
    snprintf(raw, sizeof raw, "i%u", bits);
    bool same = !strcmp(raw, mem);
    uint32_t from = emit_new(e), again = emit_new(e), latch = emit_new(e), done = emit_new(e), seen = emit_new(e);
    Opnd first = emit_def(e, "load atomic %s, ptr%s %s monotonic, align %u", raw, space, ptr.s, bits / 8);
    emit_label(e, from);
    emit_label(e, again);
    Opnd old = emit_def(e, "phi %s [ %s, %%L%u ], [ %%t%u, %%L%u ]", raw, first.s, from, seen, latch);
    Opnd have = same ? old : emit_def(e, "bitcast %s %s to %s", raw, old.s, mem);
    Opnd want = encode(e, elem, emit_combine(e, op, kir_value_dtype(elem), decode_element(e, elem, have), v));
    if (!same) want = emit_def(e, "bitcast %s %s to %s", mem, want.s, raw);
    Opnd pair =
        emit_def(e, "cmpxchg ptr%s %s, %s %s, %s %s monotonic monotonic", space, ptr.s, raw, old.s, raw, want.s);
    Opnd won = emit_def(e, "extractvalue { %s, i1 } %s, 1", raw, pair.s);
    emit_label(e, latch);
    emit_put(e, "%%t%u = extractvalue { %s, i1 } %s, 0", seen, raw, pair.s);
    emit_branch(e, won, done, again);
    emit_label(e, done);
    return have;
}

Opnd emit_atomic(Emit *e, KAtomic op, qs_dtype elem, const char *space, Opnd ptr, Opnd v) {
    elem = qdtype_real_of(elem);
    const char *name = direct(op, elem);
    if (op == KA_SUB && elem >= QS_F32) v = emit_def(e, "fneg %s %s", emit_mem_type(e, elem), v.s);
    if (!name) return swap_loop(e, op, elem, space, ptr, v);
    return emit_def(e, "atomicrmw %s ptr%s %s, %s %s monotonic", name, space, ptr.s, emit_mem_type(e, elem), v.s);
}

/* Emits a FETCH or AFETCH of an element by the value r; plain: no other thread accesses the element meanwhile. */
static Opnd fetch_at(Emit *e, KAtomic op, qs_dtype elem, const char *space, Opnd ptr, KRef r, bool plain) {
    const KIns *v = &e->f->ins[r];
    const char *t = emit_mem_type(e, elem), *word = qdtype_size(elem) == 8 ? "i64" : "i32";
    Opnd value = emit_arg(e, op == KA_CAS ? v->a : r);
    if (plain) {
        Place at = {ptr, .tail = ""};
        Opnd old = emit_load(e, elem, space, at), now = value;
        if (op == KA_CAS) now = emit_choice(e, elem, emit_arith(e, K_EQ, elem, 0, old, emit_arg(e, v->b)), value, old);
        else if (op != KA_XCHG) now = emit_combine(e, op, elem, old, value);
        return emit_store(e, elem, space, at, now), old;
    }
    if (op == KA_CAS) {
        Opnd pair = emit_def(e, "cmpxchg ptr%s %s, %s %s, %s %s monotonic monotonic", space, ptr.s, word,
                             emit_arg(e, v->b).s, word, value.s);
        return emit_def(e, "extractvalue { %s, i1 } %s, 0", word, pair.s);
    }
    if (op != KA_XCHG) return emit_atomic(e, op, elem, space, ptr, value);
    bool real = elem == QS_F32 || elem == QS_F64;
    if (real) value = emit_def(e, "bitcast %s %s to %s", t, value.s, word);
    Opnd old = emit_def(e, "atomicrmw xchg ptr%s %s, %s %s monotonic", space, ptr.s, word, value.s);
    return real ? emit_def(e, "bitcast %s %s to %s", word, old.s, t) : old;
}

void emit_fetch(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    KAtomic op = (KAtomic)i->flag;
    qs_dtype d = (qs_dtype)i->dtype;
    if (!i->c) {
        emit_set(e, r, fetch_at(e, op, d, e->array_space, array_elem(e, i).ptr, i->b, e->f->serial));
        return;
    }
    Guarded g = open_guarded(e, i->c);
    close_guarded(e, g, r, fetch_at(e, op, d, e->array_space, array_elem(e, i).ptr, i->b, e->f->serial));
}

void emit_atomic_ins(Emit *e, const KIns *i) {
    qs_dtype elem = (qs_dtype)e->f->params[i->imm].dtype;
    Opnd ptr = array_elem(e, i).ptr, v = emit_arg(e, i->b);
    if (e->f->serial) {
        plain_update(e, (KAtomic)i->flag, elem, e->array_space, ptr, v);
        return;
    }
    if (e->atomic) {
        e->atomic(e, i, elem, ptr, v);
        return;
    }
    if (!*e->alone.s) {
        emit_atomic(e, (KAtomic)i->flag, elem, e->array_space, ptr, v);
        return;
    }
    uint32_t plain = emit_new(e), shared = emit_new(e), done = emit_new(e);
    emit_branch(e, e->alone, plain, shared);
    emit_label(e, plain);
    plain_update(e, (KAtomic)i->flag, elem, e->array_space, ptr, v);
    emit_jump(e, done);
    emit_label(e, shared);
    emit_atomic(e, (KAtomic)i->flag, elem, e->array_space, ptr, v);
    emit_label(e, done);
}

/* -- private and shared arrays ------------------------------------------------------------------------------------- */
void emit_inner_access(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r], *a = &e->f->ins[i->a];
    qs_dtype elem = (qs_dtype)a->dtype;
    const char *space = a->op == K_SHARED ? e->shared_space : "";
    Place at = e->container(e, i->a);
    const KIns *n = &e->f->ins[i->b]; /* it is inside the array, so that a cast of 64 bits changes nothing */
    bool cast = n->op == K_CAST && n->dtype == QS_I32 && e->f->ins[n->a].dtype == QS_I64;
    Opnd index = emit_wide(e, cast ? n->a : i->b);
    if (at.lanes) index = emit_def(e, "mul nsw i64 %s, %d", index.s, at.lanes);
    at.ptr = emit_elem(e, elem, space, at.ptr, index);
    if (e->parallel) at.tail = e->group; /* an element for each lane (interchange.c) */
    if (i->op == K_ALOAD) emit_set(e, r, emit_load(e, elem, space, at));
    else if (i->op == K_ASTORE) emit_store(e, elem, space, at, emit_arg(e, i->c));
    else if (i->op == K_AFETCH) /* on the cpu one thread runs the whole block */
        emit_set(e, r, fetch_at(e, (KAtomic)i->flag, elem, space, at.ptr, i->c, !*e->shared_space));
    else if (*e->shared_space) emit_atomic(e, (KAtomic)i->flag, elem, space, at.ptr, emit_arg(e, i->c));
    else plain_update(e, (KAtomic)i->flag, elem, space, at.ptr, emit_arg(e, i->c));
}

void emit_zero_fill(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Place at = e->container(e, r);
    size_t size = emit_mem_size((qs_dtype)i->dtype);
    emit_declare(e, "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)");
    emit_put(e, "call void @llvm.memset.p0.i64(ptr align %zu %s, i8 0, i64 %llu, i1 false)", size, at.ptr.s,
             (unsigned long long)i->imm * size * (at.lanes ? (unsigned)at.lanes : 1));
}
