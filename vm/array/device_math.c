/* device_math.c -- decides between device and processor by estimating both times, and calls the device's libraries.
 *
 *     device    = cost of a launch + bytes to copy to the device / bandwidth + operations / rate of the device
 *     processor = bytes to copy to the host / bandwidth + operations / (rate of a thread * threads)
 *
 * The bandwidth is the value measured by earlier launches, if there is one.  The rates are typical values.  They need
 * not be exact: it matters only that small matrices on the host are not copied to a device for a product. */
#include "vm/array/device_math.h"
#include "devices/heap.h"
#include "vm/value/hooks.h"
#include "vm/value/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Costs are in nanoseconds, the bandwidth in bytes per nanosecond, rates in operations per nanosecond: device_rate of a
 * device, the others of a processor thread.  column_cost: per column that a device factors. */
static const double launch_cost = 2e4, usual_bandwidth = 4;
static const double device_rate = 2000, product_rate = 16, fft_rate = 1;
static const double lapack_rate = 6, column_cost = 2e3;

typedef struct {
    const char *what;
    DevLibrary libraries[2];
    int nlibraries;
    Array *in[3];
    int nin;
    double operations, rate; /* rate: operations per nanosecond of a processor thread */
    double columns;          /* number of columns that depend on each other */
    enum {
        LIBRARY,
        ALONG,
        OR_KERNELS
    } way; /* LIBRARY: only a library can do it.  ALONG: kernels without a library, reported separately by --explain.
            * OR_KERNELS: a library, or else kernels */
} Job;

static double bytes_away(const Job *j, int memory) {
    double bytes = 0;
    for (int i = 0; i < j->nin; i++) {
        const Buffer *b = j->in[i]->buf;
        bool counted = i > 0 && j->in[0]->buf == b;
        if (!counted && !qbuf_is_in(b, memory)) bytes += (double)b->nbytes;
    }
    return bytes;
}

static double bandwidth(qs_vm *vm, const Device *d) {
    double measured = qlaunch_hooks(vm)->bandwidth(vm, d);
    return measured > 0 ? measured : usual_bandwidth;
}

static double on_device(qs_vm *vm, const Job *j, const Device *d) {
    return launch_cost + bytes_away(j, d->memory) / bandwidth(vm, d) + j->operations / device_rate +
           j->columns * column_cost;
}

static double on_processor(qs_vm *vm, const Job *j, const Device *d) {
    double threads = qvm(vm)->devices[0].threads > 0 ? qvm(vm)->devices[0].threads : 1;
    return bytes_away(j, HOST_MEMORY) / bandwidth(vm, d) + j->operations / (j->rate * threads);
}

static const char *missing_library(const Job *j, Device *d) {
    const char *why = NULL;
    for (int i = 0; i < j->nlibraries && !why; i++) why = d->math->missing(d, j->libraries[i]);
    return why;
}

/* -- reports of --explain ------------------------------------------------------------------------------------------ */
/* The user's choice for all calls: QUASAR_LIBRARIES. */
typedef enum { SOONEST, ALWAYS, NEVER } Wish;

static Wish wish(void) {
    const char *s = getenv("QUASAR_LIBRARIES");
    return !s ? SOONEST : !strcmp(s, "always") ? ALWAYS : !strcmp(s, "never") ? NEVER : SOONEST;
}

static void put_choice(qs_vm *vm, const Job *j, const Device *d, const char *why_not, bool there, Text *t) {
    const Device *at = there || j->way == OR_KERNELS ? d : &qvm(vm)->devices[0];
    const char *how = j->way != OR_KERNELS ? "" : there ? " by cuDNN" : " as kernels";
    double bytes = bytes_away(j, at->memory);
    Where here = qvm_here(vm);
    int line, column;
    if (here.src) {
        qsource_line_col(here.src, here.pos, &line, &column);
        qtext_printf(t, "%s:%d: ", here.src->path, line);
    }
    qtext_printf(t, "%s runs on %s:%d%s", j->what, at->ops->kind, at->ordinal, how);
    if (why_not) qtext_printf(t, ", because %s", why_not);
    else if (wish() != SOONEST) qtext_printf(t, ", as QUASAR_LIBRARIES=%s says", wish() == ALWAYS ? "always" : "never");
    else if (j->way != OR_KERNELS)
        qtext_printf(t, ", which ends soonest: %s:%d %.3g ms, %s:%d %.3g ms", qvm(vm)->devices[0].ops->kind, 0,
                     on_processor(vm, j, d) * 1e-6, d->ops->kind, d->ordinal, on_device(vm, j, d) * 1e-6);
    if (bytes > 0) qtext_printf(t, "; %.3g MB are copied there", bytes / 1e6);
    qtext_putc(t, '\n');
}

