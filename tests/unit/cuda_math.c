/* Products, Fourier transforms, systems of equations and convolutions by cuBLAS, cuFFT, cuSOLVER and cuDNN, run on
 * fakes that compute (tests/support/driver): results equal those of the CPU, for all types and layouts; also the order
 * of calls; every call failing once; no leaks. */
#include "devices/device.h"
#include "tests/support/driver/fake_cuda.h"
#include "tests/support/driver/fake_cuda_math.h"
#include "tests/unit/check.h"
#include "vm/launch/launch.h"
#include "vm/quasar.h"
#include "vm/value/object.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>

static FakeCuda *fake;
static FakeMath *math;
static char said[4096];
static const char *kept = ""; /* the folder with the code */

static void hear(void *ud, int fd, const char *text, size_t n) {
    size_t at = strlen(said);
    (void)ud;
    if (fd == 2 && at + n < sizeof said) memcpy(said + at, text, n), said[at + n] = 0;
}

static void forget(void) { math->log[0] = math->failed[0] = fake->log[0] = said[0] = 0; }

static qs_vm *open_machine(const char *device) {
    qs_config c;
    qs_vm *vm = NULL;
    qs_config_init(&c);
    c.device = device, c.cache_dir = kept, c.explain = true, c.write = hear, c.threads = 1;
    *fake = (FakeCuda){.devices = 1, .capability = 90, .max_threads = 1024, .blocks = 8, .fail_after = -1};
    *math = (FakeMath){.fail_after = -1};
    forget();
    CHECK(qs_open(&c, &vm) == QS_OK);
    return vm;
}

static void close_machine(qs_vm *vm) {
    qs_close(vm);
    CHECK(!fake->retained && !fake->streams && !fake->events && !fake->pinned && !fake->allocated && !fake->misuse);
    CHECK(!math->handles && !math->plans && !math->descriptors && !math->misuse);
    if (fake->misuse) printf("  %s\n", fake->wrong);
}

static const char *error_of(qs_vm *vm) { return qs_error(vm) ? qs_error(vm) : ""; }

static void run(qs_vm *vm, const char *text) {
    qs_status s = qs_eval(vm, text, NULL);
    CHECK(s == QS_OK);
    if (s) printf("  %s: %s\n", text, error_of(vm));
    qs_error_clear(vm);
}

static bool holds(qs_vm *vm, const char *text) {
    qs_value v;
    bool ok = qs_eval(vm, text, &v) == QS_OK && v.kind == QS_BOOL && v.u.i;
    if (!ok) printf("  %s: %s\n", text, *error_of(vm) ? error_of(vm) : "false");
    qs_error_clear(vm);
    return ok;
}

/* The libraries' result for `expr` equals the CPU's result, by the calls in `log`. */
static void same(qs_vm *vm, const char *expr, const char *log) {
    char text[400];
    run(vm, "use_device(\"cuda\")");
    forget();
    snprintf(text, sizeof text, "there = %s", expr);
    run(vm, text);
    CHECK(strstr(math->log, log) != NULL);
    if (!strstr(math->log, log)) printf("  %s: %s\n", expr, math->log);
    run(vm, "use_device(\"cpu\")");
    snprintf(text, sizeof text, "here = %s", expr);
    forget();
    run(vm, text);
    CHECK(!*math->log);
    CHECK(holds(vm, "type(here) == type(there) && sum(abs(size(here) - size(there))) == 0"));
    CHECK(holds(vm, "max(abs(here - there)) <= 2e-5*max(abs(here))"));
}

