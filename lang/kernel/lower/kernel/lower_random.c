/* lower_random.c -- lowers rand, randn and randi in kernels to the generator Philox4x32-10.
 *
 * A block of four words is a function of a key and a counter (qrandom_block has the source).  The launch draws the key
 * from the program's stream.  The call site, numbered in the order of the text, is added to it, so that each call site
 * has a stream of its own.  The counter has the position and the number of the draw at this call site: the numbers do
 * not depend on the device, the number of threads, or the order of positions.
 *
 *     words of the counter    last axis, the axis before, the one before that, number of the draw
 *     launches of more axes   the other axes make a block first, whose first two words are the key
 *
 * A call site outside loops draws once.  Others have a counter in a LOCAL at the start of the kernel. */
#include "lang/kernel/lower/kernel/lower_builtin_table.h"

enum { WORDS = KPHILOX_WORDS };

static KRef word(Lower *L, uint32_t v) { return klnum_int(L, QS_U32, v); }

/* The number of earlier draws at this call site, which is counted if the site is in a loop. */
static KRef draw_number(Lower *L) {
    Walk *w = &L->walk;
    if (!kbuild_outermost_loop(w) && !klrecursion_is_open(L)) return word(L, 0);
    int site = L->nsites_in_loops++;
    if (site >= L->ncounters) return L->changed = true, word(L, 0); /* the next pass has a counter for it */
    KRef n = kbuild_get(w, L->counters[site]);
    kbuild_set(w, L->counters[site], klnum_bin(L, K_ADD, n, word(L, 1)));
    return n;
}

void klrandom_begin(Lower *L) {
    L->ncounters = L->nsites_in_loops, L->nsites_in_loops = L->nsites = 0;
    L->counters = qarena_alloc(L->arena, qmem_size((size_t)L->ncounters, sizeof *L->counters, sizeof *L->counters));
    for (int i = 0; i < L->ncounters; i++) L->counters[i] = kbuild_local(&L->walk, word(L, 0));
}

static KRef axis_word(Lower *L, int axis) {
    if (axis < 0) return word(L, 0);
    return klnum_cast_ref(L, klnum_pure(L, (KMake){K_POS, .own = QS_I32, .imm = (uint64_t)axis}), QS_U32);
}

/* Draws a block for the call site that comes next. */
static void draw_block(Lower *L, KRef x[WORDS]) {
    Str *name = qstr_cname(L->c, "random");
    KRef key[2] = {klower_host_num(L, KLOWER_RANDOM, 0, QS_U32, name),
                   klower_host_num(L, KLOWER_RANDOM, 1, QS_U32, name)};
    KRef n = draw_number(L);
    key[1] = klnum_bin(L, K_ADD, key[1], word(L, (uint32_t)L->nsites++));
    int left = L->job->rank - 1;
    for (; left > 2; left -= WORDS) {
        for (int i = 0; i < WORDS; i++) x[i] = left - i > 2 ? axis_word(L, left - i) : word(L, 0);
        kphilox_mix(&L->walk, key, x);
        key[0] = x[0], key[1] = x[1];
    }
    int last = L->job->rank < 3 ? L->job->rank - 1 : 2;
    for (int i = 0; i < 3; i++) x[i] = axis_word(L, last - i);
    x[3] = n;
    kphilox_mix(&L->walk, key, x);
}

/* Draws the numbers of one block: four of float32 or two of float64. */
static int draw_numbers(Lower *L, bool normal, KRef x[WORDS]) {
    qs_dtype d = L->c->scalar_dtype;
    KRef w[WORDS];
    int words = d == QS_F32 ? 1 : 2, n = WORDS / words;
    draw_block(L, w);
    for (int i = 0; i < n; i++) x[i] = kphilox_unit(&L->walk, d, &w[i * words]);
    for (int i = 0; normal && i < n; i += 2) x[i] = kphilox_normal(&L->walk, d, x[i], x[i + 1], &x[i + 1]);
    return n;
}

