/* lower_internal.h -- declares what the files of the kernel lowering share.
 *
 * The functions of common/common.h walk the tree; these files define the rules of a kernel for them.
 *
 *   lower.c        passes, the kernel's parameters         lower_expr.c    literals, choices, ranges, fields
 *   lower_var.c    locals: bindings, merging, types        lower_index.c   element and slice access, modes, atomics
 *   lower_num.c    numbers: weak ones, casts, arithmetic   lower_call.c    overloads, methods, launches
 *   lower_val.c    values of all types, small arrays       lower_builtin.c built-ins (kbuiltins.def)
 *   lower_type.c   written types                           lower_stmt.c    assignment, loops over ranges
 *   lower_recursion.c  functions that call themselves      lower_stack.c   an explicit stack for them
 *
 * The tree is lowered in passes.  A local is bound directly to its value as long as that is possible.  A pass that
 * learns something (a local is assigned on two paths, its type widens, it is indexed with a computed index) notes it in
 * the Var, which outlives the pass, and the next pass starts afresh.  Most kernels need one or two passes.
 *
 * A value that is not known yet is V_UNKNOWN, and so is everything computed from it. */
#ifndef LANG_LOWER_INTERNAL_H
#define LANG_LOWER_INTERNAL_H
#include "lang/kernel/lower/common/common.h"
#include "lang/kernel/lower/kernel/lower.h"
#include "lang/names/types.h"
#include "lang/syntax/operators.h"

enum Elem;

typedef struct Lower Lower;
typedef struct Val Val;

/* -- numbers ------------------------------------------------------------------------------------------------------- */
/* A number whose dtype is decided by its use: a literal, a host number, or a sum or product of those.  It becomes
 * instructions each time it is used, in the dtype needed there, so 2*a is exact beside float64 and an int in an
 * index. */
typedef enum { WEAK_CONST, WEAK_PARAM, WEAK_NEG, WEAK_ADD, WEAK_SUB, WEAK_MUL, WEAK_DIV } WeakOp;
typedef struct Weak Weak;
struct Weak {
    uint8_t op;    /* WeakOp */
    bool integral; /* an int on its own; otherwise a scalar */
    bool whole;    /* has no fraction, whatever its type: may be an index or a loop counter without loss */
    bool outside;  /* contains a host number */
    bool declared; /* an int of the host, or int(5): overload resolution sees an int, not a scalar */
    double value;  /* WEAK_CONST */
    double bound;  /* for integral numbers: an upper bound of |value| */
    int source;    /* WEAK_PARAM */
    Str *name;     /* WEAK_PARAM */
    Weak *a, *b;
};

typedef struct {
    KRef ref;
    Weak *weak;
} Comp; /* ref is 0 if weak != NULL */

/* One number. im is used by complex dtypes only; complex numbers are never weak. */
typedef struct {
    qs_dtype dtype;
    Comp re, im;
} Num;

/* -- values -------------------------------------------------------------------------------------------------------- */
typedef enum { V_UNKNOWN, V_VOID, V_NUM, V_ARRAY, V_MEMORY, V_FUNC, V_STRING, V_TYPE, V_OBJECT, V_COLON } ValKind;

/* A parameter declared as `type`, with integer elements of type d: its argument must fit without loss.  `what` names it
 * in the error message. */
typedef struct {
    const char *what;
    const Type *type;
    qs_dtype d;
    uint32_t pos;
} DeclaredInt;

