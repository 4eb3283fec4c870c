/* emit_llvm.c -- emits KIR instructions as LLVM IR text.
 *
 * Each instruction becomes a few lines with numbered temporaries (%t7) and labels (L7).  LOCALs become allocas, which
 * LLVM turns back into values.  This file handles a single position; the frame (emit_cpu.c, emit_ptx.c) adds loops over
 * positions, threads and parameters.  KIR defines some cases that LLVM leaves undefined (shifts by the width, division
 * by zero, NaN to integer).  The text handles these explicitly; LLVM removes tests that it can prove unnecessary. */
#include "lang/kernel/codegen/emit_llvm.h"
#include "lang/kernel/passes/pipeline.h"
#include "lang/kernel/passes/plan.h"
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

static bool is_float(qs_dtype d) { return d == QS_F32 || d == QS_F64; }
static bool is_signed(qs_dtype d) { return d == QS_I32 || d == QS_I64; }
static int bits_of(qs_dtype d) { return d == QS_B1 ? 1 : d == QS_I64 || d == QS_U64 || d == QS_F64 ? 64 : 32; }
static const char *suffix(qs_dtype d) {
    return d == QS_F32 ? "f32" : d == QS_F64 ? "f64" : bits_of(d) == 64 ? "i64" : "i32";
}

/* -- values -------------------------------------------------------------------------------------------------------- */
static Opnd make_literal(qs_dtype d, uint64_t bits) {
    KSlot s = {bits};
    if (d == QS_F32) s.F64 = (double)s.F32;
    if (is_float(d)) return emit_opnd("0x%016llX", (unsigned long long)s.bits);
    if (d == QS_B1) return emit_opnd(bits ? "true" : "false");
    if (d == QS_U32 || d == QS_U64) return emit_opnd("%llu", (unsigned long long)bits);
    return emit_opnd("%lld", (long long)s.I64);
}

bool emit_known(const Emit *e, KRef r) {
    return e->f->ins[r].op == K_CONST || (e->val[r] && (e->epoch[r] == e->now || e->epoch[r] == 0));
}

Opnd emit_arg(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    if (i->op == K_CONST) return make_literal((qs_dtype)i->dtype, i->imm);
    assert(emit_known(e, r));
    return emit_tmp(e->val[r]);
}

/* Returns a temporary with the value v, which may be a literal. */
static Opnd named(Emit *e, qs_dtype d, Opnd v) {
    const char *op = "add", *nothing = "0";
    if (d == QS_B1) op = "or", nothing = "false";
    if (is_float(d)) op = "fadd", nothing = "-0.0";
    return emit_def(e, "%s %s %s, %s", op, emit_type(d), v.s, nothing);
}

void emit_set(Emit *e, KRef r, Opnd v) {
    if (!emit_number(v)) v = named(e, (qs_dtype)e->f->ins[r].dtype, v);
    e->val[r] = emit_number(v), e->wide[r] = e->slim[r] = 0, e->epoch[r] = e->now;
}

/* Sets the value of an index, given as int64.  If the instruction has a narrower dtype, both forms are recorded. */
static void set_index(Emit *e, KRef r, Opnd v) {
    if (e->f->ins[r].dtype == QS_I64) {
        emit_set(e, r, v);
        return;
    }
    if (!emit_number(v)) v = named(e, QS_I64, v);
    emit_set(e, r, emit_def(e, "trunc i64 %s to i32", v.s));
    e->wide[r] = emit_number(v);
}

