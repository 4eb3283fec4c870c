/* ops.c -- implements operators, loops, fields and annotations for all values. */
#include "lang/syntax/operators.h"
#include "vm/array/arith.h"
#include "vm/array/index.h"
#include "vm/base/number.h"
#include "vm/base/warning.h"
#include "vm/interp/interp.h"
#include "vm/program/module.h"
#include "vm/value/hooks.h"
#include "vm/value/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- operators ----------------------------------------------------------------------------------------------------- */

static const qs_foreign_type *foreign_of(qs_value v) { return v.kind == QS_FOREIGN ? ((Foreign *)v.u.p)->ftype : NULL; }

static qs_status foreign_binary(qs_vm *vm, int op, qs_value a, qs_value b, qs_value *out) {
    const qs_foreign_type *t = foreign_of(a) ? foreign_of(a) : foreign_of(b);
    if (!t->op) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s has no operators", t->name);
    return t->op(vm, op, a, b, out);
}

/* Returns whether == compares v as a whole, by identity or contents; numbers and arrays compare by element. */
static bool has_own_equality(qs_value v) { return v.kind == QS_NIL || v.kind >= QS_CELL || v.kind == QS_STRING; }

static bool compare_ints(Op op, int64_t a, int64_t b) {
    switch (op) {
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    default: return a >= b;
    }
}

static bool are_strings(Op op, qs_value a, qs_value b) {
    return a.kind == QS_STRING && b.kind == QS_STRING && op >= OP_EQ && op <= OP_GE;
}

static bool compare_strings(Op op, const Str *a, const Str *b) {
    if (op == OP_EQ || op == OP_NE) return qstr_equal(a, b) == (op == OP_EQ);
    return compare_ints(op, qstr_compare(a, b), 0);
}

static qs_status int_binary(qs_vm *vm, Op op, int64_t a, int64_t b, qs_value *out) {
    int64_t r = 0;
    bool overflow = false;
    if (op >= OP_EQ && op <= OP_GE) return *out = qs_bool(compare_ints(op, a, b)), QS_OK;
    switch (op) {
    case OP_ADD: overflow = __builtin_add_overflow(a, b, &r); break;
    case OP_SUB: overflow = __builtin_sub_overflow(a, b, &r); break;
    case OP_MUL:
    case OP_PWMUL: overflow = __builtin_mul_overflow(a, b, &r); break;
    default: return qarith_binary(vm, op, qs_int(a), qs_int(b), out);
    }
    if (overflow) return qerr_set(qvm_ctx(vm), QS_EVALUE, "integer overflow");
    *out = qs_int(r);
    return QS_OK;
}

/* Computes an operator on numbers of different types: a scalar and an int. */
static bool mixed_binary(Op op, double x, double y, qs_value *out) {
    switch (op) {
    case OP_ADD: *out = qs_num(x + y); return true;
    case OP_SUB: *out = qs_num(x - y); return true;
    case OP_MUL:
    case OP_PWMUL: *out = qs_num(x * y); return true;
    case OP_DIV:
    case OP_PWDIV: *out = qs_num(x / y); return true;
    default: return false;
    }
}

static bool mixed_order(Op op, qs_value a, qs_value b, qs_value *out) {
    if (op < OP_EQ || op > OP_GE) return false;
    return *out = qs_bool(qarith_order(op, a, b)), true;
}

/* -- strings ------------------------------------------------------------------------------------------------------- */

enum { TEXT_ROOM = 1024 };

static bool is_integral(qs_value v) {
    return v.kind == QS_NUM && fabs(v.u.f) < 1e15 && v.u.f == (double)(int64_t)v.u.f && !(v.u.f == 0 && signbit(v.u.f));
}

/* Returns whether v can be converted to text here, without a formatter or a foreign type. */
static bool joins(qs_value v) { return v.kind == QS_STRING || is_integral(v); }

