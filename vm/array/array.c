/* array.c -- creates arrays and views, gives access to their elements, copies and converts them. */
#include "vm/array/array.h"
#include "devices/pool.h"
#include "devices/threads.h"
#include "vm/array/convert.h"
#include "vm/array/device_ops.h"
#include "vm/array/move.h"
#include "vm/array/strided.h"
#include "vm/base/dtype.h"
#include "vm/base/number.h"
#include "vm/base/warning.h"
#include "vm/quasar.h"
#include "vm/value/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static qs_dtype dtype_of(const Array *a) { return (qs_dtype)a->dtype; }
static size_t elem_size(const Array *a) { return qdtype_size(dtype_of(a)); }

/* -- shapes -------------------------------------------------------------------------------------------------------- */
static const char *shape_text(int rank, const int64_t *dims, char buf[SHAPE_TEXT]) {
    int n = 0;
    if (rank < 2) snprintf(buf, SHAPE_TEXT, "1x%lld", (long long)(rank ? dims[0] : 1));
    else
        for (int i = 0; i < rank; i++)
            n += snprintf(buf + n, SHAPE_TEXT - (size_t)n, i ? "x%lld" : "%lld", (long long)dims[i]);
    return buf;
}

const char *qarr_shape_text(const Array *a, char buf[SHAPE_TEXT]) {
    int64_t dims[QS_MAX_RANK];
    return shape_text(qarr_size(a, dims), dims, buf);
}

int qarr_size(const Array *a, int64_t dims[QS_MAX_RANK]) {
    int skip = a->rank < 2;
    dims[0] = 1;
    memcpy(dims + skip, a->dims, a->rank * sizeof *dims);
    return a->rank + skip;
}

bool qarr_same_dims(const Array *a, int rank, const int64_t *dims) {
    return a->rank == rank && !memcmp(a->dims, dims, a->rank * sizeof *a->dims);
}

bool qarr_same_shape(const Array *a, const Array *b) { return qarr_same_dims(a, b->rank, b->dims); }

/* Returns the number of leading extents that the normal form drops: one for 1xN. */
static int left_out(int rank, int ndim) { return rank == 1 && ndim > 1; }

int qarr_shape(const Array *a, int64_t dims[QS_MAX_RANK], int64_t strides[QS_MAX_RANK]) {
    int skip = left_out(a->rank, a->ndim);
    for (int i = 0; i < a->ndim; i++) {
        bool inside = i >= skip && i - skip < a->rank;
        dims[i] = inside ? a->dims[i - skip] : 1;
        if (strides) strides[i] = inside ? a->strides[i - skip] : i < skip ? (int64_t)a->count : 1;
    }
    return a->ndim;
}

bool qarr_has_shape(const Array *a, int ndim, const int64_t *dims) {
    int64_t have[QS_MAX_RANK];
    return a->ndim == ndim && !memcmp(have, dims, (size_t)qarr_shape(a, have, NULL) * sizeof *have);
}

void qarr_keep(Array *a, int ndim) {
    bool single = a->rank == 1 && a->dims[0] == 1;
    a->ndim = (uint8_t)(ndim < a->rank && !(single && ndim == 0) ? a->rank : ndim);
}

/* The normal form has no trailing extent of 1 beyond the second dimension; 1xN and a single number are a vec. */
int qarr_normalise(int rank, int64_t *dims) {
    while (rank > 2 && dims[rank - 1] == 1) rank--;
    if (rank == 2 && dims[0] == 1) {
        dims[0] = dims[1];
        return 1;
    }
    if (rank == 0) dims[rank++] = 1;
    return rank;
}

bool qarr_multiply_extents(int rank, const int64_t *dims, size_t *count) {
    int64_t product = 1;
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (!dims[i]) empty = true;
        else if (__builtin_mul_overflow(product, dims[i], &product)) return false;
    }
    return *count = empty ? 0 : (size_t)product, true;
}

/* Checks that the extents are those of an array that fits the address space, and computes its number of elements. */
static qs_status check_shape(qs_vm *vm, qs_dtype d, int rank, const int64_t *dims, size_t *count) {
    char text[SHAPE_TEXT];
    if (rank < 0 || rank > QS_MAX_RANK)
        return qerr_set(qvm_ctx(vm), QS_ESHAPE, "an array has at most %d dimensions, not %d", QS_MAX_RANK, rank);
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0)
            return qerr_set(qvm_ctx(vm), QS_ESHAPE, "the size of an array must be ≥ 0, got %s",
                            shape_text(rank, dims, text));
    if (qarr_multiply_extents(rank, dims, count) && *count <= PTRDIFF_MAX / qdtype_size(d)) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_ENOMEM,
                    "out of memory: an array of %s elements of type %s is larger than any memory",
                    shape_text(rank, dims, text), qdtype_info[d].name);
}

static bool is_packed(int rank, const int64_t *dims, const int64_t *strides, size_t count) {
    int64_t step = 1;
    if (!count) return true;
    for (int i = rank - 1; i >= 0; i--) {
        if (dims[i] != 1 && strides[i] != step) return false;
        step *= dims[i];
    }
    return true;
}

void qarr_packed_strides(int rank, const int64_t *dims, int64_t *strides) {
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = step;
        if (__builtin_mul_overflow(step, dims[i], &step) || step > INT64_MAX / 32) step = 0;
    }
}

static void pack_strides(Array *a) { qarr_packed_strides(a->rank, a->dims, a->strides); }

bool qarr_is_complex(qs_value v) {
    return v.kind == QS_COMPLEX || (v.kind == QS_ARRAY && qdtype_is_complex((qs_dtype)qval_array(v)->dtype));
}

bool qarr_is_truth(qs_value v) { return v.kind == QS_BOOL || (v.kind == QS_ARRAY && qval_array(v)->dtype == QS_B1); }

