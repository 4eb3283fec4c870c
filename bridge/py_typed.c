/* py_typed.c -- implements arrays of the Array API standard: a separate Python type of arrays whose operators keep
 * element types (vm/typed), and the functions on which pyquasar/array_api is built.
 *
 * An operand is an array of this library or a Python number, which takes the type of the arrays.  Cases that the
 * standard leaves undefined are errors, such as a float beside integers, or an integer that the type cannot
 * represent. */
#include "bridge/bridge.h"
#include "vm/base/dtype.h"
#include "vm/base/reduction.h"
#include "vm/tape/tape.h"
#include "vm/typed/typed.h"

#include <stddef.h>
#include <string.h>

/* Returns the array of an operand, which may be a plain value; NULL with an exception. */
static Array *array_of(PyObject *o, const char *fn) {
    ALONE;
    if (qvalue_check(o) && qwrapper_is_closed((Wrapper *)o)) return qgil_closed(), NULL;
    if (!qvalue_check(o) || qwrapper_value(o).kind != QS_ARRAY)
        return PyErr_Format(PyExc_TypeError, "%s: an array is wanted, got %R", fn, Py_TYPE(o)), NULL;
    if (!qtape_touches(qwrapper_value(o))) return qwrapper_value(o).u.p;
    PyErr_Format(PyExc_TypeError,
                 "%s: a derivative is being taken with respect to the array, and functions of "
                 "array_api have none; stop_gradient(x) is x without it",
                 fn);
    return NULL;
}

static PyObject *wrap_array(Border *b, qs_status s, Array *a) { /* takes the reference to a */
    if (s != QS_OK) return qerror_raise(b, s);
    PyObject *r = qwrapper_make(qbridge.typed, b, qarr_value(a));
    qarr_release(b->vm, a);
    return r;
}

/* -- type promotion ------------------------------------------------------------------------------------------------ */
static int bits_of(qs_dtype d) { return 8 << (d - QS_I8) / 2; }
static bool is_signed(qs_dtype d) { return (d - QS_I8) % 2 == 0; }

/* Promotes two types by the lattice of the standard; -1: undefined. */
static int promote_types(int a, int b) {
    if (a == b) return a;
    if (a < 0 || b < 0 || a == QS_B1 || b == QS_B1 || qdtype_is_short((qs_dtype)a) || qdtype_is_short((qs_dtype)b))
        return -1;
    bool whole = qdtype_is_int((qs_dtype)a);
    if (whole != qdtype_is_int((qs_dtype)b)) return -1;
    if (whole && is_signed((qs_dtype)a) == is_signed((qs_dtype)b)) return a > b ? a : b;
    if (whole) {
        int s = is_signed((qs_dtype)a) ? a : b, u = s == a ? b : a;
        return u == QS_U64 ? -1 : bits_of((qs_dtype)s) > bits_of((qs_dtype)u) ? s : u + 1;
    }
    bool wide = a == QS_F64 || a == QS_C128 || b == QS_F64 || b == QS_C128;
    bool pairs = qdtype_is_complex((qs_dtype)a) || qdtype_is_complex((qs_dtype)b);
    return pairs ? (wide ? QS_C128 : QS_C64) : wide ? QS_F64 : QS_F32;
}

/* Arrays of other libraries may have __index__, too, if they have one element. */
static bool is_number(PyObject *o) {
    if (PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o)) return true;
    return PyIndex_Check(o) && !qvalue_check(o) && !qnd_is_array(o);
}

static int refuse_number(PyObject *o, int d) {
    return PyErr_Format(PyExc_TypeError, "a number of %R does not go with elements of type %s", Py_TYPE(o),
                        qnd_name(d)),
           -1;
}

/* Returns the type for elements of type d and a number: d, or a complex type if a complex number meets floats; -1 with
 * an exception. */
static int join_number(PyObject *o, int d) {
    bool floats = qdtype_is_real((qs_dtype)d) || qdtype_is_complex((qs_dtype)d);
    if (PyBool_Check(o)) return d == QS_B1 ? d : refuse_number(o, d);
    if (PyFloat_Check(o)) return floats ? d : refuse_number(o, d);
    if (PyComplex_Check(o)) return !floats ? refuse_number(o, d) : d == QS_F32 ? QS_C64 : d == QS_F64 ? QS_C128 : d;
    return d != QS_B1 ? d : refuse_number(o, d);
}

static int raise_overflow(PyObject *o, qs_dtype d) {
    return PyErr_Format(PyExc_OverflowError, "%S is no number of type %s", o, qnd_name(d)), -1;
}

static int put_int(PyObject *o, qs_dtype d, void *to) {
    PyObject *n = PyNumber_Index(o);
    int over = 0, bits = bits_of(d);
    if (!n) return -1;
    long long x = PyLong_AsLongLongAndOverflow(n, &over);
    unsigned long long u = (unsigned long long)x;
    if (over > 0 && d == QS_U64) {
        u = PyLong_AsUnsignedLongLong(n);
        over = PyErr_Occurred() ? (PyErr_Clear(), 1) : 0;
    } else if (!over && is_signed(d)) over = bits < 64 && (x < -(1LL << (bits - 1)) || x >= 1LL << (bits - 1));
    else if (!over) over = x < 0 || (bits < 64 && x >= 1LL << bits);
    Py_DECREF(n);
    if (over) return raise_overflow(o, d);
    memcpy(to, &u, (size_t)bits / 8);
    return 0;
}

