/* lower_internal.h -- what the files of the lowering share.
 *
 * The tree is walked by walk/walk.h; these files are a kernel's rules for what differs.
 *
 *   lower.c        a pass, the kernel's parameters          lower_expr.c   literals, choices, ranges, fields
 *   lower_var.c    locals: bindings, merging, types         lower_index.c  element and slice access, modes, atomics
 *   lower_num.c    numbers: weak ones, casts, arithmetic    lower_call.c   overloads, methods, launches
 *   lower_val.c    values of all kinds, small arrays        lower_builtin.c built-ins (kbuiltins.def)
 *   lower_type.c   written types                            lower_stmt.c   assignment, loops over ranges
 *
 * The tree is lowered in passes.  A local is bound directly to its value as long as that is possible; a pass that finds
 * out something (a local is assigned on two paths, its type widens, it is indexed with a computed index) notes it in
 * the Var, which outlives the pass, and the next pass starts afresh.  Most kernels need one or two passes.
 *
 * While something is not known yet its value is V_UNKNOWN, and so is everything computed from it. */
#ifndef LANG_LOWER_INTERNAL_H
#define LANG_LOWER_INTERNAL_H
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/lower/common/common.h"
#include "lang/kernel/lower/kernel/lower.h"
#include "lang/names/types.h"
#include "lang/syntax/operators.h"

typedef struct Lower Lower;
typedef struct Val Val;

/* -- numbers ------------------------------------------------------------------------------------------------------- */
/* A number whose dtype is decided by what it meets: a literal, a number of the host, or sums and products of those.
 * It becomes instructions each time it is used, in the dtype wanted there, so 2*a is exact beside float64 and an int in
 * an index. */
typedef enum { WEAK_CONST, WEAK_PARAM, WEAK_NEG, WEAK_ADD, WEAK_SUB, WEAK_MUL, WEAK_DIV } WeakOp;
typedef struct Weak Weak;
struct Weak {
    uint8_t op;    /* WeakOp */
    bool integral; /* by itself an int; otherwise a scalar */
    bool whole;    /* has no fraction, whatever its type: may be an index or a loop counter without loss */
    bool outside;  /* a number of the host takes part */
    bool declared; /* an int of the host, or int(5): overloads see an int, not a scalar */
    double value;  /* WEAK_CONST */
    double bound;  /* of whole numbers: |value| is at most this */
    int source;    /* WEAK_PARAM */
    Str *name;     /* WEAK_PARAM */
    Weak *a, *b;
};

typedef struct {
    KRef ref;
    Weak *weak;
} Comp; /* weak != NULL: ref is 0 */

/* One number.  im counts for complex dtypes only; complex numbers are never weak. */
typedef struct {
    qs_dtype dtype;
    Comp re, im;
} Num;

/* -- values -------------------------------------------------------------------------------------------------------- */
typedef enum { V_UNKNOWN, V_VOID, V_NUM, V_ARRAY, V_MEMORY, V_FUNC, V_STRING, V_TYPE, V_OBJECT, V_COLON } ValKind;

/* What is declared as `type`, or its elements, is of the integer type d, which must hold what is given. */
typedef struct {
    const char *what;
    const Type *type;
    qs_dtype d;
    uint32_t pos;
} Whole;

typedef struct ArrayRef { /* becomes a parameter of the KFunc when it is used, with the rank of the Val */
    KVal host;
    Str *name;
    bool converts;
    qs_dtype as;        /* x : mat of integers in memory: elements are read as scalars, as they were declared */
    const Whole *whole; /* of a parameter of integers; NULL: elements may be any */
    const struct ArrayRef *under; /* as it was declared before, in what calls the function; NULL: it was not */
} ArrayRef;
typedef struct {
    KRef ref;
    bool shared, borrowed;
} Memory;                /* borrowed: a parameter that still is the caller's */
typedef struct Closure { /* a function as a value */
    Func *func;          /* or */
    const char *builtin;
    const KVal *host; /* where it came from; NULL: made in the kernel */
    Val *captures;    /* made in the kernel: the values that its captures had then */
    Val *overloads;
    int noverloads;
} Closure;
typedef struct Var Var;
/* An object: of the host with values, or made in the kernel with a variable for each field.  An array of objects is one
 * object whose fields are arrays; its Val has a rank. */
