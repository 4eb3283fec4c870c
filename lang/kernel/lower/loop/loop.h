/* loop.h -- compiles a loop of the host program to KIR.
 *
 * The input is a LoopJob: the loop and the types of the values that enter it.  The output is up to six KFuncs, or the
 * reason why there are none.  vm/launch/loop_launch.c calls kloop_lower once for each combination of types.
 *
 * A loop is not a kernel.  Kernels compute in 32 bits, read 0 outside of arrays, and promise that positions are
 * independent.  A loop means what the interpreter does: a number is a double, an int is an int64 whose overflow is an
 * error, an element is converted to one of the two when read and narrowed when stored, an index outside the array is an
 * error with the interpreter's message, and the iterations run in order.  So the rules for common/common.h differ from
 * those in lower/kernel/.
 *
 * Results are bit-identical to the interpreter.  The KIR of a loop is `strict`: no backend contracts a*b+c, and
 * functions are the scalar ones of libm, not vector variants; OpenCL and CUDA devices use their own functions in a
 * parallel loop.  Only a sum that several iterations share may be reordered, also within a chunk, and a product from
 * chunk to chunk (loop_reduction.c).  If the order could change more than the rounding, because the result or an
 * intermediate value is zero, infinite, subnormal or NaN, or would be in sequential order, the exact version runs as
 * well.  Sums begin with -0, the identity of addition.  exp and sqrt of complex numbers are implemented here, so that
 * they do not depend on libm.  tests/loops.py makes random programs and compares `--loops never` with `--loops always`,
 * on the evaluator and the cpu.
 *
 * Errors are exact without slowing the iterations.  If the bounds of an index over all iterations follow from counters
 * and extents, its test runs once, in the guard: a small separate function that the evaluator runs.  If the guard finds
 * that a test may fail, the exact version runs with every test in its place, so elements and variables have the values
 * that the sequential program leaves.  The guard reports which test may fail, and for which index; `--explain` shows
 * it, and `{!parallel for}`, which requires every run to be parallel, makes it an error.  Such a loop therefore runs in
 * parallel or is an error, whatever the values are.  The evaluator alone cannot run iterations in parallel; there the
 * interpreter runs iterations that were proved independent.
 *
 *     loop.c             versions and their passes         loop_index.c       elements of arrays
 *     loop_stmt.c        nested loops, assignment          loop_dependence.c  parallel iterations; the guard
 *     loop_expr.c        choices, literals                 loop_reduction.c   sums, products and extremes of iterations
 *     loop_call.c        built-ins, arguments              loop_liveness.c    variables that are read afterwards
 *     loop_number.c      real numbers                      loop_variable.c    variables, tests
 *     loop_complex.c     complex numbers                   loop_random.c      random numbers
 *     loop_vector.c      short vectors                     loop_guard.c       index bounds implied by conditions
 *     loop_mixed.c       values of several types           loop_function.c    functions that call themselves
 *     loop_row.c         slices of unknown length          loop_while.c       `while` as a counted loop
 *     loop_integer.c     numbers assumed to be integral    loop_alias.c       variables that hold one array
 *     loop_element.c     elements of slices of unknown length             loop_list.c   lists of numbers and objects
 *     loop_object.c      fields of objects in lists        loop_leave.c       statements that the interpreter executes
 *     loop_library.c     functions of small matrices    loop_exchange.c   variables that exchange their arrays
 *     loop_count.c       counts of declared types
 *
 * One loop is compiled to up to six functions:
 *
 *     exact      all iterations in order, every index tested
 *     quick      the same without the tests that `guard` makes once for all iterations; NULL: nothing to save
 *     parallel   one position per iteration of the outer `depth` loops; or, if iterations share sums, one position per
 *                chunk of iterations of the outermost loop, with its own sums, which the VM adds up; NULL: see `why`
 *     scan       finds out, for each chunk of iterations, whether it reaches a statement that the parallel version does
 *                not have (loop_leave.c); NULL: there are none, no parallel version, or it finds that out itself
 *     guard      evaluated before each run: may quick or parallel be used, and the trip counts of inner loops
 *
 * If an integer operation needs a variable without known bounds, quick and parallel assume that it is integral
 * (loop_integer.c).  When an assumption fails, what they have stored is taken back, and exact runs. */
