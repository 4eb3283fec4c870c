/* emit_ptx.c -- the frame of a kernel for NVIDIA GPUs (NVPTX): one thread is one position; devices/ptx.h says how it is
 * launched. */
#include "devices/ir_workarounds.h"
#include "devices/ptx.h"
#include "lang/kernel/codegen/emit_llvm.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    Emit *e;
    int *slot;              /* of each parameter */
    Opnd *params, *extents; /* what was loaded in the entry block; "": not yet */
    uint32_t *alloca;       /* by instruction: LOCAL, LARRAY, and SHARED given with the launch */
    uint64_t *offset;       /* of such a SHARED */
    bool dynamic;           /* shared arrays are given with the launch */
    uint32_t done;
} Gpu;

const KTarget kemit_nvptx = {.threads = true, .libdevice = true, .estimates = true, .half = true, .orders_zeros = true};

static Gpu *gpu_of(Emit *e) { return e->frame; }

static Opnd load_slot(Emit *e, int slot, const char *type) {
    Opnd at = emit_def(e, "getelementptr inbounds i64, ptr %%slots, i64 %d", slot);
    return emit_def(e, "load %s, ptr %s, align 8", type, at.s);
}

/* The extents of a small kernel fit into the low halves of their slots. */
static Opnd load_extent(Emit *e, int slot) {
    if (!e->f->small) return load_slot(e, slot, "i64");
    return emit_def(e, "sext i32 %s to i64", load_slot(e, slot, "i32").s);
}

static Opnd get_param(Emit *e, int param) {
    Gpu *g = gpu_of(e);
    Opnd *o = &g->params[param];
    const KParam *p = &e->f->params[param];
    if (*o->s) return *o;
    EmitSpot s = emit_enter_entry(e);
    if (p->kind == KP_ARRAY)
        *o = emit_def(e, "inttoptr i64 %s to ptr addrspace(1)", load_slot(e, g->slot[param], "i64").s);
    else if (p->dtype == QS_B1) *o = emit_def(e, "icmp ne i8 %s, 0", load_slot(e, g->slot[param], "i8").s);
    else *o = load_slot(e, g->slot[param], emit_type((qs_dtype)p->dtype));
    emit_leave_entry(e, s);
    return *o;
}

static Opnd get_extent(Emit *e, int param, int axis, bool stride) {
    Gpu *g = gpu_of(e);
    const KParam *p = &e->f->params[param];
    if (stride && p->unit_last && axis == p->rank - 1) return emit_opnd("1");
    Opnd *o = &g->extents[(param * QS_MAX_RANK + axis) * 2 + stride];
    if (*o->s) return *o;
    EmitSpot s = emit_enter_entry(e);
    *o = load_extent(e, g->slot[param] + 1 + axis + (stride ? p->rank : 0));
    emit_leave_entry(e, s);
    return *o;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */
static Place get_container(Emit *e, KRef r) {
    Gpu *g = gpu_of(e);
    const KIns *i = &e->f->ins[r];
    const char *t = emit_mem_type(e, (qs_dtype)i->dtype);
    if (i->op == K_SHARED && !g->dynamic) return (Place){emit_opnd("@shared%u", r), .tail = ""};
    if (!g->alloca[r]) {
        EmitSpot s = emit_enter_entry(e);
        unsigned long long n = i->op == K_LARRAY ? i->imm : 1;
        Opnd at = i->op == K_SHARED ? emit_def(e, "getelementptr i8, ptr addrspace(3) @shared, i64 %llu",
                                               (unsigned long long)g->offset[r])
                                    : emit_def(e, "alloca [%llu x %s], align 8", n, t);
        g->alloca[r] = emit_number(at);
        emit_leave_entry(e, s);
    }
    return (Place){emit_tmp(g->alloca[r]), .tail = ""};
}

/* Bytes of all shared arrays; offset: where each begins, or NULL. */
static uint64_t place_shared(const KFunc *f, uint64_t *offset) {
    uint64_t at = 0;
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        if (i->op != K_SHARED) continue;
        if (offset) offset[r] = at;
        at += (i->imm * emit_mem_size((qs_dtype)i->dtype) + 15) & ~(uint64_t)15;
    }
    return at;
}

