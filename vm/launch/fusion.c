/* fusion.c -- runs a fusible expression as one kernel: determines shapes, finds the specialization, launches it.
 *
 * A region is compiled for the element types of its leaves once it has done enough work to pay for the compilation.
 * A cheap expression on small arrays always uses the loops of arith.c.  These loops are also used without a code
 * generator, and for regions that lang/kernel/lower/fusion/fuse.c declines.  The types are chosen so that the results
 * agree. */
#include "vm/launch/jit_hooks.h"
#include "vm/value/trace.h"

#include "lang/kernel/elem/elem.h"
#include "lang/kernel/ir/sem.h"
#include "lang/kernel/lower/fusion/fuse.h"
#include "vm/array/operand.h"
#include "vm/launch/run.h"
#include "vm/program/prebuilt.h"
#include "vm/value/trace.h"

#include <math.h>
#include <string.h>

/* Operator evaluations after which a region is compiled; they take about as long as compiling.  A call of a function
 * counts as CALL operators. */
static const double worth_compiling = 4e6;
enum { CALL = 8 };
/* Maximum number of partial results. */
enum { LEAVES = 32, CHUNKS = 64, CHUNK_LEAST = 16384, BLOCKS = 1024, PARTS = BLOCKS };

/* Rows are long from LONG_ROWS elements on; fewer than FEW_ROWS do not keep the threads busy. */
enum { FEW_ROWS = 8, LONG_ROWS = 1 << 20 };

/* Rows below SHORT_ROW elements, and lines along another dimension than the last one, are computed side by side, with
 * sums in the order of the host (reduce.c).  The number of elements of a line up to KNOWN_LINE is compiled in.  Long
 * lines whose elements are far apart would leave the caches before their neighbours are computed, which the loops of
 * the host avoid: LONG_LINE is the limit of a line, LARGE of all elements.  With several reductions, which read the
 * elements as often, the limits are twice as high. */
enum { SHORT_INNER = 8, SHORT_ROW = 32, KNOWN_LINE = 8, LONG_LINE = 2048, LARGE = 1 << 22, LINES_RANK = 3 };

/* Versions: a reduction is split into chunks for processor cores, or into groups of cooperating positions for GPUs. */
enum { CHUNKED, GROUPED, ADDED /* the sum in the form in which a tape records it */ };

/* FuseLeafType.fixed and unit */
typedef struct {
    uint8_t fixed, unit;
} LeafLayout;

/* The layout of the elements that the result is assigned to.  strided: they are not contiguous. */
typedef struct {
    bool strided, unit;
} TargetLayout;

typedef struct { /* the region, specialized for one combination of leaf types */
    Specialization base;
    bool flat, ordered;
    TargetLayout target;
    int rank;
    int64_t extent;
    uint8_t same[LEAVES];
    LeafLayout layout[LEAVES];
    FuseKernel kernel[3]; /* CHUNKED, GROUPED, ADDED; func NULL: not made, or declined */
} FuseForm;

typedef struct {
    bool reported; /* the reason why rows are not computed was reported */
    double work, nops;
    FuseExpr expr;
    SpecializationList forms;
} FuseState;

typedef struct {
    Run run;
    const Frame *f;
    FuseRegion *region;
    FuseState *state;
    FuseForm *form;
    qs_value at[LEAVES];  /* current values of the leaves, numbers without their traces */
    uint8_t same[LEAVES]; /* as in FuseLeafType */
    LeafLayout layout[LEAVES];
    bool recorded; /* a leaf is recorded by the tape */
    bool flat;
    bool no_rows;   /* the reductions along a dimension are left to the operators */
    bool ordered;   /* rows: see FuseExpr */
    int64_t extent; /* rows: as in FuseExpr */
    int rank;
    int64_t dims[QS_MAX_RANK];
    int whole, axis[QS_MAX_RANK]; /* dimension d of the domain is dimension axis[d] of one of rank `whole` */
    size_t count;
    int ndim;                  /* ndim of the result: the maximum over the leaves */
    int nargs;                 /* number of parameters of the leaves */
    int64_t chunk;             /* for a reduction: elements per chunk, or positions of the launch */
    Array *result;             /* the result, or the partial results of a reduction */
    Array *stored[FUSE_ITEMS]; /* the values of earlier statements that are needed afterwards; NULL: none */
    int item_ndim[FUSE_ITEMS + 1];
    /* A view of the elements that the result is assigned to, in place of a result, with its strides in the domain;
     * NULL: there is none. */
    Array *target;
    Array *old; /* the elements before an update that is assigned afterwards; NULL: there is none */
    TargetLayout target_layout;
    int64_t target_strides[QS_MAX_RANK];
} Now;

/* -- the leaves ---------------------------------------------------------------------------------------------------- */
static const Array *array_at(const Now *now, int i) { return now->at[i].kind == QS_ARRAY ? now->at[i].u.p : NULL; }

/* Returns the dimension of an array that is dimension d of a domain of rank r; -1: none.  A vec is one row of a matrix,
 * and other arrays have further dimensions of extent 1. */
static int axis_of(const Array *a, int r, int d) {
    if (a->rank == 1 && r > 1) return d == 1 ? 0 : -1;
    return d < a->rank ? d : -1;
}

static int64_t extent_of(const Array *a, int r, int d) {
    int axis = axis_of(a, r, d);
    return axis < 0 ? 1 : a->dims[axis];
}

static bool has_dims(const Array *a, int rank, const int64_t *dims) {
    return a->rank == rank && !memcmp(a->dims, dims, (size_t)rank * sizeof *dims);
}

/* Finds the common shape; false: the shapes do not match, and the operators report the error. */
static bool common_shape(Now *now) {
    const Array *first = NULL, *a;
    int n = now->region->nleaves;
    now->flat = true;
    for (int i = 0; i < n; i++) {
        if (!(a = array_at(now, i))) continue;
        if (!qarr_aligned(a)) return false;
        if (!first) first = a, now->rank = a->rank, now->ndim = a->ndim;
        if (a->ndim > now->ndim) now->ndim = a->ndim;
        if (!a->contiguous || !has_dims(a, first->rank, first->dims)) now->flat = false;
        if (a->rank > now->rank) now->rank = a->rank;
    }
    if (!first) return false;
    now->count = 1;
    for (int d = 0; d < now->rank; d++) {
        now->dims[d] = 1;
        for (int i = 0; i < n; i++) {
            if (!(a = array_at(now, i))) continue;
            int64_t x = extent_of(a, now->rank, d);
            if (now->dims[d] == 1) now->dims[d] = x;
            else if (x != 1 && x != now->dims[d]) return false;
        }
        /* the extents belong to existing arrays, so the product cannot overflow before this test */
        now->count *= (size_t)now->dims[d];
        if (now->count > (size_t)1 << 46) return false;
    }
    return true;
}

