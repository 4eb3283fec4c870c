/* loop_run.h -- what loop*.c share.
 *
 *     loop.c         which variant, which version, and the run
 *     loop_value.c   the values that enter, and the counters
 *     loop_cost.c    is it worth it?
 *     loop_run.c     parameters, locks, the launch
 *     loop_sum.c     what the chunks of a loop have added up
 *     loop_tell.c    --explain, and errors */
#ifndef VM_LOOP_RUN_H
#define VM_LOOP_RUN_H
#include "lang/kernel/host/loop.h"
#include "vm/launch/run.h"
#include "vm/launch/regions.h"
#include "vm/launch/form.h"

enum { SOURCES = 64, RESULTS = 64, PARTS = 16, PARAMS = 2 * SOURCES + 4 * QS_MAX_RANK };

/* Where a value that enters is found: in the frame, or inside the value of an entry before it. */
typedef enum { FROM_SLOT, FROM_LOCAL, FROM_CAPTURE, FROM_CLOSURE, FROM_FIELD } From;
typedef struct {
    uint8_t from;
    int index;                   /* of the slot, the local, the capture */
    int parent;                  /* FROM_CLOSURE, FROM_FIELD: the entry of the function or object */
    const Str *field;            /* FROM_FIELD */
    LoopValue seen;
} Entry;

typedef enum { EXACT, QUICK, PARALLEL, NVERSIONS } Version; /* also the programs of a Variant */

typedef struct { /* the loop for one combination of kinds of values */
    Variant base;
    LoopRange range[QS_MAX_RANK];
    Entry source[SOURCES];
    int nsources;
    LoopResult code;             /* exact.func NULL: declined */
    bool told;                   /* --explain has said what became of it */
    uint32_t told_order;         /* where the reason was for which it has said that a run is in order */
} LoopForm;

typedef struct {
    double work;                 /* steps so far, as long as nothing was compiled */
    double begun;                /* a loop that tests a condition: how often it has begun as long as that */
    double steps;                /* of one turn; 0: it has inner loops, so that depends */
    Variants forms;
    int ndeclined;
    bool told_many;              /* --explain has said that there are too many forms */
    bool told_inner;             /* and that it is left to loops inside it */
} LoopState;

typedef struct { double first, step; int64_t turns; } Counter;

typedef struct { Buffer *buf; qs_access mode; DevPtr block; } Held;

typedef struct {
    qs_vm *vm;
    Frame *f;
    Device *d;
    LoopForm *v;
    const Counter *counters;
    const LoopRegion *region;
    int64_t chunk;                /* turns of one; how many there are */
    int64_t nchunks;
    double *sums[LOOP_SUM_ARRAYS];
    double reals[RESULTS], parts[PARTS * LOOP_CHUNKS];
    int64_t wholes[RESULTS];
    DevArg args[PARAMS];
    Held held[PARAMS];
    int nheld;
    bool loaded, launched;        /* how far it came */
    Buffer *results[PARAMS];      /* by parameter, on a device with memory of its own: what stands for reals … there */
    char order[LOOP_WHY];         /* why this run is in order although there is a parallel version; "": it is not */
    const Source *order_src;
    uint32_t order_pos;
} Call;

/* -- loop.c ------------------------------------------------------------------------------------------------------ */
const LoopCode *qloop_code(const LoopForm *v, Version which);

/* -- loop_value.c ------------------------------------------------------------------------------------------------ */
qs_value qloop_value(qs_vm *vm, const Frame *f, const LoopForm *v, int source);
bool qloop_find(qs_vm *vm, const Frame *f, const Sym *sym, qs_value *out); /* a variable of the running function */
qs_value *qloop_place(qs_vm *vm, const Frame *f, const Sym *sym);          /* of a local or a global */
bool qloop_agrees(qs_vm *vm, const Frame *f, const LoopForm *v);           /* everything is as it was seen */
Counter qloop_counter(const Frame *f, const LoopRegion *r, int i);
double qloop_last(const Counter *c);
LoopRange qloop_range(const Counter *c);
/* The job for these values; sources that it asks for are added to v.  *full: there were too many. */
typedef struct { qs_vm *vm; const Frame *f; LoopForm *v; bool full; } Asking;
LoopJob qloop_job(Asking *a, const LoopRegion *r);

/* -- loop_cost.c: steps of the interpreter ----------------------------------------------------------------------- */
double qloop_fixed_steps(qs_vm *vm, const Frame *f, const LoopRegion *r); /* of one turn; 0: inner loops decide */
double qloop_turn_steps(qs_vm *vm, const Frame *f, const LoopRegion *r);  /* of one turn, as things are now */
double qloop_steps(qs_vm *vm, const Frame *f, const LoopRegion *r);       /* of all turns */
/* Nearly all of a turn is inside loops each of which is worth all threads. */
bool qloop_is_frame(qs_vm *vm, const Frame *f, const LoopRegion *r);

/* -- loop_run.c    ----------------------------------------------------------------------------------------------- */
extern const Launch qloop_serially;
const Array *qloop_array(const Call *c, const LoopBind *b);               /* NULL: it is no array that enters */
bool qloop_apart(const Call *c, const LoopCode *code);
bool qloop_vectors_apart(const Call *c); /* what is read only at the beginning shares no memory with what is written */
bool qloop_objects_apart(const Call *c);
qs_status qloop_guard(Call *c);          /* evaluates it: c->wholes holds what it says */
qs_status qloop_run(Call *c, Device *d, Version which, const Launch *l, bool *again);

/* -- loop_sum.c -------------------------------------------------------------------------------------------------- */
bool qloop_cut(Call *c, Launch *l);      /* makes room for the sums; false: c->order says why not */
void qloop_free_sums(Call *c);
int64_t qloop_sum_count(const Call *c, int number);
/* The variables; false: whether a product over- or underflows its order decides. */
bool qloop_reduce(Call *c);
qs_status qloop_add_sums(Call *c);       /* arrays */

/* -- loop_tell.c ------------------------------------------------------------------------------------------------- */
bool qloop_is_demanded(const LoopRegion *r);
void qloop_tell(Call *c);
void qloop_tell_many(Call *c);
void qloop_tell_inner(Call *c);
void qloop_tell_refusal(Call *c, const Device *d);
/* {!parallel for} and no parallel run: an error that says why. */
qs_status qloop_demand(const Call *c);
qs_status qloop_in_order(Call *c);       /* this run is in order for the reason in c->order */
void qloop_because(Call *c, const char *fmt, ...) QS_PRINTF(2, 3);
qs_status qloop_fault(Call *c, const LoopCode *code, const DevFault *fault);
#endif
