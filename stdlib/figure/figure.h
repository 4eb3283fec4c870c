/* figure.h -- the model of a figure: what is shown, and nothing of how it is drawn.
 *
 *     figure.c   figures and axes: made, chosen, forgotten; where they go (a folder, a window)
 *     handle.c   what programs hold of them: h.title = …, h.rasterize()
 *     series.c   plot, bar, hist …: numbers become items      field.c   imshow, contour, surf …: so do matrices
 *     label.c    title, axis, grid, legend …: the axes themselves
 *     colour.c   colours, styles, colour maps                 scale.c   limits, ticks and their texts
 *     layout.c   where axes are on the page                   draw.c    axes and items on a canvas
 *     paint.c    one function for each kind of item           depth.c   axes in three dimensions
 *     level.c    contour lines and areas                      outline.c the model as text, for tests and print
 *     canvas.c   the page: cairo and pango                    legend.c  where names lie beside the data
 *
 * A figure has axes, axes have items in the order in which they are drawn.  Items own copies of their numbers: a
 * program may change its arrays afterwards.  Lengths are in units of 1/72 inch, y down; a default page is 480 x 360. */
#ifndef FIGURE_FIGURE_H
#define FIGURE_FIGURE_H
#include "stdlib/figure/canvas.h"
#include "stdlib/stdlib.h"

/* -- colour.c ------------------------------------------------------------------------------------------------------ */
typedef struct {
    const char *text, *name;
    double lengths[4];
} Dash; /* on, off, on, off; the first 0: without gaps */
typedef struct Style {
    Colour colour;
    bool coloured;             /* else the next of the cycle */
    const Dash *dash;          /* NULL: no line */
    char mark;                 /* 0: none */
    double width, size, alpha; /* of lines and marks */
} Style;
typedef struct ColourMap ColourMap;

extern const Style qcolour_plain; /* a whole line without marks */
Colour qcolour_cycle(int i);
bool qcolour_named(const char *text, Colour *out); /* "r", "red", "#ff8000" */
/* "r--o": a colour, a line and a mark, each at most once, in any order.  false: *at is what is none of them. */
bool qcolour_style(const char *text, Style *out, const char **at);
const Dash *qcolour_dash(const char *text);      /* "--" or "dashed"; NULL: no such line */
bool qcolour_mark(const char *text, char *mark); /* "o", "none" */
const ColourMap *qcolour_map(const char *name);  /* NULL: there is none */
const char *qcolour_map_name(const ColourMap *m);
Colour qcolour_at(const ColourMap *m, double t); /* t from 0 to 1; beyond them the ends */
void qcolour_map_list(Text *out);

/* -- items --------------------------------------------------------------------------------------------------------- */
typedef enum { PART_X, PART_Y, PART_Z, PART_U, PART_V, PARTS } Part;
typedef struct {
    double *x;
    size_t n;
} Column;
/* A function that fails frees the columns that it has made; freeing an empty one does nothing, so a caller may free
 * what it was to receive. */
void qcolumn_free(Column *c);
typedef enum { /* kinds.def */
#define KIND(id, name, bounds, paint, key, doc) ITEM_##id,
#include "stdlib/figure/kinds.def"
#undef KIND
               ITEM_KINDS
} ItemKind;

typedef struct Item {
    struct Item *next;
    ItemKind kind;
    Style style;
    char *name;           /* in the legend, of a text what it says; NULL: none */
    Column part[PARTS];   /* which ones a kind has is said in kinds.def */
    size_t rows, columns; /* of z */
    double width;         /* of bars; of an arrow its factor */
    bool filled, flat;    /* contours: areas; a surface: only its edges are drawn */
    Array *image;         /* of an image its elements, height x width [x channels] */
    const void *elements; /* of it */
    uint32_t *pixels;
    size_t npixels; /* as it is shown; NULL: not made yet */
    bool holes;     /* some of these are nan, through which the background is seen */
    double shown[2];
    const ColourMap *shown_map; /* with which it was */
} Item;

