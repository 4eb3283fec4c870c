#include "vm/api/prompt.h"

#include "lang/syntax/parse.h"
#include "stdlib/stdlib.h"
#include "vm/api/help.h"
#include "vm/interp/proto.h"
#include "vm/program/library.h"
#include "vm/program/module.h"
#include "vm/program/names.h"
#include "vm/program/python.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- completion of the word being typed ---------------------------------------------------------------------------- */

/* The active prompt.  readline passes no user data to its callbacks. */
static struct Completion {
    qs_vm *vm;
    Text words;  /* the candidates, each terminated by a NUL */
    size_t at;   /* offset of the next candidate */
    char **line; /* the typed line, up to *point; NULL: unknown */
    int *point;
} * completing;

static void add_word(struct Completion *c, const char *prefix, size_t nprefix, const char *name, const char *text) {
    if (strncmp(name, text + nprefix, strlen(text + nprefix)) != 0) return;
    qtext_add(&c->words, prefix, nprefix);
    qtext_add(&c->words, name, strlen(name) + 1);
}

/* Releases the VM while the prompt waits for a line, so that other threads and Python's windows can run. */
static void release_vm(qs_vm *vm) {
    const Python *python = qpython_release_vm(vm);
    if (python) python->serve_windows();
}

/* Adds the attributes of a Python object: m.linalg.no */
static void add_members(struct Completion *c, qs_value v, const char *text, const char *first, const char *last) {
    qs_value names;
    char path[256] = "";
    if (last > first && last - first < (ptrdiff_t)sizeof path)
        snprintf(path, sizeof path, "%.*s", (int)(last - first - 1), first + 1);
    qpython_acquire_vm(qvm(c->vm)->python);
    bool known = qvm(c->vm)->python->members(c->vm, v, path, &names) == QS_OK;
    if (!known) qs_error_clear(c->vm);
    release_vm(c->vm);
    if (!known) return;
    for (char *s = ((Str *)names.u.p)->s, *end; (end = strchr(s, '\n')); s = end + 1) {
        *end = 0; /* the string has no other reference */
        add_word(c, text, (size_t)(last + 1 - text), s, text);
    }
    qval_release(c->vm, names);
}

/* Adds the fields of an object in a session variable: o.fi */
static void add_fields(struct Completion *c, const char *text, const char *dot) {
    uint64_t slot;
    const char *first = strchr(text, '.');
    Str *name = qstr_name(qvm_ctx(c->vm), text, (size_t)(first - text)), *field;
    qs_value v = qs_nil(), x;
    if (qmap_get(&qvm(c->vm)->session->names, name, &slot)) v = *qvm_global(c->vm, slot);
    if (v.kind == QS_FOREIGN && qvm(c->vm)->python) add_members(c, v, text, first, dot);
    for (uint32_t i = 0; v.kind == QS_OBJECT && first == dot && qobj_field(v.u.p, i, &field, &x); i++)
        if (field) add_word(c, text, (size_t)(dot + 1 - text), field->s, text);
}

static void add_name(void *ud, const char *name) {
    const char *const *text = ud;
    add_word(completing, "", 0, name, *text);
}

/* Completion in strings: files and library modules.  readline's word ends at '/' or '-', so the whole string is used,
 * and a candidate is the word plus the missing part. */
typedef struct {
    struct Completion *c;
    const char *word, *text;
} InString;

static void add_rest(const InString *s, const char *leaf, const char *name) {
    size_t n = strlen(leaf);
    if (strncmp(name, leaf, n) != 0) return;
    qtext_puts(&s->c->words, s->word);
    qtext_add(&s->c->words, name + n, strlen(name + n) + 1);
}

static bool add_module(void *ud, const char *path) {
    const InString *s = ud;
    add_rest(s, s->text, strrchr(path, '/') + 1);
    return false;
}

/* Folders end with a slash; hidden files are listed only if the name begins with a dot. */
static void add_files(const InString *s) {
    const char *slash = strrchr(s->text, '/'), *leaf = slash ? slash + 1 : s->text;
    char folder[PATH_MAX], path[PATH_MAX * 2], name[NAME_MAX + 2];
    struct dirent **files;
    struct stat is;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(leaf - s->text) : 2, slash ? s->text : "./");
    int n = scandir(folder, &files, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s%s", folder, files[i]->d_name);
        bool is_folder = stat(path, &is) == 0 && S_ISDIR(is.st_mode);
        snprintf(name, sizeof name, "%s%s", files[i]->d_name, is_folder ? "/" : "");
        if (name[0] != '.' || leaf[0] == '.') add_rest(s, leaf, name);
        free(files[i]);
    }
    if (n >= 0) free(files);
}

