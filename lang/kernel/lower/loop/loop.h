/* loop.h -- a host loop as KIR.
 *
 * A LoopJob comes in: the loop, the kinds of the values that enter it.  Up to four KFuncs go out, or why there are
 * none. vm/launch/loop_launch.c calls it, once for each combination of kinds.
 *
 * A loop is not a kernel.  Kernels compute in 32 bits, read 0 outside of arrays, and promise that positions are
 * independent.  A loop of the program means what the interpreter does: a number is a double, an int an int64 with
 * overflow an error, an element is read into one of those and narrowed when it is stored, an index outside the array is
 * an error with the sentence of the interpreter, and one turn comes after the other.  So walk/walk.h
 * walks the tree by other rules here than in lower/.
 *
 * The bits are those of the interpreter.  KIR of a loop is `strict`: no backend contracts a*b+c, and functions are
 * those of libm instead of vector variants; OpenCL and CUDA devices, which have functions of their own, use those in a
 * parallel loop.  Only a sum that turns have in common may be reordered, also within a chunk, and a product from chunk
 * to chunk (loop_reduction.c).  Where that would decide more than its rounding, because the result is, or in order
 * would have
 * been, zero, infinite, subnormal or no number on its way, the exact version runs after all.  Sums begin with -0, which
 * changes nothing.  exp and sqrt of complex numbers are ours, so that they do not depend on the libm.  tests/loops.py
 * makes random programs and compares `--loops never` with `--loops always`, on the evaluator and the cpu.
 *
 * Errors are exact without slowing the turns.  Index tests whose bounds over all turns follow from counters and extents
 * are made once, by the guard: a small function of its own that the evaluator runs.  If it says no, something will
 * probably fail, and the exact version runs, with every test in its place: so elements and variables are what the
 * sequential program leaves.  The guard says which test may fail, and for which index; `--explain` shows it, and
 * `{!parallel for}`, which asks for each run to be parallel, makes it an error.  So such a loop is parallel, or it is
 * an error, whatever the values are; only the evaluator runs nothing side by side, and there the interpreter does what
 * was proved independent.
 *
 *     loop.c          versions and their passes     loop_index.c  elements of arrays
 *     loop_stmt.c     nested loops, assignment      loop_dependence.c   which turns may run side by side; the guard
 *     loop_expr.c     choices, literals             loop_reduction.c    what turns only add to
 *     loop_call.c     built-ins, arguments          loop_liveness.c   whose value matters afterwards
 *     loop_number.c      real numbers                  loop_variable.c    variables, tests
 *     loop_complex.c  complex numbers               loop_random.c random numbers
 *     loop_vector.c   short vectors            loop_guard.c   indices that conditions keep inside
 *
 * Up to four functions are made of one loop:
 *
 *     exact      all turns in order, every index tested
 *     quick      the same without the tests that `guard` makes once for all turns; NULL: there are none to save
 *     parallel   a position per turn of the outer `depth` loops; or, where turns add up something, a position per
 *                chunk of turns of the outermost, with sums of its own that the machine adds up afterwards; NULL: `why`
 *     guard      evaluated before each run: may quick or parallel be used, and how many turns the inner loops have */
#ifndef LANG_LOOP_H
#define LANG_LOOP_H
#include "lang/kernel/ir/kfunc.h"
#include "lang/syntax/ast.h"

typedef enum {
    LOOP_UNSET,
    LOOP_NUM,
    LOOP_INT,
    LOOP_BOOL,
    LOOP_COMPLEX,
    LOOP_VECTOR, /* a few numbers of a length that is compiled in, of variables that the loop sets */
    LOOP_ARRAY,
    LOOP_FUNC,
    LOOP_BUILTIN,
    LOOP_OBJECT,
    LOOP_CELL,
    LOOP_OTHER
} LoopKind;
enum { LOOP_VECTOR_MAX = 32, LOOP_SMALL = 1 << 20 /* sums of a few such are exact in float32 */ };

