/* specialization.h -- compiled code, specialized for one combination of keys of its captured values.
 *
 * The owner (kernel*.c, loop*.c, fusion.c) begins its own struct with a Specialization.  A specialization owns its code
 * (in its arena), its loaded programs, and the measurements that decide on which device it runs. */
#ifndef VM_SPECIALIZATION_H
#define VM_SPECIALIZATION_H
#include "lang/kernel/compile.h"
#include "vm/launch/spec_key.h"

enum { MAX_VERSIONS = 4 };

typedef struct {                        /* one compiled function of a specialization */
    const KFunc *func;                  /* NULL: this version does not exist */
    bool checks;                        /* the code may report a fault */
    uint32_t nloops;                    /* number of loops in the code; with 0, the time per position is constant */
    Program *on[MAX_DEVICES];           /* by device number; NULL: not loaded */
    struct Tuning *tuning[MAX_DEVICES]; /* tune.c, by device number; NULL: not launched there yet */
} Version;

/* Measurements for one device (choose.c); times in nanoseconds. */
typedef struct {
    double ns, positions; /* time per position; the most positions in a measured launch */
    double last;          /* duration of the last measured run */
    double elsewhere;     /* total duration of the runs on other devices since the last run on this one */
    double fresh;         /* bytes transferred by each run even if the previous one was here, too: new arguments */
    int runs;
} ChoiceOn;

typedef struct {
    ChoiceOn on[MAX_DEVICES];
    double regret;   /* time lost so far because the data are on a slower device */
    double patience; /* the data move when regret exceeds patience times the cost of moving */
    int moved;       /* device number + 1 of the last move that regret caused; 0: none */
    double moving;   /* expected duration of that move */
    int last;        /* device number + 1 of the last launch; 0: none */
    /* index in Ctx.fetched, which counts the bytes of this specialization's results that were copied back to the
     * host */
    uint8_t maker;
    bool was_away;         /* the last launch was on a device with memory of its own */
    double fetched;        /* bytes of its results that the host usually reads after a launch on such a device */
    double fetched_before; /* Ctx.fetched at the last launch */
    int reported;          /* device number + 1 that --explain reported last; 0: none */
} Choice;

typedef struct SpecializationList {
    struct Specialization *first;
    int n;
} SpecializationList;

typedef struct Specialization {
    struct Specialization *next; /* next in the list, which is ordered by last use */
    size_t size;
    Arena arena;
    SpecKind spec_kind;
    Captured *entries;
    int nentries;
    const char *noun; /* in messages, before the function's name: "kernel " */
    Version version[MAX_VERSIONS];
    Choice choice;
    /* the specialization that this gradient code was derived from, kept alive by it; NULL: not a gradient */
    struct Specialization *of;
    SpecializationList gradients; /* gradient.c: gradient code that was derived from the versions */
    double evaluated;             /* elementwise_node.c: steps that the evaluator has run instead of compiled code */
    uint32_t users;               /* tape nodes that will run it, and launches whose faults are not known yet */
    bool dropped;                 /* removed from its list by the owner: the last user frees it */
    uint32_t refused;             /* bit n: device n refused the code (qlaunch_here) */
} Specialization;

/* -- specialization.c ---------------------------------------------------------------------------------------------- */
/* Returns zeroed memory, prepended to the list. */
void *qspec_new(qs_vm *vm, SpecializationList *list, size_t size, const char *noun);
/* Finds the specialization of a key; the first call builds it.  Keys are compared by their bytes, so the type of a
 * key must not have padding. */
typedef qs_status KeyedBuild(Ctx *c, Arena *arena, const void *key, KFunc **out);
qs_status qspec_find(qs_vm *vm, SpecializationList *list, const void *key, size_t size, KeyedBuild *build,
                     Specialization **out);
/* Moves the captured values, and the references they own, into f. */
void qspec_enter(Specialization *f, const CapturedList *e);
void qspec_set(Specialization *f, int which, const KFunc *func); /* func NULL: no such version */
/* Do the captured values at this site have the keys that f was compiled for?  If so, stores the values in `values`. */
static inline bool qspec_agrees(qs_vm *vm, const Specialization *f, const Site *s, qs_value *values) {
    return qcaptured_agree(vm, f->entries, f->nentries, s, f->spec_kind, values);
}
static inline void qspec_to_front(SpecializationList *list, Specialization **at) {
    Specialization *f = *at;
    *at = f->next, f->next = list->first, list->first = f;
}
/* Returns the program of a version on a device; loads it on first use. */
qs_status qspec_load(qs_vm *vm, Specialization *f, int which, Device *d, Program **out);
void qspec_drop_first(qs_vm *vm, SpecializationList *list);
void qspec_drop_last(qs_vm *vm, SpecializationList *list);
void qspec_free(qs_vm *vm, SpecializationList *list);
static inline Specialization *qspec_hold(Specialization *f) {
    for (Specialization *x = f; x; x = x->of) x->users++;
    return f;
}
void qspec_let_go(qs_vm *vm, Specialization *f);

/* -- device_program.c ---------------------------------------------------------------------------------------------- */
/* Returns the loaded code of a function on a device; it is loaded on first use and found by its hash later.  It is
 * unloaded after as many releases as calls of this function, or when the VM closes. */
qs_status qdevprog_get(qs_vm *vm, const KFunc *f, Device *d, Program **out);
void qdevprog_release(qs_vm *vm, Program *p);
struct Cache *qdevprog_cache(qs_vm *vm); /* the cache of compiled code */
/* Compiles the same code for config.compile_for and stores it in the cache; does nothing if no target is set. */
qs_status qdevprog_compile_ahead(qs_vm *vm, const KFunc *f);
void qdevprog_close(qs_vm *vm);
#endif
