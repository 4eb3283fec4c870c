/* elementwise_node.c -- runs an elementwise operator or function as compiled code, and records it on the tape.
 *
 * The host computes the result with its own loops (vm/array), which are generated from the same table.  The op is
 * recorded as a specialization, an expression of one operation, so that elem.def is the only source of its
 * derivative.  The evaluator computes gradients of numbers and of few elements.
 *
 * If a GPU has the arrays and the host does not, the op's code also computes the result, on the GPU.  An op that is
 * called with many elements often enough is compiled for the other devices, too, as an expression of a script would be:
 * this concerns operators and functions that Python or C calls, and functions that a script calls as values. */
#include "vm/launch/record.h"

#include "lang/kernel/lower/fusion/fuse.h"
#include "vm/array/device_math.h"
#include "vm/array/device_ops.h"
#include "vm/array/map_elements.h"
#include "vm/array/operand.h"

#include <string.h>

typedef struct {
    Specialization base;
    FuseRow row;
    double work;   /* operator evaluations that the host's loops have done */
    bool reported; /* --explain has reported it */
    bool refused;  /* the code cannot be compiled: the host's loops compute the results */
} RowForm;

typedef struct {
    Run run;
    const qs_value *args; /* arguments with their traces */
    int n;
    qs_value result;
    FuseRow key;
    int64_t dims[QS_MAX_RANK];
    bool number; /* the result is a number */
} Row;

/* -- specializations ----------------------------------------------------------------------------------------------- */
static bool same_types(const FuseRow *a, const FuseRow *b) {
    for (int i = 0; i < FUSE_ROW_ARGS; i++)
        if (a->types[i].array != b->types[i].array || a->types[i].dtype != b->types[i].dtype ||
            a->types[i].weak_int != b->types[i].weak_int || a->types[i].complex != b->types[i].complex)
            return false;
    return true;
}

static bool is_same(const FuseRow *a, const FuseRow *b) {
    return a->elem == b->elem && a->compute == b->compute && a->result == b->result && a->flat == b->flat &&
           a->rank == b->rank && same_types(a, b) && a->known == b->known && a->exponent == b->exponent;
}

static qs_status make_op(qs_vm *vm, SpecializationList *list, const FuseRow *key, RowForm **out) {
    FuseKernel k;
    RowForm *f = *out = qspec_new(vm, list, sizeof *f, "");
    f->row = *key;
    qs_status s = kfuse_row(qvm_ctx(vm), &f->base.arena, key, &k);
    if (s == QS_OK && !k.func)
        s = qerr_set(qvm_ctx(vm), QS_ETYPE, "%s has no derivative for these types", kelem_name(key->elem));
    if (s != QS_OK) return qspec_drop_first(vm, list), s;
    return qspec_set(&f->base, 0, k.func), QS_OK;
}

static qs_status find_op(qs_vm *vm, const FuseRow *key, RowForm **out) {
    Launches *l = qlaunch_state(vm);
    if (!l->rows) l->rows = qmem_alloc(qvm_ctx(vm), EL__COUNT * sizeof *l->rows);
    SpecializationList *list = &l->rows[key->elem];
    for (Specialization *f = list->first; f; f = f->next)
        if (is_same(&((RowForm *)f)->row, key)) return *out = (RowForm *)f, QS_OK;
    return make_op(vm, list, key, out);
}

void qelementwise_close(qs_vm *vm) {
    Launches *l = qvm(vm)->launches;
    for (int e = 0; l->rows && e < EL__COUNT; e++) qspec_free(vm, &l->rows[e]);
    if (l->rows) qmem_free(qvm_ctx(vm), l->rows, EL__COUNT * sizeof *l->rows);
    l->rows = NULL;
}

/* -- shapes and types ---------------------------------------------------------------------------------------------- */
static bool has_gaps(const Array *a, const Array *result) { return !a->contiguous || !qarr_same_shape(a, result); }

static void set_types(Row *w) {
    bool complex = false;
    FuseRow *k = &w->key;
    k->flat = true;
    for (int i = 0; i < w->n; i++) {
        qs_value v = qtape_plain(w->args[i]);
        FuseLeafType *t = &k->types[i];
        t->array = v.kind == QS_ARRAY, t->weak_int = v.kind == QS_INT || v.kind == QS_BOOL;
        t->complex = v.kind == QS_COMPLEX;
        if (t->array) t->dtype = qval_array(v)->dtype;
        complex |= t->complex || (t->array && qdtype_is_complex((qs_dtype)t->dtype));
        if (t->array && (w->number || has_gaps(v.u.p, w->result.u.p))) k->flat = false;
    }
    k->result = w->number ? w->result.kind == QS_COMPLEX ? QS_C128 : QS_F64 : (qs_dtype)qval_array(w->result)->dtype;
    k->compute = complex ? qdtype_complex_of(k->result) : qdtype_real_of(k->result);
    if (qdtype_is_short(k->compute)) k->compute = QS_F32;
}

