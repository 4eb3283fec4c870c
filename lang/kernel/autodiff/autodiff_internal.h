/* autodiff_internal.h -- private to lang/kernel/autodiff: what its files give each other. */
#ifndef LANG_AUTODIFF_INTERNAL_H
#define LANG_AUTODIFF_INTERNAL_H
#include "lang/kernel/autodiff/autodiff.h"
#include "lang/kernel/elem/elem.h"

static inline bool kautodiff_is_float(qs_dtype d) { return d == QS_F32 || d == QS_F64; }

/* An empty function with parameters of its own, as kir_seal notes what is read and written in them. */
KFunc *kautodiff_copy_shell(Ctx *c, Arena *arena, const KFunc *f);

/* In g: what a change t of an argument of i, times the derivative by it, is.  A reciprocal is squared where elem.def,
 * which does not see that it is one, divides again. */
KRef kautodiff_slope(KFunc *g, const KIns *i, int arg, const KRef *args, KRef result, KRef t);

/* In g: the derivative of the function that the ANALYTIC i is a part of, and what a change t of argument arg (1 or 2: a
 * part of x) is in i. */
KPair kautodiff_analytic(KFunc *g, const KIns *i, KPair x);
KRef kautodiff_along(KFunc *g, const KIns *i, int arg, KPair slope, KRef t);

/* Turns of a FOR between known numbers; -1: they are not known, or very many. */
int64_t kautodiff_turns(const KFunc *f, KRef loop);

/* -- structurize.c: jumps become conditions ------------------------------------------------------------------------ */
/* No CONTINUE, RET or CHECK; BREAK only in the head of a LOOP, which decides about one more turn:
 *
 *     LOOP
 *       head …  IF over  BREAK  END
 *       body                          from body[loop] on; of a FOR the instruction after it
 *     END */
typedef struct {
    KFunc *func;
    KRef *body;
} KNormal;
void kstructurize_make(Ctx *c, Arena *arena, const KFunc *f, KNormal *out);

/* -- active.c: what carries a derivative --------------------------------------------------------------------------- */
/* By instruction. live: a float, or the name of memory of floats, that depends on an active parameter and on which the
 * new contents of one depend.  kept: a read that finds other contents when the position is run again. */
typedef struct {
    uint8_t *live, *varies, *kept;
} KActive;
qs_status kactive_find(Ctx *c, Arena *arena, const KFunc *f, const bool *active, KActive *out);
bool kactive_reads_first(const KFunc *f, KRef r); /* nothing before the LOAD or ALOAD r writes what it reads */
bool kactive_share_loop(const KFunc *f, KRef a, KRef b);
KRef kactive_frame(const KFunc *f, KRef r); /* the innermost loop around r; 0: the function */

/* -- dead_code.c: what nobody needs goes --------------------------------------------------------------------------- */
/* A copy of f without what has no influence on the parameters that are `wanted`.  map: by instruction of f, what it is
 * in the copy, 0 where it went; NULL: nobody asks. */
KFunc *kdeadcode(Ctx *c, Arena *arena, const KFunc *f, const bool *wanted, KRef **map);

/* -- simplify.c: of functions with fast math ----------------------------------------------------------------------- */
KFunc *ksimplify_join(Ctx *c, Arena *arena, const KFunc *f); /* the same with fewer products */

/* -- what is made of what ------------------------------------------------------------------------------------------ */
/* Of float32; float64; integers and truth values, as int64; then of these what all positions of a block read alike. */
enum { KKINDS = KGRAD_TAPES / 2, KTAPES = KGRAD_TAPES };
typedef enum { KGROUP_NOT, KGROUP_MIN, KGROUP_MAX, KGROUP_PRODUCT } KGroupKind;
typedef struct { /* how positions meet at elements of an array */
    uint8_t kind;
    int of, zeros, count; /* parameters; of: the result, or the product */
    bool meets;
    int claim; /* of write_conflict.c: they may do so with =; the parameter */
} KGroup;
typedef struct {
    Ctx *ctx;
    Arena *arena;
    const KFunc *f;        /* normal; it counts what was kept in `pointer` */
    const KRef *body;      /* of KNormal */
    KActive act;           /* kept: KKept */
    const uint8_t *common; /* by instruction: all positions of a block have it, and the same; NULL: not known */
    const KGradParam *param;
    const KParam *params;
    int nparams;                                                        /* of the functions that are made */
    KGroup *group;                                                      /* by parameter of f */
    int extent[QS_MAX_RANK], tape[KTAPES], room[KTAPES], count[KTAPES]; /* parameters; -1: none */
    KRef pointer[KTAPES];       /* LOCALs of f, int64: entries kept so far; 0: none */
    int64_t fixed_room[KTAPES]; /* known before the launch; -1: a parameter says it */
} KGrading;
typedef enum { KEPT_NOT, KEPT_ON_TAPE, KEPT_UNUSED } KKept; /* UNUSED: nobody asks what was read */
int kautodiff_tape_of(const KFunc *f, const uint8_t *common, KRef r);
KFunc *kautodiff_shell(const KGrading *s); /* an empty function with the common parameters */

