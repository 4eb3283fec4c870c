/* adjoint.c -- builds the backward pass of one position; rematerialize.h has the picture.
 *
 * The pass visits the instructions in reverse.  Each instruction adds its share of the adjoint of its result to the
 * adjoints of its operands.  An adjoint that is known to be zero generates no code.
 *
 *     read       adjoint of the element += adjoint of the value     write      adjoint of the value += adjoint of the
 *                                                                              element, which becomes 0
 *     GET, SET   the same with the adjoint of the LOCAL             BARRIER    a BARRIER
 *     IF         the backward pass of the branch that ran           loop       its iterations, last first
 *
 * An iteration needs the values that its LOCALs had when it began.  If dead_code.c finds that they are used, they
 * are restored: if the number of iterations is small, from the history that the first run saved.  Otherwise the
 * loop is run again from one of SLOTS checkpoints; free slots are spread over the iterations ahead.  This takes a
 * few runs of the loop, and memory that does not grow with the number of iterations. */
#include "lang/kernel/autodiff/rematerialize.h"
#include "lang/kernel/elem/elem_build.h"

enum { SLOTS = 48 };

static const KIns *get_ins(const KRemat *v, KRef r) { return &v->f->ins[r]; }
static bool is_live(const KRemat *v, KRef r) { return r && v->s->act.live[r]; }
static KRef get_local(KRemat *v, KRef local) { return kremat_add(v, (KMake){K_GET, .a = local}); }
static void set_local(KRemat *v, KRef local, KRef x) { kremat_add(v, (KMake){K_SET, .a = local, .b = x}); }
static KRef zero_const(KRemat *v, qs_dtype d) { return kir_const_bits(v->g, d, 0, v->pos); }
static KRef new_local(KRemat *v, KRef x) { return kremat_add(v, (KMake){K_LOCAL, .a = x}); }
static KRef int_const(KRemat *v, int64_t n) { return kremat_int(v, QS_I64, n); }

/* -- sums ---------------------------------------------------------------------------------------------------------- */
static void new_sum(KRemat *v, KSum *s, qs_dtype d) {
    *s = (KSum){.local = new_local(v, zero_const(v, d)), .loaded = true};
    v->touched[v->ntouched++] = s;
}

static void load_sum(KRemat *v, KSum *s) {
    if (s->loaded) return;
    s->now = s->then = get_local(v, s->local), s->loaded = true;
    v->touched[v->ntouched++] = s;
}

static KRef read_sum(KRemat *v, KSum *s) { return load_sum(v, s), s->now; }

static KRef take_sum(KRemat *v, KSum *s) {
    KRef x = read_sum(v, s);
    return s->now = 0, x;
}

static KRef add_adjoints(KRemat *v, KRef a, KRef b) { return !a ? b : !b ? a : kremat_fold(v, K_ADD, a, b, 0); }

static void add_sum(KRemat *v, KSum *s, KRef x) {
    load_sum(v, s);
    s->now = add_adjoints(v, s->now, x);
}

/* Stores all sums in their LOCALs, as required at the beginning and the end of a region of g. */
static void settle(KRemat *v) {
    for (int k = 0; k < v->ntouched; k++) {
        KSum *s = v->touched[k];
        if (s->now != s->then)
            set_local(v, s->local, s->now ? s->now : zero_const(v, (qs_dtype)v->g->ins[s->local].dtype));
        s->loaded = false;
    }
    v->ntouched = 0;
}

/* -- adjoints of values -------------------------------------------------------------------------------------------- */
static void give_adjoint(KRemat *v, KRef r, KRef x) {
    if (!x || !is_live(v, r)) return;
    if (v->crosses[r]) add_sum(v, &v->sum[r], x);
    else v->adjoint[r] = add_adjoints(v, v->adjoint[r], x);
}

static KRef take_adjoint(KRemat *v, KRef r) {
    if (!is_live(v, r)) return 0;
    if (v->crosses[r]) return take_sum(v, &v->sum[r]);
    KRef x = v->adjoint[r];
    return v->adjoint[r] = 0, x;
}

/* -- arrays of parameters ------------------------------------------------------------------------------------------ */
typedef struct {
    int param;
    KRef at, guard;
    qs_dtype d;
} KElement;

