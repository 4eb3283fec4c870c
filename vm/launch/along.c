/* along.c -- reductions of arrays that a device has (vm/array/there.h), by kernels of lang/kernel/host/along.h.
 *
 * An array that a GPU holds stays there: each stage makes several parts of each result, until there is one.  How many
 * is a matter of extents and layout alone, so results have the same bits each time, though others than the host's. */
#include "lang/kernel/host/along.h"
#include "lang/kernel/ir/sem.h"
#include "vm/array/device_math.h"
#include "vm/array/there.h"
#include "vm/grad/tape.h"
#include "vm/launch/run.h"

#include <stdlib.h>
#include <string.h>

/* Positions that keep a GPU busy; of a group, for short and for long walks; what a position takes at least. */
enum { POSITIONS = 1 << 17, GROUPS = 1 << 10, SMALL = 32, LARGE = 256, LONG = 512, SHORT = 16, LEAST = 8 };

typedef struct { Form base; AlongKey key; } AlongForm;

typedef struct {
    AlongKey key;
    Array *x, *centres, *y;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK], n, step, parts;
    double by;
} Stage;

typedef struct { Run run; const Stage *s; } Launching;

/* -- forms --------------------------------------------------------------------------------------------------------- */
static bool same_key(const AlongKey *a, const AlongKey *b) {
    return a->name == b->name && a->op == b->op && a->from == b->from && a->lane == b->lane && a->to == b->to &&
           a->rank == b->rank && a->group == b->group && a->squares == b->squares && a->centred == b->centred &&
           a->divided == b->divided && a->root == b->root;
}

static qs_status find_form(qs_vm *vm, const AlongKey *key, AlongForm **out) {
    KFunc *func;
    Launches *l = qlaunch_state(vm);
    for (Form *f = l->along.first; f; f = f->next)
        if (same_key(&((AlongForm *)f)->key, key)) return *out = (AlongForm *)f, QS_OK;
    AlongForm *f = *out = qform_new(vm, &l->along, sizeof *f, "");
    f->key = *key;
    qs_status s = kalong_build(qvm_ctx(vm), &f->base.arena, key, &func);
    if (s != QS_OK) return qform_drop_first(vm, &l->along), s;
    return qform_set(&f->base, 0, func), QS_OK;
}

/* -- a stage ------------------------------------------------------------------------------------------------------- */
static int64_t results_of(const Stage *s) {
    int64_t n = 1;
    for (int d = 0; d < s->key.rank; d++) n *= s->dims[d];
    return n;
}

