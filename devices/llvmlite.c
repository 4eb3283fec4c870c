#include "devices/llvmlite.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
#define LITE(result, name, args) result(*name) args;
#include "devices/llvmlite_api.def"
} Api;

struct Llvmlite {
    Api f;
    char version[32];
    const char *cpu, *features; /* name and features of the host's processor */
};

/* The llvmlite of LLVM 19 and older does not support the new pass manager. */
enum { OLDEST = 20 };

bool qllvmlite_is(void *library) { return dlsym(library, "LLVMPY_GetVersionInfo") != NULL; }

static const char *load_symbols(void *library, Api *f) {
#define LITE(result, name, args)                                                                                       \
    if (!(*(void **)(void *)&f->name = dlsym(library, "LLVMPY_" #name))) return "LLVMPY_" #name;
#include "devices/llvmlite_api.def"
    return NULL;
}

static qs_status open_api(Ctx *c, void *library, Llvmlite *l) {
    const char *missing = load_symbols(library, &l->f);
    unsigned version = l->f.GetVersionInfo ? l->f.GetVersionInfo() : 0, major = version >> 16 & 0xff;
    if (missing || major < OLDEST)
        return qerr_set(c, QS_EDEVICE, "this llvmlite cannot compile kernels (%s%s): pip install 'llvmlite>=0.45'",
                        missing ? "it lacks " : "its LLVM is older than 20", missing ? missing : "");
    snprintf(l->version, sizeof l->version, "%u.%u.%u", major, version >> 8 & 0xff, version & 0xff);
    l->f.InitializeAllTargetInfos(), l->f.InitializeAllTargets(); /* no effect if done before */
    l->f.InitializeAllTargetMCs(), l->f.InitializeAllAsmPrinters();
    l->f.GetHostCPUName(&l->cpu);
    l->f.GetHostCPUFeatures(&l->features);
    return QS_OK;
}

qs_status qllvmlite_open(Ctx *c, void *library, Llvmlite **out) {
    Llvmlite *l = qmem_alloc(c, sizeof *l);
    qs_status s = open_api(c, library, l);
    if (s != QS_OK) qmem_free(c, l, sizeof *l);
    else *out = l;
    return s;
}

void qllvmlite_close(Ctx *c, Llvmlite *l) {
    l->f.DisposeString(l->cpu), l->f.DisposeString(l->features);
    qmem_free(c, l, sizeof *l);
}

const char *qllvmlite_version(const Llvmlite *l) { return l->version; }

/* -- one compilation ----------------------------------------------------------------------------------------------- */

typedef struct { /* objects that finish_job() frees; NULL: not created */
    Ctx *ctx;
    Llvmlite *l;
    void *tm, *context, *module, *tuning, *builder, *buffer;
    const char *layout, *message;
} Job;

static void finish_job(Job *j) {
    const Api *f = &j->l->f;
    if (j->message) f->DisposeString(j->message);
    if (j->buffer) f->DisposeMemoryBuffer(j->buffer);
    if (j->builder) f->DisposePassBuilder(j->builder);
    if (j->tuning) f->DisposePipelineTuningOptions(j->tuning);
    if (j->module) f->DisposeModule(j->module);
    if (j->context) f->ContextDispose(j->context);
    if (j->layout) f->DisposeString(j->layout);
    if (j->tm) f->DisposeTargetMachine(j->tm);
}

static qs_status step_failed(Job *j, const char *step) {
    return qerr_set(j->ctx, QS_EINTERNAL, "LLVM %s of llvmlite cannot %s a kernel: %s", j->l->version, step,
                    j->message ? j->message : "no reason given");
}

static qs_status make_target(Job *j, const LlvmTarget *t, const char *triple, int effort) {
    const Api *f = &j->l->f;
    bool host = !*t->cpu;
    void *target = f->GetTargetFromTriple(triple, &j->message);
    if (!target)
        return qerr_set(j->ctx, QS_EDEVICE, "the LLVM of llvmlite (%s) cannot make code for %s: %s", j->l->version,
                        triple, j->message);
    j->tm = f->CreateTargetMachine(target, triple, host ? j->l->cpu : t->cpu, host ? j->l->features : t->features,
                                   effort, "pic", "default", 0, 0, "");
    if (!j->tm) return step_failed(j, "target");
    void *layout = f->CreateTargetMachineData(j->tm);
    f->CopyStringRepOfTargetData(layout, &j->layout);
    f->DisposeTargetData(layout);
    return QS_OK;
}

static qs_status parse(Job *j, const char *triple, const char *text, void **module) {
    const Api *f = &j->l->f;
    *module = f->ParseAssembly(j->context, text, &j->message);
    if (!*module) return step_failed(j, "parse");
    f->SetDataLayout(*module, j->layout);
    f->SetTarget(*module, triple);
    return QS_OK;
}

static void *parse_bytes(Job *j, int file) {
    struct stat about;
    if (fstat(file, &about) != 0) return NULL;
    size_t n = (size_t)about.st_size;
    void *bytes = mmap(NULL, n, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) return NULL;
    void *module = j->l->f.ParseBitcode(j->context, bytes, n, &j->message);
    munmap(bytes, n);
    return module;
}

/* Parses libdevice, NVIDIA's mathematical functions. */
static qs_status parse_libdevice(Job *j, const char *triple, const char *path, void **module) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    *module = file >= 0 ? parse_bytes(j, file) : NULL;
    if (file >= 0) close(file);
    if (!*module) return step_failed(j, "read libdevice for");
    j->l->f.SetDataLayout(*module, j->layout);
    j->l->f.SetTarget(*module, triple);
    return QS_OK;
}

/* Makes all functions except the kernel internal, so that they can be inlined or removed. */
static void hide_all_but(Job *j, const char *entry) {
    const Api *f = &j->l->f;
    enum { INTERNAL = 8 };
    void *iterator = f->ModuleFunctionsIter(j->module);
    for (void *v; (v = f->FunctionsIterNext(iterator));)
        if (!f->IsDeclaration(v) && strcmp(f->GetValueName(v), entry) != 0) f->SetLinkage(v, INTERNAL);
    f->DisposeFunctionsIter(iterator);
}

static qs_status link_math(Job *j, const LlvmTarget *t, const char *triple) {
    void *math;
    char path[1024];
    if (!t->math) return QS_OK;
    if (t->arch == LLVM_NVPTX && qllvm_libdevice(path, sizeof path)) TRY(parse_libdevice(j, triple, path, &math));
    else TRY(parse(j, triple, t->math, &math));
    if (j->l->f.LinkModules(j->module, math, &j->message)) return step_failed(j, "link functions into");
    hide_all_but(j, "kernel");
    return QS_OK;
}

static void run_passes(Job *j, void *passes) {
    const Api *f = &j->l->f;
    f->RunNewModulePassManager(passes, j->module, j->builder);
    f->DisposeNewModulePassManger(passes);
}

static void *inlining(const Api *f) {
    void *passes = f->CreateNewModulePassManager();
    f->module_AddAlwaysInlinerPass(passes, false);
    return passes;
}

/* Runs the passes.  As in llvm.c, inlining runs twice, so that functions called by vectorized loops are inlined. */
static void optimise(Job *j) {
    const Api *f = &j->l->f;
    enum { O3 = 3 };
    j->tuning = f->CreatePipelineTuningOptions();
    f->PTOSetSLPVectorization(j->tuning, true);
    f->PTOSetLoopVectorization(j->tuning, true);
    j->builder = f->CreatePassBuilder(j->tm, j->tuning);
    run_passes(j, inlining(f));
    run_passes(j, f->buildPerModuleDefaultPipeline(j->builder, O3, 0));
    void *last = inlining(f);
    f->module_AddSROAPass(last);
    f->module_AddInstCombinePass(last);
    f->module_AddSimplifyCFGPass(last);
    f->module_AddGlobalDCEPass(last);
    run_passes(j, last);
}

static qs_status print(Job *j, Text *out) {
    const char *text;
    out->len = 0;
    j->l->f.PrintModuleToString(j->module, &text);
    qtext_puts(out, text);
    j->l->f.DisposeString(text);
    return qtext_status(out);
}

static qs_status mend(Job *j, const LlvmTarget *t, const char *triple, Text *text) {
    Text mended;
    TRY(print(j, text));
    qs_status s = qllvm_mend(j->ctx, t, text->s, &mended);
    j->l->f.DisposeModule(j->module), j->module = NULL;
    if (s == QS_OK) s = parse(j, triple, mended.s, &j->module);
    qtext_free(&mended);
    return s;
}

static qs_status emit_code(Job *j, LlvmOutput kind, Text *out) {
    const Api *f = &j->l->f;
    if (kind == LLVM_IR) return print(j, out);
    out->len = 0;
    j->buffer = f->TargetMachineEmitToMemory(j->tm, j->module, kind == LLVM_OBJECT, &j->message);
    if (!j->buffer) return step_failed(j, "emit");
    qtext_add(out, f->GetBufferStart(j->buffer), f->GetBufferSize(j->buffer));
    return QS_OK;
}

/* Disables requests for loop vectorization by renaming their metadata.  LLVM prints a warning on stderr for each
 * requested loop that it cannot vectorize, and llvmlite cannot suppress it. */
static void no_wishes(char *ir) {
    static const char wish[] = "vectorize.enable\", i1 true", other[] = "vectorize.wished\", i1 true";
    for (char *p = ir; (p = strstr(p, wish));) memcpy(p, other, sizeof other - 1);
}

static qs_status run_job(Job *j, const LlvmTask *task, const char *triple, int effort, Text *out) {
    const LlvmTarget *t = task->target;
    TRY(make_target(j, t, triple, effort));
    j->context = j->l->f.ContextCreate();
    out->len = 0;
    qtext_puts(out, task->ir);
    TRY(qtext_status(out));
    no_wishes(out->s);
    TRY(parse(j, triple, out->s, &j->module));
    TRY(link_math(j, t, triple));
    optimise(j);
    if (qllvm_is_mended(t, task->ir)) TRY(mend(j, t, triple, out));
    return emit_code(j, task->wanted, out);
}

qs_status qllvmlite_compile(Ctx *c, Llvmlite *l, const LlvmTask *task, const char *triple, int effort, Text *out) {
    Job j = {.ctx = c, .l = l};
    qs_status s = run_job(&j, task, triple, effort, out);
    finish_job(&j);
    return s;
}
