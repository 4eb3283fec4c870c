/* Indexing: random selections of arrays and cells under every access mode, compared with a model, then each special
 * form. */
#include "vm/array/index.h"
#include "lang/syntax/operators.h"
#include "tests/unit/machine.h"
#include "vm/array/arith.h"
#include "vm/array/select.h"
#include "vm/base/dtype.h"

#include <math.h>

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* subscripts are not lists unless they say so */

#define COUNT(a) (sizeof(a) / sizeof *(a))

static uint32_t seed = 1;
static int below(int n) {
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 8) % (uint32_t)n);
}

/* -- the model: an index is a list of positions per dimension ------------------------------------------------------ */
typedef struct {
    int n;
    double x[12];
    bool scalar, colon;
} Index;

static int64_t model_place(AccessMode m, double x, int64_t n) {
    int64_t i = (int64_t)(m == ACC_DEFAULT || m == ACC_CHECKED || m == ACC_UNCHECKED ? trunc(x) : floor(x));
    if (i >= 0 && i < n) return i;
    switch (m) {
    case ACC_MIRROR:
        while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
        return i;
    case ACC_REFLECT: /* walks back and forth between the edges */
        for (int64_t at = i; n > 1; at = at < 0 ? -at : 2 * (n - 1) - at)
            if (at >= 0 && at < n) return at;
        return 0;
    case ACC_CIRCULAR:
        while (i < 0) i += n;
        return i % n;
    case ACC_CLAMPED: return i < 0 ? 0 : n - 1;
    default: return -1;
    }
}

static Index random_index(int64_t n, bool far) {
    Index ix = {.n = 1};
    int kind = below(5), reach = far ? 3 * (int)n : 0;
    if (kind == 0) ix.colon = true, ix.n = (int)n;
    else if (kind == 1) ix.scalar = true;
    else ix.n = below(7);
    for (int k = 0; k < ix.n; k++) {
        if (ix.colon) ix.x[k] = k;
        else if (kind == 2) ix.x[k] = k < n || far ? k : 0;                  /* a range */
        else if (kind == 3) ix.x[k] = far ? 2 - k : (double)(n - 1 - k % n); /* backward */
        else ix.x[k] = below((int)n + 2 * reach) - reach + (below(4) == 0 ? 0.5 : 0);
    }
    return ix;
}

static qs_value index_value(qs_vm *vm, const Index *ix) {
    if (ix->colon) return qval_colon();
    if (ix->scalar)
        return below(2) ? qs_num(ix->x[0]) : ix->x[0] == trunc(ix->x[0]) ? qs_int((int64_t)ix->x[0]) : qs_num(ix->x[0]);
    return make_vec(vm, below(2) ? QS_F32 : QS_F64, ix->n, ix->x);
}

typedef struct {
    int rank;
    int64_t dims[4], count;
    Index at[4];
    int64_t selected;
    AccessMode mode;
    bool error; /* some position is out of bounds and the mode does not allow it */
} Case;

static Case random_case(int rank) {
    Case c = {.rank = rank, .count = 1, .selected = 1, .mode = (AccessMode)below(7)};
    bool far = c.mode != ACC_DEFAULT && c.mode != ACC_CHECKED && c.mode != ACC_UNCHECKED;
    if (below(20) == 0) far = true;
    for (int d = 0; d < rank; d++) {
        c.dims[d] = 1 + below(4) + (d == 0 && rank == 2); /* not a 1xN matrix: that is a vec */
        if (d == rank - 1 && rank > 2 && c.dims[d] == 1) c.dims[d] = 2;
        if (rank == 2 && d == 0 && c.dims[0] == 1) c.dims[0] = 2;
        c.count *= c.dims[d];
        c.at[d] = random_index(c.dims[d], far);
        c.selected *= c.at[d].n;
        bool allowed = c.mode >= ACC_SAFE && c.mode <= ACC_CLAMPED;
        for (int k = 0; k < c.at[d].n; k++)
            if (model_place(c.mode, c.at[d].x[k], c.dims[d]) < 0 && !allowed) c.error = true;
    }
    return c;
}

