/* Kernels for NVIDIA devices: every instruction and random kernels become PTX, which ptxas accepts where it is
 * installed. */
#include "devices/ptx.h"
#include "lang/kernel/compile.h"
#include "tests/support/kir_gen.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

static Ctx ctx;
static KCompiler *compiler;
static Device gpu;
static bool have_ptxas;
static char file[] = "/tmp/quasar-ptx-XXXXXX";

static bool assembles(const char *ptx) {
    char command[200];
    FILE *f = fopen(file, "w");
    if (!f || fputs(ptx, f) < 0 || fclose(f)) return false;
    snprintf(command, sizeof command, "ptxas -arch=%s -o /dev/null %s", gpu.arch, file);
    return system(command) == 0;
}

static void try_case(KCase *k, const char *kind, uint64_t number) {
    Text t;
    qtext_init(&t, &ctx);
    bool ok = kcompile_text(compiler, k->func, &gpu, "ptx", &t) == QS_OK && strstr(t.s, ".entry kernel");
    if (ok && have_ptxas) ok = assembles(t.s);
    CHECK(ok);
    if (!ok) printf("  %s %llu (%s): %s\n", kind, (unsigned long long)number, k->what, ctx.err.text);
    qerr_clear(&ctx);
    qtext_free(&t);
}

/* More than 48 kB of shared arrays: the first line requests the memory, and it is cleared if the kernel expects
 * that. */
static void large_shared(void) {
    Arena arena;
    Code code;
    qarena_init(&arena, &ctx);
    KFunc *f = kir_new(&ctx, &arena, qstr_cname(&ctx, "large"), NULL);
    f->rank = 1;
    kir_param(f,
              &(KParam){.name = qstr_cname(&ctx, "y"), .kind = KP_ARRAY, .dtype = QS_F32, .rank = 1, .written = true});
    KRef first = kir_add(f, (KMake){K_SHARED, .own = QS_F32, .flag = 1, .imm = 20000}),
         other = kir_add(f, (KMake){K_SHARED, .own = QS_I32, .imm = 5});
    KRef me = kir_add(f, (KMake){K_BLKPOS, .own = QS_I32}), pos = kir_add(f, (KMake){K_POS, .own = QS_I64});
    kir_add(f, (KMake){K_ASTORE, .a = other, .b = kir_const_int(f, QS_I32, 3, 0), .c = me});
    kir_add(f, (KMake){.op = K_BARRIER});
    KRef at = kir_add(f, (KMake){K_ALOAD, .a = other, .b = kir_const_int(f, QS_I32, 3, 0)});
    kir_add(f, (KMake){K_STORE, .a = pos, .b = kir_add(f, (KMake){K_ALOAD, .a = first, .b = at})});
    kir_seal(f);
    CHECK(kir_verify(&ctx, f) == QS_OK && kcompile(compiler, f, &gpu, &code) == QS_OK);
    CHECK(!strncmp(code.bytes, "// quasar: blocks shared=80032\n", 31) && !strstr(code.bytes, ".maxntid"));
    Text limited;
    qtext_init(&limited, &ctx);
    qptx_limit(code.bytes, code.n, 640, &limited);
    CHECK(strstr(limited.s, ".maxntid 640, 1, 1 {\n"));
    if (have_ptxas) CHECK(assembles(limited.s));
    qtext_free(&limited);
    if (have_ptxas) CHECK(assembles(code.bytes));
    kcompile_free(compiler, &code);
    qarena_free(&arena);
}

/* PTX of f, which is in the arena. */
static const char *text_of(KFunc *f, Arena *arena, Text *out) {
    kir_seal(f);
    out->len = 0;
    CHECK(kir_verify(&ctx, f) == QS_OK && kcompile_text(compiler, f, &gpu, "ptx", out) == QS_OK);
    if (have_ptxas) CHECK(assembles(out->s));
    qarena_free(arena);
    return out->s;
}

