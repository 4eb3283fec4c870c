/* along.c -- reads elements at positions along a dimension, and adds elements at such positions.
 *
 *     take_along   y[a,k,b] = x[a,at[a,k,b],b]        add_along   y[a,at[a,k,b],b] += x[a,k,b]
 *
 * Each of the two is the adjoint of the other.  An order statistic (an extreme, a median, a sorted array, …) is
 * take_along at the positions that it selects, so that its derivative is add_along. */
#include "devices/threads.h"
#include "stdlib/builtins.h"
#include "vm/array/convert.h"
#include "vm/array/device_math.h"
#include "vm/base/flag.h"
#include "vm/program/module.h"
#include "vm/value/machine.h"

#include <complex.h>
#include <string.h>

enum { RUN = 512 /* positions that are converted at once */, WORTH = 1 << 15 /* minimum elements per thread */ };

/* Moves n elements.  Element i of the side with the shape of the positions is its i-th one, that of the other side is
 * element at[i]*step + i*across. */
typedef void Move(const uint64_t *at, size_t n, size_t step, size_t across, const void *src, void *dst);
typedef struct {
    uint64_t a, b;
} Wide;
typedef float complex Complex64;
typedef double complex Complex128;
typedef struct {
    ArrayLines at; /* of the positions */
    size_t n;      /* extent of the other array along the dimension */
    qs_dtype d, position_type;
    bool adds;
    Move *move;
    const char *positions, *src;
    char *dst;
    size_t pieces; /* of the columns of a block */
    Flag wrong;    /* raised if a position is none of 0 … n-1 */
} Along;

#define TAKE(T)                                                                                                        \
    static void take_##T(const uint64_t *at, size_t n, size_t step, size_t across, const void *src, void *dst) {       \
        for (size_t i = 0; i < n; i++) ((T *)dst)[i] = ((const T *)src)[at[i] * step + i * across];                    \
    }
#define ADD(T)                                                                                                         \
    static void add_##T(const uint64_t *at, size_t n, size_t step, size_t across, const void *src, void *dst) {        \
        for (size_t i = 0; i < n; i++) ((T *)dst)[at[i] * step + i * across] += ((const T *)src)[i];                   \
    }
TAKE(uint8_t)
TAKE(uint16_t)
TAKE(uint32_t)
TAKE(uint64_t)
TAKE(Wide)
ADD(float)
ADD(double)
ADD(Complex64)
ADD(Complex128)

static Move *move_of(qs_dtype d, bool adds) {
    size_t size = qdtype_size(d);
    if (adds) return d == QS_F32 ? add_float : d == QS_F64 ? add_double : d == QS_C64 ? add_Complex64 : add_Complex128;
    return size == 1   ? take_uint8_t
           : size == 2 ? take_uint16_t
           : size == 4 ? take_uint32_t
           : size == 8 ? take_uint64_t
                       : take_Wide;
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    return memcpy(&bits, &x, sizeof bits), bits;
}

/* Converts n positions to integers; false: one of them is not an integer from 0 to count-1.  Adding 2^52 to such a
 * number writes it to the low bits of the sum.  Wrong numbers set bits, so that the loop has no branches. */
static bool convert_positions(const double *x, size_t n, uint64_t count, uint64_t *at) {
    uint64_t outside = 0, rounded = 0;
    for (size_t i = 0; i < n; i++) {
        double shifted = x[i] + 0x1p52;
        at[i] = bits_of(shifted) - bits_of(0x1p52);
        outside |= at[i] | (count - 1 - at[i]);
        rounded |= bits_of(x[i] + 0.0) ^ bits_of(shifted - 0x1p52);
    }
    return !(outside >> 63) && !rounded;
}

static bool convert_int32(const int32_t *x, size_t n, uint64_t count, uint64_t *at) {
    uint64_t outside = 0;
    for (size_t i = 0; i < n; i++) at[i] = (uint64_t)x[i], outside |= at[i] | (count - 1 - at[i]);
    return !(outside >> 63);
}

