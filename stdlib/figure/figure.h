/* figure.h -- declares the model of a figure: the data that is shown, independent of how it is drawn.
 *
 *     figure.c   creates, selects and removes figures and axes; writes or shows them
 *     handle.c   handles in the language: h.title = …, h.rasterize()
 *     property.c names and values: "linewidth", 2
 *     series.c   plot, bar, hist …: vectors to items       field.c   imshow, contour, surf …: matrices to items
 *     label.c    title, axis, grid, legend …: the axes     scale.c   limits, ticks and their texts
 *     colour.c   colours, styles, colour maps              draw.c    draws axes and items on a canvas
 *     layout.c   positions of axes on the page             depth.c   draws axes in three dimensions
 *     paint.c    one function for each kind of item        outline.c the model as text, for tests and print
 *     level.c    contour lines and areas                   legend.c  positions of names beside the data
 *     canvas.c   the page: cairo and pango
 *
 * A figure has axes; axes have items in drawing order.  Items own copies of their numbers, so a program may change its
 * arrays afterwards.  Lengths are in units of 1/72 inch, y points down; a default page is 480 x 360. */
#ifndef FIGURE_FIGURE_H
#define FIGURE_FIGURE_H
#include "stdlib/figure/canvas.h"
#include "stdlib/stdlib.h"

/* -- colour.c ------------------------------------------------------------------------------------------------------ */
typedef struct {
    const char *text, *name;
    double lengths[4];
} Dash; /* lengths: on, off, on, off; lengths[0] is 0 for a continuous line */
typedef enum { WEIGHT_USUAL, WEIGHT_NORMAL, WEIGHT_BOLD } Weight;
typedef struct Style {
    Colour colour;
    bool coloured;             /* the program chose the colour; false: the next colour of the cycle */
    const Dash *dash;          /* dash pattern; NULL: no line */
    char mark;                 /* marker; 0: none */
    double width, size, alpha; /* width of the line, size of the marker or of the letters (0: the usual one), opacity */
    Weight weight;             /* of letters */
    double across;             /* part of a text that is at its position: 0 left, 0.5 middle, 1 right */
} Style;
typedef struct ColourMap ColourMap;

extern const Style qcolour_plain; /* a continuous line without markers */
Colour qcolour_cycle(int i);
bool qcolour_named(const char *text, Colour *out); /* parses "r", "red", "#ff8000" */
/* Parses "r--o": a colour, a line and a marker, each at most once, in any order.  false: *at is the part that is none
 * of them. */
bool qcolour_style(const char *text, Style *out, const char **at);
const Dash *qcolour_dash(const char *text);      /* "--" or "dashed"; NULL: unknown line */
bool qcolour_mark(const char *text, char *mark); /* "o", "none" */
const ColourMap *qcolour_map(const char *name);  /* NULL: unknown name */
const char *qcolour_map_name(const ColourMap *m);
Colour qcolour_at(const ColourMap *m, double t); /* t from 0 to 1; values outside get the end colours */
void qcolour_map_list(Text *out);

/* -- items --------------------------------------------------------------------------------------------------------- */
typedef enum { PART_X, PART_Y, PART_Z, PART_U, PART_V, PARTS } Part;
typedef struct {
    double *x;
    size_t n;
} Column;
/* Frees the column and empties it.  A function that fails frees the columns that it has allocated; freeing an empty
 * column does nothing, so a caller may always free its output columns. */
void qcolumn_free(Column *c);
typedef enum { /* defined in kinds.def */
#define KIND(id, name, bounds, paint, key, doc) ITEM_##id,
#include "stdlib/figure/kinds.def"
#undef KIND
               ITEM_KINDS
} ItemKind;