QS_PRINTF(1, 2) static void shell(const char *format, ...) {
    char command[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    CHECK(!system(command));
}

static void products(void) {
    qs_vm *vm = open_machine("cpu,cuda");
    run(vm, "a = randn(200,150)\nb = randn(150,180)\nd = float64(a)\ne = float64(b)\n"
            "z = complex(a, a.*2)\ny = complex(b, 1 - b)\nw = complex(d, d.*2)\nx = complex(e, 1 - e)");
    same(vm, "a*b", "Sgemm ");
    same(vm, "d*e", "Dgemm ");
    same(vm, "z*y", "Cgemm ");
    same(vm, "w*x", "Zgemm ");
    same(vm, "transpose(b)*transpose(a)", "Sgemm ");
    same(vm, "a[:,10..140]*b[10..140,:]", "Sgemm ");
    close_machine(vm);
}

static void transforms(void) {
    qs_vm *vm = open_machine("cpu,cuda");
    run(vm, "a = randn(64,120)\nz = complex(a, a.*2)\nw = complex(float64(a), 1)\nc = randn(16,20,30)");
    same(vm, "fft1(a)", "FftSetArea Scopy FftC2C ");
    same(vm, "fft1(a, 1)", "Scopy FftC2C ");
    same(vm, "fft2(a)", "Scopy FftC2C ");
    same(vm, "fft2(z)", "FftSetArea FftC2C ");
    same(vm, "ifft2(z)", "FftC2C Csscal ");
    same(vm, "ifft2(w)", "FftZ2Z Zdscal ");
    same(vm, "fft2(float64(a))", "Dcopy FftZ2Z ");
    same(vm, "fft3(c)", "FftC2C ");
    same(vm, "fft2(c)", "FftC2C ");
    same(vm, "fft1(c, 1)", "FftC2C FftC2C ");
    same(vm, "fft1(c, 2)", "FftC2C ");
    CHECK(math->plans <= 8);
    close_machine(vm);
}

static void systems(void) {
    qs_vm *vm = open_machine("cpu,cuda");
    run(vm, "a = randn(200,200) + 20.*eye(200)\nb = randn(200,7)\nc = randn(200,1)\nd = float64(a)\ne = float64(b)\n"
            "z = complex(a, transpose(a))\ny = complex(b, 1 - b)\nw = complex(d, transpose(d))\nx = complex(e, 1 - e)");
    same(vm, "solve(a, b)", "SgetrfArea Sgeam Sgetrf Sgeam Sgetrs Sgeam ");
    same(vm, "solve(a, c)", "SgetrfArea Sgeam Sgetrf Sgeam Sgetrs ");
    same(vm, "linsolve(d, e)", "Dgetrs ");
    same(vm, "solve(z, y)", "Cgetrs ");
    same(vm, "solve(w, x)", "Zgetrs ");
    same(vm, "solve(transpose(a), b[:,2..5])", "Sgetrs ");
    same(vm, "solve(d[10..190,10..190], transpose(transpose(e)[:,10..190]))", "Dgetrs ");
    same(vm, "inv(a)", "SgetrfArea Sgeam Sgetrf Sgetrs ");
    same(vm, "inv(d)", "Dgetrs ");
    same(vm, "inv(z)", "Cgetrs ");
    same(vm, "inv(transpose(w))", "Zgetrs ");
    close_machine(vm);
}

static void cholesky(void) {
    qs_vm *vm = open_machine("cpu,cuda");
    run(vm, "g = randn(300,300)\na = g*transpose(g) + 300.*eye(300)\nd = float64(a)\nz = complex(g, transpose(g))\n"
            "h = z*herm_transpose(z) + 300.*eye(300)\nw = complex(float64(real(h)), float64(imag(h)))");
    same(vm, "chol(a)", "SpotrfArea Sgeam Spotrf Strttp Stpttr ");
    same(vm, "chol(d)", "Dpotrf ");
    same(vm, "chol(h)", "Cpotrf ");
    same(vm, "chol(transpose(w))", "Zpotrf ");
    same(vm, "chol_ex(a[2..280,2..280])", "Spotrf ");
    close_machine(vm);
}

/* All types; tall, wide, square and transposed matrices, slices, and vectors with their signs. */
static void factorizations(void) {
    static const char of[] =
        "function y = q_of(a)\n [y, r] = qr(a)\nend\nfunction y = r_of(a)\n [q, y] = qr(a)\nend\n"
        "function y = u_of(a)\n [y, s, v] = svd(a)\nend\nfunction y = v_of(a)\n [u, s, y] = svd(a)\nend\n"
        "function y = vectors_of(a)\n [y, d] = symeig(a)\nend\n"
        "a = randn(90,60)\nd = float64(a)\nz = complex(a, randn(90,60))\nw = complex(d, float64(imag(z)))\n"
        "p = randn(80,80)\ns = p + transpose(p)\nt = float64(s)\n"
        "h = complex(s, p - transpose(p))\nk = complex(t, float64(p - transpose(p)))\n";
    static const struct {
        const char *expr, *log;
    } each[] = {{"q_of(a)", "SgeqrfArea SorgqrArea Sgeam Sgeqrf Sorgqr "},
                {"r_of(d)", "Dgeqrf Dorgqr "},
                {"q_of(z)", "Cgeqrf Corgqr "},
                {"r_of(transpose(w))", "Zgeqrf Zorgqr "},
                {"qr(d[3..60,2..50])", "Dgeqrf "},
                {"r_of(p)", "Sgeqrf "},
                {"svd(d)", "DgesvdArea Dgeam Dgesvd "},
                {"svd(transpose(w))", "Zgesvd "},
                {"u_of(d)", "DgesvdArea Dgeam Dgesvd "},
                {"v_of(a)", "Sgesvd "},
                {"u_of(transpose(d))", "Dgeam Dgesvd Dgeam Dgeam "},
                {"v_of(transpose(d))", "Dgesvd Dgeam Dgeam "},
                {"u_of(w)", "Zgesvd "},
                {"v_of(transpose(w))", "Zgesvd Zgeam Zgeam "},
                {"v_of(z[3..70,2..50])", "Cgesvd "},
                {"symeig(s)", "SsyevdArea Sgeam Ssyevd "},
                {"vectors_of(t)", "Dsyevd "},
                {"vectors_of(k)", "Zsyevd "},
                {"vectors_of(transpose(k))", "Zsyevd "},
                {"symeig(h)", "Csyevd "},
                {"rank(d)", "Dgesvd "},
                {"cond(w)", "Zgesvd "},
                {"pinv(d)", "Dgesvd "},
                {"[det(t/40), logdet(t*t)]", "Dgetrf "},
                {"det(k/40)", "Zgetrf "}};
    setenv("QUASAR_LIBRARIES", "always", 1);
    qs_vm *vm = open_machine("cpu,cuda");
    run(vm, of);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) same(vm, each[i].expr, each[i].log);
    static const int shapes[][2] = {{1, 1}, {1, 6}, {6, 1}, {2, 7}, {7, 2}, {5, 5}};
    static const struct {
        const char *function, *log;
    } all[] = {{"svd", "gesvd "}, {"u_of", "gesvd "}, {"v_of", "gesvd "}, {"q_of", "orgqr "}, {"r_of", "geqrf "}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t k = 0; k < 4 * (sizeof all / sizeof *all); k++) {
            char expr[100];
            snprintf(expr, sizeof expr, "%s(%c[3..%d,4..%d])", all[k / 4].function, "adzw"[k % 4], 2 + shapes[i][0],
                     3 + shapes[i][1]);
            same(vm, expr, all[k / 4].log);
        }
    forget();
    run(vm, "use_device(\"cuda\")\nr = rank(a) + cond(a) + det(p)");
    CHECK(!strstr(math->log, "gesvd") && !strstr(math->log, "getrf")); /* numbers are float64 */
    close_machine(vm);
    setenv("QUASAR_LIBRARIES", "never", 1);
    vm = open_machine("cuda");
    run(vm, "a = randn(400,400)\nb = a*a");
    CHECK(!*math->log && strstr(said, "* runs on cpu:0, as QUASAR_LIBRARIES=never says"));
    close_machine(vm);
    unsetenv("QUASAR_LIBRARIES");
}

