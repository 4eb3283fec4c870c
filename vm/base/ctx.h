/* ctx.h -- declares Ctx, the state that every layer shares: memory, interned strings and types, the first error.
 *
 *     ctx      memory, errors, arenas, growing text, sources       dtype    element types and their conversions
 *     str      names, strings and maps                             type     type descriptors of the language
 *     number   conversion between numbers and text                 flag     flags set by signal handlers and threads
 *     warning  warnings about legal but suspicious code            activity progress of the running built-in
 *
 * All layers call these files.  The files themselves depend only on quasar_types.h.  A qs_vm begins with a Ctx, so
 * lang and devices work on the same state without knowing the VM. */
#ifndef VM_BASE_CTX_H
#define VM_BASE_CTX_H
#include "vm/base/activity.h"
#include "vm/quasar_types.h"

#include <stdarg.h>

/* The header of every reference-counted object.  `kind` is the qs_kind of the values that point to it. */
typedef struct Obj {
    uint32_t refs;
    uint8_t kind, flags;
    uint16_t aux;
} Obj;

typedef struct Str Str;
typedef struct Type Type;
typedef struct Source Source;

/* A source location: a file and a byte offset into it.  src == NULL: unknown. */
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
    bool late;        /* asynchronous error: location and call chain are those of the launch; no handler catches it */
    Where where;
    int nframes; /* length of `frames`, the call chain, innermost first; the deepest QERR_FRAMES are kept */
    ErrorFrame frames[QERR_FRAMES];
    int nlost; /* number of further frames that did not fit */
    char text[QERR_TEXT];
    qs_value payload; /* value that `catch e` receives instead of a string (a Python exception); nil otherwise */
} ErrorState;

typedef struct Ctx {
    ErrorState err;
    struct StrTable *strings;
    struct TypeTable *types;
    struct Source *sources; /* every file loaded, kept for error messages */
    qs_dtype scalar_dtype;  /* QS_F32, or QS_F64 with precision 64 */
    size_t bytes;           /* bytes allocated through qmem_* */
    size_t limit;           /* upper limit of `bytes` that qmem_try observes; 0: no limit */
    void *reserve;          /* released when bookkeeping finds no memory, so that the program can handle the error */
    bool short_of_memory;   /* the reserve has been released; the VM reports an error soon */
    void (*reserve_used)(struct Ctx *); /* api.c: makes the VM check short_of_memory */
    void (*cannot_go_on)(struct Ctx *); /* api.c: writes pending output and the source location before the exit */
    long fail_after;                    /* tests: the n-th qmem_try from now fails, 1 is the next; <= 0 never */
    struct Pool *pool;                /* devices/pool.c: freed array blocks kept for reuse; NULL until the first one */
    void (*pool_close)(struct Ctx *); /* called by qctx_close */
    void (*pool_drain)(struct Ctx *); /* frees the blocks kept for reuse */
    struct Threads *threads;          /* devices/threads.c: worker threads; NULL until first needed */
    int nthreads;                     /* requested number of threads; 0: all that the process may use */
    void (*threads_close)(struct Ctx *); /* called by qctx_close */
    struct Device *spaces[8];  /* devices/buffer.c: a device that reaches memory space m; [0], the host, stays NULL */
    struct Buffer *on_devices; /* devices/buffer.c: buffers with a block on some device, most recently used first */
    uint64_t nfuncs;           /* number of functions parsed so far; gives each an id that compiled code may keep */
    const char *llvmlite;      /* devices/llvm.c: library used if the system has no libLLVM; NULL: not known */
    bool no_warnings;          /* suppresses all warnings */
    qs_status (*warn)(struct Ctx *, Where, const char *sentence); /* reports a warning; set by the VM.  NULL: none */
    bool (*retries)(struct Ctx *); /* vm/interp/frame.c: would other code execute the statement again after an error? */
    qs_status (*before_write)(struct Ctx *, struct Buffer *); /* vm/tape/saved_arrays.c: hook for buffers with `kept` */
    void (*written)(struct Ctx *, struct Buffer *);           /* bridge/written.c: hook for watched buffers */
    void (*let_go)(struct Ctx *); /* lets other threads of the host program run (Python's GIL); NULL: none wait */
    Doing doing;                  /* progress of the running built-in */
    int owed;                     /* launches on all devices whose errors are not known yet: vm/launch/async_error.c */
    double fetched[256];          /* bytes copied from devices to the host, by Buffer.maker */
} Ctx;

void qctx_init(Ctx *c, int precision);
void qctx_close(Ctx *c);

/* Number of bytes from which an operation on an array counts as long: it takes some 10 µs.  A long operation lets
 * other threads of the host program run and reports its progress. */
enum { QCTX_LONG = 1 << 16 };
static inline void qctx_let_go(Ctx *c) { /* the caller that started the work takes the lock again */
    if (c->let_go) c->let_go(c);
    if (c->doing.begins) c->doing.begins(c);
}

/* -- memory.  qmem_try may return NULL and is for sizes that a user chooses (array blocks).  qmem_alloc is for
 *    bookkeeping and never returns NULL, because checks after every such call would double the code.  When it finds no
 *    memory, it frees the blocks that are kept for reuse, then the reserve of the Ctx.  The VM then reports QS_ENOMEM
 *    at its next safe point, and programs can catch this error.  Without a reserve the process writes a message and
 *    exits with status 1. ------------------------------------------------------------------------------------------ */
