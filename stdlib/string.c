/* string.c -- implements strings and formatted output. */
#include "stdlib/builtins.h"
#include "vm/base/number.h"
#include "vm/base/utf8.h"
#include "vm/value/machine.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- output -------------------------------------------------------------------------------------------------------- */
static qs_status join_values(qs_vm *vm, const qs_call_args *c, int from, Text *t) { /* as print shows them */
    for (int i = from; i < c->nin; i++) TRY(qfmt_value(vm, c->in[i], t));
    return QS_OK;
}

static void blanks(Text *t, size_t n) {
    for (size_t i = 0; i < n; i++) qtext_putc(t, ' ');
}

/* Covers the text that overwrite left on this line with blanks. */
static void uncover(qs_vm *vm) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    blanks(&t, qlib(vm)->overwritten);
    qtext_puts(&t, "\r");
    if (qtext_status(&t) == QS_OK) qvm_write(vm, t.s, t.len);
    qlib(vm)->overwritten = 0;
    qtext_free(&t);
}

void qstring_put(qs_vm *vm, const char *s, size_t n) {
    if (qlib(vm)->overwritten) uncover(vm);
    qvm_write(vm, s, n);
}

static qs_status put_out(qs_vm *vm, Text *t, qs_status s) { /* also frees the text */
    if (s == QS_OK) s = qtext_status(t);
    if (s == QS_OK) qstring_put(vm, t->s ? t->s : "", t->len);
    qtext_free(t);
    return s;
}

qs_status qstring_print(qs_vm *vm, qs_call_args *c) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = join_values(vm, c, 0, &t);
    qtext_puts(&t, "\n");
    return put_out(vm, &t, s);
}

qs_status qstring_write(qs_vm *vm, qs_call_args *c) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    TRY(put_out(vm, &t, join_values(vm, c, 0, &t)));
    if (qvm(vm)->line_buffered) qvm_flush(vm); /* a user is watching, and no end of line follows */
    return QS_OK;
}

static size_t columns(const Text *t) { /* number of UTF-8 characters */
    size_t n = 0;
    for (size_t i = 0; i < t->len; i++) n += (t->s[i] & 0xc0) != 0x80;
    return n;
}

/* Fills the remainder of a longer previous text with blanks, which also works without escape sequences. */
qs_status qstring_overwrite(qs_vm *vm, qs_call_args *c) {
    Text t;
    size_t before = qlib(vm)->overwritten;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = join_values(vm, c, 0, &t);
    size_t now = columns(&t);
    if (before > now) blanks(&t, before - now);
    qtext_puts(&t, "\r");
    if (s == QS_OK) qlib(vm)->overwritten = 0; /* it is covered already */
    TRY(put_out(vm, &t, s));
    qlib(vm)->overwritten = now;
    return qvm_flush(vm), QS_OK;
}

static qs_status format_arguments(qs_vm *vm, qs_call_args *c, int at, Text *t) {
    const char *fmt;
    size_t n;
    TRY(qarg_string(vm, c->name, "format", c->in[at], &fmt, &n));
    return qfmt_printf(vm, fmt, n, c->nin - at - 1, c->in + at + 1, t);
}

qs_status qstring_printf(qs_vm *vm, qs_call_args *c) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = format_arguments(vm, c, 0, &t);
    if (!t.len || t.s[t.len - 1] != '\n') qtext_puts(&t, "\n"); /* one line per call (language.md 1.5) */
    return put_out(vm, &t, s);
}

qs_status qstring_sprintf(qs_vm *vm, qs_call_args *c) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    return qval_text(vm, &t, format_arguments(vm, c, 0, &t), &c->out[0]);
}

/* $format(x) or $format(x, format): a value of a formatted string */
qs_status qstring_format(qs_vm *vm, qs_call_args *c) {
    Text t;
    if (c->nin == 1 && c->in[0].kind == QS_STRING && !(((Str *)c->in[0].u.p)->hdr.flags & STR_PLACED))
        return c->out[0] = qval_retain(c->in[0]), QS_OK;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = QS_OK;
    if (c->nin == 1) s = join_values(vm, c, 0, &t);
    else s = qfmt_printf(vm, ((Str *)c->in[1].u.p)->s, ((Str *)c->in[1].u.p)->len, 1, c->in, &t);
    return qval_text(vm, &t, s, &c->out[0]);
}

