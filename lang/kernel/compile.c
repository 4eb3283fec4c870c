/* compile.c -- see compile.h. */
#include "lang/kernel/compile.h"
#include "lang/kernel/emit/emit.h"
#include "devices/cache.h"
#include "devices/llvm.h"

#include <stdlib.h>
#include <string.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

struct KCompiler {
    Ctx *ctx;
    Cache *cache;
    Llvm *llvm;       /* NULL until something has to be compiled */
    CacheKey machine; /* what native code depends on besides its text */
    KTarget host;
};

static const char entry[] = "kernel"; /* every object and PTX module has one kernel of this name */

/* -- the machine we run on -------------------------------------------------------------------------------------- */
#if defined(__x86_64__)
static LlvmArch host_arch(void) { return LLVM_X86; }

/* Family, model and features, as LLVM will see them: two processors with equal words run the same code. */
static CacheKey identify(void) {
    CacheKey k = {{0, 0}};
    static const unsigned leaves[][2] = {{0, 0},    {1, 0},    {7, 0},          {7, 1},         {0xd, 1},
                                         {0x14, 0}, {0x19, 0}, {0x80000001, 0}, {0x80000008, 0}};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        unsigned w[4] = {0};
        __get_cpuid_count(leaves[i][0], leaves[i][1], &w[0], &w[1], &w[2], &w[3]);
        if (leaves[i][0] == 1) w[1] = 0, w[2] &= ~(1u << 27); /* number of this core; a bit the kernel sets */
        if (leaves[i][0] == 0xd) w[1] = w[2] = w[3] = 0;
        k = qcache_key(k, w, sizeof w);
    }
    bool avx = __builtin_cpu_supports("avx2"), wide = __builtin_cpu_supports("avx512f"); /* these ask the kernel, too */
    return qcache_key(k, (bool[]){avx, wide}, 2);
}

/* clang 14 does not take "f16c" for __builtin_cpu_supports. */
static bool has_f16c(void) {
    unsigned w[4];
    return __get_cpuid(1, &w[0], &w[1], &w[2], &w[3]) && w[2] >> 29 & 1 && __builtin_cpu_supports("avx");
}

static void describe_host(KTarget *t) {
    char *isa = t->mvec;
    t->half = has_f16c(), t->fma = __builtin_cpu_supports("fma");
    *isa++ = 'b';
    if (__builtin_cpu_supports("avx2")) *isa++ = 'd';
    if (__builtin_cpu_supports("avx512f")) *isa++ = 'e';
}
#else
static LlvmArch host_arch(void) { return LLVM_AARCH64; }

