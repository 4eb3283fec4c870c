/* elem_build.h -- generates KIR for elementwise functions and operators, from the rows of elem.def.
 *
 *     in    a row, and its arguments as instructions of one dtype (complex ones as pairs)
 *     out   the instructions of the row's body, added by the builder of the caller
 *
 * The caller chooses the dtype of the computation: kernels compute in 32 bits, host loops in doubles, expressions
 * as arrays do.  The rows alone define what is computed.  elem_host.h makes C functions of them. */
#ifndef LANG_ELEM_BUILD_H
#define LANG_ELEM_BUILD_H
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/ir/kir.h"

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

/* Generates x op= y for elements x of the 64-bit integer type d and y of another type: EL_add, EL_sub or EL_mul.  An
 * integral y that has 64 bits is used as an integer, and the result wraps.  Any other y is computed in float64, and the
 * result saturates. */
KRef kelem_update(KBuild b, Elem e, qs_dtype d, KRef x, KRef y, qs_dtype of_y);

/* Generates x to a constant power as host arrays compute it: products, and a root for odd multiples of 0.5.  Returns
 * false for other powers: then EL_pow is used. */
bool kelem_power(KBuild b, qs_dtype d, KPair x, double n, KPair *out);
#endif
