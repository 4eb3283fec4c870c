/* operators.c -- implements Python operators on qvalues.  x + y in Python is x + y in the language; but * and / of two
 * arrays are elementwise, as in NumPy, and @ is the matrix product.
 *
 * The other operand may be a number (also of a derived type such as numpy.float64), a string, a NumPy array or a DLPack
 * tensor; beside an array also a list of numbers.  Types are promoted by the rules of the language; shapes are aligned
 * at their last dimensions, as in NumPy. */
#include "lang/syntax/operators.h"
#include "bridge/bridge.h"
#include "vm/array/arith.h"
#include "vm/tape/tape.h"

#include <math.h>
#include <string.h>

static bool is_array(PyObject *o) { return qvalue_check(o) && qwrapper_value(o).kind == QS_ARRAY; }
static bool is_list(PyObject *o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }

static bool is_operand(PyObject *o) {
    return qvalue_check(o) || PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || PyUnicode_CheckExact(o) ||
           qnd_is_numbers(o) || qnd_is_tensor(o);
}

static int check_status(Border *b, qs_status s) {
    return s == QS_OK && !PyErr_Occurred() ? 0 : (s ? qerror_raise(b, s) : NULL, -1);
}

/* Returns whether o has elements that a number of the language cannot represent.  Beside them every Python int becomes
 * an `int` of the language, even a small one, so that the type of a result does not depend on values. */
static bool is_wide(PyObject *o) {
    const Array *a = o && is_array(o) ? qwrapper_value(o).u.p : NULL;
    return a && (a->dtype == QS_I64 || a->dtype == QS_U64);
}

static int too_large(void) {
    return PyErr_SetString(PyExc_OverflowError, "an integer of the language has at most 64 bits"), -1;
}

/* Converts integers from 2^63 on, which only uint64 elements can represent. */
static int take_unsigned(Border *b, PyObject *o, qs_value *out) {
    Array *a;
    void *p;
    uint64_t n = PyLong_AsUnsignedLongLong(o);
    if (PyErr_Occurred()) return too_large();
    if (check_status(b, qarr_make(b->vm, QS_U64, 1, (int64_t[]){1}, false, &a, &p)) < 0) return -1;
    memcpy(p, &n, sizeof n);
    return *out = qarr_value(a), 0;
}

static int take_int(Border *b, PyObject *o, bool wide, qs_value *out) {
    int overflow;
    long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow > 0 && wide) return take_unsigned(b, o, out);
    if (overflow) return too_large();
    bool exact = n >= -(1LL << 53) && n <= 1LL << 53;
    *out = exact && !wide ? qs_num((double)n) : qs_int(n);
    return n == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Converts operand o; other: the second operand, or NULL. */
static int take_operand(Border *b, PyObject *o, PyObject *other, qs_value *out) {
    if (qvalue_check(o)) {
        if (qwrapper_border(o) != b)
            return PyErr_SetString((PyObject *)qbridge.error, "the operands belong to different Quasar machines"), -1;
        return *out = qval_retain(qwrapper_value(o)), 0;
    }
    if (PyFloat_Check(o)) return *out = qs_num(PyFloat_AsDouble(o)), 0;
    if (PyLong_Check(o)) return take_int(b, o, is_wide(other), out);
    if (PyComplex_Check(o))
        return check_status(b, qval_complex(b->vm, PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o), out));
    return check_status(b, is_list(o) ? qnd_operand(b, o, out) : qnd_import(b, o, out));
}

/* Prepends dimensions of extent 1. */
static qs_status prepend_dims(qs_vm *vm, qs_value *v, int ndim) {
    Array *a = qval_array(*v), *wide;
    int64_t dims[2 * QS_MAX_RANK], strides[2 * QS_MAX_RANK];
    int from = ndim - a->ndim;
    for (int i = 0; i < from; i++) dims[i] = strides[i] = 1;
    qarr_shape(a, dims + from, strides + from);
    TRY(qhook_view(vm, a, ndim, dims, strides, a->offset, &wide));
    qarr_release(vm, a);
    return *v = qarr_value(wide), QS_OK;
}

/* The language aligns shapes at their first dimensions and treats a vec as one row, so only ranks above two must be
 * made equal. */
