/* arith.c -- operators on any two values: numbers, strings, arrays with broadcasting.
 *
 *   values ─ plan: dtypes of reading, computing, writing; shape of the result ─► nest of runs ─► loops.c
 *
 * A run whose operands lie packed in the type of the computation goes straight through the loop.  Any other run goes
 * through it in pieces that fit the first cache, converted and gathered on the way in, converted and scattered out. */
#include "lang/kernel/sem.h"
#include "vm/array.h"
#include "vm/base/dtype.h"
#include "vm/convert.h"
#include "vm/loops.h"
#include "vm/nest.h"

#include <math.h>
#include <string.h>

enum { PIECE = 512, PIECE_BYTES = PIECE * sizeof(QComplexD) };

typedef enum { CLASS_ARITH, CLASS_FRACTION, CLASS_CHOICE, CLASS_ORDER, CLASS_LOGIC, CLASS_BITS } OpClass;
typedef struct { OpClass cls; LoopOp loop; } OpPlan;
static const OpPlan op_plans[OP__COUNT] = {
    [OP_ADD] = {CLASS_ARITH, LOOP_ADD},    [OP_SUB] = {CLASS_ARITH, LOOP_SUB},
    [OP_MUL] = {CLASS_ARITH, LOOP_MUL},    [OP_PWMUL] = {CLASS_ARITH, LOOP_MUL},
    [OP_DIV] = {CLASS_FRACTION, LOOP_DIV}, [OP_PWDIV] = {CLASS_FRACTION, LOOP_DIV},
    [OP_POW] = {CLASS_FRACTION, LOOP_POW}, [OP_PWPOW] = {CLASS_FRACTION, LOOP_POW},
    [OP_MAXEQ] = {CLASS_CHOICE, LOOP_MAX}, [OP_MINEQ] = {CLASS_CHOICE, LOOP_MIN},
    [OP_EQ] = {CLASS_ORDER, LOOP_EQ},      [OP_NE] = {CLASS_ORDER, LOOP_NE},
    [OP_LT] = {CLASS_ORDER, LOOP_LT},      [OP_LE] = {CLASS_ORDER, LOOP_LE},
    [OP_GT] = {CLASS_ORDER, LOOP_GT},      [OP_GE] = {CLASS_ORDER, LOOP_GE},
    [OP_ANDAND] = {CLASS_LOGIC, LOOP_AND}, [OP_OROR] = {CLASS_LOGIC, LOOP_OR},
    [OP_BITAND] = {CLASS_BITS, LOOP_AND},  [OP_BITOR] = {CLASS_BITS, LOOP_OR},
    [OP_BITXOR] = {CLASS_BITS, LOOP_XOR},
};

/* The operator as messages call it; those without a sign of their own are known as functions. */
static const char *name_of(Op op) {
    switch (op) {
    case OP_BITAND: return "and";
    case OP_BITOR: return "or";
    case OP_BITXOR: return "xor";
    case OP_MAXEQ: return "max";
    case OP_MINEQ: return "min";
    default: return qop_text(op);
    }
}

static qs_status type_error(qs_vm *vm, Op op, qs_value a, qs_value b) {
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined between %s and %s", name_of(op), qval_type_name(vm, a),
                    qval_type_name(vm, b));
}

/* -- two numbers --------------------------------------------------------------------------------------------------- */
static qs_status overflow(qs_vm *vm) {
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "integer overflow");
}

static qs_status int_power(qs_vm *vm, int64_t x, int64_t n, qs_value *out) {
    int64_t r = 1;
    for (int64_t square = x; n; n >>= 1) {
        if (n & 1 && __builtin_mul_overflow(r, square, &r)) return overflow(vm);
        if (n > 1 && __builtin_mul_overflow(square, square, &square)) return overflow(vm);
    }
    *out = qs_int(r);
    return QS_OK;
}

static qs_status int_binary(qs_vm *vm, Op op, int64_t x, int64_t y, qs_value *out) {
    int64_t r = 0;
    bool lost = false;
    switch (op) {
    case OP_ADD: lost = __builtin_add_overflow(x, y, &r); break;
    case OP_SUB: lost = __builtin_sub_overflow(x, y, &r); break;
    case OP_MUL: case OP_PWMUL: lost = __builtin_mul_overflow(x, y, &r); break;
    case OP_DIV: case OP_PWDIV: *out = qs_num((double)x / (double)y); return QS_OK;
    case OP_POW: case OP_PWPOW:
        if (y >= 0) return int_power(vm, x, y, out);
        *out = qs_num(qloops_power((double)x, (double)y));
        return QS_OK;
    case OP_MAXEQ: r = x > y ? x : y; break;
    case OP_MINEQ: r = x < y ? x : y; break;
    case OP_BITAND: r = x & y; break;
    case OP_BITOR: r = x | y; break;
    case OP_BITXOR: r = x ^ y; break;
    case OP_EQ: *out = qs_bool(x == y); return QS_OK;
    case OP_NE: *out = qs_bool(x != y); return QS_OK;
    case OP_LT: *out = qs_bool(x < y); return QS_OK;
    case OP_LE: *out = qs_bool(x <= y); return QS_OK;
    case OP_GT: *out = qs_bool(x > y); return QS_OK;
    case OP_GE: *out = qs_bool(x >= y); return QS_OK;
    case OP_ANDAND: *out = qs_bool(x && y); return QS_OK;
    case OP_OROR: *out = qs_bool(x || y); return QS_OK;
    default: return type_error(vm, op, qs_int(x), qs_int(y));
    }
    if (lost) return overflow(vm);
    *out = qs_int(r);
    return QS_OK;
}

