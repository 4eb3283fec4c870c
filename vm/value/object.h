/* object.h -- the counted objects behind a qs_value, and what can be done with any value.
 *
 *     value.c    questions about any value, conversion to a type     convert.c  runs of elements between element types
 *     object.c   cells, objects, functions: made and ended           format.c   values as text
 *
 * Values come in; values, texts and truths go out.  All of vm, stdlib and bridge call these files.
 *
 * A value has 16 bytes.  Real numbers, truth values and null are in it; everything else is an object that counts who
 * refers to it, and goes when nobody does.  Cycles, which counts alone never free, are found by gc.c. */
#ifndef VM_OBJECT_H
#define VM_OBJECT_H
#include "devices/buffer.h"
#include "vm/base/type.h"

/* Known by pointer alone: of the tree (lang/syntax/ast.h) and of the interface (vm/quasar.h). */
typedef struct Func Func;
struct qs_native_def;
struct qs_foreign_type;

/* Kinds from QS_COMPLEX on hold a counted object in u.p. */
static inline bool qval_is_object(qs_value v) { return v.kind >= QS_COMPLEX; }
static inline qs_value qval_retain(qs_value v) {
    if (qval_is_object(v)) ((Obj *)v.u.p)->refs++;
    return v;
}
void qval_destroy(qs_vm *vm, qs_value v); /* its count reached 0 */
static inline void qval_release(qs_vm *vm, qs_value v) {
    if (qval_is_object(v) && --((Obj *)v.u.p)->refs == 0) qval_destroy(vm, v);
}
static inline qs_value qval_object(qs_kind k, void *p) { /* takes the reference */
    qs_value v = {k, 0, {0}};
    v.u.p = p;
    return v;
}

/* Nil has variants, told apart by aux: a whole-dimension index (:) and a name that has no value yet. */
enum { NIL_NULL = 0, NIL_COLON = 1, NIL_UNSET = 2 };
static inline qs_value qval_colon(void) {
    qs_value v = {QS_NIL, NIL_COLON, {0}};
    return v;
}
static inline bool qval_is_colon(qs_value v) { return v.kind == QS_NIL && v.aux == NIL_COLON; }
static inline bool qval_is_number(qs_value v) { return v.kind == QS_NUM || v.kind == QS_INT || v.kind == QS_BOOL; }
static inline double qval_number(qs_value v) { return v.kind == QS_NUM ? v.u.f : (double)v.u.i; } /* if it is_number */

typedef struct Complex {
    Obj hdr;
    double re, im;
} Complex;

/* Objects that can be part of a cycle begin with a GcObj; vm/value/gc.c walks the list of all of them. */
typedef struct GcObj {
    Obj hdr;
    struct GcObj *prev, *next;
    uint32_t trial;
} GcObj;
enum { OBJ_GARBAGE = 0x80 }; /* hdr.flags, while gc.c runs: found unreachable so far */

/* A numeric array.  Row-major; strides count elements.  rank, dims and strides are its normal form, all that programs
 * look at: no trailing extent of 1 beyond the second dimension, and 1xN is a vec of rank 1.  ndim is how many
 * dimensions it was made with: from these two qarr_shape gives the shape that others see. */
typedef struct Array {
    Obj hdr;
    uint8_t dtype;   /* qs_dtype */
    uint8_t rank;    /* 1..8 */
    uint8_t ndim;    /* at least rank; 0: one element without dimensions, from outside */
    uint8_t size_of; /* a list that size(x) has made: the ndim of x; else 0 */
    bool turned;     /* a column that transpose has made of a vec of one dimension */
    bool contiguous;
    Buffer *buf;
    size_t offset;       /* of the first element, in elements */
    size_t count;        /* product of dims */
    struct Trace *trace; /* of which operation this is the result, while derivatives are taken (vm/tape/tape.h); NULL */
    struct Family *family; /* of copies where views are meant (vm/tape/view.c); NULL */
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
} Array;
enum {                    /* hdr.flags */
       ARRAY_AS_IS = 1,   /* memory that somebody wants used in place; it is never converted implicitly */
       ARRAY_LITERAL = 2, /* as it is written in the program */
       ARRAY_KEPT = 4     /* a snapshot of vm/tape/saved_arrays.c; it is never written */
};

