/* arith.c -- implements the operators on any two values, with broadcasting of arrays.
 *
 *   values ─ plan (operand.c): dtypes, shape of the result ─► loop nest (strided.c) ─► runs ─► loops (contiguous.c)
 *
 * The loop processes a run directly if its operands are contiguous and have the type of the computation.  Any other run
 * is processed in pieces that fit the first-level cache: inputs are gathered and converted, results are converted and
 * scattered. */
#include "vm/array/arith.h"
#include "lang/syntax/operators.h"
#include "vm/array/convert.h"
#include "vm/array/device_ops.h"
#include "vm/array/operand.h"
#include "vm/array/strided.h"
#include "vm/base/dtype.h"
#include "vm/quasar.h"

#include <math.h>
#include <string.h>

/* -- runs ---------------------------------------------------------------------------------------------------------- */
typedef struct {
    const char *at;
    ptrdiff_t step;
    qs_dtype dtype;
    size_t size;
    bool direct;
} Stream;

/* Describes a strided run; `direct` means that a loop may access it without conversion. */
static Stream stream(char *at, ptrdiff_t step, qs_dtype dtype, qs_dtype wanted) {
    size_t size = qdtype_size(wanted), align = qdtype_is_complex(wanted) ? size / 2 : size;
    bool direct = dtype == wanted && step == (ptrdiff_t)size && (uintptr_t)at % align == 0;
    return (Stream){at, step, dtype, size, direct};
}

/* Returns the next m elements as type d: in place, or converted into `piece`. */
static const void *fetch_piece(Stream *s, qs_dtype d, void *piece, size_t m) {
    const char *at = s->at;
    s->at += s->step * (ptrdiff_t)m;
    if (s->direct) return at;
    qconv_run(s->dtype, at, s->step, d, piece, (ptrdiff_t)s->size, m);
    return piece;
}

/* Computes one run, out[i] = a[i] op b[i].  An operand with step 0 is a single number. */
static void run_binary(const Plan *p, const Nest *n, qs_dtype da, qs_dtype db) {
    _Alignas(64) char piece_a[PIECE_BYTES], piece_b[PIECE_BYTES], piece_out[PIECE_BYTES];
    Stream out = stream(n->at[0], n->step[0], p->out, p->gives);
    Stream a = stream(n->at[1], n->step[1], da, p->compute), b = stream(n->at[2], n->step[2], db, p->compute);
    bool a_one = a.step == 0, b_one = b.step == 0 && !a_one;
    Loop *loop = qcontig_get(p->loop, p->compute, a_one ? LOOP_SV : b_one ? LOOP_VS : LOOP_VV);
    if (a_one) qconv_run(da, a.at, 0, p->compute, piece_a, 0, 1);
    if (b_one) qconv_run(db, b.at, 0, p->compute, piece_b, 0, 1);
    bool direct = out.direct && (a_one || a.direct) && (b_one || b.direct);
    for (size_t left = n->count, m; left; left -= m) {
        m = direct || left < PIECE ? left : PIECE;
        const void *x = a_one ? piece_a : fetch_piece(&a, p->compute, piece_a, m);
        const void *y = b_one ? piece_b : fetch_piece(&b, p->compute, piece_b, m);
        char *to = (char *)(uintptr_t)out.at;
        out.at += out.step * (ptrdiff_t)m;
        if (out.direct) loop(m, x, y, to);
        else {
            loop(m, x, y, piece_out);
            qconv_run(p->gives, piece_out, (ptrdiff_t)out.size, p->out, to, out.step, m);
        }
    }
}

/* Compares a run of uint64 with signed integers: as uint64, except that negative elements get the result `below`. */
static void run_signs(const Plan *p, const Nest *n, qs_dtype da, qs_dtype db) {
    _Alignas(64) char piece_a[PIECE_BYTES], piece_b[PIECE_BYTES];
    uint8_t truth[PIECE], below;
    int64_t signs[PIECE], ends[2] = {-1, 0};
    int side = da == QS_U64;
    const ptrdiff_t size = sizeof *signs;
    Loop *loop = qcontig_get(p->loop, QS_U64, LOOP_VV);
    qcontig_get(p->loop, QS_I64, LOOP_VV)(1, &ends[side], &ends[!side], &below);
    for (size_t at = 0, m; at < n->count; at += m) {
        m = n->count - at < PIECE ? n->count - at : PIECE;
        const char *a = n->at[1] + n->step[1] * (ptrdiff_t)at, *b = n->at[2] + n->step[2] * (ptrdiff_t)at;
        qconv_run(da, a, n->step[1], QS_U64, piece_a, size, m);
        qconv_run(db, b, n->step[2], QS_U64, piece_b, size, m);
        qconv_run(side ? db : da, side ? b : a, n->step[1 + side], QS_I64, signs, size, m);
        loop(m, piece_a, piece_b, truth);
        for (size_t i = 0; i < m; i++) truth[i] = signs[i] < 0 ? below : truth[i];
        qconv_run(QS_B1, truth, 1, p->out, n->at[0] + n->step[0] * (ptrdiff_t)at, n->step[0], m);
    }
}

