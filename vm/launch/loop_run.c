/* loop_run.c -- binds the parameters of a loop version, launches it, and sets the variables afterwards. */
#include "vm/launch/loop_run.h"
#include "vm/launch/record.h"

#include "vm/array/contiguous.h"
#include "vm/base/warning.h"

#include <math.h>
#include <string.h>

/* -- parameters ---------------------------------------------------------------------------------------------------- */
static void bind_real(Call *c, int i, double x) { qbind_number(&c->run.bound, i, (KSlot){.F64 = x}.bits, 8); }
static void bind_int(Call *c, int i, int64_t x) { qbind_number(&c->run.bound, i, (KSlot){.I64 = x}.bits, 8); }

/* Returns the captured value with its trace. */
static qs_value captured_given(const Call *c, int source) {
    const Site site = {c->f->fn, c->f->base};
    if (source >= LOOP_MADE) return qs_nil();
    return qtape_is_on(c->vm) ? qcaptured_given(c->vm, &c->v->base.entries[source], &site, c->value) : qs_nil();
}

void qloop_bind_value(Binding *to, int i, qs_value v, const KParam *p, bool imaginary) {
    const Complex *z = v.u.p;
    const Str *text = v.u.p;
    if (v.kind == QS_STRING && p->kind == KP_NUM) qbind_number(to, i, (KSlot){.I64 = text->s[0]}.bits, 8);
    else if (v.kind == QS_STRING) qbind_text(to, i, text->s, text->len);
    else if (v.kind == QS_ARRAY) qbind_array(to, i, v.u.p, p->written ? QS_READWRITE : QS_READ);
    else if (v.kind == QS_COMPLEX) qbind_number(to, i, (KSlot){.F64 = imaginary ? z->im : z->re}.bits, 8);
    else if (p->dtype == QS_F64) qbind_number(to, i, (KSlot){.F64 = qval_number(v)}.bits, 8);
    else if (p->dtype == QS_B1) qbind_number(to, i, v.u.i != 0, 1);
    else qbind_number(to, i, (KSlot){.I64 = v.kind == QS_NUM ? (int64_t)v.u.f : v.u.i}.bits, 8);
}

static void bind_source(Call *c, int i, int source, const KParam *p, bool imaginary) {
    c->run.bound.origin[i] = (Origin){captured_given(c, source), imaginary};
    qloop_bind_value(&c->run.bound, i, c->value[source], p, imaginary);
}

static void bind_counter(Call *c, int i, const LoopBind *b, const KParam *p) {
    const Counter *k = &c->counters[b->index];
    double x = b->kind == LOOP_FIRST ? k->first : b->kind == LOOP_STEP ? k->step : qloop_last(k);
    if (b->kind == LOOP_ITERATIONS) bind_int(c, i, k->iterations);
    else if (p->dtype == QS_F64) bind_real(c, i, x);
    else bind_int(c, i, (int64_t)x);
}

/* The evaluator recurses in C. */
enum { EVALUATOR_FRAMES = 300 };

int64_t qloop_frames_left(qs_vm *vm, const Frame *f, const Device *d, int64_t regs) {
    const Machine *m = qvm(vm);
    int64_t frames = (int64_t)m->cap_frames - m->nframes;
    int64_t by_stack = (m->stack_limit - f->end) / (regs ? regs : 1) - 1;
    if (by_stack < frames) frames = by_stack;
    return d->ops->code == CODE_KIR && frames > EVALUATOR_FRAMES ? EVALUATOR_FRAMES : frames;
}

/* The same for the functions that the loop calls. */
static int64_t frames_of_call(const Call *c) {
    int64_t regs = c->f->proto->chunk.nregs;
    for (int i = 0; i < c->v->base.nentries; i++) {
        const Function *fn = c->value[i].kind == QS_FUNCTION ? c->value[i].u.p : NULL;
        const Proto *p = fn && fn->fkind == FN_SCRIPT ? fn->ast->machine : NULL;
        if (p && p->chunk.nregs > regs) regs = p->chunk.nregs;
    }
    return qloop_frames_left(c->vm, c->f, qloop_processor(c->vm), regs);
}