#ifndef LANG_LOOP_H
#define LANG_LOOP_H
#include "lang/kernel/ir/kfunc.h"
#include "lang/syntax/ast.h"

typedef enum {
    LOOP_UNSET,
    LOOP_NUM,
    LOOP_INT,
    LOOP_BOOL,
    LOOP_MIXED, /* one of the three above, which only the running code knows; a variable that the loop sets */
    LOOP_COMPLEX,
    LOOP_CHAR,   /* a string of one ASCII character */
    LOOP_ITEM,   /* an object with a number (loop_object.c); a variable that the loop sets */
    LOOP_VECTOR, /* a few numbers, their count compiled in; a variable that the loop sets */
    LOOP_ARRAY,
    LOOP_FUNC,
    LOOP_BUILTIN,
    LOOP_OVERLOADS, /* a function with several definitions */
    LOOP_OBJECT,
    LOOP_CELL,
    LOOP_ROW,    /* slices of unknown length; a variable that the loop sets, and that nothing reads afterwards */
    LOOP_LIST,   /* a cell that the loop makes; a variable as LOOP_ROW */
    LOOP_STRING, /* any other; contiguous: its characters are ASCII, and it is read as an array of uint8 */
    LOOP_OTHER
} LoopKind;
enum { LOOP_VECTOR_MAX = 32, LOOP_SMALL = 1 << 20 /* sums of a few such numbers are exact in float32 */ };

typedef struct {         /* a VM value that enters the loop */
    uint8_t kind;        /* LoopKind */
    bool integral;       /* LOOP_NUM, LOOP_INT: integral, at most 31 bits, each time the code runs */
    bool small;          /* integral, at most 20 bits; LOOP_ARRAY: the same for all extents */
    uint8_t dtype, rank; /* LOOP_ARRAY */
    bool contiguous, unit_last, writable;
    bool fixed;                /* LOOP_NUM, LOOP_INT: `number` is compiled in */
    double number;             /* its value when the loop is compiled */
    uint8_t known;             /* LOOP_ARRAY: bit d: the extent of dimension d is compiled in */
    int64_t dims[QS_MAX_RANK]; /* the extents that are compiled in; others are -1 */
    Func *func;                /* LOOP_FUNC */
    const void *cls;           /* LOOP_OBJECT: its class; NULL: none */
    bool has_keys;             /* LOOP_OBJECT: o["name"] is o.name */
    const char *builtin;       /* LOOP_BUILTIN */
    bool unpacks;              /* LOOP_BUILTIN: its result may be unpacked (TRAIT_UNPACKS) */
    bool several;              /* LOOP_BUILTIN: it may have several results */
    int source;                /* the VM's number of the value, returned in LoopBind */
} LoopValue;

typedef struct {   /* the range of one loop counter, as the VM found it */
    bool integral; /* first value and step are integral, all values have at most 53 bits */
    bool small;    /* the magnitude of all values is at most LOOP_SMALL */
    double step;   /* compiled in; 0: a parameter */
} LoopRange;

/* A field of all objects of a class that have numbers: memory with its value in each of them. */
enum { LOOP_CLASSES = 4, LOOP_COLUMNS = 32 };
enum { LOOP_OBJECTS = 256 }; /* numbers for objects that the loop makes */
typedef struct {
    int cls;       /* index in LoopResult.cls */
    int field;     /* its number in the class */
    uint8_t dtype; /* of the declared type */
    bool written;  /* the loop changes it */
    const Str *name;
    int64_t initial; /* the bits of its value in a new object */
} LoopColumn;

typedef struct {   /* the items of a list */
    uint8_t kind;  /* LOOP_NUM, LOOP_INT, LOOP_BOOL, LOOP_ITEM, LOOP_VECTOR; LOOP_UNSET: it is empty */
    uint8_t dtype; /* LOOP_VECTOR: their element type, number of elements */
    int n;
    const void *cls; /* LOOP_ITEM: their class */
} LoopItems;