/* -- creation ------------------------------------------------------------------------------------------------------ */
/* Creates an array, taking the reference to buf.  The caller sets strides and contiguous. */
static qs_status new_header(qs_vm *vm, qs_dtype d, int ndim, const int64_t *dims, size_t count, Buffer *buf,
                            Array **out) {
    Array *a = qpool_get(qvm_ctx(vm), sizeof *a);
    if (!a) {
        qbuf_release(qvm_ctx(vm), buf);
        return qerr_set(qvm_ctx(vm), QS_ENOMEM, "out of memory");
    }
    a->hdr = (Obj){1, QS_ARRAY, 0, 0};
    a->dtype = (uint8_t)d;
    a->ndim = (uint8_t)ndim;
    a->size_of = 0, a->transposed = false;
    a->trace = NULL, a->family = NULL;
    a->buf = buf;
    a->offset = 0;
    a->count = count;
    for (int i = 0; i < ndim; i++) a->dims[i] = dims[i];
    a->rank = (uint8_t)qarr_normalise(ndim, a->dims);
    *out = a;
    return QS_OK;
}

static qs_status new_packed(qs_vm *vm, qs_dtype d, int rank, const int64_t *dims, size_t count, bool zeroed,
                            Array **out) {
    Buffer *buf;
    size_t nbytes = qmem_size(count, qdtype_size(d), 0);
    if (nbytes >= QCTX_LONG) qctx_let_go(qvm_ctx(vm));
    TRY(qbuf_new(qvm_ctx(vm), nbytes, zeroed, &buf));
    TRY(new_header(vm, d, rank, dims, count, buf, out));
    pack_strides(*out);
    (*out)->contiguous = true;
    return QS_OK;
}

qs_status qarr_new(qs_vm *vm, qs_dtype d, int ndim, const int64_t *dims, bool zeroed, Array **out) {
    size_t count;
    TRY(check_shape(vm, d, ndim, dims, &count));
    return new_packed(vm, d, ndim, dims, count, zeroed, out);
}

qs_status qarr_make(qs_vm *vm, qs_dtype d, int ndim, const int64_t *dims, bool zeroed, Array **out, void **p) {
    TRY(qarr_new(vm, d, ndim, dims, zeroed, out));
    qs_status s = qarr_write(vm, *out, p);
    if (s != QS_OK) qarr_release(vm, *out);
    return s;
}

qs_status qarr_like(qs_vm *vm, const Array *a, qs_dtype d, Array **out) {
    size_t count;
    if (qdtype_size(d) > elem_size(a)) TRY(check_shape(vm, d, a->rank, a->dims, &count));
    TRY(new_packed(vm, d, a->rank, a->dims, a->count, false, out));
    (*out)->ndim = a->ndim;
    return QS_OK;
}

void qarr_free(qs_vm *vm, Array *a) {
    if (__builtin_expect(a->trace || a->family || a->hdr.flags & ARRAY_KEPT, 0)) qtrace(vm)->free_array(vm, a);
    qbuf_release(qvm_ctx(vm), a->buf);
    qpool_put(qvm_ctx(vm), a, sizeof *a);
}

/* -- views --------------------------------------------------------------------------------------------------------- */
/* Sets the strides of the normal form from the strides of the shape that the array was created with. */
static void set_strides(Array *a, const int64_t *strides) {
    int skip = left_out(a->rank, a->ndim);
    for (int i = 0; i < a->rank; i++) a->strides[i] = a->ndim ? strides[i + skip] : 1;
    /* contiguous loops need aligned elements */
    a->contiguous = is_packed(a->rank, a->dims, a->strides, a->count) && qarr_aligned(a);
}

qs_status qarr_view(qs_vm *vm, Array *base, int ndim, const int64_t *dims, const int64_t *strides, size_t offset,
                    Array **out) {
    if (qtape_forbids(vm, base)) return qtrace(vm)->forbidden(vm);
    return qarr_alias(vm, base, ndim, dims, strides, offset, out);
}

qs_status qarr_alias(qs_vm *vm, Array *base, int ndim, const int64_t *dims, const int64_t *strides, size_t offset,
                     Array **out) {
    size_t count;
    TRY(check_shape(vm, dtype_of(base), ndim, dims, &count));
    qbuf_retain(base->buf);
    TRY(new_header(vm, dtype_of(base), ndim, dims, count, base->buf, out));
    (*out)->offset = offset;
    set_strides(*out, strides);
    return QS_OK;
}

/* Computes how many elements before and after the first one strided memory spans; false: beyond the address space. */
static bool reach(int rank, const int64_t *dims, const int64_t *strides, int64_t *before, int64_t *after) {
    *before = *after = 0;
    for (int i = 0; i < rank; i++) {
        int64_t span, *side = strides[i] < 0 ? before : after;
        if (!dims[i]) return *before = *after = 0, true;
        uint64_t step = strides[i] < 0 ? 0 - (uint64_t)strides[i] : (uint64_t)strides[i];
        if (__builtin_mul_overflow(dims[i] - 1, step, &span)) return false;
        if (__builtin_add_overflow(*side, span, side)) return false;
    }
    return *before < INT64_MAX / 64 && *after < INT64_MAX / 64;
}

static qs_status wrap_buffer(qs_vm *vm, const qs_array_info *info, Wrapped m, size_t *offset, size_t *count,
                             Buffer **buf) {
    size_t elem = qdtype_size(info->dtype);
    int64_t before, after;
    TRY(check_shape(vm, info->dtype, info->rank, info->dims, count));
    if (!reach(info->rank, info->dims, info->strides, &before, &after))
        return qerr_set(qvm_ctx(vm), QS_ESHAPE, "the strides of a foreign array reach beyond any memory");
    if (!m.data && *count)
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "a foreign array with elements must have an address");
    *offset = (size_t)before;
    m.data -= (size_t)before * elem;
    m.nbytes = *count ? (size_t)(before + after + 1) * elem : 0;
    m.readonly = info->readonly;
    return qbuf_wrap(qvm_ctx(vm), &m, buf);
}

