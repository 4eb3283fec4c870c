/* code.h -- private to the bytecode compiler: the instruction buffer, registers, literals, and expressions.
 *
 *     bytecode.c    statements, functions, who has a value        code_op.c       operators, conditions
 *     code.c        the buffer, jumps, registers, literals        code_call.c     calls, conversions, $name
 *     code_expr.c   types, names, literals, elements              code_region.c   expressions that may run as kernels
 *                                                                 code_rewrite.c  what reductions replace
 *
 * Registers: locals first (their number is the symbol's index; at top level the globals, see BC_ALIAS), then the type
 * parameters, then temporaries as a stack whose top is `top`.  A temporary is written once and read once; the reading
 * instruction empties it. */
#ifndef LANG_CODE_H
#define LANG_CODE_H
#include "lang/bytecode/bytecode.h"

typedef struct LoopExits {
    struct LoopExits *outer;
    int breaks, continues;
} LoopExits; /* lists of pending jumps */
typedef struct {
    const Sym *sym;
    TypeExpr *type;
} TypedVar; /* a variable that converts what it is given */

typedef struct Coder {
    Ctx *ctx;
    Func *func;
    const BytecodeHost *host;
    Chunk *chunk;
    qs_status status; /* the first error; everything after it is emitted in vain */
    uint32_t pos;     /* of what is being compiled */
    int top;          /* first free temporary */
    bool *set;
    size_t nset; /* per register of a variable: it certainly has a value here */
    LoopExits *loop;
    const struct RewriteFrame *rewriting; /* reductions whose result is being compiled; NULL: none */
    const Sym *assigning;                 /* the variable whose new value is being made */
    const FuseRegion *fuse;               /* the region that is being emitted */
    TypedVar *typed;
    uint32_t ntyped, cap_typed;
    bool wide; /* literals and ranges are made of float64: a conversion is waiting for them */
} Coder;

/* -- code.c: instructions, jumps, registers, literals -------------------------------------------------------------- */
void qcode_fail(Coder *e, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);
void qcode_at(Coder *e, uint32_t pos);
void qcode_word(Coder *e, uint32_t w);
void qcode_op(Coder *e, Opcode op, int a, int b, int c);
void qcode_opx(Coder *e, Opcode op, int a, uint32_t bx);
void qcode_full(Coder *e); /* the error of a function with too many literals */
/* A jump list is the index of its last J word, each holding the one before it; 0 ends it. */
void qcode_jump(Coder *e, Opcode op, int a, int b, int c, int *list);
void qcode_jump_to(Coder *e, Opcode op, int a, int b, int c, uint32_t target);
void qcode_patch(Coder *e, int list, uint32_t target);
void qcode_here(Coder *e, int list);
void qcode_return_at_once(Chunk *c);
static inline uint32_t qcode_pc(const Coder *e) { return e->chunk->ncode; }
void qcode_statement(Coder *e, Node *n);
int qcode_temps(Coder *e, int n); /* the first of n new temporaries in a row */
uint32_t qcode_literal(Coder *e, Literal l);
uint32_t qcode_number(Coder *e, double x);
uint32_t qcode_string(Coder *e, Str *s);
uint32_t qcode_type(Coder *e, TypeExpr *t);
void *qcode_alloc(Coder *e, size_t n); /* lives as long as the chunk */
/* What is certainly set: a copy, going back to it, and what holds on both of two ways to here. */
bool *qcode_state(Coder *e);
void qcode_restore(Coder *e, const bool *state);
void qcode_join(Coder *e, bool *into); /* into = into and now */

/* The register in which a variable lives: locals, and globals while the top level runs; -1: none. */
int qcode_register(const Coder *e, const Sym *s);

/* -- code_expr.c: values ------------------------------------------------------------------------------------------- */
void qcode_to(Coder *e, Node *n, int dst);               /* the value of n into a register */
void qcode_for(Coder *e, TypeExpr *t, Node *n, int dst); /* … that a conversion to t follows; t may be NULL */
int qcode_any(Coder *e, Node *n);                        /* … into any: a local's own register, or a new temporary */
int qcode_left(Coder *e, Node *n, int dst);              /* … or into dst, the destination, if that is a temporary */
static inline bool qcode_is_temp(const Coder *e, int reg) { return reg >= (int)e->chunk->ntemp; }
void qcode_load_number(Coder *e, double x, int dst);
void qcode_move(Coder *e, int dst, int src);
void qcode_coerce(Coder *e, int reg, TypeExpr *t, Str *name, bool param);
uint32_t qcode_index_word(Coder *e, const Node *index);
int qcode_indices(Coder *e, NodeList at);            /* into new temporaries in a row; the first */
const Type *qcode_known_type(Coder *e, TypeExpr *t); /* NULL: depends on type parameters */
TypeExpr *qcode_named_type(Coder *e, const Node *n); /* a type meant by its name, as an expression of its own */
bool qcode_is_wide(const Type *t);                   /* holds more values of its kind than float32 */
uint32_t qcode_field_word(Coder *e, Str *name);

/* -- code_op.c: operators and conditions --------------------------------------------------------------------------- */
void qcode_binary(Coder *e, Node *n, int dst);
void qcode_unary(Coder *e, Node *n, int dst);
void qcode_ternary(Coder *e, Node *n, int dst);
void qcode_jump_if(Coder *e, Node *n, bool sense, int *list); /* jumps when the truth of n is `sense` */

/* -- code_call.c --------------------------------------------------------------------------------------------------- */
int qcode_call(Coder *e, Node *n, int base, int want); /* results from register `base` on, the newest temporary */
void qcode_call_to(Coder *e, Node *n, int dst);        /* one result; conversions, too */
void qcode_meta(Coder *e, Node *n, int dst);

/* -- code_rewrite.c: reductions of the program --------------------------------------------------------------------- */
/* The first reduction that fits n is applied: into register dst, or as a statement when dst < 0. */
bool qcode_rewritten(Coder *e, Node *n, int dst);
bool qcode_could_rewrite(Coder *e, Node *n); /* a reduction gives n another meaning */

/* -- code_region.c: expressions that may run as one kernel --------------------------------------------------------- */
bool qcode_fused(Coder *e, Node *n, int dst);  /* emits n as a region; false: it is none */
int qcode_leaf(const Coder *e, const Node *n); /* the register of a leaf of the running region, or -1 */
#endif
