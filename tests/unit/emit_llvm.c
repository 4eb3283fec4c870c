/* Kernels given as KIR text run on the cpu device and on the reference evaluator; both must leave the same memory. */
#include "lang/kernel/compile.h"
#include "vm/base/str.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>

static Ctx ctx;
static KCompiler *compiler;
static Device cpu;

enum { MAX_ARGS = 8 };

typedef struct { /* arrays: extents; numbers: value */
    int64_t dims[QS_MAX_RANK];
    double num;
} Arg;

static uint64_t seed = 1;
static uint64_t random_bits(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static void fill(qs_dtype d, void *p, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        char *at = (char *)p + (size_t)i * qdtype_size(d);
        if (qdtype_is_int(d)) memcpy(at, &(uint64_t){random_bits() % 7 ? random_bits() % 100 : random_bits()}, qdtype_size(d));
        else qdtype_put(d, at, (double)(int64_t)(random_bits() % 4001) / 16 - 125);
    }
}

static size_t count(const KParam *p, const Arg *a) {
    size_t n = qdtype_is_complex(p->dtype) ? 2 : 1;
    for (int k = 0; k < p->rank; k++) n *= (size_t)a->dims[k];
    return n;
}

/* Floats may differ by the rounding that a fused multiply-add spares. */
static bool same(qs_dtype d, const void *a, const void *b, double tolerance) {
    if (!memcmp(a, b, qdtype_size(d))) return true;
    if (!qdtype_is_real(d)) return false;
    double x = qdtype_get(d, a), y = qdtype_get(d, b);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return fabs(x - y) <= tolerance * (1 + fmax(fabs(x), fabs(y)));
}

typedef struct { void *mem[2][MAX_ARGS]; size_t n[MAX_ARGS]; KArg k[MAX_ARGS]; DevArg d[MAX_ARGS]; } Setup;

static void set_up(Setup *s, const KFunc *f, const Arg *args) {
    memset(s, 0, sizeof *s);
    for (int i = 0; i < f->nparams; i++) {
        const KParam *p = &f->params[i];
        if (p->kind == KP_NUM) {
            KSlot v = {0};
            double x = args[i].num;
            switch ((qs_dtype)p->dtype) {
            case QS_F32: v.F32 = (float)x; break;
            case QS_F64: v.F64 = x; break;
            case QS_I32: v.I64 = (int32_t)x; break;
            default: v.I64 = (int64_t)x; break;
            }
            s->k[i].bits = s->d[i].bits = v.bits;
            continue;
        }
        qs_dtype real = qdtype_real_of(p->dtype);
        s->n[i] = count(p, &args[i]);
        for (int side = 0; side < 2; side++) s->mem[side][i] = calloc(s->n[i] + 1, qdtype_size(real));
        fill(real, s->mem[0][i], (int64_t)s->n[i]);
        memcpy(s->mem[1][i], s->mem[0][i], s->n[i] * qdtype_size(real));
        s->d[i].is_array = true, s->d[i].rank = p->rank;
        int64_t stride = 1;
        for (int a = p->rank - 1; a >= 0; a--) {
            s->k[i].dims[a] = s->d[i].dims[a] = args[i].dims[a];
            s->k[i].strides[a] = s->d[i].strides[a] = stride;
            stride *= args[i].dims[a];
        }
        s->k[i].data = s->mem[0][i], s->d[i].block = (DevPtr)(uintptr_t)s->mem[1][i];
    }
}

static bool compare(const Setup *s, const KFunc *f, double tolerance) {
    for (int i = 0; i < f->nparams; i++) {
        qs_dtype d = qdtype_real_of(f->params[i].dtype);
        for (size_t x = 0; x < s->n[i]; x++) {
            const char *a = (char *)s->mem[0][i] + x * qdtype_size(d), *b = (char *)s->mem[1][i] + x * qdtype_size(d);
            if (same(d, a, b, tolerance)) continue;
            printf("  %s[%zu]: ref %.17g, cpu %.17g\n", f->params[i].name->s, x, qdtype_get(d, a), qdtype_get(d, b));
            return false;
        }
    }
    return true;
}

static void tear_down(Setup *s) {
    for (int i = 0; i < MAX_ARGS; i++) free(s->mem[0][i]), free(s->mem[1][i]);
}

static bool both(const KFunc *f, const Launch *l, const Arg *args, double tolerance, DevFault *fault) {
    Setup s;
    Code code;
    Program *p;
    KFault kf;
    KLaunch kl = {.rank = l->rank};
    memcpy(kl.domain, l->domain, sizeof kl.domain), memcpy(kl.block, l->block, sizeof kl.block);
    set_up(&s, f, args);
    bool ok = kir_verify(&ctx, f) == QS_OK && keval_run(&ctx, f, s.k, &kl, &kf, NULL) == QS_OK && kcompile(compiler, f, &cpu, &code) == QS_OK &&
              cpu.ops->load(&cpu, &code, &p) == QS_OK;
    if (ok) {
        ok = cpu.ops->launch(&cpu, p, l, f->nparams, s.d, fault) == QS_OK;
        ok = ok && (kf.message ? fault->message == kf.message && fault->pos == kf.pos : !fault->message && compare(&s, f, tolerance));
        cpu.ops->unload(&cpu, p);
        kcompile_free(compiler, &code);
    }
    if (!ok && ctx.err.status) printf("  %s\n", ctx.err.text);
    qerr_clear(&ctx);
    tear_down(&s);
    return ok;
}

static bool agree(const char *text, const Launch *l, const Arg *args, double tolerance) {
    Arena arena;
    KFunc *f;
    DevFault fault;
    qarena_init(&arena, &ctx);
    bool ok = kir_parse(&ctx, &arena, text, strlen(text), &f) == QS_OK;
    if (ok) ok = both(f, l, args, tolerance, &fault);
    else printf("  %s\n", ctx.err.text), qerr_clear(&ctx);
    qarena_free(&arena);
    return ok;
}

static void test_saxpy(void) {
    static const char text[] =
        "kernel \"saxpy\" rank 1 {\n"
        "  param \"a\" float32\n  param \"x\" array float32 rank 1 contiguous unit_last read\n"
        "  param \"y\" array float32 rank 1 contiguous unit_last read written\n"
        "  %1 = pos int64 0\n  %2 = param float32 $0\n  %3 = load float32 $1 %1\n  %4 = load float32 $2 %1\n"
        "  %5 = mul float32 %2 %3\n  %6 = add float32 %5 %4\n  store $2 %1 %6\n}\n";
    for (int64_t n = 0; n < 40; n++) {
        Arg args[] = {{.num = 2.5}, {.dims = {n}}, {.dims = {n}}};
        CHECK(agree(text, &(Launch){.rank = 1, .domain = {n}, .block = {16}}, args, 1e-6));
    }
    Arg args[] = {{.num = 2.5}, {.dims = {1000000}}, {.dims = {1000000}}};
    CHECK(agree(text, &(Launch){.rank = 1, .domain = {1000000}, .block = {16}}, args, 1e-6));
}

int main(void) {
    qctx_init(&ctx, 32);
    compiler = kcompile_open(&ctx, "");
    cpu.ops = &qdev_cpu_ops, cpu.ctx = &ctx, cpu.threads = 4;
    if (cpu.ops->open(&cpu, 0) != QS_OK) return printf("%s\n", ctx.err.text), 1;
    test_saxpy();
    cpu.ops->close(&cpu);
    kcompile_close(compiler);
    qctx_close(&ctx);
    return check_done();
}
