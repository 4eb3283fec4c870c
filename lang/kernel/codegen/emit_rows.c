/* emit_rows.c -- the loops over the positions of a block, and what each of them does for a piece of the kernel.
 *
 *     rows          border | interior | border along the last axis, in index order; the interior without index tests
 *     strips        a loop that neighbours share goes around 32 of them: a plan (plan.h) of pieces for one strip
 *     rows of bytes whole vectors, then the last one of the row once more
 *     patches       some rows of the interior at once, where neighbours read the same elements: each is loaded once
 *     edges         both ends of some rows, from copies of what is around them, and into such: without index tests, too
 *     planes        the two last axes as one loop, where memory cannot tell them apart and rows are short
 *
 * The innermost loop, over the last axis, is what LLVM vectorises.  Unless the launch is serial its turns are declared
 * independent (access groups), which is what a parallel launch means; so no overlap is tested at run time.  Memory that
 * positions would share although each has its own (private arrays) stays outside that promise.  LLVM takes the promise
 * to hold within a turn, too, and moves strided stores past later loads; so it is made only where no access follows a
 * store that it might meet.  Where several positions meet, `op=` is an ATOMIC; a kernel that only accumulates into a
 * small array gets copies of it, each for a part of the launch (devices/private_copies.h).
 *
 * Patches.  Where neighbours read the same elements (stencils), four rows of the interior are computed at once, two
 * where there are only 16 vector registers.  Each element is loaded once for all of them, and their sums, whose terms
 * wait for each other, stand side by side.  A loop's instructions are printed row by row in turn, because LLVM keeps
 * the order of long sums, and no processor looks far enough ahead to find the second sum behind the first.  A box of
 * 5x5 takes 2.0 instead of 2.8 ms with two rows and 1.85 with four, and costs the compiler twice the time.  Patches lap
 * over each other where extents are no multiples; so what is read and what is written must be apart in memory, which is
 * asked at run time.
 *
 * Short constant loops inside are unrolled before the vectoriser looks (kplan_unrolls). */
#include "devices/native.h"
#include "lang/kernel/codegen/emit_cpu.h"
#include "lang/kernel/ir/affine.h"

#include <stdio.h>
#include <string.h>

/* -- loops over positions ------------------------------------------------------------------------------------------ */
BlockAxis rows_open_axis(Emit *e, Opnd lo, Opnd hi) {
    BlockAxis a = {.head = emit_new(e), .next = emit_new(e), .out = emit_new(e), .x1 = emit_new(e)};
    uint32_t from = emit_new(e), body = emit_new(e);
    emit_label(e, from);
    emit_label(e, a.head);
    a.x = emit_def(e, "phi i64 [ %s, %%L%u ], [ %%t%u, %%L%u ]", lo.s, from, a.x1, a.next);
    emit_branch(e, emit_def(e, "icmp slt i64 %s, %s", a.x.s, hi.s), body, a.out);
    emit_label(e, body);
    return a;
}

void rows_close_axis(Emit *e, const BlockAxis *a, const char *properties) {
    emit_label(e, a->next);
    emit_put(e, "%%t%u = add nuw nsw i64 %s, 1", a->x1, a->x.s);
    if (*properties) emit_put(e, "br label %%L%u, !llvm.loop !%u", a->head, emit_loop_metadata(e, properties));
    else emit_put(e, "br label %%L%u", a->head);
    e->dead = true;
    emit_label(e, a->out);
}

/* Values from other pieces that this one needs: read from their place, or computed again. */
static void fetch(Cpu *k, KRef r) {
    Emit *e = k->e;
    const KIns *i = &e->f->ins[r];
    if (!r || i->op == K_LOCAL || i->op == K_LARRAY || i->op == K_SHARED || emit_known(e, r)) return;
    if (k->plan->home[r] == KH_KEPT) {
        emit_set(e, r, emit_load(e, (qs_dtype)i->dtype, "", cpu_kept_place(k, r)));
        return;
    }
    fetch(k, i->a), fetch(k, i->b), fetch(k, i->c);
    emit_ins(e, r);
}

static bool foreign(const KPlan *plan, KRef r, KRef first, KRef last) {
    return r && (r < first || r >= last) && plan->cls[r] == KC_PIECE;
}

static void fetch_all(Cpu *k, KRef first, KRef last) {
    for (KRef r = first; r < last; r++) {
        const KIns *i = &k->e->f->ins[r];
        if (k->plan->cls[r] != KC_PIECE) continue;
        if (foreign(k->plan, i->a, first, last)) fetch(k, i->a);
        if (foreign(k->plan, i->b, first, last)) fetch(k, i->b);
        if (foreign(k->plan, i->c, first, last)) fetch(k, i->c);
    }
}

static void keep(Cpu *k, KRef r) {
    Emit *e = k->e;
    const KIns *i = &e->f->ins[r];
    if (k->plan->home[r] != KH_KEPT || i->op == K_LOCAL || i->op == K_LARRAY) return;
    emit_store(e, (qs_dtype)i->dtype, "", cpu_kept_place(k, r), emit_arg(e, r));
}

static void skip_the_dead(Cpu *k) {
    Emit *e = k->e;
    uint32_t on = emit_new(e);
    Opnd alive = emit_def(e, "load i8, ptr %s", cpu_alive_place(k).ptr.s);
    emit_branch(e, emit_def(e, "icmp ne i8 %s, 0", alive.s), on, e->item_end);
    emit_label(e, on);
}

/* Kept LOCALs are copied into values for the time of a piece: what is set under a condition would be a conditional
 * store. */
static void copy_in(Cpu *k, KRef local, bool declared) {
    Emit *e = k->e;
    qs_dtype d = (qs_dtype)e->f->ins[local].dtype;
    if (k->copied[local]) return;
    if (!k->copy[local]) {
        Spot s = cpu_enter_entry(e);
        k->copy[local] = emit_number(emit_def(e, "alloca %s", emit_mem_type(e, d)));
        cpu_leave_entry(e, s);
    }
    if (!declared)
        emit_store(e, d, "", (Place){emit_tmp(k->copy[local]), "", 0}, emit_load(e, d, "", cpu_kept_place(k, local)));
    k->copied[local] = 1;
}

static bool is_kept_local(const Cpu *k, KRef r) { return k->e->f->ins[r].op == K_LOCAL && cpu_is_kept(k, r); }

static void copy_all_in(Cpu *k, KRef first, KRef last) {
    for (KRef r = first; r < last; r++) {
        const KIns *i = &k->e->f->ins[r];
        if (k->plan->cls[r] != KC_PIECE) continue;
        if (is_kept_local(k, r)) copy_in(k, r, true);
        if ((i->op == K_GET || i->op == K_SET) && is_kept_local(k, i->a)) copy_in(k, i->a, false);
    }
}

static void copy_all_out(Cpu *k, KRef first, KRef last) {
    Emit *e = k->e;
    for (KRef r = first; r < last; r++) {
        const KIns *i = &e->f->ins[r];
        KRef local = i->op == K_SET ? i->a : r;
        if (k->plan->cls[r] != KC_PIECE || !is_kept_local(k, local) || !k->copied[local]) continue;
        qs_dtype d = (qs_dtype)e->f->ins[local].dtype;
        emit_store(e, d, "", cpu_kept_place(k, local), emit_load(e, d, "", (Place){emit_tmp(k->copy[local]), "", 0}));
        k->copied[local] = 0; /* once is enough */
    }
    memset(k->copied, 0, e->f->nins);
}

