/* interchange.c -- interchanges loops of serial code, so that the innermost one has independent iterations.
 *
 *     FOR j = a..b                         FOR j0 = a..b by LANES
 *       s = 0                                FOR l: s[l] = 0
 *       FOR k                                FOR k
 *         s = s + d[k,i]*d[k,j]      =>        FOR l: s[l] = s[l] + d[k,i]*d[k,j0+l]
 *       END                                  END
 *       c[i,j] = s                           FOR l: c[i,j0+l] = s[l]
 *     END                                  END
 *
 * Each iteration j still executes the same operations in the same order, so that the results have the same bits.  The
 * iterations of j must be independent: the lowering has proved that and has set KFLAG_REASSOC on the FOR
 * (loop_dependence.c).  Variables that each iteration sets first become arrays with an element for each lane.
 *
 * A loop is interchanged if the loops inside it only have counters with bounds that do not depend on j, if neighbouring
 * iterations access neighbouring elements or the same one, and if the inner loops could not be vectorized as well: they
 * accumulate, or access elements with a stride.  Few iterations run as before.
 *
 * The body of the loop over j is a list of segments: code without loops, and loops over k.  Each segment becomes a loop
 * over lanes, inside the loop over k if there is one.  A segment recomputes the pure values of earlier segments that it
 * uses; other values and variables are saved in arrays. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

#include <string.h>

enum { LANES = 256, FEWEST = 16 /* iterations */, MOST = 200 /* instructions */ };

typedef struct {
    const KFunc *f;
    KFunc *to;
    KRef *map;      /* by instruction: its copy in the code that is being made */
    KRef loop, end; /* the loop over j */
    uint8_t *keeps; /* by instruction: a LOCAL, or a value used by later segments, with an array */
    uint8_t *equal; /* by LOCAL: all lanes set it to the same value, which the loop does not read */
    KRef *lanes;    /* by instruction: that array */
    KRef *segment;  /* by instruction of the body: the loop over k around it; 0: none */
    uint32_t *part; /* by instruction of the body: number of its segment */
    uint32_t *made; /* by instruction: lane loop, or code before one, in which map[] was set */
    uint32_t *seen; /* by instruction of the body: the last segment for which keep_used has looked at it */
    uint32_t now, parts;
    Invariants same; /* values that all lanes share; they may depend on counters of loops over k */
    KRef lane;       /* index of the lane */
} Inter;

static const KIns *get_ins(const Inter *x, KRef r) { return &x->f->ins[r]; }
static bool is_inside(const Inter *x, KRef r) { return r > x->loop && r < x->end; }
static bool is_pure(const KIns *i) { return kir_ops[i->op].effect == KE_PURE; }

/* -- conditions ---------------------------------------------------------------------------------------------------- */
/* Numbers the segments; false: the body has other control flow. */
static bool find_segments(Inter *x) {
    KRef around = 0;
    bool loops = false, cut = true;
    x->parts = 0;
    for (KRef r = x->loop + 1; r < x->end; r++) {
        const KIns *i = get_ins(x, r);
        bool memory = (i->op == K_LOAD && !i->b) || (i->op == K_STORE && !i->c) || i->op == K_GET || i->op == K_SET;
        if (i->op == K_FOR) {
            double step;
            bool fits = !around && kir_is_const(x->f, i->c, &step) && kaffine_is_invariant(&x->same, i->a) &&
                        kaffine_is_invariant(&x->same, i->b);
            if (!fits) return false;
            around = r, loops = cut = true;
        } else if (i->op == K_END) {
            around = 0, cut = true;
            continue;
        } else if (!memory && !is_pure(i)) return false;
        if (cut) x->parts++, cut = false;
        x->part[r] = x->parts, x->segment[r] = around;
    }
    return loops;
}

