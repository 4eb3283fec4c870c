/* fake_cuda_math.c -- see fake_cuda_math.h.  Straight from the definitions, in double.  A call checks its arguments and
 * queues the work on the stream of its handle, as the real libraries do. */
#include "tests/support/driver/fake_cuda.h"
#include "tests/support/driver/fake_cuda_math.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef double complex Number;
enum { OK, EXEC_FAILED = 13, HANDLES = 4, PLANS = 64, C2C = 0x29 };

static FakeMath fake = {.fail_after = -1};
typedef struct { bool alive, workspace; void *stream; } Library;
static Library blas[HANDLES], solver[HANDLES];
typedef struct {
    bool alive, made, own_area;
    void *stream;
    int rank, n[3], stride, apart, type, batch;
    uint64_t area;
} Plan;
static Plan plans[PLANS];

#define CUMATH(lib, name, symbol, args) int fake_##name args __asm__(symbol);
#include "devices/cuda_math.def"

FakeMath *fake_math(void) { return &fake; }

static int begin(const char *name) {
    size_t n = strlen(fake.log);
    if (n + strlen(name) + 2 < sizeof fake.log) snprintf(fake.log + n, sizeof fake.log - n, "%s ", name);
    if (fake.full && !strcmp(fake.full, name)) return fake.fail_with;
    if (fake.fail_after < 0 || fake.fail_after-- != 0) return OK;
    snprintf(fake.failed, sizeof fake.failed, "%s", name);
    return fake.fail_with;
}
#define BEGIN(name)                                                                                                    \
    int error = begin(name);                                                                                           \
    if (error) return error

static int misused(void) { return fake.misuse++, EXEC_FAILED; }

/* What the libraries would not survive is a failure of the process. */
__attribute__((destructor)) static void end(void) {
    if (!fake.misuse) return;
    fflush(stdout);
    fprintf(stderr, "misuse of a library: %.400s\n", fake.log);
    _exit(70);
}

static void *at(uint64_t p) { return (void *)(uintptr_t)p; }

static int make_handle(Library *all, void **handle) {
    int i = 0;
    while (i < HANDLES && all[i].alive) i++;
    if (i == HANDLES) return misused();
    all[i] = (Library){.alive = true};
    fake.handles++;
    return *handle = &all[i], OK;
}

static Library *alive(Library *all, void *handle) {
    for (int i = 0; i < HANDLES; i++)
        if (handle == &all[i]) return all[i].alive ? &all[i] : NULL;
    return NULL;
}

static int end_handle(Library *all, void *handle) {
    Library *l = alive(all, handle);
    if (!l) return misused();
    l->alive = false;
    return fake.handles--, OK;
}

static int set_stream(Library *all, void *handle, void *stream) {
    Library *l = alive(all, handle);
    if (!l || !stream) return misused();
    return l->stream = stream, OK;
}

/* A call whose arguments are checked.  Numbers of the host are read when it is made, memory of the device when it
 * runs. */
typedef struct Job {
    void (*work)(const struct Job *);
    int kind, ta, tb, m, n, k, lda, ldb, ldc, info;
    uint64_t a, b, c, values, area, told;
    double by;
    Plan plan;
} Job;

static void run_job(void *job) { ((const Job *)job)->work(job); }

static int queue(void *stream, const Job *job) {
    return ((const FakeStream *)stream)->queue(stream, run_job, job, sizeof *job), OK;
}

/* -- cuBLAS -------------------------------------------------------------------------------------------------------- */
static Library *ready(void *handle) {
    Library *l = alive(blas, handle);
    return l && l->stream && l->workspace ? l : NULL;
}

static int queue_blas(void *handle, const Job *job) { return queue(ready(handle)->stream, job); }

int fake_BlasCreate(void **handle) {
    BEGIN("BlasCreate");
    return make_handle(blas, handle);
}

int fake_BlasDestroy(void *handle) {
    int error = begin("BlasDestroy"), wrong = end_handle(blas, handle);
    return wrong ? wrong : error;
}

int fake_BlasSetStream(void *handle, void *stream) {
    BEGIN("BlasSetStream");
    return set_stream(blas, handle, stream);
}

int fake_BlasSetWorkspace(void *handle, uint64_t block, size_t n) {
    BEGIN("BlasSetWorkspace");
    Library *l = alive(blas, handle);
    if (!l || !block || !n) return misused();
    return l->workspace = true, OK;
}

enum { SINGLE, DOUBLE, COMPLEX_SINGLE, COMPLEX_DOUBLE };
enum { LOWER };