/* Stores a Python number as an element. */
static int put_number(PyObject *o, qs_dtype d, void *to) {
    if (d == QS_B1) return *(uint8_t *)to = (uint8_t)PyObject_IsTrue(o), 0;
    if (qdtype_is_int(d)) return put_int(o, d, to);
    PyObject *whole = !PyFloat_Check(o) && !PyComplex_Check(o) ? PyNumber_Index(o) : NULL;
    double re = whole ? PyLong_AsDouble(whole) : PyComplex_RealAsDouble(o), im = 0;
    if (PyComplex_Check(o)) im = PyComplex_ImagAsDouble(o);
    Py_XDECREF(whole);
    if (PyErr_Occurred()) return -1;
    switch (d) {
    case QS_F32: return *(float *)to = (float)re, 0;
    case QS_F64: return *(double *)to = re, 0;
    case QS_C64: return *(QComplexF *)to = (QComplexF){(float)re, (float)im}, 0;
    case QS_C128: return *(QComplexD *)to = (QComplexD){re, im}, 0;
    default: return PyErr_Format(PyExc_TypeError, "the standard has no type %s", qnd_name(d)), -1;
    }
}

static PyObject *get_number(qs_dtype d, const void *p) {
    switch (d) {
    case QS_B1: return PyBool_FromLong(*(const uint8_t *)p);
    case QS_I8: return PyLong_FromLong(*(const int8_t *)p);
    case QS_U8: return PyLong_FromLong(*(const uint8_t *)p);
    case QS_I16: return PyLong_FromLong(*(const int16_t *)p);
    case QS_U16: return PyLong_FromLong(*(const uint16_t *)p);
    case QS_I32: return PyLong_FromLong(*(const int32_t *)p);
    case QS_U32: return PyLong_FromUnsignedLong(*(const uint32_t *)p);
    case QS_I64: return PyLong_FromLongLong(*(const int64_t *)p);
    case QS_U64: return PyLong_FromUnsignedLongLong(*(const uint64_t *)p);
    case QS_F32: return PyFloat_FromDouble((double)*(const float *)p);
    case QS_F64: return PyFloat_FromDouble(*(const double *)p);
    case QS_C64: return PyComplex_FromDoubles((double)((const QComplexF *)p)->re, (double)((const QComplexF *)p)->im);
    case QS_C128: return PyComplex_FromDoubles(((const QComplexD *)p)->re, ((const QComplexD *)p)->im);
    default: return PyErr_Format(PyExc_TypeError, "the standard has no type %s", qnd_name(d)), NULL;
    }
}

/* -- elementwise functions ----------------------------------------------------------------------------------------- */
enum { LARGE = 1 << 14 }; /* number of elements from which other threads may run during an operation */
typedef union {
    uint8_t bytes[16];
    double align;
} Element;

static int join_types(Typed f, int n, PyObject *const *o, Border **b) {
    int d = -1, first = n == 3;
    for (int i = first; i < n; i++) {
        if (is_number(o[i])) continue;
        Array *a = array_of(o[i], qtyped_info[f].name);
        if (!a) return -1;
        int next = d < 0 ? a->dtype : promote_types(d, a->dtype);
        if (next < 0)
            return PyErr_Format(PyExc_TypeError, "%s: elements of type %s and %s do not meet", qtyped_info[f].name,
                                qnd_name(d), qnd_name(a->dtype)),
                   -1;
        d = next, *b = qwrapper_border(o[i]);
    }
    if (d < 0) return PyErr_Format(PyExc_TypeError, "%s: no argument is an array", qtyped_info[f].name), -1;
    for (int i = first; i < n && d >= 0; i++)
        if (is_number(o[i])) d = join_number(o[i], d);
    return d;
}

static int open_operand(Border *b, PyObject *o, qs_dtype d, Element *e, TypedArg *x) {
    if (is_number(o)) {
        if (put_number(o, d, e) < 0) return -1;
        return *x = qtyped_number(d, e), 0;
    }
    if (qwrapper_border(o) != b)
        return PyErr_SetString((PyObject *)qbridge.error, "the operands belong to different Quasar machines"), -1;
    qs_status s = qtyped_open(b->vm, qwrapper_value(o).u.p, x);
    return s == QS_OK ? 0 : (qerror_raise(b, s), -1);
}

static bool is_large(const TypedArg *x, int n) {
    for (int i = 0; i < n; i++) {
        int64_t count = 1;
        for (int k = 0; k < x[i].ndim; k++) count *= x[i].dims[k];
        if (count >= LARGE) return true;
    }
    return false;
}

static PyObject *compute_typed(Border *b, Typed f, qs_dtype d, int n, PyObject *const *o) {
    TypedArg x[TYPED_ARGS];
    Element e[TYPED_ARGS];
    Array *r = NULL;
    for (int i = 0; i < n; i++)
        if (open_operand(b, o[i], d, &e[i], &x[i]) < 0) return NULL;
    bool large = is_large(x, n);
    int before = large ? qgil_work(b) : 0;
    qs_status s = qtyped_apply(b->vm, f, d, x, &r);
    if (large) qgil_rest(b, before);
    return wrap_array(b, s, r);
}

static bool is_condition(PyObject *o) {
    Array *a = array_of(o, "where");
    if (a && a->dtype != QS_B1) PyErr_SetString(PyExc_TypeError, "where: the condition must be an array of bool");
    return a && a->dtype == QS_B1;
}

