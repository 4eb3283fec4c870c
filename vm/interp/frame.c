/* frame.c -- manages the value stack and its frames, and unwinds them after an error. */
#include "vm/interp/frame.h"
#include "vm/interp/interp.h"
#include "vm/program/library.h"
#include "vm/program/module.h"
#include "vm/value/hooks.h"

#include <string.h>
#include <sys/mman.h>

enum { STACK_SLOTS = 6 << 20 };

/* Reserves address space; the kernel allocates pages when they are first written. */
static void *reserve_pages(size_t n) {
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

qs_status qframe_open(qs_vm *vm) {
    Machine *m = qvm(vm);
    m->stack = reserve_pages(STACK_SLOTS * sizeof *m->stack);
    m->frames = reserve_pages(MAX_FRAMES * sizeof *m->frames);
    if (!m->stack || !m->frames) return qerr_set(qvm_ctx(vm), QS_ENOMEM, "no address space for the stack");
    m->top = m->stack;
    m->stack_limit = m->stack + STACK_SLOTS - STACK_SLACK;
    m->cap_frames = MAX_FRAMES;
    return QS_OK;
}

void qframe_close(qs_vm *vm) {
    Machine *m = qvm(vm);
    if (m->stack) munmap(m->stack, STACK_SLOTS * sizeof *m->stack);
    if (m->frames) munmap(m->frames, MAX_FRAMES * sizeof *m->frames);
    m->stack = NULL;
    m->frames = NULL;
}

qs_status qframe_too_deep(qs_vm *vm) {
    return qerr_set(qvm_ctx(vm), QS_EVALUE, "the recursion is too deep (%u calls)", qvm(vm)->nframes);
}

void qframe_destroy(qs_vm *vm, qs_value *slot) {
    qs_value v = *slot;
    slot->kind = QS_NIL;
    slot->aux = 0;
    qval_destroy(vm, v);
}

/* Moves the globals of the top level into registers while it runs: register i is the storage of global aliases[i], and
 * register n+i saves the address of its previous storage. */
void qframe_enter_aliases(qs_vm *vm, Frame *f) {
    const Chunk *c = &f->proto->chunk;
    for (uint32_t i = 0, n = c->naliases; i < n; i++) {
        qs_value **home = &qvm(vm)->globals[c->aliases[i]], before = qs_nil();
        before.u.p = *home;
        f->base[n + i] = before;
        f->base[i] = **home;
        **home = qval_unset();
        *home = &f->base[i];
    }
}

void qframe_leave_aliases(qs_vm *vm, Frame *f) {
    const Chunk *c = &f->proto->chunk;
    for (uint32_t i = c->naliases; i-- > 0;) {
        qs_value *cell = f->base[c->naliases + i].u.p;
        if (!cell) continue;
        *cell = f->base[i];
        f->base[i] = qs_nil();
        qvm(vm)->globals[c->aliases[i]] = cell;
    }
}

static Where frame_where(const Frame *f) {
    return qast_where(f->proto->func->unit, qbytecode_pos(&f->proto->chunk, qframe_pc(f)));
}

Where qvm_here(qs_vm *vm) {
    const Machine *m = qvm(vm);
    return m->nframes ? frame_where(&m->frames[m->nframes - 1]) : (Where){NULL, 0};
}

Where qvm_here_of_script(qs_vm *vm) {
    const Machine *m = qvm(vm);
    for (size_t i = m->nframes; i-- > 0;) {
        Where w = frame_where(&m->frames[i]);
        if (w.src && !w.src->library) return w;
    }
    return qvm_here(vm);
}

/* -- errors -------------------------------------------------------------------------------------------------------- */

/* Returns the innermost handler at the frame's instruction, with `of_script` the innermost one of the script. */
static const Handler *handler_of(const Frame *f, bool of_script) {
    uint32_t pc = qframe_pc(f);
    for (uint32_t i = 0; i < f->proto->chunk.nhandlers; i++) {
        const Handler *h = &f->proto->chunk.handlers[i];
        if (pc >= h->start && pc < h->end && !(of_script && h->repeats)) return h;
    }
    return NULL;
}

bool qframe_catches(qs_vm *vm, uint32_t first) {
    const Machine *m = qvm(vm);
    for (uint32_t i = first; i < m->nframes; i++)
        if (handler_of(&m->frames[i], true)) return true;
    return false;
}

/* Implements Ctx.retries: returns whether the handler that an error would reach repeats the statements of a group. */
static bool is_repeated(Ctx *c) {
    const Machine *m = qvm((qs_vm *)c);
    const Handler *h = NULL;
    for (size_t i = m->nframes; i-- > 0 && !h;) h = handler_of(&m->frames[i], false);
    return h && h->repeats;
}

int qframe_chain(qs_vm *vm, ErrorFrame *out, int *lost) {
    const Machine *m = qvm(vm);
    int n = 0, all = (int)m->nframes;
    for (; n < all && n < QERR_FRAMES; n++) {
        const Frame *f = &m->frames[all - 1 - n];
        out[n] = (ErrorFrame){frame_where(f), f->proto->func->name};
    }
    return *lost = all - n, n;
}

/* Returns whether the frame throws an error that a handler has kept.  The call chain then has this frame already, with
 * the location at which the error was thrown first. */
static bool throws_again(const Frame *f) {
    const Chunk *c = &f->proto->chunk;
    for (uint32_t i = 0; i < c->nhandlers; i++)
        if (c->handlers[i].rethrow && c->handlers[i].rethrow == qframe_pc(f)) return true;
    return false;
}

static void add_frames(Text *t, int n, const ErrorFrame *frames) {
    for (int i = 0; i < n; i++) {
        int line = 0, column;
        Where w = frames[i].where;
        if (w.src) qsource_line_col(w.src, w.pos, &line, &column);
        qtext_printf(t, "%s\n%s\n%d\n", frames[i].function ? frames[i].function->s : "", w.src ? w.src->path : "",
                     line);
    }
}

/* Returns the error message with its source location and call chain; without a location, that of the catching frame is
 * used. */
static Str *make_message(qs_vm *vm) {
    Ctx *c = qvm_ctx(vm);
    ErrorFrame outer[QERR_FRAMES];
    int line = 0, column, lost;
    qerr_location(c, qvm_here(vm));
    Where w = c->err.where;
    if (w.src) qsource_line_col(w.src, w.pos, &line, &column);
    Text stack;
    qtext_init(&stack, c);
    add_frames(&stack, c->err.nframes, c->err.frames);
    int n = qframe_chain(vm, outer, &lost), known = throws_again(qframe_current(vm));
    add_frames(&stack, n - known, outer + known);
    Str *s = qstr_placed(c, c->err.text, w.src ? w.src->path : "", (uint32_t)line, &stack);
    return qtext_free(&stack), s;
}

/* Clears the error and returns the value that `catch e` receives: the payload, or else the message. */
static qs_value take_caught_value(qs_vm *vm) {
    Ctx *c = qvm_ctx(vm);
    qs_value v = c->err.payload, other;
    const Foreign *x = v.kind == QS_FOREIGN ? v.u.p : NULL;
    if (x && x->ftype->caught && x->ftype->caught(vm, x->p, &other) == QS_OK) qinterp_put(vm, &v, other);
    if (v.kind == QS_NIL) v = qval_object(QS_STRING, make_message(vm));
    c->err.payload = qs_nil();
    qerr_clear(c);
    qvm(vm)->refused = false;
    return v;
}

/* An error that waits for the end of a block after finally. */
typedef struct {
    qs_vm *vm;
    ErrorState err;
    Where where; /* location in the frame of the handler */
} KeptError;

static void release_kept(void *p) {
    KeptError *kept = p;
    qval_release(kept->vm, kept->err.payload);
    qmem_free(qvm_ctx(kept->vm), kept, sizeof *kept);
}

static const qs_foreign_type kept_type = {.name = "error", .release = release_kept};

static qs_value keep_error(qs_vm *vm) {
    KeptError *kept = qmem_alloc(qvm_ctx(vm), sizeof *kept);
    qerr_location(qvm_ctx(vm), qvm_here(vm));
    *kept = (KeptError){vm, qvm_ctx(vm)->err, throws_again(qframe_current(vm)) ? (Where){NULL, 0} : qvm_here(vm)};
    qvm_ctx(vm)->err.payload = qs_nil();
    qerr_clear(qvm_ctx(vm));
    return qval_object(QS_FOREIGN, qobj_foreign(vm, &kept_type, kept));
}

qs_status qframe_rethrow(qs_vm *vm, qs_value *r) {
    KeptError *kept = ((Foreign *)r->u.p)->p;
    qvm_ctx(vm)->err = kept->err;
    kept->err.payload = qs_nil();
    if (kept->where.src) qerr_frame(qvm_ctx(vm), kept->where, qframe_current(vm)->proto->func->name);
    qinterp_clear(vm, r);
    return qvm_ctx(vm)->err.status;
}

static bool is_in_library(const Frame *f) { return f->proto->func->unit->src->library; }

/* Names the function of the library that the program called in an error that arose in the library, in place of the
 * helper or built-in that found it.  The error of a function that the program passed stays as it is. */
static void name_called_function(qs_vm *vm, const Frame *f) {
    Ctx *c = qvm_ctx(vm);
    const ErrorState *e = &c->err;
    const Str *name = f->proto->func->name;
    bool outermost = is_in_library(f) && (f == qvm(vm)->frames || !is_in_library(f - 1));
    if (!outermost || !name || e->late || e->payload.kind != QS_NIL) return;
    for (int i = 0; i < e->nframes; i++)
        if (!e->frames[i].where.src || !e->frames[i].where.src->library) return;
    if (qlibrary_home(vm, name)) qerr_function(c, name->s);
}

bool qframe_unwind(qs_vm *vm, qs_status s, uint32_t floor) {
    Machine *m = qvm(vm);
    while (m->nframes > floor) {
        Frame *f = qframe_current(vm);
        const Handler *h = s == QS_EINTERRUPT || qvm_ctx(vm)->err.late ? NULL : handler_of(f, false);
        if (h) {
            for (qs_value *r = f->base + h->temp; r < f->end; r++) qframe_drop(vm, r);
            qinterp_put(vm, f->base + h->reg, h->keeps ? keep_error(vm) : take_caught_value(vm));
            f->pc = f->proto->chunk.code + h->handler;
            return true;
        }
        Where w = frame_where(f);
        qerr_location(qvm_ctx(vm), w);
        if (!throws_again(f)) qerr_frame(qvm_ctx(vm), w, f->proto->func->name);
        name_called_function(vm, f);
        qframe_drop(vm, f->ret);
        qframe_pop(vm, f);
    }
    return false;
}

/* -- the table of vm/value/hooks.h --------------------------------------------------------------------------------- */
static qs_status compile_function(qs_vm *vm, Func *f) {
    Proto *p;
    return qproto_of(vm, f, true, &p);
}

static const Func *running_function(const qs_vm *vm) {
    const Machine *m = (const Machine *)vm;
    return m->nframes ? m->frames[m->nframes - 1].proto->func : NULL;
}

qs_status qinterp_open(qs_vm *vm) {
    static const InterpHooks hooks = {
        .compile = compile_function,
        .running = running_function,
        .drop_unit = qproto_drop_unit,
        .close = qproto_close,
        .table = qproto_table,
        .open_stack = qframe_open,
        .close_stack = qframe_close,
        .declared = qcall_declared,
        .tie = qcall_tie,
        .fits = qcall_fits,
        .select = qcall_select,
        .cell_written = qconverted_cell_written,
    };
    qvm(vm)->interp_hooks = &hooks;
    qvm_ctx(vm)->before_write = qconverted_before_write, qvm_ctx(vm)->retries = is_repeated;
    return qframe_open(vm);
}
