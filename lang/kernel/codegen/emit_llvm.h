/* emit_llvm.h -- shared by the files that emit LLVM IR: emit_llvm.c, emit_memory.c and emit_flow.c (single
 * instructions), emit_cpu.c and emit_ptx.c (the code around the instructions of one position, called the frame). */
#ifndef LANG_EMIT_LLVM_H
#define LANG_EMIT_LLVM_H
#include "lang/kernel/codegen/emit.h"
#include "lang/kernel/passes/opt.h"
#include "lang/kernel/passes/passes.h"

enum { EMIT_MAX_LOOPS = 256, EMIT_OPERAND = 40, EMIT_SCOPE = 2 /* metadata node: debug scope of source positions */ };

typedef struct {
    char s[EMIT_OPERAND];
} Opnd; /* text of an operand: "%t12", "0x3FF0000000000000", "%p3.d0" */

/* A memory location.  tail: text appended to accesses, such as metadata.  lanes: number of positions whose copies of an
 * array are interleaved element by element; 0: not interleaved.  is_bit: a truth value is stored as i1, so that LLVM
 * recognizes reductions of it. */
typedef struct {
    Opnd ptr;
    const char *tail;
    int lanes;
    bool is_bit;
} Place;

typedef enum { LOOPS_FAST, LOOPS_SHORT /* not unrolled */, LOOPS_RARE /* not unrolled, not vectorized */ } EmitLoops;

/* An open loop.  head, next, out: labels.  FOR: k and k1 are the temporaries of the iteration counter and of its next
 * value; stretch is the label where a stretch of iterations begins, or 0. */
typedef struct {
    uint32_t head, next, out, k, k1, stretch;
    KRef loop;         /* the FOR, if its iterations are declared independent; or 0 */
    const char *group; /* Emit.group outside of the loop */
} EmitLoop;

typedef struct Emit Emit;
struct Emit {
    Ctx *c;
    const KFunc *f;      /* function being emitted: the kernel after the passes */
    const KFunc *source; /* kernel before the passes */
    const KSplit *split; /* interior of f without index tests; NULL: none */
    KJam jam;            /* positions that f computes together */
    const KTarget *t;
    Text *out;        /* receives instructions */
    Text entry, body; /* the entry block; the rest of the function */
    Text decls, tail; /* declarations and functions; helpers and metadata */
    uint32_t next;    /* number of the newest temporary or label */
    bool dead;        /* the basic block has its terminator; code here is unreachable */
    uint32_t at;      /* source position of the instruction being emitted */

    /* By instruction.  val: its temporary, or 0; wide: a temporary with the value as int64 if it is a narrower index,
     * or 0.  Temporaries created in a loop over positions are valid only in the same epoch; now: current epoch. */
    uint32_t *val, *wide, *epoch, now;
    uint8_t *bits;   /* by instruction: 8 or 16, or 32 for an index, if so many bits hold it (narrow.c); 0: none */
    uint32_t *slim;  /* by instruction: a temporary with the value in that many bits; 0: none */
    uint32_t *label; /* by instruction: label at the end of an IF or ELSE */

    EmitLoop loop[EMIT_MAX_LOOPS];
    int depth;
    EmitLoops loops;                /* optimization level of the loops being emitted */
    bool near;                      /* mirrored and circular indices are at most one period away */
    uint32_t metadata;              /* number of the newest metadata node */
    uint32_t item_end;              /* label at the end of the current position */
    int parallel;                   /* number of open loops with independent iterations */
    const char *group;              /* appended to accesses of array parameters: "" or their access group */
    const char *const (*scopes)[2]; /* by parameter: alias scope, with the access group; NULL: arrays may overlap */
    const char *updates; /* likewise for updates that need not be atomic, because one thread makes all of them */
    const Opnd *pads;    /* by parameter: first element of its pad (opt.h), or ""; NULL: no pads are in use */
    bool many_calls;     /* too many mathematical functions to compute all of them inline */
    bool apart;          /* no memory that this loop stores to is loaded in it */