/* Returns the contents of the string that is open at the end of the line; NULL: none. */
static const char *open_string(const char *line) {
    const char *open = NULL;
    for (; *line; line++)
        if (*line == '"') open = open ? NULL : line + 1;
    return open;
}

static void add_candidates(struct Completion *c, const char *text) {
    const char *dot = strrchr(text, '.');
    char line[PATH_MAX] = "";
    if (c->line && *c->line) snprintf(line, sizeof line, "%.*s", *c->point, *c->line);
    InString s = {c, text, open_string(line)};
    if (s.text) {
        if (strncmp(line, "import", 6) == 0) qlibrary_each(c->vm, add_module, &s);
        add_files(&s);
    } else if (dot) {
        add_fields(c, text, dot);
    } else if (*text) { /* an empty word is not completed: a pasted tab is indentation */
        qvm_each_name(c->vm, NULL, add_name, &text);
    }
}

static char *complete_word(const char *text, int again) {
    struct Completion *c = completing;
    if (!again) {
        c->words.len = c->at = 0;
        add_candidates(c, text);
    }
    if (c->at >= c->words.len) return NULL;
    char *word = strdup(c->words.s + c->at);
    c->at += strlen(word) + 1;
    return word;
}

/* -- input lines: by libedit if available and the input is a terminal, else by getline ----------------------------- */

typedef struct {
    qs_vm *vm;
    bool typed;                            /* input is a terminal */
    char *(*readline)(const char *prompt); /* NULL: libedit is not available */
    void (*add_history)(const char *line);
    int (*write_history)(const char *file);
    int (**while_waiting)(void); /* called repeatedly by libedit while it waits for input; NULL: unknown */
    char history[PATH_MAX];      /* path of the file; "": none */
    struct Completion completion;
} Lines;

static void open_history(Lines *l, void *lib) {
    int (*read_history)(const char *);
    const char *home = getenv("HOME");
    *(void **)&read_history = dlsym(lib, "read_history");
    *(void **)&l->write_history = dlsym(lib, "write_history");
    if (!home || !read_history || !l->write_history) return;
    if (snprintf(l->history, sizeof l->history, "%s/.quasar_history", home) >= PATH_MAX) l->history[0] = 0;
    else read_history(l->history);
}

static void open_completion(Lines *l, void *lib) {
    char *(**entry)(const char *, int) = dlsym(lib, "rl_completion_entry_function");
    const char **breaks = dlsym(lib, "rl_basic_word_break_characters");
    int *append = dlsym(lib, "rl_completion_append_character");
    if (!entry) return;
    *entry = complete_word;
    if (breaks) *breaks = " \t\n\"'`@$><=;|&{}()[]+-*/^,:!?";
    if (append) *append = 0;
    l->completion.point = dlsym(lib, "rl_point");
    if (l->completion.point) l->completion.line = dlsym(lib, "rl_line_buffer");
    l->completion.vm = l->vm;
    qtext_init(&l->completion.words, qvm_ctx(l->vm));
    completing = &l->completion;
}

static void open_lines(qs_vm *vm, Lines *l) {
    *l = (Lines){.vm = vm, .typed = isatty(0) && isatty(1)};
    static const char *const names[] = {"libedit.so.2", "libedit.so.0", "libedit.so"};
    void *lib = NULL;
    for (int i = 0; l->typed && !lib && i < 3; i++) lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!lib) return;
    if (!setlocale(LC_CTYPE, "C.UTF-8")) setlocale(LC_CTYPE, ""); /* otherwise typed non-ASCII characters are lost */
    *(void **)&l->readline = dlsym(lib, "readline");
    *(void **)&l->add_history = dlsym(lib, "add_history");
    l->while_waiting = dlsym(lib, "rl_event_hook");
    open_history(l, lib);
    open_completion(l, lib);
}

static void close_lines(Lines *l) {
    if (l->history[0]) l->write_history(l->history);
    if (completing) qtext_free(&l->completion.words);
    completing = NULL;
}

