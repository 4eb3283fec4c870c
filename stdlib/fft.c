/* fft.c -- computes discrete Fourier transforms, on the host unless a device has a library for them
 * (vm/array/device_math.c).
 *
 * X[k] = sum over n of x[n] exp(-2 pi i k n/N); the inverse divides by N.  fft.h describes the loops.  Lengths with a
 * prime factor above FFT_RADIX use Bluestein's algorithm, in float64.  Plans (factors and roots of 1) are kept for the
 * lengths used last.  Sequences along the last dimension are transformed one by one, and real ones of even length as
 * complex ones of half the length; sequences along other dimensions are transformed several at a time, because their
 * elements are neighbours.  Sources: Stockham 1966; Bluestein 1970; Bailey 1990. */
#include "stdlib/fft.h"
#include "devices/pool.h"
#include "devices/threads.h"
#include "stdlib/builtins.h"
#include "vm/array/device_math.h"

#include <math.h>
#include <string.h>

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

/* -- plans --------------------------------------------------------------------------------------------------------- */
/* Returns the largest prime factor of n. */
static size_t largest_factor(size_t n) {
    size_t most = 1;
    for (size_t p = 2; p * p <= n; p++)
        while (n % p == 0) n /= p, most = p;
    return n > most ? n : most;
}

/* Memory that is divided in order; without a base it is only measured. */
typedef struct {
    char *base;
    size_t used;
} Layout;
static void *take(Layout *a, size_t bytes) {
    void *p = a->base ? a->base + a->used : NULL;
    a->used = qmem_size((bytes + 63) / 64, 64, a->used);
    return p;
}

static void put_root(bool wide, void *to, size_t at, size_t k, size_t n) {
    double re, im;
    unit_root(k % n, n, &re, &im);
    if (wide) ((double *)to)[at] = re, ((double *)to)[at + 1] = im;
    else ((float *)to)[at] = (float)re, ((float *)to)[at + 1] = (float)im;
}

static void plan_chain(Layout *a, FftChain *f, size_t n, bool wide) {
    static const int radices[] = {8, 4, 2, 3, 5};
    *f = (FftChain){.n = n};
    size_t rest = n, size = wide ? sizeof(double) : sizeof(float);
    for (size_t i = 0; i < sizeof radices / sizeof *radices; i++)
        for (; rest % (size_t)radices[i] == 0; rest /= (size_t)radices[i]) f->radix[f->passes++] = radices[i];
    for (int p = 7; rest > 1; p += 2)
        for (; rest % (size_t)p == 0; rest /= (size_t)p) f->radix[f->passes++] = p;
    size_t left = n;
    for (int i = 0; i < f->passes; i++) {
        size_t r = (size_t)f->radix[i], m = left / r;
        f->twiddles[i] = take(a, 2 * (m * (r - 1) + (r > 8 || r == 7 ? r : 0)) * size);
        for (size_t p = 0; a->base && p < m; p++)
            for (size_t k = 1; k < r; k++) put_root(wide, f->twiddles[i], 2 * (p * (r - 1) + k - 1), p * k, left);
        for (size_t k = 0; a->base && r > 5 && r != 8 && k < r; k++)
            put_root(wide, f->twiddles[i], 2 * (m * (r - 1) + k), k, r);
        left = m;
    }
}

enum { LANES_F32 = FFT_BYTES / sizeof(float), LANES_F64 = FFT_BYTES / sizeof(double) };

/* Fills a vector of roots of n, for multiples of k: real parts, then imaginary parts. */
static void fill_vector(bool wide, void *to, size_t at, size_t k, size_t n) {
    size_t lanes = wide ? LANES_F64 : LANES_F32;
    for (size_t l = 0; l < lanes; l++) {
        double re, im;
        unit_root(k * l % n, n, &re, &im);
        size_t i = 2 * at * lanes + l;
        if (wide) ((double *)to)[i] = re, ((double *)to)[i + lanes] = im;
        else ((float *)to)[i] = (float)re, ((float *)to)[i + lanes] = (float)im;
    }
}

