/* lower_stack.c -- replaces routines and their CALLs (lower_recursion.c) by a loop with a stack.
 *
 * The outermost routine and those inside it become one machine, at its CALL from outside:
 *
 *     LOOP                         state: which segment runs next; level: the number of open calls inside the machine
 *       IF state == 0 … END        a segment: code without calls, then the next state
 *       IF state == 1 … END
 *     END
 *
 * A region that contains a CALL, or a jump out of such a region, is split: its control flow becomes changes of the
 * state.  Other regions stay as they are inside a segment.  Values, LOCALs and LARRAYs that are used in another segment
 * than the one that computes them are in the frame of the call: elements of one LARRAY for each dtype.  A CALL saves
 * the state after it and opens the next frame.  A position that needs more frames than there are fails. */
#include "lang/kernel/lower/kernel/lower_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a segment ends. */
typedef enum { THEN_GO, THEN_BRANCH, THEN_ENTER, THEN_STEP, THEN_CALL, THEN_RETURN, THEN_END } Then;

/* The instructions from … to-1, and what happens at `to`.  next, other: the instructions where segments begin. */
typedef struct {
    KRef from, to, next, other;
    Then then;
} Segment;

enum { MOST_ELEMENTS = 1 << 19 };
#define NO_SLOT UINT32_MAX

typedef struct {
    Ctx *c;
    Arena *arena;
    int frames;
    const KFunc *f;
    KFunc *g;
    KRef *map;
    KRef first, last; /* the outermost routine: its LOOP and END */
    bool *split;      /* by opener of a region */
    Segment *segments;
    uint32_t nsegments;
    uint32_t *owner;  /* by instruction: 1 + the number of its segment */
    uint32_t *state;  /* by instruction where a segment begins: 1 + its number */
    uint32_t *slot;   /* by instruction: its number in the frame, NO_SLOT: none */
    uint32_t *loaded; /* by instruction: the last segment that has loaded it */
    uint32_t sizes[QS_NDTYPES];
    KRef stack[QS_NDTYPES], base[QS_NDTYPES], level, pc, callers, depth;
    uint64_t message, elements; /* elements of all frames */
    KRef crossing;              /* a value of another routine that is used */
    KRef shared;                /* a barrier or shared memory inside a routine */
} StackMachine;

static const KIns *get_ins(const StackMachine *m, KRef r) { return &m->f->ins[r]; }
static bool is_routine(const StackMachine *m, KRef r) {
    return get_ins(m, r)->op == K_LOOP && get_ins(m, r)->flag == KLOWER_ROUTINE;
}
static bool passes_values(const KIns *i) {
    return (i->op == K_LOCAL || i->op == K_LARRAY) && i->flag == KLOWER_ROUTINE;
}

static KRef end_of(const StackMachine *m, KRef r) {
    KRef end = m->f->regions[r].end;
    return get_ins(m, end)->op == K_ELSE ? m->f->regions[end].end : end;
}
static KRef routine_around(const StackMachine *m, KRef r) {
    do r = m->f->regions[r].around;
    while (r && !is_routine(m, r));
    return r;
}

/* -- segments ------------------------------------------------------------------------------------------------------ */
/* Splits the regions around r up to the region `up`.  Returns whether one was not split before. */
static bool split_around(StackMachine *m, KRef r, KRef up) {
    bool more = false;
    for (r = m->f->regions[r].around; r && r != up && !is_routine(m, r); r = m->f->regions[r].around) {
        KRef opener = kir_opener(m->f, r);
        more |= !m->split[opener], m->split[opener] = true;
    }
    return more;
}

static bool split_at(StackMachine *m, KRef r) {
    uint8_t op = get_ins(m, r)->op;
    if (op == K_CALL) return split_around(m, r, 0);
    if (op != K_BREAK && op != K_CONTINUE) return false;
    KRef loop = kir_jump_target(m->f, r);
    return m->split[loop] && split_around(m, r, loop);
}

static void find_split_regions(StackMachine *m) {
    bool more = true;
    while (more) {
        more = false;
        for (KRef r = m->first + 1; r < m->last; r++) more |= split_at(m, r);
    }
}

