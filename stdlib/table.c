/* table.c -- reads and writes tables whose columns have names: text with a separator, the first line is the heading.
 *
 * A table is an object with a field per column, in the order of the file: a vec[float64] of numbers, in which a missing
 * one is nan, or a cell of strings.  Source: RFC 4180; fields in quotes may contain separators, lines and "" for ".
 * Blanks are part of a text, but not of a number, a name or what surrounds a quote. */
#include "stdlib/builtins.h"
#include "vm/base/number.h"
#include "vm/base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    qs_vm *vm;
    const char *path;
    const char *at, *end; /* the rest of the file */
    size_t line, rows, cols;
    char sep;
    Text chars;      /* the fields, each with a NUL after it */
    size_t *starts;  /* where each field begins in chars */
    uint32_t cap, n; /* number of fields */
} Reader;

/* -- reading: fields ----------------------------------------------------------------------------------------------- */
static bool is_blank(const Reader *r, char c) { return c == ' ' || (c == '\t' && r->sep != '\t'); }

static bool ends_field(const Reader *r, const char *s) {
    return s == r->end || *s == r->sep || *s == '\n' || (*s == '\r' && (s + 1 == r->end || s[1] == '\n'));
}

static qs_status read_quoted(Reader *r) {
    size_t line = r->line;
    for (r->at++;; r->at++) {
        if (r->at == r->end)
            return qs_fail(r->vm, QS_EVALUE, "readtable: %s, line %zu: a quote has no end", r->path, line);
        if (*r->at == '"' && (r->at + 1 == r->end || r->at[1] != '"')) break;
        if (*r->at == '"') r->at++;
        r->line += *r->at == '\n';
        qtext_putc(&r->chars, *r->at);
    }
    r->at++;
    while (r->at < r->end && is_blank(r, *r->at)) r->at++;
    if (!ends_field(r, r->at))
        return qs_fail(r->vm, QS_EVALUE, "readtable: %s, line %zu: \"%.1s\" follows the end of a quote", r->path,
                       r->line, r->at);
    return QS_OK;
}

static qs_status read_field(Reader *r) {
    qmem_grow(qvm_ctx(r->vm), &r->starts, &r->cap, r->n, sizeof *r->starts);
    r->starts[r->n++] = r->chars.len;
    const char *from = r->at;
    while (r->at < r->end && is_blank(r, *r->at)) r->at++;
    if (r->at < r->end && *r->at == '"') TRY(read_quoted(r));
    else {
        while (!ends_field(r, r->at)) r->at++;
        qtext_add(&r->chars, from, (size_t)(r->at - from));
    }
    qtext_putc(&r->chars, 0);
    return r->n < UINT32_MAX - 2 ? QS_OK : qs_fail(r->vm, QS_EVALUE, "readtable: %s is too large", r->path);
}

/* Reads a line; empty ones are skipped. */
static qs_status read_record(Reader *r) {
    uint32_t first = r->n;
    if (*r->at != '\n' && *r->at != '\r') {
        TRY(read_field(r));
        while (r->at < r->end && *r->at == r->sep) {
            r->at++;
            TRY(read_field(r));
        }
        size_t n = r->n - first;
        if (!r->cols) r->cols = n;
        if (n != r->cols)
            return qs_fail(r->vm, QS_ESHAPE, "readtable: %s, line %zu has %zu fields, the heading has %zu", r->path,
                           r->line, n, r->cols);
        r->rows++;
    }
    if (r->at < r->end && *r->at == '\r') r->at++;
    if (r->at < r->end && *r->at == '\n') r->at++;
    return r->line++, QS_OK;
}

/* Finds the separator that the first line has most often, outside quotes. */
static char find_separator(const char *s, const char *end) {
    static const char known[] = ",;\t|";
    size_t count[sizeof known] = {0}, best = 0;
    bool quoted = false;
    for (; s < end && (quoted || *s != '\n'); s++) {
        const char *k = *s ? strchr(known, *s) : NULL;
        quoted ^= *s == '"';
        if (k && !quoted) count[k - known]++;
    }
    for (size_t i = 1; i < sizeof known - 1; i++)
        if (count[i] > count[best]) best = i;
    return known[best];
}

static const char *field_at(const Reader *r, size_t row, size_t col) {
    return r->chars.s + r->starts[row * r->cols + col];
}

