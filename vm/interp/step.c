/* step.c -- executes instructions whose operands are not all numbers: performs the operation, then releases operands
 * that are temporaries.  After an error the operands are still in their registers. */
#include "lang/syntax/operators.h"
#include "vm/array/arith.h"
#include "vm/array/index.h"
#include "vm/array/select.h"
#include "vm/base/dtype.h"
#include "vm/interp/frame.h"
#include "vm/interp/interp.h"
#include "vm/interp/jit.h"
#include "vm/program/module.h"
#include "vm/program/names.h"
#include "vm/value/trace.h"

#include <math.h>

/* Returns whether two arrays of different shapes may have a large result, as a column and a row do. */
static bool may_stretch(qs_vm *vm, qs_value a, qs_value b) {
    if (a.kind != QS_ARRAY || b.kind != QS_ARRAY || qarr_same_shape(qval_array(a), qval_array(b))) return false;
    return qval_array(a)->count * qval_array(b)->count >= qvm(vm)->fuse_least;
}

/* Tries to run the expression that begins with this operator as one fused kernel; then execution continues behind it.
 */
static qs_status fuse_from(qs_vm *vm, Frame *f, qs_value a, qs_value b, bool *done) {
    *done = false;
    if (!f->proto->chunk.nfuses) return QS_OK;
    if (!qfuse_is_large(vm, a) && !qfuse_is_large(vm, b) && !may_stretch(vm, a, b)) return QS_OK;
    return qlaunch_hooks(vm)->fuse_at(vm, f, qframe_pc(f), done);
}

/* Returns whether the result may overwrite operand a: a is a temporary or the destination, has no other reference, and
 * its storage fits the result. */
static bool takes_over(const Frame *f, Op op, const qs_value *dst, const qs_value *a, const qs_value *other) {
    qs_value b = *other;
    const Array *x = a->u.p, *y = b.u.p;
    if (a->kind != QS_ARRAY || !qarr_is_spare(x) || a == other || (!qframe_is_temp(f, a) && a != dst)) return false;
    if ((x->dtype != QS_F32 && x->dtype != QS_F64) || !x->contiguous || x->trace) return false;
    bool elementwise = op == OP_ADD || op == OP_SUB || op == OP_PWMUL || op == OP_PWDIV;
    if (qtape_touches(b)) return false;
    if (b.kind == QS_NUM) return elementwise || op == OP_MUL || op == OP_DIV;
    return b.kind == QS_ARRAY && elementwise && y->dtype == x->dtype && y->ndim <= x->ndim && qarr_same_shape(x, y);
}

qs_status qstep_binary(qs_vm *vm, Frame *f, Op op, qs_value *dst, qs_value *a, qs_value *b) {
    if (op == OP_ADD && dst == a && a != b && a->kind == QS_STRING) return qops_update(vm, op, a, *b); /* t = t + x */
    qs_value r;
    bool done;
    TRY(fuse_from(vm, f, *a, *b, &done));
    if (done) return QS_OK;
    if (takes_over(f, op, dst, a, b)) {
        TRY(qarith_update(vm, op, *a, *b));
        qframe_used(vm, f, b);
        if (dst == a) return QS_OK;
        r = *a;
        *a = qs_nil();
        return qinterp_put(vm, dst, r), QS_OK;
    }
    TRY(qops_binary(vm, op, *a, *b, &r));
    qframe_used(vm, f, a);
    qframe_used(vm, f, b);
    qinterp_put(vm, dst, r);
    return QS_OK;
}

qs_status qstep_unary(qs_vm *vm, Frame *f, Op op, qs_value *dst, qs_value *a) {
    qs_value r;
    bool done;
    TRY(fuse_from(vm, f, *a, *a, &done));
    if (done) return QS_OK;
    TRY(qops_unary(vm, op, *a, &r));
    qframe_used(vm, f, a);
    qinterp_put(vm, dst, r);
    return QS_OK;
}

qs_status qstep_compare(qs_vm *vm, Frame *f, Op op, qs_value *a, qs_value *b, bool *out) {
    TRY(qops_compare(vm, op, *a, *b, out));
    qframe_used(vm, f, a);
    qframe_used(vm, f, b);
    return QS_OK;
}

static const char *index_name(const Frame *f, uint32_t w) {
    return INDEX_NAME(w) == 0xffff ? NULL : ((Str *)f->proto->k[INDEX_NAME(w)].u.p)->s;
}

static Subscript subscript(const Frame *f, int n, const qs_value *at, uint32_t w) {
    return (Subscript){n, at, {INDEX_ACCESS(w), INDEX_FLAGS(w)}, index_name(f, w), INDEX_IS_LIST(w)};
}

