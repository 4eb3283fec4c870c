/* lines.c -- computes statistics, differences and integrals along lines of an array.
 *
 * A line function gets one line as n contiguous doubles, which it may reorder and which are followed by n spare ones
 * (Work.spare times), and writes the line of the result.  Only apply_to_lines knows the layout of the lines and divides
 * the work. */
#include "devices/pool.h"
#include "devices/threads.h"
#include "lang/syntax/operators.h"
#define NATIVES_OF_ELEM
#include "stdlib/builtins.h"
#include "stdlib/empty.h"
#include "vm/array/arith.h"
#include "vm/array/contiguous.h"
#include "vm/base/reduction.h"

#include <math.h>
#include <string.h>

typedef void LineFn(double *x, size_t n, double *y, size_t m, const void *with);

typedef struct {
    const char *fn;
    Array *a;
    const double *x;
    const float *floats; /* the elements of a float32 array, which is not converted as a whole; otherwise NULL */
    int parts;           /* 2: complex, but a line has only one of the parts */
    int dim;             /* DIM_ALL: all elements form one line, and a result of one number is a number */
    ArrayLines l;
    qs_dtype d;   /* dtype of the result; never depends on values */
    size_t spare; /* number of lines for which a line function needs room */
} Work;

/* Reads argument `at` as the array and argument `dim_at` as the dimension (default: `dim`, or with `main` the first one
 * longer than 1). */
static qs_status open_lines(qs_vm *vm, qs_call_args *c, int at, int dim_at, bool main, int parts, Work *w) {
    Numbers x;
    *w = (Work){.fn = c->name, .dim = DIM_ALL, .d = qarg_meet_float(vm, c, at, at + 1), .parts = parts, .spare = 1};
    if (parts == 1 && c->in[at].kind == QS_ARRAY && qval_array(c->in[at])->dtype == QS_F32) {
        const void *p;
        TRY(qarg_packed(vm, c, at, "x", QS_F32, &w->a, &p));
        w->floats = p;
    } else {
        TRY(qarg_wide(vm, c, at, "x", parts, &x));
        w->a = x.a, w->x = x.x;
    }
    if (main) w->dim = qstats_main_dim(w->a);
    if (qarg_given(c, dim_at)) TRY(qarg_dim_of(vm, c->name, c->in[at], c->in[dim_at], &w->dim));
    w->l = w->dim == DIM_ALL ? (ArrayLines){1, w->a->count, 1} : qstats_lines(w->a, w->dim);
    w->l.inner *= (size_t)parts;
    return QS_OK;
}

static qs_status not_empty(qs_vm *vm, const Work *w) {
    return w->l.n ? QS_OK : qs_fail(vm, QS_EVALUE, "%s: x must not be empty", w->fn);
}

typedef struct {
    const Work *w;
    size_t m, room; /* room: doubles for a line, the spare lines and m results */
    size_t group;   /* number of neighbouring lines that a worker reads at once */
    LineFn *f;
    const void *with;
    double *rooms, *out;
} Run;

/* Copies g neighbouring lines to rooms; the first line begins at element `at`. */
static void copy_lines(const Run *r, size_t at, size_t g, double *rooms) {
    size_t n = r->w->l.n, step = r->w->l.inner, room = r->room;
    const double *x = r->w->x;
    const float *floats = r->w->floats;
    for (size_t i = 0; i < n; i++, at += step)
        if (floats)
            for (size_t j = 0; j < g; j++) rooms[j * room + i] = floats[at + j];
        else
            for (size_t j = 0; j < g; j++) rooms[j * room + i] = x[at + j];
}

