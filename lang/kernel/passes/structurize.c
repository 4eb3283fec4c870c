/* structurize.c -- replaces jumps by conditions, so that the backward pass can run a position in reverse.
 *
 *     LOOP                          go = true
 *       …                           LOOP  IF !go BREAK END
 *       IF c                          turn = true
 *         CONTINUE            =>      …
 *       END                           IF c  turn = false  END
 *       IF d  BREAK  END              IF turn
 *       rest                            IF d  turn = false, go = false  END
 *     END                               IF turn  rest  END
 *                                     END
 *                                   END
 *
 * A jump clears the flags of all loops that it leaves.  The rest of the regions that it leaves is guarded by the
 * flag of the innermost enclosing loop, or of the position.  A FOR that a jump may leave counts its iterations in a
 * LOCAL.  CHECKs are removed: a launch in which one failed has no derivative. */
#include "lang/kernel/ir/kir.h"
#include "lang/kernel/passes/passes.h"

enum { DEPTH = 1024 };

typedef struct {
    KRef of;    /* the IF, ELSE, LOOP or FOR; 0: the function */
    bool left;  /* a jump leaves it, and it is not the target loop of the jump */
    int guards; /* IFs opened in it that close at its end */
} Open;

/* go, turn, counter, turns: LOCALs; counter and turns belong to a FOR with its own counter.  at, first: the new LOOP
 * and its body. */
typedef struct {
    KRef go, turn, counter, turns, step, at, first;
} Loop;

typedef struct {
    const KFunc *f;
    KFunc *g;
    KRef *map;
    Loop *loop;          /* by instruction of f */
    uint8_t *left_early; /* by FOR: a jump may leave it */
    KRef alive;
    Open open[DEPTH];
    int n;
} Normal;

static KRef bool_const(Normal *s, bool v) { return kir_const_int(s->g, QS_B1, v, s->g->pos); }

static bool is_jump(uint8_t op) { return op == K_BREAK || op == K_CONTINUE || op == K_RET; }

/* The outermost loop that the jump r leaves; 0: the whole function. */
static KRef jump_target(const KFunc *f, KRef r) { return f->ins[r].op == K_RET ? 0 : kir_jump_target(f, r); }

static void find_left_early(Normal *s) {
    for (KRef r = 1; r < s->f->nins; r++) {
        if (!is_jump(s->f->ins[r].op)) continue;
        KRef to = jump_target(s->f, r);
        for (KRef l = kir_loop_around(s->f, r); l; l = kir_loop_around(s->f, l)) {
            if (l != to || s->f->ins[r].op == K_BREAK) s->left_early[l] = 1;
            if (l == to) break;
        }
    }
}

/* -- jumps --------------------------------------------------------------------------------------------------------- */
static void copy_jump(Normal *s, KRef r) {
    KRef to = jump_target(s->f, r), no = bool_const(s, false);
    for (KRef l = kir_loop_around(s->f, r); l; l = kir_loop_around(s->f, l)) {
        kir_set(s->g, s->loop[l].turn, no);
        if (l != to || s->f->ins[r].op == K_BREAK) kir_set(s->g, s->loop[l].go, no);
        if (l == to) break;
    }
    if (!to) kir_set(s->g, s->alive, no);
    for (int k = s->n - 1; k > 0 && s->open[k].of != to; k--) s->open[k].left = true;
}

static void guard_rest(Normal *s) {
    int k = s->n - 1;
    while (k > 0 && !kir_is_loop(s->f->ins[s->open[k].of].op)) k--;
    KRef flag = k > 0 ? s->loop[s->open[k].of].turn : s->alive;
    kir_flow(s->g, K_IF, kir_get(s->g, flag));
    s->open[s->n - 1].guards++;
}

static void close_guards(Normal *s) {
    for (Open *o = &s->open[s->n - 1]; o->guards; o->guards--) kir_flow(s->g, K_END, 0);
}

/* -- loops --------------------------------------------------------------------------------------------------------- */
/* The number of iterations of FOR a..b by c. */
static KRef iterations_of(Normal *s, KRef a, KRef b, KRef c) {
    KFunc *g = s->g;
    a = kir_cast(g, QS_I64, a), b = kir_cast(g, QS_I64, b), c = kir_cast(g, QS_I64, c);
    KRef up = kir_op(g, K_LT, kir_int(g, 0), c), some = kir_op(g, K_NE, c, kir_int(g, 0));
    KRef reached = kir_select(g, up, kir_op(g, K_LE, a, b), kir_op(g, K_LE, b, a));
    KRef n = kir_op(g, K_ADD, kir_op(g, K_DIV, kir_op(g, K_SUB, b, a), c), kir_int(g, 1));
    return kir_select(g, kir_op(g, K_AND, some, reached), n, kir_int(g, 0));
}

