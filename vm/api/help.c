/* help.c -- shows the help of `?name`: built-ins from their table, script functions from the comment above them, Python
 * objects from Python.  For a word that is not a name, lists the built-ins whose description contains it. */
#include "vm/api/help.h"

#include "lang/syntax/diag.h"
#include "stdlib/stdlib.h"
#include "vm/program/library.h"
#include "vm/program/module.h"
#include "vm/program/names.h"
#include "vm/program/python.h"

#include <string.h>
#include <strings.h>

/* -- functions of scripts ------------------------------------------------------------------------------------------ */

/* Appends the head of a function, or a lambda, on one line as it is written: "y = name(x : mat, n : int = 1)". */
static void add_declaration(const Func *f, Text *out) {
    const char *text = f->unit->src->text, *s = text + f->pos, *end = text + (f->is_lambda ? f->end : f->head_end);
    const char *separator = "";
    if (!f->is_lambda) s += strlen("function");
    while (s < end) {
        s += strspn(s, " \t");
        size_t line = strcspn(s, "\n"), n = line < (size_t)(end - s) ? line : (size_t)(end - s);
        while (n && strchr(" \t\r_", s[n - 1])) n--; /* _ continues the line */
        qtext_printf(out, "%s%.*s", separator, (int)n, s);
        separator = " ", s += line + 1;
    }
}

/* Returns whether the title of a comment, "Function: name, name", lists the name. */
static bool is_titled(const char *doc, const char *name) {
    const char *title = strstr(doc, "Function: ");
    size_t n = strlen(name);
    for (const char *at = title ? title + 10 : ""; *at && *at != '\n'; at += strcspn(at, ", \n")) {
        at += strspn(at, ", ");
        if (!strncmp(at, name, n) && strchr(", \n", at[n])) return true;
    }
    return false;
}

/* Returns the comment above the function, or above a function of another name in the file if its title lists this one:
 * an overload does not repeat the comment of the first. */
static const char *doc_of(const Func *f) {
    const char *own = f->doc ? f->doc->s : "";
    if (!f->name || is_titled(own, f->name->s)) return own;
    for (int i = 0; i < f->unit->nfuncs; i++) {
        const Func *other = f->unit->funcs[i]->u.func;
        if (other->doc && other->name != f->name && is_titled(other->doc->s, f->name->s)) return other->doc->s;
    }
    return own;
}

/* Appends the signature: that of the comment, ":function y = name(…)", or else the head of the function. */
static void add_signature(const Func *f, Text *out) {
    const char *doc = f->doc ? f->doc->s : "";
    const char *line = strncmp(doc, ":function ", 10) ? strstr(doc, "\n:function ") : doc;
    if (!line) return add_declaration(f, out);
    line += (*line == '\n') + 10;
    qtext_add(out, line, strcspn(line, "\n"));
}

/* Shows the comment above a function without its lines "Function: name" and ":function y = name(…)". */
static void show_documented(const Func *f, Text *out) {
    const char *doc = doc_of(f);
    add_signature(f, out);
    qtext_putc(out, '\n');
    for (size_t n, blank = 0; *doc; doc += n + (doc[n] == '\n')) {
        n = strcspn(doc, "\n");
        if (!strncmp(doc, "Function: ", 10) || *doc == ':') continue;
        if (!n) {
            blank = 1;
            continue;
        }
        qtext_printf(out, "%s%.*s\n", blank ? "\n" : "", (int)n, doc);
        blank = 0;
    }
}

/* -- built-ins ----------------------------------------------------------------------------------------------------- */

static const LibDoc *row_of(const char *name) {
    int n;
    const LibDoc *docs = qlib_docs(&n);
    for (int i = 0; i < n; i++)
        if (docs[i].name && !strcmp(docs[i].name, name)) return &docs[i];
    return NULL;
}