/* Neighbouring lines share cache lines, so that several of them are read at once. */
static void run_lines(void *ud, int64_t first, int64_t last, int worker) {
    const Run *r = ud;
    const ArrayLines *l = &r->w->l, out = {l->outer, r->m, l->inner};
    double *rooms = r->rooms + (size_t)worker * r->group * r->room;
    for (size_t k = (size_t)first, g; k < (size_t)last; k += g) {
        size_t left = l->inner - k % l->inner, end = (size_t)last - k;
        g = r->group < left ? r->group : left;
        if (end < g) g = end;
        copy_lines(r, qstats_line_at(l, k), g, rooms);
        for (size_t j = 0; j < g; j++) {
            double *x = rooms + j * r->room, *y = x + (1 + r->w->spare) * l->n,
                   *to = r->out + qstats_line_at(&out, k + j);
            r->f(x, l->n, y, r->m, r->with);
            for (size_t i = 0; i < r->m; i++) to[i * out.inner] = y[i];
        }
    }
}

/* Applies f to each line and stores its m results in out[0]. */
static qs_status apply_to_lines(qs_vm *vm, qs_call_args *c, const Work *w, size_t m, LineFn *f, const void *with) {
    enum { WORTH = 1 << 15 /* minimum elements per thread */, GROUP = 8, LARGE = 1 << 21 /* doubles of a group */ };
    Threads *t = qthreads_of(qvm_ctx(vm));
    Run r = {.w = w, .m = m, .room = (1 + w->spare) * w->l.n + m, .group = 1, .f = f, .with = with};
    while (r.group < GROUP && r.group < w->l.inner && 2 * r.group * r.room <= LARGE) r.group *= 2;
    int64_t grain = 1 + (int64_t)(WORTH / (w->l.n + 1));
    if (grain < (int64_t)r.group) grain = (int64_t)r.group;
    size_t lines = m ? w->l.outer * w->l.inner : 0, workers = (size_t)qthreads_workers(t, (int64_t)lines, grain),
           bytes = qmem_size(qmem_size(workers, r.group, 0), r.room * sizeof(double),
                             qmem_size(lines, m * sizeof(double), sizeof(double)));
    r.rooms = qpool_get(qvm_ctx(vm), bytes);
    if (!r.rooms) return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu lines of %zu numbers", w->fn, lines, m);
    r.out = r.rooms + workers * r.group * r.room;
    qdoing_stage(&qvm_ctx(vm)->doing, 0, 1, 0);
    qthreads_run(t, (int64_t)lines, grain, run_lines, &r);
    int64_t dims[QS_MAX_RANK] = {(int64_t)m};
    int rank = w->dim == DIM_ALL ? 1 : qstats_with_dim(w->a, w->dim, (int64_t)m, dims);
    qs_status s = qarg_narrow(vm, c, 0, w->d, w->dim == DIM_ALL && m == 1 ? -1 : rank, dims, r.out);
    if (w->dim != DIM_ALL) qarg_keep(c->out[0], w->a);
    return qpool_put(qvm_ctx(vm), r.rooms, bytes), s;
}

/* Moves the numbers that are not nan to the front; returns how many there are. */
static size_t drop_nan(double *x, size_t n) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i])) x[m++] = x[i];
    return m;
}

/* Puts the k-th smallest number at x[k] and smaller ones before it (Hoare's selection); x has no NaN. */
static void select_kth(double *x, size_t n, size_t k) {
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        double pivot = x[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;
        for (;;) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i >= j) break;
            double t = x[i];
            x[i++] = x[j], x[j--] = t;
        }
        if (x[j] > pivot) j--;
        if (k <= j) hi = j;
        else lo = j + 1;
    }
}

/* Writes the numbers of ranks k and k+1 to `out`; k twice if it is the last one.  x may be reordered, and has no NaN;
 * `spare` has room for n.  The ranks of a sample give bounds for numbers of rank k in a long line: only the numbers
 * between the bounds, found in one pass without branches, are searched. */
