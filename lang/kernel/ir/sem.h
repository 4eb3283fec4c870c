/* sem.h -- defines the KIR instructions that compute a value from values (arithmetic, comparisons, casts, index
 * maps): one inline function for each (op, dtype).
 *
 * The evaluator executes these functions and kir_fold folds constants with them, so the two cannot disagree.  Every
 * backend prints the same operations in its own language and is tested against them.  The evaluator (eval.c)
 * defines memory, LOCALs and control flow; the C library and libm.h define MATH, within the bounds of
 * mathfn.def.
 *
 * Each dtype is computed in its C type: float32 arithmetic is rounded to float32 at each step. */
#ifndef LANG_KERNEL_SEM_H
#define LANG_KERNEL_SEM_H
#include "lang/kernel/ir/kir.h"

#include <math.h>

typedef bool KSemB1;
typedef int32_t KSemI32;
typedef uint32_t KSemU32;
typedef int64_t KSemI64;
typedef uint64_t KSemU64;
typedef float KSemF32;
typedef double KSemF64;

/* -- integers; U is the unsigned type, in which everything that may wrap is computed ------------------------------- */
#define KSEM_INT(D, T, U, SIGNED, BITS)                                                                                \
    static inline T ksem_ADD_##D(T a, T b) { return (T)((U)a + (U)b); }                                                \
    static inline T ksem_SUB_##D(T a, T b) { return (T)((U)a - (U)b); }                                                \
    static inline T ksem_MUL_##D(T a, T b) { return (T)((U)a * (U)b); }                                                \
    static inline T ksem_NEG_##D(T a) { return (T)(0 - (U)a); }                                                        \
    static inline T ksem_ABS_##D(T a) { return SIGNED && a < (T)1 ? ksem_NEG_##D(a) : a; }                             \
    static inline T ksem_DIV_##D(T a, T b) {                                                                           \
        if (b == 0) return 0;                                                                                          \
        return SIGNED && b == (T)-1 ? ksem_NEG_##D(a) : (T)(a / b);                                                    \
    }                                                                                                                  \
    static inline T ksem_MOD_##D(T a, T b) {                                                                           \
        if (b == 0 || (SIGNED && b == (T)-1)) return 0;                                                                \
        T r = (T)(a % b);                                                                                              \
        return SIGNED && r != 0 && (r < (T)1) != (b < (T)1) ? (T)(r + b) : r;                                          \
    }                                                                                                                  \
    static inline T ksem_MIN_##D(T a, T b) { return b < a ? b : a; }                                                   \
    static inline T ksem_MAX_##D(T a, T b) { return a < b ? b : a; }                                                   \
    static inline T ksem_AND_##D(T a, T b) { return a & b; }                                                           \
    static inline T ksem_OR_##D(T a, T b) { return a | b; }                                                            \
    static inline T ksem_XOR_##D(T a, T b) { return a ^ b; }                                                           \
    static inline T ksem_NOT_##D(T a) { return ~a; }                                                                   \
    static inline T ksem_SHL_##D(T a, T b) { return (U)b < BITS ? (T)((U)a << (U)b) : 0; }                             \
    static inline T ksem_SHR_##D(T a, T b) {                                                                           \
        return (U)b < BITS ? (T)(a >> b) : SIGNED && a < (T)1 ? (T)(a >> (BITS - 1)) : 0;                              \
    }
/* clang-format off */
KSEM_INT(I32, int32_t, uint32_t, 1, 32)
KSEM_INT(U32, uint32_t, uint32_t, 0, 32)
KSEM_INT(I64, int64_t, uint64_t, 1, 64)
KSEM_INT(U64, uint64_t, uint64_t, 0, 64)
/* clang-format on */
#undef KSEM_INT

static inline bool ksem_AND_B1(bool a, bool b) { return a && b; }
static inline bool ksem_OR_B1(bool a, bool b) { return a || b; }
static inline bool ksem_XOR_B1(bool a, bool b) { return a != b; }
static inline bool ksem_NOT_B1(bool a) { return !a; }
static inline bool ksem_EQ_B1(bool a, bool b) { return a == b; }
static inline bool ksem_NE_B1(bool a, bool b) { return a != b; }

/* -- floats; S is the suffix of the C functions --------------------------------------------------------------------
 *
 * MIN and MAX: -0 is smaller than +0.  Equal floats have the same bits, except for the sign of a zero: the minimum
 * is the OR of the bits, the maximum their AND.  This needs no branch, so loops with it can be vectorized.
 *
 * A backend may return either zero if both operands are zeros that the compiler does not know, the function is not
 * strict, and the instruction has no KFLAG_ZEROS: the instruction of a processor returns the second operand, and
 * distinguishing zeros takes extra instructions. */
