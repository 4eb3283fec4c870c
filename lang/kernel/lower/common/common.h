/* common.h -- lowers the syntax tree to KIR: the part that kernels, host loops and array expressions share.
 *
 *     syntax tree ──► common/   statements, inlined functions, blocks, instructions ──► KIR
 *                       │ WalkRules
 *                       ├─ kernel/   a kernel: weak numbers, 32-bit ints, types flow forward
 *                       ├─ loop/     a host loop: the same results as the interpreter, bit by bit
 *                       └─ fusion/   an array expression: the element types of host arithmetic
 *
 * The names in the tree are already resolved.  Only kernel/, loop/ and fusion/ call these files.
 *
 * Each compiler (Lower, Loops, Fuse) begins with the members of Walk, so the functions here take a Walk and serve all
 * three.  Each compiler defines its own struct Val (a value) and struct Var (a variable); the code here only passes
 * them on, and calls the compiler's rules (WalkRules) wherever the three differ.
 *
 *     build.c          passes over the tree; instructions: folding, reuse of equal values, blocks
 *     tree_query.c     searches in the syntax tree
 *     common_stmt.c    statements
 *     counted_loop.c   `for`                           philox.c         random numbers
 *     common_expr.c    expressions
 *     common_call.c    names, functions, calls
 *     small_array.c    short vectors and small matrices
 *     subscript.c      the elements that x[…] selects
 *     memory.c         addresses of array elements, loads and stores */
#ifndef LANG_COMMON_H
#define LANG_COMMON_H
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/ir/kir.h"
#include "lang/syntax/ast.h"

enum Combine;
enum Op;
struct KBuild;
struct KPair;

#include <string.h>

typedef struct Walk Walk;
struct Val;
struct Var;
struct Range;

/* The code between IF, ELSE, LOOP or FOR and the matching END or ELSE.  A value computed in a block may be used only
 * while the block is `open`; code that keeps a value also keeps a pointer to its block and checks this. */
typedef struct BlockScope BlockScope;
struct BlockScope {
    BlockScope *up; /* enclosing block; NULL: this is the block of the whole function */
    bool open;
    bool loop; /* a LOOP or FOR, counted by the operand of BREAK and CONTINUE */
    /* its code may run several times; false for a LOOP of one iteration that exists only to be left */
    bool repeats;
    uint32_t known;      /* length of Walk.known at its start */
    KRef opens;          /* condition of an IF; 0 for other blocks */
    KRef head;           /* the instruction that opened it; 0: the whole function */
    struct Asked *asked; /* conditions known here from code inside the block, newest first; NULL: none */
};

/* A condition whose truth is known at the current point of the code.  `next` is an older one; `since` is the number of
 * instructions that existed when it became known. */
typedef struct Asked {
    struct Asked *next;
    KRef cond, since;
    bool holds;
} Asked;

/* The paths that lead to one point of the code: whether there are any, and which variables have a value on all of
 * them. */
typedef struct {
    bool any;
    bool *sure;
} Ways;

/* The targets of `break` and `continue` in the current loop. */
typedef struct Exits Exits;
struct Exits {
    Exits *up;
    int brk, cont;    /* depth of the loop that each one leaves; brk 0: `break` is not possible */
    bool cont_breaks; /* `continue` is a BREAK out of a LOOP of one iteration */
    Ways next;        /* paths to the next iteration */
    /* paths out of the loop by `break`; nested counters of one `for` share `out`; NULL: not recorded */
    Ways outs, *out;
};

/* A function that is being lowered: the kernel, the function of the loop, or a function inlined at a call.  Kept from
 * pass to pass. */
