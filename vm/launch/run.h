/* run.h -- specialisations of kernels, and where their parameters come from.
 *
 *   kernel.c         launches: domain, lookup, binding, locks, faults
 *   kernel_make.c    making a specialisation: values as the lowering sees them, sources, compilation
 *   devices.c  devices
 *   report.c  what --dump, --profile and --cache tell
 *   choose.c  which of them
 *
 * A kernel is compiled for the types of its arguments and of all that it mentions.  Each of those host values is a
 * Source: how to find it at launch, and the signature it had; a specialisation fits when all signatures agree. */
#ifndef VM_RUN_H
#define VM_RUN_H
#include "lang/kernel/compile.h"
#include "lang/kernel/lower/lower.h"
#include "vm/launch/launch.h"
#include "vm/value/machine.h"

enum { KRN_SOURCES = 256, KRN_PARAMS = 128, KRN_SPECS = 256 /* of one kernel; then the one used longest ago goes */ };

typedef enum { SRC_KERNEL, SRC_ARG, SRC_CAPTURE, SRC_GLOBAL, SRC_FIELD, SRC_MEMBER } SourceKind;
typedef struct {
    uint8_t kind;        /* SourceKind */
    uint8_t dims_known;  /* bit d: extent d of an array is compiled in */
    bool num_known;      /* so is the number, the text, or every element of a small array */
    bool by_value;       /* an array whose elements are parameters */
    int parent;          /* SRC_CAPTURE, SRC_FIELD, SRC_MEMBER: source of the function or object */
    int index;
    uint64_t signature;
    double num[2], *vec;
    int64_t dims[QS_MAX_RANK];
    qs_value kept;       /* a function set or text that the signature is the address of */
} KSource;

typedef struct Loaded { struct Loaded *next; uint64_t hash; Device *device; Program *program; int users; } Loaded;

typedef struct { /* of a kernel on a device; times in nanoseconds */
    Program *program;
    double ns, positions; /* per position; the most positions in a launch that was measured */
    double last;          /* what the last run that was measured took */
    double elsewhere;     /* what runs on other devices took since the last one here */
    double fresh;         /* bytes that come before each run, although the one before was here, too */
    int runs;
} SpecOn;

typedef struct Spec {
    struct Spec *next;   /* of the same kernel, last used first */
    struct Spec *newer;  /* of all, in order of making */
    uint64_t key;        /* of arguments and launch */
    int rank;
    bool serial, explicit_block, has_check;
    int32_t block[QS_MAX_RANK]; /* explicit_block: compiled for it when func->fixed_block */
    KSource *sources; int nsources;
    KFunc *func;
    KBind *binds;
    bool *covers;        /* per parameter: each position of a launch over its extents writes the element at pos */
    bool uses_blocks;
    SpecOn on[MAX_DEVICES]; /* by number of the device */
    double regret, patience; /* lost because the data are elsewhere; how often that must pay for moving them */
    int moved;           /* number, from 1, of the device that they were moved to for that reason; 0: none */
    double moving;       /* nanoseconds that this was to take */
    int last;            /* number, from 1, of the device of the last launch; 0: none */
    uint8_t maker;       /* names it in Ctx.fetched */
    bool was_away;       /* its last launch was on a device with memory of its own */
    double fetched, fetched_before; /* bytes that the host reads after a launch there; Ctx.fetched at the last launch */
    int told;            /* number, from 1, of the device that --explain named last; 0: none */
    Arena arena;
} Spec;

typedef struct { const Func *func; int positions; Spec *specs; int nspecs; } KernelEntry;

typedef struct KernelCache {
    KernelEntry *entries; uint32_t n, cap; /* hash table by func; n used */
    Spec *first, *last;
    Loaded *loaded;
    KCompiler *compiler;
    struct Report *report; /* report.c; NULL: nobody wants to know */
    double bandwidth[MAX_DEVICES]; /* by device: bytes per nanosecond that come to it; 0: not measured */
    double launch[MAX_DEVICES], making[MAX_DEVICES]; /* nanoseconds for a launch, for making a program; likewise */
    uint8_t makers;      /* names given to specialisations */
} KernelCache;

