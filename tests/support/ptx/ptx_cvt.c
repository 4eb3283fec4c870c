/* ptx_cvt.c -- conversions: of every type to every type, with rounding, flushing, saturation and NaN as PTX has them.
 *
 * A register may be wider than the type: of a wider source the low bits count, a wider result is filled with the
 * sign or with zeros.  Floating point becomes an integer by going to the nearest that there is, and NaN becomes 0,
 * or the topmost bit where one of the two has 64 bits. */
#include "tests/support/ptx/ptx_machine.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define KIND_u8  INT
#define KIND_s8  INT
#define KIND_b8  INT
#define KIND_u16 INT
#define KIND_s16 INT
#define KIND_b16 INT
#define KIND_u32 INT
#define KIND_s32 INT
#define KIND_b32 INT
#define KIND_u64 INT
#define KIND_s64 INT
#define KIND_b64 INT
#define KIND_f16 REAL
#define KIND_f32 REAL
#define KIND_f64 REAL

#define BITS_OF(T) (8 * (int)sizeof(T))
#define LEAST(T)   (IS_SIGNED(T) ? -((i128)1 << (BITS_OF(T) - 1)) : (i128)0)
#define MOST(T)    (((i128)1 << (BITS_OF(T) - IS_SIGNED(T))) - 1)

static double to_integral(unsigned mod, double x) {
    if (mod & RZI) return trunc(x);
    if (mod & RMI) return floor(x);
    if (mod & RPI) return ceil(x);
    return mod & RNI ? nearbyint(x) : x;
}

static double flush_small(unsigned mod, double x, bool is_f32) {
    return mod & FTZ && is_f32 && fabs(x) < 0x1p-126 ? copysign(0, x) : x;
}

static double saturate(double x) { return x > 0 ? x < 1 ? x : 1 : 0; }

static i128 clamp(i128 x, i128 least, i128 most) { return x < least ? least : x > most ? most : x; }

/* The integer of `bits` bits that x becomes. */
static i128 to_int(double x, i128 least, i128 most, int bits, bool from_wide) {
    if (x != x) return from_wide || bits == 64 ? (i128)1 << (bits - 1) : 0;
    if (x >= 0x1p64) return most;
    if (x <= -0x1p64) return least;
    return clamp((i128)x, least, most);
}

#define INT_INT(D, S, x) (i->mod & SAT ? (D)clamp((i128)(x), LEAST(D), MOST(D)) : (D)(x))
#define INT_REAL(D, S, x)                                                                                              \
    ((D)to_int(to_integral(i->mod, flush_small(i->mod, (double)(x), sizeof(S) == 4)), LEAST(D), MOST(D), BITS_OF(D),   \
               sizeof(S) == 8))
#define REAL_INT(D, S, x)  (i->mod & SAT ? (D)saturate((double)(x)) : (D)(x))
#define REAL_REAL(D, S, x) real_##D(i->mod, (double)(x), sizeof(S) == 4)

static f64 real_f64(unsigned mod, double x, bool from_f32) {
    x = to_integral(mod, flush_small(mod, x, from_f32));
    return mod & SAT ? saturate(x) : x;
}

static f32 real_f32(unsigned mod, double x, bool from_f32) {
    const u32 nan = 0x7fffffff;
    f32 y = (f32)real_f64(mod, x, from_f32);
    if (y != y) memcpy(&y, &nan, 4);
    return (f32)flush_small(mod, (double)y, true);
}

static f16 real_f16(unsigned mod, double x, bool from_f32) {
    const u16 nan = 0x7fff;
    x = real_f64(mod, x, from_f32);
    f16 y = (f16)x;
    if (x != x) memcpy(&y, &nan, 2);
    return y;
}

/* In directions other than the nearest, half precision is made by hand: the conversion of C knows no other. */
static f16 direct_f16(unsigned mod, f16 y, double x) {
    u16 bits;
    bool down = mod & RM || (mod & RZ && x > 0), up = mod & RP || (mod & RZ && x < 0);
    if (!((down && (double)y > x) || (up && (double)y < x))) return y;
    memcpy(&bits, &y, 2);
    bits = (u16)(((double)y > x) == (bits >> 15 == 0) ? bits - 1 : bits + 1);
    memcpy(&y, &bits, 2);
    return y;
}
#define DIRECT_f16(y, x) direct_f16(i->mod, y, (double)(x))

/* The contents of the register: extended if it is wider than the type. */
static void put_wide(char *to, size_t wide, int64_t bits) { memcpy(to, &bits, wide); }
#define PUT_INT(D, y)  put_wide(w->file + i->d + (size_t)L * i->dwide, i->dwide, (int64_t)(y))
#define PUT_REAL(D, y) AT(D, i->d)[L] = (y)

#define PASTE_(a, b)  a##_##b
#define PASTE(a, b)   PASTE_(a, b)
#define CAST(D, S, x) PASTE(KIND_##D, KIND_##S)(D, S, x)
#define PUT(D, y)     PASTE(PUT, KIND_##D)(D, y)

#define PAIR(D, S)                                                                                                     \
    case T_##D * 16 + T_##S: {                                                                                         \
        if (!i->mod && i->awide == sizeof(S) && i->dwide == sizeof(D))                                                 \
            EACH(m, {                                                                                                  \
                const S x = AT(S, i->a)[L];                                                                            \
                AT(D, i->d)[L] = CAST(D, S, x);                                                                        \
            });                                                                                                        \
        else                                                                                                           \
            EACH(m, {                                                                                                  \
                S x;                                                                                                   \
                memcpy(&x, w->file + i->a + (size_t)L * i->awide, sizeof(S));                                          \
                const D y = CAST(D, S, x);                                                                             \
                PUT(D, y);                                                                                             \
            });                                                                                                        \
        break;                                                                                                         \
    }

/* clang-format off */
#define FROM_ALL(D)                                                                                                    \
    PAIR(D, u8) PAIR(D, s8) PAIR(D, u16) PAIR(D, s16) PAIR(D, u32) PAIR(D, s32) PAIR(D, u64) PAIR(D, s64) PAIR(D, f16) \
    PAIR(D, f32) PAIR(D, f64)
/* clang-format on */

static void convert(Warp *restrict w, const PtxIns *restrict i, uint32_t m) {
    switch (i->type * 16 + i->from) {
        /* clang-format off */
        FROM_ALL(u8) FROM_ALL(s8) FROM_ALL(u16) FROM_ALL(s16) FROM_ALL(u32) FROM_ALL(s32) FROM_ALL(u64) FROM_ALL(s64)
        FROM_ALL(f16) FROM_ALL(f32) FROM_ALL(f64)
            /* clang-format on */
            default : break;
    }
}

static void aim_f16(Warp *w, const PtxIns *i, uint32_t m) {
    EACH(m, {
        double x = i->from == T_f32 ? (double)AT(f32, i->a)[L] : AT(f64, i->a)[L];
        AT(f16, i->d)[L] = direct_f16(i->mod, AT(f16, i->d)[L], x);
    });
}

void ptx_cvt(Warp *w, const PtxIns *i, uint32_t m) {
    bool aimed = i->mod & (RZ | RM | RP);
    if (aimed && i->type == T_f16 && (i->from == T_f32 || i->from == T_f64)) {
        convert(w, i, m);
        aim_f16(w, i, m);
        return;
    }
    int before = aimed ? ptx_enter_rounding(i->mod) : 0;
    convert(w, i, m);
    if (aimed) ptx_leave_rounding(before);
}
