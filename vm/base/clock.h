/* clock.h -- reads the monotonic clock, for measuring durations. */
#ifndef VM_BASE_CLOCK_H
#define VM_BASE_CLOCK_H
#include <time.h>

static inline double qclock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static inline double qclock_seconds(void) { return qclock_ns() * 1e-9; }
#endif
