/* typed.c -- applies elementwise functions with the broadcasting of the Array API standard; gathers and scatters. */
#include "vm/typed/typed.h"
#include "devices/threads.h"
#include "vm/array/convert.h"
#include "vm/base/dtype.h"
#include "vm/quasar.h"

#include <string.h>

const TypedInfo qtyped_info[TY__COUNT] = {
#define TYPED(name, nargs, gives, truths, wholes, reals, pairs, help) {#name, nargs, TYPED_##gives, help},
#include "vm/typed/typed.def"
};

/* -- operands ------------------------------------------------------------------------------------------------------ */
qs_status qtyped_open(qs_vm *vm, Array *a, TypedArg *out) {
    out->dtype = (qs_dtype)a->dtype;
    out->ndim = qarr_shape(a, out->dims, out->strides);
    return qarr_read(vm, a, &out->p);
}

TypedArg qtyped_number(qs_dtype d, const void *element) { return (TypedArg){.p = element, .dtype = d}; }

/* Computes the broadcast shape of the operands and returns its rank; -1: they do not match. */
static int shape_of(int n, const TypedArg *args, int64_t dims[QS_MAX_RANK]) {
    int ndim = 0;
    for (int i = 0; i < n; i++)
        if (args[i].ndim > ndim) ndim = args[i].ndim;
    for (int k = 0; k < ndim; k++) dims[k] = 1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < args[i].ndim; k++) {
            int64_t *to = &dims[k + ndim - args[i].ndim], m = args[i].dims[k];
            if (*to != 1 && m != 1 && *to != m) return -1;
            if (m != 1) *to = m;
        }
    return ndim;
}

/* -- iteration over rows ------------------------------------------------------------------------------------------- */
enum { PIECE = 512, PIECE_BYTES = PIECE * 16, GRAIN = 1 << 15 };

typedef struct {
    Typed f;
    TypedLoop *loop; /* NULL: the elements are only converted */
    int nargs, ndim;
    int64_t dims[QS_MAX_RANK];
    ptrdiff_t steps[TYPED_ARGS + 1][QS_MAX_RANK]; /* strides in bytes; of the result first */
    char *at[TYPED_ARGS + 1];
    qs_dtype from[TYPED_ARGS], to[TYPED_ARGS];
    size_t made; /* bytes per element of the result */
} Walk;

static void convert_row(const Walk *w, char *const *at, const ptrdiff_t *step, size_t n) {
    qconv_run(w->from[0], at[1], step[1], w->to[0], at[0], step[0], n);
}

/* Computes one row.  Its results are contiguous, because the result array is new. */
static void apply_row(const Walk *w, char *const *at, const ptrdiff_t *step, size_t n) {
    _Alignas(64) char room[TYPED_ARGS][PIECE_BYTES];
    const char *in[TYPED_ARGS];
    ptrdiff_t steps[TYPED_ARGS];
    bool convert = false;
    for (int i = 0; i < w->nargs; i++) convert |= w->from[i] != w->to[i];
    for (size_t from = 0, m; from < n; from += m) {
        m = convert && n - from > PIECE ? PIECE : n - from;
        for (int i = 0; i < w->nargs; i++) {
            in[i] = at[i + 1] + step[i + 1] * (ptrdiff_t)from;
            steps[i] = step[i + 1];
            if (w->from[i] == w->to[i]) continue;
            ptrdiff_t size = (ptrdiff_t)qdtype_size(w->to[i]);
            qconv_run(w->from[i], in[i], step[i + 1], w->to[i], room[i], size, step[i + 1] ? m : 1);
            in[i] = room[i], steps[i] = step[i + 1] ? size : 0;
        }
        char *to = at[0] + w->made * from;
        if (!qtyped_vector(w->f, w->to[0], m, to, in, steps)) w->loop(m, to, in, steps);
    }
}

