/* emit_clike.c -- prints a KFunc in a language like C (emit_clike.h).
 *
 *     head                 printed by the dialect
 *     q_launch, q_view     geometry of a launch, and of an array, passed by value
 *     helpers              helper functions that the kernel uses
 *     kernel(q, for each array a block and a view, for each number its value [, fault])
 *
 * Every instruction with a value becomes one constant `v<number>`; KIR has the block scope of C.  Signed integers wrap,
 * so their arithmetic is unsigned.  The last axis is dimension 0 of the work items, the one before it dimension 1, and
 * all others together are dimension 2.
 *
 * interior  If opt.c has split the kernel, a group whose positions are all in the box takes the path without index
 *           tests.  The test is the same for all of its work items, so they do not diverge.
 * exact     The kernel has barriers or clears shared memory, so every work item of a group must reach these points.
 *           The device therefore launches the partial blocks at the border of the domain separately, with their own
 *           size.
 * ending    The kernel has barriers, and positions may end before them (RET, CHECK).  An ended position continues
 *           without memory accesses and leaves loops at once.  Through IFs and loops that contain barriers it follows
 *           the active positions, which publish their conditions in q_word. */
#include "lang/kernel/codegen/emit_clike.h"
#include "vm/base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REF = CLIKE_REF };

enum {                      /* marks of regions */
       MARK_COLLECTIVE = 1, /* contains a BARRIER, or a jump out of such a region: ended positions must follow */
       MARK_BROKEN = 2,     /* loop left by a BREAK in an inner loop */
       MARK_CONTINUED = 4,  /* loop continued by a CONTINUE in an inner loop */
       MARK_SKIPPING = 8,   /* loop with a CONTINUE */
       MARK_WAITING = 16    /* loop around a BARRIER */
};

/* -- text ---------------------------------------------------------------------------------------------------------- */
static const char letters[] = "lwuhcgsk";
_Static_assert(sizeof letters == WORD__COUNT + 1, "a letter for each word");

/* Appends text with the words of the dialect. */
static void append_words(Text *out, const Dialect *d, const char *text) {
    for (const char *at; (at = strchr(text, '$')); text = at + 2) {
        qtext_add(out, text, (size_t)(at - text));
        qtext_puts(out, d->words[strchr(letters, at[1]) - letters]);
    }
    qtext_puts(out, text);
}

static void QS_PRINTF(2, 3) line(Clike *e, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    qnum_vprint(text, sizeof text, fmt, ap);
    va_end(ap);
    qtext_printf(&e->body, "%*s", 4 * e->depth, "");
    append_words(&e->body, e->dialect, text);
    qtext_puts(&e->body, "\n");
    qtext_add(&e->lines, (const char *)&e->pos, sizeof e->pos);
}

static const char *type_name(const Clike *e, qs_dtype d) { /* type of a value */
    return d == QS_B1 ? "bool" : e->dialect->types[d];
}

static const char *element_name(const Clike *e, qs_dtype elem) { return e->dialect->types[qdtype_real_of(elem)]; }

static const char *unsigned_name(const Clike *e, qs_dtype d) {
    return e->dialect->words[qdtype_size(d) == 8 ? WORD_ULONG : WORD_UINT];
}

/* Formats a floating-point constant.  NAN and INFINITY have type float and are cast to double for double constants,
 * because a call with a float and a double argument is ambiguous. */
static void float_text(char *s, size_t n, double v, int digits, const char *suffix) {
    if (isnan(v)) snprintf(s, n, *suffix ? "NAN" : "((double)NAN)");
    else if (isinf(v)) snprintf(s, n, "(%s%sINFINITY)", *suffix ? "" : "(double)", v < 0 ? "-" : "");
    else {
        char num[40];
        qnum_print(num, sizeof num, "%.*g", digits, v);
        const char *point = strpbrk(num, ".e") ? "" : ".0";
        snprintf(s, n, signbit(v) ? "(%s%s%s)" : "%s%s%s", num, point, suffix);
    }
}

static void constant_text(const Clike *e, char *s, size_t n, qs_dtype d, uint64_t bits) {
    const char *suffix = e->dialect->suffix;
    KSlot v = {bits};
    switch (d) {
    case QS_B1: snprintf(s, n, bits ? "true" : "false"); break;
    case QS_I32: snprintf(s, n, v.I32 == INT32_MIN ? "(-2147483647 - 1)" : v.I32 < 0 ? "(%d)" : "%d", v.I32); break;
    case QS_U32: snprintf(s, n, "%uu", v.U32); break;
    case QS_I64:
        if (v.I64 == INT64_MIN) snprintf(s, n, "(-9223372036854775807%s - 1)", suffix);
        else snprintf(s, n, v.I64 < 0 ? "(%lld%s)" : "%lld%s", (long long)v.I64, suffix);
        break;
    case QS_U64: snprintf(s, n, "%lluU%s", (unsigned long long)bits, suffix); break;
    case QS_F32: float_text(s, n, (double)v.F32, 9, "f"); break;
    default: float_text(s, n, v.F64, 17, ""); break;
    }
}

/* Returns the text of an operand: a literal or v<number>.  It is valid until CLIKE_NREFS further calls. */
static const char *ref(Clike *e, KRef r) {
    char *s = e->refs[e->nextref++ % CLIKE_NREFS];
    const KIns *i = &e->f->ins[r];
    if (i->op == K_CONST) constant_text(e, s, REF, (qs_dtype)i->dtype, i->imm);
    else snprintf(s, REF, "v%u", r);
    return s;
}

static void QS_PRINTF(3, 4) define(Clike *e, uint32_t at, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    qnum_vprint(text, sizeof text, fmt, ap);
    va_end(ap);
    line(e, "const %s v%u = %s;", type_name(e, (qs_dtype)e->f->ins[at].dtype), at, text);
}

/* -- helper functions: $T is the type of a dtype, $D its suffix; also words of the dialect ------------------------- */
typedef enum { H_MOD, H_ITERATIONS, H_TO_BF16, H_AGREE, H_FAULT } Helper;

