/* privatize.c -- sums what a position adds to its neighbourhood in a private array before adding it to the output.
 *
 *     FOR d  FOR p  adjoint of x [pos + d + p] += g            FOR d  FOR p  window [d + p] += g
 *                                                              FOR o         adjoint of x [pos + o] += window [o]
 *
 * The index must be fixed by the position, plus an offset made of counters of loops with known bounds.  A window is a
 * private array with an element for each offset.  When a strip of positions is vectorized, its elements are vectors,
 * and an addition to them does not wait for stores to overlapping vectors of the output.  A BOUND around a
 * coordinate is applied when the window is added to the output.  The last axis becomes the outermost loop of this
 * addition, so that neighbouring offsets are not stored one after the other. */
#include "lang/kernel/autodiff/autodiff_internal.h"

#include "lang/kernel/ir/affine.h"

enum { SITES = 64, PLACES = 256 /* elements of a window */, BYTES = 2048 /* all windows */, GAIN = 2, MANY = 1 << 20 };

typedef struct {
    KRef at; /* the ATOMIC */
    Affine fixed[QS_MAX_RANK], moves[QS_MAX_RANK];
    KRef bound[QS_MAX_RANK];                  /* the BOUND around the coordinate; 0: none */
    int64_t lo[QS_MAX_RANK], hi[QS_MAX_RANK]; /* range of the offsets */
    int64_t times;                            /* most executions; a loop of unknown length counts once */
    int window;                               /* -1: none */
} Site;

typedef struct {
    int first; /* its first site; all its sites have the same fixed parts and counters */
    int64_t lo[QS_MAX_RANK], hi[QS_MAX_RANK], times;
    KRef array; /* in g */
} Window;

typedef struct {
    const KFunc *f;
    KFunc *g;
    KRef *map;
    Site site[SITES];
    int n;
    Window window[SITES];
    int nwindows;
} Windows;

static const KIns *get_ins(const Windows *v, KRef r) { return &v->f->ins[r]; }
static int get_rank(const Windows *v, const Site *s) { return v->f->params[get_ins(v, s->at)->imm].rank; }

/* -- analysis ------------------------------------------------------------------------------------------------------ */
static KRef counter_of(const KFunc *f, KRef r) { /* 0: r is not a counter */
    while (f->ins[r].op == K_CAST && qdtype_is_int((qs_dtype)f->ins[f->ins[r].a].dtype)) r = f->ins[r].a;
    return f->ins[r].op == K_FOR ? r : 0;
}

static bool extend(const Windows *v, Site *s, int d, KRef loop, int64_t factor) {
    if (kautodiff_iterations(v->f, loop) <= 0 || factor > PLACES || factor < -PLACES) return false;
    int64_t a = (int64_t)get_ins(v, get_ins(v, loop)->a)->imm, b = (int64_t)get_ins(v, get_ins(v, loop)->b)->imm;
    if (a > MANY || a < -MANY || b > MANY || b < -MANY) return false;
    int64_t x = factor * a, y = factor * b;
    s->lo[d] += x < y ? x : y, s->hi[d] += x < y ? y : x;
    return true;
}

/* Splits a coordinate into a part fixed by launch and position, counters, and a constant. */
static bool split_coord(const Windows *v, Site *s, int d, KRef coord) {
    Affine all;
    const KIns *i = &v->f->ins[coord];
    if (i->op == K_BOUND) s->bound[d] = coord, coord = i->a;
    if (s->bound[d] && !kadjindex_is_fixed(v->f, i->b)) return false;
    if (!kaffine_of(v->f, coord, &all) || all.constant > MANY || all.constant < -MANY) return false;
    s->lo[d] = s->hi[d] = s->moves[d].constant = all.constant;
    for (int k = 0; k < all.n; k++) {
        KRef loop = counter_of(v->f, all.term[k].ref);
        if (loop ? !extend(v, s, d, loop, all.term[k].factor) : !kadjindex_is_fixed(v->f, all.term[k].ref))
            return false;
        Affine *to = loop ? &s->moves[d] : &s->fixed[d];
        to->term[to->n++] = all.term[k];
    }
    return true;
}

