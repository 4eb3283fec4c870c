/* code.h -- private to the bytecode compiler: instruction buffer, registers, literals and expressions.
 *
 *     bytecode.c    statements, functions, assigned variables     code_op.c       operators, conditions
 *     code.c        buffer, jumps, registers, literals            code_call.c     calls, conversions, $name
 *     code_expr.c   types, names, literals, elements              code_region.c   expressions that may run as kernels
 *                                                                 code_rewrite.c  reductions of the program
 *     code_inline.c calls of functions in expressions that may run as kernels
 *
 * Registers are numbered as follows: first the locals (the index of their symbol; at top level the globals of
 * BC_ALIAS), then the type parameters, then temporaries.  Temporaries form a stack; `top` is the first free one.  A
 * temporary is written once and read once, and the reading instruction clears it. */
#ifndef LANG_CODE_H
#define LANG_CODE_H
#include "lang/bytecode/bytecode.h"

typedef struct LoopExits {
    struct LoopExits *outer;
    int breaks, continues;
} LoopExits; /* an open loop, with the jump lists of its breaks and continues */
typedef struct {
    const Sym *sym;
    TypeExpr *type;
} TypedVar; /* a variable whose assigned values are converted to its type; type NULL: not any more */

/* The body of a try that is being compiled.  Its code has holes, where blocks after finally are inserted before a jump
 * out of it; errors in these do not belong to the try. */
typedef struct TryRegion {
    struct TryRegion *outer;
    Node *leaving;    /* N_TRY whose block after finally runs when the region is left; NULL: none */
    LoopExits *loop;  /* innermost loop around it */
    uint32_t from;    /* beginning of the current part */
    uint32_t *bounds; /* of the parts before: beginning, end, … */
    uint32_t nbounds, cap_bounds;
} TryRegion;

typedef struct Coder {
    Ctx *ctx;
    Func *func;
    const BytecodeHost *host;
    Chunk *chunk;
    qs_status status;   /* first error; code emitted after it is not used */
    uint32_t pos;       /* source position of the code being emitted */
    int top;            /* first free temporary */
    uint32_t *mentions; /* for each local, how often the function mentions it; NULL: not counted yet (code_region.c) */
    bool *set;
    size_t nset; /* set: for each register of a variable, whether it certainly has a value here */
    LoopExits *loop;
    TryRegion *tries;                     /* innermost one; NULL: none */
    const struct RewriteFrame *rewriting; /* reductions whose result is being compiled; NULL: none */
    const Sym *assigning;                 /* variable to which a lambda is being assigned; NULL: none */
    const FuseRegion *fuse;               /* fuse region being emitted; NULL: none */
    const Func **lambdas;  /* by register, what the program assigns to it (code_inline.c); NULL: not known */
    const Node *reduction; /* reduction of masked elements whose parts are being emitted; NULL: none */
    TypedVar *typed;
    uint32_t ntyped, cap_typed;
    const Node *in_place; /* a part of an array that is only read; NULL: none */
    bool within;          /* a region inside the region `fuse` is being compiled */
    bool wide;            /* literals and ranges have float64 elements, because a conversion to a wide type follows */
} Coder;

/* -- code.c: instructions, jumps, registers, literals -------------------------------------------------------------- */
void *qcode_grow(Coder *e, void *at, uint32_t n, uint32_t *cap, size_t elem); /* adds to an array of the chunk */
void qcode_fail(Coder *e, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);
void qcode_at(Coder *e, uint32_t pos);
void qcode_word(Coder *e, uint32_t w);
void qcode_op(Coder *e, Opcode op, int a, int b, int c);
void qcode_opx(Coder *e, Opcode op, int a, uint32_t bx);
void qcode_call_site(Coder *e, uint64_t integral); /* after a call was emitted; see CallSite */
void qcode_exit(Coder *e, const Node *n);          /* before the code of a statement: a compiled loop may end there */
void qcode_full(Coder *e);                         /* reports a function with too many literals */
/* A jump list links jumps with the same pending target.  It is the index of the last J word; each J word contains the
 * index of the previous one; 0 ends the list. */
void qcode_jump(Coder *e, Opcode op, int a, int b, int c, int *list);
void qcode_jump_to(Coder *e, Opcode op, int a, int b, int c, uint32_t target);
void qcode_patch(Coder *e, int list, uint32_t target);
void qcode_here(Coder *e, int list);
void qcode_return_at_once(Chunk *c);
static inline uint32_t qcode_pc(const Coder *e) { return e->chunk->ncode; }
void qcode_statement(Coder *e, Node *n);
bool qcode_has_type(const Coder *e, const Sym *s); /* values assigned to the variable are converted */
/* Adds a handler of errors in [start, end), which puts the error into R[reg] and clears temporaries from temp on.  The
 * code behind it repeats what failed. */
void qcode_catch_repeated(Coder *e, uint32_t start, uint32_t end, uint32_t handler, int reg, int temp);
int qcode_temps(Coder *e, int n); /* allocates n consecutive temporaries; returns the first */
uint32_t qcode_literal(Coder *e, Literal l);
uint32_t qcode_number(Coder *e, double x);
uint32_t qcode_string(Coder *e, Str *s);
uint32_t qcode_type(Coder *e, TypeExpr *t);
void *qcode_alloc(Coder *e, size_t n); /* memory owned by the chunk */
/* Copy, restore and intersect the set of variables that certainly have a value (Coder.set). */
bool *qcode_state(Coder *e);
void qcode_restore(Coder *e, const bool *state);
void qcode_join(Coder *e, bool *into); /* into = into && set, for code reached on two paths */

