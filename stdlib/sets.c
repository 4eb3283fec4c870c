/* sets.c -- arrays as sets of numbers, kept as sorted doubles.  Here nan equals nan: it is found by search. */
#include "stdlib/stdlib.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* nan comes last. */
static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static size_t distinct(double *x, size_t n) {
    size_t m = 0;
    qsort(x, n, sizeof *x, ascending);
    for (size_t i = 0; i < n; i++)
        if (!m || ascending(&x[m - 1], &x[i])) x[m++] = x[i];
    return m;
}

static bool member(const double *set, size_t n, double x) {
    return n && bsearch(&x, set, n, sizeof *set, ascending) != NULL;
}

typedef struct { Array *a, *b; const double *p, *q; qs_dtype da, db; } Pair;

static qs_status pair(qs_vm *vm, qs_call_args *c, const char *fn, Pair *x) {
    const void *p, *q;
    TRY(qarg_array(vm, c, 0, fn, "a", &x->a));
    TRY(qarg_array(vm, c, 1, fn, "b", &x->b));
    x->da = (qs_dtype)x->a->dtype, x->db = (qs_dtype)x->b->dtype;
    TRY(qarg_packed(vm, c, 0, fn, "a", QS_F64, &x->a, &p));
    TRY(qarg_packed(vm, c, 1, fn, "b", QS_F64, &x->b, &q));
    x->p = p, x->q = q;
    return QS_OK;
}

static qs_status result(qs_vm *vm, qs_call_args *c, qs_dtype d, const double *x, size_t n) {
    Array *r;
    void *p;
    TRY(qarg_result(vm, c, 0, d, 1, (int64_t[]){(int64_t)n}, &r, &p));
    for (size_t i = 0; i < n; i++) qdtype_put(d, (char *)p + i * qdtype_size(d), x[i]);
    return QS_OK;
}

enum Which { UNION, INTERSECTION, DIFFERENCE };

static qs_status combine(qs_vm *vm, qs_call_args *c, const char *fn, enum Which which) {
    Pair x;
    TRY(pair(vm, c, fn, &x));
    size_t na = x.a->count, nb = x.b->count, bytes = (na + nb + 1) * sizeof(double);
    double *a = qmem_try(qvm_ctx(vm), bytes), *b = a + na;
    if (!a) return qs_fail(vm, QS_ENOMEM, "%s: no memory for %zu numbers", fn, na + nb);
    memcpy(a, x.p, na * sizeof *a), memcpy(b, x.q, nb * sizeof *b);
    size_t n = 0;
    if (which == UNION) n = distinct(a, na + nb);
    else {
        na = distinct(a, na), nb = distinct(b, nb);
        for (size_t i = 0; i < na; i++)
            if (member(b, nb, a[i]) == (which == INTERSECTION)) a[n++] = a[i];
    }
    qs_status s = result(vm, c, which == UNION && x.da != x.db ? qdtype_promote(x.da, x.db) : x.da, a, n);
    qmem_try_free(qvm_ctx(vm), a, bytes);
    return s;
}
qs_status qsets_union(qs_vm *vm, qs_call_args *c) { return combine(vm, c, "union", UNION); }
qs_status qsets_intersect(qs_vm *vm, qs_call_args *c) { return combine(vm, c, "intersect", INTERSECTION); }
qs_status qsets_setdiff(qs_vm *vm, qs_call_args *c) { return combine(vm, c, "setdiff", DIFFERENCE); }

/* Strings are looked for in a cell. */
static qs_status in_cell(qs_vm *vm, qs_call_args *c) {
    const Cell *cell = c->in[1].u.p;
    c->out[0] = qs_bool(false);
    for (size_t i = 0; i < cell->count; i++) {
        qs_value both[2] = {c->in[0], cell->items[i]}, same = qs_nil();
        qs_call_args equal = {2, 1, both, &same, 0, NULL};
        TRY(qcore_isequal(vm, &equal));
        if (same.u.i) return c->out[0] = same, QS_OK;
    }
    return QS_OK;
}

qs_status qsets_ismember(qs_vm *vm, qs_call_args *c) {
    Pair x;
    Array *r;
    void *p;
    if (c->in[1].kind == QS_CELL) return in_cell(vm, c);
    bool one = c->in[0].kind != QS_ARRAY;
    TRY(pair(vm, c, "ismember", &x));
    size_t n = x.b->count, bytes = (n + 1) * sizeof(double);
    double *set = qmem_try(qvm_ctx(vm), bytes);
    if (!set) return qs_fail(vm, QS_ENOMEM, "ismember: no memory for %zu numbers", n);
    memcpy(set, x.q, n * sizeof *set);
    n = distinct(set, n);
    qs_status s = QS_OK;
    if (one) c->out[0] = qs_bool(member(set, n, x.p[0]));
    else s = qarg_result(vm, c, 0, QS_B1, x.a->rank, x.a->dims, &r, &p);
    for (size_t i = 0; !one && s == QS_OK && i < x.a->count; i++) ((uint8_t *)p)[i] = member(set, n, x.p[i]);
    qmem_try_free(qvm_ctx(vm), set, bytes);
    return s;
}