typedef struct {
    Node *loop;                   /* N_FOR over ranges or the elements of a vector, N_WHILE, N_REPEAT, kloop_as_for */
    Func *func;                   /* the function that contains the loop */
    LoopRange range[QS_MAX_RANK]; /* one per counter */
    bool fast_math;               /* compute in the types of the elements, reorder sums, use vector functions */
    bool divides;                 /* the guard makes no optional tests: remainders are computed by division */
    bool may_assume;              /* functions that call themselves may assume that indices and the like are integral */
    bool many;                    /* it has several specializations: compile in only values that must be known */
    bool ends;                    /* nothing reads top-level variables after the end of the program */
    void *ud;
    /* Gives the current value of a name: with of == -1, a local, global or captured name of the function that contains
     * the loop; otherwise a captured or global name of the function with the source `of`. */
    void (*value)(void *ud, int of, const Sym *sym, LoopValue *out);
    void (*field)(void *ud, int of, const Str *name, LoopValue *out); /* a field of the object with the source `of` */
    /* An item of the cell with the source `of`; its index is the value with the source `number`, or the constant -1 -
     * number. */
    void (*item)(void *ud, int of, int number, LoopValue *out);
    /* Whether the field of objects of the class may be set.  *type is the type that it converts to; NULL: none. */
    bool (*settable)(void *ud, const void *cls, const Str *name, const Type **type);
    /* Fills in the field of the class that contains one number in each object; false: there is none. */
    bool (*column)(void *ud, const void *cls, const Str *name, LoopColumn *out);
    /* The class of objects that a call of the type makes, or cls if the type is NULL, if all its fields are columns;
     * NULL: there is none. */
    const void *(*made_class)(void *ud, const Type *type, const void *cls);
    const Str *(*field_name)(void *ud, const void *cls, int field); /* NULL: the class has no such field */
    /* The function that o.name() calls in `from`, where o is an object or a cell that has no such field. */
    void (*method)(void *ud, const Func *from, const LoopValue *o, const Str *name, LoopValue *out);
    /* The definition of the LOOP_OVERLOADS with the source `of` that a call with n arguments means; LOOP_OTHER if that
     * depends on their types. */
    void (*overload)(void *ud, int of, int n, LoopValue *out);
    /* The function with this name of stdlib/kernels.q; LOOP_OTHER: there is none. */
    void (*library)(void *ud, Str *name, LoopValue *out);
    /* whether parameter `param` of f takes the array without a conversion */
    bool (*takes)(void *ud, const LoopValue *v, const Func *f, int param);
    /* whether the type expression in f names the class */
    bool (*is_class)(void *ud, const void *cls, const Func *f, TypeExpr *e);
    /* the vector whose elements the loop goes through, if its range is no N_RANGE */
    void (*items)(void *ud, LoopValue *out);
    /* an extent of the array with the source `of`; it is compiled in from then on */
    int64_t (*extent)(void *ud, int of, int axis);
    const Str *(*text)(void *ud, int of);        /* the string with the source `of`; it is compiled in from then on */
    int64_t (*peek)(void *ud, int of, int axis); /* the same, which may be another one when the code runs */
    /* The number with the source `of`; fix: it is compiled in from then on.  NaN: it may have a fraction. */
    double (*number)(void *ud, int of, bool fix);
    void (*any_number)(void *ud, int of); /* the number with the source `of` may have a fraction when the code runs */
    /* Whether the number with the source `of`, or the extent `axis` of that array, is at least 1; true: this holds
     * whenever the code runs. */
    bool (*positive)(void *ud, int of, int axis);
    /* whether nothing else refers to the array with the source `of`; true: this holds whenever the code runs */
    bool (*sole)(void *ud, int of);
    /* Whether the cell with the source `of` is a list of numbers of one type, of objects of one class, or of vectors of
     * one length and element type, whenever the code runs. */
    bool (*list)(void *ud, int of, LoopItems *out);
    const struct LoopLeave *leaves; /* set by kloop_lower */
    int nleaves;
} LoopJob;