/* an array of the host; becomes a parameter of the KFunc when it is used, with the rank of the Val */
typedef struct ArrayRef {
    KVal host;
    Str *name;
    bool converts;
    qs_dtype as;                  /* x : mat of integers in memory: elements are read as scalars, as declared */
    const DeclaredInt *declared;  /* check for a parameter declared with integers; NULL: none */
    const struct ArrayRef *under; /* the same array as declared before, in the calling function; NULL: not declared */
} ArrayRef;
typedef struct {
    KRef ref;
    bool shared, borrowed;
} Memory;                /* borrowed: a parameter that still is the caller's array */
typedef struct Closure { /* a function value */
    Func *func;          /* either a function of the program … */
    const char *builtin;
    const KVal *host; /* host value; NULL: made in the kernel */
    Val *captures;    /* made in the kernel: its captured values */
    Val *overloads;
    int noverloads;
} Closure;
typedef struct Var Var;
/* An object: from the host with values, or made in the kernel with a variable for each field.  An array of objects is
 * one Record whose fields are arrays; its Val has a rank.  An element of it has the same fields, and its place. */
typedef struct {
    Str **names;
    Val *fields;
    Var **vars;
    int nfields;
    const Type *type, **types;
    bool is_mutable;
    const KVal *host;             /* the fields as the host gave them; NULL: made in the kernel */
    const struct Access *element; /* its place in an array of objects; NULL: a single object */
} Record;

/* The element type that an array keeps when an element is stored: `set` has a bit for an integer type or bool, and none
 * for types that take any number.  If several paths meet, `set` has the bits of all of them (MADE_ANY for paths that
 * take any number), and `which` is the run-time dtype of the path taken, QS_NDTYPES for any. */
enum { MADE_ANY = 1 << QS_NDTYPES };
_Static_assert(QS_NDTYPES < 16, "Made has a bit for each type");
typedef struct {
    uint16_t set;
    KRef which;
} Made;

struct Val {
    uint8_t kind;  /* ValKind */
    uint8_t dtype; /* V_NUM V_ARRAY V_MEMORY: dtype of the elements */
    uint8_t rank;  /* V_NUM: 0: a number */
    uint8_t inner; /* V_ARRAY: number of trailing dimensions that belong to the entries, as in vec[vec3] */
    bool is_pos;   /* V_NUM: exactly the position in the launch domain */
    Made made;     /* V_NUM V_MEMORY */
    TypeMods mods;
    int64_t dims[QS_MAX_RANK]; /* V_ARRAY: known extents, else -1 */
    Comp *at;                  /* V_NUM: components, row-major; complex: re, im alternating */
    union {
        ArrayRef *array;
        Memory *mem;
        Closure *fn;
        Str *str;
        const Type *type;
        Record *rec;
    } u;
};

/* -- locals -------------------------------------------------------------------------------------------------------- */
struct Var {
    Sym *sym;
    Str *name;
    /* learned in a pass and kept for the next */
    bool merged;  /* set on several paths: stored in LOCALs */
    bool hoisted; /* declared at the start of the function */
    bool memory;  /* indexed with computed indices: stored in an LARRAY */
    bool changed; /* elements are set, so the array of the caller has them, too, if it is a parameter */
    Val type;     /* type joined over all assignments (klval_join); V_UNKNOWN before the first */
    /* set anew in each pass */
    BlockScope *home; /* block in which it was bound; NULL: not yet */
    Val val;          /* not merged: its value, while `home` is open */
    Val stored;       /* merged: type of the LOCALs or of the LARRAY */
    KRef *slots;      /* LOCALs, or one LARRAY */
    KRef which;       /* LOCAL with the value of stored.made.which, if paths disagree */
    bool converts;
    qs_dtype declared; /* a : int = …: later assignments are converted */
    TypeMods mods;
    bool typed; /* a : vec'safe = …: later values are accessed with these modifiers, too */
    bool early;
    uint32_t early_pos;
    BlockScope *early_loop; /* early: read before the first assignment, at early_pos, in this outermost loop */
};

/* A variable without a name: the result of ?:, a field of an object. */
struct Hidden {
    const void *key;
    int part;
    Var var;
    struct Hidden *next;
};

typedef struct {
    int source, part;
    uint8_t dtype;
    int param;
} HostNum;

