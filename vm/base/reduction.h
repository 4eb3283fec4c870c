/* reduction.h -- declares the reductions of reduce.def.
 *
 * All code that reduces reads this table: vm/array/reduce.c and vm/launch/axis_launch.c on the host and on devices,
 * lang/kernel/lower in kernels, loops and fused expressions, vm/typed, and the built-ins. */
#ifndef VM_BASE_REDUCTION_H
#define VM_BASE_REDUCTION_H
#include <stdbool.h>
#include <stdint.h>

typedef enum Reduce {
    RED_NONE, /* no reduction */
#define REDUCTION(id, ...) RED_##id,
#define INTERNAL(id, ...)  RED_##id,
#include "vm/base/reduce.def"
    RED__COUNT
} Reduce;

/* How two partial results are combined.  The last four are `if e < s, s = e` and its variants, which a loop may
 * contain: of equal values, such as +0 and -0, the first or the last is kept. */
typedef enum Combine {
    COMBINE_NOT,
#define REDUCTION(id, ...)
#define COMBINE(id, ...) COMBINE_##id,
#include "vm/base/reduce.def"
    COMBINE_LT,
    COMBINE_LE,
    COMBINE_GT,
    COMBINE_GE,
    COMBINE__COUNT
} Combine;

typedef enum { MAP_SELF, MAP_TRUTH, MAP_SQUARE, MAP_ABS, MAP_EXP, MAP_INDEX } ReduceMap;
typedef enum { LANES_WIDE, LANES_FLOAT, LANES_REAL, LANES_SAME, LANES_BOOL, LANES_INDEX } ReduceLanes;
typedef enum { FINISH_NOTHING, FINISH_MEAN, FINISH_ROOT, FINISH_LOG } ReduceFinish;

typedef struct {
    const char *name;
    uint8_t dim;    /* number of the argument that is the dimension; 0: none */
    uint8_t centre; /* Reduce */
    uint8_t map, combine, lanes, finish;
    bool refuses_empty;
    double empty; /* the result for no elements */
} ReduceInfo;
extern const ReduceInfo qreduction_info[RED__COUNT];

/* Returns the built-in reduction of this name, RED_NONE if there is none. */
Reduce qreduction_find(const char *name);
/* Whether the result is an element: its smallest or largest one. */
static inline bool qreduction_is_extreme(Reduce r) { return qreduction_info[r].lanes == LANES_SAME; }
/* Returns the value with which a chunk of partial results begins. */
double qreduction_identity(Combine c);
#endif
