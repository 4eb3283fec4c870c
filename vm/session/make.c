/* make.c -- programs and libraries that start without a compiler.
 *
 * What machine code they need is found by running: a kernel has a form for each kind of its arguments, and a loop or an
 * expression becomes code where it turns out to be worth it, so no one can tell from the text alone.  While the program
 * (or a script that is given: --train) runs, all that is compiled is also compiled for the targets, and goes into a
 * bundle (devices/bundle.h), with the text of the program and of all that it imports.
 *
 *     program ──► run, with config.compile_for ──► code by its keys ─┐
 *        └──────► its modules and what they import, as texts ────────┴─► bundle ──► behind a copy of qrun   exe
 *                                                                              └──► in a shared object      lib   */
#include "vm/session/make.h"
#include "devices/bundle.h"
#include "vm/launch/launch.h"
#include "vm/session/module.h"
#include "vm/value/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- modules ------------------------------------------------------------------------------------------------------ */
enum { MODULES = 256 };
typedef struct {
    qs_vm *vm;
    BundleMaker *maker;
    Module *at[MODULES]; int n;
    char folder[PATH_MAX];     /* of the program */
} Gather;

static int number_of(const Gather *g, const Module *m) {
    int i = 0;
    while (i < g->n && g->at[i] != m) i++;
    return i;
}

static bool gather(void *ud, Module *m) {
    Gather *g = ud;
    if (number_of(g, m) == g->n && g->n < MODULES && m->nunits) g->at[g->n++] = m;
    return false;
}

static bool is_library(qs_vm *vm, const Module *m, const char **name) {
    char path[PATH_MAX];
    const char *slash = strrchr(m->path, '/');
    *name = slash ? slash + 1 : m->path;
    return slash && qlibrary_find(vm, slash + 1, path) && !strcmp(path, m->path);
}

/* As messages call it: from the folder of the program on; what lies elsewhere has its number, so that no two meet. */
static bool name_module(const Gather *g, int i, char out[PATH_MAX]) {
    const char *name, *path = g->at[i]->path;
    size_t n = strlen(g->folder);
    bool library = is_library(g->vm, g->at[i], &name);
    if (library) snprintf(out, PATH_MAX, "stdlib/%s", name);
    else if (!strncmp(path, g->folder, n)) snprintf(out, PATH_MAX, "%s", path + n);
    else snprintf(out, PATH_MAX, "+%d/%s", i, name);
    return library;
}

static void add_imports(const Gather *g, const Unit *u) {
    for (int i = 0; i < u->imports.n; i++) {
        const Node *n = u->imports.at[i];
        int to = n->u.import.unit ? number_of(g, n->u.import.unit->module) : g->n;
        if (to == g->n) continue; /* what is built in */
        Text name;
        qtext_init(&name, qvm_ctx(g->vm));
        qmod_import_name(n, &name);
        qbundle_add_import(g->maker, name.s ? name.s : "", (uint32_t)to);
        qtext_free(&name);
    }
}

/* Derivatives have their rules in a module that no program imports. */
static qs_status gather_rules(Gather *g) {
    char path[PATH_MAX];
    Module *rules;
    if (!qlibrary_find(g->vm, "adjoints.q", path)) return QS_OK;
    TRY(qmod_load_file(g->vm, path, &rules));
    gather(g, rules);
    qmod_over_imports(g->vm, rules, gather, g);
    return QS_OK;
}

