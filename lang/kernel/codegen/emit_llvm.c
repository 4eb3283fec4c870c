/* emit_llvm.c -- emits KIR instructions as LLVM IR text.
 *
 * Each instruction becomes a few lines with numbered temporaries (%t7) and labels (L7).  LOCALs become allocas, which
 * LLVM turns back into values.  This file handles a single position; the frame (emit_cpu.c, emit_ptx.c) adds loops over
 * positions, threads and parameters.  KIR defines some cases that LLVM leaves undefined (shifts by the width, division
 * by zero, NaN to integer).  The text handles these explicitly; LLVM removes tests that it can prove unnecessary. */
#include "lang/kernel/codegen/emit_llvm.h"
#include "lang/kernel/passes/pipeline.h"
#include "vm/base/number.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* -- text ---------------------------------------------------------------------------------------------------------- */
Opnd emit_opnd(const char *fmt, ...) {
    Opnd o;
    va_list ap;
    va_start(ap, fmt);
    qnum_vprint(o.s, sizeof o.s, fmt, ap);
    va_end(ap);
    return o;
}

Opnd emit_tmp(uint32_t n) { return emit_opnd("%%t%u", n); }

uint32_t emit_number(Opnd v) {
    uint32_t n = 0;
    if (v.s[0] != '%' || v.s[1] != 't') return 0;
    for (const char *p = v.s + 2; *p >= '0' && *p <= '9'; p++) n = n * 10 + (uint32_t)(*p - '0');
    return n;
}

uint32_t emit_new(Emit *e) { return ++e->next; }

static void vprint(Text *t, const char *fmt, va_list ap) {
    char line[1024];
    int n = qnum_vprint(line, sizeof line, fmt, ap);
    assert(n >= 0 && (size_t)n < sizeof line);
    qtext_add(t, line, (size_t)n);
}

static void revive(Emit *e) { /* code after a terminator needs a label, although nothing jumps there */
    if (e->dead) qtext_printf(e->out, "L%u:\n", emit_new(e));
    e->dead = false;
}

static void end_line(Emit *e) {
    if (e->t->located) qtext_printf(e->out, ", !dbg !DILocation(line: %u, scope: !%d)", e->at, EMIT_SCOPE);
    qtext_puts(e->out, "\n");
}

void emit_put(Emit *e, const char *fmt, ...) {
    va_list ap;
    revive(e);
    qtext_puts(e->out, "  ");
    va_start(ap, fmt);
    vprint(e->out, fmt, ap);
    va_end(ap);
    end_line(e);
}

EmitSpot emit_enter_entry(Emit *e) {
    EmitSpot s = {e->out, e->dead};
    e->out = &e->entry, e->dead = false;
    return s;
}

void emit_leave_entry(Emit *e, EmitSpot s) { e->out = s.out, e->dead = s.dead; }

Opnd emit_def(Emit *e, const char *fmt, ...) {
    va_list ap;
    revive(e);
    uint32_t n = emit_new(e);
    qtext_printf(e->out, "  %%t%u = ", n);
    va_start(ap, fmt);
    vprint(e->out, fmt, ap);
    va_end(ap);
    end_line(e);
    return emit_tmp(n);
}

void emit_label(Emit *e, uint32_t n) {
    if (!e->dead) qtext_printf(e->out, "  br label %%L%u\n", n);
    qtext_printf(e->out, "L%u:\n", n);
    e->dead = false;
}

void emit_jump(Emit *e, uint32_t label) {
    emit_put(e, "br label %%L%u", label);
    e->dead = true;
}

void emit_branch(Emit *e, Opnd cond, uint32_t yes, uint32_t no) {
    emit_put(e, "br i1 %s, label %%L%u, label %%L%u", cond.s, yes, no);
    e->dead = true;
}

void emit_declare(Emit *e, const char *fmt, ...) {
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = qnum_vprint(line, sizeof line - 1, fmt, ap);
    assert(n >= 0 && (size_t)n < sizeof line - 1);
    va_end(ap);
    line[n] = '\n', line[n + 1] = 0;
    if (e->decls.len && strstr(e->decls.s, line)) return;
    qtext_puts(&e->decls, line);
}

void emit_fill(Text *out, const char *text, const char *letters, const char *const *values) {
    for (const char *p = text, *at; *p; p += at ? 2 : 1) {
        at = *p == '$' ? strchr(letters, p[1]) : NULL;
        if (at) qtext_puts(out, values[at - letters]);
        else qtext_add(out, p, 1);
    }
}

/* -- types --------------------------------------------------------------------------------------------------------- */
const char *emit_type(qs_dtype d) {
    switch (d) {
    case QS_B1: return "i1";
    case QS_I32:
    case QS_U32: return "i32";
    case QS_I64:
    case QS_U64: return "i64";
    case QS_F32: return "float";
    default: return "double";
    }
}

const char *emit_mem_type(const Emit *e, qs_dtype d) {
    if (d == QS_F16) return e->t->half ? "half" : "i16";
    if (d == QS_BF16) return "i16";
    return qdtype_info[qdtype_real_of(d)].llvm;
}

size_t emit_mem_size(qs_dtype d) { return qdtype_size(qdtype_real_of(d)); }

static int bits_of(qs_dtype d) { return d == QS_B1 ? 1 : d == QS_I64 || d == QS_U64 || d == QS_F64 ? 64 : 32; }
static const char *suffix(qs_dtype d) {
    return d == QS_F32 ? "f32" : d == QS_F64 ? "f64" : bits_of(d) == 64 ? "i64" : "i32";
}

/* -- values -------------------------------------------------------------------------------------------------------- */
Opnd emit_literal(qs_dtype d, uint64_t bits) {
    KSlot s = {bits};
    if (d == QS_F32) s.F64 = (double)s.F32;
    if (emit_is_float(d)) return emit_opnd("0x%016llX", (unsigned long long)s.bits);
    if (d == QS_B1) return emit_opnd(bits ? "true" : "false");
    if (d == QS_U32 || d == QS_U64) return emit_opnd("%llu", (unsigned long long)bits);
    return emit_opnd("%lld", (long long)s.I64);
}

