/* loop_exchange.c -- variables that exchange their arrays: t = a; a = b; b = t at the end of a time step.
 *
 * Code accesses arrays by parameters, so it must know which array a variable holds.  An assignment of an array is
 * compiled if it is a statement of the outermost body, where each iteration executes it.  An arrangement says which
 * array each variable holds at the beginning of an iteration.  The body is lowered once for each arrangement:
 *
 *     at = LOCAL 0
 *     FOR k
 *       IF at == 0      b[i] = f(a[i]) with the arrays A, B     SET at = 1
 *       ELSE            b[i] = f(a[i]) with the arrays B, A     SET at = 0
 *
 * The condition of a `while` or `repeat` belongs to no arrangement, so it must not read such a variable.
 *
 * An arrangement contains only variables that an iteration reads before it sets them, so `t` adds none.  Arrangements
 * are found as the passes lower the bodies.  A LOCAL has the number of the array that a variable holds (loop_alias.c),
 * from which the VM sets the variable after the loop, also if an error or `break` has left the body in the middle.
 *
 * u = u + v makes a new array in the interpreter.  If nothing else refers to the array that u had, and the new one
 * would have its type and size, the elements are set in place instead, which no program can tell apart.  Otherwise, and
 * for b = copy(a), the variable gets an array that the VM has made before the run (LOOP_MADE) and that no variable
 * holds. */
#include "lang/kernel/lower/loop/loop_internal.h"

/* -- arrangements -------------------------------------------------------------------------------------------------- */
static bool is_exchanged(const Var *v) { return v->exchange && v->kind == LOOP_ARRAY; }

static bool is_same(const LoopValue *a, const LoopValue *b) { return a && b ? a->source == b->source : a == b; }

/* The arrangement that the variables have now. */
static void arrange(const Loops *L, Arrangement *out) {
    *out = (Arrangement){{NULL}};
    for (int i = 0; i < L->root->nvars; i++) {
        const Var *v = &L->root->vars[i];
        if (is_exchanged(v) && (v->carried || (L->replaces && v->live))) out->holds[v->exchange - 1] = v->holds;
    }
}

static bool is_equal(const Arrangement *a, const Arrangement *b) {
    for (int i = 0; i < LOOP_EXCHANGED; i++)
        if (!is_same(a->holds[i], b->holds[i])) return false;
    return true;
}

/* The number of the current arrangement; a new one is lowered in the next pass. */
static qs_status find_arrangement(Loops *L, int *out) {
    Arrangement now;
    *out = 0;
    if (L->rearranges) return QS_OK;
    arrange(L, &now);
    for (*out = 0; *out < L->narrangements; ++*out)
        if (is_equal(&L->arrangement[*out], &now)) return QS_OK;
    if (L->narrangements == LOOP_ARRANGEMENTS)
        return kloop_decline(L, L->pos, "its variables exchange arrays in more than %d ways", LOOP_ARRANGEMENTS);
    L->arrangement[L->narrangements++] = now;
    return L->changed = true, QS_OK;
}

/* The first arrangement is the one that the variables have before the loop. */
static void begin_arrangement(Loops *L, int number) {
    for (int i = 0; i < L->root->nvars; i++) {
        Var *v = &L->root->vars[i];
        if (!is_exchanged(v)) continue;
        v->holds = L->arrangement[number].holds[v->exchange - 1];
        v->set = v->holds, v->moved = false;
    }
}

/* -- variables ----------------------------------------------------------------------------------------------------- */
void kloop_begin_arrays(Loops *L) {
    for (int i = 0; i < L->root->nvars; i++) {
        Var *v = &L->root->vars[i];
        v->holds = v->kind == LOOP_ARRAY && v->entry.kind == LOOP_ARRAY ? &v->entry : NULL;
        v->moved = false;
    }
    if (!L->nexchanged) return;
    if (L->rearranges) arrange(L, &L->arrangement[0]), L->narrangements = 1, L->rearranges = false;
    L->arranged = kbuild_local(&L->walk, kloop_i64(L, 0));
}

