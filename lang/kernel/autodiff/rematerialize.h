/* rematerialize.h -- private to rematerialize.c and adjoint.c: a position, run again and gone back through.
 *
 * A frame is the function, or one turn of a loop.  It is run again first (rematerialize.c: its effects on memory of
 * others
 * left out), and then gone through backward (adjoint.c), while all values of the replay can be seen:
 *
 *     replay of the function                  x = …; s = 0; FOR i … s = s + f(x, i) END; y = sin(s)
 *     way back through the function           …
 *       of a loop: for each turn, last first
 *         what LOCALs hold when it begins
 *         replay of the turn
 *         way back through the turn
 *
 * What stands in an IF of a frame is not seen outside: such values lie in boxes, LOCALs that the frame begins with.
 *
 * A value of a turn that could be computed again only by going through loops is kept for each turn by the first run,
 * where turns are few.  A whole number to which a turn adds what its counter tells (at += k) needs no turns: the way
 * back takes it off. */
#ifndef LANG_REMATERIALIZE_H
#define LANG_REMATERIALIZE_H
#include "lang/kernel/autodiff/autodiff_internal.h"

/* LOCALs of f that a loop uses and that were made outside of it. */
typedef struct {
    KRef *state;
    int n;
    bool *set; /* the loop changes it */
    bool any_set;
    int64_t turns; /* of a FOR, if they are few and known; else -1 */
    KRef *entry;   /* by state: what it held when the loop began; a LOCAL of g if `boxed` */
    bool boxed;
    KRef count;    /* LOCAL of g: turns of a LOOP */
    KRef *history; /* by state: LARRAY of g, what it held at the begin of each turn; 0: there is none */
    KRef *undo;    /* by state: the SET of f that a turn can take back, knowing what came of it; or 0 */
    KRef *after;   /* by state with undo: LOCAL of g, what it held when the loop was over */
} KLoopState;

/* A sum in a LOCAL of g, which is read and written once for many additions. */
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
    uint32_t *seen; /* by instruction of f: its value in g, and the region of g where it is seen */
    KRef *box;
    uint32_t *box_seen;
    KRef *local; /* LOCAL or LARRAY of f: that of the present replay */
    KLoopState *loop;
    KRef *kept;  /* by instruction of f: LARRAY of g, its value in each turn of the loops around; or 0 */
    KRef frame;  /* of f: the loop whose turn is run; 0: the function */
    bool boxing; /* values in IFs are wanted later */
    uint8_t *closed;
    uint32_t nregions, cap; /* regions of g */
    uint32_t *open;
    int nopen;
    uint32_t pos;
    KRef base[KTAPES]; /* in g: the first entry on each tape */
    KTapeRead *read;
    uint32_t nread, read_cap;
    /* adjoint.c */
    KRef *adjoint;   /* by instruction of f: the adjoint of its value so far; 0: zero */
    KSum *sum;       /* the same of LOCALs, and of values that are used in other regions */
    KSum *param_sum; /* by parameter: of numbers, and of the element that the position owns */
    uint8_t *owner;
    KRef *element; /* by array parameter: KOwner, and an instruction of f that touches it */
    KSum **touched;
    int ntouched;
    uint8_t *crosses;
    KRef *twin;     /* LARRAY, SHARED of f: memory of adjoints */
    uint32_t *acts; /* number of instructions before this one that have an adjoint */
    KVisit *update; /* of shared_update.c: what is done at an ATOMIC, else nothing */
    KVisit *write;  /* of write_conflict.c: the same at a STORE */
    qs_status status;
};

KRef kremat_add(KRemat *v, KMake i);
KRef kremat_fold(KRemat *v, KOp op, KRef a, KRef b, KRef c);
KRef kremat_cast(KRemat *v, qs_dtype d, KRef a);
KRef kremat_whole(KRemat *v, qs_dtype d, int64_t n);
KRef kremat_open(KRemat *v, KOp op, qs_dtype own, KRef a, KRef b, KRef c); /* IF, LOOP, FOR: its instruction */
void kremat_else(KRemat *v);
void kremat_close(KRemat *v);
void kremat_bind(KRemat *v, KRef r, KRef value); /* r of f is this value from here on */
KRef kremat_use(KRemat *v, KRef r);              /* the value of r of f, at this place of g */
KRef kremat_pos(void *v, int axis);              /* int64 */

void kremat_begin(KRemat *v, const KGrading *s);
/* Runs the instructions first … last-1 of v->frame again: with boxes for what the way back needs. */
void kremat_frame(KRemat *v, KRef first, KRef last);
void kremat_turn(KRemat *v, KRef first, KRef last); /* without */
/* What a SET of f, the only one of its loop, adds to the whole number that the turn found in its LOCAL, or takes off;
 * or 0. */
KRef kremat_step(const KFunc *f, KRef set);
KRef kremat_entry(KRemat *v, const KLoopState *l, int k); /* what its LOCAL k held when the loop began */

/* -- shared_update.c ----------------------------------------------------------------------------------------------- */
/* The adjoint of what the ATOMIC i brings; at: the element in packed arrays, of which `adjoint` is the adjoint. */
KRef kshared_back(KRemat *v, const KIns *i, KRef at, KRef adjoint);
#endif