/* Reports a choice if it differs from the last one for the same library, or for work that needs no library. */
static void explain_choice(qs_vm *vm, const Job *j, const Device *d, const char *why_not, bool there) {
    int slot = j->nlibraries ? (int)j->libraries[0] : LIB__COUNT + (j->way == ALONG);
    uint8_t *reported = &qvm(vm)->reported_math[slot], now = there ? 2 : 1;
    Text t;
    if (!qvm(vm)->config.explain || *reported == now) return;
    *reported = now;
    qtext_init(&t, qvm_ctx(vm));
    put_choice(vm, j, d, why_not, there, &t);
    qvm_diagnostic(vm, t.s, t.len);
    qtext_free(&t);
}

/* -- the choice ---------------------------------------------------------------------------------------------------- */
/* Returns the device whose libraries may be used: the one that runs kernels, or with `auto` the first with libraries.
 * */
static Device *candidate(qs_vm *vm) {
    const Machine *m = qvm(vm);
    if (!m->device) return NULL; /* no device was requested: use the processor */
    for (int i = 0; m->automatic && i < m->ndevices; i++)
        if (m->devices[i].math) return &m->devices[i];
    return m->device->math ? m->device : NULL;
}

/* Reports that the device of kernels does not do this work, so that its arrays are copied to the processor. */
static void report_away(qs_vm *vm, const Job *j, const char *reason) {
    const Device *d = qvm(vm)->automatic ? NULL : qvm(vm)->device;
    char why[80];
    if (!d || d->memory == HOST_MEMORY) return;
    snprintf(why, sizeof why, "%s:%d %s", d->ops->kind, d->ordinal, reason);
    explain_choice(vm, j, d, why, false);
}

/* Returns the device that runs kernels; with `auto` the one that holds the array, if the host does not. */
static Device *device_of_kernels(qs_vm *vm, const Array *a) {
    Machine *m = qvm(vm);
    if (!m->automatic) return m->device;
    for (int i = 0; i < m->ndevices && qbuf_is_away(a->buf); i++)
        if (a->buf->valid & 1u << m->devices[i].memory) return &m->devices[i];
    return NULL;
}

bool qdevmath_by_kernels(qs_vm *vm, const char *what, Array *a, Array *b, double index) {
    const Device *d = device_of_kernels(vm, a);
    const Job j = {.what = what, .in = {a, b}, .nin = 2};
    if (!d || (d->memory == HOST_MEMORY && wish() != ALWAYS)) return false;
    if (index > INT32_MAX) return report_away(vm, &j, "counts elements in 32 bits"), false;
    if (d->wide || wish() == ALWAYS) return true;
    return report_away(vm, &j, "is a processor, too"), false;
}

static bool is_away(qs_value v) { return v.kind == QS_ARRAY && qbuf_is_away(qval_array(v)->buf); }

void qdevmath_look_again(Machine *m) { m->held = HELD_UNKNOWN; }

int qdevmath_decide(Machine *m) {
    m->held = wish() == ALWAYS ? HELD_ALWAYS : HELD_NEVER;
    for (int i = 0; i < m->ndevices && m->held == HELD_NEVER; i++)
        if (m->devices[i].memory != HOST_MEMORY) m->held = HELD_MAYBE;
    return m->held;
}