static void run_span(void *ud, int64_t first, int64_t last, int worker) {
    const Walk *w = ud;
    int nd = w->ndim - 1;
    int64_t place[QS_MAX_RANK], rest = first;
    char *at[TYPED_ARGS + 1];
    ptrdiff_t step[TYPED_ARGS + 1];
    (void)worker;
    for (int k = nd; k >= 0; k--) place[k] = rest % w->dims[k], rest /= w->dims[k];
    for (int i = 0; i <= w->nargs; i++) {
        at[i] = w->at[i], step[i] = w->steps[i][nd];
        for (int k = 0; k <= nd; k++) at[i] += place[k] * w->steps[i][k];
    }
    while (first < last) {
        int64_t n = w->dims[nd] - place[nd];
        if (n > last - first) n = last - first;
        (w->loop ? apply_row : convert_row)(w, at, step, (size_t)n);
        if ((first += n) == last) return;
        for (int i = 0; i <= w->nargs; i++) at[i] -= place[nd] * step[i];
        place[nd] = 0;
        for (int k = nd - 1; k >= 0; k--) {
            for (int i = 0; i <= w->nargs; i++) at[i] += w->steps[i][k];
            if (++place[k] < w->dims[k]) break;
            for (int i = 0; i <= w->nargs; i++) at[i] -= w->dims[k] * w->steps[i][k];
            place[k] = 0;
        }
    }
}

/* Drops dimensions of extent 1, and merges neighbours whose strides allow it in every operand. */
static void fuse(Walk *w) {
    int n = 0;
    for (int k = 0; k < w->ndim; k++) {
        if (w->dims[k] == 1) continue;
        bool even = n > 0;
        for (int i = 0; i <= w->nargs && even; i++) even = w->steps[i][n - 1] == w->steps[i][k] * w->dims[k];
        if (even) n--, w->dims[n] *= w->dims[k];
        else w->dims[n] = w->dims[k];
        for (int i = 0; i <= w->nargs; i++) w->steps[i][n] = w->steps[i][k];
        n++;
    }
    if (n == 0) {
        w->dims[0] = 1, n = 1;
        for (int i = 0; i <= w->nargs; i++) w->steps[i][0] = i ? 0 : (ptrdiff_t)w->made;
    }
    w->ndim = n;
}

static void walk_rows(qs_vm *vm, Walk *w, int64_t count, int64_t grain) {
    fuse(w);
    if (count <= grain) run_span(w, 0, count, 0);
    else qthreads_run(qthreads_of(qvm_ctx(vm)), count, grain, run_span, w);
}

static void add_operand(Walk *w, int i, int ndim, const TypedArg *x) {
    int skip = ndim - x->ndim;
    w->at[i + 1] = (char *)(uintptr_t)x->p;
    for (int k = 0; k < ndim; k++) {
        bool moves = k >= skip && x->dims[k - skip] != 1;
        w->steps[i + 1][k] = moves ? x->strides[k - skip] * (int64_t)qdtype_size(x->dtype) : 0;
    }
}

/* Without strides the result is packed. */
static void add_result(Walk *w, int ndim, const int64_t *dims, const int64_t *strides) {
    int64_t packed[QS_MAX_RANK];
    w->ndim = ndim;
    if (!strides) qarr_packed_strides(ndim, dims, packed), strides = packed;
    for (int k = 0; k < ndim; k++) w->dims[k] = dims[k], w->steps[0][k] = strides[k] * (ptrdiff_t)w->made;
}

static qs_status shapes_differ(qs_vm *vm, const char *name, int n, const TypedArg *args) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    for (int i = 0; i < n; i++) {
        qtext_puts(&t, i ? " and (" : "(");
        for (int k = 0; k < args[i].ndim; k++) qtext_printf(&t, k ? ", %lld" : "%lld", (long long)args[i].dims[k]);
        qtext_puts(&t, args[i].ndim == 1 ? ",)" : ")");
    }
    qs_status s = qs_fail(vm, QS_ESHAPE, "%s: shapes do not meet: %s", name, t.s ? t.s : "");
    qtext_free(&t);
    return s;
}