static qs_status whole(qs_vm *vm, Op op, qs_value v, int64_t *out) {
    double x = v.kind == QS_COMPLEX ? NAN : qval_number(v);
    if (v.kind == QS_NUM && !(x == trunc(x) && fabs(x) < 0x1p63))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: a whole number is needed, got %.15g", name_of(op), x);
    if (v.kind == QS_COMPLEX)
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined for complex numbers", name_of(op));
    *out = v.kind == QS_NUM ? (int64_t)x : v.u.i;
    return QS_OK;
}

/* Bitwise operators on numbers that are whole, whatever their kind. */
static qs_status bits_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    int64_t x, y;
    TRY(whole(vm, op, a, &x));
    TRY(whole(vm, op, b, &y));
    TRY(int_binary(vm, op, x, y, out));
    if (a.kind == QS_BOOL && b.kind == QS_BOOL) *out = qs_bool(out->u.i != 0);
    return QS_OK;
}

static qs_status number_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    if (a.kind == QS_INT && b.kind == QS_INT) return int_binary(vm, op, a.u.i, b.u.i, out);
    double x = qval_number(a), y = qval_number(b);
    switch (op) {
    case OP_ADD: *out = qs_num(x + y); return QS_OK;
    case OP_SUB: *out = qs_num(x - y); return QS_OK;
    case OP_MUL: case OP_PWMUL: *out = qs_num(x * y); return QS_OK;
    case OP_DIV: case OP_PWDIV: *out = qs_num(x / y); return QS_OK;
    case OP_POW: case OP_PWPOW: *out = qs_num(qloops_power(x, y)); return QS_OK;
    case OP_MAXEQ: *out = qs_num(ksem_MAX_F64(x, y)); return QS_OK;
    case OP_MINEQ: *out = qs_num(ksem_MIN_F64(x, y)); return QS_OK;
    case OP_EQ: *out = qs_bool(x == y); return QS_OK;
    case OP_NE: *out = qs_bool(x != y); return QS_OK;
    case OP_LT: *out = qs_bool(x < y); return QS_OK;
    case OP_LE: *out = qs_bool(x <= y); return QS_OK;
    case OP_GT: *out = qs_bool(x > y); return QS_OK;
    case OP_GE: *out = qs_bool(x >= y); return QS_OK;
    case OP_ANDAND: *out = qs_bool(x != 0 && y != 0); return QS_OK;
    case OP_OROR: *out = qs_bool(x != 0 || y != 0); return QS_OK;
    default: return bits_binary(vm, op, a, b, out);
    }
}

static bool is_number(qs_value v) { return qval_is_number(v) || v.kind == QS_COMPLEX; }

static QComplexD complex_of(qs_value v) {
    if (v.kind != QS_COMPLEX) return (QComplexD){qval_number(v), 0};
    const Complex *z = v.u.p;
    return (QComplexD){z->re, z->im};
}

static qs_status complex_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    QComplexD x = complex_of(a), y = complex_of(b), z;
    bool equal = x.re == y.re && x.im == y.im, xtrue = x.re != 0 || x.im != 0, ytrue = y.re != 0 || y.im != 0;
    switch (op) {
    case OP_ADD: z = (QComplexD){x.re + y.re, x.im + y.im}; break;
    case OP_SUB: z = (QComplexD){x.re - y.re, x.im - y.im}; break;
    case OP_MUL: case OP_PWMUL: z = qloops_complex_mul(x, y); break;
    case OP_DIV: case OP_PWDIV: z = qloops_complex_div(x, y); break;
    case OP_POW: case OP_PWPOW: z = qloops_complex_power(x, y); break;
    case OP_EQ: *out = qs_bool(equal); return QS_OK;
    case OP_NE: *out = qs_bool(!equal); return QS_OK;
    case OP_ANDAND: *out = qs_bool(xtrue && ytrue); return QS_OK;
    case OP_OROR: *out = qs_bool(xtrue || ytrue); return QS_OK;
    default: return type_error(vm, op, a, b);
    }
    return qval_complex(vm, z.re, z.im, out);
}

/* -- strings and everything that is only equal or not -------------------------------------------------------------- */
static qs_status append_text(qs_vm *vm, qs_value v, Text *t) {
    if (v.kind != QS_STRING) return qfmt_value(vm, v, t);
    const Str *s = v.u.p;
    qtext_add(t, s->s, s->len);
    return QS_OK;
}

static qs_status concatenate(qs_vm *vm, qs_value a, qs_value b, qs_value *out) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    qs_status s = append_text(vm, a, &t);
    if (!s) s = append_text(vm, b, &t);
    return qval_text(vm, &t, s, out);
}

static bool same(qs_vm *vm, qs_value a, qs_value b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case QS_NIL: return true;
    case QS_STRING: return qstr_equal(a.u.p, b.u.p);
    case QS_CELL: case QS_TYPE: return qval_equal(vm, a, b);
    default: return a.u.p == b.u.p;
    }
}

