/* machine.h -- the machine that owns all objects.  Who has state in it includes this; most others get by with a qs_vm
 * and the functions of object.h. */
#ifndef VM_MACHINE_H
#define VM_MACHINE_H
#include "vm/quasar.h"
#include "vm/value/object.h"

/* A key, and how many blocks of four words were drawn so far; see stdlib/random.c. */
typedef struct {
    uint64_t seed, drawn;
} RandomStream;

/* The machine.  Members are grouped by the file that owns them. */
typedef struct Machine {
    Ctx base; /* first: (Ctx *)vm */
    qs_config config;
    /* module.c */
    struct Module *modules, *session, *main_module;
    qs_value **globals; /* where each lives: its cell, or a register of the top level that is running */
    struct GlobalCells *cells;
    Str **global_names;
    uint32_t nglobals, cap_globals;
    Map builtins;            /* name -> global slot */
    uint64_t types_defined;  /* grows when a type is defined or ends, whose name then means another one */
    struct Unit *dead_units; /* programs of which nothing is left; freed by unload.c */
    struct Bundle *bundles;  /* compiled programs that are open; prebuilt.c.  own: what this executable is */
    const struct Bundle *own;
    struct Carried *carried; /* texts that came with programs of other processes; source_bundle.c */
    /* interp.c */
    qs_value *stack, *stack_limit;
    qs_value *top; /* end of what the innermost native uses; frames above it know their own end */
    struct Frame *frames;
    uint32_t nframes, cap_frames;
    struct Proto *protos;     /* compiled functions */
    uint32_t depth;           /* of interpreter runs inside each other */
    int64_t loop_least;       /* turns from which a loop may become machine code; see vm/launch/jit_hooks.h */
    int64_t loop_look;        /* turns of loops that test conditions until one is looked at */
    RandomStream random;      /* of all threads … */
    RandomStream *random_own; /* of this thread: what it draws from instead, in a checkpoint; NULL: that */
    uint64_t random_took;     /* of this thread: blocks that it has drawn, from any */
    int loops_left;           /* of code that is gone, those that had too little work to be compiled */
    size_t fuse_least;        /* elements from which an expression may; see vm/launch/jit_hooks.h */
    Flag interrupted;         /* set by qs_interrupt, polled by kernels and whatever waits */
    Since waits, told;        /* for a driver, see qdev_wait; the wait of which the user knows */
    Flag attention;           /* loops call qvm_attend: interrupted, or other threads of Python want their turn */
    /* gc.c */
    GcObj gc_list;
    size_t gc_count, gc_threshold;
    bool gc_running;
    /* object.c */
    GcObj *dying;
    bool burying; /* containers whose count reached 0, waiting for their contents to be released */
    /* tape.c */
    uint64_t grad_levels; /* bit per running level, of any thread; 0: nothing is recorded */
    uint32_t grad_inside; /* of this thread: who reads elements of traced arrays was let in by a door */
    Where grad_at;        /* of this thread: the operation whose rule of adjoints.q runs */
    struct Tape *tape;    /* NULL until the first level */
    /* kernel_footprint.c */
    struct KernelReach *reach; /* of this thread: what its launches read is added there; NULL: nobody asks */
    /* launch.c, devices.c */
    struct Launches *launches;
    struct Device *devices;
    int ndevices;
    struct Device *device;             /* device: where kernels run */
    bool automatic;                    /* … unless each launch chooses (choose.c) */
    uint8_t held;                      /* device_math.h: a HELD_…, of the devices that are open */
    uint8_t told_math[LIB__COUNT + 2]; /* device_math.c: what --explain said of each library; 1 processor, 2 device */
    /* gemm.c */
    /* cblas_?gemm for float32 … complex128; NULL: not here or not needed yet.  side_by_side: by several threads. */
    struct {
        bool tried, side_by_side;
        void *gemm[4];
        int (*threads)(void);
        void (*set_threads)(int);
    } blas;
    /* stdlib */
    void *lib;                     /* random state, timer, figures: stdlib/core.c */
    qs_status (*windows)(qs_vm *); /* window.c: what people did in them; NULL: there were none */
    bool exiting;
    int exit_code;      /* exit(n) was called: QS_EINTERRUPT unwinds everything, no catch takes it */
    Text out;           /* pending program output, flushed by qvm_flush */
    Text report;        /* api.c: what qs_error_report gives; module.c: all diagnostics of a refused file */
    bool refused;       /* `report` holds such diagnostics */
    bool line_buffered; /* output goes to a terminal */
    bool unbuffered;    /* or to a host program that keeps it in order with its own */
    /* the Python bridge (vm/program/python.h); NULL until a script asks for it */
    const struct Python *python;
    struct Border *border;
    int bridge; /* 1 + the file that the bridge in an executable has become; 0: not yet */
} Machine;
static inline Machine *qvm(qs_vm *vm) { return (Machine *)vm; }
static inline RandomStream *qvm_random(qs_vm *vm) {
    return qvm(vm)->random_own ? qvm(vm)->random_own : &qvm(vm)->random;
}
static inline void qvm_drew(qs_vm *vm, uint64_t blocks) {
    qvm_random(vm)->drawn += blocks;
    qvm(vm)->random_took += blocks;
}
static inline qs_value *qvm_global(qs_vm *vm, uint64_t slot) { return qvm(vm)->globals[slot]; }
#endif
