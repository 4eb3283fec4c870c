/* emit_rows.c -- emits the loops over the positions of a block, with the instructions of a piece of the kernel.
 *
 *     rows           border | interior | border along the last axis, in index order; the interior has no index tests
 *     strips         a loop of the kernel runs once for a strip of neighbouring positions (pieces of a plan, plan.h)
 *     rows of bytes  whole vectors; the last vector of a row overlaps the one before
 *     patches        several rows of the interior at once, if they read the same elements: each is loaded once
 *     edges          both ends of several rows, computed from and into padded copies, so without index tests
 *     planes         the last two axes as one loop, if rows are short and contiguous in memory
 *
 * Independence.  LLVM vectorizes the innermost loop, over the last axis.  Unless the launch is serial, access groups
 * declare its iterations independent, which is the meaning of a parallel launch, so no overlap is tested at run time.
 * The declaration excludes private arrays, whose memory the iterations reuse.  LLVM also applies it within an iteration
 * and moves strided stores past later loads.  Therefore it is made only if no access follows a store to possibly the
 * same element.  `op=` on elements shared by positions is an ATOMIC.  A kernel that only accumulates into a small array
 * gets copies of it, each for a part of the launch (devices/private_copies.h).
 *
 * Patches.  For stencils, where neighbours read the same elements, four rows of the interior are computed at once, or
 * two if there are only 16 vector registers.  Each element is loaded once for all rows, and the sums of the rows, each
 * a chain of dependent additions, run in parallel.  The instructions of a loop are emitted alternately for each row,
 * because LLVM keeps the order of long sums and processors do not look ahead far enough to overlap them.  Compilation
 * takes longer.  Patches overlap if the extents are not multiples of their size, so a position may be computed twice.
 * Therefore the arrays read and the arrays written must not overlap, which is tested at run time.
 *
 * Short constant loops of the kernel are unrolled before vectorization (kplan_unrolls). */
#include "devices/native.h"
#include "lang/kernel/codegen/emit_cpu.h"
#include "lang/kernel/ir/affine.h"

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

/* Provides a value of another piece: loads a kept value, or recomputes it. */
static void fetch_value(Cpu *k, KRef r) {
    Emit *e = k->e;
    const KIns *i = &e->f->ins[r];
    if (!r || i->op == K_LOCAL || i->op == K_LARRAY || i->op == K_SHARED || emit_known(e, r)) return;
    if (k->plan->home[r] == KH_KEPT) {
        emit_set(e, r, emit_load(e, (qs_dtype)i->dtype, "", cpu_kept_place(k, r)));
        return;
    }
    fetch_value(k, i->a), fetch_value(k, i->b), fetch_value(k, i->c);
    emit_ins(e, r);
}

static bool foreign(const KPlan *plan, KRef r, KRef first, KRef last) {
    return r && (r < first || r >= last) && plan->cls[r] == KC_PIECE;
}

static void fetch_all(Cpu *k, KRef first, KRef last) {
    for (KRef r = first; r < last; r++) {
        const KIns *i = &k->e->f->ins[r];
        if (k->plan->cls[r] != KC_PIECE) continue;
        if (foreign(k->plan, i->a, first, last)) fetch_value(k, i->a);
        if (foreign(k->plan, i->b, first, last)) fetch_value(k, i->b);
        if (foreign(k->plan, i->c, first, last)) fetch_value(k, i->c);
    }
}

static void keep_value(Cpu *k, KRef r) {
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

/* Copies a kept LOCAL into an alloca for the time of a piece, so that a conditional SET does not become a conditional
 * store to memory.  declared: the piece declares it, so it has no value yet. */
static void copy_in(Cpu *k, KRef local, bool declared) {
    Emit *e = k->e;
    qs_dtype d = (qs_dtype)e->f->ins[local].dtype;
    if (k->copied[local]) return;
    if (!k->copy[local]) {
        EmitSpot s = emit_enter_entry(e);
        k->copy[local] = emit_number(emit_def(e, "alloca %s", emit_mem_type(e, d)));
        emit_leave_entry(e, s);
    }
    if (!declared)
        emit_store(e, d, "", (Place){emit_tmp(k->copy[local]), .tail = ""},
                   emit_load(e, d, "", cpu_kept_place(k, local)));
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
        emit_store(e, d, "", cpu_kept_place(k, local),
                   emit_load(e, d, "", (Place){emit_tmp(k->copy[local]), .tail = ""}));
        k->copied[local] = 0; /* copy each LOCAL out once */
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
        keep_value(k, r);
    }
    copy_all_out(k, first, last);
}