/* rand(size…), randn(size…): imm is 1 for normal numbers. */
qs_status klrandom_float(Lower *L, const BuiltinCall *c, Val *out) {
    int64_t dims[QS_MAX_RANK] = {0};
    int rank = 0;
    KRef x[WORDS];
    qs_dtype d = L->c->scalar_dtype;
    if (c->nargs) TRY(klmake_shape(L, c, 0, dims, &rank));
    Val shape = {.rank = (uint8_t)rank};
    memcpy(shape.dims, dims, sizeof dims);
    int64_t n = rank ? klval_count(&shape) : 1;
    if (n > KLOWER_UNROLL) return klbuiltin_refuse(L, c, "of more than 1024 elements is too big for a kernel");
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)n, sizeof *nums, sizeof *nums));
    for (int64_t i = 0, have = 0, at = 0; i < n; i++, at++) {
        if (at == have) have = draw_numbers(L, c->imm, x), at = 0;
        nums[i] = klnum_strong(x[at], d);
    }
    if (!rank) return klval_number(L, nums[0], out), QS_OK;
    return klval_from_nums(L, nums, rank, dims, out), QS_OK;
}

/* The integer below n that 64 random bits, times n, have above the point: each is equally likely to 2^-32. */
static KRef below(Lower *L, const KRef w[2], KRef n) {
    KRef wide = klnum_cast_ref(L, n, QS_U64), half = klnum_int(L, QS_U64, 32);
    KRef low = klnum_bin(L, K_SHR, klnum_bin(L, K_MUL, klnum_cast_ref(L, w[1], QS_U64), wide), half);
    KRef sum = klnum_bin(L, K_ADD, klnum_bin(L, K_MUL, klnum_cast_ref(L, w[0], QS_U64), wide), low);
    return klnum_cast_ref(L, klnum_bin(L, K_SHR, sum, half), QS_I32);
}

/* randi(n, size…): integers 0 … n-1. */
qs_status klrandom_int(Lower *L, const BuiltinCall *c, Val *out) {
    int64_t dims[QS_MAX_RANK] = {0};
    int rank = 0;
    Num most;
    KRef w[WORDS];
    TRY(klval_one(L, &c->args[0], "n", &most));
    if (c->nargs > 1) TRY(klmake_shape(L, c, 1, dims, &rank));
    Val shape = {.rank = (uint8_t)rank};
    memcpy(shape.dims, dims, sizeof dims);
    int64_t count = rank ? klval_count(&shape) : 1;
    if (count > KLOWER_UNROLL) return klbuiltin_refuse(L, c, "of more than 1024 elements is too big for a kernel");
    if (qdtype_is_complex(most.dtype)) return klbuiltin_refuse(L, c, "wants an integer n");
    qs_dtype own = klnum_is_weak(most) ? klnum_weak_dtype(L, most.re.weak) : most.dtype;
    KRef given = klnum_ref(L, most, own), n = klnum_cast_ref(L, given, QS_I32);
    KRef good = klnum_bin(L, K_LE, klnum_int(L, QS_I32, 1), n);
    if (own != QS_I32) good = klnum_bin(L, K_AND, good, klnum_holds(L, QS_I32, given));
    double known;
    if (!kir_is_const(L->f, good, &known) || known == 0)
        klnum_emit(L, (KMake){K_CHECK, .a = good, .b = given,
                              .imm = (uint64_t)kir_message(L->f, QS_EVALUE,
                                                           "randi: n must be an integer from 1 to 2^31-1, got %0")});
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)count, sizeof *nums, sizeof *nums));
    for (int64_t i = 0; i < count; i++) {
        if (i % 2 == 0) draw_block(L, w);
        nums[i] = klnum_strong(below(L, &w[i % 2 * 2], n), QS_I32);
    }
    if (!rank) return klval_number(L, nums[0], out), QS_OK;
    return klval_from_nums(L, nums, rank, dims, out), QS_OK;
}