/* -- reading: columns ---------------------------------------------------------------------------------------------- */
typedef enum { MISSING, TRUTH, INTEGER, LARGE_INTEGER, NUMBER, LETTERS } FieldKind;

static const char *past_blanks(const char *s) { return s + strspn(s, " \t"); }

/* Returns whether a field is one of these words, with blanks around it. */
static bool is_one_of(const char *s, const char *const *list) {
    for (s = past_blanks(s); *list; list++)
        if (!strncmp(*list, s, strlen(*list)) && !*past_blanks(s + strlen(*list))) return true;
    return false;
}

/* A large integer is one that float64 may not represent, but int64 does; a larger one is text. */
static FieldKind kind_of(const char *s) {
    static const char *const missing[] = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", NULL};
    static const char *const truths[] = {"true", "false", "True", "False", "TRUE", "FALSE", NULL};
    char *end;
    if (is_one_of(s, missing)) return MISSING;
    if (is_one_of(s, truths)) return TRUTH;
    double x = qnum_read(s, &end);
    if (end == s || *past_blanks(end) || strpbrk(s, "xX(")) return LETTERS;
    const char *digits = past_blanks(s);
    digits += *digits == '-' || *digits == '+';
    if (digits + strspn(digits, "0123456789") != end) return NUMBER;
    if (fabs(x) < 0x1p53) return INTEGER;
    errno = 0;
    strtoll(s, NULL, 10);
    return errno ? LETTERS : LARGE_INTEGER;
}

/* Finds how a column is stored: a type of elements, or QS_C128 for text. */
static qs_dtype type_of_column(const Reader *r, size_t col) {
    size_t count[LETTERS + 1] = {0};
    for (size_t i = 1; i < r->rows; i++) count[kind_of(field_at(r, i, col))]++;
    size_t rows = r->rows - 1;
    if (rows && count[TRUTH] == rows) return QS_B1;
    if (count[LETTERS] || count[TRUTH]) return QS_C128;
    if (!count[LARGE_INTEGER]) return QS_F64;
    return count[LARGE_INTEGER] + count[INTEGER] == rows ? QS_I64 : QS_C128;
}

static qs_status read_strings(const Reader *r, size_t col, qs_value *out) {
    int64_t rows = (int64_t)r->rows - 1;
    Cell *cell;
    TRY(qcell_new(r->vm, qtype_any(qvm_ctx(r->vm)), 1, &rows, &cell));
    *out = qval_object(QS_CELL, cell);
    for (size_t i = 0; i < cell->count; i++) {
        const char *s = field_at(r, i + 1, col);
        TRY(qval_string(r->vm, s, strlen(s), &cell->items[i]));
    }
    return QS_OK;
}

static qs_status read_column(const Reader *r, size_t col, qs_value *out) {
    qs_dtype d = type_of_column(r, col);
    int64_t rows = (int64_t)r->rows - 1;
    Array *a;
    void *p;
    if (d == QS_C128) return read_strings(r, col, out);
    TRY(qarr_make(r->vm, d, 1, &rows, true, &a, &p));
    *out = qarr_value(a);
    for (size_t i = 0; i < a->count; i++) {
        const char *s = field_at(r, i + 1, col);
        if (d == QS_B1) ((uint8_t *)p)[i] = (*past_blanks(s) | 32) == 't';
        else if (d == QS_I64) ((int64_t *)p)[i] = strtoll(s, NULL, 10);
        else ((double *)p)[i] = kind_of(s) == MISSING ? NAN : qnum_read(s, NULL);
    }
    return QS_OK;
}

/* Returns the name of a column, without blanks around it; a name that an earlier column has gets a number. */
static Str *name_of_column(const Reader *r, const Object *o, size_t col) {
    const char *s = past_blanks(field_at(r, 0, col));
    size_t n = strlen(s);
    Ctx *ctx = qvm_ctx(r->vm);
    Text t;
    while (n && isblank((unsigned char)s[n - 1])) n--;
    qtext_init(&t, ctx);
    for (size_t k = 0;; k++) {
        qtext_clear(&t);
        if (n) qtext_add(&t, s, n);
        else qtext_printf(&t, "column%zu", col);
        if (k) qtext_printf(&t, "_%zu", k);
        Str *name = qstr_name(ctx, t.s, t.len);
        if (qobj_has(o, name) && !t.lost) continue;
        return qtext_free(&t), name;
    }
}

