/* device.h -- declares the operations of a compute device; each backend is one file that fills in the DeviceOps table.
 *
 * A device receives code from the kernel compiler, memory blocks and launches.  It changes the blocks, or reports a
 * fault of the kernel.  It knows nothing about the language.  vm/launch runs kernels on it, and buffer.h places arrays
 * in its memory.
 *
 * Each device has one queue, which executes in order.  Therefore a freed block can be reused while work on it is still
 * queued, an eviction is an ordinary queued download, and only a reader of results has to wait. */
#ifndef DEVICES_DEVICE_H
#define DEVICES_DEVICE_H
#include "vm/base/clock.h"
#include "vm/base/ctx.h"
#include "vm/base/flag.h"

/* Memory spaces.  Several devices may share one: ref and cpu both use host memory. */
enum { MAX_DEVICES = 8, HOST_MEMORY = 0 };

typedef uint64_t DevPtr; /* block handle: void *, CUdeviceptr or cl_mem, depending on the device; 0: no block */
typedef struct Device Device;
typedef struct Program Program; /* loaded code, private to the device */

/* The code format of a device.  The kernel compiler lowers KIR to it; the reference device runs the KFunc itself. */
typedef enum { CODE_KIR, CODE_NATIVE, CODE_PTX, CODE_OPENCL } CodeKind;

/* Line table of generated source text: maps each line to the script position that it was generated from. */
typedef struct {
    const Source *src;   /* the script */
    const uint32_t *pos; /* position for each line; 0: none */
    uint32_t n;
    bool ptx; /* the text is PTX, whose compiler messages have another format than those for OpenCL C */
} CodeLines;

typedef struct {
    CodeKind kind;
    const char *entry; /* symbol of the kernel function */
    const void *bytes; /* the code; CODE_KIR: a const struct KFunc * */
    size_t n;
    uint64_t hash;
    const char *name;    /* kernel name for messages */
    CodeLines lines;     /* line table; n = 0: unknown */
    struct Cache *cache; /* disk cache for binaries that the device compiles from the code; NULL: none */
} Code;

/* Must be layout-compatible with KFault of lang/kernel/ir/kfunc.h (asserted in vm/launch/launch.c). */
typedef struct {
    uint32_t message, pos;
    double value[2];
    int64_t at[QS_MAX_RANK];
} DevFault;

/* Callbacks for a fault that is detected after the launch has returned (an asynchronous error). */
typedef struct {
    qs_status (*report)(void *ud, const DevFault *); /* turns the fault into the current error */
    void (*drop)(void *ud);                          /* called when the launch has ended, successfully or not */
    void *ud;
    bool taken; /* set by the device if it will call these; otherwise the launch was synchronous */
} DevAsync;

typedef struct {
    int rank;
    int64_t domain[QS_MAX_RANK];
    int32_t block[QS_MAX_RANK];
    bool any_block; /* the kernel does not use its block: the device may choose another block size */
    bool tuned;     /* with any_block: measurements have chosen `block`, so the device uses it if it can */
    DevAsync *late; /* callbacks for asynchronous errors; NULL: a launch that may fail is synchronous */
} Launch;

typedef struct { /* one kernel argument */
    bool is_array;
    DevPtr block;
    size_t offset;  /* array: byte offset of the first element in `block`, a block of this device */
    bool only_read; /* array: the launch does not write to the block */
    int rank;
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    uint64_t bits; /* scalar: bits of the value */
    uint8_t size;  /* scalar: size in bytes */
} DevArg;

typedef struct SharingOps {    /* sharing with other libraries in this process that use the same driver */
    DevPtr (*queue)(Device *); /* the driver's handle of our queue */
    /* Makes our queue wait for all work queued on `theirs` so far; with `back`, makes theirs wait for ours. */
    qs_status (*order)(Device *, DevPtr theirs, bool back);
    int (*ordinal)(Device *, DevPtr p); /* ordinal of the device that owns the memory at p; -1: no such memory */
    /* Copies between any two addresses of the host and of devices of this type; synchronous. */
    qs_status (*move)(Device *, DevPtr to, DevPtr from, size_t);
    /* Detaches a block that is still in use when the device closes: `release(owner)` frees it later, on any thread. */
    qs_status (*outlive)(Device *, DevPtr, void (**release)(void *), void **owner);
    void (*give_back)(Device *); /* returns freed memory to the driver, so that others can allocate it; may wait */
    size_t (*left)(Device *);    /* unallocated bytes of the device; SIZE_MAX: unknown */
} SharingOps;

