/* fft.c -- computes discrete Fourier transforms, on the host unless a device has a library for them
 * (vm/array/device_math.c).
 *
 * The host uses mixed radix (2, 3, 4, 5, and primes up to 13 by definition), and Bluestein's algorithm for other
 * lengths. X[k] = sum over n of x[n] exp(-2 pi i k n/N); the inverse divides by N.
 *
 * A dimension is transformed in batches of LINES sequences that are interleaved in a small buffer, so that the
 * arithmetic runs over contiguous lines for any stride.  Sources: Stockham 1966; Bluestein 1970. */
#include "devices/threads.h"
#include "stdlib/builtins.h"
#include "vm/array/device_math.h"

#include <math.h>
#include <string.h>

enum { MAX_RADIX = 13, LINES = 16 };
typedef struct {
    int n, radix[64];
    size_t rest;
} Factors; /* rest > 1: n has a larger prime factor */

static Factors factorise(size_t n) {
    static const int radices[] = {4, 2, 3, 5, 7, 11, 13};
    Factors f = {0, {0}, n};
    for (size_t i = 0; i < sizeof radices / sizeof *radices; i++)
        for (; f.rest % (size_t)radices[i] == 0; f.rest /= (size_t)radices[i]) f.radix[f.n++] = radices[i];
    return f;
}

/* Computes exp(-2 pi i k/n) for k < n from an angle of at most 45 degrees: exact at multiples of 90 degrees, symmetric
 * elsewhere. */
static void unit_root(size_t k, size_t n, double *re, double *im) {
    double x = 4 * (double)k, quarter = (double)n, sign_re = 1, sign_im = -1;
    if (x > 2 * quarter) x = 4 * quarter - x, sign_im = 1;
    if (x > quarter) x = 2 * quarter - x, sign_re = -1;
    bool swap = 2 * x > quarter;
    double t = 1.57079632679489661923 * (swap ? quarter - x : x) / quarter, c = cos(t), s = sin(t);
    *re = sign_re * (swap ? s : c), *im = sign_im * (swap ? c : s);
}

/* Iterations write different elements.  gcc needs to be told; clang proves it with a runtime test. */
#ifdef __clang__
#define INDEPENDENT_LINES
#else
#define INDEPENDENT_LINES _Pragma("GCC ivdep")
#endif

/* -- batches ------------------------------------------------------------------------------------------------------- */
/* Positions of the lines of a contiguous complex array: element j of line k is at first(k) + j*inner. */
typedef struct {
    size_t n, inner, lines;
} Geometry;
static size_t first(const Geometry *g, size_t line) { return line / g->inner * g->inner * g->n + line % g->inner; }

/* An inverse transform is a forward one whose real and imaginary parts are exchanged before and after. */
#define GATHER(name, FROM, TO, SPLIT)                                                                                  \
    static void name(const Geometry *g, const FROM *src, size_t line, size_t lines, bool inverse, SPLIT to) {          \
        for (size_t l = 0; l < lines; l++) {                                                                           \
            const FROM *p = src + 2 * first(g, line + l);                                                              \
            TO *re = inverse ? to.im : to.re, *im = inverse ? to.re : to.im;                                           \
            for (size_t j = 0; j < g->n; j++)                                                                          \
                re[j * lines + l] = (TO)p[2 * j * g->inner], im[j * lines + l] = (TO)p[2 * j * g->inner + 1];          \
        }                                                                                                              \
    }
#define SCATTER(name, FROM, TO, SPLIT)                                                                                 \
    static void name(const Geometry *g, SPLIT from, size_t line, size_t lines, bool inverse, TO *dst) {                \
        FROM scale = inverse ? 1 / (FROM)g->n : 1;                                                                     \
        for (size_t l = 0; l < lines; l++) {                                                                           \
            TO *p = dst + 2 * first(g, line + l);                                                                      \
            const FROM *re = inverse ? from.im : from.re, *im = inverse ? from.re : from.im;                           \
            for (size_t j = 0; j < g->n; j++)                                                                          \
                p[2 * j * g->inner] = (TO)(re[j * lines + l] * scale),                                                 \
                          p[2 * j * g->inner + 1] = (TO)(im[j * lines + l] * scale);                                   \
        }                                                                                                              \
    }

