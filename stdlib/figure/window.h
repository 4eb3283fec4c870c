/* window.h -- what figures ask of windows. */
#ifndef FIGURE_WINDOW_H
#define FIGURE_WINDOW_H
#include "stdlib/figure/figure.h"

bool qwindow_possible(qs_vm *vm);             /* whether there is a display, and Tk */
void qwindow_hurry(qs_vm *vm);                /* the machine closes: no frame waits for its time any more */
qs_status qwindow_show(qs_vm *vm, Figure *f); /* in its window, which is opened where it has none */
void qwindow_close(qs_vm *vm, Figure *f);
qs_status qwindow_events(qs_vm *vm); /* what has happened in windows; runs functions of the program */
#endif