/* Are all leaves numbers or arrays, and do integers fit the integer arrays beside them?  Otherwise the result is an
 * error or has a different type, which is left to the operators. */
static bool suits(const Now *now) {
    bool is_unsigned = false;
    for (int i = 0; i < now->region->nleaves; i++) {
        const Array *a = array_at(now, i);
        is_unsigned |= a && (a->dtype == QS_U32 || a->dtype == QS_U64);
    }
    for (int i = 0; i < now->region->nleaves; i++) {
        qs_value v = now->at[i];
        if (v.kind != QS_ARRAY && v.kind != QS_COMPLEX && !qval_is_number(v)) return false;
        if (v.kind == QS_INT && (v.u.i > INT32_MAX || v.u.i < (is_unsigned ? 0 : INT32_MIN))) return false;
    }
    return true;
}

/* A condition with one element selects one side as a whole, not by element. */
static bool no_single(const Now *now) {
    for (int i = 0; i < now->region->nleaves; i++)
        if (array_at(now, i) && array_at(now, i)->count == 1) return false;
    return true;
}

/* Returns whether two arrays are views of the same elements. */
static bool have_same_elements(const Array *a, const Array *b) {
    return a->buf == b->buf && a->offset == b->offset && a->dtype == b->dtype && qarr_same_shape(a, b) &&
           !memcmp(a->strides, b->strides, (size_t)a->rank * sizeof *a->strides);
}

/* Finds an earlier leaf with the same array: it is read once, and has one adjoint. */
static uint8_t same_before(const Now *now, int i) {
    const Array *a = array_at(now, i), *b;
    for (int k = 0; k < i && a; k++) {
        if (!(b = array_at(now, k)) || now->same[k]) continue;
        if (a == b || (!now->recorded && have_same_elements(a, b))) return (uint8_t)(k + 1);
    }
    return 0;
}

/* Returns how the array is read in a domain of now->rank dimensions. */
static LeafLayout layout_in_domain(const Now *now, const Array *a) {
    LeafLayout l = {0, 0};
    for (int d = 0; d < now->rank; d++)
        if (extent_of(a, now->whole, now->axis[d]) == 1) l.fixed |= (uint8_t)(1 << d);
    int last = axis_of(a, now->whole, now->axis[now->rank - 1]);
    l.unit = !(l.fixed >> (now->rank - 1) & 1) && a->strides[last] == 1;
    return l;
}

/* Numbers the dimensions of the domain.  For a reduction of all elements those of extent 1 are left out. */
static void examine_layouts(Now *now) {
    memset(now->layout, 0, sizeof now->layout);
    int n = 0;
    now->whole = now->rank;
    for (int d = 0; d < now->whole; d++)
        if (!now->region->reduction || now->flat || now->dims[d] != 1 || (!n && d + 1 == now->whole))
            now->dims[n] = now->dims[d], now->axis[n++] = d;
    now->rank = n;
    for (int i = 0; i < now->region->nleaves && !now->flat; i++)
        if (array_at(now, i)) now->layout[i] = layout_in_domain(now, array_at(now, i));
}

/* Reductions along a dimension are computed line by line. */
static bool examine_rows(Now *now) {
    int axis = now->region->axis;
    if (now->rank == 1) now->dims[1] = now->dims[0], now->dims[0] = 1, now->rank = 2;
    now->flat = false, now->no_rows = !now->recorded && now->count;
    if (axis >= now->rank || now->rank > LINES_RANK || now->dims[axis] <= 1 || !now->count) return false;
    int64_t n = now->dims[axis];
    bool rows = axis == now->rank - 1;
    now->ordered = !rows || n < SHORT_ROW, now->extent = n <= KNOWN_LINE ? n : 0;
    /* derivatives are those of single operators; the threads share rows, so few long ones are left to the operators */
    bool few = now->count / (size_t)n < FEW_ROWS && now->count > LONG_ROWS;
    size_t times = now->region->rows > 1 ? 2 : 1;
    bool far = !rows && n >= SHORT_ROW && ((size_t)n > LONG_LINE * times || now->count > LARGE * times);
    if (!few && !far) now->no_rows = false;
    return !now->recorded && !few && !far;
}

/* A masked assignment writes to leaf 0; other masked regions are reductions. */
static bool assigns(const FuseRegion *r) { return r->mask && !r->reduction; }

/* Returns whether the region updates elements of an array, x op= root, where leaf 0 has the old elements. */
static bool updates_elements(const FuseRegion *r) { return r->updates && !r->mask; }

/* Only numbers are outside of x[mask].  A masked assignment writes to a contiguous array that shares no elements with
 * others. */
static bool examine_masked(const Now *now) {
    const FuseRegion *r = now->region;
    const Array *y = assigns(r) ? array_at(now, 0) : NULL, *a;
    bool masks = false; /* otherwise the index is a number */
    if (!y == assigns(r) || !now->flat || qtape_is_on(now->run.vm)) return false;
    for (int i = y ? 1 : 0; i < r->nleaves; i++) {
        a = array_at(now, i);
        masks = masks || (a && !(r->beside >> i & 1));
        if (a && (r->beside >> i & 1 || (y && a != y && qarr_overlap(y, a)))) return false;
    }
    return masks;
}

/* Sets the shape of an item from those of the arrays from .. to-1 and of the earlier items that it reads.  Returns the
 * number of its elements. */
static size_t find_shape(Now *now, int from, int to, uint32_t uses, int64_t (*dims)[QS_MAX_RANK], int item) {
    size_t count = 1;
    now->item_ndim[item] = 0;
    for (int i = from; i < to; i++)
        if (array_at(now, i) && array_at(now, i)->ndim > now->item_ndim[item])
            now->item_ndim[item] = array_at(now, i)->ndim;
    for (int i = 0; i < item; i++)
        if (uses >> i & 1 && now->item_ndim[i] > now->item_ndim[item]) now->item_ndim[item] = now->item_ndim[i];
    for (int d = 0; d < now->rank; d++) {
        int64_t *x = &dims[item][d];
        *x = 1;
        for (int i = from; i < to; i++)
            if (array_at(now, i) && *x == 1) *x = extent_of(array_at(now, i), now->rank, d);
        for (int i = 0; i < item; i++)
            if (uses >> i & 1 && *x == 1) *x = dims[i][d];
        count *= (size_t)*x;
    }
    return count;
}

/* Returns whether the array of a leaf shares elements with another operand of the statements.  An operand that is read
 * from the same register is the same array before the statement that changes it, and its value after that. */
