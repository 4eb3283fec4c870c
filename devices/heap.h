/* heap.h -- the memory of a device that has its own: blocks that were freed are kept for the next array of their size.
 *
 * Drivers take long to allocate, and some wait for the device when they free (cuMemFree does).  A kept block may be
 * given out while work that uses it is still queued, because what uses it next comes behind that.  There is a list for
 * each size; sizes are so far apart that a block is an eighth larger than wanted at most.  What is kept is bounded, by
 * what the device has left for others, too, and goes back to the driver before an allocation is allowed to fail; only
 * then copies of arrays have to go, those that were used longest ago first (buffer.h). */
#ifndef DEVICES_HEAP_H
#define DEVICES_HEAP_H
#include "devices/device.h"

/* QS_ENOMEM: no room below d->limit, or in the device, even with nothing kept. */
qs_status qheap_get(Device *d, size_t n, DevPtr *out);
/* For a copy from elsewhere, which need not wait for work that uses the block still: rather one that is idle. */
qs_status qheap_get_idle(Device *d, size_t n, DevPtr *out);
void qheap_put(Device *d, DevPtr p, size_t n); /* n as it was asked for */
void qheap_trim(Device *d);                    /* back to the driver with everything kept */
void qheap_close(Device *d);                   /* before ops->close */
size_t qheap_used(const Device *d);            /* bytes of blocks that are given out */
#endif
