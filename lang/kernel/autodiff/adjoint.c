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

/* -- sums ---------------------------------------------------------------------------------------------------------- */
static void new_sum(KRemat *v, KSum *s, qs_dtype d) {
    *s = (KSum){.local = kir_local(v->g, kir_zero(v->g, d)), .loaded = true};
    v->touched[v->ntouched++] = s;
}

static void load_sum(KRemat *v, KSum *s) {
    if (s->loaded) return;
    s->now = s->then = kir_get(v->g, s->local), s->loaded = true;
    v->touched[v->ntouched++] = s;
}

static KRef read_sum(KRemat *v, KSum *s) { return load_sum(v, s), s->now; }

static KRef take_sum(KRemat *v, KSum *s) {
    KRef x = read_sum(v, s);
    return s->now = 0, x;
}

static void add_sum(KRemat *v, KSum *s, KRef x) {
    load_sum(v, s);
    s->now = kautodiff_add(v->g, s->now, x);
}

/* Stores all sums in their LOCALs, as required at the beginning and the end of a region of g. */
static void settle(KRemat *v) {
    for (int k = 0; k < v->ntouched; k++) {
        KSum *s = v->touched[k];
        if (s->now != s->then)
            kir_set(v->g, s->local, s->now ? s->now : kir_zero(v->g, (qs_dtype)v->g->ins[s->local].dtype));
        s->loaded = false;
    }
    v->ntouched = 0;
}

/* -- adjoints of values -------------------------------------------------------------------------------------------- */
static void give_adjoint(KRemat *v, KRef r, KRef x) {
    if (!x || !is_live(v, r)) return;
    if (v->crosses[r]) add_sum(v, &v->sum[r], x);
    else v->adjoint[r] = kautodiff_add(v->g, v->adjoint[r], x);
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

static KElement make_element(KRemat *v, const KIns *i, KRef guard) {
    KElement e = {.param = v->s->param[i->imm].adjoint};
    e.at = kadjindex_packed(v->g, v->f, i, kremat_value, v);
    e.guard = kremat_use(v, guard);
    e.d = kir_value_dtype((qs_dtype)v->s->params[e.param].dtype);
    return e;
}

static KRef load_element(KRemat *v, const KElement *e) {
    return kir_emit(v->g, (KMake){K_LOAD, .own = e->d, .a = e->at, .b = e->guard, .imm = (uint64_t)e->param});
}

static void store_element(KRemat *v, const KElement *e, KRef x) {
    kir_emit(v->g, (KMake){K_STORE, .a = e->at, .b = x, .c = e->guard, .imm = (uint64_t)e->param});
}

static void add_to_array(KRemat *v, const KElement *e, bool own, KRef x) {
    if (own || v->f->serial) store_element(v, e, kir_op(v->g, K_ADD, load_element(v, e), x));
    else
        kir_emit(v->g, (KMake){K_ATOMIC, .flag = KA_ADD, .a = e->at, .b = x, .c = e->guard, .imm = (uint64_t)e->param});
}

static bool has_adjoint(const KRemat *v, const KIns *i) { return v->s->param[i->imm].adjoint >= 0; }

/* Returns x, or 0 if the guard is false: then the element does not exist, and its sum must not reach an earlier
 * write. */
static KRef select_guarded(KRemat *v, KRef guard, KRef x) {
    return guard ? kir_select(v->g, kremat_use(v, guard), x, kir_zero(v->g, (qs_dtype)v->g->ins[x].dtype)) : x;
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
    store_element(v, &e, kir_zero(v->g, e.d));
}

static void back_update(KRemat *v, const KIns *i) {
    if (!has_adjoint(v, i) || !is_live(v, i->b)) return;
    KElement e = {0};
    bool own = v->owner[i->imm] == KOWN_ELEMENT;
    if (!own) e = make_element(v, i, i->c);
    KRef x = own ? read_sum(v, &v->param_sum[i->imm]) : load_element(v, &e);
    if (v->s->group[i->imm].kind) give_adjoint(v, i->b, select_guarded(v, i->c, kshared_back(v, i, e.at, x)));
    else give_adjoint(v, i->b, x && i->flag == KA_SUB ? kir_op(v->g, K_NEG, x, 0) : x);
}

/* -- private and shared arrays ------------------------------------------------------------------------------------- */
static KRef read_twin(KRemat *v, const KIns *i) {
    return kir_emit(v->g, (KMake){K_ALOAD, .a = v->twin[i->a], .b = kremat_use(v, i->b)});
}

static void write_twin(KRemat *v, const KIns *i, KRef x) {
    kir_emit(v->g, (KMake){K_ASTORE, .a = v->twin[i->a], .b = kremat_use(v, i->b), .c = x});
}

static void back_aload(KRemat *v, const KIns *i, KRef x) {
    if (!x || !is_live(v, i->a)) return;
    if (get_ins(v, i->a)->op == K_SHARED)
        kir_emit(v->g, (KMake){K_AATOMIC, .flag = KA_ADD, .a = v->twin[i->a], .b = kremat_use(v, i->b), .c = x});
    else write_twin(v, i, kir_op(v->g, K_ADD, read_twin(v, i), x));
}

static void back_astore(KRemat *v, const KIns *i) {
    if (!is_live(v, i->a)) return;
    if (is_live(v, i->c)) give_adjoint(v, i->c, read_twin(v, i));
    write_twin(v, i, kir_zero(v->g, (qs_dtype)get_ins(v, i->a)->dtype));
}

static void back_aatomic(KRemat *v, const KIns *i) {
    if (!is_live(v, i->a) || !is_live(v, i->c)) return;
    KRef x = read_twin(v, i);
    give_adjoint(v, i->c, i->flag == KA_SUB ? kir_op(v->g, K_NEG, x, 0) : x);
}

/* -- values -------------------------------------------------------------------------------------------------------- */
static void back_select(KRemat *v, const KIns *i, KRef x) {
    KRef c = kremat_use(v, i->a), none = kir_zero(v->g, (qs_dtype)i->dtype);
    if (is_live(v, i->b)) give_adjoint(v, i->b, kir_select(v->g, c, x, none));
    if (is_live(v, i->c)) give_adjoint(v, i->c, kir_select(v->g, c, none, x));
}

static void back_arithmetic(KRemat *v, KRef r, const KIns *i, KRef x) {
    KRef args[2] = {kremat_use(v, i->a), kremat_use(v, i->b)}, result = kremat_use(v, r);
    bool square = i->op == K_MUL && i->a == i->b; /* x*x: the adjoint is doubled, which several squares may share */
    if (square) x = kautodiff_add(v->g, x, x);
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
    case K_CAST: give_adjoint(v, i->a, kir_cast(v->g, (qs_dtype)get_ins(v, i->a)->dtype, x)); break;
    case K_SELECT: back_select(v, i, x); break;
    case K_ANALYTIC: back_analytic(v, i, x); break;
    default: back_arithmetic(v, r, i, x); break;
    }
}