static bool is_equal_local(Inter *x, KRef local) {
    for (KRef r = x->loop + 1; r < x->end; r++) {
        const KIns *i = get_ins(x, r);
        if (i->op == K_GET && i->a == local) return false;
        if (i->op == K_SET && i->a == local && !kaffine_is_invariant(&x->same, i->b)) return false;
    }
    return true;
}

/* Another LOCAL that the body sets must be set before it is read, at the beginning of each iteration. */
static bool find_locals(Inter *x) {
    for (KRef r = x->loop + 1; r < x->end; r++) {
        const KIns *i = get_ins(x, r);
        if (i->op != K_SET || x->keeps[i->a] || x->equal[i->a]) continue;
        if (is_equal_local(x, i->a)) {
            x->equal[i->a] = 1;
            continue;
        }
        if (x->segment[r]) return false;
        for (KRef s = x->loop + 1; s < r; s++)
            if (get_ins(x, s)->op == K_GET && get_ins(x, s)->a == i->a) return false;
        x->keeps[i->a] = 1;
    }
    return true;
}

/* Marks what the segment `part` needs of earlier ones. */
static void keep_used(Inter *x, KRef r, uint32_t part) {
    const KIns *i = get_ins(x, r);
    if (!is_inside(x, r) || x->part[r] == part || i->op == K_CONST || i->op == K_FOR) return;
    if (x->seen[r] == part) return;
    x->seen[r] = part;
    bool shared = i->op == K_GET && !x->keeps[i->a]; /* a variable that the loop does not set */
    if (!is_pure(i) && !shared) x->keeps[r] = 1;
    else if (is_pure(i))
        for (int k = 0; k < 3; k++) keep_used(x, i->arg[k], part);
}

static void find_kept(Inter *x) {
    for (KRef r = x->loop + 1; r < x->end; r++) {
        const KIns *i = get_ins(x, r);
        if (i->op == K_FOR || i->op == K_END) continue;
        for (int k = 0; k < 3; k++)
            if (!((i->op == K_GET || i->op == K_SET) && k == 0)) keep_used(x, i->arg[k], x->part[r]);
    }
}

/* Whether the loops over lanes inside of a loop over k can be vectorized. */
static bool stores_come_last(const Inter *x) {
    for (KRef r = x->loop + 1; r < x->end; r++)
        if (get_ins(x, r)->op == K_FOR && !kplan_stores_last(x->f, r, x->f->regions[r].end)) return false;
    return true;
}

/* Whether lanes are worth it: accesses are to neighbours, and a loop over k accumulates or has strides. */
static bool pays(Inter *x) {
    bool abreast = false, hard = false;
    Invariants inner = x->same;
    for (KRef r = x->loop + 1; r < x->end; r++) {
        const KIns *i = get_ins(x, r);
        KRef k = x->segment[r];
        int64_t by_j, by_k;
        if (i->op == K_FOR)
            inner = (Invariants){.arena = x->same.arena, .f = x->f, .loop = r, .end = x->f->regions[r].end};
        if (k && i->op == K_SET && x->keeps[i->a]) hard = true;
        if (i->op != K_LOAD && i->op != K_STORE) continue;
        bool affine = kaffine_stride(&x->same, i->a, &by_j);
        if (k && (!affine || by_j < 0 || by_j > 1)) return false;
        if (k && by_j == 1) abreast = true;
        if (k && (!kaffine_stride(&inner, i->a, &by_k) || (by_k != 1 && (by_k || i->op == K_STORE)))) hard = true;
    }
    return abreast && hard;
}

