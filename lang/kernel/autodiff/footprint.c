/* footprint.c -- computes how far a kernel reads around its position: which border a block of a larger array needs.
 *
 *     coordinate of a LOAD    BOUND(pos1 + counter - 2, dim)  ──►  axis 1, from lo-2 to hi-2     Span
 *     depends on              position, memory, extents        ──►  bits, for every instruction   Depends
 *
 * Each array has one role.  It is read around the position; or it is read at indices that do not depend on the
 * position (a table, such as the weights of a filter); or it is written at the position.  Besides, no result may
 * depend on the position itself, or on an extent that is smaller in a block.  Then the blocks of a result equal
 * those of the whole array, up to rounding: a compiler may fuse a*b + c in one loop and not in another. */
#include "lang/kernel/autodiff/autodiff_internal.h"
#include "lang/kernel/ir/kir.h"

#include <math.h>
#include <string.h>

enum { VISITS = 4096, DEP_POS = 1, DEP_MEMORY = 2, DEP_EXTENT = 4 };
static const double FAR = 0x1p53;

/* A range of values: position along axis + lo … hi; axis -1: no position.  whole: all values in it are integers. */
typedef struct {
    int axis;
    double lo, hi;
    bool whole;
} Span;

typedef struct {
    const KFunc *f;
    const KGiven *given;
    KFootprint *out;
    uint8_t *depends, *open; /* by instruction: DEP_… bits; the span of this LOCAL is being computed */
    int left;
    KRef missing; /* the PARAM or DIM whose unknown value prevents a span; 0: none */
} FootprintScan;

/* -- spans --------------------------------------------------------------------------------------------------------- */
static bool span_of(FootprintScan *h, KRef r, Span *out);

static bool fixed(double lo, double hi, Span *out) {
    *out = (Span){-1, lo, hi, lo == hi && lo == floor(lo)};
    return fabs(lo) < FAR && fabs(hi) < FAR;
}

static bool missing(FootprintScan *h, KRef r) {
    if (!h->missing) h->missing = r;
    return false;
}

static double const_value(qs_dtype d, uint64_t bits) {
    KSlot s = {bits};
    if (d == QS_F32) return s.F32;
    if (d == QS_F64) return s.F64;
    return d == QS_U64 ? (double)s.U64 : (double)s.I64;
}

static bool of_param(FootprintScan *h, KRef r, Span *out) {
    const KIns *i = &h->f->ins[r];
    const KGiven *g = &h->given[i->imm];
    return g->known ? fixed(g->number, g->number, out) : missing(h, r);
}

/* Returns true for an extent that is smaller in a block than in the whole array. */
static bool is_cut(const FootprintScan *h, const KIns *i) {
    return h->out->param[i->imm >> 8].role != KROLE_TABLE && (int)(i->imm & 255) < h->f->rank;
}

static bool of_extent(FootprintScan *h, KRef r, Span *out) {
    const KIns *i = &h->f->ins[r];
    const KGiven *g = &h->given[i->imm >> 8];
    double n = g->known ? (double)g->dims[i->imm & 255] : 0;
    if (is_cut(h, i)) return false; /* the distance would differ in a block */
    return g->known ? fixed(n, n, out) : missing(h, r);
}

static bool join_spans(Span a, Span b, Span *out) {
    *out = (Span){a.axis, fmin(a.lo, b.lo), fmax(a.hi, b.hi), a.whole && b.whole};
    return a.axis == b.axis;
}

static bool of_sum(Span a, Span b, int sign, Span *out) {
    if (b.axis >= 0 && (a.axis >= 0 || sign < 0)) { /* pos - pos is a distance without a position */
        *out = (Span){-1, a.lo - b.hi, a.hi - b.lo, a.whole && b.whole};
        return sign < 0 && a.axis == b.axis;
    }
    Span t = sign < 0 ? (Span){-1, -b.hi, -b.lo, b.whole} : b;
    bool ok = fixed(a.lo + t.lo, a.hi + t.hi, out);
    out->axis = a.axis >= 0 ? a.axis : t.axis, out->whole = a.whole && b.whole;
    return ok;
}

