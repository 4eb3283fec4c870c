/* sets.c -- implements set operations on arrays of numbers and cells of strings.
 *
 * The elements of both operands are put into one pool of items, which are sorted by keys.  Each run of equal keys is a
 * distinct element; an operation selects runs by the operands that occur in them.  If only the elements are wanted,
 * real numbers of one type are sorted without positions, and merged.  -0 equals 0, and integers are
 * compared exactly, also with floats.  As in NumPy, unique and union give nan once, and nan is never found in the other
 * set (ismember, intersect, setdiff, setxor).  The key of a string is its rank. */
#include "stdlib/builtins.h"
#include "vm/array/convert.h"
#include "vm/array/operand.h"
#include "vm/base/dtype.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    qs_vm *vm;
    const char *fn;
    int operands;
    size_t count[2], n;  /* number of items of each operand, and of both; items of b are numbered after those of a */
    qs_dtype d, da;      /* dtype of results with elements of both operands, and of a alone */
    qs_dtype types[2];   /* types in which elements are compared: d, or int64, uint64 and float64 if mixed */
    bool mixed;          /* d does not hold the 64-bit integers of an operand exactly */
    bool equal_nans;     /* nan of a equals nan of b */
    const char *p[2];    /* contiguous numbers of these types */
    const Cell *cell[2]; /* or cells of strings */
    SortItem *items;     /* sorted items, followed by n spare ones */
    size_t *runs, nruns; /* start positions of runs of equal items, followed by the end of the last run */
    size_t bytes;
} Pool;

static const char *name_of(const Pool *s, int operand) { return s->operands == 1 ? "x" : operand ? "b" : "a"; }

/* Returns the operand of an item; *at becomes the index in that operand. */
static int operand_of(const Pool *s, size_t *at) {
    if (*at < s->count[0]) return 0;
    *at -= s->count[0];
    return 1;
}
static const char *element_at(const Pool *s, size_t at) {
    int i = operand_of(s, &at);
    return s->p[i] + at * qdtype_size(s->types[i]);
}
static qs_dtype type_of(const Pool *s, size_t at) { return s->types[operand_of(s, &at)]; }
static qs_value string_at(const Pool *s, size_t at) {
    int i = operand_of(s, &at);
    return s->cell[i]->items[at];
}

/* -- filling the pool ---------------------------------------------------------------------------------------------- */
static qs_dtype elements_of(qs_value v) {
    return v.kind == QS_ARRAY ? (qs_dtype)qval_array(v)->dtype : qoperand_term(v).dtype;
}
static bool is_wide(qs_dtype d) { return d == QS_I64 || d == QS_U64; }

/* Refuses 64-bit integers that complex elements do not hold. */
static qs_status check_digits(const Pool *s, qs_call_args *c, int i, qs_dtype own) {
    Array *a;
    const void *p;
    TRY(qarg_packed(s->vm, c, i, name_of(s, i), own, &a, &p));
    for (size_t k = 0; k < a->count; k++) {
        int64_t v = ((const int64_t *)p)[k];
        uint64_t size = own == QS_I64 && v < 0 ? -(uint64_t)v : (uint64_t)v;
        if (size > (uint64_t)1 << 53)
            return qs_fail(s->vm, QS_EVALUE, "%s: %s has integers beyond 2^53, which complex elements do not hold",
                           s->fn, name_of(s, i));
    }
    return QS_OK;
}

static qs_status take_numbers(Pool *s, qs_call_args *c) {
    Array *a;
    const void *p;
    s->d = qarg_meet(s->vm, c, 0, s->operands);
    s->da = c->in[0].kind == QS_ARRAY ? (qs_dtype)qval_array(c->in[0])->dtype : s->d;
    if (qdtype_is_complex(s->d)) s->da = s->d;
    qs_dtype first = elements_of(c->in[0]), second = elements_of(c->in[s->operands - 1]);
    s->mixed = s->operands == 2 && !qdtype_is_complex(s->d) &&
               (qdtype_mixes_signs(first, second) || (is_wide(first) && qdtype_is_real(second)) ||
                (is_wide(second) && qdtype_is_real(first)));
    for (int i = 0; i < s->operands; i++) {
        qs_dtype own = i ? second : first;
        if (qdtype_is_complex(s->d) && is_wide(own)) TRY(check_digits(s, c, i, own));
        s->types[i] = !s->mixed ? s->d : qdtype_is_real(own) ? QS_F64 : own == QS_U64 ? QS_U64 : QS_I64;
        TRY(qarg_packed(s->vm, c, i, name_of(s, i), s->types[i], &a, &p));
        s->p[i] = p, s->count[i] = a->count;
    }
    return QS_OK;
}

