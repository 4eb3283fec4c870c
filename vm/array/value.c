/* value.c -- implements operations on all values: type, conversion to a type, truth, equality, construction. */
#include "lang/syntax/ast.h"
#include "lang/syntax/operators.h"
#include "vm/array/array.h"
#include "vm/array/contiguous.h"
#include "vm/array/convert.h"
#include "vm/array/strided.h"
#include "vm/base/number.h"
#include "vm/base/warning.h"
#include "vm/quasar.h"
#include "vm/value/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- types --------------------------------------------------------------------------------------------------------- */

static bool is_null(qs_value v) { return v.kind == QS_NIL && v.aux == NIL_NULL; }

static const Type *array_type(Ctx *c, const Array *a) {
    return qtype_array(c, qtype_num(c, (qs_dtype)a->dtype), a->rank);
}

static const Type *object_type(Ctx *c, const Object *o) { return o->cls ? o->cls->type : qtype_simple(c, TY_OBJECT); }

static bool is_kernel(const Function *f) { return f->fkind == FN_SCRIPT && f->ast->qual == Q_KERNEL; }

const Type *qval_type(qs_vm *vm, qs_value v) {
    Ctx *c = qvm_ctx(vm);
    switch ((qs_kind)v.kind) {
    case QS_NIL: return qtype_any(c);
    case QS_BOOL: return qtype_num(c, QS_B1);
    case QS_INT: return qtype_num(c, QS_I32);
    case QS_NUM: return qtype_scalar(c);
    case QS_COMPLEX: return qtype_num(c, qdtype_complex_of(c->scalar_dtype));
    case QS_STRING: return qtype_simple(c, TY_STRING);
    case QS_ARRAY: return array_type(c, v.u.p);
    case QS_CELL: return qtype_array(c, ((Cell *)v.u.p)->elem, ((Cell *)v.u.p)->rank);
    case QS_OBJECT: return object_type(c, v.u.p);
    case QS_FUNCTION: return qtype_simple(c, is_kernel(v.u.p) ? TY_KERNEL : TY_FN);
    case QS_TYPE: return qtype_simple(c, TY_TYPE);
    case QS_FOREIGN: return qtype_simple(c, TY_FOREIGN);
    case QS_TRACED: return qval_type(vm, ((Traced *)v.u.p)->value);
    }
    return qtype_any(c);
}

/* Returns the type name with the foreign type, as "pyvalue (list)".  Errors are discarded: the name is for messages. */
static const char *foreign_name(qs_vm *vm, qs_value v) {
    const Foreign *f = v.u.p;
    const char *name = qs_type_name(vm, v);
    qs_value detail = qs_nil();
    Text t;
    if (!f->ftype->detail) return name;
    if (f->ftype->detail(vm, f->p, &detail) != QS_OK) return qs_error_clear(vm), name;
    qtext_init(&t, qvm_ctx(vm));
    qtext_printf(&t, "%s (%s)", name, qs_to_string(detail, NULL));
    if (qtext_status(&t) == QS_OK) name = qstr_name(qvm_ctx(vm), t.s, t.len)->s;
    else qs_error_clear(vm);
    qtext_free(&t);
    qs_release(vm, detail);
    return name;
}

const char *qval_type_name(qs_vm *vm, qs_value v) {
    static const char *const nils[] = {"null", ":", "no value"};
    if (v.kind == QS_NIL) return nils[v.aux <= NIL_UNSET ? v.aux : NIL_NULL];
    return v.kind == QS_FOREIGN ? foreign_name(vm, v) : qtype_name(qval_type(vm, v));
}

/* -- integers of a given width ------------------------------------------------------------------------------------- */

static int64_t int_min(qs_dtype d) {
    return qdtype_info[d].cls == DC_UINT ? 0 : INT64_MIN >> (64 - 8 * qdtype_size(d));
}

static int64_t int_max(qs_dtype d) { /* an int value holds an int64, so the maximum of uint64 is INT64_MAX here */
    size_t bits = 8 * qdtype_size(d) - (qdtype_info[d].cls == DC_UINT ? 0 : 1);
    return bits >= 63 ? INT64_MAX : (int64_t)(((uint64_t)1 << bits) - 1);
}

static bool int_holds(qs_dtype d, int64_t x) { return x >= int_min(d) && x <= int_max(d); }

static int64_t int_saturate(qs_dtype d, int64_t x) {
    return x < int_min(d) ? int_min(d) : x > int_max(d) ? int_max(d) : x;
}

/* -- type tests without conversion --------------------------------------------------------------------------------- */

static bool number_fits(qs_value v, qs_dtype d) {
    v = qtape_plain(v);
    switch ((DtypeClass)qdtype_info[d].cls) {
    case DC_BOOL: return v.kind == QS_BOOL;
    case DC_SINT:
    case DC_UINT: return v.kind == QS_INT && int_holds(d, v.u.i);
    case DC_REAL: return qval_is_number(v);
    case DC_CPLX: return qval_is_scalar(v);
    }
    return false;
}

