/* fusion.c -- runs a fuse region as one kernel: finds the specialization, binds its parameters, launches it.
 *
 *     qfuse_region   examine the leaves (fusion_examine.c) → prepare_target, prepare_form → run_form → results
 *
 * A region is compiled for the element types of its leaves once it has done enough work to pay for the compilation.
 * A cheap expression on small arrays always uses the loops of arith.c.  These loops are also used without a code
 * generator, and for regions that lang/kernel/lower/fusion/fuse.c declines.  The types are chosen so that the results
 * agree.  A reduction is computed in two steps: the kernel reduces chunks, and merge_parts reduces their results. */
#include "vm/launch/fusion.h"

#include "lang/kernel/elem/elem.h"
#include "lang/kernel/ir/sem.h"
#include "vm/array/operand.h"
#include "vm/program/prebuilt.h"
#include "vm/value/trace.h"

/* Operator evaluations after which a region is compiled; they take about as long as compiling.  A call of a function
 * counts as CALL operators. */
static const double worth_compiling = 4e6;
enum { CALL = 8 };
/* Maximum number of partial results. */
enum { CHUNKS = 64, CHUNK_LEAST = 16384, BLOCKS = 1024, PARTS = BLOCKS };

/* -- specializations ----------------------------------------------------------------------------------------------- */
static FuseState *state_of(qs_vm *vm, const Frame *f, FuseRegion *r) {
    if (r->machine) return r->machine;
    FuseState *s = r->machine = qmem_alloc(qvm_ctx(vm), sizeof *s);
    s->nops = r->nops + CALL * r->ncalls + 1;
    bool counts = r->mask && r->reduction && !strcmp(r->reduction, "numel");
    s->expr = (FuseExpr){.src = f->proto->func->unit->src,
                         .root = r->root,
                         .kind = counts         ? RED_sum
                                 : r->reduction ? kfuse_reduction(r->reduction, 1)
                                                : RED_NONE,
                         .counts = counts,
                         .leaves = r->leaves,
                         .nleaves = r->nleaves,
                         .casts = r->casts,
                         .cast_dtypes = r->cast_dtypes,
                         .ncasts = r->ncasts,
                         .nops = r->nops,
                         .rows = r->rows,
                         .axis = r->axis,
                         .mask = r->mask,
                         .updates = r->updates,
                         .op = r->op,
                         .boxed = r->nshifts > 0,
                         .items = r->items,
                         .nitems = r->nitems,
                         .fast_math = qvm(vm)->config.fast_math};
    return s;
}

void qfuse_free(qs_vm *vm, FuseRegion *r) {
    FuseState *s = r->machine;
    if (!s) return;
    qspec_free(vm, &s->forms);
    qmem_free(qvm_ctx(vm), s, sizeof *s);
    r->machine = NULL;
}

static FuseForm *find_form(const FuseRun *now) {
    Site site = {now->f->fn, now->f->base};
    qs_value leaves[LEAVES];
    for (Specialization *at = now->state->forms.first; at; at = at->next) {
        FuseForm *v = (FuseForm *)at;
        bool fits = v->target.strided == now->target_layout.strided && v->target.unit == now->target_layout.unit &&
                    v->ordered == now->ordered && v->extent == now->extent && v->flat == now->flat &&
                    (v->flat || v->rank == now->rank) && !memcmp(v->same, now->same, sizeof v->same) &&
                    !memcmp(v->layout, now->layout, sizeof v->layout);
        if (fits && qspec_agrees(now->run.vm, at, &site, leaves)) return v;
    }
    return NULL;
}

static FuseLeafType leaf_type(qs_value v) {
    FuseLeafType t = {.array = v.kind == QS_ARRAY,
                      .weak_int = v.kind == QS_INT || v.kind == QS_BOOL,
                      .complex = v.kind == QS_COMPLEX};
    if (t.array) t.dtype = qval_array(v)->dtype;
    return t;
}

