/* split_loops.c -- splits an inner loop at the iteration that stores an element which all iterations read.
 *
 *     FOR j = a..b                                      j = a
 *       D[i,j] = min(D[i,j], D[i,k] + D[k,j])           LOOP while j <= b
 *     END                                        =>       e = j < k ? min(b, k-1) : j == k ? k : b
 *                                                         v = D[i,k]
 *                                                         FOR j = j..e
 *                                                           D[i,j] = min(D[i,j], v + D[k,j])
 *                                                         END
 *                                                         j = e + 1
 *                                                       END
 *
 * Every iteration reads the same value as before, so the bits stay the same, and LLVM can vectorize the parts.  The
 * body stores into one array only, at one index that moves with the counter. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"

typedef struct {
    const KFunc *f;
    KFunc *to;
    KRef *map;        /* by instruction of f: its copy */
    KRef loop, end;   /* the FOR that is looked at */
    KRef store, load; /* the first STORE, and a LOAD of the element that all iterations read */
    Invariants same;
} Split;

static const KIns *get_ins(const Split *s, KRef r) { return &s->f->ins[r]; }

/* -- conditions ---------------------------------------------------------------------------------------------------- */
/* Whether the body has no loops and jumps, and stores at one index only; finds the first STORE. */
static bool find_store(Split *s) {
    s->store = 0;
    for (KRef r = s->loop + 1; r < s->end; r++) {
        const KIns *i = get_ins(s, r), *first = get_ins(s, s->store);
        bool branch = i->op == K_IF || i->op == K_ELSE || i->op == K_END;
        bool local = i->op == K_LOCAL || i->op == K_GET || i->op == K_SET;
        bool memory = (i->op == K_LOAD && !i->b) || (i->op == K_STORE && !i->c);
        if (!branch && !local && !memory && kir_ops[i->op].effect != KE_PURE) return false;
        if (i->op != K_STORE) continue;
        if (s->store && (i->imm != first->imm || i->a != first->a)) return false;
        if (!s->store) s->store = r;
    }
    return s->store;
}

/* Whether the index is an element that the store does not reach by a constant number of iterations: such a loop could
 * not be vectorized. */
static bool is_chained(const Split *s, KRef index) {
    Affine a, b;
    return !kaffine_of(s->f, index, &a) || !kaffine_of(s->f, get_ins(s, s->store)->a, &b) || kaffine_differ(&a, &b);
}

/* Finds the LOAD of the element; false: there is none, or it is not read first and in every iteration. */
static bool find_load(Split *s) {
    s->load = 0;
    for (KRef r = s->loop + 1; r < s->end; r++) {
        const KIns *i = get_ins(s, r);
        if (i->op != K_LOAD || i->imm != get_ins(s, s->store)->imm) continue;
        if (!kaffine_is_invariant(&s->same, i->a)) {
            if (is_chained(s, i->a)) return false;
            continue;
        }
        if (r > s->store || s->f->regions[r].around != s->loop) return false;
        if (s->load && get_ins(s, s->load)->a != i->a) return false;
        s->load = r;
    }
    return s->load;
}

static bool can_split(void *pass, KRef loop) {
    Split *s = pass;
    const KIns *i = get_ins(s, loop);
    double step;
    int64_t factor;
    s->loop = loop, s->end = s->f->regions[loop].end;
    s->same = (Invariants){.arena = s->same.arena, .f = s->f, .loop = loop, .end = s->end};
    if (i->dtype != QS_I64 || !kir_is_const(s->f, i->c, &step) || step != 1 || !find_store(s)) return false;
    return kaffine_stride(&s->same, get_ins(s, s->store)->a, &factor) && factor == 1 && find_load(s);
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
/* The value of r, part of an index, in the iteration of this counter.  An invariant value is copied once. */
static KRef value_at(Split *s, KRef r, KRef counter) {
    const KIns *i = get_ins(s, r);
    if (r == s->loop) return counter;
    if (r < s->loop || s->map[r]) return s->map[r];
    KRef v[3];
    for (int k = 0; k < 3; k++) v[k] = value_at(s, i->arg[k], counter);
    KRef copy = kir_copy(s->to, i, v[0], v[1], v[2]);
    return kaffine_is_invariant(&s->same, r) ? s->map[r] = copy : copy;
}

static bool is_element(const Split *s, KRef r) {
    const KIns *i = get_ins(s, r), *load = get_ins(s, s->load);
    return i->op == K_LOAD && i->imm == load->imm && i->a == load->a;
}

/* Copies the iterations from `first` to `last`, which all read the same value of the element. */
static void copy_part(Split *s, KRef first, KRef last) {
    KFunc *to = s->to;
    KRef element = kir_copy(to, get_ins(s, s->load), s->map[get_ins(s, s->load)->a], 0, 0);
    s->map[s->loop] = kir_for(to, first, last, 1, get_ins(s, s->loop)->flag);
    for (KRef r = s->loop + 1; r < s->end; r++) {
        if (is_element(s, r)) s->map[r] = element;
        else if (!s->map[r]) kir_copy_mapped(to, s->f, s->map, r);
    }
    kir_flow(to, K_END, 0);
}

static void replace_loop(void *pass) {
    Split *s = pass;
    KFunc *to = s->to;
    const KIns *i = get_ins(s, s->loop);
    KRef a = s->map[i->a], b = s->map[i->b], one = kir_int(to, 1);
    to->pos = i->pos;
    kir_flow(to, K_IF, kir_op(to, K_LE, a, b));
    KRef index = value_at(s, get_ins(s, s->load)->a, a), stored = value_at(s, get_ins(s, s->store)->a, a);
    KRef at = kir_op(to, K_ADD, a, kir_op(to, K_SUB, index, stored)), next = kir_local(to, a);
    KRef before = kir_op(to, K_MIN, b, kir_op(to, K_SUB, at, one));
    kir_flow(to, K_LOOP, 0);
    KRef now = kir_get(to, next);
    kir_flow(to, K_IF, kir_op(to, K_LT, b, now));
    kir_flow(to, K_BREAK, 0);
    kir_flow(to, K_END, 0);
    KRef rest = kir_select(to, kir_op(to, K_EQ, now, at), at, b);
    KRef last = kir_select(to, kir_op(to, K_LT, now, at), before, rest);
    copy_part(s, now, last);
    kir_set(to, next, kir_op(to, K_ADD, last, one));
    kir_flow(to, K_END, 0);
    kir_flow(to, K_END, 0);
}

const KFunc *ksplit_loops(Ctx *c, Arena *a, const KFunc *f) {
    Split s = {.f = f, .same = {.arena = a}};
    if (!f->strict) return f;
    return kir_replace_loops(c, a, f, (KLoopPass){&s, &s.to, &s.map, can_split, replace_loop});
}
