/* dead_code.c -- removes instructions whose results are not used.
 *
 * The roots are the stores to output parameters.  A live instruction keeps alive its operands, the regions around it,
 * the exits of loops around it, and every store to memory that it loads.  Stores to one array are not distinguished by
 * index.  Loops are assumed to terminate, so a loop without side effects is dead.  The LOCALs of a rerun of the kernel
 * are separate instructions, so this does not keep too much alive.
 *
 * The pass also replaces reads of a LOCAL by its value if the LOCAL is written only in the region that declares it.
 *
 * kunused_remove only removes values that no instruction uses, such as a conversion which the lowering has made in
 * advance.  Passes that count how often a loop reads a variable do not see them then. */
#include "lang/kernel/ir/kir.h"
#include "lang/kernel/passes/passes.h"

typedef struct {
    const KFunc *f;
    uint8_t *live;
    KRef *work;
    uint32_t n;
    KRef *next, *first; /* lists of writes: by instruction; by LOCAL, LARRAY, SHARED, LOOP */
    KRef *of_param;
    bool *wanted;
    KRef *is; /* the instruction itself, or the known value that a GET reads */
} Liveness;

static void mark_live(Liveness *s, KRef r) {
    r = s->is[r];
    if (r && !s->live[r]) s->live[r] = 1, s->work[s->n++] = r;
}

static void mark_all(Liveness *s, KRef list) {
    for (; list; list = s->next[list]) mark_live(s, list);
}

static void want(Liveness *s, uint64_t param) {
    if (s->wanted[param]) return;
    s->wanted[param] = true;
    mark_all(s, s->of_param[param]);
}

/* Marks the stores that a position may have executed before r, and those of other positions if there are barriers. */
static void mark_writes_before(Liveness *s, KRef r) {
    const KFunc *f = s->f;
    bool all = f->barrier || f->serial;
    for (KRef w = s->of_param[f->ins[r].imm]; w; w = s->next[w])
        if (all || w < r || kir_share_loop(f, w, r)) mark_live(s, w);
}

static void visit_ins(Liveness *s, KRef r) {
    const KIns *i = &s->f->ins[r];
    const KRegion *g = &s->f->regions[r];
    for (int k = 0; k < 3; k++) mark_live(s, i->arg[k]);
    mark_live(s, g->around), mark_live(s, g->opener), mark_live(s, g->end);
    if (i->op == K_LOCAL || i->op == K_LARRAY || i->op == K_SHARED || kir_is_loop(i->op)) mark_all(s, s->first[r]);
    if (i->op == K_LOAD) mark_writes_before(s, r);
    if (i->op == K_ATOMIC) want(s, i->imm);
}

static void list_writes(Liveness *s) {
    for (KRef r = 1; r < s->f->nins; r++) {
        const KIns *i = &s->f->ins[r];
        KRef *list = NULL;
        if (i->op == K_SET || i->op == K_ASTORE || i->op == K_AATOMIC) list = &s->first[i->a];
        if (i->op == K_STORE || i->op == K_ATOMIC) list = &s->of_param[i->imm];
        if (i->op == K_BREAK || i->op == K_CONTINUE) list = &s->first[kir_jump_target(s->f, r)];
        if (list) s->next[r] = *list, *list = r;
    }
}

/* by LOCAL: its current value; 0: unknown, because another region writes it */
static void find_values(Liveness *s, Arena *arena) {
    const KFunc *f = s->f;
    KRef *now = qarena_alloc(arena, qmem_size(f->nins, sizeof *now, 0));
    bool *elsewhere = qarena_alloc(arena, f->nins);
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_SET) elsewhere[f->ins[r].a] |= f->regions[r].around != f->regions[f->ins[r].a].around;
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        s->is[r] = r;
        if (i->op == K_LOCAL && !elsewhere[r]) now[r] = s->is[i->a];
        if (i->op == K_SET && !elsewhere[i->a]) now[i->a] = s->is[i->b];
        if (i->op == K_GET && !elsewhere[i->a]) s->is[r] = now[i->a];
    }
}

static void mark_roots(Liveness *s) {
    for (KRef r = 1; r < s->f->nins; r++) {
        uint8_t op = s->f->ins[r].op;
        if (op == K_RET || op == K_CHECK || op == K_BARRIER) mark_live(s, r);
    }
    for (int p = 0; p < s->f->nparams; p++)
        if (s->wanted[p]) mark_all(s, s->of_param[p]);
    while (s->n) visit_ins(s, s->work[--s->n]);
}

static Liveness begin_liveness(Arena *arena, const KFunc *f, const bool *wanted) {
    size_t n = f->nins;
    Liveness s = {.f = f, .live = qarena_alloc(arena, n), .work = qarena_alloc(arena, qmem_size(n, sizeof(KRef), 0))};
    s.next = qarena_alloc(arena, qmem_size(n, sizeof(KRef), 0)),
    s.first = qarena_alloc(arena, qmem_size(n, sizeof(KRef), 0));
    s.is = qarena_alloc(arena, qmem_size(n, sizeof(KRef), 0));
    find_values(&s, arena);
    s.of_param = qarena_alloc(arena, qmem_size((size_t)f->nparams, sizeof(KRef), sizeof(KRef)));
    s.wanted = qarena_alloc(arena, (size_t)f->nparams + 1);
    for (int p = 0; p < f->nparams; p++) s.wanted[p] = wanted[p];
    return s;
}

KFunc *kdeadcode(Ctx *c, Arena *arena, const KFunc *f, const bool *wanted, KRef **map) {
    Liveness s = begin_liveness(arena, f, wanted);
    KFunc *g = kir_shell_with(c, arena, f, f->params, f->nparams);
    KRef *to = qarena_alloc(arena, qmem_size(f->nins, sizeof *to, 0));
    list_writes(&s);
    mark_roots(&s);
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        if (s.live[r]) to[r] = kir_copy(g, i, to[s.is[i->a]], to[s.is[i->b]], to[s.is[i->c]]);
    }
    kir_seal(g);
    if (map) *map = to;
    return g;
}

/* Whether the instruction has no effect but its value. */
static bool is_value(const KIns *i) {
    return kir_ops[i->op].effect == KE_PURE || i->op == K_GET || i->op == K_ALOAD || i->op == K_LOAD;
}

const KFunc *kunused_remove(Ctx *c, Arena *a, const KFunc *f) {
    bool *used = qarena_alloc(a, f->nins), any = false;
    for (KRef r = f->nins; --r;) {
        if (used[r] || !is_value(&f->ins[r])) used[r] = true;
        else any |= f->ins[r].op != K_CONST;
        for (int k = 0; used[r] && k < 3; k++) used[f->ins[r].arg[k]] = true;
    }
    if (!any) return f;
    KFunc *to = kir_shell(c, a, f);
    KRef *map = qarena_alloc(a, qmem_size(f->nins, sizeof *map, 0));
    for (KRef r = 1; r < f->nins; r++)
        if (used[r]) kir_copy_mapped(to, f, map, r);
    return kir_finish(to, f);
}