/* Computes x op y modulo 2^64. */
static uint64_t wrap(LoopOp op, uint64_t x, uint64_t y) {
    return op == LOOP_ADD ? x + y : op == LOOP_SUB ? x - y : x * y;
}

/* Returns the least float that has 64 bits as an operand of an update: a subtracted or added number of an unsigned
 * element may be negative, a factor may not. */
static double least_operand(LoopOp op, bool is_signed) {
    if (is_signed) return -0x1p63;
    return op == LOOP_MUL ? 0 : -0x1.fffffffffffffp63;
}

/* Updates a run of 64-bit integers by elements of another type, out[i] = a[i] op b[i].  An integral element of b that
 * has 64 bits is used as an integer, and the result wraps.  Any other element is computed in float64, and the result
 * saturates. */
static void run_exact(const Plan *p, const Nest *n, qs_dtype da, qs_dtype db) {
    uint64_t x[PIECE], bits[PIECE];
    int64_t rounded[PIECE];
    double y[PIECE], real[PIECE];
    const ptrdiff_t size = sizeof *x;
    bool is_signed = p->out == QS_I64, float_b = qdtype_is_real(db),
         signed_b = float_b || qdtype_info[db].cls == DC_SINT;
    double least = least_operand(p->loop, is_signed), most = is_signed ? 0x1p63 : 0x1p64;
    Loop *loop = qcontig_get(p->loop, QS_F64, LOOP_VV);
    for (size_t at = 0, m; at < n->count; at += m) {
        m = n->count - at < PIECE ? n->count - at : PIECE;
        char *to = n->at[0] + n->step[0] * (ptrdiff_t)at;
        const char *a = n->at[1] + n->step[1] * (ptrdiff_t)at, *b = n->at[2] + n->step[2] * (ptrdiff_t)at;
        qconv_run(da, a, n->step[1], p->out, x, size, m);
        qconv_run(da, a, n->step[1], QS_F64, real, size, m);
        qconv_run(db, b, n->step[2], QS_F64, y, size, m);
        if (!float_b) qconv_run(db, b, n->step[2], signed_b ? QS_I64 : QS_U64, bits, size, m);
        loop(m, real, y, real);
        qconv_run(QS_F64, (const char *)real, size, p->out, rounded, size, m);
        for (size_t i = 0; i < m; i++) {
            if (float_b && !(y[i] == trunc(y[i]) && y[i] >= least && y[i] < most)) x[i] = (uint64_t)rounded[i];
            else if (!float_b && signed_b && (int64_t)bits[i] < 0 && least == 0) x[i] = 0;
            else x[i] = wrap(p->loop, x[i], !float_b ? bits[i] : y[i] < 0 ? -(uint64_t)-y[i] : (uint64_t)y[i]);
        }
        qconv_run(p->out, (const char *)x, size, p->out, to, n->step[0], m);
    }
}

static void run_plan(const Plan *p, const Operand *a, const Operand *b, void *to, int rank, const int64_t *dims,
                     const int64_t *strides) {
    Nest n;
    qstrided_begin(&n, rank, dims);
    qstrided_operand(&n, to, qdtype_size(p->out), rank, dims, strides);
    qstrided_operand(&n, a->p, qdtype_size(a->dtype), a->rank, a->dims, a->strides);
    qstrided_operand(&n, b->p, qdtype_size(b->dtype), b->rank, b->dims, b->strides);
    qstrided_fuse(&n);
    qstrided_lengthen(&n);
    while (qstrided_next(&n)) (p->exact ? run_exact : p->signs ? run_signs : run_binary)(p, &n, a->dtype, b->dtype);
}

