/* json.c -- converts JSON text (RFC 8259) to values and back.
 *
 * An object becomes object(), a list of numbers a vec[float64], a list of arrays of numbers with equal shape an array
 * with one more dimension, any other list a cell.  An array is written with the dimensions of its creation: [[10,20]]
 * has two (qarr_shape).  null among numbers is read as nan, and nan and infinities are written as null, as in MATLAB;
 * NaN and Infinity, which Python writes, are also read. */
#include "stdlib/builtins.h"
#include "vm/base/number.h"
#include "vm/base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 512 };

/* -- reading ------------------------------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    const char *fn, *text, *at, *end; /* *end is NUL */
    int depth;
    qs_value *items; /* stack of finished values; the innermost list is on top */
    uint32_t n, cap;
} Reader;

static qs_status unexpected(Reader *r, const char *wanted) {
    size_t line = 1, column = 1;
    for (const char *s = r->text; s < r->at; s++) column = *s == '\n' ? (line++, 1u) : column + 1;
    if (r->at == r->end) return qs_fail(r->vm, QS_EVALUE, "%s: the text ends where %s was expected", r->fn, wanted);
    return qs_fail(r->vm, QS_EVALUE, "%s: line %zu, column %zu: expected %s, got \"%.10s\"", r->fn, line, column,
                   wanted, r->at);
}

static void blanks(Reader *r) { r->at += strspn(r->at, " \t\r\n"); }

static bool take_char(Reader *r, char c) {
    blanks(r);
    return *r->at == c && r->at < r->end ? (r->at++, true) : false;
}

static void push_value(Reader *r, qs_value v) {
    qmem_grow(qvm_ctx(r->vm), &r->items, &r->cap, r->n, sizeof *r->items);
    r->items[r->n++] = v;
}

static void drop_values(Reader *r, uint32_t n) {
    while (r->n > n) qval_release(r->vm, r->items[--r->n]);
}

static bool hex4(const char *s, uint32_t *out) {
    *out = 0;
    for (int i = 0; i < 4; i++) {
        char c = s[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit < 0) return false;
        *out = *out << 4 | (uint32_t)digit;
    }
    return true;
}

/* Reads the digits after "\u".  An unpaired surrogate becomes U+FFFD. */
static qs_status code_point(Reader *r, Text *t) {
    uint32_t c, low;
    if (!hex4(r->at, &c)) return unexpected(r, "four hexadecimal digits");
    r->at += 4;
    if (c >= 0xD800 && c < 0xDC00 && r->at[0] == '\\' && r->at[1] == 'u' && hex4(r->at + 2, &low) && low >= 0xDC00 &&
        low < 0xE000)
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00), r->at += 6;
    else if (c >= 0xD800 && c < 0xE000) c = 0xFFFD;
    return qutf8_add(t, c), QS_OK;
}

/* Reads the characters after the opening quote. */
static qs_status characters(Reader *r, Text *t) {
    static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    for (;;) {
        const char *from = r->at;
        while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (unsigned char)*r->at >= ' ') r->at++;
        qtext_add(t, from, (size_t)(r->at - from));
        if (r->at == r->end || (unsigned char)*r->at < ' ') return unexpected(r, "\" at the end of a string");
        if (*r->at++ == '"') return QS_OK;
        const char *e = escapes;
        while (*e && *e != *r->at) e += 2;
        if (*r->at == 'u') {
            r->at++;
            TRY(code_point(r, t));
        } else if (*e && r->at < r->end) qtext_putc(t, e[1]), r->at++;
        else return unexpected(r, "one of \"\\/bfnrtu behind \\");
    }
}

static qs_status read_string(Reader *r, Text *t) {
    qtext_init(t, qvm_ctx(r->vm));
    qtext_puts(t, "");
    qs_status s = take_char(r, '"') ? characters(r, t) : unexpected(r, "a string");
    return s == QS_OK ? qtext_status(t) : s;
}

static size_t digits(const char *s) { return strspn(s, "0123456789"); }

/* Reads a number.  Integers that float64 cannot represent become int; numbers beyond int64 are rounded. */
static qs_status read_number(Reader *r) {
    const char *s = r->at + (*r->at == '-'), *from = r->at;
    size_t n = *s == '0' ? 1 : digits(s);
    bool whole = true;
    if (!n) return unexpected(r, "a value");
    s += n;
    if (*s == '.') {
        whole = false;
        if (!(n = digits(s + 1))) return r->at = s + 1, unexpected(r, "a digit");
        s += 1 + n;
    }
    if (*s == 'e' || *s == 'E') {
        whole = false, s++;
        if (*s == '+' || *s == '-') s++;
        if (!(n = digits(s))) return r->at = s, unexpected(r, "a digit");
        s += n;
    }
    r->at = s;
    double x = qnum_read(from, NULL);
    push_value(r, whole && fabs(x) >= 0x1p53 && fabs(x) < 0x1p63 ? qs_int(strtoll(from, NULL, 10)) : qs_num(x));
    return QS_OK;
}

