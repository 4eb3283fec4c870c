/* flag.h -- declares flags that signal handlers and other threads set.  Native code of kernels reads them as an int.
 * All accesses are relaxed: a flag orders no other memory access. */
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

/* The time (qclock_ns) at which a wait that cannot be interrupted began; 0: no such wait. */
typedef _Atomic int64_t Since;

static inline int64_t qsince_get(const Since *s) { return atomic_load_explicit(s, memory_order_relaxed); }
static inline void qsince_set(Since *s, int64_t ns) { atomic_store_explicit(s, ns, memory_order_relaxed); }
#endif
