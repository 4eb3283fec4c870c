/* stats.c -- implements reductions, order statistics and search. */
#define NATIVES_OF_ELEM
#include "devices/threads.h"
#include "lang/syntax/operators.h"
#include "stdlib/builtins.h"
#include "stdlib/empty.h"
#include "stdlib/stencil.h"
#include "vm/array/arith.h"
#include "vm/base/reduction.h"
#include "vm/base/warning.h"

#include <string.h>

int qstats_main_dim(const Array *a) {
    Shape s;
    qmatrix_shape(a, &s);
    for (int d = 0; d < s.rank; d++)
        if (s.dims[d] != 1) return d;
    return 0;
}

qs_status qstats_warn_of_empty(qs_vm *vm, const char *fn, const Array *a, int dim) {
    if (a->count) return QS_OK;
    ArrayLines l = dim == DIM_ALL ? (ArrayLines){1, 0, 1} : qstats_lines(a, dim);
    if (l.n || !l.outer || !l.inner) return QS_OK;
    return qwarn_at(qvm_ctx(vm), qvm_here(vm), "%s: x has no elements%s, and the result is nan", fn,
                    dim == DIM_ALL ? "" : " along this dimension");
}

qs_status qstats_array_and_dim(qs_vm *vm, qs_call_args *c, Array **a, int *dim) {
    TRY(qarg_array(vm, c, 0, "x", a));
    *dim = qstats_main_dim(*a);
    return qarg_given(c, 1) ? qarg_dim_of(vm, c->name, c->in[0], c->in[1], dim) : QS_OK;
}

/* -- scans --------------------------------------------------------------------------------------------------------- */
static qs_status cumulate(qs_vm *vm, qs_call_args *c, Reduce r) {
    Array *a, *out;
    int dim;
    TRY(qstats_array_and_dim(vm, c, &a, &dim));
    TRY(qred_cum(vm, r, a, dim, &out));
    c->out[0] = qarr_value(out);
    return QS_OK;
}
qs_status qstats_cumsum(qs_vm *vm, qs_call_args *c) { return cumulate(vm, c, RED_sum); }
qs_status qstats_cumprod(qs_vm *vm, qs_call_args *c) { return cumulate(vm, c, RED_prod); }

/* -- lines: an array split along one dimension --------------------------------------------------------------------- */
ArrayLines qstats_lines(const Array *a, int dim) {
    Shape s;
    qmatrix_shape(a, &s);
    ArrayLines l = {1, 1, 1};
    for (int d = 0; d < s.rank; d++) *(d < dim ? &l.outer : d == dim ? &l.n : &l.inner) *= (size_t)s.dims[d];
    return l;
}

int qstats_with_dim(const Array *a, int dim, int64_t n, int64_t dims[QS_MAX_RANK]) {
    int rank = qarr_size(a, dims);
    for (; rank <= dim; rank++) dims[rank] = 1;
    dims[dim] = n;
    return rank;
}

/* -- extremes ------------------------------------------------------------------------------------------------------ */
/* Returns the first position where x is v; searches blocks of STRETCH elements with vector instructions. */
#define FIRST(T)                                                                                                       \
    static size_t first_##T(const void *from, size_t n, const void *wanted) {                                          \
        enum { STRETCH = 64 };                                                                                         \
        typedef T Any __attribute__((may_alias));                                                                      \
        const Any *x = from, v = *(const Any *)wanted;                                                                 \
        size_t i = 0;                                                                                                  \
        for (; i + STRETCH <= n; i += STRETCH) {                                                                       \
            T found = 0;                                                                                               \
            for (size_t k = 0; k < STRETCH; k++) found |= (T)(x[i + k] == v);                                          \
            if (found) break;                                                                                          \
        }                                                                                                              \
        while (i < n && x[i] != v) i++;                                                                                \
        return i;                                                                                                      \
    }
FIRST(uint8_t)
FIRST(uint16_t)
FIRST(uint32_t)
FIRST(uint64_t)

/* Find the extreme of n neighbours and its first position.  The quarters of a block are compared with each other until
 * few elements are left, and the last block that improves the extreme is searched.  NaN loses.  `loop` makes
 * all zeros positive; `zero` is the one that wins. */
