/* axis_launch.c -- launches reductions and scans of arrays that a device has (vm/array/device_ops.h), with the
 * kernels of lang/kernel/lower/fusion/axis_kernel.h.
 *
 * The array stays on the GPU. Each stage of a reduction computes several partial results per result, until one is
 * left.  Their number depends on extents and layout alone, so results have the same bits each time, but not those of
 * the host. */
#include "lang/kernel/lower/fusion/axis_kernel.h"
#include "vm/array/device_math.h"
#include "vm/array/device_ops.h"
#include "vm/launch/run.h"
#include "vm/value/trace.h"

#include <stdlib.h>
#include <string.h>

/* Number of positions that keep a GPU busy; number of groups; group sizes for short and long reductions; axis lengths
 * that separate them; minimum elements per position. */
enum { POSITIONS = 1 << 17, GROUPS = 1 << 10, SMALL = 32, LARGE = 256, LONG = 512, SHORT = 16, LEAST = 8 };

typedef struct {
    AlongKey key;
    Array *x, *centres, *y, *before[2];
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK], n, step;
    int64_t y_strides[QS_MAX_RANK], y_step; /* strides of a scan's results */
    int64_t parts, length;                  /* number of pieces, and elements per piece */
    int64_t parts_of[2], per; /* for a scan: number of prefix results at each level, and pieces per stretch */
    double by;
} Stage;

typedef struct {
    Run run;
    const Stage *s;
} Launching;

/* -- a stage ------------------------------------------------------------------------------------------------------- */
static int64_t results_of(const Stage *s) {
    int64_t n = 1;
    for (int d = 0; d < s->key.rank; d++) n *= s->dims[d];
    return n;
}

/* Sets the result dimensions: drops extents of 1, and merges dimensions that are adjacent in memory. */
static void take_results(Stage *s, int rank, const int64_t *dims, const int64_t *strides, const int64_t *y) {
    int n = 0;
    for (int d = 0; d < rank; d++) {
        if (dims[d] == 1) continue;
        bool joins = n > 0 && s->strides[n - 1] == strides[d] * dims[d] && s->y_strides[n - 1] == y[d] * dims[d];
        if (joins) s->dims[n - 1] *= dims[d], n--;
        else s->dims[n] = dims[d];
        s->strides[n] = strides[d], s->y_strides[n++] = y[d];
    }
    if (n == 0) s->dims[n] = 1, s->y_strides[n] = 0, s->strides[n++] = 0;
    s->key.rank = (uint8_t)n;
}

/* Sets the dimensions for results that are contiguous in both arrays. */
static void take_packed(Stage *s, int64_t results, int64_t step) { take_results(s, 1, &results, &step, &step); }

