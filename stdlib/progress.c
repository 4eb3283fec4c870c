/* progress.c -- reports the progress, speed and remaining time of programs that call progress(done, n, text), and of
 * built-ins that take longer than a second.
 *
 *     a terminal      one line, rewritten ten times a second:  denoising  42 %  420/1000  73.1/s  8 s left
 *     anything else   a line for every tenth, of programs only: output in a file must not depend on the time
 *     progress(f)     f(part, line) is called instead, ten times a second: a bar in a notebook
 *     progress(bar)   moves a bar of a window instead
 *
 * progress(x, text) yields the elements of x to a for loop and reports how many of them are done.
 *
 * The progress of a built-in is reported by a separate thread, which sleeps until a long one begins (qctx_let_go) and
 * then reads vm/base/activity.h.  A function of the program cannot run during a built-in, so progress(f) gets no such
 * reports. */
#include "stdlib/builtins.h"
#include "vm/base/clock.h"
#include "vm/base/number.h"
#include "vm/value/machine.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

typedef struct Line {
    char s[200];
    size_t n;
} Line;

typedef struct Onlooker { /* state of the reporting thread; all members except `asleep` are protected by the lock */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    pid_t pid; /* process that owns the thread; 0: not started yet */
    Flag asleep;
    bool quit;
    Doing *doing;
    struct Tk *tk; /* window system that has the bar; NULL: none */
    int bar;
    bool terminal, silent; /* terminal: fd 2 is a terminal; silent: progress(f) replaces the reports */
    Line before;           /* the line of progress() that is on the terminal */
    Line said;             /* the line of the built-in, if one is shown */
} Onlooker;

typedef struct Progress { /* current progress (Lib.progress) */
    char text[64];
    double started, shown; /* seconds of the clock; shown: time of the last report */
    double done, total;
    qs_value listener; /* function of progress(f); nil: none */
    int tenth;         /* tenth of the last report, if there is no terminal */
    bool busy;         /* the listener is running */
    int bar;           /* number of a bar widget; 0: none */
    Onlooker look;
} Progress;

/* -- a line -------------------------------------------------------------------------------------------------------- */
static void append_text(Line *l, const char *fmt, ...) QS_PRINTF(2, 3);
static void append_text(Line *l, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int n = qnum_vprint(l->s + l->n, sizeof l->s - l->n, fmt, ap);
    va_end(ap);
    l->n = n < (int)(sizeof l->s - l->n) ? l->n + (size_t)n : sizeof l->s - 1;
}

static void add_time(Line *t, double s) {
    if (s < 100) append_text(t, "%.0f s", s);
    else if (s < 6000) append_text(t, "%d min %02d s", (int)s / 60, (int)s % 60);
    else append_text(t, "%.0f h %02d min", floor(s / 3600), (int)fmod(s / 60, 60));
}

static void put_line(const Progress *p, double at, Line *t) {
    double took = at - p->started, rate = took > 0 ? p->done / took : 0;
    bool ended = p->done >= p->total;
    append_text(t, "%s%s%3.0f %%  %.0f/%.0f", p->text, *p->text ? "  " : "", floor(100 * p->done / p->total), p->done,
                p->total);
    if (rate > 0) append_text(t, rate >= 100 ? "  %.0f/s  " : "  %.3g/s  ", rate);
    if (rate > 0) add_time(t, ended ? took : (p->total - p->done) / rate);
    if (rate > 0 && !ended) append_text(t, " left");
}

/* Writes the line of a built-in with `part` done; < 0: unknown. */
static void put_built_in(const char *name, double part, double took, Line *t) {
    append_text(t, "%s  ", name);
    if (part > 0) append_text(t, "%.0f %%  ", floor(100 * part));
    add_time(t, part > 0 ? took * (1 / part - 1) : took);
    if (part > 0) append_text(t, " left");
}

