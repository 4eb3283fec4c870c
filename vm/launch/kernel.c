/* kernel.c -- implements parallel_do and serial_do.
 *
 *     size and arguments ── keys of the arguments and of all captured values ── a specialization (found, or made once)
 *                        ── parameters are bound ── qlaunch_run (launch.c) ── a fault becomes an error */
#include "lang/kernel/ir/kir.h"
#include "vm/interp/interp.h"
#include "vm/launch/kernel_internal.h"
#include "vm/value/random_block.h"
#include "vm/value/trace.h"

#include "vm/base/warning.h"

#include <math.h>
#include <string.h>

/* -- the domain ---------------------------------------------------------------------------------------------------- */
static qs_status check_extent(qs_vm *vm, const char *fn, const char *what, double x, int axis, int64_t *out) {
    if (x >= 0 && x == floor(x) && x <= 0x1p53) return *out = (int64_t)x, QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: the %s along dimension %d must be an integer ≥ 0, got %g", fn, what,
                    axis, x);
}

static qs_status block_extent(qs_vm *vm, const char *fn, double x, int axis, int32_t *out) {
    int64_t n = 0;
    TRY(check_extent(vm, fn, "block", x, axis, &n));
    if (n < 1 || n > INT32_MAX)
        return qerr_set(qvm_ctx(vm), QS_EVALUE, "%s: the block along dimension %d must be ≥ 1, got %g", fn, axis, x);
    return *out = (int32_t)n, QS_OK;
}

/* Reads [d0,d1,…], or two rows: the size and the block. */
static qs_status extents_of(qs_vm *vm, const char *fn, Array *a, Request *r) {
    const void *p;
    bool rows = a->rank == 2 && a->dims[0] == 2;
    size_t n = rows ? (size_t)a->dims[1] : a->count;
    if (n < 1 || n > QS_MAX_RANK || (a->rank == 2 && !rows && a->dims[1] != 1))
        return qerr_set(qvm_ctx(vm), QS_ESHAPE,
                        "%s: the size must be 1 to 8 numbers, or two rows of them: size and block", fn);
    TRY(qarr_read(vm, a, &p));
    size_t bytes = qdtype_size((qs_dtype)a->dtype);
    r->rank = (int)n, r->explicit_block = rows;
    for (int i = 0; i < r->rank; i++) {
        const char *at = (const char *)p + qarr_offset(a, (size_t)i) * bytes;
        TRY(check_extent(vm, fn, "size", qdtype_get((qs_dtype)a->dtype, at), i, &r->domain[i]));
        if (!rows) continue;
        at = (const char *)p + qarr_offset(a, n + (size_t)i) * bytes;
        TRY(block_extent(vm, fn, qdtype_get((qs_dtype)a->dtype, at), i, &r->block[i]));
    }
    return QS_OK;
}

static qs_status read_domain(qs_vm *vm, const char *fn, qs_value v, Request *r) {
    if (qval_is_number(v)) {
        r->rank = 1;
        return check_extent(vm, fn, "size", qval_number(v), 0, &r->domain[0]);
    }
    if (v.kind == QS_ARRAY) return extents_of(vm, fn, v.u.p, r);
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: the size must be a number or a list of numbers, got %s", fn,
                    qval_type_name(vm, v));
}

static bool trivial(const Request *r, int axis) {
    return r->domain[axis] == 1 && (!r->explicit_block || r->block[axis] == 1);
}

/* Fits the domain to the kernel's positions; returns how many dimensions the kernel must iterate over itself. */
static int fit_domain(Request *r, int positions) {
    bool ones[QS_MAX_RANK];
    for (int i = 0; i < r->rank; i++) ones[i] = trivial(r, i);
    KFit fit = klower_fit(r->rank, positions, ones);
    r->rank -= fit.front + fit.back + fit.beyond;
    memmove(r->domain, r->domain + fit.front, (size_t)r->rank * sizeof *r->domain);
    memmove(r->block, r->block + fit.front, (size_t)r->rank * sizeof *r->block);
    return fit.beyond;
}

static bool is_empty(const Request *r) {
    for (int i = 0; i < r->rank; i++)
        if (r->domain[i] == 0) return true;
    return false;
}