static qs_status other_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    if (a.kind == QS_FOREIGN || b.kind == QS_FOREIGN) {
        const Foreign *f = a.kind == QS_FOREIGN ? a.u.p : b.u.p;
        if (f->ftype->op) return f->ftype->op(vm, (int)op, a, b, out);
    }
    if (op == OP_EQ || op == OP_NE) return *out = qs_bool(same(vm, a, b) == (op == OP_EQ)), QS_OK;
    bool strings = a.kind == QS_STRING && b.kind == QS_STRING;
    if (op == OP_ADD && (strings || (a.kind == QS_STRING && is_number(b)) || (is_number(a) && b.kind == QS_STRING)))
        return concatenate(vm, a, b, out);
    if (strings && op >= OP_LT && op <= OP_GE) {
        int order = strcmp(((Str *)a.u.p)->s, ((Str *)b.u.p)->s);
        return int_binary(vm, op, order, 0, out);
    }
    return type_error(vm, op, a, b);
}

/* -- the plan of an elementwise operation on arrays ---------------------------------------------------------------- */
typedef struct {
    const void *p;
    qs_dtype dtype;
    int rank;
    const int64_t *dims, *strides;
    union { double f; int64_t i; QComplexD z; } room; /* of a number that takes part */
} Operand;

typedef struct {
    LoopOp loop;
    qs_dtype compute, gives, out;         /* type of the loop, what it writes, type of the result array */
    int rank;
    int64_t dims[QS_MAX_RANK];
} Plan;

static qs_status shape_error(qs_vm *vm, const char *what, const Array *a, const Array *b) {
    char ta[SHAPE_TEXT], tb[SHAPE_TEXT];
    return qerr_set(qvm_ctx(vm), QS_ESHAPE, "%s: shapes %s and %s do not match", what, qarr_shape_text(a, ta),
                    qarr_shape_text(b, tb));
}

static bool equal_dims(const Array *a, const Array *b) {
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i]) return false;
    return true;
}

/* Whether the array has these extents, apart from those of 1 that a shape of the language leaves out. */
static bool spans(const Array *a, int rank, const int64_t *dims) {
    int64_t have[QS_MAX_RANK];
    int n = qarr_size(a, have);
    for (int i = 0; i < rank; i++)
        if (dims[i] != (i < n ? have[i] : 1)) return false;
    return true;
}

/* Extents of 1 stretch; a vec counts as 1xN, and dimensions that an array lacks at its end have extent 1, because a
 * HxWx1 cube is a mat in this language.  The result has the shape of the operand that need not stretch, which may come
 * from outside; of two the one with more dimensions. */
static qs_status broadcast(qs_vm *vm, const char *what, const Array *a, const Array *b, int *rank, int64_t *dims) {
    int64_t da[QS_MAX_RANK], db[QS_MAX_RANK];
    int na = qarr_size(a, da), nb = qarr_size(b, db);
    *rank = na > nb ? na : nb;
    for (int i = 0; i < *rank; i++) {
        int64_t x = i < na ? da[i] : 1, y = i < nb ? db[i] : 1;
        if (x != y && x != 1 && y != 1) return shape_error(vm, what, a, b);
        dims[i] = x == 1 ? y : x;
    }
    bool like_a = spans(a, *rank, dims), like_b = spans(b, *rank, dims);
    if (!like_a && !like_b) return *rank = qarr_normalise(*rank, dims), QS_OK;
    const Array *like = like_a && (!like_b || a->rank >= b->rank) ? a : b;
    *rank = like->rank;
    memcpy(dims, like->dims, sizeof like->dims);
    return QS_OK;
}

static qs_status result_shape(qs_vm *vm, const char *what, qs_value a, qs_value b, int *rank, int64_t *dims) {
    bool two = a.kind == QS_ARRAY && b.kind == QS_ARRAY;
    const Array *x = qval_array(a.kind == QS_ARRAY ? a : b);
    if (two && !equal_dims(x, qval_array(b))) return broadcast(vm, what, x, qval_array(b), rank, dims);
    *rank = x->rank;
    for (int i = 0; i < x->rank; i++) dims[i] = x->dims[i];
    return QS_OK;
}

static bool int_fits(int64_t i, qs_dtype d) {
    switch (d) {
    case QS_I32: return i >= INT32_MIN && i <= INT32_MAX;
    case QS_U32: return i >= 0 && i <= UINT32_MAX;
    case QS_U64: return i >= 0;
    default: return true;
    }
}

/* The real or complex type in which integers divide. */
static qs_dtype fraction_dtype(qs_vm *vm, qs_dtype d) {
    return qdtype_promote_scalar(d, false, qvm_ctx(vm)->scalar_dtype);
}

/* An int that an integer array cannot hold: comparisons go through float64, arithmetic refuses. */
static qs_status number_with_array(qs_vm *vm, Op op, qs_dtype d, qs_value number, qs_dtype *out) {
    OpClass cls = op_plans[op].cls;
    bool weak_int = cls != CLASS_FRACTION && (number.kind == QS_INT || number.kind == QS_BOOL);
    *out = qdtype_promote_scalar(d, weak_int, qvm_ctx(vm)->scalar_dtype);
    if (number.kind == QS_COMPLEX) *out = qdtype_complex_of(*out);
    if (number.kind != QS_INT || int_fits(number.u.i, *out)) return QS_OK;
    if (cls == CLASS_ORDER) return *out = QS_F64, QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: the integer %lld does not fit an array of %s", name_of(op),
                    (long long)number.u.i, qdtype_info[*out].name);
}

