#include "vm/prompt.h"

#include "lang/parse.h"
#include "stdlib/stdlib.h"
#include "vm/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- lines: libedit when it is there and somebody types, else plain reading -------------------------------------- */

typedef struct {
    qs_vm *vm;
    bool typed;                             /* input is a terminal */
    char *(*readline)(const char *prompt);  /* NULL: plain */
    void (*add_history)(const char *line);
} Lines;

static Lines open_lines(qs_vm *vm) {
    Lines l = {.vm = vm, .typed = isatty(0) && isatty(1)};
    static const char *const names[] = {"libedit.so.2", "libedit.so.0", "libedit.so"};
    void *lib = NULL;
    for (int i = 0; l.typed && !lib && i < 3; i++) lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!lib) return l;
    *(void **)&l.readline = dlsym(lib, "readline");
    *(void **)&l.add_history = dlsym(lib, "add_history");
    return l;
}

static char *plain_line(const Lines *l, const char *prompt) {
    char *line = NULL;
    size_t cap = 0;
    if (l->typed) {
        fputs(prompt, stdout);
        fflush(stdout);
    }
    ssize_t n = getline(&line, &cap, stdin);
    if (n < 0) {
        free(line);
        return NULL;
    }
    if (n > 0 && line[n - 1] == '\n') line[n - 1] = 0;
    return line;
}

static char *next_line(const Lines *l, const char *prompt) {
    if (!l->readline) return plain_line(l, prompt);
    char *line = l->readline(prompt);
    if (line && *line && l->add_history) l->add_history(line);
    return line;
}

/* A whole statement, perhaps of several lines, added to `text`; false at the end of the input. */
static bool read_statement(const Lines *l, Text *text) {
    bool more = false;
    text->len = 0;
    do {
        char *line = next_line(l, more ? "... " : "> ");
        if (qvm_take_interrupt(l->vm)) { /* Ctrl-C: what was typed so far is dropped */
            free(line);
            clearerr(stdin);
            text->len = 0;
            more = false;
            if (l->typed) fputs("\n", stdout);
            continue;
        }
        if (!line) return text->len > 0;
        qtext_puts(text, line);
        qtext_puts(text, "\n");
        free(line);
        more = qparse_incomplete(qvm_ctx(l->vm), text->s, text->len);
    } while (more || text->len == 0);
    return true;
}

/* -- help -------------------------------------------------------------------------------------------------------- */

static void signature(const Func *f, Text *out) {
    qtext_printf(out, "%s(", f->name->s);
    for (int i = 0; i < f->nparams; i++)
        qtext_printf(out, "%s%s%s", i ? ", " : "", f->params[i].variadic ? "..." : "", f->params[i].name->s);
    qtext_puts(out, ")\n");
    if (f->doc) qtext_printf(out, "%s\n", f->doc->s);
}

static void describe(const Function *fn, Text *out) {
    if (fn->fkind == FN_SCRIPT) signature(fn->ast, out);
    if (fn->fkind == FN_NATIVE && fn->native->doc) qtext_printf(out, "%s\n", fn->native->doc);
    for (int i = 0; i < fn->nmembers; i++) describe(fn->members[i], out);
}

bool qprompt_help(qs_vm *vm, const char *name, Text *out) {
    int n, slot = qmod_lookup(vm, qvm(vm)->session, qstr_cname(qvm_ctx(vm), name));
    if (slot >= 0 && qvm_global(vm, (uint64_t)slot)->kind == QS_FUNCTION) {
        describe(qvm_global(vm, (uint64_t)slot)->u.p, out);
        return true;
    }
    const LibDoc *docs = qlib_docs(&n);
    for (int i = 0; i < n; i++) {
        if (!docs[i].name || strcmp(docs[i].name, name) != 0) continue;
        qtext_printf(out, "%s\n%s\n", docs[i].signature, docs[i].doc);
        return true;
    }
    return false;
}