static bool is_shared(const Now *now, int leaf) {
    const FuseRegion *r = now->region;
    const Array *a = array_at(now, leaf);
    for (int i = 0; i < r->nleaves; i++)
        if (r->regs[i] != r->regs[leaf] && array_at(now, i) && qarr_overlap(a, array_at(now, i))) return true;
    for (int i = 0; i < r->ninputs; i++) {
        qs_value v = now->f->base[r->inputs[i]];
        if (r->inputs[i] != r->regs[leaf] && v.kind == QS_ARRAY && qarr_overlap(a, qval_array(v))) return true;
    }
    return false;
}

/* Whether an expression has the shape of the domain.  full: a bit for each item that has it, others are
 * numbers. */
typedef struct {
    const Now *now;
    int nitems; /* items that the expression may read */
    uint32_t full;
    bool is_full, elements; /* elements: a base of x[mask] has another shape */
} ShapeSearch;

static void search_full(void *ud, Node **child) {
    ShapeSearch *s = ud;
    const FuseRegion *r = s->now->region;
    int item = qfuse_item_of(r->items, s->nitems, *child);
    for (int i = 0; i < r->nleaves && item < 0; i++)
        if (r->leaves[i] == *child) {
            const Array *a = array_at(s->now, i);
            s->is_full = s->is_full || (a && has_dims(a, s->now->rank, s->now->dims));
            return;
        }
    if (item >= 0) s->is_full = s->is_full || s->full >> item & 1;
    else qast_children(*child, search_full, s);
}

static bool is_full(const Now *now, Node *n, int nitems, uint32_t full) {
    ShapeSearch s = {now, nitems, full, false, false};
    return search_full(&s, &n), s.is_full;
}

/* Looks for an x[mask] whose x has another shape than the domain. */
static void search_elements(void *ud, Node **child) {
    ShapeSearch *s = ud;
    if ((*child)->kind != N_INDEX) qast_children(*child, search_elements, s);
    else if (!is_full(s->now, (*child)->u.index.base, s->nitems, s->full)) s->elements = true;
}

/* Returns whether an assignment by a mask has a mask and elements of the shape of the array.  An array of another rank
 * with as many elements may have that shape or not. */
static bool masks_all(const Now *now, int item, uint32_t full) {
    const FuseItem *i = &now->region->items[item];
    ShapeSearch s = {now, item, full, false, false};
    Node *root = i->root;
    const Array *a;
    if (now->flat) return true;
    for (int k = 0; k < now->region->nleaves; k++)
        if ((a = array_at(now, k)) && a->count == now->count && a->rank != now->rank) return false;
    search_elements(&s, &root);
    return is_full(now, i->mask, item, full) && !s.elements;
}

/* An array that a statement changes is contiguous and has no elements in common with others.  Only numbers are outside
 * of x[mask]. */
static bool examine_changes(const Now *now, uint32_t full) {
    const FuseRegion *r = now->region;
    for (int i = 0; i < r->nitems; i++) {
        const FuseItem *s = &r->items[i];
        const Array *a = s->array ? array_at(now, s->target) : NULL;
        if (!s->array) continue;
        if (!a || !a->contiguous || a->count != now->count || is_shared(now, s->target)) return false;
        if (s->mask ? !masks_all(now, i, full) : a->dtype != QS_F32 && a->dtype != QS_F64) return false;
    }
    for (int i = 0; i < r->nleaves; i++)
        if (r->beside >> i & 1 && array_at(now, i)) return false;
    return !qtape_is_on(now->run.vm);
}

/* Each statement of a group has the shape of the domain, or it is a number that is not stored.  A smaller array would
 * be computed again for each position. */
static bool examine_items(Now *now) {
    const FuseRegion *r = now->region;
    int64_t dims[FUSE_ITEMS + 1][QS_MAX_RANK];
    uint32_t full = 0;
    for (int i = 0; i < r->nitems + (r->root != NULL); i++) {
        const FuseItem *item = i < r->nitems ? &r->items[i] : NULL;
        int from = item ? item->first : r->first, to = i + 1 < r->nitems ? item[1].first
                                                       : i < r->nitems   ? r->first
                                                                         : r->nleaves;
        size_t count = find_shape(now, from, to, item ? item->uses : r->uses, dims, i);
        if (count != now->count && (count != 1 || !item || item->stored)) return false;
        full |= (uint32_t)(count == now->count) << i;
    }
    return !now->recorded && !(r->choice && r->rows) && (!r->changes || examine_changes(now, full));
}

static int cast_of(const FuseRegion *r, const Node *n) {
    for (int i = 0; i < r->ncasts; i++)
        if (r->casts[i] == n) return i;
    return -1;
}

/* Returns the element type of the array that a value shares with an operand, as real(x), and float(x) if x has floats;
 * ANY_TYPE: the operand is computed here; -1: the value is a new array, or a number. */
enum { ANY_TYPE = QS_NDTYPES };
static int operand_type(const Now *now, Node *n) {
    const FuseRegion *r = now->region;
    if (r->items && qfuse_item_of(r->items, r->nitems, n) >= 0) return ANY_TYPE;
    for (int i = 0; i < r->nleaves && n->kind == N_IDENT; i++)
        if (r->leaves[i] == n) return array_at(now, i) ? (int)array_at(now, i)->dtype : -1;
    if (n->kind != N_CALL || n->u.call.args.n != 1) return -1;
    int d = operand_type(now, n->u.call.args.at[0].value), cast = cast_of(r, n);
    if (d < 0) return -1;
    if (cast >= 0) return d == ANY_TYPE || d == r->cast_dtypes[cast] ? d : -1;
    const char *name = n->u.call.callee->kind == N_IDENT ? n->u.call.callee->u.ident.name->s : "";
    if (!strcmp(name, "float")) return d != ANY_TYPE && qdtype_is_int((qs_dtype)d) ? -1 : d;
    Elem e = kelem_find(name, 1);
    return e != EL__COUNT && kelem_is_itself(e, d != ANY_TYPE && qdtype_is_complex((qs_dtype)d)) ? d : -1;
}

/* Returns whether a value is an array of the program itself.  A kernel would copy it, which the program could see when
 * it changes an element. */
static bool is_operand(const Now *now, Node *n) { return n->kind == N_CALL && operand_type(now, n) >= 0; }

/* Returns whether a value that the program gets is an array that it has already. */
static bool gives_operand(const Now *now) {
    const FuseRegion *r = now->region;
    for (int i = 0; i < r->nitems; i++)
        if (r->items[i].stored && !r->items[i].array && is_operand(now, r->items[i].root)) return true;
    return r->root && !r->reduction && !r->mask && !r->updates && !r->stored && is_operand(now, r->root);
}