static bool of_product(Span a, Span b, bool quotient, Span *out) {
    double x[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    if (a.axis >= 0 || b.axis >= 0 || (quotient && b.lo <= 0)) return false;
    if (quotient) x[0] = a.lo / b.lo, x[1] = a.lo / b.hi, x[2] = a.hi / b.lo, x[3] = a.hi / b.hi;
    bool ok = fixed(fmin(fmin(x[0], x[1]), fmin(x[2], x[3])), fmax(fmax(x[0], x[1]), fmax(x[2], x[3])), out);
    out->whole = out->whole || (!quotient && a.whole && b.whole);
    return ok;
}

/* Truncates the range as a conversion to an integer or an integer division does. */
static bool truncate(Span *s) {
    bool ok = s->whole || s->axis < 0; /* rounding of position plus fraction depends on the sign */
    s->lo = trunc(s->lo), s->hi = trunc(s->hi), s->whole = true;
    return ok;
}

static bool of_extreme(KOp op, Span a, Span b, Span *out) {
    double (*than)(double, double) = op == K_MIN ? fmin : fmax;
    *out = (Span){a.axis, than(a.lo, b.lo), than(a.hi, b.hi), a.whole && b.whole};
    return a.axis == b.axis;
}

static bool of_two(const KIns *i, Span a, Span b, Span *out) {
    switch ((KOp)i->op) {
    case K_ADD: return of_sum(a, b, 1, out);
    case K_SUB: return of_sum(a, b, -1, out);
    case K_MUL: return of_product(a, b, false, out);
    case K_DIV: return of_product(a, b, true, out) && (!qdtype_is_int((qs_dtype)i->dtype) || truncate(out));
    case K_MIN:
    case K_MAX: return of_extreme((KOp)i->op, a, b, out);
    default: return false;
    }
}

/* Returns the union of two ranges.  If the condition depends on the position, it would differ in a block. */
static bool of_choice(FootprintScan *h, const KIns *i, Span *out) {
    Span a, b;
    if (h->depends[i->a] & (DEP_POS | DEP_EXTENT)) return false;
    return span_of(h, i->b, &a) && span_of(h, i->c, &b) && join_spans(a, b, out);
}

/* Returns the range from a to b, in either order, as the step may be negative. */
static bool of_counter(FootprintScan *h, const KIns *i, Span *out) {
    Span a, b;
    bool ok = span_of(h, i->a, &a) && span_of(h, i->b, &b) && join_spans(a, b, out);
    return out->whole = true, ok; /* a FOR counts integers */
}

/* Returns the union of the initial value of the LOCAL and of all values that it is set to. */
static bool of_local(FootprintScan *h, KRef local, Span *out) {
    Span next;
    if (h->open[local] || !span_of(h, h->f->ins[local].a, out)) return false;
    h->open[local] = true;
    bool ok = true;
    for (KRef r = local; ok && r < h->f->nins; r++) {
        const KIns *i = &h->f->ins[r];
        if (i->op == K_SET && i->a == local) ok = span_of(h, i->b, &next) && join_spans(*out, next, out);
    }
    return h->open[local] = false, ok;
}

static bool of_cast(FootprintScan *h, const KIns *i, Span *out) {
    if (!span_of(h, i->a, out)) return false;
    return !qdtype_is_int((qs_dtype)i->dtype) || !kir_is_float((qs_dtype)h->f->ins[i->a].dtype) || truncate(out);
}

/* Returns the range of floor(x).  The fraction that is lost does not depend on the position. */
static bool of_floor(FootprintScan *h, const KIns *i, Span *out) {
    if (i->flag != MF_floor || !span_of(h, i->a, out)) return false;
    out->lo = floor(out->lo), out->hi = floor(out->hi), out->whole = true;
    return true;
}

static bool of_negative(FootprintScan *h, const KIns *i, Span *out) {
    Span a;
    if (!span_of(h, i->a, &a) || a.axis >= 0) return false;
    return *out = (Span){-1, -a.hi, -a.lo, a.whole}, true;
}

static bool span_of(FootprintScan *h, KRef r, Span *out) {
    const KIns *i = &h->f->ins[r];
    Span a, b;
    if (r == 0 || r == KINDEX_ONE) return fixed(r != 0, r != 0, out);
    if (--h->left < 0) return false;
    switch ((KOp)i->op) {
    case K_POS: return *out = (Span){(int)i->imm, 0, 0, true}, true;
    case K_CONST: return fixed(const_value((qs_dtype)i->dtype, i->imm), const_value((qs_dtype)i->dtype, i->imm), out);
    case K_PARAM: return of_param(h, r, out);
    case K_DIM: return of_extent(h, r, out);
    case K_CAST: return of_cast(h, i, out);
    case K_BOUND: return span_of(h, i->a, out);
    case K_FOR: return of_counter(h, i, out);
    case K_GET: return of_local(h, i->a, out);
    case K_NEG: return of_negative(h, i, out);
    case K_MATH: return of_floor(h, i, out);
    case K_SELECT: return of_choice(h, i, out);
    default: return i->a && i->b && !i->c && span_of(h, i->a, &a) && span_of(h, i->b, &b) && of_two(i, a, b, out);
    }
}

/* -- dependencies -------------------------------------------------------------------------------------------------- */
static uint8_t own_bits(const FootprintScan *h, const KIns *i) {
    switch ((KOp)i->op) {
    case K_POS: return DEP_POS;
    case K_LOAD:
    case K_FETCH:
    case K_AFETCH:
    case K_ATOMIC: return DEP_MEMORY;
    case K_DIM: return is_cut(h, i) ? DEP_EXTENT : 0;
    default: return 0;
    }
}

/* Adds bits to r.  A LOCAL or LARRAY depends on all values that are stored in it. */
static void add_bits(FootprintScan *h, KRef r, uint8_t bits, bool *more) {
    if ((h->depends[r] | bits) == h->depends[r]) return;
    h->depends[r] |= bits, *more = true;
}

static void spread_bits(FootprintScan *h) {
    const KFunc *f = h->f;
    memset(h->depends, 0, f->nins);
    for (bool more = true; more;) {
        more = false;
        for (KRef r = 1; r < f->nins; r++) {
            const KIns *i = &f->ins[r];
            uint8_t all = h->depends[i->a] | h->depends[i->b] | h->depends[i->c];
            if (i->op == K_SET || i->op == K_ASTORE) add_bits(h, i->a, all, &more);
            else add_bits(h, r, i->op == K_LOAD ? DEP_MEMORY : (uint8_t)(own_bits(h, i) | all), &more);
        }
    }
}

/* -- arrays -------------------------------------------------------------------------------------------------------- */
static qs_status report_access(const FootprintScan *h, const KIns *i, const char *how) {
    const KFunc *f = h->f;
    return qerr_at(f->ctx, QS_EVALUE, (Where){f->src, i->pos}, "halo: kernel %s %s %s %s", f->name->s,
                   i->op == K_LOAD ? "reads" : "writes", f->params[i->imm].name->s, how);
}

static qs_status report_far_access(const FootprintScan *h, const KIns *i) {
    return report_access(h, i,
                         i->op == K_LOAD ? "at no known distance from its position" : "elsewhere than at its position");
}

static qs_status report_across(const FootprintScan *h, const KIns *i) {
    return report_access(h, i, "along a dimension that is not that of its position");
}

static qs_status report_missing(const FootprintScan *h, const KIns *i) {
    const KFunc *f = h->f;
    const KIns *m = &f->ins[h->missing];
    bool extent = m->op == K_DIM;
    const char *who = f->params[extent ? m->imm >> 8 : m->imm].name->s;
    return qerr_at(f->ctx, QS_EVALUE, (Where){f->src, i->pos},
                   "halo: how far kernel %s reads %s depends on the %s of %s, which has to be given", f->name->s,
                   f->params[i->imm].name->s, extent ? "size" : "value", who);
}

static uint8_t bits_of(const FootprintScan *h, KRef coord) { return coord == KINDEX_ONE ? 0 : h->depends[coord]; }

/* Extends the reach along the axis by a coordinate of the access i. */
static qs_status widen_reach(FootprintScan *h, const KIns *i, KRef coord, int axis) {
    Span s;
    if (!(bits_of(h, coord) & DEP_POS)) return report_across(h, i);
    h->left = VISITS, h->missing = 0;
    if (!span_of(h, coord, &s)) return h->missing ? report_missing(h, i) : report_far_access(h, i);
    if (s.axis != axis || !s.whole) return report_across(h, i);
    int64_t far = (int64_t)fmax(fmax(-s.lo, s.hi), 0);
    if (i->op != K_LOAD && (s.lo != 0 || s.hi != 0)) return report_far_access(h, i);
    if (far > h->out->reach[axis]) h->out->reach[axis] = far;
    if (s.lo != 0 || s.hi != 0) h->out->param[i->imm].shifted = true;
    return QS_OK;
}

/* Returns the access mode of a coordinate; a guard means 'safe. */
static uint8_t mode_of(const FootprintScan *h, const KIns *i, KRef coord) {
    const KIns *x = &h->f->ins[coord == KINDEX_ONE ? 0 : coord];
    if (coord && x->op == K_BOUND) return (uint8_t)x->flag;
    return kir_guard(i) ? ACC_SAFE : ACC_UNCHECKED;
}

static qs_status note_role(FootprintScan *h, const KIns *i, KFootprintRole role) {
    KFootprintParam *p = &h->out->param[i->imm];
    if (p->role != KROLE_NONE && p->role != role && (p->role == KROLE_TABLE || role == KROLE_TABLE))
        return report_access(h, i, "around its position and elsewhere");
    if (p->role != KROLE_NONE && p->role != role) role = KROLE_CHANGED;
    return p->role = (uint8_t)role, QS_OK;
}

static qs_status note_mode(FootprintScan *h, const KIns *i, const KRef *coord, int n) {
    KFootprintParam *p = &h->out->param[i->imm];
    for (int d = 0; i->op == K_LOAD && d < n; d++) {
        uint8_t mode = mode_of(h, i, coord[d]);
        if (p->mode != ACC_DEFAULT && p->mode != mode) return report_access(h, i, "with several access modes");
        p->mode = mode;
    }
    return QS_OK;
}

static int blocked(const FootprintScan *h, const KIns *i) { /* number of dimensions along which blocks cut the array */
    int rank = h->f->params[i->imm].rank;
    return rank < h->f->rank ? rank : h->f->rank;
}

static qs_status check_access(FootprintScan *h, const KIns *i) {
    KRef coord[QS_MAX_RANK];
    uint8_t bits = h->depends[i->a];
    KFootprintRole role = i->op == K_LOAD ? KROLE_READ : KROLE_WRITTEN;
    if (i->op == K_ATOMIC || i->op == K_FETCH) return report_access(h, i, "from many positions");
    if (i->op == K_LOAD && !(bits & (DEP_POS | DEP_MEMORY))) return QS_OK; /* find_tables has recorded it */
    if (bits & DEP_MEMORY) return report_access(h, i, "at a place that it reads from memory");
    if (!kadjindex_coords(h->f, i, coord)) return report_far_access(h, i);
    TRY(note_role(h, i, role));
    TRY(note_mode(h, i, coord, blocked(h, i)));
    for (int d = 0; d < blocked(h, i); d++) TRY(widen_reach(h, i, coord[d], d));
    for (int d = blocked(h, i); d < h->f->params[i->imm].rank; d++)
        if (bits_of(h, coord[d]) & DEP_POS) return report_across(h, i);
    return QS_OK;
}

static qs_status find_tables(FootprintScan *h) {
    for (KRef r = 1; r < h->f->nins; r++) {
        const KIns *i = &h->f->ins[r];
        if (i->op == K_LOAD && !(h->depends[i->a] & (DEP_POS | DEP_MEMORY))) TRY(note_role(h, i, KROLE_TABLE));
    }
    return QS_OK;
}

static qs_status check_arrays(FootprintScan *h) {
    const KFunc *f = h->f;
    for (KRef r = 1; r < f->nins; r++)
        if (kir_is_memory(f->ins[r].op)) TRY(check_access(h, &f->ins[r]));
    for (int p = 0; p < f->nparams; p++)
        if (h->out->param[p].role == KROLE_CHANGED && h->out->param[p].shifted)
            return qerr_at(f->ctx, QS_EVALUE, (Where){f->src, f->ins[1].pos},
                           "halo: kernel %s reads %s, which it writes, at other positions", f->name->s,
                           f->params[p].name->s);
    return QS_OK;
}

/* -- computed values ----------------------------------------------------------------------------------------------- */
static bool is_range_test(const KFunc *f, KRef r) {
    const KIns *i = &f->ins[r];
    return i->op == K_INB || (i->op == K_AND && is_range_test(f, i->a) && is_range_test(f, i->b));
}

/* Returns the dependencies of i that influence results.  Values in LOCALs and LARRAYs count where they are used
 * (spread_bits). */
static uint8_t decides(const FootprintScan *h, const KIns *i) {
    switch ((KOp)i->op) {
    case K_STORE: return h->depends[i->b];
    case K_IF: return h->depends[i->a];
    case K_FOR: return h->depends[i->a] | h->depends[i->b] | h->depends[i->c];
    case K_CHECK: return is_range_test(h->f, i->a) ? 0 : h->depends[i->a];
    default: return 0;
    }
}

static qs_status check_values(FootprintScan *h) {
    const KFunc *f = h->f;
    for (KRef r = 1; r < f->nins; r++) {
        uint8_t bits = decides(h, &f->ins[r]);
        if (bits & (DEP_POS | DEP_EXTENT))
            return qerr_at(f->ctx, QS_EVALUE, (Where){f->src, f->ins[r].pos},
                           "halo: what kernel %s computes here depends on %s, which is another one in a block of a "
                           "larger array",
                           f->name->s, bits & DEP_POS ? "its position" : "the size of an array");
    }
    return QS_OK;
}

static qs_status check_blocks(const KFunc *f) {
    if (!kir_knows_blocks(f)) return QS_OK;
    return qerr_at(f->ctx, QS_EVALUE, (Where){f->src, f->ins[1].pos},
                   "halo: the positions of kernel %s work together in blocks of their own, so how far one reads is not "
                   "known",
                   f->name->s);
}

qs_status kfootprint_find(Arena *scratch, const KFunc *f, const KGiven *given, KFootprint *out) {
    FootprintScan h = {.f = f, .given = given, .out = out};
    h.depends = qarena_alloc(scratch, f->nins + 1), h.open = qarena_alloc(scratch, f->nins + 1);
    out->rank = f->rank,
    out->param = qarena_alloc(scratch, qmem_size((size_t)f->nparams, sizeof *out->param, sizeof *out->param));
    memset(out->reach, 0, sizeof out->reach);
    TRY(check_blocks(f));
    spread_bits(&h);
    TRY(find_tables(&h));
    spread_bits(&h); /* again: now the tables are known, whose extents do not depend on the block */
    TRY(check_arrays(&h));
    return check_values(&h);
}
