/* elem.h -- declares the elementwise functions and operators of elem.def: their numbers and properties.  elem_build.h
 * generates KIR for them, elem_host.h C functions. */
#ifndef LANG_KERNEL_ELEM_H
#define LANG_KERNEL_ELEM_H
#include "vm/base/dtype.h"

#include <math.h>

typedef enum Elem {
#define ELEM(id, ...) EL_##id,
#include "lang/kernel/elem/elem.def"
    EL__COUNT
} Elem;

typedef enum { ELEM_NOTHING, ELEM_NUMBER, ELEM_TRUTH, ELEM_COMPLEX } ElemGives;
typedef enum { ELEM_FLOATS, ELEM_SAME, ELEM_ARITH, ELEM_ITSELF, ELEM_INTEGERS, ELEM_FIRST } ElemIntegers;
typedef enum { ELEM_OWN, ELEM_WIDE } ElemPrecision;

typedef struct {
    const char *name;
    uint8_t nargs;
    uint8_t real, complex; /* ElemGives: type of the result for real and for complex arguments */
    uint8_t integers;      /* ElemIntegers: treatment of integers */
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
enum Op;
Elem kelem_operator(enum Op op);

/* Returns true for the elementwise product of two bool arrays, which is bool: the intersection of two masks. */
static inline bool kelem_is_mask(Elem e, qs_dtype a, qs_dtype b) { return e == EL_mul && a == QS_B1 && b == QS_B1; }

/* Returns true for mod of two bools, which are converted to floats because a remainder is not a bool. */
static inline bool kelem_truths_divide(Elem e, qs_dtype a, qs_dtype b) {
    return e == EL_mod && a == QS_B1 && b == QS_B1;
}

/* Returns true if the result of elements of one integer type has that type. */
static inline bool kelem_keeps(Elem e) {
    ElemIntegers integers = (ElemIntegers)kelem_info[e].integers;
    return integers != ELEM_FLOATS && integers != ELEM_ARITH && integers != ELEM_FIRST;
}

/* Returns the type in which a row is computed for arrays and numbers; at least one argument is an array.  Arrays
 * alone of one type keep it if the row keeps integers.  Otherwise the types are promoted as in arithmetic; bools
 * alone as in a quotient. */
qs_dtype kelem_meet(Elem e, const Term *args, qs_dtype scalar_dtype);

/* Error if a number has more bits than the elements: the function, the number, their number of bits, their type. */
#define KELEM_OTHER_BITS "%s: %s has other bits than the %d of %s"
#define KELEM_NO_BITS    "an integer of 64 bits is needed, got "
static inline bool kelem_number_has_bits(double x) { return x == trunc(x) && x >= -0x1p63 && x < 0x1p63; }

/* Returns whether a power of single numbers is computed by at most two products. */
static inline bool kelem_is_short_chain(double n) { return n == 2 || n == 3 || n == 4; }
/* Returns whether powers of elements with this exponent are computed as products; and whether as a product with the
 * square root, for the multiples of 0.5 between: x^2.5 is |x|^2 times x^0.5.  The power 16 is up to 8 units off.
 * Integers and complex numbers, whose pow is less accurate, have longer products. */
static inline bool kelem_is_chain(double n) { return n >= -16 && n <= 16 && n == (int)n; }
static inline bool kelem_is_long_chain(double n) { return n >= -64 && n <= 64 && n == (int)n; }
static inline bool kelem_is_root_chain(double n) { return !kelem_is_chain(n) && kelem_is_chain(2 * n); }
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
#endif
