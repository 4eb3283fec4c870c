/* tk.h -- declares the interface to Tcl and Tk, which are loaded when the first window is opened.
 *
 * The VM sends Tcl scripts and pixels.  User actions become events, which are queued until the program takes them: no
 * code of the program runs inside Tk.
 *
 * Tk has its own thread, the only one that uses its interpreter.  Windows therefore respond while the program computes
 * and while its prompt waits.  Windows of Python's tkinter belong to the Python thread and another interpreter, so
 * neither side sees the events of the other. */
#ifndef WINDOW_TK_H
#define WINDOW_TK_H
#include "vm/base/flag.h"
#include "vm/quasar.h"

typedef struct Tk Tk;
typedef struct TkEvent { /* created in Tcl by: quasar WHAT id [a b [text]] */
    struct TkEvent *next;
    char what[12];
    int id;
    double a, b;
    char text[];
} TkEvent;

/* Returns NULL if there is no display or no Tk; *why is then an unterminated sentence.  attention: raised when an event
 * arrives. */
Tk *qtk_open(Flag *attention, const char **why);
void qtk_close(Tk *tk);
/* Runs a script, in which %p is the path of widget `id` (.w1.w2) and %i its number.  result: receives the value of the
 * script, or NULL.  A failure is an internal error. */
qs_status qtk_run(qs_vm *vm, Tk *tk, int id, const char *path, const char *script, char *result, size_t room);
/* Sets a Tcl variable.  A text passed in a variable needs no quoting. */
void qtk_set(Tk *tk, const char *array, int id, const char *text);
/* Passes ownership of pixels (canvas format, malloc) to the image `photo<id>` of type $q_image.  The pixels shown
 * before are being drawn when this returns; the new ones are drawn when Tk is next idle.  Returns a buffer of *n pixels
 * that is no longer needed, for the caller to free or reuse; NULL: none. */
uint32_t *qtk_show(Tk *tk, int id, uint32_t *pixels, int width, int height, size_t *n);
TkEvent *qtk_next(Tk *tk); /* the caller frees the event; NULL: none */
/* Waits until an event arrives or `seconds` have passed.  qtk_begin_wait, called while the VM is locked, keeps Tk alive
 * for the following wait; closing Tk ends that wait. */
void qtk_begin_wait(Tk *tk);
void qtk_wait(Tk *tk, double seconds);
#endif