/* Begins a loop over positions.  If the kernel has a plan, the loop counts from the first position of the block, so
 * that LLVM knows the range of BLKPOS. */
static BlockAxis open_positions(Cpu *k, int a, Opnd lo, Opnd hi) {
    Emit *e = k->e;
    BlockAxis axis = k->plan ? rows_open_axis(e, emit_opnd("0"), k->span[a]) : rows_open_axis(e, lo, hi);
    e->blkpos[a] = axis.x;
    e->pos[a] = k->plan ? emit_def(e, "add nuw nsw i64 %s, %s", lo.s, axis.x.s) : axis.x;
    return axis;
}

/* Computes the position in the block, for BLKPOS and kept values. */
static void place_in_block(Cpu *k) {
    Emit *e = k->e;
    if (!k->blocks) return;
    for (int a = 0; a < e->f->rank;
         a++) { /* for all axes in the innermost loop, so that the values belong to the epoch of the piece */
        if (!k->plan) e->blkpos[a] = emit_def(e, "sub nsw i64 %s, %s", e->pos[a].s, k->lo[a].s);
        k->item =
            a ? emit_def(e, "add i64 %s, %s", emit_def(e, "mul i64 %s, %s", k->item.s, k->block[a].s).s, e->blkpos[a].s)
              : e->blkpos[0];
    }
}

/* If iterations are declared independent, LLVM also reorders accesses within an iteration, and moves strided stores
 * past later accesses.  Therefore a loop is declared independent only if no access follows a store to possibly the same
 * element.  For other loops LLVM tests overlaps at run time. */
typedef enum { NO_MEMORY, ARRAY_MEMORY, BLOCK_MEMORY } Memory;

static Memory memory_of(const KFunc *f, const KIns *i) { /* private memory is not in the access group */
    if (kir_is_memory(i->op)) return ARRAY_MEMORY;
    bool inner = i->op == K_ALOAD || i->op == K_ASTORE || i->op == K_AATOMIC || i->op == K_AFETCH;
    return inner && f->ins[i->a].op == K_SHARED ? BLOCK_MEMORY : NO_MEMORY;
}

/* Returns whether two accesses of one position never have the same element.  Different parameters may be one array,
 * unless both are distinct and written. */
static bool apart(const KFunc *f, const KIns *a, const KIns *b) {
    Affine x, y;
    Memory m = memory_of(f, a);
    if (m != memory_of(f, b)) return true;
    if (m == BLOCK_MEMORY && a->a != b->a) return true;
    if (m == ARRAY_MEMORY && a->imm != b->imm)
        return a->op == K_STORE && b->op == K_STORE && f->params[a->imm].distinct && f->params[b->imm].distinct;
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
        if (i->op == K_ATOMIC || i->op == K_AATOMIC || kir_is_fetch(i->op)) return false;
        if (!m || (i->op != K_STORE && i->op != K_ASTORE)) continue;
        if (loops) return false; /* accesses of the next iteration of an inner loop follow it */
        for (KRef s = r + 1; s < last; s++)
            if (memory_of(f, &f->ins[s]) && !apart(f, i, &f->ins[s])) return false;
    }
    return !f->serial;
}

static const char group_tail[] = ", !llvm.access.group !0";

static bool has_atomics(const KFunc *f, KRef first, KRef last) {
    for (KRef r = first; r < last; r++)
        if (f->ins[r].op == K_ATOMIC || f->ins[r].op == K_FETCH) return true;
    return false;
}

