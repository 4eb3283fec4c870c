/* typed_reduce.c -- implements reductions, argmax and argmin, scans and searchsorted of the Array API standard.
 *
 * A reduction iterates over the dimension with the smallest stride.  If that dimension is reduced, each line is reduced
 * to one number; if it is kept, whole rows of results are accumulated.  The lines are distributed among the threads.  A
 * single long line is divided into blocks that depend only on its length, so that the result does not depend on the
 * number of threads. */
#include "devices/threads.h"
#include "vm/array/contiguous.h"
#include "vm/array/convert.h"
#include "vm/base/dtype.h"
#include "vm/base/reduction.h"
#include "vm/quasar.h"
#include "vm/typed/typed.h"

LOOPS_WITHOUT_TRAPS
#ifndef __clang__
#pragma GCC optimize("no-math-errno")
#endif

#include <stdlib.h>
#include <string.h>

/* -- loops over n elements, `step` bytes apart: into one accumulator (line), or each into its own (row) ------------ */
typedef void FoldLoop(size_t n, const char *in, ptrdiff_t step, void *acc);
typedef struct {
    FoldLoop *line, *row;
    qs_dtype acc;  /* type of the accumulators */
    uint64_t from; /* bits of their initial value; extremes begin with an element instead */
} Folder;

enum { LANES = 16 };
/* take(s, x) adds the element x to the partial result s; join(s, t) combines two partial results. */
#define FOLD(name, D, T, A, start, take, join)                                                                         \
    static void name##_line_##D(size_t n, const char *in, ptrdiff_t step, void *acc) {                                 \
        const T *v = (const T *)(const void *)in;                                                                      \
        A s = *(A *)acc, lane[LANES];                                                                                  \
        size_t i = 0;                                                                                                  \
        if (step == (ptrdiff_t)sizeof(T) && n >= 2 * LANES) {                                                          \
            for (int k = 0; k < LANES; k++) lane[k] = start;                                                           \
            for (; i + LANES <= n; i += LANES)                                                                         \
                for (int k = 0; k < LANES; k++) {                                                                      \
                    A q = lane[k];                                                                                     \
                    const T x = v[i + (size_t)k];                                                                      \
                    lane[k] = take(q, x);                                                                              \
                }                                                                                                      \
            for (int k = 0; k < LANES; k++) s = join(s, lane[k]);                                                      \
        }                                                                                                              \
        for (; i < n; i++) {                                                                                           \
            const T x = *(const T *)(const void *)(in + (ptrdiff_t)i * step);                                          \
            s = take(s, x);                                                                                            \
        }                                                                                                              \
        *(A *)acc = s;                                                                                                 \
    }                                                                                                                  \
    static void name##_row_##D(size_t n, const char *in, ptrdiff_t step, void *acc) {                                  \
        const T *v = (const T *)(const void *)in;                                                                      \
        A *s = acc;                                                                                                    \
        if (step == (ptrdiff_t)sizeof(T))                                                                              \
            for (size_t i = 0; i < n; i++) s[i] = take(s[i], v[i]);                                                    \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) s[i] = take(s[i], *(const T *)(const void *)(in + (ptrdiff_t)i * step));    \
    }
#define PLUS(s, x)       ((s) + (x))
#define TIMES(s, x)      ((s) * (x))
#define LESSER(s, x)     ((x) < (s) ? (x) : (s))
#define LARGER(s, x)     ((x) > (s) ? (x) : (s))
#define LESSER_NAN(s, x) ((x) < (s) || (x) != (x) ? (x) : (s))
#define LARGER_NAN(s, x) ((x) > (s) || (x) != (x) ? (x) : (s))
#define SOME(s, x)       (uint8_t)((s) | ((x) != 0))
#define EVERY(s, x)      (uint8_t)((s) & ((x) != 0))
#define HOW_MANY(s, x)   ((s) + ((x) != 0))
/* clang-format off */
#define FOLD_LOGIC(D, T)                                                                                               \
    FOLD(any, D, T, uint8_t, 0, SOME, SOME) FOLD(all, D, T, uint8_t, 1, EVERY, EVERY)                                  \
    FOLD(count, D, T, int64_t, 0, HOW_MANY, PLUS)
