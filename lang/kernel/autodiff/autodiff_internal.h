/* autodiff_internal.h -- declarations that the files of lang/kernel/autodiff share. */
#ifndef LANG_AUTODIFF_INTERNAL_H
#define LANG_AUTODIFF_INTERNAL_H
#include "lang/kernel/autodiff/autodiff.h"
#include "lang/kernel/ir/kir.h"

struct KPair;

/* Returns, in g, t times the derivative of i with respect to argument `arg`.  args, result: the arguments and the
 * result of i, in g.  The derivative of a reciprocal is computed from its square; elem.def, which does not
 * recognize reciprocals, would divide again. */
KRef kautodiff_slope(KFunc *g, const KIns *i, int arg, const KRef *args, KRef result, KRef t);

/* An ANALYTIC is the real or imaginary part of a complex function of x.  kautodiff_analytic returns the derivative
 * of this function, in g.  kautodiff_along returns t times the partial derivative of i with respect to argument
 * `arg` (1: real part of x, 2: imaginary part). */
struct KPair kautodiff_analytic(KFunc *g, const KIns *i, struct KPair x);
KRef kautodiff_along(KFunc *g, const KIns *i, int arg, struct KPair slope, KRef t);

/* Returns the number of iterations of a FOR with constant bounds and step; -1: not constant, or more than INT32_MAX. */
int64_t kautodiff_iterations(const KFunc *f, KRef loop);

/* -- active.c: finds the values that have a derivative ------------------------------------------------------------- */
/* Indexed by instruction.  live: a float, or memory of floats, that depends on an active parameter and influences
 * the new contents of one.  varies: it depends on an active parameter.  kept: a read that would return other
 * contents if the position were run again. */
typedef struct {
    uint8_t *live, *varies, *kept;
} KActive;
qs_status kactive_find(Ctx *c, Arena *arena, const KFunc *f, const bool *active, KActive *out);
bool kactive_reads_first(const KFunc *f, KRef r); /* no earlier write of this position changes what r reads */

/* -- state of a transformation ------------------------------------------------------------------------------------- */
/* Tapes: one of float32, one of float64, one of integers and bools (as int64); then the same three for values that
 * are equal in all positions of a block. */
enum { KKINDS = KGRAD_TAPES / 2, KTAPES = KGRAD_TAPES };
typedef enum { KGROUP_NOT, KGROUP_MIN, KGROUP_MAX, KGROUP_PRODUCT } KGroupKind;
typedef struct { /* how several positions combine values in one element of an array: see shared_update.c */
    uint8_t kind;
    int of, zeros, count; /* parameters; of: the minimum, the maximum, or the product of the nonzero factors */
    bool meets;           /* several positions may write one element with = */
    int claim;            /* parameter of write_conflict.c; valid if `meets` */
} KGroup;
typedef struct {
    Ctx *ctx;
    Arena *arena;
    const KFunc *f;        /* without jumps (KNormal); its LOCALs `pointer` count the saved values */
    const KRef *body;      /* body of the KNormal */
    KActive act;           /* its `kept` holds KKept */
    const uint8_t *common; /* by instruction: equal in all positions of a block; NULL: unknown */
    const KGradParam *param;
    const KParam *params;
    int nparams;                                                        /* of the generated functions */
    KGroup *group;                                                      /* by parameter of f */
    int extent[QS_MAX_RANK], tape[KTAPES], room[KTAPES], count[KTAPES]; /* parameters; -1: none */
    KRef pointer[KTAPES];       /* by tape: LOCAL of f, int64, that counts the saved entries; 0: none */
    int64_t fixed_room[KTAPES]; /* by tape: entries per position; -1: the parameter `room` has it */
} KGrading;
typedef enum { KEPT_NOT, KEPT_ON_TAPE, KEPT_UNUSED } KKept; /* UNUSED: the value is not needed */
int kautodiff_tape_of(const KFunc *f, const uint8_t *common, KRef r);
KRef kautodiff_add(KFunc *g, KRef a, KRef b); /* the sum of two derivatives; 0: none */
KFunc *kautodiff_shell(const KGrading *s);    /* an empty function with the common parameters */

/* -- adjoint_index.c: indices of adjoints -------------------------------------------------------------------------- */
/* Returns, in g, the index of the element that the LOAD, STORE or ATOMIC i of f accesses, in a packed array of the
 * same extents.  use returns the value of an instruction of f in g. */
typedef KRef KUse(void *ud, KRef r);
KRef kadjindex_packed(KFunc *g, const KFunc *f, const KIns *i, KUse *use, void *ud);

/* Finds the coordinates in the index of the LOAD, STORE or ATOMIC i, by dimension of the array; 0: the coordinate
 * is zero.  Returns false if the index is not of that form. */
