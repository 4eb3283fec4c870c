/* emit_cpu.c -- emits the function of a kernel for the cpu.
 *
 *     kernel(args, run, first, last, scratch):
 *       parameters, extents                                   the entry block: loaded once
 *       for each block in first … last-1:                     polls the interrupt flag and the fault
 *         for each piece of the kernel (plan.h; mostly one):
 *           for each position of the block, last axis innermost: its instructions      (emit_rows.c)
 *
 * A kernel with shared memory may be compiled for a fixed block size.  Whole blocks then run a copy of the code in
 * which all lengths are constants.  Alias scopes tell LLVM that shared arrays and kept values do not overlap.
 *
 * This file contains the entry block, the memory of positions and blocks, the loop over blocks, and the rest of the
 * module. */
#include "lang/kernel/codegen/emit_cpu.h"
#include "devices/native.h"
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/pipeline.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { STACK_ARRAY = 1 << 14 /* bytes */ };

static Cpu *cpu_of(Emit *e) { return e->frame; }

static Opnd load_field(Emit *e, const char *base, size_t offset, const char *type, const char *tail) {
    Opnd at = emit_def(e, "getelementptr inbounds i8, ptr %s, i64 %zu", base, offset);
    return emit_def(e, "load %s, ptr %s%s", type, at.s, tail);
}

static const char extent_range[] = ", !range !2"; /* extents are not negative */

static Opnd load_number(Emit *e, int param) {
    qs_dtype d = (qs_dtype)e->f->params[param].dtype;
    size_t at = (size_t)param * sizeof(DevArg) + offsetof(DevArg, bits);
    Opnd v = load_field(e, "%args", at, emit_mem_type(e, d), "");
    return d == QS_B1 ? emit_def(e, "icmp ne i8 %s, 0", v.s) : v;
}

static Opnd load_base(Emit *e, int param) {
    size_t at = (size_t)param * sizeof(DevArg);
    Opnd block = load_field(e, "%args", at + offsetof(DevArg, block), "ptr", ""),
         off = load_field(e, "%args", at + offsetof(DevArg, offset), "i64", "");
    return emit_def(e, "getelementptr inbounds i8, ptr %s, i64 %s", block.s, off.s);
}

static Opnd get_param(Emit *e, int param) {
    Opnd *o = &cpu_of(e)->params[param];
    if (e->pads && *e->pads[param].s) return cpu_of(e)->pads[param];
    if (*o->s) return *o;
    EmitSpot s = emit_enter_entry(e);
    *o = e->f->params[param].kind == KP_NUM ? load_number(e, param) : load_base(e, param);
    emit_leave_entry(e, s);
    return *o;
}

static Opnd disguise(Emit *e, Opnd ptr) {
    EmitSpot s = emit_enter_entry(e);
    Opnd at = emit_def(e, "alloca ptr");
    emit_put(e, "store ptr %s, ptr %s", ptr.s, at.s);
    Opnd same = emit_def(e, "load volatile ptr, ptr %s", at.s);
    emit_leave_entry(e, s);
    return same;
}

static Opnd get_extent(Emit *e, int param, int axis, bool stride) {
    const KParam *p = &e->f->params[param];
    if (stride && p->unit_last && axis == p->rank - 1) return emit_opnd("1");
    Opnd *o = &cpu_of(e)->extents[(param * QS_MAX_RANK + axis) * 2 + stride];
    if (*o->s) return *o;
    EmitSpot s = emit_enter_entry(e);
    size_t at = (size_t)param * sizeof(DevArg) + (stride ? offsetof(DevArg, strides) : offsetof(DevArg, dims)) +
                (size_t)axis * 8;
    *o = load_field(e, "%args", at, "i64", stride ? "" : extent_range);
    emit_leave_entry(e, s);
    return *o;
}

static bool is_ordered(const KFunc *f) {
    if (kir_has(f, K_FETCH)) return true;
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        if (i->op == K_ATOMIC && kplan_rounds((KAtomic)i->flag, (qs_dtype)f->params[i->imm].dtype)) return true;
    }
    return false;
}

static void load_run(Cpu *k) {
    Emit *e = k->e;
    const KFunc *f = e->f;
    EmitSpot s = emit_enter_entry(e);
    for (int a = 0; a < f->rank; a++) {
        k->domain[a] = load_field(e, "%run", offsetof(NativeRun, domain) + (size_t)a * 8, "i64", extent_range);
        k->nblocks[a] = load_field(e, "%run", offsetof(NativeRun, nblocks) + (size_t)a * 8, "i64", extent_range);
        k->block[a] = f->fixed_block
                          ? emit_opnd("%d", f->block[a])
                          : load_field(e, "%run", offsetof(NativeRun, block) + (size_t)a * 8, "i64", extent_range);
        e->blkdim[a] = k->block[a], e->blkcnt[a] = k->nblocks[a];
    }
    k->stop = load_field(e, "%run", offsetof(NativeRun, stop), "ptr", "");
    k->fault = load_field(e, "%run", offsetof(NativeRun, fault), "ptr", "");
    Opnd alone = load_field(e, "%run", offsetof(NativeRun, alone), "i32", "");
    e->alone = is_ordered(f) ? emit_opnd("true") : emit_def(e, "icmp ne i32 %s, 0", alone.s);
    k->items = k->block[0];
    for (int a = 1; a < f->rank; a++) k->items = emit_def(e, "mul i64 %s, %s", k->items.s, k->block[a].s);
    emit_leave_entry(e, s);
}

