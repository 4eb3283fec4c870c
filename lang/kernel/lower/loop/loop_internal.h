/* loop_internal.h -- declares what the files of the loop compiler share; see loop.h. */
#ifndef LANG_LOOP_INTERNAL_H
#define LANG_LOOP_INTERNAL_H
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/lower/common/common.h"
#include "lang/kernel/lower/loop/loop.h"
#include "lang/syntax/operators.h"
#include "vm/base/warning.h"

/* A variable that is real at first and complex later is compiled as complex from the beginning (loop_complex.c).  While
 * the interpreter's variable is real, its imaginary part here is +0.  MaybeReal is what the interpreter may have for a
 * complex number here: certainly a complex number, possibly the real number 0, or possibly any real number. */
typedef enum { SURELY_COMPLEX, MAYBE_ZERO, MAYBE_REAL } MaybeReal;

/* A scalar value.  A complex one has its parts in v and im.  An integral number of at most 53 bits has an int64 twin
 * (loop_number.c): counters and indices are computed with the twin, and so keep the form k*i + c that the passes look
 * for.  Everything else is computed with the double, which is the value.  A LOOP_MIXED is a number, an int or a truth
 * value, which only the running code knows (loop_mixed.c). */
typedef struct {
    uint8_t kind;  /* LOOP_NUM, LOOP_INT, LOOP_BOOL, LOOP_MIXED, LOOP_COMPLEX */
    KRef v;        /* float64, int64 or bool; LOOP_MIXED: the value as float64 */
    KRef twin;     /* int64 twin of a LOOP_NUM; 0: none; LOOP_MIXED: the value if it is an int, or always (integral) */
    KRef f32;      /* element of a vector that may be float64: its value if the vector is not; 0: v */
    KRef wide;     /* LOOP_NUM without a twin: int64 from which v is rounded, as in min(9,int(x)); 0: none */
    double lo, hi; /* bounds of twin or wide, or of a LOOP_INT */
    KRef im;       /* imaginary part of a LOOP_COMPLEX */
    uint8_t maybe; /* MaybeReal, of LOOP_COMPLEX */
    KRef is_int, is_bool; /* LOOP_MIXED: whether it is an int, a truth value; 0: it never is */
    bool integral;        /* LOOP_MIXED: `twin` is the value of every type, else only of an int, as are lo and hi */
    bool unsigned_zero; /* LOOP_NUM with a twin, integral LOOP_MIXED: v is not -0, so that it is the twin as float64 */
    /* LOOP_NUM without a twin, in a speculative version: `guess` is the twin, within lo … hi, if `fits` holds (0: it
     * always does); guess 0: there is none.  guess_unsigned: then v is not -0. */
    KRef guess, fits;
    bool guess_unsigned;
    const struct Quotient *quotient; /* LOOP_NUM: its operands if it is a quotient; NULL: it is none */
} Number;
typedef struct Quotient {
    Number over, under;
} Quotient;

typedef enum {
    WHAT_NOTHING,
    WHAT_NUMBER,
    WHAT_VECTOR,
    WHAT_TRUTHS,
    WHAT_TYPED, /* an element of a slice of integers or truth values: at[0], and the element type */
    WHAT_ARRAY,
    WHAT_FUNCTION,
    WHAT_OBJECT,
    WHAT_CELL,
    WHAT_STRING, /* a captured string, or a literal (`text`); not of one ASCII character */
    WHAT_CHAR,   /* a string of one ASCII character, whose code is `num`, an int */
    WHAT_ROW     /* an expression of slices of unknown length, whose elements are computed where they are used */
} What;
typedef struct Row Row;     /* loop_row.c */
typedef struct Slice Slice; /* loop_index.c */
typedef struct Val {
    What what;
    /* WHAT_NUMBER; WHAT_OBJECT: its number (loop_object.c), v is 0: it has none; WHAT_VECTOR, an item of a list: where
     * it is in the memory */
    Number num;
    Number *at;
    int n;         /* WHAT_VECTOR: number of elements in `at`, each rounded to the element type */
                   /* WHAT_TRUTHS: truth values instead, as a condition of ?: */
    int cols;      /* columns of a matrix, stored row by row; 0: a vec */
    int cls;       /* WHAT_OBJECT with a number: index of its class in LoopResult.cls; WHAT_VECTOR, an item: its list */
    uint8_t dtype; /* WHAT_TYPED */
    uint64_t like; /* for a vec: how many dimensions Python sees (LOOP_LIKE) */
    KRef f64;      /* bool: its array is float64, like that of [16777217,x]; 0: certainly `scalar` */
    struct Var *origin; /* WHAT_VECTOR: the variable that holds this array; NULL: none */
    KRef array;      /* WHAT_VECTOR: the number of its array (loop_alias.c); 0: a new array, or origin has none yet */
    LoopValue host;  /* all others; for a vector with `array`: the captured array; kind LOOP_UNSET: none, LOOP_ITEM: it
                      * is an item of a list */
    const Row *row;  /* WHAT_ROW */
    const Str *text; /* WHAT_STRING: a literal; NULL: a captured string */
    struct Val *
        caught; /* WHAT_FUNCTION: values captured in the loop; NULL: values captured by host.source; WHAT_CELL: items */
    const Str *name;
    const Sym *sym;
    TypeMods mods;
} Value; /* Val of common.h */

