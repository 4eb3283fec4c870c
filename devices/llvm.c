/* llvm.c -- compiles kernels through LLVM's C API, which is opened with dlopen, without its headers.
 *
 * If the system has only llvmlite, llvmlite.c does the work.
 *
 * Without a cached kernel, the first launch includes the time for opening libLLVM and for one compilation.  Opening the
 * library is expensive because of its relocations (page faults in memory mapped from the file) and symbol lookups.
 * Three alternatives were tried:
 *   - RTLD_LAZY changes nothing, because almost none of the symbols are functions.
 *   - A thread that opens the library while the script is compiled hides little, because compiling the script is much
 *     faster, and it opens the library in vain if all kernels are in the cache.
 *   - RTLD_DEEPBIND saves some of the time, but breaks programs that have loaded another malloc before. */
#include "devices/llvm.h"
#include "devices/ir_workarounds.h"
#include "devices/llvmlite.h"
#include "devices/nvidia.h"
#include "vm/base/dynlib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Library names of Debian, Fedora, Arch and LLVM's own packages: first the versions for which the passes are chosen. */
static const char *const library_names[] = {
    "libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so",   "libLLVM.so.18.1", "libLLVM-18.so.1", "libLLVM-18.so",
    "libLLVM-17.so.1", "libLLVM-17.so",   "libLLVM-16.so.1", "libLLVM-16.so",   "libLLVM.so.22.1", "libLLVM-22.so",
    "libLLVM.so.21.1", "libLLVM-21.so",   "libLLVM.so.20.1", "libLLVM-20.so",
};
/* Versions that are too old, listed for the error message: 14 crashes on opaque pointers, 15 lacks functions we use. */
static const char *const old_names[] = {"libLLVM-15.so.1", "libLLVM-15.so", "libLLVM-14.so.1", "libLLVM-14.so",
                                        "libLLVM-13.so.1"};

enum { OLDEST = 16 };

typedef struct {
#define NEED(result, name, args)  result(*name) args;
#define MAYBE(result, name, args) NEED(result, name, args)
#include "devices/llvm_api.def"
} Api;

struct Llvm {
    Api f;
    unsigned major;
    char version[32];
    char *cpu, *features; /* name and features of the host's processor */
    Llvmlite *lite;       /* used instead of all other members if the system has no libLLVM; else NULL */
};

/* Protects LLVM's table of targets, which all VMs of the process share. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;

static bool load_symbols(void *lib, Api *f, const char **missing) {
    bool ok = true;
    /* POSIX lets a function address travel in a void *; C has no cast for it. */
#define FETCH(name) *(void **)(void *)&f->name = dlsym(lib, "LLVM" #name)
#define NEED(result, name, args)                                                                                       \
    if (FETCH(name), !f->name && ok) ok = false, *missing = "LLVM" #name;
#define MAYBE(result, name, args) FETCH(name);
#include "devices/llvm_api.def"
#undef FETCH
    return ok;
}

static void register_target(void (*info)(void), void (*target)(void), void (*mc)(void), void (*printer)(void)) {
    if (info && target && mc && printer) info(), target(), mc(), printer();
}

/* Command-line options for LLVM; options that this version does not know are ignored.
 *   - Loop strength reduction is disabled: it takes most of the code generation time of loops with many addresses, and
 *     loops are hardly faster with it, because address offsets are free.
 *   - LLVM must not assume that an unknown stride is 1.  Our compiler knows where it is 1 (unit_last).  Otherwise LLVM
 *     makes two versions of the loop, and the one for other strides, such as 3 for colour images, has no vectors.
 *   - The iterations that remain after a vector loop run in shorter vectors, of float64, too: many rows of images are
 *     short, and a vector loop takes up to 64 elements at once. */
const char *const qllvm_options[LLVM_OPTIONS] = {"quasar", "-disable-lsr", "-enable-mem-access-versioning=false",
                                                 "-epilogue-vectorization-minimum-VF=4"};