    /* Provided by the frame; positions and blocks are int64. */
    Opnd pos[QS_MAX_RANK], blkpos[QS_MAX_RANK], blkdim[QS_MAX_RANK], blkidx[QS_MAX_RANK], blkcnt[QS_MAX_RANK];
    const char *array_space, *shared_space; /* "" or " addrspace(1)" */
    Opnd (*param)(Emit *, int param);       /* KP_NUM: the value in its dtype; KP_ARRAY: pointer to the first element */
    Opnd (*extent)(Emit *, int param, int axis, bool stride);
    Opnd (*disguise)(Emit *, Opnd ptr); /* the same address as a value that LLVM does not recognize */
    Place (*container)(Emit *, KRef r); /* memory of a LOCAL, LARRAY or SHARED */
    void (*leave)(Emit *);              /* ends this position early */
    void (*fault)(Emit *, const KIns *check);
    void (*poll)(Emit *); /* leaves the function if the launch was interrupted; NULL: never polls */
    void (*barrier)(Emit *);
    void (*guard)(Emit *); /* leaves the function instead of a call that is not possible now; NULL: emits nothing */
    /* Updates an element of an array atomically; v has the dtype of its value.  NULL: emit_atomic does it. */
    void (*atomic)(Emit *, const KIns *, qs_dtype elem, Opnd ptr, Opnd v);
    Opnd (*any)(Emit *, KRef); /* value of ANY with operand r; NULL: the value of r */
    Opnd args[KIR_SLOTS];      /* arguments of the next CALL */
    int callee_copy;           /* the copy of a callee that CALL calls (emit_cpu.c) */
    Opnd outputs[KIR_SLOTS];   /* of a callee: its results */
    Opnd alone;                /* i1: updates need not be atomic; "": unknown */
    void *frame;
};

const char *emit_type(qs_dtype value);                   /* "i32" */
const char *emit_mem_type(const Emit *e, qs_dtype elem); /* type of an array element; of a component if it is complex */
size_t emit_mem_size(qs_dtype elem);
Opnd emit_opnd(const char *fmt, ...) QS_PRINTF(1, 2);
Opnd emit_tmp(uint32_t n);
uint32_t emit_number(Opnd v); /* number of a temporary; 0: v is none */
/* Code emitted between these two calls is added to the entry block. */
typedef struct {
    Text *out;
    bool dead;
} EmitSpot;
EmitSpot emit_enter_entry(Emit *e);
void emit_leave_entry(Emit *e, EmitSpot s);
Opnd emit_def(Emit *e, const char *fmt, ...) QS_PRINTF(2, 3); /* emits "  %tN = …" and returns %tN */
void emit_put(Emit *e, const char *fmt, ...) QS_PRINTF(2, 3); /* emits an instruction */
uint32_t emit_new(Emit *e);                                   /* new number for a label or temporary */
void emit_label(Emit *e, uint32_t n);                         /* begins a basic block; code before it falls through */
void emit_jump(Emit *e, uint32_t label);
void emit_branch(Emit *e, Opnd cond, uint32_t yes, uint32_t no);
void emit_declare(Emit *e, const char *fmt, ...) QS_PRINTF(2, 3); /* adds a declaration unless it exists */
/* Appends text with $X replaced by values[i], where X is letters[i]. */
void emit_fill(Text *out, const char *text, const char *letters, const char *const *values);
bool emit_known(const Emit *e, KRef r); /* r is a constant or has a valid temporary */
Opnd emit_arg(Emit *e, KRef r);
void emit_set(Emit *e, KRef r, Opnd v); /* sets the value of r */
Opnd emit_load(Emit *e, qs_dtype elem, const char *space, Place at);
void emit_store(Emit *e, qs_dtype elem, const char *space, Place at, Opnd v);
Opnd emit_elem(Emit *e, qs_dtype elem, const char *space, Opnd base, Opnd index);
Opnd emit_combine(Emit *e, KAtomic op, qs_dtype d, Opnd a, Opnd b); /* a op b */
/* Returns the element before the update. */
Opnd emit_atomic(Emit *e, KAtomic op, qs_dtype elem, const char *space, Opnd ptr, Opnd v);
uint32_t emit_loop_metadata(Emit *e, const char *properties); /* new metadata node for one loop; properties: ", !{…}" */
void emit_ins(Emit *e, KRef r);
void emit_range(Emit *e, KRef first, KRef last); /* [first, last) */
Opnd emit_double(Emit *e, KRef r);               /* value of r converted to double; 0 if r is 0 */