typedef struct Var { /* a variable of the loop's function or an inlined one, or a field that is set */
    const Sym *sym;
    int object;       /* for a field: source of the object; otherwise -1 */
    const void *cls;  /* for a field: class of the object; NULL: none */
    const Type *type; /* for a field: the type it converts to; NULL: none */
    /* learned in a pass and kept for the next */
    uint8_t kind;      /* LOOP_UNSET: not known yet */
    bool fraction;     /* may hold a number without a twin */
    bool ints, truths; /* LOOP_MIXED: it may be an int, a truth value */
    bool signed_zero;  /* LOOP_MIXED, and LOOP_NUM in a speculative version: it may be -0 */
    bool others;       /* LOOP_MIXED: the loop assigns it something else than ints */
    int grown;         /* number of times that its bounds were widened */
    bool counted;      /* changes in small steps, so its bounds are the widest that a twin allows */
    bool demanded;     /* an integer operation needs its twin: speculative versions assume that it has one */
    bool uncounted;    /* loop_count.c: it is set to something else than constants and steps */
    int steps;         /* loop_count.c: number of assignments that are steps */
    bool starts;       /* loop_count.c: it is set to constants, from least_start to most_start */
    double least_start, most_start;
    int n, cols;        /* LOOP_VECTOR: number of elements and of columns, as in Value */
    int item_cls;       /* LOOP_ITEM: cls, as in Value */
    bool shared;        /* LOOP_VECTOR: another variable of the loop may hold the same array */
    bool elsewhere;     /* LOOP_VECTOR: that may be a variable of a calling or called function */
    bool captured;      /* LOOP_VECTOR: it may hold an array that a variable holds which the loop does not set */
    bool foreign;       /* LOOP_VECTOR: something outside the loop may refer to its array */
    bool held;          /* LOOP_VECTOR: it may hold an array that is an item of a list */
    bool patched;       /* LOOP_VECTOR: the loop sets single elements */
    int made_depth;     /* LOOP_VECTOR: the number of open loops where it got a new array */
    BlockScope *made;   /* in this block; NULL: its array may have another name */
    bool varies;        /* LOOP_VECTOR: its array may be float64 */
    uint64_t like;      /* LOOP_VECTOR: as in Value */
    uint8_t list;       /* LOOP_LIST: 1 + index in lists */
    uint8_t exchange;   /* LOOP_ARRAY: 1 + index in an Arrangement; 0: the loop gives it no array */
    bool carried;       /* LOOP_ARRAY: an iteration reads it before it gives it another array */
    bool assigned;      /* the loop assigns it, as far as is known */
    uint8_t maybe;      /* MaybeReal, of LOOP_COMPLEX */
    bool replaced;      /* its value before the loop has a different type and is never read in the loop */
    bool doubted;       /* it is read where it may have no value */
    LoopValue replacee; /* if replaced: its value before the loop */
    double lo, hi;
    /* only for variables of the loop's function */
    LoopValue entry;
    uint8_t reduce; /* Combine */
    uint8_t
        extreme; /* COMBINE_LT or COMBINE_GT: `if e < s, s = e` is all that the loop does with it, whatever its type */
    bool live;   /* its value after the loop may be read */
    bool rare;   /* only rare branches set it (loop_leave.c) */
    /* set anew in each pass */
    KRef v, twin, im, *part, f64; /* LOCALs; a LOOP_NUM without v is its twin */
    bool counting;                /* loop_count.c: the next assignment sets it to a constant or is a step */
    int steps_seen;               /* loop_count.c: number of steps so far */
    const BlockScope *start;      /* loop_count.c: the block that has set it to a constant last */
    KRef array; /* LOCAL: the number of the array, if a LOOP_VECTOR may share its array or a LOOP_ARRAY is exchanged */
    const LoopValue *holds; /* LOOP_ARRAY: the array that it holds at the current point; NULL: not known */
    bool moved;             /* LOOP_ARRAY: this iteration has given it an array */
    KRef is_int, is_bool;   /* LOCALs of a LOOP_MIXED, as in Number */
    KRef given;             /* LOCAL: whether it has a value, if it had none when the loop began */
    KRef least, most;       /* LOCALs: smallest and largest magnitude of a product in a chunk */
    bool set;               /* certainly has a value at the current point */
    /* needs no LOCAL, because `val` is its value: a counter that nothing else sets, an array, a function */
    bool bound;
    BlockScope *home; /* `val` is its value while this block is open; NULL: the value is not known */
    Value val;
} Var;

/* The proof that an index is inside the array at one end, whatever its bounds are: certainly (`sure`), or if for one of
 * `rest` both `sum` and `given` are at least 0, which the guard tests. */
enum { PROOF_RESTS = 4 };
typedef struct {
    Affine sum, given;
} Rest;
typedef struct {
    bool sure;
    int n;
    Rest rest[PROOF_RESTS];
} Proof;
typedef struct {
    KRef at, n;      /* 0 <= at < n */
    bool ranged;     /* the guard knows bounds of `at` */
    Proof low, high; /* proofs from enclosing conditions */
    LoopTest test;
} Check;
/* x[…] += value: of floats; of ints that only grow or only fall.  Integer sums saturate, and give the same result in
 * any order of the terms as long as all terms have the same sign. */
typedef enum { SUM_NOT, SUM_REAL, SUM_UP, SUM_DOWN } SumKind;
typedef struct {
    int param, source, rank;
    KRef at[QS_MAX_RANK];
    bool store;
    bool plain; /* `at` are the subscripts as written and are inside the array; no access mode has changed them */
    SumKind sum;
    uint32_t pos;
    KRef ins;     /* the access is emitted from here on */
    KRef element; /* its linear index; a complex element has two parts, whose indices are computed from it */
} Touch;          /* an element that is read or written */

typedef struct {  /* a loop of the perfect nest */
    KRef counter; /* the FOR, or first + POS in a launch; 0: computed from the iteration number */
    KRef first, last;
    double step;
    bool by_count;
    uint32_t pos;
} Level;

typedef struct {
    KRef x, y, mod;
} Wrap; /* mod is x mod y without a division; the guard tests that -y <= x < 2*y */

typedef enum { MODE_EXACT, MODE_QUICK, MODE_PARALLEL } Mode;
/* A cell that is a list of numbers, objects or vectors (loop_list.c). */
typedef struct {
    int source;
    Str *name;
    uint8_t kind, dtype; /* of its items, as in LoopItems; n, cls: as in LoopList */
    int n, cls;
    bool written;
    bool varies; /* vectors that it gets may have another element type than dtype */
    /* set anew in each pass */
    KRef count, first; /* LOCALs, int64 */
} List;
/* The arrays that variables hold at the beginning of an iteration (loop_exchange.c). */
enum { LOOP_EXCHANGED = 8, LOOP_ARRANGEMENTS = 4 };
typedef struct {
    const LoopValue *holds[LOOP_EXCHANGED];
} Arrangement;
enum { LOOP_VISITS = 8 };
enum {
    LOOP_WRAPS = 16,
    LOOP_STORED = 32,
    LOOP_COPIES = 16 /* slices that are copied */,
    LOOP_COPIED = 1024 /* elements of each */
};
typedef struct LoopModule LoopModule;