static qs_status join_long(qs_vm *vm, int n, const qs_value *at, qs_value *out) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    for (int i = 0; i < n; i++) {
        char number[INTEGER_TEXT];
        if (at[i].kind == QS_STRING) qtext_add(&t, ((Str *)at[i].u.p)->s, ((Str *)at[i].u.p)->len);
        else qtext_add(&t, number, qnum_digits(number, (int64_t)at[i].u.f));
    }
    return qval_text(vm, &t, QS_OK, out);
}

static qs_status join_texts(qs_vm *vm, int n, const qs_value *at, qs_value *out) {
    char text[TEXT_ROOM];
    size_t len = 0;
    for (int i = 0; i < n; i++) {
        const Str *s = at[i].u.p;
        if (len + (at[i].kind == QS_STRING ? s->len : INTEGER_TEXT) > sizeof text) return join_long(vm, n, at, out);
        if (at[i].kind == QS_STRING) memcpy(text + len, s->s, s->len), len += s->len;
        else len += qnum_digits(text + len, (int64_t)at[i].u.f);
    }
    *out = qval_object(QS_STRING, qstr_new(qvm_ctx(vm), text, len));
    return QS_OK;
}

static qs_status concat_by_twos(qs_vm *vm, int n, const qs_value *at, qs_value *out) {
    qs_value sum = qval_retain(at[0]), next;
    for (int i = 1; i < n; i++) {
        qs_status s = qops_binary(vm, OP_ADD, sum, at[i], &next);
        qval_release(vm, sum);
        if (s != QS_OK) return s;
        sum = next;
    }
    *out = sum;
    return QS_OK;
}

qs_status qops_concat(qs_vm *vm, int n, const qs_value *at, qs_value *out) {
    for (int i = 0; i < n; i++)
        if (!joins(at[i])) return concat_by_twos(vm, n, at, out);
    return join_texts(vm, n, at, out);
}

/* -- binary operators ---------------------------------------------------------------------------------------------- */

qs_status qops_binary(qs_vm *vm, Op op, qs_value a, qs_value b, qs_value *out) {
    if ((op == OP_EQ || op == OP_NE) && a.kind == QS_NUM && b.kind == QS_NUM && qwarn_is_rounded(a.u.f, b.u.f))
        TRY(qwarn_slip(qvm_ctx(vm), qvm_here(vm), SLIP_FLOAT32));
    if (a.kind == QS_INT && b.kind == QS_INT) return int_binary(vm, op, a.u.i, b.u.i, out);
    if (are_strings(op, a, b)) return *out = qs_bool(compare_strings(op, a.u.p, b.u.p)), QS_OK;
    if ((a.kind == QS_NUM && b.kind == QS_INT) || (a.kind == QS_INT && b.kind == QS_NUM))
        if (mixed_order(op, a, b, out) || mixed_binary(op, qval_number(a), qval_number(b), out)) return QS_OK;
    if (qtape_touches(a) || qtape_touches(b))
        if (!qvm(vm)->grad_inside || a.kind == QS_TRACED || b.kind == QS_TRACED)
            return qtrace(vm)->binary(vm, op, a, b, out);
    if (foreign_of(a) || foreign_of(b)) {
        if ((op != OP_EQ && op != OP_NE) || (a.kind != QS_NIL && b.kind != QS_NIL))
            return foreign_binary(vm, (int)op, a, b, out);
    }
    if (op == OP_ADD && (a.kind == QS_STRING || b.kind == QS_STRING) && joins(a) && joins(b))
        return join_texts(vm, 2, (qs_value[]){a, b}, out);
    if ((op == OP_EQ || op == OP_NE) && (has_own_equality(a) || has_own_equality(b))) {
        *out = qs_bool(qval_equal(vm, a, b) == (op == OP_EQ));
        return QS_OK;
    }
    if (op == OP_ANDAND || op == OP_OROR) {
        if (a.kind != QS_ARRAY && b.kind != QS_ARRAY) { /* the first operand has not decided */
            bool t;
            TRY(qval_truth(vm, b, &t));
            *out = qs_bool(t);
            return QS_OK;
        }
    }
    return qarith_binary(vm, op, a, b, out);
}

