/* elem_host.h -- makes C functions for one element from the rows of elem.def, for code on the host: elem_sqrt_F32,
 * …
 *
 *     elem_<row>_<type>    for F32 F64, and for I32 U32 I64 U64 if the row defines integers
 *     elem_<row>_<type>    for C64 C128: with complex arguments; C64 in the precision that the row gives
 *
 * Instructions compute as in sem.h and functions as in libm.h or the C library, so the results equal those of the
 * evaluator.
 * A file that includes this gets some hundred static functions; only those that it uses become code. */
#ifndef LANG_KERNEL_ELEM_HOST_H
#define LANG_KERNEL_ELEM_HOST_H
#include "lang/kernel/ir/sem.h"
#include "vm/base/libm.h"

#include <float.h>

#define ELEM_JOIN3_(a, b, c)  a##b##c
#define ELEM_JOIN3(a, b, c)   ELEM_JOIN3_(a, b, c)
#define ELEM_NAME(id, suffix) ELEM_JOIN3(elem_##id, _, suffix)
#define ELEM_SEM(op)          ELEM_JOIN3(ksem_##op, _, D)
#define ELEM_LIBM(f)          ELEM_JOIN3(elem_libm_##f, _, D)

/* -- the C library and libm.h -------------------------------------------------------------------------------------- */
#define lgamma  qlibm_lgamma
#define lgammaf qlibm_lgammaf
#define tgamma  qlibm_tgamma
#define tgammaf qlibm_tgammaf
#define hypotf  qlibm_hypotf
#define ELEM_LIBM_1(name, f32, f64)                                                                                    \
    static inline float name##_F32(float x) { return f32(x); }                                                         \
    static inline double name##_F64(double x) { return f64(x); }
#define ELEM_LIBM_2(name, f32, f64)                                                                                    \
    static inline float name##_F32(float x, float y) { return f32(x, y); }                                             \
    static inline double name##_F64(double x, double y) { return f64(x, y); }
#define MATHFN(id, nargs, f32, f64, how32, how64, ...)                                                                 \
    ELEM_LIBM_##nargs(elem_libm_##id, MATH_HOST(how32, f32), MATH_HOST(how64, f64))
#include "lang/kernel/ir/mathfn.def"
#undef ELEM_LIBM_1
#undef ELEM_LIBM_2
#undef lgamma
#undef lgammaf
#undef tgamma
#undef tgammaf
#undef hypotf

/* -- operations of the rows ---------------------------------------------------------------------------------------- */
#define ADD(x, y)        ELEM_SEM(ADD)(x, y)
#define SUB(x, y)        ELEM_SEM(SUB)(x, y)
#define MUL(x, y)        ELEM_SEM(MUL)(x, y)
#define DIV(x, y)        ELEM_SEM(DIV)(x, y)
#define MOD(x, y)        ELEM_SEM(MOD)(x, y)
#define MIN(x, y)        ELEM_SEM(MIN)(x, y)
#define MAX(x, y)        ELEM_SEM(MAX)(x, y)
#define NEG(x)           ELEM_SEM(NEG)(x)
#define ABS(x)           ELEM_SEM(ABS)(x)
#define LT(x, y)         ELEM_SEM(LT)(x, y)
#define LE(x, y)         ELEM_SEM(LE)(x, y)
#define EQ(x, y)         ELEM_SEM(EQ)(x, y)
#define NE(x, y)         ELEM_SEM(NE)(x, y)
#define BOTH(x, y)       ksem_AND_B1(x, y)
#define EITHER(x, y)     ksem_OR_B1(x, y)
#define SELECT(c, x, y)  ((c) ? (x) : (y))
#define BITAND(x, y)     ELEM_SEM(AND)(x, y)
#define BITOR(x, y)      ELEM_SEM(OR)(x, y)
#define BITXOR(x, y)     ELEM_SEM(XOR)(x, y)
#define BITNOT(x)        ELEM_SEM(NOT)(x)
#define SHL(x, y)        ELEM_SEM(SHL)(x, y)
#define SHR(x, y)        ELEM_SEM(SHR)(x, y)
#define NUM(v)           ((T)(v))
#define MATH1(f, x)      ELEM_LIBM(f)(x)
#define MATH2(f, x, y)   ELEM_LIBM(f)(x, y)
#define RE(x)            (x).re
#define IM(x)            (x).im
#define PAIR(re, im)     ((Z){re, im})
#define CALL1(id, x)     ELEM_NAME(id, D)(x)
#define CALLZ1(id, x)    ELEM_NAME(id, ZD)(x)
#define CALLP1(id, x)    ELEM_NAME(id, ZD)(x)
#define CALLZ2(id, x, y) ELEM_NAME(id, ZD)(x, y)
#define OF(id, v)        v
#define LET(name, v)     const __auto_type name = v;
#define GIVE(v)          return v;

