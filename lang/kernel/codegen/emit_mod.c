/* emit_mod.c -- defines functions for the exact remainder of floats (ksem_MOD_F32), of one value and of vectors.
 *
 *     q = a/b;  r = a - floor(q)*b, rounded once      if q is so small that floor(q) is off by at most one
 *     r = fmod(a, b)                                  otherwise, value by value
 *     result: r + b if the signs of r and b differ, else r; a zero gets the sign of b
 *
 * The two values of r are equal or differ by b; the last step makes them equal.  One value with -b <= a < 2*b, as an
 * index that wraps around, needs no division: a, a + b or a - b is the result. */
#include "lang/kernel/codegen/emit_llvm.h"

#include <stdio.h>
#include <string.h>

/* Text of the function.  $N: its name; $T: the type; $B: the type of comparisons; $M: the type in names of intrinsics;
 * $L: the largest quotient; $I: infinity.  The rare case is a separate function, so that the common one needs no stack.
 * The function is not internal, because LLVM would then specialize it for constant arguments, and the vectorizer has
 * vector variants only of the original one. */
static const char begin_text[] = "define $T @$N($T %a, $T %b) noinline nounwind willreturn memory(none) {\n";
static const char wrap_text[] = "  %least = fneg $T %b\n  %twice = fadd $T %b, %b\n"
                                "  %above = fcmp oge $T %a, %least\n  %below = fcmp olt $T %a, %twice\n"
                                "  %one = and i1 %above, %below\n  br i1 %one, label %wrap, label %divide\n"
                                "wrap:\n  %negative = fcmp olt $T %a, 0.0\n  %inside = fcmp olt $T %a, %b\n"
                                "  %up = fadd $T %a, %b\n  %back = fsub $T %a, %b\n  %same = fadd $T %a, 0.0\n"
                                "  %w = select i1 %inside, $T %same, $T %back\n"
                                "  %wrapped = select i1 %negative, $T %up, $T %w\n  ret $T %wrapped\ndivide:\n";
static const char quotient_text[] = "  %q = fdiv $T %a, %b\n  %down = call $T @llvm.floor.$M($T %q)\n"
                                    "  %n = fneg $T %down\n"
                                    "  %r = call $T @llvm.fma.$M($T %n, $T %b, $T %a)\n"
                                    "  %aq = call $T @llvm.fabs.$M($T %q)\n  %ab = call $T @llvm.fabs.$M($T %b)\n"
                                    "  %small = fcmp olt $T %aq, $L\n  %finite = fcmp olt $T %ab, $I\n"
                                    "  %good = and $B %small, %finite\n";
static const char branch_text[] =
    "  br i1 %all, label %quotient, label %fmod, !prof !{!\"branch_weights\", i32 1000, i32 1}\n"
    "fmod:\n  %f = tail call $T @fmod_$N($T %a, $T %b)\n  ret $T %f\nquotient:\n";
static const char fmod_text[] =
    "define internal $T @fmod_$N($T %a, $T %b) noinline cold nounwind willreturn memory(none) {\n";
static const char settle_text[] = "  %zero = fcmp oeq $T %r, zeroinitializer\n"
                                  "  %rm = fcmp olt $T %r, zeroinitializer\n"
                                  "  %bm = fcmp olt $T %b, zeroinitializer\n"
                                  "  %differ = xor $B %rm, %bm\n  %sum = fadd $T %r, %b\n"
                                  "  %moved = select $B %differ, $T %sum, $T %r\n"
                                  "  %none = call $T @llvm.copysign.$M($T zeroinitializer, $T %b)\n"
                                  "  %m = select $B %zero, $T %none, $T %moved\n  ret $T %m\n}\n";

typedef struct {
    const char *name, *scalar, *library; /* library: its fmod, NULL for frem */
    int lanes;
    char type[32], mangled[32], truth[32], limit[600], infinity[600];
} ModForm;

/* Formats a vector constant <x, x, …>. */
static void format_constant(char *out, size_t n, const ModForm *m, const char *value) {
    size_t at = 0;
    if (m->lanes == 1) {
        snprintf(out, n, "%s", value);
        return;
    }
    for (int i = 0; i < m->lanes; i++)
        at += (size_t)snprintf(out + at, n - at, "%s%s %s", i ? ", " : "<", m->scalar, value);
    snprintf(out + at, n - at, ">");
}

static void print_text(Text *t, const ModForm *m, const char *text) {
    emit_fill(t, text, "NTBMLI", (const char *[]){m->name, m->type, m->truth, m->mangled, m->limit, m->infinity});
}

/* Prints fmod of one value; LLVM compiles frem to a call of the C library. */
static void print_fmod(Text *t, const ModForm *m, const char *to, const char *a, const char *b) {
    if (m->library)
        qtext_printf(t, "  %s = call %s @%s(%s %s, %s %s)\n", to, m->scalar, m->library, m->scalar, a, m->scalar, b);
    else qtext_printf(t, "  %s = frem %s %s, %s\n", to, m->scalar, a, b);
}

