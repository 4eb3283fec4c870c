/* emit_cpu.c -- the frame of a kernel on the cpu.
 *
 *     kernel(args, run, first, last, scratch):
 *       parameters, extents                                   the entry block: loaded once
 *       for each block in first … last-1:                     polls the interrupt flag and the fault
 *         for each piece of the kernel (plan.h; mostly one):
 *           for each position of the block, last axis innermost: its instructions
 *
 * The innermost loop is what LLVM vectorises.  Unless the launch is serial its turns are declared independent (access
 * groups), which is what a parallel launch means; so no overlap is tested at run time.  Memory that positions
 * would share although each has its own (private arrays) stays outside that promise. */
#include "lang/kernel/affine.h"
#include "lang/kernel/emit_llvm.h"
#include "lang/kernel/plan.h"
#include "devices/native.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { STACK_ARRAY = 1 << 14 /* bytes */ };

typedef struct { Opnd x, from; uint32_t head, next, out, x1; } Axis; /* an open loop over positions */

typedef struct {
    Emit *e;
    Arena *arena;
    KPlan *plan;                  /* NULL: one piece */
    int strip;                    /* positions of a strip, while one is printed; else 0 */
    bool strips;                  /* there were any */
    bool joined;                  /* a loop that is over two axes is printed */
    bool blocks;                  /* the kernel knows about blocks */
    Opnd *params, *extents;       /* what was loaded in the entry block; "" : not yet */
    uint32_t *alloca;             /* by instruction */
    uint32_t *big;                /* the same: 1 + place in scratch memory of a large private array */
    uint32_t *copy;               /* the same: alloca of a kept LOCAL for the time of a piece; 0: it has none */
    uint8_t *copied;              /* the same: it stands for the LOCAL now */
    uint32_t *scope;              /* the same: its alias scope (metadata), of what has memory of the block; 0: none */
    uint32_t head;                /* bytes of scratch memory that are not per position */
    Opnd domain[QS_MAX_RANK], block[QS_MAX_RANK], nblocks[QS_MAX_RANK], lo[QS_MAX_RANK], hi[QS_MAX_RANK];
    Opnd span[QS_MAX_RANK]; /* positions of this block along each axis */
    bool rare;              /* this copy is for the blocks at the edge of the domain */
    Opnd stop, fault, near;
    Opnd strip_lo;                /* first position of the strip */
    Opnd item, items;             /* number of this position in its block; positions of a block */
    uint32_t epochs, block_end, done;
} Cpu;

static Cpu *cpu_of(Emit *e) { return e->frame; }

/* -- the entry block -------------------------------------------------------------------------------------------- */
typedef struct { Text *out; bool dead; } Spot;

static Spot enter_entry(Emit *e) {
    Spot s = {e->out, e->dead};
    e->out = &e->entry, e->dead = false;
    return s;
}

static void leave_entry(Emit *e, Spot s) { e->out = s.out, e->dead = s.dead; }

static Opnd field(Emit *e, const char *base, size_t offset, const char *type, const char *tail) {
    Opnd at = emit_def(e, "getelementptr inbounds i8, ptr %s, i64 %zu", base, offset);
    return emit_def(e, "load %s, ptr %s%s", type, at.s, tail);
}

static const char extent_range[] = ", !range !2"; /* extents are not negative */

static Opnd load_number(Emit *e, int param) {
    qs_dtype d = (qs_dtype)e->f->params[param].dtype;
    size_t at = (size_t)param * sizeof(DevArg) + offsetof(DevArg, bits);
    Opnd v = field(e, "%args", at, emit_mem_type(e, d), "");
    return d == QS_B1 ? emit_def(e, "icmp ne i8 %s, 0", v.s) : v;
}

static Opnd load_base(Emit *e, int param) {
    size_t at = (size_t)param * sizeof(DevArg);
    Opnd block = field(e, "%args", at + offsetof(DevArg, block), "ptr", ""),
         off = field(e, "%args", at + offsetof(DevArg, offset), "i64", "");
    return emit_def(e, "getelementptr inbounds i8, ptr %s, i64 %s", block.s, off.s);
}

static Opnd get_param(Emit *e, int param) {
    Opnd *o = &cpu_of(e)->params[param];
    if (*o->s) return *o;
    Spot s = enter_entry(e);
    *o = e->f->params[param].kind == KP_NUM ? load_number(e, param) : load_base(e, param);
    leave_entry(e, s);
    return *o;
}

static Opnd get_extent(Emit *e, int param, int axis, bool stride) {
    const KParam *p = &e->f->params[param];
    if (stride && p->unit_last && axis == p->rank - 1) return emit_opnd("1");
    Opnd *o = &cpu_of(e)->extents[(param * QS_MAX_RANK + axis) * 2 + stride];
    if (*o->s) return *o;
    Spot s = enter_entry(e);
    size_t at = (size_t)param * sizeof(DevArg) + (stride ? offsetof(DevArg, strides) : offsetof(DevArg, dims)) +
                (size_t)axis * 8;
    *o = field(e, "%args", at, "i64", stride ? "" : extent_range);
    leave_entry(e, s);
    return *o;
}