typedef struct InlineFrame InlineFrame;
struct InlineFrame {
    InlineFrame *up, *child, *next;
    const Node *site; /* the call; NULL: outermost */
    Func *func;
    struct Var *vars;
    int nvars, cap;        /* one per entry of func->locals */
    int source;            /* loop compiler: source number of the function as a captured value; -1: none */
    const Type **typarams; /* kernel compiler: types bound to its type parameters … */
    int64_t *sizes;        /* … and extents, for the N of vec(N); 0: none */
    struct Hidden *hidden; /* kernel compiler: variables without a name */
    /* set anew in each pass */
    const struct Val *captures; /* captured values of a lambda or nested function */
    struct Closure *closure;    /* kernel compiler only */
    struct Routine *routine;    /* kernel compiler: a function that calls itself (lower_recursion.c) */
    int wanted;                 /* number of results that the call uses */
    int return_depth;           /* depth of the LOOP that `return` leaves; -1: `return` leaves all compiled code */
    Ways ways;                  /* paths to the end of the function by `return` */
};

/* A function to be inlined, and its arguments; names[i] is NULL for a positional argument. */
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

/* A call whose first `wanted` results are used.  self: args[0] is the object of a method call; done: the call is
 * already lowered; wide_lists: it is a conversion, whose argument keeps numbers as written. */
typedef struct {
    Node *site;
    int wanted;
    struct Val *fn, *args, *outs;
    bool self, done, wide_lists;
} Called;

/* The rules of a compiler for names and calls. */
typedef struct CallRules {
    /* `variable` reads a variable of the current function (*found stays false if there is none), `function` makes a
     * function value of f, and `outside` reads a name from outside the compiled code. */
    qs_status (*variable)(Walk *, const Sym *, uint32_t pos, struct Val *out, bool *found);
    void (*function)(Walk *, Func *f, struct Val *captures, struct Val *out);
    qs_status (*outside)(Walk *, const Sym *, uint32_t pos, struct Val *out);
    qs_status (*callee)(Walk *, Called *); /* finds the function that is called */
    /* Lowers the call n of fn: selects an overload and calls kcall_inline for a function of the program.  `outs` has
     * room for `wanted` values, and for at least one; missing results become "nothing". */
    qs_status (*apply)(Walk *, Node *n, struct Val *fn, const Args *, struct Val *outs, int wanted);
    /* converts to an annotated type */
    qs_status (*convert)(Walk *, TypeExpr *, const char *what, uint32_t pos, struct Val *);
    const char *place; /* where the code runs, for error messages: "a kernel" */
    int most_calls;    /* maximum depth of inlined calls */
    qs_status (*may_inline)(Walk *, const Func *, const Args *);
    void (*new_frame)(Walk *, InlineFrame *);               /* allocates its variables */
    void (*enter)(Walk *, InlineFrame *);                   /* marks its variables as unset */
    qs_status (*leave)(Walk *, InlineFrame *);              /* NULL: nothing to do */
    qs_status (*bind)(Walk *, const Param *, struct Val *); /* sets a parameter to its argument */
    /* called after all parameters are bound; NULL: nothing to do */
    qs_status (*bound)(Walk *, InlineFrame *);
    /* Stores the result p, as the caller receives it, in *out. p NULL: *out is the value of the function's
     * expression. */
    qs_status (*result)(Walk *, const Param *p, struct Val *out);
} CallRules;

