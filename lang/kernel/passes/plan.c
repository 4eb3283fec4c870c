/* plan.c -- cuts the code of one position into pieces that run for many positions; see plan.h. */
#include "lang/kernel/passes/plan.h"
#include "lang/kernel/ir/affine.h"

#include <string.h>

enum {
    CHEAP = 8 /* instructions: a cheaper value is computed again instead of saved */,
    EXPENSIVE = 1000,
    MAX_DEPTH = 256,
    UNROLLED = 1500, /* instructions */
    SMALL = 100,     /* instructions, in code that runs rarely */
    PATCH = 2000,    /* instructions, of several rows together */
    LANES = 4096,    /* bytes per position of private arrays that a strip stores together */
    WORTH = 24,      /* instructions: with fewer, saving the results costs more than vectors gain */
    CHAIN = 40       /* instructions of a loop that several positions run together */
};

typedef struct {
    Ctx *ctx;
    const KFunc *f;
    KRef first, last;
    int axis;        /* positions differ along this axis only; -1: along all */
    uint8_t *varies; /* by instruction: the value differs between positions; LOCAL, LARRAY: the contents do */
    uint8_t *parts;  /* by LOOP or FOR: positions may leave it in different iterations */
    uint8_t *split;  /* by IF, LOOP or FOR: runs once for all positions */
    uint32_t *piece; /* by instruction: number of its piece */
    KPlan *plan;
    KRef culprit; /* a value that varies but must not; 0: none */
    bool changed;
} Planner;

static const KIns *get_ins(const Planner *p, KRef r) { return &p->f->ins[r]; }

/* Returns the IF, LOOP or FOR around r in the cut range; 0: none. */
static KRef around(const Planner *p, KRef r) {
    KRef region = p->f->regions[r].around;
    return region < p->first ? 0 : kir_opener(p->f, region);
}

/* -- finding values that differ between positions ------------------------------------------------------------------ */
static void set_flag(Planner *p, uint8_t *flag) {
    if (!*flag) *flag = 1, p->changed = true;
}

/* Returns true if positions may diverge at r: not all execute it, or not equally often. */
static bool diverges_at(const Planner *p, KRef r) {
    for (KRef x = around(p, r); x; x = around(p, x))
        if (get_ins(p, x)->op == K_IF ? p->varies[get_ins(p, x)->a] : p->parts[x]) return true;
    return false;
}

static bool operand_varies(const Planner *p, const KIns *i) {
    return p->varies[i->a] || p->varies[i->b] || p->varies[i->c];
}

static void note_jump(Planner *p, KRef r) {
    if (!diverges_at(p, r)) return;
    KRef to = kir_jump_target(p->f, r);
    for (KRef x = around(p, r);; x = around(p, x)) {
        if (kir_is_loop(get_ins(p, x)->op)) set_flag(p, &p->parts[x]);
        if (x == to) return;
    }
}

static void propagate_varies(Planner *p, KRef r) {
    const KIns *i = get_ins(p, r);
    bool v = operand_varies(p, i);
    switch ((KOp)i->op) {
    case K_POS:
    case K_BLKPOS: v = p->axis < 0 || (int)i->imm == p->axis; break;
    case K_LOAD: v = v || p->f->params[i->imm].written; break;
    case K_FETCH:
    case K_AFETCH: v = true; break;
    case K_ASTORE:
    case K_AATOMIC:
        if (get_ins(p, i->a)->op == K_LARRAY && (v || diverges_at(p, r))) set_flag(p, &p->varies[i->a]);
        return;
    case K_ANY: return; /* a strip evaluates it once for all positions */
    case K_SET:
        if (p->varies[i->b] || diverges_at(p, r)) set_flag(p, &p->varies[i->a]);
        return;
    case K_FOR:
        if (v) set_flag(p, &p->parts[r]);
        v = v || p->parts[r];
        break;
    case K_BREAK:
    case K_CONTINUE: note_jump(p, r); return;
    default: break;
    }
    if (v && kir_has_result(i)) set_flag(p, &p->varies[r]);
}

static void find_varying(Planner *p) {
    do {
        p->changed = false;
        for (KRef r = p->first; r < p->last; r++) propagate_varies(p, r);
    } while (p->changed);
}

/* -- finding code that runs once for all positions ----------------------------------------------------------------- */
static void share(Planner *p, KRef r);