static void bind_list(Call *c, int i, int source) {
    qbind_memory(&c->run.bound, i, qloop_list_items(c, source), qloop_list_room(c, source));
}

static void bind_column(Call *c, int i, int column) {
    int64_t count;
    void *values = qloop_column(c, column, &count);
    qbind_memory(&c->run.bound, i, values, count);
}

/* A scan has no sums. */
static void bind_sums(Call *c, int i, int number) {
    double *sums = c->sums[number];
    qbind_memory(&c->run.bound, i, sums ? sums : c->parts, sums ? c->nchunks * qloop_sum_count(c, number) : 0);
}

static void bind_all(Call *c, const LoopCode *code) {
    Binding *to = &c->run.bound;
    for (int i = 0; i < code->func->nparams; i++) {
        const LoopBind *b = &code->binds[i];
        const KParam *p = &code->func->params[i];
        to->origin[i] = (Origin){qs_nil(), 0};
        switch ((LoopBindKind)b->kind) {
        case LOOP_SOURCE:
        case LOOP_SNAPSHOT:
        case LOOP_IMAGINARY: bind_source(c, i, b->index, p, b->kind == LOOP_IMAGINARY); break;
        case LOOP_REALS: qbind_memory(to, i, c->reals, RESULTS + LOOP_NOTES); break;
        case LOOP_INTS: qbind_memory(to, i, c->ints, RESULTS); break;
        case LOOP_PARTS: qbind_memory(to, i, c->parts, PARTS * LOOP_CHUNKS); break;
        case LOOP_SUMS: bind_sums(c, i, b->index); break;
        case LOOP_LIST_ITEMS: bind_list(c, i, b->index); break;
        case LOOP_NUMBER: bind_int(c, i, qloop_object_number(c, b->index)); break;
        case LOOP_COLUMN: bind_column(c, i, b->index); break;
        case LOOP_OBJECT_COUNT: bind_int(c, i, qloop_object_count(c, b->index)); break;
        case LOOP_LIST_COUNT: bind_int(c, i, (int64_t)((const Cell *)c->value[b->index].u.p)->count); break;
        case LOOP_CHUNK: bind_int(c, i, c->chunk); break;
        case LOOP_SEED: bind_int(c, i, (int64_t)qvm_random(c->vm)->seed); break;
        case LOOP_FRAMES: bind_int(c, i, frames_of_call(c)); break;
        case LOOP_DRAWN: bind_int(c, i, (int64_t)qvm_random(c->vm)->drawn); break;
        default: bind_counter(c, i, b, p); break;
        }
    }
}

bool qloop_is_recorded(const Call *c) {
    for (int i = 0; i < c->v->base.nentries; i++)
        if (qtape_is_recorded(c->vm, captured_given(c, i))) return true;
    return false;
}

static qs_status bind_params(Run *run) {
    Call *c = (Call *)run;
    return bind_all(c, qloop_code(c->v, (LoopVersion)run->which)), QS_OK;
}

Array *qloop_array(const Call *c, const LoopBind *b) {
    if (b->kind != LOOP_SOURCE && b->kind != LOOP_SNAPSHOT) return NULL;
    qs_value v = c->value[b->index];
    return v.kind == QS_ARRAY ? v.u.p : NULL;
}

/* -- made arrays --------------------------------------------------------------------------------------------------- */
_Static_assert((int)MAX_ENTRIES <= (int)LOOP_MADE, "sources of captured arrays");

bool qloop_make_arrays(Call *c) {
    const LoopResult *code = &c->v->code;
    for (; c->nmade < code->nmade; c->nmade++) {
        const Array *like = c->value[code->made[c->nmade]].u.p;
        Array *a;
        if (qarr_new(c->vm, (qs_dtype)like->dtype, like->rank, like->dims, false, &a) != QS_OK)
            return qerr_clear(qvm_ctx(c->vm)), false;
        qarr_keep(a, like->ndim);
        c->value[LOOP_MADE + c->nmade] = qarr_value(a);
    }
    return true;
}

