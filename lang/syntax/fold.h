/* fold.h -- evaluates constant expressions, and reports asserts that always fail, before the program runs. */
#ifndef LANG_FOLD_H
#define LANG_FOLD_H
#include "lang/syntax/ast.h"

/* A constant array.  The numbers are stored in `at`, or in `whole` (as int64, or as the bits of uint64) if one of them
 * is an integer that float64 cannot represent exactly. */
typedef struct NumTable {
    int rank;
    int64_t dims[QS_MAX_RANK];
    size_t n;
    double *at;
    int64_t *whole;
    bool wide, is_uint64;
} NumTable;

/* Evaluates an expression that consists of number literals only; false: it does not. */
bool qfold_number(const Node *n, double *out);
/* Returns the arguments that are constant integral numbers of magnitude below 2^31, as a bit per argument.  Overload
 * resolution may pass these as ints (lang/names/overload.h).  Arguments beyond the 64th are never counted. */
uint64_t qfold_integral(const ArgList *args);
/* Evaluates a matrix literal of constant numbers; false: it is not constant.  The table is allocated in the arena. */
bool qfold_matrix(const Node *n, Arena *arena, NumTable **out);
/* Returns whether an index is a range or a list of two numbers, as in x[0..1] or x[[0,1]].  For a matrix this means one
 * position, although the user may mean rows (qwarn_location). */
bool qfold_is_list(NodeList at);
/* Error message for a single number that only uint64 can hold: the interpreter has no scalars of that type. */
#define QFOLD_UINT64                                                                                                   \
    "a single number holds integers to 2^63-1 exactly, this one is larger: make an array of it, as "                   \
    "in uint64([…]), or write it with .0 for float64"
bool qfold_is_constant(const Node *n); /* a constant number or matrix, or a string */
/* Reports top-level asserts that run unconditionally and whose condition is false, as if they were parse errors.
 * `message` formats n known parts of the message in the same way as the assert. */
enum { CONSTANTS = 16 };
typedef struct {
    const Str *text;
    double number;
} Constant; /* text NULL: the constant is the number */
typedef struct {
    void *ud;
    void (*message)(void *ud, int n, const Constant *parts, Text *out);
} FoldHost;
void qfold_asserts(Unit *u, const FoldHost *host);
#endif
