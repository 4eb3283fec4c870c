/* null.h -- a device without a processor, for tests: memory of its own, every operation counted, failures on demand. */
#ifndef DEVICES_NULL_H
#define DEVICES_NULL_H
#include "devices/device.h"

typedef struct NullState {
    unsigned allocs, frees, uploads, downloads, copies, peers, loads, launches, syncs;
    size_t live, capacity; /* bytes held; 0: no limit */
    long fail_after;       /* the n-th operation from now fails with QS_EDEVICE; < 0 never */
} NullState;

extern const DeviceOps qdev_null_apart_ops; /* the same without copies from device to device */

static inline NullState *qnull_state(const Device *d) { return d->state; }
#endif