/* -- finding a specialization -------------------------------------------------------------------------------------- */
typedef struct Kernel {
    struct Kernel *next;
    Func *func;
    int positions;
    bool reported; /* --explain has reported that launches have more dimensions */
    SpecializationList forms;
} Kernel;

enum { MAX_FORMS = 256 /* per kernel; beyond that, the least recently used one is dropped */ };

static Kernel *kernel_for(qs_vm *vm, Func *f) {
    Launches *l = qlaunch_state(vm);
    if (f->kernel) return f->kernel;
    Kernel *k = f->kernel = qmem_alloc(qvm_ctx(vm), sizeof *k);
    *k = (Kernel){.next = l->kernels, .func = f, .positions = klower_positions(f)};
    return l->kernels = k;
}

void qkernel_close(qs_vm *vm) {
    for (Kernel *k = qvm(vm)->launches->kernels, *next; k; k = next) {
        next = k->next;
        qspec_free(vm, &k->forms);
        qmem_free(qvm_ctx(vm), k, sizeof *k);
    }
}

void qkernel_forget(qs_vm *vm, const struct Unit *u) {
    Launches *l = qvm(vm)->launches;
    for (Kernel **at = l ? &l->kernels : NULL; at && *at;) {
        Kernel *k = *at;
        if (k->func->unit != u) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        qspec_free(vm, &k->forms);
        qmem_free(qvm_ctx(vm), k, sizeof *k);
    }
}

static bool same_block(const KernelSpecialization *s, const Request *r) {
    if (!s->base.version[0].func->fixed_block || !r->explicit_block) return true;
    return !memcmp(s->block, r->block, (size_t)r->rank * sizeof *r->block);
}

static bool same_entries(const KernelSpecialization *s, const Request *r) {
    const Packed *p = r->packed;
    if (!s->inner || !p) return !s->inner && !p;
    size_t n = (size_t)r->nargs;
    return !memcmp(s->inner, p->inner, n) && !memcmp(s->cls, p->cls, n * sizeof(struct Class *));
}

static bool fits_request(qs_vm *vm, const KernelSpecialization *s, const Request *r, qs_value *values) {
    if (s->device && s->device != qvm(vm)->device) return false;
    return s->nargs == r->nargs && same_entries(s, r) && s->rank == r->rank && s->serial == r->serial &&
           s->explicit_block == r->explicit_block && same_block(s, r) && qspec_agrees(vm, &s->base, &r->site, values);
}

static qs_status make_form(qs_vm *vm, SpecializationList *forms, Request *r, KernelSpecialization **out,
                           qs_value *values) {
    Device *d;
    TRY(qdevices_current(vm, &d));
    if (!r->explicit_block) qdevices_block(d, r->rank, r->domain, r->block);
    if (forms->n == MAX_FORMS) qspec_drop_last(vm, forms);
    TRY(qkernel_make(vm, forms, r, out));
    for (int i = 0; i < (*out)->base.nentries; i++)
        values[i] = qcaptured_value(vm, &(*out)->base.entries[i], &r->site, values);
    return QS_OK;
}

/* Finds or makes the specialization and moves it to the front of the list, so the usual one is found at once. */
static qs_status find_form(qs_vm *vm, SpecializationList *forms, Request *r, KernelSpecialization **out,
                           qs_value *values) {
    for (Specialization **at = &forms->first; *at; at = &(*at)->next) {
        if (!fits_request(vm, (KernelSpecialization *)*at, r, values)) continue;
        qspec_to_front(forms, at);
        return *out = (KernelSpecialization *)forms->first, QS_OK;
    }
    return make_form(vm, forms, r, out, values);
}

/* -- parameters ---------------------------------------------------------------------------------------------------- */
typedef struct {
    Run run;
    KernelSpecialization *form;
    const Request *request;
    uint64_t key[2]; /* halves of the key of random numbers */
    double *log;     /* records of print */
    qs_value values[MAX_ENTRIES];
} KernelRun;