/* Returns r, an int or int64, as int64. */
static Opnd wide_arg(Emit *e, KRef r) {
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
 * instruction for it.  Fast math sets all flags except those that assume absence of NaN and infinities, so that tests
 * for them keep working. */
static const char *liberties(const Emit *e, unsigned flag) {
    if (e->f->fast) return " reassoc nsz arcp contract afn";
    if (flag == KFLAG_REASSOC) return kir_contracts(e->f) ? " reassoc contract" : " reassoc";
    return kir_contracts(e->f) ? " contract" : "";
}

static Opnd call2(Emit *e, const char *fn, qs_dtype d, Opnd a, Opnd b) {
    const char *t = emit_type(d);
    emit_declare(e, "declare %s @llvm.%s.%s(%s, %s)", t, fn, suffix(d), t, t);
    return emit_def(e, "call %s @llvm.%s.%s(%s %s, %s %s)", t, fn, suffix(d), t, a.s, t, b.s);
}

static Opnd call1(Emit *e, const char *fn, qs_dtype d, Opnd a) {
    const char *t = emit_type(d);
    emit_declare(e, "declare %s @llvm.%s.%s(%s)", t, fn, suffix(d), t);
    return emit_def(e, "call%s %s @llvm.%s.%s(%s %s)", e->f->fast ? liberties(e, 0) : "", t, fn, suffix(d), t, a.s);
}

static Opnd select(Emit *e, Opnd cond, const char *t, Opnd yes, Opnd no) {
    return emit_def(e, "select i1 %s, %s %s, %s %s", cond.s, t, yes.s, t, no.s);
}

/* Emits cond ? yes : no.  On the cpu, a selection of bools is emitted with `and` and `or`.  LLVM cannot simplify
 * `select c, true, x` to `c or x`, because a select hides an undefined x. */
static Opnd emit_choice(Emit *e, qs_dtype d, Opnd cond, Opnd yes, Opnd no) {
    if (d != QS_B1 || e->t->threads) return select(e, cond, emit_type(d), yes, no);
    Opnd other = emit_def(e, "xor i1 %s, true", cond.s);
    Opnd a = emit_def(e, "and i1 %s, %s", cond.s, yes.s), b = emit_def(e, "and i1 %s, %s", other.s, no.s);
    return emit_def(e, "or i1 %s, %s", a.s, b.s);
}

static Opnd lit(long long v) { return emit_opnd("%lld", v); }

static Opnd bin(Emit *e, const char *op, const char *t, Opnd a, Opnd b) {
    return emit_def(e, "%s %s %s, %s", op, t, a.s, b.s);
}

/* Emits the remainder with the sign of b, which is neither 0 nor -1. */
static Opnd floor_mod(Emit *e, const char *t, Opnd a, Opnd b) {
    Opnd r = bin(e, "srem", t, a, b), differ = bin(e, "icmp slt", t, bin(e, "xor", t, r, b), lit(0));
    Opnd inexact = bin(e, "icmp ne", t, r, lit(0));
    return select(e, bin(e, "and", "i1", inexact, differ), t, bin(e, "add", t, r, b), r);
}

static Opnd float_mod(Emit *e, qs_dtype d, Opnd a, Opnd b) {
    const char *t = emit_type(d), *name = emit_mod(e, d);
    return emit_def(e, "call %s @%s(%s %s, %s %s) #%u", t, name, t, a.s, t, b.s, emit_mod_attributes(d));
}

static Opnd emit_shift(Emit *e, KOp op, qs_dtype d, Opnd a, Opnd n) {
    const char *t = emit_type(d);
    if (op == K_SHR && is_signed(d)) {
        emit_declare(e, "declare %s @llvm.umin.%s(%s, %s)", t, suffix(d), t, t);
        return bin(e, "ashr", t, a, call2(e, "umin", d, n, lit(bits_of(d) - 1)));
    }
    Opnd fits = bin(e, "icmp ult", t, n, lit(bits_of(d)));
    return select(e, fits, t, bin(e, op == K_SHL ? "shl" : "lshr", t, a, n), lit(0));
}

static Opnd emit_comparison(Emit *e, KOp op, qs_dtype d, Opnd a, Opnd b) {
    static const char *const names[][3] = {
        {"slt", "ult", "olt"}, {"sle", "ule", "ole"}, {"eq", "eq", "oeq"}, {"ne", "ne", "une"}};
    const char *name = names[op - K_LT][is_float(d) ? 2 : is_signed(d) ? 0 : 1];
    return emit_def(e, "%ccmp %s %s %s, %s", is_float(d) ? 'f' : 'i', name, emit_type(d), a.s, b.s);
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

/* Minimum and maximum are exact: a number wins against NaN, and -0 is less than +0.  There are three versions, because
 * LLVM's minnum and maxnum do not specify which zero they return.
 *
 * This version compares with ordinary comparisons.  The values that depend only on b can be computed outside a loop
 * that accumulates in a.  If b is a zero that must not replace the other zero, the next number beyond it is
 * compared. */
static Opnd extreme_in_order(Emit *e, KOp op, qs_dtype d, Opnd a, Opnd b) {
    static const char *const beyond[2][2] = {{"0x36A0000000000000", "0xB6A0000000000000"},
                                             {"0x1", "0x8000000000000001"}};
    const char *t = emit_type(d);
    bool wide = d == QS_F64, most = op == K_MAX;
    Opnd bits = emit_def(e, "bitcast %s %s to %s", t, b.s, wide ? "i64" : "i32");
    Opnd zero = emit_def(e, "icmp eq %s %s, %lld", wide ? "i64" : "i32", bits.s,
                         most ? wide ? (long long)INT64_MIN : (long long)INT32_MIN : 0);
    Opnd key = select(e, zero, t, emit_opnd("%s", beyond[wide][most]), b);
    Opnd past = bin(e, most ? "fcmp uge" : "fcmp ule", t, key, a), number = bin(e, "fcmp ord", t, b, b);
    return select(e, bin(e, "and", "i1", past, number), t, b, a);
}

/* This version combines the bits of equal numbers, which differ only for zeros: -0 has a sign bit, +0 has not. */
static Opnd extreme_of_bits(Emit *e, KOp op, qs_dtype d, Opnd a, Opnd b) {
    const char *t = emit_type(d), *whole = d == QS_F64 ? "i64" : "i32";
    Opnd m = call2(e, op == K_MAX ? "maxnum" : "minnum", d, a, b), equal = bin(e, "fcmp oeq", t, a, b);
    Opnd x = emit_def(e, "bitcast %s %s to %s", t, a.s, whole), y = emit_def(e, "bitcast %s %s to %s", t, b.s, whole);
    Opnd bits = bin(e, op == K_MAX ? "and" : "or", whole, x, y);
    return select(e, equal, t, emit_def(e, "bitcast %s %s to %s", whole, bits.s, t), m);
}

static bool is_literal(Opnd o) { return *o.s != '%'; }

/* Emits a minimum or maximum.  A min or max with a constant zero was replaced by a comparison before
 * (passes/legal.h). */
static Opnd emit_extreme(Emit *e, KOp op, qs_dtype d, unsigned flag, Opnd a, Opnd b) {
    bool ordered = flag == KFLAG_ZEROS || e->t->orders_zeros;
    if (kir_is_exact(e->f)) return extreme_in_order(e, op, d, a, b);
    if (flag == KFLAG_REASSOC) /* not NaN, and either zero, which fuse.c sets right; LLVM vectorizes a loop of these */
        return emit_def(e, "call nnan nsz %s @llvm.%s.f%d(%s %s, %s %s)", emit_type(d),
                        op == K_MAX ? "maxnum" : "minnum", d == QS_F64 ? 64 : 32, emit_type(d), a.s, emit_type(d), b.s);
    if (!ordered || e->f->fast || is_literal(a) || is_literal(b))
        return call2(e, op == K_MAX ? "maxnum" : "minnum", d, a, b);
    return extreme_of_bits(e, op, d, a, b);
}

/* Emits a binary operation with operands of dtype d. */
static Opnd emit_arith(Emit *e, KOp op, qs_dtype d, unsigned flag, Opnd a, Opnd b) {
    const char *t = emit_type(d);
    bool real = is_float(d), sign = is_signed(d);
    if (real && (op == K_ADD || op == K_SUB || op == K_MUL || op == K_DIV)) return float_arith(e, op, d, flag, a, b);
    switch (op) {
    case K_ADD: return bin(e, "add", t, a, b);
    case K_SUB: return bin(e, "sub", t, a, b);
    case K_MUL: return bin(e, "mul", t, a, b);
    case K_DIV: return bin(e, sign ? "sdiv" : "udiv", t, a, b);
    case K_MOD: return real ? float_mod(e, d, a, b) : sign ? floor_mod(e, t, a, b) : bin(e, "urem", t, a, b);
    case K_MIN: return real ? emit_extreme(e, op, d, flag, a, b) : call2(e, sign ? "smin" : "umin", d, a, b);
    case K_MAX: return real ? emit_extreme(e, op, d, flag, a, b) : call2(e, sign ? "smax" : "umax", d, a, b);
    case K_AND: return bin(e, "and", t, a, b);
    case K_OR: return bin(e, "or", t, a, b);
    case K_XOR: return bin(e, "xor", t, a, b);
    case K_SHL:
    case K_SHR: return emit_shift(e, op, d, a, b);
    default: return emit_comparison(e, op, d, a, b);
    }
}

static Opnd emit_unary(Emit *e, KOp op, qs_dtype d, Opnd a) {
    const char *t = emit_type(d);
    if (op == K_NOT) return bin(e, "xor", t, a, d == QS_B1 ? emit_opnd("true") : lit(-1));
    if (op == K_NEG) return is_float(d) ? emit_def(e, "fneg %s %s", t, a.s) : bin(e, "sub", t, lit(0), a);
    if (is_float(d)) return call1(e, "fabs", d, a);
    if (!is_signed(d)) return a;
    emit_declare(e, "declare %s @llvm.abs.%s(%s, i1)", t, suffix(d), t);
    return emit_def(e, "call %s @llvm.abs.%s(%s %s, i1 false)", t, suffix(d), t, a.s);
}

/* -- conversions --------------------------------------------------------------------------------------------------- */
static Opnd clamp(Emit *e, qs_dtype d, Opnd a, long long lo, long long hi) {
    return call2(e, "smin", d, call2(e, "smax", d, a, lit(lo)), lit(hi));
}

static Opnd int_to_int(Emit *e, qs_dtype from, qs_dtype to, Opnd a) {
    bool wider = bits_of(to) > bits_of(from), narrower = bits_of(to) < bits_of(from);
    long long top = to == QS_I32 ? INT32_MAX : to == QS_U32 ? UINT32_MAX : INT64_MAX;
    if (is_signed(from)) {
        if (wider && is_signed(to)) return emit_def(e, "sext i32 %s to i64", a.s);
        if (!is_signed(to)) a = call2(e, "smax", from, a, lit(0));
        if (wider) return emit_def(e, "zext i32 %s to i64", a.s);
        if (!narrower) return a;
        if (is_signed(to)) a = call2(e, "smax", from, a, lit(INT32_MIN));
        return emit_def(e, "trunc i64 %s to i32", call2(e, "smin", from, a, lit(top)).s);
    }
    if (wider) return emit_def(e, "zext i32 %s to i64", a.s);
    if (is_signed(to) || narrower) a = call2(e, "umin", from, a, lit(top));
    return narrower ? emit_def(e, "trunc i64 %s to i32", a.s) : a;
}

/* Converts a float by comparisons.  LLVM vectorizes these; on x86-64 it makes branches for each number of
 * a vector from llvm.fptosi.sat. */
static Opnd limit_float(Emit *e, const char *t, qs_dtype to, Opnd a) {
    static const char *const least[2] = {"0xC1E0000000000000", "0xC3E0000000000000"};
    static const char *const beyond[2][2] = {{"0x41F0000000000000", "0x43F0000000000000"},
                                             {"0x41E0000000000000", "0x43E0000000000000"}};
    bool sign = is_signed(to), wide = bits_of(to) == 64;
    const char *whole = emit_type(to), *fcmp = sign ? "fcmp ole" : "fcmp ule";
    Opnd low = lit(!sign ? 0 : wide ? INT64_MIN : INT32_MIN), zero = lit(0);
    Opnd high = !sign ? lit(-1) : lit(wide ? INT64_MAX : INT32_MAX);
    Opnd v = emit_def(e, "%s %s %s to %s", sign ? "fptosi" : "fptoui", t, a.s, whole);
    v = select(e, bin(e, "fcmp oge", t, a, emit_opnd("%s", beyond[sign][wide])), whole, high, v);
    v = select(e, bin(e, fcmp, t, a, emit_opnd("%s", sign ? least[wide] : "0.0")), whole, low, v);
    return sign ? select(e, bin(e, "fcmp uno", t, a, a), whole, zero, v) : v;
}

static Opnd float_to_int(Emit *e, qs_dtype from, qs_dtype to, Opnd a) {
    const char *t = emit_type(from), *whole = emit_type(to), *name = is_signed(to) ? "fptosi" : "fptoui";
    if (!e->t->threads) return limit_float(e, t, to, a);
    emit_declare(e, "declare %s @llvm.%s.sat.%s.%s(%s)", whole, name, whole, suffix(from), t);
    return emit_def(e, "call %s @llvm.%s.sat.%s.%s(%s %s)", whole, name, whole, suffix(from), t, a.s);
}

static Opnd convert_value(Emit *e, qs_dtype from, qs_dtype to, Opnd a) {
    const char *f = emit_type(from), *t = emit_type(to);
    if (from == to) return a;
    if (to == QS_B1)
        return is_float(from) ? emit_def(e, "fcmp une %s %s, 0.0", f, a.s) : bin(e, "icmp ne", f, a, lit(0));
    if (is_float(from)) {
        if (is_float(to)) return emit_def(e, "%s %s %s to %s", to == QS_F64 ? "fpext" : "fptrunc", f, a.s, t);
        return float_to_int(e, from, to, a);
    }
    if (is_float(to)) return emit_def(e, "%s %s %s to %s", is_signed(from) ? "sitofp" : "uitofp", f, a.s, t);
    if (from == QS_B1) return emit_def(e, "zext i1 %s to %s", a.s, t);
    return int_to_int(e, from, to, a);
}

Opnd emit_double(Emit *e, KRef r) {
    if (!r) return emit_opnd("0.0");
    return convert_value(e, (qs_dtype)e->f->ins[r].dtype, QS_F64, emit_arg(e, r));
}

static void emit_cast(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    qs_dtype from = (qs_dtype)e->f->ins[i->a].dtype;
    if (from == QS_I32 && i->dtype == QS_I64) emit_set(e, r, wide_arg(e, i->a));
    else emit_set(e, r, convert_value(e, from, (qs_dtype)i->dtype, emit_arg(e, i->a)));
}

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
static void need_helper(Emit *e, const char *name) { emit_declare(e, "; %s", name); }

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
        need_helper(e, "half_to_float");
        return emit_def(e, "call float @half_to_float(i16 %s)", raw.s);
    case QS_BF16: {
        Opnd wide = emit_def(e, "zext i16 %s to i32", raw.s);
        return emit_def(e, "bitcast i32 %s to float", bin(e, "shl", "i32", wide, lit(16)).s);
    }
    default: return raw;
    }
}

