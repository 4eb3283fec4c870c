/* flag.h -- what signal handlers look at: a flag that they and other threads raise; native code of kernels reads it,
 * too, as an int.  Nothing else is ordered by it. */
#ifndef VM_BASE_FLAG_H
#define VM_BASE_FLAG_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef atomic_int Flag;
_Static_assert(sizeof(Flag) == sizeof(int), "compiled kernels load an int");

static inline bool qflag_is_up(const Flag *f) { return atomic_load_explicit(f, memory_order_relaxed) != 0; }
static inline void qflag_raise(Flag *f) { atomic_store_explicit(f, 1, memory_order_relaxed); }
static inline void qflag_lower(Flag *f) { atomic_store_explicit(f, 0, memory_order_relaxed); }

/* Since when something waits that nothing can end, by qclock_ns; 0: nothing does. */
typedef _Atomic int64_t Since;

static inline int64_t qsince_get(const Since *s) { return atomic_load_explicit(s, memory_order_relaxed); }
static inline void qsince_set(Since *s, int64_t ns) { atomic_store_explicit(s, ns, memory_order_relaxed); }
#endif