static void emit_piece(Cpu *k, KRef first, KRef last) {
    Emit *e = k->e;
    if (!k->plan) {
        emit_range(e, first, last);
        return;
    }
    if (k->plan->mortal) skip_the_dead(k);
    fetch_all(k, first, last);
    copy_all_in(k, first, last);
    for (KRef r = first; r < last; r++) {
        if (k->plan->cls[r] != KC_PIECE) continue;
        emit_ins(e, r);
        keep(k, r);
    }
    copy_all_out(k, first, last);
}

/* A loop over positions.  Where the positions of a block work together it counts from the block's first one: so LLVM
 * sees what BLKPOS can be. */
static BlockAxis open_positions(Cpu *k, int a, Opnd lo, Opnd hi) {
    Emit *e = k->e;
    BlockAxis axis = k->plan ? rows_open_axis(e, emit_opnd("0"), k->span[a]) : rows_open_axis(e, lo, hi);
    e->blkpos[a] = axis.x;
    e->pos[a] = k->plan ? emit_def(e, "add nuw nsw i64 %s, %s", lo.s, axis.x.s) : axis.x;
    return axis;
}

/* Where in the block this is: what BLKPOS and kept places need. */
static void place_in_block(Cpu *k) {
    Emit *e = k->e;
    if (!k->blocks) return;
    for (int a = 0; a < e->f->rank; a++) { /* of all axes here, where the epoch is that of the piece */
        if (!k->plan) e->blkpos[a] = emit_def(e, "sub nsw i64 %s, %s", e->pos[a].s, k->lo[a].s);
        k->item =
            a ? emit_def(e, "add i64 %s, %s", emit_def(e, "mul i64 %s, %s", k->item.s, k->block[a].s).s, e->blkpos[a].s)
              : e->blkpos[0];
    }
}

/* LLVM believes that turns declared independent have nothing to keep in order within a turn either, and moves strided
 * stores down past what follows.  So the promise is made only where no access follows a store that it might touch.
 * (Elsewhere LLVM finds out for itself, with tests at run time.) */
typedef enum { NO_MEMORY, ARRAY_MEMORY, BLOCK_MEMORY } Memory;

static Memory memory_of(const KFunc *f, const KIns *i) { /* private memory is not part of the promise */
    if (i->op == K_LOAD || i->op == K_STORE || i->op == K_ATOMIC) return ARRAY_MEMORY;
    bool inner = i->op == K_ALOAD || i->op == K_ASTORE || i->op == K_AATOMIC;
    return inner && f->ins[i->a].op == K_SHARED ? BLOCK_MEMORY : NO_MEMORY;
}

/* Two accesses of one position never meet.  Different parameters may be one array. */
static bool apart(const KFunc *f, const KIns *a, const KIns *b) {
    Affine x, y;
    Memory m = memory_of(f, a);
    if (m != memory_of(f, b)) return true;
    if (m == BLOCK_MEMORY && a->a != b->a) return true;
    if (m == ARRAY_MEMORY && a->imm != b->imm) return false;
    bool block = m == BLOCK_MEMORY;
    return kaffine_of(f, block ? a->b : a->a, &x) && kaffine_of(f, block ? b->b : b->a, &y) && kaffine_differ(&x, &y);
}

static bool independent(const KFunc *f, KRef first, KRef last) {
    int depth = 0, loops = 0;
    bool loop[EMIT_MAX_LOOPS];
    for (KRef r = first; r < last; r++) {
        const KIns *i = &f->ins[r];
        if (i->op == K_ELSE || i->op == K_END) loops -= loop[--depth];
        if (i->op == K_IF || i->op == K_ELSE || i->op == K_LOOP || i->op == K_FOR)
            loops += loop[depth++] = i->op == K_LOOP || i->op == K_FOR;
        Memory m = memory_of(f, i);
        if (i->op == K_ATOMIC || i->op == K_AATOMIC) return false;
        if (!m || (i->op != K_STORE && i->op != K_ASTORE)) continue;
        if (loops) return false; /* the next turn's accesses follow it */
        for (KRef s = r + 1; s < last; s++)
            if (memory_of(f, &f->ins[s]) && !apart(f, i, &f->ins[s])) return false;
    }
    return !f->serial;
}

static const char group_tail[] = ", !llvm.access.group !0";

static bool has_atomics(const KFunc *f, KRef first, KRef last) {
    for (KRef r = first; r < last; r++)
        if (f->ins[r].op == K_ATOMIC) return true;
    return false;
}

/* Of a short loop of known length: to become vectors, and then to go. */
static const char vector_only[] = ", !4, !5, !6", vector_parallel[] = ", !1, !4, !5, !6";

enum { FEW = 32 /* instructions */ };

/* The steps of a function wait for each other: two vectors at a time fill the gaps, if what else there is leaves room
 * in the registers. */
static bool has_gaps(const Emit *e, KRef first, KRef last) {
    int n = 0;
    bool any = false;
    for (KRef r = first; r < last; r++) {
        const KIns *i = &e->f->ins[r];
        n += i->op != K_CONST;
        any |= i->op == K_MATH && emit_math_inlines(e, (MathFn)i->flag, (qs_dtype)i->dtype);
    }
    return any && n <= FEW;
}

/* The innermost loop: positions lo … hi-1 of the last axis.  short_row: not worth LLVM's time. */
static void each_of_row(Cpu *k, Opnd lo, Opnd hi, KRef first, KRef last, EmitLoops loops) {
    Emit *e = k->e;
    bool short_row = loops != LOOPS_FAST, free_order = !short_row && independent(e->f, first, last);
    e->now = ++k->epochs;
    e->group = free_order ? group_tail : "";
    e->loops = loops;
    BlockAxis axis = open_positions(k, e->f->rank - 1, lo, hi);
    place_in_block(k);
    e->item_end = axis.next;
    emit_piece(k, first, last);
    bool counted = k->plan && e->f->fixed_block;
    if (short_row) rows_close_axis(e, &axis, ", !3, !4");
    else if (counted) rows_close_axis(e, &axis, free_order ? vector_parallel : vector_only);
    else rows_close_axis(e, &axis, !free_order ? "" : has_gaps(e, first, last) ? ", !1, !11" : ", !1");
    e->now = 0;
}

/* A piece for the positions of a strip, which begins at k->strip_lo. */
static void each_of_strip(Cpu *k, KRef first, KRef last) {
    Emit *e = k->e;
    bool abreast = k->plan->abreast, free_order = abreast || independent(e->f, first, last);
    e->now = ++k->epochs;
    e->group = free_order ? group_tail : "", e->updates = abreast ? group_tail : "";
    e->loops = k->strip_loops;
    BlockAxis axis = rows_open_axis(e, emit_opnd("0"), emit_opnd("%d", k->strip));
    k->item = axis.x;
    e->pos[e->f->rank - 1] = emit_def(e, "add nuw nsw i64 %s, %s", k->strip_lo.s, axis.x.s);
    e->item_end = axis.next;
    emit_piece(k, first, last);
    bool one_by_one = !abreast && has_atomics(e->f, first, last);
    rows_close_axis(e, &axis, one_by_one ? ", !3, !4" : free_order ? vector_parallel : vector_only);
    e->now = 0, e->updates = "";
}

