/* scatter_to_gather.c -- replaces atomic additions to an element by a sum that the element computes for itself.
 *
 *     the backward pass                            becomes, for each element q of x
 *       FOR o  adjoint of x [p + o] += g(p, o)       sum = 0;  FOR o  sum += g(q - o, o)
 *       FOR k  adjoint of x [p0, k] += g(p, k)       sum = 0;  FOR p1 in 0 … extent-1  sum += g((q0, p1), q1)
 *
 * Each coordinate of the element must be a position or a loop counter, plus or minus a term that does not depend on
 * it.  So the equation can be solved for the position or counter.  Axes of the launch that are not determined this
 * way become loops, and loops whose counter is not determined stay.  The value g that is added must be computable
 * for any position from memory that nothing has changed.  Positions outside of the launch and iterations outside of
 * the loop add 0.
 *
 * If a coordinate is a BOUND, the transform covers only the interior, where BOUND has no effect.  Additions at the
 * border stay, with the guard that BOUND changed the coordinate; opt.c splits off an interior without them.
 * Factors that all terms have in common are multiplied after the sum.
 *
 * Pairs: if a position adds to its own element and, in a loop, to the elements of all others (as in an n-body
 * simulation), both sums run over the same pairs.  One loop computes both, and common values once.
 *
 * Rows: if all positions add to a few elements (a number, the weights of a filter), each position of the new pass
 * first sums KGRAD_ROW positions.  This loop can be vectorized, and leaves one addition per row. */
#include "lang/kernel/autodiff/autodiff_internal.h"

#include "lang/kernel/ir/affine.h"

enum { SITES = 64, FACTORS = 4, LOOPS = 32, VISITS = 256, COST = 250, FEW = 64 };

/* coordinate = sign * var + rest; var: a POS or FOR of f; 0: the coordinate is fixed */
typedef struct {
    KRef var;
    int64_t sign;
    Affine rest;
} Solved;
typedef struct {
    KRef at;                                     /* the ATOMIC */
    KRef coord[QS_MAX_RANK], bound[QS_MAX_RANK]; /* inside its BOUND, if there is one; the BOUND, or 0 */
    Solved by[QS_MAX_RANK];
    KRef value;
    int nfactors; /* common factors that were taken out of value */
    struct {
        uint8_t op;
        KRef by;
    } factor[FACTORS];
    int sum; /* number of the sum that it adds to */
    bool done;
} Site;

typedef struct {
    const KGrading *s;
    const KFunc *f;           /* the backward pass */
    KFunc *g;                 /* the gathering function */
    int param, adjoint, rank; /* param: parameter of f; adjoint: that of its adjoint; rank: of the array */
    Site site[SITES];
    int n;
    bool first;                   /* no earlier pass adds to the adjoint */
    int axes[QS_MAX_RANK], naxes; /* dimensions that are solved */
    KRef *map, *wide;             /* by instruction of f: its value in g; the same as int64, 0: none */
    uint32_t *when, now;          /* map holds the value in g of an instruction whose `when` is `now` */
    KRef pos[QS_MAX_RANK];        /* in g: the position, by axis of the launch of f */
    KRef inside, sum[SITES];
    int sum_site[SITES], nsums;
    KRef iteration[SITES]; /* pairs: by sum: what the iteration adds to it; 0: nothing yet */
    bool many;             /* the open loops have many iterations: the order of their sums is free */
    uint8_t own;           /* pairs: the element is the position (K_POS) or the counter (K_FOR); else 0 */
} Gather;

static const KIns *get_ins(const Gather *v, KRef r) { return &v->f->ins[r]; }

/* -- analysis: coordinates ----------------------------------------------------------------------------------------- */
static KRef uncast(const KFunc *f, KRef r) {
    while (f->ins[r].op == K_CAST && (f->ins[f->ins[r].a].dtype == QS_I32 || f->ins[f->ins[r].a].dtype == QS_I64))
        r = f->ins[r].a;
    return r;
}

static bool depends_on(const KFunc *f, KRef r, uint8_t op, int *left) {
    const KIns *i = &f->ins[r];
    if (!r) return false;
    if (i->op == op || --*left < 0) return true;
    if (kir_ops[i->op].effect != KE_PURE && i->op != K_FOR) return true;
    return depends_on(f, i->a, op, left) || depends_on(f, i->b, op, left) || depends_on(f, i->c, op, left);
}

static bool depends(const KFunc *f, KRef r, uint8_t op) { /* also true if it is not easily seen */
    int left = VISITS;
    return depends_on(f, r, op, &left);
}

static bool is_taken(const Site *s, int before, const KFunc *f, KRef var) {
    for (int d = 0; d < before; d++)
        if (s->by[d].var && f->ins[s->by[d].var].op == f->ins[var].op &&
            (f->ins[var].op == K_POS ? f->ins[s->by[d].var].imm == f->ins[var].imm : s->by[d].var == var))
            return true;
    return false;
}

