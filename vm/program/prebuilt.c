/* prebuilt.c -- loads compiled programs (see prebuilt.h). */
#include "vm/program/prebuilt.h"
#include "devices/bundle.h"
#include "vm/program/python.h"
#include "vm/value/machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- modules ------------------------------------------------------------------------------------------------------- */
static bool name_module(qs_vm *vm, const Bundle *b, uint32_t i, char out[PATH_MAX]) {
    bool own = b == qvm(vm)->own;
    return snprintf(out, PATH_MAX, "%s%s%s", own ? "" : b->path, own ? "" : "/", qbundle_text(b, b->modules[i].path)) <
           PATH_MAX;
}

/* Finds the module of that name in the bundle. */
static const BundleModule *module_in(qs_vm *vm, const Bundle *b, const char *path) {
    if (b != qvm(vm)->own) {
        size_t n = strlen(b->path);
        if (strncmp(path, b->path, n) != 0 || path[n] != '/') return NULL;
        path += n + 1;
    }
    for (uint32_t i = 0; i < b->nmodules; i++)
        if (qbundle_is(b, b->modules[i].path, path, strlen(path))) return &b->modules[i];
    return NULL;
}

static const BundleModule *find_module(qs_vm *vm, const char *path, const Bundle **home) {
    const BundleModule *m = NULL;
    for (const Bundle *b = qvm(vm)->bundles; b && !m; b = b->next) m = module_in(vm, b, path), *home = b;
    return m;
}

const char *qprebuilt_text(qs_vm *vm, const char *path, size_t *n) {
    const Bundle *b;
    const BundleModule *m = find_module(vm, path, &b);
    return m ? *n = m->text.n, qbundle_text(b, m->text) : NULL;
}

bool qprebuilt_import(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]) {
    const Bundle *b;
    const BundleModule *m = find_module(vm, importer, &b);
    for (uint32_t i = 0; m && i < m->nimports; i++) {
        const BundleImport *from = &b->imports[m->import + i];
        if (qbundle_is(b, from->name, name, strlen(name))) return name_module(vm, b, from->module, out);
    }
    return false;
}

bool qprebuilt_is_program(qs_vm *vm) {
    const Bundle *b = qvm(vm)->bundles;
    return b && (qvm(vm)->own || !b->own);
}

bool qprebuilt_library(qs_vm *vm, const char *name, char out[PATH_MAX]) {
    const Bundle *b = qvm(vm)->own;
    for (uint32_t i = 0; b && i < b->nmodules; i++) {
        const char *path = qbundle_text(b, b->modules[i].path), *slash = strrchr(path, '/');
        if (b->modules[i].library && slash && !strcmp(slash + 1, name)) return name_module(vm, b, i, out);
    }
    return false;
}

void qprebuilt_each_library(qs_vm *vm, void (*f)(void *ud, const char *path, const char *text, size_t n), void *ud) {
    const Bundle *b = qvm(vm)->own;
    for (uint32_t i = 0; b && i < b->nmodules; i++) {
        char path[PATH_MAX];
        const BundleModule *m = &b->modules[i];
        if (m->library && name_module(vm, b, i, path)) f(ud, path, qbundle_text(b, m->text), m->text.n);
    }
}

bool qprebuilt_python(qs_vm *vm, int number, const char **name, const char **bytes, size_t *n) {
    const Bundle *b = qvm(vm)->own;
    const size_t folder = sizeof PREBUILT_PYTHON - 1;
    for (uint32_t i = 0; b && i < b->nmodules; i++) {
        const BundleModule *m = &b->modules[i];
        if (strncmp(qbundle_text(b, m->path), PREBUILT_PYTHON, folder) != 0 || number-- > 0) continue;
        *name = qbundle_text(b, m->path) + folder, *bytes = qbundle_text(b, m->text), *n = m->text.n;
        return true;
    }
    return false;
}

/* -- opening ------------------------------------------------------------------------------------------------------- */
static void add_bundle(qs_vm *vm, Bundle *b) {
    b->next = qvm(vm)->bundles;
    qvm(vm)->bundles = b;
}

static const Bundle *find_bundle(qs_vm *vm, const char *path) {
    const Bundle *b = qvm(vm)->bundles;
    while (b && strcmp(b->path, path) != 0) b = b->next;
    return b;
}

static void remove_bundle(qs_vm *vm, const Bundle *b) {
    Bundle **at = &qvm(vm)->bundles, *gone;
    while (*at != b) at = &(*at)->next;
    gone = *at, *at = gone->next;
    qbundle_close(qvm_ctx(vm), gone);
}

/* Texts of modules and code are copied, so that no pointers into the freed bundle remain. */
static qs_status open_again(qs_vm *vm, const Bundle *old) {
    Bundle *b;
    TRY(qbundle_open_file(qvm_ctx(vm), old->path, qs_version(), &b));
    remove_bundle(vm, old);
    add_bundle(vm, b);
    return QS_OK;
}