/* Whether v is an identifier of MATLAB's errors, "area:name". */
static bool is_identifier(qs_value v) {
    size_t n;
    const char *s = v.kind == QS_STRING ? qs_to_string(v, &n) : NULL, *colon = s ? memchr(s, ':', n) : NULL;
    if (!colon || colon == s || colon + 1 == s + n) return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_' && s[i] != ':') return false;
    return true;
}

/* Fails with a message made of the arguments from `at` on: a text, or a format with matching values, or otherwise all
 * of them as print shows them, so that a mistake in the format does not hide the error.  An identifier before it is
 * kept. */
static qs_status fail_with(qs_vm *vm, qs_call_args *c, int at, qs_status code) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    if (c->nin > at + 1 && is_identifier(c->in[at]) && c->in[at + 1].kind == QS_STRING)
        qtext_printf(&t, "%s: ", qs_to_string(c->in[at++], NULL));
    size_t prefix = t.len;
    bool formatted = c->nin > at + 1 && c->in[at].kind == QS_STRING && format_arguments(vm, c, at, &t) == QS_OK;
    qs_status s = QS_OK;
    if (!formatted) {
        if (qvm_ctx(vm)->err.late) return qtext_free(&t), qvm_ctx(vm)->err.status;
        qs_error_clear(vm);
        t.len = prefix;
        s = join_values(vm, c, at, &t);
    }
    if (s == QS_OK) s = qtext_status(&t);
    if (s == QS_OK) s = qs_fail(vm, code, "%.*s", (int)t.len, t.s ? t.s : "");
    qtext_free(&t);
    return s;
}

qs_status qstring_error(qs_vm *vm, qs_call_args *c) {
    if (c->nin == 1 && c->in[0].kind != QS_STRING) return qarg_wrong(vm, c->name, "message", "a string", c->in[0]);
    return fail_with(vm, c, 0, qsource_check_status(qvm_here(vm).src, QS_EUSER));
}

qs_status qstring_assert(qs_vm *vm, qs_call_args *c) {
    bool truth;
    TRY(qval_truth(vm, c->in[0], &truth));
    if (truth) return QS_OK;
    qs_status failure = qsource_check_status(qvm_here(vm).src, QS_EASSERT);
    return c->nin > 1 ? fail_with(vm, c, 1, failure) : qs_fail(vm, failure, "assertion failed");
}

/* -- composing ----------------------------------------------------------------------------------------------------- */
qs_status qstring_strcat(qs_vm *vm, qs_call_args *c) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = QS_OK;
    for (int i = 0; i < c->nin && s == QS_OK; i++) s = qfmt_value(vm, c->in[i], &t);
    return qval_text(vm, &t, s, &c->out[0]);
}

/* Calls f with each string of a cell; fails with QS_ETYPE for other values. */
static qs_status strings(qs_vm *vm, const char *fn, qs_value v, void (*f)(void *ud, size_t i, const char *s, size_t n),
                         void *ud) {
    if (v.kind != QS_CELL) return qarg_wrong(vm, fn, "parts", "a cell of strings", v);
    const Cell *x = v.u.p;
    for (size_t i = 0; i < x->count; i++) {
        const char *s;
        size_t n;
        TRY(qarg_string(vm, fn, "every part", x->items[i], &s, &n));
        f(ud, i, s, n);
    }
    return QS_OK;
}

typedef struct {
    Text *t;
    const char *sep;
    size_t n;
} Joiner;
static void join_one(void *ud, size_t i, const char *s, size_t n) {
    Joiner *j = ud;
    if (i) qtext_add(j->t, j->sep, j->n);
    qtext_add(j->t, s, n);
}

