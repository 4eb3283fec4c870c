/* config.h -- which devices a user asks for: in a word, or in a file.
 *
 *     cpu   cuda:1   cpu,opencl     these; the first one runs kernels
 *     auto                          the processor and every GPU that is here; each launch runs where it ends soonest
 *     auto:cpu,opencl               the same among these
 *     machine.xml                   a file, described in docs/devices.md
 */
#ifndef DEVICES_CONFIG_H
#define DEVICES_CONFIG_H
#include "devices/device.h"

typedef struct {
    char kind[16];
    int ordinal;
    int threads;   /* 0: what the machine's configuration says */
    size_t memory; /* bytes that arrays may occupy; the same */
} DeviceWish;

typedef struct {
    bool automatic; /* the machine chooses for each launch; with n == 0 among all that are here */
    int n;
    DeviceWish at[MAX_DEVICES];
} DeviceWishes;

/* QS_EDEVICE with the line of the file, or the word, that is not understood.  warnings: lines about what is ignored. */
qs_status qconfig_parse(Ctx *c, const char *text, DeviceWishes *out, Text *warnings);
/* "500M": bytes; false: no size. */
bool qconfig_bytes(const char *text, size_t *out);
#endif