typedef struct {         /* a value of the machine that enters the loop */
    uint8_t kind;        /* LoopKind */
    bool whole;          /* LOOP_NUM, LOOP_INT: whole, of at most 31 bits, and so it is each time the code runs */
    bool small;          /* whole, of at most 20 bits; LOOP_ARRAY: so are all extents */
    uint8_t dtype, rank; /* LOOP_ARRAY */
    bool contiguous, unit_last, writable;
    uint8_t known;             /* LOOP_ARRAY: bit d: the extent along axis d is compiled in */
    int64_t dims[QS_MAX_RANK]; /* those that are */
    Func *func;                /* LOOP_FUNC */
    const void *cls;           /* LOOP_OBJECT: its class, NULL: it has none */
    const char *builtin;       /* LOOP_BUILTIN */
    int source;                /* the machine's number for it; comes back in LoopBind */
} LoopValue;

typedef struct { /* of one counter of the loop, as the machine has found it */
    bool whole;  /* the first value and the step have no fraction, all values at most 53 bits */
    bool small;  /* all values at most LOOP_SMALL */
    double step; /* compiled in */
} LoopRange;

typedef struct {
    Node *loop;                   /* N_FOR over ranges, N_WHILE, N_REPEAT */
    Func *func;                   /* in which it stands */
    LoopRange range[QS_MAX_RANK]; /* one per counter */
    bool ends;                    /* nobody reads variables of the top level when it has come to its end */
    void *ud;
    /* The value now of a local, global or captured name of the function in which the loop stands; or, when `of` is the
     * source of another function (else -1), of what that has captured, and of globals. */
    void (*value)(void *ud, int of, const Sym *sym, LoopValue *out);
    void (*field)(void *ud, int of, const Str *name, LoopValue *out); /* of the object with that source */
    /* Of the cell with that source the item whose number is the source `number`, or -1 - number. */
    void (*item)(void *ud, int of, int number, LoopValue *out);
    /* That field may be set, and converts to *type; NULL: it does not. */
    bool (*settable)(void *ud, int of, const Str *name, const Type **type);
    /* The function that o.name() in `from` calls, o being the object with that source: no field of it. */
    void (*method)(void *ud, const Func *from, int of, const Str *name, LoopValue *out);
    bool (*is_of_class)(void *ud, int of, const Func *f, int param); /* the object is what parameter `param` wants */
    int64_t (*extent)(void *ud, int of, int axis); /* of the array with that source; from now on it is compiled in */
} LoopJob;

/* Where a parameter comes from.  IMAGINARY is the other part of a complex source.  SNAPSHOT is an array that a variable
 * was when the loop began: it is read before the first turn.  FIRST, STEP, TURNS and LAST are of counter `index`; LAST
 * is the value in the last turn.  REALS and WHOLES are arrays for the variables at the end, of float64 and int64.  Of
 * chunks: how many turns one has; PARTS, float64 with LOOP_CHUNKS elements for each reduced variable, by LoopOut.part;
 * SUMS, float64 with a copy of the array `sums[index]` for each chunk, -0 at first.  SEED and DRAWN are of random
 * numbers: int64. */
typedef enum {
    LOOP_SOURCE,
    LOOP_IMAGINARY,
    LOOP_SNAPSHOT,
    LOOP_FIRST,
    LOOP_LAST,
    LOOP_TURNS,
    LOOP_REALS,
    LOOP_WHOLES,
    LOOP_CHUNK,
    LOOP_PARTS,
    LOOP_SUMS,
    LOOP_SEED,
    LOOP_DRAWN
} LoopBindKind;
enum { LOOP_CHUNKS = 64 };
typedef struct {
    uint8_t kind;
    int index;
} LoopBind;

/* How turns change a variable that none of them reads otherwise.  The last four are `if e < s, s = e` and its kin: of
 * equal values, which +0 and -0 are, the first stays, or the last. */