void qloop_release_arrays(Call *c) {
    while (c->nmade) qval_release(c->vm, c->value[LOOP_MADE + --c->nmade]);
}

/* -- preconditions ------------------------------------------------------------------------------------------------- */
/* Does the array of parameter i share memory with another one that is written? */
static bool meets_written(const Call *c, const LoopCode *code, int i) {
    const Array *a = qloop_array(c, &code->binds[i]);
    if (!code->func->params[i].read && !code->func->params[i].written) return false; /* only its extents are used */
    for (int k = 0; a && k < code->func->nparams; k++) {
        const Array *b = k != i && code->func->params[k].written ? qloop_array(c, &code->binds[k]) : NULL;
        if (b && qbuf_overlap(b->buf, a->buf)) return true;
    }
    return false;
}

/* Checks that a written array shares memory with no other array, and that its elements do not overlap. */
bool qloop_apart(const Call *c, const LoopCode *code) {
    for (int i = 0; i < code->func->nparams; i++) {
        const Array *a = qloop_array(c, &code->binds[i]);
        if (a && code->func->params[i].written && !a->contiguous) return false;
        if (meets_written(c, code, i)) return false;
    }
    return true;
}

bool qloop_vectors_apart(const Call *c) {
    const LoopCode *code = &c->v->code.exact;
    for (int i = 0; i < code->func->nparams; i++)
        if ((c->v->code.apart || code->binds[i].kind == LOOP_SNAPSHOT) && meets_written(c, code, i)) return false;
    return true;
}

bool qloop_vecs_plain(const Call *c) {
    for (int i = 0; i < c->v->base.nentries; i++) {
        const Array *a = c->value[i].kind == QS_ARRAY ? c->value[i].u.p : NULL;
        if (a && a->rank == 1 && a->ndim != 1) return false;
    }
    return true;
}

static int64_t extent_along(const Array *a, int axis) {
    if (a->ndim < 2) return (int64_t)a->count;
    return axis < a->ndim ? a->dims[axis] : 1;
}

int qloop_length_limit(const Call *c, bool sums) {
    const LoopResult *r = &c->v->code;
    for (int i = 0; i < r->nlimits; i++) {
        if (r->limits[i].most == QCONTIG_BLOCK && !sums) continue;
        const LoopLimit *l = &r->limits[i];
        const Array *a = qloop_array(c, &r->exact.binds[l->param]);
        int64_t n = 1;
        for (int d = 0; a && d < l->naxes; d++) n *= extent_along(a, l->axis[d]);
        if (n > l->most || l->any) return l->most;
    }
    return 0;
}

/* Checks that an object whose fields are set has only one name in the loop. */
bool qloop_objects_apart(const Call *c) {
    const LoopResult *code = &c->v->code;
    for (int i = 0; i < code->nouts; i++) {
        const LoopOut *o = &code->outs[i];
        for (int k = 0; o->object >= 0 && k < c->v->base.nentries; k++) {
            bool other = k != o->object && c->value[k].kind == QS_OBJECT;
            if (other && c->value[k].u.p == c->value[o->object].u.p) return false;
        }
    }
    return true;
}

qs_status qloop_guard(Call *c, const LoopCode *g) {
    KPrepared **prepared = g == &c->v->code.guard ? &c->v->guard : &c->v->quick_guard;
    KArg args[MAX_PARAMS];
    KLaunch l = {.rank = 1, .domain = {1}, .block = {1}};
    KFault fault = {0};
    c->run.bound.nlocked = 0;
    bind_all(c, g);
    for (int i = 0; i < g->func->nparams; i++) {
        const DevArg *a = &c->run.bound.arg[i];
        bool memory = a->is_array && !c->run.bound.array[i];
        args[i] = (KArg){.data = memory ? (void *)(uintptr_t)a->block : NULL, .bits = a->is_array ? 0 : a->bits};
        for (int d = 0; a->is_array && d < a->rank; d++)
            args[i].dims[d] = a->dims[d], args[i].strides[d] = a->strides[d];
    }
    if (!*prepared) *prepared = keval_prepare(&c->v->base.arena, g->func);
    return keval_run_prepared(qvm_ctx(c->vm), *prepared, args, &l, &fault, NULL);
}

