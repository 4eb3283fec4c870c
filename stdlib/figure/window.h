/* window.h -- declares the functions of windows that figures use. */
#ifndef FIGURE_WINDOW_H
#define FIGURE_WINDOW_H
#include "stdlib/figure/figure.h"

bool qwindow_possible(qs_vm *vm);             /* whether there is a display, and Tk */
void qwindow_hurry(qs_vm *vm);                /* called when the VM closes: frames no longer wait for the frame rate */
qs_status qwindow_show(qs_vm *vm, Figure *f); /* opens the window if necessary */
void qwindow_close(qs_vm *vm, Figure *f);
qs_status qwindow_events(qs_vm *vm); /* processes the events of windows; runs callbacks of the program */
#endif
