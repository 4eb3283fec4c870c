/* subscript.c -- determines the elements that x[…] selects, and applies the access mode to their indices.
 *
 *     indices ── for each dimension one index, a list of indices, or all
 *             ── the elements of a slice, row by row, each with one index per dimension
 *             ── the access mode: an index is mapped into the array, tested (by a rule), or added to a guard */
#include "lang/kernel/lower/common/common.h"

#include <stdio.h>

/* -- elements ------------------------------------------------------------------------------------------------------ */
bool ksubscript_is_single(const Places *p) {
    for (int d = 0; d < p->rank; d++)
        if (p->item[d].kind != AT_ONE) return false;
    return true;
}

int64_t ksubscript_count(const Places *p) {
    int64_t n = 1;
    for (int d = 0; d < p->rank; d++)
        if (p->item[d].kind == AT_LIST) n *= p->item[d].n;
    return n;
}

void ksubscript_at(const Places *p, int64_t k, KRef *at) {
    for (int d = p->rank - 1; d >= 0; d--) {
        const Subindex *it = &p->item[d];
        at[d] = it->kind == AT_LIST ? it->list[k % it->n] : it->one;
        if (it->kind == AT_LIST) k /= it->n;
    }
}

int ksubscript_shape(const Places *p, int64_t *dims) {
    int rank = 0;
    for (int d = 0; d < p->rank; d++)
        if (p->item[d].kind == AT_LIST) dims[rank++] = p->item[d].n;
    if (p->rank == 2 && p->item[0].kind == AT_LIST && p->item[1].kind == AT_ONE) dims[rank++] = 1;
    return rank;
}

Subindex ksubscript_from(Walk *w, KRef first, int64_t n) {
    Subindex it = {.kind = AT_LIST,
                   .n = n,
                   .list = qarena_alloc(w->arena, qmem_size((size_t)n, sizeof *it.list, sizeof *it.list))};
    for (int64_t i = 0; i < n; i++)
        it.list[i] = kbuild_pure(w, (KMake){K_ADD, .a = first, .b = kbuild_int(w, QS_I64, i)});
    return it;
}

bool ksubscript_span(const Walk *w, KRef lo, KRef hi, Affine *out) {
    Affine from;
    return kaffine_of(w->f, hi, out) && kaffine_of(w->f, lo, &from) && kaffine_add(out, &from, -1);
}

/* -- inside the array ---------------------------------------------------------------------------------------------- */
int ksubscript_shown_axis(const Places *p, int axis) { return p->rank == 1 ? axis + 1 : axis; }

void ksubscript_sentence(const char *array, int axis, char text[KPLACE_TEXT]) {
    snprintf(text, KPLACE_TEXT, "index %%0 is outside dimension %d%s%.80s (size %%1)", axis, array ? " of " : "",
             array ? array : "");
}

KRef ksubscript_bring(Walk *w, const Places *p, int axis, AxisIndex x, KRef *guard) {
    const PlaceRules *r = w->rules->place;
    double k;
    if (qaccess_is_mapped(p->mode)) {
        if (r->exists) r->exists(w, p, axis, x);
        return kbuild_pure(w, (KMake){K_BOUND, .flag = p->mode, .a = x.at, .b = x.n});
    }
    if (p->mode == ACC_CHECKED) r->test(w, p, axis, x);
    if (p->mode != ACC_SAFE) return x.at;
    KRef in = r->inside(w, x.at, x.n);
    if (*guard) *guard = kbuild_pure(w, (KMake){K_AND, .a = *guard, .b = in});
    else if (!kir_is_const(w->f, in, &k) || k == 0) *guard = in;
    return x.at;
}
