/* small_array.c -- index arithmetic for small arrays, whose elements are separate values.
 *
 * A vec counts as a matrix with one row, and a matrix with one row is a vec. */
#include "lang/kernel/lower/common/common.h"

int64_t ksmall_count(const SmallShape *s) {
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++) n *= s->dims[i];
    return n;
}

int64_t ksmall_extent(const SmallShape *s, int d) {
    int axis = s->rank == 1 ? d - 1 : d;
    return axis >= 0 && axis < s->rank ? s->dims[axis] : 1;
}

SmallShape ksmall_matrix(int64_t rows, int64_t cols) {
    return rows == 1 ? (SmallShape){1, {cols}} : (SmallShape){2, {rows, cols}};
}

/* -- broadcasting -------------------------------------------------------------------------------------------------- */
/* The extent of s along axis i, seen as a shape of rank `rank`. */
static int64_t extent_at_rank(const SmallShape *s, int rank, int i) {
    return rank > 1 ? ksmall_extent(s, i) : s->rank ? s->dims[i] : 1;
}

int ksmall_meet(const SmallShape *of, int n, SmallShape *out) {
    *out = (SmallShape){0};
    for (int k = 0; k < n; k++) out->rank = of[k].rank > out->rank ? of[k].rank : out->rank;
    for (int i = 0; i < out->rank; i++) out->dims[i] = 1;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < out->rank; i++) {
            int64_t have = extent_at_rank(&of[k], out->rank, i);
            if (have != out->dims[i] && have != 1 && out->dims[i] != 1) return k;
            if (out->dims[i] == 1) out->dims[i] = have;
        }
    return n;
}

int64_t ksmall_source(const SmallShape *whole, int64_t i, const SmallShape *part) {
    int64_t at = 0, stride = 1;
    for (int d = whole->rank - 1; d >= 0; d--) {
        int64_t have = extent_at_rank(part, whole->rank, d);
        at += have == 1 ? 0 : i % whole->dims[d] * stride;
        i /= whole->dims[d], stride *= have;
    }
    return at;
}

/* -- matrices ------------------------------------------------------------------------------------------------------ */
bool ksmall_product(const SmallShape *a, const SmallShape *b, Product *out) {
    *out = (Product){ksmall_extent(a, 0), ksmall_extent(a, 1), ksmall_extent(b, 1)};
    return a->rank <= 2 && b->rank <= 2 && out->depth == ksmall_extent(b, 0);
}

int64_t ksmall_transposed(const SmallShape *m, int64_t i) {
    int64_t rows = ksmall_extent(m, 0), cols = ksmall_extent(m, 1);
    return i % rows * cols + i / rows;
}

/* -- one element --------------------------------------------------------------------------------------------------- */
qs_status ksmall_pick(Walk *w, KRef at, struct Val *items, int n, struct Val *out) {
    kval_copy(w, out, items);
    for (int i = 1; i < n; i++) {
        KRef here = kbuild_pure(w, (KMake){K_EQ, .a = at, .b = kbuild_int(w, QS_I64, i)});
        TRY(w->rules->expr->select(w, here, kval_at(w, items, i), out, out));
    }
    return QS_OK;
}