static qs_status common_dtype(qs_vm *vm, Op op, qs_value a, qs_value b, qs_dtype *out) {
    if (a.kind != QS_ARRAY) return number_with_array(vm, op, (qs_dtype)qval_array(b)->dtype, a, out);
    if (b.kind != QS_ARRAY) return number_with_array(vm, op, (qs_dtype)qval_array(a)->dtype, b, out);
    qs_dtype x = (qs_dtype)qval_array(a)->dtype, y = (qs_dtype)qval_array(b)->dtype;
    bool fraction = op_plans[op].cls == CLASS_FRACTION;
    *out = fraction ? qdtype_promote(fraction_dtype(vm, x), fraction_dtype(vm, y)) : qdtype_promote(x, y);
    return QS_OK;
}

static qs_dtype compute_dtype(qs_dtype d) {
    if (d == QS_F16 || d == QS_BF16) return QS_F32;
    return d < QS_I32 ? QS_I32 : d;
}

static qs_dtype array_dtype(qs_value v) { return v.kind == QS_ARRAY ? (qs_dtype)qval_array(v)->dtype : QS_B1; }

static qs_status plan_bits(qs_vm *vm, Op op, qs_value a, qs_value b, Plan *p) {
    qs_dtype da = array_dtype(a), db = array_dtype(b);
    int64_t number;
    if (qdtype_is_complex(p->out) || da >= QS_F16 || db >= QS_F16) return type_error(vm, op, a, b);
    if (a.kind != QS_ARRAY) TRY(whole(vm, op, a, &number));
    if (b.kind != QS_ARRAY) TRY(whole(vm, op, b, &number));
    if (da == QS_B1 && db == QS_B1 && (a.kind == QS_ARRAY || a.kind == QS_BOOL) &&
        (b.kind == QS_ARRAY || b.kind == QS_BOOL))
        p->out = p->compute = QS_B1;
    else if (a.kind != QS_ARRAY) p->out = db == QS_B1 ? QS_I32 : db;
    else if (b.kind != QS_ARRAY) p->out = da == QS_B1 ? QS_I32 : da;
    else if (da == db) p->out = da;
    if (p->out == QS_B1) return QS_OK;
    p->compute = compute_dtype(p->out);
    return p->compute >= QS_F16 ? type_error(vm, op, a, b) : QS_OK;
}

static qs_status plan_types(qs_vm *vm, Op op, qs_value a, qs_value b, Plan *p) {
    OpClass cls = op_plans[op].cls;
    p->loop = op_plans[op].loop;
    if (cls == CLASS_LOGIC) return p->compute = p->gives = p->out = QS_B1, QS_OK;
    if (cls == CLASS_BITS) {
        p->out = qdtype_promote(array_dtype(a), array_dtype(b));
        TRY(plan_bits(vm, op, a, b, p));
        p->gives = p->compute;
        return QS_OK;
    }
    TRY(common_dtype(vm, op, a, b, &p->out));
    p->compute = p->gives = compute_dtype(p->out);
    if (cls == CLASS_CHOICE && a.kind == b.kind && array_dtype(a) == array_dtype(b)) p->out = array_dtype(a);
    if (cls == CLASS_ORDER) p->gives = p->out = QS_B1;
    if (!qloops_get(p->loop, p->compute, LOOP_VV)) return type_error(vm, op, a, b);
    return QS_OK;
}

/* -- running it ---------------------------------------------------------------------------------------------------- */
static const int64_t one_extent[1] = {1}, no_stride[1] = {0};

/* A number takes part in the type of the computation; its `room` must not move afterwards. */
static qs_status open_operand(qs_vm *vm, qs_value v, qs_dtype compute, Operand *o) {
    if (v.kind == QS_ARRAY) {
        Array *a = qval_array(v);
        o->dtype = (qs_dtype)a->dtype;
        o->rank = a->rank;
        o->dims = a->dims;
        o->strides = a->strides;
        return qarr_read(vm, a, &o->p);
    }
    o->dtype = compute;
    o->rank = 1;
    o->dims = one_extent;
    o->strides = no_stride;
    o->p = &o->room;
    if (v.kind == QS_NUM) qconv_run(QS_F64, &v.u.f, 0, compute, &o->room, 0, 1);
    else if (v.kind == QS_COMPLEX)
        qconv_run(QS_C128, &(QComplexD){complex_of(v).re, complex_of(v).im}, 0, compute, &o->room, 0, 1);
    else qconv_run(QS_I64, &v.u.i, 0, compute, &o->room, 0, 1);
    return QS_OK;
}

typedef struct { const char *at; ptrdiff_t step; qs_dtype dtype; size_t size; bool direct; } Stream;