/* The origin of a parameter.  IMAGINARY is the imaginary part of a complex source.  SNAPSHOT is the array that a
 * variable held when the loop began; it is read before the first iteration.  FIRST, LAST, STEP and TURNS are the first
 * value, the last value, the step and the number of iterations of counter `index`.  REALS and WHOLES are arrays of
 * float64 and int64 for the final values of variables.  CHUNK is the number of iterations of a chunk; PARTS is float64,
 * with LOOP_CHUNKS elements for each reduced variable (LoopOut.part), or for the result of a scan; SUMS is
 * float64, with a copy of the array
 * `sums[index]` for each chunk, initially -0.  SEED and DRAWN (int64) are for random numbers.  ARGUMENT is the number
 * that argument `index` of a function is, FRAMES (int64) how many calls may be open.  LIST_ITEMS are the items of the
 * cell with the source `index` (float64, or int64 if they are ints or numbers of objects), LIST_COUNT is how many they
 * are.  NUMBER is the number of the object with the source `index`, COLUMN is column `index` (float64, or int64 if it
 * has ints), whose element k belongs to object number k of its class.  OBJECT_COUNT is how many objects of the class
 * `index` have numbers before the run; LOOP_OBJECTS further numbers are for those that the loop makes. */
typedef enum {
    LOOP_SOURCE,
    LOOP_IMAGINARY,
    LOOP_SNAPSHOT,
    LOOP_FIRST,
    LOOP_LAST,
    LOOP_STEP,
    LOOP_ITERATIONS,
    LOOP_REALS,
    LOOP_INTS,
    LOOP_CHUNK,
    LOOP_PARTS,
    LOOP_SUMS,
    LOOP_SEED,
    LOOP_DRAWN,
    LOOP_ARGUMENT,
    LOOP_FRAMES,
    LOOP_LIST_ITEMS,
    LOOP_LIST_COUNT,
    LOOP_NUMBER,
    LOOP_COLUMN,
    LOOP_OBJECT_COUNT
} LoopBindKind;
enum { LOOP_CHUNKS = 64 };
typedef struct {
    uint8_t kind;
    int index;
} LoopBind;

/* A list of numbers or objects: items[first..first+count-1] of its memory are the items afterwards. */
enum { LOOP_LISTS = 8 };
#define LOOP_LIST_ROOM   ((int64_t)1 << 32) /* items for which a list has address space */
#define LOOP_OWN_LIST(i) (-2 - (i))         /* the source of list i, which the loop makes: memory, but no cell */
typedef struct {
    int source;   /* of the cell, or LOOP_OWN_LIST */
    uint8_t kind; /* of its items, as in LoopItems */
    /* LOOP_VECTOR: elements of an item.  A number follows them: 1 + the index of the item of the cell that it is; 0 or
     * -1: a new array, which is float64 if the number is -1. */
    int n;
    int cls;          /* LOOP_ITEM: index of the class in LoopResult.cls */
    bool written;     /* the loop changes it */
    int count, first; /* slots of ints */
} LoopList;

/* A vec may have been made as a matrix of one row, and then values made from it are such matrices, too (qarr_keep).
 * Bit LOOP_TWO: certainly; a lower bit: if the array with that source is one. */
enum { LOOP_TWO = 63 };
#define LOOP_LIKE(bit) ((uint64_t)1 << (bit))

/* Arrays that the VM makes for the loop before each run: LOOP_MADE + i is the source of array i. */
enum { LOOP_MADE = 256, LOOP_MADE_MOST = 8 };

/* One or two dimensions of the array of a parameter of the exact version: the versions are right for at most `most`
 * elements.  any: an access mode may select more elements than there are. */
enum { LOOP_LIMITS = 32 };
typedef struct {
    uint16_t param, most;
    uint8_t axis[2], naxes;
    bool any;
} LoopLimit;