qs_status qops_unary(qs_vm *vm, Op op, qs_value a, qs_value *out) {
    if (qtape_touches(a) && (!qvm(vm)->grad_inside || a.kind == QS_TRACED)) return qtrace(vm)->unary(vm, op, a, out);
    if (foreign_of(a)) return foreign_binary(vm, (int)op, a, qs_nil(), out);
    return qarith_unary(vm, op, a, out);
}

static bool in_place(qs_value target, Op op, qs_value v) {
    if (target.kind != QS_ARRAY) return false;
    if (op == OP_MUL && v.kind == QS_ARRAY) return false; /* a matrix product */
    return qval_is_scalar(v) || v.kind == QS_ARRAY;
}

/* Appends to a string in place, for s += t if s is the only reference. */
static bool append_text(qs_vm *vm, qs_value *target, qs_value v) {
    Str *s = target->u.p, *t = v.u.p;
    char number[INTEGER_TEXT];
    bool is_string = v.kind == QS_STRING;
    if (is_string && s == t) return false;
    size_t n = is_string ? t->len : qnum_digits(number, (int64_t)v.u.f);
    if (!qstr_append(qvm_ctx(vm), &s, is_string ? t->s : number, n)) return false;
    target->u.p = s;
    return true;
}

qs_status qops_update(qs_vm *vm, Op op, qs_value *target, qs_value v) {
    qs_value r;
    if (qtape_is_recorded(vm, *target) || qtape_is_recorded(vm, v)) return qtrace(vm)->update(vm, op, target, v);
    v = qtape_plain(v);
    if (target->kind == QS_TRACED) return qtrace(vm)->update(vm, op, target, v);
    if (in_place(*target, op, v)) return qarith_update(vm, op, *target, v);
    if (target->kind == QS_STRING && op == OP_ADD && joins(v) && append_text(vm, target, v)) return QS_OK;
    if (foreign_of(*target)) TRY(foreign_binary(vm, (int)op | QS_OP_IN_PLACE, *target, v, &r));
    else TRY(qops_binary(vm, op, *target, v, &r));
    qinterp_put(vm, target, r);
    return QS_OK;
}

qs_status qops_decide(qs_vm *vm, qs_value v, bool *out) {
    size_t n = v.kind == QS_ARRAY ? qval_array(v)->count : 1;
    if (n > 1)
        TRY(qwarn_at(qvm_ctx(vm), qvm_here(vm),
                     "this condition has %zu elements, and holds when all of them do: write "
                     "all(…) or any(…)",
                     n));
    return qval_truth(vm, v, out);
}

qs_status qops_compare(qs_vm *vm, Op op, qs_value a, qs_value b, bool *out) {
    qs_value r;
    if (are_strings(op, a, b)) return *out = compare_strings(op, a.u.p, b.u.p), QS_OK;
    TRY(qops_binary(vm, op, a, b, &r));
    qs_status s = qops_decide(vm, r, out);
    qval_release(vm, r);
    return s;
}

/* -- match --------------------------------------------------------------------------------------------------------- */

static bool item_equal(qs_vm *vm, qs_value v, size_t i, qs_value want) {
    qs_value x;
    if (v.kind == QS_CELL) return qval_equal(vm, ((Cell *)v.u.p)->items[i], want);
    if (qarr_get(vm, v.u.p, i, &x) != QS_OK) return false;
    bool same = qval_equal(vm, x, want);
    qval_release(vm, x);
    return same;
}

bool qops_match(qs_vm *vm, qs_value v, qs_value pattern, bool is_list) {
    if (!is_list) return qval_equal(vm, v, pattern);
    Cell *list = pattern.u.p;
    bool whole = v.kind == QS_CELL || v.kind == QS_ARRAY;
    size_t count = v.kind == QS_CELL ? ((Cell *)v.u.p)->count : v.kind == QS_ARRAY ? qval_array(v)->count : 0;
    if (whole && count != list->count) return false;
    for (size_t i = 0; i < list->count; i++) {
        bool same = whole ? item_equal(vm, v, i, list->items[i]) : qval_equal(vm, v, list->items[i]);
        if (same != whole) return same; /* a list must match in all items, a single value in one */
    }
    return whole;
}