/* The rules of a compiler for expressions. */
typedef struct ExprRules {
    /* Sets *found and *out if the value of the node is already known.  Fails for nodes that this compiler does not
     * handle.  NULL: all nodes are handled. */
    qs_status (*leaf)(Walk *, const Node *, struct Val *out, bool *found);
    qs_status (*literal)(Walk *, const Node *, struct Val *out);
    qs_status (*unary)(Walk *, enum Op, struct Val *, struct Val *out);
    qs_status (*binary)(Walk *, enum Op, struct Val *, struct Val *, struct Val *out);
    void (*boolean)(Walk *, KRef c, struct Val *out); /* makes a value of a condition */
    /* The value as a condition; *known is 1 or 0 if it is constant, else -1. */
    qs_status (*truth)(Walk *, const struct Val *, KRef *out, int *known);
    bool (*elementwise)(const struct Val *); /* whether && and || with this operand work element by element */
    bool (*many)(const struct Val *);        /* whether ?: with this condition selects element by element (`choose`) */
    qs_status (*choose)(Walk *, struct Val *c, struct Val *a, struct Val *b, struct Val *out);
    bool rereads; /* calls may change arrays of their caller, so operands that name one are read after later calls */
    /* Whether the name certainly has a value here, which is a real number.  NULL: not known. */
    bool (*is_number)(Walk *, const Node *name);
    bool (*cheap)(const Node *); /* may be computed speculatively, if its code cannot fail (see mark) */
    /* Speculation: `mark` is called before the code is emitted.  If the emitted code can fail, `take_back` removes the
     * code since the mark and returns true.  NULL: cheap code cannot fail. */
    void *(*mark)(Walk *);
    bool (*take_back)(Walk *, void *mark);
    qs_status (*select)(Walk *, KRef c, struct Val *a, struct Val *b, struct Val *out);
    /* The result of two branches of the condition c: `choice` before them, `choice_set` in each, `choice_get` after
     * them. */
    void *(*choice)(Walk *, const Node *, KRef c);
    qs_status (*choice_set)(Walk *, void *choice, struct Val *);
    void (*choice_get)(Walk *, void *choice, struct Val *out);
    qs_status (*matrix)(Walk *, struct Val *items, int n, struct Val *out);
    qs_status (*field)(Walk *, const struct Val *object, const Node *, struct Val *out);
    qs_status (*index)(Walk *, Node *, struct Val *out);
    qs_status (*other)(Walk *, Node *, struct Val *out); /* strings, ranges, types … */
} ExprRules;

/* One index of x[…]: a single index (int64), a list of indices, or all (`:`). frac: for a texture, the weight of the
 * element one + 1 in the interpolation; 0: no interpolation. */
typedef enum { AT_ONE, AT_LIST, AT_ALL } SubindexKind;
typedef struct {
    SubindexKind kind;
    KRef one, frac;
    KRef *list;
    int64_t n;
} Subindex;
typedef struct {
    const char *name; /* array name for error messages; NULL: none */
    AccessMode mode;  /* behavior for indices outside the array; never ACC_DEFAULT */
    int rank;
    Subindex item[QS_MAX_RANK];
} Places;

/* An index into a dimension of n elements, and the index that error messages show. */
typedef struct {
    KRef at, n, shown;
} AxisIndex;

/* The rules of a compiler for array indices. */
typedef struct PlaceRules {
    KRef (*inside)(Walk *, KRef at, KRef n);                   /* 0 <= at < n */
    void (*test)(Walk *, const Places *, int axis, AxisIndex); /* emits a bounds check */
    /* emits a check that the dimension is not empty; NULL: it never is */
    void (*exists)(Walk *, const Places *, int axis, AxisIndex);
} PlaceRules;

/* The bounds of n counters from the range a..b: the same numbers for all, or vectors with one number for each
 * (`differ`). step NULL: 1. */
typedef struct {
    struct Val *lo, *step, *hi;
    bool differ;
} RangeEnds;

/* A loop whose counter may have a fraction is lowered twice: for the case that it has none, and for the other case. */
typedef enum { VERSION_ONLY, VERSION_INTEGRAL, VERSION_OTHER } CounterVersion;

/* The iterations of counter i of the nested `for` loop `node`. */
typedef struct {
    Node *node;
    int i;
    Exits frame;
    bool position; /* each position of the launch is one iteration, so no FOR was opened */
    bool chunk;    /* these are only a part of all iterations, so `break` is not possible */
    bool runs;     /* there is at least one iteration */
    CounterVersion version;
    KRef start; /* first instruction of the loop */
} CountedLoop;

