/* qrun.c -- the command: runs a file, an expression, or the prompt. */
#include "vm/api/make.h"
#include "vm/api/prompt.h"
#include "vm/launch/launch.h"
#include "vm/quasar.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

static const char usage[] =
    "usage: qrun [options] file.q [arguments]     run a program\n"
    "       qrun [options] -e 'statements'        run text; the value of a last expression is printed\n"
    "       qrun [options] - [arguments]          run the program that is read from standard input\n"
    "       qrun --check file.q …                 parse and check files, and run nothing\n"
    "       qrun --make-exe prog.q [-o prog]      make one executable of a program and all that it needs\n"
    "       qrun --make-lib x.q [-o libx.so]      make a library for programs, Python, C and C++\n"
    "       qrun [options]                        the prompt\n"
    "\n"
    "  --device NAME        cpu (the default), cuda, hip, opencl, ref; cuda:1 for the second one; gpu: the first GPU;\n"
    "                       cpu,opencl: both, kernels run on the first; auto: the processor and every GPU, each\n"
    "                       launch where it ends soonest; auto:cpu,opencl: among these; machine.xml: as the file says\n"
    "  --cpu, --gpu         the same as --device cpu, --device gpu\n"
    "  --precision 32|64    what scalar means as an element of an array (32)\n"
    "  --threads N          worker threads of the cpu device\n"
    "  --check              errors and warnings of all the files given, also of what is often meant; exit 1 for "
    "errors\n"
    "  --no-warnings        nothing about what is legal and hardly meant; {!warnings off} does it in a program\n"
    "  --explain            say what became of each loop, and why\n"
    "  --loops WHEN         loops and array expressions as machine code: auto (when worth it), always, never\n"
    "  --checked            an access outside an array in a kernel is an error\n"
    "  --fast-math          kernels and array expressions may estimate quotients and roots, and regroup sums\n"
    "  --memory-limit N     bytes of memory to use on a device: 500M, 4G\n"
    "  --compile-for sm_90  make the kernels for such an NVIDIA device, too (or gfx90a: AMD), and keep them in the\n"
    "                       cache; a list as of --targets\n"
    "  --targets LIST       for --make-exe and --make-lib: what code is made for, of x86-64-v2, x86-64-v3, x86-64-v4\n"
    "                       (these unless given), native (this processor), ptx:sm_70 … ptx:sm_90, gfx906 …,\n"
    "                       opencl\n"
    "  --train FILE         run this script to see what has to be compiled; --make-exe runs the program itself, with\n"
    "                       the arguments behind --\n"
    "  --no-train           run nothing for that\n"
    "  --dump WHAT          print instead of run: ast, bytecode; after the run the kernels as kir, passes (kir after\n"
    "                       each pass), llvm, opt (llvm after its passes), asm, cl (OpenCL C), c (C99 programs that\n"
    "                       run them on small inputs), ptx and gcn (what NVIDIA and AMD devices of --compile-for run)\n"
    "  --profile            after the run, the time of each kernel, and its rate against what the machine can do\n"
    "  --cache info|clear   what the cache of compiled kernels holds; empty it\n"
    "  --devices            list the devices, and why others are not here\n"
    "  --has WHAT           exit 0 when it is there: ref, cpu, opencl, cuda, hip, png, jpeg, tiff, pcre2, zlib,\n"
    "                       lapack, python, or a module of it\n"
    "  --version, --help\n";

typedef struct {
    qs_config config;
    const char *text, *file, *dump, *has, *cache;
    bool list_devices, profile, check;
    Make make; /* make.file NULL: nothing is made */
} Options;

/* Changed in the copy of this file that has a program behind it (make.c); volatile, for the compiler knows better. */
static const volatile PrebuiltMark mark = {.tag = "a program is behind: "};

static PrebuiltMark own_mark(void) {
    PrebuiltMark own;
    for (size_t i = 0; i < sizeof own; i++) ((char *)&own)[i] = ((const volatile char *)&mark)[i];
    own.settings[PREBUILT_SETTINGS - 1] = 0;
    return own;
}

#if defined(__x86_64__)
static const char usual_targets[] = "x86-64-v2,x86-64-v3,x86-64-v4";
#else
static const char usual_targets[] = "native";
#endif

static qs_vm *running; /* for the signal handler alone */