/* -- choices ------------------------------------------------------------------------------------------------------- */
static bool has_elements(qs_value v) { return v.kind == QS_TRACED || v.kind == QS_ARRAY || qval_is_scalar(v); }

/* If c[1] is not numeric, decides the condition c[0] by all its elements together. */
qs_status qops_settles(qs_vm *vm, qs_value *c, bool *out) {
    *out = false;
    if (has_elements(c[1])) return QS_OK;
    TRY(qops_decide(vm, c[0], out));
    if (*out) qinterp_clear(vm, &c[0]);
    else qinterp_put(vm, &c[0], qs_bool(false)); /* decided now, so that no further warning follows */
    return QS_OK;
}

qs_status qops_choose(qs_vm *vm, qs_value *c) {
    bool all = false;
    qs_value r = qs_nil();
    if (has_elements(c[1]) && has_elements(c[2])) {
        bool traced = qtape_touches(c[0]) || qtape_touches(c[1]) || qtape_touches(c[2]);
        TRY(traced ? qtrace(vm)->where(vm, c, &r) : qarith_where(vm, c[0], c[1], c[2], &r));
        qinterp_put(vm, &c[2], r);
    } else {
        TRY(qops_decide(vm, c[0], &all));
        if (all) qinterp_put(vm, &c[2], c[1]), c[1] = qs_nil();
    }
    return qinterp_clear(vm, &c[0]), qinterp_clear(vm, &c[1]), QS_OK;
}

/* -- ranges and loops ---------------------------------------------------------------------------------------------- */

/* Replaces a traced bound by its plain value: the number of iterations has no derivative.  An error if the counter
 * itself would depend on a recorded value. */
static qs_status traced_bound(qs_vm *vm, qs_value *v, const char *what) {
    if (v->kind != QS_TRACED) return QS_OK;
    bool moves = strcmp(what, "end") != 0 && qtape_is_recorded(vm, *v);
    *v = qtape_plain(*v);
    if (!moves) return QS_OK;
    return qtrace(vm)->refuse(vm, "a loop",
                              "its counter would depend on what is differentiated: count from a constant, and "
                              "compute with the counter");
}

static qs_status range_bound(qs_vm *vm, qs_value v, const char *what, double *out) {
    TRY(traced_bound(vm, &v, what));
    if (qval_is_number(v)) {
        *out = qval_number(v);
        if (v.kind != QS_INT || (*out < 0x1p63 && (int64_t)*out == v.u.i)) return QS_OK;
        return qerr_set(qvm_ctx(vm), QS_EVALUE,
                        "the %s of a range is a scalar, which does not hold %lld exactly: beyond 2^53 count from 0, "
                        "and add",
                        what, (long long)v.u.i);
    }
    if (v.kind == QS_ARRAY && qval_array(v)->count == 1 && qs_to_num(vm, v, out) == QS_OK) return QS_OK;
    bool several = v.kind == QS_ARRAY && !strcmp(what, "end");
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "the %s of a range must be a number, got %s%s", what, qval_type_name(vm, v),
                    several ? "; a loop over several dimensions is written for [i,j] = 0..size(x)-1" : "");
}

qs_status qops_range(qs_vm *vm, qs_dtype d, const qs_value *at, bool stepped, qs_value *out) {
    double lo, step = 1, hi;
    Array *a;
    if (qtape_any(vm, 2 + stepped, at)) return qtrace(vm)->range(vm, d, at, stepped, out);
    TRY(range_bound(vm, at[0], "start", &lo));
    if (stepped) TRY(range_bound(vm, at[1], "step", &step));
    TRY(range_bound(vm, at[1 + stepped], "end", &hi));
    TRY(qarr_range(vm, d, lo, step, hi, &a));
    *out = qarr_value(a);
    return QS_OK;
}