/* Loop properties of a short loop of known length: vectorize, then unroll completely. */
static const char vector_only[] = ", !4, !5, !6", vector_parallel[] = ", !1, !4, !5, !6";

enum { FEW = 32 /* instructions */, LONG_CHAIN = 16 /* additions */ };

/* Returns how many additions to a variable follow each other, in loops that are unrolled, if r is one of them. */
static int64_t chain_length(const KFunc *f, KRef r) {
    const KIns *set = &f->ins[r], *sum = &f->ins[set->b];
    int64_t n = 1;
    if (set->op != K_SET || sum->op != K_ADD || emit_is_float((qs_dtype)sum->dtype) == 0) return 0;
    bool adds = false;
    for (int k = 0; k < 2; k++) adds |= f->ins[sum->arg[k]].op == K_GET && f->ins[sum->arg[k]].a == set->a;
    for (KRef x = f->regions[r].around; adds && x && f->ins[x].op == K_FOR && kplan_unrolls(f, x);
         x = f->regions[x].around)
        n *= kplan_iterations(f, x);
    return adds ? n : 0;
}

/* Returns whether to interleave two vectors: the loop adds up many numbers in a variable, or it computes a mathematical
 * function inline, whose steps depend on each other, and is small enough for the registers. */
static bool has_gaps(const Emit *e, KRef first, KRef last) {
    int n = 0;
    bool any = false;
    for (KRef r = first; r < last; r++) {
        const KIns *i = &e->f->ins[r];
        if (chain_length(e->f, r) >= LONG_CHAIN) return true;
        n += i->op != K_CONST;
        any |= i->op == K_MATH && emit_math_inlines(e, (MathFn)i->flag, (qs_dtype)i->dtype);
    }
    return any && n <= FEW;
}

/* Emits the innermost loop, over positions lo … hi-1 of the last axis.  Unless loops is LOOPS_FAST, LLVM neither
 * vectorizes nor unrolls it. */
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

/* Emits a piece for the positions of the strip that begins at k->strip_lo. */
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
    rows_close_axis(e, &axis,
                    k->plan->chains ? ", !3, !12"
                    : one_by_one    ? ", !3, !4"
                    : free_order    ? vector_parallel
                                    : vector_only);
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

/* i1: the box is valid and contains the current position along the first `axes` axes. */
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

/* Returns the length of a strip: two vectors of float32.  LLVM turns a short loop of known length into straight-line
 * vector code. */
static int strip_length(const KTarget *t) { return strchr(t->mvec, 'e') ? 32 : strchr(t->mvec, 'd') ? 16 : 8; }

enum { CHAINS = 8 /* independent operations that hide the latency of one */ };

/* Computes the addresses of the first byte of an array and of the byte after its last. */
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

static bool is_copied(const Emit *e, int p) { /* p is read from a pad */
    const KEdge *s = &e->split->edge;
    for (int i = 0; i < s->npads; i++)
        if (s->pad[i].param == p) return !s->pad[i].sums;
    return false;
}

/* i1: no element of the arrays selected by `asks` is written.  Two parameters may be one array. */
static Opnd stay_as_they_are(Emit *e, bool asks(const Emit *e, int p)) {
    Opnd yes = emit_opnd("true"), lo[2], hi[2];
    EmitSpot spot = emit_enter_entry(e);
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
    emit_leave_entry(e, spot);
    return yes;
}

/* i1: a position may be computed twice. */
static Opnd idempotent(Emit *e) { return stay_as_they_are(e, is_read); }

void rows_widen_kept(Cpu *k) {
    for (KRef r = 1; r < k->e->f->nins; r++)
        if (cpu_is_kept(k, r)) k->e->bits[r] = 0;
}

/* Returns whether the code from `first` on was transformed for strips (KSplit.turns) and is slow for single positions;
 * then `full` is used for them. */
static bool for_strips_only(const Cpu *k, KRef first) {
    const KSplit *s = k->e->split;
    return s && s->lockstep && first == s->fast && !k->joined;
}

static bool has_lanes(const KPlan *p) {
    for (KRef r = p->first; r < p->last; r++)
        if (p->lanes[r]) return true;
    return false;
}

