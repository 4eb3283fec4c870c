/* trace.h -- declares traces, to which arrays and numbers point while derivatives are recorded, and hooks of the tape.
 *
 * vm/tape/tape.h explains the record.  This header has what the rooms below the tape need: the structs, the cheap tests
 * that ask whether a value is recorded, and a table of functions that vm/tape/hooks.c implements.  The tests are inline
 * because the interpreter makes them for every operation; the hooks run only when a value has a trace. */
#ifndef VM_TRACE_H
#define VM_TRACE_H
#include "vm/base/dtype.h"
#include "vm/value/machine.h"

enum Op;

struct Subscript;

typedef struct GradNode GradNode;

typedef struct Trace Trace;
struct Trace { /* one result of a node, with the type and shape of its adjoint */
    GradNode *node;
    uint8_t kind;              /* QS_NUM, QS_COMPLEX or QS_ARRAY */
    uint8_t dtype, rank, ndim; /* of an array */
    int64_t dims[QS_MAX_RANK];
};

/* An adjoint of result `of` of a node that was not computed: the reader computes it as the adjoint that `node`'s
 * reverse rule gives to `operand` for the adjoints dy. */
typedef struct DeferredAdjoint {
    int of;
    GradNode *node;
    int operand;
    const qs_value *dy;
} DeferredAdjoint;

typedef struct GradRule {
    const char *name; /* for messages: "solve", or "kernel blur" for a kernel */
    /* Computes the adjoints of the operands from the adjoints dy of the results.  nil means zero; dx starts as nil.
     * Operands without a trace (n->in[i] NULL) need no adjoint.  The rule uses ordinary operations on values that carry
     * their traces, so that enclosing levels record it. */
    qs_status (*reverse)(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx);
    /* Computes the tangents of the results from those of the operands (nil: zero); NULL: qbackward_transpose. */
    qs_status (*forward)(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy);
    void (*release)(qs_vm *vm, GradNode *n); /* frees n->data; NULL: there is none */
    /* Only for a rule with one operand: adds the adjoint of the operand to *sum in place if possible (nil: no sum
     * yet). */
    qs_status (*add)(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *sum, bool *done);
    /* Whether `reverse` adds to the array `sum` if dx[i] is passed in as that array.  `sum` is the adjoint of operand i
     * so far, and has no other owner.  NULL: no. */
    bool (*adds)(const GradNode *n, int i, qs_value sum);
    /* Whether the node n, which has the same rule, can compute this adjoint itself during its own backward step
     * (`reverse_late`, which replaces `reverse`; dy[late->of] is nil).  NULL: no. */
    qs_status (*joins)(qs_vm *vm, const GradNode *n, const DeferredAdjoint *late, bool *yes);
    qs_status (*reverse_late)(qs_vm *vm, GradNode *n, const qs_value *dy, const DeferredAdjoint *late, qs_value *dx);
    bool stretched; /* accepts an adjoint that is one repeated number as an array with strides 0 */
} GradRule;

struct GradNode {
    uint32_t refs;
    int nin, nout;
    uint64_t serial;      /* greater than the serials of the operands */
    uint64_t levels;      /* running levels, at the time of recording, whose leaves it depends on */
    uint64_t mark;        /* number of the last pass that reached it */
    GradNode *next;       /* list of nodes that are being freed */
    const GradRule *rule; /* NULL: a leaf */
    void *data;           /* owned by the rule */
    Where at;             /* source location */
    uint32_t visit;       /* its index in the last pass that reached it */
    Trace **in;           /* NULL: a constant operand */
    Trace out[];
};

/* A number that depends on a leaf; value is a QS_NUM or QS_COMPLEX. */
typedef struct Traced {
    Obj hdr;
    Trace *trace;
    qs_value value;
} Traced;

/* The functions of vm/tape, which is above the rooms that call them (Machine.trace_hooks).  tape.h describes a member
 * without a comment at the function of the same name, qtape_NAME or qhook_NAME. */
