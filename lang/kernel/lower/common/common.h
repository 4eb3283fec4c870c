/* common.h -- from the syntax tree to KIR: what kernels, host loops and array expressions have in common.
 *
 *     tree ──► walk/    statements, inlined functions, blocks, instructions ──► KIR
 *               │ WalkRules
 *               ├─ lower/  a kernel: computes as kernels do (weak numbers, ints of 32 bits, types flow forward)
 *               └─ host/   a loop of the host: computes as the interpreter does, bit by bit;
 *                          an array expression: has the element types of host arithmetic
 *
 * A tree comes in whose names are resolved, KIR goes out.  lower/ and host/ call these files, and nobody else.
 *
 * A compiler (Lower, Loops, Fuse) begins with the members of Walk, so what is here takes a Walk and serves all.  Each
 * has values and variables of its own, Val and Var, that are only passed on here; what differs is asked of its rules.
 *
 *     build.c   passes; instructions: folding, values that are known already, blocks
 *     tree_query.c    questions about pieces of the tree
 *     common_stmt.c    statements
 *     counted_loop.c    `for`
 *     common_expr.c    expressions
 *     common_call.c    names, functions, calls
 *     small_array.c   short vectors and small matrices
 *     subscript.c   which elements of arrays x[…] means
 *     memory.c     where those are */
#ifndef LANG_COMMON_H
#define LANG_COMMON_H
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/ir/kir.h"
#include "lang/syntax/ast.h"

#include <string.h>

typedef struct Walk Walk;
struct Val;
struct Var;
struct Range;

/* What lies between IF, ELSE, LOOP or FOR and the END or ELSE that belongs to it.  Whoever keeps a pointer to a block
 * learns from `open` whether what was computed in it may still be used. */
typedef struct BlockScope BlockScope;
struct BlockScope {
    BlockScope *up; /* NULL: the whole function */
    bool open;
    bool loop;           /* counts as one when BREAK and CONTINUE tell how many they leave */
    bool turns;          /* its code may run several times; not so a LOOP of one turn, made only to be left */
    uint32_t known;      /* how many values were known at its start */
    KRef opens;          /* the condition of an IF; 0: it is another block */
    struct Asked *asked; /* what was asked on the way to here, inside it; NULL: nothing */
};

/* A condition that holds, or does not, where the code is now; `next` was asked before. */
typedef struct Asked {
    struct Asked *next;
    KRef cond, since;
    bool holds;
} Asked;

/* The ways that lead to one place in the code, and which variables have a value on all of them. */
typedef struct {
    bool any;
    bool *sure;
} Ways;

/* Where `break` and `continue` go in the loop at hand. */
typedef struct Exits Exits;
struct Exits {
    Exits *up;
    int brk, cont;    /* the depth of the loop that each leaves; brk 0: it cannot be left */
    bool cont_breaks; /* `continue` leaves a LOOP of one turn */
    Ways turn;        /* to the next turn */
    Ways outs, *out;  /* out of the loop by `break`; those of nested counters are one, or not wanted (NULL) */
};

/* A function at hand: the kernel, that of the loop, or one inlined where it is called.  Kept from pass to pass. */
typedef struct InlineFrame InlineFrame;
struct InlineFrame {
    InlineFrame *up, *child, *next;
    const Node *site; /* the call */
    Func *func;
    struct Var *vars;
    int nvars, cap;        /* as func->locals */
    int source;            /* of a loop: of the function, as a value that enters; -1: none */
    const Type **typarams; /* of a kernel: what its type parameters stand for */
    struct Hidden *hidden; /* of a kernel: variables without a name */
    /* of the pass */
    const struct Val *captures; /* of a function made in the code: what it has captured */
    struct Closure *closure;    /* of a kernel */
    int wanted;                 /* results of the call */
    int return_depth;           /* depth of the LOOP that `return` leaves; -1: it leaves what is compiled */
    Ways ways;                  /* to its end by `return` */
};

/* A function that is inlined, and what it is called with; names[i] is NULL where argument i has none. */
typedef struct {
    Func *func;
    const struct Val *captures;
    struct Closure *closure;
    int source;
} Callee;
typedef struct {
    struct Val *at;
    Str **names;
    int n;
} Args;

