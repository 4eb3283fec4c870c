/* library.c -- searches for module files: beside the importer, in the configured folders, and in the library. */
#include "vm/program/library.h"
#include "vm/base/file.h"
#include "vm/program/prebuilt.h"
#include "vm/value/machine.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char main_object = 0; /* its address identifies the executable or shared object that contains the VM */

static bool is_file(const char *folder, size_t n, const char *name, char *out) {
    char joined_path[PATH_MAX * 2];
    if (n == 0) snprintf(joined_path, sizeof joined_path, "%s", name);
    else snprintf(joined_path, sizeof joined_path, "%.*s/%s", (int)(n > PATH_MAX ? PATH_MAX : n), folder, name);
    return access(joined_path, R_OK) == 0 && realpath(joined_path, out);
}

static bool in_folders(const char *list, const char *name, char *out) {
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ":");
        if (n && is_file(p, n, name, out)) return true;
        if (n && n + 8 < PATH_MAX) { /* QUASAR_PATH may name an installation, whose library is in Library */
            char library[PATH_MAX];
            snprintf(library, sizeof library, "%.*s/Library", (int)n, p);
            if (is_file(library, strlen(library), name, out)) return true;
        }
        p += n + (p[n] == ':');
    }
    return false;
}

/* Looks for `file` in the folder of the file `path`, extended by `place`. */
static bool in_place(const char *path, const char *place, const char *file, char *out) {
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX * 2];
    if (!slash) return false;
    snprintf(folder, sizeof folder, "%.*s%s", (int)(slash - path), path, place);
    return is_file(folder, strlen(folder), file, out);
}

bool qlibrary_beside(const char *const *places, int n, const char *file, char out[PATH_MAX]) {
    char exe[PATH_MAX], object[PATH_MAX];
    Dl_info here;
    ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[len > 0 ? len : 0] = 0;
    if (!dladdr(&main_object, &here) || !realpath(here.dli_fname, object)) object[0] = 0;
    for (int i = 0; i < n; i++)
        if (in_place(exe, places[i], file, out) || in_place(object, places[i], file, out)) return true;
    return false;
}

/* The library folder relative to: a Python package, an installed command, and a shared library installed in an
 * architecture folder; then relative to a build folder in the source tree, and to the Python package inside it, which
 * is two folders deeper. */
static bool in_library(const char *name, char *out) {
    static const char *const places[] = {"/stdlib", "/../share/quasar/stdlib", "/../../share/quasar/stdlib",
                                         "/../stdlib", "/../../../stdlib"};
    return qlibrary_beside(places, sizeof places / sizeof *places, name, out);
}

bool qlibrary_own(const char *name, char out[PATH_MAX]) { return in_library(name, out); }

bool qlibrary_has(qs_vm *vm, const char *path) {
    const char *folder = strstr(path, "/stdlib/"), *name = strrchr(path, '/');
    char own[PATH_MAX];
    if (!folder) return false; /* the path of almost any program: avoids a search */
    return (in_library(name + 1, own) && !strcmp(own, path)) ||
           (qprebuilt_library(vm, name + 1, own) && !strcmp(own, path));
}

bool qlibrary_find(qs_vm *vm, const char *name, char out[PATH_MAX]) {
    return qprebuilt_library(vm, name, out) || in_folders(qvm(vm)->config.library_path, name, out) ||
           in_folders(getenv("QUASAR_PATH"), name, out) || in_library(name, out);
}

/* A program on the standard input imports from the current folder. */
static bool beside(const char *importer, const char *name, char *out) {
    const char *slash = importer && strcmp(importer, "/dev/stdin") != 0 ? strrchr(importer, '/') : NULL;
    return is_file(importer, slash ? (size_t)(slash - importer) : 0, name, out);
}

static bool is_itself(const char *importer, const char *found) {
    char real[PATH_MAX];
    return importer && realpath(importer, real) && strcmp(real, found) == 0;
}

/* A program may have the same name as the library module that it imports. */
bool qlibrary_find_import(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]) {
    if (name[0] == '/') return is_file(NULL, 0, name, out);
    if (beside(importer, name, out) && !is_itself(importer, out)) return true;
    return qlibrary_find(vm, name, out) || beside(importer, name, out);
}

/* -- the documented functions of the library ----------------------------------------------------------------------- */

/* Excludes adjoints.q: it contains derivative rules, which only vm/tape reads. */
static int is_module(const struct dirent *e) {
    const char *dot = strrchr(e->d_name, '.');
    return dot && !strcmp(dot, ".q") && strcmp(e->d_name, "adjoints.q") != 0;
}

bool qlibrary_each(qs_vm *vm, bool (*f)(void *ud, const char *path), void *ud) {
    char folder[PATH_MAX], path[PATH_MAX];
    struct dirent **files;
    if (!qlibrary_find(vm, "system.q", folder)) return false;
    *strrchr(folder, '/') = 0;
    int n = scandir(folder, &files, is_module, alphasort);
    bool found = false;
    for (int i = 0; i < n; i++) {
        found = found || (is_file(folder, strlen(folder), files[i]->d_name, path) && f(ud, path));
        free(files[i]);
    }
    if (n >= 0) free(files);
    return found;
}

/* Adds the functions of a file to the index.  A comment above them begins with "Function: name, name"; functions
 * without such a comment are private to the library. */
static void index_file(qs_vm *vm, FILE *f, const char *path) {
    static const char title[] = "% Function: ", separators[] = ", \r\n";
    Ctx *c = qvm_ctx(vm);
    char *line = NULL;
    size_t cap = 0;
    while (f && getline(&line, &cap, f) > 0) {
        if (strncmp(line, title, sizeof title - 1) != 0) continue;
        for (const char *at = line + sizeof title - 1; *(at += strspn(at, separators));) {
            size_t n = strcspn(at, separators);
            Str *name = qstr_name(c, at, n);
            if (!qmap_at(&qvm(vm)->library, name)) qmap_set(&qvm(vm)->library, c, name, (uintptr_t)qstr_cname(c, path));
            at += n;
        }
    }
    free(line);
    if (f) fclose(f);
}

static bool index_path(void *vm, const char *path) { return index_file(vm, qfile_stream(path), path), false; }

static void index_carried(void *vm, const char *path, const char *text, size_t n) {
    index_file(vm, fmemopen((char *)text, n, "r"), path);
}

/* Returns the index of the library: name -> Str * of the path.  It is read when a name is first looked for. */
static const Map *library_index(qs_vm *vm) {
    if (qvm(vm)->library.n) return &qvm(vm)->library;
    qprebuilt_each_library(vm, index_carried, vm);
    (void)qlibrary_each(vm, index_path, vm);
    return &qvm(vm)->library;
}

const char *qlibrary_home(qs_vm *vm, const Str *name) {
    uint64_t path;
    return qmap_get(library_index(vm), name, &path) ? ((const Str *)(uintptr_t)path)->s : NULL;
}

void qlibrary_names(qs_vm *vm, void (*f)(void *ud, const char *name), void *ud) {
    const Map *index = library_index(vm);
    for (uint32_t i = 0; i < index->n; i++) f(ud, index->entries[i].key->s);
}
