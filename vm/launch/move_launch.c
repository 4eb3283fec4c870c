/* move_launch.c -- copies elements on the device that has the arrays (vm/array/device_ops.h), with the kernels of
 * lang/kernel/lower/fusion/gather_scatter.h. */
#include "lang/kernel/lower/fusion/gather_scatter.h"
#include "vm/array/device_math.h"
#include "vm/array/device_ops.h"
#include "vm/launch/run.h"
#include "vm/value/trace.h"

#include <string.h>

typedef struct {
    Run run;
    CarryKey key;
    const ElementMove *c;
    Array *from;
    int64_t dims[QS_MAX_RANK], from_steps[QS_MAX_RANK], to_steps[QS_MAX_RANK];
    int64_t mask_steps[QS_MAX_RANK];
    int64_t extents[QS_MAX_RANK]; /* extents on the side that is indexed by the lists */
    Array *list[QS_MAX_RANK];     /* index lists; NULL: evenly spaced */
} Carrying;

/* -- element types and dimensions ---------------------------------------------------------------------------------- */
/* Moves elements of one type as integers of their size, so that every bit is preserved. */
static uint8_t as_moved(qs_dtype d, qs_dtype other) {
    static const uint8_t of[] = {[1] = QS_U8, [2] = QS_U16, [4] = QS_U32, [8] = QS_U64, [16] = QS_C128};
    return d == other ? of[qdtype_size(d)] : (uint8_t)d;
}

/* Merges dimensions that are adjacent in memory on both sides; a dimension with a list is kept. */
static void take_dims(Carrying *w) {
    const ElementMove *c = w->c;
    bool listed = true; /* does the previous dimension have a list? */
    int n = 0;
    for (int d = 0; d < c->rank; d++) {
        bool has_list = c->lists && c->lists[d];
        if (c->dims[d] == 1 && !has_list) continue;
        int64_t mask_step = c->mask ? c->mask_steps[d] : 0;
        bool joins = n && !listed && !has_list && w->from_steps[n - 1] == c->from_steps[d] * c->dims[d] &&
                     w->to_steps[n - 1] == c->to_steps[d] * c->dims[d] &&
                     w->mask_steps[n - 1] == mask_step * c->dims[d];
        if (joins) w->dims[n - 1] *= c->dims[d], n--;
        else w->dims[n] = c->dims[d];
        w->from_steps[n] = c->from_steps[d], w->to_steps[n] = c->to_steps[d];
        w->mask_steps[n] = mask_step;
        w->extents[n] = has_list ? c->extents[d] : w->dims[n];
        w->list[n++] = has_list ? c->lists[d] : NULL, listed = has_list;
    }
    if (!n) {
        w->dims[0] = w->extents[0] = 1, w->list[n++] = NULL;
        w->mask_steps[0] = w->from_steps[0] = w->to_steps[0] = 0;
    }
    w->key.rank = (uint8_t)n;
    for (int d = 0; d < n; d++) w->key.listed |= (uint8_t)((w->list[d] != NULL) << d);
}

static int64_t count_of(const ElementMove *c) {
    int64_t n = 1;
    for (int d = 0; d < c->rank; d++) n *= c->dims[d];
    return n;
}

/* Is all memory of the target written, so that nothing in it must be preserved? */
static bool is_whole(const ElementMove *c) {
    bool stays = (c->lists && c->into) || c->mask;
    return !stays && (size_t)count_of(c) == c->to->count &&
           c->to->buf->nbytes == c->to->count * qdtype_size((qs_dtype)c->to->dtype);
}