static void show_row(const LibDoc *row, Text *out) {
    qtext_printf(out, "%s\n%s\n", row->signature, row->doc);
    if (*row->matlab || *row->numpy)
        qtext_printf(out, "(%s%s%s%s%s)\n", *row->matlab ? "MATLAB: " : "", row->matlab,
                     *row->matlab && *row->numpy ? ", " : "", *row->numpy ? "NumPy: " : "", row->numpy);
}

static void describe_function(const Function *fn, Text *out) {
    const LibDoc *row = fn->fkind == FN_NATIVE ? row_of(fn->native->name) : NULL;
    if (fn->fkind == FN_SCRIPT) show_documented(fn->ast, out);
    else if (row) show_row(row, out);
    else if (fn->fkind == FN_NATIVE && fn->native->doc) qtext_printf(out, "%s\n", fn->native->doc);
    for (int i = 0; i < fn->nmembers; i++) describe_function(fn->members[i], out);
}

/* -- names --------------------------------------------------------------------------------------------------------- */

/* Describes a Python object: ?np.linalg.norm */
static bool describe_foreign(qs_vm *vm, const char *name, Text *out) {
    uint64_t slot;
    qs_value text, v = qs_nil();
    size_t n = strcspn(name, ".");
    if (qmap_get(&qvm(vm)->session->names, qstr_name(qvm_ctx(vm), name, n), &slot)) v = *qvm_global(vm, slot);
    if (v.kind != QS_FOREIGN || !qvm(vm)->python) return false;
    if (qvm(vm)->python->describe(vm, v, name[n] ? name + n + 1 : "", &text) != QS_OK) return qs_error_clear(vm), false;
    qtext_puts(out, ((Str *)text.u.p)->s);
    qval_release(vm, text);
    return true;
}

/* Describes a variable: its type and short value. */
static bool describe_value(qs_vm *vm, qs_value v, const char *name, Text *out) {
    if (v.kind == QS_NIL) return false;
    qtext_printf(out, "%s is a %s: ", name, qs_type_name(vm, v));
    if (qfmt_brief(vm, v, out) != QS_OK) qs_error_clear(vm);
    qtext_puts(out, "\n");
    return true;
}

/* Describes a function of a library module that is not imported. */
static bool describe_library(qs_vm *vm, const char *name, Text *out) {
    const char *path = qlibrary_home(vm, qstr_cname(qvm_ctx(vm), name));
    Module *m;
    if (!path) return false;
    if (qmod_load_file(vm, path, &m) != QS_OK) return qs_error_clear(vm), false;
    const Unit *u = m->units[0];
    for (int i = 0; i < u->nfuncs; i++)
        if (!strcmp(u->funcs[i]->u.func->name->s, name)) show_documented(u->funcs[i]->u.func, out);
    qtext_printf(out, "It is in %s, which its first call loads.\n", strrchr(path, '/') + 1);
    return true;
}

/* Shows the signature and description of a name, and the module to import if needed.  false: the name is unknown. */
static bool describe_name(qs_vm *vm, const char *name, Text *out) {
    if (describe_foreign(vm, name, out)) return true;
    int slot = qnames_lookup(vm, qvm(vm)->session, qstr_cname(qvm_ctx(vm), name));
    qs_value v = slot >= 0 ? *qvm_global(vm, (uint64_t)slot) : qs_nil();
    const LibDoc *row = row_of(name), *other = qlib_called_elsewhere(name);
    if (v.kind == QS_FUNCTION) describe_function(v.u.p, out);
    else if (row) show_row(row, out);
    else if (describe_value(vm, v, name, out) || describe_library(vm, name, out)) return true;
    else if (other) show_row(other, out);
    else return false;
    return true;
}