typedef struct Loops {
    union {
        Walk walk;
        struct {
#include "lang/kernel/lower/common/members.def"
        };
    };
    const LoopJob *job;
    const Node *failed;         /* the innermost statement that was declined and that the interpreter could execute */
    struct LoopModule *module;  /* loop_function.c; NULL: a loop is compiled */
    struct LoopModule *callees; /* the functions that the loop calls by CALL; NULL: none */
    struct Spec *spec;
    KRef left_frames; /* how many calls may still be open */
    LoopResult *out;
    Arena *keep_result; /* arena of the result */
    Mode mode;
    bool reorders;       /* some FOR has independent iterations, if arrays do not overlap */
    int axes;            /* MODE_PARALLEL: number of outer loops that are axes */
    bool chunked;        /* MODE_PARALLEL: positions are chunks of the outermost loop; see loop.h */
    bool random;         /* draws random numbers */
    int nest;            /* number of outer loops that contain only the next one */
    int library;         /* how many functions of kernels.q are being inlined (loop_library.c) */
    bool no_vectors;     /* slices are rows, however short they are */
    int copies_declared; /* how many LARRAYs copies of slices need */
    bool shares;         /* variables share arrays (loop_alias.c) */
    bool holds_items;    /* variables hold arrays that are items of lists */
    bool wants_integers; /* an integer operation lacks the twin of a variable */
    bool scans;    /* MODE_PARALLEL: this is the scan, or the version that runs where the scan has found nothing */
    int scan_axes; /* axes and chunked of a parallel version with a scan */
    bool scan_chunked;
    bool alone;                       /* MODE_PARALLEL: this version is the scan, which stores nothing else */
    bool speculates;                  /* the version assumes that demanded variables are integral (loop_integer.c) */
    int stored[LOOP_STORED], nstored; /* sources of arrays that the loop writes; more than fit: any array */
    /* set anew in each pass */
    bool waits;                     /* some loop ends by a condition, which may never hold after a failed iteration */
    KRef fault, value[2];           /* LOCALs: number of the test that failed; its values */
    KRef returned;                  /* LOCAL: 1 + position of the statement that left the loop; 0: none */
    KRef left_counter[QS_MAX_RANK]; /* LOCALs: the values of the counters of the loop then; 0: they are not needed */
    struct {
        LoopPlace place;
        int message;
    } * faults;
    uint32_t nfaults, cap_faults;
    /* LOCALs: for each entry of out->notes, 0 or its number in the order of execution; the last such number */
    KRef note[LOOP_NOTES], noted;
    uint32_t slips; /* tests for slips that were emitted in this pass */
    LoopBind *binds;
    uint32_t cap_binds;
    Check *checks;
    uint32_t nchecks, cap_checks; /* index tests that a guard can make */
    /* ints that may need more than 62 bits, so that their bounds may wrap */
    KRef *wide;
    uint32_t nwide, cap_wide;
    Wrap wraps[LOOP_WRAPS];
    int nwraps;
    uint32_t *ranges; /* by instruction: 2 * number of the query of kloop_has_range that has looked at it, + 1 if so */
    uint32_t cap_ranges, range_query;
    uint32_t loose, loose_pos; /* number of tests that no guard can make, and position of the first */
    uint32_t assumed;          /* number of these that are assumptions of a speculative version */
    uint32_t rare;             /* number of these that a scan can make */
    KRef taken;                /* of the scan, a LOCAL: 1 once an iteration has reached a rare statement; 0: no scan */
    KRef summed[LOOP_LIMITS];  /* upper bounds of the lengths of slices that are summed */
    int nsummed;
    KRef unlike[LOOP_LIMITS]; /* differences of lengths, which no version can handle unless they are 0 */
    int nunlike;
    Touch *touches;
    uint32_t ntouches, cap_touches;
    Invariants *fixed; /* values that no counter changes; loop_dependence.c makes it for the code that it looks at */
    Level level[QS_MAX_RANK];
    int nlevels;
    int versions, others;      /* open loops that are lowered twice; how many of them are in their general version */
    KRef chunk_last;           /* the counter's value in the last iteration of the chunk */
    BlockScope *body;          /* body of the outermost loop */
    KRef counter[QS_MAX_RANK]; /* the counters of the loop, if they are integral */
    KRef copy[LOOP_COPIES];    /* LARRAYs for copies of slices (loop_row.c); ncopies: used so far */
    int ncopies;
    List lists[LOOP_LISTS];
    int nlists;
    Arrangement arrangement[LOOP_ARRANGEMENTS];
    int narrangements, nexchanged;  /* nexchanged: number of variables that exchange their arrays */
    bool replaces;                  /* arrays get new elements in place, or the loop makes arrays */
    LoopValue like[LOOP_MADE_MOST]; /* the captured arrays whose type and extents the made ones have */
    bool rearranges;                /* another variable belongs to the arrangements: the next pass finds them anew */
    KRef arranged;                  /* LOCAL: the arrangement of this iteration; 0: no arrays are exchanged */
    BlockScope *exchanging;         /* block of the outermost body; NULL: another part of the loop */
    struct {
        const Node *loop;
        int source;
    } visit[LOOP_VISITS]; /* the open loops over items of lists */
    int nvisits;
    int nmade[LOOP_CLASSES];   /* expressions that make objects */
    KRef latest[LOOP_CLASSES]; /* LOCALs: which of the LOOP_OBJECTS numbers the latest object got */
    KRef listed;               /* the latest access to a list is before this instruction */
    KRef arrays;               /* LOCAL: the number of the next array that the loop makes (loop_alias.c) */
    KRef drawn;                /* LOCAL: number of random blocks drawn so far */
    int64_t draws;             /* random blocks drawn per iteration, in this pass */
    bool draws_vary;
    uint32_t draws_pos; /* iterations draw different amounts; position of the cause */
} Loops;

enum {
    LOOP_CALLS = 24,
    LOOP_PASSES = 24,
    LOOP_LONGEST = 1 << 14 /* instructions; a longer loop inlines no more functions */,
    LOOP_ROW_ARGS = 3 /* arguments of a row of elem.def */,
    LOOP_FIELDS = 32 /* most fields that a loop can set */
};

/* -- loop.c -------------------------------------------------------------------------------------------------------- */
/* Declines the loop, which the interpreter then runs.  Never returns QS_OK. */
qs_status kloop_decline(Loops *L, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);

void kloop_declare_all(Loops *L); /* declares the variables of all functions at the beginning of a pass */

/* -- loop_function.c ----------------------------------------------------------------------------------------------- */
int kfunction_param(Loops *L, const KParam *p, LoopBind b);
void kfunction_expect_int(Loops *L, int slot);         /* assumes that the input is integral in all calls */
bool kfunction_is_open(const Loops *L, const Func *f); /* whether a call of f must be a CALL */
qs_status kfunction_call(Loops *L, const Callee *callee, const Args *args, Value *outs, int wanted);
void kfunction_fail_unless(Loops *L, KRef cond);
bool kfunction_assume(Loops *L, KRef cond); /* false: the code may assume nothing */
/* For a loop with callees: at the beginning of a pass; before its code is kept (gives the bindings of its
 * parameters) and afterwards; at the end. */
void kfunction_reads(Loops *L, const Sym *sym, int object, const Str *field); /* field NULL: a global variable */
void kfunction_begin_pass(Loops *L);
qs_status kfunction_add_callees(Loops *L, const LoopBind **binds);
qs_status kfunction_keep_callees(Loops *L, KFunc *f);
void kfunction_free_callees(Loops *L);

