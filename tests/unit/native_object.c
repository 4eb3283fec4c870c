/* The object loader: runs what LLVM made, and refuses anything damaged instead of crashing on it. */
#include "lang/kernel/compile.h"
#include "devices/native.h"
#include "devices/object.h"
#include "tests/unit/check.h"

#include <dlfcn.h>
#include <stdlib.h>

static Ctx ctx;

static const char text[] =
    "kernel \"k\" rank 1 {\n  param \"x\" array float32 rank 1 contiguous unit_last read written\n  message EINDEX "
    "\"no %0\"\n"
    "  %1 = pos int64 0\n  %2 = load float32 $0 %1\n  %3 = math.exp float32 %2\n  %4 = math.lgamma float32 %3\n"
    "  %5 = const float32 100\n  %6 = lt bool %4 %5\n  check #0 %6 %4 @7\n  store $0 %1 %4\n}\n";

static void *resolve(void *ud, const char *name) {
    if (!strncmp(name, "_ZGV", 4)) return ud ? dlsym(ud, name) : NULL;
    return dlsym(RTLD_DEFAULT, name);
}

static void *nothing(void *ud, const char *name) { (void)ud, (void)name; return NULL; }

static void try_load(const char *bytes, size_t n, ObjectResolve *r, void *ud) {
    Object *o;
    if (qobject_load(&ctx, bytes, n, r, ud, &o) == QS_OK) qobject_unload(&ctx, o);
    qerr_clear(&ctx);
}

static void test_damage(const Code *code, void *mvec) {
    char *copy = aligned_alloc(64, (code->n + 63) / 64 * 64);
    srand(1);
    for (int round = 0; round < 20000; round++) {
        memcpy(copy, code->bytes, code->n);
        size_t n = round % 4 ? code->n : (size_t)rand() % code->n;
        for (int k = round % 8; k >= 0; k--) copy[(size_t)rand() % (round % 3 ? code->n : 64)] = (char)rand();
        try_load(copy, n, resolve, mvec);
    }
    CHECK(true);
    free(copy);
}

static void test_symbols(const Code *code, void *mvec) {
    Object *o;
    CHECK(qobject_load(&ctx, code->bytes, code->n, nothing, NULL, &o) == QS_EDEVICE &&
          strstr(ctx.err.text, "which this system lacks"));
    qerr_clear(&ctx);
    CHECK(qobject_load(&ctx, code->bytes, code->n, resolve, mvec, &o) == QS_OK);
    const NativeInfo *info = qobject_symbol(o, "kernel_info");
    CHECK(info && info->abi == NATIVE_ABI && info->nargs == 1 && (info->flags & NATIVE_CHECKS));
    CHECK(qobject_symbol(o, "kernel") && !qobject_symbol(o, "nothing"));
    qobject_unload(&ctx, o);
}

static void test_run(Device *d, const Code *code) {
    float x[100];
    Program *p;
    DevFault fault;
    DevArg a = {.is_array = true, .block = (DevPtr)(uintptr_t)x, .rank = 1, .dims = {100}, .strides = {1}};
    CHECK(d->ops->load(d, code, &p) == QS_OK);
    for (int i = 0; i < 100; i++) x[i] = 1;
    CHECK(d->ops->launch(d, p, &(Launch){.rank = 1, .domain = {100}, .block = {1}}, 1, &a, &fault) == QS_OK &&
          !fault.message);
    CHECK(x[0] > 0.449f && x[0] < 0.4501f && x[99] == x[0]); /* log of gamma(e) */
    x[42] = 9;
    CHECK(d->ops->launch(d, p, &(Launch){.rank = 1, .domain = {100}, .block = {1}}, 1, &a, &fault) == QS_OK);
    CHECK(fault.message == 1 && fault.at[0] == 42 && fault.pos == 7 && fault.value[0] > 100);
    d->ops->unload(d, p);
}

int main(void) {
    Arena arena;
    KFunc *f;
    Code code;
    Device d = {.ops = &qdev_cpu_ops, .ctx = &ctx};
    qctx_init(&ctx, 32);
    qarena_init(&arena, &ctx);
    KCompiler *k = kcompile_open(&ctx, "");
    bool ok = d.ops->open(&d, 0) == QS_OK && kir_parse(&ctx, &arena, text, strlen(text), &f) == QS_OK &&
              kcompile(k, f, &d, &code) == QS_OK;
    CHECK(ok);
    if (ok) {
        void *mvec = dlopen("libmvec.so.1", RTLD_NOW);
        test_symbols(&code, mvec);
        test_run(&d, &code);
        test_damage(&code, mvec);
        kcompile_free(k, &code);
        if (mvec) dlclose(mvec);
    } else printf("%s\n", ctx.err.text);
    qerr_clear(&ctx);
    d.ops->close(&d);
    kcompile_close(k);
    qarena_free(&arena);
    qctx_close(&ctx);
    return check_done();
}
