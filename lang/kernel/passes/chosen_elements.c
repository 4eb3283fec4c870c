/* chosen_elements.c -- keeps the element at an index that a loop chooses in a variable.
 *
 *     FOR i = a..b                          IF k is inside
 *       if k is outside: BREAK                best = x[k]
 *       IF x[k] < x[i]                        FOR i = a..b
 *         k = i                     =>          IF best < x[i]
 *       END                                       k = i, best = x[i]
 *     END                                       END
 *                                             END
 *                                           ELSE
 *                                             the loop as it was
 *                                           END
 *
 * The index that the branch chooses is inside the array, because the iteration loads the element there.  So only the
 * first index needs a test, and the loop can become a search in any order (extremes.c).  The iterations do not store
 * into the array. */
#include "lang/kernel/passes/passes.h"

enum { DEEP = 12 /* operands of operands */ };

typedef struct {
    const KFunc *f;
    KFunc *to;
    KRef *map;          /* by instruction of f: its copy */
    KRef loop, end;     /* the FOR that is looked at */
    KRef index, set;    /* the GET of the variable, and its SET in a branch */
    KRef element, next; /* the element at the index, and at the index that the branch chooses, or a number made of it */
} Chosen;

static const KIns *get_ins(const Chosen *c, KRef r) { return &c->f->ins[r]; }
static bool is_in_body(const Chosen *c, KRef r) {
    return r > c->loop && r < c->end && c->f->regions[r].around == c->loop;
}

/* The only SET of the variable in the loop, which is in a branch of the body; 0: there is none. */
static KRef find_set(const Chosen *c, KRef variable) {
    KRef set = 0;
    for (KRef r = c->loop + 1; r < c->end; r++) {
        if (get_ins(c, r)->op != K_SET || get_ins(c, r)->a != variable) continue;
        if (set) return 0;
        set = r;
    }
    KRef branch = c->f->regions[set].around;
    return set && get_ins(c, branch)->op == K_IF && is_in_body(c, branch) ? set : 0;
}

static bool is_set(const Chosen *c, KRef local) {
    for (KRef r = c->loop + 1; r < c->end; r++)
        if (get_ins(c, r)->op == K_SET && get_ins(c, r)->a == local) return true;
    return false;
}

/* Whether r can be computed in front of the loop, from the index there. */
static bool is_known(const Chosen *c, KRef r, int depth) {
    const KIns *i = get_ins(c, r);
    if (r < c->loop || r == c->index) return true;
    if (i->op == K_GET) return i->a < c->loop && !is_set(c, i->a);
    bool known = kir_ops[i->op].effect == KE_PURE && depth;
    for (int k = 0; k < 3 && known; k++) known = is_known(c, i->arg[k], depth - 1);
    return known;
}

/* Whether r is computed from the index. */
static bool depends(const Chosen *c, KRef r, int depth) {
    const KIns *i = get_ins(c, r);
    if (r == c->index || r < c->loop || !depth) return r == c->index || !depth;
    bool any = false;
    for (int k = 0; k < 3 && !any; k++) any = i->op != K_GET && depends(c, i->arg[k], depth - 1);
    return any;
}

/* Whether b is a with the chosen index in place of the index. */
static bool is_like(const Chosen *c, KRef a, KRef b, int depth) {
    const KIns *x = get_ins(c, a), *y = get_ins(c, b);
    if (a == c->index) return b == get_ins(c, c->set)->b;
    if (a == b) return !depends(c, a, DEEP);
    bool like = depth && x->op == y->op && x->dtype == y->dtype && x->flag == y->flag && x->imm == y->imm;
    like = like && (kir_ops[x->op].effect == KE_PURE || x->op == K_LOAD);
    for (int k = 0; k < 3 && like; k++) like = is_like(c, x->arg[k], y->arg[k], depth - 1);
    return like;
}

/* Whether r is an element at the index, or the number made of the element that was found before. */
static bool is_element(const Chosen *c, KRef r) {
    const KIns *i = get_ins(c, r);
    if (i->op == K_CAST || i->op == K_ABS) return c->element && i->a == c->element;
    return i->op == K_LOAD && !i->b && !kir_stores(c->f, c->loop, c->end, i->imm) && depends(c, i->a, DEEP) &&
           is_known(c, i->a, DEEP);
}

static KRef find_next(const Chosen *c, KRef element, KRef branch) {
    for (KRef r = c->loop + 1; r < branch; r++)
        if (r != element && is_in_body(c, r) && is_like(c, element, r, DEEP)) return r;
    return 0;
}

static bool find_element(Chosen *c) {
    KRef branch = c->f->regions[c->set].around;
    c->element = c->next = 0;
    for (KRef r = c->index + 1; r < branch; r++) {
        KRef next = is_in_body(c, r) && is_element(c, r) ? find_next(c, r, branch) : 0;
        if (next) c->element = r, c->next = next;
    }
    return c->element;
}