static qs_status take_strings(Pool *s, qs_call_args *c) {
    for (int i = 0; i < s->operands; i++) {
        if (c->in[i].kind == QS_ARRAY && qval_array(c->in[i])->count == 0) continue;
        const Cell *cell = s->cell[i] = c->in[i].u.p;
        bool good = c->in[i].kind == QS_CELL;
        for (size_t k = 0; good && k < cell->count; k++) good = cell->items[k].kind == QS_STRING;
        if (!good) return qarg_wrong(s->vm, s->fn, name_of(s, i), "an array of numbers or a cell of strings", c->in[i]);
        s->count[i] = cell->count;
    }
    return QS_OK;
}

static int alphabetic(const void *a, const void *b) {
    const SortItem *x = a, *y = b;
    int order = qstr_compare((const Str *)(uintptr_t)x->key, (const Str *)(uintptr_t)y->key);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static void sort_strings(Pool *s) {
    for (size_t i = 0; i < s->n; i++) s->items[i] = (SortItem){(uintptr_t)string_at(s, i).u.p, i};
    qsort(s->items, s->n, sizeof *s->items, alphabetic);
    uint64_t rank = 0;
    const Str *last = NULL;
    for (size_t i = 0; i < s->n; i++) {
        const Str *t = (const Str *)(uintptr_t)s->items[i].key;
        rank += last && !qstr_equal(last, t);
        last = t, s->items[i].key = rank;
    }
}

static void sort_part(Pool *s, size_t first, size_t n) {
    SortItem *part = s->items + first, *sorted = n ? qsort_by_key(part, s->items + s->n, n) : part;
    if (sorted != part) memcpy(part, sorted, n * sizeof *sorted);
}

/* Compares an integer with a float64 exactly; nan is above all numbers. */
static int order_beside_float(qs_dtype d, const void *p, double y) {
    if (d == QS_I64) {
        int order = qdtype_order(*(const int64_t *)p, y);
        return order == 2 ? -1 : order;
    }
    uint64_t x = *(const uint64_t *)p;
    if (y < 0) return 1;
    if (!(y < 0x1p64)) return -1;
    uint64_t cut = (uint64_t)y;
    return x != cut ? (x > cut) - (x < cut) : -(y > (double)cut);
}

/* Compares two elements of different types, int64, uint64 or float64. */
static int order_elements(qs_dtype dx, const void *x, qs_dtype dy, const void *y) {
    if (dy == QS_F64) return order_beside_float(dx, x, *(const double *)y);
    if (dx == QS_F64) return -order_beside_float(dy, y, *(const double *)x);
    int64_t with_sign = *(const int64_t *)(dx == QS_I64 ? x : y);
    if (with_sign < 0) return dx == QS_I64 ? -1 : 1;
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* Sorts each operand by its own keys and merges them by the values.  Then all keys are replaced by ranks. */
static void sort_mixed(Pool *s) {
    SortItem *moved = s->items + s->n;
    size_t na = s->count[0], i = 0, j = na;
    sort_part(s, 0, na), sort_part(s, na, s->n - na);
    uint64_t rank = 0;
    for (size_t n = 0; n < s->n; n++) {
        const SortItem *a = i < na ? &s->items[i] : NULL, *b = j < s->n ? &s->items[j] : NULL;
        int order = !b   ? -1
                    : !a ? 1
                         : order_elements(s->types[0], element_at(s, a->at), s->types[1], element_at(s, b->at));
        const SortItem *next = order <= 0 ? a : b;
        const SortItem *last_a = i > 0 ? &s->items[i - 1] : NULL, *last_b = j > na ? &s->items[j - 1] : NULL;
        const SortItem *own = next == a ? last_a : last_b, *other = next == a ? last_b : last_a;
        bool same = own && own->key == next->key;
        if (!same && other)
            same = !order_elements(type_of(s, next->at), element_at(s, next->at), type_of(s, other->at),
                                   element_at(s, other->at));
        rank += !same;
        moved[n] = (SortItem){rank, next->at};
        if (next == a) i++;
        else j++;
    }
    memcpy(s->items, moved, s->n * sizeof *moved);
}

static bool is_nan(const Pool *s, size_t at) {
    QComplexD x;
    qs_dtype d = s->p[0] || s->p[1] ? type_of(s, at) : QS_B1;
    if (!qdtype_is_real(d) && !qdtype_is_complex(d)) return false;
    qconv_run(d, element_at(s, at), 0, QS_C128, &x, 0, 1);
    return x.re != x.re || x.im != x.im;
}

/* Gives each item the rank of one part of its complex number as key, in the order of the items. */
static void rank_parts(Pool *s, size_t part, uint64_t *ranks) {
    qs_dtype real = qdtype_real_of(s->d);
    SortItem *items = s->items, *spare = items + s->n;
    char *parts = (char *)spare; /* room for n numbers, before it is needed for sorting */
    size_t size = qdtype_size(real);
    for (size_t i = 0; i < s->n; i++) memcpy(parts + i * size, element_at(s, i) + part * size, size);
    qsort_items(real, parts, s->n, 0, items);
    SortItem *sorted = s->n ? qsort_by_key(items, spare, s->n) : items;
    uint64_t rank = 0;
    for (size_t i = 0; i < s->n; i++) {
        rank += i && sorted[i].key != sorted[i - 1].key;
        ranks[sorted[i].at] = ranks[sorted[i].at] << 32 | rank;
    }
}

/* Sorts complex numbers by their real parts, then their imaginary parts; numbers with a NaN are equal, and last. */
static void sort_complex(Pool *s) {
    uint64_t *ranks = (uint64_t *)s->runs; /* find_runs comes later */
    memset(ranks, 0, s->n * sizeof *ranks);
    rank_parts(s, 0, ranks), rank_parts(s, 1, ranks);
    for (size_t i = 0; i < s->n; i++) s->items[i] = (SortItem){is_nan(s, i) ? UINT64_MAX : ranks[i], i};
    sort_part(s, 0, s->n);
}

static void sort_numbers(Pool *s) {
    if (qdtype_is_complex(s->d)) {
        sort_complex(s);
        return;
    }
    for (int i = 0; i < s->operands; i++)
        qsort_items(s->types[i], s->p[i], s->count[i], i ? s->count[0] : 0, s->items + (i ? s->count[0] : 0));
    if (s->mixed) sort_mixed(s);
    else sort_part(s, 0, s->n);
}

/* Whether item i, which has the key of the item before it, is a nan of b, and that one is a nan of a. */
static bool separates_nans(const Pool *s, size_t i) {
    size_t na = s->count[0], at = s->items[i].at;
    return !s->equal_nans && at >= na && s->items[i - 1].at < na && is_nan(s, at);
}

static void find_runs(Pool *s) {
    for (size_t i = 0; i < s->n; i++)
        if (!i || s->items[i].key != s->items[i - 1].key || separates_nans(s, i)) s->runs[s->nruns++] = i;
    s->runs[s->nruns] = s->n;
}

static qs_status open_pool(qs_vm *vm, qs_call_args *c, int operands, bool equal_nans, Pool *s) {
    *s = (Pool){.vm = vm, .fn = c->name, .operands = operands, .equal_nans = equal_nans};
    bool strings = c->in[0].kind == QS_CELL || (operands == 2 && c->in[1].kind == QS_CELL);
    TRY(strings ? take_strings(s, c) : take_numbers(s, c));
    s->n = s->count[0] + s->count[1];
    s->bytes = qmem_size(s->n, 2 * sizeof *s->items + sizeof *s->runs, sizeof *s->runs);
    s->items = qmem_try(qvm_ctx(vm), s->bytes);
    if (!s->items) return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu items", c->name, s->n);
    s->runs = (size_t *)(s->items + 2 * s->n);
    if (strings) sort_strings(s);
    else sort_numbers(s);
    find_runs(s);
    return QS_OK;
}

static void close_pool(Pool *s) {
    if (s->items) qmem_try_free(qvm_ctx(s->vm), s->items, s->bytes);
}

/* -- results ------------------------------------------------------------------------------------------------------- */
/* Converts an element of an operand to the type of the result; an integer that has more digits is an error. */
static qs_status convert_item(const Pool *s, size_t at, qs_dtype d, void *to) {
    qs_dtype own = type_of(s, at);
    qconv_run(own, element_at(s, at), 0, d, to, 0, 1);
    if (d != QS_F64 || own == QS_F64 || (s->types[0] != QS_F64 && s->types[1] != QS_F64)) return QS_OK;
    if (!order_beside_float(own, element_at(s, at), *(double *)to)) return QS_OK;
    return qs_fail(s->vm, QS_EVALUE,
                   "%s: the result has float64 elements, and one of %s has more digits: convert %s with %s(%s)", s->fn,
                   name_of(s, at >= s->count[0]), name_of(s, at < s->count[0]), qdtype_info[own].name,
                   name_of(s, at < s->count[0]));
}

/* Returns the items with the given numbers as a vec of dtype d or a cell. */
static qs_status gather_items(const Pool *s, const size_t *at, size_t n, qs_dtype d, qs_value *out) {
    int64_t dim = (int64_t)n;
    if (s->cell[0] || s->cell[1]) {
        Cell *r;
        TRY(qcell_new(s->vm, qtype_simple(qvm_ctx(s->vm), TY_STRING), 1, &dim, &r));
        *out = qval_object(QS_CELL, r);
        for (size_t i = 0; i < n; i++) {
            qval_release(s->vm, r->items[i]);
            r->items[i] = qval_retain(string_at(s, at[i]));
        }
        return QS_OK;
    }
    Array *a, *r;
    void *p;
    TRY(qarr_make(s->vm, s->mixed ? d : s->d, 1, &dim, false, &a, &p));
    size_t size = qdtype_size((qs_dtype)a->dtype);
    qs_status status = QS_OK;
    for (size_t i = 0; status == QS_OK && i < n; i++) {
        char *to = (char *)p + i * size;
        if (s->mixed) status = convert_item(s, at[i], d, to);
        else memcpy(to, element_at(s, at[i]), size);
    }
    if (status == QS_OK) status = qarr_convert(s->vm, a, d, &r);
    if (status == QS_OK) *out = qarr_value(r);
    qarr_release(s->vm, a);
    return status;
}

static qs_status positions(qs_vm *vm, const size_t *at, size_t n, qs_value *out) {
    double *x;
    TRY(qsampled_scratch(vm, "positions", n, &x));
    for (size_t i = 0; i < n; i++) x[i] = (double)at[i];
    qs_status s = qarg_exact(vm, x, 1, (int64_t[]){(int64_t)n}, out);
    return qsampled_done(vm, x, n), s;
}

/* Returns one of the two halves of the spare items, as room for n item numbers. */
static size_t *room(const Pool *s, int half) { return (size_t *)(s->items + s->n) + (half ? s->n : 0); }

/* Returns the position of the first item of b in a run; *end: the end of the run. */
static size_t items_of_b(const Pool *s, size_t run, size_t *end) {
    size_t i = s->runs[run];
    *end = s->runs[run + 1];
    while (i < *end && s->items[i].at < s->count[0]) i++;
    return i;
}

/* -- operations ---------------------------------------------------------------------------------------------------- */
enum { ONLY_A = 1, ONLY_B = 2, IN_BOTH = 4 }; /* selects runs by the operands that occur in them */

/* Splits n items into those of a, which it keeps in `first`, and those of b; returns the number of the former. */
static size_t part_operands(const Pool *s, size_t *first, size_t n, size_t *in_b) {
    size_t na = 0, nb = 0;
    for (size_t i = 0; i < n; i++) {
        if (first[i] < s->count[0]) first[na++] = first[i];
        else in_b[nb++] = first[i] - s->count[0];
    }
    return na;
}

/* Sorts the distinct elements of an operand into x; returns their number. */
static qs_status sort_distinct(const Pool *s, int operand, void *x, size_t *n) {
    ArrayLines l = {1, s->count[operand], 1};
    TRY(qsort_lines(s->vm, s->fn, s->d, &l, false, s->p[operand], x, QS_F64, NULL));
    return *n = qsort_distinct(s->d, x, s->count[operand]), QS_OK;
}

/* Copies to `out` the elements of ascending sets a and b that `keep` selects; returns their number.  NaN is the last
 * element, and that of a differs from that of b. */
#define MERGE(T)                                                                                                       \
    static size_t merge_##T(const void *va, size_t na, const void *vb, size_t nb, unsigned keep, void *vout) {         \
        const T *a = va, *b = vb;                                                                                      \
        T *out = vout;                                                                                                 \
        size_t i = 0, j = 0, n = 0;                                                                                    \
        unsigned only_a = (keep & ONLY_A) != 0, only_b = (keep & ONLY_B) != 0, both = (keep & IN_BOTH) != 0;           \
        while (i < na && j < nb) {                                                                                     \
            T x = a[i], y = b[j];                                                                                      \
            unsigned same = x == y, less = (x < y) | (y != y);                                                         \
            out[n] = same | less ? x : y;                                                                              \
            n += same ? both : less ? only_a : only_b;                                                                 \
            i += same | less, j += !less;                                                                              \
        }                                                                                                              \
        for (; i < na && only_a; i++) out[n++] = a[i];                                                                 \
        for (; j < nb && only_b; j++) out[n++] = b[j];                                                                 \
        return n;                                                                                                      \
    }
MERGE(float)
MERGE(double)
MERGE(int32_t)
MERGE(int64_t)

typedef size_t Merge(const void *, size_t, const void *, size_t, unsigned, void *);
static Merge *merge_of(qs_dtype d) {
    return d == QS_F32   ? merge_float
           : d == QS_F64 ? merge_double
           : d == QS_I32 ? merge_int32_t
           : d == QS_I64 ? merge_int64_t
                         : NULL;
}

/* Does the same without positions for types that have a merging loop. */
static qs_status merge_sets(qs_vm *vm, qs_call_args *c, unsigned keep, bool *done) {
    Pool s = {.vm = vm, .fn = c->name, .operands = 2};
    Array *r;
    size_t n[2];
    bool arrays = c->in[0].kind == QS_ARRAY && c->in[1].kind == QS_ARRAY;
    Merge *merge = arrays ? merge_of(elements_of(c->in[0])) : NULL;
    if (!merge || elements_of(c->in[0]) != elements_of(c->in[1]) || (keep & ONLY_B && keep & IN_BOTH)) return QS_OK;
    TRY(take_numbers(&s, c)); /* may replace the arguments by other arrays */
    size_t size = qdtype_size(s.d), bytes = qmem_size(s.count[0] + s.count[1], 2 * size, 1);
    char *a = qmem_try(qvm_ctx(vm), bytes);
    if (!a) return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu items", c->name, s.count[0] + s.count[1]);
    char *b = a + s.count[0] * size, *out = b + s.count[1] * size;
    qs_status status = sort_distinct(&s, 0, a, &n[0]);
    if (status == QS_OK) status = sort_distinct(&s, 1, b, &n[1]);
    int64_t count = status == QS_OK ? (int64_t)merge(a, n[0], b, n[1], keep, out) : 0;
    void *to;
    if (status == QS_OK) status = qarg_result(vm, c, 0, s.d, 1, &count, &r, &to);
    if (status == QS_OK) memcpy(to, out, (size_t)count * size);
    *done = status == QS_OK;
    return qmem_try_free(qvm_ctx(vm), a, bytes), status;
}

static qs_status combine_sets(qs_vm *vm, qs_call_args *c, unsigned keep) {
    Pool s;
    bool done = false;
    if (c->nout < 2) TRY(merge_sets(vm, c, keep, &done));
    if (done) return QS_OK;
    size_t n = 0, *first = NULL, *in_b = NULL;
    qs_status status = open_pool(vm, c, 2, (keep & ONLY_B) && (keep & IN_BOTH), &s);
    if (status == QS_OK) first = room(&s, 0), in_b = room(&s, 1);
    for (size_t k = 0, end; status == QS_OK && k < s.nruns; k++) {
        size_t i = s.runs[k], b = items_of_b(&s, k, &end);
        if (!(keep & (b == i ? ONLY_B : b == end ? ONLY_A : IN_BOTH))) continue;
        first[n] = s.items[i].at;
        in_b[n++] = b < end ? s.items[b].at - s.count[0] : 0;
    }
    if (status == QS_OK) status = gather_items(&s, first, n, keep & ONLY_B ? s.d : s.da, &c->out[0]);
    size_t na = keep & ONLY_B ? part_operands(&s, first, n, in_b) : n;
    if (status == QS_OK && c->nout > 1) status = positions(vm, first, na, &c->out[1]);
    if (status == QS_OK && c->nout > 2) status = positions(vm, in_b, keep & ONLY_B ? n - na : n, &c->out[2]);
    return close_pool(&s), status;
}
qs_status qsets_union(qs_vm *vm, qs_call_args *c) { return combine_sets(vm, c, ONLY_A | ONLY_B | IN_BOTH); }
qs_status qsets_intersect(qs_vm *vm, qs_call_args *c) { return combine_sets(vm, c, IN_BOTH); }
qs_status qsets_setdiff(qs_vm *vm, qs_call_args *c) { return combine_sets(vm, c, ONLY_A); }
qs_status qsets_setxor(qs_vm *vm, qs_call_args *c) { return combine_sets(vm, c, ONLY_A | ONLY_B); }

/* [u, first, which, counts] = unique(x) */
qs_status qsets_unique(qs_vm *vm, qs_call_args *c) {
    Pool s;
    size_t *first = NULL, *which = NULL;
    if (c->nout < 2 && c->in[0].kind != QS_CELL && qarg_parts(c, 0, 1) == 1) return qsort_unique(vm, c);
    qs_status status = open_pool(vm, c, 1, true, &s);
    if (status == QS_OK) first = room(&s, 0), which = room(&s, 1);
    for (size_t k = 0; status == QS_OK && k < s.nruns; k++) {
        first[k] = s.items[s.runs[k]].at;
        for (size_t i = s.runs[k]; i < s.runs[k + 1]; i++) which[s.items[i].at] = k;
    }
    if (status == QS_OK) status = gather_items(&s, first, s.nruns, s.da, &c->out[0]);
    if (status == QS_OK && c->nout > 1) status = positions(vm, first, s.nruns, &c->out[1]);
    if (status == QS_OK && c->nout > 2) status = positions(vm, which, s.n, &c->out[2]);
    for (size_t k = 0; status == QS_OK && k < s.nruns; k++) first[k] = s.runs[k + 1] - s.runs[k];
    if (status == QS_OK && c->nout > 3) status = positions(vm, first, s.nruns, &c->out[3]);
    return close_pool(&s), status;
}

/* sort of a cell: strings in code point order. */
qs_status qsets_sort(qs_vm *vm, qs_call_args *c, bool down) {
    Pool s;
    size_t n = 0, *at;
    qs_status status = open_pool(vm, c, 1, true, &s);
    if (status == QS_OK) at = room(&s, 0);
    for (size_t k = 0; status == QS_OK && k < s.nruns; k++) {
        size_t run = down ? s.nruns - 1 - k : k; /* equal strings keep their order */
        for (size_t i = s.runs[run]; i < s.runs[run + 1]; i++) at[n++] = s.items[i].at;
    }
    if (status == QS_OK) status = gather_items(&s, at, n, s.da, &c->out[0]);
    if (status == QS_OK && c->nout > 1) status = positions(vm, at, n, &c->out[1]);
    return close_pool(&s), status;
}

/* -- membership ---------------------------------------------------------------------------------------------------- */
/* Returns the position of a value of any type in a cell; -1: not found. */
static double place_in(qs_vm *vm, qs_value x, const Cell *cell) {
    for (size_t i = 0; i < cell->count; i++)
        if (qval_equal(vm, x, cell->items[i])) return (double)i;
    return -1;
}

/* Returns whether each position is valid, and the positions themselves, in the shape of x. */
static qs_status membership(qs_vm *vm, qs_call_args *c, const double *place, int rank, const int64_t *dims) {
    Array *r;
    void *p;
    if (rank < 0) {
        c->out[0] = qs_bool(place[0] >= 0);
        if (c->nout > 1) c->out[1] = qs_num(place[0]);
        return QS_OK;
    }
    TRY(qarg_result(vm, c, 0, QS_B1, rank, dims, &r, &p));
    for (size_t i = 0; i < r->count; i++) ((uint8_t *)p)[i] = place[i] >= 0;
    return c->nout > 1 ? qarg_exact(vm, place, rank, dims, &c->out[1]) : QS_OK;
}

static qs_status in_cell(qs_vm *vm, qs_call_args *c) {
    const Cell *cell = c->in[1].u.p, *x = c->in[0].u.p;
    double *place;
    if (c->in[0].kind != QS_CELL) return membership(vm, c, (double[]){place_in(vm, c->in[0], cell)}, -1, NULL);
    TRY(qsampled_scratch(vm, "ismember", x->count, &place));
    for (size_t i = 0; i < x->count; i++) place[i] = place_in(vm, x->items[i], cell);
    qs_status s = membership(vm, c, place, x->rank, x->dims);
    return qsampled_done(vm, place, x->count), s;
}

/* Returns the position of the largest of n ascending keys that is not above `key`, or 0. */
static size_t search_keys(const uint64_t *keys, size_t n, uint64_t key) {
    size_t low = 0;
    for (; n > 1; n -= n / 2) low += keys[low + n / 2] <= key ? n / 2 : 0;
    return low;
}

/* Looks up each number of a among the sorted distinct numbers of b, which stay in the cache. */
static qs_status look_up(qs_vm *vm, const Pool *s, double *place) {
    enum { CHUNK = 256 };
    SortItem chunk[CHUNK];
    size_t n = s->count[1], distinct = 0, size = qdtype_size(s->d);
    size_t bytes = qmem_size(n, 2 * sizeof *chunk + sizeof(uint64_t), 0);
    SortItem *items = qmem_try(qvm_ctx(vm), bytes);
    if (!items) return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu items", s->fn, n);
    uint64_t *keys = (uint64_t *)(items + 2 * n);
    qsort_items(s->d, s->p[1], n, 0, items);
    SortItem *b = qsort_by_key(items, items + n, n);
    for (size_t i = 0; i < n; i++)
        if (!i || b[i].key != keys[distinct - 1]) keys[distinct] = b[i].key, b[distinct++].at = b[i].at;
    for (size_t at = 0, m; at < s->count[0]; at += m) {
        m = s->count[0] - at < CHUNK ? s->count[0] - at : CHUNK;
        qsort_items(s->d, s->p[0] + at * size, m, 0, chunk);
        for (size_t i = 0; i < m; i++) {
            size_t k = search_keys(keys, distinct, chunk[i].key);
            bool found = keys[k] == chunk[i].key && !is_nan(s, b[k].at + s->count[0]);
            place[at + i] = found ? (double)b[k].at : -1;
        }
    }
    qmem_try_free(qvm_ctx(vm), items, bytes);
    return QS_OK;
}

/* [there, place] = ismember(x, b) */
qs_status qsets_ismember(qs_vm *vm, qs_call_args *c) {
    Pool s;
    double *place;
    if (c->in[1].kind == QS_CELL) return in_cell(vm, c);
    enum { FEW = 1 << 16 /* numbers of b whose keys fit the cache */ };
    bool one = c->in[0].kind != QS_ARRAY && c->in[0].kind != QS_CELL, few = false;
    s = (Pool){.vm = vm, .fn = c->name, .operands = 2};
    if (c->in[0].kind != QS_CELL) {
        TRY(take_numbers(&s, c));
        few = !s.mixed && !qdtype_is_complex(s.d) && s.count[1] > 0 && s.count[1] <= FEW;
    }
    qs_status status = few ? QS_OK : open_pool(vm, c, 2, false, &s);
    if (status == QS_OK) status = qsampled_scratch(vm, c->name, s.count[0], &place);
    if (status != QS_OK) return close_pool(&s), status;
    if (few) status = look_up(vm, &s, place);
    for (size_t k = 0, end; k < s.nruns; k++) {
        size_t b = items_of_b(&s, k, &end);
        for (size_t i = s.runs[k]; i < b; i++)
            place[s.items[i].at] = b < end ? (double)(s.items[b].at - s.count[0]) : -1;
    }
    const Cell *cell = s.cell[0];
    const Array *x = cell ? NULL : qval_array(c->in[0]);
    if (one && status == QS_OK) status = membership(vm, c, place, -1, NULL);
    else if (status == QS_OK)
        status = membership(vm, c, place, cell ? cell->rank : x->rank, cell ? cell->dims : x->dims);
    for (int i = 0; x && status == QS_OK && i < c->nout; i++) qarg_keep(c->out[i], x);
    return qsampled_done(vm, place, s.count[0]), close_pool(&s), status;
}
