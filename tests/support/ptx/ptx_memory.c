/* ptx_memory.c -- loads, stores and atomic updates, and what is watched about them.
 *
 * An address must be a multiple of what is moved, and lie in a block that somebody owns: one of the driver's, a .global
 * variable, the shared memory of the block, the local memory of the thread, the parameters.  Otherwise the launch ends,
 * as on a GPU.  Of each byte of shared memory it is known whether it was written, and of each unit (the smallest
 * that the kernel moves) who touched it last since the last barrier. */
#include "tests/support/ptx/ptx_machine.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef enum { READ, WRITE, UPDATE, LOOK /* a read that is meant to meet others: volatile, relaxed */ } Access;

/* -- blocks of global memory --------------------------------------------------------------------------------------- */
static bool find_variable(const PtxModule *m, uint64_t at, uint64_t *begin, uint64_t *end) {
    for (uint32_t k = 0; k < m->nvariables; k++) {
        const PtxVariable *v = &m->variable[k];
        if (!v->shared && at >= v->at && at - v->at < v->bytes) return *begin = v->at, *end = v->at + v->bytes, true;
    }
    return false;
}

/* An instruction remembers the block that it accessed last, for the duration of the launch. */
static bool in_global(PtxModule *m, PtxIns *i, uint64_t at, size_t n) {
    if (i->launch == m->nlaunch && at >= i->begin && at + n <= i->end) return true;
    if (!find_variable(m, at, &i->begin, &i->end) &&
        !(m->host.find && m->host.find(m->host.ud, at, &i->begin, &i->end)))
        return i->launch = 0, false;
    i->launch = m->nlaunch;
    return at + n <= i->end;
}

static uint64_t asked;

uint64_t ptx_asked(void) { return asked; }

static void count_bytes(const PtxIns *i, uint32_t lanes) {
    if (i->space == SPACE_GLOBAL) asked += (uint64_t)__builtin_popcount(lanes) * ptx_type_bytes(i->type) * i->n;
}

/* -- shared memory ------------------------------------------------------------------------------------------------- */
static bool same_now(const PtxModule *m, const Warp *w, uint32_t epoch, uint16_t thread, uint16_t turn, uint16_t me) {
    return epoch == m->epoch && thread != me && !(thread / LANES == w->number && turn != w->turn);
}

/* Two threads access one location without a barrier between them, and one of them writes: a race.  Storing an equal
 * value is not a race: a flag that all threads set. */
static void watch_race(PtxModule *m, const Warp *w, int lane, const PtxIns *i, uint64_t at, Access how, bool changes) {
    Shadow *s = &m->shadow[at / 4];
    uint16_t me = (uint16_t)(w->number * LANES + (unsigned)lane);
    bool wrote = same_now(m, w, s->written, s->writer, s->write_turn, me) && !(how >= UPDATE && s->atomic);
    bool had_read = how != READ && how != LOOK && changes && same_now(m, w, s->read, s->reader, s->read_turn, me);
    if ((wrote && (how == READ || how == LOOK || changes)) || had_read)
        ptx_mistake(m, w, lane, i, 0,
                    "a race: thread %u %s byte %" PRIu64 " of shared memory, too, and no barrier is "
                    "between",
                    wrote ? s->writer : s->reader, wrote ? "writes" : "reads", at);
    if (how == READ) s->read = m->epoch, s->reader = me, s->read_turn = w->turn;
    if (how == READ || how == LOOK || !changes) return;
    s->written = m->epoch, s->writer = me, s->write_turn = w->turn, s->atomic = how == UPDATE;
}

static void watch_shared(PtxModule *m, const Warp *w, int lane, const PtxIns *i, uint64_t at, size_t n, Access how,
                         const void *value) {
    uint8_t *set = m->shared_set + at;
    if (how != WRITE) /* an update is also a read */
        for (size_t k = 0; k < n; k++)
            if (!set[k]) {
                ptx_mistake(m, w, lane, i, 0, "byte %" PRIu64 " of shared memory is read before anybody wrote it",
                            at + k);
                memset(set, 1, n);
            }
    bool changes = how != READ && how != LOOK && (!value || !set[0] || memcmp(m->shared + at, value, n) != 0);
    if (how != READ && how != LOOK) memset(set, 1, n);
    if (m->host.race_free || n < 4) return; /* a unit has four bytes: of smaller ones neighbours would be told */
    for (uint64_t k = at; k < at + n; k += 4) watch_race(m, w, lane, i, k, how, changes);
}

