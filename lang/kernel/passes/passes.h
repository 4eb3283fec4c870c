/* passes.h -- declares the passes.  Each one takes a verified KFunc and returns another one, or a table about it; the
 * text at the top of its file says what it does.  pipeline.c lists the passes of each target in order, with the reason.
 * Larger interfaces have headers of their own: opt.h (interior, border and edges), legal.h (instructions that targets
 * lack) and plan.h (pieces and strips of positions). */
#ifndef LANG_KERNEL_PASSES_H
#define LANG_KERNEL_PASSES_H
#include "lang/kernel/ir/kir.h"

/* -- KFunc to KFunc: they return f itself if nothing is gained ----------------------------------------------------- */
const KFunc *kfloat32_narrow(Ctx *c, Arena *a, const KFunc *f);       /* in float32 where the bits stay the same */
const KFunc *kchosenelements_keep(Ctx *c, Arena *a, const KFunc *f);  /* keeps x[k] where a loop searches for k */
const KFunc *kunused_remove(Ctx *c, Arena *a, const KFunc *f);        /* removes values that nothing uses */
const KFunc *kindexsets_split(Ctx *c, Arena *a, const KFunc *f);      /* splits loops where a condition changes */
const KFunc *kindextests_hoist(Ctx *c, Arena *a, const KFunc *f);     /* makes tests of inner loops in front of them */
const KFunc *kinterchange_loops(Ctx *c, Arena *a, const KFunc *f);    /* the innermost loop becomes independent */
const KFunc *kcolumns_interchange(Ctx *c, Arena *a, const KFunc *f);  /* loops down columns go along rows */
const KFunc *kpromote_elements(Ctx *c, Arena *a, const KFunc *f);     /* keeps an element of a loop in a variable */
const KFunc *khoist_loads(Ctx *c, Arena *a, const KFunc *f);          /* loads what all iterations read before them */
const KFunc *kconditionalsums_move(Ctx *c, Arena *a, const KFunc *f); /* moves additions out of branches */
const KFunc *kextremes_free(Ctx *c, Arena *a, const KFunc *f);        /* compares values of a loop in any order */
const KFunc *kselections_make(Ctx *c, Arena *a, const KFunc *f);      /* cheap branches become selections */
const KFunc *ksingleruns_open(Ctx *c, Arena *a, const KFunc *f);      /* a LOOP that runs once becomes conditions */
const KFunc *kearlyexits_loop(Ctx *c, Arena *a, const KFunc *f);      /* a FOR that positions leave becomes a LOOP */
const KFunc *kwavefront_rows(Ctx *c, Arena *a, const KFunc *f);       /* runs dependent rows together, shifted */
const KFunc *kjam_loops(Ctx *c, Arena *a, const KFunc *f);            /* runs several outer iterations together */
const KFunc *ksplit_loops(Ctx *c, Arena *a, const KFunc *f);        /* splits loops where a shared element is stored */
const KFunc *kunroll_short_loops(Ctx *c, Arena *a, const KFunc *f); /* unrolls short loops that pay */
const KFunc *krootcubes_divide(Ctx *c, Arena *a, const KFunc *f);   /* divides by r*sqrt(r) without r*r*r */
const KFunc *kknown_lengths(Ctx *c, Arena *a, const KFunc *f);      /* loops of known length count from 0 */
const KFunc *kwindowsums_regroup(Ctx *c, Arena *a, const KFunc *f); /* splits sums over windows into sums of rows */
const KFunc *kroundedsums_block(Ctx *c, Arena *a, const KFunc *f);  /* computes sums that round in vectors */

/* Makes equal calls of the functions of KFunc.callees one call, if they write no memory. */
void ksharedcalls_find(Ctx *c, Arena *arena, KFunc **callees, int n);

/* lanes > 0: the instructions before `end` compute so many positions, which begin at POS; the others compute one. */
typedef struct {
    int lanes;
    KRef end;
} KJam;
const KFunc *kjam_positions(Ctx *c, Arena *a, const KFunc *f, KJam *out);