typedef struct {
    Str **names;
    Val *fields;
    Var **vars;
    int nfields;
    const Type *type, **types;
    bool is_mutable;
} Record;

/* What elements stay as one is stored into: a bit for an integer type or bool, none for others, which take any number.
 * Where paths meet that disagree there are the bits of all of them, MADE_ANY for those that take any number, and what
 * the code itself tells: the dtype of the path that was taken, QS_NDTYPES for any. */
enum { MADE_ANY = 1 << QS_NDTYPES };
_Static_assert(QS_NDTYPES < 16, "Made has a bit for each type");
typedef struct {
    uint16_t set;
    KRef which;
} Made;

struct Val {
    uint8_t kind;  /* ValKind */
    uint8_t dtype; /* V_NUM V_ARRAY V_MEMORY: of the elements */
    uint8_t rank;  /* V_NUM: 0 is a number */
    uint8_t inner; /* V_ARRAY: so many of its last dimensions are those of entries, as in vec[vec3] */
    bool is_pos;   /* V_NUM: exactly the position in the launch domain */
    Made made;     /* V_NUM V_MEMORY */
    TypeMods mods;
    int64_t dims[QS_MAX_RANK]; /* V_ARRAY: known extents, else 0 */
    Comp *at;                  /* V_NUM: components, row-major; complex: re, im in turn */
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
    /* learned, kept from pass to pass */
    bool merged;  /* set on several paths: lives in LOCALs */
    bool hoisted; /* those stand at the start of the function */
    bool memory;  /* indexed with computed indices: lives in an LARRAY */
    Val type;     /* joined over all assignments (klval_join); V_UNKNOWN before the first */
    /* this pass */
    BlockScope *home; /* in which it was bound; NULL: not yet */
    Val val;          /* not merged: what it is bound to, as long as its home is open */
    Val stored;       /* merged: the type of the LOCALs or of the LARRAY */
    KRef *slots;      /* LOCALs, or one LARRAY */
    KRef which;       /* the LOCAL of stored.made.which, where paths disagree */
    bool converts;
    qs_dtype declared; /* a : int = …: later assignments are converted */
    TypeMods mods;
    bool typed; /* a : vec'safe = …: whatever it names later is accessed with these modifiers */
    bool early;
    uint32_t early_pos;
    BlockScope *early_loop; /* read before anything was assigned; in this outermost loop */
};

/* Results of ?:, fields of objects. */
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
    uint32_t unknown_pos; /* a value of no known type was read */
    /* By array parameter (the last bit: memory of a block): positions update elements that others may update, in this
     * pass and in the one before; they update their own, taken for the only ones, and taken for one of several. */
    uint64_t crowded, was_crowded, lone, joined;
    int nstoring; /* calls so far of functions that store into what their caller has */
    bool stopped; /* something is needed first: unwinding without an error */
    KBind *binds;
    uint32_t cap_binds;
    HostNum *nums;
    int nnums;
    uint32_t cap_nums;
};

enum { KLOWER_UNROLL = 1024, KLOWER_PASSES = 40, KLOWER_CALLS = 64 };

