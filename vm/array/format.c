/* format.c -- converts values to text: the output of print, the echo of the prompt, and C-like formats. */
#include "lang/syntax/ast.h"
#include "vm/array/array.h"
#include "vm/base/number.h"
#include "vm/base/utf8.h"
#include "vm/base/warning.h"
#include "vm/quasar.h"
#include "vm/value/trace.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- numbers ------------------------------------------------------------------------------------------------------- */

enum { DIGITS_FLOAT = 6, DIGITS_DOUBLE = 15 };
static const double plain_limit = 1e15; /* integers below it are written in full, whatever their type */

/* Appends the fewest digits that read back as the same 16-bit float. */
static void add_short_float(Text *t, double x, qs_dtype d) {
    char text[32];
    uint16_t same, back;
    qdtype_put(d, &same, x);
    for (int digits = 1; digits <= DIGITS_FLOAT; digits++) {
        qnum_print(text, sizeof text, "%.*g", digits, x);
        qdtype_put(d, &back, qnum_read(text, NULL));
        if (back == same) break;
    }
    qtext_puts(t, text);
}

static void add_integer_text(Text *t, int64_t n) {
    char digits[INTEGER_TEXT];
    qtext_add(t, digits, qnum_digits(digits, n));
}

/* Appends a number with at most 6 (float32) or 15 digits. */
static void add_rounded(Text *t, double x, qs_dtype d) {
    if (isnan(x)) qtext_puts(t, "nan");
    else if (x == 0 && signbit(x)) qtext_puts(t, "-0");
    else if (x == trunc(x) && fabs(x) < plain_limit) add_integer_text(t, (int64_t)x);
    else if (qdtype_is_short(d)) add_short_float(t, x, d);
    else qtext_printf(t, "%.*g", d == QS_F32 || d == QS_C64 ? DIGITS_FLOAT : DIGITS_DOUBLE, x);
}

static void add_complex(Text *t, double re, double im, qs_dtype d) {
    add_rounded(t, re, d);
    if (isnan(im) || !signbit(im)) qtext_putc(t, '+');
    add_rounded(t, im, d);
    qtext_putc(t, 'j');
}

static void add_element(Text *t, qs_dtype d, const void *p) {
    switch (d) {
    case QS_I64: qtext_printf(t, "%lld", (long long)*(const int64_t *)p); break;
    case QS_U64: qtext_printf(t, "%llu", (unsigned long long)*(const uint64_t *)p); break;
    case QS_C64: add_complex(t, (double)((const QComplexF *)p)->re, (double)((const QComplexF *)p)->im, d); break;
    case QS_C128: add_complex(t, ((const QComplexD *)p)->re, ((const QComplexD *)p)->im, d); break;
    default: add_rounded(t, qdtype_get(d, p), d); break;
    }
}

/* -- nested brackets: arrays and cells ----------------------------------------------------------------------------- */

typedef struct Above {
    const struct Above *up;
    const void *p;
} Above; /* list of the containers around a value, innermost first */

typedef struct {
    qs_vm *vm;
    Text *t;
    bool brief;
    bool made; /* shows the shape that arrays were created with (qarr_shape) instead of the normal form */
} Printer;

enum {
    EDGE = 3,       /* entries shown at each end of a shortened dimension: one of the last two */
    OUTER_EDGE = 1, /* the same for the other dimensions */
    BRIEF_ELEMENTS = 200,
    BRIEF_ITEMS = 50,
    BRIEF_CHARS = 2000, /* the brief form shortens larger arrays, cells and strings */
    DEPTH_MAX = 100     /* containers nested deeper than this are shown as … */
};
static const size_t text_limit = (size_t)1 << 28; /* bytes; limits the output if shared parts repeat exponentially */

typedef struct Grid Grid;
struct Grid {
    Printer *p;
    int rank;
    const int64_t *dims;
    bool lines; /* one row per line */
    bool shortened;
    const char *brackets;
    qs_status (*item)(Grid *g, size_t linear);
    const void *of;   /* array or cell that `item` reads */
    const char *data; /* an array's first element */
    const Above *above;
    int depth;
    const struct Spec *spec;
};