/* y[index] op= 1 in each position; index: 0 the same element for all, 1 one for each. */
static const char *accumulate(KAtomic op, qs_dtype d, int index, Text *out) {
    Arena arena;
    qarena_init(&arena, &ctx);
    KFunc *f = kir_new(&ctx, &arena, qstr_cname(&ctx, "accumulate"), NULL);
    f->rank = 1;
    kir_param(f, &(KParam){.name = qstr_cname(&ctx, "y"), .kind = KP_ARRAY, .dtype = d, .rank = 1});
    KRef at = index ? kir_add(f, (KMake){K_POS, .own = QS_I64}) : kir_const_int(f, QS_I64, 0, 0);
    kir_add(f, (KMake){K_ATOMIC, .flag = op, .a = at, .b = kir_const_num(f, d, 1, 0)});
    return text_of(f, &arena, out);
}

/* A warp whose threads all update one element reduces first. */
static void warps(void) {
    static const KAtomic ops[] = {KA_ADD, KA_SUB, KA_MIN, KA_MAX};
    static const qs_dtype dtypes[] = {QS_I32, QS_U32, QS_I64, QS_U64, QS_F32, QS_F64};
    bool assembler = have_ptxas;
    Text t;
    qtext_init(&t, &ctx);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
            CHECK(strstr(accumulate(ops[i], dtypes[k], 0, &t), "shfl.sync.down"));
    strcpy(gpu.arch, "sm_70");
    have_ptxas = false; /* current versions reject sm_70 */
    CHECK(strstr(accumulate(KA_ADD, QS_F32, 0, &t), "activemask.b32") && strstr(t.s, ".version 6.3"));
    strcpy(gpu.arch, "sm_80");
    have_ptxas = assembler;
    CHECK(!strstr(accumulate(KA_ADD, QS_F32, 1, &t), "shfl.sync"));
    CHECK(!strstr(accumulate(KA_MUL, QS_F32, 0, &t), "shfl.sync"));
    qtext_free(&t);
}

/* y[pos] = to(-mid(x[pos] > 1.5 && x[pos] < 3.5)) */
static const char *negated(qs_dtype mid, qs_dtype to, Text *out) {
    Arena arena;
    qarena_init(&arena, &ctx);
    KFunc *f = kir_new(&ctx, &arena, qstr_cname(&ctx, "negated"), NULL);
    f->rank = 1;
    kir_param(f, &(KParam){.name = qstr_cname(&ctx, "x"), .kind = KP_ARRAY, .dtype = QS_F32, .rank = 1, .read = true});
    kir_param(f, &(KParam){.name = qstr_cname(&ctx, "y"), .kind = KP_ARRAY, .dtype = to, .rank = 1, .written = true});
    KRef at = kir_add(f, (KMake){K_POS, .own = QS_I64}), x = kir_add(f, (KMake){K_LOAD, .own = QS_F32, .a = at});
    KRef above = kir_add(f, (KMake){K_LT, .a = kir_const_num(f, QS_F32, 1.5, 0), .b = x});
    KRef below = kir_add(f, (KMake){K_LT, .a = x, .b = kir_const_num(f, QS_F32, 3.5, 0)});
    KRef both = kir_add(f, (KMake){K_AND, .a = above, .b = below});
    KRef v = kir_add(f, (KMake){K_NEG, .a = kir_add(f, (KMake){K_CAST, .own = mid, .a = both})});
    if (mid != to) v = kir_add(f, (KMake){K_CAST, .own = to, .a = v});
    kir_add(f, (KMake){K_STORE, .a = at, .b = v, .imm = 1});
    return text_of(f, &arena, out);
}