/* Compares normal forms: 1xN is a vec, HxWx1 a mat.  vec3 has 3 elements in a row, mat2x2 has two rows of two. */
static bool shape_fits(const Type *t, int rank, const int64_t *dims) {
    int64_t want[QS_MAX_RANK];
    if (!t->nfixed) return t->rank == RANK_ANY || rank <= t->rank;
    for (int i = 0; i < t->nfixed; i++) want[i] = t->dims[i];
    return rank == qarr_normalise(t->nfixed, want) && !memcmp(dims, want, (size_t)rank * sizeof *dims);
}

static bool elements_fit(Ctx *c, const Type *t, const Type *elem) {
    return qtype_accepts(c, qtype_array(c, t->inner, 1), qtype_array(c, elem, 1));
}

static bool array_fits(qs_vm *vm, const Array *a, const Type *t) {
    return shape_fits(t, a->rank, a->dims) && elements_fit(qvm_ctx(vm), t, qtype_num(qvm_ctx(vm), (qs_dtype)a->dtype));
}

static bool cell_fits(qs_vm *vm, const Cell *x, const Type *t) {
    return shape_fits(t, x->rank, x->dims) && elements_fit(qvm_ctx(vm), t, x->elem);
}

static int required_params(const Func *f) {
    int n = 0;
    while (n < f->nparams && !f->params[n].init && !f->params[n].variadic) n++;
    return n;
}

bool qval_arity(const Function *f, int *least, int *most) {
    if (f->fkind == FN_NATIVE) *least = f->native->min_in, *most = f->native->max_in < 0 ? -1 : f->native->max_in;
    if (f->fkind != FN_SCRIPT) return f->fkind == FN_NATIVE;
    bool variadic = f->ast->nparams && f->ast->params[f->ast->nparams - 1].variadic;
    *least = required_params(f->ast), *most = variadic ? -1 : f->ast->nparams;
    return true;
}

bool qval_takes(const Function *f, int nargs) {
    int least, most;
    if (qval_arity(f, &least, &most)) return nargs >= least && (most < 0 || nargs <= most);
    if (f->fkind == FN_FOREIGN) return true;
    for (int i = 0; i < f->nmembers; i++)
        if (qval_takes(f->members[i], nargs)) return true;
    return false;
}

static bool function_fits(qs_value v, const Type *t) {
    if (v.kind == QS_FOREIGN) return t->kind == TY_FN && ((Foreign *)v.u.p)->ftype->call;
    if (v.kind != QS_FUNCTION || is_kernel(v.u.p) != (t->kind == TY_KERNEL)) return false;
    return !t->args || t->kind == TY_KERNEL || qval_takes(v.u.p, t->nargs);
}

static bool union_fits(qs_vm *vm, qs_value v, const Type *t) {
    for (int i = 0; i < t->nargs; i++)
        if (qval_is_type(vm, v, t->args[i])) return true;
    return false;
}

bool qval_is_type(qs_vm *vm, qs_value v, const Type *t) {
    switch (t->kind) {
    case TY_ANY: return true;
    case TY_NUM: return number_fits(v, t->dtype);
    case TY_STRING: return v.kind == QS_STRING;
    case TY_ARRAY: return v.kind == QS_ARRAY ? array_fits(vm, v.u.p, t) : v.kind == QS_CELL && cell_fits(vm, v.u.p, t);
    case TY_FN:
    case TY_KERNEL: return function_fits(v, t);
    case TY_OBJECT:
        return is_null(v) ||
               (v.kind == QS_OBJECT && (!((Object *)v.u.p)->cls || ((Object *)v.u.p)->cls->kind == CLASS_DYNAMIC));
    case TY_CLASS:
        return is_null(v) || (v.kind == QS_OBJECT && ((Object *)v.u.p)->cls && ((Object *)v.u.p)->cls->type == t);
    case TY_PTR: return qval_is_type(vm, v, t->inner);
    case TY_UNION: return union_fits(vm, v, t);
    case TY_TYPE: return v.kind == QS_TYPE;
    case TY_FOREIGN: return v.kind == QS_FOREIGN;
    }
    return false;
}

/* -- conversion to a declared type --------------------------------------------------------------------------------- */

static void add_extents(Text *t, int rank, const int64_t *dims) {
    qtext_puts(t, " of size ");
    if (rank == 1) qtext_puts(t, "1x");
    for (int i = 0; i < rank; i++) qtext_printf(t, "%s%lld", i ? "x" : "", (long long)dims[i]);
}

/* Sets the error "y must be vec3, got mat of size 3x4". */
static qs_status mismatch(qs_vm *vm, qs_value v, const Type *t, const char *what) {
    Text got;
    qtext_init(&got, qvm_ctx(vm));
    qtext_puts(&got, qval_type_name(vm, v));
    if (t->kind == TY_ARRAY && v.kind == QS_ARRAY) add_extents(&got, qval_array(v)->rank, qval_array(v)->dims);
    if (t->kind == TY_ARRAY && v.kind == QS_CELL) add_extents(&got, ((Cell *)v.u.p)->rank, ((Cell *)v.u.p)->dims);
    qs_status s = qerr_set(qvm_ctx(vm), QS_ETYPE, "%s must be %s, got %s", what, qtype_name(t), got.s);
    qtext_free(&got);
    return s;
}

qs_status qval_complex(qs_vm *vm, double re, double im, qs_value *out) {
    Complex *z = qmem_alloc(qvm_ctx(vm), sizeof *z);
    *z = (Complex){{.refs = 1, .kind = QS_COMPLEX}, re, im};
    *out = qval_object(QS_COMPLEX, z);
    return QS_OK;
}