/* Returns the first instruction that runs at r or after it: r unless it only leads elsewhere. */
static KRef follow_jumps(const StackMachine *m, KRef r) {
    for (uint32_t steps = 0; steps < m->f->nins; steps++) {
        const KIns *i = get_ins(m, r);
        KRef opener = kir_opener(m->f, m->f->regions[r].opener), target = 0;
        if (i->op == K_BREAK || i->op == K_CONTINUE) target = kir_jump_target(m->f, r);
        if (i->op == K_ELSE) r = m->f->regions[r].end + 1;
        else if (i->op == K_BREAK) r = m->f->regions[target].end + 1;
        else if (i->op == K_CONTINUE) r = get_ins(m, target)->op == K_FOR ? m->f->regions[target].end : target + 1;
        else if (i->op != K_END || is_routine(m, opener) || get_ins(m, opener)->op == K_FOR) return r;
        else r = get_ins(m, opener)->op == K_LOOP ? opener + 1 : r + 1;
        if (i->op == K_CONTINUE && get_ins(m, target)->op == K_FOR) return r;
    }
    return r;
}

static void finish_segment(Segment *s, KRef to, Then then, KRef next, KRef other) {
    s->to = to, s->then = then, s->next = next, s->other = other;
}

static void scan_segment(StackMachine *m, Segment *s) {
    const KRegion *regions = m->f->regions;
    for (KRef r = s->from;; r++) {
        const KIns *i = get_ins(m, r);
        KRef opener = kir_opener(m->f, regions[r].opener);
        if (is_routine(m, r) || (kir_opens(i->op) && !m->split[r])) {
            r = end_of(m, r);
            continue;
        }
        switch (i->op) {
        case K_IF:
            return finish_segment(s, r, THEN_BRANCH, follow_jumps(m, r + 1), follow_jumps(m, regions[r].end + 1));
        case K_LOOP: return finish_segment(s, r, THEN_GO, follow_jumps(m, r + 1), 0);
        case K_FOR:
            return finish_segment(s, r, THEN_ENTER, follow_jumps(m, r + 1), follow_jumps(m, regions[r].end + 1));
        case K_CALL: return finish_segment(s, r, THEN_CALL, follow_jumps(m, r + 1), follow_jumps(m, i->a + 1));
        case K_RET: return finish_segment(s, r + 1, THEN_END, 0, 0);
        case K_END:
            if (is_routine(m, opener)) return finish_segment(s, r, THEN_RETURN, 0, 0);
            if (get_ins(m, opener)->op == K_FOR && r == s->from)
                return finish_segment(s, r, THEN_STEP, follow_jumps(m, opener + 1), follow_jumps(m, r + 1));
            return finish_segment(s, r, THEN_GO, follow_jumps(m, r), 0);
        case K_ELSE:
        case K_BREAK:
        case K_CONTINUE: return finish_segment(s, r, THEN_GO, follow_jumps(m, r), 0);
        default: break;
        }
    }
}

static void add_segment(StackMachine *m, KRef from) {
    if (!from || m->state[from]) return;
    m->segments[m->nsegments].from = from;
    m->state[from] = ++m->nsegments;
}

