/* cpu.c -- runs kernels on the CPU: executes native code on blocks of positions, in parallel on the thread pool.
 *
 * A launch is divided into blocks.  A kernel that uses its block gets the blocks of the launch.  For any other kernel
 * the device chooses blocks that are long along the last axis (for vector instructions), large enough to be worth
 * scheduling, and small enough that all threads get some and an interrupt is noticed soon.  A launch with little work
 * stays on the calling thread.
 *
 * The block size follows from the measured time per position.  An estimate by counting instructions would be far off,
 * because it does not know how many positions a vector instruction computes.  Each thread has the same share of an
 * array in every launch (threads.c). */
#include "devices/elf.h"
#include "devices/host.h"
#include "devices/native.h"
#include "devices/private_copies.h"
#include "devices/threads.h"
#include "vm/base/clock.h"
#include "vm/base/libm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Times in nanoseconds.  A launch shorter than SMALL runs on one thread; a block should take LARGE; a position that
 * takes HEAVY may be a block of its own. */
enum { SMALL = 20000, LARGE = 150000, HEAVY = 2000, BLOCK_MAX = 1 << 16 /* positions */ };
static const double instruction = 0.3; /* estimated time of an instruction in nanoseconds */

typedef struct {
    void *p;
    size_t n;
} Scratch;

typedef struct {
    Ctx *ctx;
    Threads *threads;             /* thread pool of the context */
    void *mvec;                   /* libmvec; NULL: not needed so far */
    Scratch scratch[THREADS_MAX]; /* one per worker */
} Cpu;

struct Program {
    ElfObject *object;
    native_fn *run;
    const NativeInfo *info;
    double cost; /* nanoseconds per position, estimated until measured; < 0: unknown, because of loops */
    bool measured;
    char *name;
};

/* -- the device ---------------------------------------------------------------------------------------------------- */
static void describe_cpu(Device *d) {
    char line[256], *model = NULL;
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && !model && fgets(line, sizeof line, f))
        if (!strncmp(line, "model name", 10) && (model = strchr(line, ':'))) model += 2;
    if (f) fclose(f);
    if (model) model[strcspn(model, "\n")] = 0;
    snprintf(d->named, sizeof d->named, "%.90s, %d thread%s", model ? model : "processor", d->threads,
             d->threads == 1 ? "" : "s");
}

static qs_status open_device(Device *d, int ordinal) {
    Cpu *cpu = qmem_alloc(d->ctx, sizeof *cpu);
    cpu->ctx = d->ctx, cpu->threads = qthreads_of(d->ctx);
    d->state = cpu, d->ordinal = ordinal, d->memory = HOST_MEMORY, d->max_block = 4096;
    d->threads = qthreads_count(cpu->threads);
    d->total_memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    return QS_OK;
}

static void close_device(Device *d) {
    Cpu *cpu = d->state;
    if (!cpu) return;
    for (int i = 0; i < THREADS_MAX; i++) qmem_try_free(d->ctx, cpu->scratch[i].p, cpu->scratch[i].n);
    if (cpu->mvec) dlclose(cpu->mvec);
    qmem_free(d->ctx, cpu, sizeof *cpu);
    d->state = NULL;
}

/* -- programs ------------------------------------------------------------------------------------------------------ */

/* Returns the address of a C library function.  Vector functions are in libmvec, which is opened on first use. */
static void *resolve_symbol(void *ud, const char *name) {
    Cpu *cpu = ud;
    if (!strcmp(name, "lgamma")) return (void *)(uintptr_t)qlibm_lgamma;
    if (!strcmp(name, "lgammaf")) return (void *)(uintptr_t)qlibm_lgammaf;
    if (!strcmp(name, "tgamma")) return (void *)(uintptr_t)qlibm_tgamma;
    if (!strcmp(name, "tgammaf")) return (void *)(uintptr_t)qlibm_tgammaf;
    if (!strncmp(name, "qlibm_", 6)) return qlibm_symbol(name);
    if (strncmp(name, "_ZGV", 4) != 0) return dlsym(RTLD_DEFAULT, name);
    if (!cpu->mvec) cpu->mvec = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
    return cpu->mvec ? dlsym(cpu->mvec, name) : NULL;
}

