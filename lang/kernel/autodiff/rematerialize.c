/* rematerialize.c -- runs a position again, so that the backward pass has its values; see rematerialize.h. */
#include "lang/kernel/autodiff/rematerialize.h"
#include "lang/kernel/ir/kir.h"

#include <string.h>

enum {
    FEW_ITERATIONS = 64,
    NESTING = 512,
    KEPT_ITERATIONS = 256,
    KEPT_BYTES = 2048 /* per position */,
    UNDONE = 64 /* instructions */
};

/* -- building g ---------------------------------------------------------------------------------------------------- */
static void push_region(KRemat *v) {
    if (v->nregions == v->cap) {
        uint8_t *more = qarena_alloc(v->s->arena, qmem_size(v->cap, 2, 0));
        memcpy(more, v->closed, v->cap);
        v->closed = more, v->cap *= 2;
    }
    v->closed[v->nregions] = 0;
    v->open[v->nopen++] = v->nregions++;
}

KRef kremat_open(KRemat *v, KOp op, qs_dtype own, KRef a, KRef b, KRef c) {
    KRef r = kir_emit(v->g, (KMake){op, .own = own, .a = a, .b = b, .c = c});
    push_region(v);
    return r;
}

void kremat_else(KRemat *v) {
    v->closed[v->open[--v->nopen]] = 1;
    kir_flow(v->g, K_ELSE, 0);
    push_region(v);
}

void kremat_close(KRemat *v) {
    v->closed[v->open[--v->nopen]] = 1;
    kir_flow(v->g, K_END, 0);
}

static uint32_t current_region(const KRemat *v) { return v->open[v->nopen - 1]; }

void kremat_bind(KRemat *v, KRef r, KRef value) { v->map[r] = value, v->seen[r] = current_region(v); }

/* -- values -------------------------------------------------------------------------------------------------------- */
/* Returns the coordinate of the position.  In a serial kernel the backward pass visits the positions in reverse
 * order. */
static KRef position(KRemat *v, qs_dtype d, uint64_t axis) {
    KRef p = kir_emit(v->g, (KMake){K_POS, .own = d, .imm = axis});
    if (!v->f->serial) return p;
    KRef n = kir_emit(v->g, (KMake){K_PARAM, .own = QS_I64, .imm = (uint64_t)v->s->extent[axis]});
    return kir_op(v->g, K_SUB, kir_cast(v->g, d, kir_op(v->g, K_SUB, n, kir_int(v->g, 1))), p);
}

KRef kremat_pos(void *v, int axis) { return position(v, QS_I64, (uint64_t)axis); }

/* Computed from the block index only, so that plan.h finds it equal in all positions of the block. */
static KRef first_of_block(void *ud, int axis) {
    KRemat *v = ud;
    KRef n = kir_emit(v->g, (KMake){K_BLKIDX, .own = QS_I32, .imm = (uint64_t)axis});
    KRef extent = kir_emit(v->g, (KMake){K_BLKDIM, .own = QS_I32, .imm = (uint64_t)axis});
    return kir_op(v->g, K_MUL, kir_cast(v->g, QS_I64, n), kir_cast(v->g, QS_I64, extent));
}

static KRef given_value(KRemat *v, const KIns *i) {
    if (i->op == K_POS) return position(v, (qs_dtype)i->dtype, i->imm);
    return kir_copy(v->g, i, 0, 0, 0);
}

KRef kremat_use(KRemat *v, KRef r) {
    const KIns *i = &v->f->ins[r];
    if (!r) return 0;
    if (v->map[r] && !v->closed[v->seen[r]]) return v->map[r];
    if (v->box[r] && !v->closed[v->box_seen[r]]) return kir_get(v->g, v->box[r]);
    if (kir_is_given(i)) return given_value(v, i);
    if (v->status == QS_OK)
        v->status =
            qerr_at(v->s->ctx, QS_EINTERNAL, (Where){v->f->src, i->pos},
                    "kernel %s: its backward pass does not know %%%u (%s)", v->f->name->s, r, kir_ops[i->op].name);
    return kir_zero(v->g, (qs_dtype)i->dtype);
}

