/* ptx_machine.h -- what the files of the interpreter share: decoded code, warps and their registers.
 *
 * A register of a warp is 32 lanes side by side, each as wide as the register; a predicate is one word, a bit per
 * thread.  All registers, constants and special registers of a module lie in one file of bytes, so that an operand is
 * an offset in it, whatever it was in the text.  There is no recursion: each function has its place in the file, and
 * threads that are in one function by different ways do not meet, because each has its own lane.
 *
 * Addresses: global ones are those of this machine.  Shared, local and parameter space begin at 0; as generic
 * addresses they lie behind windows that no machine address reaches. */
#ifndef TESTS_SUPPORT_PTX_MACHINE_H
#define TESTS_SUPPORT_PTX_MACHINE_H
#include "tests/support/ptx/ptx.h"
#include <string.h>

#define ALIAS __attribute__((may_alias))
typedef uint8_t u8 ALIAS, b8 ALIAS;
typedef int8_t s8 ALIAS;
typedef uint16_t u16 ALIAS, b16 ALIAS;
typedef int16_t s16 ALIAS;
typedef uint32_t u32 ALIAS, b32 ALIAS;
typedef int32_t s32 ALIAS;
typedef uint64_t u64 ALIAS, b64 ALIAS;
typedef int64_t s64 ALIAS;
typedef _Float16 f16 ALIAS;
typedef float f32 ALIAS;
typedef double f64 ALIAS;
typedef unsigned __int128 u128;
typedef __int128 i128;

#define TYPES(M) M(u8) M(s8) M(b8) M(u16) M(s16) M(b16) M(u32) M(s32) M(b32) M(u64) M(s64) M(b64) M(f16) M(f32) M(f64)
typedef enum {
#define TYPE(T) T_##T,
    TYPES(TYPE)
#undef TYPE
        T_pred,
    T_none
} PtxType;

enum { LANES = 32, FEW = 4, WARPS = 32, DEPTH = 12, VECTOR = 4, MOST_ARGS = 24 };

/* The meaning of a name. */
enum {
    RN = 1,
    RZ = 2,
    RM = 4,
    RP = 8,
    ROUNDINGS = RN | RZ | RM | RP,
    FTZ = 16,
    SAT = 32,
    RNI = 64,
    RZI = 128,
    RMI = 256,
    RPI = 512,
    INTEGRAL = RNI | RZI | RMI | RPI,
    BITWISE = 1024 /* of a row: NaN keeps its bits */
};

typedef enum { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM, SPACE_ARG } PtxSpace;
/* SPACE_ARG: parameters of a call, which lie in the file of registers */

static const uint64_t SHARED_WINDOW = (uint64_t)1 << 56, LOCAL_WINDOW = (uint64_t)2 << 56,
                      PARAM_WINDOW = (uint64_t)3 << 56;
/* Shared memory that a launch adds: its actual start depends on the entry. */
static const uint64_t DYNAMIC_SHARED = (uint64_t)1 << 24;
#define WINDOW_OF(address) ((address) >> 56)

typedef enum {
#define ROW_(T, name)           P_##name##_##T,
#define INT1(name, types, ...)  types(ROW_, name)
#define INT2(name, types, ...)  types(ROW_, name)
#define INT3(name, types, ...)  types(ROW_, name)
#define REAL1(name, types, ...) types(ROW_, name)
#define REAL2(name, types, ...) types(ROW_, name)
#define REAL3(name, types, ...) types(ROW_, name)
#define TEST(name, types, ...)  types(ROW_, setp_##name)
#define BOOL(name, ...)         P_##name##_pred,
#define CARRY(name, types, ...) types(ROW_, name)
#define ODD(name)               P_##name,
#include "tests/support/ptx/ptx.def"
    P_COUNT
} PtxOp;

