/* sets.c -- implements set operations on arrays of numbers and cells of strings.
 *
 * The elements of both operands are put into one pool of items, which are sorted by keys.  Each run of equal keys is a
 * distinct element; an operation selects runs by the operands that occur in them.  nan equals nan, -0 equals 0;
 * integers are compared exactly.  The key of a string is its rank. */
#include "stdlib/builtins.h"
#include "vm/array/convert.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    qs_vm *vm;
    const char *fn;
    int operands;
    size_t count[2], n;  /* number of items of each operand, and of both; items of b are numbered after those of a */
    qs_dtype d, da;      /* dtype of results with elements of both operands, and of a alone */
    qs_dtype types[2];   /* types in which elements are compared: d, or uint64 and int64 if signs mix */
    bool mixed;          /* result of qdtype_mixes_signs */
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
static qs_status take_numbers(Pool *s, qs_call_args *c) {
    Array *a;
    const void *p;
    s->d = qarg_meet(s->vm, c, 0, s->operands);
    s->da = c->in[0].kind == QS_ARRAY ? (qs_dtype)qval_array(c->in[0])->dtype : s->d;
    for (int i = 0; i < s->operands; i++)
        if (qarg_parts(c, i, i + 1) > 1) return qarg_wrong(s->vm, s->fn, name_of(s, i), "real", c->in[i]);
    s->mixed = s->operands == 2 && c->in[0].kind == QS_ARRAY && c->in[1].kind == QS_ARRAY &&
               qdtype_mixes_signs((qs_dtype)qval_array(c->in[0])->dtype, (qs_dtype)qval_array(c->in[1])->dtype);
    for (int i = 0; i < s->operands; i++) {
        s->types[i] = !s->mixed ? s->d : qval_array(c->in[i])->dtype == QS_U64 ? QS_U64 : QS_I64;
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

/* Sorts negative numbers separately and first; nonnegative int64 numbers have the same keys as uint64.  Then all keys
 * are replaced by ranks. */
static void sort_mixed(Pool *s) {
    const uint64_t zero = (uint64_t)1 << 63; /* key of int64 0 */
    SortItem *moved = s->items + s->n;
    size_t below = 0, n;
    for (size_t i = 0; i < s->n; i++)
        if (type_of(s, s->items[i].at) == QS_I64 && s->items[i].key < zero) moved[below++] = s->items[i];
    n = below;
    for (size_t i = 0; i < s->n; i++) {
        bool has_sign = type_of(s, s->items[i].at) == QS_I64;
        if (has_sign && s->items[i].key < zero) continue;
        moved[n++] = (SortItem){s->items[i].key - (has_sign ? zero : 0), s->items[i].at};
    }
    memcpy(s->items, moved, n * sizeof *moved);
    sort_part(s, 0, below), sort_part(s, below, n - below);
    for (uint64_t i = 0, rank = 0, last = 0; i < n; i++) {
        rank += i == below || s->items[i].key != last;
        last = s->items[i].key, s->items[i].key = rank;
    }
}

static void sort_numbers(Pool *s) {
    for (int i = 0; i < s->operands; i++)
        qsort_items(s->types[i], s->p[i], s->count[i], i ? s->count[0] : 0, s->items + (i ? s->count[0] : 0));
    if (s->mixed) sort_mixed(s);
    else sort_part(s, 0, s->n);
}

static void find_runs(Pool *s) {
    for (size_t i = 0; i < s->n; i++)
        if (!i || s->items[i].key != s->items[i - 1].key) s->runs[s->nruns++] = i;
    s->runs[s->nruns] = s->n;
}

static qs_status open_pool(qs_vm *vm, qs_call_args *c, int operands, Pool *s) {
    *s = (Pool){.vm = vm, .fn = c->name, .operands = operands};
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
    TRY(qarr_new(s->vm, s->mixed ? d : s->d, 1, &dim, false, &a));
    size_t size = qdtype_size((qs_dtype)a->dtype);
    qs_status status = qarr_write(s->vm, a, &p);
    for (size_t i = 0; status == QS_OK && i < n; i++) {
        char *to = (char *)p + i * size;
        if (s->mixed) qconv_run(type_of(s, at[i]), element_at(s, at[i]), 0, d, to, 0, 1);
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

static qs_status combine_sets(qs_vm *vm, qs_call_args *c, unsigned keep) {
    Pool s;
    size_t n = 0, *first = NULL, *in_b = NULL;
    qs_status status = open_pool(vm, c, 2, &s);
    if (status == QS_OK) first = room(&s, 0), in_b = room(&s, 1);
    for (size_t k = 0, end; status == QS_OK && k < s.nruns; k++) {
        size_t i = s.runs[k], b = items_of_b(&s, k, &end);
        if (!(keep & (b == i ? ONLY_B : b == end ? ONLY_A : IN_BOTH))) continue;
        first[n] = s.items[i].at;
        in_b[n++] = b < end ? s.items[b].at - s.count[0] : 0;
    }
    if (status == QS_OK) status = gather_items(&s, first, n, keep & ONLY_B ? s.d : s.da, &c->out[0]);
    if (status == QS_OK && c->nout > 1) status = positions(vm, first, n, &c->out[1]);
    if (status == QS_OK && c->nout > 2) status = positions(vm, in_b, n, &c->out[2]);
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
    if (c->nout < 2 && c->in[0].kind != QS_CELL) return qsort_unique(vm, c);
    qs_status status = open_pool(vm, c, 1, &s);
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
    qs_status status = open_pool(vm, c, 1, &s);
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
            place[at + i] = keys[k] == chunk[i].key ? (double)b[k].at : -1;
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
        few = !s.mixed && s.count[1] > 0 && s.count[1] <= FEW;
    }
    qs_status status = few ? QS_OK : open_pool(vm, c, 2, &s);
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