/* -- memory -------------------------------------------------------------------------------------------------------- */
static void note_read(KRemat *v, KRef at, KRef of) {
    if (v->nread == v->read_cap) {
        KTapeRead *more = qarena_alloc(v->s->arena, qmem_size(v->read_cap, 2 * sizeof *more, 0));
        memcpy(more, v->read, v->nread * sizeof *more);
        v->read = more, v->read_cap *= 2;
    }
    v->read[v->nread++] = (KTapeRead){at, of};
}

/* Returns the value that f read, from the tape.  Instructions of f (autodiff.c) advance the pointer. */
static KRef from_tape(KRemat *v, KRef r) {
    qs_dtype d = (qs_dtype)v->f->ins[r].dtype;
    int t = kautodiff_tape_of(v->f, v->s->common, r), p = v->s->tape[t];
    KRef at = kir_op(v->g, K_ADD, v->base[t], kir_get(v->g, v->local[v->s->pointer[t]]));
    KRef x = kir_emit(v->g, (KMake){K_LOAD, .own = (qs_dtype)v->g->params[p].dtype, .a = at, .imm = (uint64_t)p});
    note_read(v, x, r);
    return kir_cast(v->g, d, x);
}

static KRef read_again(KRemat *v, KRef r) {
    const KIns *i = &v->f->ins[r];
    if (v->s->act.kept[r] == KEPT_UNUSED) return kir_zero(v->g, (qs_dtype)i->dtype);
    if (i->op == K_ALOAD) return kir_emit(v->g, (KMake){K_ALOAD, .a = v->local[i->a], .b = kremat_use(v, i->b)});
    return kir_copy(v->g, i, kremat_use(v, i->a), kremat_use(v, i->b), 0);
}

/* Returns true for a private array that is declared in the current frame or in a region of it. */
static bool is_own(const KRemat *v, KRef array) {
    return !v->frame || (array > v->frame && array < v->f->regions[v->frame].end);
}

static void write_again(KRemat *v, const KIns *i) {
    if (v->f->ins[i->a].op != K_LARRAY || !is_own(v, i->a)) return;
    kir_emit(v->g, (KMake){K_ASTORE, .a = v->local[i->a], .b = kremat_use(v, i->b), .c = kremat_use(v, i->c)});
}

/* -- loops --------------------------------------------------------------------------------------------------------- */
KRef kremat_entry(KRemat *v, const KLoopState *l, int k) { return l->boxed ? kir_get(v->g, l->entry[k]) : l->entry[k]; }

static void keep_entry(KRemat *v, KLoopState *l) {
    for (int k = 0; k < l->n; k++) {
        KRef now = kir_get(v->g, v->local[l->state[k]]);
        if (l->boxed) kir_set(v->g, l->entry[k], now);
        else l->entry[k] = now;
    }
}

static void keep_history(KRemat *v, KLoopState *l, KRef iteration) {
    for (int k = 0; k < l->n; k++)
        if (l->history[k])
            kir_emit(v->g,
                     (KMake){K_ASTORE, .a = l->history[k], .b = iteration, .c = kir_get(v->g, v->local[l->state[k]])});
}

static void keep_after(KRemat *v, KLoopState *l) {
    for (int k = 0; k < l->n; k++)
        if (l->undo[k]) kir_set(v->g, l->after[k], kir_get(v->g, v->local[l->state[k]]));
}

static void count_iteration(KRemat *v, KLoopState *l) {
    KRef n = kir_op(v->g, K_ADD, kir_get(v->g, l->count), kir_int(v->g, 1));
    kir_set(v->g, l->count, n);
}