static bool examine_leaves(Now *now) {
    const FuseRegion *r = now->region;
    if (r->nleaves > LEAVES) return false;
    now->recorded = now->ordered = now->no_rows = false, now->extent = 0;
    memset(now->same, 0, sizeof now->same);
    for (int i = 0; i < r->nleaves; i++) {
        qs_value v = now->f->base[r->regs[i]];
        now->at[i] = qtape_plain(v);
        now->recorded = now->recorded || qtape_is_recorded(now->run.vm, v);
    }
    if (updates_elements(r)) now->at[0] = qarr_value(now->target);
    for (int i = 0; i < r->nleaves; i++) now->same[i] = same_before(now, i);
    if (!suits(now) || !common_shape(now) || (r->choice && !no_single(now))) return false;
    if (r->mask && !examine_masked(now)) return false;
    if (r->items && !examine_items(now)) return false;
    if ((r->rows && !examine_rows(now)) || gives_operand(now)) return false;
    examine_layouts(now);
    /* a loop over a row must be worth its beginning */
    bool shorts = r->reduction && !now->flat && now->rank > 1 && now->dims[now->rank - 1] < SHORT_INNER;
    return !shorts && !(r->reduction && !now->flat && (now->recorded || !now->count));
}

/* -- specializations ----------------------------------------------------------------------------------------------- */
static FuseState *state_of(qs_vm *vm, const Frame *f, FuseRegion *r) {
    if (r->machine) return r->machine;
    FuseState *s = r->machine = qmem_alloc(qvm_ctx(vm), sizeof *s);
    s->nops = r->nops + CALL * r->ncalls + 1;
    bool counts = r->mask && r->reduction && !strcmp(r->reduction, "numel");
    s->expr = (FuseExpr){.src = f->proto->func->unit->src,
                         .root = r->root,
                         .kind = counts         ? RED_sum
                                 : r->reduction ? kfuse_reduction(r->reduction, 1)
                                                : RED_NONE,
                         .counts = counts,
                         .leaves = r->leaves,
                         .nleaves = r->nleaves,
                         .casts = r->casts,
                         .cast_dtypes = r->cast_dtypes,
                         .ncasts = r->ncasts,
                         .nops = r->nops,
                         .rows = r->rows,
                         .axis = r->axis,
                         .mask = r->mask,
                         .updates = r->updates,
                         .op = r->op,
                         .items = r->items,
                         .nitems = r->nitems,
                         .fast_math = qvm(vm)->config.fast_math};
    return s;
}

void qfuse_free(qs_vm *vm, FuseRegion *r) {
    FuseState *s = r->machine;
    if (!s) return;
    qspec_free(vm, &s->forms);
    qmem_free(qvm_ctx(vm), s, sizeof *s);
    r->machine = NULL;
}

static FuseForm *find_form(const Now *now) {
    Site site = {now->f->fn, now->f->base};
    qs_value leaves[LEAVES];
    for (Specialization *at = now->state->forms.first; at; at = at->next) {
        FuseForm *v = (FuseForm *)at;
        bool fits = v->target.strided == now->target_layout.strided && v->target.unit == now->target_layout.unit &&
                    v->ordered == now->ordered && v->extent == now->extent && v->flat == now->flat &&
                    (v->flat || v->rank == now->rank) && !memcmp(v->same, now->same, sizeof v->same) &&
                    !memcmp(v->layout, now->layout, sizeof v->layout);
        if (fits && qspec_agrees(now->run.vm, at, &site, leaves)) return v;
    }
    return NULL;
}

static FuseLeafType leaf_type(qs_value v) {
    FuseLeafType t = {.array = v.kind == QS_ARRAY,
                      .weak_int = v.kind == QS_INT || v.kind == QS_BOOL,
                      .complex = v.kind == QS_COMPLEX};
    if (t.array) t.dtype = qval_array(v)->dtype;
    return t;
}

static qs_status build_version(const Now *now, int which) {
    FuseState *s = now->state;
    FuseForm *v = now->form;
    FuseLeafType types[LEAVES];
    for (int i = 0; i < now->region->nleaves; i++) {
        types[i] = leaf_type(now->at[i]), types[i].same = now->same[i];
        types[i].fixed = now->layout[i].fixed, types[i].unit = now->layout[i].unit;
    }
    s->expr.strided = v->target.strided, s->expr.unit = v->target.unit;
    s->expr.ordered = v->ordered, s->expr.extent = v->extent;
    s->expr.grouped = which == GROUPED, s->expr.adds = which == ADDED;
    TRY(kfuse_build(qvm_ctx(now->run.vm), &v->base.arena, &s->expr, types, v->flat, v->rank, &v->kernel[which]));
    return qspec_set(&v->base, which, v->kernel[which].func), QS_OK;
}

static const char *what_of(const Now *now) { return now->region->items ? "statements" : "expression"; }

static qs_status make_form(Now *now) {
    qs_vm *vm = now->run.vm;
    FuseForm *v = now->form = qspec_new(vm, &now->state->forms, sizeof *v, "");
    CapturedList *e = qmem_alloc(qvm_ctx(vm), sizeof *e);
    e->vm = vm, e->site = (Site){now->f->fn, now->f->base}, e->spec_kind = SPEC_EXPRESSION;
    for (int i = 0; i < now->region->nleaves; i++) qcaptured_add(e, FROM_LOCAL, -1, now->region->regs[i], NULL);
    qspec_enter(&v->base, e);
    qmem_free(qvm_ctx(vm), e, sizeof *e);
    v->target = now->target_layout;
    v->flat = now->flat, v->rank = now->rank, v->ordered = now->ordered, v->extent = now->extent;
    memcpy(v->same, now->same, sizeof v->same), memcpy(v->layout, now->layout, sizeof v->layout);
    TRY(build_version(now, CHUNKED));
    Where at = {now->state->expr.src, now->region->items ? now->region->items[0].root->pos : now->region->root->pos};
    if (v->kernel[CHUNKED].func)
        qreport_explain(vm, at, "%s: one kernel of %d operations", what_of(now), now->region->nops);
    else if (now->region->nguards) return QS_OK; /* the functions are reported where they run */
    else if (v->kernel[CHUNKED].why)
        qreport_explain(vm, (Where){at.src, v->kernel[CHUNKED].pos}, "%s: %s",
                        now->region->items ? "statements: one by one" : "expression: operator by operator",
                        v->kernel[CHUNKED].why);
    else qreport_explain(vm, at, "expression: operator by operator, for one of them is not compiled for these types");
    if (!v->kernel[CHUNKED].func || !qvm(vm)->config.compile_for || now->state->expr.kind == RED_NONE) return QS_OK;
    TRY(build_version(now, GROUPED)); /* ahead of time: GPUs run reductions with different code */
    return v->kernel[GROUPED].func ? qdevprog_compile_ahead(vm, v->kernel[GROUPED].func) : QS_OK;
}