Opnd rows_min(Emit *e, Opnd a, Opnd b) {
    emit_declare(e, "declare i64 @llvm.smin.i64(i64, i64)");
    return emit_def(e, "call i64 @llvm.smin.i64(i64 %s, i64 %s)", a.s, b.s);
}

static Opnd max64(Emit *e, Opnd a, Opnd b) {
    emit_declare(e, "declare i64 @llvm.smax.i64(i64, i64)");
    return emit_def(e, "call i64 @llvm.smax.i64(i64 %s, i64 %s)", a.s, b.s);
}

/* i1: the box is valid and covers this position of the first `axes` axes. */
static Opnd axes_in_box(Cpu *k, const KBox *box, int axes) {
    Emit *e = k->e;
    Opnd in = box->ok ? emit_arg(e, box->ok) : emit_opnd("true");
    for (int a = 0; a < axes; a++) {
        if (!box->lo[a]) continue;
        Opnd low = emit_def(e, "icmp sle i64 %s, %s", emit_arg(e, box->lo[a]).s, e->pos[a].s);
        Opnd high = emit_def(e, "icmp slt i64 %s, %s", e->pos[a].s, emit_arg(e, box->hi[a]).s);
        in = emit_def(e, "and i1 %s, %s", in.s, emit_def(e, "and i1 %s, %s", low.s, high.s).s);
    }
    return in;
}

/* Enough for two vectors of float32: LLVM sees a short loop of known length and turns it into straight vector
 * code. */
static int strip_length(const KTarget *t) { return strchr(t->mvec, 'e') ? 32 : strchr(t->mvec, 'd') ? 16 : 8; }

/* Addresses of an array's first byte and of the byte after its last. */
static void address_range(Emit *e, int param, Opnd *lo, Opnd *hi) {
    const KParam *p = &e->f->params[param];
    Opnd first = emit_def(e, "ptrtoint ptr %s to i64", e->param(e, param).s), low = emit_opnd("0"), high = low;
    for (int a = 0; a < p->rank; a++) {
        Opnd steps = emit_def(e, "sub nsw i64 %s, 1", e->extent(e, param, a, false).s);
        Opnd far = emit_def(e, "mul i64 %s, %s", steps.s, e->extent(e, param, a, true).s);
        low = emit_def(e, "add i64 %s, %s", low.s, rows_min(e, far, emit_opnd("0")).s);
        high = emit_def(e, "add i64 %s, %s", high.s, max64(e, far, emit_opnd("0")).s);
    }
    size_t size = qdtype_size((qs_dtype)p->dtype);
    *lo = emit_def(e, "add i64 %s, %s", first.s, emit_def(e, "mul i64 %s, %zu", low.s, size).s);
    high = emit_def(e, "mul i64 %s, %zu", emit_def(e, "add i64 %s, 1", high.s).s, size);
    *hi = emit_def(e, "add i64 %s, %s", first.s, high.s);
}

static bool is_read(const Emit *e, int p) { return e->f->params[p].kind == KP_ARRAY && e->f->params[p].read; }

static bool is_copied(const Emit *e, int p) { /* to a pad, of which it is read */
    const KEdge *s = &e->split->edge;
    for (int i = 0; i < s->npads; i++)
        if (s->pad[i].param == p) return !s->pad[i].sums;
    return false;
}

/* i1: of arrays for which `asks` holds nothing is written.  Two parameters may be one array. */
static Opnd stay_as_they_are(Emit *e, bool asks(const Emit *e, int p)) {
    Opnd yes = emit_opnd("true"), lo[2], hi[2];
    Spot spot = cpu_enter_entry(e);
    for (int w = 0; w < e->f->nparams; w++)
        for (int r = 0; e->f->params[w].written && r < e->f->nparams; r++) {
            if (!asks(e, r)) continue;
            if (r == w) yes = emit_opnd("false");
            if (r == w) continue;
            address_range(e, w, &lo[0], &hi[0]), address_range(e, r, &lo[1], &hi[1]);
            Opnd before = emit_def(e, "icmp ule i64 %s, %s", hi[0].s, lo[1].s),
                 after = emit_def(e, "icmp ule i64 %s, %s", hi[1].s, lo[0].s);
            yes = emit_def(e, "and i1 %s, %s", yes.s, emit_def(e, "or i1 %s, %s", before.s, after.s).s);
        }
    cpu_leave_entry(e, spot);
    return yes;
}

/* i1: a position may run twice. */
static Opnd idempotent(Emit *e) { return stay_as_they_are(e, is_read); }

void rows_widen_kept(Cpu *k) {
    for (KRef r = 1; r < k->e->f->nins; r++)
        if (cpu_is_kept(k, r)) k->e->bits[r] = 0;
}

/* The code from `first` on is slow for single positions; `full` does the same. */
static bool for_strips_only(const Cpu *k, KRef first) {
    const KSplit *s = k->e->split;
    return s && s->turns && first == s->fast && !k->joined;
}

static bool has_lanes(const KPlan *p) {
    for (KRef r = p->first; r < p->last; r++)
        if (p->lanes[r]) return true;
    return false;
}

static void begin_strips(Cpu *k, KPlan *plan, int length, EmitLoops loops) {
    memset(k->alloca, 0, k->e->f->nins * sizeof *k->alloca); /* those so far are of single positions */
    k->plan = plan, k->strip = length, k->strips = true;
    rows_widen_kept(k);
    k->e->loops = k->strip_loops = loops;
}

/* The strip at k->strip_lo. */
static void one_strip(Cpu *k) {
    Emit *e = k->e;
    uint32_t outer_end = k->block_end, end = k->block_end = emit_new(e);
    if (k->plan->mortal) k->item = emit_opnd("0"), cpu_fill(e, cpu_alive_place(k).ptr, 1, emit_opnd("%d", k->strip));
    rows_each_piece(k);
    k->block_end = outer_end;
    emit_label(e, end);
}

static void end_strips(Cpu *k) {
    k->plan = NULL, k->strip = 0;
    memset(k->alloca, 0, k->e->f->nins * sizeof *k->alloca);
}

/* A strip of the positions before hi: the others are not alive. */
static void part_of_strip(Cpu *k, Opnd hi) {
    Emit *e = k->e;
    uint32_t some = emit_new(e), done = emit_new(e);
    k->plan->mortal = true;
    emit_branch(e, emit_def(e, "icmp slt i64 %s, %s", k->strip_lo.s, hi.s), some, done);
    emit_label(e, some);
    k->item = emit_opnd("0");
    Opnd alive = cpu_alive_place(k).ptr;
    cpu_fill(e, alive, 0, emit_opnd("%d", k->strip));
    cpu_fill(e, alive, 1, emit_def(e, "sub nsw i64 %s, %s", hi.s, k->strip_lo.s));
    uint32_t outer_end = k->block_end;
    k->block_end = done;
    rows_each_piece(k);
    k->block_end = outer_end;
    emit_label(e, done);
}

