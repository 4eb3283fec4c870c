/* threads.h -- runs the pieces of one job at a time on a persistent thread pool; the calling thread takes part.
 *
 * Kernels and host loops share the pool.  A caller that splits an array into pieces must choose them by the array
 * alone, never by the number of threads, and must merge partial results in order.  Then a sum has the same bits with
 * one thread as with sixty-four.
 *
 * The pool survives fork(): the child starts its own workers when it first needs them. */
#ifndef DEVICES_THREADS_H
#define DEVICES_THREADS_H
#include "vm/base/ctx.h"

#include <stdatomic.h>

typedef struct Threads Threads;
enum { THREADS_MAX = 256 };

/* Computes the piece [first, last) of [0, n).  `worker` is between 0 (the caller) and qthreads_workers-1, so that
 * scratch memory can be kept per worker. */
typedef void ThreadsJob(void *ud, int64_t first, int64_t last, int worker);

/* Returns the pool of this context, which is opened on first use and closed with the context. */
Threads *qthreads_of(Ctx *c);

/* Opens a pool of `wanted` threads.  0 means QUASAR_NUM_THREADS, or if that is unset, as many as the affinity mask and
 * the control groups allow.  The workers start with the first job. */
Threads *qthreads_open(Ctx *c, int wanted);
void qthreads_close(Ctx *c, Threads *t);
int qthreads_count(const Threads *t);

/* Returns the maximum number of threads that take part in such a job; all worker numbers are less. */
int qthreads_workers(const Threads *t, int64_t n, int64_t grain);

/* Runs fn on all of [0, n) and returns when it is done and its writes are visible.  grain is the minimum number of
 * items that a thread takes at once. */
void qthreads_run(Threads *t, int64_t n, int64_t grain, ThreadsJob *fn, void *ud);

/* A chain of pieces of one job: pieces are taken in order, and each needs the result of its predecessor.  The job has
 * as many pieces as the chain, and each call of its function takes one with qthreads_take.  A new chain is all zero. */
typedef struct {
    _Atomic int64_t taken, claimed, handed;
} ThreadsChain;
int64_t qthreads_take(ThreadsChain *c);
/* Waits until all earlier pieces have been handed on, so that their writes are visible, and returns `piece`.  If that
 * takes long, returns the first piece that has not been handed on: its thread may have been preempted, and the caller
 * can compute that piece again. */
int64_t qthreads_await(ThreadsChain *c, int64_t piece);
bool qthreads_claim(ThreadsChain *c, int64_t piece); /* true for the first caller, which then writes and hands on */
void qthreads_hand_on(ThreadsChain *c, int64_t piece);

/* Returns the number of processors this process may use, by its affinity mask and the CPU quota of its group. */
int qthreads_usable(void);
#endif