/* A call that gives so many values.  self: of a method, whose object is args[0]; done: it needs no more. */
typedef struct {
    Node *site;
    int wanted;
    struct Val *fn, *args;
    bool self, done;
} Called;

/* What a compiler does in its own way: of names and calls … */
typedef struct CallRules {
    /* A variable of the function at hand, or none (*found stays false); a function made here of f; what stands
     * outside of all that is compiled. */
    qs_status (*variable)(Walk *, const Sym *, uint32_t pos, struct Val *out, bool *found);
    void (*function)(Walk *, Func *f, struct Val *captures, struct Val *out);
    qs_status (*outside)(Walk *, const Sym *, uint32_t pos, struct Val *out);
    qs_status (*callee)(Walk *, Called *); /* finds what is called */
    /* The call n of fn: chooses among definitions; kcall_inline where it is a function of the program.  outs has room
     * for `wanted` values, and for one at least; those that there are not become nothing. */
    qs_status (*apply)(Walk *, Node *n, struct Val *fn, const Args *, struct Val *outs, int wanted);
    qs_status (*convert)(Walk *, TypeExpr *, const char *what, uint32_t pos, struct Val *); /* as it was written */
    const char *place; /* "a kernel": functions cannot be used in it, recursion is not possible in it */
    int most_calls;    /* inlined in one another */
    qs_status (*may_inline)(Walk *, const Func *, const Args *);
    void (*new_frame)(Walk *, InlineFrame *);               /* makes its variables */
    void (*enter)(Walk *, InlineFrame *);                   /* they have no values yet */
    qs_status (*leave)(Walk *, InlineFrame *);              /* NULL: nothing is to be done; so it is of `bound` */
    qs_status (*bind)(Walk *, const Param *, struct Val *); /* its parameter is the argument */
    qs_status (*bound)(Walk *, InlineFrame *);              /* all are */
    /* The result p in *out, as the caller gets it; p NULL: *out is the value of the function's expression. */
    qs_status (*result)(Walk *, const Param *p, struct Val *out);
} CallRules;

/* … of expressions … */
typedef struct ExprRules {
    /* *found: the value of the node is there already.  An error: nodes of this kind are not for this compiler.  NULL:
     * all are. */
    qs_status (*leaf)(Walk *, const Node *, struct Val *out, bool *found);
    qs_status (*literal)(Walk *, const Node *, struct Val *out);
    qs_status (*unary)(Walk *, Op, struct Val *, struct Val *out);
    qs_status (*binary)(Walk *, Op, struct Val *, struct Val *, struct Val *out);
    void (*boolean)(Walk *, KRef c, struct Val *out); /* a truth value */
    /* As a condition; known: 1 or 0 where the code need not ask, else -1. */
    qs_status (*truth)(Walk *, const struct Val *, KRef *out, int *known);
    bool (*elementwise)(const struct Val *); /* && and || of it are those of its elements */
    bool (*many)(const struct Val *);        /* ?: of it chooses between elements, as `choose` does */
    qs_status (*choose)(Walk *, struct Val *c, struct Val *a, struct Val *b, struct Val *out);
    bool (*cheap)(const Node *); /* may be computed where it is not asked for … */
    /* … as long as its code cannot fail, which shows afterwards: then what was made since the mark is taken back and
     * the answer is true.  NULL: whatever is cheap cannot fail. */
    void *(*mark)(Walk *);
    bool (*take_back)(Walk *, void *mark);
    qs_status (*select)(Walk *, KRef c, struct Val *a, struct Val *b, struct Val *out);
    /* The result of two branches of c: made before them, set in each, got after them. */
    void *(*choice)(Walk *, const Node *, KRef c);
    qs_status (*choice_set)(Walk *, void *choice, struct Val *);
    void (*choice_get)(Walk *, void *choice, struct Val *out);
    qs_status (*matrix)(Walk *, struct Val *items, int n, struct Val *out);
    qs_status (*field)(Walk *, const struct Val *object, const Node *, struct Val *out);
    qs_status (*index)(Walk *, Node *, struct Val *out);
    qs_status (*other)(Walk *, Node *, struct Val *out); /* strings, ranges, types … */
} ExprRules;

/* What stands in x[…] for one dimension: a place, as int64, a list of places, or all.  frac: how far it is from `one`
 * toward one + 1, which a texture mixes; 0: not at all. */
