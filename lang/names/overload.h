/* overload.h -- overload resolution: chooses which of several functions of one name a call means.
 *
 *     calls of the interpreter, from Python and C, launches, and halo     ─┐
 *     of a kernel (vm/interp/call.c)                                       ├──► qoverload_choose
 *     calls inside kernels (lang/kernel/lower/kernel/lower_call.c)         │
 *     qrun --check (vm/program/link.c)                                    ─┘
 *
 * The input is a description of each argument and the parameters of each function; the result is the index of the
 * chosen function.  The choice depends on types, and on values only as far as GivenArg describes them: whether a number
 * is written as an integer, the extents of an array for a parameter of fixed size, the items of a cell.
 *
 * These are the rules; docs/language.md states them for users:
 *   1. A function is a candidate if it accepts the arguments.  Each argument fits its parameter in one of the ways of
 *      Fit.
 *   2. If some function accepts all arguments without loss, functions with a FIT_LOSSY argument are not candidates.
 *   3. A candidate is better than another one if no argument fits worse and at least one fits better.  An argument fits
 *      better if its Fit is higher, or if the Fit is equal and lossless and the parameter has a more specific type.
 *   4. If all arguments fit equally, the candidate that leaves fewer parameters to defaults is better.
 *   5. Among the candidates that no other one is better than, the last definition is chosen.
 *
 * A number written as an integer (5, 2*3, -4.0; qfold_integral) may be passed as an int.  It counts as an int if
 * another argument of the call is an int, or if the only other choice is a parameter without a type.  A variable or an
 * element with such a value is a scalar.  From Python, an int counts as written. */
#ifndef LANG_OVERLOAD_H
#define LANG_OVERLOAD_H
#include "lang/names/types.h"

typedef enum {
    FIT_NO,
    FIT_LOSSY,    /* scalar to int, int to uint8, complex128 to complex64: loses information or fails for some values */
    FIT_UNTYPED,  /* the parameter has no type, ??, or a type parameter as its type */
    FIT_INTEGRAL, /* a scalar written as an integer, to int or int64 */
    FIT_CONVERTS, /* lossless: int to scalar, vec to mat, elements to a wider type */
    FIT_EXACT     /* same type, possibly with a fixed size or a type parameter */
} Fit;

/* An argument.  `of` and GivenCall.ud are passed to the callbacks. */
typedef struct {
    const Type *type; /* the type that type(x) returns; ??: the argument is null */
    bool is_null;
    bool fits_all;       /* the value is not given yet; every type fits equally */
    bool integral;       /* a scalar that was written as an integer of magnitude below 2^31 */
    bool dynamic;        /* an object to which fields may be added */
    bool is_flat;        /* a kernel may take the array as an array of short vectors, formed by the last dimensions */
    uint8_t entries;     /* known number of last dimensions that form the short vectors; 0: unknown */
    bool looked;         /* output: the choice depended on dims, items or takes, not only on the members above */
    const int64_t *dims; /* extents of an array in normal form; -1: unknown extent; NULL: all unknown */
    const void *of;
    bool (*items)(void *ud, const void *of, const Type *elem); /* cell: returns whether all items have that type */
    bool (*takes)(const void *of, int n); /* function: returns whether it takes n arguments; NULL: it does */
} GivenArg;

typedef struct GivenCall {
    GivenArg *at;
    int n;
    Str *const *names;
    int nnamed;                   /* number of named arguments, which are last */
    bool (*skips)(const Param *); /* parameter without an argument, such as pos of a kernel; NULL: none */
    bool partial;                 /* arguments are missing; parameters need not have a default */
    void *ud;
} GivenCall;

/* A declared type; NULL: none.  open: type parameters in it were replaced by ??, which matches any element type. */
typedef struct Declared {
    const Type *type;
    bool open;
} Declared;

/* A function.  func NULL: a built-in that takes `least` to `most` arguments; most -1: no upper limit; most < -1: never
 * chosen. */
typedef struct {
    const Func *func;
    int least, most;
} Overload;

typedef struct {
    Ctx *c;
    const Overload *at;
    int n; /* in order of definition */
    /* Returns the type of a parameter in *out; false: it is unknown, and the function is not a candidate. */
    bool (*declared)(void *ud, const Func *f, const Param *p, Declared *out);
    void *ud;
} Overloads;

/* The result of overload resolution.
 * index: the chosen function; -1: none accepts the arguments.
 * tie: a function as good as the chosen one, so that only the order of definitions decided; -1: none.
 * arg: nothing was chosen, because the extent of this argument along `axis` must be known first (its dims has -1
 * there);
 *      -1: none. */
typedef struct {
    int index, tie, arg, axis;
} Resolution;

Resolution qoverload_choose(const Overloads *o, const GivenCall *call);
/* Returns whether no call can distinguish the two functions: they have the same number of parameters with equal
 * types. */
bool qoverload_same(const Overloads *o, const Func *a, const Func *b);
/* A hash that is equal for functions of one name for which qoverload_same holds. */
uint64_t qoverload_hash(const Overloads *o, const Func *f);
/* Resolves a declared type with its type parameters replaced by ??.  resolve works like qtypes_resolve and asks `host`
 * first. */
typedef qs_status ResolveType(void *ud, TypeExpr *e, const TypeHost *host, const Type **out);
/* Whether a type parameter with this constraint may be bound to t. */
bool qoverload_is_within(const Type *t, const Type *constraint);
bool qoverload_declared(Ctx *c, const Func *f, const Param *p, ResolveType *resolve, void *ud, Declared *out);
#endif