/* Runs window event handlers of the program; their errors are reported and otherwise ignored. */
static int look_at_windows(qs_vm *vm) {
    bool happened = qflag_is_up(&qvm(vm)->attention);
    if (!happened) poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, 20); /* typed input has priority */
    if (!happened) return 0;
    qpython_acquire_vm(qvm(vm)->python);
    if (qvm_attend(vm) != QS_OK) {
        fprintf(stderr, "\n%s", qs_error_report(vm));
        qs_error_clear(vm);
    }
    qvm_flush(vm);
    release_vm(vm);
    return 0;
}

static int while_waiting(void) { return look_at_windows(completing->vm); } /* libedit passes no argument */

static char *plain_line(const Lines *l, const char *prompt) {
    char *line = NULL;
    size_t cap = 0;
    if (l->typed) {
        fputs(prompt, stdout);
        fflush(stdout);
    }
    while (qvm(l->vm)->windows && l->typed && !qflag_is_up(&qvm(l->vm)->interrupted) &&
           poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, 0) == 0)
        look_at_windows(l->vm);
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
    if (l->while_waiting) *l->while_waiting = qvm(l->vm)->windows ? while_waiting : NULL;
    return l->readline(prompt);
}

/* Adds a statement to the history, with all lines of a block. */
static void add_to_history(const Lines *l, Text *text) {
    size_t last = text->len - 1; /* newline at the end of the last line */
    if (!l->add_history || !text->s[strspn(text->s, " \t\r\n")]) return;
    text->s[last] = 0;
    l->add_history(text->s);
    text->s[last] = '\n';
}

/* Converts `sum?`, the syntax of IPython, to ?sum. */
static void turn_question(Text *text) {
    size_t n = 0;
    while (isalnum((unsigned char)text->s[n]) || text->s[n] == '_') n++;
    if (!n || text->s[n] != '?' || text->s[n + 1 + strspn(text->s + n + 1, " \t\r\n")]) return;
    memmove(text->s + 1, text->s, n);
    text->s[0] = '?';
}

/* Reads a complete statement, possibly of several lines, into `text`; false at the end of the input. */
static bool read_statement(const Lines *l, Text *text) {
    bool more = false;
    qtext_clear(text);
    do {
        release_vm(l->vm);
        char *line = next_line(l, more ? "... " : "> ");
        qpython_acquire_vm(qvm(l->vm)->python);
        if (qvm_take_interrupt(l->vm)) { /* Ctrl-C: discards the typed text */
            free(line);
            clearerr(stdin);
            qtext_clear(text);
            more = false;
            if (l->typed) fputs("\n", stdout);
            continue;
        }
        if (!line) return text->len > 0;
        qtext_puts(text, line);
        qtext_puts(text, "\n");
        free(line);
        turn_question(text);
        more = qparse_incomplete(qvm_ctx(l->vm), text->s, text->len);
    } while (more || text->len == 0);
    return add_to_history(l, text), true;
}

/* -- running ------------------------------------------------------------------------------------------------------- */

static void echo_value(qs_vm *vm, qs_value v) {
    Text t;
    if (v.kind == QS_NIL) return;
    qtext_init(&t, qvm_ctx(vm));
    if (qfmt_brief(vm, v, &t) == QS_OK) {
        const char *name = v.kind == QS_FUNCTION ? ((Function *)v.u.p)->name->s : "lambda";
        if (strcmp(name, "lambda")) qtext_printf(&t, ": %s() calls it, ?%s tells what it does", name, name);
        qtext_puts(&t, "\n");
        qvm_write(vm, t.s, t.len);
    }
    qtext_free(&t);
}

/* A final semicolon suppresses the value. */
static bool is_quiet(const char *text) {
    size_t n = strlen(text);
    while (n && strchr(" \t\r\n", text[n - 1])) n--;
    return n && text[n - 1] == ';';
}

static bool finish_statement(qs_vm *vm, qs_status s) {
    if (s != QS_OK && !qs_exit_code(vm, NULL)) {
        const char *report = s == QS_EINTERRUPT ? "interrupted\n" : qs_error_report(vm);
        qvm_diagnostic(vm, report, strlen(report));
    }
    qs_error_clear(vm);
    qvm_flush(vm);
    return s == QS_OK;
}

static bool run_statement(qs_vm *vm, const char *text) {
    qs_value v = qs_nil();
    qs_status s = qs_eval(vm, text, &v);
    if (s == QS_OK) {
        if (!is_quiet(text)) echo_value(vm, v);
        if (v.kind != QS_NIL) s = qs_set_global(vm, "ans", v);
    }
    bool good = finish_statement(vm, s);
    qs_release(vm, v);
    return good;
}