static void plan_roots(Layout *a, FftRoots *r, size_t n, bool wide) {
    *r = (FftRoots){.n = n};
    while ((size_t)1 << 2 * r->bits < n) r->bits++;
    size_t low = (size_t)1 << r->bits, high = (n >> r->bits) + 1;
    r->low = take(a, 2 * low * sizeof(double)), r->high = take(a, 2 * high * sizeof(double));
    r->fine = take(a, 2 * FFT_BYTES);
    if (!a->base) return;
    for (size_t k = 0; k < low; k++) put_root(true, r->low, 2 * k, k, n);
    for (size_t k = 0; k < high; k++) put_root(true, r->high, 2 * k, k << r->bits, n);
    fill_vector(wide, r->fine, 0, 1, n);
}

/* Chooses the divisor n1 of n for which blocks of sequences have the least padding, among those near the root of n. */
static size_t choose_rows(size_t n, size_t lanes) {
    size_t best = 1, least = SIZE_MAX;
    for (size_t d = 2; d * d <= n; d++) {
        size_t e = n / d, cost;
        if (n % d || (e > 8 * d && least < SIZE_MAX && e > 64 * best)) continue;
        cost = (e + lanes - 1) / lanes * lanes * d + (d + lanes - 1) / lanes * lanes * e + 4 * (e - d);
        if (cost <= least) least = cost, best = d;
    }
    return n / best;
}

/* A plan for n numbers in a sequence, or in several interleaved ones; REAL_LINE: for n real numbers as n/2 complex ones
 * and the roots that separate them; TWISTED_LINE: likewise, and the roots that multiply them; CHIRP: for n numbers by
 * a convolution. */
typedef enum { ONE_LINE, MANY_LINES, REAL_LINE, TWISTED_LINE, CHIRP } PlanKind;
typedef struct Plan {
    FftPlan f;
    FftRoots pairs;         /* of REAL_LINE: of n; of TWISTED_LINE: of 2n */
    double *chirp, *filter; /* of CHIRP: complex */
    bool prepared;          /* these are computed */
    PlanKind kind;
    size_t n;
    bool wide;
    uint64_t used; /* the time of its last use */
    size_t bytes;
    struct Plan *next;
} Plan;
typedef struct FftPlans {
    Plan *first;
    uint64_t now;
    size_t bytes;
} FftPlans;
enum { MOST_PLANS_BYTES = 1 << 25 }; /* memory of all plans that are kept */

/* Returns the length of the transforms of a convolution with `least` elements: a power of 2 times 1 to 25. */
static size_t choose_length(size_t least) {
    static const size_t factors[] = {1, 3, 5, 9, 15, 25};
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        size_t m = 2 * FFT_SMALL * factors[i];
        while (m < least) m *= 2;
        if (m < best) best = m;
    }
    return best;
}

static void lay_out_plan(Layout *a, Plan *p) {
    size_t n = p->kind == REAL_LINE || p->kind == TWISTED_LINE ? p->n / 2 : p->n;
    if (p->kind == CHIRP) {
        p->chirp = take(a, 2 * n * sizeof(double)), n = choose_length(2 * n - 1);
        p->filter = take(a, 2 * n * sizeof(double));
    }
    size_t lanes = p->wide ? LANES_F64 : LANES_F32;
    bool divided = p->kind != MANY_LINES && n > FFT_SMALL;
    p->f.n = n, p->f.n1 = divided ? choose_rows(n, lanes) : n, p->f.n2 = n / p->f.n1;
    plan_chain(a, &p->f.columns, p->f.n1, p->wide);
    if (p->f.n2 > 1) {
        plan_chain(a, &p->f.rows, p->f.n2, p->wide);
        plan_roots(a, &p->f.roots, n, p->wide);
        p->f.fine = take(a, 2 * FFT_BYTES * p->f.n1);
        for (size_t k = 0; a->base && k < p->f.n1; k++) fill_vector(p->wide, p->f.fine, k, k, n);
    }
    if (p->kind == REAL_LINE) plan_roots(a, &p->pairs, p->n, p->wide);
    if (p->kind == TWISTED_LINE) plan_roots(a, &p->pairs, 2 * p->n, p->wide);
}

static void free_plan(Ctx *c, Plan *p) { qmem_try_free(c, p, p->bytes); }

/* Frees the plan that was not used for the longest time, other than `keep`. */
static void drop_oldest(Ctx *c, FftPlans *all, const Plan *keep) {
    Plan **oldest = NULL;
    for (Plan **at = &all->first; *at; at = &(*at)->next)
        if (*at != keep && (!oldest || (*at)->used < (*oldest)->used)) oldest = at;
    Plan *p = *oldest;
    *oldest = p->next, all->bytes -= p->bytes;
    free_plan(c, p);
}

