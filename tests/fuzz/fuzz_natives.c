/* libFuzzer entry: calls built-ins with hostile arguments: counts near 2^31, 2^53, 2^61 and 2^63, wrong lengths, wrong
 * types, nan, inf, empty and negative values.  Each call returns values or an error.
 *
 * An input is a row of calls in one machine, so that figures and settings of earlier calls meet later ones.  A call is
 * made as a line of the language.  The last line is in the file `last` of the working directory, and is printed when a
 * sanitizer or the clock ends the process (QUASAR_FUZZ_SHOW=1 prints every line).  The timer of harmless.c interrupts
 * every call; a call that does not end within CALL_SECONDS of processor time is reported as a failure. */
#include "stdlib/builtins.h"
#include "tests/fuzz/harmless.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Built-ins that are not called, and why. */
static const struct {
    const char *names, *reason;
} left_out[] = {
    {" sleep pause sync_framerate run_gui drawnow ", "they wait"},
    {" exit ", "it ends the program"},
    {" form ", "it opens windows"},
    {" fopen fclose feof fgets fread fwrite fprint fprintf fileread filewrite csvread csvwrite save load npy_create "
     "block_size read_block write_block imread imwrite imfinfo tiffread audioread "
     "audiowrite audioinfo h5read h5write h5writeatt h5info readtable writetable saveas vidopen vidreadframe vidseek "
     "vidcreate "
     "vidwrite vidclose ",
     "they use files; fuzz_image and fuzz_video read hostile ones"},
    {" abspath cwd chdir isfile isdir exist samefile fileinfo makedir listdir movefile copyfile deletefile ",
     "they look at folders, or change them"},
    {" getenv setenv ", "they use the environment of the process"},
    {" pyimport to_py from_py pyint pybool pyfloat pystr pyfunc pyconfig ", "they start Python"},
    {" devices use_device ", "they open drivers"},
};

static const struct {
    const char *name;
    int least, most, results;
} natives[] = {
#define NATIVE(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint)                        \
    {name, min_in, max_in, max_out},
#define CONSTANT(name, value, doc, matlab, numpy)
#define GROUP(title)
#undef BUILTINS_WITHOUT_ELEM
#include "stdlib/builtins.def"
};
enum { NATIVES = sizeof natives / sizeof *natives, MOST_ARGUMENTS = 6 };

/* Numbers, of which shapes and counts are made, too. */
static const char *const numbers[] = {"0",      "1",     "2",      "3",      "7",      "-1",      "-3",       "0.5",
                                      "1e-310", "1e300", "-1e300", "nan",    "inf",    "-inf",    "100000",   "2^31-1",
                                      "2^31",   "-2^31", "2^32",   "2^53",   "2^53+2", "2^60",    "2^61",     "2^62",
                                      "2^63",   "-2^63", "2^64",   "2^61+1", "int(5)", "int(-1)", "int(2^62)"};
static const char *const values[] = {"true",
                                     "null",
                                     "2i",
                                     "1+2i",
                                     "complex(nan,inf)",
                                     "[]",
                                     "[1]",
                                     "[1,2,3]",
                                     "[[3],[1],[2]]",
                                     "[[1,2],[3,4]]",
                                     "[nan,1,inf]",
                                     "[-1,0]",
                                     "[0,0]",
                                     "[nan,nan]",
                                     "[1e300,-1e300]",
                                     "[2^31,2^33]",
                                     "[2^61,2^61]",
                                     "[2^62,0]",
                                     "[0,2^62]",
                                     "[-1,-1]",
                                     "zeros(0)",
                                     "zeros(0,3)",
                                     "zeros(3,0)",
                                     "zeros(0,2^61)",
                                     "zeros(2^62,0)",
                                     "zeros(2^31,0,2^31)",
                                     "zeros(2,0,2^61)",
                                     "zeros(1,1,0)",
                                     "ones(4,4)",
                                     "rand(5,7)",
                                     "rand(2,3,4)",
                                     "ones(2,2,2,2,2,2,2,2)",
                                     "rand(4,6)[:,1..2]",
                                     "transpose(rand(3,5))",
                                     "rand(9)[8..-2..0]",
                                     "float64([1,2,3])",
                                     "float64([5])",
                                     "int([1,2,3])",
                                     "int([-1,2^31-1])",
                                     "uint8([1,255,0])",
                                     "int64([2^62,-1])",
                                     "uint64([0,5])",
                                     "[1,2]==[1,3]",
                                     "[1+2i,3]",
                                     "czeros(3,3)",
                                     "czeros(0,2^61)",
                                     "\"\"",
                                     "\"abc\"",
                                     "\"a,b,,c\"",
                                     "\"%d %s %5.2f\"",
                                     "\"%999999999d\"",
                                     "\"%.2147483648f\"",
                                     "\"linear\"",
                                     "\"same\"",
                                     "\"[1,[2\"",
                                     "\"{\"\"a\"\":1}\"",
                                     "\"((((\"",
                                     "\"(a|b)*c\"",
                                     "\"r--o\"",
                                     "\"color\"",
                                     "\"on\"",
                                     "\"\xff\xfe\"",
                                     "cell(0)",
                                     "cell(2,2)",
                                     "{1,\"a\",[1,2]}",
                                     "{\"a\",\"b\"}",
                                     "{{1},{2}}",
                                     "object()",
                                     "(x -> x)",
                                     "((a,b) -> a+b)",
                                     "(() -> 1)",
                                     "((x) -> sum(x.*x))",
                                     "sum",
                                     "zeros"};