#define KSEM_BITS(D, T, U)                                                                                             \
    static inline T ksem_or_##D(T a, T b) {                                                                            \
        union {                                                                                                        \
            T f;                                                                                                       \
            U u;                                                                                                       \
        } x = {a}, y = {b};                                                                                            \
        return x.u |= y.u, x.f;                                                                                        \
    }                                                                                                                  \
    static inline T ksem_and_##D(T a, T b) {                                                                           \
        union {                                                                                                        \
            T f;                                                                                                       \
            U u;                                                                                                       \
        } x = {a}, y = {b};                                                                                            \
        return x.u &= y.u, x.f;                                                                                        \
    }
/* clang-format off */
KSEM_BITS(F32, float, uint32_t)
KSEM_BITS(F64, double, uint64_t)
/* clang-format on */
#undef KSEM_BITS

/* fmod, by a division of integers where both numbers are integral: several times faster, and exact as well. */
static inline double ksem_remainder(double a, double b) {
    if (fabs(a) < 0x1p53 && fabs(b) < 0x1p53) {
        int64_t x = (int64_t)a, y = (int64_t)b;
        if (y && (double)x == a && (double)y == b) return (double)(x % y);
    }
    return fmod(a, b);
}

#define KSEM_REAL(D, T, S)                                                                                             \
    static inline T ksem_ADD_##D(T a, T b) { return a + b; }                                                           \
    static inline T ksem_SUB_##D(T a, T b) { return a - b; }                                                           \
    static inline T ksem_MUL_##D(T a, T b) { return a * b; }                                                           \
    static inline T ksem_DIV_##D(T a, T b) { return a / b; }                                                           \
    static inline T ksem_MOD_##D(T a, T b) {                                                                           \
        T r = (T)ksem_remainder(a, b);                                                                                 \
        return r == 0 ? copysign##S(0, b) : (r < 0) != (b < 0) ? r + b : r;                                            \
    }                                                                                                                  \
    static inline T ksem_MIN_##D(T a, T b) { return a == b ? ksem_or_##D(a, b) : a < b || b != b ? a : b; }            \
    static inline T ksem_MAX_##D(T a, T b) { return a == b ? ksem_and_##D(a, b) : b < a || b != b ? a : b; }           \
    static inline T ksem_NEG_##D(T a) { return -a; }                                                                   \
    static inline T ksem_ABS_##D(T a) { return fabs##S(a); }
/* clang-format off */
KSEM_REAL(F32, float, f)
KSEM_REAL(F64, double, )
/* clang-format on */
#undef KSEM_REAL

#define KSEM_COMPARE(D, T)                                                                                             \
    static inline bool ksem_LT_##D(T a, T b) { return a < b; }                                                         \
    static inline bool ksem_LE_##D(T a, T b) { return a <= b; }                                                        \
    static inline bool ksem_EQ_##D(T a, T b) { return a == b; }                                                        \
    static inline bool ksem_NE_##D(T a, T b) { return a != b; }
/* clang-format off */
KSEM_COMPARE(I32, int32_t)
KSEM_COMPARE(U32, uint32_t)
KSEM_COMPARE(I64, int64_t)
KSEM_COMPARE(U64, uint64_t)
KSEM_COMPARE(F32, float)
KSEM_COMPARE(F64, double)
/* clang-format on */
#undef KSEM_COMPARE

/* -- indices ------------------------------------------------------------------------------------------------------- */
static inline bool ksem_inb(int64_t a, int64_t n) { return a >= 0 && a < n; }

static inline int64_t ksem_bound(AccessMode m, int64_t a, int64_t n) {
    if (n < 1) return 0;
    if (m == ACC_CLAMPED) return a < 0 ? 0 : a < n ? a : n - 1;
    if (m == ACC_CIRCULAR) return ksem_MOD_I64(a, n);
    /* The image of a < 0 is -1-a if the element at the edge occurs twice in a period (mirror), else -a (reflect). */
    uint64_t twice = m == ACC_MIRROR, x = a < 0 ? ~(uint64_t)a + !twice : (uint64_t)a;
    uint64_t period = 2 * ((uint64_t)n - 1 + twice), r = period ? x % period : 0;
    return (int64_t)(r < (uint64_t)n ? r : period - twice - r);
}

/* -- conversions: FROM x TO; integers are compared in a type that holds them all ----------------------------------- */
#define KSEM_CAST_INT(D, T, LO, HI)                                                                                    \
    static inline T ksem_from_int_##D(__int128 x) { return x < LO ? LO : x > HI ? HI : (T)x; }
/* clang-format off */
KSEM_CAST_INT(I32, int32_t, INT32_MIN, INT32_MAX)
KSEM_CAST_INT(U32, uint32_t, 0, UINT32_MAX)
KSEM_CAST_INT(I64, int64_t, INT64_MIN, INT64_MAX)
KSEM_CAST_INT(U64, uint64_t, 0, UINT64_MAX)
/* clang-format on */
#undef KSEM_CAST_INT