/* -- loop_variable.c ----------------------------------------------------------------------------------------------- */
int kloop_param(Loops *L, const KParam *p, LoopBind b); /* returns the existing parameter if there is one */
KRef kloop_number_param(Loops *L, Str *name, qs_dtype d, LoopBind b);
int kloop_results_param(Loops *L, LoopBindKind kind); /* kind: REALS or WHOLES */
Var *kloop_find_var(InlineFrame *in, const Sym *sym);
Var *kloop_var(Loops *L, const Sym *sym);  /* a variable of the current function or a global; NULL: none */
Value kloop_entry(Loops *L, const Var *v); /* its value when the loop begins */
void kloop_declare(Loops *L, Var *v, const Value *init);
Number kloop_held_number(Loops *L, const Var *v); /* the current value of a LOOP_MIXED */
void kloop_enter_var(Loops *L, Var *v);           /* sets it to its value before the loop */
void kloop_enter_bounds(Var *v);                  /* sets its bounds to the bounds of that value */
void kloop_forget_from(Loops *L, KRef from);      /* forgets values whose instructions are taken back */
qs_status kloop_variable(Walk *w, const Sym *sym, uint32_t pos, Value *out, bool *found);
bool kloop_is_number_name(Walk *w, const Node *name); /* see ExprRules.is_number */
qs_status kloop_outside(Walk *w, const Sym *sym, uint32_t pos, Value *out);
static inline qs_status kloop_read(Loops *L, const Sym *sym, Value *out) {
    return kcall_name(&L->walk, sym, L->pos, out);
}
Var *kloop_field_var(const Loops *L, int object, const Str *name); /* a field that the loop sets; NULL: it does not */
qs_status kloop_field(Loops *L, const Value *object, const Str *name, Value *out);
/* c[index], where c and the index have their values from before the loop. */
qs_status kloop_item(Loops *L, const Value *cell, Node *index, Value *out);
qs_status kloop_set_field(Loops *L, const Value *object, Str *name, const Value *x);
/* Converts a value to the type of a field; NULL: none. */
qs_status kloop_convert_field(Loops *L, const Type *t, const Str *name, Value *x);
qs_status kloop_decline_array(Loops *L, const Var *v);          /* because it assigns an array to the variable */
bool kloop_same_text(Loops *L, const Value *a, const Value *b); /* compiles in what two WHAT_STRING are */
qs_status kloop_decline_value(Loops *L, const Value *v);        /* because it needs a number instead */
/* Emits the error for reading a variable that may have no value. */
qs_status kloop_doubt(Loops *L, Var *v, const char *sentence);
qs_status kloop_assign(Loops *L, Var *v, const Value *x);
qs_status kloop_unbind(Loops *L, Var *v); /* makes a parameter that is its argument a variable, which may change */
qs_status kloop_patch(Loops *L, Var *v, const Value *x); /* changes elements of a vector, which is x then */
void kloop_unset(Loops *L, Var *v);                      /* marks it as unset at the start of a function */
bool *kloop_save(Walk *w);                               /* copies the set of variables that certainly have a value */
void kloop_restore(Walk *w, const bool *state);
void kloop_join(Walk *w, bool *into);
/* %0 and %1 in the message are a and b. */
void kloop_fail_unless(Loops *L, KRef cond, qs_status s, const char *sentence, KRef a, KRef b);
void kloop_inside(Loops *L, AxisIndex x, const char *array, int axis); /* emits an index test */
/* The same unless `none` (0: never); `guarded` is an index for the guard, which is inside only if x.at is. */
void kloop_inside_unless(Loops *L, KRef none, KRef guarded, AxisIndex x, const char *array, int axis);
/* A test of the lengths of arrays; see kloop_test_lengths.  shown: the values in the message. */
typedef struct {
    KRef a, b, n, shown[2];
    qs_status status;
    bool guarded; /* output: the guard makes the test, too, so that quick versions may rely on it */
} LengthTest;
bool kloop_test_lengths(Loops *L, LengthTest *t, KRef holds, const char *sentence);
/* Returns whether the guard tests that 0 <= at < n in all iterations, so that quick versions may rely on it.
 * otherwise: what --explain says if it does not hold. */
bool kloop_guard_inside(Loops *L, KRef at, KRef n, const char *otherwise);
/* The same, if the guard knows bounds of `at`; without this test there is another version of the loop. */
bool kloop_guard_optional(Loops *L, KRef at, KRef n, const char *otherwise);
/* Leaves the loop to the interpreter if the lengths differ.  false: they are not known before it begins. */
bool kloop_require_equal(Loops *L, KRef a, KRef b);
bool kloop_is_fixed(const Loops *L, KRef r); /* whether r is computed from numbers and extents known before the loop */
/* Makes this source location warn after the loop if `when` was true. */
void kloop_note(Loops *L, Slip slip, KRef when);
void kloop_note_place(Loops *L, const char *name, int rank, KRef when); /* see qwarn_location */
bool kloop_is_rounded(const Loops *L, KRef r); /* whether a float is integral, unless it is infinite or NaN */
KRef kloop_round_index(Loops *L, KRef x, MathFn rounding); /* of an index */
/* Returns the rounded index x as int64, within QINDEX_LEAST and QINDEX_MOST, and emits the error unless x is a
 * number.  warns: also the warning for a fraction. */
KRef kloop_integral_index(Loops *L, KRef x, KRef rounded, const char *array, bool warns);
/* called where a loop begins: forgets the values that its iterations set */
void kloop_forget(Loops *L, const Node *loop);

/* -- loop_alias.c -------------------------------------------------------------------------------------------------- */
KRef kloop_entry_number(Loops *L, const Var *v);
void kloop_declare_number(Loops *L, Var *v, const Value *init);
void kloop_declare_arrays(Loops *L);                /* at the beginning of a pass */
qs_status kloop_share(Loops *L, Var *v, Value *x);  /* v is set to the vector x, which gets its number */
void kloop_leave_behind(const Loops *L, Value *v);  /* detaches a result from the function's variable */
qs_status kloop_may_change(Loops *L, Var *v);       /* before elements of v change; declines the loop */
qs_status kloop_put_away(Loops *L, const Value *x); /* the vector x becomes an item of a list */
void kloop_changed(Loops *L, Var *v, Value *x);     /* x is the array of v with changed elements */
void kloop_change_others(Loops *L, const Var *v);   /* afterwards: all that hold the array have its elements */