static qs_status find_plan(qs_vm *vm, size_t n, bool wide, PlanKind kind, Plan **out) {
    Ctx *c = qvm_ctx(vm);
    FftPlans **all = &qlib(vm)->fft;
    if (!*all) *all = qmem_alloc(c, sizeof **all);
    for (Plan *p = (*all)->first; p; p = p->next)
        if (p->n == n && p->wide == wide && p->kind == kind) return p->used = ++(*all)->now, *out = p, QS_OK;
    Plan made = {.kind = kind, .n = n, .wide = wide};
    Layout a = {0};
    take(&a, sizeof made);
    lay_out_plan(&a, &made);
    Plan *p = qmem_try(c, a.used);
    if (!p) return qs_fail(vm, QS_ENOMEM, "fft: no memory for a plan of %zu bytes", a.used);
    *p = made, p->bytes = a.used, p->used = ++(*all)->now;
    a = (Layout){(char *)p, 0};
    take(&a, sizeof made);
    lay_out_plan(&a, p);
    p->next = (*all)->first, (*all)->first = p, (*all)->bytes += p->bytes;
    while ((*all)->bytes > MOST_PLANS_BYTES && (*all)->first->next) drop_oldest(c, *all, p);
    return *out = p, QS_OK;
}

void qfft_close(qs_vm *vm) {
    Ctx *c = qvm_ctx(vm);
    FftPlans *all = qlib(vm)->fft;
    if (!all) return;
    for (Plan *p = all->first, *next; p; p = next) next = p->next, free_plan(c, p);
    qmem_free(c, all, sizeof *all);
}

/* The work space of a transform. */
typedef struct {
    Ctx *ctx;
    void *p;
    size_t bytes;
} Store;
static qs_status allocate_store(qs_vm *vm, Store *s, size_t count, size_t size) {
    *s = (Store){qvm_ctx(vm), NULL, qmem_size(count, size, 0)};
    s->p = qpool_get(s->ctx, s->bytes);
    return s->p ? QS_OK : qs_fail(vm, QS_ENOMEM, "fft: no memory for %zu bytes of work space", s->bytes);
}
static void give_back(Store *s) { qpool_put(s->ctx, s->p, s->bytes); }

/* -- Bluestein: k n = (k^2 + n^2 - (k-n)^2)/2 makes the sum a convolution of length m >= 2N-1, in float64 ---------- */
typedef struct {
    const Plan *plan;
    const FftLoops *loops;
    size_t n, m;
    double *x, *y; /* complex */
    void *room;
} Chirp;

static void multiply(double *restrict x, const double *restrict y, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double re = x[2 * i], im = x[2 * i + 1];
        x[2 * i] = re * y[2 * i] - im * y[2 * i + 1];
        x[2 * i + 1] = re * y[2 * i + 1] + im * y[2 * i];
    }
}

/* Computes the chirp exp(-pi i k^2/N) and the spectrum of the filter with its conjugate. */
static void prepare_chirp(const Chirp *b) {
    size_t n = b->n;
    memset(b->x, 0, 2 * b->m * sizeof(double));
    for (size_t k = 0; k < n; k++) {
        double *c = b->plan->chirp + 2 * k, *x = b->x + 2 * k;
        unit_root((size_t)((unsigned __int128)k * k % (2 * n)), 2 * n, c, c + 1);
        x[0] = c[0], x[1] = -c[1];
        if (k) b->x[2 * (b->m - k)] = c[0], b->x[2 * (b->m - k) + 1] = -c[1];
    }
    b->loops->line(&b->plan->f, b->x, 2, b->plan->filter, false, b->room);
}

/* Transforms the n numbers at the beginning of x in place. */
static void transform_chirp(const Chirp *b) {
    multiply(b->x, b->plan->chirp, b->n);
    memset(b->x + 2 * b->n, 0, 2 * (b->m - b->n) * sizeof(double));
    b->loops->line(&b->plan->f, b->x, 2, b->y, false, b->room);
    multiply(b->y, b->plan->filter, b->m);
    b->loops->line(&b->plan->f, b->y, 2, b->x, true, b->room);
    multiply(b->x, b->plan->chirp, b->n);
}

