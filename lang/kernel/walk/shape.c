/* shape.c -- small arrays, each element of which is a value of its own: which elements an operation puts together.
 *
 * A vec counts as a matrix of one row, and a matrix of one row is a vec. */
#include "lang/kernel/walk/walk.h"

int64_t kshape_count(const Shape *s) {
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++) n *= s->dims[i];
    return n;
}

int64_t kshape_extent(const Shape *s, int d) {
    int axis = s->rank == 1 ? d - 1 : d;
    return axis >= 0 && axis < s->rank ? s->dims[axis] : 1;
}

Shape kshape_matrix(int64_t rows, int64_t cols) {
    return rows == 1 ? (Shape){1, {cols}} : (Shape){2, {rows, cols}};
}

/* -- stretching -------------------------------------------------------------------------------------------------- */
/* Its extent along axis i of a shape of that rank. */
static int64_t along(const Shape *s, int rank, int i) {
    return rank > 1 ? kshape_extent(s, i) : s->rank ? s->dims[i] : 1;
}

int kshape_meet(const Shape *of, int n, Shape *out) {
    *out = (Shape){0};
    for (int k = 0; k < n; k++) out->rank = of[k].rank > out->rank ? of[k].rank : out->rank;
    for (int i = 0; i < out->rank; i++) out->dims[i] = 1;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < out->rank; i++) {
            int64_t have = along(&of[k], out->rank, i);
            if (have != out->dims[i] && have != 1 && out->dims[i] != 1) return k;
            if (out->dims[i] == 1) out->dims[i] = have;
        }
    return n;
}

int64_t kshape_source(const Shape *whole, int64_t i, const Shape *part) {
    int64_t at = 0, stride = 1;
    for (int d = whole->rank - 1; d >= 0; d--) {
        int64_t have = along(part, whole->rank, d);
        at += have == 1 ? 0 : i % whole->dims[d] * stride;
        i /= whole->dims[d], stride *= have;
    }
    return at;
}

/* -- matrices ---------------------------------------------------------------------------------------------------- */
bool kshape_product(const Shape *a, const Shape *b, Product *out) {
    *out = (Product){kshape_extent(a, 0), kshape_extent(a, 1), kshape_extent(b, 1)};
    return a->rank <= 2 && b->rank <= 2 && out->depth == kshape_extent(b, 0);
}

int64_t kshape_turned(const Shape *m, int64_t i) {
    int64_t rows = kshape_extent(m, 0), cols = kshape_extent(m, 1);
    return i % rows * cols + i / rows;
}

/* -- one element ------------------------------------------------------------------------------------------------- */
qs_status kshape_pick(Walk *w, KRef at, struct Val *items, int n, struct Val *out) {
    kval_copy(w, out, items);
    for (int i = 1; i < n; i++) {
        KRef here = kbuild_pure(w, (KMake){K_EQ, .a = at, .b = kbuild_int(w, QS_I64, i)});
        TRY(w->rules->expr->select(w, here, kval_at(w, items, i), out, out));
    }
    return QS_OK;
}
