/* loops.h -- the loops of one element type, and its column of the table.  loops.c includes this once per type, with
 *
 *     D  its name (I8)           T  its C type      P, PD  the real type, and its name
 *     W, WD  the narrowest type that elem.def computes in, and its name
 *     TYPED_CLASS  which column of typed.def it takes */
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
