/* interpolate.c -- interpolates between samples, in one and two dimensions.
 *
 * Piecewise cubic methods use the values and slopes at the samples (Hermite form); they differ only in the slopes.
 * "pchip": monotone between samples, F. N. Fritsch and J. Butland, SIAM J. Sci. Stat. Comput. 5 (1984).  "spline", also
 * called "cubic": two continuous derivatives, the first two and the last two intervals each form one cubic ("not a
 * knot"), C. de Boor, A Practical Guide to Splines.  A complex function is treated as two real ones. */
#include "devices/threads.h"
#include "stdlib/bilinear.h"
#include "stdlib/builtins.h"
#include "vm/array/convert.h"
#include "vm/value/machine.h"

#include <math.h>
#include <string.h>

enum { TOGETHER = BILINEAR_MOST }; /* number of positions that are computed together */
typedef enum { LINEAR, NEAREST, PREVIOUS, NEXT, PCHIP, SPLINE } Method;

static qs_status method_of(qs_vm *vm, const char *fn, qs_value v, bool line, Method *out) {
    static const struct {
        const char *name;
        Method method;
        bool line;
    } all[] = {{"linear", LINEAR, false}, {"nearest", NEAREST, false},  {"spline", SPLINE, false},
               {"cubic", SPLINE, false},  {"previous", PREVIOUS, true}, {"next", NEXT, true},
               {"pchip", PCHIP, true}};
    const char *s;
    TRY(qarg_string(vm, fn, "method", v, &s, NULL));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((line || !all[i].line) && !strcmp(s, all[i].name)) return *out = all[i].method, QS_OK;
    return qs_fail(vm, QS_EVALUE, "%s: method must be linear, nearest, %sspline or cubic, got \"%s\"", fn,
                   line ? "previous, next, pchip, " : "", s);
}

/* Value outside the samples: a constant, the continued first or last piece, or the value at the edge. */
typedef struct {
    enum { CONSTANT, EXTRAPOLATE, CLAMP } kind;
    double value[2];
} Outside;

static qs_status outside_of(qs_vm *vm, qs_call_args *c, int i, Outside *out) {
    *out = (Outside){CONSTANT, {NAN, 0}};
    if (!qarg_given(c, i)) return QS_OK;
    if (qval_is_scalar(c->in[i])) return qs_to_complex(vm, c->in[i], out->value);
    if (c->in[i].kind != QS_STRING)
        return qarg_wrong(vm, c->name, "outside", "a number, \"extrap\" or \"clamp\"", c->in[i]);
    const char *s = qs_to_string(c->in[i], NULL);
    out->kind = strcmp(s, "extrap") ? CLAMP : EXTRAPOLATE;
    if (out->kind == EXTRAPOLATE || !strcmp(s, "clamp")) return QS_OK;
    return qs_fail(vm, QS_EVALUE, "%s: outside must be a number, \"extrap\" or \"clamp\", got \"%s\"", c->name, s);
}

/* -- slopes: of n samples y, `step` numbers apart, at positions x; d has the layout of y --------------------------- */
typedef struct {
    const double *x;
    size_t n, step;
} Line;

static double width(const Line *l, size_t k) { return l->x[k + 1] - l->x[k]; }
static double rise(const Line *l, const double *y, size_t k) {
    return (y[(k + 1) * l->step] - y[k * l->step]) / width(l, k);
}

/* Returns the slope at an end: that of the parabola through three samples, limited so that the first piece is
 * monotone. */
static double end_slope(double h, double beside, double r, double next) {
    double d = ((2 * h + beside) * r - h * next) / (h + beside);
    if (d * r <= 0) return 0;
    return r * next < 0 && fabs(d) > 3 * fabs(r) ? 3 * r : d;
}

static void pchip_slopes(const Line *l, const double *y, double *d) {
    size_t last = l->n - 1;
    for (size_t k = 1; k < last; k++) {
        double h = width(l, k - 1), g = width(l, k), r = rise(l, y, k - 1), s = rise(l, y, k);
        d[k * l->step] = r * s > 0 ? 3 * (h + g) / ((2 * g + h) / r + (g + 2 * h) / s) : r * s <= 0 ? 0 : NAN;
    }
    d[0] = end_slope(width(l, 0), width(l, 1), rise(l, y, 0), rise(l, y, 1));
    d[last * l->step] = end_slope(width(l, last - 1), width(l, last - 2), rise(l, y, last - 1), rise(l, y, last - 2));
}

