/* qrun.c -- the command: runs a file, an expression, or the prompt. */
#include "vm/api/make.h"
#include "vm/api/options.h"
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
    "\n";

typedef struct {
    qs_config config;
    CommandOptions command;
    const char *text, *file;
} Options;

/* Changed in copies of this file with an appended program (make.c); volatile, because the compiler would otherwise use
 * the initial value. */
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

static qs_vm *running; /* used only by the signal handler */

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

static void print_text(const char *text) { fputs(text, stdout); }

static void print_help(void) {
    print_text(usage);
    qoptions_help(print_text);
}

static int take_option(Options *o, int argc, char **argv, int *i) {
    OptionTarget target = {.config = &o->config, .command = &o->command};
    if (strcmp(argv[*i], "-e") != 0) return qoptions_take(&target, argc, argv, i) ? 0 : wrong(target.error, "");
    if (*i + 1 >= argc) return wrong("-e needs statements", "");
    if (o->text) return wrong("-e stands once; its statements are separated by ';'", "");
    o->text = argv[++*i];
    return 0;
}

static bool makes(const Options *o) { return o->command.make_exe || o->command.make_lib; }

static int parse_options(Options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (makes(o) && (argv[i][0] != '-' || !strcmp(argv[i], "--"))) { /* arguments of the program that is compiled */
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
        const CommandOptions before = o->command;
        int r = take_option(o, argc, argv, &i);
        if (r || o->command.help || o->command.version) return r;
        bool again = before.make_exe != o->command.make_exe || before.make_lib != o->command.make_lib;
        if (again && (before.make_exe || before.make_lib)) return wrong("--make-exe and --make-lib stand once", "");
    }
    return 0;
}

/* Rejects arguments that would have no effect. */
static int check_use(const Options *o) {
    const CommandOptions *c = &o->command;
    bool runs = c->train || (c->make_exe && !c->no_train), shows = c->devices || c->cache || c->has;
    if (makes(o) && o->text) return wrong("-e is no file that a program or library can be made of", "");
    if (makes(o) && o->config.argc && !runs) return wrong("nothing is run that takes the argument ", o->config.argv[0]);
    if (!makes(o) && (c->out || c->train || c->no_train))
        return wrong("--out, --train and --no-train belong to --make-exe and --make-lib", "");
    if (o->text && o->file) return wrong("-e takes no file and no arguments, got ", o->file);
    if (shows && (o->text || o->file)) return wrong("--devices, --cache and --has run no program", "");
    return 0;
}

/* Handles the arguments of a compiled program, which all belong to the program. */
static int program_options(Options *o, int argc, char **argv, char settings[PREBUILT_SETTINGS]) {
    PrebuiltMark own = own_mark();
    memcpy(settings, own.settings, PREBUILT_SETTINGS);
    qoptions_restore(settings, &o->config);
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

/* Prints a generated text and frees it. */
static int print_report(qs_vm *vm, qs_status s, Text *t, FILE *to) {
    fflush(stdout);
    if (t->s) fputs(t->s, to);
    qtext_free(t);
    return report(vm, s);
}

static int dump(qs_vm *vm, const Options *o) {
    const char *what = o->command.dump;
    Text t;
    if (!strcmp(what, "ptx") && !o->config.compile_for) return wrong("this needs --compile-for: --dump ptx", "");
    if (!o->file && !o->text) return wrong("--dump needs a file, or -e", "");
    qtext_init(&t, (Ctx *)vm);
    if (!strcmp(what, "ast") || !strcmp(what, "bytecode")) {
        qs_status made = qprompt_dump(vm, o->file, o->text, what, &t);
        return print_report(vm, made, &t, stdout);
    }
    qreport_begin(vm, what, false);
    qs_status s = o->text ? qs_eval(vm, o->text, NULL) : qs_run_file(vm, o->file);
    qreport_shown(vm, &t);
    return print_report(vm, s, &t, stdout);
}

static int cache(qs_vm *vm, const char *what) {
    Text t;
    qtext_init(&t, (Ctx *)vm);
    qs_status s = qreport_cache(vm, what, &t);
    return print_report(vm, s, &t, stdout);
}

static int profile(qs_vm *vm, int code) {
    Text t;
    qtext_init(&t, (Ctx *)vm);
    qs_status s = qreport_profile(vm, &t);
    int printed = print_report(vm, s, &t, stderr);
    return code ? code : printed;
}

static int prompt(qs_vm *vm) {
    int code;
    bool good = qprompt_run(vm);
    return qs_exit_code(vm, &code) ? code : good ? 0 : 1;
}

/* Checks the text, or each file separately; continues with the next file after an error. */
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
    const CommandOptions *c = &o->command;
    PrebuiltMark own = own_mark();
    Make m = {.file = c->make_exe ? c->make_exe : c->make_lib,
              .out = c->out,
              .train = c->train,
              .exe = c->make_exe,
              .untrained = c->no_train,
              .mark = &own};
    return report(vm, qmake_run(vm, &m));
}

static int run(qs_vm *vm, const Options *o) {
    if (mark.full) return report(vm, qprebuilt_run_own(vm, own_mark().settings));
    const CommandOptions *c = &o->command;
    if (makes(o)) return make(vm, o);
    if (c->devices) return list_devices(vm);
    if (c->cache) return cache(vm, c->cache);
    if (c->check) return check(vm, o);
    if (c->dump) return dump(vm, o);
    if (c->profile) qreport_begin(vm, NULL, true);
    int code = o->text ? run_text(vm, o->text) : o->file ? report(vm, qs_run_file(vm, o->file)) : prompt(vm);
    return c->profile ? profile(vm, code) : code;
}

/* Flushes the output; the program fails if it could not be written. */
static int finish(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fputs("qrun: the output could not all be written\n", stderr);
    return code ? code : 1;
}

int main(int argc, char **argv) {
    Options o = {0};
    const char *unbuffered = getenv("PYTHONUNBUFFERED"); /* set by containers and cluster jobs to see progress */
    qs_config_init(&o.config);
    o.config.unbuffered = unbuffered && *unbuffered, o.config.progress = true;
    static char settings[PREBUILT_SETTINGS];
    int wrong_usage = mark.full ? program_options(&o, argc, argv, settings) : parse_options(&o, argc, argv);
    if (wrong_usage) return wrong_usage;
    if (o.command.help) return print_help(), 0;
    if (o.command.version) return printf("Quasar %s\n", qs_version()), 0;
    if (!mark.full && (wrong_usage = check_use(&o))) return wrong_usage;
    if (makes(&o) && !o.config.compile_for) o.config.compile_for = usual_targets;
    if (o.command.has) return qs_has(o.command.has) ? 0 : 1;
    o.config.strict = o.command.check;
    qs_vm *vm = NULL;
    qs_status s = qs_open(&o.config, &vm);
    if (!vm) return fputs("qrun: cannot start\n", stderr), 1;
    running = vm;
    struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART, so that Ctrl-C also ends reading a line */
    sigaction(SIGINT, &action, NULL);
    int code = s ? report(vm, s) : run(vm, &o);
    running = NULL;
    code = finish(code);
    signal(SIGINT, SIG_DFL); /* closing a device may wait for a kernel that does not end */
    qs_close(vm);
    return code;
}