static KRef use_value(void *v, KRef r) { return kremat_use(v, r); }

static KElement make_element(KRemat *v, const KIns *i, KRef guard) {
    KElement e = {.param = v->s->param[i->imm].adjoint};
    e.at = kadjindex_packed(v->g, v->f, i, use_value, v);
    e.guard = kremat_use(v, guard);
    e.d = kir_value_dtype((qs_dtype)v->s->params[e.param].dtype);
    return e;
}

static KRef load_element(KRemat *v, const KElement *e) {
    return kremat_add(v, (KMake){K_LOAD, .own = e->d, .a = e->at, .b = e->guard, .imm = (uint64_t)e->param});
}

static void store_element(KRemat *v, const KElement *e, KRef x) {
    kremat_add(v, (KMake){K_STORE, .a = e->at, .b = x, .c = e->guard, .imm = (uint64_t)e->param});
}

static void add_to_array(KRemat *v, const KElement *e, bool own, KRef x) {
    if (own || v->f->serial) store_element(v, e, kremat_fold(v, K_ADD, load_element(v, e), x, 0));
    else kremat_add(v, (KMake){K_ATOMIC, .flag = KA_ADD, .a = e->at, .b = x, .c = e->guard, .imm = (uint64_t)e->param});
}

static bool has_adjoint(const KRemat *v, const KIns *i) { return v->s->param[i->imm].adjoint >= 0; }

/* Returns x, or 0 if the guard is false: then the element does not exist, and its sum must not reach an earlier
 * write. */
static KRef select_guarded(KRemat *v, KRef guard, KRef x) {
    return guard ? kremat_fold(v, K_SELECT, kremat_use(v, guard), x, zero_const(v, (qs_dtype)v->g->ins[x].dtype)) : x;
}

static void back_load(KRemat *v, const KIns *i, KRef x) {
    if (!x || !has_adjoint(v, i)) return;
    if (v->owner[i->imm] == KOWN_ELEMENT) {
        add_sum(v, &v->param_sum[i->imm], v->f->params[i->imm].written ? select_guarded(v, i->b, x) : x);
        return;
    }
    KElement e = make_element(v, i, i->b);
    add_to_array(v, &e, v->owner[i->imm] == KOWN_SOME, x);
}

static void back_store(KRemat *v, const KIns *i) {
    if (!has_adjoint(v, i)) return;
    if (v->owner[i->imm] == KOWN_ELEMENT) {
        give_adjoint(v, i->b, take_sum(v, &v->param_sum[i->imm]));
        return;
    }
    KElement e = make_element(v, i, i->c);
    if (is_live(v, i->b)) give_adjoint(v, i->b, load_element(v, &e));
    store_element(v, &e, zero_const(v, e.d));
}

static void back_update(KRemat *v, const KIns *i) {
    if (!has_adjoint(v, i) || !is_live(v, i->b)) return;
    KElement e = {0};
    bool own = v->owner[i->imm] == KOWN_ELEMENT;
    if (!own) e = make_element(v, i, i->c);
    KRef x = own ? read_sum(v, &v->param_sum[i->imm]) : load_element(v, &e);
    if (v->s->group[i->imm].kind) give_adjoint(v, i->b, select_guarded(v, i->c, kshared_back(v, i, e.at, x)));
    else give_adjoint(v, i->b, x && i->flag == KA_SUB ? kremat_fold(v, K_NEG, x, 0, 0) : x);
}

/* -- private and shared arrays ------------------------------------------------------------------------------------- */
static KRef read_twin(KRemat *v, const KIns *i) {
    return kremat_add(v, (KMake){K_ALOAD, .a = v->twin[i->a], .b = kremat_use(v, i->b)});
}

static void write_twin(KRemat *v, const KIns *i, KRef x) {
    kremat_add(v, (KMake){K_ASTORE, .a = v->twin[i->a], .b = kremat_use(v, i->b), .c = x});
}

static void back_aload(KRemat *v, const KIns *i, KRef x) {
    if (!x || !is_live(v, i->a)) return;
    if (get_ins(v, i->a)->op == K_SHARED)
        kremat_add(v, (KMake){K_AATOMIC, .flag = KA_ADD, .a = v->twin[i->a], .b = kremat_use(v, i->b), .c = x});
    else write_twin(v, i, kremat_fold(v, K_ADD, read_twin(v, i), x, 0));
}

