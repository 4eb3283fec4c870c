/* emit_llvm.h -- shared by the files that print LLVM IR: emit_llvm.c (what an instruction is), emit_cpu.c and
 * emit_ptx.c (what is around the work of one position). */
#ifndef LANG_EMIT_LLVM_H
#define LANG_EMIT_LLVM_H
#include "lang/kernel/codegen/emit.h"
#include "lang/kernel/passes/opt.h"

enum { EMIT_MAX_LOOPS = 256, EMIT_OPERAND = 40, EMIT_SCOPE = 2 /* metadata that positions belong to */ };

typedef struct {
    char s[EMIT_OPERAND];
} Opnd; /* an operand as written: "%t12", "0x3FF0000000000000", "%p3.d0" */

/* Memory, and what is appended to accesses of it.  lanes: not 0 in an array that lies element by element for so many
 * positions. */
typedef struct {
    Opnd ptr;
    const char *tail;
    int lanes;
} Place;

typedef enum { LOOPS_FAST, LOOPS_SHORT /* not unrolled */, LOOPS_RARE /* nor vectorised */ } EmitLoops;

/* Labels; of a FOR: the number of its turn counter and of the next turn; the label where its stretches begin, or
 * 0. */
typedef struct {
    uint32_t head, next, out, k, k1, stretch;
} EmitLoop;

typedef struct Emit Emit;
struct Emit {
    Ctx *c;
    const KFunc *f;      /* what is printed: the kernel, or what passes made of it */
    const KFunc *source; /* the kernel as given */
    const KSplit *split; /* f has a box without tests; or NULL */
    const KTarget *t;
    Text *out;        /* receives instructions */
    Text entry, body; /* the entry block; the rest of the function */
    Text decls, tail; /* declarations made so far; helpers and metadata */
    uint32_t next;    /* number of the next temporary or label */
    bool dead;        /* the block has its terminator: nothing flows here */
    uint32_t at;      /* position in the source of what is printed */

    /* By instruction: its temporary (0: none), and its form as int64 where it is a narrower index (0: none).  A
     * temporary made inside a loop over positions is of use in the same epoch only. */
    uint32_t *val, *wide, *epoch, now;
    uint8_t *bits;   /* by instruction: 8, 16, of an index 32 when so many hold it (narrow.h), else 0 */
    uint32_t *slim;  /* its form of so many bits, made with the temporary; 0: none */
    uint32_t *label; /* IF, ELSE: the label its region ends at */

    EmitLoop loop[EMIT_MAX_LOOPS];
    int depth;
    EmitLoops loops;     /* how much of LLVM's time loops are worth */
    bool near;           /* mirrored and circular indices are at most one period away */
    uint32_t metadata;   /* number of the next node */
    uint32_t item_end;   /* label: this position is done */
    const char *group;   /* appended to accesses of array parameters: "" or their access group */
    const char *updates; /* the same, to atomic updates that are none, because one thread makes all of them */
    const Opnd *pads;    /* by parameter, "" or the element that its pad (opt.h) begins with; or NULL */
    bool apart;          /* what is stored there is never loaded in this loop */

    /* What the frame provides; positions and blocks as int64. */
    Opnd pos[QS_MAX_RANK], blkpos[QS_MAX_RANK], blkdim[QS_MAX_RANK], blkidx[QS_MAX_RANK], blkcnt[QS_MAX_RANK];
    const char *array_space, *shared_space, *local_space; /* "" or " addrspace(1)" */
    Opnd (*param)(Emit *, int param); /* KP_NUM: the value in its dtype; KP_ARRAY: pointer to the first element */
    Opnd (*extent)(Emit *, int param, int axis, bool stride);
    Opnd (*disguise)(Emit *, Opnd ptr); /* the same address, of which LLVM cannot know that it is */
    Place (*container)(Emit *, KRef r); /* of a LOCAL, LARRAY or SHARED */
    void (*leave)(Emit *);              /* this position ends early */
    void (*fault)(Emit *, const KIns *check);
    void (*poll)(Emit *); /* NULL, or: leave the function when the launch was interrupted */
    void (*barrier)(Emit *);
    /* An update of an array's element, v already in its dtype; NULL: emit_atomic does it. */
    void (*atomic)(Emit *, const KIns *, qs_dtype elem, Opnd ptr, Opnd v);
    Opnd (*any)(Emit *, KRef); /* of the ANY of operand r; NULL: the operand */
    const char *scope;         /* of atomics: "" or a syncscope */
    Opnd alone;                /* i1: atomics need not be atomic */
    void *frame;
};

