/* loop_internal.h -- what the files of the loop compiler share; see loop.h. */
#ifndef LANG_LOOP_INTERNAL_H
#define LANG_LOOP_INTERNAL_H
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/lower/common/common.h"
#include "lang/kernel/lower/loop/loop.h"
#include "lang/syntax/operators.h"
#include "vm/base/warning.h"

/* A variable that is real at first and complex later is compiled as complex from the beginning (loop_complex.c); while
 * the program has a real number, the imaginary part here is +0.  This says what a complex number here may be in the
 * program: surely complex, the real number 0, or any real number. */
typedef enum { SURELY_COMPLEX, MAYBE_ZERO, MAYBE_REAL } MaybeReal;

/* A number.  A complex one has its parts in v and im.  A whole one of at most 53 bits carries an int64 twin
 * (loop_number.c): counters and indices are computed with the twin, and so keep the form k*i + c that the passes look
 * for;
 * everything else is computed with the double, which is the value. */
typedef struct {
    uint8_t kind;  /* LOOP_NUM, LOOP_INT, LOOP_BOOL, LOOP_COMPLEX */
    KRef v;        /* float64, int64 or bool */
    KRef twin;     /* of LOOP_NUM; 0: none */
    KRef f32;      /* of an element of a vector that may be of float64: what it is where it is not; 0: v is */
    KRef wide;     /* of LOOP_NUM without a twin: an int64 that it is rounded from, as in min(9,int(x)); 0: none */
    double lo, hi; /* bounds of twin or wide, or of a LOOP_INT */
    KRef im;       /* of LOOP_COMPLEX */
    uint8_t maybe; /* MaybeReal, of LOOP_COMPLEX */
} Number;

typedef enum {
    WHAT_NOTHING,
    WHAT_NUMBER,
    WHAT_VECTOR,
    WHAT_TRUTHS,
    WHAT_ARRAY,
    WHAT_FUNCTION,
    WHAT_OBJECT,
    WHAT_CELL
} What;
typedef struct Val {
    What what;
    Number num; /* WHAT_NUMBER */
    Number *at;
    int n;              /* WHAT_VECTOR: what its elements hold, each rounded to their type */
                        /* WHAT_TRUTHS: truth values instead, as a condition of ?: */
    int cols;           /* of a matrix, whose elements come row by row; 0: a vec */
    uint64_t like;      /* a vec: how many dimensions Python sees, at least (LOOP_LIKE) */
    KRef f64;           /* bool: its array is of float64, as that of [16777217,x] is; 0: surely of `scalar` */
    struct Var *origin; /* WHAT_VECTOR: the variable of whose array it is; NULL: a new one */
    LoopValue host;     /* the others */
    struct Val *caught; /* WHAT_FUNCTION: what it has captured in the loop; NULL: what host.source has */
    const Str *name;
    const Sym *sym;
    TypeMods mods;
} Value; /* Val of common.h */

typedef struct Var { /* a variable: of the loop's function, or of one inlined; or a field that is set */
    const Sym *sym;
    int object;       /* of a field: source of the object; otherwise -1 */
    const Type *type; /* of a field: what it converts to; NULL: it does not */
    /* learned, kept from pass to pass */
    uint8_t kind;       /* LOOP_UNSET: not yet known */
    bool fraction;      /* may hold a number that has no twin */
    int grown;          /* how often its bounds were widened */
    bool counted;       /* goes up and down in small steps, so its bounds are the widest that a twin allows */
    int n, cols;        /* LOOP_VECTOR: elements, and as in Value */
    bool shared;        /* LOOP_VECTOR: perhaps its array has another name, too */
    bool patched;       /* LOOP_VECTOR: single elements are set */
    bool varies;        /* LOOP_VECTOR: its array may be of float64 */
    uint64_t like;      /* LOOP_VECTOR: as in Value */
    bool assigned;      /* somewhere in the loop, as far as is known */
    uint8_t maybe;      /* MaybeReal, of LOOP_COMPLEX */
    bool replaced;      /* its value before the loop is of another kind, and is never read in the loop */
    bool doubted;       /* it is read where it may have no value */
    LoopValue replacee; /* that value */
    double lo, hi;
    /* of the loop's function only */
    LoopValue entry;
    uint8_t reduce; /* LoopReduce */
    bool live;      /* its value after the loop may matter */
    /* this pass */
    KRef v, twin, im, *part, f64; /* LOCALs */
    KRef given;                   /* LOCAL: whether it has a value, of one that had none when the loop began */
    KRef least, most;             /* LOCALs: of a product in a chunk, how small and how large it has been */
    bool set;                     /* certainly has a value here */
    /* needs no LOCAL, as `val` is its value: a counter that nothing else sets, an array, a function */
    bool bound;
    BlockScope *home; /* as long as this block is open its value is `val`; NULL: nobody knows */
    Value val;
} Var;