static void choose_passes(const Api *f) {
    if (f->ParseCommandLineOptions) f->ParseCommandLineOptions(LLVM_OPTIONS, qllvm_options, NULL);
}

static void register_targets(const Api *f) {
    pthread_mutex_lock(&registry_lock);
    choose_passes(f);
#if defined(__aarch64__)
    register_target(f->InitializeAArch64TargetInfo, f->InitializeAArch64Target, f->InitializeAArch64TargetMC,
                    f->InitializeAArch64AsmPrinter);
#else
    register_target(f->InitializeX86TargetInfo, f->InitializeX86Target, f->InitializeX86TargetMC,
                    f->InitializeX86AsmPrinter);
#endif
    register_target(f->InitializeNVPTXTargetInfo, f->InitializeNVPTXTarget, f->InitializeNVPTXTargetMC,
                    f->InitializeNVPTXAsmPrinter);
    pthread_mutex_unlock(&registry_lock);
}

static const char *advice(void) {
    return "install LLVM 19 (Debian, Ubuntu: apt install libllvm19, or libllvm16) or llvmlite (Python 3.10 and later: "
           "pip install llvmlite), or name one in QUASAR_LLVM; the device ref works without (qrun --device ref, in "
           "Python init(\"ref\"))";
}

static qs_status refuse_library(Ctx *c, const char *why) {
    if (*why) return qerr_set(c, QS_EDEVICE, "compiling kernels needs LLVM, which cannot be opened: %s", why);
    for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++) {
        void *lib = dlopen(old_names[i], RTLD_LAZY | RTLD_LOCAL);
        if (!lib) continue;
        dlclose(lib);
        return qerr_set(c, QS_EDEVICE, "%s is too old to compile kernels (LLVM 16 to 22 will do): %s", old_names[i],
                        advice());
    }
    return qerr_set(c, QS_EDEVICE, "compiling kernels needs LLVM, which is not installed: %s", advice());
}

static void install_handlers(void *lib);

/* Searches libllvmlite in the folders of Python packages. */
static bool find_llvmlite(OpenedLibrary *out) {
    static const char *const folders[] = {"%s/lib/python3*/site-packages/llvmlite/binding"};
    return qnvidia_find(folders, 1, "libllvmlite.so", qdynlib_take, out);
}

/* Opens libLLVM or libllvmlite.  It is never closed, because other VMs and other users in the process may share it. */
static qs_status open_library(Ctx *c, void **out) {
    const char *named = getenv("QUASAR_LLVM");
    if (named && *named) {
        *out = dlopen(named, RTLD_NOW | RTLD_LOCAL);
        return *out ? QS_OK : qerr_set(c, QS_EDEVICE, "QUASAR_LLVM: %s", dlerror());
    }
    OpenedLibrary o = {0};
    bool found = false;
    for (size_t i = 0; i < sizeof library_names / sizeof *library_names && !found; i++)
        found = qdynlib_take(&o, library_names[i]);
    found = found || (c->llvmlite && qdynlib_take(&o, c->llvmlite)) || find_llvmlite(&o);
    *out = o.lib;
    return found ? QS_OK : refuse_library(c, o.why);
}

static qs_status open_api(Ctx *c, Llvm *l) {
    void *lib;
    const char *missing = "";
    TRY(open_library(c, &lib));
    if (qllvmlite_is(lib)) {
        TRY(qllvmlite_open(c, lib, &l->lite));
        l->major = (unsigned)strtoul(qllvmlite_version(l->lite), NULL, 10);
        return QS_OK;
    }
    bool complete = load_symbols(lib, &l->f, &missing);
    unsigned major = 0, minor = 0, patch = 0;
    if (l->f.GetVersion) l->f.GetVersion(&major, &minor, &patch);
    if (major < OLDEST)
        return qerr_set(c, QS_EDEVICE, "this LLVM is too old to compile kernels (16 to 22 will do): %s", advice());
    if (!complete)
        return qerr_set(c, QS_EDEVICE, "LLVM %u lacks %s, which compiling kernels needs: %s", major, missing, advice());
    l->major = major;
    snprintf(l->version, sizeof l->version, "%u.%u.%u", major, minor, patch);
    install_handlers(lib);
    register_targets(&l->f);
    l->cpu = l->f.GetHostCPUName(), l->features = l->f.GetHostCPUFeatures();
    return QS_OK;
}

