/* reduce_element.c -- builds what reductions do to each element and to a result, by the columns of reduce.def.
 *
 * Kernels have rules of their own for types (kernel/lower_reduce.c). */
#include "lang/kernel/lower/common/reduce_element.h"
#include "lang/kernel/elem/elem_build.h"

#include <math.h>
static qs_dtype dtype_of(const Walk *w, KRef v) { return (qs_dtype)w->f->ins[v].dtype; }

static KRef apply(Walk *w, Elem e, KRef v) { return kelem_real(kbuild_rows(w), e, dtype_of(w, v), &v).re; }

static KRef emit_op(Walk *w, KOp op, KRef a, KRef b) { return kbuild_pure(w, (KMake){op, .a = a, .b = b}); }

static KRef select_value(Walk *w, KRef which, KRef a, KRef b) {
    return kbuild_pure(w, (KMake){K_SELECT, .a = which, .b = a, .c = b});
}

KRef kreduce_map(Walk *w, ReduceMap map, KRef v, KRef centre, KRef index) {
    switch (map) {
    case MAP_SQUARE: return emit_op(w, K_MUL, v, v);
    case MAP_ABS: return emit_op(w, K_ABS, v, 0);
    case MAP_EXP: return apply(w, EL_exp, emit_op(w, K_SUB, v, centre));
    case MAP_INDEX:
        return select_value(w, emit_op(w, K_EQ, v, centre), index, kbuild_const(w, dtype_of(w, index), INFINITY));
    default: return v;
    }
}

KRef kreduce_centre(Walk *w, ReduceMap map, KRef centre) {
    if (map != MAP_EXP) return centre;
    KRef zero = kbuild_const(w, dtype_of(w, centre), 0),
         finite = emit_op(w, K_EQ, emit_op(w, K_SUB, centre, centre), zero);
    return select_value(w, finite, centre, zero);
}

KRef kreduce_finish(Walk *w, const ReduceInfo *r, KRef v, KRef count, KRef centre) {
    qs_dtype d = dtype_of(w, v);
    if (r->map == MAP_INDEX) { /* INFINITY: no element has the value of the centre */
        KRef none = emit_op(w, K_EQ, v, kbuild_const(w, d, INFINITY));
        return select_value(w, none, kbuild_const(w, d, 0), v);
    }
    switch ((ReduceFinish)r->finish) {
    case FINISH_MEAN:
        if (dtype_of(w, count) != d) count = kbuild_pure(w, (KMake){K_CAST, .own = d, .a = count});
        return emit_op(w, K_DIV, v, count);
    case FINISH_ROOT: return apply(w, EL_sqrt, v);
    case FINISH_LOG: return emit_op(w, K_ADD, apply(w, EL_log, v), centre);
    default: return v;
    }
}
