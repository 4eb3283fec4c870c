/* make.c -- creates executables and libraries that need no compiler at run time.
 *
 * The required machine code is found by running the program.  A kernel has a specialization for each specialization key
 * of its arguments, and loops and expressions are compiled only where it pays off, so the text alone does not determine
 * it.  While the program (or a script given with --train) runs, everything that is compiled is also compiled for the
 * targets and added to a bundle (devices/bundle.h), together with the texts of the program and its imports.
 *
 *     program ──► run, with config.compile_for ──► code by its keys ─┐
 *        └──────► its modules and imports, as texts ─────────────────┴─► bundle ──► behind a copy of qrun   exe
 *                                                                              └──► in a shared object      lib */
#include "vm/api/make.h"
#include "devices/bundle.h"
#include "devices/solib.h"
#include "stdlib/stdlib.h"
#include "vm/api/bindings.h"
#include "vm/api/options.h"
#include "vm/base/file.h"
#include "vm/base/warning.h"
#include "vm/launch/launch.h"
#include "vm/program/module.h"
#include "vm/program/names.h"
#include "vm/value/machine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- modules ------------------------------------------------------------------------------------------------------- */
enum { MODULES = 256 };
typedef struct {
    qs_vm *vm;
    BundleMaker *maker;
    Module *at[MODULES];
    int n;
    char folder[PATH_MAX]; /* folder of the program */
} Gather;

static int index_of(const Gather *g, const Module *m) {
    int i = 0;
    while (i < g->n && g->at[i] != m) i++;
    return i;
}

static bool gather_module(void *ud, Module *m) {
    Gather *g = ud;
    if (index_of(g, m) == g->n && g->n < MODULES && m->nunits) g->at[g->n++] = m;
    return false;
}

static bool is_library(qs_vm *vm, const Module *m, const char **name) {
    char path[PATH_MAX];
    const char *slash = strrchr(m->path, '/');
    *name = slash ? slash + 1 : m->path;
    return slash && qlibrary_find(vm, slash + 1, path) && !strcmp(path, m->path);
}

static bool is_ours(const char *path) { return path[0] == '+' || !strncmp(path, "stdlib/", 7); }

/* Names a module as messages show it: by its path relative to the program's folder, or as stdlib/name.  All other
 * modules get a number, also if their path looks like one of these, so that names are unique. */
static bool name_module(const Gather *g, int i, char out[PATH_MAX]) {
    const char *name, *path = g->at[i]->path;
    size_t n = strlen(g->folder);
    bool library = is_library(g->vm, g->at[i], &name);
    if (library) snprintf(out, PATH_MAX, "stdlib/%s", name);
    else if (!strncmp(path, g->folder, n) && !is_ours(path + n)) snprintf(out, PATH_MAX, "%s", path + n);
    else snprintf(out, PATH_MAX, "+%d/%s", i, name);
    return library;
}

static void add_imports(const Gather *g, const Unit *u) {
    for (int i = 0; i < u->imports.n; i++) {
        const Node *n = u->imports.at[i];
        int to = n->u.import.unit ? index_of(g, n->u.import.unit->module) : g->n;
        if (to == g->n) continue; /* built in */
        Text name;
        qtext_init(&name, qvm_ctx(g->vm));
        qmod_import_name(n, &name);
        qbundle_add_import(g->maker, name.s ? name.s : "", (uint32_t)to);
        qtext_free(&name);
    }
}

/* Adds the library modules that C calls, which programs do not import. */
static qs_status gather_called(Gather *g) {
    char path[PATH_MAX];
    Module *m;
    for (const char *const *file = qmod_called; *file; file++) {
        if (!qlibrary_find(g->vm, *file, path)) continue;
        TRY(qmod_load_file(g->vm, path, &m));
        gather_module(g, m);
        qmod_over_files(g->vm, m, gather_module, g);
    }
    return QS_OK;
}

static qs_status add_modules(qs_vm *vm, BundleMaker *maker, Module *program) {
    Gather *g = qmem_alloc(qvm_ctx(vm), sizeof *g);
    const char *slash = strrchr(program->path, '/');
    g->vm = vm, g->maker = maker;
    snprintf(g->folder, sizeof g->folder, "%.*s", slash ? (int)(slash + 1 - program->path) : 0, program->path);
    gather_module(g, program);
    qmod_over_files(vm, program, gather_module, g);
    qs_status s = gather_called(g);
    if (s == QS_OK && g->n == MODULES) s = qerr_set(qvm_ctx(vm), QS_EIO, "more than %d files", MODULES - 1);
    for (int i = 0; i < g->n && s == QS_OK; i++) {
        char path[PATH_MAX];
        bool library = name_module(g, i, path);
        const Unit *u = g->at[i]->units[0];
        qbundle_add_module(maker, path, u->src->text, u->src->len, library);
        add_imports(g, u);
    }
    qmem_free(qvm_ctx(vm), g, sizeof *g);
    return s;
}