static void on_interrupt(int signal_number) {
    if (running) qs_interrupt(running);
    if (!running || !qvm_is_stuck(running, "another Ctrl-C ends the program\n")) return;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* -- options ------------------------------------------------------------------------------------------------------- */

static int wrong(const char *what, const char *which) {
    fprintf(stderr, "qrun: %s%s; qrun --help lists the options\n", what, which);
    return EXIT_USAGE;
}

static bool is(const char *arg, const char *name) {
    return strcmp(arg, name) == 0 ||
           (arg[0] == '-' && arg[1] != '-' && strcmp(arg + 1, name + 2) == 0 && strlen(arg) > 2);
}

/* The value of an option: the next argument, or what follows its '='. */
static const char *value_of(const char *name, int argc, char **argv, int *i) {
    size_t n = strlen(name);
    const char *arg = argv[*i];
    if (strncmp(arg, name, n) == 0 && arg[n] == '=') return arg + n + 1;
    if (!is(arg, name) || *i + 1 >= argc) return NULL;
    return argv[++*i];
}

static bool takes_value(const char *arg, const char *name) {
    size_t n = strlen(name);
    return is(arg, name) || (strncmp(arg, name, n) == 0 && arg[n] == '=');
}

static int number_option(const char *s, int *out) {
    char *end;
    long x = strtol(s, &end, 10);
    if (*end || end == s || x < 0 || x > 1 << 20) return EXIT_USAGE;
    *out = (int)x;
    return 0;
}

/* -- options with a value: 0, or EXIT_USAGE when it is not one of theirs ------------------------------------------- */
static int set_device(Options *o, const char *v) {
    o->config.device = v;
    return qdevices_are_kinds(v) ? 0 : EXIT_USAGE;
}

static int set_dump(Options *o, const char *v) { return o->dump = v, 0; }
static int set_has(Options *o, const char *v) { return o->has = v, 0; }
static int set_threads(Options *o, const char *v) {
    int r = number_option(v, &o->config.threads);
    return r || o->config.threads < 1 ? EXIT_USAGE : 0;
}

static int set_memory(Options *o, const char *v) { return qdevices_bytes(v, &o->config.memory_limit) ? 0 : EXIT_USAGE; }

static int set_precision(Options *o, const char *v) {
    int r = number_option(v, &o->config.precision);
    return r || (o->config.precision != 32 && o->config.precision != 64) ? EXIT_USAGE : 0;
}

static int set_target(Options *o, const char *v) {
    o->config.compile_for = v;
    return *v && qdevices_are_targets(v) ? 0 : EXIT_USAGE;
}

static int set_made(Options *o, const char *v, bool exe) {
    if (o->make.file) return EXIT_USAGE;
    o->make.file = v, o->make.exe = exe, o->config.final = false;
    return 0;
}

static int set_exe(Options *o, const char *v) { return set_made(o, v, true); }
static int set_lib(Options *o, const char *v) { return set_made(o, v, false); }
static int set_out(Options *o, const char *v) { return o->make.out = v, 0; }
static int set_train(Options *o, const char *v) { return o->make.train = v, 0; }

static int set_cache(Options *o, const char *v) {
    o->cache = v;
    return strcmp(v, "info") && strcmp(v, "clear") ? EXIT_USAGE : 0;
}

static int set_loops(Options *o, const char *v) {
    o->config.loops = v;
    return strcmp(v, "auto") && strcmp(v, "always") && strcmp(v, "never") ? EXIT_USAGE : 0;
}

static const char targets[] = "a list of native, x86-64-v2 to v4, sm_70 to sm_90, gfx900 to gfx1201, opencl";
static const struct {
    const char *name;
    int (*set)(Options *, const char *);
    const char *wants;
} valued[] = {
    {"--device", set_device, "cpu, cuda, hip, opencl, ref, gpu or auto, a list of them, or a file .xml"},
    {"--precision", set_precision, "32 or 64"},
    {"--threads", set_threads, "a number from 1 on"},
    {"--dump", set_dump, ""},
    {"--has", set_has, ""},
    {"--memory-limit", set_memory, "a size like 500M"},
    {"--compile-for", set_target, targets},
    {"--targets", set_target, targets},
    {"--make-exe", set_exe, "there once"},
    {"--make-lib", set_lib, "there once"},
    {"--out", set_out, ""},
    {"--train", set_train, ""},
    {"--cache", set_cache, "info or clear"},
    {"--loops", set_loops, "auto, always or never"},
};

static int option_with_value(Options *o, int argc, char **argv, int *i) {
    for (size_t k = 0; k < sizeof valued / sizeof *valued; k++) {
        if (!takes_value(argv[*i], valued[k].name)) continue;
        const char *v = value_of(valued[k].name, argc, argv, i);
        if (!v) return wrong(valued[k].name, " needs a value");
        if (!valued[k].set(o, v)) return 0;
        fprintf(stderr, "qrun: %s must be %s, got %s; qrun --help lists the options\n", valued[k].name, valued[k].wants,
                v);
        return EXIT_USAGE;
    }
    return -1;
}

static int option(Options *o, int argc, char **argv, int *i) {
    const char *arg = argv[*i];
    if (strcmp(arg, "-e") == 0) {
        if (*i + 1 >= argc) return wrong("-e needs statements", "");
        if (o->text) return wrong("-e stands once; its statements are separated by ';'", "");
        o->text = argv[++*i];
    } else if (is(arg, "--cpu")) {
        o->config.device = "cpu";
    } else if (is(arg, "--gpu")) {
        o->config.device = "gpu";
    } else if (is(arg, "--explain")) {
        o->config.explain = true;
    } else if (is(arg, "--no-warnings")) {
        o->config.no_warnings = true;
    } else if (is(arg, "--checked")) {
        o->config.checked = true;
    } else if (is(arg, "--fast-math")) {
        o->config.fast_math = true;
    } else if (is(arg, "--check")) {
        o->check = o->config.strict = true;
    } else if (is(arg, "--profile")) {
        o->profile = true;
    } else if (is(arg, "--no-train")) {
        o->make.untrained = true;
    } else if (!strcmp(arg, "-o")) {
        if (*i + 1 >= argc) return wrong("-o needs the name of a file", "");
        o->make.out = argv[++*i];
    } else if (is(arg, "--devices")) {
        o->list_devices = true;
    } else {
        int r = option_with_value(o, argc, argv, i);
        return r < 0 ? wrong("unknown option ", arg) : r;
    }
    return 0;
}

static int parse_options(Options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (o->make.file && (argv[i][0] != '-' || !strcmp(argv[i], "--"))) { /* of the program that is run to be made */
            int first = argv[i][0] == '-' ? i + 1 : i;
            o->config.argc = argc - first, o->config.argv = argv + first;
            return 0;
        }
        if (argv[i][0] != '-' || argv[i][1] == 0) {
            o->file = argv[i], o->config.final = true;
            o->config.argc = argc - i - 1;
            o->config.argv = argv + i + 1;
            return 0;
        }
        int r = option(o, argc, argv, &i);
        if (r) return r;
    }
    return 0;
}

