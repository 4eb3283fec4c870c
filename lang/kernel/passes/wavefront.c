/* wavefront.c -- runs rows of a loop nest together whose elements depend on elements to the left and above.
 *
 *     FOR i = a..b                                  FOR i = a..b by ROWS
 *       FOR j = c..d                                  FOR j = c..d
 *         A[i,j] = f(A[i,j-1], A[i-1,j+1])    =>        A[i,j] = f(A[i,j-1], A[i-1,j+1])
 *       END                                             A[i+1,j-2] = f(A[i+1,j-3], A[i,j-1])
 *     END                                               A[i+2,j-4] = …
 *                                                     END
 *                                                   END
 *                                                   FOR the remaining i: as before
 *
 * Each iteration of the inner loop waits for the element that the one before has stored.  The rows follow each other at
 * a distance that keeps every pair of dependent iterations in order, so the processor computes them at the same time
 * and the results have the same bits.  The iterations at the ends of the rows run before and after the common loop.
 *
 * A variable of the nest is set before it is read, so that each row has its own, or it is the minimum or maximum of all
 * iterations, whose order does not matter.
 *
 * Iterations (i, j) and (i + di, j + dj), di > 0, depend on each other if one stores an element that the other one
 * accesses.  Row r runs iteration j - r*distance when row 0 runs j, so that they stay in order if
 * di*distance + dj >= 0; if it is more than 0, they are not in one iteration of the common loop, either. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

#include <string.h>

enum {
    ROWS = 4,
    FARTHEST = 4, /* largest distance of rows */
    MOST = 150    /* instructions of the outer loop */
};

typedef struct {
    int64_t lo, hi;
} Range;
/* The index (i + row)*width + j + column.  Counters of short loops make row and column ranges. */
typedef struct {
    KRef width;
    Range row, column;
} Subscripts;

typedef enum { NOT_SET, PER_ROW, EXTREME } Variable;

typedef struct {
    Arena *arena;
    const KFunc *f;
    KFunc *to;
    KRef *map;                    /* by instruction of f: its copy outside of rows */
    KRef *row[ROWS];              /* by instruction of f: its copy in a row */
    uint8_t *variable;            /* by LOCAL in front of the loops: Variable */
    KRef outer, end, inner, last; /* the FOR over i and its END, the FOR over j and its END */
    KRef width;
    int64_t distance, reach; /* of two dependent iterations: reach is the largest difference of their columns */
} Wave;

static const KIns *get_ins(const Wave *w, KRef r) { return &w->f->ins[r]; }
static bool is_access(const KIns *i) { return i->op == K_LOAD || i->op == K_STORE; }

/* -- conditions ---------------------------------------------------------------------------------------------------- */
/* Adds a counter of a short loop to the range; false: r is something else. */
static bool add_counter(const Wave *w, KRef r, int64_t factor, Range *out) {
    const KIns *i = get_ins(w, r);
    double a, b;
    if (r <= w->inner || i->op != K_FOR || !kir_is_const(w->f, i->a, &a) || !kir_is_const(w->f, i->b, &b)) return false;
    int64_t x = (int64_t)a * factor, y = (int64_t)b * factor;
    out->lo += x < y ? x : y, out->hi += x < y ? y : x;
    return true;
}

/* Splits a sum into `one` of its terms, whose factor is 1, and a range; a KRef of 0 stands for a product. */
static bool find_range(const Wave *w, const Affine *a, KRef *one, Range *out) {
    bool found = false;
    *out = (Range){a->constant, a->constant};
    for (int t = 0; t < a->n; t++) {
        KRef r = a->term[t].ref;
        bool fits = *one ? r == *one : get_ins(w, r)->op == K_MUL;
        if (fits && !found && a->term[t].factor == 1) found = true, *one = r;
        else if (r != w->inner && !add_counter(w, r, a->term[t].factor, out)) return false;
    }
    return found;
}

static bool has_inner_once(const Wave *w, const Affine *a) {
    for (int t = 0; t < a->n; t++)
        if (a->term[t].ref == w->inner) return a->term[t].factor == 1;
    return false;
}