typedef enum {
    WHAT_NONE,
    W_AND,
    W_OR,
    W_XOR,
    W_ADD,
    W_MIN,
    W_MAX,
    W_INC,
    W_DEC,
    W_CAS,
    W_EXCH,
    W_UP,
    W_DOWN,
    W_BFLY,
    W_IDX,
    W_ALL,
    W_ANY,
    W_UNI,
    W_BALLOT,
    W_SYNC,
    W_WARP_SYNC,
    W_POPC,
    W_ARRIVE,
    W_FINITE,
    W_INFINITE,
    W_NUMBER,
    W_NOTANUMBER,
    W_NORMAL,
    W_SUBNORMAL,
    W_TO /* cvta.to */,
    W_COPY,
    W_SPLIT,
    W_JOIN
} PtxWhat;

/* One instruction.  Operands are offsets in the file; -1: none. */
typedef struct {
    uint16_t op, mod;
    uint8_t what, space, type, from; /* from: the source type of a conversion */
    uint8_t n, dwide, awide;         /* elements of a vector; bytes of a lane of d and of a */
    bool guard_not, not_c, scalar;   /* scalar: of no matter where */
    int32_t guard, d, a, b, c, e;
    int32_t v[VECTOR];     /* registers of a vector */
    int32_t target;        /* instruction, function, or call */
    uint32_t line, launch; /* launch: in which begin and end were set */
    int64_t imm;
    uint64_t begin, end; /* the block of global memory that it touched last */
} PtxIns;

/* units: of 8 bytes for each lane, in the file */
typedef struct {
    int32_t at, units;
    size_t bytes, align, offset;
} PtxParam;

typedef struct {
    char name[96];
    bool entry, defined;
    int nparams, nrets;
    PtxParam param[MOST_ARGS * 8], ret[1];
    int32_t first, count;       /* instructions */
    int64_t local, local_bytes; /* place in a thread's local memory */
    size_t param_bytes, shared; /* shared: of its own, and of the module */
    unsigned registers, max_threads;
} PtxFunction;

typedef struct {
    int32_t function, nargs, nrets, arg[MOST_ARGS], ret;
    int32_t units[MOST_ARGS], ret_units;
} PtxCall;

typedef struct {
    char name[96];
    bool shared, is_extern;
    uint64_t at;
    size_t bytes;
} PtxVariable;
typedef struct {
    int32_t at;
    uint8_t type;
    uint64_t bits;
} PtxConst;
typedef enum {
    S_TID_X,
    S_TID_Y,
    S_TID_Z,
    S_NTID_X,
    S_NTID_Y,
    S_NTID_Z,
    S_CTAID_X,
    S_CTAID_Y,
    S_CTAID_Z,
    S_NCTAID_X,
    S_NCTAID_Y,
    S_NCTAID_Z,
    S_LANEID,
    S_WARPID,
    S_NWARPID,
    S_LANEMASK_EQ,
    S_LANEMASK_LT,
    S_LANEMASK_LE,
    S_LANEMASK_GT,
    S_LANEMASK_GE,
    S_COUNT
} PtxSpecial;

typedef struct {
    uint32_t written, read;
    uint16_t writer, reader;
    uint16_t write_turn, read_turn;
    bool atomic;
} Shadow;

typedef struct {
    uint32_t all, live, at_barrier, at_sync;
    uint32_t pc[LANES], sync_mask[LANES];
    uint32_t return_to[DEPTH][LANES];
    uint8_t depth[LANES];
    unsigned number, barrier; /* barrier: which it waits at */
    uint16_t turn;            /* how often the threads of the warp waited for each other */
    char *file;
} Warp;

struct PtxModule {
    PtxHost host;
    char *text; /* to be quoted */
    PtxIns *code;
    uint32_t ncode, ncalls, nfunctions, nvariables, nconsts;
    PtxFunction *function;
    PtxCall *call;
    PtxVariable *variable;
    PtxConst *consts;
    int32_t special[S_COUNT]; /* where in the file, or -1 */
    int32_t carry;            /* the word of the carry */
    size_t file_bytes, local_bytes, static_shared;
    uint32_t **branches; /* of brx.idx: lists, the first entry is the length */
    uint32_t nbranches;
    char *storage; /* of global variables */
    size_t storage_bytes;
    bool meets; /* its threads may notice each other: shared memory, barriers, updates */
    /* while a kernel runs */
    const PtxLaunch *launch;
    Warp warp[WARPS];
    unsigned nwarps;
    char *shared, *local;
    size_t shared_bytes, dynamic_at, shared_room, local_room;
    Shadow *shadow;
    uint8_t *shared_set; /* by byte: was it written? */
    uint32_t epoch;      /* goes up with every barrier and every block; never back */
    unsigned block[3];
    uint64_t random;
    int error;
    uint32_t nlaunch;
};