typedef struct { /* a transform along one dimension */
    FftLines g;
    bool wide, inverse;
    const void *src;
    int parts; /* of an element of src */
    void *dst;
} Transform;

/* Copies a sequence to x, or back; an inverse transform exchanges real and imaginary parts. */
#define COPY_LINE(id, T)                                                                                               \
    static void load_line_##id(const Transform *t, size_t first, double *x) {                                          \
        const T *p = (const T *)t->src + first * (size_t)t->parts;                                                     \
        size_t step = t->g.inner * (size_t)t->parts;                                                                   \
        for (size_t j = 0; j < t->g.n; j++, p += step)                                                                 \
            x[2 * j + t->inverse] = p[0], x[2 * j + !t->inverse] = t->parts == 2 ? p[1] : 0;                           \
    }                                                                                                                  \
    static void store_line_##id(const Transform *t, size_t first, const double *x) {                                   \
        T *p = (T *)t->dst + 2 * first;                                                                                \
        double scale = t->inverse ? 1 / (double)t->g.n : 1;                                                            \
        for (size_t j = 0; j < t->g.n; j++, p += 2 * t->g.inner)                                                       \
            p[0] = (T)(x[2 * j + t->inverse] * scale), p[1] = (T)(x[2 * j + !t->inverse] * scale);                     \
    }
COPY_LINE(f32, float)
COPY_LINE(f64, double)

static size_t first_of(const FftLines *g, size_t line) { return line / g->inner * g->inner * g->n + line % g->inner; }

static qs_status bluestein(qs_vm *vm, const Transform *t) {
    Plan *plan;
    TRY(find_plan(vm, t->g.n, true, CHIRP, &plan));
    Chirp b = {.plan = plan, .loops = qfft_loops(true), .n = t->g.n, .m = plan->f.n};
    size_t room = b.loops->room(&plan->f) / sizeof(double);
    Store s;
    TRY(allocate_store(vm, &s, 4 * b.m + room, sizeof(double)));
    b.room = s.p, b.x = (double *)s.p + room, b.y = b.x + 2 * b.m;
    if (!plan->prepared) prepare_chirp(&b), plan->prepared = true;
    for (size_t k = 0; k < t->g.lines; k++) {
        size_t first = first_of(&t->g, k);
        t->wide ? load_line_f64(t, first, b.x) : load_line_f32(t, first, b.x);
        transform_chirp(&b);
        t->wide ? store_line_f64(t, first, b.x) : store_line_f32(t, first, b.x);
    }
    give_back(&s);
    return QS_OK;
}

/* -- one dimension ------------------------------------------------------------------------------------------------- */
enum { LONGEST_CHAIN = 1 << 14 }; /* longer sequences are transformed one by one */

/* Transforms contiguous sequences. */
static qs_status transform_rows(qs_vm *vm, const Transform *t) {
    Plan *plan;
    size_t n = t->g.n, real = t->wide ? sizeof(double) : sizeof(float);
    bool pairs = t->parts == 1 && !t->inverse && n % 2 == 0 && n > 2 * FFT_SMALL;
    const FftLoops *loops = qfft_loops(t->wide);
    TRY(find_plan(vm, n, t->wide, pairs ? REAL_LINE : ONE_LINE, &plan));
    Store s;
    TRY(allocate_store(vm, &s, qfft_loops(t->wide)->room(&plan->f), 1));
    for (size_t k = 0; k < t->g.lines; k++) {
        const char *from = (const char *)t->src + k * n * (size_t)t->parts * real;
        char *to = (char *)t->dst + 2 * k * n * real;
        loops->line(&plan->f, from, pairs ? 2 : t->parts, to, t->inverse, s.p);
        if (pairs) loops->untangle(&plan->pairs, to);
    }
    return give_back(&s), QS_OK;
}

/* Copies sequence `line` to a contiguous buffer of complex numbers, or back. */
static void copy_line(const Transform *t, size_t line, bool back, char *x) {
    size_t real = t->wide ? sizeof(double) : sizeof(float), size = real * (back ? 2 : (size_t)t->parts);
    size_t step = t->g.inner * size, first = first_of(&t->g, line) * size;
    for (size_t j = 0; j < t->g.n; j++)
        if (back) memcpy((char *)t->dst + first + j * step, x + j * size, size);
        else memcpy(x + j * size, (const char *)t->src + first + j * step, size);
}