static void select_pair(double *x, size_t n, size_t k, double *spare, double out[2]) {
    enum { SAMPLE = 1024, MARGIN = 48 /* three times the standard deviation of a rank */, LARGE = 1 << 14 };
    if (n >= LARGE) {
        double sample[2 * SAMPLE];
        for (size_t i = 0; i < SAMPLE; i++) sample[i] = x[i * (n / SAMPLE)];
        qsort_doubles(sample, SAMPLE, sample + SAMPLE);
        size_t at = (size_t)((double)k / (double)n * SAMPLE), m = 0, below = 0;
        double low = at > MARGIN ? sample[at - MARGIN] : -INFINITY;
        double high = at + MARGIN < SAMPLE ? sample[at + MARGIN] : INFINITY;
        for (size_t i = 0; i < n; i++) {
            double v = x[i];
            spare[m] = v, m += (v >= low) & (v <= high), below += v < low;
        }
        if (below <= k && (k + 1 < below + m || (k + 1 == n && k < below + m))) x = spare, n = m, k -= below;
    }
    select_kth(x, n, k);
    out[0] = x[k], out[1] = k + 1 < n ? INFINITY : x[k];
    for (size_t i = k + 1; i < n; i++) out[1] = x[i] < out[1] ? x[i] : out[1];
}

/* SELECTED: up to this many selections cost less than sorting. */
enum { SELECTED = 3 };
#define NO_RANK (SIZE_MAX - 1)

/* -- quantiles ----------------------------------------------------------------------------------------------------- */
/* Quantile q of n sorted numbers is at position n q + (a + (1 - a - b) q) - 1.  The sum is evaluated in NumPy's order,
 * because rounding of the position is visible between distant numbers.  The nine schemes besides lower … midpoint are
 * those of R. J. Hyndman and Y. Fan, The American Statistician 50 (1996). */
typedef enum { BLEND, LOWER, HIGHER, NEAREST, MIDPOINT, AVERAGE, EVEN } Between;
typedef struct {
    const char *name;
    double a, b;
    Between between;
} Scheme;
static const Scheme schemes[] = {{"linear", 1, 1, BLEND},
                                 {"lower", 1, 1, LOWER},
                                 {"higher", 1, 1, HIGHER},
                                 {"nearest", 1, 1, NEAREST},
                                 {"midpoint", 1, 1, MIDPOINT},
                                 {"hazen", 0.5, 0.5, BLEND},
                                 {"weibull", 0, 0, BLEND},
                                 {"median_unbiased", 1 / 3.0, 1 / 3.0, BLEND},
                                 {"normal_unbiased", 3 / 8.0, 3 / 8.0, BLEND},
                                 {"interpolated_inverted_cdf", 0, 1, BLEND},
                                 {"inverted_cdf", 0, 1, HIGHER},
                                 {"averaged_inverted_cdf", 0, 1, AVERAGE},
                                 {"closest_observation", -0.5, 1.5, EVEN}};

typedef struct {
    const double *q;
    double scale;
    const Scheme *scheme;
} Quantiles;

/* Interpolates between the order statistics at k and k+1. */
static double between(double lo, double hi, double k, double t, Between how) {
    switch (how) {
    case LOWER: return lo;
    case HIGHER: return t > 0 ? hi : lo;
    case NEAREST: return t > 0.5 || (t == 0.5 && fmod(k, 2) != 0) ? hi : lo;
    case MIDPOINT: return t > 0 ? (lo + hi) / 2 : lo;
    case AVERAGE: return t > 0 ? hi : (lo + hi) / 2;
    case EVEN: return t == 0 && fmod(k, 2) != 0 ? lo : hi;
    default: return t == 0 || lo == hi ? lo : lo + t * (hi - lo);
    }
}

static void quantile_line(double *x, size_t n, double *y, size_t m, const void *with) {
    const Quantiles *w = with;
    const Scheme *s = w->scheme;
    bool whole = drop_nan(x, n) == n;
    double last = (double)n - 1;
    if (whole && m > SELECTED) qsort_doubles(x, n, x + n);
    for (size_t i = 0; i < m; i++) {
        double q = w->q[i] / w->scale, at = (double)n * q + (s->a + q * (1 - s->a - s->b)) - 1, k = floor(at);
        size_t low = (size_t)fmin(fmax(k, 0), last), high = (size_t)fmin(fmax(k + 1, 0), last);
        double pair[2] = {x[low], x[high]};
        if (whole && m <= SELECTED) select_pair(x, n, low, x + n, pair);
        double lo = pair[0], hi = high > low ? pair[1] : lo;
        y[i] = whole ? between(lo, hi, k, at - k, s->between) : NAN;
    }
}