static void run_range(KRemat *v, KRef first, KRef last);

/* Runs the head of a LOOP, up to and including its BREAK. */
static void run_head(KRemat *v, KRef first, KRef last) {
    for (KRef r = first; r < last; r++) {
        const KIns *i = &v->f->ins[r];
        if (i->op == K_IF) kremat_open(v, K_IF, QS_B1, kremat_use(v, i->a), 0, 0);
        else if (i->op == K_BREAK) kir_flow(v->g, K_BREAK, 0);
        else if (i->op == K_END) kremat_close(v);
        else run_range(v, r, r + 1);
    }
}

static void run_loop(KRemat *v, KRef loop) {
    const KIns *i = &v->f->ins[loop];
    KLoopState *l = &v->loop[loop];
    bool boxing = v->boxing;
    if (boxing) keep_entry(v, l);
    v->boxing = false;
    if (i->op == K_FOR) {
        KRef a = kremat_use(v, i->a), b = kremat_use(v, i->b), c = kremat_use(v, i->c);
        KRef n = kremat_open(v, K_FOR, (qs_dtype)i->dtype, a, b, c);
        kremat_bind(v, loop, n);
        if (boxing && l->iterations >= 0) {
            KRef gone = kir_op(v->g, K_SUB, kir_cast(v->g, QS_I64, n), kir_cast(v->g, QS_I64, a));
            keep_history(v, l, kir_op(v->g, K_DIV, gone, kir_cast(v->g, QS_I64, c)));
        }
    } else {
        if (boxing) kir_set(v->g, l->count, kir_int(v->g, 0));
        kremat_open(v, K_LOOP, QS_B1, 0, 0, 0);
        run_head(v, loop + 1, v->s->body[loop]);
        if (boxing) count_iteration(v, l);
    }
    run_range(v, v->s->body[loop], v->f->regions[loop].end);
    kremat_close(v);
    if (boxing) keep_after(v, l);
    v->boxing = boxing;
}

/* -- values that are saved per iteration --------------------------------------------------------------------------- */
/* Returns the number of the current iteration, counted through all loops around r; 0: there is no loop. */
static KRef iteration_number(KRemat *v, KRef loop) {
    if (!loop) return 0;
    KRef outer = iteration_number(v, kir_loop_around(v->f, loop));
    const KIns *i = &v->f->ins[loop];
    KRef gone =
        kir_op(v->g, K_SUB, kir_cast(v->g, QS_I64, kremat_use(v, loop)), kir_cast(v->g, QS_I64, kremat_use(v, i->a)));
    KRef iteration = kir_op(v->g, K_DIV, gone, kir_cast(v->g, QS_I64, kremat_use(v, i->c)));
    if (!outer) return iteration;
    KRef iterations = kir_int(v->g, v->loop[loop].iterations);
    return kir_op(v->g, K_ADD, kir_op(v->g, K_MUL, outer, iterations), iteration);
}

static KRef saved_index(KRemat *v, KRef r) {
    return kir_cast(v->g, QS_I32, iteration_number(v, kir_loop_around(v->f, r)));
}

static int64_t saved_iterations(const KRemat *v, KRef r) { /* 0: too many, or unknown */
    int64_t n = 1;
    for (KRef l = kir_loop_around(v->f, r); l && n; l = kir_loop_around(v->f, l)) {
        int64_t iterations = v->f->ins[l].op == K_FOR ? v->loop[l].iterations : -1;
        n = iterations < 0 || n * iterations > KEPT_ITERATIONS ? 0 : n * iterations;
    }
    return n;
}

/* Returns true if `get` reads a LOCAL that is declared in the same iteration and changed by a loop within it. */
static bool sums_up(const KRemat *v, KRef local, KRef get) {
    KRef loop = kir_loop_around(v->f, get);
    for (KRef r = local; local > loop && r < get; r++)
        if (v->f->ins[r].op == K_SET && v->f->ins[r].a == local && kir_loop_around(v->f, r) != loop) return true;
    return false;
}

