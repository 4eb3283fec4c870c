/* run.h -- runs a specialization with given values; private to this folder.
 *
 *     Run     a launch; each kind of launch has its own struct that begins with a Run
 *     Binding its arguments, and the buffers that contain them */
#ifndef VM_RUN_H
#define VM_RUN_H
#include "vm/launch/launch.h"
#include "vm/launch/specialization.h"
#include "vm/value/machine.h"

enum { MAX_PARAMS = 160 };

/* Memory that a launch locks: the buffer of an array, or host memory for results (host, nbytes).  A temporary buffer is
 * made for host memory, and for memory that several arguments share; it exists until the launch ends. */
typedef struct {
    Buffer *buf;
    void *host;
    size_t nbytes;
    uint8_t mode;
    bool made;
    DevPtr block;
} Locked;

/* Origin of a number whose value is traced: a traced number (of a complex one, the part), or an array and the index of
 * the element. */
typedef struct {
    qs_value from;
    int part;
} Origin;

typedef struct {
    DevArg arg[MAX_PARAMS];
    Origin origin[MAX_PARAMS]; /* set while a tape records (qtape_is_on) */
    Array *array[MAX_PARAMS];  /* the array of an array parameter; NULL: the parameter is host memory */
    int lock[MAX_PARAMS];      /* index in `locked` of an array parameter's memory */
    Locked locked[MAX_PARAMS];
    int nlocked;
} Binding;

typedef struct Run {
    qs_vm *vm;
    Specialization *form;
    int which;        /* index of the version in form->version */
    Launch launch;    /* any_block: qlaunch_run chooses the block size */
    double positions; /* number of positions; the measured time is divided by it */
    double steps;     /* estimated number of instructions; INFINITY: unknown */
    bool late;        /* the launch may return before a fault is known: async_error.c */
    /* if the device refuses the code, the processor runs it; otherwise a refusal is an error */
    bool optional;
    Device *device;                  /* NULL: not chosen yet */
    bool chosen;                     /* choose.c chose the device from measured times */
    bool loaded, launched;           /* progress of the current attempt */
    DevFault fault;                  /* message 0: no fault */
    bool unrecorded;                 /* record.c does not record this launch; the owner may record it in its own way */
    struct Recorded *recorded;       /* record.c: the record for the tape; NULL: this launch is not recorded */
    qs_status (*bind)(struct Run *); /* binds the arguments that do not depend on the device */
    /* sets version, block and result memory for the chosen device; NULL: nothing depends on it */
    qs_status (*fit)(struct Run *);
    Binding bound;
} Run;

static inline const KFunc *qlaunch_func(const Run *r) { return r->form->version[r->which].func; }

/* -- launch.c ------------------------------------------------------------------------------------------------------ */
/* State shared by all launches of a VM. */
typedef struct Launches {
    struct Kernel *kernels; /* kernel.c */
    struct Loaded *loaded;  /* device_program.c */
    KCompiler *compiler;
    CacheListener *listener;
    void *listener_ud;     /* device_program.c; NULL: no source bundle is being made */
    struct Report *report; /* report.c; NULL: no report is requested */
    /* bandwidth to each device, in bytes per nanosecond; 0: not measured */
    double bandwidth[MAX_DEVICES];
    /* nanoseconds per launch, and per program load; 0: not measured */
    double launch[MAX_DEVICES], making[MAX_DEVICES];
    /* elementwise_node.c: indexed by elementwise op; NULL: none yet */
    SpecializationList *rows;
    SpecializationList along;              /* axis_launch.c */
    SpecializationList carries;            /* move_launch.c */
    struct LaunchRecord *late, *lazy_free; /* async_error.c */
    ErrorState unheard; /* async_error.c: an error that was reported, saved until the outermost call ends with it */
    int judged;         /* tune.c: number of reports */
    uint8_t makers;     /* last number given to a specialization: Choice.maker */
} Launches;
Launches *qlaunch_state(qs_vm *vm); /* created on first use */
/* Binds, chooses a device, loads and runs.  All launches of the program use this function. */
qs_status qlaunch_run(Run *r);
/* The same, but on r->device only.  If the device refuses the code once, later calls fail without asking again. */
qs_status qlaunch_here(Run *r);
void qkernel_close(qs_vm *vm);      /* kernel.c */
void qelementwise_close(qs_vm *vm); /* elementwise_node.c */
/* Sets the text of a fault of f as the error, with this source location; qlaunch_fault does so for r->fault. */
qs_status qlaunch_report_fault(qs_vm *vm, const KFunc *f, const DevFault *fault, Where at);
static inline qs_status qlaunch_fault(const Run *r, Where at) {
    return qlaunch_report_fault(r->vm, qlaunch_func(r), &r->fault, at);
}