typedef struct Item {
    struct Item *next;
    ItemKind kind;
    Style style;
    char *name;           /* name in the legend, or the string of a text item; NULL: none */
    Column part[PARTS];   /* data columns; kinds.def lists which ones a kind uses */
    size_t rows, columns; /* extents of part[PART_Z] */
    double width;         /* width of bars; scale factor of arrows */
    bool filled, flat;    /* filled: contours as areas; flat: a surface as wireframe */
    Array *image;         /* elements of an image, height x width [x channels]; NULL for other kinds */
    const void *elements; /* pointer to the elements of `image` */
    uint32_t *pixels;
    size_t npixels; /* the image converted for display (npixels pixels); NULL: not converted yet */
    bool holes;     /* some pixels are nan and show the background */
    double shown[2];
    const ColourMap *shown_map; /* range of values and colour map with which `pixels` was made */
} Item;

/* -- axes ---------------------------------------------------------------------------------------------------------- */
typedef struct {
    double lo, hi;
    bool fixed; /* limits of the axis; fixed: set by the program, otherwise computed from the items */
    bool log, flipped;
    bool whole; /* the axis counts pixels: ticks are integers, unless there are few pixels */
    char *label;
    double *ticks;
    size_t nticks;
    char **names; /* ticks and their texts set by the program; NULL: chosen automatically */
} Axis;
typedef enum { AXIS_X, AXIS_Y, AXIS_Z } AxisName;
/* Texts of axes whose letters can be described; the labels come first, in the order of AxisName. */
typedef enum { TEXT_X, TEXT_Y, TEXT_Z, TEXT_TITLE, TEXT_BAR, TEXT_LEGEND, AXES_TEXTS } AxesText;
typedef enum { LEGEND_NONE, LEGEND_BEST, LEGEND_NE, LEGEND_NW, LEGEND_SW, LEGEND_SE, LEGEND_OUTSIDE } LegendPlace;

typedef struct Axes {
    struct Axes *next;
    struct Figure *figure;
    int id;
    int rows, columns, at; /* extents of the grid of axes, and index of the cell of these axes, from 0 */
    Axis axis[3];
    char *title, *bar_label;
    Style letters[AXES_TEXTS];
    bool grid, hidden, equal, tight, deep, bar; /* deep: three-dimensional; bar: with a colour bar */
    /* An image without ticks: its edge is drawn if the figure has other axes too. */
    bool edged;
    double room[2]; /* width and height for which ticks are chosen */
    bool upright;   /* when last drawn, the tick texts below were too long to fit side by side */
    LegendPlace legend;
    const ColourMap *map;
    double range[2];
    bool ranged;               /* range of colours; ranged: set by the program */
    double azimuth, elevation; /* view angles in degrees */
    int link;                  /* axes with the same nonzero number zoom together */
    Item *items;
    double box[4]; /* left, top, width, height of the data area when last drawn */
    double home[4];
    bool zoomed; /* home: limits of x and y before the user zoomed in a window */
} Axes;

typedef struct Figure {
    struct Figure *next;
    int number;
    char *title;          /* title above all axes and of the window */
    Style letters;        /* of the title */
    double width, height; /* size of the page; 0: chosen from the contents */
    Axes *axes, *current;
    int naxes;             /* number of axes created so far */
    bool chosen;           /* created by figure() or subplot(): plots replace the contents of its axes */
    bool dirty, embedded;  /* dirty: changed since it was last written or shown; embedded: part of a form */
    struct Window *window; /* window that shows the figure; NULL: none */
    PixelBlocks blocks;    /* reusable pixel memory of pictures that were shown */
    bool dismissed;        /* the user closed the window; it stays closed until figure() selects the figure */
} Figure;

typedef struct Figures { /* all figures of one VM (Lib.figures) */
    Figure *list, *current;
    int number, ids, links; /* counters for numbers of figures, ids of axes and link groups */
    bool hold, reported;    /* hold: further plots are added; reported: the note about missing cairo was printed */
    char *folder;           /* folder for figures without a window; NULL: not decided */
} Figures;

