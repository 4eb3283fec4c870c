/* tape_internal.h -- declarations shared by the files of this folder only. */
#ifndef VM_TAPE_INTERNAL_H
#define VM_TAPE_INTERNAL_H
#include "vm/tape/tape.h"

enum Elem;

enum { MAX_LEVELS = 64 }; /* levels that run at the same time: bits of Machine.grad_levels */

typedef struct Kept {
    struct Kept *next;
    Array *a;
} Kept;

typedef struct Tape {            /* Machine.tape */
    uint64_t serial;             /* of the newest node */
    uint64_t sweeps;             /* passes begun so far */
    uint64_t first[MAX_LEVELS];  /* serial of the first node of the level with this bit */
    uint32_t frames[MAX_LEVELS]; /* call depth before it began */
    GradNode *dying;             /* nodes whose count reached 0 while another node is being freed */
    bool burying;                /* a node is being freed */
    Kept **kept;
    size_t nkept, nbuckets; /* saved_arrays.c: snapshots by buffer */
} Tape;
static inline Tape *qtape_state(const qs_vm *vm) { return ((const Machine *)vm)->tape; }

/* -- saved_arrays.c ------------------------------------------------------------------------------------------------ */
void qsaved_forget(qs_vm *vm, Array *a);          /* removes a snapshot that is being freed */
qs_status qsaved_before_write(Ctx *c, Buffer *b); /* Ctx.before_write */

/* -- view.c -------------------------------------------------------------------------------------------------------- */
void qview_leave(qs_vm *vm, Array *a);    /* removes an array that is being freed from its family */
bool qview_has_relatives(const Array *a); /* whether copies exist that stand for views of it */

/* -- backward.c ---------------------------------------------------------------------------------------------------- */
bool qbackward_owns(qs_value v); /* whether it is an array whose storage has no other user */

enum { MOST_RESULTS = 16 }; /* results, and arguments, of an operation with a rule */

/* -- small_op.c ---------------------------------------------------------------------------------------------------- */
/* Records an elementwise operation on few elements; qelementwise_record does it for many. */
qs_status qsmallop_record(qs_vm *vm, enum Elem e, int n, const qs_value *in, qs_value *result);
/* False: not all items are numbers. */
bool qsmallop_record_list(qs_vm *vm, int n, const qs_value *items, qs_value *out);

/* -- matrix_product.c -------------------------------------------------------------------------------------------- */
qs_status qproduct_record(qs_vm *vm, const qs_value *in, qs_value *result); /* records the matrix product in[0]*in[1] */

/* -- rule.c -------------------------------------------------------------------------------------------------------- */
/* Finds a function of stdlib/adjoints.q; borrowed. */
qs_status qrule_find(qs_vm *vm, const char *name, qs_value *out);
/* Returns whether no operand or no result has elements.  All adjoints are then zero, and rules need not handle them. */
bool qrule_is_trivial(const GradNode *n);
/* Calls a built-in or a rule with arguments that may be traced; the call is recorded for enclosing levels.  Owned. */
qs_status qrule_builtin(qs_vm *vm, const char *name, int nin, const qs_value *in, qs_value *out);
qs_status qrule_call_named(qs_vm *vm, const char *name, int nin, const qs_value *in, int nout, qs_value *out);
/* Records an operation whose adjoints the function fn computes: fn(args..., results..., adjoints of the results...).
 * Call qrule_begin, run the operation (it may write to its arguments), then call qrule_end with nout results, or
 * qrule_drop. `keeps` has a letter for each argument, '|', and a letter for each result: 'v' saves the contents, 's'
 * only shape and type.  'z' saves shape and type of an argument or a result without a derivative, and 'f' the contents
 * of a result without a derivative that the rule needs.  The default is v for arguments and s for results; NULL means v
 * for all.  After a leading '*', fn takes the arguments as one list and returns a list of adjoints. */
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
