/* module.c -- finds, reads, links and runs files as modules.
 *
 * Linking has two steps, each for all new files (link.c), so that files may import each other.  The first step enters
 * the names, types and functions of every file; the second resolves every name that is used.  No code runs before all
 * files are known to be correct. */
#include "vm/program/module.h"
#include "vm/base/file.h"
#include "vm/base/parts.h"

#include "lang/names/rewrite.h"
#include "lang/syntax/parse.h"
#include "vm/array/array.h"
#include "vm/base/warning.h"
#include "vm/program/library.h"
#include "vm/program/link.h"
#include "vm/program/modtype.h"
#include "vm/program/names.h"
#include "vm/program/prebuilt.h"
#include "vm/program/python.h"
#include "vm/program/unload.h"
#include "vm/value/hooks.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- traversal of imports ------------------------------------------------------------------------------------------ */

static uint32_t new_visit(qs_vm *vm) {
    uint32_t last = 0;
    for (Module *m = qvm(vm)->modules; m; m = m->next)
        if (m->visited > last) last = m->visited;
    return last + 1;
}

Module *qmod_named(const Module *m, const Str *name) {
    uint64_t at;
    return qmap_get(&m->named, name, &at) ? (Module *)(uintptr_t)at : NULL;
}

Module *qmod_of_member(qs_vm *vm, const Module *m, const Str *name, Str **member) {
    const char *dot = m->named.n ? strchr(name->s, '.') : NULL;
    if (!dot) return NULL;
    *member = qstr_cname(qvm_ctx(vm), dot + 1);
    return qmod_named(m, qstr_name(qvm_ctx(vm), name->s, (size_t)(dot - name->s)));
}

typedef struct {
    bool (*f)(void *ud, Module *m);
    void *ud;
    bool named; /* also modules imported under a name */
} ImportVisitor;

/* Visits the direct and indirect imports of m, in order of precedence; stops when f returns true. */
static bool each_import(Module *m, uint32_t visit, const ImportVisitor *v) {
    for (uint32_t i = m->nimports; i-- > 0;) {
        Module *n = m->imports[i];
        if (n->visited == visit) continue;
        n->visited = visit;
        if (v->f(v->ud, n) || each_import(n, visit, v)) return true;
    }
    for (uint32_t i = m->named.n; v->named && i-- > 0;) {
        Module *n = (Module *)(uintptr_t)m->named.entries[i].val;
        if (!n || n->visited == visit) continue;
        n->visited = visit;
        if (v->f(v->ud, n) || each_import(n, visit, v)) return true;
    }
    return false;
}

static bool visit_imports(qs_vm *vm, Module *m, const ImportVisitor *v) {
    uint32_t visit = new_visit(vm);
    m->visited = visit;
    return each_import(m, visit, v);
}

bool qmod_over_imports(qs_vm *vm, Module *m, bool (*f)(void *ud, Module *m), void *ud) {
    return visit_imports(vm, m, &(ImportVisitor){f, ud, false});
}

bool qmod_over_files(qs_vm *vm, Module *m, bool (*f)(void *ud, Module *m), void *ud) {
    return visit_imports(vm, m, &(ImportVisitor){f, ud, true});
}

/* -- reductions ---------------------------------------------------------------------------------------------------- */

typedef struct {
    qs_vm *vm;
    Module *into;
} FindRules;

static bool add_rules(void *ud, Module *m) {
    FindRules *f = ud;
    for (uint32_t i = 0; i < m->nunits; i++)
        for (int k = 0; k < m->units[i]->nreductions; k++) {
            Module *to = f->into;
            qmem_grow(qvm_ctx(f->vm), &to->rules, &to->cap_rules, to->nrules, sizeof *to->rules);
            to->rules[to->nrules++] = m->units[i]->reductions[k];
        }
    return false;
}

Reduction **qmod_rules(qs_vm *vm, Module *m, int *n) {
    if (!m->rules_known) {
        FindRules f = {vm, m};
        m->nrules = 0;
        qmod_over_imports(vm, m, add_rules, &f);
        add_rules(&f, m); /* its own rules are last, because the latest of equal rules wins */
        qrewrite_order(m->rules, (int)m->nrules);
        m->rules_known = true;
    }
    *n = (int)m->nrules;
    return m->rules;
}

/* -- reading ------------------------------------------------------------------------------------------------------- */

static Module *new_module(qs_vm *vm, const char *path) {
    Ctx *c = qvm_ctx(vm);
    Module *m = qmem_alloc(c, sizeof *m);
    m->path_size = strlen(path) + 1;
    m->path = qmem_alloc(c, m->path_size);
    memcpy(m->path, path, m->path_size);
    m->next = qvm(vm)->modules;
    qvm(vm)->modules = m;
    return m;
}