/* -- one thread's address ------------------------------------------------------------------------------------------ */
static const char *space_name(unsigned space) {
    static const char *const names[] = {"generic", "global", "shared", "local", "parameter", "argument"};
    return names[space];
}

static unsigned resolve(unsigned space, uint64_t *at) {
    static const uint8_t spaces[] = {SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM};
    if (space != SPACE_GENERIC) return space;
    uint64_t window = WINDOW_OF(*at);
    if (window > 3) return SPACE_GLOBAL;
    *at &= ((uint64_t)1 << 56) - 1;
    return spaces[window];
}

static char *base_of(PtxModule *m, const Warp *w, int lane, unsigned space, uint64_t *at, size_t *bytes) {
    switch (space) {
    case SPACE_SHARED:
        if (*at < DYNAMIC_SHARED) return *bytes = m->dynamic_at, m->shared;
        *at -= DYNAMIC_SHARED, *bytes = m->shared_bytes - m->dynamic_at;
        return m->shared + m->dynamic_at;
    case SPACE_LOCAL: *bytes = m->local_bytes; return m->local + (w->number * LANES + (unsigned)lane) * m->local_bytes;
    default: return *bytes = m->launch->nparams, (char *)(uintptr_t)m->launch->params;
    }
}

static void *outside(PtxModule *m, const Warp *w, int lane, const PtxIns *i, unsigned space, uint64_t at, size_t n) {
    ptx_mistake(m, w, lane, i, PTX_ILLEGAL_ADDRESS, "%zu bytes at %#" PRIx64 " of %s memory, which nobody owns", n, at,
                space_name(space));
    return NULL;
}

/* The address of the bytes, or NULL: the launch has ended. */
static void *reach(PtxModule *m, const Warp *w, int lane, PtxIns *i, uint64_t at, size_t n, unsigned *space) {
    size_t bytes;
    *space = resolve(i->space, &at);
    if (at % n) {
        ptx_mistake(m, w, lane, i, PTX_MISALIGNED, "%zu bytes at %#" PRIx64 " of %s memory: no multiple of them", n, at,
                    space_name(*space));
        return NULL;
    }
    if (*space == SPACE_GLOBAL)
        return in_global(m, i, at, n) ? (void *)(uintptr_t)at : outside(m, w, lane, i, *space, at, n);
    char *base = base_of(m, w, lane, *space, &at, &bytes);
    return at <= bytes && n <= bytes - at ? base + at : outside(m, w, lane, i, *space, at, n);
}

static uint64_t address_of(const Warp *w, const PtxIns *i, int L) {
    if (i->a < 0) return (uint64_t)i->imm;
    return i->awide == 4 ? (u32)(AT(u32, i->a)[L] + (u32)i->imm) : AT(u64, i->a)[L] + (uint64_t)i->imm;
}

/* -- all threads at once, where all addresses lie in the block that the instruction touched last ------------------- */
static bool all_in_last(const PtxModule *m, const Warp *w, const PtxIns *i, uint32_t lanes, size_t n) {
    uint64_t least = UINT64_MAX, most = 0, bits = 0;
    if (i->space != SPACE_GLOBAL || i->a < 0 || i->awide != 8 || i->launch != m->nlaunch) return false;
    EACH(lanes, {
        uint64_t at = AT(u64, i->a)[L] + (uint64_t)i->imm;
        least = at < least ? at : least;
        most = at > most ? at : most;
        bits |= at;
    });
    return !(bits & (n - 1)) && least >= i->begin && most <= i->end && i->end - most >= n;
}

/* -- values -------------------------------------------------------------------------------------------------------- */
static bool is_signed(unsigned type) { return type == T_s8 || type == T_s16 || type == T_s32 || type == T_s64; }

/* Constant sizes make a move a single instruction. */
static inline void move_bytes(void *to, const void *from, size_t n) {
    switch (n) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: memcpy(to, from, n);
    }
}