typedef struct { /* a variable that the loop sets, and where its final value is stored */
    const Sym *sym;
    int object; /* source of the object if this is a field (named by sym); -1: a variable */
    /* LOOP_NUM, LOOP_BOOL: in reals[slot]; LOOP_INT: in ints[slot]; LOOP_ITEM: the number of the object in
     * ints[slot]; LOOP_COMPLEX: two reals; LOOP_CHAR: its code in reals[slot]; LOOP_VECTOR: `length` reals from
     * reals[slot] on, then one real that says whether they are float64, and the number of the array (loop_alias.c):
     * variables with the same one share an array; -1 - n: the array of the source n; LOOP_ARRAY: the same without
     * elements; LOOP_MIXED: the value as a real,
     * then its LoopKind, and the value of an int in ints[int_slot] */
    uint8_t kind;
    uint8_t length, columns; /* of a LOOP_VECTOR; columns 0: a vec */
    uint8_t cls;             /* of a LOOP_ITEM: index in LoopResult.cls */
    uint64_t like;           /* for a vec: bits LOOP_LIKE */
    int slot, int_slot;
    int given;      /* reals[given] is 0 if the loop did not set it; -1: it always does */
    int counter;    /* 1 + the number of the counter that it is; then the parallel version does not store it; 0: none */
    uint8_t reduce; /* Combine */
    /* index in PARTS; for a product the next two are its smallest and largest magnitude in the chunk */
    int part;
} LoopOut;

/* The source location of a test: its function and the chain of inlined calls.  The outermost function is that of the
 * loop. */
typedef struct LoopPlace {
    const Func *func;
    uint32_t pos;
    struct LoopPlace *caller;
} LoopPlace;

/* An index test that the guard makes for all iterations: dimension `axis` of the array `name`; -1: another test,
 * whose `name` says what does not hold if it fails.  optional: LoopJob.divides compiles the loop without it. */
typedef struct {
    const Func *func;
    uint32_t pos;
    const char *name;
    int axis;
    bool optional;
} LoopTest;

/* A source location that may warn (vm/base/warning.h): reals[LOOP_NOTE + its number] is nonzero if the warning is
 * due: its number in the order of execution, as far as the version runs in order. */
enum { LOOP_NOTE = 128, LOOP_NOTES = 32 /* maximum number per loop; further ones are dropped */ };
/* The numbers of arrays that a loop makes begin here; captured arrays have smaller numbers (loop_alias.c). */
enum { LOOP_FIRST_NEW = 1000 };
typedef struct {
    const Func *func;
    uint32_t pos;
    uint8_t slip, rank; /* rank, name: for SLIP_PLACE */
    const char *name;
} LoopNote;

typedef struct {
    KFunc *func;
    LoopBind *binds;
    LoopPlace *places; /* source locations of the tests; the position of a CHECK is an index into them, from 1 */
    LoopTest *tests;   /* of a guard: its tests */
    bool optional;     /* some of them are optional */
} LoopCode;

enum { LOOP_WHY = 200, LOOP_SUM_ARRAYS = 4, LOOP_LEAVES = 8 };

/* A statement in a branch of the loop that cannot be compiled.  The code ends there; the interpreter finishes the
 * iteration and enters the code again. */
typedef struct LoopLeave {
    const Node *statement;
    NodeList block; /* the statements of the branch */
    const Source *src;
    uint32_t why_pos;
    char why[LOOP_WHY]; /* the reason */
} LoopLeave;