/* Makes all diagnostics of a unit the VM's error report, not only the first. */
static qs_status failed_unit(qs_vm *vm, Unit *u, qs_status s) {
    if (u->nerrors > 0) {
        qtext_free(&qvm(vm)->report);
        qtext_puts(&qvm(vm)->report, u->report.s ? u->report.s : "");
        qvm(vm)->refused = true;
    }
    return s;
}

static int in_order(const void *a, const void *b) {
    const struct UnitWarning *x = a, *y = b;
    return (x->pos > y->pos) - (x->pos < y->pos);
}

static qs_status report_warnings(qs_vm *vm, const Unit *u) {
    if (u->nwarnings) qsort(u->warnings, (size_t)u->nwarnings, sizeof *u->warnings, in_order);
    for (int i = 0; i < u->nwarnings; i++)
        TRY(qwarn_at(qvm_ctx(vm), qast_where(u, u->warnings[i].pos), "%s", u->warnings[i].sentence));
    return QS_OK;
}

static qs_status parse_source(qs_vm *vm, Module *m, Source *src, Unit **out) {
    Ctx *c = qvm_ctx(vm);
    Unit *u = NULL;
    qs_status s = qparse_unit(c, src, &u);
    if (u) {
        qmem_grow(c, &m->units, &m->cap_units, m->nunits, sizeof *m->units);
        m->units[m->nunits++] = u;
        u->module = m;
    }
    *out = u;
    return s ? failed_unit(vm, u, s) : QS_OK;
}

/* Reads a file.  A program may come from a pipe; an import must be a regular file.  NULL: see errno. */
static char *read_file(qs_vm *vm, const char *path, bool imported, size_t *n) {
    FILE *f = imported ? qfile_stream(path) : fopen(path, "rb");
    if (!f) return NULL;
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    char block[16384];
    for (size_t got; (got = fread(block, 1, sizeof block, f)) > 0;) qtext_add(&t, block, got);
    int why = ferror(f) ? errno : t.lost ? ENOMEM : 0;
    fclose(f);
    char *text = why ? NULL : malloc(t.len + 1);
    if (text) memcpy(text, t.s ? t.s : "", t.len + 1);
    *n = t.len;
    qtext_free(&t);
    return errno = why, text;
}

/* The reason is in errno. */
static qs_status unreadable(qs_vm *vm, const char *path) {
    return qerr_set(qvm_ctx(vm), QS_EIO, "cannot read %s: %s", path, qfile_error(errno));
}

/* -- import names -------------------------------------------------------------------------------------------------- */

static void expand_name(const char *s, Text *out) {
    static const struct { const char *name, *value; } variables[] = {{"${BITNESS}", "64"}, {"${NATIVEEXT}", "so"}};
    while (*s) {
        int i = 0;
        while (i < 2 && strncmp(s, variables[i].name, strlen(variables[i].name)) != 0) i++;
        if (i < 2) {
            qtext_puts(out, variables[i].value);
            s += strlen(variables[i].name);
        } else {
            qtext_add(out, *s == '\\' ? "/" : s, 1);
            s++;
        }
    }
}

void qmod_import_name(const Node *n, Text *out) { expand_name(n->u.import.path->s, out); }

/* Quasar.UI.dll and similar libraries of the original implementation, and the bridge.  They map to a library module if
 * there is one; otherwise the import does nothing, because their functions are built in. */
static bool known_library(const char *path, char *q_name, size_t size) {
    static const struct {
        const char *name, *file;
    } libraries[] = {{"Quasar.UI", "ui.q"},           {"Quasar.Video", "video.q"},
                     {"Quasar.Runtime", "runtime.q"}, {"Quasar.CompMath", "compmath.q"},
                     {"Quasar.DNN", "dnn.q"},         {"pyquasar", "pyquasar.q"},
                     {"TIFFIO", "tiffio.q"},          {"exr_lib", "openexr.q"},
                     {"Sim2HDR", "sim2hdr.q"}};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        size_t n = strlen(libraries[i].name);
        if (strncasecmp(name, libraries[i].name, n) != 0 || name[n] != '.') continue;
        snprintf(q_name, size, "%s", libraries[i].file);
        return true;
    }
    return false;
}

/* Finds a library by name; out empty: its functions are built in. */
static qs_status resolve_native(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]) {
    char file[64];
    if (!known_library(name, file, sizeof file)) return qprebuilt_find(vm, importer, name, out);
    TRY(qparts_check_module(qvm_ctx(vm), file));
    if (!qlibrary_find(vm, file, out)) out[0] = 0;
    return QS_OK;
}