static qs_status build_version(const FuseRun *now, int which) {
    FuseState *s = now->state;
    FuseForm *v = now->form;
    FuseLeafType types[LEAVES];
    for (int i = 0; i < now->region->nleaves; i++) {
        types[i] = leaf_type(now->at[i]);
        types[i].same = now->same[i], types[i].layout = now->layout[i];
    }
    s->expr.strided = v->target.strided, s->expr.unit = v->target.unit;
    s->expr.ordered = v->ordered, s->expr.extent = v->extent;
    s->expr.grouped = which == GROUPED, s->expr.adds = which == ADDED;
    TRY(kfuse_build(qvm_ctx(now->run.vm), &v->base.arena, &s->expr, types, v->flat, v->rank, &v->kernel[which]));
    return qspec_set(&v->base, which, v->kernel[which].func), QS_OK;
}

static const char *what_of(const FuseRun *now) { return now->region->items ? "statements" : "expression"; }

static qs_status make_form(FuseRun *now) {
    qs_vm *vm = now->run.vm;
    FuseForm *v = now->form = qspec_new(vm, &now->state->forms, sizeof *v, "");
    CapturedList *e = qmem_alloc(qvm_ctx(vm), sizeof *e);
    e->vm = vm, e->site = (Site){now->f->fn, now->f->base}, e->spec_kind = SPEC_EXPRESSION;
    for (int i = 0; i < now->region->nleaves; i++) qcaptured_add(e, FROM_LOCAL, -1, now->region->regs[i], NULL);
    qspec_enter(&v->base, e);
    qmem_free(qvm_ctx(vm), e, sizeof *e);
    v->target = now->target_layout;
    v->flat = now->flat, v->rank = now->rank, v->ordered = now->ordered, v->extent = now->extent;
    memcpy(v->same, now->same, sizeof v->same), memcpy(v->layout, now->layout, sizeof v->layout);
    TRY(build_version(now, CHUNKED));
    Where at = {now->state->expr.src, now->region->items ? now->region->items[0].root->pos : now->region->root->pos};
    if (v->kernel[CHUNKED].func)
        qreport_explain(vm, at, "%s: one kernel of %d operations", what_of(now), now->region->nops);
    else if (now->region->nguards) return QS_OK; /* the functions are reported where they run */
    else if (v->kernel[CHUNKED].why)
        qreport_explain(vm, (Where){at.src, v->kernel[CHUNKED].pos}, "%s: %s",
                        now->region->items ? "statements: one by one" : "expression: operator by operator",
                        v->kernel[CHUNKED].why);
    else qreport_explain(vm, at, "expression: operator by operator, for one of them is not compiled for these types");
    if (!v->kernel[CHUNKED].func || !qvm(vm)->config.compile_for || now->state->expr.kind == RED_NONE) return QS_OK;
    TRY(build_version(now, GROUPED)); /* ahead of time: GPUs run reductions with different code */
    return v->kernel[GROUPED].func ? qdevprog_compile_ahead(vm, v->kernel[GROUPED].func) : QS_OK;
}

/* -- parameters ---------------------------------------------------------------------------------------------------- */
static void bind_float(Binding *b, int i, double x) { qbind_number(b, i, (KSlot){.F64 = x}.bits, 8); }

static int bind_leaf_number(Binding *b, int i, qs_value v) {
    if (v.kind == QS_COMPLEX) {
        QComplexD z = qscalar_complex(v);
        return bind_float(b, i, z.re), bind_float(b, i + 1, z.im), 2;
    }
    if (v.kind == QS_NUM) bind_float(b, i, v.u.f);
    else qbind_number(b, i, (KSlot){.I64 = v.u.i}.bits, 8);
    return 1;
}

/* Restricts an array with the extents of the domain to the box that is computed. */
static void restrict_to_box(const FuseRun *now, DevArg *arg, int dtype) {
    for (int d = 0; d < arg->rank && now->region->nshifts; d++) {
        arg->dims[d] = now->extents[d];
        arg->offset += (size_t)(now->from[d] * arg->strides[d]) * qdtype_size((qs_dtype)dtype);
    }
}

/* Moves the first element of a shifted leaf to the one that the box begins with. */
static void shift_leaf(const FuseRun *now, DevArg *arg, int leaf) {
    int shift = qfuse_shift_of(now->region, leaf);
    const Array *a = qfuse_array(now, leaf);
    for (int d = 0; d < arg->rank && shift >= 0; d++) {
        int axis = qfuse_axis_of(a, now->whole, now->axis[d]);
        int64_t cut = axis < 0 ? 0 : now->cut[shift][axis];
        if (now->from[d] + cut >= now->dims[d]) cut -= now->dims[d];
        arg->offset += (size_t)(cut * arg->strides[d]) * qdtype_size((qs_dtype)a->dtype);
    }
}