static CacheKey identify(void) {
    unsigned long w[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    return qcache_key((CacheKey){{0, 0}}, w, sizeof w);
}

static void describe_host(KTarget *t) { t->half = t->fma = true; }
#endif

/* "2.36": 36 */
static int libc_minor(void) {
    const char *dot = strchr(gnu_get_libc_version(), '.');
    return dot ? atoi(dot + 1) : 0;
}

/* -- the compiler ----------------------------------------------------------------------------------------------- */
KCompiler *kcompile_open(Ctx *c, const char *cache_dir) {
    KCompiler *k = qmem_alloc(c, sizeof *k);
    k->ctx = c;
    k->cache = qcache_open(c, cache_dir, 0);
    k->machine = identify();
    describe_host(&k->host);
    k->host.libc = libc_minor();
    return k;
}

void kcompile_close(KCompiler *k) {
    if (!k) return;
    qllvm_close(k->ctx, k->llvm);
    qcache_close(k->ctx, k->cache);
    qmem_free(k->ctx, k, sizeof *k);
}

typedef struct { KTarget kir; LlvmTarget llvm; LlvmOutput kind; CacheKey key; } Target;

/* O3 pays where loops over the positions of a block lie inside others, and where updates are cut off from what can be
 * done in vectors. */
static bool is_involved(const KFunc *f) {
    return kir_has(f, K_ATOMIC) || f->barrier || f->shared;
}

static Target target_of(const KCompiler *k, const KFunc *f, const Device *d) {
    if (d->ops->code == CODE_PTX)
        return (Target){{.kind = KT_NVPTX, .half = true, .orders_zeros = true},
                        /* PTX 6.3 at least: 6.0, which LLVM takes for sm_70, has no activemask */
                        {.arch = LLVM_NVPTX, .cpu = d->arch, .features = "+ptx63", .thorough = true},
                        LLVM_ASSEMBLY,
                        qcache_key((CacheKey){{2, 0}}, d->arch, strlen(d->arch))};
    return (Target){
        k->host, {.arch = host_arch(), .cpu = "", .features = "", .thorough = is_involved(f)}, LLVM_OBJECT, k->machine};
}

static qs_status run_llvm(KCompiler *k, const LlvmTarget *t, const Text *ir, LlvmOutput kind, Text *out) {
    if (!k->llvm) TRY(qllvm_open(k->ctx, &k->llvm));
    return qllvm_compile(k->ctx, k->llvm, t, ir->s, ir->len, kind, out);
}

static qs_status from_cache_or_llvm(KCompiler *k, const Target *t, const Text *ir, Text *out) {
    const char *passes = qllvm_passes(&t->llvm), *math = t->llvm.math ? t->llvm.math : "";
    CacheKey key = qcache_key(t->key, t->llvm.features, strlen(t->llvm.features));
    key = qcache_key(qcache_key(key, passes, strlen(passes)), ir->s, ir->len);
    key = qcache_key(key, math, strlen(math));
    if (qcache_get(k->cache, key, out)) return QS_OK;
    TRY(run_llvm(k, &t->llvm, ir, t->kind, out));
    qcache_put(k->cache, key, out->s, out->len);
    return QS_OK;
}

/* The text of f, and of what it calls on a device that has no C library. */
static qs_status print_llvm(KCompiler *k, const KFunc *f, Target *t, Text *ir, Text *math) {
    TRY(kemit_llvm(k->ctx, f, &t->kir, ir));
    if (t->kir.kind == KT_NVPTX && kemit_math(ir->s, math)) t->llvm.math = math->s;
    return QS_OK;
}

static qs_status through_llvm(KCompiler *k, const KFunc *f, const Device *d, Text *out) {
    Target t = target_of(k, f, d);
    Text ir, math;
    qtext_init(&ir, k->ctx), qtext_init(&math, k->ctx);
    qs_status s = print_llvm(k, f, &t, &ir, &math);
    if (s == QS_OK) s = from_cache_or_llvm(k, &t, &ir, out);
    qtext_free(&ir), qtext_free(&math);
    return s;
}

static const void *copy_of(KCompiler *k, const Text *t) { /* with the NUL behind it */
    char *bytes = qmem_alloc(k->ctx, t->len + 1);
    if (t->len) memcpy(bytes, t->s, t->len);
    return bytes;
}

static qs_status opencl_text(KCompiler *k, const KFunc *f, Code *out) {
    Text t, lines;
    qtext_init(&t, k->ctx), qtext_init(&lines, k->ctx);
    out->entry = KEMIT_OPENCL_ENTRY;
    qs_status s = kemit_opencl(k->ctx, f, &t, &lines);
    if (s == QS_OK) s = qtext_status(&t);
    if (s == QS_OK) {
        out->bytes = copy_of(k, &t), out->n = t.len;
        out->lines = (CodeLines){f->src, copy_of(k, &lines), (uint32_t)(lines.len / sizeof(uint32_t)), false};
    }
    qtext_free(&t), qtext_free(&lines);
    return s;
}

/* OpenCL rounds even a root of float32 as it likes. */
static const char *inexact(const KIns *i, CodeKind kind) {
    if (i->op == K_ATOMIC || i->op == K_AATOMIC) return i->flag == KA_POW ? "pow" : NULL;
    if (i->op != K_MATH) return NULL;
    bool root = kind == CODE_OPENCL && i->flag == MF_sqrt && i->dtype == QS_F32;
    return kir_math[i->flag].how == MATH_exact && !root ? NULL : kir_math[i->flag].name;
}

const char *kcompile_differs(const KFunc *f, CodeKind kind) {
    const char *name = NULL;
    if (!f->strict || kind == CODE_NATIVE || kind == CODE_KIR) return NULL;
    for (KRef r = 1; r < f->nins && !name; r++) name = inexact(&f->ins[r], kind);
    return name;
}

qs_status kcompile(KCompiler *k, const KFunc *f, const Device *d, Code *out) {
    *out = (Code){.kind = d->ops->code, .entry = entry, .hash = f->hash, .name = f->name->s, .cache = k->cache};
    const char *differs = kcompile_differs(f, out->kind);
    if (differs) return qerr_set(k->ctx, QS_EDEVICE, "its %s may differ in the last digit", differs);
    if (out->kind == CODE_OPENCL) return opencl_text(k, f, out);
    if (out->kind == CODE_KIR) {
        out->bytes = f;
        return QS_OK;
    }
    Text t, head;
    qtext_init(&t, k->ctx), qtext_init(&head, k->ctx);
    if (out->kind == CODE_PTX) kemit_ptx_needs(f, &head);
    qs_status s = through_llvm(k, f, d, &t);
    if (s == QS_OK) {
        char *bytes = qmem_alloc(k->ctx, head.len + t.len + 1);
        if (head.len) memcpy(bytes, head.s, head.len);
        memcpy(bytes + head.len, t.s, t.len);
        out->bytes = bytes, out->n = head.len + t.len;
    }
    qtext_free(&t), qtext_free(&head);
    return s;
}

void kcompile_free(KCompiler *k, Code *code) {
    if (code->kind != CODE_KIR && code->bytes) qmem_free(k->ctx, (void *)(uintptr_t)code->bytes, code->n + 1);
    if (code->lines.pos) qmem_free(k->ctx, (void *)(uintptr_t)code->lines.pos, code->lines.n * sizeof(uint32_t) + 1);
    code->bytes = NULL, code->lines.pos = NULL;
}

/* -- positions -------------------------------------------------------------------------------------------------- */
/* `.loc FILE LINE COLUMN`, of which the line is a position in the source: of all that follows. */
static void lines_of(const char *ptx, Text *lines) {
    uint32_t pos = 0;
    for (const char *row = ptx, *end; *row; row = *end ? end + 1 : end) {
        const char *p = row + strspn(row, " \t");
        end = row + strcspn(row, "\n");
        if (!strncmp(p, ".loc", 4) && (p[4] == ' ' || p[4] == '\t')) {
            char *line;
            strtoul(p + 4, &line, 10);
            uint32_t found = (uint32_t)strtoul(line, NULL, 10);
            if (found) pos = found;
        }
        qtext_add(lines, (const char *)&pos, sizeof pos);
    }
}

static qs_status locate(KCompiler *k, const KFunc *f, const Device *d, Text *text, Text *lines) {
    Text ir, math, ptx;
    Target t = target_of(k, f, d);
    t.kir.located = true;
    qtext_init(&ir, k->ctx), qtext_init(&math, k->ctx), qtext_init(&ptx, k->ctx);
    qs_status s = print_llvm(k, f, &t, &ir, &math);
    if (s == QS_OK) s = run_llvm(k, &t.llvm, &ir, LLVM_ASSEMBLY, &ptx);
    if (s == QS_OK) {
        kemit_ptx_needs(f, text);
        qtext_add(text, ptx.s, ptx.len);
        lines_of(text->s, lines);
    }
    qtext_free(&ir), qtext_free(&math), qtext_free(&ptx);
    return s;
}

qs_status kcompile_located(KCompiler *k, const KFunc *f, const Device *d, Code *out) {
    Text text, lines;
    *out = (Code){.kind = CODE_PTX, .entry = entry, .hash = f->hash, .name = f->name->s};
    qtext_init(&text, k->ctx), qtext_init(&lines, k->ctx);
    qs_status s = locate(k, f, d, &text, &lines);
    if (s == QS_OK) {
        out->bytes = copy_of(k, &text), out->n = text.len;
        out->lines = (CodeLines){f->src, copy_of(k, &lines), (uint32_t)(lines.len / sizeof(uint32_t)), true};
    }
    qtext_free(&text), qtext_free(&lines);
    return s;
}

/* -- what --dump shows ------------------------------------------------------------------------------------------ */
qs_status kcompile_text(KCompiler *k, const KFunc *f, const Device *d, const char *stage, Text *out) {
    if (!strcmp(stage, "cl")) return kemit_opencl(k->ctx, f, out, NULL);
    if (d->ops->code == CODE_OPENCL)
        return qerr_set(k->ctx, QS_EVALUE, "--dump %s: the device is opencl, which takes cl", stage);
    Target t = target_of(k, f, d);
    bool ptx = !strcmp(stage, "ptx");
    if (ptx && t.kir.kind != KT_NVPTX)
        return qerr_set(k->ctx, QS_EVALUE, "--dump ptx: the device is %s, not cuda", d->ops->kind);
    if (!strcmp(stage, "llvm")) return kemit_llvm(k->ctx, f, &t.kir, out);
    bool opt = !strcmp(stage, "opt");
    if (!opt && !ptx && strcmp(stage, "asm") != 0)
        return qerr_set(k->ctx, QS_EVALUE, "--dump: llvm, opt, asm, ptx or cl, got %s", stage);
    Text ir, math;
    qtext_init(&ir, k->ctx), qtext_init(&math, k->ctx);
    qs_status s = print_llvm(k, f, &t, &ir, &math);
    if (s == QS_OK) s = run_llvm(k, &t.llvm, &ir, opt ? LLVM_IR : LLVM_ASSEMBLY, out);
    qtext_free(&ir), qtext_free(&math);
    return s;
}
