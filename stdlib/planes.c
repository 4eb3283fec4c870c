/* planes.c -- implements convolutions of neural layers and their gradients; planes.h describes the algorithm.
 *
 * x is N x C x H x W, w is M x C/groups x KH x KW.  The three functions are linear in both operands, and the derivative
 * of each consists of the other two.  Results are bitwise independent of the number of threads: one thread computes a
 * sum in a fixed order.  On a GPU they are computed by cuDNN or by kernels (planes.q), which this file calls after it
 * has checked the sizes.
 *
 * docs/benchmarks.md compares the times with torch (oneDNN). */
#include "stdlib/planes.h"
#include "devices/threads.h"
#include "stdlib/builtins.h"
#include "vm/array/contiguous.h"
#include "vm/array/device_math.h"
#include "vm/array/gemm.h"
#include "vm/array/move.h"
#include "vm/launch/launch.h"
#include "vm/program/module.h"
#include "vm/value/machine.h"

#include <math.h>
#include <string.h>

#define BYTES 16
#include "stdlib/planes_loops.h"

const PlanesLoops *qplanes_loops(bool wide) { return wide ? &loops_f64 : &loops_f32; }

static const PlanesLoops *loops_here(bool wide) {
    if (QCPU_AVX512) return qplanes_loops_avx512(wide);
    return QCPU_AVX2 && QCPU_FMA ? qplanes_loops_avx2(wide) : qplanes_loops(wide);
}

/* -- geometry ------------------------------------------------------------------------------------------------------ */
typedef struct {
    int64_t in, kernel, out, stride, pad, dilation, far, places, phases;
} Side;
/* far: largest distance between a tap and its output; places: positions of a phase; phases: number of phases with
 * taps */

typedef struct {
    qs_vm *vm;
    const char *fn;
    const PlanesLoops *loops;
    qs_dtype d;
    size_t size; /* size of an element in bytes */
    int64_t images, channels, results, groups;
    Side side[2];
} Conv;

static int64_t taps_of(const Conv *c) { return c->channels / c->groups * c->side[0].kernel * c->side[1].kernel; }
static int64_t plane_in(const Conv *c) { return c->side[0].in * c->side[1].in; }
static int64_t plane_out(const Conv *c) { return c->side[0].out * c->side[1].out; }

static qs_status pair_of(qs_vm *vm, const char *fn, const char *what, qs_value v, int64_t least, int64_t out[2]) {
    Array *a = v.kind == QS_ARRAY ? qval_array(v) : NULL;
    if (a && a->count != 2 && a->count != 1)
        return qs_fail(vm, QS_ESHAPE, "%s: %s must be a number or two, for rows and columns", fn, what);
    if (a && qdtype_is_complex((qs_dtype)a->dtype)) return qarg_wrong(vm, fn, what, "real", v);
    for (int i = 0; i < 2; i++) {
        qs_value x = v;
        if (a) TRY(qarr_get(vm, a, a->count == 2 ? (size_t)i : 0, &x));
        TRY(qarg_int(vm, fn, what, x, &out[i]));
        if (out[i] < least || out[i] > 1 << 20)
            return qs_fail(vm, QS_EVALUE, "%s: %s must be %lld to 2^20, got %lld", fn, what, (long long)least,
                           (long long)out[i]);
    }
    return QS_OK;
}

/* Reads stride, padding, dilation and groups, starting at in[at]. */
static qs_status options_of(qs_vm *vm, qs_call_args *c, int at, Conv *g) {
    static const char *const names[] = {"stride", "padding", "dilation"};
    int64_t p[3][2];
    TRY(qkernel_unreached(vm, c->name));
    for (int k = 0; k < 3; k++) TRY(pair_of(vm, c->name, names[k], c->in[at + k], k != 1, p[k]));
    for (int i = 0; i < 2; i++) g->side[i].stride = p[0][i], g->side[i].pad = p[1][i], g->side[i].dilation = p[2][i];
    TRY(qarg_int(vm, c->name, "groups", c->in[at + 3], &g->groups));
    if (g->groups < 1)
        return qs_fail(vm, QS_EVALUE, "%s: groups must be at least 1, got %lld", c->name, (long long)g->groups);
    g->vm = vm, g->fn = c->name;
    return QS_OK;
}

static qs_status four(qs_vm *vm, const char *fn, const char *what, const Array *a, int64_t dims[4]) {
    Shape s;
    qmatrix_shape(a, &s);
    if (s.rank > 4)
        return qs_fail(vm, QS_ESHAPE, "%s: %s must have four dimensions (%s), got %d", fn, what,
                       *what == 'w' ? "results x channels x rows x columns" : "images x channels x rows x columns",
                       s.rank);
    for (int i = 0; i < 4; i++) dims[i] = i < s.rank ? s.dims[i] : 1;
    return QS_OK;
}

static qs_status size_of(qs_vm *vm, const char *fn, qs_value v, int64_t dims[4]) {
    Array *a = v.kind == QS_ARRAY ? qval_array(v) : NULL;
    if (!a || a->count > 4 || a->count < 2)
        return qs_fail(vm, QS_ESHAPE, "%s: size must have the four extents of an array", fn);
    if (qdtype_is_complex((qs_dtype)a->dtype)) return qarg_wrong(vm, fn, "size", "real", v);
    for (size_t i = 0; i < 4; i++) {
        qs_value x = qs_num(1);
        if (i < a->count) TRY(qarr_get(vm, a, i, &x));
        TRY(qarg_count(vm, fn, "size", x, &dims[i]));
        if (dims[i] > INT64_C(1) << 31) return qs_fail(vm, QS_ESHAPE, "%s: size is too large", fn);
    }
    return QS_OK;
}

static int64_t outputs(const Side *s) {
    int64_t room = s->in + 2 * s->pad - s->dilation * (s->kernel - 1) - 1;
    return room < 0 ? 0 : room / s->stride + 1;
}

