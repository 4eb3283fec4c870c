/* sampled.c -- implements counting, polynomials, convolution and covariance of sampled functions.  Computes in float64
 * or complex128; results have the dtype of qarg_meet_float.
 *
 * A direct convolution processes blocks of up to 1024 positions with all factors, in registers, in the order of the
 * definition; only a block is converted to float64 at a time, as large arrays of temporary numbers cost more time than
 * the sums.  If the number of products is larger than the estimated work of FFTs (fft.c), these are used, for blocks of
 * the result in parallel; matrices are convolved as vectors, with zeros between their rows or columns.  The errors of
 * all elements then have the size of the error of the largest one.  Therefore nonfinite input, which would spread to
 * all elements, is convolved directly, and sums of integers are rounded if the errors are certainly below 0.5. */
#include "devices/pool.h"
#include "devices/threads.h"
#include "stdlib/builtins.h"
#include "stdlib/stencil.h"
#include "stdlib/triangle.h"
#include "vm/array/convert.h"
#include "vm/array/gemm.h"
#include "vm/value/machine.h"

#include <math.h>
#include <string.h>

qs_status qsampled_scratch(qs_vm *vm, const char *fn, size_t n, double **out) {
    *out = qpool_get(qvm_ctx(vm), qmem_size(n, sizeof(double), sizeof(double)));
    if (!*out) return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu numbers", fn, n);
    memset(*out, 0, (n + 1) * sizeof(double));
    return QS_OK;
}
void qsampled_done(qs_vm *vm, double *x, size_t n) { qpool_put(qvm_ctx(vm), x, (n + 1) * sizeof(double)); }

bool qsampled_interval(const double *x, size_t n, double at, size_t *k) {
    if (!(at >= x[0] && at <= x[n - 1])) return false;
    size_t lo = 0; /* without branches, which could not be predicted */
    for (size_t left = n - 1, half; left > 1; left -= half) half = left / 2, lo += x[lo + half] <= at ? half : 0;
    return *k = lo, true;
}

qs_status qsampled_ascending(qs_vm *vm, const char *fn, const char *what, const Numbers *x) {
    for (size_t i = 0; i + 1 < x->n; i++)
        if (!(x->x[i] < x->x[i + 1])) return qs_fail(vm, QS_EVALUE, "%s: %s must ascend", fn, what);
    return QS_OK;
}

/* -- counting ------------------------------------------------------------------------------------------------------ */
typedef struct {
    double lo, hi, differ; /* differ: the sum of x - x, which is nan for numbers that are not finite */
} Spread;
static inline void extend_spread(Spread *s, double v) {
    s->lo = v < s->lo ? v : s->lo, s->hi = v > s->hi ? v : s->hi, s->differ += v - v;
}

/* Finds the range of the numbers; lo is above hi if there are none.  Independent lanes become vectors.  Returns false
 * if some are not finite. */
static bool find_range(const Numbers *x, double *lo, double *hi) {
    enum { LANES = 8 };
    Spread lane[LANES];
    for (int l = 0; l < LANES; l++) lane[l] = (Spread){INFINITY, -INFINITY, 0};
    size_t i = 0;
    for (; i + LANES <= x->n; i += LANES)
        for (size_t l = 0; l < LANES; l++) extend_spread(&lane[l], x->x[i + l]);
    for (; i < x->n; i++) extend_spread(&lane[0], x->x[i]);
    for (int l = 1; l < LANES; l++) {
        lane[0].lo = fmin(lane[0].lo, lane[l].lo), lane[0].hi = fmax(lane[0].hi, lane[l].hi);
        lane[0].differ += lane[l].differ;
    }
    return *lo = lane[0].lo, *hi = lane[0].hi, lane[0].differ == 0;
}

/* Computes the n+1 edges of n equal bins over [lo, hi]; by default over the range of x. */
static qs_status equal_bins(qs_vm *vm, qs_call_args *c, const Numbers *x, int64_t n, double *edges) {
    double lo, hi;
    if (qarg_given(c, 2)) {
        Numbers range;
        TRY(qarg_wide(vm, c, 2, "range", 1, &range));
        if (range.n != 2 || !(range.x[0] < range.x[1]) || !isfinite(range.x[1] - range.x[0]))
            return qs_fail(vm, QS_EVALUE, "histogram: range must be [lo, hi] with lo below hi");
        lo = range.x[0], hi = range.x[1];
    } else if (!find_range(x, &lo, &hi)) {
        size_t i = 0;
        while (isfinite(x->x[i])) i++;
        return qs_fail(vm, QS_EVALUE,
                       "histogram: x has no finite range, because it contains %g; give edges or [lo, hi]: "
                       "elements outside are not counted",
                       x->x[i]);
    }
    if (lo > hi) lo = 0, hi = 1;
    if (lo == hi) lo -= 0.5, hi += 0.5;
    for (int64_t i = 0; i <= n; i++) edges[i] = lo + (hi - lo) * (double)i / (double)n;
    edges[n] = hi;
    return QS_OK;
}