/* Solves coordinate d = ± x + rest for x, a POS or FOR (op). */
static bool solve_for(const Gather *v, Site *s, int d, const Affine *sum, uint8_t op) {
    for (int i = 0; i < sum->n; i++) {
        KRef x = uncast(v->f, sum->term[i].ref);
        int64_t factor = sum->term[i].factor;
        if (get_ins(v, x)->op != op || (factor != 1 && factor != -1) || is_taken(s, d, v->f, x)) continue;
        if (op == K_FOR && !kir_steps_by_one(v->f, x)) continue;
        s->by[d] = (Solved){x, factor, *sum};
        Affine one = {.n = 1};
        one.term[0].ref = sum->term[i].ref, one.term[0].factor = 1;
        return kaffine_add(&s->by[d].rest, &one, -factor);
    }
    return false;
}

static bool has_op(const Gather *v, const Affine *a, uint8_t op) {
    for (int i = 0; i < a->n; i++)
        if (depends(v->f, a->term[i].ref, op)) return true;
    return false;
}

static bool solve_coord(const Gather *v, Site *s, int d) {
    Affine sum;
    if (!s->coord[d] || s->coord[d] == KINDEX_ONE) return true;
    if (!kaffine_of(v->f, s->coord[d], &sum)) return false;
    if (solve_for(v, s, d, &sum, K_POS) || solve_for(v, s, d, &sum, K_FOR)) return !has_op(v, &s->by[d].rest, K_POS);
    return !has_op(v, &sum, K_POS) && !has_op(v, &sum, K_FOR) && !s->bound[d];
}

/* Returns true if the rests use only counters of loops that stay: they must be known when the counters are solved
 * for. */
static bool rests_are_known(const Gather *v, const Site *s) {
    for (int d = 0; d < v->rank; d++)
        for (int i = 0; i < s->by[d].rest.n; i++) {
            KRef x = uncast(v->f, s->by[d].rest.term[i].ref);
            if (get_ins(v, x)->op == K_FOR && is_taken(s, v->rank, v->f, x)) return false;
        }
    return true;
}

static bool solve_coords(const Gather *v, Site *s) {
    if (!kadjindex_coords(v->f, get_ins(v, s->at), s->coord)) return false;
    for (int d = 0; d < v->rank; d++) {
        const KIns *i = s->coord[d] == KINDEX_ONE ? &v->f->ins[0] : get_ins(v, s->coord[d]);
        if (i->op != K_BOUND) continue;
        if (!v->first) return false; /* an earlier pass has left the border only */
        s->bound[d] = s->coord[d], s->coord[d] = i->a;
    }
    for (int d = 0; d < v->rank; d++)
        if (!solve_coord(v, s, d)) return false;
    return rests_are_known(v, s);
}

/* -- analysis: values ---------------------------------------------------------------------------------------------- */
static bool is_computable(Gather *v, KRef r, int *left) {
    const KIns *i = get_ins(v, r);
    if (!r) return true;
    if (v->when[r] == v->now) return true;
    if (--*left < 0) return false;
    v->when[r] = v->now;
    if (i->op == K_FOR || i->op == K_POS) return true;
    if (i->op >= K_BLKPOS && i->op <= K_BLKCNT) return false;
    if (i->op == K_LOAD ? !kactive_reads_first(v->f, r) : kir_ops[i->op].effect != KE_PURE) return false;
    return is_computable(v, i->a, left) && is_computable(v, i->b, left) && is_computable(v, i->c, left);
}

/* Returns true if r has costly work that f does once per position, but the sum would do for each of many elements. */
static bool is_expensive(Gather *v, KRef r) {
    const KIns *i = get_ins(v, r);
    if (!r || v->when[r] == v->now) return false; /* already visited */
    v->when[r] = v->now;
    if (i->op == K_MATH && i->flag != MF_sqrt && !depends(v->f, r, K_FOR)) return true;
    return is_expensive(v, i->a) || is_expensive(v, i->b) || is_expensive(v, i->c);
}

static bool surroundings_are_known(Gather *v, KRef at, int *left) {
    for (KRef r = v->f->regions[at].around; r; r = v->f->regions[r].around) {
        const KIns *i = get_ins(v, r);
        KRef begin = i->op == K_ELSE ? v->f->regions[r].opener : r;
        const KIns *b = get_ins(v, begin);
        if (b->op == K_LOOP) return false;
        for (int k = 0; k < 3; k++)
            if (!is_computable(v, b->arg[k], left)) return false;
        if (b->op == K_FOR && (depends(v->f, b->a, K_POS) || depends(v->f, b->b, K_POS))) return false;
    }
    return true;
}

static void take_factors(const Gather *v, Site *s) {
    s->value = get_ins(v, s->at)->b;
    while (s->nfactors < FACTORS) {
        const KIns *i = get_ins(v, s->value);
        bool first = i->op == K_MUL && !depends(v->f, i->a, K_POS) && !depends(v->f, i->a, K_FOR);
        bool second = (i->op == K_MUL || i->op == K_DIV) && !depends(v->f, i->b, K_POS) && !depends(v->f, i->b, K_FOR);
        if (!first && !second) return;
        s->factor[s->nfactors].op = i->op, s->factor[s->nfactors++].by = second ? i->b : i->a;
        s->value = second ? i->a : i->b;
    }
}