qs_status qval_string(qs_vm *vm, const char *s, size_t n, qs_value *out) {
    Str *made = qstr_new(qvm_ctx(vm), s, n);
    if (!made) return qerr_set(qvm_ctx(vm), QS_ENOMEM, "out of memory: a string of %zu bytes", n);
    *out = qval_object(QS_STRING, made);
    return QS_OK;
}

qs_status qval_text(qs_vm *vm, Text *t, qs_status made, qs_value *out) {
    if (made == QS_OK) made = qtext_status(t);
    if (made == QS_OK) made = qval_string(vm, t->s ? t->s : "", t->len, out);
    qtext_free(t);
    return made;
}

/* Rounds x to the real type d.  Type `scalar` does not round: host scalars are double, whatever the element type is. */
static double round_real(Ctx *c, qs_dtype d, double x) {
    if (d == c->scalar_dtype || d == QS_F64) return x;
    double element;
    qdtype_put(d, &element, x);
    return qdtype_get(d, &element);
}

/* Converts to an integer type.  A uint64 beyond INT64_MAX becomes a double, like an array element of this size. */
static qs_value to_int(qs_dtype d, qs_value v) {
    if (d == QS_U64 && v.kind == QS_NUM && v.u.f >= 0x1p63) return qs_num((double)qdtype_sat_u64(v.u.f, UINT64_MAX));
    return qs_int(v.kind == QS_NUM ? qdtype_sat_i64(v.u.f, int_min(d), int_max(d)) : int_saturate(d, v.u.i));
}

static qs_status convert_number(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out) {
    DtypeClass cls = (DtypeClass)qdtype_info[t->dtype].cls;
    if (v.kind == QS_COMPLEX && cls == DC_CPLX) return *out = qval_retain(v), QS_OK;
    if (!qval_is_number(v)) return mismatch(vm, v, t, what);
    switch (cls) {
    case DC_BOOL: *out = qs_bool(qval_number(v) != 0); break;
    case DC_SINT:
    case DC_UINT: *out = to_int(t->dtype, v); break;
    case DC_REAL: *out = qs_num(round_real(qvm_ctx(vm), t->dtype, qval_number(v))); break;
    case DC_CPLX: return qval_complex(vm, qval_number(v), 0, out);
    }
    return QS_OK;
}

static bool array_converts(const Array *a, const Type *t) {
    bool loses =
        t->inner->kind != TY_NUM || (qdtype_is_complex((qs_dtype)a->dtype) && !qdtype_is_complex(t->inner->dtype));
    return !loses && shape_fits(t, a->rank, a->dims);
}

static qs_status convert_array(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out) {
    Array *r;
    if (!array_converts(qval_array(v), t)) return mismatch(vm, v, t, what);
    TRY(qarr_convert(vm, qval_array(v), t->inner->dtype, &r));
    return *out = qarr_value(r), QS_OK;
}

enum { FLOAT32_BITS = 24 };

/* Finds an integer among x that float32 does not represent: its first and last bit are too far apart. */
static const int64_t *find_rounded(const int64_t *x, size_t n, bool is_signed) {
    for (size_t i = 0; i < n; i++) {
        uint64_t m = is_signed && x[i] < 0 ? -(uint64_t)x[i] : (uint64_t)x[i];
        if (m >> FLOAT32_BITS && 64 - __builtin_clzll(m) - __builtin_ctzll(m) > FLOAT32_BITS) return &x[i];
    }
    return NULL;
}

static qs_status warn_of_rounded(qs_vm *vm, int64_t x, bool is_signed, const Type *t, const char *what) {
    char text[24];
    if (is_signed) snprintf(text, sizeof text, "%" PRId64, x);
    else snprintf(text, sizeof text, "%" PRIu64, (uint64_t)x);
    return qwarn_at(qvm_ctx(vm), qvm_here(vm),
                    "%s: the integer %s is rounded, because %s holds float32 elements, which are exact to 2^24: "
                    "declare %s[float64], or pass float32(x) if this is meant",
                    *what ? what : "the value", text, qtype_name(t), qtype_name(t));
}

/* Warns if the conversion of an array of integers to float32 rounds an element. */
static qs_status check_rounding(qs_vm *vm, Array *a, const Type *t, const char *what) {
    enum { PART = 256 };
    int64_t part[PART];
    const void *p;
    Nest n;
    qs_dtype d = (qs_dtype)a->dtype;
    bool is_signed = d != QS_U64;
    if (!qdtype_is_int(d) || qdtype_size(d) < 4 || (t->inner->dtype != QS_F32 && t->inner->dtype != QS_C64))
        return QS_OK;
    if (!qwarn_expected(qvm_ctx(vm), qvm_here(vm))) return QS_OK; /* reading all elements takes time */
    TRY(qarr_read(vm, a, &p));
    qstrided_begin(&n, a->rank, a->dims);
    qstrided_array(&n, p, a);
    qstrided_fuse(&n);
    while (qstrided_next(&n)) {
        const char *at = n.at[0];
        for (size_t i = 0, m; i < n.count; i += m, at += (ptrdiff_t)m * n.step[0]) {
            m = n.count - i < PART ? n.count - i : PART;
            qconv_run(d, at, n.step[0], is_signed ? QS_I64 : QS_U64, part, sizeof *part, m);
            const int64_t *x = find_rounded(part, m, is_signed);
            if (x) return warn_of_rounded(vm, *x, is_signed, t, what);
        }
    }
    return QS_OK;
}