/* Positions of a row that come in strips, as far as they do; what is left is done one by one. */
static void row_of_strips(Cpu *k, Opnd lo, Opnd hi, KPlan *plan) {
    Emit *e = k->e;
    Opnd again = idempotent(e);
    bool masked = plan->abreast || has_lanes(plan);
    begin_strips(k, plan, strip_length(e->t), LOOPS_FAST);
    uint32_t from = emit_new(e), head = emit_new(e), body = emit_new(e), out = emit_new(e), next = emit_new(e),
             done = emit_new(e), x1 = emit_new(e);
    Opnd end = emit_def(e, "sub nsw i64 %s, %d", hi.s, k->strip); /* the last strip begins here, or before it */
    emit_label(e, from);
    emit_label(e, head);
    k->strip_lo = emit_def(e, "phi i64 [ %s, %%L%u ], [ %%t%u, %%L%u ]", lo.s, from, x1, next);
    emit_branch(e, emit_def(e, "icmp sle i64 %s, %s", k->strip_lo.s, end.s), body, out);
    emit_label(e, body);
    one_strip(k);
    emit_label(e, next);
    Opnd after = emit_def(e, "add nsw i64 %s, %d", k->strip_lo.s, k->strip);
    Opnd last = emit_def(e, "icmp eq i64 %s, %s", k->strip_lo.s, end.s);
    Opnd lapping = emit_def(e, "select i1 %s, i64 %s, i64 %s", last.s, hi.s,
                            rows_min(e, after, end).s); /* over the strip before */
    emit_put(e, "%%t%u = select i1 %s, i64 %s, i64 %s", x1, again.s, lapping.s, after.s);
    emit_jump(e, head);
    emit_label(e, out);
    if (masked) part_of_strip(k, hi);
    end_strips(k);
    if (masked) return emit_label(e, done);
    if (for_strips_only(k, plan->first))
        each_of_row(k, k->strip_lo, hi, e->split->full, e->split->full_end, LOOPS_SHORT);
    else each_of_row(k, k->strip_lo, hi, plan->first, plan->last, LOOPS_SHORT);
    emit_label(e, done);
}

enum { BYTES_ABREAST = 32 };

/* Vectors of bytes are long, and so is what is left of a row after the last whole one. */
static bool stores_bytes(const KFunc *f, KRef first, KRef last) {
    for (KRef r = first; r < last; r++)
        if (f->ins[r].op == K_STORE && qdtype_size((qs_dtype)f->params[f->ins[r].imm].dtype) > 1) return false;
    for (KRef r = first; r < last; r++)
        if (f->ins[r].op == K_STORE) return true;
    return false;
}

/* Whole vectors; then the last one of the row once more, over what is done already. */
static void row_of_bytes(Cpu *k, Opnd lo, Opnd hi, KRef first, KRef last) {
    Emit *e = k->e;
    uint32_t lap = emit_new(e), done = emit_new(e);
    Opnd span = emit_def(e, "sub nsw i64 %s, %s", hi.s, lo.s),
         whole = emit_def(e, "and i64 %s, %d", span.s, -BYTES_ABREAST);
    Opnd some = emit_def(e, "icmp sgt i64 %s, %d", span.s, BYTES_ABREAST);
    Opnd laps = emit_def(e, "and i1 %s, %s", idempotent(e).s, some.s);
    Opnd to =
        emit_def(e, "select i1 %s, i64 %s, i64 %s", laps.s, emit_def(e, "add nsw i64 %s, %s", lo.s, whole.s).s, hi.s);
    each_of_row(k, lo, to, first, last, LOOPS_FAST);
    emit_branch(e, emit_def(e, "icmp slt i64 %s, %s", to.s, hi.s), lap, done);
    emit_label(e, lap);
    each_of_row(k, emit_def(e, "sub nsw i64 %s, %d", hi.s, BYTES_ABREAST), hi, first, last, LOOPS_FAST);
    emit_label(e, done);
}

static void row(Cpu *k, Opnd lo, Opnd hi, KRef first, KRef last) {
    KPlan plan;
    Emit *e = k->e;
    if (!k->plan && !k->blocks && kplan_strip(e->c, k->arena, e->f, first, last, false, &plan))
        row_of_strips(k, lo, hi, &plan);
    else if (for_strips_only(k, first)) each_of_row(k, lo, hi, e->split->full, e->split->full_end, LOOPS_FAST);
    else if (!k->plan && !k->blocks && independent(e->f, first, last) && stores_bytes(e->f, first, last))
        row_of_bytes(k, lo, hi, first, last);
    else each_of_row(k, lo, hi, first, last, LOOPS_FAST);
}

enum { BORDER_ROWS = 2 /* at an end: fewer are not worth LLVM's time */ };

/* Rows of the border are whole rows: where guards of reads are all that differs, several of them are worth vectors. */
static EmitLoops loops_of_border(const Emit *e, const KBox *box) {
    const KFunc *f = e->source;
    bool plain = !kir_has(f, K_BOUND) && !kir_has(f, K_IF) && !kir_has(f, K_LOOP) && !kir_has(f, K_ATOMIC) &&
                 !kir_has(f, K_CHECK),
         many = false;
    for (int a = 0; a < f->rank - 1; a++) {
        const KIns *low = &e->f->ins[box->lo[a]];
        many |= box->lo[a] && low->op == K_CONST && (int64_t)low->imm >= BORDER_ROWS;
    }
    return plain && many ? LOOPS_FAST : LOOPS_RARE;
}

/* The border of a row.  Indices of a launch are mostly near, and then need no division; a second copy is for the
 * rest. */
static void border_of_row(Cpu *k, Opnd lo, Opnd hi, const KSplit *split) {
    Emit *e = k->e;
    if (!split->near.given) {
        each_of_row(k, lo, hi, split->full, split->full_end, loops_of_border(e, &split->box));
        return;
    }
    uint32_t near = emit_new(e), far = emit_new(e), done = emit_new(e);
    emit_branch(e, cpu_reveal(e, k->near), near, far);
    emit_label(e, near);
    e->near = true;
    each_of_row(k, lo, hi, split->full, split->full_end, LOOPS_RARE);
    e->near = false;
    emit_jump(e, done);
    emit_label(e, far);
    each_of_row(k, lo, hi, split->full, split->full_end, LOOPS_RARE);
    emit_label(e, done);
}

/* Positions of this block that are in the box as far as axis a is concerned. */
static void box_of_axis(Cpu *k, const KBox *box, int a, Opnd *from, Opnd *to) {
    Emit *e = k->e;
    *from = k->lo[a], *to = k->hi[a];
    if (!box->lo[a]) return;
    *from = rows_min(e, max64(e, emit_arg(e, box->lo[a]), k->lo[a]), k->hi[a]);
    *to = max64(e, rows_min(e, emit_arg(e, box->hi[a]), k->hi[a]), *from);
}

/* border | interior | border, in index order.  The border is printed once and entered twice. */
static void row_with_box(Cpu *k, const KSplit *split) {
    Emit *e = k->e;
    const KBox *box = &split->box;
    int a = e->f->rank - 1;
    Opnd in = axes_in_box(k, box, a), from, to;
    box_of_axis(k, box, a, &from, &to);
    from = emit_def(e, "select i1 %s, i64 %s, i64 %s", in.s, from.s, k->hi[a].s);
    to = emit_def(e, "select i1 %s, i64 %s, i64 %s", in.s, to.s, k->hi[a].s);
    uint32_t before = emit_new(e), border = emit_new(e), inside = emit_new(e), again = emit_new(e), done = emit_new(e);
    emit_label(e, before);
    emit_label(e, border);
    Opnd lo = emit_def(e, "phi i64 [ %s, %%L%u ], [ %s, %%L%u ]", k->lo[a].s, before, to.s, again);
    Opnd hi = emit_def(e, "phi i64 [ %s, %%L%u ], [ %s, %%L%u ]", from.s, before, k->hi[a].s, again);
    Opnd second = emit_def(e, "phi i1 [ false, %%L%u ], [ true, %%L%u ]", before, again);
    border_of_row(k, lo, hi, split);
    emit_branch(e, second, done, inside);
    emit_label(e, inside);
    if (*k->patched.s) {
        uint32_t missing = emit_new(e);
        emit_branch(e, emit_def(e, "icmp slt i64 %s, %s", e->pos[a - 1].s, k->patched.s), again, missing);
        emit_label(e, missing);
    }
    row(k, from, to, split->fast, split->fast_end);
    emit_label(e, again);
    emit_jump(e, border);
    emit_label(e, done);
}

