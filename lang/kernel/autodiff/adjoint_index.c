/* adjoint_index.c -- finds the elements of arrays and adjoints that an instruction accesses.
 *
 * Adjoints are packed, whatever strides their arrays have.  An index is a sum of coordinates times strides.  In the
 * index of an adjoint, each STRIDE is replaced by the stride of a packed array: a product of extents.
 *
 * lower/common/memory.c builds the indices, and this file finds the coordinates in them: ((c0*d1 + c1)*d2 + c2) for
 * packed arrays, else c0*s0 + c1*s1 + c2.  A coordinate that does not occur is 0. */
#include "lang/kernel/autodiff/autodiff_internal.h"
#include "lang/kernel/ir/affine.h"

enum { DEPTH = 40, VISITS = 256 /* values visited; a value that is used twice counts twice */ };

typedef struct {
    KFunc *g;
    const KFunc *f;
    uint64_t param;
    KUse *use;
    void *ud;
    uint32_t pos;
    bool *strided; /* by instruction of f: it depends on a STRIDE of the array */
    KRef *done;
} Pack;

static void find_strided(Pack *p, KRef last) {
    for (KRef r = 1; r <= last; r++) {
        const KIns *i = &p->f->ins[r];
        if (i->op == K_STRIDE) p->strided[r] = i->imm >> 8 == p->param;
        else if (kir_ops[i->op].effect == KE_PURE)
            p->strided[r] = p->strided[i->a] || p->strided[i->b] || p->strided[i->c];
    }
}

static KRef packed_stride(const Pack *p, int axis) {
    KRef n = kir_const_int(p->g, QS_I64, 1, p->pos);
    for (int a = axis + 1; a < p->f->params[p->param].rank; a++) {
        KRef extent = kir_add(p->g, (KMake){K_DIM, .imm = p->param << 8 | (uint64_t)a, .pos = p->pos});
        n = kir_fold(p->g, (KMake){K_MUL, .a = n, .b = extent, .pos = p->pos});
    }
    return n;
}

static KRef pack_index(const Pack *p, KRef r) {
    const KIns *i = &p->f->ins[r];
    if (!p->strided[r]) return r ? p->use(p->ud, r) : 0;
    if (p->done[r]) return p->done[r];
    if (i->op == K_STRIDE) return p->done[r] = packed_stride(p, (int)(i->imm & 255));
    KRef a = pack_index(p, i->a), b = pack_index(p, i->b), c = pack_index(p, i->c);
    return p->done[r] = kir_copy(p->g, i, a, b, c);
}

KRef kadjindex_packed(KFunc *g, const KFunc *f, const KIns *i, KUse *use, void *ud) {
    Pack p = {g, f, i->imm, use, ud, i->pos, NULL, NULL};
    if (f->params[i->imm].contiguous) return use(ud, i->a);
    p.strided = qarena_alloc(g->arena, i->a + 1),
    p.done = qarena_alloc(g->arena, qmem_size(i->a, sizeof(KRef), sizeof(KRef)));
    find_strided(&p, i->a);
    return pack_index(&p, i->a);
}

/* -- coordinates --------------------------------------------------------------------------------------------------- */
static bool is_number(const KFunc *f, KRef r, int64_t n) {
    return r && f->ins[r].op == K_CONST && (int64_t)f->ins[r].imm == n;
}

/* Returns the index of the complex element whose real or imaginary part has the index `at`; 0: unknown. */
static KRef whole_element(const KFunc *f, KRef at) {
    const KIns *i = &f->ins[at];
    if (i->op == K_ADD && is_number(f, i->b, 1) && f->ins[i->a].op == K_MUL) i = &f->ins[i->a];
    return i->op == K_MUL && is_number(f, i->b, 2) ? i->a : 0;
}

/* Returns true for an extent along the axis, constant or not: of the accessed array, or of the array whose adjoint
 * it is. */
static bool is_extent(const KFunc *f, KRef r, int axis) {
    const KIns *i = &f->ins[r];
    return i->op == K_CONST || (i->op == K_DIM && (int)(i->imm & 255) == axis);
}

/* Returns true if x is a BOUND by the extent along the axis, or the guard tests it with such an INB. */
static bool is_inside(const KFunc *f, KRef guard, KRef x, int axis, int depth) {
    const KIns *i = &f->ins[guard];
    if (f->ins[x].op == K_BOUND) return f->ins[f->ins[x].b].op == K_DIM && is_extent(f, f->ins[x].b, axis);
    if (!guard || depth == 0) return false;
    if (i->op == K_AND) return is_inside(f, i->a, x, axis, depth - 1) || is_inside(f, i->b, x, axis, depth - 1);
    return i->op == K_INB && f->ins[i->b].op == K_DIM && is_extent(f, i->b, axis) && kadjindex_same(f, i->a, x);
}