/* Returns whether the elements are floats or complex numbers that t holds with fewer digits. */
static bool array_loses_digits(const Array *a, const Type *t) {
    qs_dtype d = (qs_dtype)a->dtype, to = t->inner->dtype;
    return d != QS_B1 && !qdtype_is_int(d) && !qdtype_is_int(to) && qdtype_promote(d, to) != to;
}

/* Sets the error for memory from outside of the language (ARRAY_AS_IS) that a conversion would round. */
static qs_status never_rounded(qs_vm *vm, qs_value v, const Type *t, const char *what) {
    char text[QERR_TEXT];
    qs_status s = mismatch(vm, v, t, what);
    snprintf(text, sizeof text, "%s", qvm_ctx(vm)->err.text);
    qerr_clear(qvm_ctx(vm));
    (void)qerr_set(qvm_ctx(vm), s, "%s; memory that is passed is not rounded: pass value(x) for a converted copy",
                   text);
    return s;
}

/* Converts an array implicitly, in contrast to an explicit float64(x). */
static qs_status convert_array_unasked(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out) {
    const Array *a = qval_array(v);
    bool converts = array_converts(a, t), as_is = a->hdr.flags & ARRAY_AS_IS;
    if (converts && as_is && array_loses_digits(a, t)) return never_rounded(vm, v, t, what);
    if (converts) TRY(check_rounding(vm, qval_array(v), t, what));
    return convert_array(vm, v, t, what, out);
}

static bool items_fit(qs_vm *vm, const Cell *c, const Type *elem) {
    for (size_t i = 0; i < c->count; i++)
        if (!qval_is_type(vm, c->items[i], elem)) return false;
    return true;
}

/* Converts a cell with a less specific element type: if all items fit, returns a cell of type t with the same items. */
static qs_status convert_cell(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out) {
    Cell *c = v.u.p, *r;
    if (t->inner->kind == TY_NUM || !shape_fits(t, c->rank, c->dims) || !items_fit(vm, c, t->inner))
        return mismatch(vm, v, t, what);
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), c->rank, c->dims, &r));
    r->elem = t->inner;
    for (size_t i = 0; i < c->count; i++) r->items[i] = qval_retain(c->items[i]);
    return *out = qval_object(QS_CELL, r), QS_OK;
}

/* Returns whether x is integral and in the range lo <= x < beyond. */
static inline bool span_holds(double x, double lo, double beyond) { return (trunc(x) == x) & (x >= lo) & (x < beyond); }

bool qval_holds(qs_dtype integer, qs_value number) {
    double lo, hi;
    if (number.kind != QS_NUM) return int_holds(integer, number.u.i);
    qdtype_int_span(integer, &lo, &hi);
    return span_holds(number.u.f, lo, hi + 1);
}

/* Warns if v is nan or out of the range of the integer type d.  Dropping a fraction is normal and does not warn. */
static qs_status warn_of_cut(qs_vm *vm, qs_dtype d, qs_value v) {
    if (!qdtype_is_int(d) || !qval_is_number(v)) return QS_OK;
    double lo, hi;
    qdtype_int_span(d, &lo, &hi);
    bool cut = v.kind != QS_NUM ? !int_holds(d, v.u.i) : !(trunc(v.u.f) >= lo && v.u.f < hi + 1);
    return cut ? qwarn_slip(qvm_ctx(vm), qvm_here(vm), SLIP_CUT) : QS_OK;
}

static const Type *numeric_member(const Type *t) {
    for (int i = 0; i < t->nargs; i++)
        if (t->args[i]->kind == TY_NUM) return t->args[i];
    return NULL;
}

/* A parameter, its type, and the integer type of its elements, which must represent the argument exactly. */
typedef struct {
    const char *what;
    const Type *type, *element;
} Held;

static qs_status not_held(qs_vm *vm, qs_value number, const Held *h) {
    char text[NUMBER_TEXT];
    return qerr_set(qvm_ctx(vm), QS_EVALUE, QDTYPE_NOT_HELD, h->what, qtype_name(h->type),
                    qnum_shown(qval_number(number), text), qtype_name(h->element));
}

static bool always_held(qs_dtype integer, qs_dtype d) {
    double lo, hi, least, most;
    if (!qdtype_is_int(d)) return d == QS_B1;
    qdtype_int_span(integer, &lo, &hi), qdtype_int_span(d, &least, &most);
    return least >= lo && most <= hi;
}

/* Returns whether an integer type holds all these numbers.  Near the limits of 64-bit types the doubles are inexact, so
 * that false may be wrong. */
static bool seem_held(const double *x, size_t n, double lo, double beyond) {
    bool all = true;
    for (size_t i = 0; i < n; i++) all &= span_holds(x[i], lo, beyond);
    return all;
}

