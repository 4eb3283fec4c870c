/* native.h -- the contract between machine code made by the kernel compiler and the cpu device.
 *
 * A native Code is a relocatable ELF object with two symbols: `entry`, a native_fn, and `entry_info`, a
 * NativeInfo.  The function reads arguments where the caller keeps them (DevArg), so a launch copies nothing.  It
 * runs the blocks first … last-1 of the launch; blocks are numbered row-major and cover the domain, the last ones
 * only partly. */
#ifndef DEVICES_NATIVE_H
#define DEVICES_NATIVE_H
#include "devices/combine.h"
#include "devices/device.h"

enum { NATIVE_ABI = 4, NATIVE_SUMS = 8, NATIVE_TURNS = 8 };
enum {
    NATIVE_BLOCKS = 1,   /* the kernel knows about blocks: use those of the launch; else the device chooses */
    NATIVE_SERIAL = 2,   /* positions must run in index order: one thread */
    NATIVE_CHECKS = 4,   /* may report a fault */
    NATIVE_LOOPS = 8,    /* has loops of unknown length: cost is a guess */
    NATIVE_SINGLE = 16,  /* positions gain nothing from running side by side: a block may be one position */
    NATIVE_ORDERED = 32, /* atomic updates of another order give other bits; they are plain instructions */
    NATIVE_ROWS = 64     /* blocks have whole rows, as long as these are no longer than NATIVE_LONGEST_ROW */
};
enum { NATIVE_LONGEST_ROW = 1 << 14 };

typedef struct {
    int64_t domain[QS_MAX_RANK], block[QS_MAX_RANK], nblocks[QS_MAX_RANK];
    const Flag *stop; /* never NULL; the code returns soon after it became non-zero */
    DevFault *fault;  /* never NULL; a non-zero message ends the launch */
    int32_t alone;    /* one thread runs the launch: atomics need not be atomic */
} NativeRun;

/* scratch: shared_bytes (arrays that blocks share, and large private ones) + item_bytes * (positions in a block)
 * bytes, 64-byte aligned, private to the calling thread. */
typedef void native_fn(const DevArg *args, const NativeRun *run, int64_t first, int64_t last, void *scratch);

/* An array that the kernel does nothing with but accumulate into, by one operator: parts of a launch may have one
 * each. */
typedef struct {
    uint8_t param, op, dtype, parts;
} NativeSum; /* Combine; dtype of an element, or of a complex one's 2 parts */

/* Instructions of a position that run as often as the entry before says, that of `around`, times the turns of a loop:
 * `more` and an extent of an array, or a number.  The first has no loop around it, and runs once. */
enum { NATIVE_ONCE = 255 /* axis: only `more` turns */, NATIVE_NUMBER = 254 /* axis: the int that the argument is */ };
typedef struct {
    uint32_t cost;
    uint8_t around, param, axis, dtype;
    int64_t more;
} NativeTurns;

typedef struct {
    uint32_t abi, flags;
    uint32_t cost; /* instructions for one position, roughly: decides about threads and block sizes */
    uint32_t nargs;
    uint64_t shared_bytes, item_bytes;
    uint32_t nsums; /* 0 also when some other array is updated atomically */
    NativeSum sums[NATIVE_SUMS];
    uint32_t nturns; /* 0: nobody can say how long the loops are */
    NativeTurns turns[NATIVE_TURNS];
} NativeInfo;
#endif