/* -- figure.c ------------------------------------------------------------------------------------------------------ */
Figures *qfigure_all(qs_vm *vm);
Figure *qfigure_new(qs_vm *vm);
Figure *qfigure_find(qs_vm *vm, int number);
void qfigure_forget(qs_vm *vm, Figure *f);
bool qfigure_is_there(qs_vm *vm, const Figure *f); /* whether f has not been removed */
Axes *qfigure_axes(qs_vm *vm);                     /* returns the current axes; creates them if there are none */
/* Returns the axes on which a plotting function draws.  Without hold they are empty, and they belong to a new figure,
 * unless the program has selected the axes. */
Axes *qfigure_begin(qs_vm *vm);
Axes *qaxes_new(qs_vm *vm, Figure *f, int rows, int columns, int at);
Axes *qaxes_find(qs_vm *vm, int id); /* NULL: removed */
void qaxes_clear(qs_vm *vm, Axes *a);
void qaxes_drop(qs_vm *vm, Axes *a, Item *i);
Item *qaxes_add(qs_vm *vm, Axes *a, ItemKind kind);
/* Marks the figure as changed: it is written or shown when the program next waits or ends. */
void qfigure_changed(qs_vm *vm, Figure *f);
void qfigure_set(char **slot, const char *text); /* replaces the string by a copy of text; NULL: none */
/* Draws the figure on a new canvas; scale as in qcanvas_new. */
qs_status qfigure_canvas(qs_vm *vm, const char *fn, Figure *f, CanvasKind kind, double scale, Canvas **out);
enum { FIGURE_PIXELS_PER_INCH = 144 };
double qfigure_scale(const Figure *f); /* returns pixels per unit: 1 if pictures are shown at their own resolution */
void qfigure_size(const Figure *f, double *width, double *height);
qs_status qfigure_write(qs_vm *vm, const char *fn, Figure *f, const char *path); /* writes .png, .svg or .pdf */

/* -- property.c ---------------------------------------------------------------------------------------------------- */
/* The kinds of objects that have properties: an item; a text, title or label; a text on the axes; a legend. */
typedef enum { ON_ITEM = 1, ON_LETTERS = 2, ON_TEXT = 4, ON_LEGEND = 8 } PropertyTarget;
typedef struct {
    Style *style;
    char **name;        /* used ON_ITEM */
    LegendPlace *place; /* used ON_LEGEND */
} Properties;
/* Reads a style ("r--") and properties of an item from in[*at] on; *at becomes the index behind them. */
qs_status qproperty_first(qs_vm *vm, qs_call_args *c, int *at, Style *style, char **name);
/* Reads the same up to the last argument. */
qs_status qproperty_style(qs_vm *vm, qs_call_args *c, int *at, Style *style, char **name);
/* Reads properties without a style from in[at] up to the last argument. */
qs_status qproperty_pairs(qs_vm *vm, qs_call_args *c, int at, unsigned on, const Properties *to);
bool qproperty_known(const char *name, unsigned on);
qs_status qproperty_unknown(qs_vm *vm, const char *fn, const char *name, unsigned on); /* fails and lists the names */

/* -- series.c ------------------------------------------------------------------------------------------------------ */
qs_status qseries_column(qs_vm *vm, const char *fn, const char *what, qs_value v, Column *out);
/* Returns the number of rows and columns of an argument; a vector is one column. */
void qseries_grid(qs_value v, size_t *rows, size_t *columns);

/* -- handle.c ------------------------------------------------------------------------------------------------------ */
qs_status qhandle_new(qs_vm *vm, const Axes *a, qs_value *out);
/* Calls one of the functions on figures as a method of `to`; *found false: no such method. */
qs_status qhandle_method(qs_vm *vm, Figure *to, const char *name, qs_call_args *c, bool *found);
bool qhandle_is_method(const char *name);
/* Finds the figure and axes of a handle or of a figure number. */
qs_status qhandle_figure(qs_vm *vm, const char *fn, qs_value v, Figure **out, Axes **axes);

