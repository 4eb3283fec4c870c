/* ptx_exec.c -- runs threads of a warp: a switch over the rows of ptx.def.
 *
 * The threads that go on together are a word of bits.  A full warp runs through loops that the C compiler makes vectors
 * of; a part of one goes from bit to bit.  Whoever is not among them waits in w->pc.  Those that are behind go first,
 * up to `stop`, where others wait: so threads come together again where their ways do. */
#include "tests/support/ptx/ptx_machine.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wtype-limits" /* a row holds for types with a sign and for those without */

uint64_t ptx_count[P_COUNT], ptx_total;

/* -- helpers of ptx.def -------------------------------------------------------------------------------------------- */
#define WIDE_s16 s32
#define WIDE_u16 u32
#define WIDE_s32 s64
#define WIDE_u32 u64
#define WIDE_s64 s64
#define WIDE_u64 u64

static uint64_t reverse_bits(uint64_t a, size_t n) {
    uint64_t r = 0;
    for (size_t k = 0; k < n; k++) r |= (a >> k & 1) << (n - 1 - k);
    return r;
}

static u32 find_bit(uint64_t a) { return a ? (u32)(63 - __builtin_clzll(a)) : UINT32_MAX; }

/* len bits from bit pos on; signed ones are filled with the topmost of them. */
static uint64_t extract_bits(uint64_t a, u32 pos, u32 len, size_t bits, bool is_signed) {
    pos &= 255, len &= 255;
    uint64_t all = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1, r = 0;
    a &= all;
    u32 top = pos + len - 1 < bits - 1 ? pos + len - 1 : (u32)bits - 1;
    bool fill = is_signed && len && a >> top & 1;
    for (u32 k = 0; k < bits; k++) {
        bool bit = k < len && pos + k < bits ? a >> (pos + k) & 1 : fill;
        r |= (uint64_t)bit << k;
    }
    return r;
}

static u32 permute_bytes(u32 a, u32 b, u32 c) {
    uint64_t both = (uint64_t)b << 32 | a;
    u32 r = 0;
    for (unsigned k = 0; k < 4; k++) {
        u32 choice = c >> 4 * k & 15, byte = (u32)(both >> 8 * (choice & 7)) & 255;
        r |= (choice & 8 ? (byte & 128 ? 255u : 0) : byte) << 8 * k;
    }
    return r;
}

static inline f32 end_f32(f32 x) {
    const u32 nan = 0x7fffffff;
    f32 made;
    memcpy(&made, &nan, 4);
    return x == x ? x : made;
}
static inline f64 end_f64(f64 x) { return x; }
static inline f16 end_f16(f16 x) {
    const u16 nan = 0x7fff;
    f16 made;
    memcpy(&made, &nan, 2);
    return x == x ? x : made;
}

