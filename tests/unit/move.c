/* Moving elements between strided positions: every element size, order of axes, gaps, negative and zero strides, short
 * and long extents around tiles and squares, one to four threads, compared with copies element by element. */
#include "vm/array/move.h"
#include "tests/unit/machine.h"

static uint64_t seed = 3;
static int64_t below(int64_t n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

/* Strides of a contiguous array whose axes have a random order, with gaps after some; the bytes that it spans. */
static ptrdiff_t lay_out(int rank, const int64_t *n, size_t size, ptrdiff_t *steps) {
    int order[QS_MAX_RANK];
    ptrdiff_t step = (ptrdiff_t)size;
    for (int k = 0; k < rank; k++) order[k] = k;
    for (int k = rank - 1; k > 0; k--) {
        int other = (int)below(k + 1), t = order[k];
        order[k] = order[other], order[other] = t;
    }
    for (int k = 0; k < rank; k++) {
        steps[order[k]] = step;
        step *= n[order[k]] + (below(3) ? 0 : 1 + below(3));
    }
    return step;
}

static void move_one_by_one(size_t size, int rank, const int64_t *n, char *dst, const ptrdiff_t *ds, const char *src,
                            const ptrdiff_t *ss) {
    if (!rank) {
        memcpy(dst, src, size);
        return;
    }
    for (int64_t i = 0; i < *n; i++)
        move_one_by_one(size, rank - 1, n + 1, dst + i * *ds, ds + 1, src + i * *ss, ss + 1);
}

/* Into two equally filled destinations, so that a byte written between the elements is detected, too. */
static void check_move(Ctx *c, size_t size, int rank, const int64_t *n, bool twisted) {
    ptrdiff_t ds[QS_MAX_RANK], ss[QS_MAX_RANK], into = lay_out(rank, n, size, ds), from = lay_out(rank, n, size, ss);
    ptrdiff_t offset = 0;
    int k = rank ? (int)below(rank) : 0;
    if (twisted && rank && below(2)) offset = ss[k] * (n[k] - 1), ss[k] = -ss[k]; /* backward */
    else if (twisted && rank) ss[k] = 0;                                          /* the same again and again */
    else if (rank && !below(9)) ds[below(rank)] = 0;                              /* the last one stays */
    size_t shift = twisted ? 1 : 0;                                               /* not aligned */
    char *src = malloc((size_t)from + 1), *dst = calloc(1, (size_t)into + 1), *want = calloc(1, (size_t)into + 1);
    for (ptrdiff_t i = 0; i <= from; i++) src[i] = (char)below(256);
    qmove_run(c, size, rank, n, dst + shift, ds, src + shift + offset, ss);
    move_one_by_one(size, rank, n, want + shift, ds, src + shift + offset, ss);
    CHECK(!memcmp(dst, want, (size_t)into + 1));
    free(src), free(dst), free(want);
}

static int64_t extent(int rank) {
    static const int64_t around[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 63, 64, 65, 130};
    return rank < 3 ? around[below(14)] * (below(4) ? 1 : 1 + below(4)) : around[below(rank < 5 ? 8 : 4)];
}

int main(void) {
    static const size_t sizes[] = {1, 2, 4, 8, 16};
    for (int threads = 1; threads <= 4; threads++) {
        qs_vm *vm = machine_open();
        qvm_ctx(vm)->nthreads = threads;
        for (int k = 0; k < 1000; k++) {
            int64_t n[QS_MAX_RANK];
            int rank = (int)below(6);
            for (int d = 0; d < rank; d++) n[d] = extent(rank);
            check_move(qvm_ctx(vm), sizes[below(5)], rank, n, below(3) == 0);
        }
        for (int i = 0; i < 5; i++) { /* enough for several threads */
            check_move(qvm_ctx(vm), sizes[i], 2, (int64_t[]){517, 803}, false);
            check_move(qvm_ctx(vm), sizes[i], 3, (int64_t[]){331, 3, 401}, i & 1);
            check_move(qvm_ctx(vm), sizes[i], 1, (int64_t[]){700001}, i & 1);
        }
        check_move(qvm_ctx(vm), 4, 3, (int64_t[]){5, 0, 7}, false); /* nothing */
        machine_close(vm);
    }
    return check_done();
}