/* The rules of a compiler for `for`. */
typedef struct NestRules {
    size_t range_size; /* sizeof(struct Range) */
    /* Gives the ranges of n if they are already computed (*found).  NULL: they never are. */
    qs_status (*entered)(Walk *, const Node *n, struct Range *out, bool *found);
    qs_status (*range)(Walk *, const Node *, const RangeEnds *, int i, struct Range *out);
    /* The condition under which the counter has no fraction; the loop is lowered for both cases.  0, NULL: once. */
    KRef (*integral)(Walk *, const struct Range *);
    /* Iterates over a value that is not a range.  *counted: gives the range of its indices instead. */
    qs_status (*elements)(Walk *, Node *n, struct Range *out, bool *counted);
    /* The number of iterations of a range whose body is lowered once for each, and the counter of iteration k.  < 0: it
     * becomes a FOR.  NULL: they all do. */
    int (*unrolled)(Walk *, const Node *n, const struct Range *);
    void (*iteration)(Walk *, const struct Range *, int k, struct Val *out);
    /* Opens FOR, or describes in Turns what replaces it; stores the counter in *out. */
    qs_status (*open)(Walk *, CountedLoop *, const struct Range *, struct Val *out);
    qs_status (*bind)(Walk *, const Node *n, int i, struct Val *counter);
    qs_status (*close)(Walk *, CountedLoop *); /* called after the body; NULL: nothing to do */
} NestRules;

/* All rules of a compiler. */
typedef struct WalkRules {
    const CallRules *call;
    const ExprRules *expr;
    const NestRules *nest;
    const PlaceRules *place;
    size_t value_size; /* sizeof(struct Val) */
    /* Fails: reports an error for a kernel, and leaves a loop to the interpreter.  Never returns QS_OK. */
    qs_status (*fail)(Walk *, qs_status, uint32_t pos, const char *sentence);
    void (*nothing)(struct Val *out); /* makes the value of a call without a result */
    bool (*is_nothing)(const struct Val *);
    /* The number of elements of the value; -1: it is a single value. */
    int (*count)(Walk *, const struct Val *);
    /* The first n elements as separate values; fails if there are fewer. */
    qs_status (*spread)(Walk *, const struct Val *, int n, struct Val *out);
    /* Compares x with the pattern n, by the rules of `match`. */
    qs_status (*equal)(Walk *, const struct Val *x, Node *n, KRef *out);
    qs_status (*set_name)(Walk *, Node *target, TypeExpr *type, struct Val *x);            /* target : type = x */
    qs_status (*set_element)(Walk *, Node *target, const struct Val *x);                   /* a[…] = x */
    qs_status (*set_field)(Walk *, const struct Val *object, Node *target, struct Val *x); /* object.f = x */
    qs_status (*update_element)(Walk *, Node *target, enum Op, Node *value);               /* a[…] op= value */
    /* object.f op= value, if the field is updated in place; NULL: no field is. */
    qs_status (*update_field)(Walk *, const struct Val *object, Node *target, enum Op, Node *value, bool *done);
    /* Computes `old op x`, the new value of the variable or field `target`. */
    qs_status (*combine)(Walk *, const Node *target, enum Op, struct Val *old, struct Val *x, struct Val *out);
    /* Lowers a statement that common_stmt.c does not handle (declarations …), and `break` or `continue` outside of a
     * loop that it could leave. */
    qs_status (*statement)(Walk *, Node *);
    qs_status (*return_outermost)(Walk *, const Node *); /* leaves all compiled code */
    /* The rest is for the loop compiler only: variables of a kernel begin as zero, or reading one too early is an error
     * at the end of the pass. */
    void (*loop_begins)(Walk *, const Node *loop);       /* while, repeat */
    qs_status (*statement_begins)(Walk *, const Node *); /* sets Walk.left if the code ends here */
    void (*statement_failed)(Walk *, const Node *);
    /* Lowers a `while` whose iterations can be counted before the first one (*done). */
    qs_status (*counted_while)(Walk *, Node *loop, bool *done);
    qs_status (*loop_body)(Walk *, Node *loop);       /* lowers the statements of a loop */
    qs_status (*function_ends)(Walk *, uint32_t pos); /* at the end of an inlined function and at each `return` */
    /* The set of variables that have a value at the current point: `save` copies it, `restore` sets it, and `join`
     * intersects it into `into`. */
    bool *(*save)(Walk *);
    void (*restore)(Walk *, const bool *);
    void (*join)(Walk *, bool *into);
} WalkRules;