qs_status qoperator_align(qs_vm *vm, qs_value *v, int n) {
    int most = 2;
    for (int i = 0; i < n; i++)
        if (v[i].kind == QS_ARRAY && qval_array(v[i])->ndim > most) most = qval_array(v[i])->ndim;
    for (int i = 0; most > 2 && i < n; i++)
        if (v[i].kind == QS_ARRAY && qval_array(v[i])->ndim < most) TRY(prepend_dims(vm, &v[i], most));
    return QS_OK;
}

/* A list is an operand only beside an array: [1, 2]*2 in Python repeats the list. */
static bool are_operands(PyObject *x, PyObject *y) {
    return (is_operand(x) || (is_list(x) && is_array(y))) && (is_operand(y) || (is_list(y) && is_array(x)));
}

typedef qs_status Operation(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out);

static PyObject *apply_operation(Operation *f, Op op, PyObject *x, PyObject *y) {
    Border *b = qwrapper_border(qvalue_check(x) ? x : y);
    qs_value p, q, r;
    if (!are_operands(x, y)) return qwrapper_not_implemented();
    if (qgil_enter(b) < 0) return NULL;
    if (take_operand(b, x, y, &p) < 0) return qgil_leave(b), NULL;
    if (take_operand(b, y, x, &q) < 0) return qs_release(b->vm, p), qgil_leave(b), NULL;
    int before = qgil_work(b);
    qs_status s = f(b->vm, op, p, q, &r);
    qgil_rest(b, before);
    qs_release(b->vm, p);
    qs_release(b->vm, q);
    PyObject *o = qvalue_result(b, s, &r);
    qgil_leave(b);
    return o;
}

static qs_status elementwise(qs_vm *vm, Op op, qs_value p, qs_value q, qs_value *out) {
    qs_value v[2] = {qval_retain(p), qval_retain(q)};
    qs_status s = qoperator_align(vm, v, 2);
    if (s == QS_OK) s = (qtape_any(vm, 2, v) ? qhook_binary : qarith_binary)(vm, op, v[0], v[1], out);
    qs_release(vm, v[0]);
    qs_release(vm, v[1]);
    return s;
}

static PyObject *apply_binary(Op op, PyObject *x, PyObject *y) { return apply_operation(elementwise, op, x, y); }

static bool is_factor(qs_value v) {
    return v.kind == QS_ARRAY && (qval_array(v)->ndim == 1 || qval_array(v)->ndim == 2);
}

/* The rules of NumPy, but without stacks of matrices. */
static qs_status check_factors(qs_vm *vm, qs_value a, qs_value b) {
    int64_t m[QS_MAX_RANK], n[QS_MAX_RANK];
    if (!is_factor(a) || !is_factor(b))
        return qs_fail(vm, a.kind == QS_ARRAY && b.kind == QS_ARRAY ? QS_ESHAPE : QS_ETYPE,
                       "@: vectors and matrices are wanted, got %s and %s", qval_type_name(vm, a),
                       qval_type_name(vm, b));
    int64_t last = m[qarr_shape(qval_array(a), m, NULL) - 1];
    qarr_shape(qval_array(b), n, NULL);
    if (last == n[0]) return QS_OK;
    return qs_fail(vm, QS_ESHAPE,
                   "@: the last extent on the left, %lld, and the first on the right, %lld, do not match",
                   (long long)last, (long long)n[0]);
}

/* Treats a vector on the right as a column. */
static qs_status as_column(qs_vm *vm, Array *b, Array **out) {
    if (b->ndim == 2) return *out = b, qval_retain(qarr_value(b)), QS_OK;
    return qhook_view(vm, b, 2, (int64_t[]){b->dims[0], 1}, (int64_t[]){b->strides[0], 1}, b->offset, out);
}

/* Gives the product of a and b its shape: without the contracted dimensions, and without those that a vector lacks.
 * The product of two vectors is a number. */
static qs_status shape_product(qs_vm *vm, const Array *a, const Array *b, Array *r, qs_value *out) {
    int64_t dims[2], m[QS_MAX_RANK], n[QS_MAX_RANK];
    int ndim = 0;
    if (qarr_shape(a, m, NULL) == 2) dims[ndim++] = m[0];
    if (qarr_shape(b, n, NULL) == 2) dims[ndim++] = n[1];
    if (!ndim && qtape_touches(qarr_value(r))) return qhook_element(vm, qarr_value(r), 0, out);
    if (!ndim) return qarr_get(vm, r, 0, out);
    *out = qval_retain(qarr_value(r));
    qs_status s = qnd_shape(vm, ndim, dims, out);
    if (s != QS_OK) qarr_release(vm, r);
    return s;
}