static void back_astore(KRemat *v, const KIns *i) {
    if (!is_live(v, i->a)) return;
    if (is_live(v, i->c)) give_adjoint(v, i->c, read_twin(v, i));
    write_twin(v, i, zero_const(v, (qs_dtype)get_ins(v, i->a)->dtype));
}

static void back_aatomic(KRemat *v, const KIns *i) {
    if (!is_live(v, i->a) || !is_live(v, i->c)) return;
    KRef x = read_twin(v, i);
    give_adjoint(v, i->c, i->flag == KA_SUB ? kremat_fold(v, K_NEG, x, 0, 0) : x);
}

/* -- values -------------------------------------------------------------------------------------------------------- */
static void back_select(KRemat *v, const KIns *i, KRef x) {
    KRef c = kremat_use(v, i->a), none = zero_const(v, (qs_dtype)i->dtype);
    if (is_live(v, i->b)) give_adjoint(v, i->b, kremat_fold(v, K_SELECT, c, x, none));
    if (is_live(v, i->c)) give_adjoint(v, i->c, kremat_fold(v, K_SELECT, c, none, x));
}

static void back_arithmetic(KRemat *v, KRef r, const KIns *i, KRef x) {
    KRef args[2] = {kremat_use(v, i->a), kremat_use(v, i->b)}, result = kremat_use(v, r);
    bool square = i->op == K_MUL && i->a == i->b; /* x*x: the adjoint is doubled, which several squares may share */
    if (square) x = add_adjoints(v, x, x);
    for (int k = 0; k < 2 - square; k++)
        if (is_live(v, i->arg[k])) give_adjoint(v, i->arg[k], kautodiff_slope(v->g, i, k, args, result, x));
}

/* For u + iv = f(a + ib) with f' = p + iq: du = p da - q db, dv = q da + p db. */
static void back_analytic(KRemat *v, const KIns *i, KRef x) {
    KPair slope = kautodiff_analytic(v->g, i, (KPair){kremat_use(v, i->b), kremat_use(v, i->c)});
    for (int k = 1; k < 3; k++)
        if (is_live(v, i->arg[k])) give_adjoint(v, i->arg[k], kautodiff_along(v->g, i, k, slope, x));
}

static void back_value(KRemat *v, KRef r, const KIns *i, KRef x) {
    switch ((KOp)i->op) {
    case K_PARAM: add_sum(v, &v->param_sum[i->imm], x); break;
    case K_GET: add_sum(v, &v->sum[i->a], x); break;
    case K_LOAD: back_load(v, i, x); break;
    case K_ALOAD: back_aload(v, i, x); break;
    case K_CAST: give_adjoint(v, i->a, kremat_cast(v, (qs_dtype)get_ins(v, i->a)->dtype, x)); break;
    case K_SELECT: back_select(v, i, x); break;
    case K_ANALYTIC: back_analytic(v, i, x); break;
    default: back_arithmetic(v, r, i, x); break;
    }
}

static void back_one(KRemat *v, KRef r) {
    const KIns *i = get_ins(v, r);
    v->pos = i->pos;
    switch ((KOp)i->op) {
    case K_STORE: back_store(v, i); return;
    case K_ATOMIC: back_update(v, i); return;
    case K_ASTORE: back_astore(v, i); return;
    case K_AATOMIC: back_aatomic(v, i); return;
    case K_BARRIER: kremat_add(v, (KMake){.op = K_BARRIER}); return;
    case K_SET:
        if (is_live(v, i->a)) give_adjoint(v, i->b, take_sum(v, &v->sum[i->a]));
        return;
    case K_LOCAL:
        if (is_live(v, r)) give_adjoint(v, i->a, take_sum(v, &v->sum[r]));
        return;
    default: break;
    }
    KRef x = kir_has_result(i) && i->op != K_LARRAY && i->op != K_SHARED ? take_adjoint(v, r) : 0;
    if (x) back_value(v, r, i, x);
}

/* -- regions ------------------------------------------------------------------------------------------------------- */
static void back(KRemat *v, KRef first, KRef last);

