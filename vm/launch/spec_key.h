/* spec_key.h -- what enters a form: where each value is found, and what the compiler was told of it.
 *
 * A form is used again when each of its entries is of the kind that it was.  The kind is facts of the value, no more
 * than its code relies on:
 *
 *                     of numbers                  of arrays                                       of texts, types
 *     a kernel        whole, of 24, 31, 53 bits   element type, rank, gapless, unit last          which
 *     a loop          whole, of 20, 31 bits, -0   the same; aligned, writable, small extents      nothing
 *     an expression   nothing                     element type                                    nothing
 *
 * Of functions it is which one, of objects the class.  What the code was made for beyond that is known: an extent, a
 * number, a text, or every element of a small array. */
#ifndef VM_SPEC_KEY_H
#define VM_SPEC_KEY_H
#include "vm/interp/proto.h"

enum { MAX_ENTRIES = 256 };

typedef enum { SPEC_KERNEL, SPEC_LOOP, SPEC_EXPRESSION } SpecKind;

enum { /* facts.  Of a number: it is whole, and at most 2^20, 2^24, 2^31, 2^53; INT: below 2^31 */
       NUM_20 = 1,
       NUM_24 = 2,
       NUM_INT = 4,
       NUM_31 = 8,
       NUM_53 = 16,
       NUM_MINUS_ZERO = 32,
       ARRAY_DTYPE = 0xff,
       ARRAY_RANK = 0xff00, /* of an array; SMALL: no extent needs more than 20 bits */
       ARRAY_GAPLESS = 1 << 16,
       ARRAY_UNIT_LAST = 1 << 17,
       ARRAY_ALIGNED = 1 << 18,
       ARRAY_WRITABLE = 1 << 19,
       ARRAY_SMALL = 1 << 20
};

/* Where a value that enters is found: at the running function, or inside the value of an entry before it. */
typedef enum { FROM_FUNCTION, FROM_LOCAL, FROM_GLOBAL, FROM_CAPTURE, FROM_FIELD, FROM_MEMBER, FROM_ITEM } From;
typedef struct {
    Function *fn;
    const qs_value *locals;
} Site; /* locals: registers of a frame, arguments of a kernel */

typedef struct {
    uint8_t from;       /* From */
    uint8_t dims_known; /* bit d: extent d of an array is known */
    bool num_known;     /* so is the number, the text, or every element of a small array */
    bool by_value;      /* an array whose elements are parameters */
    int parent;         /* FROM_CAPTURE, FROM_FIELD, FROM_MEMBER, FROM_ITEM: entry of the function, object or cell;
                            -1: at the Site */
    int index;          /* FROM_ITEM: the entry of the number of the item, or -1 - that number */
    const Str *name;    /* FROM_FIELD: of the field */
    uint64_t facts;
    double num[2], *vec;       /* the number, the elements that are known */
    int64_t dims[QS_MAX_RANK]; /* the extents */
    qs_value kept; /* where the facts are an address, the function set or text there: it must not go meanwhile */
} Captured;

/* The entries of a form that is being made, with the values that they have now. */
typedef struct {
    qs_vm *vm;
    Site site;
    SpecKind tells;
    Captured at[MAX_ENTRIES];
    qs_value value[MAX_ENTRIES];
    int n;
} CapturedList;

/* A number of which a derivative is asked, with its trace left away: to the code it is no whole number, whatever its
 * value is, since what is computed in integers has none. */
enum { NUM_SMOOTH = 1 }; /* aux of a QS_NUM, of the values of entries only */
static inline qs_value qkey_smooth(qs_value v) {
    if (v.kind == QS_NUM) v.aux = NUM_SMOOTH;
    return v;
}

/* -- spec_key.c ---------------------------------------------------------------------------------------------------- */
uint64_t qkey_facts(qs_value v, SpecKind t);
/* How many bits a whole number needs, in the steps that matter to kernels: 24, 31, 53; 0: it is none. */
int qkey_bits(qs_value v);
static inline bool qkey_unit_last(const Array *a) { return a->strides[a->rank - 1] == 1 || a->dims[a->rank - 1] <= 1; }
double qkey_element(qs_vm *vm, Array *a, size_t i);
void qkey_know_extent(Captured *e, const Array *a, int axis);
/* v is of the kind that e was, and what was known of e holds for v. */
bool qkey_agrees(qs_vm *vm, const Captured *e, qs_value v, SpecKind t);

/* -- captured.c ---------------------------------------------------------------------------------------------------- */
qs_value qcaptured_given(qs_vm *vm, const Captured *e, const Site *s, const qs_value *before);
qs_value qcaptured_value(qs_vm *vm, const Captured *e, const Site *s, const qs_value *before); /* without a trace */
/* The number of the entry, which is new when it is mentioned for the first time; -1: there are too many. */
int qcaptured_add(CapturedList *e, From from, int parent, int index, const Str *name);
/* The values of all entries; false: one of them is of another kind. */
bool qcaptured_agree(qs_vm *vm, const Captured *e, int n, const Site *s, SpecKind t, qs_value *values);
void qcaptured_release(qs_vm *vm, const Captured *e, int n);
#endif