/* Returns true if all positions add to a few elements: atomic additions, which the device combines, are faster then. */
static bool is_reduction(const Gather *v, const Site *s) {
    for (int d = 0; d < v->rank; d++) {
        KRef x = s->by[d].var;
        if (!x) continue;
        int64_t iterations = get_ins(v, x)->op == K_POS ? -1 : kautodiff_iterations(v->f, x);
        if (iterations < 0 || iterations > FEW) return false;
    }
    return true;
}

static bool can_gather(Gather *v, Site *s) {
    int left = COST;
    const KIns *i = get_ins(v, s->at);
    v->now++;
    if (!solve_coords(v, s) || !is_computable(v, i->b, &left) || !is_computable(v, i->c, &left)) return false;
    if (!surroundings_are_known(v, s->at, &left)) return false;
    if (is_reduction(v, s)) return false;
    v->now++;
    if (kir_loop_around(v->f, s->at) && is_expensive(v, i->b)) return false;
    take_factors(v, s);
    return true;
}

/* Returns true if a and b solve the same coordinates for the same variables; otherwise they need separate functions. */
static bool solves_the_same(const Gather *v, const Site *a, const Site *b) {
    for (int d = 0; d < v->rank; d++) {
        KRef x = a->by[d].var, y = b->by[d].var;
        if (get_ins(v, x)->op != get_ins(v, y)->op || !x != !y) return false;
        if (x && (get_ins(v, x)->op == K_POS ? get_ins(v, x)->imm != get_ins(v, y)->imm : x != y)) return false;
    }
    return true;
}

/* Returns the loop whose counter solves b, if the position solves a: the same pairs from both sides.  0: there is
 * none. */
static KRef loop_of_pairs(const Gather *v, const Site *a, const Site *b) {
    const KIns *by_pos = get_ins(v, a->by[v->axes[0]].var), *by_loop = get_ins(v, b->by[v->axes[0]].var);
    KRef loop = b->by[v->axes[0]].var;
    if (v->f->rank != 1 || v->naxes != 1 || by_pos->op != K_POS || by_loop->op != K_FOR) return 0;
    for (int d = 0; d < v->rank; d++)
        if (d != v->axes[0] && (a->by[d].var || b->by[d].var)) return 0;
    if (kir_loop_around(v->f, a->at) != loop || kir_loop_around(v->f, b->at) != loop) return 0;
    double step, from;
    if (kir_loop_around(v->f, loop) || !kir_is_const(v->f, by_loop->c, &step)) return 0;
    return kir_is_const(v->f, step > 0 ? by_loop->a : by_loop->b, &from) && from == 0 ? loop : 0;
}

static bool is_paired(const Gather *v, const Site *s) {
    return loop_of_pairs(v, &v->site[0], s) || loop_of_pairs(v, s, &v->site[0]);
}

static void find_sites(Gather *v) {
    for (KRef r = 1; r < v->f->nins && v->n < SITES; r++) {
        const KIns *i = get_ins(v, r);
        if (i->op != K_ATOMIC || (int)i->imm != v->adjoint || i->flag != KA_ADD) continue;
        Site *s = &v->site[v->n];
        *s = (Site){.at = r};
        if (!can_gather(v, s)) continue;
        if (!v->n)
            for (int d = 0; d < v->rank; d++)
                if (s->by[d].var) v->axes[v->naxes++] = d;
        if (v->naxes && (solves_the_same(v, &v->site[0], s) || is_paired(v, s))) v->n++;
    }
}

/* -- generated code ------------------------------------------------------------------------------------------------ */
static void set_value(Gather *v, KRef r, KRef x) { v->map[r] = x, v->when[r] = v->now, v->wide[r] = 0; }

/* Returns the solved position or counter r as int64, as indices use it; 0: none. */
static KRef wide(const Gather *v, KRef r) {
    const KIns *i = get_ins(v, r);
    if (i->op == K_POS) return v->pos[i->imm];
    return i->op == K_FOR && v->when[r] == v->now ? v->wide[r] : 0;
}

static bool reaches(const Gather *v, KRef r, uint8_t op, int *left) {
    const KIns *i = get_ins(v, r);
    if (!r || --*left < 0) return false;
    if (i->op == op) return true;
    return reaches(v, i->a, op, left) || reaches(v, i->b, op, left) || reaches(v, i->c, op, left);
}

/* Returns true for the square of a difference that the other side of a pair computes with its operands exchanged.
 * Then both sides share one instruction. */
static bool is_exchanged(const Gather *v, const KIns *i) {
    int left = VISITS;
    const KIns *x = get_ins(v, i->a);
    if (!v->own || i->op != K_MUL || i->a != i->b || x->op != K_SUB) return false;
    return !reaches(v, x->a, v->own, &left) && reaches(v, x->b, v->own, &left);
}

static KRef guard(Gather *v, KRef b) { /* 0: always true */
    KRef all = b ? kir_op(v->g, K_AND, v->inside, b) : v->inside;
    double x;
    return kir_is_const(v->g, all, &x) && x == 1 ? 0 : all;
}