/* Why one end of an index is inside, whatever bounds it has: surely; or where for one of these neither sum is
 * negative. */
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
    Proof low, high; /* from conditions around it */
    LoopTest test;
} Check;
/* x[…] += value: of floats; of ints, which only grow, or only fall.  Those stop at the ends of their type, in any order
 * of the terms at the same number, as long as they go one way. */
typedef enum { SUM_NOT, SUM_REAL, SUM_UP, SUM_DOWN } SumKind;
typedef struct {
    int param, source, rank;
    KRef at[QS_MAX_RANK];
    bool store;
    bool plain; /* `at` are the subscripts as written, and inside the array; no mode has changed them */
    SumKind sum;
    uint32_t pos;
} Touch; /* an element that is read or written */

typedef struct {  /* a loop of the perfect nest */
    KRef counter; /* the FOR, or first + POS in a launch; 0: it is computed from the number of the turn */
    KRef first, last;
    double step;
    bool by_turns;
    uint32_t pos;
} Level;

typedef enum { MODE_EXACT, MODE_QUICK, MODE_PARALLEL } Mode;

typedef struct Loops {
    union {
        Walk walk;
        struct {
#include "lang/kernel/lower/common/members.def"
        };
    };
    const LoopJob *job;
    LoopResult *out;
    Arena *keep_result; /* for what comes out */
    Mode mode;
    int axes;     /* MODE_PARALLEL: outer loops that are axes */
    bool chunked; /* MODE_PARALLEL: or chunks of the outermost; see loop.h */
    bool random;  /* draws random numbers */
    int nest;     /* how many outer loops hold nothing but the next one */
    /* of the pass */
    bool waits;           /* some loop ends by a condition, which may never hold when an earlier turn has failed */
    KRef fault, value[2]; /* LOCALs: number of the test that failed, its values */
    KRef returned;        /* LOCAL: 1 + where the `return` is that has left the loop; 0: there is none */
    struct {
        LoopPlace place;
        int message;
    } * faults;
    uint32_t nfaults, cap_faults;
    KRef note[LOOP_NOTES]; /* LOCALs, bool: for each place of out->notes */
    LoopBind *binds;
    uint32_t cap_binds;
    Check *checks;
    uint32_t nchecks, cap_checks; /* index tests that a guard can make */
    /* ints that may need more than 62 bits, so that bounds of them wrap */
    KRef *wide;
    uint32_t nwide, cap_wide;
    uint32_t loose, loose_pos; /* tests that no guard can make: how many, and where the first is */
    Touch *touches;
    uint32_t ntouches, cap_touches;
    Level level[QS_MAX_RANK];
    int nlevels;
    KRef chunk_last;  /* the counter in the last turn of the chunk */
    BlockScope *body; /* of the outermost loop */
    KRef drawn;       /* LOCAL: blocks of random numbers that were drawn so far */
    int64_t draws;    /* in this pass */
    bool draws_vary;
    uint32_t draws_pos; /* turns draw different amounts, because of what stands there */
} Loops;

enum {
    LOOP_CALLS = 24,
    LOOP_PASSES = 24,
    LOOP_LONGEST = 1 << 14 /* instructions; then no more functions */,
    LOOP_ROW_ARGS = 3 /* of a row of elem.def */,
    LOOP_FIELDS = 32 /* that are set */
};

/* -- loop.c -------------------------------------------------------------------------------------------------------- */
/* Gives up: the loop stays with the interpreter.  Never QS_OK. */
qs_status kloop_decline(Loops *L, uint32_t pos, const char *fmt, ...) QS_PRINTF(3, 4);