static Number get(int kind, const void *p, int64_t i) {
    switch (kind) {
    case SINGLE: return ((const float *)p)[i];
    case DOUBLE: return ((const double *)p)[i];
    case COMPLEX_SINGLE: return ((const float complex *)p)[i];
    default: return ((const Number *)p)[i];
    }
}

static void put(int kind, void *p, int64_t i, Number v) {
    switch (kind) {
    case SINGLE: ((float *)p)[i] = (float)creal(v); break;
    case DOUBLE: ((double *)p)[i] = creal(v); break;
    case COMPLEX_SINGLE: ((float complex *)p)[i] = (float complex)v; break;
    default: ((Number *)p)[i] = v; break;
    }
}

static void multiply(const Job *q) {
    for (int j = 0; j < q->n; j++)
        for (int i = 0; i < q->m; i++) {
            Number sum = 0;
            for (int64_t l = 0; l < q->k; l++)
                sum += get(q->kind, at(q->a), q->ta ? i * (int64_t)q->lda + l : l * q->lda + i) *
                       get(q->kind, at(q->b), q->tb ? l * q->ldb + j : j * (int64_t)q->ldb + l);
            put(q->kind, at(q->c), (int64_t)j * q->ldc + i, sum);
        }
}

static int product(int kind, void *handle, int ta, int tb, int m, int n, int k, const void *alpha, uint64_t a, int lda,
                   uint64_t b, int ldb, const void *beta, uint64_t c, int ldc) {
    bool bad = ta < 0 || ta > 1 || tb < 0 || tb > 1 || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m;
    bool plain = get(kind, alpha, 0) == 1 && get(kind, beta, 0) == 0;
    if (!ready(handle) || bad || !a || !b || !c || !plain) return misused();
    return queue_blas(handle, &(Job){.work = multiply, .kind = kind, .ta = ta, .tb = tb, .m = m, .n = n, .k = k, .a = a,
                                     .lda = lda, .b = b, .ldb = ldb, .c = c, .ldc = ldc});
}

