/* jam.c -- runs several iterations of an outer loop together (unroll and jam).
 *
 *     FOR i = a..b                         FOR i = a..b by LANES
 *       s = q[i]                             s0 = q[i]; s1 = q[i+1]; …
 *       FOR j                                FOR j
 *         s = s + A[i,j]*p[j]        =>        s0 = s0 + A[i,j]*p[j]; s1 = s1 + A[i+1,j]*p[j]; …
 *       END                                  END
 *       q[i] = s                             q[i] = s0; q[i+1] = s1; …
 *     END                                  END
 *                                          FOR the remaining i: as before
 *
 * An inner loop that computes a variable from its last value waits for each operation.  The chains of several
 * iterations of the outer loop do not depend on each other, so the processor computes them at the same time, and LLVM
 * may put them into one vector.  Each chain keeps its order, so the results have the same bits.
 *
 * The outer loop is a FOR, or the positions of a launch along its last axis.  Iterations of a FOR must be independent,
 * or change the same elements in the same order before and after.
 *
 * The body is a list of segments, separated by inner loops and by conditions that are the same in all lanes.  Control
 * flow is copied once, each segment once per lane. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

#include <string.h>

enum { LANES = 8, FEWEST = 4, MOST = 480 /* instructions of all lanes */ };

typedef struct {
    Arena *arena;
    const KFunc *f;
    KFunc *to;
    KRef loop, end;    /* the body is (loop, end); loop: the FOR, or 0 for positions */
    uint8_t *varies;   /* by instruction of the body: differs between lanes */
    uint8_t *own;      /* by LOCAL in front of the loop: each lane has its own */
    KRef *map;         /* by instruction: its copy outside of lanes */
    KRef *lane[LANES]; /* by instruction of the body: its copy in a lane */
    int lanes;
} Jam;

static const KIns *get_ins(const Jam *j, KRef r) { return &j->f->ins[r]; }
static bool is_inside(const Jam *j, KRef r) { return r > j->loop && r < j->end; }

/* -- values that differ between lanes ------------------------------------------------------------------------------ */
static bool differs(const Jam *j, KRef r) {
    const KIns *i = get_ins(j, r);
    switch ((KOp)i->op) {
    case K_POS: return !j->loop && (int)i->imm == j->f->rank - 1;
    case K_GET: return is_inside(j, i->a) || kir_sets(j->f, j->loop + 1, j->end, i->a);
    case K_LOAD:
        if (kir_stores(j->f, j->loop + 1, j->end, i->imm)) return true;
        break;
    default: break;
    }
    return (j->loop && i->a == j->loop) || (j->loop && i->b == j->loop) || (j->loop && i->c == j->loop) ||
           j->varies[i->a] || j->varies[i->b] || j->varies[i->c];
}

/* -- conditions ---------------------------------------------------------------------------------------------------- */
/* Returns the outermost IF inside of the body, around r, whose condition differs between lanes; 0: none. */
static KRef find_branch(const Jam *j, KRef r) {
    KRef found = 0;
    for (KRef x = j->f->regions[r].around; x > j->loop; x = j->f->regions[x].around) {
        KRef open = kir_opener(j->f, x);
        if (get_ins(j, open)->op == K_IF && j->varies[get_ins(j, open)->a]) found = open;
    }
    return found;
}

static KRef loop_inside(const Jam *j, KRef r) {
    KRef x = kir_loop_around(j->f, r);
    return x > j->loop ? x : 0;
}

/* Finds what varies; false: the body has other control flow. */
static bool has_shape(Jam *j) {
    bool chain = false;
    if (j->end - j->loop > MOST) return false;
    memset(j->varies, 0, j->f->nins);
    for (KRef r = j->loop + 1; r < j->end; r++) {
        const KIns *i = get_ins(j, r);
        bool control = i->op == K_FOR || i->op == K_IF || i->op == K_ELSE || i->op == K_END;
        bool memory = i->op == K_LOAD || i->op == K_STORE || i->op == K_LOCAL || i->op == K_GET || i->op == K_SET;
        if (!control && !memory && kir_ops[i->op].effect != KE_PURE) return false;
        j->varies[r] = differs(j, r);
        if (i->op == K_FOR && (j->varies[r] || loop_inside(j, r) || find_branch(j, r))) return false;
        KRef inner = i->op == K_SET ? loop_inside(j, r) : 0;
        chain |= inner && j->varies[i->b] && kplan_is_recurrence(j->f, inner, r);
    }
    return chain;
}