Opnd cpu_hide(Emit *e, Opnd cond) {
    EmitSpot s = emit_enter_entry(e);
    Opnd at = emit_def(e, "alloca i1");
    emit_leave_entry(e, s);
    emit_put(e, "store i1 %s, ptr %s", cond.s, at.s);
    return at;
}

Opnd cpu_reveal(Emit *e, Opnd hidden) { return emit_def(e, "load volatile i1, ptr %s", hidden.s); }

/* -- memory of a position ------------------------------------------------------------------------------------------ */
static Place own_alloca(Cpu *k, KRef r) {
    Emit *e = k->e;
    const KIns *i = &e->f->ins[r];
    bool is_bit = i->op == K_LOCAL && i->dtype == QS_B1;
    if (k->big[r])
        return (Place){emit_def(e, "getelementptr inbounds i8, ptr %%scratch, i64 %u", k->big[r] - 1), .tail = ""};
    if (!k->alloca[r]) {
        EmitSpot s = emit_enter_entry(e);
        const char *t = is_bit ? "i1" : emit_mem_type(e, (qs_dtype)i->dtype);
        Opnd o = i->op == K_LARRAY ? emit_def(e, "alloca [%llu x %s], align 16", (unsigned long long)i->imm, t)
                                   : emit_def(e, "alloca %s", t);
        emit_leave_entry(e, s);
        k->alloca[r] = emit_number(o);
    }
    return (Place){emit_tmp(k->alloca[r]), .tail = "", .is_bit = is_bit};
}

/* Assigns private arrays that are too large for the stack of a thread to scratch memory, after the SHARED arrays. */
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

/* Kept values and arrays have one element per position.  For a strip they are in allocas, which are short enough for
 * LLVM to turn into vectors.  For a block they are in scratch memory, after the SHARED and the large private arrays
 * (block_place). */
static Place strip_place(Cpu *k, KRef r, uint64_t bytes) {
    Emit *e = k->e;
    if (!k->alloca[r]) {
        EmitSpot s = emit_enter_entry(e);
        unsigned long long n = bytes * (unsigned)k->strip;
        k->alloca[r] = emit_number(emit_def(e, "alloca [%llu x i8], align 64", n));
        emit_leave_entry(e, s);
    }
    Opnd off = emit_def(e, "mul nuw nsw i64 %s, %llu", k->item.s, (unsigned long long)bytes);
    return (Place){emit_def(e, "getelementptr inbounds i8, ptr %%t%u, i64 %s", k->alloca[r], off.s), .tail = e->group};
}

/* Returns the memory of a private array of a strip, stored element by element for all positions of the strip. */
static Place lane_place(Cpu *k, KRef r) {
    Emit *e = k->e;
    const KIns *i = &e->f->ins[r];
    const char *t = emit_mem_type(e, (qs_dtype)i->dtype);
    if (!k->alloca[r]) {
        EmitSpot s = emit_enter_entry(e);
        unsigned long long n = i->imm * (unsigned)k->strip;
        k->alloca[r] = emit_number(emit_def(e, "alloca [%llu x %s], align 64", n, t));
        emit_leave_entry(e, s);
    }
    Opnd own = emit_tmp(k->alloca[r]);
    if (e->now) own = emit_def(e, "getelementptr inbounds %s, ptr %s, i64 %s", t, own.s, k->item.s);
    return (Place){own, .tail = e->now ? e->group : "", .lanes = k->strip};
}

/* Defines n alias scopes and returns the metadata node of the first one.  The node of a scope is followed by the list
 * of the scope itself and the list of all other scopes. */
static uint32_t define_scopes(Emit *e, uint32_t n) {
    uint32_t first = e->metadata + 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t own = first + 3 * i;
        qtext_printf(&e->tail, "!%u = distinct !{!%u, !7}\n!%u = !{!%u}\n!%u = !{", own, own, own + 1, own, own + 2);
        for (uint32_t x = 0, before = 0; x < n; x++)
            if (x != i) qtext_printf(&e->tail, "%s!%u", before++ ? ", " : "", first + 3 * x);
        qtext_puts(&e->tail, "}\n");
    }
    e->metadata += 3 * n;
    return first;
}

static const char *print_scope(Cpu *k, const char *group, uint32_t scope) {
    enum { SIZE = 80 };
    char *s = qarena_alloc(k->arena, SIZE);
    snprintf(s, SIZE, "%s, !alias.scope !%u, !noalias !%u", group, scope + 1, scope + 2);
    return s;
}