static bool is_traced(qs_value base, const Subscript *s) {
    bool traced = qtape_touches(base);
    for (int i = 0; i < s->n; i++) traced |= qtape_touches(s->at[i]);
    return traced;
}

/* -- spans --------------------------------------------------------------------------------------------------------- */
/* Reads an end or a step that is an int, or an integral number that int64 holds. */
static bool read_integer(qs_value v, int64_t *out) {
    bool exact = v.kind == QS_NUM && fabs(v.u.f) < 0x1p63 && v.u.f == trunc(v.u.f);
    if (v.kind == QS_INT || exact) *out = v.kind == QS_INT ? v.u.i : (int64_t)v.u.f;
    return v.kind == QS_INT || exact;
}

/* Counts the elements of a range of integers without rounding; INT64_MAX: as many or more. */
static int64_t count_integers(int64_t lo, int64_t step, int64_t hi) {
    __int128 n = ((__int128)hi - lo) / step + 1;
    bool empty = step > 0 ? hi < lo : hi > lo;
    return empty ? 0 : n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* The ends of a range that is an index are compared as ints: nothing stores its elements as scalars. */
qs_status qstep_span(qs_vm *vm, Frame *f, qs_value *bounds, bool stepped, qs_value *dst) {
    qs_value hi = bounds[1 + stepped];
    int64_t first, last, step = 1;
    bool integral = read_integer(bounds[0], &first) && (!stepped || read_integer(bounds[1], &step)) && step != 0;
    if (!integral || (hi.kind != QS_NUM && hi.kind != QS_INT) || (hi.kind == QS_NUM && !isfinite(hi.u.f)))
        return qstep_range(vm, f, LIST_MATRIX, bounds, stepped, dst);
    bool exact = read_integer(hi, &last);
    double about = exact ? 0 : qdtype_range_count((double)first, (double)step, hi.u.f);
    qinterp_put(vm, &bounds[2],
                qs_int(exact ? count_integers(first, step, last) : qdtype_sat_i64(about, 0, INT64_MAX)));
    bounds[0] = qs_int(first), bounds[1] = qs_int(step);
    qinterp_clear(vm, dst);
    *dst = (qs_value){QS_NIL, NIL_SPAN, {0}};
    dst->u.i = bounds - dst;
    return QS_OK;
}

/* Replaces spans by vectors, unless `base` is an array, cell or string that takes them as they are. */
static qs_status expand_spans(qs_vm *vm, qs_value base, int n, qs_value *at) {
    bool takes = n > 1 || base.kind == QS_STRING || (base.kind == QS_ARRAY && qval_array(base)->rank == 1) ||
                 (base.kind == QS_CELL && ((Cell *)base.u.p)->rank == 1);
    takes = takes && (base.kind == QS_ARRAY || base.kind == QS_CELL || base.kind == QS_STRING);
    for (int i = 0; i < n && !takes; i++) {
        Array *a;
        if (!qval_is_span(at[i])) continue;
        TRY(qselect_range(vm, qval_span(&at[i]), &a));
        at[i] = qarr_value(a);
    }
    return QS_OK;
}

static qs_status read_element(qs_vm *vm, qs_value base, const Subscript *s, qs_value *out) {
    const Foreign *x = base.kind == QS_FOREIGN ? base.u.p : NULL;
    if (x && x->ftype->get_item) return x->ftype->get_item(vm, x->p, s->n, s->at, out);
    if (x && x->ftype->get && s->n == 1) return x->ftype->get(vm, x->p, s->at[0], out);
    return (is_traced(base, s) ? qtrace(vm)->get : qidx_get)(vm, base, s, out);
}

static qs_status write_element(qs_vm *vm, qs_value base, const Subscript *s, qs_value v) {
    const Foreign *x = base.kind == QS_FOREIGN ? base.u.p : NULL;
    if (x && x->ftype->set_item) return x->ftype->set_item(vm, x->p, s->n, s->at, v);
    if (x && x->ftype->set && s->n == 1) return x->ftype->set(vm, x->p, s->at[0], v);
    return (is_traced(base, s) || qtape_touches(v) ? qtrace(vm)->set : qidx_set)(vm, base, s, v);
}

static void used_element(qs_vm *vm, const Frame *f, qs_value *base, int n, qs_value *at) {
    qframe_used(vm, f, base);
    for (int i = 0; i < n; i++) qframe_used(vm, f, &at[i]);
}

qs_status qstep_get(qs_vm *vm, Frame *f, qs_value *dst, qs_value *base, int n, qs_value *at, uint32_t w) {
    qs_value r;
    Subscript s = subscript(f, n, at, w);
    TRY(expand_spans(vm, *base, n, at));
    TRY(read_element(vm, *base, &s, &r));
    used_element(vm, f, base, n, at);
    qinterp_put(vm, dst, r);
    return QS_OK;
}

qs_status qstep_part(qs_vm *vm, Frame *f, qs_value *dst, qs_value *base, int n, qs_value *at, uint32_t w) {
    qs_value r;
    Subscript s = subscript(f, n, at, w);
    if (base->kind != QS_ARRAY || is_traced(*base, &s)) return qstep_get(vm, f, dst, base, n, at, w);
    TRY(expand_spans(vm, *base, n, at));
    TRY(qidx_view(vm, *base, &s, &r));
    used_element(vm, f, base, n, at);
    qinterp_put(vm, dst, r);
    return QS_OK;
}

qs_status qstep_target(qs_vm *vm, const Frame *f, const FuseRegion *r, Array **view) {
    const qs_value base = f->base[r->base], *at = &f->base[r->at];
    qs_value v;
    *view = NULL;
    if (!r->nat) return *view = base.kind == QS_ARRAY ? qval_retain(base).u.p : NULL, QS_OK;
    Subscript s = subscript(f, r->nat, at, r->index);
    if (base.kind != QS_ARRAY || qval_array(base)->rank != s.n || is_traced(base, &s)) return QS_OK;
    if (s.mods.access || s.mods.flags) return QS_OK;
    for (int i = 0; i < s.n; i++) /* an index with a fraction warns, which the assignment does */
        if (!(qval_is_number(at[i]) && qval_number(at[i]) == trunc(qval_number(at[i]))) && !qval_is_colon(at[i]) &&
            !qval_is_span(at[i]))
            return QS_OK;
    if (qidx_view(vm, base, &s, &v) != QS_OK) return qerr_clear(qvm_ctx(vm)), QS_OK; /* the assignment reports it */
    if (v.kind == QS_ARRAY && qval_array(v)->buf == qval_array(base)->buf) return *view = qval_array(v), QS_OK;
    return qval_release(vm, v), QS_OK;
}

static bool is_plain_array(qs_value v) { return v.kind == QS_ARRAY && !qtape_touches(v); }

qs_status qstep_transpose(qs_vm *vm, Frame *f, qs_value *dst, qs_value *a, const qs_value *other, uint32_t slot) {
    Array *x = a->u.p, *view;
    qs_value r;
    bool plain = is_plain_array(*a) && is_plain_array(*other) && qval_array(*other)->count != 1;
    if (!plain || x->rank != 2 || x->ndim != 2 || x->dims[1] == 1 || !x->count) {
        qs_status s = qvm_call(vm, *qvm_global(vm, slot), 1, a, 1, &r);
        if (s) return s;
    } else {
        TRY(qarr_view(vm, x, 2, (int64_t[]){x->dims[1], x->dims[0]}, (int64_t[]){x->strides[1], x->strides[0]},
                      x->offset, &view));
        r = qarr_value(view);
    }
    qframe_used(vm, f, a);
    return qinterp_put(vm, dst, r), QS_OK;
}

qs_status qstep_settle(qs_vm *vm, qs_value *at) {
    bool shares = at->kind == QS_ARRAY && !qtape_touches(*at) && qbuf_shared(qval_array(*at)->buf);
    return shares ? qstep_own(vm, at) : QS_OK;
}

qs_status qstep_set(qs_vm *vm, Frame *f, qs_value *base, int n, qs_value *at, qs_value *v, uint32_t w) {
    Subscript s = subscript(f, n, at, w);
    TRY(expand_spans(vm, *base, n, at));
    TRY(write_element(vm, *base, &s, *v));
    used_element(vm, f, base, n, at);
    qframe_used(vm, f, v);
    return QS_OK;
}

/* Computes x[i] op= v if x is not a numeric array: read, combine, write. */
static qs_status update_item(qs_vm *vm, Op op, qs_value base, const Subscript *s, qs_value v) {
    qs_value item;
    TRY(read_element(vm, base, s, &item));
    qs_status status = qops_update(vm, op, &item, v);
    if (status == QS_OK) status = write_element(vm, base, s, item);
    qval_release(vm, item);
    return status;
}

qs_status qstep_update(qs_vm *vm, Frame *f, Op op, qs_value *base, int n, qs_value *at, qs_value *v, uint32_t w) {
    Subscript s = subscript(f, n, at, w);
    bool traced = is_traced(*base, &s) || qtape_touches(*v);
    TRY(expand_spans(vm, *base, n, at));
    if (base->kind == QS_ARRAY) TRY((traced ? qtrace(vm)->update_at : qidx_update)(vm, op, *base, &s, *v));
    else TRY(update_item(vm, op, *base, &s, *v));
    used_element(vm, f, base, n, at);
    qframe_used(vm, f, v);
    return QS_OK;
}

qs_status qstep_closure(qs_vm *vm, Frame *f, Func *func, const uint32_t *from, qs_value *dst) {
    Function *fn = qfn_script(vm, func, func->ncaptures);
    for (int i = 0; i < func->ncaptures; i++) {
        uint32_t n = from[i] & CAPTURE_NUMBER;
        switch ((CaptureFrom)(from[i] >> CAPTURE_SHIFT)) {
        case CAP_LOCAL: fn->captures[i] = qval_retain(f->base[n]); break;
        case CAP_CAPTURE: fn->captures[i] = qval_retain(f->fn->captures[n]); break;
        case CAP_GLOBAL: fn->captures[i] = qval_retain(*qvm_global(vm, n)); break;
        case CAP_SELF: fn->captures[i] = qval_retain(qval_object(QS_FUNCTION, f->fn)); break;
        case CAP_THIS: fn->captures[i] = qval_retain(qval_object(QS_FUNCTION, fn)); break;
        case CAP_UNSET: fn->captures[i] = qval_unset(); break;
        }
    }
    qinterp_put(vm, dst, qval_object(QS_FUNCTION, fn));
    return QS_OK;
}

qs_status qstep_capture(qs_vm *vm, Frame *f, uint32_t n, qs_value *out) {
    const Sym *outer = f->proto->func->captures[n].outer;
    if (outer->kind != SYM_GLOBAL) return qnames_no_value(vm, outer->name->s);
    *out = qval_retain(*qvm_global(vm, (uint64_t)outer->index));
    return qval_is_unset(*out) ? qnames_unset(vm, qmod_of(f->proto->func), outer->index, out) : QS_OK;
}

qs_value qstep_begin(qs_vm *vm, Frame *f, bool captured, uint32_t n) {
    const Sym *outer = captured ? f->proto->func->captures[n].outer : NULL;
    if (captured && !qval_is_unset(f->fn->captures[n])) return qval_retain(f->fn->captures[n]);
    if (captured && outer->kind != SYM_GLOBAL) return f->fn->captures[n];
    return qnames_value(vm, qmod_of(f->proto->func), captured ? outer->index : (int)n);
}

qs_status qstep_own(qs_vm *vm, qs_value *at) {
    qs_value own;
    TRY(qval_copy(vm, *at, &own));
    return qinterp_put(vm, at, own), QS_OK;
}

qs_status qstep_array(qs_vm *vm, qs_value k, qs_value *dst) {
    Array *a;
    TRY(qarr_copy(vm, k.u.p, &a));
    a->hdr.flags |= ARRAY_LITERAL;
    qinterp_put(vm, dst, qarr_value(a));
    return QS_OK;
}

static qs_dtype literal_dtype(qs_vm *vm, ListKind k) { return k == LIST_WIDE ? QS_F64 : qvm_ctx(vm)->scalar_dtype; }

static qs_status make_list(qs_vm *vm, ListKind k, int n, const qs_value *items, qs_value *out) {
    if (k == LIST_CELL) return qops_cell(vm, n, items, out);
    bool traced = false;
    for (int i = 0; i < n; i++) traced |= qtape_touches(items[i]);
    return (traced ? qtrace(vm)->literal : qarr_literal)(vm, literal_dtype(vm, k), n, items, out);
}

qs_status qstep_literal(qs_vm *vm, ListKind k, int n, qs_value *items, qs_value *dst) {
    qs_value r;
    TRY(make_list(vm, k, n, items, &r));
    for (int i = 0; i < n; i++) qframe_drop(vm, &items[i]);
    qinterp_put(vm, dst, r);
    return QS_OK;
}

qs_status qstep_literal_of(qs_vm *vm, ListKind k, qs_value *list, qs_value *dst) {
    qs_value r;
    TRY(make_list(vm, k, (int)list->aux, ((Cell *)list->u.p)->items, &r));
    qframe_drop(vm, list);
    qinterp_put(vm, dst, r);
    return QS_OK;
}

qs_status qstep_range(qs_vm *vm, Frame *f, ListKind k, qs_value *bounds, bool stepped, qs_value *dst) {
    qs_value r;
    TRY(qops_range(vm, literal_dtype(vm, k), bounds, stepped, &r));
    for (int i = 0; i < 2 + stepped; i++) qframe_used(vm, f, &bounds[i]);
    qinterp_put(vm, dst, r);
    return QS_OK;
}
