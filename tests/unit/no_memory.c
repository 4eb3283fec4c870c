/* The n-th array that a program makes finds no memory: QS_ENOMEM, nothing is lost (sanitizers look), the machine goes
 * on.  Over every SAMPLEth script of the tests, which together use every feature; interp_memory.c fails each allocation
 * of one.
 *
 *     unit_no_memory [SAMPLE [SCRIPT …]] */
#include "tests/unit/check.h"
#include "vm/quasar.h"
#include "vm/value/object.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

static void discard(void *ud, int fd, const char *s, size_t n) { (void)ud, (void)fd, (void)s, (void)n; }

static qs_status run(const char *path, long fail_after, long *left) {
    qs_config config;
    qs_vm *vm = NULL;
    qs_value one = qs_nil();
    qs_config_init(&config);
    config.write = discard, config.device = "ref", config.no_warnings = true, config.cache_dir = "";
    CHECK(qs_open(&config, &vm) == QS_OK);
    qvm_ctx(vm)->fail_after = fail_after;
    qs_status s = qs_run_file(vm, path);
    *left = qvm_ctx(vm)->fail_after;
    qvm_ctx(vm)->fail_after = -1;
    qvm_ctx(vm)->limit = 1; /* an error is reported even if no memory is left */
    CHECK(!qs_error_report(vm) == (s == QS_OK));
    qvm_ctx(vm)->limit = 0;
    qs_error_clear(vm);
    CHECK(qs_eval(vm, "1", &one) == QS_OK && one.u.f == 1);
    qs_close(vm);
    return s;
}

/* A script may catch any error, also a failure in the middle of the code that it expects to fail. */
static bool tells(const char *path) {
    char text[1 << 16];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f) fclose(f);
    return n && !strstr(text, "catch") && !strstr(text, "input(") && !strstr(text, "exec(");
}

static void sample(const char *path) {
    long left;
    if (!tells(path) || run(path, -1, &left) != QS_OK) return;
    for (long n = 1; n < 10000; n = n * 3 + 1) {
        qs_status s = run(path, n, &left);
        bool right = s == QS_OK || s == QS_ENOMEM;
        if (!right) fprintf(stderr, "%s: status %d where allocation %ld fails\n", path, (int)s, n);
        CHECK(right);
        if (left > 0) return; /* it makes fewer arrays */
    }
}

int main(int argc, char **argv) {
    size_t each = argc > 1 ? (size_t)atoi(argv[1]) : 7;
    static const char *const folders[] = {"tests/scripts/language/*.q", "tests/scripts/language/*/*.q",
                                          "tests/scripts/lib/*.q",      "tests/scripts/kernels/*.q",
                                          "tests/scripts/fusion/*.q",   "tests/scripts/loops/*.q"};
    for (int i = 2; i < argc; i++) sample(argv[i]);
    for (size_t k = 0; argc < 3 && k < sizeof folders / sizeof *folders; k++) {
        glob_t g;
        if (glob(folders[k], 0, NULL, &g) == 0)
            for (size_t i = each / 2; i < g.gl_pathc; i += each) sample(g.gl_pathv[i]);
        globfree(&g);
    }
    return check_done();
}