/* Kernels do nothing on this driver, so a difference shows that cuDNN was not used. */
static void layers(void) {
    qs_vm *vm = open_machine("cpu,cuda");
    run(vm, "x = randn(3,4,7,9)\nw = randn(6,2,3,2)\nb = randn(1,6)\ns = [2,1]\np = [1,3]\nd = [1,2]\n"
            "y = conv_planes(x, w, s, p, d, 2)\nwx = float64(x)\nww = float64(w)\nwb = float64(b)\nwy = float64(y)");
    same(vm, "conv_planes(x, w, s, p, d, 2)", "DnnForward ");
    same(vm, "conv_planes(x, w, s, p, d, 2, b)", "DnnForward DnnAdd ");
    same(vm, "conv_planes(wx, ww, s, p, d, 2, wb)", "DnnForward DnnAdd ");
    same(vm, "conv_planes(wx, w, 1, 0, 1, 2)", "DnnForward "); /* in float64 */
    same(vm, "conv_planes_input(y, w, [3,4,7,9], s, p, d, 2)", "DnnInput ");
    same(vm, "conv_planes_input(wy, ww, [3,4,7,9], s, p, d, 2)", "DnnInput ");
    same(vm, "conv_planes_weights(x, y, [6,2,3,2], s, p, d, 2)", "DnnWeights ");
    same(vm, "conv_planes_weights(wx, wy, [6,2,3,2], s, p, d, 2)", "DnnWeights ");
    same(vm, "conv_planes(uint8(abs(x)), w, 1, 0, 1, 2)", "DnnForward ");
    close_machine(vm);
}

/* The number of calls that a row of the table reports; -1: there is no such row. */
static int row_of(const char *table, const char *name) {
    const char *at = table ? strstr(table, name) : NULL;
    return at ? atoi(at + strlen(name)) : -1;
}

