/* activity.h -- which built-in runs, and how much of it is done, for who looks on from another thread.
 *
 * The interpreter says its name, who begins to work on much wakes them (qctx_let_go), pieces of its jobs are counted
 * (devices/threads.c).  All of this is stores without an order: stdlib/progress.c looks at them ten times a
 * second. */
#ifndef VM_ACTIVITY_H
#define VM_ACTIVITY_H
#include "vm/base/flag.h"

#include <stddef.h>

struct Ctx;
typedef struct Doing {
    _Atomic(const char *) name; /* NULL: no built-in runs */
    atomic_uint turn;           /* another one with each call */
    _Atomic int64_t done, of;   /* pieces of the job that runs; of 0: nobody knows how many */
    _Atomic float from, to;     /* the part of the whole that this job is, 0 … 1; to 0: none that is known */
    Flag traces;                /* the end has something to do: parts are known, or somebody has been told */
    Flag shown;                 /* somebody has */
    bool stands;                /* a line of the program's own is on the terminal, and makes room for others */
    void (*begins)(struct Ctx *), (*ends)(struct Ctx *); /* NULL: nobody looks on */
} Doing;

static inline void qdoing_at(Doing *d, int64_t done, int64_t of) {
    atomic_store_explicit(&d->of, of, memory_order_relaxed);
    atomic_store_explicit(&d->done, done, memory_order_relaxed);
}

static inline bool qdoing_is_known(const Doing *d) { return atomic_load_explicit(&d->to, memory_order_relaxed) > 0; }

/* The next job is this part of what the built-in does; of > 0: it is no job of threads, but so many pieces that the
 * built-in counts. */
static inline void qdoing_stage(Doing *d, float from, float to, int64_t of) {
    qdoing_at(d, 0, of);
    qflag_raise(&d->traces);
    atomic_store_explicit(&d->from, from, memory_order_relaxed);
    atomic_store_explicit(&d->to, to, memory_order_relaxed);
}

static inline void qdoing_add(Doing *d, int64_t n) { atomic_fetch_add_explicit(&d->done, n, memory_order_relaxed); }

/* 0 … 1; < 0: nobody knows. */
static inline float qdoing_part(const Doing *d) {
    int64_t of = atomic_load_explicit(&d->of, memory_order_relaxed);
    int64_t done = atomic_load_explicit(&d->done, memory_order_relaxed);
    float from = atomic_load_explicit(&d->from, memory_order_relaxed);
    float to = atomic_load_explicit(&d->to, memory_order_relaxed);
    float part = of > 0 ? (float)done / (float)of : 0;
    return to > 0 ? from + (to - from) * (part < 1 ? part : 1) : -1;
}

static inline const char *qdoing_name(const Doing *d) { return atomic_load_explicit(&d->name, memory_order_relaxed); }

/* Another thread goes on, which is in this built-in, or in none. */
static inline void qdoing_switch(Doing *d, const char *name) {
    atomic_store_explicit(&d->name, name, memory_order_relaxed);
}

static inline void qdoing_begin(Doing *d, const char *name) {
    unsigned turn = atomic_load_explicit(&d->turn, memory_order_relaxed);
    atomic_store_explicit(&d->turn, turn + 1, memory_order_relaxed);
    atomic_store_explicit(&d->name, name, memory_order_relaxed);
}

static inline void qdoing_end(Doing *d, struct Ctx *c) {
    atomic_store_explicit(&d->name, NULL, memory_order_relaxed);
    if (__builtin_expect(!qflag_is_up(&d->traces), 1)) return;
    qdoing_stage(d, 0, 0, 0);
    qflag_lower(&d->traces);
    if (qflag_is_up(&d->shown)) d->ends(c);
}
#endif