static qs_status check_run(qs_vm *vm, const char *at, ptrdiff_t step, size_t n, qs_dtype d, const Held *h) {
    enum { PART = 256 };
    double part[PART], lo, hi;
    qdtype_int_span(h->element->dtype, &lo, &hi);
    for (size_t i = 0, m; i < n; i += m, at += (ptrdiff_t)m * step) {
        m = n - i < PART ? n - i : PART;
        qconv_run(d, at, step, QS_F64, part, sizeof *part, m);
        bool held = seem_held(part, m, lo, hi + 1);
        for (size_t k = 0; k < m && !held; k++) {
            qs_value x;
            TRY(qarr_load(vm, d, at + (ptrdiff_t)k * step, &x));
            if (!qval_holds(h->element->dtype, x)) return not_held(vm, x, h);
        }
    }
    return QS_OK;
}

static qs_status check_elements(qs_vm *vm, Array *a, const Held *h) {
    const void *p;
    Nest n;
    qs_dtype d = (qs_dtype)a->dtype;
    if (always_held(h->element->dtype, d) || !array_converts(a, h->type)) return QS_OK;
    qtape_enter(vm);
    qs_status s = qarr_read(vm, a, &p);
    qtape_leave(vm);
    qstrided_begin(&n, a->rank, a->dims);
    if (s == QS_OK) qstrided_array(&n, p, a);
    qstrided_fuse(&n);
    while (s == QS_OK && qstrided_next(&n)) s = check_run(vm, n.at[0], n.step[0], n.count, d, h);
    return s;
}

/* Returns the integer type to which a parameter of type t converts v or its elements; NULL: it is not an integer type.
 */
static const Type *whole_type(const Type *t, qs_value v) {
    const Type *n = t->kind == TY_UNION ? numeric_member(t) : v.kind == QS_ARRAY && t->kind == TY_ARRAY ? t->inner : t;
    return n && n->kind == TY_NUM && qdtype_is_int(n->dtype) ? n : NULL;
}

qs_status qval_pass(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out) {
    qs_value plain = qtape_plain(v);
    const Type *whole = whole_type(t, plain);
    if (!whole || (t->kind != TY_NUM && qval_is_type(vm, plain, t))) return qval_coerce(vm, v, t, what, out);
    bool elements = plain.kind == QS_ARRAY;
    const Held held = {what, t, whole};
    if (elements && t->kind == TY_ARRAY) TRY(check_elements(vm, qval_array(plain), &held));
    if (qval_is_number(plain) && !qval_holds(whole->dtype, plain)) return not_held(vm, plain, &held);
    return qval_coerce(vm, elements ? v : plain, t, what, out);
}

qs_status qval_coerce(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out) {
    if (v.kind == QS_TRACED || qtape_is_recorded(vm, v)) return qtrace(vm)->coerce(vm, v, t, what, out);
    if (t->kind == TY_NUM) TRY(warn_of_cut(vm, t->dtype, v));
    if (t->kind == TY_NUM) return convert_number(vm, v, t, what, out);
    if (qval_is_type(vm, v, t)) return *out = qval_retain(v), QS_OK;
    if (t->kind == TY_UNION && qval_is_number(v) && numeric_member(t))
        return convert_number(vm, v, numeric_member(t), what, out);
    if (t->kind == TY_ARRAY && v.kind == QS_ARRAY) return convert_array_unasked(vm, v, t, what, out);
    if (t->kind == TY_ARRAY && v.kind == QS_CELL) return convert_cell(vm, v, t, what, out);
    return mismatch(vm, v, t, what);
}

/* -- truth --------------------------------------------------------------------------------------------------------- */

static bool element_truth(qs_dtype d, const void *p) {
    if (d == QS_C64) return ((const QComplexF *)p)->re != 0 || ((const QComplexF *)p)->im != 0;
    if (d == QS_C128) return ((const QComplexD *)p)->re != 0 || ((const QComplexD *)p)->im != 0;
    return qdtype_get(d, p) != 0;
}

/* Returns whether all elements are true.  An empty array is false: `if [] …` does not run. */
static qs_status array_truth(qs_vm *vm, Array *a, bool *out) {
    const void *p;
    size_t size = qdtype_size((qs_dtype)a->dtype), i = 0;
    qtape_enter(vm); /* a truth value has no derivative */
    qs_status s = qarr_read(vm, a, &p);
    qtape_leave(vm);
    if (s != QS_OK) return s;
    while (i < a->count && element_truth((qs_dtype)a->dtype, (const char *)p + (ptrdiff_t)(qarr_offset(a, i) * size)))
        i++;
    *out = a->count > 0 && i == a->count;
    return QS_OK;
}

static qs_status foreign_truth(qs_vm *vm, qs_value v, bool *out) {
    qs_value no;
    const Foreign *f = v.u.p;
    if (f->ftype->truth) return f->ftype->truth(vm, f->p, out);
    TRY(((Foreign *)v.u.p)->ftype->op(vm, OP_NOT, v, qs_nil(), &no));
    *out = !(qval_is_number(no) && qval_number(no) != 0);
    qval_release(vm, no);
    return QS_OK;
}