static void split_around(Planner *p, KRef r) {
    for (KRef x = around(p, r); x; x = around(p, x))
        if (!p->split[x]) p->split[x] = 1, p->changed = true;
}

/* Makes a LOCAL common to all positions, with its GETs and SETs. */
static void share_local(Planner *p, KRef local) {
    for (KRef r = p->first; r < p->last; r++) {
        const KIns *i = get_ins(p, r);
        if ((i->op != K_GET && i->op != K_SET) || i->a != local) continue;
        p->plan->cls[r] = KC_COMMON;
        if (i->op == K_GET) continue;
        p->plan->cut[r] = 1;
        share(p, i->b);
        split_around(p, r);
    }
}

/* Makes an array with equal contents common; positions may still read different elements of it. */
static void share_array(Planner *p, KRef array) {
    for (KRef r = p->first; r < p->last; r++) {
        const KIns *i = get_ins(p, r);
        if ((i->op != K_ALOAD && i->op != K_ASTORE) || i->a != array || p->varies[i->b]) continue;
        p->plan->cls[r] = KC_COMMON, p->plan->cut[r] = 1;
        share(p, i->b), share(p, i->c);
        split_around(p, r);
    }
}

/* Makes the value r available outside of the loops over positions. */
static void share(Planner *p, KRef r) {
    if (!r || p->plan->cls[r] == KC_COMMON || get_ins(p, r)->op == K_CONST) return;
    if (p->varies[r]) {
        if (!p->culprit) p->culprit = r;
        return;
    }
    if (r < p->first || r >= p->last || kir_is_loop(get_ins(p, r)->op) || get_ins(p, r)->op == K_SHARED) return;
    const KIns *i = get_ins(p, r);
    p->plan->cls[r] = KC_COMMON, p->changed = true;
    if (i->op == K_ANY) {
        p->plan->cut[r] = 1;
        return;
    }
    if (i->op == K_LOAD || i->op == K_ALOAD) p->plan->cut[r] = 1;
    if (i->op == K_GET) share(p, i->a);
    if (i->op == K_LOCAL) share_local(p, r);
    if (i->op == K_LARRAY) share_array(p, r);
    for (int k = 0; k < 3; k++) share(p, i->arg[k]);
}

static void settle_control(Planner *p, KRef r) {
    const KIns *i = get_ins(p, r);
    if (kir_opens(i->op) && p->split[r]) {
        split_around(p, r);
        for (int k = 0; k < 3; k++) share(p, i->arg[k]);
        if (p->parts[r] && !p->culprit) p->culprit = r;
    }
    if ((i->op == K_BREAK || i->op == K_CONTINUE) && p->split[kir_jump_target(p->f, r)])
        for (KRef x = around(p, r), to = kir_jump_target(p->f, r); x != to; x = around(p, x))
            if (!p->split[x]) p->split[x] = 1, p->changed = true;
}

static void find_common(Planner *p) {
    do {
        p->changed = false;
        for (KRef r = p->first; r < p->last; r++) settle_control(p, r);
    } while (p->changed && !p->culprit);
}

static bool all_split(const Planner *p, KRef r) {
    for (KRef x = around(p, r); x; x = around(p, x))
        if (!p->split[x]) return false;
    return true;
}

static void classify(Planner *p) {
    for (KRef r = p->first; r < p->last; r++) {
        uint8_t op = get_ins(p, r)->op;
        bool control = op == K_BARRIER || (kir_opens(op) && p->split[r]);
        if (op == K_ELSE || op == K_END) control = p->split[kir_opener(p->f, p->f->regions[r].opener)];
        if (op == K_BREAK || op == K_CONTINUE) control = p->split[kir_jump_target(p->f, r)];
        if (op == K_RET) control = around(p, r) && all_split(p, r);
        if (op == K_SHARED) control = true;
        if (control) p->plan->cls[r] = KC_CONTROL;
    }
}

/* -- pieces, and where their values are stored --------------------------------------------------------------------- */
static void number_pieces(Planner *p) {
    uint32_t n = 1;
    for (KRef r = p->first; r < p->last; r++) {
        if (p->plan->cls[r] == KC_CONTROL || p->plan->cut[r]) n++;
        p->piece[r] = n;
        if (p->plan->cls[r] == KC_CONTROL) n++;
    }
}

