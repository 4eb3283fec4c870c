/* lower_builtin_table.h -- declares what the files that lower built-ins share.
 *
 *   lower_builtin.c  the table, checks, launches     lower_math.c  elementwise functions
 *   lower_reduce.c   reductions to one number        lower_make.c  sizes, new arrays, positions
 *   lower_random.c   random numbers                  lower_print.c  print and printf */
#ifndef LANG_LOWER_BUILTIN_TABLE_H
#define LANG_LOWER_BUILTIN_TABLE_H
#include "lang/kernel/lower/kernel/lower_internal.h"

/* A call of a built-in; imm: the operand that kbuiltins.def gives the handler. */
typedef struct {
    const char *name;
    Node *site;
    const Val *args;
    int nargs, imm;
} BuiltinCall;
typedef qs_status BuiltinHandler(Lower *L, const BuiltinCall *c, Val *out);
#define KBUILTIN(name, min, max, handler, imm) BuiltinHandler handler;
#include "lang/kernel/lower/kernel/kbuiltins.def"

/* Whether the built-in has a form for so many arguments and results; if not, kernels.q may have a function. */
bool klbuiltin_takes(int which, int nargs, int wanted);
qs_status klbuiltin_refuse(Lower *L, const BuiltinCall *c, const char *why);
static inline Num klbuiltin_integer(Lower *L, double v) { return klnum_literal(L, v, true); }
/* Reads the size given by the arguments from `first` on. */
qs_status klmake_shape(Lower *L, const BuiltinCall *c, int first, int64_t dims[QS_MAX_RANK], int *rank);
Num klbuiltin_binary(Lower *L, Op op, Num a, Num b); /* for operators that cannot fail on real numbers */
#endif