enum { CELL_INFERRED = 1 }; /* hdr.flags: elem was seen in the items of a literal, and widens when it must */

/* A cell: an array of values.  elem is the declared element type (?? when mixed), checked on every store. */
typedef struct Cell {
    GcObj gc;
    const Type *elem;
    uint8_t rank;
    int64_t dims[QS_MAX_RANK];
    size_t count;
    qs_value *items; /* count of them, from qpool_get */
} Cell;

/* given: 1 + the global that has the initial value, when that is computed; 0: it is init. */
typedef struct Field {
    Str *name;
    const Type *type;
    qs_value init;
    int given;
} Field;
typedef struct Class {
    Str *name;
    ClassKind kind;
    Type *type;
    Field *fields;
    int nfields;
    Map index;              /* name -> field number */
    struct Function *ctors; /* functions of the same name, borrowed; NULL when there are none */
} Class;

typedef struct Object { /* cls NULL: object(), fields in `dynamic` (values are indices into slots) */
    GcObj gc;
    Class *cls;
    Map dynamic;
    qs_value *slots;
    uint32_t nslots, cap;
} Object;

typedef enum { FN_SCRIPT, FN_NATIVE, FN_SET, FN_FOREIGN /* calls captures[0] */ } FunctionKind;
/* What a built-in does with its arguments, where a caller from outside has to know: arrays meet element by element;
 * they go to a kernel; numbers are wanted with all their digits. */
typedef enum { TAKES_ANY, TAKES_EACH, TAKES_LAUNCH, TAKES_EXACT } Takes;
typedef struct Proto Proto;
/* Of a set: which member calls have chosen before, by the types of their arguments (vm/interp/call.c). */
enum { MOST_KEYS = 6, MOST_CHOSEN = 4 };
typedef struct {
    uint64_t key[MOST_KEYS];
    int n;
    struct Function *fn;
} Chosen;
typedef struct {
    Chosen at[MOST_CHOSEN];
    unsigned next;
    uint64_t types; /* Machine.types_defined of then */
} Choices;

typedef struct Function { /* script closure, native, or a set of overloads */
    GcObj gc;
    uint8_t fkind;
    uint8_t takes; /* FN_NATIVE: Takes */
    bool unpacks;  /* FN_NATIVE: its one result is documented to be unpacked, [m, n] = size(x) */
    bool acts;     /* FN_NATIVE: a call may have an effect besides its results */
    Str *name;
    Func *ast;                          /* FN_SCRIPT */
    Proto *proto;                       /* FN_SCRIPT host code; compiled on first call */
    const struct qs_native_def *native; /* FN_NATIVE */
    struct Function **members;
    int nmembers;      /* FN_SET, most recently defined last */
    Choices *choices;  /* FN_SET; NULL: none */
    struct Class *cls; /* FN_SET named like a class: constructs it when no member takes the arguments */
    int ncaptures;
    qs_value captures[]; /* in the order of ast->captures */
} Function;

typedef struct TypeValue {
    Obj hdr;
    const Type *type;
    TypeMods mods;
    struct Class *cls;
} TypeValue;
typedef struct Foreign {
    GcObj gc;
    const struct qs_foreign_type *ftype;
    void *p;
} Foreign;

/* -- the machine, as most see it; the rest of it is in machine.h --------------------------------------------------- */
static inline Ctx *qvm_ctx(qs_vm *vm) { return (Ctx *)vm; }
/* What a loop does when it finds `attention` set: QS_EINTERRUPT after qs_interrupt.  May run functions of the program,
 * for what happened in windows, and code of Python. */
qs_status qvm_attend(qs_vm *vm);
bool qvm_take_interrupt(qs_vm *vm); /* whether qs_interrupt was called since it was asked last */
/* For handlers of signals: where a driver waits for a kernel, which nothing stops, says so on the standard error, with
 * what follows from it, once.  True: it has been said before, of this wait. */