static void load_run(Cpu *k) {
    Emit *e = k->e;
    const KFunc *f = e->f;
    Spot s = enter_entry(e);
    for (int a = 0; a < f->rank; a++) {
        k->domain[a] = field(e, "%run", offsetof(NativeRun, domain) + (size_t)a * 8, "i64", extent_range);
        k->nblocks[a] = field(e, "%run", offsetof(NativeRun, nblocks) + (size_t)a * 8, "i64", extent_range);
        k->block[a] = f->fixed_block
                          ? emit_opnd("%d", f->block[a])
                          : field(e, "%run", offsetof(NativeRun, block) + (size_t)a * 8, "i64", extent_range);
        e->blkdim[a] = k->block[a], e->blkcnt[a] = k->nblocks[a];
    }
    k->stop = field(e, "%run", offsetof(NativeRun, stop), "ptr", "");
    k->fault = field(e, "%run", offsetof(NativeRun, fault), "ptr", "");
    e->alone = emit_def(e, "icmp ne i32 %s, 0", field(e, "%run", offsetof(NativeRun, alone), "i32", "").s);
    k->items = k->block[0];
    for (int a = 1; a < f->rank; a++) k->items = emit_def(e, "mul i64 %s, %s", k->items.s, k->block[a].s);
    leave_entry(e, s);
}

/* A condition that LLVM must not know to be the same in all turns: it would make a copy of the whole nest for either
 * case.  Kept in memory, read by `reveal`. */
static Opnd hide(Emit *e, Opnd cond) {
    Spot s = enter_entry(e);
    Opnd at = emit_def(e, "alloca i1");
    leave_entry(e, s);
    emit_put(e, "store i1 %s, ptr %s", cond.s, at.s);
    return at;
}

static Opnd reveal(Emit *e, Opnd hidden) { return emit_def(e, "load volatile i1, ptr %s", hidden.s); }

/* -- memory of a position --------------------------------------------------------------------------------------- */
static Place own_alloca(Cpu *k, KRef r) {
    Emit *e = k->e;
    const KIns *i = &e->f->ins[r];
    if (k->big[r]) return (Place){emit_def(e, "getelementptr inbounds i8, ptr %%scratch, i64 %u", k->big[r] - 1), ""};
    if (!k->alloca[r]) {
        Spot s = enter_entry(e);
        const char *t = emit_mem_type(e, (qs_dtype)i->dtype);
        Opnd o = i->op == K_LARRAY ? emit_def(e, "alloca [%llu x %s], align 16", (unsigned long long)i->imm, t)
                                   : emit_def(e, "alloca %s", t);
        leave_entry(e, s);
        sscanf(o.s, "%%t%u", &k->alloca[r]);
    }
    return (Place){emit_tmp(k->alloca[r]), ""};
}

/* Private arrays too large for the stack of a thread lie in scratch memory, after the SHARED ones. */
static void place_big_arrays(Cpu *k) {
    const KFunc *f = k->e->f;
    k->head = k->plan ? k->plan->shared_bytes : 0;
    for (KRef r = 1; r < f->nins; r++) {
        uint64_t bytes = f->ins[r].op == K_LARRAY ? f->ins[r].imm * qdtype_size((qs_dtype)f->ins[r].dtype) : 0;
        if (bytes <= STACK_ARRAY) continue;
        k->big[r] = k->head + 1;
        k->head += (uint32_t)(bytes + 63) & ~63u;
    }
}

/* In a strip the place is in an alloca per thing: short enough that LLVM makes vectors of it.  In a block it is in
 * scratch memory: what blocks share, large private arrays, then for each kept thing an array with a place per
 * position. */
static Place strip_place(Cpu *k, KRef r, uint64_t bytes) {
    Emit *e = k->e;
    if (!k->alloca[r]) {
        Spot s = enter_entry(e);
        sscanf(emit_def(e, "alloca [%llu x i8], align 64", (unsigned long long)bytes * (unsigned)k->strip).s, "%%t%u",
               &k->alloca[r]);
        leave_entry(e, s);
    }
    Opnd off = emit_def(e, "mul nuw nsw i64 %s, %llu", k->item.s, (unsigned long long)bytes);
    return (Place){emit_def(e, "getelementptr inbounds i8, ptr %%t%u, i64 %s", k->alloca[r], off.s), e->group};
}

/* What accesses of the block's memory are told of each other: each SHARED array and each kept thing has an alias scope,
 * whose two lists follow it. */
static void number_scopes(Cpu *k) {
    Emit *e = k->e;
    uint32_t first = e->metadata + 1, n = 0;
    for (KRef r = 1; r < e->f->nins; r++)
        if (e->f->ins[r].op == K_SHARED || k->plan->home[r] == KH_KEPT) k->scope[r] = first + 3 * n++;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t own = first + 3 * i;
        qtext_printf(&e->tail, "!%u = distinct !{!%u, !7}\n!%u = !{!%u}\n!%u = !{", own, own, own + 1, own, own + 2);
        for (uint32_t x = 0, before = 0; x < n; x++)
            if (x != i) qtext_printf(&e->tail, "%s!%u", before++ ? ", " : "", first + 3 * x);
        qtext_puts(&e->tail, "}\n");
    }
    e->metadata += 3 * n;
}

static const char *scoped(Cpu *k, KRef r) {
    enum { SIZE = 80 };
    if (!k->scope[r]) return k->e->group;
    char *s = qarena_alloc(k->arena, SIZE);
    snprintf(s, SIZE, "%s, !alias.scope !%u, !noalias !%u", k->e->group, k->scope[r] + 1, k->scope[r] + 2);
    return s;
}

