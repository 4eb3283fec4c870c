/* kernel_footprint.c -- determines how far a kernel reads around its position (lang/kernel/autodiff/footprint.c).
 *
 * The kernel is specialized for the values as a launch would do it, and the analysis runs on its code.  Nothing is
 * launched.
 *
 *     halo(kernel, x, null, 2)     an argument that is null or omitted has its declared type and an unknown value
 *     halo(function, x, 2)         calls the function and analyzes each kernel that it launches.  A kernel may read
 *                                  what another one has written, so the distances are added.  The backward pass of a
 *                                  launch also reads around its positions */
#include "lang/kernel/autodiff/autodiff.h"
#include "vm/launch/kernel_internal.h"
#include "vm/launch/record.h"

#include <math.h>
#include <string.h>

enum { ARGS = 32 };
typedef struct {
    qs_vm *vm;
    Function *fn;
    qs_value arg[ARGS];
    bool made[ARGS];  /* created here for the declared type */
    bool fixed[ARGS]; /* that type fixes the extents, too */
    const Str *name[ARGS];
    int n;
} Asked;

struct KernelReach {
    int launches, rank;
    int64_t reach[QS_MAX_RANK];
    unsigned modes; /* one bit per AccessMode used for reads around a position */
};

static qs_status fill_argument(Asked *a, const Param *p, int param, qs_value given) {
    const Func *f = a->fn->ast;
    int i = a->n;
    a->name[i] = p->name, a->arg[i] = qs_nil();
    if (given.kind != QS_NIL) return a->arg[i] = qval_retain(given), a->n++, QS_OK;
    const Type *t = p->type ? qvm_param_type(a->vm, f, param) : NULL;
    if (!qaot_sample(a->vm, t, &a->arg[i]))
        return qerr_at(qvm_ctx(a->vm), QS_ETYPE, (Where){f->unit->src, p->pos},
                       "halo: parameter %s of kernel %s has no declared type: its argument is wanted", p->name->s,
                       f->name->s);
    a->made[i] = true, a->fixed[i] = t->nfixed > 0;
    return a->n++, QS_OK;
}

static qs_status collect_arguments(Asked *a, int nin, const qs_value *in) {
    const Func *f = a->fn->ast;
    int taken = 0;
    for (int i = 0; i < f->nparams; i++) {
        if (qkernel_sets(&f->params[i])) continue;
        if (a->n == ARGS) return qerr_set(qvm_ctx(a->vm), QS_EVALUE, "halo: %d arguments at most are possible", ARGS);
        TRY(fill_argument(a, &f->params[i], i, taken < nin ? in[taken] : qs_nil()));
        taken++;
    }
    if (nin <= taken) return QS_OK;
    return qerr_set(qvm_ctx(a->vm), QS_ETYPE, "halo: kernel %s takes %d arguments, got %d", f->name->s, taken, nin);
}

/* Returns the argument that contains the entry; -1: it is not part of an argument. */
static int argument_of(const Specialization *f, int entry) {
    while (f->entries[entry].parent >= 0) entry = f->entries[entry].parent;
    return f->entries[entry].from == FROM_LOCAL ? f->entries[entry].index : -1;
}

static bool is_made(const Asked *a, const Specialization *f, int entry) {
    int arg = argument_of(f, entry);
    return arg >= 0 && a->made[arg];
}

/* A compiled-in value must not come from a sample argument, which only has the right type. */
static qs_status check_known(const Asked *a, const Specialization *f) {
    for (int i = 0; i < f->nentries; i++) {
        if (!is_made(a, f, i)) continue;
        int arg = argument_of(f, i);
        if (f->entries[i].value_known || (f->entries[i].dims_known && !a->fixed[arg]))
            return qerr_set(qvm_ctx(a->vm), QS_EVALUE, "halo: kernel %s depends on %s, which has to be given",
                            a->fn->ast->name->s, a->name[arg]->s);
    }
    return QS_OK;
}

