/* object.h -- declares the reference-counted objects behind a qs_value, and the operations on all values.
 *
 *     object.c   cells, objects, functions      gc.c      cycles      machine.h  the state of the VM
 *     keymap.c   the keys of objects
 *     trace.h    what the tape records          hooks.h   functions of higher rooms
 *
 * Values may be arrays, so vm/array has the files on all kinds of values: value.c (properties, conversion to a type),
 * convert.c (conversion of element runs between dtypes), format.c (values as text).
 *
 * All of vm, stdlib and bridge call these files.
 *
 * A value has 16 bytes.  Real numbers, truth values and null are stored in it directly.  Everything else is a pointer
 * to a reference-counted object, which is freed when its count reaches 0.  gc.c frees cycles, which reference counts
 * alone never free. */
#ifndef VM_OBJECT_H
#define VM_OBJECT_H
#include "devices/buffer.h"
#include "vm/base/type.h"
#include "vm/value/keymap.h"

/* Opaque here: Func is defined in lang/syntax/ast.h, the others in vm/quasar.h. */
typedef struct Func Func;
struct qs_native_def;
struct qs_foreign_type;

/* Kinds from QS_COMPLEX on hold a reference-counted object in u.p. */
static inline bool qval_is_object(qs_value v) { return v.kind >= QS_COMPLEX; }
static inline qs_value qval_retain(qs_value v) {
    if (qval_is_object(v)) ((Obj *)v.u.p)->refs++;
    return v;
}
void qval_destroy(qs_vm *vm, qs_value v); /* call when the count has reached 0 */
static inline void qval_release(qs_vm *vm, qs_value v) {
    if (qval_is_object(v) && --((Obj *)v.u.p)->refs == 0) qval_destroy(vm, v);
}
static inline qs_value qval_object(qs_kind k, void *p) { /* takes the reference */
    qs_value v = {k, 0, {0}};
    v.u.p = p;
    return v;
}

/* Variants of nil, stored in aux: null, a whole-dimension index (:), a variable that has no value yet, and an index
 * that is a range of integers (SPAN in opcodes.def). */
enum { NIL_NULL = 0, NIL_COLON = 1, NIL_UNSET = 2, NIL_SPAN = 3 };
static inline qs_value qval_colon(void) {
    qs_value v = {QS_NIL, NIL_COLON, {0}};
    return v;
}
static inline bool qval_is_colon(qs_value v) { return v.kind == QS_NIL && v.aux == NIL_COLON; }
/* A span is only found among the indices of an element access.  The first integer, the step and the count are ints, u.i
 * registers behind the span itself. */
static inline bool qval_is_span(qs_value v) { return v.kind == QS_NIL && v.aux == NIL_SPAN; }
static inline const qs_value *qval_span(const qs_value *span) { return span + span->u.i; }
static inline bool qval_is_number(qs_value v) { return v.kind == QS_NUM || v.kind == QS_INT || v.kind == QS_BOOL; }
static inline bool qval_is_scalar(qs_value v) { return qval_is_number(v) || v.kind == QS_COMPLEX; }
static inline double qval_number(qs_value v) { return v.kind == QS_NUM ? v.u.f : (double)v.u.i; } /* v is a number */

typedef struct Complex {
    Obj hdr;
    double re, im;
} Complex;

/* The header of objects that can be part of a cycle; vm/value/gc.c walks the list of all of them. */
typedef struct GcObj {
    Obj hdr;
    struct GcObj *prev, *next;
    /* In a collection of cycles (gc.c, bridge/cycles.c): the number of references that are not explained yet, and then
     * a mark or an index.  In a compiled loop (vm/launch/list_objects.c): the number of the object, which is valid only
     * if the loop's table has this object at that number.  No collection runs between the numbering and the last use of
     * a number. */
    uint32_t trial;
} GcObj;
enum { OBJ_GARBAGE = 0x80 }; /* hdr.flags, while gc.c runs: found unreachable so far */

/* A numeric array.  Row-major; strides count elements.  rank, dims and strides hold the normal form of the shape, which
 * is all that programs see: no trailing extents of 1 beyond the second dimension, and 1xN is a vec of rank 1.  ndim is
 * the number of dimensions that the array was created with; qarr_shape combines both to the shape that Python sees. */
