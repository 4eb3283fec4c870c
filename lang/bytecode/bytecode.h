/* bytecode.h -- compiles one function from its syntax tree to bytecode of the interpreter.
 *
 * The input is a function with resolved names; the output is a Chunk.  opcodes.def documents the instructions, code.h
 * lists the files of the compiler.  vm/interp/proto.c calls the compiler when a function is called for the first time.
 *
 * A Chunk does not depend on the VM, which turns its literals into values.  Functions inside a function are literals of
 * its Chunk and are compiled when they are first needed. */
#ifndef LANG_BYTECODE_H
#define LANG_BYTECODE_H
#include "lang/syntax/fold.h"
#include "lang/syntax/fuse_item.h"

typedef enum {
#define OPCODE(id, words, doc) BC_##id,
#include "lang/bytecode/opcodes.def"
    BC__COUNT
} Opcode;

enum { MAX_REGISTERS = 250, WANT_MAYBE = 255, MAX_WANTED = 64, NO_NAMES = 0xffffff };

static inline uint32_t qbc_word(Opcode op, uint32_t a, uint32_t b, uint32_t c) {
    return (uint32_t)op | a << 8 | b << 16 | c << 24;
}

/* Parts of an index word (N) and of a field word (F); see opcodes.def. */
#define INDEX_ACCESS(w)  ((uint8_t)((w)&0x7f))
#define INDEX_IS_LIST(w) ((w) >> 7 & 1) /* the index is a single one, written as a range or a list of two numbers */
#define INDEX_FLAGS(w)   ((uint8_t)((w) >> 8 & 0xff))
#define INDEX_NAME(w)    ((w) >> 16) /* literal with the name of the array; 0xffff: none */
#define FIELD_NAME(w)    ((w)&0xffff)
#define FIELD_CACHE(w)   ((w) >> 16)

typedef enum { LIT_NUM, LIT_INT, LIT_COMPLEX, LIT_STR, LIT_TYPE, LIT_FUNC, LIT_ARRAY, LIT_NAMES, LIT_UNIT } LiteralKind;
typedef struct {
    int n;
    Str **at;
} NameTable;
typedef struct Literal {
    LiteralKind kind;
    union {
        int64_t whole;
        double num[2]; /* LIT_NUM: num[0]; LIT_COMPLEX: real and imaginary part */
        Str *str;
        TypeExpr *type;
        Func *func;
        NumTable *table;
        NameTable *names;
        Node *import;
    } u;
} Literal;

/* The source from which CLOSURE takes a captured value: a register, a capture of the running function, a global, the
 * running function itself, or the new closure.  CAP_UNSET: the closure is being assigned to this global, which is
 * therefore read when it is needed. */
typedef enum { CAP_LOCAL, CAP_CAPTURE, CAP_GLOBAL, CAP_SELF, CAP_THIS, CAP_UNSET } CaptureFrom;
enum { CAPTURE_SHIFT = 28, CAPTURE_NUMBER = (1 << CAPTURE_SHIFT) - 1 };
typedef struct {
    uint32_t pc, pos;
} LineEntry; /* the code from pc on belongs to source offset pos */
typedef struct {
    uint32_t start, end, handler;
    uint8_t reg, temp;
    bool repeats;     /* the handler of GROUP, whose code fails again after it; not one of the script */
    bool keeps;       /* the handler throws the error again, so R[reg] is its complete state */
    uint32_t rethrow; /* where it does; 0: it does not */
} Handler; /* after an error in [start, end): R[reg] = the error, continue at handler; temp: first free temporary */

/* A call with constant integral arguments (qfold_integral).  For a method, bit 0 is the object. */
typedef struct {
    uint32_t pc; /* behind the call */
    uint64_t integral;
} CallSite;

/* A condition of a region: global `slot`, or R[reg] if slot is -1, is the function with this number (Func.id), and its
 * captured variable number `capture` has the value of R[outer]; capture -1: only the function counts. */
typedef struct FuseGuard {
    uint64_t id;
    int slot, capture;
    uint8_t reg, outer;
} FuseGuard;
enum { FUSE_GUARDS = 8 };

/* A leaf circshift(x, shift) or circshift(x, shift, dim) of a region, which is read in place: its register has x, and
 * R[reg] the shift.  dim -1: not given. */
typedef struct FuseShift {
    uint8_t leaf, reg;
    int8_t dim;
} FuseShift;
enum { FUSE_SHIFTS = 16 };

/* An elementwise expression that may run as one kernel.  Its leaves are evaluated first, into `regs`; the code from
 * start to end then evaluates it operator by operator and leaves the result in R[dst]. */