#define GEMM(name, kind, type)                                                                                         \
    int fake_##name(void *h, int ta, int tb, int m, int n, int k, const type *alpha, uint64_t a, int lda, uint64_t b,  \
                    int ldb, const type *beta, uint64_t c, int ldc) {                                                  \
        BEGIN(#name);                                                                                                  \
        return product(kind, h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                 \
    }
GEMM(Sgemm, SINGLE, float)
GEMM(Dgemm, DOUBLE, double)
GEMM(Cgemm, COMPLEX_SINGLE, void)
GEMM(Zgemm, COMPLEX_DOUBLE, void)

static void copy_vector(const Job *q) {
    for (int64_t i = 0; i < q->n; i++) put(q->kind, at(q->b), i * q->ldb, get(q->kind, at(q->a), i * q->lda));
}

#define COPY(name, kind_)                                                                                              \
    int fake_##name(void *h, int n, uint64_t x, int dx, uint64_t y, int dy) {                                          \
        BEGIN(#name);                                                                                                  \
        if (!ready(h) || !x || !y) return misused();                                                                   \
        return queue_blas(h, &(Job){.work = copy_vector, .kind = kind_, .n = n, .a = x, .lda = dx, .b = y,             \
                                    .ldb = dy});                                                                       \
    }
COPY(Scopy, SINGLE)
COPY(Dcopy, DOUBLE)

static void scale_vector(const Job *q) {
    for (int64_t i = 0; i < q->n; i++) put(q->kind, at(q->a), i, get(q->kind, at(q->a), i) * q->by);
}

#define SCALE(name, kind_, type)                                                                                       \
    int fake_##name(void *h, int n, const type *by, uint64_t x, int dx) {                                              \
        BEGIN(#name);                                                                                                  \
        if (!ready(h) || !x || dx != 1) return misused();                                                              \
        return queue_blas(h, &(Job){.work = scale_vector, .kind = kind_, .n = n, .a = x, .by = (double)*by});          \
    }
SCALE(Csscal, COMPLEX_SINGLE, float)
SCALE(Zdscal, COMPLEX_DOUBLE, double)

static void turn_matrix(const Job *q) {
    for (int j = 0; j < q->n; j++)
        for (int i = 0; i < q->m; i++)
            put(q->kind, at(q->c), (int64_t)j * q->ldc + i,
                get(q->kind, at(q->a), q->ta ? i * (int64_t)q->lda + j : j * (int64_t)q->lda + i));
}

static int copy_matrix(int kind, void *handle, int ta, int tb, int m, int n, const void *alpha, uint64_t a, int lda,
                       const void *beta, uint64_t b, int ldb, uint64_t c, int ldc) {
    bool bad = ta < 0 || ta > 1 || tb || m < 1 || n < 1 || lda < (ta ? n : m) || ldc < m || b != c || ldb != ldc;
    bool plain = get(kind, alpha, 0) == 1 && get(kind, beta, 0) == 0;
    if (!ready(handle) || bad || !a || !c || !plain) return misused();
    return queue_blas(handle, &(Job){.work = turn_matrix, .kind = kind, .ta = ta, .m = m, .n = n, .a = a, .lda = lda,
                                     .c = c, .ldc = ldc});
}

static void pack_half(const Job *q) {
    int64_t packed = 0;
    for (int j = 0; j < q->n; j++)
        for (int i = j; i < q->n; i++, packed++)
            put(q->kind, at(q->b), packed, get(q->kind, at(q->a), (int64_t)j * q->lda + i));
}

static void unpack_half(const Job *q) {
    int64_t packed = 0;
    for (int j = 0; j < q->n; j++)
        for (int i = j; i < q->n; i++, packed++)
            put(q->kind, at(q->a), (int64_t)j * q->lda + i, get(q->kind, at(q->b), packed));
}

/* Of the lower half, to packed form or back. */
static int pack(int kind, void *handle, int half, int n, uint64_t a, int lda, uint64_t packed, bool back) {
    if (!ready(handle) || half != LOWER || n < 1 || lda < n || !a || !packed) return misused();
    return queue_blas(handle, &(Job){.work = back ? unpack_half : pack_half, .kind = kind, .n = n, .a = a, .lda = lda,
                                     .b = packed});
}

#define FOUR(X) X(S, SINGLE) X(D, DOUBLE) X(C, COMPLEX_SINGLE) X(Z, COMPLEX_DOUBLE)
#define MATRICES(type, kind)                                                                                           \
    int fake_##type##geam(void *h, int ta, int tb, int m, int n, const void *alpha, uint64_t a, int lda,               \
                          const void *beta, uint64_t b, int ldb, uint64_t c, int ldc) {                                \
        BEGIN(#type "geam");                                                                                           \
        return copy_matrix(kind, h, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);                                \
    }                                                                                                                  \
    int fake_##type##trttp(void *h, int half, int n, uint64_t a, int lda, uint64_t packed) {                           \
        BEGIN(#type "trttp");                                                                                          \
        return pack(kind, h, half, n, a, lda, packed, false);                                                          \
    }                                                                                                                  \
    int fake_##type##tpttr(void *h, int half, int n, uint64_t packed, uint64_t a, int lda) {                           \
        BEGIN(#type "tpttr");                                                                                          \
        return pack(kind, h, half, n, a, lda, packed, true);                                                           \
    }
FOUR(MATRICES)

/* -- cuSOLVER ------------------------------------------------------------------------------------------------------ */
int fake_SolverCreate(void **handle) {
    BEGIN("SolverCreate");
    return make_handle(solver, handle);
}

int fake_SolverDestroy(void *handle) {
    int error = begin("SolverDestroy"), wrong = end_handle(solver, handle);
    return wrong ? wrong : error;
}

int fake_SolverSetStream(void *handle, void *stream) {
    BEGIN("SolverSetStream");
    return set_stream(solver, handle, stream);
}

static Library *can_solve(void *handle) {
    Library *l = alive(solver, handle);
    return l && l->stream ? l : NULL;
}

static int queue_solver(void *handle, const Job *job) { return queue(can_solve(handle)->stream, job); }

static int ask_area(void *handle, int n, uint64_t a, int lda, int *area) {
    if (!can_solve(handle) || n < 1 || lda < n || !a) return misused();
    return *area = 3 * n, OK;
}

static const size_t size_of[] = {[SINGLE] = 4, [DOUBLE] = 8, [COMPLEX_SINGLE] = 8, [COMPLEX_DOUBLE] = 16};


/* Elements of a matrix by columns. */
typedef struct { int kind, apart; void *p; } Matrix;
static Number element(const Matrix *m, int i, int j) { return get(m->kind, m->p, (int64_t)j * m->apart + i); }
static void set_element(const Matrix *m, int i, int j, Number v) { put(m->kind, m->p, (int64_t)j * m->apart + i, v); }

static void swap_rows(const Matrix *m, int columns, int i, int k) {
    for (int j = 0; j < columns && i != k; j++) {
        Number v = element(m, i, j);
        set_element(m, i, j, element(m, k, j)), set_element(m, k, j, v);
    }
}

static int pivot(const Matrix *m, int n, int j) {
    int best = j;
    for (int i = j + 1; i < n; i++)
        if (cabs(element(m, i, j)) > cabs(element(m, best, j))) best = i;
    return best;
}

static int eliminate(const Matrix *m, int n, int *pivots) {
    int info = 0;
    for (int j = 0; j < n; j++) {
        pivots[j] = pivot(m, n, j) + 1;
        swap_rows(m, n, j, pivots[j] - 1);
        if (element(m, j, j) == 0) {
            info = info ? info : j + 1;
            continue;
        }
        for (int i = j + 1; i < n; i++) {
            Number f = element(m, i, j) / element(m, j, j);
            set_element(m, i, j, f);
            for (int k = j + 1; k < n; k++) set_element(m, i, k, element(m, i, k) - f * element(m, j, k));
        }
    }
    return info;
}

/* The lower triangle solved from the top, or the upper one from the bottom; of the matrix or of its transpose. */
static void substitute(const Matrix *m, int n, bool lower, bool turned, bool unit, const Matrix *x, int column) {
    bool down = lower != turned;
    for (int step = 0; step < n; step++) {
        int i = down ? step : n - 1 - step;
        Number v = element(x, i, column);
        for (int k = down ? 0 : i + 1; k < (down ? i : n); k++)
            v -= (turned ? element(m, k, i) : element(m, i, k)) * element(x, k, column);
        set_element(x, i, column, unit ? v : v / element(m, i, i));
    }
}

static void solve(const Matrix *m, int n, bool turned, const int *pivots, const Matrix *x, int columns) {
    for (int i = 0; i < n && !turned; i++) swap_rows(x, columns, i, pivots[i] - 1);
    for (int j = 0; j < columns; j++) {
        substitute(m, n, !turned, turned, !turned, x, j);
        substitute(m, n, turned, turned, turned, x, j);
    }
    for (int i = n - 1; i >= 0 && turned; i--) swap_rows(x, columns, i, pivots[i] - 1);
}

/* The lower half becomes the factor; the order of the first minor that is not positive, or 0. */
static int cholesky(const Matrix *m, int n) {
    for (int j = 0; j < n; j++) {
        double d = creal(element(m, j, j));
        for (int k = 0; k < j; k++) d -= creal(element(m, j, k) * conj(element(m, j, k)));
        if (!(d > 0)) return j + 1;
        set_element(m, j, j, sqrt(d));
        for (int i = j + 1; i < n; i++) {
            Number v = element(m, i, j);
            for (int k = 0; k < j; k++) v -= element(m, i, k) * conj(element(m, j, k));
            set_element(m, i, j, v / sqrt(d));
        }
    }
    return 0;
}

/* -- factorizations: vectors get signs and phases that differ from LAPACK's on purpose ----------------------------- */
enum { MOST = 512 };

static Number column_product(const Matrix *m, int rows, int i, int j) {
    Number sum = 0;
    for (int r = 0; r < rows; r++) sum += conj(element(m, r, i)) * element(m, r, j);
    return sum;
}

/* Reflections 1 - f v adjoint(v), v[j] = 1 in row j, the rest below the diagonal. */
static void reflect(const Matrix *m, const Matrix *by, int rows, int j, Number f, int column) {
    Number sum = element(m, j, column);
    for (int i = j + 1; i < rows; i++) sum += conj(element(by, i, j)) * element(m, i, column);
    sum *= f;
    set_element(m, j, column, element(m, j, column) - sum);
    for (int i = j + 1; i < rows; i++) set_element(m, i, column, element(m, i, column) - element(by, i, j) * sum);
}

static void reduce(const Matrix *m, int rows, int columns, const Matrix *factors) {
    for (int j = 0; j < columns && j < rows; j++) {
        double length = 0;
        Number a = element(m, j, j);
        for (int i = j; i < rows; i++) length += creal(element(m, i, j) * conj(element(m, i, j)));
        Number d = -(cabs(a) > 0 ? a / cabs(a) : 1) * sqrt(length), f = length > 0 ? (d - a) / d : 0;
        for (int i = j + 1; i < rows && length > 0; i++) set_element(m, i, j, element(m, i, j) / (a - d));
        set_element(factors, j, 0, f);
        for (int k = j + 1; k < columns; k++) reflect(m, m, rows, j, conj(f), k);
        if (length > 0) set_element(m, j, j, d);
    }
}

static void expand(const Matrix *m, int rows, int k, const Matrix *factors) {
    static Number q[MOST * MOST];
    Matrix out = {COMPLEX_DOUBLE, rows, q};
    memset(q, 0, (size_t)rows * (size_t)k * sizeof *q);
    for (int c = 0; c < k; c++) {
        set_element(&out, c, c, 1);
        for (int j = k - 1; j >= 0; j--) reflect(&out, m, rows, j, element(factors, j, 0), c);
    }
    for (int c = 0; c < k; c++)
        for (int i = 0; i < rows; i++) set_element(m, i, c, element(&out, i, c));
}

/* Columns i and j, times [c, s; -conj(s), c]. */
static void rotate(const Matrix *m, int rows, int i, int j, double c, Number s) {
    for (int r = 0; r < rows; r++) {
        Number x = element(m, r, i), y = element(m, r, j);
        set_element(m, r, i, c * x - conj(s) * y), set_element(m, r, j, s * x + c * y);
    }
}

/* The rotation that makes the Hermitian [p, o; conj(o), q] diagonal. */
static double angle(double p, double q, Number o, Number *s) {
    double z = (q - p) / (2 * cabs(o)), t = (z < 0 ? -1 : 1) / (fabs(z) + sqrt(1 + z * z)), c = 1 / sqrt(1 + t * t);
    return *s = t * c * o / cabs(o), c;
}

/* Rotates columns until they are orthogonal; v, n by n, becomes the product of the rotations. */
static void orthogonalize(const Matrix *m, int rows, int n, const Matrix *v) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) set_element(v, i, j, i == j);
    for (int turn = 0, busy = 1; turn < 60 && busy; turn++) {
        busy = 0;
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                double p = creal(column_product(m, rows, i, i)), q = creal(column_product(m, rows, j, j));
                Number o = column_product(m, rows, i, j), s;
                if (cabs(o) <= 1e-15 * sqrt(p * q)) continue;
                double c = angle(p, q, o, &s);
                rotate(m, rows, i, j, c, s), rotate(v, n, i, j, c, s);
                busy = 1;
            }
    }
}