qs_status qval_truth(qs_vm *vm, qs_value v, bool *out) {
    v = qtape_plain(v);
    const Complex *z = v.u.p;
    switch ((qs_kind)v.kind) {
    case QS_BOOL:
    case QS_INT: return *out = v.u.i != 0, QS_OK;
    case QS_NUM: return *out = v.u.f != 0, QS_OK;
    case QS_COMPLEX: return *out = z->re != 0 || z->im != 0, QS_OK;
    case QS_ARRAY: return array_truth(vm, v.u.p, out);
    case QS_FOREIGN:
        if (((Foreign *)v.u.p)->ftype->op || ((Foreign *)v.u.p)->ftype->truth) return foreign_truth(vm, v, out);
        break;
    default: break;
    }
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "a condition must be a number or an array of numbers, got %s",
                    qval_type_name(vm, v));
}

/* -- equality ------------------------------------------------------------------------------------------------------ */

enum { EQUAL_DEPTH = 1000 }; /* cells nested deeper, or in themselves, are equal only if they are the same cell */

static bool equal_at(qs_vm *vm, qs_value a, qs_value b, int depth);

static bool numbers_equal(qs_value a, qs_value b) {
    if (a.kind != QS_NUM && b.kind != QS_NUM) return a.u.i == b.u.i;
    if (a.kind == b.kind) return a.u.f == b.u.f;
    return a.kind == QS_NUM ? !qdtype_order(b.u.i, a.u.f) : !qdtype_order(a.u.i, b.u.f);
}

static void parts(qs_value v, double z[2]) {
    z[0] = v.kind == QS_COMPLEX ? ((Complex *)v.u.p)->re : qval_number(v);
    z[1] = v.kind == QS_COMPLEX ? ((Complex *)v.u.p)->im : 0;
}

static bool complex_equal(qs_value a, qs_value b) {
    double x[2], y[2];
    parts(a, x);
    parts(b, y);
    return x[0] == y[0] && x[1] == y[1];
}

/* Compares two integer elements as int64 and as uint64, because each type saturates where the other does not. */
static bool wholes_equal(qs_vm *vm, Array *a, Array *b, size_t i) {
    int64_t x, y;
    uint64_t u, v;
    const void *p, *q;
    if (qarr_read(vm, a, &p) != QS_OK || qarr_read(vm, b, &q) != QS_OK) return false;
    p = (const char *)p + (ptrdiff_t)(qarr_offset(a, i) * qdtype_size((qs_dtype)a->dtype));
    q = (const char *)q + (ptrdiff_t)(qarr_offset(b, i) * qdtype_size((qs_dtype)b->dtype));
    qconv_run((qs_dtype)a->dtype, p, 0, QS_I64, &x, 0, 1), qconv_run((qs_dtype)b->dtype, q, 0, QS_I64, &y, 0, 1);
    qconv_run((qs_dtype)a->dtype, p, 0, QS_U64, &u, 0, 1), qconv_run((qs_dtype)b->dtype, q, 0, QS_U64, &v, 0, 1);
    return x == y && u == v;
}

static bool element_equal(qs_vm *vm, Array *a, Array *b, size_t i) {
    qs_value x, y;
    if (a->dtype <= QS_U64 && b->dtype <= QS_U64) return wholes_equal(vm, a, b, i);
    if (qarr_get(vm, a, i, &x) != QS_OK) return false;
    bool same = qarr_get(vm, b, i, &y) == QS_OK;
    if (same) {
        same = x.kind == QS_COMPLEX || y.kind == QS_COMPLEX ? complex_equal(x, y) : numbers_equal(x, y);
        qval_release(vm, y);
    }
    qval_release(vm, x);
    return same;
}

/* Compares two contiguous runs of floats; NaN equals nothing. */
static bool runs_equal(qs_dtype d, const char *p, const char *q, size_t n) {
    uint8_t differ[1024];
    Loop *compare = qcontig_get(LOOP_NE, d, LOOP_VV);
    for (size_t at = 0, m; at < n; at += m) {
        m = n - at < sizeof differ ? n - at : sizeof differ;
        compare(m, p + at * qdtype_size(d), q + at * qdtype_size(d), differ);
        if (memchr(differ, 1, m)) return false;
    }
    return true;
}

static bool arrays_equal(qs_vm *vm, Array *a, Array *b) {
    const void *p, *q;
    qs_dtype d = (qs_dtype)a->dtype;
    if (!qarr_same_shape(a, b)) return false;
    if (d == b->dtype && a->contiguous && b->contiguous && !qdtype_is_short(d)) {
        if (qarr_read(vm, a, &p) != QS_OK || qarr_read(vm, b, &q) != QS_OK) return false;
        return d <= QS_U64 ? memcmp(p, q, a->count * qdtype_size(d)) == 0 : runs_equal(d, p, q, a->count);
    }
    for (size_t i = 0; i < a->count; i++)
        if (!element_equal(vm, a, b, i)) return false;
    return true;
}

static bool cells_equal(qs_vm *vm, const Cell *a, const Cell *b, int depth) {
    if (a == b) return true;
    if (depth == EQUAL_DEPTH || a->rank != b->rank || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!equal_at(vm, a->items[i], b->items[i], depth + 1)) return false;
    return true;
}