/* Descriptors are made once, and again if the sizes change; --explain and the profile name it. */
static void layers_order(void) {
    static const char text[] = "x = randn(2,3,8,8)\nw = randn(4,3,3,3)\nb = randn(1,4)\n"
                               "for i = 1..2\n    y = conv_planes(x, w, 1, 0, 1, 1, b)\nend\n";
    qs_vm *vm = open_machine("cuda");
    Text table;
    qtext_init(&table, qvm_ctx(vm));
    qreport_begin(vm, NULL, true);
    CHECK(qs_load(vm, "layers.q", text, sizeof text - 1) == QS_OK);
    CHECK_TEXT(math->log, "DnnCreate DnnSetStream DnnCreateTensor DnnSetTensor DnnCreateTensor DnnSetTensor "
                          "DnnCreateTensor DnnSetTensor DnnCreateFilter DnnSetFilter DnnCreateConv DnnSetConv "
                          "DnnSetGroups DnnSetMath DnnForwardOrder DnnForwardArea DnnForward DnnAdd "
                          "DnnForward DnnAdd ");
    CHECK(strstr(said, "layers.q:5: a convolution runs on cuda:0 by cuDNN"));
    CHECK(qreport_profile(vm, &table) == QS_OK && row_of(table.s, "cuDNN layers.q:5 ") == 2);
    for (int i = 0; i < 70; i++) { /* more than the cache keeps */
        char line[100];
        snprintf(line, sizeof line, "y = conv_planes(randn(1,1,%d,5), randn(1,1,2,2), 1, 0, 1, 1)", 3 + i);
        forget();
        run(vm, line);
    }
    CHECK(math->descriptors == 64 * 5 && strstr(math->log, "DnnDestroyTensor "));
    qtext_free(&table);
    close_machine(vm);
}

/* Convolutions that cuDNN must not or cannot compute: kernels run instead, with a message. */
static void layers_by_kernels(void) {
    static const char begin[] = "x = randn(2,3,9,9)\nw = randn(4,3,3,3)";
    static const char plain[] = "y = conv_planes(x, w, 1, 0, 1, 1)";
    static const char none[] = "a convolution runs on cuda:0 as kernels, because cuDNN has no algorithm for it with "
                               "the same bits each time, in full precision and 64 MB";
    qs_vm *vm = open_machine("cuda");
    run(vm, begin);
    math->no_algorithm = 1;
    for (int k = 0; k < 2; k++) {
        forget();
        run(vm, plain);
        CHECK(!strstr(math->log, "DnnForward ") && (strstr(math->log, "Order") == NULL) == k);
        CHECK(k ? !*said : strstr(said, none) != NULL);
    }
    close_machine(vm);
    setenv("QUASAR_LIBRARIES", "never", 1);
    vm = open_machine("cuda");
    run(vm, begin);
    run(vm, plain);
    CHECK(!*math->log && strstr(said, "a convolution runs on cuda:0 as kernels, as QUASAR_LIBRARIES=never says"));
    close_machine(vm);
    unsetenv("QUASAR_LIBRARIES");
    setenv("QUASAR_CUDNN", "/nowhere.so", 1);
    vm = open_machine("cuda");
    run(vm, begin);
    run(vm, plain);
    CHECK(!*math->log && strstr(said, "as kernels, because QUASAR_CUDNN: /nowhere.so: cannot open"));
    close_machine(vm);
    setenv("QUASAR_CUDNN", FAKE_CUDA_MATH, 1);
}

/* Each call failing once: a failure before work is queued, or out of memory, falls back to kernels; others are
 * errors. */
static bool layer_with_failure(const char *text, long n, int error, bool memory) {
    qs_vm *vm = open_machine("cuda");
    run(vm, "x = randn(2,3,8,8)\nw = randn(4,3,3,3)\nb = randn(1,4)\ndy = randn(2,4,6,6)");
    math->fail_after = n, math->fail_with = error;
    qs_status s = qs_eval(vm, text, NULL);
    const char *at = math->failed;
    bool failed = *at, runs = !strcmp(at, "DnnForward") || !strcmp(at, "DnnInput") || !strcmp(at, "DnnWeights") ||
                              !strcmp(at, "DnnAdd") || !strcmp(at, "DnnSetStream");
    bool unsupported = error == 9 || error == 3000;
    if (!failed || memory || !runs || (unsupported && strcmp(at, "DnnSetStream"))) CHECK(s == QS_OK);
    else CHECK(s == QS_EDEVICE && strstr(error_of(vm), at) && strstr(error_of(vm), "Fake GPU: cuDNN: "));
    if (failed && s == QS_OK && !memory) CHECK(strstr(said, "as kernels, because ") && strstr(said, at));
    if (failed && error == 5000 && !strcmp(at, "DnnForward"))
        CHECK_TEXT(error_of(vm), "Fake GPU: cuDNN: DnnForward: CUDNN_STATUS_EXECUTION_FAILED (5000)");
    qs_error_clear(vm);
    math->fail_after = -1;
    run(vm, text);
    close_machine(vm);
    return failed;
}