bool qvm_is_stuck(qs_vm *vm, const char *what_follows);

void qvm_report_calls(qs_vm *vm); /* adds the calls that have led here to the report of a text that was refused */

/* Program output, in order with everything else on fd 1. */
void qvm_write(qs_vm *vm, const char *s, size_t n);
void qvm_flush(qs_vm *vm);
void qvm_diagnostic(qs_vm *vm, const char *s, size_t n); /* fd 2, after what is pending */

/* -- value.c: questions about any value ---------------------------------------------------------------------------- */
const Type *qval_type(qs_vm *vm, qs_value v);            /* null has type ?? */
const char *qval_type_name(qs_vm *vm, qs_value v);       /* "null", "vec", "point"; lives as long as vm */
bool qval_takes(const Function *f, int nargs);           /* a call with so many arguments */
bool qval_is_type(qs_vm *vm, qs_value v, const Type *t); /* x fits an annotation t without conversion */
/* Assignment to something declared t: numbers convert (scalar to int truncates, with a warning beyond it), arrays of
 * other real elements are converted into a new array, else QS_ETYPE naming `what`. */
qs_status qval_coerce(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out);
/* The same for a parameter of a function: a number that an integer type would change is QS_EVALUE. */
qs_status qval_pass(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out);
bool qval_holds(qs_dtype integer, qs_value number);     /* whether an integer of that type is the number */
qs_status qval_truth(qs_vm *vm, qs_value v, bool *out); /* numbers: != 0; arrays: all (empty: false); else QS_ETYPE */
bool qval_equal(qs_vm *vm, qs_value a, qs_value b);     /* match, cell comparison: same contents */
qs_status qval_complex(qs_vm *vm, double re, double im, qs_value *out);
qs_status qval_string(qs_vm *vm, const char *s, size_t n, qs_value *out);
qs_status qval_text(qs_vm *vm, Text *t, qs_status made, qs_value *out); /* a string of t, if it was made; frees t */
/* Of an array, cell or object: the same contents and storage of its own; what is in a cell or object is shared. */
qs_status qval_copy(qs_vm *vm, qs_value v, qs_value *out);
qs_status qval_zero(qs_vm *vm, const Type *t, qs_value *out); /* what a variable of type t starts as: 0, "", [], null */
/* A type called: vec[mat](4), mat(3,3), int(2.7). */
qs_status qval_construct(qs_vm *vm, const Type *t, int n, const qs_value *args, qs_value *out);

/* -- object.c ------------------------------------------------------------------------------------------------------ */
/* Items start as zero of elem (qval_zero), the shape is normalised. */
qs_status qcell_new(qs_vm *vm, const Type *elem, int rank, const int64_t *dims, Cell **out);
qs_status qcell_copy(qs_vm *vm, const Cell *c, int rank, const int64_t *dims, qs_value *out); /* with the same items */
qs_status qcell_store(qs_vm *vm, Cell *c, size_t linear, qs_value v); /* converts to elem, QS_ETYPE */
/* Copies the fields and owns their init values. */
Class *qclass_new(qs_vm *vm, Str *name, ClassKind kind, int nfields, const Field *fields);
void qclass_free(qs_vm *vm, Class *cls);
qs_status qobj_initial(qs_vm *vm, const Class *cls, int field, qs_value *out); /* null: none; QS_ENAME: not yet */
qs_status qobj_new(qs_vm *vm, Class *cls, Object **out);            /* fields: init, else zero of their type */
qs_status qobj_get(qs_vm *vm, Object *o, Str *name, qs_value *out); /* QS_ENAME with did-you-mean */
qs_status qobj_set(qs_vm *vm, Object *o, Str *name, qs_value v);    /* QS_EVALUE when the class is immutable */
qs_status qobj_init(qs_vm *vm, Object *o, Str *name, qs_value v);   /* for constructors: immutable fields too */
bool qobj_has(const Object *o, Str *name);
/* Fields in order, declared ones first: index i from 0 until it returns false. */
bool qobj_field(const Object *o, uint32_t i, Str **name, qs_value *value);
uint32_t qobj_count(const Object *o);
Function *qfn_native(qs_vm *vm, const struct qs_native_def *def);
Function *qfn_foreign(qs_vm *vm, Str *name, qs_value callee); /* a foreign value as a function */
Function *qfn_script(qs_vm *vm, Func *ast, int ncaptures);    /* captures start as null */
Function *qfn_set(qs_vm *vm, Str *name);
void qfn_set_add(qs_vm *vm, Function *set, Function *member); /* retains member */
Foreign *qobj_foreign(qs_vm *vm, const struct qs_foreign_type *ftype, void *p);
qs_value qobj_type(qs_vm *vm, const Type *t, TypeMods mods); /* a type as a value */