/* Gives alias scopes to the memory of a block: one to each SHARED array and each kept value. */
static void number_scopes(Cpu *k) {
    Emit *e = k->e;
    uint32_t n = 0;
    for (KRef r = 1; r < e->f->nins; r++)
        if (e->f->ins[r].op == K_SHARED || k->plan->home[r] == KH_KEPT) k->scope[r] = 3 * n++;
    uint32_t first = define_scopes(e, n);
    for (KRef r = 1; r < e->f->nins; r++)
        if (e->f->ins[r].op == K_SHARED || k->plan->home[r] == KH_KEPT) k->scope[r] += first;
}

static const char *scoped(Cpu *k, KRef r) {
    return k->scope[r] ? print_scope(k, k->e->group, k->scope[r]) : k->e->group;
}

/* Gives an alias scope to each array parameter of a loop whose launch has tested that arrays do not overlap. */
static void separate_arrays(Cpu *k) {
    enum { MOST = 32 /* parameters: each scope lists all others */ };
    Emit *e = k->e;
    bool flagged = false;
    for (KRef r = 1; r < e->f->nins; r++) flagged |= e->f->ins[r].op == K_FOR && e->f->ins[r].flag;
    if (!e->f->apart || !flagged || e->f->nparams > MOST) return;
    uint32_t first = define_scopes(e, (uint32_t)e->f->nparams);
    const char *(*scopes)[2] = qarena_alloc(k->arena, qmem_size((size_t)e->f->nparams + 1, sizeof *scopes, 0));
    for (int p = 0; p < e->f->nparams; p++)
        for (int g = 0; g < 2; g++)
            scopes[p][g] = print_scope(k, g ? ", !llvm.access.group !0" : "", first + 3 * (uint32_t)p);
    e->scopes = (const char *const(*)[2])scopes;
}

static Place block_place(Cpu *k, uint32_t slot, uint64_t bytes) {
    Emit *e = k->e;
    Opnd row = emit_def(e, "mul i64 %s, %u", k->items.s, slot);
    Opnd base = emit_def(e, "getelementptr inbounds i8, ptr %%scratch, i64 %s",
                         emit_def(e, "add i64 %s, %u", row.s, k->head).s);
    Opnd off = emit_def(e, "mul i64 %s, %llu", k->item.s, (unsigned long long)bytes);
    return (Place){emit_def(e, "getelementptr inbounds i8, ptr %s, i64 %s", base.s, off.s), .tail = e->group};
}

Place cpu_kept_place(Cpu *k, KRef r) {
    const KIns *i = &k->e->f->ins[r];
    uint64_t bytes = (i->op == K_LARRAY ? i->imm : 1) * qdtype_size((qs_dtype)i->dtype);
    if (k->strip) return strip_place(k, r, bytes);
    Place at = block_place(k, k->plan->slot[r], bytes);
    at.tail = scoped(k, r);
    return at;
}

/* Instruction 0 does not exist; in a strip its entry is used for the bytes that tell which positions have not ended. */
Place cpu_alive_place(Cpu *k) { return k->strip ? strip_place(k, 0, 1) : block_place(k, k->plan->alive, 1); }

bool cpu_is_kept(const Cpu *k, KRef r) { return k->plan && k->plan->cls[r] == KC_PIECE && k->plan->home[r] == KH_KEPT; }

static Place get_container(Emit *e, KRef r) {
    Cpu *k = cpu_of(e);
    const KIns *i = &e->f->ins[r];
    if (k->copied[r]) return (Place){emit_tmp(k->copy[r]), .tail = ""};
    if (k->strip && k->plan->lanes[r]) return lane_place(k, r);
    if (i->op == K_SHARED)
        return (Place){emit_def(e, "getelementptr inbounds i8, ptr %%scratch, i64 %u", k->plan->slot[r]),
                       .tail = scoped(k, r)};
    if (cpu_is_kept(k, r)) {
        Place at = cpu_kept_place(k, r);
        if (i->op == K_LARRAY) at.tail = "";
        return at;
    }
    return own_alloca(k, r);
}

void cpu_fill(Emit *e, Opnd ptr, int byte, Opnd n) {
    emit_declare(e, "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)");
    emit_put(e, "call void @llvm.memset.p0.i64(ptr %s, i8 %d, i64 %s, i1 false)", ptr.s, byte, n.s);
}