static Place block_place(Cpu *k, uint32_t slot, uint64_t bytes) {
    Emit *e = k->e;
    Opnd row = emit_def(e, "mul i64 %s, %u", k->items.s, slot);
    Opnd base = emit_def(e, "getelementptr inbounds i8, ptr %%scratch, i64 %s",
                         emit_def(e, "add i64 %s, %u", row.s, k->head).s);
    Opnd off = emit_def(e, "mul i64 %s, %llu", k->item.s, (unsigned long long)bytes);
    return (Place){emit_def(e, "getelementptr inbounds i8, ptr %s, i64 %s", base.s, off.s), e->group};
}

static Place kept_place(Cpu *k, KRef r) {
    const KIns *i = &k->e->f->ins[r];
    uint64_t bytes = (i->op == K_LARRAY ? i->imm : 1) * qdtype_size((qs_dtype)i->dtype);
    if (k->strip) return strip_place(k, r, bytes);
    Place at = block_place(k, k->plan->slot[r], bytes);
    at.tail = scoped(k, r);
    return at;
}

/* Slot 0 of the tables by instruction is nobody's: in a strip it stands for the byte that says who is alive. */
static Place alive_place(Cpu *k) { return k->strip ? strip_place(k, 0, 1) : block_place(k, k->plan->alive, 1); }

static bool is_kept(const Cpu *k, KRef r) {
    return k->plan && k->plan->cls[r] == KC_PIECE && k->plan->home[r] == KH_KEPT;
}

static Place get_container(Emit *e, KRef r) {
    Cpu *k = cpu_of(e);
    const KIns *i = &e->f->ins[r];
    if (k->copied[r]) return (Place){emit_tmp(k->copy[r]), ""};
    if (i->op == K_SHARED)
        return (Place){emit_def(e, "getelementptr inbounds i8, ptr %%scratch, i64 %u", k->plan->slot[r]), scoped(k, r)};
    if (is_kept(k, r)) {
        Place at = kept_place(k, r);
        if (i->op == K_LARRAY) at.tail = "";
        return at;
    }
    return own_alloca(k, r);
}

/* -- ends ------------------------------------------------------------------------------------------------------- */
static void leave(Emit *e) {
    Cpu *k = cpu_of(e);
    if (k->plan && k->plan->mortal && e->now) emit_put(e, "store i8 0, ptr %s", alive_place(k).ptr.s);
    emit_jump(e, e->now ? e->item_end : k->block_end);
}

static const char fault_function[] =
    "define internal void @fault(ptr %f, i32 %m, i32 %p, double %a, double %b, i64 %x0, i64 %x1, i64 %x2, i64 %x3, i64 "
    "%x4, i64 %x5, "
    "i64 %x6, i64 %x7) cold noinline nounwind {\n"
    "  %old = cmpxchg ptr %f, i32 0, i32 %m monotonic monotonic\n  %won = extractvalue { i32, i1 } %old, 1\n"
    "  br i1 %won, label %first, label %done\nfirst:\n";

static void add_fault_function(Emit *e) {
    Text *t = &e->tail;
    qtext_puts(t, fault_function);
    qtext_printf(t, "  %%q0 = getelementptr i8, ptr %%f, i64 %zu\n  store i32 %%p, ptr %%q0\n",
                 offsetof(DevFault, pos));
    qtext_printf(t, "  %%q1 = getelementptr i8, ptr %%f, i64 %zu\n  store double %%a, ptr %%q1\n",
                 offsetof(DevFault, value));
    qtext_printf(t, "  %%q2 = getelementptr i8, ptr %%f, i64 %zu\n  store double %%b, ptr %%q2\n",
                 offsetof(DevFault, value) + 8);
    for (size_t a = 0; a < QS_MAX_RANK; a++)
        qtext_printf(t, "  %%r%zu = getelementptr i8, ptr %%f, i64 %zu\n  store i64 %%x%zu, ptr %%r%zu\n", a,
                     offsetof(DevFault, at) + a * 8, a, a);
    qtext_puts(t, "  br label %done\ndone:\n  ret void\n}\n");
}

static void report_fault(Emit *e, const KIns *i) {
    Cpu *k = cpu_of(e);
    Opnd b = emit_double(e, i->b), c = emit_double(e, i->c), x[QS_MAX_RANK];
    for (int a = 0; a < QS_MAX_RANK; a++) x[a] = a < e->f->rank && e->now ? e->pos[a] : emit_opnd("0");
    emit_put(e,
             "call void @fault(ptr %s, i32 %llu, i32 %u, double %s, double %s, i64 %s, i64 %s, i64 %s, i64 %s, i64 %s, "
             "i64 %s, i64 %s, i64 %s)",
             k->fault.s, (unsigned long long)i->imm + 1, i->pos, b.s, c.s, x[0].s, x[1].s, x[2].s, x[3].s, x[4].s,
             x[5].s, x[6].s, x[7].s);
}

static void poll_stop(Emit *e) {
    uint32_t on = emit_new(e);
    Opnd v = emit_def(e, "load volatile i32, ptr %s", cpu_of(e)->stop.s);
    emit_branch(e, emit_def(e, "icmp eq i32 %s, 0", v.s), on, cpu_of(e)->done);
    emit_label(e, on);
}

static void poll_fault(Cpu *k) {
    Emit *e = k->e;
    uint32_t on = emit_new(e);
    Opnd v = emit_def(e, "load atomic i32, ptr %s monotonic, align 4", k->fault.s);
    emit_branch(e, emit_def(e, "icmp eq i32 %s, 0", v.s), on, k->done);
    emit_label(e, on);
}