qs_status qstring_strjoin(qs_vm *vm, qs_call_args *c) {
    Text t;
    Joiner j = {&t, "", 0};
    if (c->nin > 1) TRY(qarg_string(vm, c->name, "separator", c->in[1], &j.sep, &j.n));
    qtext_init(&t, qvm_ctx(vm));
    return qval_text(vm, &t, strings(vm, c->name, c->in[0], join_one, &j), &c->out[0]);
}

static bool has_case(int32_t code) {
    return code >= 0 &&
           (qutf8_upper((uint32_t)code) != (uint32_t)code || qutf8_lower((uint32_t)code) != (uint32_t)code);
}

enum { SHARP_S = 0xDF, SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2 };

/* Appends the characters of s[at..to-1], and the rest of the last one.  Returns the number of bytes read.  *inside:
 * whether a letter precedes, which a sigma in lower case depends on. */
static size_t change_characters(const char *s, size_t n, size_t at, size_t to, bool up, bool *inside, Text *t) {
    size_t from = at, len, next;
    for (; at < to; at += len) {
        int32_t code = qutf8_read(s + at, n - at, &len);
        bool ends =
            code == SIGMA && *inside && !(at + len < n && has_case(qutf8_read(s + at + len, n - at - len, &next)));
        if (code < 0) qtext_putc(t, s[at]);
        else if (up && code == SHARP_S) qtext_puts(t, "SS");
        else if (!up && ends) qutf8_add(t, FINAL_SIGMA);
        else qutf8_add(t, up ? qutf8_upper((uint32_t)code) : qutf8_lower((uint32_t)code));
        *inside = has_case(code);
    }
    return at - from;
}

/* Copies a string in upper or lower case, in blocks.  Blocks of ASCII only take the fast way. */
static qs_status change_case(qs_vm *vm, qs_call_args *c, bool up) {
    enum { CHUNK = 4096, CASE_BIT = 'a' ^ 'A', LETTERS = 26 };
    const uint8_t first = up ? 'a' : 'A';
    const char *s;
    size_t n;
    bool inside = false;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, &n));
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    for (size_t at = 0, m; at < n; at += m) {
        uint8_t changed[CHUNK], all = 0;
        m = n - at < CHUNK ? n - at : CHUNK;
        for (size_t i = 0; i < m; i++) {
            uint8_t ch = (uint8_t)s[at + i];
            all |= ch;
            changed[i] = (uint8_t)(ch - first) < LETTERS ? ch ^ CASE_BIT : ch;
        }
        if (all & 0x80) m = change_characters(s, n, at, at + m, up, &inside, &t);
        else qtext_add(&t, (const char *)changed, m), inside = has_case((uint8_t)s[at + m - 1]);
    }
    return qval_text(vm, &t, QS_OK, &c->out[0]);
}
qs_status qstring_ucase(qs_vm *vm, qs_call_args *c) { return change_case(vm, c, true); }
qs_status qstring_lcase(qs_vm *vm, qs_call_args *c) { return change_case(vm, c, false); }

qs_status qstring_strrep(qs_vm *vm, qs_call_args *c) {
    const char *s, *old, *new, *hit;
    size_t n, nold, nnew;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, &n));
    TRY(qarg_string(vm, c->name, "old", c->in[1], &old, &nold));
    TRY(qarg_string(vm, c->name, "new", c->in[2], &new, &nnew));
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    while (nold && (hit = memmem(s, n, old, nold))) {
        qtext_add(&t, s, (size_t)(hit - s)), qtext_add(&t, new, nnew);
        n -= (size_t)(hit - s) + nold, s = hit + nold;
    }
    qtext_add(&t, s, n);
    return qval_text(vm, &t, QS_OK, &c->out[0]);
}

/* -- splitting and searching --------------------------------------------------------------------------------------- */
qs_status qstring_strlen(qs_vm *vm, qs_call_args *c) {
    const char *s;
    size_t n;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, &n));
    c->out[0] = qs_num((double)n);
    return QS_OK;
}

