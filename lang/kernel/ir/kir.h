/* kir.h -- the kernel intermediate representation.
 *
 * One KFunc is the work of one position of a launch, for concrete element types, ranks and access modes.  It is a flat
 * list of instructions; an operand is the number of an earlier instruction.  Everything is a single number: vec3 and
 * complex values were split by the lowering, device functions inlined, modifiers turned into BOUND, INB and guards.  So
 * the evaluator and every backend know numbers only, and LLVM sees plain loops over positions instead of short vectors.
 *
 *     kir.c affine.c   the builder, which folds constants; indices as sums
 *     kir_text.c       KIR as text and back            verify.c   what well-formed KIR is
 *     eval.c           the evaluator                   sem.h      what instructions compute
 *
 * Instructions come in one by one, a KFunc goes out.  Whoever makes or reads KIR calls these files: walk, lower, host,
 * passes, emit; vm/launch runs the evaluator as the device `ref`.
 *
 * Control flow is structured (IF ELSE END, LOOP FOR END), state that changes is in LOCAL, so there is no phi: it prints
 * as OpenCL C and LLVM's mem2reg makes the rest.
 *
 * Value dtypes: B1 I32 U32 I64 U64 F32 F64.  Memory may hold any dtype: LOAD widens (8/16-bit integers to I32, half and
 * bfloat16 to F32), STORE and ATOMIC take a value of that wider dtype (kir_value_dtype) and narrow it by CAST's rule. A
 * complex array is addressed by component: element k has parts at linear index 2k and 2k+1, of type F32 or F64, and its
 * strides and dims still count elements.
 *
 * A value is visible from its instruction to the end of the region (IF or ELSE branch, loop body) that it stands in.
 * Instructions after BREAK, CONTINUE or RET up to the end of the region are dead, and allowed.  IFs and loops around a
 * BARRIER go the same way for all positions of a block; one that has ended (RET, CHECK) takes no part in barriers. */
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

/* Operators of ATOMIC and AATOMIC.  AND OR XOR: integers and bool; POW: floats; the rest: integers and floats. */
typedef enum { KA_ADD, KA_SUB, KA_MUL, KA_DIV, KA_MIN, KA_MAX, KA_AND, KA_OR, KA_XOR, KA_POW, KA__COUNT } KAtomic;

/* KIns.flag of ADD, MUL, MIN, MAX: when loop turns accumulate with it, their order is free, so that they may run
 * abreast. */
enum { KFLAG_REASSOC = 1, KFLAG_ZEROS = 2 /* MIN, MAX: -0 is the smaller zero in every backend */ };

typedef struct {
    const char *name;
    uint8_t effect, a, b, c, imm, result, flag;
} KOpInfo; /* generated from kir.def */
typedef enum { KE_PURE, KE_READ, KE_WRITE, KE_FLOW, KE_SYNC } KEffect;
typedef enum { KARG__, KARG_r, KARG_o } KArgUse;
typedef enum { KI_none, KI_bits, KI_param, KI_axis, KI_count, KI_depth, KI_message, KI_dim } KImmUse;
typedef enum { KR_own, KR_same, KR_of_b, KR_bool, KR_i64, KR_none } KResultUse;
typedef enum { KF_none, KF_zeroed, KF_atomic, KF_access, KF_math, KF_order } KFlagUse;
extern const KOpInfo kir_ops[K__COUNT];
typedef enum { MATH_exact, MATH_own, MATH_near, MATH_far } MathHow; /* mathfn.def explains them */
typedef struct {
    const char *name; /* in the text form, in OpenCL, in LLVM where it is exact */
    uint8_t nargs, how, libmvec;
    const char *c[2], *nv[2]; /* of float and double: in C, in libdevice */
    const char *estimate;     /* NULL: a GPU has none */
    float before, after;
    uint8_t ulp32, ulp64, own32, own64;
} MathFnInfo;
extern const MathFnInfo kir_math[MF__COUNT];
const char *kir_atomic_name(KAtomic op); /* "add", "sub", … as in the text form */

static inline bool kir_has_result(const KIns *i) { return kir_ops[i->op].result != KR_none; }

/* -- building ------------------------------------------------------------------------------------------------------ */
KFunc *kir_new(Ctx *c, Arena *arena, Str *name, const Source *src);
/* An instruction that is to be made, see KIns; own: its dtype, where the row in kir.def says `own`. */
typedef struct {
    KOp op;
    qs_dtype own;
    unsigned flag;
    KRef a, b, c;
    uint64_t imm;
    uint32_t pos;
} KMake;
/* What i says, of other operands. */
static inline KMake kir_like(const KIns *i, KRef a, KRef b, KRef c) {
    return (KMake){(KOp)i->op, (qs_dtype)i->dtype, i->flag, a, b, c, i->imm, i->pos};
}
KRef kir_add(KFunc *f, KMake i);
KRef kir_const_bits(KFunc *f, qs_dtype d, uint64_t bits, uint32_t pos);
KRef kir_const_int(KFunc *f, qs_dtype d, int64_t v, uint32_t pos);
KRef kir_const_num(KFunc *f, qs_dtype d, double v, uint32_t pos);
int kir_param(KFunc *f, const KParam *p);
int kir_message(KFunc *f, qs_status s, const char *text);
bool kir_is_const(const KFunc *f, KRef r, double *v); /* any value dtype, as double */
/* Folds constants and removes identities while adding a PURE instruction: what walk/build.c calls for arithmetic. */
KRef kir_fold(KFunc *f, KMake i);
void kir_seal(KFunc *f); /* sets hash, barrier, shared, read/written; and matches */
/* Sets regions and ops; where regions do not nest, kir_verify says so. */
void kir_match(KFunc *f);

/* Copying: an empty function of the same parameters, messages and properties; and one instruction with the operands
 * that it has there, folded as kir_fold does. */
KFunc *kir_shell(Ctx *c, Arena *arena, const KFunc *f);
KRef kir_copy(KFunc *to, const KIns *i, KRef a, KRef b, KRef c);

static inline bool kir_has(const KFunc *f, KOp op) { return f->ops >> op & 1; }
/* The kernel knows of its block: it cannot be launched with another one. */
static inline bool kir_knows_blocks(const KFunc *f) {
    return f->barrier || f->shared || f->fixed_block || kir_has(f, K_BLKPOS) || kir_has(f, K_BLKDIM) ||
           kir_has(f, K_BLKIDX) || kir_has(f, K_BLKCNT);
}

static inline bool kir_is_loop(uint8_t op) { return op == K_LOOP || op == K_FOR; }
static inline bool kir_opens(uint8_t op) { return op == K_IF || kir_is_loop(op); } /* ELSE ends one as well */
/* The innermost LOOP or FOR around r; 0: none. */
static inline KRef kir_loop_around(const KFunc *f, KRef r) {
    do r = f->regions[r].around;
    while (r && !kir_is_loop(f->ins[r].op));
    return r;
}
/* The LOOP or FOR that the BREAK or CONTINUE r means. */
static inline KRef kir_jump_target(const KFunc *f, KRef r) {
    KRef loop = kir_loop_around(f, r);
    for (uint64_t left = f->ins[r].imm; left--;) loop = kir_loop_around(f, loop);
    return loop;
}

double keval_math(MathFn fn, qs_dtype d, double a, double b); /* eval.c: one function, in the precision of d */
#endif