static void add_separator(Grid *g, int level) {
    qtext_putc(g->p->t, ',');
    if (!g->lines || level == g->rank - 1) return;
    qtext_putc(g->p->t, '\n');
    qtext_pad(g->p->t, ' ', (size_t)level + 1);
}

/* Appends the part of the grid whose first `level` indices are given by the linear index `prefix`. */
static qs_status add_level(Grid *g, int level, size_t prefix) {
    int64_t n = g->dims[level], edge = level < g->rank - 2 ? OUTER_EDGE : EDGE;
    qtext_putc(g->p->t, g->brackets[0]);
    for (int64_t i = 0; i < n; i++) {
        if (i) add_separator(g, level);
        if (g->shortened && n > 2 * edge + 1 && i == edge) {
            qtext_puts(g->p->t, "…");
            i = n - edge - 1;
            continue;
        }
        size_t at = prefix * (size_t)n + (size_t)i;
        TRY(level == g->rank - 1 ? g->item(g, at) : add_level(g, level + 1, at));
    }
    qtext_putc(g->p->t, g->brackets[1]);
    return QS_OK;
}

static qs_status add_grid(Grid *g) {
    for (int i = 0; i < g->rank; i++)
        if (g->dims[i] == 0) { /* the other extents may be huge */
            g->shortened = g->p->brief && g->rank > 1;
            qtext_puts(g->p->t, g->brackets);
            return QS_OK;
        }
    return g->rank ? add_level(g, 0, 0) : g->item(g, 0);
}

static qs_status element_item(Grid *g, size_t linear) {
    const Array *a = g->of;
    size_t size = qdtype_size((qs_dtype)a->dtype);
    add_element(g->p->t, (qs_dtype)a->dtype, g->data + (ptrdiff_t)(qarr_offset(a, linear) * size));
    return QS_OK;
}

/* Appends " (4096x4096 float32)". */
static void add_extents(Text *t, int rank, const int64_t *dims, const char *element) {
    for (int i = 0; i < rank; i++) qtext_printf(t, "%s%lld", i ? "x" : " (", (long long)dims[i]);
    qtext_printf(t, "%s%s)", *element ? " " : "", element);
}

static qs_status add_array(Printer *p, Array *a, bool lines) {
    const void *data;
    int64_t made[QS_MAX_RANK];
    const int64_t *dims = p->made ? made : a->dims;
    int rank = p->made ? qarr_shape(a, made, NULL) : a->rank;
    TRY(qarr_read(p->vm, a, &data));
    Grid g = {.p = p, .rank = rank, .dims = dims, .brackets = "[]", .item = element_item, .of = a};
    g.lines = lines;
    g.shortened = p->brief && a->count > BRIEF_ELEMENTS;
    g.data = data;
    TRY(add_grid(&g));
    if (g.shortened) add_extents(p->t, rank, dims, qdtype_info[a->dtype].name);
    return QS_OK;
}

static qs_status add_value(Printer *p, qs_value v, const Above *above, int depth);

static qs_status cell_item(Grid *g, size_t linear) {
    return add_value(g->p, ((const Cell *)g->of)->items[linear], g->above, g->depth);
}

static qs_status add_cell(Printer *p, const Cell *c, const Above *above, int depth) {
    Grid g = {.p = p, .rank = c->rank, .dims = c->dims, .brackets = "{}", .item = cell_item, .of = c};
    g.lines = depth == 1;
    g.shortened = p->brief && c->count > BRIEF_ITEMS;
    g.above = above;
    g.depth = depth;
    TRY(add_grid(&g));
    if (g.shortened) add_extents(p->t, c->rank, c->dims, "");
    return QS_OK;
}

/* -- everything else ----------------------------------------------------------------------------------------------- */

static void add_string(Printer *p, const Str *s, bool quoted) {
    size_t n = s->len;
    bool cut = p->brief && n > BRIEF_CHARS;
    if (cut)
        for (n = BRIEF_CHARS; n && ((unsigned char)s->s[n] & 0xC0) == 0x80;) n--;
    if (quoted) qtext_putc(p->t, '"');
    for (size_t i = 0; i < n; i++) {
        if (quoted && s->s[i] == '"') qtext_putc(p->t, '"'); /* as in a program */
        qtext_putc(p->t, s->s[i]);
    }
    if (cut) qtext_puts(p->t, "…");
    if (quoted) qtext_putc(p->t, '"');
}