#define FOLD_WHOLE(D, T, A)                                                                                            \
    FOLD(sum, D, T, A, 0, PLUS, PLUS) FOLD(prod, D, T, A, 1, TIMES, TIMES)                                             \
    FOLD(min, D, T, T, s, LESSER, LESSER) FOLD(max, D, T, T, s, LARGER, LARGER) FOLD_LOGIC(D, T)
#define FOLD_REAL(D, T)                                                                                                \
    FOLD(sum, D, T, double, 0, PLUS, PLUS) FOLD(prod, D, T, double, 1, TIMES, TIMES)                                   \
    FOLD(min, D, T, T, s, LESSER_NAN, LESSER_NAN) FOLD(max, D, T, T, s, LARGER_NAN, LARGER_NAN) FOLD_LOGIC(D, T)
/* clang-format on */
FOLD_LOGIC(B1, uint8_t)
/* Signed integers are accumulated as uint64, which wraps around; int64 has the same bits. */
#define EXTEND(T)     (uint64_t)(int64_t)(T)
#define PLUS_I(s, x)  ((s) + EXTEND(x))
#define TIMES_I(s, x) ((s)*EXTEND(x))
/* clang-format off */
#define FOLD_SIGNED(D, T)                                                                                              \
    FOLD(sum, D, T, uint64_t, 0, PLUS_I, PLUS) FOLD(prod, D, T, uint64_t, 1, TIMES_I, TIMES)                           \
    FOLD(min, D, T, T, s, LESSER, LESSER) FOLD(max, D, T, T, s, LARGER, LARGER) FOLD_LOGIC(D, T)
FOLD_SIGNED(I8, int8_t) FOLD_SIGNED(I16, int16_t) FOLD_SIGNED(I32, int32_t) FOLD_SIGNED(I64, int64_t)
FOLD_WHOLE(U8, uint8_t, uint64_t) FOLD_WHOLE(U16, uint16_t, uint64_t) FOLD_WHOLE(U32, uint32_t, uint64_t)
FOLD_WHOLE(U64, uint64_t, uint64_t)
FOLD_REAL(F32, float) FOLD_REAL(F64, double)
/* clang-format on */

#define FOLD_PAIR(name, D, Z, A, take)                                                                                 \
    static void name##_row_##D(size_t n, const char *in, ptrdiff_t step, void *acc) {                                  \
        A *s = acc;                                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const Z x = *(const Z *)(const void *)(in + (ptrdiff_t)i * step);                                          \
            take(s[i], x)                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_line_##D(size_t n, const char *in, ptrdiff_t step, void *acc) {                                 \
        A s = *(A *)acc;                                                                                               \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const Z x = *(const Z *)(const void *)(in + (ptrdiff_t)i * step);                                          \
            take(s, x)                                                                                                 \
        }                                                                                                              \
        *(A *)acc = s;                                                                                                 \
    }
#define PAIR_PLUS(s, x) s.re += (double)x.re, s.im += (double)x.im;
#define PAIR_TIMES(s, x)                                                                                               \
    {                                                                                                                  \
        double re = (double)x.re, im = (double)x.im, old = s.re;                                                       \
        s.re = old * re - s.im * im, s.im = old * im + s.im * re;                                                      \
    }