/* Derives the geometry from the extents of x (images) and w (weights); checks that dy, if given, agrees with it. */
static qs_status geometry(Conv *c, const int64_t x[4], const int64_t w[4], const int64_t *dy) {
    qs_vm *vm = c->vm;
    c->images = x[0], c->channels = x[1], c->results = w[0];
    if (w[1] * c->groups != x[1])
        return qs_fail(vm, QS_ESHAPE,
                       "%s: x of %lld x %lld x %lld x %lld (images x channels x rows x columns) has %lld channels, "
                       "weights of %lld x %lld x %lld x %lld with groups %lld are for %lld",
                       c->fn, (long long)x[0], (long long)x[1], (long long)x[2], (long long)x[3], (long long)x[1],
                       (long long)w[0], (long long)w[1], (long long)w[2], (long long)w[3], (long long)c->groups,
                       (long long)(w[1] * c->groups));
    if (w[0] % c->groups)
        return qs_fail(vm, QS_ESHAPE, "%s: %lld results do not make %lld equal groups", c->fn, (long long)w[0],
                       (long long)c->groups);
    for (int i = 0; i < 2; i++) {
        Side *s = &c->side[i];
        s->in = x[2 + i], s->kernel = w[2 + i], s->out = outputs(s);
        if (s->kernel < 1 || s->out < 1)
            return qs_fail(vm, QS_ESHAPE,
                           "%s: weights of %lld %s, %lld apart, do not fit %lld %s with a padding of %lld", c->fn,
                           (long long)s->kernel, i ? "columns" : "rows", (long long)s->dilation, (long long)s->in,
                           i ? "columns" : "rows", (long long)s->pad);
        s->far = (s->kernel - 1) * s->dilation / s->stride;
        s->places = s->out + s->far;
        s->phases = 1;
        while (s->phases < s->kernel && s->phases * s->dilation % s->stride) s->phases++;
    }
    int64_t y[4] = {x[0], w[0], c->side[0].out, c->side[1].out};
    if (dy && memcmp(y, dy, sizeof y))
        return qs_fail(vm, QS_ESHAPE, "%s: dy must be %lld x %lld x %lld x %lld, got %lld x %lld x %lld x %lld", c->fn,
                       (long long)y[0], (long long)y[1], (long long)y[2], (long long)y[3], (long long)dy[0],
                       (long long)dy[1], (long long)dy[2], (long long)dy[3]);
    return QS_OK;
}

/* Remainders of k*dilation modulo the stride repeat after `phases` taps. */
static int64_t phase_of(const Side *s, int64_t k) { return k % s->phases; }
static int64_t remainder_of(const Side *s, int64_t phase) { return phase * s->dilation % s->stride; }
static int64_t place_of(const Side *s, int64_t k) { return k * s->dilation / s->stride; }
static int64_t plane_places(const Conv *c) { return c->side[0].places * c->side[1].places; }
static int64_t channel_places(const Conv *c) { return plane_places(c) * c->side[0].phases * c->side[1].phases; }

/* Returns the offset of tap (i, j) of channel k from its output. */
static int64_t offset_of(const Conv *c, int64_t k, int64_t i, int64_t j) {
    const Side *y = &c->side[0], *x = &c->side[1];
    int64_t phase = phase_of(y, i) * x->phases + phase_of(x, j);
    return k * channel_places(c) + phase * plane_places(c) + place_of(y, i) * x->places + place_of(x, j);
}

/* -- memory -------------------------------------------------------------------------------------------------------- */
typedef struct {
    Ctx *ctx;
    void *p;
    size_t bytes;
} Block;

static void block_free(Block *b) {
    if (b->p) qmem_try_free(b->ctx, b->p, b->bytes);
    b->p = NULL;
}

static qs_status block_new(const Conv *c, int64_t n, size_t size, Block *b) {
    *b = (Block){.ctx = qvm_ctx(c->vm)};
    b->bytes = qmem_size((size_t)n, size, PLANES_SLACK * size);
    if (n < 0 || !(b->p = qmem_try(b->ctx, b->bytes)))
        return qs_fail(c->vm, QS_ENOMEM, "%s: no memory for %lld elements of work space", c->fn, (long long)n);
    return QS_OK;
}

/* Allocates planes of `n` elements.  Tiles read up to `far` elements behind them, which are dropped or multiplied by
 * 0. */
static qs_status block_padded(const Conv *c, int64_t n, Block *b) {
    int64_t far = c->side[1].far;
    TRY(block_new(c, n + far, c->size, b));
    memset((char *)b->p + (size_t)n * c->size, 0, (size_t)(far + PLANES_SLACK) * c->size);
    return QS_OK;
}

/* -- planes -------------------------------------------------------------------------------------------------------- */
/* Copies every step-th element of a row of `in` elements, from `first` on (which may be outside), to a row of `places`
 * elements; elements outside become 0. */
static void take_row(const Conv *c, const char *row, int64_t in, int64_t first, int64_t step, int64_t places,
                     char *restrict to) {
    size_t size = c->size;
    int64_t from = first < 0 ? (-first + step - 1) / step : 0;
    int64_t end = first >= in ? 0 : (in - first + step - 1) / step;
    if (end > places) end = places;
    if (from > places) from = places;
    if (end < from) end = from;
    memset(to, 0, (size_t)from * size);
    memset(to + (size_t)end * size, 0, (size_t)(places - end) * size);
    if (end > from && step == 1)
        qmove_bytes(to + (size_t)from * size, row + (first + from) * (int64_t)size, (size_t)(end - from) * size);
    else if (size == 4 && step == 2) /* a constant step lets the compiler vectorise */
        for (int64_t i = from; i < end; i++) ((float *)to)[i] = ((const float *)row)[first + i * 2];
    else if (size == 4)
        for (int64_t i = from; i < end; i++) ((float *)to)[i] = ((const float *)row)[first + i * step];
    else
        for (int64_t i = from; i < end; i++) ((double *)to)[i] = ((const double *)row)[first + i * step];
}

typedef struct { /* copies several images to planes */
    const Conv *c;
    const char *from;
    char *to;
    bool dense; /* copies results: rows of the pitch of a plane, with `margin` rows and columns of 0 around them */
    int64_t margin[2], pitch, plane;
} Laying;

/* Copies a channel of an image to its planes. */
static void lay_channel(const Laying *l, int64_t k) {
    const Conv *c = l->c;
    const Side *y = &c->side[0], *x = &c->side[1];
    const char *from = l->from + k * plane_in(c) * (int64_t)c->size;
    char *to = l->to + k * channel_places(c) * (int64_t)c->size;
    for (int64_t py = 0; py < y->phases; py++)
        for (int64_t px = 0; px < x->phases; px++)
            for (int64_t i = 0; i < y->places; i++, to += x->places * (int64_t)c->size) {
                int64_t row = i * y->stride + remainder_of(y, py) - y->pad;
                if (row < 0 || row >= y->in) memset(to, 0, (size_t)x->places * c->size);
                else
                    take_row(c, from + row * x->in * (int64_t)c->size, x->in, remainder_of(x, px) - x->pad, x->stride,
                             x->places, to);
            }
}

