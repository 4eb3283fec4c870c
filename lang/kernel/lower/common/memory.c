/* memory.c -- computes element addresses, loads and stores elements, and reduces values over a group of positions. */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/lower/common/common.h"

KRef kmemory_extent(Walk *w, const Layout *a, int axis) {
    if (a->dims && a->dims[axis] >= 0) return kbuild_int(w, QS_I64, a->dims[axis]);
    return kbuild_pure(w, (KMake){K_DIM, .imm = (uint64_t)a->param << 8 | (uint64_t)axis});
}

static KRef stride_along(Walk *w, const Layout *a, int axis) {
    if (a->last_stride && axis == a->rank - 1) return kbuild_int(w, QS_I64, a->last_stride);
    return kbuild_pure(w, (KMake){K_STRIDE, .imm = (uint64_t)a->param << 8 | (uint64_t)axis});
}

/* Row-major without gaps, or by strides; the last stride may be known. */
KRef kmemory_linear(Walk *w, const Layout *a, const KRef *at) {
    KRef r = 0;
    for (int d = 0; d < a->rank; d++) {
        KRef term = at[d];
        if (a->fixed >> d & 1) continue;
        if (a->contiguous && d > 0) r = kbuild_op(w, K_MUL, r, kmemory_extent(w, a, d));
        else if (!a->contiguous && !(a->unit_last && d == a->rank - 1))
            term = kbuild_op(w, K_MUL, term, stride_along(w, a, d));
        r = r ? kbuild_op(w, K_ADD, r, term) : term;
    }
    return r ? r : kbuild_int(w, QS_I64, 0);
}

/* Part p of element k of a complex array is at index 2k+p. */
KRef kmemory_part(Walk *w, KRef linear, qs_dtype d, int part) {
    if (!qdtype_is_complex(d)) return linear;
    KRef twice = kbuild_op(w, K_MUL, linear, kbuild_int(w, QS_I64, 2));
    return part ? kbuild_op(w, K_ADD, twice, kbuild_int(w, QS_I64, part)) : twice;
}

KRef kmemory_load(Walk *w, int param, qs_dtype d, KRef linear, int part, KRef guard) {
    KRef at = kmemory_part(w, linear, d, part);
    return kbuild_emit(w, (KMake){K_LOAD, .own = kir_value_dtype(d), .a = at, .b = guard, .imm = (uint64_t)param});
}

void kmemory_store(Walk *w, int param, qs_dtype d, KRef linear, int part, KRef v, KRef guard) {
    kbuild_emit(w, (KMake){K_STORE, .a = kmemory_part(w, linear, d, part), .b = v, .c = guard, .imm = (uint64_t)param});
}

/* -- groups -------------------------------------------------------------------------------------------------------- */
static KPair shared_at(Walk *w, KPair shared, KRef at) {
    KPair v = {kbuild_emit(w, (KMake){K_ALOAD, .a = shared.re, .b = at}), 0};
    if (shared.im) v.im = kbuild_emit(w, (KMake){K_ALOAD, .a = shared.im, .b = at});
    return v;
}

static void set_shared(Walk *w, KPair shared, KRef at, KPair v) {
    kbuild_emit(w, (KMake){K_ASTORE, .a = shared.re, .b = at, .c = v.re});
    if (shared.im) kbuild_emit(w, (KMake){K_ASTORE, .a = shared.im, .b = at, .c = v.im});
}

KPair kmemory_merge_group(Walk *w, const Grouped *g, KPair mine) {
    KMake room = {K_SHARED, .own = g->lane, .imm = (uint64_t)g->size};
    KPair shared = {kbuild_emit(w, room), mine.im ? kbuild_emit(w, room) : 0};
    KRef me = kbuild_emit(w, (KMake){K_BLKPOS, .own = QS_I32, .imm = (uint64_t)g->axis});
    set_shared(w, shared, me, mine);
    for (int half = g->size / 2; half; half /= 2) {
        KRef distance = kbuild_int(w, QS_I32, half), first_half = kbuild_op(w, K_LT, me, distance);
        kbuild_emit(w, (KMake){.op = K_BARRIER});
        kbuild_flow(w, K_IF, g->has ? kbuild_op(w, K_AND, first_half, g->has(w, distance)) : first_half);
        KPair other = shared_at(w, shared, kbuild_op(w, K_ADD, me, distance));
        set_shared(w, shared, me, g->merge(w, shared_at(w, shared, me), other));
        kbuild_end(w);
    }
    KRef zero = kbuild_int(w, QS_I32, 0);
    kbuild_flow(w, K_IF, kbuild_op(w, K_EQ, me, zero));
    return shared_at(w, shared, zero);
}
