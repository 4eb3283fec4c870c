/* window.c -- implements the event loop: pause, drawnow, run_gui, frame rates.
 *
 * Tk's thread raises `attention` when an event has occurred.  The program takes the events and runs their handlers, one
 * after the other, between two statements, in pause() and while a form waits.
 *
 * A wait releases the VM, so that other threads may use it (vm/program/python.h).  Handlers run in a waiting thread, if
 * there is one; while a handler runs, other handlers run only in its thread. */
#include "stdlib/builtins.h"
#include "stdlib/window/widget.h"
#include "vm/base/clock.h"
#include "vm/base/number.h"
#include "vm/program/python.h"
#include "vm/value/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Windows *qwindow_all(qs_vm *vm) {
    if (!qlib(vm)->windows) qlib(vm)->windows = qmem_alloc(qvm_ctx(vm), sizeof(Windows));
    return qlib(vm)->windows;
}

struct Tk *qwindow_tk(qs_vm *vm) {
    return qwindow_all(vm)->tk;
}

/* Returns whether a window is on the screen. */
static bool any_open(const Windows *all) {
    for (const Window *w = all->list; w; w = w->next)
        if (w->kind == WIDGET_FORM && w->open) return true;
    return false;
}

/* -- opening and closing ------------------------------------------------------------------------------------------- */
static qs_status attend(qs_vm *vm) {
    Windows *all = qwindow_all(vm);
    return all->tk && !all->busy && !all->waiting ? qwindow_events(vm) : QS_OK;
}

static qs_status set_up(qs_vm *vm, Windows *all) {
    qvm(vm)->windows = attend;
    return qtk_run(vm, all->tk, 0, ".", qdisplay_script, NULL, 0);
}

bool qwindow_possible(qs_vm *vm) {
    Windows *all = qwindow_all(vm);
    if (all->tried) return all->tk != NULL;
    all->tried = true;
    all->tk = qtk_open(&qvm(vm)->attention, &all->why);
    if (!all->tk || set_up(vm, all) == QS_OK) return all->tk != NULL;
    qs_error_clear(vm);
    all->why = "Tk does not work";
    return qtk_close(all->tk), all->tk = NULL, false;
}

qs_status qwindow_open(qs_vm *vm, const char *fn) {
    if (qwindow_possible(vm)) return QS_OK;
    return qs_fail(vm, QS_EVALUE, "%s: %s", fn, qwindow_all(vm)->why);
}

void qwindow_end(qs_vm *vm) {
    Windows *all = qlib(vm)->windows;
    if (!all) return;
    qvm(vm)->windows = NULL;
    if (all->tk) qtk_close(all->tk);
    while (all->list) {
        Window *w = all->list;
        all->list = w->next;
        qwidget_free(vm, w);
    }
    qmem_free(qvm_ctx(vm), all, sizeof *all);
    qlib(vm)->windows = NULL;
}

/* -- events -------------------------------------------------------------------------------------------------------- */
static qs_status handle_event(qs_vm *vm, Windows *all, const TkEvent *e) {
    Window *w = qwidget_find(vm, e->id);
    bool mine = false;
    if (!strcmp(e->what, "key")) all->keys++;
    if (w && w->kind == WIDGET_DISPLAY) TRY(qdisplay_event(vm, w, e, &mine));
    return mine ? QS_OK : qwidget_event(vm, e);
}

qs_status qwindow_events(qs_vm *vm) {
    Windows *all = qwindow_all(vm);
    qs_status s = QS_OK;
    if (all->busy && !pthread_equal(all->runner, pthread_self())) return QS_OK;
    all->busy++, all->runner = pthread_self();
    for (TkEvent *e; all->tk && s == QS_OK && (e = qtk_next(all->tk));) {
        s = handle_event(vm, all, e);
        free(e);
    }
    all->busy--;
    return s;
}

/* Waits for an event.  A thread that must not run handlers now, because another one does, is not woken by events. */
static qs_status wait_for_event(qs_vm *vm, Windows *all, double seconds) {
    bool takes_them = all->tk && (!all->busy || pthread_equal(all->runner, pthread_self()));
    if (!takes_them) return qthread_sleep(vm, fmin(seconds, 0.01));
    qtk_begin_wait(all->tk);
    const Python *python = qpython_release_vm(vm);
    qtk_wait(all->tk, fmin(seconds, QTHREAD_SLICE));
    qpython_acquire_vm(python);
    return qthread_check(vm);
}

static qs_status wait_until(qs_vm *vm, double end, bool (*done)(qs_vm *, void *), void *ud) {
    for (;;) {
        TRY(qwindow_events(vm));
        TRY(qfigure_flush(vm));
        double left = end - qclock_seconds();
        if ((done && done(vm, ud)) || !(left > 0)) return QS_OK;
        qvm_flush(vm);
        TRY(wait_for_event(vm, qwindow_all(vm), left));
    }
}

qs_status qwindow_wait(qs_vm *vm, double seconds, bool (*done)(qs_vm *, void *), void *ud) {
    Windows *all = qwindow_all(vm);
    all->waiting++;
    qs_status s = wait_until(vm, qclock_seconds() + seconds, done, ud);
    all->waiting--;
    return s;
}

