/* map_elements.c -- applies the elementwise functions of elem.def to numbers and arrays.
 *
 *   values ─ common_dtype ─► loop nest (strided.c) ─► runs ─► pieces, converted ─► contiguous loop of the function
 *
 * Operators have their own loops (contiguous.c), with variants for a number and an array.  Functions and operators of
 * many elements are compiled instead once that pays (vm/launch/elementwise_node.c). */
#include "vm/array/map_elements.h"
#include "vm/array/convert.h"
#include "vm/array/device_ops.h"
#include "vm/array/operand.h"
#include "vm/array/strided.h"
#include "vm/base/dtype.h"

LOOPS_WITHOUT_TRAPS
#ifndef __clang__
#pragma GCC optimize("no-math-errno") /* errno is not used either; this makes sqrt an instruction */
#endif
#include "lang/kernel/elem/elem_host.h"

#include <string.h>

/* -- loops --------------------------------------------------------------------------------------------------------- */
enum { MOST_ARGS = 3 };
typedef void ElemLoop(size_t n, const void *const *in, void *out);

#define ARG_1 x[i]
#define ARG_2 x[i], y[i]
#define ARG_3 x[i], y[i], z[i]
/* The result never overlaps with an operand. */
#define LOOP(id, nargs, D, In, Out)                                                                                    \
    static void loop_##id##_##D(size_t n, const void *const *in, void *vout) {                                         \
        const In *restrict x = in[0], *restrict y = in[nargs > 1], *restrict z = in[nargs > 2 ? 2 : 0];                \
        Out *restrict out = vout;                                                                                      \
        (void)y, (void)z;                                                                                              \
        for (size_t i = 0; i < n; i++) out[i] = elem_##id##_##D(ARG_##nargs);                                          \
    }
#define INTEGERS(X, id, nargs)                                                                                         \
    X(id, nargs, I32, int32_t, int32_t)                                                                                \
    X(id, nargs, U32, uint32_t, uint32_t) X(id, nargs, I64, int64_t, int64_t) X(id, nargs, U64, uint64_t, uint64_t)
#define NONE(X, id, nargs)
#define NUMBERS(X, id, nargs) X(id, nargs, F32, float, float) X(id, nargs, F64, double, double)
#define TRUTHS(X, id, nargs)  X(id, nargs, F32, float, uint8_t) X(id, nargs, F64, double, uint8_t)
#define JOINED(X, id, nargs)  X(id, nargs, F32, float, QComplexF) X(id, nargs, F64, double, QComplexD)
#define PAIRS(X, id, nargs)   X(id, nargs, C64, QComplexF, QComplexF) X(id, nargs, C128, QComplexD, QComplexD)
#define PARTS(X, id, nargs)   X(id, nargs, C64, QComplexF, float) X(id, nargs, C128, QComplexD, double)
#define TESTS(X, id, nargs)   X(id, nargs, C64, QComplexF, uint8_t) X(id, nargs, C128, QComplexD, uint8_t)

/* The columns of elem.def determine which loops exist. */
#define REAL(...)         NUMBERS
#define TRUTH(...)        TRUTHS
#define JOIN(...)         JOINED
#define NOTHING           NONE
#define COMPLEX(how, ...) PAIRS
#define PART_OF(how, ...) PARTS
#define TEST(...)         TESTS
#define FLOATS            NONE
#define SAME              INTEGERS
#define ARITH             INTEGERS
#define ITSELF            INTEGERS
#define WHOLE(...)        INTEGERS
#define FIRST(...)        INTEGERS
#define OPERATOR(...)
#define ELEM(id, nargs, bound, reals, whole, pairs, ...)                                                               \
    reals(LOOP, id, nargs) whole(LOOP, id, nargs) pairs(LOOP, id, nargs)
#include "lang/kernel/elem/elem.def"

#define ENTRY(id, nargs, D, In, Out) [QS_##D] = loop_##id##_##D,
#define OPERATOR(...)
#define ELEM(id, nargs, bound, reals, whole, pairs, ...)                                                               \
    [EL_##id] = {reals(ENTRY, id, nargs) whole(ENTRY, id, nargs) pairs(ENTRY, id, nargs)},
static ElemLoop *const loops[EL__COUNT][QS_NDTYPES] = {
#include "lang/kernel/elem/elem.def"
};

/* -- types --------------------------------------------------------------------------------------------------------- */
typedef struct {
    ElemLoop *loop;
    qs_dtype compute, gives, out; /* input type of the loop, its output type, type of the result array */
} How;

static qs_status undefined(qs_vm *vm, Elem e, const qs_value *args, const char *what) {
    if (kelem_info[e].nargs != 2) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined for %s", kelem_name(e), what);
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: not defined between %s and %s", kelem_name(e),
                    qval_type_name(vm, args[0]), qval_type_name(vm, args[1]));
}