enum { NUMBERS = sizeof numbers / sizeof *numbers, VALUES = sizeof values / sizeof *values };

enum { CALL_SECONDS = 5 };
static char last[1024];
static bool show;

static bool is_left_out(const char *name) {
    char word[80];
    snprintf(word, sizeof word, " %s ", name);
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (strstr(left_out[i].names, word)) return true;
    return false;
}

void __asan_on_error(void);
void __ubsan_on_report(void);
void __sanitizer_print_stack_trace(void);
void __asan_on_error(void) {
    if (write(STDERR_FILENO, last, strlen(last)) < 0) _exit(1);
}
void __ubsan_on_report(void) { __asan_on_error(); }

static void set_call_limit(int seconds) { setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, {seconds, 0}}, NULL); }

/* Ends the process because a call takes too long; prints the call, and the function that it is in. */
static void report_slow_call(int signal_number) {
    (void)signal_number;
    static const char text[] = "\nThis call does not end: ";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0 || write(STDERR_FILENO, last, strlen(last)) < 0) _exit(1);
    __sanitizer_print_stack_trace();
    _exit(1);
}

/* A name in left_out that is no longer a built-in would remain unnoticed. */
static void check_left_out(void) {
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        char names[1024], *rest = names;
        snprintf(names, sizeof names, "%s", left_out[i].names);
        for (char *name; (name = strtok_r(rest, " ", &rest));) {
            int k = 0;
            while (k < NATIVES && strcmp(natives[k].name, name) != 0) k++;
            if (k < NATIVES) continue;
            fprintf(stderr, "fuzz_natives.c: %s is no built-in\n", name);
            exit(1);
        }
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    check_left_out();
    show = getenv("QUASAR_FUZZ_SHOW") != NULL;
    unsetenv("DISPLAY"), unsetenv("WAYLAND_DISPLAY");
    harmless_init();
    signal(SIGPROF, report_slow_call);
    signal(SIGALRM, report_slow_call); /* the limit of seeds.c for one input, which counts waits, too */
    return 0;
}

typedef struct {
    const uint8_t *at, *end;
} Bytes;

static unsigned take(Bytes *b, unsigned below) {
    unsigned v = b->at < b->end ? *b->at++ : 0;
    if (below > 256) v = v << 8 | (b->at < b->end ? *b->at++ : 0);
    return v % below;
}

static const char *argument(Bytes *b) { return take(b, 3) == 0 ? numbers[take(b, NUMBERS)] : values[take(b, VALUES)]; }

/* "[a,b] = f(x, y)", or with one more or one less argument than it takes. */
static size_t write_call(Bytes *b, char *line, size_t room) {
    unsigned which = take(b, NATIVES);
    if (is_left_out(natives[which].name)) return 0;
    int least = natives[which].least, most = natives[which].most, n = least;
    if (most < 0 || most > MOST_ARGUMENTS) most = most < 0 || least < MOST_ARGUMENTS ? MOST_ARGUMENTS : least;
    if (most > least) n += (int)take(b, (unsigned)(most - least + 1));
    if (take(b, 32) == 0) n += n && take(b, 2) ? -1 : 1;
    int results = natives[which].results ? 1 + (int)take(b, (unsigned)natives[which].results) : 0;
    size_t at = 0;
    if (results > 1) {
        at += (size_t)snprintf(line, room, "[");
        for (int i = 0; i < results; i++) at += (size_t)snprintf(line + at, room - at, "%sr%d", i ? "," : "", i);
        at += (size_t)snprintf(line + at, room - at, "] = ");
    } else if (results) at += (size_t)snprintf(line, room, "r0 = ");
    at += (size_t)snprintf(line + at, room - at, "%s(", natives[which].name);
    for (int i = 0; i < n; i++) at += (size_t)snprintf(line + at, room - at, "%s%s", i ? ", " : "", argument(b));
    at += (size_t)snprintf(line + at, room - at, ")");
    if (results && take(b, 2)) at += (size_t)snprintf(line + at, room - at, "; print r0");
    return at;
}

static void keep_line(void) {
    int fd = open("last", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, last, strlen(last)) < 0) abort();
    close(fd);
    if (show && write(STDERR_FILENO, last, strlen(last)) < 0) abort();
}

static void run_line(qs_vm *vm, const char *line) {
    snprintf(last, sizeof last, "%s\n", line);
    keep_line();
    set_call_limit(CALL_SECONDS);
    qs_status s = qs_eval(vm, line, NULL);
    set_call_limit(0);
    if ((s != QS_OK) != (qs_error(vm) != NULL)) abort();
    if (s == QS_EINTERNAL) abort();
    if (s != QS_OK && !qs_error_report(vm)) abort();
    qs_error_clear(vm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Bytes b = {data, data + size};
    char line[sizeof last - 2];
    qs_vm *vm = harmless_open_whole(NULL);
    while (b.at < b.end)
        if (write_call(&b, line, sizeof line)) run_line(vm, line);
    harmless_close(vm);
    return 0;
}