/* Binds the array of a leaf with the extents of the domain; broadcast dimensions have stride 0. */
static void bind_leaf(FuseRun *now, int i, int leaf) {
    Array *a = now->at[leaf].u.p;
    const FuseLayout *l = &now->layout[leaf];
    DevArg *arg = qbind_array(&now->run.bound, i, a, qfuse_assigns(now->region) && i == 0 ? QS_READWRITE : QS_READ);
    arg->rank = now->flat ? 1 : now->rank;
    for (int d = 0; d < arg->rank && !now->flat; d++) {
        arg->dims[d] = now->dims[d];
        int axis = qfuse_axis_of(a, now->whole, now->axis[d]);
        arg->strides[d] = axis < 0 || a->dims[axis] == 1 ? 0 : a->strides[axis];
    }
    if (now->flat) arg->dims[0] = (int64_t)a->count, arg->strides[0] = 1;
    restrict_to_box(now, arg, a->dtype), shift_leaf(now, arg, leaf);
    if (!l->channels) return;
    arg->offset -= (size_t)l->channel * qdtype_size((qs_dtype)a->dtype);
    arg->dims[arg->rank] = l->channels, arg->strides[arg->rank++] = 1;
}

static void bind_array(FuseRun *now, int i, Array *a, int rank, const int64_t *dims, bool changed) {
    DevArg *arg = qbind_array(&now->run.bound, i, a, changed ? QS_READWRITE : QS_WRITE);
    arg->rank = rank;
    for (int d = rank - 1; d >= 0; d--) {
        arg->dims[d] = dims[d];
        arg->strides[d] = d == rank - 1 ? 1 : arg->strides[d + 1] * dims[d + 1];
    }
    restrict_to_box(now, arg, a->dtype);
}

static void bind_result(FuseRun *now, int i, int rank, const int64_t *dims) {
    bind_array(now, i, now->target ? now->target : now->result, rank, dims, now->target);
}

static void bind_target(FuseRun *now, int i) {
    DevArg *arg = qbind_array(&now->run.bound, i, now->target, QS_READWRITE);
    arg->rank = now->rank;
    memcpy(arg->dims, now->dims, (size_t)now->rank * sizeof *arg->dims);
    memcpy(arg->strides, now->target_strides, (size_t)now->rank * sizeof *arg->strides);
    restrict_to_box(now, arg, now->target->dtype);
}

/* Returns the extents of a result of a map. */
static const int64_t *result_dims(const FuseRun *now, bool narrow, int64_t dims[QS_MAX_RANK]) {
    memcpy(dims, now->dims, sizeof now->dims);
    if (narrow) dims[now->region->axis] = 1;
    return dims;
}

static int bind_stored(FuseRun *now, int n) {
    int64_t dims[QS_MAX_RANK];
    for (int i = 0; i < now->region->nitems; i++) {
        if (!now->stored[i]) continue;
        result_dims(now, now->form->kernel[CHUNKED].value[i].narrow, dims);
        bind_array(now, n++, now->stored[i], now->flat ? 1 : now->rank, now->flat ? now->run.launch.domain : dims,
                   now->region->items[i].array);
    }
    return n;
}

static qs_status bind_params(Run *run) {
    FuseRun *now = (FuseRun *)run;
    int n = 0;
    for (int i = 0; i < now->region->nleaves; i++) {
        qs_value given = now->f->base[now->region->regs[i]];
        if (now->same[i] || now->layout[i].beside) continue;
        run->bound.origin[n] = (Origin){given, 0}, run->bound.origin[n + 1] = (Origin){given, 1};
        if (now->at[i].kind != QS_ARRAY) n += bind_leaf_number(&run->bound, n, now->at[i]);
        else bind_leaf(now, n++, i);
    }
    now->nargs = n;
    if (now->region->rows)
        run->bound.origin[n] = (Origin){qs_nil(), 0},
        qbind_number(&run->bound, n++, (uint64_t)now->dims[now->region->axis], 8);
    if (now->state->expr.kind == RED_NONE && !qfuse_assigns(now->region)) {
        int64_t dims[QS_MAX_RANK];
        n = bind_stored(now, n);
        if (!now->region->root) return QS_OK;
        result_dims(now, now->form->kernel[CHUNKED].narrow, dims);
        if (now->target && !now->flat) bind_target(now, n);
        else bind_result(now, n, now->flat ? 1 : now->rank, now->flat ? run->launch.domain : dims);
    }
    return QS_OK;
}