struct Walk {
#include "lang/kernel/lower/common/members.def"
};

/* -- philox.c ------------------------------------------------------------------------------------------------------ */
enum { KPHILOX_WORDS = 4 };
/* Replaces the counter x by the block of this key; all words are uint32. */
void kphilox_mix(Walk *w, const KRef key[2], KRef x[KPHILOX_WORDS]);
/* Returns a number in [0,1): float32 of 24 bits from one word, float64 of 53 bits from two. */
KRef kphilox_unit(Walk *w, qs_dtype d, const KRef *words);
/* Returns a normal number made from two uniform ones, by Box and Muller: 1-u is in (0,1].  second: another one, or
 * NULL. */
KRef kphilox_normal(Walk *w, qs_dtype d, KRef u, KRef v, KRef *second);

/* -- common_stmt.c ------------------------------------------------------------------------------------------------- */
/* A failure because of Walk.pending ends only the innermost statement, choice or operand. */
typedef struct {
    InlineFrame *in;
    Exits *exits;
    BlockScope *block;
    uint32_t pos, site_pos;
    int calls;
    bool foreign, indexing, wide_lists;
} Point;
Point kstmt_point(const Walk *w);
/* Continues there, with all blocks closed that were opened since, if `s` is such a failure; else returns s. */
qs_status kstmt_resume(Walk *w, const Point *p, qs_status s, bool *resumed);

/* -- build.c ------------------------------------------------------------------------------------------------------- */
/* Runs passes, each with its own arena, until a pass has learned nothing new, and keeps the result of that pass.  *done
 * stays false if `most` passes were not enough. */
typedef qs_status PassFn(Walk *, Arena *scratch);
typedef qs_status KeepFn(Walk *, void *ud);
qs_status kbuild_passes(Walk *w, int most, PassFn *pass, KeepFn *keep, void *ud, bool *done);
KFunc *kbuild_keep(const Walk *w, Arena *arena); /* returns a sealed copy of w->f */
/* Begins a pass with an empty function, no known values and one open block. */
void kbuild_begin(Walk *w, KFunc *f, Arena *arena, uint32_t pos);
void kbuild_free(Walk *w);
qs_status kbuild_seal(Walk *w, KFunc **out); /* frees, seals and verifies */
/* Appends an instruction; IF, ELSE, LOOP, FOR and END open and close blocks. */
KRef kbuild_emit(Walk *w, KMake i);
/* Makes a PURE instruction: folds it, or reuses an equal instruction that is visible here. */
KRef kbuild_pure(Walk *w, KMake i);
static inline KRef kbuild_op(Walk *w, KOp op, KRef a, KRef b) { return kbuild_pure(w, (KMake){op, .a = a, .b = b}); }
static inline KRef kbuild_select(Walk *w, KRef c, KRef a, KRef b) {
    return kbuild_pure(w, (KMake){K_SELECT, .a = c, .b = a, .c = b});
}
static inline KRef kbuild_math(Walk *w, MathFn fn, KRef a) {
    return kbuild_pure(w, (KMake){K_MATH, .flag = fn, .a = a});
}
KOp kbuild_combine(enum Combine c); /* the instruction that combines two partial results of a reduction */
KRef kbuild_int(Walk *w, qs_dtype d, int64_t v);
/* Adds an array parameter, which is either read or written. */
int kbuild_array_param(Walk *w, const char *name, qs_dtype d, int rank, bool packed, bool written);
KRef kbuild_uint64(Walk *w, uint64_t v);
KRef kbuild_const(Walk *w, qs_dtype d, double v);
struct KBuild kbuild_rows(Walk *w);        /* builder for the expansions of elem.def */
void kbuild_take_back(Walk *w, KRef from); /* removes the instructions from there on */
/* A LOCAL with the initial value init; its current value; assigns v. */
static inline KRef kbuild_local(Walk *w, KRef init) { return kbuild_emit(w, (KMake){K_LOCAL, .a = init}); }
static inline KRef kbuild_get(Walk *w, KRef local) { return kbuild_emit(w, (KMake){K_GET, .a = local}); }
static inline void kbuild_set(Walk *w, KRef local, KRef v) { kbuild_emit(w, (KMake){K_SET, .a = local, .b = v}); }
/* Sets a flag that is kept from pass to pass; the first time, another pass is needed. */
static inline void kbuild_learn(Walk *w, bool *flag) {
    if (!*flag) *flag = w->changed = true;
}
/* Opens a LOOP of one iteration; BREAK jumps to its end. */
void kbuild_once(Walk *w);
static inline void kbuild_flow(Walk *w, KOp op, KRef a) { kbuild_emit(w, (KMake){op, .a = a}); }
static inline void kbuild_end(Walk *w) { kbuild_flow(w, K_END, 0); }
static inline void kbuild_end_loops(Walk *w, int n) {
    while (n-- > 0) kbuild_end(w);
}
/* Emits BREAK or CONTINUE for the loop at depth `depth`. */
void kbuild_leave(Walk *w, KOp op, int depth);
/* Whether values computed in the block may be used here; false for NULL. */
static inline bool kbuild_is_open(const BlockScope *b) { return b && b->open; }
void kbuild_know(Walk *w, KRef cond, bool holds); /* the condition holds, or not, until the block ends */
BlockScope *kbuild_outermost_loop(const Walk *w); /* outermost enclosing block that runs several times; NULL: none */