static bool acts(const KRemat *v, KRef first, KRef last) { return v->acts[last] != v->acts[first]; }

static void back_if(KRemat *v, KRef begin, KRef other, KRef end) {
    KRef mid = other ? other : end;
    KRef cond = kremat_use(v, get_ins(v, begin)->a);
    settle(v);
    kremat_open(v, K_IF, QS_B1, cond, 0, 0);
    back(v, begin + 1, mid);
    settle(v);
    if (other && acts(v, other, end)) {
        kremat_else(v);
        back(v, other + 1, end);
        settle(v);
    }
    kremat_close(v);
}

/* Declares the adjoints of a frame, initialized to zero. */
static void make_sums(KRemat *v, KRef first, KRef last) {
    for (KRef r = first; r < last; r++) {
        const KIns *i = get_ins(v, r);
        if (kir_is_loop(i->op)) {
            r = v->f->regions[r].end;
            continue;
        }
        if (!is_live(v, r)) continue;
        qs_dtype d = (qs_dtype)i->dtype;
        if (i->op == K_LARRAY) v->twin[r] = kremat_add(v, (KMake){K_LARRAY, .own = d, .imm = i->imm});
        else if (i->op == K_SHARED) v->twin[r] = kremat_add(v, (KMake){K_SHARED, .own = d, .flag = 1, .imm = i->imm});
        else if (i->op == K_LOCAL || v->crosses[r]) new_sum(v, &v->sum[r], d);
    }
}

static void back_frame(KRemat *v, KRef first, KRef last) {
    make_sums(v, first, last);
    back(v, first, last);
    settle(v);
}

/* -- loops --------------------------------------------------------------------------------------------------------- */
typedef struct {
    KRef loop;
    KLoopState *l;
    KRef *outer;
    KRef a, step;
    qs_dtype d;
} KWayBack; /* outer: by state, its LOCAL before; a, step: operands of a FOR, 0 for a LOOP */

/* Recomputes the iteration that begins with the LOCALs v->local, then goes through it backward. */
static void back_iteration(KRemat *v, const KWayBack *w) {
    KRef first = v->s->body[w->loop], end = v->f->regions[w->loop].end, frame = v->frame;
    v->frame = w->loop;
    kremat_frame(v, first, end);
    back_frame(v, first, end);
    v->frame = frame;
}

static void begin_state(KRemat *v, const KWayBack *w, bool all) {
    for (int k = 0; k < w->l->n; k++)
        if (all || !w->l->set[k]) v->local[w->l->state[k]] = new_local(v, kremat_entry(v, w->l, k));
}

/* Sets the counter of a FOR to its value in iteration n, counted from 0. */
static void bind_counter(KRemat *v, const KWayBack *w, KRef n) {
    if (!w->a) return;
    KRef value = kremat_fold(v, K_ADD, kremat_cast(v, QS_I64, w->a),
                             kremat_fold(v, K_MUL, n, kremat_cast(v, QS_I64, w->step), 0), 0);
    kremat_bind(v, w->loop, kremat_cast(v, w->d, value));
}

static void begin_with_history(KRemat *v, const KWayBack *w, KRef iteration) {
    for (int k = 0; k < w->l->n; k++) {
        if (!w->l->set[k]) continue;
        KRef then = kremat_add(v, (KMake){K_ALOAD, .a = w->l->history[k], .b = iteration});
        v->local[w->l->state[k]] = new_local(v, then);
    }
}

/* A stack of checkpoints.  LARRAYs: iteration (turn) and, by state, the values at its beginning (slot).  LOCALs:
 * top: index of the last one; next: iteration of the next one; step: iterations between two. */
typedef struct {
    KRef top, iteration, *slot, next, step;
} KSlots;

static void put_slot(KRemat *v, const KWayBack *w, const KSlots *s, KRef iteration) {
    KRef top = kremat_fold(v, K_ADD, get_local(v, s->top), kremat_int(v, QS_I32, 1), 0);
    set_local(v, s->top, top);
    kremat_add(v, (KMake){K_ASTORE, .a = s->iteration, .b = top, .c = iteration});
    for (int k = 0; k < w->l->n; k++)
        if (w->l->set[k])
            kremat_add(v, (KMake){K_ASTORE, .a = s->slot[k], .b = top, .c = get_local(v, v->local[w->l->state[k]])});
}

