/* loop_sum.c -- what the chunks of a loop have added up: copies of arrays for them, and putting the sums together. */
#include "vm/looping.h"

#include <math.h>
#include <string.h>

static Array *sum_array(const Call *c, int number) {
    return qloop_value(c->vm, c->f, c->v, c->v->code.sums[number]).u.p;
}

int64_t qloop_sum_count(const Call *c, int number) { return (int64_t)sum_array(c, number)->count; }

static const char *sum_name(const Call *c, int number) {
    const LoopCode *p = &c->v->code.parallel;
    for (int i = 0; i < p->func->nparams; i++)
        if (p->binds[i].kind == LOOP_SOURCE && p->binds[i].index == c->v->code.sums[number])
            return p->func->params[i].name->s;
    return "an array";
}

/* Nobody reads what is put off, and no other sum is of the same memory. */
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
    size_t bytes = a->count * (size_t)c->nchunks * sizeof(double);
    bool large = (double)a->count * (double)c->nchunks > qloop_steps(c->vm, c->f, c->region) / 4;
    if (a->buf->readonly || !is_alone(c, number))
        return qloop_because(c, "%s shares its memory, or is read-only", sum_name(c, number)), false;
    if (large && !qloop_is_demanded(c->region))
        return qloop_because(c, "copies of %s would take longer than the loop", sum_name(c, number)), false;
    c->sums[number] = qmem_try(qvm_ctx(c->vm), bytes);
    if (!c->sums[number]) return qloop_because(c, "no memory for copies of %s", sum_name(c, number)), false;
    memset(c->sums[number], 0, bytes);
    return true;
}

/* Into chunks, with a copy of each array that is added to, as long as these are small beside the work. */
bool qloop_cut(Call *c, Launch *l) {
    const LoopResult *code = &c->v->code;
    l->domain[0] = c->nchunks;
    for (int i = 0; i < code->nouts; i++) { /* no comparison with a nan is true, which max and min do not know */
        const LoopOut *o = &code->outs[i];
        if (o->reduce && isnan(qval_number(*qloop_place(c->vm, c->f, o->sym))))
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

static double combined(uint8_t op, double a, double b) {
    return op == K_ADD ? a + b : op == K_MUL ? a * b : op == K_MAX ? fmax(a, b) : fmin(a, b);
}

/* What the chunks have found is added to what was there, in their order. */
void qloop_reduce(Call *c) {
    const LoopResult *code = &c->v->code;
    for (int i = 0; i < code->nouts; i++) {
        const LoopOut *o = &code->outs[i];
        if (!o->reduce) continue;
        double x = o->identity;
        for (int64_t k = 0; k < c->nchunks; k++) x = combined(o->reduce, x, c->parts[o->part * LOOP_CHUNKS + k]);
        c->reals[o->slot] = combined(o->reduce, qval_number(*qloop_place(c->vm, c->f, o->sym)), x);
    }
}

qs_status qloop_add_sums(Call *c) {
    for (int i = 0; i < c->v->code.nsums; i++) {
        Array *a = sum_array(c, i);
        void *p;
        TRY(qarr_write(c->vm, a, &p));
        for (size_t k = 0; k < a->count; k++) {
            double sum = 0;
            for (int64_t j = 0; j < c->nchunks; j++) sum += c->sums[i][(size_t)j * a->count + k];
            if (a->dtype == QS_F64) ((double *)p)[k] += sum;
            else ((float *)p)[k] = (float)((double)((float *)p)[k] + sum);
        }
        TRY(qarr_settle(c->vm, a));
    }
    return QS_OK;
}
