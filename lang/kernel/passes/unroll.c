/* unroll.c -- unrolls a short loop around a loop whose bounds depend on its counter, and one that stores elements.
 *
 *     FOR k = 0..2                         FOR m = 1..1
 *       FOR m = k..1 by -1        =>         …
 *         …                                END
 *       END                                FOR m = 2..1 by -1
 *     END                                    …
 *                                          END
 *
 * The inner loops have constant bounds then, so LLVM unrolls them, too: their indices become constants, and they need
 * no test for an interrupt.  A loop with stores keeps a kernel from vectors.  Loops over at most four channels of a
 * pixel are therefore unrolled, too. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

enum {
    ITERATIONS = 16,
    SIZE = 1000, /* instructions after unrolling the outer loop, and inside the inner ones */
    CHANNELS = 4,
    CHANNELS_SIZE = 500
};

typedef struct {
    const KFunc *f;
    KFunc *to;
    KRef *map;      /* by instruction of f: its copy */
    KRef loop, end; /* the FOR that is looked at */
    int64_t n;      /* its iterations */
} Unroll;

/* Whether the value is a constant once the counter is one; *moves: it depends on the counter. */
static bool becomes_constant(const Unroll *u, KRef r, bool *moves) {
    Affine a;
    if (!kaffine_of(u->f, r, &a) || a.n > 1 || (a.n == 1 && a.term[0].ref != u->loop)) return false;
    *moves |= a.n == 1;
    return true;
}

static bool is_triangle(const Unroll *u, KRef inner) {
    const KIns *i = &u->f->ins[inner];
    bool moves = false;
    return i->op == K_FOR && becomes_constant(u, i->a, &moves) && becomes_constant(u, i->b, &moves) && moves;
}

/* Returns whether the loop, which is in no other one, has few iterations and stores elements. */
static bool stores_channels(const Unroll *u) {
    bool stores = false;
    if (u->n < 1 || u->n > CHANNELS || u->n * (u->end - u->loop) > CHANNELS_SIZE) return false;
    for (KRef r = u->loop + 1; r < u->end; r++) {
        uint8_t op = u->f->ins[r].op;
        stores |= op == K_STORE;
        if ((op == K_BREAK || op == K_CONTINUE) && kir_jump_target(u->f, r) == u->loop) return false;
    }
    return stores && !kir_loop_around(u->f, u->loop);
}

static bool is_around_triangle(const Unroll *u) {
    KRef loop = u->loop;
    bool triangle = false;
    int64_t inside = 0;
    if (u->f->ins[loop].dtype != QS_I64 || u->n < 2 || u->n > ITERATIONS) return false;
    if (u->n * (int64_t)(u->end - loop) > SIZE) return false;
    for (KRef r = loop + 1; r < u->end; r++) {
        uint8_t op = u->f->ins[r].op;
        if (op == K_BARRIER || op == K_LOOP || (op == K_FOR && !is_triangle(u, r))) return false;
        if ((op == K_BREAK || op == K_CONTINUE) && kir_jump_target(u->f, r) == loop) return false;
        if (op != K_FOR) continue;
        triangle = true;
        inside += (int64_t)(u->f->regions[r].end - r);
    }
    return triangle && inside * u->n * u->n / 2 <= SIZE;
}

static bool can_unroll(void *pass, KRef loop) {
    Unroll *u = pass;
    u->loop = loop, u->end = u->f->regions[loop].end;
    if (u->f->ins[loop].op != K_FOR) return false;
    u->n = kplan_iterations(u->f, loop);
    return stores_channels(u) || is_around_triangle(u);
}

static void copy_instruction(Unroll *u, KRef r) {
    KIns i = u->f->ins[r];
    bool jumps = i.op == K_BREAK || i.op == K_CONTINUE;
    if (jumps && kir_jump_target(u->f, r) < u->loop) i.imm--;
    if (jumps) kir_copy(u->to, &i, 0, 0, 0);
    else kir_copy_mapped(u->to, u->f, u->map, r);
}

static void replace_loop(void *pass) {
    Unroll *u = pass;
    double first = 0, step = 0;
    (void)kir_is_const(u->f, u->f->ins[u->loop].a, &first), (void)kir_is_const(u->f, u->f->ins[u->loop].c, &step);
    for (int64_t k = 0; k < u->n; k++) {
        u->to->pos = u->f->ins[u->loop].pos;
        u->map[u->loop] =
            kir_const_int(u->to, (qs_dtype)u->f->ins[u->loop].dtype, (int64_t)first + k * (int64_t)step, u->to->pos);
        for (KRef r = u->loop + 1; r < u->end; r++) copy_instruction(u, r);
    }
}

const KFunc *kunroll_short_loops(Ctx *c, Arena *a, const KFunc *f) {
    Unroll u = {.f = f};
    return kir_replace_loops(c, a, f, (KLoopPass){&u, &u.to, &u.map, can_unroll, replace_loop});
}