bool emit_known(const Emit *e, KRef r) {
    return e->f->ins[r].op == K_CONST || (e->val[r] && (e->epoch[r] == e->now || e->epoch[r] == 0));
}

Opnd emit_arg(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    if (i->op == K_CONST) return emit_literal((qs_dtype)i->dtype, i->imm);
    assert(emit_known(e, r));
    return emit_tmp(e->val[r]);
}

/* Returns a temporary with the value v, which may be a literal. */
static Opnd named(Emit *e, qs_dtype d, Opnd v) {
    const char *op = "add", *nothing = "0";
    if (d == QS_B1) op = "or", nothing = "false";
    if (emit_is_float(d)) op = "fadd", nothing = "-0.0";
    return emit_def(e, "%s %s %s, %s", op, emit_type(d), v.s, nothing);
}

void emit_set(Emit *e, KRef r, Opnd v) {
    if (!emit_number(v)) v = named(e, (qs_dtype)e->f->ins[r].dtype, v);
    e->val[r] = emit_number(v), e->wide[r] = e->slim[r] = 0, e->epoch[r] = e->now;
}

/* Sets the value of an index, given as int64.  If the instruction has a narrower dtype, both forms are recorded. */
void emit_set_index(Emit *e, KRef r, Opnd v) {
    if (e->f->ins[r].dtype == QS_I64) {
        emit_set(e, r, v);
        return;
    }
    if (!emit_number(v)) v = named(e, QS_I64, v);
    emit_set(e, r, emit_def(e, "trunc i64 %s to i32", v.s));
    e->wide[r] = emit_number(v);
}

/* Returns r, an int or int64, as int64. */
Opnd emit_wide(Emit *e, KRef r) {
    Opnd a = emit_arg(e, r);
    if (e->f->ins[r].dtype == QS_I64 || e->f->ins[r].op == K_CONST) return a;
    return e->wide[r] ? emit_tmp(e->wide[r]) : emit_def(e, "sext i32 %s to i64", a.s);
}

/* -- narrow ints: the value is also emitted extended to 32 bits; LLVM drops it if only the narrow one is used ------ */
static Opnd slim_arg(Emit *e, KRef r, int bits) {
    if (e->f->ins[r].op == K_CONST) return emit_arg(e, r);
    if (!e->slim[r] || !emit_known(e, r)) return emit_def(e, "trunc i32 %s to i%d", emit_arg(e, r).s, bits);
    if (e->bits[r] == bits) return emit_tmp(e->slim[r]);
    return emit_def(e, "%s i%d %%t%u to i%d", e->bits[r] < bits ? "sext" : "trunc", e->bits[r], e->slim[r], bits);
}

static void set_slim(Emit *e, KRef r, Opnd v) {
    emit_set(e, r, emit_def(e, "sext i%d %s to i32", e->bits[r], v.s));
    e->slim[r] = emit_number(v);
}

static void store_slim(Emit *e, KRef local, KRef v) {
    Opnd value = slim_arg(e, v, e->bits[local]), at = e->container(e, local).ptr;
    emit_put(e, "store i%d %s, ptr %s", e->bits[local], value.s, at.s);
}

/* Emits an instruction that computes in fewer bits; false: r does not. */
static bool slim_ins(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    static const char *const names[] = {[K_ADD] = "add nsw", [K_SUB] = "sub nsw", [K_MUL] = "mul nsw"};
    static const char *const calls[] = {[K_MIN] = "smin", [K_MAX] = "smax"};
    int n = e->bits[i->op == K_GET || i->op == K_SET ? i->a : r];
    if (!n) return false;
    if (i->op == K_LOCAL) store_slim(e, r, i->a);
    else if (i->op == K_SET) store_slim(e, i->a, i->b);
    else if (i->op == K_GET) {
        Opnd v = emit_def(e, "load i%d, ptr %s", n, e->container(e, i->a).ptr.s);
        if (e->bits[r] == n) set_slim(e, r, v);
        else emit_set(e, r, emit_def(e, "sext i%d %s to i32", n, v.s));
    } else if (i->op == K_SELECT) {
        Opnd b = slim_arg(e, i->b, n), c = slim_arg(e, i->c, n);
        set_slim(e, r, emit_def(e, "select i1 %s, i%d %s, i%d %s", emit_arg(e, i->a).s, n, b.s, n, c.s));
    } else if (i->op == K_MIN || i->op == K_MAX) {
        Opnd a = slim_arg(e, i->a, n), b = slim_arg(e, i->b, n);
        emit_declare(e, "declare i%d @llvm.%s.i%d(i%d, i%d)", n, calls[i->op], n, n, n);
        set_slim(e, r, emit_def(e, "call i%d @llvm.%s.i%d(i%d %s, i%d %s)", n, calls[i->op], n, n, a.s, n, b.s));
    } else if (i->op == K_ADD || i->op == K_SUB || i->op == K_MUL) {
        Opnd a = slim_arg(e, i->a, n), b = slim_arg(e, i->b, n);
        set_slim(e, r, emit_def(e, "%s i%d %s, %s", names[i->op], n, a.s, b.s));
    } else return false;
    return true;
}

/* -- arithmetic ---------------------------------------------------------------------------------------------------- */
/* Returns the fast-math flags of arithmetic on floats.  `contract` allows a*b+c to round once if the processor has an
 * instruction for it; LLVM contracts only if both the product and the sum have it.  Fast math sets all flags except
 * those that assume absence of NaN and infinities, so that tests for them keep working. */
static const char *liberties(const Emit *e, unsigned flag) {
    if (e->f->fast) return " reassoc nsz arcp contract afn";
    bool contracts = kir_contracts(e->f) || flag & EMIT_ROUNDS_ONCE;
    if ((flag & ~(unsigned)EMIT_ROUNDS_ONCE) == KFLAG_REASSOC) return contracts ? " reassoc contract" : " reassoc";
    return contracts ? " contract" : "";
}

