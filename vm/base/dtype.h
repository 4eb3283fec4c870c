/* dtype.h -- declares the element types: sizes, names, type promotion, and the scalar conversions of the whole tree.
 *
 * A number on the host is a double (`scalar`).  Array elements are float32 unless the program says otherwise.  A host
 * number combined with an array is weak: 2.0*float32_array is float32.
 *
 * Nothing is rounded silently.  Therefore an array of 32-bit integers combined with float32 or a scalar becomes
 * float64, and integers of 8 and 16 bits compute as int: 200+100 of two uint8 images is 300.
 *
 * A conversion to an integer type truncates toward zero and saturates, and NaN gives 0.  The host, the constant
 * evaluator and every backend follow this one rule, which leaves no case that C, LLVM or OpenCL leave undefined. */
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
    const char *numpy;       /* NumPy's code of the type; "": NumPy has no such type */
    uint8_t dlcode;          /* type code of DLPack */
    const char *safetensors; /* name in a safetensors file; "": not supported there */
} DtypeInfo;

extern const DtypeInfo qdtype_info[QS_NDTYPES];

static inline size_t qdtype_size(qs_dtype d) { return qdtype_info[d].size; }
static inline bool qdtype_is_complex(qs_dtype d) { return d >= QS_C64; }
static inline bool qdtype_is_real(qs_dtype d) { return d >= QS_F16 && d <= QS_F64; }
/* Floats and complex numbers, which have derivatives. */
static inline bool qdtype_is_smooth(qs_dtype d) { return d >= QS_F16; }
/* Floats of 16 bits.  They are a storage format; arithmetic uses float32. */
static inline bool qdtype_is_short(qs_dtype d) { return qdtype_is_real(d) && qdtype_size(d) == 2; }
static inline bool qdtype_is_int(qs_dtype d) { return d >= QS_I8 && d <= QS_U64; }
void qdtype_int_span(qs_dtype d, double *lo, double *hi); /* the range of an integer type d, as doubles */

/* Returns the dtype of an elementwise arithmetic result on two arrays:
 *   - Integers of 8 and 16 bits (and bool) compute as int, so that 200+100 of two uint8 images is 300.
 *   - An unsigned or bool operand combined with uint32 or uint64 takes that type.
 *   - Integers of 32 bits and more combined with float32 give float64, so that nothing is rounded silently.
 *   - uint64 combined with a signed type gives float64. */
qs_dtype qdtype_promote(qs_dtype a, qs_dtype b);
/* Returns the dtype when the other operand is a host scalar.  The scalar is weak, so 2.0*float32 stays float32.  An
 * integer array becomes `scalar_dtype`, or float64 if it has 32 bits or more.  weak_int: the scalar is an int, so the
 * array keeps an integer type. */
qs_dtype qdtype_promote_scalar(qs_dtype a, bool weak_int, qs_dtype scalar_dtype);
/* An operand: array elements, or a number with dtype float64, int64 (ints and truth values) or complex128. */
typedef struct {
    qs_dtype dtype;
    bool number;
} Term;
/* Returns the common type of two operands; two numbers follow the rules for host numbers.  fraction: integers become
 * floats first, as in a quotient. */
qs_dtype qdtype_meet(Term a, Term b, bool fraction, qs_dtype scalar_dtype);
/* Returns the type of an elementwise c ? a : b and where(c, a, b).  Nothing is computed, so two arrays of one type keep
 * it, and two truth values remain bool.  Two other numbers have the type of a list of them, `list`.  All others have
 * the common type of arithmetic, `met`. */
qs_dtype qdtype_choose(Term a, Term b, qs_dtype list, qs_dtype met);
qs_dtype qdtype_complex_of(qs_dtype real); /* float64 and wide ints -> complex128, else complex64 */
qs_dtype qdtype_real_of(qs_dtype cplx);    /* complex64 -> float32, complex128 -> float64, else itself */
/* Returns whether one type is uint64 and the other signed, which no integer type holds together.  Comparisons are exact
 * nevertheless: a negative number is less than any uint64, and the others are compared as uint64. */
bool qdtype_mixes_signs(qs_dtype a, qs_dtype b);
bool qdtype_from_name(const char *name, qs_dtype *out);

/* The error message for a number that an integer type does not hold: "f: argument n must be int, got 2.5, which …". */
#define QDTYPE_NOT_HELD "%s must be %s, got %s, which %s does not hold"
/* The end of the error message for a number other than 0 and 1 that is stored in a bool array. */
#define QDTYPE_NO_TRUTH                                                                                                \
    "is neither true nor false, as elements of a bool array are: x != 0 makes a truth value of a number"

/* float -> integer conversion: truncates toward zero, saturates, NaN gives 0. */
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

/* Returns whether x is an integral number of magnitude below 2^64 that float32 does not represent exactly.  Such a
 * number may be an index or an extent, and rounding would change it: x[a..b] would read the wrong elements.  Therefore
 * a list or range with such a number is float64, whatever it is used for. */
bool qdtype_rounds_integral(double x);
/* Compares i with x exactly: -1, 0, 1; 2: x is nan.  (Beyond 2^53 many integers round to one double.) */
int qdtype_order(int64_t i, double x);
/* Returns the number of elements of lo..step..hi; step is not 0.  An element slightly beyond hi counts, too, if the
 * rounding of step and bounds alone may have put it there: it exceeds hi by less than the unit below times the larger
 * bound, and by less than the slack times the step.  kcounted_iterations (lang/kernel/lower/common) emits the same
 * computation as instructions, for floats in float32. */
#define QDTYPE_RANGE_UNIT    0x1p-50
#define QDTYPE_RANGE_SLACK   0x1p-10
#define QDTYPE_RANGE_UNIT32  0x1p-23
#define QDTYPE_RANGE_SLACK32 0x1p-3
double qdtype_range_count(double lo, double step, double hi);

/* Converts one element of any type to and from double (complex: real part only; 64-bit integers beyond 2^53 round). */
double qdtype_get(qs_dtype d, const void *p);
void qdtype_put(qs_dtype d, void *p, double x);
#endif