/* Finds a file in the language.  A module of the library may belong to a part that this build leaves out. */
static qs_status resolve_file(qs_vm *vm, const char *importer, const char *name, char out[PATH_MAX]) {
    if (qmovelaunch_find(vm, importer, name, out)) return QS_OK;
    bool found = qlibrary_find_import(vm, importer, name, out);
    if (!found || qlibrary_has(vm, out)) TRY(qparts_check_module(qvm_ctx(vm), name));
    return found ? QS_OK
                 : qerr_set(qvm_ctx(vm), QS_EIO,
                            "cannot find %s, neither beside the file that imports it nor in the library", name);
}

/* out empty: the import has no effect. */
static qs_status resolve_import(qs_vm *vm, const Unit *u, const Node *n, char out[PATH_MAX]) {
    Text path;
    qs_status s = QS_OK;
    Where w = qast_where(u, n->pos);
    const char *importer = u->src->internal ? NULL : u->src->path;
    qtext_init(&path, qvm_ctx(vm));
    expand_name(n->u.import.path->s, &path);
    const char *name = path.s ? path.s : "";
    out[0] = 0;
    if (qprebuilt_import(vm, ((const Module *)u->module)->path, name, out)) {
        /* a compiled program contains its imports */
    } else {
        s = (qparse_is_native(name) ? resolve_native : resolve_file)(vm, importer, name, out);
        if (s) qerr_location(qvm_ctx(vm), w);
    }
    qtext_free(&path);
    return s;
}

/* -- loading ------------------------------------------------------------------------------------------------------- */

Module *qmod_at(qs_vm *vm, const char *path) {
    char program[PATH_MAX];
    if (qprebuilt_program(vm, path, program)) path = program;
    for (Module *m = qvm(vm)->modules; m; m = m->next)
        if (strcmp(m->path, path) == 0 && m != qvm(vm)->session) return m;
    return NULL;
}

/* Discards results derived from the names and rules that a module sees. */
static void forget_derived(Module *m) {
    m->rules_known = false;
    qnames_joined_again(m);
}

void qmod_use(qs_vm *vm, Module *into, Module *m) {
    uint32_t at = into->nimports;
    forget_derived(into);
    for (uint32_t i = 0; i < into->nimports; i++)
        if (into->imports[i] == m) at = i;
    if (into == m) return;
    if (at == into->nimports) {
        qmem_grow(qvm_ctx(vm), &into->imports, &into->cap_imports, into->nimports, sizeof *into->imports);
        into->nimports++;
    }
    /* The latest import has precedence. */
    for (; at + 1 < into->nimports; at++) into->imports[at] = into->imports[at + 1];
    into->imports[into->nimports - 1] = m;
}

typedef struct Fresh {
    Module *at[256];
    int n;
} Fresh; /* modules read by this load, imported ones first */

static qs_status read_module(qs_vm *vm, const char *path, bool imported, Fresh *fresh, Module **out);

static qs_status misnamed(qs_vm *vm, const Unit *u, const Node *import, const char *why) {
    qs_status s = qerr_set(qvm_ctx(vm), QS_EVALUE, "import … as %s: %s", import->u.import.name->s, why);
    qerr_location(qvm_ctx(vm), qast_where(u, import->pos));
    return s;
}

/* Makes the names of `imported` available as name.member.  At the prompt a name may get another module. */
static qs_status name_import(qs_vm *vm, Module *m, const Unit *u, const Node *n, Module *imported) {
    const Module *before = qmod_named(m, n->u.import.name);
    uint64_t own;
    if (before && before != imported && m != qvm(vm)->session)
        return misnamed(vm, u, n, "this name is that of another module already");
    if (m == qvm(vm)->session && qmap_get(&m->names, n->u.import.name, &own) && !qval_is_unset(*qvm_global(vm, own)))
        return misnamed(vm, u, n, "this name is that of a variable or function already");
    qmap_set(&m->named, qvm_ctx(vm), n->u.import.name, (uintptr_t)imported);
    return QS_OK;
}

static qs_status read_imports(qs_vm *vm, Module *m, Unit *u, Fresh *fresh) {
    for (int i = 0; i < u->imports.n; i++) {
        char path[PATH_MAX];
        Module *imported;
        Node *n = u->imports.at[i];
        TRY(resolve_import(vm, u, n, path));
        if (!path[0] && !n->u.import.name) continue;
        if (!path[0]) return misnamed(vm, u, n, "the functions of this library are built in, so no name is needed");
        TRY(read_module(vm, path, true, fresh, &imported));
        n->u.import.unit = imported->units[0];
        if (n->u.import.name) TRY(name_import(vm, m, u, n, imported));
        else qmod_use(vm, m, imported);
    }
    return QS_OK;
}

