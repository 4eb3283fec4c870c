/* elem.h -- elementwise functions and operators as instructions of KIR, made of the rows of elem.def.
 *
 *     in    a row, its arguments as instructions of one dtype (complex ones as pairs of them)
 *     out   the instructions of the row's body, through the builder of whoever asks: walk, lower, host
 *
 * Which dtype the arguments meet in is a rule of the one who asks: kernels compute in 32 bits, loops of the host in
 * doubles, expressions as arrays do.  What is then computed is said in the rows alone.  elem_host.h makes C of them. */
#ifndef LANG_KERNEL_ELEM_H
#define LANG_KERNEL_ELEM_H
#include "lang/kernel/ir/kir.h"
#include "lang/syntax/operators.h"

#include <math.h>

typedef enum {
#define ELEM(id, ...) EL_##id,
#include "lang/kernel/elem/elem.def"
    EL__COUNT
} Elem;

typedef enum { ELEM_NOTHING, ELEM_NUMBER, ELEM_TRUTH, ELEM_COMPLEX } ElemGives;
typedef enum { ELEM_FLOATS, ELEM_SAME, ELEM_ARITH, ELEM_ITSELF, ELEM_WHOLE, ELEM_FIRST } ElemWhole;
typedef enum { ELEM_OWN, ELEM_WIDE } ElemPrecision;

typedef struct {
    const char *name;
    uint8_t nargs;
    uint8_t real, complex; /* ElemGives: of real, and of complex numbers */
    uint8_t whole;         /* ElemWhole */
    uint8_t precision;     /* ElemPrecision, of complex numbers */
} ElemInfo;
extern const ElemInfo kelem_info[EL__COUNT];

/* Where a real argument, a truth value too, is the answer itself. */
static inline bool kelem_is_itself(Elem e, bool complex) { return (e == EL_real || e == EL_conj) && !complex; }
/* What messages call it. */
const char *kelem_name(Elem e);
/* The row of a built-in with so many arguments; EL__COUNT: it has none. */
Elem kelem_find(const char *name, int nargs);
/* The row of an operator of operators.def: its meaning between numbers; EL__COUNT: it has none. */
Elem kelem_operator(Op op);

/* The product of two arrays of bool, element by element, is one of bool: a mask of what both masks select. */
static inline bool kelem_is_mask(Elem e, qs_dtype a, qs_dtype b) { return e == EL_mul && a == QS_B1 && b == QS_B1; }

/* mod of truth values alone: a remainder is none, so they are floats first. */
static inline bool kelem_truths_divide(Elem e, qs_dtype a, qs_dtype b) {
    return e == EL_mod && a == QS_B1 && b == QS_B1;
}

/* Whether elements of one integer type keep it. */
static inline bool kelem_keeps(Elem e) {
    ElemWhole whole = (ElemWhole)kelem_info[e].whole;
    return whole != ELEM_FLOATS && whole != ELEM_ARITH && whole != ELEM_FIRST;
}

/* The type in which elements and numbers meet in a row; at least one is an array.  Elements alone of one type keep it
 * where the row keeps integers; otherwise they meet as in arithmetic, truth values alone as in a quotient. */
qs_dtype kelem_meet(Elem e, const Term *args, qs_dtype scalar_dtype);

/* -- building ------------------------------------------------------------------------------------------------------ */
typedef struct KPair {
    KRef re, im;
} KPair; /* a complex number; im 0: a real one */

/* Where instructions go.  fold appends an instruction, or finds one that is equal to it. */
typedef struct KBuild {
    void *ud;
    KRef (*fold)(void *ud, KMake i);
    KRef (*num)(void *ud, qs_dtype d, double v);
    qs_dtype d; /* of the computation: set by the functions below */
} KBuild;
/* Into f, at the source position that *pos is then.  zeros: MIN and MAX tell the zeros apart in every backend. */
typedef struct {
    KFunc *f;
    const uint32_t *pos;
    bool zeros;
} KInto;
KBuild kelem_into(KInto *into);