/* Counts numbers in equal bins: estimates the bins of a block by division, in vectors, then corrects them by the edges.
 * Successive numbers are counted in different tables, because many fall into one bin, and an update must wait for the
 * one before it. */
static void count_equal(const Numbers *x, const double *edges, size_t n, double *counts, size_t tables) {
    enum { BLOCK = 256 };
    double lo = edges[0], hi = edges[n], scale = (double)n / (hi - lo), last = (double)n - 1;
    int32_t bin[BLOCK];
    for (size_t first = 0; first < x->n; first += BLOCK) {
        size_t count = x->n - first < BLOCK ? x->n - first : BLOCK;
        const double *v = x->x + first;
        for (size_t i = 0; i < count; i++) {
            double at = (v[i] - lo) * scale;
            at = at < last ? at : last; /* nan, too */
            bin[i] = (int32_t)(at > 0 ? at : 0);
        }
        for (size_t i = 0; i < count; i++) {
            size_t k = (size_t)bin[i];
            if (!(v[i] >= lo && v[i] <= hi)) continue;
            while (k > 0 && v[i] < edges[k]) k--;
            while (k + 1 < n && v[i] >= edges[k + 1]) k++;
            counts[(i & (tables - 1)) * n + k]++;
        }
    }
    for (size_t t = 1; t < tables; t++)
        for (size_t k = 0; k < n; k++) counts[k] += counts[t * n + k];
}

static qs_status histogram(qs_vm *vm, qs_call_args *c, const Numbers *x, qs_dtype d, double *edges, int64_t n,
                           bool equal) {
    enum { SMALL = 4096, TABLES = 4 /* a power of 2 */ }; /* small tables are in the cache */
    double *counts;
    size_t k, bins = (size_t)n, tables = equal && bins <= SMALL ? TABLES : 1;
    TRY(qsampled_scratch(vm, "histogram", bins * tables, &counts));
    if (equal) count_equal(x, edges, bins, counts, tables);
    else
        for (size_t i = 0; i < x->n; i++)
            if (qsampled_interval(edges, bins + 1, x->x[i], &k)) counts[k]++;
    qs_status s = qarg_narrow(vm, c, 0, QS_F64, 1, &n, counts);
    int64_t m = n + 1;
    if (s == QS_OK && c->nout > 1) s = qarg_narrow(vm, c, 1, d, 1, &m, edges);
    return qsampled_done(vm, counts, bins * tables), s;
}

/* [counts, edges] = histogram(x [, bins or edges [, [lo, hi]]]) */
qs_status qsampled_histogram(qs_vm *vm, qs_call_args *c) {
    Numbers x, given = {0};
    int64_t n = 10;
    double *edges;
    bool listed = qarg_given(c, 1) && c->in[1].kind == QS_ARRAY && qval_array(c->in[1])->count != 1;
    qs_dtype d = qarg_meet_float(vm, c, 0, listed ? 2 : 1);
    TRY(qarg_wide(vm, c, 0, "x", 1, &x));
    if (listed) TRY(qarg_wide(vm, c, 1, "edges", 1, &given));
    else if (qarg_given(c, 1)) TRY(qarg_count(vm, c->name, "bins", c->in[1], &n));
    if (listed) n = (int64_t)given.n - 1;
    if (n < 1 || n > 1 << 28) return qs_fail(vm, QS_EVALUE, "histogram: there must be 1 to 2^28 bins");
    if (listed) TRY(qsampled_ascending(vm, c->name, "edges", &given));
    TRY(qsampled_scratch(vm, c->name, (size_t)n + 1, &edges));
    if (listed) memcpy(edges, given.x, ((size_t)n + 1) * sizeof *edges);
    qs_status s = listed ? QS_OK : equal_bins(vm, c, &x, n, edges);
    if (s == QS_OK) s = histogram(vm, c, &x, d, edges, n, !listed);
    return qsampled_done(vm, edges, (size_t)n + 1), s;
}

/* bincount(x [, n [, weights]]) */
qs_status qsampled_bincount(qs_vm *vm, qs_call_args *c) {
    Numbers x, w = {0};
    int64_t n = 0;
    double *counts;
    TRY(qarg_wide(vm, c, 0, "x", 1, &x));
    if (qarg_given(c, 1)) TRY(qarg_count(vm, c->name, "n", c->in[1], &n));
    if (qarg_given(c, 2)) TRY(qarg_wide(vm, c, 2, "weights", 1, &w));
    if (w.a && w.n != x.n)
        return qs_fail(vm, QS_ESHAPE, "bincount: x and weights must have as many elements, got %zu and %zu", x.n, w.n);
    for (size_t i = 0; i < x.n; i++) {
        double v = x.x[i];
        if (!(v >= 0 && v < 0x1p31) || v != (double)(int64_t)v)
            return qs_fail(vm, QS_EVALUE, "bincount: x must hold integers from 0, got %g", v);
        if (v >= (double)n) n = (int64_t)v + 1;
    }
    TRY(qsampled_scratch(vm, c->name, (size_t)n, &counts));
    for (size_t i = 0; i < x.n; i++) counts[(size_t)x.x[i]] += w.a ? w.x[i] : 1;
    qs_status s = qarg_narrow(vm, c, 0, QS_F64, 1, &n, counts);
    return qsampled_done(vm, counts, (size_t)n), s;
}