/* The vendor's libraries; each may be missing. */
typedef enum { LIB_BLAS, LIB_FFT, LIB_SOLVER, LIB_DNN, LIB__COUNT } DevLibrary;

/* c = a*b, where a is m by k and b is k by n.  Arrays are row-major and c is packed.  lda and ldb are the distances
 * between rows in elements; with ta or tb, the array is column-major and they are the distances between columns. */
typedef struct {
    qs_dtype dtype;
    int64_t m, n, k, lda, ldb;
    DevPtr a, b, c;
    bool ta, tb;
} DevGemm;

/* An in-place FFT of packed complex data: `outer` arrays with extents n and an element stride of `inner`. */
typedef struct {
    bool wide, inverse; /* wide: double precision */
    int rank;
    int64_t n[3], inner, outer;
    DevPtr data, real; /* real: input of a real transform, first copied into the zeroed data; 0: data is the input */
} DevFft;

/* Computes x = inverse(a)*b, x = inverse(a), or the upper triangular x with adjoint(x)*x = a (Cholesky, which reads
 * only the upper half of a).  a is n by n; b and x are n by `columns`.  a and b have the layouts of DevGemm, x is
 * packed. */
typedef enum { SOLVE_SYSTEM, SOLVE_INVERSE, SOLVE_CHOLESKY } DevSolveKind;
typedef struct {
    DevSolveKind kind;
    qs_dtype dtype;
    int64_t n, columns, lda, ldb;
    DevPtr a, b, x;
    bool ta, tb;
    int info; /* LAPACK's info: the step at which a was singular or not positive definite; 0: x was computed */
} DevSolve;

/* A factorization of a, which is m by n with the layout of DevGemm.  The factors are stored in host memory in
 * column-major order; a NULL pointer means that the factor is not needed.  With k = min(m, n):
 *
 *     LU       left: both factors in one matrix, of a or of its transpose; values: LAPACK's pivots, int
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
    int info; /* LAPACK's info; except for LU, nonzero means no convergence and no result */
} DevFactor;

/* A convolution layer: computes y from x and w.  Or one of its adjoints: CONV_INPUT computes dx from dy and w, and
 * CONV_WEIGHTS computes dw from x and dy, where the same fields hold the adjoints.  Each image is packed. */
typedef enum { CONV_FORWARD, CONV_INPUT, CONV_WEIGHTS } DevConvKind;
typedef struct {          /* all members are int, so that two shapes can be compared with memcmp */
    int kind, wide;       /* wide: double precision */
    int x[4], w[4], y[4]; /* images, channels, rows, columns; w: output channels, channels per group, rows, columns */
    int x_step, y_step;   /* distance between images in elements */
    int stride[2], pad[2], dilation[2], groups;
} DevConvShape;
typedef struct {
    DevConvShape of;
    DevPtr x, w, y, bias; /* bias: one value per output channel; 0: none */
    const char *refused;  /* reason why the library does not support this, if nothing was computed; NULL: computed */
} DevConv;

typedef struct MathOps {
    const char *(*missing)(Device *, DevLibrary); /* returns why the library cannot be used, or NULL */
    qs_status (*gemm)(Device *, const DevGemm *); /* LIB_BLAS */
    qs_status (*fft)(Device *, const DevFft *);   /* LIB_BLAS and LIB_FFT */
    qs_status (*solve)(Device *, DevSolve *);     /* LIB_BLAS and LIB_SOLVER; synchronous */
    qs_status (*factor)(Device *, DevFactor *);   /* LIB_BLAS and LIB_SOLVER; synchronous */
    qs_status (*convolve)(Device *, DevConv *);   /* LIB_DNN */
} MathOps;