void kemit_ptx_needs(const KFunc *f, Text *out) {
    PtxNeeds n = {.serial = f->serial,
                  .fault = kir_has(f, K_CHECK),
                  .blocks = kir_knows_blocks(f) && !f->serial && !f->fixed_block};
    uint64_t shared = place_shared(f, NULL);
    if (shared > PTX_STATIC_SHARED) n.shared = shared < UINT32_MAX ? (unsigned)shared : UINT32_MAX;
    qptx_say(out, &n);
}

static void declare_shared(Emit *e, Text *out) {
    if (gpu_of(e)->dynamic) {
        qtext_puts(out, "@shared = external addrspace(3) global [0 x i8], align 16\n");
        return;
    }
    for (KRef r = 1; r < e->f->nins; r++) {
        const KIns *i = &e->f->ins[r];
        if (i->op == K_SHARED)
            qtext_printf(out, "@shared%u = internal addrspace(3) global [%llu x %s] undef, align 16\n", r,
                         (unsigned long long)i->imm, emit_mem_type(e, (qs_dtype)i->dtype));
    }
}

/* -- ends ---------------------------------------------------------------------------------------------------------- */
static void leave(Emit *e) { emit_jump(e, e->item_end); }

static void barrier(Emit *e) {
    emit_declare(e, "declare void @llvm.nvvm.barrier0() convergent nounwind");
    emit_put(e, "call void @llvm.nvvm.barrier0()");
}

static void report_fault(Emit *e, const KIns *i) {
    Opnd value[2] = {emit_double(e, i->b), emit_double(e, i->c)};
    Opnd fault = emit_def(e, "inttoptr i64 %s to ptr addrspace(1)", load_slot(e, PTX_FAULT, "i64").s);
    uint32_t first = emit_new(e), done = emit_new(e);
    Opnd pair = emit_def(e, "cmpxchg ptr addrspace(1) %s, i32 0, i32 %llu monotonic monotonic", fault.s,
                         (unsigned long long)i->imm + 1);
    emit_branch(e, emit_def(e, "extractvalue { i32, i1 } %s, 1", pair.s), first, done);
    emit_label(e, first);
    Opnd at = emit_def(e, "getelementptr i8, ptr addrspace(1) %s, i64 %zu", fault.s, offsetof(DevFault, pos));
    emit_put(e, "store i32 %u, ptr addrspace(1) %s", i->pos, at.s);
    for (size_t k = 0; k < 2; k++) {
        at = emit_def(e, "getelementptr i8, ptr addrspace(1) %s, i64 %zu", fault.s, offsetof(DevFault, value) + 8 * k);
        emit_put(e, "store double %s, ptr addrspace(1) %s", value[k].s, at.s);
    }
    for (int k = 0; k < e->f->rank; k++) {
        at = emit_def(e, "getelementptr i8, ptr addrspace(1) %s, i64 %zu", fault.s,
                      offsetof(DevFault, at) + 8 * (size_t)k);
        emit_put(e, "store i64 %s, ptr addrspace(1) %s", e->pos[k].s, at.s);
    }
    emit_label(e, done);
}

/* Reads a special register of PTX, such as "tid.x". */
static Opnd read_sreg(Emit *e, const char *name) {
    emit_declare(e, "declare i32 @llvm.nvvm.read.ptx.sreg.%s() nounwind memory(none)", name);
    return emit_def(e, "call i32 @llvm.nvvm.read.ptx.sreg.%s()", name);
}

static Opnd narrow(Emit *e, Opnd a) { return emit_def(e, "trunc i64 %s to i32", a.s); }
static Opnd widen(Emit *e, Opnd a) { return emit_def(e, "zext i32 %s to i64", a.s); }

/* -- atomics: the threads of a warp that update one element add up first, so that one of them does it -------------- */
enum { DEEP = 16 };

