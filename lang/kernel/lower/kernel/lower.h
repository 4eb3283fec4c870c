/* lower.h -- lowers a kernel's syntax tree, for given argument types, to KIR.
 *
 * The input is a LowerJob: the kernel, what is known of its arguments, and callbacks.  The output is a KFunc and the
 * list of host values that it takes as parameters.  vm/launch/kernel_make.c calls klower_kernel once for each
 * combination of argument types; lower_internal.h lists the files.
 *
 * Types flow forward from the arguments through the statements (loops to a fixed point), so every local gets one dtype
 * and one width.  Values that the tree does not contain (globals, captures, functions) are requested from the VM.
 *
 * A kernel computes in 32 bits: `int` has 32 bits, an integer literal is an int until it meets a scalar, and int with
 * scalar is scalar (float32), because arithmetic on positions must not become double on a GPU.  Index expressions
 * compute in 64 bits. */
#ifndef LANG_LOWER_H
#define LANG_LOWER_H
#include "lang/kernel/ir/kfunc.h"
#include "lang/names/overload.h"

/* The description of a value that enters a kernel from outside. */
typedef enum { /* KV_VEC: a small array passed by value */
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
    uint8_t dtype; /* KV_NUM KV_VEC KV_ARRAY; a host double has the dtype scalar */
    uint8_t rank;
    uint8_t inner; /* KV_ARRAY: number of trailing dimensions that belong to the entries, as in vec[vec3] */
    bool is_int;   /* KV_NUM: an int on the host, not a scalar */
    uint8_t bits;  /* KV_NUM: an integral number below 2^bits, which may be used as an int; 0: not known to be one */
    bool contiguous, unit_last;
    bool own;                  /* KV_ARRAY in an object: the array of this field belongs to the launch (KNEED_OWN) */
    bool known;                /* KV_NUM, KV_VEC: the kernel is specialized on the value, which may be compiled in */
    int64_t dims[QS_MAX_RANK]; /* KV_VEC: extents (always known); KV_ARRAY: known extents, else -1 */
    double num[2];
    const double *vec; /* known KV_VEC: its components */
    TypeMods mods;
    Str *str;
    const Type *type;
    Func *func;          /* KV_FUNC: a device function or lambda */
    const char *builtin; /* KV_FUNC: name of a built-in, e.g. passed as an argument … */
    int least, most;     /* … the number of arguments it takes (Overload) … */
    bool unpacks;        /* … and whether its result may be unpacked (TRAIT_UNPACKS) */
    KVal *overloads;
    int noverloads; /* KV_FUNC with several overloads: each is a KV_FUNC, most recent last */
    struct Class *cls;
    KVal *fields;
    Str **names;
    const Type **types; /* KV_OBJECT: the declared types of the fields */
    int nfields;        /* KV_OBJECT: in field order; with a rank > 0, an array of objects, whose fields are arrays */
    bool is_mutable;    /* KV_OBJECT: its fields may be assigned */
    int source;         /* number of the host value, opaque here; returned in KBind */
};

/* Sources for KBind that are no host values: the key that a launch draws for random numbers, whose part 0 is the low
 * half; the array of float64 for records of print. */
enum { KLOWER_RANDOM = -1, KLOWER_LOG = -2 };

/* A value of a print in a kernel: a text, or a number or small array. */
typedef struct {
    Str *text;                 /* NULL: a number or an array */
    uint8_t dtype, rank;       /* rank 0: a number */
    int64_t dims[QS_MAX_RANK]; /* dims: extents of an array */
} KShown;

/* A print or printf in a kernel.  Its record has the number of the statement, from 1; the position; and the numbers of
 * its values.  A complex number has two parts, and so has a 64-bit integer x: x >> 32, and its lower 32 bits. */
typedef struct {
    const Source *src;
    uint32_t pos;
    bool formats; /* printf */
    int nshown, nnumbers;
    KShown *shown;
} KPrint;

/* The array has the count of numbers in records, also of those that it had no room for; the count of records; and the
 * records one after another. */