/* Transforms long sequences that are not contiguous one by one, in a buffer. */
static qs_status transform_far(qs_vm *vm, const Transform *t) {
    Plan *plan;
    TRY(find_plan(vm, t->g.n, t->wide, ONE_LINE, &plan));
    size_t room = qfft_loops(t->wide)->room(&plan->f), real = t->wide ? sizeof(double) : sizeof(float);
    Store s;
    TRY(allocate_store(vm, &s, qmem_size(t->g.n, 2 * real, room), 1));
    char *x = (char *)s.p + room;
    for (size_t k = 0; k < t->g.lines; k++) {
        copy_line(t, k, false, x);
        qfft_loops(t->wide)->line(&plan->f, x, t->parts, x, t->inverse, s.p);
        copy_line(t, k, true, x);
    }
    return give_back(&s), QS_OK;
}

/* Transforms sequences `from` to `end`-1 by a chain. */
static qs_status transform_lines(qs_vm *vm, const Transform *t, size_t from, size_t end) {
    Plan *plan;
    TRY(find_plan(vm, t->g.n, t->wide, MANY_LINES, &plan));
    Store s;
    TRY(allocate_store(vm, &s, qfft_loops(t->wide)->room(&plan->f), 1));
    qfft_loops(t->wide)->lines(&plan->f, &t->g, t->src, t->parts, from, end, t->dst, t->inverse, s.p);
    return give_back(&s), QS_OK;
}

static qs_status transform_along(qs_vm *vm, const Transform *t) {
    if (largest_factor(t->g.n) > FFT_RADIX) return bluestein(vm, t);
    if (t->g.inner == 1 && t->g.n > FFT_SMALL) return transform_rows(vm, t);
    if (t->g.n > LONGEST_CHAIN) return transform_far(vm, t);
    return transform_lines(vm, t, 0, t->g.lines);
}

/* -- long convolutions, in blocks of the result (overlap-save), always in float64 ---------------------------------- */
/* Overlap-save convolution: a transform of `size` elements gives `stretch` elements of the result.  For real numbers it
 * gives two blocks, as real and imaginary part.  If one block is enough, the transform has size/2 complex numbers: the
 * halves of the block are their parts, and a twist by the roots of i makes the product of two such transforms a
 * convolution in which elements that leave the block at its end return at its beginning with the opposite sign.
 * Overlap-save ignores these elements.  Source of the twist: Nussbaumer: FFT and convolution algorithms (1982). */
typedef struct {
    const double *a;
    double *out, *room; /* room: buffers of all workers */
    ConvolutionSize s;
    size_t size, points, stretch; /* points: complex numbers per transform */
    size_t lead;                  /* elements of a block before the position of its first result */
    size_t each;                  /* doubles of a worker's buffers: x, and the work space of the transform */
    const Plan *plan;
    double *spectrum; /* of b, `points` complex numbers */
} Long;

/* Copies the elements of a that the block starting at k needs to one of the parts of x, with zeros outside a. */
static void load_block(const Long *l, size_t k, int part, double *x) {
    size_t step = (size_t)l->s.parts;
    for (size_t i = 0; i < l->points; i++) {
        size_t at = k + i - l->lead; /* wraps around for indices below 0, so one test is enough */
        x[2 * i + (size_t)part] = at < l->s.n && at < l->s.end ? l->a[at * step + (step == 2 ? (size_t)part : 0)] : 0;
    }
}

/* Stores the results of the block starting at k that are in one of the parts of x; its first number has this offset. */
static void store_block(const Long *l, size_t k, int part, size_t offset, const double *x) {
    size_t step = (size_t)l->s.parts, first = l->lead > offset ? l->lead - offset : 0;
    for (size_t i = first, at; i < l->points && (at = k + offset + i - l->lead) < l->s.end; i++)
        l->out[at * step + (step == 2 ? (size_t)part : 0)] = x[2 * i + (size_t)part];
}