/* -- lower.c ------------------------------------------------------------------------------------------------------- */
Where klower_where(const Lower *L, uint32_t pos);
qs_status klower_error(Lower *L, qs_status s, uint32_t pos, const char *fmt, ...) QS_PRINTF(4, 5);
qs_status klower_need(Lower *L, int source, int axis, int rank); /* never QS_OK */
int klower_array_param(Lower *L, const Val *array);
KRef klower_host_num(Lower *L, int source, int part, qs_dtype d, Str *name);
qs_status klower_position(Lower *L, const Func *f, const Param *p, const Num *nums, int rank, Val *out);
enum { SPECIAL_POS, SPECIAL_BLKPOS, SPECIAL_BLKDIM, SPECIAL_BLKIDX, SPECIAL_BLKCNT };
void klower_import(Lower *L, const KVal *v, Str *name, Val *out);

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
qs_dtype klnum_weak_dtype(Lower *L, const Weak *w); /* what it is by itself */
Num klnum_strong(KRef ref, qs_dtype d);
Num klnum_from_weak(Lower *L, Weak *w);
Num klnum_literal(Lower *L, double v, bool integral);
static inline bool klnum_is_weak(Num n) { return n.re.weak != NULL; }
bool klnum_known(Lower *L, Num n, double *v);  /* a constant */
bool klnum_whole(Num n);                       /* an int, or a weak number without fraction */
qs_dtype klnum_join(Lower *L, Num a, Num b);   /* the dtype of a result of both */
qs_dtype klnum_choice(Lower *L, Num a, Num b); /* of what is one of them */
KRef klnum_ref(Lower *L, Num n, qs_dtype d);   /* the real part as a value of real dtype d */
KRef klnum_part(Lower *L, Num n, int part, qs_dtype d);
Num klnum_cast(Lower *L, Num n, qs_dtype d);   /* d: a value or complex dtype */
Num klnum_narrow(Lower *L, Num n, qs_dtype d); /* any dtype: clamped to the range of int8 … */
KRef klnum_index(Lower *L, Num n, bool floor); /* int64 */
KRef klnum_truth(Lower *L, Num n);
qs_status klnum_binary(Lower *L, Op op, Num a, Num b, Num *out);
qs_status klnum_unary(Lower *L, Op op, Num a, Num *out);
Num klnum_select(Lower *L, KRef c, Num a, Num b);
qs_status klnum_choose(Lower *L, const Num *x, const void *ud, Num *out); /* x[0] ? x[1] : x[2], for klval_each */
Num klnum_apply(Lower *L, Elem e, const Num *x);                          /* in the type that the arguments meet in */
Num klnum_flip(Lower *L, Num a);                                          /* every bit */
/* EL_shl or EL_shr, by a count of any sign; wide: as a number of the host. */
Num klnum_shift(Lower *L, Elem e, Num a, Num n, bool wide);
Num klnum_bits_beside(Lower *L, Elem e, Num a, Made m, qs_dtype as); /* a beside elements made of m, computed as `as` */
qs_dtype klnum_real_dtype(Lower *L, Num a);                          /* in which functions of a compute */
bool klnum_range(Lower *L, KRef r, double *lo, double *hi); /* bounds of an integer value, where they can be told */
KRef klnum_holds(Lower *L, qs_dtype integer, KRef x);       /* what must hold of x that it is one of that type */
void klnum_check_whole(Lower *L, const Whole *t, Num n);    /* an error where t does not hold n */

/* -- lower_val.c --------------------------------------------------------------------------------------------------- */
static inline bool klval_is_number(const Val *v) { return v->kind == V_NUM && v->rank == 0; }
SmallShape klval_shape(const Val *v);
int64_t klval_count(const Val *v); /* V_NUM, V_MEMORY, V_ARRAY with known extents */
void klval_number(Lower *L, Num n, Val *out);
Num klval_num(const Val *v, int64_t i);                                             /* component i of V_NUM */
void klval_from_nums(Lower *L, Num *nums, int rank, const int64_t *dims, Val *out); /* brings them to one dtype */
void klval_vector(Lower *L, Num *nums, int64_t n, Val *out);
qs_status klval_components(Lower *L, const Val *v, Val *out);            /* as V_NUM: memory and arrays are read */
qs_status klval_one(Lower *L, const Val *v, const char *what, Num *out); /* a single number */
qs_status klval_truth(Lower *L, const Val *v, KRef *out, int *known);    /* known: 0, 1 or -1 */
qs_status klval_constants(Lower *L, const Val *v, const char *what, int64_t *out, int max, int *n); /* sizes */
bool klval_is_early(Lower *L, KRef r); /* numbers of the host, and sizes, say what it is */
qs_status klval_need(Lower *L, Num n); /* asks for the host values that n depends on; QS_OK when there are none */
qs_status klval_binary(Lower *L, Op op, const Val *a, const Val *b, Val *out);
qs_status klval_unary(Lower *L, Op op, const Val *a, Val *out);
typedef qs_status MapFn(Lower *, const Num *x, const void *ud, Num *out);
/* For each element of n values, at most KLVAL_OPERANDS, that are stretched to one shape.  e: the row whose types the
 * result has; EL__COUNT: it has those of arithmetic. */