/* Whether the text is a name of the language, which cannot be mistaken for a number, an empty key or two keys. */
static bool is_name(const Str *s) {
    bool word = s->len && !(s->s[0] >= '0' && s->s[0] <= '9');
    for (uint32_t i = 0; i < s->len && word; i++) {
        char c = s->s[i];
        word = c == '_' || (c >= '0' && c <= '9') || (unsigned)((c | 32) - 'a') < 26;
    }
    return word;
}

/* Dictionaries are shown as they are written in programs, {"a": 1}, and other objects with the names of their fields,
 * object{a: 1}. */
static qs_status add_object(Printer *p, const Object *o, const Above *above, int depth) {
    bool dictionary = qobj_is_dictionary(o);
    qs_value key, v;
    if (dictionary && !qobj_count(o)) return qtext_puts(p->t, "dict()"), QS_OK;
    qtext_printf(p->t, "%s{", o->cls ? o->cls->name->s : dictionary ? "" : "object");
    for (uint32_t i = 0; qobj_entry(o, i, &key, &v); i++) {
        qtext_puts(p->t, i ? ", " : "");
        if (key.kind == QS_STRING) add_string(p, key.u.p, dictionary || !is_name(key.u.p));
        else TRY(add_value(p, key, above, depth));
        qtext_puts(p->t, ": ");
        TRY(add_value(p, v, above, depth));
    }
    qtext_putc(p->t, '}');
    return QS_OK;
}

static void add_function(Text *t, const Function *f) {
    static const char *const words[] = {[Q_HOST] = "function", [Q_DEVICE] = "device function", [Q_KERNEL] = "kernel"};
    qtext_puts(t, words[f->fkind == FN_SCRIPT ? f->ast->qual : Q_HOST]);
    if (f->fkind != FN_SCRIPT || !f->ast->is_lambda) qtext_printf(t, " %s", f->name->s);
    if (f->fkind == FN_SET) qtext_printf(t, " (%d overloads)", f->nmembers);
    if (f->fkind != FN_SCRIPT) return;
    qtext_putc(t, '(');
    for (int i = 0; i < f->ast->nparams; i++)
        qtext_printf(t, "%s%s%s", i ? ", " : "", f->ast->params[i].variadic ? "..." : "", f->ast->params[i].name->s);
    qtext_putc(t, ')');
}

static qs_status add_foreign(Printer *p, const Foreign *f) {
    qs_value text;
    if (!f->ftype->format) {
        qtext_printf(p->t, "<%s>", f->ftype->name ? f->ftype->name : "pyvalue");
        return QS_OK;
    }
    TRY(f->ftype->format(p->vm, f->p, &text));
    if (text.kind == QS_STRING) add_string(p, text.u.p, false);
    qval_release(p->vm, text);
    return QS_OK;
}

static void add_type(Text *t, const TypeValue *v) {
    qtext_puts(t, qtype_name(v->type));
    if (v->mods.access != ACC_DEFAULT) qtext_printf(t, "'%s", qaccess_name((AccessMode)v->mods.access));
}

static bool is_above(const Above *above, const void *p) {
    for (; above; above = above->up)
        if (above->p == p) return true;
    return false;
}

static qs_status add_container(Printer *p, qs_value v, const Above *above, int depth) {
    Above here = {above, v.u.p};
    if (is_above(above, v.u.p) || depth == DEPTH_MAX || p->t->len > text_limit) return qtext_puts(p->t, "…"), QS_OK;
    return v.kind == QS_CELL ? add_cell(p, v.u.p, &here, depth + 1) : add_object(p, v.u.p, &here, depth + 1);
}

/* Appends any value.  depth: number of containers around v.  At depth 0 a string is not quoted and a matrix has one
 * line per row. */