struct Lower {
    union {
        Walk walk;
        struct {
#include "lang/kernel/lower/common/members.def"
        };
    };
    const LowerJob *job;
    LowerResult *out;
    bool unknown;
    uint32_t unknown_pos; /* a value of unknown type was read; position of the read */
    /* One bit per array parameter (the last bit: shared memory of a block). crowded, was_crowded: positions update
     * elements that others may update, in this pass and in the one before. lone, joined: positions update their own
     * elements, treated as the only updates, or as part of several. */
    uint64_t crowded, was_crowded, lone, joined;
    int nstoring;            /* number of calls so far of functions that store into arrays of their caller */
    struct Updated *updated; /* atomic updates since the last barrier, the last one first */
    /* random numbers: number of call sites so far in this pass, also of those in loops, which have a counter each */
    int nsites, nsites_in_loops, ncounters;
    KRef *counters;
    struct PrintSite *prints; /* statements that print so far in this pass, the last one first */
    int nprints;
    bool stopped;                /* something is needed first: the pass ends without an error */
    bool restart;                /* a function was found to call itself: the pass ends, and the next one knows it */
    struct Recursive *recursive; /* such functions */
    int frames;                  /* how many of their calls may be open */
    int nested;                  /* calls of open functions so far in this pass */
    /* If they are many, one function is marked as recursive, unless this leads to an error. */
    enum { TRIAL_NONE, TRIAL_RUNS, TRIAL_FAILED } trial;
    KBind *binds;
    uint32_t cap_binds;
    HostNum *nums;
    int nnums;
    uint32_t cap_nums;
};

enum { KLOWER_UNROLL = 1024, KLOWER_PASSES = 40, KLOWER_CALLS = 64 };
/* Functions that call themselves: how many calls may be open; the flag of their LOOPs, and of LOCALs for arguments
 * and results; after how many nested calls one is tried. */
enum { KLOWER_FRAMES = 64, KLOWER_MOST_FRAMES = 4096, KLOWER_ROUTINE = 1, KLOWER_TRIAL = 32 };

/* -- lower.c ------------------------------------------------------------------------------------------------------- */
Where klower_where(const Lower *L, uint32_t pos);
qs_status klower_error(Lower *L, qs_status s, uint32_t pos, const char *fmt, ...) QS_PRINTF(4, 5);
qs_status klower_need(Lower *L, int source, int axis, int rank); /* never returns QS_OK */
int klower_array_param(Lower *L, const Val *array);
KRef klower_host_num(Lower *L, int source, int part, qs_dtype d, Str *name);
qs_status klower_position(Lower *L, const Func *f, const Param *p, const Num *nums, int rank, Val *out);
enum { SPECIAL_POS, SPECIAL_BLKPOS, SPECIAL_BLKDIM, SPECIAL_BLKIDX, SPECIAL_BLKCNT };
void klower_import(Lower *L, const KVal *v, Str *name, Val *out);

int klower_log_param(Lower *L); /* the parameter with source KLOWER_LOG, added on first use */

void klrandom_begin(Lower *L); /* lower_random.c: declares the counters of random numbers, in each pass */

/* -- lower_print.c ------------------------------------------------------------------------------------------------- */
qs_status klprint_statement(Lower *L, const Node *n); /* print a, b */
void klprint_keep(const Lower *L, Arena *arena);      /* copies the statements of the last pass to the result */

/* -- instructions (lower_num.c) ------------------------------------------------------------------------------------ */
static inline KRef klnum_pure(Lower *L, KMake i) { return kbuild_pure(&L->walk, i); }
static inline KRef klnum_emit(Lower *L, KMake i) { return kbuild_emit(&L->walk, i); }
static inline KRef klnum_bin(Lower *L, KOp op, KRef a, KRef b) { return klnum_pure(L, (KMake){op, .a = a, .b = b}); }
static inline KRef klnum_un(Lower *L, KOp op, KRef a) { return klnum_pure(L, (KMake){op, .a = a}); }
static inline KRef klnum_pick(Lower *L, KRef c, KRef a, KRef b) { /* c ? a : b */
    return klnum_pure(L, (KMake){K_SELECT, .a = c, .b = a, .c = b});
}
static inline KRef klnum_int(Lower *L, qs_dtype d, int64_t v) { return kbuild_int(&L->walk, d, v); }
static inline KRef klnum_const(Lower *L, qs_dtype d, double v) { return kbuild_const(&L->walk, d, v); }
KRef klnum_cast_ref(Lower *L, KRef a, qs_dtype to);
KRef klnum_math(Lower *L, MathFn fn, KRef a, KRef b);