/* -- the launch ---------------------------------------------------------------------------------------------------- */
static qs_status bind_move(Run *run) {
    const Carrying *w = (Carrying *)run;
    Binding *b = &run->bound;
    const ElementMove *c = w->c;
    int n = 0;
    size_t bytes = w->key.rank * sizeof *w->dims;
    DevArg *x = qbind_array(b, n++, w->from, QS_READ);
    x->rank = w->key.rank, x->offset += (size_t)(c->from_at * (int64_t)qdtype_size((qs_dtype)w->from->dtype));
    memcpy(x->dims, c->into ? w->dims : w->extents, bytes), memcpy(x->strides, w->from_steps, bytes);
    DevArg *y = qbind_array(b, n++, c->to, is_whole(c) ? QS_WRITE : QS_READWRITE);
    y->rank = w->key.rank, y->offset += (size_t)(c->to_at * (int64_t)qdtype_size((qs_dtype)c->to->dtype));
    memcpy(y->dims, c->into ? w->extents : w->dims, bytes), memcpy(y->strides, w->to_steps, bytes);
    if (c->mask) {
        DevArg *mask = qbind_array(b, n++, c->mask, QS_READ);
        mask->rank = w->key.rank;
        memcpy(mask->dims, w->dims, bytes), memcpy(mask->strides, w->mask_steps, bytes);
    }
    for (int d = 0; d < w->key.rank; d++)
        if (w->list[d]) qbind_array(b, n++, w->list[d], QS_READ);
    return QS_OK;
}

static qs_status build_move(Ctx *c, Arena *arena, const void *key, KFunc **out) {
    return kgatherscatter_build(c, arena, key, out);
}

static qs_status launch_move(qs_vm *vm, Carrying *w, Device *d) {
    Specialization *form;
    Run *r = &w->run;
    TRY(qspec_find(vm, &qlaunch_state(vm)->carries, &w->key, sizeof w->key, build_move, &form));
    r->vm = vm, r->form = form, r->which = 0, r->late = false, r->unrecorded = true, r->launched = false;
    r->device = d, r->bind = bind_move, r->fit = NULL;
    r->launch = (Launch){.rank = w->key.rank, .any_block = true};
    memcpy(r->launch.domain, w->dims, w->key.rank * sizeof *w->dims);
    r->positions = r->steps = (double)count_of(w->c);
    return qlaunch_here(r);
}

/* May the target be written on the device?  Yes if its value is there already, or if it has no value yet: transferring
 * a whole array for a few elements is not worthwhile. */
static bool may_be_written(qs_vm *vm, const ElementMove *c) {
    bool always = qdevmath_held(qvm(vm)) == HELD_ALWAYS;
    return always || is_whole(c) || qbuf_is_away(c->to->buf) || c->to->buf->unset;
}

/* Do kernels convert between these types as the host does?  They do to floats. */
static bool converts(qs_dtype from, qs_dtype to) {
    return from == to || (!qdtype_is_complex(from) && (to == QS_F32 || to == QS_F64));
}

qs_status qmovelaunch_on_device(qs_vm *vm, const ElementMove *c, bool *done) {
    Carrying w; /* not initialized, because it is large */
    qs_dtype from = (qs_dtype)c->from->dtype, to = (qs_dtype)c->to->dtype;
    *done = false;
    qs_value ends[] = {qarr_value(c->from), qarr_value(c->to), qarr_value(c->mask ? c->mask : c->to),
                       qarr_value(c->beside ? c->beside : c->to)};
    Device *d = qdevmath_holder(vm, 4, ends);
    if (c->mask && c->mask->buf == c->to->buf) return QS_OK;
    if (!d || !converts(from, to) || !may_be_written(vm, c) || c->from->buf == c->to->buf) return QS_OK;
    if (qtape_forbids(vm, c->from) || (c->mask && qtape_forbids(vm, c->mask))) return qtrace(vm)->forbidden(vm);
    w.c = c, w.from = c->from;
    w.key = (CarryKey){.from = as_moved(from, to),
                       .to = as_moved(to, from),
                       .into = c->into,
                       .from_one = c->from_one,
                       .masked = c->mask != NULL,
                       .mask = (uint8_t)(c->mask ? c->mask->dtype : 0)};
    take_dims(&w);
    qs_status s = launch_move(vm, &w, d);
    *done = s == QS_OK;
    return *done || qdevmath_refused(vm, d, c->name, c->from, s) ? QS_OK : s;
}