static PyObject *apply_typed(Typed f, PyObject *const *o, Py_ssize_t n) {
    ALONE;
    Border *b = NULL;
    if (n != qtyped_info[f].nargs)
        return PyErr_Format(PyExc_TypeError, "%s takes %d arguments, got %zd", qtyped_info[f].name,
                            qtyped_info[f].nargs, n);
    if (n == 3 && !is_condition(o[0])) return NULL;
    int d = join_types(f, (int)n, o, &b);
    if (d < 0 || qgil_enter(b) < 0) return NULL;
    return qgil_result(b, compute_typed(b, f, (qs_dtype)d, (int)n, o));
}

#define TYPED(name, ...)                                                                                               \
    static PyObject *xp_##name(PyObject *m, PyObject *const *o, Py_ssize_t n) {                                        \
        return (void)m, apply_typed(TY_##name, o, n);                                                                  \
    }
#include "vm/typed/typed.def"

/* -- operators ----------------------------------------------------------------------------------------------------- */
static bool is_operand(PyObject *o) {
    return is_number(o) || (qvalue_check(o) && (qwrapper_value(o).kind == QS_ARRAY || !qwrapper_border(o)->vm));
}

/* Rejects arrays of other libraries.  If they handled the operator, x op= y would become an object of their type. */
static PyObject *apply_binary(Typed f, PyObject *x, PyObject *y) {
    PyObject *o[2] = {x, y}, *other = is_operand(x) ? y : x;
    if (is_operand(other)) return apply_typed(f, o, 2);
    if (!qnd_is_array(other)) return qwrapper_not_implemented();
    return PyErr_Format(PyExc_TypeError, "%s: an array of the standard is wanted, got %R; asarray(x) makes one",
                        qtyped_info[f].name, Py_TYPE(other));
}

/* x op= y: stores the result in x, whose shape and type it must have. */
static PyObject *in_place(Typed f, PyObject *x, PyObject *y) {
    PyObject *r = apply_binary(f, x, y);
    if (!r || r == Py_NotImplemented) return r;
    Array *a = qwrapper_value(x).u.p, *from = qwrapper_value(r).u.p;
    TypedArg v;
    if (a->dtype != from->dtype || a->ndim != from->ndim || !qarr_same_shape(a, from)) {
        PyErr_SetString(PyExc_TypeError, "in place: the result has another type or shape than the array on the left");
        return Py_DECREF(r), NULL;
    }
    qs_status s = qgil_enter(qwrapper_border(x)) < 0 ? QS_EFOREIGN : QS_OK;
    if (s != QS_OK) return Py_DECREF(r), NULL;
    s = qtyped_open(qwrapper_border(x)->vm, from, &v);
    if (s == QS_OK) s = qtyped_store(qwrapper_border(x)->vm, a, &v);
    Py_DECREF(r);
    if (s != QS_OK) return qgil_result(qwrapper_border(x), qerror_raise(qwrapper_border(x), s));
    return qgil_result(qwrapper_border(x), (Py_INCREF(x), x));
}

#define OPERATOR(name)                                                                                                 \
    static PyObject *op_##name(PyObject *x, PyObject *y) { return apply_binary(TY_##name, x, y); }                     \
    static PyObject *to_##name(PyObject *x, PyObject *y) { return in_place(TY_##name, x, y); }
/* clang-format off */
OPERATOR(add) OPERATOR(subtract) OPERATOR(multiply) OPERATOR(divide) OPERATOR(floor_divide) OPERATOR(remainder)
OPERATOR(bitwise_and) OPERATOR(bitwise_or) OPERATOR(bitwise_xor)
OPERATOR(bitwise_left_shift) OPERATOR(bitwise_right_shift)
    /* clang-format on */
    static PyObject *op_pow(PyObject *x, PyObject *y, PyObject *m) {
    return m == Py_None ? apply_binary(TY_pow, x, y) : qwrapper_not_implemented();
}
static PyObject *to_pow(PyObject *x, PyObject *y, PyObject *m) {
    return m == Py_None ? in_place(TY_pow, x, y) : qwrapper_not_implemented();
}
static PyObject *op_negative(PyObject *x) { return apply_typed(TY_negative, &x, 1); }
static PyObject *op_positive(PyObject *x) { return apply_typed(TY_positive, &x, 1); }
static PyObject *op_abs(PyObject *x) { return apply_typed(TY_abs, &x, 1); }
static PyObject *op_invert(PyObject *x) { return apply_typed(TY_bitwise_invert, &x, 1); }
static PyObject *compare_arrays(PyObject *x, PyObject *y, int op) {
    static const Typed row[] = {[Py_LT] = TY_less,      [Py_LE] = TY_less_equal, [Py_EQ] = TY_equal,
                                [Py_NE] = TY_not_equal, [Py_GT] = TY_greater,    [Py_GE] = TY_greater_equal};
    return apply_binary(row[op], x, y);
}

/* -- items: numbers, slices, None and ... give a view; Python code handles all other keys -------------------------- */
typedef struct {
    int ndim;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    ptrdiff_t offset;
} View;

static int add_dim(View *v, int64_t dim, int64_t stride) {
    if (v->ndim == QS_MAX_RANK) return PyErr_SetString(PyExc_IndexError, "an array has at most 8 dimensions"), -1;
    v->dims[v->ndim] = dim, v->strides[v->ndim++] = stride;
    return 0;
}