static Opnd encode(Emit *e, qs_dtype d, Opnd v) {
    switch (d) {
    case QS_B1: return emit_def(e, "zext i1 %s to i8", v.s);
    case QS_I8: return emit_def(e, "trunc i32 %s to i8", clamp(e, QS_I32, v, INT8_MIN, INT8_MAX).s);
    case QS_U8: return emit_def(e, "trunc i32 %s to i8", clamp(e, QS_I32, v, 0, UINT8_MAX).s);
    case QS_I16: return emit_def(e, "trunc i32 %s to i16", clamp(e, QS_I32, v, INT16_MIN, INT16_MAX).s);
    case QS_U16: return emit_def(e, "trunc i32 %s to i16", clamp(e, QS_I32, v, 0, UINT16_MAX).s);
    case QS_F16:
        if (e->t->half) return emit_def(e, "fptrunc float %s to half", v.s);
        need_helper(e, "float_to_half");
        return emit_def(e, "call i16 @float_to_half(float %s)", v.s);
    case QS_BF16: need_helper(e, "float_to_bf16"); return emit_def(e, "call i16 @float_to_bf16(float %s)", v.s);
    default: return v;
    }
}

Opnd emit_elem(Emit *e, qs_dtype elem, const char *space, Opnd base, Opnd index) {
    return emit_def(e, "getelementptr inbounds %s, ptr%s %s, i64 %s", emit_mem_type(e, elem), space, base.s, index.s);
}

