/* kir.h -- KIR, the intermediate representation of kernels.
 *
 * One KFunc is the code for one position of a launch, for fixed element types, ranks and access modes.  It is a
 * flat list of instructions; an operand is the index of an earlier instruction.  Every value is a single number:
 * the lowering has split vec3 and complex values, inlined device functions, and turned access modifiers into BOUND,
 * INB and guards.  So the evaluator and all backends handle numbers only, and LLVM sees simple loops over positions
 * instead of short vectors.
 *
 *     kir.c        builds KIR and folds constants      affine.c   expresses indices as sums
 *     kir_text.c   prints and parses KIR               verify.c   checks that KIR is well-formed
 *     eval.c       the reference evaluator             sem.h      defines what instructions compute
 *
 * Users of KIR: lower/, autodiff/, passes/ and codegen/; vm/launch runs the evaluator as the device `ref`.
 *
 * A loop or function of the host program may call functions that cannot be inlined, because they call themselves: the
 * list `callees` of the KFunc that is launched, to which CALL refers, also inside these functions.  They have its
 * parameters, and arguments and results besides (INPUT, OUTPUT).
 *
 * Control flow is structured (IF ELSE END, LOOP FOR END) and mutable state is in LOCALs, so there are no phi
 * instructions.  It prints directly as OpenCL C, and LLVM's mem2reg converts it to SSA form.
 *
 * Value dtypes: B1 I32 U32 I64 U64 F32 F64.  Memory may hold any dtype.  LOAD widens: 8- and 16-bit integers to
 * I32, half and bfloat16 to F32.  STORE and ATOMIC take a value of that wider dtype (kir_value_dtype) and narrow it
 * as CAST does.  A complex array is addressed by component: element k has its parts, of type F32 or F64, at linear
 * indices 2k and 2k+1; its strides and extents count elements.
 *
 * A value is in scope from its instruction to the end of the region that contains it (IF or ELSE branch, loop
 * body).  Instructions after BREAK, CONTINUE or RET up to the end of the region are dead, and allowed.  All
 * positions of a block must take the same path through IFs and loops around a BARRIER.  A position that has ended
 * (RET, CHECK) takes no part in barriers. */
#ifndef LANG_KERNEL_KIR_H
#define LANG_KERNEL_KIR_H
#include "lang/kernel/ir/kfunc.h"

typedef enum {
#define KIR(op, ...) K_##op,
#include "lang/kernel/ir/kir.def"
    K__COUNT
} KOp;

typedef enum {
#define MATHFN(id, ...) MF_##id,
#include "lang/kernel/ir/mathfn.def"
    MF__COUNT
} MathFn;

/* Operators of ATOMIC and AATOMIC.  AND OR XOR: integers and bool; POW: floats; the rest: integers and floats.
 * Operators of FETCH and AFETCH: ADD SUB MIN MAX, and for integers AND OR XOR; XCHG, which stores the value; CAS, which
 * stores the first value of an EXPECT of integers if the element is the second one. */
typedef enum {
    KA_ADD,
    KA_SUB,
    KA_MUL,
    KA_DIV,
    KA_MIN,
    KA_MAX,
    KA_AND,
    KA_OR,
    KA_XOR,
    KA_POW,
    KA_XCHG,
    KA_CAS,
    KA__COUNT
} KAtomic;

/* KIns.flag of ADD, MUL, MIN, MAX.  REASSOC: if loop iterations accumulate with this instruction, they may run in
 * any order, so that the loop can be vectorized; operands of MIN and MAX are then not NaN, and of two zeros either may
 * be the result.  FOR: no iteration writes an element that another one reads or writes, provided that different array
 * parameters do not overlap.  FIXED, of a FOR: all iterations access the same element, some store to it, and the body
 * accesses it by one instruction for its index only; other indices of that parameter never have it, and the other
 * parameters do not overlap it.  APART, of a FOR: different array parameters do not overlap.  AHEAD, of a FOR: in
 * addition, no two iterations store to the same element, and only earlier iterations or the same one read an element
 * that is stored: iterations may run in vectors that read before they store. */
enum {
    KFLAG_REASSOC = 1,
    KFLAG_ZEROS = 2, /* MIN, MAX: -0 is the smaller zero in every backend */
    KFLAG_FIXED = 3, /* FOR */
    KFLAG_APART = 4, /* FOR */
    KFLAG_AHEAD = 5  /* FOR */
};