/* -- adjoint_index.c: elements of adjoints ------------------------------------------------------------------------- */
/* In g: the place, in the packed twin of the array, of what the LOAD, STORE or ATOMIC i of f touches; use gives the
 * value that an instruction of f has there. */
typedef KRef KUse(void *ud, KRef r);
KRef kadjindex_packed(KFunc *g, const KFunc *f, const KIns *i, KUse *use, void *ud);

/* By dimension of the array: the coordinate in the index of the LOAD, STORE or ATOMIC i; 0: zero; false: it has another
 * form. */
#define KINDEX_ONE UINT32_MAX /* the coordinate 1, where its row has no instruction */
bool kadjindex_coords(const KFunc *f, const KIns *i, KRef *out);
bool kadjindex_same(const KFunc *f, KRef a, KRef b); /* surely the same value */
bool kadjindex_is_fixed(const KFunc *f, KRef r);     /* position and launch determine it, in few instructions */
/* What a position touches at a and at b, LOADs or STOREs of one array, are surely different elements.  again: also in
 * different turns of a loop around both. */
bool kadjindex_apart(const KFunc *f, KRef a, KRef b, bool again);
typedef enum {
    KOWN_NOT,
    KOWN_SOME,   /* what a position touches no other one does */
    KOWN_ELEMENT /* each position touches one element, always the same */
} KOwner;
KRef kadjindex_guard(const KIns *i);                /* of a LOAD, STORE, ATOMIC */
bool kadjindex_is_there(const KFunc *f, int param); /* each position touches an element, without guard or condition */
KOwner kadjindex_owner(const KFunc *f, int param, KRef *first); /* first: an instruction that touches it */
/* Of what a LOAD, STORE, ATOMIC touches, out: by axis of the launch, the dimension whose coordinate is the position. */
bool kadjindex_axes(const KFunc *f, const KIns *i, int *out);

/* -- forward_mode.c ------------------------------------------------------------------------------------------------ */
KFunc *kforward_make(const KGrading *s);

/* -- adjoint.c, rematerialize.c: the way back ---------------------------------------------------------------------- */
typedef struct {
    KRef at, of;
} KTapeRead; /* in the function that was made; the read of f that it stands for */
typedef struct {
    KFunc *func;
    KTapeRead *read;
    uint32_t nread;
} KAdjoint;
qs_status kadjoint_make(const KGrading *s, KAdjoint *out);

/* -- primal.c: f again, which keeps what the way back needs; or only counts it ------------------------------------- */
KFunc *kprimal_make(const KGrading *s, bool counts);
/* In g: the place on the tape of the first entry of a position; pos gives a coordinate, as int64. */
KRef kprimal_base(const KGrading *s, KFunc *g, int tape, KRef (*pos)(void *ud, int axis), void *ud);

/* -- shared_update.c: updates that positions share, other than sums ------------------------------------------------ */
static inline bool kshared_is_sum(const KIns *i) { return i->flag == KA_ADD || i->flag == KA_SUB; }
qs_status kshared_find(Ctx *c, const KFunc *f, const bool *active, KGroup *group);
/* kept: what has to be on the tape; comes back: whether anything. */
bool kshared_keep(const KFunc *f, const KGroup *group, uint8_t *kept);
/* Passes: over positions, and over elements of the parameter p. */
qs_status kshared_collect(const KGrading *s, KFunc **out);
qs_status kshared_count(const KGrading *s, KFunc **out);
KFunc *kshared_begin(const KGrading *s, int p);
KFunc *kshared_share(const KGrading *s, int p);
KFunc *kshared_end(const KGrading *s, int p);

/* -- write_conflict.c: positions that write one element with = are an error ---------------------------------------- */
void kconflict_find(const KFunc *f, const KActive *act, const bool *active, KGroup *group);
qs_status kconflict_claim(const KGrading *s, KFunc **out);
qs_status kconflict_check(const KGrading *s, KFunc **out);

/* -- scatter_to_gather.c: sums instead of additions ---------------------------------------------------------------- */
typedef struct {
    KFunc *func, *rest;    /* to be launched in this order; rest: the way back without what func does */
    int axis[QS_MAX_RANK]; /* func's positions are elements: the dimension by axis of its launch */
    bool all;              /* it stores every element */
    bool border;           /* what rest still adds to the array comes from its border */
} KGathered;
/* f: the way back; of param, an array that nobody writes; first: no pass has added to its adjoint.  false: there is
 * nothing to gain, or it is not possible. */
bool kscatter_make(const KGrading *s, const KFunc *f, int param, bool first, KGathered *out);
/* Sums over rows of positions: func is launched over positions divided by KGRAD_ROW along the last axis. */
enum { KGRAD_ROW = 512 };
bool kscatter_rows(const KGrading *s, const KFunc *f, KGathered *out);

/* -- privatize.c: additions of many turns are summed up first ------------------------------------------------------ */
KFunc *kprivatize_make(const KGrading *s, KFunc *f); /* f itself where there is nothing to gain */
#endif