/* Dictionaries are equal if they have the same keys with equal values, in any order; other objects have an identity. */
static bool objects_equal(qs_vm *vm, const Object *a, const Object *b, int depth) {
    qs_value key, value;
    if (a == b) return true;
    if (depth == EQUAL_DEPTH || !qobj_is_dictionary(a) || !qobj_is_dictionary(b) || qobj_count(a) != qobj_count(b))
        return false;
    for (uint32_t i = 0; qobj_entry(a, i, &key, &value); i++) {
        qs_value other;
        bool found = false;
        if (qobj_find(vm, (Object *)b, key, &other, &found) != QS_OK || !found) return false;
        bool same = equal_at(vm, value, other, depth + 1);
        qval_release(vm, other);
        if (!same) return false;
    }
    return true;
}

/* Each reference to a nested function creates a new closure; closures without captures are equal. */
static bool functions_equal(const Function *a, const Function *b) {
    if (a == b) return true;
    if (a->fkind != b->fkind || a->ncaptures || b->ncaptures) return false;
    return a->fkind == FN_SCRIPT ? a->ast == b->ast : a->fkind == FN_NATIVE && a->native == b->native;
}

static bool foreign_equal(qs_vm *vm, qs_value a, qs_value b) {
    qs_value same;
    bool truth = false;
    const Foreign *f = a.kind == QS_FOREIGN ? a.u.p : b.u.p;
    if (a.kind == b.kind && f->p == ((Foreign *)b.u.p)->p) return true;
    if (!f->ftype->op || f->ftype->op(vm, OP_EQ, a, b, &same) != QS_OK) return false;
    if (qval_truth(vm, same, &truth) != QS_OK) truth = false;
    qval_release(vm, same);
    return truth;
}

static bool equal_at(qs_vm *vm, qs_value a, qs_value b, int depth) {
    a = qtape_plain(a), b = qtape_plain(b);
    if (qval_is_number(a) && qval_is_number(b)) return numbers_equal(a, b);
    if (a.kind == QS_FOREIGN || b.kind == QS_FOREIGN) return foreign_equal(vm, a, b);
    if (a.kind == QS_COMPLEX || b.kind == QS_COMPLEX)
        return (qval_is_scalar(a)) && (qval_is_scalar(b)) && complex_equal(a, b);
    if (a.kind != b.kind) return false;
    switch ((qs_kind)a.kind) {
    case QS_NIL: return a.aux == b.aux;
    case QS_STRING: return qstr_equal(a.u.p, b.u.p);
    case QS_ARRAY: return arrays_equal(vm, a.u.p, b.u.p);
    case QS_CELL: return cells_equal(vm, a.u.p, b.u.p, depth);
    case QS_OBJECT: return objects_equal(vm, a.u.p, b.u.p, depth);
    case QS_FUNCTION: return functions_equal(a.u.p, b.u.p);
    case QS_TYPE: return ((TypeValue *)a.u.p)->type == ((TypeValue *)b.u.p)->type;
    default: return a.u.p == b.u.p;
    }
}

bool qval_equal(qs_vm *vm, qs_value a, qs_value b) {
    qtape_enter(vm); /* a comparison has no derivative */
    bool same = equal_at(vm, a, b, 0);
    qtape_leave(vm);
    return same;
}

/* -- construction -------------------------------------------------------------------------------------------------- */

static qs_status new_array(qs_vm *vm, const Type *t, int rank, const int64_t *dims, qs_value *out) {
    Array *a;
    Cell *c;
    if (t->inner->kind == TY_NUM) {
        TRY(qarr_new(vm, t->inner->dtype, rank, dims, true, &a));
        return *out = qarr_value(a), QS_OK;
    }
    TRY(qcell_new(vm, t->inner, rank, dims, &c));
    return *out = qval_object(QS_CELL, c), QS_OK;
}

static int declared_dims(const Type *t, int64_t dims[QS_MAX_RANK]) {
    for (int i = 0; i < t->nfixed; i++) dims[i] = t->dims[i];
    if (!t->nfixed) dims[0] = 0;
    return t->nfixed ? t->nfixed : 1;
}

qs_status qval_zero(qs_vm *vm, const Type *t, qs_value *out) {
    int64_t dims[QS_MAX_RANK];
    *out = qs_nil();
    if (t->kind == TY_NUM) return convert_number(vm, qs_num(0), t, "", out);
    if (t->kind == TY_STRING) return *out = qval_object(QS_STRING, qstr_new(qvm_ctx(vm), "", 0)), QS_OK;
    if (t->kind == TY_ARRAY) return new_array(vm, t, declared_dims(t, dims), dims, out);
    return QS_OK;
}

static qs_status construct_number(qs_vm *vm, const Type *t, int n, const qs_value *args, qs_value *out) {
    if (n == 0) return qval_zero(vm, t, out);
    if (n == 2 && qdtype_is_complex(t->dtype) && qval_is_number(args[0]) && qval_is_number(args[1]))
        return qval_complex(vm, qval_number(args[0]), qval_number(args[1]), out);
    if (n > 1) return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s takes 1 value, %d given", qtype_name(t), n);
    if (args[0].kind != QS_ARRAY) return convert_number(vm, args[0], t, "the argument", out);
    return convert_array(vm, args[0], qtype_array(qvm_ctx(vm), t, RANK_ANY), "the argument", out);
}

static qs_status construct_string(qs_vm *vm, int n, const qs_value *args, qs_value *out) {
    Text t;
    qs_status s = QS_OK;
    qtext_init(&t, qvm_ctx(vm));
    for (int i = 0; i < n && s == QS_OK; i++) s = qfmt_value(vm, args[i], &t);
    return qval_text(vm, &t, s, out);
}