static uint64_t number_bits(qs_value v, int part, qs_dtype d) {
    KSlot s = {0};
    double x =
        v.kind == QS_COMPLEX ? (part ? ((const Complex *)v.u.p)->im : ((const Complex *)v.u.p)->re) : qval_number(v);
    bool exact = v.kind == QS_INT || v.kind == QS_BOOL;
    int64_t i = exact ? v.u.i : 0;
    switch (d) {
    case QS_B1: s.B1 = x != 0; break;
    case QS_I32: s.I64 = qdtype_sat_i64(x, INT32_MIN, INT32_MAX); break;
    case QS_U32: s.U64 = qdtype_sat_u64(x, UINT32_MAX); break;
    case QS_I64: s.I64 = exact ? i : qdtype_sat_i64(x, INT64_MIN, INT64_MAX); break;
    case QS_U64: s.U64 = exact && i >= 0 ? (uint64_t)i : qdtype_sat_u64(x, UINT64_MAX); break;
    case QS_F32: s.F32 = (float)x; break;
    default: s.F64 = x; break;
    }
    return s.bits;
}

/* Checks that a parameter declared as an integer, or as several, can represent the given number exactly. */
static qs_status check_number(const KernelRun *k, const Str *name, qs_value v) {
    qs_vm *vm = k->run.vm;
    const Func *f = k->request->site.fn->ast;
    int i = 0;
    while (i < f->nparams && f->params[i].name != name) i++;
    const Type *t = i < f->nparams ? qvm_param_type(vm, f, i) : NULL, *n = t && t->kind == TY_ARRAY ? t->inner : t;
    if (!n || n->kind != TY_NUM || !qdtype_is_int(n->dtype) || qval_holds(n->dtype, v)) return QS_OK;
    double x = qval_number(v);
    return qerr_at(qvm_ctx(vm), QS_EVALUE, (Where){f->unit->src, f->params[i].pos},
                   "kernel %s: argument %s must be %s, got %.15g, which %s does not hold", f->name->s, name->s,
                   qtype_name(t), isnan(x) ? fabs(x) : x, qtype_name(n));
}

/* Returns the captured value with its trace. */
static qs_value captured_given(const KernelRun *k, int source) {
    return qcaptured_given(k->run.vm, &k->form->base.entries[source], &k->request->site, k->values);
}

static qs_status bind_number(KernelRun *k, int i, qs_value v) {
    const KParam *p = &qlaunch_func(&k->run)->params[i];
    const KBind *b = &k->form->binds[i];
    qs_dtype d = (qs_dtype)p->dtype;
    bool few = v.kind == QS_ARRAY; /* passed by value */
    if (few) v = qs_num(qkey_element(k->run.vm, v.u.p, (size_t)b->part));
    if (qval_is_number(v) && (few || qdtype_is_int(d))) TRY(check_number(k, p->name, v));
    if (qtape_is_on(k->run.vm)) k->run.bound.origin[i] = (Origin){captured_given(k, b->source), b->part};
    qbind_number(&k->run.bound, i, number_bits(v, b->part, d), qdtype_size(d));
    return QS_OK;
}

/* Adapts the rank of an array argument: a vec may be passed as a matrix with one row; missing extents are 1. */
void qkernel_fit_rank(const Array *a, int rank, DevArg *out) {
    int skip = rank > a->rank && a->rank == 1;
    out->rank = rank;
    for (int d = 0; (skip || rank > a->rank) && d < rank; d++) {
        int from = d - skip;
        bool inside = from >= 0 && from < a->rank;
        out->dims[d] = inside ? a->dims[from] : 1;
        out->strides[d] = inside ? a->strides[from] : d < skip ? (int64_t)a->count : 1;
    }
}

/* Checks the rank of an argument.  A vec is accepted as one row if a kernel expects a matrix.  If C or Python launches
 * a kernel directly on foreign memory, it is unknown whether a row is meant, so that is an error. */
static qs_status check_rank(qs_vm *vm, const KFunc *f, const KParam *p, const Array *a) {
    Ctx *c = qvm_ctx(vm);
    char size[SHAPE_TEXT];
    if (a->ndim >= p->rank || !(a->hdr.flags & ARRAY_AS_IS) || qvm_here(vm).src) return QS_OK;
    const Type *wanted = qtype_array(c, qtype_num(c, (qs_dtype)a->dtype), p->rank);
    return qerr_at(c, QS_ETYPE, (Where){f->src, f->ins[1].pos},
                   "kernel %s: %s must be %s, got %s of size %s; pass value(%s) if the dimensions that it lacks are to "
                   "have extent 1",
                   f->name->s, p->name->s, qtype_name(wanted), qtype_name(qtype_array(c, wanted->inner, a->rank)),
                   qarr_shape_text(a, size), p->name->s);
}