/* -- code ---------------------------------------------------------------------------------------------------------- */
static void add_code(void *maker, CacheKey key, const void *p, size_t n) { qbundle_add_code(maker, key, p, n); }

static void add_targets(qs_vm *vm, BundleMaker *maker) {
    const char *list = qvm(vm)->config.compile_for;
    char name[32];
    while (list && qdevices_next_target(&list, name)) qbundle_add_target(maker, name, qdevprog_libc());
}

static qs_status load_file(qs_vm *vm, const char *file, Module **out) {
    TRY(qmod_load_file(vm, file, out));
    qmod_use(vm, qvm(vm)->session, *out);
    return QS_OK;
}

typedef struct {
    qs_vm *vm;
    qs_status status;
} Ahead;

static bool compile_module(void *ud, Module *m) {
    Ahead *a = ud;
    const char *name;
    if (m->nunits && !is_library(a->vm, m, &name)) a->status = qaot_compile(a->vm, m->units[0]);
    return a->status != QS_OK;
}

/* Compiles kernels that are declared with types.  Only for libraries; running a program shows its kernels. */
static qs_status compile_declared(qs_vm *vm, Module *program) {
    Ahead a = {vm, QS_OK};
    if (!compile_module(&a, program)) qmod_over_files(vm, program, compile_module, &a);
    return a.status;
}

/* Runs the code, to find everything that must be compiled. */
static qs_status run_training(qs_vm *vm, const Make *m, Module **program) {
    if (m->train) TRY(qs_run_file(vm, m->train));
    else if (m->exe && !m->untrained) TRY(qs_run_file(vm, m->file));
    TRY(load_file(vm, m->file, program));
    if (m->exe) return QS_OK;
    TRY(qmod_run(vm, *program));
    return compile_declared(vm, *program);
}

/* -- files --------------------------------------------------------------------------------------------------------- */
/* Prevents the output from overwriting the source. */
static qs_status check_target(qs_vm *vm, const char *path, const char *source) {
    struct stat to, from;
    if (stat(path, &to) || stat(source, &from) || to.st_dev != from.st_dev || to.st_ino != from.st_ino) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s is the program itself; -o names another file", path);
}

/* Writes a new file and renames it, so that running processes keep the old file and readers see a complete one. */
static qs_status write_file(qs_vm *vm, const char *path, const Text *t, mode_t mode) {
    char fresh[PATH_MAX * 3 + 8];
    TRY(qtext_status(t));
    snprintf(fresh, sizeof fresh, "%s.new", path);
    unlink(fresh);
    FILE *f = fopen(fresh, "wb");
    bool good = f && fwrite(t->s, 1, t->len, f) == t->len;
    if (f) good = !fclose(f) && good;
    good = good && !chmod(fresh, mode) && !rename(fresh, path);
    if (good) return QS_OK;
    qs_status s = qerr_set(qvm_ctx(vm), QS_EIO, "%s cannot be written: %s", path, strerror(errno));
    if (f) unlink(fresh);
    return s;
}

static qs_status read_file(qs_vm *vm, const char *path, Text *out) {
    FILE *f = qfile_stream(path);
    char block[16384];
    if (!f) return qerr_set(qvm_ctx(vm), QS_EIO, "%s cannot be read: %s", path, qfile_error(errno));
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) qtext_add(out, block, n);
    bool bad = ferror(f);
    fclose(f);
    return bad ? qerr_set(qvm_ctx(vm), QS_EIO, "%s cannot be read", path) : qtext_status(out);
}

/* Copies this executable, with a mark that says that a program follows. */
static qs_status begin_exe(qs_vm *vm, const Make *m, const char *settings, Text *out) {
    TRY(read_file(vm, "/proc/self/exe", out));
    char *at = memmem(out->s, out->len, m->mark, sizeof *m->mark);
    if (!at) return qerr_set(qvm_ctx(vm), QS_EINTERNAL, "this executable has no mark to be copied with");
    ((PrebuiltMark *)at)->full = 1;
    snprintf(((PrebuiltMark *)at)->settings, PREBUILT_SETTINGS, "%s", settings);
    qtext_pad(out, 0, (16 - out->len % 16) % 16);
    return QS_OK;
}