#define BEST(name, T, U, BETTER, zero)                                                                                 \
    static size_t name(ExtremeLoop *loop, const void *elements, size_t n, void *value) {                               \
        enum { BLOCK = 2048 };                                                                                         \
        const T *x = elements;                                                                                         \
        T part[BLOCK / 4], best = x[0];                                                                                \
        size_t at = 0;                                                                                                 \
        for (size_t i = 0; i < n; i += BLOCK) {                                                                        \
            const T *from = x + i;                                                                                     \
            size_t m = n - i < BLOCK ? n - i : BLOCK;                                                                  \
            for (size_t k; m > 4; m = k, from = part) {                                                                \
                k = (m + 3) / 4;                                                                                       \
                const void *quarter[] = {from, from + k, from + (3 * k < m ? 2 * k : m - k), from + m - k};            \
                loop(quarter, k, part);                                                                                \
            }                                                                                                          \
            for (size_t k = 0; k < m; k++)                                                                             \
                if (from[k] BETTER best || (best != best && from[k] == from[k])) best = from[k], at = i;               \
        }                                                                                                              \
        size_t found = at + first_##U(x + at, n - at, &best);                                                          \
        if (best == 0) {                                                                                               \
            const T zeros[] = {(T)(zero), (T) - (T)(zero)};                                                            \
            size_t k = at + first_##U(x + at, n - at, &zeros[0]);                                                      \
            found = at + first_##U(x + at, n - at, &zeros[1]);                                                         \
            best = zeros[k == n];                                                                                      \
            if (k < found) found = k;                                                                                  \
        }                                                                                                              \
        memcpy(value, &best, sizeof best);                                                                             \
        return found < n ? found : 0;                                                                                  \
    }
#define BESTS(id, T, U, minus) BEST(largest_##id, T, U, >, 0) BEST(smallest_##id, T, U, <, minus)
BESTS(I8, int8_t, uint8_t, 0)
BESTS(U8, uint8_t, uint8_t, 0)
BESTS(I16, int16_t, uint16_t, 0)
BESTS(U16, uint16_t, uint16_t, 0)
BESTS(I32, int32_t, uint32_t, 0)
BESTS(U32, uint32_t, uint32_t, 0)
BESTS(I64, int64_t, uint64_t, 0)
BESTS(U64, uint64_t, uint64_t, 0)
BESTS(F32, float, uint32_t, -0.0f)
BESTS(F64, double, uint64_t, -0.0)

typedef size_t Best(ExtremeLoop *loop, const void *x, size_t n, void *value);
#define BOTH(id)                                                                                                       \
    { smallest_##id, largest_##id }
static Best *const bests[PLAIN_TYPES][2] = {BOTH(I8),  BOTH(U8),  BOTH(I16), BOTH(U16), BOTH(I32),
                                            BOTH(U32), BOTH(I64), BOTH(U64), BOTH(F32), BOTH(F64)};

/* Lines are searched in pieces of PIECE elements, so that a single one has work for several threads. */
enum { PIECE = 1 << 16 };
typedef struct {
    const char *x;
    size_t n, pieces, size;
    Best *best;
    ExtremeLoop *loop;
    char *values;  /* of each piece */
    double *index; /* of each piece, in its line */
} LineSearch;

static void search_pieces(void *ud, int64_t first, int64_t last, int worker) {
    const LineSearch *s = ud;
    (void)worker;
    for (size_t i = (size_t)first; i < (size_t)last; i++) {
        size_t from = i % s->pieces * PIECE, n = s->n - from < PIECE ? s->n - from : PIECE;
        const char *x = s->x + (i / s->pieces * s->n + from) * s->size;
        s->index[i] = (double)(from + s->best(s->loop, x, n, s->values + i * s->size));
    }
}

/* Searches `lines` contiguous lines.  values and index: room for an element for each piece; those of the lines are
 * stored first. */
static void search_lines(qs_vm *vm, LineSearch *s, size_t lines) {
    qthreads_run(qthreads_of(qvm_ctx(vm)), (int64_t)(lines * s->pieces), 1 + PIECE / (int64_t)(s->n + 1), search_pieces,
                 s);
    if (s->pieces == 1) return;
    for (size_t k = 0; k < lines; k++) {
        char value[8];
        size_t best = s->best(s->loop, s->values + k * s->pieces * s->size, s->pieces, value);
        memcpy(s->values + k * s->size, value, s->size);
        s->index[k] = s->index[k * s->pieces + best];
    }
}

/* Finds for each of `lines` neighbouring lines the first position of its extreme v; position 0 if a line has only NaN.
 * Positions are counted in 32 bits, in stretches of STRETCH rows from the last one on. */
#define PLACES(T)                                                                                                      \
    static void places_##T(const void *src, const void *extremes, size_t n, size_t lines, double *at) {                \
        enum { BLOCK = 512, STRETCH = 1 << 30 };                                                                       \
        const T *x = src, *v = extremes;                                                                               \
        for (size_t from = 0, m; from < lines; from += m) {                                                            \
            m = lines - from < BLOCK ? lines - from : BLOCK;                                                           \
            for (size_t i = 0; i < m; i++) at[from + i] = 0;                                                           \
            for (size_t end = n, begin; end > 0; end = begin) {                                                        \
                int32_t found[BLOCK];                                                                                  \
                begin = end > STRETCH ? end - STRETCH : 0;                                                             \
                memset(found, -1, sizeof found);                                                                       \
                for (size_t j = end; j-- > begin;) {                                                                   \
                    const T *row = x + j * lines + from, *best = v + from;                                             \
                    for (size_t i = 0; i < m; i++) found[i] = row[i] == best[i] ? (int32_t)(j - begin) : found[i];     \
                }                                                                                                      \
                for (size_t i = 0; i < m; i++)                                                                         \
                    if (found[i] >= 0) at[from + i] = (double)(begin + (size_t)found[i]);                              \
            }                                                                                                          \
        }                                                                                                              \
    }
