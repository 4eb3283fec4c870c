/* hooks.h -- declares the functions of vm/launch and stdlib that rooms below them call.
 *
 * The VM opens with all tables set (qs_open), so a caller need not ask whether there is one. */
#ifndef VM_HOOKS_H
#define VM_HOOKS_H
#include "vm/value/machine.h"

struct Frame;
struct Chunk;
struct FuseRegion;
struct LoopRegion;
struct NumTable;
struct Param;
struct Declared;
struct GivenCall;
struct LaunchRules;

/* Functions of vm/interp for vm/program, which loads what the interpreter runs (Machine.interp_hooks). */
typedef struct InterpHooks {
    qs_status (*compile)(qs_vm *vm, Func *f); /* as at the prompt; it is compiled on its first call otherwise */
    const Func *(*running)(const qs_vm *vm);  /* function of the innermost frame; NULL: none runs */
    void (*drop_unit)(qs_vm *vm, const struct Unit *u);                     /* frees the compiled functions of a unit */
    void (*close)(qs_vm *vm);                                               /* frees all compiled functions */
    qs_status (*table)(qs_vm *vm, const struct NumTable *t, qs_value *out); /* creates the array of a table */
    qs_status (*open_stack)(qs_vm *vm); /* reserves the stacks of a thread, Machine.stack and frames */
    void (*close_stack)(qs_vm *vm);
    /* qcall_declared, qcall_tie, qcall_fits, qcall_select: interp.h */
    bool (*declared)(void *vm, const Func *f, const struct Param *p, struct Declared *out);
    bool (*tie)(qs_vm *vm, const Function *set, const struct CallArgs *a, const struct GivenCall *call,
                const Func **chosen, const Func **other);
    qs_status (*fits)(qs_vm *vm, const Function *fn, const struct CallArgs *a);
    qs_status (*select)(qs_vm *vm, Function *set, const struct CallArgs *a, const struct LaunchRules *launch,
                        Function **out);
    qs_status (*cell_written)(qs_vm *vm, struct Cell *c); /* qconverted_cell_written */
} InterpHooks;
static inline const InterpHooks *qinterp_hooks(const qs_vm *vm) { return ((const Machine *)vm)->interp_hooks; }

/* Functions of vm/launch (Machine.launch_hooks); jit_hooks.h and launch.h there describe them. */
typedef struct LaunchHooks {
    /* for the interpreter: continue this expression or this loop as machine code? */
    qs_status (*fuse_at)(qs_vm *vm, struct Frame *f, uint32_t pc, bool *done);
    qs_status (*fuse_region)(qs_vm *vm, struct Frame *f, struct FuseRegion *r, bool *done);
    void (*fuse_free)(qs_vm *vm, struct FuseRegion *r);
    qs_status (*loop_enter)(qs_vm *vm, struct Frame *f, uint32_t pc, bool *done);
    qs_status (*loop_begin)(qs_vm *vm, struct Frame *f, struct LoopRegion *r, bool *done);
    qs_status (*loop_end_iteration)(qs_vm *vm, struct Frame *f, struct LoopRegion *r, bool *done);
    void (*loop_free)(qs_vm *vm, struct LoopRegion *r);
    qs_status (*function_enter)(qs_vm *vm, struct Frame *f, bool *done);
    void (*function_free)(qs_vm *vm, Proto *p);
    void (*loop_count_left)(qs_vm *vm, const Proto *p);
    qs_status (*end_call)(qs_vm *vm, qs_status s); /* qasync_end_call */
    /* for programs that are unloaded, and processes that fork */
    void (*kernel_forget)(qs_vm *vm, const struct Unit *u);
    void (*forked)(qs_vm *vm);
    /* for device_math.c: measured bandwidth to the device in bytes per nanosecond, 0: not measured; before and after a
     * call of a device library */
    double (*bandwidth)(qs_vm *vm, const struct Device *d);
    qs_status (*call_begins)(qs_vm *vm, struct Device *d, double *start);
    qs_status (*call_ended)(qs_vm *vm, struct Device *d, const char *name, double start, double bytes, double flops);
} LaunchHooks;
static inline const LaunchHooks *qlaunch_hooks(const qs_vm *vm) { return ((const Machine *)vm)->launch_hooks; }

typedef struct LibDoc { /* a row of builtins.def; name NULL: the heading of a group, whose title is in doc */
    const char *name, *signature, *doc, *matlab, *numpy;
} LibDoc;
/* What a column `adjoint` of builtins.def begins with. */
enum { ADJOINT_ZERO = '0', ADJOINT_ELEMENTS = '.', ADJOINT_CALLS = '>', ADJOINT_NONE = '!' };
/* Functions of stdlib/core.c (Machine.library_hooks). */
typedef struct LibraryHooks {
    const LibDoc *(*called_elsewhere)(const char *name); /* by its name in MATLAB or NumPy; NULL: no equivalent */
    /* The column `adjoint` of builtins.def; NULL: not a built-in of the table. */
    const char *(*adjoint)(const struct qs_native_def *d);
    void (*write)(qs_vm *vm, const char *s, size_t n); /* writes to the output as print does */
} LibraryHooks;
static inline const LibraryHooks *qlibrary_hooks(const qs_vm *vm) { return ((const Machine *)vm)->library_hooks; }
#endif