/* Is the value the same for all threads of a block? */
static bool is_uniform(const KFunc *f, KRef r, int depth) {
    const KIns *i = &f->ins[r];
    if (!r || i->op == K_CONST || i->op == K_PARAM || i->op == K_DIM || i->op == K_STRIDE) return true;
    if (i->op == K_BLKDIM || i->op == K_BLKIDX || i->op == K_BLKCNT) return true;
    if (kir_ops[i->op].effect != KE_PURE || i->op == K_POS || i->op == K_BLKPOS || depth == DEEP) return false;
    for (int k = 0; k < 3; k++)
        if (!is_uniform(f, i->arg[k], depth + 1)) return false;
    return true;
}

static bool adds_up(KAtomic op, qs_dtype elem) {
    bool real = elem == QS_F32 || elem == QS_F64;
    return (op == KA_ADD || op == KA_SUB || op == KA_MIN || op == KA_MAX) &&
           (real || (elem >= QS_I32 && elem <= QS_U64));
}

/* i1: are all threads of the warp here? */
static Opnd is_whole(Emit *e) {
    Opnd here = emit_def(e, "call i32 asm sideeffect \"activemask.b32 $0;\", \"=r\"() #2");
    return emit_def(e, "icmp eq i32 %s, -1", here.s);
}

/* A word of the thread `distance` behind this one in the warp. */
static Opnd shift_word(Emit *e, Opnd word, int distance) {
    emit_declare(e, "declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32) convergent nounwind");
    return emit_def(e, "call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %s, i32 %d, i32 31)", word.s, distance);
}

static Opnd shift(Emit *e, qs_dtype d, Opnd v, int distance) {
    const char *t = emit_type(d);
    bool real = d == QS_F32 || d == QS_F64, wide = qdtype_size(d) == 8;
    Opnd bits = real ? emit_def(e, "bitcast %s %s to i%d", t, v.s, wide ? 64 : 32) : v;
    if (wide) {
        Opnd low = shift_word(e, narrow(e, bits), distance);
        Opnd high = shift_word(e, narrow(e, emit_def(e, "lshr i64 %s, 32", bits.s)), distance);
        high = emit_def(e, "shl i64 %s, 32", widen(e, high).s);
        bits = emit_def(e, "or i64 %s, %s", high.s, widen(e, low).s);
    } else bits = shift_word(e, bits, distance);
    return real ? emit_def(e, "bitcast i%d %s to %s", wide ? 64 : 32, bits.s, t) : bits;
}

/* A warp that is here completely adds up in five steps; in any other every thread updates by itself. */
static void atomic(Emit *e, const KIns *i, qs_dtype elem, Opnd ptr, Opnd v) {
    KAtomic op = (KAtomic)i->flag;
    qs_dtype d = qdtype_real_of(elem);
    if (!is_uniform(e->f, i->a, 0) || !adds_up(op, d)) {
        emit_atomic(e, op, elem, e->array_space, ptr, v);
        return;
    }
    uint32_t whole = emit_new(e), part = emit_new(e), first = emit_new(e), done = emit_new(e);
    emit_branch(e, is_whole(e), whole, part);
    emit_label(e, part);
    emit_atomic(e, op, elem, e->array_space, ptr, v);
    emit_jump(e, done);
    emit_label(e, whole);
    for (int distance = 16; distance; distance /= 2)
        v = emit_combine(e, op == KA_SUB ? KA_ADD : op, d, v, shift(e, d, v, distance));
    emit_branch(e, emit_def(e, "icmp eq i32 %s, 0", read_sreg(e, "laneid").s), first, done);
    emit_label(e, first);
    emit_atomic(e, op, elem, e->array_space, ptr, v);
    emit_label(e, done);
}

/* -- where this thread is ------------------------------------------------------------------------------------------ */
/* Takes the last digit off a number written with `base` values for it. */
static Opnd digit(Emit *e, Opnd *number, Opnd base) {
    Opnd d = emit_def(e, "urem i32 %s, %s", number->s, base.s);
    *number = emit_def(e, "udiv i32 %s, %s", number->s, base.s);
    return d;
}