Device *qdevmath_holder(qs_vm *vm, int n, const qs_value *args) {
    Device *d;
    int at = 0;
    while (at < n && !is_away(args[at])) at++;
    if (qdevmath_held(qvm(vm)) == HELD_ALWAYS && (d = qvm(vm)->device)) return d->elements || !d->wide ? d : NULL;
    d = at < n ? device_of_kernels(vm, qval_array(args[at])) : NULL;
    return d && d->memory != HOST_MEMORY && d->elements ? d : NULL;
}

bool qdevmath_refused(qs_vm *vm, Device *d, const char *what, Array *a, qs_status s) {
    const Job j = {.what = what, .in = {a}, .nin = 1, .way = ALONG};
    char why[400];
    if ((s != QS_ENOMEM && s != QS_EDEVICE) || qvm_ctx(vm)->err.late || qdev_is_recording(d)) return false;
    snprintf(why, sizeof why, "%.399s", qvm_ctx(vm)->err.text);
    qerr_clear(qvm_ctx(vm));
    return explain_choice(vm, &j, d, why, false), true;
}

static Device *choose_device(qs_vm *vm, const Job *j) {
    Device *d = candidate(vm);
    if (!d) return report_away(vm, j, "has no library for it"), NULL;
    const char *why_not = missing_library(j, d);
    bool sooner = wish() == SOONEST ? on_device(vm, j, d) < on_processor(vm, j, d) : wish() == ALWAYS;
    bool there = !why_not && sooner;
    explain_choice(vm, j, d, why_not, there);
    return there ? d : NULL;
}

/* -- operands ------------------------------------------------------------------------------------------------------ */
static DevPtr element_address(const Array *a, DevPtr block) {
    return block + a->offset * qdtype_size((qs_dtype)a->dtype);
}

static qs_status hold(qs_vm *vm, Device *d, Array *a, qs_access mode, DevPtr *at) {
    DevPtr block;
    if (qtape_forbids(vm, a)) return qtrace(vm)->forbidden(vm);
    qs_status s = qbuf_lock(qvm_ctx(vm), a->buf, d, mode, &block);
    if (s != QS_OK) return qarr_lock_failed(vm, a, NULL, s);
    return *at = element_address(a, block), QS_OK;
}

static qs_status let_go(qs_vm *vm, Device *d, Array *a, qs_access mode, qs_status s) {
    return qbuf_leave(qvm_ctx(vm), a->buf, d, mode, s);
}

static double bytes_of(const Array *a) { return (double)a->count * (double)qdtype_size((qs_dtype)a->dtype); }

/* Ends a call after all operands were locked: reports time and bytes; r is the result. */
static qs_status finished(qs_vm *vm, Device *d, const Job *j, const Array *r, double start, qs_status s) {
    double bytes = bytes_of(r);
    for (int i = 0; i < j->nin; i++) bytes += bytes_of(j->in[i]);
    const char *row = j->way == OR_KERNELS ? "cuDNN" : j->what;
    return s == QS_OK ? qlaunch_hooks(vm)->call_ended(vm, d, row, start, bytes, j->operations) : s;
}

/* -- running ------------------------------------------------------------------------------------------------------- */
typedef qs_status Work(qs_vm *vm, Device *d, const Job *j, void *of, Array *r);

/* Returns whether the processor must do the work, because the device is out of memory or its library has turned out to
 * be unusable.  Any other failure is an error. */
static bool is_left(qs_vm *vm, Device *d, const Job *j, qs_status s) {
    char text[400];
    const char *why = missing_library(j, d);
    if ((!why && s != QS_ENOMEM) || qvm_ctx(vm)->err.late) return false;
    snprintf(text, sizeof text, "%.399s", why ? why : qvm_ctx(vm)->err.text);
    qerr_clear(qvm_ctx(vm));
    explain_choice(vm, j, d, text, false);
    return true;
}

bool qdevmath_left(qs_vm *vm, const char *what, Array *a, Array *b, qs_status s) {
    return s != QS_OK && is_left(vm, &qvm(vm)->devices[0], &(Job){.what = what, .in = {a, b}, .nin = 2}, s);
}

/* Runs the work on the device.  Libraries allocate outside our heap, so on failure the heap releases its unused memory
 * and the work is tried again.  *done false: the processor must do it. */
