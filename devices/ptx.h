/* ptx.h -- the contract between PTX made by the kernel compiler and the cuda device.
 *
 * The first line of the text is a comment that says what a launch has to know (PtxNeeds), so that one file in the cache
 * on disk holds all of a kernel.  The entry has one parameter, an array of 64-bit slots passed by value: there is one
 * argument to marshal, and its layout is one function on each side.
 *
 *     fault                       device address of a DevFault, whose message is 0
 *     first                       number of the first block of this launch along axis 0: a launch of more than 2^31-1
 *                                 blocks goes in slices
 *     domain  block  nblocks      rank slots each
 *     by                          rank slots: how to divide by nblocks
 *     for each argument           a number: its bits; an array: the address of its first element, dims, strides
 *
 * The grid is one-dimensional: blocks `first` … of axis 0, with all blocks of the other axes, numbered row-major.  A
 * block has its last extent along x, the one before along y, the product of all others along z.  A serial kernel is
 * launched as one thread and loops over the domain itself. */
#ifndef DEVICES_PTX_H
#define DEVICES_PTX_H
#include "devices/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PTX_FAULT, PTX_FIRST, PTX_DOMAIN };
enum { PTX_SLOTS = 512 };           /* 4096 bytes: what every driver and target takes */
enum { PTX_STATIC_SHARED = 49152 }; /* bytes; what goes beyond is given with the launch */

/* The newest target that code is made for, for a device of this compute capability (90: 9.0); 0: too old.  The list is
 * what every LLVM that we take knows; code for one runs on all devices from there on. */
static inline int qptx_target(int capability) {
    static const int targets[] = {90, 89, 87, 86, 80, 75, 72, 70};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i] <= capability) return targets[i];
    return 0;
}

typedef struct {
    bool serial, fault;
    bool blocks;     /* whoever launches says how large a block is, and the text does not know */
    unsigned shared; /* bytes of shared memory that the launch provides */
} PtxNeeds;

/* The first line.  bytes: that it takes, with blanks at its end; 0: as many as its words. */
static inline void qptx_say(Text *out, const PtxNeeds *n, int bytes) {
    char words[48];
    snprintf(words, sizeof words, "%s%s%s shared=%u", n->serial ? " serial" : "", n->fault ? " fault" : "",
             n->blocks ? " blocks" : "", n->shared);
    qtext_printf(out, "// quasar:%-*s\n", bytes ? bytes - (int)sizeof "// quasar:" : 0, words);
}

static inline PtxNeeds qptx_needs(const char *text) {
    const char *end = strchr(text, '\n'), *serial = strstr(text, " serial"), *fault = strstr(text, " fault"),
               *blocks = strstr(text, " blocks"), *shared = strstr(text, " shared=");
    return (PtxNeeds){.serial = serial && serial < end,
                      .fault = fault && fault < end,
                      .blocks = blocks && blocks < end,
                      .shared = shared && shared < end ? (unsigned)strtoul(shared + 8, NULL, 10) : 0};
}

/* The text for blocks of up to so many threads, whose registers the driver then makes few enough.  What the entry says
 * of itself stands between its parameters and its body. */
static inline void qptx_limit(const char *text, size_t n, int threads, Text *out) {
    const char *entry = strstr(text, ".entry "), *body = entry ? strchr(entry, '{') : NULL;
    size_t head = body ? (size_t)(body - text) : n;
    qtext_add(out, text, head);
    if (body) qtext_printf(out, ".maxntid %d, 1, 1 ", threads);
    qtext_add(out, text + head, n - head);
}

/* n/d for n and d from 0, 1 to 2^31-1 is n*m >> s; m is the low half of what this gives, s the high one.  With 2^k the
 * first power that is not below d, m is 2^(31+k)/d rounded up: by less than 2^k/d, which n makes less than 1/d. */
static inline uint64_t qptx_divide_by(uint32_t d) {
    unsigned k = d > 1 ? 32 - (unsigned)__builtin_clz(d - 1) : 0;
    uint64_t m = (((uint64_t)1 << (31 + k)) + d - 1) / d;
    return (uint64_t)(31 + k) << 32 | m;
}

static inline int qptx_first_arg(int rank) { return PTX_DOMAIN + 4 * rank; }
static inline int qptx_arg_slots(bool is_array, int rank) { return is_array ? 1 + 2 * rank : 1; }
#endif