/* Copies a plane of results, with 0 around it. */
static void lay_result(const Laying *l, int64_t k) {
    const Conv *c = l->c;
    int64_t rows = c->side[0].out, columns = c->side[1].out, size = (int64_t)c->size;
    const char *from = l->from + k * plane_out(c) * size;
    char *to = l->to + k * l->plane * size;
    int64_t above = l->margin[0] * l->pitch;
    memset(to, 0, (size_t)(above * size));
    to += above * size;
    for (int64_t i = 0; i < rows; i++, to += l->pitch * size, from += columns * size)
        take_row(c, from, columns, -l->margin[1], 1, l->pitch, to);
    memset(to, 0, (size_t)((l->plane - above - rows * l->pitch) * size));
}

static void lay_some(void *ud, int64_t first, int64_t last, int worker) {
    (void)worker;
    for (const Laying *l = ud; first < last; first++) l->dense ? lay_result(l, first) : lay_channel(l, first);
}

/* Reports the progress: the next stage works on `images` images from `first` on. */
static void stage(const Conv *c, int64_t first, int64_t images) {
    float all = (float)c->images;
    qdoing_stage(&qvm_ctx(c->vm)->doing, (float)first / all, (float)(first + images) / all, 0);
}

static void run_jobs(const Conv *c, int64_t n, int64_t work, ThreadsJob *job, void *ud) {
    enum { WORTH = 1 << 14 };
    int64_t grain = work >= WORTH ? 1 : WORTH / (work > 0 ? work : 1) + 1;
    qthreads_run(qthreads_of(qvm_ctx(c->vm)), n, grain, job, ud);
}

/* -- nonfinite numbers --------------------------------------------------------------------------------------------- */
/* The loops above also multiply the zeros between and beside the rows, and 0 times nan or inf would make unrelated
 * elements nan.  Therefore elements that are nan are recomputed from their own terms: `sum` computes element k. */
typedef double Sum(const Conv *c, const char *a, const char *b, int64_t k);
typedef struct {
    const Conv *c;
    const char *a, *b;
    char *out;
    Sum *sum;
} Mending;

static double read_element(const Conv *c, const char *p, int64_t k) {
    return c->size == 4 ? (double)((const float *)p)[k] : ((const double *)p)[k];
}

static void set_element(const Conv *c, char *p, int64_t k, double v) {
    if (c->size == 4) ((float *)p)[k] = (float)v;
    else ((double *)p)[k] = v;
}

static bool has_nan(const Conv *c, const char *p, int64_t first, int64_t last) {
    int bad = 0;
    if (c->size == 4)
        for (const float *x = (const float *)p; first < last; first++) bad |= x[first] != x[first];
    else
        for (const double *x = (const double *)p; first < last; first++) bad |= x[first] != x[first];
    return bad;
}

static void mend_some(void *ud, int64_t first, int64_t last, int worker) {
    const Mending *m = ud;
    (void)worker;
    if (!has_nan(m->c, m->out, first, last)) return;
    for (; first < last && !qflag_is_up(&qvm(m->c->vm)->interrupted); first++)
        if (isnan(read_element(m->c, m->out, first))) set_element(m->c, m->out, first, m->sum(m->c, m->a, m->b, first));
}

static void mend(const Conv *c, int64_t n, Sum *sum, const char *a, const char *b, char *out) {
    enum { PART = 4096 };
    qthreads_run(qthreads_of(qvm_ctx(c->vm)), n, PART, mend_some, &(Mending){c, a, b, out, sum});
}

/* Sums the contributions of all results that read element k of the input. */
static double sum_for_input(const Conv *c, const char *dy, const char *w, int64_t k) {
    const Side *y = &c->side[0], *x = &c->side[1];
    int64_t column = k % x->in, row = k / x->in % y->in, channel = k / plane_in(c) % c->channels;
    int64_t image = k / plane_in(c) / c->channels, each = c->channels / c->groups, rows = c->results / c->groups;
    double total = 0;
    for (int64_t m = channel / each * rows, end = m + rows; m < end; m++)
        for (int64_t t = 0; t < y->kernel * x->kernel && !isnan(total); t++) {
            int64_t r = row + y->pad - t / x->kernel * y->dilation;
            int64_t q = column + x->pad - t % x->kernel * x->dilation;
            bool met = r >= 0 && q >= 0 && r % y->stride == 0 && q % x->stride == 0;
            if (!met || r / y->stride >= y->out || q / x->stride >= x->out) continue;
            int64_t at = ((image * c->results + m) * y->out + r / y->stride) * x->out + q / x->stride;
            total +=
                read_element(c, dy, at) * read_element(c, w, (m * each + channel % each) * y->kernel * x->kernel + t);
        }
    return total;
}

/* Sums the contributions of all results to weight k, including products with the zero padding. */
static double sum_for_weight(const Conv *c, const char *x, const char *dy, int64_t k) {
    const Side *sy = &c->side[0], *sx = &c->side[1];
    int64_t m = k / taps_of(c), each = c->channels / c->groups, channel = k / (sy->kernel * sx->kernel) % each;
    int64_t i = k / sx->kernel % sy->kernel, j = k % sx->kernel;
    double total = 0;
    channel += m / (c->results / c->groups) * each;
    for (int64_t n = 0; n < c->images; n++)
        for (int64_t p = 0; p < plane_out(c) && !isnan(total); p++) {
            int64_t r = p / sx->out * sy->stride + i * sy->dilation - sy->pad;
            int64_t q = p % sx->out * sx->stride + j * sx->dilation - sx->pad;
            bool inside = r >= 0 && r < sy->in && q >= 0 && q < sx->in;
            double v = inside ? read_element(c, x, ((n * c->channels + channel) * sy->in + r) * sx->in + q) : 0;
            total += v * read_element(c, dy, (n * c->results + m) * plane_out(c) + p);
        }
    return total;
}

/* -- gather: results, or one phase of the gradient of the input ---------------------------------------------------- */
typedef struct {
    const Conv *c;
    const char *w, *x, *bias; /* packed weights: for each group and block of rows, taps x rows */
    char *out;
    const int64_t *off;
    int64_t taps, rows, xgroup, ximage, plane; /* rows: results of a group; plane: elements of a plane of the result */
    PlanesTarget to;
    /* Positions and tiles of a plane; number of parts into which the rows of a group are divided. */
    int64_t positions, tiles, parts;
} Gather;