/* -- after the launch ---------------------------------------------------------------------------------------------- */
static qs_status vector_value(Call *c, const LoopOut *o, qs_value *out) {
    int64_t dims[2] = {o->columns ? o->length / o->columns : o->length, o->columns};
    qs_dtype d = qvm_ctx(c->vm)->scalar_dtype;
    Array *a;
    void *p;
    if (c->reals[o->slot + o->length] != 0) d = QS_F64;
    TRY(qarr_new(c->vm, d, o->columns ? 2 : 1, dims, false, &a));
    *out = qarr_value(a);
    for (int i = 0; i < c->v->base.nentries && i < LOOP_TWO; i++)
        if (o->like & LOOP_LIKE(i) && c->ndim[i]) qarr_keep(a, c->ndim[i]);
    if (o->like & LOOP_LIKE(LOOP_TWO)) qarr_keep(a, 2);
    TRY(qarr_write(c->vm, a, &p));
    for (int i = 0; i < o->length; i++)
        if (a->dtype == QS_F64) ((double *)p)[i] = c->reals[o->slot + i];
        else ((float *)p)[i] = (float)c->reals[o->slot + i];
    return QS_OK;
}

static qs_value mixed_value(const Call *c, const LoopOut *o) {
    int kind = (int)c->reals[o->slot + 1];
    if (kind == LOOP_INT) return qs_int(c->ints[o->int_slot]);
    return kind == LOOP_BOOL ? qs_bool(c->reals[o->slot] != 0) : qs_num(c->reals[o->slot]);
}

static qs_status character_value(Call *c, double code, qs_value *out) {
    const char text[1] = {(char)code};
    Str *s = qstr_new(qvm_ctx(c->vm), text, 1);
    return *out = s ? qval_object(QS_STRING, s) : qs_nil(), s ? QS_OK : QS_ENOMEM;
}

static qs_status result_value(Call *c, const LoopOut *o, qs_value *out) {
    switch ((LoopKind)o->kind) {
    case LOOP_INT: *out = qs_int(c->ints[o->slot]); return QS_OK;
    case LOOP_ITEM: return qloop_object(c, o->cls, c->ints[o->slot], out);
    case LOOP_BOOL: *out = qs_bool(c->reals[o->slot] != 0); return QS_OK;
    case LOOP_MIXED: *out = mixed_value(c, o); return QS_OK;
    case LOOP_CHAR: return character_value(c, c->reals[o->slot], out);
    case LOOP_COMPLEX: return qval_complex(c->vm, c->reals[o->slot], c->reals[o->slot + 1], out);
    case LOOP_VECTOR: return vector_value(c, o, out);
    default: *out = qs_num(c->reals[o->slot]); return QS_OK;
    }
}

static bool was_set(const Call *c, const LoopOut *o) { return o->given < 0 || c->reals[o->given] != 0; }

/* Returns how many slots of `reals` the variable consists of. */
static int parts_of(const LoopOut *o) {
    return o->kind == LOOP_NUM || o->kind == LOOP_MIXED ? 1
           : o->kind == LOOP_COMPLEX                    ? 2
           : o->kind == LOOP_VECTOR                     ? o->length
                                                        : 0;
}

/* Records the loop: each real result gets its trace. */
static qs_status record_results(Call *c, qs_value *part) {
    const LoopResult *code = &c->v->code;
    const LoopCode *ran = qloop_code(c->v, (LoopVersion)c->run.which);
    Extracted from[RESULTS];
    int n = 0, reals = 0;
    while (reals < ran->func->nparams && ran->binds[reals].kind != LOOP_REALS) reals++;
    for (int i = 0; reals < ran->func->nparams && i < code->nouts; i++)
        for (int k = 0; was_set(c, &code->outs[i]) && k < parts_of(&code->outs[i]); k++) {
            int slot = code->outs[i].slot + k;
            part[slot] = qs_num(c->reals[slot]);
            from[n++] = (Extracted){reals, slot, &part[slot]};
        }
    return qrecord_end(&c->run, n, from);
}