static Opnd emit_intrinsic2(Emit *e, const char *fn, qs_dtype d, Opnd a, Opnd b) {
    const char *t = emit_type(d);
    emit_declare(e, "declare %s @llvm.%s.%s(%s, %s)", t, fn, suffix(d), t, t);
    return emit_def(e, "call %s @llvm.%s.%s(%s %s, %s %s)", t, fn, suffix(d), t, a.s, t, b.s);
}

static Opnd call1(Emit *e, const char *fn, qs_dtype d, Opnd a) {
    const char *t = emit_type(d);
    emit_declare(e, "declare %s @llvm.%s.%s(%s)", t, fn, suffix(d), t);
    return emit_def(e, "call%s %s @llvm.%s.%s(%s %s)", e->f->fast ? liberties(e, 0) : "", t, fn, suffix(d), t, a.s);
}

Opnd emit_select(Emit *e, Opnd cond, const char *t, Opnd yes, Opnd no) {
    return emit_def(e, "select i1 %s, %s %s, %s %s", cond.s, t, yes.s, t, no.s);
}

/* Emits cond ? yes : no.  On the cpu, a selection of bools is emitted with `and` and `or`.  LLVM cannot simplify
 * `select c, true, x` to `c or x`, because a select hides an undefined x. */
Opnd emit_choice(Emit *e, qs_dtype d, Opnd cond, Opnd yes, Opnd no) {
    if (d != QS_B1 || e->t->threads) return emit_select(e, cond, emit_type(d), yes, no);
    Opnd other = emit_def(e, "xor i1 %s, true", cond.s);
    Opnd a = emit_def(e, "and i1 %s, %s", cond.s, yes.s), b = emit_def(e, "and i1 %s, %s", other.s, no.s);
    return emit_def(e, "or i1 %s, %s", a.s, b.s);
}

Opnd emit_lit(long long v) { return emit_opnd("%lld", v); }

Opnd emit_bin(Emit *e, const char *op, const char *t, Opnd a, Opnd b) {
    return emit_def(e, "%s %s %s, %s", op, t, a.s, b.s);
}

/* Emits the remainder with the sign of b, which is neither 0 nor -1. */
static Opnd floor_mod(Emit *e, const char *t, Opnd a, Opnd b) {
    Opnd r = emit_bin(e, "srem", t, a, b),
         differ = emit_bin(e, "icmp slt", t, emit_bin(e, "xor", t, r, b), emit_lit(0));
    Opnd inexact = emit_bin(e, "icmp ne", t, r, emit_lit(0));
    return emit_select(e, emit_bin(e, "and", "i1", inexact, differ), t, emit_bin(e, "add", t, r, b), r);
}

static Opnd float_mod(Emit *e, qs_dtype d, Opnd a, Opnd b) {
    const char *t = emit_type(d), *name = emit_mod(e, d);
    return emit_def(e, "call %s @%s(%s %s, %s %s) #%u", t, name, t, a.s, t, b.s, emit_mod_attributes(d));
}

static Opnd emit_shift(Emit *e, KOp op, qs_dtype d, Opnd a, Opnd n) {
    const char *t = emit_type(d);
    if (op == K_SHR && emit_is_signed(d)) {
        emit_declare(e, "declare %s @llvm.umin.%s(%s, %s)", t, suffix(d), t, t);
        return emit_bin(e, "ashr", t, a, emit_intrinsic2(e, "umin", d, n, emit_lit(bits_of(d) - 1)));
    }
    Opnd fits = emit_bin(e, "icmp ult", t, n, emit_lit(bits_of(d)));
    return emit_select(e, fits, t, emit_bin(e, op == K_SHL ? "shl" : "lshr", t, a, n), emit_lit(0));
}

static Opnd emit_comparison(Emit *e, KOp op, qs_dtype d, Opnd a, Opnd b) {
    static const char *const names[][3] = {
        {"slt", "ult", "olt"}, {"sle", "ule", "ole"}, {"eq", "eq", "oeq"}, {"ne", "ne", "une"}};
    const char *name = names[op - K_LT][emit_is_float(d) ? 2 : emit_is_signed(d) ? 0 : 1];
    return emit_def(e, "%ccmp %s %s %s, %s", emit_is_float(d) ? 'f' : 'i', name, emit_type(d), a.s, b.s);
}

/* Returns whether to use the estimates of a GPU, which are intrinsics of LLVM. */
static bool estimates(const Emit *e, qs_dtype d) { return e->f->fast && e->t->estimates && d == QS_F32; }

static Opnd float_arith(Emit *e, KOp op, qs_dtype d, unsigned flag, Opnd a, Opnd b) {
    static const char *const names[] = {[K_ADD] = "fadd", [K_SUB] = "fsub", [K_MUL] = "fmul", [K_DIV] = "fdiv"};
    if (op == K_DIV && estimates(e, d)) {
        emit_declare(e, "declare float @llvm.nvvm.div.approx.ftz.f(float, float)");
        return emit_def(e, "call float @llvm.nvvm.div.approx.ftz.f(float %s, float %s)", a.s, b.s);
    }
    return emit_def(e, "%s%s %s %s, %s", names[op], op == K_DIV && !e->f->fast ? "" : liberties(e, flag), emit_type(d),
                    a.s, b.s);
}

static bool is_root(const KFunc *f, KRef r) { return f->ins[r].op == K_MATH && f->ins[r].flag == MF_sqrt; }

/* Minimum and maximum are exact: a number wins against NaN, and -0 is less than +0.  There are three versions, because
 * LLVM's minnum and maxnum do not specify which zero they return.
 *
 * This version compares with ordinary comparisons.  The values that depend only on b can be computed outside a loop
 * that accumulates in a.  If b is a zero that must not replace the other zero, the next number beyond it is
 * compared. */