/* -- parameters ---------------------------------------------------------------------------------------------------- */
static void bind_float(Binding *b, int i, double x) { qbind_number(b, i, (KSlot){.F64 = x}.bits, 8); }

static int bind_leaf_number(Binding *b, int i, qs_value v) {
    if (v.kind == QS_COMPLEX) {
        QComplexD z = qscalar_complex(v);
        return bind_float(b, i, z.re), bind_float(b, i + 1, z.im), 2;
    }
    if (v.kind == QS_NUM) bind_float(b, i, v.u.f);
    else qbind_number(b, i, (KSlot){.I64 = v.u.i}.bits, 8);
    return 1;
}

/* Binds an array with the extents of the domain; broadcast dimensions have stride 0. */
static void bind_leaf(Now *now, int i, Array *a) {
    DevArg *arg = qbind_array(&now->run.bound, i, a, assigns(now->region) && i == 0 ? QS_READWRITE : QS_READ);
    arg->rank = now->flat ? 1 : now->rank;
    for (int d = 0; d < arg->rank && !now->flat; d++) {
        arg->dims[d] = now->dims[d];
        int axis = axis_of(a, now->whole, now->axis[d]);
        arg->strides[d] = axis < 0 || a->dims[axis] == 1 ? 0 : a->strides[axis];
    }
    if (now->flat) arg->dims[0] = (int64_t)a->count, arg->strides[0] = 1;
}

static void bind_array(Now *now, int i, Array *a, int rank, const int64_t *dims, bool changed) {
    DevArg *arg = qbind_array(&now->run.bound, i, a, changed ? QS_READWRITE : QS_WRITE);
    arg->rank = rank;
    for (int d = rank - 1; d >= 0; d--) {
        arg->dims[d] = dims[d];
        arg->strides[d] = d == rank - 1 ? 1 : arg->strides[d + 1] * dims[d + 1];
    }
}

static void bind_result(Now *now, int i, int rank, const int64_t *dims) {
    bind_array(now, i, now->target ? now->target : now->result, rank, dims, now->target);
}

static void bind_target(Now *now, int i) {
    DevArg *arg = qbind_array(&now->run.bound, i, now->target, QS_READWRITE);
    arg->rank = now->rank;
    memcpy(arg->dims, now->dims, (size_t)now->rank * sizeof *arg->dims);
    memcpy(arg->strides, now->target_strides, (size_t)now->rank * sizeof *arg->strides);
}

/* Returns the extents of a result of a map. */
static const int64_t *result_dims(const Now *now, bool narrow, int64_t dims[QS_MAX_RANK]) {
    memcpy(dims, now->dims, sizeof now->dims);
    if (narrow) dims[now->region->axis] = 1;
    return dims;
}

static int bind_stored(Now *now, int n) {
    int64_t dims[QS_MAX_RANK];
    for (int i = 0; i < now->region->nitems; i++) {
        if (!now->stored[i]) continue;
        result_dims(now, now->form->kernel[CHUNKED].value[i].narrow, dims);
        bind_array(now, n++, now->stored[i], now->flat ? 1 : now->rank, now->flat ? now->run.launch.domain : dims,
                   now->region->items[i].array);
    }
    return n;
}

static qs_status bind_params(Run *run) {
    Now *now = (Now *)run;
    int n = 0;
    for (int i = 0; i < now->region->nleaves; i++) {
        qs_value given = now->f->base[now->region->regs[i]];
        if (now->same[i]) continue;
        run->bound.origin[n] = (Origin){given, 0}, run->bound.origin[n + 1] = (Origin){given, 1};
        if (now->at[i].kind != QS_ARRAY) n += bind_leaf_number(&run->bound, n, now->at[i]);
        else bind_leaf(now, n++, now->at[i].u.p);
    }
    now->nargs = n;
    if (now->region->rows)
        run->bound.origin[n] = (Origin){qs_nil(), 0},
        qbind_number(&run->bound, n++, (uint64_t)now->dims[now->region->axis], 8);
    if (now->state->expr.kind == RED_NONE && !assigns(now->region)) {
        int64_t dims[QS_MAX_RANK];
        n = bind_stored(now, n);
        if (!now->region->root) return QS_OK;
        result_dims(now, now->form->kernel[CHUNKED].narrow, dims);
        if (now->target && !now->flat) bind_target(now, n);
        else bind_result(now, n, now->flat ? 1 : now->rank, now->flat ? run->launch.domain : dims);
    }
    return QS_OK;
}

/* Distributes the elements to the positions of the launch; returns the number of partial results. */
static int64_t share_out(Now *now) {
    int64_t n = (int64_t)now->count, nparts;
    Launch *l = &now->run.launch;
    l->rank = 1, l->any_block = false, l->block[0] = now->run.which == GROUPED ? FUSE_GROUP : 1;
    if (now->run.which == GROUPED) {
        nparts = (n - 1) / (8 * FUSE_GROUP) + 1; /* another block is added for each eight elements per position */
        if (nparts > BLOCKS) nparts = BLOCKS;
        l->domain[0] = now->chunk = nparts * FUSE_GROUP;
        return nparts;
    }
    int64_t least = CHUNK_LEAST;
    if (!now->flat) n = now->dims[0], least = CHUNK_LEAST / ((int64_t)now->count / n) + 1;
    now->chunk = n / CHUNKS + 1 > least ? n / CHUNKS + 1 : least;
    return l->domain[0] = (n + now->chunk - 1) / now->chunk;
}

static qs_status fit_reduction(Run *run) {
    Now *now = (Now *)run;
    qs_vm *vm = run->vm;
    run->which = run->device->wide ? GROUPED : CHUNKED;
    if (!now->form->kernel[run->which].func) TRY(build_version(now, run->which));
    if (!qlaunch_func(run)) return qerr_set(qvm_ctx(vm), QS_EDEVICE, "its blocks cannot be merged there");
    int64_t nparts = share_out(now);
    if (now->result) qarr_release(vm, now->result), now->result = NULL; /* from a previous attempt */
    if (now->region->mask) nparts *= 2;
    TRY(qarr_new(vm, now->form->kernel[run->which].dtype, 1, &nparts, false, &now->result));
    for (int i = now->nargs; i < now->nargs + 2; i++) run->bound.origin[i] = (Origin){qs_nil(), 0};
    qbind_number(&run->bound, now->nargs, (uint64_t)now->chunk, 8);
    qbind_number(&run->bound, now->nargs + 1, now->flat ? now->count : (uint64_t)now->dims[0], 8);
    bind_result(now, now->nargs + 2, 1, &nparts);
    return QS_OK;
}