/* Returns true if x is certainly not negative. */
static bool is_natural(const KFunc *f, KRef x, int depth) {
    const KIns *i = &f->ins[x];
    double step;
    if (!x || depth == 0) return false;
    switch ((KOp)i->op) {
    case K_POS: return true;
    case K_CONST: return qdtype_is_int((qs_dtype)i->dtype) && (int64_t)i->imm >= 0;
    case K_CAST: return qdtype_is_int((qs_dtype)f->ins[i->a].dtype) && is_natural(f, i->a, depth - 1);
    case K_FOR: return kir_is_const(f, i->c, &step) && is_natural(f, step > 0 ? i->a : i->b, depth - 1);
    default: return false;
    }
}

/* Returns true if x cannot reach into another row: it is tested, or there is no test at all and it is not negative.
 * Without a test the program promises that every coordinate is in range. */
static bool is_column(const KFunc *f, const KIns *i, KRef x, int axis) {
    KRef guard = kir_guard(i);
    return is_inside(f, guard, x, axis, DEPTH) || (!guard && is_natural(f, x, DEPTH));
}

/* The index of an element in the first row is only its coordinate there; in the second row it is the extent plus
 * that. */
static bool packed_coords(const KFunc *f, const KIns *i, KRef at, KRef *out) {
    for (int d = f->params[i->imm].rank - 1; d > 0; d--) {
        const KIns *sum = &f->ins[at], *row = sum->op == K_ADD ? &f->ins[sum->a] : sum;
        if (row->op == K_MUL && is_extent(f, row->b, d)) {
            out[d] = sum->op == K_ADD ? sum->b : 0, at = row->a;
            continue;
        }
        bool second = sum->op == K_ADD && row->op == K_DIM && is_extent(f, sum->a, d);
        out[d] = second ? sum->b : at, at = second ? KINDEX_ONE : 0;
        if (!is_column(f, i, out[d], d)) return false;
        for (int k = 0; k < d; k++) out[k] = 0;
        return out[d - 1] = at, true;
    }
    return out[0] = at, true;
}

static bool strided_coords(const KFunc *f, KRef at, uint64_t param, KRef *out) {
    const KParam *p = &f->params[param];
    for (int d = p->rank - 1; d >= 0; d--) {
        const KIns *sum = &f->ins[at];
        if (d > 0 && sum->op != K_ADD) return false;
        KRef term = d > 0 ? sum->b : at;
        const KIns *i = &f->ins[term];
        bool unit = p->unit_last && d == p->rank - 1;
        if (!unit && (i->op != K_MUL || f->ins[i->b].op != K_STRIDE || f->ins[i->b].imm != (param << 8 | (uint64_t)d)))
            return false;
        out[d] = unit ? term : i->a;
        at = sum->a;
    }
    return true;
}

bool kadjindex_coords(const KFunc *f, const KIns *i, KRef *out) {
    const KParam *p = &f->params[i->imm];
    KRef at = qdtype_is_complex((qs_dtype)p->dtype) ? whole_element(f, i->a) : i->a;
    if (!at) return false;
    return p->contiguous ? packed_coords(f, i, at, out) : strided_coords(f, at, i->imm, out);
}

/* -- equal values -------------------------------------------------------------------------------------------------- */
static bool same_value(const KFunc *f, KRef a, KRef b, int *left) {
    if (a == b) return true;
    if (!a || !b || a == KINDEX_ONE || b == KINDEX_ONE || --*left < 0) return false;
    const KIns *x = &f->ins[a], *y = &f->ins[b];
    if (x->op != y->op || x->imm != y->imm || x->flag != y->flag || x->dtype != y->dtype) return false;
    if (kir_ops[x->op].effect != KE_PURE) return false;
    return same_value(f, x->a, y->a, left) && same_value(f, x->b, y->b, left) && same_value(f, x->c, y->c, left);
}

bool kadjindex_same(const KFunc *f, KRef a, KRef b) {
    int left = VISITS;
    return same_value(f, a, b, &left);
}