/* -- numbers ------------------------------------------------------------------------------------------------------- */
Weak *klnum_weak_param(Lower *L, int source, Str *name, int bits, bool integral);
qs_dtype klnum_weak_dtype(Lower *L, const Weak *w); /* its dtype on its own */
Num klnum_strong(KRef ref, qs_dtype d);
Num klnum_from_weak(Lower *L, Weak *w);
Num klnum_literal(Lower *L, double v, bool integral);
static inline bool klnum_is_weak(Num n) { return n.re.weak != NULL; }
bool klnum_known(Lower *L, Num n, double *v); /* a constant */
/* Lowers old op= n for a 64-bit integer of memory (kelem_update); false: the operator or the types are others. */
bool klnum_update(Lower *L, enum Op op, Num old, Num n, Num *out);
bool klnum_is_integral(Num n);                 /* an int, or a weak number without a fraction */
qs_dtype klnum_join(Lower *L, Num a, Num b);   /* the result dtype of an operation on both */
qs_dtype klnum_choice(Lower *L, Num a, Num b); /* the dtype of a choice between them */
KRef klnum_ref(Lower *L, Num n, qs_dtype d);   /* the real part, converted to the real dtype d */
KRef klnum_part(Lower *L, Num n, int part, qs_dtype d);
Num klnum_cast(Lower *L, Num n, qs_dtype d);   /* d: a value dtype or complex dtype */
Num klnum_narrow(Lower *L, Num n, qs_dtype d); /* any dtype; clamped to the range of int8 … */
KRef klnum_index(Lower *L, Num n, bool floor); /* as int64 */
KRef klnum_truth(Lower *L, Num n);
qs_status klnum_binary(Lower *L, Op op, Num a, Num b, Num *out);
qs_status klnum_unary(Lower *L, Op op, Num a, Num *out);
Num klnum_select(Lower *L, KRef c, Num a, Num b);
qs_status klnum_choose(Lower *L, const Num *x, const void *ud, Num *out); /* x[0] ? x[1] : x[2], for klval_each */
Num klnum_apply(Lower *L, enum Elem e, const Num *x);                     /* in the common type of the arguments */
Num klnum_flip(Lower *L, Num a);                                          /* inverts every bit */
/* EL_shl or EL_shr by a count of any sign; wide: computed in 64 bits like a host number. */
Num klnum_shift(Lower *L, enum Elem e, Num a, Num n, bool wide);
/* a as an operand beside elements of the made type m, computed in `as` */
Num klnum_bits_beside(Lower *L, enum Elem e, Num a, Made m, qs_dtype as);
qs_dtype klnum_real_dtype(Lower *L, Num a);                 /* the dtype in which functions of a compute */
bool klnum_range(Lower *L, KRef r, double *lo, double *hi); /* bounds of an integer value, if they are known */
/* the condition that x is representable in the integer type */
KRef klnum_holds(Lower *L, qs_dtype integer, KRef x);
void klnum_check_integral(Lower *L, const DeclaredInt *t, Num n); /* emits an error if n is not representable in t */