/* -- scale.c ------------------------------------------------------------------------------------------------------- */
enum { MOST_TICKS = 200, TICK_TEXT = 64 };
typedef struct {
    int n;
    double at[MOST_TICKS];
    char text[MOST_TICKS][TICK_TEXT];
    char factor[TICK_TEXT]; /* common factor of all texts; "": none */
} Ticks;
void qscale_limits(Axes *a); /* computes lo and hi of every axis that is not fixed, and the range of colours */
void qscale_ticks(const Axis *a, int wanted, Ticks *out);
/* Returns the relative position of v: 0 at lo, 1 at hi; reversed if flipped. */
double qscale_position(const Axis *a, double v);

/* -- layout.c, draw.c ---------------------------------------------------------------------------------------------- */
typedef struct {
    Canvas *c;
    Axes *a;
    double x, y, width, height;
} Painter; /* position and size of the data area */
void qdraw_figure(Canvas *c, Figure *f, double width, double height);
double qdraw_x(const Painter *p, double v);
double qdraw_y(const Painter *p, double v);
extern const Colour qdraw_ink, qdraw_grid;
typedef struct {
    double left, right, top, bottom;
} Margins;
/* Sets Axes.box.  again: chooses ticks for the boxes of the previous call, which changes the margins. */
void qlayout_boxes(Canvas *c, Figure *f, double width, double height, bool again);
enum {
    TICKS_EACH = 48,
    SIZE_TICK = 9,
    SIZE_LABEL = 10,
    SIZE_TITLE = 12,
    TICK_LENGTH = 4,
    BAR_WIDTH = 12,
    BAR_EDGE = 8
}; /* BAR_EDGE: half a line of text, above and below the colour bar of an image without ticks */
void qlayout_ticks(const Axes *a, AxisName n, double length, Ticks *out);
Lettering qlayout_letters(const Style *s, double usual); /* usual: the size unless the style has one */
bool qlayout_ticked(const Axes *a);                      /* whether the axes have ticks and a frame */
const Item *qlayout_mapped(const Axes *a);               /* returns the item that the colour bar explains; NULL: none */

/* -- paint.c, depth.c, level.c, legend.c --------------------------------------------------------------------------- */
void qpaint_item(const Painter *p, Item *i);
/* Draws the legend key of an item. */
void qpaint_key(const Painter *p, const Item *i, double x, double y, double width);
/* Least and greatest x, y, z; dimensions that the item lacks are unchanged. */
void qpaint_bounds(const Item *i, double b[6]);
const char *qpaint_name(const Item *i);
bool qpaint_sticky(const Item *i, AxisName n, double edge); /* whether the axis gets no margin beyond this limit */
bool qpaint_unit_pixels(const Item *i, AxisName n);       /* whether the pixels of an image have the width (height) 1 */
double qpaint_pixel(const Item *i, AxisName n, double v); /* column or row at a coordinate; may be outside the image */
bool qpaint_tight(const Item *i);
void qdepth_draw(Painter *p);
void qlegend_make_room(const Painter *p); /* called before anything is drawn */
void qlegend_draw(const Painter *p);
double qlegend_width(Canvas *c, const Axes *a); /* width of a legend beside the axes; 0: the legend is inside them */
uint32_t qpaint_rgb(Colour k);
/* Returns the colour in which item i shows a value; filled areas use discrete steps. */
Colour qpaint_shade(const Axes *a, const Item *i, double v);
/* Calls out with x and y of both ends of each line segment where z, interpolated over the grid, equals `level`. */
void qlevel_lines(const Item *i, double level, void (*out)(void *, const double ends[4]), void *ud);
/* Calls out with the parts of cells where z is at least `level`: polygons of up to 8 corners, all with the same
 * orientation. */
void qlevel_areas(const Item *i, double level, void (*out)(void *, const double *corners, int n), void *ud);

/* -- outline.c ----------------------------------------------------------------------------------------------------- */
void qoutline_figure(Figure *f, Text *out);
#endif