static qs_dtype result_dtype(Typed f, qs_dtype d) {
    if (qtyped_info[f].gives == TYPED_TRUTH) return QS_B1;
    return qtyped_info[f].gives == TYPED_PART ? qdtype_real_of(d) : d;
}

qs_status qtyped_apply(qs_vm *vm, Typed f, qs_dtype d, const TypedArg *args, Array **out) {
    Walk w = {.f = f, .loop = qtyped_loop(f, d), .nargs = qtyped_info[f].nargs};
    int64_t dims[QS_MAX_RANK];
    void *to;
    int ndim = shape_of(w.nargs, args, dims);
    if (!w.loop)
        return qs_fail(vm, QS_ETYPE, "%s is not defined for elements of type %s", qtyped_info[f].name,
                       qdtype_info[d].name);
    if (ndim < 0) return shapes_differ(vm, qtyped_info[f].name, w.nargs, args);
    TRY(qarr_make(vm, result_dtype(f, d), ndim, dims, false, out, &to));
    w.made = qdtype_size(result_dtype(f, d));
    w.at[0] = to;
    add_result(&w, ndim, dims, NULL);
    for (int i = 0; i < w.nargs; i++) {
        w.from[i] = args[i].dtype, w.to[i] = w.nargs == 3 && i == 0 ? QS_B1 : d;
        add_operand(&w, i, ndim, &args[i]);
    }
    if ((*out)->count) walk_rows(vm, &w, (int64_t)(*out)->count, GRAIN);
    return QS_OK;
}

qs_status qtyped_store(qs_vm *vm, Array *dst, const TypedArg *x) {
    Walk w = {.nargs = 1, .made = qdtype_size((qs_dtype)dst->dtype)};
    TypedArg pair[2] = {*x};
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK], met[QS_MAX_RANK];
    void *to;
    int ndim = pair[1].ndim = qarr_shape(dst, dims, strides);
    memcpy(pair[1].dims, dims, sizeof dims);
    if (shape_of(2, pair, met) != ndim || memcmp(met, dims, (size_t)ndim * sizeof *dims))
        return shapes_differ(vm, "assignment", 2, pair);
    TRY(qarr_write(vm, dst, &to));
    w.at[0] = to;
    add_result(&w, ndim, dims, strides);
    w.from[0] = x->dtype, w.to[0] = (qs_dtype)dst->dtype;
    add_operand(&w, 0, ndim, x);
    if (dst->count) walk_rows(vm, &w, (int64_t)dst->count, GRAIN);
    return qarr_settle(vm, dst);
}

/* -- gather and scatter -------------------------------------------------------------------------------------------- */
typedef struct {
    uint64_t a, b;
} Wide;
#define MOVE_EACH(T, to_at, from_at)                                                                                   \
    for (size_t i = 0; i < n; i++) ((T *)to)[to_at] = ((const T *)from)[from_at];                                      \
    break;
#define MOVE_BY_SIZE(size, to_at, from_at)                                                                             \
    switch (size) {                                                                                                    \
    case 1: MOVE_EACH(uint8_t, to_at, from_at)                                                                         \
    case 2: MOVE_EACH(uint16_t, to_at, from_at)                                                                        \
    case 4: MOVE_EACH(uint32_t, to_at, from_at)                                                                        \
    case 8: MOVE_EACH(uint64_t, to_at, from_at)                                                                        \
    default: MOVE_EACH(Wide, to_at, from_at)                                                                           \
    }