static void set_shape(Row *w) {
    FuseRow *k = &w->key;
    if (w->number || k->flat) {
        k->flat = true, k->rank = 1, w->dims[0] = w->number ? 1 : (int64_t)qval_array(w->result)->count;
        return;
    }
    k->rank = qarr_size(qval_array(w->result), w->dims);
}

/* -- binding ------------------------------------------------------------------------------------------------------- */
/* A vec is one row; extents of 1, and missing trailing ones, are broadcast. */
static void bind_array(Row *w, int at, Array *a) {
    int64_t have[QS_MAX_RANK];
    DevArg *arg = qbind_array(&w->run.bound, at, a, QS_READ);
    int own = qarr_size(a, have), skip = own - a->rank;
    arg->rank = w->key.rank;
    for (int d = 0; d < arg->rank; d++) {
        arg->dims[d] = w->dims[d];
        arg->strides[d] = w->key.flat ? 1 : d < skip || d >= own || have[d] == 1 ? 0 : a->strides[d - skip];
    }
}

static void bind_number(Binding *b, int at, qs_value given, int part) {
    qs_value v = qtape_plain(given);
    b->origin[at] = (Origin){given, part};
    if (v.kind == QS_COMPLEX) {
        QComplexD z = qscalar_complex(v);
        qbind_number(b, at, (KSlot){.F64 = part ? z.im : z.re}.bits, 8);
    } else if (v.kind == QS_NUM) qbind_number(b, at, (KSlot){.F64 = v.u.f}.bits, 8);
    else qbind_number(b, at, (KSlot){.I64 = v.u.i}.bits, 8);
}

static void bind_result(Row *w, int at) {
    Binding *b = &w->run.bound;
    DevArg *arg = &b->arg[at];
    int64_t step = 1;
    if (w->number) b->array[at] = NULL, arg->is_array = true, arg->offset = 0;
    else qbind_array(b, at, qval_array(w->result), QS_WRITE);
    arg->rank = w->key.rank;
    for (int d = arg->rank - 1; d >= 0; d--) arg->dims[d] = w->dims[d], arg->strides[d] = step, step *= w->dims[d];
}

/* Binds all parameters; returns the index of the result's parameter. */
static int bind_all(Row *w) {
    int at = 0;
    w->run.bound.nlocked = 0;
    for (int i = 0; i < w->n; i++) {
        if (w->key.types[i].array) bind_array(w, at++, w->args[i].u.p);
        else bind_number(&w->run.bound, at++, w->args[i], 0);
        if (w->key.types[i].complex) bind_number(&w->run.bound, at++, w->args[i], 1);
    }
    return bind_result(w, at), at;
}

/* -- recording ----------------------------------------------------------------------------------------------------- */
/* Compiles in a constant exponent 1, 2, … so that the derivative is a product, too.  The product for a negative one
 * has another derivative at 0. */
static void set_recorded_exponent(Row *w) {
    FuseRow *k = &w->key;
    if (k->elem != EL_pow || w->number || qdtype_is_complex(k->compute) || !qval_is_number(w->args[1])) return;
    double n = qval_number(w->args[1]);
    k->known = kelem_is_chain(n) && n > 0;
    if (k->known) k->exponent = n;
}

static qs_status record_op(Row *w, qs_value *result) {
    Run *r = &w->run;
    RowForm *form;
    set_types(w);
    set_recorded_exponent(w);
    set_shape(w);
    TRY(find_op(r->vm, &w->key, &form));
    r->form = &form->base, r->which = 0, r->device = NULL, r->chosen = r->optional = true;
    r->unrecorded = false;
    r->launch = (Launch){.rank = w->key.rank, .any_block = true};
    r->positions = 1;
    for (int d = 0; d < w->key.rank; d++) {
        r->launch.domain[d] = w->dims[d], r->launch.block[d] = 1;
        r->positions *= (double)w->dims[d];
    }
    r->steps = r->positions * qlaunch_func(r)->nins;
    int at = bind_all(w);
    TRY(qrecord_begin(r));
    if (r->recorded) r->recorded->row = true;
    Extracted number = {at, 0, result};
    return qrecord_end(r, w->number, &number);
}

