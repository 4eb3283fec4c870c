/* path.c -- implements paths, folders and the environment. */
#include "stdlib/builtins.h"
#include "vm/array/device_math.h"
#include "vm/value/machine.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- paths as text ------------------------------------------------------------------------------------------------- */
/* Appends a part to a path; an absolute part replaces the path. */
static void append_part(Text *path, const char *part, size_t n) {
    if (n && *part == '/') path->len = 0;
    if (path->len && path->s[path->len - 1] != '/') qtext_putc(path, '/');
    qtext_add(path, part, n);
}

qs_status qpath_join(qs_vm *vm, qs_call_args *c) {
    Text t;
    qs_status s = QS_OK;
    qtext_init(&t, qvm_ctx(vm));
    for (int i = 0; i < c->nin && s == QS_OK; i++) {
        const char *part;
        if ((s = qarg_string(vm, c->name, "a part", c->in[i], &part, NULL)) == QS_OK)
            append_part(&t, part, strlen(part));
    }
    return qval_text(vm, &t, s, &c->out[0]);
}

/* [folder, name, extension] = pathsplit(path) */
qs_status qpath_split(qs_vm *vm, qs_call_args *c) {
    const char *path;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *end = name + strlen(name);
    const char *dot = strrchr(name, '.'),
               *first = name + strspn(name, "."); /* the first dot of a hidden file belongs to its name */
    const char *stop = dot && dot >= first && first < end ? dot : end;
    size_t folder = slash ? (size_t)(slash - path) : 0;
    if (slash && !folder) folder = 1;
    TRY(qs_string(vm, path, folder, &c->out[0]));
    if (c->nout > 1) TRY(qs_string(vm, name, (size_t)(stop - name), &c->out[1]));
    return c->nout > 2 ? qs_string(vm, stop, (size_t)(end - stop), &c->out[2]) : QS_OK;
}

static qs_status add_cwd(qs_vm *vm, const char *fn, Text *t) {
    char *cwd = getcwd(NULL, 0); /* allocates any length */
    if (!cwd) return qio_error(vm, fn, "find", "the current folder");
    qtext_puts(t, cwd);
    free(cwd);
    return QS_OK;
}

qs_status qpath_cwd(qs_vm *vm, qs_call_args *c) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    return qval_text(vm, &t, add_cwd(vm, c->name, &t), &c->out[0]);
}

qs_status qpath_chdir(qs_vm *vm, qs_call_args *c) {
    const char *path;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    return chdir(path) ? qio_error(vm, c->name, "enter", path) : QS_OK;
}

/* Appends the parts of a path to an absolute one; "." is skipped, ".." removes a part. */
static void append_normalized(Text *t, const char *path) {
    for (size_t n; *path; path += n) {
        path += strspn(path, "/");
        n = strcspn(path, "/");
        if (n == 2 && path[0] == '.' && path[1] == '.') {
            while (t->len && t->s[--t->len] != '/') {}
        } else if (n && !(n == 1 && *path == '.')) qtext_putc(t, '/'), qtext_add(t, path, n);
    }
}

/* abspath(path): absolute, without . and .. (symbolic links are not resolved). */
qs_status qpath_absolute(qs_vm *vm, qs_call_args *c) {
    const char *path;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = *path == '/' ? QS_OK : add_cwd(vm, c->name, &t);
    if (t.len == 1) t.len = 0; /* the path is the root */
    append_normalized(&t, path);
    if (!t.len) qtext_putc(&t, '/');
    return qval_text(vm, &t, s, &c->out[0]);
}

/* -- files and folders --------------------------------------------------------------------------------------------- */
static qs_status kind_of(qs_vm *vm, qs_call_args *c, mode_t wanted) {
    const char *path;
    struct stat st;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    bool there = stat(path, &st) == 0;
    c->out[0] = qs_bool(there && (!wanted || (st.st_mode & S_IFMT) == wanted));
    return QS_OK;
}
qs_status qpath_isfile(qs_vm *vm, qs_call_args *c) { return kind_of(vm, c, S_IFREG); }
qs_status qpath_isdir(qs_vm *vm, qs_call_args *c) { return kind_of(vm, c, S_IFDIR); }
qs_status qpath_exist(qs_vm *vm, qs_call_args *c) { return kind_of(vm, c, 0); }

qs_status qpath_samefile(qs_vm *vm, qs_call_args *c) {
    const char *path[2];
    struct stat st[2];
    TRY(qarg_string(vm, c->name, "a", c->in[0], &path[0], NULL));
    TRY(qarg_string(vm, c->name, "b", c->in[1], &path[1], NULL));
    bool there = stat(path[0], &st[0]) == 0 && stat(path[1], &st[1]) == 0;
    c->out[0] = qs_bool(there && st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino);
    return QS_OK;
}