qs_status qllvm_open(Ctx *c, Llvm **out) {
    Llvm *l = qmem_alloc(c, sizeof *l);
    qs_status s = open_api(c, l);
    if (s != QS_OK) qmem_free(c, l, sizeof *l);
    else *out = l;
    return s;
}

void qllvm_close(Ctx *c, Llvm *l) {
    if (!l) return;
    if (l->lite) qllvmlite_close(c, l->lite);
    else l->f.DisposeMessage(l->cpu), l->f.DisposeMessage(l->features);
    qmem_free(c, l, sizeof *l);
}

const char *qllvm_version(const Llvm *l) { return l->lite ? qllvmlite_version(l->lite) : l->version; }

/* -- one compilation ----------------------------------------------------------------------------------------------- */

typedef struct { /* objects that finish_job() frees; NULL: not created */
    Ctx *ctx;
    Llvm *l;
    void *tm, *context, *module, *buffer, *options;
    char *message;
} Job;

static void finish_job(Job *j) {
    const Api *f = &j->l->f;
    if (j->message) f->DisposeMessage(j->message);
    if (j->buffer) f->DisposeMemoryBuffer(j->buffer);
    if (j->options) f->DisposePassBuilderOptions(j->options);
    if (j->module) f->DisposeModule(j->module);
    if (j->context) f->ContextDispose(j->context);
    if (j->tm) f->DisposeTargetMachine(j->tm);
}

static qs_status step_failed(Job *j, const char *step, const char *why) {
    return qerr_set(j->ctx, QS_EINTERNAL, "LLVM %s cannot %s a kernel: %s", j->l->version, step,
                    why ? why : "no reason given");
}

/* Ignores LLVM's remarks, which it would print on stderr. */
static void quiet(void *info, void *ud) { (void)info, (void)ud; }

static const char *triple_of(LlvmArch a) {
    switch (a) {
    case LLVM_AARCH64: return "aarch64-unknown-linux-gnu";
    case LLVM_NVPTX: return "nvptx64-nvidia-cuda";
    default: return "x86_64-unknown-linux-gnu";
    }
}

/* Returns the optimization level of the code generator.  It is 0 for very long kernels, because LLVM's register
 * allocation takes quadratic time in the number of live values.  The code of such kernels is only somewhat slower,
 * because it is dominated by spilled values anyway. */
static int effort(size_t text) {
    enum { NONE = 0, AGGRESSIVE = 3 };
    return text > (1u << 20) ? NONE : AGGRESSIVE;
}

static qs_status make_target(Job *j, const LlvmTarget *t, size_t text) {
    const Api *f = &j->l->f;
    void *target;
    bool host = !*t->cpu;
    if (f->GetTargetFromTriple(triple_of(t->arch), &target, &j->message))
        return qerr_set(j->ctx, QS_EDEVICE, "this LLVM (%s) cannot make code for %s: %s", j->l->version,
                        triple_of(t->arch), j->message);
    j->tm = f->CreateTargetMachine(target, triple_of(t->arch), host ? j->l->cpu : t->cpu,
                                   host ? j->l->features : t->features, effort(text), 2 /* position independent */,
                                   0 /* default code model */);
    return j->tm ? QS_OK : step_failed(j, "target", triple_of(t->arch));
}

static qs_status parse(Job *j, const LlvmTarget *t, const char *ir, size_t n) {
    const Api *f = &j->l->f;
    if (!j->context) j->context = f->ContextCreate();
    f->ContextSetDiagnosticHandler(j->context, quiet, NULL);
    void *text = f->CreateMemoryBufferWithMemoryRange(ir, n, "kernel", 1);
    if (f->ParseIRInContext(j->context, text, &j->module, &j->message)) return step_failed(j, "parse", j->message);
    void *layout = f->CreateTargetDataLayout(j->tm);
    f->SetModuleDataLayout(j->module, layout);
    f->DisposeTargetData(layout);
    f->SetTarget(j->module, triple_of(t->arch));
    return QS_OK;
}