/* Returns the number of instructions that compute r from values that every piece has. */
static int cost(const Planner *p, KRef r) {
    const KIns *i = get_ins(p, r);
    if (!r || r < p->first || p->plan->cls[r] != KC_PIECE || i->op == K_CONST) return 0;
    if (kir_ops[i->op].effect != KE_PURE || i->op == K_MATH || i->op == K_DIV || i->op == K_MOD) return EXPENSIVE;
    int sum = 1;
    for (int k = 0; k < 3 && sum < CHEAP; k++) sum += cost(p, i->arg[k]);
    return sum;
}

static void assign_home(Planner *p, KRef r, KRef by) {
    if (!r || r < p->first || r >= p->last || p->plan->cls[r] != KC_PIECE || get_ins(p, r)->op == K_CONST) return;
    if (p->piece[r] == p->piece[by] || p->plan->home[r] != KH_HERE) return;
    p->plan->home[r] = cost(p, r) < CHEAP ? KH_AGAIN : KH_KEPT;
    if (p->plan->home[r] == KH_KEPT) return;
    for (int k = 0; k < 3; k++) assign_home(p, get_ins(p, r)->arg[k], by);
}

static void find_homes(Planner *p) {
    for (KRef r = p->first; r < p->last; r++) {
        const KIns *i = get_ins(p, r);
        for (int k = 0; k < 3 && p->plan->cls[r] == KC_PIECE; k++) assign_home(p, i->arg[k], r);
        if (i->op == K_ANY && p->plan->cls[r] == KC_COMMON) p->plan->home[i->a] = KH_KEPT;
    }
}

static uint64_t bytes_of(const KIns *i) {
    return (i->op == K_LARRAY || i->op == K_SHARED ? i->imm : 1) * qdtype_size((qs_dtype)i->dtype);
}

/* Assigns offsets.  Larger elements come first, so that all are aligned for any number of positions. */
static void assign_slots(Planner *p) {
    KPlan *plan = p->plan;
    for (size_t size = 8; size; size /= 2)
        for (KRef r = p->first; r < p->last; r++) {
            const KIns *i = get_ins(p, r);
            if (plan->home[r] != KH_KEPT || qdtype_size((qs_dtype)i->dtype) != size) continue;
            plan->slot[r] = plan->item_bytes;
            plan->item_bytes += (uint32_t)bytes_of(i);
        }
    plan->alive = plan->item_bytes;
    if (plan->mortal) plan->item_bytes++;
    for (KRef r = p->first; r < p->last; r++)
        if (get_ins(p, r)->op == K_SHARED) {
            plan->slot[r] = plan->shared_bytes;
            plan->shared_bytes += (uint32_t)(bytes_of(get_ins(p, r)) + 63) & ~63u;
        }
}

static void find_mortal(Planner *p) {
    for (KRef r = p->first; r < p->last; r++)
        if (p->plan->cls[r] == KC_PIECE && (get_ins(p, r)->op == K_RET || get_ins(p, r)->op == K_CHECK))
            p->plan->mortal = true;
}

/* -- blocks -------------------------------------------------------------------------------------------------------- */
static Planner begin_plan(Ctx *c, Arena *a, const KFunc *f, KRef first, KRef last, int axis, KPlan *out) {
    size_t n = f->nins;
    *out = (KPlan){.first = first, .last = last};
    out->cls = qarena_alloc(a, n), out->cut = qarena_alloc(a, n), out->home = qarena_alloc(a, n);
    out->slot = qarena_alloc(a, qmem_size(n, sizeof(uint32_t), 0)), out->lanes = qarena_alloc(a, n);
    return (Planner){.ctx = c,
                     .f = f,
                     .first = first,
                     .last = last,
                     .axis = axis,
                     .plan = out,
                     .varies = qarena_alloc(a, n),
                     .parts = qarena_alloc(a, n),
                     .split = qarena_alloc(a, n),
                     .piece = qarena_alloc(a, qmem_size(n, sizeof(uint32_t), 0))};
}

static void finish_plan(Planner *p) {
    classify(p);
    number_pieces(p);
    find_homes(p);
    find_mortal(p);
    assign_slots(p);
}

uint8_t *kplan_common(Ctx *c, Arena *a, const KFunc *f) {
    KPlan plan;
    Planner p = begin_plan(c, a, f, 1, f->nins, -1, &plan);
    uint8_t *common = qarena_alloc(a, f->nins);
    find_varying(&p);
    for (KRef r = 1; r < f->nins; r++) common[r] = !p.varies[r] && !diverges_at(&p, r);
    return common;
}

