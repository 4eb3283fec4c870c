/* flag.h -- a flag that signal handlers and other threads raise; native code of kernels reads it, too, as an int.
 * Nothing else is ordered by it. */
#ifndef VM_BASE_FLAG_H
#define VM_BASE_FLAG_H
#include <stdatomic.h>
#include <stdbool.h>

typedef atomic_int Flag;
_Static_assert(sizeof(Flag) == sizeof(int), "compiled kernels load an int");

static inline bool qflag_is_up(const Flag *f) { return atomic_load_explicit(f, memory_order_relaxed) != 0; }
static inline void qflag_raise(Flag *f) { atomic_store_explicit(f, 1, memory_order_relaxed); }
static inline void qflag_lower(Flag *f) { atomic_store_explicit(f, 0, memory_order_relaxed); }
#endif