static int add_index(View *v, PyObject *key, int axis, int64_t dim, int64_t stride) {
    Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) return -1;
    if (i < -dim || i >= dim)
        return PyErr_Format(PyExc_IndexError, "index %zd is outside axis %d of %lld elements", i, axis, (long long)dim),
               -1;
    v->offset += (i < 0 ? i + dim : i) * stride;
    return 0;
}

static int add_slice(View *v, PyObject *key, int64_t dim, int64_t stride) {
    Py_ssize_t from, to, step;
    if (PySlice_Unpack(key, &from, &to, &step) < 0) return -1;
    Py_ssize_t n = PySlice_AdjustIndices(dim, &from, &to, step);
    if (n > 0) v->offset += from * stride;
    return add_dim(v, n, step * stride);
}

static bool is_basic(PyObject *k) {
    return (PyLong_Check(k) && !PyBool_Check(k)) || PySlice_Check(k) || k == Py_None || k == Py_Ellipsis;
}

/* 1: a view; 0: a key for Python code; -1: an exception is set. */
static int view_of(const Array *a, PyObject *const *key, int n, View *v) {
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    int ndim = qarr_shape(a, dims, strides), named = 0, dots = 0, axis = 0;
    *v = (View){0};
    for (int i = 0; i < n; i++) {
        if (!is_basic(key[i])) return 0;
        named += key[i] != Py_None && key[i] != Py_Ellipsis, dots += key[i] == Py_Ellipsis;
    }
    if (dots > 1) return PyErr_SetString(PyExc_IndexError, "an index has at most one '...'"), -1;
    if (named > ndim)
        return PyErr_Format(PyExc_IndexError, "%d indices for an array of %d dimensions", named, ndim), -1;
    for (int i = 0; i <= n; i++) {
        int s = 0, skip = i == n ? (dots ? 0 : ndim - named) : key[i] == Py_Ellipsis ? ndim - named : 0;
        for (; skip > 0 && s == 0; skip--, axis++) s = add_dim(v, dims[axis], strides[axis]);
        if (i == n || key[i] == Py_Ellipsis) {
            if (s < 0) return -1;
            else continue;
        }
        if (key[i] == Py_None) s = add_dim(v, 1, 1);
        else if (PySlice_Check(key[i])) s = add_slice(v, key[i], dims[axis], strides[axis]), axis++;
        else s = add_index(v, key[i], axis, dims[axis], strides[axis]), axis++;
        if (s < 0) return -1;
    }
    return 1;
}

static int key_view(PyObject *o, PyObject *key, View *v) {
    PyObject *items[2 * QS_MAX_RANK];
    Py_ssize_t n = PyTuple_Check(key) ? PyTuple_Size(key) : 1;
    if (n > 2 * QS_MAX_RANK) return PyErr_SetString(PyExc_IndexError, "too many indices"), -1;
    for (Py_ssize_t i = 0; i < n; i++) items[i] = PyTuple_Check(key) ? PyTuple_GetItem(key, i) : key;
    return view_of(qwrapper_value(o).u.p, items, (int)n, v);
}

static qs_status open_view(Border *b, Array *a, const View *v, Array **out) {
    return qarr_view(b->vm, a, v->ndim, v->dims, v->strides, (size_t)((ptrdiff_t)a->offset + v->offset), out);
}

static PyObject *get_item(PyObject *o, PyObject *key) {
    ALONE;
    View v;
    Array *a = array_of(o, "index"), *r = NULL;
    int basic = a ? key_view(o, key, &v) : -1;
    if (basic < 0) return NULL;
    if (!basic) return PyObject_CallFunctionObjArgs(qbridge.typed_items[0], o, key, NULL);
    if (qgil_enter(qwrapper_border(o)) < 0) return NULL;
    qs_status s = open_view(qwrapper_border(o), a, &v, &r);
    return qgil_result(qwrapper_border(o), wrap_array(qwrapper_border(o), s, r));
}

/* Opens the source of an assignment to elements of type d: a number, or an array whose type can be promoted to d. */
static int open_source(Border *b, PyObject *x, qs_dtype d, Element *e, TypedArg *arg) {
    if (is_number(x)) {
        int joined = join_number(x, d);
        if (joined >= 0 && joined != (int)d) refuse_number(x, d);
        if (joined != (int)d) return -1;
    } else {
        Array *a = array_of(x, "assignment");
        if (!a) return -1;
        if (promote_types(a->dtype, d) != (int)d)
            return PyErr_Format(PyExc_TypeError, "assignment: elements of type %s cannot become %s", qnd_name(a->dtype),
                                qnd_name(d)),
                   -1;
    }
    return open_operand(b, x, d, e, arg);
}

/* Takes the reference to dst. */
static int store_elements(Border *b, Array *dst, PyObject *x) {
    TypedArg arg;
    Element e;
    Array *copy = NULL;
    qs_status s = QS_OK;
    int failed = open_source(b, x, (qs_dtype)dst->dtype, &e, &arg);
    if (!failed && qvalue_check(x) && qarr_overlap(dst, qwrapper_value(x).u.p) &&
        !qarr_same_elements(dst, qwrapper_value(x).u.p)) {
        s = qarr_copy(b->vm, qwrapper_value(x).u.p, &copy);
        if (s == QS_OK) s = qtyped_open(b->vm, copy, &arg);
    }
    if (!failed && s == QS_OK) s = qtyped_store(b->vm, dst, &arg);
    if (copy) qarr_release(b->vm, copy);
    qarr_release(b->vm, dst);
    if (s != QS_OK) qerror_raise(b, s);
    return failed || s != QS_OK ? -1 : 0;
}