static qs_status run_work(qs_vm *vm, Device *d, const Job *j, Work *work, void *of, Array *r, bool *done) {
    qs_status s = work(vm, d, j, of, r);
    if (s == QS_ENOMEM) {
        qerr_clear(qvm_ctx(vm));
        qheap_trim(d);
        s = work(vm, d, j, of, r);
    }
    *done = s == QS_OK;
    return !*done && is_left(vm, d, j, s) ? QS_OK : s;
}

/* Like run_work, for a call whose result is *out, which becomes NULL if the processor must do it. */
static qs_status run_into(qs_vm *vm, Device *d, const Job *j, Work *work, void *of, Array **out) {
    bool done;
    qs_status s = run_work(vm, d, j, work, of, *out, &done);
    if (!done) qarr_release(vm, *out), *out = NULL;
    return s;
}

/* -- products ------------------------------------------------------------------------------------------------------ */
/* Determines the layout of a matrix for BLAS: contiguous rows, or contiguous columns (*turned), with leading dimension
 * *apart; false: neither. */
static bool lies(const Array *a, int64_t rows, int64_t cols, int64_t *apart, bool *transposed) {
    int64_t across = a->strides[a->rank - 1], down = a->rank > 1 ? a->strides[0] : 0;
    if (rows == 1 || a->rank == 1) down = cols * (across > 1 ? across : 1);
    if (cols == 1) across = 1;
    *transposed = across != 1;
    *apart = *transposed ? across : down;
    int64_t least = *transposed ? rows : cols;
    if (*transposed && rows > 1 && down != 1) return false;
    return *apart >= least && *apart <= INT32_MAX;
}

static bool is_float(const Array *a) { return a->dtype >= QS_F32; }

static qs_status multiply_on(qs_vm *vm, Device *d, const Job *j, void *of, Array *r) {
    DevGemm *g = of;
    Array *a = j->in[0], *b = j->in[1];
    double start;
    TRY(hold(vm, d, a, QS_READ, &g->a));
    qs_status s = hold(vm, d, b, QS_READ, &g->b);
    if (s == QS_OK) {
        s = hold(vm, d, r, QS_WRITE, &g->c);
        if (s == QS_OK) {
            s = qlaunch_hooks(vm)->call_begins(vm, d, &start);
            if (s == QS_OK) s = finished(vm, d, j, r, start, d->math->gemm(d, g));
            s = let_go(vm, d, r, QS_WRITE, s);
        }
        s = let_go(vm, d, b, QS_READ, s);
    }
    return let_go(vm, d, a, QS_READ, s);
}

qs_status qdevmath_product(qs_vm *vm, Array *a, Array *b, GemmSize of, Array **out) {
    Device *d;
    int64_t m = of.m, n = of.n, k = of.k;
    DevGemm g = {.dtype = (qs_dtype)a->dtype, .m = m, .n = n, .k = k};
    double complex_work = a->dtype >= QS_C64 ? 4 : 1;
    Job j = {"*",          {LIB_BLAS}, 1,      {a, b}, 2, 2.0 * (double)m * (double)n * (double)k * complex_work,
             product_rate, 0,          LIBRARY};
    *out = NULL;
    bool fits = m && n && k && m <= INT32_MAX && n <= INT32_MAX && k <= INT32_MAX && a->dtype == b->dtype;
    if (!fits || !is_float(a) || !lies(a, m, k, &g.lda, &g.ta) || !lies(b, k, n, &g.ldb, &g.tb)) return QS_OK;
    if (!(d = choose_device(vm, &j))) return QS_OK;
    TRY(qarr_new(vm, g.dtype, 2, (int64_t[]){m, n}, false, out));
    return run_into(vm, d, &j, multiply_on, &g, out);
}

/* -- transforms ---------------------------------------------------------------------------------------------------- */
static bool describe_fft(const Array *a, int ndims, const int64_t *dims, int first, int rank, bool inverse, DevFft *f) {
    *f = (DevFft){.wide = a->dtype == QS_F64 || a->dtype == QS_C128, .inverse = inverse, .inner = 1, .outer = 1};
    if (rank > ndims - first) rank = ndims - first;
    for (int i = 0; i < first && i < ndims; i++) f->outer *= dims[i];
    for (int i = first; i < first + rank; i++)
        if (dims[i] > 1) f->n[f->rank++] = dims[i];
    for (int i = first + rank; i < ndims; i++) f->inner *= dims[i];
    return f->rank && is_float(a) && a->contiguous && a->count && a->count <= INT32_MAX / 2;
}