static KSlots begin_slots(KRemat *v, const KWayBack *w) {
    KSlots s = {.slot = qarena_alloc(v->s->arena, qmem_size((size_t)w->l->n, sizeof(KRef), sizeof(KRef)))};
    s.iteration = kremat_add(v, (KMake){K_LARRAY, .own = QS_I64, .imm = SLOTS});
    for (int k = 0; k < w->l->n; k++)
        if (w->l->set[k])
            s.slot[k] =
                kremat_add(v, (KMake){K_LARRAY, .own = (qs_dtype)get_ins(v, w->l->state[k])->dtype, .imm = SLOTS});
    s.top = new_local(v, kremat_int(v, QS_I32, -1));
    s.next = new_local(v, int_const(v, 0)), s.step = new_local(v, int_const(v, 0));
    begin_state(v, w, true);
    put_slot(v, w, &s, int_const(v, 0));
    return s;
}

/* Chooses the distance between checkpoints from iteration `from` to `turn`: half of the free slots are used now,
 * the others remain for the iterations in between. */
static void choose_step(KRemat *v, const KSlots *s, KRef from, KRef iteration) {
    KRef free_slots = kremat_fold(v, K_SUB, kremat_int(v, QS_I32, SLOTS - 1), get_local(v, s->top), 0);
    KRef room = kremat_cast(v, QS_I64, free_slots), ahead = kremat_fold(v, K_SUB, iteration, from, 0),
         one = int_const(v, 1);
    KRef half = kremat_fold(v, K_DIV, kremat_fold(v, K_ADD, room, one, 0), int_const(v, 2), 0);
    KRef wide = kremat_fold(v, K_ADD, kremat_fold(v, K_DIV, ahead, kremat_fold(v, K_ADD, half, one, 0), 0), one, 0);
    KRef step = kremat_fold(v, K_SELECT, kremat_fold(v, K_LE, ahead, room, 0), one, wide);
    set_local(v, s->step, step);
    set_local(v, s->next, kremat_fold(v, K_ADD, from, step, 0));
}

static void place_checkpoint(KRemat *v, const KWayBack *w, const KSlots *s, KRef iteration) {
    KRef due = kremat_fold(v, K_EQ, iteration, get_local(v, s->next), 0);
    KRef has_room = kremat_fold(v, K_LT, get_local(v, s->top), kremat_int(v, QS_I32, SLOTS - 1), 0);
    kremat_open(v, K_IF, QS_B1, kremat_fold(v, K_AND, due, has_room, 0), 0, 0);
    put_slot(v, w, s, iteration);
    set_local(v, s->next, kremat_fold(v, K_ADD, iteration, get_local(v, s->step), 0));
    kremat_close(v);
}

/* Restores the LOCALs as of the beginning of iteration `turn`: runs the loop from the last checkpoint. */
static void return_to(KRemat *v, const KWayBack *w, const KSlots *s, KRef iteration) {
    KRef top = get_local(v, s->top), from = kremat_add(v, (KMake){K_ALOAD, .a = s->iteration, .b = top}),
         one = int_const(v, 1);
    for (int k = 0; k < w->l->n; k++)
        if (w->l->set[k])
            v->local[w->l->state[k]] = new_local(v, kremat_add(v, (KMake){K_ALOAD, .a = s->slot[k], .b = top}));
    begin_state(v, w, false);
    choose_step(v, s, from, iteration);
    KRef frame = v->frame;
    v->frame = w->loop;
    KRef n = kremat_open(v, K_FOR, QS_I64, from, kremat_fold(v, K_SUB, iteration, one, 0), one);
    place_checkpoint(v, w, s, n);
    bind_counter(v, w, n);
    kremat_iteration(v, v->s->body[w->loop], v->f->regions[w->loop].end);
    kremat_close(v);
    v->frame = frame;
    KRef now = get_local(v, s->top), last = kremat_add(v, (KMake){K_ALOAD, .a = s->iteration, .b = now});
    kremat_open(v, K_IF, QS_B1, kremat_fold(v, K_EQ, last, iteration, 0), 0, 0);
    set_local(v, s->top, kremat_fold(v, K_SUB, now, kremat_int(v, QS_I32, 1), 0));
    kremat_close(v);
}

