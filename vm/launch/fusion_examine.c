/* fusion_examine.c -- decides whether the values of a fuse region's leaves suit one kernel, and how it accesses them.
 *
 * A kernel runs at each position of a domain, whose shape is the common one of the leaves.  Smaller leaves are repeated
 * along dimensions (FuseLayout.fixed).  The checks differ by what the region does:
 *
 *     an elementwise expression      the operators would give a new array of the same type
 *     reductions along a dimension   the kernel computes them line by line, faster than the operators would
 *     a masked assignment            the array that changes shares no elements with others
 *     several statements             each has the shape of the domain, or is a number that only the others read
 *     x[…] = …, x[…] op= …           the kernel may write to the elements of x (the target) instead of a new array
 *
 * The interpreter's result is the rule: where a kernel could differ from it, even in which arrays share memory, the
 * answer is no. */
#include "vm/launch/fusion.h"

#include "lang/kernel/elem/elem.h"
#include "vm/array/operand.h"
#include "vm/value/trace.h"

/* Rows are long from LONG_ROWS elements on; fewer than FEW_ROWS do not keep the threads busy. */
enum { FEW_ROWS = 8, LONG_ROWS = 1 << 20 };

/* Rows below SHORT_ROW elements, and lines along another dimension than the last one, are computed side by side, with
 * sums in the order of the host (reduce.c).  The number of elements of a line up to KNOWN_LINE is compiled in.  Long
 * lines whose elements are far apart would leave the caches before their neighbours are computed, which the loops of
 * the host avoid: LONG_LINE is the limit of a line, LARGE of all elements.  With several reductions, which read the
 * elements as often, the limits are twice as high. */
enum { SHORT_INNER = 8, SHORT_ROW = 32, KNOWN_LINE = 8, LONG_LINE = 2048, LARGE = 1 << 22, LINES_RANK = 3 };

/* -- shapes and layouts -------------------------------------------------------------------------------------------- */
int qfuse_axis_of(const Array *a, int r, int d) {
    if (a->rank == 1 && r > 1) return d == 1 ? 0 : -1;
    return d < a->rank ? d : -1;
}

static int64_t extent_of(const Array *a, int r, int d) {
    int axis = qfuse_axis_of(a, r, d);
    return axis < 0 ? 1 : a->dims[axis];
}