Opnd emit_extreme_in_order(Emit *e, KOp op, qs_dtype d, Opnd a, Opnd b) {
    static const char *const beyond[2][2] = {{"0x36A0000000000000", "0xB6A0000000000000"},
                                             {"0x1", "0x8000000000000001"}};
    const char *t = emit_type(d);
    bool wide = d == QS_F64, most = op == K_MAX;
    Opnd bits = emit_def(e, "bitcast %s %s to %s", t, b.s, wide ? "i64" : "i32");
    Opnd zero = emit_def(e, "icmp eq %s %s, %lld", wide ? "i64" : "i32", bits.s,
                         most ? wide ? (long long)INT64_MIN : (long long)INT32_MIN : 0);
    Opnd key = emit_select(e, zero, t, emit_opnd("%s", beyond[wide][most]), b);
    Opnd past = emit_bin(e, most ? "fcmp uge" : "fcmp ule", t, key, a), number = emit_bin(e, "fcmp ord", t, b, b);
    return emit_select(e, emit_bin(e, "and", "i1", past, number), t, b, a);
}

/* This version combines the bits of equal numbers, which differ only for zeros: -0 has a sign bit, +0 has not. */
static Opnd extreme_of_bits(Emit *e, KOp op, qs_dtype d, Opnd a, Opnd b) {
    const char *t = emit_type(d), *whole = d == QS_F64 ? "i64" : "i32";
    Opnd m = emit_intrinsic2(e, op == K_MAX ? "maxnum" : "minnum", d, a, b), equal = emit_bin(e, "fcmp oeq", t, a, b);
    Opnd x = emit_def(e, "bitcast %s %s to %s", t, a.s, whole), y = emit_def(e, "bitcast %s %s to %s", t, b.s, whole);
    Opnd bits = emit_bin(e, op == K_MAX ? "and" : "or", whole, x, y);
    return emit_select(e, equal, t, emit_def(e, "bitcast %s %s to %s", whole, bits.s, t), m);
}

static bool is_literal(Opnd o) { return *o.s != '%'; }

/* Emits a minimum or maximum.  A min or max with a constant zero was replaced by a comparison before
 * (passes/legal.h). */
static Opnd emit_extreme(Emit *e, KOp op, qs_dtype d, unsigned flag, Opnd a, Opnd b) {
    bool ordered = flag == KFLAG_ZEROS || e->t->orders_zeros;
    if (flag == KFLAG_REASSOC) /* not NaN, and either zero, which the code behind the loop sets right */
        return emit_def(e, "call nnan nsz %s @llvm.%s.f%d(%s %s, %s %s)", emit_type(d),
                        op == K_MAX ? "maxnum" : "minnum", d == QS_F64 ? 64 : 32, emit_type(d), a.s, emit_type(d), b.s);
    if (kir_is_exact(e->f)) return emit_extreme_in_order(e, op, d, a, b);
    if (!ordered || e->f->fast || is_literal(a) || is_literal(b))
        return emit_intrinsic2(e, op == K_MAX ? "maxnum" : "minnum", d, a, b);
    return extreme_of_bits(e, op, d, a, b);
}

/* Emits a binary operation with operands of dtype d. */
Opnd emit_arith(Emit *e, KOp op, qs_dtype d, unsigned flag, Opnd a, Opnd b) {
    const char *t = emit_type(d);
    bool real = emit_is_float(d), sign = emit_is_signed(d);
    if (real && (op == K_ADD || op == K_SUB || op == K_MUL || op == K_DIV)) return float_arith(e, op, d, flag, a, b);
    switch (op) {
    case K_ADD: return emit_bin(e, "add", t, a, b);
    case K_SUB: return emit_bin(e, "sub", t, a, b);
    case K_MUL: return emit_bin(e, "mul", t, a, b);
    case K_DIV: return emit_bin(e, sign ? "sdiv" : "udiv", t, a, b);
    case K_MOD: return real ? float_mod(e, d, a, b) : sign ? floor_mod(e, t, a, b) : emit_bin(e, "urem", t, a, b);
    case K_MIN: return real ? emit_extreme(e, op, d, flag, a, b) : emit_intrinsic2(e, sign ? "smin" : "umin", d, a, b);
    case K_MAX: return real ? emit_extreme(e, op, d, flag, a, b) : emit_intrinsic2(e, sign ? "smax" : "umax", d, a, b);
    case K_AND: return emit_bin(e, "and", t, a, b);
    case K_OR: return emit_bin(e, "or", t, a, b);
    case K_XOR: return emit_bin(e, "xor", t, a, b);
    case K_SHL:
    case K_SHR: return emit_shift(e, op, d, a, b);
    default: return emit_comparison(e, op, d, a, b);
    }
}

static Opnd emit_unary(Emit *e, KOp op, qs_dtype d, Opnd a) {
    const char *t = emit_type(d);
    if (op == K_NOT) return emit_bin(e, "xor", t, a, d == QS_B1 ? emit_opnd("true") : emit_lit(-1));
    if (op == K_NEG)
        return emit_is_float(d) ? emit_def(e, "fneg %s %s", t, a.s) : emit_bin(e, "sub", t, emit_lit(0), a);
    if (emit_is_float(d)) return call1(e, "fabs", d, a);
    if (!emit_is_signed(d)) return a;
    emit_declare(e, "declare %s @llvm.abs.%s(%s, i1)", t, suffix(d), t);
    return emit_def(e, "call %s @llvm.abs.%s(%s %s, i1 false)", t, suffix(d), t, a.s);
}

/* -- conversions --------------------------------------------------------------------------------------------------- */
Opnd emit_clamp(Emit *e, Opnd a, long long lo, long long hi) {
    return emit_intrinsic2(e, "smin", QS_I32, emit_intrinsic2(e, "smax", QS_I32, a, emit_lit(lo)), emit_lit(hi));
}

static Opnd int_to_int(Emit *e, qs_dtype from, qs_dtype to, Opnd a) {
    bool wider = bits_of(to) > bits_of(from), narrower = bits_of(to) < bits_of(from);
    long long top = to == QS_I32 ? INT32_MAX : to == QS_U32 ? UINT32_MAX : INT64_MAX;
    if (emit_is_signed(from)) {
        if (wider && emit_is_signed(to)) return emit_def(e, "sext i32 %s to i64", a.s);
        if (!emit_is_signed(to)) a = emit_intrinsic2(e, "smax", from, a, emit_lit(0));
        if (wider) return emit_def(e, "zext i32 %s to i64", a.s);
        if (!narrower) return a;
        if (emit_is_signed(to)) a = emit_intrinsic2(e, "smax", from, a, emit_lit(INT32_MIN));
        return emit_def(e, "trunc i64 %s to i32", emit_intrinsic2(e, "smin", from, a, emit_lit(top)).s);
    }
    if (wider) return emit_def(e, "zext i32 %s to i64", a.s);
    if (emit_is_signed(to) || narrower) a = emit_intrinsic2(e, "umin", from, a, emit_lit(top));
    return narrower ? emit_def(e, "trunc i64 %s to i32", a.s) : a;
}

