/* window_sums.c -- splits the sum over a window into one sum per row.
 *
 *     FOR m                                FOR m
 *       FOR n                                t = 0
 *         s += x[p+m, q+n]         =>        FOR n
 *       END                                    t += x[p+m, q+n]
 *     END                                    END
 *                                            s += t
 *                                          END
 *
 * The windows of two neighbours along the second-to-last axis have all rows but one in common.  If several positions
 * are computed together (emit_rows.c), equal sums are computed once.  A window of 5x5 takes 24 additions; two
 * windows, one below the other, take 16 each, and four take 12 each.  Sums may be reordered if they are integers,
 * which wrap, or with fast math. */
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

#include <string.h>

/* -- finding sums -------------------------------------------------------------------------------------------------- */
static bool is_row(const KFunc *f, const KIns *i) { return i->op == K_POS && (int)i->imm == f->rank - 2; }

static bool is_row_of_window(const KFunc *f, const KIns *i, KRef loop) {
    const KIns *a = &f->ins[kir_uncast(f, i->a)], *b = &f->ins[kir_uncast(f, i->b)], *counter = &f->ins[loop];
    return i->op == K_ADD && ((is_row(f, a) && b == counter) || (is_row(f, b) && a == counter));
}

/* Marks each instruction before `last` whose value for row p in one iteration of the loop equals that for row p+1 in
 * the iteration before. */
static void find_sliding(const KFunc *f, KRef loop, KRef last, uint8_t *slides) {
    slides[0] = 1;
    for (KRef r = 1; r < last; r++) {
        const KIns *i = &f->ins[r];
        bool known = kir_ops[i->op].effect == KE_PURE || (i->op == K_LOAD && !f->params[i->imm].written) ||
                     (i->op == K_FOR && r != loop);
        slides[r] =
            is_row_of_window(f, i, loop) || (known && !is_row(f, i) && slides[i->a] && slides[i->b] && slides[i->c]);
    }
}

static bool uses(const KIns *i, KRef r) { return i->a == r || i->b == r || i->c == r; }

/* Returns the LOCAL to which the loop adds one value per iteration, if it does nothing else; else 0. */
static KRef sum_of(const KFunc *f, KRef loop, KRef *term) {
    KRef end = f->regions[loop].end, set = 0, get = 0;
    for (KRef r = loop + 1; r < end; r++) {
        const KIns *i = &f->ins[r];
        if (i->op == K_SET && !set) set = r;
        else if (i->op == K_GET && !get) get = r;
        else if (kir_ops[i->op].effect != KE_PURE && i->op != K_LOAD) return 0;
    }
    const KIns *sum = &f->ins[f->ins[set].b];
    if (!set || !get || f->ins[get].a != f->ins[set].a || sum->op != K_ADD || !uses(sum, get)) return 0;
    for (KRef r = get + 1, n = 0; r < end; r++)
        if (uses(&f->ins[r], get) && n++) return 0;
    *term = sum->a == get ? sum->b : sum->a;
    return f->ins[set].a;
}

/* The same for a loop over one row of a window, inside a loop over its rows. */
static KRef sum_of_row(const KFunc *f, KRef loop, uint8_t *slides) {
    KRef rows = f->regions[loop].around, term, sum = 0;
    if (!rows || f->ins[rows].op != K_FOR || !kir_steps_by_one(f, rows) || !kplan_unrolls(f, rows)) return 0;
    sum = sum_of(f, loop, &term);
    if (!sum || sum > rows || (!f->fast && !qdtype_is_int((qs_dtype)f->ins[sum].dtype))) return 0;
    find_sliding(f, rows, f->regions[loop].end, slides);
    return slides[term] ? sum : 0;
}

/* -- regrouped copy ------------------------------------------------------------------------------------------------ */
typedef struct {
    KFunc *g;
    KRef *map, sum /* of g */, own, end;
} Row;

static KRef zero_local(KFunc *g, const KIns *like) {
    return kir_add(g, (KMake){K_LOCAL, .a = kir_const_num(g, (qs_dtype)like->dtype, 0, like->pos), .pos = like->pos});
}

static void close_row(Row *row, KRef local, uint32_t pos) {
    KFunc *g = row->g;
    KRef s = kir_add(g, (KMake){K_GET, .a = row->sum, .pos = pos}),
         t = kir_add(g, (KMake){K_GET, .a = row->own, .pos = pos});
    kir_add(g, (KMake){K_SET, .a = row->sum, .b = kir_add(g, (KMake){K_ADD, .a = s, .b = t, .pos = pos}), .pos = pos});
    row->map[local] = row->sum;
}

static const KFunc *regroup_sums(Ctx *c, Arena *arena, const KFunc *f, const KRef *sums) {
    KRef local = 0, *map = qarena_alloc(arena, qmem_size(f->nins, sizeof *map, 0));
    Row row = {.g = kir_shell(c, arena, f), .map = map};
    for (KRef r = 1; r < f->nins; r++) {
        const KIns *i = &f->ins[r];
        if (sums[r]) {
            local = sums[r], row.sum = map[local], row.end = f->regions[r].end;
            row.own = zero_local(row.g, &f->ins[local]);
        }
        map[r] = kir_copy(row.g, i, map[i->a], map[i->b], map[i->c]);
        if (sums[r]) map[local] = row.own;
        if (r == row.end) close_row(&row, local, i->pos);
    }
    return kir_finish(row.g, f);
}

const KFunc *kwindowsums_regroup(Ctx *c, Arena *a, const KFunc *f) {
    bool any = false;
    if (f->rank < 2 || !kir_has(f, K_FOR) || !kir_has(f, K_POS)) return f;
    KRef *sums = qarena_alloc(a, qmem_size(f->nins, sizeof *sums, 0));
    uint8_t *slides = qarena_alloc(a, f->nins);
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_FOR && (sums[r] = sum_of_row(f, r, slides))) any = true;
    return any ? regroup_sums(c, a, f, sums) : f;
}