static inline f32 flushed_f32(unsigned mod, f32 x) { return mod & FTZ && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
static inline f64 flushed_f64(unsigned mod, f64 x) { return (void)mod, x; }

static inline __attribute__((always_inline)) f32 finish_f32(unsigned mod, f32 x) {
    if (mod & BITWISE) return flushed_f32(mod, x);
    if (mod & SAT) return x > 0 ? x < 1 ? flushed_f32(mod, x) : 1 : 0;
    return end_f32(flushed_f32(mod, x));
}
static f16 flushed_f16(unsigned mod, f16 x) {
    return mod & FTZ && fabsf((f32)x) < 0x1p-14f ? (f16)copysignf(0, (f32)x) : x;
}

static f16 finish_f16(unsigned mod, f16 x) {
    if (mod & SAT) return x > 0 ? x < 1 ? x : (f16)1 : (f16)0;
    return mod & BITWISE ? flushed_f16(mod, x) : end_f16(flushed_f16(mod, x));
}
static inline f64 finish_f64(unsigned mod, f64 x) { return mod & SAT ? x > 0 ? x < 1 ? x : 1 : 0 : x; }

/* -1: it is the usual mode. */
int ptx_enter_rounding(unsigned mod) {
    if (!(mod & ROUNDINGS & ~(unsigned)RN)) return -1;
    int before = fegetround();
    fesetround(mod & RZ ? FE_TOWARDZERO : mod & RM ? FE_DOWNWARD : FE_UPWARD);
    return before;
}
void ptx_leave_rounding(int before) {
    if (before >= 0) fesetround(before);
}

/* -- ODD rows that need no others ---------------------------------------------------------------------------------- */
static void move(Warp *restrict w, const PtxIns *restrict i, uint32_t m) {
    if (i->what == W_COPY) {
        switch (i->dwide) {
        case 2: EACH(m, { AT(u16, i->d)[L] = AT(u16, i->a)[L]; }); return;
        case 4: EACH(m, { AT(u32, i->d)[L] = AT(u32, i->a)[L]; }); return;
        default: EACH(m, { AT(u64, i->d)[L] = AT(u64, i->a)[L]; }); return;
        }
    }
    for (size_t k = 0; k < i->n; k++) {
        char *whole = w->file + (i->what == W_JOIN ? i->d : i->a), *piece = w->file + i->v[k];
        size_t n = i->awide;
        EACH(m, {
            char *x = whole + (size_t)L * i->dwide + k * n;
            char *y = piece + (size_t)L * n;
            memcpy(i->what == W_JOIN ? x : y, i->what == W_JOIN ? y : x, n);
        });
    }
}

static void select_one(Warp *restrict w, const PtxIns *restrict i, uint32_t m) {
    uint32_t t = ptx_truth(w, i);
    switch (i->dwide) {
    case 2: EACH(m, { AT(u16, i->d)[L] = t >> L & 1 ? AT(u16, i->a)[L] : AT(u16, i->b)[L]; }); return;
    case 4: EACH(m, { AT(u32, i->d)[L] = t >> L & 1 ? AT(u32, i->a)[L] : AT(u32, i->b)[L]; }); return;
    default: EACH(m, { AT(u64, i->d)[L] = t >> L & 1 ? AT(u64, i->a)[L] : AT(u64, i->b)[L]; }); return;
    }
}

static void logic(Warp *restrict w, const PtxIns *restrict i, uint32_t m) {
    EACH(m, {
        u32 a = AT(u32, i->a)[L];
        u32 b = AT(u32, i->b)[L];
        u32 c = AT(u32, i->c)[L];
        u32 r = 0;
        for (unsigned k = 0; k < 8; k++)
            if (i->imm >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
        AT(u32, i->d)[L] = r;
    });
}

/* The low bits of a go into b. */
static void insert_bits(Warp *restrict w, const PtxIns *restrict i, uint32_t m) {
    size_t bits = 8 * ptx_type_bytes(i->type);
    EACH(m, {
        uint64_t a = bits == 64 ? AT(u64, i->a)[L] : AT(u32, i->a)[L];
        uint64_t r = bits == 64 ? AT(u64, i->b)[L] : AT(u32, i->b)[L];
        u32 pos = AT(u32, i->c)[L] & 255;
        u32 len = AT(u32, i->e)[L] & 255;
        for (u32 k = 0; k < len && pos + k < bits; k++)
            r = (r & ~((uint64_t)1 << (pos + k))) | (a >> k & 1) << (pos + k);
        if (bits == 64) AT(u64, i->d)[L] = r;
        else AT(u32, i->d)[L] = (u32)r;
    });
}

static void test_kind(Warp *restrict w, const PtxIns *restrict i, uint32_t m) {
    uint32_t r = 0;
    EACH(m, {
        int class = i->type == T_f32 ? fpclassify(AT(f32, i->a)[L]) : fpclassify(AT(f64, i->a)[L]);
        bool number = class != FP_NAN;
        bool yes = i->what == W_FINITE       ? number && class != FP_INFINITE
                   : i->what == W_INFINITE   ? class == FP_INFINITE
                   : i->what == W_NUMBER     ? number
                   : i->what == W_NOTANUMBER ? !number
                   : i->what == W_NORMAL     ? class == FP_NORMAL
                                             : class == FP_SUBNORMAL;
        r |= (uint32_t)yes << L;
    });
    ptx_set_pred(w, i->d, m, r);
}

static void test_space(Warp *restrict w, const PtxIns *restrict i, uint32_t m) {
    uint32_t r = 0;
    EACH(m, { r |= (uint32_t)(WINDOW_OF(AT(u64, i->a)[L]) == (uint64_t)i->imm) << L; });
    ptx_set_pred(w, i->d, m, r);
}

/* -- calls --------------------------------------------------------------------------------------------------------- */
static void copy_units(Warp *restrict w, int32_t to, int32_t from, int units, uint32_t m) {
    for (int k = 0; k < units; k++) EACH(m, { AT(u64, to + 256 * k)[L] = AT(u64, from + 256 * k)[L]; });
}

static uint32_t call(PtxModule *m, Warp *w, const PtxIns *i, uint32_t lanes, uint32_t pc) {
    const PtxCall *c = &m->call[i->target];
    const PtxFunction *f = &m->function[c->function];
    for (int k = 0; k < c->nargs; k++) copy_units(w, f->param[k].at, c->arg[k], c->units[k], lanes);
    EACH(lanes, { w->return_to[w->depth[L]][L] = pc; });
    EACH(lanes, { w->depth[L]++; });
    return (uint32_t)f->first;
}

/* Each thread returns to its call site, with the result. */
static void go_back(PtxModule *m, Warp *w, uint32_t lanes) {
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        if (!w->depth[lane]) {
            w->live &= ~(1u << lane);
            continue;
        }
        uint32_t pc = w->return_to[--w->depth[lane]][lane];
        const PtxCall *c = &m->call[m->code[pc].target];
        if (c->nrets) copy_units(w, c->ret, m->function[c->function].ret[0].at, c->ret_units, 1u << lane);
        w->pc[lane] = pc + 1;
    }
}

/* -- scheduling ---------------------------------------------------------------------------------------------------- */
static void park(Warp *w, uint32_t lanes, uint32_t pc) {
    for (; lanes; lanes &= lanes - 1) w->pc[__builtin_ctz(lanes)] = pc;
}

/* The threads that are behind; occasionally those at any thread's position: code must not rely on the order. */
static uint32_t choose(PtxModule *m, Warp *w, uint32_t *pc, uint32_t *stop, long *turns) {
    uint32_t ready = w->live & ~w->at_barrier & ~w->at_sync, lanes = 0;
    if (!ready) return 0;
    *pc = w->pc[__builtin_ctz(ready)], *stop = UINT32_MAX, *turns = 1 << 20;
    for (uint32_t left = ready; left; left &= left - 1) {
        uint32_t at = w->pc[__builtin_ctz(left)];
        if (at < *pc) *pc = at;
    }
    uint64_t any = ptx_random(m);
    bool one_alone = any % 16 == 0;
    if (one_alone) {
        int lane = (int)(any >> 8) % LANES;
        if (ready >> lane & 1) *pc = w->pc[lane], *turns = (long)(any >> 16 & 63) + 1;
        else one_alone = false;
    }
    for (uint32_t left = ready; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        if (w->pc[lane] == *pc) lanes |= 1u << lane;
        else if (!one_alone && w->pc[lane] < *stop) *stop = w->pc[lane];
    }
    if (*stop != UINT32_MAX || one_alone) *turns = *turns < 4096 ? *turns : 4096;
    return lanes;
}

/* -- the switch ---------------------------------------------------------------------------------------------------- */
#define SAME(T)  T
#define WIDE(T)  WIDER(T)
#define WIDER(T) WIDE_##T
#define U32(T)   u32

/* In cases of the switch: T is a type of the row; i the instruction, m its threads. */
#define MAYBE_UNUSED  __attribute__((unused))
#define SOURCE(T_, x) const T_ x = AT(T_, i->x)[L]

#define INT1_(T_, name, R, A, value)                                                                                   \
    case P_##name##_##T_: {                                                                                            \
        typedef T_ T MAYBE_UNUSED;                                                                                     \
        EACH(m, {                                                                                                      \
            SOURCE(A(T_), a);                                                                                          \
            AT(R(T_), i->d)[L] = (R(T_))(value);                                                                       \
        });                                                                                                            \
        break;                                                                                                         \
    }
