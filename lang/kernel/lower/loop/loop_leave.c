/* loop_leave.c -- decides which statements of a compiled loop the interpreter executes.
 *
 *     for i = 0..n-1
 *         s += x[i]
 *         if mod(i,1000)==0 print(s) end      the code ends here; the interpreter prints, finishes the iteration,
 *     end                                     and enters the code again with the next one
 *
 * A statement that cannot be compiled would leave the whole loop to the interpreter.  If it is in a branch, it may run
 * seldom.  The loop is then lowered again, and ends where the branch reaches the statement, as it does at a `return`:
 * all variables that are read later are stored, and the interpreter continues.  vm/launch/loop_launch.c gives the loop
 * up if it is left too often.
 *
 * Such a statement, and an error that the program reports, is rare.  The parallel version assumes that no iteration
 * reaches one.  The scan tests this first: it computes the conditions alone, for chunks of iterations, and stores
 * nothing.  The VM runs the chunks before the first one that reaches a rare statement in parallel, and that one in
 * order.
 *
 *     taken = LOCAL 0
 *     FOR i in the chunk
 *         IF mod(i,1000)==0: SET taken = 1         the rest of the branch and the sum are not in the scan
 *     END
 *     parts[chunk] = taken */
#include "lang/kernel/lower/loop/loop_internal.h"
#include "lang/kernel/passes/passes.h"

bool kloop_is_left(const LoopJob *job, const Node *statement) {
    for (int i = 0; i < job->nleaves; i++)
        if (job->leaves[i].statement == statement) return true;
    return false;
}

/* Finds the block of a branch, not in an inner loop, that contains the statement.  inside: the block itself is one. */
static bool find_branch(NodeList block, const Node *statement, bool inside, NodeList *out) {
    for (int i = 0; i < block.n; i++) {
        const Node *n = block.at[i];
        if (n == statement) return *out = block, inside;
        if (n->kind == N_BLOCK && find_branch(n->u.block, statement, inside, out)) return true;
        for (int k = 0; n->kind == N_IF && k < n->u.ifs.n; k++)
            if (find_branch(n->u.ifs.blocks[k], statement, true, out)) return true;
        if (n->kind == N_IF && n->u.ifs.has_else && find_branch(n->u.ifs.other, statement, true, out)) return true;
        for (int k = 0; n->kind == N_MATCH && k < n->u.match.narms; k++)
            if (find_branch(n->u.match.arms[k].body, statement, true, out)) return true;
    }
    return false;
}

/* The interpreter can continue a `for` only if its counters are integral (LOOP_PAUSED). */
bool kloop_may_leave(const LoopJob *job, const Node *statement) {
    const Node *loop = job->loop;
    bool fits = true;
    NodeList block;
    for (int i = 0; fits && loop->kind == N_FOR && i < loop->u.loop.nvars; i++) fits = job->range[i].integral;
    return fits && find_branch(kquery_body_of(loop), statement, false, &block);
}

void kloop_add_leave(LoopJob *job, LoopLeave *leave) {
    (void)find_branch(kquery_body_of(job->loop), leave->statement, false, &leave->block);
    job->nleaves++;
}

/* -- the scan ------------------------------------------------------------------------------------------------------ */
bool kloop_is_rare(const LoopJob *job, const Node *n) {
    for (int i = 0; i < job->nleaves; i++)
        for (int k = 0; k < job->leaves[i].block.n; k++)
            if (job->leaves[i].block.at[k] == n) return true;
    return false;
}

typedef struct {
    const LoopJob *job;
    const Sym *sym;
    bool rarely, otherwise;
} FindSets;

static void find_sets(void *ud, Node **child) {
    FindSets *s = ud;
    Node *n = *child;
    if (!n) return;
    bool sets = kquery_sets_here(n, s->sym), rare = kloop_is_rare(s->job, n);
    FindSets in = *s;
    s->otherwise |= sets && !rare, s->rarely |= sets && rare;
    in.otherwise = false;
    qast_children(n, find_sets, rare ? &in : s);
    s->rarely |= in.rarely || in.otherwise;
}

bool kloop_is_set_rarely(const LoopJob *job, const Sym *sym) {
    FindSets s = {.job = job, .sym = sym};
    Node *loop = job->loop;
    for (int i = 0; i < loop->u.loop.nvars && loop->kind == N_FOR; i++) s.otherwise |= loop->u.loop.syms[i] == sym;
    if (job->nleaves) qast_children(loop, find_sets, &s);
    return s.rarely && !s.otherwise;
}