/* The linear position in the base of the k-th selected element; -1: out of bounds. */
static int64_t model_linear(const Case *c, int64_t k) {
    int64_t at = 0, step = 1;
    for (int d = c->rank - 1; d >= 0; d--) {
        const Index *ix = &c->at[d];
        int64_t i = model_place(c->mode, ix->x[k % ix->n], c->dims[d]);
        if (i < 0) return -1;
        at += i * step;
        step *= c->dims[d];
        k /= ix->n;
    }
    return at;
}

static bool all_scalar(const Case *c) {
    for (int d = 0; d < c->rank; d++)
        if (!c->at[d].scalar) return false;
    return true;
}

static double number_at(qs_vm *vm, qs_value v, size_t k) {
    qs_value e = v;
    if (v.kind == QS_ARRAY) CHECK(qarr_get(vm, qval_array(v), k, &e) == QS_OK);
    if (v.kind == QS_CELL) e = ((Cell *)v.u.p)->items[k];
    if (e.kind == QS_NIL) return 0;
    if (e.kind != QS_COMPLEX) return qval_number(e);
    double re = ((Complex *)e.u.p)->re;
    if (v.kind != QS_COMPLEX) qval_release(vm, e);
    return re;
}

static char memory[1 << 16];

/* element k has the value k + 1, in memory that runs backward or has gaps, or packed */
static qs_value base_array(qs_vm *vm, const Case *c, qs_dtype d) {
    qs_array_info info = {.dtype = d, .rank = c->rank};
    int layout = below(3);
    int64_t step = layout == 2 ? 2 : 1;
    char *first = memory + sizeof memory / 2;
    for (int i = c->rank - 1; i >= 0; i--)
        info.dims[i] = c->dims[i], info.strides[i] = layout == 1 ? -step : step, step *= c->dims[i];
    Array *a = NULL;
    if (layout == 0) CHECK(qarr_new(vm, d, c->rank, c->dims, false, &a) == QS_OK);
    else CHECK(qarr_wrap(vm, &info, &(Wrapped){.data = (uintptr_t)first}, &a) == QS_OK);
    for (int64_t k = 0; k < c->count; k++)
        CHECK(qarr_put(vm, a, (size_t)k, as_element(d, (double)(k % 120 + 1))) == QS_OK);
    return qarr_value(a);
}

static qs_value base_cell(qs_vm *vm, const Case *c) {
    Cell *cell = NULL;
    CHECK(qcell_new(vm, qtype_any(qvm_ctx(vm)), c->rank, c->dims, &cell) == QS_OK);
    for (int64_t k = 0; k < c->count; k++) cell->items[k] = qs_num((double)(k % 120 + 1));
    return qval_object(QS_CELL, cell);
}

static void check_get(qs_vm *vm, const Case *c, qs_value base, const qs_value *at) {
    TypeMods mods = {(uint8_t)c->mode, 0};
    qs_value r = qs_nil();
    qs_status s = qidx_get(vm, base, &(Subscript){c->rank, at, mods, "x"}, &r);
    CHECK((s == QS_EINDEX) == c->error && (s == QS_OK) == !c->error);
    if (s) {
        qerr_clear(qvm_ctx(vm));
        return;
    }
    size_t n = r.kind == QS_ARRAY ? qval_array(r)->count : r.kind == QS_CELL ? ((Cell *)r.u.p)->count : 1;
    CHECK(n == (size_t)c->selected && (all_scalar(c) == (r.kind != QS_ARRAY && r.kind != QS_CELL)));
    bool ok = true;
    for (size_t k = 0; k < n; k++) {
        int64_t from = model_linear(c, (int64_t)k);
        double want = from < 0 ? 0 : (double)(from % 120 + 1);
        if (base.kind == QS_ARRAY && qval_array(base)->dtype == QS_B1) want = want != 0;
        ok = ok && number_at(vm, r, k) == want;
    }
    CHECK(ok);
    qval_release(vm, r);
}