static KRef value(Gather *v, KRef r) {
    const KIns *i = get_ins(v, r);
    if (!r) return 0;
    if (v->when[r] == v->now) return v->map[r];
    if (i->op == K_POS) return kir_cast(v->g, (qs_dtype)i->dtype, v->pos[i->imm]);
    if (i->op == K_CAST && i->dtype == QS_I64 && wide(v, i->a)) return wide(v, i->a);
    KRef a = value(v, i->a), b = value(v, i->b), c = value(v, i->c);
    if (i->op == K_LOAD) b = guard(v, b);
    if (is_exchanged(v, i))
        a = b = kir_copy(v->g, get_ins(v, i->a), value(v, get_ins(v, i->a)->b), value(v, get_ins(v, i->a)->a), 0);
    KRef x = kir_copy(v->g, i, a, b, c);
    set_value(v, r, x);
    return x;
}

static KRef sum_of(Gather *v, const Affine *a) {
    KRef sum = kir_int(v->g, a->constant);
    for (int i = 0; i < a->n; i++) {
        KRef t = kir_cast(v->g, QS_I64, value(v, a->term[i].ref));
        KRef x = a->term[i].factor == 1 ? t : kir_op(v->g, K_MUL, t, kir_int(v->g, a->term[i].factor));
        sum = i == 0 && a->constant == 0 ? x : kir_op(v->g, K_ADD, sum, x);
    }
    return sum;
}

static KRef element_coord(Gather *v, int axis) {
    return kir_add(v->g, (KMake){K_POS, .own = QS_I64, .imm = (uint64_t)axis});
}

static void both(Gather *v, KRef x) { v->inside = v->inside ? kir_op(v->g, K_AND, v->inside, x) : x; }

static KRef launch_extent(Gather *v, int axis) {
    return kir_add(v->g, (KMake){K_PARAM, .own = QS_I64, .imm = (uint64_t)v->s->extent[axis]});
}

/* Sets the counter of the loop to x, and `inside` to whether the loop has such an iteration. */
static void solve_counter(Gather *v, KRef loop, KRef x) {
    const KIns *i = get_ins(v, loop);
    double c = 1;
    kir_is_const(v->f, i->c, &c);
    KRef a = kir_cast(v->g, QS_I64, value(v, i->a)), b = kir_cast(v->g, QS_I64, value(v, i->b));
    KRef low = c > 0 ? a : b, high = c > 0 ? b : a,
         n = kir_op(v->g, K_ADD, kir_op(v->g, K_SUB, high, low), kir_int(v->g, 1));
    both(v, kir_op(v->g, K_INB, kir_op(v->g, K_SUB, x, low), n)); /* opt.c recognizes this form of the test */
    set_value(v, loop, kir_cast(v->g, (qs_dtype)i->dtype, x));
    v->wide[loop] = x;
}

static bool is_solved(const Gather *v, const Site *s, KRef loop) {
    for (int d = 0; d < v->rank; d++)
        if (s->by[d].var == loop) return true;
    return false;
}

static int loops_around(const Gather *v, const Site *s, KRef *out) { /* those that stay, outermost last */
    int n = 0;
    for (KRef l = kir_loop_around(v->f, s->at); l; l = kir_loop_around(v->f, l))
        if (!is_solved(v, s, l) && n < LOOPS) out[n++] = l;
    return n;
}

static int open_loops(Gather *v, const Site *s) {
    KRef loop[LOOPS];
    int n = 0, inner = loops_around(v, s, loop);
    bool solved[QS_MAX_RANK] = {0};
    v->many = false;
    for (int d = 0; d < v->rank; d++)
        if (s->by[d].var && get_ins(v, s->by[d].var)->op == K_POS) solved[get_ins(v, s->by[d].var)->imm] = true;
    for (int a = 0; a < v->f->rank; a++) {
        if (solved[a]) continue;
        KRef last = kir_op(v->g, K_SUB, launch_extent(v, a), kir_int(v->g, 1));
        v->pos[a] = kir_for(v->g, kir_int(v->g, 0), last, 1, 0);
        v->many = true, n++;
    }
    for (int k = inner; k-- > 0;) {
        const KIns *i = get_ins(v, loop[k]);
        KRef a = value(v, i->a), b = value(v, i->b), c = value(v, i->c);
        KRef counter = kir_add(v->g, (KMake){K_FOR, .own = (qs_dtype)i->dtype, .a = a, .b = b, .c = c});
        set_value(v, loop[k], counter), n++;
        int64_t iterations = kautodiff_iterations(v->f, loop[k]);
        v->many |= iterations < 0 || iterations > FEW;
    }
    return n;
}

/* Solves the positions and counters from the coordinates of the element. */
static void solve(Gather *v, const Site *s) {
    v->inside = 0;
    for (int k = 0; k < v->naxes; k++) {
        const Solved *b = &s->by[v->axes[k]];
        KRef q = element_coord(v, k), x = kir_op(v->g, K_SUB, q, sum_of(v, &b->rest));
        if (b->sign < 0) x = kir_op(v->g, K_SUB, sum_of(v, &b->rest), q);
        if (get_ins(v, b->var)->op == K_FOR) solve_counter(v, b->var, x);
        else {
            int a = (int)get_ins(v, b->var)->imm;
            v->pos[a] = x;
            both(v, kir_op(v->g, K_INB, x, launch_extent(v, a)));
        }
    }
    if (!v->inside) v->inside = kir_const_int(v->g, QS_B1, 1, 0);
}

