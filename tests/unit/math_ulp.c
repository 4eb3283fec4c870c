/* Every mathematical function of the cpu device, and every one of our own for NVIDIA devices (emit_math.c, compiled
 * for this processor), keeps the bound that mathfn.def states, over its whole range: NaN, infinities, zeros,
 * denormals, huge arguments, the neighbourhood of special points, and random bits.  The reference computes in a wider
 * format: double for float32, long double for float64.
 * With -v prints the largest error of each function and where it was found; with -a NAME all 2^32 floats go through the
 * function of the cpu device, which takes minutes. */
#include "devices/elf.h"
#include "devices/llvm.h"
#include "lang/kernel/codegen/emit.h"
#include "lang/kernel/compile.h"
#include "tests/unit/check.h"

#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 120000 };

static Ctx ctx;
static KCompiler *compiler;
static Device cpu;
static Llvm *llvm;
static bool verbose;

typedef union {
    long double (*one)(long double);
    long double (*two)(long double, long double);
} Wide;
typedef long double one_fn(long double);
typedef long double two_fn(long double, long double);
#define REF_1(f64)                                                                                                     \
    { .one = (one_fn *)f64##l }
#define REF_2(f64)                                                                                                     \
    { .two = (two_fn *)f64##l }
static const Wide wide[MF__COUNT] = {
#define MATHFN(id, nargs, f32, f64, ...) [MF_##id] = REF_##nargs(f64),
#include "lang/kernel/ir/mathfn.def"
};

static uint64_t seed = 88172645463325252u;
static uint64_t random_bits(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static const double special[] = {
    0.0,
    -0.0,
    1,
    -1,
    2,
    -2,
    0.5,
    -0.5,
    INFINITY,
    -INFINITY,
    NAN,
    FLT_MIN,
    -FLT_MIN,
    FLT_MIN / 2,
    FLT_TRUE_MIN,
    -FLT_TRUE_MIN,
    FLT_MAX,
    -FLT_MAX,
    DBL_MIN,
    DBL_MIN / 4,
    DBL_TRUE_MIN,
    -DBL_TRUE_MIN,
    DBL_MAX,
    -DBL_MAX,
    1e-30,
    1e30,
    -1e30,
    1e300,
    M_PI,
    -M_PI,
    M_PI_2,
    M_PI_4,
    3 * M_PI_2,
    100 * M_PI,
    1e5 * M_PI,
    M_E,
    88.72,
    88.73,
    89,
    -87.3,
    -103.9,
    -104,
    127.9,
    128,
    -149,
    -150,
    709.78,
    709.79,
    -745.1,
    -745.2,
    1023.99,
    1024,
    -1074,
    -1075,
    0.999,
    1.001,
    1 - 1e-9,
    1 + 1e-9,
    -0.999,
    -1.001,
    3.9,
    9.2,
    10.05,
    26.5,
    27.3,
    33,
    170,
    171.7,
    -0.1,
    -1.5,
    -2.5,
    -20.5,
    -33.5,
    3,
    4,
    5,
    -3,
    -4,
    7,
    100,
    101,
    1e6,
    16777216,
    16777217,
    9007199254740993.0,
    0x1p31,
    0x1p63,
    0.1,
    0.3,
    1.5,
    2.5,
    1e-5,
    1e-8,
    1e-16,
};
enum { NSPECIAL = sizeof special / sizeof *special };

static double from_bits(qs_dtype d) {
    uint64_t u = random_bits();
    float f;
    double x;
    memcpy(&f, &u, sizeof f), memcpy(&x, &u, sizeof x);
    return d == QS_F32 ? (double)f : x;
}

/* A third are arbitrary bits, the rest in the usual range of functions: small, around 1, up to a hundred; some near
 * special points. */
static double sample(qs_dtype d, int i) {
    if (i < NSPECIAL) return special[i];
    double unit = (double)(int64_t)random_bits() / 9223372036854775808.0;
    switch (random_bits() % 6) {
    case 0:
    case 1: return from_bits(d);
    case 2: return unit;
    case 3: return unit * 10;
    case 4: return special[random_bits() % NSPECIAL] * (1 + unit * 1e-6);
    default: return unit * 100;
    }
}

/* Distance in units of the last place of the reference rounded to d, at least of those of `least_value`; infinite if
 * the two are of different classes (nan, infinite, finite). */
static double ulps(qs_dtype d, long double want, double got, double least_value) {
    double rounded = d == QS_F32 ? (double)(float)want : (double)want;
    if (isnan(rounded) || isnan(got)) return isnan(rounded) && isnan(got) ? 0 : INFINITY;
    if (isinf(rounded) || isinf(got)) { /* within a few units of overflow either may round to infinity */
        double top = d == QS_F32 ? (double)FLT_MAX : DBL_MAX;
        return rounded == got || fabs(isinf(got) ? rounded : got) >= top * (1 - 4e-7) ? 0 : INFINITY;
    }
    int digits = d == QS_F32 ? FLT_MANT_DIG : DBL_MANT_DIG, least = d == QS_F32 ? FLT_MIN_EXP : DBL_MIN_EXP, e;
    frexp(fmax(fabs(rounded), least_value), &e);
    if ((rounded == 0 && least_value == 0) || e < least) e = least;
    return (double)(fabsl((long double)got - want) / ldexpl(1, e - digits));
}

/* strict: as in a loop of the program, whose results have the bits of the host. */
static Program *program_for(MathFn fn, qs_dtype d, bool strict) {
    Arena arena;
    Code code;
    Program *p = NULL;
    Str *name = qstr_cname(&ctx, "m");
    qarena_init(&arena, &ctx);
    KFunc *f = kir_new(&ctx, &arena, name, NULL);
    for (int i = 0; i < 3; i++)
        kir_param(
            f,
            &(KParam){
                .name = name, .kind = KP_ARRAY, .dtype = (uint8_t)d, .rank = 1, .contiguous = true, .unit_last = true});
    f->strict = strict;
    KRef i = kir_add(f, (KMake){K_POS, .own = QS_I64});
    KRef a = kir_add(f, (KMake){K_LOAD, .own = d, .a = i}),
         b = kir_math[fn].nargs == 2 ? kir_add(f, (KMake){K_LOAD, .own = d, .a = i, .imm = 1}) : 0;
    kir_add(f, (KMake){K_STORE, .a = i, .b = kir_add(f, (KMake){K_MATH, .flag = fn, .a = a, .b = b}), .imm = 2});
    kir_seal(f);
    bool ok = kir_verify(&ctx, f) == QS_OK && kcompile(compiler, f, &cpu, &code) == QS_OK &&
              cpu.ops->load(&cpu, &code, &p) == QS_OK;
    CHECK(ok);
    if (ok) kcompile_free(compiler, &code);
    qstr_release(&ctx, name);
    qarena_free(&arena);
    return p;
}

static void run_program(Program *p, void *x[3]) {
    DevArg args[3] = {0};
    DevFault fault;
    for (int i = 0; i < 3; i++) {
        args[i].is_array = true, args[i].block = (DevPtr)(uintptr_t)x[i], args[i].rank = 1;
        args[i].dims[0] = MANY, args[i].strides[0] = 1;
    }
    CHECK(cpu.ops->launch(&cpu, p, &(Launch){.rank = 1, .domain = {MANY}}, 3, args, &fault) == QS_OK);
}

static void on_cpu(MathFn fn, qs_dtype d, bool strict, void *x[3]) {
    Program *p = program_for(fn, d, strict);
    if (!p) return;
    run_program(p, x);
    cpu.ops->unload(&cpu, p);
}

/* -- our own functions, in a loop over all samples ----------------------------------------------------------------- */
static const char loop_text[] =
    "declare %1$s @%2$s(%3$s)\n"
    "define void @kernel(ptr %%a, ptr %%b, ptr %%out, i64 %%n) {\nentry:\n  br label %%loop\n"
    "loop:\n  %%i = phi i64 [ 0, %%entry ], [ %%next, %%loop ]\n"
    "  %%pa = getelementptr %1$s, ptr %%a, i64 %%i\n  %%pb = getelementptr %1$s, ptr %%b, i64 %%i\n"
    "  %%po = getelementptr %1$s, ptr %%out, i64 %%i\n  %%x = load %1$s, ptr %%pa\n  %%y = load %1$s, ptr %%pb\n"
    "  %%r = call %1$s @%2$s(%4$s)\n  store %1$s %%r, ptr %%po\n"
    "  %%next = add i64 %%i, 1\n  %%more = icmp ult i64 %%next, %%n\n"
    "  br i1 %%more, label %%loop, label %%end\nend:\n  ret void\n}\n";

static void *in_process(void *ud, const char *name) { return (void)ud, dlsym(RTLD_DEFAULT, name); }

typedef void loop_fn(const void *, const void *, void *, int64_t);

static void run_own(const char *name, int nargs, qs_dtype d, void *x[3]) {
#if defined(__x86_64__)
    LlvmTarget host = {.arch = LLVM_X86, .cpu = "", .features = ""};
#else
    LlvmTarget host = {.arch = LLVM_AARCH64, .cpu = "", .features = ""};
#endif
    const char *t = d == QS_F32 ? "float" : "double";
    char ir[2048], types[32], values[64];
    Text math, object;
    ElfObject *o = NULL;
    qtext_init(&math, &ctx), qtext_init(&object, &ctx);
    snprintf(types, sizeof types, nargs == 2 ? "%s, %s" : "%s", t, t);
    snprintf(values, sizeof values, nargs == 2 ? "%s %%x, %s %%y" : "%s %%x", t, t);
    snprintf(ir, sizeof ir, loop_text, t, name, types, values);
    if (kemit_math(ir, &math)) host.math = math.s;
    LlvmTask task = {&host, ir, strlen(ir), LLVM_OBJECT};
    bool ok = host.math && qllvm_compile(&ctx, llvm, &task, &object) == QS_OK &&
              qelf_load(&ctx, object.s, object.len, in_process, NULL, &o) == QS_OK;
    CHECK(ok);
    if (!ok) printf("  %s: %s\n", name, ctx.err.text);
    void *entry = ok ? qelf_symbol(o, "kernel") : NULL;
    loop_fn *loop;
    memcpy(&loop, &entry, sizeof entry);
    if (ok) loop(x[0], x[1], x[2], MANY), qelf_unload(&ctx, o);
    qtext_free(&math), qtext_free(&object);
}

static void on_own(MathFn fn, qs_dtype d, void *x[3]) {
    run_own(kir_math[fn].nv[d == QS_F64], kir_math[fn].nargs, d, x);
}

/* -- one function -------------------------------------------------------------------------------------------------- */
static void fill(qs_dtype d, void *x[3]) {
    for (int i = 0; i < MANY; i++) {
        double a = sample(d, i), b = sample(d, NSPECIAL);
        if (i < NSPECIAL * NSPECIAL) a = special[i / NSPECIAL], b = special[i % NSPECIAL];
        qdtype_put(d, (char *)x[0] + (size_t)i * qdtype_size(d), a);
        qdtype_put(d, (char *)x[1] + (size_t)i * qdtype_size(d), b);
    }
}

/* Between any two poles on the left log gamma has a zero, near which the terms of its computation cancel. */
static double least_value(MathFn fn, double x) { return fn == MF_lgamma && x < 0 ? 1 : 0; }

static void compare(MathFn fn, qs_dtype d, void *x[3], int bound, const char *where) {
    double worst = 0, at[2] = {0};
    bool signs = true;
    for (int i = 0; i < MANY; i++) {
        size_t off = (size_t)i * qdtype_size(d);
        double a = qdtype_get(d, (char *)x[0] + off), b = qdtype_get(d, (char *)x[1] + off),
               got = qdtype_get(d, (char *)x[2] + off);
        long double want = kir_math[fn].nargs == 2 ? wide[fn].two(a, b) : wide[fn].one(a);
        double error = ulps(d, want, got, least_value(fn, a));
        if (error > worst) worst = error, at[0] = a, at[1] = b;
        if (want == 0 && got == 0 && !signbit(want) != !signbit(got)) signs = false;
    }
    bool ok = signs && worst <= bound;
    CHECK(ok);
    if (!ok || verbose)
        printf("  %-4s %-7s %s: %.3g ulp at %.9g, %.9g; bound %d%s\n", where, kir_math[fn].name, qdtype_info[d].name,
               worst, at[0], at[1], bound, signs ? "" : "; sign of zero lost");
}

/* A loop gives the bits of the host, whether it computes the function in vectors or calls it. */
static void compare_with_host(MathFn fn, void *x[3]) {
    int wrong = 0;
    for (int i = 0; i < MANY; i++) {
        double a = ((double *)x[0])[i], b = ((double *)x[1])[i], got = ((double *)x[2])[i];
        double want = keval_math(fn, QS_F64, a, b);
        bool equal = isnan(want) ? isnan(got) : want == got && !signbit(want) == !signbit(got);
        if (!equal && !wrong++)
            printf("  %s(%.17g, %.17g): %.17g in a loop, %.17g on the host\n", kir_math[fn].name, a, b, got, want);
    }
    CHECK(!wrong);
}

static bool is_instruction(MathFn fn) {
    return fn == MF_sqrt || fn == MF_floor || fn == MF_ceil || fn == MF_round || fn == MF_trunc;
}

static void test_function(MathFn fn, qs_dtype d) {
    void *x[3];
    for (int k = 0; k < 3; k++) x[k] = calloc(MANY, qdtype_size(d));
    fill(d, x);
    on_cpu(fn, d, false, x);
    compare(fn, d, x, d == QS_F32 ? kir_math[fn].ulp32 : kir_math[fn].ulp64, "cpu");
    if (!is_instruction(fn)) {
        on_own(fn, d, x);
        compare(fn, d, x, d == QS_F32 ? kir_math[fn].own32 : kir_math[fn].own64, "own");
    }
    if (d == QS_F64) {
        on_cpu(fn, d, true, x);
        compare_with_host(fn, x);
        if (kir_math[fn].how[1] >= MATH_host) compare(fn, d, x, 1, "loop");
    }
    for (int k = 0; k < 3; k++) free(x[k]);
}

/* The remainder is exact. */
static void test_fmod(qs_dtype d) {
    void *x[3];
    int wrong = 0;
    for (int k = 0; k < 3; k++) x[k] = calloc(MANY, qdtype_size(d));
    fill(d, x);
    run_own(d == QS_F32 ? "__nv_fmodf" : "__nv_fmod", 2, d, x);
    for (int i = 0; i < MANY; i++) {
        size_t off = (size_t)i * qdtype_size(d);
        double want = fmod(qdtype_get(d, (char *)x[0] + off), qdtype_get(d, (char *)x[1] + off)),
               got = qdtype_get(d, (char *)x[2] + off);
        wrong += isnan(want) ? !isnan(got) : want != got || !signbit(want) != !signbit(got);
    }
    CHECK(!wrong);
    for (int k = 0; k < 3; k++) free(x[k]);
}

static void test_all_floats(MathFn fn) {
    void *x[3];
    Program *p = program_for(fn, QS_F32, false);
    for (int k = 0; k < 3; k++) x[k] = calloc(MANY, sizeof(float));
    for (uint64_t first = 0; p && first < (uint64_t)1 << 32; first += MANY) {
        for (uint32_t i = 0; i < MANY; i++) ((uint32_t *)x[0])[i] = (uint32_t)first + i;
        run_program(p, x);
        compare(fn, QS_F32, x, kir_math[fn].ulp32, "all");
    }
    if (p) cpu.ops->unload(&cpu, p);
    for (int k = 0; k < 3; k++) free(x[k]);
}

static void test_all_samples(void) {
    for (int fn = 0; fn < MF__COUNT; fn++) test_function((MathFn)fn, QS_F32), test_function((MathFn)fn, QS_F64);
    test_fmod(QS_F32), test_fmod(QS_F64);
}

int main(int argc, char **argv) {
    const char *all = argc > 2 && !strcmp(argv[1], "-a") ? argv[2] : NULL;
    verbose = argc > 1 && !strcmp(argv[1], "-v");
    qctx_init(&ctx, 32);
    compiler = kcompile_open(&ctx, "");
    cpu.ops = &qdev_cpu_ops, cpu.ctx = &ctx, ctx.nthreads = 1;
    if (cpu.ops->open(&cpu, 0) != QS_OK || qllvm_open(&ctx, &llvm) != QS_OK) return printf("%s\n", ctx.err.text), 1;
    for (int fn = 0; all && fn < MF__COUNT; fn++)
        if (!strcmp(kir_math[fn].name, all) && kir_math[fn].nargs == 1) test_all_floats((MathFn)fn);
    if (!all) test_all_samples();
    cpu.ops->close(&cpu);
    qllvm_close(&ctx, llvm);
    kcompile_close(compiler);
    qctx_close(&ctx);
    return check_done();
}