/* -- loops over positions --------------------------------------------------------------------------------------- */
static Axis open_axis(Emit *e, Opnd lo, Opnd hi) {
    Axis a = {.head = emit_new(e), .next = emit_new(e), .out = emit_new(e), .x1 = emit_new(e)};
    uint32_t from = emit_new(e), body = emit_new(e);
    emit_label(e, from);
    emit_label(e, a.head);
    a.x = emit_def(e, "phi i64 [ %s, %%L%u ], [ %%t%u, %%L%u ]", lo.s, from, a.x1, a.next);
    emit_branch(e, emit_def(e, "icmp slt i64 %s, %s", a.x.s, hi.s), body, a.out);
    emit_label(e, body);
    return a;
}

/* properties: "" or metadata nodes, each after a comma; what the names stand for is at the end of the module. */
static void close_axis(Emit *e, const Axis *a, const char *properties) {
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
        emit_set(e, r, emit_load(e, (qs_dtype)i->dtype, "", kept_place(k, r)));
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
    emit_store(e, (qs_dtype)i->dtype, "", kept_place(k, r), emit_arg(e, r));
}

static void skip_the_dead(Cpu *k) {
    Emit *e = k->e;
    uint32_t on = emit_new(e);
    Opnd alive = emit_def(e, "load i8, ptr %s", alive_place(k).ptr.s);
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
        Spot s = enter_entry(e);
        sscanf(emit_def(e, "alloca %s", emit_mem_type(e, d)).s, "%%t%u", &k->copy[local]);
        leave_entry(e, s);
    }
    if (!declared)
        emit_store(e, d, "", (Place){emit_tmp(k->copy[local]), ""}, emit_load(e, d, "", kept_place(k, local)));
    k->copied[local] = 1;
}

static bool is_kept_local(const Cpu *k, KRef r) { return k->e->f->ins[r].op == K_LOCAL && is_kept(k, r); }

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
        emit_store(e, d, "", kept_place(k, local), emit_load(e, d, "", (Place){emit_tmp(k->copy[local]), ""}));
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
static Axis open_positions(Cpu *k, int a, Opnd lo, Opnd hi) {
    Emit *e = k->e;
    Axis axis = k->plan ? open_axis(e, emit_opnd("0"), k->span[a]) : open_axis(e, lo, hi);
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

/* The innermost loop: positions lo … hi-1 of the last axis.  short_row: not worth LLVM's time. */
static void each_of_row(Cpu *k, Opnd lo, Opnd hi, KRef first, KRef last, EmitLoops loops) {
    Emit *e = k->e;
    bool short_row = loops != LOOPS_FAST, free_order = !short_row && independent(e->f, first, last);
    e->now = ++k->epochs;
    e->group = free_order ? group_tail : "";
    e->loops = loops;
    Axis axis = open_positions(k, e->f->rank - 1, lo, hi);
    place_in_block(k);
    e->item_end = axis.next;
    emit_piece(k, first, last);
    bool counted = k->plan && e->f->fixed_block;
    if (short_row) close_axis(e, &axis, ", !3, !4");
    else if (counted) close_axis(e, &axis, free_order ? vector_parallel : vector_only);
    else close_axis(e, &axis, free_order ? ", !1" : "");
    e->now = 0;
}

/* A piece for the positions of a strip, which begins at k->strip_lo. */
static void each_of_strip(Cpu *k, KRef first, KRef last) {
    Emit *e = k->e;
    bool free_order = independent(e->f, first, last);
    e->now = ++k->epochs;
    e->group = free_order ? group_tail : "";
    e->loops = LOOPS_FAST;
    Axis axis = open_axis(e, emit_opnd("0"), emit_opnd("%d", k->strip));
    k->item = axis.x;
    e->pos[e->f->rank - 1] = emit_def(e, "add nuw nsw i64 %s, %s", k->strip_lo.s, axis.x.s);
    e->item_end = axis.next;
    emit_piece(k, first, last);
    close_axis(e, &axis, has_atomics(e->f, first, last) ? ", !3, !4" : free_order ? vector_parallel : vector_only);
    e->now = 0;
}

static Opnd min64(Emit *e, Opnd a, Opnd b) {
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
        low = emit_def(e, "add i64 %s, %s", low.s, min64(e, far, emit_opnd("0")).s);
        high = emit_def(e, "add i64 %s, %s", high.s, max64(e, far, emit_opnd("0")).s);
    }
    size_t size = qdtype_size((qs_dtype)p->dtype);
    *lo = emit_def(e, "add i64 %s, %s", first.s, emit_def(e, "mul i64 %s, %zu", low.s, size).s);
    high = emit_def(e, "mul i64 %s, %zu", emit_def(e, "add i64 %s, 1", high.s).s, size);
    *hi = emit_def(e, "add i64 %s, %s", first.s, high.s);
}

/* i1: a position may run twice, because it reads nothing that is written.  Two parameters may be one array. */
static Opnd idempotent(Emit *e) {
    Opnd yes = emit_opnd("true"), lo[2], hi[2];
    Spot spot = enter_entry(e);
    for (int w = 0; w < e->f->nparams; w++)
        for (int r = 0; e->f->params[w].written && r < e->f->nparams; r++) {
            if (e->f->params[r].kind != KP_ARRAY || !e->f->params[r].read) continue;
            if (r == w) yes = emit_opnd("false");
            if (r == w) continue;
            address_range(e, w, &lo[0], &hi[0]), address_range(e, r, &lo[1], &hi[1]);
            Opnd before = emit_def(e, "icmp ule i64 %s, %s", hi[0].s, lo[1].s),
                 after = emit_def(e, "icmp ule i64 %s, %s", hi[1].s, lo[0].s);
            yes = emit_def(e, "and i1 %s, %s", yes.s, emit_def(e, "or i1 %s, %s", before.s, after.s).s);
        }
    leave_entry(e, spot);
    return yes;
}