/* The buffer of a transform: `reals` numbers of `size` bytes, which are divided in order. */
typedef struct {
    Ctx *ctx;
    void *p;
    size_t bytes;
} Store;
static qs_status allocate_store(qs_vm *vm, Store *s, size_t reals, size_t size) {
    *s = (Store){qvm_ctx(vm), NULL, qmem_size(reals, size, 0)};
    s->p = qmem_try(s->ctx, s->bytes);
    return s->p ? QS_OK : qs_fail(vm, QS_ENOMEM, "fft: no memory for %zu bytes of work space", s->bytes);
}
static void give_back(Store *s) { qmem_try_free(s->ctx, s->p, s->bytes); }

static size_t batch(const Geometry *g) {
    size_t lines = g->n <= 4096 ? LINES : g->n <= 32768 ? 4 : 1; /* the buffers fit the L2 cache */
    return lines < g->lines ? lines : g->lines;
}

#define REAL    float
#define N(name) name##_f
#include "stdlib/fft_pass.h"
#undef REAL
#undef N
#define REAL    double
#define N(name) name##_d
#include "stdlib/fft_pass.h"
#undef REAL
#undef N

GATHER(gather_fd, float, double, Split_d)
SCATTER(scatter_df, double, float, Split_d)

/* -- Bluestein: k n = (k^2 + n^2 - (k-n)^2)/2 makes the sum a convolution of length m >= 2N-1, in float64 ---------- */
typedef struct {
    size_t m;
    Factors f;
    Twiddles_d w;
    Split_d chirp, filter, x, y;
} Chirp;

static void times_chirp(Split_d x, Split_d c, size_t n, size_t lines, double sign) {
    for (size_t j = 0; j < n; j++)
        for (size_t l = 0; l < lines; l++) {
            double re = x.re[j * lines + l], im = x.im[j * lines + l], ci = sign * c.im[j];
            x.re[j * lines + l] = re * c.re[j] - im * ci, x.im[j * lines + l] = re * ci + im * c.re[j];
        }
}

/* Computes the chirp exp(-pi i k^2/N) and the spectrum of the filter with its conjugate. */
static void prepare_chirp(Chirp *b, size_t n) {
    Split_d x = b->x;
    memset(x.re, 0, b->m * sizeof(double)), memset(x.im, 0, b->m * sizeof(double));
    for (size_t k = 0; k < n; k++) {
        unit_root((size_t)((unsigned __int128)k * k % (2 * n)), 2 * n, &b->chirp.re[k], &b->chirp.im[k]);
        x.re[k] = b->chirp.re[k], x.im[k] = -b->chirp.im[k];
        if (k) x.re[b->m - k] = x.re[k], x.im[b->m - k] = x.im[k];
    }
    Split_d spectrum = stockham_d(&b->f, x, b->y, 1, b->w);
    memcpy(b->filter.re, spectrum.re, b->m * sizeof(double)), memcpy(b->filter.im, spectrum.im, b->m * sizeof(double));
}

