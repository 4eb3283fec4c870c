/* sampled.c -- sampled functions: interpolation, counting, polynomials, convolution, covariance.  Computed in float64;
 * results are float64 when an argument is, else arrays of scalar. */
#include "stdlib/stdlib.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct { Array *a; const double *x; size_t n; } Data;

/* Argument i as packed doubles; *d becomes float64 when it is. */
static qs_status data(qs_vm *vm, qs_call_args *c, int i, const char *fn, const char *what, qs_dtype *d, Data *out) {
    const void *p;
    TRY(qarg_array(vm, c, i, fn, what, &out->a));
    if (out->a->dtype == QS_F64) *d = QS_F64;
    TRY(qarg_packed(vm, c, i, fn, what, QS_F64, &out->a, &p));
    out->x = p, out->n = out->a->count;
    return QS_OK;
}

static qs_status scratch(qs_vm *vm, const char *fn, size_t n, double **out) {
    *out = qmem_try(qvm_ctx(vm), (n + 1) * sizeof(double));
    if (!*out) return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu numbers", fn, n);
    memset(*out, 0, (n + 1) * sizeof(double));
    return QS_OK;
}
static void done(qs_vm *vm, double *x, size_t n) { qmem_try_free(qvm_ctx(vm), x, (n + 1) * sizeof(double)); }

static qs_status result(qs_vm *vm, qs_call_args *c, int i, qs_dtype d, int rank, const int64_t *dims, const double *x) {
    Array *r;
    void *p;
    TRY(qarg_result(vm, c, i, d, rank, dims, &r, &p));
    for (size_t k = 0; k < r->count; k++) qdtype_put(d, (char *)p + k * qdtype_size(d), x[k]);
    return QS_OK;
}

/* -- interpolation ------------------------------------------------------------------------------------------------- */
/* The interval k with x[k] <= at <= x[k+1] of ascending x, n >= 2; false: outside, or nan. */
static bool interval(const double *x, size_t n, double at, size_t *k) {
    if (!(at >= x[0] && at <= x[n - 1])) return false;
    size_t lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo)/2;
        if (x[mid] <= at) lo = mid;
        else hi = mid;
    }
    return *k = lo, true;
}

static double within(const double *x, const double *y, size_t k, double at, char method) {
    double t = (at - x[k])/(x[k + 1] - x[k]);
    if (method == 'n') return y[k + (t >= 0.5)];
    if (method == 'p') return y[k + (t >= 1)];
    return t == 0 ? y[k] : t == 1 ? y[k + 1] : y[k] + t*(y[k + 1] - y[k]);
}

static qs_status ascending(qs_vm *vm, const char *fn, const char *what, const Data *x) {
    for (size_t i = 0; i + 1 < x->n; i++)
        if (!(x->x[i] < x->x[i + 1])) return qs_fail(vm, QS_EVALUE, "%s: %s must ascend", fn, what);
    return QS_OK;
}

static qs_status interp_method(qs_vm *vm, qs_value v, char *method) {
    const char *s;
    TRY(qarg_string(vm, "interp1", "method", v, &s, NULL));
    *method = s[0];
    if (!strcmp(s, "linear") || !strcmp(s, "nearest") || !strcmp(s, "previous")) return QS_OK;
    return qs_fail(vm, QS_EVALUE, "interp1: method must be linear, nearest or previous, got \"%s\"", s);
}

/* interp1(x, y, at [, method [, outside]]) */
qs_status qsampled_interp1(qs_vm *vm, qs_call_args *c) {
    Data x, y, at;
    char method = 'l';
    double outside = NAN, *v;
    qs_dtype d = qvm_ctx(vm)->scalar_dtype;
    bool one = c->in[2].kind != QS_ARRAY;
    TRY(data(vm, c, 0, "interp1", "x", &d, &x));
    TRY(data(vm, c, 1, "interp1", "y", &d, &y));
    TRY(data(vm, c, 2, "interp1", "at", &d, &at));
    if (qarg_given(c, 3)) TRY(interp_method(vm, c->in[3], &method));
    if (qarg_given(c, 4)) TRY(qarg_num(vm, "interp1", "outside", c->in[4], &outside));
    if (x.n != y.n || x.n < 2)
        return qs_fail(vm, QS_ESHAPE, "interp1: x and y must have as many elements, at least 2, got %zu and %zu", x.n,
                       y.n);
    TRY(ascending(vm, "interp1", "x", &x));
    TRY(scratch(vm, "interp1", at.n, &v));
    for (size_t i = 0, k; i < at.n; i++)
        v[i] = interval(x.x, x.n, at.x[i], &k) ? within(x.x, y.x, k, at.x[i], method) : isnan(at.x[i]) ? NAN : outside;
    qs_status s = QS_OK;
    if (one) c->out[0] = qs_num(v[0]);
    else s = result(vm, c, 0, d, at.a->rank, at.a->dims, v);
    return done(vm, v, at.n), s;
}