static void begin_strips(Cpu *k, KPlan *plan, int length, EmitLoops loops) {
    memset(k->alloca, 0, k->e->f->nins * sizeof *k->alloca); /* the existing ones have one element only */
    k->plan = plan, k->strip = length, k->strips = true;
    rows_widen_kept(k);
    k->e->loops = k->strip_loops = loops;
}

/* Emits the strip at k->strip_lo. */
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

/* Emits a partial strip of the positions before hi; the others are marked as ended. */
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

/* Emits a row in strips.  The last strip overlaps the one before if positions may be computed twice.  Otherwise the
 * rest of the row is a partial strip or a loop over single positions. */
static void row_of_strips(Cpu *k, Opnd lo, Opnd hi, KPlan *plan) {
    Emit *e = k->e;
    Opnd again = idempotent(e);
    bool masked = plan->abreast || has_lanes(plan);
    begin_strips(k, plan, plan->chains ? CHAINS : strip_length(e->t), LOOPS_FAST);
    uint32_t from = emit_new(e), head = emit_new(e), body = emit_new(e), out = emit_new(e), next = emit_new(e),
             done = emit_new(e), x1 = emit_new(e);
    Opnd end = emit_def(e, "sub nsw i64 %s, %d", hi.s, k->strip); /* latest begin of a whole strip */
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
                            rows_min(e, after, end).s); /* may overlap the strip before */
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

/* Returns whether all stores are of bytes.  Vectors of bytes are long, and so is the rest of a row after the last whole
 * vector. */
static bool stores_bytes(const KFunc *f, KRef first, KRef last) {
    for (KRef r = first; r < last; r++)
        if (f->ins[r].op == K_STORE && qdtype_size((qs_dtype)f->params[f->ins[r].imm].dtype) > 1) return false;
    for (KRef r = first; r < last; r++)
        if (f->ins[r].op == K_STORE) return true;
    return false;
}

/* Emits a row of bytes: whole vectors, then a last vector that overlaps the one before, if positions may be computed
 * twice. */
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

static void emit_row(Cpu *k, Opnd lo, Opnd hi, KRef first, KRef last) {
    KPlan plan;
    Emit *e = k->e;
    if (!k->plan && !k->blocks && kplan_strip(e->c, k->arena, e->f, first, last, false, &plan))
        row_of_strips(k, lo, hi, &plan);
    else if (for_strips_only(k, first)) each_of_row(k, lo, hi, e->split->full, e->split->full_end, LOOPS_FAST);
    else if (!k->plan && !k->blocks && independent(e->f, first, last) && stores_bytes(e->f, first, last))
        row_of_bytes(k, lo, hi, first, last);
    else each_of_row(k, lo, hi, first, last, LOOPS_FAST);
}

enum { BORDER_ROWS = 2 /* at one end; fewer rows are not vectorized */ };

/* Returns the optimization level of the border.  It is vectorized if it has several whole rows and its code differs
 * from the interior only by guards of loads. */
static EmitLoops loops_of_border(const Emit *e, const KBox *box) {
    const KFunc *f = e->source;
    bool plain = !kir_has(f, K_BOUND) && !kir_has(f, K_IF) && !kir_has(f, K_LOOP) && !kir_has(f, K_ATOMIC) &&
                 !kir_has(f, K_FETCH) && !kir_has(f, K_CHECK),
         many = false;
    for (int a = 0; a < f->rank - 1; a++) {
        const KIns *low = &e->f->ins[box->lo[a]];
        many |= box->lo[a] && low->op == K_CONST && (int64_t)low->imm >= BORDER_ROWS;
    }
    return plain && many ? LOOPS_FAST : LOOPS_RARE;
}

/* Emits the border of a row.  Most launches have only indices near the array, which need no division; a second copy of
 * the code handles the other launches. */
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