static const char *helper_text(Helper h) {
    switch (h) {
    case H_MOD:
        return "$T q_mod_$D($T a, $T b) {\n"
               "    $T r = fmod(a, b);\n"
               "    return r == 0 ? copysign(($T)0, b) : (r < 0) != (b < 0) ? r + b : r;\n}\n";
    case H_ITERATIONS: /* *more: number of iterations of a FOR after the first; false: there are none at all */
        return "bool q_iterations($l a, $l b, $l c, $w *more) {\n"
               "    if (c == 0 || (c > 0 ? b < a : b > a)) return false;\n"
               "    *more = c > 0 ? (($w)b - ($w)a) / ($w)c : (($w)a - ($w)b) / (0 - ($w)c);\n"
               "    return true;\n}\n";
    case H_TO_BF16:
        return "$h q_to_bf16(float x) {\n"
               "    $u u = as_uint(x);\n"
               "    if ((u & 0x7fffffffu) > 0x7f800000u) return ($h)(u >> 16 | 0x40u);\n"
               "    return ($h)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);\n}\n";
    case H_AGREE: /* gives every work item the x of the active ones, which all have the same; 0: none is active */
        return "$w q_agree($s$w *word, bool first, bool live, $w x) {\n"
               "    if (first) *word = 0;\n"
               "    barrier(CLK_LOCAL_MEM_FENCE);\n"
               "    if (live) *word = x;\n"
               "    barrier(CLK_LOCAL_MEM_FENCE);\n"
               "    $w r = *word;\n"
               "    barrier(CLK_LOCAL_MEM_FENCE);\n"
               "    return r;\n}\n";
    case H_FAULT: return "typedef struct { $u taken, message, pos, kinds; $w value[2]; $l at[8]; } q_fault;\n";
    }
    return "";
}

static const char *suffix(qs_dtype d) {
    static const char *const names[QS_NDTYPES] = {"b1",  "i8",  "u8",   "i16", "u16", "i32", "u32", "i64",
                                                  "u64", "f16", "bf16", "f32", "f64", "f32", "f64"};
    return names[d];
}

static void print_helper(const Clike *e, Text *out, Helper h, qs_dtype d) {
    Text own;
    qtext_init(&own, e->f->ctx);
    for (const char *p = helper_text(h); *p; p++) {
        bool mark = *p == '$' && (p[1] == 'T' || p[1] == 'D');
        if (mark) qtext_puts(&own, *++p == 'T' ? type_name(e, d) : suffix(d));
        else qtext_add(&own, p, 1);
    }
    append_words(out, e->dialect, own.s);
    qtext_free(&own);
}

static void need(Clike *e, Helper h, qs_dtype d) { e->helpers[d] |= 1ull << h; }

/* -- arithmetic ---------------------------------------------------------------------------------------------------- */
static void infix(const Clike *e, char *s, size_t n, qs_dtype d, const char *a, const char *op, const char *b) {
    if (d == QS_I32 || d == QS_I64)
        snprintf(s, n, "(%s)((%s)%s %s (%s)%s)", type_name(e, d), unsigned_name(e, d), a, op, unsigned_name(e, d), b);
    else snprintf(s, n, "%s %s %s", a, op, b);
}

static void format_binary(Clike *e, char *s, size_t n, KOp op, qs_dtype d, const char *a, const char *b) {
    bool real = qdtype_is_real(d), logic = d == QS_B1;
    switch (op) {
    case K_ADD: infix(e, s, n, d, a, "+", b); break;
    case K_SUB: infix(e, s, n, d, a, "-", b); break;
    case K_MUL: infix(e, s, n, d, a, "*", b); break;
    case K_DIV: snprintf(s, n, "%s / %s", a, b); break;
    case K_MOD:
        if (real) need(e, H_MOD, d), snprintf(s, n, "q_mod_%s(%s, %s)", suffix(d), a, b);
        else snprintf(s, n, "%s %% %s", a, b);
        break;
    case K_SHL: snprintf(s, n, "(%s)((%s)%s << %s)", type_name(e, d), unsigned_name(e, d), a, b); break;
    case K_SHR: snprintf(s, n, "%s >> %s", a, b); break;
    case K_MIN: snprintf(s, n, "%s(%s, %s)", real ? "fmin" : "min", a, b); break;
    case K_MAX: snprintf(s, n, "%s(%s, %s)", real ? "fmax" : "max", a, b); break;
    case K_AND: snprintf(s, n, "%s %s %s", a, logic ? "&&" : "&", b); break;
    case K_OR: snprintf(s, n, "%s %s %s", a, logic ? "||" : "|", b); break;
    case K_XOR: snprintf(s, n, "%s %s %s", a, logic ? "!=" : "^", b); break;
    case K_LT: snprintf(s, n, "%s < %s", a, b); break;
    case K_LE: snprintf(s, n, "%s <= %s", a, b); break;
    case K_EQ: snprintf(s, n, "%s == %s", a, b); break;
    default: snprintf(s, n, "%s != %s", a, b); break;
    }
}

static void print_unary(Clike *e, uint32_t at, KOp op, qs_dtype d, const char *a) {
    if (op == K_NOT) define(e, at, "%s%s", d == QS_B1 ? "!" : "~", a);
    else if (op == K_ABS) define(e, at, "fabs(%s)", a);
    else if (qdtype_is_real(d)) define(e, at, "-%s", a);
    else define(e, at, "(%s)(0 - (%s)%s)", type_name(e, d), unsigned_name(e, d), a);
}

static bool widens(qs_dtype from, qs_dtype to) { /* for integers: `to` can represent every value of `from` */
    return qdtype_size(to) == 8 && (from == QS_U32 || (from == QS_I32 && to == QS_I64));
}

static void print_cast(Clike *e, uint32_t at, qs_dtype from, qs_dtype to, const char *a) {
    const char *t = type_name(e, to);
    bool saturates = e->can & LEGAL_SATURATE && !qdtype_is_real(to);
    if (to == QS_B1) define(e, at, "%s != 0", a);
    else if (saturates && qdtype_is_real(from)) define(e, at, "isnan(%s) ? 0 : convert_%s_sat_rtz(%s)", a, t, a);
    else define(e, at, saturates && !widens(from, to) ? "convert_%s_sat(%s)" : "(%s)%s", t, a);
}