qs_status qarr_wrap(qs_vm *vm, const qs_array_info *info, const Wrapped *m, Array **out) {
    size_t offset = 0, count = 0;
    Buffer *buf = NULL;
    qs_status s = wrap_buffer(vm, info, *m, &offset, &count, &buf);
    if (s) {
        if (m->release) m->release(m->owner);
        return s;
    }
    TRY(new_header(vm, info->dtype, info->rank, info->dims, count, buf, out));
    (*out)->offset = offset;
    set_strides(*out, info->strides);
    if (!count) pack_strides(*out); /* strides without elements may have any value */
    return QS_OK;
}

bool qarr_aligned(const Array *a) {
    size_t size = elem_size(a), part = qdtype_is_complex(dtype_of(a)) ? size / 2 : size;
    return a->buf->block[HOST_MEMORY] % part == 0;
}

/* -- host access --------------------------------------------------------------------------------------------------- */
qs_status qarr_lock_failed(qs_vm *vm, Array *a, const char *name, qs_status s) {
    char shape[SHAPE_TEXT], subject[SHAPE_TEXT + 128];
    if (s != QS_ELOCK) return s;
    snprintf(subject, sizeof subject, "the array (%.80s, %s)", qval_type_name(vm, qarr_value(a)),
             qarr_shape_text(a, shape));
    qerr_subject(qvm_ctx(vm), name ? name : subject);
    return s;
}

/* Returns the host pointer to the first element. */
static qs_status host(qs_vm *vm, Array *a, qs_access mode, void **p) {
    void *block;
    if (qtape_forbids(vm, a)) return qtrace(vm)->forbidden(vm);
    qs_status s = qbuf_host(qvm_ctx(vm), a->buf, mode, &block);
    if (__builtin_expect(s != QS_OK, 0)) return (void)qarr_lock_failed(vm, a, NULL, s), s;
    *p = (char *)block + a->offset * elem_size(a);
    return QS_OK;
}

static void let_go(qs_vm *vm, const Array *a) {
    if (a->count * elem_size(a) >= QCTX_LONG) qctx_let_go(qvm_ctx(vm));
}

qs_status qarr_read(qs_vm *vm, Array *a, const void **p) {
    void *q = NULL;
    let_go(vm, a);
    TRY(host(vm, a, QS_READ, &q));
    *p = q;
    return QS_OK;
}

/* A changed array is no longer a result of size(x), a transposed vec or a literal. */
qs_status qarr_touch(qs_vm *vm, Array *a) {
    if (__builtin_expect(a->hdr.flags & ARRAY_KEPT, 0)) return qtrace(vm)->unwritten(vm);
    a->size_of = 0, a->transposed = false;
    a->hdr.flags &= (uint8_t)~ARRAY_LITERAL;
    return QS_OK;
}

qs_status qarr_write(qs_vm *vm, Array *a, void **p) {
    TRY(qarr_touch(vm, a));
    let_go(vm, a);
    return host(vm, a, QS_READWRITE, p);
}

qs_status qarr_settle(qs_vm *vm, Array *a) {
    return a->buf->home > HOST_MEMORY ? qbuf_settle(qvm_ctx(vm), a->buf) : QS_OK;
}

size_t qarr_offset(const Array *a, size_t linear) {
    if (a->contiguous) return linear;
    int64_t at = 0;
    for (int i = a->rank - 1; i >= 0; i--) {
        size_t n = (size_t)a->dims[i];
        at += (int64_t)(linear % n) * a->strides[i];
        linear /= n;
    }
    return (size_t)at;
}

qs_status qarr_load(qs_vm *vm, qs_dtype d, const void *p, qs_value *out) {
    switch (d) {
    case QS_B1: *out = qs_bool(*(const uint8_t *)p != 0); return QS_OK;
    case QS_I64: {
        int64_t i;
        memcpy(&i, p, sizeof i);
        *out = qs_int(i);
        return QS_OK;
    }
    case QS_U64: {
        uint64_t u;
        memcpy(&u, p, sizeof u);
        *out = u <= INT64_MAX ? qs_int((int64_t)u) : qs_num((double)u);
        return QS_OK;
    }
    case QS_C64:
    case QS_C128: {
        QComplexD z;
        qconv_run(d, p, 0, QS_C128, &z, 0, 1);
        return qval_complex(vm, z.re, z.im, out);
    }
    default: break;
    }
    if (qdtype_is_real(d)) {
        double x;
        qconv_run(d, p, 0, QS_F64, &x, 0, 1);
        *out = qs_num(x);
    } else { /* integers up to 32 bits */
        int64_t i;
        qconv_run(d, p, 0, QS_I64, &i, 0, 1);
        *out = qs_int(i);
    }
    return QS_OK;
}

qs_status qarr_check(qs_vm *vm, Array *src, ElementCheck *check, const char *fn) {
    enum { PIECE = 512 };
    double x[PIECE];
    const void *p;
    Nest n;
    TRY(qarr_read(vm, src, &p));
    qstrided_begin(&n, src->rank, src->dims);
    qstrided_array(&n, p, src);
    qstrided_fuse(&n);
    while (qstrided_next(&n))
        for (size_t at = 0, m; at < n.count; at += m) {
            m = n.count - at < PIECE ? n.count - at : PIECE;
            qconv_run(dtype_of(src), n.at[0] + n.step[0] * (ptrdiff_t)at, n.step[0], QS_F64, x, sizeof *x, m);
            for (size_t i = 0; i < m; i++) TRY(check(vm, x[i], fn));
        }
    return QS_OK;
}

