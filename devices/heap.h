/* heap.h -- allocates device memory, and keeps freed blocks for reuse by the next array of the same size.
 *
 * Allocation by the driver is slow, and some drivers wait for the device when they free (cuMemFree does).  A kept block
 * may be reused while work that uses it is still queued, because its next use is queued behind that work.  There is a
 * free list per size class; a block is at most an eighth larger than requested.  The amount of kept memory is bounded,
 * also by the memory that the device has left for other users.  Kept blocks are returned to the driver before an
 * allocation is allowed to fail; only then the least recently used copies of arrays are evicted (buffer.h). */
#ifndef DEVICES_HEAP_H
#define DEVICES_HEAP_H
#include "devices/device.h"

/* Allocates a block.  Fails with QS_ENOMEM if d->limit or the device has no room even without kept blocks. */
qs_status qheap_get(Device *d, size_t n, DevPtr *out);
/* Like qheap_get, but prefers a block that no queued work uses, so that an upload into it can start at once. */
qs_status qheap_get_idle(Device *d, size_t n, DevPtr *out);
void qheap_put(Device *d, DevPtr p, size_t n); /* n: the size passed to qheap_get */
void qheap_trim(Device *d);                    /* returns all kept blocks to the driver */
void qheap_close(Device *d);                   /* must be called before ops->close */
size_t qheap_used(const Device *d);            /* bytes of allocated blocks */
#endif
