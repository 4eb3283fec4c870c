/* libm.c -- computes the float64 functions of math_formulas.h on the host; see libm.h. */
#include <stdint.h>

typedef double V;
typedef int64_t I;
typedef uint64_t U;
#define WIDE                    true
#define HOST(f)                 qlibm_##f
#define EACH_FUNCTION(ONE, TWO) QLIBM_EACH(ONE, TWO) ONE(tan) TWO(hypot)
#include "vm/base/libm_functions.h"

void *qlibm_symbol(const char *name) {
#define RETURN(f)                                                                                                      \
    if (!strcmp(name, "qlibm_" #f)) return (void *)(uintptr_t)qlibm_##f;
    EACH_FUNCTION(RETURN, RETURN)
#undef RETURN
#define RETURN(g)                                                                                                      \
    if (!strcmp(name, "qlibm_" #g "f")) return (void *)(uintptr_t)qlibm_##g##f;
    QLIBM_EACH(RETURN, RETURN)
    return NULL;
}