/* -- axes ---------------------------------------------------------------------------------------------------------- */
typedef struct {
    double lo, hi;
    bool fixed; /* what is shown; fixed: the program has said it, else it follows the items */
    bool log, flipped;
    bool whole; /* it counts pixels: ticks are whole numbers, unless there are few pixels */
    char *label;
    double *ticks;
    size_t nticks;
    char **names; /* set by the program; NULL: chosen */
} Axis;
typedef enum { AXIS_X, AXIS_Y, AXIS_Z } AxisName;
typedef enum { LEGEND_NONE, LEGEND_BEST, LEGEND_NE, LEGEND_NW, LEGEND_SW, LEGEND_SE, LEGEND_OUTSIDE } LegendPlace;

typedef struct Axes {
    struct Axes *next;
    struct Figure *figure;
    int id;
    int rows, columns, at; /* its cell of a grid, from 0 */
    Axis axis[3];
    char *title, *bar_label;
    bool grid, hidden, equal, tight, deep, bar; /* deep: three dimensions; bar: a colour bar */
    bool edged;                                 /* of an image without ticks: its edge is drawn where it is not alone */
    double room[2];                             /* width and height for which ticks are chosen */
    bool upright; /* the texts below are too long to stand beside each other, where it was last drawn */
    LegendPlace legend;
    const ColourMap *map;
    double range[2];
    bool ranged;               /* of colours; ranged: the program has said it */
    double azimuth, elevation; /* degrees */
    int link;                  /* axes with the same number, not 0, zoom together */
    Item *items;
    double box[4]; /* left, top, width, height of the area of data, where it was last drawn */
    double home[4];
    bool zoomed; /* limits of x and y before somebody zoomed in a window */
} Axes;

typedef struct Figure {
    struct Figure *next;
    int number;
    char *title;          /* above all axes, and of the window */
    double width, height; /* 0: as its contents want */
    Axes *axes, *current;
    int naxes;             /* made so far */
    bool chosen;           /* figure() or subplot() made it: plots replace what its axes show */
    bool dirty, embedded;  /* has changed since it was written or shown; belongs to a form */
    struct Window *window; /* that shows it; NULL */
    PixelBlocks blocks;    /* of pictures that it has shown */
    bool dismissed;        /* somebody has closed its window: it stays closed until figure() asks for it */
} Figure;

typedef struct Figures { /* Lib.figures */
    Figure *list, *current;
    int number, ids, links; /* how many were made */
    bool hold, told;        /* further plots are added; the note has been given */
    char *folder;           /* where figures go that have no window; NULL: not decided */
} Figures;

/* -- figure.c ------------------------------------------------------------------------------------------------------ */
Figures *qfigure_all(qs_vm *vm);
Figure *qfigure_new(qs_vm *vm);
Figure *qfigure_find(qs_vm *vm, int number);
void qfigure_forget(qs_vm *vm, Figure *f);
bool qfigure_is_there(qs_vm *vm, const Figure *f); /* it was not forgotten */
Axes *qfigure_axes(qs_vm *vm);                     /* the current ones, made where there are none */
/* Those that a plot of function fn draws on: without hold empty ones, which is a new figure unless the program has
 * chosen the axes. */
Axes *qfigure_begin(qs_vm *vm);
Axes *qaxes_new(qs_vm *vm, Figure *f, int rows, int columns, int at);
Axes *qaxes_find(qs_vm *vm, int id); /* NULL: gone */
void qaxes_clear(qs_vm *vm, Axes *a);
void qaxes_drop(qs_vm *vm, Axes *a, Item *i);
Item *qaxes_add(qs_vm *vm, Axes *a, ItemKind kind);
/* It has changed: it will be written, or shown, when the program comes to rest. */
void qfigure_changed(qs_vm *vm, Figure *f);
void qfigure_set(char **slot, const char *text); /* a copy; NULL: none */
/* Draws it.  scale as of qcanvas_new. */
qs_status qfigure_canvas(qs_vm *vm, const char *fn, Figure *f, CanvasKind kind, double scale, Canvas **out);
enum { FIGURE_PIXELS_PER_INCH = 144 };
double qfigure_scale(const Figure *f); /* pixels for a unit: 1 where pictures are shown as they are */
void qfigure_size(const Figure *f, double *width, double *height);
qs_status qfigure_write(qs_vm *vm, const char *fn, Figure *f, const char *path); /* .png .svg .pdf */