/* -- tree_query.c -------------------------------------------------------------------------------------------------- */
/* Returns the first node of the list for which `is` holds.  Searches inner loops only if asked to, and no bodies of
 * nested functions. */
typedef bool Finder(const Node *n, void *ud);
const Node *kquery_node(NodeList list, bool inner_loops, Finder *is, void *ud);
bool kquery_is_call(const Node *n, void *ud);
bool kquery_is_return(const Node *n, void *ud);
bool kquery_is_exit(const Node *n, void *ud);    /* return, or an error whose message the interpreter makes */
bool kquery_is_leaving(const Node *n, void *ud); /* break, continue */
bool kquery_is_continue(const Node *n, void *ud);
bool kquery_sets_here(const Node *n, const Sym *sym); /* whether the node itself assigns sym or an element of it */
bool kquery_sets(const Node *loop, const Sym *sym);   /* whether the body assigns sym */
NodeList kquery_body_of(const Node *loop);
bool kquery_constant(const char *name, double *v); /* pi, inf, nan */
/* The type annotation of sym that is valid at `before`: the last one before it in the text. */
const TypeExpr *kquery_annotation(const Func *f, const Sym *sym, uint32_t before);

/* -- small_array.c ------------------------------------------------------------------------------------------------- */
typedef struct {
    int rank;
    int64_t dims[QS_MAX_RANK];
} SmallShape; /* rank 0: a number */
int64_t ksmall_count(const SmallShape *s);
int64_t ksmall_extent(const SmallShape *s, int d); /* as in size(x,d): a vec is 1xN */
SmallShape ksmall_matrix(int64_t rows, int64_t cols);
/* Broadcasts n shapes to *out.  Returns n, or the index of the first shape that does not fit those before it. */
int ksmall_meet(const SmallShape *of, int n, SmallShape *out);
int64_t ksmall_source(const SmallShape *whole, int64_t i,
                      /* index of the element of `part` that is broadcast to element i of `whole` */
                      const SmallShape *part);
