/* compile.c -- see compile.h. */
#include "lang/kernel/compile.h"
#include "devices/bundle.h"
#include "devices/ir_workarounds.h"
#include "devices/llvm.h"
#include "lang/kernel/codegen/emit.h"
#include "lang/kernel/passes/pipeline.h"
#include "lang/kernel/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct KCompiler {
    Ctx *ctx;
    Cache *cache;
    Llvm *llvm;       /* NULL until something has to be compiled */
    CacheKey machine; /* what native code depends on besides its text; asked for with the first, for it takes 50 µs */
    bool knows_machine;
    KTarget host;
};

static const char entry[] = "kernel"; /* every object and PTX module has one kernel of this name */

/* -- the compiler -------------------------------------------------------------------------------------------------- */
KCompiler *kcompile_open(Ctx *c, const char *cache_dir) {
    KCompiler *k = qmem_alloc(c, sizeof *k);
    k->ctx = c;
    k->cache = qcache_open(c, cache_dir, 0);
    k->host = ktarget_host();
    return k;
}

void kcompile_close(KCompiler *k) {
    if (!k) return;
    qllvm_close(k->ctx, k->llvm);
    qcache_close(k->ctx, k->cache);
    qmem_free(k->ctx, k, sizeof *k);
}

typedef struct {
    KTarget kir;
    LlvmTarget llvm;
    LlvmOutput kind;
    CacheKey key;
} Target;

/* The target of a compilation.  kind: the kind of code; arch: "" for this machine, else a level or a GPU; libc: for a
 * level, the version of its C library. */
typedef struct {
    CodeKind kind;
    const char *arch;
    int libc;
} Goal;

/* O3 pays where loops over the positions of a block lie inside others, and where updates are cut off from what can be
 * done in vectors.  Functions that call themselves need it to remove arguments that are only passed on. */
static bool is_involved(const KFunc *f) {
    return kir_has(f, K_ATOMIC) || kir_has(f, K_FETCH) || f->barrier || f->shared || f->ncallees;
}

#if defined(__x86_64__)
static const LlvmArch host_arch = LLVM_X86;
#else
static const LlvmArch host_arch = LLVM_AARCH64;
#endif

static CacheKey machine_of(KCompiler *k) {
    if (!k->knows_machine) k->machine = ktarget_machine(), k->knows_machine = true;
    return k->machine;
}

static Target native_target(KCompiler *k, const KFunc *f, Goal goal) {
    Target t = {
        k->host, {.arch = host_arch, .cpu = "", .features = "", .thorough = is_involved(f)}, LLVM_OBJECT, {{0}}};
    if (!ktarget_level(goal.arch, goal.libc, &t.kir)) return t.key = machine_of(k), t;
    t.llvm.arch = LLVM_X86, t.llvm.cpu = goal.arch;
    t.key = qcache_key((CacheKey){{4, 0}}, goal.arch, strlen(goal.arch));
    return t;
}

/* The version of PTX is the oldest that has the target, but for sm_70 and sm_72, whose 6.0 and 6.1 lack activemask. */
static Target ptx_target(KCompiler *k, const KFunc *f, Goal goal) {
    const char *arch = goal.arch, *features = strcmp(arch, "sm_75") < 0 ? "+ptx63" : "";
    (void)k, (void)f;
    return (Target){kemit_nvptx,
                    {.arch = LLVM_NVPTX, .cpu = arch, .features = features, .thorough = true},
                    LLVM_ASSEMBLY,
                    qcache_key((CacheKey){{2, IRMEND_EDITION}}, arch, strlen(arch))};
}

static qs_status run_llvm(KCompiler *k, const LlvmTarget *t, const Text *ir, LlvmOutput kind, Text *out) {
    if (!k->llvm) TRY(qllvm_open(k->ctx, &k->llvm));
    return qllvm_compile(k->ctx, k->llvm, &(LlvmTask){t, ir->s, ir->len, kind}, out);
}

static CacheKey key_of(const Target *t, const Text *ir) {
    const char *passes = qllvm_passes(&t->llvm, ir->s, ir->len), *math = t->llvm.math ? t->llvm.math : "";
    CacheKey key = qcache_key(t->key, t->llvm.features, strlen(t->llvm.features));
    for (int i = 0; i < LLVM_OPTIONS; i++) key = qcache_key(key, qllvm_options[i], strlen(qllvm_options[i]));
    key = qcache_key(qcache_key(key, passes, strlen(passes)), ir->s, ir->len);
    return qcache_key(key, math, strlen(math));
}

