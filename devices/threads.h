/* threads.h -- a persistent pool that runs the pieces of one job at a time; the caller takes part.
 *
 * Kernels and the loops of the host share it.  Whoever cuts an array into pieces lets the cuts depend on the array
 * alone, never on the number of threads, and merges partial results in their order: then a sum has the same bits with
 * one thread and with sixty-four.
 *
 * The pool survives fork(): the child starts its own workers when it first needs them. */
#ifndef DEVICES_THREADS_H
#define DEVICES_THREADS_H
#include "vm/base/ctx.h"

#include <stdatomic.h>

typedef struct Threads Threads;
enum { THREADS_MAX = 256 };

/* fn gets pieces [first, last) of [0, n); worker is 0 (the caller) … qthreads_workers-1, so scratch memory can be
 * kept per worker. */
typedef void ThreadsJob(void *ud, int64_t first, int64_t last, int worker);

/* The pool of this context, opened on first use and closed with it: kernels and the loops of the host share it. */
Threads *qthreads_of(Ctx *c);

/* wanted 0: QUASAR_NUM_THREADS, else as many as affinity and control groups let us use. Workers start with the
 * first job. */
Threads *qthreads_open(Ctx *c, int wanted);
void qthreads_close(Ctx *c, Threads *t);
int qthreads_count(const Threads *t);

/* How many take part in such a job at most: numbers of workers are below that. */
int qthreads_workers(const Threads *t, int64_t n, int64_t grain);

/* Returns when all of [0, n) is done; what the pieces wrote is then visible.  grain: the least a thread takes at
 * once. */
void qthreads_run(Threads *t, int64_t n, int64_t grain, ThreadsJob *fn, void *ud);

/* A chain: the pieces of a job are taken in their order, and what one makes is needed by the next.  A job of as many
 * pieces takes one with each; all zero is a chain that begins. */
typedef struct {
    _Atomic int64_t taken, claimed, handed;
} ThreadsChain;
int64_t qthreads_take(ThreadsChain *c);
/* Waits until all before this piece have handed on, so that what they wrote is visible.  Gives it, or the first that
 * has not for a long time: the system may have taken its thread from the processor, and others can do its work over. */
int64_t qthreads_await(ThreadsChain *c, int64_t piece);
bool qthreads_claim(ThreadsChain *c, int64_t piece); /* true for the first one, who then writes and hands on */
void qthreads_hand_on(ThreadsChain *c, int64_t piece);

/* Processors this process may use: affinity mask and CPU quota of its control group. */
int qthreads_usable(void);
#endif