static qs_status quantile_scheme(qs_vm *vm, const char *fn, qs_value v, const Scheme **out) {
    const char *name;
    TRY(qarg_string(vm, fn, "method", v, &name, NULL));
    Nearest near = {.wanted = name};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (!strcmp(name, schemes[i].name)) return *out = &schemes[i], QS_OK;
        qstr_offer(&near, schemes[i].name);
    }
    return qs_fail(vm, QS_EVALUE, "%s: there is no method \"%s\"; %s%s%s", fn, name,
                   near.best ? "did you mean \"" : "linear is one of them", near.best ? near.best : "",
                   near.best ? "\"?" : "");
}

static qs_status quantiles(qs_vm *vm, qs_call_args *c, double scale) {
    Work w;
    Array *q;
    const void *p;
    Quantiles with = {NULL, scale, &schemes[0]};
    TRY(open_lines(vm, c, 0, 2, false, 1, &w));
    TRY(not_empty(vm, &w));
    TRY(qarg_packed(vm, c, 1, "the second argument", QS_F64, &q, &p));
    if (qarg_given(c, 3)) TRY(quantile_scheme(vm, c->name, c->in[3], &with.scheme));
    with.q = p;
    for (size_t i = 0; i < q->count; i++)
        if (!(with.q[i] >= 0 && with.q[i] <= scale))
            return qs_fail(vm, QS_EVALUE, "%s: the second argument must be 0 to %g, got %g", c->name, scale, with.q[i]);
    return apply_to_lines(vm, c, &w, q->count, quantile_line, &with);
}
qs_status qlines_quantile(qs_vm *vm, qs_call_args *c) { return quantiles(vm, c, 1); }
qs_status qlines_percentile(qs_vm *vm, qs_call_args *c) { return quantiles(vm, c, 100); }

/* Returns the position of the element that equals v (both may be nan) and follows `skipped` such elements. */
static double position_of(const double *x, size_t n, double v, size_t skipped) {
    for (size_t i = 0; i < n; i++)
        if ((x[i] == v || (isnan(v) && isnan(x[i]))) && !skipped--) return (double)i;
    return (double)n;
}

static void rank_line(double *x, size_t n, double *y, size_t m, const void *with) {
    const double *ranks = with;
    double *sorted = x + n, *spare = x + 2 * n, pair[2];
    size_t have = NO_RANK;
    memcpy(sorted, x, n * sizeof *x);
    size_t numbers = drop_nan(sorted, n);
    if (m > SELECTED) qsort_doubles(sorted, numbers, spare);
    for (size_t i = 0; i < m; i++) {
        size_t k = (size_t)ranks[i], below = 0;
        if (k >= numbers) {
            y[i] = position_of(x, n, NAN, k - numbers);
            continue;
        }
        if (m <= SELECTED && have != k && have + 1 != k) select_pair(sorted, numbers, have = k, spare, pair);
        double v = m > SELECTED ? sorted[k] : pair[k - have];
        for (size_t j = 0; j < n; j++) below += x[j] < v;
        y[i] = position_of(x, n, v, k - below);
    }
}

/* rank_positions(x, k [, dim]) */
qs_status qlines_rank_positions(qs_vm *vm, qs_call_args *c) {
    Work w;
    Array *k;
    const void *p;
    TRY(open_lines(vm, c, 0, 2, true, 1, &w));
    TRY(not_empty(vm, &w));
    TRY(qarg_packed(vm, c, 1, "k", QS_F64, &k, &p));
    const double *ranks = p;
    for (size_t i = 0; i < k->count; i++)
        if (!(ranks[i] >= 0 && ranks[i] < (double)w.l.n && floor(ranks[i]) == ranks[i]))
            return qs_fail(vm, QS_EVALUE, "rank_positions: k must be an integer from 0 to %lld, got %g",
                           (long long)w.l.n - 1, ranks[i]);
    w.spare = 2;
    w.d = w.l.n > (1 << 24) + 1 ? QS_F64 : qvm_ctx(vm)->scalar_dtype; /* positions must be exact */
    return apply_to_lines(vm, c, &w, k->count, rank_line, ranks);
}

