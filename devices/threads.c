/* threads.c -- implements the thread pool of threads.h.
 *
 * The caller publishes a job under the mutex with a new generation number.  Workers watch this number, first spinning
 * and then sleeping on a condition variable.  They take pieces and count themselves out when they leave.  The caller
 * takes pieces, too, and waits until every worker that entered has left.  A worker that wakes too late finds no piece,
 * and the next job is not published before it has left.
 *
 * Each worker begins with its own share of the pieces, which is the same in all jobs of equal size.  So the data that
 * it wrote in one job are in its caches when the next job reads them.  A worker that has finished its share helps the
 * others.
 *
 * Linux often wakes a thread on the processor of the thread that woke it, and may leave both there for seconds, so that
 * they run at half speed.  Therefore each worker records its processor, and before the caller wakes the workers, it
 * moves those whose processor is taken.  No thread is pinned, and workers stay within the affinity mask of the
 * caller. */
#include "devices/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPINS = 2000, NOWHERE = CPU_SETSIZE /* unknown processor: outside of every cpu_set_t */ };

typedef struct {
    _Atomic int64_t next;
    int64_t end;
    char apart[112]; /* padding: keeps shares in different cache lines */
} Share;

struct Threads {
    int count;   /* threads that compute, the caller included */
    int started; /* number of workers that exist: 0, or count - 1 unless the system refused some */
    pid_t pid;   /* process that the workers belong to */
    pthread_t worker[THREADS_MAX];

    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool quit;
    atomic_uint generation; /* changed under the lock; read without it while spinning */
    atomic_int inside;      /* number of workers in the job; incremented only under the lock */

    ThreadsJob *fn;
    void *ud; /* fn, ud, n, grain: the job, written under the lock while no worker is inside */
    int64_t n, grain;
    int workers;  /* number of threads that take part: the caller, and the workers that began first */
    Doing *doing; /* progress of the context, where finished pieces can be counted */
    bool counted; /* the pieces of this job are counted there */
    bool roomy;   /* there are at least as many processors as threads */
    int begun;    /* number of workers with an element in place[] */
    struct {
        pthread_t thread;
        size_t cpu;
    } place[THREADS_MAX]; /* the processor of each worker's last job; under the lock */
    Share share[THREADS_MAX];
};

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* -- how many ------------------------------------------------------------------------------------------------------ */

/* Reads the first line of a file; false: it cannot be read. */
static bool first_line(const char *path, char *buf, size_t n) {
    FILE *f = fopen(path, "re");
    if (!f) return false;
    bool ok = fgets(buf, (int)n, f) != NULL;
    fclose(f);
    if (ok) buf[strcspn(buf, "\n")] = 0;
    return ok;
}

/* Returns the CPU quota divided by its period, rounded up; 0: no limit. */
static int quota_at(const char *dir) {
    char path[600], line[128];
    double quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", dir);
    if (first_line(path, line, sizeof line))
        return sscanf(line, "%lf %lf", &quota, &period) == 2 ? (int)((quota + period - 1) / period) : 0;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", dir);
    if (!first_line(path, line, sizeof line) || (quota = atof(line)) <= 0) return 0;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
    if (!first_line(path, line, sizeof line) || (period = atof(line)) <= 0) return 0;
    return (int)((quota + period - 1) / period);
}

/* Returns the minimum quota of our group and all its ancestors, since each level limits those below it. */
static int group_quota(const char *mount, char *group) {
    int least = 0;
    for (;;) {
        char dir[512];
        snprintf(dir, sizeof dir, "%s%s", mount, group);
        int q = quota_at(dir);
        if (q > 0 && (!least || q < least)) least = q;
        char *slash = strrchr(group, '/');
        if (!slash || !*group) return least;
        *slash = 0;
    }
}

/* Returns whether "cpu" is in a comma-separated list. */
static bool names_cpu(const char *list) {
    for (size_t n; *list; list += n + (list[n] == ','))
        if ((n = strcspn(list, ",")) == 3 && !memcmp(list, "cpu", 3)) return true;
    return false;
}

/* Returns the CPU limit of our control group, 0: none.  Lines of /proc/self/cgroup are "0::/path" for version 2 and
 * "4:cpu,cpuacct:/path" for version 1. */
static int cgroup_limit(void) {
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f) return 0;
    char line[400];
    int least = 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *control = strchr(line, ':'), *group = control ? strchr(control + 1, ':') : NULL;
        if (!group) continue;
        *group++ = 0;
        if (!strcmp(group, "/")) group[0] = 0;
        bool v2 = control[1] == 0;
        if (!v2 && !names_cpu(control + 1)) continue;
        int q = group_quota(v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu", group);
        if (q > 0 && (!least || q < least)) least = q;
    }
    fclose(f);
    return least;
}

int qthreads_usable(void) {
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? (int)sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
    int quota = cgroup_limit();
    if (quota > 0 && quota < n) n = quota;
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : n;
}