static bool word(Reader *r, const char *name, qs_value v) {
    size_t n = strlen(name);
    if (strncmp(r->at, name, n) != 0) return false;
    r->at += n;
    return push_value(r, v), true;
}

/* The type that a list becomes. */
typedef enum { NUMBERS, ARRAYS, VALUES } ListKind;

static ListKind list_kind(const qs_value *v, uint32_t n) {
    bool numbers = true, some = !n, arrays = n > 0;
    int64_t dims[QS_MAX_RANK];
    int rank = n && v[0].kind == QS_ARRAY ? qarr_shape(qval_array(v[0]), dims, NULL) : QS_MAX_RANK;
    for (uint32_t i = 0; i < n; i++) {
        const Array *a = v[i].kind == QS_ARRAY ? qval_array(v[i]) : NULL;
        numbers &= v[i].kind == QS_NUM || v[i].kind == QS_NIL, some |= v[i].kind == QS_NUM;
        arrays &= a && rank < QS_MAX_RANK && qarr_has_shape(a, rank, dims);
    }
    return numbers && some ? NUMBERS : arrays ? ARRAYS : VALUES;
}

static qs_status list_of_numbers(qs_vm *vm, const qs_value *v, uint32_t n, qs_value *out) {
    Array *a;
    void *p;
    TRY(qarr_make(vm, QS_F64, 1, (int64_t[]){n}, false, &a, &p));
    *out = qarr_value(a);
    for (uint32_t i = 0; i < n; i++) ((double *)p)[i] = v[i].kind == QS_NUM ? v[i].u.f : NAN;
    return QS_OK;
}

static qs_status list_of_arrays(qs_vm *vm, const qs_value *v, uint32_t n, qs_value *out) {
    const Array *first = qval_array(v[0]);
    int64_t dims[QS_MAX_RANK + 1] = {n};
    int rank = qarr_shape(first, dims + 1, NULL);
    Array *a;
    void *p;
    TRY(qarr_make(vm, QS_F64, rank + 1, dims, false, &a, &p));
    *out = qarr_value(a);
    for (uint32_t i = 0; i < n; i++) {
        const void *q;
        TRY(qarr_read(vm, qval_array(v[i]), &q));
        if (first->count) memcpy((double *)p + i * first->count, q, first->count * sizeof(double));
    }
    return QS_OK;
}

static qs_status list_of_values(qs_vm *vm, qs_value *v, uint32_t n, qs_value *out) {
    int64_t dim = n;
    Cell *c;
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, &dim, &c));
    *out = qval_object(QS_CELL, c);
    /* The items were null; ownership moves to the cell. */
    for (uint32_t i = 0; i < n; i++) c->items[i] = v[i], v[i] = qs_nil();
    return QS_OK;
}

static qs_status read_value(Reader *r);

static qs_status list(Reader *r) {
    uint32_t from = r->n;
    qs_value v = qs_nil();
    if (!take_char(r, ']')) {
        do TRY(read_value(r));
        while (take_char(r, ','));
        if (!take_char(r, ']')) return unexpected(r, ", or ]");
    }
    uint32_t n = r->n - from;
    qs_value *items = n ? r->items + from : NULL;
    ListKind kind = list_kind(items, n);
    qs_status s = kind == NUMBERS  ? list_of_numbers(r->vm, items, n, &v)
                  : kind == ARRAYS ? list_of_arrays(r->vm, items, n, &v)
                                   : list_of_values(r->vm, items, n, &v);
    drop_values(r, from);
    return push_value(r, v), s;
}

static qs_status member(Reader *r, Object *o) {
    Text key;
    blanks(r);
    qs_status s = read_string(r, &key);
    Str *name = s == QS_OK ? qstr_name(qvm_ctx(r->vm), key.s, key.len) : NULL;
    qtext_free(&key);
    TRY(s);
    if (!take_char(r, ':')) return unexpected(r, ":");
    TRY(read_value(r));
    TRY(qobj_set(r->vm, o, name, r->items[r->n - 1]));
    return drop_values(r, r->n - 1), QS_OK;
}

static qs_status object(Reader *r) {
    Object *o = NULL;
    TRY(qobj_new_dictionary(r->vm, &o));
    push_value(r, qval_object(QS_OBJECT, o));
    if (take_char(r, '}')) return QS_OK;
    do TRY(member(r, o));
    while (take_char(r, ','));
    return take_char(r, '}') ? QS_OK : unexpected(r, ", or }");
}