/* One row, that is, all positions that differ in the last axis only. */
static void whole_row(Cpu *k, KRef first, KRef last) {
    const KSplit *split = k->e->split;
    int a = k->e->f->rank - 1;
    if (split && split->box.given) row_with_box(k, split);
    else if (split) row(k, k->lo[a], k->hi[a], split->fast, split->fast_end);
    else if (k->rare) each_of_row(k, k->lo[a], k->hi[a], first, last, LOOPS_RARE);
    else row(k, k->lo[a], k->hi[a], first, last);
}

enum { COLOURS = 512 /* a last axis shorter than this is better joined with the one before */ };

/* i1: the loops over the last two axes may be one: the launch suits, the block and the box cover the last axis. */
static Opnd may_join(Cpu *k) {
    Emit *e = k->e;
    const KSplit *s = e->split;
    int last = e->f->rank - 1;
    Opnd n = k->domain[last], ok = emit_def(e, "icmp ult i64 %s, %d", n.s, COLOURS);
    for (int i = 0; i < s->ncollapse; i++) {
        Opnd all = emit_def(e, "mul i64 %s, %s", emit_arg(e, s->collapse[i].inner).s, n.s);
        ok = emit_def(e, "and i1 %s, %s", ok.s,
                      emit_def(e, "icmp eq i64 %s, %s", all.s, emit_arg(e, s->collapse[i].outer).s).s);
    }
    Opnd span = emit_def(e, "sub i64 %s, %s", k->hi[last].s, k->lo[last].s);
    ok = emit_def(e, "and i1 %s, %s", ok.s, emit_def(e, "icmp eq i64 %s, %s", span.s, n.s).s);
    if (!s->box.given) return ok;
    ok = emit_def(e, "and i1 %s, %s", ok.s, axes_in_box(k, &s->box, last - 1).s);
    if (!s->box.lo[last]) return ok;
    Opnd from = emit_def(e, "icmp sle i64 %s, 0", emit_arg(e, s->box.lo[last]).s),
         to = emit_def(e, "icmp sge i64 %s, %s", emit_arg(e, s->box.hi[last]).s, n.s);
    return emit_def(e, "and i1 %s, %s", ok.s, emit_def(e, "and i1 %s, %s", from.s, to.s).s);
}

/* The last two axes.  Rows p of the interior [from, to) become one loop from p·n on, where n is the length of a
 * row. */
static void plane(Cpu *k) {
    Emit *e = k->e;
    const KSplit *s = e->split;
    int b = e->f->rank - 2;
    Opnd from = k->lo[b], to = k->hi[b], n = k->domain[b + 1], join = cpu_hide(e, may_join(k));
    if (s->box.given && s->box.lo[b]) {
        from = max64(e, emit_arg(e, s->box.lo[b]), from);
        to = rows_min(e, emit_arg(e, s->box.hi[b]), to);
    }
    uint32_t before = emit_new(e), head = emit_new(e), body = emit_new(e), joined = emit_new(e), single = emit_new(e),
             done = emit_new(e);
    uint32_t after_joined = emit_new(e), after_single = emit_new(e), p1 = emit_new(e);
    emit_label(e, before);
    emit_label(e, head);
    Opnd p = emit_def(e, "phi i64 [ %s, %%L%u ], [ %s, %%L%u ], [ %%t%u, %%L%u ]", k->lo[b].s, before, to.s,
                      after_joined, p1, after_single);
    emit_branch(e, emit_def(e, "icmp slt i64 %s, %s", p.s, k->hi[b].s), body, done);
    emit_label(e, body);
    Opnd low = emit_def(e, "icmp sge i64 %s, %s", p.s, from.s), high = emit_def(e, "icmp slt i64 %s, %s", p.s, to.s);
    Opnd in = emit_def(e, "and i1 %s, %s", cpu_reveal(e, join).s, emit_def(e, "and i1 %s, %s", low.s, high.s).s);
    emit_branch(e, in, joined, single);
    emit_label(e, joined);
    e->pos[b] = emit_opnd("0");
    k->joined = true;
    row(k, emit_def(e, "mul nuw nsw i64 %s, %s", p.s, n.s), emit_def(e, "mul nuw nsw i64 %s, %s", to.s, n.s), s->fast,
        s->fast_end);
    k->joined = false;
    emit_label(e, after_joined);
    emit_jump(e, head);
    emit_label(e, single);
    e->pos[b] = p;
    whole_row(k, s->fast, s->fast_end);
    emit_label(e, after_single);
    emit_put(e, "%%t%u = add nuw nsw i64 %s, 1", p1, p.s);
    emit_jump(e, head);
    emit_label(e, done);
}

/* -- patches: some rows of the interior at once -------------------------------------------------------------------- */
enum { PATCH_ROWS = 4 };

/* What the instructions are worth in one of the rows. */
typedef struct {
    Opnd pos;
    uint32_t *val, *wide, *epoch, *slim, *alloca;
} PatchRow;

static PatchRow patch_row(Cpu *k, Opnd pos, KRef known) { /* the first `known` instructions are those of all rows */
    Emit *e = k->e;
    size_t n = e->f->nins, bytes = known * sizeof(uint32_t);
    uint32_t *v = qarena_alloc(k->arena, qmem_size(n, 5 * sizeof *v, 0));
    memcpy(v, e->val, bytes), memcpy(v + n, e->wide, bytes);
    memcpy(v + 2 * n, e->epoch, bytes), memcpy(v + 3 * n, e->slim, bytes);
    return (PatchRow){pos, v, v + n, v + 2 * n, v + 3 * n, v + 4 * n};
}

static void swap_row(Cpu *k, PatchRow *row) {
    Emit *e = k->e;
    Opnd *pos = &e->pos[e->f->rank - 2];
    PatchRow was = {*pos, e->val, e->wide, e->epoch, e->slim, k->alloca};
    *pos = row->pos, e->val = row->val, e->wide = row->wide, e->epoch = row->epoch, e->slim = row->slim;
    k->alloca = row->alloca;
    *row = was;
}

/* Each instruction for all rows in turn, so that sums, whose terms wait for each other, are added up side by side;
 * loops are for all rows. */
static void rows_in_step(Cpu *k, PatchRow *rows, int n, KRef first, KRef last) {
    Emit *e = k->e;
    for (KRef r = first; r < last; r++) {
        emit_ins(e, r);
        for (int i = 1; i < n; i++) {
            if (e->f->ins[r].op == K_FOR)
                rows[i].val[r] = e->val[r], rows[i].wide[r] = e->wide[r], rows[i].epoch[r] = e->epoch[r];
            if (e->f->ins[r].op == K_FOR || e->f->ins[r].op == K_END) continue;
            swap_row(k, &rows[i]);
            emit_ins(e, r);
            swap_row(k, &rows[i]);
        }
    }
}

