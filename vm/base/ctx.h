/* ctx.h -- what every layer hangs on: the memory door, interned strings and types, the first error.
 *
 *     ctx     memory, errors, arenas, growing text, sources        dtype    element types and their conversions
 *     str     names and strings, maps                              type     descriptors of the types of the language
 *     number  numbers as text                                      flag     what signal handlers and threads raise
 *     warning what is legal, and hardly meant                      doing    how far a built-in is
 *
 * Everybody calls these files; they know nobody but quasar_types.h.  qs_vm begins with a Ctx, so lang and devices work
 * on the same state without knowing the machine. */
#ifndef VM_BASE_CTX_H
#define VM_BASE_CTX_H
#include "vm/base/activity.h"
#include "vm/quasar_types.h"

#include <stdarg.h>

/* The first word of every counted object.  `kind` is the qs_kind of the value that points to it. */
typedef struct Obj {
    uint32_t refs;
    uint8_t kind, flags;
    uint16_t aux;
} Obj;

typedef struct Str Str;
typedef struct Type Type;
typedef struct Source Source;

/* A place in a program: a source file and a byte offset into it.  src == NULL: nowhere. */
typedef struct {
    const Source *src;
    uint32_t pos;
} Where;

enum { QERR_FRAMES = 16, QERR_TEXT = 2048 };

typedef struct {
    Where where;
    const Str *function;
} ErrorFrame;

typedef struct {
    qs_status status; /* QS_OK: no error */
    bool placed;      /* `where` has been set */
    bool late;        /* of a launch that had returned: place and chain are those of then, and no handler catches it */
    Where where;
    int nframes; /* call chain, innermost first; the deepest QERR_FRAMES are kept */
    ErrorFrame frames[QERR_FRAMES];
    int nlost; /* frames beyond that */
    char text[QERR_TEXT];
    qs_value payload; /* what `catch e` receives when it is not a string (a Python exception); nil otherwise */
} ErrorState;

typedef struct Ctx {
    ErrorState err;
    struct StrTable *strings;
    struct TypeTable *types;
    struct Source *sources; /* every file loaded, kept for error messages */
    qs_dtype scalar_dtype;  /* QS_F32, or QS_F64 with precision 64 */
    size_t bytes;           /* held through qmem_* */
    size_t limit;           /* qmem_try refuses to hold more than that; 0: it never does */
    void *reserve;          /* released when bookkeeping finds no memory, so that the program can handle the error */
    bool short_of_memory;   /* the reserve has been released; the machine reports an error soon */
    void (*reserve_used)(struct Ctx *); /* api.c: makes the machine look at short_of_memory */
    void (*cannot_go_on)(struct Ctx *); /* api.c: writes pending output and the place, before the process ends */
    long fail_after;                    /* tests: the n-th qmem_try from now fails, 1 is the next; <= 0 never */
    struct Pool *pool;                /* devices/pool.c: freed array blocks kept for reuse; NULL until the first one */
    void (*pool_close)(struct Ctx *); /* called by qctx_close */
    void (*pool_drain)(struct Ctx *); /* frees the blocks kept for reuse */
    struct Threads *threads;          /* devices/threads.c: who computes beside the caller; NULL until first needed */
    int nthreads;                     /* how many they shall be; 0: all that we may use */
    void (*threads_close)(struct Ctx *); /* called by qctx_close */
    struct Device *spaces[8];  /* devices/buffer.c: a device that reaches memory space m; [0], the host, stays NULL */
    struct Buffer *on_devices; /* devices/buffer.c: buffers with a block on some device, latest used first */
    uint64_t nfuncs;           /* functions parsed so far: their ids, which outlive them in what was compiled */
    const char *llvmlite;      /* devices/llvm.c: taken where the system has no libLLVM; NULL: not known */
    bool no_warnings;          /* nobody wants them */
    qs_status (*warn)(struct Ctx *, Where, const char *sentence); /* tells one; of the machine.  NULL: nobody listens */
    qs_status (*before_write)(struct Ctx *, struct Buffer *);     /* vm/tape/saved_arrays.c: of buffers with `kept` */
    void (*written)(struct Ctx *, struct Buffer *);               /* bridge/written.c: of buffers that are watched */
    void (*let_go)(struct Ctx *); /* others may run from here on, of the host program; NULL: nobody waits for us */
    Doing doing;                  /* the built-in that runs */
    int owed;                     /* launches whose faults are not known yet, on all devices: vm/launch/async_error.c */
    double fetched[256];          /* bytes that came from devices to the host, by Buffer.maker */
} Ctx;

void qctx_init(Ctx *c, int precision);
void qctx_close(Ctx *c);

/* Work on so many bytes of an array takes some 10 µs, so others need not wait for its end, and may look on. */
enum { QCTX_LONG = 1 << 16 };
static inline void qctx_let_go(Ctx *c) { /* whoever began the work waits for them again */
    if (c->let_go) c->let_go(c);
    if (c->doing.begins) c->doing.begins(c);
}