typedef enum { AT_ONE, AT_LIST, AT_ALL } SubindexKind;
typedef struct {
    SubindexKind kind;
    KRef one, frac;
    KRef *list;
    int64_t n;
} Subindex;
typedef struct {
    const char *name; /* of the array, as messages have it; NULL: it has none */
    AccessMode mode;  /* what happens outside; never ACC_DEFAULT */
    int rank;
    Subindex item[QS_MAX_RANK];
} Places;

/* A place along a dimension of n elements; messages call it `shown`. */
typedef struct {
    KRef at, n, shown;
} AxisIndex;

/* … of places in arrays … */
typedef struct PlaceRules {
    KRef (*inside)(Walk *, KRef at, KRef n);                     /* 0 <= at < n */
    void (*test)(Walk *, const Places *, int axis, AxisIndex);   /* an error unless it is inside */
    void (*exists)(Walk *, const Places *, int axis, AxisIndex); /* … unless there is an element; NULL: there is */
} PlaceRules;

/* The bounds of n counters that the range a..b gives: numbers that are the same for all, or vectors with one for each
 * (`differ`).  step NULL: 1. */
typedef struct {
    struct Val *lo, *step, *hi;
    bool differ;
} RangeEnds;

/* The turns of counter i of the nest `node`. */
typedef struct {
    Node *node;
    int i;
    Exits frame;
    bool position; /* a position of the launch is a turn: nothing was opened */
    bool chunk;    /* these are not all turns, so `break` cannot leave them */
    bool runs;     /* there surely is one */
    KRef start;    /* where its code begins */
} Turns;

/* … of `for` … */
typedef struct NestRules {
    size_t range_size; /* of Range */
    /* The ranges of n, which are there already (*found); NULL: of none. */
    qs_status (*entered)(Walk *, const Node *n, struct Range *out, bool *found);
    qs_status (*range)(Walk *, const Node *, const RangeEnds *, int i, struct Range *out);
    qs_status (*elements)(Walk *, Node *n); /* over something that is no range */
    /* Opens FOR, or says what else its turns are; the counter in *out. */
    qs_status (*open)(Walk *, Turns *, const struct Range *, struct Val *out);
    qs_status (*bind)(Walk *, const Node *n, int i, struct Val *counter);
    qs_status (*close)(Walk *, Turns *); /* behind the body; NULL: nothing is to be done */
} NestRules;

/* … and of all the rest. */
typedef struct WalkRules {
    const CallRules *call;
    const ExprRules *expr;
    const NestRules *nest;
    const PlaceRules *place;
    size_t value_size; /* of Val */
    /* Gives up.  A kernel has an error; a loop stays with the interpreter.  Never QS_OK. */
    qs_status (*fail)(Walk *, qs_status, uint32_t pos, const char *sentence);
    void (*nothing)(struct Val *out); /* what a call gives that has no result */
    bool (*is_nothing)(const struct Val *);
    /* How many elements the value has; -1: it is one thing. */
    int (*count)(Walk *, const struct Val *);
    /* The first n elements, each as a value; an error when there are fewer. */
    qs_status (*spread)(Walk *, const struct Val *, int n, struct Val *out);
    /* Is x what n is, as `match` has it? */
    qs_status (*equal)(Walk *, const struct Val *x, Node *n, KRef *out);
    qs_status (*set_name)(Walk *, Node *target, TypeExpr *type, struct Val *x);            /* target : type = x */
    qs_status (*set_element)(Walk *, Node *target, const struct Val *x);                   /* a[…] = x */
    qs_status (*set_field)(Walk *, const struct Val *object, Node *target, struct Val *x); /* object.f = x */
    qs_status (*update_element)(Walk *, Node *target, Op, Node *value);                    /* a[…] op= value */
    /* old op x, which the variable or field `target` is to become. */
    qs_status (*combine)(Walk *, const Node *target, Op, struct Val *old, struct Val *x, struct Val *out);
    /* Any statement that common_stmt.c does not know (declarations …), and `break` where there is nothing to leave. */
    qs_status (*statement)(Walk *, Node *);
    qs_status (*return_outermost)(Walk *, const Node *); /* out of what is compiled */
    /* Of a loop only.  A kernel's variables begin as zero, or what was read too early is an error at the end. */
    void (*loop_begins)(Walk *, const Node *loop);    /* while, repeat */
    qs_status (*function_ends)(Walk *, uint32_t pos); /* an inlined one, at its end or at a `return` */
    /* Which variables have a value here: as an array; as they were then; on this way and on those of `into`. */
    bool *(*save)(Walk *);
    void (*restore)(Walk *, const bool *);
    void (*join)(Walk *, bool *into);
} WalkRules;