static qs_status add_value(Printer *p, qs_value v, const Above *above, int depth) {
    switch ((qs_kind)v.kind) {
    case QS_NIL: qtext_puts(p->t, qval_type_name(p->vm, v)); break;
    case QS_BOOL:
    case QS_INT: add_integer_text(p->t, v.u.i); break;
    case QS_NUM: add_rounded(p->t, v.u.f, QS_F64); break;
    case QS_COMPLEX: add_complex(p->t, ((Complex *)v.u.p)->re, ((Complex *)v.u.p)->im, QS_C128); break;
    case QS_STRING: add_string(p, v.u.p, depth > 0 || p->brief); break;
    case QS_ARRAY: return add_array(p, v.u.p, depth == 0);
    case QS_CELL:
    case QS_OBJECT: return add_container(p, v, above, depth);
    case QS_FUNCTION: add_function(p->t, v.u.p); break;
    case QS_TYPE: add_type(p->t, v.u.p); break;
    case QS_FOREIGN: return add_foreign(p, v.u.p);
    case QS_TRACED: return add_value(p, qtape_plain(v), above, depth);
    }
    return QS_OK;
}

qs_status qfmt_value(qs_vm *vm, qs_value v, Text *t) {
    Printer p = {vm, t, false, false};
    return add_value(&p, v, NULL, 0);
}

qs_status qfmt_brief(qs_vm *vm, qs_value v, Text *t) {
    Printer p = {vm, t, true, false};
    return add_value(&p, v, NULL, 0);
}

qs_status qfmt_made(qs_vm *vm, qs_value v, bool is_brief, Text *t) {
    Printer p = {vm, t, is_brief, true};
    return add_value(&p, v, NULL, 0);
}

/* -- C-like formats ------------------------------------------------------------------------------------------------ */

enum { WIDTH_MAX = 4096 }; /* limit of width and precision, so that a typo cannot use up all memory */

typedef struct Spec { /* a conversion specification: %-08.3f */
    char flags[8];
    int width, prec; /* prec -1: not given */
    char conv;
} Spec;

typedef struct {
    Printer p;
    const char *at, *end; /* rest of the format */
    int nargs, next;
    const qs_value *args;
} Format;

static qs_status take_argument(Format *f, qs_value *v) {
    bool list = false;
    for (int i = 0; i < f->nargs; i++) list |= f->args[i].kind == QS_ARRAY && qval_array(f->args[i])->count > 1;
    if (f->next == f->nargs)
        return qerr_set(qvm_ctx(f->p.vm), QS_EVALUE, "the format asks for more than the %d value%s given%s", f->nargs,
                        f->nargs == 1 ? "" : "s", list ? ": elements are given one by one, x[0], x[1]" : "");
    *v = f->args[f->next++];
    return QS_OK;
}

/* Builds the C format for one field; width and precision are passed as arguments (*). */
static const char *c_format(const Spec *s, const char *length, char conv, char text[16]) {
    snprintf(text, 16, "%%%s*.*%s%c", s->flags, length, conv);
    return text;
}

static void add_real(Text *t, const Spec *s, double x) {
    char text[16];
    char conv = strchr("di", s->conv) ? 'f' : s->conv; /* an integer too large for int64, inf or nan under %d */
    Spec whole = *s;
    if (conv != s->conv) whole.prec = 0;
    qtext_printf(t, c_format(&whole, "", conv, text), s->width, whole.prec, isnan(x) ? (double)NAN : x);
}

static void add_integer(Text *t, const Spec *s, qs_value v) {
    char text[16];
    double x = v.kind == QS_NUM ? trunc(v.u.f) : 0;
    bool decimal = s->conv == 'd' || s->conv == 'i';
    if (decimal && !(fabs(x) < 0x1p63)) {
        add_real(t, s, x);
        return;
    }
    int64_t i = v.kind == QS_NUM ? qdtype_sat_i64(x, INT64_MIN, INT64_MAX) : v.u.i;
    if (decimal && !*s->flags && !s->width && s->prec < 0) return qtext_printf(t, "%lld", (long long)i);
    qtext_printf(t, c_format(s, "ll", s->conv, text), s->width, s->prec, (long long)i);
}

static bool integer_conv(char conv) { return strchr("diuxXo", conv) != NULL; }

/* Appends an integer beyond int64. */
static void add_large(Text *t, const Spec *s, uint64_t x) {
    char text[16], conv = s->conv == 'd' || s->conv == 'i' ? 'u' : s->conv;
    qtext_printf(t, c_format(s, "ll", conv, text), s->width, s->prec, (unsigned long long)x);
}