/* Between the four neighbours of row y, column x; the last row and column belong to the matrix. */
static double bilinear(const double *z, int64_t h, int64_t w, double x, double y, double outside) {
    if (isnan(x) || isnan(y)) return NAN;
    if (!(x >= 0 && y >= 0 && x <= (double)(w - 1) && y <= (double)(h - 1))) return outside;
    int64_t j = (int64_t)x, i = (int64_t)y, right = j + 1 < w, down = i + 1 < h ? w : 0;
    const double *p = z + i*w + j;
    double s = x - (double)j, t = y - (double)i;
    return (p[0]*(1 - s) + p[right]*s)*(1 - t) + (p[down]*(1 - s) + p[down + right]*s)*t;
}

/* interp2(z, x, y [, outside]) */
qs_status qsampled_interp2(qs_vm *vm, qs_call_args *c) {
    Data z, x, y;
    double outside = NAN, *v;
    qs_dtype d = qvm_ctx(vm)->scalar_dtype;
    bool one = c->in[1].kind != QS_ARRAY;
    TRY(data(vm, c, 0, "interp2", "z", &d, &z));
    TRY(data(vm, c, 1, "interp2", "x", &d, &x));
    TRY(data(vm, c, 2, "interp2", "y", &d, &y));
    if (qarg_given(c, 3)) TRY(qarg_num(vm, "interp2", "outside", c->in[3], &outside));
    if (z.a->rank > 2 || x.n != y.n)
        return qs_fail(vm, QS_ESHAPE, "interp2: z must be a matrix, x and y of the same size");
    int64_t size[QS_MAX_RANK];
    qarr_size(z.a, size);
    TRY(scratch(vm, "interp2", x.n, &v));
    for (size_t i = 0; i < x.n; i++) v[i] = bilinear(z.x, size[0], size[1], x.x[i], y.x[i], outside);
    qs_status s = QS_OK;
    if (one) c->out[0] = qs_num(v[0]);
    else s = result(vm, c, 0, d, x.a->rank, x.a->dims, v);
    return done(vm, v, x.n), s;
}

/* -- counting ------------------------------------------------------------------------------------------------------ */
/* n+1 edges of n equal bins over [lo, hi], of the finite numbers of x when not given. */
static qs_status equal_bins(qs_vm *vm, qs_call_args *c, const Data *x, int64_t n, double *edges) {
    double lo = INFINITY, hi = -INFINITY;
    if (qarg_given(c, 2)) {
        Data range;
        qs_dtype any;
        TRY(data(vm, c, 2, "histogram", "range", &any, &range));
        if (range.n != 2 || !(range.x[0] < range.x[1]) || !isfinite(range.x[1] - range.x[0]))
            return qs_fail(vm, QS_EVALUE, "histogram: range must be [lo, hi] with lo below hi");
        lo = range.x[0], hi = range.x[1];
    } else
        for (size_t i = 0; i < x->n; i++)
            if (isfinite(x->x[i])) lo = fmin(lo, x->x[i]), hi = fmax(hi, x->x[i]);
    if (lo > hi) lo = 0, hi = 1;
    if (lo == hi) lo -= 0.5, hi += 0.5;
    for (int64_t i = 0; i <= n; i++) edges[i] = lo + (hi - lo)*(double)i/(double)n;
    edges[n] = hi;
    return QS_OK;
}

static qs_status histogram(qs_vm *vm, qs_call_args *c, const Data *x, qs_dtype d, double *edges, int64_t n) {
    double *counts;
    size_t k;
    TRY(scratch(vm, "histogram", (size_t)n, &counts));
    for (size_t i = 0; i < x->n; i++)
        if (interval(edges, (size_t)n + 1, x->x[i], &k)) counts[k]++;
    qs_status s = result(vm, c, 0, QS_F64, 1, &n, counts);
    int64_t m = n + 1;
    if (s == QS_OK && c->nout > 1) s = result(vm, c, 1, d, 1, &m, edges);
    return done(vm, counts, (size_t)n), s;
}

