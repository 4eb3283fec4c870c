/* loop_run.h -- what loop*.c share.
 *
 *     loop_launch.c         which form, which version, and what becomes of a refusal
 *     loop_value.c   what the compiler is told of the values that enter, and the counters
 *     loop_cost.c    is it worth it?
 *     loop_run.c     parameters, the launch, variables afterwards
 *     loop_partials.c     what the chunks of a loop have added up
 *     loop_report.c    --explain, and errors */
#ifndef VM_LOOP_RUN_H
#define VM_LOOP_RUN_H
#include "lang/kernel/lower/loop/loop.h"
#include "vm/launch/jit_hooks.h"
#include "vm/launch/run.h"

enum { RESULTS = LOOP_NOTE, PARTS = 16 };

typedef enum { EXACT, QUICK, PARALLEL } LoopVersion; /* also the versions of the Specialization */

typedef struct { /* the loop for one combination of kinds of values */
    Specialization base;
    LoopRange range[QS_MAX_RANK];
    LoopResult code;     /* exact.func NULL: declined */
    bool told;           /* --explain has said what became of it */
    uint32_t told_order; /* where the reason was for which it has said that a run is in order */
} LoopSpec;

typedef struct {
    double work;  /* steps so far, as long as nothing was compiled */
    double begun; /* a loop that tests a condition: how often it has begun as long as that */
    double steps; /* of one turn; 0: it has inner loops, so that depends */
    SpecializationList forms;
    int ndeclined;
    bool told_many;  /* --explain has said that there are too many forms */
    bool told_inner; /* and that it is left to loops inside it */
} LoopState;

typedef struct {
    double first, step;
    int64_t turns;
} Counter;

typedef struct {
    Run run;
    qs_vm *vm;
    Frame *f;
    LoopSpec *v;
    qs_value value[MAX_ENTRIES]; /* of the entries of v */
    const Counter *counters;
    const LoopRegion *region;
    double turns;  /* of all counters together; INFINITY: nobody knows */
    double steps;  /* of all turns; the interpreter's */
    int64_t chunk; /* turns of one; how many there are */
    int64_t nchunks;
    double *sums[LOOP_SUM_ARRAYS];
    double reals[RESULTS + LOOP_NOTES], parts[PARTS * LOOP_CHUNKS];
    int64_t wholes[RESULTS];
    uint8_t ndim[LOOP_TWO]; /* of the arrays that entered first */
    char order[LOOP_WHY];   /* why this run is in order although there is a parallel version; "": it is not */
    const Source *order_src;
    uint32_t order_pos;
} Call;

/* -- loop_launch.c ------------------------------------------------------------------------------------------------- */
const LoopCode *qloop_code(const LoopSpec *v, LoopVersion which);

/* -- loop_value.c -------------------------------------------------------------------------------------------------- */
bool qloop_find(qs_vm *vm, const Frame *f, const Sym *sym, qs_value *out); /* a variable of the running function */
qs_value *qloop_place(qs_vm *vm, const Frame *f, const Sym *sym);          /* of a local or a global */
Counter qloop_counter(const Frame *f, const LoopRegion *r, int i);
double qloop_last(const Counter *c);
LoopRange qloop_range(const Counter *c);
/* The job for the values now; what it asks for becomes an entry.  *full: there were too many. */
typedef struct {
    CapturedList e;
    const Frame *f;
    bool full;
} Asking;
LoopJob qloop_job(Asking *a, const LoopRegion *r, const LoopRange *ranges);

/* -- loop_cost.c: steps of the interpreter ------------------------------------------------------------------------- */
double qloop_fixed_steps(qs_vm *vm, const Frame *f, const LoopRegion *r); /* of one turn; 0: inner loops decide */
double qloop_turn_steps(qs_vm *vm, const Frame *f, const LoopRegion *r);  /* of one turn, as things are now */
double qloop_steps(qs_vm *vm, const Frame *f, const LoopRegion *r);       /* of all turns */
/* Is nearly all of a turn inside loops each of which is worth all threads? */
typedef enum { FRAME_NOT, FRAME, FRAME_OF_SUMS /* what these add up has other bits than in order */ } LoopFrame;
LoopFrame qloop_is_frame(qs_vm *vm, const Frame *f, const LoopRegion *r);

/* -- loop_run.c ---------------------------------------------------------------------------------------------------- */
bool qloop_is_recorded(const Call *c);                /* by a tape, for derivatives */
Array *qloop_array(const Call *c, const LoopBind *b); /* NULL: it is no array that enters */
bool qloop_apart(const Call *c, const LoopCode *code);
bool qloop_vectors_apart(const Call *c); /* what is read only at the beginning shares no memory with what is written */
bool qloop_objects_apart(const Call *c);
qs_status qloop_guard(Call *c); /* evaluates it: c->wholes holds what it says */
/* d NULL: where parallel work runs.  *again: nothing was changed, and the exact version is to be run. */
qs_status qloop_run(Call *c, Device *d, LoopVersion which, const Launch *l, bool *again);

/* -- loop_partials.c ----------------------------------------------------------------------------------------------- */
bool qloop_cut(Call *c, Launch *l); /* makes room for the sums; false: c->order says why not */
void qloop_free_sums(Call *c);
int64_t qloop_sum_count(const Call *c, int number);
/* The variables; false: whether a product over- or underflows its order decides. */
bool qloop_reduce(Call *c);
qs_status qloop_add_sums(Call *c); /* arrays */

/* -- loop_report.c ------------------------------------------------------------------------------------------------- */
bool qloop_is_demanded(const LoopRegion *r);
void qloop_tell(Call *c);
void qloop_tell_many(Call *c);
void qloop_tell_inner(Call *c);
/* {!parallel for} and no parallel run: an error that says why. */
qs_status qloop_demand(const Call *c);
qs_status qloop_in_order(Call *c); /* this run is in order for the reason in c->order */
void qloop_because(Call *c, const char *fmt, ...) QS_PRINTF(2, 3);
qs_status qloop_fault(Call *c);
#endif