/* Recomputes r, which depends only on values before the loop and on its counter. */
static KRef recompute_value(KRemat *v, KRef loop, KRef r) {
    const KIns *i = get_ins(v, r);
    if (r <= loop || !i->a) return kremat_use(v, r);
    return kir_copy(v->g, i, recompute_value(v, loop, i->a), recompute_value(v, loop, i->b),
                    recompute_value(v, loop, i->c));
}

/* Subtracts the steps of this iteration from integers that need no checkpoint (KLoopState.undo). */
static void undo_steps(KRemat *v, const KWayBack *w) {
    for (int k = 0; k < w->l->n; k++) {
        KRef undo = w->l->undo[k];
        if (!undo) continue;
        KOp op = get_ins(v, get_ins(v, undo)->b)->op == K_ADD ? K_SUB : K_ADD;
        KRef step = recompute_value(v, w->loop, kremat_step(v->f, undo));
        KRef found = kremat_fold(v, op, get_local(v, w->l->after[k]), step, 0);
        set_local(v, w->l->after[k], found);
        v->local[w->l->state[k]] = new_local(v, found);
    }
}

/* Restores the LOCALs for iteration `turn`.  dead_code.c removes this code if all needed LOCALs can be undone. */
static void begin_iteration(KRemat *v, const KWayBack *w, const KSlots *s, KRef iteration) {
    if (!w->l->any_set) begin_state(v, w, true);
    else if (w->l->iterations > 0) begin_state(v, w, false), begin_with_history(v, w, iteration);
    else return_to(v, w, s, iteration);
}

static bool needs_slots(const KLoopState *l) { return l->any_set && l->iterations < 0; }

/* Goes through FOR a..b by c backward.  If the step is not 1 or -1, the last value of the counter must be computed;
 * an IF around it tests that the loop has iterations. */
static void back_for(KRemat *v, KWayBack *w) {
    const KIns *i = get_ins(v, w->loop);
    double c = 0;
    KRef a = w->a = kremat_use(v, i->a), b = kremat_use(v, i->b), step = w->step = kremat_use(v, i->c);
    bool by_one = kir_is_const(v->g, step, &c) && (c == 1 || c == -1);
    KRef a64 = kremat_cast(v, QS_I64, a), b64 = kremat_cast(v, QS_I64, b), step64 = kremat_cast(v, QS_I64, step);
    KRef none = int_const(v, 0), last = b;
    if (!by_one) {
        KRef up = kremat_fold(v, K_LT, none, step64, 0), some = kremat_fold(v, K_NE, step64, none, 0);
        KRef before = kremat_fold(v, K_LE, a64, b64, 0), behind = kremat_fold(v, K_LE, b64, a64, 0);
        KRef reached = kremat_fold(v, K_SELECT, up, before, behind);
        kremat_open(v, K_IF, QS_B1, kremat_fold(v, K_AND, some, reached, 0), 0, 0);
        KRef whole = kremat_fold(v, K_DIV, kremat_fold(v, K_SUB, b64, a64, 0), step64, 0);
        last = kremat_cast(v, w->d, kremat_fold(v, K_ADD, a64, kremat_fold(v, K_MUL, whole, step64, 0), 0));
    }
    KSlots slots = needs_slots(w->l) ? begin_slots(v, w) : (KSlots){0};
    KRef n = kremat_open(v, K_FOR, w->d, last, a, kremat_fold(v, K_NEG, step, 0, 0));
    KRef gone = kremat_fold(v, K_SUB, kremat_cast(v, QS_I64, n), a64, 0);
    KRef iteration = kremat_fold(v, K_DIV, gone, step64, 0);
    if (c == -1) iteration = kremat_fold(v, K_NEG, gone, 0, 0);
    begin_iteration(v, w, &slots, iteration);
    kremat_bind(v, w->loop, n);
    undo_steps(v, w);
    back_iteration(v, w);
    kremat_close(v);
    if (!by_one) kremat_close(v);
}