static qs_status transform(Device *d, const Array *a, DevPtr from, DevFft *f) {
    if (a->dtype < QS_C64) f->real = from;
    else TRY(d->ops->copy(d, f->data, from, a->count * qdtype_size((qs_dtype)a->dtype)));
    return d->math->fft(d, f);
}

static qs_status transform_on(qs_vm *vm, Device *d, const Job *j, void *of, Array *r) {
    DevFft *f = of;
    Array *a = j->in[0];
    DevPtr from = 0;
    double start;
    TRY(hold(vm, d, a, QS_READ, &from));
    qs_status s = hold(vm, d, r, QS_WRITE, &f->data);
    if (s == QS_OK) {
        s = qlaunch_hooks(vm)->call_begins(vm, d, &start);
        if (s == QS_OK) s = finished(vm, d, j, r, start, transform(d, a, from, f));
        s = let_go(vm, d, r, QS_WRITE, s);
    }
    return let_go(vm, d, a, QS_READ, s);
}

/* Returns the usual estimate of operations for an FFT, 5 n log2 n. */
static double operations_of(const Array *a, const DevFft *f) {
    double steps = 0;
    for (int i = 0; i < f->rank; i++)
        for (int64_t n = f->n[i]; n > 1; n /= 2) steps++;
    return 5 * (double)a->count * steps;
}

qs_status qdevmath_fft(qs_vm *vm, Array *a, int ndims, const int64_t *dims, int first, int rank, bool inverse,
                       Array **out) {
    DevFft f;
    Device *d;
    *out = NULL;
    if (!describe_fft(a, ndims, dims, first, rank, inverse, &f)) return QS_OK;
    Job j = {"fft", {LIB_FFT, LIB_BLAS}, 2, {a}, 1, operations_of(a, &f), fft_rate, 0, LIBRARY};
    if (!(d = choose_device(vm, &j))) return QS_OK;
    TRY(qarr_like(vm, a, qdtype_complex_of((qs_dtype)a->dtype), out));
    return run_into(vm, d, &j, transform_on, &f, out);
}

/* -- systems of equations ------------------------------------------------------------------------------------------ */
static int64_t rows_of(const Array *a) { return a->rank > 1 ? a->dims[0] : 1; }

static bool lies_as_matrix(const Array *a, int64_t *apart, bool *transposed) {
    return is_float(a) && a->rank <= 2 && a->count && a->count <= INT32_MAX &&
           lies(a, rows_of(a), a->dims[a->rank - 1], apart, transposed);
}

static qs_status solve_held(qs_vm *vm, Device *d, const Job *j, DevSolve *s, Array *r) {
    double start;
    TRY(hold(vm, d, r, QS_WRITE, &s->x));
    qs_status status = qlaunch_hooks(vm)->call_begins(vm, d, &start);
    if (status == QS_OK) status = finished(vm, d, j, r, start, d->math->solve(d, s));
    return let_go(vm, d, r, QS_WRITE, status);
}

static qs_status solve_on(qs_vm *vm, Device *d, const Job *j, void *of, Array *r) {
    DevSolve *s = of;
    Array *a = j->in[0], *b = j->in[1]; /* b NULL: no right-hand side */
    TRY(hold(vm, d, a, QS_READ, &s->a));
    qs_status status = b ? hold(vm, d, b, QS_READ, &s->b) : QS_OK;
    if (status == QS_OK) {
        status = solve_held(vm, d, j, s, r);
        if (b) status = let_go(vm, d, b, QS_READ, status);
    }
    return let_go(vm, d, a, QS_READ, status);
}

