/* reduce_element.c -- builds what reductions do to each element and to a result, by the columns of reduce.def.
 *
 * Kernels have rules of their own for types (kernel/lower_reduce.c). */
#include "lang/kernel/lower/common/reduce_element.h"
#include "lang/kernel/elem/elem_build.h"

#include <math.h>
static qs_dtype dtype_of(const Walk *w, KRef v) { return (qs_dtype)w->f->ins[v].dtype; }

static KRef apply(Walk *w, Elem e, KRef v) { return kelem_real(kbuild_rows(w), e, dtype_of(w, v), &v).re; }

KRef kreduce_map(Walk *w, ReduceMap map, KRef v, KRef centre, KRef index) {
    switch (map) {
    case MAP_SQUARE: return kbuild_op(w, K_MUL, v, v);
    case MAP_ABS: return kbuild_op(w, K_ABS, v, 0);
    case MAP_EXP: return apply(w, EL_exp, kbuild_op(w, K_SUB, v, centre));
    case MAP_INDEX:
        return kbuild_select(w, kbuild_op(w, K_EQ, v, centre), index, kbuild_const(w, dtype_of(w, index), INFINITY));
    default: return v;
    }
}

KRef kreduce_centre(Walk *w, ReduceMap map, KRef centre) {
    if (map != MAP_EXP) return centre;
    KRef zero = kbuild_const(w, dtype_of(w, centre), 0),
         finite = kbuild_op(w, K_EQ, kbuild_op(w, K_SUB, centre, centre), zero);
    return kbuild_select(w, finite, centre, zero);
}

KRef kreduce_finish(Walk *w, const ReduceInfo *r, KRef v, KRef count, KRef centre) {
    qs_dtype d = dtype_of(w, v);
    if (r->map == MAP_INDEX) { /* INFINITY: no element has the value of the centre */
        KRef none = kbuild_op(w, K_EQ, v, kbuild_const(w, d, INFINITY));
        return kbuild_select(w, none, kbuild_const(w, d, 0), v);
    }
    switch ((ReduceFinish)r->finish) {
    case FINISH_MEAN:
        if (dtype_of(w, count) != d) count = kbuild_pure(w, (KMake){K_CAST, .own = d, .a = count});
        return kbuild_op(w, K_DIV, v, count);
    case FINISH_ROOT: return apply(w, EL_sqrt, v);
    case FINISH_LOG: return kbuild_op(w, K_ADD, apply(w, EL_log, v), centre);
    default: return v;
    }
}
