/* builtins.h -- the natives of builtins.def, for the files that define them.  Those that rows of elem.def make are told
 * of by `#define NATIVES_OF_ELEM` alone, so that a new row there concerns math.c and core.c, and not all of this
 * folder. */
#ifndef STDLIB_BUILTINS_H
#define STDLIB_BUILTINS_H
#include "stdlib/stdlib.h"

#ifndef NATIVES_OF_ELEM
#define BUILTINS_WITHOUT_ELEM
#endif
#define NATIVE(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint) qs_native_fn function;
#define CONSTANT(name, value, doc, matlab, numpy)
#define GROUP(title)
#include "stdlib/builtins.def"
#endif