static void add_number(Text *t, const Spec *s, qs_value v) {
    if (integer_conv(s->conv)) add_integer(t, s, v);
    else add_real(t, s, qval_number(v));
}

/* Appends 3.00+4.00j; the width does not apply to the parts. */
static void add_complex_field(Text *t, const Spec *s, const Complex *z) {
    Spec part = *s;
    part.width = 0;
    add_number(t, &part, qs_num(z->re));
    if (!strchr(part.flags, '+')) memmove(part.flags + 1, part.flags, sizeof part.flags - 1), part.flags[0] = '+';
    add_number(t, &part, qs_num(z->im));
    qtext_putc(t, 'j');
}

static qs_status add_numeric(Printer *p, const Spec *s, qs_value v, int number);

static qs_status formatted_item(Grid *g, size_t linear) {
    qs_value v;
    uint64_t whole;
    bool large;
    TRY(qarr_get_large(g->p->vm, (Array *)g->of, linear, &whole, &large));
    if (large && integer_conv(g->spec->conv)) return add_large(g->p->t, g->spec, whole), QS_OK;
    TRY(qarr_get(g->p->vm, (Array *)g->of, linear, &v));
    qs_status s = add_numeric(g->p, g->spec, v, 0);
    qval_release(g->p->vm, v);
    return s;
}

/* Appends a number or array.  Arrays are formatted element by element: printf("%d", size(x)) shows [129,257]. */
static qs_status add_numeric(Printer *p, const Spec *s, qs_value v, int number) {
    if (qval_is_number(v)) return add_number(p->t, s, v), QS_OK;
    if (v.kind == QS_COMPLEX) return add_complex_field(p->t, s, v.u.p), QS_OK;
    if (v.kind != QS_ARRAY)
        return qerr_set(qvm_ctx(p->vm), QS_ETYPE, "%%%c needs a number, but value %d is %s", s->conv, number,
                        qval_type_name(p->vm, v));
    Array *a = v.u.p;
    Grid g = {.p = p, .rank = a->rank, .dims = a->dims, .brackets = "[]", .item = formatted_item, .of = a, .spec = s};
    return add_grid(&g);
}

/* Appends text for %s; width and precision count characters, not bytes. */
static void add_padded(Text *t, const Spec *s, const char *text, size_t n) {
    size_t chars = 0, bytes = 0;
    for (; bytes < n; bytes++) {
        if (qutf8_continues(text[bytes])) continue;
        if (s->prec >= 0 && chars == (size_t)s->prec) break;
        chars++;
    }
    bool left = s->width < 0 || strchr(s->flags, '-');
    size_t width = (size_t)(s->width < 0 ? -s->width : s->width), blanks = width > chars ? width - chars : 0;
    if (!left) qtext_pad(t, ' ', blanks);
    qtext_add(t, text, bytes);
    if (left) qtext_pad(t, ' ', blanks);
}

static qs_status add_text(Printer *p, const Spec *s, qs_value v) {
    if (v.kind == QS_STRING) return add_padded(p->t, s, ((Str *)v.u.p)->s, ((Str *)v.u.p)->len), QS_OK;
    Text text;
    qtext_init(&text, p->t->ctx);
    qs_status st = qfmt_value(p->vm, v, &text);
    if (st == QS_OK) st = qtext_status(&text);
    if (st == QS_OK) add_padded(p->t, s, text.s ? text.s : "", text.len);
    qtext_free(&text);
    return st;
}

static qs_status add_char(Printer *p, const Spec *s, qs_value v, int number) {
    char utf8[4];
    if (v.kind == QS_STRING) return add_text(p, s, v);
    if (!qval_is_number(v))
        return qerr_set(qvm_ctx(p->vm), QS_ETYPE, "%%c needs a character code or a string, but value %d is %s", number,
                        qval_type_name(p->vm, v));
    uint32_t c = (uint32_t)qdtype_sat_u64(qval_number(v), 0x110000);
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return qerr_set(qvm_ctx(p->vm), QS_EVALUE, "%%c: value %d is not a character code", number);
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6) utf8[i] = (char)(0x80 | (c & 0x3F));
    utf8[0] = (char)(n == 1 ? c : ((0xF0u << (4 - n)) & 0xFF) | c);
    add_padded(p->t, s, utf8, n);
    return QS_OK;
}