/* Returns the number of rows of the next tile, if `left` rows are left. */
static int tile_rows(const Conv *c, int64_t left) {
    int rows = c->loops->rows;
    while (rows > left) rows /= 2;
    return rows;
}

static void gather_tile(const Gather *g, int64_t job) {
    const Conv *c = g->c;
    int64_t size = (int64_t)c->size, part = job % g->parts, tile = job / g->parts % g->tiles;
    int64_t group = job / g->parts / g->tiles % c->groups, image = job / g->parts / g->tiles / c->groups;
    int64_t p = tile * c->loops->span, n = g->positions - p < c->loops->span ? g->positions - p : c->loops->span;
    int64_t blocks = (g->rows + c->loops->rows - 1) / c->loops->rows;
    int64_t m = blocks * part / g->parts * c->loops->rows, end = blocks * (part + 1) / g->parts * c->loops->rows;
    if (end > g->rows) end = g->rows;
    const char *x = g->x + (image * g->ximage + group * g->xgroup) * size;
    while (m < end) {
        int rows = tile_rows(c, end - m);
        int64_t row = group * g->rows + m;
        c->loops->gather(rows, (size_t)g->taps, g->w + row * g->taps * size, x, g->off, p, n,
                         g->bias ? g->bias + row * size : NULL, &g->to,
                         g->out + (image * c->groups * g->rows + row) * g->plane * size, g->plane);
        m += rows;
    }
}

static void gather_some(void *ud, int64_t first, int64_t last, int worker) {
    const Gather *g = ud;
    (void)worker;
    for (; first < last && !qflag_is_up(&qvm(g->c->vm)->interrupted); first++) gather_tile(g, first);
}

static void run_gather(Gather *g, int64_t images) {
    const Conv *c = g->c;
    g->positions = g->to.rows * g->to.pitch;
    g->tiles = (g->positions + c->loops->span - 1) / c->loops->span;
    int64_t jobs = images * c->groups * g->tiles, threads = qthreads_count(qthreads_of(qvm_ctx(c->vm)));
    int64_t blocks = (g->rows + c->loops->rows - 1) / c->loops->rows;
    g->parts = jobs >= 8 * threads || threads == 1 ? 1 : blocks < 8 ? blocks : 8;
    run_jobs(c, jobs * g->parts, c->loops->span * g->taps * g->rows / g->parts / 8, gather_some, g);
}

/* Packs the weights from[row*row_step + at[tap]] of `rows` rows and `taps` taps in the order in which tiles read
 * them. */
static void pack_weights(const Conv *c, const char *from, int64_t row_step, const int64_t *at, int64_t rows,
                         int64_t taps, char *to) {
    for (int64_t m = 0; m < rows;) {
        int n = tile_rows(c, rows - m);
        char *tile = to + m * taps * (int64_t)c->size;
        for (int64_t t = 0; t < taps; t++)
            for (int r = 0; r < n; r++)
                set_element(c, tile, t * n + r, read_element(c, from, (m + r) * row_step + at[t]));
        m += n;
    }
}

/* Returns how many images fit into the cache of one thread (images_in) or of all threads (images_at_once). */
static int64_t images_in(const Conv *c, int64_t elements) {
    enum { CACHE = 1 << 20 };
    int64_t n = CACHE / ((elements > 0 ? elements : 1) * (int64_t)c->size);
    return n > 1 ? n : 1;
}
static int64_t images_at_once(const Conv *c, int64_t elements) {
    return images_in(c, elements) * qthreads_count(qthreads_of(qvm_ctx(c->vm)));
}

typedef struct {
    Block planes, weights, off, at;
} Rooms;
static void rooms_free(Rooms *r) {
    block_free(&r->planes), block_free(&r->weights), block_free(&r->off), block_free(&r->at);
}

static void offsets_of(const Conv *c, int64_t *off) {
    for (int64_t k = 0; k < c->channels / c->groups; k++)
        for (int64_t i = 0; i < c->side[0].kernel; i++)
            for (int64_t j = 0; j < c->side[1].kernel; j++) *off++ = offset_of(c, k, i, j);
}

/* A convolution with one tap, without padding, is a matrix product for each image and group. */
typedef struct {
    const Conv *c;
    const char *x, *w;
    char *y;
} Products;

static bool is_product(const Conv *c) {
    bool product = plane_out(c) > 1;
    for (int i = 0; i < 2; i++) product &= c->side[i].kernel == 1 && c->side[i].stride == 1 && !c->side[i].pad;
    return product;
}

static void multiply_some(void *ud, int64_t first, int64_t last, int worker) {
    const Products *p = ud;
    const Conv *c = p->c;
    int64_t size = (int64_t)c->size, plane = plane_in(c), rows = c->results / c->groups, depth = taps_of(c);
    (void)worker;
    for (; first < last && !qflag_is_up(&qvm(c->vm)->interrupted); first++)
        qgemm_own(&(Gemm){.d = c->d,
                          .size = {rows, plane, depth},
                          .a = p->w + first % c->groups * rows * depth * size,
                          .b = p->x + first * depth * plane * size,
                          .c = p->y + first * rows * plane * size,
                          .fused = true});
}

static qs_status forward_in(const Conv *c, const char *x, const char *w, const char *bias, char *y, Rooms *r) {
    if (!bias && is_product(c)) {
        int64_t work = plane_out(c) * c->results / c->groups * taps_of(c) / 8;
        return run_jobs(c, c->images * c->groups, work, multiply_some, &(Products){c, x, w, y}), QS_OK;
    }
    int64_t taps = taps_of(c), rows = c->results / c->groups, size = (int64_t)c->size;
    int64_t image = c->channels * channel_places(c), most = images_at_once(c, image);
    if (most > c->images) most = c->images;
    TRY(block_padded(c, most * image, &r->planes));
    TRY(block_new(c, c->results * taps, c->size, &r->weights));
    TRY(block_new(c, taps, sizeof(int64_t), &r->off));
    TRY(block_new(c, taps, sizeof(int64_t), &r->at));
    int64_t *off = r->off.p, *at = r->at.p;
    offsets_of(c, off);
    for (int64_t t = 0; t < taps; t++) at[t] = t;
    for (int64_t k = 0; k < c->groups; k++)
        pack_weights(c, w + k * rows * taps * size, taps, at, rows, taps,
                     (char *)r->weights.p + k * rows * taps * size);
    const Side *sy = &c->side[0], *sx = &c->side[1];
    Gather g = {.c = c,
                .w = r->weights.p,
                .x = r->planes.p,
                .bias = bias,
                .off = off,
                .taps = taps,
                .rows = rows,
                .xgroup = image / c->groups,
                .ximage = image,
                .plane = plane_out(c),
                .to = {sx->places, sx->out, sy->out, {1, 1}, {0, 0}, {sy->out, sx->out}}};
    for (int64_t n = 0; n < c->images; n += most) {
        int64_t images = c->images - n < most ? c->images - n : most;
        Laying l = {.c = c, .from = x + n * c->channels * plane_in(c) * size, .to = r->planes.p};
        run_jobs(c, images * c->channels, channel_places(c), lay_some, &l);
        g.out = y + n * c->results * plane_out(c) * size;
        stage(c, n, images);
        run_gather(&g, images);
    }
    return QS_OK;
}

