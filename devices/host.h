/* host.h -- device operations on host memory, shared by the cpu and ref devices. */
#ifndef DEVICES_HOST_H
#define DEVICES_HOST_H
#include "devices/device.h"

static inline char *qhost_ptr(DevPtr p) { return (char *)(uintptr_t)p; }

/* Members of DeviceOps. */
int qhost_probe(Ctx *c, const char **why);
qs_status qhost_alloc(Device *d, size_t n, DevPtr *out);
void qhost_free(Device *d, DevPtr p);
qs_status qhost_upload(Device *d, DevPtr to, size_t off, const void *from, size_t n);
qs_status qhost_download(Device *d, void *to, DevPtr from, size_t off, size_t n);
qs_status qhost_copy(Device *d, DevPtr to, DevPtr from, size_t n);
qs_status qhost_sync(Device *d);
#endif