static int set_item(PyObject *o, PyObject *key, PyObject *x) {
    View v;
    Array *a = array_of(o, "index"), *dst = NULL;
    if (!x) return PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted"), -1;
    int basic = a ? key_view(o, key, &v) : -1;
    if (basic < 0) return -1;
    if (!basic) {
        PyObject *r = PyObject_CallFunctionObjArgs(qbridge.typed_items[1], o, key, x, NULL);
        Py_XDECREF(r);
        return r ? 0 : -1;
    }
    if (qgil_enter(qwrapper_border(o)) < 0) return -1;
    qs_status s = open_view(qwrapper_border(o), a, &v, &dst);
    int r = s == QS_OK ? store_elements(qwrapper_border(o), dst, x) : (qerror_raise(qwrapper_border(o), s), -1);
    return qgil_leave(qwrapper_border(o)) < 0 ? -1 : r;
}

static PyObject *item_at(PyObject *o, Py_ssize_t i) {
    PyObject *key = PyLong_FromSsize_t(i), *r = key ? get_item(o, key) : NULL;
    return Py_XDECREF(key), r;
}

/* -- other functions of the standard, for the Python code ---------------------------------------------------------- */
#define BEGIN(b, o)                                                                                                    \
    Border *b = qwrapper_border(o);                                                                                    \
    if (qgil_enter(b) < 0) return NULL;                                                                                \
    int before_ = qgil_work(b)
#define END(b, result)                                                                                                 \
    do {                                                                                                               \
        qgil_rest(b, before_);                                                                                         \
        return qgil_result(b, result);                                                                                 \
    } while (0)

static bool check_code(int d) {
    bool known = d >= 0 && d < QS_NDTYPES;
    if (!known) PyErr_SetString(PyExc_TypeError, "no element type");
    return known;
}

/* (code, shape, zeroed) */
static PyObject *xp_new(PyObject *Py_UNUSED(m), PyObject *args) {
    int d, zeroed;
    PyObject *shape;
    int64_t dims[QS_MAX_RANK];
    Array *r = NULL;
    if (!PyArg_ParseTuple(args, "iOp", &d, &shape, &zeroed) || !check_code(d)) return NULL;
    int ndim = qnd_of_tuple(shape, dims);
    Border *b = ndim < 0 ? NULL : qhost_enter("an array");
    if (!b) return NULL;
    qs_status s = qarr_new(b->vm, (qs_dtype)d, ndim, dims, zeroed, &r);
    return qgil_result(b, wrap_array(b, s, r));
}

/* (code, n, first, step): first and step are Python numbers. */
static PyObject *xp_range(PyObject *Py_UNUSED(m), PyObject *args) {
    int d;
    long long n, i[2] = {0, 0};
    PyObject *ends[2];
    double x[2] = {0, 0};
    Array *r = NULL;
    if (!PyArg_ParseTuple(args, "iLOO", &d, &n, &ends[0], &ends[1]) || !check_code(d)) return NULL;
    for (int k = 0; k < 2; k++) {
        if (!qdtype_is_int((qs_dtype)d)) x[k] = PyFloat_AsDouble(ends[k]);
        else i[k] = (long long)PyLong_AsUnsignedLongLongMask(ends[k]);
        if (PyErr_Occurred()) return NULL;
    }
    Border *b = qhost_enter("an array");
    if (!b) return NULL;
    qs_status s = qtyped_arange(b->vm, (qs_dtype)d, n, x[0], x[1], i[0], i[1], &r);
    return qgil_result(b, wrap_array(b, s, r));
}

/* (array, list): sets the elements of a packed array, in order. */
static PyObject *xp_fill(PyObject *Py_UNUSED(m), PyObject *args) {
    PyObject *o, *list;
    void *to = NULL;
    if (!PyArg_ParseTuple(args, "OO!", &o, &PyList_Type, &list)) return NULL;
    Array *a = array_of(o, "array");
    if (!a || qgil_enter(qwrapper_border(o)) < 0) return NULL;
    qs_status s = qarr_write(qwrapper_border(o)->vm, a, &to);
    size_t size = qdtype_size((qs_dtype)a->dtype);
    bool fine = s == QS_OK && (size_t)PyList_Size(list) == a->count && a->contiguous;
    for (size_t i = 0; fine && i < a->count; i++)
        fine = put_number(PyList_GetItem(list, (Py_ssize_t)i), (qs_dtype)a->dtype, (char *)to + i * size) == 0;
    if (s != QS_OK) qerror_raise(qwrapper_border(o), s);
    else if (!fine && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "another number of elements");
    return qgil_result(qwrapper_border(o), fine ? (Py_INCREF(o), o) : NULL);
}

/* Returns the first element as a Python number. */
static PyObject *xp_item(PyObject *Py_UNUSED(m), PyObject *o) {
    const void *p;
    Array *a = array_of(o, "item");
    if (!a || qgil_enter(qwrapper_border(o)) < 0) return NULL;
    qs_status s = qarr_read(qwrapper_border(o)->vm, a, &p);
    return qgil_result(qwrapper_border(o),
                       s == QS_OK ? get_number((qs_dtype)a->dtype, p) : qerror_raise(qwrapper_border(o), s));
}

