/* python.c -- finds and loads Python, and implements the built-ins that need it.
 *
 *     QUASAR_PYTHON > VIRTUAL_ENV > CONDA_PREFIX > ./.venv > python3 on PATH
 *       ── ask this executable for its libpython ── dlopen it globally, because extension modules need its symbols
 *       ── dlopen the bridge, which is linked to neither
 *
 * A process in which Python already runs (found by dlsym) uses that one. */
#include "vm/program/python.h"
#include "stdlib/builtins.h"
#include "vm/program/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct { /* a Python executable that may be used */
    char executable[PATH_MAX];
    const char *why;
} Candidate;

/* Lines printed by the executable, in this order. */
typedef enum { A_EXECUTABLE, A_VERSION, A_FLAGS, A_FOLDERS, A_NAMES, A_COUNT } Answer;
static const char question[] = "import sys, sysconfig\n"
                               "v = sysconfig.get_config_vars()\n"
                               "lib = [v.get('LIBDIR') or '', (v.get('LIBDIR') or '') + '/' + (v.get('MULTIARCH') or "
                               "''), sys.base_prefix + '/lib', v.get('LIBPL') or '']\n"
                               "name = 'libpython%d.%d' % sys.version_info[:2] + getattr(sys, 'abiflags', '') + '.so'\n"
                               "print(sys.executable)\n"
                               "print('%d.%d.%d' % sys.version_info[:3])\n"
                               "print(sys.implementation.name, v.get('EXT_SUFFIX') if v.get('Py_GIL_DISABLED') "
                               "else '.abi3.so')\n"
                               "print(':'.join(lib))\n"
                               "print(':'.join(dict.fromkeys([n for n in (v.get('INSTSONAME'), v.get('LDLIBRARY'), "
                               "name + '.1.0', name) if n and '.so' in n])))\n";

typedef struct {
    char text[4096];
    const char *line[A_COUNT];
} Answers;

typedef struct {
    Candidate candidate;
    Answers answers;
    char library[PATH_MAX], package[PATH_MAX], bridge[PATH_MAX + 64]; /* package: "" if it is inside the executable */
    char refusal[2 * PATH_MAX];                                       /* reason why there is no Python */
} Found;

static bool refuse_python(Found *f, const char *fmt, ...) QS_PRINTF(2, 3);
static bool refuse_python(Found *f, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->refusal, sizeof f->refusal, fmt, ap);
    va_end(ap);
    return false;
}

/* -- queries ------------------------------------------------------------------------------------------------------- */