/* -- loop_exchange.c ----------------------------------------------------------------------------------------------- */
void kloop_begin_arrays(Loops *L);                            /* at the beginning of a pass */
qs_status kloop_read_array(Loops *L, Var *v, Value *out);     /* v: a LOOP_ARRAY */
qs_status kloop_hold_array(Loops *L, Var *v, const Value *x); /* v is set to the array x */
/* v is set to a new array of the elements of the row x.  *done is false if it cannot hold one. */
qs_status kloop_new_array(Loops *L, Var *v, const Value *x, bool *done);
/* The captured array that has the extents of the array. */
const LoopValue *kloop_like(const Loops *L, const LoopValue *array);
int64_t kloop_peek(Loops *L, int source, int axis, bool fix); /* LoopJob.extent if fix, else LoopJob.peek */
qs_status kloop_lower_body(Walk *w, Node *loop);

/* -- loop_stmt.c --------------------------------------------------------------------------------------------------- */
extern const WalkRules kloop_rules;
void kloop_exit_unless(Loops *L, KRef holds, const Node *n); /* else the interpreter continues with the statement n */

/* -- loop_while.c -------------------------------------------------------------------------------------------------- */
/* Lowers the loop as its `for`, if that is possible. */
qs_status kloop_counted_while(Walk *w, Node *loop, bool *done);
enum { LOOP_STEPS = 8 };
typedef struct { /* a variable that each iteration changes by the same integer */
    Var *v;
    Number first; /* before the loop */
    KRef change;
    bool up;
} LoopStep;
typedef struct {
    LoopStep at[LOOP_STEPS];
    int n;
} LoopSteps;
/* Finds them, before the loop is opened. */
qs_status kloop_find_steps(Loops *L, const Node *loop, LoopSteps *out);
/* Sets them at the beginning of an iteration, whose number is an int64. */
qs_status kloop_set_steps(Loops *L, const LoopSteps *steps, KRef iteration);

/* -- instructions -------------------------------------------------------------------------------------------------- */
static inline KRef kloop_emit(Loops *L, KMake i) { return kbuild_emit(&L->walk, i); }
static inline void kloop_flow(Loops *L, KOp op, KRef a) { kbuild_flow(&L->walk, op, a); }
static inline KRef kloop_op(Loops *L, KOp op, KRef a, KRef b) {
    return kbuild_pure(&L->walk, (KMake){op, .a = a, .b = b});
}
static inline KRef kloop_not(Loops *L, KRef c) { return kloop_op(L, K_NOT, c, 0); }
static inline KRef kloop_i64(Loops *L, int64_t v) { return kbuild_int(&L->walk, QS_I64, v); }
static inline KRef kloop_f64(Loops *L, double v) { return kbuild_const(&L->walk, QS_F64, v); }

/* -- loop_number.c ------------------------------------------------------------------------------------------------- */
/* Whether an integer with these bounds is certainly an exact double.  A bound of 2^53 does not prove it: 2^53 + 1, as a
 * literal or as a sum of bounds, is rounded to it.  All larger values are rounded to at least 2^53. */
static inline bool kloop_is_exact(double lo, double hi) { return lo > -0x1p53 && hi < 0x1p53; }
KRef kloop_cast(Loops *L, KRef a, qs_dtype to);
Number kloop_const(Loops *L, double v);
Number kloop_bool(KRef v);
Number kloop_from_int(Loops *L, KRef twin, double lo, double hi); /* a LOOP_NUM from its twin; the value is not -0 */
Number kloop_num(KRef v);
Number kloop_int(KRef v, double lo, double hi);
Number kloop_wide(Loops *L, KRef v); /* an int without known bounds */
KRef kloop_real(Loops *L, Number n); /* the value as float64 */
KRef kloop_twin(Loops *L, Number n); /* the value as int64; 0: it may have a fraction */
KRef kloop_truth(Loops *L, Number n);
bool kloop_known(Loops *L, Number n, double *v);
qs_status kloop_binary(Loops *L, Op op, Number a, Number b, Number *out);
qs_status kloop_unary(Loops *L, Op op, Number a, Number *out);
Number kloop_to_int(Loops *L, Number a);                       /* int(a) */
qs_status kloop_convert(Loops *L, const Str *type, Number *n); /* converts to a declared type; NULL: declines */
qs_status kloop_settle(Loops *L, const Str *type, Number *n);  /* the same, with a warning for digits that are lost */
void kloop_note_cut(Loops *L, qs_dtype d, Number n);
qs_status kloop_convert_to(Loops *L, qs_dtype d, Number *n); /* the same for scalar and int8 … int64 */
Number kloop_to_num(Loops *L, Number a);                     /* scalar(a) */

/* -- loop_integer.c ----------------------------------------------------------------------------------------------- */
#define LOOP_EXACT_MOST 0x1.fffffffffffffp52 /* 2^53 - 1 */
bool kloop_may_be_demanded(const Var *v);
/* Unless the condition holds, sets the fault and leaves the loop, whose changes the VM takes back. */
void kloop_leave_unless(Loops *L, KRef cond, qs_dtype d, int64_t fault);
/* An integer operation needs the twin of n.  A speculative version tests that the guess is right, and returns true.
 * Any version notes the variables from which n is computed. */
bool kloop_expect_int(Loops *L, Number *n);
bool kloop_expect_positive(Loops *L, Number *n); /* the same for a twin that is at least 1 */
/* Adds to *n what is known of it as the result of a op b: a guess, or that it is a quotient. */
void kloop_guess_arith(Loops *L, KOp op, Number a, Number b, Number *n);
bool kloop_has_unsigned_zero(KOp op, Number a, Number b); /* whether the integral result is certainly not -0 */
void kloop_guess_negate(Loops *L, Number a, Number *n);
void kloop_guess_choice(Loops *L, KRef c, Number a, Number b, Number *n);
KRef kloop_remainder(Loops *L, KRef x, KRef y); /* x mod y, y > 0 */
KRef kloop_modulus_of(const Loops *L, KRef r);  /* the y of a remainder without a division; 0: r is none */
/* floor, or trunc if !down, of a quotient of integers */
bool kloop_whole_quotient(Loops *L, bool down, Number a, Number *out);
void kloop_forget_bounds(Loops *L); /* before the passes of a version that computes with other bounds */