/* Computes the range of positions of this block along axis a that are in the box. */
static void box_of_axis(Cpu *k, const KBox *box, int a, Opnd *from, Opnd *to) {
    Emit *e = k->e;
    *from = k->lo[a], *to = k->hi[a];
    if (!box->lo[a]) return;
    *from = rows_min(e, max64(e, emit_arg(e, box->lo[a]), k->lo[a]), k->hi[a]);
    *to = max64(e, rows_min(e, emit_arg(e, box->hi[a]), k->hi[a]), *from);
}

/* Emits border | interior | border, in index order.  The code of the border is emitted once and entered twice. */
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
    emit_row(k, from, to, split->fast, split->fast_end);
    emit_label(e, again);
    emit_jump(e, border);
    emit_label(e, done);
}

/* Emits a row whose positions are computed several together (jam.c), and the rest of it one by one. */
static void row_of_lanes(Cpu *k, Opnd lo, Opnd hi) {
    Emit *e = k->e;
    int lanes = e->jam.lanes;
    Opnd times = emit_def(e, "sdiv i64 %s, %d", emit_def(e, "sub nsw i64 %s, %s", hi.s, lo.s).s, lanes);
    e->now = ++k->epochs, e->group = "", e->loops = LOOPS_FAST;
    BlockAxis axis = rows_open_axis(e, emit_opnd("0"), times);
    Opnd past = emit_def(e, "mul nuw nsw i64 %s, %d", axis.x.s, lanes);
    e->pos[e->f->rank - 1] = emit_def(e, "add nuw nsw i64 %s, %s", lo.s, past.s);
    emit_range(e, 1, e->jam.end);
    rows_close_axis(e, &axis, "");
    e->now = 0;
    Opnd rest = emit_def(e, "add nsw i64 %s, %s", lo.s, emit_def(e, "mul nsw i64 %s, %d", times.s, lanes).s);
    each_of_row(k, rest, hi, e->jam.end, e->f->nins, LOOPS_FAST);
}

/* Emits one row: all positions that differ only along the last axis. */
static void whole_row(Cpu *k, KRef first, KRef last) {
    const KSplit *split = k->e->split;
    int a = k->e->f->rank - 1;
    if (split && split->box.given) row_with_box(k, split);
    else if (split) emit_row(k, k->lo[a], k->hi[a], split->fast, split->fast_end);
    else if (k->rare) each_of_row(k, k->lo[a], k->hi[a], first, last, LOOPS_RARE);
    else if (k->e->jam.lanes) row_of_lanes(k, k->lo[a], k->hi[a]);
    else emit_row(k, k->lo[a], k->hi[a], first, last);
}

enum { COLOURS = 512 /* a shorter last axis, such as that of colours, is joined with the one before */ };

/* i1: the loops over the last two axes may be joined: arrays are contiguous, and the block and the box cover the last
 * axis. */
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

/* Emits the loops over the last two axes.  The rows p of the interior [from, to) become one loop from p·n to to·n,
 * where n is the length of a row. */
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
    emit_row(k, emit_def(e, "mul nuw nsw i64 %s, %s", p.s, n.s), emit_def(e, "mul nuw nsw i64 %s, %s", to.s, n.s),
             s->fast, s->fast_end);
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

/* -- patches: several rows of the interior at once ----------------------------------------------------------------- */
enum { PATCH_ROWS = 4 };

/* The values of the instructions in one of the rows; see Emit and Cpu. */
typedef struct {
    Opnd pos;
    uint32_t *val, *wide, *epoch, *slim, *alloca;
} PatchRow;