/* -- gc.c ---------------------------------------------------------------------------------------------------------- */
void qgc_track(qs_vm *vm, GcObj *o); /* may collect first */
void qgc_untrack(qs_vm *vm, GcObj *o);
size_t qgc_collect(qs_vm *vm); /* frees unreachable cycles; how many went */
/* Calls f for every value that o holds a reference to. */
void qgc_children(GcObj *o, void (*f)(void *ud, qs_value child), void *ud);

/* -- format.c ------------------------------------------------------------------------------------------------------ */
qs_status qfmt_value(qs_vm *vm, qs_value v, Text *t); /* as print shows it: everything */
qs_status qfmt_brief(qs_vm *vm, qs_value v, Text *t); /* for the prompt: big arrays by corners, strings quoted */
qs_status qfmt_made(qs_vm *vm, qs_value v, bool is_brief, Text *t); /* for Python: arrays in their own shape */
/* C-like formatting of language.md 4.7: printf, sprintf. */
qs_status qfmt_printf(qs_vm *vm, const char *fmt, size_t n, int nargs, const qs_value *args, Text *t);

/* -- interp.c / module.c ------------------------------------------------------------------------------------------- */
/* Calls any callable value.  nout < 0: one result in out[0], nil when there is none. */
qs_status qvm_call(qs_vm *vm, qs_value fn, int nin, const qs_value *in, int nout, qs_value *out);
typedef struct { /* arguments of a call; the last nnamed of nin were written name := value */
    int nin;
    qs_value *in;
    int nnamed;
    Str *const *names;
} CallArgs;
qs_status qvm_call_named(qs_vm *vm, qs_value fn, const CallArgs *a, int nout, qs_value *out);
/* The declared type of parameter i; NULL: none, or one that depends on the call. */
const Type *qvm_param_type(qs_vm *vm, const Func *f, int i);
/* What is being executed now; its src is NULL when that is no script. */
Where qvm_here(qs_vm *vm);
/* A built-in function or constant, seen by every module; takes the reference. */
void qvm_builtin(qs_vm *vm, const char *name, qs_value v);
/* The type that text names, as in type(x, "cube[uint8]"); user classes and aliases are those of the session module. */
qs_status qvm_type_named(qs_vm *vm, const char *text, size_t n, const Type **out, TypeMods *mods);
/* The file that was started, "" when there is none, and its folder. */
const char *qvm_script(qs_vm *vm, const char **folder);
qs_status qvm_lookup(qs_vm *vm, const char *name, qs_value *out); /* session module, then built-ins; a new reference */
qs_status qvm_lookup_builtin(qs_vm *vm, const char *name, qs_value *out); /* whatever programs mean by the name */
/* Of the module that was loaded under the name `module` alone: what it defines at its top level. */
qs_status qvm_lookup_in(qs_vm *vm, const char *module, const char *name, qs_value *out);
/* Whether some program has a variable of that name: no function, nor what is built in. */
bool qvm_is_variable(qs_vm *vm, const char *name);
/* To a variable of it that has a value; not to a function.  module NULL: to that which qvm_lookup finds. */
qs_status qvm_assign_in(qs_vm *vm, const char *module, const char *name, qs_value v);
/* Every name that one of these finds: qvm_lookup when module is NULL. */
void qvm_each_name(qs_vm *vm, const char *module, void (*f)(void *ud, const char *name), void *ud);
#endif
