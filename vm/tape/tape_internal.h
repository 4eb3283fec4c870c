/* tape_internal.h -- private to this folder: what its files share beside tape.h. */
#ifndef VM_TAPE_INTERNAL_H
#define VM_TAPE_INTERNAL_H
#include "lang/kernel/elem/elem.h"
#include "vm/tape/tape.h"

enum { MAX_LEVELS = 64 }; /* that run at once: bits of Machine.grad_levels */

typedef struct Kept {
    struct Kept *next;
    Array *a;
} Kept;

typedef struct Tape {            /* Machine.tape */
    uint64_t serial;             /* of the node that was made last */
    uint64_t sweeps;             /* begun so far */
    uint64_t first[MAX_LEVELS];  /* serial of the first node of the level with this bit */
    uint32_t frames[MAX_LEVELS]; /* that were there before it */
    GradNode *dying;
    bool burying; /* nodes whose count reached 0, until those above them are gone */
    Kept **kept;
    size_t nkept, nbuckets; /* saved_arrays.c: snapshots by buffer */
} Tape;
static inline Tape *qtape_state(const qs_vm *vm) { return ((const Machine *)vm)->tape; }

/* -- saved_arrays.c ------------------------------------------------------------------------------------------------ */
void qsaved_forget(qs_vm *vm, Array *a);          /* a snapshot that goes */
qs_status qsaved_before_write(Ctx *c, Buffer *b); /* Ctx.before_write */

/* -- view.c -------------------------------------------------------------------------------------------------------- */
void qview_leave(qs_vm *vm, Array *a);    /* its family, since it goes */
bool qview_has_relatives(const Array *a); /* views of the same elements, which are copies */

/* -- backward.c ---------------------------------------------------------------------------------------------------- */
bool qbackward_owns(qs_value v); /* an array whose storage nobody else sees */

enum { MOST_RESULTS = 16 }; /* of an operation with a rule, and arguments */

/* -- small_op.c ---------------------------------------------------------------------------------------------------- */
/* qelementwise_record, which it is for many elements. */
qs_status qsmallop_record(qs_vm *vm, Elem e, int n, const qs_value *in, qs_value *result);
bool qsmallop_record_list(qs_vm *vm, int n, const qs_value *items, qs_value *out); /* whether all items are numbers */

/* -- rule.c -------------------------------------------------------------------------------------------------------- */
/* A function of stdlib/adjoints.q; borrowed. */
qs_status qrule_find(qs_vm *vm, const char *name, qs_value *out);
/* A built-in or a rule called with arguments that may be traced: recorded by who needs it.  Owned. */
qs_status qrule_call(qs_vm *vm, qs_value fn, int nin, const qs_value *in, int nout, qs_value *out);
qs_status qrule_builtin(qs_vm *vm, const char *name, int nin, const qs_value *in, qs_value *out);
qs_status qrule_call_named(qs_vm *vm, const char *name, int nin, const qs_value *in, int nout, qs_value *out);
/* An operation whose adjoints the function fn gives: fn(args…, results…, adjoints of the results…).  Between the two,
 * it runs; it may write into its arguments.  keeps: a letter for each argument, '|', one for each result: 'v' its
 * contents are needed, 's' its shape and type only, 'z' a result that has no derivative, 'f' one that the rule has use
 * for, too.  Arguments without a letter count as v, results as s; NULL: v for all.  With '*' before them fn gets the
 * arguments as a list, and gives a list of their adjoints.  begin, then end with nout results, or drop. */
typedef struct {
    void *rule;
    Trace **edges;
    int nin;
    const char *results;
    bool all;
} RuleCall;
qs_status qrule_begin(qs_vm *vm, qs_value fn, const char *keeps, int nin, const qs_value *in, int nout, RuleCall *call);
qs_status qrule_end(qs_vm *vm, RuleCall *call, int nout, qs_value *out);
void qrule_drop(qs_vm *vm, RuleCall *call);
#endif