struct Walk {
#include "lang/kernel/lower/common/members.def"
};

/* -- build.c ------------------------------------------------------------------------------------------------------- */
/* Passes, each with an arena of its own, until one has learned nothing new: what that has made is kept.  *done stays
 * false when there were as many as may be. */
typedef qs_status PassFn(Walk *, Arena *scratch);
typedef qs_status KeepFn(Walk *, void *ud);
qs_status kbuild_passes(Walk *w, int most, PassFn *pass, KeepFn *keep, void *ud, bool *done);
KFunc *kbuild_keep(const Walk *w, Arena *arena); /* a copy of w->f, sealed */
/* A pass begins: the function is empty, nothing is known, one block is open. */
void kbuild_begin(Walk *w, KFunc *f, Arena *arena, uint32_t pos);
void kbuild_free(Walk *w);
qs_status kbuild_seal(Walk *w, KFunc **out); /* frees, and the function is whole: sealed and verified */
/* An instruction that is where it stands; IF, ELSE, LOOP, FOR and END open and close blocks. */
KRef kbuild_emit(Walk *w, KMake i);
/* A PURE instruction: folded; an equal one that is visible here takes its place. */
KRef kbuild_pure(Walk *w, KMake i);
KRef kbuild_int(Walk *w, qs_dtype d, int64_t v);
KRef kbuild_uint64(Walk *w, uint64_t v);
KRef kbuild_const(Walk *w, qs_dtype d, double v);
KBuild kbuild_rows(Walk *w);               /* where rows of elem.def put their instructions */
void kbuild_take_back(Walk *w, KRef from); /* the instructions from there on were not made after all */
/* A variable of the code, which begins as init; what it holds; it becomes v. */
static inline KRef kbuild_local(Walk *w, KRef init) { return kbuild_emit(w, (KMake){K_LOCAL, .a = init}); }
static inline KRef kbuild_get(Walk *w, KRef local) { return kbuild_emit(w, (KMake){K_GET, .a = local}); }
static inline void kbuild_set(Walk *w, KRef local, KRef v) { kbuild_emit(w, (KMake){K_SET, .a = local, .b = v}); }
/* Something that is kept from pass to pass. */
static inline void kbuild_learn(Walk *w, bool *flag) {
    if (!*flag) *flag = w->changed = true;
}
/* A LOOP of one turn: leaving it is going to its end. */
void kbuild_once(Walk *w);
static inline void kbuild_flow(Walk *w, KOp op, KRef a) { kbuild_emit(w, (KMake){op, .a = a}); }
static inline void kbuild_end(Walk *w) { kbuild_flow(w, K_END, 0); }
/* BREAK or CONTINUE of the loop that has made the depth `depth`. */
void kbuild_leave(Walk *w, KOp op, int depth);
/* May what was computed in it be used here?  NULL: nothing was. */
static inline bool kbuild_is_open(const BlockScope *b) { return b && b->open; }
BlockScope *kbuild_outermost_turns(const Walk *w); /* the outermost block that runs several times; NULL: none */

/* -- tree_query.c -------------------------------------------------------------------------------------------------- */
/* The first node of the list for which `is` holds; inner loops belong to it or not, bodies of functions do not. */
typedef bool Finder(const Node *n, void *ud);
const Node *kquery_node(NodeList list, bool inner_loops, Finder *is, void *ud);
bool kquery_is_return(const Node *n, void *ud);
bool kquery_is_leaving(const Node *n, void *ud); /* break, continue */
bool kquery_is_continue(const Node *n, void *ud);
bool kquery_sets(const Node *loop, const Sym *sym); /* does the body set it? */
NodeList kquery_body_of(const Node *loop);
bool kquery_constant(const char *name, double *v); /* pi, inf, nan */
/* The annotation of sym that holds at `before`: the last one in the text. */
const TypeExpr *kquery_annotation(const Func *f, const Sym *sym, uint32_t before);