/* True, negated as a signed number, is -1: LLVM's own conversion from a truth value to a float would give 1. */
static void truth(void) {
    static const char *const archs[] = {"sm_70", "sm_80", "sm_90"};
    static const qs_dtype mids[] = {QS_I32, QS_I64, QS_F32, QS_F64};
    bool assembler = have_ptxas;
    Text t;
    qtext_init(&t, &ctx);
    for (size_t a = 0; a < sizeof archs / sizeof *archs; a++)
        for (size_t i = 0; i < sizeof mids / sizeof *mids; i++) {
            strcpy(gpu.arch, archs[a]);
            have_ptxas = assembler && a > 0; /* current versions reject sm_70 */
            bool whole = mids[i] == QS_I32 || mids[i] == QS_I64;
            CHECK(!strstr(negated(mids[i], QS_F32, &t), "f32.s") && (!whole || strstr(t.s, "0fBF800000")));
            CHECK(!strstr(negated(mids[i], QS_F64, &t), "f64.s") && (!whole || strstr(t.s, "0dBFF0000000000000")));
        }
    have_ptxas = assembler;
    strcpy(gpu.arch, "sm_80");
    qtext_free(&t);
}

/* y[pos] = fn(y[pos], y[pos]) */
static void function(MathFn fn, qs_dtype d, Text *out) {
    Arena arena;
    qarena_init(&arena, &ctx);
    KFunc *f = kir_new(&ctx, &arena, qstr_cname(&ctx, "function"), NULL);
    f->rank = 1;
    kir_param(f, &(KParam){.name = qstr_cname(&ctx, "y"), .kind = KP_ARRAY, .dtype = d, .rank = 1, .written = true});
    KRef at = kir_add(f, (KMake){K_POS, .own = QS_I64}), x = kir_add(f, (KMake){K_LOAD, .own = d, .a = at});
    KRef v = kir_add(f, (KMake){K_MATH, .flag = fn, .a = x, .b = kir_math[fn].nargs == 2 ? x : 0});
    kir_add(f, (KMake){K_STORE, .a = at, .b = v});
    kir_seal(f);
    out->len = 0;
    CHECK(kir_verify(&ctx, f) == QS_OK && kcompile_text(compiler, f, &gpu, "ptx", out) == QS_OK);
    qarena_free(&arena);
}

/* A host loop has the bits of the C library; on a GPU only functions that are exact everywhere have them. */
static void bits_of_the_host(void) {
    static const MathFn fns[] = {MF_sqrt, MF_floor, MF_sin, MF_pow};
    for (size_t i = 0; i < sizeof fns / sizeof *fns; i++) {
        bool exact = i < 2;
        Arena arena;
        Code code;
        qarena_init(&arena, &ctx);
        KFunc *f = kir_new(&ctx, &arena, qstr_cname(&ctx, "strict"), NULL);
        f->rank = 1, f->strict = true;
        KRef x = kir_add(f, (KMake){K_CAST, .own = QS_F64, .a = kir_add(f, (KMake){K_POS, .own = QS_I64})});
        kir_add(f, (KMake){K_MATH, .flag = fns[i], .a = x, .b = kir_math[fns[i]].nargs == 2 ? x : 0});
        kir_seal(f);
        CHECK(!kcompile_differs(f, CODE_PTX) == exact && !kcompile_differs(f, CODE_OPENCL) == exact);
        CHECK(!kcompile_differs(f, CODE_NATIVE));
        CHECK((kcompile(compiler, f, &gpu, &code) == QS_OK) == exact);
        if (exact) kcompile_free(compiler, &code);
        else CHECK(strstr(ctx.err.text, "last digit"));
        f->strict = false;
        CHECK(!kcompile_differs(f, CODE_PTX));
        qerr_clear(&ctx);
        qarena_free(&arena);
    }
}