uint8_t *kplan_varies(Ctx *c, Arena *a, const KFunc *f) {
    KPlan plan;
    Planner p = begin_plan(c, a, f, 1, f->nins, f->rank - 1, &plan);
    find_varying(&p);
    for (KRef r = 1; r < f->nins; r++)
        if (get_ins(&p, r)->op == K_RET && diverges_at(&p, r))
            for (KRef x = r; x; x = around(&p, x)) p.parts[x] |= kir_is_loop(get_ins(&p, x)->op);
    for (KRef r = 1; r < f->nins; r++) p.varies[r] |= p.parts[r];
    return p.varies;
}

qs_status kplan_block(Ctx *c, Arena *a, const KFunc *f, KPlan *out) {
    Planner p = begin_plan(c, a, f, 1, f->nins, -1, out);
    find_varying(&p);
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_BARRIER) split_around(&p, r);
    find_common(&p);
    if (p.culprit)
        return qerr_at(c, QS_EVALUE, (Where){f->src, f->ins[p.culprit].pos},
                       "kernel %s: syncthreads stands where positions of a block may part; this value, which decides "
                       "about it, differs "
                       "between them",
                       f->name->s);
    finish_plan(&p);
    return QS_OK;
}

/* -- strips -------------------------------------------------------------------------------------------------------- */

int64_t kplan_iterations(const KFunc *f, KRef loop) {
    const KIns *i = &f->ins[loop];
    double a, b, c;
    if (!kir_is_const(f, i->a, &a) || !kir_is_const(f, i->b, &b) || !kir_is_const(f, i->c, &c)) return -1;
    double n = c == 0 || (c > 0 ? a > b : a < b) ? 0 : (b - a) / c + 1;
    return n > 1e9 ? -1 : (int64_t)n;
}

/* Returns the number of instructions of [first, last) with all loops unrolled; more than UNROLLED: too many. */
static int64_t unrolled_size(const KFunc *f, KRef first, KRef last) {
    int64_t sum = 0;
    for (KRef r = first; r < last && sum <= UNROLLED; r++) {
        const KIns *i = &f->ins[r];
        if (i->op == K_LOOP) return UNROLLED + 1;
        sum += i->op != K_CONST && i->op != K_END;
        if (i->op != K_FOR) continue;
        int64_t iterations = kplan_iterations(f, r),
                body = iterations < 0 ? UNROLLED + 1 : unrolled_size(f, r + 1, f->regions[r].end);
        if (body > UNROLLED) return body;
        sum += iterations * body;
        r = f->regions[r].end;
    }
    return sum;
}

bool kplan_unrolls(const KFunc *f, KRef loop) {
    return f->ins[loop].op == K_FOR && unrolled_size(f, loop, f->regions[loop].end + 1) <= UNROLLED;
}

bool kplan_is_small(const KFunc *f, KRef loop) {
    return f->ins[loop].op == K_FOR && unrolled_size(f, loop, f->regions[loop].end + 1) <= SMALL;
}

bool kplan_is_recurrence(const KFunc *f, KRef loop, KRef set) {
    const KIns *i = &f->ins[set];
    if (f->ins[i->b].flag == KFLAG_REASSOC || f->ins[i->b].op == K_MIN || f->ins[i->b].op == K_MAX) return false;
    for (KRef r = loop + 1; r < set; r++) {
        if (f->ins[r].op == K_SET && f->ins[r].a == i->a) return false;
        if (f->ins[r].op == K_GET && f->ins[r].a == i->a) return i->a < loop;
    }
    return false;
}

static bool is_apart(const KFunc *f, const KIns *a, const KIns *b) {
    Affine p, q;
    if (a->imm != b->imm) return true;
    return kaffine_of(f, a->a, &p) && kaffine_of(f, b->a, &q) && kaffine_differ(&p, &q);
}

bool kplan_stores_last(const KFunc *f, KRef first, KRef last) {
    for (KRef r = first; r < last; r++)
        for (KRef s = r + 1; f->ins[r].op == K_STORE && s < last; s++) {
            uint8_t op = f->ins[s].op;
            if ((op == K_LOAD || op == K_STORE) && !is_apart(f, &f->ins[r], &f->ins[s])) return false;
        }
    return true;
}