static void print_math(Clike *e, uint32_t at, const KIns *i) {
    const MathFnInfo *fn = &kir_math[i->flag];
    if (fn->nargs == 2) define(e, at, "%s(%s, %s)", fn->name, ref(e, i->a), ref(e, i->b));
    else define(e, at, "%s(%s)", fn->name, ref(e, i->a));
}

/* -- elements of memory -------------------------------------------------------------------------------------------- */
static void load_text(char *s, size_t n, qs_dtype elem, const char *array, const char *index) {
    switch (elem) {
    case QS_B1: snprintf(s, n, "%s[%s] != 0", array, index); break;
    case QS_I8:
    case QS_U8:
    case QS_I16:
    case QS_U16: snprintf(s, n, "(int)%s[%s]", array, index); break;
    case QS_F16: snprintf(s, n, "vload_half((size_t)%s, %s)", index, array); break;
    case QS_BF16: snprintf(s, n, "as_float(($u)%s[%s] << 16)", array, index); break;
    default: snprintf(s, n, "%s[%s]", array, index); break;
    }
}

void kclike_element(Text *out, const Dialect *d, qs_dtype elem, const char *array, const char *index) {
    char text[160];
    load_text(text, sizeof text, elem, array, index);
    append_words(out, d, text);
}

static void store_text(Clike *e, char *s, size_t n, qs_dtype elem, const char *array, const char *index,
                       const char *value) {
    switch (elem) {
    case QS_I8:
    case QS_U8:
    case QS_I16:
    case QS_U16:
        snprintf(s, n, e->can & LEGAL_SATURATE ? "%s[%s] = convert_%s_sat(%s);" : "%s[%s] = (%s)%s;", array, index,
                 element_name(e, elem), value);
        break;
    case QS_F16: snprintf(s, n, "vstore_half_rte(%s, (size_t)%s, %s);", value, index, array); break;
    case QS_BF16: need(e, H_TO_BF16, QS_F32), snprintf(s, n, "%s[%s] = q_to_bf16(%s);", array, index, value); break;
    default: snprintf(s, n, "%s[%s] = %s;", array, index, value); break;
    }
}

static qs_dtype param_dtype(const Clike *e, uint64_t n) { return (qs_dtype)e->f->params[n].dtype; }

static void array_name(char s[16], uint64_t n) { snprintf(s, 16, "x%u", (unsigned)n); }

/* Returns the condition for a memory access with this guard; NULL: it is unconditional. */
static const char *guard_text(Clike *e, KRef guard) {
    if (!e->ending) return guard ? ref(e, guard) : NULL;
    if (!guard) return "q_live";
    const char *g = ref(e, guard);
    char *s = e->refs[e->nextref++ % CLIKE_NREFS];
    snprintf(s, REF, "q_live && %.40s", g);
    return s;
}

static void print_load(Clike *e, uint32_t at, const KIns *i) {
    char array[16], text[256];
    const char *g = guard_text(e, i->b);
    array_name(array, i->imm);
    load_text(text, sizeof text, param_dtype(e, i->imm), array, ref(e, i->a));
    if (g) define(e, at, "%s ? %s : 0", g, text);
    else define(e, at, "%s", text);
}

static void print_guarded(Clike *e, KRef guard, const char *text) {
    const char *g = guard_text(e, guard);
    if (g) line(e, "if (%s) %s", g, text);
    else line(e, "%s", text);
}

static void print_store(Clike *e, const KIns *i) {
    char array[16], text[256];
    array_name(array, i->imm);
    store_text(e, text, sizeof text, param_dtype(e, i->imm), array, ref(e, i->a), ref(e, i->b));
    print_guarded(e, i->c, text);
}

/* -- atomics: native if OpenCL 1.2 has them, otherwise compare and exchange ---------------------------------------- */
static const char *native_atomic(KAtomic op, qs_dtype d) {
    static const char *const names[KA__COUNT] = {"add", "sub", NULL,  NULL, "min",  "max",
                                                 "and", "or",  "xor", NULL, "xchg", "cmpxchg"};
    if (d == QS_I32 || d == QS_U32) return names[op];
    return (d == QS_I64 || d == QS_U64) && (op <= KA_SUB || op >= KA_XCHG) ? names[op] : NULL;
}

static void apply_text(Clike *e, char *s, size_t n, KAtomic op, qs_dtype v) {
    static const uint8_t ops[KA__COUNT] = {K_ADD, K_SUB, K_MUL, K_DIV, K_MIN, K_MAX, K_AND, K_OR, K_XOR};
    if (op == KA_POW) snprintf(s, n, "pow(x, v)");
    else if (op == KA_XCHG) snprintf(s, n, "v");
    else format_binary(e, s, n, (KOp)ops[op], v, "x", "v");
}

static void made_name(char s[64], KAtomic op, qs_dtype elem, bool local) {
    snprintf(s, 64, "q_atomic_%s_%s_%s", local ? "local" : "global", suffix(elem), kir_atomic_name(op));
}

/* Defines an atomic update of an element of 32 or 64 bits, which is exchanged as an integer.  The function returns the
 * element before. */
static void make_wide(Clike *e, const char *name, KAtomic op, qs_dtype v, bool local) {
    char apply[256];
    bool wide = qdtype_size(v) == 8;
    const char *word = wide ? "$w" : "$u", *t = type_name(e, v);
    apply_text(e, apply, sizeof apply, op, v);
    qtext_printf(&e->atomics,
                 "%s %s(volatile %s%s *p, %s v) {\n"
                 "    %s seen = *p, old;\n"
                 "    do {\n"
                 "        old = seen;\n"
                 "        %s x = as_%s(old), r = %s;\n"
                 "        seen = %s(p, old, as_%s(r));\n"
                 "    } while (seen != old);\n    return as_%s(old);\n}\n",
                 t, name, local ? "$s" : "$g", word, t, word, t, t, apply, wide ? "atom_cmpxchg" : "atomic_cmpxchg",
                 word, t);
    if (wide) e->atom64 = true;
}

