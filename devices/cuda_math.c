/* cuda_math.c -- implements cuda_math.h with cuBLAS, cuFFT, cuSOLVER and cuDNN.
 *
 * The language stores matrices row by row, cuBLAS column by column, which is the transpose.  So a*b is
 * computed as transpose(b)*transpose(a), without copies.
 *
 * cuSOLVER factors in place, so it gets a copy, which it sees transposed.  A system is solved with the transposed
 * factors; the inverse is correct without a transposition; and cuSOLVER's lower Cholesky factor is our upper one.  Only
 * a right side with several columns must be transposed, by cuBLAS.  If a matrix has no factorization, the host repeats
 * the computation and decides in float64.  qr, svd and symeig replace only the LAPACK routine: the factors are copied
 * to the host in column-major order, which is cheap compared to the O(n^3) factorization, and stdlib/linalg.c continues
 * as for the host.
 *
 * cuDNN uses the layout of our images, N x C x H x W.  Only algorithms that sum the products directly and in a fixed
 * order are used.  Transforms (Winograd, FFT) round differently, and spread a NaN to results that do not depend on it.
 * TF32 is not used.  The descriptor interface is that of cuDNN 8, which cuDNN 9 still supports.
 *
 * Work space is allocated from the device's heap.  One block serves all FFT plans, because the queue is in order.
 * Graphs cannot record these calls, because their results are new arrays, which have no memory yet. */
#include "devices/cuda_math.h"
#include "devices/heap.h"
#include "devices/nvidia.h"
#include "vm/base/dtype.h"
#include "vm/base/dynlib.h"
#include "vm/base/str.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
#define CUMATH(lib, name, symbol, args) int(*name) args;
#include "devices/cuda_math.def"
} Api;

enum { /* constants of the libraries: CUBLAS_OP_N, … */
#define CUNUMBER(lib, name, number, symbol) name = number,
#include "devices/cuda_math.def"
};

enum { PLANS = 8, CONVOLUTIONS = 64 };
enum { BLAS_AREA = 4 << 20, HOPPER = 90, HOPPER_BLAS_AREA = 32 << 20 }; /* recommended work space of cuBLAS in bytes */

typedef struct {
    DevFft of;
    int plan;
    size_t area;
    bool made;
} Plan; /* of: layout of the data */

enum { IMAGES, WEIGHTS, RESULTS, BIAS, DESCRIPTORS };
typedef struct {
    DevConvShape of;
    bool made;
    const char *refused; /* reason why cuDNN does not support it; NULL: supported, and the other members are valid */
    void *is[DESCRIPTORS], *conv;
    int algorithm;
    size_t area;
} Convolution;

struct CudaMath {
    Api f;
    int driver; /* newest CUDA version that the driver supports; 12040 means 12.4 */
    bool tried[LIB__COUNT];
    const char *missing[LIB__COUNT];
    void *blas, *solver, *dnn; /* handles */
    DevPtr blas_block, area;
    size_t area_bytes;
    Plan plan[PLANS];
    unsigned next_plan; /* counts new plans; modulo PLANS, the index of the plan to replace next */
    Convolution convolution[CONVOLUTIONS];
    unsigned next; /* counts new convolutions likewise */
};

/* -- the libraries ------------------------------------------------------------------------------------------------- */
/* version: file version for each element of cuda_versions; least: minimum version for the error message */
typedef struct {
    const char *title, *variable, *file;
    int version[3];
    const char *least;
} Library;
static const int cuda_versions[] = {13, 12, 11};
static const Library libraries[LIB__COUNT] = {
    [LIB_BLAS] = {"cuBLAS", "QUASAR_CUBLAS", "libcublas.so", {13, 12, 11}, "CUDA 11"},
    [LIB_FFT] = {"cuFFT", "QUASAR_CUFFT", "libcufft.so", {12, 11, 10}, "CUDA 11"},
    [LIB_SOLVER] = {"cuSOLVER", "QUASAR_CUSOLVER", "libcusolver.so", {12, 11, 10}, "CUDA 11"},
    [LIB_DNN] = {"cuDNN", "QUASAR_CUDNN", "libcudnn.so", {9, 9, 8}, "cuDNN 8"}};
enum { VERSIONS = sizeof cuda_versions / sizeof *cuda_versions };

enum { REASON = 400 };

static const char *because(Device *d, const char *format, ...) {
    char text[REASON];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return qstr_cname(d->ctx, text)->s;
}

/* Opens a library that is already loaded in the process. */
static bool used_library(OpenedLibrary *o, const char *name) {
    return (o->lib = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) != NULL;
}

static bool found_library(OpenedLibrary *o, const char *name) {
    static const char *const folders[] = {"%s/lib64", "%s/lib", "%s/lib/python3*/site-packages/nvidia/*/lib",
                                          "%s/lib/python3*/dist-packages/nvidia/*/lib"};
    return qdynlib_take(o, name) || qnvidia_find(folders, sizeof folders / sizeof *folders, name, qdynlib_take, o);
}

static bool open_version(OpenedLibrary *o, const Library *s, int i, bool (*open_it)(OpenedLibrary *, const char *)) {
    char name[40];
    snprintf(name, sizeof name, "%s.%d", s->file, s->version[i]);
    return open_it(o, name);
}