/* -- mathematical functions of NVIDIA devices: libdevice of the CUDA toolkit, or our own --------------------------- */
typedef struct {
    char *path;
    size_t n;
} Found;

static bool take_readable(void *ud, const char *path) {
    const Found *f = ud;
    int wrote = snprintf(f->path, f->n, "%s", path);
    return wrote > 0 && (size_t)wrote < f->n && !access(path, R_OK);
}

bool qllvm_libdevice(char *path, size_t n) {
    static const char *const folders[] = {"%s/nvvm/libdevice", "%s/lib/nvidia-cuda-toolkit/libdevice",
                                          "%s/lib/python3*/site-packages/nvidia/*/nvvm/libdevice",
                                          "%s/lib/python3*/site-packages/triton/backends/nvidia/lib",
                                          "%s/lib/python3*/site-packages/warp/native/libdevice"};
    const char *named = getenv("QUASAR_LIBDEVICE");
    if (named && *named) return snprintf(path, n, "%s", named) < (int)n && strcmp(named, "none") != 0;
    return qnvidia_find(folders, sizeof folders / sizeof *folders, "libdevice.10.bc", take_readable, &(Found){path, n});
}

/* Makes all functions except the kernel internal, so that they can be inlined or removed. */
static void hide_all_but(Job *j, const char *entry) {
    const Api *f = &j->l->f;
    size_t n;
    enum { INTERNAL = 8 };
    for (void *v = f->GetFirstFunction(j->module); v; v = f->GetNextFunction(v)) {
        const char *name = f->GetValueName2(v, &n);
        if (!f->IsDeclaration(v) && (n != strlen(entry) || memcmp(name, entry, n))) f->SetLinkage(v, INTERNAL);
    }
}

static qs_status read_math(Job *j, const LlvmTarget *t, void **module) {
    const Api *f = &j->l->f;
    char path[1024];
    void *text;
    if (t->arch != LLVM_NVPTX || !qllvm_libdevice(path, sizeof path))
        text = f->CreateMemoryBufferWithMemoryRange(t->math, strlen(t->math), "math", 1);
    else if (f->CreateMemoryBufferWithContentsOfFile(path, &text, &j->message))
        return step_failed(j, "read libdevice for", j->message);
    return f->ParseIRInContext(j->context, text, module, &j->message)
               ? step_failed(j, "parse the functions of", j->message)
               : QS_OK;
}

static qs_status link_math(Job *j, const LlvmTarget *t) {
    const Api *f = &j->l->f;
    void *library;
    if (!t->math) return QS_OK;
    TRY(read_math(j, t, &library));
    void *layout = f->CreateTargetDataLayout(j->tm);
    f->SetModuleDataLayout(library, layout);
    f->DisposeTargetData(layout);
    f->SetTarget(library, triple_of(t->arch));
    if (f->LinkModules2(j->module, library)) return step_failed(j, "link functions into", NULL);
    hide_all_but(j, "kernel");
    return QS_OK;
}

/* A reduced default<O2> pipeline for kernels, which are single functions with few calls.  It omits the inliner, the
 * inference of function attributes, jump threading and five of eight rounds of instcombine.  Loops compile to the same
 * code in less time.  Correlated-propagation finds integers that are not negative; their quotients by a constant are
 * faster.  Inlining runs twice, so that the functions that the vectorizer inserts for vector calls are inlined, too.
 *
 * Very large functions, such as second derivatives of long loops, are compiled without loop unrolling and SLP
 * vectorization.  These passes take much time there, and code with so many live values gains nothing from them.
 * Sorting networks, as in the median of 25 elements, are compiled without SLP vectorization, which searches their
 * selections for reductions and finds none. */
