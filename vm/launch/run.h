/* run.h -- the one way from values and a form to a launch, private to this folder.
 *
 *     Run     what is launched: owners begin their own struct with one
 *     Binding its arguments, and the buffers in which they lie */
#ifndef VM_RUN_H
#define VM_RUN_H
#include "vm/launch/launch.h"
#include "vm/launch/specialization.h"
#include "vm/value/machine.h"

enum { MAX_PARAMS = 160 };

/* What a launch locks: the buffer of an array, or memory of the host for results (host, nbytes).  For such memory, and
 * for memory that several arguments share, a buffer is made that lasts as long as the launch. */
typedef struct {
    Buffer *buf;
    void *host;
    size_t nbytes;
    uint8_t mode;
    bool made;
    DevPtr block;
} Locked;

/* Of a number: where it comes from, when that is traced: a traced number, of a complex one the part, or an array and
 * the element of it. */
typedef struct {
    qs_value from;
    int part;
} Origin;

typedef struct {
    DevArg arg[MAX_PARAMS];
    Origin origin[MAX_PARAMS]; /* set while a tape records (qtape_is_on) */
    Array *array[MAX_PARAMS];  /* of a parameter that is an array; NULL: it is memory of the host */
    int lock[MAX_PARAMS];      /* of a parameter that is an array: its number in `locked` */
    Locked locked[MAX_PARAMS];
    int nlocked;
} Binding;

typedef struct Run {
    qs_vm *vm;
    Specialization *form;
    int which;                       /* version */
    Launch launch;                   /* any_block: qlaunch_run chooses its block */
    double positions;                /* the measured time is divided by this */
    double steps;                    /* instructions in all; INFINITY: that cannot be told */
    bool late;                       /* a fault may be told when the launch has returned: async_error.c */
    bool optional;                   /* when the device refuses it, the processor runs it; otherwise that is an error */
    Device *device;                  /* NULL: to be chosen */
    bool chosen;                     /* choose.c chose the device, by what it has measured */
    bool loaded, launched;           /* how far the run got */
    DevFault fault;                  /* message 0: none */
    bool unrecorded;                 /* of what a tape wants to know the owner records something else */
    struct Recorded *recorded;       /* record.c: for the tape; NULL: it does not record this */
    qs_status (*bind)(struct Run *); /* sets the arguments that do not depend on the device */
    qs_status (*fit)(struct Run *);  /* sets version, block and results for the device; NULL: nothing depends on it */
    Binding bound;
} Run;

static inline const KFunc *qlaunch_func(const Run *r) { return r->form->version[r->which].func; }

/* -- launch.c ------------------------------------------------------------------------------------------------------ */
/* What all launches of a machine have in common. */
typedef struct Launches {
    struct Kernel *kernels; /* kernel.c */
    struct Loaded *loaded;  /* device_program.c */
    KCompiler *compiler;
    CacheListener *listener;
    void *listener_ud;                               /* device_program.c; NULL: nobody makes a bundle */
    struct Report *report;                           /* report.c; NULL: nobody wants to know */
    double bandwidth[MAX_DEVICES];                   /* to the device, in bytes per nanosecond; 0: not measured */
    double launch[MAX_DEVICES], making[MAX_DEVICES]; /* nanoseconds of a launch, of making a program; 0: not measured */
    SpecializationList *rows;                        /* elementwise_node.c: by row of elem.def; NULL: none yet */
    SpecializationList along;                        /* axis_launch.c */
    SpecializationList carries;                      /* move_launch.c */
    struct LaunchRecord *late, *late_free;           /* async_error.c */
    ErrorState unheard; /* async_error.c: a fault that was told, until a call from outside ends with it */
    uint8_t makers;     /* numbers given to forms so far: Choice.maker */
} Launches;
Launches *qlaunch_state(qs_vm *vm); /* made on first use */
/* All launches of the program come through here. */
qs_status qlaunch_run(Run *r);
/* The same on r->device and nowhere else; of what it cannot have it is not asked again. */
qs_status qlaunch_here(Run *r);
void qkernel_close(qs_vm *vm);      /* kernel.c */
void qelementwise_close(qs_vm *vm); /* elementwise_node.c */
/* The text of a fault of f is the error, at this place; of r->fault. */
qs_status qlaunch_tell(qs_vm *vm, const KFunc *f, const DevFault *fault, Where at);
static inline qs_status qlaunch_fault(const Run *r, Where at) {
    return qlaunch_tell(r->vm, qlaunch_func(r), &r->fault, at);
}

