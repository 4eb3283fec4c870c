/* level.c -- computes contour lines and areas of a function on a grid.
 *
 * Within a cell the function is taken as linear along the edges.  If two opposite corners are above the level and the
 * other two below, the mean of the four decides which are connected.  Cells with a nan are skipped. */
#include "stdlib/figure/figure.h"

#include <math.h>

typedef struct {
    double x, y, z;
} Corner;

/* Reads the corners of cell (r, k) in cyclic order. */
static bool cell(const Item *i, size_t r, size_t k, Corner c[4]) {
    static const int down[] = {0, 0, 1, 1}, right[] = {0, 1, 1, 0};
    bool whole = true;
    for (int n = 0; n < 4; n++) {
        size_t at = (r + (size_t)down[n]) * i->columns + k + (size_t)right[n];
        c[n] = (Corner){i->part[PART_X].x[at], i->part[PART_Y].x[at], i->part[PART_Z].x[at]};
        whole = whole && isfinite(c[n].x + c[n].y + c[n].z);
    }
    return whole;
}

static void intersect_edge(const Corner *a, const Corner *b, double level, double out[2]) {
    double t = (level - a->z) / (b->z - a->z);
    out[0] = a->x + t * (b->x - a->x), out[1] = a->y + t * (b->y - a->y);
}

static void cell_lines(const Corner c[4], double level, void (*out)(void *, const double[4]), void *ud) {
    double cuts[4][2], piece[4];
    int n = 0;
    for (int e = 0; e < 4; e++) {
        const Corner *a = &c[e], *b = &c[(e + 1) % 4];
        if ((a->z >= level) == (b->z >= level)) continue;
        intersect_edge(a, b, level, cuts[n++]);
    }
    if (n < 2) return;
    /* With four intersections, the first is connected with the second or with the last. */
    bool high = (c[0].z + c[1].z + c[2].z + c[3].z) / 4 >= level;
    bool first_with_second = n == 2 || (c[1].z >= level) != high;
    for (int k = 0; k < n; k += 2) {
        int a = first_with_second ? k : (k + 3) % 4, b = first_with_second ? k + 1 : k;
        piece[0] = cuts[a][0], piece[1] = cuts[a][1], piece[2] = cuts[b][0], piece[3] = cuts[b][1];
        out(ud, piece);
    }
}

void qlevel_lines(const Item *i, double level, void (*out)(void *, const double[4]), void *ud) {
    Corner c[4];
    for (size_t r = 0; r + 1 < i->rows; r++)
        for (size_t k = 0; k + 1 < i->columns; k++)
            if (cell(i, r, k, c)) cell_lines(c, level, out, ud);
}

/* Returns whether two opposite corners are above the level and not connected. */
static bool apart(const Corner c[4], double level) {
    bool crossed = (c[0].z >= level) == (c[2].z >= level) && (c[1].z >= level) == (c[3].z >= level);
    return crossed && (c[0].z >= level) != (c[1].z >= level) && (c[0].z + c[1].z + c[2].z + c[3].z) / 4 < level;
}

static void cell_area(const Corner c[4], double level, void (*out)(void *, const double *, int), void *ud) {
    double corners[16];
    int n = 0;
    for (int e = c[0].z >= level ? 0 : 1; e < 4 && apart(c, level); e += 2) {
        double tip[6] = {0, 0, c[e].x, c[e].y};
        intersect_edge(&c[(e + 3) % 4], &c[e], level, tip), intersect_edge(&c[e], &c[(e + 1) % 4], level, tip + 4);
        out(ud, tip, 3);
    }
    if (apart(c, level)) return;
    for (int e = 0; e < 4; e++) {
        const Corner *a = &c[e], *b = &c[(e + 1) % 4];
        if (a->z >= level) corners[2 * n] = a->x, corners[2 * n + 1] = a->y, n++;
        if ((a->z >= level) != (b->z >= level)) intersect_edge(a, b, level, corners + 2 * n), n++;
    }
    if (n >= 3) out(ud, corners, n);
}

void qlevel_areas(const Item *i, double level, void (*out)(void *, const double *, int), void *ud) {
    Corner c[4];
    for (size_t r = 0; r + 1 < i->rows; r++)
        for (size_t k = 0; k + 1 < i->columns; k++)
            if (cell(i, r, k, c)) cell_area(c, level, out, ud);
}