/* -- small_array.c ------------------------------------------------------------------------------------------------- */
typedef struct {
    int rank;
    int64_t dims[QS_MAX_RANK];
} SmallShape; /* rank 0: a number */
int64_t ksmall_count(const SmallShape *s);
int64_t ksmall_extent(const SmallShape *s, int d); /* as size(x,d) has it: a vec is 1xN */
SmallShape ksmall_matrix(int64_t rows, int64_t cols);
/* What n shapes are stretched to; gives n, or the number of the first that does not fit those before it. */
int ksmall_meet(const SmallShape *of, int n, SmallShape *out);
int64_t ksmall_source(const SmallShape *whole, int64_t i,
                      const SmallShape *part); /* which of part becomes element i of whole */
/* Element i of a matrix product is the sum of terms k < depth: left(i,k) times right(i,k). */
typedef struct {
    int64_t rows, depth, cols;
} Product;
bool ksmall_product(const SmallShape *a, const SmallShape *b, Product *out); /* false: they do not fit */
static inline int64_t ksmall_left(const Product *p, int64_t i, int64_t k) { return i / p->cols * p->depth + k; }
static inline int64_t ksmall_right(const Product *p, int64_t i, int64_t k) { return k * p->cols + i % p->cols; }
int64_t ksmall_turned(const SmallShape *m, int64_t i); /* which of m is element i of its transpose */
/* The item whose number `at` is, which shows when it runs: chosen by one selection after the other. */
qs_status ksmall_pick(Walk *w, KRef at, struct Val *items, int n, struct Val *out);

/* -- subscript.c --------------------------------------------------------------------------------------------------- */
static inline bool ksubscript_is_mapped(AccessMode m) {
    return m == ACC_MIRROR || m == ACC_CIRCULAR || m == ACC_CLAMPED;
}
/* An index with a fraction is rounded toward zero; downward where the mode that was written means something by places
 * that are negative. */
static inline bool ksubscript_is_down(AccessMode m) { return ksubscript_is_mapped(m) || m == ACC_SAFE; }
/* The dimension of index i of n; there is one element along what is none.  A vec is 1xN when it is given two. */
static inline int ksubscript_axis(int rank, int n, int i) { return i - (rank == 1 && n >= 2); }
bool ksubscript_is_single(const Places *p);
int64_t ksubscript_count(const Places *p);                /* elements; nothing is AT_ALL */
void ksubscript_at(const Places *p, int64_t k, KRef *at); /* of the k-th the place along each dimension */
/* Single indices drop their dimension, but a column of a matrix stays a column.  Gives the rank. */
int ksubscript_shape(const Places *p, int64_t *dims);
Subindex ksubscript_from(Walk *w, KRef first, int64_t n); /* the list first, first + 1 … */
/* hi - lo, of int64: a constant where out->n is 0.  false: it is no sum. */
bool ksubscript_span(const Walk *w, KRef lo, KRef hi, Affine *out);
int ksubscript_shown_axis(const Places *p, int axis); /* as the program counts: a vec is 1xN */
enum { KPLACE_TEXT = 160 };
void ksubscript_sentence(const char *array, int shown_axis, char text[KPLACE_TEXT]); /* %0 is outside, %1 the extent */
/* The place as the mode has it.  *guard: what must hold for the elements to exist; 0: nothing so far. */
KRef ksubscript_bring(Walk *w, const Places *p, int axis, AxisIndex x, KRef *guard);

/* -- memory.c ------------------------------------------------------------------------------------------------------ */
/* How the array that is a parameter lies in memory; dims: extents that are known, otherwise 0 or NULL. */
typedef struct {
    int param, rank;
    bool contiguous, unit_last;
    const int64_t *dims;
} Layout;
KRef kmemory_extent(Walk *w, const Layout *a, int axis);
KRef kmemory_linear(Walk *w, const Layout *a, const KRef *at); /* the number of the element there */
KRef kmemory_part(Walk *w, KRef linear, qs_dtype d, int part); /* where that part of an element of type d is */
/* guard: what must hold for it to be there, else a read gives 0; 0: it is. */
KRef kmemory_load(Walk *w, int param, qs_dtype d, KRef linear, int part, KRef guard);
void kmemory_store(Walk *w, int param, qs_dtype d, KRef linear, int part, KRef v, KRef guard);
/* The positions of a group along an axis of the launch, a power of 2; `has` (NULL: all do) says whether the one at that
 * distance behind has something, if the one at hand has. */