static int choose_count(int wanted, int usable) {
    const char *env = getenv("QUASAR_NUM_THREADS");
    if (wanted <= 0 && env) wanted = atoi(env);
    if (wanted <= 0) return usable;
    return wanted > THREADS_MAX ? THREADS_MAX : wanted;
}

/* -- processors ---------------------------------------------------------------------------------------------------- */

static size_t processor(void) {
    int cpu = sched_getcpu();
    return cpu < 0 || cpu > NOWHERE ? NOWHERE : (size_t)cpu;
}

/* Moves a worker to a processor that no other thread of the pool uses. */
static void move_worker(Threads *t, int worker, const cpu_set_t *taken) {
    cpu_set_t room;
    if (sched_getaffinity(0, sizeof room, &room)) return; /* the caller's mask, which the user may have set */
    for (size_t cpu = 0; cpu < NOWHERE; cpu++)
        if (CPU_ISSET(cpu, taken)) CPU_CLR(cpu, &room);
    for (int i = 0; i < t->begun; i++)
        if (i != worker) CPU_CLR(t->place[i].cpu, &room);
    if (CPU_COUNT(&room) && !pthread_setaffinity_np(t->place[worker].thread, sizeof room, &room))
        t->place[worker].cpu = NOWHERE; /* unknown until it has run there */
}

/* Moves workers whose processor is taken.  Called under the lock before workers are woken. */
static void keep_apart(Threads *t) {
    cpu_set_t taken;
    CPU_ZERO(&taken);
    CPU_SET(processor(), &taken);
    for (int i = 0; i < t->begun; i++) {
        if (CPU_ISSET(t->place[i].cpu, &taken)) move_worker(t, i, &taken);
        else CPU_SET(t->place[i].cpu, &taken);
    }
}

/* -- the pool ------------------------------------------------------------------------------------------------------ */

static void take_share(Threads *t, Share *s, int number) {
    ThreadsJob *fn = t->fn;
    int64_t end = s->end, grain = t->grain;
    for (;;) {
        int64_t first = atomic_fetch_add_explicit(&s->next, grain, memory_order_relaxed);
        if (first >= end) return;
        int64_t last = end - first < grain ? end : first + grain;
        fn(t->ud, first, last, number);
        if (t->counted) qdoing_add(t->doing, last - first);
    }
}

static void take_pieces(Threads *t, int number) {
    int shares = t->workers;
    for (int i = 0; i < shares; i++) take_share(t, &t->share[(number + i) % shares], number);
}

static void await_change(Threads *t, unsigned seen) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&t->generation, memory_order_relaxed) != seen) return;
        relax();
    }
}