/* -- the gradient of the input: a gather of the results' gradients for each phase ---------------------------------- */
/* Lists the taps of a phase: positions of their weights, and offsets of their results from an element of the input. */
static int64_t taps_of_phase(const Conv *c, int64_t py, int64_t px, int64_t first, int64_t plane, int64_t *off,
                             int64_t *at) {
    const Side *y = &c->side[0], *x = &c->side[1];
    int64_t n = 0, pitch = x->places; /* the zeros behind a row of results also precede the next row */
    for (int64_t m = 0; m < c->results / c->groups; m++)
        for (int64_t i = 0; i < y->kernel; i++)
            for (int64_t j = 0; j < x->kernel; j++) {
                if (phase_of(y, i) != py || phase_of(x, j) != px) continue;
                off[n] = m * plane + (first + y->far - place_of(y, i)) * pitch + x->far - place_of(x, j);
                at[n++] = m * taps_of(c) + i * x->kernel + j;
            }
    return n;
}

static void gather_phase(const Conv *c, Gather *g, const char *w, int64_t py, int64_t px, int64_t images, Rooms *r) {
    const Side *y = &c->side[0], *x = &c->side[1];
    int64_t rows = c->results / c->groups, size = (int64_t)c->size, *off = r->off.p, *at = r->at.p;
    int64_t row = remainder_of(y, py) - y->pad, first = row < 0 ? (-row + y->stride - 1) / y->stride : 0;
    int64_t end = (y->in - row + y->stride - 1) / y->stride;
    g->taps = taps_of_phase(c, py, px, first, g->xgroup / rows, off, at);
    g->to.rows = (end < y->places ? end : y->places) - first;
    if (!g->taps || g->to.rows <= 0) return;
    for (int64_t k = 0; k < c->groups; k++)
        pack_weights(c, w + k * rows * taps_of(c) * size, y->kernel * x->kernel, at, g->rows, g->taps,
                     (char *)r->weights.p + k * g->rows * g->taps * size);
    g->to.first[0] = row + first * y->stride, g->to.first[1] = remainder_of(x, px) - x->pad;
    run_gather(g, images);
}

static qs_status input_in(const Conv *c, const char *dy, const char *w, char *dx, Rooms *r) {
    const Side *sy = &c->side[0], *sx = &c->side[1];
    int64_t size = (int64_t)c->size, pitch = sx->places, plane = pitch * (sy->out + 2 * sy->far) + sx->far;
    int64_t image = c->results * plane, most = images_at_once(c, image), taps = c->results * sy->kernel * sx->kernel;
    if (most > c->images) most = c->images;
    TRY(block_padded(c, most * image, &r->planes));
    TRY(block_new(c, c->channels * taps, c->size, &r->weights));
    TRY(block_new(c, taps, sizeof(int64_t), &r->off));
    TRY(block_new(c, taps, sizeof(int64_t), &r->at));
    memset(dx, 0, (size_t)(c->images * c->channels * plane_in(c) * size));
    Gather g = {.c = c,
                .w = r->weights.p,
                .x = r->planes.p,
                .off = r->off.p,
                .rows = c->channels / c->groups,
                .xgroup = image / c->groups,
                .ximage = image,
                .plane = plane_in(c),
                .to = {pitch, sx->places, sy->places, {sy->stride, sx->stride}, {0, 0}, {sy->in, sx->in}}};
    for (int64_t n = 0; n < c->images; n += most) {
        int64_t images = c->images - n < most ? c->images - n : most;
        Laying l = {c, dy + n * c->results * plane_out(c) * size, r->planes.p, true, {sy->far, sx->far}, pitch, plane};
        run_jobs(c, images * c->results, plane, lay_some, &l);
        g.out = dx + n * c->channels * plane_in(c) * size;
        for (int64_t py = 0; py < sy->phases; py++)
            for (int64_t px = 0; px < sx->phases; px++) gather_phase(c, &g, w, py, px, images, r);
    }
    mend(c, c->images * c->channels * plane_in(c), sum_for_input, dy, w, dx);
    return QS_OK;
}

/* -- the gradient of the weights ----------------------------------------------------------------------------------- */
typedef struct {
    const Conv *c;
    const char *d, *x;
    char *dw;
    const int64_t *off;
    int64_t images, dplane, taps, rows, n; /* n: elements of a plane of d */
    int64_t down, across, parts;           /* a group has down x across tiles; `across` is divided into `parts` */
    bool add;
} Dot;

/* Processes some rows of d in blocks that stay in the L1 cache while all taps use them. */
static void dot_rows(const Dot *g, int64_t job) {
    enum { STRETCH = 1024 };
    const Conv *c = g->c;
    int64_t size = (int64_t)c->size, part = job % g->parts, down = job / g->parts % g->down;
    int64_t group = job / g->parts / g->down, m = down * c->loops->dot_rows, step = c->loops->dot_taps;
    int64_t rows = g->rows - m < c->loops->dot_rows ? g->rows - m : c->loops->dot_rows;
    int64_t image = c->channels * channel_places(c), row = group * g->rows + m;
    int64_t from = g->across * part / g->parts * step, end = g->across * (part + 1) / g->parts * step;
    if (end > g->taps) end = g->taps;
    for (int64_t p = 0; p < g->n; p += STRETCH)
        for (int64_t t = from; t < end; t += step)
            c->loops->dot((int)rows, (int)(end - t < step ? end - t : step), g->images,
                          g->n - p < STRETCH ? g->n - p : STRETCH, g->d + (row * g->dplane + p) * size, g->dplane,
                          c->results * g->dplane, g->x + (group * (image / c->groups) + p) * size, g->off + t, image,
                          g->add || p, g->dw + (row * g->taps + t) * size, g->taps);
}