/* The same where the host has said how to divide by it (ptx.h). */
static Opnd known_digit(Emit *e, Opnd *number, Opnd base, int slot) {
    Opnd by = load_slot(e, slot, "i64"), most = emit_def(e, "and i64 %s, 4294967295", by.s);
    Opnd all = emit_def(e, "mul nuw i64 %s, %s", widen(e, *number).s, most.s);
    Opnd rest = narrow(e, emit_def(e, "lshr i64 %s, %s", all.s, emit_def(e, "lshr i64 %s, 32", by.s).s));
    Opnd d = emit_def(e, "sub i32 %s, %s", number->s, emit_def(e, "mul i32 %s, %s", rest.s, base.s).s);
    return *number = rest, d;
}

static Opnd from_block(Emit *e, const char *type, Opnd block, Opnd extent, Opnd inside) {
    Opnd first = emit_def(e, "mul nuw nsw %s %s, %s", type, block.s, extent.s);
    return emit_def(e, "add nuw nsw %s %s, %s", type, first.s, inside.s);
}

static void locate(Gpu *g) {
    Emit *e = g->e;
    int rank = e->f->rank;
    Opnd block = read_sreg(e, "ctaid.x"), z = rank > 2 ? read_sreg(e, "tid.z") : block;
    for (int a = rank - 1; a >= 0; a--) {
        e->blkdim[a] = e->f->fixed_block ? emit_opnd("%d", e->f->block[a]) : load_extent(e, PTX_DOMAIN + rank + a);
        e->blkcnt[a] = load_extent(e, PTX_DOMAIN + 2 * rank + a);
        int by = PTX_DOMAIN + 3 * rank + a;
        e->blkidx[a] = widen(e, a ? known_digit(e, &block, narrow(e, e->blkcnt[a]), by) : block);
        if (a == 0)
            e->blkidx[a] = emit_def(e, "add nuw nsw i64 %s, %s", e->blkidx[a].s, load_slot(e, PTX_FIRST, "i64").s);
        Opnd t = a == rank - 1   ? read_sreg(e, "tid.x")
                 : a == rank - 2 ? read_sreg(e, "tid.y")
                 : a             ? digit(e, &z, narrow(e, e->blkdim[a]))
                                 : z;
        e->blkpos[a] = widen(e, t);
        e->pos[a] = e->f->small ? widen(e, from_block(e, "i32", narrow(e, e->blkidx[a]), narrow(e, e->blkdim[a]), t))
                                : from_block(e, "i64", e->blkidx[a], e->blkdim[a], e->blkpos[a]);
    }
}

/* All threads of the block clear the array together, also those that have no position. */
static void clear_shared(Gpu *g) {
    Emit *e = g->e;
    bool any = false;
    for (KRef r = 1; r < e->f->nins; r++) {
        const KIns *i = &e->f->ins[r];
        if (i->op != K_SHARED || !i->flag) continue;
        Opnd first = emit_opnd("0"), step = emit_opnd("1");
        for (int a = 0; a < e->f->rank; a++) {
            first =
                emit_def(e, "add i64 %s, %s", emit_def(e, "mul i64 %s, %s", first.s, e->blkdim[a].s).s, e->blkpos[a].s);
            step = emit_def(e, "mul i64 %s, %s", step.s, e->blkdim[a].s);
        }
        Opnd array = e->container(e, r).ptr;
        uint32_t from = emit_new(e), head = emit_new(e), body = emit_new(e), out = emit_new(e), x1 = emit_new(e);
        emit_label(e, from);
        emit_label(e, head);
        Opnd x = emit_def(e, "phi i64 [ %s, %%L%u ], [ %%t%u, %%L%u ]", first.s, from, x1, body);
        emit_branch(e, emit_def(e, "icmp ult i64 %s, %llu", x.s, (unsigned long long)i->imm), body, out);
        emit_label(e, body);
        const char *t = emit_mem_type(e, (qs_dtype)i->dtype);
        Opnd at = emit_elem(e, (qs_dtype)i->dtype, e->shared_space, array, x);
        emit_put(e, "store %s zeroinitializer, ptr addrspace(3) %s", t, at.s);
        emit_put(e, "%%t%u = add i64 %s, %s", x1, x.s, step.s);
        emit_jump(e, head);
        emit_label(e, out);
        any = true;
    }
    if (any) barrier(e);
}