/* Creates the folder and its parents; an existing folder is no error. */
qs_status qpath_make(qs_vm *vm, const char *fn, const char *path, size_t n) {
    struct stat st;
    char *part = qmem_alloc(qvm_ctx(vm), n + 1);
    int bad = 0;
    for (size_t i = 1; i <= n && !bad; i++) {
        if (i < n && path[i] != '/') continue;
        memcpy(part, path, i);
        bad = mkdir(part, 0777) != 0 && (errno != EEXIST || stat(part, &st) != 0 || !S_ISDIR(st.st_mode));
    }
    qmem_free(qvm_ctx(vm), part, n + 1);
    return bad ? qio_error(vm, fn, "make the folder", path) : QS_OK;
}

qs_status qpath_makedir(qs_vm *vm, qs_call_args *c) {
    const char *path;
    size_t n;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, &n));
    return qpath_make(vm, c->name, path, n);
}

qs_status qpath_deletefile(qs_vm *vm, qs_call_args *c) {
    const char *path;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    return remove(path) ? qio_error(vm, c->name, "delete", path) : QS_OK;
}

static int visible(const struct dirent *e) { return e->d_name[0] != '.'; }

qs_status qpath_listdir(qs_vm *vm, qs_call_args *c) {
    const char *path;
    struct dirent **names;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    int found = scandir(path, &names, visible, alphasort);
    if (found < 0) return qio_error(vm, c->name, "read", path);
    int64_t n = found;
    Cell *r;
    qs_status s = qcell_new(vm, qtype_simple(qvm_ctx(vm), TY_STRING), 1, &n, &r);
    if (s == QS_OK) c->out[0] = qval_object(QS_CELL, r);
    for (int i = 0; i < found; i++) {
        if (s == QS_OK) {
            qval_release(vm, r->items[i]);
            s = qs_string(vm, names[i]->d_name, strlen(names[i]->d_name), &r->items[i]);
        }
        free(names[i]);
    }
    free(names);
    return s;
}

static qs_status two_paths(qs_vm *vm, qs_call_args *c, const char **from, const char **to) {
    TRY(qarg_string(vm, c->name, "from", c->in[0], from, NULL));
    return qarg_string(vm, c->name, "to", c->in[1], to, NULL);
}

qs_status qpath_movefile(qs_vm *vm, qs_call_args *c) {
    const char *from, *to;
    TRY(two_paths(vm, c, &from, &to));
    return rename(from, to) ? qio_error(vm, c->name, "move", from) : QS_OK;
}

qs_status qpath_copyfile(qs_vm *vm, qs_call_args *c) {
    const char *from, *to;
    TRY(two_paths(vm, c, &from, &to));
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = qio_slurp(vm, c->name, from, &t);
    if (s == QS_OK) s = qio_spill(vm, c->name, to, t.s ? t.s : "", t.len);
    qtext_free(&t);
    return s;
}

/* fileinfo(path): an object with bytes, time, isdir. */
qs_status qpath_fileinfo(qs_vm *vm, qs_call_args *c) {
    const char *path;
    struct stat st;
    Object *o = NULL;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    if (stat(path, &st)) return qio_error(vm, c->name, "ask about", path);
    TRY(qobj_new(vm, NULL, &o));
    c->out[0] = qval_object(QS_OBJECT, o);
    Ctx *ctx = qvm_ctx(vm);
    double time = (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec * 1e-9;
    TRY(qobj_set(vm, o, qstr_cname(ctx, "bytes"), qs_num((double)st.st_size)));
    TRY(qobj_set(vm, o, qstr_cname(ctx, "time"), qs_num(time)));
    return qobj_set(vm, o, qstr_cname(ctx, "isdir"), qs_bool(S_ISDIR(st.st_mode)));
}

/* -- the environment of the process -------------------------------------------------------------------------------- */
qs_status qpath_getenv(qs_vm *vm, qs_call_args *c) {
    const char *name, *value;
    TRY(qarg_string(vm, c->name, "name", c->in[0], &name, NULL));
    value = getenv(name);
    return qs_string(vm, value ? value : "", value ? strlen(value) : 0, &c->out[0]);
}

/* setenv(name, value); null removes the variable. */
qs_status qpath_setenv(qs_vm *vm, qs_call_args *c) {
    const char *name, *value = NULL;
    TRY(qarg_string(vm, c->name, "name", c->in[0], &name, NULL));
    if (qarg_given(c, 1)) TRY(qarg_string(vm, c->name, "value", c->in[1], &value, NULL));
    qdevmath_look_again(qvm(vm));
    if (value ? setenv(name, value, 1) : unsetenv(name))
        return qs_fail(vm, QS_EVALUE, "setenv: \"%s\" cannot be the name of a variable", name);
    return QS_OK;
}
