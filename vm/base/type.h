/* type.h -- declares interned type descriptors: two types are equal if and only if their pointers are equal.
 *
 * Access modifiers belong to a variable, not to its type or its data.  They are stored next to a Type, as TypeMods. */
#ifndef VM_BASE_TYPE_H
#define VM_BASE_TYPE_H
#include "vm/base/dtype.h"
#include "vm/base/str.h"

typedef enum {
    TY_ANY, /* ?? */
    TY_NUM, /* one number; dtype: scalar, int, uint8, cscalar, bool … */
    TY_STRING,
    TY_ARRAY, /* inner is TY_NUM: a numeric array; any other inner: a cell */
    TY_FN,    /* host or device function; args holds the signature if one is written */
    TY_KERNEL,
    TY_OBJECT, /* object(): any dynamic object */
    TY_CLASS,  /* user class, in cls (vm/value/object.h) */
    TY_PTR,    /* ^T, with T in inner */
    TY_UNION,  /* [vec|mat|…], with the members in args */
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
    Str *name;           /* printed form; for TY_CLASS the class name */
    struct Class *cls;   /* TY_CLASS: set by the VM */
    const void *generic; /* TY_CLASS: identifies the generic class of an instance; NULL: not an instance of one */
    uint32_t hash;
    Type *chain;
};

typedef enum {
    ACC_DEFAULT,
#define ACCESS(name, ...) ACC_##name,
#include "vm/base/access.def"
    ACC__COUNT
} AccessMode;
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
const Type *qtype_scalar(Ctx *c);                            /* qtype_num(c, c->scalar_dtype) */
const Type *qtype_simple(Ctx *c, TypeKind k);                /* STRING OBJECT TYPE FOREIGN … */
const Type *qtype_array(Ctx *c, const Type *elem, int rank); /* rank may be RANK_ANY */
const Type *qtype_fixed(Ctx *c, const Type *elem, int rank, const int32_t *dims);
const Type *qtype_fn(Ctx *c, TypeKind k, const Type **args, int nargs);
const Type *qtype_ptr(Ctx *c, const Type *inner);
const Type *qtype_union(Ctx *c, const Type **args, int nargs);
Type *qtype_class(Ctx *c, Str *name); /* returns a new type on each call */

static inline bool qtype_is_numeric_array(const Type *t) { return t->kind == TY_ARRAY && t->inner->kind == TY_NUM; }
static inline bool qtype_is_cell(const Type *t) { return t->kind == TY_ARRAY && t->inner->kind != TY_NUM; }
/* Returns whether a value of type `given` can be used without conversion where type `t` is expected.  An array of
 * scalar accepts any floating-point elements, so that foreign float64 arrays pass by reference.  A cube accepts mat
 * and vec, a mat accepts vec, a scalar accepts int and bool. */
bool qtype_accepts(const Ctx *c, const Type *t, const Type *given);
const char *qtype_name(const Type *t); /* "scalar", "vec", "cube[uint8]", "vec[mat]", "vec3", "[?? -> ??]" */
/* Returns the type with a predefined name: scalar cscalar int int8 … float64 complex64 bool string vec mat cube cvec …
 * ivec3 vec32 mat2x2 cell cellvec object function kernel_function type pyvalue ??.  NULL for any other name. */
const Type *qtype_builtin(Ctx *c, const char *name);
/* Float indices are limited to this range, far outside of all arrays, so that no sum of them wraps.  A float holds the
 * limits exactly. */
#define QINDEX_LEAST (-QINDEX_MOST)
#define QINDEX_MOST  (INT64_C(1) << 61)
const char *qaccess_name(AccessMode m);
bool qaccess_is_mapped(AccessMode m);                     /* the mode brings each index into the array (access.def) */
bool qaccess_from_name(const char *name, TypeMods *mods); /* adds "circular", "hwtex_const", "const" … to *mods */
#endif