/* -- polynomials: coefficients in descending powers ---------------------------------------------------------------- */
/* Computes v = v*x + p, for real or complex numbers. */
static void horner(double *v, const double *x, const double *p, int parts) {
    double re = v[0] * x[0] + p[0];
    if (parts == 2) {
        re -= v[1] * x[1];
        v[1] = v[0] * x[1] + v[1] * x[0] + p[1];
    }
    v[0] = re;
}

qs_status qsampled_polyval(qs_vm *vm, qs_call_args *c) {
    Numbers p, x;
    double *v;
    qs_dtype d = qarg_meet_float(vm, c, 0, 2);
    bool one = c->in[1].kind != QS_ARRAY;
    int parts = qarg_parts(c, 0, 2);
    TRY(qarg_wide(vm, c, 0, "p", parts, &p));
    TRY(qarg_wide(vm, c, 1, "x", parts, &x));
    size_t m = (size_t)parts, need = m * x.n;
    TRY(qsampled_scratch(vm, c->name, need, &v));
    for (size_t i = 0; i < need; i += m)
        for (size_t k = 0; k < p.n; k++) horner(v + i, x.x + i, p.x + m * k, parts);
    qs_status s = qarg_narrow(vm, c, 0, d, one ? -1 : x.a->rank, x.a->dims, v);
    qarg_keep(c->out[0], x.a);
    return qsampled_done(vm, v, need), s;
}

/* Householder reflection: clears column j of the m x n column-major matrix a below its diagonal, and transforms b
 * too. */
static void reflect(double *a, double *b, size_t m, size_t n, size_t j) {
    double *v = a + j * m, norm = 0, vv = 0;
    for (size_t i = j; i < m; i++) norm = hypot(norm, v[i]);
    if (norm == 0) return;
    double top = v[j] > 0 ? -norm : norm;
    v[j] -= top;
    for (size_t i = j; i < m; i++) vv += v[i] * v[i];
    for (size_t k = j + 1; k <= n; k++) {
        double *u = k < n ? a + k * m : b, dot = 0;
        for (size_t i = j; i < m; i++) dot += v[i] * u[i];
        for (size_t i = j; i < m; i++) u[i] -= 2 * dot / vv * v[i];
    }
    v[j] = top;
}

/* Computes the least squares fit by powers of x scaled to [-1,1], which keeps the matrix well conditioned; false: too
 * few of the numbers differ. */
static bool fit_polynomial(double *a, double *b, const double *x, size_t m, size_t n, double *p) {
    double scale = 0;
    for (size_t i = 0; i < m; i++) scale = fmax(scale, fabs(x[i]));
    if (scale == 0) scale = 1;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < m; i++) a[k * m + i] = pow(x[i] / scale, (double)(n - 1 - k));
    for (size_t j = 0; j < n; j++) reflect(a, b, m, n, j);
    if (qtriangle_lacks_rank(a, n, m + 1, 1, m)) return false;
    for (size_t j = n; j-- > 0;) {
        p[j] = b[j];
        for (size_t k = j + 1; k < n; k++) p[j] -= a[k * m + j] * p[k];
        p[j] /= a[j * m + j];
    }
    for (size_t k = 0; k < n; k++) p[k] /= pow(scale, (double)(n - 1 - k));
    return true;
}

/* Subtracts the mean from x and divides by the standard deviation; mu receives both. */
static void normalise(const double *x, size_t m, double *to, double mu[2]) {
    mu[0] = mu[1] = 0;
    for (size_t i = 0; i < m; i++) mu[0] += x[i] / (double)m;
    for (size_t i = 0; i < m; i++) mu[1] += (x[i] - mu[0]) * (x[i] - mu[0]);
    mu[1] = sqrt(mu[1] / (double)(m > 1 ? m - 1 : 1));
    for (size_t i = 0; i < m; i++) to[i] = mu[1] > 0 ? (x[i] - mu[0]) / mu[1] : 0;
}

/* Describes the fit: the triangle R for the unscaled powers of x, the degrees of freedom and the norm of the
 * residual. */
static qs_status describe_fit(qs_vm *vm, const double *a, const double *b, const double *x, size_t m, size_t n,
                              qs_value *out) {
    Object *o;
    Array *r;
    void *to;
    double scale = 0, rest = 0;
    for (size_t i = 0; i < m; i++) scale = fmax(scale, fabs(x[i]));
    for (size_t i = n; i < m; i++) rest = hypot(rest, b[i]);
    TRY(qobj_new(vm, NULL, &o));
    *out = qval_object(QS_OBJECT, o);
    TRY(qarr_make(vm, QS_F64, 2, (int64_t[]){(int64_t)n, (int64_t)n}, true, &r, &to));
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k <= j; k++)
            ((double *)to)[k * n + j] = a[j * m + k] * (scale > 0 ? pow(scale, (double)(n - 1 - j)) : 1);
    TRY(qarg_set_field(vm, o, "R", qarr_value(r)));
    TRY(qarg_set_field(vm, o, "df", qs_num((double)(m - n))));
    return qarg_set_field(vm, o, "normr", qs_num(rest));
}