/* Returns the output type of the function for elements of type d. */
static qs_dtype result_dtype(Elem e, qs_dtype d) {
    ElemGives g = (ElemGives)(qdtype_is_complex(d) ? kelem_info[e].complex : kelem_info[e].real);
    if (g == ELEM_TRUTH) return QS_B1;
    return g == ELEM_COMPLEX ? qdtype_complex_of(d) : qdtype_real_of(d);
}

/* Chooses the loop for elements of type d, which may compute in a wider type. */
static void choose_loop(Elem e, qs_dtype d, How *how) {
    how->compute = qoperand_compute(d);
    how->loop = loops[e][how->compute];
    how->gives = result_dtype(e, how->compute);
    how->out = how->gives == how->compute ? d : result_dtype(e, d);
}

static qs_status common_dtype(qs_vm *vm, Elem e, const qs_value *args, int n, qs_dtype *out) {
    Term terms[MOST_ARGS] = {0};
    for (int i = 0; i < n; i++) terms[i] = qoperand_term(args[i]);
    *out = kelem_meet(e, terms, qvm_ctx(vm)->scalar_dtype);
    if (kelem_info[e].integers != ELEM_ARITH || !qdtype_is_int(*out)) return QS_OK; /* limits saturate */
    for (int i = 0; i < n; i++) /* an int that the elements cannot hold is an error */
        if (args[i].kind == QS_INT) TRY(qoperand_int(vm, kelem_name(e), false, *out, args[i], out));
    return QS_OK;
}

/* -- runs ---------------------------------------------------------------------------------------------------------- */
static bool is_packed(ptrdiff_t step, qs_dtype d, qs_dtype wanted, const void *at) {
    size_t size = qdtype_size(wanted), align = qdtype_is_complex(wanted) ? size / 2 : size;
    return d == wanted && step == (ptrdiff_t)size && (uintptr_t)at % align == 0;
}

static void run_pieces(const How *how, const Nest *n, const qs_dtype *types, int nargs) {
    _Alignas(64) char room[MOST_ARGS + 1][PIECE_BYTES];
    const void *in[MOST_ARGS];
    size_t size = qdtype_size(how->compute), made = qdtype_size(how->gives), most = n->count;
    bool out_packed = is_packed(n->step[0], how->out, how->gives, n->at[0]), direct[MOST_ARGS];
    for (int i = 0; i < nargs; i++) direct[i] = is_packed(n->step[i + 1], types[i], how->compute, n->at[i + 1]);
    for (int i = 0; i < nargs; i++)
        if (!direct[i] || !out_packed) most = PIECE;
    size_t first = n->count < PIECE ? n->count : PIECE;
    for (int i = 0; i < nargs; i++) /* one number for the whole run */
        if (n->step[i + 1] == 0) qconv_run(types[i], n->at[i + 1], 0, how->compute, room[i], (ptrdiff_t)size, first);
    for (size_t at = 0, m; at < n->count; at += m) {
        m = n->count - at < most ? n->count - at : most;
        for (int i = 0; i < nargs; i++) {
            const char *from = n->at[i + 1] + n->step[i + 1] * (ptrdiff_t)at;
            if (!direct[i] && n->step[i + 1] != 0)
                qconv_run(types[i], from, n->step[i + 1], how->compute, room[i], (ptrdiff_t)size, m);
            in[i] = direct[i] ? from : room[i];
        }
        char *to = n->at[0] + n->step[0] * (ptrdiff_t)at;
        how->loop(m, in, out_packed ? to : room[MOST_ARGS]);
        if (!out_packed) qconv_run(how->gives, room[MOST_ARGS], (ptrdiff_t)made, how->out, to, n->step[0], m);
    }
}

/* Returns whether the result is one of the arguments: min, max, clamp.  (stdlib handles mod.) */
static bool is_choice(Elem e) { return kelem_info[e].integers == ELEM_SAME && kelem_info[e].nargs > 1; }