/* -- lower_val.c --------------------------------------------------------------------------------------------------- */
static inline bool klval_is_number(const Val *v) { return v->kind == V_NUM && v->rank == 0; }
SmallShape klval_shape(const Val *v);
int64_t klval_count(const Val *v); /* number of elements of V_NUM, V_MEMORY, V_ARRAY with known extents */
void klval_number(Lower *L, Num n, Val *out);
Num klval_num(const Val *v, int64_t i);                                             /* component i of a V_NUM */
void klval_from_nums(Lower *L, Num *nums, int rank, const int64_t *dims, Val *out); /* converts them to one dtype */
void klval_vector(Lower *L, Num *nums, int64_t n, Val *out);
qs_status klval_components(Lower *L, const Val *v, Val *out);            /* as V_NUM; reads memory and arrays */
qs_status klval_one(Lower *L, const Val *v, const char *what, Num *out); /* a single number */
qs_status klval_truth(Lower *L, const Val *v, KRef *out, int *known);    /* known: 0, 1, or -1 for a run-time value */
/* constant sizes */
qs_status klval_constants(Lower *L, const Val *v, const char *what, int64_t *out, int max, int *n);
bool klval_is_early(Lower *L, KRef r); /* whether r depends only on host numbers and sizes */
qs_status klval_need(Lower *L, Num n); /* requests the host values that n depends on; QS_OK if there are none */
qs_status klval_binary(Lower *L, Op op, const Val *a, const Val *b, Val *out);
qs_status klval_unary(Lower *L, Op op, const Val *a, Val *out);
typedef qs_status MapFn(Lower *, const Num *x, const void *ud, Num *out);
/* Applies f to each element of n values, at most KLVAL_OPERANDS, broadcast to one shape. e: the row of elem.def that
 * determines the result type; EL__COUNT: that of arithmetic. */
enum { KLVAL_OPERANDS = 3 };
qs_status klval_each(Lower *L, enum Elem e, const Val *args, int n, MapFn *f, const void *ud, Val *out);
void klval_narrow(Lower *L, const Val *v, qs_dtype d, Val *out);
bool klval_join(Lower *L, const Val *a, const Val *b, Val *out); /* joins types only; false: they are incompatible */
static inline Made klval_made(qs_dtype d) {
    return (Made){(uint16_t)(qdtype_is_real(d) || qdtype_is_complex(d) ? 0 : 1 << d), 0};
}
/* true if at least one path takes any number */
static inline bool klval_takes_any(Made m) { return !m.set || m.set & MADE_ANY; }
qs_dtype klval_element(const Val *v);                           /* element type of an array, as declared last */
ArrayRef *klval_declare_elements(Lower *L, Val *v, qs_dtype d); /* adds a declaration to those that it has */
Made klval_made_of(const Val *v);                               /* also for arrays and numbers */
KRef klval_which(Lower *L, Made m);                             /* the dtype at run time, QS_NDTYPES for any */
Made klval_made_either(Lower *L, KRef c, const Val *a, const Val *b);
/* Sets out->made for a value made of n values; keeps: if all elements have one type, out keeps it. */
void klval_make_together(Lower *L, Val *out, const Val *v, int n, bool keeps);
bool klval_same(const Val *a, const Val *b); /* whether both are the same array, function, string … */
const char *klval_type_name(Lower *L, const Val *v);
void klval_zero(Lower *L, qs_dtype d, int rank, const int64_t *dims, double fill, Val *out);

/* -- lower_var.c --------------------------------------------------------------------------------------------------- */
Var *klvar_of(Lower *L, const Sym *sym); /* a local of the current function; NULL: none */
Var *klvar_hidden(Lower *L, const void *key, int part);
/* ?? without a modifier declares nothing. */
static inline bool klvar_declares(const Type *t, TypeMods mods) {
    return t->kind != TY_ANY || mods.access || mods.flags;
}
/* A declaration is complete: numbers assigned later are converted to the type, and arrays are accessed with its
 * modifiers, or with none if it has none.  A variable without a declared type has the modifiers of its value. */