Opnd emit_load(Emit *e, qs_dtype elem, const char *space, Place at) {
    Opnd raw = emit_def(e, "load %s, ptr%s %s, align %zu%s", emit_mem_type(e, elem), space, at.ptr.s,
                        emit_mem_size(elem), at.tail);
    return decode_element(e, elem, raw);
}

static void store_raw(Emit *e, qs_dtype elem, const char *space, Place at, Opnd raw) {
    emit_put(e, "store %s %s, ptr%s %s, align %zu%s", emit_mem_type(e, elem), raw.s, space, at.ptr.s,
             emit_mem_size(elem), at.tail);
}

void emit_store(Emit *e, qs_dtype elem, const char *space, Place at, Opnd v) {
    store_raw(e, elem, space, at, encode(e, elem, v));
}

/* Encodes a number as a small integer.  The nearest one that the element can hold comes first, so that its conversion
 * needs no tests; NaN is 0. */
static Opnd encode_number(Emit *e, qs_dtype elem, qs_dtype from, Opnd x) {
    bool sign = elem == QS_I8 || elem == QS_I16;
    int bits = 8 * (int)emit_mem_size(elem), low = sign ? -(1 << (bits - 1)) : 0;
    const char *t = emit_type(from), *small = emit_mem_type(e, elem);
    Opnd least = emit_opnd("%d.0", low), most = emit_opnd("%d.0", low + (1 << bits) - 1);
    if (sign) x = select(e, bin(e, "fcmp ord", t, x, x), t, x, emit_opnd("0.0"));
    x = select(e, bin(e, "fcmp ogt", t, x, least), t, x, least);
    x = select(e, bin(e, "fcmp olt", t, x, most), t, x, most);
    return emit_def(e, "trunc i32 %s to %s", emit_def(e, "fptosi %s %s to i32", t, x.s).s, small);
}

/* Metadata of accesses in loops without dependences (access group !0): loads do not alias the scope of the stores. */
static const char apart_load[] = ", !llvm.access.group !0, !noalias !9";
static const char apart_store[] = ", !llvm.access.group !0, !alias.scope !9";

static Opnd low_arg(Emit *e, KRef r);

/* Returns the index of an element.  In a small kernel on a GPU it is extended from its low half, which is enough. */
static Opnd element_number(Emit *e, KRef r) {
    return e->f->small && e->t->threads ? emit_def(e, "sext i32 %s to i64", low_arg(e, r).s) : emit_arg(e, r);
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
    if (e->pads && *e->pads[i->imm].s) at = bin(e, "sub", "i64", at, e->pads[i->imm]);
    /* All positions of a strip make one update before the next one.  LLVM must therefore not derive whether two
     * updates of the array by one position have the same element or different ones. */
    if (i->op == K_ATOMIC && *e->updates) base = e->disguise(e, base);
    Opnd ptr = emit_elem(e, (qs_dtype)e->f->params[i->imm].dtype, e->array_space, base, at);
    const char *tail = has_scope(e, i) ? e->scopes[i->imm][*e->group != 0] : e->group;
    return (Place){ptr, !e->apart ? tail : i->op == K_LOAD ? apart_load : apart_store, 0};
}