/* -- fast path: contiguous operands that have the type of the computation ------------------------------------------ */
static bool ready(qs_value v, const Operand *o, const Plan *p, size_t count) {
    if (v.kind != QS_ARRAY) return true;
    const Array *a = qval_array(v);
    return a->contiguous && o->dtype == p->compute && a->count == count;
}

static void run_array(const Plan *p, qs_value va, const Operand *a, qs_value vb, const Operand *b, Array *dst,
                      void *to) {
    if (!p->exact && p->out == p->gives && dst->contiguous && ready(va, a, p, dst->count) &&
        ready(vb, b, p, dst->count)) {
        LoopForm form = va.kind != QS_ARRAY ? LOOP_SV : vb.kind != QS_ARRAY ? LOOP_VS : LOOP_VV;
        qcontig_get(p->loop, p->compute, form)(dst->count, a->p, b->p, to);
        return;
    }
    run_plan(p, a, b, to, dst->rank, dst->dims, dst->strides);
}

/* Returns an owned operand whose storage the result can use: it has no other reference and the right type and shape. */
static Array *reusable(qs_value v, bool owned, const Plan *p) {
    if (!owned || v.kind != QS_ARRAY) return NULL;
    Array *a = qval_array(v);
    if (!qarr_is_spare(a) || !a->contiguous || a->dtype != p->out) return NULL;
    if (a->buf->writer >= 0 || a->buf->nreaders) return NULL;
    if (a->rank != p->shape.rank || memcmp(a->dims, p->shape.dims, a->rank * sizeof *a->dims)) return NULL;
    a->hdr.refs++;
    qarr_keep(a, p->shape.ndim);
    return a;
}

static qs_status result_array(qs_vm *vm, qs_value a, qs_value b, unsigned owned, const Plan *p, Array **out) {
    if ((*out = reusable(a, owned & ARITH_OWNS_A, p)) || (*out = reusable(b, owned & ARITH_OWNS_B, p))) return QS_OK;
    return qoperand_result(vm, p->out, &p->shape, out);
}

/* Computes the operator by compiled code, if that is possible and worthwhile. */
static qs_status by_code(qs_vm *vm, Op op, qs_value a, qs_value b, const Plan *p, Array *into, bool *done) {
    Elem e = kelem_operator(op);
    *done = false;
    bool mask = p->gives == QS_B1 && p->loop == LOOP_AND;
    if (e == EL__COUNT || e == EL_bitand || e == EL_bitor || e == EL_bitxor || p->signs || mask) return QS_OK;
    return qelementwise_compiled(vm, &(RowCall){e, p->compute, 2, (qs_value[]){a, b}, into}, done);
}

static qs_status array_binary(qs_vm *vm, Op op, qs_value a, qs_value b, unsigned owned, qs_value *out) {
    Plan p;
    Operand x, y;
    Array *r;
    void *to;
    bool done = false;
    if (a.kind != QS_ARRAY) TRY(qoperand_number(vm, op, (qs_dtype)qval_array(b)->dtype, false, &a));
    else if (b.kind != QS_ARRAY) TRY(qoperand_number(vm, op, (qs_dtype)qval_array(a)->dtype, false, &b));
    TRY(qoperand_plan(vm, op, a, b, &p));
    TRY(qoperand_shape(vm, qscalar_op_name(op), a, b, &p.shape));
    TRY(result_array(vm, a, b, owned, &p, &r));
    qs_status s = qelementwise_asks(vm, r) ? by_code(vm, op, a, b, &p, r, &done) : QS_OK;
    if (!s && done) return *out = qarr_value(r), QS_OK;
    if (!s) s = qoperand_open(vm, a, p.compute, &x);
    if (!s) s = qoperand_open(vm, b, p.compute, &y);
    if (!s) s = qarr_write(vm, r, &to);
    if (s) return qarr_release(vm, r), s;
    run_array(&p, a, &x, b, &y, r, to);
    *out = qarr_value(r);
    return QS_OK;
}

/* -- the operators ------------------------------------------------------------------------------------------------- */
static bool are_many(qs_value a, qs_value b) {
    return a.kind == QS_ARRAY && b.kind == QS_ARRAY && qval_array(a)->count != 1 && qval_array(b)->count != 1;
}

bool qarith_is_product(Op op, qs_value a, qs_value b) { return op == OP_MUL && are_many(a, b); }