/* Estimates the cost of a position in nanoseconds before the kernel has run; -1: unknown, because of loops. */
static double guess(const NativeInfo *info) { return info->flags & NATIVE_LOOPS ? -1 : info->cost * instruction; }

static qs_status find_entry(Device *d, Program *p, const Code *code) {
    char info[80];
    snprintf(info, sizeof info, "%s_info", code->entry);
    void *run = qelf_symbol(p->object, code->entry);
    memcpy(&p->run, &run, sizeof run); /* C has no cast from an object to a function */
    p->info = qelf_symbol(p->object, info);
    if (p->run && p->info && p->info->abi == NATIVE_ABI) {
        p->cost = guess(p->info);
        return QS_OK;
    }
    return qerr_set(d->ctx, QS_EDEVICE, "kernel %s: its code was made for another version of the cpu device",
                    code->name);
}

static void unload_program(Device *d, Program *p) {
    if (p->object) qelf_unload(d->ctx, p->object);
    qmem_free(d->ctx, p->name, strlen(p->name) + 1);
    qmem_free(d->ctx, p, sizeof *p);
}

static qs_status load_program(Device *d, const Code *code, Program **out) {
    Program *p = qmem_alloc(d->ctx, sizeof *p);
    const char *name = code->name ? code->name : "";
    p->name = qmem_alloc(d->ctx, strlen(name) + 1);
    memcpy(p->name, name, strlen(name));
    qs_status s = qelf_load(d->ctx, code->bytes, code->n, resolve_symbol, d->state, &p->object);
    if (s == QS_OK) s = find_entry(d, p, code);
    if (s != QS_OK) unload_program(d, p);
    else *out = p;
    return s;
}

/* -- launches ------------------------------------------------------------------------------------------------------ */
typedef struct {
    Cpu *cpu;
    const Program *p;
    const DevArg *args;
    int nargs;
    NativeRun run;
    int64_t positions, nblocks;
} Job;

enum { TILE = 32 }; /* positions along an axis of a block of NATIVE_TILES */

static int64_t at_least_1(int64_t n) { return n < 1 ? 1 : n; }

/* Returns the number of positions per block, for kernels that do not use their block.  `shares` is the desired minimum
 * number of blocks. */
static int64_t block_size(const Program *p, double cost, int64_t positions, int64_t shares) {
    bool single = (p->info->flags & NATIVE_SINGLE) && (cost < 0 || cost > HEAVY);
    int64_t n = cost > 0 ? (int64_t)(LARGE / cost) : BLOCK_MAX, share = positions / shares;
    if (n > BLOCK_MAX) n = BLOCK_MAX;
    if (n > share) n = share;
    if (n < 64) return single ? at_least_1(n) : 64;
    return n & ~(int64_t)63;
}

/* Sets the block extents: those that were measured to be fast, unless the order of updates depends on them; or else
 * whole axes, starting with the last one, as long as they fit in `size` positions, or the width of a tile. */
static void choose_block(NativeRun *run, const Launch *l, int64_t size, unsigned flags) {
    const int last = l->rank - 1;
    int64_t row = flags & NATIVE_ROWS && run->domain[last] <= NATIVE_LONGEST_ROW ? run->domain[last] : 1;
    bool tuned = l->any_block && l->tuned && !(flags & NATIVE_ORDERED);
    bool tiles = flags & NATIVE_TILES && !(flags & (NATIVE_ROWS | NATIVE_ORDERED));
    if (row > size) size = row;
    for (int a = last; a >= 0; a--) {
        int64_t most = !tuned ? size : a == last && l->block[a] < row ? row : l->block[a];
        if (tiles && !tuned && most > TILE) most = TILE;
        run->block[a] = run->domain[a] < most ? run->domain[a] : at_least_1(most);
        size /= run->block[a];
    }
}