/* Converts a float by comparisons.  LLVM vectorizes these; on x86-64 it makes branches for each number of
 * a vector from llvm.fptosi.sat. */
static Opnd limit_float(Emit *e, const char *t, qs_dtype to, Opnd a) {
    static const char *const least[2] = {"0xC1E0000000000000", "0xC3E0000000000000"};
    static const char *const beyond[2][2] = {{"0x41F0000000000000", "0x43F0000000000000"},
                                             {"0x41E0000000000000", "0x43E0000000000000"}};
    bool sign = emit_is_signed(to), wide = bits_of(to) == 64;
    const char *whole = emit_type(to), *fcmp = sign ? "fcmp ole" : "fcmp ule";
    Opnd low = emit_lit(!sign ? 0 : wide ? INT64_MIN : INT32_MIN), zero = emit_lit(0);
    Opnd high = !sign ? emit_lit(-1) : emit_lit(wide ? INT64_MAX : INT32_MAX);
    Opnd v = emit_def(e, "%s %s %s to %s", sign ? "fptosi" : "fptoui", t, a.s, whole);
    v = emit_select(e, emit_bin(e, "fcmp oge", t, a, emit_opnd("%s", beyond[sign][wide])), whole, high, v);
    v = emit_select(e, emit_bin(e, fcmp, t, a, emit_opnd("%s", sign ? least[wide] : "0.0")), whole, low, v);
    return sign ? emit_select(e, emit_bin(e, "fcmp uno", t, a, a), whole, zero, v) : v;
}

static Opnd float_to_int(Emit *e, qs_dtype from, qs_dtype to, Opnd a) {
    const char *t = emit_type(from), *whole = emit_type(to), *name = emit_is_signed(to) ? "fptosi" : "fptoui";
    if (!e->t->threads) return limit_float(e, t, to, a);
    emit_declare(e, "declare %s @llvm.%s.sat.%s.%s(%s)", whole, name, whole, suffix(from), t);
    return emit_def(e, "call %s @llvm.%s.sat.%s.%s(%s %s)", whole, name, whole, suffix(from), t, a.s);
}

static Opnd convert_value(Emit *e, qs_dtype from, qs_dtype to, Opnd a) {
    const char *f = emit_type(from), *t = emit_type(to);
    if (from == to) return a;
    if (to == QS_B1)
        return emit_is_float(from) ? emit_def(e, "fcmp une %s %s, 0.0", f, a.s)
                                   : emit_bin(e, "icmp ne", f, a, emit_lit(0));
    if (emit_is_float(from)) {
        if (emit_is_float(to)) return emit_def(e, "%s %s %s to %s", to == QS_F64 ? "fpext" : "fptrunc", f, a.s, t);
        return float_to_int(e, from, to, a);
    }
    if (emit_is_float(to)) return emit_def(e, "%s %s %s to %s", emit_is_signed(from) ? "sitofp" : "uitofp", f, a.s, t);
    if (from == QS_B1) return emit_def(e, "zext i1 %s to %s", a.s, t);
    return int_to_int(e, from, to, a);
}

Opnd emit_double(Emit *e, KRef r) {
    if (!r) return emit_opnd("0.0");
    return convert_value(e, (qs_dtype)e->f->ins[r].dtype, QS_F64, emit_arg(e, r));
}

/* Whether r is at least a constant, and at most one, that int64 holds. */
static bool is_limited(const KFunc *f, KRef r) {
    const KIns *most = &f->ins[r], *least = &f->ins[most->a];
    double lo, hi;
    return most->op == K_MIN && least->op == K_MAX && kir_is_const(f, most->b, &hi) && hi < 0x1p63 &&
           kir_is_const(f, least->b, &lo) && lo >= -0x1p63;
}

static void emit_cast(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    qs_dtype from = (qs_dtype)e->f->ins[i->a].dtype;
    if (i->dtype == QS_I64 && emit_is_float(from) && is_limited(e->f, i->a))
        emit_set(e, r, emit_def(e, "fptosi %s %s to i64", emit_type(from), emit_arg(e, i->a).s));
    else if (from == QS_I32 && i->dtype == QS_I64) emit_set(e, r, emit_wide(e, i->a));
    else emit_set(e, r, convert_value(e, from, (qs_dtype)i->dtype, emit_arg(e, i->a)));
}

/* -- indices ------------------------------------------------------------------------------------------------------- */

/* Returns the image of an index with -n <= a < 2n inside an array of n elements, without a division. */
static Opnd near_image(Emit *e, AccessMode mode, Opnd a, Opnd n) {
    if (mode == ACC_CIRCULAR) {
        Opnd low = emit_bin(e, "icmp slt", "i64", a, emit_lit(0)), high = emit_bin(e, "icmp sge", "i64", a, n);
        Opnd up = emit_select(e, low, "i64", emit_bin(e, "add", "i64", a, n), a);
        return emit_select(e, high, "i64", emit_bin(e, "sub", "i64", a, n), up);
    }
    Opnd sign = emit_bin(e, "ashr", "i64", a, emit_lit(63)),
         x = emit_bin(e, "xor", "i64", a, sign);                     /* -1-a for a < 0 */
    if (mode == ACC_REFLECT) x = emit_bin(e, "sub", "i64", x, sign); /* -a */
    Opnd last =
        emit_bin(e, "sub", "i64", emit_bin(e, "shl", "i64", n, emit_lit(1)), emit_lit(mode == ACC_REFLECT ? 2 : 1));
    return emit_select(e, emit_bin(e, "icmp slt", "i64", x, n), "i64", x, emit_bin(e, "sub", "i64", last, x));
}

