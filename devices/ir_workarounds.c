/* ir_workarounds.c -- rewrites LLVM IR text line by line. */
#include "devices/ir_workarounds.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *s;
    size_t n;
} Span;

typedef struct { /* "%name = compare a, b", where a or b is zero; or a zext of i32, with an empty `compare` */
    Span name, compare, side[2];
    int zero; /* index of the side that is zero */
} Test;

typedef struct {
    Text *out;
    Test *test; /* tests of the current function */
    uint32_t ntests, cap;
    int mended;
} Mend;

static const char minus_zero[] = "-0.000000e+00";

static bool is_same_span(Span a, Span b) { return a.n == b.n && !memcmp(a.s, b.s, a.n); }
static bool is_zero(Span a) {
    return is_same_span(a, (Span){minus_zero, 13}) || is_same_span(a, (Span){minus_zero + 1, 12});
}
static Span operand_at(const char *s) { return (Span){s, strcspn(s, ", ")}; }
static void put_span(Text *t, Span a) { qtext_add(t, a.s, a.n); }

/* Returns the start of the operation `word` in a line "  %name = word …"; NULL: the line is not of this form. */
static const char *operation(const char *line, const char *word) {
    const char *is = strncmp(line, "  %", 3) ? NULL : strstr(line, " = ");
    return is && !strncmp(is + 3, word, strlen(word)) ? is + 3 : NULL;
}

/* Returns the end of the first scalar type " float " or " double ", or NULL. */
static const char *behind_type(const char *s) {
    const char *at = strstr(s, " float ");
    return at ? at + 7 : (at = strstr(s, " double ")) ? at + 8 : NULL;
}

/* Reads "  %name = zext i32 … to i64", possibly with the flag nneg. */
static bool read_extended(const char *line, Test *t) {
    const char *zext = operation(line, "zext ");
    if (!zext || !strstr(zext, " i32 ") || !strstr(zext, " to i64")) return false;
    *t = (Test){.name = {line + 2, (size_t)(zext - 3 - line - 2)}};
    return true;
}

static bool read_test(const char *line, Test *t) {
    const char *compare = operation(line, "fcmp "), *a = compare ? behind_type(compare) : NULL;
    if (!a) return false;
    t->name = (Span){line + 2, (size_t)(compare - 3 - line - 2)};
    t->compare = (Span){compare, (size_t)(a - compare)};
    t->side[0] = operand_at(a), t->side[1] = operand_at(a + t->side[0].n + 2);
    t->zero = is_zero(t->side[1]);
    return is_zero(t->side[t->zero]);
}

static bool read_gpu(const char *line, Test *t) { return read_extended(line, t) || read_test(line, t); }

static bool is_known(const Mend *m, Span name) {
    for (uint32_t i = 0; i < m->ntests; i++)
        if (is_same_span(m->test[i].name, name)) return true;
    return false;
}

/* Returns the test of this name if one of the two values of the select is the zero of the test; else NULL. */
static const Test *test_of(const Mend *m, const char *name) {
    Span want = operand_at(name);
    const char *a = behind_type(name + want.n), *b = a ? behind_type(a) : NULL;
    for (const Test *t = m->test; b && t < m->test + m->ntests; t++) {
        Span zero = t->side[t->zero];
        if (is_same_span(t->name, want))
            return is_same_span(operand_at(a), zero) || is_same_span(operand_at(b), zero) ? t : NULL;
    }
    return NULL;
}

static bool mend_zero(Mend *m, const char *line) {
    const char *select = operation(line, "select "), *name = select ? strstr(select, " i1 %") : NULL;
    const Test *t = name ? test_of(m, name + 4) : NULL;
    if (!t) return false;
    Span other = *t->side[t->zero].s == '-' ? (Span){minus_zero + 1, 12} : (Span){minus_zero, 13};
    qtext_printf(m->out, "  %%mended.%d = ", ++m->mended);
    put_span(m->out, t->compare);
    put_span(m->out, t->zero ? t->side[0] : other), qtext_puts(m->out, ", ");
    put_span(m->out, t->zero ? other : t->side[1]), qtext_putc(m->out, '\n');
    qtext_add(m->out, line, (size_t)(name + 4 - line));
    qtext_printf(m->out, "%%mended.%d%s\n", m->mended, name + 4 + t->name.n);
    return true;
}

/* Appends a typed constant like "float -1.0" or "<2 x float> <float -1.0, float -1.0>". */
static void put_number(Text *out, Span type, const char *number) {
    const char *of = *type.s == '<' ? strstr(type.s, " x ") + 3 : NULL;
    put_span(out, type);
    for (long i = 0, n = of ? strtol(type.s + 1, NULL, 10) : 0; i < n; i++)
        qtext_puts(out, i ? ", " : " <"), qtext_add(out, of, strcspn(of, ">")), qtext_printf(out, " %s", number);
    if (of) qtext_putc(out, '>');
    else qtext_printf(out, " %s", number);
}