static void back_one(KRemat *v, KRef r) {
    const KIns *i = get_ins(v, r);
    v->g->pos = i->pos;
    switch ((KOp)i->op) {
    case K_STORE: back_store(v, i); return;
    case K_ATOMIC: back_update(v, i); return;
    case K_ASTORE: back_astore(v, i); return;
    case K_AATOMIC: back_aatomic(v, i); return;
    case K_BARRIER: kir_flow(v->g, K_BARRIER, 0); return;
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
        if (i->op == K_LARRAY) v->twin[r] = kir_emit(v->g, (KMake){K_LARRAY, .own = d, .imm = i->imm});
        else if (i->op == K_SHARED) v->twin[r] = kir_emit(v->g, (KMake){K_SHARED, .own = d, .flag = 1, .imm = i->imm});
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
        if (all || !w->l->set[k]) v->local[w->l->state[k]] = kir_local(v->g, kremat_entry(v, w->l, k));
}

/* Sets the counter of a FOR to its value in iteration n, counted from 0. */
static void bind_counter(KRemat *v, const KWayBack *w, KRef n) {
    if (!w->a) return;
    KRef value =
        kir_op(v->g, K_ADD, kir_cast(v->g, QS_I64, w->a), kir_op(v->g, K_MUL, n, kir_cast(v->g, QS_I64, w->step)));
    kremat_bind(v, w->loop, kir_cast(v->g, w->d, value));
}

static void begin_with_history(KRemat *v, const KWayBack *w, KRef iteration) {
    for (int k = 0; k < w->l->n; k++) {
        if (!w->l->set[k]) continue;
        KRef then = kir_emit(v->g, (KMake){K_ALOAD, .a = w->l->history[k], .b = iteration});
        v->local[w->l->state[k]] = kir_local(v->g, then);
    }
}

/* A stack of checkpoints.  LARRAYs: iteration (turn) and, by state, the values at its beginning (slot).  LOCALs:
 * top: index of the last one; next: iteration of the next one; step: iterations between two. */
typedef struct {
    KRef top, iteration, *slot, next, step;
} KSlots;

static void put_slot(KRemat *v, const KWayBack *w, const KSlots *s, KRef iteration) {
    KRef top = kir_op(v->g, K_ADD, kir_get(v->g, s->top), kir_const_int(v->g, QS_I32, 1, v->g->pos));
    kir_set(v->g, s->top, top);
    kir_emit(v->g, (KMake){K_ASTORE, .a = s->iteration, .b = top, .c = iteration});
    for (int k = 0; k < w->l->n; k++)
        if (w->l->set[k])
            kir_emit(v->g, (KMake){K_ASTORE, .a = s->slot[k], .b = top, .c = kir_get(v->g, v->local[w->l->state[k]])});
}

static KSlots begin_slots(KRemat *v, const KWayBack *w) {
    KSlots s = {.slot = qarena_alloc(v->s->arena, qmem_size((size_t)w->l->n, sizeof(KRef), sizeof(KRef)))};
    s.iteration = kir_emit(v->g, (KMake){K_LARRAY, .own = QS_I64, .imm = SLOTS});
    for (int k = 0; k < w->l->n; k++)
        if (w->l->set[k])
            s.slot[k] =
                kir_emit(v->g, (KMake){K_LARRAY, .own = (qs_dtype)get_ins(v, w->l->state[k])->dtype, .imm = SLOTS});
    s.top = kir_local(v->g, kir_const_int(v->g, QS_I32, -1, v->g->pos));
    s.next = kir_local(v->g, kir_int(v->g, 0)), s.step = kir_local(v->g, kir_int(v->g, 0));
    begin_state(v, w, true);
    put_slot(v, w, &s, kir_int(v->g, 0));
    return s;
}

/* Chooses the distance between checkpoints from iteration `from` to `turn`: half of the free slots are used now,
 * the others remain for the iterations in between. */
static void choose_step(KRemat *v, const KSlots *s, KRef from, KRef iteration) {
    KRef free_slots = kir_op(v->g, K_SUB, kir_const_int(v->g, QS_I32, SLOTS - 1, v->g->pos), kir_get(v->g, s->top));
    KRef room = kir_cast(v->g, QS_I64, free_slots), ahead = kir_op(v->g, K_SUB, iteration, from),
         one = kir_int(v->g, 1);
    KRef half = kir_op(v->g, K_DIV, kir_op(v->g, K_ADD, room, one), kir_int(v->g, 2));
    KRef wide = kir_op(v->g, K_ADD, kir_op(v->g, K_DIV, ahead, kir_op(v->g, K_ADD, half, one)), one);
    KRef step = kir_select(v->g, kir_op(v->g, K_LE, ahead, room), one, wide);
    kir_set(v->g, s->step, step);
    kir_set(v->g, s->next, kir_op(v->g, K_ADD, from, step));
}

static void place_checkpoint(KRemat *v, const KWayBack *w, const KSlots *s, KRef iteration) {
    KRef due = kir_op(v->g, K_EQ, iteration, kir_get(v->g, s->next));
    KRef has_room = kir_op(v->g, K_LT, kir_get(v->g, s->top), kir_const_int(v->g, QS_I32, SLOTS - 1, v->g->pos));
    kremat_open(v, K_IF, QS_B1, kir_op(v->g, K_AND, due, has_room), 0, 0);
    put_slot(v, w, s, iteration);
    kir_set(v->g, s->next, kir_op(v->g, K_ADD, iteration, kir_get(v->g, s->step)));
    kremat_close(v);
}

/* Restores the LOCALs as of the beginning of iteration `turn`: runs the loop from the last checkpoint. */
static void return_to(KRemat *v, const KWayBack *w, const KSlots *s, KRef iteration) {
    KRef top = kir_get(v->g, s->top), from = kir_emit(v->g, (KMake){K_ALOAD, .a = s->iteration, .b = top}),
         one = kir_int(v->g, 1);
    for (int k = 0; k < w->l->n; k++)
        if (w->l->set[k])
            v->local[w->l->state[k]] = kir_local(v->g, kir_emit(v->g, (KMake){K_ALOAD, .a = s->slot[k], .b = top}));
    begin_state(v, w, false);
    choose_step(v, s, from, iteration);
    KRef frame = v->frame;
    v->frame = w->loop;
    KRef n = kremat_open(v, K_FOR, QS_I64, from, kir_op(v->g, K_SUB, iteration, one), one);
    place_checkpoint(v, w, s, n);
    bind_counter(v, w, n);
    kremat_iteration(v, v->s->body[w->loop], v->f->regions[w->loop].end);
    kremat_close(v);
    v->frame = frame;
    KRef now = kir_get(v->g, s->top), last = kir_emit(v->g, (KMake){K_ALOAD, .a = s->iteration, .b = now});
    kremat_open(v, K_IF, QS_B1, kir_op(v->g, K_EQ, last, iteration), 0, 0);
    kir_set(v->g, s->top, kir_op(v->g, K_SUB, now, kir_const_int(v->g, QS_I32, 1, v->g->pos)));
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
        KRef found = kir_op(v->g, op, kir_get(v->g, w->l->after[k]), step);
        kir_set(v->g, w->l->after[k], found);
        v->local[w->l->state[k]] = kir_local(v->g, found);
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
    KRef a64 = kir_cast(v->g, QS_I64, a), b64 = kir_cast(v->g, QS_I64, b), step64 = kir_cast(v->g, QS_I64, step);
    KRef none = kir_int(v->g, 0), last = b;
    if (!by_one) {
        KRef up = kir_op(v->g, K_LT, none, step64), some = kir_op(v->g, K_NE, step64, none);
        KRef before = kir_op(v->g, K_LE, a64, b64), behind = kir_op(v->g, K_LE, b64, a64);
        KRef reached = kir_select(v->g, up, before, behind);
        kremat_open(v, K_IF, QS_B1, kir_op(v->g, K_AND, some, reached), 0, 0);
        KRef whole = kir_op(v->g, K_DIV, kir_op(v->g, K_SUB, b64, a64), step64);
        last = kir_cast(v->g, w->d, kir_op(v->g, K_ADD, a64, kir_op(v->g, K_MUL, whole, step64)));
    }
    KSlots slots = needs_slots(w->l) ? begin_slots(v, w) : (KSlots){0};
    KRef n = kremat_open(v, K_FOR, w->d, last, a, kir_op(v->g, K_NEG, step, 0));
    KRef gone = kir_op(v->g, K_SUB, kir_cast(v->g, QS_I64, n), a64);
    KRef iteration = kir_op(v->g, K_DIV, gone, step64);
    if (c == -1) iteration = kir_op(v->g, K_NEG, gone, 0);
    begin_iteration(v, w, &slots, iteration);
    kremat_bind(v, w->loop, n);
    undo_steps(v, w);
    back_iteration(v, w);
    kremat_close(v);
    if (!by_one) kremat_close(v);
}

static void back_while(KRemat *v, KWayBack *w) {
    KRef count = kir_get(v->g, w->l->count), one = kir_int(v->g, 1);
    KSlots slots = w->l->any_set ? begin_slots(v, w) : (KSlots){0};
    KRef n = kremat_open(v, K_FOR, QS_I64, kir_op(v->g, K_SUB, count, one), kir_int(v->g, 0), kir_int(v->g, -1));
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
        v->g->pos = get_ins(v, begin)->pos;
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
            !c[d] || c[d] == KINDEX_ONE ? kir_int(v->g, c[d] != 0) : kir_cast(v->g, QS_I64, recompute_fixed(v, c[d]));
        KRef in = kir_op(v->g, K_INB, x, kir_emit(v->g, (KMake){K_DIM, .imm = i->imm << 8 | (uint64_t)d}));
        all = all ? kir_op(v->g, K_AND, all, in) : in;
    }
    return all;
}

/* Returns the element that the position owns.  It is read and stored for every position, even if a condition of f
 * prevents the access, as `if pos < n` does in a launch that is larger than the array. */
static KElement own_element(KRemat *v, int p) {
    const KIns *i = get_ins(v, v->element[p]);
    KRef guard = kir_guard(i);
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
    if (v->s->param[p].adds) x = kir_op(v->g, K_ADD, load_element(v, &e), x);
    store_element(v, &e, x);
}

static void end_params(KRemat *v) {
    for (int p = 0; p < v->f->nparams; p++) {
        qs_dtype d = kir_value_dtype((qs_dtype)v->f->params[p].dtype);
        KRef x = has_sum(v, p) ? take_sum(v, &v->param_sum[p]) : 0;
        KElement e = {.param = v->s->param[p].adjoint, .at = kir_int(v->g, 0), .d = d};
        if (has_sum(v, p) && v->owner[p] == KOWN_ELEMENT) end_element(v, p, x ? x : kir_zero(v->g, d));
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