typedef struct {
    /* guard: of parallel, or of quick if there is no parallel; quick_guard: of quick beside a parallel version */
    LoopCode exact, quick, parallel, scan, guard, quick_guard;
    int depth; /* number of counters that are axes of the parallel launch */
    LoopOut *outs;
    int nouts;
    int nreals, nints, nparts;
    /* reals[returned] is 1 + the position of the statement that left the loop (Chunk.exits), or 0; -1: none can */
    int returned;
    int counters;      /* reals[counters …] are the values of the counters then; -1: they are not needed */
    int aborted;       /* reals[aborted] is 1 if a called function failed; -1: it calls none */
    bool assumes;      /* the functions that it calls assume that numbers are integral (LoopJob.may_assume) */
    bool speculates;   /* quick and parallel assume that variables are integral */
    int deoptimized;   /* reals[deoptimized] is 1 if an assumption of quick failed; -1: it has none */
    int drawn;         /* ints[drawn] is the number of random blocks drawn; -1: the loop draws none */
    int64_t draws;     /* random blocks drawn in an iteration of the parallel version */
    bool types_settle; /* the loop reads a variable that gets its compiled type only in the first iteration */
    bool apart;        /* all versions need arrays that do not overlap those that are written */
    LoopLimit limits[LOOP_LIMITS];
    int nlimits;
    bool pairs;       /* there are blocks whose sizes must be equal, see LOOP_GUARD_UNLIKE */
    bool quick_apart; /* quick needs arrays that do not overlap, as parallel does */
    bool chunked;     /* parallel runs chunks; a fault in it has changed nothing, and exact must run instead */
    int rare_part;    /* parallel changes nothing before its end, and is its own scan: the index of the result in PARTS;
                       * -1: it is not */
    LoopNote notes[LOOP_NOTES];
    int nnotes;
    int sums[LOOP_SUM_ARRAYS], nsums; /* sources of arrays that iterations only add to */
    LoopList lists[LOOP_LISTS];
    int nlists;
    bool exchanges; /* variables exchange their arrays (loop_exchange.c) */
    bool replaces; /* it sets the elements of arrays in place of new arrays: no captured vec may be a matrix of a row */
    int made[LOOP_MADE_MOST], nmade; /* LOOP_MADE + i has the type and the extents of the captured array made[i] */
    LoopLeave leaves[LOOP_LEAVES];
    int nleaves;
    const void *cls[LOOP_CLASSES]; /* classes whose objects have numbers */
    bool makes[LOOP_CLASSES];      /* the loop makes objects of the class */
    int nclasses;
    LoopColumn columns[LOOP_COLUMNS];
    int ncolumns;
    const Source *src; /* source file of `why_pos` */
    uint32_t why_pos;
    char why[LOOP_WHY]; /* if exact.func is NULL, the reason for it; otherwise the reason why parallel.func is NULL */
} LoopResult;

/* The int64 values that `guard` stores: 0 if quick and parallel may be used, else the number (from 1) of a test that
 * may fail; the bounds of its index and the size of the dimension; an upper bound of the lengths of slices that are
 * summed (no version may sum more than QCONTIG_BLOCK elements); 1 if blocks differ in size (no version may run then,
 * LoopResult.pairs); then the trip counts of counters 1, 2, … of the axes. */
enum {
    LOOP_GUARD_FAILED,
    LOOP_GUARD_LO,
    LOOP_GUARD_HI,
    LOOP_GUARD_SIZE,
    LOOP_GUARD_SUMMED,
    LOOP_GUARD_UNLIKE,
    LOOP_GUARD_ITERATIONS /* + counter */
};
qs_status kloop_lower(Ctx *c, Arena *arena, const LoopJob *job, LoopResult *out);

/* The `for` that does the same as a loop of u, if its first value and its end are integral; NULL: none (loop_while.c).
 */
Node *kloop_as_for(Unit *u, Node *loop);

/* -- functions that call themselves (loop_function.c) -------------------------------------------------------------- */
enum { LOOP_RESULTS = 8 };
typedef struct {
    bool assumes;   /* that numbers are integral which are indices or in remainders: code without this may not fail */
    LoopCode entry; /* func NULL: the compiler declined the function, for the reason `why` */
    int nresults;
    /* LOOP_NUM, LOOP_BOOL: result i is reals[i+1]; LOOP_INT, LOOP_CHAR: ints[i+1]; LOOP_MIXED: its type is
     * ints[LOOP_RESULTS+i+1] */
    uint8_t kind[LOOP_RESULTS];
    const Source *src;
    uint32_t why_pos;
    char why[LOOP_WHY];
} LoopFunction;
/* Compiles job->func (job->loop is NULL).  kinds: LOOP_NUM, LOOP_INT or LOOP_BOOL for each argument that is such a
 * number, LOOP_OTHER for others, which are captured values; wanted: the number of results that the caller uses.  The
 * code sets reals[0] to 0 if the interpreter must run the call instead, after what it has stored is taken back. */
qs_status kfunction_compile(Ctx *c, Arena *arena, const LoopJob *job, const uint8_t *kinds, int wanted,
                            LoopFunction *out);
/* The kind of the argument v of this kind: LOOP_INT for an integral number, if the parameter converts it to an int. */
uint8_t kfunction_kind(const Func *f, int param, uint8_t kind, double v);
#endif
