/* loop.h -- a host loop as KIR.
 *
 * A kernel computes as kernels do; a loop of the host computes as the host does: a number is a double, an int an int64
 * with overflow an error, an element is read into one of those and narrowed when it is stored, an index outside the
 * array is an error with the sentence of the interpreter.  So the result is that of the sequential program, and these
 * files are beside lower*.c instead of in it.
 *
 *     loop.c       versions and their passes     loop_index.c  elements of arrays
 *     loop_stmt.c  statements, nested loops      loop_nest.c   which turns may run side by side; the guard
 *     loop_expr.c  expressions, calls            loop_sum.c    what turns only add to
 *     loop_num.c   numbers                       loop_live.c   whose value matters afterwards
 *     loop_var.c   variables, tests
 *
 * Up to three functions are made of one loop:
 *
 *     exact      all turns in order, every index tested
 *     quick      the same without the tests that `guard` makes once for all turns; NULL: there are none to save
 *     parallel   a position per turn of the outer `depth` loops; or, where turns add up something, a position per
 *                chunk of turns of the outermost, with sums of its own that the machine adds up afterwards; NULL: `why`
 *     guard      evaluated before each run: may quick or parallel be used, and how many turns the inner loops have */
#ifndef LANG_KERNEL_LOOP_H
#define LANG_KERNEL_LOOP_H
#include "lang/ast.h"
#include "lang/kernel/kir.h"

typedef enum { LOOP_UNSET, LOOP_NUM, LOOP_INT, LOOP_BOOL, LOOP_ARRAY, LOOP_FUNC, LOOP_BUILTIN, LOOP_OTHER } LoopKind;

typedef struct { /* a value of the machine that enters the loop */
    uint8_t kind;          /* LoopKind */
    bool whole;            /* LOOP_NUM, LOOP_INT: whole, of at most 31 bits, and so it is each time the code runs */
    uint8_t dtype, rank;   /* LOOP_ARRAY */
    bool contiguous, unit_last, writable;
    Func *func;            /* LOOP_FUNC */
    const char *builtin;   /* LOOP_BUILTIN */
    int source;            /* the machine's number for it; comes back in LoopBind */
} LoopValue;

typedef struct { /* of one counter of the loop, as the machine has found it */
    bool whole;            /* the first value and the step have no fraction, all values at most 53 bits */
    double step;           /* compiled in */
} LoopRange;

typedef struct {
    Node *loop;            /* N_FOR over ranges */
    Func *func;            /* in which it stands */
    LoopRange range[QS_MAX_RANK]; /* one per counter */
    bool ends;             /* nobody reads variables of the top level when it has come to its end */
    void *ud;
    /* The value now of a symbol of `in`: of a local, global or captured name. */
    void (*value)(void *ud, Func *in, const Sym *sym, LoopValue *out);
} LoopJob;

/* Where a parameter comes from.  FIRST, STEP, TURNS and LAST are of counter `index`; LAST is the value in the last
 * turn.  REALS and WHOLES are arrays for the variables at the end, of float64 and int64.  Of chunks: how many turns one
 * has; PARTS, float64 with LOOP_CHUNKS elements for each reduced variable, by LoopOut.part; SUMS, float64 with a copy
 * of the array `sums[index]` for each chunk, zeros at first. */
typedef enum {
    LOOP_SOURCE, LOOP_FIRST, LOOP_LAST, LOOP_TURNS, LOOP_REALS, LOOP_WHOLES, LOOP_CHUNK, LOOP_PARTS, LOOP_SUMS
} LoopBindKind;
enum { LOOP_CHUNKS = 64 };
typedef struct { uint8_t kind; int index; } LoopBind;

typedef struct { /* a variable that the loop sets: where its value is afterwards */
    const Sym *sym;
    uint8_t kind;          /* LOOP_NUM, LOOP_BOOL: in reals[slot]; LOOP_INT: in wholes[slot] */
    int slot;
    int given;             /* reals[given] is 0 when it was not set after all; -1: it was */
    uint8_t reduce;        /* KOp with which turns change it and nothing else; 0: none.  In chunks it begins as: */
    double identity;
    int part;
} LoopOut;

/* Where a test stands: in which function, and that called from where.  The outermost is the loop's own. */
typedef struct LoopPlace { const Func *func; uint32_t pos; struct LoopPlace *caller; } LoopPlace;

typedef struct {
    KFunc *func;
    LoopBind *binds;
    LoopPlace *places;     /* a CHECK has the number of one, from 1, as its position */
} LoopCode;

enum { LOOP_WHY = 200, LOOP_SUM_ARRAYS = 4 };
typedef struct {
    LoopCode exact, quick, parallel, guard;
    int depth;             /* counters that are axes of the parallel launch */
    LoopOut *outs; int nouts;
    int nreals, nwholes, nparts;
    bool chunked;          /* parallel is by chunks; a fault in it has changed nothing, and exact is to be run */
    int sums[LOOP_SUM_ARRAYS], nsums; /* sources of arrays that turns only add to */
    const Source *src;     /* of the sentence in `why` */
    uint32_t why_pos;
    char why[LOOP_WHY];    /* exact.func == NULL: why not; otherwise why parallel.func is NULL */
} LoopResult;

/* `guard` stores int64 values: 1 when quick and parallel may be used, then the turns of counters 1, 2, … of the
 * axes. */
qs_status kloop_lower(Ctx *c, Arena *arena, const LoopJob *job, LoopResult *out);
#endif
