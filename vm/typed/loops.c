/* loops.c -- generates the loops of all functions in typed.def for all element types.
 *
 * This file is compiled twice: directly, and from loops_avx2.c for processors with AVX2. */
#include "vm/array/contiguous.h"
#include "vm/typed/typed.h"

LOOPS_WITHOUT_TRAPS
#ifndef __clang__
#pragma GCC optimize("no-math-errno")
#endif
#include "lang/kernel/elem/elem_host.h"

#include "vm/typed/typed_math.h"

#define JOIN_(a, b)     a##_##b
#define JOIN(a, b)      JOIN_(a, b)
#define JOIN3_(a, b, c) a##_##b##_##c
#define JOIN3(a, b, c)  JOIN3_(a, b, c)

/* A column expands to a tag and an expression; the tag NO_ or FN_ determines whether a loop is generated. */
#define NO          NO_,
#define FN(...)     FN_, __VA_ARGS__
#define ROW1(row)   JOIN3(elem, row, WD)(x)
#define ROW2(row)   JOIN3(elem, row, WD)(x, y)
#define OWN1(f)     JOIN3(typed, f, WD)(x)
#define OWN2(f)     JOIN3(typed, f, WD)(x, y)
#define GIVES_SAME  T
#define GIVES_TRUTH uint8_t
#define GIVES_PART  P

#define TYPED_MAKE(...)                            TYPED_MAKE_(__VA_ARGS__)
#define TYPED_MAKE_(name, nargs, gives, kind, ...) TYPED_MAKE_##kind(name, nargs, GIVES_##gives, __VA_ARGS__)
#define TYPED_MAKE_NO_(name, nargs, R, ...)
#define TYPED_MAKE_FN_(name, nargs, R, ...)         LOOP_##nargs(name, R, __VA_ARGS__)
#define TYPED_ENTRY(...)                            TYPED_ENTRY_(__VA_ARGS__)
#define TYPED_ENTRY_(name, nargs, gives, kind, ...) TYPED_ENTRY_##kind(name)
#define TYPED_ENTRY_NO_(name)
#define TYPED_ENTRY_FN_(name) [TY_##name] = JOIN(name, D),

#ifdef __clang__
#define EACH for (size_t i = 0; i < n; i++)
#else
#define EACH _Pragma("GCC ivdep") for (size_t i = 0; i < n; i++)
#endif
#define AT(type, k, i)     (*(const type *)(const void *)(in[k] + (ptrdiff_t)(i)*step[k]))
#define IS_PACKED(k, type) (step[k] == (ptrdiff_t)sizeof(type))

#define LOOP_1(name, R, ...)                                                                                           \
    static void JOIN(name, D)(size_t n, char *to, const char *const *in, const ptrdiff_t *step) {                      \
        R *out = (R *)(void *)to;                                                                                      \
        const T *a = (const T *)(const void *)in[0];                                                                   \
        if (IS_PACKED(0, T)) EACH {                                                                                    \
                const T x = a[i];                                                                                      \
                (void)x, out[i] = CUT(R, __VA_ARGS__);                                                                 \
            }                                                                                                          \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) {                                                                           \
                const T x = AT(T, 0, i);                                                                               \
                (void)x, out[i] = CUT(R, __VA_ARGS__);                                                                 \
            }                                                                                                          \
    }
#define LOOP_2(name, R, ...)                                                                                           \
    static void JOIN(name, D)(size_t n, char *to, const char *const *in, const ptrdiff_t *step) {                      \
        R *out = (R *)(void *)to;                                                                                      \
        const T *a = (const T *)(const void *)in[0], *b = (const T *)(const void *)in[1];                              \
        if (IS_PACKED(0, T) && IS_PACKED(1, T)) EACH {                                                                 \
                const T x = a[i], y = b[i];                                                                            \
                out[i] = CUT(R, __VA_ARGS__);                                                                          \
            }                                                                                                          \
        else if (IS_PACKED(0, T) && step[1] == 0) {                                                                    \
            const T y = b[0];                                                                                          \
            EACH {                                                                                                     \
                const T x = a[i];                                                                                      \
                out[i] = CUT(R, __VA_ARGS__);                                                                          \
            }                                                                                                          \
        } else if (step[0] == 0 && IS_PACKED(1, T)) {                                                                  \
            const T x = a[0];                                                                                          \
            EACH {                                                                                                     \
                const T y = b[i];                                                                                      \
                out[i] = CUT(R, __VA_ARGS__);                                                                          \
            }                                                                                                          \
        } else                                                                                                         \
            for (size_t i = 0; i < n; i++) {                                                                           \
                const T x = AT(T, 0, i), y = AT(T, 1, i);                                                              \
                out[i] = CUT(R, __VA_ARGS__);                                                                          \
            }                                                                                                          \
    }