PLACES(float)
PLACES(double)
PLACES(uint8_t)
PLACES(uint16_t)
PLACES(uint32_t)
PLACES(uint64_t)

typedef void Places(const void *, const void *, size_t, size_t, double *);

/* Integers are equal if their bits are. */
static Places *places_of(qs_dtype d) {
    if (d == QS_F32) return places_float;
    if (d == QS_F64) return places_double;
    size_t size = qdtype_size(d);
    return size == 1 ? places_uint8_t : size == 2 ? places_uint16_t : size == 4 ? places_uint32_t : places_uint64_t;
}

/* Gives the positions, and the values if `value` is not NULL: numbers, or arrays along a dimension. */
static qs_status set_results(qs_vm *vm, const Array *a, int dim, const LineSearch *s, qs_value *value,
                             qs_value *index) {
    int64_t dims[QS_MAX_RANK];
    Array *r;
    void *p;
    int rank = dim == DIM_ALL ? 1 : qstats_with_dim(a, dim, 1, dims);
    if (dim == DIM_ALL) dims[0] = 1, *index = qs_num(s->index[0]);
    else {
        TRY(qarg_exact(vm, s->index, rank, dims, index));
        qarg_keep(*index, a);
    }
    if (!value) return QS_OK;
    TRY(qarr_make(vm, (qs_dtype)a->dtype, rank, dims, false, &r, &p));
    memcpy(p, s->values, r->count * s->size);
    if (dim != DIM_ALL) return *value = qarr_value(r), qarg_keep(*value, a), QS_OK;
    qs_status e = qarr_get(vm, r, 0, value);
    return qarr_release(vm, r), e;
}

/* Searches the lines of an array, which are contiguous.  value: NULL if only the positions are wanted; the elements of
 * the array then may have been converted. */
static qs_status extremes_of_lines(qs_vm *vm, qs_call_args *c, Reduce r, int dim, qs_value *value, qs_value *index) {
    Array *a;
    const void *p;
    TRY(qarg_array(vm, c, 0, "x", &a));
    qs_dtype d = qdtype_is_short((qs_dtype)a->dtype) ? QS_F32 : (qs_dtype)a->dtype;
    TRY(qarg_packed(vm, c, 0, "x", d, &a, &p));
    ArrayLines l = dim == DIM_ALL ? (ArrayLines){1, a->count, 1} : qstats_lines(a, dim);
    bool most = r == RED_max;
    LineSearch s = {.x = p, .n = l.n, .pieces = (l.n + PIECE - 1) / PIECE, .size = qdtype_size(d)};
    s.best = bests[qstencil_type(d)][most];
    s.loop = (most ? qstencil_loops()->most : qstencil_loops()->least)[qstencil_type(d)];
    size_t bytes = qmem_size(qmem_size(l.outer, s.pieces, 0), sizeof(double) + s.size, 1);
    if (!(s.index = qmem_try(qvm_ctx(vm), bytes)))
        return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu numbers", c->name, l.outer * s.pieces);
    s.values = (char *)(s.index + l.outer * s.pieces);
    search_lines(vm, &s, l.outer);
    qs_status e = set_results(vm, a, dim, &s, value, index);
    qmem_try_free(qvm_ctx(vm), s.index, bytes);
    return e;
}