qs_status qtyped_gather(qs_vm *vm, Array *a, Array *where, Array **out) {
    const void *from, *places;
    void *to;
    int64_t dims[QS_MAX_RANK];
    int ndim = qarr_shape(where, dims, NULL);
    TRY(qarr_read(vm, a, &from));
    TRY(qarr_read(vm, where, &places));
    TRY(qarr_make(vm, (qs_dtype)a->dtype, ndim, dims, false, out, &to));
    const int64_t *at = places;
    size_t n = where->count;
    /* clang-format off */
    MOVE_BY_SIZE(qdtype_size((qs_dtype)a->dtype), i, at[i])
    /* clang-format on */
    return QS_OK;
}

qs_status qtyped_scatter(qs_vm *vm, Array *a, Array *where, Array *x) {
    const void *from, *places;
    void *to;
    TRY(qarr_read(vm, x, &from));
    TRY(qarr_read(vm, where, &places));
    TRY(qarr_write(vm, a, &to));
    const int64_t *at = places;
    size_t n = where->count;
    if (x->count == 1) MOVE_BY_SIZE(qdtype_size((qs_dtype)a->dtype), at[i], 0)
    else MOVE_BY_SIZE(qdtype_size((qs_dtype)a->dtype), at[i], i)
    return qarr_settle(vm, a);
}

qs_status qtyped_take(qs_vm *vm, Array *x, int64_t outer, int64_t extent, int64_t inner, Array *where, int ndim,
                      const int64_t *dims, Array **out) {
    const void *src, *places;
    void *dst;
    size_t size = qdtype_size((qs_dtype)x->dtype), n = where->count;
    TRY(qarr_read(vm, x, &src));
    TRY(qarr_read(vm, where, &places));
    TRY(qarr_make(vm, (qs_dtype)x->dtype, ndim, dims, false, out, &dst));
    const int64_t *at = places;
    size_t block = size * (size_t)inner;
    for (int64_t o = 0; o < outer; o++) {
        const char *from = (const char *)src + (size_t)(o * extent) * block;
        char *to = (char *)dst + (size_t)o * n * block;
        if (inner == 1) MOVE_BY_SIZE(size, i, at[i])
        else
            for (size_t i = 0; i < n; i++) memcpy(to + i * block, from + (size_t)at[i] * block, block);
    }
    return QS_OK;
}

qs_status qtyped_nonzero(qs_vm *vm, Array *x, Array **out) {
    const void *p;
    void *to;
    size_t n = 0;
    TRY(qarr_read(vm, x, &p));
    const uint8_t *truth = p;
    for (size_t i = 0; i < x->count; i++) n += truth[i] != 0;
    TRY(qarr_make(vm, QS_I64, 1, (int64_t[]){(int64_t)n}, false, out, &to));
    int64_t *at = to;
    for (size_t i = 0, k = 0; k < n; i++)
        if (truth[i]) at[k++] = (int64_t)i;
    return QS_OK;
}

qs_status qtyped_arange(qs_vm *vm, qs_dtype d, int64_t n, double first, double step, int64_t ifirst, int64_t istep,
                        Array **out) {
    void *to;
    TRY(qarr_make(vm, d, 1, (int64_t[]){n}, false, out, &to));
#define FILL(id, T, value)                                                                                             \
    case QS_##id:                                                                                                      \
        for (int64_t i = 0; i < n; i++) ((T *)to)[i] = (T)(value);                                                     \
        break;
#define WHOLE ((uint64_t)ifirst + (uint64_t)i * (uint64_t)istep)
    switch (d) {
        /* clang-format off */
    FILL(I8, int8_t, WHOLE) FILL(U8, uint8_t, WHOLE) FILL(I16, int16_t, WHOLE) FILL(U16, uint16_t, WHOLE)
    FILL(I32, int32_t, WHOLE) FILL(U32, uint32_t, WHOLE) FILL(I64, int64_t, WHOLE) FILL(U64, uint64_t, WHOLE)
    FILL(F32, float, first + (double)i * step) FILL(F64, double, first + (double)i * step)
            /* clang-format on */
            default : qarr_release(vm, *out);
        return qs_fail(vm, QS_ETYPE, "a range has real numbers");
    }
    return QS_OK;
}