static bool only_added_to(const KFunc *f, uint64_t param) {
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        if (i->imm != param || (i->op != K_LOAD && i->op != K_STORE && i->op != K_ATOMIC)) continue;
        if (i->op != K_ATOMIC || i->flag != KA_ADD) return false;
    }
    return true;
}

static void count_times(const Windows *v, Site *s) {
    s->times = 1;
    for (KRef loop = kir_loop_around(v->f, s->at); loop; loop = kir_loop_around(v->f, loop)) {
        int64_t iterations = kautodiff_iterations(v->f, loop);
        if (iterations >= 0 && s->times < MANY) s->times *= iterations;
    }
}

static bool take_apart(const Windows *v, Site *s) {
    const KIns *i = get_ins(v, s->at);
    KRef coord[QS_MAX_RANK];
    if (i->flag != KA_ADD || !kir_is_float((qs_dtype)v->f->params[i->imm].dtype)) return false;
    if (!only_added_to(v->f, i->imm) || !kadjindex_coords(v->f, i, coord)) return false;
    count_times(v, s);
    for (int d = 0; d < get_rank(v, s); d++) {
        if (coord[d] == KINDEX_ONE) s->lo[d] = s->hi[d] = s->moves[d].constant = 1;
        else if (coord[d] && !split_coord(v, s, d, coord[d])) return false;
    }
    return true;
}

/* -- windows ------------------------------------------------------------------------------------------------------- */
static bool same_sum(const Affine *a, const Affine *b) {
    if (a->n != b->n || a->constant != b->constant) return false;
    for (int k = 0; k < a->n; k++)
        if (a->term[k].ref != b->term[k].ref || a->term[k].factor != b->term[k].factor) return false;
    return true;
}

static bool same_bound(const Windows *v, KRef a, KRef b) {
    if (!a || !b) return a == b;
    return get_ins(v, a)->flag == get_ins(v, b)->flag && kadjindex_same(v->f, get_ins(v, a)->b, get_ins(v, b)->b);
}

/* Whether both sites use the same counters, so that their elements differ by a constant. */
static bool same_counters(const Windows *v, const Site *a, const Site *b) {
    for (KRef l = kir_loop_around(v->f, a->at); l; l = kir_loop_around(v->f, l)) {
        if (b->at < l || b->at > v->f->regions[l].end) continue;
        for (int d = 0; d < get_rank(v, a); d++) {
            int64_t x = 0, y = 0;
            for (int k = 0; k < a->moves[d].n; k++)
                if (counter_of(v->f, a->moves[d].term[k].ref) == l) x = a->moves[d].term[k].factor;
            for (int k = 0; k < b->moves[d].n; k++)
                if (counter_of(v->f, b->moves[d].term[k].ref) == l) y = b->moves[d].term[k].factor;
            if (x != y) return false;
        }
    }
    return true;
}

static bool belong_together(const Windows *v, const Site *a, const Site *b) {
    if (get_ins(v, a->at)->imm != get_ins(v, b->at)->imm || !same_counters(v, a, b)) return false;
    for (int d = 0; d < get_rank(v, a); d++)
        if (!same_sum(&a->fixed[d], &b->fixed[d]) || !same_bound(v, a->bound[d], b->bound[d])) return false;
    return true;
}

static int64_t width(const Window *w, int d) { return w->hi[d] - w->lo[d] + 1; }

static int64_t count_places(const Windows *v, const Window *w) {
    int64_t n = 1;
    for (int d = 0; d < get_rank(v, &v->site[w->first]) && n <= PLACES; d++)
        n = width(w, d) > PLACES ? PLACES + 1 : n * width(w, d);
    return n;
}