/* Multiplies number k of x by exp(pi i k/size), or by the conjugate. */
static void twist(const Long *l, bool back, double *x) {
    const FftRoots *r = &l->plan->pairs;
    size_t low = (size_t)1 << r->bits;
    double sign = back ? 1 : -1; /* the roots are conjugate */
    for (size_t k = 0; k < l->points; k += low) {
        const double *h = r->high + 2 * (k >> r->bits);
        size_t count = low < l->points - k ? low : l->points - k;
        double *restrict y = x + 2 * k;
        for (size_t j = 0; j < count; j++) {
            double re = h[0] * r->low[2 * j] - h[1] * r->low[2 * j + 1], v = y[2 * j], w = y[2 * j + 1];
            double im = sign * (h[0] * r->low[2 * j + 1] + h[1] * r->low[2 * j]);
            y[2 * j] = v * re - w * im, y[2 * j + 1] = v * im + w * re;
        }
    }
}

static void transform_block(const Long *l, bool inverse, double *x, double *room) {
    bool twisted = l->points < l->size;
    if (twisted && !inverse) twist(l, false, x);
    qfft_loops(true)->line(&l->plan->f, x, 2, x, inverse, room);
    if (twisted && inverse) twist(l, true, x);
}

static void convolve_stretches(void *ud, int64_t first, int64_t last, int worker) {
    const Long *l = ud;
    bool pairs = l->s.parts == 1 && l->points == l->size;
    size_t half = l->points < l->size ? l->points : 0, next = pairs ? l->stretch : 0;
    double *x = l->room + l->each * (size_t)worker, *room = x + 2 * l->points;
    for (int64_t i = first; i < last; i++) {
        size_t k = l->s.from + (size_t)i * (l->stretch + next);
        load_block(l, k, 0, x), load_block(l, k + next + half, 1, x);
        transform_block(l, false, x, room);
        multiply(x, l->spectrum, l->points);
        transform_block(l, true, x, room);
        store_block(l, k, 0, 0, x), store_block(l, k + next, 1, half, x);
    }
}

/* Computes the spectrum of b; uses the work space of the first worker. */
static void prepare_long(Long *l, const double *b) {
    size_t step = (size_t)l->s.parts;
    memset(l->spectrum, 0, 2 * l->points * sizeof(double));
    for (size_t j = 0; j < l->s.m; j++)
        for (size_t part = 0; part < step; part++)
            l->spectrum[j < l->points ? 2 * j + part : 2 * (j - l->points) + 1] = b[j * step + part];
    transform_block(l, false, l->spectrum, l->room + 2 * l->points);
}

/* Chooses blocks of about 4m elements, or one block if it is shorter.  One block has room for the wanted results; the
 * ones that leave it at its end may return at the positions before the first wanted result. */
static Long choose_blocks(const ConvolutionSize *s) {
    size_t before = s->m - 1, lead = s->from < before ? s->from : before, room = s->end - s->from + lead;
    size_t elements = (s->n < s->end ? s->n : s->end) + lead - s->from, size = 2 * FFT_SMALL;
    if (room < elements + before - lead) room = elements + before - lead;
    size_t one = choose_length(room > s->m ? room : s->m);
    while (size < 4 * s->m) size *= 2;
    bool single = one <= size * (s->parts == 1 ? 2 : 1);
    Long l = {.s = *s, .size = single ? one : size, .lead = single ? lead : before};
    l.points = single && s->parts == 1 ? one / 2 : l.size, l.stretch = l.size - l.lead;
    return l;
}

double qfft_convolve_cost(const ConvolutionSize *s) {
    Long l = choose_blocks(s);
    size_t each = l.stretch * (s->parts == 1 && l.points == l.size ? 2 : 1);
    return (1 + 2 * ceil((double)(s->end - s->from) / (double)each)) * (double)l.points * log2((double)l.points);
}

qs_status qfft_convolve(qs_vm *vm, const double *a, const double *b, const ConvolutionSize *size, double *out) {
    Long l = choose_blocks(size);
    Plan *plan;
    bool twisted = l.points < l.size;
    TRY(find_plan(vm, l.size, true, twisted ? TWISTED_LINE : ONE_LINE, &plan));
    l.a = a, l.out = out, l.plan = plan, l.each = 2 * l.points + qfft_loops(true)->room(&plan->f) / sizeof(double);
    size_t each = l.stretch * (size->parts == 1 && !twisted ? 2 : 1);
    int64_t stretches = (int64_t)((size->end - size->from - 1) / each) + 1;
    Threads *t = qthreads_of(qvm_ctx(vm));
    Store s;
    TRY(allocate_store(vm, &s, 2 * l.points + l.each * (size_t)qthreads_workers(t, stretches, 1), sizeof(double)));
    l.spectrum = s.p, l.room = l.spectrum + 2 * l.points;
    prepare_long(&l, b);
    qdoing_stage(&qvm_ctx(vm)->doing, 0, 1, 0);
    qthreads_run(t, stretches, 1, convolve_stretches, &l);
    give_back(&s);
    return QS_OK;
}

