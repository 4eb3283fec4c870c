/* device.h -- what a compute device can do; one file per backend fills in this table.
 *
 * What comes in are bytes: a Code made by the kernel compiler, blocks of memory, launches.  What goes out are changed
 * blocks, or a fault of the kernel.  A device knows nothing of the language.  Kernels reach it through vm/launch,
 * arrays through buffer.h.
 *
 * There is one queue per device, and it is in order.  So a block that was freed may be given out again while work on it
 * is still queued, an eviction is a queued download like any other, and only who reads results has to wait. */
#ifndef DEVICES_DEVICE_H
#define DEVICES_DEVICE_H
#include "vm/base/clock.h"
#include "vm/base/ctx.h"
#include "vm/base/flag.h"

/* Memory spaces; several devices may share one: ref and cpu use the host's. */
enum { MAX_DEVICES = 8, HOST_MEMORY = 0 };

typedef uint64_t DevPtr; /* void *, CUdeviceptr or cl_mem, as the device likes; 0 is no block */
typedef struct Device Device;
typedef struct Program Program; /* loaded code, private to the device */

/* KIR is lowered to `code` by the kernel compiler; the reference device takes the KFunc itself. */
typedef enum { CODE_KIR, CODE_NATIVE, CODE_PTX, CODE_AMD, CODE_OPENCL } CodeKind;

/* Code for GPUs whose threads are positions: a row of words apart, the same (emit_ptx.c). */
static inline bool qdev_runs_threads(CodeKind k) { return k == CODE_PTX || k == CODE_AMD; }

/* Of text: for each line the position in the script that it was made for, 0 where there is none.  ptx: it is PTX, of
 * which the driver speaks in other words than of OpenCL C. */
typedef struct {
    const Source *src;
    const uint32_t *pos;
    uint32_t n;
    bool ptx;
} CodeLines;

typedef struct {
    CodeKind kind;
    const char *entry; /* symbol */
    const void *bytes;
    size_t n; /* CODE_KIR: a const struct KFunc * */
    uint64_t hash;
    const char *name;    /* of the kernel, for messages */
    CodeLines lines;     /* n 0: not known */
    struct Cache *cache; /* where a device may keep what it makes of the code; NULL: nowhere */
} Code;

/* Must be layout-compatible with KFault of lang/kernel/ir/kfunc.h (asserted in vm/launch/launch.c). */
typedef struct {
    uint32_t message, pos;
    double value[2];
    int64_t at[QS_MAX_RANK];
} DevFault;

/* Who is told of a fault that comes to light when the launch has returned. */
typedef struct {
    qs_status (*tell)(void *ud, const DevFault *); /* makes it the error */
    void (*drop)(void *ud);                        /* the launch is over, whether it went well or not */
    void *ud;
    bool taken; /* set by a device that will call these; else the launch has waited */
} DevAsync;

typedef struct {
    int rank;
    int64_t domain[QS_MAX_RANK];
    int32_t block[QS_MAX_RANK];
    bool any_block; /* the kernel does not know of blocks: the device may choose others */
    DevAsync *late; /* NULL: a kernel that may fail is waited for */
} Launch;

typedef struct { /* one kernel argument */
    bool is_array;
    DevPtr block;
    size_t offset;  /* array: block of this device and byte offset of the first element */
    bool only_read; /* the launch does not write to the block */
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    uint64_t bits;
    uint8_t size; /* number: value bits, and how many bytes count */
} DevArg;

typedef struct SharingOps {    /* with others in this process who use the same driver */
    DevPtr (*queue)(Device *); /* ours, as the driver calls it */
    /* Our queue goes on when what is queued on `theirs` now is done; or, with `back`, theirs when ours is. */
    qs_status (*order)(Device *, DevPtr theirs, bool back);
    int (*ordinal)(Device *, DevPtr p); /* of the device that has the memory at p; -1: no such memory */
    /* Between addresses of the host and of devices of this kind, whichever they are; waits. */
    qs_status (*move)(Device *, DevPtr to, DevPtr from, size_t);
    /* A block that is in use when the device closes: what frees it later, on any thread. */
    qs_status (*outlive)(Device *, DevPtr, void (**release)(void *), void **owner);
    void (*give_back)(Device *); /* what was freed becomes memory that others can have; may wait */
    size_t (*left)(Device *);    /* bytes that nobody has; SIZE_MAX: not known */
} SharingOps;