static void fill(Emit *e, Opnd ptr, int byte, Opnd n) {
    emit_declare(e, "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)");
    emit_put(e, "call void @llvm.memset.p0.i64(ptr %s, i8 %d, i64 %s, i1 false)", ptr.s, byte, n.s);
}

static void each_piece(Cpu *k);

/* What is kept has its full size there. */
static void widen_kept(Cpu *k) {
    for (KRef r = 1; r < k->e->f->nins; r++)
        if (is_kept(k, r)) k->e->bits[r] = 0;
}

/* The code from `first` on is slow for single positions; `full` does the same. */
static bool for_strips_only(const Cpu *k, KRef first) {
    const KSplit *s = k->e->split;
    return s && s->turns && first == s->fast && !k->joined;
}

/* Positions of a row that come in strips, as far as they do; what is left is done one by one. */
static void row_of_strips(Cpu *k, Opnd lo, Opnd hi, KPlan *plan) {
    Emit *e = k->e;
    Opnd again = idempotent(e);
    k->plan = plan, k->strip = strip_length(e->t), k->strips = true;
    widen_kept(k);
    e->loops = LOOPS_FAST;
    uint32_t from = emit_new(e), head = emit_new(e), body = emit_new(e), out = emit_new(e), next = emit_new(e),
             done = emit_new(e), x1 = emit_new(e);
    Opnd end = emit_def(e, "sub nsw i64 %s, %d", hi.s, k->strip); /* the last strip begins here, or before it */
    emit_label(e, from);
    emit_label(e, head);
    k->strip_lo = emit_def(e, "phi i64 [ %s, %%L%u ], [ %%t%u, %%L%u ]", lo.s, from, x1, next);
    emit_branch(e, emit_def(e, "icmp sle i64 %s, %s", k->strip_lo.s, end.s), body, out);
    emit_label(e, body);
    uint32_t outer_end = k->block_end;
    k->block_end = next;
    if (plan->mortal) k->item = emit_opnd("0"), fill(e, alive_place(k).ptr, 1, emit_opnd("%d", k->strip));
    each_piece(k);
    k->block_end = outer_end;
    emit_label(e, next);
    Opnd after = emit_def(e, "add nsw i64 %s, %d", k->strip_lo.s, k->strip);
    Opnd last = emit_def(e, "icmp eq i64 %s, %s", k->strip_lo.s, end.s);
    Opnd lapping =
        emit_def(e, "select i1 %s, i64 %s, i64 %s", last.s, hi.s, min64(e, after, end).s); /* over the strip before */
    emit_put(e, "%%t%u = select i1 %s, i64 %s, i64 %s", x1, again.s, lapping.s, after.s);
    emit_jump(e, head);
    emit_label(e, out);
    k->plan = NULL, k->strip = 0;
    memset(k->alloca, 0, e->f->nins * sizeof *k->alloca);
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
    if (!k->plan && !k->blocks && kplan_strip(e->c, k->arena, e->f, e->match, e->opener, first, last, &plan))
        row_of_strips(k, lo, hi, &plan);
    else if (for_strips_only(k, first)) each_of_row(k, lo, hi, e->split->full, e->split->full_end, LOOPS_FAST);
    else if (!k->plan && !k->blocks && independent(e->f, first, last) && stores_bytes(e->f, first, last))
        row_of_bytes(k, lo, hi, first, last);
    else each_of_row(k, lo, hi, first, last, LOOPS_FAST);
}

/* The border of a row.  Indices of a launch are mostly near, and then need no division; a second copy is for the
 * rest. */
static void border_of_row(Cpu *k, Opnd lo, Opnd hi, const KSplit *split) {
    Emit *e = k->e;
    if (!split->near.given) {
        each_of_row(k, lo, hi, split->full, split->full_end, LOOPS_RARE);
        return;
    }
    uint32_t near = emit_new(e), far = emit_new(e), done = emit_new(e);
    emit_branch(e, reveal(e, k->near), near, far);
    emit_label(e, near);
    e->near = true;
    each_of_row(k, lo, hi, split->full, split->full_end, LOOPS_RARE);
    e->near = false;
    emit_jump(e, done);
    emit_label(e, far);
    each_of_row(k, lo, hi, split->full, split->full_end, LOOPS_RARE);
    emit_label(e, done);
}