/* Finds the subscripts of an index; false: it has a different form. */
static bool find_subscripts(const Wave *w, KRef index, Subscripts *out) {
    Affine a, row;
    KRef product = 0, outer = w->outer;
    if (!kaffine_of(w->f, index, &a) || !has_inner_once(w, &a) || !find_range(w, &a, &product, &out->column))
        return false;
    const KIns *m = get_ins(w, product);
    uint8_t width = get_ins(w, m->b)->op;
    if ((width != K_DIM && width != K_PARAM) || !kaffine_of(w->f, m->a, &row)) return false;
    for (int t = 0; t < row.n; t++)
        if (row.term[t].ref == w->inner) return false;
    out->width = kaffine_leader(w->f, m->b);
    return find_range(w, &row, &outer, &out->row);
}

static int64_t max_int(int64_t a, int64_t b) { return a > b ? a : b; }

/* Takes note of what a store and another access of the same array demand.  A difference of
 * rows or columns is the value in the later iteration minus the value in the earlier one. */
static bool add_dependence(Wave *w, const Subscripts *store, const Subscripts *other) {
    Range dj = {store->column.lo - other->column.hi, store->column.lo - other->column.lo};
    if (store->width != other->width || (w->width && w->width != store->width)) return false;
    w->width = store->width;
    w->reach = max_int(w->reach, max_int(dj.hi, -dj.lo));
    for (int64_t di = store->row.lo - other->row.hi; di <= store->row.lo - other->row.lo; di++) {
        int64_t rows = di < 0 ? -di : di, columns = di < 0 ? -dj.hi : dj.lo;
        while (rows && rows * w->distance + columns < 1 && w->distance <= FARTHEST) w->distance++;
    }
    return w->distance <= FARTHEST;
}

static bool contains(Range r, int64_t v) { return r.lo <= v && v <= r.hi; }

/* Checks all accesses of the array of a store; *chain: an iteration needs the element that the one before stores. */
static bool check_store(Wave *w, const KIns *store, bool *chain) {
    Subscripts s, p;
    if (!find_subscripts(w, store->a, &s) || s.row.lo != s.row.hi || s.column.lo != s.column.hi) return false;
    for (KRef r = w->outer + 1; r < w->end; r++) {
        const KIns *i = get_ins(w, r);
        if (!is_access(i) || i->imm != store->imm) continue;
        if (r < w->inner || r > w->last || !find_subscripts(w, i->a, &p) || !add_dependence(w, &s, &p)) return false;
        *chain |= i->op == K_LOAD && contains(p.row, s.row.lo) && contains(p.column, s.column.lo - 1);
    }
    return true;
}

/* Whether each iteration of the outer loop executes r. */
static bool is_unconditional(const Wave *w, KRef r) {
    for (KRef x = w->f->regions[r].around; x != w->outer; x = w->f->regions[x].around)
        if (x != w->inner && (get_ins(w, x)->op != K_FOR || kplan_iterations(w->f, x) <= 0)) return false;
    return true;
}

/* The only user of r in the nest; 0: there are several, or none. */
static KRef find_user(const Wave *w, KRef r) {
    KRef user = 0;
    for (KRef x = r + 1; x < w->end; x++) {
        const KIns *i = get_ins(w, x);
        if (i->a != r && i->b != r && i->c != r) continue;
        if (user) return 0;
        user = x;
    }
    return user;
}

/* Whether the nest only sets the variable to the minimum, or only to the maximum, of it and another value. */
static bool is_extreme(const Wave *w, KRef local) {
    int op = 0;
    KRef set = 0;
    for (KRef r = w->outer + 1; r < w->end; r++) {
        const KIns *i = get_ins(w, r);
        if (r == set || (i->op != K_GET && i->op != K_SET) || i->a != local) continue;
        KRef user = i->op == K_GET ? find_user(w, r) : 0;
        const KIns *m = get_ins(w, user);
        if (!user || (m->op != K_MIN && m->op != K_MAX) || m->a == m->b || (op && m->op != op)) return false;
        op = m->op, set = find_user(w, user);
        if (!set || get_ins(w, set)->op != K_SET || get_ins(w, set)->a != local) return false;
    }
    return true;
}

/* Unless it is an extreme, the first access of a variable in an iteration of the outer loop must set it, whatever the
 * branches do. */