/* -- tables by instruction ----------------------------------------------------------------------------------------- */
/* Whether it is in a loop that the pass changes. */
uint8_t *kindextests_chosen(Arena *a, const KFunc *f);
uint8_t *kinterchange_chosen(Arena *a, const KFunc *f);
void kcolumns_choose(Arena *a, const KFunc *f, uint8_t *chosen); /* adds what kcolumns_interchange takes */
/* 8 or 16 if its value and its operands fit into a signed integer of that many bits; for a LOCAL, if all its values do;
 * else 0. */
uint8_t *knarrow_bits(Arena *a, const KFunc *f);
/* In a small kernel: 32 for an int64 that fits into an int32; else 0. */
uint8_t *knarrow_indices(Arena *a, const KFunc *f);

/* How an instruction is copied; lockstep.c and flatten.c choose it. */
typedef enum {
    FLAT_NOT,
    FLAT_GOES,     /* an IF, ELSE or END that is removed: both branches are computed */
    FLAT_GUARDED,  /* a LOAD or STORE that gets the condition of its branch */
    FLAT_JUMPS,    /* a BREAK, CONTINUE or RET that becomes part of the conditions of the code after it */
    FLAT_ONCE,     /* a LOOP that runs once, and its END: they are removed */
    FLAT_LOCKSTEP, /* a LOOP that runs for a strip of positions until the last has left it, and its END */
    FLAT_COUNTS    /* a FOR in such code that has a CONTINUE, and its END */
} Flat;

/* Writes the Flats of code that all positions of a strip run together although they part.  loops: FORs that positions
 * leave early are FLAT_LOCKSTEP, too; without it, code with such FORs is not chosen.  Returns whether there is any. */
bool klockstep_choose(Ctx *c, Arena *a, const KFunc *f, bool loops, uint8_t *how);
/* Adds FLAT_GOES of short branches outside of this code.  sure: a BOUND or INB that cannot fail.  fixed: the launch
 * determines the value; a branch on it is left to LLVM, which moves it out of the loop. */
void kflatten_choose(const KFunc *f, const uint8_t *sure, bool (*fixed)(void *self, KRef r), void *self, uint8_t *how);

/* Returns whether each dimension of a LOAD without a guard has a BOUND, so that any position may execute it. */
bool kflatten_is_bounded(const KFunc *f, const KIns *load);

/* -- axes ---------------------------------------------------------------------------------------------------------- */
enum { POLY_TERMS = 16, POLY_FACTORS = 6, COLLAPSE_PAIRS = 8 };

typedef struct {
    int64_t number;
    int n;
    KRef factor[POLY_FACTORS];
} Monomial; /* a number times factors, which are sorted; equal values have the same KRef */
typedef struct {
    Monomial outer, inner;
} CollapsePair; /* the factors of p and q in one index; the launch must satisfy outer = inner · extent of q */

/* Finds the conditions under which the axes can be merged; false: they cannot.  transparent: by instruction: a
 * BOUND whose value is its index, or an INB that is true. */
bool kcollapse_pairs(Arena *a, const KFunc *f, const uint8_t *transparent, CollapsePair *out, int *n);

/* -- for derivatives ----------------------------------------------------------------------------------------------- */
/* Returns a copy of f without the instructions that do not influence the `wanted` parameters.  map: by instruction
 * of f, the instruction of the copy, or 0 if it was removed; NULL: not returned. */
KFunc *kdeadcode(Ctx *c, Arena *arena, const KFunc *f, const bool *wanted, KRef **map);
KFunc *ksimplify_join(Ctx *c, Arena *arena, const KFunc *f); /* with fast math: returns f with fewer products */

/* A function without CONTINUE, RET and CHECK.  BREAK occurs only in the head of a LOOP, which decides whether there
 * is another iteration:
 *
 *     LOOP
 *       head …  IF over  BREAK  END
 *       body                          starts at body[loop]; the body of a FOR starts after the FOR itself
 *     END */
typedef struct {
    KFunc *func;
    KRef *body;
} KNormal;
void kstructurize_make(Ctx *c, Arena *arena, const KFunc *f, KNormal *out);

/* -- reports ------------------------------------------------------------------------------------------------------- */
enum { SERIAL_REASON = 200 };
/* Calls `report` for each innermost loop of f, a loop of the program, that cannot become vectors. */
void kserial_explain(Ctx *c, const KFunc *f, void *ud, void (*report)(void *ud, uint32_t pos, const char *reason));
#endif
