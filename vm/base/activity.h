/* activity.h -- records which built-in runs and how far it is, for an observer in another thread.
 *
 * The interpreter stores the name of the built-in.  Long operations wake the observer (qctx_let_go), and
 * devices/threads.c counts the finished chunks of a job.  All of these are relaxed atomic stores; the observer,
 * stdlib/progress.c, polls them ten times a second. */
#ifndef VM_ACTIVITY_H
#define VM_ACTIVITY_H
#include "vm/base/flag.h"

#include <stddef.h>

struct Ctx;
typedef struct Doing {
    _Atomic(const char *) name; /* NULL: no built-in runs */
    atomic_uint serial;         /* serial number of the call */
    _Atomic int64_t done, of;   /* chunks of the current job: finished and total; of 0: total unknown */
    _Atomic float from, to;     /* part of the whole call that this job covers, within 0 … 1; to 0: unknown */
    Flag traces;                /* qdoing_end has something to reset: stages were set, or progress was shown */
    Flag shown;                 /* progress was shown to the user */
    bool stands; /* a progress line of the program is on the terminal; other output must clear it first */
    void (*begins)(struct Ctx *), (*ends)(struct Ctx *); /* callbacks of the observer; NULL: no observer */
} Doing;

static inline void qdoing_at(Doing *d, int64_t done, int64_t of) {
    atomic_store_explicit(&d->of, of, memory_order_relaxed);
    atomic_store_explicit(&d->done, done, memory_order_relaxed);
}

static inline bool qdoing_is_known(const Doing *d) { return atomic_load_explicit(&d->to, memory_order_relaxed) > 0; }

/* Sets the part of the built-in's work that the next job covers.  of > 0: the job is not run by devices/threads.c; it
 * has `of` chunks, which the built-in counts itself (qdoing_add). */
static inline void qdoing_stage(Doing *d, float from, float to, int64_t of) {
    qdoing_at(d, 0, of);
    qflag_raise(&d->traces);
    atomic_store_explicit(&d->from, from, memory_order_relaxed);
    atomic_store_explicit(&d->to, to, memory_order_relaxed);
}

static inline void qdoing_add(Doing *d, int64_t n) { atomic_fetch_add_explicit(&d->done, n, memory_order_relaxed); }

/* Returns the finished part of the whole call, 0 … 1; < 0: unknown. */
static inline float qdoing_part(const Doing *d) {
    int64_t of = atomic_load_explicit(&d->of, memory_order_relaxed);
    int64_t done = atomic_load_explicit(&d->done, memory_order_relaxed);
    float from = atomic_load_explicit(&d->from, memory_order_relaxed);
    float to = atomic_load_explicit(&d->to, memory_order_relaxed);
    float part = of > 0 ? (float)done / (float)of : 0;
    return to > 0 ? from + (to - from) * (part < 1 ? part : 1) : -1;
}

static inline const char *qdoing_name(const Doing *d) { return atomic_load_explicit(&d->name, memory_order_relaxed); }

/* Sets the name after a switch to another thread, which is in this built-in, or in none (NULL). */
static inline void qdoing_switch(Doing *d, const char *name) {
    atomic_store_explicit(&d->name, name, memory_order_relaxed);
}

static inline void qdoing_begin(Doing *d, const char *name) {
    unsigned serial = atomic_load_explicit(&d->serial, memory_order_relaxed);
    atomic_store_explicit(&d->serial, serial + 1, memory_order_relaxed);
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
