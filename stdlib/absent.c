/* absent.c -- defines the functions of optional parts that this build leaves out (vm/base/parts.h).
 *
 * The rows of builtins.def that belong to such a part stay, so that scripts get an error that names the part.  CMake
 * defines QUASAR_WITH_<part> as 0 or 1 for this file. */
#include "stdlib/builtins.h"
#include "stdlib/figure/window.h"
#include "vm/base/parts.h"

/* Defines the native functions of the rows that follow as errors. */
#define ROWS_OF_A_PART
#define ABSENT(function, part)                                                                                         \
    qs_status function(qs_vm *vm, qs_call_args *c) { return (void)c, qparts_absent(qvm_ctx(vm), part); }

#if !QUASAR_WITH_FIGURES
#define ROWS_OF_FIGURES
#define GROUP(title)
#define NATIVE(name, function, ...) ABSENT(function, OPTIONAL_FIGURES)
#include "stdlib/builtins.def"
#undef ROWS_OF_FIGURES

bool qfigure_has(void) { return false; }
void qfigure_close(qs_vm *vm) { (void)vm; }
qs_status qfigure_flush(qs_vm *vm) { return (void)vm, QS_OK; }
#endif

#if !QUASAR_WITH_WINDOWS
#define ROWS_OF_WINDOWS
#define GROUP(title)
#define NATIVE(name, function, ...) ABSENT(function, OPTIONAL_WINDOWS)
#include "stdlib/builtins.def"
#undef ROWS_OF_WINDOWS

void qwindow_end(qs_vm *vm) { (void)vm; }
struct Tk *qwindow_tk(qs_vm *vm) {
    return (void)vm, NULL;
}
int qwidget_is_bar(qs_vm *vm, qs_value v) { return (void)vm, (void)v, 0; }
qs_status qwidget_set_bar(qs_vm *vm, int id, double part, const char *text) {
    return (void)id, (void)part, (void)text, qparts_absent(qvm_ctx(vm), OPTIONAL_WINDOWS);
}
void qwidget_move_bar(struct Tk *tk, int id, double part, const char *text) {
    (void)tk, (void)id, (void)part, (void)text;
}
bool qwindow_possible(qs_vm *vm) { return (void)vm, false; }
void qwindow_hurry(qs_vm *vm) { (void)vm; }
qs_status qwindow_show(qs_vm *vm, Figure *f) { return (void)f, qparts_absent(qvm_ctx(vm), OPTIONAL_WINDOWS); }
void qwindow_close(qs_vm *vm, Figure *f) { (void)vm, (void)f; }
qs_status qwindow_events(qs_vm *vm) { return (void)vm, QS_OK; }
#endif

#if !QUASAR_WITH_VIDEO
#define ROWS_OF_VIDEO
#define GROUP(title)
#define NATIVE(name, function, ...) ABSENT(function, OPTIONAL_VIDEO)
#include "stdlib/builtins.def"
#undef ROWS_OF_VIDEO

bool qvideo_has(void) { return false; }
bool qvideo_has_devices(void) { return false; }
#endif

#if !QUASAR_WITH_CLUSTER
#define ROWS_OF_CLUSTER
#define GROUP(title)
#define NATIVE(name, function, ...) ABSENT(function, OPTIONAL_CLUSTER)
#include "stdlib/builtins.def"
#undef ROWS_OF_CLUSTER
#endif
