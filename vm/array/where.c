/* where.c -- computes c ? a : b elementwise for an array c. */
#include "lang/syntax/operators.h"
#include "vm/array/arith.h"
#include "vm/array/convert.h"
#include "vm/array/device_ops.h"
#include "vm/array/operand.h"
#include "vm/array/strided.h"
#include "vm/base/dtype.h"

static qs_status choose_dtype(qs_vm *vm, qs_value a, qs_value b, qs_dtype *out) {
    qs_dtype scalar = qvm_ctx(vm)->scalar_dtype;
    Term x = qoperand_term(a), y = qoperand_term(b);
    if (qarr_is_truth(a) && qarr_is_truth(b))
        x.dtype = y.dtype = QS_B1; /* otherwise a single truth value counts as a number */
    bool numbers = x.number && y.number;
    qs_dtype list = numbers ? qarr_literal_dtype(scalar, 2, (qs_value[]){a, b}) : scalar;
    *out = qdtype_choose(x, y, list, qdtype_meet(x, y, false, scalar));
    return x.number != y.number ? qoperand_int(vm, "?", false, *out, x.number ? a : b, out) : QS_OK;
}

#define CHOOSE(T)                                                                                                      \
    do {                                                                                                               \
        const T *x = a, *y = b;                                                                                        \
        T *to = out;                                                                                                   \
        for (size_t i = 0; i < n; i++) to[i] = c[i] ? x[i] : y[i];                                                     \
    } while (0)

static void choose_by_mask(size_t size, size_t n, const uint8_t *c, const void *a, const void *b, void *out) {
    switch (size) {
    case 1: CHOOSE(uint8_t); break;
    case 2: CHOOSE(uint16_t); break;
    case 4: CHOOSE(uint32_t); break;
    case 8: CHOOSE(uint64_t); break;
    default: CHOOSE(QComplexD); break;
    }
}

static void run_pieces(const Nest *n, const qs_dtype *types, qs_dtype d) {
    _Alignas(64) char room[3][PIECE_BYTES];
    uint8_t c[PIECE];
    size_t size = qdtype_size(d);
    for (size_t at = 0, m; at < n->count; at += m) {
        m = n->count - at < PIECE ? n->count - at : PIECE;
        const char *from[NEST_OPERANDS];
        for (int i = 0; i < NEST_OPERANDS; i++) from[i] = n->at[i] + n->step[i] * (ptrdiff_t)at;
        qconv_run(types[0], from[1], n->step[1], QS_B1, c, 1, m);
        for (int i = 1; i < 3; i++) qconv_run(types[i], from[i + 1], n->step[i + 1], d, room[i], (ptrdiff_t)size, m);
        choose_by_mask(size, m, c, room[1], room[2], room[0]);
        qconv_run(d, room[0], (ptrdiff_t)size, d, (char *)(uintptr_t)from[0], n->step[0], m);
    }
}

/* -- on a device --------------------------------------------------------------------------------------------------- */
/* Computes the strides of a with extents of 1 stretched to `rank` dimensions. */
static void steps_over(const Array *a, int rank, int64_t *steps) {
    int64_t have[QS_MAX_RANK];
    int own = qarr_size(a, have), skip = own - a->rank;
    for (int d = 0; d < rank; d++) steps[d] = d < skip || d >= own || have[d] == 1 ? 0 : a->strides[d - skip];
}

/* Copies the elements of v to r where the mask is true (NULL: everywhere), on the device that holds `beside`. */
static qs_status put_where(qs_vm *vm, Array *r, qs_value v, Array *mask, Array *beside, bool *done) {
    int64_t dims[QS_MAX_RANK], from[QS_MAX_RANK], to[QS_MAX_RANK], steps[QS_MAX_RANK];
    int rank = qarr_size(r, dims);
    Array *a;
    if (v.kind == QS_ARRAY) a = qval_array(qval_retain(v));
    else TRY(qarr_from_value(vm, v, (qs_dtype)r->dtype, &a));
    steps_over(a, rank, from), steps_over(r, rank, to);
    if (mask) steps_over(mask, rank, steps);
    qs_status s = qmovelaunch_on_device(vm,
                                        &(ElementMove){.name = "?",
                                                       .from = a,
                                                       .to = r,
                                                       .rank = rank,
                                                       .dims = dims,
                                                       .from_steps = from,
                                                       .to_steps = to,
                                                       .mask = mask,
                                                       .mask_steps = steps,
                                                       .beside = beside},
                                        done);
    return qarr_release(vm, a), s;
}

/* Computes the result on a device: copies the second value, then the first one where the condition is true. */
static qs_status choose_there(qs_vm *vm, const qs_value *args, Array *r, bool *done) {
    *done = false;
    if (args[0].kind != QS_ARRAY || !r->count || !qdevmath_asks(vm) || !qdevmath_holder(vm, 3, args)) return QS_OK;
    qbuf_unset(r->buf);
    Array *beside = qval_array(args[0]);
    for (int i = 1; i < 3; i++)
        if (args[i].kind == QS_ARRAY && qbuf_is_away(qval_array(args[i])->buf)) beside = qval_array(args[i]);
    TRY(put_where(vm, r, args[2], NULL, beside, done));
    return *done ? put_where(vm, r, args[1], qval_array(args[0]), beside, done) : QS_OK;
}

/* Computes c ? a : b for given = {c, a, b}; the elements of c are not complex. */
static qs_status choose_elements(qs_vm *vm, const qs_value *given, qs_value *out) {
    qs_value args[3] = {given[0], given[1], given[2]};
    for (int i = 1; i < 3; i++)
        if (given[3 - i].kind == QS_ARRAY)
            args[i] = qoperand_integral((qs_dtype)qval_array(given[3 - i])->dtype, args[i]);
    Operand x[3];
    qs_dtype d, types[3];
    Extents shape;
    Array *r;
    void *to;
    bool done;
    Nest n;
    TRY(choose_dtype(vm, args[1], args[2], &d));
    TRY(qoperand_shapes(vm, "?", args, 3, &shape));
    TRY(qoperand_result(vm, d, &shape, &r));
    qs_status s = choose_there(vm, args, r, &done);
    if (!s && done) return *out = qarr_value(r), QS_OK;
    for (int i = 0; i < 3 && !s; i++) {
        s = qoperand_open(vm, args[i], i ? d : QS_B1, &x[i]);
        types[i] = x[i].dtype;
    }
    if (!s) s = qarr_write(vm, r, &to);
    if (s) return qarr_release(vm, r), s;
    qstrided_begin(&n, r->rank, r->dims);
    qstrided_array(&n, to, r);
    for (int i = 0; i < 3; i++) qstrided_operand(&n, x[i].p, qdtype_size(types[i]), x[i].rank, x[i].dims, x[i].strides);
    qstrided_fuse(&n);
    qstrided_lengthen(&n);
    while (qstrided_next(&n)) run_pieces(&n, types, d);
    return *out = qarr_value(r), QS_OK;
}

qs_status qarith_where(qs_vm *vm, qs_value c, qs_value a, qs_value b, qs_value *out) {
    if (!qdtype_is_complex((qs_dtype)qval_array(c)->dtype)) return choose_elements(vm, (qs_value[]){c, a, b}, out);
    qs_value truth;
    TRY(qarith_binary(vm, OP_NE, c, qs_num(0), &truth));
    qs_status s = choose_elements(vm, (qs_value[]){truth, a, b}, out);
    return qval_release(vm, truth), s;
}