/* Writes -(k+1) or one number; repeated positions are not checked. */
static void check_set(qs_vm *vm, const Case *c, qs_value base, const qs_value *at) {
    TypeMods mods = {(uint8_t)c->mode, 0};
    bool fill = below(3) == 0 || c->selected == 0 || all_scalar(c);
    bool truths = base.kind == QS_ARRAY && qval_array(base)->dtype == QS_B1;
    qs_value v = qs_num(truths ? 1 : 77);
    double written[5000];
    int hits[5000] = {0};
    if (c->selected >= 5000 || c->count >= 5000) return;
    for (int64_t k = 0; k < c->selected; k++) written[k] = truths ? 1 : fill ? 77 : (double)(k % 100 + 20);
    if (!fill) {
        int64_t dims[4];
        for (int d = 0; d < c->rank; d++) dims[d] = c->at[d].n;
        if (base.kind == QS_ARRAY) v = qarr_value(make_array(vm, QS_F64, c->rank, dims, written));
        else {
            Cell *cell = NULL;
            CHECK(qcell_new(vm, qtype_any(qvm_ctx(vm)), c->rank, dims, &cell) == QS_OK);
            for (int64_t k = 0; k < c->selected; k++) cell->items[k] = qs_num(written[k]);
            v = qval_object(QS_CELL, cell);
        }
    }
    qs_status s = qidx_set(vm, base, &(Subscript){c->rank, at, mods, NULL}, v);
    CHECK((s == QS_OK) == !c->error);
    if (s) qerr_clear(qvm_ctx(vm));
    bool ok = true;
    for (int64_t k = 0; !s && k < c->selected; k++) {
        int64_t to = model_linear(c, k);
        if (to >= 0) hits[to]++;
    }
    for (int64_t k = 0; !s && k < c->selected; k++) {
        int64_t to = model_linear(c, k);
        if (to >= 0 && (hits[to] == 1 || fill)) ok = ok && number_at(vm, base, (size_t)to) == written[k];
    }
    for (int64_t k = 0; k < c->count; k++) {
        double want = truths ? 1 : (double)(k % 120 + 1);
        if (!hits[k]) ok = ok && number_at(vm, base, (size_t)k) == want;
    }
    CHECK(ok);
    qval_release(vm, v);
}

static void random_selections(qs_vm *vm, int rounds) {
    for (int i = 0; i < rounds; i++) {
        Case c = random_case(1 + below(4));
        qs_value at[4], base = below(4) ? base_array(vm, &c, (qs_dtype)below(QS_C128 + 1)) : base_cell(vm, &c);
        for (int d = 0; d < c.rank; d++) at[d] = index_value(vm, &c.at[d]);
        bool lone = c.rank == 1 && c.at[0].colon; /* x[:] has the shape of x */
        check_get(vm, &c, base, at);
        if (!lone || base.kind == QS_ARRAY) check_set(vm, &c, base, at);
        for (int d = 0; d < c.rank; d++) qval_release(vm, at[d]);
        qval_release(vm, base);
    }
}