static void begin_loop(Normal *s, KRef r) {
    KFunc *g = s->g;
    const KIns *i = &s->f->ins[r];
    Loop *l = &s->loop[r];
    bool counts = i->op == K_FOR;
    if (counts && !s->left_early[r]) {
        kir_copy_mapped(g, s->f, s->map, r);
        l->turn = kir_local(g, bool_const(s, true));
        return;
    }
    KRef n = counts ? iterations_of(s, s->map[i->a], s->map[i->b], s->map[i->c]) : 0;
    l->go = kir_local(g, bool_const(s, true));
    if (counts) l->counter = kir_local(g, s->map[i->a]), l->turns = kir_local(g, kir_int(g, 0));
    KRef loop = kir_emit(g, (KMake){.op = K_LOOP}), on = kir_get(g, l->go);
    if (counts) on = kir_op(g, K_AND, on, kir_op(g, K_LT, kir_get(g, l->turns), n));
    kir_flow(g, K_IF, kir_op(g, K_NOT, on, 0)), kir_flow(g, K_BREAK, 0), kir_flow(g, K_END, 0);
    l->at = loop, l->first = g->nins;
    l->turn = kir_local(g, bool_const(s, true));
    if (counts) s->map[r] = kir_get(g, l->counter), l->step = s->map[i->c];
}

static void end_loop(Normal *s, KRef loop) {
    KFunc *g = s->g;
    Loop *l = &s->loop[loop];
    if (!l->counter) return;
    kir_set(g, l->counter, kir_op(g, K_ADD, kir_get(g, l->counter), l->step));
    kir_set(g, l->turns, kir_op(g, K_ADD, kir_get(g, l->turns), kir_int(g, 1)));
}

/* -- function ------------------------------------------------------------------------------------------------------ */
static void end_region(Normal *s, KRef r) {
    const KIns *i = &s->f->ins[r];
    close_guards(s);
    KRef opener = s->f->regions[r].opener, first = opener;
    if (s->f->ins[opener].op == K_ELSE) first = s->f->regions[opener].opener;
    bool left = s->open[s->n - 1].left;
    if (i->op == K_END && kir_is_loop(s->f->ins[first].op)) end_loop(s, first);
    kir_copy(s->g, i, 0, 0, 0);
    s->n--;
    if (i->op == K_ELSE) {
        s->open[s->n++] = (Open){.of = r, .left = left};
        return;
    }
    KRef next = r + 1;
    bool more = next < s->f->nins && s->f->ins[next].op != K_END && s->f->ins[next].op != K_ELSE;
    if (left && more) guard_rest(s);
}

/* The end of the dead instructions after a jump: the end of its region. */
static KRef end_of_dead(const KFunc *f, KRef r) {
    int depth = 0;
    for (r++; r < f->nins; r++) {
        uint8_t op = f->ins[r].op;
        if (depth == 0 && (op == K_END || op == K_ELSE)) break;
        depth += kir_opens(op) ? 1 : op == K_END ? -1 : 0;
    }
    return r;
}

static KRef one(Normal *s, KRef r) {
    const KIns *i = &s->f->ins[r];
    s->g->pos = i->pos;
    if (is_jump(i->op)) {
        copy_jump(s, r);
        return end_of_dead(s->f, r);
    }
    if (i->op == K_END || i->op == K_ELSE) end_region(s, r);
    else if (kir_is_loop(i->op)) begin_loop(s, r), s->open[s->n++] = (Open){.of = r};
    else if (i->op != K_CHECK) kir_copy_mapped(s->g, s->f, s->map, r);
    if (i->op == K_IF) s->open[s->n++] = (Open){.of = r};
    return r + 1;
}

void kstructurize_make(Ctx *c, Arena *arena, const KFunc *f, KNormal *out) {
    size_t n = f->nins;
    Normal *s = qarena_alloc(arena, sizeof *s);
    *s = (Normal){.f = f, .g = kir_shell_with(c, arena, f, f->params, f->nparams), .n = 1};
    s->map = qarena_alloc(arena, qmem_size(n, sizeof *s->map, 0)),
    s->loop = qarena_alloc(arena, qmem_size(n, sizeof *s->loop, 0));
    s->left_early = qarena_alloc(arena, n);
    find_left_early(s);
    if (kir_has(f, K_RET)) s->alive = kir_local(s->g, bool_const(s, true));
    for (KRef r = 1; r < n;) r = one(s, r);
    close_guards(s);
    kir_seal(s->g);
    *out = (KNormal){s->g, qarena_alloc(arena, qmem_size(s->g->nins, sizeof *out->body, 0))};
    for (KRef r = 1; r < s->g->nins; r++)
        if (s->g->ins[r].op == K_FOR) out->body[r] = r + 1;
    for (KRef r = 1; r < n; r++) out->body[s->loop[r].at] = s->loop[r].first;
}