static qs_status matmul(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    qs_value r;
    Array *column;
    TRY(check_factors(vm, a, b));
    TRY(as_column(vm, qval_array(b), &column));
    const qs_value in[2] = {a, qarr_value(column)};
    bool recorded = qtape_any(vm, 2, in);
    qs_status s = recorded ? qhook_binary(vm, op, a, in[1], &r) : qarith_matmul(vm, qval_array(a), column, &r);
    qarr_release(vm, column);
    TRY(s);
    s = shape_product(vm, qval_array(a), qval_array(b), r.u.p, out);
    qs_release(vm, r);
    return s;
}

/* x op= y in the memory of an array; for other values Python replaces x. */
static PyObject *in_place(Op op, PyObject *x, PyObject *y) {
    Border *b = qwrapper_border(x);
    qs_value p = qwrapper_value(x), q;
    if (p.kind != QS_ARRAY || !are_operands(x, y)) return qwrapper_not_implemented();
    if (qgil_enter(b) < 0) return NULL;
    if (take_operand(b, y, x, &q) < 0) return qgil_leave(b), NULL;
    qs_value v[2] = {qval_retain(p), q};
    qs_status s = qoperator_align(b->vm, v, 2);
    int before = qgil_work(b);
    bool recorded = qtape_any(b->vm, 2, v);
    if (s == QS_OK) s = recorded ? qhook_update(b->vm, op, &v[0], v[1]) : qarith_update(b->vm, op, v[0], v[1]);
    qgil_rest(b, before);
    qs_release(b->vm, v[0]);
    qs_release(b->vm, v[1]);
    if (s != QS_OK) qerror_raise(b, s);
    qgil_leave(b);
    return s == QS_OK ? (Py_INCREF(x), x) : NULL;
}

static PyObject *apply_unary(Op op, PyObject *x) {
    Border *b = qwrapper_border(x);
    qs_value r;
    if (qgil_enter(b) < 0) return NULL;
    qs_value v = qwrapper_value(x);
    int before = qgil_work(b);
    qs_status s = qtape_touches(v) ? qhook_unary(b->vm, op, v, &r) : qarith_unary(b->vm, op, v, &r);
    qgil_rest(b, before);
    PyObject *o = qvalue_result(b, s, &r);
    qgil_leave(b);
    return o;
}

/* Calls a built-in function where the language has no operator; NotImplemented when y is not an operand. */
static PyObject *built_in(const char *name, PyObject *x, PyObject *y) {
    Border *b = qwrapper_border(qvalue_check(x) ? x : y);
    qs_value fn, in[2] = {qs_nil(), qs_nil()}, r = qs_nil();
    if (y ? !are_operands(x, y) : !is_operand(x)) return qwrapper_not_implemented();
    if (qgil_enter(b) < 0) return NULL;
    PyObject *o = NULL;
    if (take_operand(b, x, y, &in[0]) == 0 && (!y || take_operand(b, y, x, &in[1]) == 0)) {
        qs_status s = qoperator_align(b->vm, in, 2);
        if (s == QS_OK) s = qvm_lookup_builtin(b->vm, name, &fn);
        if (s == QS_OK) {
            int before = qgil_work(b);
            s = qs_call(b->vm, fn, y ? 2 : 1, in, 1, &r);
            qgil_rest(b, before);
            qs_release(b->vm, fn);
        }
        o = qvalue_result(b, s, &r);
    }
    qs_release(b->vm, in[0]);
    qs_release(b->vm, in[1]);
    qgil_leave(b);
    return o;
}

#define OPERATOR(name, op)                                                                                             \
    static PyObject *name(PyObject *x, PyObject *y) { return apply_binary(op, x, y); }                                 \
    static PyObject *in_place_##name(PyObject *x, PyObject *y) { return in_place(op, x, y); }
