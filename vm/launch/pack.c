/* pack.c -- cells of arrays as arguments of kernels. */
#include "vm/launch/pack.h"
#include "vm/value/machine.h"

#include <string.h>

static bool alike(const Array *a, const Array *b) {
    return a->dtype == b->dtype && a->rank == b->rank && !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

/* The first entry, when all are arrays like it; NULL: it is no such cell. */
static const Array *pattern(const Cell *c) {
    const Array *first = c->count && c->items[0].kind == QS_ARRAY ? c->items[0].u.p : NULL;
    if (!first || first->rank < 1 || c->rank + first->rank > QS_MAX_RANK) return NULL;
    for (size_t i = 1; i < c->count; i++)
        if (c->items[i].kind != QS_ARRAY || !alike(c->items[i].u.p, first)) return NULL;
    return first;
}

/* Between the entries and their places: to the array, or back. */
static qs_status move(qs_vm *vm, const Cell *c, Array *packed, bool back) {
    const Array *first = c->items[0].u.p;
    int64_t strides[QS_MAX_RANK];
    int64_t step = 1;
    for (int d = first->rank; d-- > 0;) strides[d] = step, step *= first->dims[d];
    for (size_t i = 0; i < c->count; i++) {
        Array *place, *entry = c->items[i].u.p;
        TRY(qarr_view(vm, packed, first->rank, first->dims, strides, i * first->count, &place));
        qs_status s = back ? qarr_assign(vm, entry, place) : qarr_assign(vm, place, entry);
        qarr_release(vm, place);
        TRY(s);
    }
    return QS_OK;
}

static qs_status pack(qs_vm *vm, const Cell *c, const Array *first, qs_value *out) {
    int64_t dims[QS_MAX_RANK];
    Array *a;
    memcpy(dims, c->dims, c->rank * sizeof *dims);
    memcpy(dims + c->rank, first->dims, first->rank * sizeof *dims);
    TRY(qarr_new(vm, (qs_dtype)first->dtype, c->rank + first->rank, dims, false, &a));
    qs_status s = first->count ? move(vm, c, a, false) : QS_OK;
    if (s != QS_OK) return qarr_release(vm, a), s;
    return *out = qarr_value(a), QS_OK;
}

/* A cell that is given twice is one array, so that what is written through one is seen through the other. */
static int same_as_before(const Packed *p, int arg) {
    for (int i = 0; i < arg; i++)
        if (p->inner[i] && p->given[i].u.p == p->given[arg].u.p) return i;
    return -1;
}

static qs_status pack_each(qs_vm *vm, Packed *p) {
    for (int i = 0; i < p->n; i++) {
        const Array *first = p->given[i].kind == QS_CELL ? pattern(p->given[i].u.p) : NULL;
        int before = first ? same_as_before(p, i) : -1;
        if (!first) p->args[i] = qval_retain(p->given[i]);
        else if (before >= 0) p->args[i] = qval_retain(p->args[before]);
        else TRY(pack(vm, p->given[i].u.p, first, &p->args[i]));
        if (first) p->inner[i] = first->rank;
    }
    return QS_OK;
}

qs_status qpack_open(qs_vm *vm, int n, const qs_value *given, Packed *out) {
    bool any = false;
    *out = (Packed){.given = given, .n = n};
    for (int i = 0; i < n && !any; i++) any = given[i].kind == QS_CELL && pattern(given[i].u.p);
    if (!any) return QS_OK;
    out->args = qmem_alloc(qvm_ctx(vm), (size_t)n * sizeof *out->args);
    out->inner = qmem_alloc(qvm_ctx(vm), (size_t)n);
    for (int i = 0; i < n; i++) out->args[i] = qs_nil(), out->inner[i] = 0;
    qs_status s = pack_each(vm, out);
    if (s != QS_OK) qpack_close(vm, out);
    return s;
}

qs_status qpack_back(qs_vm *vm, const Packed *p, int arg) {
    const Cell *c = p->given[arg].u.p;
    return ((const Array *)p->args[arg].u.p)->count ? move(vm, c, p->args[arg].u.p, true) : QS_OK;
}

void qpack_close(qs_vm *vm, Packed *p) {
    for (int i = 0; p->args && i < p->n; i++) qval_release(vm, p->args[i]);
    if (p->args) qmem_free(qvm_ctx(vm), p->args, (size_t)p->n * sizeof *p->args);
    if (p->inner) qmem_free(qvm_ctx(vm), p->inner, (size_t)p->n);
    p->args = NULL, p->inner = NULL;
}