/* Convolves x, which has n numbers per line; returns the buffer that holds the result. */
static Split_d convolve_chirp(Chirp *b, size_t n, size_t lines) {
    times_chirp(b->x, b->chirp, n, lines, 1);
    memset(b->x.re + n * lines, 0, (b->m - n) * lines * sizeof(double));
    memset(b->x.im + n * lines, 0, (b->m - n) * lines * sizeof(double));
    Split_d s = stockham_d(&b->f, b->x, b->y, lines, b->w), other = s.re == b->x.re ? b->y : b->x;
    times_chirp(s, b->filter, b->m, lines, 1);
    Split_d swapped = {s.im, s.re}, spare = {other.im, other.re}, r = stockham_d(&b->f, swapped, spare, lines, b->w);
    r = (Split_d){r.im, r.re};
    for (size_t i = 0; i < n * lines; i++) r.re[i] /= (double)b->m, r.im[i] /= (double)b->m;
    times_chirp(r, b->chirp, n, lines, 1);
    return r;
}

static qs_status bluestein(qs_vm *vm, const Geometry *g, bool is_float, void *data, bool inverse) {
    Chirp b = {.m = 1};
    while (b.m < 2 * g->n - 1) b.m *= 2;
    b.f = factorise(b.m);
    Geometry longer = {b.m, g->inner, g->lines};
    size_t lines = batch(&longer), room = lines * b.m;
    Store s;
    TRY(allocate_store(vm, &s, 2 * b.m + 2 * g->n + 2 * b.m + 4 * room, sizeof(double)));
    double *p = s.p;
    b.w = twiddles_d(p, b.m), p += 2 * b.m;
    b.chirp = (Split_d){p, p + g->n}, p += 2 * g->n;
    b.filter = (Split_d){p, p + b.m}, p += 2 * b.m;
    b.x = (Split_d){p, p + room}, b.y = (Split_d){p + 2 * room, p + 3 * room};
    prepare_chirp(&b, g->n);
    for (size_t k = 0; k < g->lines; k += lines) {
        if (lines > g->lines - k) lines = g->lines - k;
        if (is_float) gather_fd(g, data, k, lines, inverse, b.x);
        else gather_d(g, data, k, lines, inverse, b.x);
        Split_d r = convolve_chirp(&b, g->n, lines);
        if (is_float) scatter_df(g, r, k, lines, inverse, data);
        else scatter_d(g, r, k, lines, inverse, data);
    }
    give_back(&s);
    return QS_OK;
}

/* -- long convolutions, in blocks of the result (overlap-save), always in float64 ---------------------------------- */
/* Overlap-save convolution: a transform of `size` elements gives `stretch` elements of the result.  For real numbers it
 * gives two blocks, as real and imaginary part. */
typedef struct {
    const double *a;
    double *out, *room;         /* room: buffers of all workers */
    size_t n, m, size, stretch; /* n, m: number of elements of a and b */
    int parts;                  /* doubles per element */
    Factors f;
    Twiddles_d w;
    Split_d spectrum; /* of b, with `size` elements */
} Long;

/* Copies the elements of a that the block starting at k needs, with zeros outside a. */
static void load_block(const Long *l, size_t k, int part, double *to) {
    size_t step = (size_t)l->parts;
    for (size_t i = 0; i < l->size; i++) {
        size_t at = k + i - (l->m - 1); /* wraps around for indices below 0, so one test is enough */
        to[i] = at < l->n ? l->a[at * step + (size_t)part] : 0;
    }
}

static void store_block(const Long *l, size_t k, int part, const double *from) {
    size_t step = (size_t)l->parts, end = l->n + l->m - 1;
    for (size_t i = 0; i < l->stretch && k + i < end; i++) l->out[(k + i) * step + (size_t)part] = from[l->m - 1 + i];
}

static void convolve_stretches(void *ud, int64_t first, int64_t last, int worker) {
    const Long *l = ud;
    size_t n = l->size, second = l->parts == 1 ? l->stretch : 0;
    double *p = l->room + 4 * n * (size_t)worker;
    Split_d x = {p, p + n}, y = {p + 2 * n, p + 3 * n};
    for (int64_t i = first; i < last; i++) {
        size_t k = (size_t)i * (l->stretch + second);
        load_block(l, k, 0, x.re), load_block(l, k + second, l->parts - 1, x.im);
        Split_d s = stockham_d(&l->f, x, y, 1, l->w), other = s.re == x.re ? y : x;
        times_chirp(s, l->spectrum, n, 1, 1);
        Split_d r = stockham_d(&l->f, (Split_d){s.im, s.re}, (Split_d){other.im, other.re}, 1, l->w);
        store_block(l, k, 0, r.im), store_block(l, k + second, l->parts - 1, r.re);
    }
}

