/* loop_run.h -- declarations shared by loop*.c.
 *
 *     loop_launch.c    chooses the specialization and the version, and handles refusals
 *     loop_value.c     describes captured values and loop counters to the compiler
 *     loop_cost.c      estimates whether compiling is worth it
 *     loop_run.c       binds parameters, launches, and sets variables afterwards
 *     list_items.c     gives the loop the items of lists, and takes them back
 *     list_objects.c   the same for fields of objects in lists
 *     loop_partials.c  combines the partial sums of a loop's chunks
 *     loop_report.c    --explain, and errors
 *     function_launch.c   runs functions that call themselves as machine code */
#ifndef VM_LOOP_RUN_H
#define VM_LOOP_RUN_H
#include "lang/kernel/lower/loop/loop.h"
#include "vm/launch/jit_hooks.h"
#include "vm/launch/run.h"
#include "vm/launch/undo.h"

enum { RESULTS = LOOP_NOTE, PARTS = 16 };

typedef enum { EXACT, QUICK, PARALLEL, SCAN } LoopVersion; /* also the indices of the versions of the Specialization */

typedef struct { /* a loop, compiled for one specialization key */
    Specialization base;
    const Node *loop; /* the loop of the program, or its `for` */
    LoopRange range[QS_MAX_RANK];
    LoopResult code;                /* exact.func NULL: the compiler declined the loop */
    KPrepared *guard, *quick_guard; /* NULL: it has not run */
    bool reported;                  /* --explain has reported the result */
    /* 1 + source position of the reason for serial execution that --explain reported last; UINT32_MAX: it has none */
    uint32_t reported_order;
    int naborted;     /* runs that a called function has ended */
    int ndeoptimized; /* runs of a speculative version that a failed assumption has ended */
} LoopSpec;

typedef struct {
    double work;  /* interpreter steps so far, while nothing is compiled */
    double begun; /* for a loop with a condition: how often it has started, while nothing is compiled */
    double steps; /* steps of one iteration; 0: not constant, because it has inner loops */
    SpecializationList forms;
    void *lists[LOOP_LISTS];      /* address space for the items of lists; NULL: none */
    struct ObjectTables *objects; /* list_objects.c; NULL: none */
    /* of runs with lists: nanoseconds of the copies and in all, copied items and fields, steps of the interpreter in
     * place of the runs */
    double copying, spent, copied, saved;
    /* The nleft latest runs that ended at a LoopLeave took so many nanoseconds; the interpreter would have taken
     * `interpreted`. */
    double until_left, interpreted;
    int nleft;
    /* of loops with a scan: the number of iterations that run in order before the next one; this number after the last
     * scan that found a rare statement soon */
    int64_t in_order, patience;
    int ndeclined;
    uint32_t refused, pause; /* attempts in a row that found a specialization without code; attempts to leave out now */
    bool waits;              /* the interpreter executes the first iteration, so that variables have their types */
    bool left;               /* to the interpreter: lists are slow in it, or a statement ends it too often */
    bool uncounted;          /* the `for` of this `while` was declined */
    bool plain;              /* code that assumes that numbers are integral has failed */
    bool divides;            /* an optional test of a guard has failed for the values of its first run */
    bool explained;          /* lowered at least once */
    bool reported_many;      /* --explain has reported that there are too many specializations */
    bool reported_inner;     /* --explain has reported that the work is left to inner loops */
} LoopState;

typedef struct {
    double first, step;
    int64_t iterations;
} Counter;

typedef struct {
    Run run;
    qs_vm *vm;
    Frame *f;
    LoopSpec *v;
    qs_value value[LOOP_MADE + LOOP_MADE_MOST]; /* values of v's entries; the arrays made for the run */
    int nmade;
    const Counter *counters;   /* NULL: their number is unknown */
    Counter part[QS_MAX_RANK]; /* of a loop with a scan: `counters`, with the iterations that this run executes */
    const LoopRegion *region;
    Node *loop;        /* that of the region, or its `for` */
    double iterations; /* product of all iteration counts; INFINITY: unknown */
    double steps;      /* estimated interpreter steps of all iterations */
    int64_t chunk;     /* iterations per chunk; nchunks: number of chunks */
    int64_t nchunks;
    int64_t untaken; /* how many chunks come before the first one that reaches a rare statement */
    double *sums[LOOP_SUM_ARRAYS];
    double reals[RESULTS + LOOP_NOTES], parts[PARTS * LOOP_CHUNKS];
    int64_t ints[RESULTS];
    double copying;         /* nanoseconds that the copies took */
    double copied;          /* number of items of lists, and of fields of objects in lists, that were copied */
    uint8_t ndim[LOOP_TWO]; /* ndim of the arrays among the first LOOP_TWO entries, before the run */
    char order[LOOP_WHY];   /* reason why this run is serial although a parallel version exists; "": it is not */
    const Source *order_src;
    uint32_t order_pos;
    Undo undo;
} Call;