static bool is_expensive(const KRemat *v, KRef r, const bool *summed) {
    const KIns *i = &v->f->ins[r];
    if (!kir_loop_around(v->f, r) || !v->s->act.varies[r] || v->s->act.kept[r]) return false;
    return i->op == K_GET ? sums_up(v, i->a, r) : i->op == K_MATH && (summed[i->a] || summed[i->b]);
}

static void find_expensive(KRemat *v) {
    bool *summed = qarena_alloc(v->s->arena, v->f->nins); /* depends on a loop within the iteration */
    uint64_t bytes = 0;
    for (KRef r = 1; r < v->f->nins; r++) {
        const KIns *i = &v->f->ins[r];
        bool dear = is_expensive(v, r, summed);
        summed[r] = dear || (kir_ops[i->op].effect == KE_PURE && (summed[i->a] || summed[i->b] || summed[i->c]));
        uint64_t size = dear ? (uint64_t)saved_iterations(v, r) * qdtype_size((qs_dtype)i->dtype) : 0;
        if (!size || bytes + size > KEPT_BYTES) continue;
        bytes += size;
        v->kept[r] =
            kir_emit(v->g, (KMake){K_LARRAY, .own = (qs_dtype)i->dtype, .imm = (uint64_t)saved_iterations(v, r)});
    }
}

/* -- instructions -------------------------------------------------------------------------------------------------- */
static KRef compute(KRemat *v, KRef r) {
    const KIns *i = &v->f->ins[r];
    if (v->s->act.kept[r] == KEPT_ON_TAPE) return from_tape(v, r);
    if (v->kept[r] && v->frame) return kir_emit(v->g, (KMake){K_ALOAD, .a = v->kept[r], .b = saved_index(v, r)});
    switch ((KOp)i->op) {
    case K_GET: return kir_get(v->g, v->local[i->a]);
    case K_LOAD:
    case K_ALOAD: return read_again(v, r);
    default: break;
    }
    if (kir_is_given(i)) return given_value(v, i);
    return kir_copy(v->g, i, kremat_use(v, i->a), kremat_use(v, i->b), kremat_use(v, i->c));
}

static void new_array(KRemat *v, KRef r) {
    const KIns *i = &v->f->ins[r];
    v->local[r] = kir_emit(v->g, (KMake){K_LARRAY, .own = (qs_dtype)i->dtype, .imm = i->imm});
}

static void run_one(KRemat *v, KRef r) {
    const KIns *i = &v->f->ins[r];
    switch ((KOp)i->op) {
    case K_IF: kremat_open(v, K_IF, QS_B1, kremat_use(v, i->a), 0, 0); return;
    case K_ELSE: kremat_else(v); return;
    case K_END: kremat_close(v); return;
    case K_LOCAL: v->local[r] = kir_local(v->g, kremat_use(v, i->a)); return;
    case K_SET: kir_set(v->g, v->local[i->a], kremat_use(v, i->b)); return;
    case K_LARRAY:
        if (!v->boxing) new_array(v, r);
        return;
    case K_ASTORE: write_again(v, i); return;
    case K_ATOMIC:
        if (v->update) v->update(v, i);
        return;
    case K_STORE:
        if (v->write) v->write(v, i);
        return;
    case K_AATOMIC:
    case K_SHARED:
    case K_BARRIER: return;
    default: break;
    }
    kremat_bind(v, r, compute(v, r));
    if (v->kept[r] && !v->frame)
        kir_emit(v->g, (KMake){K_ASTORE, .a = v->kept[r], .b = saved_index(v, r), .c = v->map[r]});
    if (v->boxing && v->box[r]) kir_set(v->g, v->box[r], v->map[r]);
}

