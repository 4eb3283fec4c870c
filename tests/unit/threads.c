/* The thread pool: every part runs once, visible afterwards; successive jobs; chains; after fork; limits. */
#include "devices/threads.h"
#include "tests/unit/check.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 10007 };

static Ctx ctx;

typedef struct {
    uint32_t seen[N];
    atomic_int workers[8];
} Job;

static void mark(void *ud, int64_t first, int64_t last, int worker) {
    Job *j = ud;
    for (int64_t i = first; i < last; i++) j->seen[i]++;
    atomic_fetch_add(&j->workers[worker], 1);
}

static bool once(const Job *j, uint32_t n) {
    for (int i = 0; i < N; i++)
        if (j->seen[i] != n) return false;
    return true;
}

static void test_jobs(Threads *t, uint32_t times) {
    Job *j = calloc(1, sizeof *j);
    for (uint32_t k = 1; k <= times; k++) {
        qthreads_run(t, N, 1 + k % 50, mark, j);
        if (!once(j, k)) CHECK(!"a piece was lost or done twice");
    }
    CHECK(once(j, times));
    free(j);
}

/* Parts of a job that is marked as part of another are counted, with one thread and with several. */
static void test_doing(Threads *t) {
    Job *j = calloc(1, sizeof *j);
    Doing *d = &ctx.doing;
    qdoing_begin(d, "test");
    qthreads_run(t, N, 10, mark, j);
    CHECK(qdoing_part(d) < 0);
    qdoing_stage(d, 0.25f, 0.75f, 0);
    CHECK(qdoing_part(d) == 0.25f);
    qthreads_run(t, N, 10, mark, j);
    CHECK(d->of == N && d->done == N && qdoing_part(d) == 0.75f && once(j, 2));
    qdoing_stage(d, 0.75f, 1, 2);
    qdoing_add(d, 1);
    CHECK(qdoing_part(d) == 0.875f);
    qdoing_end(d, &ctx);
    CHECK(!d->name && qdoing_part(d) < 0);
    free(j);
}

/* Room for qthreads_workers is sufficient, however few the parts. */
static void test_few_pieces(Threads *t) {
    for (int64_t n = 1; n <= 7; n++)
        for (int64_t grain = 0; grain <= 3; grain++) {
            int64_t pieces = grain > 1 ? (n + grain - 1) / grain : n;
            int most = qthreads_workers(t, n, grain), beyond = 0;
            CHECK(most == (pieces < qthreads_count(t) ? pieces : qthreads_count(t)));
            Job *j = calloc(1, sizeof *j);
            for (int k = 0; k < 50; k++) qthreads_run(t, n, grain, mark, j);
            for (int i = most; i < 8; i++) beyond += j->workers[i];
            CHECK(!beyond && j->seen[0] == 50 && j->seen[n - 1] == 50 && !j->seen[n]);
            free(j);
        }
}

static void test_fork(Threads *t) {
#if defined(__SANITIZE_THREAD__)
    printf("skipped: the thread sanitizer does not follow fork()\n");
    return;
#endif
    pid_t child = fork();
    if (child == 0) {
        test_jobs(t, 20);
        qthreads_close(&ctx, t);
        _exit(check_failed ? 1 : 0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    test_jobs(t, 5);
}

static void test_limits(void) {
    cpu_set_t old, one;
    CHECK(qthreads_usable() >= 1);
    sched_getaffinity(0, sizeof old, &old);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &old)) CPU_SET(i, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0 && qthreads_usable() == 1);
    sched_setaffinity(0, sizeof old, &old);
    setenv("QUASAR_NUM_THREADS", "3", 1);
    Threads *t = qthreads_open(&ctx, 0);
    CHECK(qthreads_count(t) == 3);
    qthreads_close(&ctx, t);
    unsetenv("QUASAR_NUM_THREADS");
}

static void where(void *ud, int64_t first, int64_t last, int worker) {
    struct timespec slice = {0, 1000000}; /* so that both have something to do */
    (void)first, (void)last;
    ((int *)ud)[worker] = sched_getcpu();
    nanosleep(&slice, NULL);
}

/* A worker that is restricted to the caller's CPU is moved to another one. */
static void test_apart(void) {
    cpu_set_t old, one;
    int at[2], here = sched_getcpu();
    sched_getaffinity(0, sizeof old, &old);
    if (CPU_COUNT(&old) < 2) return;
    Threads *t = qthreads_open(&ctx, 2);
    CPU_ZERO(&one);
    CPU_SET((size_t)here, &one);
    for (int i = 0; i < 2 || (i < 100 && (at[1] < 0 || at[1] == here)); i++) { /* the thread may be moved meanwhile */
        at[1] = -1;
        sched_setaffinity(0, sizeof one, &one); /* the caller is here; a new worker inherits this CPU */
        if (i) sched_setaffinity(0, sizeof old, &old);
        qthreads_run(t, 8, 1, where, at);
    }
    CHECK(at[1] >= 0 && at[1] != here);
    qthreads_close(&ctx, t);
}

/* -- chains -------------------------------------------------------------------------------------------------------- */
enum { LINKS = 300, SLOW = 17 /* every n-th link is late, and other threads make it */ };
typedef struct {
    ThreadsChain chain;
    uint64_t value[LINKS + 1];
    int made[LINKS];
    atomic_int helped;
} Links;

static void make_link(Links *l, int64_t k) {
    if (!qthreads_claim(&l->chain, k)) return;
    l->value[k + 1] = 3 * l->value[k] + (uint64_t)k, l->made[k]++;
    qthreads_hand_on(&l->chain, k);
}

static void take_links(void *ud, int64_t first, int64_t last, int worker) {
    Links *l = ud;
    struct timespec late = {0, 2000000};
    (void)worker;
    for (; first < last; first++) {
        int64_t k = qthreads_take(&l->chain), known;
        if (k % SLOW == 0) nanosleep(&late, NULL);
        while ((known = qthreads_await(&l->chain, k)) < k) atomic_fetch_add(&l->helped, 1), make_link(l, known);
        make_link(l, k);
        CHECK(qthreads_await(&l->chain, k) == k);
    }
}

/* Each link is made once, from the previous one, by its thread or by one that waited too long for it. */
static void test_chain(Threads *t) {
    Links *l = calloc(1, sizeof *l);
    uint64_t value = 1;
    bool good = true;
    l->value[0] = 1;
    qthreads_run(t, LINKS, 1, take_links, l);
    for (int k = 0; k < LINKS; k++) {
        value = 3 * value + (uint64_t)k;
        good &= l->made[k] == 1 && l->value[k + 1] == value;
    }
    CHECK(good);
    CHECK((l->helped > 0) == (qthreads_count(t) > 1));
    free(l);
}

int main(void) {
    qctx_init(&ctx, 32);
    size_t before = ctx.bytes;
    for (int n = 1; n <= 5; n++) {
        Threads *t = qthreads_open(&ctx, n);
        CHECK(qthreads_count(t) == n);
        test_jobs(t, 300);
        test_doing(t);
        test_few_pieces(t);
        test_chain(t);
        if (n == 4) test_fork(t);
        qthreads_close(&ctx, t);
    }
    test_limits();
    test_apart();
    CHECK(ctx.bytes == before);
    qctx_close(&ctx);
    return check_done();
}
