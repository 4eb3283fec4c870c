/* reduction.c -- holds the table of reductions; see reduction.h. */
#include "vm/base/reduction.h"

#include <math.h>
#include <string.h>

const ReduceInfo qreduction_info[RED__COUNT] = {
#define REFUSED -1 /* no row has this result */
#define ROW(id, dim, centre, map, combine, lanes, finish, empty)                                                       \
    [RED_##id] = {#id,           dim,  RED_##centre, MAP_##map, COMBINE_##combine, LANES_##lanes, FINISH_##finish,     \
                  (empty) == -1, empty},
#define REDUCTION(id, kind, dim, results, centre, map, combine, lanes, finish, empty, ...)                             \
    ROW(id, dim, centre, map, combine, lanes, finish, empty)
#define INTERNAL(id, map, combine, lanes, finish, empty) ROW(id, 0, NONE, map, combine, lanes, finish, empty)
#include "vm/base/reduce.def"
};

Reduce qreduction_find(const char *name) {
    for (int r = RED_NONE + 1; r < RED__COUNT; r++)
        if (!strcmp(qreduction_info[r].name, name)) return (Reduce)r;
    return RED_NONE;
}

double qreduction_identity(Combine c) {
    static const double identities[COMBINE__COUNT] = {
#define REDUCTION(...)
#define COMBINE(id, operator, identity) [COMBINE_##id] = identity,
#include "vm/base/reduce.def"
        [COMBINE_LT] = INFINITY,
        [COMBINE_LE] = INFINITY,
        [COMBINE_GT] = -INFINITY,
        [COMBINE_GE] = -INFINITY,
    };
    return identities[c];
}
