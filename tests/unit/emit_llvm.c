/* Kernels given as KIR text run on the cpu device and on the reference evaluator; both must leave the same memory. */
#include "lang/kernel/codegen/emit.h"
#include "lang/kernel/compile.h"
#include "lang/kernel/passes/passes.h"
#include "tests/unit/check.h"
#include "vm/base/str.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static Ctx ctx;
static KCompiler *compiler;
static Device cpu;

enum { MAX_ARGS = 8 };

typedef struct { /* arrays: extents; numbers: value */
    int64_t dims[QS_MAX_RANK];
    double num;
    int shares; /* 1 + number of the argument whose memory it shares; 0: its own */
} Arg;

static uint64_t seed = 1;
static uint64_t random_bits(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static void fill(qs_dtype d, void *p, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        char *at = (char *)p + (size_t)i * qdtype_size(d);
        if (qdtype_is_int(d))
            memcpy(at, &(uint64_t){random_bits() % 7 ? random_bits() % 100 : random_bits()}, qdtype_size(d));
        else qdtype_put(d, at, (double)(int64_t)(random_bits() % 4001) / 16 - 125);
    }
}

static size_t count(const KParam *p, const Arg *a) {
    size_t n = qdtype_is_complex(p->dtype) ? 2 : 1;
    for (int k = 0; k < p->rank; k++) n *= (size_t)a->dims[k];
    return n;
}

/* Floats may differ by the rounding that a fused multiply-add omits. */
static bool same(qs_dtype d, const void *a, const void *b, double tolerance) {
    if (!memcmp(a, b, qdtype_size(d))) return true;
    if (!qdtype_is_real(d)) return false;
    double x = qdtype_get(d, a), y = qdtype_get(d, b);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return fabs(x - y) <= tolerance * (1 + fmax(fabs(x), fabs(y)));
}

