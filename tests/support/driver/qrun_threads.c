/* qrun with a CUDA device that is none: the fake driver, on which kernels run thread by thread (gpu_threads.h).  So
 * every script runs through the cuda device, with memory of its own and the code for GPUs, and with fakes of cuBLAS and
 * cuSOLVER (cuFFT's, which goes by the definition, would take too long):
 *
 *     tests/run.py --qrun build/qrun_threads --device cuda
 *
 * Instead of PTX the kernel compiler gets the IR itself back: the linker puts __wrap_qllvm_compile in its way, and
 * __wrap_qllvm_passes, so that the cache on disk does not hand it to a GPU later. */
#include "devices/llvm.h"
#include "tests/support/driver/fake_cuda_math.h"
#include "tests/support/gpu_threads.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

qs_status __real_qllvm_compile(Ctx *c, Llvm *l, const LlvmTarget *t, const char *ir, size_t n, LlvmOutput kind,
                               Text *out);
qs_status __wrap_qllvm_compile(Ctx *c, Llvm *l, const LlvmTarget *t, const char *ir, size_t n, LlvmOutput kind,
                               Text *out);

qs_status __wrap_qllvm_compile(Ctx *c, Llvm *l, const LlvmTarget *t, const char *ir, size_t n, LlvmOutput kind,
                               Text *out) {
    if (t->arch != LLVM_NVPTX) return __real_qllvm_compile(c, l, t, ir, n, kind, out);
    out->len = 0;
    qtext_add(out, ir, n);
    return QS_OK;
}

const char *__real_qllvm_passes(const LlvmTarget *t);
const char *__wrap_qllvm_passes(const LlvmTarget *t);

const char *__wrap_qllvm_passes(const LlvmTarget *t) {
    return t->arch == LLVM_NVPTX ? "none: the IR itself" : __real_qllvm_passes(t);
}

static FakeCuda *fake;
static FakeMath *math;

static void have_libraries(void) {
    void *lib = dlopen(FAKE_CUDA_MATH, RTLD_NOW | RTLD_LOCAL);
    FakeMath *(*get)(void);
    if (!lib) return (void)fprintf(stderr, "qrun_threads: %s\n", dlerror());
    *(void **)(void *)&get = dlsym(lib, "fake_math"), math = get();
    setenv("QUASAR_CUBLAS", FAKE_CUDA_MATH, 0), setenv("QUASAR_CUSOLVER", FAKE_CUDA_MATH, 0);
}

__attribute__((constructor)) static void begin(void) {
    static Ctx c;
    void *lib = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    FakeCuda *(*get)(void);
    qctx_init(&c, 32);
    if (lib) *(void **)(void *)&get = dlsym(lib, "fake_cuda"), fake = get();
    if (lib && gpu_threads_open(&c, fake) == QS_OK) setenv("QUASAR_CUDA", FAKE_CUDA, 1);
    else fprintf(stderr, "qrun_threads: %s\n", lib ? c.err.text : dlerror());
    have_libraries();
}

/* What the fake found wrong is a failure of the script. */
__attribute__((destructor)) static void end(void) {
    if (math && math->misuse) fprintf(stderr, "qrun_threads: misuse of a library: %s\n", math->log), _exit(70);
    if (!fake || (!fake->misuse && !gpu_threads_mistakes())) return;
    fprintf(stderr, "qrun_threads: misuse of the driver: %s\n", fake->misuse ? fake->wrong : "code that does not run");
    _exit(70);
}