static qs_status check_truth(qs_vm *vm, double x, const char *fn) {
    char text[NUMBER_TEXT];
    (void)fn;
    if (x == 0 || x == 1) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s " QDTYPE_NO_TRUTH, qnum_shown(x, text));
}

qs_status qarr_check_truths(qs_vm *vm, const Array *dst, Array *src) {
    return dst->dtype == QS_B1 && src->dtype != QS_B1 ? qarr_check(vm, src, check_truth, NULL) : QS_OK;
}

qs_status qarr_store(qs_vm *vm, qs_dtype d, void *p, qs_value v) {
    if (d == QS_B1 && qval_is_number(v)) TRY(check_truth(vm, qval_number(v), NULL));
    if (v.kind == QS_NUM) return qconv_run(QS_F64, &v.u.f, 0, d, p, 0, 1), QS_OK;
    if (v.kind == QS_INT || v.kind == QS_BOOL) return qconv_run(QS_I64, &v.u.i, 0, d, p, 0, 1), QS_OK;
    const char *into = qdtype_info[d].name;
    if (v.kind != QS_COMPLEX)
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "an array of %s holds numbers, got a value of type %s", into,
                        qval_type_name(vm, v));
    if (!qdtype_is_complex(d))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "an array of %s cannot hold a complex number", into);
    const Complex *z = v.u.p;
    qconv_run(QS_C128, &(QComplexD){z->re, z->im}, 0, d, p, 0, 1);
    return QS_OK;
}

qs_status qarr_get(qs_vm *vm, Array *a, size_t linear, qs_value *out) {
    void *p = NULL;
    TRY(host(vm, a, QS_READ, &p));
    return qarr_load(vm, dtype_of(a), (const char *)p + (ptrdiff_t)(qarr_offset(a, linear) * elem_size(a)), out);
}

qs_status qarr_get_large(qs_vm *vm, Array *a, size_t linear, uint64_t *out, bool *large) {
    void *p = NULL;
    *large = false;
    if (a->dtype != QS_U64) return QS_OK;
    TRY(host(vm, a, QS_READ, &p));
    *out = ((const uint64_t *)p)[qarr_offset(a, linear)];
    return *large = *out > INT64_MAX, QS_OK;
}

qs_status qarr_put(qs_vm *vm, Array *a, size_t linear, qs_value v) {
    void *p = NULL;
    TRY(qarr_touch(vm, a));
    TRY(host(vm, a, QS_READWRITE, &p));
    TRY(qarr_store(vm, dtype_of(a), (char *)p + (ptrdiff_t)(qarr_offset(a, linear) * elem_size(a)), v));
    return qarr_settle(vm, a);
}

/* -- copying and converting ---------------------------------------------------------------------------------------- */
typedef struct {
    qs_dtype from, to;
    const char *src;
    char *dst;
    size_t count;
} Conversion;
enum { BLOCK = 1 << 14, WORTH = 1 << 18 }; /* elements per block; least number of bytes per thread */

static void convert_blocks(void *ud, int64_t first, int64_t last, int worker) {
    const Conversion *x = ud;
    size_t at = (size_t)first * BLOCK, end = (size_t)last * BLOCK, from = qdtype_size(x->from), to = qdtype_size(x->to);
    (void)worker;
    if (end > x->count) end = x->count;
    qconv_run(x->from, x->src + at * from, (ptrdiff_t)from, x->to, x->dst + at * to, (ptrdiff_t)to, end - at);
}

/* Copies and converts the elements of src to dst, which has the same shape; src is stretched where its extent is 1. */
static void transfer(Ctx *c, Array *dst, void *to, const Array *src, const void *from) {
    Nest n;
    if (dst->contiguous && src->contiguous && dst->count == src->count) {
        Conversion x = {dtype_of(src), dtype_of(dst), from, to, dst->count};
        int64_t grain = 1 + WORTH / (int64_t)(BLOCK * elem_size(dst));
        qthreads_run(qthreads_of(c), (int64_t)((dst->count + BLOCK - 1) / BLOCK), grain, convert_blocks, &x);
        return;
    }
    qstrided_begin(&n, dst->rank, dst->dims);
    qstrided_array(&n, to, dst);
    qstrided_array(&n, from, src);
    qstrided_fuse(&n);
    if (src->dtype == dst->dtype) {
        qmove_run(c, elem_size(dst), n.rank, n.dims, n.at[0], n.steps[0], n.at[1], n.steps[1]);
        return;
    }
    qstrided_lengthen(&n);
    while (qstrided_next(&n)) qconv_run(dtype_of(src), n.at[1], n.step[1], dtype_of(dst), n.at[0], n.step[0], n.count);
}

qs_status qarr_carry(qs_vm *vm, const ElementMove *c) {
    ptrdiff_t from_steps[QS_MAX_RANK], to_steps[QS_MAX_RANK], size = (ptrdiff_t)elem_size(c->to);
    const void *from;
    void *to;
    bool done = false;
    for (int d = 0; d < c->rank; d++)
        if (!c->dims[d]) return QS_OK; /* the other extents may be huge */
    if (qdevmath_asks(vm)) TRY(qmovelaunch_on_device(vm, c, &done));
    if (done) return QS_OK;
    TRY(qarr_read(vm, c->from, &from));
    TRY(qarr_write(vm, c->to, &to));
    for (int d = 0; d < c->rank; d++) from_steps[d] = c->from_steps[d] * size, to_steps[d] = c->to_steps[d] * size;
    qmove_run(qvm_ctx(vm), (size_t)size, c->rank, c->dims, (char *)to + c->to_at * size, to_steps,
              (const char *)from + c->from_at * size, from_steps);
    return qarr_settle(vm, c->to);
}