static qs_status traced_vector(Call *c, const LoopOut *o, qs_value *part, qs_value plain, qs_value *out) {
    Array *a = qval_array(plain), *traced;
    int64_t at[LOOP_VECTOR_MAX];
    NodeShape s = {.dtype = (qs_dtype)a->dtype, .ndim = a->ndim, .rank = a->rank};
    memcpy(s.dims, a->dims, sizeof s.dims);
    for (int i = 0; i < o->length; i++) at[i] = i;
    qs_status st = qslice_put(c->vm, &s, o->length, at, part + o->slot, &traced);
    qval_release(c->vm, plain);
    if (st == QS_OK) *out = qarr_value(traced);
    return st;
}

/* part NULL: the loop is not recorded. */
static qs_status variable_value(Call *c, const LoopOut *o, qs_value *part, qs_value *out) {
    qs_value plain;
    if (part && o->kind == LOOP_COMPLEX) return qelementwise_apply(c->vm, EL_complex, 2, part + o->slot, out);
    bool number = o->kind == LOOP_NUM || (o->kind == LOOP_MIXED && (int)c->reals[o->slot + 1] == LOOP_NUM);
    if (part && number) return *out = qval_retain(part[o->slot]), QS_OK;
    TRY(result_value(c, o, &plain));
    if (part && o->kind == LOOP_VECTOR) return traced_vector(c, o, part, plain, out);
    return *out = plain, QS_OK;
}

/* Saves ndim of the captured arrays; setting a variable may release the last reference to one. */
static void note_dimensions(Call *c) {
    for (int i = 0; i < c->v->base.nentries && i < LOOP_TWO; i++)
        c->ndim[i] = c->value[i].kind == QS_ARRAY ? qval_array(c->value[i])->ndim : 0;
}

_Static_assert((int)LOOP_MADE + LOOP_MADE_MOST < (int)LOOP_FIRST_NEW, "numbers of captured and made arrays");
/* The number of the array of a vector (loop_alias.c). */
static double array_number(const Call *c, const LoopOut *o) {
    bool array = o->kind == LOOP_VECTOR || o->kind == LOOP_ARRAY;
    return array && was_set(c, o) ? c->reals[o->slot + o->length + 1] : 0;
}

static bool is_same_object(const Call *c, const LoopOut *a, const LoopOut *b) {
    return b->kind == LOOP_ITEM && b->cls == a->cls && was_set(c, b) && c->ints[b->slot] == c->ints[a->slot];
}

/* The value of variable i, which may be the array that it had before, or that an earlier variable has. */
static qs_status shared_value(Call *c, int i, qs_value *part, qs_value *value) {
    const LoopOut *outs = c->v->code.outs;
    double number = array_number(c, &outs[i]);
    if (number < 0) return value[i] = qval_retain(c->value[(int)(-1 - number)]), QS_OK;
    for (int k = 0; number > 0 && k < i; k++)
        if (array_number(c, &outs[k]) == number) return value[i] = qval_retain(value[k]), QS_OK;
    for (int k = 0; outs[i].kind == LOOP_ITEM && k < i; k++)
        if (is_same_object(c, &outs[i], &outs[k])) return value[i] = qval_retain(value[k]), QS_OK;
    return variable_value(c, &outs[i], part, &value[i]);
}

static qs_status put_value(Call *c, const LoopOut *o, qs_value v) {
    if (o->object >= 0) return qobj_set(c->vm, c->value[o->object].u.p, o->sym->name, v);
    return qinterp_put(c->vm, qloop_storage(c->vm, c->f, o->sym), qval_retain(v)), QS_OK;
}

