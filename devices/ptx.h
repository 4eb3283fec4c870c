/* ptx.h -- defines the interface between compiled PTX and the cuda device.
 *
 * The first line of the text is a comment with everything that a launch needs (PtxNeeds), so that one cache entry is
 * sufficient for a kernel.  The kernel has one parameter, an array of 64-bit slots passed by value:
 *
 *     fault                       device address of a DevFault, whose message is 0
 *     first                       index of the first block of this launch along axis 0; a launch of more than 2^31-1
 *                                 blocks is divided into slices
 *     domain  block  nblocks      rank slots each
 *     by                          rank slots: magic numbers for dividing by nblocks (qptx_divide_by)
 *     for each argument           a scalar: its bits; an array: the address of its first element, dims, strides
 *
 * The grid is one-dimensional: blocks `first` … of axis 0 with all blocks of the other axes, numbered in row-major
 * order.  The last axis of a block is x, the one before is y, and all others together are z.  A serial kernel is
 * launched as one thread, which loops over the domain itself. */
#ifndef DEVICES_PTX_H
#define DEVICES_PTX_H
#include "devices/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PTX_FAULT, PTX_FIRST, PTX_DOMAIN };
enum { PTX_SLOTS = 512 };           /* 4096 bytes: the maximum that every driver and target accepts */
enum { PTX_STATIC_SHARED = 49152 }; /* maximum bytes of static shared memory; more is allocated by the launch */

/* Returns the newest compiler target for a device of this compute capability (90 means 9.0); 0: too old.  Every
 * supported LLVM knows all targets of the list.  Code for a target runs on all newer devices, too. */
static inline int qptx_target(int capability) {
    static const int targets[] = {90, 89, 87, 86, 80, 75, 72, 70};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i] <= capability) return targets[i];
    return 0;
}

typedef struct {
    bool serial, fault;
    bool blocks;     /* the launch determines the block size, which is unknown at compile time */
    unsigned shared; /* bytes of dynamic shared memory */
} PtxNeeds;

/* Appends the first line. */
static inline void qptx_say(Text *out, const PtxNeeds *n) {
    qtext_printf(out, "// quasar:%s%s%s shared=%u\n", n->serial ? " serial" : "", n->fault ? " fault" : "",
                 n->blocks ? " blocks" : "", n->shared);
}

static inline PtxNeeds qptx_needs(const char *text) {
    const char *end = strchr(text, '\n'), *serial = strstr(text, " serial"), *fault = strstr(text, " fault"),
               *blocks = strstr(text, " blocks"), *shared = strstr(text, " shared=");
    return (PtxNeeds){.serial = serial && serial < end,
                      .fault = fault && fault < end,
                      .blocks = blocks && blocks < end,
                      .shared = shared && shared < end ? (unsigned)strtoul(shared + 8, NULL, 10) : 0};
}

/* Appends the text with a maximum block size, which limits the registers that the driver assigns to a thread.  The
 * directive is inserted between the parameters and the body of the entry. */
static inline void qptx_limit(const char *text, size_t n, int threads, Text *out) {
    const char *entry = strstr(text, ".entry "), *body = entry ? strchr(entry, '{') : NULL;
    size_t head = body ? (size_t)(body - text) : n;
    qtext_add(out, text, head);
    if (body) qtext_printf(out, ".maxntid %d, 1, 1 ", threads);
    qtext_add(out, text + head, n - head);
}

/* Returns the magic number for dividing by d: n/d is n*m >> s for 0 <= n < 2^31 and 1 <= d < 2^31, where m is the low
 * half of the result and s the high half.  With 2^k the smallest power >= d, m is 2^(31+k)/d rounded up by less than 1,
 * so that n*m / 2^(31+k) exceeds n/d by less than 1/2^k <= 1/d. */
static inline uint64_t qptx_divide_by(uint32_t d) {
    unsigned k = d > 1 ? 32 - (unsigned)__builtin_clz(d - 1) : 0;
    uint64_t m = (((uint64_t)1 << (31 + k)) + d - 1) / d;
    return (uint64_t)(31 + k) << 32 | m;
}

static inline int qptx_first_arg(int rank) { return PTX_DOMAIN + 4 * rank; }
static inline int qptx_arg_slots(bool is_array, int rank) { return is_array ? 1 + 2 * rank : 1; }
#endif