/* Words that nothing would look at are a mistake. */
static int check_use(const Options *o) {
    const Make *m = &o->make;
    bool runs = m->train || (m->exe && !m->untrained), shows = o->list_devices || o->cache || o->has;
    if (m->file && o->text) return wrong("-e is no file that a program or library can be made of", "");
    if (m->file && o->config.argc && !runs) return wrong("nothing is run that takes the argument ", o->config.argv[0]);
    if (!m->file && (m->out || m->train || m->untrained))
        return wrong("--out, --train and --no-train belong to --make-exe and --make-lib", "");
    if (o->text && o->file) return wrong("-e takes no file and no arguments, got ", o->file);
    if (shows && (o->text || o->file)) return wrong("--devices, --cache and --has run no program", "");
    return 0;
}

/* Of a program that was made: all arguments are its own. */
static int program_options(Options *o, int argc, char **argv, char settings[PREBUILT_SETTINGS]) {
    PrebuiltMark own = own_mark();
    memcpy(settings, own.settings, PREBUILT_SETTINGS);
    qprebuilt_set(settings, &o->config);
    o->config.argc = argc - 1, o->config.argv = argv + 1, o->config.final = true;
    return 0;
}

/* -- running ------------------------------------------------------------------------------------------------------- */

static int report(qs_vm *vm, qs_status s) {
    int code;
    if (s == QS_OK) return 0;
    if (qs_exit_code(vm, &code)) return code;
    const char *text = qs_error_report(vm);
    fputs(text ? text : "error\n", stderr);
    return s == QS_EINTERRUPT ? 130 : 1;
}

static int run_text(qs_vm *vm, const char *text) {
    qs_value v = qs_nil(), shown;
    qs_status s = qs_eval(vm, text, &v);
    if (s == QS_OK && v.kind != QS_NIL && (s = qs_format(vm, v, &shown)) == QS_OK) {
        size_t n;
        const char *line = qs_to_string(shown, &n);
        fwrite(line, 1, n, stdout);
        fputc('\n', stdout);
        qs_release(vm, shown);
    }
    qs_release(vm, v);
    return report(vm, s);
}

static int list_devices(qs_vm *vm) {
    Text t;
    qtext_init(&t, (Ctx *)vm);
    qdevices_list(vm, &t);
    fputs(t.s, stdout);
    qtext_free(&t);
    return 0;
}

/* Prints what was made for the user, to where it belongs. */
static int tell(qs_vm *vm, qs_status s, Text *t, FILE *to) {
    fflush(stdout);
    if (t->s) fputs(t->s, to);
    qtext_free(t);
    return report(vm, s);
}

static bool one_of(const char *const *list, const char *what) {
    while (*list && strcmp(*list, what) != 0) list++;
    return *list;
}