static void run_range(KRemat *v, KRef first, KRef last) {
    for (KRef r = first; r < last; r++) {
        v->g->pos = v->f->ins[r].pos;
        if (kir_is_loop(v->f->ins[r].op)) run_loop(v, r), r = v->f->regions[r].end;
        else run_one(v, r);
    }
}

/* -- frames -------------------------------------------------------------------------------------------------------- */
static KRef new_local(KRemat *v, qs_dtype d) { return kir_local(v->g, kir_zero(v->g, d)); }

static bool wants_box(const KIns *i) {
    if (!kir_has_result(i) || kir_is_given(i)) return false;
    return i->op != K_LOCAL && i->op != K_LARRAY && i->op != K_SHARED && !kir_is_loop(i->op);
}

static void make_room_for_loop(KRemat *v, KRef loop, bool inside) {
    KLoopState *l = &v->loop[loop];
    l->boxed = inside;
    if (v->f->ins[loop].op == K_LOOP) l->count = new_local(v, QS_I64);
    for (int k = 0; k < l->n; k++) {
        qs_dtype d = (qs_dtype)v->f->ins[l->state[k]].dtype;
        if (inside) l->entry[k] = new_local(v, d);
        if (l->undo[k]) l->after[k] = new_local(v, d);
        bool keeps = l->iterations > 0 && l->set[k];
        l->history[k] = keeps ? kir_emit(v->g, (KMake){K_LARRAY, .own = d, .imm = (uint64_t)l->iterations}) : 0;
    }
}

static void make_room(KRemat *v, KRef first, KRef last) {
    for (KRef r = first; r < last; r++) {
        const KIns *i = &v->f->ins[r];
        bool inside = v->f->regions[r].around != v->frame;
        v->box[r] = 0;
        if (i->op == K_LARRAY) new_array(v, r);
        if (kir_is_loop(i->op)) {
            make_room_for_loop(v, r, inside);
            r = v->f->regions[r].end;
        } else if (inside && wants_box(i))
            v->box[r] = new_local(v, (qs_dtype)i->dtype), v->box_seen[r] = current_region(v);
    }
}

void kremat_frame(KRemat *v, KRef first, KRef last) {
    make_room(v, first, last);
    v->boxing = true;
    run_range(v, first, last);
    v->boxing = false;
}

void kremat_iteration(KRemat *v, KRef first, KRef last) { run_range(v, first, last); }

/* -- analysis of loops --------------------------------------------------------------------------------------------- */
static int64_t small_iteration_count(const KFunc *f, KRef loop) {
    int64_t n = kautodiff_iterations(f, loop);
    return n > FEW_ITERATIONS || n == 0 ? -1 : n;
}

/* Returns true if r has the same value whenever the iteration is run: it is computed from values before the loop
 * and from the loop counter. */
static bool is_recomputable(const KRemat *v, KRef loop, KRef r, int *left) {
    const KIns *i = &v->f->ins[r];
    if (r <= loop) return true;
    if (--*left < 0 || kir_ops[i->op].effect != KE_PURE) return false;
    return is_recomputable(v, loop, i->a, left) && is_recomputable(v, loop, i->b, left) &&
           is_recomputable(v, loop, i->c, left);
}

/* Returns true if r is the value of the LOCAL at the beginning of the iteration: a read in this iteration, not
 * outside. */
static bool finds(const KFunc *f, KRef loop, KRef local, KRef r) {
    return r > loop && f->ins[r].op == K_GET && f->ins[r].a == local;
}

KRef kremat_step(const KFunc *f, KRef set) {
    const KIns *sum = &f->ins[f->ins[set].b];
    KRef local = f->ins[set].a, loop = kir_loop_around(f, set);
    if ((sum->op != K_ADD && sum->op != K_SUB) || !qdtype_is_int((qs_dtype)sum->dtype)) return 0;
    if (finds(f, loop, local, sum->a)) return sum->b;
    return sum->op == K_ADD && finds(f, loop, local, sum->b) ? sum->a : 0;
}