/* Defines an atomic update of an element of 8 or 16 bits, which exchanges the aligned word around it. */
static void make_narrow(Clike *e, const char *name, KAtomic op, qs_dtype elem) {
    char apply[256], widen[128], narrow[160];
    qs_dtype v = kir_value_dtype(elem);
    const char *t = elem == QS_F16 ? "$h" : element_name(e, elem);
    apply_text(e, apply, sizeof apply, op, v);
    load_text(widen, sizeof widen, elem, elem == QS_F16 ? "(half *)&raw" : "(&raw)", "0");
    store_text(e, narrow, sizeof narrow, elem, elem == QS_F16 ? "(half *)&raw" : "(&raw)", "0", "r");
    qtext_printf(&e->atomics,
                 "void %s($g%s *p, %s v) {\n"
                 "    volatile $g$u *word = (volatile $g$u *)((size_t)p & ~(size_t)3);\n"
                 "    $u shift = ($u)((size_t)p & 3) * 8, mask = 0x%xu << shift, seen = *word, old;\n"
                 "    do {\n"
                 "        old = seen;\n"
                 "        %s raw = (%s)(old >> shift);\n"
                 "        %s x = %s, r = %s;\n"
                 "        %s\n"
                 "        seen = atomic_cmpxchg(word, old, (old & ~mask) | (($u)raw << shift & mask));\n"
                 "    } while (seen != old);\n}\n",
                 name, element_name(e, elem), type_name(e, v), qdtype_size(elem) == 1 ? 0xffu : 0xffffu, t, t,
                 type_name(e, v), widen, apply, narrow);
}

static void make_atomic(Clike *e, const char *name, KAtomic op, qs_dtype elem, bool local) {
    for (int k = 0; k < e->nmade; k++)
        if (e->made[k].op == op && e->made[k].dtype == elem && e->made[k].local == local) return;
    e->made[e->nmade].op = (uint8_t)op, e->made[e->nmade].dtype = (uint8_t)elem, e->made[e->nmade++].local = local;
    if (qdtype_size(elem) < 4) make_narrow(e, name, op, elem);
    else make_wide(e, name, op, elem, local);
}

/* Formats the call that updates *place, whose value is the element before, if that has 32 or 64 bits.  elem is a real
 * type; for a shared bool it is uint, its stored type. */
static void atomic_text(Clike *e, char *s, size_t n, KAtomic op, qs_dtype elem, bool local, const char *place,
                        const char *value) {
    const char *native = native_atomic(op, elem);
    char name[64];
    if (native) {
        bool wide = qdtype_size(elem) == 8;
        if (wide) e->atom64 = true;
        snprintf(s, n, "%s_%s(&%s, %s)", wide ? "atom" : "atomic", native, place, value);
        return;
    }
    made_name(name, op, elem, local);
    make_atomic(e, name, op, elem, local);
    bool cast = qdtype_size(elem) >= 4;
    const char *word = qdtype_size(elem) == 8 ? "$w" : "$u", *space = local ? "$s" : "$g";
    if (cast) snprintf(s, n, "%s((volatile %s%s *)&%s, %s)", name, space, word, place, value);
    else snprintf(s, n, "%s(&%s, %s)", name, place, value);
}

static void atomic(Clike *e, const KIns *i) {
    char place[80], text[300];
    qs_dtype elem = qdtype_real_of(param_dtype(e, i->imm));
    snprintf(place, sizeof place, "x%u[%s]", (unsigned)i->imm, ref(e, i->a));
    atomic_text(e, text, sizeof text, (KAtomic)i->flag, elem, false, place, ref(e, i->b));
    strcat(text, ";");
    print_guarded(e, i->c, text);
}

static void shared_atomic(Clike *e, const KIns *i) {
    char place[80], text[300];
    qs_dtype d = (qs_dtype)e->f->ins[i->a].dtype;
    snprintf(place, sizeof place, "v%u[%s]", i->a, ref(e, i->b));
    atomic_text(e, text, sizeof text, (KAtomic)i->flag, d == QS_B1 ? QS_U32 : d, true, place, ref(e, i->c));
    strcat(text, ";");
    print_guarded(e, 0, text);
}

/* Prints a FETCH or AFETCH of *place by the value r.  CAS takes two values, the first one in place of the element. */
static void fetch(Clike *e, uint32_t at, const char *place, KRef r, KRef guard, bool local) {
    char text[300], values[120];
    const KIns *i = &e->f->ins[at], *v = &e->f->ins[r];
    const char *g = guard_text(e, guard);
    if (i->flag == KA_CAS) snprintf(values, sizeof values, "%s, %s", ref(e, v->b), ref(e, v->a));
    else snprintf(values, sizeof values, "%s", ref(e, r));
    atomic_text(e, text, sizeof text, (KAtomic)i->flag, (qs_dtype)i->dtype, local, place, values);
    if (g) define(e, at, "%s ? %s : 0", g, text);
    else define(e, at, "%s", text);
}

static void array_fetch(Clike *e, uint32_t at, const KIns *i) {
    char place[80];
    snprintf(place, sizeof place, "x%u[%s]", (unsigned)i->imm, ref(e, i->a));
    fetch(e, at, place, i->b, i->c, false);
}

static void shared_fetch(Clike *e, uint32_t at, const KIns *i) {
    char place[80];
    snprintf(place, sizeof place, "v%u[%s]", i->a, ref(e, i->b));
    fetch(e, at, place, i->c, 0, true);
}

/* -- private and shared arrays; a bool is stored as uint ----------------------------------------------------------- */
static const char *stored_name(const Clike *e, qs_dtype d) { return d == QS_B1 ? "$u" : type_name(e, d); }

static void private_array(Clike *e, uint32_t at, const KIns *i) {
    line(e, "%s v%u[%u];", stored_name(e, (qs_dtype)i->dtype), at, (unsigned)i->imm);
    line(e, "for (int q_i = 0; q_i < %u; q_i++) v%u[q_i] = 0;", (unsigned)i->imm, at);
}