static double number_of(qs_vm *vm, qs_value v, int part) {
    if (v.kind == QS_ARRAY) return qkey_element(vm, v.u.p, (size_t)part); /* passed by value */
    return v.kind == QS_COMPLEX ? NAN : qval_number(v);
}

static void give_values(const Asked *a, const KernelSpecialization *form, const qs_value *values, KGiven *out) {
    const KFunc *f = form->base.version[0].func;
    for (int i = 0; i < f->nparams; i++) {
        const KBind *b = &form->binds[i];
        if (!(out[i].known = b->source >= 0)) continue;
        qs_value v = values[b->source];
        DevArg fitted;
        bool own = form->base.entries[b->source].own; /* what the kernel makes of it is not known */
        if (!(out[i].known = !own && !is_made(a, &form->base, b->source))) continue;
        if (f->params[i].kind == KP_NUM) {
            out[i].number = number_of(a->vm, v, b->part);
            continue;
        }
        memcpy(fitted.dims, ((const Array *)v.u.p)->dims, sizeof fitted.dims);
        qkernel_fit_rank(v.u.p, f->params[i].rank, &fitted);
        memcpy(out[i].dims, fitted.dims, sizeof out[i].dims);
    }
}

/* -- results ------------------------------------------------------------------------------------------------------- */
static qs_status reach_value(qs_vm *vm, int rank, const int64_t *reach, qs_value *out) {
    double x[QS_MAX_RANK];
    Array *a;
    for (int d = 0; d < rank; d++) x[d] = (double)reach[d];
    TRY(qarr_from_doubles(vm, x, (size_t)rank, &a));
    return *out = qarr_value(a), QS_OK;
}

/* Returns the word for what the kernel does with an argument. */
static const char *word(const KFootprintParam *p) {
    switch ((KFootprintRole)p->role) {
    case KROLE_TABLE: return "table";
    case KROLE_READ: return qaccess_name((AccessMode)p->mode);
    case KROLE_WRITTEN: return "written";
    case KROLE_CHANGED: return "changed";
    case KROLE_NONE: break;
    }
    return "";
}

static qs_status words_value(const Asked *a, const KernelSpecialization *form, const KFootprint *h, qs_value *out) {
    const char *said[ARGS];
    qs_value text[ARGS];
    int n = 0;
    for (int i = 0; i < a->n; i++) said[i] = "";
    for (int i = 0; i < form->base.version[0].func->nparams; i++) {
        int arg = form->binds[i].source < 0 ? -1 : argument_of(&form->base, form->binds[i].source);
        if (arg >= 0 && h->param[i].role != KROLE_NONE) said[arg] = word(&h->param[i]);
    }
    qs_status s = QS_OK;
    while (s == QS_OK && n < a->n)
        if ((s = qs_string(a->vm, said[n], strlen(said[n]), &text[n])) == QS_OK) n++;
    if (s == QS_OK) s = qs_cell(a->vm, n, text, out);
    while (n-- > 0) qval_release(a->vm, text[n]);
    return s;
}

/* Adds the footprint of a kernel, `times` times, to the sum of the function that launches it. */
static qs_status add_reach(const KFunc *f, const KFootprint *h, int times, KernelReach *sum) {
    if (sum->launches++ && sum->rank != h->rank)
        return qerr_set(f->ctx, QS_EVALUE,
                        "halo: the kernels that are launched have positions of %d and of %d dimensions", sum->rank,
                        h->rank);
    sum->rank = h->rank;
    for (int d = 0; d < h->rank; d++) sum->reach[d] += times * h->reach[d];
    for (int i = 0; i < f->nparams; i++)
        if (h->param[i].shifted) sum->modes |= 1u << h->param[i].mode;
    return QS_OK;
}

typedef struct {
    int nout;
    qs_value *out;
    KernelReach *sum;
} Wanted; /* sum: adds to it; otherwise the results are script values */

