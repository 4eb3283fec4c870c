/* fake_cuda_math.c -- see fake_cuda_math.h.  Straight from the definitions, in double.  A call checks its arguments and
 * queues the work on the stream of its handle, as the real libraries do. */
#include "tests/support/driver/fake_cuda_math.h"
#include "tests/support/driver/fake_cuda.h"

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
typedef struct {
    bool alive, workspace;
    void *stream;
} Library;
static Library blas[HANDLES], solver[HANDLES], dnn[HANDLES];
typedef struct {
    bool alive, made, own_area;
    void *stream;
    int rank, n[3], stride, apart, type, batch;
    uint64_t area;
} Plan;
static Plan plans[PLANS];
enum { NOTHING, TENSOR, FILTER, CONVOLUTION };
typedef struct { /* a descriptor of cuDNN */
    int what;
    bool set;
    int type, n[4], step[4];                          /* of a tensor or filter */
    int pad[2], stride[2], dilation[2], groups, math; /* of a convolution */
} Description;

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

/* An error that the real libraries would not survive is a failure of the process. */
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

/* A call whose arguments are checked.  Host numbers are read at the call, device memory when the work runs. */
typedef struct Job {
    void (*work)(const struct Job *);
    int kind, ta, tb, m, n, k, lda, ldb, ldc, info;
    uint64_t a, b, c, values, area, told;
    double by;
    Plan plan;
    Description x, w, y, how;
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
    return queue_blas(handle, &(Job){.work = multiply,
                                     .kind = kind,
                                     .ta = ta,
                                     .tb = tb,
                                     .m = m,
                                     .n = n,
                                     .k = k,
                                     .a = a,
                                     .lda = lda,
                                     .b = b,
                                     .ldb = ldb,
                                     .c = c,
                                     .ldc = ldc});
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
        return queue_blas(h,                                                                                           \
                          &(Job){.work = copy_vector, .kind = kind_, .n = n, .a = x, .lda = dx, .b = y, .ldb = dy});   \
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
    return queue_blas(
        handle,
        &(Job){.work = turn_matrix, .kind = kind, .ta = ta, .m = m, .n = n, .a = a, .lda = lda, .c = c, .ldc = ldc});
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

/* Copies the lower half, to packed form or back. */
static int pack(int kind, void *handle, int half, int n, uint64_t a, int lda, uint64_t packed, bool back) {
    if (!ready(handle) || half != LOWER || n < 1 || lda < n || !a || !packed) return misused();
    return queue_blas(
        handle, &(Job){.work = back ? unpack_half : pack_half, .kind = kind, .n = n, .a = a, .lda = lda, .b = packed});
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
typedef struct {
    int kind, apart;
    void *p;
} Matrix;
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

static Number odd_sign(int kind, int k) { return kind < COMPLEX_SINGLE ? (k % 3 ? -1 : 1) : cexp(I * (double)k); }

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

/* The rest of the area is overwritten. */
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
        return queue_solver(h, &(Job){.work = do_geqrf,                                                                \
                                      .kind = kind_,                                                                   \
                                      .m = m,                                                                          \
                                      .n = n,                                                                          \
                                      .a = a,                                                                          \
                                      .lda = lda,                                                                      \
                                      .values = factors,                                                               \
                                      .area = area,                                                                    \
                                      .told = info});                                                                  \
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
        return queue_solver(h, &(Job){.work = do_orgqr,                                                                \
                                      .kind = kind_,                                                                   \
                                      .m = m,                                                                          \
                                      .n = n,                                                                          \
                                      .k = k,                                                                          \
                                      .a = a,                                                                          \
                                      .lda = lda,                                                                      \
                                      .values = factors,                                                               \
                                      .area = area,                                                                    \
                                      .told = info});                                                                  \
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
        return queue_solver(h, &(Job){.work = do_gesvd,                                                                \
                                      .kind = kind_,                                                                   \
                                      .ta = wanted,                                                                    \
                                      .m = m,                                                                          \
                                      .n = n,                                                                          \
                                      .a = a,                                                                          \
                                      .lda = lda,                                                                      \
                                      .values = values,                                                                \
                                      .b = u,                                                                          \
                                      .ldb = ldu,                                                                      \
                                      .c = v,                                                                          \
                                      .ldc = ldv,                                                                      \
                                      .area = area,                                                                    \
                                      .told = info,                                                                    \
                                      .info = fake.info});                                                             \
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
        return queue_solver(h, &(Job){.work = do_syevd,                                                                \
                                      .kind = kind_,                                                                   \
                                      .ta = vectors,                                                                   \
                                      .n = n,                                                                          \
                                      .a = a,                                                                          \
                                      .lda = lda,                                                                      \
                                      .values = values,                                                                \
                                      .area = area,                                                                    \
                                      .told = info,                                                                    \
                                      .info = fake.info});                                                             \
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
        return queue_solver(h, &(Job){.work = do_getrf,                                                                \
                                      .kind = kind_,                                                                   \
                                      .n = n,                                                                          \
                                      .a = a,                                                                          \
                                      .lda = lda,                                                                      \
                                      .values = pivots,                                                                \
                                      .area = area,                                                                    \
                                      .told = info});                                                                  \
    }                                                                                                                  \
    int fake_##type##getrs(void *h, int turned, int n, int columns, uint64_t a, int lda, uint64_t pivots, uint64_t b,  \
                           int ldb, uint64_t info) {                                                                   \
        BEGIN(#type "getrs");                                                                                          \
        bool bad = turned < 0 || turned > 1 || lda < n || ldb < n || columns < 1;                                      \
        if (!can_solve(h) || bad || !a || !b || !pivots || !info) return misused();                                    \
        return queue_solver(h, &(Job){.work = do_getrs,                                                                \
                                      .kind = kind_,                                                                   \
                                      .ta = turned,                                                                    \
                                      .n = n,                                                                          \
                                      .k = columns,                                                                    \
                                      .a = a,                                                                          \
                                      .lda = lda,                                                                      \
                                      .values = pivots,                                                                \
                                      .b = b,                                                                          \
                                      .ldb = ldb,                                                                      \
                                      .told = info});                                                                  \
    }                                                                                                                  \
    int fake_##type##potrfArea(void *h, int half, int n, uint64_t a, int lda, int *area) {                             \
        BEGIN(#type "potrfArea");                                                                                      \
        return half == LOWER ? ask_area(h, n, a, lda, area) : misused();                                               \
    }                                                                                                                  \
    int fake_##type##potrf(void *h, int half, int n, uint64_t a, int lda, uint64_t area, int size, uint64_t info) {    \
        BEGIN(#type "potrf");                                                                                          \
        bool bad = half != LOWER || lda < n || size < 3 * n;                                                           \
        if (!can_solve(h) || bad || !a || !area || !info) return misused();                                            \
        return queue_solver(                                                                                           \
            h, &(Job){.work = do_potrf, .kind = kind_, .n = n, .a = a, .lda = lda, .area = area, .told = info});       \
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
    for (int i = 0; i < q->plan.batch; i++) transform(&q->plan, q->kind, at(q->a), (int64_t)i * q->plan.apart, q->ta);
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

/* -- cuDNN: the images are what padding makes of them, products with its zeros are made ---------------------------- */
enum { DESCRIPTIONS = 1024, UNSUPPORTED = 3000, FULL_MATH = 3, TENSOR_CORES = 1, FORWARD = 0, INPUT, WEIGHTS };
static Description descriptions[DESCRIPTIONS];

static Description *described(void *p, int what) {
    Description *d = p;
    bool mine = d >= descriptions && d < descriptions + DESCRIPTIONS;
    return mine && d->what == what ? d : NULL;
}

static int make_description(void **made, int what) {
    int i = 0;
    while (i < DESCRIPTIONS && descriptions[i].what) i++;
    if (i == DESCRIPTIONS) return misused();
    descriptions[i] = (Description){.what = what, .groups = 1};
    fake.descriptors++;
    return *made = &descriptions[i], OK;
}

static int end_description(void *p, int what) {
    Description *d = described(p, what);
    if (!d) return misused();
    d->what = NOTHING;
    return fake.descriptors--, OK;
}

#define DESCRIPTION(name, what)                                                                                        \
    int fake_DnnCreate##name(void **made) {                                                                            \
        BEGIN("DnnCreate" #name);                                                                                      \
        return make_description(made, what);                                                                           \
    }                                                                                                                  \
    int fake_DnnDestroy##name(void *made) {                                                                            \
        int error = begin("DnnDestroy" #name), wrong = end_description(made, what);                                    \
        return wrong ? wrong : error;                                                                                  \
    }
DESCRIPTION(Tensor, TENSOR)
DESCRIPTION(Filter, FILTER)
DESCRIPTION(Conv, CONVOLUTION)

int fake_DnnCreate(void **handle) {
    BEGIN("DnnCreate");
    return make_handle(dnn, handle);
}

int fake_DnnDestroy(void *handle) {
    int error = begin("DnnDestroy"), wrong = end_handle(dnn, handle);
    return wrong ? wrong : error;
}

int fake_DnnSetStream(void *handle, void *stream) {
    BEGIN("DnnSetStream");
    return set_stream(dnn, handle, stream);
}

static int64_t elements(const Description *d) { return (int64_t)d->n[0] * d->n[1] * d->n[2] * d->n[3]; }

/* Extents and strides are positive, no two elements overlap, and there are fewer than 2^31. */
static int set_description(Description *d, int type, const int n[4], const int step[4]) {
    int64_t last = 0, least = 1;
    if (!d || type < 0 || type > DOUBLE) return misused();
    for (int i = 3; i >= 0; i--) {
        if (n[i] < 1 || step[i] < least) return misused();
        last += (int64_t)(n[i] - 1) * step[i], least = (int64_t)n[i] * step[i];
    }
    if (last >= INT32_MAX) return misused();
    d->type = type, d->set = true;
    memcpy(d->n, n, sizeof d->n), memcpy(d->step, step, sizeof d->step);
    return OK;
}

int fake_DnnSetTensor(void *tensor, int type, int n, int c, int h, int w, int dn, int dc, int dh, int dw) {
    BEGIN("DnnSetTensor");
    return set_description(described(tensor, TENSOR), type, (int[]){n, c, h, w}, (int[]){dn, dc, dh, dw});
}

int fake_DnnSetFilter(void *filter, int type, int layout, int k, int c, int h, int w) {
    BEGIN("DnnSetFilter");
    bool fits = k > 0 && c > 0 && h > 0 && w > 0 && (double)c * h * w < INT32_MAX;
    if (layout || !fits) return misused();
    return set_description(described(filter, FILTER), type, (int[]){k, c, h, w}, (int[]){c * h * w, h * w, w, 1});
}

int fake_DnnSetConv(void *conv, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h, int dilation_w,
                    int mode, int computed_in) {
    BEGIN("DnnSetConv");
    Description *d = described(conv, CONVOLUTION);
    bool bad = pad_h < 0 || pad_w < 0 || stride_h < 1 || stride_w < 1 || dilation_h < 1 || dilation_w < 1;
    if (!d || bad || mode != 1 || computed_in < 0 || computed_in > DOUBLE) return misused();
    d->pad[0] = pad_h, d->pad[1] = pad_w, d->stride[0] = stride_h, d->stride[1] = stride_w;
    d->dilation[0] = dilation_h, d->dilation[1] = dilation_w, d->type = computed_in;
    return d->set = true, OK;
}

int fake_DnnSetGroups(void *conv, int groups) {
    BEGIN("DnnSetGroups");
    Description *d = described(conv, CONVOLUTION);
    return d && groups > 0 ? (d->groups = groups, OK) : misused();
}

int fake_DnnSetMath(void *conv, int math) {
    BEGIN("DnnSetMath");
    Description *d = described(conv, CONVOLUTION);
    return d && math >= 0 && math <= FULL_MATH ? (d->math = math, OK) : misused();
}

/* Returns operands and result as x, w and y, if each has the required type and they fit each other. */
static bool fits(int kind, void *handle, void *a, void *b, void *conv, void *result, Job *j) {
    void *x = kind == INPUT ? result : a, *w = kind == FORWARD ? b : kind == INPUT ? a : result;
    void *y = kind == FORWARD ? result : b;
    const Description *px = described(x, TENSOR), *pw = described(w, FILTER), *py = described(y, TENSOR);
    const Description *c = described(conv, CONVOLUTION);
    Library *l = alive(dnn, handle);
    if (!l || !l->stream || !px || !pw || !py || !c || !px->set || !pw->set || !py->set || !c->set) return false;
    if (px->type != pw->type || px->type != py->type || px->type != c->type || c->math != FULL_MATH) return false;
    *j = (Job){.kind = px->type, .x = *px, .w = *pw, .y = *py, .how = *c};
    for (int i = 0; i < 2; i++) {
        int room = px->n[2 + i] + 2 * c->pad[i] - (c->dilation[i] * (pw->n[2 + i] - 1) + 1);
        if (room < 0 || py->n[2 + i] != room / c->stride[i] + 1) return false;
    }
    return px->n[0] == py->n[0] && px->n[1] == pw->n[1] * c->groups && pw->n[0] == py->n[1] && !(pw->n[0] % c->groups);
}

/* Of the forward one 0 to 2 add up products, of its adjoints 1 does; what the others would make is not what we want. */
static bool is_wanted(int kind, int algorithm) {
    return kind == FORWARD ? algorithm >= 0 && algorithm <= 2 : algorithm == 1;
}

/* Narrow weights are convolved without any space. */
static size_t space(int kind, const Job *j, int algorithm) {
    return kind == FORWARD && algorithm == 0 ? 0 : 64 * (size_t)j->w.n[0] + 16 * (size_t)kind;
}

typedef struct {
    int algorithm, status;
    float time;
    size_t memory;
    int same_bits, math, reserved[3];
} Found;

/* Rejects algorithms first: transforms, missing ones, sums in any order, tensor cores, too much workspace. */
static int order(int kind, void *handle, void *a, void *b, void *conv, void *result, int wanted, int *found,
                 void *list) {
    Job j;
    Found *f = list;
    if (!fits(kind, handle, a, b, conv, result, &j) || wanted < 8 || !found || !list) return misused();
    int best = kind == FORWARD ? j.w.n[3] % 2 : 1, n = 0;
    f[n++] = (Found){.algorithm = kind == FORWARD ? 6 : 4, .same_bits = 1, .math = FULL_MATH};
    f[n++] = (Found){.algorithm = best, .status = UNSUPPORTED, .same_bits = 1, .math = FULL_MATH};
    f[n++] = (Found){.algorithm = kind == FORWARD ? 4 : 0, .math = FULL_MATH};
    f[n++] = (Found){.algorithm = best, .math = FULL_MATH};
    f[n++] = (Found){.algorithm = best, .same_bits = 1, .math = TENSOR_CORES};
    f[n++] = (Found){.algorithm = best, .same_bits = 1, .math = FULL_MATH, .memory = (size_t)1 << 40};
    f[n] = (Found){.algorithm = best, .same_bits = 1, .math = FULL_MATH, .memory = space(kind, &j, best)};
    return *found = fake.no_algorithm ? n : n + 1, OK;
}

static int ask_space(int kind, void *handle, void *a, void *b, void *conv, void *result, int algorithm, size_t *area) {
    Job j;
    if (!fits(kind, handle, a, b, conv, result, &j) || !is_wanted(kind, algorithm)) return misused();
    return *area = space(kind, &j, algorithm), OK;
}

static int64_t place(const Description *d, int n, int c, int h, int w) {
    return (int64_t)n * d->step[0] + (int64_t)c * d->step[1] + (int64_t)h * d->step[2] + (int64_t)w * d->step[3];
}

/* x at a tap of an output; 0 beside the image. */
static double image_at(const Job *q, const void *x, int n, int c, int out_row, int out_column, int i, int j) {
    int r = out_row * q->how.stride[0] - q->how.pad[0] + i * q->how.dilation[0];
    int s = out_column * q->how.stride[1] - q->how.pad[1] + j * q->how.dilation[1];
    bool inside = r >= 0 && s >= 0 && r < q->x.n[2] && s < q->x.n[3];
    return inside ? creal(get(q->kind, x, place(&q->x, n, c, r, s))) : 0;
}

static void do_forward(const Job *q) {
    const int *y = q->y.n, *w = q->w.n;
    for (int64_t e = 0; e < elements(&q->y); e++) {
        int s = (int)(e % y[3]), r = (int)(e / y[3] % y[2]), m = (int)(e / y[3] / y[2] % y[1]);
        int n = (int)(e / y[3] / y[2] / y[1]), first = m / (w[0] / q->how.groups) * w[1];
        double sum = 0;
        for (int c = 0; c < w[1]; c++)
            for (int i = 0; i < w[2]; i++)
                for (int j = 0; j < w[3]; j++)
                    sum += creal(get(q->kind, at(q->b), place(&q->w, m, c, i, j))) *
                           image_at(q, at(q->a), n, first + c, r, s, i, j);
        put(q->kind, at(q->c), place(&q->y, n, m, r, s), sum);
    }
}

/* a: weights, b: of results. */
static void do_input(const Job *q) {
    const int *x = q->x.n, *w = q->w.n, *y = q->y.n;
    for (int64_t e = 0; e < elements(&q->x); e++) {
        int s = (int)(e % x[3]), r = (int)(e / x[3] % x[2]), c = (int)(e / x[3] / x[2] % x[1]);
        int n = (int)(e / x[3] / x[2] / x[1]), rows = w[0] / q->how.groups, first = c / w[1] * rows;
        double sum = 0;
        for (int m = first; m < first + rows; m++)
            for (int i = 0; i < w[2]; i++)
                for (int j = 0; j < w[3]; j++) {
                    int p = r + q->how.pad[0] - i * q->how.dilation[0], o = s + q->how.pad[1] - j * q->how.dilation[1];
                    bool met = p >= 0 && o >= 0 && p % q->how.stride[0] == 0 && o % q->how.stride[1] == 0;
                    p /= q->how.stride[0], o /= q->how.stride[1];
                    met = met && p < y[2] && o < y[3];
                    double dy = met ? creal(get(q->kind, at(q->b), place(&q->y, n, m, p, o))) : 0;
                    sum += dy * creal(get(q->kind, at(q->a), place(&q->w, m, c % w[1], i, j)));
                }
        put(q->kind, at(q->c), place(&q->x, n, c, r, s), sum);
    }
}

/* a: images, b: of results. */
static void do_weights(const Job *q) {
    const int *w = q->w.n, *y = q->y.n;
    for (int64_t e = 0; e < elements(&q->w); e++) {
        int j = (int)(e % w[3]), i = (int)(e / w[3] % w[2]), c = (int)(e / w[3] / w[2] % w[1]);
        int m = (int)(e / w[3] / w[2] / w[1]), first = m / (w[0] / q->how.groups) * w[1];
        double sum = 0;
        for (int n = 0; n < y[0]; n++)
            for (int r = 0; r < y[2]; r++)
                for (int s = 0; s < y[3]; s++)
                    sum += creal(get(q->kind, at(q->b), place(&q->y, n, m, r, s))) *
                           image_at(q, at(q->a), n, first + c, r, s, i, j);
        put(q->kind, at(q->c), e, sum);
    }
}

/* The rest of the workspace, and of the result, is overwritten first. */
static void do_convolution(const Job *q) {
    static void (*const by[])(const Job *) = {do_forward, do_input, do_weights};
    if (q->n) memset(at(q->area), 0x7f, (size_t)q->n);
    by[q->ta](q);
}

static int convolution(int kind, void *handle, const void *alpha, void *a_is, uint64_t a, void *b_is, uint64_t b,
                       void *conv, int algorithm, uint64_t area, size_t size, const void *beta, void *result_is,
                       uint64_t result) {
    Job j;
    bool good = fits(kind, handle, a_is, b_is, conv, result_is, &j) && is_wanted(kind, algorithm);
    good = good && a && b && result && !((a | b | result | area) % 16) && a != result && b != result;
    good = good && (size ? area != 0 : !area) && size >= space(kind, &j, algorithm);
    if (!good || get(j.kind, alpha, 0) != 1 || get(j.kind, beta, 0) != 0) return misused();
    j.work = do_convolution, j.ta = kind, j.a = a, j.b = b, j.c = result, j.area = area, j.n = (int)size;
    return queue(alive(dnn, handle)->stream, &j);
}

#define CONVOLUTIONS(name, kind)                                                                                       \
    int fake_##name##Order(void *h, void *a, void *b, void *conv, void *result, int wanted, int *found, void *list) {  \
        BEGIN(#name "Order");                                                                                          \
        return order(kind, h, a, b, conv, result, wanted, found, list);                                                \
    }                                                                                                                  \
    int fake_##name##Area(void *h, void *a, void *b, void *conv, void *result, int algorithm, size_t *area) {          \
        BEGIN(#name "Area");                                                                                           \
        return ask_space(kind, h, a, b, conv, result, algorithm, area);                                                \
    }                                                                                                                  \
    int fake_##name(void *h, const void *alpha, void *a_is, uint64_t a, void *b_is, uint64_t b, void *conv,            \
                    int algorithm, uint64_t area, size_t size, const void *beta, void *result_is, uint64_t result) {   \
        BEGIN(#name);                                                                                                  \
        return convolution(kind, h, alpha, a_is, a, b_is, b, conv, algorithm, area, size, beta, result_is, result);    \
    }
CONVOLUTIONS(DnnForward, FORWARD)
CONVOLUTIONS(DnnInput, INPUT)
CONVOLUTIONS(DnnWeights, WEIGHTS)

static void add_channels(const Job *q) {
    for (int64_t e = 0; e < elements(&q->y); e++) {
        int64_t plane = (int64_t)q->y.n[2] * q->y.n[3], c = e / plane % q->y.n[1];
        put(q->kind, at(q->c), e, get(q->kind, at(q->c), e) + get(q->kind, at(q->a), c * q->x.step[1]));
    }
}

int fake_DnnAdd(void *handle, const void *alpha, void *a_is, uint64_t a, const void *beta, void *c_is, uint64_t c) {
    BEGIN("DnnAdd");
    const Description *x = described(a_is, TENSOR), *y = described(c_is, TENSOR);
    Library *l = alive(dnn, handle);
    bool good = l && l->stream && x && y && x->set && y->set && x->type == y->type && a && c && !((a | c) % 16);
    good = good && x->n[0] == 1 && x->n[1] == y->n[1] && x->n[2] == 1 && x->n[3] == 1;
    good = good && y->step[0] == elements(y) / y->n[0];
    if (!good || get(x->type, alpha, 0) != 1 || get(x->type, beta, 0) != 1) return misused();
    return queue(l->stream, &(Job){.work = add_channels, .kind = x->type, .x = *x, .y = *y, .a = a, .c = c});
}