static qs_status put_variables(Call *c, qs_value *part) {
    const LoopResult *code = &c->v->code;
    qs_value value[RESULTS];
    qs_status s = QS_OK;
    int n = 0;
    note_dimensions(c);
    for (; n < code->nouts && s == QS_OK; n++) {
        value[n] = qs_nil();
        if (was_set(c, &code->outs[n])) s = shared_value(c, n, part, value);
    }
    for (int i = 0; i < n && s == QS_OK; i++)
        if (was_set(c, &code->outs[i])) s = put_value(c, &code->outs[i], value[i]);
    for (int i = 0; i < n; i++) qval_release(c->vm, value[i]);
    return s;
}

static qs_status set_variables(Call *c) {
    qs_value part[RESULTS];
    if (!c->run.recorded) return put_variables(c, NULL);
    for (int i = 0; i < RESULTS; i++) part[i] = qs_nil();
    qs_status s = record_results(c, part);
    if (s == QS_OK) s = put_variables(c, part);
    for (int i = 0; i < RESULTS; i++) qval_release(c->vm, part[i]);
    return s;
}

/* Sets counters, which the parallel version does not store. */
static void set_counters(Call *c) {
    const LoopResult *code = &c->v->code;
    for (int i = 0; i < code->nouts; i++) {
        const LoopOut *o = &code->outs[i];
        if (!o->counter) continue;
        const Counter *of = &c->counters[o->counter - 1];
        c->reals[o->slot] = qloop_last(of) + (c->loop->u.loop.origin ? of->step : 0);
        if (o->given >= 0) c->reals[o->given] = 1;
    }
}

static void note_drawn(Call *c, LoopVersion which) {
    const LoopResult *code = &c->v->code;
    if (code->drawn < 0) return;
    if (which == PARALLEL) qvm_drew(c->vm, (uint64_t)(code->draws * c->counters[0].iterations));
    else qvm_drew(c->vm, (uint64_t)c->ints[code->drawn] - qvm_random(c->vm)->drawn);
}

/* The warning that came first of those that are left; -1: none. */
static int next_warning(const Call *c) {
    const double *due = c->reals + LOOP_NOTE;
    int first = -1;
    for (int i = 0; i < c->v->code.nnotes; i++)
        if (due[i] != 0 && (first < 0 || due[i] < due[first])) first = i;
    return first;
}

static qs_status emit_warnings(Call *c) {
    for (int i; (i = next_warning(c)) >= 0; c->reals[LOOP_NOTE + i] = 0) {
        const LoopNote *n = &c->v->code.notes[i];
        Where w = qast_where(n->func->unit, n->pos);
        TRY(n->slip == SLIP_PLACE ? qwarn_location(qvm_ctx(c->vm), w, n->name, n->rank)
                                  : qwarn_slip(qvm_ctx(c->vm), w, (Slip)n->slip));
    }
    return QS_OK;
}

/* Copies of arrays may take this time in nanoseconds, plus the time of the iterations of a compiled loop with a call,
 * or of its steps, with inner loops.  So copies at most double the time of the loop. */
static const double short_copy = 1e4, copy_per_iteration = 20, copy_per_step = 0.5;

bool qloop_keep(Call *c, LoopVersion which) {
    const LoopCode *code = qloop_code(c->v, which);
    double iterations = isfinite(c->iterations) ? copy_per_iteration * c->iterations : 0;
    double cost = 0, most = short_copy + fmax(iterations, copy_per_step * c->steps);
    c->undo.n = 0;
    if (c->v->code.aborted < 0 && !qloop_speculates(c, which)) return true;
    for (int i = 0; i < code->func->nparams; i++) {
        Array *a = code->func->params[i].written ? qloop_array(c, &code->binds[i]) : NULL;
        if (!a || code->binds[i].index >= LOOP_MADE) continue;
        cost += qundo_cost(a);
        if (cost <= most && qundo_keep(c->vm, &c->undo, a) == QS_OK) continue;
        if (cost <= most) qerr_clear(qvm_ctx(c->vm));
        return qundo_free(c->vm, &c->undo), false;
    }
    return true;
}

bool qloop_was_aborted(const Call *c) { return c->v->code.aborted >= 0 && c->reals[c->v->code.aborted] != 0; }