qs_status qstring_strfind(qs_vm *vm, qs_call_args *c) {
    const char *s, *part;
    size_t n, npart;
    int64_t from = 0;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, &n));
    TRY(qarg_string(vm, c->name, "part", c->in[1], &part, &npart));
    if (c->nin > 2) TRY(qarg_count(vm, c->name, "start", c->in[2], &from));
    const char *hit = (size_t)from <= n ? memmem(s + from, n - (size_t)from, part, npart) : NULL;
    c->out[0] = qs_num(hit ? (double)(hit - s) : -1);
    return QS_OK;
}

qs_status qstring_substr(qs_vm *vm, qs_call_args *c) {
    const char *s;
    size_t n;
    int64_t start, count;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, &n));
    TRY(qarg_count(vm, c->name, "start", c->in[1], &start));
    if ((size_t)start > n) start = (int64_t)n;
    count = (int64_t)n - start;
    if (c->nin > 2) {
        int64_t want;
        TRY(qarg_count(vm, c->name, "count", c->in[2], &want));
        if (want < count) count = want;
    }
    return qs_string(vm, s + start, (size_t)count, &c->out[0]);
}

qs_status qstring_strtrim(qs_vm *vm, qs_call_args *c) {
    const char *s;
    size_t n;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, &n));
    while (n && isspace((unsigned char)*s)) s++, n--;
    while (n && isspace((unsigned char)s[n - 1])) n--;
    return qs_string(vm, s, n, &c->out[0]);
}

static const char *next_part(const char *s, size_t n, const char *sep, size_t nsep) {
    const char *hit = nsep ? memmem(s, n, sep, nsep) : NULL;
    return hit ? hit : s + n;
}

qs_status qstring_strsplit(qs_vm *vm, qs_call_args *c) {
    const char *s, *sep, *end;
    size_t n, nsep;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, &n));
    TRY(qarg_string(vm, c->name, "separator", c->in[1], &sep, &nsep));
    if (!nsep) return qs_fail(vm, QS_EVALUE, "strsplit: separator must not be empty");
    int64_t parts = 1;
    end = s + n;
    for (const char *p = s; (p = next_part(p, (size_t)(end - p), sep, nsep)) < end; p += nsep) parts++;
    Cell *r;
    TRY(qcell_new(vm, qtype_simple(qvm_ctx(vm), TY_STRING), 1, &parts, &r));
    c->out[0] = qval_object(QS_CELL, r);
    for (int64_t i = 0; i < parts; i++) {
        const char *stop = next_part(s, (size_t)(end - s), sep, nsep);
        qs_value old = r->items[i];
        TRY(qs_string(vm, s, (size_t)(stop - s), &r->items[i]));
        qval_release(vm, old);
        s = stop + nsep;
    }
    return QS_OK;
}

static qs_status begins(qs_vm *vm, qs_call_args *c, bool at_end) {
    const char *s, *part;
    size_t n, npart;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, &n));
    TRY(qarg_string(vm, c->name, "part", c->in[1], &part, &npart));
    c->out[0] = qs_bool(npart <= n && !memcmp(at_end ? s + n - npart : s, part, npart));
    return QS_OK;
}
qs_status qstring_startswith(qs_vm *vm, qs_call_args *c) { return begins(vm, c, false); }
qs_status qstring_endswith(qs_vm *vm, qs_call_args *c) { return begins(vm, c, true); }

/* -- numbers and characters ---------------------------------------------------------------------------------------- */
qs_status qstring_str2num(qs_vm *vm, qs_call_args *c) {
    const char *s;
    char *end;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, NULL));
    double x = qnum_read(s, &end);
    while (isspace((unsigned char)*end)) end++;
    if (end == s || *end) return qs_fail(vm, QS_EVALUE, "str2num: \"%.80s\" is not a number", s);
    c->out[0] = qs_num(x);
    return QS_OK;
}