OPERATOR(add, OP_ADD)
OPERATOR(subtract, OP_SUB)
OPERATOR(multiply, OP_PWMUL)
OPERATOR(divide, OP_PWDIV)
OPERATOR(bit_and, OP_BITAND)
OPERATOR(bit_or, OP_BITOR)
OPERATOR(bit_xor, OP_BITXOR)
static PyObject *matrix_product(PyObject *x, PyObject *y) { return apply_operation(matmul, OP_MUL, x, y); }
static PyObject *power_of(PyObject *x, PyObject *y, PyObject *modulus) {
    return modulus == Py_None ? apply_binary(OP_PWPOW, x, y) : qwrapper_not_implemented();
}
static PyObject *in_place_power(PyObject *x, PyObject *y, PyObject *modulus) {
    return modulus == Py_None ? in_place(OP_PWPOW, x, y) : qwrapper_not_implemented();
}
static PyObject *remainder_of(PyObject *x, PyObject *y) { return built_in("mod", x, y); }
static PyObject *floor_divide(PyObject *x, PyObject *y) {
    PyObject *q = apply_binary(OP_PWDIV, x, y), *r;
    if (!q || q == Py_NotImplemented) return q;
    r = qvalue_check(q) ? built_in("floor", q, NULL) : PyObject_CallMethod(q, "__floordiv__", "i", 1);
    Py_DECREF(q);
    return r;
}
static PyObject *shift_left(PyObject *x, PyObject *y) { return built_in("shl", x, y); }
static PyObject *shift_right(PyObject *x, PyObject *y) { return built_in("shr", x, y); }
static PyObject *quotient_and_remainder(PyObject *x, PyObject *y) {
    PyObject *q = floor_divide(x, y);
    if (!q || q == Py_NotImplemented) return q;
    PyObject *r = remainder_of(x, y), *pair = r ? PyTuple_Pack(2, q, r) : NULL;
    Py_DECREF(q);
    Py_XDECREF(r);
    return pair;
}

/* x op= y where the language has no operator: stores the result in the elements of x, whose shape it must have. */
static PyObject *store_result(PyObject *x, PyObject *y, PyObject *(*f)(PyObject *, PyObject *)) {
    ALONE;
    PyObject *r = is_array(x) ? f(x, y) : qwrapper_not_implemented();
    if (!r || r == Py_NotImplemented) return r;
    const Array *a = is_array(x) ? qval_array(qwrapper_value(x)) : NULL,
                *b = is_array(r) ? qval_array(qwrapper_value(r)) : NULL;
    bool fits = a && b && a->ndim == b->ndim && qarr_same_shape(a, b);
    if (!fits) PyErr_SetString(qbridge.errors[QS_ESHAPE], "the result has another shape than the array on the left");
    bool stored = fits && qitem_set(x, Py_Ellipsis, r) == 0;
    Py_DECREF(r);
    return stored ? (Py_INCREF(x), x) : NULL;
}
static PyObject *in_place_matrix_product(PyObject *x, PyObject *y) { return store_result(x, y, matrix_product); }
static PyObject *in_place_remainder(PyObject *x, PyObject *y) { return store_result(x, y, remainder_of); }
static PyObject *in_place_floor_divide(PyObject *x, PyObject *y) { return store_result(x, y, floor_divide); }
static PyObject *in_place_shift_left(PyObject *x, PyObject *y) { return store_result(x, y, shift_left); }
static PyObject *in_place_shift_right(PyObject *x, PyObject *y) { return store_result(x, y, shift_right); }

static PyObject *negative(PyObject *x) { return apply_unary(OP_NEG, x); }
static PyObject *positive(PyObject *x) { return apply_unary(OP_PLUS, x); }

/* Inverts the bits of integers, as in Python; unlike !, which compares with 0. */
static PyObject *invert(PyObject *x) {
    ALONE;
    const Array *a = is_array(x) ? qval_array(qwrapper_value(x)) : NULL;
    qs_value v = qwrapper_value(x);
    bool whole = a ? a->dtype == QS_B1 || qdtype_is_int((qs_dtype)a->dtype) : v.kind != QS_NUM || v.u.f == floor(v.u.f);
    if (whole) return built_in("not", x, NULL);
    return PyErr_SetString(PyExc_TypeError, "~ is for integers and truth values; x == 0 tells where x is 0"), NULL;
}
static PyObject *absolute(PyObject *x) { return built_in("abs", x, NULL); }

/* -- conversion to Python numbers ---------------------------------------------------------------------------------- */