static void layer_failures(void) {
    static const char input[] = "r = conv_planes_input(dy, w, [2,3,8,8], 1, 0, 1, 1)";
    static const char weights[] = "r = conv_planes_weights(x, dy, [4,3,3,3], 1, 0, 1, 1)";
    static const char forward[] = "r = conv_planes(x, w, 1, 0, 1, 1, b)";
    static const struct {
        const char *text;
        int error;
        bool memory;
    } each[] = {{forward, 5000, false}, {forward, 3000, false}, {input, 2, true},
                {input, 8, false},      {weights, 4004, true},  {weights, 9, false}};
    char folder[] = "/tmp/quasar-cuda-XXXXXX";
    CHECK((kept = mkdtemp(folder)) != NULL); /* the code of kernels */
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        long n = 0;
        while (layer_with_failure(each[i].text, n, each[i].error, each[i].memory)) n++;
        CHECK(n >= 17);
    }
    kept = "";
    shell("rm -r %s", folder);
}

/* If an iteration does not converge, the CPU takes over, with a message. */
static void no_convergence(void) {
    setenv("QUASAR_LIBRARIES", "always", 1);
    qs_vm *vm = open_machine("cuda");
    run(vm, "a = randn(90,60)\ns = a*transpose(a)\nn = a.*nan\n");
    math->info = 7;
    forget();
    run(vm, "v = svd(a)");
    CHECK(strstr(math->log, "Sgesvd ") &&
          strstr(said, "svd runs on cpu:0, because cuSOLVER's iteration did not converge (info 7)"));
    forget();
    run(vm, "v = symeig(s)");
    CHECK(strstr(math->log, "Ssyevd ") && strstr(said, "symeig runs on cpu:0, because cuSOLVER's iteration did not"));
    CHECK(qs_eval(vm, "svd(n)", NULL) == QS_EVALUE);
    CHECK_TEXT(error_of(vm), "svd: M holds nan or inf");
    qs_error_clear(vm);
    math->info = 0; /* nan need not be noticed */
    for (int i = 0; i < 2; i++) {
        forget();
        CHECK(qs_eval(vm, i ? "symeig(n[0..59,:])" : "svd(n)", NULL) == QS_EVALUE);
        CHECK(strstr(math->log, i ? "Ssyevd " : "Sgesvd ") && strstr(error_of(vm), i ? "symeig: " : "svd: "));
        qs_error_clear(vm);
    }
    math->info = -3;
    CHECK(qs_eval(vm, "svd(a)", NULL) == QS_EDEVICE);
    CHECK_TEXT(error_of(vm), "Fake GPU: cuSOLVER: argument 3 of a factorization is wrong");
    qs_error_clear(vm);
    close_machine(vm);
    unsetenv("QUASAR_LIBRARIES");
}

static void fails(qs_vm *vm, const char *text, const char *error) {
    CHECK(qs_eval(vm, text, NULL) == QS_EVALUE);
    CHECK_TEXT(error_of(vm), error);
    qs_error_clear(vm);
}

/* The CPU decides about matrices that the device cannot factor: the error is the same. */
static void no_factors(void) {
    qs_vm *vm = open_machine("cuda");
    run(vm, "a = eye(400)\na[6,6] = 0\nb = eye(400)\nb[9,9] = -1");
    forget();
    fails(vm, "inv(a)", "inv: the matrix is singular");
    CHECK(strstr(math->log, "Sgetrf ") && !strstr(math->log, "Sgetrs "));
    fails(vm, "solve(a, b)", "solve: the matrix is singular");
    forget();
    fails(vm, "chol(b)", "chol: the matrix is not positive definite (leading minor 10)");
    CHECK(strstr(math->log, "Spotrf ") && !strstr(math->log, "Strttp "));
    run(vm, "[r, info] = chol_ex(b)\n[q, good] = chol_ex(eye(400))");
    CHECK(holds(vm, "info == 10 && good == 0 && sum(r) == 0 && sum(q) == 400"));
    close_machine(vm);
}

