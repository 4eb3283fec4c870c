/* kir.h -- the kernel intermediate representation.
 *
 * One KFunc is the work of one position of a launch, for concrete element types, ranks and access modes.  It is a flat
 * list of instructions; an operand is the number of an earlier instruction.  Everything is a single number: vec3 and
 * complex values were split by lower.c, device functions inlined, modifiers turned into BOUND, INB and guards.  Control
 * flow is structured (IF ELSE END, LOOP FOR END), state that changes is in LOCAL, so there is no phi: it prints as
 * OpenCL C and LLVM's mem2reg makes the rest.
 *
 * Value dtypes: B1 I32 U32 I64 U64 F32 F64.  Memory may hold any dtype: LOAD widens (8/16-bit integers to I32, half and
 * bfloat16 to F32), STORE and ATOMIC take a value of that wider dtype (kir_value_dtype) and narrow it by CAST's rule.
 * A complex array is addressed by component: element k has parts at linear index 2k and 2k+1, of type F32 or F64, and
 * its strides and dims still count elements.
 *
 * A value is visible from its instruction to the end of the region (IF or ELSE branch, loop body) that it stands in.
 * Instructions after BREAK, CONTINUE or RET up to the end of the region are dead, and allowed.  IFs and loops around a
 * BARRIER go the same way for all positions of a block; one that has ended (RET, CHECK) takes no part in barriers. */
#ifndef LANG_KERNEL_KIR_H
#define LANG_KERNEL_KIR_H
#include "vm/base/flag.h"
#include "vm/base/type.h"

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

typedef uint32_t KRef; /* index into KFunc.ins; 0 is no instruction (ins[0] is unused) */

typedef struct {
    uint8_t op;    /* KOp */
    uint8_t dtype; /* of the result; QS_B1 where there is none */
    uint16_t flag; /* MathFn, KAtomic, AccessMode, KFLAG_REASSOC; 0 where the op has none */
    union {
        struct { KRef a, b, c; };
        KRef arg[3]; /* the same; 0 where there is none */
    };
    uint32_t pos;  /* byte offset in the kernel's source, for messages */
    uint64_t imm;  /* CONST: a KSlot, 32-bit dtypes extended as their sign says, float32 and bool with zeros */
} KIns;

/* One value of any dtype; members are named like the dtypes. */
typedef union { uint64_t bits, U64; bool B1; int32_t I32; uint32_t U32; int64_t I64; float F32; double F64; } KSlot;

typedef enum { KP_NUM, KP_ARRAY } KParamKind;
typedef struct {
    Str *name;
    uint8_t kind;        /* KParamKind */
    uint8_t dtype;       /* number: value dtype; array: element dtype in memory (may be complex, half, uint8 …) */
    uint8_t rank;        /* array */
    bool contiguous;     /* array: strides follow from dims (row-major, no gaps): STRIDE is not used */
    bool unit_last;      /* array: stride of the last axis is 1 */
    bool read, written;  /* array: what the kernel does with it; atomic counts as both */
} KParam;

/* KIns.flag of ADD, MUL, MIN, MAX: when loop turns accumulate with it, their order is free, so that they may run
 * abreast. */
enum { KFLAG_REASSOC = 1 };

/* How an instruction stands among the regions, which are named by the IF, ELSE, LOOP or FOR that begins them. */
typedef struct {
    KRef end;    /* IF: its ELSE or END; ELSE, LOOP, FOR: its END; else 0 */
    KRef opener; /* ELSE: its IF; END: the region that ends here; else 0 */
    KRef around; /* the innermost region around it, of an ELSE or END that of its IF, LOOP or FOR; 0: none */
} KRegion;

/* A sentence for CHECK.  %0 and %1 stand for the values b and c, %p for the position, %% for a percent sign. */
typedef struct { Str *text; qs_status status; } KMessage;

typedef struct KFunc {
    Arena *arena;        /* everything below lives here */
    Ctx *ctx;
    Str *name;
    const Source *src;
    KIns *ins; uint32_t nins, cap;
    KRegion *regions; uint32_t nregions; /* by instruction; made by kir_match, of so many instructions */
    KParam *params; int nparams;
    KMessage *messages; int nmessages;
    int rank;            /* of the launch domain, 1..8 */
    uint64_t ops;        /* bit K_x: has the instruction x; made by kir_match */
    bool barrier;        /* has BARRIER */
    bool shared;         /* has SHARED */
    bool serial; /* positions run one after another in index order (serial_do, host loops); set before kcompile */
    bool strict; /* a*b+c rounds twice, functions are those of libm: what is computed has the bits of the host's */
    bool fast;           /* fast math: backends may estimate and regroup (docs/kernels.md); the evaluator does not */
    bool fixed_block;    /* compiled for exactly `block` (shared sizes were computed from it) */
    int32_t block[QS_MAX_RANK];
    uint64_t hash;       /* of everything that determines the code; set by kir_seal */
} KFunc;