static qs_status check_operator(qs_vm *vm, Op op, qs_value a, qs_value b) {
    if (op == OP_POW)
        return qerr_set(qvm_ctx(vm), QS_ETYPE,
                        "^: defined between numbers only; write .^ for the power of each element");
    if (!are_many(a, b) || qarr_same_shape(qval_array(a), qval_array(b))) return QS_OK;
    char ta[SHAPE_TEXT], tb[SHAPE_TEXT];
    return qerr_set(qvm_ctx(vm), QS_ESHAPE,
                    "/: shapes %s and %s do not match; ./ stretches extents of 1, and "
                    "solve(A, B) divides by a matrix",
                    qarr_shape_text(qval_array(a), ta), qarr_shape_text(qval_array(b), tb));
}

static bool is_real(qs_value v) { return v.kind == QS_ARRAY && qdtype_is_real((qs_dtype)qval_array(v)->dtype); }

/* Returns whether this is a bitwise operator on an array of floats, which must hold integral numbers. */
static bool is_bits_of_floats(Op op, qs_value a, qs_value b) {
    return qop_is_bitwise(op) && (is_real(a) || is_real(b));
}

static qs_status bits_of_floats(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    qs_value x = qval_retain(a), y = qval_retain(b);
    qs_dtype back = QS_B1;
    qs_status s = qoperand_to_int64(vm, qscalar_op_name(op), &x, &back);
    if (s == QS_OK) s = qoperand_to_int64(vm, qscalar_op_name(op), &y, &back);
    if (s == QS_OK) s = qarith_binary(vm, op, x, y, out);
    if (s == QS_OK) s = qoperand_from_int64(vm, out, back);
    qval_release(vm, x), qval_release(vm, y);
    return s;
}

static qs_status apply_binary(qs_vm *vm, Op op, qs_value a, qs_value b, unsigned owned, qs_value *out) {
    if (a.kind != QS_ARRAY && b.kind != QS_ARRAY) return qscalar_binary(vm, op, a, b, out);
    if (!qoperand_fits(a) || !qoperand_fits(b)) return qscalar_binary(vm, op, a, b, out);
    if (qarith_is_product(op, a, b)) return qarith_matmul(vm, qval_array(a), qval_array(b), out);
    if (is_bits_of_floats(op, a, b)) return bits_of_floats(vm, op, a, b, out);
    if (op == OP_POW || op == OP_DIV) TRY(check_operator(vm, op, a, b));
    return array_binary(vm, op, a, b, owned, out);
}

qs_status qarith_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    return apply_binary(vm, op, a, b, 0, out);
}

qs_status qarith_binary_reuse(qs_vm *vm, Op op, qs_value a, qs_value b, unsigned owned, qs_value *out) {
    qs_value r = qs_nil();
    qs_status s = apply_binary(vm, op, a, b, owned, &r);
    if (owned & ARITH_OWNS_A) qval_release(vm, a);
    if (owned & ARITH_OWNS_B) qval_release(vm, b);
    if (!s) *out = r;
    return s;
}

/* Returns the number from which elements of type d are subtracted to negate them: minus zero also negates zeros. */
static qs_status minus_zero(qs_vm *vm, qs_dtype d, qs_value *out) {
    if (qdtype_is_complex(d)) return qval_complex(vm, -0.0, -0.0, out);
    *out = qdtype_is_real(d) ? qs_num(-0.0) : qs_int(0);
    return QS_OK;
}

static qs_status negate_array(qs_vm *vm, qs_value x, qs_value *out) {
    qs_value zero;
    TRY(minus_zero(vm, (qs_dtype)qval_array(x)->dtype, &zero));
    qs_status s = array_binary(vm, OP_SUB, zero, x, 0, out);
    qval_release(vm, zero);
    return s;
}

static qs_status logical_not(qs_vm *vm, qs_value x, qs_value *out) {
    if (x.kind == QS_ARRAY) return array_binary(vm, OP_EQ, x, qs_bool(false), 0, out);
    bool truth;
    TRY(qval_truth(vm, x, &truth));
    *out = qs_bool(!truth);
    return QS_OK;
}

bool qarith_order(Op op, qs_value a, qs_value b) {
    int order = a.kind == QS_NUM ? qdtype_order(b.u.i, a.u.f) : qdtype_order(a.u.i, b.u.f);
    if (order == 2) return op == OP_NE;
    if (a.kind == QS_NUM) order = -order;
    switch (op) {
    case OP_EQ: return order == 0;
    case OP_NE: return order != 0;
    case OP_LT: return order < 0;
    case OP_LE: return order <= 0;
    case OP_GT: return order > 0;
    default: return order >= 0;
    }
}

