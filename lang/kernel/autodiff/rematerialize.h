/* rematerialize.h -- the part of the backward pass that recomputes values; private to lang/kernel/autodiff.
 *
 * A frame is the function, or one iteration of a loop.  rematerialize.c runs a frame again, without its effects on
 * memory that other positions can see.  Then adjoint.c goes through the frame in reverse, while all recomputed
 * values are in scope:
 *
 *     rematerialize the function                   x = …; s = 0; FOR i … s = s + f(x, i) END; y = sin(s)
 *     backward pass of the function                …
 *       backward pass of a loop: for each iteration, last first
 *         restore the LOCALs as of its beginning
 *         rematerialize the iteration
 *         backward pass of the iteration
 *
 * A value inside an IF of a frame is not in scope outside.  Such a value is saved in a box: a LOCAL declared at the
 * beginning of the frame.
 *
 * Some values of an iteration could be recomputed only by running loops.  If the number of iterations is small, the
 * first run saves them for each iteration.  An integer that grows by a step known from the loop counter (at += k)
 * is not saved per iteration: the backward pass subtracts the step. */
#ifndef LANG_REMATERIALIZE_H
#define LANG_REMATERIALIZE_H
#include "lang/kernel/autodiff/autodiff_internal.h"

/* State of a loop: the LOCALs of f that it uses and that are declared outside of it. */
typedef struct {
    KRef *state; /* the LOCALs */
    int n;
    bool *set; /* by state: the loop changes it */
    bool any_set;
    int64_t iterations; /* number of iterations of a FOR if it is small and known; else -1 */
    KRef *entry;        /* by state: its value before the loop; a LOCAL of g if `boxed` */
    bool boxed;
    KRef count;    /* LOCAL of g: number of iterations of a LOOP */
    KRef *history; /* by state: LARRAY of g with its value at the beginning of each iteration; 0: none */
    KRef *undo;    /* by state: the SET of f that the backward pass can undo by subtraction; 0: none */
    KRef *after;   /* by state with undo: LOCAL of g with its value after the loop */
} KLoopState;

/* A sum in a LOCAL of g.  It is loaded and stored once for many additions: `then` was loaded, `now` is the current
 * sum. */
typedef struct {
    KRef local, now, then;
    bool loaded;
} KSum;

typedef struct KRemat KRemat;
typedef void KVisit(KRemat *v, const KIns *i);

struct KRemat {
    const KGrading *s;
    const KFunc *f;
    KFunc *g;
    KRef *map;
    uint32_t *seen; /* map, seen: by instruction of f: its value in g, the region of g in which that is in scope */
    KRef *box;
    uint32_t *box_seen;
    KRef *local;      /* by LOCAL or LARRAY of f: its counterpart in g, in the current frame */
    KLoopState *loop; /* by loop of f */
    KRef *kept;  /* by instruction of f: LARRAY of g with its value in each iteration of the loops around; 0: none */
    KRef frame;  /* loop of f whose iteration is the current frame; 0: the function */
    bool boxing; /* values inside IFs are saved in boxes */
    uint8_t *closed;        /* by region of g: it has been closed */
    uint32_t nregions, cap; /* number of regions of g; capacity of `closed` */
    uint32_t *open;
    int nopen;
    KRef base[KTAPES]; /* in g: index of the position's first entry on each tape */
    KTapeRead *read;
    uint32_t nread, read_cap;
    /* adjoint.c */
    KRef *adjoint;   /* by instruction of f: adjoint of its value so far; 0: zero */
    KSum *sum;       /* adjoints of LOCALs, and of values that are used in other regions */
    KSum *param_sum; /* by parameter: adjoint of a number, or of the element that the position owns */
    uint8_t *owner;
    KRef *element;  /* owner, element: by array parameter: its KOwner, an instruction of f that accesses it */
    KSum **touched; /* the sums that are loaded */
    int ntouched;
    uint8_t *crosses; /* by instruction of f: its value is used in other regions */
    KRef *twin;       /* by LARRAY or SHARED of f: memory of its adjoints */
    uint32_t *acts;   /* by instruction of f: number of earlier instructions that the backward pass must handle */
    KVisit *update;   /* hook of shared_update.c, called at an ATOMIC; NULL: none */
    KVisit *write;    /* hook of write_conflict.c, called at a STORE; NULL: none */
    qs_status status;
};

KRef kremat_open(KRemat *v, KOp op, qs_dtype own, KRef a, KRef b, KRef c); /* IF, LOOP or FOR; returns it */
void kremat_else(KRemat *v);
void kremat_close(KRemat *v);
void kremat_bind(KRemat *v, KRef r, KRef value); /* sets the value of r of f from here on */
KRef kremat_use(KRemat *v, KRef r);              /* returns the value of r of f at the current point of g */
static inline KRef kremat_value(void *v, KRef r) { return kremat_use(v, r); } /* as a callback */
KRef kremat_pos(void *v, int axis);                                           /* coordinate of the position, int64 */

void kremat_begin(KRemat *v, const KGrading *s);
/* Runs the instructions first … last-1 of v->frame again.  kremat_frame also saves values in boxes. */
void kremat_frame(KRemat *v, KRef first, KRef last);
void kremat_iteration(KRemat *v, KRef first, KRef last);
/* Returns the value that a SET of f adds to the integer in its LOCAL, or subtracts from it; 0: it does something
 * else.  The SET must be the only one of its LOCAL in the loop. */
KRef kremat_step(const KFunc *f, KRef set);
KRef kremat_entry(KRemat *v, const KLoopState *l, int k); /* value of state k before the loop */

/* -- shared_update.c ----------------------------------------------------------------------------------------------- */
/* Returns the adjoint of the value with which the ATOMIC i updates; at: index of the element, adjoint: its adjoint. */
KRef kshared_back(KRemat *v, const KIns *i, KRef at, KRef adjoint);
#endif