/* The same by comparing all elements with the extremes, for lines with other elements in between. */
static qs_status compare_with_extremes(qs_vm *vm, qs_call_args *c, int dim, qs_value extremes, qs_value *index) {
    Array *a, *best, *packed;
    const void *p, *v;
    TRY(qarg_array(vm, c, 0, "x", &a));
    qs_dtype d = qdtype_is_short((qs_dtype)a->dtype) ? QS_F32 : (qs_dtype)a->dtype;
    TRY(qarg_packed(vm, c, 0, "x", d, &a, &p));
    ArrayLines l = dim == DIM_ALL ? (ArrayLines){1, a->count, 1} : qstats_lines(a, dim);
    LineSearch found = {.size = qdtype_size(d)};
    size_t n = l.outer * l.inner, bytes = qmem_size(n, sizeof(double), 1);
    if (n && !l.n) return qs_fail(vm, QS_EVALUE, "%s: x must not be empty", c->name);
    if (!(found.index = qmem_try(qvm_ctx(vm), bytes)))
        return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu numbers", c->name, n);
    qs_status s = qarr_from_value(vm, extremes, d, &best);
    if (s == QS_OK) {
        s = qarr_contiguous(vm, best, &packed);
        qarr_release(vm, best);
    }
    if (s == QS_OK) {
        s = qarr_read(vm, packed, &v);
        for (size_t k = 0; s == QS_OK && k < l.outer; k++)
            places_of(d)((const char *)p + k * l.n * l.inner * found.size, (const char *)v + k * l.inner * found.size,
                         l.n, l.inner, found.index + k * l.inner);
        qarr_release(vm, packed);
    }
    if (s == QS_OK) s = set_results(vm, a, dim, &found, NULL, index);
    qmem_try_free(qvm_ctx(vm), found.index, bytes);
    return s;
}

/* Computes the extremes, if `value` is not NULL, and their first positions, over everything or along dim.  Where all
 * elements are NaN, the position is 0. */
static qs_status extremes_with_index(qs_vm *vm, qs_call_args *c, Reduce r, int dim, qs_value *value, qs_value *index) {
    Array *a = c->in[0].kind == QS_ARRAY ? qval_array(c->in[0]) : NULL;
    bool done = false, lines = a && a->count && (dim == DIM_ALL || qstats_lines(a, dim).inner == 1);
    bool wanted = value != NULL;
    qs_value extreme = qs_nil();
    if (a) TRY(qred_places(vm, r, a, dim, index, &done));
    if (lines && !done && !qdtype_is_complex((qs_dtype)a->dtype) && !(wanted && qdtype_is_short((qs_dtype)a->dtype)))
        return extremes_of_lines(vm, c, r, dim, value, index);
    if (wanted || (!done && !lines)) TRY(qred_run(vm, r, c->in[0], dim, &extreme));
    qs_status s = done    ? QS_OK
                  : lines ? extremes_of_lines(vm, c, r, dim, NULL, index)
                          : compare_with_extremes(vm, c, dim, extreme, index);
    if (wanted) *value = extreme;
    else qval_release(vm, extreme);
    return s;
}

/* Returns the positions of the extremes of all elements, or along dim. */
static qs_status find_extreme(qs_vm *vm, qs_call_args *c, Reduce r, int dim) {
    Array *a;
    TRY(qarg_array(vm, c, 0, "x", &a));
    if (qdtype_is_complex((qs_dtype)a->dtype)) return qarg_wrong(vm, c->name, "x", "real", c->in[0]);
    if (a->count == 0) return qs_fail(vm, QS_EVALUE, "%s: x must not be empty", c->name);
    return extremes_with_index(vm, c, r, dim, NULL, &c->out[0]);
}