#define KINDEX_ONE UINT32_MAX /* stands for the coordinate 1, for which f has no instruction */
bool kadjindex_coords(const KFunc *f, const KIns *i, KRef *out);
bool kadjindex_same(const KFunc *f, KRef a, KRef b); /* certainly have the same value */
bool kadjindex_is_fixed(const KFunc *f, KRef r);     /* depends only on position and launch; few instructions */
/* Returns true if one position certainly accesses different elements at a and at b, which are LOADs or STOREs of
 * one array.  again: also in different iterations of a loop around both. */
bool kadjindex_apart(const KFunc *f, KRef a, KRef b, bool again);
typedef enum {
    KOWN_NOT,
    KOWN_SOME,   /* no two positions access the same element */
    KOWN_ELEMENT /* each position accesses one element, always the same */
} KOwner;
bool kadjindex_is_there(const KFunc *f, int param);             /* each position accesses an element, unconditionally */
KOwner kadjindex_owner(const KFunc *f, int param, KRef *first); /* first: an instruction that accesses it */
/* Finds, by axis of the launch, the dimension of the array whose coordinate is the position on that axis.  i: a
 * LOAD, STORE or ATOMIC.  Returns false if there is an axis without one. */
bool kadjindex_axes(const KFunc *f, const KIns *i, int *out);

/* -- forward_mode.c ------------------------------------------------------------------------------------------------ */
KFunc *kforward_make(const KGrading *s);

/* -- adjoint.c, rematerialize.c: the backward pass ----------------------------------------------------------------- */
typedef struct {
    KRef at, of;
} KTapeRead; /* at: the LOAD from a tape, in the generated function; of: the read of f whose value it loads */
typedef struct {
    KFunc *func;
    KTapeRead *read;
    uint32_t nread;
} KAdjoint;
qs_status kadjoint_make(const KGrading *s, KAdjoint *out);

/* -- primal.c: runs f and saves what the backward pass needs, or only counts it ------------------------------------ */
KFunc *kprimal_make(const KGrading *s, bool counts);
/* Returns, in g, the index of the position's first entry on the tape.  pos returns a coordinate of the position,
 * int64. */
KRef kprimal_base(const KGrading *s, KFunc *g, int tape, KRef (*pos)(void *ud, int axis), void *ud);

/* -- shared_update.c: updates of shared elements, other than sums -------------------------------------------------- */
static inline bool kshared_is_sum(const KIns *i) { return i->flag == KA_ADD || i->flag == KA_SUB; }
qs_status kshared_find(Ctx *c, const KFunc *f, const bool *active, KGroup *group);
/* Marks in `kept` the values that must be on the tape.  Returns whether there are any. */
bool kshared_keep(const KFunc *f, const KGroup *group, uint8_t *kept);
/* Passes over positions (collect, count) and over the elements of parameter p (begin, share, end). */
qs_status kshared_collect(const KGrading *s, KFunc **out);
qs_status kshared_count(const KGrading *s, KFunc **out);
KFunc *kshared_begin(const KGrading *s, int p);
KFunc *kshared_share(const KGrading *s, int p);
KFunc *kshared_end(const KGrading *s, int p);

/* -- write_conflict.c: reports positions that write the same element with = ---------------------------------------- */
void kconflict_find(const KFunc *f, const KActive *act, const bool *active, KGroup *group);
qs_status kconflict_claim(const KGrading *s, KFunc **out);
qs_status kconflict_check(const KGrading *s, KFunc **out);

/* -- scatter_to_gather.c: replaces atomic additions by sums -------------------------------------------------------- */
typedef struct {
    KFunc *func, *rest;    /* launched in this order; rest: the backward pass without what func computes */
    int axis[QS_MAX_RANK]; /* func is launched over elements: the dimension of the array, by axis of its launch */
    bool all;              /* func stores every element */
    bool border;           /* rest still adds to the array, but only for positions at its border */
} KGathered;
/* f: the backward pass.  param: an array that f does not write.  first: no earlier pass adds to its adjoint.
 * Returns false if the transform is not possible or gains nothing. */
bool kscatter_make(const KGrading *s, const KFunc *f, int param, bool first, KGathered *out);
/* Sums over rows of positions; func is launched over the positions divided by KGRAD_ROW along the last axis. */
enum { KGRAD_ROW = 512 };
bool kscatter_rows(const KGrading *s, const KFunc *f, KGathered *out);

/* -- privatize.c: sums the additions of a loop in private memory first --------------------------------------------- */
KFunc *kprivatize_make(const KGrading *s, KFunc *f); /* returns f itself if nothing is gained */
#endif