/* Computes the spectrum of b, divided by the size; uses the buffer of the first worker. */
static void prepare_long(Long *l, const double *b) {
    size_t n = l->size, step = (size_t)l->parts;
    Split_d x = {l->room, l->room + n}, y = {l->room + 2 * n, l->room + 3 * n};
    memset(x.re, 0, n * sizeof(double)), memset(x.im, 0, n * sizeof(double));
    for (size_t j = 0; j < l->m; j++) {
        x.re[j] = b[j * step] / (double)n;
        if (l->parts == 2) x.im[j] = b[j * step + 1] / (double)n;
    }
    Split_d s = stockham_d(&l->f, x, y, 1, l->w);
    memcpy(l->spectrum.re, s.re, n * sizeof(double)), memcpy(l->spectrum.im, s.im, n * sizeof(double));
}

qs_status qfft_convolve(qs_vm *vm, const double *a, size_t n, const double *b, size_t m, int parts, double *out) {
    Long l = {.a = a, .out = out, .n = n, .m = m, .size = 1, .parts = parts};
    while (l.size < 4 * m && l.size < n + m - 1) l.size *= 2;
    l.stretch = l.size - m + 1, l.f = factorise(l.size);
    size_t each = l.stretch * (parts == 1 ? 2 : 1);
    int64_t turns = (int64_t)((n + m - 2) / each) + 1;
    Threads *t = qthreads_of(qvm_ctx(vm));
    Store s;
    TRY(allocate_store(vm, &s, (4 + 4 * (size_t)qthreads_workers(t, turns, 1)) * l.size, sizeof(double)));
    double *p = s.p;
    l.w = twiddles_d(p, l.size), p += 2 * l.size;
    l.spectrum = (Split_d){p, p + l.size}, l.room = p + 2 * l.size;
    prepare_long(&l, b);
    qdoing_stage(&qvm_ctx(vm)->doing, 0, 1, 0);
    qthreads_run(t, turns, 1, convolve_stretches, &l);
    give_back(&s);
    return QS_OK;
}

/* -- natives ------------------------------------------------------------------------------------------------------- */
/* Transforms a contiguous complex array in place along one dimension. */
static qs_status along(qs_vm *vm, Array *a, void *data, int dim, bool inverse) {
    Shape s;
    qmatrix_shape(a, &s);
    if (dim >= s.rank || s.dims[dim] <= 1 || a->count == 0) return QS_OK;
    Geometry g = {(size_t)s.dims[dim], 1, a->count / (size_t)s.dims[dim]};
    for (int d = dim + 1; d < s.rank; d++) g.inner *= (size_t)s.dims[d];
    Factors f = factorise(g.n);
    if (f.rest > 1) return bluestein(vm, &g, a->dtype == QS_C64, data, inverse);
    return a->dtype == QS_C64 ? smooth_f(vm, &g, &f, data, inverse) : smooth_d(vm, &g, &f, data, inverse);
}

/* Copies in[0] to a new complex array in out[0]. */
static qs_status complex_copy(qs_vm *vm, qs_call_args *c, Array **out, void **data) {
    Array *a, *r;
    TRY(qarg_array(vm, c, 0, "x", &a));
    TRY(qarr_convert(vm, a, qdtype_complex_of((qs_dtype)a->dtype), &r));
    if (r == a) {
        qarr_release(vm, r);
        TRY(qarr_copy(vm, a, &r));
    }
    c->out[0] = qarr_value(r);
    *out = r;
    return qarr_write(vm, r, data);
}