/* Returns the index that index a refers to in an access mode.  d: int64, or int32 if that suffices. */
static Opnd image(Emit *e, AccessMode mode, qs_dtype d, Opnd a, Opnd extent) {
    bool low = d == QS_I32;
    const char *type = low ? "i32" : "i64";
    char name[16];
    Opnd n = emit_intrinsic2(e, "smax", d, extent, emit_lit(1));
    if (mode == ACC_CLAMPED) {
        Opnd top = emit_bin(e, low ? "sub nsw" : "sub", type, n, emit_lit(1));
        return emit_intrinsic2(e, "smax", d, emit_intrinsic2(e, "smin", d, a, top), emit_lit(0));
    }
    if (e->near && !low) return near_image(e, mode, a, n);
    snprintf(name, sizeof name, "%s%s", qaccess_name(mode), low ? "32" : "");
    emit_need_helper(e, name);
    return emit_def(e, "call %s @%s(%s %s, %s %s)", type, name, type, a.s, type, n.s);
}

static void emit_bound(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Opnd a = emit_arg(e, i->a), n = emit_arg(e, i->b);
    emit_set(e, r, image(e, (AccessMode)i->flag, QS_I64, a, n));
}

static void inb(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Opnd a = emit_arg(e, i->a), n = emit_arg(e, i->b);
    Opnd low = emit_bin(e, "icmp sge", "i64", a, emit_lit(0)), high = emit_bin(e, "icmp slt", "i64", a, n);
    emit_set(e, r, emit_bin(e, "and", "i1", low, high));
}

/* -- mathematical functions ---------------------------------------------------------------------------------------- */
unsigned emit_call_attributes(MathFn fn, qs_dtype d) { return 10 + (unsigned)fn * 2 + (d == QS_F64); }

int emit_lanes(char isa, qs_dtype d) {
    int bytes = isa == 'e' ? 64 : isa == 'c' || isa == 'd' ? 32 : 16;
    return bytes / (d == QS_F32 ? 4 : 8);
}

static void variant_name(char out[64], char isa, MathFn fn, qs_dtype d) {
    snprintf(out, 64, "_ZGV%cN%d%s_%s", isa, emit_lanes(isa, d), kir_math[fn].nargs == 2 ? "vv" : "v",
             kir_math[fn].c[d == QS_F64]);
}

/* Declares the vector variants of a function and lists them in an attribute group for the vectorizer.  They must be
 * declared and marked as used (print_used in emit_cpu.c). */
static void vector_variants(Emit *e, MathFn fn, qs_dtype d) {
    const char *t = emit_type(d);
    Text list;
    qtext_init(&list, e->c);
    for (const char *isa = e->t->mvec; *isa; isa++) {
        char name[64];
        int lanes = emit_lanes(*isa, d);
        variant_name(name, *isa, fn, d);
        if (kir_math[fn].nargs == 2)
            emit_declare(e, "declare <%d x %s> @%s(<%d x %s>, <%d x %s>) #1", lanes, t, name, lanes, t, lanes, t);
        else emit_declare(e, "declare <%d x %s> @%s(<%d x %s>) #1", lanes, t, name, lanes, t);
        qtext_printf(&list, "%s%s(%s)", list.len ? "," : "", name, name);
    }
    emit_declare(e, "attributes #%u = { nounwind willreturn memory(none) \"vector-function-abi-variant\"=\"%s\" }",
                 emit_call_attributes(fn, d), list.s);
    qtext_free(&list);
}

static Opnd scale_float(Emit *e, Opnd a, float factor) {
    KSlot s = {.F32 = factor};
    return factor == 1 ? a : float_arith(e, K_MUL, QS_F32, 0, a, emit_literal(QS_F32, s.bits & UINT32_MAX));
}

static Opnd estimate(Emit *e, const MathFnInfo *fn, Opnd a) {
    emit_declare(e, "declare float @llvm.nvvm.%s.approx.ftz.f(float)", fn->estimate);
    a = scale_float(e, a, fn->before);
    return scale_float(e, emit_def(e, "call float @llvm.nvvm.%s.approx.ftz.f(float %s)", fn->estimate, a.s), fn->after);
}

bool emit_calls_vectors(const Emit *e, MathFn fn) {
    const MathFnInfo *info = &kir_math[fn];
    return !kir_is_exact(e->f) && *e->t->mvec && info->libmvec && info->libmvec <= e->t->libc;
}

/* Returns whether the definition of fn is that of math_formulas.h, whose bits the interpreter gives. */
static bool is_of_host(const Emit *e, MathFn fn, qs_dtype d) {
    return kir_math[fn].how[d == QS_F64] >= MATH_host && !e->t->threads && kir_is_exact(e->f);
}

/* Emits a call of a library function. */
static Opnd library_call(Emit *e, MathFn fn, qs_dtype d, Opnd a, Opnd b) {
    const MathFnInfo *info = &kir_math[fn];
    const char *t = emit_type(d), *name = (e->t->libdevice ? info->nv : info->c)[d == QS_F64];
    char own[32];
    if (is_of_host(e, fn, d)) snprintf(own, sizeof own, "qlibm_%s", name), name = own;
    bool vector = emit_calls_vectors(e, fn);
    unsigned attributes = vector ? emit_call_attributes(fn, d) : 1;
    if (vector) vector_variants(e, fn, d);
    if (info->nargs == 2) {
        emit_declare(e, "declare %s @%s(%s, %s) #1", t, name, t, t);
        return emit_def(e, "call %s @%s(%s %s, %s %s) #%u", t, name, t, a.s, t, b.s, attributes);
    }
    emit_declare(e, "declare %s @%s(%s) #1", t, name, t);
    return emit_def(e, "call %s @%s(%s %s) #%u", t, name, t, a.s, attributes);
}