static bool is_fixed(const KFunc *f, KRef r, int *left) {
    const KIns *i = &f->ins[r];
    if (!r) return true;
    if (--*left < 0 || kir_ops[i->op].effect != KE_PURE) return false;
    return is_fixed(f, i->a, left) && is_fixed(f, i->b, left) && is_fixed(f, i->c, left);
}

bool kadjindex_is_fixed(const KFunc *f, KRef r) {
    int left = VISITS;
    return is_fixed(f, r, &left);
}

static bool is_known(const KFunc *f, KRef coord, int64_t *out) {
    *out = coord == KINDEX_ONE ? 1 : coord ? (int64_t)f->ins[coord].imm : 0;
    return !coord || coord == KINDEX_ONE || f->ins[coord].op == K_CONST;
}

/* Returns true if a coordinate of a and b is constant and different. */
static bool coords_differ(const KFunc *f, KRef a, KRef b) {
    KRef p[QS_MAX_RANK], q[QS_MAX_RANK];
    int64_t x, y;
    if (!kadjindex_coords(f, &f->ins[a], p) || !kadjindex_coords(f, &f->ins[b], q)) return false;
    for (int d = 0; d < f->params[f->ins[a].imm].rank; d++)
        if (is_known(f, p[d], &x) && is_known(f, q[d], &y) && x != y) return true;
    return false;
}

bool kadjindex_apart(const KFunc *f, KRef a, KRef b, bool again) {
    Affine x, y;
    if (!f->barrier && !f->serial && coords_differ(f, a, b)) return true;
    KRef p = f->ins[a].a, q = f->ins[b].a;
    if (f->barrier || f->serial || !kaffine_of(f, p, &x) || !kaffine_of(f, q, &y)) return false;
    if (!kaffine_differ(&x, &y)) return false;
    return !again || (kadjindex_is_fixed(f, p) && kadjindex_is_fixed(f, q));
}

/* -- owners of elements -------------------------------------------------------------------------------------------- */
static int axis_of(const KFunc *f, KRef coord) { /* axis of the position that coord is; -1: it is something else */
    if (coord == KINDEX_ONE) return -1;
    const KIns *i = &f->ins[coord];
    if (i->op == K_CAST) i = &f->ins[i->a];
    return i->op == K_POS ? (int)i->imm : -1;
}

bool kadjindex_axes(const KFunc *f, const KIns *i, int *out) {
    KRef c[QS_MAX_RANK];
    for (int a = 0; a < f->rank; a++) out[a] = -1;
    if (!kadjindex_coords(f, i, c)) return false;
    for (int d = 0; d < f->params[i->imm].rank; d++) {
        int a = axis_of(f, c[d]);
        if (a >= 0) out[a] = d;
    }
    for (int a = 0; a < f->rank; a++)
        if (out[a] < 0) return false;
    return true;
}

static bool is_access_of(const KIns *i, int param) {
    return (i->op == K_LOAD || i->op == K_STORE || i->op == K_ATOMIC) && (int)i->imm == param;
}

bool kadjindex_is_there(const KFunc *f, int param) {
    for (KRef r = 1; r < f->nins; r++)
        if (is_access_of(&f->ins[r], param) && !f->regions[r].around && !kir_guard(&f->ins[r])) return true;
    return false;
}

/* Returns true if the backward pass can test whether the element of a position exists. */
static bool is_testable(const KFunc *f, int param, KRef touch) {
    KRef c[QS_MAX_RANK];
    const KIns *i = &f->ins[touch];
    return kir_guard(i) || kadjindex_is_there(f, param) || kadjindex_coords(f, i, c);
}

KOwner kadjindex_owner(const KFunc *f, int param, KRef *first) {
    int axes[QS_MAX_RANK], more[QS_MAX_RANK];
    bool one = true;
    *first = 0;
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r], *before = &f->ins[*first];
        if (!is_access_of(i, param)) continue;
        if (!kadjindex_axes(f, i, *first ? more : axes)) return KOWN_NOT;
        if (!*first) *first = r, one = kadjindex_is_fixed(f, i->a) && kadjindex_is_fixed(f, kir_guard(i));
        else {
            for (int a = 0; a < f->rank; a++)
                if (axes[a] != more[a]) return KOWN_NOT;
            one = one && kadjindex_same(f, i->a, before->a) && kadjindex_same(f, kir_guard(i), kir_guard(before));
        }
    }
    return !*first ? KOWN_NOT : one && is_testable(f, param, *first) ? KOWN_ELEMENT : KOWN_SOME;
}