/* Positions x … x+width-1 of n rows from the position of now on; what is loaded for one row need not be loaded again
 * for the next: no store is in the way (Emit.apart). */
static void one_patch(Cpu *k, Opnd x, int width, int n) {
    Emit *e = k->e;
    PatchRow rows[PATCH_ROWS];
    int a = e->f->rank - 1;
    e->now = ++k->epochs;
    e->group = group_tail, e->loops = LOOPS_FAST, e->apart = true;
    BlockAxis axis = rows_open_axis(e, emit_opnd("0"), emit_opnd("%d", width));
    e->pos[a] = emit_def(e, "add nuw nsw i64 %s, %s", x.s, axis.x.s);
    for (int i = 1; i < n; i++)
        rows[i] = patch_row(k, emit_def(e, "add nuw nsw i64 %s, %d", e->pos[a - 1].s, i), e->split->fast);
    rows_in_step(k, rows, n, e->split->fast, e->split->fast_end);
    rows_close_axis(e, &axis, vector_parallel);
    e->now = 0, e->apart = false;
}

/* For lo … hi-1, at least `width` long: the last patch laps over the one before. */
static void row_of_patches(Cpu *k, Opnd lo, Opnd hi, int width, int n) {
    Emit *e = k->e;
    uint32_t before = emit_new(e), head = emit_new(e), body = emit_new(e), out = emit_new(e), next = emit_new(e),
             x1 = emit_new(e);
    Opnd end = emit_def(e, "sub nsw i64 %s, %d", hi.s, width);
    emit_label(e, before);
    emit_label(e, head);
    Opnd x = emit_def(e, "phi i64 [ %s, %%L%u ], [ %%t%u, %%L%u ]", lo.s, before, x1, next);
    emit_branch(e, emit_def(e, "icmp slt i64 %s, %s", x.s, hi.s), body, out);
    emit_label(e, body);
    one_patch(k, x, width, n);
    Opnd after = emit_def(e, "add nsw i64 %s, %d", x.s, width), last = emit_def(e, "icmp eq i64 %s, %s", x.s, end.s);
    Opnd lapping = rows_min(e, after, end);
    emit_label(e, next);
    emit_put(e, "%%t%u = select i1 %s, i64 %s, i64 %s", x1, last.s, hi.s, lapping.s);
    emit_jump(e, head);
    emit_label(e, out);
}

static Opnd all_of(Emit *e, const Opnd *c, int n) {
    Opnd all = c[0];
    for (int i = 1; i < n; i++) all = emit_def(e, "and i1 %s, %s", all.s, c[i].s);
    return all;
}

/* From each row whose interior is missing on, n rows of the interior in patches, the last ones lapping over those
 * before; and each row, as far as it is missing.  Only where nothing is read that is written: then loads may pass
 * stores, and positions may run twice. */
static void rows_in_patches(Cpu *k, int n) {
    Emit *e = k->e;
    const KSplit *s = e->split;
    int a = e->f->rank - 1, b = a - 1;
    int width = strip_length(e->t) * (stores_bytes(e->f, s->fast, s->fast_end) ? 4 : 1);
    Opnd from, to, low, high, again = cpu_hide(e, idempotent(e));
    uint32_t before = emit_new(e), head = emit_new(e), body = emit_new(e), ask = emit_new(e), many = emit_new(e),
             patched = emit_new(e), row = emit_new(e), next = emit_new(e), out = emit_new(e), p1 = emit_new(e),
             done1 = emit_new(e);
    box_of_axis(k, &s->box, a, &from, &to);
    box_of_axis(k, &s->box, b, &low, &high);
    Opnd top = emit_def(e, "sub nsw i64 %s, %d", high.s, n), span = emit_def(e, "sub nsw i64 %s, %s", to.s, from.s);
    emit_label(e, before);
    emit_label(e, head);
    Opnd p = emit_def(e, "phi i64 [ %s, %%L%u ], [ %%t%u, %%L%u ]", k->lo[b].s, before, p1, next);
    Opnd done = emit_def(e, "phi i64 [ %s, %%L%u ], [ %%t%u, %%L%u ]", k->lo[b].s, before, done1, next);
    emit_branch(e, emit_def(e, "icmp slt i64 %s, %s", p.s, k->hi[b].s), body, out);
    emit_label(e, body);
    const Opnd here[] = {emit_def(e, "icmp sge i64 %s, %d", span.s, width),
                         emit_def(e, "icmp sge i64 %s, %s", top.s, low.s),
                         emit_def(e, "icmp sge i64 %s, %s", p.s, max64(e, low, done).s),
                         emit_def(e, "icmp slt i64 %s, %s", p.s, high.s),
                         axes_in_box(k, &s->box, b),
                         cpu_reveal(e, again)};
    Opnd yes = all_of(e, here, sizeof here / sizeof *here);
    emit_label(e, ask);
    emit_branch(e, yes, many, row);
    emit_label(e, many);
    e->pos[b] = rows_min(e, p, top);
    row_of_patches(k, from, to, width, n);
    Opnd after = emit_def(e, "add nsw i64 %s, %d", e->pos[b].s, n);
    emit_label(e, patched);
    emit_label(e, row);
    k->patched = emit_def(e, "phi i64 [ %s, %%L%u ], [ %s, %%L%u ]", done.s, ask, after.s, patched);
    emit_put(e, "%%t%u = add nsw i64 %s, 0", done1, k->patched.s);
    e->pos[b] = p;
    row_with_box(k, s);
    k->patched = (Opnd){""};
    emit_label(e, next);
    emit_put(e, "%%t%u = add nuw nsw i64 %s, 1", p1, p.s);
    emit_jump(e, head);
    emit_label(e, out);
}

/* Both: rows too short for patches are one loop. */
static void plane_or_patches(Cpu *k, int n) {
    Emit *e = k->e;
    uint32_t one = emit_new(e), many = emit_new(e), done = emit_new(e);
    emit_branch(e, may_join(k), one, many);
    emit_label(e, one);
    plane(k);
    emit_jump(e, done);
    emit_label(e, many);
    rows_in_patches(k, n);
    emit_label(e, done);
}

/* -- edges: the ends of rows, from pads ---------------------------------------------------------------------------- */
/* What a pad has copies of: `rows` rows from `row` on, from `column` on; `first` is the number of that element. */
typedef struct {
    Opnd row, rows, column, first;
} PadPlace;

static PadPlace pad_place(Emit *e, const KPad *p, Opnd row, Opnd rows, Opnd column) {
    PadPlace at = {.row = emit_def(e, "add nsw i64 %s, %lld", row.s, (long long)p->lo[0]),
                   .rows = emit_def(e, "add nsw i64 %s, %lld", rows.s, (long long)(p->hi[0] - p->lo[0])),
                   .column = emit_def(e, "add nsw i64 %s, %lld", column.s, (long long)p->lo[1])};
    Opnd line = emit_def(e, "mul nsw i64 %s, %d", at.row.s, kpad_extent(p, 1));
    at.first = emit_def(e, "add nsw i64 %s, %s", line.s, at.column.s);
    return at;
}