/* Libraries that were compiled for others: where LLVM is missing, that is why. */
static qs_status explain(KCompiler *k, qs_status s) {
    const Bundle *b = qcache_bundles(k->cache);
    char list[256] = "", why[QERR_TEXT];
    size_t n = 0;
    if (!b || s != QS_EDEVICE) return s;
    for (uint32_t i = 0; i < b->ntargets && n < sizeof list - TARGET_NAME - 2; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", b->targets[i].name);
    snprintf(why, sizeof why, "%s", k->ctx->err.text);
    qerr_clear(k->ctx);
    return qerr_set(k->ctx, s,
                    "%s has no code of this kernel for these types of arguments and this machine (it has "
                    "code for %s), and it cannot be compiled here: %s",
                    b->path, n ? list : "none", why);
}

static qs_status from_cache_or_llvm(KCompiler *k, const Target *t, const Text *ir, Text *out) {
    CacheKey key = key_of(t, ir);
    if (qcache_get(k->cache, key, out)) return QS_OK;
    qs_status s = run_llvm(k, &t->llvm, ir, t->kind, out);
    if (s) return explain(k, s);
    qcache_put(k->cache, key, out->s, out->len);
    return QS_OK;
}

/* The text of f, and of what it calls on a device that has no C library. */
static qs_status print_llvm(KCompiler *k, const KFunc *f, Target *t, Text *ir, Text *math) {
    TRY(kemit_llvm(k->ctx, f, &t->kir, ir));
    if (t->kir.libdevice && kemit_math(ir->s, math)) t->llvm.math = math->s;
    return QS_OK;
}

static const void *copy_of(KCompiler *k, const Text *t) { /* with the NUL behind it */
    char *bytes = qmem_alloc(k->ctx, t->len + 1);
    if (t->len) memcpy(bytes, t->s, t->len);
    return bytes;
}

/* -- targets: one row for each kind of code ------------------------------------------------------------------------ */
typedef struct {
    qs_status (*make)(KCompiler *, const KFunc *, Goal, Code *);
    Target (*llvm)(KCompiler *, const KFunc *, Goal); /* NULL: LLVM does not make it */
    void (*head)(const KFunc *, Text *);              /* what stands before LLVM's text; NULL: nothing */
    bool libm;                                        /* it calls the C library */
    bool rounds_roots;                                /* correctly, of float32, too */
} Row;
static const Row rows[CODE_OPENCL + 1];

static qs_status by_llvm(KCompiler *k, const KFunc *f, Goal goal, bool only_kept, Text *made) {
    Target t = rows[goal.kind].llvm(k, f, goal);
    Text ir, math;
    qtext_init(&ir, k->ctx), qtext_init(&math, k->ctx);
    qs_status s = print_llvm(k, f, &t, &ir, &math);
    if (s == QS_OK && only_kept) qcache_get(k->cache, key_of(&t, &ir), made);
    else if (s == QS_OK) s = from_cache_or_llvm(k, &t, &ir, made);
    qtext_free(&ir), qtext_free(&math);
    return s;
}

/* Code of a bundle may be for less than this machine: each target that one has and that runs here is asked for, the
 * best first.  It takes 0.1 ms to print a kernel; whoever has no bundle open does not come here. */
typedef struct {
    const BundleTarget *at[16];
    int rank[16], n;
} Others;

/* PTX runs on newer devices, too. */
static int rank_of(const BundleTarget *t, Goal goal) {
    int has = 0, wants = 0;
    if (goal.kind == CODE_NATIVE) return strcmp(t->name, "native") ? ktarget_rank(t->name, t->libc) : 0;
    if (sscanf(t->name, "sm_%d", &has) != 1 || sscanf(goal.arch, "sm_%d", &wants) != 1) return 0;
    return has < wants ? has : 0;
}

static void add_other(Others *o, const BundleTarget *t, int rank) {
    int i = o->n;
    for (int k = 0; k < o->n; k++)
        if (!strcmp(o->at[k]->name, t->name) && o->at[k]->libc == t->libc) return;
    if (!rank || o->n == 16) return;
    for (o->n++; i > 0 && o->rank[i - 1] < rank; i--) o->at[i] = o->at[i - 1], o->rank[i] = o->rank[i - 1];
    o->at[i] = t, o->rank[i] = rank;
}

static qs_status from_bundles(KCompiler *k, const KFunc *f, Goal goal, Text *made) {
    Others o = {.n = 0};
    if (*goal.arch && goal.kind == CODE_NATIVE) return QS_OK; /* it is for others that it is made */
    for (const Bundle *b = qcache_bundles(k->cache); b; b = b->next)
        for (uint32_t i = 0; i < b->ntargets; i++) add_other(&o, &b->targets[i], rank_of(&b->targets[i], goal));
    for (int i = 0; i < o.n && !made->len; i++)
        TRY(by_llvm(k, f, (Goal){goal.kind, o.at[i]->name, o.at[i]->libc}, true, made));
    return QS_OK;
}

static bool has_native(const Bundle *list) {
    for (const Bundle *b = list; b; b = b->next)
        for (uint32_t i = 0; i < b->ntargets; i++)
            if (!strcmp(b->targets[i].name, "native")) return true;
    return false;
}

/* Takes code from a bundle for this machine, or for machines like it; otherwise compiles it. */
static qs_status find_code(KCompiler *k, const KFunc *f, Goal goal, Text *made) {
    const Bundle *list = qcache_bundles(k->cache);
    if (list && (goal.kind != CODE_NATIVE || has_native(list))) TRY(by_llvm(k, f, goal, true, made));
    if (list && !made->len) TRY(from_bundles(k, f, goal, made));
    return made->len ? QS_OK : by_llvm(k, f, goal, false, made);
}

static qs_status through_llvm(KCompiler *k, const KFunc *f, Goal goal, Code *out) {
    Text made, all;
    qtext_init(&made, k->ctx), qtext_init(&all, k->ctx);
    if (rows[goal.kind].head) rows[goal.kind].head(f, &all);
    qs_status s = find_code(k, f, goal, &made);
    if (s == QS_OK) {
        qtext_add(&all, made.s, made.len);
        out->bytes = copy_of(k, &all), out->n = all.len;
    }
    qtext_free(&made), qtext_free(&all);
    return s;
}

static qs_status opencl_text(KCompiler *k, const KFunc *f, Goal goal, Code *out) {
    Text t, lines;
    (void)goal;
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

static qs_status itself(KCompiler *k, const KFunc *f, Goal goal, Code *out) {
    (void)k, (void)goal;
    return out->bytes = f, QS_OK;
}

/* OpenCL rounds even a root of float32 as it likes.  The evaluator needs no code; what LLVM is shown for it is that of
 * the processor. */
static const Row rows[CODE_OPENCL + 1] = {
    [CODE_KIR] = {.make = itself, .llvm = native_target, .libm = true},
    [CODE_NATIVE] = {.make = through_llvm, .llvm = native_target, .libm = true},
    [CODE_PTX] = {.make = through_llvm, .llvm = ptx_target, .head = kemit_ptx_needs, .rounds_roots = true},
    [CODE_OPENCL] = {.make = opencl_text},
};

static const char *inexact(const KIns *i, const Row *row) {
    if (i->op == K_ATOMIC || i->op == K_AATOMIC) return i->flag == KA_POW ? "pow" : NULL;
    if (i->op != K_MATH) return NULL;
    bool root = i->flag == MF_sqrt && i->dtype == QS_F32 && !row->rounds_roots;
    return kir_math[i->flag].how[0] == MATH_exact && !root ? NULL : kir_math[i->flag].name;
}

const char *kcompile_differs(const KFunc *f, CodeKind kind) {
    const char *name = NULL;
    if (!kir_is_exact(f) || rows[kind].libm) return NULL;
    for (KRef r = 1; r < f->nins && !name; r++) name = inexact(&f->ins[r], &rows[kind]);
    return name;
}

static qs_status make(KCompiler *k, const KFunc *f, Goal goal, Code *out) {
    *out = (Code){.kind = goal.kind, .entry = entry, .hash = f->hash, .name = f->name->s, .cache = k->cache};
    const char *differs = kcompile_differs(f, goal.kind);
    if (differs) return qerr_set(k->ctx, QS_EDEVICE, "its %s may differ in the last digit", differs);
    return rows[goal.kind].make(k, f, goal, out);
}

static Goal goal_of(const Device *d) { return (Goal){d->ops->code, d->arch, 0}; }

qs_status kcompile(KCompiler *k, const KFunc *f, const Device *d, Code *out) { return make(k, f, goal_of(d), out); }

qs_status kcompile_ahead(KCompiler *k, const KFunc *f, const char *target, Code *out) {
    TargetName t;
    const char *rest = target;
    if (!ktarget_next(&rest, &t)) return qerr_set(k->ctx, QS_EVALUE, "%s is no target of code", target);
    return make(k, f, (Goal){t.kind, strcmp(t.name, "native") ? t.name : "", k->host.libc}, out);
}

Cache *kcompile_cache(KCompiler *k) { return k->cache; }

void kcompile_free(KCompiler *k, Code *code) {
    if (code->kind != CODE_KIR && code->bytes) qmem_free(k->ctx, (void *)(uintptr_t)code->bytes, code->n + 1);
    if (code->lines.pos) qmem_free(k->ctx, (void *)(uintptr_t)code->lines.pos, code->lines.n * sizeof(uint32_t) + 1);
    code->bytes = NULL, code->lines.pos = NULL;
}

/* -- positions ----------------------------------------------------------------------------------------------------- */
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

bool kcompile_locates(CodeKind kind) { return kind == CODE_PTX; }

static qs_status locate(KCompiler *k, const KFunc *f, Goal goal, Text *text, Text *lines) {
    Text ir, math, ptx;
    Target t = rows[goal.kind].llvm(k, f, goal);
    t.kir.located = true;
    qtext_init(&ir, k->ctx), qtext_init(&math, k->ctx), qtext_init(&ptx, k->ctx);
    qs_status s = print_llvm(k, f, &t, &ir, &math);
    if (s == QS_OK) s = run_llvm(k, &t.llvm, &ir, LLVM_ASSEMBLY, &ptx);
    if (s == QS_OK) {
        rows[goal.kind].head(f, text);
        qtext_add(text, ptx.s, ptx.len);
        lines_of(text->s, lines);
    }
    qtext_free(&ir), qtext_free(&math), qtext_free(&ptx);
    return s;
}

qs_status kcompile_located(KCompiler *k, const KFunc *f, const Device *d, Code *out) {
    Text text, lines;
    *out = (Code){.kind = d->ops->code, .entry = entry, .hash = f->hash, .name = f->name->s};
    qtext_init(&text, k->ctx), qtext_init(&lines, k->ctx);
    qs_status s = locate(k, f, goal_of(d), &text, &lines);
    if (s == QS_OK) {
        out->bytes = copy_of(k, &text), out->n = text.len;
        out->lines = (CodeLines){f->src, copy_of(k, &lines), (uint32_t)(lines.len / sizeof(uint32_t)), true};
    }
    qtext_free(&text), qtext_free(&lines);
    return s;
}

/* -- what --dump shows --------------------------------------------------------------------------------------------- */
static qs_status as_opencl(KCompiler *k, const KFunc *f, Text *out) { return kemit_opencl(k->ctx, f, out, NULL); }

static qs_status as_c(KCompiler *k, const KFunc *f, Text *out) {
    (void)kemit_c(k->ctx, f, NULL, out);
    return QS_OK;
}

/* Stages that do not depend on the device. */
static const struct {
    const char *stage;
    qs_status (*show)(KCompiler *, const KFunc *, Text *);
} languages[] = {{"cl", as_opencl}, {"c", as_c}};

/* The KIR of f after each pass of the device's pipeline. */
static void show_passes(KCompiler *k, const KFunc *f, const Device *d, Text *out) {
    PipelineResult r;
    Arena arena;
    PipelineKind kind = !rows[d->ops->code].llvm  ? PIPELINE_OPENCL
                        : rows[d->ops->code].head ? PIPELINE_GPU
                                                  : PIPELINE_CPU;
    qarena_init(&arena, k->ctx);
    kpipeline_run(k->ctx, &arena, f, kind, &r, out);
    qarena_free(&arena);
}

/* What LLVM makes, or is given; ptx: only where that is what asm is. */
static qs_status show_llvm(KCompiler *k, const KFunc *f, Goal goal, const char *stage, Text *out) {
    Target t = rows[goal.kind].llvm(k, f, goal);
    if (!strcmp(stage, "llvm")) return kemit_llvm(k->ctx, f, &t.kir, out);
    Text ir, math;
    qtext_init(&ir, k->ctx), qtext_init(&math, k->ctx);
    qs_status s = print_llvm(k, f, &t, &ir, &math);
    if (s == QS_OK) s = run_llvm(k, &t.llvm, &ir, !strcmp(stage, "opt") ? LLVM_IR : LLVM_ASSEMBLY, out);
    qtext_free(&ir), qtext_free(&math);
    return s;
}

qs_status kcompile_text(KCompiler *k, const KFunc *f, const Device *d, const char *stage, Text *out) {
    static const char *const by_llvm[] = {"llvm", "opt", "asm", "ptx", NULL};
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (!strcmp(stage, languages[i].stage)) return languages[i].show(k, f, out);
    if (!strcmp(stage, "passes")) return show_passes(k, f, d, out), QS_OK;
    if (!qstr_is_one_of(stage, by_llvm))
        return qerr_set(k->ctx, QS_EVALUE, "--dump: passes, llvm, opt, asm, ptx, cl or c, got %s", stage);
    if (!rows[d->ops->code].llvm)
        return qerr_set(k->ctx, QS_EVALUE, "--dump %s: the device is %s, which takes cl", stage, d->ops->kind);
    if (!strcmp(stage, "ptx") && d->ops->code != CODE_PTX)
        return qerr_set(k->ctx, QS_EVALUE, "--dump ptx: the device is %s, not cuda", d->ops->kind);
    return show_llvm(k, f, goal_of(d), stage, out);
}