/* -- series.c: properties at the end of arguments, "linewidth", 2 … ------------------------------------------------ */
qs_status qseries_style(qs_vm *vm, qs_call_args *c, int *at, Style *style, char **name);
qs_status qseries_column(qs_vm *vm, const char *fn, const char *what, qs_value v, Column *out);
/* Rows and columns of an argument: a vector is one column. */
void qseries_grid(qs_value v, size_t *rows, size_t *columns);

/* -- handle.c ------------------------------------------------------------------------------------------------------ */
qs_status qhandle_new(qs_vm *vm, const Axes *a, qs_value *out);
/* One of the functions on figures as a method of `to`; *found false: no such name. */
qs_status qhandle_method(qs_vm *vm, Figure *to, const char *name, qs_call_args *c, bool *found);
bool qhandle_is_method(const char *name);
/* Of a handle or a number. */
qs_status qhandle_figure(qs_vm *vm, const char *fn, qs_value v, Figure **out, Axes **axes);

/* -- scale.c ------------------------------------------------------------------------------------------------------- */
enum { MOST_TICKS = 200, TICK_TEXT = 64 };
typedef struct {
    int n;
    double at[MOST_TICKS];
    char text[MOST_TICKS][TICK_TEXT];
    char factor[TICK_TEXT]; /* what all texts are to be multiplied with; "" for nothing */
} Ticks;
void qscale_limits(Axes *a); /* lo and hi of every axis that is not fixed, and the range of colours */
void qscale_ticks(const Axis *a, int wanted, Ticks *out);
double qscale_place(const Axis *a, double v); /* 0 at lo, 1 at hi, or turned */

/* -- layout.c, draw.c ---------------------------------------------------------------------------------------------- */
typedef struct {
    Canvas *c;
    Axes *a;
    double x, y, width, height;
} Painter; /* the area of data */
void qdraw_figure(Canvas *c, Figure *f, double width, double height);
double qdraw_x(const Painter *p, double v);
double qdraw_y(const Painter *p, double v);
extern const Colour qdraw_ink, qdraw_grid;
typedef struct {
    double left, right, top, bottom;
} Margins;
/* Sets Axes.box.  again: ticks are those of the boxes that were found before, which need other margins. */
void qlayout_boxes(Canvas *c, Figure *f, double width, double height, bool again);
enum {
    TICKS_EACH = 48,
    SIZE_TICK = 9,
    SIZE_LABEL = 10,
    SIZE_TITLE = 12,
    TICK_LENGTH = 4,
    BAR_WIDTH = 12,
    BAR_EDGE = 8
}; /* half a line, above and below a colour bar of an image by itself */
void qlayout_ticks(const Axes *a, AxisName n, double length, Ticks *out);
bool qlayout_ticked(const Axes *a);        /* whether axes have ticks and a frame */
const Item *qlayout_mapped(const Axes *a); /* the item that a colour bar explains; NULL: none */

/* -- paint.c, depth.c, level.c, legend.c --------------------------------------------------------------------------- */
void qpaint_item(const Painter *p, Item *i);
void qpaint_key(const Painter *p, const Item *i, double x, double y, double width); /* its sign in the legend */
void qpaint_bounds(const Item *i, double b[6]); /* least and greatest x, y, z; those that it lacks are left */
const char *qpaint_name(const Item *i);
bool qpaint_sticky(const Item *i, AxisName n, double edge); /* whether no margin shall be beyond this limit */
bool qpaint_tight(const Item *i);
void qdepth_draw(Painter *p);
void qlegend_make_room(const Painter *p); /* before anything is drawn */
void qlegend_draw(const Painter *p);
double qlegend_width(Canvas *c, const Axes *a); /* beside the axes; 0: it lies on them */
uint32_t qpaint_rgb(Colour k);
Colour qpaint_shade(const Axes *a, const Item *i, double v); /* in which item i shows a value: filled areas by steps */
/* Pieces of the line where z, over the grid, is `level`: calls out with x and y of both ends. */
void qlevel_lines(const Item *i, double level, void (*out)(void *, const double ends[4]), void *ud);
/* The parts of cells where z is at least `level`: polygons of up to 8 corners, all turning the same way. */
void qlevel_areas(const Item *i, double level, void (*out)(void *, const double *corners, int n), void *ud);

/* -- outline.c ----------------------------------------------------------------------------------------------------- */
void qoutline_figure(Figure *f, Text *out);
#endif