/* ptx_decode.c */
typedef struct PtxParser PtxParser;
bool ptx_decode(PtxParser *p);
size_t ptx_type_bytes(unsigned type);
const char *ptx_op_name(unsigned op);

/* ptx_warp.c */
uint64_t ptx_random(PtxModule *m);
/* Prints the location and counts; an error other than 0 ends the launch. */
__attribute__((format(printf, 6, 7))) void ptx_mistake(PtxModule *m, const Warp *w, int lane, const PtxIns *i,
                                                       int error, const char *fmt, ...);
extern uint64_t ptx_count[P_COUNT], ptx_total;

/* ptx_exec.c: runs threads of the warp until none can go on or the budget is spent. */
void ptx_run_warp(PtxModule *m, Warp *w, long budget);

/* ptx_cvt.c */
void ptx_cvt(Warp *w, const PtxIns *i, uint32_t m);
int ptx_enter_rounding(unsigned mod);
void ptx_leave_rounding(int before);

/* ptx_memory.c */
void ptx_ld(PtxModule *m, Warp *w, PtxIns *i, uint32_t lanes);
void ptx_st(PtxModule *m, Warp *w, PtxIns *i, uint32_t lanes);
void ptx_atom(PtxModule *m, Warp *w, PtxIns *i, uint32_t lanes);

/* ptx_group.c: the threads of `lanes` arrived here; true: the instruction is done for *out, and no thread waits at
 * it. */
bool ptx_together(PtxModule *m, Warp *w, const PtxIns *i, uint32_t pc, uint32_t lanes, uint32_t *out);
void ptx_group(PtxModule *m, Warp *w, const PtxIns *i, uint32_t lanes);

/* ptx_approx.c */
float ptx_div(float a, float b);
float ptx_rcp(float a);
float ptx_sqrt(float a);
float ptx_rsqrt(float a);
float ptx_sin(float a);
float ptx_cos(float a);
float ptx_ex2(float a);
float ptx_lg2(float a);
float ptx_tanh(float a);
double ptx_rcp_top(double a);
double ptx_rsqrt_top(double a);

/* `body` for each lane L of `lanes`. */
#define PTX_PRAGMA(x) _Pragma(#x)
#define EACH(lanes, body)                                                                                              \
    do {                                                                                                               \
        if ((lanes) == UINT32_MAX) {                                                                                   \
            PTX_PRAGMA(GCC ivdep)                                                                                      \
            for (int L = 0; L < LANES; L++) body                                                                       \
        } else if (__builtin_popcount(lanes) > FEW) {                                                                  \
            PTX_PRAGMA(GCC ivdep)                                                                                      \
            for (int L = 0; L < LANES; L++)                                                                            \
                if ((lanes) >> L & 1) body                                                                             \
        } else                                                                                                         \
            for (uint32_t left_ = (lanes); left_; left_ &= left_ - 1) {                                                \
                const int L = __builtin_ctz(left_);                                                                    \
                body                                                                                                   \
            }                                                                                                          \
    } while (0)
#define IS_SIGNED(T)  (!((T)-1 > 0))
#define AT(T, offset) ((T *)(void *)(w->file + (offset)))

/* The predicate that an instruction reads, a bit for each thread; and one that gets new bits for the threads m. */
static inline uint32_t ptx_truth(const Warp *w, const PtxIns *i) {
    uint32_t t;
    memcpy(&t, w->file + i->c, 4);
    return i->not_c ? ~t : t;
}

static inline void ptx_set_pred(Warp *w, int32_t at, uint32_t m, uint32_t value) {
    u32 *p = AT(u32, at);
    *p = (*p & ~m) | (value & m);
}
#endif