/* (array, code): returns a packed copy with this element type. */
static PyObject *xp_convert(PyObject *Py_UNUSED(m), PyObject *args) {
    PyObject *o;
    int d;
    int64_t dims[QS_MAX_RANK];
    TypedArg x;
    Array *r = NULL;
    if (!PyArg_ParseTuple(args, "Oi", &o, &d) || !check_code(d)) return NULL;
    Array *a = array_of(o, "astype");
    if (!a) return NULL;
    BEGIN(b, o);
    int ndim = qarr_shape(a, dims, NULL);
    qs_status s = qarr_new(b->vm, (qs_dtype)d, ndim, dims, false, &r);
    if (s == QS_OK && (s = qtyped_open(b->vm, a, &x)) == QS_OK) s = qtyped_store(b->vm, r, &x);
    if (s != QS_OK && r) qarr_release(b->vm, r);
    END(b, wrap_array(b, s, r));
}

static PyObject *make_view(PyObject *o, Array *a, const View *v) {
    Array *r = NULL;
    if (qgil_enter(qwrapper_border(o)) < 0) return NULL;
    qs_status s = open_view(qwrapper_border(o), a, v, &r);
    return qgil_result(qwrapper_border(o), wrap_array(qwrapper_border(o), s, r));
}

/* (array, shape, strides in elements, offset from the first element): returns a view of the same memory.  The caller
 * ensures that it stays inside the memory. */
static PyObject *xp_view(PyObject *Py_UNUSED(m), PyObject *args) {
    PyObject *o, *shape, *steps;
    Py_ssize_t offset;
    View v;
    if (!PyArg_ParseTuple(args, "OOOn", &o, &shape, &steps, &offset)) return NULL;
    Array *a = array_of(o, "view");
    if (!a || (v.ndim = qnd_of_tuple(shape, v.dims)) < 0 || qnd_of_tuple(steps, v.strides) != v.ndim) return NULL;
    v.offset = offset;
    return make_view(o, a, &v);
}

/* (packed array, shape with as many elements): returns a view of the same memory. */
static PyObject *xp_shaped(PyObject *Py_UNUSED(m), PyObject *const *o, Py_ssize_t n) {
    View v = {0};
    if (n != 2) return PyErr_SetString(PyExc_TypeError, "an array and a shape are wanted"), NULL;
    Array *a = array_of(o[0], "view");
    if (!a || (v.ndim = qnd_of_tuple(o[1], v.dims)) < 0) return NULL;
    qarr_packed_strides(v.ndim, v.dims, v.strides);
    return make_view(o[0], a, &v);
}

/* (array, dimensions): returns a view with permuted dimensions; None if they do not name each dimension once. */
static PyObject *xp_permuted(PyObject *Py_UNUSED(m), PyObject *const *o, Py_ssize_t n) {
    View v = {0};
    int64_t axes[QS_MAX_RANK], dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    unsigned seen = 0;
    if (n != 2) return PyErr_SetString(PyExc_TypeError, "an array and dimensions are wanted"), NULL;
    Array *a = array_of(o[0], "permute_dims");
    if (!a || (v.ndim = qnd_of_tuple(o[1], axes)) < 0) return NULL;
    int ndim = qarr_shape(a, dims, strides);
    for (int i = 0; i < v.ndim && v.ndim == ndim; i++) {
        int64_t k = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (k < 0 || k >= ndim) break;
        v.dims[i] = dims[k], v.strides[i] = strides[k], seen |= 1u << k;
    }
    if (v.ndim != ndim || seen != (1u << ndim) - 1) return Py_INCREF(Py_None), Py_None;
    return make_view(o[0], a, &v);
}

static PyObject *xp_strides(PyObject *Py_UNUSED(m), PyObject *o) {
    ALONE;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    Array *a = array_of(o, "strides");
    return a ? qnd_tuple_of(qarr_shape(a, dims, strides), strides, 1) : NULL;
}

static PyObject *xp_is_packed(PyObject *Py_UNUSED(m), PyObject *o) {
    ALONE;
    Array *a = array_of(o, "layout");
    return a ? PyBool_FromLong(a->contiguous) : NULL;
}

static PyObject *xp_code(PyObject *o, void *Py_UNUSED(unused)) {
    ALONE;
    Array *a = array_of(o, "dtype");
    return a ? PyLong_FromLong(a->dtype) : NULL;
}

/* Wraps the same array as a plain value or as an array of the standard. */
static PyObject *wrap_again(PyObject *o, PyTypeObject *t) {
    if (!array_of(o, "array") || qgil_enter(qwrapper_border(o)) < 0) return NULL;
    return qgil_result(qwrapper_border(o), qwrapper_make(t, qwrapper_border(o), qwrapper_value(o)));
}
static PyObject *xp_wrap(PyObject *Py_UNUSED(m), PyObject *o) { return wrap_again(o, qbridge.typed); }
static PyObject *xp_plain(PyObject *Py_UNUSED(m), PyObject *o) { return wrap_again(o, qbridge.value); }

static PyObject *xp_gather(PyObject *Py_UNUSED(m), PyObject *args) {
    PyObject *o, *at;
    Array *r = NULL;
    if (!PyArg_ParseTuple(args, "OO", &o, &at)) return NULL;
    Array *a = array_of(o, "index"), *places = a ? array_of(at, "index") : NULL;
    if (!places) return NULL;
    BEGIN(b, o);
    qs_status s = qtyped_gather(b->vm, a, places, &r);
    END(b, wrap_array(b, s, r));
}

