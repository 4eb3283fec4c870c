/* LLVM is found, or there is an error that says what to do; invalid IR is an error, not the end of the process. */
#include "devices/llvm.h"
#include "tests/unit/check.h"

#include <dlfcn.h>
#include <stdlib.h>

static Ctx ctx;

static void test_refusal(const char *name, const char *part) {
    Llvm *l;
    setenv("QUASAR_LLVM", name, 1);
    CHECK(qllvm_open(&ctx, &l) == QS_EDEVICE && strstr(ctx.err.text, part));
    if (!strstr(ctx.err.text, part)) printf("  %s\n", ctx.err.text);
    qerr_clear(&ctx);
    unsetenv("QUASAR_LLVM");
}

static void test_old(const char *name) {
    if (!dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
        printf("skipped: %s is not installed\n", name);
        return;
    }
    test_refusal(name, "too old");
}

static void test_compile(Llvm *l) {
    static const char good[] = "define i32 @f(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n";
    static const char bad[] = "define i32 @f(i32 %x) {\n  ret i32 %nothing\n}\n";
    LlvmTarget host = {.arch = LLVM_X86, .cpu = "", .features = ""};
    Text t;
#if defined(__aarch64__)
    host.arch = LLVM_AARCH64;
#endif
    qtext_init(&t, &ctx);
    LlvmTask task = {&host, good, sizeof good - 1, LLVM_OBJECT}, wrong = {&host, bad, sizeof bad - 1, LLVM_OBJECT};
    CHECK(qllvm_compile(&ctx, l, &task, &t) == QS_OK && t.len > 64 && !memcmp(t.s, "\177ELF", 4));
    task.wanted = LLVM_ASSEMBLY;
    CHECK(qllvm_compile(&ctx, l, &task, &t) == QS_OK && strstr(t.s, "f:"));
    task.wanted = LLVM_IR;
    CHECK(qllvm_compile(&ctx, l, &task, &t) == QS_OK && strstr(t.s, "@f"));
    CHECK(qllvm_compile(&ctx, l, &wrong, &t) == QS_EINTERNAL && strstr(ctx.err.text, "nothing"));
    qerr_clear(&ctx);
    qtext_free(&t);
}

int main(void) {
    Llvm *l = NULL, *second = NULL;
    qctx_init(&ctx, 32);
    test_refusal("/nowhere/libLLVM.so", "QUASAR_LLVM");
    test_refusal("libm.so.6", "too old");
    test_old("libLLVM-14.so.1");
    test_old("libLLVM-15.so.1");
    CHECK(qllvm_open(&ctx, &l) == QS_OK && qllvm_open(&ctx, &second) == QS_OK);
    if (l && second) {
        CHECK(atoi(qllvm_version(l)) >= 16);
        test_compile(l);
        test_compile(second);
    } else printf("%s\n", ctx.err.text);
    qllvm_close(&ctx, l), qllvm_close(&ctx, second);
    qerr_clear(&ctx);
    qctx_close(&ctx);
    return check_done();
}
