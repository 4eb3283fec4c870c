/* widget.h -- forms and what is in them, as the program knows them.
 *
 *     tk.c      Tcl and Tk
 *     window.c  the loop of events: pause, run_gui, frame rates
 *     widget.c  forms and widgets as values of the language
 *     display.c figures in windows: zoom, cursor, contrast
 *
 * A widget lives as long as the machine: its value can be asked for when its window is closed.  What programs hold are
 * numbers of widgets, so that a function which a widget calls may know that widget without keeping it alive. */
#ifndef WINDOW_WIDGET_H
#define WINDOW_WIDGET_H
#include "stdlib/figure/figure.h"
#include "stdlib/figure/window.h"
#include "stdlib/window/tk.h"

#include <pthread.h>

typedef enum {
#define WIDGET(id, ...) WIDGET_##id,
#include "stdlib/window/widgets.def"
#undef WIDGET
    WIDGET_FORM,
    WIDGET_KINDS
} WidgetKind;
typedef enum { ON_CLICK, ON_CHANGE, ON_KEY, ON_MOUSE, ON_TICK, ON_EVENTS } OnEvent;
typedef struct WidgetHandler {
    struct WidgetHandler *next;
    qs_value fn;
} WidgetHandler;

typedef struct Window { /* a widget; the name by which figures know theirs */
    struct Window *next;
    WidgetKind kind;
    int id;
    struct Window *form;   /* in which it is; of a form itself */
    char path[64];         /* in Tk */
    char *text, *value;    /* value: where it is WORDS */
    char **choices;        /* of a combo, NULL behind the last */
    double number, lo, hi; /* the value elsewhere; the ends of a slider */
    double width, height;
    double asked;
    bool tall;     /* of a form: its width, where only that was set, or 0; its height was set */
    bool open;     /* it is on the screen */
    bool wait_key; /* pause() waits for a key */
    WidgetHandler *on[ON_EVENTS];
    Figure *figure;            /* of a display */
    double press[2], start[4]; /* of a drag: where it began, and the limits then */
} Window;

typedef struct Windows { /* Lib.windows */
    Tk *tk;
    const char *why; /* there are none */
    bool tried;
    int busy, waiting; /* functions of the program that run for an event, inside each other; threads that wait */
    pthread_t runner;  /* where those run */
    Window *list;
    int ids;
    double period, next; /* seconds between frames (0: none), when the next may be shown */
    unsigned keys;       /* how many were pressed */
} Windows;

/* -- window.c ------------------------------------------------------------------------------------------------------ */
Windows *qwindow_all(qs_vm *vm);
qs_status qwindow_open(qs_vm *vm, const char *fn); /* an error where there can be no windows */
/* Until `done` says so, or `seconds` have passed, or somebody presses Ctrl-C. */
qs_status qwindow_wait(qs_vm *vm, double seconds, bool (*done)(qs_vm *, void *), void *ud);

/* -- widget.c ------------------------------------------------------------------------------------------------------ */
Window *qwidget_new(qs_vm *vm, WidgetKind kind, Window *form);
Window *qwidget_find(qs_vm *vm, int id);
qs_status qwidget_show_window(qs_vm *vm, Window *form, const char *title, double width, double height);
void qwidget_gone(qs_vm *vm, Window *form); /* its window is closed */
qs_status qwidget_event(qs_vm *vm, const TkEvent *e);
qs_status qwidget_fire(qs_vm *vm, Window *w, OnEvent on, int n, const qs_value *args);
void qwidget_free(qs_vm *vm, Window *w);

/* -- display.c ----------------------------------------------------------------------------------------------------- */
qs_status qdisplay_event(qs_vm *vm, Window *w, const TkEvent *e, bool *mine);
qs_status qdisplay_draw(qs_vm *vm, Window *w);
extern const char qdisplay_script[]; /* Tcl: once for each interpreter */
#endif
