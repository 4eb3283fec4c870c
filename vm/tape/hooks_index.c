/* hooks_index.c -- hooks for x[…] of traced arrays: reading, writing, updating; elements of a list, one by one.
 *
 * The adjoint of a read is written to the positions that were read: into zeros, or directly into an existing sum, so
 * that a loop over single elements costs time for these elements only.  If positions may occur more than once, their
 * linear indices are computed and the adjoints are added up (scatter_adjoint of adjoints.q).  The adjoint of a write
 * is read at the written positions.  Overwritten elements get zero, and of several writes to one position the last
 * one counts. */
#include "lang/syntax/operators.h"
#include "vm/array/arith.h"
#include "vm/array/index.h"
#include "vm/interp/interp.h"
#include "vm/launch/launch.h"
#include "vm/tape/tape_internal.h"

#include <string.h>

enum { SPAN = 3 /* numbers of a span, which are in the same array as the indices */ };

typedef struct {
    Subscript x; /* its indices are in `at` */
    bool single; /* all indices are numbers: one element */
    bool once;   /* no position occurs twice */
    int nspans;
    qs_value at[]; /* owned; then the numbers of the spans */
} IndexRecord;

static size_t size_of_record(int n, int nspans) {
    return sizeof(IndexRecord) + (size_t)(n + SPAN * nspans) * sizeof(qs_value);
}

static void free_indices(qs_vm *vm, GradNode *n) {
    IndexRecord *p = n->data;
    for (int i = 0; i < p->x.n; i++) qval_release(vm, p->at[i]);
    qmem_free(qvm_ctx(vm), p, size_of_record(p->x.n, p->nspans));
}

/* Copies a span to to[0] and its numbers to to[distance], … */
static void copy_span(const qs_value *from, qs_value *to, int64_t distance) {
    memcpy(to + distance, qval_span(from), SPAN * sizeof *to);
    *to = *from, to->u.i = distance;
}

/* Returns whether the indices are nonnegative and strictly ascending. */
static bool ascends(qs_vm *vm, Array *a) {
    double *x, last = -1;
    size_t n;
    bool up = true;
    if (qarr_doubles(vm, qarr_value(a), "", &x, &n) != QS_OK) return qerr_clear(qvm_ctx(vm)), false;
    for (size_t i = 0; i < n && up; i++) {
        double whole = (double)(int64_t)x[i];
        up = whole > last;
        last = whole;
    }
    qmem_free(qvm_ctx(vm), x, n * sizeof *x);
    return up;
}

static void examine_indices(qs_vm *vm, IndexRecord *p, int rank) {
    p->single = p->once = true;
    for (int i = 0; i < p->x.n; i++) {
        qs_value v = p->at[i];
        bool number = qval_is_number(v);
        p->single &= number;
        if (qval_is_span(v)) p->once &= !qaccess_is_mapped((AccessMode)p->x.mods.access);
        if (number || qval_is_colon(v) || qval_is_span(v)) continue;
        if (v.kind == QS_ARRAY && qval_array(v)->dtype == QS_B1) continue;
        p->once &= !qaccess_is_mapped((AccessMode)p->x.mods.access) && v.kind == QS_ARRAY && ascends(vm, v.u.p);
    }
    p->single &= p->x.n == rank;
}

static qs_status new_indices(qs_vm *vm, const Array *base, const Subscript *x, IndexRecord **out) {
    int nspans = 0, end = x->n;
    for (int i = 0; i < x->n; i++) nspans += qval_is_span(x->at[i]);
    IndexRecord *p = qmem_alloc(qvm_ctx(vm), size_of_record(x->n, nspans));
    qs_status s = QS_OK;
    p->x = (Subscript){x->n, p->at, x->mods, NULL, false}, p->nspans = nspans;
    for (int i = 0; i < x->n && s == QS_OK; i++)
        if (qval_is_span(x->at[i])) copy_span(&x->at[i], &p->at[i], end - i), end += SPAN;
        else s = qtape_keep_plain(vm, x->at[i], &p->at[i]);
    /* examine_indices would report indices that cannot be read yet as unordered */
    if (s == QS_OK) s = qasync_settle(vm);
    if (s != QS_OK) return free_indices(vm, &(GradNode){.data = p}), s;
    examine_indices(vm, p, base->rank);
    return *out = p, QS_OK;
}