static bool was_made_again(qs_vm *vm, const Bundle *b) {
    struct stat now;
    return b->own && b != qvm(vm)->own && !stat(b->path, &now) &&
           (now.st_mtim.tv_sec != b->changed.tv_sec || now.st_mtim.tv_nsec != b->changed.tv_nsec);
}

const char *qprebuilt_file(qs_vm *vm, const char *path) {
    const Bundle *b;
    if (!find_module(vm, path, &b)) return NULL;
    return b->own && b != qvm(vm)->own ? b->path : "";
}

qs_status qprebuilt_refresh(qs_vm *vm, const char *path) {
    const Bundle *b;
    return find_module(vm, path, &b) && was_made_again(vm, b) ? open_again(vm, b) : QS_OK;
}

bool qprebuilt_program(qs_vm *vm, const char *file, char out[PATH_MAX]) {
    const Bundle *b = qvm(vm)->bundles ? find_bundle(vm, file) : NULL;
    return b && b != qvm(vm)->own && name_module(vm, b, 0, out);
}

qs_status qprebuilt_take(qs_vm *vm, const char *path, const void *at, size_t n, char out[PATH_MAX]) {
    Bundle *b;
    const Bundle *known = find_bundle(vm, path);
    if (known && was_made_again(vm, known)) TRY(open_again(vm, known));
    if (!known) {
        if (at) TRY(qbundle_open(qvm_ctx(vm), path, qs_version(), at, n, &b));
        else TRY(qbundle_open_file(qvm_ctx(vm), path, qs_version(), &b));
        add_bundle(vm, b);
    }
    if (name_module(vm, find_bundle(vm, path), 0, out)) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EIO, "%s: the path is too long", path);
}

/* Also tries libx.so, x.64.so and libx.64.so for x.so, and x.so for x.64.so. */
static bool find_file(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]) {
    const char *slash = strrchr(name, '/'), *stem = slash ? slash + 1 : name, *dot = strrchr(stem, '.');
    int n = (int)(dot - stem);
    bool has_bits = n > 3 && !strncmp(dot - 3, ".64", 3);
    for (int i = 0; i < 4; i++) {
        char spelled[PATH_MAX];
        bool other = i >= 2;
        snprintf(spelled, sizeof spelled, "%.*s%s%.*s%s%s", (int)(stem - name), name, i % 2 ? "lib" : "",
                 other && has_bits ? n - 3 : n, stem, other && !has_bits ? ".64" : "", dot);
        if (qlibrary_find_import(vm, importer, spelled, out)) return true;
    }
    return false;
}

qs_status qprebuilt_find(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]) {
    char file[PATH_MAX];
    if (find_file(vm, importer, name, file)) return qprebuilt_take(vm, file, NULL, 0, out);
    return qerr_set(qvm_ctx(vm), QS_EIO,
                    "library %s is not here, neither beside the file that imports it nor in the "
                    "library; qrun --make-lib makes one of a .q file",
                    name);
}

/* multiprocessing starts this executable as if it were Python (pyquasar/_packed.py): with flags, -c and its own
 * code. */
static bool is_spawned(const qs_config *c) {
    static const char start[] = "from multiprocessing.";
    for (int i = 0; i + 1 < c->argc; i++)
        if (!strcmp(c->argv[i], "-c")) return !strncmp(c->argv[i + 1], start, sizeof start - 1);
    return false;
}

qs_status qprebuilt_run_own(qs_vm *vm, const char *settings) {
    Bundle *b;
    char first[PATH_MAX], real[PATH_MAX], checked[PREBUILT_SETTINGS] = "";
    ssize_t n = readlink("/proc/self/exe", real, sizeof real - 1);
    if (n <= 0) return qerr_set(qvm_ctx(vm), QS_EIO, "this program cannot find its own file in /proc");
    real[n] = 0;
    TRY(qbundle_open_file(qvm_ctx(vm), real, qs_version(), &b));
    add_bundle(vm, b);
    qvm(vm)->own = b;
    qbundle_settings(b->at, b->n, checked, sizeof checked);
    if (strcmp(checked, settings) != 0)
        return qerr_set(qvm_ctx(vm), QS_EIO, "%s is damaged: its settings are not those that were written", real);
    if (!name_module(vm, b, 0, first)) return qerr_set(qvm_ctx(vm), QS_EIO, "%s: the path is too long", real);
    if (!is_spawned(&qvm(vm)->config)) return qs_run_file(vm, first);
    return qs_eval(vm, "pyimport(\"pyquasar._packed\").run_spawned()", NULL);
}

void qprebuilt_close(qs_vm *vm) {
    for (Bundle *b = qvm(vm)->bundles, *next; b; b = next) {
        next = b->next;
        qbundle_close(qvm_ctx(vm), b);
    }
    qvm(vm)->bundles = NULL, qvm(vm)->own = NULL;
}