/* -- early ends and faults ----------------------------------------------------------------------------------------- */
static void leave_position(Emit *e) {
    Cpu *k = cpu_of(e);
    if (k->plan && k->plan->mortal && e->now) emit_put(e, "store i8 0, ptr %s", cpu_alive_place(k).ptr.s);
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

static void no_code(Emit *e) { (void)e; }

static void poll_stop(Emit *e) {
    uint32_t on = emit_new(e);
    Opnd v = emit_def(e, "load volatile i32, ptr %s", cpu_of(e)->stop.s);
    emit_branch(e, emit_def(e, "icmp eq i32 %s, 0", v.s), on, cpu_of(e)->done);
    emit_label(e, on);
}

void cpu_poll_fault(Cpu *k) {
    Emit *e = k->e;
    uint32_t on = emit_new(e);
    Opnd v = emit_def(e, "load atomic i32, ptr %s monotonic, align 4", k->fault.s);
    emit_branch(e, emit_def(e, "icmp eq i32 %s, 0", v.s), on, k->done);
    emit_label(e, on);
}

/* -- blocks -------------------------------------------------------------------------------------------------------- */

static void begin_block(Cpu *k) {
    Emit *e = k->e;
    if (!k->plan) return;
    for (KRef r = 1; r < e->f->nins; r++) {
        const KIns *i = &e->f->ins[r];
        if (i->op == K_SHARED && i->flag)
            cpu_fill(e, get_container(e, r).ptr, 0,
                     emit_opnd("%llu", (unsigned long long)i->imm * qdtype_size((qs_dtype)i->dtype)));
    }
    if (!k->plan->mortal) return;
    k->item = emit_opnd("0");
    cpu_fill(e, cpu_alive_place(k).ptr, 1, k->items);
}

/* Computes the index of the block along each axis, and the range of its positions. */
static void locate_block(Cpu *k, Opnd number) {
    Emit *e = k->e;
    for (int a = e->f->rank - 1; a >= 0; a--) {
        e->blkidx[a] = a ? emit_def(e, "urem i64 %s, %s", number.s, k->nblocks[a].s) : number;
        if (a) number = emit_def(e, "udiv i64 %s, %s", number.s, k->nblocks[a].s);
        k->lo[a] = emit_def(e, "mul nuw nsw i64 %s, %s", e->blkidx[a].s, k->block[a].s);
        Opnd end = emit_def(e, "add nuw nsw i64 %s, %s", k->lo[a].s, k->block[a].s);
        k->hi[a] = rows_min(e, end, k->domain[a]);
    }
}

Opnd cpu_launch_in_box(Cpu *k, const KBox *box) {
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

/* Emits the pieces of a block; if the block size is fixed, once for whole blocks and once for partial ones at the
 * edge. */
static void whole_or_not(Cpu *k) {
    Emit *e = k->e;
    const KFunc *f = e->f;
    Opnd whole = emit_opnd("true");
    for (int a = 0; a < f->rank; a++) {
        k->span[a] = emit_def(e, "sub nsw i64 %s, %s", k->hi[a].s, k->lo[a].s);
        whole = emit_def(e, "and i1 %s, %s", whole.s, emit_def(e, "icmp eq i64 %s, %s", k->span[a].s, k->block[a].s).s);
    }
    if (!f->fixed_block) {
        rows_each_piece(k);
        return;
    }
    uint32_t all = emit_new(e), some = emit_new(e), done = emit_new(e);
    emit_branch(e, whole, all, some);
    emit_label(e, some);
    k->rare = true;
    rows_each_piece(k);
    emit_jump(e, done);
    emit_label(e, all);
    k->rare = false;
    memcpy(k->span, k->block, sizeof k->span);
    rows_each_piece(k);
    emit_label(e, done);
}

static void emit_prologue(Cpu *k, const KSplit *box) {
    EmitSpot s = emit_enter_entry(k->e);
    emit_range(k->e, 1, box->prologue_end);
    if (box->near.given) k->near = cpu_hide(k->e, cpu_launch_in_box(k, &box->near));
    emit_leave_entry(k->e, s);
}

static void emit_body(Cpu *k) {
    Emit *e = k->e;
    if (e->split) emit_prologue(k, e->split);
    BlockAxis blocks = rows_open_axis(e, emit_opnd("%%first"), emit_opnd("%%last"));
    k->block_end = blocks.next;
    poll_stop(e);
    if (kir_has(e->f, K_CHECK)) cpu_poll_fault(k);
    locate_block(k, blocks.x);
    begin_block(k);
    if (k->plan) whole_or_not(k);
    else rows_each_position(k, 1, e->f->nins);
    rows_close_axis(e, &blocks, "");
    emit_jump(e, k->done);
    emit_label(e, k->done);
    emit_put(e, "ret void");
}

/* -- functions that the kernel calls ------------------------------------------------------------------------------- */
static const char callee_head[] = "(ptr noalias readonly %args, ptr noalias readonly %run";

static Cpu *new_cpu(Emit *e, Arena *arena) {
    const KFunc *f = e->f;
    size_t nparams = (size_t)f->nparams + 1;
    Cpu *k = qarena_alloc(arena, sizeof *k);
    *k = (Cpu){.e = e,
               .arena = arena,
               .params = qarena_alloc(arena, qmem_size(nparams, sizeof(Opnd), 0)),
               .extents = qarena_alloc(arena, qmem_size(nparams, QS_MAX_RANK * 2 * sizeof(Opnd), 0)),
               .pads = qarena_alloc(arena, qmem_size(nparams, sizeof(Opnd), 0)),
               .alloca = qarena_alloc(arena, qmem_size(f->nins, sizeof(uint32_t), 0)),
               .big = qarena_alloc(arena, qmem_size(f->nins, sizeof(uint32_t), 0)),
               .copy = qarena_alloc(arena, qmem_size(f->nins, sizeof(uint32_t), 0)),
               .copied = qarena_alloc(arena, f->nins),
               .scope = qarena_alloc(arena, qmem_size(f->nins, sizeof(uint32_t), 0))};
    e->frame = k;
    e->param = get_param, e->extent = get_extent, e->container = get_container, e->disguise = disguise;
    e->leave = leave_position, e->fault = report_fault, e->poll = poll_stop, e->barrier = no_code,
    e->any = rows_any_of_strip;
    return k;
}

/* The struct of all results, and `ret`. */
static void emit_return(Emit *e, const char *type) {
    const KFunc *f = e->f;
    Opnd all = emit_opnd("undef");
    for (int i = 0; i < f->noutputs; i++)
        all = emit_def(e, "insertvalue %s %s, %s %s, %d", type, all.s, emit_type((qs_dtype)f->outputs[i]),
                       e->outputs[i].s, i);
    emit_put(e, "ret %s %s", type, all.s);
    e->dead = true;
}

/* Tests the stack and polls the interrupt flag.  This precedes each call of copy 0, so that a recursion without loops
 * can be stopped, too.  A function that makes no calls needs neither. */
static void guard_call(Emit *e) {
    Cpu *k = cpu_of(e);
    uint32_t on = emit_new(e);
    Opnd stop = k->stop;
    if (!k->here.s[0]) {
        EmitSpot s = emit_enter_entry(e);
        k->here = emit_def(e, "ptrtoint ptr %s to i64", emit_def(e, "alloca i8").s);
        emit_leave_entry(e, s);
    }
    Opnd limit = load_field(e, "%run", offsetof(NativeRun, stack), "i64", "");
    emit_branch(e, emit_def(e, "icmp ugt i64 %s, %s", k->here.s, limit.s), on, k->done);
    emit_label(e, on);
    k->stop = load_field(e, "%run", offsetof(NativeRun, stop), "ptr", "");
    poll_stop(e);
    k->stop = stop;
}

/* The copies of the callees.  levels: how many frames the inlined copies open at most; refuses: a call may tell its
 * callee to fail, by 0 frames. */
typedef struct {
    int n, levels;
    bool refuses;
} Copies;

/* Returns how many frames each call in f opens at most: argument 0 of a call is input 0 less this number, or a choice
 * between that and 0, which sets *refuses.  0: unknown. */
static int frames_per_call(const KFunc *f, bool *refuses) {
    double most = 0, opened, none;
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r], *left = &f->ins[i->a];
        if (i->op != K_ARG || i->imm) continue;
        bool chosen = left->op == K_SELECT && kir_is_const(f, left->c, &none) && none == 0;
        if (chosen) left = &f->ins[left->b], *refuses = true;
        bool known = left->op == K_SUB && f->ins[left->a].op == K_INPUT && kir_is_const(f, left->b, &opened);
        if (!known || f->ins[left->a].imm || !(opened >= 1 && opened < 1000)) return 0;
        most = opened > most ? opened : most;
    }
    return (int)most;
}