static inline void klvar_declare(Var *v, const Type *t, TypeMods mods) {
    v->converts = t->kind == TY_NUM, v->declared = t->dtype;
    v->typed = klvar_declares(t, mods), v->mods = mods;
}
void klvar_modify(TypeMods declared, Val *v); /* gives v the modifiers of a declaration */
qs_status klvar_read(Lower *L, Var *v, uint32_t pos, Val *out);
qs_status klvar_read_part(Lower *L, Var *v, int64_t i, uint32_t pos, Num *out); /* an element of a merged vector */
qs_status klvar_assign(Lower *L, Var *v, const Val *val, uint32_t pos);
qs_status klvar_assign_part(Lower *L, Var *v, int64_t i, Num n, uint32_t pos);
/* merged variable: element type of its current value */
Made klvar_made(Lower *L, const Var *v);
void klvar_widen(Lower *L, Var *v, Num n);                        /* widens its type for storing n in an element */
qs_status klvar_memory(Lower *L, Var *v, uint32_t pos, Val *out); /* V_UNKNOWN in the first pass that requests it */
/* The result of two branches: begin before them, set in each branch, get after them. */
void klvar_hidden_begin(Lower *L, Var *v);
qs_status klvar_hidden_set(Lower *L, Var *v, const Val *x);
void klvar_hidden_get(Lower *L, Var *v, Val *out);
void klvar_enter(Lower *L, InlineFrame *inst);       /* declares hoisted variables */
qs_status klvar_finish(Lower *L, InlineFrame *inst); /* reports errors that are certain only at the end of a pass */

/* -- lower_type.c -------------------------------------------------------------------------------------------------- */
qs_status kltype_resolve(Lower *L, TypeExpr *e, const Type **out, TypeMods *mods);
Num kltype_number(Lower *L, Num n, qs_dtype d); /* converts a number to a declared element type d */
void kltype_numbers(Lower *L, const Val *v, qs_dtype d, Val *out);
qs_status kltype_coerce(Lower *L, const Type *t, const char *what, uint32_t pos, Val *v);
/* Binds type parameters, which e mentions, to types and extents of an argument. */
qs_status kltype_bind(Lower *L, InlineFrame *inst, TypeExpr *e, const Val *v);
int64_t kltype_size(const Lower *L, const Str *name); /* the extent bound to a type parameter; 0: none */
qs_status kltype_check_constraints(Lower *L, const InlineFrame *inst); /* of the bound type parameters */
void kltype_describe(Lower *L, const Val *v, GivenArg *out); /* describes an argument for overload resolution */
bool kltype_declared(void *lower, const Func *f, const Param *p, Declared *out); /* callback of Overloads */
qs_status kltype_construct(Lower *L, const Node *site, const Type *t, const Args *args, Val *out);

/* -- lower_expr.c -------------------------------------------------------------------------------------------------- */
extern const ExprRules klexpr_rules;
static inline qs_status klexpr_lower(Lower *L, Node *n, Val *out) {
    *out = (Val){0};
    return kexpr_lower(&L->walk, n, out);
}
/* The field of the object `base` that n names; var: NULL if it is not a variable. */
qs_status klexpr_field(Lower *L, const Val *base, const Node *n, Var **var, const Record **of, int *number);
/* The rules for names. */
qs_status klexpr_variable(Walk *w, const Sym *sym, uint32_t pos, Val *out, bool *found);
qs_status klexpr_outside(Walk *w, const Sym *sym, uint32_t pos, Val *out);
void klexpr_function(Walk *w, Func *f, Val *captures, Val *out);
bool klexpr_cheap(const Node *n); /* may be computed speculatively */
typedef struct Range {
    Num lo, step, hi;
} RangeVal;
qs_status klexpr_range_of(Lower *L, const RangeEnds *b, int i, RangeVal *out); /* range of counter i */
/* Lowers n, a quotient a / b.  For integral operands it is computed without rounding to scalars, rounded down or toward
 * zero, and *exact is true; otherwise it is the ordinary quotient. */
qs_status klexpr_quotient(Lower *L, Node *n, bool down, Val *out, bool *exact);
static inline bool klexpr_is_quotient(const Node *n) { return n->kind == N_BINARY && n->op == OP_DIV; }