/* Describes a keyword of the language. */
static bool show_word(const char *name, Text *out) {
    static const struct {
        const char *word, *form, *sentence;
    } words[] = {
#define WORD(word, form, sentence) {word, form, sentence},
#include "lang/syntax/words.def"
#define ACCESS(name, spelling, mapped, help) {spelling, "x : mat'" spelling, help},
#include "vm/base/access.def"
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].word, name)) return qtext_printf(out, "%s\n%s\n", words[i].form, words[i].sentence), true;
    return false;
}

/* -- words --------------------------------------------------------------------------------------------------------- */

enum { MOST_HITS = 12 };

static bool list_module(void *ud, const char *path) {
    const char *name = strrchr(path, '/') + 1;
    qtext_printf(ud, " %.*s", (int)strcspn(name, "."), name);
    return false;
}

static void show_groups(qs_vm *vm, const LibDoc *docs, int n, Text *out) {
    qtext_puts(out, "?name tells what a function does, ?word what there is about a word or a group of functions:\n");
    for (int i = 0; i < n; i++)
        if (!docs[i].name) qtext_printf(out, "  %s\n", docs[i].doc);
    qtext_puts(out, "Modules of the library, which import \"name.q\" brings:");
    qlibrary_each(vm, list_module, out);
    qtext_puts(out, "\nAn expression shows its value, unless it ends in ;  The value is called ans then.\n"
                    "who lists the variables.  Ctrl-C stops what runs, Ctrl-D or exit ends.\n");
}

/* Lists the signatures of a group whose title begins with the word. */
static bool show_group(const LibDoc *docs, int n, const char *word, Text *out) {
    bool in = false, found = false;
    for (int i = 0; i < n; i++) {
        if (!docs[i].name) in = strlen(word) > 2 && !strncasecmp(docs[i].doc, word, strlen(word));
        else if (in) qtext_printf(out, "%s\n", docs[i].signature), found = true;
    }
    return found;
}

typedef struct {
    qs_vm *vm;
    const char *word;
    Text *out;
    int hits;
} Search;

static void add_hit(Search *s, const char *name, const char *doc) {
    if (s->hits++ < MOST_HITS) qtext_printf(s->out, "%-16s %.*s\n", name, (int)strcspn(doc, ".;:\n"), doc);
}

static void search_row(Search *s, const LibDoc *row) {
    const char *const texts[] = {row->doc, row->signature, row->matlab, row->numpy};
    bool found = false;
    for (int i = 0; i < 4; i++) found |= strcasestr(texts[i], s->word) != NULL;
    if (found) add_hit(s, row->name, row->doc);
}

static bool search_module(void *ud, const char *path) {
    Search *s = ud;
    Module *m;
    if (qmod_load_file(s->vm, path, &m) != QS_OK) return qs_error_clear(s->vm), false;
    for (int i = 0; i < m->units[0]->nfuncs; i++) {
        const Func *f = m->units[0]->funcs[i]->u.func;
        const char *title = strstr(doc_of(f), "Function: ");
        const char *text = title ? strchr(title, '\n') : NULL;
        if (text && strcasestr(title, s->word)) add_hit(s, f->name->s, text + 1);
    }
    return false;
}

static bool show_hits(qs_vm *vm, const LibDoc *docs, int n, const char *word, Text *out) {
    Search s = {vm, word, out, 0};
    for (int i = 0; i < n; i++)
        if (docs[i].name) search_row(&s, &docs[i]);
    qlibrary_each(vm, search_module, &s);
    if (s.hits > MOST_HITS) qtext_printf(out, "and %d more\n", s.hits - MOST_HITS);
    return s.hits > 0;
}