#define LOOP_3(name, R, ...)                                                                                           \
    static void JOIN(name, D)(size_t n, char *to, const char *const *in, const ptrdiff_t *step) {                      \
        R *out = (R *)(void *)to;                                                                                      \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const uint8_t c = AT(uint8_t, 0, i);                                                                       \
            const T x = AT(T, 1, i), y = AT(T, 2, i);                                                                  \
            out[i] = CUT(R, __VA_ARGS__);                                                                              \
        }                                                                                                              \
    }

#define CUT(R, ...) ((R)(__VA_ARGS__))
#define OF_TRUTHS   0
#define OF_WHOLES   1
#define OF_REALS    2
#define OF_PAIRS    3

#define D           B1
#define T           uint8_t
#define P           uint8_t
#define W           uint8_t
#define WD          U32
#define TYPED_CLASS OF_TRUTHS
#include "vm/typed/loops.h"
#define D           I8
#define T           int8_t
#define P           int8_t
#define W           int32_t
#define WD          I32
#define TYPED_CLASS OF_WHOLES
#include "vm/typed/loops.h"
#define D           I16
#define T           int16_t
#define P           int16_t
#define W           int32_t
#define WD          I32
#define TYPED_CLASS OF_WHOLES
#include "vm/typed/loops.h"
#define D           I32
#define T           int32_t
#define P           int32_t
#define W           uint32_t
#define WD          I32
#define TYPED_CLASS OF_WHOLES
#include "vm/typed/loops.h"
#define D           I64
#define T           int64_t
#define P           int64_t
#define W           uint64_t
#define WD          I64
#define TYPED_CLASS OF_WHOLES
#include "vm/typed/loops.h"
#define D           U8
#define T           uint8_t
#define P           uint8_t
#define W           uint32_t
#define WD          U32
#define TYPED_CLASS OF_WHOLES
#include "vm/typed/loops.h"
#define D           U16
#define T           uint16_t
#define P           uint16_t
#define W           uint32_t
#define WD          U32
#define TYPED_CLASS OF_WHOLES
#include "vm/typed/loops.h"
#define D           U32
#define T           uint32_t
#define P           uint32_t
#define W           uint32_t
#define WD          U32
#define TYPED_CLASS OF_WHOLES
#include "vm/typed/loops.h"
#define D           U64
#define T           uint64_t
#define P           uint64_t
#define W           uint64_t
#define WD          U64
#define TYPED_CLASS OF_WHOLES
#include "vm/typed/loops.h"
#undef CUT
#define CUT(R, ...) (__VA_ARGS__)
#define D           F32
#define T           float
#define P           float
#define W           float
#define WD          F32
#define TYPED_CLASS OF_REALS
#include "vm/typed/loops.h"
#define D           F64
#define T           double
#define P           double
#define W           double
#define WD          F64
#define TYPED_CLASS OF_REALS
#include "vm/typed/loops.h"
#define D           C64
#define T           QComplexF
#define P           float
#define W           QComplexF
#define WD          C64
#define TYPED_CLASS OF_PAIRS
#include "vm/typed/loops.h"
#define D           C128
#define T           QComplexD
#define P           double
#define W           QComplexD
#define WD          C128
#define TYPED_CLASS OF_PAIRS
#include "vm/typed/loops.h"

static TypedLoop *const *const of[QS_NDTYPES] = {
    [QS_B1] = of_B1,   [QS_I8] = of_I8,   [QS_U8] = of_U8,     [QS_I16] = of_I16, [QS_U16] = of_U16,
    [QS_I32] = of_I32, [QS_U32] = of_U32, [QS_I64] = of_I64,   [QS_U64] = of_U64, [QS_F32] = of_F32,
    [QS_F64] = of_F64, [QS_C64] = of_C64, [QS_C128] = of_C128,
};

#ifdef TYPED_AVX2
TypedLoop *qtyped_loop_avx2(Typed f, qs_dtype d) { return of[d] ? of[d][f] : NULL; }
#else
TypedLoop *qtyped_loop(Typed f, qs_dtype d) {
    if (QCPU_AVX2) return qtyped_loop_avx2(f, d);
    return of[d] ? of[d][f] : NULL;
}
#endif
