/* Sorting: every dtype, length, direction and number of threads, compared with the C library; the order of equal
 * elements. */
#include "stdlib/stdlib.h"
#include "tests/unit/machine.h"
#include "vm/base/dtype.h"

#include <math.h>

static uint64_t seed = 5;
static uint64_t draw(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 11 ^ seed >> 40;
}

enum { THREADS = 4 };
static qs_vm *machine[THREADS]; /* with one thread, two, … */

typedef enum { ANY_BITS, SMALL_NUMBERS, NEAR_ONE, UP_AND_DOWN, KINDS } Kind;

/* Bit patterns of all sorts (NaN, infinities, denormals, both zeros); few distinct values; values that differ in the
 * last bits, which insertion sort alone cannot finish, with one distant value; values that rise and fall. */
static void fill(qs_dtype d, Kind kind, char *x, size_t n) {
    size_t size = qdtype_size(d);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = draw();
        if (d == QS_B1) bits &= 1;
        memcpy(x + i * size, &bits, size);
        if (kind == SMALL_NUMBERS) qdtype_put(d, x + i * size, (double)(draw() % 7) - (i % 3 ? 0 : 3));
        if (kind == SMALL_NUMBERS && i % 11 == 0 && d >= QS_F16) qdtype_put(d, x + i * size, i % 2 ? -0.0 : 0.0);
        if (kind == UP_AND_DOWN)
            qdtype_put(d, x + i * size, (double)((i < n / 2 ? i : n - i) % 100 * (size > 1 ? 300 : 1)));
        if (kind == NEAR_ONE) qdtype_put(d, x + i * size, i == n / 2 ? -1e30 : 1 + (double)(draw() % 4096) * 0x1p-50);
    }
}

static qs_dtype dtype;
static bool down;
static const void *base;
static double *key; /* the elements, rounded */

static int in_order(const void *a, const void *b) { /* sorts positions; equal ones by position */
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    double x = key[i], y = key[k];
    if (isnan(x) || isnan(y)) return isnan(x) != isnan(y) ? isnan(x) - isnan(y) : (i > k) - (i < k);
    int order = (x > y) - (x < y);
    const int64_t *s = base;
    const uint64_t *u = base;
    if (dtype == QS_I64) order = (s[i] > s[k]) - (s[i] < s[k]);
    if (dtype == QS_U64) order = (u[i] > u[k]) - (u[i] < u[k]);
    if (down) order = -order;
    return order ? order : (i > k) - (i < k);
}

static bool same_element(const char *p, const char *q) {
    double x = qdtype_get(dtype, p), y = qdtype_get(dtype, q);
    return (isnan(x) && isnan(y)) || !memcmp(p, q, qdtype_size(dtype));
}

/* Sorts the same line by each number of threads. */
static void check_line(qs_dtype d, Kind kind, size_t n, bool descend) {
    size_t size = qdtype_size(d), *want = malloc(n * sizeof *want);
    char *x = malloc(n * size), *y = malloc(n * size), *z = malloc(n * size);
    double *index = malloc(n * sizeof *index);
    ArrayLines one = {1, n, 1};
    fill(d, kind, x, n);
    dtype = d, down = descend, base = x, key = malloc(n * sizeof *key);
    for (size_t i = 0; i < n; i++) want[i] = i, key[i] = qdtype_get(d, x + i * size);
    qsort(want, n, sizeof *want, in_order);
    for (int m = 0; m < THREADS; m++) {
        qs_vm *vm = machine[m];
        CHECK(qsort_lines(vm, "sort", d, &one, descend, x, y, QS_F64, NULL) == QS_OK);
        qs_dtype place = kind == SMALL_NUMBERS ? QS_F32 : QS_F64;
        CHECK(qsort_lines(vm, "sort", d, &one, descend, x, z, place, index) == QS_OK);
        bool values = true, places = true;
        for (size_t i = 0; i < n; i++) {
            values =
                values && same_element(y + i * size, x + want[i] * size) && !memcmp(y + i * size, z + i * size, size);
            places = places && qdtype_get(place, (char *)index + i * qdtype_size(place)) == (double)want[i];
        }
        CHECK(values && places);
    }
    free(want), free(x), free(y), free(z), free(index), free(key);
}