static void report_reloaded(qs_vm *vm, const Module *m) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s is loaded again\n", m->units[0]->src->path);
    if (t.s) qvm_write(vm, t.s, t.len);
    qtext_free(&t);
}

static bool reload_modules(qs_vm *vm) { return finish_statement(vm, qmod_reload(vm, report_reloaded)); }

/* Recognizes common prompt commands, unless the program defines the word. */
static bool is_word(qs_vm *vm, const char *text, const char *word) {
    size_t n = strlen(word);
    if (qmap_at(&qvm(vm)->session->names, qstr_cname(qvm_ctx(vm), word))) return false;
    return strncmp(text, word, n) == 0 && text[n + strspn(text + n, " \t\r\n;()")] == 0;
}

/* Recognizes `help sum`, the syntax of MATLAB. */
static bool is_command(qs_vm *vm, const char *text, const char *word) {
    size_t n = strlen(word);
    if (qmap_at(&qvm(vm)->session->names, qstr_cname(qvm_ctx(vm), word))) return false;
    return strncmp(text, word, n) == 0 && text[n] == ' ' && (isalpha((unsigned char)text[n + 1]) || text[n + 1] == '_');
}

bool qprompt_run(qs_vm *vm) {
    Lines l;
    Text text;
    bool good = true;
    open_lines(vm, &l);
    qtext_init(&text, qvm_ctx(vm));
    if (l.typed) printf("Quasar %s   ?name for help, Ctrl-D to end\n", qs_version());
    while (!qs_exit_code(vm, NULL) && read_statement(&l, &text)) {
        if (is_word(vm, text.s, "exit") || is_word(vm, text.s, "quit")) break;
        if (is_word(vm, text.s, "help")) qhelp_show(vm, text.s + strlen(text.s));
        else if (is_command(vm, text.s, "help") || is_command(vm, text.s, "doc")) qhelp_show(vm, strchr(text.s, ' '));
        else if (is_word(vm, text.s, "who") || is_word(vm, text.s, "whos")) qhelp_variables(vm);
        else if (is_word(vm, text.s, "reload")) good = reload_modules(vm) && good;
        else if (text.s[0] == '?') qhelp_show(vm, text.s + 1);
        else good = run_statement(vm, text.s) && good;
        qvm_flush(vm);
    }
    qtext_free(&text);
    close_lines(&l);
    if (l.typed) printf("\n");
    return good || l.typed;
}

/* -- dumps --------------------------------------------------------------------------------------------------------- */

/* A function that is being printed, and those around it: lambdas may refer to themselves. */
typedef struct Dumped {
    const Func *func;
    const struct Dumped *around;
} Dumped;

static qs_status dump_function(qs_vm *vm, Func *f, const Dumped *around, Text *out) {
    const Dumped here = {f, around};
    Proto *p;
    for (const Dumped *d = around; d; d = d->around)
        if (d->func == f) return QS_OK;
    if (f->qual == Q_KERNEL) return QS_OK;
    TRY(qproto_of(vm, f, false, &p));
    qbytecode_print(&p->chunk, out);
    for (uint32_t i = 0; i < p->chunk.nlits; i++)
        if (p->chunk.lits[i].kind == LIT_FUNC) TRY(dump_function(vm, p->chunk.lits[i].u.func, &here, out));
    return QS_OK;
}

qs_status qprompt_dump(qs_vm *vm, const char *path, const char *text, const char *what, Text *out) {
    Module *m;
    if (text) TRY(qmod_load_text(vm, "input", text, strlen(text), &m));
    else TRY(qmod_load_file(vm, path, &m));
    const Unit *u = m->units[0];
    if (strcmp(what, "ast") == 0) {
        qast_print(u, out);
        return QS_OK;
    }
    TRY(dump_function(vm, u->main, NULL, out));
    for (int i = 0; i < u->nfuncs; i++) TRY(dump_function(vm, u->funcs[i]->u.func, NULL, out));
    return QS_OK;
}

qs_status qprompt_check(qs_vm *vm, const char *path, const char *text) {
    Module *m;
    return text ? qmod_load_text(vm, "input", text, strlen(text), &m) : qmod_load_file(vm, path, &m);
}