/* -- loop_launch.c ------------------------------------------------------------------------------------------------- */
const LoopCode *qloop_code(const LoopSpec *v, LoopVersion which);

/* Returns the processor, which runs serial code; NULL: only the evaluator is available, and the interpreter is faster.
 */
Device *qloop_processor(qs_vm *vm);

/* -- loop_value.c -------------------------------------------------------------------------------------------------- */
/* Finds the value of a variable of the running function. */
bool qloop_find(qs_vm *vm, const Frame *f, const Sym *sym, qs_value *out);
qs_value *qloop_storage(qs_vm *vm, const Frame *f, const Sym *sym); /* address of a local or global variable */
Counter qloop_counter(const Frame *f, const LoopRegion *r, int i);
/* The remaining iterations of a `while` that has a `for`; false: its values are no integers. */
bool qloop_count_while(qs_vm *vm, const Frame *f, const Node *as_for, Counter *out);
double qloop_last(const Counter *c);
LoopRange qloop_range(const Counter *c);
/* The compile job for the current values; each value that the compiler requests becomes an entry. full: too many. */
typedef struct {
    CapturedList e;
    const Frame *f;
    const LoopRegion *region;
    bool full;
} Asking;
/* Is it a loop over the elements of a vector? */
static inline bool qloop_is_over_items(const LoopRegion *r) {
    return r->loop->kind == N_FOR && r->loop->u.loop.ranges[0]->kind != N_RANGE;
}
/* r, loop, ranges NULL: for a function. */
LoopJob qloop_job(Asking *a, const LoopRegion *r, Node *loop, const LoopRange *ranges);

/* -- loop_cost.c: estimated interpreter steps, of about LOOP_STEP_NS nanoseconds ----------------------------------- */
enum { LOOP_STEP_NS = 10 };
/* Steps of one iteration; 0: they depend on inner loops. */
double qloop_fixed_steps(qs_vm *vm, const Frame *f, const LoopRegion *r);
/* Steps of one iteration, with the current values. */
double qloop_steps_per_iteration(qs_vm *vm, const Frame *f, const LoopRegion *r);
/* The steps of the loop that run whatever its conditions are. */
double qloop_sure_steps(const Call *c);
double qloop_steps(qs_vm *vm, const Frame *f, const LoopRegion *r); /* of all iterations */
/* The value of the bound of a range, if it is a number that only variables and extents determine; else NaN. */
double qloop_bound(qs_vm *vm, const Frame *f, const Node *n);
/* Is nearly all work of an iteration inside loops that are each worth running on all threads?  FRAME_OF_SUMS: yes, and
 * some of them add up sums, whose bits differ from serial execution. */
typedef enum { FRAME_NOT, FRAME, FRAME_OF_SUMS } LoopFrame;
LoopFrame qloop_is_frame(qs_vm *vm, const Frame *f, const LoopRegion *r);

/* -- loop_run.c ---------------------------------------------------------------------------------------------------- */
bool qloop_is_recorded(const Call *c); /* is the run recorded by a tape, for derivatives? */
/* The captured array that b refers to; NULL: not a captured array. */
Array *qloop_array(const Call *c, const LoopBind *b);
bool qloop_apart(const Call *c, const LoopCode *code);
bool qloop_make_arrays(Call *c); /* false: there is no memory */
void qloop_release_arrays(Call *c);
bool qloop_vecs_plain(const Call *c);    /* whether no captured vec was made as a matrix of one row */
bool qloop_vectors_apart(const Call *c); /* arrays that are read only at the start share no memory with written ones */
/* The number of elements of a slice that the code is limited to, and that its array exceeds; 0: none.  sums: also the
 * limit of sums, QCONTIG_BLOCK. */