static void report_file(qs_vm *vm, const char *path, const BundleMaker *maker, size_t bytes) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s: %u pieces of code for %s, %.1f MB\n", path, qbundle_ncodes(maker),
                 qvm(vm)->config.compile_for, (double)bytes / 1e6);
    if (t.s) qvm_diagnostic(vm, t.s, t.len);
    qtext_free(&t);
}

/* Default name: prog for prog.q. */
static void name_exe(const Make *m, char out[PATH_MAX]) {
    const char *slash = strrchr(m->file, '/'), *name = slash ? slash + 1 : m->file, *dot = strrchr(name, '.');
    snprintf(out, PATH_MAX, "%.*s%s", dot ? (int)(dot - name) : (int)strlen(name), name, dot ? "" : ".exe");
    if (m->out) snprintf(out, PATH_MAX, "%s", m->out);
}

/* -- detection of programs that use Python ------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    Module *m;
    bool found;
} PythonUse;

static bool is_python_builtin(const Function *f) {
    static const char *const names[] = {"pyimport", "pyint",    "pybool", "pyfloat", "pystr",
                                        "pyfunc",   "pyconfig", "to_py",  "from_py"};
    for (int i = 0; i < f->nmembers; i++)
        if (is_python_builtin(f->members[i])) return true;
    for (size_t i = 0; f->fkind == FN_NATIVE && i < sizeof names / sizeof *names; i++)
        if (!strcmp(f->name->s, names[i])) return true;
    return false;
}

static void look_at(PythonUse *d, int slot) {
    const qs_value *v = slot < 0 ? NULL : qvm_global(d->vm, (uint64_t)slot);
    d->found = d->found || (v && v->kind == QS_FUNCTION && is_python_builtin(v->u.p));
}

static void look_in_function(PythonUse *d, Func *f);
static void look_at_node(void *ud, Node **child) {
    PythonUse *d = ud;
    const Node *n = *child, *callee = n->kind == N_CALL ? n->u.call.callee : NULL;
    const Sym *sym = qast_symbol(n);
    if (sym && sym->kind == SYM_GLOBAL) look_at(d, sym->index);
    if (callee && callee->kind == N_FIELD) look_at(d, qnames_lookup(d->vm, d->m, callee->u.field.name));
    if (n->kind == N_LAMBDA) look_in_function(d, n->u.lambda.func);
    else if (n->kind == N_FUNC) look_in_function(d, n->u.func);
    else qast_children(*child, look_at_node, d);
}

static void look_in_function(PythonUse *d, Func *f) {
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].init) look_at_node(d, &f->params[i].init);
    for (int i = 0; i < f->body.n; i++) look_at_node(d, &f->body.at[i]);
    if (f->expr) look_at_node(d, &f->expr);
}

/* Returns whether a module calls one of these built-ins by name, or has a method call that may be one. */
static bool calls_python(void *ud, Module *m) {
    PythonUse d = {.vm = ud, .m = m};
    const char *name;
    if (!m->nunits || is_library(ud, m, &name)) return false;
    Unit *u = m->units[0];
    look_in_function(&d, u->main);
    for (int i = 0; i < u->nreductions; i++) look_at_node(&d, &u->reductions[i]->replacement);
    return d.found;
}

/* Returns whether the program used Python in its run, or its text does. */
static bool uses_python(qs_vm *vm, Module *program) {
    return qvm(vm)->python || calls_python(vm, program) || qmod_over_files(vm, program, calls_python, vm);
}

static bool is_packed(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && (!strcmp(dot, ".py") || !strcmp(name, "_inside" BRIDGE_SUFFIX));
}

static qs_status add_file(qs_vm *vm, BundleMaker *maker, const char *path, const char *name) {
    char inside[PATH_MAX + sizeof PREBUILT_PYTHON];
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = read_file(vm, path, &t);
    snprintf(inside, sizeof inside, PREBUILT_PYTHON "%s", name);
    if (s == QS_OK) qbundle_add_module(maker, inside, t.s ? t.s : "", t.len, false);
    qtext_free(&t);
    return s;
}

/* Adds a folder of the Python package, relative to `top`, in alphabetical order. */
static qs_status add_package(qs_vm *vm, BundleMaker *maker, const char *top, const char *folder) {
    char path[PATH_MAX * 2], name[PATH_MAX];
    struct dirent **files;
    qs_status s = QS_OK;
    snprintf(path, sizeof path, "%s/%s", top, folder);
    int n = scandir(path, &files, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, files[i]->d_name);
        snprintf(path, sizeof path, "%s/%s", top, name);
        if (s == QS_OK && is_packed(files[i]->d_name)) s = add_file(vm, maker, path, name);
        free(files[i]);
    }
    if (n < 0) return qerr_set(qvm_ctx(vm), QS_EIO, "%s cannot be read: %s", path, qfile_error(errno));
    return free(files), s;
}