/* Returns, by LOOP or FOR: it may have a second iteration.  A LOOP whose body ends with a BREAK and has no CONTINUE has
 * none, as the body of an inlined function. */
static bool *find_repeated(Arena *a, const KFunc *f) {
    bool *repeated = qarena_alloc(a, f->nins);
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r], *last = &f->ins[f->regions[r].end - 1];
        if (i->op == K_CONTINUE) repeated[kir_jump_target(f, r)] = true;
        if (kir_is_loop(i->op)) repeated[r] |= i->op == K_FOR || last->op != K_BREAK || last->imm;
    }
    return repeated;
}

/* Counts the calls in f.  One in a loop counts as several, because LLVM may unroll the loop. */
static double count_calls(Arena *a, const KFunc *f) {
    enum { UNROLLED = 8 };
    double calls = 0;
    int loops = 0, depth = 0;
    bool is_loop[EMIT_MAX_LOOPS + 1] = {0}, *repeated = find_repeated(a, f);
    for (KRef r = 1; r < f->nins; r++) {
        uint8_t op = f->ins[r].op;
        if (op == K_END) loops -= is_loop[depth--];
        if (kir_opens(op)) loops += is_loop[++depth] = repeated[r];
        if (op == K_CALL) calls += loops ? UNROLLED : 1;
    }
    return calls;
}

/* LLVM does not inline a function into itself.  So there are several copies of each callee: copy 0 calls copy 1, which
 * is inlined and calls copy 2, and so on; the last one calls copy 0.  There are as many copies as keep the code
 * short. */
static Copies count_copies(Arena *a, const KFunc *source) {
    enum { MOST_COPIES = 5, MOST_INS = 1500 };
    double size = 0, calls = 0, all = 0;
    int frames = 0, n = 0;
    bool refuses = false;
    for (int c = 0; c < source->ncallees; c++) {
        const KFunc *f = source->callees[c];
        double own = count_calls(a, f);
        int opened = frames_per_call(f, &refuses);
        if (own && !opened) return (Copies){1, 0, refuses};
        size += f->nins, calls = own > calls ? own : calls, frames = opened > frames ? opened : frames;
    }
    for (; n < MOST_COPIES && (all += size) <= MOST_INS; n++) size *= calls;
    n = n ? n : 1;
    return (Copies){n, (n - 1) * frames, refuses};
}