int qloop_length_limit(const Call *c, bool sums);
bool qloop_objects_apart(const Call *c);
/* Evaluates the guard of quick and parallel, or quick_guard; c->ints then contains its result. */
qs_status qloop_guard(Call *c, const LoopCode *guard);
/* Keeps the arrays that a version writes whose stores may be taken back; false: the copies take too long for so few
 * iterations. */
bool qloop_keep(Call *c, LoopVersion which);
/* Whether a function that the loop calls has failed; then nothing was changed, and the interpreter runs the loop. */
bool qloop_was_aborted(const Call *c);
/* Whether iterations that reach a rare statement are executed in order, and others in parallel. */
static inline bool qloop_has_rare(const Call *c) { return c->v->code.scan.func || c->v->code.rare_part >= 0; }
/* Whether the version makes assumptions that may fail; then its stores are taken back, and the exact version runs.  A
 * scan tests those of the parallel version. */
static inline bool qloop_speculates(const Call *c, LoopVersion which) {
    return which != EXACT && c->v->code.speculates && !(which == PARALLEL && qloop_has_rare(c));
}
/* Returns how many frames the interpreter could still open in f, if the function there has `regs` registers. */
int64_t qloop_frames_left(qs_vm *vm, const Frame *f, const Device *d, int64_t regs);
/* d NULL: the device for parallel work.  *again: nothing was changed, and the exact version must run instead. */
qs_status qloop_run(Call *c, Device *d, LoopVersion which, const Launch *l, bool *again);
/* Runs the scan; c->untaken is its result then. */
qs_status qloop_scan(Call *c);

/* -- list_items.c -------------------------------------------------------------------------------------------------- */
bool qloop_lists_apart(const Call *c);       /* a list that the loop changes has only one name in it */
bool qloop_open_lists(Call *c);              /* false: there is no address space */
void *qloop_list_items(Call *c, int source); /* a copy of the items of the list with this source */
/* Copies the elements of lists of vectors; false: the loop writes one of these arrays by another name. */
bool qloop_get_vectors(Call *c);
int64_t qloop_list_room(const Call *c, int source); /* the number of items for which the list may have memory */
qs_status qloop_put_lists(Call *c);                 /* after the run */
void qloop_free_lists(LoopState *s);

/* -- list_objects.c ------------------------------------------------------------------------------------------------ */
/* Gives objects their numbers, and copies their fields; false: these are no plain numbers. */
bool qloop_open_objects(Call *c);
int64_t qloop_object_number(const Call *c, int source);
bool qloop_get_columns(Call *c); /* copies the fields again */
void *qloop_column(const Call *c, int column, int64_t *count);
void qloop_put_columns(Call *c);                    /* after the run */
int64_t qloop_object_count(const Call *c, int cls); /* how many have numbers; further ones are those that it makes */
qs_status qloop_object(const Call *c, int cls, int64_t number, qs_value *out);
qs_kind qloop_column_kind(const LoopColumn *k);
void qloop_free_objects(qs_vm *vm, LoopState *s);

/* -- loop_partials.c ----------------------------------------------------------------------------------------------- */
bool qloop_cut(Call *c, Launch *l); /* allocates the partial sums; false: c->order says why that is impossible */
void qloop_free_sums(Call *c);
int64_t qloop_sum_count(const Call *c, int number);
/* Combines scalar results; false: a product may over- or underflow depending on the order of multiplication. */
bool qloop_reduce(Call *c);
qs_status qloop_add_sums(Call *c); /* adds up array sums */

/* -- loop_report.c ------------------------------------------------------------------------------------------------- */
bool qloop_is_demanded(const LoopRegion *r);
void qloop_report(Call *c);
void qloop_report_many(Call *c);
void qloop_report_inner(Call *c);
/* The error for a {!parallel for} loop that cannot run in parallel; it says why. */
qs_status qloop_demand(const Call *c);
/* The run is serial for the reason in c->order: an error for {!parallel for}, otherwise explained. */
qs_status qloop_in_order(Call *c);
void qloop_because(Call *c, const char *fmt, ...) QS_PRINTF(2, 3);
qs_status qloop_fault(Call *c);
/* Binds a number, one part of a complex number, or an array to parameter i. */
void qloop_bind_value(Binding *to, int i, qs_value v, const KParam *p, bool imaginary);
#endif
