/* emit.h -- private to the bytecode compiler: the instruction buffer, registers, literals, and expressions.
 *
 * Registers: locals first (their number is the symbol's index; at top level the globals, see BC_ALIAS), then the type
 * parameters, then temporaries as a stack whose top is `top`.  A temporary is written once and read once; the reading
 * instruction empties it. */
#ifndef LANG_EMIT_H
#define LANG_EMIT_H
#include "lang/bytecode.h"

typedef struct LoopExits { struct LoopExits *outer; int breaks, continues; } LoopExits; /* lists of pending jumps */
typedef struct { const Sym *sym; TypeExpr *type; } TypedVar; /* a variable that converts what it is given */

typedef struct Emit {
    Ctx *ctx;
    Func *func;
    const BytecodeHost *host;
    Chunk *chunk;
    qs_status status;        /* the first error; everything after it is emitted in vain */
    uint32_t pos;            /* of what is being compiled */
    int top;                 /* first free temporary */
    bool *set; size_t nset;  /* per register of a variable: it certainly has a value here */
    LoopExits *loop;
    const struct RewriteFrame *rewriting; /* reductions whose result is being compiled; NULL: none */
    const Sym *assigning;    /* the variable whose new value is being made */
    const FuseRegion *fuse;  /* the region that is being emitted */
    TypedVar *typed; uint32_t ntyped, cap_typed;
    bool wide;               /* literals and ranges are made of float64: a conversion is waiting for them */
} Emit;

/* -- emit.c: instructions, jumps, registers, literals ------------------------------------------------------------ */
void qemit_fail(Emit *e, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);
void qemit_at(Emit *e, uint32_t pos);
void qemit_word(Emit *e, uint32_t w);
void qemit_op(Emit *e, Opcode op, int a, int b, int c);
void qemit_opx(Emit *e, Opcode op, int a, uint32_t bx);
void qemit_full(Emit *e); /* the error of a function with too many literals */
/* A jump list is the index of its last J word, each holding the one before it; 0 ends it. */
void qemit_jump(Emit *e, Opcode op, int a, int b, int c, int *list);
void qemit_jump_to(Emit *e, Opcode op, int a, int b, int c, uint32_t target);
void qemit_patch(Emit *e, int list, uint32_t target);
void qemit_here(Emit *e, int list);
static inline uint32_t qemit_pc(const Emit *e) { return e->chunk->ncode; }
void qemit_statement(Emit *e, Node *n);
int qemit_temps(Emit *e, int n);                         /* the first of n new temporaries in a row */
uint32_t qemit_literal(Emit *e, Literal l);
uint32_t qemit_number(Emit *e, double x);
uint32_t qemit_string(Emit *e, Str *s);
uint32_t qemit_type(Emit *e, TypeExpr *t);
void *qemit_alloc(Emit *e, size_t n);                    /* lives as long as the chunk */
/* What is certainly set: a copy, going back to it, and what holds on both of two ways to here. */
bool *qemit_state(Emit *e);
void qemit_restore(Emit *e, const bool *state);
void qemit_join(Emit *e, bool *into);                    /* into = into and now */

/* The register in which a variable lives: locals, and globals while the top level runs; -1: none. */
int qemit_register(const Emit *e, const Sym *s);

/* -- emit_expr.c: values ----------------------------------------------------------------------------------------- */
void qemit_to(Emit *e, Node *n, int dst);                /* the value of n into a register */
void qemit_for(Emit *e, TypeExpr *t, Node *n, int dst);  /* … that a conversion to t follows; t may be NULL */
int qemit_any(Emit *e, Node *n);                         /* … into any: a local's own register, or a new temporary */
int qemit_left(Emit *e, Node *n, int dst);               /* … or into dst, the destination, if that is a temporary */
static inline bool qemit_is_temp(const Emit *e, int reg) { return reg >= (int)e->chunk->ntemp; }
void qemit_load_number(Emit *e, double x, int dst);
void qemit_move(Emit *e, int dst, int src);
void qemit_coerce(Emit *e, int reg, TypeExpr *t, Str *name, bool param);
uint32_t qemit_index_word(Emit *e, const Node *index);
int qemit_indices(Emit *e, NodeList at);                 /* into new temporaries in a row; the first */
const Type *qemit_known_type(Emit *e, TypeExpr *t);      /* NULL: depends on type parameters */
TypeExpr *qemit_named_type(Emit *e, const Node *n);      /* a type meant by its name, as an expression of its own */
bool qemit_is_wide(const Type *t);                       /* holds more values of its kind than float32 */
uint32_t qemit_field_word(Emit *e, Str *name);

/* -- emit_op.c: operators and conditions ------------------------------------------------------------------------ */
void qemit_binary(Emit *e, Node *n, int dst);
void qemit_unary(Emit *e, Node *n, int dst);
void qemit_ternary(Emit *e, Node *n, int dst);
void qemit_jump_if(Emit *e, Node *n, bool sense, int *list); /* jumps when the truth of n is `sense` */

/* -- emit_call.c ------------------------------------------------------------------------------------------------ */
int qemit_call(Emit *e, Node *n, int base, int want);    /* results from register `base` on, the newest temporary */
void qemit_call_to(Emit *e, Node *n, int dst);           /* one result; conversions, too */
void qemit_meta(Emit *e, Node *n, int dst);

/* -- emit_rewrite.c: reductions of the program ------------------------------------------------------------------ */
/* The first reduction that fits n is applied: into register dst, or as a statement when dst < 0. */
bool qemit_rewritten(Emit *e, Node *n, int dst);
bool qemit_could_rewrite(Emit *e, Node *n);              /* a reduction gives n another meaning */

/* -- emit_fuse.c: expressions that may run as one kernel --------------------------------------------------------- */
bool qemit_fused(Emit *e, Node *n, int dst);             /* emits n as a region; false: it is none */
int qemit_leaf(const Emit *e, const Node *n);            /* the register of a leaf of the running region, or -1 */
#endif