/* [p, S, mu] = polyfit(x, y, degree): if mu is requested, x is normalised by it. */
qs_status qsampled_polyfit(qs_vm *vm, qs_call_args *c) {
    Numbers x, y;
    int64_t degree;
    double *a, mu[2];
    qs_dtype d = qarg_meet_float(vm, c, 0, 2);
    TRY(qarg_wide(vm, c, 0, "x", 1, &x));
    TRY(qarg_wide(vm, c, 1, "y", 1, &y));
    TRY(qarg_count(vm, c->name, "degree", c->in[2], &degree));
    if (x.n != y.n || degree >= (int64_t)x.n)
        return qs_fail(vm, QS_ESHAPE,
                       "polyfit: x and y must have as many elements, more than the degree %lld, got %zu and %zu",
                       (long long)degree, x.n, y.n);
    size_t n = (size_t)degree + 1, need = x.n * n + 2 * x.n + n;
    TRY(qsampled_scratch(vm, c->name, need, &a));
    double *b = a + x.n * n, *p = b + x.n, *scaled = p + n;
    memcpy(b, y.x, y.n * sizeof *b);
    memcpy(scaled, x.x, x.n * sizeof *scaled);
    if (c->nout > 2) normalise(x.x, x.n, scaled, mu);
    qs_status s =
        fit_polynomial(a, b, scaled, x.n, n, p)
            ? qarg_narrow(vm, c, 0, d, 1, (int64_t[]){(int64_t)n}, p)
            : qs_fail(vm, QS_EVALUE, "polyfit: a polynomial of degree %lld needs x at more than %lld positions",
                      (long long)degree, (long long)degree);
    if (s == QS_OK && c->nout > 1) s = describe_fit(vm, a, b, scaled, x.n, n, &c->out[1]);
    if (s == QS_OK && c->nout > 2) s = qarg_narrow(vm, c, 2, d, 1, (int64_t[]){2}, mu);
    return qsampled_done(vm, a, need), s;
}

/* -- convolution --------------------------------------------------------------------------------------------------- */
typedef struct {
    const double *x;
    int64_t h, w;
    int parts;
} Image;

/* Adds f*from to `to`, n numbers. */
static void add_scaled(double *to, const double *f, const double *from, int64_t n, int parts) {
    if (parts == 1)
        for (int64_t j = 0; j < n; j++) to[j] += *f * from[j];
    else
        for (int64_t j = 0; j < 2 * n; j += 2) {
            to[j] += f[0] * from[j] - f[1] * from[j + 1];
            to[j + 1] += f[0] * from[j + 1] + f[1] * from[j];
        }
}

typedef struct {
    int64_t from, end;
} Span; /* range of positions in a row */

static Span common(Span a, Span b) { return (Span){a.from > b.from ? a.from : b.from, a.end < b.end ? a.end : b.end}; }

/* Adds the convolution of row x of a and row f of b to the positions `to`; out[0] is position `origin`. */
static void add_row(const Image *a, const double *x, const Image *b, const double *f, Span to, int64_t origin,
                    double *out) {
    int64_t m = a->parts;
    for (int64_t l = 0; l < b->w && to.from < to.end; l++) {
        Span s = common(to, (Span){l, l + a->w});
        if (s.from < s.end)
            add_scaled(out + m * (s.from - origin), f + m * l, x + m * (s.from - l), s.end - s.from, a->parts);
    }
}

/* The result is divided into blocks of a few rows.  The sums of a row of a block stay in the cache while all factors
 * are applied, and are then converted to elements of the result.  If the elements of a are not float64, the ones that a
 * block needs are converted first. */
typedef struct {
    const Image *a, *b;
    const char *elements; /* of a, of type `from`; NULL: a->x has them as float64 */
    char *out;
    qs_dtype from, d; /* d: of the real parts of the result */
    int64_t bands, height;
    Span rows, columns; /* of the result, that are wanted */
    double *room;       /* `each` numbers for each thread */
    size_t each;
    const Flag *stop;
} Convolution;
enum {
    STRETCH = 1024,           /* columns of a block */
    BAND = 16,                /* rows of a block whose elements are converted */
    MOST_CONVERTED = 1 << 17, /* elements that are converted for a block */
    WORTH_A_THREAD = 1 << 16  /* minimum multiplications per thread */
};

/* Returns how many elements a block needs. */
static size_t converted_count(const Image *b) { return (size_t)((BAND + b->h - 1) * (STRETCH + b->w - 1)); }

