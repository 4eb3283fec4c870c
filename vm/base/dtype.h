/* dtype.h -- element types: sizes, names, promotion, and the one set of scalar conversions everybody uses.
 *
 * A number of the host is a double (`scalar`); the elements of an array are float32 unless the program says otherwise.
 * Beside an array a number of the host is weak: 2.0*float32_array is float32.
 *
 * Nothing is rounded silently.  So an array of 32-bit integers becomes float64 where it meets float32 or a scalar, and
 * integers of 8 and 16 bits compute as int: 200+100 of two uint8 images is 300.
 *
 * A conversion to an integer type goes toward zero and saturates, and NaN gives 0, on the host, in the evaluator and in
 * every backend: so there is one rule to remember, and no case that C, LLVM or OpenCL leave undefined. */
#ifndef VM_BASE_DTYPE_H
#define VM_BASE_DTYPE_H
#include "vm/quasar_types.h"

typedef struct {
    float re, im;
} QComplexF;
typedef struct {
    double re, im;
} QComplexD;

typedef enum { DC_BOOL, DC_SINT, DC_UINT, DC_REAL, DC_CPLX } DtypeClass;
enum { QS_NDTYPES = QS_C128 + 1 };

typedef struct {
    const char *name; /* as written in the language */
    uint8_t size;     /* bytes */
    uint8_t cls;      /* DtypeClass */
    const char *opencl, *llvm;
    const char *numpy; /* its code for the type; "": it has none */
    uint8_t dlcode;
    const char *safetensors; /* its name in such a file; "": it has none */
} DtypeInfo;

extern const DtypeInfo qdtype_info[QS_NDTYPES];

static inline size_t qdtype_size(qs_dtype d) { return qdtype_info[d].size; }
static inline bool qdtype_is_complex(qs_dtype d) { return d >= QS_C64; }
static inline bool qdtype_is_real(qs_dtype d) { return d >= QS_F16 && d <= QS_F64; }
/* Floats and complex numbers: what has derivatives. */
static inline bool qdtype_is_smooth(qs_dtype d) { return d >= QS_F16; }
/* Floats of 16 bits: they are stored so, and computed with as float32. */
static inline bool qdtype_is_short(qs_dtype d) { return qdtype_is_real(d) && qdtype_size(d) == 2; }
static inline bool qdtype_is_int(qs_dtype d) { return d >= QS_I8 && d <= QS_U64; }
void qdtype_int_span(qs_dtype d, double *lo, double *hi); /* the least and the greatest, as doubles; d is an integer */

/* The dtype of an elementwise arithmetic result on two arrays.  Integers of 8 and 16 bits (and bool) compute as int,
 * so that 200+100 of two uint8 images is 300; unsigned ones with uint32 or uint64 are of that type; integers of 32 bits
 * and more meet float32 in float64, so that nothing is rounded silently; the mixture of uint64 with a signed type is
 * float64. */
qs_dtype qdtype_promote(qs_dtype a, qs_dtype b);
/* The same when b is a host scalar: weak, so 2.0*float32 stays float32; an integer array becomes `scalar_dtype`, or
 * float64 when it has 32 bits or more.  weak_int: the scalar is of kind int, which integer arrays absorb. */
qs_dtype qdtype_promote_scalar(qs_dtype a, bool weak_int, qs_dtype scalar_dtype);
/* What takes part in it: elements, or a number: a float64, an int64 (ints and truth values) or a complex128. */
typedef struct {
    qs_dtype dtype;
    bool number;
} Term;
/* The type in which two terms meet, at most one of them a number; two numbers meet as numbers do.  fraction: integers
 * become floats first, as in a quotient. */
qs_dtype qdtype_meet(Term a, Term b, bool fraction, qs_dtype scalar_dtype);
/* The type of c ? a : b and where(c, a, b) of elements.  Nothing is computed, so two of one type keep it, and truth
 * values do; two numbers make what a list of them would, which is `list`; others meet as in arithmetic, in `met`. */
qs_dtype qdtype_choose(Term a, Term b, qs_dtype list, qs_dtype met);
qs_dtype qdtype_complex_of(qs_dtype real); /* float64 and wide ints -> complex128, else complex64 */
qs_dtype qdtype_real_of(qs_dtype cplx);    /* complex64 -> float32, complex128 -> float64, else itself */
/* A uint64 beside a signed integer: no integer type holds both.  A comparison is exact all the same: what is negative
 * is less than any uint64, and the rest is compared as uint64. */
bool qdtype_mixes_signs(qs_dtype a, qs_dtype b);
bool qdtype_from_name(const char *name, qs_dtype *out);

/* The end of the sentence about a number that is stored as a truth value. */
/* Of a number that is given for an integer, and is none of them: "f: argument n must be int, got 2.5, which … " */
#define QDTYPE_NOT_HELD "%s must be %s, got %s, which %s does not hold"
#define QDTYPE_NO_TRUTH                                                                                                \
    "is neither true nor false, as elements of a bool array are: x != 0 makes a truth value of a number"

/* float -> integer everywhere in the language: toward zero, saturating, NaN gives 0. */
int64_t qdtype_sat_i64(double x, int64_t lo, int64_t hi);
uint64_t qdtype_sat_u64(double x, uint64_t hi);

float qdtype_half_to_float(uint16_t h);
uint16_t qdtype_float_to_half(float f); /* round to nearest even */
static inline float qdtype_bf16_to_float(uint16_t h) {
    union {
        uint32_t u;
        float f;
    } v = {(uint32_t)h << 16};
    return v.f;
}
uint16_t qdtype_float_to_bf16(float f); /* round to nearest even */

/* A whole number below 2^64 that float32 does not hold.  It may be a position or an extent, and would be another one
 * after rounding: x[a..b] would read the elements beside.  So a list or range that holds such a number is float64,
 * whatever becomes of it. */
bool qdtype_rounds_whole(double x);
/* i beside x, exactly: -1, 0, 1; 2: x is nan.  Beyond 2^53 many integers round to one double. */
int qdtype_order(int64_t i, double x);
/* How many elements lo..step..hi has; step is not 0.  The next beyond hi is one, too, when only the rounding of step
 * and bounds may have brought it there: it is beyond by less than the unit below times the larger bound, and by less
 * than the slack times the step.  kcounted_turns (walk/nest.c) is the same in instructions; floats in float32. */
#define QDTYPE_RANGE_UNIT    0x1p-50
#define QDTYPE_RANGE_SLACK   0x1p-10
#define QDTYPE_RANGE_UNIT32  0x1p-23
#define QDTYPE_RANGE_SLACK32 0x1p-3
double qdtype_range_count(double lo, double step, double hi);

/* One element of any type to and from double (complex: real part only; 64-bit integers beyond 2^53 round). */
double qdtype_get(qs_dtype d, const void *p);
void qdtype_put(qs_dtype d, void *p, double x);
#endif