/* Solves the tridiagonal system for the slopes by elimination; `above` contains the elements above the diagonal. */
static void spline_slopes(const Line *l, const double *y, double *d, double *above) {
    size_t n = l->n, step = l->step;
    double h = width(l, 0), g = width(l, 1), diagonal = g;
    above[0] = (h + g) / diagonal;
    d[0] = ((h + 2 * (h + g)) * g * rise(l, y, 0) + h * h * rise(l, y, 1)) / (h + g) / diagonal;
    for (size_t k = 1; k < n - 1; k++) {
        h = width(l, k - 1), g = width(l, k);
        diagonal = 2 * (h + g) - g * above[k - 1];
        above[k] = h / diagonal;
        d[k * step] = (3 * (g * rise(l, y, k - 1) + h * rise(l, y, k)) - g * d[(k - 1) * step]) / diagonal;
    }
    double right = ((h + g + g + h + g) * h * rise(l, y, n - 2) + g * g * rise(l, y, n - 3)) / (h + g);
    d[(n - 1) * step] = (right - (h + g) * d[(n - 2) * step]) / (h - (h + g) * above[n - 2]);
    for (size_t k = n - 1; k-- > 0;) d[k * step] -= above[k] * d[(k + 1) * step];
}

static void parabola_slopes(const Line *l, const double *y, double *d) {
    double h = width(l, 0), g = width(l, 1), r = rise(l, y, 0), bend = (rise(l, y, 1) - r) / (h + g);
    d[0] = r - bend * h, d[l->step] = r + bend * h, d[2 * l->step] = r + bend * (h + 2 * g);
}

static void slopes(Method method, const Line *l, const double *y, double *d, double *scratch) {
    if (l->n == 1) d[0] = 0;
    else if (l->n == 2) d[0] = d[l->step] = rise(l, y, 0);
    else if (method == PCHIP) pchip_slopes(l, y, d);
    else if (l->n == 3) parabola_slopes(l, y, d);
    else spline_slopes(l, y, d, scratch);
}

/* Weights of the values and slopes at the two ends of an interval of width h, for the relative position t (0 to 1). */
typedef struct {
    double value[2], slope[2];
} Weights;
static Weights hermite(double t, double h) {
    double u = 1 - t;
    return (Weights){{u * u * (1 + 2 * t), t * t * (1 + 2 * u)}, {h * t * u * u, -h * t * t * u}};
}

/* -- one dimension: rows of `m` numbers at ascending positions ----------------------------------------------------- */
typedef struct {
    Method method;
    Outside outside;
    const double *x, *y, *d; /* d: slopes for cubic methods */
    size_t n, m, parts;
    double density; /* intervals per unit of x; 0 if x is not evenly spaced */
} Curve;

static void piece(const Curve *f, size_t k, double at, double *out) {
    const double *a = f->y + k * f->m, *b = a + f->m, *da = f->d + k * f->m;
    double h = f->x[k + 1] - f->x[k], t = (at - f->x[k]) / h;
    Weights w = hermite(t, h);
    for (size_t j = 0; j < f->m; j++) switch (f->method) {
        case LINEAR: out[j] = qbilinear_blend(a[j], b[j], t); break;
        case NEAREST: out[j] = t >= 0.5 ? b[j] : a[j]; break;
        case PREVIOUS: out[j] = t >= 1 ? b[j] : t >= 0 ? a[j] : NAN; break;
        case NEXT: out[j] = t > 1 ? NAN : t > 0 ? b[j] : a[j]; break;
        default: out[j] = w.value[0] * a[j] + w.value[1] * b[j] + w.slope[0] * da[j] + w.slope[1] * da[j + f->m];
        }
}

static double even_density(const Numbers *x) {
    double density = (double)(x->n - 1) / (x->x[x->n - 1] - x->x[0]);
    for (size_t i = 0; i < x->n; i++)
        if (!(fabs((x->x[i] - x->x[0]) * density - (double)i) < 0.5)) return 0;
    return density;
}

/* Finds the interval that contains a position, by a guess for evenly spaced x, which rounding may make wrong. */
static bool find_interval(const Curve *f, double at, size_t *k) {
    if (f->density == 0 || !(at >= f->x[0] && at < f->x[f->n - 1])) return qsampled_interval(f->x, f->n, at, k);
    double guess = (at - f->x[0]) * f->density;
    *k = guess < (double)(f->n - 2) ? (size_t)guess : f->n - 2;
    return (f->x[*k] <= at && at < f->x[*k + 1]) || qsampled_interval(f->x, f->n, at, k);
}

