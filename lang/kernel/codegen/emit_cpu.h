/* emit_cpu.h -- shared by the files that emit a kernel for the cpu: emit_cpu.c (function and blocks) and emit_rows.c
 * (loops over positions). */
#ifndef LANG_EMIT_CPU_H
#define LANG_EMIT_CPU_H
#include "lang/kernel/codegen/emit_llvm.h"
#include "lang/kernel/passes/plan.h"

typedef struct {
    Opnd x, from;
    uint32_t head, next, out, x1;
} BlockAxis; /* an open loop over positions */

/* State of the emission of a kernel. */
typedef struct {
    Emit *e;
    Arena *arena;
    KPlan *plan;            /* pieces of the kernel; NULL: it is a single piece */
    int strip;              /* number of positions of the strip being emitted; 0: none */
    EmitLoops strip_loops;  /* optimization level of the loops of a strip */
    bool strips;            /* strips were emitted */
    bool joined;            /* a loop over two joined axes is being emitted */
    Opnd patched;           /* the interior of rows before this one is already computed; "": of none */
    bool blocks;            /* the kernel uses positions or sizes of blocks */
    Opnd *params, *extents; /* values loaded in the entry block; "": not loaded yet */
    Opnd *pads;             /* by parameter: memory of its pad */
    uint32_t *alloca;       /* by instruction: temporary of its alloca; 0: none */
    uint32_t *big;          /* by instruction: 1 + offset in scratch memory of a large private array; 0: none */
    uint32_t *copy;         /* by instruction: alloca for a copy of a kept LOCAL during a piece; 0: none */
    uint8_t *copied;        /* by instruction: the copy is in use instead of the LOCAL */
    uint32_t *scope;        /* by instruction: alias scope (metadata) of its memory in the block; 0: none */
    uint32_t head;          /* number of bytes of scratch memory that are not per position */
    Opnd domain[QS_MAX_RANK], block[QS_MAX_RANK], nblocks[QS_MAX_RANK], lo[QS_MAX_RANK], hi[QS_MAX_RANK];
    Opnd span[QS_MAX_RANK]; /* number of positions of this block along each axis */
    bool rare;              /* the code being emitted is for partial blocks at the edge of the domain */
    Opnd stop, fault, near;
    Opnd here;        /* of a callee: an address in its stack frame; "": not computed yet */
    Opnd strip_lo;    /* first position of the strip */
    Opnd item, items; /* index of this position in its block; number of positions of a block */
    uint32_t epochs, block_end, done;
} Cpu;

/* -- emit_cpu.c ---------------------------------------------------------------------------------------------------- */
/* Stores a condition in memory, so that LLVM does not know that it is loop-invariant; otherwise LLVM would duplicate
 * the whole loop nest for both cases.  cpu_reveal loads it. */
Opnd cpu_hide(Emit *e, Opnd cond);
Opnd cpu_reveal(Emit *e, Opnd hidden);

/* Values that are kept across pieces. */
bool cpu_is_kept(const Cpu *k, KRef r);
Place cpu_kept_place(Cpu *k, KRef r);
Place cpu_alive_place(Cpu *k); /* byte that is nonzero while this position has not ended */
void cpu_fill(Emit *e, Opnd ptr, int byte, Opnd n);
Opnd cpu_launch_in_box(Cpu *k, const KBox *box); /* i1: all positions of the launch are in the box */
void cpu_poll_fault(Cpu *k);                     /* emits a jump to the end of the kernel if a fault occurred */

/* -- emit_rows.c --------------------------------------------------------------------------------------------------- */
BlockAxis rows_open_axis(Emit *e, Opnd lo, Opnd hi);
/* Ends a loop.  properties: loop metadata nodes, each after a comma, or ""; print_module defines the numbered nodes. */
void rows_close_axis(Emit *e, const BlockAxis *a, const char *properties);
Opnd rows_min(Emit *e, Opnd a, Opnd b);
void rows_widen_kept(Cpu *k); /* kept values are stored with their full number of bits */
void rows_each_piece(Cpu *k); /* emits all pieces of k->plan for the positions of the block */
void rows_each_position(Cpu *k, KRef first, KRef last);
bool rows_has_edges(Cpu *k);             /* the ends of rows may be computed separately, from pads */
Opnd rows_any_of_strip(Emit *e, KRef r); /* i1: r is true for some position of the strip */
#endif