/* Reads a width or precision: digits, or * for the next argument. */
static qs_status read_count(Format *f, int *out) {
    qs_value v;
    double n = 0;
    if (f->at < f->end && *f->at == '*') {
        f->at++;
        TRY(take_argument(f, &v));
        if (!qval_is_number(v))
            return qerr_set(qvm_ctx(f->p.vm), QS_ETYPE, "* in a format needs a number, but value %d is %s", f->next,
                            qval_type_name(f->p.vm, v));
        n = trunc(qval_number(v));
    }
    for (; f->at < f->end && isdigit((unsigned char)*f->at); f->at++) n = n * 10 + (*f->at - '0');
    if (!(fabs(n) <= WIDTH_MAX))
        return qerr_set(qvm_ctx(f->p.vm), QS_EVALUE, "a width in the format is beyond %d", WIDTH_MAX);
    *out = (int)n;
    return QS_OK;
}

static qs_status fail_unknown(Format *f, char conversion) {
    return qerr_set(qvm_ctx(f->p.vm), QS_EVALUE, "unknown conversion %%%c in the format; write %%%% for a percent sign",
                    isprint((unsigned char)conversion) ? conversion : '?');
}

static qs_status read_spec(Format *f, Spec *s) {
    size_t n = 0;
    *s = (Spec){.prec = -1};
    for (; f->at < f->end && *f->at && strchr("-+ #0", *f->at); f->at++)
        if (n < sizeof s->flags - 2 && !strchr(s->flags, *f->at)) s->flags[n++] = *f->at;
    TRY(read_count(f, &s->width));
    if (f->at < f->end && *f->at == '.') {
        f->at++;
        TRY(read_count(f, &s->prec));
    }
    const char *size = f->at;
    while (f->at < f->end && *f->at && strchr("hlLjzt", *f->at)) f->at++; /* C's sizes mean nothing here */
    if (f->at == f->end)
        return size < f->at ? fail_unknown(f, *size)
                            : qerr_set(qvm_ctx(f->p.vm), QS_EVALUE,
                                       "the format ends inside a conversion; write %%%% for a percent sign");
    s->conv = *f->at++;
    return QS_OK;
}

static qs_status add_conversion(Format *f) {
    Spec s;
    qs_value v;
    TRY(read_spec(f, &s));
    if (s.conv == '%') return qtext_putc(f->p.t, '%'), QS_OK;
    if (!s.conv || !strchr(QNUM_CONVERSIONS, s.conv)) return fail_unknown(f, s.conv);
    TRY(take_argument(f, &v));
    if (s.conv == 's') return add_text(&f->p, &s, v);
    if (s.conv == 'c') return add_char(&f->p, &s, v, f->next);
    if (integer_conv(s.conv) && v.kind == QS_NUM && v.u.f != trunc(v.u.f) && isfinite(v.u.f))
        TRY(qwarn_at(qvm_ctx(f->p.vm), qvm_here(f->p.vm), "%%%c shows %g as %g: %%g shows all of it", s.conv, v.u.f,
                     trunc(v.u.f)));
    if (s.conv == 'u') s.conv = 'd';
    return add_numeric(&f->p, &s, v, f->next);
}

/* \n \t \\ \" are escapes here and nowhere else in the language; any other backslash is itself. */
static void add_escape(Format *f) {
    static const char from[] = "nt\\\"", to[] = "\n\t\\\"";
    const char *e = f->at < f->end && *f->at ? strchr(from, *f->at) : NULL;
    if (e) f->at++;
    qtext_putc(f->p.t, e ? to[e - from] : '\\');
}

qs_status qfmt_printf(qs_vm *vm, const char *fmt, size_t n, int nargs, const qs_value *args, Text *t) {
    Format f = {{vm, t, false, false}, fmt, fmt + n, nargs, 0, args};
    while (f.at < f.end) {
        char ch = *f.at++;
        if (ch == '%') TRY(add_conversion(&f));
        else if (ch == '\\') add_escape(&f);
        else qtext_putc(t, ch);
    }
    if (f.next == nargs) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "the format uses %d of the %d values given", f.next, nargs);
}
