/* regex.c -- implements regular expressions with PCRE2. */
#include "stdlib/builtins.h"

#include <string.h>

#ifdef QUASAR_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define LAZY      libpcre2
#define LAZY_API  "stdlib/pcre2_api.def"
#define LAZY_FILE QUASAR_PCRE2
#include "vm/base/lazy_library.h"

/* -- compiled patterns: a cache of the most recent ones ------------------------------------------------------------ */
enum { KEPT = 16 };
typedef struct {
    qs_value pattern;
    uint32_t flags;
    pcre2_code *code;
    uint64_t used;
} Kept;
typedef struct Regex {
    Kept kept[KEPT];
    uint64_t clock;
} Regex;

static void drop_pattern(qs_vm *vm, Kept *k) {
    libpcre2.pcre2_code_free(k->code);
    qval_release(vm, k->pattern);
    *k = (Kept){0};
}

void qregex_close(qs_vm *vm) {
    Regex *r = qlib(vm)->regex;
    if (!r) return;
    for (int i = 0; i < KEPT; i++) drop_pattern(vm, &r->kept[i]);
    qmem_free(qvm_ctx(vm), r, sizeof *r);
    qlib(vm)->regex = NULL;
}

static qs_status flags_of(qs_vm *vm, const char *fn, qs_value v, uint32_t *flags) {
    const char *s;
    *flags = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
    if (v.kind == QS_NIL) return QS_OK;
    TRY(qarg_string(vm, fn, "flags", v, &s, NULL));
    for (; *s; s++) {
        if (*s == 'i') *flags |= PCRE2_CASELESS;
        else if (*s == 'm') *flags |= PCRE2_MULTILINE;
        else if (*s == 's') *flags |= PCRE2_DOTALL;
        else if (*s == 'x') *flags |= PCRE2_EXTENDED;
        else return qs_fail(vm, QS_EVALUE, "%s: flags may be i, m, s and x, got '%c'", fn, *s);
    }
    return QS_OK;
}

static qs_status compile(qs_vm *vm, const char *fn, const char *pattern, size_t n, uint32_t flags, pcre2_code **out) {
    int error;
    PCRE2_SIZE at;
    PCRE2_UCHAR why[160];
    *out = libpcre2.pcre2_compile((PCRE2_SPTR)pattern, n, flags, &error, &at, NULL);
    /* Without a JIT the pattern is interpreted. */
    if (*out) return libpcre2.pcre2_jit_compile(*out, PCRE2_JIT_COMPLETE), QS_OK;
    libpcre2.pcre2_get_error_message(error, why, sizeof why);
    return qs_fail(vm, QS_EVALUE, "%s: pattern, at character %zu: %s", fn, (size_t)at, (const char *)why);
}

static qs_status code_for(qs_vm *vm, const char *fn, qs_value pattern, qs_value flag_text, pcre2_code **out) {
    Lib *lib = qlib(vm);
    uint32_t flags;
    const char *s;
    size_t n;
    TRY(qarg_string(vm, fn, "pattern", pattern, &s, &n));
    TRY(flags_of(vm, fn, flag_text, &flags));
    if (missing()) return qs_fail(vm, QS_EIO, "%s: PCRE2 cannot be opened: %s", fn, missing());
    if (!lib->regex) lib->regex = qmem_alloc(qvm_ctx(vm), sizeof(Regex));
    Kept *oldest = lib->regex->kept;
    for (Kept *k = lib->regex->kept; k < lib->regex->kept + KEPT; k++) {
        if (k->code && k->flags == flags && qstr_equal(k->pattern.u.p, pattern.u.p)) {
            k->used = ++lib->regex->clock;
            return *out = k->code, QS_OK;
        }
        if (k->used < oldest->used) oldest = k;
    }
    TRY(compile(vm, fn, s, n, flags, out));
    if (oldest->code) drop_pattern(vm, oldest);
    *oldest = (Kept){qval_retain(pattern), flags, *out, ++lib->regex->clock};
    return QS_OK;
}

/* -- matching ------------------------------------------------------------------------------------------------------ */
typedef struct {
    const char *fn, *s;
    size_t n;
    pcre2_code *code;
    pcre2_match_data *data;
    size_t *at;
} Search;

static qs_status search_open(qs_vm *vm, qs_call_args *c, int flags_at, Search *x) {
    x->fn = c->name;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &x->s, &x->n));
    TRY(code_for(vm, c->name, c->in[1], flags_at < c->nin ? c->in[flags_at] : qs_nil(), &x->code));
    x->data = libpcre2.pcre2_match_data_create_from_pattern(x->code, NULL);
    if (!x->data) return qs_fail(vm, QS_ENOMEM, "%s: out of memory", c->name);
    x->at = libpcre2.pcre2_get_ovector_pointer(x->data);
    return QS_OK;
}

