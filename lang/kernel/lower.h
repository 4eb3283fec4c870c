/* lower.h -- from the syntax tree of a kernel and the types of its arguments to KIR.
 *
 * Types flow forward from the arguments through the statements (loops to a fixed point), so every local gets one dtype
 * and width.  What the tree cannot tell (values of globals, captures, functions) is asked of the machine. */
#ifndef LANG_KERNEL_LOWER_H
#define LANG_KERNEL_LOWER_H
#include "lang/ast.h"
#include "lang/kernel/kir.h"

/* What is known about a value that enters a kernel from outside. */
typedef enum { KV_NUM, KV_VEC /* small array passed by value */, KV_ARRAY, KV_FUNC, KV_STRING, KV_TYPE, KV_OBJECT, KV_NONE } KValKind;
typedef struct KVal KVal;
struct KVal {
    uint8_t kind;         /* KValKind */
    uint8_t dtype;        /* KV_NUM KV_VEC KV_ARRAY */
    uint8_t rank;
    bool contiguous, unit_last;
    bool known;           /* KV_NUM: `num` may be compiled in (a string, a mode, a value the kernel was specialised on) */
    bool weak_int;        /* an int literal or an integral known number: takes part as int */
    int64_t dims[QS_MAX_RANK]; /* KV_VEC: extents (always known); KV_ARRAY: known extents or 0 */
    double num[2];
    TypeMods mods;
    Str *str;
    const Type *type;
    Func *func;           /* KV_FUNC: device function or lambda */
    const char *builtin;  /* KV_FUNC: a built-in by name, e.g. a function passed as an argument */
    struct Class *cls; KVal *fields; /* KV_OBJECT, in field order */
    int source;           /* opaque to lower: which host value this is; comes back in KBind */
};

/* Where the machine gets the value of parameter i of the KFunc at launch time. */
typedef struct { int source; int part; /* KV_VEC, complex, object field: component number; KV_ARRAY 0 */ } KBind;

typedef struct LowerHost {
    void *ud;
    /* The value of a captured or global symbol (fn: the function whose symbol it is; source identifies captures of fn). */
    bool (*symbol)(void *ud, const KVal *fn, const Sym *sym, KVal *out);
    /* A name called as a function that is no local: a user function (KV_FUNC), a type, or a built-in. */
    bool (*function)(void *ud, const Sym *sym, Str *name, int nargs, KVal *out);
    const Type *(*type)(void *ud, TypeExpr *e, Func *in, TypeMods *mods);
} LowerHost;

typedef struct {
    KVal fn;              /* the kernel */
    KVal *args; int nargs;  /* ordinary arguments in order */
    int rank;             /* of the launch domain */
    const int32_t *block; /* known block extents, or NULL */
    bool checked;         /* --checked: out-of-range is an error in every mode but 'unchecked … */
    const LowerHost *host;
} LowerJob;

typedef struct {
    KFunc *func;
    KBind *binds;         /* one per KFunc parameter */
    bool needs_block;     /* lower again with the block extents known: shared sizes depend on them */
    int *needs_value; int nneeds; /* sources whose number must be known (sizes of local or shared arrays) */
} LowerResult;

/* Errors are placed in the source, with the kernel's types in the sentence. */
qs_status klower_kernel(Ctx *c, Arena *arena, const LowerJob *job, LowerResult *out);
#endif