/* -- loop_mixed.c -------------------------------------------------------------------------------------------------- */
bool kloop_may_be_int(Number a);
Number kloop_mixed(Loops *L, Number a); /* a real number as a LOOP_MIXED */
bool kloop_is_integral(Number a);       /* whether kloop_as_int is the value of a */
KRef kloop_as_int(Loops *L, Number a);  /* the value as int64, of any size; 0: it may have a fraction */
Number kloop_choose(Loops *L, KRef c, Number a, Number b); /* c ? a : b; both complex or both real */
/* The value of branches that meet: `join` before them, `add` in each, `end` after them. */
typedef struct {
    KRef real, integral, truth, im, is_int, is_bool; /* LOCALs */
    bool any;
    Number value; /* what is known of the values so far */
} Join;
Join kloop_begin_join(Loops *L);
qs_status kloop_join_add(Loops *L, Join *j, Number a); /* declines a complex number beside a real one */
Number kloop_join_end(Loops *L, const Join *j);
/* Computes fn for each type that the LOOP_MIXED arguments may have, in branches. */
typedef qs_status NumberFn(Loops *L, const void *ud, const Number *args, int n, Number *out);
qs_status kloop_split(Loops *L, NumberFn *fn, const void *ud, const Number *args, int n, Number *out);
qs_status kloop_mixed_binary(Loops *L, Op op, Number a, Number b, Number *out); /* one operand is mixed */
qs_status kloop_mixed_unary(Loops *L, Op op, Number a, Number *out);
Number kloop_int_if(Loops *L, Number n, KRef is_int); /* n, which has a twin, or the equal int where is_int */
static inline bool kloop_any_mixed(const Number *a, int n) {
    for (int i = 0; i < n; i++)
        if (a[i].kind == LOOP_MIXED) return true;
    return false;
}

/* -- loop_complex.c ------------------------------------------------------------------------------------------------ */
Number kloop_complex(KRef re, KRef im);
Number kloop_to_complex(Loops *L, Number a);
qs_status kloop_complex_binary(Loops *L, Op op, Number a, Number b, Number *out); /* one operand is complex */
qs_status kloop_complex_unary(Loops *L, Op op, Number a, Number *out);
/* A built-in with a complex argument or result; *found: it is one. */
qs_status kloop_complex_call(Loops *L, const char *name, const Number *args, int nargs, bool *found, Number *out);

/* -- loop_row.c ---------------------------------------------------------------------------------------------------- */
typedef struct {
    KRef count;   /* number of elements, int64 */
    KRef assumed; /* the number if no row of one element is spread, which the guard tests; 0: count */
    Affine span;  /* spanned: count - 1, if there are elements */
    bool spanned;
    KRef lo, hi; /* there are elements if lo <= hi; 0: that is not known */
} SliceExtent;
static inline KRef kloop_assumed(const SliceExtent *e) { return e->assumed ? e->assumed : e->count; }
typedef struct { /* a block has the extents side[0] and side[1] in two dimensions, and 1 in all others */
    SliceExtent side[2];
    int axis[2];
} Block;
typedef struct {
    SliceExtent n;
    bool column;        /* n x 1 instead of a vec */
    const Block *block; /* NULL: a vec or column */
} SliceShape;
bool kloop_is_row(const Loops *L, const Value *v); /* a row, or an array that may become one */
int kloop_row_rank(const Row *r);
KRef kloop_row_extent(Loops *L, const Row *r, int axis);                          /* int64 */
qs_status kloop_row_element(Loops *L, const Row *r, const KRef *at, Number *out); /* the indices are inside */
bool kloop_is_masked(const Value *v);                                             /* x[mask] */
qs_status kloop_mask(Loops *L, const Value *x, const Value *mask, Value *out);
qs_status kloop_row_store_masked(Loops *L, const Value *array, const Value *mask, Number v); /* x[mask] = v */
qs_status kloop_keep_row(Loops *L, Value *v); /* copies the elements if the loop may change them */
KRef kloop_copy_array(Loops *L);              /* declares memory for a copy */
void kloop_range_row(Loops *L, KRef first, int64_t step, const SliceExtent *n, Value *out);
qs_status kloop_slice_row(Loops *L, const Slice *s, const SliceShape *shape, Value *out);
qs_status kloop_row_binary(Loops *L, Op op, const Value *a, const Value *b, Value *out); /* one operand is a row */
qs_status kloop_row_unary(Loops *L, Op op, const Value *a, Value *out);
qs_status kloop_row_call(Loops *L, const char *name, const Value *args, int nargs, Value *out);
qs_status kloop_row_store(Loops *L, const Slice *to, const SliceShape *shape, const Value *v);
const Value *kloop_row_array(const Row *r); /* an array that may have the type and size of the row; NULL: none */
/* Sets the elements of the array to the elements of the row v.  *done is false if the row may have another type or
 * size than the array. */
qs_status kloop_row_replace(Loops *L, const Value *array, const Value *v, bool *done);

/* -- loop_list.c --------------------------------------------------------------------------------------------------- */
void kloop_declare_list(Loops *L, List *l); /* at the beginning of a pass */
/* Whether the loop reads items of the cell by any index, or changes it, as far as is known. */
bool kloop_is_list(const Loops *L, const Value *cell);
qs_status kloop_list_literal(Loops *L, const Node *n, Value *out); /* {…}, which only an assignment can use */
qs_status kloop_decline_literal(Loops *L);                         /* an item of a literal is read */
qs_status kloop_make_list(Loops *L, Var *v, Value *literal);       /* becomes the list, which is then that of v */
qs_status kloop_list_call(Loops *L, const char *name, const Value *args, int nargs, Value *out, int wanted);
qs_status kloop_list_load(Loops *L, const Value *cell, const Value *index, Value *out);
qs_status kloop_list_store(Loops *L, const Value *cell, const Value *index, const Value *v);
/* Copies the elements of x to the vector `item`, which was loaded from a list. */
qs_status kloop_list_patch(Loops *L, const Value *item, const Value *x);
qs_status kloop_visit_list(Loops *L, const Value *cell, const Node *loop); /* the loop over its items begins */
void kloop_leave_list(Loops *L, const Node *loop);                         /* … ends */
Number kloop_list_count(Loops *L, const Value *cell);
Value kloop_visited_item(Loops *L, const Value *cell, KRef at); /* `at` is inside */

/* -- loop_object.c ------------------------------------------------------------------------------------------------- */
int kobject_class(Loops *L, const void *cls); /* its index in LoopResult.cls; -1: there are too many */
Value kobject_value(const Loops *L, int cls, KRef number);
void kobject_give_number(Loops *L, Value *object); /* to a captured object, if its class has numbers */
void kobject_number(Loops *L, Value *object);      /* the same, and lets its class have numbers if that is possible */
KRef kobject_entry(Loops *L, const Var *v);        /* the number of the object that a LOOP_ITEM is before the loop */
static inline bool kobject_has_number(const Value *v) { return v->what == WHAT_OBJECT && v->num.v; }
bool kobject_is_of(const Loops *L, const Value *v, const Func *f, const TypeExpr *e); /* an object of this type in f */
void kobject_declare(Loops *L);                                                       /* at the beginning of a pass */
/* An object of the type, which a call makes; *found: the call does. */
qs_status kobject_make(Loops *L, const Type *type, const Args *args, Value *out, bool *found);
qs_status kobject_copy(Loops *L, const Value *object, Value *out); /* copy(object) */
/* The fields of an object with a number.  *found: it is a column. */
qs_status kobject_field(Loops *L, const Value *object, const Str *name, Value *out, bool *found);
qs_status kobject_set_field(Loops *L, const Value *object, const Str *name, const Value *x, bool *found);

