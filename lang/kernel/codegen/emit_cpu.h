/* emit_cpu.h -- shared by the two files that print a kernel for the cpu: emit_cpu.c (the frame) and emit_rows.c (the
 * loops over positions). */
#ifndef LANG_EMIT_CPU_H
#define LANG_EMIT_CPU_H
#include "lang/kernel/codegen/emit_llvm.h"
#include "lang/kernel/passes/plan.h"

typedef struct {
    Opnd x, from;
    uint32_t head, next, out, x1;
} BlockAxis; /* an open loop over positions */

/* What is known while a kernel is printed. */
typedef struct {
    Emit *e;
    Arena *arena;
    KPlan *plan;            /* NULL: one piece */
    int strip;              /* positions of a strip, while one is printed; else 0 */
    EmitLoops strip_loops;  /* how much the loops of a strip are worth */
    bool strips;            /* there were any */
    bool joined;            /* a loop that is over two axes is printed */
    Opnd patched;           /* rows before this one have their interior; "" : none has */
    bool blocks;            /* the kernel knows about blocks */
    Opnd *params, *extents; /* what was loaded in the entry block; "" : not yet */
    Opnd *pads;             /* memory of pads, by parameter */
    uint32_t *alloca;       /* by instruction */
    uint32_t *big;          /* the same: 1 + place in scratch memory of a large private array */
    uint32_t *copy;         /* the same: alloca of a kept LOCAL for the time of a piece; 0: it has none */
    uint8_t *copied;        /* the same: it stands for the LOCAL now */
    uint32_t *scope;        /* the same: its alias scope (metadata), of what has memory of the block; 0: none */
    uint32_t head;          /* bytes of scratch memory that are not per position */
    Opnd domain[QS_MAX_RANK], block[QS_MAX_RANK], nblocks[QS_MAX_RANK], lo[QS_MAX_RANK], hi[QS_MAX_RANK];
    Opnd span[QS_MAX_RANK]; /* positions of this block along each axis */
    bool rare;              /* this copy is for the blocks at the edge of the domain */
    Opnd stop, fault, near;
    Opnd strip_lo;    /* first position of the strip */
    Opnd item, items; /* number of this position in its block; positions of a block */
    uint32_t epochs, block_end, done;
} Cpu;

/* -- emit_cpu.c ---------------------------------------------------------------------------------------------------- */
typedef struct {
    Text *out;
    bool dead;
} Spot;

/* What is printed in between goes to the entry block. */
Spot cpu_enter_entry(Emit *e);
void cpu_leave_entry(Emit *e, Spot s);

/* A condition that LLVM must not know to be the same in all turns: it would make a copy of the whole nest for either
 * case.  Kept in memory, read by `cpu_reveal`. */
Opnd cpu_hide(Emit *e, Opnd cond);
Opnd cpu_reveal(Emit *e, Opnd hidden);

/* Of values that live across pieces. */
bool cpu_is_kept(const Cpu *k, KRef r);
Place cpu_kept_place(Cpu *k, KRef r);
Place cpu_alive_place(Cpu *k); /* the byte that says whether this position goes on */
void cpu_fill(Emit *e, Opnd ptr, int byte, Opnd n);
Opnd cpu_launch_in_box(Cpu *k, const KBox *box); /* i1: every position of the launch is in the box */
void cpu_poll_fault(Cpu *k);                     /* after a fault nothing more is done */

/* -- emit_rows.c --------------------------------------------------------------------------------------------------- */
BlockAxis rows_open_axis(Emit *e, Opnd lo, Opnd hi);
/* properties: "" or metadata nodes, each after a comma; what the names stand for is at the end of the module. */
void rows_close_axis(Emit *e, const BlockAxis *a, const char *properties);
Opnd rows_min(Emit *e, Opnd a, Opnd b);
void rows_widen_kept(Cpu *k); /* what is kept has its full size there */
void rows_each_piece(Cpu *k); /* of k->plan, for the positions of the block */
void rows_each_position(Cpu *k, KRef first, KRef last);
bool rows_has_edges(Cpu *k);             /* the ends of rows are done apart, where the launch allows it */
Opnd rows_any_of_strip(Emit *e, KRef r); /* whether r holds anywhere in the strip */
#endif