qs_status kloop_read_array(Loops *L, Var *v, Value *out) {
    if (v->exchange && !L->exchanging)
        return kloop_decline(L, L->pos, "a condition of the loop reads %s, whose array is exchanged; write if … break",
                             v->sym->name->s);
    if (!v->moved && !v->carried) { /* arrangements contain it from now on */
        v->carried = L->changed = true;
        L->rearranges = true;
    }
    const LoopValue *holds = v->holds ? v->holds : v->entry.kind == LOOP_ARRAY && !v->moved ? &v->entry : NULL;
    if (!holds) return kloop_decline(L, L->pos, "%s may have no value here", v->sym->name->s);
    *out = (Value){.what = WHAT_ARRAY, .host = *holds, .name = v->sym->name, .sym = v->sym, .mods = v->sym->mods};
    return QS_OK;
}

/* -- the outermost body -------------------------------------------------------------------------------------------- */
static bool is_continue_behind(const Node *n, void *ud) {
    const uint32_t *pos = ud;
    return n->kind == N_CONTINUE && n->pos > *pos;
}

/* Whether the variable is one of the loop's function, where the assignment is. */
static bool is_own(const Loops *L, const Var *v) {
    bool own = v >= L->root->vars && v < L->root->vars + L->root->nvars && v->object < 0 && !v->rare;
    return own && L->in == L->root && !L->module && !L->callees;
}

/* Whether each iteration executes the assignment of an array to v. */
static bool may_exchange(Loops *L, const Var *v) {
    bool in_body = L->mode != MODE_PARALLEL && L->exchanging && L->block == L->exchanging;
    if (!in_body || !is_own(L, v) || (!v->exchange && L->nexchanged == LOOP_EXCHANGED)) return false;
    return !kquery_node(kquery_body_of(L->job->loop), false, is_continue_behind, &L->pos);
}

qs_status kloop_hold_array(Loops *L, Var *v, const Value *x) {
    if (!may_exchange(L, v) || x->host.source < 0) return kloop_decline_array(L, v);
    if (!v->exchange) v->exchange = (uint8_t)++L->nexchanged, L->rearranges = L->changed = true;
    LoopValue *held = qarena_alloc(L->keep, sizeof *held);
    *held = x->host;
    v->holds = held, v->moved = v->set = true;
    if (v->array) kbuild_set(&L->walk, v->array, kloop_i64(L, -1 - held->source));
    if (v->given) kbuild_set(&L->walk, v->given, kbuild_int(&L->walk, QS_B1, 1));
    return QS_OK;
}

/* Whether an inner loop goes through the elements of the variable, which are those from its beginning. */
static bool is_loop_over(const Node *n, void *ud) {
    const Node *items = n->kind == N_FOR && n->u.loop.nranges == 1 ? n->u.loop.ranges[0] : NULL;
    return items && items->kind == N_IDENT && items->u.ident.sym == ud;
}

/* -- new arrays ---------------------------------------------------------------------------------------------------- */
const LoopValue *kloop_like(const Loops *L, const LoopValue *array) {
    return array->source >= LOOP_MADE ? &L->like[array->source - LOOP_MADE] : array;
}

int64_t kloop_peek(Loops *L, int source, int axis, bool fix) {
    if (source >= LOOP_MADE) source = L->like[source - LOOP_MADE].source;
    return (fix ? L->job->extent : L->job->peek)(L->job->ud, source, axis);
}

/* Whether another variable holds the array. */
static bool is_held_elsewhere(const Loops *L, const Var *v, int source) {
    for (int i = 0; i < L->root->nvars; i++) {
        const Var *w = &L->root->vars[i];
        if (w != v && w->kind == LOOP_ARRAY && w->holds && w->holds->source == source) return true;
    }
    return false;
}

/* Whether the array is that of a variable before the loop which the loop gives other arrays. */
static bool is_entry(const Loops *L, int source) {
    for (int i = 0; i < L->root->nvars; i++)
        if (L->root->vars[i].kind == LOOP_ARRAY && L->root->vars[i].entry.source == source) return true;
    return false;
}