/* -- results ------------------------------------------------------------------------------------------------------- */
/* Is the array referenced only once, so that its memory can be reused for the result? */
static bool ours(const Array *a, qs_dtype d) {
    return a->dtype == d && a->hdr.refs == 1 && a->hdr.flags == 0 && a->contiguous && a->buf->home < 0 &&
           !qbuf_shared(a->buf);
}

static Array *own(Array *a) { return a->hdr.refs++, a; }

/* Returns an array whose memory can hold the result: an operand that is released after the expression, because each
 * position reads its element before it writes it, or the old value of the result variable.  NULL: none. */
static Array *spare(const Now *now) {
    const FuseRegion *r = now->region;
    if (now->recorded) return NULL; /* its contents may be needed by the gradient */
    qs_value old = now->f->base[r->dst];
    qs_dtype d = now->form->kernel[CHUNKED].dtype;
    for (int i = 0; now->flat && i < r->nleaves; i++) {
        bool goes = r->regs[i] >= now->f->proto->chunk.ntemp || r->regs[i] == r->dst;
        if (goes && array_at(now, i) && ours(array_at(now, i), d)) return own(now->at[i].u.p);
    }
    if (old.kind != QS_ARRAY || !ours(qval_array(old), d)) return NULL;
    for (int i = 0; i < r->nleaves; i++)
        if (r->regs[i] == r->dst) return NULL; /* it is a leaf, and is read in a different order */
    return has_dims(qval_array(old), now->rank, now->dims) ? own(qval_array(old)) : NULL;
}

static qs_status begin_map(Now *now) {
    Launch *l = &now->run.launch;
    const FuseKernel *k = &now->form->kernel[CHUNKED];
    bool rows = now->region->rows;
    l->rank = now->flat ? 1 : now->rank - rows, l->any_block = !rows || now->ordered;
    for (int d = 0; d < l->rank; d++) l->domain[d] = now->dims[d + (rows && d >= now->region->axis)], l->block[d] = 1;
    if (now->flat) l->domain[0] = (int64_t)now->count;
    int64_t dims[QS_MAX_RANK];
    for (int i = 0; i < now->region->nitems; i++) {
        const FuseItem *s = &now->region->items[i];
        if (s->stored && s->array) now->stored[i] = own(now->at[s->target].u.p);
        if (!s->stored || s->array) continue;
        result_dims(now, k->value[i].narrow, dims);
        TRY(qarr_new(now->run.vm, k->value[i].dtype, now->rank, dims, false, &now->stored[i]));
        qarr_keep(now->stored[i], now->item_ndim[i]);
    }
    if (assigns(now->region) || now->target || !now->region->root) return QS_OK;
    now->result = k->narrow || now->region->items ? NULL : spare(now);
    result_dims(now, k->narrow, dims);
    if (!now->result) TRY(qarr_new(now->run.vm, k->dtype, now->rank, dims, false, &now->result));
    return qarr_keep(now->result, now->region->items ? now->item_ndim[now->region->nitems] : now->ndim), QS_OK;
}

static double merge_two(Reduce kind, double a, double b) {
    return kind == RED_min ? ksem_MIN_F64(a, b) : kind == RED_max ? ksem_MAX_F64(a, b) : a + b;
}

static double part_at(const Now *now, const void *p, size_t i) {
    qs_dtype d = now->form->kernel[now->run.which].dtype;
    return qdtype_get(d, (const char *)p + i * qdtype_size(d));
}

/* Returns how many elements the reduction has had. */
static double elements_reduced(const Now *now, const void *p) {
    double n = 0;
    if (!now->region->mask) return (double)now->count;
    for (size_t i = 1; i < now->result->count; i += 2) n += part_at(now, p, i);
    return n;
}

/* Merges the partial results pairwise, so that the rounding error of a sum is that of its blocks.  out nil: a mask has
 * selected no elements. */
static qs_status merge_parts(const Now *now, qs_value *out) {
    const FuseKernel *k = &now->form->kernel[now->run.which];
    Reduce kind = now->state->expr.kind;
    size_t step = now->region->mask ? 2 : 1, count = now->result->count / step;
    const void *p;
    TRY(qarr_read(now->run.vm, now->result, &p));
    double n = elements_reduced(now, p);
    if (!(n > 0)) return QS_OK;
    if (k->dtype == QS_I64) {
        int64_t sum = 0;
        for (size_t i = 0; i < count; i++) sum += ((const int64_t *)p)[i * step];
        *out = now->state->expr.counts ? qs_num(n) : k->integral ? qs_int(sum) : qs_num((double)sum);
        return QS_OK;
    }
    double x[PARTS];
    for (size_t i = 0; i < count; i++) x[i] = part_at(now, p, i * step);
    for (size_t m = count; m > 1; m = (m + 1) / 2)
        for (size_t i = 0; i < m / 2; i++) x[i] = merge_two(kind, x[i], x[m - 1 - i]);
    *out = qs_num(qreduction_info[kind].finish == FINISH_MEAN ? x[0] / n : x[0]);
    return QS_OK;
}

/* -- derivatives --------------------------------------------------------------------------------------------------- */
/* Records a sum.  Partial results are not script values, so the recorded code adds each element at its position.  It
 * has the same derivative and never runs. */
static qs_status record_sum(Now *now, qs_value *result) {
    Run *r = &now->run;
    bool mean = qreduction_info[now->state->expr.kind].finish == FINISH_MEAN;
    if (!now->form->kernel[ADDED].func) TRY(build_version(now, ADDED));
    if (!now->form->kernel[ADDED].func) return QS_OK; /* a sum of integers */
    qs_value sum = qs_num(mean ? qval_number(*result) * (double)now->count : qval_number(*result));
    r->which = ADDED, r->bound.nlocked = 0, r->unrecorded = false;
    r->launch = (Launch){.rank = 1, .domain = {(int64_t)now->count}, .block = {1}, .any_block = true};
    TRY(bind_params(r));
    DevArg *arg = &r->bound.arg[now->nargs];
    r->bound.array[now->nargs] = NULL;
    *arg = (DevArg){.is_array = true, .rank = 1, .dims = {1}, .strides = {1}};
    TRY(qrecord_begin(r));
    TRY(qrecord_end(r, 1, &(Extracted){now->nargs, 0, &sum}));
    if (!mean) return *result = sum, QS_OK;
    qs_status s = qelementwise_record(r->vm, EL_div, 2, (qs_value[]){sum, qs_num((double)now->count)}, result);
    return qval_release(r->vm, sum), s;
}

