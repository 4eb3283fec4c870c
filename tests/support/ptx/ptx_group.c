/* ptx_group.c -- what the threads of a warp do together: barriers, shuffles, votes, matches, reductions.
 *
 * An instruction with a mask waits until all threads of the mask that have not ended are at it; a barrier of the block
 * until all threads of the block are (ptx_warp.c lets them go on).  A thread that is told to wait for somebody who
 * waits elsewhere would hang on a GPU; ptx_warp.c sees that nobody can go on. */
#include "tests/support/ptx/ptx_machine.h"

#include <string.h>

static uint32_t lanes_at(const Warp *w, uint32_t waiting, uint32_t pc) {
    uint32_t here = 0;
    for (uint32_t left = waiting; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        if (w->pc[lane] == pc) here |= 1u << lane;
    }
    return here;
}

static void wait_at_barrier(PtxModule *m, Warp *w, const PtxIns *i, uint32_t pc, uint32_t lanes) {
    uint32_t elsewhere = w->at_barrier & ~lanes_at(w, w->at_barrier, pc);
    if (elsewhere)
        ptx_mistake(m, w, __builtin_ctz(lanes), i, 0,
                    "a barrier in divergent code: thread %d of the warp waits at "
                    "another one, line %u",
                    __builtin_ctz(elsewhere), m->code[w->pc[__builtin_ctz(elsewhere)]].line);
    for (uint32_t left = lanes; left; left &= left - 1) w->pc[__builtin_ctz(left)] = pc;
    w->at_barrier |= lanes;
    w->barrier = AT(u32, i->a)[__builtin_ctz(lanes)];
}

bool ptx_together(PtxModule *m, Warp *w, const PtxIns *i, uint32_t pc, uint32_t lanes, uint32_t *out) {
    if (i->op == P_bar && i->what != W_WARP_SYNC) {
        wait_at_barrier(m, w, i, pc, lanes);
        return false;
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        w->pc[lane] = pc, w->sync_mask[lane] = AT(u32, i->e)[lane];
        if (!(w->sync_mask[lane] >> lane & 1))
            ptx_mistake(m, w, lane, i, PTX_LAUNCH_FAILED, "the mask %#x is without the thread itself",
                        w->sync_mask[lane]);
    }
    w->at_sync |= lanes;
    uint32_t mask = w->sync_mask[__builtin_ctz(lanes)], here = lanes_at(w, w->at_sync, pc);
    *out = here & mask;
    if (mask & ~w->all && i->op == P_shfl)
        ptx_mistake(m, w, __builtin_ctz(lanes), i, 0, "the mask %#x asks for threads that the warp does not have",
                    mask);
    if (mask & w->live & ~here) return false;
    for (uint32_t left = *out; left; left &= left - 1)
        if (w->sync_mask[__builtin_ctz(left)] != mask)
            ptx_mistake(m, w, __builtin_ctz(left), i, PTX_LAUNCH_FAILED, "threads come with masks %#x and %#x",
                        w->sync_mask[__builtin_ctz(left)], mask);
    w->turn++;
    return true;
}

/* The lane that is read, and whether it is in the part of the warp that c describes. */
static int source_lane(const PtxIns *i, int lane, uint32_t b, uint32_t c, bool *in) {
    uint32_t bound = c & 31, part = c >> 8 & 31, me = (uint32_t)lane, most = (me & part) | (bound & ~part);
    uint32_t least = me & part;
    int64_t j = i->what == W_UP     ? (int64_t)me - (b & 31)
                : i->what == W_DOWN ? (int64_t)me + (b & 31)
                : i->what == W_BFLY ? (int64_t)(me ^ (b & 31))
                                    : (int64_t)(least | ((b & 31) & ~part));
    *in = i->what == W_UP ? j >= (int64_t)most : j <= (int64_t)most;
    return *in ? (int)j : lane;
}

static void shuffle(PtxModule *m, Warp *w, const PtxIns *i, uint32_t lanes) {
    u32 values[LANES];
    uint32_t inside = 0;
    memcpy(values, w->file + i->a, sizeof values);
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        bool in;
        int from = source_lane(i, lane, AT(u32, i->b)[lane], AT(u32, i->c)[lane], &in);
        if (in && !(lanes >> from & 1))
            ptx_mistake(m, w, lane, i, 0, "a shuffle from thread %d, which does not take part", from);
        AT(u32, i->d)[lane] = values[from];
        inside |= (uint32_t)in << lane;
    }
    if (i->v[0] >= 0) ptx_set_pred(w, i->v[0], lanes, inside);
}

static void vote(Warp *w, const PtxIns *i, uint32_t lanes) {
    uint32_t yes = ptx_truth(w, i) & lanes;
    bool told = i->what == W_ALL ? yes == lanes : i->what == W_ANY ? yes : yes == lanes || !yes;
    if (i->what == W_BALLOT) EACH(lanes, { AT(u32, i->d)[L] = yes; });
    else ptx_set_pred(w, i->d, lanes, told ? lanes : 0);
}

static uint64_t value_of(const Warp *w, const PtxIns *i, int lane) {
    return i->awide == 8 ? AT(u64, i->a)[lane] : AT(u32, i->a)[lane];
}

static void match(Warp *w, const PtxIns *i, uint32_t lanes) {
    uint32_t groups[LANES] = {0};
    for (int lane = 0; lane < LANES; lane++)
        for (int k = 0; k < LANES; k++)
            if (lanes >> k & 1 && lanes >> lane & 1 && value_of(w, i, k) == value_of(w, i, lane))
                groups[lane] |= 1u << k;
    bool all = groups[__builtin_ctz(lanes)] == lanes;
    EACH(lanes, { AT(u32, i->d)[L] = i->what == W_ANY ? groups[L] : all ? lanes : 0; });
    if (i->v[0] >= 0) ptx_set_pred(w, i->v[0], lanes, all ? lanes : 0);
}

static void reduce(Warp *w, const PtxIns *i, uint32_t lanes) {
    bool sign = i->type == T_s32;
    u32 r = AT(u32, i->a)[__builtin_ctz(lanes)];
    for (uint32_t left = lanes & (lanes - 1); left; left &= left - 1) {
        u32 x = AT(u32, i->a)[__builtin_ctz(left)];
        bool less = sign ? (s32)x < (s32)r : x < r;
        r = i->what == W_ADD   ? r + x
            : i->what == W_MIN ? (less ? x : r)
            : i->what == W_MAX ? (less ? r : x)
            : i->what == W_AND ? (r & x)
            : i->what == W_OR  ? (r | x)
                               : (r ^ x);
    }
    EACH(lanes, { AT(u32, i->d)[L] = r; });
}

void ptx_group(PtxModule *m, Warp *w, const PtxIns *i, uint32_t lanes) {
    if (i->op == P_shfl) shuffle(m, w, i, lanes);
    else if (i->op == P_vote) vote(w, i, lanes);
    else if (i->op == P_match) match(w, i, lanes);
    else if (i->op == P_redux) reduce(w, i, lanes);
}