static PyObject *xp_scatter(PyObject *Py_UNUSED(m), PyObject *args) {
    PyObject *o, *at, *from;
    if (!PyArg_ParseTuple(args, "OOO", &o, &at, &from)) return NULL;
    Array *a = array_of(o, "index"), *places = a ? array_of(at, "index") : NULL;
    Array *x = places ? array_of(from, "index") : NULL;
    if (!x) return NULL;
    BEGIN(b, o);
    qs_status s = qtyped_scatter(b->vm, a, places, x);
    END(b, s == QS_OK ? (Py_INCREF(Py_None), Py_None) : qerror_raise(b, s));
}

/* (packed array, outer, n, inner, indices, shape) */
static PyObject *xp_take(PyObject *Py_UNUSED(m), PyObject *args) {
    PyObject *o, *at, *shape;
    long long outer, n, inner;
    int64_t dims[QS_MAX_RANK];
    Array *r = NULL;
    if (!PyArg_ParseTuple(args, "OLLLOO", &o, &outer, &n, &inner, &at, &shape)) return NULL;
    Array *a = array_of(o, "take"), *places = a ? array_of(at, "take") : NULL;
    int ndim = places ? qnd_of_tuple(shape, dims) : -1;
    if (ndim < 0) return NULL;
    BEGIN(b, o);
    qs_status s = qtyped_take(b->vm, a, outer, n, inner, places, ndim, dims, &r);
    END(b, wrap_array(b, s, r));
}

static PyObject *xp_nonzero(PyObject *Py_UNUSED(m), PyObject *o) {
    Array *a = array_of(o, "nonzero"), *r = NULL;
    if (!a) return NULL;
    BEGIN(b, o);
    qs_status s = qtyped_nonzero(b->vm, a, &r);
    END(b, wrap_array(b, s, r));
}

/* (name of the reduction, array, bit mask of the dimensions, keep, code) */
static PyObject *xp_fold(PyObject *Py_UNUSED(m), PyObject *args) {
    const char *which;
    int keep, d;
    unsigned axes;
    PyObject *o;
    Array *r = NULL;
    if (!PyArg_ParseTuple(args, "sOIpi", &which, &o, &axes, &keep, &d) || !check_code(d)) return NULL;
    Array *a = array_of(o, "reduction");
    if (!a) return NULL;
    BEGIN(b, o);
    qs_status s = qtreduce_run(b->vm, qreduction_find(which), a, axes, keep, (qs_dtype)d, &r);
    END(b, wrap_array(b, s, r));
}

/* (largest, packed array, axis) */
static PyObject *xp_place(PyObject *Py_UNUSED(m), PyObject *args) {
    int largest, axis;
    PyObject *o;
    Array *r = NULL;
    if (!PyArg_ParseTuple(args, "pOi", &largest, &o, &axis)) return NULL;
    Array *a = array_of(o, "argmax");
    if (!a) return NULL;
    BEGIN(b, o);
    qs_status s = qtreduce_position(b->vm, largest, a, axis, &r);
    END(b, wrap_array(b, s, r));
}

/* ("sum" or "prod", array, axis, initial, code) */
static PyObject *xp_running(PyObject *Py_UNUSED(m), PyObject *args) {
    const char *which;
    int axis, initial, d;
    PyObject *o;
    Array *r = NULL;
    if (!PyArg_ParseTuple(args, "sOipi", &which, &o, &axis, &initial, &d) || !check_code(d)) return NULL;
    Array *a = array_of(o, "cumulative");
    if (!a) return NULL;
    BEGIN(b, o);
    qs_status s = qtreduce_scan(b->vm, qreduction_find(which), a, axis, initial, (qs_dtype)d, &r);
    END(b, wrap_array(b, s, r));
}

/* (sorted packed array, packed array, right) */
static PyObject *xp_search(PyObject *Py_UNUSED(m), PyObject *args) {
    PyObject *o, *v;
    int right;
    Array *r = NULL;
    if (!PyArg_ParseTuple(args, "OOp", &o, &v, &right)) return NULL;
    Array *a = array_of(o, "searchsorted"), *x = a ? array_of(v, "searchsorted") : NULL;
    if (!x) return NULL;
    BEGIN(b, o);
    qs_status s = qtreduce_search(b->vm, a, x, right, &r);
    END(b, wrap_array(b, s, r));
}

/* (stack of m x k, stack of k x n, m, n, k, shape) */
static PyObject *xp_product(PyObject *Py_UNUSED(m), PyObject *args) {
    PyObject *o, *v, *shape;
    long long rows, columns, inner;
    int64_t dims[QS_MAX_RANK];
    Array *r = NULL;
    if (!PyArg_ParseTuple(args, "OOLLLO", &o, &v, &rows, &columns, &inner, &shape)) return NULL;
    Array *a = array_of(o, "matmul"), *x = a ? array_of(v, "matmul") : NULL;
    int ndim = x ? qnd_of_tuple(shape, dims) : -1;
    if (ndim < 0) return NULL;
    BEGIN(b, o);
    qs_status s = qproduct_run(b->vm, a, x, (GemmSize){rows, columns, inner}, ndim, dims, &r);
    END(b, wrap_array(b, s, r));
}

/* (code, code): returns the promoted type code, or None. */
static PyObject *xp_promote(PyObject *Py_UNUSED(m), PyObject *args) {
    int a, b;
    if (!PyArg_ParseTuple(args, "ii", &a, &b) || !check_code(a) || !check_code(b)) return NULL;
    int d = promote_types(a, b);
    return d < 0 ? (Py_INCREF(Py_None), Py_None) : PyLong_FromLong(d);
}