/* Returns true if i is the position plus a constant or a loop counter, which differ in repeated code. */
static bool is_neighbour(const KFunc *f, const KIns *i, int axis) {
    if (i->op != K_ADD && i->op != K_SUB) return false;
    const KIns *a = &f->ins[kir_uncast(f, i->a)], *b = &f->ins[kir_uncast(f, i->b)];
    if (b->op == K_POS) a = b, b = &f->ins[kir_uncast(f, i->a)];
    return a->op == K_POS && (int)a->imm == axis && (b->op == K_CONST || b->op == K_FOR);
}

bool kplan_rows_share(const KFunc *f, KRef first, KRef last, int times) {
    bool any = false;
    for (KRef r = first; r < last; r++) {
        const KIns *i = &f->ins[r];
        bool memory = i->op == K_LOAD || i->op == K_STORE || i->op == K_LOCAL || i->op == K_GET || i->op == K_SET;
        bool plain = kir_ops[i->op].effect == KE_PURE && (i->op != K_MATH || i->flag == MF_sqrt);
        if (!memory && !plain && i->op != K_FOR && i->op != K_END) return false;
        any |= is_neighbour(f, i, f->rank - 2);
    }
    return any && unrolled_size(f, first, last) * times <= PATCH;
}

/* Returns true if neighbouring positions access adjacent elements, or the same one, which vectors load efficiently.
 * Vectors can also gather the elements of a LOAD whose indices come from a table, if the table is read side by side. */
static bool side_by_side(const Planner *p, KRef index, bool gather) {
    Affine a;
    if (!p->varies[index]) return true;
    if (!kaffine_of(p->f, index, &a)) return false;
    for (int i = 0; i < a.n; i++) {
        const KIns *t = get_ins(p, a.term[i].ref);
        if (t->op == K_CAST) t = get_ins(p, t->a);
        if (gather && t->op == K_LOAD && side_by_side(p, t->a, true)) continue;
        if (t->op == K_POS && (int)t->imm == p->axis ? a.term[i].factor != 1 : p->varies[a.term[i].ref]) return false;
    }
    return true;
}

static bool is_vector_access(const Planner *p, const KIns *i) {
    bool memory = i->op == K_LOAD || i->op == K_STORE || i->op == K_ATOMIC;
    return !memory || side_by_side(p, i->a, i->op == K_LOAD);
}

bool kplan_is_side_by_side(const KFunc *f, uint8_t *varies, KRef access) {
    return is_vector_access(&(Planner){.f = f, .axis = f->rank - 1, .varies = varies}, &f->ins[access]);
}

/* Returns true if iterations of the loop read consecutive elements by this index, as in x[pos[1],k]. */
static bool follows_row(const Planner *p, KRef index, KRef loop) {
    Affine a;
    if (!kaffine_of(p->f, index, &a)) return false;
    for (int i = 0; i < a.n; i++) {
        KRef t = a.term[i].ref;
        if (get_ins(p, t)->op == K_CAST) t = get_ins(p, t)->a;
        if (t == loop) return a.term[i].factor == 1;
    }
    return false;
}

/* Returns true if a short loop computes a float from its last value, so that each iteration waits for the one before,
 * and each position reads a row of its own: vectors would need elements that are far apart. */
static bool waits_on_rows(const Planner *p, KRef loop) {
    KRef end = p->f->regions[loop].end;
    bool chain = false, rows = false;
    if (get_ins(p, loop)->op != K_FOR || end - loop > CHAIN) return false;
    for (KRef r = loop + 1; r < end; r++) {
        const KIns *i = get_ins(p, r);
        if (i->op == K_STORE || i->op == K_IF || kir_is_loop(i->op)) return false;
        chain |= i->op == K_SET && qdtype_is_real(get_ins(p, i->b)->dtype) && kplan_is_recurrence(p->f, loop, r);
        if (i->op != K_LOAD || side_by_side(p, i->a, true)) continue;
        if (!follows_row(p, i->a, loop)) return false;
        rows = true;
    }
    return chain && rows;
}

bool kplan_rounds(KAtomic op, qs_dtype elem) {
    if (op == KA_MIN || op == KA_MAX || op == KA_AND || op == KA_OR || op == KA_XOR) return false;
    return op == KA_DIV || (elem != QS_I32 && elem != QS_U32 && elem != QS_I64 && elem != QS_U64);
}

/* Returns true if all accesses can be vectors, atomic updates too: the positions of a strip update different
 * elements, and no other thread does so at the same time. */