/* -- reads --------------------------------------------------------------------------------------------------------- */
static qs_status zeros(qs_vm *vm, const Trace *t, qs_value *out) { return qbackward_zero(vm, t, out); }

/* Reads the array of linear indices 1, 2, … with the shape of t at p; the result is 0 where there is no element. */
static qs_status positions(qs_vm *vm, const IndexRecord *p, const Trace *t, qs_value *out) {
    Array *a;
    void *q;
    TRY(qarr_make(vm, QS_F64, t->rank, t->dims, false, &a, &q));
    for (size_t i = 0; i < a->count; i++) ((double *)q)[i] = (double)(i + 1);
    qs_status s = qidx_get(vm, qarr_value(a), &p->x, out);
    qarr_release(vm, a);
    return s;
}

static qs_status scatter(qs_vm *vm, const IndexRecord *p, const Trace *t, qs_value dy, qs_value *out) {
    qs_value args[3] = {qs_nil(), qs_nil(), dy};
    TRY(zeros(vm, t, &args[0]));
    qs_status s = positions(vm, p, t, &args[1]);
    if (s == QS_OK) s = qrule_call_named(vm, "scatter_adjoint", 3, args, 1, out);
    qval_release(vm, args[0]);
    qval_release(vm, args[1]);
    return s;
}

static qs_status get_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    const IndexRecord *p = n->data;
    const Trace *t = n->in[0];
    if (!p->once) return scatter(vm, p, t, dy[0], &dx[0]);
    TRY(zeros(vm, t, &dx[0]));
    return qhook_set(vm, dx[0], &p->x, dy[0]);
}

static qs_status get_add(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *sum, bool *done) {
    const IndexRecord *p = n->data;
    *done = p->once && !qtape_is_recorded(vm, dy[0]) && (sum->kind == QS_NIL || qbackward_owns(*sum));
    if (!*done) return QS_OK;
    if (sum->kind == QS_NIL) TRY(zeros(vm, n->in[0], sum));
    return qidx_update(vm, OP_ADD, *sum, &p->x, qtape_plain(dy[0]));
}

static qs_status get_forward(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy) {
    const IndexRecord *p = n->data;
    return qhook_get(vm, dx[0], &p->x, dy);
}

/* Returns the subscript with untraced indices, which are stored in `plain`. */
enum { PLAIN = (1 + SPAN) * QS_MAX_RANK };
static Subscript without_traces(const Subscript *x, qs_value plain[PLAIN]) {
    for (int i = 0; i < x->n && i < QS_MAX_RANK; i++)
        if (qval_is_span(x->at[i])) copy_span(&x->at[i], &plain[i], QS_MAX_RANK + SPAN * i - i);
        else plain[i] = qtape_plain(x->at[i]);
    return (Subscript){x->n, plain, x->mods, x->name, x->is_list};
}

static const GradRule get_rule = {
    .name = "indexing", .reverse = get_reverse, .forward = get_forward, .release = free_indices, .add = get_add};

qs_status qhook_get(qs_vm *vm, qs_value base, const Subscript *x, qs_value *out) {
    qs_value plain[PLAIN];
    Subscript at = without_traces(x, plain);
    IndexRecord *p;
    qtape_enter(vm);
    qs_status s = qidx_get(vm, qtape_plain(base), &at, out);
    qtape_leave(vm);
    if (s != QS_OK || base.kind != QS_ARRAY || !qtape_is_recorded(vm, base)) return s;
    TRY(qtape_recorded(vm, new_indices(vm, base.u.p, &at, &p), 1, out));
    qtape_record(vm, &get_rule, p, 1, (Trace *[]){qtape_edge(vm, base)}, 1, out);
    return QS_OK;
}

/* -- writes -------------------------------------------------------------------------------------------------------- */
static size_t count_of(const Trace *t) {
    size_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= (size_t)t->dims[i];
    return t->kind == QS_ARRAY ? n : 1;
}

/* Returns the adjoint of the written value: dy at the positions, in the value's shape, zero for overwritten
 * elements. */
