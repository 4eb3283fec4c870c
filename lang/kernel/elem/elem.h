/* elem.h -- generates KIR for elementwise functions and operators, from the rows of elem.def.
 *
 *     in    a row, and its arguments as instructions of one dtype (complex ones as pairs)
 *     out   the instructions of the row's body, added by the builder of the caller
 *
 * The caller chooses the dtype of the computation: kernels compute in 32 bits, host loops in doubles, expressions
 * as arrays do.  The rows alone define what is computed.  elem_host.h makes C functions of them. */
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
    uint8_t real, complex; /* ElemGives: type of the result for real and for complex arguments */
    uint8_t whole;         /* ElemWhole: treatment of integers */
    uint8_t precision;     /* ElemPrecision of complex numbers */
} ElemInfo;
extern const ElemInfo kelem_info[EL__COUNT];

/* Returns true if a real argument, or a bool, is itself the result. */
static inline bool kelem_is_itself(Elem e, bool complex) { return (e == EL_real || e == EL_conj) && !complex; }
/* Returns the name that error messages use. */
const char *kelem_name(Elem e);
/* Returns the row of a built-in with nargs arguments; EL__COUNT: it has none. */
Elem kelem_find(const char *name, int nargs);
/* Returns the row of an operator of operators.def, which defines it for numbers; EL__COUNT: it has none. */
Elem kelem_operator(Op op);

/* Returns true for the elementwise product of two bool arrays, which is bool: the intersection of two masks. */
static inline bool kelem_is_mask(Elem e, qs_dtype a, qs_dtype b) { return e == EL_mul && a == QS_B1 && b == QS_B1; }

/* Returns true for mod of two bools, which are converted to floats because a remainder is not a bool. */
static inline bool kelem_truths_divide(Elem e, qs_dtype a, qs_dtype b) {
    return e == EL_mod && a == QS_B1 && b == QS_B1;
}

/* Returns true if the result of elements of one integer type has that type. */
static inline bool kelem_keeps(Elem e) {
    ElemWhole whole = (ElemWhole)kelem_info[e].whole;
    return whole != ELEM_FLOATS && whole != ELEM_ARITH && whole != ELEM_FIRST;
}

/* Returns the type in which a row is computed for arrays and numbers; at least one argument is an array.  Arrays
 * alone of one type keep it if the row keeps integers.  Otherwise the types are promoted as in arithmetic; bools
 * alone as in a quotient. */
qs_dtype kelem_meet(Elem e, const Term *args, qs_dtype scalar_dtype);

/* -- building ------------------------------------------------------------------------------------------------------ */
typedef struct KPair {
    KRef re, im;
} KPair; /* a complex number; im 0: it is real */

/* A builder: where instructions are added.  fold adds an instruction, or finds an equal one; num adds a constant. */
typedef struct KBuild {
    void *ud;
    KRef (*fold)(void *ud, KMake i);
    KRef (*num)(void *ud, qs_dtype d, double v);
    qs_dtype d; /* dtype of the computation; set by the functions below */
} KBuild;
/* A builder that adds to f, at the source position *pos.  zeros: MIN and MAX distinguish -0 and +0 in every backend. */
typedef struct {
    KFunc *f;
    const uint32_t *pos;
    bool zeros;
} KInto;
KBuild kelem_into(KInto *into);

/* Generates the body of e in dtype d: float32, float64 or an integer type, which the arguments have.  The result
 * has im 0 unless it is complex; a truth value is a bool. */
KPair kelem_real(KBuild b, Elem e, qs_dtype d, const KRef *args);
/* The same for complex numbers, whose parts have dtype d, float32 or float64. */
KPair kelem_complex(KBuild b, Elem e, qs_dtype d, const KPair *args);

/* Derivatives of e for real numbers.  kelem_slope generates t times the derivative with respect to argument arg;
 * result: value of the body. */
typedef enum { ELEM_BODY, ELEM_FLAT, ELEM_SLOPES } ElemSlope;
ElemSlope kelem_slope_kind(Elem e);
KRef kelem_slope(KBuild b, Elem e, qs_dtype d, int arg, const KRef *args, KRef result,
                 KRef t); /* only for ELEM_SLOPES */
/* Generates the complex derivative at x of the function that the ANALYTIC i is a part of. */
KPair kelem_analytic(KBuild b, const KIns *i, KPair x);
/* Returns the row for an instruction on floats; EL__COUNT: the instruction has no derivative of its own. */
Elem kelem_instruction(const KIns *i);

/* Generates a comparison of types for which qdtype_mixes_signs; x_signed: x has the signed type.  The result is a
 * bool. */
KRef kelem_compare_signs(KBuild b, Elem e, KRef x, KRef y, bool x_signed);

/* Generates x mod y of such types: computed exactly, then rounded once to float64. */
KRef kelem_mod_signs(KBuild b, KRef x, KRef y, bool x_signed);

/* Generates EL_shl or EL_shr of x, of integer type d, by n, of any integer type.  A negative n shifts in the other
 * direction; never_negative: n is known not to be negative, and no code for this is generated. */
KRef kelem_shift(KBuild b, Elem e, qs_dtype d, KRef x, KRef n, qs_dtype of_n, bool never_negative);

/* Generates the condition that x is a value of the integer type `to`: integral, and in range.  d: type of x; least,
 * most:  its known range, infinite if unknown. */
KRef kelem_holds(KBuild b, qs_dtype to, KRef x, qs_dtype d, double least, double most);

/* The same for a float that is used as bits.  Otherwise the error is "shl: " KELEM_NO_BITS and the number. */
static inline KRef kelem_has_bits(KBuild b, KRef x, qs_dtype d) {
    return kelem_holds(b, QS_I64, x, d, -INFINITY, INFINITY);
}
/* Error if a number has more bits than the elements: the function, the number, their number of bits, their type. */
#define KELEM_OTHER_BITS "%s: %s has other bits than the %d of %s"
#define KELEM_NO_BITS    "a whole number of 64 bits is needed, got "
static inline bool kelem_number_has_bits(double x) { return x == trunc(x) && x >= -0x1p63 && x < 0x1p63; }

/* Returns true for exponents for which powers of elements are computed as products. */
static inline bool kelem_is_chain(double n) { return n >= -64 && n <= 64 && n == (int)n; }
/* Computes such a power by repeated squaring, in one order everywhere, because rounding depends on it.  `first`:
 * assigns the current square to the result; `multiply`: multiplies the result by it; `square`: squares it.  The
 * result starts with the first factor, not with 1: a product with 1+0i changes numbers with an infinite part or -0.
 * A negative power is 1 divided by the result. */
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

/* Generates x to a constant power as host arrays compute it: products, or a root for 0.5.  Returns false for other
 * powers: then EL_pow is used. */
bool kelem_power(KBuild b, qs_dtype d, KPair x, double n, KPair *out);
#endif
