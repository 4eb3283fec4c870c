/* autodiff.h -- derivatives of kernels, as KIR to KIR transformations.
 *
 *     in    a verified, sealed KFunc (of a kernel, a loop or an expression), and which parameters have a derivative
 *     out   functions that are launched one after another, as KGrad says
 *
 *     active.c             which values carry derivatives     autodiff.c         the list of passes, their parameters
 *     rematerialize.c      recomputes f, iteration by         adjoint.c          the backward pass over one position
 *                          iteration
 *     primal.c             runs f and fills a tape            adjoint_index.c    elements of arrays and adjoints
 *     scatter_to_gather.c  sums instead of atomic additions   privatize.c        private sums before additions
 *     shared_update.c      updates other than sums            write_conflict.c   positions that write one element
 *     forward_mode.c       forward mode
 *     producer_fusion.c    computes an adjoint where it is read instead of storing it
 *     footprint.c          how far a kernel reads around its position; no derivative, but uses adjoint_index.c
 *
 * General passes that derivatives need, too, are in lang/kernel/passes: structurize.c, dead_code.c, simplify.c.
 *
 * Reverse mode: the adjoint of a position runs f again for that position, then goes through it backward.  Values that
 * can be computed from the inputs are recomputed.  Other values (elements that f overwrites, shared memory) are saved
 * on a tape by a pass that runs f before.  The derivative of an instruction is the column `derivative` of elem.def.
 *
 * The result is ordinary KIR: it is compiled, run and differentiated again.  A derivative that cannot be computed
 * correctly is an error with its source location. */
#ifndef LANG_AUTODIFF_H
#define LANG_AUTODIFF_H
#include "lang/kernel/ir/kfunc.h"

/* A number or array that the functions take beside those of f and the adjoints. */
typedef enum {
    KX_EXTENT, /* number, int64: extent of the domain of f along axis `which` */
    KX_ROOM,   /* number, int64: most entries that a position saves on tape `which`; KX_COUNT computes it */
    KX_COUNT,  /* array, int64, one element: 0 before the counting pass, afterwards the value of KX_ROOM */
    KX_TAPE,   /* array, rank 1: room times positions of f's launch, at least 1 element; uninitialized */
    KX_GROUP,  /* array: packed, with the extents of f's parameter `which`; uninitialized */
    KX_CLAIM,  /* the same, initialized to zeros */
    KX_AFTER   /* array: packed contents of f's parameter `which` after the launch of f */
} KExtraKind;
typedef struct {
    uint8_t kind;
    int which;
} KExtra;
enum { KGRAD_TAPES = 6 };

/* Passes add to the adjoints of arrays that f reads; the caller initializes these to zeros or to a partial sum.  An
 * adjoint with one of the values below is stored first: */
typedef enum {
    KSTORED_NOT,
    KSTORED_OWN, /* each position of f's launch stores its own element; the others must be zero before */
    KSTORED_ALL  /* all elements are stored; their contents before do not matter */
} KStored;

/* All functions have the same parameters: the parameters of f, an adjoint for each active one in order, the extras. */
typedef struct {
    bool needed;           /* array: its contents before the launch of f are read */
    bool changed;          /* array: passes with `again` change it, so each gets a copy of the old contents */
    uint8_t stored;        /* array: KStored */
    bool adds;             /* array: passes add to its adjoint even if they could store it */
    int axis[QS_MAX_RANK]; /* KSTORED_OWN: by axis of the launch, the dimension whose coordinate is the position */
    int adjoint;           /* index of its adjoint among the parameters; -1: not active */
} KGradParam;

typedef struct {
    KFunc *func;
    int over;              /* -1: launched over the domain of f; else over extents of this array parameter of f */
    int axis[QS_MAX_RANK]; /* over: by axis of func's launch, the dimension of that array */
    int row;               /* not 0: the last extent of the domain of f is divided by this and rounded up */
    bool again;            /* runs f again: see KGradParam.changed */
    bool counts;           /* launched only to fill the KX_COUNT arrays, before KX_ROOM and KX_TAPE are bound */
} KGradPass;

/* The adjoint of an array is packed and has the array's rank and extents.  Its dtype is the one in which the elements
 * take part in arithmetic; complex dtypes stay.  The adjoint of a number is an array of one element of its dtype.  The
 * adjoint of an array that f writes is passed in for the new contents, and the passes replace it by the adjoint of the
 * old contents.  f's arrays may have any strides. */
typedef struct {
    KGradPass *pass;
    int npasses; /* launched in this order */
    const KGradParam *param;
    int nparams; /* number of f's parameters */
    KExtra *extra;
    int nextra; /* the parameters from first_extra on */
    int first_extra;
    int64_t room[KGRAD_TAPES]; /* by tape: entries per position; -1: a pass counts them */
} KGrad;

/* Each table has an entry for each parameter of f.
 *   active   it has a derivative; only floats and complex numbers may.  An array that f reads, and writes with values
 *            that depend on an active parameter, must be active itself.
 *   enters   the adjoint of its contents before the launch is wanted; otherwise the result there is undefined.
 *            NULL: all
 *   adds     as in KGradParam.  NULL: none
 *   one      its adjoint is an array of one element that stands for all, and no pass changes it.  NULL: none */
typedef struct {
    const bool *active, *enters, *adds, *one;
} KGradOf;
/* Computes the passes of reverse mode; everything is allocated in the arena. */
qs_status kautodiff_reverse(Ctx *c, Arena *arena, const KFunc *f, const KGradOf *of, KGrad *out);

/* -- producer_fusion.c --------------------------------------------------------------------------------------------- */
/* Fuses two passes: f reads its parameter `param`, which is the array that `of` stores through its parameter `store`.
 * The result computes the elements where f reads them.  Its parameters are f's, followed by `of`'s.  NULL: not
 * possible, or slower. */
qs_status kproducer_make(Ctx *c, Arena *arena, const KFunc *f, int param, const KFunc *of, int store, KFunc **out);

/* -- footprint.c --------------------------------------------------------------------------------------------------- */
/* A parameter whose value is known before the launch: a number, or the extents of an array. */
typedef struct {
    bool known;
    double number;
    int64_t dims[QS_MAX_RANK];
} KGiven;
/* TABLE: the elements that are read do not depend on the position. */
typedef enum { KROLE_NONE, KROLE_TABLE, KROLE_READ, KROLE_WRITTEN, KROLE_CHANGED } KFootprintRole;
typedef struct {
    uint8_t role, mode /* AccessMode of its reads */;
    bool shifted;
} KFootprintParam;
typedef struct {
    int rank;
    int64_t reach[QS_MAX_RANK]; /* by dimension: the largest distance between position and element, on both sides */
    KFootprintParam *param;     /* by parameter of f */
} KFootprint;
/* Sets an error with the source location if a distance is unbounded or a block of a larger array would give other
 * results. */
qs_status kfootprint_find(Arena *scratch, const KFunc *f, const KGiven *given, KFootprint *out);

/* Forward mode with dual numbers: one pass that runs f (so it changes f's arrays) and computes tangents, which take the
 * parameters of the adjoints.  There are no extras. */
qs_status kautodiff_forward(Ctx *c, Arena *arena, const KFunc *f, const bool *active, KGrad *out);
#endif