/* -- statistics of one number -------------------------------------------------------------------------------------- */
/* Computes the most frequent value; the smallest one if there are several. */
static void mode_line(double *x, size_t n, double *y, size_t m, const void *with) {
    (void)m, (void)with;
    double *spare = x + n;
    n = drop_nan(x, n);
    qsort_doubles(x, n, spare);
    size_t best = 0;
    *y = NAN;
    for (size_t i = 0, from = 0; i < n; i++) {
        if (x[i] != x[from]) from = i;
        if (i - from + 1 > best) best = i - from + 1, *y = x[i];
    }
}
static void nansum_line(double *x, size_t n, double *y, size_t m, const void *with) {
    (void)m, (void)with;
    n = drop_nan(x, n);
    *y = 0;
    for (size_t i = 0; i < n; i++) *y += x[i];
}
static void nanmean_line(double *x, size_t n, double *y, size_t m, const void *with) {
    n = drop_nan(x, n);
    nansum_line(x, n, y, m, with);
    *y /= (double)n;
}
static void nanmin_line(double *x, size_t n, double *y, size_t m, const void *with) {
    (void)m, (void)with;
    *y = NAN;
    for (size_t i = 0; i < n; i++) *y = fmin(*y, x[i]);
}
static void nanmax_line(double *x, size_t n, double *y, size_t m, const void *with) {
    (void)m, (void)with;
    *y = NAN;
    for (size_t i = 0; i < n; i++) *y = fmax(*y, x[i]);
}

/* Computes the variance in two passes, which avoids cancellation.  `with`: the number ddof subtracted from n. */
static void var_line(double *x, size_t n, double *y, size_t m, const void *with) {
    (void)m;
    const ContiguousLoops *of = qcontig_loops();
    double by = (double)n - *(const double *)with, s = of->spread64(n, x, of->sum64(n, x) / (double)n);
    *y = !n ? NAN : by > 0 ? s / by : s;
}
static void std_line(double *x, size_t n, double *y, size_t m, const void *with) {
    var_line(x, n, y, m, with);
    *y = sqrt(*y);
}
static void nanvar_line(double *x, size_t n, double *y, size_t m, const void *with) {
    n = drop_nan(x, n);
    var_line(x, n, y, m, with);
}
static void nanstd_line(double *x, size_t n, double *y, size_t m, const void *with) {
    std_line(x, drop_nan(x, n), y, m, with);
}

/* A median that is zero is +0, so that it does not depend on the order of the elements. */
static void median_line(double *x, size_t n, double *y, size_t m, const void *with) {
    (void)m, (void)with;
    *y = NAN;
    if (!n || drop_nan(x, n) < n) return;
    double pair[2];
    select_pair(x, n, (n - 1) / 2, x + n, pair);
    *y = (n % 2 ? pair[0] : (pair[0] + pair[1]) / 2) + 0.0;
}
static void nanmedian_line(double *x, size_t n, double *y, size_t m, const void *with) {
    median_line(x, drop_nan(x, n), y, m, with);
}

typedef enum { MAY_BE_EMPTY = 1, PER_COLUMN = 2, NAN_OF_EMPTY = 4 } StatisticKind;
static qs_status statistic(qs_vm *vm, qs_call_args *c, unsigned kind, LineFn *f) {
    Work w;
    const Array *a = c->in[0].kind == QS_ARRAY ? qval_array(c->in[0]) : NULL;
    TRY(open_lines(vm, c, 0, 1, kind & PER_COLUMN && a && a->rank > 1, 1, &w));
    if (kind & NAN_OF_EMPTY) TRY(qstats_warn_of_empty(vm, w.fn, w.a, w.dim));
    else if (!(kind & MAY_BE_EMPTY)) TRY(not_empty(vm, &w));
    return apply_to_lines(vm, c, &w, 1, f, NULL);
}
/* Returns the most frequent element of 64-bit integers, which doubles would round: the longest run after sorting. */
static uint64_t frequent(const uint64_t *x, size_t n, size_t step) {
    size_t best = 0;
    uint64_t found = 0;
    for (size_t i = 0, from = 0; i < n; i++) {
        if (x[i * step] != x[from * step]) from = i;
        if (i - from + 1 > best) best = i - from + 1, found = x[i * step];
    }
    return found;
}