static qs_status read_columns(const Reader *r, Object *o) {
    size_t numbers = 0;
    for (size_t i = 0; i < r->cols; i++) {
        FieldKind k = kind_of(field_at(r, 0, i));
        numbers += k == INTEGER || k == LARGE_INTEGER || k == NUMBER;
    }
    if (numbers == r->cols)
        return qs_fail(r->vm, QS_EVALUE,
                       "readtable: the first line of %s has only numbers and no names; csvread reads it", r->path);
    for (size_t i = 0; i < r->cols; i++) {
        qs_value v = qs_nil();
        qs_status s = read_column(r, i, &v);
        if (s == QS_OK) s = qobj_set(r->vm, o, name_of_column(r, o, i), v);
        qval_release(r->vm, v);
        TRY(s);
    }
    return QS_OK;
}

static const char not_separators[] = "\"\n\r ";

static qs_status read_file(Reader *r, const Text *file, Object *o) {
    r->at = file->s ? file->s : "", r->end = r->at + file->len;
    if (memchr(r->at, 0, file->len))
        return qs_fail(r->vm, QS_EVALUE, "readtable: %s has a NUL byte; only text in UTF-8 is read", r->path);
    if (file->len >= 3 && !memcmp(r->at, "\xEF\xBB\xBF", 3)) r->at += 3; /* the mark that Excel writes */
    size_t len;
    for (const char *s = r->at; s < r->end; s += len)
        if (qutf8_read(s, (size_t)(r->end - s), &len) < 0)
            return qs_fail(r->vm, QS_EVALUE, "readtable: %s is not UTF-8: byte %d at %zu", r->path, (unsigned char)*s,
                           (size_t)(s - file->s));
    while (r->at < r->end && (*r->at == '\n' || *r->at == '\r')) r->line += *r->at++ == '\n';
    if (!r->sep) r->sep = find_separator(r->at, r->end);
    while (r->at < r->end) TRY(read_record(r));
    TRY(qtext_status(&r->chars));
    if (!r->rows) return qs_fail(r->vm, QS_EVALUE, "readtable: %s is empty", r->path);
    return read_columns(r, o);
}

/* readtable(path [, separator]) */
qs_status qtable_read(qs_vm *vm, qs_call_args *c) {
    Reader r = {.vm = vm, .line = 1};
    Object *o;
    Text file;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &r.path, NULL));
    TRY(qio_separator(vm, c, 1, not_separators, &r.sep));
    TRY(qobj_new(vm, NULL, &o));
    c->out[0] = qval_object(QS_OBJECT, o);
    qtext_init(&file, qvm_ctx(vm)), qtext_init(&r.chars, qvm_ctx(vm));
    qs_status s = qio_slurp(vm, c->name, r.path, &file);
    if (s == QS_OK) s = read_file(&r, &file, o);
    if (r.starts) qmem_free(qvm_ctx(vm), r.starts, r.cap * sizeof *r.starts);
    qtext_free(&file), qtext_free(&r.chars);
    return s;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    size_t rows;
    uint32_t cols;
    char sep;
    Text t;
} Writer;

static void put_text(Writer *w, const char *s, size_t n) {
    bool quoted = n ? isblank((unsigned char)s[0]) || isblank((unsigned char)s[n - 1]) : w->cols == 1;
    for (size_t i = 0; i < n; i++) quoted |= s[i] == w->sep || s[i] == '"' || s[i] == '\n' || s[i] == '\r';
    if (!quoted) {
        if (n) qtext_add(&w->t, s, n);
        return;
    }
    qtext_putc(&w->t, '"');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"') qtext_putc(&w->t, '"');
        qtext_putc(&w->t, s[i]);
    }
    qtext_putc(&w->t, '"');
}

/* Writes the fewest digits that give the same number; nothing for nan. */
static void put_float(Writer *w, double x, bool is_float32) {
    char buf[NUMBER_TEXT];
    bool same = false;
    if (isnan(x)) return put_text(w, "", 0);
    for (int digits = is_float32 ? 6 : 15; !same; digits++) {
        qnum_print(buf, sizeof buf, "%.*g", digits, x);
        same = digits >= 17 || (is_float32 ? qnum_read_float(buf, NULL) == (float)x : qnum_read(buf, NULL) == x);
    }
    put_text(w, buf, strlen(buf));
}