/* -- emit_llvm.c: parts of instructions ---------------------------------------------------------------------------- */
static inline bool emit_is_float(qs_dtype d) { return d == QS_F32 || d == QS_F64; }
static inline bool emit_is_signed(qs_dtype d) { return d == QS_I32 || d == QS_I64; }
Opnd emit_lit(long long v);
Opnd emit_literal(qs_dtype d, uint64_t bits);
Opnd emit_wide(Emit *e, KRef r);    /* r, an int or int64, as int64 */
Opnd emit_low_arg(Emit *e, KRef r); /* the low half of an index of a small kernel */
void emit_set_index(Emit *e, KRef r, Opnd v);
Opnd emit_bin(Emit *e, const char *op, const char *t, Opnd a, Opnd b);
Opnd emit_select(Emit *e, Opnd cond, const char *t, Opnd yes, Opnd no);
Opnd emit_choice(Emit *e, qs_dtype d, Opnd cond, Opnd yes, Opnd no);
Opnd emit_clamp(Emit *e, Opnd a, long long lo, long long hi); /* i32 */
/* flag: that of the instruction, with EMIT_ROUNDS_ONCE if emit_rounds_once is true of it. */
enum { EMIT_ROUNDS_ONCE = 1 << 15 };
Opnd emit_arith(Emit *e, KOp op, qs_dtype d, unsigned flag, Opnd a, Opnd b);
/* emit_exact.c: r is an exact product of float64, or a sum with one, so that contraction does not change the bits. */
bool emit_rounds_once(const KFunc *f, KRef r);
Opnd emit_extreme_in_order(Emit *e, KOp op, qs_dtype d, Opnd a, Opnd b);
Opnd emit_math_call(Emit *e, MathFn fn, qs_dtype d, Opnd a, Opnd b);

/* -- emit_memory.c ------------------------------------------------------------------------------------------------- */
void emit_need_helper(Emit *e, const char *name);
void emit_add_helpers(Emit *e, Text *out); /* defines the helpers that were needed */
void emit_guarded(Emit *e, const KIns *i, void (*effect)(Emit *, const KIns *));
void emit_load_element(Emit *e, KRef r);
void emit_store_element(Emit *e, const KIns *i);
void emit_fetch(Emit *e, KRef r);
void emit_atomic_ins(Emit *e, const KIns *i);
void emit_inner_access(Emit *e, KRef r); /* of an LARRAY or SHARED */
void emit_zero_fill(Emit *e, KRef r);

/* -- emit_flow.c --------------------------------------------------------------------------------------------------- */
void emit_begin_if(Emit *e, KRef r);
void emit_begin_else(Emit *e, KRef r);
void emit_begin_loop(Emit *e, KRef r);
void emit_begin_for(Emit *e, KRef r);
void emit_end_region(Emit *e, KRef r);
void emit_check(Emit *e, const KIns *i);
void emit_call(Emit *e, KRef r);
void emit_result(Emit *e, KRef r);

/* -- emit_math.c, emit_mod.c --------------------------------------------------------------------------------------- */
int emit_lanes(char isa, qs_dtype d); /* number of lanes of a vector function; isa: letter of KTarget.mvec */
unsigned emit_call_attributes(MathFn fn, qs_dtype d);         /* attribute group of calls of fn */
bool emit_calls_vectors(const Emit *e, MathFn fn);            /* loops may call the vector versions of fn */
bool emit_math_inlines(const Emit *e, MathFn fn, qs_dtype d); /* fn is computed inline in loops */
void emit_math_inline(Emit *e, MathFn fn, qs_dtype d);        /* defines own_sin(x) etc. for that */
const char *emit_mod(Emit *e, qs_dtype d);                    /* name of the remainder function, which it defines */
static inline unsigned emit_mod_attributes(qs_dtype d) { return d == QS_F64 ? 8 : 9; } /* group of its calls */

void emit_tables(Emit *e, Arena *a);                 /* makes the tables by instruction */
void emit_signature(const KFunc *callee, Text *out); /* the type of its results */
qs_status emit_cpu(Emit *e, Text *out);
qs_status emit_ptx(Emit *e, Text *out);
#endif