/* solving: operations are n^3 * factor plus n^2 * column for each column of the result. */
static const char singular[] = "cuSOLVER finds the matrix singular";
static const struct {
    const char *what;
    double factor, column;
    const char *no_factors;
} solving[] = {[SOLVE_SYSTEM] = {"solve", 2.0 / 3, 2, singular},
               [SOLVE_INVERSE] = {"inv", 2.0 / 3, 2, singular},
               [SOLVE_CHOLESKY] = {"chol", 1.0 / 3, 0, "cuSOLVER finds the matrix not positive definite"}};

static qs_status solve(qs_vm *vm, DevSolveKind kind, Array *a, Array *b, Array **out) {
    Device *d;
    DevSolve s = {.kind = kind, .dtype = (qs_dtype)a->dtype, .n = rows_of(a)};
    *out = NULL;
    if (!lies_as_matrix(a, &s.lda, &s.ta) || a->dims[a->rank - 1] != s.n) return QS_OK;
    if (b && (b->dtype != a->dtype || !lies_as_matrix(b, &s.ldb, &s.tb) || rows_of(b) != s.n)) return QS_OK;
    s.columns = b ? b->dims[b->rank - 1] : s.n;
    double n = (double)s.n, complex_work = a->dtype >= QS_C64 ? 4 : 1;
    double operations = n * n * (n * solving[kind].factor + (double)s.columns * solving[kind].column) * complex_work;
    Job j = {solving[kind].what, {LIB_SOLVER, LIB_BLAS}, 2, {a, b}, b ? 2 : 1, operations, lapack_rate, n, LIBRARY};
    if (!(d = choose_device(vm, &j))) return QS_OK;
    TRY(qarr_new(vm, s.dtype, 2, (int64_t[]){s.n, s.columns}, false, out));
    TRY(run_into(vm, d, &j, solve_on, &s, out));
    if (!s.info || !*out) return QS_OK;
    explain_choice(vm, &j, d, solving[kind].no_factors, false);
    qarr_release(vm, *out), *out = NULL;
    return QS_OK;
}

qs_status qdevmath_solve(qs_vm *vm, Array *a, Array *b, Array **out) { return solve(vm, SOLVE_SYSTEM, a, b, out); }
qs_status qdevmath_inverse(qs_vm *vm, Array *a, Array **out) { return solve(vm, SOLVE_INVERSE, a, NULL, out); }
qs_status qdevmath_cholesky(qs_vm *vm, Array *a, Array **out) { return solve(vm, SOLVE_CHOLESKY, a, NULL, out); }

/* -- factorizations ------------------------------------------------------------------------------------------------ */
static qs_status factor_held(qs_vm *vm, Device *d, const Job *j, DevFactor *f) {
    double start;
    TRY(qlaunch_hooks(vm)->call_begins(vm, d, &start));
    TRY(d->math->factor(d, f));
    return qlaunch_hooks(vm)->call_ended(vm, d, j->what, start, bytes_of(j->in[0]), j->operations);
}

static qs_status factor_on(qs_vm *vm, Device *d, const Job *j, void *of, Array *r) {
    DevFactor *f = of;
    (void)r;
    TRY(hold(vm, d, j->in[0], QS_READ, &f->a));
    return let_go(vm, d, j->in[0], QS_READ, factor_held(vm, d, j, f));
}

/* values, all: operations divided by m n min(m, n), for the singular or eigenvalues alone, and for all parts.  wait:
 * cost of the dependence between columns, relative to LU; iterative methods process each column many times. */
static const struct {
    double values, all, wait;
} factoring[] = {[FACTOR_LU] = {2.0 / 3, 2.0 / 3, 1},
                 [FACTOR_QR] = {2, 4, 7},
                 [FACTOR_SVD] = {4, 20, 200},
                 [FACTOR_EIGEN] = {4.0 / 3, 9, 30}};

