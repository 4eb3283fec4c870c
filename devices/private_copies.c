/* private_copies.c -- chooses the number of parts, and makes, runs and adds up private copies. */
#include "devices/private_copies.h"
#include "devices/host.h"
#include "devices/pool.h"

#include <string.h>

/* Costs in instructions.  A part must do at least PART_WORK, and at least NEAR for each element that must be cleared
 * and added up, or FAR if a copy does not stay in the caches. */
enum { PARTS_MAX = 64, PART_WORK = 1 << 15, NEAR = 64, FAR = 256, CACHE = 1 << 18 /* bytes of a copy */ };
enum { LOOP_GUESS = 1000 /* assumed instructions of a position with loops of unknown length */ };
static const size_t room = (size_t)128 << 20; /* maximum bytes of copies at a time */

typedef struct {
    const Parts *parts;
    PartsJob *fn;
    void *ud;
    char *copies;
    size_t each;      /* bytes of a copy: its arguments, then its arrays */
    int64_t first, n; /* range of parts that have copies now */
} Round;

/* -- how many ------------------------------------------------------------------------------------------------------ */
static size_t sum_count(const DevArg *args, const NativeSum *s) {
    const DevArg *a = &args[s->param];
    size_t n = s->parts;
    for (int k = 0; k < a->rank; k++) n *= (size_t)a->dims[k];
    return n;
}

static size_t align64(size_t n) { return (n + 63) & ~(size_t)63; }

static size_t sum_bytes(const DevArg *args, const NativeSum *s) {
    return align64(sum_count(args, s) * qdtype_size((qs_dtype)s->dtype));
}

static size_t copy_bytes(const NativeInfo *info, int nargs, const DevArg *args) {
    size_t bytes = align64((size_t)nargs * sizeof *args);
    for (uint32_t i = 0; i < info->nsums; i++) bytes += sum_bytes(args, &info->sums[i]);
    return bytes;
}

static double iterations_of(const LoopCost *t, const DevArg *args) {
    double n = (double)t->more;
    if (t->axis == NATIVE_NUMBER) {
        int32_t narrow = (int32_t)args[t->param].bits;
        n += t->dtype == QS_I32 ? (double)narrow : (double)(int64_t)args[t->param].bits;
    } else if (t->axis != NATIVE_ONCE) n += (double)args[t->param].dims[t->axis];
    return n > 0 ? n : 0;
}

/* Returns the number of instructions of a position, with loop lengths computed from the arguments. */
static double cost_of(const NativeInfo *info, const DevArg *args) {
    double often[NATIVE_COSTS] = {0}, sum = 0;
    for (uint32_t i = 0; i < info->ncosts; i++) {
        often[i] = iterations_of(&info->costs[i], args) * (i ? often[info->costs[i].around] : 1);
        sum += often[i] * info->costs[i].cost;
    }
    return sum;
}

int64_t qprivate_count(const NativeInfo *info, const DevArg *args, int64_t positions) {
    double elements = 0, cost = info->cost, n = PARTS_MAX;
    if (!info->nsums) return 1;
    size_t bytes = copy_bytes(info, (int)info->nargs, args);
    if (bytes > room / 2) return 1;
    for (uint32_t i = 0; i < info->nsums; i++) elements += (double)sum_count(args, &info->sums[i]);
    if (info->ncosts) cost = cost_of(info, args);
    else if (info->flags & NATIVE_LOOPS && cost < LOOP_GUESS) cost = LOOP_GUESS;
    double work = cost * (double)positions;
    if (n > work / PART_WORK) n = work / PART_WORK;
    double joining = elements * (bytes > CACHE ? FAR : NEAR);
    if (n * joining > work) n = work / joining;
    return n < 1 ? 1 : (int64_t)n;
}

/* -- copies -------------------------------------------------------------------------------------------------------- */
static DevArg *copy_of(const Round *r, int64_t part) {
    return (DevArg *)(void *)(r->copies + (size_t)(part - r->first) * r->each);
}

static DevArg *start_copy(const Round *r, int64_t part) {
    const Parts *p = r->parts;
    DevArg *args = copy_of(r, part);
    char *at = (char *)args + align64((size_t)p->nargs * sizeof *args);
    memcpy(args, p->args, (size_t)p->nargs * sizeof *args);
    for (uint32_t i = 0; i < p->info->nsums; i++) {
        const NativeSum *s = &p->info->sums[i];
        args[s->param].block = (DevPtr)(uintptr_t)at, args[s->param].offset = 0;
        qcombine_start((Combine)s->op, (qs_dtype)s->dtype, at, sum_count(p->args, s));
        at += sum_bytes(p->args, s);
    }
    return args;
}

/* Job of put_together, which adds elements [first, last) of all copies of one array. */
typedef struct {
    const Round *round;
    const NativeSum *sum;
} Adding;

static void put_together(void *ud, int64_t first, int64_t last, int worker) {
    const Round *r = ((Adding *)ud)->round;
    const NativeSum *s = ((Adding *)ud)->sum;
    qs_dtype d = (qs_dtype)s->dtype;
    const DevArg *to = &r->parts->args[s->param];
    size_t at = (size_t)first * qdtype_size(d);
    (void)worker;
    for (int64_t part = r->first; part < r->first + r->n; part++)
        qcombine_into((Combine)s->op, d, qhost_ptr(to->block) + to->offset + at,
                      qhost_ptr(copy_of(r, part)[s->param].block) + at, (size_t)(last - first));
}

/* Adds all copies to the arrays, in ranges of elements that fit into a cache. */
static void add_up(Threads *t, const Round *r) {
    enum { STEP = 4096 };
    for (uint32_t i = 0; i < r->parts->info->nsums; i++) {
        Adding a = {r, &r->parts->info->sums[i]};
        int64_t n = (int64_t)sum_count(r->parts->args, a.sum);
        if (t && n > STEP) qthreads_run(t, n, STEP, put_together, &a);
        else
            for (int64_t at = 0; at < n; at += STEP) put_together(&a, at, at + STEP < n ? at + STEP : n, 0);
    }
}

/* -- running ------------------------------------------------------------------------------------------------------- */
static int64_t first_block(const Parts *p, int64_t part) {
    int64_t more = p->nblocks % p->n; /* number of parts with one more block */
    return p->nblocks / p->n * part + (part < more ? part : more);
}

static void run_some(void *ud, int64_t first, int64_t last, int worker) {
    const Round *r = ud;
    for (int64_t part = r->first + first; part < r->first + last; part++)
        r->fn(r->ud, start_copy(r, part), first_block(r->parts, part), first_block(r->parts, part + 1), worker);
}

bool qprivate_run(Ctx *c, Threads *threads, const Parts *parts, PartsJob *fn, void *ud) {
    Round r = {.parts = parts, .fn = fn, .ud = ud, .each = copy_bytes(parts->info, parts->nargs, parts->args)};
    int64_t fit = (int64_t)(room / r.each), many = !threads ? 1 : parts->n < fit ? parts->n : fit;
    r.copies = qpool_get(c, qmem_size((size_t)many, r.each, 0));
    if (!r.copies) r.copies = qpool_get(c, r.each), many = 1;
    if (!r.copies) return false;
    for (; r.first < parts->n; r.first += r.n) {
        r.n = parts->n - r.first < many ? parts->n - r.first : many;
        if (threads) qthreads_run(threads, r.n, 1, run_some, &r);
        else run_some(&r, 0, r.n, 0);
        add_up(threads, &r);
    }
    qpool_put(c, r.copies, r.each * (size_t)many);
    return true;
}