#define PAIR_SOME(s, x)  s |= (uint8_t)(x.re != 0 || x.im != 0);
#define PAIR_EVERY(s, x) s &= (uint8_t)(x.re != 0 || x.im != 0);
#define PAIR_COUNT(s, x) s += x.re != 0 || x.im != 0;
/* clang-format off */
#define FOLD_PAIRS(D, Z)                                                                                               \
    FOLD_PAIR(sum, D, Z, QComplexD, PAIR_PLUS) FOLD_PAIR(prod, D, Z, QComplexD, PAIR_TIMES)                            \
    FOLD_PAIR(any, D, Z, uint8_t, PAIR_SOME) FOLD_PAIR(all, D, Z, uint8_t, PAIR_EVERY)                                 \
    FOLD_PAIR(count, D, Z, int64_t, PAIR_COUNT)
FOLD_PAIRS(C64, QComplexF) FOLD_PAIRS(C128, QComplexD)
/* clang-format on */

#define ONE_F 0x3ff0000000000000u
#define F(name, D, acc, from)                                                                                          \
    { name##_line_##D, name##_row_##D, acc, from }
#define ANY_OF(D)                                                                                                      \
    [RED_any] = F(any, D, QS_B1, 0), [RED_all] = F(all, D, QS_B1, 1), [RED_count_nonzero] = F(count, D, QS_I64, 0)
#define EXTREMES(D) [RED_min] = F(min, D, QS_##D, 0), [RED_max] = F(max, D, QS_##D, 0)
#define ROW(D, acc, one)                                                                                               \
    [QS_##D] = {[RED_sum] = F(sum, D, acc, 0), [RED_prod] = F(prod, D, acc, one), EXTREMES(D), ANY_OF(D)}
#define ROW_PAIRS(D) [QS_##D] = {[RED_sum] = F(sum, D, QS_C128, 0), [RED_prod] = F(prod, D, QS_C128, ONE_F), ANY_OF(D)}
                static const Folder folders[QS_NDTYPES][RED__COUNT] = {
                    [QS_B1] = {ANY_OF(B1)}, ROW(I8, QS_I64, 1),      ROW(I16, QS_I64, 1),     ROW(I32, QS_I64, 1),
                    ROW(I64, QS_I64, 1),    ROW(U8, QS_U64, 1),      ROW(U16, QS_U64, 1),     ROW(U32, QS_U64, 1),
                    ROW(U64, QS_U64, 1),    ROW(F32, QS_F64, ONE_F), ROW(F64, QS_F64, ONE_F), ROW_PAIRS(C64),
                    ROW_PAIRS(C128),
};

/* -- iteration ----------------------------------------------------------------------------------------------------- */
typedef struct {
    int n;
    int64_t dims[QS_MAX_RANK];
    ptrdiff_t steps[QS_MAX_RANK], to[QS_MAX_RANK];
    int64_t count;
} Axes;

typedef struct {
    const Folder *f;
    const char *from;
    char *to; /* accumulators */
    size_t size, made;
    Axes kept, gone; /* kept and reduced dimensions */
    bool by_row;     /* the inner loop is the last axis of `kept`, otherwise the last of `gone` */
    bool extreme;
    int64_t blocks, block; /* division of a single line: number of blocks, elements per block */
} Job;

/* Returns whether a dimension is adjacent in memory to one with the stride `outer`.  The product may overflow for an
 * empty array, or before the result is found to be too large. */
static bool is_adjacent(ptrdiff_t step, int64_t dim, ptrdiff_t outer) {
    ptrdiff_t next;
    return !__builtin_mul_overflow(step, dim, &next) && next == outer;
}

static void add_axis(Axes *a, int64_t dim, ptrdiff_t step, ptrdiff_t to) {
    if (dim == 1) return;
    if (a->n && is_adjacent(step, dim, a->steps[a->n - 1]) && is_adjacent(to, dim, a->to[a->n - 1])) { /* merges */
        a->dims[a->n - 1] *= dim, a->steps[a->n - 1] = step, a->to[a->n - 1] = to;
        return;
    }
    a->dims[a->n] = dim, a->steps[a->n] = step, a->to[a->n++] = to;
}

static void close_axes(Axes *a) {
    if (!a->n) a->dims[0] = 1, a->steps[0] = a->to[0] = 0, a->n = 1;
    a->count = 1;
    for (int i = 0; i < a->n; i++) a->count *= a->dims[i];
}

/* Moves the axis with the smallest stride to the end and returns this stride. */
static ptrdiff_t nearest_last(Axes *a) {
    int best = 0;
    for (int i = 1; i < a->n; i++)
        if (labs(a->steps[i]) <= labs(a->steps[best])) best = i;
    int last = a->n - 1;
    int64_t d = a->dims[best];
    ptrdiff_t s = a->steps[best], t = a->to[best];
    for (int i = best; i < last; i++)
        a->dims[i] = a->dims[i + 1], a->steps[i] = a->steps[i + 1], a->to[i] = a->to[i + 1];
    a->dims[last] = d, a->steps[last] = s, a->to[last] = t;
    return d == 1 ? PTRDIFF_MAX : labs(s);
}

/* Computes the offsets of the linear index i over the first n axes. */
static void locate(const Axes *a, int n, int64_t i, ptrdiff_t *from, ptrdiff_t *to) {
    *from = *to = 0;
    for (int k = n - 1; k >= 0; k--) {
        int64_t at = i % a->dims[k];
        i /= a->dims[k];
        *from += at * a->steps[k], *to += at * a->to[k];
    }
}

static void begin_accumulator(const Job *j, char *acc, const char *from) {
    QComplexD z = {0, 0};
    memcpy(&z, &j->f->from, sizeof j->f->from);
    if (j->extreme) memcpy(acc, from, j->made);
    else memcpy(acc, &z, j->made);
}

static void fold_lines(void *ud, int64_t first, int64_t last, int worker) {
    const Job *j = ud;
    const Axes *g = &j->gone;
    int64_t inner = g->dims[g->n - 1], outer = g->count / (inner ? inner : 1);
    (void)worker;
    for (int64_t i = first; i < last; i++) {
        ptrdiff_t from, to, more, none;
        locate(&j->kept, j->kept.n, i, &from, &to);
        begin_accumulator(j, j->to + to, j->from + from);
        for (int64_t k = 0; k < outer && inner; k++) {
            locate(g, g->n - 1, k, &more, &none);
            j->f->line((size_t)inner, j->from + from + more, g->steps[g->n - 1], j->to + to);
        }
    }
}

enum { ROW_PART = 1024 };
static void fold_rows(void *ud, int64_t first, int64_t last, int worker) {
    const Job *j = ud;
    const Axes *k = &j->kept;
    int64_t inner = k->dims[k->n - 1], parts = (inner + ROW_PART - 1) / ROW_PART;
    (void)worker;
    for (int64_t i = first; i < last; i++) {
        ptrdiff_t from, to, more, none;
        int64_t part = i % parts * ROW_PART, n = inner - part < ROW_PART ? inner - part : ROW_PART;
        locate(k, k->n - 1, i / parts, &from, &to);
        from += part * k->steps[k->n - 1];
        char *acc = j->to + to + part * (ptrdiff_t)j->made;
        for (int64_t m = 0; m < n; m++)
            begin_accumulator(j, acc + m * (ptrdiff_t)j->made, j->from + from + m * k->steps[k->n - 1]);
        for (int64_t g = 0; g < j->gone.count; g++) {
            locate(&j->gone, j->gone.n, g, &more, &none);
            j->f->row((size_t)n, j->from + from + more, k->steps[k->n - 1], acc);
        }
    }
}

static void fold_blocks(void *ud, int64_t first, int64_t last, int worker) {
    const Job *j = ud;
    ptrdiff_t step = j->gone.steps[0];
    (void)worker;
    for (int64_t i = first; i < last; i++) {
        int64_t from = i * j->block, n = j->gone.dims[0] - from < j->block ? j->gone.dims[0] - from : j->block;
        char *acc = j->to + i * (ptrdiff_t)j->made;
        const char *at = j->from + from * step;
        begin_accumulator(j, acc, at);
        for (int64_t done = 0, m; done < n; done += m) { /* sums over short runs keep rounding errors small */
            char part[16];
            m = n - done < 2048 ? n - done : 2048;
            if (j->extreme || j->f->acc != QS_F64) {
                j->f->line((size_t)m, at + done * step, step, acc);
                continue;
            }
            begin_accumulator(j, part, at);
            j->f->line((size_t)m, at + done * step, step, part);
            *(double *)(void *)acc = j->f->from ? *(double *)(void *)acc * *(double *)(void *)part
                                                : *(double *)(void *)acc + *(double *)(void *)part;
        }
    }
}

/* Converts accumulators to the result type: integers are truncated, which wraps around; floats are rounded. */
static void convert_results(const Folder *f, qs_dtype d, size_t n, const char *acc, char *out) {
    size_t made = qdtype_size(f->acc), size = qdtype_size(d);
    if (!qdtype_is_int(d) || !qdtype_is_int(f->acc)) {
        qconv_run(f->acc, acc, (ptrdiff_t)made, d, out, (ptrdiff_t)size, n);
        return;
    }
    for (size_t i = 0; i < n; i++) memcpy(out + i * size, acc + i * made, size); /* the low bytes come first */
}

enum { BLOCK = 1 << 16, WORTH = 1 << 16 };

static qs_status run_job(qs_vm *vm, Job *j) {
    Threads *t = qthreads_of(qvm_ctx(vm));
    int64_t all = j->kept.count * j->gone.count;
    if (j->by_row) {
        int64_t inner = j->kept.dims[j->kept.n - 1], n = j->kept.count / inner * ((inner + ROW_PART - 1) / ROW_PART);
        if (all < WORTH) fold_rows(j, 0, n, 0);
        else qthreads_run(t, n, 1, fold_rows, j);
        return QS_OK;
    }
    if (j->kept.count == 1 && j->gone.n == 1 && j->gone.count > BLOCK) {
        Array *parts;
        void *p;
        char *to = j->to;
        j->block = BLOCK, j->blocks = (j->gone.count + BLOCK - 1) / BLOCK;
        TRY(qarr_make(vm, j->f->acc, 1, &j->blocks, false, &parts, &p));
        j->to = p;
        qthreads_run(t, j->blocks, 1, fold_blocks, j);
        Reduce kind = (Reduce)(j->f - folders[0]) % RED__COUNT;
        const Folder *join = &folders[j->f->acc][kind == RED_count_nonzero ? RED_sum : kind];
        begin_accumulator(j, to, p);
        join->line((size_t)j->blocks, p, (ptrdiff_t)j->made, to);
        qarr_release(vm, parts);
        return QS_OK;
    }
    int64_t share = WORTH / (j->gone.count ? j->gone.count : 1) + 1;
    if (all < WORTH) fold_lines(j, 0, j->kept.count, 0);
    else qthreads_run(t, j->kept.count, share, fold_lines, j);
    return QS_OK;
}

static qs_status new_result(qs_vm *vm, int ndim, const int64_t *dims, unsigned axes, bool keep, qs_dtype d,
                            Array **out) {
    int64_t left[QS_MAX_RANK];
    int n = 0;
    for (int i = 0; i < ndim; i++)
        if (!(axes >> i & 1)) left[n++] = dims[i];
        else if (keep) left[n++] = 1;
    return qarr_new(vm, d, n, left, false, out);
}

/* Adds the dimensions of x, with their strides in x and in the accumulators. */
static void add_axes(Job *j, int ndim, const int64_t *dims, const int64_t *strides, unsigned axes) {
    int64_t kept[QS_MAX_RANK], to[QS_MAX_RANK];
    for (int i = 0; i < ndim; i++) kept[i] = axes >> i & 1 ? 1 : dims[i];
    qarr_packed_strides(ndim, kept, to);
    for (int i = 0; i < ndim; i++) {
        bool gone = axes >> i & 1;
        add_axis(gone ? &j->gone : &j->kept, dims[i], strides[i] * (ptrdiff_t)j->size,
                 gone ? 0 : to[i] * (ptrdiff_t)j->made);
    }
}

qs_status qtreduce_run(qs_vm *vm, Reduce kind, Array *x, unsigned axes, bool keep, qs_dtype d, Array **out) {
    Job j = {.f = &folders[x->dtype][kind], .extreme = qreduction_is_extreme(kind)};
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    int ndim = qarr_shape(x, dims, strides);
    const void *from;
    void *to, *acc;
    Array *sums;
    if (!j.f->line)
        return qs_fail(vm, QS_ETYPE, "%s is not defined for elements of type %s", qreduction_info[kind].name,
                       qdtype_info[x->dtype].name);
    j.size = qdtype_size((qs_dtype)x->dtype), j.made = qdtype_size(j.f->acc);
    add_axes(&j, ndim, dims, strides, axes);
    close_axes(&j.kept);
    close_axes(&j.gone);
    if (j.extreme && !j.gone.count && j.kept.count)
        return qs_fail(vm, QS_EVALUE, "%s: there is no element, and so none that is the extreme one",
                       qreduction_info[kind].name);
    ptrdiff_t near_kept = nearest_last(&j.kept), near_gone = nearest_last(&j.gone);
    j.by_row = near_kept < near_gone && j.kept.to[j.kept.n - 1] == (ptrdiff_t)j.made && j.gone.count > 0;
    TRY(qarr_read(vm, x, &from));
    j.from = from;
    TRY(new_result(vm, ndim, dims, axes, keep, j.f->acc, &sums));
    qs_status s = qarr_write(vm, sums, &acc);
    j.to = acc;
    if (s == QS_OK && sums->count) s = run_job(vm, &j);
    if (s != QS_OK) return qarr_release(vm, sums), s;
    if (j.f->acc == d) return *out = sums, QS_OK;
    s = new_result(vm, ndim, dims, axes, keep, d, out);
    if (s == QS_OK && (s = qarr_write(vm, *out, &to)) != QS_OK) qarr_release(vm, *out);
    if (s == QS_OK) convert_results(j.f, d, sums->count, acc, to);
    qarr_release(vm, sums);
    return s;
}

/* -- along one dimension ------------------------------------------------------------------------------------------- */
typedef struct {
    int64_t outer, n, inner;
    int ndim;
    int64_t dims[QS_MAX_RANK];
} Line3;

static Line3 lines_of(Array *x, int axis) {
    Line3 l = {.outer = 1, .inner = 1};
    l.ndim = qarr_shape(x, l.dims, NULL);
    for (int i = 0; i < axis; i++) l.outer *= l.dims[i];
    for (int i = axis + 1; i < l.ndim; i++) l.inner *= l.dims[i];
    l.n = l.dims[axis];
    return l;
}

/* Finds the first position of the extreme in a line of contiguous x.  For a long line it computes the extreme first, by
 * lanes, and then searches for its position block by block. */
enum { PLACE_BLOCK = 64 };
#define PLACE(D, T)                                                                                                    \
    static int64_t place_##D(const T *x, int64_t n, int64_t step, bool largest) {                                      \
        if (step == 1 && n >= 4 * PLACE_BLOCK) {                                                                       \
            T found = x[0];                                                                                            \
            (largest ? max_line_##D : min_line_##D)((size_t)n, (const char *)x, sizeof(T), &found);                    \
            bool none = found != found;                                                                                \
            for (int64_t i = 0; i + PLACE_BLOCK <= n; i += PLACE_BLOCK) {                                              \
                int here = 0;                                                                                          \
                for (int k = 0; k < PLACE_BLOCK; k++) here |= x[i + k] == found || (none && x[i + k] != x[i + k]);     \
                for (int k = 0; here && k < PLACE_BLOCK; k++)                                                          \
                    if (x[i + k] == found || (none && x[i + k] != x[i + k])) return i + k;                             \
            }                                                                                                          \
            for (int64_t i = n - n % PLACE_BLOCK; i < n; i++)                                                          \
                if (x[i] == found || (none && x[i] != x[i])) return i;                                                 \
        }                                                                                                              \
        int64_t best = 0;                                                                                              \
        T s = x[0];                                                                                                    \
        if (s != s) return 0;                                                                                          \
        for (int64_t i = 1; i < n; i++) {                                                                              \
            T v = x[i * step];                                                                                         \
            if (largest ? v > s : v < s) s = v, best = i;                                                              \
            if (v != v) return i;                                                                                      \
        }                                                                                                              \
        return best;                                                                                                   \
    }
/* clang-format off */
#define EACH_REAL(M)                                                                                                   \
    M(I8, int8_t) M(U8, uint8_t) M(I16, int16_t) M(U16, uint16_t) M(I32, int32_t) M(U32, uint32_t) M(I64, int64_t)     \
    M(U64, uint64_t) M(F32, float) M(F64, double)
/* clang-format on */
EACH_REAL(PLACE)

qs_status qtreduce_position(qs_vm *vm, bool largest, Array *x, int axis, Array **out) {
    const void *p;
    void *to;
    Line3 l = lines_of(x, axis);
    if (l.n == 0 && l.outer && l.inner)
        return qs_fail(vm, QS_EVALUE, "%s: there is no element, and so none that is the extreme one",
                       largest ? "argmax" : "argmin");
    TRY(qarr_read(vm, x, &p));
    TRY(new_result(vm, l.ndim, l.dims, 1u << axis, false, QS_I64, out));
    qs_status s = qarr_write(vm, *out, &to);
    if (s) return qarr_release(vm, *out), s;
    for (int64_t o = 0; o < l.outer && l.n; o++)
        for (int64_t i = 0; i < l.inner; i++) {
            int64_t *at = (int64_t *)to + o * l.inner + i;
#define FIND(D, T)                                                                                                     \
    case QS_##D: *at = place_##D((const T *)p + o * l.n * l.inner + i, l.n, l.inner, largest); break;
            switch ((qs_dtype)x->dtype) {
                EACH_REAL(FIND)
            default:
                qarr_release(vm, *out);
                return qs_fail(vm, QS_ETYPE, "%s is not defined for elements of type %s", largest ? "argmax" : "argmin",
                               qdtype_info[x->dtype].name);
            }
        }
    return QS_OK;
}

/* Computes running sums or products in the widest type; each stored result is converted to the result type. */
#define RUN(D, T, A)                                                                                                   \
    static void run_##D(const T *x, T *y, int64_t n, int64_t step, bool prod, bool initial) {                          \
        A s = prod ? (A)1 : (A)0;                                                                                      \
        if (initial) *y = (T)s, y += step;                                                                             \
        for (int64_t i = 0; i < n; i++) s = prod ? s * (A)x[i * step] : s + (A)x[i * step], y[i * step] = (T)s;        \
    }
/* clang-format off */
RUN(I8, int8_t, uint64_t) RUN(U8, uint8_t, uint64_t) RUN(I16, int16_t, uint64_t) RUN(U16, uint16_t, uint64_t)
RUN(I32, int32_t, uint64_t) RUN(U32, uint32_t, uint64_t) RUN(I64, int64_t, uint64_t) RUN(U64, uint64_t, uint64_t)
RUN(F32, float, double) RUN(F64, double, double)
/* clang-format on */
#define RUN_PAIR(D, Z, P)                                                                                              \
    static void run_##D(const Z *x, Z *y, int64_t n, int64_t step, bool prod, bool initial) {                          \
        QComplexD s = {prod, 0};                                                                                       \
        if (initial) *y = (Z){(P)s.re, 0}, y += step;                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const Z v = x[i * step];                                                                                   \
            if (prod) PAIR_TIMES(s, v) else {PAIR_PLUS(s, v)} y[i * step] = (Z){(P)s.re, (P)s.im};                     \
        }                                                                                                              \
    }
    /* clang-format off */
