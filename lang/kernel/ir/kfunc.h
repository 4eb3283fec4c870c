/* kfunc.h -- a kernel as those see it who carry it about, check it, print it and run it: compilation for a device, the
 * launches.  Who reads or makes its instructions includes kir.h, which says what they mean. */
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
    uint8_t dtype; /* of the result; QS_B1 where there is none */
    uint16_t flag; /* MathFn, KAtomic, AccessMode, KFLAG_…; 0 where the op has none */
    union {
        struct {
            KRef a, b, c;
        };
        KRef arg[3]; /* the same; 0 where there is none */
    };
    uint32_t pos; /* byte offset in the kernel's source, for messages */
    uint64_t imm; /* CONST: a KSlot, 32-bit dtypes extended as their sign says, float32 and bool with zeros */
} KIns;

/* How an instruction stands among the regions, which are named by the IF, ELSE, LOOP or FOR that begins them. */
typedef struct {
    KRef end;    /* IF: its ELSE or END; ELSE, LOOP, FOR: its END; else 0 */
    KRef opener; /* ELSE: its IF; END: the region that ends here; else 0 */
    KRef around; /* the innermost region around it, of an ELSE or END that of its IF, LOOP or FOR; 0: none */
} KRegion;

typedef enum { KP_NUM, KP_ARRAY } KParamKind;
typedef struct {
    Str *name;
    uint8_t kind;       /* KParamKind */
    uint8_t dtype;      /* number: value dtype; array: element dtype in memory (may be complex, half, uint8 …) */
    uint8_t rank;       /* array */
    bool contiguous;    /* array: strides follow from dims (row-major, no gaps): STRIDE is not used */
    bool unit_last;     /* array: stride of the last axis is 1 */
    bool read, written; /* array: what the kernel does with it; atomic counts as both */
} KParam;

/* A sentence for CHECK.  %0 and %1 stand for the values b and c, %p for the position, %% for a percent sign. */
typedef struct {
    Str *text;
    qs_status status;
} KMessage;

typedef struct KFunc {
    Arena *arena; /* everything below lives here */
    Ctx *ctx;
    Str *name;
    const Source *src;
    KIns *ins;
    uint32_t nins, cap;
    KRegion *regions;
    uint32_t nregions; /* by instruction; made by kir_match, of so many instructions */
    KParam *params;
    int nparams;
    KMessage *messages;
    int nmessages;
    int rank;         /* of the launch domain, 1..8 */
    uint64_t ops;     /* bit K_x: has the instruction x; made by kir_match */
    bool barrier;     /* has BARRIER */
    bool shared;      /* has SHARED */
    bool serial;      /* positions run one after another in index order (serial_do, host loops); set before kcompile */
    bool strict;      /* a*b+c rounds twice, functions are those of libm: what is computed has the bits of the host's */
    bool few;         /* few positions update what others update: no copies are worth it (devices/private_copies.h) */
    bool fast;        /* fast math: backends may estimate and regroup (docs/kernels.md); the evaluator does not */
    bool fixed_block; /* compiled for exactly `block` (shared sizes were computed from it) */
    bool small;       /* launches and arrays are no larger than KIR_SMALL says: indices fit into 32 bits */
    int32_t block[QS_MAX_RANK];
    Str *ruled;
    uint32_t ruled_pos; /* a function called in it that has a rule for its derivative, and where; or NULL */
    uint64_t hash;      /* of everything that determines the code; set by kir_seal */
} KFunc;

/* Of a launch of a small kernel: extents of the domain and of arrays are at most that, their strides are int32 numbers,
 * and so is the number of each element, counted from the first. */
#define KIR_SMALL ((int64_t)1 << 28)
/* The same kernel, promised to be launched like that. */
KFunc *kir_small(Arena *a, const KFunc *f);

static inline bool kir_is_value_dtype(qs_dtype d) {
    return d == QS_B1 || (d >= QS_I32 && d <= QS_U64) || d == QS_F32 || d == QS_F64;
}
/* The dtype in which the elements of an array of dtype `elem` take part in arithmetic. */
static inline qs_dtype kir_value_dtype(qs_dtype elem) {
    if (elem >= QS_I8 && elem <= QS_U16) return QS_I32;
    if (qdtype_is_short(elem)) return QS_F32;
    return qdtype_real_of(elem);
}

/* -- checking and text: the text form is read back exactly --------------------------------------------------------- */
qs_status kir_verify(Ctx *c, const KFunc *f); /* QS_EINTERNAL with the instruction at fault */
void kir_print(const KFunc *f, Text *out);
qs_status kir_parse(Ctx *c, Arena *arena, const char *text, size_t n, KFunc **out);

/* -- running: the reference evaluator, oracle of every backend.  f must have passed kir_verify. -------------------- */
typedef struct {
    void *data; /* KP_ARRAY: first element */
    int64_t dims[QS_MAX_RANK], strides[QS_MAX_RANK];
    uint64_t bits; /* KP_NUM: the value as the bits of a 64-bit slot of its dtype */
} KArg;

typedef struct {
    int rank;
    int64_t domain[QS_MAX_RANK];
    int32_t block[QS_MAX_RANK];
} KLaunch;

/* What a CHECK leaves behind; the first one of a launch wins. */
/* message: index + 1, or 0. */
typedef struct {
    uint32_t message, pos;
    double value[2];
    int64_t at[QS_MAX_RANK];
} KFault;

/* stop: polled now and then (NULL: never); non-zero ends the launch with QS_EINTERRUPT. */
qs_status keval_run(Ctx *c, const KFunc *f, const KArg *args, const KLaunch *l, KFault *fault, const Flag *stop);
void kir_fault_text(const KFunc *f, const KFault *fault, Text *out); /* the sentence with its values put in */
#endif