static Number odd_sign(int kind, int k) {
    return kind < COMPLEX_SINGLE ? (k % 3 ? -1 : 1) : cexp(I * (double)k);
}

/* Positions 0 … n-1 in the order of keys. */
static void put_in_order(const double *key, int n, bool falling, int *order) {
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0 && (falling ? key[order[k - 1]] < key[i] : key[order[k - 1]] > key[i]); k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

static void singular_values(const Matrix *a, int rows, int n, void *values, const Matrix *u, const Matrix *vt) {
    static Number work[MOST * MOST], right[MOST * MOST];
    double length[MOST];
    int order[MOST], real = a->kind % 2;
    Matrix m = {COMPLEX_DOUBLE, rows, work}, v = {COMPLEX_DOUBLE, n, right};
    for (int j = 0; j < n; j++)
        for (int i = 0; i < rows; i++) set_element(&m, i, j, element(a, i, j));
    orthogonalize(&m, rows, n, &v);
    for (int j = 0; j < n; j++) length[j] = sqrt(creal(column_product(&m, rows, j, j)));
    put_in_order(length, n, true, order);
    for (int k = 0; k < n; k++) {
        int j = order[k];
        Number sign = odd_sign(a->kind, k);
        put(real, values, k, length[j]);
        for (int i = 0; u && i < rows; i++) set_element(u, i, k, sign * element(&m, i, j) / length[j]);
        for (int i = 0; u && i < n; i++) set_element(vt, k, i, conj(sign * element(&v, i, j)));
    }
}

/* Of the lower half.  A shift makes all values positive: then the singular ones are these, and so are the vectors. */
static void eigenvalues(const Matrix *a, int n, bool vectors, void *values) {
    static Number work[MOST * MOST], right[MOST * MOST];
    double shift = 1, key[MOST];
    int order[MOST], real = a->kind % 2;
    Matrix m = {COMPLEX_DOUBLE, n, work}, v = {COMPLEX_DOUBLE, n, right};
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            Number x = i == j ? creal(element(a, i, j)) : element(a, i, j);
            set_element(&m, i, j, x), set_element(&m, j, i, conj(x));
        }
    for (int j = 0; j < n; j++) {
        double sum = 1;
        for (int i = 0; i < n; i++) sum += cabs(element(&m, i, j));
        shift = fmax(shift, sum);
    }
    for (int j = 0; j < n; j++) set_element(&m, j, j, element(&m, j, j) + shift);
    orthogonalize(&m, n, n, &v);
    for (int j = 0; j < n; j++) key[j] = sqrt(creal(column_product(&m, n, j, j))) - shift;
    put_in_order(key, n, false, order);
    for (int k = 0; k < n; k++) {
        put(real, values, k, key[order[k]]);
        for (int i = 0; vectors && i < n; i++) set_element(a, i, k, odd_sign(a->kind, k) * element(&v, i, order[k]));
    }
}