Opnd emit_math_call(Emit *e, MathFn fn, qs_dtype d, Opnd a, Opnd b) {
    const MathFnInfo *info = &kir_math[fn];
    const char *t = emit_type(d);
    if (info->estimate && estimates(e, d)) return estimate(e, info, a);
    if (info->how[0] == MATH_exact) return call1(e, info->name, d, a);
    if (!emit_math_inlines(e, fn, d)) return library_call(e, fn, d, a, b);
    emit_math_inline(e, fn, d);
    const char *name = info->c[d == QS_F64];
    if (info->nargs == 2) return emit_def(e, "call %s @own_%s(%s %s, %s %s)", t, name, t, a.s, t, b.s);
    return emit_def(e, "call %s @own_%s(%s %s)", t, name, t, a.s);
}

/* -- indices of small kernels: a GPU computes only their low half -------------------------------------------------- */
Opnd emit_low_arg(Emit *e, KRef r) {
    if (e->f->ins[r].op == K_CONST) return emit_lit((int32_t)e->f->ins[r].imm);
    if (e->slim[r] && emit_known(e, r)) return emit_tmp(e->slim[r]);
    return emit_def(e, "trunc i64 %s to i32", emit_arg(e, r).s);
}

/* Sets the value of r, which fits into its low half v.  LLVM drops the extended value if it is not used. */
static void set_low(Emit *e, KRef r, Opnd v) {
    emit_set(e, r, emit_def(e, "sext i32 %s to i64", v.s));
    e->slim[r] = emit_number(v);
}

static bool both_fit(const Emit *e, const KIns *i) { return e->bits[i->a] && e->bits[i->b]; }

static void low_sum(Emit *e, KRef r) {
    static const char *const names[] = {[K_ADD] = "add", [K_SUB] = "sub", [K_MUL] = "mul"};
    const KIns *i = &e->f->ins[r];
    const char *exact = e->bits[r] && both_fit(e, i) ? " nsw" : "";
    Opnd low = emit_def(e, "%s%s i32 %s, %s", names[i->op], exact, emit_low_arg(e, i->a).s, emit_low_arg(e, i->b).s);
    if (e->bits[r]) set_low(e, r, low);
    else {
        emit_set(e, r, emit_bin(e, names[i->op], "i64", emit_arg(e, i->a), emit_arg(e, i->b)));
        e->slim[r] = emit_number(low);
    }
}

static void low_bound(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Opnd a = emit_low_arg(e, i->a), n = emit_low_arg(e, i->b);
    set_low(e, r, image(e, (AccessMode)i->flag, QS_I32, a, n));
}

static void low_inb(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Opnd a = emit_low_arg(e, i->a), n = emit_low_arg(e, i->b);
    if (e->f->ins[i->b].op == K_DIM) { /* an extent is not negative: one unsigned comparison is enough */
        emit_set(e, r, emit_bin(e, "icmp ult", "i32", a, n));
        return;
    }
    emit_set(
        e, r,
        emit_bin(e, "and", "i1", emit_bin(e, "icmp sge", "i32", a, emit_lit(0)), emit_bin(e, "icmp slt", "i32", a, n)));
}

static void low_choice(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    if (i->op == K_SELECT)
        set_low(e, r, emit_select(e, emit_arg(e, i->a), "i32", emit_low_arg(e, i->b), emit_low_arg(e, i->c)));
    else
        set_low(
            e, r,
            emit_intrinsic2(e, i->op == K_MIN ? "smin" : "smax", QS_I32, emit_low_arg(e, i->a), emit_low_arg(e, i->b)));
}

static void low_given(Emit *e, KRef r, Opnd v) { set_low(e, r, emit_def(e, "trunc i64 %s to i32", v.s)); }

static void low_cast(Emit *e, KRef r) {
    KRef a = e->f->ins[r].a;
    Opnd low = emit_arg(e, a);
    emit_set(e, r, emit_wide(e, a));
    e->slim[r] = emit_number(low);
}

/* Emits an instruction that computes a low half; false: r does not. */
static bool low_ins(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    if (!e->f->small || (i->dtype != QS_I64 && i->op != K_INB)) return false;
    switch ((KOp)i->op) {
    case K_POS: return low_given(e, r, e->pos[i->imm]), true;
    case K_DIM:
    case K_STRIDE:
        return low_given(e, r, e->extent(e, (int)(i->imm >> 8), (int)(i->imm & 255), i->op == K_STRIDE)), true;
    case K_ADD:
    case K_SUB:
    case K_MUL: return low_sum(e, r), true;
    case K_BOUND: return both_fit(e, i) ? low_bound(e, r), true : false;
    case K_INB: return both_fit(e, i) ? low_inb(e, r), true : false;
    case K_MIN:
    case K_MAX: return both_fit(e, i) ? low_choice(e, r), true : false;
    case K_SELECT: return e->bits[i->b] && e->bits[i->c] ? low_choice(e, r), true : false;
    case K_CAST: return e->f->ins[i->a].dtype == QS_I32 ? low_cast(e, r), true : false;
    default: return false;
    }
}

/* -- instructions -------------------------------------------------------------------------------------------------- */
/* LLVM would replace x/(|y|*sqrt(z)) by x/sqrt(y*y*z), which is beyond float32 earlier, if the product might be
 * regrouped. */
static Opnd emit_binary(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    qs_dtype d = (qs_dtype)e->f->ins[i->a].dtype;
    unsigned flag = i->flag | (emit_rounds_once(e->f, r) ? EMIT_ROUNDS_ONCE : 0);
    Opnd a = emit_arg(e, i->a), b = emit_arg(e, i->b);
    bool divisor = i->op == K_MUL && d == QS_F32 && e->f->fast && (is_root(e->f, i->a) || is_root(e->f, i->b));
    if (divisor) return emit_def(e, "fmul nsz arcp contract afn float %s, %s", a.s, b.s);
    return emit_arith(e, (KOp)i->op, d, flag, a, b);
}