/* [counts, edges] = histogram(x [, bins or edges [, [lo, hi]]]) */
qs_status qsampled_histogram(qs_vm *vm, qs_call_args *c) {
    Data x, given = {0};
    qs_dtype d = qvm_ctx(vm)->scalar_dtype;
    int64_t n = 10;
    double *edges;
    TRY(data(vm, c, 0, "histogram", "x", &d, &x));
    bool listed = qarg_given(c, 1) && c->in[1].kind == QS_ARRAY && qval_array(c->in[1])->count != 1;
    if (listed) TRY(data(vm, c, 1, "histogram", "edges", &d, &given));
    else if (qarg_given(c, 1)) TRY(qarg_count(vm, "histogram", "bins", c->in[1], &n));
    if (listed) n = (int64_t)given.n - 1;
    if (n < 1 || n > 1 << 28) return qs_fail(vm, QS_EVALUE, "histogram: there must be 1 to 2^28 bins");
    if (listed) TRY(ascending(vm, "histogram", "edges", &given));
    TRY(scratch(vm, "histogram", (size_t)n + 1, &edges));
    if (listed) memcpy(edges, given.x, ((size_t)n + 1) * sizeof *edges);
    qs_status s = listed ? QS_OK : equal_bins(vm, c, &x, n, edges);
    if (s == QS_OK) s = histogram(vm, c, &x, d, edges, n);
    return done(vm, edges, (size_t)n + 1), s;
}

/* bincount(x [, n [, weights]]) */
qs_status qsampled_bincount(qs_vm *vm, qs_call_args *c) {
    Data x, w = {0};
    qs_dtype d = QS_F64;
    int64_t n = 0;
    double *counts;
    TRY(data(vm, c, 0, "bincount", "x", &d, &x));
    if (qarg_given(c, 1)) TRY(qarg_count(vm, "bincount", "n", c->in[1], &n));
    if (qarg_given(c, 2)) TRY(data(vm, c, 2, "bincount", "weights", &d, &w));
    if (w.a && w.n != x.n)
        return qs_fail(vm, QS_ESHAPE, "bincount: x and weights must have as many elements, got %zu and %zu", x.n, w.n);
    for (size_t i = 0; i < x.n; i++) {
        if (!(x.x[i] >= 0 && x.x[i] == floor(x.x[i]) && x.x[i] < 0x1p31))
            return qs_fail(vm, QS_EVALUE, "bincount: x must hold whole numbers from 0, got %g", x.x[i]);
        if (x.x[i] >= (double)n) n = (int64_t)x.x[i] + 1;
    }
    TRY(scratch(vm, "bincount", (size_t)n, &counts));
    for (size_t i = 0; i < x.n; i++) counts[(size_t)x.x[i]] += w.a ? w.x[i] : 1;
    qs_status s = result(vm, c, 0, QS_F64, 1, &n, counts);
    return done(vm, counts, (size_t)n), s;
}

/* -- polynomials: coefficients from the highest power down --------------------------------------------------------- */
qs_status qsampled_polyval(qs_vm *vm, qs_call_args *c) {
    Data p, x;
    double *v;
    qs_dtype d = qvm_ctx(vm)->scalar_dtype;
    bool one = c->in[1].kind != QS_ARRAY;
    TRY(data(vm, c, 0, "polyval", "p", &d, &p));
    TRY(data(vm, c, 1, "polyval", "x", &d, &x));
    TRY(scratch(vm, "polyval", x.n, &v));
    for (size_t i = 0; i < x.n; i++)
        for (size_t k = 0; k < p.n; k++) v[i] = v[i]*x.x[i] + p.x[k];
    qs_status s = QS_OK;
    if (one) c->out[0] = qs_num(v[0]);
    else s = result(vm, c, 0, d, x.a->rank, x.a->dims, v);
    return done(vm, v, x.n), s;
}

/* Householder: column j of the m x n matrix a (columns one after another) becomes zero below its diagonal, and b goes
 * along. */
static void reflect(double *a, double *b, size_t m, size_t n, size_t j) {
    double *v = a + j*m, norm = 0, vv = 0;
    for (size_t i = j; i < m; i++) norm = hypot(norm, v[i]);
    if (norm == 0) return;
    double top = v[j] > 0 ? -norm : norm;
    v[j] -= top;
    for (size_t i = j; i < m; i++) vv += v[i]*v[i];
    for (size_t k = j + 1; k <= n; k++) {
        double *u = k < n ? a + k*m : b, dot = 0;
        for (size_t i = j; i < m; i++) dot += v[i]*u[i];
        for (size_t i = j; i < m; i++) u[i] -= 2*dot/vv*v[i];
    }
    v[j] = top;
}