/* Finds the common shape; false: the shapes do not match, and the operators report the error. */
static bool common_shape(FuseRun *now) {
    const Array *first = NULL, *a;
    int n = now->region->nleaves;
    now->flat = true;
    for (int i = 0; i < n; i++) {
        if (!(a = qfuse_array(now, i))) continue;
        if (!qarr_aligned(a)) return false;
        if (!first) first = a, now->rank = a->rank, now->ndim = a->ndim;
        if (a->ndim > now->ndim) now->ndim = a->ndim;
        if (!a->contiguous || !qfuse_has_dims(a, first->rank, first->dims)) now->flat = false;
        if (qfuse_shift_of(now->region, i) >= 0) now->flat = false;
        if (a->rank > now->rank) now->rank = a->rank;
    }
    if (!first) return false;
    now->count = 1;
    for (int d = 0; d < now->rank; d++) {
        now->dims[d] = 1;
        for (int i = 0; i < n; i++) {
            if (!(a = qfuse_array(now, i))) continue;
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
static bool suits(const FuseRun *now) {
    bool is_unsigned = false;
    for (int i = 0; i < now->region->nleaves; i++) {
        const Array *a = qfuse_array(now, i);
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
static bool no_single(const FuseRun *now) {
    for (int i = 0; i < now->region->nleaves; i++)
        if (qfuse_array(now, i) && qfuse_array(now, i)->count == 1) return false;
    return true;
}

/* Returns whether two arrays are views of the same elements. */
static bool have_same_elements(const Array *a, const Array *b) {
    return a->buf == b->buf && a->offset == b->offset && a->dtype == b->dtype && qarr_same_shape(a, b) &&
           !memcmp(a->strides, b->strides, (size_t)a->rank * sizeof *a->strides);
}

/* Returns whether two leaves are shifted alike, or none of them. */
static bool are_shifted_alike(const FuseRun *now, int i, int k) {
    int a = qfuse_shift_of(now->region, i), b = qfuse_shift_of(now->region, k);
    return a < 0 || b < 0 ? a == b : !memcmp(now->cut[a], now->cut[b], sizeof now->cut[a]);
}

/* Finds an earlier leaf with the same array: it is read once, and has one adjoint. */
static uint8_t same_before(const FuseRun *now, int i) {
    const Array *a = qfuse_array(now, i), *b;
    for (int k = 0; k < i && a; k++) {
        if (!(b = qfuse_array(now, k)) || now->same[k] || !are_shifted_alike(now, i, k)) continue;
        if (a == b || (!now->recorded && have_same_elements(a, b))) return (uint8_t)(k + 1);
    }
    return 0;
}

/* Returns how the array is read in a domain of now->rank dimensions. */
static FuseLayout layout_in_domain(const FuseRun *now, const Array *a) {
    FuseLayout l = {0};
    for (int d = 0; d < now->rank; d++)
        if (extent_of(a, now->whole, now->axis[d]) == 1) l.fixed |= (uint8_t)(1 << d);
    int last = qfuse_axis_of(a, now->whole, now->axis[now->rank - 1]);
    bool known = a->strides[last] >= 1 && a->strides[last] <= qkey_channels(now->run.vm);
    if (known && !(l.fixed >> (now->rank - 1) & 1)) l.stride = (uint8_t)a->strides[last];
    return l;
}

/* Finds an earlier leaf that is another channel of the same pixels, so that whole pixels are loaded. */
static void find_channels(FuseRun *now, int i) {
    const Array *a = qfuse_array(now, i), *b;
    FuseLayout *l = &now->layout[i];
    bool may = l->stride > 1 && now->rank < QS_MAX_RANK && !now->recorded && !now->target && !now->region->nshifts;
    for (int k = 0; k < i && may && !l->beside; k++) {
        if (!(b = qfuse_array(now, k)) || now->same[k] || now->layout[k].beside || b->buf != a->buf) continue;
        ptrdiff_t shift = (ptrdiff_t)a->offset - (ptrdiff_t)b->offset;
        bool same = a->dtype == b->dtype && qarr_same_shape(a, b) &&
                    !memcmp(a->strides, b->strides, (size_t)a->rank * sizeof *a->strides);
        if (same && shift > -l->stride && shift < l->stride) l->beside = (uint8_t)(k + 1), l->channel = (int8_t)shift;
    }
}

/* The first channel of the parameter is the lowest that a leaf reads. */
static void number_channels(FuseRun *now, int first) {
    FuseLayout *of = now->layout;
    int least = 0, most = 0;
    for (int i = first + 1; i < now->region->nleaves; i++) {
        if (of[i].beside != first + 1) continue;
        least = of[i].channel < least ? of[i].channel : least, most = of[i].channel > most ? of[i].channel : most;
    }
    if (least == most) return;
    of[first].channels = (uint8_t)(most - least + 1), of[first].channel = (int8_t)-least;
    for (int i = first + 1; i < now->region->nleaves; i++)
        if (of[i].beside == first + 1) of[i].channel = (int8_t)(of[i].channel - least);
}

/* Numbers the dimensions of the domain.  A reduction of all elements omits dimensions of extent 1. */
static void examine_layouts(FuseRun *now) {
    memset(now->layout, 0, sizeof now->layout);
    int n = 0;
    now->whole = now->rank;
    for (int d = 0; d < now->whole; d++)
        if (!now->region->reduction || now->flat || now->dims[d] != 1 || (!n && d + 1 == now->whole))
            now->dims[n] = now->dims[d], now->axis[n++] = d;
    now->rank = n;
    for (int i = 0; i < now->region->nleaves && !now->flat; i++)
        if (qfuse_array(now, i)) {
            now->layout[i] = layout_in_domain(now, qfuse_array(now, i));
            if (!now->same[i]) find_channels(now, i);
        }
    for (int i = 0; i < now->region->nleaves && !now->flat; i++) number_channels(now, i);
}

/* Reductions along a dimension are computed line by line. */
static bool examine_rows(FuseRun *now) {
    int axis = now->region->axis;
    if (now->rank == 1) now->dims[1] = now->dims[0], now->dims[0] = 1, now->rank = 2;
    now->flat = false, now->no_rows = !now->recorded && now->count;
    if (axis >= now->rank || now->rank > LINES_RANK || now->dims[axis] <= 1 || !now->count) return false;
    int64_t n = now->dims[axis];
    bool rows = axis == now->rank - 1;
    now->ordered = !rows || n < SHORT_ROW, now->extent = n <= KNOWN_LINE ? n : 0;
    /* Single operators record derivatives.  Threads share rows, so single operators compute a few long rows faster. */
    bool few = now->count / (size_t)n < FEW_ROWS && now->count > LONG_ROWS;
    size_t times = now->region->rows > 1 ? 2 : 1;
    bool far = !rows && n >= SHORT_ROW && ((size_t)n > LONG_LINE * times || now->count > LARGE * times);
    if (!few && !far) now->no_rows = false;
    return !now->recorded && !few && !far;
}

/* Only numbers are outside of x[mask].  A masked assignment writes to a contiguous array that shares no elements with
 * others. */
static bool examine_masked(const FuseRun *now) {
    const FuseRegion *r = now->region;
    const Array *y = qfuse_assigns(r) ? qfuse_array(now, 0) : NULL, *a;
    bool masks = false; /* otherwise the index is a number */
    if (!y == qfuse_assigns(r) || !now->flat || qtape_is_on(now->run.vm)) return false;
    for (int i = y ? 1 : 0; i < r->nleaves; i++) {
        a = qfuse_array(now, i);
        masks = masks || (a && !(r->beside >> i & 1));
        if (a && (r->beside >> i & 1 || (y && a != y && qarr_overlap(y, a)))) return false;
    }
    return masks;
}

/* Sets the shape of an item from the shapes of arrays from .. to-1 and of the earlier items that it reads.  Returns the
 * number of its elements. */
static size_t find_shape(FuseRun *now, int from, int to, uint32_t uses, int64_t (*dims)[QS_MAX_RANK], int item) {
    size_t count = 1;
    now->item_ndim[item] = 0;
    for (int i = from; i < to; i++)
        if (qfuse_array(now, i) && qfuse_array(now, i)->ndim > now->item_ndim[item])
            now->item_ndim[item] = qfuse_array(now, i)->ndim;
    for (int i = 0; i < item; i++)
        if (uses >> i & 1 && now->item_ndim[i] > now->item_ndim[item]) now->item_ndim[item] = now->item_ndim[i];
    for (int d = 0; d < now->rank; d++) {
        int64_t *x = &dims[item][d];
        *x = 1;
        for (int i = from; i < to; i++)
            if (qfuse_array(now, i) && *x == 1) *x = extent_of(qfuse_array(now, i), now->rank, d);
        for (int i = 0; i < item; i++)
            if (uses >> i & 1 && *x == 1) *x = dims[i][d];
        count *= (size_t)*x;
    }
    return count;
}

/* Returns whether the array of a leaf shares elements with another operand of the statements.  An operand that is read
 * from the same register is the same array before the statement that changes it, and its value after that. */
static bool is_shared(const FuseRun *now, int leaf) {
    const FuseRegion *r = now->region;
    const Array *a = qfuse_array(now, leaf);
    for (int i = 0; i < r->nleaves; i++)
        if ((r->regs[i] != r->regs[leaf] || qfuse_shift_of(r, i) >= 0) && qfuse_array(now, i) &&
            qarr_overlap(a, qfuse_array(now, i)))
            return true;
    for (int i = 0; i < r->ninputs; i++) {
        qs_value v = now->f->base[r->inputs[i]];
        if (r->inputs[i] != r->regs[leaf] && v.kind == QS_ARRAY && qarr_overlap(a, qval_array(v))) return true;
    }
    return false;
}

/* Whether an expression has the shape of the domain.  full: a bit for each item that has it, others are numbers or,
 * with reductions, narrow. */
typedef struct {
    const FuseRun *now;
    int nitems;             /* items that the expression may read */
    uint32_t full, covered; /* covered: the dimensions of the domain that one of its arrays has */
    bool is_array;
    bool elements; /* a base of x[mask] has another shape */
    bool narrow;   /* a condition has another shape */
} ShapeSearch;

static bool is_reduction(const Node *call) {
    const Node *callee = call->u.call.callee;
    return callee->kind == N_IDENT && kfuse_along(callee->u.ident.name->s, call->u.call.args.n) != RED_NONE;
}

static void search_full(void *ud, Node **child) {
    ShapeSearch *s = ud;
    const FuseRun *now = s->now;
    const FuseRegion *r = now->region;
    const Array *a;
    int item = qfuse_item_of(r->items, s->nitems, *child);
    for (int i = 0; i < r->nleaves && item < 0; i++) {
        if (r->leaves[i] != *child) continue;
        if (!(a = qfuse_array(now, i))) return;
        s->is_array = true;
        for (int d = 0; d < now->rank; d++)
            if (extent_of(a, now->rank, d) == now->dims[d]) s->covered |= 1u << d;
        return;
    }
    if (item >= 0 && s->full >> item & 1) s->is_array = true, s->covered = UINT32_MAX;
    /* the value of a reduction is narrow */
    else if (item < 0 && !(r->rows && (*child)->kind == N_CALL && is_reduction(*child)))
        qast_children(*child, search_full, s);
}

static bool is_full(const FuseRun *now, Node *n, int nitems, uint32_t full) {
    ShapeSearch s = {.now = now, .nitems = nitems, .full = full};
    search_full(&s, &n);
    for (int d = 0; d < now->rank; d++)
        if (now->dims[d] != 1 && !(s.covered >> d & 1)) return false;
    return s.is_array;
}

/* Looks for an x[mask] whose x has another shape than the domain. */
static void search_elements(void *ud, Node **child) {
    ShapeSearch *s = ud;
    if ((*child)->kind != N_INDEX) qast_children(*child, search_elements, s);
    else if (!is_full(s->now, (*child)->u.index.base, s->nitems, s->full)) s->elements = true;
}

/* Returns whether an assignment by a mask has a mask and elements of the shape of the array.  An array of another rank
 * with as many elements may have that shape or not. */
static bool masks_all(const FuseRun *now, int item, uint32_t full) {
    const FuseItem *i = &now->region->items[item];
    ShapeSearch s = {.now = now, .nitems = item, .full = full};
    Node *root = i->root;
    const Array *a;
    if (now->flat) return true;
    for (int k = 0; k < now->region->nleaves; k++)
        if ((a = qfuse_array(now, k)) && a->count == now->count && a->rank != now->rank) return false;
    search_elements(&s, &root);
    return is_full(now, i->mask, item, full) && !s.elements;
}

/* Looks for a choice whose condition has another shape than the domain, so that it may have one element. */
static void search_narrow(void *ud, Node **child) {
    ShapeSearch *s = ud;
    Node *n = *child;
    if (n->kind == N_TERNARY && !is_full(s->now, n->u.ternary.cond, s->nitems, s->full)) s->narrow = true;
    qast_children(n, search_narrow, s);
}

/* Returns whether all conditions of choices have the shape of the domain, although statements reduce along a
 * dimension. */
static bool choices_are_full(const FuseRun *now) {
    const FuseRegion *r = now->region;
    ShapeSearch s = {.now = now};
    for (int i = 0; i < r->nitems + (r->root != NULL); i++) {
        Node *root = i < r->nitems ? r->items[i].root : r->root;
        s.nitems = i;
        search_narrow(&s, &root);
        s.full |= (uint32_t)is_full(now, root, i, s.full) << i;
    }
    return !s.narrow;
}

/* An array that a statement changes is contiguous and has no elements in common with others.  Only numbers are outside
 * of x[mask]. */
static bool examine_changes(const FuseRun *now, uint32_t full) {
    const FuseRegion *r = now->region;
    for (int i = 0; i < r->nitems; i++) {
        const FuseItem *s = &r->items[i];
        const Array *a = s->array ? qfuse_array(now, s->target) : NULL;
        if (!s->array) continue;
        if (!a || !a->contiguous || a->count != now->count || is_shared(now, s->target)) return false;
        if (s->mask ? !masks_all(now, i, full) : a->dtype != QS_F32 && a->dtype != QS_F64) return false;
    }
    for (int i = 0; i < r->nleaves; i++)
        if (r->beside >> i & 1 && qfuse_array(now, i)) return false;
    return !qtape_is_on(now->run.vm);
}

/* Each statement of a group has the shape of the domain, or it is a number that is not stored.  A smaller array would
 * be computed again for each position. */
static bool examine_items(FuseRun *now) {
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
    return !now->recorded && (!r->choice || !r->rows || choices_are_full(now)) &&
           (!r->changes || examine_changes(now, full));
}

static int cast_of(const FuseRegion *r, const Node *n) {
    for (int i = 0; i < r->ncasts; i++)
        if (r->casts[i] == n) return i;
    return -1;
}

/* Returns the element type of the array that a value shares with an operand, as real(x), and float(x) if x has floats;
 * ANY_TYPE: the operand is computed here; -1: the value is a new array, or a number. */
enum { ANY_TYPE = QS_NDTYPES };
static int operand_type(const FuseRun *now, Node *n) {
    const FuseRegion *r = now->region;
    if (r->items && qfuse_item_of(r->items, r->nitems, n) >= 0) return ANY_TYPE;
    for (int i = 0; i < r->nleaves && n->kind == N_IDENT; i++)
        if (r->leaves[i] == n) return qfuse_array(now, i) ? (int)qfuse_array(now, i)->dtype : -1;
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
static bool is_operand(const FuseRun *now, Node *n) { return n->kind == N_CALL && operand_type(now, n) >= 0; }

/* Returns whether a value that the program gets is an array that it has already. */
static bool gives_operand(const FuseRun *now) {
    const FuseRegion *r = now->region;
    for (int i = 0; i < r->nitems; i++)
        if (r->items[i].stored && !r->items[i].array && is_operand(now, r->items[i].root)) return true;
    return r->root && !r->reduction && !r->mask && !r->updates && !r->stored && is_operand(now, r->root);
}

/* Finds where a shifted leaf begins in its array; false: the shift is left to the built-in function, as errors are. */
static bool find_cut(FuseRun *now, int shift) {
    const FuseShift *s = &now->region->shifts[shift];
    const Array *a = qfuse_array(now, s->leaf);
    qs_value by = now->f->base[s->reg];
    int64_t cut[QS_MAX_RANK], dims[QS_MAX_RANK];
    double *shifts;
    size_t n;
    bool listed = by.kind == QS_ARRAY && qval_array(by)->count <= QS_MAX_RANK;
    if (!a || (!listed && !qval_is_number(by)) || qtape_is_recorded(now->run.vm, by)) return false;
    int rank = qarr_matrix_dims(a, dims);
    if (qarr_doubles(now->run.vm, by, "circshift: shift", &shifts, &n) != QS_OK)
        return qerr_clear(qvm_ctx(now->run.vm)), false;
    bool fits = (s->dim < 0 || (n == 1 && s->dim < rank && dims[s->dim] != 1)) &&
                qarr_cyclic_cut(rank, dims, shifts, n, s->dim, cut);
    qmem_free(qvm_ctx(now->run.vm), shifts, n * sizeof *shifts);
    memset(now->cut[shift], 0, sizeof now->cut[shift]);
    for (int d = 0; d < a->rank && fits; d++) now->cut[shift][d] = cut[d + rank - a->rank];
    return fits;
}

/* Finds where the shifted leaves begin.  Derivatives record the built-in function. */
static bool find_cuts(FuseRun *now) {
    for (int i = 0; i < now->region->nshifts; i++)
        if (now->recorded || !find_cut(now, i)) return false;
    return true;
}

bool qfuse_examine(FuseRun *now) {
    const FuseRegion *r = now->region;
    if (r->nleaves > LEAVES) return false;
    now->recorded = now->ordered = now->no_rows = false, now->extent = 0;
    memset(now->same, 0, sizeof now->same);
    for (int i = 0; i < r->nleaves; i++) {
        qs_value v = now->f->base[r->regs[i]];
        now->at[i] = qtape_plain(v);
        now->recorded = now->recorded || qtape_is_recorded(now->run.vm, v);
    }
    if (qfuse_updates(r)) now->at[0] = qarr_value(now->target);
    if (!find_cuts(now)) return false;
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
/* -- assignments to parts of arrays -------------------------------------------------------------------------------- */
/* Returns whether the view has the shape of the domain but for extents of 1, and sets its strides there. */
static bool fits_domain(FuseRun *now, const Array *view) {
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
static bool reads_own(const FuseRun *now, const Array *view) {
    for (int i = 0; i < now->region->nleaves; i++) {
        const Array *a = qfuse_array(now, i);
        if (!a || !qarr_overlap(a, view)) continue;
        if (qfuse_shift_of(now->region, i) >= 0) return false;
        if (a->buf != view->buf || a->offset != view->offset || a->dtype != view->dtype) return false;
        for (int d = 0; d < now->rank; d++) {
            int axis = qfuse_axis_of(a, now->rank, d);
            if (now->dims[d] == 1) continue;
            if (axis < 0 || a->dims[axis] != now->dims[d] || a->strides[axis] != now->target_strides[d]) return false;
        }
    }
    return true;
}

void qfuse_drop_target(FuseRun *now) {
    if (now->target) qarr_release(now->run.vm, now->target);
    if (now->old) qarr_release(now->run.vm, now->old);
    now->old = now->target = NULL, now->target_layout = (TargetLayout){false, false};
}

qs_status qfuse_find_target(FuseRun *now) {
    Array *view = now->target;
    if (!now->region->stored || now->recorded || qtape_is_on(now->run.vm)) return qfuse_drop_target(now), QS_OK;
    if (!view) TRY(qstep_target(now->run.vm, now->f, now->region, &view));
    if (!view) return QS_OK;
    now->target = view;
    if (!qarr_aligned(view) || !fits_domain(now, view)) return qfuse_drop_target(now), QS_OK;
    if (!reads_own(now, view)) {
        bool later = qfuse_updates(now->region) && now->region->nat;
        if (later) now->target = NULL;
        qfuse_drop_target(now);
        return now->old = later ? view : NULL, QS_OK;
    }
    if (now->flat && now->target_layout.strided) now->flat = false, examine_layouts(now);
    return qarr_touch(now->run.vm, qval_array(now->f->base[now->region->base]));
}