/* -- loop_variable.c ----------------------------------------------------------------------------------------------- */
int kloop_param(Loops *L, const KParam *p, LoopBind b); /* found again when it is there already */
KRef kloop_number_param(Loops *L, Str *name, qs_dtype d, LoopBind b);
int kloop_results_param(Loops *L, LoopBindKind kind); /* REALS or WHOLES */
Var *kloop_find_var(InlineFrame *in, const Sym *sym);
Var *kloop_var(Loops *L, const Sym *sym);  /* of the function being lowered, or a global; NULL */
Value kloop_entry(Loops *L, const Var *v); /* what the variable is when the loop begins */
void kloop_declare(Loops *L, Var *v, const Value *init);
void kloop_enter_var(Loops *L, Var *v); /* what it is before the loop */
qs_status kloop_variable(Walk *w, const Sym *sym, uint32_t pos, Value *out, bool *found);
qs_status kloop_outside(Walk *w, const Sym *sym, uint32_t pos, Value *out);
static inline qs_status kloop_read(Loops *L, const Sym *sym, Value *out) {
    return kcall_name(&L->walk, sym, L->pos, out);
}
qs_status kloop_field(Loops *L, const Value *object, const Str *name, Value *out);
/* c[index], where c and the index are what they were before the loop. */
qs_status kloop_item(Loops *L, const Value *cell, Node *index, Value *out);
qs_status kloop_set_field(Loops *L, const Value *object, Str *name, const Value *x);
/* It is asked for where it may have no value: an error, if it has none. */
qs_status kloop_doubt(Loops *L, Var *v, const char *sentence);
qs_status kloop_assign(Loops *L, Var *v, const Value *x);
qs_status kloop_patched(Loops *L, Var *v);               /* elements of a vector are others now */
qs_status kloop_patch(Loops *L, Var *v, const Value *x); /* one element of a vector is another now */
void kloop_unset(Loops *L, Var *v);                      /* a function begins: it has no value */
bool *kloop_save(Walk *w);                               /* which variables certainly have a value */
void kloop_restore(Walk *w, const bool *state);
void kloop_join(Walk *w, bool *into);
/* %0 and %1 in the sentence are a and b. */
void kloop_fail_unless(Loops *L, KRef cond, qs_status s, const char *sentence, KRef a, KRef b);
void kloop_inside(Loops *L, AxisIndex x, const char *array, int axis); /* an index test */
/* After the loop this place warns if `when` has held. */
void kloop_note(Loops *L, Slip slip, KRef when);
void kloop_note_place(Loops *L, const char *name, int rank); /* qwarn_place */
/* x is an index, `whole` what is read of it. */
void kloop_note_fraction(Loops *L, KRef x, KRef whole);
void kloop_forget(Loops *L, const Node *loop); /* it begins: what its turns set is not known now */

/* -- loop_stmt.c --------------------------------------------------------------------------------------------------- */
extern const WalkRules kloop_rules;

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
KRef kloop_cast(Loops *L, KRef a, qs_dtype to);
Number kloop_const(Loops *L, double v);
Number kloop_bool(KRef v);
Number kloop_whole(Loops *L, KRef twin, double lo, double hi); /* a LOOP_NUM from its twin, which is not -0 */
Number kloop_num(KRef v);
Number kloop_int(KRef v, double lo, double hi);
Number kloop_wide(Loops *L, KRef v); /* an int of which nothing is known */
KRef kloop_real(Loops *L, Number n); /* as float64 */
KRef kloop_twin(Loops *L, Number n); /* as int64; 0: may have a fraction */
KRef kloop_truth(Loops *L, Number n);
bool kloop_known(Loops *L, Number n, double *v);
qs_status kloop_binary(Loops *L, Op op, Number a, Number b, Number *out);
qs_status kloop_unary(Loops *L, Op op, Number a, Number *out);
Number kloop_choose(Loops *L, KRef c, Number a, Number b);     /* of one kind */
Number kloop_to_int(Loops *L, Number a);                       /* int(a) */
qs_status kloop_convert(Loops *L, const Str *type, Number *n); /* as a variable of that type holds it; NULL: declines */
qs_status kloop_settle(Loops *L, const Str *type, Number *n);  /* the same; what is cut off is told */
void kloop_note_cut(Loops *L, qs_dtype d, Number n);
qs_status kloop_convert_to(Loops *L, qs_dtype d, Number *n); /* the same with scalar, int8 … int64 */
Number kloop_to_num(Loops *L, Number a);                     /* scalar(a) */

/* -- loop_complex.c ------------------------------------------------------------------------------------------------ */
Number kloop_complex(KRef re, KRef im);
Number kloop_to_complex(Loops *L, Number a);
qs_status kloop_complex_binary(Loops *L, Op op, Number a, Number b, Number *out); /* of which one is complex */
qs_status kloop_complex_unary(Loops *L, Op op, Number a, Number *out);
/* A built-in of which an argument is complex, or that makes a complex number; *found: it is one. */
qs_status kloop_complex_call(Loops *L, const char *name, const Number *args, int nargs, bool *found, Number *out);