static qs_status take_block(Device *d, const Program *p, const Launch *l, NativeRun *run) {
    for (int a = 0; a < l->rank; a++) {
        if (l->block[a] < 1)
            return qerr_set(d->ctx, QS_EVALUE, "kernel %s: block extent %d along dimension %d", p->name, l->block[a],
                            a);
        run->block[a] = l->block[a];
    }
    return QS_OK;
}

static void run_blocks(void *ud, int64_t first, int64_t last, int worker) {
    const Job *j = ud;
    j->p->run(j->args, &j->run, first, last, j->cpu->scratch[worker].p);
}

static void run_part(void *ud, const DevArg *args, int64_t first, int64_t last, int worker) {
    const Job *j = ud;
    j->p->run(args, &j->run, first, last, j->cpu->scratch[worker].p);
}

static qs_status get_scratch(Device *d, const Program *p, const NativeRun *run, int rank, int threads) {
    size_t items = 1, n;
    for (int a = 0; a < rank; a++)
        if (__builtin_mul_overflow(items, (size_t)run->block[a], &items)) items = SIZE_MAX;
    if ((n = qmem_size(items, p->info->item_bytes, p->info->shared_bytes)) == SIZE_MAX)
        return qerr_set(d->ctx, QS_EVALUE, "kernel %s: a block of %zu positions is too large", p->name, items);
    for (int i = 0; i < threads; i++) {
        Scratch *s = &((Cpu *)d->state)->scratch[i];
        if (s->n >= n) continue;
        qmem_try_free(d->ctx, s->p, s->n);
        s->n = 0, s->p = qmem_try(d->ctx, n);
        if (!s->p) return qerr_set(d->ctx, QS_ENOMEM, "kernel %s: no memory for a block (%zu bytes)", p->name, n);
        s->n = n;
    }
    return QS_OK;
}

static qs_status count_positions(Device *d, const Program *p, const Launch *l, NativeRun *run, int64_t *positions) {
    *positions = 1;
    for (int a = 0; a < l->rank; a++) {
        run->domain[a] = l->domain[a];
        if (l->domain[a] <= 0) return *positions = 0, QS_OK;
        if (__builtin_mul_overflow(*positions, l->domain[a], positions))
            return qerr_set(d->ctx, QS_EVALUE, "kernel %s: more than 2^63 positions", p->name);
    }
    return QS_OK;
}

/* Divides the launch into blocks.  If the order of updates matters (NATIVE_ORDERED), the division depends only on the
 * kernel and the launch, not on measured times or the number of threads. */
static qs_status divide_launch(Device *d, const Launch *l, Job *j, int64_t parts) {
    const Program *p = j->p;
    NativeRun *run = &j->run;
    bool ordered = p->info->flags & NATIVE_ORDERED;
    double cost = ordered ? guess(p->info) : p->cost;
    int64_t shares = ordered ? parts : qthreads_count(j->cpu->threads) * 4;
    if (p->info->flags & NATIVE_BLOCKS) TRY(take_block(d, p, l, run));
    else choose_block(run, l, block_size(p, cost, j->positions, shares), p->info->flags);
    j->nblocks = 1;
    for (int a = 0; a < l->rank; a++) j->nblocks *= run->nblocks[a] = (run->domain[a] - 1) / run->block[a] + 1;
    return QS_OK;
}

static qs_status run_job(Job *j, int64_t parts, int threads) {
    if (parts > 1) {
        Threads *t = threads > 1 ? j->cpu->threads : NULL;
        Parts all = {.info = j->p->info, .args = j->args, .nargs = j->nargs, .nblocks = j->nblocks, .n = parts};
        if (!qprivate_run(j->cpu->ctx, t, &all, run_part, j)) return QS_ENOMEM;
    } else if (threads == 1) run_blocks(j, 0, j->nblocks, 0);
    else qthreads_run(j->cpu->threads, j->nblocks, 1, run_blocks, j);
    return QS_OK;
}