/* -- async_error.c ------------------------------------------------------------------------------------------------- */
bool qasync_begin(const Run *r, DevAsync *out); /* false: the launch waits, and its fault is in r->fault */
void qasync_end(const DevAsync *late);          /* when the launch has returned */
void qasync_close(qs_vm *vm);

/* -- record.c: what is launched, as a node of the tape ------------------------------------------------------------- */
/* A variable that the program gets from an array of results: element `element` of that of parameter `param`, replaced
 * by the same value with its trace. */
typedef struct {
    int param;
    int64_t element;
    qs_value *v;
} Extracted;
/* Before the launch, with everything bound: r->recorded, when a value that enters is recorded. */
qs_status qrecord_begin(Run *r);
/* After it: arrays that were written get their traces, then the variables. */
qs_status qrecord_end(Run *r, int n, const Extracted *from);
/* Before qrecord_end: it began to write, and an error stopped it, so nothing is known of what its arrays hold.  The
 * program may catch the error; the gradient of what depends on them is refused. */
void qrecord_stop(Run *r);
void qrecord_drop(Run *r); /* instead of qrecord_end: nothing was computed */

/* -- bind.c -------------------------------------------------------------------------------------------------------- */
static inline void qbind_number(Binding *b, int i, uint64_t bits, size_t size) {
    b->arg[i].is_array = false, b->arg[i].bits = bits, b->arg[i].size = (uint8_t)size;
}
/* As it lies; the caller may change rank, extents and strides of what it gives. */
DevArg *qbind_array(Binding *b, int i, Array *a, qs_access mode);
void qbind_memory(Binding *b, int i, void *p, int64_t n); /* n elements of eight bytes, read and written */
qs_status qbind_lock(Run *r);
qs_status qbind_unlock(Run *r, qs_status s); /* after work that ended with s */

/* -- choose.c: where a launch ends soonest ------------------------------------------------------------------------- */
typedef struct {
    int device;
    double bytes, start, locking;
    bool timed;
} Trial;
Device *qchoose_device(const Run *r);
/* The device cannot have the code or the arrays: the error is cleared, and this form does not run there any more. */
void qchoose_shun(const Run *r);
/* Around locking and launching: later choices go by the time that they take. */
qs_status qchoose_begin(const Run *r, Trial *t);
void qchoose_locked(const Run *r, Trial *t);
qs_status qchoose_end(const Run *r, Trial *t, qs_status s);
/* A program was made for d. */
void qchoose_made(qs_vm *vm, const Device *d, double ns);

/* -- report.c ------------------------------------------------------------------------------------------------------ */
void qreport_close(qs_vm *vm, struct Report *r);
/* --explain: a line that begins with the place, if there is one. */
void qreport_explain(qs_vm *vm, Where at, const char *fmt, ...) QS_PRINTF(3, 4);
Where qreport_place(const KFunc *f); /* its first instruction that has one */
/* Keeps code that was made for config.compile_for, if it is to be shown. */
void qreport_code(qs_vm *vm, const Code *code);
/* The same of AMD devices, by compiling f once more. */
qs_status qreport_assembly(qs_vm *vm, KCompiler *k, const KFunc *f, const char *target);
/* Keeps the code of f, about to be loaded by d, if it is to be shown. */
qs_status qreport_show(qs_vm *vm, KCompiler *k, const KFunc *f, const Device *d);
/* Before and after a call of a device's library.  A profile has a row for each, by its name and the line of the script;
 * *start is NaN where no profile is taken. */
qs_status qreport_before(qs_vm *vm, Device *d, double *start);
qs_status qreport_after(qs_vm *vm, Device *d, const char *name, double start, double bytes, double flops);
/* Runs it on the device, and times that for the profile. */
qs_status qreport_launch(Run *r, Program *p);

/* -- devices.c ----------------------------------------------------------------------------------------------------- */
qs_status qdevices_current(qs_vm *vm, Device **out); /* opens the default device on first use */
/* A block for code that uses blocks and is launched without one. */
void qdevices_block(const Device *d, int rank, const int64_t *domain, int32_t *block);
void qdevices_close(qs_vm *vm);
void qdevices_forked(qs_vm *vm); /* in the child: those with memory of their own are lost */
#endif