/* -- loop_element.c ------------------------------------------------------------------------------------------------ */
Value kloop_typed(Loops *L, qs_dtype d, Number n); /* n is an element of an array of integers or truth values */
/* Operands are numbers, vectors of one element and WHAT_TYPED values. */
qs_status kloop_element_binary(Loops *L, Op op, const Value *a, const Value *b, Value *out);
qs_status kloop_element_unary(Loops *L, Op op, const Value *a, Value *out);
bool kloop_element_converts(const char *name); /* whether kloop_element_call converts to a float type */
qs_status kloop_element_call(Loops *L, const char *name, const Value *x, int n, Value *out);

/* -- loop_vector.c ------------------------------------------------------------------------------------------------- */
bool kloop_is_elementwise(Op op);
Value kloop_vector(Loops *L, int n);              /* a new vector of n elements, which the caller fills in */
Value kloop_matrix(Loops *L, int rows, int cols); /* a matrix with one row is a vec */
Value kloop_copy_vector(Value v);                 /* the same elements in a new array */
/* The value of r if it follows from integral variables that the loop does not set and from extents, else NaN.  fix:
 * these are compiled in, from the next pass on. */
double kloop_value_before(Loops *L, KRef r, bool fix);
/* zeros and other constructors */
qs_status kloop_made(Loops *L, const char *name, const Value *args, int nargs, bool *found, Value *out);
Number kloop_rounded(Loops *L, Number a);                /* rounded to the element type of arrays */
KRef kloop_or(Loops *L, KRef a, KRef b);                 /* a || b; 0 stands for false */
void kloop_fork(Loops *L, const Value *v, KRef *again);  /* makes a LOCAL for each element, to be set in a branch */
void kloop_merge(Loops *L, Value *v, const KRef *again); /* reads the LOCALs after the branch */
/* rounded to the element type of an array that is float64 if f64 */
Number kloop_held(Loops *L, KRef f64, Number a);
bool kloop_is_vectorial(const Value *a, const Value *b); /* whether the operation works on elements */
qs_status kloop_vector_binary(Loops *L, Op op, const Value *a, const Value *b, Value *out);
qs_status kloop_vector_unary(Loops *L, Op op, const Value *a, Value *out);
qs_status kloop_vector_choose(Loops *L, const Value *c, const Value *a, const Value *b, Value *out);
qs_status kloop_vector_float64(Loops *L, const Value *a, Value *out);
qs_status kloop_truths_call(Loops *L, const char *name, const Value *a, bool *found, Value *out);
qs_status kloop_vector_call(Loops *L, const char *name, const Value *args, int nargs, Value *out);
/* The number n of circshift(x, n), modulo the length of x. */
qs_status kloop_shift(Loops *L, const Value *n, KRef length, KRef *out);
Number kloop_median(Loops *L, const Value *v); /* of at most LOOP_VECTOR_MAX elements */
/* n of reshape(x, n), reshape(x, 1, n) and reshape(x, [1,n]); 0: another size.  *two: it is written as 1xn. */
double kloop_flat_size(Loops *L, const Value *args, int nargs, bool *two);
void kloop_test_row(Loops *L, Number row, const char *name); /* v[row,k] of a vec, which has one row */
/* v[index], with one index for each dimension. */
qs_status kloop_vector_element(Loops *L, const Value *v, const Number *index, const char *name, Number *out);
qs_status kloop_vector_patch(Loops *L, const Value *v, const Number *index, const char *name, Number to, Value *out);
/* A dimension of a slice of a vector: `n` elements from `first` on in steps of `step`; n 0: the one at `index`. */
typedef struct {
    int n, first, step;
    Number index;
} Subvector;
/* v[…] and v[…] = to, with one Subvector for each dimension; one of them at least has n > 0. */
qs_status kloop_vector_slice(Loops *L, const Value *v, const Subvector *at, const char *name, Value *out);
qs_status kloop_vector_set_masked(Loops *L, const Value *v, const Value *mask, const Value *to, Value *out);
qs_status kloop_vector_set(Loops *L, const Value *v, const Subvector *at, const char *name, const Value *to,
                           Value *out);

/* -- loop_call.c --------------------------------------------------------------------------------------------------- */
bool kloop_has_shape(const char *name, const Value *v);                 /* whether `name` is a type that accepts v */
qs_status kloop_bits(Loops *L, Op op, Number a, Number b, Number *out); /* a &= b, a |= b, a ~= b */
extern const CallRules kloop_call_rules;

/* -- loop_library.c ------------------------------------------------------------------------------------------------ */
/* A built-in of short vectors and matrices that is a function of kernels.q; *found: it is one. */
qs_status kloop_library_call(Loops *L, Node *n, const char *name, Value *args, int nargs, Value *out, bool *found);

/* -- loop_random.c ------------------------------------------------------------------------------------------------- */
void kloop_declare_random(Loops *L);
bool kloop_is_random(const char *name, int nargs);
/* n: argument of randi; NULL for other functions */
qs_status kloop_random(Loops *L, const char *name, const Number *n, Number *out);

/* -- loop_expr.c --------------------------------------------------------------------------------------------------- */
qs_status kloop_list(Loops *L, const Value *items, int n, Value *out); /* [a,b,c] of numbers, at most LOOP_VECTOR_MAX */
extern const ExprRules kloop_expr_rules;
static inline qs_status kloop_expr(Loops *L, Node *n, Value *out) {
    *out = (Value){0};
    return kexpr_lower(&L->walk, n, out);
}
/* v as a real number; declines the loop if it is none */
qs_status kloop_real_number(Loops *L, const Value *v, Number *out);
qs_status kloop_number(Loops *L, Node *n, Number *out); /* the same for an expression */
qs_status kloop_operator(Loops *L, Op op, const Value *a, const Value *b, Value *out);