typedef struct DeviceOps {
    const char *kind; /* "ref", "cpu", "cuda", "opencl" */
    CodeKind code;
    int (*probe)(Ctx *, const char **why); /* returns the number of devices; 0: *why is the reason */
    qs_status (*open)(Device *, int ordinal);
    void (*close)(Device *);
    qs_status (*alloc)(Device *, size_t, DevPtr *);
    void (*free)(Device *, DevPtr);
    qs_status (*upload)(Device *, DevPtr, size_t off, const void *, size_t);
    qs_status (*download)(Device *, void *, DevPtr, size_t off, size_t);
    qs_status (*copy)(Device *, DevPtr dst, DevPtr src, size_t);
    qs_status (*load)(Device *, const Code *, Program **);
    void (*unload)(Device *, Program *);
    /* Fills *fault if the kernel reported a fault, which needs a synchronization; fault may be NULL for kernels without
     * CHECK.  A device that takes l->late returns at once; the first operation that waits for the launch reports the
     * fault and fails. */
    qs_status (*launch)(Device *, Program *, const Launch *, int nargs, const DevArg *, DevFault *fault);
    qs_status (*sync)(Device *);
    /* Copies between two devices of this type, ordered in both queues; NULL: copies pass through the host. */
    qs_status (*peer)(Device *to, DevPtr dst, Device *from, DevPtr src, size_t);
    const struct SharingOps *sharing; /* NULL: its blocks are not addresses that other libraries could use */
    void (*describe)(Device *);       /* fills `named` on first use; NULL: open has filled it */
} DeviceOps;

struct Device {
    const DeviceOps *ops;
    Ctx *ctx;
    int ordinal;         /* index among the devices of its type */
    int memory;          /* memory space: HOST_MEMORY for ref and cpu */
    char named[128];     /* name, read through qdev_name(d); only ops->open and ops->describe write it */
    char arch[32];       /* target of the compiler: "sm_90"; "": the host's architecture */
    int threads;         /* number of compute threads */
    size_t total_memory; /* bytes; 0: unknown */
    size_t limit;        /* bytes that arrays may occupy; 0: no limit except the device's own */
    int32_t max_block;   /* maximum number of work items in a block */
    bool wide;           /* a GPU: runs thousands of positions at once, and neighbours should read neighbours */
    bool elements;       /* it computes sums and elements of arrays that are current here but not on the host */
    const Flag *stop;    /* interrupt flag of the VM */
    Since *waits;        /* start of the current wait for the driver, kept for the VM; NULL: not recorded */
    void *state;         /* private to the backend */
    int owed;            /* number of launches whose faults are not known yet */
    bool late;           /* launches can be asynchronous (Launch.late) */
    const MathOps *math; /* NULL: no libraries */
    /* Returns whether launches are being recorded (in a CUDA graph) instead of run; NULL: never.  While recording,
     * nothing may be allocated, freed, copied to or from the host, or waited for. */
    bool (*recording)(struct Device *);
    bool (*busy)(struct Device *, DevPtr); /* returns whether queued work may still use the block; NULL: unknown */
    struct Heap *heap;                     /* devices/heap.c: freed blocks kept for reuse; NULL until the first block */
};

/* Marks the start of a driver call that waits and cannot be interrupted, so that an interrupt can report the wait. */
static inline void qdev_wait(Device *d) {
    if (d->waits) qsince_set(d->waits, (int64_t)qclock_ns());
}

static inline void qdev_waited(Device *d) {
    if (d->waits) qsince_set(d->waits, 0);
}

/* Returns the interrupt as an error if one was requested during a successful wait with status s. */
static inline qs_status qdev_heed(Device *d, qs_status s) {
    bool stops = s == QS_OK && d->stop && qflag_is_up(d->stop);
    return stops ? qerr_set(d->ctx, QS_EINTERRUPT, "interrupted") : s;
}

static inline const char *qdev_name(Device *d) {
    if (!*d->named && d->ops->describe) d->ops->describe(d);
    return d->named;
}

static inline bool qdev_is_recording(Device *d) { return d->recording && d->recording(d); }

extern const DeviceOps qdev_ref_ops, qdev_cpu_ops, qdev_opencl_ops, qdev_cuda_ops, qdev_lost_ops;
#endif
