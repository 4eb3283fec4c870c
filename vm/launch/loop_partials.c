/* loop_partials.c -- combines the partial sums of a loop's chunks, and allocates array copies for them.
 *
 * The number of chunks depends on the iteration count alone, so a result does not depend on the number of threads.  A
 * histogram gets a copy for each chunk.  Such a loop changes nothing until it has finished: if a check in it fails,
 * the work is discarded, and the exact version runs. */
#include "vm/launch/loop_run.h"

#include "lang/kernel/ir/sem.h"
#include "vm/base/reduction.h"
#include "vm/value/trace.h"

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

/* Array sums are added after the loop.  So nothing in the loop may read the array, or add to the same memory by another
 * name. */
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

/* A copied element, which is allocated, cleared and added, takes as long as so many steps of compiled code, and one
 * thread gains nothing by it.  Steps under a condition do not count, because it may seldom hold.  --loops always
 * prefers copies, as it prefers machine code. */
enum { COPIED = 64, COPIED_ALWAYS = 4 };

static bool add_copies(Call *c, int number) {
    const Array *a = sum_array(c, number);
    size_t count = qmem_size(a->count, (size_t)c->nchunks, 0);
    int copied = qvm(c->vm)->loop_least > 1 ? COPIED : COPIED_ALWAYS;
    bool large = (double)a->count * (double)c->nchunks > qloop_sure_steps(c) / copied;
    if (a->buf->readonly || !is_alone(c, number))
        return qloop_because(c, "%s shares its memory, or is read-only", sum_name(c, number)), false;
    if (large && !qloop_is_demanded(c->region))
        return qloop_because(c, "copies of %s would take longer than the loop", sum_name(c, number)), false;
    c->sums[number] = qmem_try(qvm_ctx(c->vm), qmem_size(count, sizeof(double), 0));
    if (!c->sums[number]) return qloop_because(c, "no memory for copies of %s", sum_name(c, number)), false;
    /* the neutral element of addition, including signed zeros */
    for (size_t i = 0; i < count; i++) c->sums[number][i] = -0.0;
    return true;
}

/* Sets up chunks, with a copy of each array that is added to, if the copies are small compared with the work. */
bool qloop_cut(Call *c, Launch *l) {
    const LoopResult *code = &c->v->code;
    l->domain[0] = c->nchunks;
    /* no comparison with nan is true, but max and min of chunks do not reproduce that */
    for (int i = 0; i < code->nouts; i++) {
        const LoopOut *o = &code->outs[i];
        if (o->reduce && isnan(qval_number(qtape_plain(*qloop_storage(c->vm, c->f, o->sym)))))
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

/* Combines s with `value` as the script's statement would. */
static double combined(uint8_t how, double s, double value) {
    switch ((Combine)how) {
    case COMBINE_MUL: return s * value;
    case COMBINE_MIN: return ksem_MIN_F64(s, value);
    case COMBINE_MAX: return ksem_MAX_F64(s, value);
    case COMBINE_LT: return value < s ? value : s;
    case COMBINE_LE: return value <= s ? value : s;
    case COMBINE_GT: return value > s ? value : s;
    case COMBINE_GE: return value >= s ? value : s;
    default: return s + value;
    }
}

/* Did no product within the chunk, or after multiplication with s, come near overflow or underflow?  Otherwise the
 * order of the factors affects more than rounding.  The factor 2 allows for rounding. */
static bool is_plain(double s, const double *part) {
    const double *least = part + LOOP_CHUNKS, *most = least + LOOP_CHUNKS;
    return isnormal(s) && isnormal(*part) && isnormal(*least / 2) && isnormal(*most * 2) && isnormal(s * *least / 2) &&
           isnormal(s * *most * 2);
}

/* Combines the chunk results with the variables' old values, in order of the chunks. */
bool qloop_reduce(Call *c) {
    const LoopResult *code = &c->v->code;
    for (int i = 0; i < code->nouts; i++) {
        const LoopOut *o = &code->outs[i];
        if (!o->reduce) continue;
        const double *part = c->parts + o->part * LOOP_CHUNKS;
        double s = qval_number(qtape_plain(*qloop_storage(c->vm, c->f, o->sym)));
        for (int64_t k = 0; k < c->nchunks; k++) {
            if (o->reduce == COMBINE_MUL && !is_plain(s, part + k)) return false;
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
        double *sum = c->sums[i];
        for (int64_t j = 1; j < c->nchunks; j++)
            for (size_t k = 0; k < a->count; k++) sum[k] += sum[(size_t)j * a->count + k];
        for (size_t k = 0; k < a->count; k++) {
            void *at = (char *)p + k * qdtype_size((qs_dtype)a->dtype);
            qdtype_put((qs_dtype)a->dtype, at, qdtype_get((qs_dtype)a->dtype, at) + sum[k]);
        }
        TRY(qarr_settle(c->vm, a));
    }
    return QS_OK;
}
