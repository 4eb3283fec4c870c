/* native.h -- defines the interface between compiled kernels and the cpu device.
 *
 * The code is a relocatable ELF object with two symbols: `entry`, a native_fn, and `entry_info`, a NativeInfo.  The
 * function reads its arguments from the caller's DevArg array, so a launch copies nothing.  It runs the blocks
 * first … last-1 of the launch.  Blocks are numbered in row-major order and cover the domain; blocks at the border may
 * extend beyond it. */
#ifndef DEVICES_NATIVE_H
#define DEVICES_NATIVE_H
#include "devices/combine.h"
#include "devices/device.h"

enum { NATIVE_ABI = 4, NATIVE_SUMS = 8, NATIVE_COSTS = 8 };
enum {
    NATIVE_BLOCKS = 1,   /* the kernel uses its block: take the launch's block size; else the device chooses */
    NATIVE_SERIAL = 2,   /* positions must run in index order: one thread */
    NATIVE_CHECKS = 4,   /* the kernel may report a fault */
    NATIVE_LOOPS = 8,    /* the kernel has loops of unknown length, so the cost is an estimate */
    NATIVE_SINGLE = 16,  /* positions are not vectorized: a block may be a single position */
    NATIVE_ORDERED = 32, /* results depend on the order of atomic updates, which are plain instructions */
    NATIVE_CALLS = 128,  /* the code has functions that call themselves: it needs NativeRun.stack */
    NATIVE_ROWS = 64,    /* blocks have whole rows, as long as these are no longer than NATIVE_LONGEST_ROW */
    NATIVE_TILES = 256   /* columns are followed: blocks are nearly square, so that their lines stay in the cache */
};
enum { NATIVE_LONGEST_ROW = 1 << 14 };

typedef struct {
    int64_t domain[QS_MAX_RANK], block[QS_MAX_RANK], nblocks[QS_MAX_RANK];
    const Flag *stop; /* never NULL; the code returns soon after this is set */
    DevFault *fault;  /* never NULL; a nonzero message ends the launch */
    uint64_t stack;   /* NATIVE_CALLS: the lowest address of the stack at which a function may begin */
    int32_t alone;    /* one thread runs the launch, so that atomic updates can be plain instructions */
} NativeRun;

/* scratch: shared_bytes (arrays that blocks share, and large private ones) + item_bytes * (positions in a block)
 * bytes, 64-byte aligned, private to the calling thread. */
typedef void native_fn(const DevArg *args, const NativeRun *run, int64_t first, int64_t last, void *scratch);

/* An array that the kernel only accumulates into, with one operator.  Each part of a launch may have a private copy
 * (private_copies.h). */
typedef struct {
    uint8_t param, op, dtype, parts;
} NativeSum; /* op: a Combine; dtype: type of an element, or of the 2 parts of a complex element */

/* Cost of the instructions in one loop.  They run as often as the loop `around` (an index in `turns`) times
 * the iterations of this loop.  The number of iterations is `more`, plus the extent of array `param` along `axis`, or
 * plus the value of the integer argument `param`.  The first element is the code outside of all loops. */
enum { NATIVE_ONCE = 255 /* axis: only `more` iterations */, NATIVE_NUMBER = 254 /* axis: use the integer argument */ };
typedef struct {
    uint32_t cost;
    uint8_t around, param, axis, dtype;
    int64_t more;
} LoopCost;

typedef struct {
    uint32_t abi, flags;
    uint32_t cost; /* approximate instructions per position, for choosing threads and block sizes */
    uint32_t nargs;
    uint64_t shared_bytes, item_bytes;
    uint32_t nsums; /* 0: none, or another array is updated atomically, too */
    NativeSum sums[NATIVE_SUMS];
    uint32_t ncosts; /* 0: the loop lengths are unknown */
    LoopCost costs[NATIVE_COSTS];
} NativeInfo;
#endif