static qs_status assign_on_device(qs_vm *vm, Array *dst, Array *src, bool *done) {
    static const int64_t none[QS_MAX_RANK];
    bool stretched = src->count == 1 && dst->count != 1;
    return qmovelaunch_on_device(vm,
                                 &(ElementMove){.name = "copy",
                                                .from = src,
                                                .to = dst,
                                                .rank = dst->rank,
                                                .dims = dst->dims,
                                                .from_steps = stretched ? none : src->strides,
                                                .to_steps = dst->strides},
                                 done);
}

/* Assigns src, which has the shape of dst or a single element. */
static qs_status assign_elements(qs_vm *vm, Array *dst, Array *src) {
    const void *from;
    void *to;
    bool done = false;
    if (dst->count && qdevmath_asks(vm)) TRY(assign_on_device(vm, dst, src, &done));
    if (done) return QS_OK;
    TRY(qarr_read(vm, src, &from));
    TRY(qarr_write(vm, dst, &to));
    transfer(qvm_ctx(vm), dst, to, src, from);
    return qarr_settle(vm, dst);
}

static qs_status copy_as(qs_vm *vm, Array *a, qs_dtype d, Array **out) {
    TRY(qarr_like(vm, a, d, out));
    if (a->buf->blank) return qbuf_clear(qvm_ctx(vm), (*out)->buf), QS_OK;
    qs_status s = assign_elements(vm, *out, a);
    if (s) qarr_free(vm, *out);
    return s;
}

static Array *retain(Array *a) {
    a->hdr.refs++;
    return a;
}

qs_status qarr_contiguous(qs_vm *vm, Array *a, Array **out) {
    if (a->contiguous) return *out = retain(a), QS_OK;
    return copy_as(vm, a, dtype_of(a), out);
}

/* An array that fills its buffer and is not on the host is copied on its device. */
qs_status qarr_copy(qs_vm *vm, Array *a, Array **out) {
    Buffer *buf;
    if (qtape_forbids(vm, a)) return qtrace(vm)->forbidden(vm);
    if (!a->contiguous || a->buf->nbytes != a->count * elem_size(a) || !qbuf_is_away(a->buf))
        return copy_as(vm, a, dtype_of(a), out);
    TRY(qbuf_clone(qvm_ctx(vm), a->buf, &buf));
    TRY(new_header(vm, dtype_of(a), a->rank, a->dims, a->count, buf, out));
    set_strides(*out, a->strides);
    (*out)->ndim = a->ndim;
    return QS_OK;
}

qs_status qarr_convert(qs_vm *vm, Array *a, qs_dtype d, Array **out) {
    if (d == dtype_of(a)) return *out = retain(a), QS_OK;
    return copy_as(vm, a, d, out);
}

qs_status qarr_reshape(qs_vm *vm, Array *a, int ndim, const int64_t *dims, Array **out) {
    char was[SHAPE_TEXT], wanted[SHAPE_TEXT];
    size_t count;
    if (qtape_forbids(vm, a)) return qtrace(vm)->forbidden(vm);
    TRY(check_shape(vm, dtype_of(a), ndim, dims, &count));
    if (count != a->count)
        return qerr_set(qvm_ctx(vm), QS_ESHAPE, "reshape: an array of %s has %zu elements, %s needs %zu",
                        qarr_shape_text(a, was), a->count, shape_text(ndim, dims, wanted), count);
    Array *base;
    TRY(qarr_contiguous(vm, a, &base));
    qbuf_retain(base->buf);
    qs_status s = new_header(vm, dtype_of(a), ndim, dims, count, base->buf, out);
    if (!s) {
        (*out)->offset = base->offset;
        (*out)->contiguous = true;
        pack_strides(*out);
    }
    qarr_release(vm, base);
    return s;
}

/* Sets the strides of the same elements in a shape that differs only in extents of 1; false: it does not. */
static bool strides_beside_ones(const Array *a, int ndim, const int64_t *dims, int64_t *strides) {
    int k = 0;
    for (int d = 0; d < ndim; d++) {
        strides[d] = 1;
        if (dims[d] == 1) continue;
        while (k < a->rank && a->dims[k] == 1) k++;
        if (k == a->rank || a->dims[k] != dims[d]) return false;
        strides[d] = a->strides[k++];
    }
    while (k < a->rank && a->dims[k] == 1) k++;
    return k == a->rank;
}

qs_status qarr_reshape_view(qs_vm *vm, Array *a, int ndim, const int64_t *dims, Array **out) {
    int64_t strides[QS_MAX_RANK];
    if (a->contiguous || a->trace || ndim < 1 || !strides_beside_ones(a, ndim, dims, strides))
        return qarr_reshape(vm, a, ndim, dims, out);
    return qarr_view(vm, a, ndim, dims, strides, a->offset, out);
}

/* Computes the range of addresses [low, high) that an array spans. */
static void byte_range(const Array *a, uintptr_t *low, uintptr_t *high) {
    int64_t before, after;
    reach(a->rank, a->dims, a->strides, &before, &after);
    int home = a->buf->home < 0 ? HOST_MEMORY : a->buf->home;
    uintptr_t first = (uintptr_t)a->buf->block[home] + a->offset * elem_size(a);
    *low = first - (uintptr_t)before * elem_size(a);
    *high = first + ((uintptr_t)after + 1) * elem_size(a);
}

/* Two arrays may be views of one buffer, or of overlapping foreign memory blocks. */
bool qarr_overlap(const Array *a, const Array *b) {
    uintptr_t alow, ahigh, blow, bhigh;
    if (!a->count || !b->count) return false;
    if (a->buf != b->buf && !qbuf_overlap(a->buf, b->buf)) return false;
    byte_range(a, &alow, &ahigh);
    byte_range(b, &blow, &bhigh);
    return alow < bhigh && blow < ahigh;
}