static void show_help(qs_vm *vm, char *name) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    while (*name == ' ') name++;
    name[strcspn(name, " \n(")] = 0;
    if (!*name) qtext_puts(&t, "?name shows what a function does; an expression shows its value; Ctrl-D ends.\n");
    else if (!qprompt_help(vm, name, &t)) qtext_printf(&t, "nothing is known of %s\n", name);
    qvm_write(vm, t.s, t.len);
    qtext_free(&t);
}

/* -- running ----------------------------------------------------------------------------------------------------- */

void qprompt_echo(qs_vm *vm, qs_value v) {
    Text t;
    if (v.kind == QS_NIL) return;
    qtext_init(&t, qvm_ctx(vm));
    if (qfmt_brief(vm, v, &t) == QS_OK) {
        qtext_puts(&t, "\n");
        qvm_write(vm, t.s, t.len);
    }
    qtext_free(&t);
}

static bool run_statement(qs_vm *vm, const char *text) {
    qs_value v = qs_nil();
    qs_status s = qs_eval(vm, text, &v);
    if (s == QS_OK) {
        qprompt_echo(vm, v);
    } else if (!qs_exit_code(vm, NULL)) {
        const char *report = s == QS_EINTERRUPT ? "interrupted\n" : qs_error_report(vm);
        qvm_diagnostic(vm, report, strlen(report));
    }
    qs_release(vm, v);
    qs_error_clear(vm);
    qvm_flush(vm);
    return s == QS_OK;
}

/* What people type at any prompt, when the program has not given the word a meaning of its own. */
static bool is_word(const char *text, const char *word) {
    size_t n = strlen(word);
    return strncmp(text, word, n) == 0 && text[n + strspn(text + n, " \t\r\n;()")] == 0;
}

bool qprompt_run(qs_vm *vm) {
    Lines l = open_lines(vm);
    Text text;
    bool good = true;
    qtext_init(&text, qvm_ctx(vm));
    if (l.typed) printf("Quasar %s   ?name for help, Ctrl-D to end\n", qs_version());
    while (!qs_exit_code(vm, NULL) && read_statement(&l, &text)) {
        if (is_word(text.s, "exit") || is_word(text.s, "quit")) break;
        if (is_word(text.s, "help")) show_help(vm, text.s + strlen(text.s));
        else if (text.s[0] == '?') show_help(vm, text.s + 1);
        else good = run_statement(vm, text.s) && good;
        qvm_flush(vm);
    }
    qtext_free(&text);
    if (l.typed) printf("\n");
    return good || l.typed;
}

/* -- dumps ------------------------------------------------------------------------------------------------------- */

static qs_status dump_function(qs_vm *vm, Func *f, Text *out);

static qs_status dump_literals(qs_vm *vm, const Proto *p, Text *out) {
    for (uint32_t i = 0; i < p->chunk.nlits; i++)
        if (p->chunk.lits[i].kind == LIT_FUNC) TRY(dump_function(vm, p->chunk.lits[i].u.func, out));
    return QS_OK;
}

static qs_status dump_function(qs_vm *vm, Func *f, Text *out) {
    Proto *p;
    if (f->qual == Q_KERNEL) return QS_OK;
    TRY(qproto_of(vm, f, false, &p));
    qbytecode_print(&p->chunk, out);
    return dump_literals(vm, p, out);
}

qs_status qprompt_dump(qs_vm *vm, const char *path, const char *what, Text *out) {
    Module *m;
    TRY(qmod_load_file(vm, path, &m));
    const Unit *u = m->units[0];
    if (strcmp(what, "ast") == 0) {
        qast_print(u, out);
        return QS_OK;
    }
    TRY(dump_function(vm, u->main, out));
    for (int i = 0; i < u->nfuncs; i++) TRY(dump_function(vm, u->funcs[i]->u.func, out));
    return QS_OK;
}
