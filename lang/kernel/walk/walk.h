/* walk.h -- from the syntax tree to KIR: what kernels, host loops and array expressions have in common.
 *
 *     tree ──► walk/    blocks, instructions ──► KIR
 *               │
 *               ├─ lower/  a kernel: computes as kernels do (weak numbers, ints of 32 bits, types flow forward)
 *               └─ host/   a loop of the host: computes as the interpreter does, bit by bit
 *
 * A compiler (Lower, Loops) begins with the members of Walk, so what is here takes a Walk and serves both.
 *
 *     build.c   instructions: folding, values that are known already, blocks */
#ifndef LANG_KERNEL_WALK_H
#define LANG_KERNEL_WALK_H
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/ir/kir.h"
#include "lang/syntax/ast.h"

/* What lies between IF, ELSE, LOOP or FOR and the END or ELSE that belongs to it.  Whoever keeps a pointer to a block
 * learns from `open` whether what was computed in it may still be used. */
typedef struct Block Block;
struct Block {
    Block *up;           /* NULL: the whole function */
    bool open;
    bool loop;           /* counts as one when BREAK and CONTINUE tell how many they leave */
    bool turns;          /* its code may run several times; not so a LOOP of one turn, made only to be left */
    uint32_t known;      /* how many values were known at its start */
};

typedef struct Walk {
#include "lang/kernel/walk/members.def"
} Walk;

/* -- build.c ----------------------------------------------------------------------------------------------------- */
/* A pass begins: the function is empty, nothing is known, one block is open. */
void kbuild_begin(Walk *w, KFunc *f, Arena *arena, uint32_t pos);
void kbuild_free(Walk *w);
/* An instruction that is where it stands; IF, ELSE, LOOP, FOR and END open and close blocks. */
KRef kbuild_emit(Walk *w, KOp op, qs_dtype own, uint16_t flag, KRef a, KRef b, KRef c, uint64_t imm);
/* A PURE instruction: folded; with `numbers`, an equal one that is visible here takes its place. */
KRef kbuild_pure(Walk *w, KOp op, qs_dtype own, uint16_t flag, KRef a, KRef b, KRef c, uint64_t imm);
KRef kbuild_int(Walk *w, qs_dtype d, int64_t v);
KRef kbuild_const(Walk *w, qs_dtype d, double v);
KBuild kbuild_rows(Walk *w);                       /* where rows of elem.def put their instructions */
/* A LOOP of one turn: leaving it is going to its end. */
void kbuild_once(Walk *w);
static inline void kbuild_flow(Walk *w, KOp op, KRef a) { kbuild_emit(w, op, QS_B1, 0, a, 0, 0, 0); }
static inline void kbuild_end(Walk *w) { kbuild_flow(w, K_END, 0); }
/* BREAK or CONTINUE of the loop that has made the depth `depth`. */
void kbuild_leave(Walk *w, KOp op, int depth);
Block *kbuild_outermost_turns(const Walk *w);      /* the outermost block that runs several times; NULL: none */
#endif