/* The sizes of a matrix product: element i is the sum over k < depth of element left(i,k) times element right(i,k). */
typedef struct {
    int64_t rows, depth, cols;
} Product;
bool ksmall_product(const SmallShape *a, const SmallShape *b, Product *out); /* false: the shapes do not fit */
static inline int64_t ksmall_left(const Product *p, int64_t i, int64_t k) { return i / p->cols * p->depth + k; }
static inline int64_t ksmall_right(const Product *p, int64_t i, int64_t k) { return k * p->cols + i % p->cols; }
int64_t ksmall_transposed(const SmallShape *m, int64_t i); /* index in m of element i of its transpose */
/* Selects the item with the run-time index `at` by a chain of SELECT instructions. */
qs_status ksmall_pick(Walk *w, KRef at, struct Val *items, int n, struct Val *out);

/* -- subscript.c --------------------------------------------------------------------------------------------------- */
/* An index with a fraction is rounded down if the access mode defines negative indices, else toward zero. */
static inline bool ksubscript_is_down(AccessMode m) { return qaccess_is_mapped(m) || m == ACC_SAFE; }
/* The dimension that index i of n indices refers to; a negative result is a dimension with one element.  A vec with two
 * or more indices is 1xN. */
static inline int ksubscript_axis(int rank, int n, int i) { return i - (rank == 1 && n >= 2); }
bool ksubscript_is_single(const Places *p);
int64_t ksubscript_count(const Places *p);                /* number of elements; no index may be AT_ALL */
void ksubscript_at(const Places *p, int64_t k, KRef *at); /* the indices of the k-th element */
/* The shape of the selection.  Single indices drop their dimension, but a column of a matrix stays a column.  Returns
 * the rank. */
int ksubscript_shape(const Places *p, int64_t *dims);
Subindex ksubscript_from(Walk *w, KRef first, int64_t n); /* the list first, first + 1 …, of n indices */
/* hi - lo of int64 values as an affine sum, a constant if out->n is 0.  Returns false if it is not affine. */
bool ksubscript_span(const Walk *w, KRef lo, KRef hi, Affine *out);
int ksubscript_shown_axis(const Places *p, int axis); /* as in the program: a vec is 1xN */
enum { KPLACE_TEXT = 160 };
/* %0: the index, %1: the extent */
void ksubscript_sentence(const char *array, int shown_axis, char text[KPLACE_TEXT]);
/* Applies the access mode to an index.  *guard is the condition under which the element exists; 0: none so far. */
KRef ksubscript_bring(Walk *w, const Places *p, int axis, AxisIndex x, KRef *guard);

/* -- memory.c ------------------------------------------------------------------------------------------------------ */
/* The memory layout of an array parameter; dims: known extents; -1 or NULL: unknown. */
typedef struct {
    int param, rank;
    bool contiguous, unit_last;
    const int64_t *dims;
    uint8_t fixed;       /* not contiguous; bit d: all elements along dimension d are one */
    uint8_t last_stride; /* not contiguous; the known stride of the last axis; 0: unknown */
} Layout;
KRef kmemory_extent(Walk *w, const Layout *a, int axis);
KRef kmemory_linear(Walk *w, const Layout *a, const KRef *at); /* element index of `at` */
KRef kmemory_part(Walk *w, KRef linear, qs_dtype d, int part); /* index of that part of an element of type d */
/* guard: the condition under which the element exists; otherwise a load gives 0 and a store does nothing; 0: it
 * exists. */
KRef kmemory_load(Walk *w, int param, qs_dtype d, KRef linear, int part, KRef guard);
void kmemory_store(Walk *w, int param, qs_dtype d, KRef linear, int part, KRef v, KRef guard);
/* A group of positions along an axis of the launch; its size is a power of 2.  `has` tests whether the position
 * `distance` further on has a value, given that the current one has; NULL: all have one. */
typedef struct {
    int axis, size;
    qs_dtype lane; /* dtype of the two parts */
    struct KPair (*merge)(Walk *, struct KPair, struct KPair);
    KRef (*has)(Walk *, KRef distance);
} Grouped;
/* Merges the values of all positions pairwise in shared memory.  The code until the next kbuild_end runs only in the
 * first position, which gets the result. */
struct KPair kmemory_merge_group(Walk *w, const Grouped *g, struct KPair mine);

