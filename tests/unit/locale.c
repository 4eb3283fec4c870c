/* A host program with a decimal comma: programs, files and messages have a decimal point all the same. */
#include "tests/unit/check.h"
#include "vm/array/array.h"
#include "vm/base/number.h"
#include "vm/quasar.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A locale of its own, which differs from C in the decimal point alone. */
static const char source[] = "comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\n"
                             "grouping -1\nEND LC_NUMERIC\n"
                             "LC_CTYPE\ncopy \"POSIX\"\nEND LC_CTYPE\nLC_COLLATE\ncopy \"POSIX\"\nEND LC_COLLATE\n"
                             "LC_MONETARY\ncopy \"POSIX\"\nEND LC_MONETARY\nLC_TIME\ncopy \"POSIX\"\nEND LC_TIME\n"
                             "LC_MESSAGES\ncopy \"POSIX\"\nEND LC_MESSAGES\n";

static bool make_locale(const char *folder) {
    char command[512], path[256];
    snprintf(path, sizeof path, "%s/comma", folder);
    FILE *f = fopen(path, "w");
    if (!f || fputs(source, f) < 0 || fclose(f)) return false;
    snprintf(command, sizeof command, "localedef -c -i %s %s/xx_XX >/dev/null 2>&1", path, folder);
    int status = system(command); /* 1: warnings about categories that are left out */
    setenv("LOCPATH", folder, 1);
    return status != -1 && setlocale(LC_ALL, "xx_XX");
}

static void check_value(qs_vm *vm, const char *text, const char *want) {
    qs_value v = qs_nil(), shown = qs_nil();
    CHECK(qs_eval(vm, text, &v) == QS_OK && qs_format(vm, v, &shown) == QS_OK);
    CHECK_TEXT(shown.kind == QS_STRING ? qs_to_string(shown, NULL) : qs_error(vm), want);
    qs_release(vm, shown);
    qs_release(vm, v);
    qs_error_clear(vm);
}

static void programs(const char *device, const char *folder) {
    qs_config config;
    qs_vm *vm;
    char text[512];
    qs_config_init(&config);
    config.device = device;
    config.cache_dir = "";
    if (qs_open(&config, &vm) != QS_OK) {
        printf("skipped: no %s\n", device);
        qs_close(vm);
        return;
    }
    check_value(vm, "[1.5, 1/3]", "[1.5,0.333333]");
    check_value(vm, "sprintf(\"%g %8.3f %e\", 1.5, 2.25, 0.5)", "1.5    2.250 5.000000e-01");
    check_value(vm, "str2num(\"2.5\") + 1.2345678901234567", "3.73456789012346");
    check_value(vm, "jsonencode([0.1, 2.5])", "[0.1,2.5]");
    check_value(vm, "jsondecode(\"[1.5,2e-3]\")", "[1.5,0.002]");
    check_value(vm, "float16([0.1])", "[0.1]");
    snprintf(text, sizeof text, "csvwrite(\"%s/x.csv\", [[0.5,1],[2,3.25]]); fileread(\"%s/x.csv\")", folder, folder);
    check_value(vm, text, "0.5,1\n2,3.25\n");
    snprintf(text, sizeof text, "csvread(\"%s/x.csv\")[1,1]", folder);
    check_value(vm, text, "3.25");
    check_value(vm, "x = zeros(2); parallel_do(2, x, __kernel__ (x, pos : int) -> x[pos] = pos*0.1 + 1.5); x",
                "[1.5,1.6]");
    CHECK(qs_eval(vm, "0..0..2.5", &(qs_value){0}) != QS_OK);
    CHECK(qs_error(vm) && strstr(qs_error(vm), "got 0..0..2.5"));
    qs_close(vm);
}

/* The output of number.c equals the output of the C library, at every buffer size. */
static void same(const char *fmt, ...) {
    for (size_t n = 0; n < 40; n++) {
        char ours[64], theirs[64];
        va_list ap, again;
        memset(ours, 1, sizeof ours), memset(theirs, 1, sizeof theirs);
        va_start(ap, fmt);
        va_copy(again, ap);
        int length = qnum_vprint(ours, n, fmt, ap);
        CHECK(length == vsnprintf(theirs, n, fmt, again) && !memcmp(ours, theirs, sizeof ours));
        va_end(again), va_end(ap);
    }
}

static void formats(void) {
    same("  %%t%u = add %s %%t%u, %d", 4294967295u, "i32", 0u, -2147483647 - 1);
    same("%s%c%s", "", 'x', "a longer text");
    same("%5d %-3s| %x %03u", 7, "a", 255, 4u);
    same("100%%");
    same("%lld|%llu%%%lld", -9223372036854775807LL - 1, 18446744073709551615ULL, 0LL);
    same("-%lld %s %d %llu", 1234567890123LL, "l", -1, 7ULL);
    same("%ld %5lld", 12L, 3LL);
}

int main(void) {
    formats();
    char folder[] = "/tmp/quasar-locale-XXXXXX", command[64], text[32];
    if (!mkdtemp(folder) || !make_locale(folder)) {
        printf("skipped: localedef cannot make a locale here\n");
    } else {
        snprintf(text, sizeof text, "%g", 1.5);
        CHECK_TEXT(text, "1,5"); /* the locale is active */
        qnum_print(text, sizeof text, "%g", 1.5);
        CHECK_TEXT(text, "1.5");
        CHECK(qnum_read("2.5", NULL) == 2.5 && qnum_read_float("2.5", NULL) == 2.5f);
        programs("ref", folder);
        programs("cpu", folder);
        programs("opencl", folder);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return check_done();
}
