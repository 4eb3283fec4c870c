/* select.h -- internal declarations of indexing: index.c reads and writes, select.c resolves the indices to positions,
 * gather.c moves the selected elements. */
#ifndef VM_SELECT_H
#define VM_SELECT_H
#include "vm/array/array.h"

enum { OUTSIDE = -1 };

/* The indexed array or cell, with as many dimensions as there are indices. */
typedef struct {
    qs_vm *vm;
    const char *name;         /* name of the variable, or "the array" */
    const char *of, *of_name; /* " of " and the name; "" and "" if there is none */
    AccessMode mode;
    bool is_list;  /* see Subscript */
    bool integral; /* warn about a fraction in an index */
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
} Base;

/* The indices as written; a coordinate vector is split into numbers. */
typedef enum { FORM_EACH /* one per dimension */, FORM_MASK, FORM_WHOLE /* x[:] */ } IndexForm;
typedef struct {
    IndexForm form;
    int n;
    const qs_value *at;
    qs_value parts[QS_MAX_RANK];
} Indices;

typedef struct {
    size_t count;
    int64_t first, step;  /* evenly spaced positions, if list is NULL */
    int64_t *list;        /* list of positions; OUTSIDE: no element */
    size_t room;          /* allocated length of the list */
    bool scalar, outside; /* scalar: a single position; outside: it does not exist */
    const Array *shape;   /* index array of rank >= 2, whose shape the result takes; NULL: none */
} Select;

typedef struct {
    int n;
    Select at[QS_MAX_RANK];
} Selection;

/* -- select.c ------------------------------------------------------------------------------------------------------ */
/* Maps index i of a dimension with n elements by an access mode; false: outside. */
bool qselect_bound(AccessMode m, int64_t i, int64_t n, int64_t *out);
void qselect_array(Base *b, qs_vm *vm, const Array *a, TypeMods mods, const char *name);
void qselect_string(Base *b, qs_vm *vm, const Str *s, TypeMods mods, const char *name);
void qselect_cell(Base *b, qs_vm *vm, const Cell *c, TypeMods mods, const char *name);
/* Interprets the indices.  A single index may be a coordinate vector (for rank >= 2) or a mask: a bool array of the
 * same
 * shape. */
qs_status qselect_open(const Base *b, int n, const qs_value *at, Indices *x);
/* Resolves FORM_EACH.  Gives b as many dimensions as there are indices; release s with qselect_close. */
qs_status qselect_each(Base *b, const Indices *x, Selection *s);
void qselect_close(qs_vm *vm, Selection *s);
/* Selects in one dimension the positions where a bool vec is true. */
qs_status qselect_true(const Base *b, int dim, Array *mask, Select *s);
/* Makes the vector of a span: its first integer, step and count. */
qs_status qselect_range(qs_vm *vm, const qs_value *span, Array **out);
bool qselect_single(const Selection *s);
bool qselect_outside(const Selection *s); /* some position is outside */
int qselect_shape(const Selection *s, int64_t dims[QS_MAX_RANK]);
/* Describes a selection without lists and outside positions as a view of b: its shape, its strides, and the offset of
 * its first element.  Returns its rank; 0: there is no such view. */
int qselect_view(const Base *b, const Selection *s, int64_t *dims, int64_t *strides, ptrdiff_t *offset);
size_t qselect_count(const Selection *s);
enum { PIECE = 256 }; /* number of positions that are read at once */
/* Converts at most PIECE positions that are all integral and inside, so that the access mode does not matter;
 * otherwise false. */
bool qselect_run(qs_dtype d, const char *p, ptrdiff_t step, size_t n, double size, int64_t *list);

/* -- gather.c ------------------------------------------------------------------------------------------------------ */
/* Move elements between the positions of s in base and a contiguous block; fill: writes one element to all positions.
 * */
void qgather_read(const Base *b, const Selection *s, size_t size, const void *base, void *block);
void qgather_write(const Base *b, const Selection *s, size_t size, void *base, const void *block, bool fill);
/* Moves elements between the positions of s in a (the base) and a contiguous array of as many elements, or of one for
 * all positions, on the device that holds one of the arrays; *done false: the host must do it. */
qs_status qgather_on_device(const Base *b, Array *a, const Selection *s, Array *block, bool into, bool *done);
/* Computes a[at] for a long list of positions in a vec, all inside; leaves *out unchanged in other cases. */
qs_status qgather_list(const Base *b, Array *a, qs_value at, qs_value *out);
#endif