static qs_status loop_state(qs_vm *vm, double lo, double step, double hi, qs_value *r) {
    if (step == 0 || isnan(lo) || isnan(step) || isnan(hi) || isinf(lo))
        return qerr_set(qvm_ctx(vm), QS_EVALUE,
                        "for: a range needs a finite start, a step other than 0 and an end that is a number, got "
                        "%.15g..%.15g..%.15g",
                        lo, step, hi);
    double rounds = qdtype_range_count(lo, step, hi);
    r[0] = qs_int(0);
    r[1] = qs_num(lo);
    r[2] = qs_num(step);
    r[3] = qs_int(qdtype_sat_i64(rounds, 0, INT64_MAX));
    return QS_OK;
}

qs_status qops_for(qs_vm *vm, qs_value *r, bool stepped) {
    double lo, step = 1, hi;
    TRY(range_bound(vm, r[0], "start", &lo));
    TRY(range_bound(vm, r[1], "end", &hi));
    if (stepped) TRY(range_bound(vm, r[2], "step", &step));
    for (int i = 0; i < 4; i++) qinterp_clear(vm, &r[i]);
    return loop_state(vm, lo, step, hi, r);
}

/* Returns component i of a loop bound, which is a number for all counters or a vector with one element each. */
static qs_status component(qs_vm *vm, qs_value v, int i, int n, const char *what, double *out) {
    if (v.kind != QS_ARRAY || qval_array(v)->count == 1) return range_bound(vm, v, what, out);
    qs_value x;
    if (qval_array(v)->count != (size_t)n)
        return qerr_set(qvm_ctx(vm), QS_ESHAPE, "for: %d counters, but the %s of the range has %zu elements", n, what,
                        qval_array(v)->count);
    TRY(qarr_get(vm, v.u.p, (size_t)i, &x));
    qs_status s = qs_to_num(vm, x, out);
    qval_release(vm, x);
    return s;
}

qs_status qops_for_dims(qs_vm *vm, const qs_value *at, int n, bool stepped, qs_value *loops) {
    for (int i = 0; i < n; i++) {
        double lo, step = 1, hi;
        TRY(component(vm, at[0], i, n, "start", &lo));
        TRY(component(vm, at[1], i, n, "end", &hi));
        if (stepped) TRY(component(vm, at[2], i, n, "step", &step));
        for (int k = 0; k < 4; k++) qinterp_clear(vm, &loops[4 * i + k]);
        TRY(loop_state(vm, lo, step, hi, &loops[4 * i]));
    }
    return QS_OK;
}

/* -- iteration: r[0] the container, r[1] the position; a foreign value is replaced by its iterator ----------------- */

qs_status qops_iter(qs_vm *vm, qs_value *r) {
    qs_value v = r[0], it;
    qinterp_clear(vm, &r[1]);
    r[1] = qs_int(0);
    if (foreign_of(v) && foreign_of(v)->iter) {
        TRY(foreign_of(v)->iter(vm, ((Foreign *)v.u.p)->p, &it));
        qinterp_put(vm, &r[0], it);
        return QS_OK;
    }
    if (qval_is_scalar(v) || v.kind == QS_TRACED || v.kind == QS_ARRAY || v.kind == QS_CELL) return QS_OK;
    if (v.kind == QS_OBJECT && qobj_has_keys(v.u.p)) {
        TRY(qobj_keys(vm, v.u.p, &it));
        return qinterp_put(vm, &r[0], it), QS_OK;
    }
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "for: cannot go through %s", qval_type_name(vm, v));
}

static qs_status next_of_array(qs_vm *vm, qs_value v, int64_t i, qs_value *item, bool *more) {
    Array *a = v.u.p;
    bool elements = a->rank == 1;
    *more = i < (elements ? (int64_t)a->count : a->dims[0]);
    if (!*more) return QS_OK;
    if (elements)
        return qtape_is_recorded(vm, v) ? qtrace(vm)->element(vm, v, i, item) : qarr_get(vm, a, (size_t)i, item);
    qs_value at[QS_MAX_RANK];
    at[0] = qs_int(i);
    for (int d = 1; d < a->rank; d++) at[d] = qval_colon();
    return (qtape_is_recorded(vm, v) ? qtrace(vm)->get : qidx_get)(vm, v, &(Subscript){.n = a->rank, .at = at}, item);
}