static PatchRow patch_row(Cpu *k, Opnd pos,
                          KRef known) { /* the first `known` instructions have the same values in all rows */
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

/* Emits each instruction once per row before the next instruction, so that the dependent sums of the rows can run in
 * parallel.  FOR and END are emitted once for all rows. */
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

/* Emits positions x … x+width-1 of n rows, from the current row on.  Elements loaded for one row need not be loaded
 * again for the next, because no store changes them (Emit.apart). */
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

/* Emits patches for positions lo … hi-1, which are at least `width`; the last patch may overlap the one before. */
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

/* Emits the last two axes in patches.  For each row whose interior is not computed yet, the interior of n rows from
 * there on is computed in patches; the last n rows may overlap the ones before.  Then the rest of the row is computed.
 * Patches are used only if no array is both read and written: then loads may pass stores, and positions may be computed
 * twice. */
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

/* Emits both versions: a joined loop if rows are short, otherwise patches. */
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

/* -- edges: the ends of rows, computed with pads ------------------------------------------------------------------- */
/* The part of an array that a pad copies: `rows` rows, beginning at (row, column); first: number of the first
 * element. */
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
    emit_store(e, d, "", (Place){at, .tail = ""}, emit_arg(e, pad->value));
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

/* Fills the pads for `rows` rows of positions from (row, column) on, and sets the numbers of their first elements. */
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
    EmitSpot spot = emit_enter_entry(e);
    for (const KPad *p = e->split->edge.pad; p < e->split->edge.pad + e->split->edge.npads; p++)
        k->pads[p->param] = emit_def(e, "alloca [%d x %s], align 64", kpad_extent(p, 0) * kpad_extent(p, 1),
                                     emit_mem_type(e, (qs_dtype)e->f->params[p->param].dtype));
    emit_leave_entry(e, spot);
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

/* Edges are used only if they can be vectorized: a kernel with loops needs strips, one with atomic updates needs strips
 * whose positions update different elements. */
bool rows_has_edges(Cpu *k) {
    const KFunc *f = k->e->f;
    const KSplit *s = k->e->split;
    KPlan plan;
    if (!s || !s->edge.npads || s->ncollapse || k->plan || kir_has(f, K_FETCH)) return false;
    if (kir_has(f, K_ATOMIC)) return plan_edge(k, &plan) && plan.abreast; /* opt.c: all are sums with pads */
    if (updates_in_place(f)) return false;
    return !(kir_has(f, K_FOR) || kir_has(f, K_LOOP)) || plan_edge(k, &plan);
}

/* Emits EDGE_COLUMNS positions of a row, from `column` on: as one strip, whose loops are not unrolled, if there is a
 * plan for it. */
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

/* Emits both ends of EDGE_ROWS rows or fewer, if they have a border. */
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

/* i1: edges are used.  Only the launch decides this, not the block, so that results do not depend on how the launch is
 * divided. */
static Opnd launch_has_edges(Cpu *k) {
    Emit *e = k->e;
    const KSplit *s = e->split;
    EmitSpot spot = emit_enter_entry(e);
    Opnd n = k->domain[1], first = emit_opnd("%d", EDGE_COLUMNS),
         last = emit_def(e, "sub nsw i64 %s, %s", n.s, first.s);
    const Opnd may[] = {emit_def(e, "icmp sge i64 %s, %d", n.s, 2 * EDGE_COLUMNS),
                        emit_def(e, "icmp sle i64 %s, %d", n.s, NATIVE_LONGEST_ROW),
                        emit_def(e, "icmp sle i64 %s, %s", emit_arg(e, s->box.lo[1]).s, first.s),
                        emit_def(e, "icmp sge i64 %s, %s", emit_arg(e, s->box.hi[1]).s, last.s),
                        cpu_launch_in_box(k, &s->edge.box),
                        s->near.given ? cpu_reveal(e, k->near) : emit_opnd("true")};
    Opnd all = all_of(e, may, sizeof may / sizeof *may);
    emit_leave_entry(e, spot);
    return emit_def(e, "and i1 %s, %s", all.s, stay_as_they_are(e, is_copied).s);
}

/* Emits the ends of the rows of the block, which are whole rows (NATIVE_ROWS), if launch_has_edges.  Then reduces the
 * block to the remaining positions. */
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

/* Returns the number of rows of a patch, which the number of vector registers limits; 0: no patches. */
static int patch_rows(Cpu *k) {
    Emit *e = k->e;
    const KSplit *s = e->split;
    KPlan plan;
    if (!s || !s->box.given || s->lockstep || k->blocks || k->strip || e->f->rank < 2 || updates_in_place(e->f) ||
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

/* Returns whether common instructions of a piece access memory in a kernel with CHECKs.  A failed CHECK ends only its
 * own position, but these accesses are made for all positions. */
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
