/* tk.h -- Tcl and Tk, opened when the first window is.
 *
 * Scripts of Tcl and pixels come in; what people do in windows goes out as events, which wait until the program takes
 * them: nothing of the program runs inside of Tk.
 *
 * Tk has a thread of its own, in which alone its interpreter lives: windows answer while the program computes, and
 * while its prompt waits; and windows of Python's tkinter, which live in the thread of Python with another interpreter,
 * never see events of ours, nor we of theirs. */
#ifndef WINDOW_TK_H
#define WINDOW_TK_H
#include "vm/base/flag.h"
#include "vm/quasar.h"

typedef struct Tk Tk;
typedef struct TkEvent { /* quasar WHAT id [a b [text]] in Tcl */
    struct TkEvent *next;
    char what[12];
    int id;
    double a, b;
    char text[];
} TkEvent;

/* NULL: there is no display, or no Tk; *why says it in a sentence without its end.  attention: raised when an event has
 * come. */
Tk *qtk_open(Flag *attention, const char **why);
void qtk_close(Tk *tk);
/* Runs a script, in which %p is the path of widget `id` (.w1.w2), %i its number.  result: room for what it gives, or
 * NULL.  A failure is a mistake of ours. */
qs_status qtk_run(qs_vm *vm, Tk *tk, int id, const char *path, const char *script, char *result, size_t room);
/* Variables of Tcl: a text goes in by them and needs no quoting. */
void qtk_set(Tk *tk, const char *array, int id, const char *text);
/* Pixels as a canvas has them, of a malloc, which go over to the image `photo<id>` of the type $q_image: what is shown
 * before is on its way to the screen when this returns, and these when Tk next comes to rest.  What is not needed any
 * more comes back, of *n pixels, for the caller to free or to use; NULL: nothing. */
uint32_t *qtk_show(Tk *tk, int id, uint32_t *pixels, int width, int height, size_t *n);
TkEvent *qtk_next(Tk *tk); /* which the caller frees; NULL: none */
/* Waits until an event is there, or so long.  begin_wait, while the VM is held, keeps Tk for the wait that follows: Tk
 * may close during the wait, which ends then. */
void qtk_begin_wait(Tk *tk);
void qtk_wait(Tk *tk, double seconds);
#endif