static void *work(void *arg) {
    Threads *t = arg;
    unsigned seen = 0;
    pthread_mutex_lock(&t->lock);
    int me = t->begun++, number = me + 1; /* the caller is 0 */
    t->place[me].thread = pthread_self();
    t->place[me].cpu = NOWHERE;
    for (;;) {
        unsigned now = atomic_load_explicit(&t->generation, memory_order_relaxed);
        if (t->quit) break;
        if (now == seen) {
            pthread_cond_wait(&t->work, &t->lock);
            continue;
        }
        seen = now;
        if (number >= t->workers) continue;
        atomic_fetch_add_explicit(&t->inside, 1, memory_order_relaxed);
        t->place[me].cpu = processor();
        pthread_mutex_unlock(&t->lock);
        take_pieces(t, number);
        if (atomic_fetch_sub_explicit(&t->inside, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&t->lock);
            pthread_cond_signal(&t->done);
            pthread_mutex_unlock(&t->lock);
        }
        await_change(t, seen);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void init_sync(Threads *t) {
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    pthread_cond_init(&t->done, NULL);
    atomic_store(&t->generation, 0);
    atomic_store(&t->inside, 0);
    t->quit = false, t->started = t->begun = 0, t->pid = getpid();
}

/* Starts the workers with all signals blocked, so that signals reach only the program's own threads. */
static void start_workers(Threads *t) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (t->started < t->count - 1) {
        if (pthread_create(&t->worker[t->started], NULL, work, t)) break;
        t->started++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (t->started < t->count - 1) t->count = t->started + 1;
}

Threads *qthreads_open(Ctx *c, int wanted) {
    Threads *t = qmem_alloc(c, sizeof *t);
    int usable = qthreads_usable();
    t->count = choose_count(wanted, usable);
    t->roomy = t->count <= usable, t->doing = &c->doing;
    init_sync(t);
    return t;
}

/* Starts the workers if they do not run.  In a child of fork() they do not exist, and one of them may have held the
 * mutex, so the mutex is initialized again. */
static void check_process(Threads *t) {
    if (t->pid != getpid()) init_sync(t);
    if (t->started < t->count - 1) start_workers(t);
}

void qthreads_close(Ctx *c, Threads *t) {
    if (!t) return;
    if (t->pid == getpid()) {
        pthread_mutex_lock(&t->lock);
        t->quit = true;
        atomic_fetch_add(&t->generation, 1); /* ends the spinning of workers */
        pthread_cond_broadcast(&t->work);
        pthread_mutex_unlock(&t->lock);
        for (int i = 0; i < t->started; i++) pthread_join(t->worker[i], NULL);
        pthread_cond_destroy(&t->work), pthread_cond_destroy(&t->done), pthread_mutex_destroy(&t->lock);
    }
    qmem_free(c, t, sizeof *t);
}

static void close_own(Ctx *c) {
    qthreads_close(c, c->threads);
    c->threads = NULL;
}

Threads *qthreads_of(Ctx *c) {
    if (!c->threads) c->threads = qthreads_open(c, c->nthreads), c->threads_close = close_own;
    return c->threads;
}

int qthreads_count(const Threads *t) { return t->count; }

int qthreads_workers(const Threads *t, int64_t n, int64_t grain) {
    int64_t pieces = n < 1 ? 1 : grain < 1 ? n : (n - 1) / grain + 1;
    return pieces < t->count ? (int)pieces : t->count;
}

static void await_empty(Threads *t) {
    while (atomic_load_explicit(&t->inside, memory_order_acquire)) pthread_cond_wait(&t->done, &t->lock);
}

static void divide_shares(Threads *t) {
    int64_t pieces = (t->n - 1) / t->grain + 1, each = pieces / t->workers, rest = pieces % t->workers, first = 0;
    for (int i = 0; i < t->workers; i++) {
        int64_t next = first + each + (i < rest);
        atomic_store_explicit(&t->share[i].next, first * t->grain, memory_order_relaxed);
        t->share[i].end = next == pieces ? t->n : next * t->grain;
        first = next;
    }
}

/* Starts to count the pieces of the job if it belongs to an operation with known progress; returns whether it does. */
static bool begin_count(Threads *t, int64_t n) {
    if (!qdoing_is_known(t->doing)) return false;
    qdoing_at(t->doing, 0, n);
    return true;
}

/* Runs the job on the calling thread: in one call, or in pieces if they are counted. */
static void run_alone(Threads *t, int64_t n, int64_t grain, ThreadsJob *fn, void *ud) {
    enum { TOLD = 200 };
    bool counted = begin_count(t, n);
    int64_t step = counted ? (n / TOLD / grain + 1) * grain : n;
    for (int64_t first = 0; first < n; first += step) {
        int64_t last = n - first < step ? n : first + step;
        fn(ud, first, last, 0);
        if (counted) qdoing_add(t->doing, last - first);
    }
}

static void publish(Threads *t, int64_t n, int64_t grain, ThreadsJob *fn, void *ud) {
    pthread_mutex_lock(&t->lock);
    await_empty(t); /* a worker that woke late may still be reading the last job */
    t->fn = fn, t->ud = ud, t->n = n, t->grain = grain;
    t->workers = qthreads_workers(t, n, grain), t->counted = begin_count(t, n);
    divide_shares(t);
    if (t->roomy) keep_apart(t);
    atomic_fetch_add_explicit(&t->generation, 1, memory_order_relaxed);
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
}

/* Waits for the pieces that other threads have taken, when none is left to take. */
static void retire(Threads *t) {
    for (int i = 0; i < SPINS && atomic_load_explicit(&t->inside, memory_order_acquire); i++) relax();
    pthread_mutex_lock(&t->lock);
    await_empty(t);
    pthread_mutex_unlock(&t->lock);
}

void qthreads_run(Threads *t, int64_t n, int64_t grain, ThreadsJob *fn, void *ud) {
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    if (qthreads_workers(t, n, grain) == 1) return run_alone(t, n, grain, fn, ud);
    check_process(t);
    publish(t, n, grain, fn, ud);
    take_pieces(t, 0);
    retire(t);
}

/* -- chains -------------------------------------------------------------------------------------------------------- */
int64_t qthreads_take(ThreadsChain *c) { return atomic_fetch_add_explicit(&c->taken, 1, memory_order_relaxed); }

int64_t qthreads_await(ThreadsChain *c, int64_t piece) {
    int64_t handed;
    for (int i = 0;; i++) {
        handed = atomic_load_explicit(&c->handed, memory_order_acquire);
        if (handed >= piece) return piece;
        if (i == SPINS) return handed;
        relax();
    }
}

bool qthreads_claim(ThreadsChain *c, int64_t piece) {
    return atomic_compare_exchange_strong_explicit(&c->claimed, &piece, piece + 1, memory_order_relaxed,
                                                   memory_order_relaxed);
}

void qthreads_hand_on(ThreadsChain *c, int64_t piece) {
    atomic_store_explicit(&c->handed, piece + 1, memory_order_release);
}