/* Least squares for the powers of x scaled to [-1,1], which keeps the matrix well conditioned. */
static void fit(double *a, double *b, const double *x, size_t m, size_t n, double *p) {
    double scale = 0;
    for (size_t i = 0; i < m; i++) scale = fmax(scale, fabs(x[i]));
    if (scale == 0) scale = 1;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < m; i++) a[k*m + i] = pow(x[i]/scale, (double)(n - 1 - k));
    for (size_t j = 0; j < n; j++) reflect(a, b, m, n, j);
    for (size_t j = n; j-- > 0;) {
        p[j] = b[j];
        for (size_t k = j + 1; k < n; k++) p[j] -= a[k*m + j]*p[k];
        p[j] /= a[j*m + j];
    }
    for (size_t k = 0; k < n; k++) p[k] /= pow(scale, (double)(n - 1 - k));
}

qs_status qsampled_polyfit(qs_vm *vm, qs_call_args *c) {
    Data x, y;
    int64_t degree;
    double *a;
    qs_dtype d = qvm_ctx(vm)->scalar_dtype;
    TRY(data(vm, c, 0, "polyfit", "x", &d, &x));
    TRY(data(vm, c, 1, "polyfit", "y", &d, &y));
    TRY(qarg_count(vm, "polyfit", "degree", c->in[2], &degree));
    if (x.n != y.n || degree >= (int64_t)x.n)
        return qs_fail(vm, QS_ESHAPE,
                       "polyfit: x and y must have as many elements, more than the degree %lld, got %zu and %zu",
                       (long long)degree, x.n, y.n);
    size_t n = (size_t)degree + 1, need = x.n*n + x.n + n;
    TRY(scratch(vm, "polyfit", need, &a));
    double *b = a + x.n*n, *p = b + x.n;
    memcpy(b, y.x, y.n * sizeof *b);
    fit(a, b, x.x, x.n, n, p);
    qs_status s = result(vm, c, 0, d, 1, (int64_t[]){(int64_t)n}, p);
    return done(vm, a, need), s;
}

/* -- convolution --------------------------------------------------------------------------------------------------- */
typedef struct { const double *x; int64_t h, w; } Image;

static void convolve(const Image *a, const Image *b, double *out) {
    int64_t w = a->w + b->w - 1;
    for (int64_t i = 0; i < a->h; i++)
        for (int64_t k = 0; k < b->h; k++)
            for (int64_t l = 0; l < b->w; l++) {
                double *to = out + (i + k)*w + l, f = b->x[k*b->w + l];
                const double *from = a->x + i*a->w;
                for (int64_t j = 0; j < a->w; j++) to[j] += f*from[j];
            }
}

/* The part of the full convolution that a mode keeps: first place and extent along one dimension. */
static void kept(char mode, int64_t a, int64_t b, int64_t *from, int64_t *n) {
    *from = mode == 'f' ? 0 : mode == 's' ? b/2 : b - 1;
    *n = mode == 'f' ? a + b - 1 : mode == 's' ? a : a >= b ? a - b + 1 : 0;
}

static qs_status conv_mode(qs_vm *vm, const char *fn, qs_value v, char *mode) {
    const char *s;
    TRY(qarg_string(vm, fn, "mode", v, &s, NULL));
    *mode = s[0];
    if (!strcmp(s, "full") || !strcmp(s, "same") || !strcmp(s, "valid")) return QS_OK;
    return qs_fail(vm, QS_EVALUE, "%s: mode must be full, same or valid, got \"%s\"", fn, s);
}

static qs_status image_of(qs_vm *vm, const char *fn, const char *what, const Data *x, bool flat, Image *out) {
    int64_t size[QS_MAX_RANK];
    if (x->a->rank > 2 || x->n == 0)
        return qs_fail(vm, QS_ESHAPE, "%s: %s must be a vector or a matrix with elements", fn, what);
    qarr_size(x->a, size);
    if (flat && size[0] != 1 && size[1] != 1) return qs_fail(vm, QS_ESHAPE, "%s: %s must be a vector", fn, what);
    *out = flat ? (Image){x->x, 1, (int64_t)x->n} : (Image){x->x, size[0], size[1]};
    return QS_OK;
}