#define KSEM_CAST_FROM_INT(D, T)                                                                                       \
    static inline bool ksem_CAST_##D##_B1(T x) { return x != 0; }                                                      \
    static inline int32_t ksem_CAST_##D##_I32(T x) { return ksem_from_int_I32(x); }                                    \
    static inline uint32_t ksem_CAST_##D##_U32(T x) { return ksem_from_int_U32(x); }                                   \
    static inline int64_t ksem_CAST_##D##_I64(T x) { return ksem_from_int_I64(x); }                                    \
    static inline uint64_t ksem_CAST_##D##_U64(T x) { return ksem_from_int_U64(x); }                                   \
    static inline float ksem_CAST_##D##_F32(T x) { return (float)x; }                                                  \
    static inline double ksem_CAST_##D##_F64(T x) { return (double)x; }
/* clang-format off */
KSEM_CAST_FROM_INT(B1, bool)
KSEM_CAST_FROM_INT(I32, int32_t)
KSEM_CAST_FROM_INT(U32, uint32_t)
KSEM_CAST_FROM_INT(I64, int64_t)
KSEM_CAST_FROM_INT(U64, uint64_t)
/* clang-format on */
#undef KSEM_CAST_FROM_INT

#define KSEM_CAST_FROM_REAL(D, T)                                                                                      \
    static inline bool ksem_CAST_##D##_B1(T x) { return x != 0; }                                                      \
    static inline int32_t ksem_CAST_##D##_I32(T x) {                                                                   \
        return (int32_t)qdtype_sat_i64((double)x, INT32_MIN, INT32_MAX);                                               \
    }                                                                                                                  \
    static inline uint32_t ksem_CAST_##D##_U32(T x) { return (uint32_t)qdtype_sat_u64((double)x, UINT32_MAX); }        \
    static inline int64_t ksem_CAST_##D##_I64(T x) { return qdtype_sat_i64((double)x, INT64_MIN, INT64_MAX); }         \
    static inline uint64_t ksem_CAST_##D##_U64(T x) { return qdtype_sat_u64((double)x, UINT64_MAX); }                  \
    static inline float ksem_CAST_##D##_F32(T x) { return (float)x; }                                                  \
    static inline double ksem_CAST_##D##_F64(T x) { return (double)x; }
/* clang-format off */
KSEM_CAST_FROM_REAL(F32, float)
KSEM_CAST_FROM_REAL(F64, double)
/* clang-format on */
#undef KSEM_CAST_FROM_REAL

/* -- lists for generating code: X(op, dtype of the operands, dtype of the result) ---------------------------------- */
#define KSEM_EACH_INT(X, op)   X(op, I32, I32) X(op, U32, U32) X(op, I64, I64) X(op, U64, U64)
#define KSEM_EACH_NUM(X, op)   KSEM_EACH_INT(X, op) X(op, F32, F32) X(op, F64, F64)
#define KSEM_EACH_BIT(X, op)   KSEM_EACH_INT(X, op) X(op, B1, B1)
#define KSEM_EACH_ORDER(X, op) X(op, I32, B1) X(op, U32, B1) X(op, I64, B1) X(op, U64, B1) X(op, F32, B1) X(op, F64, B1)
#define KSEM_EACH_VALUE(X, op) X(op, B1) X(op, I32) X(op, U32) X(op, I64) X(op, U64) X(op, F32) X(op, F64)

#define KSEM_UNARY(X) KSEM_EACH_NUM(X, NEG) KSEM_EACH_NUM(X, ABS) KSEM_EACH_BIT(X, NOT)
/* clang-format off */
#define KSEM_BINARY(X)                                                                                                 \
    KSEM_EACH_NUM(X, ADD) KSEM_EACH_NUM(X, SUB) KSEM_EACH_NUM(X, MUL) KSEM_EACH_NUM(X, DIV) KSEM_EACH_NUM(X, MOD)      \
    KSEM_EACH_NUM(X, MIN) KSEM_EACH_NUM(X, MAX) KSEM_EACH_BIT(X, AND) KSEM_EACH_BIT(X, OR) KSEM_EACH_BIT(X, XOR)       \
    KSEM_EACH_INT(X, SHL) KSEM_EACH_INT(X, SHR) KSEM_EACH_ORDER(X, LT) KSEM_EACH_ORDER(X, LE)                          \
    KSEM_EACH_ORDER(X, EQ) KSEM_EACH_ORDER(X, NE) X(EQ, B1, B1) X(NE, B1, B1)
/* clang-format on */
/* X(from, to) */
/* clang-format off */
#define KSEM_CAST(X)                                                                                                   \
    KSEM_EACH_VALUE(X, B1) KSEM_EACH_VALUE(X, I32) KSEM_EACH_VALUE(X, U32) KSEM_EACH_VALUE(X, I64)                     \
    KSEM_EACH_VALUE(X, U64) KSEM_EACH_VALUE(X, F32) KSEM_EACH_VALUE(X, F64)
/* clang-format on */

/* Computes a PURE instruction with operands.  from: dtype of a; to: dtype of the result.  The result has the form of
 * a CONST. */
KSlot ksem_pure(KOp op, uint16_t flag, qs_dtype from, qs_dtype to, KSlot a, KSlot b, KSlot c);
#endif