/* -- loop_index.c -------------------------------------------------------------------------------------------------- */
extern const PlaceRules kloop_place_rules;
qs_status kloop_load(Walk *w, Node *n, Value *out);
qs_status kloop_store(Walk *w, Node *target, const Value *v);
qs_status kloop_update(Walk *w, Node *target, Op op, Node *value);
/* The element of a vector, or a number itself; the index is inside. */
qs_status kloop_element(Loops *L, const Value *v, Number index, Value *out);
/* whether the array is short enough to be a vector */
bool kloop_is_short(Loops *L, const LoopValue *v, int *rows, int *cols);
void kloop_short(Loops *L, Value *v); /* loads a short array as a vector */
/* Slices of unknown length: the element with one index, or two of a block, and what the slice is of. */
qs_status kloop_slice_element(Loops *L, const Slice *s, const KRef *k, Value *out);
qs_status kloop_slice_set(Loops *L, const Slice *s, const KRef *k, Number v);
int kloop_slice_param(Loops *L, const Slice *s);
int kloop_slice_source(const Slice *s);
qs_dtype kloop_slice_dtype(const Slice *s);
int kloop_slice_rank(const Slice *s);                        /* of its array */
const Value *kloop_slice_array(const Slice *s, bool *whole); /* whole: the slice is the whole array */
bool kloop_slice_is_mapped(const Slice *s);                  /* the access mode may select an element several times */
double kloop_slice_most(const Slice *s);                     /* an upper bound of its number of elements */
KRef kloop_slice_bound(Loops *L, const Slice *s);            /* the same as an int64 in the code, for the guard */
LoopLimit kloop_slice_limit(Loops *L, const Slice *s, int most);
const char *kloop_slice_name(const Slice *s);
bool kloop_slices_match(const Loops *L, const Slice *a, const Slice *b); /* the same positions along the dimension */
bool kloop_is_stored(const Loops *L, int source);                        /* whether the loop writes the array */
qs_status kloop_whole_array(Loops *L, const Value *array, Value *out);   /* a vec as a row */
qs_status kloop_range(Loops *L, const Node *n, Value *out);              /* a..b or a..step..b as a vector or row */
KRef kloop_width(Loops *L, qs_dtype d);                    /* Value.f64 of a vector of this element type */
KRef kloop_extent(Loops *L, const Value *array, int axis); /* int64 */
bool kloop_has_elements(Loops *L, const SliceExtent *e);   /* whether the guard tests that there are elements */
/* Compiles in the numbers that determine the length of a window from i-r, or max(0,i-r), to min(n-1,i+r). */
void kloop_fix_window(Loops *L, KRef lo, KRef hi);

Number kloop_text_length(Loops *L, const Value *text); /* the number of bytes of a WHAT_STRING */

/* -- loop_reduction.c ---------------------------------------------------------------------------------------------- */
uint8_t kloop_reduction(const LoopJob *job, const Node *loop, const Sym *sym); /* Combine */
void kloop_watch(Loops *L, Var *v);         /* starts recording the magnitudes of a product in a chunk */
void kloop_watched(Loops *L, const Var *v); /* records its magnitude after a change */
/* Lets sums in the loop, whose code begins at `from`, be added in any order if iterations only add to the variable. */
void kloop_free_order(Loops *L, const Node *loop, KRef from);
int kloop_sum_array(const Loops *L, int source); /* index of the array in LoopResult.sums; -1: none */

/* -- loop_count.c -------------------------------------------------------------------------------------------------- */
/* Called before n is converted to the declared type d of v and assigned to v.  Returns whether it certainly fits, so
 * that *n is the converted number. */
bool kloop_count_fits(Loops *L, Var *v, qs_dtype d, Number *n);

/* -- loop_guard.c -------------------------------------------------------------------------------------------------- */
void kloop_prove(Loops *L, Check *check); /* fills in low and high */
/* Whether an enclosing condition and the guard imply that the int x is at most 2^61 (above), or at least -2^61. */
bool kloop_is_limited(Loops *L, KRef x, bool above);
/* Whether x is not NaN, by its operands or an enclosing condition; *guarded: if the guard finds parameters finite. */
bool kloop_is_number(Loops *L, KRef x, bool *guarded);
/* whether an enclosing condition, or that `cond` (0: none) holds or not, implies that kloop_remainder(x, y) is 0 */
bool kloop_is_multiple(Loops *L, KRef x, KRef y, KRef cond, bool holds);
/* Whether the guard can decide before the first iteration that the index is inside at this end. */
static inline bool kloop_is_known(const Check *c, const Proof *end) { return c->ranged || end->sure || end->n; }

/* -- loop_dependence.c --------------------------------------------------------------------------------------------- */
bool kloop_is_wide(const Loops *L, KRef r); /* whether an int may need more than 62 bits */
/* whether the bounds of r over all iterations can be computed before the first */
bool kloop_has_range(Loops *L, KRef r);
KRef kloop_last_of(Loops *L, const Level *v); /* the counter's value in the last iteration; 0: there is only one */
/* Called after the exact pass.  Returns the number of outer loops that may become axes; 0: none, and L->out->why has
 * the reason. */
int kloop_parallel_depth(Loops *L);
bool kloop_commits(const Loops *L); /* whether the version has stores that cannot be undone */
/* Whether no iteration of the FOR `loop`, whose body has just been lowered, writes an element that another one of the
 * same run of the loop reads or writes. */
bool kloop_is_independent(Loops *L, KRef loop);
/* Whether the FOR `loop`, which no other loop follows yet, may have the flag KFLAG_FIXED. */
bool kloop_stores_fixed(Loops *L, KRef loop);
/* Builds the guard of the version whose pass has just ended. */
qs_status kloop_guard(Loops *L, Arena *arena, LoopCode *out);

/* -- loop_liveness.c ----------------------------------------------------------------------------------------------- */
bool kloop_is_live(const LoopJob *job, const Sym *sym); /* its value after the loop may be read */

/* -- loop_leave.c -------------------------------------------------------------------------------------------------- */
bool kloop_is_left(const LoopJob *job, const Node *statement);   /* the interpreter executes it */
bool kloop_may_leave(const LoopJob *job, const Node *statement); /* the interpreter could execute it */
void kloop_add_leave(LoopJob *job, LoopLeave *leave);            /* leave: the next one of job->leaves */
bool kloop_is_rare(const LoopJob *job, const Node *n); /* a statement of a branch that has one for the interpreter */
bool kloop_is_set_rarely(const LoopJob *job, const Sym *sym);
bool kloop_may_scan(const Loops *L); /* after the exact pass */
/* In a parallel version with a scan: iterations reach a rare statement here unless the condition holds. */
void kloop_reach_unless(Loops *L, KRef holds);
/* Whether f divides integers, which has no vector instructions: tests of all iterations would take long. */
bool kloop_divides_integers(const KFunc *f);
/* Leaves in the scan what its result needs; false: there is none, or it takes too long. */
bool kloop_reduce_scan(Loops *L, Arena *arena);
void kloop_drop_conditions(Loops *L, Arena *arena); /* in the parallel version, where no rare statements follow them */
#endif