static KRef condition(Gather *v, KRef at) {
    KRef c = value(v, get_ins(v, at)->c), all = c ? kir_op(v->g, K_AND, v->inside, c) : v->inside;
    for (KRef r = v->f->regions[at].around; r; r = v->f->regions[r].around) {
        if (kir_is_loop(get_ins(v, r)->op)) continue;
        bool other = get_ins(v, r)->op == K_ELSE;
        KRef x = value(v, get_ins(v, other ? v->f->regions[r].opener : r)->a);
        all = kir_op(v->g, K_AND, all, other ? kir_op(v->g, K_NOT, x, 0) : x);
    }
    return all;
}

static void add_to_sum(Gather *v, KRef sum, KRef x) {
    KRef old = kir_get(v->g, sum);
    KRef both = kir_fold(v->g, (KMake){K_ADD, .flag = v->many ? KFLAG_REASSOC : 0, .a = old, .b = x});
    kir_set(v->g, sum, both);
}

static void add_site(Gather *v, Site *s) {
    KRef x = value(v, s->value), none = kir_const_bits(v->g, (qs_dtype)v->g->ins[x].dtype, 0, 0);
    KRef some = kir_select(v->g, condition(v, s->at), x, none), *iteration = &v->iteration[s->sum];
    if (v->own) *iteration = *iteration ? kir_op(v->g, K_ADD, *iteration, some) : some;
    else add_to_sum(v, v->sum[s->sum], some);
    s->done = true;
}

/* Returns true if a and b are in one region and have the same position and iteration, so that they share values. */
static bool share_values(const Gather *v, const Site *a, const Site *b) {
    if (v->f->regions[a->at].around != v->f->regions[b->at].around) return false;
    for (int d = 0; d < v->rank; d++)
        if (a->by[d].var && !kadjindex_same(v->f, a->coord[d], b->coord[d])) return false;
    return true;
}

static bool same_element(const Gather *v, const Site *a, const Site *b) {
    for (int d = 0; d < v->rank; d++)
        if (!a->by[d].var && !kadjindex_same(v->f, a->coord[d], b->coord[d])) return false;
    return true;
}

static bool same_sum(const Gather *v, const Site *a, const Site *b) {
    if (a->nfactors != b->nfactors || !same_element(v, a, b)) return false;
    for (int k = 0; k < a->nfactors; k++) {
        if (a->factor[k].op != b->factor[k].op) return false;
        if (!kadjindex_same(v->f, a->factor[k].by, b->factor[k].by)) return false;
    }
    return true;
}

static void make_sums(Gather *v) {
    qs_dtype d = kir_value_dtype((qs_dtype)v->f->params[v->adjoint].dtype);
    for (int k = 0; k < v->n; k++) {
        Site *s = &v->site[k];
        for (s->sum = 0; s->sum < v->nsums; s->sum++)
            if (same_sum(v, s, &v->site[v->sum_site[s->sum]])) break;
        if (s->sum < v->nsums) continue;
        v->sum_site[v->nsums] = k;
        v->sum[v->nsums++] = kir_local(v->g, kir_const_bits(v->g, d, 0, 0));
    }
}

static void gather_group(Gather *v, int first) {
    Site *s = &v->site[first];
    v->now++;
    int open = open_loops(v, s);
    solve(v, s);
    for (int k = first; k < v->n; k++)
        if (!v->site[k].done && share_values(v, s, &v->site[k])) add_site(v, &v->site[k]);
    while (open-- > 0) kir_flow(v->g, K_END, 0);
}

/* -- generated code: pairs ----------------------------------------------------------------------------------------- */
/* Solves the first site of a side for iteration t of the loop over the other elements. */
static void begin_side(Gather *v, const Site *first, KRef loop, KRef t) {
    v->now++, v->many = true;
    v->own = get_ins(v, first->by[v->axes[0]].var)->op;
    if (v->own == K_FOR) v->pos[0] = t;
    else set_value(v, loop, kir_cast(v->g, (qs_dtype)get_ins(v, loop)->dtype, t)), v->wide[loop] = t;
    solve(v, first);
}

/* Adds the sites of a side.  inside: the condition, if it is known before the loop; else 0. */
static void add_side(Gather *v, int first, KRef loop, KRef t, KRef inside) {
    Site *s = &v->site[first];
    begin_side(v, s, loop, t);
    if (inside) v->inside = inside;
    for (int k = 0; k < v->n; k++)
        if (share_values(v, s, &v->site[k])) add_site(v, &v->site[k]);
    v->own = 0;
}

static KRef open_pair_loop(Gather *v, KRef from, KRef end) {
    KRef one = kir_int(v->g, 1);
    return kir_add(v->g, (KMake){K_FOR, .own = QS_I64, .a = from, .b = kir_op(v->g, K_SUB, end, one), .c = one});
}