/* Prints a read of a private or shared array.  Positions that have ended read element 0 instead, because their index
 * may be invalid after a failed CHECK; their value does not matter.  A condition around the read would not be enough: a
 * compiler may move reads of such arrays before it, as Intel's does. */
static void array_load(Clike *e, uint32_t at, const KIns *i) {
    const char *g = guard_text(e, 0), *index = ref(e, i->b), *truth = i->dtype == QS_B1 ? " != 0" : "";
    if (g && e->f->ins[i->b].op != K_CONST) define(e, at, "v%u[%s ? %s : 0]%s", i->a, g, index, truth);
    else define(e, at, "v%u[%s]%s", i->a, index, truth);
}

static void array_store(Clike *e, const KIns *i) {
    char text[192];
    snprintf(text, sizeof text, "v%u[%s] = %s;", i->a, ref(e, i->b), ref(e, i->c));
    print_guarded(e, 0, text);
}

/* -- control flow -------------------------------------------------------------------------------------------------- */
/* The following functions mark loops that are left or continued from inner loops.  With `ending` they also mark the
 * collective regions: regions that contain a barrier, and regions that a jump out of a collective loop leaves. */

/* Marks the regions around r up to `until`, which is not marked, as collective; true: a mark is new. */
static bool mark_collective(Clike *e, KRef r, KRef until) {
    bool news = false;
    for (KRef x = e->f->regions[r].around; x != until; x = e->f->regions[x].around) {
        news = news || !(e->marks[x] & MARK_COLLECTIVE);
        e->marks[x] |= MARK_COLLECTIVE;
    }
    return news;
}

static bool mark_jump(Clike *e, KRef r) {
    const KIns *k = &e->f->ins[r];
    KRef loop = kir_jump_target(e->f, r);
    uint8_t *target = &e->marks[loop];
    if (k->imm) *target |= k->op == K_BREAK ? MARK_BROKEN : MARK_CONTINUED;
    if (k->op == K_CONTINUE) *target |= MARK_SKIPPING;
    return (*target & MARK_COLLECTIVE) && mark_collective(e, r, loop);
}

static bool mark_branches(Clike *e, KRef at) { /* both branches of an IF get the same mark */
    KRef other = e->f->ins[at].op == K_ELSE ? e->f->regions[at].opener : 0;
    if (!other || !((e->marks[at] ^ e->marks[other]) & MARK_COLLECTIVE)) return false;
    e->marks[at] |= MARK_COLLECTIVE, e->marks[other] |= MARK_COLLECTIVE;
    return true;
}

static void mark_waiting(Clike *e, KRef r) {
    for (KRef x = kir_loop_around(e->f, r); x; x = kir_loop_around(e->f, x)) e->marks[x] |= MARK_WAITING;
}

static void mark_regions(Clike *e) {
    for (bool news = true; news;) {
        news = false;
        for (KRef r = 1; r < e->f->nins; r++) {
            uint8_t op = e->f->ins[r].op;
            if (op == K_BARRIER) mark_waiting(e, r);
            if (op == K_BARRIER && e->ending) news |= mark_collective(e, r, 0);
            if (op == K_BREAK || op == K_CONTINUE) news |= mark_jump(e, r);
        }
        for (KRef r = 1; r < e->f->nins; r++) news |= mark_branches(e, r);
    }
}

static bool collective(const Clike *e, uint32_t i) { return e->marks[i] & MARK_COLLECTIVE; }

/* Emits `q_a<at>`: the value of x in the active work items. */
static void agree(Clike *e, uint32_t at, const char *x) {
    need(e, H_AGREE, QS_U64);
    line(e, "const $w q_a%u = q_agree(&q_word, q_item == 0, q_live, q_live ? ($w)(%s) : 0);", at, x);
}

static void enter_region(Clike *e, uint32_t at) {
    e->depth++;
    if (kir_is_loop(e->f->ins[at].op) && e->ending && !collective(e, at)) line(e, "if (!q_live) break;");
}

static void begin_interior(Clike *e, uint32_t at) {
    const KBox *box = &e->split->box;
    line(e, "bool q_inside = %s;", box->ok ? ref(e, box->ok) : "true");
    for (int d = 0; d < e->f->rank; d++) {
        if (!box->lo[d]) continue;
        line(e, "q_inside = q_inside && %s <= q_pos%d - q_blkpos%d;", ref(e, box->lo[d]), d, d);
        line(e, "q_inside = q_inside && q_pos%d - q_blkpos%d + q.extent[%d] <= %s;", d, d, d, ref(e, box->hi[d]));
    }
    line(e, "if (q_inside) {");
    enter_region(e, at);
}

static void begin_if(Clike *e, uint32_t at, const KIns *i) {
    if (e->split && at + 1 == e->split->fast) begin_interior(e, at);
    else if (collective(e, at)) {
        agree(e, at, ref(e, i->a));
        line(e, "if (q_a%u) {", at);
        enter_region(e, at);
    } else {
        line(e, "if (%s) {", ref(e, i->a));
        enter_region(e, at);
    }
}

static void begin_else(Clike *e, uint32_t at) {
    e->depth--;
    line(e, "} else {");
    enter_region(e, at);
}

static void begin_loop(Clike *e, uint32_t at) {
    line(e, "for (;;) {");
    enter_region(e, at);
    if (!collective(e, at)) return;
    agree(e, at, "true"); /* without active work items nothing else would end the loop */
    line(e, "if (!q_a%u) break;", at);
}

/* Returns whether an int counter can be incremented beyond the end without overflow. */
static bool room_beyond(const KIns *end, int64_t step) {
    int64_t beyond = (int64_t)end->imm + step;
    return end->op == K_CONST && beyond >= INT32_MIN && beyond <= INT32_MAX;
}

/* Begins a FOR.  An int counter with a constant step is counted as int, or as long if it might overflow.  Other loops
 * count their iterations. */