qs_status qops_next(qs_vm *vm, qs_value *r, qs_value *item, bool *more) {
    qs_value v = r[0];
    int64_t i = r[1].u.i++;
    if (v.kind == QS_ARRAY) return next_of_array(vm, v, i, item, more);
    if (v.kind == QS_CELL) {
        Cell *c = v.u.p;
        *more = i < (int64_t)c->count;
        if (*more) *item = qval_retain(c->items[i]);
        return QS_OK;
    }
    if (foreign_of(v)) return foreign_of(v)->next(vm, ((Foreign *)v.u.p)->p, more, item);
    *more = i == 0;
    if (*more) *item = qval_retain(v);
    return QS_OK;
}

static qs_status too_few(qs_vm *vm, int wanted, size_t got) {
    return qerr_set(qvm_ctx(vm), QS_ESHAPE, "%d values are wanted, but there %s only %zu", wanted,
                    got == 1 ? "is" : "are", got);
}

static qs_status destruct_foreign(qs_vm *vm, qs_value v, int n, qs_value *out) {
    qs_value r[2] = {qval_retain(v), qs_nil()};
    qs_status s = qops_iter(vm, r);
    for (int i = 0; i < n && s == QS_OK; i++) {
        bool more = false;
        s = qops_next(vm, r, &out[i], &more);
        if (s == QS_OK && !more) s = too_few(vm, n, (size_t)i);
    }
    qval_release(vm, r[0]);
    return s;
}

/* out[0..n-1] must be empty; the caller owns values written there, even on failure. */
qs_status qops_destruct(qs_vm *vm, qs_value v, int n, qs_value *out) {
    if (foreign_of(v) && foreign_of(v)->iter) return destruct_foreign(vm, v, n, out);
    if (v.kind != QS_ARRAY && v.kind != QS_CELL) {
        if (n == 1) return out[0] = qval_retain(v), QS_OK;
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%d values are wanted, but there is one: %s", n, qval_type_name(vm, v));
    }
    size_t count = v.kind == QS_ARRAY ? qval_array(v)->count : ((Cell *)v.u.p)->count;
    if (count < (size_t)n) return too_few(vm, n, count);
    for (int i = 0; i < n; i++) {
        if (v.kind == QS_CELL) out[i] = qval_retain(((Cell *)v.u.p)->items[i]);
        else
            TRY(qtape_is_recorded(vm, v) ? qtrace(vm)->element(vm, v, i, &out[i])
                                         : qarr_get(vm, v.u.p, (size_t)i, &out[i]));
    }
    return QS_OK;
}

/* -- literals ------------------------------------------------------------------------------------------------------ */

/* Appends items to a long literal under construction: a cell of rank 1 with spare room; `aux` of the register counts
 * the items in use. */
qs_status qops_append(qs_vm *vm, qs_value *list, int n, qs_value *items) {
    uint32_t used = list->kind == QS_CELL ? list->aux : 0;
    Cell *c = list->kind == QS_CELL ? list->u.p : NULL;
    if (!c || used + (uint32_t)n > c->count) {
        Cell *bigger;
        int64_t dims[1] = {(int64_t)(used + (uint32_t)n) * 2};
        TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, dims, &bigger));
        for (uint32_t i = 0; i < used; i++) {
            bigger->items[i] = c->items[i];
            c->items[i] = qs_nil();
        }
        qinterp_put(vm, list, qval_object(QS_CELL, bigger));
        c = bigger;
    }
    for (int i = 0; i < n; i++) {
        c->items[used + (uint32_t)i] = items[i];
        items[i] = qs_nil();
    }
    list->aux = used + (uint32_t)n;
    return QS_OK;
}