/* -- reductions over everything or one dimension ------------------------------------------------------------------- */
static qs_status reduce(qs_vm *vm, qs_call_args *c, Reduce r) {
    const ReduceInfo *info = &qreduction_info[r];
    int dim = DIM_ALL;
    Array *a;
    if (c->in[0].kind == QS_BOOL || qval_is_number(c->in[0]) || c->in[0].kind != QS_ARRAY)
        TRY(qarg_array(vm, c, 0, "x", &a));
    if (qarg_given(c, 1)) TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[1], &dim));
    if (info->finish == FINISH_MEAN && c->in[0].kind == QS_ARRAY)
        TRY(qstats_warn_of_empty(vm, c->name, qval_array(c->in[0]), dim));
    if (info->map == MAP_INDEX) return find_extreme(vm, c, (Reduce)info->centre, dim);
    return qred_run(vm, r, c->in[0], dim, &c->out[0]);
}

/* min(x), min(a, b), min(x, [], dim); the second result is the position of the first extreme. */
static qs_status extremes(qs_vm *vm, qs_call_args *c, Reduce r) {
    Array *a;
    int dim = DIM_ALL;
    bool skipped = c->nin > 2 && c->in[1].kind == QS_ARRAY && qval_array(c->in[1])->count == 0; /* min(x, [], dim) */
    bool absent = !qarg_given(c, 1) || skipped;
    if (!absent && c->nin == 2)
        return qarith_binary(vm, r == RED_min ? OP_MINEQ : OP_MAXEQ, c->in[0], c->in[1], &c->out[0]);
    if (!absent)
        return qs_fail(
            vm, QS_ETYPE,
            "%s: with a dimension the second argument must be [], got %s; of three numbers write %s([a,b,c])", c->name,
            qval_type_name(vm, c->in[1]), c->name);
    if (qarg_given(c, 2)) TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[2], &dim));
    if (c->in[0].kind != QS_ARRAY) TRY(qarg_array(vm, c, 0, "x", &a));
    return c->nout > 1 ? extremes_with_index(vm, c, r, dim, &c->out[0], &c->out[1])
                       : qred_run(vm, r, c->in[0], dim, &c->out[0]);
}

#define NATIVE(id)                                                                                                     \
    qs_status qstats_##id(qs_vm *vm, qs_call_args *c) { return reduce(vm, c, RED_##id); }
#define EACH(id)                                                                                                       \
    qs_status qstats_##id(qs_vm *vm, qs_call_args *c) { return extremes(vm, c, RED_##id); }
#define REDUCTION(id, kind, ...) kind(id)
#include "vm/base/reduce.def"
#undef NATIVE
#undef EACH

qs_status qstats_find_index_min(qs_vm *vm, qs_call_args *c) { return reduce(vm, c, RED_argmin); }
qs_status qstats_find_index_max(qs_vm *vm, qs_call_args *c) { return reduce(vm, c, RED_argmax); }

/* -- search -------------------------------------------------------------------------------------------------------- */
/* Writes the indices of true elements in order, one row for each; `at` contains the indices of the current line, except
 * the last index. */
#define POSITIONS(T)                                                                                                   \
    static void positions_##T(const uint8_t *x, size_t count, int rank, const int64_t *dims, T *row, const T *end) {   \
        int64_t at[QS_MAX_RANK] = {0}, n = dims[rank - 1];                                                             \
        for (size_t i = 0; i < count && row < end; i += (size_t)n) {                                                   \
            T *first = row;                                                                                            \
            for (int64_t j = 0; j < n && row < end; j++) { /* always written; kept only if x is true */                \
                row[rank - 1] = (T)j;                                                                                  \
                row += x[i + (size_t)j] * rank;                                                                        \
            }                                                                                                          \
            for (; first < row; first += rank)                                                                         \
                for (int d = 0; d < rank - 1; d++) first[d] = (T)at[d];                                                \
            for (int d = rank - 2; d >= 0 && ++at[d] == dims[d]; d--) at[d] = 0;                                       \
        }                                                                                                              \
    }
POSITIONS(float)
POSITIONS(double)

/* Positions must be exact; float32 represents integers up to 2^24. */
static qs_dtype position_type(qs_vm *vm, int rank, const int64_t *dims) {
    for (int d = 0; d < rank; d++)
        if (dims[d] > 1 << 24) return QS_F64;
    return qvm_ctx(vm)->scalar_dtype;
}