static qs_status answer(const Asked *a, const KernelSpecialization *form, const qs_value *values, const Wanted *w) {
    const KFunc *f = form->base.version[0].func;
    Arena scratch;
    KFootprint halo;
    TRY(check_known(a, &form->base));
    qarena_init(&scratch, qvm_ctx(a->vm));
    KGiven *given = qarena_alloc(&scratch, qmem_size((size_t)f->nparams, sizeof *given, sizeof *given));
    give_values(a, form, values, given);
    qs_status s = kfootprint_find(&scratch, kir_without_log(&scratch, f), given, &halo);
    if (s == QS_OK) s = w->sum ? add_reach(f, &halo, 1, w->sum) : reach_value(a->vm, halo.rank, halo.reach, w->out);
    if (s == QS_OK && w->nout > 1) s = words_value(a, form, &halo, &w->out[1]);
    qarena_free(&scratch);
    return s;
}

static qs_status ask_kernel(qs_vm *vm, Function *fn, int nin, const qs_value *in, const Wanted *w) {
    Asked a = {.vm = vm, .fn = fn};
    Ctx *c = qvm_ctx(vm);
    KernelSpecialization *form;
    qs_value *values = qmem_alloc(c, MAX_ENTRIES * sizeof *values);
    qs_status s = collect_arguments(&a, nin, in);
    if (s == QS_OK) s = qkernel_find(vm, fn, a.n, a.arg, &form, values);
    if (s == QS_OK) s = answer(&a, form, values, w);
    qmem_free(c, values, MAX_ENTRIES * sizeof *values);
    while (a.n-- > 0) qval_release(vm, a.arg[a.n]);
    return s;
}

/* -- launches ------------------------------------------------------------------------------------------------------ */
static qs_status so_given(qs_vm *vm, qs_status s) {
    if (s == QS_EVALUE || s == QS_ETYPE)
        qerr_more(qvm_ctx(vm), ", so the halo of a function that launches it has to be given");
    return s;
}

qs_status qkernel_reached(qs_vm *vm, Function *fn, int nargs, const qs_value *args) {
    return so_given(vm, ask_kernel(vm, fn, nargs, args, &(Wanted){.sum = qvm(vm)->reach}));
}

qs_status qkernel_unreached(qs_vm *vm, const char *fn) {
    if (!qvm(vm)->reach) return QS_OK;
    return qerr_set(qvm_ctx(vm), QS_EVALUE,
                    "halo: how far %s reads is not known, so the halo of a function that calls it has to be given", fn);
}

/* -- backward passes ----------------------------------------------------------------------------------------------- */
/* A launch of a kernel, or of a gradient pass derived from one; its first parameters are those of the kernel. */
typedef struct {
    const GradNode *node;
    const Recorded *rec;
    const KFunc *kernel;
    KFootprint halo;
} Swept;

static const GradientForm *around(const Specialization *f) { return (const GradientForm *)f->of; }

static const Specialization *kernel_of(const Specialization *f, int *which) {
    for (; f->of; f = around(f)->base.of) *which = around(f)->which;
    return f;
}

static bool reads_contents(const Swept *w, const KGrad *g) {
    for (int i = 0; i < g->nparams; i++)
        if (g->param[i].needed && (i >= w->kernel->nparams || w->halo.param[i].role != KROLE_TABLE)) return true;
    return false;
}

/* Returns how often the footprint counts for a backward pass.  The adjoint of an element is a sum over the positions
 * that read it, and each term reads around its position: twice the distance, for higher derivatives too.  The terms of
 * a linear kernel contain only adjoints, which are at these positions: once. */
static int count_passes(const Swept *w) {
    const Specialization *f = w->rec->form;
    bool twice = reads_contents(w, &w->rec->gradient->code);
    for (; f->of; f = around(f)->base.of) twice |= reads_contents(w, &around(f)->code);
    return twice ? 2 : 1;
}

static void give_recorded(const Swept *w, KGiven *out) {
    for (int i = 0; i < w->kernel->nparams; i++) {
        const RecordedParam *p = &w->rec->param[i];
        out[i].known = true;
        if (p->array) memcpy(out[i].dims, p->extent, (size_t)p->rank * sizeof *p->extent);
        else out[i].number = qdtype_get((qs_dtype)w->kernel->params[i].dtype, &p->bits);
    }
}

