/* producer_fusion.c -- fuses a producer into its consumer: where f reads an element that `of` would have stored, f
 * computes the element instead.
 *
 *     of    …  y[pos] = e(pos)                     f: its own parameters, then the parameters of `of`
 *     f     …  y[i] …                  becomes     …  e(i) …        y is neither written nor read
 *
 * This is used for an adjoint that only one backward pass reads.  `of` must store one element per position, at the
 * index of the position, and have no jumps or loops.  f must read the array at one place outside loops; otherwise
 * computing could take longer than reading. */
#include "lang/kernel/autodiff/autodiff_internal.h"
#include "lang/kernel/ir/kir.h"
#include "lang/kernel/passes/passes.h"

#include <string.h>

typedef struct {
    KFunc *g;
    const KFunc *f, *of;
    int param, store; /* the array's index among the parameters of f and of `of` */
    KRef read, write; /* the LOAD of f, the STORE of `of` */
    KRef axis
        [QS_MAX_RANK]; /* by axis of the launch of `of`: the coordinate of the element that f reads, or KINDEX_ONE */
    KRef *map, *inner; /* instructions of g, by instruction of f and of `of` */
} Join;

/* -- conditions ---------------------------------------------------------------------------------------------------- */
static bool find_write(Join *j) {
    const KFunc *of = j->of;
    for (KRef r = 1; r < of->nins; r++) {
        const KIns *i = &of->ins[r];
        bool reads = i->op == K_LOAD && !of->params[i->imm].written;
        if (i->op == K_STORE && !j->write) j->write = r;
        else if (kir_ops[i->op].effect != KE_PURE && !reads) return false;
    }
    return j->write != 0;
}

static bool find_read(Join *j) {
    for (KRef r = 1; r < j->f->nins; r++) {
        const KIns *i = &j->f->ins[r];
        if (kir_ops[i->op].imm != KI_param || i->op == K_PARAM || (int)i->imm != j->param) continue;
        if (i->op != K_LOAD || j->read || kir_loop_around(j->f, r)) return false;
        j->read = r;
    }
    return j->read != 0;
}

static bool is_position(const KFunc *f, KRef r, int axis) {
    return r && r != KINDEX_ONE && f->ins[r].op == K_POS && (int)f->ins[r].imm == axis;
}

/* Finds which coordinates of the read element are coordinates of positions of `of`; false: another form of index. */
static bool find_axes(Join *j) {
    const KIns *write = &j->of->ins[j->write], *read = &j->f->ins[j->read];
    const KParam *a = &j->of->params[j->store];
    KRef c[QS_MAX_RANK];
    if (j->of->rank == 1 && is_position(j->of, write->a, 0)) return j->axis[0] = read->a, true;
    if (j->of->rank != a->rank || a->rank != j->f->params[j->param].rank) return false;
    if (!kadjindex_coords(j->of, write, c) || !kadjindex_coords(j->f, read, j->axis)) return false;
    for (int d = 0; d < a->rank; d++)
        if (!is_position(j->of, c[d], d)) return false;
    return true;
}

static bool can_fuse(const Join *j) {
    const KFunc *f = j->f, *of = j->of;
    const KParam *a = &f->params[j->param], *b = &of->params[j->store];
    bool alike = f->strict == of->strict && f->fast == of->fast; /* `rounds` is for values, not for derivatives */
    return alike && !of->serial && !kir_knows_blocks(of) && a->dtype == b->dtype && kir_is_float((qs_dtype)a->dtype);
}

/* -- fusion -------------------------------------------------------------------------------------------------------- */
static KRef coordinate(Join *j, const KIns *i) {
    KRef c = j->axis[i->imm], x = c && c != KINDEX_ONE ? j->map[c] : 0;
    if (!x) x = kir_int(j->g, c == KINDEX_ONE);
    return kir_cast(j->g, (qs_dtype)i->dtype, x);
}

static KRef and_conditions(Join *j, KRef a, KRef b) { return a && b ? kir_op(j->g, K_AND, a, b) : a ? a : b; }

/* Copies an instruction of `of` to the point where f reads, under the guard of that read. */
static KRef moved(Join *j, const KIns *i, KRef guard) {
    KIns k = *i;
    KRef b = j->inner[i->b];
    if (i->op == K_POS) return coordinate(j, i);
    if (i->op == K_PARAM || i->op == K_LOAD) k.imm += (uint64_t)j->f->nparams;
    if (i->op == K_DIM || i->op == K_STRIDE) k.imm += (uint64_t)j->f->nparams << 8;
    if (i->op == K_LOAD) b = and_conditions(j, guard, b);
    k.pos = j->g->pos;
    return kir_copy(j->g, &k, j->inner[i->a], b, j->inner[i->c]);
}

static KRef compute_element(Join *j) {
    const KIns *read = &j->f->ins[j->read], *write = &j->of->ins[j->write];
    KRef guard = read->b ? j->map[read->b] : 0;
    for (KRef r = 1; r < j->of->nins; r++)
        if (r != j->write) j->inner[r] = moved(j, &j->of->ins[r], guard);
    KRef x = j->inner[write->b];
    guard = and_conditions(j, guard, write->c ? j->inner[write->c] : 0);
    if (!guard) return x;
    return kir_select(j->g, guard, x, kir_const_num(j->g, (qs_dtype)read->dtype, 0, read->pos));
}

static KFunc *shell(Ctx *c, Arena *arena, const KFunc *f, const KFunc *of) {
    KFunc *g = kir_shell(c, arena, f);
    size_t n = (size_t)f->nparams, m = (size_t)of->nparams;
    KParam *p = qarena_alloc(arena, qmem_size(n, sizeof *p, qmem_size(m, sizeof *p, 0)));
    memcpy(p, f->params, n * sizeof *p), memcpy(p + n, of->params, m * sizeof *p);
    g->params = p, g->nparams = (int)(n + m);
    return g;
}

static KFunc *fuse_functions(Join *j, Ctx *c, Arena *arena) {
    j->g = shell(c, arena, j->f, j->of);
    j->g->pos = j->f->ins[j->read].pos;
    j->map = qarena_alloc(arena, qmem_size(j->f->nins, sizeof *j->map, 0));
    j->inner = qarena_alloc(arena, qmem_size(j->of->nins, sizeof *j->inner, 0));
    for (KRef r = 1; r < j->f->nins; r++) {
        const KIns *i = &j->f->ins[r];
        j->map[r] = r == j->read ? compute_element(j) : kir_copy(j->g, i, j->map[i->a], j->map[i->b], j->map[i->c]);
    }
    kir_seal(j->g);
    return j->g;
}

qs_status kproducer_make(Ctx *c, Arena *arena, const KFunc *f, int param, const KFunc *of, int store, KFunc **out) {
    bool *wanted = qarena_alloc(arena, (size_t)of->nparams);
    wanted[store] = true;
    Join j = {.f = f, .of = kdeadcode(c, arena, of, wanted, NULL), .param = param, .store = store};
    *out = NULL;
    if (!can_fuse(&j) || !find_write(&j) || !find_read(&j) || !find_axes(&j)) return QS_OK;
    *out = fuse_functions(&j, c, arena);
    return kir_verify(c, *out);
}
