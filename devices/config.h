/* config.h -- parses the user's choice of devices, which is a string or a file.
 *
 *     cpu   cuda:1   cpu,opencl     these devices; the first one runs kernels
 *     auto                          the CPU and every GPU found; each launch runs on the device that finishes it first
 *     auto:cpu,opencl               the same, but only these devices
 *     machine.xml                   a file, described in docs/devices.md
 */
#ifndef DEVICES_CONFIG_H
#define DEVICES_CONFIG_H
#include "devices/device.h"

typedef struct {
    char kind[16];
    int ordinal;
    int threads;   /* number of compute threads; 0: the default of the VM's configuration */
    size_t memory; /* bytes that arrays may occupy; 0: the default of the VM's configuration */
} DeviceWish;

typedef struct {
    bool automatic; /* the VM chooses a device for each launch; with n == 0, among all devices found */
    int n;
    DeviceWish at[MAX_DEVICES];
} DeviceWishes;

/* Parses the choice.  Fails with QS_EDEVICE and the offending word, or line of the file.  Appends a line to `warnings`
 * for each element or attribute that is ignored. */
qs_status qconfig_parse(Ctx *c, const char *text, DeviceWishes *out, Text *warnings);
/* Parses a size like "500M" into bytes; false: not a size. */
bool qconfig_bytes(const char *text, size_t *out);
#endif
