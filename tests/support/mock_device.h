/* mock_device.h -- a device for tests that runs nothing.  It has its own memory, counts all operations, and fails on
 * demand. */
#ifndef TESTS_SUPPORT_MOCK_DEVICE_H
#define TESTS_SUPPORT_MOCK_DEVICE_H
#include "devices/device.h"

typedef struct MockState {
    unsigned allocs, frees, uploads, downloads, copies, peers, loads, launches, syncs;
    size_t live, capacity; /* allocated bytes, and their maximum (0: no limit) */
    long fail_after;       /* number of operations that succeed before one fails with QS_EDEVICE; < 0: none fails */
} MockState;

extern const DeviceOps mock_device_ops, mock_apart_ops; /* apart: the same device without peer copies */

static inline MockState *mock_state(const Device *d) { return d->state; }
#endif
