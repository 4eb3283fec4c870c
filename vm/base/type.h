/* type.h -- interned type descriptors: two types are equal when their pointers are.
 *
 * Access modifiers belong to a variable, so they live beside a Type (TypeMods), never in the data. */
#ifndef VM_BASE_TYPE_H
#define VM_BASE_TYPE_H
#include "vm/base/dtype.h"
#include "vm/base/str.h"

typedef enum {
    TY_ANY, /* ?? */
    TY_NUM, /* one number; dtype: scalar, int, uint8, cscalar, bool … */
    TY_STRING,
    TY_ARRAY, /* elem is TY_NUM: a numeric array; any other elem: a cell */
    TY_FN,    /* host or device function; sig in args when written */
    TY_KERNEL,
    TY_OBJECT, /* object(): any dynamic object */
    TY_CLASS,  /* cls: a user class (vm/value/object.h) */
    TY_PTR,    /* ^T; inner */
    TY_UNION,  /* [vec|mat|…]; args */
    TY_TYPE,   /* the type of a type value */
    TY_FOREIGN /* pyvalue */
} TypeKind;

typedef enum { CLASS_IMMUTABLE, CLASS_MUTABLE, CLASS_DYNAMIC } ClassKind;
enum { RANK_ANY = -1 };

struct Type {
    TypeKind kind;
    qs_dtype dtype; /* TY_NUM */
    int8_t rank;    /* TY_ARRAY: 1 vec, 2 mat, 3 cube … 8; RANK_ANY for cube{:} */
    uint8_t nfixed; /* TY_ARRAY: 0, or rank when the size is fixed (vec3, mat2x2, vec(256)) */
    int32_t dims[QS_MAX_RANK];
    const Type *inner; /* TY_ARRAY element, TY_PTR target */
    uint8_t nargs;
    const Type **args;   /* TY_UNION members; TY_FN/TY_KERNEL parameter types */
    Str *name;           /* printed form; for TY_CLASS the name itself */
    struct Class *cls;   /* TY_CLASS: set by the machine */
    const void *generic; /* TY_CLASS: instances of one generic class have the same; NULL: it is no instance */
    uint32_t hash;
    Type *chain;
};

/* Boundary modes; the order is that of KIR's BOUND instruction.  MIRROR repeats the sample at the edge (-1 is 0, -2 is
 * 1), as the library functions with the mode "mirror" do. */
typedef enum { ACC_DEFAULT, ACC_SAFE, ACC_MIRROR, ACC_CIRCULAR, ACC_CLAMPED, ACC_UNCHECKED, ACC_CHECKED } AccessMode;
enum {
    MOD_CONST = 1,
    MOD_NONCONST = 2,
    MOD_HWTEX_NEAREST = 4,
    MOD_HWTEX_LINEAR = 8,
    MOD_HWTEX_CONST = 16,
    MOD_SHARED = 32
};
typedef struct {
    uint8_t access; /* AccessMode */
    uint8_t flags;  /* MOD_* */
} TypeMods;

void qtype_table_init(Ctx *c);
void qtype_table_close(Ctx *c);

const Type *qtype_any(Ctx *c);
const Type *qtype_num(Ctx *c, qs_dtype d);
const Type *qtype_scalar(Ctx *c);                            /* qtype_num of ctx->scalar_dtype */
const Type *qtype_simple(Ctx *c, TypeKind k);                /* STRING OBJECT TYPE FOREIGN … */
const Type *qtype_array(Ctx *c, const Type *elem, int rank); /* rank may be RANK_ANY */
const Type *qtype_fixed(Ctx *c, const Type *elem, int rank, const int32_t *dims);
const Type *qtype_fn(Ctx *c, TypeKind k, const Type **args, int nargs);
const Type *qtype_ptr(Ctx *c, const Type *inner);
const Type *qtype_union(Ctx *c, const Type **args, int nargs);
Type *qtype_class(Ctx *c, Str *name); /* a fresh one each time */

static inline bool qtype_is_numeric_array(const Type *t) { return t->kind == TY_ARRAY && t->inner->kind == TY_NUM; }
static inline bool qtype_is_cell(const Type *t) { return t->kind == TY_ARRAY && t->inner->kind != TY_NUM; }
/* A value of type `given` may stand where `t` is wanted, as it is.  Scalar elements take any floating-point ones, so
 * that foreign float64 arrays pass by reference; a cube takes mat and vec, a mat takes vec; a scalar takes int
 * and bool. */
bool qtype_accepts(const Ctx *c, const Type *t, const Type *given);
const char *qtype_name(const Type *t); /* "scalar", "vec", "cube[uint8]", "vec[mat]", "vec3", "[?? -> ??]" */
/* The predefined names: scalar cscalar int int8 … float64 complex64 bool string vec mat cube cvec … ivec3 vec32 mat2x2
 * cell cellvec object function kernel_function type pyvalue ??.  NULL when the name is none of them. */
const Type *qtype_builtin(Ctx *c, const char *name);
const char *qaccess_name(AccessMode m);
bool qaccess_from_name(const char *name, TypeMods *mods); /* "circular", "hwtex_const", "const" … folds into *mods */
#endif