static qs_status add_modules(qs_vm *vm, BundleMaker *maker, Module *program) {
    Gather *g = qmem_alloc(qvm_ctx(vm), sizeof *g);
    const char *slash = strrchr(program->path, '/');
    g->vm = vm, g->maker = maker;
    snprintf(g->folder, sizeof g->folder, "%.*s", slash ? (int)(slash + 1 - program->path) : 0, program->path);
    gather(g, program);
    qmod_over_imports(vm, program, gather, g);
    qs_status s = gather_rules(g);
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

/* -- code --------------------------------------------------------------------------------------------------------- */
static void add_code(void *maker, CacheKey key, const void *p, size_t n) { qbundle_add_code(maker, key, p, n); }

static void add_targets(qs_vm *vm, BundleMaker *maker) {
    const char *list = qvm(vm)->config.compile_for;
    char name[32];
    while (list && qdevices_next_target(&list, name)) qbundle_add_target(maker, name, qprogram_libc());
}

static qs_status load(qs_vm *vm, const char *file, Module **out) {
    TRY(qmod_load_file(vm, file, out));
    qmod_use(vm, qvm(vm)->session, *out);
    return QS_OK;
}

/* Runs what shows which code is needed. */
static qs_status train(qs_vm *vm, const Make *m, Module **program) {
    if (m->train) {
        TRY(qs_run_file(vm, m->train));
        return load(vm, m->file, program);
    }
    if (m->exe && !m->untrained) TRY(qs_run_file(vm, m->file));
    TRY(load(vm, m->file, program));
    return m->exe ? QS_OK : qmod_run(vm, *program);
}

/* -- files -------------------------------------------------------------------------------------------------------- */
static qs_status write_file(qs_vm *vm, const char *path, const Text *t) {
    TRY(qtext_status(t));
    unlink(path); /* who runs the old one keeps it */
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(t->s, 1, t->len, f) == t->len;
    if (f) good = !fclose(f) && good;
    good = good && !chmod(path, 0755);
    return good ? QS_OK : qerr_set(qvm_ctx(vm), QS_EIO, "%s cannot be written: %s", path, strerror(errno));
}

static qs_status read_file(qs_vm *vm, const char *path, Text *out) {
    FILE *f = fopen(path, "rb");
    char block[16384];
    if (!f) return qerr_set(qvm_ctx(vm), QS_EIO, "%s cannot be read: %s", path, strerror(errno));
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) qtext_add(out, block, n);
    bool bad = ferror(f);
    fclose(f);
    return bad ? qerr_set(qvm_ctx(vm), QS_EIO, "%s cannot be read", path) : qtext_status(out);
}

/* A copy of this executable whose mark says that it has a program behind it. */
static qs_status begin_exe(qs_vm *vm, const Make *m, const char *settings, Text *out) {
    TRY(read_file(vm, "/proc/self/exe", out));
    char *at = memmem(out->s, out->len, m->mark, sizeof *m->mark);
    if (!at) return qerr_set(qvm_ctx(vm), QS_EINTERNAL, "this executable has no mark to be copied with");
    ((NativeMark *)at)->full = 1;
    snprintf(((NativeMark *)at)->settings, NATIVE_SETTINGS, "%s", settings);
    qtext_pad(out, 0, (16 - out->len % 16) % 16);
    return QS_OK;
}

static void tell(qs_vm *vm, const char *path, const BundleMaker *maker, size_t bytes) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s: %u pieces of code for %s, %.1f MB\n", path, qbundle_ncodes(maker),
                 qvm(vm)->config.compile_for, (double)bytes / 1e6);
    if (t.s) qvm_diagnostic(vm, t.s, t.len);
    qtext_free(&t);
}

/* prog.q: prog */
static void default_exe(const char *file, char out[PATH_MAX]) {
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    snprintf(out, PATH_MAX, "%.*s%s", dot ? (int)(dot - name) : (int)strlen(name), name, dot ? "" : ".exe");
}

static qs_status write_exe(qs_vm *vm, const Make *m, BundleMaker *maker) {
    char settings[NATIVE_SETTINGS], path[PATH_MAX];
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qnative_settings(&qvm(vm)->config, settings);
    default_exe(m->file, path);
    if (m->out) snprintf(path, sizeof path, "%s", m->out);
    qs_status s = begin_exe(vm, m, settings, &t);
    if (s == QS_OK) qbundle_write(maker, qs_version(), settings, &t);
    if (s == QS_OK) s = write_file(vm, path, &t);
    if (s == QS_OK) tell(vm, path, maker, t.len);
    qtext_free(&t);
    return s;
}

qs_status qmake_run(qs_vm *vm, const Make *m) {
    BundleMaker *maker = qbundle_maker(qvm_ctx(vm));
    Module *program;
    qprogram_listen(vm, add_code, maker);
    qs_status s = train(vm, m, &program);
    qprogram_listen(vm, NULL, NULL);
    add_targets(vm, maker);
    if (s == QS_OK) s = add_modules(vm, maker, program);
    if (s == QS_OK) s = m->exe ? write_exe(vm, m, maker) : QS_OK;
    qbundle_maker_free(maker);
    return s;
}
