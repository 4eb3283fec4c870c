/* run.h -- the one way from values and a form to a launch, private to this folder.
 *
 *     Run     what is launched: owners begin their own struct with one
 *     Binding its arguments, and the buffers in which they lie */
#ifndef VM_RUN_H
#define VM_RUN_H
#include "vm/launch/form.h"
#include "vm/launch/launch.h"
#include "vm/value/machine.h"

enum { MAX_PARAMS = 160 };

/* A buffer, or n bytes of the host for results; such memory, and what several arguments share, is a buffer of its own
 * as long as the launch lasts. */
typedef struct { Buffer *buf; void *host; size_t nbytes; uint8_t mode; bool made; DevPtr block; } Locked;

typedef struct {
    DevArg arg[MAX_PARAMS];
    Array *array[MAX_PARAMS];  /* NULL: memory of the host; of parameters that are arrays only */
    int lock[MAX_PARAMS];      /* number in `locked`; the same */
    Locked locked[MAX_PARAMS];
    int nlocked;
} Binding;

typedef struct Run {
    qs_vm *vm;
    Form *form;
    int which;                 /* version */
    Launch launch;             /* any_block: its block is chosen here */
    double positions;          /* what the time is measured by */
    double steps;              /* instructions in all, as far as they can be told; INFINITY */
    bool optional;             /* where the device refuses the processor does it; else that is an error */
    Device *device;            /* NULL: to be chosen */
    bool chosen;               /* by what was measured (choose.c) */
    bool loaded, launched;     /* how far it came */
    DevFault fault;            /* message 0: none */
    qs_status (*bind)(struct Run *); /* the arguments, but for what depends on the device */
    qs_status (*fit)(struct Run *);  /* to the device: version, blocks, results.  NULL: nothing depends on it */
    Binding bound;
} Run;

static inline const KFunc *qlaunch_func(const Run *r) { return r->form->version[r->which].func; }

/* -- launch.c ------------------------------------------------------------------------------------------------------ */
/* What all launches of a machine have in common. */
typedef struct Launches {
    struct Kernel *kernels;    /* kernel.c */
    struct Loaded *loaded;     /* program.c */
    KCompiler *compiler;
    struct Report *report;     /* report.c; NULL: nobody wants to know */
    double bandwidth[MAX_DEVICES]; /* by device: bytes per nanosecond that come to it; 0: not measured */
    double launch[MAX_DEVICES], making[MAX_DEVICES]; /* nanoseconds for a launch, for making a program; likewise */
    uint8_t makers;            /* names given to forms */
} Launches;
Launches *qlaunch_state(qs_vm *vm); /* made on first use */
/* All launches of the program come through here. */
qs_status qlaunch_run(Run *r);
void qkernel_close(qs_vm *vm); /* kernel.c */
/* The text of r->fault is the error, at this place. */
qs_status qlaunch_fault(const Run *r, Where at);

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
typedef struct { int device; double bytes, start, locking; bool timed; } Trial;
Device *qchoose_device(const Run *r);
/* A device that could not take the code or the arrays: the error goes, another one is to be chosen. */
void qchoose_shun(const Run *r);
/* Around locking and launching: what they take is what later choices are made by. */
qs_status qchoose_begin(const Run *r, Trial *t);
void qchoose_locked(const Run *r, Trial *t);
qs_status qchoose_end(const Run *r, Trial *t, qs_status s);
/* A program was made for d. */
void qchoose_made(qs_vm *vm, const Device *d, double ns);
double qchoose_now(void); /* nanoseconds */

/* -- report.c ------------------------------------------------------------------------------------------------------ */
void qreport_close(qs_vm *vm, struct Report *r);
/* --explain: a line that begins with the place, if there is one. */
void qreport_explain(qs_vm *vm, Where at, const char *fmt, ...) QS_PRINTF(3, 4);
Where qreport_place(const KFunc *f); /* its first instruction that has one */
/* Keeps code that was made for config.compile_for, if it is to be shown. */
void qreport_code(qs_vm *vm, const Code *code);
/* Keeps the code of f, about to be loaded by d, if it is to be shown. */
qs_status qreport_show(qs_vm *vm, KCompiler *k, const KFunc *f, const Device *d);
/* Around a call of a device's library, which a profile has a row for, by name and line of the script; *start is NaN
 * where none is taken. */
qs_status qreport_before(qs_vm *vm, Device *d, double *start);
qs_status qreport_after(qs_vm *vm, Device *d, const char *name, double start, double bytes, double flops);
/* The device runs it; the place where that is timed. */
qs_status qreport_launch(Run *r, Program *p);

/* -- devices.c ----------------------------------------------------------------------------------------------------- */
qs_status qdevices_current(qs_vm *vm, Device **out); /* opens the default device on first use */
/* A block for code that uses blocks and is launched without one. */
void qdevices_block(const Device *d, int rank, const int64_t *domain, int32_t *block);
void qdevices_close(qs_vm *vm);
#endif