qs_status qelementwise_record(qs_vm *vm, Elem e, int n, const qs_value *args, qs_value *result) {
    Row w; /* not initialized, because it is large */
    if (!qtape_is_on(vm) || !qtape_any(vm, n, args) || !qtape_is_smooth(*result)) return QS_OK;
    w.run.vm = vm, w.args = args, w.n = n, w.result = *result, w.number = result->kind != QS_ARRAY;
    memset(&w.key, 0, sizeof w.key);
    w.key.elem = e;
    return record_op(&w, result);
}

qs_status qelementwise_apply(qs_vm *vm, Elem e, int n, const qs_value *args, qs_value *out) {
    qs_value plain[FUSE_ROW_ARGS];
    for (int i = 0; i < n; i++) plain[i] = qtape_plain(args[i]);
    qtape_enter(vm);
    qs_status s = qmapelem_apply(vm, e, plain, out);
    qtape_leave(vm);
    if (s != QS_OK) return s;
    return qtrace(vm)->recorded(vm, qelementwise_record(vm, e, n, args, out), 1, out);
}

/* -- on the device that has the arrays ----------------------------------------------------------------------------- */
static qs_status bind_row(Run *r) { return bind_all((Row *)r), QS_OK; }

/* Does device arithmetic give the same elements?  Not for narrow integers, which saturate on the host. */
static bool suits(qs_dtype d) { return d == QS_B1 || (d >= QS_I32 && !qdtype_is_short(d)); }

/* Compiles in a constant exponent that the host has special loops for. */
static void set_exponent(FuseRow *k, const RowCall *c) {
    double n = c->elem == EL_pow && qval_is_number(c->args[1]) ? qval_number(c->args[1]) : NAN;
    bool complex = qdtype_is_complex(c->compute);
    k->known = complex ? kelem_is_long_chain(n) : kelem_is_chain(n) || kelem_is_root_chain(n);
    if (k->known) k->exponent = n;
}

/* The host computes powers of complex numbers to small integral exponents by products, and code that does not know the
 * exponents computes others.  See also apply_power in fuse.c. */
static bool is_power_of_unknown_kind(const RowCall *c, const FuseRow *k) {
    if (c->elem != EL_pow || !qdtype_is_complex(c->compute) || k->known) return false;
    qs_value y = c->args[1];
    return y.kind == QS_ARRAY || (y.kind == QS_COMPLEX && ((const Complex *)y.u.p)->im == 0);
}

/* d NULL: the device that runs kernels. */
static qs_status launch_row(Row *w, RowForm *form, Device *d) {
    Run *r = &w->run;
    r->form = &form->base, r->which = 0, r->late = false, r->unrecorded = true;
    r->device = d, r->bind = bind_row, r->fit = NULL, r->optional = true, r->chosen = false;
    r->launch = (Launch){.rank = w->key.rank, .any_block = true};
    memcpy(r->launch.domain, w->dims, sizeof w->dims);
    r->positions = (double)qval_array(w->result)->count;
    r->steps = r->positions * qlaunch_func(r)->nins;
    return d ? qlaunch_here(r) : qlaunch_run(r);
}

/* Some elements of an operand may have been overwritten, so the host cannot repeat the operation. */
static bool is_operand(const RowCall *c) {
    for (int i = 0; i < c->n; i++)
        if (c->args[i].kind == QS_ARRAY && qval_array(c->args[i])->buf == c->into->buf) return true;
    return false;
}

/* -- many elements ------------------------------------------------------------------------------------------------- */
/* Evaluations of operators after which an op is compiled, as for an expression (fusion.c); a function counts as
 * FUNCTION operators. */
static const double worth_compiling_many = 4e6;
enum { OPERATOR = 2, FUNCTION = 9 };

/* Whether the op has done enough work on many elements to be compiled. */
static bool pays(qs_vm *vm, const RowCall *c, RowForm *form) {
    bool function = kfuse_function(kelem_name(c->elem), c->n);
    form->work += (double)c->into->count * (function ? FUNCTION : OPERATOR);
    return form->work >= worth_compiling_many || qvm(vm)->fuse_least <= 1;
}

static void report_once(qs_vm *vm, const RowCall *c, RowForm *form) {
    if (!form->reported) qreport_explain(vm, qvm_here(vm), "call: %s of arrays as one kernel", kelem_name(c->elem));
    form->reported = true;
}

/* The evaluator is slower than the host's loops. */
static bool has_compiler(qs_vm *vm) {
    Device *d;
    if (qdevices_current(vm, &d) != QS_OK) return qerr_clear(qvm_ctx(vm)), false;
    return d->ops->code != CODE_KIR || qvm(vm)->fuse_least <= 1;
}

