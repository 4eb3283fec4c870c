/* The table of built-ins: complete rows, every mathematical function of kernels among them, and docs/builtins.md, which
 * is generated from it.  `unit_builtins --write` writes that file anew. */
#include "stdlib/stdlib.h"
#include "tests/unit/check.h"
#include "vm/api/help.h"

static bool documented(const char *name) {
    int n;
    const LibDoc *d = qlib_docs(&n);
    for (int i = 0; i < n; i++)
        if (d[i].name && !strcmp(d[i].name, name)) return true;
    return false;
}

/* The signature mentions the name; the text is a sentence. */
static void rows(void) {
    int n;
    const LibDoc *d = qlib_docs(&n);
    for (int i = 0; i < n; i++) {
        if (!d[i].name) continue;
        size_t len = strlen(d[i].doc);
        bool good = strstr(d[i].signature, d[i].name) && len > 5 && d[i].doc[len - 1] == '.';
        CHECK(good);
        if (!good) printf("  %s: %s\n", d[i].name, d[i].doc);
        for (int k = 0; k < i; k++) CHECK(!d[k].name || strcmp(d[k].name, d[i].name));
    }
}

static void mathematical_functions(void) {
#define MATHFN(id, ...) CHECK(documented(#id));
#include "lang/kernel/ir/mathfn.def"
}

static void manual(qs_vm *vm, bool write) {
    const char *path = QUASAR_SOURCE_DIR "/docs/builtins.md";
    Text made, there;
    qtext_init(&made, qvm_ctx(vm)), qtext_init(&there, qvm_ctx(vm));
    qhelp_manual(vm, &made);
    if (write) CHECK(qio_spill(vm, "test", path, made.s, made.len) == QS_OK);
    CHECK(qio_slurp(vm, "test", path, &there) == QS_OK);
    bool same = there.s && !strcmp(made.s, there.s);
    CHECK(same);
    if (!same) printf("  docs/builtins.md is old: unit_builtins --write\n");
    qtext_free(&made), qtext_free(&there);
}

int main(int argc, char **argv) {
    qs_vm *vm;
    CHECK(qs_open(NULL, &vm) == QS_OK);
    rows();
    mathematical_functions();
    manual(vm, argc > 1 && !strcmp(argv[1], "--write"));
    qs_close(vm);
    return check_done();
}