static void dot_some(void *ud, int64_t first, int64_t last, int worker) {
    const Dot *g = ud;
    (void)worker;
    for (; first < last && !qflag_is_up(&qvm(g->c->vm)->interrupted); first++) dot_rows(g, first);
}

static qs_status weights_in(const Conv *c, const char *x, const char *dy, char *dw, Rooms *r) {
    const Side *sy = &c->side[0], *sx = &c->side[1];
    int64_t size = (int64_t)c->size, image = c->channels * channel_places(c), lanes = c->loops->lanes;
    int64_t n = (sy->out * sx->places + lanes - 1) / lanes * lanes;
    /* Independent of the number of threads, so that the order of sums is fixed. */
    int64_t most = images_in(c, image + c->results * n);
    if (most > c->images) most = c->images;
    TRY(block_padded(c, most * image, &r->planes));
    TRY(block_padded(c, most * c->results * n, &r->weights));
    TRY(block_new(c, taps_of(c), sizeof(int64_t), &r->off));
    offsets_of(c, r->off.p);
    if (!c->images) memset(dw, 0, (size_t)(c->results * taps_of(c) * size));
    Dot g = {.c = c,
             .d = r->weights.p,
             .x = r->planes.p,
             .dw = dw,
             .off = r->off.p,
             .dplane = n,
             .taps = taps_of(c),
             .rows = c->results / c->groups,
             .n = n};
    g.down = (g.rows + c->loops->dot_rows - 1) / c->loops->dot_rows;
    g.across = (g.taps + c->loops->dot_taps - 1) / c->loops->dot_taps;
    int64_t wanted = 8 * qthreads_count(qthreads_of(qvm_ctx(c->vm))) / (c->groups * g.down);
    g.parts = wanted < 1 ? 1 : wanted < g.across ? wanted : g.across;
    for (int64_t k = 0; k < c->images; k += most, g.add = true) {
        g.images = c->images - k < most ? c->images - k : most;
        Laying lx = {.c = c, .from = x + k * c->channels * plane_in(c) * size, .to = r->planes.p};
        Laying ld = {c, dy + k * c->results * plane_out(c) * size, r->weights.p, true, {0, 0}, sx->places, n};
        run_jobs(c, g.images * c->channels, channel_places(c), lay_some, &lx);
        run_jobs(c, g.images * c->results, n, lay_some, &ld);
        stage(c, k, g.images);
        run_jobs(c, c->groups * g.down * g.parts, g.images * n * g.across / g.parts, dot_some, &g);
    }
    mend(c, c->results * taps_of(c), sum_for_weight, x, dy, dw);
    return QS_OK;
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Extents of planes in planes.q: of images including the padding that taps read, and of results likewise. */
static int64_t around_image(const Side *s) {
    return larger(s->in, (s->out - 1) * s->stride + (s->kernel - 1) * s->dilation + 1);
}
static int64_t around_result(const Side *s) { return s->out + 2 * s->far; }

/* Returns the largest index in planes.q: into the planes of all channels of a group, or into the weights. */
static double largest_index(const Conv *c) {
    double x = (double)(c->channels / c->groups), y = (double)(c->results / c->groups);
    double w = (double)(c->results * taps_of(c));
    for (int i = 0; i < 2; i++) x *= (double)around_image(&c->side[i]), y *= (double)around_result(&c->side[i]);
    return fmax(w, fmax(x, y));
}

static qs_status list(qs_vm *vm, const int64_t *x, int n, qs_value *out) {
    Array *a;
    void *p;
    TRY(qarr_make(vm, QS_F64, 1, (int64_t[]){n}, false, &a, &p));
    *out = qarr_value(a);
    for (int i = 0; i < n; i++) ((double *)p)[i] = (double)x[i];
    return QS_OK;
}

static qs_status converted(qs_vm *vm, qs_value *v, qs_dtype d) {
    Array *a, *r;
    if (v->kind != QS_ARRAY || (qs_dtype)(a = qval_array(*v))->dtype == d) return QS_OK;
    TRY(qarr_convert(vm, a, d, &r));
    qs_release(vm, *v);
    return *v = qarr_value(r), QS_OK;
}

/* For planes_backward: lists for each phase the number of taps, the position of the first, their distance, and the
 * first row. */
static qs_status phases_in(qs_vm *vm, const Side *s, qs_value *out) {
    Array *a;
    void *p;
    TRY(qarr_make(vm, QS_F64, 2, (int64_t[]){s->phases, 4}, false, &a, &p));
    *out = qarr_value(a);
    double *to = p;
    for (int64_t k = 0; k < s->phases; k++, to += 4) {
        to[0] = (double)((s->kernel - k + s->phases - 1) / s->phases);
        to[1] = (double)place_of(s, k), to[2] = (double)place_of(s, s->phases);
        to[3] = (double)(remainder_of(s, k) - s->pad);
    }
    return QS_OK;
}

static const char convolution[] = "a convolution"; /* shown by --explain */

enum { OPTIONS = 2, MOST = 11 }; /* arguments of functions of planes.q: index of the first option, and maximum number */

static qs_status options_in(qs_vm *vm, const Conv *c, DevConvKind which, const int64_t *size, int nsize, qs_value *to) {
    const Side *s = c->side;
    TRY(list(vm, size, nsize, &to[0]));
    TRY(list(vm, (int64_t[]){s[0].stride, s[1].stride}, 2, &to[1]));
    TRY(list(vm, (int64_t[]){s[0].pad, s[1].pad}, 2, &to[2]));
    TRY(list(vm, (int64_t[]){s[0].dilation, s[1].dilation}, 2, &to[3]));
    to[4] = qs_num((double)c->groups);
    to[6] = qs_num((double)((64 << 20) / c->size)); /* size limit for the partial sums of planes_weights */
    if (which != CONV_INPUT) return list(vm, (int64_t[]){around_image(s), around_image(s + 1)}, 2, &to[5]);
    TRY(list(vm, (int64_t[]){around_result(s), around_result(s + 1)}, 2, &to[5]));
    TRY(list(vm, (int64_t[]){s[0].far, s[1].far}, 2, &to[6]));
    TRY(phases_in(vm, s, &to[7]));
    return phases_in(vm, s + 1, &to[8]);
}

static qs_status call_module(qs_vm *vm, const char *name, int n, const qs_value *in, qs_value *out) {
    qs_value fn;
    TRY(qmod_library(vm, "planes.q", name, &fn));
    return *out = qs_nil(), qvm_call(vm, fn, n, in, 1, out);
}

/* Computes the result by kernels.  *done: false if the processor has to compute it.  If there is no memory for all
 * partial sums of weights, they are computed piecewise. */
static qs_status by_kernels(qs_vm *vm, qs_call_args *a, const Conv *c, DevConvKind which, const int64_t *size,
                            int nsize, bool *done) {
    static const struct {
        const char *name;
        int n;
    } of[] = {{"planes_forward", 9}, {"planes_backward", 11}, {"planes_weights", 9}};
    qs_value in[MOST];
    for (int i = 0; i < MOST; i++) in[i] = qs_nil();
    qs_status e = options_in(vm, c, which, size, nsize, in + OPTIONS);
    in[0] = a->in[0], in[1] = a->in[1];
    if (which == CONV_FORWARD) in[8] = qarg_given(a, 6) ? a->in[6] : qs_nil();
    if (e == QS_OK) e = call_module(vm, of[which].name, of[which].n, in, &a->out[0]);
    if (e == QS_ENOMEM && which == CONV_WEIGHTS && !qvm_ctx(vm)->err.late) {
        qerr_clear(qvm_ctx(vm));
        in[8] = qs_num(0);
        e = call_module(vm, of[which].name, of[which].n, in, &a->out[0]);
    }
    *done = e == QS_OK;
    if (*done) qarr_keep(qval_array(a->out[0]), 4);
    for (int i = OPTIONS; i < (which == CONV_FORWARD ? 8 : MOST); i++) qs_release(vm, in[i]);
    return qdevmath_left(vm, convolution, qval_array(a->in[0]), qval_array(a->in[1]), e) ? QS_OK : e;
}

/* -- the library of a device --------------------------------------------------------------------------------------- */
static bool counts_in_int(const int64_t n[4], int to[4]) {
    double all = 1;
    for (int i = 0; i < 4; i++) all *= (double)n[i], to[i] = (int)n[i];
    return all > 0 && all <= INT32_MAX;
}

/* Returns the distance between images in elements; 0: the elements of an image are not contiguous. */
static int64_t image_step(const Array *a, const int64_t n[4]) {
    Shape s;
    int64_t step = 1;
    if (a->contiguous || !a->count) return n[1] * n[2] * n[3];
    qmatrix_shape(a, &s);
    for (int d = s.rank - 1; d > 0; step *= n[d--])
        if (n[d] > 1 && s.strides[d] != step) return 0;
    return s.rank == 4 && s.strides[0] >= step && s.strides[0] <= INT32_MAX ? s.strides[0] : 0;
}

/* Describes the operands for the library, or why it cannot be used.  in: operands; a new array replaces the third
 * one. */
static DevConv described(const Conv *c, DevConvKind kind, Array *const in[3]) {
    const Side *r = &c->side[0], *q = &c->side[1];
    const int64_t x[] = {c->images, c->channels, r->in, q->in}, y[] = {c->images, c->results, r->out, q->out};
    const int64_t w[] = {c->results, c->channels / c->groups, r->kernel, q->kernel};
    const Array *images = kind == CONV_INPUT ? NULL : in[0], *weights = kind == CONV_WEIGHTS ? NULL : in[1];
    const Array *results = kind == CONV_INPUT ? in[0] : kind == CONV_WEIGHTS ? in[1] : NULL;
    int64_t x_step = images ? image_step(images, x) : x[1] * x[2] * x[3];
    int64_t y_step = results ? image_step(results, y) : y[1] * y[2] * y[3];
    DevConv d = {.of = {.kind = kind,
                        .wide = c->d == QS_F64,
                        .x_step = (int)x_step,
                        .y_step = (int)y_step,
                        .stride = {(int)r->stride, (int)q->stride},
                        .pad = {(int)r->pad, (int)q->pad},
                        .dilation = {(int)r->dilation, (int)q->dilation},
                        .groups = (int)c->groups}};
    bool packed = x_step && y_step && (!weights || weights->contiguous) && (!in[2] || in[2]->contiguous);
    if (!counts_in_int(x, d.of.x) || !counts_in_int(w, d.of.w) || !counts_in_int(y, d.of.y))
        d.refused = "an array is empty or has 2^31 elements";
    else if (!packed) d.refused = "an array does not lie packed";
    return d;
}

/* Recomputes nan elements: cuDNN may include products with the zeros around dy, which the definition excludes. */
static qs_status mended(qs_vm *vm, const Conv *c, const qs_value *in, const int64_t size[4], Array *dx, qs_value *out) {
    enum { FIRST = 3, N = 8 }; /* dx, dy, w, and five of the options */
    qs_value to[MOST + FIRST] = {qarr_value(dx), in[0], in[1]};
    for (int i = FIRST; i < MOST + FIRST; i++) to[i] = qs_nil();
    qs_status e = options_in(vm, c, CONV_INPUT, size, 4, to + FIRST);
    if (e == QS_OK) e = call_module(vm, "planes_mended", N, to, out);
    for (int i = FIRST; i < MOST + FIRST; i++) qs_release(vm, to[i]);
    qarr_release(vm, dx);
    return e;
}

static qs_status by_library(qs_vm *vm, qs_call_args *a, const Conv *c, DevConvKind kind, const int64_t dims[4],
                            bool *done) {
    Array *b = kind == CONV_FORWARD && qarg_given(a, 6) ? qval_array(a->in[6]) : NULL, *r;
    Array *const in[] = {qval_array(a->in[0]), qval_array(a->in[1]), b};
    DevConv d = described(c, kind, in);
    TRY(qdevmath_convolve(vm, convolution, &d, in, &r));
    if (!(*done = r != NULL)) return QS_OK;
    if (kind == CONV_INPUT) TRY(mended(vm, c, a->in, dims, r, &a->out[0]));
    else a->out[0] = qarr_value(r);
    return qarr_keep(qval_array(a->out[0]), 4), QS_OK;
}

/* dims: extents of the result.  *done: false if the processor has to compute it. */
static qs_status on_device(qs_vm *vm, qs_call_args *a, const Conv *c, DevConvKind kind, const int64_t dims[4],
                           bool empty, bool *done) {
    Array *const of[] = {qval_array(a->in[0]), qval_array(a->in[1])};
    if (!(*done = !empty && qdevmath_by_kernels(vm, convolution, of[0], of[1], largest_index(c)))) return QS_OK;
    for (int i = 0; i < 2; i++) TRY(converted(vm, &a->in[i], c->d));
    TRY(by_library(vm, a, c, kind, dims, done));
    bool forward = kind == CONV_FORWARD;
    return *done ? QS_OK : by_kernels(vm, a, c, kind, forward ? dims + 2 : dims, forward ? 2 : 4, done);
}

/* -- natives ------------------------------------------------------------------------------------------------------- */
/* Opens one or two operands and determines their common type: float32 or float64. */
static qs_status operands(qs_vm *vm, qs_call_args *a, const char *const names[], Conv *c, int n, Array *of[]) {
    c->d = qarg_meet_float(vm, a, 0, n);
    if (qdtype_is_complex(c->d)) return qarg_wrong(vm, a->name, names[0], "real", a->in[0]);
    if (c->d != QS_F64) c->d = QS_F32;
    c->size = qdtype_size(c->d), c->loops = loops_here(c->d == QS_F64);
    for (int i = 0; i < n; i++) TRY(qarg_array(vm, a, i, names[i], &of[i]));
    return QS_OK;
}

static qs_status open_operands(const Conv *c, qs_call_args *a, const char *const names[2], Array *of[2],
                               const void *p[2]) {
    for (int i = 0; i < 2; i++) TRY(qarg_packed(c->vm, a, i, names[i], c->d, &of[i], &p[i]));
    return QS_OK;
}

static qs_status ended(const Conv *c, qs_status s, Rooms *r) {
    rooms_free(r);
    return s == QS_OK && qflag_is_up(&qvm(c->vm)->interrupted) ? qvm_attend(c->vm) : s;
}

/* Reads the optional bias, in[6]. */
static qs_status bias_of(const Conv *c, qs_call_args *a) {
    Array *b;
    if (!qarg_given(a, 6)) return QS_OK;
    TRY(qarg_array(c->vm, a, 6, "bias", &b));
    if ((int64_t)b->count == c->results) return converted(c->vm, &a->in[6], c->d);
    return qs_fail(c->vm, QS_ESHAPE, "%s: bias must have a number for each of %lld results, got %zu", c->fn,
                   (long long)c->results, b->count);
}

static bool is_empty(const int64_t dims[4]) { return !(dims[0] && dims[1] && dims[2] && dims[3]); }

qs_status qplanes_conv(qs_vm *vm, qs_call_args *a) {
    static const char *const names[] = {"x", "w"};
    Conv c = {0};
    Array *of[2], *r, *b;
    const void *p[2], *bias = NULL;
    void *out;
    int64_t x[4], w[4];
    Rooms rooms = {0};
    bool done;
    a->name = "conv2d"; /* name of the public function */
    TRY(options_of(vm, a, 2, &c));
    TRY(operands(vm, a, names, &c, 2, of));
    TRY(four(vm, a->name, "x", of[0], x));
    TRY(four(vm, a->name, "weights", of[1], w));
    TRY(geometry(&c, x, w, NULL));
    TRY(bias_of(&c, a));
    int64_t y[4] = {x[0], w[0], c.side[0].out, c.side[1].out};
    TRY(on_device(vm, a, &c, CONV_FORWARD, y, is_empty(y), &done));
    if (done) return QS_OK;
    TRY(open_operands(&c, a, names, of, p));
    if (qarg_given(a, 6)) TRY(qarg_packed(vm, a, 6, "bias", c.d, &b, &bias));
    TRY(qarg_result(vm, a, 0, c.d, 4, y, &r, &out));
    qarr_keep(r, 4), qctx_let_go(qvm_ctx(vm));
    return ended(&c, r->count ? forward_in(&c, p[0], p[1], bias, out, &rooms) : QS_OK, &rooms);
}

/* The adjoint of x or of w; the arrays are dy and w, or x and dy, and in[2] has the size of the result. */
static qs_status conv_adjoint(qs_vm *vm, qs_call_args *a, bool of_weights) {
    const char *const names[] = {of_weights ? "x" : "dy", of_weights ? "dy" : "w"};
    Conv c = {0};
    Array *of[2], *r;
    const void *p[2];
    void *out;
    int64_t x[4], w[4], dy[4], *result = of_weights ? w : x;
    Rooms rooms = {0};
    bool done;
    TRY(options_of(vm, a, 3, &c));
    TRY(operands(vm, a, names, &c, 2, of));
    TRY(four(vm, a->name, names[0], of[0], of_weights ? x : dy));
    TRY(four(vm, a->name, of_weights ? "dy" : "weights", of[1], of_weights ? dy : w));
    TRY(size_of(vm, a->name, a->in[2], result));
    TRY(geometry(&c, x, w, dy));
    DevConvKind which = of_weights ? CONV_WEIGHTS : CONV_INPUT;
    TRY(on_device(vm, a, &c, which, result, is_empty(result) || is_empty(dy), &done));
    if (done) return QS_OK;
    TRY(open_operands(&c, a, names, of, p));
    TRY(qarg_result(vm, a, 0, c.d, 4, result, &r, &out));
    qarr_keep(r, 4), qctx_let_go(qvm_ctx(vm));
    qs_status s = !r->count    ? QS_OK
                  : of_weights ? weights_in(&c, p[0], p[1], out, &rooms)
                               : input_in(&c, p[0], p[1], out, &rooms);
    return ended(&c, s, &rooms);
}

qs_status qplanes_conv_input(qs_vm *vm, qs_call_args *a) {
    a->name = "conv_transpose2d";
    return conv_adjoint(vm, a, false);
}

qs_status qplanes_conv_weights(qs_vm *vm, qs_call_args *a) { return conv_adjoint(vm, a, true); }

qs_status qplanes_conv_bias(qs_vm *vm, qs_call_args *a) {
    Conv c = {0};
    Array *dy;
    int64_t dims[4];
    TRY(qkernel_unreached(vm, a->name));
    TRY(operands(vm, a, (const char *const[]){"dy"}, &c, 1, &dy));
    TRY(four(vm, a->name, "dy", dy, dims));
    TRY(converted(vm, &a->in[0], c.d));
    dy = qval_array(a->in[0]);
    if (!is_empty(dims) && qdevmath_by_kernels(vm, convolution, dy, dy, (double)dims[2] * (double)dims[3])) {
        qs_status e = call_module(vm, "planes_bias", 1, a->in, &a->out[0]);
        if (!qdevmath_left(vm, convolution, dy, dy, e)) return e;
    }
    return call_module(vm, "sums_of_planes", 1, a->in, &a->out[0]);
}