/* Copy 0 fails unless all inlined copies can open their frames, so that these need no test, unless calls refuse. */
static void check_frames(Cpu *k, int copy, Copies copies) {
    Emit *e = k->e;
    uint32_t on = emit_new(e);
    if (!copy) {
        emit_branch(e, emit_def(e, "icmp sgt i64 %%i0, %d", copies.levels), on, k->done);
        emit_label(e, on);
    }
    if (copy && copies.refuses) return;
    emit_declare(e, "declare void @llvm.assume(i1)");
    emit_put(e, "call void @llvm.assume(i1 %s)", emit_def(e, "icmp sgt i64 %%i0, 0").s);
}

static void emit_callee(Cpu *parent, int n, int copy, Copies copies, Text *out) {
    Emit *up = parent->e, *e = qarena_alloc(parent->arena, sizeof *e);
    PipelineResult lowered;
    Text type;
    kpipeline_run(up->c, parent->arena, up->source->callees[n], PIPELINE_CALLEE, &lowered, NULL);
    *e = (Emit){.c = up->c, .f = lowered.func, .source = up->source, .t = up->t, .decls = up->decls, .tail = up->tail};
    e->bits = lowered.bits, e->group = e->updates = "", e->metadata = up->metadata, e->now = 1;
    e->array_space = e->shared_space = "";
    e->callee_copy = (copy + 1) % copies.n;
    emit_tables(e, parent->arena);
    qtext_init(&e->entry, e->c), qtext_init(&e->body, e->c), qtext_init(&type, e->c);
    e->out = &e->body;
    Cpu *k = new_cpu(e, parent->arena);
    k->done = k->block_end = emit_new(e);
    if (!e->callee_copy) e->guard = guard_call;
    emit_signature(e->f, &type);
    k->stop = load_field(e, "%run", offsetof(NativeRun, stop), "ptr", "");
    check_frames(k, copy, copies);
    emit_range(e, 1, e->f->nins);
    emit_return(e, type.s);
    emit_label(e, k->done);
    emit_put(e, "ret %s zeroinitializer", type.s);
    qtext_printf(out, "define internal fastcc %s @f%d.%d%s", type.s, n, copy, callee_head);
    for (int i = 0; i < e->f->ninputs; i++) qtext_printf(out, ", %s %%i%d", emit_type((qs_dtype)e->f->inputs[i]), i);
    qtext_printf(out, ") %s#0 {\nentry:\n", copy ? "alwaysinline " : "");
    if (e->entry.len) qtext_add(out, e->entry.s, e->entry.len);
    qtext_add(out, e->body.s, e->body.len);
    qtext_puts(out, "}\n");
    qtext_free(&e->entry), qtext_free(&e->body), qtext_free(&type);
    up->decls = e->decls, up->tail = e->tail, up->metadata = e->metadata;
}

/* -- the module ---------------------------------------------------------------------------------------------------- */

static bool has_unknown_loop(const KFunc *f) {
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_LOOP || (f->ins[r].op == K_FOR && kplan_iterations(f, r) < 0)) return true;
    return false;
}

static bool has_long_loop(const Emit *e) {
    for (KRef r = 1; r < e->f->nins; r++)
        if (e->f->ins[r].op == K_LOOP || (e->f->ins[r].op == K_FOR && !kplan_unrolls(e->f, r))) return true;
    return false;
}

static uint32_t cost_of_one(uint8_t op) {
    bool dear = op == K_MATH || op == K_DIV || op == K_MOD;
    return dear ? 8 : op == K_ATOMIC || op == K_FETCH ? 20 : op == K_CONST ? 0 : 1;
}

/* Estimates the number of instructions per position; loops of unknown length count as 16 iterations. */
static uint32_t cost_of(const KFunc *f) {
    double sum = 0, times[EMIT_MAX_LOOPS + 1] = {1};
    int depth = 0;
    for (KRef r = 1; r < f->nins; r++) {
        uint8_t op = f->ins[r].op;
        if (op == K_END || op == K_ELSE) depth--;
        sum += times[depth] * cost_of_one(op);
        if (op != K_IF && op != K_ELSE && op != K_LOOP && op != K_FOR) continue;
        int64_t iterations = op == K_FOR ? kplan_iterations(f, r) : op == K_LOOP ? -1 : 1;
        times[depth + 1] = times[depth] * (iterations < 0 ? 16 : (double)iterations), depth++;
    }
    return sum < 1 ? 1 : sum > 1e9 ? 1000000000u : (uint32_t)sum;
}

/* Adds sign * r to the iteration count *out, which is a constant plus at most one extent or integer parameter; false: r
 * has another form. */