#define ELEM_UNUSED    __attribute__((unused))
#define ELEM_ARGS_1(T) ELEM_UNUSED T x
#define ELEM_ARGS_2(T) ELEM_UNUSED T x, ELEM_UNUSED T y
#define ELEM_ARGS_3(T) ELEM_UNUSED T x, ELEM_UNUSED T y, ELEM_UNUSED T z
#define ELEM_FN(R, id, suffix, args, ...)                                                                              \
    ELEM_UNUSED static inline R ELEM_NAME(id, suffix)(args) { __VA_ARGS__ }

/* A column expands to its kind and its body; the kind selects which function is made. */
#define REAL(...)         REAL_, __VA_ARGS__
#define TRUTH(...)        TRUTH_, __VA_ARGS__
#define JOIN(...)         JOIN_, __VA_ARGS__
#define NOTHING           NOTHING_,
#define COMPLEX(how, ...) COMPLEX_, __VA_ARGS__
#define PART_OF(how, ...) PART_OF_, __VA_ARGS__
#define TEST(...)         TEST_, __VA_ARGS__

#define ELEM_MAKE(id, nargs, kind, ...)    ELEM_MAKE_##kind(id, nargs, __VA_ARGS__)
#define ELEM_MAKE_REAL_(id, nargs, ...)    ELEM_FN(T, id, D, ELEM_ARGS_##nargs(T), __VA_ARGS__)
#define ELEM_MAKE_TRUTH_(id, nargs, ...)   ELEM_FN(bool, id, D, ELEM_ARGS_##nargs(T), __VA_ARGS__)
#define ELEM_MAKE_JOIN_(id, nargs, ...)    ELEM_FN(Z, id, D, ELEM_ARGS_##nargs(T), __VA_ARGS__)
#define ELEM_MAKE_COMPLEX_(id, nargs, ...) ELEM_FN(Z, id, ZD, ELEM_ARGS_##nargs(Z), __VA_ARGS__)
#define ELEM_MAKE_PART_OF_(id, nargs, ...) ELEM_FN(T, id, ZD, ELEM_ARGS_##nargs(Z), __VA_ARGS__)
#define ELEM_MAKE_TEST_(id, nargs, ...)    ELEM_FN(bool, id, ZD, ELEM_ARGS_##nargs(Z), __VA_ARGS__)
#define ELEM_MAKE_NOTHING_(id, nargs, ...)