typedef struct Array {
    Obj hdr;
    uint8_t dtype;   /* qs_dtype */
    uint8_t rank;    /* 1..8 */
    uint8_t ndim;    /* at least rank; 0: an array without dimensions, from outside, with one element */
    uint8_t size_of; /* result of size(x): the ndim of x; otherwise 0 */
    bool transposed; /* a column that is the transpose of a vec with one dimension */
    bool contiguous;
    Buffer *buf;
    size_t offset;         /* offset of the first element in buf, in elements */
    size_t count;          /* product of dims */
    struct Trace *trace;   /* while gradients are recorded: the operation that made this array (vm/tape/tape.h); NULL */
    struct Family *family; /* the family of copies that act as views (vm/tape/view.c); NULL: none */
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
} Array;
/* Objects and cells contain arrays, so these four are declared here; vm/array/array.c implements them. */
qs_status qarr_copy(qs_vm *vm, Array *a, Array **out); /* always a new, contiguous array */
void qarr_free(qs_vm *vm, Array *a);                   /* call when the count has reached 0 */
int qarr_normalise(int rank, int64_t *dims);           /* to the normal form, in place; returns the rank */
/* Computes the number of elements; false if the product of the extents other than 0 is no int64_t.  No array has such
 * extents, so code may multiply the extents of one array in any order, even of an empty one. */
bool qarr_multiply_extents(int rank, const int64_t *dims, size_t *count);
enum {                    /* hdr.flags */
       ARRAY_AS_IS = 1,   /* memory that a caller outside of the language passed, which sees what is written to it */
       ARRAY_LITERAL = 2, /* value of an array literal of the program */
       ARRAY_KEPT = 4     /* snapshot of vm/tape/saved_arrays.c, which is never written */
};

enum { CELL_INFERRED = 1 }; /* hdr.flags: elem was inferred from the items of a literal, and widens if necessary */

/* A cell: an array of values.  elem is the declared element type (?? when mixed), checked on every store. */
typedef struct Cell {
    GcObj gc; /* hdr.aux: mark of a converted copy (vm/interp/converted.c); 0: none */
    const Type *elem;
    uint8_t rank;
    int64_t dims[QS_MAX_RANK];
    size_t count, room; /* number of items; number for which there is memory */
    qs_value *items;    /* from qpool_get */
} Cell;

/* A declared field.  given: 1 + slot of the global that holds a computed initial value; 0: the initial value is init.
 */
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
    struct Function *ctors; /* functions of the same name, borrowed; NULL: none */
} Class;

enum { OBJECT_DICTIONARY = 1 }; /* hdr.flags: made as a dictionary: it is printed as one, and is a dict in Python */

/* An instance of a class, or with cls NULL an object() or dict().  Its slots are the declared fields, followed by one
 * for each entry of `keys`: the name of an added field, or another key. */
typedef struct Object {
    GcObj gc;
    Class *cls;
    KeyMap keys;
    qs_value *slots;
    uint32_t nslots, cap;
} Object;

typedef enum { FN_SCRIPT, FN_NATIVE, FN_SET, FN_FOREIGN /* calls captures[0] */ } FunctionKind;
/* How a built-in treats its arguments, for callers from outside: TAKES_EACH works element by element, TAKES_LAUNCH
 * passes them to a kernel, TAKES_EXACT needs numbers with all their digits. */
typedef enum { TAKES_ANY, TAKES_EACH, TAKES_LAUNCH, TAKES_EXACT } Takes;
/* Properties of built-ins; the rows TRAIT of stdlib/builtins.def.  DIM and SIZE: the bit of argument 0, followed by
 * those of arguments 1 to 7; SIZE of argument 7 holds for all further ones. */
typedef enum { TRAIT_UNPACKS = 1, TRAIT_CALLS_ONLY = 2, TRAIT_DIM = 1 << 8, TRAIT_SIZE = 1 << 16 } Trait;
typedef struct Proto Proto;
/* Cache of overload choices: the member of a set that earlier calls chose, by the types of their arguments
 * (vm/interp/call.c). */