static qs_status nested(Reader *r, qs_status (*read)(Reader *)) {
    if (++r->depth > DEEPEST) return qs_fail(r->vm, QS_EVALUE, "%s: nested more than %d deep", r->fn, DEEPEST);
    TRY(read(r));
    r->depth--;
    return QS_OK;
}

static qs_status read_value(Reader *r) {
    Text t;
    qs_value v;
    if (r->n > UINT32_MAX - 2) return qs_fail(r->vm, QS_EVALUE, "%s: a list has too many items", r->fn);
    if (take_char(r, '{')) return nested(r, object);
    if (take_char(r, '[')) return nested(r, list);
    if (*r->at == '"') {
        TRY(qval_text(r->vm, &t, read_string(r, &t), &v));
        return push_value(r, v), QS_OK;
    }
    if (word(r, "true", qs_bool(true)) || word(r, "false", qs_bool(false)) || word(r, "null", qs_nil()) ||
        word(r, "NaN", qs_num(NAN)) || word(r, "Infinity", qs_num(INFINITY)) || word(r, "-Infinity", qs_num(-INFINITY)))
        return QS_OK;
    return read_number(r);
}

static qs_status integral_text(Reader *r) {
    TRY(read_value(r));
    blanks(r);
    return r->at == r->end ? QS_OK : unexpected(r, "the end of the text");
}

static qs_status read_text(qs_vm *vm, const char *fn, const char *s, size_t n, qs_value *out) {
    Reader r = {.vm = vm, .fn = fn, .text = s, .at = s, .end = s + n};
    qs_status status = integral_text(&r);
    if (status == QS_OK) *out = r.items[--r.n];
    drop_values(&r, 0);
    if (r.items) qmem_free(qvm_ctx(vm), r.items, r.cap * sizeof *r.items);
    return status;
}

qs_status qjson_read(qs_vm *vm, const char *fn, const char *s, size_t n, qs_value *out) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_add(&t, s, n);
    qs_status status = read_text(vm, fn, t.s, t.len, out);
    return qtext_free(&t), status;
}

/* jsondecode(text) */
qs_status qjson_decode(qs_vm *vm, qs_call_args *c) {
    const char *s;
    size_t n;
    TRY(qarg_string(vm, "jsondecode", "text", c->in[0], &s, &n));
    return read_text(vm, "jsondecode", s, n, &c->out[0]);
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    Text *out;
    int indent, depth;
} Writer; /* indent 0: one line without blanks */

static void new_line(Writer *w) {
    if (!w->indent) return;
    qtext_putc(w->out, '\n');
    qtext_pad(w->out, ' ', (size_t)(w->indent * w->depth));
}

static void put_string(Writer *w, const char *s, size_t n) {
    qtext_putc(w->out, '"');
    for (size_t i = 0; i < n; i++) {
        static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";
        const char *e = escapes;
        while (*e && *e != s[i]) e += 2;
        if (*e) qtext_putc(w->out, '\\'), qtext_putc(w->out, e[1]);
        else if ((unsigned char)s[i] < ' ') qtext_printf(w->out, "\\u%04x", (unsigned)s[i]);
        else qtext_putc(w->out, s[i]);
    }
    qtext_putc(w->out, '"');
}

/* Writes the shortest text that reads back as x, with at most as many digits as its type needs. */
static void put_number(Writer *w, double x, bool narrow) {
    char s[32];
    if (!isfinite(x)) {
        qtext_puts(w->out, "null");
        return;
    }
    for (int n = narrow ? 6 : 15, most = narrow ? 9 : 17; n <= most; n++) {
        qnum_print(s, sizeof s, "%.*g", n, x);
        if (narrow ? qnum_read_float(s, NULL) == (float)x : qnum_read(s, NULL) == x) break;
    }
    qtext_puts(w->out, s);
}

static qs_status put_value(Writer *w, qs_value v);

static qs_status put_element(Writer *w, Array *a, size_t at) {
    qs_value v;
    uint64_t whole;
    bool large;
    TRY(qarr_get_large(w->vm, a, at, &whole, &large));
    if (large) return qtext_printf(w->out, "%llu", (unsigned long long)whole), QS_OK;
    TRY(qarr_get(w->vm, a, at, &v));
    if (v.kind == QS_NUM) return put_number(w, v.u.f, a->dtype != QS_F64), QS_OK;
    qs_status s = put_value(w, v);
    return qval_release(w->vm, v), s;
}