/* -- natives ------------------------------------------------------------------------------------------------------- */
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

static FftLines lines_along(const Shape *s, size_t count, int dim) {
    FftLines g = {(size_t)s->dims[dim], 1, count / (size_t)s->dims[dim]};
    for (int d = dim + 1; d < s->rank; d++) g.inner *= (size_t)s->dims[d];
    return g;
}

/* Copies the columns above the middle from those below it, with which they are conjugate: X[i,j] is that of [-i,-j]. */
#define MIRROR(id, T)                                                                                                  \
    static void mirror_##id(T *x, size_t rows, size_t columns) {                                                       \
        for (size_t i = 0; i < rows; i++) {                                                                            \
            T *to = x + 2 * i * columns;                                                                               \
            const T *from = x + 2 * (i ? rows - i : 0) * columns;                                                      \
            for (size_t j = columns / 2 + 1; j < columns; j++)                                                         \
                to[2 * j] = from[2 * (columns - j)], to[2 * j + 1] = -from[2 * (columns - j) + 1];                     \
        }                                                                                                              \
    }
MIRROR(f32, float)
MIRROR(f64, double)

/* Transforms the columns of a matrix whose rows have conjugate symmetry. */
static qs_status transform_half(qs_vm *vm, const Transform *t) {
    size_t columns = t->g.inner;
    TRY(transform_lines(vm, t, 0, columns / 2 + 1));
    if (t->wide) mirror_f64(t->dst, t->g.n, columns);
    else mirror_f32(t->dst, t->g.n, columns);
    return QS_OK;
}

/* Transforms the dimensions `from` to `to`, the last one first. */
static qs_status transform_dims(qs_vm *vm, const Array *a, const void *src, int from, int to, bool inverse, bool wide,
                                int parts, void *dst) {
    Shape s;
    qmatrix_shape(a, &s);
    Transform t = {.wide = wide, .inverse = inverse, .src = src, .parts = parts, .dst = dst};
    bool real = parts == 1 && !inverse, done = false;
    for (int d = to < s.rank ? to : s.rank - 1; d >= from; d--) {
        if (s.dims[d] <= 1) continue;
        t.g = lines_along(&s, a->count, d);
        bool half = done && real && s.rank == 2 && t.g.n <= LONGEST_CHAIN && largest_factor(t.g.n) <= FFT_RADIX;
        TRY(half ? transform_half(vm, &t) : transform_along(vm, &t));
        t.src = dst, t.parts = 2, done = true;
    }
    size_t size = wide ? sizeof(double) : sizeof(float);
    if (!done && parts == 2) memcpy(dst, src, 2 * a->count * size);
    for (size_t i = 0; !done && parts == 1 && i < a->count; i++) {
        memcpy((char *)dst + 2 * i * size, (const char *)src + i * size, size);
        memset((char *)dst + (2 * i + 1) * size, 0, size);
    }
    return QS_OK;
}

static qs_status transform(qs_vm *vm, qs_call_args *c, int rank, bool inverse) {
    Array *a, *r;
    const void *src;
    void *dst;
    bool done;
    TRY(on_device(vm, c, rank, inverse, &done));
    if (done) return QS_OK;
    TRY(qarg_array(vm, c, 0, "x", &a));
    qs_dtype d = (qs_dtype)a->dtype, result = qdtype_complex_of(d);
    int from = rank == 1 ? qstats_main_dim(a) : 0, parts = qdtype_is_complex(d) ? 2 : 1;
    if (rank == 1 && qarg_given(c, 1)) TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[1], &from));
    TRY(qarg_packed(vm, c, 0, "x", parts == 2 ? result : qdtype_real_of(result), &a, &src));
    TRY(qarg_result_like(vm, c, 0, result, a, &r, &dst));
    if (!a->count) return QS_OK;
    return transform_dims(vm, a, src, from, from + rank - 1, inverse, result == QS_C128, parts, dst);
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