static bool was_deoptimized(const Call *c, LoopVersion which) {
    if (!qloop_speculates(c, which)) return false;
    return which == PARALLEL ? c->run.fault.message != 0 : c->reals[c->v->code.deoptimized] != 0;
}

static void count_untaken(Call *c, int part) {
    const double *taken = c->parts + part * LOOP_CHUNKS;
    for (c->untaken = 0; c->untaken < c->nchunks && taken[c->untaken] == 0;) c->untaken++;
}

static qs_status finish_run(Call *c, bool *again) {
    LoopVersion which = (LoopVersion)c->run.which;
    bool failed = c->run.fault.message, chunked = which == PARALLEL && c->v->code.chunked;
    if (was_deoptimized(c, which)) {
        c->v->ndeoptimized++, *again = true;
        (void)qloop_get_columns(c);
        return qrecord_drop(&c->run), qundo_take_back(c->vm, &c->undo);
    }
    if (qloop_was_aborted(c)) return *again = false, qundo_take_back(c->vm, &c->undo);
    if (which == PARALLEL && c->v->code.rare_part >= 0) count_untaken(c, c->v->code.rare_part);
    if (c->untaken < c->nchunks) return *again = true, qrecord_drop(&c->run), QS_OK;
    *again = which == PARALLEL && (failed || (chunked && !qloop_reduce(c)));
    if (*again) return qrecord_drop(&c->run), QS_OK; /* nothing was changed */
    if (failed) qrecord_stop(&c->run);
    qs_status s = chunked ? qloop_add_sums(c) : QS_OK;
    if (s != QS_OK) return qrecord_drop(&c->run), s;
    if (which == PARALLEL) set_counters(c);
    note_drawn(c, which);
    qloop_put_columns(c);
    TRY(set_variables(c));
    TRY(qloop_put_lists(c));
    TRY(emit_warnings(c));
    return failed ? qloop_fault(c) : QS_OK;
}

/* Estimates the instructions of a run.  The loops that make up the region have known counts; with further loops inside,
 * the estimate is INFINITY. */
static double steps_of(const Call *c, LoopVersion which, double positions) {
    const Version *v = &c->v->base.version[which];
    bool side_by_side = which == PARALLEL && !c->v->code.chunked;
    uint32_t own = side_by_side || c->loop->kind != N_FOR ? 0 : (uint32_t)c->loop->u.loop.nvars;
    return v->nloops > own ? INFINITY : v->func->nins * (side_by_side ? positions : c->iterations);
}

/* Versions set only the slots of the ways in which they can end. */
static void clear_ends(Call *c) {
    const LoopResult *code = &c->v->code;
    const int slots[] = {code->returned, code->aborted, code->deoptimized};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (slots[i] >= 0) c->reals[slots[i]] = 0;
}

static void begin_run(Call *c, Device *d, LoopVersion which, const Launch *l) {
    Run *r = &c->run;
    r->form = &c->v->base, r->which = (int)which, r->optional = true, r->device = d, r->chosen = false;
    r->bind = bind_params, r->fit = NULL, r->unrecorded = r->late = false;
    bool chunked = c->v->code.chunked || which == SCAN;
    r->launch = *l, r->launch.any_block = which >= PARALLEL;
    r->positions = chunked ? c->iterations : 1;
    for (int i = 0; !chunked && i < l->rank; i++) r->positions *= (double)l->domain[i];
    r->steps = steps_of(c, which, r->positions);
}

qs_status qloop_run(Call *c, Device *d, LoopVersion which, const Launch *l, bool *again) {
    begin_run(c, d, which, l);
    memset(c->reals + LOOP_NOTE, 0, LOOP_NOTES * sizeof *c->reals);
    clear_ends(c);
    c->untaken = c->nchunks;
    TRY(qlaunch_run(&c->run));
    return finish_run(c, again);
}

qs_status qloop_scan(Call *c) {
    const Launch l = {.rank = 1, .domain = {c->nchunks}, .block = {1}};
    begin_run(c, NULL, SCAN, &l);
    TRY(qlaunch_run(&c->run));
    return count_untaken(c, 0), QS_OK;
}