static bool can_interchange(Inter *x) {
    const KIns *i = get_ins(x, x->loop);
    int64_t iterations = kplan_iterations(x->f, x->loop);
    if (iterations >= 0 && iterations < FEWEST) return false;
    if (i->flag != KFLAG_REASSOC || !kir_counts_by_one(x->f, x->loop) || x->end - x->loop > MOST) return false;
    if (!find_segments(x) || !find_locals(x) || !stores_come_last(x) || !pays(x)) return false;
    find_kept(x);
    return true;
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
static KRef load_lane(Inter *x, KRef r) { return kir_emit(x->to, (KMake){K_ALOAD, .a = x->lanes[r], .b = x->lane}); }
static void store_lane(Inter *x, KRef r, KRef v) {
    kir_emit(x->to, (KMake){K_ASTORE, .a = x->lanes[r], .b = x->lane, .c = v});
}

static KRef copy_value(Inter *x, KRef r);

/* The copy of r for the lane, or before the lane loop for all lanes; it is made if this code has none yet. */
static KRef get_value(Inter *x, KRef r) {
    if (!r || !is_inside(x, r) || get_ins(x, r)->op == K_FOR) return x->map[r];
    if (x->made[r] == x->now) return x->map[r];
    x->made[r] = x->now;
    return x->map[r] = x->keeps[r] ? load_lane(x, r) : copy_value(x, r);
}

static KRef copy_value(Inter *x, KRef r) {
    const KIns *i = get_ins(x, r);
    if (i->op == K_GET) return x->keeps[i->a] ? load_lane(x, i->a) : kir_copy(x->to, i, x->map[i->a], 0, 0);
    return kir_copy(x->to, i, get_value(x, i->a), get_value(x, i->b), get_value(x, i->c));
}

static void copy_segment_ins(Inter *x, KRef r) {
    const KIns *i = get_ins(x, r);
    if (i->op == K_SET && x->equal[i->a]) return;
    if (i->op == K_SET) {
        store_lane(x, i->a, get_value(x, i->b));
        return;
    }
    if (x->made[r] == x->now) return;
    x->made[r] = x->now;
    x->map[r] = copy_value(x, r);
    if (kir_has_result(i) && x->keeps[r]) store_lane(x, r, x->map[r]);
}

static void set_equal_locals(Inter *x, KRef r) {
    uint32_t part = x->part[r];
    x->now++;
    for (; r < x->end && x->part[r] == part; r++) {
        const KIns *i = get_ins(x, r);
        if (i->op == K_SET && x->equal[i->a]) kir_set(x->to, x->map[i->a], get_value(x, i->b));
    }
}

/* Emits a segment from r on as a loop over lanes; returns the instruction after it. */
static KRef copy_segment(Inter *x, KRef r, KRef base, KRef last) {
    uint32_t part = x->part[r];
    set_equal_locals(x, r);
    x->lane = kir_for(x->to, kir_int(x->to, 0), last, 1, KFLAG_REASSOC);
    x->now++;
    x->map[x->loop] = kir_op(x->to, K_ADD, base, x->lane);
    for (; r < x->end && x->part[r] == part; r++) copy_segment_ins(x, r);
    kir_flow(x->to, K_END, 0);
    return r;
}

static void copy_segments(Inter *x, KRef base, KRef last) {
    for (KRef r = x->loop + 1; r < x->end;) {
        const KIns *i = get_ins(x, r);
        if (i->op == K_FOR) {
            x->now++;
            KRef a = get_value(x, i->a), b = get_value(x, i->b), c = get_value(x, i->c);
            x->map[r] = kir_add(x->to, kir_like(i, a, b, c));
            r++;
        } else if (i->op == K_END) kir_flow(x->to, K_END, 0), r++;
        else r = copy_segment(x, r, base, last);
    }
}

/* After the last iteration a variable has the value of the last lane. */
static void store_locals(Inter *x, KRef last) {
    x->lane = last;
    for (KRef r = 1; r < x->loop; r++)
        if (get_ins(x, r)->op == K_LOCAL && x->keeps[r]) kir_set(x->to, x->map[r], load_lane(x, r));
}

static void interchange(Inter *x) {
    KFunc *to = x->to;
    const KIns *i = get_ins(x, x->loop);
    to->pos = i->pos;
    KRef a = x->map[i->a], b = x->map[i->b], span = kir_op(to, K_SUB, b, a), most = kir_int(to, LANES - 1);
    KRef many = kir_op(to, K_AND, kir_op(to, K_LE, a, b), kir_op(to, K_LE, kir_int(to, FEWEST - 1), span));
    kir_flow(to, K_IF, many);
    KRef base = kir_for(to, a, b, LANES, 0);
    copy_segments(x, base, kir_op(to, K_MIN, kir_op(to, K_SUB, b, base), most));
    kir_flow(to, K_END, 0);
    store_locals(x, kir_op(to, K_AND, span, most));
    kir_flow(to, K_ELSE, 0);
    for (KRef r = x->loop; r <= x->end; r++) kir_copy_mapped(to, x->f, x->map, r);
    kir_flow(to, K_END, 0);
}

static void add_lanes(Inter *x) {
    for (KRef r = 1; r < x->end; r++)
        if (x->keeps[r] && !x->lanes[r])
            x->lanes[r] = kir_add(x->to, (KMake){K_LARRAY, .own = (qs_dtype)get_ins(x, r)->dtype, .imm = LANES});
}

static Inter look_at(Arena *a, const KFunc *f, KRef loop) {
    size_t n = f->nins;
    return (Inter){.f = f,
                   .loop = loop,
                   .end = f->regions[loop].end,
                   .same = {.arena = a, .f = f, .loop = loop, .end = f->regions[loop].end},
                   .keeps = qarena_alloc(a, n),
                   .equal = qarena_alloc(a, n),
                   .segment = qarena_alloc(a, qmem_size(n, sizeof(KRef), 0)),
                   .part = qarena_alloc(a, qmem_size(n, sizeof(uint32_t), 0)),
                   .seen = qarena_alloc(a, qmem_size(n, sizeof(uint32_t), 0)),
                   .made = qarena_alloc(a, qmem_size(n, sizeof(uint32_t), 0))};
}

static bool is_candidate(const KFunc *f, KRef r) { return f->ins[r].op == K_FOR && f->ins[r].flag == KFLAG_REASSOC; }

/* The arrays of the lanes are declared once, at the beginning. */
static const KFunc *copy_function(Ctx *c, Arena *a, const KFunc *f, Inter *loops, int n) {
    KFunc *to = kir_shell(c, a, f);
    KRef *map = qarena_alloc(a, qmem_size(f->nins, sizeof *map, 0));
    for (int i = 0; i < n; i++) {
        loops[i].to = to, loops[i].map = map;
        loops[i].lanes = qarena_alloc(a, qmem_size(f->nins, sizeof(KRef), 0));
        add_lanes(&loops[i]);
    }
    int next = 0;
    for (KRef r = 1; r < f->nins; r++) {
        if (next < n && r == loops[next].loop) interchange(&loops[next]), r = loops[next++].end;
        else kir_copy_mapped(to, f, map, r);
    }
    return kir_finish(to, f);
}

enum { LOOPS = 16 /* most loops of a function */ };

static int find_loops(Arena *a, const KFunc *f, Inter *found) {
    int n = 0;
    for (KRef r = 1; f->strict && kir_has(f, K_FOR) && r < f->nins && n < LOOPS; r++) {
        if (!is_candidate(f, r)) continue;
        found[n] = look_at(a, f, r);
        if (can_interchange(&found[n])) r = found[n++].end;
    }
    return n;
}

uint8_t *kinterchange_chosen(Arena *a, const KFunc *f) {
    Inter found[LOOPS];
    uint8_t *chosen = qarena_alloc(a, f->nins);
    int n = find_loops(a, f, found);
    for (int i = 0; i < n; i++) memset(chosen + found[i].loop, 1, found[i].end - found[i].loop);
    kcolumns_choose(a, f, chosen);
    return chosen;
}

const KFunc *kinterchange_loops(Ctx *c, Arena *a, const KFunc *f) {
    Inter found[LOOPS];
    int n = find_loops(a, f, found);
    return n ? copy_function(c, a, f, found, n) : f;
}