/* Whether a loop may work on the stream as it lies. */
static Stream stream(char *at, ptrdiff_t step, qs_dtype dtype, qs_dtype wanted) {
    size_t size = qdtype_size(wanted), align = qdtype_is_complex(wanted) ? size / 2 : size;
    bool direct = dtype == wanted && step == (ptrdiff_t)size && (uintptr_t)at % align == 0;
    return (Stream){at, step, dtype, size, direct};
}

/* The next m elements as type d: where they lie, or brought into `piece`. */
static const void *fetch(Stream *s, qs_dtype d, void *piece, size_t m) {
    const char *at = s->at;
    s->at += s->step * (ptrdiff_t)m;
    if (s->direct) return at;
    qconv_run(s->dtype, at, s->step, d, piece, (ptrdiff_t)s->size, m);
    return piece;
}

/* One run: out[i] = a[i] op b[i].  An operand of step 0 is one number for the whole run. */
static void run_binary(const Plan *p, const Nest *n, qs_dtype da, qs_dtype db) {
    _Alignas(64) char piece_a[PIECE_BYTES], piece_b[PIECE_BYTES], piece_out[PIECE_BYTES];
    Stream out = stream(n->at[0], n->step[0], p->out, p->gives);
    Stream a = stream(n->at[1], n->step[1], da, p->compute), b = stream(n->at[2], n->step[2], db, p->compute);
    bool a_one = a.step == 0, b_one = b.step == 0 && !a_one;
    Loop *loop = qloops_get(p->loop, p->compute, a_one ? LOOP_SV : b_one ? LOOP_VS : LOOP_VV);
    if (a_one) qconv_run(da, a.at, 0, p->compute, piece_a, 0, 1);
    if (b_one) qconv_run(db, b.at, 0, p->compute, piece_b, 0, 1);
    bool direct = out.direct && (a_one || a.direct) && (b_one || b.direct);
    for (size_t left = n->count, m; left; left -= m) {
        m = direct || left < PIECE ? left : PIECE;
        const void *x = a_one ? piece_a : fetch(&a, p->compute, piece_a, m);
        const void *y = b_one ? piece_b : fetch(&b, p->compute, piece_b, m);
        char *to = (char *)(uintptr_t)out.at;
        out.at += out.step * (ptrdiff_t)m;
        if (out.direct) loop(m, x, y, to);
        else {
            loop(m, x, y, piece_out);
            qconv_run(p->gives, piece_out, (ptrdiff_t)out.size, p->out, to, out.step, m);
        }
    }
}

static void run_plan(const Plan *p, const Operand *a, const Operand *b, void *to, int rank, const int64_t *dims,
                     const int64_t *strides) {
    Nest n;
    qnest_begin(&n, rank, dims);
    qnest_operand(&n, to, qdtype_size(p->out), rank, dims, strides);
    qnest_operand(&n, a->p, qdtype_size(a->dtype), a->rank, a->dims, a->strides);
    qnest_operand(&n, b->p, qdtype_size(b->dtype), b->rank, b->dims, b->strides);
    qnest_fuse(&n);
    qnest_lengthen(&n);
    while (qnest_next(&n)) run_binary(p, &n, a->dtype, b->dtype);
}

/* -- packed operands of the computation's type: the short way ------------------------------------------------------ */
static bool ready(qs_value v, const Operand *o, const Plan *p, size_t count) {
    if (v.kind != QS_ARRAY) return true;
    const Array *a = qval_array(v);
    return a->contiguous && o->dtype == p->compute && a->count == count;
}

static void run_array(const Plan *p, qs_value va, const Operand *a, qs_value vb, const Operand *b, Array *dst,
                      void *to) {
    if (p->out == p->gives && dst->contiguous && ready(va, a, p, dst->count) && ready(vb, b, p, dst->count)) {
        LoopForm form = va.kind != QS_ARRAY ? LOOP_SV : vb.kind != QS_ARRAY ? LOOP_VS : LOOP_VV;
        qloops_get(p->loop, p->compute, form)(dst->count, a->p, b->p, to);
        return;
    }
    run_plan(p, a, b, to, dst->rank, dst->dims, dst->strides);
}

/* Storage of an operand that nobody else sees, when the result fits into it exactly. */
static Array *reusable(qs_value v, bool owned, const Plan *p) {
    if (!owned || v.kind != QS_ARRAY) return NULL;
    Array *a = qval_array(v);
    if (a->hdr.refs != 1 || !a->contiguous || a->dtype != p->out || a->rank != p->rank) return NULL;
    if (qbuf_shared(a->buf) || a->buf->home >= 0 || a->buf->writer >= 0 || a->buf->nreaders) return NULL;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != p->dims[i]) return NULL;
    a->hdr.refs++;
    return a;
}

static qs_status result_array(qs_vm *vm, qs_value a, qs_value b, unsigned owned, const Plan *p, Array **out) {
    if ((*out = reusable(a, owned & ARITH_OWNS_A, p)) || (*out = reusable(b, owned & ARITH_OWNS_B, p))) return QS_OK;
    return qarr_new_raw(vm, p->out, p->rank, p->dims, false, out);
}