static void clear_pad(Cpu *k, const KPad *pad, Opnd rows) {
    size_t row = (size_t)kpad_extent(pad, 1) * qdtype_size((qs_dtype)k->e->f->params[pad->param].dtype);
    cpu_fill(k->e, k->pads[pad->param], 0, emit_def(k->e, "mul nsw i64 %s, %zu", rows.s, row));
}

static void fill_element(Cpu *k, const KPad *pad, Opnd first) {
    Emit *e = k->e;
    qs_dtype d = (qs_dtype)e->f->params[pad->param].dtype;
    emit_range(e, pad->fill, pad->fill_end);
    Opnd line = emit_def(e, "mul nsw i64 %s, %d", e->pos[0].s, kpad_extent(pad, 1)),
         at = emit_def(e, "add nsw i64 %s, %s", line.s, e->pos[1].s);
    at = emit_elem(e, d, "", k->pads[pad->param], emit_def(e, "sub nsw i64 %s, %s", at.s, first.s));
    emit_store(e, d, "", (Place){at, "", 0}, emit_arg(e, pad->value));
}

static void empty_element(Cpu *k, const KPad *pad, Opnd first) {
    Emit *e = k->e;
    Opnd *pads = qarena_alloc(k->arena, qmem_size((size_t)e->f->nparams, sizeof *pads, 0));
    pads[pad->param] = first, e->pads = pads;
    emit_range(e, pad->fill, pad->value + 1);
    e->pads = NULL;
    emit_range(e, pad->value + 1, pad->fill_end);
}

static void each_of_pad(Cpu *k, const KPad *pad, PadPlace at, void element(Cpu *k, const KPad *pad, Opnd first)) {
    Emit *e = k->e;
    e->now = ++k->epochs, e->loops = LOOPS_RARE, e->group = "";
    BlockAxis r = rows_open_axis(e, at.row, emit_def(e, "add nsw i64 %s, %s", at.row.s, at.rows.s));
    BlockAxis c = rows_open_axis(e, at.column, emit_def(e, "add nsw i64 %s, %d", at.column.s, kpad_extent(pad, 1)));
    e->pos[0] = r.x, e->pos[1] = c.x;
    element(k, pad, at.first);
    rows_close_axis(e, &c, ", !3, !4");
    rows_close_axis(e, &r, "");
    e->now = 0;
}

/* The pads of the positions from (row, column) on, of which there are `rows` rows; their first elements. */
static void fill_pads(Cpu *k, Opnd row, Opnd rows, Opnd column, Opnd *first) {
    Emit *e = k->e;
    for (const KPad *p = e->split->edge.pad; p < e->split->edge.pad + e->split->edge.npads; p++) {
        PadPlace at = pad_place(e, p, row, rows, column);
        first[p->param] = at.first;
        if (p->sums) clear_pad(k, p, at.rows);
        else each_of_pad(k, p, at, fill_element);
    }
}

static void empty_pads(Cpu *k, Opnd row, Opnd rows, Opnd column) {
    Emit *e = k->e;
    for (const KPad *p = e->split->edge.pad; p < e->split->edge.pad + e->split->edge.npads; p++)
        if (p->sums) each_of_pad(k, p, pad_place(e, p, row, rows, column), empty_element);
}

static void reserve_pads(Cpu *k) {
    Emit *e = k->e;
    Spot spot = cpu_enter_entry(e);
    for (const KPad *p = e->split->edge.pad; p < e->split->edge.pad + e->split->edge.npads; p++)
        k->pads[p->param] = emit_def(e, "alloca [%d x %s], align 64", kpad_extent(p, 0) * kpad_extent(p, 1),
                                     emit_mem_type(e, (qs_dtype)e->f->params[p->param].dtype));
    cpu_leave_entry(e, spot);
}

static bool plan_edge(Cpu *k, KPlan *out) {
    const KEdge *s = &k->e->split->edge;
    return kplan_strip(k->e->c, k->arena, k->e->f, s->code, s->code_end, true, out);
}

static bool updates_in_place(const KFunc *f) {
    for (int p = 0; p < f->nparams; p++)
        if (f->params[p].read && f->params[p].written) return true;
    return false;
}

/* A kernel with loops that no strips share would be no faster there, nor one whose sums are no vectors. */
bool rows_has_edges(Cpu *k) {
    const KFunc *f = k->e->f;
    const KSplit *s = k->e->split;
    KPlan plan;
    if (!s || !s->edge.npads || s->ncollapse || k->plan) return false;
    if (kir_has(f, K_ATOMIC)) return plan_edge(k, &plan) && plan.abreast; /* all are sums with pads: opt.c */
    if (updates_in_place(f)) return false;
    return !(kir_has(f, K_FOR) || kir_has(f, K_LOOP)) || plan_edge(k, &plan);
}

/* EDGE_COLUMNS positions of a row, from `column` on.  They are few: loops stay loops, which go around them. */
static void edge_of_row(Cpu *k, Opnd column) {
    Emit *e = k->e;
    KRef first = e->split->edge.code, last = e->split->edge.code_end;
    KPlan plan;
    if (plan_edge(k, &plan)) {
        bool strips = k->strips;
        begin_strips(k, &plan, EDGE_COLUMNS, LOOPS_SHORT);
        k->strip_lo = column;
        one_strip(k);
        end_strips(k);
        k->strips = strips;
        return;
    }
    bool free_order = independent(e->f, first, last);
    e->now = ++k->epochs;
    e->group = free_order ? group_tail : "", e->loops = LOOPS_FAST;
    BlockAxis axis = rows_open_axis(e, emit_opnd("0"), emit_opnd("%d", EDGE_COLUMNS));
    e->pos[1] = emit_def(e, "add nuw nsw i64 %s, %s", column.s, axis.x.s);
    e->item_end = axis.next;
    emit_range(e, first, last);
    rows_close_axis(e, &axis, free_order ? vector_parallel : vector_only);
    e->now = 0;
}

/* Both ends of some rows, as far as they have a border. */
static void edges_of_rows(Cpu *k, Opnd row, Opnd left, Opnd right) {
    Emit *e = k->e;
    Opnd *first = qarena_alloc(k->arena, qmem_size((size_t)e->f->nparams, sizeof *first, 0));
    Opnd end = rows_min(e, emit_def(e, "add nsw i64 %s, %d", row.s, EDGE_ROWS), k->hi[0]);
    BlockAxis side = rows_open_axis(e, emit_def(e, "select i1 %s, i64 0, i64 1", left.s),
                                    emit_def(e, "select i1 %s, i64 2, i64 1", right.s));
    Opnd second = emit_def(e, "icmp ne i64 %s, 0", side.x.s);
    Opnd column = emit_def(e, "select i1 %s, i64 %s, i64 %s", second.s,
                           emit_def(e, "sub nsw i64 %s, %d", k->hi[1].s, EDGE_COLUMNS).s, k->lo[1].s);
    Opnd rows = emit_def(e, "sub nsw i64 %s, %s", end.s, row.s);
    fill_pads(k, row, rows, column, first);
    e->pads = first;
    BlockAxis r = rows_open_axis(e, row, end);
    e->pos[0] = r.x;
    edge_of_row(k, column);
    rows_close_axis(e, &r, "");
    e->pads = NULL;
    empty_pads(k, row, rows, column);
    rows_close_axis(e, &side, "");
}