static void report_unbridged(qs_vm *vm, const Module *program) {
    static const char why[] = "uses Python, and the executable will not find the bridge to it: this qrun has none; an "
                              "installation has it in lib/quasar/python, a build where Python's headers are (Debian: "
                              "apt install python3-dev)\n";
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s %s", program->path, why);
    if (t.s) qvm_diagnostic(vm, t.s, t.len);
    qtext_free(&t);
}

/* Python itself is taken from the system where the program runs.  The bridge is added, because it depends on symbols of
 * this build. */
static qs_status add_python(qs_vm *vm, BundleMaker *maker, Module *program) {
    char top[PATH_MAX];
    if (!uses_python(vm, program)) return QS_OK;
    if (!qpython_bridge(top)) return report_unbridged(vm, program), QS_OK;
    TRY(add_package(vm, maker, top, "pyquasar"));
    return add_package(vm, maker, top, "pyquasar/array_api");
}

static qs_status write_exe(qs_vm *vm, const Make *m, BundleMaker *maker, Module *program) {
    char settings[PREBUILT_SETTINGS], path[PATH_MAX];
    Text t;
    TRY(qoptions_keep(qvm_ctx(vm), &qvm(vm)->config, settings, sizeof settings));
    qtext_init(&t, qvm_ctx(vm));
    name_exe(m, path);
    qs_status s = begin_exe(vm, m, settings, &t);
    if (s == QS_OK) s = add_python(vm, maker, program);
    if (s == QS_OK) qbundle_write(maker, qs_version(), settings, &t);
    if (s == QS_OK) s = write_file(vm, path, &t, 0755);
    if (s == QS_OK) report_file(vm, path, maker, t.len);
    qtext_free(&t);
    return s;
}

/* -- libraries ----------------------------------------------------------------------------------------------------- */
typedef struct {
    char name[PATH_MAX], folder[PATH_MAX], object[PATH_MAX];
} Names;

/* filters.q: filters, libfilters.so; -o x/liby.so: y.  The name is the prefix of all function names. */
static qs_status name_library(qs_vm *vm, const Make *m, Names *n) {
    char path[PATH_MAX];
    const char *slash = strrchr(m->file, '/'), *name = slash ? slash + 1 : m->file, *dot = strrchr(name, '.');
    snprintf(path, sizeof path, "lib%.*s.so", dot ? (int)(dot - name) : (int)strlen(name), name);
    if (m->out) snprintf(path, sizeof path, "%s", m->out);
    slash = strrchr(path, '/');
    snprintf(n->folder, sizeof n->folder, "%.*s", slash ? (int)(slash + 1 - path) : 0, path);
    snprintf(n->object, sizeof n->object, "%s", slash ? slash + 1 : path);
    name = strncmp(n->object, "lib", 3) ? n->object : n->object + 3;
    snprintf(n->name, sizeof n->name, "%.*s", (int)strcspn(name, "."), name);
    size_t length = strlen(n->object);
    bool good = length > 3 && !strcmp(n->object + length - 3, ".so") && n->name[0];
    good = good && !(n->name[0] >= '0' && n->name[0] <= '9');
    for (const char *p = n->name; *p; p++) good = good && (isalnum((unsigned char)*p) || *p == '_');
    if (!strcmp(n->name, "quasar") || !strcmp(n->name, "pyquasar"))
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: this is the name of the runtime; -o names another one", path);
    return good ? QS_OK
                : qerr_set(qvm_ctx(vm), QS_EVALUE,
                           "%s: a library is called like libfilters.so: letters, "
                           "digits and _ make names of functions in C",
                           path);
}

/* Refuses to overwrite a user's file: generated files mention "the functions of" in their first line. */
static qs_status check_bindings(qs_vm *vm, const char *path) {
    char line[256] = "";
    FILE *f = qfile_stream(path);
    bool ours = (!f && errno != ENOTSUP) || (f && fgets(line, sizeof line, f) && strstr(line, "he functions of "));
    if (f) fclose(f);
    if (ours) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE,
                    "%s is there, and was not made by qrun --make-lib: it would be lost; "
                    "-o names a library elsewhere",
                    path);
}

static qs_status write_beside(qs_vm *vm, const Names *n, const Face *f, const char *end,
                              void (*print)(const Face *, Text *)) {
    char path[PATH_MAX * 3];
    Text t;
    snprintf(path, sizeof path, "%s%s%s", n->folder, n->name, end);
    TRY(check_bindings(vm, path));
    qtext_init(&t, qvm_ctx(vm));
    print(f, &t);
    qs_status s = write_file(vm, path, &t, 0644);
    qtext_free(&t);
    return s;
}