static qs_status array_binary(qs_vm *vm, Op op, qs_value a, qs_value b, unsigned owned, qs_value *out) {
    Plan p;
    Operand x, y;
    Array *r;
    void *to;
    TRY(plan_types(vm, op, a, b, &p));
    TRY(result_shape(vm, name_of(op), a, b, &p.rank, p.dims));
    TRY(open_operand(vm, a, p.compute, &x));
    TRY(open_operand(vm, b, p.compute, &y));
    TRY(result_array(vm, a, b, owned, &p, &r));
    qs_status s = qarr_write(vm, r, &to);
    if (s) return qarr_release(vm, r), s;
    run_array(&p, a, &x, b, &y, r, to);
    *out = qarr_value(r);
    return QS_OK;
}

/* -- the operators ------------------------------------------------------------------------------------------------- */
static bool takes_part(qs_value v) { return v.kind == QS_ARRAY || is_number(v); }

/* `*` between arrays is the matrix product, unless one of them is a single element. */
static bool is_product(Op op, qs_value a, qs_value b) {
    return op == OP_MUL && a.kind == QS_ARRAY && b.kind == QS_ARRAY && qval_array(a)->count != 1 &&
           qval_array(b)->count != 1;
}

static qs_status check_operator(qs_vm *vm, Op op, qs_value a, qs_value b) {
    if (op == OP_POW)
        return qerr_set(qvm_ctx(vm), QS_ETYPE,
                        "^: defined between numbers only; write .^ for the power of each element");
    if (op == OP_DIV && a.kind == QS_ARRAY && b.kind == QS_ARRAY && !qarr_same_shape(qval_array(a), qval_array(b)))
        return shape_error(vm, "/", qval_array(a), qval_array(b));
    return QS_OK;
}

static qs_status binary(qs_vm *vm, Op op, qs_value a, qs_value b, unsigned owned, qs_value *out) {
    if (qval_is_number(a) && qval_is_number(b)) return number_binary(vm, op, a, b, out);
    if (is_number(a) && is_number(b)) return complex_binary(vm, op, a, b, out);
    if (!takes_part(a) || !takes_part(b)) return other_binary(vm, op, a, b, out);
    if (is_product(op, a, b)) return qarith_matmul(vm, qval_array(a), qval_array(b), out);
    if (op == OP_POW || op == OP_DIV) TRY(check_operator(vm, op, a, b));
    return array_binary(vm, op, a, b, owned, out);
}

qs_status qarith_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    return binary(vm, op, a, b, 0, out);
}

qs_status qarith_binary_reuse(qs_vm *vm, Op op, qs_value a, qs_value b, unsigned owned, qs_value *out) {
    qs_value r = qs_nil();
    qs_status s = binary(vm, op, a, b, owned, &r);
    if (owned & ARITH_OWNS_A) qval_release(vm, a);
    if (owned & ARITH_OWNS_B) qval_release(vm, b);
    if (!s) *out = r;
    return s;
}

/* Minus is subtraction from minus zero, which negates zeros too; unsigned types have no room for the result. */
static qs_status negate_array(qs_vm *vm, qs_value x, qs_value *out) {
    Array *a = qval_array(x), *wide = NULL;
    if (a->dtype == QS_U32 || a->dtype == QS_U64) TRY(qarr_convert(vm, a, a->dtype == QS_U32 ? QS_I64 : QS_F64, &wide));
    qs_value zero = qdtype_is_int((qs_dtype)a->dtype) || a->dtype == QS_B1 ? qs_int(0) : qs_num(-0.0);
    if (wide && wide->dtype == QS_F64) zero = qs_num(-0.0);
    qs_status s = array_binary(vm, OP_SUB, zero, wide ? qarr_value(wide) : x, 0, out);
    if (wide) qarr_release(vm, wide);
    return s;
}

static qs_status negate(qs_vm *vm, qs_value x, qs_value *out) {
    switch (x.kind) {
    case QS_NUM: *out = qs_num(-x.u.f); return QS_OK;
    case QS_BOOL: *out = qs_num(-(double)x.u.i); return QS_OK;
    case QS_INT:
        if (x.u.i == INT64_MIN) return overflow(vm);
        *out = qs_int(-x.u.i);
        return QS_OK;
    case QS_COMPLEX: return qval_complex(vm, -complex_of(x).re, -complex_of(x).im, out);
    default: return negate_array(vm, x, out);
    }
}

static qs_status logical_not(qs_vm *vm, qs_value x, qs_value *out) {
    if (x.kind == QS_ARRAY) return array_binary(vm, OP_EQ, x, qs_bool(false), 0, out);
    bool truth;
    TRY(qval_truth(vm, x, &truth));
    *out = qs_bool(!truth);
    return QS_OK;
}

qs_status qarith_unary(qs_vm *vm, Op op, qs_value a, qs_value *out) {
    if (a.kind == QS_FOREIGN && ((Foreign *)a.u.p)->ftype->op)
        return ((Foreign *)a.u.p)->ftype->op(vm, (int)op, a, qs_nil(), out);
    if (!takes_part(a))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined for %s", name_of(op), qval_type_name(vm, a));
    if (op == OP_NOT) return logical_not(vm, a, out);
    if (op == OP_NEG) return negate(vm, a, out);
    *out = a.kind == QS_BOOL ? qs_num((double)a.u.i) : qval_retain(a);
    return QS_OK;
}