static qs_status check_array(qs_vm *vm, const KFunc *f, const KParam *p, const KBind *b, const Array *a) {
    TRY(check_rank(vm, f, p, a));
    if (b->nonempty && a->count == 0)
        return qerr_at(qvm_ctx(vm), QS_ESHAPE, (Where){f->src, f->ins[1].pos},
                       "kernel %s: %s is empty and cannot be read with its access mode", f->name->s, p->name->s);
    if (!qarr_aligned(a))
        return qerr_set(qvm_ctx(vm), QS_EVALUE,
                        "kernel %s: the elements of %s do not lie at multiples of their size in memory; pass copy(%s)",
                        f->name->s, p->name->s, p->name->s);
    if (p->written && a->buf->unseen)
        return qerr_at(qvm_ctx(vm), QS_ETYPE, (Where){f->src, f->ins[1].pos},
                       "kernel %s: %s must be an array, since the kernel writes to it; what came is a list, and nobody "
                       "would see what is written to the copy",
                       f->name->s, p->name->s);
    if (p->written && a->buf->readonly)
        return qerr_at(qvm_ctx(vm), QS_EVALUE, (Where){f->src, f->ins[1].pos},
                       "kernel %s: %s is read-only, and the kernel writes to it", f->name->s, p->name->s);
    return QS_OK;
}

/* Does the launch write every element of the buffer?  If not, the other elements must be preserved. */
static bool overwrites(const KernelSpecialization *s, int param, const Array *a, const Request *r) {
    if (!s->covers[param] || a->count * qdtype_size((qs_dtype)a->dtype) != a->buf->nbytes) return false;
    for (int d = 0; d < r->rank; d++)
        if (d < a->rank ? a->dims[d] != r->domain[d] : r->domain[d] != 1) return false;
    return a->rank <= r->rank;
}

static qs_status bind_params(Run *run) {
    KernelRun *k = (KernelRun *)run;
    const KFunc *f = qlaunch_func(run);
    for (int i = 0; i < f->nparams; i++) {
        const KParam *p = &f->params[i];
        if (k->form->binds[i].source == KLOWER_RANDOM) {
            run->bound.origin[i] = (Origin){qs_nil(), 0};
            qbind_number(&run->bound, i, k->key[k->form->binds[i].part], sizeof(uint32_t));
            continue;
        }
        if (k->form->binds[i].source == KLOWER_LOG) {
            qbind_memory(&run->bound, i, k->log, PRINT_ROOM);
            continue;
        }
        qs_value v = k->values[k->form->binds[i].source];
        if (p->kind == KP_NUM) {
            TRY(bind_number(k, i, v));
            continue;
        }
        Array *a = v.u.p;
        TRY(check_array(run->vm, f, p, &k->form->binds[i], a));
        qs_access mode = !p->written ? QS_READ : overwrites(k->form, i, a, k->request) ? QS_WRITE : QS_READWRITE;
        qkernel_fit_rank(a, p->rank, qbind_array(&run->bound, i, a, mode));
    }
    return QS_OK;
}

/* Checks the guarantee of KIR_SMALL, 32-bit offsets; a complex element counts as two. */
static bool is_small_arg(const DevArg *a, const KParam *p) {
    int64_t most = INT32_MAX / (qdtype_is_complex((qs_dtype)p->dtype) ? 2 : 1), last = 0;
    for (int d = 0; d < a->rank; d++) {
        int64_t step = a->strides[d] < 0 ? -a->strides[d] : a->strides[d];
        if (a->dims[d] > KIR_SMALL || step > most) return false;
        last += step * a->dims[d];
    }
    return last <= most;
}

static bool is_small(const Run *r) {
    const KFunc *f = qlaunch_func(r);
    for (int d = 0; d < r->launch.rank; d++)
        if (r->launch.domain[d] > KIR_SMALL) return false;
    for (int i = 0; i < f->nparams; i++)
        if (r->bound.arg[i].is_array && !is_small_arg(&r->bound.arg[i], &f->params[i])) return false;
    return true;
}