static void close_pair_loop(Gather *v) {
    for (int k = 0; k < v->nsums; k++) {
        if (v->iteration[k]) add_to_sum(v, v->sum[k], v->iteration[k]);
        v->iteration[k] = 0;
    }
    kir_flow(v->g, K_END, 0);
}

/* Returns whether the element is inside of a side, if that does not depend on the iteration; else 0. */
static KRef side_inside(Gather *v, const Site *first, KRef loop) {
    if (first->by[v->axes[0]].rest.n) return 0;
    begin_side(v, first, loop, kir_int(v->g, 0));
    return v->own = 0, v->inside;
}

/* Generates a loop over the iterations that both sides have, without tests, then one for the rest of each side. */
static void gather_pairs(Gather *v, KRef loop, int a, int b) {
    const KIns *i = get_ins(v, loop);
    double step = 1;
    kir_is_const(v->f, i->c, &step);
    KRef in[2] = {side_inside(v, &v->site[a], loop), side_inside(v, &v->site[b], loop)}, sure = 0;
    v->now++;
    KRef end[2] = {kir_op(v->g, K_ADD, kir_cast(v->g, QS_I64, value(v, step > 0 ? i->b : i->a)), kir_int(v->g, 1)),
                   launch_extent(v, 0)};
    KRef zero = kir_int(v->g, 0), both = kir_op(v->g, K_MAX, kir_op(v->g, K_MIN, end[0], end[1]), zero);
    if (in[0] && in[1]) {
        both = kir_select(v->g, kir_op(v->g, K_AND, in[0], in[1]), both, zero);
        sure = kir_const_int(v->g, QS_B1, 1, 0);
    }
    KRef t = open_pair_loop(v, zero, both);
    add_side(v, a, loop, t, sure), add_side(v, b, loop, t, sure);
    close_pair_loop(v);
    for (int side = 0; side < 2; side++) {
        t = open_pair_loop(v, both, end[side]);
        add_side(v, side == 0 ? a : b, loop, t, 0);
        close_pair_loop(v);
    }
}

/* Finds a site of each side and their loop.  gather_group handles the sites that do not fit. */
static bool find_pairs(const Gather *v, int *a, int *b, KRef *loop) {
    int other = 0;
    while (other < v->n && solves_the_same(v, &v->site[0], &v->site[other])) other++;
    if (other == v->n) return false;
    bool first = get_ins(v, v->site[0].by[v->axes[0]].var)->op == K_POS;
    *a = first ? 0 : other, *b = first ? other : 0;
    return (*loop = loop_of_pairs(v, &v->site[*a], &v->site[*b])) != 0;
}

/* -- generated code: stores of the sums ---------------------------------------------------------------------------- */
static KRef sum_with_factors(Gather *v, int k) {
    const Site *s = &v->site[v->sum_site[k]];
    KRef x = kir_get(v->g, v->sum[k]);
    for (int n = s->nfactors; n-- > 0;) x = kir_op(v->g, (KOp)s->factor[n].op, x, value(v, s->factor[n].by));
    return x;
}

static KRef fixed_coord(Gather *v, KRef c) {
    if (c == KINDEX_ONE) return kir_int(v->g, 1);
    return c ? kir_cast(v->g, QS_I64, value(v, c)) : kir_int(v->g, 0);
}

/* Returns the index of the element.  guard: fixed coordinates are inside of the array; otherwise nothing was added. */
static KRef element_index(Gather *v, const Site *s, KRef *guard) {
    KRef at = 0;
    *guard = 0;
    for (int d = 0, k = 0; d < v->rank; d++) {
        bool solved = k < v->naxes && v->axes[k] == d;
        KRef c = solved ? element_coord(v, k++) : fixed_coord(v, s->coord[d]);
        KRef n = kir_add(v->g, (KMake){K_DIM, .imm = (uint64_t)v->adjoint << 8 | (uint64_t)d});
        KRef in = solved ? 0 : kir_op(v->g, K_INB, c, n);
        if (in) *guard = *guard ? kir_op(v->g, K_AND, *guard, in) : in;
        at = at ? kir_op(v->g, K_ADD, kir_op(v->g, K_MUL, at, n), c) : c;
    }
    return at;
}

static bool stores_all(const Gather *v) { return v->first && !v->s->param[v->param].adds && v->naxes == v->rank; }

static void write_sums(Gather *v) {
    qs_dtype t = kir_value_dtype((qs_dtype)v->f->params[v->adjoint].dtype);
    bool written[SITES] = {0}, all = stores_all(v);
    v->now++;
    for (int k = 0; k < v->nsums; k++) {
        if (written[k]) continue;
        const Site *s = &v->site[v->sum_site[k]];
        KRef guard, x = sum_with_factors(v, k), at = element_index(v, s, &guard);
        for (int m = k + 1; m < v->nsums; m++)
            if (same_element(v, s, &v->site[v->sum_site[m]]))
                written[m] = true, x = kir_op(v->g, K_ADD, x, sum_with_factors(v, m));
        KMake old = (KMake){K_LOAD, .own = t, .a = at, .b = guard, .imm = (uint64_t)v->adjoint};
        if (!all) x = kir_op(v->g, K_ADD, kir_add(v->g, old), x);
        kir_add(v->g, (KMake){K_STORE, .a = at, .b = x, .c = guard, .imm = (uint64_t)v->adjoint});
    }
}