/* -- in place ------------------------------------------------------------------------------------------------------ */
static qs_status update_into(qs_vm *vm, Op op, qs_value a, qs_value b) {
    Array *dst = qval_array(a);
    Plan p;
    Operand x, y;
    void *to;
    TRY(plan_types(vm, op, a, b, &p));
    TRY(result_shape(vm, qop_inplace(op), a, b, &p.rank, p.dims));
    if (b.kind == QS_ARRAY && qval_array(b)->count != 1 && !equal_dims(dst, qval_array(b))) {
        size_t count = 1; /* broadcasting may stretch the right side, never the left */
        for (int i = 0; i < p.rank; i++) count *= (size_t)p.dims[i];
        if (count != dst->count) return shape_error(vm, qop_inplace(op), dst, qval_array(b));
    }
    if (qdtype_is_complex(p.out) && !qdtype_is_complex((qs_dtype)dst->dtype))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: an array of %s cannot hold complex numbers", qop_inplace(op),
                        qdtype_info[dst->dtype].name);
    p.out = (qs_dtype)dst->dtype;
    TRY(open_operand(vm, b, p.compute, &y));
    TRY(qarr_write(vm, dst, &to));
    TRY(open_operand(vm, a, p.compute, &x));
    run_array(&p, a, &x, b, &y, dst, to);
    return qarr_settle(vm, dst);
}

static qs_status update_by_result(qs_vm *vm, Op op, qs_value a, qs_value b) {
    qs_value r;
    TRY(qarith_binary(vm, op, a, b, &r));
    char ta[SHAPE_TEXT], tr[SHAPE_TEXT];
    qs_status s = qarr_same_shape(qval_array(a), qval_array(r))
                      ? qarr_assign(vm, qval_array(a), qval_array(r))
                      : qerr_set(qvm_ctx(vm), QS_ESHAPE, "%s: the product of shape %s does not fit %s", qop_inplace(op),
                                 qarr_shape_text(qval_array(r), tr), qarr_shape_text(qval_array(a), ta));
    qval_release(vm, r);
    return s;
}

