/* lower.h -- from the syntax tree of a kernel and the types of its arguments to KIR.
 *
 * A LowerJob comes in: the kernel, what is known of its arguments, and whom to ask.  A KFunc goes out, with the list of
 * values from outside that it wants.  vm/launch/kernel_make.c calls it, once for each combination of kinds of
 * arguments; lower_internal.h says which file does what.
 *
 * Types flow forward from the arguments through the statements (loops to a fixed point), so every local gets one dtype
 * and width.  What the tree cannot tell (values of globals, captures, functions) is asked of the machine.
 *
 * A kernel computes in 32 bits: `int` has 32, an integer literal is an int until it meets a scalar, and int with scalar
 * is scalar (float32), because arithmetic of positions must not become double on a GPU.  Index expressions compute in
 * 64 bits. */
#ifndef LANG_LOWER_H
#define LANG_LOWER_H
#include "lang/kernel/ir/kfunc.h"
#include "lang/names/overload.h"

/* What is known about a value that enters a kernel from outside. */
typedef enum { /* KV_VEC: a small array, handed over by value */
               KV_NUM,
               KV_VEC,
               KV_ARRAY,
               KV_FUNC,
               KV_STRING,
               KV_TYPE,
               KV_OBJECT,
               KV_NONE
} KValKind;
typedef struct KVal KVal;
struct KVal {
    uint8_t kind;  /* KValKind */
    uint8_t dtype; /* KV_NUM KV_VEC KV_ARRAY; a double of the host is of dtype scalar */
    uint8_t rank;
    uint8_t inner; /* KV_ARRAY: so many of its last dimensions are those of entries, as in vec[vec3] */
    bool is_int;   /* KV_NUM: it is an int there, not a scalar */
    uint8_t bits;  /* KV_NUM: a whole number below 2^bits, which may serve as an int; 0: not known to be one */
    bool contiguous, unit_last;
    bool known;                /* KV_NUM, KV_VEC: the value may be compiled in, the kernel is specialised on it */
    int64_t dims[QS_MAX_RANK]; /* KV_VEC: extents (always known); KV_ARRAY: known extents or 0 */
    double num[2];
    const double *vec; /* KV_VEC that is known: its components */
    TypeMods mods;
    Str *str;
    const Type *type;
    Func *func;          /* KV_FUNC: device function or lambda */
    const char *builtin; /* KV_FUNC: a built-in by name, e.g. a function passed as an argument … */
    int least, most;     /* … and how many arguments it takes (Overload) */
    KVal *overloads;
    int noverloads; /* KV_FUNC with several definitions: each a KV_FUNC, most recent last */
    struct Class *cls;
    KVal *fields;
    Str **names;
    int nfields;     /* KV_OBJECT, in field order; with a rank as many
                                                                * objects, whose fields are arrays */
    bool is_mutable; /* KV_OBJECT */
    int source;      /* opaque to lower: which host value this is; comes back in KBind */
};

/* Where the machine gets the value of parameter i of the KFunc at launch time. */
typedef struct {
    int source;
    int part;      /* KV_VEC and complex: component number; KV_ARRAY 0 */
    bool nonempty; /* KV_ARRAY: accessed in a way that needs an element to be there */
} KBind;

/* What a class consists of. */
typedef struct {
    Str **names;
    const Type **types;
    KVal *inits /* KV_NONE: zero */;
    int n;
    bool is_mutable;
} KFields;

typedef struct LowerHost {
    void *ud;
    /* The value of a captured or global symbol of the function fn. */
    bool (*symbol)(void *ud, const KVal *fn, const Sym *sym, KVal *out);
    /* A method or another name called as a function that no symbol stands for. */
    bool (*function)(void *ud, Str *name, KVal *out);
    /* A type name of the module of `in` that is no predefined one; NULL: unknown. */
    const Type *(*type)(void *ud, Func *in, Str *name);
    bool (*fields)(void *ud, const Type *cls, KFields *out);
    /* The declared type of a parameter, as Overloads wants it. */
    bool (*declared)(void *ud, const Func *f, const Param *p, Declared *out);
} LowerHost;

typedef struct {
    KVal fn; /* the kernel */
    KVal *args;
    int nargs;            /* ordinary arguments in order */
    int rank;             /* of the launch domain */
    const int32_t *block; /* known block extents, or NULL */
    bool serial;          /* positions run one after another: nothing needs to be atomic */
    bool checked;         /* --checked: out-of-range is an error where no access mode says what it means */
    bool fast_math;       /* of kernels that do not say */
    const LowerHost *host;
} LowerJob;

/* A host value that must be known before the kernel can be compiled: a number or all of a small array (axis -1), which
 * then comes as a known KV_VEC, or the extent of an array along an axis; rank: with how many dimensions the kernel
 * sees it, for a vec may serve as a matrix with one row. */
typedef struct {
    int source, axis, rank;
} KNeed;

typedef struct {
    KFunc *func;      /* NULL when something is needed first */
    KBind *binds;     /* one per KFunc parameter */
    bool needs_block; /* lower again with the block extents known: shared sizes depend on them */
    KNeed *needs;
    int nneeds; /* lower again with these known: sizes of local or shared arrays depend on them */
} LowerResult;

/* Errors are placed in the source, with the kernel's types in the sentence. */
qs_status klower_kernel(Ctx *c, Arena *arena, const LowerJob *job, LowerResult *out);

/* How many components the positions of a kernel have: as declared; else -1 if one is indexed like a vector; else 0. */
int klower_positions(const Func *kernel);
/* Which dimensions of a launch they are: without `front` first and `back` last ones, whose extents are 1, and `beyond`
 * more at the end, which are left to the kernel.  size(x) of a vec is [1,N]: a kernel over one position sees N. */
typedef struct {
    int front, back, beyond;
} KFit;
KFit klower_fit(int rank, int positions, const bool *trivial);
/* Is a parameter of this type, a fixed size of at most KLOWER_BY_VALUE elements, handed over as numbers (KV_VEC)? */
enum { KLOWER_BY_VALUE = 32 };
bool klower_by_value(const Func *f, const Param *p, const Type *t);
/* Which of pos, blkpos, blkdim, blkidx, blkcnt the name is, from 0; -1: none. */
int klower_special(const Str *name);
/* Does the function assign to (elements of) its parameter? */
bool klower_assigns(const Func *f, const Sym *param);
#endif