/* -- assignments to parts of arrays -------------------------------------------------------------------------------- */
/* Returns whether the view has the shape of the domain but for extents of 1, and sets its strides there. */
static bool fits_domain(Now *now, const Array *view) {
    int k = 0;
    int64_t next = 1;
    bool contiguous = true;
    for (int d = 0; d < now->rank; d++) {
        while (k < view->rank && view->dims[k] == 1) k++;
        now->target_strides[d] = 0;
        if (now->dims[d] == 1) continue;
        if (k == view->rank || view->dims[k] != now->dims[d]) return false;
        now->target_strides[d] = view->strides[k++];
    }
    while (k < view->rank && view->dims[k] == 1) k++;
    for (int d = now->rank - 1; d >= 0; d--) {
        contiguous = contiguous && (now->dims[d] == 1 || now->target_strides[d] == next);
        if (now->dims[d] == 1) now->target_strides[d] = next;
        next *= now->dims[d];
    }
    now->target_layout = (TargetLayout){!contiguous, !contiguous && now->target_strides[now->rank - 1] == 1};
    return k == view->rank;
}

/* Returns whether each position reads no element of the view but its own: an array that overlaps the view is the view,
 * and not stretched along a dimension. */
static bool reads_own(const Now *now, const Array *view) {
    for (int i = 0; i < now->region->nleaves; i++) {
        const Array *a = array_at(now, i);
        if (!a || !qarr_overlap(a, view)) continue;
        if (a->buf != view->buf || a->offset != view->offset || a->dtype != view->dtype) return false;
        for (int d = 0; d < now->rank; d++) {
            int axis = axis_of(a, now->rank, d);
            if (now->dims[d] == 1) continue;
            if (axis < 0 || a->dims[axis] != now->dims[d] || a->strides[axis] != now->target_strides[d]) return false;
        }
    }
    return true;
}

static void drop_target(Now *now) {
    if (now->target) qarr_release(now->run.vm, now->target);
    if (now->old) qarr_release(now->run.vm, now->old);
    now->old = now->target = NULL, now->target_layout = (TargetLayout){false, false};
}

/* Finds the elements that the region assigns to, if the kernel may write there: the assignment after it would convert
 * the values, report errors, or need the values before any element changes. */
static qs_status find_target(Now *now) {
    Array *view = now->target;
    if (!now->region->stored || now->recorded || qtape_is_on(now->run.vm)) return drop_target(now), QS_OK;
    if (!view) TRY(qstep_target(now->run.vm, now->f, now->region, &view));
    if (!view) return QS_OK;
    now->target = view;
    if (!qarr_aligned(view) || !fits_domain(now, view)) return drop_target(now), QS_OK;
    if (!reads_own(now, view)) {
        bool later = updates_elements(now->region) && now->region->nat;
        if (later) now->target = NULL;
        drop_target(now);
        return now->old = later ? view : NULL, QS_OK;
    }
    if (now->flat && now->target_layout.strided) now->flat = false, examine_layouts(now);
    return qarr_touch(now->run.vm, qval_array(now->f->base[now->region->base]));
}

/* The values of statements that change arrays have the types of these. */
static qs_status prepare_changes(Now *now) {
    for (int i = 0; i < now->region->nitems && now->form; i++) {
        const FuseItem *s = &now->region->items[i];
        if (!s->array || !s->stored) continue;
        if (now->form->kernel[CHUNKED].value[i].dtype != array_at(now, s->target)->dtype) now->form = NULL;
        TRY(qarr_touch(now->run.vm, now->at[s->target].u.p));
    }
    return QS_OK;
}

/* Finds the kernel; one whose elements have another type than those assigned to makes a result of its own. */
static qs_status prepare_form(Now *now);
static qs_status prepare_target(Now *now) {
    bool updates = updates_elements(now->region);
    TRY(find_target(now));
    if (updates && !now->target && !now->old) return now->form = NULL, QS_OK;
    TRY(prepare_form(now));
    if (now->form && now->region->changes) TRY(prepare_changes(now));
    const Array *changed = now->old ? now->old : now->target;
    if (!changed || !now->form || now->form->kernel[CHUNKED].dtype == changed->dtype) return QS_OK;
    if (updates) return now->form = NULL, QS_OK;
    drop_target(now);
    examine_leaves(now);
    return prepare_form(now);
}

/* -- the decision -------------------------------------------------------------------------------------------------- */
/* Leaves the expression to the operators after a compilation or load error, but not after interrupts and async
 * errors. */
static qs_status give_up(qs_vm *vm) {
    const ErrorState *e = &qvm_ctx(vm)->err;
    if (e->status == QS_EINTERRUPT || e->late) return e->status;
    return qerr_clear(qvm_ctx(vm)), QS_OK;
}

/* Would the operators have to copy an array back from the device first? */
static bool is_away(const Now *now) {
    for (int i = 0; i < now->region->nleaves; i++)
        if (array_at(now, i) && qbuf_is_away(array_at(now, i)->buf)) return true;
    return false;
}

static bool at_once(qs_vm *vm) { return qvm(vm)->fuse_least <= 1; }

/* A compiled program contains code from a run in which every expression was compiled.  It has kernels for single
 * operators and their derivatives only if that run left the expression to the operators. */
static bool pays(const Now *now) {
    qs_vm *vm = now->run.vm;
    bool made = qvm(vm)->config.compile_for || qprebuilt_is_program(vm);
    return made || now->state->work >= worth_compiling || at_once(vm) || is_away(now);
}

/* Finds or makes the specialization for the current leaves; now->form NULL: not worthwhile, or declined. */
static qs_status prepare_form(Now *now) {
    FuseState *s = now->state;
    Device *d;
    now->form = NULL;
    s->work += (double)now->count * s->nops * (now->recorded ? 4 : 1);
    if (!s->forms.n && !pays(now)) return now->region->wasted = now->region->wait = 0, QS_OK;
    TRY(qdevices_current(now->run.vm, &d));
    /* the evaluator is slower than the operators' loops */
    if (d->ops->code == CODE_KIR && !at_once(now->run.vm)) return QS_OK;
    now->form = find_form(now);
    if (!now->form && !pays(now)) return QS_OK;
    if (!now->form) TRY(make_form(now));
    if (!now->form->kernel[CHUNKED].func) now->form = NULL;
    return QS_OK;
}