static void put(Warp *w, const PtxIns *i, int k, int lane, const void *from, size_t n) {
    char *to = w->file + i->v[k] + (size_t)lane * i->dwide;
    int64_t fill = 0;
    move_bytes(&fill, from, n);
    if (is_signed(i->type)) fill = (int64_t)((uint64_t)fill << (64 - 8 * n)) >> (64 - 8 * n);
    move_bytes(to, &fill, i->dwide);
}

#define LOAD_FAST(T)                                                                                                   \
    for (int k = 0; k < i->n; k++)                                                                                     \
    EACH(lanes, { AT(T, i->v[k])[L] = ((const T *)(uintptr_t)(AT(u64, i->a)[L] + (uint64_t)i->imm))[k]; })
#define STORE_FAST(T)                                                                                                  \
    for (int k = 0; k < i->n; k++)                                                                                     \
    EACH(lanes, { ((T *)(uintptr_t)(AT(u64, i->a)[L] + (uint64_t)i->imm))[k] = AT(T, i->v[k])[L]; })

/* Parameters of calls are in units of 8 bytes for each lane. */
static void argument(Warp *w, const PtxIns *i, uint32_t lanes, bool store) {
    size_t n = ptx_type_bytes(i->type);
    for (size_t k = 0; k < i->n; k++) {
        size_t at = (size_t)i->imm + k * n;
        EACH(lanes, {
            char *unit = w->file + i->a + at / 8 * 256 + (size_t)L * 8 + at % 8;
            if (store) move_bytes(unit, w->file + i->v[k] + (size_t)L * i->dwide, n);
            else put(w, i, (int)k, L, unit, n);
        });
    }
}

#define SPREAD(T)                                                                                                      \
    {                                                                                                                  \
        T x;                                                                                                           \
        memcpy(&x, from, sizeof x);                                                                                    \
        EACH(lanes, { AT(T, i->v[k])[L] = x; });                                                                       \
    }

static bool same_address(const Warp *restrict w, const PtxIns *restrict i, uint32_t lanes, uint64_t *at) {
    uint64_t first = *at = address_of(w, i, __builtin_ctz(lanes)), other = 0;
    if (i->a < 0) return true;
    if (i->awide != 8) return false;
    EACH(lanes, { other |= (AT(u64, i->a)[L] + (uint64_t)i->imm) ^ first; });
    return !other;
}

/* The parameters of the kernel are the same for all. */
static bool parameter(const PtxModule *m, Warp *restrict w, const PtxIns *restrict i, uint32_t lanes) {
    size_t n = ptx_type_bytes(i->type), all = n * i->n;
    uint64_t at;
    if (i->space != SPACE_PARAM || !same_address(w, i, lanes, &at)) return false;
    if (at % all || all > m->launch->nparams || at > m->launch->nparams - all) return false;
    for (size_t k = 0; k < i->n; k++) {
        const char *from = (const char *)m->launch->params + at + k * n;
        if (n == 8 && i->dwide == 8) SPREAD(u64)
        else if (n == 4 && i->dwide == 4) SPREAD(u32)
        else EACH(lanes, { put(w, i, (int)k, L, from, n); });
    }
    return true;
}

void ptx_ld(PtxModule *m, Warp *restrict w, PtxIns *restrict i, uint32_t lanes) {
    size_t n = ptx_type_bytes(i->type);
    unsigned space;
    if (i->space == SPACE_ARG) {
        argument(w, i, lanes, false);
        return;
    }
    if (parameter(m, w, i, lanes)) return;
    count_bytes(i, lanes);
    if (n >= 4 && i->dwide == n && all_in_last(m, w, i, lanes, n * i->n)) {
        if (n == 4) LOAD_FAST(u32);
        else LOAD_FAST(u64);
        return;
    }
    for (uint32_t left = lanes; left && !m->error; left &= left - 1) {
        int lane = __builtin_ctz(left);
        uint64_t at = address_of(w, i, lane);
        const char *from = reach(m, w, lane, i, at, n * i->n, &space);
        if (!from) return;
        if (space == SPACE_SHARED)
            watch_shared(m, w, lane, i, (uint64_t)(from - m->shared), n * i->n, i->what == W_SYNC ? LOOK : READ, NULL);
        for (int k = 0; k < i->n; k++) put(w, i, k, lane, from + (size_t)k * n, n);
    }
}