#define QUICK_PASSES(instcombine, vectors, copies)                                                                     \
    "always-inline,function(sroa,early-cse,simplifycfg,loop-mssa(loop-rotate,licm),simplifycfg," instcombine           \
    ",loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),sroa,loop-mssa(licm),gvn,"                               \
    "correlated-propagation,simplifycfg," instcombine                                                                  \
    ",dse,loop-mssa(licm),inject-tli-mappings,loop-vectorize," vectors "),always-inline,function(" copies              \
    "sroa," instcombine ",loop-mssa(licm),simplifycfg),globaldce"
#define ALL_PASSES(instcombine)                                                                                        \
    QUICK_PASSES(instcombine, "loop-load-elim,simplifycfg,slp-vectorizer,vector-combine", "loop-unroll,")
#define NETWORK_PASSES(instcombine) QUICK_PASSES(instcombine, "loop-load-elim,simplifycfg", "loop-unroll,")
#define LARGE_PASSES(instcombine)   QUICK_PASSES(instcombine, "simplifycfg", "")
/* Since LLVM 18, instcombine in a textual pipeline aborts if it did not reach a fixpoint, unless this is disabled. */
#define SINCE_18 "instcombine<no-verify-fixpoint>"
enum { LARGE = 1 << 17 /* bytes of IR */, NETWORK = 256 /* selections */ };

static bool has_network(const char *ir) {
    int selections = 0;
    while (selections < NETWORK && (ir = strstr(ir, " = select i1 "))) ir++, selections++;
    return selections == NETWORK;
}

static const char *quick_passes(const char *ir, size_t n, bool since_18) {
    if (n >= LARGE) return since_18 ? LARGE_PASSES(SINCE_18) : LARGE_PASSES("instcombine");
    if (has_network(ir)) return since_18 ? NETWORK_PASSES(SINCE_18) : NETWORK_PASSES("instcombine");
    return since_18 ? ALL_PASSES(SINCE_18) : ALL_PASSES("instcombine");
}

const char *qllvm_passes(const LlvmTarget *t, const char *ir, size_t n) {
    return t->thorough ? "default<O3>,always-inline" : quick_passes(ir, n, false);
}

static qs_status optimise(Job *j, const LlvmTarget *t, const char *ir, size_t n) {
    const Api *f = &j->l->f;
    j->options = f->CreatePassBuilderOptions();
    f->PassBuilderOptionsSetSLPVectorization(j->options, 1);
    const char *passes = t->thorough || j->l->major < 18 ? qllvm_passes(t, ir, n) : quick_passes(ir, n, true);
    void *error = f->RunPasses(j->module, passes, j->tm, j->options);
    if (!error) return QS_OK;
    char *why = f->GetErrorMessage(error);
    qs_status s = step_failed(j, "optimise", why);
    f->DisposeErrorMessage(why);
    return s;
}

bool qllvm_is_mended(const LlvmTarget *t, const char *ir) {
    return t->arch == LLVM_AARCH64 ? strstr(ir, "fcmp") != NULL : t->arch != LLVM_X86;
}

qs_status qllvm_mend(Ctx *c, const LlvmTarget *t, char *text, Text *out) {
    qtext_init(out, c);
    (t->arch == LLVM_AARCH64 ? qirfix_aarch64 : qirfix_gpu)(text, out);
    return qtext_status(out);
}

static qs_status mend(Job *j, const LlvmTarget *t) {
    const Api *f = &j->l->f;
    char *text = f->PrintModuleToString(j->module);
    Text mended;
    qs_status s = qllvm_mend(j->ctx, t, text, &mended);
    f->DisposeMessage(text);
    f->DisposeModule(j->module), j->module = NULL;
    if (s == QS_OK) s = parse(j, t, mended.s, mended.len);
    qtext_free(&mended);
    return s;
}