/* border | interior | border, in index order.  The border is printed once and entered twice. */
static void row_with_box(Cpu *k, const KSplit *split) {
    Emit *e = k->e;
    const KBox *box = &split->box;
    int a = e->f->rank - 1;
    Opnd in = axes_in_box(k, box, a), from = k->lo[a], to = k->hi[a];
    if (box->lo[a]) {
        from = min64(e, max64(e, emit_arg(e, box->lo[a]), k->lo[a]), k->hi[a]);
        to = max64(e, min64(e, emit_arg(e, box->hi[a]), k->hi[a]), from);
    }
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
    Opnd from = k->lo[b], to = k->hi[b], n = k->domain[b + 1], join = hide(e, may_join(k));
    if (s->box.given && s->box.lo[b]) {
        from = max64(e, emit_arg(e, s->box.lo[b]), from);
        to = min64(e, emit_arg(e, s->box.hi[b]), to);
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
    Opnd in = emit_def(e, "and i1 %s, %s", reveal(e, join).s, emit_def(e, "and i1 %s, %s", low.s, high.s).s);
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

static void each_position(Cpu *k, KRef first, KRef last) {
    Emit *e = k->e;
    Axis axis[QS_MAX_RANK];
    bool joins = e->split && e->split->ncollapse && !k->blocks;
    int outer = e->f->rank - 1 - joins;
    if (k->strip) {
        each_of_strip(k, first, last);
        return;
    }
    for (int a = 0; a < outer; a++) axis[a] = open_positions(k, a, k->lo[a], k->hi[a]);
    if (joins) plane(k);
    else whole_row(k, first, last);
    for (int a = outer - 1; a >= 0; a--) close_axis(e, &axis[a], "");
}

/* -- pieces ----------------------------------------------------------------------------------------------------- */
static bool has_piece(const KPlan *p, KRef first, KRef last) {
    for (KRef r = first; r < last; r++)
        if (p->cls[r] == KC_PIECE) return true;
    return false;
}

static void each_piece(Cpu *k) {
    const KPlan *p = k->plan;
    for (KRef r = p->first; r < p->last;) {
        if (p->cls[r] == KC_CONTROL) {
            emit_ins(k->e, r++);
            continue;
        }
        KRef end = r + 1;
        while (end < p->last && p->cls[end] != KC_CONTROL && !p->cut[end]) end++;
        for (KRef x = r; x < end; x++)
            if (p->cls[x] == KC_COMMON) emit_ins(k->e, x);
        if (has_piece(p, r, end)) each_position(k, r, end);
        r = end;
    }
}

static void no_code(Emit *e) { (void)e; }

/* Whether r holds anywhere in the strip. */
static Opnd any_of_strip(Emit *e, KRef r) {
    Cpu *k = cpu_of(e);
    if (e->now) return emit_arg(e, r);
    k->item = emit_opnd("0");
    Opnd all = emit_def(e, "load <%d x i8>, ptr %s", k->strip, kept_place(k, r).ptr.s);
    emit_declare(e, "declare i8 @llvm.vector.reduce.or.v%di8(<%d x i8>)", k->strip, k->strip);
    Opnd sum = emit_def(e, "call i8 @llvm.vector.reduce.or.v%di8(<%d x i8> %s)", k->strip, k->strip, all.s);
    return emit_def(e, "icmp ne i8 %s, 0", sum.s);
}

/* -- blocks ----------------------------------------------------------------------------------------------------- */

static void begin_block(Cpu *k) {
    Emit *e = k->e;
    if (!k->plan) return;
    for (KRef r = 1; r < e->f->nins; r++) {
        const KIns *i = &e->f->ins[r];
        if (i->op == K_SHARED && i->flag)
            fill(e, get_container(e, r).ptr, 0,
                 emit_opnd("%llu", (unsigned long long)i->imm * qdtype_size((qs_dtype)i->dtype)));
    }
    if (!k->plan->mortal) return;
    k->item = emit_opnd("0");
    fill(e, alive_place(k).ptr, 1, k->items);
}

/* The block's number along each axis, and the positions it covers. */
static void locate_block(Cpu *k, Opnd number) {
    Emit *e = k->e;
    for (int a = e->f->rank - 1; a >= 0; a--) {
        e->blkidx[a] = a ? emit_def(e, "urem i64 %s, %s", number.s, k->nblocks[a].s) : number;
        if (a) number = emit_def(e, "udiv i64 %s, %s", number.s, k->nblocks[a].s);
        k->lo[a] = emit_def(e, "mul nuw nsw i64 %s, %s", e->blkidx[a].s, k->block[a].s);
        Opnd end = emit_def(e, "add nuw nsw i64 %s, %s", k->lo[a].s, k->block[a].s);
        k->hi[a] = min64(e, end, k->domain[a]);
    }
}

static bool has_op(const KFunc *f, KOp op) {
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == op) return true;
    return false;
}

/* i1: every position of the launch is in the box. */
static Opnd launch_in_box(Cpu *k, const KBox *box) {
    Emit *e = k->e;
    Opnd in = box->ok ? emit_arg(e, box->ok) : emit_opnd("true");
    for (int a = 0; a < e->f->rank; a++) {
        if (!box->lo[a]) continue;
        Opnd low = emit_def(e, "icmp sle i64 %s, 0", emit_arg(e, box->lo[a]).s);
        Opnd high = emit_def(e, "icmp sge i64 %s, %s", emit_arg(e, box->hi[a]).s, k->domain[a].s);
        in = emit_def(e, "and i1 %s, %s", in.s, emit_def(e, "and i1 %s, %s", low.s, high.s).s);
    }
    return in;
}

/* The pieces of a block; where blocks have a known size, once for whole ones and once for those at the edge. */
static void whole_or_not(Cpu *k) {
    Emit *e = k->e;
    const KFunc *f = e->f;
    Opnd whole = emit_opnd("true");
    for (int a = 0; a < f->rank; a++) {
        k->span[a] = emit_def(e, "sub nsw i64 %s, %s", k->hi[a].s, k->lo[a].s);
        whole = emit_def(e, "and i1 %s, %s", whole.s, emit_def(e, "icmp eq i64 %s, %s", k->span[a].s, k->block[a].s).s);
    }
    if (!f->fixed_block) {
        each_piece(k);
        return;
    }
    uint32_t all = emit_new(e), some = emit_new(e), done = emit_new(e);
    emit_branch(e, whole, all, some);
    emit_label(e, some);
    k->rare = true;
    each_piece(k);
    emit_jump(e, done);
    emit_label(e, all);
    k->rare = false;
    memcpy(k->span, k->block, sizeof k->span);
    each_piece(k);
    emit_label(e, done);
}

static void emit_prologue(Cpu *k, const KSplit *box) {
    Spot s = enter_entry(k->e);
    emit_range(k->e, 1, box->prologue_end);
    if (box->near.given) k->near = hide(k->e, launch_in_box(k, &box->near));
    leave_entry(k->e, s);
}

static void emit_body(Cpu *k) {
    Emit *e = k->e;
    if (e->split) emit_prologue(k, e->split);
    Axis blocks = open_axis(e, emit_opnd("%%first"), emit_opnd("%%last"));
    k->block_end = blocks.next;
    poll_stop(e);
    if (has_op(e->f, K_CHECK)) poll_fault(k);
    locate_block(k, blocks.x);
    begin_block(k);
    if (k->plan) whole_or_not(k);
    else each_position(k, 1, e->f->nins);
    close_axis(e, &blocks, "");
    emit_jump(e, k->done);
    emit_label(e, k->done);
    emit_put(e, "ret void");
}

/* -- the module ------------------------------------------------------------------------------------------------- */

static bool has_unknown_loop(const KFunc *f) {
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_LOOP || (f->ins[r].op == K_FOR && kplan_turns(f, r) < 0)) return true;
    return false;
}