static void load_element(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    qs_dtype elem = (qs_dtype)e->f->params[i->imm].dtype, d = (qs_dtype)i->dtype;
    if (!i->b) {
        emit_set(e, r, emit_load(e, elem, e->array_space, array_elem(e, i)));
        return;
    }
    uint32_t from = emit_new(e), yes = emit_new(e), loaded = emit_new(e), done = emit_new(e);
    Opnd guard = emit_arg(e, i->b);
    emit_label(e, from);
    emit_branch(e, guard, yes, done);
    emit_label(e, yes);
    Opnd v = emit_load(e, elem, e->array_space, array_elem(e, i));
    emit_label(e, loaded);
    emit_label(e, done);
    Opnd none = make_literal(d, 0);
    emit_set(e, r, emit_def(e, "phi %s [ %s, %%L%u ], [ %s, %%L%u ]", emit_type(d), none.s, from, v.s, loaded));
}

/* Emits `effect` under the condition of operand c, if there is one. */
static void emit_guarded(Emit *e, const KIns *i, void (*effect)(Emit *, const KIns *)) {
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

static void store_element(Emit *e, const KIns *i) {
    qs_dtype elem = (qs_dtype)e->f->params[i->imm].dtype;
    const KIns *cast = &e->f->ins[i->b];
    qs_dtype from = (qs_dtype)e->f->ins[cast->a].dtype;
    Place at = array_elem(e, i);
    if (cast->op == K_CAST && cast->dtype == QS_I32 && is_float(from) && emit_mem_size(elem) < sizeof(int32_t))
        store_raw(e, elem, e->array_space, at, encode_number(e, elem, from, emit_arg(e, cast->a)));
    else emit_store(e, elem, e->array_space, at, emit_arg(e, i->b));
}

/* -- atomics ------------------------------------------------------------------------------------------------------- */
static Opnd math_call(Emit *e, MathFn fn, qs_dtype d, Opnd a, Opnd b);

Opnd emit_combine(Emit *e, KAtomic op, qs_dtype d, Opnd a, Opnd b) {
    static const KOp ops[KA__COUNT] = {K_ADD, K_SUB, K_MUL, K_DIV, K_MIN, K_MAX, K_AND, K_OR, K_XOR, K_MATH};
    bool extremes = (op == KA_MIN || op == KA_MAX) && is_float(d) && !e->t->orders_zeros;
    if (extremes) return extreme_in_order(e, ops[op], d, a, b); /* same zero in any order of updates */
    return op == KA_POW ? math_call(e, MF_pow, d, a, b) : emit_arith(e, ops[op], d, 0, a, b);
}

static void plain_update(Emit *e, KAtomic op, qs_dtype elem, const char *space, Opnd ptr, Opnd v) {
    Opnd old = emit_load(e, elem, space, (Place){ptr, e->updates, 0});
    emit_store(e, elem, space, (Place){ptr, e->updates, 0}, emit_combine(e, op, kir_value_dtype(elem), old, v));
}

/* Returns the operation of atomicrmw for an update; NULL: there is none. */
static const char *direct(KAtomic op, qs_dtype elem) {
    bool real = elem == QS_F32 || elem == QS_F64, sign = is_signed(elem);
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
        Place at = {ptr, "", 0};
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

static void fetch(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    KAtomic op = (KAtomic)i->flag;
    qs_dtype d = (qs_dtype)i->dtype;
    if (!i->c) {
        emit_set(e, r, fetch_at(e, op, d, e->array_space, array_elem(e, i).ptr, i->b, e->f->serial));
        return;
    }
    uint32_t from = emit_new(e), yes = emit_new(e), fetched = emit_new(e), done = emit_new(e);
    Opnd guard = emit_arg(e, i->c);
    emit_label(e, from);
    emit_branch(e, guard, yes, done);
    emit_label(e, yes);
    Opnd old = fetch_at(e, op, d, e->array_space, array_elem(e, i).ptr, i->b, e->f->serial);
    emit_label(e, fetched);
    emit_label(e, done);
    Opnd none = make_literal(d, 0);
    emit_set(e, r, emit_def(e, "phi %s [ %s, %%L%u ], [ %s, %%L%u ]", emit_type(d), none.s, from, old.s, fetched));
}

static void atomic(Emit *e, const KIns *i) {
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
static void inner_access(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r], *a = &e->f->ins[i->a];
    qs_dtype elem = (qs_dtype)a->dtype;
    const char *space = a->op == K_SHARED ? e->shared_space : "";
    Place at = e->container(e, i->a);
    const KIns *n = &e->f->ins[i->b]; /* it is inside the array, so that a cast of 64 bits changes nothing */
    bool cast = n->op == K_CAST && n->dtype == QS_I32 && e->f->ins[n->a].dtype == QS_I64;
    Opnd index = wide_arg(e, cast ? n->a : i->b);
    if (at.lanes) index = emit_def(e, "mul nsw i64 %s, %d", index.s, at.lanes);
    at.ptr = emit_elem(e, elem, space, at.ptr, index);
    if (e->parallel) at.tail = e->group; /* an element for each lane (interchange.h) */
    if (i->op == K_ALOAD) emit_set(e, r, emit_load(e, elem, space, at));
    else if (i->op == K_ASTORE) emit_store(e, elem, space, at, emit_arg(e, i->c));
    else if (i->op == K_AFETCH) /* on the cpu one thread runs the whole block */
        emit_set(e, r, fetch_at(e, (KAtomic)i->flag, elem, space, at.ptr, i->c, !*e->shared_space));
    else if (*e->shared_space) emit_atomic(e, (KAtomic)i->flag, elem, space, at.ptr, emit_arg(e, i->c));
    else plain_update(e, (KAtomic)i->flag, elem, space, at.ptr, emit_arg(e, i->c));
}

static void zero_fill(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Place at = e->container(e, r);
    size_t size = emit_mem_size((qs_dtype)i->dtype);
    emit_declare(e, "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)");
    emit_put(e, "call void @llvm.memset.p0.i64(ptr align %zu %s, i8 0, i64 %llu, i1 false)", size, at.ptr.s,
             (unsigned long long)i->imm * size * (at.lanes ? (unsigned)at.lanes : 1));
}

/* -- indices ------------------------------------------------------------------------------------------------------- */

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

/* Computes the same index for -n <= a < 2n, without a division. */
static Opnd near_image(Emit *e, AccessMode mode, Opnd a, Opnd n) {
    if (mode == ACC_CIRCULAR) {
        Opnd low = bin(e, "icmp slt", "i64", a, lit(0)), high = bin(e, "icmp sge", "i64", a, n);
        Opnd up = select(e, low, "i64", bin(e, "add", "i64", a, n), a);
        return select(e, high, "i64", bin(e, "sub", "i64", a, n), up);
    }
    Opnd sign = bin(e, "ashr", "i64", a, lit(63)), x = bin(e, "xor", "i64", a, sign); /* -1-a for a < 0 */
    if (mode == ACC_REFLECT) x = bin(e, "sub", "i64", x, sign);                       /* -a */
    Opnd last = bin(e, "sub", "i64", bin(e, "shl", "i64", n, lit(1)), lit(mode == ACC_REFLECT ? 2 : 1));
    return select(e, bin(e, "icmp slt", "i64", x, n), "i64", x, bin(e, "sub", "i64", last, x));
}

/* Returns the index that index a refers to in an access mode.  d: int64, or int32 if that suffices. */
static Opnd image(Emit *e, AccessMode mode, qs_dtype d, Opnd a, Opnd extent) {
    bool low = d == QS_I32;
    const char *type = low ? "i32" : "i64";
    char name[16];
    Opnd n = call2(e, "smax", d, extent, lit(1));
    if (mode == ACC_CLAMPED) {
        Opnd top = bin(e, low ? "sub nsw" : "sub", type, n, lit(1));
        return call2(e, "smax", d, call2(e, "smin", d, a, top), lit(0));
    }
    if (e->near && !low) return near_image(e, mode, a, n);
    snprintf(name, sizeof name, "%s%s", qaccess_name(mode), low ? "32" : "");
    need_helper(e, name);
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
    Opnd low = bin(e, "icmp sge", "i64", a, lit(0)), high = bin(e, "icmp slt", "i64", a, n);
    emit_set(e, r, bin(e, "and", "i1", low, high));
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
    return factor == 1 ? a : float_arith(e, K_MUL, QS_F32, 0, a, make_literal(QS_F32, s.bits & UINT32_MAX));
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
    return d == QS_F64 && kir_math[fn].how[1] >= MATH_host && !e->t->threads && kir_is_exact(e->f);
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

static Opnd math_call(Emit *e, MathFn fn, qs_dtype d, Opnd a, Opnd b) {
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

/* -- control flow -------------------------------------------------------------------------------------------------- */
static void begin_if(Emit *e, KRef r) {
    uint32_t yes = emit_new(e), other = e->label[r] = emit_new(e);
    emit_branch(e, emit_arg(e, e->f->ins[r].a), yes, other);
    emit_label(e, yes);
}

static void begin_else(Emit *e, KRef r) {
    e->label[r] = emit_new(e);
    emit_jump(e, e->label[r]);
    emit_label(e, e->label[e->f->regions[r].opener]);
}

static EmitLoop *push_loop(Emit *e) {
    EmitLoop *l = &e->loop[e->depth++];
    l->loop = 0;
    l->head = emit_new(e), l->next = emit_new(e), l->out = emit_new(e), l->k = emit_new(e), l->k1 = emit_new(e);
    return l;
}

/* Whether the LOOP exists only to be left: its only iteration ends with a jump out of it. */
static bool runs_once(const Emit *e, KRef r) {
    KRef last = e->f->regions[r].end - 1;
    if (e->f->ins[last].op != K_BREAK && e->f->ins[last].op != K_RET) return false;
    for (KRef i = r + 1; i < last; i++)
        if (e->f->ins[i].op == K_CONTINUE && kir_jump_target(e->f, i) == r) return false;
    return true;
}

static void begin_loop(Emit *e, KRef r) {
    EmitLoop *l = push_loop(e);
    emit_label(e, l->head);
    if (e->poll && !runs_once(e, r)) e->poll(e);
}

/* Emits the number of iterations of a FOR, as an unsigned number. */
static Opnd count_iterations(Emit *e, const KIns *i, Opnd a, Opnd b, Opnd c) {
    double step = 0;
    bool known = kir_is_const(e->f, i->c, &step);
    if (known && step == 0) return lit(0);
    Opnd up_ok = bin(e, "icmp sle", "i64", a, b), down_ok = bin(e, "icmp sge", "i64", a, b);
    Opnd up = bin(e, "sub", "i64", b, a), down = bin(e, "sub", "i64", a, b), ok, span, by;
    if (known) {
        ok = step > 0 ? up_ok : down_ok, span = step > 0 ? up : down;
        by = step > 0 ? c : bin(e, "sub", "i64", lit(0), c);
    } else {
        Opnd rising = bin(e, "icmp sgt", "i64", c, lit(0)), still = bin(e, "icmp eq", "i64", c, lit(0));
        ok = select(e, still, "i1", emit_opnd("false"), select(e, rising, "i1", up_ok, down_ok));
        span = select(e, rising, "i64", up, down);
        by = select(e, rising, "i64", c, bin(e, "sub", "i64", lit(0), c));
        by = select(e, still, "i64", lit(1), by);
    }
    Opnd steps = known && (step == 1 || step == -1) ? span : bin(e, "udiv", "i64", span, by);
    return select(e, ok, "i64", bin(e, "add", "i64", steps, lit(1)), lit(0));
}

/* A loop must poll for interrupts, but a test in each iteration would prevent vectorization.  Therefore innermost loops
 * run in stretches of so many iterations, with a test before each stretch. */
enum { STRETCH = 1 << 16 };

static bool is_short(const KFunc *f, KRef loop) {
    const KIns *last = &f->ins[f->ins[loop].b];
    double most, first;
    bool limited = kir_is_const(f, f->ins[loop].a, &first) && last->op == K_MIN && kir_is_const(f, last->b, &most);
    return kplan_unrolls(f, loop) || (limited && most - first < STRETCH / 4);
}

static bool has_loop(const KFunc *f, KRef loop, bool is_loop(const KFunc *f, KRef r)) {
    for (KRef r = loop + 1; r < f->regions[loop].end; r++)
        if (f->ins[r].op == K_LOOP || (f->ins[r].op == K_FOR && is_loop(f, r))) return true;
    return false;
}

static bool is_any(const KFunc *f, KRef loop) { return (void)f, (void)loop, true; }
static bool is_long(const KFunc *f, KRef loop) { return !is_short(f, loop); }

static bool runs_in_stretches(const Emit *e, KRef loop) {
    return e->poll && !is_short(e->f, loop) && !has_loop(e->f, loop, is_long);
}

/* Begins or ends accesses that LLVM may reorder, because iterations are independent. */
static void declare_independent(Emit *e, KRef loop, EmitLoop *l) {
    unsigned flag = e->f->ins[loop].flag;
    bool flagged =
        e->f->strict && e->poll && (flag == KFLAG_REASSOC || flag == KFLAG_AHEAD) && !kplan_unrolls(e->f, loop);
    l->group = e->group;
    bool independent =
        flagged && !has_loop(e->f, loop, is_any) && kplan_stores_last(e->f, loop + 1, e->f->regions[loop].end);
    l->loop = independent ? loop : 0;
    if (independent) e->group = ", !llvm.access.group !0", e->parallel++;
}

/* Begins a loop over stretches and returns the first iteration and the limit of a stretch. */
static void begin_stretch(Emit *e, const EmitLoop *l, uint32_t before, Opnd n, Opnd *first, Opnd *limit,
                          uint32_t *from) {
    uint32_t outer = l->stretch, go = emit_new(e), ready = emit_new(e);
    emit_label(e, outer);
    *first = emit_def(e, "phi i64 [ 0, %%L%u ], [ %%t%u, %%L%u ]", before, l->k, l->head);
    emit_branch(e, emit_def(e, "icmp ult i64 %s, %s", first->s, n.s), go, l->out);
    emit_label(e, go);
    e->poll(e);
    Opnd far = emit_def(e, "add nuw i64 %s, %d", first->s, STRETCH);
    *limit = call2(e, "umin", QS_U64, far, n);
    emit_label(e, ready);
    *from = ready;
}

static void begin_for(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Opnd a = wide_arg(e, i->a), b = wide_arg(e, i->b), c = wide_arg(e, i->c), n = count_iterations(e, i, a, b, c);
    const char *wrap = i->dtype == QS_I32 ? " nsw" : ""; /* int64 can hold every value of an int counter */
    EmitLoop *l = push_loop(e);
    declare_independent(e, r, l);
    uint32_t before = emit_new(e), body = emit_new(e), from = before;
    Opnd first = lit(0), limit = n;
    l->stretch = runs_in_stretches(e, r) ? emit_new(e) : 0;
    emit_label(e, before);
    if (l->stretch) begin_stretch(e, l, before, n, &first, &limit, &from);
    emit_label(e, l->head);
    emit_put(e, "%%t%u = phi i64 [ %s, %%L%u ], [ %%t%u, %%L%u ]", l->k, first.s, from, l->k1, l->next);
    emit_branch(e, emit_def(e, "icmp ult i64 %%t%u, %s", l->k, limit.s), body, l->stretch ? l->stretch : l->out);
    emit_label(e, body);
    Opnd far = emit_def(e, "mul%s i64 %%t%u, %s", wrap, l->k, c.s);
    set_index(e, r, emit_def(e, "add%s i64 %s, %s", wrap, a.s, far.s));
}

uint32_t emit_loop_metadata(Emit *e, const char *properties) {
    uint32_t n = ++e->metadata;
    qtext_printf(&e->tail, "!%u = distinct !{!%u%s}\n", n, n, properties);
    return n;
}

static void back_edge(Emit *e, KRef loop, uint32_t head, bool parallel) {
    const char *how = kplan_unrolls(e->f, loop) ? ", !{!\"llvm.loop.unroll.full\"}" : parallel ? ", !1" : NULL;
    if (e->loops == LOOPS_SHORT) how = ", !{!\"llvm.loop.unroll.disable\"}";
    bool far = e->split && e->split->near.given && !e->near; /* rarely executed */
    if (e->loops == LOOPS_RARE && (far || !kplan_is_small(e->f, loop)))
        how = ", !{!\"llvm.loop.unroll.disable\"}, !{!\"llvm.loop.vectorize.enable\", i1 false}";
    if (how) emit_put(e, "br label %%L%u, !llvm.loop !%u", head, emit_loop_metadata(e, how));
    else emit_put(e, "br label %%L%u", head);
    e->dead = true;
}

static void end_region(Emit *e, KRef r) {
    KRef open = e->f->regions[r].opener;
    uint8_t op = e->f->ins[open].op;
    if (op == K_IF || op == K_ELSE) {
        emit_label(e, e->label[open]);
        return;
    }
    EmitLoop *l = &e->loop[--e->depth];
    emit_label(e, l->next);
    if (op == K_FOR) emit_put(e, "%%t%u = add nuw i64 %%t%u, 1", l->k1, l->k);
    back_edge(e, open, l->head, l->loop);
    if (l->loop) e->group = l->group, e->parallel--;
    emit_label(e, l->out);
}

static void emit_check(Emit *e, const KIns *i) {
    uint32_t bad = emit_new(e), good = emit_new(e);
    emit_branch(e, emit_arg(e, i->a), good, bad);
    emit_label(e, bad);
    e->fault(e, i);
    e->leave(e);
    emit_label(e, good);
}

/* -- functions that call themselves -------------------------------------------------------------------------------- */
void emit_signature(const KFunc *callee, Text *out) {
    for (int i = 0; i < callee->noutputs; i++)
        qtext_printf(out, "%s%s", i ? ", " : "{ ", emit_type((qs_dtype)callee->outputs[i]));
    qtext_puts(out, " }");
}

/* The temporary of all results is kept in `wide`. */
static void emit_call(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    const KFunc *callee = e->source->callees[i->imm];
    Text type, args;
    qtext_init(&type, e->c), qtext_init(&args, e->c);
    emit_signature(callee, &type);
    for (int k = 0; k < callee->ninputs; k++)
        qtext_printf(&args, ", %s %s", emit_type((qs_dtype)callee->inputs[k]), e->args[k].s);
    if (e->guard) e->guard(e);
    Opnd all = emit_def(e, "call fastcc %s @f%llu.%d(ptr %%args, ptr %%run%s)", type.s, (unsigned long long)i->imm,
                        e->callee_copy, args.s ? args.s : "");
    emit_set(e, r, emit_def(e, "extractvalue %s %s, 0", type.s, all.s));
    e->wide[r] = emit_number(all);
    qtext_free(&type), qtext_free(&args);
}

static void emit_result(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Text type;
    qtext_init(&type, e->c);
    emit_signature(e->source->callees[e->f->ins[i->a].imm], &type);
    emit_set(e, r, emit_def(e, "extractvalue %s %%t%u, %llu", type.s, e->wide[i->a], (unsigned long long)i->imm));
    qtext_free(&type);
}

/* -- indices of small kernels: a GPU computes only their low half -------------------------------------------------- */
static Opnd low_arg(Emit *e, KRef r) {
    if (e->f->ins[r].op == K_CONST) return lit((int32_t)e->f->ins[r].imm);
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
    Opnd low = emit_def(e, "%s%s i32 %s, %s", names[i->op], exact, low_arg(e, i->a).s, low_arg(e, i->b).s);
    if (e->bits[r]) set_low(e, r, low);
    else {
        emit_set(e, r, bin(e, names[i->op], "i64", emit_arg(e, i->a), emit_arg(e, i->b)));
        e->slim[r] = emit_number(low);
    }
}

static void low_bound(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Opnd a = low_arg(e, i->a), n = low_arg(e, i->b);
    set_low(e, r, image(e, (AccessMode)i->flag, QS_I32, a, n));
}

static void low_inb(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Opnd a = low_arg(e, i->a), n = low_arg(e, i->b);
    if (e->f->ins[i->b].op == K_DIM) { /* an extent is not negative: one unsigned comparison is enough */
        emit_set(e, r, bin(e, "icmp ult", "i32", a, n));
        return;
    }
    emit_set(e, r, bin(e, "and", "i1", bin(e, "icmp sge", "i32", a, lit(0)), bin(e, "icmp slt", "i32", a, n)));
}

static void low_choice(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    if (i->op == K_SELECT) set_low(e, r, select(e, emit_arg(e, i->a), "i32", low_arg(e, i->b), low_arg(e, i->c)));
    else set_low(e, r, call2(e, i->op == K_MIN ? "smin" : "smax", QS_I32, low_arg(e, i->a), low_arg(e, i->b)));
}

static void low_given(Emit *e, KRef r, Opnd v) { set_low(e, r, emit_def(e, "trunc i64 %s to i32", v.s)); }

static void low_cast(Emit *e, KRef r) {
    KRef a = e->f->ins[r].a;
    Opnd low = emit_arg(e, a);
    emit_set(e, r, wide_arg(e, a));
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
    case K_POS: set_index(e, r, e->pos[i->imm]); break;
    case K_BLKPOS: set_index(e, r, e->blkpos[i->imm]); break;
    case K_BLKDIM: set_index(e, r, e->blkdim[i->imm]); break;
    case K_BLKIDX: set_index(e, r, e->blkidx[i->imm]); break;
    case K_BLKCNT: set_index(e, r, e->blkcnt[i->imm]); break;
    case K_LOCAL: emit_store(e, d, "", e->container(e, r), emit_arg(e, i->a)); break;
    case K_GET: emit_set(e, r, emit_load(e, d, "", e->container(e, i->a))); break;
    case K_SET: emit_store(e, (qs_dtype)e->f->ins[i->a].dtype, "", e->container(e, i->a), emit_arg(e, i->b)); break;
    case K_LARRAY: zero_fill(e, r); break;
    case K_SHARED: break;
    case K_ALOAD:
    case K_ASTORE:
    case K_AATOMIC:
    case K_AFETCH: inner_access(e, r); break;
    case K_FETCH: fetch(e, r); break;
    case K_EXPECT: emit_set(e, r, emit_arg(e, i->a)); break;
    case K_LOAD: load_element(e, r); break;
    case K_STORE: emit_guarded(e, i, store_element); break;
    case K_ATOMIC: emit_guarded(e, i, atomic); break;
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
        emit_set(e, r, math_call(e, (MathFn)i->flag, d, emit_arg(e, i->a), i->b ? emit_arg(e, i->b) : lit(0)));
        break;
    case K_IF: begin_if(e, r); break;
    case K_ELSE: begin_else(e, r); break;
    case K_LOOP: begin_loop(e, r); break;
    case K_FOR: begin_for(e, r); break;
    case K_END: end_region(e, r); break;
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
    default:
        emit_set(
            e, r,
            emit_arith(e, (KOp)i->op, (qs_dtype)e->f->ins[i->a].dtype, i->flag, emit_arg(e, i->a), emit_arg(e, i->b)));
        break;
    }
}

void emit_range(Emit *e, KRef first, KRef last) {
    for (KRef r = first; r < last; r++) emit_ins(e, r);
}

/* -- the module ---------------------------------------------------------------------------------------------------- */

static void add_helpers(Emit *e, Text *out) {
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
    add_helpers(e, out);
    if (e->decls.len) qtext_puts(out, e->decls.s);
    if (e->tail.len) qtext_puts(out, e->tail.s);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) qtext_free(texts[i]);
    qarena_free(&a);
    return s;
}