/* Adds the products for positions `to` of row y to out. */
static void convolve_stretch(const Image *a, const Image *b, int64_t y, Span to, double *out) {
    int64_t top = y < b->h ? 0 : y - b->h + 1, end = y < a->h ? y + 1 : a->h;
    Span all = common(to, (Span){b->w - 1, a->w});
    if (a->parts > 1 || all.from >= all.end) all = (Span){to.end, to.end};
    for (int64_t i = top; i < end; i++) { /* positions that not all factors of a row meet */
        const double *x = a->x + a->parts * i * a->w, *f = b->x + a->parts * (y - i) * b->w;
        add_row(a, x, b, f, (Span){to.from, all.from}, to.from, out);
        add_row(a, x, b, f, (Span){all.end, to.end}, to.from, out);
    }
    if (all.from == all.end || top == end) return;
    Window w = {a->x + top * a->w + all.from, b->x + (y - top) * b->w, a->w, -b->w, (size_t)(end - top), (size_t)b->w};
    qstencil_loops()->convolve(&w, (size_t)(all.end - all.from), out + all.from - to.from);
}

/* Returns the positions of n elements that positions `to` of a convolution with m factors need. */
static Span needed(Span to, int64_t n, int64_t m) { return common((Span){to.from - m + 1, to.end}, (Span){0, n}); }

/* Returns the part of a that the given positions of the result need, as float64 in `to`. */
static Image convert_part(const Convolution *c, Span rows, Span columns, double *to) {
    int64_t w = columns.end - columns.from;
    size_t size = qdtype_size(c->from);
    Image part = {to, rows.end - rows.from, w, 1};
    for (int64_t y = rows.from; y < rows.end; y++, to += w)
        qconv_run(c->from, c->elements + (size_t)(y * c->a->w + columns.from) * size, (ptrdiff_t)size, QS_F64, to,
                  sizeof *to, (size_t)w);
    return part;
}

/* Computes blocks, which are numbered down the columns. */
static void convolve_blocks(void *ud, int64_t first, int64_t last, int worker) {
    const Convolution *c = ud;
    int64_t m = c->a->parts, w = c->columns.end - c->columns.from;
    size_t size = qdtype_size(c->d);
    double sums[2 * STRETCH];
    for (int64_t k = first; k < last && !qflag_is_up(c->stop); k++) {
        int64_t row = c->rows.from + k % c->bands * c->height, column = c->columns.from + k / c->bands * STRETCH;
        Span rows = common((Span){row, row + c->height}, c->rows), to = {column, column + STRETCH};
        to = common(to, c->columns);
        Image part = *c->a;
        Span down = {0, 0}, right = down;
        if (c->elements) {
            down = needed(rows, part.h, c->b->h), right = needed(to, part.w, c->b->w);
            part = convert_part(c, down, right, c->room + (size_t)worker * c->each);
        }
        int64_t n = m * (to.end - to.from);
        for (int64_t y = rows.from; y < rows.end; y++) {
            char *out = c->out + (size_t)(m * ((y - c->rows.from) * w + to.from - c->columns.from)) * size;
            memset(sums, 0, (size_t)n * sizeof *sums);
            convolve_stretch(&part, c->b, y - down.from, (Span){to.from - right.from, to.end - right.from}, sums);
            qconv_run(QS_F64, sums, sizeof *sums, c->d, out, (ptrdiff_t)size, (size_t)n);
        }
    }
}

/* Computes these rows and columns of the full convolution.  An interrupt ends it early; the call then fails. */
static qs_status convolve_directly(qs_vm *vm, Convolution *c) {
    int64_t w = c->columns.end - c->columns.from, h = c->rows.end - c->rows.from;
    Threads *t = qthreads_of(qvm_ctx(vm));
    c->height = c->elements ? BAND : 1, c->bands = (h + c->height - 1) / c->height;
    c->stop = &qvm(vm)->interrupted;
    double work = (double)((w < STRETCH ? w : STRETCH) * c->height) * (double)c->b->w;
    int64_t grain = work < WORTH_A_THREAD ? (int64_t)(WORTH_A_THREAD / work) + 1 : 1;
    int64_t blocks = c->bands * ((w + STRETCH - 1) / STRETCH);
    size_t bytes = 0;
    if (c->elements) {
        c->each = converted_count(c->b);
        bytes = qmem_size((size_t)qthreads_workers(t, blocks, grain), c->each * sizeof *c->room, 0);
        c->room = qpool_get(qvm_ctx(vm), bytes);
        if (!c->room) return qs_fail(vm, QS_ENOMEM, "conv2: no memory for its blocks");
    }
    qdoing_stage(&qvm_ctx(vm)->doing, 0, 1, 0);
    qthreads_run(t, blocks, grain, convolve_blocks, c);
    if (c->room) qpool_put(qvm_ctx(vm), c->room, bytes);
    return QS_OK;
}

/* -- convolution of large arrays by FFT ---------------------------------------------------------------------------- */
enum {
    FEWEST = 1 << 16, /* a direct convolution with fewer products is fast enough */
    STEP_PRODUCTS = 8 /* products of a direct convolution in the time of one step of an FFT; see qfft_convolve_cost */
};

/* Returns the squared norm; infinite or NaN if an element is.  *whole becomes false if an element is not integral. */
static double norm2(const Image *x, bool *whole) {
    double sum = 0;
    for (int64_t i = 0; i < x->h * x->w * x->parts; i++) sum += x->x[i] * x->x[i], *whole &= x->x[i] == rint(x->x[i]);
    return sum;
}