/* Returns rows, columns and values of the elements that are not 0. */
static qs_status find_parts(qs_vm *vm, qs_call_args *c, const uint8_t *is_true, int64_t n, qs_dtype d, Array *x) {
    Array *r, *packed;
    const void *p;
    void *to[3];
    int64_t dims[QS_MAX_RANK];
    if (qarr_size(x, dims) > 2)
        return qs_fail(vm, QS_ESHAPE,
                       "find: [row, column, value] are those of a matrix, and x has %d dimensions: "
                       "p = find(x) gives positions of so many numbers",
                       x->rank);
    size_t size = qdtype_size((qs_dtype)x->dtype), at = 0;
    for (int i = 0; i < c->nout; i++) TRY(qarg_result(vm, c, i, i < 2 ? d : (qs_dtype)x->dtype, 1, &n, &r, &to[i]));
    TRY(qarr_contiguous(vm, x, &packed));
    qs_status s = qarr_read(vm, packed, &p);
    for (size_t i = 0; i < x->count && s == QS_OK; i++) {
        if (!is_true[i]) continue;
        double place[2] = {(double)(i / (size_t)dims[1]), (double)(i % (size_t)dims[1])};
        for (int k = 0; k < 2; k++)
            if (d == QS_F32) ((float *)to[k])[at] = (float)place[k];
            else ((double *)to[k])[at] = place[k];
        if (c->nout > 2) memcpy((char *)to[2] + at * size, (const char *)p + i * size, size);
        at++;
    }
    return qarr_release(vm, packed), s;
}

/* find(x) and [row, column, value] = find(x). */
static qs_status find_in(qs_vm *vm, qs_call_args *c, Array *given) {
    Array *a, *r;
    const void *p;
    void *q;
    qs_value is_true;
    TRY(qarith_binary(vm, OP_NE, c->in[0], qs_num(0), &is_true));
    qval_release(vm, c->in[0]);
    c->in[0] = is_true;
    TRY(qarg_packed(vm, c, 0, "x", QS_B1, &a, &p));
    const uint8_t *x = p;
    int64_t dims[QS_MAX_RANK], n = 0;
    int rank = qarr_size(a, dims);
    for (size_t i = 0; i < a->count; i++) n += x[i];
    qs_dtype d = position_type(vm, rank, dims);
    if (c->nout > 1) return find_parts(vm, c, x, n, d, given);
    TRY(qarg_result(vm, c, 0, d, 2, (int64_t[]){n, rank}, &r, &q));
    if (d == QS_F32) positions_float(x, a->count, rank, dims, q, (float *)q + n * rank);
    else positions_double(x, a->count, rank, dims, q, (double *)q + n * rank);
    return QS_OK;
}

qs_status qstats_find(qs_vm *vm, qs_call_args *c) {
    Array *a;
    TRY(qarg_array(vm, c, 0, "x", &a));
    qs_value given = qval_retain(c->in[0]);
    qs_status s = find_in(vm, c, a);
    return qval_release(vm, given), s;
}

/* -- products of vectors ------------------------------------------------------------------------------------------- */
static void dot_complex(const Array *a, const void *p, const void *q, double out[2]) {
    for (size_t i = 0; i < a->count; i++) {
        bool f = a->dtype == QS_C64;
        double ar = f ? (double)((const float *)p)[2 * i] : ((const double *)p)[2 * i];
        double ai = f ? (double)((const float *)p)[2 * i + 1] : ((const double *)p)[2 * i + 1];
        double br = f ? (double)((const float *)q)[2 * i] : ((const double *)q)[2 * i];
        double bi = f ? (double)((const float *)q)[2 * i + 1] : ((const double *)q)[2 * i + 1];
        out[0] += ar * br - ai * bi, out[1] += ar * bi + ai * br;
    }
}

qs_status qstats_dotprod(qs_vm *vm, qs_call_args *c) {
    Array *a, *b;
    const void *p, *q;
    qs_dtype d = qarg_meet_float(vm, c, 0, 2);
    TRY(qarg_array(vm, c, 0, "a", &a));
    TRY(qarg_array(vm, c, 1, "b", &b));
    if (a->count != b->count)
        return qs_fail(vm, QS_ESHAPE, "dotprod: a and b must have as many elements, got %zu and %zu", a->count,
                       b->count);
    TRY(qarg_packed(vm, c, 0, "a", d, &a, &p));
    TRY(qarg_packed(vm, c, 1, "b", d, &b, &q));
    if (!qdtype_is_complex(d)) return c->out[0] = qs_num(qred_dot(vm, d, a->count, p, q)), QS_OK;
    double z[2] = {0, 0};
    dot_complex(a, p, q, z);
    return qval_complex(vm, z[0], z[1], &c->out[0]);
}