/* Selects version 1, with 32-bit indices, if they suffice; GPUs have no native 64-bit integer arithmetic. */
static void fit_indices(KernelRun *k) {
    Run *r = &k->run;
    Specialization *form = &k->form->base;
    r->which = r->device->ops->code == CODE_PTX && !k->form->serial && is_small(r);
    if (r->which && !form->version[1].func) qspec_set(form, 1, kir_small(&form->arena, form->version[0].func));
}

static qs_status fit_block(Run *run) {
    KernelRun *k = (KernelRun *)run;
    fit_indices(k);
    const Request *r = k->request;
    const KFunc *f = qlaunch_func(run);
    Device *d = run->device;
    Launch *l = &run->launch;
    if (l->any_block || r->serial) return QS_OK;
    if (f->fixed_block) memcpy(l->block, f->block, sizeof l->block);
    else if (r->explicit_block) memcpy(l->block, r->block, sizeof l->block);
    else qdevices_block(d, r->rank, r->domain, l->block);
    double positions = 1;
    for (int i = 0; i < r->rank; i++) positions *= l->block[i];
    if (positions <= d->max_block) return QS_OK;
    return qerr_set(qvm_ctx(run->vm), QS_EVALUE, "kernel %s: a block of %g positions is too large; %s allows %d",
                    f->name->s, positions, qdev_name(d), d->max_block);
}

/* Refuses to record a launch if a compiled-in value is traced: it is a constant of the code and has no derivative. */
static qs_status check_known(const KernelRun *k) {
    for (int i = 0; qtape_is_on(k->run.vm) && i < k->form->base.nentries; i++)
        if (k->form->base.entries[i].value_known && qtape_is_recorded(k->run.vm, captured_given(k, i)))
            return qtrace(k->run.vm)->refuse(k->run.vm, k->request->site.fn->name->s,
                                             "the size of one of its arrays depends on what a derivative is asked of");
    return QS_OK;
}

/* Draws the key of the launch for random numbers, if the kernel uses any. */
static void draw_key(KernelRun *k) {
    bool draws = false;
    for (int i = 0; i < qlaunch_func(&k->run)->nparams; i++) draws |= k->form->binds[i].source == KLOWER_RANDOM;
    if (!draws) return;
    const RandomStream *from = qvm_random(k->run.vm);
    uint32_t block[4];
    qrandom_block(from->seed, from->drawn, block);
    k->key[0] = block[0], k->key[1] = block[1];
    qvm_drew(k->run.vm, 1);
}

/* -- launching ----------------------------------------------------------------------------------------------------- */
/* Waits for the launch, and writes what it has printed, also if it fails. */
static qs_status run_and_print(KernelRun *k) {
    qs_vm *vm = k->run.vm;
    const size_t size = PRINT_ROOM * sizeof *k->log;
    k->log = qmem_alloc(qvm_ctx(vm), size), k->run.late = false;
    qs_status s = qlaunch_run(&k->run);
    if (s == QS_OK) s = qprint_write(vm, k->form, k->log);
    qmem_free(qvm_ctx(vm), k->log, size);
    return s;
}

static qs_status run_kernel(KernelRun *k, const Request *r) {
    Run *run = &k->run;
    run->form = &k->form->base, run->which = 0, run->optional = false, run->late = true, run->device = k->form->device;
    run->bind = bind_params, run->fit = fit_block, run->unrecorded = false;
    TRY(check_known(k));
    run->launch.rank = r->rank, run->launch.any_block = !k->form->uses_blocks && !r->serial;
    run->positions = 1;
    for (int i = 0; i < r->rank; i++) {
        run->launch.domain[i] = r->domain[i], run->launch.block[i] = 1;
        run->positions *= (double)r->domain[i];
    }
    run->steps = run->form->version[0].nloops ? INFINITY : run->positions * qlaunch_func(run)->nins;
    draw_key(k);
    TRY(k->form->nprints ? run_and_print(k) : qlaunch_run(run));
    const KFunc *f = qlaunch_func(run);
    if (run->fault.message) qrecord_stop(run);
    TRY(qrecord_end(run, 0, NULL));
    return run->fault.message ? qlaunch_fault(run, (Where){f->src, run->fault.pos}) : QS_OK;
}