/* Distributes the elements to the positions of the launch; returns the number of partial results. */
static int64_t share_out(FuseRun *now) {
    int64_t n = (int64_t)now->count, nparts;
    Launch *l = &now->run.launch;
    l->rank = 1, l->any_block = false, l->block[0] = now->run.which == GROUPED ? FUSE_GROUP : 1;
    if (now->run.which == GROUPED) {
        nparts = (n - 1) / (8 * FUSE_GROUP) + 1; /* another block is added for each eight elements per position */
        if (nparts > BLOCKS) nparts = BLOCKS;
        l->domain[0] = now->chunk = nparts * FUSE_GROUP;
        return nparts;
    }
    int64_t least = CHUNK_LEAST;
    if (!now->flat) n = now->dims[0], least = CHUNK_LEAST / ((int64_t)now->count / n) + 1;
    now->chunk = n / CHUNKS + 1 > least ? n / CHUNKS + 1 : least;
    return l->domain[0] = (n + now->chunk - 1) / now->chunk;
}

static qs_status fit_reduction(Run *run) {
    FuseRun *now = (FuseRun *)run;
    qs_vm *vm = run->vm;
    run->which = run->device->wide ? GROUPED : CHUNKED;
    if (!now->form->kernel[run->which].func) TRY(build_version(now, run->which));
    if (!qlaunch_func(run)) return qerr_set(qvm_ctx(vm), QS_EDEVICE, "its blocks cannot be merged there");
    int64_t nparts = share_out(now);
    if (now->result) qarr_release(vm, now->result), now->result = NULL; /* from a previous attempt */
    if (now->region->mask) nparts *= 2;
    TRY(qarr_new(vm, now->form->kernel[run->which].dtype, 1, &nparts, false, &now->result));
    for (int i = now->nargs; i < now->nargs + 2; i++) run->bound.origin[i] = (Origin){qs_nil(), 0};
    qbind_number(&run->bound, now->nargs, (uint64_t)now->chunk, 8);
    qbind_number(&run->bound, now->nargs + 1, now->flat ? now->count : (uint64_t)now->dims[0], 8);
    bind_result(now, now->nargs + 2, 1, &nparts);
    return QS_OK;
}

/* -- results ------------------------------------------------------------------------------------------------------- */
/* Is the array referenced only once, so that its memory can be reused for the result? */
static bool ours(const Array *a, qs_dtype d) {
    return a->dtype == d && qarr_is_spare(a) && a->hdr.flags == 0 && a->contiguous;
}

static Array *own(Array *a) { return a->hdr.refs++, a; }

/* Returns an array whose memory can hold the result: an operand that is released after the expression, because each
 * position reads its element before it writes it, or the old value of the result variable.  NULL: none. */
static Array *spare(const FuseRun *now) {
    const FuseRegion *r = now->region;
    if (now->recorded) return NULL; /* its contents may be needed by the gradient */
    qs_value old = now->f->base[r->dst];
    qs_dtype d = now->form->kernel[CHUNKED].dtype;
    for (int i = 0; now->flat && i < r->nleaves; i++) {
        bool goes = r->regs[i] >= now->f->proto->chunk.ntemp || r->regs[i] == r->dst;
        if (goes && qfuse_array(now, i) && ours(qfuse_array(now, i), d)) return own(now->at[i].u.p);
    }
    if (old.kind != QS_ARRAY || !ours(qval_array(old), d)) return NULL;
    for (int i = 0; i < r->nleaves; i++)
        if (r->regs[i] == r->dst) return NULL; /* it is a leaf, and is read in a different order */
    return qfuse_has_dims(qval_array(old), now->rank, now->dims) ? own(qval_array(old)) : NULL;
}