static void back_while(KRemat *v, KWayBack *w) {
    KRef count = get_local(v, w->l->count), one = int_const(v, 1);
    KSlots slots = w->l->any_set ? begin_slots(v, w) : (KSlots){0};
    KRef n = kremat_open(v, K_FOR, QS_I64, kremat_fold(v, K_SUB, count, one, 0), int_const(v, 0), int_const(v, -1));
    begin_iteration(v, w, &slots, n);
    undo_steps(v, w);
    back_iteration(v, w);
    kremat_close(v);
}

static void back_loop(KRemat *v, KRef loop) {
    KLoopState *l = &v->loop[loop];
    KWayBack w = {.loop = loop, .l = l, .d = (qs_dtype)get_ins(v, loop)->dtype};
    w.outer = qarena_alloc(v->s->arena, qmem_size((size_t)l->n, sizeof(KRef), sizeof(KRef)));
    for (int k = 0; k < l->n; k++) w.outer[k] = v->local[l->state[k]];
    settle(v);
    if (get_ins(v, loop)->op == K_FOR) back_for(v, &w);
    else back_while(v, &w);
    for (int k = 0; k < l->n; k++) v->local[l->state[k]] = w.outer[k];
}

static void back(KRemat *v, KRef first, KRef last) {
    for (KRef r = last; r-- > first;) {
        if (get_ins(v, r)->op != K_END) {
            back_one(v, r);
            continue;
        }
        KRef end = r, other = v->f->regions[r].opener, begin = other;
        if (get_ins(v, other)->op == K_ELSE) begin = v->f->regions[other].opener;
        else other = 0;
        r = begin;
        v->pos = get_ins(v, begin)->pos;
        if (!acts(v, begin, end)) continue;
        if (kir_is_loop(get_ins(v, begin)->op)) back_loop(v, begin);
        else back_if(v, begin, other, end);
    }
}

/* -- whole function ------------------------------------------------------------------------------------------------ */
static bool has_action(const KRemat *v, KRef r) {
    const KIns *i = get_ins(v, r);
    switch ((KOp)i->op) {
    case K_STORE:
    case K_ATOMIC: return has_adjoint(v, i);
    case K_SET:
    case K_ASTORE:
    case K_AATOMIC: return is_live(v, i->a);
    case K_BARRIER: return true;
    default: return is_live(v, r);
    }
}

static KRef region(const KFunc *f, KRef r) { return f->regions[r].around; }

static void find_crossing(KRemat *v) {
    v->acts[1] = 0;
    for (KRef r = 1; r < v->f->nins; r++) {
        v->acts[r + 1] = v->acts[r] + has_action(v, r);
        for (int k = 0; k < 3; k++) {
            KRef x = get_ins(v, r)->arg[k];
            uint8_t op = get_ins(v, x)->op;
            if (!is_live(v, x) || op == K_LOCAL || op == K_LARRAY || op == K_SHARED) continue;
            if (region(v->f, x) != region(v->f, r)) v->crosses[x] = 1;
        }
    }
}

static void find_owners(KRemat *v) {
    for (int p = 0; p < v->f->nparams; p++) {
        if (v->f->params[p].kind != KP_ARRAY || v->s->param[p].adjoint < 0 || v->f->serial) continue;
        if (v->s->group[p].kind) continue;
        v->owner[p] = (uint8_t)kadjindex_owner(v->f, p, &v->element[p]);
        if (qdtype_is_complex((qs_dtype)v->f->params[p].dtype) && v->owner[p] == KOWN_ELEMENT) v->owner[p] = KOWN_SOME;
    }
}

static void begin(KRemat *v, const KGrading *s) {
    size_t n = s->f->nins;
    Arena *a = s->arena;
    kremat_begin(v, s);
    v->adjoint = qarena_alloc(a, qmem_size(n, sizeof(KRef), 0)),
    v->sum = qarena_alloc(a, qmem_size(n, sizeof *v->sum, 0));
    v->param_sum = qarena_alloc(a, qmem_size((size_t)s->f->nparams, sizeof *v->param_sum, sizeof *v->param_sum));
    v->touched = qarena_alloc(a, qmem_size(n + (size_t)s->f->nparams, sizeof *v->touched, sizeof *v->touched));
    v->owner = qarena_alloc(a, (size_t)s->f->nparams + 1);
    v->element = qarena_alloc(a, qmem_size((size_t)s->f->nparams, sizeof(KRef), sizeof(KRef)));
    v->crosses = qarena_alloc(a, n), v->twin = qarena_alloc(a, qmem_size(n, sizeof(KRef), 0));
    v->acts = qarena_alloc(a, qmem_size(n, sizeof *v->acts, sizeof *v->acts));
    find_crossing(v);
    find_owners(v);
}