bool qarr_same_elements(const Array *a, const Array *b) {
    return a->buf == b->buf && a->offset == b->offset && a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) &&
           !memcmp(a->strides, b->strides, a->rank * sizeof *a->strides);
}

qs_status qarr_assign(qs_vm *vm, Array *dst, Array *src) {
    char a[SHAPE_TEXT], b[SHAPE_TEXT];
    if (!qarr_same_shape(dst, src) && src->count != 1)
        return qerr_set(qvm_ctx(vm), QS_ESHAPE, "cannot assign an array of %s to one of %s", qarr_shape_text(src, a),
                        qarr_shape_text(dst, b));
    if (qdtype_is_complex(dtype_of(src)) && !qdtype_is_complex(dtype_of(dst)))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "cannot assign complex numbers to an array of %s",
                        qdtype_info[dst->dtype].name);
    TRY(qarr_check_truths(vm, dst, src));
    if (!qarr_overlap(dst, src) || qarr_same_elements(dst, src)) return assign_elements(vm, dst, src);
    Array *copy;
    TRY(qarr_copy(vm, src, &copy));
    qs_status s = assign_elements(vm, dst, copy);
    qarr_release(vm, copy);
    return s;
}

static qs_status fill_away(qs_vm *vm, Array *dst, qs_value number) {
    Array *one;
    TRY(qarr_from_value(vm, number, dtype_of(dst), &one));
    qs_status s = assign_elements(vm, dst, one);
    return qarr_release(vm, one), s;
}

/* The source is a single converted element with strides 0. */
qs_status qarr_fill(qs_vm *vm, Array *dst, qs_value number) {
    QComplexD room;
    void *to;
    Nest n;
    int64_t none = 0, one = 1;
    TRY(qarr_store(vm, dtype_of(dst), &room, number));
    if (dst->count > 1 && qbuf_is_away(dst->buf)) return fill_away(vm, dst, number);
    TRY(qarr_write(vm, dst, &to));
    qstrided_begin(&n, dst->rank, dst->dims);
    qstrided_array(&n, to, dst);
    qstrided_operand(&n, &room, elem_size(dst), 1, &one, &none);
    qstrided_fuse(&n);
    qmove_run(qvm_ctx(vm), elem_size(dst), n.rank, n.dims, n.at[0], n.steps[0], n.at[1], n.steps[1]);
    return qarr_settle(vm, dst);
}

qs_status qarr_from_value(qs_vm *vm, qs_value v, qs_dtype d, Array **out) {
    void *p;
    if (v.kind == QS_ARRAY) return qarr_convert(vm, qval_array(v), d, out);
    TRY(qarr_make(vm, d, 1, &(int64_t){1}, false, out, &p));
    qs_status s = qarr_store(vm, d, p, v);
    if (s) qarr_free(vm, *out);
    return s;
}

/* -- conversion of arguments --------------------------------------------------------------------------------------- */
static qs_status array_doubles(qs_vm *vm, Array *a, double *x) {
    const void *p;
    Nest n;
    TRY(qarr_read(vm, a, &p));
    if (a->contiguous) return qconv_run(dtype_of(a), p, (ptrdiff_t)elem_size(a), QS_F64, x, sizeof *x, a->count), QS_OK;
    qstrided_begin(&n, a->rank, a->dims);
    qstrided_array(&n, p, a);
    qstrided_fuse(&n);
    for (; qstrided_next(&n); x += n.count) qconv_run(dtype_of(a), n.at[0], n.step[0], QS_F64, x, sizeof *x, n.count);
    return QS_OK;
}

static qs_status cell_doubles(qs_vm *vm, const Cell *cell, const char *what, double *x) {
    for (size_t i = 0; i < cell->count; i++) {
        if (!qval_is_number(cell->items[i]))
            return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s must be numbers, got a value of type %s", what,
                            qval_type_name(vm, cell->items[i]));
        x[i] = qval_number(cell->items[i]);
    }
    return QS_OK;
}

bool qarr_few_doubles(qs_vm *vm, qs_value v, double x[QS_MAX_RANK], size_t *n) {
    if (v.kind != QS_ARRAY || qdtype_is_complex(dtype_of(qval_array(v)))) return false;
    *n = qval_array(v)->count;
    if (*n > QS_MAX_RANK) return false;
    return array_doubles(vm, qval_array(v), x) == QS_OK || (qerr_clear(qvm_ctx(vm)), false);
}

qs_status qarr_doubles(qs_vm *vm, qs_value v, const char *what, double **out, size_t *n) {
    Ctx *c = qvm_ctx(vm);
    bool is_array = v.kind == QS_ARRAY && !qdtype_is_complex(dtype_of(qval_array(v)));
    if (!is_array && v.kind != QS_CELL && !qval_is_number(v))
        return qerr_set(c, QS_ETYPE, "%s must be numbers, got a value of type %s", what, qval_type_name(vm, v));
    *n = is_array ? qval_array(v)->count : v.kind == QS_CELL ? ((Cell *)v.u.p)->count : 1;
    *out = qmem_try(c, qmem_size(*n, sizeof **out, 0));
    if (!*out) return qerr_set(c, QS_ENOMEM, "%s: not enough memory for %zu numbers", what, *n);
    qs_status s = QS_OK;
    if (is_array) s = array_doubles(vm, qval_array(v), *out);
    else if (v.kind == QS_CELL) s = cell_doubles(vm, v.u.p, what, *out);
    else **out = qval_number(v);
    if (s) qmem_free(c, *out, *n * sizeof **out);
    return s;
}