static qs_status begin_map(FuseRun *now) {
    Launch *l = &now->run.launch;
    const FuseKernel *k = &now->form->kernel[CHUNKED];
    bool rows = now->region->rows;
    l->rank = now->flat ? 1 : now->rank - rows, l->any_block = !rows || now->ordered;
    for (int d = 0; d < l->rank; d++) l->domain[d] = now->dims[d + (rows && d >= now->region->axis)], l->block[d] = 1;
    if (now->flat) l->domain[0] = (int64_t)now->count;
    int64_t dims[QS_MAX_RANK];
    for (int i = 0; i < now->region->nitems; i++) {
        const FuseItem *s = &now->region->items[i];
        if (s->stored && s->array) now->stored[i] = own(now->at[s->target].u.p);
        if (!s->stored || s->array) continue;
        result_dims(now, k->value[i].narrow, dims);
        TRY(qarr_new(now->run.vm, k->value[i].dtype, now->rank, dims, false, &now->stored[i]));
        qarr_keep(now->stored[i], now->item_ndim[i]);
    }
    if (qfuse_assigns(now->region) || now->target || !now->region->root) return QS_OK;
    now->result = k->narrow || now->region->items ? NULL : spare(now);
    result_dims(now, k->narrow, dims);
    if (!now->result) TRY(qarr_new(now->run.vm, k->dtype, now->rank, dims, false, &now->result));
    return qarr_keep(now->result, now->region->items ? now->item_ndim[now->region->nitems] : now->ndim), QS_OK;
}

static double merge_two(Reduce kind, double a, double b) {
    return kind == RED_min ? ksem_MIN_F64(a, b) : kind == RED_max ? ksem_MAX_F64(a, b) : a + b;
}

static double part_at(const FuseRun *now, const void *p, size_t i) {
    qs_dtype d = now->form->kernel[now->run.which].dtype;
    return qdtype_get(d, (const char *)p + i * qdtype_size(d));
}

/* Returns how many elements the reduction has had. */
static double elements_reduced(const FuseRun *now, const void *p) {
    double n = 0;
    if (!now->region->mask) return (double)now->count;
    for (size_t i = 1; i < now->result->count; i += 2) n += part_at(now, p, i);
    return n;
}

/* Merges the partial results pairwise, so that the rounding error of a sum is that of its blocks.  out nil: a mask has
 * selected no elements. */
static qs_status merge_parts(const FuseRun *now, qs_value *out) {
    const FuseKernel *k = &now->form->kernel[now->run.which];
    Reduce kind = now->state->expr.kind;
    size_t step = now->region->mask ? 2 : 1, count = now->result->count / step;
    const void *p;
    TRY(qarr_read(now->run.vm, now->result, &p));
    double n = elements_reduced(now, p);
    if (!(n > 0)) return QS_OK;
    if (k->dtype == QS_I64) {
        int64_t sum = 0;
        for (size_t i = 0; i < count; i++) sum += ((const int64_t *)p)[i * step];
        *out = now->state->expr.counts ? qs_num(n) : k->integral ? qs_int(sum) : qs_num((double)sum);
        return QS_OK;
    }
    double x[PARTS];
    for (size_t i = 0; i < count; i++) x[i] = part_at(now, p, i * step);
    for (size_t m = count; m > 1; m = (m + 1) / 2)
        for (size_t i = 0; i < m / 2; i++) x[i] = merge_two(kind, x[i], x[m - 1 - i]);
    *out = qs_num(qreduction_info[kind].finish == FINISH_MEAN ? x[0] / n : x[0]);
    return QS_OK;
}

/* -- derivatives --------------------------------------------------------------------------------------------------- */
/* Records a sum.  Partial results are not script values, so the recorded code adds each element at its position.  It
 * has the same derivative and never runs. */
