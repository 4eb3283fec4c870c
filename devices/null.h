/* null.h -- a device for tests that runs nothing: it has its own memory, counts all operations, and fails on demand. */
#ifndef DEVICES_NULL_H
#define DEVICES_NULL_H
#include "devices/device.h"

typedef struct NullState {
    unsigned allocs, frees, uploads, downloads, copies, peers, loads, launches, syncs;
    size_t live, capacity; /* allocated bytes, and their maximum (0: no limit) */
    long fail_after;       /* number of operations that succeed before one fails with QS_EDEVICE; < 0: none fails */
} NullState;

extern const DeviceOps qdev_null_apart_ops; /* the same device without peer copies */

static inline NullState *qnull_state(const Device *d) { return d->state; }
#endif