void ptx_st(PtxModule *m, Warp *restrict w, PtxIns *restrict i, uint32_t lanes) {
    size_t n = ptx_type_bytes(i->type);
    unsigned space;
    char value[VECTOR * 8];
    if (i->space == SPACE_ARG) {
        argument(w, i, lanes, true);
        return;
    }
    count_bytes(i, lanes);
    if (n >= 4 && i->dwide == n && all_in_last(m, w, i, lanes, n * i->n)) {
        if (n == 4) STORE_FAST(u32);
        else STORE_FAST(u64);
        return;
    }
    for (uint32_t left = lanes; left && !m->error; left &= left - 1) {
        int lane = __builtin_ctz(left);
        for (size_t k = 0; k < i->n; k++) move_bytes(value + k * n, w->file + i->v[k] + (size_t)lane * i->dwide, n);
        char *to = reach(m, w, lane, i, address_of(w, i, lane), n * i->n, &space);
        if (!to) return;
        if (space == SPACE_SHARED) watch_shared(m, w, lane, i, (uint64_t)(to - m->shared), n * i->n, WRITE, value);
        memcpy(to, value, n * i->n);
    }
}

/* -- atomic updates: thread after thread, beginning anywhere ------------------------------------------------------- */
static uint64_t whole(const PtxIns *i, uint64_t old, uint64_t b, uint64_t c) {
    bool wide = ptx_type_bytes(i->type) == 8, sign = is_signed(i->type);
    int64_t so = wide ? (int64_t)old : (int32_t)old, sb = wide ? (int64_t)b : (int32_t)b;
    switch ((PtxWhat)i->what) {
    case W_ADD: return old + b;
    case W_MIN: return sign ? so < sb ? old : b : old < b ? old : b;
    case W_MAX: return sign ? so > sb ? old : b : old > b ? old : b;
    case W_AND: return old & b;
    case W_OR: return old | b;
    case W_XOR: return old ^ b;
    case W_INC: return old >= b ? 0 : old + 1;
    case W_DEC: return old == 0 || old > b ? b : old - 1;
    case W_CAS: return old == b ? c : old;
    default: return b;
    }
}

static uint64_t updated(const PtxIns *i, uint64_t old, uint64_t b, uint64_t c) {
    if (i->what != W_ADD || (i->type != T_f32 && i->type != T_f64)) return whole(i, old, b, c);
    uint64_t r = 0;
    if (i->type == T_f32) {
        float x, y;
        memcpy(&x, &old, 4), memcpy(&y, &b, 4), x += y;
        memcpy(&r, &x, 4);
    } else {
        double x, y;
        memcpy(&x, &old, 8), memcpy(&y, &b, 8), x += y;
        memcpy(&r, &x, 8);
    }
    return r;
}

static void atom(PtxModule *m, Warp *w, PtxIns *i, int lane) {
    size_t n = ptx_type_bytes(i->type), at = (size_t)lane * n;
    uint64_t old = 0, b = 0, c = 0;
    unsigned space;
    char *to = reach(m, w, lane, i, address_of(w, i, lane), n, &space);
    if (!to) return;
    if (space == SPACE_SHARED) watch_shared(m, w, lane, i, (uint64_t)(to - m->shared), n, UPDATE, NULL);
    memcpy(&old, to, n), memcpy(&b, w->file + i->b + at, n);
    if (i->c >= 0) memcpy(&c, w->file + i->c + at, n);
    uint64_t r = updated(i, old, b, c);
    memcpy(to, &r, n);
    if (i->d >= 0) memcpy(w->file + i->d + at, &old, n);
}

void ptx_atom(PtxModule *m, Warp *w, PtxIns *i, uint32_t lanes) {
    count_bytes(i, lanes);
    unsigned first = (unsigned)ptx_random(m) % LANES;
    for (unsigned k = 0; k < LANES && !m->error; k++) {
        unsigned lane = (first + k) % LANES;
        if (lanes >> lane & 1) atom(m, w, i, (int)lane);
    }
}