static qs_status record_sum(FuseRun *now, qs_value *result) {
    Run *r = &now->run;
    bool mean = qreduction_info[now->state->expr.kind].finish == FINISH_MEAN;
    if (!now->form->kernel[ADDED].func) TRY(build_version(now, ADDED));
    if (!now->form->kernel[ADDED].func) return QS_OK; /* a sum of integers */
    qs_value sum = qs_num(mean ? qval_number(*result) * (double)now->count : qval_number(*result));
    r->which = ADDED, r->bound.nlocked = 0, r->unrecorded = false;
    r->launch = (Launch){.rank = 1, .domain = {(int64_t)now->count}, .block = {1}, .any_block = true};
    TRY(bind_params(r));
    DevArg *arg = &r->bound.arg[now->nargs];
    r->bound.array[now->nargs] = NULL;
    *arg = (DevArg){.is_array = true, .rank = 1, .dims = {1}, .strides = {1}};
    TRY(qrecord_begin(r));
    TRY(qrecord_end(r, 1, &(Extracted){now->nargs, 0, &sum}));
    if (!mean) return *result = sum, QS_OK;
    qs_status s = qelementwise_record(r->vm, EL_div, 2, (qs_value[]){sum, qs_num((double)now->count)}, result);
    return qval_release(r->vm, sum), s;
}

/* -- the decision -------------------------------------------------------------------------------------------------- */
/* Leaves the expression to the operators after a compilation or load error, but not after interrupts and async
 * errors. */
static qs_status give_up(qs_vm *vm) {
    const ErrorState *e = &qvm_ctx(vm)->err;
    if (e->status == QS_EINTERRUPT || e->late) return e->status;
    return qerr_clear(qvm_ctx(vm)), QS_OK;
}

/* Would the operators have to copy an array back from the device first? */
static bool is_away(const FuseRun *now) {
    for (int i = 0; i < now->region->nleaves; i++)
        if (qfuse_array(now, i) && qbuf_is_away(qfuse_array(now, i)->buf)) return true;
    return false;
}

static bool at_once(qs_vm *vm) { return qvm(vm)->fuse_least <= 1; }

/* A compiled program contains code from a run in which every expression was compiled.  It has kernels for single
 * operators and their derivatives only if that run left the expression to the operators. */
static bool pays(const FuseRun *now) {
    qs_vm *vm = now->run.vm;
    bool made = qvm(vm)->config.compile_for || qprebuilt_is_program(vm);
    return made || now->state->work >= worth_compiling || at_once(vm) || is_away(now);
}

/* Finds or makes the specialization for the current leaves; now->form NULL: not worthwhile, or declined. */
static qs_status prepare_form(FuseRun *now) {
    FuseState *s = now->state;
    Device *d;
    now->form = NULL;
    s->work += (double)now->count * s->nops * (now->recorded ? 4 : 1);
    if (!s->forms.n && !pays(now)) return now->region->wasted = now->region->wait = 0, QS_OK;
    TRY(qdevices_current(now->run.vm, &d));
    /* the evaluator is slower than the operators' loops */
    if (d->ops->code == CODE_KIR && !at_once(now->run.vm)) return QS_OK;
    now->form = find_form(now);
    if (!now->form && !pays(now)) return QS_OK;
    if (!now->form) TRY(make_form(now));
    if (!now->form->kernel[CHUNKED].func) now->form = NULL;
    return QS_OK;
}

/* The values of statements that change arrays have the types of these. */
static qs_status prepare_changes(FuseRun *now) {
    for (int i = 0; i < now->region->nitems && now->form; i++) {
        const FuseItem *s = &now->region->items[i];
        if (!s->array || !s->stored) continue;
        if (now->form->kernel[CHUNKED].value[i].dtype != qfuse_array(now, s->target)->dtype) now->form = NULL;
        TRY(qarr_touch(now->run.vm, now->at[s->target].u.p));
    }
    return QS_OK;
}

/* Finds the kernel; one whose elements have another type than those assigned to makes a result of its own. */
static qs_status prepare_target(FuseRun *now) {
    bool updates = qfuse_updates(now->region);
    TRY(qfuse_find_target(now));
    if (updates && !now->target && !now->old) return now->form = NULL, QS_OK;
    TRY(prepare_form(now));
    if (now->form && now->region->changes) TRY(prepare_changes(now));
    const Array *changed = now->old ? now->old : now->target;
    if (!changed || !now->form || now->form->kernel[CHUNKED].dtype == changed->dtype) return QS_OK;
    if (updates) return now->form = NULL, QS_OK;
    qfuse_drop_target(now);
    qfuse_examine(now);
    return prepare_form(now);
}