/* -- large selections: both ways of iterating over lists ----------------------------------------------------------- */
static void large(qs_vm *vm) {
    enum { H = 60, W = 50, C = 3 };
    double rows[H], channels[C] = {2, 1, 0};
    for (int i = 0; i < H; i++) rows[i] = (i * 7) % H;
    Array *img = make_array(vm, QS_F32, 3, (int64_t[]){H, W, C}, NULL);
    for (size_t k = 0; k < img->count; k++) CHECK(qarr_put(vm, img, k, qs_num((double)k)) == QS_OK);
    qs_value list = make_vec(vm, QS_F32, H, rows), swap = make_vec(vm, QS_F32, C, channels), r;
    const TypeMods none = {0};
    CHECK(qidx_get(vm, qarr_value(img), &(Subscript){3, (qs_value[]){list, qval_colon(), qval_colon()}, none, "x"},
                   &r) == QS_OK);
    bool ok = qval_array(r)->count == H * W * C;
    for (int k = 0; k < H * W * C; k++)
        ok = ok && number_at(vm, r, (size_t)k) == (double)((int)rows[k / (W * C)] * W * C + k % (W * C));
    CHECK(ok);
    qval_release(vm, r);
    CHECK(qidx_get(vm, qarr_value(img),
                   &(Subscript){3, (qs_value[]){list, list, swap}, (TypeMods){ACC_CIRCULAR, 0}, "x"}, &r) == QS_OK);
    ok = qval_array(r)->count == H * H * C;
    for (int k = 0; k < H * H * C; k++) {
        int y = (int)rows[k / (H * C)], x = (int)rows[k / C % H] % W, z = 2 - k % C;
        ok = ok && number_at(vm, r, (size_t)k) == (double)((y * W + x) * C + z);
    }
    CHECK(ok);
    qval_release(vm, r);
    qval_release(vm, list);
    qval_release(vm, swap);
    qarr_release(vm, img);
}

/* -- shapes of results --------------------------------------------------------------------------------------------- */
static void check_shape(qs_vm *vm, qs_value base, int n, const qs_value *at, int rank, const char *want) {
    char text[SHAPE_TEXT];
    qs_value r = qs_nil();
    CHECK(qidx_get(vm, base, &(Subscript){n, at, (TypeMods){0}, "x"}, &r) == QS_OK && r.kind == QS_ARRAY);
    if (r.kind == QS_ARRAY) {
        CHECK_TEXT(qarr_shape_text(qval_array(r), text), want);
        CHECK(qval_array(r)->rank == rank);
    }
    qval_release(vm, r);
}

static void result_shapes(qs_vm *vm) {
    qs_value cube = qarr_value(make_array(vm, QS_F32, 3, (int64_t[]){4, 5, 3}, NULL)), all = qval_colon(),
             zero = qs_num(0);
    qs_value mat = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){4, 5}, NULL)),
             two = make_vec(vm, QS_F32, 2, (double[]){0, 1});
    qs_value vec = make_vec(vm, QS_F32, 6, NULL),
             column = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){2, 1}, NULL));
    qs_value table = qarr_value(make_array(vm, QS_U8, 2, (int64_t[]){2, 3}, NULL));
    check_shape(vm, cube, 3, (qs_value[]){all, all, zero}, 2, "4x5");
    check_shape(vm, cube, 3, (qs_value[]){all, zero, zero}, 2, "4x1");
    check_shape(vm, cube, 3, (qs_value[]){zero, all, zero}, 1, "1x5");
    check_shape(vm, cube, 3, (qs_value[]){zero, zero, all}, 1, "1x3");
    check_shape(vm, cube, 3, (qs_value[]){zero, all, all}, 3, "1x5x3");
    check_shape(vm, cube, 3, (qs_value[]){two, two, all}, 3, "2x2x3");
    check_shape(vm, mat, 2, (qs_value[]){all, zero}, 2, "4x1");
    check_shape(vm, mat, 2, (qs_value[]){zero, all}, 1, "1x5");
    check_shape(vm, mat, 3, (qs_value[]){all, all, zero}, 2, "4x5");
    check_shape(vm, mat, 1, (qs_value[]){all}, 2, "4x5");
    check_shape(vm, vec, 1, (qs_value[]){two}, 1, "1x2");
    check_shape(vm, vec, 2, (qs_value[]){zero, two}, 1, "1x2");
    check_shape(vm, vec, 1, (qs_value[]){column}, 1, "1x2");
    check_shape(vm, vec, 1, (qs_value[]){table}, 2, "2x3");
    qs_value used[] = {cube, mat, two, vec, column, table};
    for (size_t i = 0; i < COUNT(used); i++) qval_release(vm, used[i]);
}

/* -- positions, masks, whole --------------------------------------------------------------------------------------- */
static const TypeMods none = {0};