static qs_status run_form(Now *now) {
    Run *r = &now->run;
    bool map = now->state->expr.kind == RED_NONE;
    r->form = &now->form->base, r->which = CHUNKED, r->optional = true, r->device = NULL, r->chosen = false;
    r->bind = bind_params, r->fit = map ? NULL : fit_reduction,
    r->unrecorded = !map || assigns(now->region) || now->target, r->late = false;
    r->positions = (double)now->count, r->steps = r->positions * now->state->nops;
    return qlaunch_run(r);
}

/* After an interrupt, the memory of the result variable may be partly overwritten: the variable is cleared. */
static void forget_half(Now *now) {
    qs_value *dst = &now->f->base[now->region->dst];
    bool written = now->result && dst->kind == QS_ARRAY && qval_array(*dst) == now->result;
    if (written && now->run.launched) qinterp_clear(now->run.vm, dst);
}

/* Handles a failed launch; code that the device refused is not requested again. */
static qs_status handle_failure(Now *now, qs_status s) {
    if (s == QS_EINTERRUPT || now->run.launched) return s;
    if (!now->run.loaded && s == QS_EDEVICE) now->form->kernel[CHUNKED].func = NULL; /* permanent failure */
    return give_up(now->run.vm);
}

/* Reports once that reductions along this dimension are left to the operators. */
static void explain_no_rows(Now *now) {
    FuseState *s = now->state;
    if (s->reported || now->recorded) return;
    s->reported = true;
    qreport_explain(
        now->run.vm, (Where){s->expr.src, s->expr.root->pos},
        "expression: its parts one by one, because reductions along dimension %d of arrays of this shape are faster "
        "alone: only a dimension that is the last one, short, or one of a small array is reduced inside an expression",
        now->region->axis);
}

static void put_stored(Now *now) {
    for (int i = 0; i < now->region->nitems; i++) {
        if (now->stored[i])
            qinterp_put(now->run.vm, &now->f->base[now->region->items[i].dst], qarr_value(now->stored[i]));
        now->stored[i] = NULL;
    }
}

static void release_results(Now *now) {
    for (int i = 0; i < now->region->nitems; i++)
        if (now->stored[i]) qarr_release(now->run.vm, now->stored[i]);
    if (now->result) qarr_release(now->run.vm, now->result);
    drop_target(now);
}

/* Returns whether the functions whose calls are part of the region are still the same. */
static bool guards_hold(qs_vm *vm, const Frame *f, const FuseRegion *r) {
    for (int i = 0; i < r->nguards; i++) {
        const FuseGuard *g = &r->guards[i];
        qs_value v = g->slot >= 0 ? *qvm_global(vm, (uint64_t)g->slot) : f->base[g->reg], a, b;
        const Function *fn = v.kind == QS_FUNCTION ? v.u.p : NULL;
        if (!fn || fn->fkind != FN_SCRIPT || fn->ast->id != g->id) return false;
        if (g->capture < 0) continue;
        a = fn->captures[g->capture], b = f->base[g->outer];
        if (a.kind != b.kind || a.aux != b.aux || a.u.i != b.u.i) return false;
    }
    return true;
}

qs_status qfuse_region(qs_vm *vm, Frame *f, FuseRegion *r, bool *done) {
    enum { MOST_WASTED = 10 };
    Now now;
    qs_value result = qs_nil();
    *done = false;
    now.target = now.old = NULL, now.target_layout = (TargetLayout){false, false};
    if (r->items) r->wait = 1u << r->wasted, r->wasted += r->wasted < MOST_WASTED;
    if (!guards_hold(vm, f, r)) return QS_OK;
    memset(now.stored, 0, sizeof now.stored);
    now.run.vm = vm, now.f = f, now.region = r, now.result = NULL, now.count = 0, now.rank = 2, now.no_rows = false;
    if (updates_elements(r)) {
        TRY(qstep_target(vm, f, r, &now.target));
        bool is_float = now.target && (now.target->dtype == QS_F32 || now.target->dtype == QS_F64);
        if (!is_float) return drop_target(&now), QS_OK;
    }
    bool fits = examine_leaves(&now), is_large = now.count >= qvm(vm)->fuse_least;
    if (!is_large || (!fits && !now.no_rows)) return drop_target(&now), QS_OK;
    now.state = state_of(vm, f, r);
    if (now.no_rows) return explain_no_rows(&now), QS_OK;
    bool extreme = qreduction_is_extreme(now.state->expr.kind);
    /* the built-in function has a derivative rule that finds the selected element */
    if (now.recorded && extreme) return QS_OK;
    qs_status prepared = prepare_target(&now);
    if (prepared != QS_OK || !now.form) {
        drop_target(&now);
        return prepared != QS_OK ? give_up(vm) : QS_OK;
    }
    qs_status s = now.state->expr.kind == RED_NONE ? begin_map(&now) : QS_OK;
    if (s != QS_OK) return release_results(&now), s;
    s = run_form(&now);
    if (s == QS_OK && now.state->expr.kind != RED_NONE) {
        s = merge_parts(&now, &result);
        if (s == QS_OK && result.kind == QS_NIL) now.run.launched = false; /* the built-in function handles none */
        if (s == QS_OK && now.recorded) s = record_sum(&now, &result);
    } else if (s == QS_OK && !assigns(r) && !now.target && r->root) {
        s = qrecord_end(&now.run, 0, NULL);
        if (s == QS_OK) result = qarr_value(now.result), now.result = NULL;
    } else if (s != QS_OK) s = handle_failure(&now, s);
    if (s == QS_EINTERRUPT) forget_half(&now);
    bool stored = now.target != NULL;
    if (s == QS_OK && now.run.launched) put_stored(&now);
    release_results(&now);
    if (s != QS_OK || !now.run.launched) return s;
    r->wait = r->wasted = 0;
    for (int i = 0; i < r->nleaves; i++)
        if (r->regs[i] >= f->proto->chunk.ntemp) qinterp_clear(vm, &f->base[r->regs[i]]);
    for (int i = 0; stored && i < r->nat; i++)
        if ((uint32_t)(r->at + i) >= f->proto->chunk.ntemp) qinterp_clear(vm, &f->base[r->at + i]);
    if (!assigns(r) && !stored && r->root) qinterp_put(vm, &f->base[r->dst], result);
    f->pc = f->proto->chunk.code + (stored ? r->stored : r->end);
    *done = true;
    return QS_OK;
}

qs_status qfuse_at(qs_vm *vm, Frame *f, uint32_t pc, bool *done) {
    Chunk *c = &f->proto->chunk;
    *done = false;
    for (uint32_t i = 0; i < c->nfuses && !*done; i++) /* the branches of ?: are regions inside a region */
        if (pc >= c->fuses[i].start && pc < c->fuses[i].end && !c->fuses[i].mask)
            TRY(qfuse_region(vm, f, &c->fuses[i], done));
    return QS_OK;
}