static qs_status extent_from(qs_vm *vm, const char *fn, double x, int64_t *out) {
    if (!(x > -1)) return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: size must be ≥ 0, got %.15g", fn, x);
    if (x != floor(x) && x < 0x1p53)
        TRY(qwarn_at(qvm_ctx(vm), qvm_here(vm), "%s: a size is an integer: %.15g is read as %.15g", fn, x,
                     floor(fmax(x, 0))));
    *out = qdtype_sat_i64(x, 0, INT64_MAX);
    return QS_OK;
}

static qs_status shape_from_list(qs_vm *vm, const char *fn, qs_value list, int *rank, int64_t dims[QS_MAX_RANK]) {
    double few[QS_MAX_RANK], *x = few, *made = NULL;
    size_t n;
    if (!qarr_few_doubles(vm, list, few, &n)) {
        char what[80];
        snprintf(what, sizeof what, "%s: the sizes", fn);
        TRY(qarr_doubles(vm, list, what, &made, &n));
        x = made;
    }
    qs_status s = QS_OK;
    if (n > QS_MAX_RANK)
        s = qerr_set(qvm_ctx(vm), QS_ESHAPE, "%s: an array has at most %d dimensions, got %zu sizes", fn, QS_MAX_RANK,
                     n);
    for (size_t i = 0; i < n && !s; i++) s = extent_from(vm, fn, x[i], &dims[i]);
    *rank = (int)n;
    qmem_free(qvm_ctx(vm), made, n * sizeof *x);
    if (!s && !n) s = qerr_set(qvm_ctx(vm), QS_ESHAPE, "%s: the size vector is empty", fn);
    return s;
}

/* Restores the ndim of x if the list is the result of size(x). */
static void restore_ndim(qs_value list, int *rank, int64_t dims[QS_MAX_RANK]) {
    int ndim = list.kind == QS_ARRAY && qval_array(list)->rank == 1 ? qval_array(list)->size_of : 0;
    if (ndim == 1 && *rank == 2 && dims[0] == 1) dims[0] = dims[1], *rank = 1;
    for (; *rank < ndim; ++*rank) dims[*rank] = 1;
}

qs_status qarr_shape_args(qs_vm *vm, const char *fn, int n, const qs_value *args, int *rank,
                          int64_t dims[QS_MAX_RANK]) {
    if (n < 1) return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: a size is needed", fn);
    if (n == 1 && !qval_is_number(args[0])) {
        TRY(shape_from_list(vm, fn, args[0], rank, dims));
        return restore_ndim(args[0], rank, dims), QS_OK;
    }
    if (n > QS_MAX_RANK)
        return qerr_set(qvm_ctx(vm), QS_ESHAPE, "%s: an array has at most %d dimensions, got %d sizes", fn, QS_MAX_RANK,
                        n);
    for (int i = n - 1; i >= 0; i--) {
        if (args[i].kind == QS_STRING)
            return qerr_set(qvm_ctx(vm), QS_ETYPE,
                            "%s: size %d must be a number, got a string; elements of another type come from a "
                            "conversion: uint8(zeros(2,3))",
                            fn, i + 1);
        if (!qval_is_number(args[i]))
            return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: size %d must be a number, got a value of type %s", fn, i + 1,
                            qval_type_name(vm, args[i]));
        TRY(extent_from(vm, fn, qval_number(args[i]), &dims[i]));
    }
    *rank = n;
    return QS_OK;
}

qs_status qarr_from_doubles(qs_vm *vm, const double *x, size_t n, Array **out) {
    qs_dtype d = qvm_ctx(vm)->scalar_dtype;
    int64_t dims[1] = {(int64_t)n};
    void *p;
    TRY(qarr_make(vm, d, 1, dims, false, out, &p));
    qconv_run(QS_F64, x, sizeof *x, d, p, (ptrdiff_t)qdtype_size(d), n);
    return QS_OK;
}

/* Returns whether a range has integral elements that float32 does not represent exactly; they may be indices. */
static bool range_is_wide(double lo, double step, double count) {
    double last = lo + (count - 1) * step, far = fmax(fabs(lo), fabs(last));
    return count > 0 && lo == trunc(lo) && step == trunc(step) && far > 0x1p24;
}

qs_status qarr_range(qs_vm *vm, qs_dtype d, double lo, double step, double hi, Array **out) {
    if (step == 0 || !isfinite(lo) || !isfinite(step) || !isfinite(hi))
        return qerr_set(qvm_ctx(vm), QS_EVALUE,
                        "a range needs finite bounds and a step other than 0, got %.15g..%.15g..%.15g", lo, step, hi);
    double count = qdtype_range_count(lo, step, hi);
    int64_t dims[1] = {qdtype_sat_i64(count, 0, INT64_MAX)};
    void *p;
    if (d == QS_F32 && range_is_wide(lo, step, count)) d = QS_F64;
    TRY(qarr_make(vm, d, 1, dims, false, out, &p));
    if (d == QS_F32)
        for (int64_t i = 0; i < dims[0]; i++) ((float *)p)[i] = (float)(lo + (double)i * step);
    else
        for (int64_t i = 0; i < dims[0]; i++) ((double *)p)[i] = lo + (double)i * step;
    return QS_OK;
}

/* -- matrix literals ----------------------------------------------------------------------------------------------- */
/* Returns whether |i| > 2^53, where double does not represent all integers. */
static bool is_large(int64_t i) { return i > 1LL << 53 || i < -(1LL << 53); }

/* Returns the type of a list with a large int: int64 or uint64 if all numbers are integral, otherwise d. */
static qs_dtype dtype_of_ints(int n, const qs_value *items, qs_dtype d) {
    bool has_sign = false, beyond = false;
    for (int i = 0; i < n; i++) {
        double x = items[i].kind == QS_COMPLEX ? NAN : qval_number(items[i]);
        if (!(x == trunc(x) && x >= -0x1p63 && x <= 0x1p64)) return d;
        has_sign |= x < 0, beyond |= x >= 0x1p63 && items[i].kind != QS_INT;
    }
    return !beyond ? QS_I64 : has_sign ? QS_F64 : QS_U64;
}