typedef struct FuseRegion {
    uint32_t start, end;
    uint8_t dst;
    Node *root;            /* the elementwise expression; with a reduction, its argument */
    const char *reduction; /* name of the built-in applied to the expression, such as sum; NULL: none */
    Node **leaves;
    uint8_t *regs;
    int nleaves;
    FuseShift *shifts;
    int nshifts;
    Node **casts; /* conversions, such as uint8(x), and their element types */
    uint8_t *cast_dtypes;
    int ncasts;
    int nops, ncalls; /* number of operations, and how many of them are functions or powers */
    bool choice;      /* contains ?:, whose condition must have several elements */
    uint8_t rows;     /* number of reductions along dimension `axis` that it contains */
    int axis;
    /* A masked assignment, y[mask] = root or y[mask] op= root, where leaf 0 is y, or a reduction of a root with
     * x[mask].  Its code begins with a FUSE.  NULL: none.  Each bit of `beside` is a leaf of the root outside of
     * x[mask], which must be a number. */
    Node *mask;
    bool updates;
    uint8_t op;
    uint32_t beside;
    /* An assignment of the result to R[base][R[at], …], `nat` indices, whose code ends at `stored`; 0: none.  With
     * `updates`, leaf 0 has the old elements; without indices, it is R[base] itself. */
    uint32_t stored, index;
    uint32_t number; /* index in Chunk.fuses */
    uint8_t base, at;
    int nat;
    /* Statements before `root`, which the same kernel computes.  The region begins with GROUP, and its FUSE is behind
     * the leaves of all of them; `wait`: how many times GROUP jumps to the statements before it tries again; `wasted`:
     * the tries in a row that were in vain.  uses: as in FuseItem. */
    FuseItem *items;
    uint8_t *inputs; /* registers from which leaves are computed; their values must be numbers and arrays */
    int nitems, ninputs;
    FuseGuard *guards;
    int nguards;
    bool changes; /* a statement changes an array; if it is the last one, root is NULL */
    uint32_t uses, wait, wasted;
    int first;
    void *machine; /* owned by vm/launch/fusion.c */
} FuseRegion;

/* A `for` over ranges, a `while` or a `repeat`, which may run as machine code.  The code after it begins at end.
 * for: start is its FORPREP, or the FORDIM of the first counter.  The state of counter i is in LOOP_REGISTERS registers
 *      from reg + i * LOOP_REGISTERS on: number of the iteration, first value, step, number of iterations.  Compiled
 *      code that ends within an iteration, because the interpreter executes the rest of it, makes this iteration the
 *      first and sets its number to LOOP_PAUSED - 1.  FORLOOP then begins the loop anew with the next one.
 *      Over items: start is its ITER, and the index of the next item is in register reg + 1; aux of this register is
 *      LOOP_LEFT if compiled code has ended in the current iteration.
 * while, repeat: start is the beginning of an iteration. */
#define LOOP_PAUSED INT64_MAX
enum { LOOP_REGISTERS = 4, LOOP_LEFT = 1 };
typedef enum {
    BACK,
    BACK_CONDITION,
    BACK_ITEMS
} BackJump; /* of a loop that is not named, with a condition, over items */
typedef struct LoopRegion {
    uint32_t start, end;
    uint8_t reg;
    Node *loop;
    void *machine; /* owned by vm/launch/loop_launch.c */
} LoopRegion;

typedef struct Chunk {
    Func *func;
    Arena arena; /* owns everything below */
    uint32_t *code;
    uint32_t ncode, cap_code;
    Literal *lits;
    uint32_t nlits, cap_lits;
    LineEntry *lines;
    uint32_t nlines, cap_lines;
    Handler *handlers;
    uint32_t nhandlers, cap_handlers; /* innermost first */
    CallSite *calls;
    uint32_t ncalls, cap_calls; /* sorted by pc */
    FuseRegion **fuses;
    uint32_t nfuses, cap_fuses; /* an outer region precedes the regions inside it */
    LoopRegion *loops;
    uint32_t nloops, cap_loops; /* sorted by end, so innermost first */
    bool demands;               /* one of the loops is a {!parallel for} */
    LineEntry *exits;
    uint32_t nexits, cap_exits; /* the statements of loops, where a compiled loop may end: offset, first instruction */
    uint32_t nrewritten;        /* number of expressions replaced by reductions of the program */
    uint32_t nregs;             /* number of registers: locals, type parameters, temporaries */
    uint32_t ntemp;             /* register of the first temporary */
    uint32_t ncaches;           /* number of field caches */
    uint32_t *aliases;
    uint32_t naliases; /* slots of globals that are in registers 0, 1, … while this code, the top level, runs */
} Chunk;

/* FUSIBLE_ALONG: a reduction along a dimension, which is the last argument */
typedef enum { FUSIBLE_NOT, FUSIBLE_EACH, FUSIBLE_REDUCTION, FUSIBLE_ALONG } Fusible;
typedef struct BytecodeHost { /* queries to the VM; ud is passed to each */
    void *ud;
    Fusible (*fusible)(void *ud, const char *name, int nargs); /* of a built-in called with nargs arguments */
    /* whether a global is a built-in that never runs code of the program; again: and whose call may be repeated */
    bool (*pure)(void *ud, int slot, bool again);
    int (*builtin)(void *ud, const char *name);  /* global slot of a built-in function */
    const Func *(*function)(void *ud, int slot); /* the function of the program in a global slot; NULL: none */
    /* Resolves a type; *out is NULL with QS_OK if it depends on type parameters and is known only during a call. */
    qs_status (*type)(void *ud, TypeExpr *e, Func *in, const Type **out);
    struct Reduction **rules;
    int nrules; /* ordered by qrewrite_order */
} BytecodeHost;

/* Compiles f.  echo: if the last statement is an expression, it is the result (at the prompt and with -e). */
qs_status qbytecode_compile(Ctx *c, Func *f, const BytecodeHost *host, bool echo, Chunk *out);
void qbytecode_free(Chunk *c);
void qbytecode_print(const Chunk *c, Text *out);          /* listing for --dump bytecode */
uint32_t qbytecode_pos(const Chunk *c, uint32_t pc);      /* source offset of an instruction */
uint64_t qbytecode_integral(const Chunk *c, uint32_t pc); /* CallSite.integral of the call that ends at pc; 0: none */
#endif