/* The body of e in the dtype d, float32, float64 or an integer; args have it already.  im is 0 unless it gives a
 * complex number; a truth value is a bool. */
KPair kelem_real(KBuild b, Elem e, qs_dtype d, const KRef *args);
/* The same of complex numbers, whose parts are of dtype d, float32 or float64. */
KPair kelem_complex(KBuild b, Elem e, qs_dtype d, const KPair *args);

/* The derivative of e for real numbers, of dtype d, by its argument arg, times t; result is what the body gave. */
typedef enum { ELEM_BODY, ELEM_FLAT, ELEM_SLOPES } ElemSlope;
ElemSlope kelem_slope_kind(Elem e);
KRef kelem_slope(KBuild b, Elem e, qs_dtype d, int arg, const KRef *args, KRef result, KRef t); /* only ELEM_SLOPES */
/* The derivative, a complex number, of what the ANALYTIC i is a part of, at x. */
KPair kelem_analytic(KBuild b, const KIns *i, KPair x);
/* The row that says what an instruction of kir.def does to floats; EL__COUNT: none has a derivative of its own. */
Elem kelem_instruction(const KIns *i);

/* A comparison where qdtype_mixes_signs: x_signed says that x is the one with a sign.  It gives a bool. */
KRef kelem_compare_signs(KBuild b, Elem e, KRef x, KRef y, bool x_signed);

/* x mod y where qdtype_mixes_signs: exact, and then rounded once, to float64. */
KRef kelem_mod_signs(KBuild b, KRef x, KRef y, bool x_signed);

/* EL_shl or EL_shr of x, of the integer type d, by n, of any integer type; the other way where n is negative, which
 * nobody asks when it is known that it never is. */
KRef kelem_shift(KBuild b, Elem e, qs_dtype d, KRef x, KRef n, qs_dtype of_n, bool never_negative);

/* What must hold of x, of the type d and from least to most (infinite where nobody knows), that it is one of the
 * integer type `to`: it is whole, and inside. */
KRef kelem_holds(KBuild b, qs_dtype to, KRef x, qs_dtype d, double least, double most);

/* The same of a float that is to have bits.  The error otherwise is "shl: " KELEM_NO_BITS and the number. */
static inline KRef kelem_has_bits(KBuild b, KRef x, qs_dtype d) {
    return kelem_holds(b, QS_I64, x, d, -INFINITY, INFINITY);
}
/* The error of a number beside elements that has more: the function, the number, how many they have, their type. */
#define KELEM_OTHER_BITS "%s: %s has other bits than the %d of %s"
#define KELEM_NO_BITS    "a whole number of 64 bits is needed, got "
static inline bool kelem_number_has_bits(double x) { return x == trunc(x) && x >= -0x1p63 && x < 0x1p63; }

/* Exponents whose powers of elements are products. */
static inline bool kelem_is_chain(double n) { return n >= -64 && n <= 64 && n == (int)n; }
/* Their products, in one order for all, because rounding depends on it: `first` makes the square at hand the result,
 * `multiply` takes it in, and `square` squares it.  It begins with the first of them, not with 1: a product with 1+0i
 * is not the number where a part is infinite or -0.  A negative power is 1 divided by the result. */
#define KELEM_CHAIN(n, first, multiply, square)                                                                        \
    for (uint64_t bits_ = (uint64_t)((n) < 0 ? -(n) : (n)), taken_ = 0; bits_; bits_ >>= 1) {                          \
        if (bits_ & 1) {                                                                                               \
            if (taken_) {                                                                                              \
                multiply;                                                                                              \
            } else {                                                                                                   \
                first;                                                                                                 \
            }                                                                                                          \
            taken_ = 1;                                                                                                \
        }                                                                                                              \
        if (bits_ > 1) { square; }                                                                                     \
    }

/* x to a power that is known, as arrays of the host have it: products, roots for 0.5;
 * false: it is neither, and EL_pow says what it is. */
bool kelem_power(KBuild b, qs_dtype d, KPair x, double n, KPair *out);
#endif