qs_dtype qarr_literal_dtype(qs_dtype d, int n, const qs_value *items) {
    bool complex = false, wide = false, more_digits = false;
    for (int i = 0; i < n; i++) {
        complex |= items[i].kind == QS_COMPLEX;
        more_digits |= items[i].kind == QS_INT && is_large(items[i].u.i);
        wide |= items[i].kind == QS_INT && (__int128)(float)items[i].u.i != items[i].u.i;
        wide |= items[i].kind == QS_NUM && qdtype_rounds_integral(items[i].u.f);
    }
    if (wide && d == QS_F32) d = QS_F64;
    if (more_digits) d = dtype_of_ints(n, items, d);
    return complex ? qdtype_complex_of(d) : d;
}

static qs_status literal_of_numbers(qs_vm *vm, qs_dtype d, int n, const qs_value *items, qs_value *out) {
    int64_t dims[1] = {n};
    Array *a;
    void *p;
    d = qarr_literal_dtype(d, n, items);
    TRY(qarr_make(vm, d, 1, dims, false, &a, &p));
    qs_status s = QS_OK;
    for (int i = 0; i < n && !s; i++) s = qarr_store(vm, d, (char *)p + (size_t)i * qdtype_size(d), items[i]);
    if (s) return qarr_free(vm, a), s;
    *out = qarr_value(a);
    return QS_OK;
}

static qs_status check_items(qs_vm *vm, int n, const qs_value *items, qs_dtype *d) {
    char first[SHAPE_TEXT], other[SHAPE_TEXT];
    const Array *a = qval_array(items[0]), *b;
    *d = dtype_of(a);
    for (int i = 1; i < n; i++) {
        b = qval_array(items[i]);
        if (!qarr_same_shape(a, b))
            return qerr_set(qvm_ctx(vm), QS_ESHAPE, "matrix literal: item 1 has shape %s, item %d has %s",
                            qarr_shape_text(a, first), i + 1, qarr_shape_text(b, other));
        if (dtype_of(b) != *d) *d = qdtype_promote(*d, dtype_of(b));
    }
    if (a->rank < QS_MAX_RANK) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_ESHAPE, "matrix literal: an array has at most %d dimensions", QS_MAX_RANK);
}

/* Stacks the items along a new first dimension: vectors become rows, matrices the planes of a cube. */
static qs_status literal_of_arrays(qs_vm *vm, int n, const qs_value *items, qs_value *out) {
    int64_t dims[QS_MAX_RANK + 1], strides[QS_MAX_RANK];
    const Array *first = qval_array(items[0]);
    qs_dtype d;
    Array *all, *part = NULL;
    TRY(check_items(vm, n, items, &d));
    dims[0] = n;
    int rank = first->rank;
    memcpy(dims + 1, first->dims, (size_t)rank * sizeof *dims);
    qarr_packed_strides(rank, dims + 1, strides);
    TRY(qarr_new(vm, d, rank + 1, dims, false, &all));
    if (qdevmath_asks(vm)) qbuf_unset(all->buf); /* parts of it may be written on a device */
    if (n == 1 && rank == 1) qarr_keep(all, first->ndim);
    for (int i = 0; i < n; i++) {
        size_t each = qval_array(items[i])->count;
        qs_status s = qarr_view(vm, all, rank, dims + 1, strides, (size_t)i * each, &part);
        if (!s) {
            s = qarr_assign(vm, part, qval_array(items[i]));
            qarr_release(vm, part);
        }
        if (s) return qarr_free(vm, all), s;
    }
    *out = qarr_value(all);
    return QS_OK;
}

qs_status qarr_literal(qs_vm *vm, qs_dtype d, int n, const qs_value *items, qs_value *out) {
    int arrays = 0;
    for (int i = 0; i < n; i++) {
        if (items[i].kind == QS_ARRAY) arrays++;
        else if (!qval_is_number(items[i]) && items[i].kind != QS_COMPLEX)
            return qerr_set(qvm_ctx(vm), QS_ETYPE,
                            "matrix literal: item %d has type %s; a matrix holds numbers, write {…} for a cell", i + 1,
                            qval_type_name(vm, items[i]));
    }
    if (arrays == 0) return literal_of_numbers(vm, d, n, items, out);
    if (arrays == n) return literal_of_arrays(vm, n, items, out);
    return qerr_set(qvm_ctx(vm), QS_ESHAPE,
                    "matrix literal: numbers and arrays or ranges cannot stand in one list; horzcat joins them: "
                    "horzcat(1..3, [5])");
}

/* -- cyclic shifts ------------------------------------------------------------------------------------------------- */
int qarr_matrix_dims(const Array *a, int64_t dims[QS_MAX_RANK]) {
    int before = a->rank == 1;
    dims[0] = 1;
    memcpy(dims + before, a->dims, (size_t)a->rank * sizeof *dims);
    return a->rank + before;
}

bool qarr_cyclic_cut(int rank, const int64_t *dims, const double *by, size_t n, int first, int64_t cut[QS_MAX_RANK]) {
    if (first < 0) {
        for (first = 0; n == 1 && first < rank && dims[first] == 1;) first++;
        if (first == rank) first = 0;
    }
    memset(cut, 0, QS_MAX_RANK * sizeof *cut);
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(by[i]) < INFINITY) || by[i] != floor(by[i])) return false;
        int d = first + (int)i;
        if (d >= rank || !dims[d]) continue;
        double r = fmod(-by[i], (double)dims[d]);
        cut[d] = (int64_t)(r < 0 ? r + (double)dims[d] : r);
    }
    return true;
}