static qs_status value_adjoint(qs_vm *vm, GradNode *n, qs_value dy, qs_value *out) {
    const IndexRecord *p = n->data;
    const Trace *t = n->in[1];
    qs_value args[4] = {qs_nil(), qs_nil(), qs_nil(), dy};
    bool masked = p->x.n == 1 && p->at[0].kind == QS_ARRAY && qval_array(p->at[0])->dtype == QS_B1;
    qs_value got;
    TRY(qhook_get(vm, dy, &p->x, &got));
    bool same = got.kind == QS_ARRAY && qval_array(got)->count == count_of(t);
    if (p->once && (count_of(t) == 1 || (same && qarr_same_dims(got.u.p, t->rank, t->dims)))) return *out = got, QS_OK;
    qs_status s = qbackward_form(vm, t, &args[0]);
    /* the value is as large as the whole array: elements correspond to those of dy */
    if (masked && !same && count_of(t) != 1) {
        args[1] = p->at[0];
        if (s == QS_OK) s = qrule_call_named(vm, "masked_adjoint", 4, args, 1, out);
    } else {
        args[1] = got;
        if (s == QS_OK && !p->once) s = positions(vm, p, &n->out[0], &args[2]);
        if (s == QS_OK) s = qrule_call_named(vm, "written_adjoint", 4, args, 1, out);
        qval_release(vm, args[2]);
    }
    qval_release(vm, args[0]);
    qval_release(vm, got);
    return s;
}

static qs_status set_reverse(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    const IndexRecord *p = n->data;
    if (n->in[1]) TRY(value_adjoint(vm, n, dy[0], &dx[1]));
    if (!n->in[0]) return QS_OK;
    if (qbackward_owns(dy[0])) dx[0] = qval_retain(dy[0]);
    else TRY(qrule_builtin(vm, "copy", 1, dy, &dx[0]));
    return qhook_set(vm, dx[0], &p->x, qs_num(0));
}

static qs_status set_forward(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy) {
    const IndexRecord *p = n->data;
    if (dx[0].kind != QS_NIL) TRY(qrule_builtin(vm, "copy", 1, dx, &dy[0]));
    else TRY(zeros(vm, &n->out[0], &dy[0]));
    return qhook_set(vm, dy[0], &p->x, dx[1].kind == QS_NIL ? qs_num(0) : dx[1]);
}

static const GradRule set_rule = {
    .name = "writing elements", .reverse = set_reverse, .forward = set_forward, .release = free_indices};

qs_status qhook_set(qs_vm *vm, qs_value base, const Subscript *x, qs_value v) {
    qs_value plain[PLAIN];
    Subscript at = without_traces(x, plain);
    IndexRecord *p;
    bool recorded =
        base.kind == QS_ARRAY && x->n <= QS_MAX_RANK && (qtape_is_recorded(vm, base) || qtape_is_recorded(vm, v));
    if (!recorded) {
        qtape_enter(vm);
        qs_status s = qidx_set(vm, base, &at, base.kind == QS_ARRAY ? qtape_plain(v) : v);
        qtape_leave(vm);
        return s;
    }
    TRY(qtape_check_alone(vm, base.u.p, x->name));
    TRY(new_indices(vm, base.u.p, &at, &p));
    Trace *edges[2] = {qtape_edge(vm, base), qtape_edge(vm, v)};
    qtape_enter(vm);
    qs_status s = qidx_set(vm, base, &at, qtape_plain(v));
    qtape_leave(vm);
    if (s != QS_OK) {
        for (int i = 0; i < 2; i++) qtape_release(vm, edges[i]);
        return free_indices(vm, &(GradNode){.data = p}), s;
    }
    qval_retain(base); /* the result is the same array */
    qtape_record(vm, &set_rule, p, 2, edges, 1, &base);
    qval_release(vm, base);
    return QS_OK;
}

qs_status qhook_update_at(qs_vm *vm, Op op, qs_value base, const Subscript *x, qs_value v) {
    qs_value old, new;
    TRY(qhook_get(vm, base, x, &old));
    qs_status s = qops_binary(vm, op, old, v, &new);
    qval_release(vm, old);
    if (s != QS_OK) return s;
    s = qhook_set(vm, base, x, new);
    qval_release(vm, new);
    return s;
}

/* Reads element i in row-major order. */
qs_status qhook_element(qs_vm *vm, qs_value base, int64_t i, qs_value *out) {
    const Array *a = base.u.p;
    qs_value at[QS_MAX_RANK];
    for (int d = a->rank; d-- > 0; i /= a->dims[d]) at[d] = qs_num((double)(i % a->dims[d]));
    return qhook_get(vm, base, &(Subscript){.n = a->rank, .at = at}, out);
}