/* Finds the next match from `from` on; `advance`: excludes an empty match at `from`, because the last one was empty
 * there. */
static qs_status search_next(qs_vm *vm, Search *x, size_t from, bool advance, bool *found) {
    uint32_t options = advance ? PCRE2_NOTEMPTY_ATSTART : 0;
    int r = libpcre2.pcre2_match(x->code, (PCRE2_SPTR)x->s, x->n, from, options, x->data, NULL);
    *found = r > 0;
    if (r > 0 || r == PCRE2_ERROR_NOMATCH) return QS_OK;
    PCRE2_UCHAR why[160];
    libpcre2.pcre2_get_error_message(r, why, sizeof why);
    return qs_fail(vm, QS_EVALUE, "%s: %s", x->fn, (const char *)why);
}

static qs_status set_field(qs_vm *vm, Object *o, const char *name, size_t n, qs_value v) {
    qs_status s = qobj_set(vm, o, qstr_name(qvm_ctx(vm), name, n), v);
    qval_release(vm, v);
    return s;
}

/* Returns group k of the last match; "" if it did not participate. */
static qs_status group(qs_vm *vm, const Search *x, uint32_t k, qs_value *out) {
    size_t a = x->at[2 * k], b = x->at[2 * k + 1];
    if (a == PCRE2_UNSET || b < a) a = b = 0;
    return qs_string(vm, x->s + a, b - a, out);
}

static qs_status groups(qs_vm *vm, const Search *x, qs_value *out) {
    uint32_t n = 0;
    Cell *cell;
    libpcre2.pcre2_pattern_info(x->code, PCRE2_INFO_CAPTURECOUNT, &n);
    TRY(qcell_new(vm, qtype_simple(qvm_ctx(vm), TY_STRING), 1, &(int64_t){n}, &cell));
    *out = qval_object(QS_CELL, cell);
    for (uint32_t k = 0; k < n; k++) {
        qval_release(vm, cell->items[k]);
        cell->items[k] = qs_nil();
        TRY(group(vm, x, k + 1, &cell->items[k]));
    }
    return QS_OK;
}

static qs_status named_groups(qs_vm *vm, const Search *x, qs_value *out) {
    uint32_t n = 0, step = 0;
    PCRE2_SPTR table;
    Object *o;
    libpcre2.pcre2_pattern_info(x->code, PCRE2_INFO_NAMECOUNT, &n);
    libpcre2.pcre2_pattern_info(x->code, PCRE2_INFO_NAMEENTRYSIZE, &step);
    libpcre2.pcre2_pattern_info(x->code, PCRE2_INFO_NAMETABLE, &table);
    TRY(qobj_new(vm, NULL, &o));
    *out = qval_object(QS_OBJECT, o);
    for (uint32_t i = 0; i < n; i++, table += step) {
        qs_value v;
        TRY(group(vm, x, (uint32_t)(table[0] << 8 | table[1]), &v));
        TRY(set_field(vm, o, (const char *)table + 2, strlen((const char *)table + 2), v));
    }
    return QS_OK;
}

static qs_status describe_match(qs_vm *vm, const Search *x, qs_value *out) {
    Object *o;
    qs_value v = qs_nil();
    TRY(qobj_new(vm, NULL, &o));
    *out = qval_object(QS_OBJECT, o);
    TRY(group(vm, x, 0, &v));
    TRY(set_field(vm, o, "text", 4, v));
    TRY(set_field(vm, o, "start", 5, qs_num((double)x->at[0])));
    TRY(set_field(vm, o, "stop", 4, qs_num((double)x->at[1])));
    v = qs_nil();
    qs_status s = groups(vm, x, &v);
    if (s != QS_OK) return qval_release(vm, v), s;
    TRY(set_field(vm, o, "groups", 6, v));
    v = qs_nil();
    s = named_groups(vm, x, &v);
    if (s != QS_OK) return qval_release(vm, v), s;
    return set_field(vm, o, "names", 5, v);
}

qs_status qregex_match(qs_vm *vm, qs_call_args *c) {
    Search x = {0};
    bool found;
    TRY(search_open(vm, c, 2, &x));
    qs_status s = search_next(vm, &x, 0, false, &found);
    if (s == QS_OK && found) s = describe_match(vm, &x, &c->out[0]);
    libpcre2.pcre2_match_data_free(x.data);
    return s;
}

/* A growing list of values. */
typedef struct {
    qs_value *at;
    uint32_t n, cap;
} List;
static void push_value(qs_vm *vm, List *l, qs_value v) {
    qmem_grow(qvm_ctx(vm), &l->at, &l->cap, l->n, sizeof *l->at);
    l->at[l->n++] = v;
}