static void keep_digits(Elem e, const qs_value *given, int nargs, qs_value *args) {
    qs_dtype d = QS_B1;
    for (int i = 0; i < nargs; i++)
        if (given[i].kind == QS_ARRAY && qval_array(given[i])->dtype > d) d = (qs_dtype)qval_array(given[i])->dtype;
    for (int i = 0; i < nargs; i++) args[i] = is_choice(e) ? qoperand_integral(d, given[i]) : given[i];
}

static qs_status of_arrays(qs_vm *vm, Elem e, const qs_value *given, int nargs, qs_value *out) {
    qs_value args[MOST_ARGS];
    keep_digits(e, given, nargs, args);
    How how;
    Extents shape;
    Operand x[MOST_ARGS];
    qs_dtype d, types[MOST_ARGS];
    Array *r;
    void *to;
    Nest n;
    bool done = false;
    TRY(common_dtype(vm, e, args, nargs, &d));
    choose_loop(e, d, &how);
    TRY(qoperand_shapes(vm, kelem_name(e), args, nargs, &shape));
    TRY(qoperand_result(vm, how.out, &shape, &r));
    qs_status s = QS_OK;
    if (qelementwise_asks(vm, r)) s = qelementwise_compiled(vm, &(RowCall){e, how.compute, nargs, args, r}, &done);
    if (!s && done) return *out = qarr_value(r), QS_OK;
    for (int i = 0; i < nargs && !s; i++) s = qoperand_open(vm, args[i], how.compute, &x[i]);
    if (!s) s = qarr_write(vm, r, &to);
    if (s) return qarr_release(vm, r), s;
    qstrided_begin(&n, r->rank, r->dims);
    qstrided_array(&n, to, r);
    for (int i = 0; i < nargs; i++) {
        types[i] = x[i].dtype;
        qstrided_operand(&n, x[i].p, qdtype_size(x[i].dtype), x[i].rank, x[i].dims, x[i].strides);
    }
    qstrided_fuse(&n);
    qstrided_lengthen(&n);
    while (qstrided_next(&n)) run_pieces(&how, &n, types, nargs);
    return *out = qarr_value(r), QS_OK;
}

/* -- numbers ------------------------------------------------------------------------------------------------------- */
typedef union {
    double f;
    int64_t i;
    uint8_t b;
    QComplexD z;
} Number;

static qs_status of_numbers(qs_vm *vm, Elem e, const qs_value *args, int nargs, qs_value *out) {
    bool complex = false, ints = kelem_info[e].integers != ELEM_FLOATS;
    Number x[MOST_ARGS], r;
    for (int i = 0; i < nargs; i++) complex |= args[i].kind == QS_COMPLEX, ints &= args[i].kind == QS_INT;
    qs_dtype d = complex ? QS_C128 : ints ? QS_I64 : QS_F64;
    for (int i = 0; i < nargs; i++) {
        if (complex) x[i].z = qscalar_complex(args[i]);
        else if (ints) x[i].i = args[i].u.i;
        else x[i].f = qval_number(args[i]);
    }
    loops[e][d](1, (const void *[]){&x[0], &x[nargs > 1], &x[nargs > 2 ? 2 : 0]}, &r);
    switch (result_dtype(e, d)) {
    case QS_B1: *out = qs_bool(r.b); return QS_OK;
    case QS_I64: *out = qs_int(r.i); return QS_OK;
    case QS_F64: *out = qs_num(r.f); return QS_OK;
    default: return qval_complex(vm, r.z.re, r.z.im, out);
    }
}

qs_status qmapelem_apply(qs_vm *vm, Elem e, const qs_value *args, qs_value *out) {
    int n = kelem_info[e].nargs;
    bool arrays = false, complex = false;
    bool numbers = args[0].kind == QS_NUM && args[n > 1].kind == QS_NUM && args[n > 2 ? 2 : 0].kind == QS_NUM;
    if (numbers && kelem_info[e].real == ELEM_NUMBER) { /* fast path for real numbers */
        double r;
        loops[e][QS_F64](1, (const void *[]){&args[0].u.f, &args[n > 1].u.f, &args[n > 2 ? 2 : 0].u.f}, &r);
        return *out = qs_num(r), QS_OK;
    }
    for (int i = 0; i < n; i++) {
        if (!qoperand_fits(args[i])) return undefined(vm, e, args, qval_type_name(vm, args[i]));
        arrays |= args[i].kind == QS_ARRAY, complex |= qarr_is_complex(args[i]);
    }
    if (complex && kelem_info[e].complex == ELEM_NOTHING) return undefined(vm, e, args, "complex numbers");
    return arrays ? of_arrays(vm, e, args, n, out) : of_numbers(vm, e, args, n, out);
}
