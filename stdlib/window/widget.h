/* widget.h -- declares forms and their widgets as the language sees them.
 *
 *     tk.c      Tcl and Tk
 *     window.c  the event loop: pause, run_gui, frame rates
 *     widget.c  forms and widgets as values of the language
 *     display.c figures in windows: zoom, cursor, contrast
 *
 * A widget lives as long as the VM, so its value can be read after its window was closed.  The language holds only the
 * number of a widget, so a callback may refer to its widget without keeping it alive. */
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

typedef struct Window { /* a widget; figures know only the name of this type */
    struct Window *next;
    WidgetKind kind;
    int id;
    struct Window *form;   /* the form that contains the widget; a form refers to itself */
    char path[64];         /* path of the widget in Tk */
    char *text, *value;    /* label; value: the value of a widget with value type WORDS */
    char **choices;        /* choices of a combo box, NULL-terminated */
    double number, lo, hi; /* numeric value of other widgets; limits of a slider */
    double width, height;
    double asked;
    bool tall; /* forms only. asked: the width if only the width was set, otherwise 0; tall: the height was set */
    bool open; /* the window is on the screen */
    WidgetHandler *on[ON_EVENTS];
    Figure *figure;            /* the figure of a display; NULL for other widgets */
    double press[2], start[4]; /* during a drag: its start point, and the limits at that time */
} Window;

typedef struct Windows { /* all windows of one VM (Lib.windows) */
    Tk *tk;
    const char *why; /* reason why no window can be opened */
    bool tried;
    int busy, waiting; /* busy: nesting depth of running callbacks; waiting: number of threads that wait */
    pthread_t runner;  /* thread that runs the callbacks */
    Window *list;
    int ids;
    double period, next; /* period: seconds between frames (0: unlimited); next: earliest time of the next frame */
    unsigned keys;       /* number of key presses */
} Windows;

/* -- window.c ------------------------------------------------------------------------------------------------------ */
Windows *qwindow_all(qs_vm *vm);
qs_status qwindow_open(qs_vm *vm, const char *fn); /* fails if no window can be opened */
/* Processes events until `done` returns true, `seconds` have passed, or Ctrl-C is pressed. */
qs_status qwindow_wait(qs_vm *vm, double seconds, bool (*done)(qs_vm *, void *), void *ud);

/* -- widget.c ------------------------------------------------------------------------------------------------------ */
Window *qwidget_new(qs_vm *vm, WidgetKind kind, Window *form);
Window *qwidget_find(qs_vm *vm, int id);
qs_status qwidget_show_window(qs_vm *vm, Window *form, const char *title, double width, double height);
void qwidget_gone(qs_vm *vm, Window *form); /* called after the window was closed */
qs_status qwidget_event(qs_vm *vm, const TkEvent *e);
qs_status qwidget_fire(qs_vm *vm, Window *w, OnEvent on, int n, const qs_value *args);
void qwidget_free(qs_vm *vm, Window *w);

/* -- display.c ----------------------------------------------------------------------------------------------------- */
qs_status qdisplay_event(qs_vm *vm, Window *w, const TkEvent *e, bool *mine);
qs_status qdisplay_draw(qs_vm *vm, Window *w);
extern const char qdisplay_script[]; /* Tcl code that each interpreter runs once */
#endif