qs_status qarith_unary(qs_vm *vm, Op op, qs_value a, qs_value *out) {
    if (a.kind == QS_FOREIGN && ((Foreign *)a.u.p)->ftype->op)
        return ((Foreign *)a.u.p)->ftype->op(vm, (int)op, a, qs_nil(), out);
    if (!qoperand_fits(a))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined for %s", qscalar_op_name(op), qval_type_name(vm, a));
    if (op == OP_NOT) return logical_not(vm, a, out);
    if (op == OP_NEG) return a.kind == QS_ARRAY ? negate_array(vm, a, out) : qscalar_negate(vm, a, out);
    *out = a.kind == QS_BOOL ? qs_num((double)a.u.i) : qval_retain(a);
    return QS_OK;
}

/* -- in place ------------------------------------------------------------------------------------------------------ */
static qs_status update_by_result(qs_vm *vm, Op op, qs_value a, qs_value b) {
    qs_value r;
    TRY(qarith_binary(vm, op, a, b, &r));
    char ta[SHAPE_TEXT], tr[SHAPE_TEXT];
    qs_status s = qarr_same_shape(qval_array(a), qval_array(r))
                      ? qarr_assign(vm, qval_array(a), qval_array(r))
                      : qerr_set(qvm_ctx(vm), QS_ESHAPE, "%s: the result of shape %s does not fit %s", qop_inplace(op),
                                 qarr_shape_text(qval_array(r), tr), qarr_shape_text(qval_array(a), ta));
    qval_release(vm, r);
    return s;
}

static qs_status update_into(qs_vm *vm, Op op, qs_value a, qs_value b) {
    Array *dst = qval_array(a);
    Plan p;
    Operand x, y;
    void *to;
    TRY(qoperand_number(vm, op, (qs_dtype)dst->dtype, true, &b));
    bool exact = qoperand_is_exact(op, (qs_dtype)dst->dtype, b);
    TRY(qoperand_plan(vm, op, a, exact && b.kind == QS_INT ? qs_num(0) : b, &p));
    p.exact = exact;
    TRY(qoperand_shape(vm, qop_inplace(op), a, b, &p.shape));
    if (b.kind == QS_ARRAY && qval_array(b)->count != 1 && !qarr_same_shape(dst, qval_array(b))) {
        size_t count = 1; /* broadcasting may stretch the right side, never the left */
        for (int i = 0; i < p.shape.rank; i++) count *= (size_t)p.shape.dims[i];
        if (count != dst->count) return qoperand_shape_error(vm, qop_inplace(op), dst, qval_array(b));
    }
    if (qdtype_is_complex(p.out) && !qdtype_is_complex((qs_dtype)dst->dtype))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: an array of %s cannot hold complex numbers", qop_inplace(op),
                        qdtype_info[dst->dtype].name);
    if (dst->dtype == QS_B1 && p.out != QS_B1) return update_by_result(vm, op, a, b); /* the result has numbers */
    p.out = (qs_dtype)dst->dtype;
    bool done = false;
    if (!exact && qelementwise_asks(vm, dst)) TRY(by_code(vm, op, a, b, &p, dst, &done));
    if (done) return qarr_settle(vm, dst);
    TRY(qoperand_open(vm, b, exact && b.kind == QS_INT ? QS_I64 : exact ? QS_F64 : p.compute, &y));
    TRY(qarr_write(vm, dst, &to));
    TRY(qoperand_open(vm, a, p.compute, &x));
    run_array(&p, a, &x, b, &y, dst, to);
    return qarr_settle(vm, dst);
}

qs_status qarith_update(qs_vm *vm, Op op, qs_value a, qs_value b) {
    if (a.kind != QS_ARRAY || !qoperand_fits(b)) return qscalar_mismatch(vm, op, a, b);
    if (qarith_is_product(op, a, b) || is_bits_of_floats(op, a, b)) return update_by_result(vm, op, a, b);
    if (op == OP_POW || op == OP_DIV) TRY(check_operator(vm, op, a, b));
    if (b.kind != QS_ARRAY || !qarr_overlap(qval_array(a), qval_array(b)) ||
        qarr_same_elements(qval_array(a), qval_array(b)))
        return update_into(vm, op, a, b);
    Array *copy; /* elements of b must be read before a changes them */
    TRY(qarr_copy(vm, qval_array(b), &copy));
    qs_status s = update_into(vm, op, a, qarr_value(copy));
    qarr_release(vm, copy);
    return s;
}