qs_status qdevmath_factor(qs_vm *vm, const char *what, Array *a, DevFactor *f, bool *done) {
    char why[100];
    Device *d;
    *done = false;
    if (!lies_as_matrix(a, &f->lda, &f->ta)) return QS_OK;
    f->dtype = (qs_dtype)a->dtype, f->m = rows_of(a), f->n = a->dims[a->rank - 1];
    double m = (double)f->m, n = (double)f->n, k = m < n ? m : n, complex_work = a->dtype >= QS_C64 ? 4 : 1;
    double each = f->left ? factoring[f->kind].all : factoring[f->kind].values;
    Job j = {what,        {LIB_SOLVER, LIB_BLAS},      2,      {a}, 1, each * m * n * k * complex_work,
             lapack_rate, k * factoring[f->kind].wait, LIBRARY};
    if (!(d = choose_device(vm, &j))) return QS_OK;
    TRY(run_work(vm, d, &j, factor_on, f, NULL, done));
    if (!*done || f->kind == FACTOR_LU || !f->info) return QS_OK;
    snprintf(why, sizeof why, "cuSOLVER's iteration did not converge (info %d)", f->info);
    explain_choice(vm, &j, d, why, *done = false);
    return QS_OK;
}

/* -- convolutions -------------------------------------------------------------------------------------------------- */
static qs_status convolve_held(qs_vm *vm, Device *d, const Job *j, DevConv *c, DevPtr *to, Array *r) {
    double start;
    TRY(hold(vm, d, r, QS_WRITE, to));
    qs_status s = qlaunch_hooks(vm)->call_begins(vm, d, &start);
    if (s == QS_OK) s = d->math->convolve(d, c);
    if (!c->refused) s = finished(vm, d, j, r, start, s);
    return let_go(vm, d, r, QS_WRITE, s);
}

static qs_status convolve_on(qs_vm *vm, Device *d, const Job *j, void *of, Array *r) {
    DevConv *c = of;
    DevPtr *const at[][4] = {[CONV_FORWARD] = {&c->x, &c->w, &c->bias, &c->y},
                             [CONV_INPUT] = {&c->y, &c->w, NULL, &c->x},
                             [CONV_WEIGHTS] = {&c->x, &c->y, NULL, &c->w}};
    qs_status s = QS_OK;
    int held = 0;
    while (held < j->nin && (s = hold(vm, d, j->in[held], QS_READ, at[c->of.kind][held])) == QS_OK) held++;
    if (s == QS_OK) s = convolve_held(vm, d, j, c, at[c->of.kind][3], r);
    while (held > 0) held--, s = let_go(vm, d, j->in[held], QS_READ, s);
    return s;
}

/* Returns two operations for each pair of an element of y and a weight. */
static double operations_of_convolution(const DevConvShape *of) {
    double n = 2;
    for (int i = 0; i < 4; i++) n *= (double)of->y[i] * (i ? (double)of->w[i] : 1);
    return n;
}

static qs_status new_result(qs_vm *vm, const DevConvShape *of, qs_dtype dtype, Array **out) {
    const int *n = of->kind == CONV_FORWARD ? of->y : of->kind == CONV_INPUT ? of->x : of->w;
    if (of->kind != CONV_INPUT) return qarr_new(vm, dtype, 4, (int64_t[]){n[0], n[1], n[2], n[3]}, false, out);
    return qarr_new(vm, dtype, 3, (int64_t[]){(int64_t)n[0] * n[1], n[2], n[3]}, false, out);
}

qs_status qdevmath_convolve(qs_vm *vm, const char *what, DevConv *c, Array *const in[3], Array **out) {
    Device *d = device_of_kernels(vm, in[0]);
    Job j = {.what = what,
             .libraries = {LIB_DNN},
             .nlibraries = 1,
             .in = {in[0], in[1], in[2]},
             .nin = in[2] ? 3 : 2,
             .operations = operations_of_convolution(&c->of),
             .way = OR_KERNELS};
    *out = NULL;
    if (!d || !d->math) return QS_OK;
    if (wish() == NEVER) return explain_choice(vm, &j, d, NULL, false), QS_OK;
    const char *why = missing_library(&j, d);
    if (why) c->refused = why;
    if (!c->refused) {
        TRY(new_result(vm, &c->of, (qs_dtype)in[0]->dtype, out));
        TRY(run_into(vm, d, &j, convolve_on, c, out));
        if (!*out) return QS_OK; /* already reported */
    }
    explain_choice(vm, &j, d, c->refused, !c->refused);
    if (c->refused && *out) qarr_release(vm, *out), *out = NULL;
    return QS_OK;
}