RUN_PAIR(C64, QComplexF, float) RUN_PAIR(C128, QComplexD, double)
    /* clang-format on */

    qs_status qtreduce_scan(qs_vm *vm, Reduce kind, Array *given, int axis, bool initial, qs_dtype d, Array **out) {
    const void *p;
    void *to;
    Array *x;
    Line3 l = lines_of(given, axis);
    int64_t dims[QS_MAX_RANK], made = l.n + initial;
    memcpy(dims, l.dims, sizeof dims);
    dims[axis] = made;
    TypedArg from;
    TRY(qarr_new(vm, d, l.ndim, l.dims, false, &x));
    qs_status s = qtyped_open(vm, given, &from);
    if (s == QS_OK) s = qtyped_store(vm, x, &from);
    if (s == QS_OK) s = qarr_read(vm, x, &p);
    if (s == QS_OK) s = qarr_new(vm, d, l.ndim, dims, false, out);
    if (s != QS_OK) return qarr_release(vm, x), s;
    s = qarr_write(vm, *out, &to);
    for (int64_t o = 0; o < l.outer && s == QS_OK; o++)
        for (int64_t i = 0; i < l.inner; i++) {
#define GO(D, T)                                                                                                       \
    case QS_##D:                                                                                                       \
        run_##D((const T *)p + o * l.n * l.inner + i, (T *)to + o * made * l.inner + i, l.n, l.inner,                  \
                kind == RED_prod, initial);                                                                            \
        break;
            switch (d) {
                /* clang-format off */
            EACH_REAL(GO) GO(C64, QComplexF) GO(C128, QComplexD)
                    /* clang-format on */
                    default
                    : s = qs_fail(vm, QS_ETYPE, "running sums are not defined for type %s", qdtype_info[d].name);
            }
        }
    qarr_release(vm, x);
    if (s != QS_OK) qarr_release(vm, *out);
    return s;
}