static bool mend_truth(Mend *m, const char *line) {
    const char *cast = operation(line, "sitofp "), *to = cast ? strstr(cast, " to ") : NULL;
    if (!to) return false;
    const char *from = cast + strlen("sitofp "), *inner = *from == '<' ? strstr(from, " x ") + 3 : from;
    if (strncmp(inner, "i1", 2) || !strchr(" >", inner[2])) return false;
    Span type = {to + 4, to[4] == '<' ? strcspn(to + 4, ">") + 1 : strcspn(to + 4, ",")};
    qtext_add(m->out, line, (size_t)(cast - line));
    qtext_puts(m->out, "select "), qtext_add(m->out, from, (size_t)(to - from));
    qtext_puts(m->out, ", "), put_number(m->out, type, "-1.0");
    qtext_puts(m->out, ", "), put_number(m->out, type, "0.0");
    qtext_printf(m->out, "%s\n", type.s + type.n);
    return true;
}

/* Masks the count of a shift, its last operand, to six bits.  A count whose high half is known to be 0 is not masked,
 * because libdevice relies on such counts of 64 and more giving 0. */
static bool mend_shift(Mend *m, const char *line) {
    const char *shift = operation(line, "shl "), *type, *count;
    if (!shift) shift = operation(line, "lshr ");
    type = shift ? strstr(shift, " i64 ") : NULL;
    count = type ? strstr(type, ", %") : NULL;
    Span name = operand_at(count ? count + 2 : "");
    if (!count || is_known(m, name)) return false;
    count += 2;
    qtext_printf(m->out, "  %%mended.%d = and i64 ", ++m->mended);
    put_span(m->out, name), qtext_puts(m->out, ", 63\n");
    qtext_add(m->out, line, (size_t)(count - line));
    qtext_printf(m->out, "%%mended.%d%s\n", m->mended, count + name.n);
    return true;
}

/* Gives the annotations of the kernel their LLVM name. */
static bool name_annotations(Mend *m, const char *line) {
    static const char ours[] = "!" IRMEND_ANNOTATIONS " = ";
    if (strncmp(line, ours, sizeof ours - 1)) return false;
    qtext_printf(m->out, "!nvvm.annotations = %s\n", line + sizeof ours - 1);
    return true;
}

/* Collects the tests of a function before its first line is rewritten, because blocks can be in any order. */
static void collect_tests(Mend *m, const char *line, const char *end, bool (*read)(const char *, Test *)) {
    m->ntests = 0;
    for (; line < end && *line != '}'; line += strlen(line) + 1) {
        qmem_grow(m->out->ctx, &m->test, &m->cap, m->ntests, sizeof *m->test);
        m->ntests += read(line, &m->test[m->ntests]);
    }
}

/* -- aarch64 ------------------------------------------------------------------------------------------------------- */
static bool is_strict(const char *compare) {
    static const char *const predicates[] = {" olt ", " ogt ", " ult ", " ugt "};
    for (int i = 0; i < 4; i++)
        if (strstr(compare, predicates[i])) return true;
    return false;
}

/* Reads a strict comparison like "  %name = fcmp olt …". */
static bool read_strict(const char *line, Test *t) {
    const char *compare = operation(line, "fcmp ");
    if (!compare || !is_strict(compare)) return false;
    t->name = (Span){line + 2, (size_t)(compare - 3 - line - 2)};
    return true;
}

/* Freezes the condition of a line like "  %name = select <4 x i1> %test, …". */
static bool mend_choice(Mend *m, const char *line) {
    const char *select = operation(line, "select "), *at = select ? strstr(select, "i1") : NULL;
    const char *name = at ? at + strcspn(at, " ") + 1 : NULL, *type = at;
    if (!name || !is_known(m, operand_at(name))) return false;
    if (name[-2] == '>')
        while (*type != '<') type--;
    qtext_printf(m->out, "  %%mended.%d = freeze ", ++m->mended);
    qtext_add(m->out, type, (size_t)(name - type)), put_span(m->out, operand_at(name)), qtext_putc(m->out, '\n');
    qtext_add(m->out, line, (size_t)(name - line));
    qtext_printf(m->out, "%%mended.%d%s\n", m->mended, name + operand_at(name).n);
    return true;
}

static void gpu_line(Mend *m, const char *line) {
    if (!mend_truth(m, line) && !mend_zero(m, line) && !mend_shift(m, line) && !name_annotations(m, line))
        qtext_printf(m->out, "%s\n", line);
}

static void aarch64_line(Mend *m, const char *line) {
    if (!mend_choice(m, line)) qtext_printf(m->out, "%s\n", line);
}

static void each_line(char *ir, bool (*read)(const char *, Test *), void (*mend)(Mend *, const char *), Text *out) {
    Mend m = {.out = out};
    const char *end = ir + strlen(ir);
    for (char *p = ir; (p = strchr(p, '\n'));) *p++ = 0;
    out->len = 0;
    for (const char *line = ir; line < end; line += strlen(line) + 1) {
        if (!strncmp(line, "define ", 7)) collect_tests(&m, line, end, read);
        mend(&m, line);
    }
    qmem_free(out->ctx, m.test, m.cap * sizeof *m.test);
}

void qirfix_gpu(char *ir, Text *out) { each_line(ir, read_gpu, gpu_line, out); }
void qirfix_aarch64(char *ir, Text *out) { each_line(ir, read_strict, aarch64_line, out); }
