/* specialization.h -- the code of something that is launched, for one combination of kinds of the values that enter it.
 *
 * The owner (kernel*.c, loop*.c, fusion.c) begins its own struct with a Specialization.  A form keeps its code in its
 * arena, what
 * is loaded of it, and what is known of where it runs best. */
#ifndef VM_SPECIALIZATION_H
#define VM_SPECIALIZATION_H
#include "lang/kernel/compile.h"
#include "vm/launch/spec_key.h"

enum { MAX_VERSIONS = 3 };

typedef struct {              /* one function of a form */
    const KFunc *func;        /* NULL: there is none */
    bool checks;              /* it may report a fault */
    uint32_t nloops;          /* in it: how long a position takes is known when there are none */
    Program *on[MAX_DEVICES]; /* by number of the device; NULL: not loaded */
} Version;

/* What is known of the places where a form may run (choose.c); times in nanoseconds. */
typedef struct {
    double ns, positions; /* per position; the most positions in a launch that was measured */
    double last;          /* how long the last run took that was measured */
    double elsewhere;     /* how long the runs on other devices took since the last one here */
    double fresh;         /* bytes that each run brings, even when the one before was here, too: new arguments */
    int runs;
} ChoiceOn;

typedef struct {
    ChoiceOn on[MAX_DEVICES];
    double regret;   /* time lost so far because the data are on a slower device */
    double patience; /* they move when regret is so many times what moving them costs */
    int moved;       /* number, from 1, of the device that they were moved to for that reason; 0: none */
    double moving;   /* how long that move was expected to take */
    int last;        /* number, from 1, of the device of the last launch; 0: none */
    /* the form's number in Ctx.fetched: there the bytes of its results that came home are counted */
    uint8_t maker;
    bool was_away;         /* its last launch was on a device with memory of its own */
    double fetched;        /* bytes of its results that the host usually reads after a launch on such a device */
    double fetched_before; /* Ctx.fetched when it was launched last */
    int told;              /* number, from 1, of the device that --explain named last; 0: none */
} Choice;

typedef struct SpecializationList {
    struct Specialization *first;
    int n;
} SpecializationList;

typedef struct Specialization {
    struct Specialization *next; /* used before this one */
    size_t size;
    Arena arena;
    SpecKind tells;
    Captured *entries;
    int nentries;
    const char *noun; /* in messages, before the function's name: "kernel " */
    Version version[MAX_VERSIONS];
    Choice choice;
    struct Specialization *of; /* of the code of a gradient: the form that it was made of, which stays as long; NULL */
    SpecializationList gradients; /* gradient.c: code that was made of a version, to differentiate it */
    double evaluated;             /* elementwise_node.c: steps that the evaluator has run in place of compiled code */
    uint32_t users;               /* nodes of tapes that will run them, and launches whose faults are not known */
    bool dropped;                 /* by its owner: it goes with its last user */
    uint32_t refused;             /* bit n: device n cannot have its code (qlaunch_here) */
} Specialization;

/* -- specialization.c ---------------------------------------------------------------------------------------------- */
void *qspec_new(qs_vm *vm, SpecializationList *list, size_t size,
                const char *noun); /* zeroed, and the first of the list */
/* the entries and what they keep belong to f from now on */
void qspec_enter(Specialization *f, const CapturedList *e);
void qspec_set(Specialization *f, int which, const KFunc *func); /* NULL: none */
/* Whether what enters is of the kinds that f was made for; then `values` are those of its entries. */
static inline bool qspec_agrees(qs_vm *vm, const Specialization *f, const Site *s, qs_value *values) {
    return qcaptured_agree(vm, f->entries, f->nentries, s, f->tells, values);
}
static inline void qspec_to_front(SpecializationList *list, Specialization **at) {
    Specialization *f = *at;
    *at = f->next, f->next = list->first, list->first = f;
}
/* The program of a version on a device; made on first use. */
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
/* The loaded code of a function on a device; made on first use, found by its hash later.  It is unloaded when there was
 * a release for each call of this, or when the machine closes. */
qs_status qdevprog_get(qs_vm *vm, const KFunc *f, Device *d, Program **out);
void qdevprog_release(qs_vm *vm, Program *p);
/* The same code for config.compile_for, so that the cache has it; nothing when there is none. */
qs_status qdevprog_compile_ahead(qs_vm *vm, const KFunc *f);
void qdevprog_close(qs_vm *vm);
#endif