static void positions(qs_vm *vm) {
    qs_value cube = qarr_value(make_array(vm, QS_F32, 3, (int64_t[]){2, 3, 2}, NULL)), r;
    for (size_t k = 0; k < 12; k++) CHECK(qarr_put(vm, qval_array(cube), k, qs_num((double)k)) == QS_OK);
    qs_value pos = make_vec(vm, QS_F32, 3, (double[]){1, 2, 1}),
             longer = make_vec(vm, QS_I32, 4, (double[]){1, 0, 1, 0});
    qs_value shorter = make_vec(vm, QS_F32, 2, (double[]){1, 2}),
             wrong = make_vec(vm, QS_F32, 4, (double[]){1, 0, 1, 1});
    CHECK(qidx_get(vm, cube, &(Subscript){1, &pos, none, "x"}, &r) == QS_OK && r.kind == QS_NUM && r.u.f == 11);
    CHECK(qidx_get(vm, cube, &(Subscript){1, &longer, none, "x"}, &r) == QS_OK && r.u.f == 7);
    CHECK(qidx_set(vm, cube, &(Subscript){1, &pos, none, "x"}, qs_num(-1)) == QS_OK && number_at(vm, cube, 11) == -1);
    CHECK(qidx_update(vm, OP_ADD, cube, &(Subscript){1, &pos, none, "x"}, qs_num(5)) == QS_OK &&
          number_at(vm, cube, 11) == 4);
    CHECK_ERROR(vm, qidx_get(vm, cube, &(Subscript){1, &shorter, none, "x"}, &r), QS_EINDEX,
                "x has 3 dimensions, 1 index given");
    CHECK_ERROR(vm, qidx_get(vm, cube, &(Subscript){2, (qs_value[]){qs_num(0), qs_num(0)}, none, "x"}, &r), QS_EINDEX,
                "x has 3 dimensions, 2 indices given");
    CHECK_ERROR(vm, qidx_get(vm, cube, &(Subscript){1, &wrong, none, "x"}, &r), QS_EINDEX,
                "x has 3 dimensions, and 4 numbers as its only index are a place in 4: x[[0,1],:,:] has the rows 0 "
                "and 1");
    qs_value used[] = {cube, pos, longer, shorter, wrong};
    for (size_t i = 0; i < COUNT(used); i++) qval_release(vm, used[i]);
}