/* Returns true if the position sums the adjoint of parameter p in one LOCAL. */
static bool has_sum(const KRemat *v, int p) {
    if (v->s->param[p].adjoint < 0) return false;
    return v->f->params[p].kind == KP_NUM || v->owner[p] == KOWN_ELEMENT;
}

static KRef recompute_fixed(void *ud, KRef r) { /* recomputes r, because its value in f may be out of scope here */
    KRemat *v = ud;
    const KIns *i = get_ins(v, r);
    if (!r || !i->a) return kremat_use(v, r);
    return kir_copy(v->g, i, recompute_fixed(v, i->a), recompute_fixed(v, i->b), recompute_fixed(v, i->c));
}

/* Returns whether the coordinates of i are inside of the array. */
static KRef test_inside(KRemat *v, const KIns *i) {
    KRef c[QS_MAX_RANK], all = 0;
    kadjindex_coords(v->f, i, c);
    for (int d = 0; d < v->f->params[i->imm].rank; d++) {
        KRef x =
            !c[d] || c[d] == KINDEX_ONE ? int_const(v, c[d] != 0) : kremat_cast(v, QS_I64, recompute_fixed(v, c[d]));
        KRef in = kremat_fold(v, K_INB, x, kremat_add(v, (KMake){K_DIM, .imm = i->imm << 8 | (uint64_t)d}), 0);
        all = all ? kremat_fold(v, K_AND, all, in, 0) : in;
    }
    return all;
}

/* Returns the element that the position owns.  It is read and stored for every position, even if a condition of f
 * prevents the access, as `if pos < n` does in a launch that is larger than the array. */
static KElement own_element(KRemat *v, int p) {
    const KIns *i = get_ins(v, v->element[p]);
    KRef guard = kadjindex_guard(i);
    return (KElement){.param = v->s->param[p].adjoint,
                      .at = kadjindex_packed(v->g, v->f, i, recompute_fixed, v),
                      .guard = guard || kadjindex_is_there(v->f, p) ? recompute_fixed(v, guard) : test_inside(v, i),
                      .d = kir_value_dtype((qs_dtype)v->f->params[p].dtype)};
}

static void begin_params(KRemat *v) {
    for (int p = 0; p < v->f->nparams; p++) {
        if (!has_sum(v, p)) continue;
        KSum *s = &v->param_sum[p];
        new_sum(v, s, kir_value_dtype((qs_dtype)v->f->params[p].dtype));
        if (v->f->params[p].kind == KP_NUM || !v->f->params[p].written) continue;
        KElement e = own_element(v, p);
        s->now = load_element(v, &e);
    }
}

static void end_element(KRemat *v, int p, KRef x) {
    KElement e = own_element(v, p);
    if (v->s->param[p].adds) x = kremat_fold(v, K_ADD, load_element(v, &e), x, 0);
    store_element(v, &e, x);
}

static void end_params(KRemat *v) {
    for (int p = 0; p < v->f->nparams; p++) {
        qs_dtype d = kir_value_dtype((qs_dtype)v->f->params[p].dtype);
        KRef x = has_sum(v, p) ? take_sum(v, &v->param_sum[p]) : 0;
        KElement e = {.param = v->s->param[p].adjoint, .at = int_const(v, 0), .d = d};
        if (has_sum(v, p) && v->owner[p] == KOWN_ELEMENT) end_element(v, p, x ? x : zero_const(v, d));
        else if (x) add_to_array(v, &e, false, x);
    }
}

qs_status kadjoint_make(const KGrading *s, KAdjoint *out) {
    KRemat v;
    begin(&v, s);
    begin_params(&v);
    kremat_frame(&v, 1, s->f->nins);
    make_sums(&v, 1, s->f->nins);
    back(&v, 1, s->f->nins);
    end_params(&v);
    kir_seal(v.g);
    *out = (KAdjoint){v.g, v.read, v.nread};
    return v.status;
}
