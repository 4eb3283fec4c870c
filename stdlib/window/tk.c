/* tk.c -- runs Tcl and Tk in a separate thread; the only file that uses them, through dlopen and without their headers.
 *
 *     thread of the program ── job, wakes Tk, waits ──► thread of Tk: jobs and user actions
 *                           ◄── events, attention ──── */
#include "stdlib/window/tk.h"
#include "vm/base/ctx.h"
#include "vm/base/dynlib.h"
#include "vm/base/number.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int TkCommand(void *data, void *interp, int n, void *const *words);
typedef struct {
    unsigned char *pixels;
    int width, height, pitch, pixel_size, offset[4];
} TkPhotoBlock;
typedef struct TkWake {
    int (*proc)(struct TkWake *, int flags);
    void *next;
} TkWake;               /* has the layout of a Tcl_Event */
typedef struct TkType { /* has the layout of a Tk_ImageType */
    const char *name;
    int (*create)(void *interp, const char *name, int n, void *const *words, const struct TkType *, void *image,
                  void **data);
    void *(*get)(void *window, void *data);
    void (*display)(void *use, void *display, unsigned long drawable, int x, int y, int width, int height, int to_x,
                    int to_y);
    void (*release)(void *use, void *display);
    void (*remove)(void *data);
    void *postscript, *next, *reserved;
} TkType;
typedef struct { /* has the layout of the beginning of a Tk_FakeWin, of a Visual and of an XImage */
    void *display, *own;
    int screen;
    const struct {
        void *more;
        unsigned long id;
        int kind;
        unsigned long red, green, blue;
    } * visual;
    int depth;
} TkWindow;
typedef struct {
    int width, height, xoffset, format;
    char *data;
    int byte_order, bitmap_unit, bitmap_bit_order, bitmap_pad, depth, bytes_per_line, bits_per_pixel;
} TkPixels;
enum { GLOBAL = 1, EVAL_GLOBAL = 0x20000, DONT_WAIT = 2, ALL_EVENTS = ~DONT_WAIT, IDLE_EVENTS = 32, REPLACE = 1 };
enum { QUEUE_TAIL = 0, Z_PIXMAP = 2, TRUE_COLOUR = 4, LEAST_FIRST = 0 };

typedef struct {
#define API(result, name, arguments) result(*name) arguments;
#include "stdlib/window/tk_api.def"
#undef API
} Library;

typedef struct Job {
    void (*run)(Tk *, struct Job *);
    const char *a, *b, *c; /* a script: its text; a variable: array, key, text */
    char *result;
    size_t room;
    uint32_t *pixels;
    int width, height;
    int status;
    bool done;
} Job;

struct Tk {
    const Library *lib;
    void *interp, *thread_id;
    pthread_t thread;
    pthread_mutex_t lock;      /* protects the members below */
    pthread_cond_t done, came; /* signalled when a job is done, and when an event has arrived */
    Job *job;
    bool ready, failed, stop;
    bool closed; /* the thread has ended */
    int waits;   /* number of program threads that wait for events */
    Flag *attention;
    TkEvent *first, **end;
};

static Library library;
static bool is_here;
static char failure[DYNLIB_WHY], reason[DYNLIB_WHY + 100];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *open_one(const char *const names[2]) {
    void *lib = qdynlib_open(names[0], RTLD_NOW | RTLD_GLOBAL, failure);
    return lib ? lib : qdynlib_open(names[1], RTLD_NOW | RTLD_GLOBAL, failure);
}

/* Loads the libraries.  libtk may be linked to libtcl or get its functions at startup, so functions are looked up in
 * both. */