static bool has_long_loop(const Emit *e) {
    for (KRef r = 1; r < e->f->nins; r++)
        if (e->f->ins[r].op == K_LOOP || (e->f->ins[r].op == K_FOR && !kplan_unrolls(e->f, e->match, r))) return true;
    return false;
}

/* Instructions one position takes, roughly; loops of unknown length count for 16 turns. */
static uint32_t cost_of(const KFunc *f) {
    double sum = 0, times[EMIT_MAX_LOOPS + 1] = {1};
    int depth = 0;
    for (KRef r = 1; r < f->nins; r++) {
        uint8_t op = f->ins[r].op;
        if (op == K_END || op == K_ELSE) depth--;
        bool dear = op == K_MATH || op == K_DIV || op == K_MOD;
        sum += times[depth] * (dear ? 8 : op == K_ATOMIC ? 20 : op == K_CONST ? 0 : 1);
        if (op != K_IF && op != K_ELSE && op != K_LOOP && op != K_FOR) continue;
        int64_t turns = op == K_FOR ? kplan_turns(f, r) : op == K_LOOP ? -1 : 1;
        times[depth + 1] = times[depth] * (turns < 0 ? 16 : (double)turns), depth++;
    }
    return sum < 1 ? 1 : sum > 1e9 ? 1000000000u : (uint32_t)sum;
}

static bool has_atomic(const KFunc *f, int p) {
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_ATOMIC && (int)f->ins[r].imm == p) return true;
    return false;
}

/* The Combine that does what atomic updates by op add up to; -1: none. */
static int combining(KAtomic op) {
    static const int8_t of[KA__COUNT] = {COMBINE_ADD, COMBINE_ADD, -1,         -1,          COMBINE_MIN,
                                         COMBINE_MAX, COMBINE_AND, COMBINE_OR, COMBINE_XOR, -1};
    return of[op];
}

/* How parameter p is accumulated into; -1: it is used otherwise, -2: not updated atomically at all. */
static int sum_of(const KFunc *f, int p) {
    int how = -2;
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        if (kir_ops[i->op].imm != KI_param || (int)i->imm != p) continue;
        int this = i->op == K_ATOMIC ? combining((KAtomic)i->flag) : -1;
        if (how != -2 && how != this) return -1;
        how = this;
    }
    return how == -1 && !has_atomic(f, p) ? -2 : how;
}

static int find_sums(const KFunc *f, NativeSum out[NATIVE_SUMS]) {
    int n = 0;
    for (int p = 0; p < f->nparams; p++) {
        int how = sum_of(f, p);
        qs_dtype d = qdtype_real_of((qs_dtype)f->params[p].dtype);
        if (how == -2) continue;
        if (how == -1 || !f->params[p].contiguous || kir_value_dtype(d) != d || d == QS_B1 || n == NATIVE_SUMS ||
            p > UINT8_MAX)
            return 0;
        out[n++] =
            (NativeSum){(uint8_t)p, (uint8_t)how, (uint8_t)d, qdtype_is_complex((qs_dtype)f->params[p].dtype) ? 2 : 1};
    }
    return n;
}

