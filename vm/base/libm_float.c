/* libm_float.c -- computes the float32 functions of math_formulas.h on the host; see libm.h. */
#include <stdint.h>

typedef float V;
typedef int32_t I;
typedef uint32_t U;
#define WIDE                    false
#define HOST(g)                 qlibm_##g##f
#define EACH_FUNCTION(ONE, TWO) QLIBM_EACH(ONE, TWO)
#include "vm/base/libm_functions.h"