#define SEARCH(D, T)                                                                                                   \
    static int64_t search_##D(const T *x, int64_t n, T v, bool right) {                                                \
        int64_t low = 0, high = n;                                                                                     \
        while (low < high) {                                                                                           \
            int64_t mid = low + (high - low) / 2;                                                                      \
            bool before = x[mid] < v || (v != v && x[mid] == x[mid]);                                                  \
            bool same = x[mid] == v || (v != v && x[mid] != x[mid]);                                                   \
            if (before || (right && same)) low = mid + 1;                                                              \
            else high = mid;                                                                                           \
        }                                                                                                              \
        return low;                                                                                                    \
    }
EACH_REAL(SEARCH)

qs_status qtreduce_search(qs_vm *vm, Array *x, Array *v, bool right, Array **out) {
    const void *in, *wanted;
    void *to;
    int64_t dims[QS_MAX_RANK];
    int ndim = qarr_shape(v, dims, NULL);
    TRY(qarr_read(vm, x, &in));
    TRY(qarr_read(vm, v, &wanted));
    TRY(qarr_make(vm, QS_I64, ndim, dims, false, out, &to));
    int64_t *at = to, n = (int64_t)x->count;
#define LOOK(D, T)                                                                                                     \
    case QS_##D:                                                                                                       \
        for (size_t i = 0; i < v->count; i++) at[i] = search_##D(in, n, ((const T *)wanted)[i], right);                \
        return QS_OK;
    switch ((qs_dtype)x->dtype) {
        EACH_REAL(LOOK)
    default: qarr_release(vm, *out); return qs_fail(vm, QS_ETYPE, "searchsorted is for real numbers");
    }
}