enum { NESTED_MAX = 8 }; /* types are never freed, so deeply nested lists must not create one per level */

static bool nests_deeply(const Type *t) {
    int depth = 0;
    for (; t->kind == TY_ARRAY && depth <= NESTED_MAX; t = t->inner) depth++;
    return depth > NESTED_MAX;
}

/* Returns the element type of a cell literal: the type that all items share, if it is an array type; otherwise ??. */
static const Type *item_type(qs_vm *vm, int n, const qs_value *items) {
    if (!n || qval_is_number(items[0]) || items[0].kind == QS_STRING) return qtype_any(qvm_ctx(vm));
    const Type *t = qval_type(vm, items[0]);
    for (int i = 1; i < n; i++)
        if (qval_type(vm, items[i]) != t) return qtype_any(qvm_ctx(vm));
    return t->kind == TY_ARRAY && !nests_deeply(t) ? t : qtype_any(qvm_ctx(vm));
}

static bool all_complex(int n, const qs_value *items) {
    bool complex = false;
    for (int i = 0; i < n; i++) {
        if (items[i].kind != QS_COMPLEX && !qval_is_number(items[i])) return false;
        complex = complex || items[i].kind == QS_COMPLEX;
    }
    return complex;
}

qs_status qops_cell(qs_vm *vm, int n, const qs_value *items, qs_value *out) {
    if (all_complex(n, items)) return qarr_literal(vm, qvm_ctx(vm)->scalar_dtype, n, items, out);
    Cell *c;
    int64_t dims[1] = {n};
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, dims, &c));
    c->elem = item_type(vm, n, items);
    c->gc.hdr.flags |= CELL_INFERRED;
    for (int i = 0; i < n; i++) c->items[i] = qval_retain(items[i]);
    *out = qval_object(QS_CELL, c);
    return QS_OK;
}

/* -- fields -------------------------------------------------------------------------------------------------------- */

static qs_status no_fields(qs_vm *vm, qs_value v, Str *name) {
    const char *wanted = strcmp(name->s, "T") ? name->s : "transpose";
    const LibDoc *row = v.kind == QS_ARRAY ? qlibrary_hooks(vm)->called_elsewhere(wanted) : NULL; /* x.shape */
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s has no fields, so there is no .%s%s%s", qval_type_name(vm, v), name->s,
                    row ? "; see " : "", row ? row->signature : "");
}

static void cache_field(FieldCache *cache, const Object *o, Str *name) {
    uint64_t slot;
    if (!o->cls || !qmap_get(&o->cls->index, name, &slot)) return;
    *cache = (FieldCache){o->cls, (uint32_t)slot};
}

/* Makes the cell e.stack of a caught error: objects with the name, file and line of each frame, innermost first. */
static qs_status make_stack(qs_vm *vm, const Str *text, qs_value *out) {
    static const char *const names[] = {"name", "file", "line"};
    Cell *r;
    int64_t none = 0;
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, &none, &r));
    *out = qval_object(QS_CELL, r);
    for (const char *s = text->s, *end; s < text->s + text->len;) {
        Object *o;
        TRY(qobj_new(vm, NULL, &o));
        qs_status status = qcell_insert(vm, r, r->count, qval_object(QS_OBJECT, o));
        for (int i = 0; i < 3 && status == QS_OK; i++, s = end + 1) {
            qs_value v = qs_num((double)strtol(s, NULL, 10));
            end = strchr(s, '\n');
            if (i < 2) v = qval_object(QS_STRING, qstr_new(qvm_ctx(vm), s, (size_t)(end - s)));
            status = qobj_set(vm, o, qstr_cname(qvm_ctx(vm), names[i]), v);
            qval_release(vm, v);
        }
        qval_release(vm, qval_object(QS_OBJECT, o));
        if (status) return qinterp_clear(vm, out), status;
    }
    return QS_OK;
}