static qs_status finish_list(qs_vm *vm, List *l, const Type *elem, qs_status s, qs_value *out) {
    Cell *cell;
    if (s == QS_OK) s = qcell_new(vm, elem, 1, &(int64_t){l->n}, &cell);
    for (uint32_t i = 0; i < l->n; i++)
        if (s != QS_OK) qval_release(vm, l->at[i]);
        else qval_release(vm, cell->items[i]), cell->items[i] = l->at[i];
    if (s == QS_OK) *out = qval_object(QS_CELL, cell);
    if (l->at) qmem_free(qvm_ctx(vm), l->at, l->cap * sizeof *l->at);
    return s;
}

qs_status qregex_matchall(qs_vm *vm, qs_call_args *c) {
    Search x = {0};
    List l = {0};
    bool found = true, empty = false;
    TRY(search_open(vm, c, 2, &x));
    qs_status s = QS_OK;
    for (size_t from = 0; s == QS_OK; from = x.at[1], empty = x.at[0] == x.at[1]) {
        s = search_next(vm, &x, from, empty, &found);
        if (s != QS_OK || !found) break;
        qs_value v = qs_nil();
        s = describe_match(vm, &x, &v);
        push_value(vm, &l, v);
    }
    libpcre2.pcre2_match_data_free(x.data);
    return finish_list(vm, &l, qtype_any(qvm_ctx(vm)), s, &c->out[0]);
}

/* Returns the parts between matches; empty matches do not split. */
qs_status qregex_split(qs_vm *vm, qs_call_args *c) {
    Search x = {0};
    List l = {0};
    size_t from = 0;
    qs_value v;
    TRY(search_open(vm, c, 2, &x));
    qs_status s = QS_OK;
    for (bool found = true; s == QS_OK && from <= x.n;) {
        int r = libpcre2.pcre2_match(x.code, (PCRE2_SPTR)x.s, x.n, from, PCRE2_NOTEMPTY, x.data, NULL);
        found = r > 0;
        size_t stop = found ? x.at[0] : x.n;
        s = qs_string(vm, x.s + from, stop - from, &v);
        if (s == QS_OK) push_value(vm, &l, v);
        if (!found) break;
        from = x.at[1];
    }
    libpcre2.pcre2_match_data_free(x.data);
    return finish_list(vm, &l, qtype_simple(qvm_ctx(vm), TY_STRING), s, &c->out[0]);
}

/* Replaces matches; the replacement may contain $1, ${name} and $$. */
qs_status qregex_replace(qs_vm *vm, qs_call_args *c) {
    const char *s, *with;
    size_t n, nwith;
    pcre2_code *code;
    TRY(qarg_string(vm, c->name, "s", c->in[0], &s, &n));
    TRY(qarg_string(vm, c->name, "replacement", c->in[2], &with, &nwith));
    TRY(code_for(vm, c->name, c->in[1], c->nin > 3 ? c->in[3] : qs_nil(), &code));
    Text out;
    qtext_init(&out, qvm_ctx(vm));
    PCRE2_SIZE room = 2 * n + nwith + 64;
    int r = PCRE2_ERROR_NOMEMORY;
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!qtext_reserve(&out, room)) break;
        uint32_t options = PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_UNSET_EMPTY | PCRE2_SUBSTITUTE_OVERFLOW_LENGTH;
        r = libpcre2.pcre2_substitute(code, (PCRE2_SPTR)s, n, 0, options, NULL, NULL, (PCRE2_SPTR)with, nwith,
                                      (PCRE2_UCHAR *)out.s, &room);
        if (r != PCRE2_ERROR_NOMEMORY) break;
    }
    PCRE2_UCHAR why[160];
    if (r < 0) libpcre2.pcre2_get_error_message(r, why, sizeof why);
    qs_status status =
        r < 0 ? qs_fail(vm, QS_EVALUE, "regreplace: %s", (const char *)why) : qs_string(vm, out.s, room, &c->out[0]);
    qtext_free(&out);
    return status;
}

bool qregex_here(void) { return !missing(); }
#else
bool qregex_here(void) { return false; }
void qregex_close(qs_vm *vm) { (void)vm; }
#define ABSENT(name, shown)                                                                                            \
    qs_status qregex_##name(qs_vm *vm, qs_call_args *c) {                                                              \
        (void)c;                                                                                                       \
        return qs_fail(vm, QS_EVALUE, shown ": this build has no PCRE2");                                              \
    }
ABSENT(match, "regmatch")
ABSENT(matchall, "regmatchall")
ABSENT(split, "regsplit")
ABSENT(replace, "regreplace")
#endif