enum { KLVAL_OPERANDS = 3 };
qs_status klval_each(Lower *L, Elem e, const Val *args, int n, MapFn *f, const void *ud, Val *out);
void klval_narrow(Lower *L, const Val *v, qs_dtype d, Val *out);
bool klval_join(Lower *L, const Val *a, const Val *b, Val *out); /* types only; false: they do not go together */
static inline Made klval_made(qs_dtype d) {
    return (Made){(uint16_t)(qdtype_is_real(d) || qdtype_is_complex(d) ? 0 : 1 << d), 0};
}
static inline bool klval_takes_any(Made m) { return !m.set || m.set & MADE_ANY; } /* on one path at least */
qs_dtype klval_element(const Val *v);                           /* of an array, as it was declared last */
ArrayRef *klval_declare_elements(Lower *L, Val *v, qs_dtype d); /* above the declarations that it has */
Made klval_made_of(const Val *v);                               /* of arrays and numbers, too */
KRef klval_which(Lower *L, Made m);                             /* the dtype, QS_NDTYPES for any */
Made klval_made_either(Lower *L, KRef c, const Val *a, const Val *b);
/* out is made of n values together; keeps: elements that are all of one type stay of it. */
void klval_make_together(Lower *L, Val *out, const Val *v, int n, bool keeps);
bool klval_same(const Val *a, const Val *b); /* the same array, function, string … */
const char *klval_type_name(Lower *L, const Val *v);
void klval_zero(Lower *L, qs_dtype d, int rank, const int64_t *dims, double fill, Val *out);

/* -- lower_var.c --------------------------------------------------------------------------------------------------- */
Var *klvar_of(Lower *L, const Sym *sym); /* of the current function; NULL: no local */
Var *klvar_hidden(Lower *L, const void *key, int part);
/* A declared type is complete: numbers that are assigned later become that type, and arrays are accessed with its
 * modifiers, also where it has none.  A variable of no declared type has the modifiers of its value. */
static inline void klvar_declare(Var *v, const Type *t, TypeMods mods) {
    v->converts = t->kind == TY_NUM, v->declared = t->dtype;
    v->typed = true, v->mods = mods;
}
void klvar_modify(TypeMods declared, Val *v); /* v gets the modifiers of a declaration */
qs_status klvar_read(Lower *L, Var *v, uint32_t pos, Val *out);
qs_status klvar_read_part(Lower *L, Var *v, int64_t i, uint32_t pos, Num *out); /* of a merged vector */
qs_status klvar_assign(Lower *L, Var *v, const Val *val, uint32_t pos);
qs_status klvar_assign_part(Lower *L, Var *v, int64_t i, Num n, uint32_t pos);
Made klvar_made(Lower *L, const Var *v);                          /* of a merged one: as its elements are now */
void klvar_widen(Lower *L, Var *v, Num n);                        /* n is stored in an element of it */
qs_status klvar_memory(Lower *L, Var *v, uint32_t pos, Val *out); /* V_UNKNOWN in the pass that asks first */
/* The result of two branches: begin before them, set in each, get after them. */
void klvar_hidden_begin(Lower *L, Var *v);
qs_status klvar_hidden_set(Lower *L, Var *v, const Val *x);
void klvar_hidden_get(Lower *L, Var *v, Val *out);
void klvar_enter(Lower *L, InlineFrame *inst);       /* declares what is hoisted */
qs_status klvar_finish(Lower *L, InlineFrame *inst); /* errors that only the end of a pass shows */