static qs_status run_many(qs_vm *vm, const RowCall *c, Row *w, bool *done) {
    RowForm *form;
    if (find_op(vm, &w->key, &form) != QS_OK) return qerr_clear(qvm_ctx(vm)), QS_OK; /* no code exists for it */
    if (form->refused || !pays(vm, c, form) || !has_compiler(vm)) return QS_OK;
    report_once(vm, c, form);
    qs_status s = launch_row(w, form, NULL);
    *done = s == QS_OK;
    if (*done || s == QS_EINTERRUPT || w->run.launched || qvm_ctx(vm)->err.late) return s;
    form->refused = s == QS_EDEVICE && !w->run.loaded;
    return qerr_clear(qvm_ctx(vm)), QS_OK;
}

static qs_status run_on_holder(qs_vm *vm, const RowCall *c, Row *w, Device *d, bool *done) {
    RowForm *form;
    qs_status s = find_op(vm, &w->key, &form);
    if (s == QS_ETYPE) s = qvm_ctx(vm)->err.status = QS_EDEVICE; /* no code exists for it */
    else if (s == QS_OK) {
        if (c->into->count >= qvm(vm)->fuse_least && pays(vm, c, form)) report_once(vm, c, form); /* as run_many does */
        s = launch_row(w, form, d);
    }
    *done = s == QS_OK;
    if (!*done && w->run.launched && is_operand(c)) return s;
    return *done || qdevmath_refused(vm, d, kelem_name(c->elem), c->into, s) ? QS_OK : s;
}

qs_status qelementwise_compiled(qs_vm *vm, const RowCall *c, bool *done) {
    Row w; /* not initialized, because it is large */
    *done = false;
    Device *d = qdevmath_asks(vm) ? qdevmath_holder(vm, c->n, c->args) : NULL;
    bool many = c->into->count >= qvm(vm)->fuse_least;
    if ((!d && !many) || !c->into->count || !c->into->contiguous || !suits(c->compute) ||
        !suits((qs_dtype)c->into->dtype))
        return QS_OK;
    for (int i = 0; i < c->n; i++)
        if (c->args[i].kind == QS_ARRAY && qtape_forbids(vm, qval_array(c->args[i]))) return QS_OK;
    w.run.vm = vm, w.args = c->args, w.n = c->n, w.result = qarr_value(c->into), w.number = w.run.launched = false;
    memset(&w.key, 0, sizeof w.key);
    w.key.elem = c->elem;
    set_types(&w), set_shape(&w);
    w.key.compute = c->compute;
    set_exponent(&w.key, c);
    if (is_power_of_unknown_kind(c, &w.key)) return QS_OK;
    return d ? run_on_holder(vm, c, &w, d, done) : run_many(vm, c, &w, done);
}

/* -- few elements -------------------------------------------------------------------------------------------------- */
/* Steps below which code is not compiled for an op; steps of a launch below which the evaluator is as fast. */
static const double worth_compiling = 1e6, worth_launching = 4096;

bool qelementwise_is_small(Run *r) {
    if (qvm(r->vm)->fuse_least <= 1 || !(r->steps < worth_compiling)) return false;
    r->form->evaluated += r->steps;
    return r->steps < worth_launching || r->form->evaluated < worth_compiling;
}

static qs_status evaluate(Run *r) {
    const KFunc *f = qlaunch_func(r);
    KArg args[MAX_PARAMS];
    KLaunch l = {.rank = r->launch.rank};
    memcpy(l.domain, r->launch.domain, sizeof l.domain);
    memcpy(l.block, r->launch.block, sizeof l.block);
    for (int i = 0; i < f->nparams; i++) {
        const DevArg *a = &r->bound.arg[i];
        void *p = NULL;
        qs_access mode = f->params[i].written ? QS_READWRITE : QS_READ;
        if (a->is_array) TRY(qbuf_host(qvm_ctx(r->vm), r->bound.array[i]->buf, mode, &p));
        args[i] = (KArg){.data = a->is_array ? (char *)p + a->offset : NULL, .bits = a->is_array ? 0 : a->bits};
        for (int d = 0; a->is_array && d < a->rank; d++)
            args[i].dims[d] = a->dims[d], args[i].strides[d] = a->strides[d];
    }
    TRY(keval_run(qvm_ctx(r->vm), f, args, &l, (KFault *)&r->fault, NULL));
    for (int i = 0; i < f->nparams; i++)
        if (r->bound.arg[i].is_array && f->params[i].written) TRY(qbuf_settle(qvm_ctx(r->vm), r->bound.array[i]->buf));
    return QS_OK;
}

qs_status qelementwise_run(Run *r) {
    r->bound.nlocked = 0, r->recorded = NULL, r->fault.message = 0;
    TRY(r->bind(r));
    TRY(qrecord_begin(r));
    qs_status s = evaluate(r);
    if (s != QS_OK) qrecord_drop(r);
    return s;
}