bool qkernel_sets(const Param *p) { return klower_special(p->name) >= 0; }

qs_status qkernel_of(qs_vm *vm, qs_value v, bool partial, int nargs, const qs_value *args, Function **out) {
    Function *set = v.kind == QS_FUNCTION ? v.u.p : NULL;
    *out = set && set->fkind == FN_SCRIPT ? set : NULL;
    if (!set || set->fkind != FN_SET) return QS_OK;
    const CallArgs all = {.nin = nargs, .in = (qs_value *)(uintptr_t)args};
    return qcall_select(vm, set, &all, &(LaunchRules){qkernel_sets, partial}, out);
}

static void report_beyond(qs_vm *vm, Kernel *k, const Func *f, int beyond) {
    k->reported = true;
    qreport_explain(vm, qast_where(f->unit, f->pos),
                    "kernel %s: the launch covers the leading %d of its %d dimensions, as the position has %d "
                    "component%s",
                    f->name->s, k->positions, k->positions + beyond, k->positions, k->positions > 1 ? "s" : "");
}

/* Warns if a single number is the size for a kernel with more dimensions.  A list of sizes may omit trailing extents of
 * 1, as size(x) does. */
static qs_status warn_of_number(qs_vm *vm, const Kernel *k, const Func *f) {
    return qwarn_at(qvm_ctx(vm), qvm_here(vm),
                    "the launch has one dimension, and the position of kernel %s has %d: "
                    "only the first one counts, the others are 0",
                    f->name->s, k->positions);
}

/* Calls fn for each cell of arrays, and each field of cells of objects, that the kernel writes to. */
static qs_status each_written(qs_vm *vm, const KernelSpecialization *form, const Packed *p,
                              qs_status (*fn)(qs_vm *, const Packed *, int, bool)) {
    const KFunc *f = form->base.version[0].func;
    for (int i = 0; i < f->nparams; i++) {
        if (form->binds[i].source < 0) continue;
        const Captured *e = &form->base.entries[form->binds[i].source];
        bool written = f->params[i].kind == KP_ARRAY && f->params[i].written && e->from == FROM_LOCAL;
        if (written && (e->index >= p->n || p->inner[e->index])) TRY(fn(vm, p, e->index, e->own));
    }
    return QS_OK;
}

/* -- fields of single objects that the kernel sets ----------------------------------------------------------------- */
static bool is_own_field(const Captured *e) { return e->own && e->from == FROM_FIELD; }

static qs_status check_object_alone(const KernelRun *k, int entry) {
    const Captured *e = k->form->base.entries, *own = &e[entry];
    const Object *o = k->values[own->parent].u.p;
    bool twice = k->request->packed && qpack_has_object(k->request->packed, o);
    for (int i = 0; i < k->form->base.nentries; i++)
        twice |= i != entry && e[i].from == FROM_FIELD && e[i].index == own->index && k->values[e[i].parent].u.p == o;
    if (!twice) return QS_OK;
    return qs_fail(k->run.vm, QS_EVALUE, "kernel %s: it sets field %s of an object that enters the launch twice",
                   k->request->site.fn->name->s, own->name->s);
}

/* Gives the launch arrays of its own in place of the fields that the kernel sets; *n: the number of entries seen. */
static qs_status take_fields(KernelRun *k, int *n) {
    for (*n = 0; *n < k->form->base.nentries; ++*n) {
        const Captured *e = &k->form->base.entries[*n];
        if (!is_own_field(e)) continue;
        TRY(check_object_alone(k, *n));
        TRY(qpack_field(k->run.vm, k->values[e->parent].u.p, e->index, &k->values[*n]));
    }
    return QS_OK;
}

static qs_status give_fields(KernelRun *k, int n, bool back) {
    qs_status s = QS_OK;
    for (int i = 0; i < n; i++) {
        const Captured *e = &k->form->base.entries[i];
        if (!is_own_field(e)) continue;
        if (back && s == QS_OK) s = qpack_field_back(k->run.vm, k->values[e->parent].u.p, e->index, k->values[i]);
        qval_release(k->run.vm, k->values[i]);
    }
    return s;
}