/* Moves the m elements from number `first` on, which are neighbours in a line or in a row of lines; `other` is the
 * element of the other array at position 0. */
static void move_run(Along *w, size_t first, size_t m, size_t other) {
    size_t size = qdtype_size(w->d), width = qdtype_size(w->position_type);
    size_t step = w->at.inner, across = step > 1;
    double as_read[RUN];
    uint64_t at[RUN];
    for (size_t done = 0, n; done < m; done += n, first += n, other += n * across) {
        n = m - done < RUN ? m - done : RUN;
        const char *p = w->positions + first * width;
        bool inside;
        if (w->position_type == QS_I32) inside = convert_int32((const int32_t *)(const void *)p, n, w->n, at);
        else {
            qconv_run(w->position_type, p, (ptrdiff_t)width, QS_F64, as_read, sizeof *as_read, n);
            inside = convert_positions(as_read, n, w->n, at);
        }
        if (!inside) return qflag_raise(&w->wrong);
        const char *src = w->src + (w->adds ? first : other) * size;
        w->move(at, n, step, across, src, w->dst + (w->adds ? other : first) * size);
    }
}

/* A piece is a line of elements, or a part of the columns of a block of neighbouring lines. */
static void move_pieces(void *ud, int64_t from, int64_t to, int worker) {
    Along *w = ud;
    const ArrayLines *l = &w->at;
    (void)worker;
    for (size_t p = (size_t)from; p < (size_t)to && !qflag_is_up(&w->wrong); p++) {
        size_t a = p / w->pieces, part = (l->inner + w->pieces - 1) / w->pieces, b = p % w->pieces * part;
        size_t columns = b >= l->inner ? 0 : l->inner - b < part ? l->inner - b : part;
        if (l->inner == 1) move_run(w, a * l->n, l->n, a * w->n);
        else
            for (size_t k = 0; k < l->n; k++)
                move_run(w, (a * l->n + k) * l->inner + b, columns, a * w->n * l->inner + b);
    }
}

static qs_status refuse_position(qs_vm *vm, const char *fn, const Along *w) {
    for (size_t i = 0; i < w->at.outer * w->at.n * w->at.inner; i++) {
        double v;
        qconv_run(w->position_type, w->positions + i * qdtype_size(w->position_type), 0, QS_F64, &v, 0, 1);
        if (!(v >= 0 && v < (double)w->n && (double)(size_t)v == v))
            return qs_fail(vm, QS_EINDEX, "%s: positions must be integers from 0 to %lld, got %g", fn,
                           (long long)w->n - 1, v);
    }
    return QS_OK;
}

/* Checks that x and the positions have the same size except along dim. */
static qs_status check_sizes(qs_vm *vm, const char *fn, const Array *x, const Array *at, int dim) {
    char wanted[SHAPE_TEXT], got[SHAPE_TEXT];
    int64_t xs[QS_MAX_RANK], ps[QS_MAX_RANK];
    int rank = qarr_size(x, xs), n = qarr_size(at, ps);
    for (int d = 0; d < QS_MAX_RANK; d++)
        if (d != dim && (d < rank ? xs[d] : 1) != (d < n ? ps[d] : 1))
            return qs_fail(vm, QS_ESHAPE,
                           "%s: x and positions must have the same size except along dimension %d, "
                           "got %s and %s",
                           fn, dim, qarr_shape_text(x, wanted), qarr_shape_text(at, got));
    return QS_OK;
}