/* -- functions of the language ------------------------------------------------------------------------------------- */
static bool key_or_closed(qs_vm *vm, void *ud) {
    const Windows *all = qwindow_all(vm);
    return all->keys != *(const unsigned *)ud || !any_open(all);
}

/* Without a window no key can be pressed, so pause() does not wait. */
qs_status qwindow_pause(qs_vm *vm, qs_call_args *c) {
    double ms = 0;
    Windows *all = qwindow_all(vm);
    if (c->nin) {
        TRY(qarg_num(vm, c->name, "ms", c->in[0], &ms));
        if (!(ms >= 0)) return qs_fail(vm, QS_EVALUE, "pause: ms must not be negative, got %g", ms);
    }
    TRY(qfigure_flush(vm));
    unsigned before = all->keys;
    if (c->nin) return qwindow_wait(vm, ms / 1000, NULL, NULL);
    return any_open(all) ? qwindow_wait(vm, INFINITY, key_or_closed, &before) : QS_OK;
}

qs_status qwindow_sync_framerate(qs_vm *vm, qs_call_args *c) {
    double fps;
    Windows *all = qwindow_all(vm);
    TRY(qarg_num(vm, c->name, "fps", c->in[0], &fps));
    if (!(fps >= 0)) return qs_fail(vm, QS_EVALUE, "sync_framerate: fps must not be negative, got %g", fps);
    all->period = fps > 0 ? 1 / fps : 0;
    all->next = 0;
    return QS_OK;
}

static bool all_closed(qs_vm *vm, void *ud) { return (void)ud, !any_open(qwindow_all(vm)); }

qs_status qwindow_run_gui(qs_vm *vm, qs_call_args *c) {
    (void)c;
    TRY(qfigure_flush(vm));
    return any_open(qwindow_all(vm)) ? qwindow_wait(vm, INFINITY, all_closed, NULL) : QS_OK;
}

/* -- figures ------------------------------------------------------------------------------------------------------- */
void qwindow_hurry(qs_vm *vm) {
    if (qlib(vm)->windows) ((Windows *)qlib(vm)->windows)->period = 0;
}

/* Waits for the time of the next frame; a program that is late does not catch up. */
static qs_status keep_rate(qs_vm *vm) {
    Windows *all = qwindow_all(vm);
    double now = qclock_seconds(), left = all->next - now;
    if (!(all->period > 0)) return QS_OK;
    all->next = fmax(all->next, now - all->period) + all->period;
    for (double end = now + left; (left = end - qclock_seconds()) > 0;) TRY(qthread_sleep(vm, left));
    return QS_OK;
}

/* Returns the size that a window can have on the screen without its frame, the line below the figure and desktop
 * bars. */
static qs_status room_on_screen(qs_vm *vm, double *width, double *height) {
    enum { BESIDE = 20, ABOVE_AND_BELOW = 100 };
    char w[24], h[24];
    TRY(qtk_run(vm, qwindow_all(vm)->tk, 0, ".", "winfo screenwidth .", w, sizeof w));
    TRY(qtk_run(vm, qwindow_all(vm)->tk, 0, ".", "winfo screenheight .", h, sizeof h));
    *width = fmax(qnum_read(w, NULL) - BESIDE, 100), *height = fmax(qnum_read(h, NULL) - ABOVE_AND_BELOW, 100);
    return QS_OK;
}

static qs_status open_for(qs_vm *vm, Figure *f) {
    double width, height, most[2], scale = qfigure_scale(f) > 1 ? 96 / 72.0 : 1;
    char title[80];
    qfigure_size(f, &width, &height);
    qnum_print(title, sizeof title, "Figure %d", f->number);
    TRY(qwindow_open(vm, "figure"));
    TRY(room_on_screen(vm, &most[0], &most[1]));
    Window *form = qwidget_new(vm, WIDGET_FORM, NULL);
    TRY(qwidget_show_window(vm, form, f->title ? f->title : title, 0, 0));
    Window *w = qwidget_new(vm, WIDGET_DISPLAY, form);
    w->figure = f, f->window = w;
    w->width = fmin(ceil(width * scale), most[0]), w->height = fmin(ceil(height * scale), most[1]);
    char size[80];
    qnum_print(size, sizeof size, "qdisplay %%i %%p %d %d; qstatus %%i %%p", (int)w->width, (int)w->height);
    return qtk_run(vm, qwindow_all(vm)->tk, w->id, w->path, size, NULL, 0);
}

qs_status qwindow_show(qs_vm *vm, Figure *f) {
    if (!f->window && !f->embedded && !f->dismissed) TRY(open_for(vm, f));
    if (!f->window || !f->window->form->open) return QS_OK;
    TRY(keep_rate(vm));
    if (!qfigure_is_there(vm, f) || !f->window || !f->window->form->open) return QS_OK;
    return qdisplay_draw(vm, f->window);
}

void qwindow_close(qs_vm *vm, Figure *f) {
    Window *w = f->window;
    Windows *all = qlib(vm)->windows;
    f->window = NULL;
    if (!w || !all) return;
    w->figure = NULL;
    if (f->embedded || !w->form->open || !all->tk) return;
    qs_status s = qtk_run(vm, all->tk, w->form->id, w->form->path, "destroy %p", NULL, 0);
    if (s != QS_OK) qs_error_clear(vm);
    qwidget_gone(vm, w->form);
}