/* Runs the kernel, and gives objects what it has written, also after an error. */
static qs_status run_with_objects(KernelRun *k, const Request *r) {
    const Packed *p = r->packed;
    int n;
    if (p) TRY(each_written(k->run.vm, k->form, p, qpack_alone));
    qs_status s = take_fields(k, &n);
    bool ran = s == QS_OK;
    if (ran) s = run_kernel(k, r);
    qs_status back = give_fields(k, n, ran);
    if (ran && p && back == QS_OK) back = each_written(k->run.vm, k->form, p, qpack_back);
    return s != QS_OK ? s : back;
}

/* Launches with cells of arrays and of objects packed into arrays. */
static qs_status launch_packed(qs_vm *vm, Kernel *kernel, Request *r, KernelRun *k) {
    Packed p;
    TRY(qpack_open(vm, r->nargs, r->site.locals, &p));
    if (p.args) r->site.locals = p.args, r->packed = &p;
    qs_status s = find_form(vm, &kernel->forms, r, &k->form, k->values);
    if (s == QS_OK) s = run_with_objects(k, r);
    qpack_close(vm, &p);
    return s;
}

qs_status qkernel_do(qs_vm *vm, bool serial, int nin, const qs_value *in) {
    const char *fn = serial ? "serial_do" : "parallel_do";
    Request r = {.serial = serial, .site = {.locals = in + 1}, .nargs = nin - 2};
    KernelRun k; /* not initialized, because it is large */
    k.run.vm = vm, k.run.chosen = false, k.request = &r;
    if (nin < 2) return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: the size, arguments and a kernel are wanted", fn);
    TRY(qkernel_of(vm, in[nin - 1], false, r.nargs, in + 1, &r.site.fn));
    if (!r.site.fn)
        return qerr_set(qvm_ctx(vm), QS_ETYPE, "%s: the last argument must be a kernel function, got %s", fn,
                        qval_type_name(vm, in[nin - 1]));
    TRY(read_domain(vm, fn, in[0], &r));
    Kernel *kernel = kernel_for(vm, r.site.fn->ast);
    if (is_empty(&r)) return QS_OK;
    if (qvm(vm)->reach) TRY(qkernel_reached(vm, r.site.fn, r.nargs, r.site.locals));
    if (r.rank == 1 && kernel->positions > 1) TRY(warn_of_number(vm, kernel, r.site.fn->ast));
    int beyond = fit_domain(&r, kernel->positions);
    if (beyond && !kernel->reported) report_beyond(vm, kernel, r.site.fn->ast, beyond);
    return launch_packed(vm, kernel, &r, &k);
}

/* Returns the number of position components; if it is not declared, the rank of the largest array. */
static int rank_of(const Kernel *k, int nargs, const qs_value *in) {
    int most = 1;
    for (int i = 0; i < nargs; i++)
        if (in[i].kind == QS_ARRAY && ((const Array *)in[i].u.p)->rank > most) most = ((const Array *)in[i].u.p)->rank;
    return k->positions > 0 ? k->positions : most;
}

qs_status qkernel_find(qs_vm *vm, Function *fn, int nargs, const qs_value *in, KernelSpecialization **out,
                       qs_value *values) {
    Request r = {.site = {fn, in}, .nargs = nargs};
    Kernel *kernel = kernel_for(vm, fn->ast);
    r.rank = rank_of(kernel, nargs, in);
    for (int i = 0; i < r.rank; i++) r.domain[i] = 3;
    return find_form(vm, &kernel->forms, &r, out, values);
}

qs_status qkernel_compile(qs_vm *vm, Function *fn, int nargs, const qs_value *in) {
    KernelSpecialization *form;
    qs_value *values = qmem_alloc(qvm_ctx(vm), MAX_ENTRIES * sizeof *values);
    qs_status s = qkernel_find(vm, fn, nargs, in, &form, values);
    if (s == QS_OK) s = qdevprog_compile_ahead(vm, form->base.version[0].func);
    qmem_free(qvm_ctx(vm), values, MAX_ENTRIES * sizeof *values);
    return s;
}