static void skip_outside(Gpu *g) {
    Emit *e = g->e;
    const char *type = e->f->small ? "i32" : "i64";
    for (int a = 0; a < e->f->rank; a++) {
        uint32_t in = emit_new(e);
        Opnd pos = e->f->small ? narrow(e, e->pos[a]) : e->pos[a], end = load_slot(e, PTX_DOMAIN + a, type);
        emit_branch(e, emit_def(e, "icmp slt %s %s, %s", type, pos.s, end.s), in, g->done);
        emit_label(e, in);
    }
}

static void one_position(Gpu *g) {
    Emit *e = g->e;
    locate(g);
    clear_shared(g);
    skip_outside(g);
    e->item_end = g->done;
    emit_range(e, 1, e->f->nins);
}

/* One thread, all positions in order. */
static void serial(Gpu *g) {
    Emit *e = g->e;
    int rank = e->f->rank;
    uint32_t head[QS_MAX_RANK] = {0}, next[QS_MAX_RANK] = {0}, out[QS_MAX_RANK] = {0}, x1[QS_MAX_RANK] = {0};
    for (int a = 0; a < rank; a++) {
        e->blkdim[a] = load_slot(e, PTX_DOMAIN + rank + a, "i64");
        e->blkcnt[a] = load_slot(e, PTX_DOMAIN + 2 * rank + a, "i64");
        uint32_t from = emit_new(e), body = emit_new(e);
        head[a] = emit_new(e), next[a] = emit_new(e), out[a] = emit_new(e), x1[a] = emit_new(e);
        emit_label(e, from);
        emit_label(e, head[a]);
        e->pos[a] = emit_def(e, "phi i64 [ 0, %%L%u ], [ %%t%u, %%L%u ]", from, x1[a], next[a]);
        emit_branch(e, emit_def(e, "icmp slt i64 %s, %s", e->pos[a].s, load_slot(e, PTX_DOMAIN + a, "i64").s), body,
                    out[a]);
        emit_label(e, body);
        e->blkidx[a] = emit_def(e, "sdiv i64 %s, %s", e->pos[a].s, e->blkdim[a].s);
        e->blkpos[a] = emit_def(e, "srem i64 %s, %s", e->pos[a].s, e->blkdim[a].s);
    }
    e->item_end = next[rank - 1];
    emit_range(e, 1, e->f->nins);
    for (int a = rank - 1; a >= 0; a--) {
        emit_label(e, next[a]);
        emit_put(e, "%%t%u = add nuw nsw i64 %s, 1", x1[a], e->pos[a].s);
        emit_jump(e, head[a]);
        emit_label(e, out[a]);
    }
}

/* -- the module ---------------------------------------------------------------------------------------------------- */
static int number_slots(Gpu *g) {
    const KFunc *f = g->e->f;
    int n = qptx_first_arg(f->rank);
    for (int i = 0; i < f->nparams; i++) {
        g->slot[i] = n;
        n += qptx_arg_slots(f->params[i].kind == KP_ARRAY, f->params[i].rank);
    }
    return n;
}

/* Registers are shared out among the threads of a block: ptxas has to know how many there are.  0: it is not known
 * here, and the device makes the limit once a block needs it. */
static int64_t most_threads(const KFunc *f) {
    int64_t n = 1;
    for (int a = 0; f->fixed_block && a < f->rank; a++) n *= f->block[a];
    return f->fixed_block ? n : 0;
}