typedef struct { const char *name; uint8_t effect, a, b, c, imm, result, flag; } KOpInfo; /* generated from kir.def */
typedef enum { KE_PURE, KE_READ, KE_WRITE, KE_FLOW, KE_SYNC } KEffect;
typedef enum { KARG__, KARG_r, KARG_o } KArgUse;
typedef enum { KI_none, KI_bits, KI_param, KI_axis, KI_count, KI_depth, KI_message, KI_dim } KImmUse;
typedef enum { KR_own, KR_same, KR_of_b, KR_bool, KR_i64, KR_none } KResultUse;
typedef enum { KF_none, KF_zeroed, KF_atomic, KF_access, KF_math, KF_order } KFlagUse;
extern const KOpInfo kir_ops[K__COUNT];
typedef enum { MATH_exact, MATH_own, MATH_near, MATH_far } MathHow; /* mathfn.def explains them */
typedef struct {
    const char *name;            /* in the text form, in OpenCL, in LLVM where it is exact */
    uint8_t nargs, how, libmvec;
    const char *c[2], *nv[2];    /* of float and double: in C, in libdevice */
    const char *estimate;        /* NULL: a GPU has none */
    float before, after;
    uint8_t ulp32, ulp64, own32, own64;
} MathFnInfo;
extern const MathFnInfo kir_math[MF__COUNT];
const char *kir_atomic_name(KAtomic op); /* "add", "sub", … as in the text form */

static inline bool kir_has_result(const KIns *i) { return kir_ops[i->op].result != KR_none; }
static inline bool kir_is_value_dtype(qs_dtype d) {
    return d == QS_B1 || (d >= QS_I32 && d <= QS_U64) || d == QS_F32 || d == QS_F64;
}
/* The dtype in which the elements of an array of dtype `elem` take part in arithmetic. */
static inline qs_dtype kir_value_dtype(qs_dtype elem) {
    if (elem >= QS_I8 && elem <= QS_U16) return QS_I32;
    if (elem == QS_F16 || elem == QS_BF16) return QS_F32;
    return qdtype_real_of(elem);
}

/* -- building ------------------------------------------------------------------------------------------------------ */
KFunc *kir_new(Ctx *c, Arena *arena, Str *name, const Source *src);
KRef kir_add(KFunc *f, KOp op, qs_dtype own, uint16_t flag, KRef a, KRef b, KRef c, uint64_t imm, uint32_t pos);
KRef kir_const_bits(KFunc *f, qs_dtype d, uint64_t bits, uint32_t pos);
KRef kir_const_int(KFunc *f, qs_dtype d, int64_t v, uint32_t pos);
KRef kir_const_num(KFunc *f, qs_dtype d, double v, uint32_t pos);
int kir_param(KFunc *f, const KParam *p);
int kir_message(KFunc *f, qs_status s, const char *text);
bool kir_is_const(const KFunc *f, KRef r, double *v);     /* any value dtype, as double */
/* Folds constants and removes identities while adding a PURE instruction: what lower.c calls for arithmetic. */
KRef kir_fold(KFunc *f, KOp op, qs_dtype own, uint16_t flag, KRef a, KRef b, KRef c, uint32_t pos);
void kir_seal(KFunc *f);                        /* sets hash, barrier, shared, read/written; and matches */
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

/* -- checking and text: the text form is read back exactly --------------------------------------------------------- */
qs_status kir_verify(Ctx *c, const KFunc *f);              /* QS_EINTERNAL with the instruction at fault */
void kir_print(const KFunc *f, Text *out);
qs_status kir_parse(Ctx *c, Arena *arena, const char *text, size_t n, KFunc **out);

/* -- running: the reference evaluator, oracle of every backend.  f must have passed kir_verify. -------------------- */
typedef struct {
    void *data;                       /* KP_ARRAY: first element */
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    uint64_t bits;                    /* KP_NUM: the value as the bits of a 64-bit slot of its dtype */
} KArg;

typedef struct { int rank; int64_t domain[QS_MAX_RANK]; int32_t block[QS_MAX_RANK]; } KLaunch;

/* What a CHECK leaves behind; the first one of a launch wins. */
/* message: index + 1, or 0. */
typedef struct { uint32_t message, pos; double value[2]; int64_t at[QS_MAX_RANK]; } KFault;

/* stop: polled now and then (NULL: never); non-zero ends the launch with QS_EINTERRUPT. */
qs_status keval_run(Ctx *c, const KFunc *f, const KArg *args, const KLaunch *l, KFault *fault,
                    const Flag *stop);
double keval_math(MathFn fn, qs_dtype d, double a, double b);  /* one function, in the precision of d */
void kir_fault_text(const KFunc *f, const KFault *fault, Text *out); /* the sentence with its values put in */
#endif