static PyObject *to_number(PyObject *x) {
    Border *b = qwrapper_border(x);
    qs_value v = qwrapper_value(x), one = qs_nil();
    qs_status s = QS_OK;
    if (qgil_enter(b) < 0) return NULL;
    if (v.kind == QS_ARRAY && qval_array(v)->count == 1) s = qnd_only(b, v.u.p, &one);
    else if (qval_is_scalar(v) || v.kind == QS_STRING || v.kind == QS_FOREIGN) one = qval_retain(v);
    else if (v.kind == QS_TRACED) s = qtape_refuse_number(b->vm);
    else s = qs_fail(b->vm, QS_ETYPE, "a number is wanted, got %s", qval_type_name(b->vm, v));
    PyObject *r = s == QS_OK ? qpy_from_value(b, one) : qerror_raise(b, s);
    qs_release(b->vm, one);
    qgil_leave(b);
    return r;
}

static PyObject *convert_number(PyObject *x, PyObject *(*f)(PyObject *)) {
    PyObject *n = to_number(x), *r = n ? f(n) : NULL;
    Py_XDECREF(n);
    return r;
}
static PyObject *to_float(PyObject *x) { return convert_number(x, PyNumber_Float); }
static PyObject *to_int(PyObject *x) { return convert_number(x, PyNumber_Long); }
static PyObject *to_index(PyObject *x) { return convert_number(x, PyNumber_Index); }
PyObject *qoperator_complex(PyObject *x, PyObject *Py_UNUSED(unused)) {
    PyObject *n = to_number(x), *r = n ? PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, n, NULL) : NULL;
    Py_XDECREF(n);
    return r;
}

static int is_true(PyObject *x) {
    ALONE;
    Border *b = qwrapper_border(x);
    qs_value v = qwrapper_value(x);
    bool t;
    if (v.kind == QS_ARRAY && qval_array(v)->count > 1) {
        PyErr_SetString(PyExc_ValueError, "the truth of an array of several elements is ambiguous; use all() or any()");
        return -1;
    }
    if (v.kind == QS_STRING) return ((Str *)v.u.p)->len > 0;
    if (v.kind == QS_CELL) return ((Cell *)v.u.p)->count > 0;
    if (!b->vm) return qgil_closed();
    if (v.kind == QS_OBJECT && !((Object *)v.u.p)->cls) return qobj_count(v.u.p) > 0; /* a dictionary, as a dict */
    if (v.kind == QS_OBJECT || v.kind == QS_TYPE || v.kind == QS_NIL) return v.kind != QS_NIL;
    if (qgil_enter(b) < 0) return -1;
    qs_status s = qval_truth(b->vm, v, &t);
    if (s != QS_OK) qerror_raise(b, s);
    qgil_leave(b);
    return s == QS_OK ? t : -1;
}

/* -- comparison ---------------------------------------------------------------------------------------------------- */

static const Op comparisons[] = {
    [Py_LT] = OP_LT, [Py_LE] = OP_LE, [Py_EQ] = OP_EQ, [Py_NE] = OP_NE, [Py_GT] = OP_GT, [Py_GE] = OP_GE};

static bool is_plain(qs_value v) { return qval_is_scalar(v) || v.kind == QS_STRING; }
static bool has_elements(PyObject *o) {
    return (qvalue_check(o) && (qwrapper_value(o).kind == QS_ARRAY || qwrapper_value(o).kind == QS_TRACED)) ||
           qnd_is_numbers(o);
}

/* Compares numbers and strings by Python's rules. */
static PyObject *compare_plain(PyObject *x, PyObject *y, int op) {
    Border *b = qwrapper_border(x);
    if (qgil_enter(b) < 0) return NULL;
    PyObject *p = qpy_from_value(b, qwrapper_value(x)), *r = NULL;
    PyObject *q = !qvalue_check(y)              ? (Py_INCREF(y), y)
                  : is_plain(qwrapper_value(y)) ? qpy_from_value(b, qwrapper_value(y))
                                                : qwrapper_not_implemented();
    if (p && q && q != Py_NotImplemented) r = PyObject_RichCompare(p, q, op);
    else if (p && q) r = qwrapper_not_implemented();
    Py_XDECREF(p);
    Py_XDECREF(q);
    qgil_leave(b);
    return r;
}

static int same_cells(Border *b, qs_value p, qs_value q) {
    if (qgil_enter(b) < 0) return -1;
    bool is_same = qval_equal(b->vm, p, q);
    return qgil_leave(b) < 0 ? -1 : is_same;
}