/* The second result of mode: the number of elements equal to each value. */
static qs_status count_equal(qs_vm *vm, qs_call_args *c, qs_value value) {
    int dim = DIM_ALL;
    qs_value equal;
    if (c->nout < 2) return QS_OK;
    if (qarg_given(c, 1)) TRY(qarg_dim_of(vm, "mode", c->in[0], c->in[1], &dim));
    TRY(qarith_binary(vm, OP_EQ, c->in[0], value, &equal));
    qs_status s = equal.kind == QS_ARRAY ? qred_run(vm, RED_sum, equal, dim, &c->out[1]) : QS_OK;
    if (equal.kind != QS_ARRAY) c->out[1] = qs_num(equal.u.i != 0);
    return qval_release(vm, equal), s;
}

static qs_status mode_of_wide(qs_vm *vm, qs_call_args *c, Array *a) {
    Array *sorted, *r;
    const void *p;
    void *q, *to;
    int dim = DIM_ALL;
    int64_t dims[QS_MAX_RANK] = {1};
    qs_dtype d = (qs_dtype)a->dtype;
    if (qarg_given(c, 1)) TRY(qarg_dim_of(vm, "mode", c->in[0], c->in[1], &dim));
    ArrayLines l = dim == DIM_ALL ? (ArrayLines){1, a->count, 1} : qstats_lines(a, dim);
    if (!l.n) return qs_fail(vm, QS_EVALUE, "mode: x must not be empty");
    int rank = dim == DIM_ALL ? 1 : qstats_with_dim(a, dim, 1, dims);
    TRY(qarr_copy(vm, a, &sorted));
    qs_status s = qarr_read(vm, sorted, &p);
    if (!s) s = qarr_write(vm, sorted, &q);
    if (!s) s = qsort_lines(vm, "mode", d, &l, false, p, q, QS_I32, NULL);
    if (!s) s = qarg_result(vm, c, 0, d, rank, dims, &r, &to);
    for (size_t k = 0; !s && k < l.outer * l.inner; k++)
        ((uint64_t *)to)[k] = frequent((const uint64_t *)q + qstats_line_at(&l, k), l.n, l.inner);
    qarr_release(vm, sorted);
    if (s) return s;
    qarg_keep(c->out[0], a);
    TRY(count_equal(vm, c, c->out[0]));
    if (dim != DIM_ALL) return QS_OK;
    s = qarr_get(vm, r, 0, &c->out[0]);
    return qarr_release(vm, r), s;
}

static bool is_wide(qs_value v) {
    return v.kind == QS_ARRAY && (qval_array(v)->dtype == QS_I64 || qval_array(v)->dtype == QS_U64);
}

qs_status qlines_mode(qs_vm *vm, qs_call_args *c) {
    if (is_wide(c->in[0])) return mode_of_wide(vm, c, qval_array(c->in[0]));
    TRY(statistic(vm, c, 0, mode_line));
    return count_equal(vm, c, c->out[0]);
}

#define STATISTIC(name, kind)                                                                                          \
    qs_status qlines_##name(qs_vm *vm, qs_call_args *c) { return statistic(vm, c, kind, name##_line); }
STATISTIC(median, PER_COLUMN | NAN_OF_EMPTY)
STATISTIC(nanmedian, PER_COLUMN | NAN_OF_EMPTY)
STATISTIC(nansum, MAY_BE_EMPTY)
STATISTIC(nanmean, NAN_OF_EMPTY)