static void masks(qs_vm *vm) {
    double x[6] = {1, -2, 3, -4, 5, -6};
    qs_value m = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){2, 3}, x)), mask, r;
    CHECK(qarith_binary(vm, OP_LT, m, qs_num(0), &mask) == QS_OK);
    CHECK(qidx_get(vm, m, &(Subscript){1, &mask, none, "A"}, &r) == QS_OK && qval_array(r)->count == 3 &&
          number_at(vm, r, 2) == -6);
    CHECK(qidx_set(vm, m, &(Subscript){1, &mask, none, "A"}, qs_num(0)) == QS_OK && number_at(vm, m, 3) == 0 &&
          number_at(vm, m, 4) == 5);
    CHECK(qidx_set(vm, m, &(Subscript){1, &mask, none, "A"}, r) == QS_OK && number_at(vm, m, 5) == -6);
    CHECK(qidx_update(vm, OP_PWMUL, m, &(Subscript){1, &mask, none, "A"}, qs_num(-1)) == QS_OK &&
          number_at(vm, m, 1) == 2);
    qs_value other = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){2, 3}, (double[]){10, 20, 30, 40, 50, 60}));
    CHECK(qidx_set(vm, m, &(Subscript){1, &mask, none, "A"}, other) == QS_OK && number_at(vm, m, 5) == 60 &&
          number_at(vm, m, 4) == 5);
    qs_value two = make_vec(vm, QS_F32, 2, x), short_mask = make_vec(vm, QS_B1, 2, (double[]){0, 1});
    CHECK_ERROR(vm, qidx_set(vm, m, &(Subscript){1, &mask, none, "A"}, two), QS_ESHAPE,
                "cannot assign an array of 1x2 to a selection of 1x3 of A");
    CHECK_ERROR(vm, qidx_get(vm, m, &(Subscript){1, &short_mask, none, "A"}, &r), QS_ESHAPE,
                "a mask of shape 1x2 does not fit A");
    qval_release(vm, r);
    CHECK(qidx_get(vm, m, &(Subscript){2, (qs_value[]){short_mask, qval_colon()}, none, "A"}, &r) == QS_OK &&
          number_at(vm, r, 0) == 40);
    qval_release(vm, r);
    CHECK_ERROR(vm, qidx_get(vm, m, &(Subscript){2, (qs_value[]){qval_colon(), short_mask}, none, "A"}, &r), QS_ESHAPE,
                "a mask of 2 elements does not fit dimension 1 of A (size 3)");
    CHECK(qidx_get(vm, two, &(Subscript){1, &short_mask, none, NULL}, &r) == QS_OK && qval_array(r)->count == 1 &&
          number_at(vm, r, 0) == -2);
    qval_release(vm, r);
    Array *deep; /* a shape from outside: extents of 1 at its end do not count */
    CHECK(qarr_new(vm, QS_F32, 3, (int64_t[]){2, 3, 1}, true, &deep) == QS_OK);
    CHECK(qidx_set(vm, qarr_value(deep), &(Subscript){1, &mask, none, "A"}, qs_num(7)) == QS_OK &&
          number_at(vm, qarr_value(deep), 1) == 7);
    CHECK(qidx_get(vm, qarr_value(deep), &(Subscript){1, &mask, none, "A"}, &r) == QS_OK && qval_array(r)->count == 3);
    qarr_release(vm, deep);
    qs_value used[] = {m, mask, r, other, two, short_mask};
    for (size_t i = 0; i < COUNT(used); i++) qval_release(vm, used[i]);
}

static void whole(qs_vm *vm) {
    qs_value m = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){2, 2}, (double[]){1, 2, 3, 4})), all = qval_colon(),
             r;
    qs_value n = qarr_value(make_array(vm, QS_U8, 2, (int64_t[]){2, 2}, (double[]){5, 6, 7, 8})),
             v = make_vec(vm, QS_F32, 4, NULL);
    CHECK(qidx_get(vm, m, &(Subscript){1, &all, none, "m"}, &r) == QS_OK && r.u.p != m.u.p && qval_array(r)->rank == 2);
    CHECK(qidx_set(vm, m, &(Subscript){1, &all, none, "m"}, n) == QS_OK && number_at(vm, m, 3) == 8 &&
          qval_array(m)->dtype == QS_F32);
    CHECK(qidx_set(vm, m, &(Subscript){1, &all, none, "m"}, qs_num(0.5)) == QS_OK && number_at(vm, m, 0) == 0.5);
    CHECK(qidx_update(vm, OP_ADD, m, &(Subscript){1, &all, none, "m"}, n) == QS_OK && number_at(vm, m, 0) == 5.5);
    CHECK_ERROR(vm, qidx_set(vm, m, &(Subscript){1, &all, none, "m"}, v), QS_ESHAPE,
                "cannot assign an array of 1x4 to a selection of 2x2 of m");
    qs_value used[] = {m, n, v, r};
    for (size_t i = 0; i < COUNT(used); i++) qval_release(vm, used[i]);
}

