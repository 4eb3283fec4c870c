/* spec_key.h -- captured values of a specialization: where each is found, and its specialization key.
 *
 * A specialization is used again if each captured value has the same key as before.  The key consists of the known
 * properties (facts) of the value, and contains only those that the code relies on:
 *
 *                     numbers                        arrays                                      strings, types
 *     a kernel        integral, of 24, 31, 53 bits   element type, rank, contiguous, unit last   which
 *     a loop          integral, of 20, 31 bits, -0   the same; aligned, writable, small extents  ASCII, length 1
 *     an expression   nothing                        element type                                nothing
 *
 * For functions the key is the function itself, for objects the class.  In addition, code may be compiled for a known
 * value: an extent, a number, a string, or all elements of a small array; or for a number or extent of at least 1. */
#ifndef VM_SPEC_KEY_H
#define VM_SPEC_KEY_H
#include "vm/interp/proto.h"

enum { MAX_ENTRIES = 256, MAX_CHANNELS = 4 };

typedef enum { SPEC_KERNEL, SPEC_LOOP, SPEC_EXPRESSION } SpecKind;

enum { /* bits of the key.  For a number: it is integral and at most 2^20, 2^24, 2^31, 2^53; INT: below 2^31 */
       NUM_20 = 1,
       NUM_24 = 2,
       NUM_INT = 4,
       NUM_31 = 8,
       NUM_53 = 16,
       NUM_MINUS_ZERO = 32,
       ARRAY_DTYPE = 0xff,
       ARRAY_RANK = 0xff00, /* for an array; SMALL: each extent is at most 2^20 */
       ARRAY_GAPLESS = 1 << 16,
       ARRAY_UNIT_LAST = 1 << 17,
       ARRAY_ALIGNED = 1 << 18,
       ARRAY_WRITABLE = 1 << 19,
       ARRAY_SMALL = 1 << 20,
       TEXT_ASCII = 1, /* for a string; CHAR: a single ASCII character */
       TEXT_CHAR = 2
};

/* Where a captured value is found: at the running function (Site), or inside the value of an earlier entry. */
typedef enum { FROM_FUNCTION, FROM_LOCAL, FROM_GLOBAL, FROM_CAPTURE, FROM_FIELD, FROM_MEMBER, FROM_ITEM } From;
typedef struct {
    Function *fn;
    const qs_value *locals;
} Site; /* locals: registers of a frame, or arguments of a kernel */

/* The common properties of all items of a cell of one row. */
typedef struct {
    int kind;  /* their qs_kind; -1: it is empty; -2: see qkey_know_list */
    int dtype; /* of arrays: their element type and number of elements */
    size_t count;
    const Class *cls; /* of objects; NULL: they are none */
} ItemKey;

typedef struct {
    uint8_t from;          /* From */
    uint8_t dims_known;    /* bit d: the code was compiled for extent d of the array */
    bool value_known;      /* the code was compiled for the number, the string, or all elements of a small array */
    bool by_value;         /* an array whose elements are passed as number parameters */
    bool sole;             /* the code was compiled for an array that nothing else refers to */
    bool any_number;       /* the code is right for any QS_NUM: the key has no other property of it */
    bool list;             /* the code was compiled for a cell with these items */
    bool positive;         /* the code was compiled for a number that is at least 1 */
    uint8_t dims_positive; /* bit d: the code was compiled for at least 1 element along dimension d of the array */
    ItemKey items;
    bool own; /* a field that the kernel sets: the launch has an array of its own for it (pack.h) */
    /* FROM_CAPTURE, FROM_FIELD, FROM_MEMBER, FROM_ITEM: index of the entry of the function, object or cell; -1: the
     * Site */
    int parent;
    int index;       /* FROM_ITEM: index of the entry that contains the item number, or -1 - item number */
    const Str *name; /* FROM_FIELD: name of the field */
    uint64_t facts;
    double num[2], *vec;       /* the known number; the known elements */
    int64_t dims[QS_MAX_RANK]; /* the known extents */
    qs_value kept;             /* a reference to the function set or string if `facts` contains its address or hash */
} Captured;

/* The captured values of a specialization that is being made, with their current values. */
typedef struct {
    qs_vm *vm;
    Site site;
    SpecKind spec_kind;
    bool many; /* there are several specializations already: compile in only values that must be known */
    Captured at[MAX_ENTRIES];
    qs_value value[MAX_ENTRIES];
    int n;
} CapturedList;

/* Marks a number that a derivative is requested for and whose trace was removed.  The compiler treats it as not
 * integral whatever its value is, since integer arithmetic has no derivative. */
enum { NUM_SMOOTH = 1 }; /* aux of a QS_NUM; only among captured values */
static inline qs_value qkey_smooth(qs_value v) {
    if (v.kind == QS_NUM) v.aux = NUM_SMOOTH;
    return v;
}

/* -- spec_key.c ---------------------------------------------------------------------------------------------------- */
/* The most elements of a pixel or point whose number is compiled in.  Code that is compiled ahead is for any number. */
int qkey_channels(qs_vm *vm);
uint64_t qkey_facts(qs_value v, SpecKind t);
/* Returns how many bits an integral number needs, in the steps that kernels distinguish: 24, 31, 53; 0: not
 * integral. */
int qkey_bits(qs_value v);
static inline bool qkey_unit_last(const Array *a) { return a->strides[a->rank - 1] == 1 || a->dims[a->rank - 1] <= 1; }
double qkey_element(qs_vm *vm, Array *a, size_t i);
void qkey_know_extent(Captured *e, const Array *a, int axis);
const Str *qkey_know_text(Captured *e, qs_value string);
void qkey_know_overloads(Captured *e, qs_value set); /* which functions the set has */
void qkey_any_number(Captured *e);
void qkey_know_number(Captured *e, qs_value v); /* v: a real number of at most 53 bits, or an int of as many */
/* Whether nothing but the captured variable refers to the array or its memory; true: it becomes part of the key. */
bool qkey_know_sole(Captured *e, const Array *a);
/* Whether the number, or the extent `axis` of the array, is at least 1; true: it becomes part of the key. */
bool qkey_know_positive(Captured *e, qs_value v, int axis);
/* Makes the kind of the items of a cell part of the key.  false (-2): they are neither numbers of one kind, in a cell
 * that a loop may change, nor objects of one class with fixed fields, nor real vectors of one length and type. */
bool qkey_know_list(Captured *e, qs_value cell);
/* Does v have the key of e, and the known values that the code was compiled for? */
bool qkey_agrees(qs_vm *vm, const Captured *e, qs_value v, SpecKind t);

/* -- captured.c ---------------------------------------------------------------------------------------------------- */
qs_value qcaptured_given(qs_vm *vm, const Captured *e, const Site *s, const qs_value *before);
qs_value qcaptured_value(qs_vm *vm, const Captured *e, const Site *s, const qs_value *before); /* without its trace */
/* Returns the index of the entry, which is added if it is new; -1: there are too many. */
int qcaptured_add(CapturedList *e, From from, int parent, int index, const Str *name);
/* Stores the values of all entries; false: one of them has a different key. */
bool qcaptured_agree(qs_vm *vm, const Captured *e, int n, const Site *s, SpecKind t, qs_value *values);
void qcaptured_release(qs_vm *vm, const Captured *e, int n);
#endif