/* The array of the element. */
static uint64_t array_of(const Chosen *c) {
    KRef r = c->element;
    while (get_ins(c, r)->op != K_LOAD) r = get_ins(c, r)->a;
    return get_ins(c, r)->imm;
}

/* Whether the index is multiplied by the length of rows. */
static bool selects_row(const Chosen *c, KRef r) {
    const KIns *i = get_ins(c, r);
    if (i->op == K_MUL && (i->a == c->index || i->b == c->index)) {
        const KIns *by = get_ins(c, i->a == c->index ? i->b : i->a);
        return (by->op == K_DIM && (by->imm & 255) == 1) || (by->op == K_STRIDE && (by->imm & 255) == 0);
    }
    if (i->op == K_LOAD || i->op == K_CAST || i->op == K_ABS) return selects_row(c, i->a);
    return i->op == K_ADD && (selects_row(c, i->a) || selects_row(c, i->b));
}

/* The INB of a test that leaves the loop if the index is outside of its axis of the array; 0: r is no such IF. */
static KRef test_of(const Chosen *c, KRef r) {
    const KIns *i = get_ins(c, r), *outside = get_ins(c, i->a), *inside = get_ins(c, outside->a);
    uint64_t array = array_of(c), axis = 0;
    if (i->op != K_IF || outside->op != K_NOT || inside->op != K_INB || inside->a != c->index) return 0;
    KRef end = c->f->regions[r].end;
    if (!is_in_body(c, r) || get_ins(c, end)->op != K_END || get_ins(c, end - 1)->op != K_BREAK) return 0;
    if (c->f->params[array].rank > 1) axis = !selects_row(c, c->element);
    const KIns *size = get_ins(c, inside->b);
    return c->f->params[array].rank <= 2 && size->op == K_DIM && size->imm == (array << 8 | axis) ? outside->a : 0;
}

/* Whether the loop has tests of the index, and no other way out. */
static bool has_only_tests(const Chosen *c) {
    bool any = false;
    for (KRef r = c->loop + 1; r < c->end; r++) {
        uint8_t op = get_ins(c, r)->op;
        if (kir_is_loop(op) || op == K_BREAK || op == K_CONTINUE || op == K_RET || op == K_CHECK) return false;
        if (test_of(c, r)) any = true, r = c->f->regions[r].end;
    }
    return any;
}

static bool is_candidate(void *pass, KRef loop) {
    Chosen *c = pass;
    c->loop = loop, c->end = c->f->regions[loop].end;
    if (get_ins(c, loop)->flag != KFLAG_REASSOC) return false;
    for (KRef r = loop + 1; r < c->end; r++) {
        const KIns *i = get_ins(c, r);
        if (i->op != K_GET || i->dtype != QS_I64 || i->a > loop || !is_in_body(c, r)) continue;
        c->index = r, c->set = find_set(c, i->a);
        if (c->set && find_element(c) && has_only_tests(c)) return true;
    }
    return false;
}

static void replace_loop(void *pass) {
    Chosen *c = pass;
    KFunc *to = c->to;
    to->pos = get_ins(c, c->loop)->pos;
    KRef index = kir_get(to, c->map[get_ins(c, c->index)->a]), inside = kir_cast(to, QS_B1, kir_int(to, 1));
    for (KRef r = c->loop + 1; r < c->end; r++) {
        KRef test = test_of(c, r);
        if (!test) continue;
        kir_hoist(to, c->f, c->map, c->loop, get_ins(c, test)->b);
        inside = kir_op(to, K_AND, inside, kir_op(to, K_INB, index, c->map[get_ins(c, test)->b]));
    }
    kir_flow(to, K_IF, inside);
    c->map[c->index] = index;
    kir_hoist(to, c->f, c->map, c->loop, c->element);
    KRef best = kir_local(to, c->map[c->element]);
    for (KRef r = c->loop; r <= c->end; r++) {
        bool test = test_of(c, r);
        if (test) r = c->f->regions[r].end;
        else if (r == c->element) c->map[r] = kir_get(to, best);
        else kir_copy_mapped(to, c->f, c->map, r);
        if (r == c->set) kir_set(to, best, c->map[c->next]);
    }
    kir_flow(to, K_ELSE, 0);
    for (KRef r = c->loop; r <= c->end; r++) kir_copy_mapped(to, c->f, c->map, r);
    kir_flow(to, K_END, 0);
}

const KFunc *kchosenelements_keep(Ctx *c, Arena *a, const KFunc *f) {
    Chosen s = {.f = f};
    return f->strict ? kir_replace_loops(c, a, f, (KLoopPass){&s, &s.to, &s.map, is_candidate, replace_loop}) : f;
}