/* The handle, stream and workspace are created once, in this order; a plan once for each layout. */
static void order(void) {
    qs_vm *vm = open_machine("cuda");
    run(vm, "a = randn(200,200)\nb = a*a");
    CHECK_TEXT(math->log, "BlasCreate BlasSetStream BlasSetWorkspace Sgemm ");
    forget();
    run(vm, "c = b*b");
    CHECK_TEXT(math->log, "Sgemm ");
    CHECK(!strstr(fake->log, "Memcpy")); /* b was not moved */
    forget();
    run(vm, "f = fft2(c)\ng = fft2(b)");
    CHECK_TEXT(math->log, "FftCreate FftOwnArea FftMakePlan FftSetStream FftSetArea Scopy FftC2C "
                          "FftSetArea Scopy FftC2C ");
    close_machine(vm);
}

/* Small operations on host arrays stay on the host; on device arrays they do not. */
static void choices(void) {
    qs_vm *vm = open_machine("cuda");
    run(vm, "a = randn(300,300)\ns = ones(8,8)\nb = a*a");
    CHECK(strstr(said, "* runs on cuda:0, which ends soonest: cpu:0 ") && strstr(said, "0.36 MB are copied there"));
    forget();
    run(vm, "t = s*s");
    CHECK(!*math->log && strstr(said, "* runs on cpu:0, which ends soonest"));
    close_machine(vm);
    setenv("QUASAR_CUBLAS", "/nowhere.so", 1);
    vm = open_machine("cuda");
    run(vm, "a = randn(300,300)\nb = a*a");
    CHECK(!*math->log && strstr(said, "* runs on cpu:0, because QUASAR_CUBLAS: /nowhere.so: cannot open"));
    close_machine(vm);
    setenv("QUASAR_CUBLAS", FAKE_CUDA_MATH, 1), setenv("QUASAR_CUSOLVER", "/nowhere.so", 1);
    vm = open_machine("cuda");
    run(vm, "a = randn(300,300)\nb = inv(a)");
    CHECK(!*math->log && strstr(said, "inv runs on cpu:0, because QUASAR_CUSOLVER: /nowhere.so: cannot open"));
    close_machine(vm);
    setenv("QUASAR_CUSOLVER", FAKE_CUDA_MATH, 1);
}

/* The library that a product reports if the contents of a folder are all that is known of libraries. */
static const char *product_with(const char *variable, const char *folder) {
    qs_vm *vm;
    setenv(variable, folder, 1);
    vm = open_machine("cuda");
    run(vm, "a = randn(300,300)\nb = a*a");
    close_machine(vm);
    unsetenv(variable);
    return said;
}

static bool is_found(const char *variable, const char *folder, const char *below, const char *file) {
    shell("mkdir -p %s/%s && ln -s %s %s/%s/%s", folder, below, FAKE_CUDA_MATH, folder, below, file);
    bool found = strstr(product_with(variable, folder), "* runs on cuda:0") != NULL;
    shell("rm %s/%s/%s", folder, below, file);
    return found;
}

/* In a toolkit, or in packages of Python; not for a newer CUDA than the driver's (12.4). */
static void places(void) {
    static const char package[] = "lib/python3.11/site-packages/nvidia/cublas/lib";
    char folder[] = "/tmp/quasar-cuda-XXXXXX", path[4096];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/bin:%.4000s", folder, getenv("PATH"));
    unsetenv("QUASAR_CUBLAS");
    if (strstr(product_with("CUDA_HOME", folder), "because cuBLAS for CUDA 12 or older is not installed")) {
        CHECK(is_found("CUDA_HOME", folder, "lib64", "libcublas.so.12"));
        CHECK(is_found("CUDA_PATH", folder, "lib", "libcublas.so.11"));
        CHECK(!is_found("CUDA_HOME", folder, "lib64", "libcublas.so.13"));
        CHECK(is_found("VIRTUAL_ENV", folder, package, "libcublas.so.12"));
        shell("mkdir %s/bin && ln -s /bin/sh %s/bin/python3", folder, folder);
        setenv("PATH", path, 1); /* the home of the python3 that it finds */
        CHECK(is_found("NOTHING", folder, package, "libcublas.so.12"));
        setenv("PATH", strchr(path, ':') + 1, 1);
    } else printf("skipped: where cuBLAS is looked for, because it is installed here\n");
    setenv("QUASAR_CUBLAS", FAKE_CUDA_MATH, 1);
    shell("rm -r %s", folder);
}

