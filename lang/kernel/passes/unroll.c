/* unroll.c -- unrolls a short loop around a loop whose bounds depend on its counter.
 *
 *     FOR k = 0..2                         FOR m = 1..1
 *       FOR m = k..1 by -1        =>         …
 *         …                                END
 *       END                                FOR m = 2..1 by -1
 *     END                                    …
 *                                          END
 *
 * The inner loops have constant bounds then, so LLVM unrolls them, too: their indices become constants, and they need
 * no test for an interrupt. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

enum { ITERATIONS = 16, SIZE = 1000 /* instructions after unrolling the outer loop, and inside the inner ones */ };

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

static bool can_unroll(void *pass, KRef loop) {
    Unroll *u = pass;
    bool triangle = false;
    int64_t inside = 0;
    u->loop = loop, u->end = u->f->regions[loop].end, u->n = kplan_iterations(u->f, loop);
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
        u->map[u->loop] = kir_int(u->to, (int64_t)first + k * (int64_t)step);
        for (KRef r = u->loop + 1; r < u->end; r++) copy_instruction(u, r);
    }
}

const KFunc *kunroll_triangles(Ctx *c, Arena *a, const KFunc *f) {
    Unroll u = {.f = f};
    return kir_replace_loops(c, a, f, (KLoopPass){&u, &u.to, &u.map, can_unroll, replace_loop});
}