/* Runs the kernel for the boxes of the domain in which each shifted leaf is a part of its array.  Recursion over the
 * dimensions finds them. */
static qs_status run_boxes(FuseRun *now, int d) {
    if (d == now->rank) {
        memcpy(now->run.launch.domain, now->extents, sizeof now->extents);
        now->run.bound.nlocked = 0;
        return qlaunch_run(&now->run);
    }
    for (now->from[d] = 0; now->from[d] < now->dims[d]; now->from[d] += now->extents[d]) {
        int64_t end = now->dims[d];
        for (int i = 0; i < now->region->nshifts; i++) {
            int axis = qfuse_axis_of(qfuse_array(now, now->region->shifts[i].leaf), now->whole, now->axis[d]);
            int64_t seam = axis < 0 ? 0 : now->dims[d] - now->cut[i][axis];
            if (seam > now->from[d] && seam < end) end = seam;
        }
        now->extents[d] = end - now->from[d];
        TRY(run_boxes(now, d + 1));
    }
    return QS_OK;
}

static qs_status run_form(FuseRun *now) {
    Run *r = &now->run;
    bool map = now->state->expr.kind == RED_NONE;
    r->form = &now->form->base, r->which = CHUNKED, r->optional = true, r->device = NULL, r->chosen = false;
    r->bind = bind_params, r->fit = map ? NULL : fit_reduction,
    r->unrecorded = !map || qfuse_assigns(now->region) || now->target || now->region->nshifts, r->late = false;
    r->positions = (double)now->count, r->steps = r->positions * now->state->nops;
    return now->region->nshifts ? run_boxes(now, 0) : qlaunch_run(r);
}

/* After an interrupt, the memory of the result variable may be partly overwritten: the variable is cleared. */
static void forget_half(FuseRun *now) {
    qs_value *dst = &now->f->base[now->region->dst];
    bool written = now->result && dst->kind == QS_ARRAY && qval_array(*dst) == now->result;
    if (written && now->run.launched) qinterp_clear(now->run.vm, dst);
}

/* Handles a failed launch; code that the device refused is not requested again. */
static qs_status handle_failure(FuseRun *now, qs_status s) {
    if (s == QS_EINTERRUPT || now->run.launched) return s;
    if (!now->run.loaded && s == QS_EDEVICE) now->form->kernel[CHUNKED].func = NULL; /* permanent failure */
    return give_up(now->run.vm);
}

/* Reports once that reductions along this dimension are left to the operators. */
static void explain_no_rows(FuseRun *now) {
    FuseState *s = now->state;
    if (s->reported || now->recorded) return;
    s->reported = true;
    qreport_explain(
        now->run.vm, (Where){s->expr.src, s->expr.root->pos},
        "expression: its parts one by one, because reductions along dimension %d of arrays of this shape are faster "
        "alone: only a dimension that is the last one, short, or one of a small array is reduced inside an expression",
        now->region->axis);
}

static void put_stored(FuseRun *now) {
    for (int i = 0; i < now->region->nitems; i++) {
        if (now->stored[i])
            qinterp_put(now->run.vm, &now->f->base[now->region->items[i].dst], qarr_value(now->stored[i]));
        now->stored[i] = NULL;
    }
}

static void release_results(FuseRun *now) {
    for (int i = 0; i < now->region->nitems; i++)
        if (now->stored[i]) qarr_release(now->run.vm, now->stored[i]);
    if (now->result) qarr_release(now->run.vm, now->result);
    qfuse_drop_target(now);
}

/* Returns whether the functions whose calls are part of the region are still the same. */
static bool guards_hold(qs_vm *vm, const Frame *f, const FuseRegion *r) {
    for (int i = 0; i < r->nguards; i++) {
        const FuseGuard *g = &r->guards[i];
        qs_value v = g->slot >= 0 ? *qvm_global(vm, (uint64_t)g->slot) : f->base[g->reg], a, b;
        const Function *fn = v.kind == QS_FUNCTION ? v.u.p : NULL;
        if (!fn || fn->fkind != FN_SCRIPT || fn->ast->id != g->id) return false;
        if (g->capture < 0) continue;
        a = fn->captures[g->capture], b = f->base[g->outer];
        if (a.kind != b.kind || a.aux != b.aux || a.u.i != b.u.i) return false;
    }
    return true;
}