static size_t read_all(int fd, char *buf, size_t size) {
    size_t n = 0;
    ssize_t got;
    while (n < size && ((got = read(fd, buf + n, size - n)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0) n += (size_t)got;
    return n;
}

static int wait_for(pid_t child) {
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

/* Runs `executable options -c text` and returns at most size-1 bytes of its output; false: it failed. */
static bool ask_executable(const char *executable, const char *options, const char *text, char *answer, size_t size) {
    int fds[2];
    pid_t child;
    char *argv[] = {(char *)(uintptr_t)executable, (char *)(uintptr_t)options, "-c", (char *)(uintptr_t)text, NULL};
    posix_spawn_file_actions_t files;
    if (pipe(fds)) return false;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&files, fds[1], 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", 1, 0);
    posix_spawn_file_actions_addclose(&files, fds[0]);
    bool started = posix_spawn(&child, executable, &files, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    close(fds[1]);
    size_t n = started ? read_all(fds[0], answer, size - 1) : 0;
    close(fds[0]);
    answer[n] = 0;
    return started && wait_for(child) == 0;
}

static bool split(Answers *a) {
    char *at = a->text;
    for (int i = 0; i < A_COUNT; i++) {
        a->line[i] = at;
        at = strchr(at, '\n');
        if (!at) return false;
        *at++ = 0;
    }
    return true;
}

/* -- candidates ---------------------------------------------------------------------------------------------------- */

static bool runs(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* Accepts an environment, or an executable itself. */
static bool python_at(const char *place, const char *why, Candidate *c) {
    static const char *const names[] = {"/bin/python3", "/bin/python", ""};
    c->why = why;
    for (int i = 0; place && *place && i < 3; i++) {
        snprintf(c->executable, sizeof c->executable, "%s%s", place, names[i]);
        if (runs(c->executable)) return true;
    }
    return false;
}

static bool on_path(Candidate *c) {
    const char *path = getenv("PATH");
    c->why = "python3 on PATH";
    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");
        snprintf(c->executable, sizeof c->executable, "%.*s/python3", (int)n, p);
        if (n && runs(c->executable)) return true;
        p += n + (p[n] == ':');
    }
    return false;
}

/* Selects the Python.  One that the user has selected must work: any other would lack the user's packages. */
static bool choose_python(Found *f) {
    static const char *const variables[] = {"QUASAR_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX"};
    for (int i = 0; i < 3; i++) {
        const char *place = getenv(variables[i]);
        if (!place || !*place) continue;
        if (python_at(place, variables[i], &f->candidate)) return true;
        return refuse_python(f, "%s is %s, but there is no Python there", variables[i], place);
    }
    if (python_at("./.venv", "./.venv", &f->candidate) || on_path(&f->candidate)) return true;
    return refuse_python(f, "none found in QUASAR_PYTHON, VIRTUAL_ENV, CONDA_PREFIX, ./.venv or as python3 on PATH; "
                            "install it (Debian: apt install python3 libpython3-dev)");
}

/* -- libpython ----------------------------------------------------------------------------------------------------- */

static bool next_part(const char **list, const char **part, int *n) {
    if (!**list) return false;
    *part = *list;
    *n = (int)strcspn(*list, ":");
    *list += *n + ((*list)[*n] == ':');
    return true;
}

static void *open_global(const char *name) { return dlopen(name, RTLD_NOW | RTLD_GLOBAL); }

/* Opens libpython from its own folders, or else from the library path of the system. */
static bool open_library(const Answers *a, char out[PATH_MAX]) {
    const char *folder, *name;
    int nf, nn;
    for (const char *folders = a->line[A_FOLDERS]; next_part(&folders, &folder, &nf);)
        for (const char *names = a->line[A_NAMES]; next_part(&names, &name, &nn);) {
            snprintf(out, PATH_MAX, "%.*s/%.*s", nf, folder, nn, name);
            if (nf && runs(out) && open_global(out)) return true;
            if (nf && access(out, R_OK) == 0 && open_global(out)) return true;
        }
    for (const char *names = a->line[A_NAMES]; next_part(&names, &name, &nn);) {
        snprintf(out, PATH_MAX, "%.*s", nn, name);
        if (open_global(out)) return true;
    }
    return false;
}

static bool good_version(Found *f) {
    int major = 0, minor = 0;
    const char *executable = f->candidate.executable, *version = f->answers.line[A_VERSION],
               *flags = f->answers.line[A_FLAGS];
    sscanf(version, "%d.%d", &major, &minor);
    if (strncmp(flags, "cpython ", 8) != 0)
        return refuse_python(f, "%s is %.*s; only CPython has what is needed", executable, (int)strcspn(flags, " "),
                             flags);
    if (major != 3 || minor < 9)
        return refuse_python(f, "%s is version %s; 3.9 or later is needed", executable, version);
    if (strcmp(flags + 8, BRIDGE_SUFFIX) == 0) return true;
    if (strcmp(BRIDGE_SUFFIX, ".abi3.so") == 0)
        return refuse_python(f, "%s was built without the global lock, and this Quasar was built for others",
                             executable);
    return refuse_python(
        f, "%s is version %s, and this Quasar was built for the Python that opens *" BRIDGE_SUFFIX " alone", executable,
        version);
}

/* Finds Python and opens its library; otherwise sets f->refusal. */
static bool find_python(Found *f) {
    Answers *a = &f->answers;
    if (!choose_python(f)) return false;
    const char *executable = f->candidate.executable, *why = f->candidate.why;
    if (!ask_executable(executable, "-IS", question, a->text, sizeof a->text) || !split(a))
        return refuse_python(f, "%s (%s) does not run", executable, why);
    if (!good_version(f)) return false;
    if (open_library(a, f->library)) return true;
    const char *first = a->line[A_NAMES], *version = a->line[A_VERSION];
    return refuse_python(f,
                         "%s (%s) is linked statically and its library is not here: looked for %.*s in %s; install it "
                         "(Debian: apt install libpython%.*s; pyenv: PYTHON_CONFIGURE_OPTS=--enable-shared)",
                         executable, why, (int)strcspn(first, ":"), first, a->line[A_FOLDERS],
                         (int)(strrchr(version, '.') - version), version);
}

/* -- the bridge ---------------------------------------------------------------------------------------------------- */

#define BRIDGE_FILE "pyquasar/_inside" BRIDGE_SUFFIX

/* Finds the bridge in the build tree or the installation: beside the command, a library, or a library in a folder of
 * its architecture. */
bool qpython_bridge(char out[]) {
    static const char *const places[] = {"/python", "/../lib/quasar/python", "/quasar/python", "/../quasar/python",
                                         "/.." /* in a wheel */};
    if (!qlibrary_beside(places, 5, BRIDGE_FILE, out)) return false;
    out[strlen(out) - sizeof BRIDGE_FILE] = 0; /* leaves the folder that contains the package */
    return true;
}

/* Creates a file in memory only; -1: failed. */
static int file_of(const char *bytes, size_t n) {
    int fd = memfd_create("pyquasar", MFD_CLOEXEC);
    for (ssize_t done; fd >= 0 && n; bytes += done, n -= (size_t)done)
        if ((done = write(fd, bytes, n)) <= 0) return close(fd), -1;
    return fd;
}

/* Unpacks the bridge inside the executable to a file, once per VM.  The file stays open, because dlopen identifies the
 * library by this name. */
static bool unpack_bridge(qs_vm *vm, const char *bytes, size_t n, Found *f) {
    Machine *m = qvm(vm);
    if (!m->bridge) m->bridge = file_of(bytes, n) + 1;
    snprintf(f->bridge, sizeof f->bridge, "/proc/self/fd/%d", m->bridge - 1);
    return m->bridge || refuse_python(f, "no memory for the bridge: %s", strerror(errno));
}

static bool find_bridge(qs_vm *vm, Found *f) {
    const char *name, *bytes;
    size_t n;
    for (int i = 0; vm && qprebuilt_python(vm, i, &name, &bytes, &n); i++)
        if (!strcmp(name, BRIDGE_FILE)) return unpack_bridge(vm, bytes, n, f);
    if (!qpython_bridge(f->package))
        return refuse_python(
            f, "the bridge is not here: python/" BRIDGE_FILE " has to lie beside this program, as the folder "
               "lib/quasar of an installation has it; a build has it where Python's headers are (Debian: apt "
               "install python3-dev)");
    snprintf(f->bridge, sizeof f->bridge, "%s/" BRIDGE_FILE, f->package);
    return true;
}

static bool is_python(void) {
    int (*initialized)(void);
    *(void **)&initialized = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    return initialized && initialized();
}

/* Makes the symbols of the VM global, so that the bridge finds them: a program or library that opened libquasar.so with
 * dlopen or ctypes has not done this. */
static void show_machine(void) {
    Dl_info here;
    if (dladdr((const void *)question, &here)) dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

static qs_status open_bridge(qs_vm *vm, const Found *f, bool inside) {
    qs_python_open *open;
    show_machine();
    void *bridge = dlopen(f->bridge, RTLD_NOW | RTLD_LOCAL);
    if (!bridge) return qs_fail(vm, QS_EIO, "Python: cannot open the bridge: %s", dlerror());
    *(void **)&open = dlsym(bridge, "qbridge_open");
    if (!open) return qs_fail(vm, QS_EIO, "Python: %s is no bridge", f->bridge);
    const PythonPlace place = {f->answers.line[A_EXECUTABLE], inside ? NULL : f->library,
                               *f->package ? f->package : NULL, f->bridge};
    const Python *python;
    TRY(open(vm, &place, &python));
    if (python->size != sizeof *python)
        return qs_fail(vm, QS_EIO, "Python: the bridge %s comes from another build", f->bridge);
    qvm(vm)->python = python;
    return QS_OK;
}

static bool find_python_and_bridge(qs_vm *vm, Found *f, bool inside) {
    return find_bridge(vm, f) && (inside || find_python(f));
}

static qs_status start_python(qs_vm *vm) {
    Found *f = qmem_alloc(qvm_ctx(vm), sizeof *f);
    bool inside = is_python();
    qs_status s = find_python_and_bridge(vm, f, inside) ? open_bridge(vm, f, inside)
                                                        : qs_fail(vm, QS_EIO, "Python: %s", f->refusal);
    qmem_free(qvm_ctx(vm), f, sizeof *f);
    return s;
}

void *qpython_pause(void) {
    int (*has_gil)(void);
    void *(*save)(void);
    *(void **)&has_gil = dlsym(RTLD_DEFAULT, "PyGILState_Check");
    *(void **)&save = dlsym(RTLD_DEFAULT, "PyEval_SaveThread");
    return is_python() && has_gil && save && has_gil() ? save() : NULL;
}

void qpython_resume(void *paused) {
    void (*restore)(void *);
    *(void **)&restore = dlsym(RTLD_DEFAULT, "PyEval_RestoreThread");
    if (paused) restore(paused);
}

static bool has_module(const Found *f, const char *name) {
    char text[512], answer[16];
    for (const char *s = name; *s; s++)
        if (!strchr("_.", *s) && !(*s >= 'a' && *s <= 'z') && !(*s >= 'A' && *s <= 'Z') && !(*s >= '0' && *s <= '9'))
            return false;
    snprintf(text, sizeof text, "import importlib.util as u; print(u.find_spec('%s') is not None)", name);
    return ask_executable(f->candidate.executable, "-I", text, answer, sizeof answer) && strcmp(answer, "True\n") == 0;
}

bool qpython_has(const char *what) {
    Found *f = calloc(1, sizeof *f);
    bool yes = f && find_python_and_bridge(NULL, f, false) && (strcmp(what, "python") == 0 || has_module(f, what));
    free(f);
    return yes;
}

/* -- built-ins ----------------------------------------------------------------------------------------------------- */

#define NEEDS_PYTHON(function, member)                                                                                 \
    qs_status function(qs_vm *vm, qs_call_args *c) {                                                                   \
        if (!qvm(vm)->python) TRY(start_python(vm));                                                                   \
        return qvm(vm)->python->member(vm, c);                                                                         \
    }
NEEDS_PYTHON(qpython_import, import)
NEEDS_PYTHON(qpython_to_py, to_py)
NEEDS_PYTHON(qpython_from_py, from_py)
NEEDS_PYTHON(qpython_int, make_int)
NEEDS_PYTHON(qpython_bool, make_bool)
NEEDS_PYTHON(qpython_float, make_float)
NEEDS_PYTHON(qpython_str, make_string)
NEEDS_PYTHON(qpython_func, make_function)

static void print_setting(qs_vm *vm, const char *what, const char *value) {
    qvm_write(vm, what, strlen(what));
    qvm_write(vm, value, strlen(value));
    qvm_write(vm, "\n", 1);
}

static qs_status say_version(qs_vm *vm) {
    qs_value version = qs_nil();
    qs_call_args c = {.nout = 1, .out = &version};
    qs_status s = qvm(vm)->python->version(vm, &c);
    if (s == QS_OK) print_setting(vm, "version    ", qs_to_string(version, NULL));
    qval_release(vm, version);
    return s;
}

qs_status qpython_config(qs_vm *vm, qs_call_args *c) {
    (void)c;
    Found *f = qmem_alloc(qvm_ctx(vm), sizeof *f);
    bool inside = !qvm(vm)->python && is_python();
    qs_status s = find_python_and_bridge(vm, f, inside) ? QS_OK : qs_fail(vm, QS_EIO, "Python: %s", f->refusal);
    if (s == QS_OK && !qvm(vm)->python) s = start_python(vm);
    if (s == QS_OK && inside) print_setting(vm, "Python     ", "of this process");
    if (s == QS_OK && !inside) {
        print_setting(vm, "Python     ", f->answers.line[A_EXECUTABLE]);
        print_setting(vm, "because of ", f->candidate.why);
        print_setting(vm, "library    ", f->library);
    }
    if (s == QS_OK) s = say_version(vm);
    qmem_free(qvm_ctx(vm), f, sizeof *f);
    return s;
}