/* x[1..4] = x[0..3] through a view: the result is as if the right side had been copied. */
static void aliasing(qs_vm *vm) {
    qs_value x = make_vec(vm, QS_F32, 5, (double[]){0, 1, 2, 3, 4}),
             at = make_vec(vm, QS_F32, 4, (double[]){1, 2, 3, 4});
    const size_t place[] = {3, 0, 4, 1};
    Array *view, *copy;
    CHECK(qarr_view(vm, qval_array(x), 1, (int64_t[]){4}, (int64_t[]){1}, 0, &view) == QS_OK);
    CHECK(qidx_set(vm, x, &(Subscript){1, &at, none, "x"}, qarr_value(view)) == QS_OK);
    for (size_t k = 1; k < 5; k++) CHECK(number_at(vm, x, k) == (double)(k - 1));
    CHECK(qidx_set(vm, x, &(Subscript){1, &x, none, "x"}, x) == QS_OK); /* its own index, too */
    qs_value turned = make_vec(vm, QS_F32, 4, (double[]){3, 0, 4, 1});
    CHECK(qarr_copy(vm, view, &copy) == QS_OK &&
          qidx_set(vm, x, &(Subscript){1, &turned, none, "x"}, qarr_value(view)) == QS_OK);
    for (size_t k = 0; k < 4; k++) CHECK(number_at(vm, x, place[k]) == number_at(vm, qarr_value(copy), k));
    qarr_release(vm, copy);
    qval_release(vm, turned);
    qarr_release(vm, view);
    qval_release(vm, x);
    qval_release(vm, at);
}

static void sentences(qs_vm *vm) {
    qs_value v = make_vec(vm, QS_F32, 4, NULL), m = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){2, 3}, NULL)), r,
             at[2];
    qs_value z, s = make_string(vm, "s"), three = make_vec(vm, QS_F32, 3, NULL),
                two = make_vec(vm, QS_F32, 2, (double[]){0, 1});
    at[0] = qs_num(7);
    CHECK_ERROR(vm, qidx_get(vm, v, &(Subscript){1, at, none, "x"}, &r), QS_EINDEX,
                "index 7 is outside dimension 1 of x (size 4)");
    CHECK_ERROR(vm, qidx_get(vm, v, &(Subscript){1, at, none, NULL}, &r), QS_EINDEX,
                "index 7 is outside dimension 1 (size 4)");
    at[0] = qs_num(-1), at[1] = qs_num(0);
    CHECK_ERROR(vm, qidx_set(vm, m, &(Subscript){2, at, none, "m"}, qs_num(1)), QS_EINDEX,
                "index -1 is outside dimension 0 of m (size 2)");
    CHECK(qidx_set(vm, m, &(Subscript){2, at, (TypeMods){ACC_SAFE, 0}, "m"}, qs_num(1)) == QS_OK &&
          number_at(vm, m, 0) == 0);
    CHECK(qidx_set(vm, m, &(Subscript){2, at, (TypeMods){ACC_CIRCULAR, 0}, "m"}, qs_num(1)) == QS_OK &&
          number_at(vm, m, 3) == 1);
    CHECK_ERROR(vm, qidx_get(vm, v, &(Subscript){2, (qs_value[]){qs_num(1), qs_num(0)}, none, "x"}, &r), QS_EINDEX,
                "index 1 is outside dimension 0 of x (size 1)");
    at[0] = qs_num(NAN);
    CHECK_ERROR(vm, qidx_get(vm, v, &(Subscript){1, at, none, "x"}, &r), QS_EINDEX, "an index of x is not a number");
    at[0] = qs_num(1e300);
    CHECK(qidx_get(vm, v, &(Subscript){1, at, (TypeMods){ACC_CLAMPED, 0}, "x"}, &r) == QS_OK);
    at[0] = s;
    CHECK_ERROR(vm, qidx_get(vm, v, &(Subscript){1, at, none, "x"}, &r), QS_ETYPE,
                "an index of x must be a number, a vector or :, got a value of type string");
    CHECK_ERROR(vm, qidx_get(vm, s, &(Subscript){1, at, none, "s"}, &r), QS_ETYPE,
                "an index of s must be a number, a vector or :, got a value of type string");
    at[0] = two;
    CHECK_ERROR(vm, qidx_set(vm, v, &(Subscript){1, at, none, "x"}, three), QS_ESHAPE,
                "cannot assign an array of 1x3 to a selection of 1x2 of x");
    CHECK(qval_complex(vm, 1, 1, &z) == QS_OK);
    CHECK_ERROR(vm, qidx_set(vm, v, &(Subscript){1, at, none, "x"}, z), QS_ETYPE,
                "an array of float32 cannot hold a complex number");
    CHECK_ERROR(vm, qidx_set(vm, v, &(Subscript){1, at, none, "x"}, s), QS_ETYPE,
                "an array of float32 holds numbers, got a value of type string");
    qs_value used[] = {v, m, s, three, two, z};
    for (size_t i = 0; i < COUNT(used); i++) qval_release(vm, used[i]);
}

