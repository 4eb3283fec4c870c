/* serial_loops.c -- says why innermost loops of serial code are not vectorized, for --explain.  Reports only what
 * certainly prevents vectors; LLVM tests other overlaps at run time, and decides what pays. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/passes.h"
#include "lang/kernel/passes/plan.h"

#include <stdio.h>

static bool is_innermost(const KFunc *f, KRef loop) {
    for (KRef r = loop + 1; r < f->regions[loop].end; r++)
        if (kir_is_loop(f->ins[r].op)) return false;
    return f->ins[loop].op == K_FOR && !kplan_unrolls(f, loop);
}

/* Whether the loop reads, a few iterations later, an element that it stores. */
static bool reads_earlier(const KFunc *f, KRef loop, KRef store, int64_t step) {
    for (KRef r = loop + 1; r < f->regions[loop].end; r++) {
        const KIns *i = &f->ins[r], *s = &f->ins[store];
        Affine a, b;
        if (i->op != K_LOAD || i->imm != s->imm || !kaffine_of(f, i->a, &a) || !kaffine_of(f, s->a, &b)) continue;
        if (!kaffine_add(&a, &b, -1) || a.n || !a.constant || a.constant % step) continue;
        if ((a.constant < 0) == (step > 0)) return true;
    }
    return false;
}

static bool explain_ins(Invariants *v, KRef r, char *out) {
    const KFunc *f = v->f;
    KRef loop = v->loop;
    const KIns *i = &f->ins[r];
    const char *name = kir_ops[i->op].imm == KI_param ? f->params[i->imm].name->s : "";
    int64_t step;
    unsigned how;
    switch ((KOp)i->op) {
    case K_BREAK:
    case K_CHECK:
        snprintf(out, SERIAL_REASON,
                 "each iteration tests whether it is the last one, or an index, because it depends on values");
        return true;
    case K_MATH:
        how = kir_math[i->flag].how[i->dtype == QS_F64];
        if (!kir_is_exact(f) || how == MATH_exact || how >= MATH_host) return false;
        snprintf(out, SERIAL_REASON,
                 kir_math[i->flag].libmvec ? "%s has the bits of the interpreter; {!fast_math} allows vectors"
                                           : "%s has no vector version",
                 kir_math[i->flag].name);
        return true;
    case K_STORE:
        if (f->ins[loop].flag == KFLAG_REASSOC || !kaffine_stride(v, i->a, &step)) return false;
        if (step && !reads_earlier(f, loop, r, step)) return false;
        snprintf(out, SERIAL_REASON,
                 step ? "an iteration reads an element of %s that an earlier one writes: write to a different array"
                      : "each iteration changes the same element of %s: add to a variable, and store it after the loop",
                 name);
        return true;
    case K_SET:
        if (!kplan_is_recurrence(f, loop, r)) return false;
        snprintf(out, SERIAL_REASON, "a variable is computed from its value of the iteration before");
        return true;
    case K_LOAD:
        if (kaffine_stride(v, i->a, &step) && step >= -1 && step <= 1) return false;
        snprintf(out, SERIAL_REASON,
                 "neighbouring iterations read elements of %s that are not neighbours: exchange loops, or transpose it",
                 name);
        return true;
    default: return false;
    }
}

void kserial_explain(Ctx *c, const KFunc *f, void *ud, void (*report)(void *ud, uint32_t pos, const char *reason)) {
    Arena a;
    char reason[SERIAL_REASON];
    qarena_init(&a, c);
    f = kindexsets_split(c, &a, f);
    const uint8_t *chosen = kinterchange_chosen(&a, f), *tested = kindextests_chosen(&a, f);
    for (KRef r = 1; r < f->nins; r++) {
        if (chosen[r] || tested[r] || !is_innermost(f, r)) continue;
        Invariants v = {.arena = &a, .f = f, .loop = r, .end = f->regions[r].end};
        for (KRef s = r + 1; s < v.end; s++) {
            if (!explain_ins(&v, s, reason)) continue;
            report(ud, f->ins[r].pos, reason);
            break;
        }
    }
    qarena_free(&a);
}