void qhelp_show(qs_vm *vm, const char *question) {
    Text t, name;
    int n;
    const LibDoc *docs = qlib_docs(&n);
    qtext_init(&t, qvm_ctx(vm)), qtext_init(&name, qvm_ctx(vm));
    question += strspn(question, " \t");
    qtext_add(&name, question, strcspn(question, "\r\n(;"));
    while (name.len && name.s[name.len - 1] == ' ') name.s[--name.len] = 0;
    Nearest near = {.wanted = name.s};
    if (!name.len) show_groups(vm, docs, n, &t);
    else if (show_word(name.s, &t) | describe_name(vm, name.s, &t) || show_group(docs, n, name.s, &t) ||
             show_hits(vm, docs, n, name.s, &t)) { /* already answered */
    } else if (qdiag_habit(name.s, name.len)) {
        qtext_printf(&t, "nothing is called %s here: %s\n", name.s, qdiag_habit(name.s, name.len));
    } else if (qnames_offer(vm, qvm(vm)->session, &near) && near.best)
        qtext_printf(&t, "nothing is known of %s; did you mean %s?\n", name.s, near.best);
    else qtext_printf(&t, "nothing is known of %s\n", name.s);
    qvm_write(vm, t.s, t.len);
    qtext_free(&t), qtext_free(&name);
}

void qhelp_variables(qs_vm *vm) {
    Text t;
    const Map *names = &qvm(vm)->session->names;
    qtext_init(&t, qvm_ctx(vm));
    for (uint32_t i = 0; i < names->n; i++) {
        qs_value v = *qvm_global(vm, names->entries[i].val);
        if (v.kind == QS_NIL || v.kind == QS_FUNCTION || qast_is_initial_name(names->entries[i].key)) continue;
        qtext_printf(&t, "%-12s %-12s ", names->entries[i].key->s, qs_type_name(vm, v));
        for (int d = 0; v.kind == QS_ARRAY && d < qval_array(v)->rank; d++)
            qtext_printf(&t, "%s%lld", d ? "x" : "", (long long)qval_array(v)->dims[d]);
        if (qval_is_number(v) && qfmt_brief(vm, v, &t) != QS_OK) qs_error_clear(vm);
        qtext_puts(&t, "\n");
    }
    qvm_write(vm, t.s ? t.s : "", t.len);
    qtext_free(&t);
}

/* -- the manual ---------------------------------------------------------------------------------------------------- */

typedef struct {
    qs_vm *vm;
    Text *out;
} Manual;

/* Appends text in a table cell. */
static void add_cell(Text *out, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '|') qtext_putc(out, '\\');
        qtext_putc(out, s[i] == '\n' ? ' ' : s[i]);
    }
}

/* Appends a table row for a documented function: its signature and first paragraph. */
static void add_function(qs_vm *vm, const Func *f, const char *module, Text *out) {
    const char *title = strstr(doc_of(f), "Function: ");
    if (!title) return;
    const char *text = title + strcspn(title, "\n"), *end;
    text += *text == '\n';
    end = strstr(text, "\n\n");
    if (!end) end = strstr(text, "\n:");
    Text signature;
    qtext_init(&signature, qvm_ctx(vm));
    add_signature(f, &signature);
    qtext_puts(out, "| `");
    add_cell(out, signature.s, signature.len);
    qtext_puts(out, "` | ");
    add_cell(out, text, end ? (size_t)(end - text) : strlen(text));
    qtext_printf(out, " | `%s` |\n", module);
    qtext_free(&signature);
}

static bool add_module(void *ud, const char *path) {
    const Manual *m = ud;
    Module *module;
    if (qmod_load_file(m->vm, path, &module) != QS_OK) return qs_error_clear(m->vm), false;
    const Unit *u = module->units[0];
    for (int i = 0; i < u->nfuncs; i++) add_function(m->vm, u->funcs[i]->u.func, strrchr(path, '/') + 1, m->out);
    return false;
}

void qhelp_manual(qs_vm *vm, Text *out) {
    qlib_manual(out);
    qtext_puts(out, "\n## Library modules\n\nThese are written in the language; a call loads the module. `?imfilter` "
                    "tells more.\n\n"
                    "| function | what it does | module |\n|---|---|---|\n");
    qlibrary_each(vm, add_module, &(Manual){vm, out});
}