/* -1: an exception is set. */
static int is_same(PyObject *x, PyObject *y) {
    ALONE;
    qs_value p = qwrapper_value(x), q = qwrapper_value(y);
    if (qwrapper_border(x) != qwrapper_border(y) || p.kind != q.kind || !qwrapper_border(x)->vm) return x == y;
    return p.kind == QS_CELL ? same_cells(qwrapper_border(x), p, q) : p.u.p == q.u.p;
}

/* As in NumPy, a list of other things than numbers is not equal to any array. */
static PyObject *compare_elements(PyObject *x, PyObject *y, Op op) {
    PyObject *r = apply_binary(op, x, y);
    if (r || !is_list(y) || !PyErr_ExceptionMatches(PyExc_TypeError)) return r;
    PyErr_Clear();
    return qwrapper_not_implemented();
}

/* Compares arrays elementwise, numbers and strings by value, cells by their contents, objects by identity. */
PyObject *qoperator_compare(PyObject *x, PyObject *y, int op) {
    if (has_elements(x) || has_elements(y)) return compare_elements(x, y, comparisons[op]);
    if (is_plain(qwrapper_value(x))) return compare_plain(x, y, op);
    if ((op != Py_EQ && op != Py_NE) || !qvalue_check(y)) return qwrapper_not_implemented();
    int s = is_same(x, y);
    return s < 0 ? NULL : PyBool_FromLong(s == (op == Py_EQ));
}

Py_hash_t qoperator_hash(PyObject *x) {
    ALONE;
    qs_value v = qwrapper_value(x);
    if (v.kind == QS_ARRAY || v.kind == QS_CELL)
        return PyErr_Format(PyExc_TypeError, "unhashable type: %s", v.kind == QS_ARRAY ? "an array" : "a cell"), -1;
    if (is_plain(v)) {
        PyObject *o = qpy_from_value(qwrapper_border(x), v);
        Py_hash_t h = o ? PyObject_Hash(o) : -1;
        Py_XDECREF(o);
        return h;
    }
    Py_hash_t h = (Py_hash_t)((uintptr_t)v.u.p >> 4);
    return h == -1 ? -2 : h;
}

const PyType_Slot qoperator_slots[] = {
    {Py_nb_add, (void *)add},
    {Py_nb_subtract, (void *)subtract},
    {Py_nb_multiply, (void *)multiply},
    {Py_nb_true_divide, (void *)divide},
    {Py_nb_floor_divide, (void *)floor_divide},
    {Py_nb_remainder, (void *)remainder_of},
    {Py_nb_power, (void *)power_of},
    {Py_nb_matrix_multiply, (void *)matrix_product},
    {Py_nb_and, (void *)bit_and},
    {Py_nb_or, (void *)bit_or},
    {Py_nb_xor, (void *)bit_xor},
    {Py_nb_inplace_add, (void *)in_place_add},
    {Py_nb_inplace_subtract, (void *)in_place_subtract},
    {Py_nb_inplace_multiply, (void *)in_place_multiply},
    {Py_nb_inplace_true_divide, (void *)in_place_divide},
    {Py_nb_inplace_power, (void *)in_place_power},
    {Py_nb_inplace_and, (void *)in_place_bit_and},
    {Py_nb_inplace_or, (void *)in_place_bit_or},
    {Py_nb_inplace_xor, (void *)in_place_bit_xor},
    {Py_nb_negative, (void *)negative},
    {Py_nb_positive, (void *)positive},
    {Py_nb_invert, (void *)invert},
    {Py_nb_absolute, (void *)absolute},
    {Py_nb_lshift, (void *)shift_left},
    {Py_nb_rshift, (void *)shift_right},
    {Py_nb_divmod, (void *)quotient_and_remainder},
    {Py_nb_inplace_floor_divide, (void *)in_place_floor_divide},
    {Py_nb_inplace_remainder, (void *)in_place_remainder},
    {Py_nb_inplace_matrix_multiply, (void *)in_place_matrix_product},
    {Py_nb_inplace_lshift, (void *)in_place_shift_left},
    {Py_nb_inplace_rshift, (void *)in_place_shift_right},
    {Py_nb_bool, (void *)is_true},
    {Py_nb_float, (void *)to_float},
    {Py_nb_int, (void *)to_int},
    {Py_nb_index, (void *)to_index},
    {0, NULL},
};