/* -- async_error.c ------------------------------------------------------------------------------------------------- */
bool qasync_begin(const Run *r, DevAsync *out); /* false: the launch is synchronous, and its fault is in r->fault */
void qasync_end(const DevAsync *late);          /* call it when the launch has returned */
void qasync_close(qs_vm *vm);

/* -- record.c: records a launch as a node of the tape -------------------------------------------------------------- */
/* A variable whose new value is taken from a result array: element `element` of the array of parameter `param`.  *v is
 * replaced by the same value with its trace. */
typedef struct {
    int param;
    int64_t element;
    qs_value *v;
} Extracted;
/* Call before the launch, with everything bound: creates r->recorded if an input is recorded on the tape. */
qs_status qrecord_begin(Run *r);
/* Call after the launch: gives traces to the arrays that were written, then to the variables. */
qs_status qrecord_end(Run *r, int n, const Extracted *from);
/* Call before qrecord_end if an error stopped the launch while it was writing: the contents of its arrays are
 * undefined.  The program may catch the error; a gradient of values that depend on these arrays is then refused. */
void qrecord_stop(Run *r);
void qrecord_drop(Run *r); /* call instead of qrecord_end if nothing was computed */

/* -- bind.c -------------------------------------------------------------------------------------------------------- */
static inline void qbind_number(Binding *b, int i, uint64_t bits, size_t size) {
    b->arg[i].is_array = false, b->arg[i].bits = bits, b->arg[i].size = (uint8_t)size;
}
/* Binds the array with its own rank, extents and strides; the caller may change these in the result. */
DevArg *qbind_array(Binding *b, int i, Array *a, qs_access mode);
/* Binds n elements of eight bytes of host memory, read and written. */
void qbind_memory(Binding *b, int i, void *p, int64_t n);
void qbind_text(Binding *b, int i, const char *s, uint32_t n); /* the bytes of a string, for reading */
qs_status qbind_lock(Run *r);
qs_status qbind_unlock(Run *r, qs_status s); /* s: status of the launch; returned unless unlocking fails */

/* -- choose.c: chooses the device with the shortest predicted time ------------------------------------------------- */
typedef struct {
    int device;
    double bytes, start, locking;
    bool timed;
} Trial;
Device *qchoose_device(const Run *r);
/* Excludes r->device from later choices for this specialization, since it refused the code or the arrays; clears the
 * error. */
void qchoose_shun(const Run *r);
/* Called around locking and launching: measure the times that later choices use. */
qs_status qchoose_begin(const Run *r, Trial *t);
void qchoose_locked(const Run *r, Trial *t);
qs_status qchoose_end(const Run *r, Trial *t, qs_status s);
/* Records the time for making a program for d. */
void qchoose_made(qs_vm *vm, const Device *d, double ns);

/* -- report.c ------------------------------------------------------------------------------------------------------ */
void qreport_close(qs_vm *vm, struct Report *r);
/* Prints a line of --explain, which begins with the source location if there is one. */
void qreport_explain(qs_vm *vm, Where at, const char *fmt, ...) QS_PRINTF(3, 4);
Where qreport_location(const KFunc *f); /* location of the first instruction that has one */
/* Collects code that was made for config.compile_for, if --dump requests it. */
void qreport_code(qs_vm *vm, const Code *code);
/* Collects the code of f, which d is about to load, if --dump requests it. */
qs_status qreport_show(qs_vm *vm, KCompiler *k, const KFunc *f, const Device *d);
/* Called before and after a call of a device library.  A profile has a row for each library function and script line;
 * *start is NaN if no profile is taken. */
qs_status qreport_before(qs_vm *vm, Device *d, double *start);
qs_status qreport_after(qs_vm *vm, Device *d, const char *name, double start, double bytes, double flops);
/* Runs the program on the device and measures the time for the profile. */
qs_status qreport_launch(Run *r, Program *p);

/* -- tune.c: measures which block size is the fastest (--tune) ----------------------------------------------------- */
double qtune_positions(const Launch *l); /* number of positions of the launch */
/* Sets the block of a launch with any_block to the one that was measured to be the fastest, if there is one. */
void qtune_block(Run *r);
/* Runs the program; before, measures other blocks with its arguments if that was not done yet. */
qs_status qtune_launch(Run *r, Program *p);
void qtune_close(qs_vm *vm); /* says so if nothing was measured */

/* -- devices.c ----------------------------------------------------------------------------------------------------- */
qs_status qdevices_current(qs_vm *vm, Device **out); /* opens the default device on first use */
/* Chooses a block size for code that uses blocks and is launched without one. */
void qdevices_block(const Device *d, int rank, const int64_t *domain, int32_t *block);
void qdevices_close(qs_vm *vm);
void qdevices_forked(qs_vm *vm); /* called in the child after fork: devices with memory of their own are lost */
#endif