/* On a device with memory of its own, kernels do the same. */
static qs_status move_by_kernel(qs_vm *vm, qs_call_args *c, const Along *w, int rank, const int64_t *dims) {
    qs_value fn, y = qs_nil(),
                 in[] = {c->in[0],
                         c->in[1],
                         qs_num((double)w->at.outer),
                         qs_num((double)w->at.n),
                         qs_num((double)w->at.inner),
                         qs_num((double)w->n)};
    Array *shaped;
    TRY(qmod_library(vm, "moving.q", w->adds ? "elements_added" : "elements_taken", &fn));
    TRY(qvm_call(vm, fn, 6, in, 1, &y));
    qs_status s = qarr_reshape(vm, qval_array(y), rank, dims, &shaped);
    if (s == QS_OK) c->out[0] = qarr_value(shaped);
    return qval_release(vm, y), s;
}

/* n < 0: reads elements of x; otherwise adds the elements of x to an array with n elements along the dimension. */
static qs_status move_along(qs_vm *vm, qs_call_args *c, int64_t n) {
    Array *x, *at, *y;
    const void *src, *positions;
    void *dst;
    int dim;
    int64_t dims[QS_MAX_RANK];
    Along w = {.adds = n >= 0};
    TRY(qarg_dim_of(vm, c->name, c->in[0], c->in[2], &dim));
    TRY(qarg_array(vm, c, 0, "x", &x));
    TRY(qarg_array(vm, c, 1, "positions", &at));
    w.position_type = (qs_dtype)at->dtype;
    if (qdtype_is_complex(w.position_type)) return qarg_wrong(vm, c->name, "positions", "real", c->in[1]);
    TRY(check_sizes(vm, c->name, x, at, dim));
    w.at = qstats_lines(at, dim), w.n = w.adds ? (size_t)n : qstats_lines(x, dim).n;
    if (w.adds && w.at.n != qstats_lines(x, dim).n)
        return qs_fail(vm, QS_ESHAPE, "%s: x and positions must have the same size", c->name);
    int rank = qstats_with_dim(x, dim, w.adds ? n : (int64_t)w.at.n, dims);
    bool arrays = x->count && at->count && c->in[0].kind == QS_ARRAY && c->in[1].kind == QS_ARRAY;
    if (arrays && qdtype_is_real((qs_dtype)x->dtype) && qdevmath_by_kernels(vm, c->name, x, at, (double)x->count)) {
        qs_status s = move_by_kernel(vm, c, &w, rank, dims);
        if (s == QS_OK) qarg_keep(c->out[0], x);
        if (!qdevmath_left(vm, c->name, x, at, s)) return s;
    }
    if (w.adds) TRY(qarg_floats(vm, c, 0, "x", &x, &src));
    w.d = (qs_dtype)x->dtype;
    TRY(qarg_packed(vm, c, 0, "x", w.d, &x, &src));
    TRY(qarg_packed(vm, c, 1, "positions", w.position_type, &at, &positions));
    TRY(qarg_result(vm, c, 0, w.d, rank, dims, &y, &dst));
    qarg_keep(c->out[0], x);
    if (w.adds) memset(dst, 0, y->count * qdtype_size(w.d));
    w.move = move_of(w.d, w.adds), w.positions = positions, w.src = src, w.dst = dst;
    w.pieces = w.at.outer > 1 ? 1 : 1 + w.at.n * w.at.inner / WORTH;
    if (w.pieces > w.at.inner) w.pieces = w.at.inner ? w.at.inner : 1;
    int64_t grain = 1 + (int64_t)(WORTH * w.pieces / (w.at.n * w.at.inner + 1));
    qthreads_run(qthreads_of(qvm_ctx(vm)), (int64_t)(w.at.outer * w.pieces), grain, move_pieces, &w);
    return qflag_is_up(&w.wrong) ? refuse_position(vm, c->name, &w) : QS_OK;
}

/* take_along(x, positions, dim) */
qs_status qalong_take(qs_vm *vm, qs_call_args *c) { return move_along(vm, c, -1); }

/* add_along(x, positions, dim, n) */
qs_status qalong_add(qs_vm *vm, qs_call_args *c) {
    int64_t n;
    TRY(qarg_count(vm, c->name, "n", c->in[3], &n));
    return move_along(vm, c, n);
}