/* A column takes a row of as many values; a cell item may be anything. */
static void assignments(qs_vm *vm) {
    qs_value m = qarr_value(make_array(vm, QS_F32, 2, (int64_t[]){2, 3}, NULL)),
             row = make_vec(vm, QS_F32, 2, (double[]){8, 9});
    CHECK(qidx_set(vm, m, &(Subscript){2, (qs_value[]){qval_colon(), qs_num(1)}, none, "m"}, row) == QS_OK &&
          number_at(vm, m, 4) == 9);
    CHECK(qidx_set(vm, m, &(Subscript){2, (qs_value[]){qs_num(0), qs_num(0)}, none, "m"}, qs_int(3)) == QS_OK &&
          number_at(vm, m, 0) == 3);
    qs_value c = make_cell(vm, 3, (qs_value[]){qs_num(1), qs_num(2), qs_num(3)}), at = qs_num(1), r = qs_nil();
    CHECK(qidx_set(vm, c, &(Subscript){1, &at, none, "c"}, row) == QS_OK &&
          qidx_get(vm, c, &(Subscript){1, &at, none, "c"}, &r) == QS_OK && r.u.p == row.u.p);
    qval_release(vm, r);
    CHECK(qidx_update(vm, OP_ADD, c, &(Subscript){1, &at, none, "c"}, qs_num(1)) == QS_OK &&
          number_at(vm, row, 0) == 8);
    CHECK(qidx_get(vm, c, &(Subscript){1, &at, none, "c"}, &r) == QS_OK && number_at(vm, r, 0) == 9);
    qval_release(vm, r);
    at = qs_num(3);
    CHECK_ERROR(vm, qidx_get(vm, c, &(Subscript){1, &at, none, "c"}, &r), QS_EINDEX,
                "index 3 is outside dimension 1 of c (size 3)");
    CHECK(qidx_get(vm, c, &(Subscript){1, &at, (TypeMods){ACC_MIRROR, 0}, "c"}, &r) == QS_OK && r.u.f == 3);
    qs_value used[] = {m, row, c};
    for (size_t i = 0; i < COUNT(used); i++) qval_release(vm, used[i]);
}

static void bounds(void) {
    int64_t i;
    CHECK(qselect_bound(ACC_MIRROR, -1, 4, &i) && i == 0 && qselect_bound(ACC_MIRROR, -2, 4, &i) && i == 1);
    CHECK(qselect_bound(ACC_MIRROR, 4, 4, &i) && i == 3 && qselect_bound(ACC_MIRROR, 8, 4, &i) && i == 0);
    CHECK(qselect_bound(ACC_MIRROR, -9, 4, &i) && i == 0 && qselect_bound(ACC_CIRCULAR, -1, 4, &i) && i == 3);
    CHECK(qselect_bound(ACC_CLAMPED, 99, 4, &i) && i == 3 && !qselect_bound(ACC_SAFE, 4, 4, &i) &&
          !qselect_bound(ACC_DEFAULT, -1, 4, &i));
    CHECK(!qselect_bound(ACC_MIRROR, 0, 0, &i) && !qselect_bound(ACC_CLAMPED, 0, 0, &i));
}

int main(void) {
    qs_vm *vm = machine_open();
    random_selections(vm, 40000);
    large(vm);
    result_shapes(vm);
    positions(vm);
    masks(vm);
    whole(vm);
    aliasing(vm);
    sentences(vm);
    assignments(vm);
    bounds();
    machine_close(vm);
    return check_done();
}
