/* overload.h -- which of several functions of one name a call means.
 *
 *     calls of the interpreter (vm/interp/call.c), from Python and C too ─┐
 *     launches (vm/launch/kernel.c)                                       ├──► qoverload_choose
 *     calls inside kernels (lang/kernel/lower/kernel/lower_call.c)               │
 *     qrun --check (vm/program/link.c)                                   ─┘
 *
 * A call comes in as descriptions of its arguments, a function as its parameters; the number of the function goes out.
 * Values are not looked at, except as far as GivenArg has them: whether a number is integral, the extents of an array
 * that meets a fixed size, the items of a cell.
 *
 * The rule, which docs/language.md states for users.  A function takes part if it takes the arguments.  Each
 * argument fits its parameter in one of the ways of Fit.  If some function takes all arguments without loss, those
 * that may lose something or refuse the value take no part.  A function is better than another one if no argument
 * fits worse and one fits better: in a better way, or in the same way, without loss, and a more specific type.  If
 * all arguments
 * fit equally, it is better if it leaves fewer parameters to defaults.  Among functions that no other one is
 * better than, the last definition is chosen.
 *
 * A scalar that is integral (5, also as a variable) may serve as an int: it counts as one if another argument of the
 * call is an int, and where the only other choice is a parameter without a type. */
#ifndef LANG_OVERLOAD_H
#define LANG_OVERLOAD_H
#include "lang/names/types.h"

typedef enum {
    FIT_NO,
    FIT_LOSSY,    /* scalar to int, int to uint8, complex128 to complex64: it may lose something, or be refused */
    FIT_UNTYPED,  /* no type is declared, ??, or a type parameter alone */
    FIT_INTEGRAL, /* an integral scalar to int or int64 */
    FIT_CONVERTS, /* without loss: int to scalar, vec to mat, the elements of one type to a wider one */
    FIT_EXACT     /* the type itself; with a fixed size or a type parameter in it, too */
} Fit;

/* An argument.  The callbacks get `of`, and ud of the call. */
typedef struct {
    const Type *type; /* as type(x) says; ??: null */
    bool is_null;
    bool integral;       /* a scalar without fraction, whose magnitude is below 2^31 */
    bool dynamic;        /* an object to which fields may be added */
    bool is_flat;        /* an array that a kernel may take as one of short vectors: the last dimensions */
    uint8_t entries;     /* so many dimensions of such an array are known to be those of its entries */
    bool looked;         /* set if the choice depended on more than these members: dims, items, takes */
    const int64_t *dims; /* of an array, in its normal form; -1: the extent is not known; NULL: none is */
    const void *of;
    bool (*items)(void *ud, const void *of, const Type *elem); /* of a cell: whether all items are of that type */
    bool (*takes)(const void *of, int n);                      /* whether a function takes n arguments; NULL: it does */
} GivenArg;

typedef struct {
    GivenArg *at;
    int n;
    Str *const *names;
    int nnamed;                   /* of the last arguments */
    bool (*skips)(const Param *); /* parameters that get no argument, as pos of a kernel; NULL: none */
    void *ud;
} GivenCall;

/* A declared type.  NULL: none.  open: type parameters in it stand as ??, which any element fits. */
typedef struct {
    const Type *type;
    bool open;
} Declared;

/* func NULL: a built-in that takes so many arguments; most -1: any number, less: it takes no part. */
typedef struct {
    const Func *func;
    int least, most;
} Overload;

typedef struct {
    Ctx *c;
    const Overload *at;
    int n; /* most recently defined last */
    /* The type of a parameter; false: it cannot be told, and the function takes no part. */
    bool (*declared)(void *ud, const Func *f, const Param *p, Declared *out);
    void *ud;
} Overloads;

/* index -1: none takes the arguments.  tie: a function that is as good as the chosen one, so that only the order of
 * definitions decided; -1: none.  arg: the extent of this argument along `axis` must be known first (its dims has -1
 * there), and nothing is chosen; -1: none. */
typedef struct {
    int index, tie, arg, axis;
} Resolution;

Resolution qoverload_choose(const Overloads *o, const GivenCall *call);
/* Whether no call distinguishes the parameters of the functions: the same number, of equal types. */
bool qoverload_same(const Overloads *o, const Func *a, const Func *b);
/* The declared type with type parameters as ??.  resolve: as qtypes_resolve, with `host` first. */
typedef qs_status ResolveType(void *ud, TypeExpr *e, const TypeHost *host, const Type **out);
bool qoverload_declared(Ctx *c, const Func *f, const Param *p, ResolveType *resolve, void *ud, Declared *out);
#endif