static int64_t lesser_of(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

static void share_out(Stage *s) {
    int64_t results = results_of(s), beside = llabs(s->strides[s->key.rank - 1]);
    bool grouped = s->n > SHORT && (results == 1 || llabs(s->step) < beside);
    s->key.group = (uint16_t)(!grouped ? 0 : s->n <= LONG ? SMALL : LARGE);
    int64_t wanted = (grouped ? GROUPS : POSITIONS) / results;
    s->parts = lesser_of(divide_up(s->n, grouped ? LEAST * s->key.group : SHORT), wanted > 1 ? wanted : 1);
}

static void set_packed(DevArg *a, int rank) {
    int64_t step = 1;
    a->rank = rank;
    for (int d = rank - 1; d >= 0; d--) a->strides[d] = step, step *= a->dims[d];
}

static qs_status bind_stage(Run *run) {
    const Stage *s = ((Launching *)run)->s;
    Binding *b = &run->bound;
    int rank = s->key.rank, group = s->key.group, n = 0;
    size_t bytes = (size_t)rank * sizeof *s->dims;
    DevArg *x = qbind_array(b, n++, s->x, QS_READ);
    memcpy(x->dims, s->dims, bytes), memcpy(x->strides, s->strides, bytes);
    x->dims[rank] = s->n, x->strides[rank] = s->step, x->rank = rank + 1;
    if (s->key.centred || s->key.logarithm || s->key.map == MAP_INDEX) {
        DevArg *centres = qbind_array(b, n++, s->centres, QS_READ);
        memcpy(centres->dims, s->dims, bytes), set_packed(centres, rank);
    }
    DevArg *y = qbind_array(b, n++, s->y, QS_WRITE);
    memcpy(y->dims + !group, s->dims, bytes);
    y->dims[group ? rank : 0] = s->parts, set_packed(y, rank + 1);
    if (s->key.running) {
        memcpy(y->dims, s->dims, bytes), memcpy(y->strides, s->y_strides, bytes);
        y->dims[rank] = s->n, y->strides[rank] = s->y_step;
    }
    qbind_number(b, n++, (uint64_t)(s->key.pieces ? s->length : group ? s->parts * group : s->parts), 8);
    if (s->key.divided) qbind_number(b, n++, (KSlot){.F64 = s->by}.bits, 8);
    for (int i = 0; i < s->key.before; i++) {
        DevArg *before = qbind_array(b, n++, s->before[i], QS_READ);
        before->dims[0] = s->parts_of[i], memcpy(before->dims + 1, s->dims, bytes), set_packed(before, rank + 1);
    }
    if (s->key.before) qbind_number(b, n, (uint64_t)s->per, 8);
    return QS_OK;
}

static void set_launch(const Stage *s, Launch *l) {
    int rank = s->key.rank, group = s->key.group;
    *l = (Launch){.rank = rank + 1, .any_block = !group};
    memcpy(l->domain + !group, s->dims, (size_t)rank * sizeof *s->dims);
    l->domain[group ? rank : 0] = group ? s->parts * group : s->parts;
    for (int d = 0; d <= rank; d++) l->block[d] = group && d == rank ? group : 1;
}

static qs_status build_stage(Ctx *c, Arena *arena, const void *key, KFunc **out) {
    return kaxis_build(c, arena, key, out);
}

static qs_status launch_stage(qs_vm *vm, const Stage *s, Device *d) {
    Launching now;
    Specialization *form;
    Run *r = &now.run;
    TRY(qspec_find(vm, &qlaunch_state(vm)->along, &s->key, sizeof s->key, build_stage, &form));
    now.s = s;
    r->vm = vm, r->form = form, r->which = 0, r->late = false, r->unrecorded = true;
    r->device = d, r->bind = bind_stage, r->fit = NULL;
    set_launch(s, &r->launch);
    r->positions = r->steps = (double)results_of(s) * (double)s->n;
    return qlaunch_here(r);
}

/* -- all stages ---------------------------------------------------------------------------------------------------- */
static AlongKey key_of(const AxisOp *a) {
    return (AlongKey){.name = a->name,
                      .combine = (uint8_t)a->combine,
                      .map = (uint8_t)a->map,
                      .from = a->x->dtype,
                      .lane = (uint8_t)(a->lane == QS_B1 ? QS_I32 : a->lane),
                      .centred = a->centres && a->map != MAP_INDEX};
}

/* The next stage reduces the partial results of the previous one. */
static void go_on(const AxisOp *a, Stage *s, Array *parts) {
    int64_t results = results_of(s);
    s->x = parts, s->n = s->parts;
    s->step = s->key.group ? 1 : results;
    take_packed(s, results, s->key.group ? s->parts : 1);
    s->key.from = (uint8_t)a->lane, s->key.map = MAP_SELF, s->key.centred = false;
}

static qs_status run_stage(qs_vm *vm, const AxisOp *a, Stage *s, Device *d, Array **parts) {
    bool last = s->parts == 1;
    int64_t n = results_of(s) * s->parts;
    s->key.divided = last && a->by != 0, s->key.root = last && a->root, s->key.logarithm = last && a->logarithm;
    s->key.found = last && a->map == MAP_INDEX;
    if (!last) TRY(qarr_new(vm, a->lane, 1, &n, false, parts));
    s->y = last ? a->y : *parts, s->key.to = s->y->dtype;
    return launch_stage(vm, s, d);
}

static qs_status run_stages(qs_vm *vm, const AxisOp *a, Device *d) {
    Stage s = {.key = key_of(a), .x = a->x, .centres = a->centres, .n = a->n, .step = a->step, .by = a->by};
    Array *parts = NULL, *before;
    qs_status status;
    take_results(&s, a->rank, a->dims, a->strides, a->strides);
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

/* -- scans --------------------------------------------------------------------------------------------------------- */
/* Minimum elements per piece; number of pieces up to which one position per result scans the totals. */
enum { PIECE = 16, FEW = 64 };

static qs_status run_pieces(qs_vm *vm, Stage *s, Device *d, int64_t length, Array *y) {
    s->length = length, s->parts = divide_up(s->n, length);
    s->y = y, s->key.to = y->dtype;
    return launch_stage(vm, s, d);
}

/* Computes the total of each piece as *out; s then describes these totals. */
static qs_status total_pieces(qs_vm *vm, Stage *s, Device *d, int64_t length, Array **out) {
    int64_t results = results_of(s), n = results * divide_up(s->n, length);
    s->key.running = false;
    TRY(qarr_new(vm, (qs_dtype)s->key.lane, 1, &n, false, out));
    TRY(run_pieces(vm, s, d, length, *out));
    take_packed(s, results, 1);
    s->x = *out, s->n = s->parts, s->step = s->y_step = results, s->key.from = s->key.lane;
    return QS_OK;
}

/* Scans the input of s, within stretches of `length`, into *out. */
static qs_status run_within(qs_vm *vm, Stage *s, Device *d, int64_t length, Array **out) {
    int64_t n = (int64_t)s->x->count;
    s->key.running = true;
    TRY(qarr_new(vm, (qs_dtype)s->key.lane, 1, &n, false, out));
    return run_pieces(vm, s, d, length, *out);
}

static int64_t root_of(int64_t n) {
    int64_t r = 1;
    while (r * r < n) r++;
    return r;
}

/* Scans a long axis.  A few positions with many elements each would not keep a GPU busy, so each piece has its own
 * position.  The prefix of a piece is known after the totals of all pieces are scanned, in stretches if there are many.
 * A result is the prefix of its stretch, plus the prefix of its piece within the stretch, plus the sum within the
 * piece: the last result of a piece is exactly the prefix of the next one. */
static qs_status run_long(qs_vm *vm, const Stage *whole, Device *d, Array *room[4], Array *y) {
    Stage s = *whole, pieces, last = *whole;
    int64_t wanted = POSITIONS / results_of(&s), length = divide_up(s.n, wanted > 1 ? wanted : 1);
    if (length < PIECE) length = PIECE;
    TRY(total_pieces(vm, &s, d, length, &room[0]));
    pieces = s, last.per = s.n, last.before[0] = last.before[1] = NULL, last.key.before = 1;
    if (s.n > FEW) {
        last.per = root_of(s.n), last.key.before = 2;
        TRY(total_pieces(vm, &s, d, last.per, &room[1]));
        TRY(run_within(vm, &s, d, s.n, &room[2]));
    }
    TRY(run_within(vm, &pieces, d, last.per, &room[3]));
    last.before[0] = room[3], last.before[1] = room[2];
    last.parts_of[0] = pieces.n, last.parts_of[1] = s.n;
    last.key.running = true;
    return run_pieces(vm, &last, d, length, y);
}

static qs_status run_along(qs_vm *vm, const AxisOp *a, Device *d) {
    Stage s = {.key = key_of(a), .x = a->x, .n = a->n, .step = a->step, .y_step = a->y_step};
    Array *room[4] = {NULL};
    s.key.pieces = s.key.running = true;
    take_results(&s, a->rank, a->dims, a->strides, a->y_strides);
    if (s.n <= 2 * PIECE || results_of(&s) >= POSITIONS / 2) return run_pieces(vm, &s, d, s.n, a->y);
    qs_status status = run_long(vm, &s, d, room, a->y);
    for (int i = 0; i < 4; i++)
        if (room[i]) qarr_release(vm, room[i]);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------------ */
qs_status qaxisop_run(qs_vm *vm, const AxisOp *a, bool *done) {
    Device *d = qdevmath_holder(vm, 2, (qs_value[]){qarr_value(a->x), qarr_value(a->beside ? a->beside : a->x)});
    *done = false;
    if (!d) return QS_OK;
    if (qtape_forbids(vm, a->x)) return qtrace(vm)->forbidden(vm);
    qs_status s = a->y_strides ? run_along(vm, a, d) : run_stages(vm, a, d);
    *done = s == QS_OK;
    return *done || qdevmath_refused(vm, d, a->name, a->x, s) ? QS_OK : s;
}