/* Libraries of the device's maker; each may be missing. */
typedef enum { LIB_BLAS, LIB_FFT, LIB_SOLVER, LIB_DNN, LIB__COUNT } DevLibrary;

/* c = a*b, m by k times k by n, row-major, c packed.  lda, ldb: elements from row to row; or from column to column
 * where ta, tb say that the array is stored that way. */
typedef struct {
    qs_dtype dtype;
    int64_t m, n, k, lda, ldb;
    DevPtr a, b, c;
    bool ta, tb;
} DevGemm;

/* Packed complex data in place: `outer` times an array of extents n, whose elements are `inner` apart. */
typedef struct {
    bool wide, inverse; /* wide: of doubles */
    int rank;
    int64_t n[3], inner, outer;
    DevPtr data, real; /* real: numbers that the data, all zero, are made of first; 0: none */
} DevFft;

/* x = inverse(a)*b, or x = inverse(a), or the upper triangular x with adjoint(x)*x = a, of whose a the upper half is
 * read.  a is n by n, b and x are n by `columns`; the layouts are those of DevGemm, x is packed. */
typedef enum { SOLVE_SYSTEM, SOLVE_INVERSE, SOLVE_CHOLESKY } DevSolveKind;
typedef struct {
    DevSolveKind kind;
    qs_dtype dtype;
    int64_t n, columns, lda, ldb;
    DevPtr a, b, x;
    bool ta, tb;
    int info; /* LAPACK's: the step that found a singular, or not positive definite; 0: x is there */
} DevSolve;

/* A factorization of a, m by n, laid out as for DevGemm.  Its parts come to the host, the first index fastest; NULL is
 * one that is not wanted, k = min(m, n):
 *
 *     LU       left: both factors in one, of a or of its transpose; values: LAPACK's pivots, int
 *     QR       left: q, m by k; right: m by n, whose upper half is r
 *     SVD      left: u, m by k; values: k of the real type, descending; right: the adjoint of v, k by n
 *     EIGEN    a is Hermitian, and its lower half is read.  left: vectors as columns; values: real, ascending */
typedef enum { FACTOR_LU, FACTOR_QR, FACTOR_SVD, FACTOR_EIGEN } DevFactorKind;
typedef struct {
    DevFactorKind kind;
    qs_dtype dtype;
    int64_t m, n, lda;
    bool ta;
    DevPtr a;
    void *left, *right, *values;
    int info; /* LAPACK's; not 0, but for LU: the iteration did not converge, and nothing is there */
} DevFactor;

/* A convolution of neural layers, y from x and w, or an adjoint of it: dx in place of x from y and w, or dw in place of
 * w from x and y.  An image is packed. */
typedef enum { CONV_FORWARD, CONV_INPUT, CONV_WEIGHTS } DevConvKind;
typedef struct {          /* of int alone, so that two can be compared as memory */
    int kind, wide;       /* wide: of doubles */
    int x[4], w[4], y[4]; /* images, channels, rows, columns; w: results, channels of a group, … */
    int x_step, y_step;   /* elements from image to image */
    int stride[2], pad[2], dilation[2], groups;
} DevConvShape;
typedef struct {
    DevConvShape of;
    DevPtr x, w, y, bias; /* bias: a number for each result, or 0 */
    const char *refused;  /* why the library does not compute this, and nothing was done; NULL: it does */
} DevConv;

typedef struct MathOps {
    const char *(*missing)(Device *, DevLibrary); /* why it cannot be used, or NULL */
    qs_status (*gemm)(Device *, const DevGemm *); /* LIB_BLAS */
    qs_status (*fft)(Device *, const DevFft *);   /* LIB_BLAS and LIB_FFT */
    qs_status (*solve)(Device *, DevSolve *);     /* LIB_BLAS and LIB_SOLVER; waits */
    qs_status (*factor)(Device *, DevFactor *);   /* the same */
    qs_status (*convolve)(Device *, DevConv *);   /* LIB_DNN */
} MathOps;