#define INT2_(T_, name, R, A, B, value)                                                                                \
    case P_##name##_##T_: {                                                                                            \
        typedef T_ T MAYBE_UNUSED;                                                                                     \
        typedef R(T_) WIDE_T MAYBE_UNUSED;                                                                             \
        EACH(m, {                                                                                                      \
            SOURCE(A(T_), a);                                                                                          \
            SOURCE(B(T_), b);                                                                                          \
            AT(R(T_), i->d)[L] = (R(T_))(value);                                                                       \
        });                                                                                                            \
        break;                                                                                                         \
    }
#define INT3_(T_, name, R, A, B, C, value)                                                                             \
    case P_##name##_##T_: {                                                                                            \
        typedef T_ T MAYBE_UNUSED;                                                                                     \
        typedef R(T_) WIDE_T MAYBE_UNUSED;                                                                             \
        EACH(m, {                                                                                                      \
            SOURCE(A(T_), a);                                                                                          \
            SOURCE(B(T_), b);                                                                                          \
            SOURCE(C(T_), c);                                                                                          \
            AT(R(T_), i->d)[L] = (R(T_))(value);                                                                       \
        });                                                                                                            \
        break;                                                                                                         \
    }
/* The fast path rounds to nearest and does nothing else. */
#define REAL_(T_, name, value, SOURCES, FLUSHED)                                                                       \
    case P_##name##_##T_: {                                                                                            \
        typedef T_ T MAYBE_UNUSED;                                                                                     \
        if (!i->mod) EACH(m, { SOURCES(T_) AT(T_, i->d)[L] = end_##T_((T)(value)); });                                 \
        else {                                                                                                         \
            int before = ptx_enter_rounding(i->mod);                                                                   \
            EACH(m, { FLUSHED(T_) AT(T_, i->d)[L] = finish_##T_(i->mod, (T)(value)); });                               \
            ptx_leave_rounding(before);                                                                                \
        }                                                                                                              \
        break;                                                                                                         \
    }
#define ONE(T_)                 SOURCE(T_, a);
#define TWO(T_)                 ONE(T_) SOURCE(T_, b);
#define THREE(T_)               TWO(T_) SOURCE(T_, c);
#define FLUSH_(T_, x)           const T_ x = flushed_##T_(i->mod, AT(T_, i->x)[L]);
#define FLUSH1(T_)              FLUSH_(T_, a)
#define FLUSH2(T_)              FLUSH1(T_) FLUSH_(T_, b)
#define FLUSH3(T_)              FLUSH2(T_) FLUSH_(T_, c)
#define REAL1_(T_, name, value) REAL_(T_, name, value, ONE, FLUSH1)
#define REAL2_(T_, name, value) REAL_(T_, name, value, TWO, FLUSH2)
#define REAL3_(T_, name, value) REAL_(T_, name, value, THREE, FLUSH3)

#define WHOLE_(T_)                                                                                                     \
    const T_ a = AT(T_, i->a)[L];                                                                                      \
    const T_ b = AT(T_, i->b)[L];
#define TEST_(T_, name, value)                                                                                         \
    case P_setp_##name##_##T_: {                                                                                       \
        uint32_t r = 0;                                                                                                \
        if (i->mod & FTZ) EACH(m, { TWO_FLUSHED(T_) r |= (uint32_t)(value) << L; });                                   \
        else EACH(m, { WHOLE_(T_) r |= (uint32_t)(value) << L; });                                                     \
        put_test(w, i, m, r);                                                                                          \
        break;                                                                                                         \
    }
#define FLUSHED_(T_, x) const T_ x = i->type == T_f32 ? (T_)flushed_f32(FTZ, (f32)AT(T_, i->x)[L]) : AT(T_, i->x)[L];
#define TWO_FLUSHED(T_) FLUSHED_(T_, a) FLUSHED_(T_, b)

static void put_test(Warp *w, const PtxIns *i, uint32_t m, uint32_t r) {
    uint32_t no = ~r;
    if (i->what) {
        uint32_t c = ptx_truth(w, i);
        r = i->what == W_AND ? r & c : i->what == W_OR ? r | c : r ^ c;
        no = i->what == W_AND ? no & c : i->what == W_OR ? no | c : no ^ c;
    }
    ptx_set_pred(w, i->d, m, r);
    if (i->e >= 0) ptx_set_pred(w, i->e, m, no);
}

#define DOUBLE_u32 uint64_t
#define DOUBLE_s32 uint64_t
#define DOUBLE_u64 u128
#define DOUBLE_s64 u128
#define PLAIN_u32  u32
#define PLAIN_s32  u32
#define PLAIN_u64  u64
#define PLAIN_s64  u64
#define HIGH(a, b) (T)((DOUBLE)(a) * (b) >> (8 * sizeof(T)))
#define CARRY_(T_, name, out, value)                                                                                   \
    case P_##name##_##T_: {                                                                                            \
        typedef PLAIN_##T_ T;                                                                                          \
        typedef DOUBLE_##T_ DOUBLE;                                                                                    \
        uint32_t carries = *AT(u32, carry_at), made = 0;                                                               \
        EACH(m, {                                                                                                      \
            THREE(T)                                                                                                   \
            const T carry = carries >> L & 1;                                                                          \
            (void)c;                                                                                                   \
            (void)carry;                                                                                               \
            DOUBLE r = value;                                                                                          \
            AT(T, i->d)[L] = (T)r;                                                                                     \
            made |= (uint32_t)(r >> (8 * sizeof(T)) & 1) << L;                                                         \
        });                                                                                                            \
        if (out) ptx_set_pred(w, carry_at, m, made);                                                                   \
        break;                                                                                                         \
    }

/* Rows of one shape.  That nothing else points to the instruction and to the warp makes vectors of the loops. */
static __attribute__((noinline)) void compute(Warp *restrict w, const PtxIns *restrict i, uint32_t m,
                                              int32_t carry_at) {
    switch ((PtxOp)i->op) {
#define INT1(name, types, R, A, value)       types(INT1_, name, R, A, value)
#define INT2(name, types, R, A, B, value)    types(INT2_, name, R, A, B, value)
#define INT3(name, types, R, A, B, C, value) types(INT3_, name, R, A, B, C, value)
#define REAL1(name, types, mods, value)      types(REAL1_, name, value)
#define REAL2(name, types, mods, value)      types(REAL2_, name, value)
#define REAL3(name, types, mods, value)      types(REAL3_, name, value)
#define TEST(name, types, value)             types(TEST_, name, value)
#define BOOL(name, value)                                                                                              \
    case P_##name##_pred: {                                                                                            \
        uint32_t a = *AT(u32, i->a), b = *AT(u32, i->b);                                                               \
        (void)b;                                                                                                       \
        ptx_set_pred(w, i->d, m, value);                                                                               \
        break;                                                                                                         \
    }
#define CARRY(name, types, out, value) types(CARRY_, name, out, value)
#include "tests/support/ptx/ptx.def"
    default: break;
    }
}