typedef enum {
    REDUCE_NOT,
    REDUCE_SUM,
    REDUCE_PRODUCT,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_LT,
    REDUCE_LE,
    REDUCE_GT,
    REDUCE_GE
} LoopReduce;

/* A vec may have been made as a matrix of one row, and then so is what is made of it (qarr_keep): bit LOOP_TWO: surely;
 * a bit below: if the array of that source is. */
enum { LOOP_TWO = 63 };
#define LOOP_LIKE(bit) ((uint64_t)1 << (bit))

typedef struct { /* a variable that the loop sets: where its value is afterwards */
    const Sym *sym;
    int object;              /* a field, whose name sym has, of the object with this source; -1: a variable */
    uint8_t kind;            /* LOOP_NUM, LOOP_BOOL: in reals[slot]; LOOP_INT: in wholes[slot]; LOOP_COMPLEX: in two
                              reals; LOOP_VECTOR: in `length` reals from there on, and behind them whether
                              they are of float64 */
    uint8_t length, columns; /* of a LOOP_VECTOR; columns 0: a vec */
    uint64_t like;           /* of a vec: LOOP_LIKE */
    int slot;
    int given;      /* reals[given] is 0 when it was not set after all; -1: it was */
    uint8_t reduce; /* LoopReduce */
    int part;       /* of a product, its least and its greatest magnitude in the chunk are the next two */
} LoopOut;

/* Where a test stands: in which function, and that called from where.  The outermost is the loop's own. */
typedef struct LoopPlace {
    const Func *func;
    uint32_t pos;
    struct LoopPlace *caller;
} LoopPlace;

/* An index test that the guard makes for all turns: of dimension `axis` of the array `name`. */
typedef struct {
    const Func *func;
    uint32_t pos;
    const char *name;
    int axis;
} LoopTest;

/* A place that may warn (vm/base/warning.h): if it has to, reals[LOOP_NOTE + its number] is not 0. */
enum { LOOP_NOTE = 128, LOOP_NOTES = 8 /* the first that the loop has */ };
typedef struct {
    const Func *func;
    uint32_t pos;
    uint8_t slip, rank; /* rank, name: of SLIP_PLACE */
    const char *name;
} LoopNote;

typedef struct {
    KFunc *func;
    LoopBind *binds;
    LoopPlace *places; /* a CHECK has the number of one, from 1, as its position */
} LoopCode;

enum { LOOP_WHY = 200, LOOP_SUM_ARRAYS = 4 };
typedef struct {
    LoopCode exact, quick, parallel, guard;
    int depth; /* counters that are axes of the parallel launch */
    LoopOut *outs;
    int nouts;
    int nreals, nwholes, nparts;
    int returned;    /* reals[returned] is 1 + where the `return` is that has left the loop, or 0; -1: none can */
    int drawn;       /* wholes[drawn] is how many blocks of random numbers were drawn; -1: it draws none */
    int64_t draws;   /* in a turn of the parallel version */
    bool chunked;    /* parallel is by chunks; a fault in it has changed nothing, and exact is to be run */
    LoopTest *tests; /* of the guard */
    LoopNote notes[LOOP_NOTES];
    int nnotes;
    int sums[LOOP_SUM_ARRAYS], nsums; /* sources of arrays that turns only add to */
    const Source *src;                /* of the sentence in `why` */
    uint32_t why_pos;
    char why[LOOP_WHY]; /* exact.func == NULL: why not; otherwise why parallel.func is NULL */
} LoopResult;

/* What `guard` stores, as int64: 0 when quick and parallel may be used, else the number from 1 of a test that may fail,
 * with the bounds of its index and the size of the dimension; then the turns of counters 1, 2, … of the axes. */
enum { LOOP_GUARD_FAILED, LOOP_GUARD_LO, LOOP_GUARD_HI, LOOP_GUARD_SIZE, LOOP_GUARD_TURNS /* + counter */ };
qs_status kloop_lower(Ctx *c, Arena *arena, const LoopJob *job, LoopResult *out);
#endif