typedef struct {
    void *mem[2][MAX_ARGS];
    size_t n[MAX_ARGS];
    KArg k[MAX_ARGS];
    DevArg d[MAX_ARGS];
} Setup;

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
        if (args[i].shares) {
            s->k[i] = s->k[args[i].shares - 1], s->d[i] = s->d[args[i].shares - 1];
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

/* The kernel in use: compiled once for many launches. */
static struct {
    char text[4000];
    Arena arena;
    KFunc *func;
    Program *program;
} current;

static void forget(void) {
    if (!current.text[0]) return;
    if (current.program) cpu.ops->unload(&cpu, current.program);
    qarena_free(&current.arena);
    current.text[0] = 0, current.program = NULL;
}

static qs_status use(const char *text) {
    Code code;
    if (!text) return qerr_set(&ctx, QS_EIO, "the kernel's text is missing");
    if (!strcmp(current.text, text) && current.program) return QS_OK;
    forget();
    snprintf(current.text, sizeof current.text, "%s", text);
    qarena_init(&current.arena, &ctx);
    TRY(kir_parse(&ctx, &current.arena, text, strlen(text), &current.func));
    TRY(kir_verify(&ctx, current.func));
    TRY(kcompile(compiler, current.func, &cpu, &code));
    qs_status s = cpu.ops->load(&cpu, &code, &current.program);
    kcompile_free(compiler, &code);
    return s;
}

static bool agree(const char *text, const Launch *l, const Arg *args, double tolerance) {
    Setup s = {0};
    DevFault fault;
    KFault kf;
    KLaunch kl = {.rank = l->rank};
    memcpy(kl.domain, l->domain, sizeof kl.domain), memcpy(kl.block, l->block, sizeof kl.block);
    bool ok = use(text) == QS_OK;
    if (ok) set_up(&s, current.func, args);
    ok = ok && keval_run(&ctx, current.func, s.k, &kl, &kf, NULL) == QS_OK &&
         cpu.ops->launch(&cpu, current.program, l, current.func->nparams, s.d, &fault) == QS_OK;
    if (ok && kf.message) ok = fault.message == kf.message && fault.pos == kf.pos;
    else if (ok) ok = !fault.message && compare(&s, current.func, tolerance);
    if (!ok && ctx.err.status) printf("  %s\n", ctx.err.text);
    qerr_clear(&ctx);
    tear_down(&s);
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

/* -- loops that positions share: strips ---------------------------------------------------------------------------- */
#define ARRAY(name, rw) "  param \"" name "\" array float32 rank 1 contiguous unit_last " rw "\n"

/* Each position sums over all others: three accumulators would be one too many for this text, one will do. */
static const char all_pairs[] = "kernel \"pairs\" rank 1 {\n" ARRAY("x", "read")
    ARRAY("y", "written") "  param \"n\" int\n"
                          "  %1 = pos int64 0\n  %2 = load float32 $0 %1\n  %3 = const float32 0\n  %4 = local float32 "
                          "%3\n  %5 = const int 0\n"
                          "  %6 = param int $2\n  %7 = const int 1\n  %8 = for int %5 %6 %7\n    %9 = cast int64 %8\n  "
                          "  %10 = load float32 $0 %9\n"
                          "    %11 = sub float32 %10 %2\n    %12 = get float32 %4\n    %13 = mul float32 %11 %11\n    "
                          "%14 = add float32 %12 %13\n    set %4 %14\n  end\n"
                          "  %17 = get float32 %4\n  store $1 %1 %17\n}\n";

/* A loop that ends by a uniform condition, positions that leave early, a bounds check in between. */
static const char early[] = "kernel \"early\" rank 1 {\n" ARRAY("x", "read")
    ARRAY("y", "written") "  param \"n\" int\n  message EINDEX \"%0\"\n"
                          "  %1 = pos int64 0\n  %2 = load float32 $0 %1\n  %3 = const float32 0\n  %4 = local float32 "
                          "%3\n  %5 = const int 0\n  %6 = local int %5\n"
                          "  %7 = const float32 50\n  loop\n    %9 = get int %6\n    %10 = param int $2\n    %11 = le "
                          "bool %10 %9\n    if %11\n      break 0\n    end\n"
                          "    %15 = cast int64 %9\n    %16 = load float32 $0 %15\n    %17 = add float32 %16 %2\n    "
                          "%18 = get float32 %4\n    %19 = add float32 %18 %17\n"
                          "    set %4 %19\n    %21 = const float32 120\n    %22 = lt bool %17 %21\n    check #0 %22 "
                          "%17 @3\n    %24 = lt bool %7 %17\n    if %24\n      ret\n    end\n"
                          "    %28 = const int 1\n    %29 = add int %9 %28\n    set %6 %29\n  end\n  %32 = get float32 "
                          "%4\n  store $1 %1 %32\n}\n";

/* Reads elements that it writes: a position must not run twice. */
static const char in_place[] = "kernel \"inplace\" rank 1 {\n" ARRAY("x", "read")
    ARRAY("y", "read written") "  param \"n\" int\n"
                               "  %1 = pos int64 0\n  %2 = load float32 $1 %1\n  %3 = local float32 %2\n  %4 = const "
                               "int 0\n  %5 = param int $2\n  %6 = const int -1\n"
                               "  %7 = for int %5 %4 %6\n    %8 = cast int64 %7\n    %9 = load float32 $0 %8\n    %10 "
                               "= get float32 %3\n    %11 = add float32 %9 %10\n"
                               "    set %3 %11\n  end\n  %14 = get float32 %3\n  store $1 %1 %14\n}\n";

/* Two parameters that may be one array. */
static const char own[] = "kernel \"own\" rank 1 {\n" ARRAY("x", "read")
    ARRAY("y", "written") "  param \"n\" int\n"
                          "  %1 = pos int64 0\n  %2 = const float32 1\n  %3 = local float32 %2\n  %4 = const int 0\n  "
                          "%5 = param int $2\n  %6 = const int -1\n"
                          "  %7 = for int %5 %4 %6\n    %9 = load float32 $0 %1\n    %10 = get float32 %3\n    %11 = "
                          "add float32 %9 %10\n"
                          "    set %3 %11\n  end\n  %14 = get float32 %3\n  store $1 %1 %14\n}\n";

static const char rows[] = /* rank 2, a window of unknown size with mirrored edges */
    "kernel \"window\" rank 2 {\n  param \"x\" array float32 rank 2 contiguous unit_last read\n"
    "  param \"y\" array float32 rank 2 contiguous unit_last written\n  param \"r\" int\n"
    "  %1 = pos int64 0\n  %2 = pos int64 1\n  %3 = const float32 0\n  %4 = local float32 %3\n  %5 = param int $2\n  "
    "%6 = neg int %5\n"
    "  %7 = const int 1\n  %8 = for int %6 %5 %7\n    %9 = for int %6 %5 %7\n      %10 = cast int64 %8\n      %11 = "
    "cast int64 %9\n"
    "      %12 = add int64 %1 %10\n      %13 = add int64 %2 %11\n      %14 = dim int64 $0.0\n      %15 = dim int64 "
    "$0.1\n"
    "      %16 = bound.mirror int64 %12 %14\n      %17 = bound.circular int64 %13 %15\n      %18 = mul int64 %16 %15\n "
    "     %19 = add int64 %18 %17\n"
    "      %20 = load float32 $0 %19\n      %21 = get float32 %4\n      %22 = max float32 %21 %20\n      set %4 %22\n  "
    "  end\n  end\n"
    "  %26 = get float32 %4\n  %27 = dim int64 $1.1\n  %28 = mul int64 %1 %27\n  %29 = add int64 %28 %2\n  store $1 "
    "%29 %26\n}\n";

static void test_strips(void) {
    static const char *const texts[] = {all_pairs, early, in_place, own};
    for (int t = 0; t < 4; t++)
        for (int64_t n = 1; n < 80; n += n < 40 ? 1 : 13) {
            Arg args[] = {{.dims = {n}}, {.dims = {n}, .shares = t == 3}, {.num = (double)n - 1}};
            CHECK(agree(texts[t], &(Launch){.rank = 1, .domain = {n}, .block = {16}}, args, 1e-4));
        }
    for (int64_t w = 1; w < 120; w = w * 3 / 2 + 1)
        for (int r = 0; r < 5; r += 2) {
            Arg args[] = {{.dims = {9, w}}, {.dims = {9, w}}, {.num = r}};
            CHECK(agree(rows, &(Launch){.rank = 2, .domain = {9, w}, .block = {1, 16}}, args, 0));
        }
}

/* -- private arrays beyond a thread's stack ------------------------------------------------------------------------ */
static const char large[] = "kernel \"large\" rank 1 {\n" ARRAY("x", "read")
    ARRAY("y", "written") "  %1 = pos int64 0\n  %2 = larray float64 900000\n  %3 = const int64 0\n  %4 = const int64 "
                          "899999\n  %5 = const int64 7\n"
                          "  %6 = load float32 $0 %1\n  %7 = cast float64 %6\n  %8 = for int64 %3 %4 %5\n    astore %2 "
                          "%8 %7\n  end\n"
                          "  %11 = aload float64 %2 %4\n  %12 = mul int64 %5 %5\n  %13 = aload float64 %2 %12\n  %14 = "
                          "add float64 %11 %13\n"
                          "  %15 = cast float32 %14\n  store $1 %1 %15\n}\n";

static void test_large(void) {
    Arg args[] = {{.dims = {40}}, {.dims = {40}}};
    CHECK(agree(large, &(Launch){.rank = 1, .domain = {40}, .block = {8}}, args, 0));
}

/* -- colours: the last two axes as one ----------------------------------------------------------------------------- */
static const char colours[] =
    "kernel \"colours\" rank 3 {\n  param \"x\" array float32 rank 3 contiguous unit_last read\n"
    "  param \"y\" array uint8 rank 3 contiguous unit_last written\n"
    "  %1 = pos int64 0\n  %2 = pos int64 1\n  %3 = pos int64 2\n  %4 = const int64 1\n  %5 = sub int64 %1 %4\n  %6 = "
    "add int64 %2 %4\n"
    "  %7 = dim int64 $0.0\n  %8 = dim int64 $0.1\n  %9 = dim int64 $0.2\n"
    "  %10 = bound.mirror int64 %5 %7\n  %11 = bound.circular int64 %6 %8\n  %12 = inb bool %3 %9\n"
    "  %13 = mul int64 %10 %8\n  %14 = add int64 %13 %11\n  %15 = mul int64 %14 %9\n  %16 = add int64 %15 %3\n"
    "  %17 = load float32 $0 %16 %12\n  %18 = inb bool %6 %8\n  %19 = mul int64 %1 %8\n  %20 = add int64 %19 %6\n  %21 "
    "= mul int64 %20 %9\n"
    "  %22 = add int64 %21 %3\n  %23 = and bool %18 %12\n  %24 = load float32 $0 %22 %23\n  %25 = sub float32 %17 "
    "%24\n  %26 = cast int %25\n"
    "  %27 = dim int64 $1.1\n  %28 = dim int64 $1.2\n  %29 = mul int64 %1 %27\n  %30 = add int64 %29 %2\n  %31 = mul "
    "int64 %30 %28\n"
    "  %32 = add int64 %31 %3\n  %33 = inb bool %3 %28\n  store $1 %32 %26 %33\n}\n";

static void test_colours(void) {
    for (int64_t w = 1; w < 40; w += 6)
        for (int64_t c = 1; c < 6; c++)
            for (int64_t n = 1; n < 6; n++) { /* extents of x, of y, and of the launch may differ */
                Arg args[] = {{.dims = {5, w, c}}, {.dims = {5, w, n}}};
                CHECK(agree(colours, &(Launch){.rank = 3, .domain = {5, w, c}, .block = {1, 16, 1}}, args, 0));
            }
    Arg args[] = {{.dims = {30, 600, 3}}, {.dims = {30, 600, 3}}};
    CHECK(agree(colours, &(Launch){.rank = 3, .domain = {30, 600, 3}, .block = {1, 16, 1}}, args, 0));
}

/* -- windows ------------------------------------------------------------------------------------------------------- */
/* The sum over 3x5 elements around, each multiplied by the value selected by `factor`: 1, 2 the position, 9 and 10 the
 * offset in the window, by row and column. */
static void print_window(char text[2000], const char *fast, const char *type, int factor) {
    snprintf(text, 2000,
             "kernel \"window\" rank 2%s {\n  param \"x\" array %s rank 2 contiguous unit_last read\n"
             "  param \"y\" array %s rank 2 contiguous unit_last written\n"
             "  %%1 = pos int64 0\n  %%2 = pos int64 1\n  %%3 = const %s 0\n  %%4 = local %s %%3\n"
             "  %%5 = const int -1\n  %%6 = const int 1\n  %%7 = const int 2\n  %%8 = const int -2\n"
             "  %%9 = for int %%5 %%6 %%6\n    %%10 = for int %%8 %%7 %%6\n"
             "      %%11 = get %s %%4\n      %%12 = cast int64 %%9\n      %%13 = add int64 %%1 %%12\n"
             "      %%14 = cast int64 %%10\n      %%15 = add int64 %%2 %%14\n"
             "      %%16 = dim int64 $0.0\n      %%17 = bound.circular int64 %%13 %%16\n"
             "      %%18 = dim int64 $0.1\n      %%19 = bound.mirror int64 %%15 %%18\n"
             "      %%20 = mul int64 %%17 %%18\n      %%21 = add int64 %%20 %%19\n      %%22 = load %s $0 %%21\n"
             "      %%23 = cast int64 %%%d\n      %%24 = cast %s %%23\n      %%25 = mul %s %%22 %%24\n"
             "      %%26 = add %s %%11 %%25\n      set %%4 %%26\n    end\n  end\n"
             "  %%30 = get %s %%4\n  %%31 = dim int64 $1.1\n  %%32 = mul int64 %%1 %%31\n  %%33 = add int64 %%32 %%2\n"
             "  store $1 %%33 %%30\n}\n",
             fast, type, type, type, type, type, type, factor, type, type, type, type);
}

/* Rows of windows have sums of their own if the order is free and the next position has the same ones. */
static bool regroups(const char *text) {
    Arena a;
    KFunc *f;
    qarena_init(&a, &ctx);
    CHECK(kir_parse(&ctx, &a, text, strlen(text), &f) == QS_OK);
    KFunc *g = (KFunc *)kwindowsums_regroup(&ctx, &a, f);
    bool yes = g != f;
    int locals = 0;
    for (KRef r = 1; r < g->nins; r++) locals += g->ins[r].op == K_LOCAL;
    kir_seal(g);
    CHECK(kir_verify(&ctx, g) == QS_OK && locals == 1 + yes);
    qarena_free(&a);
    return yes;
}

static void test_windows(void) {
    static const struct {
        const char *fast, *type;
        bool regroups;
    } ways[] = {{"", "int", true}, {"", "uint64", true}, {"", "float32", false}, {" fast", "float32", true}};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
        for (int factor = 1; factor < 11; factor += factor == 2 ? 7 : 1) {
            char text[2000];
            print_window(text, ways[way].fast, ways[way].type, factor);
            CHECK(regroups(text) == (ways[way].regroups && (factor == 2 || factor == 10)));
            for (int64_t w = 1; w < 120; w = w * 3 + 1) { /* launches over more than x, too: far outside */
                Arg args[] = {{.dims = {4, w}}, {.dims = {19, 90}}};
                CHECK(agree(text, &(Launch){.rank = 2, .domain = {19, 90}, .block = {8, 90}}, args, 0));
            }
        }
}

/* -- arrays that are only accumulated into ------------------------------------------------------------------------- */
static void test_sums(void) {
    static const char *const names[] = {"int", "uint32", "int64", "uint64", "float32", "float64", "complex64", "uint8"};
    static const char *const values[] = {"int", "uint32", "int64", "uint64", "float32", "float64", "float32", "int"};
    static const char *const ops[] = {"add", "sub", "min", "max", "and", "or", "xor"};
    for (int d = 0; d < 8; d++)
        for (int op = 0; op < 7; op++) {
            char text[900];
            if ((op > 3 && d > 3) || (op < 2 && d == 7)) continue; /* saturating sums depend on the order */
            snprintf(
                text, sizeof text,
                "kernel \"sums\" rank 1 {\n  param \"h\" array %s rank 1 contiguous unit_last read written\n  param "
                "\"x\" array int rank 1 contiguous unit_last read\n"
                "  %%1 = pos int64 0\n  %%2 = load int $1 %%1\n  %%3 = const int 63\n  %%4 = and int %%2 %%3\n  %%5 = "
                "cast int64 %%4\n  %%6 = cast %s %%2\n"
                "  %%7 = const int 1000\n  %%8 = min int %%2 %%7\n  %%9 = cast %s %%8\n  atomic.%s $0 %%5 %%9\n}\n",
                names[d], values[d], values[d], ops[op]);
            Arg args[] = {{.dims = {64}}, {.dims = {100000}}};
            CHECK(agree(text, &(Launch){.rank = 1, .domain = {100000}, .block = {64}}, args, 1e-4));
        }
}

/* -- private arrays ------------------------------------------------------------------------------------------------ */
/* An index that is cast from 64 bits is used as it was, because LLVM does not vectorize loops over extended ones. */
static void test_private_arrays(void) {
    static const char text[] =
        "kernel \"copy\" rank 1 {\n  param \"x\" array float32 rank 1 contiguous unit_last read\n"
        "  param \"y\" array float32 rank 1 contiguous unit_last written\n"
        "  %1 = larray float64 40\n  %2 = pos int64 0\n  %3 = const int64 0\n  %4 = const int64 1\n"
        "  %5 = dim int64 $0.0\n  %6 = sub int64 %5 %4\n"
        "  %7 = for int64 %3 %6 %4\n    %8 = load float32 $0 %7\n    %9 = cast float64 %8\n    %10 = cast int %7\n"
        "    astore %1 %10 %9\n  end\n"
        "  %13 = cast int %2\n  %14 = aload float64 %1 %13\n  %15 = cast float32 %14\n  store $1 %2 %15\n}\n";
    Arena a;
    KFunc *f;
    Text out;
    const KTarget any = {0};
    Arg args[] = {{.dims = {40}}, {.dims = {40}}};
    CHECK(agree(text, &(Launch){.rank = 1, .domain = {40}, .block = {8}}, args, 0));
    qarena_init(&a, &ctx);
    qtext_init(&out, &ctx);
    CHECK(kir_parse(&ctx, &a, text, strlen(text), &f) == QS_OK && kemit_llvm(&ctx, f, &any, &out) == QS_OK);
    CHECK(out.s && strstr(out.s, "getelementptr") && !strstr(out.s, "sext"));
    qtext_free(&out);
    qarena_free(&a);
}

/* -- chains of sums over rows -------------------------------------------------------------------------------------- */
/* Positions that sum rows of their own run together in unrolled strips: each addition waits for the last one. */
static void test_sums_of_rows(void) {
    static const char text[] =
        "kernel \"sums\" rank 1 {\n  param \"x\" array float32 rank 2 contiguous unit_last read\n"
        "  param \"y\" array float32 rank 1 contiguous unit_last written\n"
        "  %1 = pos int64 0\n  %2 = const int64 0\n  %3 = const int64 1\n  %4 = dim int64 $0.1\n"
        "  %5 = sub int64 %4 %3\n  %6 = const float32 0\n  %7 = local float32 %6\n"
        "  %8 = for int64 %2 %5 %3\n    %9 = mul int64 %1 %4\n    %10 = add int64 %9 %8\n    %11 = load float32 $0 "
        "%10\n"
        "    %12 = get float32 %7\n    %13 = add float32 %12 %11\n    set %7 %13\n  end\n"
        "  %16 = get float32 %7\n  store $1 %1 %16\n}\n";
    Arena a;
    KFunc *f;
    Text out;
    const KTarget any = {0};
    Arg args[] = {{.dims = {43, 21}}, {.dims = {43}}};
    CHECK(agree(text, &(Launch){.rank = 1, .domain = {43}, .block = {43}}, args, 0));
    qarena_init(&a, &ctx);
    qtext_init(&out, &ctx);
    CHECK(kir_parse(&ctx, &a, text, strlen(text), &f) == QS_OK && kemit_llvm(&ctx, f, &any, &out) == QS_OK);
    CHECK(out.s && strstr(out.s, ", !3, !12}"));
    qtext_free(&out);
    qarena_free(&a);
}

/* -- interrupts ---------------------------------------------------------------------------------------------------- */
static Flag stop;

static void *interrupt_soon(void *unused) {
    usleep(30000);
    qflag_raise(&stop);
    return unused;
}

static const char endless[] = "kernel \"endless\" rank 1 {\n" ARRAY(
    "x", "written") "  %1 = pos int64 0\n  %2 = const float32 1\n  loop\n    store $0 %1 %2\n  end\n}\n";
static const char long_serial[] = "kernel \"long\" rank 1 serial {\n" ARRAY(
    "x", "read written") "  %1 = pos int64 0\n  %2 = const int64 1\n  %3 = const int64 1000000000000\n"
                         "  %4 = for int64 %2 %3 %2\n    %5 = load float32 $0 %1\n    %6 = cast float32 %4\n    %7 = "
                         "math.sin float32 %6\n    %8 = add float32 %5 %7\n"
                         "    store $0 %1 %8\n  end\n}\n";

static void test_interrupt(const char *text) {
    float x[64] = {0};
    pthread_t thread;
    struct timespec before, after;
    DevArg a = {.is_array = true, .block = (DevPtr)(uintptr_t)x, .rank = 1, .dims = {64}, .strides = {1}};
    if (use(text) != QS_OK) {
        CHECK(!"it compiles");
        return;
    }
    qflag_lower(&stop);
    cpu.stop = &stop;
    CHECK(pthread_create(&thread, NULL, interrupt_soon, NULL) == 0);
    clock_gettime(CLOCK_MONOTONIC, &before);
    CHECK(cpu.ops->launch(&cpu, current.program, &(Launch){.rank = 1, .domain = {64}, .block = {64}}, 1, &a, NULL) ==
          QS_EINTERRUPT);
    clock_gettime(CLOCK_MONOTONIC, &after);
    CHECK((double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9 < 2);
    pthread_join(thread, NULL);
    cpu.stop = NULL;
    qerr_clear(&ctx);
}

int main(void) {
    qctx_init(&ctx, 32);
    compiler = kcompile_open(&ctx, "");
    cpu.ops = &qdev_cpu_ops, cpu.ctx = &ctx, ctx.nthreads = 4;
    if (cpu.ops->open(&cpu, 0) != QS_OK) return printf("%s\n", ctx.err.text), 1;
    test_saxpy();
    test_strips();
    test_large();
    test_colours();
    test_windows();
    test_sums();
    test_private_arrays();
    test_sums_of_rows();
    test_interrupt(endless);
    test_interrupt(long_serial);
    forget();
    cpu.ops->close(&cpu);
    kcompile_close(compiler);
    qctx_close(&ctx);
    return check_done();
}