/* -- the backward pass without the gathered additions -------------------------------------------------------------- */
/* Returns the condition that a BOUND changed a coordinate of s; 0: it has no BOUND. */
static KRef test_outside(KFunc *g, const Gather *v, const Site *s, const KRef *map) {
    KRef all = 0;
    for (int d = 0; d < v->rank; d++) {
        if (!s->bound[d]) continue;
        const KIns *b = get_ins(v, s->bound[d]);
        KRef in = kir_fold(g, (KMake){K_INB, .a = map[b->a], .b = map[b->b], .pos = b->pos});
        all = all ? kir_fold(g, (KMake){K_AND, .a = all, .b = in, .pos = b->pos}) : in;
    }
    return all ? kir_fold(g, (KMake){K_NOT, .a = all}) : 0;
}

static KFunc *without(const Gather *v) {
    KFunc *g = kir_shell_with(v->s->ctx, v->s->arena, v->f, v->f->params, v->f->nparams);
    KRef *map = qarena_alloc(v->s->arena, qmem_size(v->f->nins, sizeof *map, 0));
    int k = 0;
    for (KRef r = 1; r < v->f->nins; r++) {
        const KIns *i = get_ins(v, r);
        KRef a = map[i->a], b = map[i->b], c = map[i->c];
        bool gathered = k < v->n && v->site[k].at == r;
        KRef edge = gathered ? test_outside(g, v, &v->site[k++], map) : 0;
        if (gathered && !edge) continue;
        if (edge) c = c ? kir_fold(g, (KMake){K_AND, .a = c, .b = edge, .pos = i->pos}) : edge;
        map[r] = kir_copy(g, i, a, b, c);
    }
    kir_seal(g);
    return g;
}

/* Returns true if the additions that stay are those at the border only. */
static bool has_border(const Gather *v) {
    int left = 0;
    bool any = false;
    for (KRef r = 1; r < v->f->nins; r++)
        left += get_ins(v, r)->op == K_ATOMIC && (int)get_ins(v, r)->imm == v->adjoint;
    for (int k = 0; k < v->n; k++)
        for (int d = 0; d < v->rank; d++) any |= v->site[k].bound[d] != 0;
    return any && left == v->n;
}

static Gather *begin(const KGrading *s, const KFunc *f) {
    Gather *v = qarena_alloc(s->arena, sizeof *v);
    *v = (Gather){.s = s, .f = f};
    v->map = qarena_alloc(s->arena, qmem_size(f->nins, sizeof(KRef), 0)),
    v->wide = qarena_alloc(s->arena, qmem_size(f->nins, sizeof(KRef), 0));
    v->when = qarena_alloc(s->arena, qmem_size(f->nins, sizeof(uint32_t), 0));
    return v;
}

/* -- rows ---------------------------------------------------------------------------------------------------------- */
/* Returns true if r has an index test of a neighbour of the position: a row has no interior in which it could be
 * dropped. */
static bool tests_neighbours(Gather *v, KRef r) {
    const KIns *i = get_ins(v, r);
    if (!r || v->when[r] == v->now) return false;
    v->when[r] = v->now;
    bool test = (i->op == K_BOUND || i->op == K_INB) && get_ins(v, uncast(v->f, i->a))->op != K_POS;
    if (test && depends(v->f, i->a, K_POS)) return true;
    return tests_neighbours(v, i->a) || tests_neighbours(v, i->b) || tests_neighbours(v, i->c);
}

/* Returns true if f also stores elements of the array: a position may do so before it adds to them. */
static bool is_stored(const KFunc *f, uint64_t param) {
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_STORE && f->ins[r].imm == param) return true;
    return false;
}

static bool can_sum_up(Gather *v, Site *s) {
    int left = COST;
    const KIns *i = get_ins(v, s->at);
    v->now++;
    s->value = i->b;
    if (is_stored(v->f, i->imm)) return false;
    if (tests_neighbours(v, i->b) || tests_neighbours(v, i->c)) return false;
    v->now++;
    return !depends(v->f, i->a, K_POS) && is_computable(v, i->a, &left) && is_computable(v, i->b, &left) &&
           is_computable(v, i->c, &left) && surroundings_are_known(v, s->at, &left);
}

static void find_sums(Gather *v) {
    for (KRef r = 1; r < v->f->nins && v->n < SITES; r++) {
        v->site[v->n] = (Site){.at = r};
        if (get_ins(v, r)->op == K_ATOMIC && get_ins(v, r)->flag == KA_ADD && can_sum_up(v, &v->site[v->n])) v->n++;
    }
}