/* -- lists of values ----------------------------------------------------------------------------------------------- */
/* Allocates n zeroed values, which live until the current expression or statement is lowered. */
struct Val *kval_new(Walk *w, int n);
/* Frees the values made since w->temp was `temp` and w->temp_end was `end`.  A chunk that was allocated meanwhile is
 * kept for reuse. */
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
/* Fails with a formatted message; see WalkRules.fail. */
qs_status kcall_fail(Walk *w, qs_status s, uint32_t pos, const char *fmt, ...) QS_PRINTF(4, 5);
qs_status kcall_name(Walk *w, const Sym *sym, uint32_t pos, struct Val *out);
qs_status kcall_closure(Walk *w, Func *f, struct Val *out); /* makes a function value with its captures */
qs_status kcall_lower(Walk *w, Node *n, struct Val *outs, int wanted);
qs_status kcall_inline(Walk *w, const Node *site, const Callee *fn, const Args *args, struct Val *outs, int wanted);
/* index of the argument for a parameter; -1: none */
int kcall_find_argument(const Args *args, const Func *f, int param);
qs_status kcall_check_names(Walk *w, const Args *args, const Func *f); /* the number and names of arguments */
/* kcall_enter makes w->in the frame of the call and returns the state that kcall_leave restores. */
typedef struct {
    InlineFrame *in;
    Exits *exits;
    uint32_t pos, site_pos;
    bool foreign;
} Caller;
InlineFrame *kcall_frame(Walk *w, const Node *site, const Callee *fn); /* of the call `site` in this function */
Caller kcall_enter(Walk *w, const Node *site, const Callee *fn);
qs_status kcall_leave(Walk *w, const Caller *saved);

/* -- common_expr.c ------------------------------------------------------------------------------------------------- */
qs_status kexpr_lower(Walk *w, Node *n, struct Val *out);
/* Lowers the operand n again if it names a variable and a call in the operand `later` may have changed its elements. */
qs_status kexpr_read_again(Walk *w, Node *n, Node *later, struct Val *v); /* *out must be zero, as from kval_new */
qs_status kexpr_cond(Walk *w, Node *n, KRef *out, int *known);            /* see ExprRules.truth */
void kexpr_leave_if(Walk *w, KRef c);                                     /* leaves the innermost loop */
/* Leaves it unless the condition holds.  *always: the condition surely holds. */
qs_status kexpr_leave_unless(Walk *w, Node *n, bool *always);

/* -- counted_loop.c ------------------------------------------------------------------------------------------------ */
qs_status kcounted_lower(Walk *w, Node *n);
/* The number of elements of lo..step..hi as in qdtype_range_count, computed in d.  A step of 0 gives none. */
KRef kcounted_iterations(Walk *w, qs_dtype d, KRef lo, KRef step, KRef hi);
/* Opens FOR with `turns` (an integer) iterations and returns the current element, of type d. */
KRef kcounted_elements(Walk *w, qs_dtype d, KRef lo, KRef step, KRef iterations);

/* -- common_stmt.c ------------------------------------------------------------------------------------------------- */
qs_status kstmt_lower(Walk *w, Node *n);
qs_status kstmt_block(Walk *w, NodeList body);
qs_status kstmt_loop_body(Walk *w, Node *loop);
qs_status kstmt_body(Walk *w, InlineFrame *in); /* the statements of a function; handles `return` */
qs_status kstmt_bounds(Walk *w, Node *range, int n, RangeEnds *out);
/* Called at the beginning and at the end of the body of an open LOOP or FOR. */
void kstmt_enter_loop(Walk *w, Exits *e);
void kstmt_leave_loop(Walk *w);
/* Definite assignment: kstmt_add_way adds the current point as one path of `ways`; the others save and restore the set
 * of variables that have a value. */
void kstmt_add_way(Walk *w, Ways *ways);
bool *kstmt_save(Walk *w);
void kstmt_restore(Walk *w, const bool *sure);
void kstmt_meet_exits(Walk *w, const Exits *e); /* after a loop with at least one iteration */
#endif
