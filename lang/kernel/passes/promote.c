/* promote.c -- keeps an element that all iterations of a loop access, and some change, in a variable.
 *
 *     FOR j = a..b                         IF a <= b
 *       q[i] = q[i] + A[i,j]*p[j]            s = q[i]
 *     END                            =>      FOR j = a..b
 *                                              s = s + A[i,j]*p[j]
 *                                            END
 *                                            q[i] = s
 *                                          END
 *
 * The variable has the type of the element, so that each iteration rounds as before and the bits stay the same.  With
 * fast math LLVM may regroup the sum.  The lowering has proved that the body accesses the element by no other index
 * (KFLAG_FIXED, loop_dependence.c), and the launch has tested that arrays do not overlap. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"

enum { ELEMENTS = 4 /* most elements of a loop */ };

typedef struct {
    int param;
    KRef index, local; /* index: in f; local: the variable, in the copy */
} Element;

typedef struct {
    Arena *arena;
    const KFunc *f;
    KFunc *to;
    KRef *map;      /* by instruction of f: its copy */
    KRef loop, end; /* the FOR that is looked at */
    Element element[ELEMENTS];
    int n;
} Promotion;

static Element *find_element(Promotion *p, const KIns *i) {
    if (i->op != K_LOAD && i->op != K_STORE) return NULL;
    for (Element *e = p->element; e < p->element + p->n; e++)
        if (e->param == (int)i->imm && e->index == i->a) return e;
    return NULL;
}

/* Whether each iteration accesses the element, so that its index is inside the array. */
static bool is_accessed(Promotion *p, const Element *e) {
    for (KRef r = p->loop + 1; r < p->end; r++)
        if (p->f->regions[r].around == p->loop && find_element(p, &p->f->ins[r]) == e) return true;
    return false;
}

/* Finds the elements that the body stores, also in a branch. */
static bool find_elements(Promotion *p) {
    Invariants same = {.arena = p->arena, .f = p->f, .loop = p->loop, .end = p->end};
    double step;
    p->n = 0;
    if (!kir_is_const(p->f, p->f->ins[p->loop].c, &step) || step == 0) return false;
    for (KRef r = p->loop + 1; r < p->end; r++) {
        const KIns *i = &p->f->ins[r];
        bool plain = (i->op == K_LOAD && !i->b) || (i->op == K_STORE && !i->c) || i->op == K_LOCAL || i->op == K_GET ||
                     i->op == K_SET || kir_ops[i->op].effect == KE_PURE || i->op == K_IF || i->op == K_ELSE ||
                     i->op == K_END;
        if (!plain) return false;
        if (i->op != K_STORE || !kaffine_is_invariant(&same, i->a) || find_element(p, i)) continue;
        if (p->n == ELEMENTS || !kir_is_unconverted(&p->f->params[i->imm])) return false;
        p->element[p->n++] = (Element){.param = (int)i->imm, .index = i->a};
    }
    for (int k = 0; k < p->n; k++)
        if (!is_accessed(p, &p->element[k])) return false;
    return p->n > 0;
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
static void add_load(Promotion *p, Element *e) {
    qs_dtype d = (qs_dtype)p->f->params[e->param].dtype;
    KRef old = kir_emit(p->to, (KMake){K_LOAD, .own = d, .a = p->map[e->index], .imm = (uint64_t)e->param});
    e->local = kir_local(p->to, old);
}

static void add_store(Promotion *p, const Element *e) {
    KRef value = kir_get(p->to, e->local);
    kir_emit(p->to, (KMake){K_STORE, .a = p->map[e->index], .b = value, .imm = (uint64_t)e->param});
}

static void copy_body(Promotion *p) {
    for (KRef r = p->loop; r <= p->end; r++) {
        const KIns *i = &p->f->ins[r];
        const Element *e = find_element(p, i);
        if (!e && r > p->loop && p->map[r]) continue; /* it is in front of the loop */
        if (!e) kir_copy_mapped(p->to, p->f, p->map, r);
        else if (i->op == K_LOAD) p->map[r] = kir_add(p->to, (KMake){K_GET, .a = e->local, .pos = i->pos});
        else kir_add(p->to, (KMake){K_SET, .a = e->local, .b = p->map[i->b], .pos = i->pos});
    }
}

static void replace_loop(void *pass) {
    Promotion *p = pass;
    p->to->pos = p->f->ins[p->loop].pos;
    kir_if_runs(p->to, p->f, p->map, p->loop);
    for (int k = 0; k < p->n; k++)
        kir_hoist(p->to, p->f, p->map, p->loop, p->element[k].index), add_load(p, &p->element[k]);
    copy_body(p);
    for (int k = 0; k < p->n; k++) add_store(p, &p->element[k]);
    kir_flow(p->to, K_END, 0);
}

/* Looks at the loop that begins at r. */
static bool is_candidate(void *pass, KRef r) {
    Promotion *p = pass;
    p->loop = r, p->end = p->f->regions[r].end;
    return p->f->ins[r].flag == KFLAG_FIXED && find_elements(p);
}

const KFunc *kpromote_elements(Ctx *c, Arena *a, const KFunc *f) {
    Promotion p = {.arena = a, .f = f};
    return kir_replace_loops(c, a, f, (KLoopPass){&p, &p.to, &p.map, is_candidate, replace_loop});
}