/* Returns the register of a local, or of a global at top level (BC_ALIAS); -1: none. */
int qcode_register(const Coder *e, const Sym *s);

/* -- code_expr.c: values ------------------------------------------------------------------------------------------- */
void qcode_to(Coder *e, Node *n, int dst);               /* evaluates n into a register */
void qcode_for(Coder *e, TypeExpr *t, Node *n, int dst); /* evaluates n for a conversion to t; t may be NULL */
int qcode_any(Coder *e, Node *n);           /* evaluates n; returns its register: that of a local, or a new temporary */
int qcode_left(Coder *e, Node *n, int dst); /* like qcode_any, but uses dst instead of a new temporary if dst is one */
static inline bool qcode_is_temp(const Coder *e, int reg) { return reg >= (int)e->chunk->ntemp; }
void qcode_load_number(Coder *e, double x, int dst);
void qcode_move(Coder *e, int dst, int src);
void qcode_coerce(Coder *e, int reg, TypeExpr *t, Str *name, bool param);
uint32_t qcode_index_word(Coder *e, const Node *index);
/* Evaluates indices into consecutive new temporaries, and returns the first; a single index may be in any register. */
int qcode_indices(Coder *e, NodeList at);
/* Returns x of a product's operand transpose(x), which need not be copied; NULL: n is something else. */
Node *qcode_transposed(Coder *e, const Node *product, const Node *n);
bool qcode_is_part(const Node *n); /* n selects with : or a range from a variable */
int qcode_part(Coder *e, Node *n); /* evaluates it for reading only, without a copy if possible */
int qcode_part_of_call(Coder *e, Node *call, const Node *part); /* likewise, an operand of a call */
const Type *qcode_known_type(Coder *e, TypeExpr *t); /* NULL: t depends on type parameters, or an error was set */
TypeExpr *qcode_named_type(Coder *e, const Node *n); /* type expression for a type that n names */
bool qcode_is_wide(const Type *t);                   /* its elements can represent more values than float32 */
uint32_t qcode_field_word(Coder *e, Str *name);

/* -- code_op.c: operators and conditions --------------------------------------------------------------------------- */
void qcode_binary(Coder *e, Node *n, int dst);
void qcode_unary(Coder *e, Node *n, int dst);
void qcode_ternary(Coder *e, Node *n, int dst);
void qcode_jump_if(Coder *e, Node *n, bool sense, int *list); /* jumps if the truth of n equals `sense` */

/* -- code_call.c --------------------------------------------------------------------------------------------------- */
int qcode_call(Coder *e, Node *n, int base, int want); /* results in R[base] …; base is the newest temporary */
void qcode_call_to(Coder *e, Node *n, int dst);        /* call with one result, or conversion */
void qcode_meta(Coder *e, Node *n, int dst);
/* Returns the type that a conversion of a number or array, such as uint8(x) or float64(x), names; NULL: n is a call. */
TypeExpr *qcode_conversion(Coder *e, const Node *n, const Type **type);

/* -- code_rewrite.c: reductions of the program --------------------------------------------------------------------- */
/* Applies the first reduction that matches n, into register dst, or as a statement if dst < 0; false: none matches. */
bool qcode_rewritten(Coder *e, Node *n, int dst);
bool qcode_could_rewrite(Coder *e, Node *n); /* a reduction matches n */

/* -- code_inline.c: calls of functions of the program ------------------------------------------------------------- */
typedef struct Inliner {
    Coder *e;
    FuseGuard guards[FUSE_GUARDS];
    int nguards;
    void *ud;
    bool (*bind)(void *ud, const Sym *s, Node *value); /* computes the value once, as variable s; false: impossible */
    bool (*is_bound)(void *ud, const Sym *s); /* a statement before the expression gives the variable a value */
    bool ok;
} Inliner;
bool qcode_calls_functions(Coder *e, Node *n); /* n contains a call that qcode_inlined replaces */
/* Returns n, or a copy in which calls of functions of the program are replaced by their values; NULL: impossible. */
Node *qcode_inlined(Inliner *, Node *n);

/* -- code_region.c: expressions that may run as one kernel --------------------------------------------------------- */
bool qcode_fused(Coder *e, Node *n, int dst); /* emits n as a region; false: n is not fusible */
/* Emits part = value, where value can be fused and part selects with ranges, as a region that may write to the elements
 * of the part; false: it is something else. */
bool qcode_fused_into(Coder *e, Node *part, Node *value);
/* Begins the code of target op= value as a region that may write to the elements of the target: a variable, y[mask],
 * or a part of a variable, whose `nat` indices are then in R[at] …  op: OP__COUNT for y[mask] = value.  Returns NULL if
 * it is no region.  Elements of a part that the value reads at other positions are assigned after the region. */
FuseRegion *qcode_begin_update(Coder *e, Node *target, int op, Node *value);
void qcode_end_update(Coder *e, FuseRegion *, Node *target);
void qcode_set_element(Coder *e, Node *target, int base, int first, int value); /* R[base][R[first], …] = R[value] */
/* Emits consecutive statements of a block, up to n, as a region that runs as one kernel if their arrays suit.  Returns
 * how many; 0: the first one does not begin such a region. */
int qcode_group(Coder *e, Node **statements, int n);
int qcode_leaf(const Coder *e, const Node *n); /* register of a leaf of the current region; -1: n is not a leaf */
#endif