/* Returns the size of an allocation, count * size + extra, or SIZE_MAX if this overflows; every allocator refuses
 * SIZE_MAX.  All allocations compute their size with this function (checked by tests/style.py). */
static inline size_t qmem_size(size_t count, size_t size, size_t extra) {
    size_t n;
    return __builtin_mul_overflow(count, size, &n) || __builtin_add_overflow(n, extra, &n) ? SIZE_MAX : n;
}
void *qmem_alloc(Ctx *c, size_t n);                             /* zeroed */
void *qmem_resize(Ctx *c, void *p, size_t old_n, size_t new_n); /* new part zeroed */
void qmem_free(Ctx *c, void *p, size_t n);
void *qmem_try(Ctx *c, size_t n);                                   /* 64-byte aligned, not zeroed */
void *qmem_try_resize(Ctx *c, void *p, size_t old_n, size_t new_n); /* p from qmem_alloc; NULL: p is unchanged */
void qmem_try_free(Ctx *c, void *p, size_t n);
void qmem_reserve(Ctx *c); /* allocates the reserve again if there is memory */

/* Grows `*p` so that index `need` fits; *cap counts elements. */
void qmem_grow(Ctx *c, void *p, uint32_t *cap, uint32_t need, size_t elem);

/* -- errors: the first one is kept.  The setters return the status, for `return qerr_set(...)`. -------------------- */
qs_status qerr_set(Ctx *c, qs_status s, const char *fmt, ...) QS_PRINTF(3, 4);
qs_status qerr_at(Ctx *c, qs_status s, Where w, const char *fmt, ...) QS_PRINTF(4, 5);
qs_status qerr_vset(Ctx *c, qs_status s, Where w, const char *fmt, va_list ap);
void qerr_location(Ctx *c, Where w);         /* sets the location if there is none, or one in the library */
void qerr_subject(Ctx *c, const char *name); /* replaces "the array" at the start of the message by name */
/* Replaces the function at the beginning of the message, "helper: x must …" or "kernel helper: …", by another one. */
void qerr_function(Ctx *c, const char *name);
void qerr_more(Ctx *c, const char *text);              /* appends to the message if it fits */
void qerr_frame(Ctx *c, Where w, const Str *function); /* adds a frame to the call chain */
void qerr_clear(Ctx *c);                               /* the caller releases payload first */

#define TRY(expr)                                                                                                      \
    do {                                                                                                               \
        qs_status try_status_ = (expr);                                                                                \
        if (__builtin_expect(try_status_ != QS_OK, 0)) return try_status_;                                             \
    } while (0)

/* -- arena: memory that is freed all at once (AST, KIR) ------------------------------------------------------------ */
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
} Text; /* s: NUL-terminated once anything was added.
         * lost: memory ran out; the addition that failed and all later ones are missing */
void qtext_init(Text *t, Ctx *c);
void qtext_clear(Text *t); /* keeps the memory */
void qtext_add(Text *t, const char *s, size_t n);
void qtext_puts(Text *t, const char *s);
void qtext_putc(Text *t, char ch);
void qtext_pad(Text *t, char ch, size_t n); /* ch n times */
bool qtext_reserve(Text *t, size_t n);      /* makes room for n more bytes and the NUL; false: lost */
qs_status qtext_status(const Text *t);      /* QS_ENOMEM if the text is lost */
void qtext_printf(Text *t, const char *fmt, ...) QS_PRINTF(2, 3);
void qtext_free(Text *t);

/* -- sources ------------------------------------------------------------------------------------------------------- */
struct Source {
    struct Source *next;
    char *path; /* as shown in messages */
    char *text; /* NUL-terminated copy */
    size_t len;
    bool internal; /* text of the prompt or of -e */
    bool library;  /* part of the library: errors in it are reported at the call in the program */
    uint32_t *switches;
    uint32_t nswitches, cap_switches; /* warning.c: offsets at which warnings are turned off, on, off … */
    uint32_t *literal_dims;
    uint32_t nliteral_dims, cap_literal_dims; /* offsets, see qwarn_note_dimension */
    uint32_t *warned;
    uint32_t nwarned, cap_warned; /* offsets that already have a warning */
};
/* Returns the status of a failed `assert`, or of `error`, in s.  The library checks its arguments by them, so that its
 * failures are QS_EVALUE. */
static inline qs_status qsource_check_status(const Source *s, qs_status failure) {
    return s && s->library ? QS_EVALUE : failure;
}
Source *qsource_add(Ctx *c, const char *path, const char *text, size_t len);
void qsource_drop(Ctx *c, Source *s);                                      /* nothing may point to it any more */
void qsource_line_col(const Source *s, uint32_t pos, int *line, int *col); /* both count from 1; col in bytes */
/* Appends "file:line:col: <severity>: <sentence>\n<source line>\n   ^\n" to t.  A long source line is shortened to the
 * part around the location.  Without a source, or for an empty source line, only the first line is written. */
void qsource_report(Text *t, Where w, const char *severity, const char *sentence);
#endif