static void curve_at(const Curve *f, double at, double *out) {
    bool below = at < f->x[0];
    size_t k, end = below ? 0 : f->n - 2; /* the piece that is extrapolated */
    bool inside = find_interval(f, at, &k);
    if (inside) piece(f, k, at, out);
    else if (!isnan(at) && f->outside.kind == EXTRAPOLATE) piece(f, end, at, out);
    else if (!isnan(at) && f->outside.kind == CLAMP) piece(f, end, f->x[below ? 0 : f->n - 1], out);
    else
        for (size_t j = 0; j < f->m; j++) out[j] = isnan(at) ? NAN : f->outside.value[j % f->parts];
}

/* Computes the slopes of every column in `d`, which is followed by scratch space for n numbers. */
static void curve_slopes(Curve *f, double *d) {
    Line l = {f->x, f->n, f->m};
    for (size_t j = 0; j < f->m; j++) slopes(f->method, &l, f->y + j, d + j, d + f->n * f->m);
    f->d = d;
}

/* interp1(x, y, at [, method [, outside]]) */
qs_status qinterpolate_1(qs_vm *vm, qs_call_args *c) {
    Numbers x, y, at;
    Curve f = {.method = LINEAR};
    qs_dtype d = qarg_meet_float(vm, c, 0, 3);
    bool one = c->in[2].kind != QS_ARRAY;
    TRY(outside_of(vm, c, 4, &f.outside));
    int parts = f.outside.value[1] != 0 ? 2 : qarg_parts(c, 1, 2);
    if (parts == 2) d = qdtype_complex_of(d);
    TRY(qarg_wide(vm, c, 0, "x", 1, &x));
    TRY(qarg_wide(vm, c, 2, "at", 1, &at));
    TRY(qarg_wide(vm, c, 1, "y", parts, &y));
    if (qarg_given(c, 3)) TRY(method_of(vm, c->name, c->in[3], true, &f.method));
    bool rows = y.n != x.n && y.a->rank >= 2 && y.a->dims[0] == (int64_t)x.n; /* one function per column */
    if (x.n < 2 || (y.n != x.n && !rows))
        return qs_fail(vm, QS_ESHAPE,
                       "interp1: y must have an element or a row for each of x, at least 2, got %zu and %zu", x.n, y.n);
    TRY(qsampled_ascending(vm, c->name, "x", &x));
    f.x = x.x, f.y = f.d = y.x, f.n = x.n, f.parts = (size_t)parts, f.m = y.n / x.n * f.parts;
    f.density = even_density(&x);
    int64_t dims[QS_MAX_RANK];
    memcpy(dims, rows ? y.a->dims : at.a->dims, sizeof dims);
    if (rows) dims[0] = (int64_t)at.n;
    double *v;
    size_t nv = at.n * f.m, need = nv + (f.n + 1) * (f.m + 1);
    TRY(qsampled_scratch(vm, c->name, need, &v));
    if (f.method >= PCHIP) curve_slopes(&f, v + nv);
    for (size_t i = 0; i < at.n; i++) curve_at(&f, at.x[i], v + i * f.m);
    qs_status s = qarg_narrow(vm, c, 0, d, one && !rows ? -1 : rows ? y.a->rank : at.a->rank, dims, v);
    qarg_keep(c->out[0], rows ? y.a : at.a);
    return qsampled_done(vm, v, need), s;
}

/* -- two dimensions: a matrix, at columns x and rows y ------------------------------------------------------------- */
typedef struct {
    Method method;
    Outside outside;
    const double *z, *zx, *zy, *zxy; /* values, and slopes to the right, down and mixed */
    size_t h, w, parts;
} Surface;

/* Returns the interval of 0 … n-1 that contains or is nearest to a position. */
static size_t cell_of(double at, size_t n) {
    if (n < 2 || !(at > 0)) return 0;
    return at >= (double)(n - 1) ? n - 2 : (size_t)at;
}

static inline bool is_inside(const Surface *f, double x, double y) {
    return x >= 0 && y >= 0 && x <= (double)f->w - 1 && y <= (double)f->h - 1;
}

/* Returns whether a position gets no value from the surface, and stores the one that it gets in out. */
static inline bool is_outside(const Surface *f, double x, double y, double *out) {
    bool lost = isnan(x) || isnan(y);
    if (!lost && (is_inside(f, x, y) || f->outside.kind != CONSTANT)) return false;
    for (size_t k = 0; k < f->parts; k++) out[k] = lost ? NAN : f->outside.value[k];
    return true;
}