/* The --explain message begins with the line of the script, and a profile has a row for each calling line. */
static void lines(void) {
    static const char text[] = "function [] = work(a)\n    b = a*a\n    c = inv(b)\nend\n"
                               "a = randn(300,300)\nfor i = 1..3\n    work(a)\nend\nd = inv(a)\n";
    qs_vm *vm = open_machine("cuda");
    Text table;
    qtext_init(&table, qvm_ctx(vm));
    qreport_begin(vm, NULL, true);
    CHECK(qs_load(vm, "lines.q", text, sizeof text - 1) == QS_OK);
    CHECK(strstr(said, "lines.q:2: * runs on cuda:0") && strstr(said, "lines.q:3: inv runs on cuda:0"));
    CHECK(qreport_profile(vm, &table) == QS_OK);
    CHECK(row_of(table.s, "* lines.q:2 ") == 3 && row_of(table.s, "inv lines.q:3 ") == 3);
    CHECK(row_of(table.s, "inv lines.q:9 ") == 1);
    if (check_failed) printf("%s%s", said, table.s);
    qtext_free(&table);
    close_machine(vm);
}

/* Each library call failing once: an error that names it or, out of memory, a fallback to the CPU. */
static int no_memory(const char *call) {
    bool blas = !strncmp(call, "Blas", 4) || strstr(call, "gemm") || strstr(call, "geam") || strstr(call, "ttr") ||
                strstr(call, "ttp") || strstr(call, "copy") || strstr(call, "scal");
    return blas ? 3 : 2;
}

static bool with_failure(const char *text, long n, int error) {
    qs_vm *vm = open_machine("cuda");
    run(vm, "a = randn(128,128) + 30.*eye(128)\nb = randn(160,5)\nd = 9.*eye(160)\np = 9.*eye(250)\n"
            "g = randn(30,20)\nh = g[0..19,:] + transpose(g[0..19,:])");
    math->fail_after = n, math->fail_with = error;
    qs_status s = qs_eval(vm, text, NULL);
    bool failed = *math->failed, told = strstr(error_of(vm), math->failed) != NULL;
    bool useless = !strcmp(math->failed, "BlasCreate") || !strcmp(math->failed, "SolverCreate");
    if (!failed || useless || error == no_memory(math->failed)) CHECK(s == QS_OK);
    else CHECK(s == QS_EDEVICE && told && strstr(error_of(vm), "Fake GPU: cu"));
    if (failed && error == 13 && !strcmp(math->failed, "Sgemm"))
        CHECK_TEXT(error_of(vm), "Fake GPU: cuBLAS: Sgemm: CUBLAS_STATUS_EXECUTION_FAILED (13)");
    if (failed && error == 3 && !strcmp(math->failed, "Sgetrs"))
        CHECK_TEXT(error_of(vm), "Fake GPU: cuSOLVER: Sgetrs: CUSOLVER_STATUS_INVALID_VALUE (3)");
    qs_error_clear(vm);
    math->fail_after = -1;
    run(vm, text); /* started work is repeated, or was complete */
    close_machine(vm);
    return failed;
}

/* If a library is out of memory, memory kept for reuse is released and the call repeated once; then the CPU takes over,
 * with a message. */
static void no_room(void) {
    qs_vm *vm = open_machine("cuda");
    run(vm, "a = randn(128,128) + 30.*eye(128)\nb = a*a\nb = 0");
    math->fail_after = 2, math->fail_with = 2; /* FftMakePlan */
    forget();
    run(vm, "c = fft2(a)");
    CHECK_TEXT(math->failed, "FftMakePlan");
    CHECK(strstr(math->log, "FftMakePlan FftDestroy FftCreate FftOwnArea FftMakePlan "));
    CHECK(strstr(fake->log, "MemFree ") != NULL);
    CHECK(!strstr(said, "because"));
    math->full = "FftMakePlan";
    forget();
    run(vm, "d = fft1(a)");
    CHECK(strstr(said, "fft runs on cpu:0, because Fake GPU: cuFFT: FftMakePlan: CUFFT_ALLOC_FAILED (2)"));
    math->full = "Sgetrf";
    forget();
    run(vm, "d = inv(a)");
    CHECK(strstr(said, "inv runs on cpu:0, because Fake GPU: cuSOLVER: Sgetrf: CUSOLVER_STATUS_ALLOC_FAILED (2)"));
    close_machine(vm);
}