/* Opens the library.  A version that is already loaded in the process (by PyTorch, say) is preferred: it works with the
 * driver, and may be where the loader does not search.  Otherwise only versions for the driver's CUDA or older are
 * tried. */
static void *open_library(Device *d, int driver, const Library *s, const char **why) {
    const char *named = getenv(s->variable);
    OpenedLibrary o = {0};
    if (named && *named) {
        void *lib = dlopen(named, RTLD_NOW | RTLD_LOCAL);
        if (!lib) *why = because(d, "%s: %s", s->variable, dlerror());
        return lib;
    }
    for (int i = 0; i < VERSIONS && !o.lib; i++) open_version(&o, s, i, used_library);
    for (int i = 0; i < VERSIONS && !o.lib; i++)
        if (cuda_versions[i] <= driver / 1000) open_version(&o, s, i, found_library);
    if (!o.lib && *o.why) *why = because(d, "%s cannot be opened: %s", s->title, o.why);
    else if (!o.lib) *why = because(d, "%s for CUDA %d or older is not installed", s->title, driver / 1000);
    return o.lib;
}

/* Opens a library and looks up its functions; returns the reason for a failure, or NULL.  The library is never closed,
 * because others in the process may use it. */
static const char *load_library(Device *d, CudaMath *m, DevLibrary which) {
    const char *why = NULL;
    bool complete = true;
    Api *f = &m->f;
    void *lib = open_library(d, m->driver, &libraries[which], &why);
    if (!lib) return why;
        /* POSIX lets a function address travel in a void *; C has no cast for it. */
#define CUMATH(library, name, symbol, args)                                                                            \
    if (LIB_##library == which) *(void **)(void *)&f->name = dlsym(lib, symbol), complete = complete && f->name;
#include "devices/cuda_math.def"
    return complete ? NULL : because(d, "%s is older than %s", libraries[which].title, libraries[which].least);
}

CudaMath *qcudamath_open(Device *d, int driver) {
    CudaMath *m = qmem_alloc(d->ctx, sizeof *m);
    m->driver = driver;
    return m;
}

/* cuBLAS is opened before cuDNN, which needs it and may not find it itself. */
const char *qcudamath_missing(Device *d, CudaMath *m, DevLibrary lib) {
    if (lib == LIB_DNN) (void)qcudamath_missing(d, m, LIB_BLAS);
    if (!m->tried[lib]) m->tried[lib] = true, m->missing[lib] = load_library(d, m, lib);
    return m->missing[lib];
}

static qs_status present(Device *d, CudaMath *m, DevLibrary lib) {
    const char *why = qcudamath_missing(d, m, lib);
    return why ? qerr_set(d->ctx, QS_EDEVICE, "%s: %s", qdev_name(d), why) : QS_OK;
}

enum { LIB_DNN8 = LIB_DNN, LIB_DNN9 = LIB_DNN }; /* the status codes of cuDNN 8 and 9 are disjoint */

static const char *status_name(DevLibrary which, int status) {
#define CUSTATUS(library, number, name)                                                                                \
    if ((DevLibrary)LIB_##library == which && status == number) return name;
#include "devices/cuda_math.def"
    return "an error without a name";
}

/* Returns whether a status means out of memory; all libraries have ALLOC in its name. */
static bool is_no_memory(DevLibrary which, int status) { return strstr(status_name(which, status), "ALLOC") != NULL; }

static qs_status checked(Device *d, DevLibrary which, const char *call, int status) {
    if (!status) return QS_OK;
    return qerr_set(d->ctx, is_no_memory(which, status) ? QS_ENOMEM : QS_EDEVICE, "%s: %s: %s: %s (%d)", qdev_name(d),
                    libraries[which].title, call, status_name(which, status), status);
}
#define CALL(d, m, lib, name, ...) checked(d, LIB_##lib, #name, (m)->f.name(__VA_ARGS__))

/* Checks the creation of a handle.  If it fails, the library does not work with the driver or in this process, and is
 * treated as missing. */
static qs_status created(Device *d, CudaMath *m, DevLibrary which, const char *call, int status) {
    if (status && !is_no_memory(which, status))
        m->missing[which] = because(d, "%s cannot be used: %s: %s (%d)", libraries[which].title, call,
                                    status_name(which, status), status);
    return checked(d, which, call, status);
}

/* -- handles ------------------------------------------------------------------------------------------------------- */
typedef struct {
    const char *of; /* prefix of the names of its functions */
    void **at;
    int (*make)(void **), (*set_stream)(void *, void *), (*drop)(void *);
} Handle;

static Handle handle(CudaMath *m, DevLibrary which) {
#define HANDLE(Of, at)                                                                                                 \
    (Handle) { #Of, &m->at, m->f.Of##Create, m->f.Of##SetStream, m->f.Of##Destroy }
    return which == LIB_BLAS ? HANDLE(Blas, blas) : which == LIB_SOLVER ? HANDLE(Solver, solver) : HANDLE(Dnn, dnn);
#undef HANDLE
}

static void drop_handle(CudaMath *m, DevLibrary which) {
    Handle h = handle(m, which);
    if (*h.at) h.drop(*h.at), *h.at = NULL;
}

static qs_status give_blas_area(Device *d, CudaMath *m) {
    size_t area = atoi(d->arch + strlen("sm_")) >= HOPPER ? HOPPER_BLAS_AREA : BLAS_AREA;
    if (!m->blas_block) TRY(qheap_get(d, area, &m->blas_block));
    return CALL(d, m, BLAS, BlasSetWorkspace, m->blas, m->blas_block, area);
}

/* Creates the handle of a library on first use, and destroys it if the stream or work space cannot be set. */
static qs_status have(Device *d, CudaMath *m, DevLibrary which, void *stream) {
    char call[32];
    Handle h = handle(m, which);
    TRY(present(d, m, which));
    if (*h.at) return QS_OK;
    snprintf(call, sizeof call, "%sCreate", h.of);
    TRY(created(d, m, which, call, h.make(h.at)));
    snprintf(call, sizeof call, "%sSetStream", h.of);
    qs_status s = checked(d, which, call, h.set_stream(*h.at, stream));
    if (s == QS_OK && which == LIB_BLAS) s = give_blas_area(d, m);
    if (s != QS_OK) drop_handle(m, which);
    return s;
}

/* -- cuBLAS -------------------------------------------------------------------------------------------------------- */
qs_status qcudamath_gemm(Device *d, CudaMath *m, void *stream, const DevGemm *g) {
    static const float f1[2] = {1, 0}, f0[2] = {0, 0};
    static const double d1[2] = {1, 0}, d0[2] = {0, 0};
    TRY(have(d, m, LIB_BLAS, stream));
#define PRODUCT(name, one, zero)                                                                                       \
    CALL(d, m, BLAS, name, m->blas, g->tb, g->ta, (int)g->n, (int)g->m, (int)g->k, one, g->b, (int)g->ldb, g->a,       \
         (int)g->lda, zero, g->c, (int)g->n)
    switch (g->dtype) {
    case QS_F32: return PRODUCT(Sgemm, f1, f0);
    case QS_F64: return PRODUCT(Dgemm, d1, d0);
    case QS_C64: return PRODUCT(Cgemm, f1, f0);
    default: return PRODUCT(Zgemm, d1, d0);
    }
#undef PRODUCT
}

/* -- cuFFT --------------------------------------------------------------------------------------------------------- */
static bool same_layout(const DevFft *a, const DevFft *b) {
    return a->wide == b->wide && a->rank == b->rank && a->inner == b->inner && a->outer == b->outer &&
           !memcmp(a->n, b->n, (size_t)a->rank * sizeof *a->n);
}

static int64_t count_elements(const DevFft *f) {
    int64_t n = 1;
    for (int i = 0; i < f->rank; i++) n *= f->n[i];
    return n;
}

/* Returns whether `inner` interleaved arrays form the batch of a plan; otherwise the `outer` consecutive arrays do. */
static bool side_by_side(const DevFft *f) { return f->inner > 1; }

static qs_status set_up(Device *d, CudaMath *m, void *stream, Plan *p) {
    const DevFft *f = &p->of;
    int type = f->wide ? FFT_Z2Z : FFT_C2C, batch = (int)(side_by_side(f) ? f->inner : f->outer);
    int n[3] = {1, 1, 1}, stride = (int)f->inner, apart = side_by_side(f) ? 1 : (int)count_elements(f);
    for (int i = 0; i < f->rank; i++) n[i] = (int)f->n[i];
    TRY(CALL(d, m, FFT, FftOwnArea, p->plan, 0));
    TRY(CALL(d, m, FFT, FftMakePlan, p->plan, f->rank, n, n, stride, apart, n, stride, apart, type, batch, &p->area));
    return CALL(d, m, FFT, FftSetStream, p->plan, stream);
}

static void drop_plan(CudaMath *m, Plan *p) {
    if (p->made) m->f.FftDestroy(p->plan);
    p->made = false;
}

static qs_status make_plan(Device *d, CudaMath *m, void *stream, const DevFft *f, Plan **out) {
    Plan *p = &m->plan[m->next_plan++ % PLANS];
    drop_plan(m, p);
    *p = (Plan){.of = *f};
    TRY(CALL(d, m, FFT, FftCreate, &p->plan));
    p->made = true;
    qs_status s = set_up(d, m, stream, p);
    if (s != QS_OK) drop_plan(m, p);
    return *out = p, s;
}

static qs_status find_plan(Device *d, CudaMath *m, void *stream, const DevFft *f, Plan **out) {
    for (int i = 0; i < PLANS; i++)
        if (m->plan[i].made && same_layout(&m->plan[i].of, f)) return *out = &m->plan[i], QS_OK;
    return make_plan(d, m, stream, f, out);
}

static qs_status have_area(Device *d, CudaMath *m, size_t n) {
    if (n <= m->area_bytes) return QS_OK;
    if (m->area) qheap_put(d, m->area, m->area_bytes);
    m->area = 0, m->area_bytes = 0;
    TRY(qheap_get(d, n, &m->area));
    return m->area_bytes = n, QS_OK;
}

/* Copies real input to the real parts of the data, which are all zero. */
static qs_status copy_real_parts(Device *d, CudaMath *m, const DevFft *f, int count) {
    if (!f->real) return QS_OK;
    return f->wide ? CALL(d, m, BLAS, Dcopy, m->blas, count, f->real, 1, f->data, 2)
                   : CALL(d, m, BLAS, Scopy, m->blas, count, f->real, 1, f->data, 2);
}

static qs_status execute(Device *d, CudaMath *m, const Plan *p, const DevFft *f) {
    int direction = f->inverse ? FFT_INVERSE : FFT_FORWARD;
    int64_t step = count_elements(f) * f->inner * (f->wide ? 16 : 8), times = side_by_side(f) ? f->outer : 1;
    for (int64_t i = 0; i < times; i++) {
        DevPtr at = f->data + (DevPtr)(i * step);
        TRY(f->wide ? CALL(d, m, FFT, FftZ2Z, p->plan, at, at, direction)
                    : CALL(d, m, FFT, FftC2C, p->plan, at, at, direction));
    }
    return QS_OK;
}

static qs_status divide_by_extent(Device *d, CudaMath *m, const DevFft *f, int count) {
    double by = 1 / (double)count_elements(f);
    float near = (float)by;
    if (!f->inverse) return QS_OK;
    return f->wide ? CALL(d, m, BLAS, Zdscal, m->blas, count, &by, f->data, 1)
                   : CALL(d, m, BLAS, Csscal, m->blas, count, &near, f->data, 1);
}

qs_status qcudamath_fft(Device *d, CudaMath *m, void *stream, const DevFft *f) {
    Plan *p = NULL;
    int count = (int)(count_elements(f) * f->inner * f->outer);
    TRY(have(d, m, LIB_BLAS, stream));
    TRY(present(d, m, LIB_FFT));
    TRY(find_plan(d, m, stream, f, &p));
    TRY(have_area(d, m, p->area));
    TRY(CALL(d, m, FFT, FftSetArea, p->plan, m->area));
    TRY(copy_real_parts(d, m, f, count));
    TRY(execute(d, m, p, f));
    return divide_by_extent(d, m, f, count);
}

/* -- cuSOLVER ------------------------------------------------------------------------------------------------------ */
/* Parts of the work space of a call.  ROW: pivots, factors of reflections, or values; RIGHT: b, or the packed half. */
enum { ROW, INFO, COPY, LEFT, RIGHT, SPARE, AREA, PARTS };

typedef struct {
    size_t at[PARTS + 1];
    DevPtr block;
    int area;
} Room;

#define TYPED(lib, type, name, ...)                                                                                    \
    ((type) == QS_F32   ? CALL(d, m, lib, S##name, __VA_ARGS__)                                                        \
     : (type) == QS_F64 ? CALL(d, m, lib, D##name, __VA_ARGS__)                                                        \
     : (type) == QS_C64 ? CALL(d, m, lib, C##name, __VA_ARGS__)                                                        \
                        : CALL(d, m, lib, Z##name, __VA_ARGS__))

/* Copies `from`, or its transpose, to `to`, which is rows by columns. */
static qs_status copy_matrix(Device *d, CudaMath *m, qs_dtype type, int operation, int64_t rows, int64_t columns,
                             DevPtr from, int64_t apart, DevPtr to) {
    static const float f1[2] = {1, 0}, f0[2] = {0, 0};
    static const double d1[2] = {1, 0}, d0[2] = {0, 0};
    bool wide = type == QS_F64 || type == QS_C128;
    const void *one = wide ? (const void *)d1 : f1, *zero = wide ? (const void *)d0 : f0;
    return TYPED(BLAS, type, geam, m->blas, operation, PLAIN, (int)rows, (int)columns, one, from, (int)apart, zero, to,
                 (int)rows, to, (int)rows);
}

static qs_status get_room(Device *d, const size_t *size, Room *r) {
    enum { ALIGNED = 256 };
    for (int i = 0; i < PARTS; i++) r->at[i + 1] = (r->at[i] + size[i] + ALIGNED - 1) / ALIGNED * ALIGNED;
    return qheap_get(d, r->at[PARTS], &r->block);
}

/* Frees the work space.  Queued work may still use it, since later uses are queued behind. */
static void put_room(Device *d, const Room *r) { qheap_put(d, r->block, r->at[PARTS]); }

static DevPtr part_address(const Room *r, int which) { return r->block + r->at[which]; }

static qs_status read_part(Device *d, const Room *r, int which, size_t n, void *to) {
    return to ? d->ops->download(d, to, r->block, r->at[which], n) : QS_OK;
}

static qs_status read_info(Device *d, const Room *r, int *info) { return read_part(d, r, INFO, sizeof *info, info); }

/* -- systems of equations ------------------------------------------------------------------------------------------ */
static qs_status get_solving_room(Device *d, CudaMath *m, const DevSolve *s, Room *r) {
    size_t count = (size_t)s->n, size = qdtype_size(s->dtype), columns = (size_t)s->columns;
    int n = (int)s->n;
    TRY(s->kind == SOLVE_CHOLESKY ? TYPED(SOLVER, s->dtype, potrfArea, m->solver, LOWER, n, s->x, n, &r->area)
                                  : TYPED(SOLVER, s->dtype, getrfArea, m->solver, n, n, s->x, n, &r->area));
    size_t right = s->kind == SOLVE_CHOLESKY                ? count * (count + 1) / 2
                   : s->kind == SOLVE_SYSTEM && columns > 1 ? count * columns
                                                            : 0;
    return get_room(d,
                    (size_t[PARTS]){[ROW] = count * sizeof(int),
                                    [INFO] = sizeof(int),
                                    [COPY] = count * count * size,
                                    [RIGHT] = right * size,
                                    [AREA] = (size_t)r->area * size},
                    r);
}

/* Solves with the factors of transpose(a).  For a system, the transposed solve is used with b in column-major order.
 * For an inverse, the solve with the identity gives the transposed inverse, which is the inverse in row-major order. */
static qs_status solve_factored(Device *d, CudaMath *m, const DevSolve *s, const Room *r) {
    int n = (int)s->n, columns = (int)s->columns;
    bool system = s->kind == SOLVE_SYSTEM, apart = system && columns > 1;
    DevPtr x = apart ? part_address(r, RIGHT) : s->x;
    if (system) TRY(copy_matrix(d, m, s->dtype, s->tb ? PLAIN : TRANSPOSED, n, columns, s->b, s->ldb, x));
    TRY(TYPED(SOLVER, s->dtype, getrs, m->solver, system ? TRANSPOSED : PLAIN, n, columns, part_address(r, COPY), n,
              part_address(r, ROW), x, n, part_address(r, INFO)));
    return apart ? copy_matrix(d, m, s->dtype, TRANSPOSED, columns, n, x, n, s->x) : QS_OK;
}

static qs_status eliminate(Device *d, CudaMath *m, qs_dtype type, int n, const Room *r, int *info) {
    TRY(TYPED(SOLVER, type, getrf, m->solver, n, n, part_address(r, COPY), n, part_address(r, AREA),
              part_address(r, ROW), part_address(r, INFO)));
    return read_info(d, r, info);
}

static qs_status by_elimination(Device *d, CudaMath *m, DevSolve *s, const Room *r) {
    TRY(eliminate(d, m, s->dtype, (int)s->n, r, &s->info));
    return s->info ? QS_OK : solve_factored(d, m, s, r);
}

/* Computes the Cholesky factor.  The lower factor of transpose(a) = conjugate(a) is x transposed.  It is copied to the
 * zeroed x through packed form, because the other half of the work copy still holds a. */
static qs_status by_cholesky(Device *d, CudaMath *m, DevSolve *s, const Room *r) {
    int n = (int)s->n;
    TRY(TYPED(SOLVER, s->dtype, potrf, m->solver, LOWER, n, part_address(r, COPY), n, part_address(r, AREA), r->area,
              part_address(r, INFO)));
    TRY(read_info(d, r, &s->info));
    if (s->info) return QS_OK;
    TRY(TYPED(BLAS, s->dtype, trttp, m->blas, LOWER, n, part_address(r, COPY), n, part_address(r, RIGHT)));
    return TYPED(BLAS, s->dtype, tpttr, m->blas, LOWER, n, part_address(r, RIGHT), s->x, n);
}

/* cuSOLVER factors in place, so it gets a copy of a, which it sees as transpose(a). */
qs_status qcudamath_solve(Device *d, CudaMath *m, void *stream, DevSolve *s) {
    Room r = {0};
    TRY(have(d, m, LIB_BLAS, stream));
    TRY(have(d, m, LIB_SOLVER, stream));
    TRY(get_solving_room(d, m, s, &r));
    qs_status status =
        copy_matrix(d, m, s->dtype, s->ta ? TRANSPOSED : PLAIN, s->n, s->n, s->a, s->lda, part_address(&r, COPY));
    if (status == QS_OK) status = s->kind == SOLVE_CHOLESKY ? by_cholesky(d, m, s, &r) : by_elimination(d, m, s, &r);
    put_room(d, &r);
    return status;
}

/* -- factorizations ------------------------------------------------------------------------------------------------ */
/* gesvd requires at least as many rows as columns, so a matrix with fewer rows is passed as its transpose. */
static bool is_flat(const DevFactor *f) { return f->kind == FACTOR_SVD && f->m < f->n; }
static int64_t shorter(const DevFactor *f) { return f->m < f->n ? f->m : f->n; }
static int64_t longer(const DevFactor *f) { return f->m < f->n ? f->n : f->m; }

static int vectors(const DevFactor *f) { return f->left ? VECTORS : VALUES; }

static qs_status ask_area(Device *d, CudaMath *m, const DevFactor *f, Room *r) {
    int rows = (int)f->m, columns = (int)f->n, k = (int)shorter(f), most = 0;
    switch (f->kind) {
    case FACTOR_LU: return TYPED(SOLVER, f->dtype, getrfArea, m->solver, rows, columns, f->a, rows, &r->area);
    case FACTOR_SVD: return TYPED(SOLVER, f->dtype, gesvdArea, m->solver, (int)longer(f), k, &r->area);
    case FACTOR_EIGEN:
        return TYPED(SOLVER, f->dtype, syevdArea, m->solver, vectors(f), LOWER, rows, f->a, rows, f->a, &r->area);
    default:
        TRY(TYPED(SOLVER, f->dtype, geqrfArea, m->solver, rows, columns, f->a, rows, &most));
        TRY(TYPED(SOLVER, f->dtype, orgqrArea, m->solver, rows, k, k, f->a, rows, f->a, &r->area));
        if (most > r->area) r->area = most;
        return QS_OK;
    }
}

static qs_status get_factoring_room(Device *d, CudaMath *m, const DevFactor *f, Room *r) {
    size_t size = qdtype_size(f->dtype), k = (size_t)shorter(f), most = (size_t)longer(f), all = k * most * size;
    bool sides = f->kind == FACTOR_SVD && f->left;
    TRY(ask_area(d, m, f, r));
    return get_room(d,
                    (size_t[PARTS]){[ROW] = k * size,
                                    [INFO] = sizeof(int),
                                    [COPY] = all,
                                    [LEFT] = sides ? all : 0,
                                    [RIGHT] = sides ? k * k * size : 0,
                                    [SPARE] = k * size,
                                    [AREA] = (size_t)r->area * size},
                    r);
}

static qs_status factor_lu(Device *d, CudaMath *m, DevFactor *f, const Room *r) {
    size_t n = (size_t)f->n;
    TRY(eliminate(d, m, f->dtype, (int)f->n, r, &f->info));
    TRY(read_part(d, r, COPY, n * n * qdtype_size(f->dtype), f->left));
    return read_part(d, r, ROW, n * sizeof(int), f->values);
}

static qs_status factor_qr(Device *d, CudaMath *m, DevFactor *f, const Room *r) {
    int rows = (int)f->m, columns = (int)f->n, k = (int)shorter(f);
    size_t column = (size_t)f->m * qdtype_size(f->dtype);
    TRY(TYPED(SOLVER, f->dtype, geqrf, m->solver, rows, columns, part_address(r, COPY), rows, part_address(r, ROW),
              part_address(r, AREA), r->area, part_address(r, INFO)));
    TRY(read_part(d, r, COPY, column * (size_t)f->n, f->right));
    TRY(TYPED(SOLVER, f->dtype, orgqr, m->solver, rows, k, k, part_address(r, COPY), rows, part_address(r, ROW),
              part_address(r, AREA), r->area, part_address(r, INFO)));
    TRY(read_info(d, r, &f->info));
    return read_part(d, r, COPY, column * (size_t)k, f->left);
}

/* Downloads a factor; for a flat matrix its transpose, computed into COPY, which is no longer needed. */
static qs_status read_side(Device *d, CudaMath *m, const DevFactor *f, const Room *r, int which, int64_t rows,
                           void *to) {
    int64_t k = shorter(f);
    if (is_flat(f))
        TRY(copy_matrix(d, m, f->dtype, TRANSPOSED, k, rows, part_address(r, which), rows, part_address(r, COPY)));
    return read_part(d, r, is_flat(f) ? COPY : which, (size_t)(rows * k) * qdtype_size(f->dtype), to);
}

static qs_status factor_svd(Device *d, CudaMath *m, DevFactor *f, const Room *r) {
    int most = (int)longer(f), k = (int)shorter(f);
    signed char wanted = f->left ? 'S' : 'N';
    TRY(TYPED(SOLVER, f->dtype, gesvd, m->solver, wanted, wanted, most, k, part_address(r, COPY), most,
              part_address(r, ROW), part_address(r, LEFT), most, part_address(r, RIGHT), k, part_address(r, AREA),
              r->area, part_address(r, SPARE), part_address(r, INFO)));
    TRY(read_info(d, r, &f->info));
    if (f->info) return QS_OK;
    TRY(read_part(d, r, ROW, (size_t)k * qdtype_size(qdtype_real_of(f->dtype)), f->values));
    if (!f->left) return QS_OK;
    TRY(read_side(d, m, f, r, LEFT, most, is_flat(f) ? f->right : f->left));
    return read_side(d, m, f, r, RIGHT, k, is_flat(f) ? f->left : f->right);
}

static qs_status factor_eigen(Device *d, CudaMath *m, DevFactor *f, const Room *r) {
    int n = (int)f->n;
    TRY(TYPED(SOLVER, f->dtype, syevd, m->solver, vectors(f), LOWER, n, part_address(r, COPY), n, part_address(r, ROW),
              part_address(r, AREA), r->area, part_address(r, INFO)));
    TRY(read_info(d, r, &f->info));
    if (f->info) return QS_OK;
    TRY(read_part(d, r, ROW, (size_t)n * qdtype_size(qdtype_real_of(f->dtype)), f->values));
    return read_part(d, r, COPY, (size_t)(f->n * f->n) * qdtype_size(f->dtype), f->left);
}

/* Factors a column-major copy of a in place. */
qs_status qcudamath_factor(Device *d, CudaMath *m, void *stream, DevFactor *f) {
    static qs_status (*const by[])(Device *, CudaMath *, DevFactor *, const Room *) = {
        [FACTOR_LU] = factor_lu, [FACTOR_QR] = factor_qr, [FACTOR_SVD] = factor_svd, [FACTOR_EIGEN] = factor_eigen};
    Room r = {0};
    TRY(have(d, m, LIB_BLAS, stream));
    TRY(have(d, m, LIB_SOLVER, stream));
    TRY(get_factoring_room(d, m, f, &r));
    int64_t rows = is_flat(f) ? f->n : f->m, columns = is_flat(f) ? f->m : f->n;
    qs_status s = copy_matrix(d, m, f->dtype, f->ta == is_flat(f) ? TRANSPOSED : PLAIN, rows, columns, f->a, f->lda,
                              part_address(&r, COPY));
    if (s == QS_OK) s = by[f->kind](d, m, f, &r);
    put_room(d, &r);
    if (s == QS_OK && f->info < 0)
        return qerr_set(d->ctx, QS_EDEVICE, "%s: cuSOLVER: argument %d of a factorization is wrong", qdev_name(d),
                        -f->info);
    return s;
}

/* -- cuDNN --------------------------------------------------------------------------------------------------------- */
/* Descriptors of the two operands and the result for each type of convolution. */
static const int operands[][3] = {[CONV_FORWARD] = {IMAGES, WEIGHTS, RESULTS},
                                  [CONV_INPUT] = {WEIGHTS, RESULTS, IMAGES},
                                  [CONV_WEIGHTS] = {IMAGES, RESULTS, WEIGHTS}};

#define OF_KIND(kind, name, ...)                                                                                       \
    ((kind) == CONV_FORWARD ? CALL(d, m, DNN, DnnForward##name, __VA_ARGS__)                                           \
     : (kind) == CONV_INPUT ? CALL(d, m, DNN, DnnInput##name, __VA_ARGS__)                                             \
                            : CALL(d, m, DNN, DnnWeights##name, __VA_ARGS__))

static void drop_convolution(CudaMath *m, Convolution *p) {
    for (int i = 0; i < DESCRIPTORS; i++)
        if (p->is[i]) i == WEIGHTS ? m->f.DnnDestroyFilter(p->is[i]) : m->f.DnnDestroyTensor(p->is[i]);
    if (p->conv) m->f.DnnDestroyConv(p->conv);
    *p = (Convolution){0};
}

/* Creates a tensor descriptor with four extents, packed except for the stride of the first axis. */
static qs_status tensor(Device *d, CudaMath *m, void **is, int type, const int n[4], int step) {
    TRY(CALL(d, m, DNN, DnnCreateTensor, is));
    return CALL(d, m, DNN, DnnSetTensor, *is, type, n[0], n[1], n[2], n[3], step, n[2] * n[3], n[3], 1);
}

static qs_status make_descriptors(Device *d, CudaMath *m, Convolution *p) {
    const DevConvShape *s = &p->of;
    int type = s->wide ? DNN_DOUBLE : DNN_FLOAT;
    TRY(tensor(d, m, &p->is[IMAGES], type, s->x, s->x_step));
    TRY(tensor(d, m, &p->is[RESULTS], type, s->y, s->y_step));
    TRY(tensor(d, m, &p->is[BIAS], type, (int[]){1, s->y[1], 1, 1}, s->y[1]));
    TRY(CALL(d, m, DNN, DnnCreateFilter, &p->is[WEIGHTS]));
    TRY(CALL(d, m, DNN, DnnSetFilter, p->is[WEIGHTS], type, DNN_NCHW, s->w[0], s->w[1], s->w[2], s->w[3]));
    TRY(CALL(d, m, DNN, DnnCreateConv, &p->conv));
    TRY(CALL(d, m, DNN, DnnSetConv, p->conv, s->pad[0], s->pad[1], s->stride[0], s->stride[1], s->dilation[0],
             s->dilation[1], DNN_NOT_FLIPPED, type));
    TRY(CALL(d, m, DNN, DnnSetGroups, p->conv, s->groups));
    return CALL(d, m, DNN, DnnSetMath, p->conv, DNN_FULL_MATH);
}

/* cudnnConvolutionFwdAlgoPerf_t, which has the same layout as its two counterparts for the adjoints. */
typedef struct {
    int algorithm, status;
    float time;
    size_t memory;
    int same_bits, math, reserved[3];
} Found;
_Static_assert(offsetof(Found, memory) == DNN_MEMORY_AT && offsetof(Found, math) == DNN_MATH_AT, "cuDNN's layout");
_Static_assert(sizeof(Found) == DNN_FORWARD_SIZE && sizeof(Found) == DNN_INPUT_SIZE &&
                   sizeof(Found) == DNN_WEIGHTS_SIZE,
               "cuDNN's layout");

enum { CONV_AREA = 64 << 20 }; /* maximum work space of a convolution in bytes */

static bool is_fit(int kind, const Found *f) {
    bool sums = kind == CONV_FORWARD
                    ? f->algorithm == DNN_IMPLICIT || f->algorithm == DNN_INDEXED || f->algorithm == DNN_EXPLICIT
                    : f->algorithm == (kind == CONV_INPUT ? DNN_INPUT_IMPLICIT : DNN_WEIGHTS_IMPLICIT);
    bool full = f->math == DNN_FULL_MATH || f->math == DNN_ANY_MATH; /* ANY: the math type of the descriptor */
    return sums && full && !f->status && f->same_bits == DNN_SAME_BITS && f->memory <= CONV_AREA;
}

static qs_status choose_algorithm(Device *d, CudaMath *m, Convolution *p) {
    enum { MOST = 16 };
    Found found[MOST];
    const int *of = operands[p->of.kind];
    int n = 0, i = 0;
    TRY(OF_KIND(p->of.kind, Order, m->dnn, p->is[of[0]], p->is[of[1]], p->conv, p->is[of[2]], MOST, &n, found));
    while (i < n && !is_fit(p->of.kind, &found[i])) i++;
    if (i == n)
        return qerr_set(d->ctx, QS_EDEVICE,
                        "cuDNN has no algorithm for it with the same bits each time, in full precision and %d MB",
                        CONV_AREA >> 20);
    p->algorithm = found[i].algorithm;
    return OF_KIND(p->of.kind, Area, m->dnn, p->is[of[0]], p->is[of[1]], p->conv, p->is[of[2]], p->algorithm, &p->area);
}

static const char *refusal(Device *d) {
    const char *why = because(d, "%.390s", d->ctx->err.text);
    return qerr_clear(d->ctx), why;
}

/* Creates the descriptors and chooses an algorithm.  If cuDNN does not support the sizes or strides, this is recorded
 * in `refused`, and the caller computes the convolution in another way. */
static qs_status plan_convolution(Device *d, CudaMath *m, const DevConvShape *of, Convolution **out) {
    Convolution *p = &m->convolution[m->next++ % CONVOLUTIONS];
    drop_convolution(m, p);
    p->of = *of, p->made = true;
    qs_status s = make_descriptors(d, m, p);
    if (s == QS_OK) s = choose_algorithm(d, m, p);
    if (s == QS_EDEVICE) p->refused = refusal(d), s = QS_OK;
    if (s != QS_OK) drop_convolution(m, p);
    return *out = p, s;
}

static qs_status find_convolution(Device *d, CudaMath *m, const DevConvShape *of, Convolution **out) {
    for (int i = 0; i < CONVOLUTIONS; i++)
        if (m->convolution[i].made && !memcmp(&m->convolution[i].of, of, sizeof *of))
            return *out = &m->convolution[i], QS_OK;
    return plan_convolution(d, m, of, out);
}

static qs_status run_convolution(Device *d, CudaMath *m, const Convolution *p, const DevConv *c, DevPtr area) {
    static const float f1 = 1, f0 = 0;
    static const double d1 = 1, d0 = 0;
    const void *one = p->of.wide ? (const void *)&d1 : &f1, *zero = p->of.wide ? (const void *)&d0 : &f0;
    const DevPtr at[] = {[IMAGES] = c->x, [WEIGHTS] = c->w, [RESULTS] = c->y};
    const int *of = operands[p->of.kind];
    TRY(OF_KIND(p->of.kind, , m->dnn, one, p->is[of[0]], at[of[0]], p->is[of[1]], at[of[1]], p->conv, p->algorithm,
                area, p->area, zero, p->is[of[2]], at[of[2]]));
    return c->bias ? CALL(d, m, DNN, DnnAdd, m->dnn, one, p->is[BIAS], c->bias, one, p->is[RESULTS], c->y) : QS_OK;
}

qs_status qcudamath_convolve(Device *d, CudaMath *m, void *stream, DevConv *c) {
    enum { ALIGNED = 16 };
    Convolution *p = NULL;
    DevPtr area = 0;
    TRY(have(d, m, LIB_DNN, stream));
    if ((c->x | c->w | c->y | c->bias) % ALIGNED) return c->refused = "an array does not begin at 16 bytes", QS_OK;
    TRY(find_convolution(d, m, &c->of, &p));
    if (p->refused) return c->refused = p->refused, QS_OK;
    if (p->area) TRY(qheap_get(d, p->area, &area));
    qs_status s = run_convolution(d, m, p, c, area);
    if (area) qheap_put(d, area, p->area);
    if (s == QS_EDEVICE && strstr(d->ctx->err.text, "NOT_SUPPORTED")) c->refused = p->refused = refusal(d), s = QS_OK;
    return s;
}

void qcudamath_close(Device *d, CudaMath *m, bool alive) {
    if (!m) return;
    for (int i = 0; alive && i < PLANS; i++) drop_plan(m, &m->plan[i]);
    for (int i = 0; alive && i < CONVOLUTIONS; i++) drop_convolution(m, &m->convolution[i]);
    for (DevLibrary lib = 0; alive && lib < LIB__COUNT; lib++)
        if (lib != LIB_FFT) drop_handle(m, lib);
    if (alive && m->area) d->ops->free(d, m->area); /* directly, because the heap is already closed */
    if (alive && m->blas_block) d->ops->free(d, m->blas_block);
    qmem_free(d->ctx, m, sizeof *m);
}