static void print_info(Cpu *k, Text *out) {
    const KFunc *f = k->e->source;
    NativeSum sums[NATIVE_SUMS] = {0};
    int nsums = f->serial ? 0 : find_sums(f, sums);
    unsigned flags = (k->blocks ? NATIVE_BLOCKS : 0u) | (f->serial ? NATIVE_SERIAL : 0u) |
                     (has_op(f, K_CHECK) ? NATIVE_CHECKS : 0u) | (has_unknown_loop(f) ? NATIVE_LOOPS : 0u) |
                     (has_long_loop(k->e) && !k->strips ? NATIVE_SINGLE : 0u);
    qtext_printf(out,
                 "@kernel_info = constant { i32, i32, i32, i32, i64, i64, i32, [%d x [4 x i8]] } { i32 %d, i32 %u, i32 "
                 "%u, i32 %d, i64 %u, "
                 "i64 %u, i32 %d, [%d x [4 x i8]] [",
                 NATIVE_SUMS, NATIVE_ABI, flags, cost_of(f), f->nparams, k->head,
                 k->plan ? k->plan->item_bytes : 0, nsums, NATIVE_SUMS);
    for (int i = 0; i < NATIVE_SUMS; i++)
        qtext_printf(out, "%s[4 x i8] [i8 %u, i8 %u, i8 %u, i8 %u]", i ? ", " : "", sums[i].param, sums[i].op,
                     sums[i].dtype, sums[i].parts);
    qtext_puts(out, "] }\n");
}
_Static_assert(offsetof(NativeInfo, shared_bytes) == 16 && offsetof(NativeInfo, sums) == 36 && sizeof(NativeSum) == 4,
               "print_info writes a NativeInfo");

/* Declared vector functions must survive until the vectoriser looks for them. */
static void print_used(Emit *e, Text *out) {
    int n = 0;
    Text list;
    qtext_init(&list, e->c);
    for (const char *at = e->decls.len ? e->decls.s : ""; (at = strstr(at, "@_ZGV")); at++)
        qtext_printf(&list, "%sptr %.*s", n++ ? ", " : "", (int)strcspn(at, "("), at);
    if (n)
        qtext_printf(out, "@llvm.compiler.used = appending global [%d x ptr] [%s], section \"llvm.metadata\"\n", n,
                     list.s);
    qtext_free(&list);
}

static void print_module(Cpu *k, Text *out) {
    Emit *e = k->e;
    print_info(k, out);
    print_used(e, out);
    qtext_puts(out, "define void @kernel(ptr noalias readonly %args, ptr noalias readonly %run, i64 %first, i64 %last, "
                    "ptr noalias %scratch) #0 {\n"
                    "entry:\n");
    qtext_add(out, e->entry.s, e->entry.len);
    qtext_add(out, e->body.s, e->body.len);
    qtext_puts(out, "}\n");
    if (has_op(e->f, K_CHECK)) add_fault_function(e);
    /* Quotients and roots are estimated only if infinite operands and results need not come out right; said here, and
     * not of instructions, it leaves tests for infinities alone. */
    qtext_printf(&e->tail, "attributes #0 = { nounwind%s%s }\nattributes #1 = { nounwind willreturn memory(none) }\n",
                 strchr(e->t->mvec, 'e') ? " \"prefer-vector-width\"=\"512\"" : "",
                 e->f->fast ? " \"no-infs-fp-math\"=\"true\"" : "");
    qtext_puts(
        &e->tail,
        "!0 = distinct !{}\n!1 = !{!\"llvm.loop.parallel_accesses\", !0}\n!2 = !{i64 0, i64 1152921504606846976}\n"
        "!3 = !{!\"llvm.loop.vectorize.enable\", i1 false}\n!4 = !{!\"llvm.loop.unroll.disable\"}\n"
        "!5 = !{!\"llvm.loop.vectorize.enable\", i1 true}\n"
        "!6 = !{!\"llvm.loop.vectorize.followup_vectorized\", !{!\"llvm.loop.unroll.full\"}}\n"
        "!7 = distinct !{!7}\n");
}

static bool knows_blocks(const KFunc *f) {
    return f->barrier || f->shared || f->fixed_block || has_op(f, K_BLKPOS) || has_op(f, K_BLKDIM) ||
           has_op(f, K_BLKIDX) || has_op(f, K_BLKCNT);
}

static qs_status run(Cpu *k, Text *out) {
    Emit *e = k->e;
    KPlan plan;
    k->blocks = knows_blocks(e->f);
    if (e->f->barrier || e->f->shared) {
        TRY(kplan_block(e->c, k->arena, e->f, e->match, e->opener, &plan));
        k->plan = &plan;
        number_scopes(k);
        widen_kept(k);
    }
    load_run(k);
    k->done = emit_new(e);
    place_big_arrays(k);
    emit_body(k);
    print_module(k, out);
    return QS_OK;
}

qs_status emit_cpu(Emit *e, Text *out) {
    Arena arena;
    qarena_init(&arena, e->c);
    const KFunc *f = e->f;
    size_t nparams = (size_t)f->nparams + 1;
    Cpu k = {.e = e,
             .arena = &arena,
             .params = qarena_alloc(&arena, nparams * sizeof(Opnd)),
             .extents = qarena_alloc(&arena, nparams * QS_MAX_RANK * 2 * sizeof(Opnd)),
             .alloca = qarena_alloc(&arena, f->nins * sizeof(uint32_t)),
             .big = qarena_alloc(&arena, f->nins * sizeof(uint32_t)),
             .copy = qarena_alloc(&arena, f->nins * sizeof(uint32_t)),
             .copied = qarena_alloc(&arena, f->nins),
             .scope = qarena_alloc(&arena, f->nins * sizeof(uint32_t))};
    e->frame = &k;
    e->param = get_param, e->extent = get_extent, e->container = get_container;
    e->leave = leave, e->fault = report_fault, e->poll = poll_stop, e->barrier = no_code, e->any = any_of_strip;
    qs_status s = run(&k, out);
    qarena_free(&arena);
    return s;
}