static bool can_vectorize_all(const Planner *p) {
    bool any = false;
    for (KRef r = p->first; r < p->last; r++) {
        const KIns *i = get_ins(p, r);
        if (!is_vector_access(p, i)) return false;
        if (i->op != K_ATOMIC) continue;
        qs_dtype d = (qs_dtype)p->f->params[i->imm].dtype;
        if (!p->varies[i->a] || !kplan_rounds((KAtomic)i->flag, d) || kir_value_dtype(d) != d) return false;
        any = true;
    }
    return any;
}

/* Cuts the kernel before the first atomic update, which run one by one, so that the code before it is vectorized.
 * Returns false if that is impossible or does not pay. */
static bool cut_at_atomics(Planner *p, bool *any) {
    KRef at = p->first;
    while (at < p->last && get_ins(p, at)->op != K_ATOMIC) at++;
    if (at == p->last) return true;
    for (KRef r = p->first; r < at; r++)
        if (!is_vector_access(p, get_ins(p, r))) return false;
    p->plan->cut[at] = 1, *any = true;
    return !around(p, at) && unrolled_size(p->f, p->first, at) >= WORTH;
}

/* Turns private arrays into arrays of the strip; false: impossible. */
static bool place_arrays(Planner *p) {
    uint64_t bytes = 0;
    for (KRef r = p->first; r < p->last; r++) {
        const KIns *i = get_ins(p, r);
        bool access = i->op == K_ALOAD || i->op == K_ASTORE;
        if (i->op == K_AATOMIC || (access && p->varies[i->b])) return false;
        if (i->op != K_LARRAY) continue;
        p->plan->lanes[r] = p->varies[r];
        bytes += p->varies[r] ? bytes_of(i) : 0;
    }
    for (KRef r = p->first; r < p->last; r++)
        if (get_ins(p, r)->op == K_LARRAY && p->plan->lanes[r]) p->plan->cls[r] = KC_COMMON;
        else if (get_ins(p, r)->op == K_LARRAY) share(p, r);
    return bytes <= LANES;
}

/* Returns whether a LOOP is around r, where vectors pay even if they gather elements. */
static bool is_in_loop(const Planner *p, KRef r) {
    while (r && get_ins(p, r)->op != K_LOOP) r = around(p, r);
    return r;
}

/* Marks the loops to cut around; false: there are none, or strips would not be vectorized. */
static bool choose_loops(Planner *p, bool all) {
    if (!place_arrays(p)) return false;
    bool any = p->plan->abreast = can_vectorize_all(p);
    if (!any && !cut_at_atomics(p, &any)) return false;
    int inside = 0; /* > 0: number of loops around r that are cut around */
    KRef waits = 0; /* end of the loop around r that waits on rows */
    for (KRef r = p->first; r < p->last; r++) {
        const KIns *i = get_ins(p, r);
        if (kir_is_loop(i->op) && !all && kplan_unrolls(p->f, r)) {
            for (KRef x = r; inside && x < p->f->regions[r].end; x++)
                if (get_ins(p, x)->op != K_ATOMIC && !is_vector_access(p, get_ins(p, x))) return false;
            r = p->f->regions[r].end;
            continue;
        }
        if (kir_is_loop(i->op)) {
            p->split[r] = 1, any = true, inside++;
            split_around(p, r);
            if (waits_on_rows(p, r)) waits = p->f->regions[r].end, p->plan->chains = true;
        }
        if (i->op == K_END && kir_is_loop(get_ins(p, p->f->regions[r].opener)->op)) inside--;
        if (i->op == K_ATOMIC && !p->plan->abreast && around(p, r)) return false;
        bool gathers = i->op == K_LOAD && is_in_loop(p, r);
        if (inside && r > waits && i->op != K_ATOMIC && !gathers && !is_vector_access(p, i)) return false;
    }
    return any;
}

bool kplan_strip(Ctx *c, Arena *a, const KFunc *f, KRef first, KRef last, bool all, KPlan *out) {
    if (f->serial || f->barrier || f->shared || kir_has(f, K_FETCH)) return false;
    Planner p = begin_plan(c, a, f, first, last, f->rank - 1, out);
    find_varying(&p);
    if (!choose_loops(&p, all)) return false;
    find_common(&p);
    if (p.culprit) return false;
    finish_plan(&p);
    return true;
}