static bool add_bound(const KFunc *f, KRef r, int sign, LoopCost *out) {
    const KIns *i = &f->ins[r];
    double v;
    if (kir_is_const(f, r, &v)) return out->more += sign * (int64_t)v, fabs(v) < 0x1p53;
    if (i->op == K_CAST && qdtype_is_int((qs_dtype)f->ins[i->a].dtype)) return add_bound(f, i->a, sign, out);
    if (i->op == K_ADD || i->op == K_SUB)
        return add_bound(f, i->a, sign, out) && add_bound(f, i->b, i->op == K_ADD ? sign : -sign, out);
    bool number = i->op == K_PARAM && (i->dtype == QS_I32 || i->dtype == QS_I64), extent = i->op == K_DIM;
    uint64_t param = extent ? i->imm >> 8 : i->imm;
    if ((!number && !extent) || sign < 0 || out->axis != NATIVE_ONCE || param > UINT8_MAX) return false;
    out->axis = extent ? (uint8_t)i->imm : NATIVE_NUMBER, out->dtype = i->dtype, out->param = (uint8_t)param;
    return true;
}

/* Describes the iteration count of a FOR with step 1: last - first + 1; false: it has another form. */
static bool iterations_of(const KFunc *f, KRef loop, LoopCost *out) {
    const KIns *i = &f->ins[loop];
    double step;
    out->more = 1, out->axis = NATIVE_ONCE;
    bool counts = i->op == K_FOR && kir_is_const(f, i->c, &step) && step == 1;
    return counts && add_bound(f, i->b, 1, out) && add_bound(f, i->a, -1, out);
}

/* Counts the instructions per position, grouped by their innermost loop, and returns the number of groups; 0: there are
 * too many loops, or one whose iteration count is not known before the launch. */
static int list_loop_costs(const KFunc *f, LoopCost out[NATIVE_COSTS]) {
    uint8_t in[EMIT_MAX_LOOPS + 1] = {0};
    int n = 1, depth = 0;
    out[0] = (LoopCost){.axis = NATIVE_ONCE, .more = 1};
    for (KRef r = 1; r < f->nins; r++) {
        uint8_t op = f->ins[r].op;
        if (op == K_END || op == K_ELSE) depth--;
        out[in[depth]].cost += cost_of_one(op);
        if (op != K_IF && op != K_ELSE && op != K_LOOP && op != K_FOR) continue;
        uint8_t around = in[depth++];
        in[depth] = around;
        if (op == K_IF || op == K_ELSE) continue;
        LoopCost loop = {.around = around};
        if (n == NATIVE_COSTS || !iterations_of(f, r, &loop)) return 0;
        in[depth] = (uint8_t)n;
        out[n++] = loop;
    }
    return n;
}

static bool has_atomic(const KFunc *f, int p) {
    for (KRef r = 1; r < f->nins; r++)
        if ((f->ins[r].op == K_ATOMIC || f->ins[r].op == K_FETCH) && (int)f->ins[r].imm == p) return true;
    return false;
}

/* Returns the Combine operation that merges partial results of atomic updates with op; -1: there is none. */
static int combining(KAtomic op) {
    static const int8_t of[KA__COUNT] = {COMBINE_ADD, COMBINE_ADD, -1,          -1, COMBINE_MIN, COMBINE_MAX,
                                         COMBINE_AND, COMBINE_OR,  COMBINE_XOR, -1, -1,          -1};
    return of[op];
}

/* Returns the Combine operation of all atomic updates of parameter p; -1: the updates cannot be merged, or p has other
 * uses; -2: p has no atomic updates. */
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

/* Whether the value is computed from an instruction `op` with the number imm, by sums, products and access modes. */
static bool contains(const KFunc *f, KRef r, uint8_t op, uint64_t imm) {
    const KIns *i = &f->ins[r];
    if (i->op == op) return i->imm == imm || op == K_FOR;
    if (i->op == K_CAST || i->op == K_BOUND) return contains(f, i->a, op, imm);
    bool sum = i->op == K_ADD || i->op == K_SUB || i->op == K_MUL;
    return sum && (contains(f, i->a, op, imm) || contains(f, i->b, op, imm));
}

/* Whether nearly square blocks suit an access: its index follows a column along the last axis of the position and a row
 * along another axis, as in y[pos[1],pos[0]]; or each row reads the same columns in a loop, as in x[k,pos[1]]. */
static bool suits_tiles(const KFunc *f, KRef index) {
    Affine sum;
    bool row = false, column = false, along = false, others = false, loops = false;
    if (!kaffine_of(f, index, &sum)) return false;
    for (int i = 0; i < sum.n; i++) {
        const KRef term = sum.term[i].ref;
        const bool product = f->ins[term].op == K_MUL;
        const bool unit = !product && (sum.term[i].factor == 1 || sum.term[i].factor == -1);
        loops |= product && contains(f, term, K_FOR, 0);
        for (int a = 0; a < f->rank; a++) {
            if (!contains(f, term, K_POS, (uint64_t)a)) continue;
            if (a < f->rank - 1) others = true, row |= unit;
            else column |= product, along |= !product;
        }
    }
    return !along ? row && column : loops && !others && !column;
}

static bool has_tiles(const KFunc *f) {
    for (KRef r = 1; r < f->nins && f->rank > 1; r++)
        if ((f->ins[r].op == K_LOAD || f->ins[r].op == K_STORE) && suits_tiles(f, f->ins[r].a)) return true;
    return false;
}