/* Lists typed.def: [(name, number of arguments, result, description, bit mask of the supported type codes)]. */
static PyObject *xp_rows(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(unused)) {
    PyObject *list = PyList_New(0);
    for (int f = 0; list && f < TY__COUNT; f++) {
        const TypedInfo *i = &qtyped_info[f];
        unsigned types = 0;
        for (int d = 0; d < QS_NDTYPES; d++)
            if (qtyped_loop((Typed)f, (qs_dtype)d)) types |= 1u << d;
        PyObject *row = Py_BuildValue("(siisI)", i->name, i->nargs, (int)i->gives, i->help, types);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* (get, set): registers the functions for items with keys that do not give views. */
static PyObject *xp_items(PyObject *Py_UNUSED(m), PyObject *args) {
    PyObject *get, *set;
    if (!PyArg_ParseTuple(args, "OO", &get, &set)) return NULL;
    Py_INCREF(get), Py_INCREF(set);
    Py_XDECREF(qbridge.typed_items[0]);
    Py_XDECREF(qbridge.typed_items[1]);
    qbridge.typed_items[0] = get, qbridge.typed_items[1] = set;
    return Py_INCREF(Py_None), Py_None;
}

#define PARAMETERS_1 "(x, /)"
#define PARAMETERS_2 "(x1, x2, /)"
#define PARAMETERS_3 "(condition, x1, x2, /)"
static PyMethodDef functions[] = {
#define TYPED(name, nargs, gives, truths, wholes, reals, pairs, help)                                                  \
    {"_xp_" #name, (PyCFunction)(void (*)(void))xp_##name, FASTCALL, "_xp_" #name PARAMETERS_##nargs "\n--\n\n" help},
#include "vm/typed/typed.def"
    {"_xp__new", xp_new, METH_VARARGS, NULL},
    {"_xp__range", xp_range, METH_VARARGS, NULL},
    {"_xp__fill", xp_fill, METH_VARARGS, NULL},
    {"_xp__item", xp_item, METH_O, NULL},
    {"_xp__convert", xp_convert, METH_VARARGS, NULL},
    {"_xp__view", xp_view, METH_VARARGS, NULL},
    {"_xp__shaped", (PyCFunction)(void (*)(void))xp_shaped, FASTCALL, NULL},
    {"_xp__permuted", (PyCFunction)(void (*)(void))xp_permuted, FASTCALL, NULL},
    {"_xp__strides", xp_strides, METH_O, NULL},
    {"_xp__is_packed", xp_is_packed, METH_O, NULL},
    {"_xp__wrap", xp_wrap, METH_O, NULL},
    {"_xp__plain", xp_plain, METH_O, NULL},
    {"_xp__gather", xp_gather, METH_VARARGS, NULL},
    {"_xp__scatter", xp_scatter, METH_VARARGS, NULL},
    {"_xp__take", xp_take, METH_VARARGS, NULL},
    {"_xp__nonzero", xp_nonzero, METH_O, NULL},
    {"_xp__fold", xp_fold, METH_VARARGS, NULL},
    {"_xp__place", xp_place, METH_VARARGS, NULL},
    {"_xp__running", xp_running, METH_VARARGS, NULL},
    {"_xp__search", xp_search, METH_VARARGS, NULL},
    {"_xp__product", xp_product, METH_VARARGS, NULL},
    {"_xp__promote", xp_promote, METH_VARARGS, NULL},
    {"_xp__rows", xp_rows, METH_NOARGS, NULL},
    {"_xp__items", xp_items, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"_code", xp_code, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
#define NUMBER(slot, name)                                                                                             \
    {Py_nb_##slot, (void *)op_##name}, { Py_nb_inplace_##slot, (void *)to_##name }
static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "An array of the Array API standard: a value of the language with its operators."},
    NUMBER(add, add),
    NUMBER(subtract, subtract),
    NUMBER(multiply, multiply),
    NUMBER(true_divide, divide),
    NUMBER(floor_divide, floor_divide),
    NUMBER(remainder, remainder),
    NUMBER(power, pow),
    NUMBER(and, bitwise_and),
    NUMBER(or, bitwise_or),
    NUMBER(xor, bitwise_xor),
    NUMBER(lshift, bitwise_left_shift),
    NUMBER(rshift, bitwise_right_shift),
    {Py_nb_negative, (void *)op_negative},
    {Py_nb_positive, (void *)op_positive},
    {Py_nb_absolute, (void *)op_abs},
    {Py_nb_invert, (void *)op_invert},
    {Py_tp_richcompare, (void *)compare_arrays},
    {Py_tp_hash, (void *)PyObject_HashNotImplemented},
    {Py_mp_subscript, (void *)get_item},
    {Py_mp_ass_subscript, (void *)set_item},
    {Py_sq_item, (void *)item_at},
    {Py_tp_getset, attributes},
    {0, NULL},
};

int qtyped_init(PyObject *module) {
    PyType_Spec spec = {"pyquasar.array_api.Array", 0, 0, Py_TPFLAGS_DEFAULT, slots};
    PyObject *bases = PyTuple_Pack(1, qbridge.value);
    qbridge.typed = bases ? (PyTypeObject *)PyType_FromSpecWithBases(&spec, bases) : NULL;
    Py_XDECREF(bases);
    if (!qbridge.typed || PyModule_AddFunctions(module, functions) < 0) return -1;
    Py_INCREF(qbridge.typed);
    return PyModule_AddObject(module, "qtyped", (PyObject *)qbridge.typed);
}