static qs_status put_item(Writer *w, qs_value v, size_t at) {
    return v.kind == QS_CELL ? put_value(w, ((Cell *)v.u.p)->items[at]) : put_element(w, qval_array(v), at);
}

/* Writes the items from *at on of an array or cell, whose dimensions from d on become nested lists.  Numbers stay on
 * one line. */
static qs_status put_list(Writer *w, qs_value v, int rank, const int64_t *dims, int d, size_t *at) {
    if (d == rank) return put_item(w, v, (*at)++);
    if (!qtext_reserve(w->out, qmem_size((size_t)dims[d], 2, 0))) return qtext_status(w->out); /* at least "1," each */
    bool lines = w->indent && dims[d] && (d + 1 < rank || v.kind == QS_CELL);
    qtext_putc(w->out, '[');
    w->depth++;
    for (int64_t i = 0; i < dims[d] && !w->out->lost; i++) {
        if (i) qtext_puts(w->out, lines || !w->indent ? "," : ", ");
        if (lines) new_line(w);
        TRY(put_list(w, v, rank, dims, d + 1, at));
    }
    w->depth--;
    if (lines) new_line(w);
    return qtext_putc(w->out, ']'), QS_OK;
}

/* Writes a key, as Python does: a number as its text, a truth value as true or false. */
static qs_status put_key(Writer *w, qs_value key) {
    if (key.kind == QS_STRING) return put_string(w, ((Str *)key.u.p)->s, ((Str *)key.u.p)->len), QS_OK;
    if (!qval_is_number(key))
        return qs_fail(w->vm, QS_ETYPE, "jsonencode: a key must be a string or number, got a key of type %s",
                       qval_type_name(w->vm, key));
    qtext_putc(w->out, '"');
    TRY(put_value(w, key));
    return qtext_putc(w->out, '"'), QS_OK;
}

static qs_status put_object(Writer *w, const Object *o) {
    qs_value key, v;
    uint32_t n = 0;
    qtext_putc(w->out, '{');
    w->depth++;
    for (uint32_t i = 0; qobj_entry(o, i, &key, &v); i++) {
        if (n++) qtext_putc(w->out, ',');
        new_line(w);
        TRY(put_key(w, key));
        qtext_puts(w->out, w->indent ? ": " : ":");
        TRY(put_value(w, v));
    }
    w->depth--;
    if (n) new_line(w);
    return qtext_putc(w->out, '}'), QS_OK;
}

static qs_status put_value(Writer *w, qs_value v) {
    size_t at = 0, n;
    int64_t dims[QS_MAX_RANK]; /* [[10,20]] has two dimensions, although the language treats it as a vec */
    if (w->depth > DEEPEST)
        return qs_fail(w->vm, QS_EVALUE, "jsonencode: x is nested more than %d deep, or contains itself", DEEPEST);
    switch (v.kind) {
    case QS_NIL: return qtext_puts(w->out, "null"), QS_OK;
    case QS_BOOL: return qtext_puts(w->out, v.u.i ? "true" : "false"), QS_OK;
    case QS_INT: return qtext_printf(w->out, "%lld", (long long)v.u.i), QS_OK;
    case QS_NUM: return put_number(w, v.u.f, false), QS_OK;
    case QS_STRING: {
        const char *s = qs_to_string(v, &n);
        return put_string(w, s, n), QS_OK;
    }
    case QS_ARRAY: return put_list(w, v, qarr_shape(qval_array(v), dims, NULL), dims, 0, &at);
    case QS_CELL: return put_list(w, v, ((Cell *)v.u.p)->rank, ((Cell *)v.u.p)->dims, 0, &at);
    case QS_OBJECT: return put_object(w, v.u.p);
    default: return qs_fail(w->vm, QS_ETYPE, "jsonencode: JSON has no form for a %s", qval_type_name(w->vm, v));
    }
}

void qjson_put_string(qs_vm *vm, Text *t, const char *s, size_t n) { put_string(&(Writer){vm, t, 0, 0}, s, n); }

/* jsonencode(x [, indent]) */
qs_status qjson_encode(qs_vm *vm, qs_call_args *c) {
    int64_t indent = 0;
    Text t;
    if (qarg_given(c, 1)) TRY(qarg_count(vm, "jsonencode", "indent", c->in[1], &indent));
    if (indent > 16) return qs_fail(vm, QS_EVALUE, "jsonencode: indent must be 0 to 16, got %lld", (long long)indent);
    qtext_init(&t, qvm_ctx(vm));
    Writer w = {vm, &t, (int)indent, 0};
    return qval_text(vm, &t, put_value(&w, c->in[0]), &c->out[0]);
}