/* Extents of 1 are left away, and dimensions that lie behind each other are one. */
static void take_results(Stage *s, int rank, const int64_t *dims, const int64_t *strides) {
    int n = 0;
    for (int d = 0; d < rank; d++) {
        if (dims[d] == 1) continue;
        bool joins = n > 0 && s->strides[n - 1] == strides[d] * dims[d];
        if (joins) s->dims[n - 1] *= dims[d], s->strides[n - 1] = strides[d];
        else s->dims[n] = dims[d], s->strides[n++] = strides[d];
    }
    if (n == 0) s->dims[n] = 1, s->strides[n++] = 0;
    s->key.rank = (uint8_t)n;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t shared(int64_t n, int64_t by) { return (n + by - 1) / by; }

static void share_out(Stage *s) {
    int64_t results = results_of(s), beside = llabs(s->strides[s->key.rank - 1]);
    bool grouped = s->n > SHORT && (results == 1 || llabs(s->step) < beside);
    s->key.group = (uint16_t)(!grouped ? 0 : s->n <= LONG ? SMALL : LARGE);
    int64_t wanted = (grouped ? GROUPS : POSITIONS) / results;
    s->parts = least(shared(s->n, grouped ? LEAST * s->key.group : SHORT), wanted > 1 ? wanted : 1);
}

static void set_packed(DevArg *a, int rank) {
    int64_t step = 1;
    a->rank = rank;
    for (int d = rank - 1; d >= 0; d--) a->strides[d] = step, step *= a->dims[d];
}

static qs_status bind(Run *run) {
    const Stage *s = ((Launching *)run)->s;
    Binding *b = &run->bound;
    int rank = s->key.rank, group = s->key.group, n = 0;
    size_t bytes = (size_t)rank * sizeof *s->dims;
    DevArg *x = qbind_array(b, n++, s->x, QS_READ);
    memcpy(x->dims, s->dims, bytes), memcpy(x->strides, s->strides, bytes);
    x->dims[rank] = s->n, x->strides[rank] = s->step, x->rank = rank + 1;
    if (s->key.centred) {
        DevArg *centres = qbind_array(b, n++, s->centres, QS_READ);
        memcpy(centres->dims, s->dims, bytes), set_packed(centres, rank);
    }
    DevArg *y = qbind_array(b, n++, s->y, QS_WRITE);
    memcpy(y->dims + !group, s->dims, bytes);
    y->dims[group ? rank : 0] = s->parts, set_packed(y, rank + 1);
    qbind_number(b, n++, (uint64_t)(group ? s->parts * group : s->parts), 8);
    if (s->key.divided) qbind_number(b, n, (KSlot){.F64 = s->by}.bits, 8);
    return QS_OK;
}

static void set_launch(const Stage *s, Launch *l) {
    int rank = s->key.rank, group = s->key.group;
    *l = (Launch){.rank = rank + 1, .any_block = !group};
    memcpy(l->domain + !group, s->dims, (size_t)rank * sizeof *s->dims);
    l->domain[group ? rank : 0] = group ? s->parts * group : s->parts;
    for (int d = 0; d <= rank; d++) l->block[d] = group && d == rank ? group : 1;
}

static qs_status launch(qs_vm *vm, const Stage *s, Device *d) {
    Launching now;
    AlongForm *form;
    Run *r = &now.run;
    TRY(find_form(vm, &s->key, &form));
    now.s = s;
    r->vm = vm, r->form = &form->base, r->which = 0, r->late = false, r->unrecorded = true;
    r->device = d, r->bind = bind, r->fit = NULL;
    set_launch(s, &r->launch);
    r->positions = r->steps = (double)results_of(s) * (double)s->n;
    return qlaunch_here(r);
}

/* -- all stages ---------------------------------------------------------------------------------------------------- */
static AlongKey key_of(const Along *a) {
    static const uint8_t ops[] = {[LOOP_ADD] = ALONG_ADD, [LOOP_MUL] = ALONG_MUL, [LOOP_MIN] = ALONG_MIN,
                                  [LOOP_MAX] = ALONG_MAX, [LOOP_OR] = ALONG_OR, [LOOP_AND] = ALONG_AND};
    return (AlongKey){.name = a->name, .op = ops[a->op], .from = a->x->dtype,
                      .lane = (uint8_t)(a->lane == QS_B1 ? QS_I32 : a->lane), .squares = a->squares,
                      .centred = a->centres != NULL};
}

/* What the stage before has left are the elements of the next one. */
static void go_on(const Along *a, Stage *s, Array *parts) {
    int64_t results = results_of(s);
    s->x = parts, s->n = s->parts;
    s->step = s->key.group ? 1 : results;
    take_results(s, 1, &results, (int64_t[]){s->key.group ? s->parts : 1});
    s->key.from = (uint8_t)a->lane, s->key.squares = s->key.centred = false;
}

static qs_status run_stage(qs_vm *vm, const Along *a, Stage *s, Device *d, Array **parts) {
    bool last = s->parts == 1;
    int64_t n = results_of(s) * s->parts;
    s->key.divided = last && a->by != 0, s->key.root = last && a->root;
    if (!last) TRY(qarr_new(vm, a->lane, 1, &n, false, parts));
    s->y = last ? a->y : *parts, s->key.to = s->y->dtype;
    return launch(vm, s, d);
}

static qs_status run_stages(qs_vm *vm, const Along *a, Device *d) {
    Stage s = {.key = key_of(a), .x = a->x, .centres = a->centres, .n = a->n, .step = a->step, .by = a->by};
    Array *parts = NULL, *before;
    qs_status status;
    take_results(&s, a->rank, a->dims, a->strides);
    do {
        share_out(&s);
        before = parts, parts = NULL;
        status = run_stage(vm, a, &s, d, &parts);
        if (before) qarr_release(vm, before);
        if (parts) go_on(a, &s, parts);
    } while (status == QS_OK && parts);
    if (parts) qarr_release(vm, parts);
    return status;
}

qs_status qalong_run(qs_vm *vm, const Along *a, bool *done) {
    Device *d = qdevmath_holder(vm, 1, (qs_value[]){qarr_value(a->x)});
    *done = false;
    if (!d) return QS_OK;
    if (qtape_forbids(vm, a->x)) return qtape_forbidden(vm);
    qs_status s = run_stages(vm, a, d);
    *done = s == QS_OK;
    return *done || qdevmath_refused(vm, d, a->name, a->x, s) ? QS_OK : s;
}