typedef struct {
    const char *name;
    uint8_t effect, a, b, c, imm, result, flag;
} KOpInfo; /* generated from kir.def */
typedef enum { KE_PURE, KE_READ, KE_WRITE, KE_FLOW, KE_SYNC } KEffect;
typedef enum { KARG__, KARG_r, KARG_o } KArgUse;
typedef enum {
    KI_none,
    KI_bits,
    KI_param,
    KI_axis,
    KI_count,
    KI_depth,
    KI_message,
    KI_dim,
    KI_slot,
    KI_callee
} KImmUse;
typedef enum { KR_own, KR_same, KR_of_b, KR_bool, KR_i64, KR_none } KResultUse;
typedef enum { KF_none, KF_zeroed, KF_atomic, KF_access, KF_math, KF_order } KFlagUse;
extern const KOpInfo kir_ops[K__COUNT];
typedef enum { MATH_exact, MATH_own, MATH_host, MATH_near } MathHow; /* explained in mathfn.def */
typedef struct {
    const char *name;               /* in the text form and in OpenCL; in LLVM if `how` is exact */
    uint8_t nargs, how[2], libmvec; /* how: of the float and the double function */
    const char *c[2], *nv[2];       /* names of the float and the double function: c: in C, nv: in libdevice */
    const char *estimate;           /* GPU instruction that estimates it; NULL: none */
    float before, after;
    uint8_t ulp32, ulp64, own32, own64;
} MathFnInfo;
extern const MathFnInfo kir_math[MF__COUNT];
const char *kir_atomic_name(KAtomic op); /* "add", "sub", …, as in the text form */

static inline bool kir_is_rounding(const KIns *i) { /* floor and the like */
    return i->op == K_MATH && (i->flag == MF_floor || i->flag == MF_ceil || i->flag == MF_round || i->flag == MF_trunc);
}
static inline bool kir_is_fetch(uint8_t op) { return op == K_FETCH || op == K_AFETCH; }
/* Returns true for an access to an element of an array parameter. */
static inline bool kir_is_memory(uint8_t op) {
    return op == K_LOAD || op == K_STORE || op == K_ATOMIC || op == K_FETCH;
}
static inline bool kir_has_result(const KIns *i) { return kir_ops[i->op].result != KR_none; }
/* Returns whether the value depends on nothing but the position and the launch. */
static inline bool kir_is_given(const KIns *i) {
    return kir_ops[i->op].effect == KE_PURE && kir_ops[i->op].a == KARG__;
}
static inline bool kir_equal_ins(const KIns *a, const KIns *b) {
    return a->op == b->op && a->dtype == b->dtype && a->flag == b->flag && a->a == b->a && a->b == b->b &&
           a->c == b->c && a->imm == b->imm;
}
/* Returns whether the memory has the values that instructions compute. */
static inline bool kir_is_unconverted(const KParam *p) {
    return kir_is_value_dtype((qs_dtype)p->dtype) && kir_value_dtype((qs_dtype)p->dtype) == p->dtype;
}
/* Returns the guard of a LOAD, STORE or ATOMIC; 0: none. */
static inline KRef kir_guard(const KIns *i) { return i->op == K_LOAD ? i->b : i->c; }
/* Returns the instruction r, or the operand of a CAST r. */
static inline KRef kir_uncast(const KFunc *f, KRef r) { return f->ins[r].op == K_CAST ? f->ins[r].a : r; }
/* Returns whether the instructions first … last-1 store into the parameter. */
bool kir_stores(const KFunc *f, KRef first, KRef last, uint64_t param);
bool kir_sets(const KFunc *f, KRef first, KRef last, KRef local); /* the same for SETs of a LOCAL */
bool kir_steps_by_one(const KFunc *f, KRef loop);                 /* the step of the FOR is 1 or -1 */
bool kir_counts_by_one(const KFunc *f, KRef loop);                /* it is a FOR of an int64 counter with the step 1 */

/* -- building ------------------------------------------------------------------------------------------------------ */
KFunc *kir_new(Ctx *c, Arena *arena, Str *name, const Source *src);
/* An instruction to be added, see KIns.  own: its dtype, if its row in kir.def says `own`. */
typedef struct {
    KOp op;
    qs_dtype own;
    unsigned flag;
    KRef a, b, c;
    uint64_t imm;
    uint32_t pos;
} KMake;
/* Returns instruction i with other operands. */
static inline KMake kir_like(const KIns *i, KRef a, KRef b, KRef c) {
    return (KMake){(KOp)i->op, (qs_dtype)i->dtype, i->flag, a, b, c, i->imm, i->pos};
}
KRef kir_add(KFunc *f, KMake i);
KRef kir_const_bits(KFunc *f, qs_dtype d, uint64_t bits, uint32_t pos);
KRef kir_const_int(KFunc *f, qs_dtype d, int64_t v, uint32_t pos);
KRef kir_const_num(KFunc *f, qs_dtype d, double v, uint32_t pos);
int kir_param(KFunc *f, const KParam *p);
int kir_message(KFunc *f, qs_status s, const char *text);
bool kir_is_const(const KFunc *f, KRef r, double *v); /* of any value dtype; *v: the value as double */
/* Adds a PURE instruction with operands: folds constants and removes identities.  lower/common/build.c uses it for
 * arithmetic. */
KRef kir_fold(KFunc *f, KMake i);
void kir_seal(KFunc *f); /* sets barrier, shared, read, written, hash, regions and ops */