enum { MOST_KEYS = 12, MOST_CHOSEN = 4 };
typedef struct {
    uint64_t key[MOST_KEYS]; /* of the arguments, then of the names */
    int n, nnamed;
    bool launch; /* of a kernel, which sets some parameters itself */
    struct Function *fn;
} Chosen;
typedef struct {
    Chosen at[MOST_CHOSEN];
    unsigned next;
    uint64_t types; /* value of Machine.types_defined when the cache was filled */
} Choices;

/* A script closure, a native function, a set of overloads, or a foreign callable. */
typedef struct Function {
    GcObj gc;
    uint8_t fkind;
    uint8_t takes;   /* FN_NATIVE: Takes */
    bool acts;       /* FN_NATIVE: a call may have side effects */
    uint32_t traits; /* FN_NATIVE: bits of Trait */
    Str *name;
    Func *ast;                          /* FN_SCRIPT */
    Proto *proto;                       /* FN_SCRIPT host code; compiled on first call */
    const struct qs_native_def *native; /* FN_NATIVE */
    struct Function **members;
    int nmembers;      /* FN_SET, most recently defined last */
    Choices *choices;  /* FN_SET; NULL: none */
    struct Class *cls; /* FN_SET named like a class: the class to construct if no member accepts the arguments */
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

/* -- the VM: functions for most files; its state is declared in machine.h ------------------------------------------ */
static inline Ctx *qvm_ctx(qs_vm *vm) { return (Ctx *)vm; }
/* Handles pending requests; loops call it when `attention` is set.  Returns QS_EINTERRUPT after qs_interrupt.  May run
 * functions of the program, for events in windows, and Python code. */
qs_status qvm_attend(qs_vm *vm);
bool qvm_take_interrupt(qs_vm *vm); /* returns whether qs_interrupt was called since the last query */
/* For signal handlers: if a driver waits for a kernel, which cannot be interrupted, reports this once on stderr,
 * together with the text what_follows.  Returns true if this wait has been reported before. */
bool qvm_is_stuck(qs_vm *vm, const char *what_follows);

void qvm_report_calls(qs_vm *vm); /* adds the current call chain to the report of a source text that was refused */

/* Program output, in order with everything else on fd 1. */
void qvm_write(qs_vm *vm, const char *s, size_t n);
void qvm_flush(qs_vm *vm);
void qvm_diagnostic(qs_vm *vm, const char *s, size_t n); /* writes to fd 2, after pending output */

/* -- value.c: properties of any value ------------------------------------------------------------------------------ */
const Type *qval_type(qs_vm *vm, qs_value v);      /* null has type ?? */
const char *qval_type_name(qs_vm *vm, qs_value v); /* "null", "vec", "point"; lives as long as vm */
bool qval_takes(const Function *f, int nargs);     /* f accepts a call with nargs arguments */
/* The numbers of arguments that f takes; *most -1: no upper limit.  false: a set or a foreign function. */
bool qval_arity(const Function *f, int *least, int *most);
bool qval_is_type(qs_vm *vm, qs_value v, const Type *t); /* v fits an annotation t without conversion */
/* Converts v for assignment to a variable declared t.  Numbers convert (scalar to int truncates, with a warning if out
 * of range), arrays of other real elements are converted into a new array.  Otherwise QS_ETYPE, which names `what`. */
qs_status qval_coerce(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out);
/* Converts v for a parameter of a function: like qval_coerce, but a number that an integer type would change gives
 * QS_EVALUE. */
qs_status qval_pass(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out);
bool qval_holds(qs_dtype integer, qs_value number);     /* the integer type represents the number exactly */
qs_status qval_truth(qs_vm *vm, qs_value v, bool *out); /* numbers: != 0; arrays: all (empty: false); else QS_ETYPE */
bool qval_equal(qs_vm *vm, qs_value a, qs_value b);     /* match, cell comparison: same contents */
qs_status qval_complex(qs_vm *vm, double re, double im, qs_value *out);
qs_status qval_string(qs_vm *vm, const char *s, size_t n, qs_value *out);
qs_status qval_text(qs_vm *vm, Text *t, qs_status made, qs_value *out); /* string of t if made is QS_OK; frees t */
/* Copies an array, cell or object: same contents, separate storage; items of a cell or object are shared. */
qs_status qval_copy(qs_vm *vm, qs_value v, qs_value *out);
qs_status qval_zero(qs_vm *vm, const Type *t, qs_value *out); /* initial value of type t: 0, "", [], null */
/* Evaluates a call of a type: vec[mat](4), mat(3,3), int(2.7). */
qs_status qval_construct(qs_vm *vm, const Type *t, int n, const qs_value *args, qs_value *out);

/* -- object.c ------------------------------------------------------------------------------------------------------ */
/* Items are initialized with the zero of elem (qval_zero); the shape is normalized. */
qs_status qcell_new(qs_vm *vm, const Type *elem, int rank, const int64_t *dims, Cell **out);
qs_status qcell_copy(qs_vm *vm, const Cell *c, int rank, const int64_t *dims, qs_value *out); /* shares the items */
qs_status qcell_store(qs_vm *vm, Cell *c, size_t linear, qs_value v); /* converts v to elem, or QS_ETYPE */
/* Inserts v before item `at` (count: at the end) of a cell of one row; at the end in constant time on average. */
qs_status qcell_insert(qs_vm *vm, Cell *c, size_t at, qs_value v);
qs_status qcell_resize(qs_vm *vm, Cell *c,
                       size_t count); /* of rank 1, with items that own nothing; new ones are unset */
qs_status qcell_remove(qs_vm *vm, Cell *c, size_t at, qs_value *out); /* out: the item, a new reference */
/* Copies the fields and owns their init values. */
Class *qclass_new(qs_vm *vm, Str *name, ClassKind kind, int nfields, const Field *fields);
void qclass_free(qs_vm *vm, Class *cls);
qs_status qobj_initial(qs_vm *vm, const Class *cls, int field, qs_value *out); /* null: none; QS_ENAME: not set yet */
qs_status qobj_new(qs_vm *vm, Class *cls, Object **out); /* fields get init, else the zero of their type */
qs_status qobj_new_dictionary(qs_vm *vm, Object **out);
static inline bool qobj_is_dictionary(const Object *o) { return o->gc.hdr.flags & OBJECT_DICTIONARY; }
qs_status qobj_get(qs_vm *vm, Object *o, Str *name, qs_value *out); /* QS_ENAME with did-you-mean */
qs_status qobj_set(qs_vm *vm, Object *o, Str *name, qs_value v);    /* QS_EVALUE when the class is immutable */
qs_status qobj_init(qs_vm *vm, Object *o, Str *name, qs_value v);   /* for constructors: immutable fields too */
bool qobj_has(const Object *o, Str *name);
/* Enumerates the fields, declared ones first: call with i = 0, 1, … until it returns false.  Results are borrowed. */
bool qobj_entry(const Object *o, uint32_t i, qs_value *key, qs_value *value);
/* The same for objects whose keys are names; *name is NULL for another key. */
bool qobj_field(const Object *o, uint32_t i, Str **name, qs_value *value);
/* QS_ETYPE, with a message that begins with `what`, if a key is not a string. */
qs_status qobj_check_names(qs_vm *vm, const Object *o, const char *what);
uint32_t qobj_count(const Object *o);
/* Access by key: a string is the name of a field.  Classes other than dynamic ones have no keys. */
bool qobj_has_keys(const Object *o);
qs_status qobj_find(qs_vm *vm, Object *o, qs_value key, qs_value *out, bool *found); /* out: a new reference */
qs_status qobj_get_key(qs_vm *vm, Object *o, qs_value key, qs_value *out);           /* QS_ENAME: absent */
/* Returns the value of an entry of a dictionary without a class, to read or replace it before anything else happens.
 * NULL: there is none, or the key is neither a string nor a number. */
qs_value *qobj_value(qs_vm *vm, const Object *o, qs_value key);
qs_status qobj_set_key(qs_vm *vm, Object *o, qs_value key, qs_value v);
qs_status qobj_remove(qs_vm *vm, Object *o, qs_value key, qs_value *out); /* out: its value, a new reference */
qs_status qobj_keys(qs_vm *vm, const Object *o, qs_value *out);           /* a cell of copies of the keys */
Function *qfn_native(qs_vm *vm, const struct qs_native_def *def);
Function *qfn_foreign(qs_vm *vm, Str *name, qs_value callee); /* wraps a foreign value as a function */
Function *qfn_script(qs_vm *vm, Func *ast, int ncaptures);    /* captures start as null */
Function *qfn_set(qs_vm *vm, Str *name);
void qfn_set_add(qs_vm *vm, Function *set, Function *member); /* retains member */
Foreign *qobj_foreign(qs_vm *vm, const struct qs_foreign_type *ftype, void *p);
qs_value qobj_type(qs_vm *vm, const Type *t, TypeMods mods); /* a type as a value */

/* -- gc.c ---------------------------------------------------------------------------------------------------------- */
void qgc_track(qs_vm *vm, GcObj *o); /* may collect first */
void qgc_untrack(qs_vm *vm, GcObj *o);
size_t qgc_collect(qs_vm *vm); /* frees unreachable cycles; returns the number of freed objects */
/* Calls f for every value that o holds a reference to. */
void qgc_children(GcObj *o, void (*f)(void *ud, qs_value child), void *ud);

/* -- format.c ------------------------------------------------------------------------------------------------------ */
qs_status qfmt_value(qs_vm *vm, qs_value v, Text *t); /* complete, as for print */
qs_status qfmt_brief(qs_vm *vm, qs_value v, Text *t); /* for the prompt: corners of big arrays, strings quoted */
qs_status qfmt_made(qs_vm *vm, qs_value v, bool is_brief, Text *t); /* for Python: arrays with their qarr_shape */
/* C-like formatting of language.md 4.7: printf, sprintf. */
qs_status qfmt_printf(qs_vm *vm, const char *fmt, size_t n, int nargs, const qs_value *args, Text *t);

/* -- interp.c / module.c ------------------------------------------------------------------------------------------- */
/* Calls any callable value.  nout < 0: at most one result, in out[0]; nil if there is none. */
qs_status qvm_call(qs_vm *vm, qs_value fn, int nin, const qs_value *in, int nout, qs_value *out);
typedef struct CallArgs { /* arguments of a call; the last nnamed of the nin arguments were written name := value */
    int nin;
    qs_value *in;
    int nnamed;
    Str *const *names;
    uint64_t integral; /* bit per argument: written as a constant integral number (qfold_integral), or a Python int */
} CallArgs;
qs_status qvm_call_named(qs_vm *vm, qs_value fn, const CallArgs *a, int nout, qs_value *out);
/* Returns the declared type of parameter i; NULL: none, or it depends on the call. */
const Type *qvm_param_type(qs_vm *vm, const Func *f, int i);
/* Returns the source location of the running instruction; src is NULL if no script runs. */
Where qvm_here(qs_vm *vm);
Where qvm_here_of_script(qs_vm *vm); /* the same, of the innermost function that is not of the library */
/* Defines a built-in function or constant, which every module sees; takes the reference. */
void qvm_builtin(qs_vm *vm, const char *name, qs_value v);
/* Parses a type, as in type(x, "cube[uint8]"); user classes and aliases are looked up in the session module. */
qs_status qvm_type_named(qs_vm *vm, const char *text, size_t n, const Type **out, TypeMods *mods);
/* Returns the script file that was started ("": none), and its folder. */
const char *qvm_script(qs_vm *vm, const char **folder);
qs_status qvm_lookup(qs_vm *vm, const char *name, qs_value *out); /* session module, then built-ins; a new reference */
qs_status qvm_lookup_builtin(qs_vm *vm, const char *name, qs_value *out); /* ignores redefinitions by programs */
/* Looks up a top-level definition only in the module that was loaded under the name `module`. */
qs_status qvm_lookup_in(qs_vm *vm, const char *module, const char *name, qs_value *out);
/* Returns whether some program has a variable of that name; functions and built-ins do not count. */
bool qvm_is_variable(qs_vm *vm, const char *name);
/* Assigns to a variable of the module that already has a value and is not a function.  module NULL: to the variable
 * that qvm_lookup finds. */
qs_status qvm_assign_in(qs_vm *vm, const char *module, const char *name, qs_value v);
/* Calls f for every name that qvm_lookup_in finds, or qvm_lookup if module is NULL. */
void qvm_each_name(qs_vm *vm, const char *module, void (*f)(void *ud, const char *name), void *ud);
#endif