/* -- lower_type.c -------------------------------------------------------------------------------------------------- */
qs_status kltype_resolve(Lower *L, TypeExpr *e, const Type **out, TypeMods *mods);
Num kltype_number(Lower *L, Num n, qs_dtype d); /* a number that enters what is declared with d */
void kltype_numbers(Lower *L, const Val *v, qs_dtype d, Val *out);
qs_status kltype_coerce(Lower *L, const Type *t, const char *what, uint32_t pos, Val *v);
void kltype_bind(Lower *L, InlineFrame *inst, TypeExpr *e, const Val *v); /* type parameters from an argument */
void kltype_describe(Lower *L, const Val *v, GivenArg *out); /* an argument, for the choice among overloads */
bool kltype_declared(void *lower, const Func *f, const Param *p, Declared *out); /* of Overloads */
qs_status kltype_construct(Lower *L, const Node *site, const Type *t, const Args *args, Val *out);

/* -- lower_expr.c -------------------------------------------------------------------------------------------------- */
extern const ExprRules klexpr_rules;
static inline qs_status klexpr_lower(Lower *L, Node *n, Val *out) {
    *out = (Val){0};
    return kexpr_lower(&L->walk, n, out);
}
/* The field that n names of the object `base`; var: NULL when it is no variable. */
qs_status klexpr_field(Lower *L, const Val *base, const Node *n, Var **var, const Record **of, int *number);
/* The rules of names. */
qs_status klexpr_variable(Walk *w, const Sym *sym, uint32_t pos, Val *out, bool *found);
qs_status klexpr_outside(Walk *w, const Sym *sym, uint32_t pos, Val *out);
void klexpr_function(Walk *w, Func *f, Val *captures, Val *out);
bool klexpr_cheap(const Node *n); /* may be computed where it is not asked for */
typedef struct Range {
    Num lo, step, hi;
} RangeVal;
qs_status klexpr_range_of(Lower *L, const RangeEnds *b, int i, RangeVal *out); /* of counter i */
/* n is a / b.  Of whole numbers the quotient is computed without the detour over scalars, rounded down or toward zero,
 * and *exact is true; otherwise it is the ordinary one. */
qs_status klexpr_quotient(Lower *L, Node *n, bool down, Val *out, bool *exact);
static inline bool klexpr_is_quotient(const Node *n) { return n->kind == N_BINARY && n->op == OP_DIV; }

/* -- lower_index.c ------------------------------------------------------------------------------------------------- */
extern const PlaceRules klidx_rules;
qs_status klidx_read(Walk *w, Node *n, Val *out);
qs_status klidx_assign(Walk *w, Node *target, const Val *v);
qs_status klidx_update(Walk *w, Node *target, Op op, Node *value);
/* x, of as many elements, as the private array keeps it that is changed in place. */
qs_status klidx_keep(Lower *L, const char *name, const Val *array, const Val *x, Val *out);
qs_status klidx_load_all(Lower *L, const Val *array, Val *out); /* every element of an array with known extents */
qs_status klidx_element(Lower *L, const Val *base, const KRef *at, int n, const char *name, Num *out);
KRef klidx_dim(Lower *L, const Val *v, int d); /* int64; beyond the rank 1; a vec counts as 1xN */
int klidx_ndims(const Val *v);

/* -- lower_call.c -------------------------------------------------------------------------------------------------- */
extern const CallRules klcall_rules;
Callee klcall_callee(Closure *fn);
/* The parameter p of the function that was entered becomes v, as it is declared; checked: no number is lost by that. */
qs_status klcall_bind(Lower *L, const Param *p, bool checked, Val *v);
/* The body of the kernel that was entered, which has no result. */
qs_status klcall_kernel_body(Lower *L);
/* parallel_do or serial_do inside a kernel: loops around the inlined kernel. */
qs_status klcall_launch(Lower *L, const Node *site, const Val *args, int nargs);

/* -- lower_builtin.c ----------------------------------------------------------------------------------------------- */
bool klbuiltin_find(const char *name, int *which);
/* site: the call, or NULL when the function came as a value. */
qs_status klbuiltin_call(Lower *L, int which, Node *site, const Val *args, int nargs, Val *out);

/* -- lower_stmt.c -------------------------------------------------------------------------------------------------- */
extern const WalkRules klstmt_rules;
#endif