static qs_status put_value(Writer *w, const char *name, qs_value v, bool is_float32) {
    char buf[NUMBER_TEXT];
    if (v.kind == QS_STRING) {
        size_t n;
        const char *s = qs_to_string(v, &n);
        return put_text(w, s, n), QS_OK;
    }
    if (v.kind == QS_NIL) return put_text(w, "", 0), QS_OK;
    if (!qval_is_number(v))
        return qs_fail(w->vm, QS_ETYPE, "writetable: column \"%.60s\" has a value of type %s", name,
                       qval_type_name(w->vm, v));
    if (v.kind == QS_NUM) return put_float(w, v.u.f, is_float32), QS_OK;
    if (v.kind == QS_BOOL) snprintf(buf, sizeof buf, "%s", v.u.i ? "true" : "false");
    else snprintf(buf, sizeof buf, "%lld", (long long)v.u.i);
    return put_text(w, buf, strlen(buf)), QS_OK;
}

static qs_status put_item(Writer *w, const char *name, qs_value column, size_t i) {
    if (column.kind == QS_CELL) return put_value(w, name, ((Cell *)column.u.p)->items[i], false);
    if (column.kind != QS_ARRAY) return put_value(w, name, column, false);
    Array *a = qval_array(column);
    uint64_t large;
    bool is_large = false;
    qs_value v;
    if (a->dtype == QS_U64) TRY(qarr_get_large(w->vm, a, i, &large, &is_large));
    if (is_large) return qtext_printf(&w->t, "%llu", (unsigned long long)large), QS_OK;
    TRY(qarr_get(w->vm, a, i, &v));
    qs_status s = put_value(w, name, v, a->dtype != QS_F64);
    return qval_release(w->vm, v), s;
}

/* Checks that a column is a vec, a cell or one value, and as long as the others. */
static qs_status check_column(Writer *w, const char *name, qs_value v) {
    size_t n = 1;
    bool flat = true;
    if (v.kind == QS_CELL) n = ((Cell *)v.u.p)->count, flat = ((Cell *)v.u.p)->rank == 1;
    if (v.kind == QS_ARRAY) {
        const Array *a = qval_array(v);
        n = a->count, flat = a->rank == 1 || n == (size_t)a->dims[0];
    }
    if (!flat) return qs_fail(w->vm, QS_ESHAPE, "writetable: column \"%.60s\" must be a vec, a column or a cell", name);
    if (!w->cols++) w->rows = n;
    if (n == w->rows) return QS_OK;
    return qs_fail(w->vm, QS_ESHAPE, "writetable: column \"%.60s\" has %zu rows, the columns before have %zu", name, n,
                   w->rows);
}

static qs_status write_rows(Writer *w, const Object *o) {
    Str *name;
    qs_value v;
    TRY(qobj_check_names(w->vm, o, "writetable"));
    for (uint32_t k = 0; qobj_field(o, k, &name, &v); k++) TRY(check_column(w, name->s, v));
    for (uint32_t k = 0; qobj_field(o, k, &name, &v); k++) {
        if (k) qtext_putc(&w->t, w->sep);
        put_text(w, name->s, name->len);
    }
    qtext_putc(&w->t, '\n');
    for (size_t i = 0; i < w->rows; i++) {
        for (uint32_t k = 0; qobj_field(o, k, &name, &v); k++) {
            if (k) qtext_putc(&w->t, w->sep);
            TRY(put_item(w, name->s, v, i));
        }
        qtext_putc(&w->t, '\n');
    }
    return qtext_status(&w->t);
}

/* writetable(t, path [, separator]) */
qs_status qtable_write(qs_vm *vm, qs_call_args *c) {
    Writer w = {.vm = vm, .sep = ','};
    const char *path;
    if (c->in[0].kind != QS_OBJECT || !qobj_count(c->in[0].u.p))
        return qarg_wrong(vm, c->name, "t", "an object with a field per column", c->in[0]);
    TRY(qarg_string(vm, c->name, "path", c->in[1], &path, NULL));
    TRY(qio_separator(vm, c, 2, not_separators, &w.sep));
    qtext_init(&w.t, qvm_ctx(vm));
    qs_status s = write_rows(&w, c->in[0].u.p);
    if (s == QS_OK) s = qio_spill(vm, c->name, path, w.t.s, w.t.len);
    qtext_free(&w.t);
    return s;
}