const char *emit_type(qs_dtype value);                   /* "i32" */
const char *emit_mem_type(const Emit *e, qs_dtype elem); /* of an element in memory; components of complex ones */
size_t emit_mem_size(qs_dtype elem);
Opnd emit_opnd(const char *fmt, ...) QS_PRINTF(1, 2);
Opnd emit_tmp(uint32_t n);
uint32_t emit_number(Opnd v);                                 /* of emit_tmp; 0: it is another one */
Opnd emit_def(Emit *e, const char *fmt, ...) QS_PRINTF(2, 3); /* "  %tN = …", and is %tN */
void emit_put(Emit *e, const char *fmt, ...) QS_PRINTF(2, 3); /* one instruction */
uint32_t emit_new(Emit *e);                                   /* a number for a label or temporary */
void emit_label(Emit *e, uint32_t n);                         /* falls through into it */
void emit_jump(Emit *e, uint32_t label);
void emit_branch(Emit *e, Opnd cond, uint32_t yes, uint32_t no);
void emit_declare(Emit *e, const char *fmt, ...) QS_PRINTF(2, 3); /* once per text */
/* Appends text, in which $X is the value whose letter in `letters` is X. */
void emit_fill(Text *out, const char *text, const char *letters, const char *const *values);
bool emit_known(const Emit *e, KRef r); /* has a temporary of this epoch, or is a constant */
Opnd emit_arg(Emit *e, KRef r);
void emit_set(Emit *e, KRef r, Opnd v); /* v, a temporary, is the value of r */
Opnd emit_load(Emit *e, qs_dtype elem, const char *space, Place at);
void emit_store(Emit *e, qs_dtype elem, const char *space, Place at, Opnd v);
Opnd emit_elem(Emit *e, qs_dtype elem, const char *space, Opnd base, Opnd index);
Opnd emit_combine(Emit *e, KAtomic op, qs_dtype d, Opnd a, Opnd b); /* a op b, of values */
void emit_atomic(Emit *e, KAtomic op, qs_dtype elem, const char *space, Opnd ptr, Opnd v);
uint32_t emit_loop_metadata(Emit *e, const char *properties); /* ", !{…}": a new node for one loop */
void emit_ins(Emit *e, KRef r);
void emit_range(Emit *e, KRef first, KRef last); /* [first, last) */
Opnd emit_double(Emit *e, KRef r);               /* any value as double; 0 for none */

int emit_lanes(char isa, qs_dtype d);                         /* of a vector function, by the letter of KTarget.mvec */
unsigned emit_call_attributes(MathFn fn, qs_dtype d);         /* group of its calls */
bool emit_math_inlines(const Emit *e, MathFn fn, qs_dtype d); /* loops compute fn themselves */
void emit_math_inline(Emit *e, MathFn fn);                    /* defines own_sin(x) for that */
const char *emit_mod(Emit *e, qs_dtype d);                    /* name of the function; defines it */
static inline unsigned emit_mod_attributes(qs_dtype d) { return d == QS_F64 ? 8 : 9; } /* group of its calls */

qs_status emit_cpu(Emit *e, Text *out);
qs_status emit_ptx(Emit *e, Text *out);
#endif