/* -- floats: real numbers, and complex numbers with such parts ----------------------------------------------------- */
#define ELEM(id, nargs, bound, reals, whole, pairs, ...) ELEM_MAKE(id, nargs, reals) ELEM_MAKE(id, nargs, pairs)
#define D                                                F64
#define ZD                                               C128
#define T                                                double
#define Z                                                QComplexD
#define LARGEST                                          DBL_MAX
#define LEAST                                            DBL_MIN
#define EXP_MOST                                         709.0
#define EXP_OF_MOST                                      8.218407461554972e307
#include "lang/kernel/elem/elem.def"
#undef D
#undef ZD
#undef T
#undef Z
#undef LARGEST
#undef LEAST
#undef EXP_MOST
#undef EXP_OF_MOST
#undef COMPLEX
#undef PART_OF
/* complex64: the body in float32 if the row has OWN; if it has WIDE, the complex128 function, rounded once. */
#define COMPLEX(how, ...)      COMPLEX_##how##_, __VA_ARGS__
#define PART_OF(how, ...)      PART_OF_##how##_, __VA_ARGS__
#define ELEM_MAKE_COMPLEX_OWN_ ELEM_MAKE_COMPLEX_
#define ELEM_MAKE_PART_OF_OWN_ ELEM_MAKE_PART_OF_
#define ELEM_MAKE_COMPLEX_WIDE_(id, nargs, ...)                                                                        \
    ELEM_FN(Z, id, ZD, ELEM_ARGS_##nargs(Z), return elem_narrow(elem_##id##_C128(ELEM_WIDE_##nargs));)
#define ELEM_WIDE_1 elem_wide(x)
#define ELEM_WIDE_2 elem_wide(x), elem_wide(y)
#define ELEM_WIDE_3 elem_wide(x), elem_wide(y), elem_wide(z)
static inline QComplexD elem_wide(QComplexF z) { return (QComplexD){(double)z.re, (double)z.im}; }
static inline QComplexF elem_narrow(QComplexD z) { return (QComplexF){(float)z.re, (float)z.im}; }
#define ELEM(id, nargs, bound, reals, whole, pairs, ...) ELEM_MAKE(id, nargs, reals) ELEM_MAKE(id, nargs, pairs)
#define D                                                F32
#define ZD                                               C64
#define T                                                float
#define Z                                                QComplexF
#define LARGEST                                          ((double)FLT_MAX)
#define LEAST                                            ((double)FLT_MIN)
#define EXP_MOST                                         88.0
#define EXP_OF_MOST                                      1.6516362549940018e38
#include "lang/kernel/elem/elem.def"
#undef D
#undef ZD
#undef T
#undef Z
#undef LARGEST
#undef LEAST
#undef EXP_MOST
#undef EXP_OF_MOST

/* -- integers: first the rows that use the body of reals, then those with a body for integers ---------------------- */
#define ELEM_INT(id, nargs, whole, ...) ELEM_INT_##whole(id, nargs, __VA_ARGS__)
#define ELEM_INT_FLOATS_(id, nargs, ...)
#define ELEM_INT_WHOLE_(id, nargs, ...)
#define ELEM_INT_SAME_(id, nargs, ...)            ELEM_MAKE(id, nargs, __VA_ARGS__)
#define ELEM_INT_ITSELF_(id, nargs, ...)          ELEM_FN(T, id, D, ELEM_ARGS_##nargs(T), return x;)
#define FLOATS                                    FLOATS_
#define SAME                                      SAME_
#define ARITH                                     SAME_
#define ITSELF                                    ITSELF_
#define WHOLE(...)                                WHOLE_
#define FIRST(...)                                WHOLE_
#define D                                         I32
#define T                                         int32_t
#define ELEM(id, nargs, bound, reals, whole, ...) ELEM_INT(id, nargs, whole, reals)
#include "lang/kernel/elem/elem.def"
#undef D
#undef T
#define D                                         U32
#define T                                         uint32_t
#define ELEM(id, nargs, bound, reals, whole, ...) ELEM_INT(id, nargs, whole, reals)
#include "lang/kernel/elem/elem.def"
#undef D
#undef T
#define D                                         I64
#define T                                         int64_t
#define ELEM(id, nargs, bound, reals, whole, ...) ELEM_INT(id, nargs, whole, reals)
#include "lang/kernel/elem/elem.def"
#undef D
#undef T
#define D                                         U64
#define T                                         uint64_t
#define ELEM(id, nargs, bound, reals, whole, ...) ELEM_INT(id, nargs, whole, reals)
#include "lang/kernel/elem/elem.def"
#undef D
#undef T
#undef FLOATS
#undef SAME
#undef ARITH
#undef ITSELF
#undef WHOLE
#undef FIRST
#define FLOATS                                    NOTHING_,
#define SAME                                      NOTHING_,
#define ARITH                                     NOTHING_,
#define ITSELF                                    NOTHING_,
#define WHOLE(...)                                REAL_, __VA_ARGS__
#define FIRST(...)                                REAL_, __VA_ARGS__
#define D                                         I32
#define T                                         int32_t
#define ELEM(id, nargs, bound, reals, whole, ...) ELEM_MAKE(id, nargs, whole)
#include "lang/kernel/elem/elem.def"
#undef D
#undef T
#define D                                         U32
#define T                                         uint32_t
#define ELEM(id, nargs, bound, reals, whole, ...) ELEM_MAKE(id, nargs, whole)
#include "lang/kernel/elem/elem.def"
#undef D
#undef T
#define D                                         I64
#define T                                         int64_t
#define ELEM(id, nargs, bound, reals, whole, ...) ELEM_MAKE(id, nargs, whole)
#include "lang/kernel/elem/elem.def"
#undef D
#undef T
#define D                                         U64
#define T                                         uint64_t
#define ELEM(id, nargs, bound, reals, whole, ...) ELEM_MAKE(id, nargs, whole)
#include "lang/kernel/elem/elem.def"
#undef D
#undef T
#undef ELEM_SEM
#undef ELEM_LIBM
#undef ADD
#undef SUB
#undef MUL
#undef DIV
#undef MOD
#undef MIN
#undef MAX
#undef NEG
#undef ABS
#undef LT
#undef LE
#undef EQ
#undef NE
#undef BOTH
#undef EITHER
#undef BITAND
#undef BITOR
#undef BITXOR
#undef BITNOT
#undef SHL
#undef SHR
#undef NUM
#undef MATH1
#undef MATH2
#undef RE
#undef IM
#undef PAIR
#undef CALL1
#undef CALLP1
#undef CALLZ1
#undef CALLZ2
#undef LET
#undef GIVE
#undef ELEM_UNUSED
#undef ELEM_ARGS_1
#undef ELEM_ARGS_2
#undef ELEM_ARGS_3
#undef ELEM_FN
#undef REAL
#undef TRUTH
#undef JOIN
#undef NOTHING
#undef COMPLEX
#undef PART_OF
#undef TEST
#undef FLOATS
#undef SAME
#undef ARITH
#undef ITSELF
#undef WHOLE
#undef FIRST
#undef ELEM_MAKE
#undef ELEM_MAKE_REAL_
#undef ELEM_MAKE_TRUTH_
#undef ELEM_MAKE_JOIN_
#undef ELEM_MAKE_COMPLEX_
#undef ELEM_MAKE_PART_OF_
#undef ELEM_MAKE_TEST_
#undef ELEM_MAKE_NOTHING_
#undef ELEM_MAKE_COMPLEX_OWN_
#undef ELEM_MAKE_PART_OF_OWN_
#undef ELEM_MAKE_COMPLEX_WIDE_
#undef ELEM_WIDE_1
#undef ELEM_WIDE_2
#undef ELEM_WIDE_3
#undef ELEM_INT
#undef ELEM_INT_FLOATS_
#undef ELEM_INT_WHOLE_
#undef ELEM_INT_SAME_
#undef ELEM_INT_ITSELF_
#endif