/* Integers have no nan, so min and max are used, which keep all digits. */
static qs_status nanextreme(qs_vm *vm, qs_call_args *c, Reduce r, LineFn *f) {
    int dim = DIM_ALL;
    if (!is_wide(c->in[0]) || !qval_array(c->in[0])->count) return statistic(vm, c, 0, f);
    if (qarg_given(c, 1)) TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[1], &dim));
    return qred_run(vm, r, c->in[0], dim, &c->out[0]);
}
qs_status qlines_nanmin(qs_vm *vm, qs_call_args *c) { return nanextreme(vm, c, RED_min, nanmin_line); }
qs_status qlines_nanmax(qs_vm *vm, qs_call_args *c) { return nanextreme(vm, c, RED_max, nanmax_line); }

/* Computes the variance of all elements as var_line does; *done false: not done, since they are not real or there are
 * none. */
static qs_status whole_variance(qs_vm *vm, qs_call_args *c, double ddof, bool *done) {
    Array *a;
    const void *p;
    qs_value mean;
    TRY(qarg_floats(vm, c, 0, "x", &a, &p));
    *done = !qdtype_is_complex((qs_dtype)a->dtype);
    if (!*done) return QS_OK;
    if (!a->count) return *done = false, QS_OK; /* nan, with a warning */
    TRY(qred_run(vm, RED_mean, c->in[0], DIM_ALL, &mean));
    double s = qred_spread(vm, (qs_dtype)a->dtype, a->count, p, qval_number(mean)), by = (double)a->count - ddof;
    return c->out[0] = qs_num(by > 0 ? s / by : s), QS_OK;
}

static qs_status on_device(qs_vm *vm, qs_call_args *c, double ddof, bool root, bool *done) {
    int dim = DIM_ALL;
    if (c->in[0].kind != QS_ARRAY) return QS_OK;
    if (qarg_given(c, 1)) TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[1], &dim));
    return qred_spread_of(vm, qval_array(c->in[0]), dim, ddof, root, qarg_meet_float(vm, c, 0, 1), &c->out[0], done);
}

/* Computes f(x [, dim [, ddof]]) of each part; the results for the two parts of a complex x are combined by `join`. */
static qs_status compute_spread(qs_vm *vm, qs_call_args *c, LineFn *f, double (*join)(double, double)) {
    Work w;
    double ddof = 1;
    bool done = false;
    if (qarg_given(c, 2)) TRY(qarg_num(vm, c->name, "ddof", c->in[2], &ddof));
    if (f == var_line || f == std_line) TRY(on_device(vm, c, ddof, f == std_line, &done));
    if (done) return QS_OK;
    if (!qarg_given(c, 1) && (f == var_line || f == std_line)) TRY(whole_variance(vm, c, ddof, &done));
    if (done && f == std_line) c->out[0] = qs_num(sqrt(c->out[0].u.f));
    if (done) return QS_OK;
    int parts = qarg_parts(c, 0, 1);
    TRY(open_lines(vm, c, 0, 1, false, parts, &w));
    TRY(qstats_warn_of_empty(vm, w.fn, w.a, w.dim));
    TRY(apply_to_lines(vm, c, &w, 1, f, &ddof));
    if (parts == 1) return QS_OK;
    qs_value z = c->out[0], part[2] = {qs_nil(), qs_nil()};
    c->out[0] = qs_nil();
    qs_status s = qmath_real(vm, &(qs_call_args){1, 1, &z, &part[0], .name = c->name});
    if (s == QS_OK) s = qmath_imag(vm, &(qs_call_args){1, 1, &z, &part[1], .name = c->name});
    if (s == QS_OK) s = qapply_two(vm, c->name, join, part[0], part[1], &c->out[0]);
    qval_release(vm, z), qval_release(vm, part[0]), qval_release(vm, part[1]);
    return s;
}
static double add_parts(double a, double b) { return a + b; }
#define SPREAD(name, join)                                                                                             \
    qs_status qlines_##name(qs_vm *vm, qs_call_args *c) { return compute_spread(vm, c, name##_line, join); }
SPREAD(var, add_parts)
SPREAD(std, hypot)
SPREAD(nanvar, add_parts)
SPREAD(nanstd, hypot)

