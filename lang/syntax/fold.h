/* fold.h -- what can be said before the program runs. */
#ifndef LANG_FOLD_H
#define LANG_FOLD_H
#include "lang/syntax/ast.h"

/* Numbers: in `at`, or, when one is an integer that float64 does not hold, in `whole`: int64, or the bits of uint64. */
typedef struct {
    int rank;
    int64_t dims[QS_MAX_RANK];
    size_t n;
    double *at;
    int64_t *whole;
    bool wide, is_uint64;
} NumTable;

/* The value of an expression of numbers and strings alone. */
bool qfold_number(const Node *n, double *out);
/* A matrix literal of numbers alone; the table lives in the arena. */
bool qfold_matrix(const Node *n, Arena *arena, NumTable **out);
/* x[0..1], x[[0,1]]: of a matrix a place, where rows may be meant (qwarn_place). */
bool qfold_is_list(NodeList at);
/* The error of an integer that only uint64 holds where a single number is: a number of the host has no such type. */
#define QFOLD_UINT64                                                                                                   \
    "a single number holds integers to 2^63-1 exactly, this one is larger: make an array of it, as "                   \
    "in uint64([…]), or write it with .0 for float64"
bool qfold_is_constant(const Node *n); /* one of these, or a string */
/* Reports asserts of the top level that run whatever happens and whose condition is false, as parse errors are.
 * `message` makes the text of n known parts, as the assert would. */
enum { CONSTANTS = 16 };
typedef struct {
    const Str *text;
    double number;
} Constant; /* text NULL: the number */
typedef struct {
    void *ud;
    void (*message)(void *ud, int n, const Constant *parts, Text *out);
} FoldHost;
void qfold_asserts(Unit *u, const FoldHost *host);
#endif
