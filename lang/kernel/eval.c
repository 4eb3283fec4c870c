#include "lang/kernel/sem.h"

/* -- mathematical functions -------------------------------------------------------------------------------------------- */
typedef union {
    struct { float (*f32)(float); double (*f64)(double); } a1;
    struct { float (*f32)(float, float); double (*f64)(double, double); } a2;
} LibM;
static const LibM libm[MF__COUNT] = {
#define MATHFN(id, nargs, f32, f64, ...) [MF_##id] = {.a##nargs = {f32, f64}},
#include "lang/kernel/mathfn.def"
};

double keval_math(MathFn fn, qs_dtype d, double a, double b) {
    bool two = kir_math[fn].nargs == 2;
    if (d == QS_F32) return (double)(two ? libm[fn].a2.f32((float)a, (float)b) : libm[fn].a1.f32((float)a));
    return two ? libm[fn].a2.f64(a, b) : libm[fn].a1.f64(a);
}
