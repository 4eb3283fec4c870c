#include "tests/fuzz/harmless.h"

#include "stdlib/builtins.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { SLICE_US = 100000, ROOM = 8 << 20, LARGEST_FILE = 16 << 20 };

static qs_vm *volatile running;
static char folder[] = "/tmp/quasar-fuzz-XXXXXX";
static bool wrote;

/* -- built-ins that reach outside ---------------------------------------------------------------------------------- */

static qs_status only_here(qs_vm *vm, qs_value path) {
    size_t n;
    const char *s = qs_to_string(path, &n);
    if (s && (memchr(s, '/', n) || memmem(s, n, "..", 2))) return qs_fail(vm, QS_EIO, "only files of this folder");
    wrote = true;
    return QS_OK;
}

/* clang-format off */
#define PATH_NATIVES(X)                                                                                                \
    X(fopen, qio_fopen) X(fileread, qio_fileread) X(filewrite, qio_filewrite) X(makedir, qpath_makedir)                \
    X(deletefile, qpath_deletefile) X(listdir, qpath_listdir) X(csvread, qio_csvread) X(csvwrite, qio_csvwrite)        \
    X(save, qnpy_save) X(load, qnpy_load) X(imread, qimage_imread) X(imwrite, qimage_imwrite)                          \
    X(imfinfo, qimage_imfinfo) X(tiffread, qimage_tiffread) X(audioread, qaudio_read) X(audiowrite, qaudio_write)      \
    X(audioinfo, qaudio_info) X(readtable, qtable_read)
/* clang-format on */

#define GUARD(name, function)                                                                                          \
    static qs_status guarded_##name(qs_vm *vm, qs_call_args *c) {                                                      \
        TRY(only_here(vm, c->in[0]));                                                                                  \
        return function(vm, c);                                                                                        \
    }
PATH_NATIVES(GUARD)

static qs_status refuse(qs_vm *vm, qs_call_args *c) {
    (void)c;
    return qs_fail(vm, QS_EIO, "not here");
}

/* The number of arguments must equal the table's number. */
static const qs_native_def table[] = {
#define NATIVE(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint)                        \
    {name, function, min_in, max_in, max_out, NULL},
#define CONSTANT(name, value, doc, matlab, numpy)
#define GROUP(title)
#include "stdlib/builtins.def"
};

static void replace(qs_vm *vm, const char *name, qs_native_fn *fn) {
    static qs_native_def defs[64]; /* a VM keeps pointers to them; one VM at a time */
    static int n;
    int have = 0;
    while (have < n && strcmp(defs[have].name, name) != 0) have++;
    for (size_t i = 0; have == n && i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0) defs[n] = table[i], defs[n++].fn = fn;
    if (have == n || qs_define(vm, &defs[have], 1) != QS_OK) abort();
}

static void replace_all(qs_vm *vm) {
#define REPLACE(name, function) replace(vm, #name, guarded_##name);
    PATH_NATIVES(REPLACE)
    static const char *const refused[] = {"pyimport", "to_py",    "from_py",  "pyint",  "pybool",    "pyfloat",
                                          "pystr",    "pyfunc",   "pyconfig", "sleep",  "pause",     "imshow",
                                          "plot",     "saveas",   "drawnow",  "form",   "vidopen",   "vidcreate",
                                          "movefile", "copyfile", "chdir",    "setenv", "writetable"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) replace(vm, refused[i], refuse);
}

/* -- bounds -------------------------------------------------------------------------------------------------------- */

static void on_timer(int signal_number) {
    (void)signal_number;
    if (running) qs_interrupt(running);
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st, (void)type;
    if (at->level > 0) remove(path);
    return 0;
}

static void empty_folder(void) { nftw(folder, drop, 16, FTW_DEPTH | FTW_PHYS); }

static void leave(void) {
    empty_folder();
    rmdir(folder);
}

void harmless_init(void) {
    if (!mkdtemp(folder) || chdir(folder) != 0) abort();
    atexit(leave);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){LARGEST_FILE, LARGEST_FILE});
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    sigaction(SIGVTALRM, &action, NULL);
    const struct itimerval every = {{0, SLICE_US}, {0, SLICE_US}};
    setitimer(ITIMER_VIRTUAL, &every, NULL);
}

static void discard(void *ud, int fd, const char *s, size_t n) { (void)ud, (void)fd, (void)s, (void)n; }

qs_vm *harmless_open_whole(const char *loops) {
    qs_config config;
    qs_config_init(&config);
    config.device = "ref";
    config.loops = loops;
    config.write = discard;
    config.cache_dir = "";
    config.library_path = QUASAR_SOURCE_DIR "/stdlib";
    qs_vm *vm;
    if (qs_open(&config, &vm) != QS_OK) abort();
    qvm_ctx(vm)->limit = qvm_ctx(vm)->bytes + ROOM;
    running = vm;
    return vm;
}

qs_vm *harmless_open(const char *loops) {
    qs_vm *vm = harmless_open_whole(loops);
    replace_all(vm);
    return vm;
}

void harmless_close(qs_vm *vm) {
    running = NULL;
    qs_close(vm); /* LeakSanitizer sees what it leaves behind */
    if (wrote) empty_folder();
    wrote = false;
}
