/* machine.h -- declares Machine, the state of the VM, which owns all objects.  Files with state in it include this
 * header; most others only need a qs_vm and the functions of object.h. */
#ifndef VM_MACHINE_H
#define VM_MACHINE_H
#include "vm/quasar.h"
#include "vm/value/object.h"

/* A random stream: its key, and the number of blocks of four words drawn so far; see stdlib/random.c. */
typedef struct {
    uint64_t seed, drawn;
} RandomStream;

/* Members are grouped by the file that owns them. */
typedef struct Machine {
    Ctx base; /* first: (Ctx *)vm */
    qs_config config;
    /* module.c */
    struct Module *modules, *session, *main_module;
    qs_value **globals; /* address of each global: its cell, or a register of the running top level */
    struct GlobalCells *cells;
    Str **global_names;
    uint32_t nglobals, cap_globals;
    Map builtins;            /* name -> global slot */
    Map library;             /* documented functions of library files; library.c */
    uint64_t types_defined;  /* incremented when a type is defined or removed, since its name then means another type */
    struct Unit *dead_units; /* unloaded programs, to be freed by unload.c */
    struct Bundle *bundles;  /* open compiled programs; prebuilt.c */
    const struct Bundle *own; /* the compiled program contained in this executable, or NULL */
    struct Carried *carried;  /* source texts received with programs of other processes; source_bundle.c */
    /* interp.c */
    qs_value *stack, *stack_limit;
    qs_value *top; /* end of the stack slots of the innermost native; frames above it have their own end */
    struct Frame *frames;
    uint32_t nframes, cap_frames;
    struct Proto *protos;           /* compiled functions */
    struct Conversion *conversions; /* converted.c */
    uint32_t nconversions, cap_conversions;
    uint32_t depth;           /* nesting depth of interpreter runs */
    int64_t loop_least;       /* iterations from which a loop may be compiled; see vm/interp/jit.h */
    int64_t loop_look;        /* iterations of loops with conditions until one is considered for compilation */
    RandomStream random;      /* random stream shared by all threads */
    RandomStream *random_own; /* this thread's own stream, in a checkpoint; NULL: the shared one */
    uint64_t random_took;     /* blocks that this thread has drawn from any stream */
    int loops_left;           /* number of loops in freed code that had too little work to be compiled */
    double longest_left;      /* the work of the one that had most of it, and its location; 0: none has run */
    char longest_at[160];
    size_t fuse_least;     /* elements from which an expression may be fused; see vm/interp/jit.h */
    Flag interrupted;      /* set by qs_interrupt, polled by kernels and by all waits */
    Since waits, reported; /* start of the current wait for a driver (qdev_wait); start of the last reported wait */
    Flag attention;        /* makes loops call qvm_attend: an interrupt, or other Python threads want to run */
    /* gc.c */
    GcObj gc_list;
    size_t gc_count, gc_threshold;
    bool gc_running;
    /* object.c */
    GcObj *dying;
    bool burying; /* `dying` is being processed: containers with count 0, whose contents are to be released */
    /* tape.c */
    uint64_t grad_levels; /* bit per running gradient level, of any thread; 0: nothing is recorded */
    Where writes_at;      /* what a launch is going to write, while it locks it; src NULL: nothing */
    uint32_t grad_inside; /* > 0: this thread is inside a record hook and may read elements of traced arrays */
    Where grad_at;        /* operation whose rule in adjoints.q this thread runs */
    struct Tape *tape;    /* NULL until the first level */
    const struct TraceHooks *trace_hooks;     /* functions of vm/tape: trace.h */
    const struct InterpHooks *interp_hooks;   /* functions of vm/interp: hooks.h */
    const struct LaunchHooks *launch_hooks;   /* functions of vm/launch: hooks.h */
    const struct LibraryHooks *library_hooks; /* functions of stdlib: hooks.h */
    /* kernel_footprint.c */
    struct KernelReach *reach; /* collects what this thread's launches read; NULL: not collected */
    /* launch.c, devices.c */
    struct Launches *launches;
    struct Device *devices;
    int ndevices;
    struct Device *device;                 /* device on which kernels run, unless `automatic` */
    bool automatic;                        /* each launch chooses its device (choose.c) */
    uint8_t held;                          /* device_math.h: cached HELD_… value for the open devices */
    uint8_t reported_math[LIB__COUNT + 2]; /* device_math.c: last --explain report per library; 1 processor, 2 device */
    /* gemm.c */
    /* cblas_?gemm for float32 … complex128; NULL: not available or not needed yet.  side_by_side: may be called by
     * several threads at once. */
    struct {
        bool tried, side_by_side;
        void *gemm[4];
        int (*threads)(void);
        void (*set_threads)(int);
    } blas;
    /* stdlib */
    void *lib;                     /* random state, timer, figures: stdlib/core.c */
    qs_status (*windows)(qs_vm *); /* window.c: handles events of windows; NULL: no window was opened */
    bool exiting;       /* exit(n) was called: QS_EINTERRUPT unwinds everything, and handlers cannot catch it */
    int exit_code;      /* the n of exit(n) */
    Text out;           /* pending program output, flushed by qvm_flush */
    Text report;        /* api.c: result of qs_error_report; module.c: all diagnostics of a refused file */
    bool refused;       /* `report` holds diagnostics of a refused file */
    bool line_buffered; /* output is a terminal */
    bool unbuffered;    /* output is a host program, which needs it in order with its own output */
    /* the Python bridge (vm/program/python.h); NULL until a script uses it */
    const struct Python *python;
    struct Border *border;
    int bridge; /* 1 + descriptor of the file to which the bridge of an executable was written; 0: not yet */
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

/* -- slots of the stack and globals -------------------------------------------------------------------------------- */
static inline void qinterp_put(qs_vm *vm, qs_value *slot, qs_value v) { /* takes the reference of v */
    qs_value old = *slot;
    *slot = v;
    qval_release(vm, old);
}
static inline void qinterp_clear(qs_vm *vm, qs_value *slot) { qinterp_put(vm, slot, qs_nil()); }
static inline qs_value qval_unset(void) {
    qs_value v = {QS_NIL, NIL_UNSET, {0}};
    return v;
}
static inline bool qval_is_unset(qs_value v) { return v.kind == QS_NIL && v.aux == NIL_UNSET; }
#endif