/* -- lower_index.c ------------------------------------------------------------------------------------------------- */
extern const PlaceRules klidx_rules;
qs_status klidx_read(Walk *w, Node *n, Val *out);
qs_status klidx_assign(Walk *w, Node *target, const Val *v);
qs_status klidx_update(Walk *w, Node *target, Op op, Node *value);
/* Lowers the call `site` of an atomic function.  *out: the element before; NULL: it is not used. */
qs_status klidx_fetch(Lower *L, const char *name, Node *site, KAtomic k, Val *out);
/* Reads the field that n names, number i of a host object. */
qs_status klidx_field(Lower *L, const Val *object, int i, const Node *n, Val *out);
/* Sets such a field; updates it in place, unless *done is false. */
qs_status klidx_set_field(Lower *L, const Val *object, int i, const Node *target, Val *v);
qs_status klidx_update_field(Walk *w, const Val *object, Node *target, Op op, Node *value, bool *done);
/* Converts x, with as many elements as the private array, to the element type that the array keeps when changed in
 * place. */
qs_status klidx_keep(Lower *L, const char *name, const Val *array, const Val *x, Val *out);
/* loads every element of an array with known extents */
qs_status klidx_load_all(Lower *L, const Val *array, Val *out);
qs_status klidx_element(Lower *L, const Val *base, const KRef *at, int n, const char *name, Num *out);
KRef klidx_dim(Lower *L, const Val *v, int d); /* extent as int64; 1 beyond the rank; a vec counts as 1xN */
int klidx_ndims(const Val *v);

/* -- lower_call.c -------------------------------------------------------------------------------------------------- */
extern const CallRules klcall_rules;
Callee klcall_callee(Closure *fn);
const char *klcall_substitute(const char *name); /* what to write instead of a function that kernels lack */
/* Gives arrays that a function has changed back to the variables of the caller.  in: the frame of its parameters; back:
 * variables with their values; NULL: the parameters themselves. */
qs_status klcall_give_back(Lower *L, const Node *site, const Callee *fn, const Args *args, const InlineFrame *in,
                           Var *const *back);
/* Binds the parameter p of the entered function to v, converted to its declared type; checked: the host checks run-time
 * numbers, so the code need not. */
qs_status klcall_bind(Lower *L, const Param *p, bool checked, Val *v);
/* Lowers the body of the entered kernel; a kernel has no result. */
qs_status klcall_kernel_body(Lower *L);
/* Lowers parallel_do or serial_do inside a kernel to loops around the inlined kernel. */
qs_status klcall_launch(Lower *L, const Node *site, const Val *args, int nargs);

/* -- lower_recursion.c, lower_stack.c ------------------------------------------------------------------------------ */
/* Lowers the call of a function that calls itself; *done is false for other functions. */
qs_status klrecursion_call(Lower *L, const Node *site, Closure *fn, const Args *args, Val *outs, int wanted,
                           bool *done);
bool klrecursion_is_open(const Lower *L); /* code for such a function is being made, which may run several times */
/* frames: how many calls may be open */
qs_status klstack_replace(Ctx *c, Arena *arena, KFunc *f, int frames, KFunc **out);

/* -- lower_builtin.c ----------------------------------------------------------------------------------------------- */
bool klbuiltin_find(const char *name, int *which);
bool klbuiltin_updates(const char *name, KAtomic *k); /* true for atomic_add and the like */
/* Returns the element that the call n of such a function updates; NULL: n is no such call. */
const Node *klbuiltin_updated(const Node *n);
const char *klbuiltin_atomic_name(KAtomic k); /* NULL: no function has this operator */
/* site: the call, or NULL if the function was passed as a value. */
qs_status klbuiltin_call(Lower *L, int which, Node *site, const Val *args, int nargs, Val *out);

/* -- lower_stmt.c -------------------------------------------------------------------------------------------------- */
extern const WalkRules klstmt_rules;
#endif