/* Returns a field of a caught error, which is a string with a location. */
static bool error_field(qs_vm *vm, qs_value v, const Str *name, qs_value *out) {
    Str *file;
    const Str *stack;
    uint32_t line;
    if (v.kind != QS_STRING || !qstr_location(v.u.p, &file, &line, &stack)) return false;
    const Str *s = v.u.p;
    if (!strcmp(name->s, "stack")) return make_stack(vm, stack, out) == QS_OK;
    if (!strcmp(name->s, "line")) *out = qs_num(line);
    else if (!strcmp(name->s, "file")) *out = qval_retain(qval_object(QS_STRING, file));
    else if (!strcmp(name->s, "message")) *out = qval_object(QS_STRING, qstr_new(qvm_ctx(vm), s->s, s->len));
    else return false;
    return true;
}

qs_status qops_get_field(qs_vm *vm, qs_value v, Str *name, FieldCache *cache, qs_value *out) {
    if (v.kind == QS_OBJECT) {
        cache_field(cache, v.u.p, name);
        return qobj_get(vm, v.u.p, name, out);
    }
    if (foreign_of(v) && foreign_of(v)->get)
        return foreign_of(v)->get(vm, ((Foreign *)v.u.p)->p, qval_object(QS_STRING, name), out);
    if (error_field(vm, v, name, out)) return QS_OK;
    return no_fields(vm, v, name);
}

/* Caches only writable scalar fields, because writing them needs neither conversion nor release. */
static void remember_scalar(const Ctx *c, FieldCache *cache, const Object *o, Str *name) {
    uint64_t slot;
    if (!o->cls || o->cls->kind == CLASS_IMMUTABLE || !qmap_get(&o->cls->index, name, &slot)) return;
    const Type *t = o->cls->fields[slot].type;
    if (!t || t->kind != TY_NUM || t->dtype != c->scalar_dtype) return;
    *cache = (FieldCache){o->cls, (uint32_t)slot};
}

qs_status qops_set_field(qs_vm *vm, qs_value v, Str *name, FieldCache *cache, qs_value x) {
    if (v.kind == QS_OBJECT) {
        remember_scalar(qvm_ctx(vm), cache, v.u.p, name);
        return qobj_set(vm, v.u.p, name, x);
    }
    if (foreign_of(v) && foreign_of(v)->set)
        return foreign_of(v)->set(vm, ((Foreign *)v.u.p)->p, qval_object(QS_STRING, name), x);
    return no_fields(vm, v, name);
}

/* -- annotations --------------------------------------------------------------------------------------------------- */

static void what_is_wrong(Frame *f, qs_value what, bool param, Text *t) {
    const char *name = what.kind == QS_STRING ? ((Str *)what.u.p)->s : "the value";
    if (param) qtext_printf(t, "%s: argument %s", f->proto->func->name->s, name);
    else qtext_puts(t, name);
}

qs_status qops_coerce(qs_vm *vm, Frame *f, qs_value *r, qs_value type, qs_value what, bool param) {
    const Type *t;
    qs_value v;
    if (type.kind == QS_TYPE) t = ((TypeValue *)type.u.p)->type;
    else TRY(qcall_type(vm, f, type.u.p, &t));
    if (t->kind != TY_NUM && qval_is_type(vm, *r, t)) return QS_OK;
    bool number = t->kind == TY_NUM && qval_is_number(*r);
    if (number && (!param || !qdtype_is_int(t->dtype) || qval_holds(t->dtype, *r))) { /* cannot fail */
        TRY(qval_coerce(vm, *r, t, "", &v));
        return qinterp_put(vm, r, v), QS_OK;
    }
    Text text;
    qtext_init(&text, qvm_ctx(vm));
    what_is_wrong(f, what, param, &text);
    qs_status s = (param ? qval_pass : qval_coerce)(vm, *r, t, text.s, &v);
    qtext_free(&text);
    if (s == QS_OK && param) qconverted_mark(vm, f, f->proto->func->params[r - f->base].name, *r, v);
    if (s == QS_OK) qinterp_put(vm, r, v);
    return s;
}