static qs_status on_device(qs_vm *vm, qs_call_args *c, int rank, bool inverse, bool *done) {
    Array *a, *r;
    Shape s;
    TRY(qarg_array(vm, c, 0, "x", &a));
    qmatrix_shape(a, &s);
    int dim = rank == 1 ? qstats_main_dim(a) : 0;
    if (rank == 1 && qarg_given(c, 1)) TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[1], &dim));
    TRY(qdevmath_fft(vm, a, s.rank, s.dims, dim, rank, inverse, &r));
    if ((*done = r != NULL)) c->out[0] = qarr_value(r);
    return QS_OK;
}

static qs_status transform(qs_vm *vm, qs_call_args *c, int rank, bool inverse) {
    Array *a;
    void *data;
    bool done;
    TRY(on_device(vm, c, rank, inverse, &done));
    if (done) return QS_OK;
    TRY(complex_copy(vm, c, &a, &data));
    if (rank > 1) {
        for (int d = 0; d < rank; d++) TRY(along(vm, a, data, d, inverse));
        return QS_OK;
    }
    int dim = qstats_main_dim(a);
    if (qarg_given(c, 1)) TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[1], &dim));
    return along(vm, a, data, dim, inverse);
}
qs_status qfft_fft1(qs_vm *vm, qs_call_args *c) { return transform(vm, c, 1, false); }
qs_status qfft_fft2(qs_vm *vm, qs_call_args *c) { return transform(vm, c, 2, false); }
qs_status qfft_fft3(qs_vm *vm, qs_call_args *c) { return transform(vm, c, 3, false); }
qs_status qfft_ifft1(qs_vm *vm, qs_call_args *c) { return transform(vm, c, 1, true); }
qs_status qfft_ifft2(qs_vm *vm, qs_call_args *c) { return transform(vm, c, 2, true); }
qs_status qfft_ifft3(qs_vm *vm, qs_call_args *c) { return transform(vm, c, 3, true); }

/* Shifts frequency 0 to the middle (n/2, rounded down) of the first `rank` dimensions, or back. */
static qs_status centre(qs_vm *vm, qs_call_args *c, int rank, bool back) {
    Array *a, *by;
    double shift[QS_MAX_RANK] = {0};
    TRY(qarg_array(vm, c, 0, "x", &a));
    Shape s;
    qmatrix_shape(a, &s);
    int from = rank == 1 ? qstats_main_dim(a) : 0, to = rank == 1 ? from + 1 : rank < s.rank ? rank : s.rank;
    for (int d = from; d < to; d++) shift[d] = (double)(back ? (s.dims[d] + 1) / 2 : s.dims[d] / 2);
    TRY(qarr_from_doubles(vm, shift, (size_t)s.rank, &by));
    qs_value in[2] = {c->in[0], qarr_value(by)};
    qs_call_args shifted = {2, 1, in, c->out, .name = c->name};
    qs_status status = qmatrix_circshift(vm, &shifted);
    c->in[0] = in[0]; /* circshift may have replaced it by a contiguous array */
    qval_release(vm, in[1]);
    return status;
}
qs_status qfft_fftshift1(qs_vm *vm, qs_call_args *c) { return centre(vm, c, 1, false); }
qs_status qfft_fftshift2(qs_vm *vm, qs_call_args *c) { return centre(vm, c, 2, false); }
qs_status qfft_fftshift3(qs_vm *vm, qs_call_args *c) { return centre(vm, c, 3, false); }
qs_status qfft_ifftshift1(qs_vm *vm, qs_call_args *c) { return centre(vm, c, 1, true); }
qs_status qfft_ifftshift2(qs_vm *vm, qs_call_args *c) { return centre(vm, c, 2, true); }
qs_status qfft_ifftshift3(qs_vm *vm, qs_call_args *c) { return centre(vm, c, 3, true); }