/* Prints a test that sets %all if all values are good. */
static void print_test(Text *t, int lanes) {
    if (lanes == 1) qtext_puts(t, "  %all = and i1 %good, true\n");
    else
        qtext_printf(t, "  %%bits = bitcast <%d x i1> %%good to i%d\n  %%all = icmp eq i%d %%bits, -1\n", lanes, lanes,
                     lanes);
}

static void print_fmods(Text *t, const ModForm *m) {
    int n = m->lanes;
    if (n == 1) {
        print_fmod(t, m, "%r", "%a", "%b");
        return;
    }
    for (int i = 0; i < n; i++) {
        char a[16], b[16], r[16], before[16] = "poison", now[16] = "%r";
        snprintf(a, sizeof a, "%%a%d", i), snprintf(b, sizeof b, "%%b%d", i), snprintf(r, sizeof r, "%%r%d", i);
        if (i > 0) snprintf(before, sizeof before, "%%v%d", i - 1);
        if (i < n - 1) snprintf(now, sizeof now, "%%v%d", i);
        qtext_printf(t, "  %s = extractelement %s %%a, i32 %d\n  %s = extractelement %s %%b, i32 %d\n", a, m->type, i,
                     b, m->type, i);
        print_fmod(t, m, r, a, b);
        qtext_printf(t, "  %s = insertelement %s %s, %s %s, i32 %d\n", now, m->type, before, m->scalar, r, i);
    }
}

static void declare_functions(Emit *e, const ModForm *m) {
    const char *t = m->type, *n = m->mangled;
    emit_declare(e, "declare %s @llvm.floor.%s(%s)", t, n, t);
    emit_declare(e, "declare %s @llvm.fabs.%s(%s)", t, n, t);
    emit_declare(e, "declare %s @llvm.copysign.%s(%s, %s)", t, n, t, t);
    emit_declare(e, "declare %s @llvm.fma.%s(%s, %s, %s)", t, n, t, t, t);
    if (m->library) emit_declare(e, "declare %s @%s(%s, %s) #1", m->scalar, m->library, m->scalar, m->scalar);
}

static void name_types(ModForm *m, int bits) {
    if (m->lanes == 1) {
        snprintf(m->type, sizeof m->type, "%s", m->scalar);
        snprintf(m->mangled, sizeof m->mangled, "f%d", bits);
        snprintf(m->truth, sizeof m->truth, "i1");
        return;
    }
    snprintf(m->type, sizeof m->type, "<%d x %s>", m->lanes, m->scalar);
    snprintf(m->mangled, sizeof m->mangled, "v%df%d", m->lanes, bits);
    snprintf(m->truth, sizeof m->truth, "<%d x i1>", m->lanes);
}

static void define_mod(Emit *e, qs_dtype d, const char *name, int lanes) {
    bool single = d == QS_F32;
    ModForm m = {.name = name, .scalar = emit_type(d), .lanes = lanes};
    if (e->t->libdevice) m.library = single ? "__nv_fmodf" : "__nv_fmod";
    name_types(&m, single ? 32 : 64);
    format_constant(m.limit, sizeof m.limit, &m, single ? "0x4150000000000000" : "0x4320000000000000"); /* 2^22, 2^51 */
    format_constant(m.infinity, sizeof m.infinity, &m, "0x7FF0000000000000");
    declare_functions(e, &m);
    print_text(&e->decls, &m, begin_text);
    if (lanes == 1) print_text(&e->decls, &m, wrap_text);
    print_text(&e->decls, &m, quotient_text);
    print_test(&e->decls, lanes);
    print_text(&e->decls, &m, branch_text);
    print_text(&e->decls, &m, settle_text);
    print_text(&e->decls, &m, fmod_text);
    print_fmods(&e->decls, &m);
    print_text(&e->decls, &m, settle_text);
}

const char *emit_mod(Emit *e, qs_dtype d) {
    const char *name = d == QS_F32 ? "mod_f32" : "mod_f64";
    char mark[16];
    Text list;
    snprintf(mark, sizeof mark, "@%s(", name);
    if (e->decls.len && strstr(e->decls.s, mark)) return name;
    qtext_init(&list, e->c);
    define_mod(e, d, name, 1);
    for (const char *isa = e->t->mvec; *isa; isa++) {
        char variant[40];
        int lanes = emit_lanes(*isa, d);
        snprintf(variant, sizeof variant, "_ZGV%cN%dvv_%s", *isa, lanes, name);
        define_mod(e, d, variant, lanes);
        qtext_printf(&list, "%s%s(%s)", list.len ? "," : "", variant, variant);
    }
    emit_declare(e, "attributes #%d = { nounwind willreturn memory(none)%s%s%s }", emit_mod_attributes(d),
                 list.len ? " \"vector-function-abi-variant\"=\"" : "", list.len ? list.s : "", list.len ? "\"" : "");
    qtext_free(&list);
    return name;
}
