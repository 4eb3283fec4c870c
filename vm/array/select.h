/* select.h -- private to indexing: index.c reads and writes, select.c says which places are meant, gather.c moves their
 * elements. */
#ifndef VM_SELECT_H
#define VM_SELECT_H
#include "vm/array/array.h"

enum { OUTSIDE = -1 };

/* What is indexed, seen with as many dimensions as there are indices. */
typedef struct {
    qs_vm *vm;
    const char *name;         /* of the variable, or "the array" */
    const char *of, *of_name; /* " of " and the name; "" and "" when there is none */
    AccessMode mode;
    bool is_list; /* see Subscript */
    bool whole;   /* a fraction in an index is hardly meant */
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
} Base;

/* Indices as written, with a position taken apart. */
typedef enum { FORM_EACH /* one per dimension */, FORM_MASK, FORM_WHOLE } IndexForm;
typedef struct {
    IndexForm form;
    int n;
    const qs_value *at;
    qs_value parts[QS_MAX_RANK];
} Indices;

typedef struct {
    size_t count;
    int64_t first, step;  /* evenly spaced places … */
    int64_t *list;        /* … or a list of them, OUTSIDE where there is none */
    size_t room;          /* allocated for the list */
    bool scalar, outside; /* outside: a single place that does not exist */
    const Array *shape;   /* an index array of rank >= 2, whose shape a gathered vec takes */
} Select;

typedef struct {
    int n;
    Select at[QS_MAX_RANK];
} Selection;

/* -- select.c ------------------------------------------------------------------------------------------------------ */
/* Where index i of a dimension of n is for an access mode; false: nowhere. */
bool qselect_bound(AccessMode m, int64_t i, int64_t n, int64_t *out);
void qselect_array(Base *b, qs_vm *vm, const Array *a, TypeMods mods, const char *name);
void qselect_cell(Base *b, qs_vm *vm, const Cell *c, TypeMods mods, const char *name);
/* What a lone index means: on rank >= 2 a vector is a position, a bool array of the same shape is a mask anywhere. */
qs_status qselect_open(const Base *b, int n, const qs_value *at, Indices *x);
/* FORM_EACH: b gets as many dimensions as there are indices, s is for qselect_close. */
qs_status qselect_each(Base *b, const Indices *x, Selection *s);
void qselect_close(qs_vm *vm, Selection *s);
/* A bool vec as the index of one dimension: the places where it is true. */
qs_status qselect_true(const Base *b, int dim, Array *mask, Select *s);
bool qselect_single(const Selection *s);
bool qselect_outside(const Selection *s); /* of any place */
int qselect_shape(const Selection *s, int64_t dims[QS_MAX_RANK]);
size_t qselect_count(const Selection *s);
enum { PIECE = 256 }; /* places that are read at once */
/* Places that are all whole and inside, so the same in any mode.  false: one is not. */
bool qselect_inside(const double *x, size_t n, double size, int64_t *list);

/* -- gather.c ------------------------------------------------------------------------------------------------------ */
/* Between the places of s in base and a block that is packed, or one element for all of them (fill). */
void qgather_read(const Base *b, const Selection *s, size_t size, const void *base, void *block);
void qgather_write(const Base *b, const Selection *s, size_t size, void *base, const void *block, bool fill);
/* Between the places of s in a, which is the base, and a packed array of as many elements, or of one for all: on the
 * device that has what is read, or what is written; *done false: it is the host's turn. */
qs_status qgather_on_device(const Base *b, Array *a, const Selection *s, Array *block, bool into, bool *done);
/* a[at] for a long list of places in a vec, all inside; *out stays as it is where it is not that simple. */
qs_status qgather_list(const Base *b, Array *a, qs_value at, qs_value *out);
#endif