enum { KLOG_NUMBERS, KLOG_RECORDS, KLOG_FIRST };

/* The host value that the VM passes as parameter i of the KFunc at launch. */
typedef struct {
    int source;
    int part;      /* KV_VEC and complex: component number; KV_ARRAY: 0 */
    bool nonempty; /* KV_ARRAY: its accesses require that it is not empty */
} KBind;

/* The fields of a class. */
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
    /* A method, or another called name without a symbol. */
    bool (*function)(void *ud, Str *name, KVal *out);
    /* A type of the module of `in` that is not predefined; NULL: unknown. */
    const Type *(*type)(void *ud, Func *in, Str *name);
    bool (*fields)(void *ud, const Type *cls, KFields *out);
    /* An instance of a generic class of the module of `in`, as in list[scalar]; NULL: unknown. */
    const Type *(*instance)(void *ud, Func *in, Str *generic, const Type **args, int nargs);
    /* The type arguments of an instance; returns their number, 0 for other types. */
    int (*arguments)(void *ud, const Type *cls, const Type *const **args);
    /* The declared type of a parameter, for Overloads. */
    bool (*declared)(void *ud, const Func *f, const Param *p, Declared *out);
} LowerHost;

typedef struct {
    KVal fn; /* the kernel */
    KVal *args;
    int nargs;            /* number of args, the ordinary arguments in order */
    int rank;             /* rank of the launch domain */
    const int32_t *block; /* known block extents, or NULL */
    bool serial;          /* positions run one after another, so nothing needs to be atomic */
    bool checked;         /* --checked: an index out of range is an error unless an access mode allows it */
    bool fast_math;       /* default for kernels without the attribute */
    const char *device;   /* the kind of the device, for $target: "cpu" … */
    bool gpu;
    const LowerHost *host;
} LowerJob;

/* A host value that must be known before the kernel can be compiled: a number or a small array (axis -1), which then
 * must be given as a known KV_VEC, or the extent of an array along an axis. rank: the rank that the kernel sees,
 * because a vec may be used as a matrix with one row.  KNEED_OWN: the kernel sets this field of an object, which must
 * be given as an array of its own: a number as an entry with one element, `inner` being 1. */
enum { KNEED_OWN = -2 };
typedef struct {
    int source, axis, rank;
} KNeed;

typedef struct {
    KFunc *func;    /* NULL: something is needed first */
    KBind *binds;   /* one per parameter of the KFunc */
    KPrint *prints; /* the statements that write to KLOWER_LOG */
    int nprints;
    bool asks_device; /* the code depends on LowerJob.device */
    bool needs_block; /* lower again with known block extents: shared sizes depend on them */
    KNeed *needs;
    int nneeds; /* lower again with these values known: sizes of local or shared arrays depend on them */
} LowerResult;

/* Reports errors with their source location; messages name the kernel's types. */
qs_status klower_kernel(Ctx *c, Arena *arena, const LowerJob *job, LowerResult *out);

/* The number of components of the kernel's position parameters: as declared; else -1 if one is indexed like a vector;
 * else 0. */
int klower_positions(const Func *kernel);
/* The dimensions of a launch that the position has: all but the first `front` and last `back` ones, whose extents are
 * 1, and `beyond` more at the end, which are left to the kernel. size(x) of a vec is [1,N]: a kernel over one position
 * sees N. */
typedef struct {
    int front, back, beyond;
} KFit;
KFit klower_fit(int rank, int positions, const bool *trivial);
/* Whether a parameter of this type, a fixed-size array of at most KLOWER_BY_VALUE elements, is passed by value
 * (KV_VEC). */
enum { KLOWER_BY_VALUE = 32 };
bool klower_by_value(const Func *f, const Param *p, const Type *t);
/* The index of the name among pos, blkpos, blkdim, blkidx, blkcnt; -1: none of them. */
int klower_special(const Str *name);
/* Whether the function assigns to its parameter or to elements of it. */
bool klower_assigns(const Func *f, const Sym *param);
#endif