static int compare_segments(const void *a, const void *b) {
    const Segment *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static void find_segments(StackMachine *m) {
    add_segment(m, follow_jumps(m, m->first + 1));
    for (uint32_t k = 0; k < m->nsegments; k++) {
        scan_segment(m, &m->segments[k]);
        const Segment s = m->segments[k];
        add_segment(m, s.next), add_segment(m, s.other);
    }
    qsort(m->segments, m->nsegments, sizeof *m->segments, compare_segments); /* in the order of the program */
    for (uint32_t k = 0; k < m->nsegments; k++) {
        const Segment *s = &m->segments[k];
        m->state[s->from] = k + 1;
        for (KRef r = s->from; r < s->to; r++) {
            if (is_routine(m, r)) r = m->f->regions[r].end;
            else m->owner[r] = k + 1;
        }
    }
}

/* -- frames -------------------------------------------------------------------------------------------------------- */
static bool is_inside(const StackMachine *m, KRef r) { return r > m->first && r < m->last; }

/* Returns whether segment k has to get r, which it does not compute, from elsewhere. */
static bool is_foreign(const StackMachine *m, uint32_t k, KRef r) {
    return is_inside(m, r) && m->owner[r] != k + 1 && !passes_values(get_ins(m, r)) && !is_routine(m, r);
}

static void give_slot(StackMachine *m, KRef r) {
    const KIns *i = get_ins(m, r);
    if (m->slot[r] != NO_SLOT) return;
    m->slot[r] = m->sizes[i->dtype];
    m->sizes[i->dtype] += i->op == K_LARRAY ? (uint32_t)i->imm : 1;
}

static void note_use(StackMachine *m, uint32_t k, KRef user, KRef r) {
    if (!is_foreign(m, k, r) || kir_is_given(get_ins(m, r))) return;
    if (routine_around(m, user) != routine_around(m, r)) m->crossing = r;
    give_slot(m, r);
}

typedef void UseFn(StackMachine *, uint32_t segment, KRef user, KRef used);
static void each_use(StackMachine *m, uint32_t k, UseFn *fn) {
    const Segment *s = &m->segments[k];
    const KRef loop = s->then == THEN_STEP ? m->f->regions[s->to].opener : s->to;
    const KIns *last = get_ins(m, loop);
    for (KRef r = s->from; r < s->to; r++) {
        const KIns *i = get_ins(m, r);
        if (is_routine(m, r)) r = m->f->regions[r].end;
        else
            for (int n = 0; n < 3; n++) fn(m, k, r, i->arg[n]);
    }
    if (s->then == THEN_BRANCH || s->then == THEN_ENTER) fn(m, k, s->to, last->a);
    if (s->then == THEN_ENTER || s->then == THEN_STEP) fn(m, k, s->to, last->b), fn(m, k, s->to, last->c);
    if (s->then == THEN_STEP) fn(m, k, loop + 1, loop);
}

static void find_slots(StackMachine *m) {
    for (uint32_t k = 0; k < m->nsegments; k++) {
        const Segment *s = &m->segments[k];
        each_use(m, k, note_use);
        if (s->then == THEN_ENTER) give_slot(m, s->to);
    }
}

/* -- code ---------------------------------------------------------------------------------------------------------- */
static KRef i32(StackMachine *m, int64_t v) { return kir_const_int(m->g, QS_I32, v, m->g->pos); }

static KRef frame_index(StackMachine *m, KRef r, KRef offset) {
    qs_dtype d = (qs_dtype)get_ins(m, r)->dtype;
    KRef at = kir_op(m->g, K_ADD, m->base[d], i32(m, m->slot[r]));
    return offset ? kir_op(m->g, K_ADD, at, kir_cast(m->g, QS_I32, offset)) : at;
}

static KRef load_slot(StackMachine *m, KRef r, KRef offset) {
    KRef stack = m->stack[get_ins(m, r)->dtype];
    return kir_emit(m->g, (KMake){K_ALOAD, .a = stack, .b = frame_index(m, r, offset)});
}

static void store_slot(StackMachine *m, KRef r, KRef offset, KRef v) {
    KRef stack = m->stack[get_ins(m, r)->dtype];
    kir_emit(m->g, (KMake){K_ASTORE, .a = stack, .b = frame_index(m, r, offset), .c = v});
}

static void load_use(StackMachine *m, uint32_t k, KRef user, KRef r) {
    (void)user;
    const KIns *i = get_ins(m, r);
    if (!is_foreign(m, k, r) || m->loaded[r] == k + 1) return;
    m->loaded[r] = k + 1;
    if (kir_is_given(i)) kir_copy_mapped(m->g, m->f, m->map, r);
    else if (i->op != K_LOCAL && i->op != K_LARRAY) m->map[r] = load_slot(m, r, 0);
}

static void clear_array(StackMachine *m, KRef r) {
    KFunc *g = m->g;
    KRef last = i32(m, (int64_t)get_ins(m, r)->imm - 1);
    KRef k = kir_emit(g, (KMake){K_FOR, .own = QS_I32, .a = i32(m, 0), .b = last, .c = i32(m, 1)});
    store_slot(m, r, k, kir_zero(g, (qs_dtype)get_ins(m, r)->dtype));
    kir_flow(g, K_END, 0);
}

static void copy_instruction(StackMachine *m, KRef r) {
    const KIns *i = get_ins(m, r);
    bool framed = i->a && is_inside(m, i->a) && m->slot[i->a] != NO_SLOT;
    uint8_t of = get_ins(m, i->a)->op;
    m->g->pos = i->pos;
    if (passes_values(i)) return;
    if (i->op == K_LOCAL && m->slot[r] != NO_SLOT) store_slot(m, r, 0, m->map[i->a]);
    else if (i->op == K_LARRAY && m->slot[r] != NO_SLOT) clear_array(m, r);
    else if (framed && of == K_LOCAL && i->op == K_GET) m->map[r] = load_slot(m, i->a, 0);
    else if (framed && of == K_LOCAL && i->op == K_SET) store_slot(m, i->a, 0, m->map[i->b]);
    else if (framed && of == K_LARRAY && i->op == K_ALOAD) m->map[r] = load_slot(m, i->a, m->map[i->b]);
    else if (framed && of == K_LARRAY && i->op == K_ASTORE) store_slot(m, i->a, m->map[i->b], m->map[i->c]);
    else kir_copy_mapped(m->g, m->f, m->map, r);
    if (m->slot[r] != NO_SLOT && i->op != K_LOCAL && i->op != K_LARRAY) store_slot(m, r, 0, m->map[r]);
}

static KRef state_number(StackMachine *m, KRef at) { return i32(m, (int64_t)m->state[at] - 1); }
static void jump_to(StackMachine *m, KRef at) { kir_set(m->g, m->pc, state_number(m, at)); }
static void branch_to(StackMachine *m, KRef c, const Segment *s) {
    kir_set(m->g, m->pc, kir_select(m->g, c, state_number(m, s->next), state_number(m, s->other)));
}

/* Begins a FOR, or steps it if its counter is k.  A counter that would overflow has been the last one. */
static void step_loop(StackMachine *m, const Segment *s, KRef loop, KRef k) {
    KFunc *g = m->g;
    const KIns *i = get_ins(m, loop);
    KRef b = m->map[i->b], c = m->map[i->c], zero = kir_zero(g, (qs_dtype)i->dtype);
    KRef next = k ? kir_op(g, K_ADD, k, c) : m->map[i->a];
    KRef up = kir_op(g, K_LE, next, b), down = kir_op(g, K_LE, b, next);
    if (k) up = kir_op(g, K_AND, up, kir_op(g, K_LT, k, next)), down = kir_op(g, K_AND, down, kir_op(g, K_LT, next, k));
    up = kir_op(g, K_AND, up, kir_op(g, K_LT, zero, c)), down = kir_op(g, K_AND, down, kir_op(g, K_LT, c, zero));
    store_slot(m, loop, 0, next);
    branch_to(m, kir_op(g, K_OR, up, down), s);
}

static void enter_routine(StackMachine *m, const Segment *s) {
    KFunc *g = m->g;
    KRef next = kir_op(g, K_ADD, m->depth, i32(m, 1));
    kir_emit(g, (KMake){K_CHECK, .a = kir_op(g, K_LT, next, i32(m, m->frames)), .imm = m->message});
    kir_emit(g, (KMake){K_ASTORE, .a = m->callers, .b = m->depth, .c = state_number(m, s->next)});
    kir_set(g, m->level, next);
    jump_to(m, s->other);
}

static void return_to_caller(StackMachine *m) {
    KFunc *g = m->g;
    kir_flow(g, K_IF, kir_op(g, K_EQ, m->depth, i32(m, 0)));
    kir_flow(g, K_BREAK, 0);
    kir_flow(g, K_END, 0);
    KRef caller = kir_op(g, K_SUB, m->depth, i32(m, 1));
    kir_set(g, m->level, caller);
    kir_set(g, m->pc, kir_emit(g, (KMake){K_ALOAD, .a = m->callers, .b = caller}));
}

static void end_segment(StackMachine *m, uint32_t k) {
    const Segment *s = &m->segments[k];
    m->g->pos = get_ins(m, s->to)->pos;
    const KRef loop = s->then == THEN_STEP ? m->f->regions[s->to].opener : s->to;
    switch (s->then) {
    case THEN_GO: jump_to(m, s->next); break;
    case THEN_BRANCH: branch_to(m, m->map[get_ins(m, s->to)->a], s); break;
    case THEN_ENTER: step_loop(m, s, loop, 0); break;
    case THEN_STEP: step_loop(m, s, loop, m->map[loop]); break;
    case THEN_CALL: enter_routine(m, s); break;
    case THEN_RETURN: return_to_caller(m); break;
    case THEN_END: break;
    }
}

static void emit_segment(StackMachine *m, uint32_t k) {
    const Segment *s = &m->segments[k];
    m->g->pos = get_ins(m, s->from)->pos;
    kir_flow(m->g, K_IF, kir_op(m->g, K_EQ, kir_get(m->g, m->pc), i32(m, k)));
    m->depth = kir_get(m->g, m->level);
    for (int d = 0; d < QS_NDTYPES; d++)
        if (m->sizes[d]) m->base[d] = kir_op(m->g, K_MUL, m->depth, i32(m, m->sizes[d]));
    each_use(m, k, load_use);
    for (KRef r = s->from; r < s->to; r++) {
        if (is_routine(m, r)) r = m->f->regions[r].end;
        else copy_instruction(m, r);
    }
    end_segment(m, k);
    kir_flow(m->g, K_END, 0);
}

static KRef new_array(StackMachine *m, qs_dtype d, uint32_t size) {
    return kir_emit(m->g, (KMake){K_LARRAY, .own = d, .imm = (uint64_t)size * (uint64_t)m->frames});
}

static void emit_machine(StackMachine *m) {
    KFunc *g = m->g;
    for (KRef r = m->first + 1; r < m->last; r++) {
        const KIns *i = get_ins(m, r);
        g->pos = i->pos;
        if (i->op == K_BARRIER || i->op == K_SHARED) m->shared = r;
        if (!passes_values(i)) continue;
        if (i->op == K_LOCAL) m->map[r] = kir_local(g, kir_zero(g, (qs_dtype)i->dtype));
        else m->map[r] = kir_emit(g, (KMake){K_LARRAY, .own = (qs_dtype)i->dtype, .imm = i->imm});
    }
    for (int d = 0; d < QS_NDTYPES; d++) {
        if (m->sizes[d]) m->stack[d] = new_array(m, (qs_dtype)d, m->sizes[d]);
        m->elements += m->sizes[d];
    }
    m->callers = new_array(m, QS_I32, 1);
    m->level = kir_local(g, i32(m, 0));
    m->pc = kir_local(g, state_number(m, follow_jumps(m, m->first + 1)));
    kir_flow(g, K_LOOP, 0);
    for (uint32_t k = 0; k < m->nsegments; k++) emit_segment(m, k);
    kir_flow(g, K_END, 0);
}

/* -- the pass ------------------------------------------------------------------------------------------------------ */
static void *new_list(StackMachine *m, size_t size, int fill) {
    size_t bytes = qmem_size(m->f->nins, size, 0);
    return memset(qarena_alloc(m->arena, bytes), fill, bytes);
}

static void begin_machine(StackMachine *m, KRef first) {
    m->first = first, m->last = m->f->regions[first].end, m->nsegments = 0;
    memset(m->sizes, 0, sizeof m->sizes);
    find_split_regions(m);
    find_segments(m);
    find_slots(m);
}

static void copy_outside(StackMachine *m, KRef r) {
    KIns i = *get_ins(m, r);
    if (passes_values(&i)) i.flag = 0;
    m->map[r] = kir_copy(m->g, &i, m->map[i.a], m->map[i.b], m->map[i.c]);
}

static bool has_routine(const KFunc *f) {
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_LOOP && f->ins[r].flag == KLOWER_ROUTINE) return true;
    return false;
}