/* Refuses a derivative that is a sum over all positions, because it includes positions of other blocks. */
static qs_status check_sums(const Swept *w) {
    const KFunc *f = w->kernel;
    for (int i = 0; i < f->nparams; i++) {
        const KParam *p = &f->params[i];
        int input = w->rec->param[i].input;
        bool own = p->kind == KP_ARRAY && p->rank >= f->rank && w->halo.param[i].role != KROLE_TABLE;
        if (input >= 0 && w->node->in[input] && !own)
            return qerr_set(f->ctx, QS_EVALUE,
                            "halo: the derivative of kernel %s with respect to %s is a sum over its positions",
                            f->name->s, p->name->s);
    }
    return QS_OK;
}

qs_status qkernel_swept(qs_vm *vm, const GradNode *n) {
    Swept w = {.node = n, .rec = n->data};
    int which = w.rec->which;
    const Specialization *kernel = kernel_of(w.rec->form, &which);
    /* loops and expressions are not analyzed in the forward direction either */
    if (!qvm(vm)->reach || !*kernel->noun) return QS_OK;
    w.kernel = kernel->version[which].func;
    Arena scratch;
    qarena_init(&scratch, qvm_ctx(vm));
    KGiven *given = qarena_alloc(&scratch, qmem_size((size_t)w.kernel->nparams, sizeof *given, sizeof *given));
    give_recorded(&w, given);
    qs_status s = kfootprint_find(&scratch, kir_without_log(&scratch, w.kernel), given, &w.halo);
    if (s == QS_OK) s = check_sums(&w);
    if (s == QS_OK) s = add_reach(w.kernel, &w.halo, count_passes(&w), qvm(vm)->reach);
    qarena_free(&scratch);
    return so_given(vm, s);
}

/* -- functions ----------------------------------------------------------------------------------------------------- */
static qs_status modes_value(qs_vm *vm, unsigned modes, qs_value *out) {
    qs_value text[ACC__COUNT];
    int n = 0;
    qs_status s = QS_OK;
    for (int m = 0; m < ACC__COUNT && s == QS_OK; m++) {
        const char *name = qaccess_name((AccessMode)m);
        if (modes >> m & 1 && (s = qs_string(vm, name, strlen(name), &text[n])) == QS_OK) n++;
    }
    if (s == QS_OK) s = qs_cell(vm, n, text, out);
    while (n-- > 0) qval_release(vm, text[n]);
    return s;
}

static qs_status ask_function(qs_vm *vm, int nin, const qs_value *in, int nout, qs_value *out) {
    KernelReach sum = {0}, *outer = qvm(vm)->reach;
    qs_value y = qs_nil();
    qvm(vm)->reach = &sum;
    qs_status s = qvm_call(vm, in[0], nin - 1, in + 1, nout > 2 ? 1 : -1, &y);
    qvm(vm)->reach = outer;
    if (s == QS_OK) s = reach_value(vm, sum.rank, sum.reach, out);
    if (s == QS_OK && nout > 1) s = modes_value(vm, sum.modes, &out[1]);
    if (s == QS_OK && nout > 2) return out[2] = y, QS_OK;
    return qval_release(vm, y), s;
}

static qs_status no_function(qs_vm *vm, qs_value v) {
    return qerr_set(qvm_ctx(vm), QS_ETYPE, "halo: a kernel or a function is wanted, got %s", qval_type_name(vm, v));
}

qs_status qkernel_halo(qs_vm *vm, int nin, const qs_value *in, int nout, qs_value *out) {
    Function *fn;
    TRY(qkernel_of(vm, in[0], true, nin - 1, in + 1, &fn));
    if (in[0].kind != QS_FUNCTION && in[0].kind != QS_FOREIGN) return no_function(vm, in[0]);
    if (!fn || fn->ast->qual != Q_KERNEL) return ask_function(vm, nin, in, nout, out);
    return ask_kernel(vm, fn, nin - 1, in + 1, &(Wanted){.nout = nout, .out = out});
}