/* A scan does not stop at an error, so an inner loop that ends by a condition might never end in it. */
bool kloop_may_scan(const Loops *L) {
    const Node *loop = L->job->loop;
    bool other = L->loose > L->rare || L->speculates || L->waits || L->random || L->callees || L->nlists;
    other |= L->nexchanged > 0;
    bool any = L->job->nleaves || L->rare;
    return any && !other && loop->kind == N_FOR && !L->out->nclasses && !loop->u.loop.attr;
}

void kloop_reach_unless(Loops *L, KRef holds) {
    if (!L->loose++) L->loose_pos = L->pos;
    L->rare++;
    if (!L->taken) return;
    kloop_flow(L, K_IF, kloop_not(L, holds));
    kbuild_set(&L->walk, L->taken, kbuild_int(&L->walk, QS_I64, 1));
    kloop_flow(L, K_END, 0);
}

bool kloop_divides_integers(const KFunc *f) {
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_MOD || (f->ins[r].op == K_DIV && !kir_is_float((qs_dtype)f->ins[r].dtype))) return true;
    return false;
}

/* The cost of the functions that are not vectorized. */
static uint32_t count_calls(const KFunc *f) {
    uint32_t n = 0;
    for (KRef r = 1; r < f->nins; r++)
        n += f->ins[r].op == K_MATH && f->ins[r].flag != MF_sqrt && !kir_is_rounding(&f->ins[r]);
    return n;
}

static bool is_level(const Loops *L, KRef loop, int levels) {
    for (int i = 0; i < levels; i++)
        if (L->level[i].counter == loop) return true;
    return false;
}

/* Whether an iteration may execute the store before the load. */
static bool may_precede(const Loops *L, const KFunc *f, KRef store, KRef load, int levels) {
    if (store < load) return true;
    for (KRef g = f->regions[store].around; g; g = f->regions[g].around)
        if (kir_is_loop(f->ins[g].op) && g < load && !is_level(L, g, levels)) return true;
    return false;
}

/* Whether the scan reads an element that the same iteration may have stored. */
static bool reads_stores(const Loops *L, const KFunc *f, const KRef *live, int levels) {
    for (KRef r = 1; r < f->nins; r++)
        for (KRef s = 1; f->ins[r].op == K_LOAD && live[r] && s < f->nins; s++)
            if (f->ins[s].op == K_STORE && f->ins[s].imm == f->ins[r].imm && may_precede(L, f, s, r, levels))
                return true;
    return false;
}

/* Whether an inner loop computes only what conditions behind it need: the scan would take as long as the loop. */
static bool has_long_conditions(const Loops *L, const KFunc *f, const KRef *live) {
    for (KRef g = 1; g < f->nins; g++) {
        bool inner = kir_is_loop(f->ins[g].op) && live[g] && !is_level(L, g, L->nlevels), tests = false;
        for (KRef r = g; inner && r < f->regions[g].end; r++) tests |= f->ins[r].op == K_SET && f->ins[r].a == L->taken;
        if (inner && !tests) return true;
    }
    return false;
}

void kloop_drop_conditions(Loops *L, Arena *arena) {
    LoopCode *code = &L->out->parallel;
    bool *wanted = qarena_alloc(L->arena, (size_t)code->func->nparams + 1);
    for (int i = 0; i < code->func->nparams; i++) wanted[i] = true;
    code->func = kdeadcode(L->c, arena, code->func, wanted, NULL);
}

bool kloop_reduce_scan(Loops *L, Arena *arena) {
    LoopCode *scan = &L->out->scan;
    const KFunc *f = scan->func;
    KFunc *pure = kir_shell_with(L->c, L->arena, f, f->params, f->nparams);
    KRef *map = qarena_alloc(L->arena, qmem_size(f->nins, sizeof *map, 0)), *live;
    bool *wanted = qarena_alloc(L->arena, (size_t)f->nparams);
    for (int i = 0; i < f->nparams; i++) wanted[i] = scan->binds[i].kind == LOOP_PARTS;
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op != K_STORE || wanted[f->ins[r].imm]) kir_copy_mapped(pure, f, map, r);
    kir_seal(pure);
    scan->func = kdeadcode(L->c, arena, pure, wanted, &live);
    for (KRef r = 1; r < f->nins; r++) map[r] = live[map[r]];
    return !reads_stores(L, f, map, L->out->depth) && !has_long_conditions(L, f, map) &&
           4 * count_calls(scan->func) <= count_calls(L->out->parallel.func) && !kloop_divides_integers(scan->func);
}