static int dump(qs_vm *vm, const Options *o) {
    static const char *const text[] = {"ast", "bytecode", NULL};
    static const char *const code[] = {"kir", "passes", "llvm", "opt", "asm", "cl", "c", "ptx", "gcn", NULL};
    Text t;
    if (!one_of(text, o->dump) && !one_of(code, o->dump))
        return wrong("--dump takes ast, bytecode, kir, passes, llvm, opt, asm, cl, c, ptx or gcn, got ", o->dump);
    if ((!strcmp(o->dump, "ptx") || !strcmp(o->dump, "gcn")) && !o->config.compile_for)
        return wrong("this needs --compile-for: --dump ", o->dump);
    if (!o->file && !o->text) return wrong("--dump needs a file, or -e", "");
    qtext_init(&t, (Ctx *)vm);
    if (one_of(text, o->dump)) {
        qs_status made = qprompt_dump(vm, o->file, o->text, o->dump, &t);
        return tell(vm, made, &t, stdout);
    }
    qreport_begin(vm, o->dump, false);
    qs_status s = o->text ? qs_eval(vm, o->text, NULL) : qs_run_file(vm, o->file);
    qreport_shown(vm, &t);
    return tell(vm, s, &t, stdout);
}

static int cache(qs_vm *vm, const char *what) {
    Text t;
    qtext_init(&t, (Ctx *)vm);
    qs_status s = qreport_cache(vm, what, &t);
    return tell(vm, s, &t, stdout);
}

static int profile(qs_vm *vm, int code) {
    Text t;
    qtext_init(&t, (Ctx *)vm);
    qs_status s = qreport_profile(vm, &t);
    int told = tell(vm, s, &t, stderr);
    return code ? code : told;
}

static int prompt(qs_vm *vm) {
    int code;
    bool good = qprompt_run(vm);
    return qs_exit_code(vm, &code) ? code : good ? 0 : 1;
}

/* The text, or each file on its own: after an error the next one follows. */
static int check(qs_vm *vm, const Options *o) {
    int code = 0;
    if (!o->file && !o->text) return wrong("--check needs files, or -e", "");
    for (int i = -1; i < (o->text ? 0 : o->config.argc); i++) {
        const char *file = i < 0 ? o->file : o->config.argv[i];
        code |= report(vm, qprompt_check(vm, file, o->text));
        qs_error_clear(vm);
    }
    return code;
}

static int make(qs_vm *vm, const Options *o) {
    Make m = o->make;
    PrebuiltMark own = own_mark();
    m.mark = &own;
    return report(vm, qmake_run(vm, &m));
}

static int run(qs_vm *vm, const Options *o) {
    if (mark.full) return report(vm, qprebuilt_run_own(vm, own_mark().settings));
    if (o->make.file) return make(vm, o);
    if (o->list_devices) return list_devices(vm);
    if (o->cache) return cache(vm, o->cache);
    if (o->check) return check(vm, o);
    if (o->dump) return dump(vm, o);
    if (o->profile) qreport_begin(vm, NULL, true);
    int code = o->text ? run_text(vm, o->text) : o->file ? report(vm, qs_run_file(vm, o->file)) : prompt(vm);
    return o->profile ? profile(vm, code) : code;
}

/* What was printed reached its place, or the program has failed. */
static int finish(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fputs("qrun: the output could not all be written\n", stderr);
    return code ? code : 1;
}

int main(int argc, char **argv) {
    Options o = {0};
    const char *unbuffered = getenv("PYTHONUNBUFFERED"); /* what containers and cluster jobs set to see progress */
    qs_config_init(&o.config);
    o.config.unbuffered = unbuffered && *unbuffered, o.config.progress = true;
    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "-e") != 0 && !mark.full; i++) {
        if (is(argv[i], "--help")) return fputs(usage, stdout), 0;
        if (is(argv[i], "--version")) return printf("Quasar %s\n", qs_version()), 0;
    }
    static char settings[PREBUILT_SETTINGS];
    int wrong_usage = mark.full ? program_options(&o, argc, argv, settings) : parse_options(&o, argc, argv);
    if (!wrong_usage && !mark.full) wrong_usage = check_use(&o);
    if (wrong_usage) return wrong_usage;
    if (o.make.file && !o.config.compile_for) o.config.compile_for = usual_targets;
    if (o.has) return qs_has(o.has) ? 0 : 1;
    qs_vm *vm = NULL;
    qs_status s = qs_open(&o.config, &vm);
    if (!vm) return fputs("qrun: cannot start\n", stderr), 1;
    running = vm;
    struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART: reading a line stops, too */
    sigaction(SIGINT, &action, NULL);
    int code = s ? report(vm, s) : run(vm, &o);
    running = NULL;
    code = finish(code);
    signal(SIGINT, SIG_DFL); /* a device may wait for a kernel that does not end */
    qs_close(vm);
    return code;
}