/* Sorted lines across an array equal lines sorted one by one. */
static void check_lines(qs_vm *vm) {
    enum { OUTER = 3, N = 700, INNER = 20, COUNT = OUTER * N * INNER };
    static float x[COUNT], y[COUNT], line[N], want[N];
    static double index[COUNT];
    ArrayLines all = {OUTER, N, INNER}, one = {1, N, 1};
    for (size_t i = 0; i < COUNT; i++) x[i] = (float)(draw() % 1000);
    CHECK(qsort_lines(vm, "sort", QS_F32, &all, true, x, y, QS_F64, index) == QS_OK);
    bool ok = true;
    for (size_t k = 0; k < OUTER * INNER; k++) {
        size_t at = qstats_line_at(&all, k);
        for (size_t i = 0; i < N; i++) line[i] = x[at + i * INNER];
        CHECK(qsort_lines(vm, "sort", QS_F32, &one, true, line, want, QS_F64, NULL) == QS_OK);
        for (size_t i = 0; i < N; i++)
            ok = ok && y[at + i * INNER] == want[i] && line[(size_t)index[at + i * INNER]] == want[i];
    }
    CHECK(ok);
}

/* Sorts while another thread waits for the VM, and after an interrupt. */
static void check_safe_points(qs_vm *vm, const ArrayLines *l) {
    size_t count = l->outer * l->n * l->inner;
    float *x = malloc(count * sizeof *x), *y = malloc(count * sizeof *y), *z = malloc(count * sizeof *z);
    Machine *m = qvm(vm);
    fill(QS_F32, SMALL_NUMBERS, (char *)x, count);
    CHECK(qsort_lines(vm, "sort", QS_F32, l, false, x, y, QS_F64, NULL) == QS_OK);
    qflag_raise(&m->attention);
    CHECK(qsort_lines(vm, "sort", QS_F32, l, false, x, z, QS_F64, NULL) == QS_OK);
    CHECK(!qflag_is_up(&m->attention) && !memcmp(y, z, count * sizeof *y));
    qs_interrupt(vm);
    CHECK(qsort_lines(vm, "sort", QS_F32, l, false, x, z, QS_F64, NULL) == QS_EINTERRUPT);
    qerr_clear(qvm_ctx(vm));
    free(x), free(y), free(z);
}

static void check_distinct(void) {
    double x[] = {-2, -2, -0.0, 0, 1, NAN, NAN};
    int8_t small[] = {-3, -3, 4};
    CHECK(qsort_distinct(QS_F64, x, 7) == 4 && x[0] == -2 && x[1] == 0 && x[2] == 1 && isnan(x[3]));
    CHECK(qsort_distinct(QS_I8, small, 3) == 2 && small[1] == 4 && qsort_distinct(QS_F32, x, 0) == 0);
}

static void check_items(void) {
    SortItem items[400], spare[400];
    float x[400];
    for (size_t i = 0; i < 400; i++) x[i] = (float)(draw() % 50) - 20;
    qsort_items(QS_F32, x, 200, 0, items), qsort_items(QS_F32, x + 200, 200, 200, items + 200);
    const SortItem *sorted = qsort_by_key(items, spare, 400);
    bool ok = true;
    for (size_t i = 1; i < 400; i++) {
        size_t a = sorted[i - 1].at, b = sorted[i].at;
        ok = ok && (x[a] < x[b] || (x[a] == x[b] && a < b));
    }
    CHECK(ok);
}

int main(void) {
    static const size_t lengths[] = {1, 2, 3, 63, 64, 65, 1000, 9000, 32767, 32768, 200001};
    for (int m = 0; m < THREADS; m++) machine[m] = machine_open(), qvm_ctx(machine[m])->nthreads = m + 1;
    for (qs_dtype d = QS_B1; d <= QS_F64; d++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (int kind = 0; kind < KINDS; kind++) check_line(d, (Kind)kind, lengths[i], kind == 1);
    check_line(QS_F32, ANY_BITS, 5000, true);
    check_line(QS_F64, ANY_BITS, 150000, true);
    check_line(QS_F32, ANY_BITS, 1100000, false);
    check_line(QS_U16, ANY_BITS, 70000, true);
    for (int m = 0; m < 2; m++) {
        check_safe_points(machine[m], &(ArrayLines){1, 1200000, 1});
        check_safe_points(machine[m], &(ArrayLines){9000, 300, 1});
        check_safe_points(machine[m], &(ArrayLines){1, 300, 9000});
    }
    for (int m = 0; m < THREADS; m++) check_lines(machine[m]), machine_close(machine[m]);
    check_distinct();
    check_items();
    return check_done();
}