static qs_status convolution(qs_vm *vm, qs_call_args *c, const char *fn, bool flat) {
    Data a, b;
    Image p, q;
    char mode = 'f';
    double *full;
    qs_dtype d = qvm_ctx(vm)->scalar_dtype;
    TRY(data(vm, c, 0, fn, "a", &d, &a));
    TRY(data(vm, c, 1, fn, "b", &d, &b));
    if (qarg_given(c, 2)) TRY(conv_mode(vm, fn, c->in[2], &mode));
    TRY(image_of(vm, fn, "a", &a, flat, &p));
    TRY(image_of(vm, fn, "b", &b, flat, &q));
    int64_t top, left, dims[2], w = p.w + q.w - 1;
    kept(mode, p.h, q.h, &top, &dims[0]), kept(mode, p.w, q.w, &left, &dims[1]);
    size_t n = (size_t)((p.h + q.h - 1)*w);
    TRY(scratch(vm, fn, n, &full));
    convolve(&p, &q, full);
    for (int64_t i = 0; i < dims[0]; i++)
        memmove(full + i*dims[1], full + (i + top)*w + left, (size_t)dims[1] * sizeof *full);
    qs_status s = result(vm, c, 0, d, 2, dims, full);
    return done(vm, full, n), s;
}
qs_status qsampled_conv(qs_vm *vm, qs_call_args *c) { return convolution(vm, c, "conv", true); }
qs_status qsampled_conv2(qs_vm *vm, qs_call_args *c) { return convolution(vm, c, "conv2", false); }

/* -- covariance: a row is an observation, a column a variable ------------------------------------------------------ */
static void covariances(double *x, size_t rows, size_t n, double *out) {
    for (size_t j = 0; j < n; j++) {
        double mean = 0;
        for (size_t i = 0; i < rows; i++) mean += x[i*n + j]/(double)rows;
        for (size_t i = 0; i < rows; i++) x[i*n + j] -= mean;
    }
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k <= j; k++) {
            double s = 0;
            for (size_t i = 0; i < rows; i++) s += x[i*n + j]*x[i*n + k];
            out[j*n + k] = out[k*n + j] = rows > 1 ? s/(double)(rows - 1) : 0;
        }
}

static void correlations(double *c, size_t n) {
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < j; k++) c[j*n + k] = c[k*n + j] = c[j*n + k]/sqrt(c[j*n + j])/sqrt(c[k*n + k]);
    for (size_t j = 0; j < n; j++) c[j*n + j] /= c[j*n + j];
}

/* f(x) of a vector (one variable) or matrix, f(x, y) of two vectors. */
static qs_status covariance(qs_vm *vm, qs_call_args *c, const char *fn, bool normalised) {
    Data x, y = {0};
    double *v;
    int64_t size[QS_MAX_RANK];
    qs_dtype d = qvm_ctx(vm)->scalar_dtype;
    TRY(data(vm, c, 0, fn, "x", &d, &x));
    if (qarg_given(c, 1)) TRY(data(vm, c, 1, fn, "y", &d, &y));
    if (x.a->rank > 2 || x.n == 0 || (y.a && y.n != x.n))
        return qs_fail(vm, QS_ESHAPE, "%s: x must be a vector or a matrix with elements, y of the same size", fn);
    qarr_size(x.a, size);
    size_t n = y.a ? 2 : size[0] == 1 ? 1 : (size_t)size[1], rows = y.a ? x.n : x.n/n, need = rows*n + n*n;
    TRY(scratch(vm, fn, need, &v));
    if (!y.a) memcpy(v, x.x, x.n * sizeof *v);
    for (size_t i = 0; y.a && i < rows; i++) v[2*i] = x.x[i], v[2*i + 1] = y.x[i];
    covariances(v, rows, n, v + rows*n);
    if (normalised) correlations(v + rows*n, n);
    qs_status s = QS_OK;
    if (n == 1) c->out[0] = qs_num(v[rows]);
    else s = result(vm, c, 0, d, 2, (int64_t[]){(int64_t)n, (int64_t)n}, v + rows*n);
    return done(vm, v, need), s;
}
qs_status qsampled_cov(qs_vm *vm, qs_call_args *c) { return covariance(vm, c, "cov", false); }
qs_status qsampled_corrcoef(qs_vm *vm, qs_call_args *c) { return covariance(vm, c, "corrcoef", true); }