static qs_status emit_code(Job *j, LlvmOutput kind, Text *out) {
    const Api *f = &j->l->f;
    out->len = 0;
    if (kind == LLVM_IR) {
        char *text = f->PrintModuleToString(j->module);
        qtext_puts(out, text);
        f->DisposeMessage(text);
        return QS_OK;
    }
    if (f->TargetMachineEmitToMemoryBuffer(j->tm, j->module, (int)kind, &j->message, &j->buffer))
        return step_failed(j, "emit", j->message);
    qtext_add(out, f->GetBufferStart(j->buffer), f->GetBufferSize(j->buffer));
    return QS_OK;
}

static qs_status run_job(Job *j, const LlvmTask *task, Text *out) {
    const LlvmTarget *t = task->target;
    TRY(make_target(j, t, task->n));
    TRY(parse(j, t, task->ir, task->n));
    TRY(link_math(j, t));
    TRY(optimise(j, t, task->ir, task->n));
    if (qllvm_is_mended(t, task->ir)) TRY(mend(j, t));
    return emit_code(j, task->wanted, out);
}

static qs_status compile_with_lite(Ctx *c, Llvm *l, const LlvmTask *task, Text *out) {
    return qllvmlite_compile(c, l->lite, task, triple_of(task->target->arch), effort(task->n), out);
}

static qs_status compile_with_api(Ctx *c, Llvm *l, const LlvmTask *task, Text *out) {
    Job j = {.ctx = c, .l = l};
    qs_status s = run_job(&j, task, out);
    finish_job(&j);
    return s;
}

/* -- when memory is short ------------------------------------------------------------------------------------------ */
/* LLVM ends the process if it finds no memory.  A compilation therefore begins only if the address space has room for
 * an ordinary one.  If memory still runs out, the handlers of failed allocations of LLVM and of operator new leave the
 * compilation by longjmp.  LLVM's objects of that compilation are lost, and locks may be held, so the process does not
 * use LLVM again. */
enum { LEAST_MEMORY = 12 << 20, MEMORY_PER_BYTE = 100 /* of IR text */ };
static _Thread_local jmp_buf *abandon; /* where a compilation ends without memory; NULL: this thread does not compile */
static atomic_bool is_unusable;
static void (*(*set_new_handler)(void (*)(void)))(void); /* std::set_new_handler; NULL: not found */

static void on_failed_allocation(void *ud, const char *why, bool diagnose) {
    (void)ud, (void)why, (void)diagnose;
    if (abandon) longjmp(*abandon, 1);
    abort(); /* LLVM does not expect its handler to return */
}

/* Without a compilation in this thread, calls the handler that was there before, or removes itself, so that operator
 * new throws std::bad_alloc as usual. */
static void (*earlier_handler)(void);
static void on_failed_new(void) {
    if (abandon) longjmp(*abandon, 1);
    if (earlier_handler) earlier_handler();
    else set_new_handler(NULL);
}

/* The functions have no C interface; their symbols follow the ABI of C++. */
static void install_handlers(void *lib) {
    void (*install)(void (*)(void *, const char *, bool), void *);
    *(void **)(void *)&install = dlsym(lib, "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");
    *(void **)(void *)&set_new_handler = dlsym(lib, "_ZSt15set_new_handlerPFvvE");
    if (install) install(on_failed_allocation, NULL);
    if (set_new_handler) earlier_handler = set_new_handler(on_failed_new);
}

static qs_status no_memory(Ctx *c) {
    return qerr_set(c, QS_ENOMEM, "out of memory: there is not enough to compile with LLVM");
}

static bool has_room(size_t text) {
    size_t need = qmem_size(text, MEMORY_PER_BYTE, LEAST_MEMORY);
    void *p = mmap(NULL, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return false;
    munmap(p, need);
    return true;
}

qs_status qllvm_compile(Ctx *c, Llvm *l, const LlvmTask *task, Text *out) {
    jmp_buf here;
    qs_status s;
    if (atomic_load(&is_unusable) || !has_room(task->n)) return no_memory(c);
    abandon = &here;
    if (setjmp(here)) {
        atomic_store(&is_unusable, true);
        s = no_memory(c);
    } else {
        s = (l->lite ? compile_with_lite : compile_with_api)(c, l, task, out);
    }
    abandon = NULL;
    return s;
}