/* i1: whether there are edges is decided by the launch alone, so that results have the same bits however it is cut. */
static Opnd launch_has_edges(Cpu *k) {
    Emit *e = k->e;
    const KSplit *s = e->split;
    Spot spot = cpu_enter_entry(e);
    Opnd n = k->domain[1], first = emit_opnd("%d", EDGE_COLUMNS),
         last = emit_def(e, "sub nsw i64 %s, %s", n.s, first.s);
    const Opnd may[] = {emit_def(e, "icmp sge i64 %s, %d", n.s, 2 * EDGE_COLUMNS),
                        emit_def(e, "icmp sle i64 %s, %d", n.s, NATIVE_LONGEST_ROW),
                        emit_def(e, "icmp sle i64 %s, %s", emit_arg(e, s->box.lo[1]).s, first.s),
                        emit_def(e, "icmp sge i64 %s, %s", emit_arg(e, s->box.hi[1]).s, last.s),
                        cpu_launch_in_box(k, &s->edge.box),
                        s->near.given ? cpu_reveal(e, k->near) : emit_opnd("true")};
    Opnd all = all_of(e, may, sizeof may / sizeof *may);
    cpu_leave_entry(e, spot);
    return emit_def(e, "and i1 %s, %s", all.s, stay_as_they_are(e, is_copied).s);
}

/* The ends of the block's rows, which are whole (NATIVE_ROWS), where they are long enough and near enough to the array,
 * and nothing is read that is written.  Afterwards the block is what is left. */
static void edges_of_block(Cpu *k) {
    Emit *e = k->e;
    const KSplit *s = e->split;
    Opnd from, to, here = launch_has_edges(k);
    reserve_pads(k);
    box_of_axis(k, &s->box, 1, &from, &to);
    Opnd left = emit_def(e, "and i1 %s, %s", here.s, emit_def(e, "icmp sgt i64 %s, 0", from.s).s),
         right = emit_def(e, "and i1 %s, %s", here.s, emit_def(e, "icmp slt i64 %s, %s", to.s, k->hi[1].s).s);
    Opnd any = emit_def(e, "or i1 %s, %s", left.s, right.s);
    Opnd rows = emit_def(e, "sub nsw i64 %s, %s", k->hi[0].s, k->lo[0].s);
    Opnd steps = emit_def(e, "sdiv i64 %s, %d", emit_def(e, "add nsw i64 %s, %d", rows.s, EDGE_ROWS - 1).s, EDGE_ROWS);
    Opnd hidden[2] = {cpu_hide(e, left), cpu_hide(e, right)};
    BlockAxis step = rows_open_axis(e, emit_opnd("0"), emit_def(e, "select i1 %s, i64 %s, i64 0", any.s, steps.s));
    Opnd row = emit_def(e, "add nsw i64 %s, %s", k->lo[0].s, emit_def(e, "mul nsw i64 %s, %d", step.x.s, EDGE_ROWS).s);
    e->near = s->near.given;
    edges_of_rows(k, row, cpu_reveal(e, hidden[0]), cpu_reveal(e, hidden[1]));
    e->near = false;
    rows_close_axis(e, &step, "");
    k->lo[1] = emit_def(e, "select i1 %s, i64 %d, i64 %s", left.s, EDGE_COLUMNS, k->lo[1].s);
    k->hi[1] = emit_def(e, "sub nsw i64 %s, %s", k->hi[1].s,
                        emit_def(e, "select i1 %s, i64 %d, i64 0", right.s, EDGE_COLUMNS).s);
}

/* How many rows at once: as many as there are vector registers for sums and what rows share; 0: no patches. */
static int patch_rows(Cpu *k) {
    Emit *e = k->e;
    const KSplit *s = e->split;
    KPlan plan;
    if (!s || !s->box.given || s->turns || k->blocks || k->strip || e->f->rank < 2 || updates_in_place(e->f) ||
        !independent(e->f, s->fast, s->fast_end) ||
        kplan_strip(e->c, k->arena, e->f, s->fast, s->fast_end, false, &plan))
        return 0;
    for (int n = strchr(e->t->mvec, 'e') ? PATCH_ROWS : 2; n > 1; n /= 2)
        if (kplan_rows_share(e->f, s->fast, s->fast_end, n)) return n;
    return 0;
}

void rows_each_position(Cpu *k, KRef first, KRef last) {
    Emit *e = k->e;
    BlockAxis axis[QS_MAX_RANK];
    bool joins = e->split && e->split->ncollapse && !k->blocks;
    int patch = patch_rows(k), outer = e->f->rank - 1 - (joins || patch);
    if (k->strip) {
        each_of_strip(k, first, last);
        return;
    }
    bool edges = rows_has_edges(k);
    Opnd lo = k->lo[1], hi = k->hi[1];
    if (edges) edges_of_block(k);
    for (int a = 0; a < outer; a++) axis[a] = open_positions(k, a, k->lo[a], k->hi[a]);
    if (joins && patch) plane_or_patches(k, patch);
    else if (joins) plane(k);
    else if (patch) rows_in_patches(k, patch);
    else whole_row(k, first, last);
    for (int a = outer - 1; a >= 0; a--) rows_close_axis(e, &axis[a], "");
    if (edges) k->lo[1] = lo, k->hi[1] = hi;
}

/* -- pieces -------------------------------------------------------------------------------------------------------- */
static bool has_piece(const KPlan *p, KRef first, KRef last) {
    for (KRef r = first; r < last; r++)
        if (p->cls[r] == KC_PIECE) return true;
    return false;
}

/* What a CHECK has found wrong ends a position, not those that it shares an access with. */
static bool shares_access(const Cpu *k, KRef first, KRef last) {
    const KFunc *f = k->e->f;
    for (KRef r = first; r < last && kir_has(f, K_CHECK); r++) {
        uint8_t op = f->ins[r].op;
        if (k->plan->cls[r] == KC_COMMON && (op == K_LOAD || op == K_ALOAD || op == K_ASTORE)) return true;
    }
    return false;
}

void rows_each_piece(Cpu *k) {
    const KPlan *p = k->plan;
    for (KRef r = p->first; r < p->last;) {
        if (p->cls[r] == KC_CONTROL) {
            emit_ins(k->e, r++);
            continue;
        }
        KRef end = r + 1;
        while (end < p->last && p->cls[end] != KC_CONTROL && !p->cut[end]) end++;
        if (shares_access(k, r, end)) cpu_poll_fault(k);
        for (KRef x = r; x < end; x++)
            if (p->cls[x] == KC_COMMON) emit_ins(k->e, x);
        if (has_piece(p, r, end)) rows_each_position(k, r, end);
        r = end;
    }
}

Opnd rows_any_of_strip(Emit *e, KRef r) {
    Cpu *k = e->frame;
    if (e->now) return emit_arg(e, r);
    k->item = emit_opnd("0");
    Opnd all = emit_def(e, "load <%d x i8>, ptr %s", k->strip, cpu_kept_place(k, r).ptr.s);
    emit_declare(e, "declare i8 @llvm.vector.reduce.or.v%di8(<%d x i8>)", k->strip, k->strip);
    Opnd sum = emit_def(e, "call i8 @llvm.vector.reduce.or.v%di8(<%d x i8> %s)", k->strip, k->strip, all.s);
    return emit_def(e, "icmp ne i8 %s, 0", sum.s);
}