static bool check_local(Wave *w, KRef local) {
    if (w->variable[local]) return true;
    w->variable[local] = PER_ROW;
    for (KRef r = w->outer + 1; r < w->end; r++) {
        const KIns *i = get_ins(w, r);
        if ((i->op != K_GET && i->op != K_SET) || i->a != local) continue;
        if (i->op == K_SET) return is_unconditional(w, r);
        return w->variable[local] = EXTREME, is_extreme(w, local);
    }
    return false;
}

/* Whether the arrays of the nest do not overlap: there is one only, or the launch has tested it, as a flag says. */
static bool are_apart(const Wave *w) {
    const KIns *one = NULL;
    if (get_ins(w, w->outer)->flag == KFLAG_APART) return true;
    for (KRef r = w->outer + 1; r < w->end; r++) {
        if (!is_access(get_ins(w, r))) continue;
        if (one && one->imm != get_ins(w, r)->imm) return false;
        one = get_ins(w, r);
    }
    return true;
}

static bool check_body(Wave *w) {
    bool chain = false;
    for (KRef r = w->outer + 1; r < w->end; r++) {
        const KIns *i = get_ins(w, r);
        bool inside = r > w->inner && r < w->last, branch = i->op == K_IF || i->op == K_ELSE || i->op == K_END;
        branch |= i->op == K_FOR && kplan_unrolls(w->f, r);
        bool memory = is_access(i) || i->op == K_LOCAL || i->op == K_GET || i->op == K_SET;
        if (r == w->inner || r == w->last) continue;
        if (!memory && !(branch && inside) && kir_ops[i->op].effect != KE_PURE) return false;
        if (i->op == K_SET && i->a < w->outer && !check_local(w, i->a)) return false;
        if (i->op == K_STORE && !check_store(w, i, &chain)) return false;
    }
    return chain;
}