/* A LOCAL in front of the loop that the body sets: if the body reads it, each iteration must set it first. */
static bool check_local(Jam *j, KRef set) {
    KRef local = get_ins(j, set)->a;
    bool first = true, read = false, branch = false;
    if (is_inside(j, local) || j->own[local]) return true;
    for (KRef r = j->loop + 1; r < j->end; r++) {
        const KIns *i = get_ins(j, r);
        if ((i->op != K_GET && i->op != K_SET) || i->a != local) continue;
        if (first && i->op == K_SET && j->f->regions[r].around == j->loop) return j->own[local] = 1, true;
        first = false, read |= i->op == K_GET, branch |= find_branch(j, r) != 0;
    }
    return !read && !branch;
}

/* Whether iterations of the outer loop may run together although they store into this parameter.  All accesses of the
 * parameter must have one index, which changes with exactly one of the two counters: then each iteration of the outer
 * loop has an element of its own, or each iteration of the inner loop has one and changes it in the old order. */
static bool keeps_order(Jam *j, Invariants *same, KRef store) {
    const KIns *s = get_ins(j, store);
    KRef inner = loop_inside(j, store);
    int64_t by_outer, by_inner;
    for (KRef r = j->loop + 1; r < j->end; r++) {
        const KIns *i = get_ins(j, r);
        if ((i->op != K_LOAD && i->op != K_STORE) || i->imm != s->imm) continue;
        if (i->a != s->a || find_branch(j, r) || (inner && j->f->regions[r].around != inner)) return false;
    }
    if (!kaffine_stride(same, s->a, &by_outer)) return false;
    if (!inner) return by_outer != 0;
    Invariants in = {.arena = j->arena, .f = j->f, .loop = inner, .end = j->f->regions[inner].end};
    return kaffine_stride(&in, s->a, &by_inner) && (by_outer != 0) != (by_inner != 0);
}

/* Whether the launch has tested that arrays do not overlap: some loop has a flag that says so. */
static bool are_apart(const Jam *j) {
    for (KRef r = j->loop; r < j->end; r++)
        if (get_ins(j, r)->op == K_FOR && get_ins(j, r)->flag) return true;
    return false;
}

static bool is_legal_for(Jam *j) {
    Invariants same = {.arena = j->arena, .f = j->f, .loop = j->loop, .end = j->end};
    const KIns *i = get_ins(j, j->loop);
    if (!kir_counts_by_one(j->f, j->loop)) return false;
    bool free = i->flag == KFLAG_REASSOC;
    if (!free && !are_apart(j)) return false;
    for (KRef r = j->loop + 1; r < j->end; r++) {
        if (get_ins(j, r)->op == K_SET && !check_local(j, r)) return false;
        if (get_ins(j, r)->op == K_STORE && !free && !keeps_order(j, &same, r)) return false;
    }
    return true;
}