typedef struct { /* what is launched */
    bool serial, explicit_block;
    int rank;
    int64_t domain[QS_MAX_RANK];
    int32_t block[QS_MAX_RANK];
    Function *kernel;
    const qs_value *args; int nargs;
} Request;

/* -- kernel_make.c ----------------------------------------------------------------------------------------------- */
KernelCache *qlaunch_state(qs_vm *vm); /* made on first use */
uint64_t qkspec_signature(qs_value v);
/* The value of source i, given those before it. */
qs_value qkspec_value(qs_vm *vm, const KSource *s, const Request *r, const qs_value *values);
bool qkspec_agrees(qs_vm *vm, const KSource *s, qs_value v);
double qkspec_element(qs_vm *vm, Array *a, size_t i);
qs_status qkspec_make(qs_vm *vm, const Request *r, uint64_t key, Spec **out);
void qkspec_free(qs_vm *vm, Spec *s);
/* The loaded code of a function on a device; made on first use, found by its hash later.  Unloaded when each call was
 * matched by a release, or when the machine closes. */
qs_status qprogram_get(qs_vm *vm, const KFunc *f, Device *d, Program **out);
void qprogram_release(qs_vm *vm, Program *p);
/* The same code for config.compile_for, so that the cache has it; nothing when there is none. */
qs_status qprogram_compile_ahead(qs_vm *vm, const KFunc *f);
qs_status qkspec_load(qs_vm *vm, Spec *s, Device *d, Program **out);

/* -- choose.c: where a launch ends soonest ----------------------------------------------------------------- */
typedef struct { Buffer *buf; uint8_t mode; bool joint; DevPtr block; } Locked; /* joint: made for the launch */
typedef struct { Spec *spec; Device *device; double positions, bytes, start, locking; bool timed; } Trial;

Device *qchoose_device(qs_vm *vm, Spec *s, double positions, const Locked *locked, int n);
/* A device that could not take the kernel or its arrays: the error goes, another one is to be chosen.  False: there is
 * none, or the choice is not ours. */
bool qchoose_shun(qs_vm *vm, Spec *s, const Device *d);
/* Around locking and launching: what they take is what later choices are made by. */
qs_status qchoose_begin(qs_vm *vm, Trial *t, Spec *s, Device *d, double positions, const Locked *locked, int n);
void qchoose_locked(qs_vm *vm, Trial *t, const Locked *locked, int n);
/* A program was made for d. */
void qchoose_made(qs_vm *vm, const Device *d, double ns);
double qchoose_now(void); /* nanoseconds */
qs_status qchoose_end(qs_vm *vm, Trial *t, qs_status s);

/* -- report.c --------------------------------------------------------------------------------------------- */
typedef struct Report Report;
void qreport_close(qs_vm *vm, Report *r);
/* Keeps code that was made for config.compile_for, if it is to be shown. */
void qreport_code(qs_vm *vm, const Code *code);
/* Keeps the code of f, about to be loaded by d, if it is to be shown. */
qs_status qreport_show(qs_vm *vm, KCompiler *k, const KFunc *f, const Device *d);
/* Around a call of a device's library, which a profile has a row for, by name and line of the script; *start is NaN
 * where none is taken. */
qs_status qreport_before(qs_vm *vm, Device *d, double *start);
qs_status qreport_after(qs_vm *vm, Device *d, const char *name, double start, double bytes, double flops);
/* All launches come through here: the place where they are timed. */
qs_status qreport_launch(qs_vm *vm, Device *d, const KFunc *f, Program *p, const Launch *l, const DevArg *args,
                          DevFault *fault);

/* -- devices.c --------------------------------------------------------------------------------------------- */
qs_status qdevices_current(qs_vm *vm, Device **out); /* opens the default device on first use */
/* A block for kernels that use blocks and are launched without one. */
void qdevices_block(const Device *d, int rank, const int64_t *domain, int32_t *block);
void qdevices_close(qs_vm *vm);
#endif