/* -- loop_vector.c ------------------------------------------------------------------------------------------------- */
Value kloop_vector(Loops *L, int n);              /* new, of n elements that are to be filled in */
Value kloop_matrix(Loops *L, int rows, int cols); /* one of one row is a vec */
qs_status kloop_made(Loops *L, const char *name, const Value *args, int nargs, bool *found, Value *out); /* zeros … */
Number kloop_rounded(Loops *L, Number a);                /* as an element of an array holds it */
KRef kloop_or(Loops *L, KRef a, KRef b);                 /* of conditions, 0: never */
void kloop_fork(Loops *L, const Value *v, KRef *again);  /* a LOCAL for each element, to be set in a branch */
void kloop_merge(Loops *L, Value *v, const KRef *again); /* behind it */
Number kloop_held(Loops *L, KRef f64, Number a);         /* as an element of such an array holds it */
bool kloop_is_vectorial(const Value *a, const Value *b); /* an operation on elements */
qs_status kloop_vector_binary(Loops *L, Op op, const Value *a, const Value *b, Value *out);
qs_status kloop_vector_unary(Loops *L, Op op, const Value *a, Value *out);
qs_status kloop_vector_choose(Loops *L, const Value *c, const Value *a, const Value *b, Value *out);
qs_status kloop_vector_call(Loops *L, const char *name, const Value *args, int nargs, Value *out);
/* v[index], with an index for each dimension. */
qs_status kloop_vector_element(Loops *L, const Value *v, const Number *index, const char *name, Number *out);
qs_status kloop_vector_patch(Loops *L, const Value *v, const Number *index, const char *name, Number to, Value *out);
qs_status kloop_vector_row(Loops *L, const Value *m, Number index, const char *name, Value *out);

/* -- loop_call.c --------------------------------------------------------------------------------------------------- */
bool kloop_has_shape(const char *name, const Value *v); /* the name of a type that takes it */
extern const CallRules kloop_call_rules;

/* -- loop_random.c ------------------------------------------------------------------------------------------------- */
void kloop_declare_random(Loops *L);
bool kloop_is_random(const char *name, int nargs);
qs_status kloop_random(Loops *L, const char *name, const Number *n, Number *out); /* n: of randi; NULL: another one */

/* -- loop_expr.c --------------------------------------------------------------------------------------------------- */
extern const ExprRules kloop_expr_rules;
static inline qs_status kloop_expr(Loops *L, Node *n, Value *out) {
    *out = (Value){0};
    return kexpr_lower(&L->walk, n, out);
}
qs_status kloop_real_number(Loops *L, const Value *v, Number *out); /* v is one, or the loop is declined */
qs_status kloop_number(Loops *L, Node *n, Number *out);             /* so is the expression */
qs_status kloop_operator(Loops *L, Op op, const Value *a, const Value *b, Value *out);

/* -- loop_index.c -------------------------------------------------------------------------------------------------- */
extern const PlaceRules kloop_place_rules;
qs_status kloop_load(Walk *w, Node *n, Value *out);
qs_status kloop_store(Walk *w, Node *target, const Value *v);
qs_status kloop_update(Walk *w, Node *target, Op op, Node *value);
bool kloop_is_short(Loops *L, const LoopValue *v, int *rows, int *cols); /* an array that counts as a vector */
void kloop_short(Loops *L, Value *v);                      /* an array of few numbers is read, as a vector */
KRef kloop_extent(Loops *L, const Value *array, int axis); /* int64 */

/* -- loop_reduction.c ---------------------------------------------------------------------------------------------- */
uint8_t kloop_reduction(const Node *loop, const Sym *sym); /* LoopReduce */
double kloop_identity(uint8_t op);
void kloop_watch(Loops *L, Var *v);         /* from now on its magnitude is, which is that of a product in a chunk */
void kloop_watched(Loops *L, const Var *v); /* it has changed */
/* The code from `from` on is the loop: what its turns only add to a variable may be added in any order. */
void kloop_free_order(Loops *L, const Node *loop, KRef from);
int kloop_sum_array(const Loops *L, int source); /* its number among the sums; -1 */

/* Indices that were floats end here, far outside of all arrays, so that no sum of them wraps. */
#define LOOP_INDEX_LEAST (INT64_MIN / 4)
#define LOOP_INDEX_MOST  (INT64_MAX / 4)

/* -- loop_guard.c -------------------------------------------------------------------------------------------------- */
void kloop_prove(Loops *L, Check *check); /* fills in low and high */
bool kloop_is_number(Loops *L, KRef x);   /* a condition has shown that x is not nan */
/* Before the first turn the guard can say that this end is inside. */
static inline bool kloop_is_known(const Check *c, const Proof *end) { return c->ranged || end->sure || end->n; }

/* -- loop_dependence.c --------------------------------------------------------------------------------------------- */
bool kloop_is_wide(const Loops *L, KRef r);   /* an int that may need more than 62 bits */
bool kloop_has_range(const Loops *L, KRef r); /* bounds of r over all turns can be computed before the first */
KRef kloop_last_of(Loops *L, const Level *v); /* the counter's value in the last turn; 0: there is but one */
/* After the exact pass: how many outer loops may become axes (0: none, and L->out->why says why). */
int kloop_parallel_depth(Loops *L);
/* The guard of the version whose pass has just ended. */
qs_status kloop_guard(Loops *L, Arena *arena, LoopCode *out);

/* -- loop_liveness.c ----------------------------------------------------------------------------------------------- */
bool kloop_is_live(const LoopJob *job, const Sym *sym); /* its value after the loop may matter */
#endif
