/* strided.c -- implements the loop nests of strided.h. */
#include "vm/array/strided.h"
#include "vm/base/dtype.h"

/* A vec [N] counts as 1xN, so a nest has at least two dimensions. */
void qstrided_begin(Nest *n, int rank, const int64_t *dims) {
    n->noperands = 0;
    n->started = false;
    n->rank = rank < 2 ? 2 : rank;
    n->dims[0] = n->dims[1] = 1;
    if (rank == 1) n->dims[1] = dims[0];
    else
        for (int i = 0; i < rank; i++) n->dims[i] = dims[i];
}

static bool is_empty(const Nest *n) {
    for (int d = 0; d < n->rank; d++)
        if (!n->dims[d]) return true;
    return false;
}

void qstrided_operand(Nest *n, const void *p, size_t elem, int rank, const int64_t *dims, const int64_t *strides) {
    int k = n->noperands++, shift = rank == 1;
    bool walked = !is_empty(n); /* if it is empty, products of strides may overflow */
    n->at[k] = (char *)(uintptr_t)p;
    for (int i = 0; i < n->rank; i++) n->steps[k][i] = 0;
    for (int i = 0; i < rank; i++)
        if (walked && dims[i] != 1) n->steps[k][i + shift] = strides[i] * (ptrdiff_t)elem;
}

void qstrided_array(Nest *n, const void *p, const Array *a) {
    qstrided_operand(n, p, qdtype_size((qs_dtype)a->dtype), a->rank, a->dims, a->strides);
}

/* Returns whether dimension d can be merged with the outer one: in every operand, a step of the outer dimension equals
 * the whole length of d. */
static bool joins(const Nest *n, int outer, int d) {
    for (int k = 0; k < n->noperands; k++)
        if (n->steps[k][outer] != n->steps[k][d] * n->dims[d]) return false;
    return true;
}

static void move_dimension(Nest *n, int to, int from) {
    n->dims[to] = n->dims[from];
    for (int k = 0; k < n->noperands; k++) n->steps[k][to] = n->steps[k][from];
}

void qstrided_fuse(Nest *n) {
    int r = 0;
    if (is_empty(n)) { /* products of the other extents might overflow */
        n->rank = 1;
        n->dims[0] = 0;
        return;
    }
    for (int d = 0; d < n->rank; d++) {
        if (n->dims[d] == 1) continue;
        if (r > 0 && joins(n, r - 1, d)) {
            int64_t outer = n->dims[r - 1];
            move_dimension(n, r - 1, d);
            n->dims[r - 1] *= outer;
        } else move_dimension(n, r++, d);
    }
    if (!r) { /* one element */
        n->dims[0] = r = 1;
        for (int k = 0; k < n->noperands; k++) n->steps[k][0] = 0;
    }
    n->rank = r;
}

enum { SHORT_RUN = 16 }; /* for shorter runs, the start of a run costs more than strided memory access */

void qstrided_lengthen(Nest *n) {
    int last = n->rank - 1, longest = last;
    for (int d = 0; d < last; d++)
        if (n->dims[d] > n->dims[longest]) longest = d;
    if (n->dims[last] >= SHORT_RUN || n->dims[longest] < SHORT_RUN) return;
    int64_t dim = n->dims[last];
    n->dims[last] = n->dims[longest];
    n->dims[longest] = dim;
    for (int k = 0; k < n->noperands; k++) {
        ptrdiff_t step = n->steps[k][last];
        n->steps[k][last] = n->steps[k][longest];
        n->steps[k][longest] = step;
    }
}

static bool start_iteration(Nest *n) {
    n->started = true;
    n->count = (size_t)n->dims[n->rank - 1];
    if (is_empty(n)) return false;
    for (int d = 0; d < n->rank; d++) n->index[d] = 0;
    for (int k = 0; k < n->noperands; k++) n->step[k] = n->steps[k][n->rank - 1];
    return true;
}

bool qstrided_next(Nest *n) {
    if (!n->started) return start_iteration(n);
    for (int d = n->rank - 2; d >= 0; d--) {
        if (++n->index[d] < n->dims[d]) {
            for (int k = 0; k < n->noperands; k++) n->at[k] += n->steps[k][d];
            return true;
        }
        n->index[d] = 0;
        for (int k = 0; k < n->noperands; k++) n->at[k] -= n->steps[k][d] * (n->dims[d] - 1);
    }
    return false;
}
