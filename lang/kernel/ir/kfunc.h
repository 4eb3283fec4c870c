/* kfunc.h -- declares KFunc, a kernel in KIR, for code that passes kernels on, checks, prints or runs them.  Code
 * that reads or builds instructions includes kir.h, which explains them. */
#ifndef LANG_KERNEL_KFUNC_H
#define LANG_KERNEL_KFUNC_H
#include "vm/base/flag.h"
#include "vm/base/type.h"

/* One value of any dtype; members are named like the dtypes. */
typedef union {
    uint64_t bits, U64;
    bool B1;
    int32_t I32;
    uint32_t U32;
    int64_t I64;
    float F32;
    double F64;
} KSlot;

typedef uint32_t KRef; /* index into KFunc.ins; 0 is no instruction (ins[0] is unused) */

typedef struct {
    uint8_t op;    /* KOp */
    uint8_t dtype; /* dtype of the result; QS_B1 if there is none */
    uint16_t flag; /* MathFn, KAtomic, AccessMode or KFLAG_…; 0 if the op has none */
    union {
        struct {
            KRef a, b, c;
        };
        KRef arg[3]; /* a, b, c as an array; 0: no operand */
    };
    uint32_t pos; /* byte offset in the kernel's source, for messages */
    uint64_t imm; /* CONST: a KSlot; I32 sign-extended, U32, F32 and bool zero-extended */
} KIns;

/* The region structure at an instruction.  A region is named by the IF, ELSE, LOOP or FOR that begins it. */
typedef struct {
    KRef end;    /* IF: its ELSE or END; ELSE, LOOP, FOR: its END; else 0 */
    KRef opener; /* ELSE: its IF; END: the region that ends here; else 0 */
    KRef around; /* the innermost region around it; ELSE, END: the region around its IF, LOOP or FOR; 0: none */
} KRegion;

enum { KIR_SLOTS = 16 };

typedef enum { KP_NUM, KP_ARRAY } KParamKind;
typedef struct {
    Str *name;
    uint8_t kind;        /* KParamKind */
    uint8_t dtype;       /* number: value dtype; array: element dtype in memory (may be complex, half, uint8 …) */
    uint8_t rank;        /* array */
    bool contiguous;     /* array: strides follow from dims (row-major, no gaps): STRIDE is not used */
    bool unit_last;      /* array: stride of the last axis is 1 */
    bool read, written;  /* array: the kernel reads it, writes it; an atomic does both */
    uint32_t written_at; /* source position of the first instruction that writes it */
    bool distinct;       /* array: two distinct ones that the kernel writes share no elements */
    bool log;            /* array: receives the records of print, which is no result: derivatives ignore it */
} KParam;

/* A sentence for CHECK.  %0 and %1 stand for the values b and c, %p for the position, %% for a percent sign. */
typedef struct {
    Str *text;
    qs_status status;
} KMessage;

typedef struct KFunc {
    Arena *arena; /* contains the function and its arrays */
    Ctx *ctx;
    Str *name;
    const Source *src;
    KIns *ins;
    uint32_t nins, cap;
    KRegion *regions;
    uint32_t nregions; /* regions: by instruction; made by kir_seal, when f had nregions instructions */
    KParam *params;
    int nparams;
    KMessage *messages;
    int nmessages;
    int rank;         /* rank of the launch domain, 1..8 */
    uint64_t ops;     /* bit K_x: the instruction x occurs; made by kir_seal */
    bool barrier;     /* has BARRIER */
    bool shared;      /* has SHARED */
    bool serial;      /* positions run one after another in index order (serial_do, host loops); set before kcompile */
    bool strict;      /* a loop of the program: arithmetic is that of the host; see kir_is_exact */
    bool apart;       /* the launch tests whether array parameters overlap, if a FOR has a flag; none do then */
    bool rounds;      /* an expression of the host: a*b+c is rounded twice, as its operators do one by one */
    bool few;         /* few positions update shared elements: no private copies (devices/private_copies.h) */
    bool fast;        /* fast math: backends may estimate and reorder (docs/kernels.md); the evaluator does not */
    bool fixed_block; /* compiled for exactly `block` (shared sizes were computed from it) */
    bool small;       /* launches and arrays are within the limits of KIR_SMALL: indices fit into 32 bits */
    int32_t block[QS_MAX_RANK];
    Str *ruled;
    uint32_t ruled_pos; /* a called function with a rule for its derivative, position of the call; NULL: none */
    /* functions that CALL runs, of the KFunc that is launched; they are sealed before it */
    struct KFunc **callees;
    int ncallees;
    /* of a callee: value dtypes of its arguments and results; result 0 is a bool */
    uint8_t inputs[KIR_SLOTS], outputs[KIR_SLOTS], ninputs, noutputs;
    uint64_t hash; /* hash of everything that determines the code; set by kir_seal */
    uint32_t pos;  /* while it is built: the source position of code that kir_op and similar functions add */
} KFunc;