/* -- built-ins ----------------------------------------------------------------------------------------------------- */
static size_t columns(void) {
    struct winsize w;
    return ioctl(2, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 80;
}

/* Rewrites the line on the terminal; an empty line restores the previous one.  Called under the lock. */
static void on_terminal(const Onlooker *o, const char *line) {
    bool both = o->before.n && (!*line || o->before.n + 2 + strlen(line) < columns());
    fprintf(stderr, "\r%s%s%s\033[K", both ? o->before.s : "", both && *line ? "  " : "", line);
    fflush(stderr);
}

static void in_bar(const Onlooker *o, double part, const char *line) {
    Line all = o->before;
    append_text(&all, "%s%s", all.n ? "  " : "", line);
    qwidget_move_bar(o->tk, o->bar, o->before.n ? -1 : part < 0 ? 0 : part, all.s);
}

static void report_running(Onlooker *o, const char *name, unsigned serial, double since, double part) {
    Doing *d = o->doing;
    double at = qclock_seconds();
    Line line = {0};
    if (o->silent || (!o->tk && !o->terminal)) return;
    put_built_in(name, part, at - since, &line);
    /* From here on `ends` is called for this built-in, which may have ended already. */
    qflag_raise(&d->shown), qflag_raise(&d->traces);
    if (atomic_load(&d->name) != name || atomic_load(&d->serial) != serial) return qflag_lower(&d->shown);
    if (!strcmp(o->said.s, line.s)) return;
    o->said = line;
    o->tk ? in_bar(o, part, line.s) : on_terminal(o, line.s);
}

/* Reports until no built-in runs; false: the thread has to end. */
static bool watch_built_in(Onlooker *o) {
    enum { EVERY_MS = 100 };
    const char *name = NULL;
    unsigned serial = 0;
    double since = 0, part = -1;
    while (!o->quit) {
        const char *now = atomic_load(&o->doing->name);
        if (!now) return true;
        if (now != name || serial != atomic_load(&o->doing->serial)) {
            name = now, serial = atomic_load(&o->doing->serial), since = qclock_seconds(), part = -1;
        }
        part = fmax(part, (double)qdoing_part(o->doing));
        if (qclock_seconds() - since >= 1) report_running(o, name, serial, since, part);
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += EVERY_MS * 1000000L;
        t.tv_sec += t.tv_nsec / 1000000000, t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&o->wake, &o->lock, &t);
    }
    return false;
}