static qs_status fill_items(qs_vm *vm, qs_value r, int n, const qs_value *args) {
    for (int i = 0; i < n; i++) {
        if (r.kind == QS_CELL) TRY(qcell_store(vm, r.u.p, (size_t)i, args[i]));
        else if (qval_is_scalar(args[i])) TRY(qarr_put(vm, r.u.p, (size_t)i, args[i]));
        else
            return qerr_set(qvm_ctx(vm), QS_ETYPE, "element %d must be a number, got %s", i,
                            qval_type_name(vm, args[i]));
    }
    return QS_OK;
}

/* vec3() is zero; vec3(1,2,3) contains the arguments. */
static qs_status construct_fixed(qs_vm *vm, const Type *t, int n, const qs_value *args, qs_value *out) {
    int64_t dims[QS_MAX_RANK], count = 1;
    int rank = declared_dims(t, dims);
    for (int i = 0; i < rank; i++) count *= dims[i];
    if (n != 0 && n != count)
        return qerr_set(qvm_ctx(vm), QS_ESHAPE, "%s takes %lld elements, %d given", qtype_name(t), (long long)count, n);
    TRY(new_array(vm, t, rank, dims, out));
    qs_status s = fill_items(vm, *out, n, args);
    if (s != QS_OK) qval_release(vm, *out);
    return s;
}

/* Checks the list in mat(list).  mat(size(x)) has the shape of x, whatever its rank.  Otherwise the list must have the
 * right number of extents; a matrix, or a list passed to vec, probably contains elements. */
static qs_status check_listed(qs_vm *vm, const Type *t, const Array *list, int rank, const int64_t *dims) {
    bool sizes = list->size_of || t->rank == RANK_ANY || rank <= t->rank || (t->rank == 1 && rank == 2 && dims[0] == 1);
    if (sizes || (list->rank < 2 && t->rank != 1)) return QS_OK;
    bool converts = t->inner->kind == TY_NUM && t->inner->dtype != qvm_ctx(vm)->scalar_dtype;
    const char *element = converts ? qtype_name(t->inner) : NULL;
    return qerr_set(qvm_ctx(vm), QS_ESHAPE, "%s takes %d size%s, %d given%s%s%s", qtype_name(t), t->rank,
                    t->rank == 1 ? "" : "s", rank, element ? " (elements are converted by " : "",
                    element ? element : "", element ? "([...]))" : "");
}

static qs_status construct_array(qs_vm *vm, const Type *t, int n, const qs_value *args, qs_value *out) {
    int64_t dims[QS_MAX_RANK];
    int rank;
    if (t->nfixed) return construct_fixed(vm, t, n, args, out);
    if (n == 0) return qval_zero(vm, t, out);
    TRY(qarr_shape_args(vm, qtype_name(t), n, args, &rank, dims));
    if (n == 1 && args[0].kind == QS_ARRAY) TRY(check_listed(vm, t, qval_array(args[0]), rank, dims));
    else if (t->rank != RANK_ANY && rank != t->rank)
        return qerr_set(qvm_ctx(vm), QS_ESHAPE, "%s takes %d size%s, %d given", qtype_name(t), t->rank,
                        t->rank == 1 ? "" : "s", rank);
    return new_array(vm, t, rank, dims, out);
}

/* Constructs an object without a user-defined constructor: sets the fields in order; the others keep their initial
 * value. */
static qs_status construct_object(qs_vm *vm, Class *cls, int n, const qs_value *args, qs_value *out) {
    Object *o;
    if (cls && n > cls->nfields)
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s has %d fields, %d values given", cls->name->s, cls->nfields, n);
    if (!cls && n) return qerr_set(qvm_ctx(vm), QS_EVALUE, "object takes no arguments, %d given", n);
    TRY(qobj_new(vm, cls, &o));
    for (int i = 0; i < n; i++) {
        qs_status s = qobj_init(vm, o, cls->fields[i].name, args[i]);
        if (s == QS_OK) continue;
        qval_release(vm, qval_object(QS_OBJECT, o));
        return s;
    }
    return *out = qval_object(QS_OBJECT, o), QS_OK;
}

qs_status qval_construct(qs_vm *vm, const Type *t, int n, const qs_value *args, qs_value *out) {
    /* these types store the arguments unchanged */
    bool keeps = t->kind == TY_OBJECT || t->kind == TY_CLASS || (t->kind == TY_ARRAY && t->inner->kind != TY_NUM);
    for (int i = 0; i < n && !keeps; i++)
        if (args[i].kind == QS_TRACED || qtape_is_recorded(vm, args[i]))
            return qtrace(vm)->construct(vm, t, n, args, out);
    switch (t->kind) {
    case TY_NUM: return construct_number(vm, t, n, args, out);
    case TY_STRING: return construct_string(vm, n, args, out);
    case TY_ARRAY: return construct_array(vm, t, n, args, out);
    case TY_OBJECT: return construct_object(vm, NULL, n, args, out);
    case TY_CLASS: return construct_object(vm, t->cls, n, args, out);
    default:
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "a value of type %s cannot be made by calling the type", qtype_name(t));
    }
}