/* Without libdevice every function is complete: there are no unresolved symbols. */
static void own_functions(void) {
    Text t;
    qtext_init(&t, &ctx);
    setenv("QUASAR_LIBDEVICE", "none", 1);
    for (int fn = 0; fn < MF__COUNT; fn++)
        for (int wide = 0; wide < 2; wide++) {
            function((MathFn)fn, wide ? QS_F64 : QS_F32, &t);
            CHECK(!strstr(t.s, ".extern"));
            if (have_ptxas) CHECK(assembles(t.s));
        }
    unsetenv("QUASAR_LIBDEVICE");
    qtext_free(&t);
}

/* y[pos] = sin(sqrt(y[pos]))/3 */
static const char *waves(bool fast, Text *out) {
    Arena arena;
    qarena_init(&arena, &ctx);
    KFunc *f = kir_new(&ctx, &arena, qstr_cname(&ctx, "waves"), NULL);
    f->rank = 1, f->fast = fast;
    kir_param(f, &(KParam){.name = qstr_cname(&ctx, "y"), .kind = KP_ARRAY, .dtype = QS_F32, .rank = 1});
    KRef at = kir_add(f, (KMake){K_POS, .own = QS_I64}), y = kir_add(f, (KMake){K_LOAD, .own = QS_F32, .a = at});
    y = kir_add(f, (KMake){K_MATH, .flag = MF_sqrt, .a = y});
    y = kir_add(f, (KMake){K_MATH, .flag = MF_sin, .a = y});
    y = kir_add(f, (KMake){K_DIV, .a = y, .b = kir_const_num(f, QS_F32, 3, 0)});
    kir_add(f, (KMake){K_STORE, .a = at, .b = y});
    kir_seal(f);
    out->len = 0;
    CHECK(kir_verify(&ctx, f) == QS_OK);
    CHECK(kcompile_text(compiler, f, &gpu, "ptx", out) == QS_OK);
    if (have_ptxas) CHECK(assembles(out->s));
    qarena_free(&arena);
    return out->s;
}

static void fast_math(void) {
    Text t;
    qtext_init(&t, &ctx);
    const char *ptx = waves(true, &t);
    CHECK(strstr(ptx, "div.approx.ftz.f32") && strstr(ptx, "sqrt.approx.ftz.f32") && strstr(ptx, "sin.approx.ftz.f32"));
    ptx = waves(false, &t);
    CHECK(!strstr(ptx, ".approx") && strstr(ptx, "div.rn.f32") && strstr(ptx, "sqrt.rn.f32"));
    qtext_free(&t);
}

/* From the oldest target that ptxas still accepts to the newest that every LLVM knows. */
static void targets(void) {
    static const char *const archs[] = {"sm_75", "sm_86", "sm_89", "sm_90"};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        strcpy(gpu.arch, archs[i]);
        kgen_each(&ctx, i, (uint64_t)kgen_suite_size() - i, 40, 0, try_case);
    }
}

int main(int argc, char **argv) {
    static DeviceOps ops = {.kind = "cuda", .code = CODE_PTX};
    qctx_init(&ctx, 32);
    close(mkstemp(file));
    have_ptxas = system("ptxas --version >/dev/null 2>&1") == 0;
    if (!have_ptxas) printf("skipped: ptxas is not installed, so the PTX is made but not checked\n");
    compiler = kcompile_open(&ctx, "");
    gpu.ops = &ops, gpu.ctx = &ctx;
    strcpy(gpu.arch, argc > 3 ? argv[3] : "sm_80");
    if (argc < 2) kgen_each(&ctx, 0, (uint64_t)kgen_suite_size(), 3, 0, try_case);
    kgen_each(&ctx, argc > 1 ? strtoull(argv[1], NULL, 10) : 1, argc > 2 ? strtoull(argv[2], NULL, 10) : 12, 1,
              KGEN_ALL, try_case);
    large_shared();
    warps();
    truth();
    own_functions();
    bits_of_the_host();
    fast_math();
    if (argc < 2) targets();
    kcompile_close(compiler);
    unlink(file);
    qctx_close(&ctx);
    return check_done();
}