qs_status qstring_num2str(qs_vm *vm, qs_call_args *c) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    if (c->nin == 1) return qval_text(vm, &t, qfmt_value(vm, c->in[0], &t), &c->out[0]);
    const char *fmt;
    size_t n;
    TRY(qarg_string(vm, c->name, "format", c->in[1], &fmt, &n));
    return qval_text(vm, &t, qfmt_printf(vm, fmt, n, 1, c->in, &t), &c->out[0]);
}

qs_status qstring_ord(qs_vm *vm, qs_call_args *c) {
    const char *s;
    size_t n;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, &n));
    if (n != 1) return qs_fail(vm, QS_EVALUE, "ord: s must be one character, got %zu", n);
    c->out[0] = qs_num((unsigned char)*s);
    return QS_OK;
}

qs_status qstring_chr(qs_vm *vm, qs_call_args *c) {
    int64_t code;
    TRY(qarg_int(vm, c->name, "code", c->in[0], &code));
    if (code < 0 || code > 255) return qs_fail(vm, QS_EVALUE, "chr: code must be 0 to 255, got %lld", (long long)code);
    char ch = (char)code;
    return qs_string(vm, &ch, 1, &c->out[0]);
}

/* -- codes of characters ------------------------------------------------------------------------------------------- */
static bool is_code(double code, double most) {
    return code == floor(code) && code >= 0 && code <= most && (code < 0xD800 || code > 0xDFFF);
}

/* Stores the codes of the characters of s; `most` is the largest that is allowed. */
static qs_status codes_of_string(qs_vm *vm, qs_call_args *c, double most, const char *wanted) {
    const char *s;
    size_t n, length;
    int64_t count = 0;
    float *x;
    Array *a;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, &n));
    for (size_t at = 0; at < n; at += length, count++)
        if (!is_code(qutf8_read(s + at, n - at, &length), most))
            return qs_fail(vm, QS_EVALUE, "%s: s must be %s, got byte %d at %zu", c->name, wanted, (unsigned char)s[at],
                           at);
    TRY(qarg_result(vm, c, 0, QS_F32, 1, &count, &a, (void **)&x));
    for (size_t at = 0, i = 0; at < n; at += length, i++) x[i] = (float)qutf8_read(s + at, n - at, &length);
    return QS_OK;
}

static qs_status string_of_codes(qs_vm *vm, qs_call_args *c, const char *what, double most) {
    double *x;
    size_t n, i = 0;
    Text t;
    if (c->in[0].kind == QS_NUM && c->in[0].u.f < 128 && is_code(c->in[0].u.f, most))
        return qs_string(vm, &(char){(char)c->in[0].u.f}, 1, &c->out[0]);
    TRY(qarr_doubles(vm, c->in[0], what, &x, &n));
    qtext_init(&t, qvm_ctx(vm));
    for (; i < n && is_code(x[i], most); i++) qutf8_add(&t, (uint32_t)x[i]);
    qs_status s = QS_OK;
    char shown[NUMBER_TEXT];
    if (i < n)
        s = qs_fail(vm, QS_EVALUE, "%s: codes must be integers of 0 to %.0f that are characters, got %s", c->name, most,
                    qnum_shown(x[i], shown));
    if (s == QS_OK) s = qtext_status(&t);
    if (s == QS_OK) s = qs_string(vm, t.s ? t.s : "", t.len, &c->out[0]);
    qtext_free(&t);
    qmem_free(qvm_ctx(vm), x, n * sizeof *x);
    return s;
}

qs_status qstring_toascii(qs_vm *vm, qs_call_args *c) { return codes_of_string(vm, c, 127, "ASCII"); }
qs_status qstring_tounicode(qs_vm *vm, qs_call_args *c) { return codes_of_string(vm, c, 0x10FFFF, "UTF-8"); }
qs_status qstring_fromascii(qs_vm *vm, qs_call_args *c) { return string_of_codes(vm, c, "fromascii: codes", 127); }
qs_status qstring_fromunicode(qs_vm *vm, qs_call_args *c) {
    return string_of_codes(vm, c, "fromunicode: codes", 0x10FFFF);
}