/* -- integrals ----------------------------------------------------------------------------------------------------- */
/* Computes the area under y from the first point to each.  `with`: positions of the points; NULL: 0, 1, 2, … */
static void cumulative_line(double *x, size_t n, double *y, size_t m, const void *with) {
    const double *at = with;
    double s = 0;
    for (size_t i = 0; i < n; i++) {
        if (i) s += (x[i] + x[i - 1]) / 2 * (at ? at[i] - at[i - 1] : 1);
        y[m == 1 ? 0 : i] = s;
    }
    if (!n && m) *y = 0;
}

/* f(y), f(x, y), f(x, y, dim) */
static qs_status trapezoids(qs_vm *vm, qs_call_args *c, bool all) {
    Work w;
    Array *at;
    const void *p = NULL;
    qs_value x = c->in[0];
    bool spaced = c->nin > 1 && x.kind != QS_NIL && !(x.kind == QS_ARRAY && qval_array(x)->count == 0);
    TRY(open_lines(vm, c, c->nin > 1, 2, true, qarg_parts(c, c->nin > 1, 1 + (c->nin > 1)), &w));
    if (spaced) {
        TRY(qarg_packed(vm, c, 0, "x", QS_F64, &at, &p));
        if (at->count != w.l.n)
            return qs_fail(vm, QS_ESHAPE, "%s: x must have %zu elements as y does, got %zu", c->name, w.l.n, at->count);
    }
    if (!all && !qarg_given(c, 2) && w.a->rank <= 1)
        w.dim = DIM_ALL, w.l = (ArrayLines){1, w.a->count, (size_t)w.parts};
    return apply_to_lines(vm, c, &w, all ? w.l.n : 1, cumulative_line, p);
}
qs_status qlines_trapz(qs_vm *vm, qs_call_args *c) { return trapezoids(vm, c, false); }
qs_status qlines_cumulative_trapezoid(qs_vm *vm, qs_call_args *c) { return trapezoids(vm, c, true); }

/* -- differences --------------------------------------------------------------------------------------------------- */
/* Returns all slices along dim except the first (skip 1) or last (skip 0) as a view. */
static qs_status slices(qs_vm *vm, Array *a, const Shape *s, int dim, int64_t skip, qs_value *out) {
    Array *v;
    int64_t dims[QS_MAX_RANK];
    memcpy(dims, s->dims, sizeof dims);
    dims[dim]--;
    TRY(qarr_view(vm, a, s->rank, dims, s->strides, a->offset + (size_t)(skip * s->strides[dim]), &v));
    qarr_keep(v, s->ndim);
    *out = qarr_value(v);
    return QS_OK;
}

qs_status qlines_diff(qs_vm *vm, qs_call_args *c) {
    Array *a, *packed;
    Shape s;
    int dim;
    TRY(qstats_array_and_dim(vm, c, &a, &dim));
    qmatrix_shape(a, &s);
    if (a->count == 0 || dim >= s.rank || s.dims[dim] < 2) { /* there are no two neighbours */
        int64_t dims[QS_MAX_RANK], n = dim < s.rank && s.dims[dim] > 1 ? s.dims[dim] - 1 : 0;
        int rank = qstats_with_dim(a, dim, n, dims);
        void *p;
        TRY(qarg_result(vm, c, 0, (qs_dtype)a->dtype, rank, dims, &packed, &p));
        return qarr_keep(packed, a->ndim), QS_OK;
    }
    qs_value left = qs_nil(), right = qs_nil();
    TRY(qarr_contiguous(vm, a, &packed));
    qmatrix_shape(packed, &s);
    qs_status st = slices(vm, packed, &s, dim, 0, &left);
    if (st == QS_OK) st = slices(vm, packed, &s, dim, 1, &right);
    if (st == QS_OK) st = qarith_binary(vm, OP_SUB, right, left, &c->out[0]);
    qval_release(vm, left), qval_release(vm, right);
    qarr_release(vm, packed);
    return st;
}