qs_status klstack_replace(Ctx *c, Arena *arena, KFunc *f, int frames, KFunc **out) {
    if (!has_routine(f)) return *out = f, QS_OK;
    char text[160];
    snprintf(text, sizeof text,
             "a function that calls itself has more than %d open calls (at position %%p); {!kernel recursion=N} in the "
             "kernel allows N",
             frames);
    uint64_t message = (uint64_t)kir_message(f, QS_EVALUE, text);
    StackMachine m = {.c = c, .arena = arena, .frames = frames, .f = f, .message = message};
    m.g = kir_shell(c, arena, f);
    m.map = new_list(&m, sizeof *m.map, 0), m.split = new_list(&m, sizeof *m.split, 0);
    m.segments = new_list(&m, sizeof *m.segments, 0), m.owner = new_list(&m, sizeof *m.owner, 0);
    m.state = new_list(&m, sizeof *m.state, 0), m.slot = new_list(&m, sizeof *m.slot, 0xff);
    m.loaded = new_list(&m, sizeof *m.loaded, 0);
    for (KRef r = 1; r < f->nins; r++) {
        if (f->ins[r].op == K_CALL) emit_machine(&m);
        else if (!is_routine(&m, r)) copy_outside(&m, r);
        else begin_machine(&m, r), r = m.last;
    }
    if (m.crossing)
        return qerr_at(c, QS_ETYPE, (Where){f->src, f->ins[m.crossing].pos},
                       "in kernel %s: a function that calls itself uses variables of another one", f->name->s);
    if (m.shared)
        return qerr_at(c, QS_ETYPE, (Where){f->src, f->ins[m.shared].pos},
                       "in kernel %s: a function that calls itself has no syncthreads and makes no shared memory",
                       f->name->s);
    if (m.elements * (uint64_t)frames > MOST_ELEMENTS)
        return qerr_at(c, QS_EVALUE, (Where){f->src, f->ins[1].pos},
                       "in kernel %s: recursion=%d needs too much memory for each position", f->name->s, frames);
    kir_seal(m.g);
    return *out = m.g, QS_OK;
}
