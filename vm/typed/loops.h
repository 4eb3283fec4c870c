/* loops.h -- generates the loops of one element type and their table.  loops.c includes this file once per type, with
 *
 *     D            name of the type (I8)
 *     T            C type of the elements
 *     P            C type of real and imaginary parts
 *     W, WD        narrowest type in which elem.def computes, and its name
 *     TYPED_CLASS  the column of typed.def to use */
#if TYPED_CLASS == OF_TRUTHS
#define TYPED(name, nargs, gives, column, wholes, reals, pairs, help) TYPED_MAKE(name, nargs, gives, column)
#elif TYPED_CLASS == OF_WHOLES
#define TYPED(name, nargs, gives, truths, column, reals, pairs, help) TYPED_MAKE(name, nargs, gives, column)
#elif TYPED_CLASS == OF_REALS
#define TYPED(name, nargs, gives, truths, wholes, column, pairs, help) TYPED_MAKE(name, nargs, gives, column)
#else
#define TYPED(name, nargs, gives, truths, wholes, reals, column, help) TYPED_MAKE(name, nargs, gives, column)
#endif
#include "vm/typed/typed.def"
#if TYPED_CLASS == OF_TRUTHS
#define TYPED(name, nargs, gives, column, wholes, reals, pairs, help) TYPED_ENTRY(name, nargs, gives, column)
#elif TYPED_CLASS == OF_WHOLES
#define TYPED(name, nargs, gives, truths, column, reals, pairs, help) TYPED_ENTRY(name, nargs, gives, column)
#elif TYPED_CLASS == OF_REALS
#define TYPED(name, nargs, gives, truths, wholes, column, pairs, help) TYPED_ENTRY(name, nargs, gives, column)
#else
#define TYPED(name, nargs, gives, truths, wholes, reals, column, help) TYPED_ENTRY(name, nargs, gives, column)
#endif
static TypedLoop *const JOIN(of, D)[TY__COUNT] = {
#include "vm/typed/typed.def"
};
#undef D
#undef T
#undef P
#undef W
#undef WD
#undef TYPED_CLASS
