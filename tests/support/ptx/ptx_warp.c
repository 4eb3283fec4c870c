/* ptx_warp.c -- a launch: blocks one after the other in a random order, in a block warps that take turns of random
 * length, barriers between them; where nothing but plain global memory could connect them, one warp after the other,
 * beginning anywhere.  Registers, shared and local memory begin with rubbish. */
#include "tests/support/ptx/ptx_machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUBBISH = 0xA5 };

static unsigned mistakes;
static char first_mistake[400];

uint64_t ptx_random(PtxModule *m) {
    uint64_t x = m->random;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    m->random = x;
    return x * 0x2545F4914F6CDD1Du >> 16;
}

unsigned ptx_mistakes(void) { return mistakes; }
const char *ptx_first_mistake(void) { return first_mistake; }
void ptx_forget_mistakes(void) { mistakes = 0, *first_mistake = 0; }
uint64_t ptx_executed(void) { return ptx_total; }

void ptx_coverage(void (*say)(void *ud, const char *instruction, uint64_t times), void *ud) {
    for (unsigned op = 0; op < P_COUNT; op++) say(ud, ptx_op_name(op), ptx_count[op]);
}

void ptx_mistake(PtxModule *m, const Warp *w, int lane, const PtxIns *i, int error, const char *fmt, ...) {
    char what[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    if (error && !m->error) m->error = error;
    if (mistakes++ >= 8) return; /* the first ones tell enough */
    char text[400];
    const char *at = m->text;
    for (uint32_t line = 1; line < i->line && at; line++) at = strchr(at, '\n') + 1;
    at += strspn(at, " \t");
    snprintf(text, sizeof text, "line %u of the PTX, block %u,%u,%u, thread %u: `%.*s`: %s", i->line, m->block[0],
             m->block[1], m->block[2], w->number * LANES + (unsigned)lane, (int)strcspn(at, "\n;"), at, what);
    const char *dump = !mistakes || mistakes == 1 ? getenv("FAKE_GPU_DUMP") : NULL; /* a file for the whole text */
    FILE *f = dump ? fopen(dump, "w") : NULL;
    if (f) fputs(m->text, f), fclose(f);
    if (!*first_mistake) memcpy(first_mistake, text, sizeof text);
    fprintf(stderr, "ptx: %s\n", text);
}

/* -- a warp -------------------------------------------------------------------------------------------------------- */
static void fill(Warp *w, int32_t at, const PtxConst *c) {
    size_t n = ptx_type_bytes(c->type);
    for (size_t lane = 0; lane < LANES; lane++) memcpy(w->file + at + lane * n, &c->bits, n);
}

static bool make_file(PtxModule *m, Warp *w) {
    if (w->file) return true;
    if (posix_memalign((void **)&w->file, 64, m->file_bytes + 64)) return w->file = NULL, false;
    memset(w->file, RUBBISH, m->file_bytes + 64);
    for (uint32_t k = 0; k < m->nconsts; k++) fill(w, m->consts[k].at, &m->consts[k]);
    return true;
}

static uint32_t special(const PtxModule *m, const Warp *w, PtxSpecial s, unsigned lane) {
    const PtxLaunch *l = m->launch;
    unsigned t = w->number * LANES + lane;
    switch (s) {
    case S_TID_X: return t % l->block[0];
    case S_TID_Y: return t / l->block[0] % l->block[1];
    case S_TID_Z: return t / l->block[0] / l->block[1];
    case S_NTID_X:
    case S_NTID_Y:
    case S_NTID_Z: return l->block[s - S_NTID_X];
    case S_CTAID_X:
    case S_CTAID_Y:
    case S_CTAID_Z: return m->block[s - S_CTAID_X];
    case S_NCTAID_X:
    case S_NCTAID_Y:
    case S_NCTAID_Z: return l->grid[s - S_NCTAID_X];
    case S_LANEID: return lane;
    case S_WARPID: return w->number;
    case S_NWARPID: return m->nwarps;
    case S_LANEMASK_EQ: return 1u << lane;
    case S_LANEMASK_LT: return (1u << lane) - 1;
    case S_LANEMASK_LE: return UINT32_MAX >> (31 - lane);
    case S_LANEMASK_GT: return ~(UINT32_MAX >> (31 - lane));
    default: return ~((1u << lane) - 1);
    }
}

static void start_warp(PtxModule *m, Warp *w, const PtxFunction *f, unsigned threads) {
    w->all = threads >= LANES ? UINT32_MAX : (1u << threads) - 1;
    w->live = w->all, w->at_barrier = w->at_sync = 0, w->turn = 0;
    for (unsigned lane = 0; lane < LANES; lane++) w->pc[lane] = (uint32_t)f->first, w->depth[lane] = 0;
    for (int s = 0; s < S_COUNT; s++)
        for (unsigned lane = 0; m->special[s] >= 0 && lane < LANES; lane++)
            AT(u32, m->special[s])[lane] = special(m, w, (PtxSpecial)s, lane);
}

/* -- barriers ------------------------------------------------------------------------------------------------------ */
static bool is_one_word(const PtxIns *i) { return i->what == W_POPC || i->what == W_AND || i->what == W_OR; }

/* bar.red: the number of threads whose predicate is true. */
static void reduce_block(PtxModule *m, unsigned barrier) {
    unsigned yes = 0, all = 0;
    for (unsigned k = 0; k < m->nwarps; k++) {
        Warp *w = &m->warp[k];
        if (!w->at_barrier || w->barrier != barrier) continue;
        const PtxIns *i = &m->code[w->pc[__builtin_ctz(w->at_barrier)]];
        if (!is_one_word(i)) return;
        uint32_t t = *AT(u32, i->c);
        yes += (unsigned)__builtin_popcount((i->not_c ? ~t : t) & w->at_barrier);
        all += (unsigned)__builtin_popcount(w->at_barrier);
    }
    for (unsigned k = 0; k < m->nwarps; k++) {
        Warp *w = &m->warp[k];
        if (!w->at_barrier || w->barrier != barrier) continue;
        const PtxIns *i = &m->code[w->pc[__builtin_ctz(w->at_barrier)]];
        bool holds = i->what == W_AND ? yes == all : yes > 0;
        if (i->what == W_POPC) EACH(w->at_barrier, { AT(u32, i->d)[L] = yes; });
        else *AT(u32, i->d) = holds ? *AT(u32, i->d) | w->at_barrier : *AT(u32, i->d) & ~w->at_barrier;
    }
}

/* The number of threads that a barrier waits for: all that have not ended, or the number that it specifies. */
static unsigned wanted(const PtxModule *m, const Warp *w) {
    const PtxIns *i = &m->code[w->pc[__builtin_ctz(w->at_barrier)]];
    unsigned all = 0;
    if (i->b >= 0) return AT(u32, i->b)[__builtin_ctz(w->at_barrier)];
    for (unsigned k = 0; k < m->nwarps; k++) all += (unsigned)__builtin_popcount(m->warp[k].live);
    return all;
}

static bool release(PtxModule *m, unsigned barrier) {
    unsigned here = 0;
    const Warp *any = NULL;
    for (unsigned k = 0; k < m->nwarps; k++)
        if (m->warp[k].at_barrier && m->warp[k].barrier == barrier)
            any = &m->warp[k], here += (unsigned)__builtin_popcount(any->at_barrier);
    if (!any || here < wanted(m, any)) return false;
    reduce_block(m, barrier);
    m->epoch++;
    for (unsigned k = 0; k < m->nwarps; k++) {
        Warp *w = &m->warp[k];
        if (!w->at_barrier || w->barrier != barrier) continue;
        for (uint32_t left = w->at_barrier; left; left &= left - 1) w->pc[__builtin_ctz(left)]++;
        w->at_barrier = 0;
    }
    return true;
}

static bool release_any(PtxModule *m) {
    for (unsigned k = 0; k < m->nwarps; k++)
        if (m->warp[k].at_barrier && release(m, m->warp[k].barrier)) return true;
    return false;
}

/* -- a block ------------------------------------------------------------------------------------------------------- */
static bool can_go(const Warp *w) { return w->live & ~w->at_barrier & ~w->at_sync; }

static void nobody_can_go(PtxModule *m) {
    for (unsigned k = 0; k < m->nwarps; k++) {
        Warp *w = &m->warp[k];
        if (!w->live) continue;
        int lane = __builtin_ctz(w->live);
        ptx_mistake(m, w, lane, &m->code[w->pc[lane]], PTX_LAUNCH_FAILED,
                    "the threads of the block wait for each other for ever");
        return;
    }
}

/* The bytes between the end of a variable and the end of its word are padding: updates of less than a word read it. */
static void clear_shared(PtxModule *m) {
    if (!m->shared_bytes) return;
    memset(m->shared, RUBBISH, m->shared_bytes);
    memset(m->shared_set, 0, m->shared_bytes);
    for (uint32_t i = 0; i < m->nvariables; i++) {
        const PtxVariable *v = &m->variable[i];
        uint64_t end = v->at + v->bytes;
        if (v->shared && !v->is_extern && end + 4 <= m->shared_bytes) memset(m->shared_set + end, 1, -end & 3);
    }
}

/* Warps that cannot notice each other run one after the other, with the registers of one: these stay in the cache. */
static void run_apart(PtxModule *m, const PtxFunction *f, unsigned threads) {
    Warp *w = &m->warp[0];
    unsigned first = (unsigned)ptx_random(m) % m->nwarps;
    for (unsigned k = 0; k < m->nwarps && !m->error; k++) {
        w->number = (first + k) % m->nwarps;
        start_warp(m, w, f, threads - w->number * LANES);
        while (can_go(w) && !m->error) ptx_run_warp(m, w, 1 << 20);
        if (w->live && !m->error) nobody_can_go(m);
    }
}

/* A barrier that part of a warp waits at is for all of it: the others of the warp may still come. */
static void run_block(PtxModule *m, const PtxFunction *f) {
    unsigned threads = m->launch->block[0] * m->launch->block[1] * m->launch->block[2];
    m->epoch++;
    clear_shared(m);
    if (!m->meets) {
        run_apart(m, f, threads);
        return;
    }
    for (unsigned k = 0; k < m->nwarps; k++) start_warp(m, &m->warp[k], f, threads - k * LANES);
    for (;;) {
        unsigned ready = 0, live = 0, first = (unsigned)ptx_random(m) % m->nwarps;
        for (unsigned k = 0; k < m->nwarps && !m->error; k++) {
            Warp *w = &m->warp[(first + k) % m->nwarps];
            live += w->live != 0;
            if (!can_go(w)) continue;
            ready++;
            ptx_run_warp(m, w, m->nwarps == 1 ? 1 << 20 : (long)(ptx_random(m) % 1000) + 8);
        }
        if (m->error || !live) return;
        if (!ready && !release_any(m)) {
            nobody_can_go(m);
            return;
        }
    }
}

/* -- a launch ------------------------------------------------------------------------------------------------------ */
static bool make_memory(PtxModule *m, const PtxFunction *f, const PtxLaunch *l, unsigned threads) {
    m->local_bytes = (m->local_bytes + 15) & ~(size_t)15;
    size_t local = m->local_bytes * (((size_t)threads + LANES - 1) / LANES * LANES);
    size_t fixed = f->shared > m->static_shared ? f->shared : m->static_shared;
    m->dynamic_at = (fixed + 15) & ~(size_t)15, m->shared_bytes = m->dynamic_at + l->shared;
    if (m->shared_bytes > m->shared_room) {
        free(m->shared), free(m->shared_set), free(m->shadow);
        m->shared_room = m->shared_bytes;
        m->shared = NULL;
        if (posix_memalign((void **)&m->shared, 64, m->shared_bytes + 64)) return false;
        m->shared_set = malloc(m->shared_bytes + 64);
        m->shadow = calloc(m->shared_bytes / 4 + 4, sizeof *m->shadow);
    }
    if (local > m->local_room) {
        free(m->local);
        m->local = malloc(m->local_room = local);
    }
    if (local) memset(m->local, RUBBISH, local);
    return true;
}

/* Blocks in the order first, first + step, …, of the 3-D grid counted along x. */
static void run_blocks(PtxModule *m, const PtxFunction *f) {
    const PtxLaunch *l = m->launch;
    uint64_t n = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], at = ptx_random(m) % n, step = ptx_random(m) % n | 1;
    for (uint64_t a = step, b = n; b; step = a == 1 ? step : 1) { /* step and n must have no common factor */
        uint64_t rest = a % b;
        a = b, b = rest;
    }
    for (uint64_t k = 0; k < n && !m->error; k++, at = (at + step) % n) {
        m->block[0] = (unsigned)(at % l->grid[0]), m->block[1] = (unsigned)(at / l->grid[0] % l->grid[1]);
        m->block[2] = (unsigned)(at / l->grid[0] / l->grid[1]);
        run_block(m, f);
    }
}

int ptx_run(PtxModule *m, int entry, const PtxLaunch *l) {
    const PtxFunction *f = &m->function[entry];
    unsigned threads = l->block[0] * l->block[1] * l->block[2];
    if (!threads || threads > 1024 || (f->max_threads && threads > f->max_threads) || l->nparams < f->param_bytes)
        return 1;
    m->launch = l, m->error = 0, m->nwarps = (threads + LANES - 1) / LANES;
    m->nlaunch++;
    if (!make_memory(m, f, l, threads)) return 2;
    for (unsigned k = 0; k < m->nwarps; k++) {
        m->warp[k].number = k, m->warp[k].live = 0;
        if ((!k || m->meets) && !make_file(m, &m->warp[k])) return 2;
    }
    run_blocks(m, f);
    m->launch = NULL;
    return m->error;
}