/* Opens the loop over the positions of a row along the last axis. */
static void open_row(Gather *v) {
    int last = v->f->rank - 1;
    for (int a = 0; a < last; a++) v->pos[a] = element_coord(v, a);
    KRef from = kir_op(v->g, K_MUL, element_coord(v, last), kir_int(v->g, KGRAD_ROW)), zero = kir_int(v->g, 0);
    KRef n = kir_add(
        v->g, (KMake){K_FOR, .own = QS_I64, .a = zero, .b = kir_int(v->g, KGRAD_ROW - 1), .c = kir_int(v->g, 1)});
    v->pos[last] = kir_op(v->g, K_ADD, from, n);
    v->inside = kir_op(v->g, K_INB, v->pos[last], launch_extent(v, last)); /* opt.c: only in the last row */
}

static KRef count_elements(Gather *v, uint64_t param) {
    const KParam *p = &v->f->params[param];
    KRef n = kir_int(v->g, qdtype_is_complex((qs_dtype)p->dtype) ? 2 : 1);
    for (int d = 0; d < p->rank; d++)
        n = kir_op(v->g, K_MUL, n, kir_add(v->g, (KMake){K_DIM, .imm = param << 8 | (uint64_t)d}));
    return n;
}

/* Adds the sum of a row to its element.  If no position adds anything, the index may be out of range. */
static void add_row(Gather *v, Site *s, KRef sum) {
    const KIns *i = get_ins(v, s->at);
    KRef x = kir_add(v->g, (KMake){K_GET, .a = sum, .pos = i->pos});
    KRef at = value(v, i->a), in = kir_op(v->g, K_INB, at, count_elements(v, i->imm));
    kir_add(v->g, (KMake){K_ATOMIC, .flag = KA_ADD, .a = at, .b = x, .c = in, .imm = i->imm, .pos = i->pos});
}

static KRef zero_for(Gather *v, const Site *s) {
    return kir_const_bits(v->g, (qs_dtype)get_ins(v, s->value)->dtype, 0, 0);
}

static bool in_region_of(const Gather *v, const Site *a, const Site *b) {
    return v->f->regions[a->at].around == v->f->regions[b->at].around;
}

/* Sums the sites of one region together. */
static void sum_up(Gather *v, int first) {
    KRef loop[LOOPS];
    Site *s = &v->site[first];
    int n = loops_around(v, s, loop);
    v->now++, v->many = true, v->inside = kir_const_int(v->g, QS_B1, 1, 0);
    for (int k = n; k-- > 0;) {
        const KIns *i = get_ins(v, loop[k]);
        KRef a = value(v, i->a), b = value(v, i->b), c = value(v, i->c);
        set_value(v, loop[k], kir_add(v->g, (KMake){K_FOR, .own = (qs_dtype)i->dtype, .a = a, .b = b, .c = c}));
    }
    for (int k = first; k < v->n; k++)
        if (in_region_of(v, s, &v->site[k])) v->site[k].sum = k, v->sum[k] = kir_local(v->g, zero_for(v, &v->site[k]));
    open_row(v);
    for (int k = first; k < v->n; k++)
        if (in_region_of(v, s, &v->site[k])) add_site(v, &v->site[k]);
    kir_flow(v->g, K_END, 0);
    v->now++; /* values of the row are out of scope here */
    for (int k = n; k-- > 0;) set_value(v, loop[k], v->map[loop[k]]);
    for (int k = first; k < v->n; k++)
        if (in_region_of(v, s, &v->site[k])) add_row(v, &v->site[k], v->sum[k]);
    while (n-- > 0) kir_flow(v->g, K_END, 0);
}

bool kscatter_rows(const KGrading *s, const KFunc *f, KGathered *out) {
    Gather *v = begin(s, f);
    if (f->serial || f->barrier || f->shared || s->extent[0] < 0) return false;
    find_sums(v);
    if (!v->n) return false;
    v->g = kir_shell_with(s->ctx, s->arena, f, f->params, f->nparams);
    v->g->fixed_block = false;
    for (int k = 0; k < v->n; k++)
        if (!v->site[k].done) sum_up(v, k);
    kir_seal(v->g);
    *out = (KGathered){.func = v->g, .rest = without(v)};
    return true;
}

/* -- elements ------------------------------------------------------------------------------------------------------ */
bool kscatter_make(const KGrading *s, const KFunc *f, int param, bool first, KGathered *out) {
    Gather *v = begin(s, f);
    v->first = first, v->param = param, v->adjoint = s->param[param].adjoint, v->rank = s->f->params[param].rank;
    if (f->serial || f->barrier || f->shared || s->extent[0] < 0) return false;
    if (qdtype_is_complex((qs_dtype)f->params[v->adjoint].dtype)) return false;
    find_sites(v);
    if (!v->n) return false;
    v->g = kir_shell_with(s->ctx, s->arena, f, f->params, f->nparams);
    v->g->rank = v->naxes, v->g->fixed_block = false;
    int a, b;
    KRef loop;
    make_sums(v);
    if (find_pairs(v, &a, &b, &loop)) gather_pairs(v, loop, a, b);
    for (int k = 0; k < v->n; k++)
        if (!v->site[k].done) gather_group(v, k);
    write_sums(v);
    kir_seal(v->g);
    *out = (KGathered){.func = v->g, .rest = without(v), .all = stores_all(v)};
    out->border = has_border(v);
    for (int k = 0; k < v->naxes; k++) out->axis[k] = v->axes[k];
    return true;
}