/* Returns the number of iterations that run together; 0: too long. */
static int count_lanes(const Jam *j) {
    int n = LANES, size = 0;
    for (KRef r = j->loop + 1; r < j->end; r++) size += get_ins(j, r)->op != K_CONST;
    while (n > FEWEST && n * size > MOST) n /= 2;
    return n * size <= MOST ? n : 0;
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
static KRef get_copy(const Jam *j, int lane, KRef r) {
    bool mine = (r >= j->loop && r < j->end && r) || j->own[r];
    return mine ? j->lane[lane][r] : j->map[r];
}

static void copy_in_lane(Jam *j, int lane, KRef r) {
    KFunc *to = j->to;
    const KIns *i = get_ins(j, r);
    KRef copy = kir_copy(to, i, get_copy(j, lane, i->a), get_copy(j, lane, i->b), get_copy(j, lane, i->c));
    if (i->op == K_POS && j->varies[r]) {
        KRef wide = i->dtype == QS_I64 ? kir_int(to, lane) : kir_const_int(to, (qs_dtype)i->dtype, lane, to->pos);
        copy = kir_op(to, K_ADD, copy, wide);
    }
    j->lane[lane][r] = copy;
}

static bool is_shared_control(const Jam *j, KRef r) {
    const KIns *i = get_ins(j, r);
    KRef open = kir_opener(j->f, i->op == K_END ? j->f->regions[r].opener : r);
    uint8_t op = get_ins(j, open)->op;
    if (op != K_FOR && op != K_IF) return false;
    return !find_branch(j, open) && (op == K_FOR || !j->varies[get_ins(j, open)->a]);
}

static void copy_lanes(Jam *j) {
    for (KRef r = j->loop + 1; r < j->end;) {
        if (is_shared_control(j, r)) {
            copy_in_lane(j, 0, r);
            for (int k = 1; k < j->lanes; k++) j->lane[k][r] = j->lane[0][r];
            r++;
            continue;
        }
        KRef end = r;
        while (end < j->end && !is_shared_control(j, end)) end++;
        for (int k = 0; k < j->lanes; k++)
            for (KRef s = r; s < end; s++) copy_in_lane(j, k, s);
        r = end;
    }
}

static void copy_once(Jam *j, KRef first, KRef last) {
    for (KRef r = first; r < last; r++) kir_copy_mapped(j->to, j->f, j->map, r);
}

static void add_own_locals(Jam *j) {
    for (KRef r = 1; r < j->loop; r++)
        for (int k = 0; j->own[r] && k < j->lanes; k++) {
            KRef old = kir_get(j->to, j->map[r]);
            j->lane[k][r] = kir_local(j->to, old);
        }
}

/* Afterwards a variable has the value of the last iteration. */
static void set_locals(Jam *j) {
    for (KRef r = 1; r < j->loop; r++) {
        if (!j->own[r]) continue;
        KRef value = kir_get(j->to, j->lane[j->lanes - 1][r]);
        kir_set(j->to, j->map[r], value);
    }
}

static void replace_loop(void *pass) {
    Jam *j = pass;
    KFunc *to = j->to;
    const KIns *i = get_ins(j, j->loop);
    to->pos = i->pos;
    KRef a = j->map[i->a], b = j->map[i->b], span = kir_op(to, K_SUB, b, a), n = kir_int(to, j->lanes);
    KRef many = kir_op(to, K_AND, kir_op(to, K_LE, a, b), kir_op(to, K_LE, kir_int(to, j->lanes - 1), span));
    KRef whole = kir_op(to, K_AND, kir_op(to, K_ADD, span, kir_int(to, 1)), kir_int(to, -(int64_t)j->lanes));
    KRef next = kir_op(to, K_ADD, a, whole);
    kir_flow(to, K_IF, many);
    add_own_locals(j);
    KRef counter = kir_for(to, a, kir_op(to, K_SUB, next, n), j->lanes, 0);
    for (int k = 0; k < j->lanes; k++) j->lane[k][j->loop] = kir_op(to, K_ADD, counter, kir_int(to, k));
    copy_lanes(j);
    set_locals(j);
    kir_flow(to, K_END, 0);
    kir_flow(to, K_END, 0);
    KRef rest = kir_select(to, many, next, a);
    j->map[j->loop] = kir_add(to, kir_like(i, rest, j->map[i->b], j->map[i->c]));
    copy_once(j, j->loop + 1, j->end + 1);
}

static Jam begin_jam(Arena *a, const KFunc *f) {
    Jam j = {.arena = a, .f = f, .varies = qarena_alloc(a, f->nins), .own = qarena_alloc(a, f->nins)};
    size_t bytes = qmem_size(f->nins, sizeof(KRef), 0);
    for (int k = 0; k < LANES; k++) j.lane[k] = qarena_alloc(a, bytes);
    return j;
}

static bool is_candidate(void *pass, KRef r) {
    Jam *j = pass;
    j->loop = r, j->end = j->f->regions[r].end;
    memset(j->own, 0, j->f->nins);
    return has_shape(j) && is_legal_for(j) && (j->lanes = count_lanes(j)) > 0;
}

static bool may_gain(const KFunc *f) { return kir_is_exact(f) && kir_has(f, K_FOR) && !f->barrier && !f->shared; }

const KFunc *kjam_loops(Ctx *c, Arena *a, const KFunc *f) {
    if (!may_gain(f)) return f;
    Jam j = begin_jam(a, f);
    return kir_replace_loops(c, a, f, (KLoopPass){&j, &j.to, &j.map, is_candidate, replace_loop});
}

const KFunc *kjam_positions(Ctx *c, Arena *a, const KFunc *f, KJam *out) {
    KPlan plan;
    *out = (KJam){0};
    if (!may_gain(f) || f->serial || f->ncallees) return f;
    Jam j = begin_jam(a, f);
    j.end = f->nins;
    if (!has_shape(&j) || !(j.lanes = count_lanes(&j)) || kplan_strip(c, a, f, 1, f->nins, false, &plan)) return f;
    j.to = kir_shell(c, a, f), j.map = qarena_alloc(a, qmem_size(f->nins, sizeof *j.map, 0));
    copy_lanes(&j);
    *out = (KJam){j.lanes, j.to->nins};
    copy_once(&j, 1, f->nins);
    return kir_finish(j.to, f);
}