static void print_info(Cpu *k, Text *out) {
    const KFunc *f = k->e->source;
    NativeSum sums[NATIVE_SUMS] = {0};
    LoopCost costs[NATIVE_COSTS] = {0};
    int nsums = f->serial || f->few ? 0 : find_sums(f, sums);
    unsigned flags = (k->blocks ? NATIVE_BLOCKS : 0u) | (rows_has_edges(k) ? NATIVE_ROWS : 0u) |
                     (f->serial ? NATIVE_SERIAL : 0u) | (kir_has(f, K_CHECK) ? NATIVE_CHECKS : 0u) |
                     (has_unknown_loop(f) ? NATIVE_LOOPS : 0u) |
                     (k->e->source->ncallees ? NATIVE_CALLS | NATIVE_LOOPS : 0u) |
                     (has_long_loop(k->e) && !k->strips ? NATIVE_SINGLE : 0u) | (is_ordered(f) ? NATIVE_ORDERED : 0u) |
                     (has_tiles(f) ? NATIVE_TILES : 0u);
    qtext_printf(out,
                 "@kernel_info = constant { i32, i32, i32, i32, i64, i64, i32, [%d x [4 x i8]], i32, "
                 "[%d x { i32, i8, i8, i8, i8, i64 }] } { i32 %d, i32 %u, i32 %u, i32 %d, i64 %u, "
                 "i64 %u, i32 %d, [%d x [4 x i8]] [",
                 NATIVE_SUMS, NATIVE_COSTS, NATIVE_ABI, flags, cost_of(f), f->nparams, k->head,
                 k->plan ? k->plan->item_bytes : 0, nsums, NATIVE_SUMS);
    for (int i = 0; i < NATIVE_SUMS; i++)
        qtext_printf(out, "%s[4 x i8] [i8 %u, i8 %u, i8 %u, i8 %u]", i ? ", " : "", sums[i].param, sums[i].op,
                     sums[i].dtype, sums[i].parts);
    qtext_printf(out, "], i32 %d, [%d x { i32, i8, i8, i8, i8, i64 }] [", nsums ? list_loop_costs(f, costs) : 0,
                 NATIVE_COSTS);
    for (int i = 0; i < NATIVE_COSTS; i++)
        qtext_printf(out, "%s{ i32, i8, i8, i8, i8, i64 } { i32 %u, i8 %u, i8 %u, i8 %u, i8 %u, i64 %lld }",
                     i ? ", " : "", costs[i].cost, costs[i].around, costs[i].param, costs[i].axis, costs[i].dtype,
                     (long long)costs[i].more);
    qtext_puts(out, "] }\n");
}
_Static_assert(offsetof(NativeInfo, shared_bytes) == 16 && offsetof(NativeInfo, sums) == 36 && sizeof(NativeSum) == 4 &&
                   offsetof(NativeInfo, costs) == 72 && sizeof(LoopCost) == 16,
               "print_info writes a NativeInfo");

/* Marks the declared vector functions as used, so that LLVM keeps them until vectorization. */
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
    Copies copies = count_copies(k->arena, e->source);
    for (int i = 0; i < copies.n * e->source->ncallees; i++) emit_callee(k, i / copies.n, i % copies.n, copies, out);
    if (kir_has(e->f, K_CHECK)) add_fault_function(e);
    /* LLVM estimates quotients and roots only if infinite operands and results need not be correct.  As an attribute of
     * the function, unlike a flag of instructions, this does not remove tests for infinities. */
    qtext_printf(&e->tail, "attributes #0 = { nounwind%s%s }\nattributes #1 = { nounwind willreturn memory(none) }\n",
                 strchr(e->t->mvec, 'e') ? " \"prefer-vector-width\"=\"512\"" : "",
                 e->f->fast ? " \"no-infs-fp-math\"=\"true\"" : "");
    qtext_puts(
        &e->tail,
        "!0 = distinct !{}\n!1 = !{!\"llvm.loop.parallel_accesses\", !0}\n!2 = !{i64 0, i64 1152921504606846976}\n"
        "!3 = !{!\"llvm.loop.vectorize.enable\", i1 false}\n!4 = !{!\"llvm.loop.unroll.disable\"}\n"
        "!5 = !{!\"llvm.loop.vectorize.enable\", i1 true}\n"
        "!6 = !{!\"llvm.loop.vectorize.followup_vectorized\", !{!\"llvm.loop.unroll.full\"}}\n"
        "!7 = distinct !{!7}\n!8 = distinct !{!8, !7}\n!9 = !{!8}\n!10 = !{}\n"
        "!11 = !{!\"llvm.loop.interleave.count\", i32 2}\n!12 = !{!\"llvm.loop.unroll.full\"}\n");
}

static qs_status emit_kernel(Cpu *k, Text *out) {
    Emit *e = k->e;
    KPlan plan;
    k->blocks = kir_knows_blocks(e->f);
    if (e->f->barrier || e->f->shared) {
        TRY(kplan_block(e->c, k->arena, e->f, &plan));
        k->plan = &plan;
        number_scopes(k);
        rows_widen_kept(k);
    }
    separate_arrays(k);
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
    qs_status s = emit_kernel(new_cpu(e, &arena), out);
    qarena_free(&arena);
    return s;
}