static Window join_ranges(const Windows *v, const Window *w, const Site *s) {
    Window all = *w;
    for (int d = 0; d < get_rank(v, s); d++) {
        if (s->lo[d] < all.lo[d]) all.lo[d] = s->lo[d];
        if (s->hi[d] > all.hi[d]) all.hi[d] = s->hi[d];
    }
    all.times += s->times;
    return all;
}

static void choose_window(Windows *v, int n) {
    Site *s = &v->site[n];
    for (int k = 0; k < v->nwindows; k++) {
        Window all = join_ranges(v, &v->window[k], s);
        if (!belong_together(v, &v->site[v->window[k].first], s) || count_places(v, &all) > PLACES) continue;
        v->window[k] = all, s->window = k;
        return;
    }
    Window *w = &v->window[v->nwindows];
    *w = (Window){.first = n, .times = s->times};
    for (int d = 0; d < get_rank(v, s); d++) w->lo[d] = s->lo[d], w->hi[d] = s->hi[d];
    s->window = v->nwindows++;
}

/* Drops windows that are not worth their memory. */
static bool keep_good_ones(Windows *v) {
    uint64_t bytes = 0;
    bool any = false;
    for (int k = 0; k < v->nwindows; k++) {
        const Window *w = &v->window[k];
        size_t size = qdtype_size((qs_dtype)v->f->params[get_ins(v, v->site[w->first].at)->imm].dtype);
        int64_t n = count_places(v, w);
        bool good = n <= PLACES && w->times >= GAIN * n && bytes + (uint64_t)n * size <= BYTES;
        if (good) bytes += (uint64_t)n * size, any = true;
        for (int i = 0; i < v->n && !good; i++)
            if (v->site[i].window == k) v->site[i].window = -1;
    }
    return any;
}

static void find_sites(Windows *v) {
    for (KRef r = 1; r < v->f->nins && v->n < SITES; r++) {
        v->site[v->n] = (Site){.at = r, .window = -1};
        if (get_ins(v, r)->op == K_ATOMIC && take_apart(v, &v->site[v->n])) choose_window(v, v->n), v->n++;
    }
}

/* -- generated code ------------------------------------------------------------------------------------------------ */
static bool is_used(const Windows *v, int window) { return v->site[v->window[window].first].window == window; }

static KRef again(Windows *v, KRef r) { /* rebuilds at another point of g what the position fixes */
    const KIns *i = get_ins(v, r);
    return r ? kir_copy(v->g, i, again(v, i->a), again(v, i->b), again(v, i->c)) : 0;
}

static KRef sum_of(Windows *v, const Affine *a, int64_t constant, KRef value(Windows *v, KRef r)) {
    KRef sum = kir_int(v->g, constant);
    for (int k = 0; k < a->n; k++) {
        KRef x = kir_cast(v->g, QS_I64, value(v, a->term[k].ref));
        if (a->term[k].factor != 1) x = kir_op(v->g, K_MUL, x, kir_int(v->g, a->term[k].factor));
        sum = k == 0 && constant == 0 ? x : kir_op(v->g, K_ADD, x, sum);
    }
    return sum;
}

static KRef counter(Windows *v, KRef r) { return v->map[counter_of(v->f, r)]; }

static void make_arrays(Windows *v) {
    for (int k = 0; k < v->nwindows; k++) {
        Window *w = &v->window[k];
        qs_dtype d = (qs_dtype)v->f->params[get_ins(v, v->site[w->first].at)->imm].dtype;
        if (is_used(v, k)) w->array = kir_add(v->g, (KMake){K_LARRAY, .own = d, .imm = (uint64_t)count_places(v, w)});
    }
}

/* The row of o0 … is the outer index. */
static KRef step(Windows *v, const Window *w, KRef at, int d, KRef offset) {
    return at ? kir_op(v->g, K_ADD, kir_op(v->g, K_MUL, at, kir_int(v->g, width(w, d))), offset) : offset;
}