/* A position in the cell between four samples: the first one, the distances to its neighbours, and the fractions. */
typedef struct {
    size_t at, right, down;
    double s, t;
} Place;

static inline Place place_of(const Surface *f, double x, double y) {
    double last_x = (double)f->w - 1, last_y = (double)f->h - 1;
    if (f->outside.kind == CLAMP) {
        x = x < 0 ? 0 : x > last_x ? last_x : x;
        y = y < 0 ? 0 : y > last_y ? last_y : y;
    }
    size_t j = cell_of(x, f->w), i = cell_of(y, f->h);
    return (Place){(i * f->w + j) * f->parts, f->w > 1 ? f->parts : 0, f->h > 1 ? f->w * f->parts : 0, x - (double)j,
                   y - (double)i};
}

/* Samples without slopes. */
#define SAMPLE(T)                                                                                                      \
    static inline void sample_one_##T(const Surface *f, const T *z, double x, double y, double *to) {                  \
        if (is_outside(f, x, y, to)) return;                                                                           \
        Place p = place_of(f, x, y);                                                                                   \
        for (size_t k = 0; k < f->parts; k++) {                                                                        \
            const T *c = z + p.at + k, *d = c + p.down;                                                                \
            to[k] = f->method == NEAREST ? c[(p.s >= 0.5 ? p.right : 0) + (p.t >= 0.5 ? p.down : 0)]                   \
                                         : qbilinear_blend(qbilinear_blend(c[0], c[p.right], p.s),                     \
                                                           qbilinear_blend(d[0], d[p.right], p.s), p.t);               \
        }                                                                                                              \
    }                                                                                                                  \
    static void sample_##T(const Surface *f, const T *z, const double *x, const double *y, size_t n, double *out) {    \
        bool cells = f->w > 1 && f->h > 1 && f->w < INT32_MAX && f->h < INT32_MAX;                                     \
        bool linear = f->method == LINEAR && f->parts == 1 && cells;                                                   \
        if (linear && qbilinear_loops()->T##s(z, f->h, f->w, x, y, n, out)) return;                                    \
        for (size_t i = 0; i < n; i++)                                                                                 \
            if (!linear || !is_inside(f, x[i], y[i])) sample_one_##T(f, z, x[i], y[i], out + i * f->parts);            \
    }
SAMPLE(float)
SAMPLE(double)

static void sample_slopes(const Surface *f, const double *x, const double *y, size_t n, double *out) {
    for (size_t i = 0; i < n; i++, out += f->parts) {
        if (is_outside(f, x[i], y[i], out)) continue;
        Place p = place_of(f, x[i], y[i]);
        Weights u = hermite(p.s, 1), v = hermite(p.t, 1);
        for (size_t k = 0; k < f->parts; k++) {
            out[k] = 0;
            for (size_t corner = 0; corner < 4; corner++) {
                size_t a = corner & 1, b = corner >> 1, q = p.at + k + a * p.right + b * p.down;
                out[k] += v.value[b] * (u.value[a] * f->z[q] + u.slope[a] * f->zx[q]) +
                          v.slope[b] * (u.value[a] * f->zy[q] + u.slope[a] * f->zxy[q]);
            }
        }
    }
}

/* Computes the three fields of slopes in `room`, followed there by the positions 0, 1, 2 … and scratch space. */
static void surface_slopes(Surface *f, double *room) {
    size_t row = f->w * f->parts, n = f->h * row, longest = f->w > f->h ? f->w : f->h;
    double *zx = room, *zy = zx + n, *zxy = zy + n, *places = zxy + n, *scratch = places + longest;
    for (size_t i = 0; i < longest; i++) places[i] = (double)i;
    Line across = {places, f->w, f->parts}, along = {places, f->h, row};
    for (size_t i = 0; i < f->h; i++)
        for (size_t k = 0; k < f->parts; k++) slopes(f->method, &across, f->z + i * row + k, zx + i * row + k, scratch);
    for (size_t j = 0; j < row; j++) slopes(f->method, &along, f->z + j, zy + j, scratch);
    for (size_t j = 0; j < row; j++) slopes(f->method, &along, zx + j, zxy + j, scratch);
    f->zx = zx, f->zy = zy, f->zxy = zxy;
}

typedef struct {
    Array *a;
    const char *p;
    qs_dtype d; /* float32 or float64 */
} Positions;

