/* autodiff.h -- derivatives of kernels: KIR comes in, KIR goes out.
 *
 *     in    a verified, sealed KFunc (of a kernel, a loop or an expression), and which parameters have a derivative
 *     out   functions that are launched one after another, as KGrad says
 *
 *     structurize.c   jumps become conditions          active.c   what carries a derivative, what is wanted
 *     rematerialize.c   f again, turn by turn            adjoint.c  the way back
 *     primal.c   f again, with a tape             dead_code.c    what nobody needs goes
 *     scatter_to_gather.c   sums instead of additions        adjoint_index.c    elements of arrays and adjoints
 *     shared_update.c    updates other than sums          privatize.c   sums before additions
 *     forward_mode.c     forward derivatives              autodiff.c     passes and their parameters
 *     simplify.c    fewer products, with fast math   write_conflict.c    positions that write one element
 *     producer_fusion.c     two ways back as one: an adjoint is computed where it is read
 *     footprint.c     how far a kernel reads around its position; no derivative, but it asks adjoint_index.c the same
 *
 * Reverse: the adjoint of a position runs f again for that position, then goes back through it.  What is known again
 * from the inputs is computed again.  What is not (elements that f itself overwrites, shared memory) is kept on a tape
 * by a pass that runs f before.  The derivative of an instruction is the column `derivative` of elem.def.
 *
 * What comes out is KIR like any other: it is compiled, run and differentiated again.  What cannot be done right is an
 * error with its place in the source. */
#ifndef LANG_AUTODIFF_H
#define LANG_AUTODIFF_H
#include "lang/kernel/ir/kfunc.h"

/* A number or array that the functions take beside those of f and the adjoints. */
typedef enum {
    KX_EXTENT, /* number, int64: extent of the domain of f along axis `which` */
    KX_ROOM,   /* number, int64: entries that a position keeps on tape `which` at most; KX_COUNT told */
    KX_COUNT,  /* array, int64, one element, 0 before the pass that counts: afterwards what KX_ROOM wants */
    KX_TAPE,   /* array, rank 1: room times positions of f's launch, at least 1 element; contents free */
    KX_GROUP,  /* array: an element for each of f's parameter `which`, packed; contents free */
    KX_CLAIM,  /* the same, of zeros */
    KX_AFTER   /* array: what f's parameter `which` holds after the launch of f; its rank, extents and dtype, packed */
} KExtraKind;
typedef struct {
    uint8_t kind;
    int which;
} KExtra;
enum { KGRAD_TAPES = 6 };

/* Passes add to adjoints of what f reads, which come in as zeros, or as what is known already.  Some store at first: */
typedef enum {
    KSTORED_NOT,
    KSTORED_OWN, /* each position of f's launch one element, its own: what has no position has to be zero before */
    KSTORED_ALL  /* all elements: the contents before do not matter */
} KStored;

/* All functions take the same parameters: those of f, one adjoint for each active one, in order, then the extras. */
typedef struct {
    bool needed;    /* array: its contents before the launch of f are read */
    bool changed;   /* array: passes with `again` change it: each gets a copy of those contents, others get these */
    uint8_t stored; /* array: KStored */
    bool adds;      /* array: passes add to its adjoint, also where they could store */
    int axis[QS_MAX_RANK]; /* KSTORED_OWN: of which dimension the position along each axis is the coordinate */
    int adjoint;           /* its adjoint among the parameters; -1: not active */
} KGradParam;

typedef struct {
    KFunc *func;
    int over;              /* -1: launched over the domain of f; else over extents of this array parameter of f: */
    int axis[QS_MAX_RANK]; /* of which dimension the extent along each axis of func's launch is */
    int row;               /* not 0: over the domain of f, its last extent divided by this and rounded up */
    bool again;            /* runs f again: see KGradParam.changed */
    bool counts;           /* to be launched only to fill the arrays KX_COUNT; then KX_ROOM and KX_TAPE are bound */
} KGradPass;

/* The adjoint of an array has its rank and extents, is packed, and has the dtype in which its elements take part in
 * arithmetic (complex ones keep theirs); that of a number is an array of one element, of its dtype.  The adjoint of
 * what f writes comes in as that of its new contents and goes out as that of the old ones.  Strides of f's arrays
 * may be anything. */
typedef struct {
    KGradPass *pass;
    int npasses; /* in this order */
    const KGradParam *param;
    int nparams; /* of f */
    KExtra *extra;
    int nextra; /* parameters from first_extra on */
    int first_extra;
    int64_t room[KGRAD_TAPES]; /* by tape: entries per position; -1: a pass counts them */
} KGrad;

/* By parameter of f.  active: only floats and complex numbers can be.  An array that f writes with what depends on an
 * active parameter, and reads, has to be active itself.  enters: of active ones, whether somebody asks for the adjoint
 * of what they held before; where not, what comes out there means nothing; NULL: of all.  adds: as in KGradParam; NULL:
 * of none.  one: its adjoint, which no pass may change, comes in as an array of one element that holds for all; NULL:
 * none does. */
typedef struct {
    const bool *active, *enters, *adds, *one;
} KGradOf;
/* Everything made lives in the arena. */
qs_status kautodiff_reverse(Ctx *c, Arena *arena, const KFunc *f, const KGradOf *of, KGrad *out);

/* -- producer_fusion.c --------------------------------------------------------------------------------------------- */
/* f, a pass that reads its parameter `param`, as a function that computes what it reads there as the pass `of` would
 * have stored it into its parameter `store`; its parameters are those of f, then those of `of`.  NULL: it cannot be
 * done, or would take longer. */
qs_status kproducer_make(Ctx *c, Arena *arena, const KFunc *f, int param, const KFunc *of, int store, KFunc **out);

/* -- footprint.c --------------------------------------------------------------------------------------------------- */
/* What is known of a parameter before: the number; of an array the extents. */
typedef struct {
    bool known;
    double number;
    int64_t dims[QS_MAX_RANK];
} KGiven;
/* TABLE: no position decides what is read. */
typedef enum { KROLE_NONE, KROLE_TABLE, KROLE_READ, KROLE_WRITTEN, KROLE_CHANGED } KFootprintRole;
typedef struct {
    uint8_t role, mode /* AccessMode of its reads */;
    bool shifted;
} KFootprintParam;
typedef struct {
    int rank;
    int64_t reach[QS_MAX_RANK]; /* by dimension: the largest distance of what is read, to either side */
    KFootprintParam *param;     /* by parameter of f */
} KFootprint;
/* An error with its place where no distance is known, or where a block of a larger array would give other results. */
qs_status kfootprint_find(Arena *scratch, const KFunc *f, const KGiven *given, KFootprint *out);

/* Dual numbers: one pass that does what f does (again: it changes f's arrays), and to the tangents, which stand where
 * adjoints stand, what the derivative of f does.  No extras. */
qs_status kautodiff_forward(Ctx *c, Arena *arena, const KFunc *f, const bool *active, KGrad *out);
#endif