static void add_to_window(Windows *v, const Site *s) {
    const Window *w = &v->window[s->window];
    const KIns *i = get_ins(v, s->at);
    KRef at = 0, x = v->map[i->b], none = kir_const_bits(v->g, (qs_dtype)v->g->ins[x].dtype, 0, i->pos);
    for (int d = 0; d < get_rank(v, s); d++)
        at = step(v, w, at, d, sum_of(v, &s->moves[d], s->moves[d].constant - w->lo[d], counter));
    if (i->c) x = kir_select(v->g, v->map[i->c], x, none);
    at = kir_fold(v->g, (KMake){K_CAST, .own = QS_I32, .a = at, .pos = i->pos});
    KRef sum = kir_add(v->g, (KMake){K_ALOAD, .a = w->array, .b = at, .pos = i->pos});
    kir_add(v->g, (KMake){K_ASTORE, .a = w->array, .b = at, .c = kir_op(v->g, K_ADD, sum, x), .pos = i->pos});
}

/* Adds the window to the output array, without the elements outside it (all of them if the array is empty). */
static void add_window(Windows *v, const Window *w) {
    const Site *s = &v->site[w->first];
    const KIns *i = get_ins(v, s->at);
    KRef offset[QS_MAX_RANK], place = 0, at = 0, guard = 0;
    int n = get_rank(v, s);
    for (int d = n; d-- > 0;) offset[d] = kir_for(v->g, kir_int(v->g, w->lo[d]), kir_int(v->g, w->hi[d]), 1, 0);
    for (int d = 0; d < n; d++) {
        KRef x = kir_op(v->g, K_ADD, sum_of(v, &s->fixed[d], 0, again), offset[d]);
        KRef extent = kir_add(v->g, (KMake){K_DIM, .imm = i->imm << 8 | (uint64_t)d});
        const KIns *b = get_ins(v, s->bound[d]);
        KRef in = kir_op(v->g, K_INB, s->bound[d] ? kir_int(v->g, 0) : x, extent);
        if (s->bound[d])
            x = kir_fold(v->g, (KMake){K_BOUND, .flag = b->flag, .a = x, .b = again(v, b->b), .pos = b->pos});
        guard = guard ? kir_op(v->g, K_AND, guard, in) : in;
        at = at ? kir_op(v->g, K_ADD, kir_op(v->g, K_MUL, at, extent), x) : x;
        place = step(v, w, place, d, kir_op(v->g, K_SUB, offset[d], kir_int(v->g, w->lo[d])));
    }
    place = kir_cast(v->g, QS_I32, place);
    KRef sum = kir_add(v->g, (KMake){K_ALOAD, .a = w->array, .b = place});
    kir_add(v->g, (KMake){K_ATOMIC, .flag = KA_ADD, .a = at, .b = sum, .c = guard, .imm = i->imm, .pos = i->pos});
    while (n-- > 0) kir_flow(v->g, K_END, 0);
}

static void build_function(Windows *v) {
    int n = 0;
    make_arrays(v);
    for (KRef r = 1; r < v->f->nins; r++) {
        while (n < v->n && v->site[n].at < r) n++;
        if (n < v->n && v->site[n].at == r && v->site[n].window >= 0) add_to_window(v, &v->site[n]);
        else kir_copy_mapped(v->g, v->f, v->map, r);
    }
    for (int k = 0; k < v->nwindows; k++)
        if (is_used(v, k)) add_window(v, &v->window[k]);
    kir_seal(v->g);
}

KFunc *kprivatize_make(const KGrading *s, KFunc *f) {
    Windows *v = qarena_alloc(s->arena, sizeof *v);
    *v = (Windows){.f = f};
    if (f->serial || f->barrier || f->shared || kir_has(f, K_RET) || !kir_has(f, K_ATOMIC)) return f;
    find_sites(v);
    if (!keep_good_ones(v)) return f;
    v->g = kir_shell_with(s->ctx, s->arena, f, f->params, f->nparams);
    v->map = qarena_alloc(s->arena, qmem_size(f->nins, sizeof *v->map, 0));
    build_function(v);
    return v->g;
}