static void open_library(void) {
    static const char *const tcl_names[] = {"libtcl8.6.so", "libtcl8.6.so.0"}, *const tk_names[] = {"libtk8.6.so",
                                                                                                    "libtk8.6.so.0"};
    void *tcl = open_one(tcl_names), *lib = tcl ? open_one(tk_names) : NULL;
    is_here = lib != NULL;
    snprintf(reason, sizeof reason, "windows are those of Tk 8.6, which cannot be opened: %s", failure);
#define API(result, name, arguments)                                                                                   \
    if (is_here && !(*(void **)&library.name = dlsym(tcl, #name)))                                                     \
        is_here = (*(void **)&library.name = dlsym(lib, #name)) != NULL;
#include "stdlib/window/tk_api.def"
#undef API
    /* Other libraries may also use displays. */
    int (*threads)(void) = lib ? (int (*)(void))dlsym(lib, "XInitThreads") : NULL;
    if (threads) threads();
}

/* -- events -------------------------------------------------------------------------------------------------------- */
static double word_number(const Library *l, int n, void *const *words, int i) {
    return i < n ? qnum_read(l->Tcl_GetString(words[i]), NULL) : 0;
}

/* Returns the last unread event if only the newest of its type matters. */
static TkEvent *unread(Tk *tk, const char *what, int id) {
    static const char *const replaced[] = {"move", "drag", "size", "tick"};
    TkEvent *last = tk->first;
    while (last && last->next) last = last->next;
    for (int i = 0; last && i < 4; i++)
        if (!strcmp(what, replaced[i]) && last->id == id && !strcmp(last->what, what)) return last;
    return NULL;
}

/* Removes an unread change of a value that has changed again. */
static void drop_change(Tk *tk, int id) {
    for (TkEvent **p = &tk->first; *p; p = &(*p)->next)
        if (!(*p)->next && (*p)->id == id && !strcmp((*p)->what, "change")) {
            free(*p);
            *p = NULL, tk->end = p;
            return;
        }
}

static TkEvent *new_event(Tk *tk, const char *what, const char *text) {
    size_t n = strlen(text);
    TkEvent *e = calloc(1, sizeof *e + n + 1);
    if (!e) return NULL;
    snprintf(e->what, sizeof e->what, "%s", what);
    memcpy(e->text, text, n + 1);
    *tk->end = e, tk->end = &e->next;
    return e;
}

static int on_event(void *data, void *interp, int n, void *const *words) {
    Tk *tk = data;
    const Library *l = tk->lib;
    (void)interp;
    if (n < 3) return 0;
    const char *what = l->Tcl_GetString(words[1]), *text = n > 5 ? l->Tcl_GetString(words[5]) : "";
    int id = (int)word_number(l, n, words, 2);
    pthread_mutex_lock(&tk->lock);
    TkEvent *e = unread(tk, what, id);
    if (!strcmp(what, "change")) drop_change(tk, id);
    if (!e) e = new_event(tk, what, text);
    if (e) e->id = id, e->a = word_number(l, n, words, 3), e->b = word_number(l, n, words, 4);
    pthread_cond_broadcast(&tk->came);
    pthread_mutex_unlock(&tk->lock);
    qflag_raise(tk->attention);
    return 0;
}

TkEvent *qtk_next(Tk *tk) {
    pthread_mutex_lock(&tk->lock);
    TkEvent *e = tk->first;
    if (e) tk->first = e->next;
    if (!tk->first) tk->end = &tk->first;
    pthread_mutex_unlock(&tk->lock);
    return e;
}

void qtk_begin_wait(Tk *tk) {
    pthread_mutex_lock(&tk->lock);
    tk->waits++;
    pthread_mutex_unlock(&tk->lock);
}

void qtk_wait(Tk *tk, double seconds) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    long ns = t.tv_nsec + (long)((seconds - (double)(long)seconds) * 1e9);
    t.tv_sec += (long)seconds + ns / 1000000000, t.tv_nsec = ns % 1000000000;
    pthread_mutex_lock(&tk->lock);
    if (!tk->first && !tk->closed) pthread_cond_timedwait(&tk->came, &tk->lock, &t);
    if (--tk->waits == 0) pthread_cond_broadcast(&tk->done);
    pthread_mutex_unlock(&tk->lock);
}

/* -- images -------------------------------------------------------------------------------------------------------- */
/* An image type of our own for screens whose pixel format is that of a canvas: it sends pixels unchanged, whereas a
 * photo of Tk makes two further copies. */
typedef struct {
    void *image; /* Tk_ImageMaster of the image */
    uint32_t *pixels;
    int width, height;
    bool waiting; /* the pixels have not been drawn yet */
} Picture;
typedef struct {
    Picture *of;
    const TkWindow *window;
    void *pen; /* an X GC */
} Use;         /* use of an image in a window */

static int create_picture(void *interp, const char *name, int n, void *const *words, const TkType *type, void *image,
                          void **data) {
    (void)interp, (void)name, (void)n, (void)words, (void)type;
    Picture *p = calloc(1, sizeof *p);
    if (p) p->image = image;
    return *data = p, p == NULL;
}

static void *use_picture(void *window, void *data) {
    Use *u = calloc(1, sizeof *u);
    if (u) *u = (Use){data, window, library.Tk_GetGC(window, 0, NULL)};
    return u;
}

static void *image_of(const TkWindow *w, uint32_t *pixels, int width, int height) {
    return library.XCreateImage(w->display, w->visual, (unsigned)w->depth, Z_PIXMAP, 0, (char *)pixels, (unsigned)width,
                                (unsigned)height, 32, 4 * width);
}

static void draw_picture(void *use, void *display, unsigned long drawable, int x, int y, int width, int height,
                         int to_x, int to_y) {
    Picture *p = use ? ((Use *)use)->of : NULL;
    void *image = p && p->pixels ? image_of(((Use *)use)->window, p->pixels, p->width, p->height) : NULL;
    if (!image) return;
    library.XPutImage(display, drawable, ((Use *)use)->pen, image, x, y, to_x, to_y, (unsigned)width, (unsigned)height);
    library.XFree(image);
    p->waiting = false;
}

static void leave_picture(void *use, void *display) {
    if (use) library.Tk_FreeGC(display, ((Use *)use)->pen);
    free(use);
}

static void remove_picture(void *data) { free(((Picture *)data)->pixels), free(data); }

static const TkType picture_type = {"quasar",       create_picture, use_picture, draw_picture, leave_picture,
                                    remove_picture, NULL,           NULL,        NULL};

static bool has_our_pixels(const TkWindow *w) {
    uint32_t pixel = 0;
    const TkPixels *image = w && w->visual->kind == TRUE_COLOUR ? image_of(w, &pixel, 1, 1) : NULL;
    bool same = image && image->bits_per_pixel == 32 && image->byte_order == LEAST_FIRST &&
                w->visual->red == 0xFF0000 && w->visual->green == 0xFF00 && w->visual->blue == 0xFF;
    if (image) library.XFree((void *)(uintptr_t)image);
    return same;
}

static void choose_images(Tk *tk) {
    bool own = has_our_pixels(tk->lib->Tk_MainWindow(tk->interp));
    if (own) tk->lib->Tk_CreateImageType(&picture_type);
    tk->lib->Tcl_SetVar2(tk->interp, "q_image", NULL, own ? picture_type.name : "photo", GLOBAL);
}

/* Waits until the previous picture is drawn, so that a program faster than Tk does not replace unseen pictures. */
static void show_picture(Tk *tk, Picture *p, Job *job) {
    while (p->waiting && tk->lib->Tcl_DoOneEvent(IDLE_EVENTS | DONT_WAIT)) {}
    Job old = {.pixels = p->pixels, .width = p->width, .height = p->height};
    p->pixels = job->pixels, p->width = job->width, p->height = job->height, p->waiting = true;
    job->pixels = old.pixels, job->width = old.width, job->height = old.height;
    tk->lib->Tk_ImageChanged(p->image, 0, 0, p->width, p->height, p->width, p->height);
}

static void show_photo(Tk *tk, const Job *job) {
    void *photo = tk->lib->Tk_FindPhoto(tk->interp, job->a);
    TkPhotoBlock block = {(unsigned char *)job->pixels, job->width, job->height, 4 * job->width, 4, {2, 1, 0, 4}};
    if (photo) tk->lib->Tk_PhotoSetSize(tk->interp, photo, job->width, job->height);
    if (photo) tk->lib->Tk_PhotoPutBlock(tk->interp, photo, &block, 0, 0, job->width, job->height, REPLACE);
}

static void do_show(Tk *tk, Job *job) {
    const TkType *type = NULL;
    Picture *p = tk->lib->Tk_GetImageMasterData(tk->interp, job->a, &type);
    if (p && type->create == create_picture) show_picture(tk, p, job);
    else show_photo(tk, job);
}

/* -- the thread ---------------------------------------------------------------------------------------------------- */
static void answer(Tk *tk, bool failed) {
    pthread_mutex_lock(&tk->lock);
    tk->ready = true, tk->failed = failed;
    pthread_cond_broadcast(&tk->done);
    pthread_mutex_unlock(&tk->lock);
}

static void *live(void *data) {
    Tk *tk = data;
    const Library *l = tk->lib;
    l->Tcl_FindExecutable(NULL);
    tk->interp = l->Tcl_CreateInterp();
    tk->thread_id = l->Tcl_GetCurrentThread();
    bool failed = l->Tcl_Init(tk->interp) || l->Tk_Init(tk->interp);
    if (!failed) l->Tcl_CreateObjCommand(tk->interp, "quasar", on_event, tk, NULL), choose_images(tk);
    answer(tk, failed);
    while (!failed && !tk->stop) l->Tcl_DoOneEvent(ALL_EVENTS);
    l->Tcl_DeleteInterp(tk->interp);
    return NULL;
}

/* A wake-up names its Tk, because several VMs may each have one. */
typedef struct {
    TkWake head;
    Tk *tk;
} Wake;

static int do_job(TkWake *w, int flags) {
    Tk *tk = ((Wake *)w)->tk;
    (void)flags;
    pthread_mutex_lock(&tk->lock);
    Job *job = tk->job;
    pthread_mutex_unlock(&tk->lock);
    if (job) job->run(tk, job);
    pthread_mutex_lock(&tk->lock);
    if (job) job->done = true;
    tk->job = NULL;
    pthread_cond_broadcast(&tk->done);
    pthread_mutex_unlock(&tk->lock);
    return 1;
}

/* Runs a job in Tk's thread.  The program's thread and the thread that moves progress bars call this one after the
 * other. */
static void run_there(Tk *tk, Job *job) {
    Wake *w = (Wake *)tk->lib->Tcl_Alloc(sizeof *w);
    *w = (Wake){{do_job, NULL}, tk};
    pthread_mutex_lock(&tk->lock);
    while (tk->job) pthread_cond_wait(&tk->done, &tk->lock);
    tk->job = job;
    tk->lib->Tcl_ThreadQueueEvent(tk->thread_id, &w->head, QUEUE_TAIL);
    tk->lib->Tcl_ThreadAlert(tk->thread_id);
    while (!job->done) pthread_cond_wait(&tk->done, &tk->lock);
    pthread_mutex_unlock(&tk->lock);
}

/* Starts the thread with all signals blocked: they are handled by the thread of the program. */
static bool start_thread(Tk *tk) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool failed = pthread_create(&tk->thread, NULL, live, tk);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_lock(&tk->lock);
    while (!failed && !tk->ready) pthread_cond_wait(&tk->done, &tk->lock);
    pthread_mutex_unlock(&tk->lock);
    if (!failed && tk->failed) pthread_join(tk->thread, NULL);
    return !failed && !tk->failed;
}

Tk *qtk_open(Flag *attention, const char **why) {
    const char *display = getenv("DISPLAY");
    *why = "there is no display";
    if (!display || !*display) return NULL;
    pthread_once(&once, open_library);
    *why = "windows are those of Tk 8.6, which is not here; on Debian and Ubuntu the package libtk8.6 has it";
    if (*failure) *why = reason;
    if (!is_here) return NULL;
    Tk *tk = calloc(1, sizeof *tk);
    *why = "the display does not answer";
    if (!tk) return NULL;
    tk->lib = &library, tk->end = &tk->first, tk->attention = attention;
    pthread_mutex_init(&tk->lock, NULL);
    pthread_cond_init(&tk->done, NULL), pthread_cond_init(&tk->came, NULL);
    if (start_thread(tk)) return tk;
    return free(tk), NULL;
}

static void do_stop(Tk *tk, Job *job) {
    (void)job;
    tk->lib->Tcl_EvalEx(tk->interp, "destroy .", -1, EVAL_GLOBAL);
    tk->stop = true;
}

void qtk_close(Tk *tk) {
    run_there(tk, &(Job){.run = do_stop});
    pthread_join(tk->thread, NULL);
    pthread_mutex_lock(&tk->lock);
    tk->closed = true;
    pthread_cond_broadcast(&tk->came);
    while (tk->waits) pthread_cond_wait(&tk->done, &tk->lock);
    pthread_mutex_unlock(&tk->lock);
    for (TkEvent *e; (e = qtk_next(tk));) free(e);
    free(tk);
}

/* -- jobs ---------------------------------------------------------------------------------------------------------- */
static char *expand(const char *script, int id, const char *path) {
    size_t room = qmem_size(strlen(script), strlen(path) + 12, 1), n = 0;
    char *s = malloc(room);
    for (; s && *script; script++) {
        bool is_path = !strncmp(script, "%p", 2), is_number = !strncmp(script, "%i", 2);
        if (is_path) n += (size_t)snprintf(s + n, room - n, "%s", path);
        else if (is_number) n += (size_t)snprintf(s + n, room - n, "%d", id);
        else s[n++] = *script;
        script += is_path || is_number;
    }
    if (s) s[n] = 0;
    return s;
}

static void do_script(Tk *tk, Job *job) {
    job->status = tk->lib->Tcl_EvalEx(tk->interp, job->a, -1, EVAL_GLOBAL);
    if (job->room) snprintf(job->result, job->room, "%s", tk->lib->Tcl_GetStringResult(tk->interp));
}

qs_status qtk_run(qs_vm *vm, Tk *tk, int id, const char *path, const char *script, char *result, size_t room) {
    char *s = expand(script, id, path), why[200];
    if (!s) return qs_fail(vm, QS_ENOMEM, "no memory for a window");
    Job job = {.run = do_script, .a = s, .result = result ? result : why, .room = result ? room : sizeof why};
    run_there(tk, &job);
    free(s);
    return job.status ? qs_fail(vm, QS_EINTERNAL, "window: %s", job.result) : QS_OK;
}

static void do_set(Tk *tk, Job *job) { tk->lib->Tcl_SetVar2(tk->interp, job->a, job->b, job->c, GLOBAL); }

void qtk_set(Tk *tk, const char *array, int id, const char *text) {
    char key[16];
    snprintf(key, sizeof key, "%d", id);
    run_there(tk, &(Job){.run = do_set, .a = array, .b = key, .c = text});
}

uint32_t *qtk_show(Tk *tk, int id, uint32_t *pixels, int width, int height, size_t *n) {
    char name[24];
    Job job = {.run = do_show, .a = name, .pixels = pixels, .width = width, .height = height};
    snprintf(name, sizeof name, "photo%d", id);
    run_there(tk, &job);
    return *n = (size_t)job.width * (size_t)job.height, job.pixels;
}