static void begin_for(Clike *e, uint32_t at, const KIns *i) {
    const KIns *step = &e->f->ins[i->c];
    const char *t = type_name(e, (qs_dtype)i->dtype), *u = unsigned_name(e, (qs_dtype)i->dtype), *a = ref(e, i->a),
               *b = ref(e, i->b), *c = ref(e, i->c);
    bool known = step->op == K_CONST && step->imm;
    const char *past = (int64_t)step->imm > 0 ? "<=" : ">=";
    if (collective(e, at)) {
        need(e, H_ITERATIONS, QS_I64);
        line(e, "$w q_n%u = 0;", at);
        char iterations[160];
        snprintf(iterations, sizeof iterations, "q_iterations(%s, %s, %s, &q_n%u) ? q_n%u + 1 : 0", a, b, c, at, at);
        agree(e, at, iterations);
        line(e, "%s v%u = %s;", t, at, a);
        line(e, "for ($w q_i%u = q_a%u; q_i%u; q_i%u--, v%u = (%s)((%s)v%u + (%s)%s)) {", at, at, at, at, at, t, u, at,
             u, c);
    } else if (known && i->dtype == QS_I32 && room_beyond(&e->f->ins[i->b], (int64_t)step->imm)) {
        line(e, "for (int v%u = %s; v%u %s %s; v%u += %s) {", at, a, at, past, b, at, c);
    } else if (known && i->dtype == QS_I32) {
        line(e, "for ($l q_i%u = %s; q_i%u %s %s; q_i%u += %s) {", at, a, at, past, b, at, c);
        line(e, "    const int v%u = (int)q_i%u;", at, at);
    } else {
        need(e, H_ITERATIONS, QS_I64);
        line(e, "%s v%u = %s;", t, at, a);
        line(e, "$w q_n%u = 0;", at);
        line(e,
             "for (bool q_m%u = q_iterations(%s, %s, %s, &q_n%u); q_m%u; q_m%u = q_n%u-- != 0, v%u = (%s)((%s)v%u + "
             "(%s)%s)) {",
             at, a, b, c, at, at, at, at, at, t, u, at, u, c);
    }
    enter_region(e, at);
}

/* Ends a loop that contains a barrier with one more barrier, because PoCL 3.1 miscompiles some loops with code after
 * their last barrier.  Loops with a CONTINUE get none, because positions may reach their end on different paths. */
static void end_waiting(Clike *e, uint8_t marks) {
    if ((marks & (MARK_WAITING | MARK_SKIPPING)) == MARK_WAITING) line(e, "barrier(CLK_LOCAL_MEM_FENCE);");
}

static void end_region(Clike *e, uint32_t at) {
    uint32_t start = e->f->regions[at].opener;
    end_waiting(e, e->marks[start]);
    if (e->marks[start] & MARK_CONTINUED) line(e, "q_continue%u:;", start);
    e->depth--;
    line(e, "}");
    if (e->marks[start] & MARK_BROKEN) line(e, "q_break%u:;", start);
}

static void print_jump(Clike *e, uint32_t at, const KIns *i) {
    const char *word = i->op == K_BREAK ? "break" : "continue";
    if (i->imm) line(e, "goto q_%s%u;", word, kir_jump_target(e->f, at));
    else line(e, "%s;", word);
}

static bool walks(const Clike *e) { return e->f->serial || !e->dialect->groups; }

static void end_position(Clike *e) { line(e, e->ending ? "q_live = false;" : walks(e) ? "goto q_next;" : "return;"); }

/* -- CHECK --------------------------------------------------------------------------------------------------------- */
static void report_value(Clike *e, int n, KRef r) {
    qs_dtype d = (qs_dtype)e->f->ins[r].dtype;
    const char *bits = d == QS_F32 ? "as_uint" : d == QS_F64 ? "as_ulong" : "($w)";
    if (r) line(e, "q_f->value[%d] = %s(%s);", n, bits, ref(e, r));
}

static void print_check(Clike *e, const KIns *i) {
    const KIns *ins = e->f->ins;
    need(e, H_FAULT, QS_B1), e->fault = true;
    line(e, e->ending ? "if (q_live && !%s) {" : "if (!%s) {", ref(e, i->a));
    e->depth++;
    line(e, "if (atomic_cmpxchg(&q_f->taken, 0u, 1u) == 0u) {");
    e->depth++;
    line(e, "q_f->message = %uu, q_f->pos = %uu, q_f->kinds = %uu;", (unsigned)i->imm + 1, i->pos,
         (unsigned)(i->b ? ins[i->b].dtype : 0) | (unsigned)(i->c ? ins[i->c].dtype : 0) << 8);
    report_value(e, 0, i->b);
    report_value(e, 1, i->c);
    for (int d = 0; d < e->f->rank; d++) line(e, "q_f->at[%d] = q_pos%d;", d, d);
    e->depth--;
    line(e, "}");
    end_position(e);
    e->depth--;
    line(e, "}");
}

/* -- instructions -------------------------------------------------------------------------------------------------- */
static void geometry(Clike *e, uint32_t at, const KIns *i) {
    static const char *const blk[] = {"q_blkpos", "q.block", "q_blkidx", "q.count"};
    unsigned axis = (unsigned)i->imm;
    if (i->op == K_POS) define(e, at, i->dtype == QS_I64 ? "q_pos%u" : "(int)q_pos%u", axis);
    else if (i->op == K_BLKDIM && e->f->fixed_block) define(e, at, "%d", e->f->block[axis]);
    else define(e, at, i->op == K_BLKDIM || i->op == K_BLKCNT ? "%s[%u]" : "%s%u", blk[i->op - K_BLKPOS], axis);
}
_Static_assert(K_BLKDIM == K_BLKPOS + 1 && K_BLKIDX == K_BLKPOS + 2 && K_BLKCNT == K_BLKPOS + 3,
               "order of the geometry ops");

static void parameter(Clike *e, uint32_t at, const KIns *i) {
    unsigned p = (unsigned)(i->op == K_PARAM ? i->imm : i->imm >> 8), axis = (unsigned)(i->imm & 255);
    if (i->op == K_PARAM) define(e, at, i->dtype == QS_B1 ? "n%u != 0" : "n%u", p);
    else if (i->op == K_DIM) define(e, at, "d%u.v[%u]", p, 1 + axis);
    else if (e->f->params[p].unit_last && axis + 1u == e->f->params[p].rank) define(e, at, "1");
    else define(e, at, "d%u.v[%u]", p, 1u + e->f->params[p].rank + axis);
}