/* Counts the products of a direct convolution of n and m elements for these positions of the result. */
static double count_products(int64_t n, int64_t m, Span to) {
    int64_t sum = 0;
    for (int64_t k = to.from; k < to.end; k++) sum += (k < n ? k : n - 1) - (k < m ? 0 : k - m + 1) + 1;
    return (double)sum;
}

/* Matrices are convolved as vectors: element (i,j) is at position i*down + j*right, and zeros separate the rows, or the
 * columns where they are shorter. */
typedef struct {
    int64_t down, right;
    ConvolutionSize size;
    double cost;
} Packing;

/* Returns the distance of rows of n and m elements, if the positions `wanted` of the result are kept.  The end of a row
 * may overlap positions of the next one that are not wanted. */
static int64_t choose_row_stride(int64_t n, int64_t m, Span wanted) {
    int64_t w = n + m - 1 - wanted.from, least = n > m ? n : m;
    if (least < wanted.end) least = wanted.end;
    return w > least ? w : least;
}

static size_t packed_position(const Packing *p, int64_t i, int64_t j) { return (size_t)(i * p->down + j * p->right); }

static Packing pack_lines(const Convolution *c, bool by_columns) {
    const Image *a = c->a, *b = c->b;
    Packing p = {1, 1, {.parts = a->parts}, 0};
    if (by_columns) p.right = choose_row_stride(a->h, b->h, c->rows);
    else p.down = choose_row_stride(a->w, b->w, c->columns);
    p.size.n = packed_position(&p, a->h - 1, a->w - 1) + 1, p.size.m = packed_position(&p, b->h - 1, b->w - 1) + 1;
    p.size.from = packed_position(&p, c->rows.from, c->columns.from);
    p.size.end = packed_position(&p, c->rows.end - 1, c->columns.end - 1) + 1;
    p.cost = qfft_convolve_cost(&p.size);
    return p;
}

/* Chooses the cheaper packing; returns false if the direct convolution is faster. */
static bool is_fft_faster(const Convolution *c, Packing *p) {
    const Image *a = c->a, *b = c->b;
    double products = count_products(a->h, b->h, c->rows) * count_products(a->w, b->w, c->columns);
    if (products < FEWEST) return false;
    Packing rows = pack_lines(c, false), columns = pack_lines(c, true);
    *p = columns.cost < rows.cost ? columns : rows;
    return products * a->parts * a->parts > STEP_PRODUCTS * p->cost;
}

/* Copies the elements of x into zeros. */
static void pack_image(const Packing *p, const Image *x, double *to) {
    const double *from = x->x;
    for (int64_t i = 0; i < x->h; i++)
        for (int64_t j = 0; j < x->w; j++, from += x->parts)
            memcpy(to + packed_position(p, i, j) * (size_t)x->parts, from, (size_t)x->parts * sizeof *to);
}

/* Computes the wanted positions of the full convolution. */
static qs_status fill_by_fft(qs_vm *vm, const Convolution *c, const Packing *p, double *out) {
    size_t n = p->size.n * (size_t)p->size.parts, need = n + p->size.m * (size_t)p->size.parts;
    const double *x = c->a->x, *y = c->b->x;
    double *packed = NULL;
    if (c->a->h > 1 || c->b->h > 1) {
        TRY(qsampled_scratch(vm, "conv2", need, &packed));
        pack_image(p, c->a, packed), pack_image(p, c->b, packed + n);
        x = packed, y = packed + n;
    }
    qs_status s = qfft_convolve(vm, x, y, &p->size, out);
    if (packed) qsampled_done(vm, packed, need);
    return s;
}

static qs_status convolve_by_fft(qs_vm *vm, const Convolution *c, const Packing *p, bool whole) {
    size_t m = (size_t)p->size.parts, n = p->size.end * m, size = qdtype_size(c->d);
    int64_t row = c->columns.end - c->columns.from;
    char *out = c->out;
    double *full;
    TRY(qsampled_scratch(vm, "conv2", n, &full));
    qs_status s = fill_by_fft(vm, c, p, full);
    for (size_t k = p->size.from * m; whole && s == QS_OK && k < n; k++) full[k] = rint(full[k]) + 0.0; /* 0, not -0 */
    for (int64_t i = c->rows.from; s == QS_OK && i < c->rows.end; i++, out += (size_t)row * m * size)
        for (size_t part = 0; part < m; part++)
            qconv_run(QS_F64, full + packed_position(p, i, c->columns.from) * m + part,
                      (ptrdiff_t)((size_t)p->right * m * sizeof *full), c->d, out + part * size, (ptrdiff_t)(m * size),
                      (size_t)row);
    return qsampled_done(vm, full, n), s;
}

/* Computes the part of the full convolution that a mode keeps: first position and extent along one dimension. */
static void kept(char mode, int64_t a, int64_t b, int64_t *from, int64_t *n) {
    *from = mode == 'f' ? 0 : mode == 's' ? b / 2 : b - 1;
    *n = mode == 'f' ? a + b - 1 : mode == 's' ? a : a >= b ? a - b + 1 : 0;
}