/* Short forms, which take the source position f->pos.  kir_op, kir_select and kir_cast fold as kir_fold does. */
KRef kir_emit(KFunc *f, KMake i);
KRef kir_op(KFunc *f, KOp op, KRef a, KRef b);
KRef kir_select(KFunc *f, KRef c, KRef a, KRef b);
KRef kir_cast(KFunc *f, qs_dtype to, KRef a);
KRef kir_int(KFunc *f, int64_t v); /* int64 */
KRef kir_zero(KFunc *f, qs_dtype d);
KRef kir_local(KFunc *f, KRef v);
KRef kir_get(KFunc *f, KRef local);
void kir_set(KFunc *f, KRef local, KRef v);
void kir_flow(KFunc *f, KOp op, KRef condition);                            /* IF, ELSE, LOOP, BREAK, END */
KRef kir_for(KFunc *f, KRef first, KRef last, int64_t step, unsigned flag); /* the counter is int64 */

/* Copying.  kir_shell returns an empty function with the same parameters, messages and properties.  kir_copy adds a
 * copy of i with the given operands, folded as by kir_fold. */
KFunc *kir_shell(Ctx *c, Arena *arena, const KFunc *f);
/* The same with a copy of n other parameters, so that kir_seal does not change the parameters of f. */
KFunc *kir_shell_with(Ctx *c, Arena *arena, const KFunc *f, const KParam *params, int n);
KRef kir_copy(KFunc *to, const KIns *i, KRef a, KRef b, KRef c);
/* Copies instruction r of f and sets map[r]; map has the copies of its operands. */
void kir_copy_mapped(KFunc *to, const KFunc *f, KRef *map, KRef r);
/* Copies r and what it is computed from, unless it has a copy or comes before `first`: a value that does not change in
 * the loop `first`, in front of the loop. */
void kir_hoist(KFunc *to, const KFunc *f, KRef *map, KRef first, KRef r);
/* Opens an IF that holds if the FOR, whose step is a constant other than 0, has an iteration. */
void kir_if_runs(KFunc *to, const KFunc *f, const KRef *map, KRef loop);
/* Ends the copy `to`, which computes the same as f. */
KFunc *kir_finish(KFunc *to, const KFunc *f);
/* A pass that replaces some loops.  *to and *map, the copy of the function and the copies of its instructions, are set
 * before `replace` is called for the loop that is_candidate accepted last. */
typedef struct {
    void *pass;
    KFunc **to;
    KRef **map;
    bool (*is_candidate)(void *pass, KRef loop);
    void (*replace)(void *pass);
} KLoopPass;
/* Returns a copy of f in which each candidate among its FORs is replaced; f itself if there is none. */
const KFunc *kir_replace_loops(Ctx *c, Arena *a, const KFunc *f, KLoopPass p);
/* The same for the loops among the instructions first … last-1.  start: by instruction, and for the end of f, set to
 * where its copy begins; NULL: not wanted. */
const KFunc *kir_replace_loops_in(Ctx *c, Arena *a, const KFunc *f, KLoopPass p, KRef first, KRef last, KRef *start);

/* Returns whether arithmetic on floats is done in this type. */
static inline bool kir_is_float(qs_dtype d) { return d == QS_F32 || d == QS_F64; }
static inline bool kir_has(const KFunc *f, KOp op) { return f->ops >> op & 1; }
/* Returns true if the result may depend on the block: the block cannot be changed. */
static inline bool kir_knows_blocks(const KFunc *f) {
    return f->barrier || f->shared || f->fixed_block || kir_has(f, K_BLKPOS) || kir_has(f, K_BLKDIM) ||
           kir_has(f, K_BLKIDX) || kir_has(f, K_BLKCNT);
}

enum { KIR_MAX_NESTING = 256 }; /* open IFs, LOOPs and FORs */
static inline bool kir_is_loop(uint8_t op) { return op == K_LOOP || op == K_FOR; }
static inline bool kir_opens(uint8_t op) { return op == K_IF || kir_is_loop(op); } /* not ELSE, which also ends one */
/* Returns the IF, LOOP or FOR of a region; r may be its ELSE. */
static inline KRef kir_opener(const KFunc *f, KRef r) { return f->ins[r].op == K_ELSE ? f->regions[r].opener : r; }
/* Returns the innermost LOOP or FOR around r; 0: none. */
static inline KRef kir_loop_around(const KFunc *f, KRef r) {
    do r = f->regions[r].around;
    while (r && !kir_is_loop(f->ins[r].op));
    return r;
}
/* Returns whether a loop contains both a and b. */
static inline bool kir_share_loop(const KFunc *f, KRef a, KRef b) {
    for (KRef l = kir_loop_around(f, a); l; l = kir_loop_around(f, l))
        if (b > l && b < f->regions[l].end) return true;
    return false;
}
/* Returns the LOOP or FOR to which the BREAK or CONTINUE r refers. */
static inline KRef kir_jump_target(const KFunc *f, KRef r) {
    KRef loop = kir_loop_around(f, r);
    for (uint64_t left = f->ins[r].imm; left--;) loop = kir_loop_around(f, loop);
    return loop;
}

double keval_math(MathFn fn, qs_dtype d, double a, double b); /* eval.c: evaluates a function in the precision of d */
#endif