/* What else was in the area is lost. */
static void use_area(const Job *q) { memset(at(q->area), 0x7f, 3 * (size_t)q->n * size_of[q->kind]); }
static void answer(const Job *q, int info) { *(int *)at(q->told) = info; }
static Matrix matrix_a(const Job *q) { return (Matrix){q->kind, q->lda, at(q->a)}; }

static void do_geqrf(const Job *q) {
    Matrix a = matrix_a(q);
    use_area(q);
    reduce(&a, q->m, q->n, &(Matrix){q->kind, q->m, at(q->values)});
    answer(q, 0);
}

static void do_orgqr(const Job *q) {
    Matrix a = matrix_a(q);
    use_area(q);
    expand(&a, q->m, q->k, &(Matrix){q->kind, q->m, at(q->values)});
    answer(q, 0);
}

static void do_gesvd(const Job *q) {
    Matrix a = matrix_a(q), u = {q->kind, q->ldb, at(q->b)}, v = {q->kind, q->ldc, at(q->c)};
    use_area(q);
    answer(q, q->info);
    if (q->info) return;
    singular_values(&a, q->m, q->n, at(q->values), q->ta ? &u : NULL, q->ta ? &v : NULL);
    memset(at(q->a), 0x7f, (size_t)q->lda * (size_t)q->n * size_of[q->kind]); /* it is not kept */
}