static qs_status conv_mode(qs_vm *vm, const char *fn, qs_value v, char *mode) {
    const char *s;
    TRY(qarg_string(vm, fn, "mode", v, &s, NULL));
    *mode = s[0];
    if (!strcmp(s, "full") || !strcmp(s, "same") || !strcmp(s, "valid")) return QS_OK;
    return qs_fail(vm, QS_EVALUE, "%s: mode must be full, same or valid, got \"%s\"", fn, s);
}

/* Reads the size of argument i, and keeps its type. */
static qs_status image_of(qs_vm *vm, qs_call_args *c, int i, bool flat, int parts, Image *out) {
    int64_t size[QS_MAX_RANK];
    Array *x;
    TRY(qarg_array(vm, c, i, i ? "b" : "a", &x));
    if (x->rank > 2 || x->count == 0)
        return qs_fail(vm, QS_ESHAPE, "%s: %s must be a vector or a matrix with elements", c->name, i ? "b" : "a");
    qarr_size(x, size);
    if (flat && size[0] != 1 && size[1] != 1)
        return qs_fail(vm, QS_ESHAPE, "%s: %s must be a vector", c->name, i ? "b" : "a");
    *out = flat ? (Image){NULL, 1, (int64_t)x->count, parts} : (Image){NULL, size[0], size[1], parts};
    return QS_OK;
}

/* Converts argument i to float64 or complex128. */
static qs_status widen(qs_vm *vm, qs_call_args *c, int i, Image *image) {
    Numbers x;
    TRY(qarg_wide(vm, c, i, i ? "b" : "a", image->parts, &x));
    return image->x = x.x, QS_OK;
}

static qs_status convolution(qs_vm *vm, qs_call_args *c, bool flat) {
    Image operand[2];
    char mode = 'f';
    Array *y, *from;
    void *out;
    const void *elements;
    qs_dtype d = qarg_meet_float(vm, c, 0, 2);
    int parts = qarg_parts(c, 0, 2);
    for (int i = 0; i < 2; i++) TRY(image_of(vm, c, i, flat, parts, &operand[i]));
    const Image *p = operand, *q = p + 1;
    if (qarg_given(c, 2)) TRY(conv_mode(vm, c->name, c->in[2], &mode));
    int64_t top, left, dims[2];
    kept(mode, p->h, q->h, &top, &dims[0]), kept(mode, p->w, q->w, &left, &dims[1]);
    TRY(qarg_result(vm, c, 0, d, 2, dims, &y, &out));
    const Array *first = qval_array(c->in[0]), *second = qval_array(c->in[1]);
    qarg_keep(c->out[0], first->ndim > second->ndim ? first : second);
    if (!y->count) return QS_OK;
    int small = p->h * p->w < q->h * q->w ? 0 : 1; /* the factors are its elements */
    Convolution v = {.a = p + !small, .b = p + small, .out = out, .d = qdtype_real_of(d)};
    v.rows = (Span){top, top + dims[0]}, v.columns = (Span){left, left + dims[1]};
    TRY(widen(vm, c, small, &operand[small]));
    Packing packing;
    bool fft = is_fft_faster(&v, &packing);
    if (fft || parts == 2 || converted_count(v.b) > MOST_CONVERTED || qval_array(c->in[!small])->dtype == QS_F64)
        TRY(widen(vm, c, !small, &operand[!small]));
    else {
        v.from = (qs_dtype)qval_array(c->in[!small])->dtype;
        TRY(qarg_packed(vm, c, !small, "a", v.from, &from, &elements));
        v.elements = elements;
    }
    bool whole = true;
    double size = fft ? sqrt(norm2(v.a, &whole)) * sqrt(norm2(v.b, &whole)) : INFINITY;
    if (!isfinite(size)) return convolve_directly(vm, &v);
    int64_t n = (p->w + q->w - 1) * (p->h + q->h - 1) * parts;
    return convolve_by_fft(vm, &v, &packing, whole && size * log2((double)n) * 16 * 0x1p-53 < 0.5);
}
qs_status qsampled_conv(qs_vm *vm, qs_call_args *c) { return convolution(vm, c, true); }
qs_status qsampled_conv2(qs_vm *vm, qs_call_args *c) { return convolution(vm, c, false); }

/* -- covariance: rows are observations, columns are variables ------------------------------------------------------ */
/* Subtracts the mean of each column; `mean` has room for one row. */
static void center(double *x, size_t rows, size_t columns, double *mean) {
    memset(mean, 0, columns * sizeof *mean);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) mean[j] += x[i * columns + j] / (double)rows;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) x[i * columns + j] -= mean[j];
}

/* Writes the transpose of x to y and replaces x by its conjugate. */
static void transpose(double *x, size_t rows, size_t n, size_t parts, double *y) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++) {
            double *from = x + parts * (i * n + j), *to = y + parts * (j * rows + i);
            memcpy(to, from, parts * sizeof *to);
            if (parts == 2) from[1] = -from[1];
        }
}

/* Computes the transpose of x times its conjugate in out (n*n); x and y have rows*n elements.  A matrix product may
 * round the two triangles differently; the lower one is used for both. */