/* Returns the SET of the LOCAL that the backward pass can undo; 0: none.  It must be the only one in the loop, run
 * once per iteration, and add a recomputable value to the value at the beginning of the iteration. */
static KRef find_undo(const KRemat *v, KRef loop, KRef local) {
    KRef set = 0;
    for (KRef r = loop; r < v->f->regions[loop].end; r++) {
        if (v->f->ins[r].op != K_SET || v->f->ins[r].a != local) continue;
        if (set || v->f->regions[r].around != loop || r < v->s->body[loop]) return 0;
        set = r;
    }
    KRef step = set ? kremat_step(v->f, set) : 0;
    int left = UNDONE;
    return step && is_recomputable(v, loop, step, &left) ? set : 0;
}

static void find_state(KRemat *v, KRef loop) {
    KLoopState *l = &v->loop[loop];
    Arena *arena = v->s->arena;
    uint8_t *used = qarena_alloc(arena, v->f->nins);
    KRef end = v->f->regions[loop].end;
    for (KRef r = loop; r < end; r++) {
        const KIns *i = &v->f->ins[r];
        if ((i->op != K_GET && i->op != K_SET) || i->a > loop) continue;
        if (!used[i->a]) l->n++;
        used[i->a] |= i->op == K_SET ? 2 : 1;
        l->any_set |= i->op == K_SET;
    }
    size_t n = (size_t)l->n + 1;
    l->state = qarena_alloc(arena, qmem_size(n, sizeof(KRef), 0)),
    l->entry = qarena_alloc(arena, qmem_size(n, sizeof(KRef), 0));
    l->history = qarena_alloc(arena, qmem_size(n, sizeof(KRef), 0)), l->set = qarena_alloc(arena, n);
    l->undo = qarena_alloc(arena, qmem_size(n, sizeof(KRef), 0)),
    l->after = qarena_alloc(arena, qmem_size(n, sizeof(KRef), 0));
    int k = 0;
    for (KRef r = 1; r < loop; r++)
        if (used[r]) l->undo[k] = find_undo(v, loop, r), l->state[k] = r, l->set[k++] = used[r] & 2;
    l->iterations = small_iteration_count(v->f, loop);
}

void kremat_begin(KRemat *v, const KGrading *s) {
    size_t n = s->f->nins;
    Arena *a = s->arena;
    *v = (KRemat){.s = s, .f = s->f, .g = kautodiff_shell(s), .cap = 64, .read_cap = 16};
    v->map = qarena_alloc(a, qmem_size(n, sizeof(KRef), 0)),
    v->seen = qarena_alloc(a, qmem_size(n, sizeof(uint32_t), 0));
    v->box = qarena_alloc(a, qmem_size(n, sizeof(KRef), 0)),
    v->box_seen = qarena_alloc(a, qmem_size(n, sizeof(uint32_t), 0));
    v->local = qarena_alloc(a, qmem_size(n, sizeof(KRef), 0)),
    v->loop = qarena_alloc(a, qmem_size(n, sizeof *v->loop, 0));
    v->kept = qarena_alloc(a, qmem_size(n, sizeof(KRef), 0));
    v->closed = qarena_alloc(a, v->cap), v->open = qarena_alloc(a, NESTING * sizeof(uint32_t));
    v->read = qarena_alloc(a, qmem_size(v->read_cap, sizeof *v->read, 0));
    push_region(v);
    for (KRef r = 1; r < n; r++)
        if (kir_is_loop(s->f->ins[r].op)) find_state(v, r);
    if (!s->f->barrier && !s->f->shared && !s->f->serial) find_expensive(v);
    for (int t = 0; t < KTAPES; t++)
        if (s->pointer[t]) v->base[t] = kprimal_base(s, v->g, t, t < KKINDS ? kremat_pos : first_of_block, v);
}