/* What !dbg refers to; with these directives PTX has `.loc` and nothing for a debugger. */
_Static_assert(EMIT_SCOPE == 2, "the number of the subprogram");
static const char positions[] =
    "!llvm.dbg.cu = !{!3}\n"
    "!2 = distinct !DISubprogram(name: \"kernel\", scope: !4, file: !4, type: !5, unit: !3, "
    "spFlags: DISPFlagDefinition)\n"
    "!3 = distinct !DICompileUnit(language: DW_LANG_C99, file: !4, isOptimized: true, "
    "emissionKind: DebugDirectivesOnly)\n"
    "!4 = !DIFile(filename: \"kernel\", directory: \"\")\n!5 = !DISubroutineType(types: !6)\n!6 = !{}\n"
    "!7 = !{i32 2, !\"Debug Info Version\", i32 3}\n";

static void write_attributes(Emit *e) {
    int64_t threads = most_threads(e->f);
    char limit[40] = "";
    if (threads && threads <= 1024) snprintf(limit, sizeof limit, ", !\"maxntidx\", i32 %d", (int)threads);
    qtext_printf(&e->tail,
                 "attributes #0 = { nounwind }\n"
                 "!" IRMEND_ANNOTATIONS " = !{!0}\n!0 = !{ptr @kernel, !\"kernel\", i32 1%s}\n"
                 "!llvm.module.flags = !{!1%s}\n!1 = !{i32 4, !\"nvvm-reflect-ftz\", i32 %d}\n",
                 limit, e->t->located ? ", !7" : "", e->f->fast);
    if (e->t->located) qtext_puts(&e->tail, positions);
}

static void print_module(Gpu *g, int nslots, Text *out) {
    Emit *e = g->e;
    declare_shared(e, out);
    qtext_printf(out, "define ptx_kernel void @kernel(ptr byval([%d x i64]) align 8 %%slots) #0 %s{\nentry:\n", nslots,
                 e->t->located ? "!dbg !2 " : "");
    if (e->entry.len) qtext_add(out, e->entry.s, e->entry.len);
    qtext_add(out, e->body.s, e->body.len);
    qtext_puts(out, "}\nattributes #1 = { nounwind willreturn memory(none) }\n"
                    "attributes #2 = { convergent nounwind }\n");
    write_attributes(e);
}

static qs_status too_many(Emit *e) {
    return qerr_set(e->c, QS_EVALUE, "kernel %s: its parameters take more than the %d bytes of a GPU", e->f->name->s,
                    PTX_SLOTS * 8);
}

qs_status emit_ptx(Emit *e, Text *out) {
    Arena arena;
    const KFunc *f = e->f;
    size_t nparams = (size_t)f->nparams + 1;
    qarena_init(&arena, e->c);
    Gpu g = {.e = e,
             .slot = qarena_alloc(&arena, qmem_size(nparams, sizeof(int), 0)),
             .params = qarena_alloc(&arena, qmem_size(nparams, sizeof(Opnd), 0)),
             .extents = qarena_alloc(&arena, qmem_size(nparams, QS_MAX_RANK * 2 * sizeof(Opnd), 0)),
             .alloca = qarena_alloc(&arena, qmem_size(f->nins, sizeof(uint32_t), 0)),
             .offset = qarena_alloc(&arena, qmem_size(f->nins, sizeof(uint64_t), 0))};
    g.dynamic = place_shared(f, g.offset) > PTX_STATIC_SHARED;
    e->frame = &g;
    e->param = get_param, e->extent = get_extent, e->container = get_container;
    e->leave = leave, e->fault = report_fault, e->barrier = barrier, e->atomic = atomic;
    e->array_space = " addrspace(1)", e->shared_space = " addrspace(3)";
    int nslots = number_slots(&g);
    if (nslots > PTX_SLOTS) return qarena_free(&arena), too_many(e);
    g.done = emit_new(e);
    if (f->serial) serial(&g);
    else one_position(&g);
    emit_label(e, g.done);
    emit_put(e, "ret void");
    print_module(&g, nslots, out);
    qarena_free(&arena);
    return QS_OK;
}