static qs_status read_source(qs_vm *vm, Module *m, Source *src, Fresh *fresh) {
    Unit *u;
    TRY(parse_source(vm, m, src, &u));
    TRY(read_imports(vm, m, u, fresh));
    if (fresh->n == 256) return qerr_set(qvm_ctx(vm), QS_EIO, "more than 256 files import each other");
    fresh->at[fresh->n++] = m;
    return QS_OK;
}

/* Relative to the current folder, if it is inside. */
static const char *shown_path(const char *path, char buf[PATH_MAX]) {
    size_t n;
    if (!getcwd(buf, PATH_MAX)) return path;
    n = strlen(buf);
    return strncmp(path, buf, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* Gets the status of the file of a module: its text, or the library that contains it. */
static bool look_at(qs_vm *vm, const Module *m, struct stat *now) {
    const char *library = qprebuilt_file(vm, m->path);
    return stat(library ? library : m->path, now) == 0 && S_ISREG(now->st_mode);
}

static bool was_edited(qs_vm *vm, const Module *m) {
    struct stat now;
    if (!m->path[0] || m->bytes < 0 || !look_at(vm, m, &now)) return false;
    return now.st_mtim.tv_sec != m->changed.tv_sec || now.st_mtim.tv_nsec != m->changed.tv_nsec ||
           now.st_size != m->bytes;
}

static bool import_was_edited(void *vm, Module *m) { return was_edited(vm, m); }

/* Returns whether the file or one of its imports was edited after it was read. */
static bool is_stale(qs_vm *vm, Module *m) {
    return m->state >= MOD_FAILED && (was_edited(vm, m) || qmod_over_files(vm, m, import_was_edited, vm));
}

static void note_file(qs_vm *vm, Module *m) {
    struct stat now;
    m->bytes = -1;
    if (!look_at(vm, m, &now)) return;
    m->changed = now.st_mtim, m->bytes = now.st_size;
}

static void forget_module(qs_vm *vm, Module *m);

static qs_status read_module(qs_vm *vm, const char *path, bool imported, Fresh *fresh, Module **out) {
    size_t n;
    char cwd[PATH_MAX];
    Module *old = *out = qmod_at(vm, path);
    if (old && !is_stale(vm, old)) return QS_OK;
    Module *m = *out = new_module(vm, path);
    qunload_inherit(m, old);
    note_file(vm, m);
    const char *carried = qmovelaunch_text(vm, path, &n);
    if (carried) m->bytes = -1;
    else carried = qprebuilt_text(vm, path, &n);
    char *read = carried ? NULL : read_file(vm, path, imported, &n);
    if (!carried && !read) {
        qs_status s = unreadable(vm, path);
        return qmod_free(vm, m), s;
    }
    Source *src = qsource_add(qvm_ctx(vm), shown_path(path, cwd), carried ? carried : read, n);
    src->library = qlibrary_has(vm, path);
    free(read);
    qs_status s = read_source(vm, m, src, fresh);
    if (s) forget_module(vm, m);
    return s;
}

static qs_status link_unit(qs_vm *vm, Module *m, Unit *u) {
    qs_status s = qlink_unit(vm, m, u);
    if (s) return failed_unit(vm, u, s);
    return report_warnings(vm, u);
}

static Function *main_function(qs_vm *vm, Unit *u) { return qfn_script(vm, u->main, 0); }

static qs_status link_modules(qs_vm *vm, Fresh *fresh) {
    for (int i = 0; i < fresh->n; i++) {
        Unit *u = fresh->at[i]->units[0];
        qlink_enter(vm, fresh->at[i], u);
    }
    for (int i = 0; i < fresh->n; i++) {
        TRY(link_unit(vm, fresh->at[i], fresh->at[i]->units[0]));
        fresh->at[i]->main = main_function(vm, fresh->at[i]->units[0]);
        fresh->at[i]->state = MOD_LINKED;
    }
    return QS_OK;
}

static bool uses(const Module *user, const Module *m, uint32_t *at) {
    for (*at = 0; *at < user->nimports; ++*at)
        if (user->imports[*at] == m) return true;
    return false;
}

/* Redirects import statements of `user` from `old` to m. */
static void import_instead(Module *user, const Module *old, const Module *m) {
    for (uint32_t k = 0; k < user->nunits; k++) {
        NodeList list = user->units[k]->imports;
        for (int i = 0; i < list.n; i++)
            if (list.at[i]->u.import.unit && list.at[i]->u.import.unit->module == old)
                list.at[i]->u.import.unit = m ? m->units[0] : NULL;
    }
}

/* The same for their names.  false: there was none. */
static bool name_instead(Module *user, const Module *old, const Module *m) {
    bool found = false;
    for (uint32_t i = 0; i < user->named.n; i++) {
        if (user->named.entries[i].val != (uintptr_t)old) continue;
        user->named.entries[i].val = (uintptr_t)m;
        found = true;
    }
    return found;
}

/* Makes all modules that import `old` import m instead (NULL: nothing).  Code compiled from the old module keeps
 * working and is freed when it is no longer used. */
static void replace_module(qs_vm *vm, Module *old, Module *m) {
    uint32_t at, ignored;
    old->path[0] = 0;
    for (Module *user = qvm(vm)->modules; user; user = user->next) {
        bool named = name_instead(user, old, m), used = uses(user, old, &at);
        if (!used && !named) continue;
        if (used && m && !uses(user, m, &ignored)) user->imports[at] = m;
        else if (used) memmove(&user->imports[at], &user->imports[at + 1], (--user->nimports - at) * sizeof(Module *));
        import_instead(user, old, m);
        forget_derived(user);
    }
    if (m && qvm(vm)->main_module == old) qvm(vm)->main_module = m;
    qunload_module(vm, old);
}

/* Removes a rejected module, so that it can be loaded again after it is fixed. */
static void forget_module(qs_vm *vm, Module *m) {
    qunload_settle(vm, m, false);
    m->state = MOD_DONE; /* it never runs */
    replace_module(vm, m, NULL);
}

/* Removes all files of a load in which one was rejected. */
static void forget_modules(qs_vm *vm, const Fresh *fresh) {
    for (int i = 0; i < fresh->n; i++) forget_module(vm, fresh->at[i]);
}

/* Replaces the old versions of modules that were read again. */
static void replace_old(qs_vm *vm, const Fresh *fresh) {
    for (int i = 0; i < fresh->n; i++) {
        qunload_settle(vm, fresh->at[i], true);
        for (Module *old = fresh->at[i]->next; old; old = old->next)
            if (old != qvm(vm)->session && fresh->at[i]->path[0] && !strcmp(old->path, fresh->at[i]->path))
                replace_module(vm, old, fresh->at[i]);
    }
}

/* Pipes have no real path. */
static bool find_file(const char *path, char real[PATH_MAX]) {
    const char *from = strcmp(path, "-") ? path : "/dev/stdin";
    if (realpath(from, real)) return true;
    snprintf(real, PATH_MAX, "%s", from);
    return access(from, R_OK) == 0;
}

static qs_status link_loaded(qs_vm *vm, qs_status s, Fresh *fresh) {
    if (!s) s = link_modules(vm, fresh);
    if (s) forget_modules(vm, fresh);
    else replace_old(vm, fresh);
    for (Module *m = qvm(vm)->modules; m; m = m->next) qnames_rejoin(vm, m);
    return s;
}

qs_status qmod_load_file(qs_vm *vm, const char *path, Module **out) {
    char real[PATH_MAX];
    Fresh fresh = {.n = 0};
    size_t n;
    qunload_sweep(vm);
    TRY(qprebuilt_refresh(vm, path));
    bool inside = qprebuilt_text(vm, path, &n) && snprintf(real, sizeof real, "%s", path) < (int)sizeof real;
    if (!inside && !find_file(path, real)) return unreadable(vm, path);
    return link_loaded(vm, read_module(vm, real, false, &fresh, out), &fresh);
}

/* Replaces a loaded module of this name if the text is correct. */
qs_status qmod_load_text(qs_vm *vm, const char *name, const char *text, size_t n, Module **out) {
    Fresh fresh = {.n = 0};
    qunload_sweep(vm);
    Source *src = qsource_add(qvm_ctx(vm), name, text, n);
    Module *old = qmod_at(vm, name), *m = *out = new_module(vm, name);
    m->bytes = -1;
    qunload_inherit(m, old);
    qs_status read = read_source(vm, m, src, &fresh), s = link_loaded(vm, read, &fresh);
    if (read) forget_module(vm, m);
    return s;
}

qs_status qmod_reload(qs_vm *vm, void (*f)(qs_vm *vm, const Module *m)) {
    Module *session = qvm(vm)->session, *m;
    for (uint32_t i = 0; i < session->nimports + session->named.n; i++) {
        Module *old = i < session->nimports ? session->imports[i]
                                            : (Module *)(uintptr_t)session->named.entries[i - session->nimports].val;
        if (!old || !is_stale(vm, old)) continue;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s", old->path[0] ? old->path : "");
        TRY(qmod_load_file(vm, path, &m));
        f(vm, m);
        TRY(qmod_run(vm, m));
    }
    return QS_OK;
}

/* -- running ------------------------------------------------------------------------------------------------------- */

qs_status qmod_run(qs_vm *vm, Module *m) {
    if ((m->state != MOD_LINKED && m->state != MOD_FAILED) || !m->main) return QS_OK;
    m->state = MOD_RUNNING;
    qs_status s = qvm_call(vm, qval_object(QS_FUNCTION, m->main), 0, NULL, 0, NULL);
    m->state = s == QS_OK ? MOD_DONE : MOD_FAILED;
    if (m->left) qunload_module(vm, m);
    return s;
}

/* -- library functions that C calls -------------------------------------------------------------------------------- */
const char *const qmod_called[] = {"adjoints.q", "kernels.q", "planes.q", NULL};

static qs_status load_called(qs_vm *vm, const char *file, Module **out) {
    char path[PATH_MAX];
    if (!qlibrary_find(vm, file, path))
        return qerr_set(qvm_ctx(vm), QS_EIO, "the library has no %s, which built-in functions need", file);
    TRY(qmod_load_file(vm, path, out));
    TRY(qmod_run(vm, *out));
    return (*out)->called = file, QS_OK;
}

static qs_status find_called(qs_vm *vm, const char *file, Module **out) {
    Module *m = qvm(vm)->modules;
    while (m && (!m->called || strcmp(m->called, file) != 0)) m = m->next;
    if (!m) return load_called(vm, file, out);
    return *out = m, QS_OK;
}

int qmod_library_slot(qs_vm *vm, const char *file, Str *name) {
    Module *m = NULL;
    ErrorState kept = qvm_ctx(vm)->err;
    bool found = find_called(vm, file, &m) == QS_OK;
    int slot = found ? qnames_lookup(vm, m, name) : -1;
    return qvm_ctx(vm)->err = kept, slot;
}

qs_status qmod_library(qs_vm *vm, const char *file, const char *name, qs_value *out) {
    Module *m;
    TRY(find_called(vm, file, &m));
    int slot = qnames_lookup(vm, m, qstr_cname(qvm_ctx(vm), name));
    if (slot < 0 || qvm_global(vm, (uint64_t)slot)->kind != QS_FUNCTION)
        return qerr_set(qvm_ctx(vm), QS_EINTERNAL, "%s has no function %s", file, name);
    return *out = *qvm_global(vm, (uint64_t)slot), QS_OK;
}

/* The import node lets compiled programs contain the file.  No program can name it: the name has a slash. */
static void add_import(qs_vm *vm, Module *m, Unit *u, Module *home, const char *file) {
    char name[PATH_MAX];
    snprintf(name, sizeof name, "stdlib/%s", file);
    Str *s = qstr_cname(qvm_ctx(vm), name);
    if (qmod_named(m, s)) return;
    qmap_set(&m->named, qvm_ctx(vm), s, (uintptr_t)home);
    Node *import = qast_node(u, N_IMPORT, 0);
    import->u.import.path = import->u.import.name = s;
    import->u.import.unit = home->units[0];
    *(Node **)qast_append(u, &u->imports.at, &u->imports.n, sizeof import) = import;
}

qs_status qmod_autoload(qs_vm *vm, Module *m, Unit *u, const Str *name, int *slot) {
    const char *path = qlibrary_home(vm, name), *file = path ? strrchr(path, '/') + 1 : NULL;
    uint64_t found;
    *slot = -1;
    if (!path) return QS_OK;
    Module *home = qmod_at(vm, path);
    if (!home) {
        TRY(qparts_check_module(qvm_ctx(vm), file));
        TRY(qmod_load_file(vm, path, &home));
    }
    TRY(qmod_run(vm, home));
    if (u) add_import(vm, m, u, home, file);
    if (qmap_get(&home->names, name, &found)) *slot = (int)found;
    return QS_OK;
}

qs_status qmod_import_native(qs_vm *vm, const char *name, char out[PATH_MAX]) {
    char whole[PATH_MAX];
    Module *m;
    qparse_native_name(name, ".so", whole);
    TRY(resolve_native(vm, NULL, whole, out));
    if (!out[0]) return QS_OK;
    TRY(qmod_load_file(vm, out, &m));
    qmod_use(vm, qvm(vm)->session, m);
    return qmod_run(vm, m);
}

qs_status qmod_import(qs_vm *vm, Node *import) {
    const Unit *u = import->u.import.unit;
    return u ? qmod_run(vm, u->module) : QS_OK;
}

static qs_status eval_unit(qs_vm *vm, Module *m, Unit *u, Fresh *fresh) {
    TRY(read_imports(vm, m, u, fresh));
    TRY(link_modules(vm, fresh));
    qlink_enter(vm, m, u);
    return link_unit(vm, m, u);
}

/* Frees an evaluated text with its last function, so that a host program may evaluate without limit. */
static qs_status finish_eval(qs_vm *vm, Unit *u, qs_status s) {
    qunload_unit(vm, u);
    return s;
}

qs_status qmod_eval(qs_vm *vm, const char *text, size_t n, qs_value *out) {
    Module *m = qvm(vm)->session;
    Fresh fresh = {.n = 0};
    Unit *u;
    qunload_sweep(vm);
    Source *src = qsource_add(qvm_ctx(vm), "input", text, n);
    src->internal = true;
    qs_status s = parse_source(vm, m, src, &u);
    if (s) return finish_eval(vm, u, s);
    if (u->nfuncs || u->nreductions || u->imports.n) forget_derived(m);
    s = eval_unit(vm, m, u, &fresh);
    if (s) {
        forget_modules(vm, &fresh);
        return finish_eval(vm, u, s);
    }
    replace_old(vm, &fresh);
    if ((s = qinterp_hooks(vm)->compile(vm, u->main))) return finish_eval(vm, u, s);
    Function *f = main_function(vm, u);
    *out = qs_nil();
    s = qvm_call(vm, qval_object(QS_FUNCTION, f), 0, NULL, -1, out);
    qval_release(vm, qval_object(QS_FUNCTION, f));
    return finish_eval(vm, u, s);
}

const char *qvm_script(qs_vm *vm, const char **folder) {
    const Module *m = qvm(vm)->main_module;
    const char *slash = m ? strrchr(m->path, '/') : NULL;
    *folder = slash ? qstr_name(qvm_ctx(vm), m->path, (size_t)(slash - m->path))->s : "";
    return m ? m->path : "";
}

bool qvm_knows(qs_vm *vm, const char *name) {
    return qnames_lookup(vm, qvm(vm)->session, qstr_cname(qvm_ctx(vm), name)) >= 0;
}

bool qvm_autoloads(qs_vm *vm, const char *name) { return qlibrary_home(vm, qstr_cname(qvm_ctx(vm), name)); }

qs_status qvm_lookup(qs_vm *vm, const char *name, qs_value *out) {
    Str *s = qstr_cname(qvm_ctx(vm), name);
    int slot = qnames_lookup(vm, qvm(vm)->session, s);
    if (slot < 0) TRY(qmod_autoload(vm, qvm(vm)->session, NULL, s, &slot));
    if (slot < 0) return qnames_unknown(vm, qvm(vm)->session, name);
    if (qval_is_unset(*qvm_global(vm, (uint64_t)slot))) return qnames_unset(vm, qvm(vm)->session, slot, out);
    *out = qval_retain(*qvm_global(vm, (uint64_t)slot));
    return QS_OK;
}

qs_status qvm_lookup_builtin(qs_vm *vm, const char *name, qs_value *out) {
    uint64_t slot;
    if (!qmap_get(&qvm(vm)->builtins, qstr_cname(qvm_ctx(vm), name), &slot))
        return qerr_set(qvm_ctx(vm), QS_ENAME, "there is no built-in %s", name);
    return *out = qval_retain(*qvm_global(vm, slot)), QS_OK;
}

bool qvm_is_variable(qs_vm *vm, const char *name) {
    Str *s = qstr_cname(qvm_ctx(vm), name);
    uint64_t built_in;
    int slot = qmap_get(&qvm(vm)->builtins, s, &built_in) ? -1 : qnames_lookup(vm, qvm(vm)->session, s);
    const qs_value *v = slot < 0 ? NULL : qvm_global(vm, (uint64_t)slot);
    return v && v->kind != QS_FUNCTION && !qval_is_unset(*v);
}

static qs_status slot_in(qs_vm *vm, const char *module, const char *name, uint64_t *slot) {
    int found = module ? -1 : qnames_lookup(vm, qvm(vm)->session, qstr_cname(qvm_ctx(vm), name));
    if (found >= 0) return *slot = (uint64_t)found, QS_OK;
    Module *m = module ? qmod_at(vm, module) : qvm(vm)->session;
    if (!m) return qerr_set(qvm_ctx(vm), QS_ENAME, "no module is called %s", module);
    if (qmap_get(&m->names, qstr_cname(qvm_ctx(vm), name), slot) && !qval_is_unset(*qvm_global(vm, *slot)))
        return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_ENAME, "module %s defines no %s", module, name);
}

qs_status qvm_lookup_in(qs_vm *vm, const char *module, const char *name, qs_value *out) {
    uint64_t slot;
    TRY(slot_in(vm, module, name, &slot));
    *out = qval_retain(*qvm_global(vm, slot));
    return QS_OK;
}

qs_status qvm_assign_in(qs_vm *vm, const char *module, const char *name, qs_value v) {
    uint64_t slot;
    TRY(slot_in(vm, module, name, &slot));
    const qs_value *old = qvm_global(vm, slot);
    const Function *f = old->kind == QS_FUNCTION ? old->u.p : NULL;
    if (f && f->fkind == FN_SCRIPT && !f->ast->is_lambda)
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s is a function of module %s, not a variable", name, module);
    qinterp_put(vm, qvm_global(vm, slot), qval_retain(v));
    return QS_OK;
}

void qvm_each_name(qs_vm *vm, const char *module, void (*f)(void *ud, const char *name), void *ud) {
    const NameVisitor v = {f, ud};
    Module *m = module ? qmod_at(vm, module) : NULL;
    if (!module) qnames_each(vm, qvm(vm)->session, f, ud), qlibrary_names(vm, f, ud);
    else if (m) qnames_in(&m->names, &v);
}

qs_status qvm_type_named(qs_vm *vm, const char *text, size_t n, const Type **out, TypeMods *mods) {
    Unit *u;
    TypeExpr *e;
    TRY(qparse_type(qvm_ctx(vm), text, n, &u, &e));
    Module *from = qvm(vm)->session;
    const Func *f = qinterp_hooks(vm)->running(vm);
    if (f) from = qmod_of(f);
    qs_status s = qmodtype_resolve(vm, from, e, u->src, NULL, out, mods);
    ErrorState *err = &qvm_ctx(vm)->err;
    if (s != QS_OK && err->where.src == u->src) { /* the text is freed; the caller's location is more useful */
        err->where = (Where){NULL, 0};
        err->placed = false;
    }
    qparse_free(u);
    return s;
}

/* -- opening and closing ------------------------------------------------------------------------------------------- */

qs_status qmod_open(qs_vm *vm) {
    qmap_init(&qvm(vm)->builtins);
    qvm(vm)->session = new_module(vm, "input");
    qvm(vm)->session->bytes = -1;
    return QS_OK;
}

static void close_module(qs_vm *vm, Module *m) {
    Ctx *c = qvm_ctx(vm);
    qunload_settle(vm, m, true);
    for (uint32_t i = 0; i < m->nunits; i++) qparse_free(m->units[i]);
    for (uint32_t i = 0; i < m->ntypedefs; i++) qmodtype_free(vm, &m->typedefs[i]);
    qmap_free(&m->names, c);
    qmap_free(&m->named, c);
    qmap_free(&m->joined, c);
    qmap_free(&m->types, c);
    qmem_free(c, m->rules, m->cap_rules * sizeof *m->rules);
    qmem_free(c, m->units, m->cap_units * sizeof *m->units);
    qmem_free(c, m->typedefs, m->cap_typedefs * sizeof *m->typedefs);
    qmem_free(c, m->imports, m->cap_imports * sizeof *m->imports);
    qmem_free(c, m->path, m->path_size);
    qmem_free(c, m, sizeof *m);
}

/* Frees a module without code that no other module imports. */
void qmod_free(qs_vm *vm, Module *m) {
    Module **at = &qvm(vm)->modules;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    close_module(vm, m);
}

/* Clears the globals first: releasing their values may need classes and code. */
void qmod_close(qs_vm *vm) {
    Machine *m = qvm(vm);
    for (uint32_t i = 0; i < m->nglobals; i++) qinterp_clear(vm, m->globals[i]);
    for (Module *at = m->modules; at; at = at->next)
        if (at->main) {
            qval_release(vm, qval_object(QS_FUNCTION, at->main));
            at->main = NULL;
        }
    qgc_collect(vm);
    qinterp_hooks(vm)->close(vm);
    Module *at = m->modules;
    m->modules = NULL; /* functions released from here on do not access any program (object.c) */
    for (Module *next; at; at = next) {
        next = at->next;
        close_module(vm, at);
    }
    qmovelaunch_close(vm);
    qprebuilt_close(vm);
    qnames_close(vm);
}