typedef struct DeviceOps {
    const char *kind; /* "ref", "cpu", "cuda", "hip", "opencl", "null" */
    CodeKind code;
    int (*probe)(Ctx *, const char **why); /* how many are here; *why says why none */
    qs_status (*open)(Device *, int ordinal);
    void (*close)(Device *);
    qs_status (*alloc)(Device *, size_t, DevPtr *);
    void (*free)(Device *, DevPtr);
    qs_status (*upload)(Device *, DevPtr, size_t off, const void *, size_t);
    qs_status (*download)(Device *, void *, DevPtr, size_t off, size_t);
    qs_status (*copy)(Device *, DevPtr dst, DevPtr src, size_t);
    qs_status (*load)(Device *, const Code *, Program **);
    void (*unload)(Device *, Program *);
    /* Fills *fault when the kernel reported one (after a sync); fault may be NULL for kernels without CHECK.  A device
     * that takes l->late returns at once; the first operation that waits for it tells the fault, and fails. */
    qs_status (*launch)(Device *, Program *, const Launch *, int nargs, const DevArg *, DevFault *fault);
    qs_status (*sync)(Device *);
    /* Between two devices of this kind, in the order of both queues; NULL: only through the host. */
    qs_status (*peer)(Device *to, DevPtr dst, Device *from, DevPtr src, size_t);
    const struct SharingOps *sharing; /* NULL: its blocks are no addresses that others could use */
    void (*describe)(Device *);       /* fills named when it is first asked for; NULL: open has */
} DeviceOps;

struct Device {
    const DeviceOps *ops;
    Ctx *ctx;
    int ordinal;         /* among its kind */
    int memory;          /* memory space: HOST_MEMORY for ref and cpu */
    char named[128];     /* what qdev_name(d) gives; only who opens or describes it fills this */
    char arch[32];       /* what code is compiled for: "sm_90", "gfx90a"; "" for this machine */
    int threads;         /* how many compute */
    size_t total_memory; /* bytes; 0 unknown */
    size_t limit;        /* bytes that arrays may occupy; 0 no limit but the device's own */
    int32_t max_block;   /* work items in a block */
    bool wide;           /* thousands of positions run at once, neighbours best read neighbours: a GPU */
    bool elements;       /* sums and elements of arrays that it has and the host has not are computed there */
    const Flag *stop;    /* the machine's interrupt flag */
    Since *waits;        /* of the machine; NULL: nobody asks */
    void *state;         /* of the backend */
    int owed;            /* launches whose faults are not known yet */
    bool late;           /* it takes Launch.late */
    const MathOps *math; /* NULL: there are no libraries */
    /* NULL, or whether launches are being recorded (a CUDA graph) instead of run.  Nothing may be allocated, freed,
     * copied to or from the host or waited for then. */
    bool (*recording)(struct Device *);
    bool (*busy)(struct Device *, DevPtr); /* NULL, or whether queued work may use the block, as far as is known */
    struct Heap *heap;                     /* devices/heap.c: freed blocks kept for reuse; NULL until the first block */
};

/* Around calls in which a driver waits for what it runs, and cannot be interrupted: who is asked to end knows that it
 * is so, and says so. */
static inline void qdev_wait(Device *d) {
    if (d->waits) qsince_set(d->waits, (int64_t)qclock_ns());
}

static inline void qdev_waited(Device *d) {
    if (d->waits) qsince_set(d->waits, 0);
}

/* An interrupt counts when the wait is over. */
static inline qs_status qdev_heed(Device *d, qs_status s) {
    bool stops = s == QS_OK && d->stop && qflag_is_up(d->stop);
    return stops ? qerr_set(d->ctx, QS_EINTERRUPT, "interrupted") : s;
}

static inline const char *qdev_name(Device *d) {
    if (!*d->named && d->ops->describe) d->ops->describe(d);
    return d->named;
}

static inline bool qdev_is_recording(Device *d) { return d->recording && d->recording(d); }

extern const DeviceOps qdev_ref_ops, qdev_cpu_ops, qdev_opencl_ops, qdev_cuda_ops, qdev_hip_ops, qdev_null_ops,
    qdev_lost_ops;
#endif