static void flow(Clike *e, uint32_t at, const KIns *i) {
    switch ((KOp)i->op) {
    case K_IF: begin_if(e, at, i); break;
    case K_ELSE: begin_else(e, at); break;
    case K_LOOP: begin_loop(e, at); break;
    case K_FOR: begin_for(e, at, i); break;
    case K_END: end_region(e, at); break;
    case K_BREAK:
    case K_CONTINUE: print_jump(e, at, i); break;
    default: end_position(e); break;
    }
}

static void instruction(Clike *e, uint32_t at) {
    const KIns *i = &e->f->ins[at];
    qs_dtype a = (qs_dtype)e->f->ins[i->a].dtype;
    char text[512];
    switch ((KOp)i->op) {
    case K_CONST:
    case K_SHARED: break;
    case K_PARAM:
    case K_DIM:
    case K_STRIDE: parameter(e, at, i); break;
    case K_POS:
    case K_BLKPOS:
    case K_BLKDIM:
    case K_BLKIDX:
    case K_BLKCNT: geometry(e, at, i); break;
    case K_LOCAL: line(e, "%s v%u = %s;", type_name(e, a), at, ref(e, i->a)); break;
    case K_GET:
    case K_ANY:
    case K_ANALYTIC: define(e, at, "%s", ref(e, i->a)); break;
    case K_SET: line(e, "%s = %s;", ref(e, i->a), ref(e, i->b)); break;
    case K_LARRAY: private_array(e, at, i); break;
    case K_ALOAD: array_load(e, at, i); break;
    case K_ASTORE: array_store(e, i); break;
    case K_AATOMIC: shared_atomic(e, i); break;
    case K_AFETCH: shared_fetch(e, at, i); break;
    case K_EXPECT: break; /* fetch prints its operands */
    case K_LOAD: print_load(e, at, i); break;
    case K_STORE: print_store(e, i); break;
    case K_ATOMIC: atomic(e, i); break;
    case K_FETCH: array_fetch(e, at, i); break;
    case K_INB: define(e, at, "%s >= 0 && %s < %s", ref(e, i->a), ref(e, i->a), ref(e, i->b)); break;
    case K_SELECT: define(e, at, "%s ? %s : %s", ref(e, i->a), ref(e, i->b), ref(e, i->c)); break;
    case K_CAST: print_cast(e, at, a, (qs_dtype)i->dtype, ref(e, i->a)); break;
    case K_MATH: print_math(e, at, i); break;
    case K_NEG:
    case K_ABS:
    case K_NOT: print_unary(e, at, (KOp)i->op, a, ref(e, i->a)); break;
    case K_BARRIER: line(e, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"); break;
    case K_CHECK: print_check(e, i); break;
    case K_IF:
    case K_ELSE:
    case K_LOOP:
    case K_FOR:
    case K_END:
    case K_BREAK:
    case K_CONTINUE:
    case K_RET: flow(e, at, i); break;
    default: format_binary(e, text, sizeof text, (KOp)i->op, a, ref(e, i->a), ref(e, i->b)); define(e, at, "%s", text);
    }
}

/* -- the frame of a kernel ----------------------------------------------------------------------------------------- */
static void survey(Clike *e) {
    const KFunc *f = e->f;
    bool ends = kir_has(f, K_RET) || kir_has(f, K_CHECK), clears = false;
    for (uint32_t i = 1; i < f->nins; i++) {
        const KIns *k = &f->ins[i];
        if (k->dtype == QS_F64) e->fp64 = true;
        if (k->op == K_SHARED && k->flag) clears = true;
    }
    for (int i = 0; i < f->nparams; i++)
        if (qdtype_real_of((qs_dtype)f->params[i].dtype) == QS_F64) e->fp64 = true;
    e->exact = f->barrier || clears;
    e->ending = f->barrier && ends;
}

/* Prints block index and position in the block for each axis.  The last two axes have their own dimension of work
 * items; all others share dimension 2. */
static void place_axes(Clike *e) {
    int rank = e->f->rank;
    for (int d = rank - 1, dim = 0; d >= 0; d--, dim++) {
        if (dim < 2 || d == 0) {
            const char *from = dim > 2 ? "q_group" : NULL;
            if (from) line(e, "const int q_blkidx%d = q.first[%d] + q_group, q_blkpos%d = q_local;", d, d, d);
            else
                line(e,
                     "const int q_blkidx%d = q.first[%d] + (int)get_group_id(%d), q_blkpos%d = (int)get_local_id(%d);",
                     d, d, dim, d, dim);
            continue;
        }
        if (dim == 2) line(e, "int q_group = (int)get_group_id(2), q_local = (int)get_local_id(2);");
        line(e, "const int q_blkidx%d = q.first[%d] + q_group %% q.span[%d], q_blkpos%d = q_local %% q.extent[%d];", d,
             d, d, d, d);
        line(e, "q_group /= q.span[%d], q_local /= q.extent[%d];", d, d);
    }
    for (int d = 0; d < rank; d++) {
        char block[32];
        snprintf(block, sizeof block, e->f->fixed_block ? "%d" : "q.block[%d]", e->f->fixed_block ? e->f->block[d] : d);
        line(e, "const $l q_pos%d = ($l)q_blkidx%d * %s + q_blkpos%d;", d, d, block, d);
    }
    if (e->exact) return;
    for (int d = 0; d < rank; d++) line(e, "if (q_pos%d >= q.domain[%d]) return;", d, d);
}

/* Prints loops over all positions for a single work item; the last axis is innermost. */
static void walk_axes(Clike *e) {
    int rank = e->f->rank;
    for (int d = 0; d < rank; d++) {
        line(e, "for ($l q_pos%d = 0; q_pos%d < q.domain[%d]; q_pos%d++) {", d, d, d, d);
        e->depth++;
        if (kir_knows_blocks(e->f))
            line(e, "const int q_blkidx%d = (int)(q_pos%d / q.block[%d]), q_blkpos%d = (int)(q_pos%d %% q.block[%d]);",
                 d, d, d, d, d, d);
    }
}

static void end_walk(Clike *e) {
    if (kir_has(e->f, K_RET) || kir_has(e->f, K_CHECK)) line(e, "q_next:;");
    for (int d = 0; d < e->f->rank; d++) e->depth--, line(e, "}");
}

static void prepare_shared(Clike *e) {
    const KFunc *f = e->f;
    bool clears = false;
    for (uint32_t i = 1; i < f->nins; i++) {
        if (f->ins[i].op != K_SHARED) continue;
        e->pos = f->ins[i].pos;
        line(e, "$s%s v%u[%u];", stored_name(e, (qs_dtype)f->ins[i].dtype), i, (unsigned)f->ins[i].imm);
    }
    e->pos = 0;
    if (e->ending) line(e, "$s$w q_word;");
    if (!e->exact) return;
    line(e, "const $u q_item = ($u)(get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * "
            "get_local_id(2)));");
    line(e, "const $u q_items = ($u)(get_local_size(0) * get_local_size(1) * get_local_size(2));");
    for (uint32_t i = 1; i < f->nins; i++) {
        if (f->ins[i].op != K_SHARED || !f->ins[i].flag) continue;
        line(e, "for ($u q_i = q_item; q_i < %u; q_i += q_items) v%u[q_i] = 0;", (unsigned)f->ins[i].imm, i);
        clears = true;
    }
    if (clears) line(e, "barrier(CLK_LOCAL_MEM_FENCE);");
}

static void array_pointers(Clike *e) {
    for (int i = 0; i < e->f->nparams; i++) {
        const KParam *p = &e->f->params[i];
        if (p->kind != KP_ARRAY) continue;
        const char *t = element_name(e, (qs_dtype)p->dtype), *constness = p->written ? "" : "const ";
        line(e, "$g%s%s *x%d = ($g%s%s *)(b%d + d%d.v[0]);", constness, t, i, constness, t, i, i);
    }
}

static void body(Clike *e) {
    e->depth = 1;
    array_pointers(e);
    prepare_shared(e);
    if (walks(e)) walk_axes(e);
    else place_axes(e);
    if (e->ending) line(e, "bool q_live = true;");
    for (uint32_t i = 1; i < e->f->nins; i++) {
        if (e->split && i == e->split->prologue_end) i = e->split->fast - 1; /* begin_interior prints the test */
        e->pos = e->f->ins[i].pos;
        instruction(e, i);
    }
    e->pos = 0;
    if (walks(e)) end_walk(e);
}

/* Works like line, outside of the kernel. */
static void QS_PRINTF(3, 4) put(const Clike *e, Text *out, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    qnum_vprint(text, sizeof text, fmt, ap);
    va_end(ap);
    append_words(out, e->dialect, text);
}

static void print_types(const Clike *e, Text *out) {
    const KFunc *f = e->f;
    int n = f->rank;
    bool ranks[QS_MAX_RANK + 1] = {false};
    put(e, out, "typedef struct { $l domain[%d]; int block[%d], extent[%d], first[%d], span[%d], count[%d]; } ", n, n,
        n, n, n, n);
    put(e, out, "q_launch;\n");
    for (int i = 0; i < f->nparams; i++) {
        int r = f->params[i].rank;
        if (f->params[i].kind != KP_ARRAY || ranks[r]) continue;
        put(e, out, "typedef struct { $l v[%d]; } q_view%d;\n", 1 + 2 * r, r);
        ranks[r] = true;
    }
    for (int d = 0; d < QS_NDTYPES; d++)
        for (unsigned h = 0; h <= H_FAULT; h++)
            if (e->helpers[d] >> h & 1) print_helper(e, out, (Helper)h, (qs_dtype)d);
    if (e->atomics.len) append_words(out, e->dialect, e->atomics.s);
}

static void print_signature(const Clike *e, const char *entry, Text *out) {
    put(e, out, "$k %s(const q_launch q", entry);
    for (int i = 0; i < e->f->nparams; i++) {
        const KParam *p = &e->f->params[i];
        if (p->kind == KP_ARRAY) put(e, out, ",\n        $g$c *b%d, const q_view%d d%d", i, p->rank, i);
        else put(e, out, ",\n        const %s n%d", p->dtype == QS_B1 ? "$c" : type_name(e, (qs_dtype)p->dtype), i);
    }
    put(e, out, e->fault ? ",\n        $gq_fault *q_f) {\n" : ") {\n");
}

/* Appends the source positions of all lines: 0 for the lines in `out`, then those of the body. */
static void print_lines(const Clike *e, const Text *out, Text *lines) {
    static const uint32_t none;
    for (size_t i = 0; i < out->len; i++)
        if (out->s[i] == '\n') qtext_add(lines, (const char *)&none, sizeof none);
    qtext_add(lines, e->lines.s, e->lines.len);
}

void kclike_print(Ctx *c, const Dialect *d, const KFunc *f, const char *entry, Text *out, Text *lines) {
    Arena arena;
    PipelineResult lowered;
    Clike e = {.dialect = d};
    qarena_init(&arena, c);
    kpipeline_run(c, &arena, f, d->pipeline, &lowered, NULL);
    e.f = lowered.func, e.split = lowered.split, e.can = lowered.can;
    qtext_init(&e.body, c), qtext_init(&e.lines, c), qtext_init(&e.atomics, c);
    e.marks = qarena_alloc(&arena, qmem_size(e.f->nins, sizeof *e.marks, 0));
    survey(&e);
    mark_regions(&e);
    body(&e);
    d->head(&e, out);
    print_types(&e, out);
    print_signature(&e, entry, out);
    if (lines) print_lines(&e, out, lines);
    qtext_add(out, e.body.s, e.body.len);
    qtext_puts(out, "}\n");
    qtext_free(&e.body), qtext_free(&e.lines), qtext_free(&e.atomics);
    qarena_free(&arena);
}