qs_status qarith_update(qs_vm *vm, Op op, qs_value a, qs_value b) {
    if (a.kind != QS_ARRAY || !takes_part(b)) return type_error(vm, op, a, b);
    if (is_product(op, a, b)) return update_by_result(vm, op, a, b);
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

/* -- functions of one and two elements ----------------------------------------------------------------------------- */
static void map_reals(const MapFn *fn, qs_dtype d, void *p, size_t n) {
    if (d == QS_F64)
        for (double *x = p; n--; x++) *x = fn->real(*x);
    else if (fn->real32)
        for (float *x = p; n--; x++) *x = fn->real32(*x);
    else
        for (float *x = p; n--; x++) *x = (float)fn->real((double)*x);
}

/* Functions that keep integers give x, -x or something small: exact even where doubles cannot tell neighbours apart. */
static void map_int64(const MapFn *fn, int64_t *x, size_t n) {
    for (; n--; x++) {
        double before = (double)*x, after = fn->real(before);
        if (after == before) continue;
        if (after == -before) *x = *x == INT64_MIN ? INT64_MAX : -*x;
        else *x = qdtype_sat_i64(after, INT64_MIN, INT64_MAX);
    }
}

static void map_uint64(const MapFn *fn, uint64_t *x, size_t n) {
    for (; n--; x++) {
        double after = fn->real((double)*x);
        if (after != (double)*x) *x = qdtype_sat_u64(after, UINT64_MAX);
    }
}

static void map_complex(const MapFn *fn, QComplexD *z, size_t n) {
    for (; n--; z++) {
        double in[2] = {z->re, z->im}, out[2];
        fn->cplx(in, out);
        *z = (QComplexD){out[0], out[1]};
    }
}

/* In which type a function is evaluated on elements of type d. */
static qs_dtype map_compute(qs_dtype out) {
    if (qdtype_is_complex(out)) return QS_C128;
    if (out == QS_U64 || qdtype_is_real(out)) return compute_dtype(out);
    return QS_I64;
}

static void map_piece(const MapFn *fn, qs_dtype d, void *p, size_t n) {
    if (d == QS_C128) map_complex(fn, p, n);
    else if (d == QS_I64) map_int64(fn, p, n);
    else if (d == QS_U64) map_uint64(fn, p, n);
    else map_reals(fn, d, p, n);
}

static void map_run(const MapFn *fn, qs_dtype from, const char *src, ptrdiff_t sstep, qs_dtype to, char *dst,
                    size_t n) {
    _Alignas(64) char piece[PIECE_BYTES];
    qs_dtype compute = map_compute(to);
    ptrdiff_t size = (ptrdiff_t)qdtype_size(compute), dstep = (ptrdiff_t)qdtype_size(to);
    for (size_t m; n; n -= m, src += sstep * (ptrdiff_t)m, dst += dstep * (ptrdiff_t)m) {
        m = n < PIECE ? n : PIECE;
        qconv_run(from, src, sstep, compute, piece, size, m);
        map_piece(fn, compute, piece, m);
        qconv_run(compute, piece, size, to, dst, dstep, m);
    }
}

static qs_status map_array(qs_vm *vm, const MapFn *fn, Array *a, qs_value *out) {
    qs_dtype from = (qs_dtype)a->dtype;
    bool keeps = fn->keeps_int && from != QS_B1 && from < QS_F16;
    qs_dtype to = keeps ? from : fraction_dtype(vm, from);
    const void *src;
    void *dst;
    Array *r;
    Nest n;
    TRY(qarr_read(vm, a, &src));
    TRY(qarr_like(vm, a, to, &r));
    qs_status s = qarr_write(vm, r, &dst);
    if (s) return qarr_release(vm, r), s;
    qnest_begin(&n, a->rank, a->dims);
    qnest_array(&n, src, a);
    qnest_fuse(&n);
    for (char *at = dst; qnest_next(&n); at += n.count * qdtype_size(to))
        map_run(fn, from, n.at[0], n.step[0], to, at, n.count);
    *out = qarr_value(r);
    return QS_OK;
}

static qs_status map_number(qs_vm *vm, const MapFn *fn, qs_value x, qs_value *out) {
    if (x.kind == QS_COMPLEX) {
        double in[2] = {complex_of(x).re, complex_of(x).im}, z[2];
        fn->cplx(in, z);
        return qval_complex(vm, z[0], z[1], out);
    }
    if (x.kind == QS_INT && fn->keeps_int) {
        int64_t i = x.u.i;
        map_int64(fn, &i, 1);
        *out = qs_int(i);
    } else *out = qs_num(fn->real(qval_number(x)));
    return QS_OK;
}

qs_status qarith_map(qs_vm *vm, const MapFn *fn, qs_value x, qs_value *out) {
    if (!takes_part(x))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined for %s", fn->name, qval_type_name(vm, x));
    bool cplx = x.kind == QS_COMPLEX || (x.kind == QS_ARRAY && qdtype_is_complex((qs_dtype)qval_array(x)->dtype));
    if (cplx && !fn->cplx) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined for complex numbers", fn->name);
    return x.kind == QS_ARRAY ? map_array(vm, fn, qval_array(x), out) : map_number(vm, fn, x, out);
}

static void map2_run(double (*fn)(double, double), const Nest *n, qs_dtype to, qs_dtype da, qs_dtype db) {
    double x[PIECE], y[PIECE];
    const ptrdiff_t size = sizeof(double);
    for (size_t at = 0, m; at < n->count; at += m) {
        m = n->count - at < PIECE ? n->count - at : PIECE;
        qconv_run(da, n->at[1] + n->step[1] * (ptrdiff_t)at, n->step[1], QS_F64, x, size, m);
        qconv_run(db, n->at[2] + n->step[2] * (ptrdiff_t)at, n->step[2], QS_F64, y, size, m);
        for (size_t i = 0; i < m; i++) x[i] = fn(x[i], y[i]);
        qconv_run(QS_F64, x, size, to, n->at[0] + n->step[0] * (ptrdiff_t)at, n->step[0], m);
    }
}

/* An operand read as float64; a number takes part with the precision of the result, as it does in kernels. */
static qs_status open_weak(qs_vm *vm, qs_value v, qs_dtype result, Operand *o) {
    QComplexD rounded;
    TRY(open_operand(vm, v, QS_F64, o));
    if (v.kind == QS_ARRAY || result == QS_F64) return QS_OK;
    qconv_run(QS_F64, &o->room, 0, result, &rounded, 0, 1);
    qconv_run(result, &rounded, 0, QS_F64, &o->room, 0, 1);
    return QS_OK;
}

static qs_status map2_array(qs_vm *vm, const char *name, double (*fn)(double, double), qs_value a, qs_value b,
                            qs_value *out) {
    int rank;
    int64_t dims[QS_MAX_RANK];
    qs_dtype d;
    Operand x, y;
    Array *r;
    void *to;
    Nest n;
    TRY(common_dtype(vm, OP_DIV, a, b, &d));
    TRY(result_shape(vm, name, a, b, &rank, dims));
    TRY(open_weak(vm, a, d, &x));
    TRY(open_weak(vm, b, d, &y));
    TRY(qarr_new_raw(vm, d, rank, dims, false, &r));
    qs_status s = qarr_write(vm, r, &to);
    if (s) return qarr_release(vm, r), s;
    qnest_begin(&n, r->rank, r->dims);
    qnest_array(&n, to, r);
    qnest_operand(&n, x.p, qdtype_size(x.dtype), x.rank, x.dims, x.strides);
    qnest_operand(&n, y.p, qdtype_size(y.dtype), y.rank, y.dims, y.strides);
    qnest_fuse(&n);
    qnest_lengthen(&n);
    while (qnest_next(&n)) map2_run(fn, &n, d, x.dtype, y.dtype);
    *out = qarr_value(r);
    return QS_OK;
}

static bool is_real(qs_value v) {
    return qval_is_number(v) || (v.kind == QS_ARRAY && !qdtype_is_complex((qs_dtype)qval_array(v)->dtype));
}

qs_status qarith_map2(qs_vm *vm, const char *name, double (*fn)(double, double), qs_value a, qs_value b,
                      qs_value *out) {
    if (!is_real(a) || !is_real(b))
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined between %s and %s", name, qval_type_name(vm, a),
                        qval_type_name(vm, b));
    if (a.kind == QS_ARRAY || b.kind == QS_ARRAY) return map2_array(vm, name, fn, a, b, out);
    *out = qs_num(fn(qval_number(a), qval_number(b)));
    return QS_OK;
}