/* -- memory.  qmem_try may return NULL and is for sizes that a user chooses (array blocks).  qmem_alloc is for
 *    bookkeeping and never returns NULL, because tests of every such call would double the code.  When it finds no
 *    memory, it frees the blocks that are kept for reuse, then the reserve of the Ctx: the machine then reports
 *    QS_ENOMEM at its next safe point, and programs can catch that.  Without a reserve the process writes a message
 *    and ends with status 1. --------------------------------------------------------------------------------------- */
/* The size of an allocation: count * size + extra.  It is SIZE_MAX, which every allocator refuses, when that does not
 * fit a size_t.  No allocation multiplies by itself (tests/style.py). */
static inline size_t qmem_size(size_t count, size_t size, size_t extra) {
    size_t n;
    return __builtin_mul_overflow(count, size, &n) || __builtin_add_overflow(n, extra, &n) ? SIZE_MAX : n;
}
void *qmem_alloc(Ctx *c, size_t n);                             /* zeroed */
void *qmem_resize(Ctx *c, void *p, size_t old_n, size_t new_n); /* new part zeroed */
void qmem_free(Ctx *c, void *p, size_t n);
void *qmem_try(Ctx *c, size_t n);                                   /* 64-byte aligned, not zeroed */
void *qmem_try_resize(Ctx *c, void *p, size_t old_n, size_t new_n); /* of qmem_alloc; NULL: p stays; not zeroed */
void qmem_try_free(Ctx *c, void *p, size_t n);
void qmem_reserve(Ctx *c); /* takes the reserve again, where there is room */

/* Grows `*p` so that index n fits; *cap counts elements. */
void qmem_grow(Ctx *c, void *p, uint32_t *cap, uint32_t need, size_t elem);

/* -- errors: the first one is kept.  Each returns the status, so `return qerr_set(...)` reads well. ---------------- */
qs_status qerr_set(Ctx *c, qs_status s, const char *fmt, ...) QS_PRINTF(3, 4);
qs_status qerr_at(Ctx *c, qs_status s, Where w, const char *fmt, ...) QS_PRINTF(4, 5);
qs_status qerr_vset(Ctx *c, qs_status s, Where w, const char *fmt, va_list ap);
void qerr_place(Ctx *c, Where w);            /* sets the place if there is none, or one in the library */
void qerr_subject(Ctx *c, const char *name); /* what begins with "the array" then begins with name */
void qerr_more(Ctx *c, const char *text);    /* goes behind the message, where there is room */
void qerr_frame(Ctx *c, Where w, const Str *function);
void qerr_clear(Ctx *c); /* the caller releases payload first */

#define TRY(expr)                                                                                                      \
    do {                                                                                                               \
        qs_status try_status_ = (expr);                                                                                \
        if (__builtin_expect(try_status_ != QS_OK, 0)) return try_status_;                                             \
    } while (0)

/* -- arena: memory that dies together (AST, KIR) ------------------------------------------------------------------- */
typedef struct ArenaBlock ArenaBlock;
typedef struct {
    Ctx *ctx;
    ArenaBlock *block;
    size_t used;
} Arena;
void qarena_init(Arena *a, Ctx *c);
void *qarena_alloc(Arena *a, size_t n); /* zeroed, 16-byte aligned, never NULL */
void qarena_free(Arena *a);

/* -- growing text -------------------------------------------------------------------------------------------------- */
typedef struct {
    Ctx *ctx;
    char *s;
    size_t len, cap;
    bool lost;
} Text; /* s is NUL-terminated once anything was added;
                     lost: there was no memory for an addition, which is left out with all that come after it */
void qtext_init(Text *t, Ctx *c);
void qtext_add(Text *t, const char *s, size_t n);
void qtext_puts(Text *t, const char *s);
void qtext_putc(Text *t, char ch);
void qtext_pad(Text *t, char ch, size_t n); /* ch n times */
bool qtext_reserve(Text *t, size_t n);      /* room for n more bytes and the NUL; false: lost */
qs_status qtext_status(const Text *t);      /* an error when the text is lost */
void qtext_printf(Text *t, const char *fmt, ...) QS_PRINTF(2, 3);
void qtext_free(Text *t);

/* -- sources ------------------------------------------------------------------------------------------------------- */
struct Source {
    struct Source *next;
    char *path; /* as shown in messages */
    char *text; /* NUL-terminated copy */
    size_t len;
    bool internal; /* the prompt, -e */
    bool library;  /* of the library: its errors stand where the program called it */
    uint32_t *switches;
    uint32_t nswitches, cap_switches; /* warning.c: where warnings go off, on, off … */
    uint32_t *literal_dims;
    uint32_t nliteral_dims, cap_literal_dims; /* see qwarn_note_dimension */
    uint32_t *warned;
    uint32_t nwarned, cap_warned; /* and what has had its warning */
};
Source *qsource_add(Ctx *c, const char *path, const char *text, size_t len);
void qsource_drop(Ctx *c, Source *s);                                      /* nothing may point to it any more */
void qsource_line_col(const Source *s, uint32_t pos, int *line, int *col); /* both from 1; col counts bytes */
/* "file:line:col: <severity>: <sentence>\n<source line>\n   ^\n" appended to t.  Of a long line the part around
 * the place is shown; without a source, or on an empty line, the first line is all. */
void qsource_report(Text *t, Where w, const char *severity, const char *sentence);
#endif
