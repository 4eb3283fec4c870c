/* source_bundle.c -- exports a program as source texts, which another process can load without its files.
 *
 * The sender passes the text of the module that defines a value and of all its imports, except library modules, which
 * every installation has.  The receiver stores these texts with their paths.  Imports are looked up there first, before
 * the disk, which may have a different version by then. */
#include "vm/program/library.h"
#include "vm/program/module.h"
#include "vm/program/python.h"

#include <stdio.h>
#include <string.h>

typedef struct Carried {
    struct Carried *next;
    size_t npath, ntext;
    char *text;
    char path[];
} Carried;

/* -- sending ------------------------------------------------------------------------------------------------------- */

static Module *home_of_class(qs_vm *vm, const Class *cls) {
    for (Module *m = qvm(vm)->modules; m; m = m->next)
        for (uint32_t i = 0; i < m->ntypedefs; i++)
            if (m->typedefs[i].cls == cls) return m;
    return NULL;
}

static Module *find_home(qs_vm *vm, qs_value v) {
    const Function *f = v.kind == QS_FUNCTION ? v.u.p : NULL;
    if (f && f->fkind == FN_SET && f->nmembers) f = f->members[f->nmembers - 1];
    if (f) return f->fkind == FN_SCRIPT ? qmod_of(f->ast) : NULL;
    if (v.kind == QS_OBJECT && ((Object *)v.u.p)->cls) return home_of_class(vm, ((Object *)v.u.p)->cls);
    if (v.kind == QS_TYPE && ((TypeValue *)v.u.p)->cls) return home_of_class(vm, ((TypeValue *)v.u.p)->cls);
    return NULL;
}

const char *qmovelaunch_home(qs_vm *vm, qs_value v) {
    const Module *m = find_home(vm, v);
    return m && m != qvm(vm)->session && m->path[0] ? m->path : NULL;
}

static bool is_library(qs_vm *vm, const Module *m) {
    char path[PATH_MAX];
    const char *slash = strrchr(m->path, '/');
    return slash && qlibrary_find(vm, slash + 1, path) && !strcmp(path, m->path);
}

typedef struct {
    qs_vm *vm;
    void (*f)(void *ud, const char *path, const char *text, size_t n);
    void *ud;
} Visitor;

static bool visit_module(void *ud, Module *m) {
    const Visitor *v = ud;
    if (m->nunits && !is_library(v->vm, m)) v->f(v->ud, m->path, m->units[0]->src->text, m->units[0]->src->len);
    return false;
}

bool qmovelaunch_each(qs_vm *vm, const char *module, void (*f)(void *ud, const char *path, const char *text, size_t n),
                      void *ud) {
    Visitor v = {vm, f, ud};
    Module *m = qmod_at(vm, module);
    if (!m) return false;
    qmod_over_files(vm, m, visit_module, &v);
    visit_module(&v, m);
    return true;
}

/* -- receiving ----------------------------------------------------------------------------------------------------- */

static const Carried *carried_at(qs_vm *vm, const char *path) {
    const Carried *c = qvm(vm)->carried;
    while (c && strcmp(c->path, path) != 0) c = c->next;
    return c;
}

qs_status qmovelaunch_take(qs_vm *vm, const char *path, const char *text, size_t n) {
    const Module *m = qmod_at(vm, path);
    const Source *src = m && m->nunits ? m->units[0]->src : NULL;
    if (src && (src->len != n || memcmp(src->text, text, n) != 0))
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s is loaded here with another text", path);
    if (src || carried_at(vm, path)) return QS_OK;
    size_t npath = strlen(path);
    Carried *c = qmem_alloc(qvm_ctx(vm), sizeof *c + npath + 1);
    c->npath = npath, c->ntext = n;
    c->text = qmem_alloc(qvm_ctx(vm), n + 1);
    memcpy(c->text, text, n);
    memcpy(c->path, path, npath + 1);
    c->next = qvm(vm)->carried;
    qvm(vm)->carried = c;
    return QS_OK;
}

const char *qmovelaunch_library(qs_vm *vm, const char *path, char out[]) {
    const char *slash = strrchr(path, '/');
    return qlibrary_find(vm, slash ? slash + 1 : path, out) ? out : NULL;
}

const char *qmovelaunch_text(qs_vm *vm, const char *path, size_t *n) {
    const Carried *c = carried_at(vm, path);
    return c ? *n = c->ntext, c->text : NULL;
}

/* Looks beside the importer first; then accepts any text whose path ends with this name. */
bool qmovelaunch_find(qs_vm *vm, const char *importer, const char *name, char out[]) {
    const char *slash = importer ? strrchr(importer, '/') : NULL;
    const Carried *c = NULL;
    if (!qvm(vm)->carried) return false;
    while (!strncmp(name, "./", 2)) name += 2;
    int n = slash && name[0] != '/' ? (int)(slash + 1 - importer) : 0;
    if (snprintf(out, PATH_MAX, "%.*s%s", n, importer ? importer : "", name) < PATH_MAX) c = carried_at(vm, out);
    size_t k = strlen(name);
    for (const Carried *any = qvm(vm)->carried; any && !c; any = any->next)
        if (any->npath > k && any->path[any->npath - k - 1] == '/' && !strcmp(any->path + any->npath - k, name))
            c = any;
    return c && snprintf(out, PATH_MAX, "%s", c->path) < PATH_MAX;
}

void qmovelaunch_close(qs_vm *vm) {
    for (Carried *c = qvm(vm)->carried, *next; c; c = next) {
        next = c->next;
        qmem_free(qvm_ctx(vm), c->text, c->ntext + 1);
        qmem_free(qvm_ctx(vm), c, sizeof *c + c->npath + 1);
    }
    qvm(vm)->carried = NULL;
}