/* Runs from *at on until the path of the threads ends, diverges or must be checked again. */
static void run_group(PtxModule *m_, Warp *w, uint32_t lanes, uint32_t pc, uint32_t stop, long turns, long *budget) {
    PtxIns *code = m_->code;
    long first = *budget < turns ? *budget : turns, left = first;
    for (;; pc++) {
        if (pc >= stop || left-- <= 0) {
            park(w, lanes, pc);
            break;
        }
        PtxIns *i = &code[pc];
        uint32_t m = lanes;
        if (i->guard >= 0) {
            uint32_t g = *AT(u32, i->guard);
            m &= i->guard_not ? ~g : g;
            if (!m) continue;
        }
        ptx_count[i->op]++, ptx_total += (uint64_t)__builtin_popcount(m);
        switch ((PtxOp)i->op) {
        case P_mov: move(w, i, m); break;
        case P_selp: select_one(w, i, m); break;
        case P_lop3: logic(w, i, m); break;
        case P_bfi: insert_bits(w, i, m); break;
        case P_testp: test_kind(w, i, m); break;
        case P_isspacep: test_space(w, i, m); break;
        case P_cvta: EACH(m, { AT(u64, i->d)[L] = AT(u64, i->a)[L] + (uint64_t)i->imm; }); break;
        case P_cvt: ptx_cvt(w, i, m); break;
        case P_ld: ptx_ld(m_, w, i, m); break;
        case P_st: ptx_st(m_, w, i, m); break;
        case P_atom: ptx_atom(m_, w, i, m); break;
        case P_fence: break;
        case P_activemask: EACH(m, { AT(u32, i->d)[L] = m; }); break;
        case P_bra:
            if (m == lanes) {
                pc = (uint32_t)i->target - 1;
                break;
            }
            park(w, m, (uint32_t)i->target), park(w, lanes & ~m, pc + 1);
            goto out;
        case P_brx:
            park(w, lanes, pc + 1);
            EACH(m, {
                const uint32_t *list = m_->branches[i->target];
                u32 k = AT(u32, i->a)[L];
                w->pc[L] = k < *list ? list[1 + k] : pc + 1;
            });
            goto out;
        case P_call:
            if (m != lanes) {
                park(w, lanes & ~m, pc + 1), lanes = m;
                park(w, m, call(m_, w, i, m, pc));
                goto out;
            }
            pc = call(m_, w, i, m, pc) - 1;
            break;
        case P_ret:
        case P_exit:
            park(w, lanes & ~m, pc + 1);
            if (i->op == P_exit) w->live &= ~m;
            else go_back(m_, w, m);
            goto out;
        case P_trap: ptx_mistake(m_, w, __builtin_ctz(m), i, PTX_TRAP, "trap"); break;
        case P_bar:
        case P_shfl:
        case P_vote:
        case P_match:
        case P_redux: {
            uint32_t all;
            park(w, lanes, pc + 1);
            if (!ptx_together(m_, w, i, pc, m, &all)) goto out;
            ptx_group(m_, w, i, all);
            park(w, all, pc + 1), w->at_sync &= ~all;
            goto out;
        }
        default: compute(w, i, m, m_->carry); break;
        }
        if (m_->error) goto out;
    }
out:
    *budget -= first - left;
}

void ptx_run_warp(PtxModule *m, Warp *w, long budget) {
    uint32_t pc = 0, stop = 0;
    long turns = 0;
    while (budget > 0 && !m->error) {
        uint32_t lanes = choose(m, w, &pc, &stop, &turns);
        if (!lanes) return;
        run_group(m, w, lanes, pc, stop, turns, &budget);
    }
}
