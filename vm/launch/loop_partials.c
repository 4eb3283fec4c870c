/* loop_partials.c -- what the chunks of a loop have added up: copies of arrays for them, and putting the sums together.
 *
 * How many chunks there are depends on the turns alone, so a result does not change with the number of threads.  A
 * histogram gets a copy for each chunk.  Such a loop commits nothing until it is done: a test that fails in it throws
 * the work away, and the exact version runs. */
#include "vm/launch/loop_run.h"

#include "lang/kernel/ir/sem.h"
#include "vm/tape/tape.h"

#include <math.h>

static Array *sum_array(const Call *c, int number) { return c->value[c->v->code.sums[number]].u.p; }

int64_t qloop_sum_count(const Call *c, int number) { return (int64_t)sum_array(c, number)->count; }

static const char *sum_name(const Call *c, int number) {
    const LoopCode *p = &c->v->code.parallel;
    for (int i = 0; i < p->func->nparams; i++)
        if (p->binds[i].kind == LOOP_SOURCE && p->binds[i].index == c->v->code.sums[number])
            return p->func->params[i].name->s;
    return "an array";
}

/* The sums of an array are put off until the loop is done.  So nothing in it may read the array, nor add to the same
 * memory by another name. */
static bool is_alone(const Call *c, int number) {
    const LoopResult *code = &c->v->code;
    const Array *a = sum_array(c, number);
    for (int k = 0; k < number; k++)
        if (qbuf_overlap(sum_array(c, k)->buf, a->buf)) return false;
    for (int k = 0; k < code->parallel.func->nparams; k++) {
        const Array *b = qloop_array(c, &code->parallel.binds[k]);
        if (b && code->parallel.binds[k].index != code->sums[number] && qbuf_overlap(b->buf, a->buf)) return false;
    }
    return true;
}

static bool add_copies(Call *c, int number) {
    const Array *a = sum_array(c, number);
    size_t count = qmem_size(a->count, (size_t)c->nchunks, 0);
    bool large = (double)a->count * (double)c->nchunks > qloop_steps(c->vm, c->f, c->region) / 4;
    if (a->buf->readonly || !is_alone(c, number))
        return qloop_because(c, "%s shares its memory, or is read-only", sum_name(c, number)), false;
    if (large && !qloop_is_demanded(c->region))
        return qloop_because(c, "copies of %s would take longer than the loop", sum_name(c, number)), false;
    c->sums[number] = qmem_try(qvm_ctx(c->vm), qmem_size(count, sizeof(double), 0));
    if (!c->sums[number]) return qloop_because(c, "no memory for copies of %s", sum_name(c, number)), false;
    for (size_t i = 0; i < count; i++) c->sums[number][i] = -0.0; /* which changes nothing that it is added to */
    return true;
}

/* Into chunks, with a copy of each array that is added to, as long as these are small beside the work. */
bool qloop_cut(Call *c, Launch *l) {
    const LoopResult *code = &c->v->code;
    l->domain[0] = c->nchunks;
    for (int i = 0; i < code->nouts; i++) { /* no comparison with a nan is true, which max and min do not know */
        const LoopOut *o = &code->outs[i];
        if (o->reduce && isnan(qval_number(qtape_plain(*qloop_place(c->vm, c->f, o->sym)))))
            return qloop_because(c, "%s is nan", o->sym->name->s), false;
    }
    for (int i = 0; i < code->nsums; i++)
        if (!add_copies(c, i)) return false;
    return true;
}

void qloop_free_sums(Call *c) {
    for (int i = 0; i < c->v->code.nsums; i++) {
        size_t bytes = c->sums[i] ? (size_t)qloop_sum_count(c, i) * (size_t)c->nchunks * sizeof(double) : 0;
        if (c->sums[i]) qmem_try_free(qvm_ctx(c->vm), c->sums[i], bytes);
        c->sums[i] = NULL;
    }
}

/* s after `value`, as the program would have it. */
static double combined(uint8_t how, double s, double value) {
    switch ((LoopReduce)how) {
    case REDUCE_PRODUCT: return s * value;
    case REDUCE_MIN: return ksem_MIN_F64(s, value);
    case REDUCE_MAX: return ksem_MAX_F64(s, value);
    case REDUCE_LT: return value < s ? value : s;
    case REDUCE_LE: return value <= s ? value : s;
    case REDUCE_GT: return value > s ? value : s;
    case REDUCE_GE: return value >= s ? value : s;
    default: return s + value;
    }
}

/* No product on the way through the chunk was too large or too small for all its digits, nor would it have been behind
 * s: there the order decides more than the last of them.  A factor of 2 is for rounding. */
static bool is_plain(double s, const double *part) {
    const double *least = part + LOOP_CHUNKS, *most = least + LOOP_CHUNKS;
    return isnormal(s) && isnormal(*part) && isnormal(*least / 2) && isnormal(*most * 2) && isnormal(s * *least / 2) &&
           isnormal(s * *most * 2);
}

/* What the chunks have found is added to what was there, in their order. */
bool qloop_reduce(Call *c) {
    const LoopResult *code = &c->v->code;
    for (int i = 0; i < code->nouts; i++) {
        const LoopOut *o = &code->outs[i];
        if (!o->reduce) continue;
        const double *part = c->parts + o->part * LOOP_CHUNKS;
        double s = qval_number(qtape_plain(*qloop_place(c->vm, c->f, o->sym)));
        for (int64_t k = 0; k < c->nchunks; k++) {
            if (o->reduce == REDUCE_PRODUCT && !is_plain(s, part + k)) return false;
            s = combined(o->reduce, s, part[k]);
        }
        c->reals[o->slot] = s;
    }
    return true;
}

qs_status qloop_add_sums(Call *c) {
    for (int i = 0; i < c->v->code.nsums; i++) {
        Array *a = sum_array(c, i);
        void *p;
        TRY(qarr_write(c->vm, a, &p));
        for (size_t k = 0; k < a->count; k++) {
            double sum = -0.0;
            void *at = (char *)p + k * qdtype_size((qs_dtype)a->dtype);
            for (int64_t j = 0; j < c->nchunks; j++) sum += c->sums[i][(size_t)j * a->count + k];
            qdtype_put((qs_dtype)a->dtype, at, qdtype_get((qs_dtype)a->dtype, at) + sum);
        }
        TRY(qarr_settle(c->vm, a));
    }
    return QS_OK;
}