qs_status qfuse_region(qs_vm *vm, Frame *f, FuseRegion *r, bool *done) {
    enum { MOST_WASTED = 10 };
    FuseRun now;
    qs_value result = qs_nil();
    *done = false;
    now.target = now.old = NULL, now.target_layout = (TargetLayout){false, false};
    if (r->items) r->wait = 1u << r->wasted, r->wasted += r->wasted < MOST_WASTED;
    if (!guards_hold(vm, f, r)) return QS_OK;
    memset(now.stored, 0, sizeof now.stored);
    now.run.vm = vm, now.f = f, now.region = r, now.result = NULL, now.count = 0, now.rank = 2, now.no_rows = false;
    if (qfuse_updates(r)) {
        TRY(qstep_target(vm, f, r, &now.target));
        bool is_float = now.target && (now.target->dtype == QS_F32 || now.target->dtype == QS_F64);
        if (!is_float) return qfuse_drop_target(&now), QS_OK;
    }
    bool fits = qfuse_examine(&now), is_large = now.count >= qvm(vm)->fuse_least;
    if (!is_large || (!fits && !now.no_rows)) return qfuse_drop_target(&now), QS_OK;
    now.state = state_of(vm, f, r);
    if (now.no_rows) return explain_no_rows(&now), QS_OK;
    bool extreme = qreduction_is_extreme(now.state->expr.kind);
    /* the built-in function has a derivative rule that finds the selected element */
    if (now.recorded && extreme) return QS_OK;
    qs_status prepared = prepare_target(&now);
    if (prepared != QS_OK || !now.form) {
        qfuse_drop_target(&now);
        return prepared != QS_OK ? give_up(vm) : QS_OK;
    }
    qs_status s = now.state->expr.kind == RED_NONE ? begin_map(&now) : QS_OK;
    if (s != QS_OK) return release_results(&now), s;
    s = run_form(&now);
    if (s == QS_OK && now.state->expr.kind != RED_NONE) {
        s = merge_parts(&now, &result);
        if (s == QS_OK && result.kind == QS_NIL) now.run.launched = false; /* the built-in function handles none */
        if (s == QS_OK && now.recorded) s = record_sum(&now, &result);
    } else if (s == QS_OK && !qfuse_assigns(r) && !now.target && r->root) {
        if (!r->nshifts) s = qrecord_end(&now.run, 0, NULL);
        if (s == QS_OK) result = qarr_value(now.result), now.result = NULL;
    } else if (s != QS_OK) s = handle_failure(&now, s);
    if (s == QS_EINTERRUPT) forget_half(&now);
    bool stored = now.target != NULL;
    if (s == QS_OK && now.run.launched) put_stored(&now);
    release_results(&now);
    if (s != QS_OK || !now.run.launched) return s;
    r->wait = r->wasted = 0;
    for (int i = 0; i < r->nleaves; i++)
        if (r->regs[i] >= f->proto->chunk.ntemp) qinterp_clear(vm, &f->base[r->regs[i]]);
    for (int i = 0; stored && i < r->nat; i++)
        if ((uint32_t)(r->at + i) >= f->proto->chunk.ntemp) qinterp_clear(vm, &f->base[r->at + i]);
    if (!qfuse_assigns(r) && !stored && r->root) qinterp_put(vm, &f->base[r->dst], result);
    f->pc = f->proto->chunk.code + (stored ? r->stored : r->end);
    *done = true;
    return QS_OK;
}

qs_status qfuse_at(qs_vm *vm, Frame *f, uint32_t pc, bool *done) {
    Chunk *c = &f->proto->chunk;
    *done = false;
    for (uint32_t i = 0; i < c->nfuses && !*done; i++) /* the branches of ?: are regions inside a region */
        if (pc >= c->fuses[i]->start && pc < c->fuses[i]->end && !c->fuses[i]->mask)
            TRY(qfuse_region(vm, f, c->fuses[i], done));
    return QS_OK;
}