/* Runs the job and measures the cost of a position, which decides the block size of the next launch.  The compiler's
 * estimate ignores vector instructions and loop lengths that depend on arguments. */
static qs_status run_measured(Job *j, Program *p, int64_t parts, int threads) {
    double start = qclock_ns();
    TRY(run_job(j, parts, threads));
    double cost = (qclock_ns() - start) * (double)(j->nblocks < threads ? j->nblocks : threads) / (double)j->positions;
    p->cost = p->measured ? (3 * p->cost + cost) / 4 : cost;
    p->measured = true;
    return QS_OK;
}

static const Flag never;

/* Returns the lowest address of this thread's stack that compiled recursion may reach: half of the remaining stack,
 * because a function needs an unknown number of bytes below its start, and it may call the C library. */
static uint64_t stack_limit(void) {
    static _Thread_local uint64_t low;
    uint64_t here = (uint64_t)(uintptr_t) & (char){0}, most = 64 << 20;
    pthread_attr_t a;
    if (!low && !pthread_getattr_np(pthread_self(), &a)) {
        void *base;
        size_t size;
        if (!pthread_attr_getstack(&a, &base, &size)) low = (uint64_t)(uintptr_t)base;
        pthread_attr_destroy(&a);
    }
    uint64_t left = low && low < here ? here - low : 0;
    return here - (left < most ? left : most) / 2;
}

/* Returns the number of threads to use. */
static int threads_for(const Job *j, int64_t parts, bool cheap) {
    unsigned flags = j->p->info->flags;
    bool in_order = (flags & NATIVE_SERIAL) || (flags & NATIVE_ORDERED && parts == 1);
    return in_order || cheap || j->nblocks == 1 ? 1 : qthreads_count(j->cpu->threads);
}

static qs_status launch_kernel(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args, DevFault *fault) {
    DevFault unseen = {0};
    Job j = {.cpu = d->state, .p = p, .args = args, .nargs = nargs};
    NativeRun *run = &j.run;
    if ((uint32_t)nargs != p->info->nargs)
        return qerr_set(d->ctx, QS_EINTERNAL, "kernel %s: launched with %d arguments, made for %u", p->name, nargs,
                        p->info->nargs);
    if (fault) fault->message = 0;
    TRY(count_positions(d, p, l, run, &j.positions));
    if (!j.positions) return QS_OK;
    int64_t parts = qprivate_count(p->info, args, j.positions);
    TRY(divide_launch(d, l, &j, parts));
    if (parts > j.nblocks) parts = j.nblocks;
    bool cheap = p->cost >= 0 && (double)j.positions * p->cost < SMALL;
    int threads = threads_for(&j, parts, cheap);
    if (threads == 1 && !(p->info->flags & NATIVE_ORDERED)) parts = 1;
    run->stop = d->stop ? d->stop : &never;
    run->fault = fault ? fault : &unseen;
    run->alone = threads == 1 || parts > 1;
    if (p->info->flags & NATIVE_CALLS) run->stack = stack_limit();
    if (p->info->shared_bytes + p->info->item_bytes) TRY(get_scratch(d, p, run, l->rank, threads));
    qs_status s =
        !cheap || p->info->flags & NATIVE_LOOPS ? run_measured(&j, p, parts, threads) : run_job(&j, parts, threads);
    if (s != QS_OK) return qerr_set(d->ctx, s, "kernel %s: no memory for what its parts add up", p->name);
    return qflag_is_up(run->stop) ? qerr_set(d->ctx, QS_EINTERRUPT, "interrupted") : QS_OK;
}

const DeviceOps qdev_cpu_ops = {"cpu",         CODE_NATIVE,  qhost_probe,    open_device, close_device, qhost_alloc,
                                qhost_free,    qhost_upload, qhost_download, qhost_copy,  load_program, unload_program,
                                launch_kernel, qhost_sync,   NULL,           NULL,        describe_cpu};