/* Returns true if the results must have the bits of the host: a*b+c is rounded twice, and libm is called. */
static inline bool kir_is_exact(const KFunc *f) { return f->strict && !f->fast; }

/* Returns true if a backend may round a*b+c once. */
static inline bool kir_contracts(const KFunc *f) { return f->fast || !(f->strict || f->rounds); }

/* Limit of small kernels: extents of the domain and of arrays are at most this.  Strides fit into int32, and so does
 * the linear index of each element. */
#define KIR_SMALL ((int64_t)1 << 28)
/* Returns a copy of the kernel that may be launched only within these limits. */
KFunc *kir_small(Arena *a, const KFunc *f);
/* Returns the kernel without accesses to its log; f itself if it has none. */
const KFunc *kir_without_log(Arena *a, const KFunc *f);

static inline bool kir_is_value_dtype(qs_dtype d) {
    return d == QS_B1 || (d >= QS_I32 && d <= QS_U64) || d == QS_F32 || d == QS_F64;
}
/* Returns the dtype in which arithmetic with elements of dtype `elem` is done. */
static inline qs_dtype kir_value_dtype(qs_dtype elem) {
    if (elem >= QS_I8 && elem <= QS_U16) return QS_I32;
    if (qdtype_is_short(elem)) return QS_F32;
    return qdtype_real_of(elem);
}

/* -- verification and text; the text form is read back exactly ----------------------------------------------------- */
qs_status kir_verify(Ctx *c, const KFunc *f); /* returns QS_EINTERNAL, and names the malformed instruction */
void kir_print(const KFunc *f, Text *out);
qs_status kir_parse(Ctx *c, Arena *arena, const char *text, size_t n, KFunc **out);

/* -- the reference evaluator, with which every backend is compared; f must have passed kir_verify ------------------ */
typedef struct {
    void *data; /* KP_ARRAY: first element */
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    uint64_t bits; /* KP_NUM: the value as a 64-bit slot of its dtype */
} KArg;

typedef struct {
    int rank;
    int64_t domain[QS_MAX_RANK];
    int32_t block[QS_MAX_RANK];
} KLaunch;

/* A failed CHECK; the first one of a launch is reported. */
typedef struct {
    uint32_t message, pos; /* message: index + 1; 0: no CHECK has failed */
    double value[2];
    int64_t at[QS_MAX_RANK];
} KFault;

/* Runs a launch.  stop: polled regularly (NULL: never); if it is set, the launch ends with QS_EINTERRUPT. */
qs_status keval_run(Ctx *c, const KFunc *f, const KArg *args, const KLaunch *l, KFault *fault, const Flag *stop);
/* The same in two parts, for a function that runs often: the first one does what does not depend on the launch.  A
 * prepared function is used by one launch at a time. */
typedef struct KPrepared KPrepared;
KPrepared *keval_prepare(Arena *arena, const KFunc *f);
qs_status keval_run_prepared(Ctx *c, KPrepared *p, const KArg *args, const KLaunch *l, KFault *fault, const Flag *stop);
void kir_fault_text(const KFunc *f, const KFault *fault, Text *out); /* appends the error message with its values */
#endif