/* Whether nothing but the variable refers to the array that it holds. */
static bool is_alone(const Loops *L, const Var *v) {
    const LoopValue *h = v->kind == LOOP_ARRAY ? v->holds : NULL;
    if (!h || !h->contiguous || !h->writable || is_held_elsewhere(L, v, h->source)) return false;
    return h->source >= LOOP_MADE || (is_entry(L, h->source) && L->job->sole(L->job->ud, h->source));
}

/* An array of the loop with the type and extents of another one, which no variable holds; false: there is none. */
static bool find_free(Loops *L, const LoopValue *as, LoopValue *out) {
    LoopResult *r = L->out;
    const LoopValue *like = kloop_like(L, as);
    int i = 0;
    while (i < r->nmade && (r->made[i] != like->source || is_held_elsewhere(L, NULL, LOOP_MADE + i))) i++;
    if (i == LOOP_MADE_MOST) return false;
    if (i == r->nmade) r->made[r->nmade++] = like->source, L->changed = true;
    *out = L->like[i] = *like;
    out->source = LOOP_MADE + i, out->contiguous = out->unit_last = out->writable = true;
    return true;
}

/* From here on arrangements contain all variables that something may read after an error. */
static void begin_replacing(Loops *L) {
    if (!L->replaces) L->replaces = L->changed = L->rearranges = true;
}

qs_status kloop_new_array(Loops *L, Var *v, const Value *x, bool *done) {
    void *sym = (void *)(uintptr_t)v->sym;
    const Value *as = kloop_row_array(x->row);
    Value array = {.what = WHAT_ARRAY, .name = v->sym->name, .sym = v->sym};
    if (!is_own(L, v) || kquery_node(kquery_body_of(L->job->loop), true, is_loop_over, sym)) return QS_OK;
    bool alone = is_alone(L, v);
    if (alone) array.host = *v->holds;
    else if (!as || (v->assigned && v->kind != LOOP_ARRAY) || !may_exchange(L, v) ||
             !find_free(L, &as->host, &array.host))
        return QS_OK;
    begin_replacing(L);
    TRY(kloop_row_replace(L, &array, x, done));
    if (!*done) return QS_OK;
    if (x->host.kind != LOOP_ARRAY) L->out->replaces = true;
    if (!alone) return kloop_assign(L, v, &array);
    return v->assigned = true, QS_OK;
}

static qs_status lower_arrangement(Loops *L, NodeList body, int number) {
    int next = 0;
    begin_arrangement(L, number);
    L->exchanging = L->block;
    qs_status s = kstmt_block(&L->walk, body);
    L->exchanging = NULL;
    if (s != QS_OK || L->left || !L->nexchanged) return s;
    TRY(find_arrangement(L, &next));
    if (L->arranged && next != number) kbuild_set(&L->walk, L->arranged, kloop_i64(L, next));
    return QS_OK;
}

qs_status kloop_lower_body(Walk *w, Node *loop) {
    Loops *L = (Loops *)w;
    NodeList body = kquery_body_of(loop);
    Ways after = {0};
    if (loop != L->job->loop || L->in != L->root) return kstmt_block(w, body);
    int n = L->narrangements;
    if (n < 2) return lower_arrangement(L, body, 0);
    KRef at = kbuild_get(w, L->arranged);
    for (int i = 0; i < n; i++) {
        bool *before = kstmt_save(w), last = i == n - 1;
        if (!last) kloop_flow(L, K_IF, kloop_op(L, K_EQ, at, kloop_i64(L, i)));
        TRY(lower_arrangement(L, body, i));
        if (!L->left) kstmt_add_way(w, &after);
        L->left = false;
        kstmt_restore(w, before);
        if (!last) kloop_flow(L, K_ELSE, 0);
    }
    for (int i = 0; i < n - 1; i++) kbuild_end(w);
    L->left = !after.any;
    return kstmt_restore(w, after.sure), QS_OK;
}