/* A library that cannot make a handle counts as missing. */
static void useless(void) {
    static const struct {
        const char *text, *why;
    } of[] = {
        {"b = a*a", "* runs on cpu:0, because cuBLAS cannot be used: BlasCreate: CUBLAS_STATUS_NOT_INITIALIZED (1)"},
        {"b = fft2(a)", "fft runs on cpu:0, because cuBLAS cannot be used: BlasCreate: CUBLAS_STATUS_NOT_INITIALIZED"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        qs_vm *vm = open_machine("cuda");
        run(vm, "a = randn(300,300)");
        math->fail_after = 0, math->fail_with = 1;
        run(vm, of[i].text);
        CHECK(strstr(said, of[i].why));
        math->fail_after = -1;
        forget();
        run(vm, of[i].text);
        CHECK(!*math->log && !*said);
        close_machine(vm);
    }
}

static void failures(void) {
    static const int errors[] = {13, 3, 2};
    static const struct {
        const char *text;
        long calls;
    } of[] = {{"r = ifft2(a*a)", 8},
              {"r = solve(d, b)", 11},
              {"r = inv(a)", 9},
              {"r = chol(p)", 10},
              {"[q, r] = qr(g)", 10},
              {"[u, s, v] = svd(g)", 8},
              {"[u, s, v] = svd(transpose(g))", 10},
              {"r = symeig(h)", 8}};
    setenv("QUASAR_LIBRARIES", "always", 1);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
            long n = 0;
            while (with_failure(of[k].text, n, errors[i])) n++;
            CHECK(n >= of[k].calls);
        }
    unsetenv("QUASAR_LIBRARIES");
}

/* Each call of the driver failing once, for want of memory or otherwise. */
static bool with_driver_failure(const char *text, long n, int error) {
    qs_vm *vm = open_machine("cuda");
    run(vm, "a = randn(128,128) + 30.*eye(128)");
    fake->fail_after = n, fake->fail_with = error;
    bool ended = qs_eval(vm, text, NULL) == QS_OK, failed = fake->fail_after < 0;
    if (!failed || error == 2) CHECK(ended);
    fake->fail_after = -1;
    qs_error_clear(vm);
    close_machine(vm);
    return failed;
}

static void driver_failures(void) {
    static const int errors[] = {1, 2};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        long n = 0;
        while (with_driver_failure("r = inv(a)", n, errors[i])) n++;
        CHECK(n > 8);
    }
}

/* The result is a new array without memory: a graph cannot record it. */
static void recording(void) {
    qs_vm *vm = open_machine("cuda");
    run(vm, "a = randn(200,200)\nb = a*a");
    fake->capturing = 1;
    forget();
    CHECK(qs_eval(vm, "c = a*b", NULL) == QS_ELOCK && strstr(error_of(vm), "has no memory yet on Fake GPU"));
    qs_error_clear(vm);
    CHECK(qs_eval(vm, "c = inv(a)", NULL) == QS_ELOCK && strstr(error_of(vm), "has no memory yet on Fake GPU"));
    qs_error_clear(vm);
    CHECK(qs_eval(vm, "c = fft2(a)", NULL) == QS_ELOCK && strstr(error_of(vm), "has no memory yet on Fake GPU"));
    qs_error_clear(vm);
    setenv("QUASAR_LIBRARIES", "always", 1);
    CHECK(qs_eval(vm, "c = svd(a)", NULL) == QS_EDEVICE);
    CHECK_TEXT(error_of(vm), "a factorization would have to come to the host, and a CUDA graph is being recorded on "
                             "Fake GPU");
    unsetenv("QUASAR_LIBRARIES");
    CHECK(!*math->log && !fake->misuse);
    qs_error_clear(vm);
    fake->capturing = 0;
    close_machine(vm);
}

int main(void) {
    void *driver = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL), *lib = dlopen(FAKE_CUDA_MATH, RTLD_NOW | RTLD_LOCAL);
    FakeCuda *(*get)(void);
    FakeMath *(*get_math)(void);
    CHECK(driver && lib);
    if (!driver || !lib) return printf("%s\n", dlerror()), check_done();
    *(void **)(void *)&get = dlsym(driver, "fake_cuda"), *(void **)(void *)&get_math = dlsym(lib, "fake_math");
    fake = get(), math = get_math();
    setenv("QUASAR_CUDA", FAKE_CUDA, 1);
    setenv("QUASAR_CUBLAS", FAKE_CUDA_MATH, 1), setenv("QUASAR_CUFFT", FAKE_CUDA_MATH, 1);
    setenv("QUASAR_CUSOLVER", FAKE_CUDA_MATH, 1), setenv("QUASAR_CUDNN", FAKE_CUDA_MATH, 1);
    setenv("QUASAR_CUDA_WITHOUT", "elements", 1); /* kernels do nothing on this driver */
    products();
    transforms();
    systems();
    cholesky();
    factorizations();
    layers();
    layers_order();
    layers_by_kernels();
    layer_failures();
    no_convergence();
    no_factors();
    order();
    choices();
    places();
    lines();
    useless();
    no_room();
    failures();
    driver_failures();
    recording();
    return check_done();
}