static qs_status write_bindings(qs_vm *vm, const Names *n, const Face *f) {
    TRY(write_beside(vm, n, f, ".h", qbindings_c));
    TRY(write_beside(vm, n, f, ".hpp", qbindings_cpp));
    TRY(write_beside(vm, n, f, ".py", qbindings_python));
    return write_beside(vm, n, f, ".pyi", qbindings_stub);
}

static qs_status write_object(qs_vm *vm, const Names *n, const Face *f, BundleMaker *maker) {
    Text bundle, all;
    char settings[PREBUILT_SETTINGS], path[PATH_MAX * 3];
    int n_all = f->n + NATIVE_SERVICES;
    TRY(qoptions_keep(qvm_ctx(vm), &qvm(vm)->config, settings, sizeof settings));
    const char **names = qmem_alloc(qvm_ctx(vm), qmem_size((size_t)n_all, sizeof *names, 0));
    qtext_init(&bundle, qvm_ctx(vm)), qtext_init(&all, qvm_ctx(vm));
    for (int i = 0; i < n_all; i++) {
        const Shown *shown = i < NATIVE_SERVICES ? NULL : &f->at[i - NATIVE_SERVICES];
        snprintf(path, sizeof path, "%s_%s", n->name, shown ? shown->symbol : qbindings_services[i]);
        names[i] = qstr_cname(qvm_ctx(vm), path)->s;
        if (shown) qbundle_add_function(maker, shown->name, shown->signature);
    }
    qbundle_write(maker, qs_version(), settings, &bundle);
    const Solib lib = {n->object, QUASAR_SONAME, "qs_native_call", names, (uint32_t)n_all, &bundle};
    qs_status s = qsolib_write(qvm_ctx(vm), &lib, &all);
    snprintf(path, sizeof path, "%s%s", n->folder, n->object);
    if (s == QS_OK) s = write_file(vm, path, &all, 0755);
    if (s == QS_OK) report_file(vm, path, maker, all.len);
    qtext_free(&bundle), qtext_free(&all);
    qmem_free(qvm_ctx(vm), names, (size_t)n_all * sizeof *names);
    return s;
}

static qs_status report_hidden(qs_vm *vm, const Face *f, const Shown *s) {
    return qwarn_at(qvm_ctx(vm), qast_where(s->f->unit, s->f->pos), "%s is not in %s.h: %s", s->name, f->name, s->why);
}

static qs_status write_library(qs_vm *vm, const Make *m, BundleMaker *maker, const Module *program) {
    Names n;
    const char *slash = strrchr(m->file, '/');
    TRY(name_library(vm, m, &n));
    Face f = {.vm = vm, .name = n.name, .source = slash ? slash + 1 : m->file, .object = n.object};
    qbindings_gather(&f, program);
    qs_status s = write_object(vm, &n, &f, maker);
    if (s == QS_OK) s = write_bindings(vm, &n, &f);
    for (int i = 0; i < f.nhidden && s == QS_OK; i++) s = report_hidden(vm, &f, &f.hidden[i]);
    qbindings_free(&f);
    return s;
}

/* Checks the output path before the program runs, which may take long. */
static qs_status check_output(qs_vm *vm, const Make *m) {
    char path[2 * PATH_MAX], folder[2 * PATH_MAX];
    Names n;
    struct stat st;
    if (m->exe) name_exe(m, path);
    else TRY(name_library(vm, m, &n));
    if (!m->exe) snprintf(path, sizeof path, "%s%s", n.folder, n.object);
    TRY(check_target(vm, path, m->file));
    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        return qerr_set(qvm_ctx(vm), QS_EIO, "%s cannot be written: it is a folder", path);
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
    if (!access(folder, W_OK | X_OK)) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EIO, "%s cannot be written: %s", path, strerror(errno));
}

qs_status qmake_run(qs_vm *vm, const Make *m) {
    TRY(check_output(vm, m));
    BundleMaker *maker = qbundle_maker(qvm_ctx(vm));
    Module *program;
    qdevprog_listen(vm, add_code, maker);
    qs_status s = run_training(vm, m, &program);
    qdevprog_listen(vm, NULL, NULL);
    add_targets(vm, maker);
    if (s == QS_OK) s = add_modules(vm, maker, program);
    if (s == QS_OK) s = m->exe ? write_exe(vm, m, maker, program) : write_library(vm, m, maker, program);
    qbundle_maker_free(maker);
    return s;
}