static bool is_candidate(void *pass, KRef r) {
    Wave *w = pass;
    if (!kir_counts_by_one(w->f, r) || get_ins(w, r)->flag == KFLAG_REASSOC) return false;
    w->outer = r, w->end = w->f->regions[r].end, w->inner = w->width = 0, w->distance = 1, w->reach = 0;
    if (w->end - r > MOST) return false;
    for (KRef x = r + 1; x < w->end; x++) {
        if (!kir_is_loop(get_ins(w, x)->op)) continue;
        if (w->inner || !kir_counts_by_one(w->f, x) || w->f->regions[x].around != r) return false;
        w->inner = x, x = w->last = w->f->regions[x].end;
    }
    if (!w->inner) return false;
    Invariants v = {.arena = w->arena, .f = w->f, .loop = r, .end = w->end};
    memset(w->variable, 0, w->f->nins);
    return kaffine_is_invariant(&v, get_ins(w, w->inner)->a) && kaffine_is_invariant(&v, get_ins(w, w->inner)->b) &&
           are_apart(w) && check_body(w);
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
static KRef get_copy(const Wave *w, int k, KRef r) {
    return r && (r >= w->outer || w->variable[r] == PER_ROW) ? w->row[k][r] : w->map[r];
}

static void copy_in_row(Wave *w, int k, KRef first, KRef end) {
    for (KRef r = first; r < end; r++) {
        const KIns *i = get_ins(w, r);
        w->row[k][r] = kir_copy(w->to, i, get_copy(w, k, i->a), get_copy(w, k, i->b), get_copy(w, k, i->c));
    }
}

/* Copies iterations first … last of one row. */
static void copy_part_of_row(Wave *w, int k, KRef first, KRef last) {
    w->row[k][w->inner] = kir_for(w->to, first, last, 1, 0);
    copy_in_row(w, k, w->inner + 1, w->last);
    kir_flow(w->to, K_END, 0);
}

static void add_locals_of_rows(Wave *w) {
    for (KRef r = 1; r < w->outer; r++)
        for (int k = 0; w->variable[r] == PER_ROW && k < ROWS; k++) {
            KRef old = kir_get(w->to, w->map[r]);
            w->row[k][r] = kir_local(w->to, old);
        }
}

/* Afterwards a variable has the value of the last row. */
static void set_locals(Wave *w) {
    for (KRef r = 1; r < w->outer; r++) {
        if (w->variable[r] != PER_ROW) continue;
        KRef value = kir_get(w->to, w->row[ROWS - 1][r]);
        kir_set(w->to, w->map[r], value);
    }
}

/* Emits the rows from i on; lo … hi: the range of j. */
static void copy_rows(Wave *w, KRef i, KRef lo, KRef hi) {
    KFunc *to = w->to;
    int64_t d = w->distance;
    for (int k = 0; k < ROWS; k++) {
        w->row[k][w->outer] = kir_op(to, K_ADD, i, kir_int(to, k));
        copy_in_row(w, k, w->outer + 1, w->inner);
    }
    for (int k = 0; k < ROWS - 1; k++)
        copy_part_of_row(w, k, lo, kir_op(to, K_ADD, lo, kir_int(to, d * (ROWS - 1 - k) - 1)));
    KRef j = kir_for(to, kir_op(to, K_ADD, lo, kir_int(to, d * (ROWS - 1))), hi, 1, 0);
    for (int k = 0; k < ROWS; k++) {
        w->row[k][w->inner] = kir_op(to, K_SUB, j, kir_int(to, d * k));
        copy_in_row(w, k, w->inner + 1, w->last);
    }
    kir_flow(to, K_END, 0);
    for (int k = 1; k < ROWS; k++) copy_part_of_row(w, k, kir_op(to, K_SUB, hi, kir_int(to, d * k - 1)), hi);
    for (int k = 0; k < ROWS; k++) copy_in_row(w, k, w->last + 1, w->end);
}

/* Whether the bounds allow it: there are enough rows and columns, and indices of different columns differ although
 * they are linear. */
static KRef test_bounds(Wave *w, KRef a, KRef b, KRef lo, KRef hi) {
    KFunc *to = w->to;
    KRef rows = kir_op(to, K_SUB, b, a), columns = kir_op(to, K_SUB, hi, lo);
    KRef many = kir_op(to, K_AND, kir_op(to, K_LE, a, b), kir_op(to, K_LE, kir_int(to, ROWS - 1), rows));
    KRef wide = kir_op(to, K_AND, kir_op(to, K_LE, lo, hi), kir_op(to, K_LE, kir_int(to, w->distance * ROWS), columns));
    KRef apart = kir_op(to, K_LT, kir_op(to, K_ADD, columns, kir_int(to, w->reach)), w->map[w->width]);
    return kir_op(to, K_AND, kir_op(to, K_AND, many, wide), apart);
}

static void replace_loops(void *pass) {
    Wave *w = pass;
    KFunc *to = w->to;
    const KIns *outer = get_ins(w, w->outer), *inner = get_ins(w, w->inner);
    to->pos = outer->pos;
    kir_hoist(w->to, w->f, w->map, w->outer + 1, inner->a), kir_hoist(w->to, w->f, w->map, w->outer + 1, inner->b),
        kir_hoist(w->to, w->f, w->map, w->outer + 1, w->width);
    KRef a = w->map[outer->a], b = w->map[outer->b], lo = w->map[inner->a], hi = w->map[inner->b];
    KRef good = test_bounds(w, a, b, lo, hi), span = kir_op(to, K_ADD, kir_op(to, K_SUB, b, a), kir_int(to, 1));
    KRef next = kir_op(to, K_ADD, a, kir_op(to, K_AND, span, kir_int(to, -(int64_t)ROWS)));
    kir_flow(to, K_IF, good);
    add_locals_of_rows(w);
    copy_rows(w, kir_for(to, a, kir_op(to, K_SUB, next, kir_int(to, 1)), ROWS, 0), lo, hi);
    kir_flow(to, K_END, 0);
    set_locals(w);
    kir_flow(to, K_END, 0);
    KRef rest = kir_select(to, good, next, a);
    w->map[w->outer] = kir_add(to, kir_like(outer, rest, b, w->map[outer->c]));
    for (KRef r = w->outer + 1; r <= w->end; r++) kir_copy_mapped(to, w->f, w->map, r);
}

const KFunc *kwavefront_rows(Ctx *c, Arena *a, const KFunc *f) {
    if (!f->strict || !kir_has(f, K_FOR) || f->barrier || f->shared) return f;
    Wave w = {.arena = a, .f = f, .variable = qarena_alloc(a, f->nins)};
    for (int k = 0; k < ROWS; k++) w.row[k] = qarena_alloc(a, qmem_size(f->nins, sizeof(KRef), 0));
    return kir_replace_loops(c, a, f, (KLoopPass){&w, &w.to, &w.map, is_candidate, replace_loops});
}