static void *look_on(void *arg) {
    Onlooker *o = arg;
    pthread_setname_np(pthread_self(), "progress");
    pthread_mutex_lock(&o->lock);
    do {
        qflag_raise(&o->asleep);
        while (!o->quit && qflag_is_up(&o->asleep)) pthread_cond_wait(&o->wake, &o->lock);
    } while (watch_built_in(o));
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

static Progress *progress_state(qs_vm *vm);

static bool start_thread(Onlooker *o) {
    sigset_t all, old;
    pthread_mutex_init(&o->lock, NULL), pthread_cond_init(&o->wake, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are handled by the program's own threads */
    bool failed = pthread_create(&o->thread, NULL, look_on, o);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return o->pid = failed ? 0 : getpid(), !failed;
}

/* Locks the onlooker if its thread exists.  In a child of fork() it does not, and the lock may be held forever. */
static bool hold(Onlooker *o) {
    bool here = o->pid == getpid();
    if (here) pthread_mutex_lock(&o->lock);
    return here;
}

static void let_go(Onlooker *o, bool held) {
    if (held) pthread_mutex_unlock(&o->lock);
}

/* Doing.begins: called when a long built-in begins.  Children of fork() report nothing, since there may be many. */
static void begins(Ctx *c) {
    Onlooker *o = &progress_state((qs_vm *)c)->look;
    if (!atomic_load_explicit(&c->doing.name, memory_order_relaxed)) return;
    if (o->pid && !qflag_is_up(&o->asleep)) return;
    if (!o->pid ? !start_thread(o) : o->pid != getpid()) return c->doing.begins = NULL, (void)0;
    bool held = hold(o);
    qflag_lower(&o->asleep);
    pthread_cond_signal(&o->wake);
    let_go(o, held);
}

/* Doing.ends: called when a built-in with a report ends, or when other output would disturb the line of progress(). */
static void ends(Ctx *c) {
    Onlooker *o = &progress_state((qs_vm *)c)->look;
    bool held = hold(o), other = !qflag_is_up(&c->doing.shown);
    qflag_lower(&c->doing.shown), o->said = (Line){0};
    if (other) c->doing.stands = false, o->before = (Line){0};
    if (held || other) o->tk && !other ? in_bar(o, 1, "") : on_terminal(o, "");
    let_go(o, held);
}

static void watch(qs_vm *vm, bool wanted) {
    Onlooker *o = &progress_state(vm)->look;
    o->doing = &qvm_ctx(vm)->doing;
    o->terminal = !qvm(vm)->config.write && isatty(2);
    o->doing->begins = wanted ? begins : NULL, o->doing->ends = ends;
}

static bool is_wanted(const qs_config *c) { return c->progress && !c->write; }

void qprogress_open(qs_vm *vm) { watch(vm, is_wanted(&qvm(vm)->config)); }

static void end_watch(qs_vm *vm, Onlooker *o) {
    qvm_ctx(vm)->doing.begins = NULL, qvm_ctx(vm)->doing.stands = false;
    if (!hold(o)) return;
    o->quit = true;
    pthread_cond_signal(&o->wake);
    let_go(o, true);
    pthread_join(o->thread, NULL);
    pthread_mutex_destroy(&o->lock), pthread_cond_destroy(&o->wake);
}

/* -- reports of the program ---------------------------------------------------------------------------------------- */
/* Stores the line of progress() that remains visible while built-ins run; NULL: there is none. */
static void keep_before(Onlooker *o, const Line *line) {
    bool held = hold(o);
    o->before = line ? *line : (Line){0};
    let_go(o, held);
}

static void write_line(qs_vm *vm, Progress *p, bool terminal, double at) {
    bool stays = terminal && p->done < p->total;
    Line line = {0}, all = {0};
    put_line(p, at, &line);
    append_text(&all, terminal ? "\r%s\033[K%s" : "%s%s", line.s, stays ? "" : "\n");
    qvm_flush(vm);
    qvm_ctx(vm)->doing.stands = false; /* the line is rewritten, not ended */
    qvm_diagnostic(vm, all.s, all.n);
    qvm_ctx(vm)->doing.stands = stays;
    keep_before(&p->look, stays ? &line : NULL);
}

static qs_status call_listener(qs_vm *vm, Progress *p, double at) {
    /* Retained, because the call may replace it. */
    qs_value args[2] = {qs_num(p->done / p->total), qs_nil()}, fn = qs_retain(p->listener);
    Line line = {0};
    put_line(p, at, &line);
    qs_status s = qs_string(vm, line.s, line.n, &args[1]);
    p->busy = true;
    if (s == QS_OK) s = qs_call(vm, fn, 2, args, 0, NULL);
    p->busy = false;
    qs_release(vm, args[1]), qs_release(vm, fn);
    return s;
}

static qs_status move_bar(qs_vm *vm, Progress *p, double at) {
    Line line = {0};
    put_line(p, at, &line);
    keep_before(&p->look, p->done < p->total ? &line : NULL);
    return qwidget_set_bar(vm, p->bar, p->done / p->total, line.s);
}

static Progress *progress_state(qs_vm *vm) {
    Progress **p = &qlib(vm)->progress;
    if (!*p) *p = qmem_alloc(qvm_ctx(vm), sizeof **p), (*p)->listener = qs_nil();
    return *p;
}

/* Returns the current progress; starts a new one if the text, the total, or the direction changes. */
static Progress *current(qs_vm *vm, double done, double total, const char *text) {
    Progress *p = progress_state(vm);
    bool same =
        p->total == total && !strncmp(p->text, text, sizeof p->text - 1) && done >= p->done && p->done < p->total;
    if (!same) {
        p->started = qclock_seconds(), p->shown = -1, p->total = total, p->tenth = -1;
        snprintf(p->text, sizeof p->text, "%s", text);
    }
    p->done = done;
    return p;
}

static qs_status report_progress(qs_vm *vm, double done, double total, const char *text) {
    if (progress_state(vm)->busy) return QS_OK;
    Progress *p = current(vm, done, total, text);
    bool listens = p->listener.kind != QS_NIL || p->bar, terminal = !qvm(vm)->config.write && isatty(2);
    double at = qclock_seconds();
    int tenth = (int)floor(10 * done / total);
    bool moves = listens || terminal, due = moves ? at - p->shown >= 0.1 || done >= total : tenth > p->tenth;
    if (!due) return QS_OK;
    p->shown = at, p->tenth = tenth;
    if (p->bar) return move_bar(vm, p, at);
    if (listens) return call_listener(vm, p, at);
    return write_line(vm, p, terminal, at), QS_OK;
}

void qprogress_close(qs_vm *vm) {
    Progress *p = qlib(vm)->progress;
    if (!p) return;
    end_watch(vm, &p->look);
    qs_release(vm, p->listener);
    qmem_free(qvm_ctx(vm), p, sizeof *p);
    qlib(vm)->progress = NULL;
}

/* -- in a for loop ------------------------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    qs_value over;
    size_t at, n;
    char text[64];
} Walk;
static const qs_foreign_type walk_type;

static qs_status walk_iter(qs_vm *vm, void *p, qs_value *out) {
    const Walk *from = p;
    Walk *w = qmem_alloc(qvm_ctx(vm), sizeof *w);
    *w = *from;
    w->at = 0, w->over = qs_retain(from->over);
    return qs_foreign(vm, &walk_type, w, out);
}

static qs_status walk_next(qs_vm *vm, void *p, bool *more, qs_value *out) {
    Walk *w = p;
    TRY(report_progress(vm, (double)w->at, (double)w->n, w->text));
    *more = w->at < w->n;
    if (!*more) return QS_OK;
    if (w->over.kind == QS_CELL) return *out = qs_retain(((Cell *)w->over.u.p)->items[w->at++]), QS_OK;
    return qarr_get(vm, qval_array(w->over), w->at++, out);
}

static void walk_release(void *p) {
    Walk *w = p;
    qs_release(w->vm, w->over);
    qmem_free(qvm_ctx(w->vm), w, sizeof *w);
}

static const qs_foreign_type walk_type = {
    .name = "progress", .release = walk_release, .iter = walk_iter, .next = walk_next};

static qs_status start_iteration(qs_vm *vm, qs_call_args *c, const char *text) {
    qs_value over = c->in[0];
    size_t n = over.kind == QS_CELL ? ((Cell *)over.u.p)->count : qval_array(over)->count;
    if (n == 0) return qs_fail(vm, QS_EVALUE, "progress: there is nothing to go over");
    Walk *w = qmem_alloc(qvm_ctx(vm), sizeof *w);
    *w = (Walk){.vm = vm, .over = qs_retain(over), .n = n};
    snprintf(w->text, sizeof w->text, "%s", text);
    return qs_foreign(vm, &walk_type, w, &c->out[0]);
}

/* Sets the receiver of reports: a function, a bar of a window, or the default. */
static qs_status listen(qs_vm *vm, qs_value v) {
    Progress *p = progress_state(vm);
    Onlooker *o = &p->look;
    qs_value old = p->listener;
    int bar = qwidget_is_bar(vm, v);
    bool held = hold(o);
    qvm_ctx(vm)->doing.stands = false, o->before = (Line){0};
    o->tk = bar ? qwindow_tk(vm) : NULL, o->bar = p->bar = bar;
    o->silent = !bar && v.kind != QS_NIL;
    let_go(o, held);
    watch(vm, bar || is_wanted(&qvm(vm)->config));
    p->listener = bar ? qs_nil() : qs_retain(v);
    return qs_release(vm, old), QS_OK; /* the release may call progress */
}

/* progress(done, n [, text]), for x = progress(values [, text]), progress(f) or progress(bar) */
qs_status qprogress_progress(qs_vm *vm, qs_call_args *c) {
    double done, total;
    const char *text = "";
    qs_kind kind = (qs_kind)c->in[0].kind;
    if (c->nin == 1 && (kind == QS_FUNCTION || kind == QS_FOREIGN || kind == QS_NIL)) return listen(vm, c->in[0]);
    bool counts = c->nin > 1 && c->in[1].kind != QS_STRING;
    if (c->nin > 1 + counts) TRY(qarg_string(vm, c->name, "text", c->in[1 + counts], &text, NULL));
    if (!counts && c->in[0].kind != QS_ARRAY && c->in[0].kind != QS_CELL)
        return qarg_wrong(vm, c->name, "what is gone over", "an array or a cell", c->in[0]);
    if (!counts) return start_iteration(vm, c, text);
    TRY(qarg_num(vm, c->name, "done", c->in[0], &done));
    TRY(qarg_num(vm, c->name, "n", c->in[1], &total));
    if (!(total > 0) || !(done >= 0) || !isfinite(total))
        return qs_fail(vm, QS_EVALUE, "progress: done must not be negative, n above 0, got %g of %g", done, total);
    return report_progress(vm, fmin(done, total), total, text);
}