void emit_ins(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    qs_dtype d = (qs_dtype)i->dtype;
    e->at = i->pos;
    if (e->t->threads ? low_ins(e, r) : slim_ins(e, r)) return;
    switch ((KOp)i->op) {
    case K_CONST: break;
    case K_PARAM: emit_set(e, r, e->param(e, (int)i->imm)); break;
    case K_DIM:
    case K_STRIDE: emit_set(e, r, e->extent(e, (int)(i->imm >> 8), (int)(i->imm & 255), i->op == K_STRIDE)); break;
    case K_POS: emit_set_index(e, r, e->pos[i->imm]); break;
    case K_BLKPOS: emit_set_index(e, r, e->blkpos[i->imm]); break;
    case K_BLKDIM: emit_set_index(e, r, e->blkdim[i->imm]); break;
    case K_BLKIDX: emit_set_index(e, r, e->blkidx[i->imm]); break;
    case K_BLKCNT: emit_set_index(e, r, e->blkcnt[i->imm]); break;
    case K_LOCAL: emit_store(e, d, "", e->container(e, r), emit_arg(e, i->a)); break;
    case K_GET: emit_set(e, r, emit_load(e, d, "", e->container(e, i->a))); break;
    case K_SET: emit_store(e, (qs_dtype)e->f->ins[i->a].dtype, "", e->container(e, i->a), emit_arg(e, i->b)); break;
    case K_LARRAY: emit_zero_fill(e, r); break;
    case K_SHARED: break;
    case K_ALOAD:
    case K_ASTORE:
    case K_AATOMIC:
    case K_AFETCH: emit_inner_access(e, r); break;
    case K_FETCH: emit_fetch(e, r); break;
    case K_EXPECT: emit_set(e, r, emit_arg(e, i->a)); break;
    case K_LOAD: emit_load_element(e, r); break;
    case K_STORE: emit_guarded(e, i, emit_store_element); break;
    case K_ATOMIC: emit_guarded(e, i, emit_atomic_ins); break;
    case K_BOUND: emit_bound(e, r); break;
    case K_INB: inb(e, r); break;
    case K_NEG:
    case K_ABS:
    case K_NOT: emit_set(e, r, emit_unary(e, (KOp)i->op, d, emit_arg(e, i->a))); break;
    case K_ANALYTIC: emit_set(e, r, emit_arg(e, i->a)); break;
    case K_ANY: emit_set(e, r, e->any ? e->any(e, i->a) : emit_arg(e, i->a)); break;
    case K_SELECT: emit_set(e, r, emit_choice(e, d, emit_arg(e, i->a), emit_arg(e, i->b), emit_arg(e, i->c))); break;
    case K_CAST: emit_cast(e, r); break;
    case K_MATH:
        emit_set(e, r,
                 emit_math_call(e, (MathFn)i->flag, d, emit_arg(e, i->a), i->b ? emit_arg(e, i->b) : emit_lit(0)));
        break;
    case K_IF: emit_begin_if(e, r); break;
    case K_ELSE: emit_begin_else(e, r); break;
    case K_LOOP: emit_begin_loop(e, r); break;
    case K_FOR: emit_begin_for(e, r); break;
    case K_END: emit_end_region(e, r); break;
    case K_BREAK: emit_jump(e, e->loop[e->depth - 1 - (int)i->imm].out); break;
    case K_CONTINUE: emit_jump(e, e->loop[e->depth - 1 - (int)i->imm].next); break;
    case K_RET: e->leave(e); break;
    case K_BARRIER: e->barrier(e); break;
    case K_CHECK: emit_check(e, i); break;
    case K_INPUT: emit_set(e, r, emit_opnd("%%i%llu", (unsigned long long)i->imm)); break;
    case K_OUTPUT: e->outputs[i->imm] = emit_arg(e, i->a); break;
    case K_ARG: e->args[i->imm] = emit_arg(e, i->a); break;
    case K_CALL: emit_call(e, r); break;
    case K_RESULT: emit_result(e, r); break;
    default: emit_set(e, r, emit_binary(e, r)); break;
    }
}

void emit_range(Emit *e, KRef first, KRef last) {
    for (KRef r = first; r < last; r++) emit_ins(e, r);
}

/* -- the module ---------------------------------------------------------------------------------------------------- */

/* Returns the cost of compiling an inlined function; 0: it is not inlined. */
static unsigned inlined_size(const KIns *i) {
    bool wide = i->dtype == QS_F64;
    if (i->op != K_MATH || kir_math[i->flag].how[wide] < MATH_host) return 0;
    if (!wide) return 1;
    switch (i->flag) {
    case MF_pow: return 16;
    case MF_erf:
    case MF_erfc:
    case MF_asinh:
    case MF_acosh:
    case MF_atanh: return 6;
    default: return 3;
    }
}

/* Returns whether f computes so many mathematical functions that inlining all of them would make compilation slow. */
static bool has_many_calls(const KFunc *f) {
    enum { INLINED = 160 };
    unsigned n = 0;
    for (KRef r = 0; r < f->nins; r++) n += inlined_size(&f->ins[r]);
    return n > INLINED;
}

void emit_tables(Emit *e, Arena *a) {
    uint32_t **const tables[] = {&e->val, &e->wide, &e->epoch, &e->slim, &e->label};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        *tables[i] = qarena_alloc(a, qmem_size(e->f->nins, sizeof(uint32_t), 0));
}

qs_status kemit_llvm(Ctx *c, const KFunc *f, const KTarget *t, Text *out) {
    Arena a;
    PipelineResult lowered;
    qarena_init(&a, c);
    Emit *e = qarena_alloc(&a, sizeof *e);
    e->c = c, e->source = f, e->t = t;
    kpipeline_run(c, &a, f, t->threads ? PIPELINE_GPU : PIPELINE_CPU, &lowered, NULL);
    f = lowered.func;
    e->f = f, e->split = lowered.split, e->jam = lowered.jam, e->bits = lowered.bits, e->group = e->updates = "",
    e->metadata = 15;
    e->many_calls = has_many_calls(f);
    e->array_space = e->shared_space = "";
    emit_tables(e, &a);
    Text *const texts[] = {&e->entry, &e->body, &e->decls, &e->tail};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) qtext_init(texts[i], c);
    e->out = &e->body;
    qs_status s = t->threads ? emit_ptx(e, out) : emit_cpu(e, out);
    emit_add_helpers(e, out);
    if (e->decls.len) qtext_puts(out, e->decls.s);
    if (e->tail.len) qtext_puts(out, e->tail.s);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) qtext_free(texts[i]);
    qarena_free(&a);
    return s;
}