static void do_syevd(const Job *q) {
    Matrix a = matrix_a(q);
    use_area(q);
    answer(q, q->info);
    if (!q->info) eigenvalues(&a, q->n, q->ta, at(q->values));
}

static void do_getrf(const Job *q) {
    Matrix a = matrix_a(q);
    use_area(q);
    answer(q, eliminate(&a, q->n, at(q->values)));
}

static void do_getrs(const Job *q) {
    Matrix a = matrix_a(q);
    solve(&a, q->n, q->ta, at(q->values), &(Matrix){q->kind, q->ldb, at(q->b)}, q->k);
    answer(q, 0);
}

static void do_potrf(const Job *q) {
    Matrix a = matrix_a(q);
    use_area(q);
    answer(q, cholesky(&a, q->n));
}

#define FACTORS(type, kind_)                                                                                           \
    int fake_##type##geqrfArea(void *h, int m, int n, uint64_t a, int lda, int *area) {                                \
        BEGIN(#type "geqrfArea");                                                                                      \
        return lda < m ? misused() : ask_area(h, n, a, n, area);                                                       \
    }                                                                                                                  \
    int fake_##type##geqrf(void *h, int m, int n, uint64_t a, int lda, uint64_t factors, uint64_t area, int size,      \
                           uint64_t info) {                                                                            \
        BEGIN(#type "geqrf");                                                                                          \
        if (!can_solve(h) || lda < m || size < 3 * n || !a || !factors || !area || !info) return misused();            \
        return queue_solver(h, &(Job){.work = do_geqrf, .kind = kind_, .m = m, .n = n, .a = a, .lda = lda,             \
                                      .values = factors, .area = area, .told = info});                                 \
    }                                                                                                                  \
    int fake_##type##orgqrArea(void *h, int m, int n, int k, uint64_t a, int lda, uint64_t factors, int *area) {       \
        BEGIN(#type "orgqrArea");                                                                                      \
        return lda < m || n > m || k > n || !factors ? misused() : ask_area(h, n, a, n, area);                         \
    }                                                                                                                  \
    int fake_##type##orgqr(void *h, int m, int n, int k, uint64_t a, int lda, uint64_t factors, uint64_t area,         \
                           int size, uint64_t info) {                                                                  \
        BEGIN(#type "orgqr");                                                                                          \
        bool bad = lda < m || n > m || k != n || m > MOST || size < 3 * n;                                             \
        if (!can_solve(h) || bad || !a || !factors || !area || !info) return misused();                                \
        return queue_solver(h, &(Job){.work = do_orgqr, .kind = kind_, .m = m, .n = n, .k = k, .a = a, .lda = lda,     \
                                      .values = factors, .area = area, .told = info});                                 \
    }                                                                                                                  \
    int fake_##type##gesvdArea(void *h, int m, int n, int *area) {                                                     \
        BEGIN(#type "gesvdArea");                                                                                      \
        return m < n ? misused() : ask_area(h, n, 1, n, area);                                                         \
    }                                                                                                                  \
    int fake_##type##gesvd(void *h, signed char u_wanted, signed char v_wanted, int m, int n, uint64_t a, int lda,     \
                           uint64_t values, uint64_t u, int ldu, uint64_t v, int ldv, uint64_t area, int size,         \
                           uint64_t spare, uint64_t info) {                                                            \
        BEGIN(#type "gesvd");                                                                                          \
        bool wanted = u_wanted == 'S', bad = u_wanted != v_wanted || (!wanted && u_wanted != 'N') || m < n;            \
        bad = bad || m > MOST || lda < m || (wanted && (!u || !v || ldu < m || ldv < n)) || size < 3 * n || !spare;    \
        if (!can_solve(h) || bad || !a || !values || !area || !info) return misused();                                 \
        return queue_solver(h, &(Job){.work = do_gesvd, .kind = kind_, .ta = wanted, .m = m, .n = n, .a = a,           \
                                      .lda = lda, .values = values, .b = u, .ldb = ldu, .c = v, .ldc = ldv,            \
                                      .area = area, .told = info, .info = fake.info});                                 \
    }                                                                                                                  \
    int fake_##type##syevdArea(void *h, int vectors, int half, int n, uint64_t a, int lda, uint64_t values,            \
                               int *area) {                                                                            \
        BEGIN(#type "syevdArea");                                                                                      \
        return half != LOWER || vectors < 0 || vectors > 1 || !values ? misused() : ask_area(h, n, a, lda, area);      \
    }                                                                                                                  \
    int fake_##type##syevd(void *h, int vectors, int half, int n, uint64_t a, int lda, uint64_t values, uint64_t area, \
                           int size, uint64_t info) {                                                                  \
        BEGIN(#type "syevd");                                                                                          \
        bool bad = half != LOWER || vectors < 0 || vectors > 1 || lda < n || n > MOST || size < 3 * n;                 \
        if (!can_solve(h) || bad || !a || !values || !area || !info) return misused();                                 \
        return queue_solver(h, &(Job){.work = do_syevd, .kind = kind_, .ta = vectors, .n = n, .a = a, .lda = lda,      \
                                      .values = values, .area = area, .told = info, .info = fake.info});               \
    }
FOUR(FACTORS)

#define SOLVER(type, kind_)                                                                                            \
    int fake_##type##getrfArea(void *h, int m, int n, uint64_t a, int lda, int *area) {                                \
        BEGIN(#type "getrfArea");                                                                                      \
        return m == n ? ask_area(h, n, a, lda, area) : misused();                                                      \
    }                                                                                                                  \
    int fake_##type##getrf(void *h, int m, int n, uint64_t a, int lda, uint64_t area, uint64_t pivots,                 \
                           uint64_t info) {                                                                            \
        BEGIN(#type "getrf");                                                                                          \
        if (!can_solve(h) || m != n || lda < n || !a || !area || !pivots || !info) return misused();                   \
        return queue_solver(h, &(Job){.work = do_getrf, .kind = kind_, .n = n, .a = a, .lda = lda, .values = pivots,   \
                                      .area = area, .told = info});                                                    \
    }                                                                                                                  \
    int fake_##type##getrs(void *h, int turned, int n, int columns, uint64_t a, int lda, uint64_t pivots, uint64_t b,  \
                           int ldb, uint64_t info) {                                                                   \
        BEGIN(#type "getrs");                                                                                          \
        bool bad = turned < 0 || turned > 1 || lda < n || ldb < n || columns < 1;                                      \
        if (!can_solve(h) || bad || !a || !b || !pivots || !info) return misused();                                    \
        return queue_solver(h, &(Job){.work = do_getrs, .kind = kind_, .ta = turned, .n = n, .k = columns, .a = a,     \
                                      .lda = lda, .values = pivots, .b = b, .ldb = ldb, .told = info});                \
    }                                                                                                                  \
    int fake_##type##potrfArea(void *h, int half, int n, uint64_t a, int lda, int *area) {                             \
        BEGIN(#type "potrfArea");                                                                                      \
        return half == LOWER ? ask_area(h, n, a, lda, area) : misused();                                               \
    }                                                                                                                  \
    int fake_##type##potrf(void *h, int half, int n, uint64_t a, int lda, uint64_t area, int size, uint64_t info) {    \
        BEGIN(#type "potrf");                                                                                          \
        bool bad = half != LOWER || lda < n || size < 3 * n;                                                           \
        if (!can_solve(h) || bad || !a || !area || !info) return misused();                                            \
        return queue_solver(h, &(Job){.work = do_potrf, .kind = kind_, .n = n, .a = a, .lda = lda, .area = area,       \
                                      .told = info});                                                                  \
    }
FOUR(SOLVER)

/* -- cuFFT --------------------------------------------------------------------------------------------------------- */
static bool is_plan(int p) { return p > 0 && p < PLANS && plans[p].alive; }

int fake_FftCreate(int *plan) {
    BEGIN("FftCreate");
    int p = 1;
    while (p < PLANS && plans[p].alive) p++;
    if (p == PLANS) return misused();
    memset(&plans[p], 0, sizeof plans[p]), plans[p].alive = true, plans[p].own_area = true;
    fake.plans++;
    return *plan = p, OK;
}

int fake_FftDestroy(int p) {
    int error = begin("FftDestroy");
    if (!is_plan(p)) return misused();
    plans[p].alive = false;
    fake.plans--;
    return error;
}

int fake_FftOwnArea(int p, int ours) {
    BEGIN("FftOwnArea");
    if (!is_plan(p) || plans[p].made) return misused();
    return plans[p].own_area = ours, OK;
}

int fake_FftMakePlan(int p, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride,
                     int odist, int type, int batch, size_t *area) {
    BEGIN("FftMakePlan");
    bool same = inembed == n && onembed == n && istride == ostride && idist == odist;
    if (!is_plan(p) || plans[p].made || rank < 1 || rank > 3 || !same || batch < 1) return misused();
    plans[p].made = true, plans[p].rank = rank, plans[p].stride = istride, plans[p].apart = idist;
    plans[p].type = type, plans[p].batch = batch;
    for (int i = 0; i < 3; i++) plans[p].n[i] = i < rank ? n[i] : 1;
    return *area = 1000 + (size_t)n[0], OK;
}

int fake_FftSetArea(int p, uint64_t area) {
    BEGIN("FftSetArea");
    if (!is_plan(p) || !area || plans[p].own_area) return misused();
    return plans[p].area = area, OK;
}

int fake_FftSetStream(int p, void *stream) {
    BEGIN("FftSetStream");
    if (!is_plan(p) || !stream) return misused();
    return plans[p].stream = stream, OK;
}

/* One sequence, by definition. */
static void line(int kind, void *data, int64_t first, int64_t step, int n, int direction) {
    const double turn = 6.283185307179586;
    Number x[4096], y;
    for (int i = 0; i < n; i++) x[i] = get(kind, data, first + i * step);
    for (int k = 0; k < n; k++) {
        y = 0;
        for (int i = 0; i < n; i++) y += x[i] * cexp(direction * turn * I * (double)((int64_t)i * k % n) / n);
        put(kind, data, first + k * step, y);
    }
}

static void transform(const Plan *p, int kind, void *data, int64_t origin, int direction) {
    int n0 = p->n[0], n1 = p->n[1], n2 = p->n[2], rank = p->rank;
    int64_t s[3] = {p->stride, p->stride, p->stride};
    for (int a = rank - 2; a >= 0; a--) s[a] = s[a + 1] * p->n[a + 1];
    for (int i = 0; i < n1; i++)
        for (int j = 0; j < n2; j++) line(kind, data, origin + i * s[1] + j * s[2], s[0], n0, direction);
    for (int i = 0; rank > 1 && i < n0; i++)
        for (int j = 0; j < n2; j++) line(kind, data, origin + i * s[0] + j * s[2], s[1], n1, direction);
    for (int i = 0; rank > 2 && i < n0; i++)
        for (int j = 0; j < n1; j++) line(kind, data, origin + i * s[0] + j * s[1], s[2], n2, direction);
}

static void transform_all(const Job *q) {
    for (int i = 0; i < q->plan.batch; i++)
        transform(&q->plan, q->kind, at(q->a), (int64_t)i * q->plan.apart, q->ta);
}

static int execute(int p, int kind, uint64_t from, uint64_t to, int direction) {
    bool good = is_plan(p) && plans[p].made && plans[p].area && plans[p].stream && from == to && from;
    if (!good || (direction != 1 && direction != -1)) return misused();
    if ((plans[p].type == C2C) != (kind == COMPLEX_SINGLE)) return misused();
    return queue(plans[p].stream,
                 &(Job){.work = transform_all, .kind = kind, .a = to, .ta = direction, .plan = plans[p]});
}

int fake_FftC2C(int p, uint64_t from, uint64_t to, int direction) {
    BEGIN("FftC2C");
    return execute(p, COMPLEX_SINGLE, from, to, direction);
}

int fake_FftZ2Z(int p, uint64_t from, uint64_t to, int direction) {
    BEGIN("FftZ2Z");
    return execute(p, COMPLEX_DOUBLE, from, to, direction);
}
