/* progress.c -- progress(done, n, text): how far a program is, how fast, how long it will take.
 *
 *     a terminal      one line, written over ten times a second:  denoising  42 %  420/1000  73.1/s  8 s left
 *     anything else   a line for every tenth
 *     progress(f)     f(part, line) is called instead, ten times a second: a bar in a window or in a notebook
 *
 * progress(x, text) gives the elements of x to a for loop, and tells how many of them are done. */
#include "stdlib/builtins.h"
#include "vm/base/clock.h"
#include "vm/base/number.h"
#include "vm/value/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Progress { /* Lib.progress: of what is told at the moment */
    char text[64];
    double started, shown; /* seconds of the clock; shown: when it was told last */
    double done, total;
    int tenth; /* that was told last, where there is no terminal */
    qs_value listener; /* nil: none */
    bool busy;         /* it runs */
} Progress;

static void add_time(Text *t, double s) {
    if (s < 100) qtext_printf(t, "%.0f s", s);
    else if (s < 6000) qtext_printf(t, "%d min %02d s", (int)s / 60, (int)s % 60);
    else qtext_printf(t, "%.0f h %02d min", floor(s / 3600), (int)fmod(s / 60, 60));
}

static void put_line(const Progress *p, double at, Text *t) {
    double took = at - p->started, rate = took > 0 ? p->done / took : 0;
    bool ended = p->done >= p->total;
    qtext_printf(t, "%s%s%3.0f %%  %.0f/%.0f", p->text, *p->text ? "  " : "", floor(100 * p->done / p->total), p->done,
                 p->total);
    if (rate > 0) qtext_printf(t, rate >= 100 ? "  %.0f/s  " : "  %.3g/s  ", rate);
    if (rate > 0) add_time(t, ended ? took : (p->total - p->done) / rate);
    if (rate > 0 && !ended) qtext_puts(t, " left");
}

static void write_line(qs_vm *vm, const Progress *p, bool terminal, double at) {
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    if (terminal) qtext_puts(&t, "\r");
    put_line(p, at, &t);
    qtext_puts(&t, terminal ? p->done >= p->total ? "\033[K\n" : "\033[K" : "\n");
    qvm_diagnostic(vm, t.s, t.len);
    qtext_free(&t);
}

static qs_status call_listener(qs_vm *vm, Progress *p, double at) {
    qs_value args[2] = {qs_num(p->done / p->total), qs_nil()}, fn = qs_retain(p->listener); /* it may choose another */
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    put_line(p, at, &t);
    qs_status s = qs_string(vm, t.s, t.len, &args[1]);
    qtext_free(&t);
    p->busy = true;
    if (s == QS_OK) s = qs_call(vm, fn, 2, args, 0, NULL);
    p->busy = false;
    qs_release(vm, args[1]), qs_release(vm, fn);
    return s;
}

static Progress *state(qs_vm *vm) {
    Progress **p = &qlib(vm)->progress;
    if (!*p) *p = qmem_alloc(qvm_ctx(vm), sizeof **p), (*p)->listener = qs_nil();
    return *p;
}

/* A new line begins where the text, the total, or the direction is another. */
static Progress *current(qs_vm *vm, double done, double total, const char *text) {
    Progress *p = state(vm);
    bool same =
        p->total == total && !strncmp(p->text, text, sizeof p->text - 1) && done >= p->done && p->done < p->total;
    if (!same) {
        *p = (Progress){.started = qclock_seconds(), .shown = -1, .total = total, .tenth = -1, .listener = p->listener};
        snprintf(p->text, sizeof p->text, "%s", text);
    }
    p->done = done;
    return p;
}

static qs_status tell(qs_vm *vm, double done, double total, const char *text) {
    if (state(vm)->busy) return QS_OK;
    Progress *p = current(vm, done, total, text);
    bool listens = p->listener.kind != QS_NIL, terminal = !qvm(vm)->config.write && isatty(2);
    double at = qclock_seconds();
    int tenth = (int)floor(10 * done / total);
    bool moves = listens || terminal, due = moves ? at - p->shown >= 0.1 || done >= total : tenth > p->tenth;
    if (!due) return QS_OK;
    p->shown = at, p->tenth = tenth;
    if (listens) return call_listener(vm, p, at);
    return write_line(vm, p, terminal, at), QS_OK;
}

void qprogress_close(qs_vm *vm) {
    if (qlib(vm)->progress) qs_release(vm, qlib(vm)->progress->listener);
    if (qlib(vm)->progress) qmem_free(qvm_ctx(vm), qlib(vm)->progress, sizeof(Progress));
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
    TRY(tell(vm, (double)w->at, (double)w->n, w->text));
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

static qs_status walk(qs_vm *vm, qs_call_args *c, const char *text) {
    qs_value over = c->in[0];
    size_t n = over.kind == QS_CELL ? ((Cell *)over.u.p)->count : qval_array(over)->count;
    if (n == 0) return qs_fail(vm, QS_EVALUE, "progress: there is nothing to go over");
    Walk *w = qmem_alloc(qvm_ctx(vm), sizeof *w);
    *w = (Walk){.vm = vm, .over = qs_retain(over), .n = n};
    snprintf(w->text, sizeof w->text, "%s", text);
    return qs_foreign(vm, &walk_type, w, &c->out[0]);
}

static qs_status listen(qs_vm *vm, qs_value fn) {
    qs_value old = state(vm)->listener;
    state(vm)->listener = qs_retain(fn);
    return qs_release(vm, old), QS_OK; /* which may call progress */
}

/* progress(done, n [, text]), for x = progress(values [, text]) or progress(f) */
qs_status qprogress_progress(qs_vm *vm, qs_call_args *c) {
    double done, total;
    const char *text = "";
    qs_kind kind = (qs_kind)c->in[0].kind;
    if (c->nin == 1 && (kind == QS_FUNCTION || kind == QS_FOREIGN || kind == QS_NIL)) return listen(vm, c->in[0]);
    bool counts = c->nin > 1 && c->in[1].kind != QS_STRING;
    if (c->nin > 1 + counts) TRY(qarg_string(vm, c->name, "text", c->in[1 + counts], &text, NULL));
    if (!counts && c->in[0].kind != QS_ARRAY && c->in[0].kind != QS_CELL)
        return qarg_wrong(vm, c->name, "what is gone over", "an array or a cell", c->in[0]);
    if (!counts) return walk(vm, c, text);
    TRY(qarg_num(vm, c->name, "done", c->in[0], &done));
    TRY(qarg_num(vm, c->name, "n", c->in[1], &total));
    if (!(total > 0) || !(done >= 0) || !isfinite(total))
        return qs_fail(vm, QS_EVALUE, "progress: done must not be negative, n above 0, got %g of %g", done, total);
    return tell(vm, fmin(done, total), total, text);
}
