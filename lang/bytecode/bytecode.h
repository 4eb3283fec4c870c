/* bytecode.h -- from the syntax tree of one function to instructions of the host machine.
 *
 * A function comes in whose names are resolved, a Chunk goes out: opcodes.def says what its instructions do.  The
 * machine alone calls it (vm/interp/proto.c), when a function is called for the first time.  code.h says which file
 * makes the code of what.
 *
 * A Chunk is in terms of the language alone; the machine turns its literals into values.  Functions inside a function
 * are literals of it and are compiled when they are first needed. */
#ifndef LANG_BYTECODE_H
#define LANG_BYTECODE_H
#include "lang/syntax/fold.h"

typedef enum {
#define OPCODE(id, words, doc) BC_##id,
#include "lang/bytecode/opcodes.def"
    BC__COUNT
} Opcode;

enum { MAX_REGISTERS = 250, WANT_MAYBE = 255, MAX_WANTED = 64, NO_NAMES = 0xffffff };

static inline uint32_t qbc_word(Opcode op, uint32_t a, uint32_t b, uint32_t c) {
    return (uint32_t)op | a << 8 | b << 16 | c << 24;
}

/* An index word (N) and a field word (F). */
#define INDEX_ACCESS(w)  ((uint8_t)((w)&0x7f))
#define INDEX_IS_LIST(w) ((w) >> 7 & 1) /* the only index is written as a range or a list of numbers */
#define INDEX_FLAGS(w)   ((uint8_t)((w) >> 8 & 0xff))
#define INDEX_NAME(w)    ((w) >> 16) /* literal, 0xffff: none */
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
        double num[2]; /* LIT_NUM: the first; LIT_COMPLEX: real and imaginary part */
        Str *str;
        TypeExpr *type;
        Func *func;
        NumTable *table;
        NameTable *names;
        Node *import;
    } u;
} Literal;

/* Where CLOSURE takes a captured value from: a register, a capture or global, the running function, the new closure
 * itself, or nowhere (the global that is being assigned: read when it is needed). */
typedef enum { CAP_LOCAL, CAP_CAPTURE, CAP_GLOBAL, CAP_SELF, CAP_THIS, CAP_UNSET } CaptureFrom;
enum { CAPTURE_SHIFT = 28, CAPTURE_NUMBER = (1 << CAPTURE_SHIFT) - 1 };
typedef struct {
    uint32_t pc, pos;
} LineEntry; /* code from pc on comes from source offset pos */
typedef struct {
    uint32_t start, end, handler;
    uint8_t reg, temp;
} Handler; /* an error in [start, end): R[reg] = it */

/* An elementwise expression whose operators may run as one kernel.  Its leaves are evaluated first, into `regs`; the
 * code from start to end then does it operator by operator and leaves the result in R[dst]. */
typedef struct FuseRegion {
    uint32_t start, end;
    uint8_t dst;
    Node *root;            /* of a reduction: its argument */
    const char *reduction; /* the built-in that the whole is an argument of: sum …; NULL: none */
    Node **leaves;
    uint8_t *regs;
    int nleaves;
    int nops, ncalls; /* ncalls: those of nops that are functions or powers */
    bool choice;      /* with ?:, whose condition must have several elements */
    void *machine;    /* owned by vm/launch/fusion.c */
} FuseRegion;

/* A `for` over ranges, a `while` or a `repeat`; behind it the code goes on at end.  A `for` has at start its FORPREP,
 * or the FORDIM of the first counter, and the state of that in registers reg …, of each further one four behind.  The
 * others have at start what each turn begins with. */
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
    uint32_t nhandlers, cap_handlers; /* inner ones first */
    FuseRegion *fuses;
    uint32_t nfuses, cap_fuses; /* by start */
    LoopRegion *loops;
    uint32_t nloops, cap_loops; /* by end: inner ones first */
    bool demands;               /* one of the loops is a {!parallel for} */
    uint32_t nrewritten;        /* expressions that a reduction of the program has replaced */
    uint32_t nregs;             /* registers in use: locals, type parameters, temporaries */
    uint32_t ntemp;             /* number of the first temporary */
    uint32_t ncaches;           /* field caches */
    uint32_t *aliases;
    uint32_t naliases; /* globals that live in registers 0, 1, … while this, the top level, runs */
} Chunk;

typedef enum { FUSIBLE_NOT, FUSIBLE_EACH, FUSIBLE_REDUCTION } Fusible;
typedef struct BytecodeHost { /* what the machine knows; ud is passed back */
    void *ud;
    Fusible (*fusible)(void *ud, const char *name, int nargs); /* a built-in with so many arguments */
    bool (*pure)(void *ud, int slot);                          /* a built-in that runs no code of the program */
    int (*builtin)(void *ud, const char *name);                /* global slot of a built-in function */
    /* NULL with QS_OK: depends on type parameters, so it is known only during a call. */
    qs_status (*type)(void *ud, TypeExpr *e, Func *in, const Type **out);
    struct Reduction **rules;
    int nrules; /* ordered by qrewrite_order */
} BytecodeHost;

/* echo: the function's last statement, when it is an expression, gives the result (the prompt, -e). */
qs_status qbytecode_compile(Ctx *c, Func *f, const BytecodeHost *host, bool echo, Chunk *out);
void qbytecode_free(Chunk *c);
void qbytecode_print(const Chunk *c, Text *out);     /* --dump bytecode */
uint32_t qbytecode_pos(const Chunk *c, uint32_t pc); /* source offset of an instruction */
#endif