static void covariances(qs_vm *vm, double *x, size_t rows, size_t n, int parts, double *y, double *out) {
    size_t m = (size_t)parts;
    double by = rows > 1 ? (double)(rows - 1) : 1;
    center(x, rows, m * n, out);
    transpose(x, rows, n, m, y);
    qgemm_run(vm, &(Gemm){.d = parts == 2 ? QS_C128 : QS_F64,
                          .size = {(int64_t)n, (int64_t)n, (int64_t)rows},
                          .a = y,
                          .b = x,
                          .c = out});
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k <= j; k++) {
            double *s = out + m * (j * n + k), *mirrored = out + m * (k * n + j);
            for (size_t part = 0; part < m; part++) s[part] /= by;
            if (parts == 2 && j == k) s[1] = 0;
            mirrored[0] = s[0];
            if (parts == 2 && j != k) mirrored[1] = -s[1];
        }
}

static void correlations(double *c, size_t n, int parts) {
    size_t m = (size_t)parts;
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++)
            for (size_t part = 0; j != k && part < m; part++)
                c[m * (j * n + k) + part] =
                    c[m * (j * n + k) + part] / sqrt(c[m * (j * n + j)]) / sqrt(c[m * (k * n + k)]);
    for (size_t j = 0; j < n; j++) c[m * (j * n + j)] /= c[m * (j * n + j)];
}

/* Computes the regularised incomplete beta function I_x(a, b) with the continued fraction of Lentz, using 1-x if that
 * converges faster.  Source: Press et al.: Numerical Recipes, 6.4. */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), h;
    d = 1 / (fabs(d) < tiny ? tiny : d), h = d;
    for (int m = 1; m < 500; m++) {
        double before = h;
        for (int odd = 0; odd < 2; odd++) {
            double f = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                           : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + f * d, c = 1 + f / c;
            d = 1 / (fabs(d) < tiny ? tiny : d), c = fabs(c) < tiny ? tiny : c;
            h *= c * d;
        }
        if (fabs(h - before) <= 1e-16 * fabs(h)) break;
    }
    return h;
}

static double incomplete_beta(double a, double b, double x) {
    if (!(x > 0 && x < 1)) return x; /* 0, 1, nan */
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* Computes the p-values of correlations (Student's t): the probability of one at least as large if there is none; 1 on
 * the diagonal. */
static void probabilities(double *r, size_t n, size_t rows) {
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++) {
            double x = (1 - r[j * n + k]) * (1 + r[j * n + k]);
            r[j * n + k] =
                j == k || rows < 3 ? 1 + 0 * x : incomplete_beta((double)(rows - 2) / 2, 0.5, fmax(x, 0) + 0 * x);
        }
}

/* Computes f(x) of a vector (one variable) or matrix, or f(x, y) of two vectors. */
static qs_status covariance(qs_vm *vm, qs_call_args *c, bool normalised) {
    Numbers x, y = {0};
    double *v;
    int64_t size[QS_MAX_RANK];
    bool two = qarg_given(c, 1);
    qs_dtype d = qarg_meet_float(vm, c, 0, 2);
    int parts = qarg_parts(c, 0, two ? 2 : 1);
    TRY(qarg_wide(vm, c, 0, "x", parts, &x));
    if (two) TRY(qarg_wide(vm, c, 1, "y", parts, &y));
    if (x.a->rank > 2 || x.n == 0 || (two && y.n != x.n))
        return qs_fail(vm, QS_ESHAPE, "%s: x must be a vector or a matrix with elements, y of the same size", c->name);
    qarr_size(x.a, size);
    size_t m = (size_t)parts, n = two ? 2 : size[0] == 1 ? 1 : (size_t)size[1], rows = two ? x.n : x.n / n;
    size_t need = m * (2 * rows * n + n * n);
    TRY(qsampled_scratch(vm, c->name, need, &v));
    if (!two) memcpy(v, x.x, m * x.n * sizeof *v);
    for (size_t i = 0; two && i < rows; i++)
        memcpy(v + m * 2 * i, x.x + m * i, m * sizeof *v), memcpy(v + m * (2 * i + 1), y.x + m * i, m * sizeof *v);
    double *transposed = v + m * rows * n, *out = transposed + m * rows * n;
    covariances(vm, v, rows, n, parts, transposed, out);
    if (normalised) correlations(out, n, parts);
    qs_status s = qarg_narrow(vm, c, 0, d, n == 1 ? -1 : 2, (int64_t[]){(int64_t)n, (int64_t)n}, out);
    if (s == QS_OK && c->nout > 1) {
        if (m > 1) s = qs_fail(vm, QS_ETYPE, "%s: probabilities are those of real numbers", c->name);
        else probabilities(out, n, rows);
        if (s == QS_OK) s = qarg_narrow(vm, c, 1, d, n == 1 ? -1 : 2, (int64_t[]){(int64_t)n, (int64_t)n}, out);
    }
    return qsampled_done(vm, v, need), s;
}
qs_status qsampled_cov(qs_vm *vm, qs_call_args *c) { return covariance(vm, c, false); }
qs_status qsampled_corrcoef(qs_vm *vm, qs_call_args *c) { return covariance(vm, c, true); }