typedef struct {
    int axis, size;
    qs_dtype lane; /* of the parts */
    KPair (*merge)(Walk *, KPair, KPair);
    KRef (*has)(Walk *, KRef distance);
} Grouped;
/* Merges pairwise in shared memory what each has.  What follows until the next kbuild_end is of the first position,
 * which gets the result. */
KPair kmemory_merge_group(Walk *w, const Grouped *g, KPair mine);

/* -- lists of values ----------------------------------------------------------------------------------------------- */
/* Of zeros; they live until the expression or the statement at hand is done. */
struct Val *kval_new(Walk *w, int n);
/* What was made since w->temp was `temp`, and w->temp_end `end`, is gone.  Room that was made meanwhile stays. */
static inline void kval_release(Walk *w, char *temp, const char *end) {
    w->temp = end == w->temp_end ? temp : w->temp_begin;
}
static inline struct Val *kval_at(const Walk *w, struct Val *list, int i) {
    return (struct Val *)((char *)list + (size_t)i * w->rules->value_size);
}
static inline void kval_copy(const Walk *w, struct Val *to, const struct Val *from) {
    memcpy(to, from, w->rules->value_size);
}

/* -- common_call.c ------------------------------------------------------------------------------------------------- */
/* Gives up, with a sentence; see WalkRules.fail. */
qs_status kcall_fail(Walk *w, qs_status s, uint32_t pos, const char *fmt, ...) QS_PRINTF(4, 5);
qs_status kcall_name(Walk *w, const Sym *sym, uint32_t pos, struct Val *out);
qs_status kcall_closure(Walk *w, Func *f, struct Val *out); /* a function made here */
qs_status kcall_lower(Walk *w, Node *n, struct Val *outs, int wanted);
qs_status kcall_inline(Walk *w, const Node *site, const Callee *fn, const Args *args, struct Val *outs, int wanted);
int kcall_find_argument(const Args *args, const Func *f, int param); /* its number; -1: there is none */
/* w->in becomes the frame of the call; what is returned brings the caller back. */
typedef struct {
    InlineFrame *in;
    Exits *exits;
    uint32_t pos, site_pos;
    bool foreign;
} Caller;
Caller kcall_enter(Walk *w, const Node *site, const Callee *fn);
qs_status kcall_leave(Walk *w, const Caller *saved);

/* -- common_expr.c ------------------------------------------------------------------------------------------------- */
qs_status kexpr_lower(Walk *w, Node *n, struct Val *out);      /* *out is zero, as kval_new makes it */
qs_status kexpr_cond(Walk *w, Node *n, KRef *out, int *known); /* as ExprRules.truth */

/* -- counted_loop.c ------------------------------------------------------------------------------------------------ */
qs_status kcounted_lower(Walk *w, Node *n);
/* How many elements lo..step..hi has: qdtype_range_count, computed in d.  A step of 0 gives none. */
KRef kcounted_turns(Walk *w, qs_dtype d, KRef lo, KRef step, KRef hi);
/* Opens FOR over so many (an integer); the element at hand, of type d. */
KRef kcounted_elements(Walk *w, qs_dtype d, KRef lo, KRef step, KRef turns);

/* -- common_stmt.c ------------------------------------------------------------------------------------------------- */
qs_status kstmt_lower(Walk *w, Node *n);
qs_status kstmt_block(Walk *w, NodeList body);
qs_status kstmt_body(Walk *w, InlineFrame *in); /* the statements of a function, `return` included */
qs_status kstmt_bounds(Walk *w, Node *range, int n, RangeEnds *out);
/* A LOOP or FOR was opened: its body begins, it ends. */
void kstmt_enter_loop(Walk *w, Exits *e);
void kstmt_leave_loop(Walk *w);
/* What is known here is one of the ways; what is known where they meet. */
void kstmt_add_way(Walk *w, Ways *ways);
bool *kstmt_save(Walk *w);
void kstmt_restore(Walk *w, const bool *sure);
void kstmt_meet_exits(Walk *w, const Exits *e); /* behind a loop whose body has begun at least once */
#endif