static qs_status positions_of(qs_vm *vm, qs_call_args *c, int i, const char *what, Positions *out) {
    const void *p;
    out->d = c->in[i].kind == QS_ARRAY && qval_array(c->in[i])->dtype == QS_F32 ? QS_F32 : QS_F64;
    TRY(qarg_packed(vm, c, i, what, out->d, &out->a, &p));
    return out->p = p, QS_OK;
}

typedef struct {
    qs_vm *vm;
    Surface f;
    const float *narrow; /* the values, if they are float32 and need no slopes */
    Positions x, y;
    char *out;
    qs_dtype part; /* type of the real numbers of the result */
} Sampling;

static void sample_some(void *ud, int64_t first, int64_t last, int worker) {
    const Sampling *s = ud;
    size_t size = qdtype_size(s->part), parts = s->f.parts;
    (void)worker;
    for (size_t k = (size_t)first, m; k < (size_t)last && !qflag_is_up(&qvm(s->vm)->interrupted); k += m) {
        double x[TOGETHER], y[TOGETHER], v[2 * TOGETHER];
        m = (size_t)last - k < TOGETHER ? (size_t)last - k : TOGETHER;
        ptrdiff_t bytes[] = {(ptrdiff_t)qdtype_size(s->x.d), (ptrdiff_t)qdtype_size(s->y.d)};
        qconv_run(s->x.d, s->x.p + (ptrdiff_t)k * bytes[0], bytes[0], QS_F64, x, sizeof *x, m);
        qconv_run(s->y.d, s->y.p + (ptrdiff_t)k * bytes[1], bytes[1], QS_F64, y, sizeof *y, m);
        if (s->f.method >= PCHIP) sample_slopes(&s->f, x, y, m, v);
        else if (s->narrow) sample_float(&s->f, s->narrow, x, y, m, v);
        else sample_double(&s->f, s->f.z, x, y, m, v);
        qconv_run(QS_F64, v, sizeof *v, s->part, s->out + k * parts * size, (ptrdiff_t)size, m * parts);
    }
}

/* interp2(z, x, y [, method [, outside]]) */
qs_status qinterpolate_2(qs_vm *vm, qs_call_args *c) {
    Numbers z = {0};
    const void *narrow = NULL;
    Sampling s = {.vm = vm, .f = {.method = LINEAR}};
    Surface *f = &s.f;
    double *v, number[2];
    qs_dtype d = qarg_meet_float(vm, c, 0, 3);
    bool one = c->in[1].kind != QS_ARRAY;
    TRY(outside_of(vm, c, 4, &f->outside));
    int parts = f->outside.value[1] != 0 ? 2 : qarg_parts(c, 0, 1);
    if (parts == 2) d = qdtype_complex_of(d);
    TRY(positions_of(vm, c, 1, "x", &s.x));
    TRY(positions_of(vm, c, 2, "y", &s.y));
    if (qarg_given(c, 3)) TRY(method_of(vm, c->name, c->in[3], false, &f->method));
    if (f->method < PCHIP && parts == 1 && c->in[0].kind == QS_ARRAY && qval_array(c->in[0])->dtype == QS_F32) {
        TRY(qarg_packed(vm, c, 0, "z", QS_F32, &z.a, &narrow));
        z.n = z.a->count;
    } else TRY(qarg_wide(vm, c, 0, "z", parts, &z));
    size_t n = s.x.a->count;
    if (z.a->rank > 2 || z.n == 0 || n != s.y.a->count)
        return qs_fail(vm, QS_ESHAPE, "interp2: z must be a matrix with elements, x and y of the same size");
    int64_t size[QS_MAX_RANK];
    qarr_size(z.a, size);
    f->z = z.x, f->h = (size_t)size[0], f->w = (size_t)size[1], f->parts = (size_t)parts, s.narrow = narrow;
    size_t need = f->method >= PCHIP ? 3 * z.n * f->parts + 2 * (f->h + f->w) : 0;
    Array *r = NULL;
    void *out = number;
    s.part = one ? QS_F64 : qdtype_real_of(d);
    if (!one) {
        TRY(qarg_result(vm, c, 0, d, s.x.a->rank, s.x.a->dims, &r, &out));
        qarg_keep(c->out[0], s.x.a);
    }
    s.out = out;
    TRY(qsampled_scratch(vm, c->name, need, &v));
    if (f->method >= PCHIP) surface_slopes(f, v);
    qthreads_run(qthreads_of(qvm_ctx(vm)), (int64_t)n, 16 * TOGETHER, sample_some, &s);
    qsampled_done(vm, v, need);
    return one ? qarg_narrow(vm, c, 0, d, -1, NULL, number) : QS_OK;
}