typedef struct TraceHooks {
    uint64_t (*live)(const qs_vm *vm, const GradNode *n);
    void (*release)(qs_vm *vm, Trace *t);
    void (*free_number)(qs_vm *vm, Traced *t); /* called by qval_destroy */
    void (*free_array)(qs_vm *vm, Array *a);   /* called by qarr_free: frees the trace and the family of an array */
    qs_status (*forbidden)(qs_vm *vm);
    qs_status (*unwritten)(qs_vm *vm); /* sets the error for a write to a snapshot */
    qs_status (*refuse)(qs_vm *vm, const char *what, const char *why);
    uint32_t (*frames)(const qs_vm *vm);
    /* the record of a launch */
    void (*record)(qs_vm *vm, const GradRule *rule, void *data, int nin, Trace *const *in, int nout, qs_value *out);
    qs_status (*keep)(qs_vm *vm, qs_value v, qs_value *out);
    qs_status (*keep_plain)(qs_vm *vm, qs_value v, qs_value *out);
    qs_status (*check_alone)(qs_vm *vm, Array *a, const char *name);
    qs_status (*recorded)(qs_vm *vm, qs_status s, int nout, qs_value *out);
    qs_status (*result)(qs_vm *vm, GradNode *n, int i, qs_value kept, qs_value *out);
    qs_status (*form)(qs_vm *vm, const Trace *t, qs_value *out); /* qbackward_form, qbackward_transpose */
    qs_status (*transpose)(qs_vm *vm, GradNode *n, const qs_value *dx, qs_value *dy);
    /* Each does what the interpreter's function of the same name does, and records it. */
    qs_status (*binary)(qs_vm *vm, enum Op op, qs_value a, qs_value b, qs_value *out);
    qs_status (*unary)(qs_vm *vm, enum Op op, qs_value a, qs_value *out);
    qs_status (*update)(qs_vm *vm, enum Op op, qs_value *target, qs_value v);
    qs_status (*native)(qs_vm *vm, const struct qs_native_def *d, struct qs_call_args *c);
    bool (*follows_rule)(const qs_vm *vm, int nin, const qs_value *in);
    qs_status (*function)(qs_vm *vm, Function *fn, int nin, const qs_value *in, int nout, qs_value *out);
    qs_status (*construct)(qs_vm *vm, const Type *t, int n, const qs_value *args, qs_value *out);
    qs_status (*where)(qs_vm *vm, const qs_value *c, qs_value *out);
    qs_status (*coerce)(qs_vm *vm, qs_value v, const Type *t, const char *what, qs_value *out);
    qs_status (*literal)(qs_vm *vm, qs_dtype d, int n, const qs_value *items, qs_value *out);
    qs_status (*range)(qs_vm *vm, qs_dtype d, const qs_value *bounds, bool stepped, qs_value *out);
    qs_status (*get)(qs_vm *vm, qs_value base, const struct Subscript *s, qs_value *out);
    qs_status (*set)(qs_vm *vm, qs_value base, const struct Subscript *s, qs_value v);
    qs_status (*update_at)(qs_vm *vm, enum Op op, qs_value base, const struct Subscript *s, qs_value v);
    qs_status (*element)(qs_vm *vm, qs_value base, int64_t i, qs_value *out);
} TraceHooks;
static inline const TraceHooks *qtrace(const qs_vm *vm) { return ((const Machine *)vm)->trace_hooks; }

static inline Trace *qtape_trace(qs_value v) {
    if (v.kind == QS_ARRAY) return ((Array *)v.u.p)->trace;
    return v.kind == QS_TRACED ? ((Traced *)v.u.p)->trace : NULL;
}
static inline Trace *qtape_retain(Trace *t) { return t ? t->node->refs++, t : NULL; }
/* Whether operations on v are recorded now. */
static inline bool qtape_is_recorded(const qs_vm *vm, qs_value v) {
    const Machine *m = (const Machine *)vm;
    const Trace *t = qtape_trace(v);
    return t && (t->node->levels & m->grad_levels) && !m->grad_inside && qtrace(vm)->live(vm, t->node);
}
/* Whether operations on one of them are recorded. */
static inline bool qtape_any(const qs_vm *vm, int n, const qs_value *v) {
    for (int i = 0; i < n; i++)
        if (qtape_is_recorded(vm, v[i])) return true;
    return false;
}
/* Whether any level runs: a cheap test for hot code. */
static inline bool qtape_is_on(const qs_vm *vm) { return ((const Machine *)vm)->grad_levels != 0; }
/* The number inside a traced number; other values unchanged.  Borrowed. */
static inline qs_value qtape_plain(qs_value v) { return v.kind == QS_TRACED ? ((Traced *)v.u.p)->value : v; }
static inline bool qtape_touches(qs_value v) { return __builtin_expect(qtape_trace(v) != NULL, 0); }
/* The trace of an operand before the operation runs, retained; NULL: the operand is constant. */
static inline Trace *qtape_edge(const qs_vm *vm, qs_value v) {
    return qtape_is_recorded(vm, v) ? qtape_retain(qtape_trace(v)) : NULL;
}
/* Enclose code of a hook that may read elements of traced arrays. */
static inline void qtape_enter(qs_vm *vm) { qvm(vm)->grad_inside++; }
static inline void qtape_leave(qs_vm *vm) { qvm(vm)->grad_inside--; }
/* Whether reading the elements of `a` is an error now; qarr_read and similar functions ask. */
static inline bool qtape_forbids(const qs_vm *vm, const Array *a) {
    const Machine *m = (const Machine *)vm;
    return __builtin_expect(a->trace != NULL, 0) && !m->grad_inside && (a->trace->node->levels & m->grad_levels) &&
           qtrace(vm)->live(vm, a->trace->node);
}
static inline bool qtape_is_kept(qs_value v) {
    return v.kind == QS_ARRAY && (((const Array *)v.u.p)->hdr.flags & ARRAY_KEPT);
}
/* Whether values of its type have derivatives. */
static inline bool qtape_is_smooth(qs_value v) {
    if (v.kind == QS_ARRAY) return qdtype_is_smooth((qs_dtype)((const Array *)v.u.p)->dtype);
    return v.kind == QS_NUM || v.kind == QS_COMPLEX || v.kind == QS_TRACED;
}
#endif
