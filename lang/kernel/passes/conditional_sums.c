/* conditional_sums.c -- moves additions out of branches, where the order of a sum is free.
 *
 *     FOR i                           FOR i
 *       IF c                            t = -0
 *         s = s + x[i]       =>         IF c
 *       END                               t = t + x[i]
 *     END                               END
 *                                       s = s + t
 *                                     END
 *
 * -0 + x is x for every x.  LLVM makes a selection of t, and vectorizes the loop; it does not vectorize sums of floats
 * in a branch.  Instructions after `IF c … CONTINUE END` are such a branch, too: the ELSE of that
 * IF. */
#include "lang/kernel/passes/passes.h"

enum { SUMS = 8 /* most sums of a loop */ };

typedef struct {
    const KFunc *f;
    KFunc *to;
    KRef *map;            /* by instruction of f: its copy */
    KRef loop, end;       /* the FOR that is looked at */
    bool continues;       /* its body has a CONTINUE */
    KRef sum[SUMS];       /* variables of f */
    KRef iteration[SUMS]; /* what an iteration adds: variables of the copy */
    int n;
} Sums;

static const KIns *get_ins(const Sums *s, KRef r) { return &s->f->ins[r]; }

static bool is_free(const KIns *i) {
    return (i->op == K_ADD || i->op == K_SUB) && i->flag == KFLAG_REASSOC && kir_is_float((qs_dtype)i->dtype);
}

/* Whether r adds terms to the variable, or subtracts them, in any order. */
static bool adds_to(const Sums *s, KRef r, KRef variable) {
    const KIns *i = get_ins(s, r);
    if (i->op == K_GET) return i->a == variable;
    return is_free(i) && (adds_to(s, i->a, variable) || (i->op == K_ADD && adds_to(s, i->b, variable)));
}

/* Whether the body only adds to the variable, somewhere in a branch. */
static bool is_sum(const Sums *s, KRef variable) {
    bool branch = s->continues;
    int sets = 0, reads = 0;
    for (KRef r = s->loop + 1; r < s->end; r++) {
        const KIns *i = get_ins(s, r);
        bool set = i->op == K_SET && i->a == variable;
        if (set && !adds_to(s, i->b, variable)) return false;
        sets += set, branch |= set && s->f->regions[r].around != s->loop;
        for (int k = 0; k < 3; k++) {
            const KIns *x = get_ins(s, i->arg[k]);
            if (x->op != K_GET || x->a != variable || i->arg[k] < s->loop) continue;
            if (!is_free(i)) return false;
            reads++;
        }
    }
    return branch && reads == sets;
}

static int find_sum(const Sums *s, KRef variable) {
    for (int k = 0; k < s->n; k++)
        if (s->sum[k] == variable) return k;
    return -1;
}

/* Whether a CONTINUE ends an IF of the body without an ELSE. */
static bool ends_branch(const Sums *s, KRef r) {
    KRef branch = s->f->regions[r].around;
    bool last = get_ins(s, r + 1)->op == K_END && s->f->regions[r + 1].opener == branch;
    return last && get_ins(s, branch)->op == K_IF && s->f->regions[branch].around == s->loop && !get_ins(s, r)->imm;
}

/* Whether the body is neither left nor has loops. */
static bool is_simple(Sums *s) {
    for (KRef r = s->loop + 1; r < s->end; r++) {
        uint8_t op = get_ins(s, r)->op;
        if (kir_is_loop(op) || op == K_BREAK || op == K_RET || (op == K_CONTINUE && !ends_branch(s, r))) return false;
        s->continues |= op == K_CONTINUE;
    }
    return true;
}

static bool is_candidate(void *pass, KRef loop) {
    Sums *s = pass;
    s->loop = loop, s->end = s->f->regions[loop].end, s->n = 0, s->continues = false;
    if (!is_simple(s)) return false;
    for (KRef r = loop + 1; r < s->end; r++) {
        const KIns *i = get_ins(s, r);
        if (i->op != K_SET || i->a > loop || s->n == SUMS || find_sum(s, i->a) >= 0) continue;
        if (is_sum(s, i->a)) s->sum[s->n++] = i->a;
    }
    return s->n > 0;
}

static void copy_one(Sums *s, KRef r) {
    const KIns *i = get_ins(s, r);
    int k = i->op == K_GET || i->op == K_SET ? find_sum(s, i->a) : -1;
    s->to->pos = i->pos;
    if (k < 0) kir_copy_mapped(s->to, s->f, s->map, r);
    else if (i->op == K_GET) s->map[r] = kir_get(s->to, s->iteration[k]);
    else kir_set(s->to, s->iteration[k], s->map[i->b]);
}

static void replace_loop(void *pass) {
    Sums *s = pass;
    KFunc *to = s->to;
    int branches = 0;
    kir_copy_mapped(to, s->f, s->map, s->loop);
    to->pos = get_ins(s, s->loop)->pos;
    for (int k = 0; k < s->n; k++)
        s->iteration[k] = kir_local(to, kir_const_num(to, (qs_dtype)get_ins(s, s->sum[k])->dtype, -0.0, to->pos));
    for (KRef r = s->loop + 1; r < s->end; r++) {
        if (get_ins(s, r)->op != K_CONTINUE) copy_one(s, r);
        else kir_flow(to, K_ELSE, 0), branches++, r++; /* the END of the IF comes last */
    }
    while (branches--) kir_flow(to, K_END, 0);
    for (int k = 0; k < s->n; k++) {
        KRef sum = s->map[s->sum[k]], more = kir_get(to, s->iteration[k]);
        kir_set(to, sum, kir_emit(to, (KMake){K_ADD, .flag = KFLAG_REASSOC, .a = kir_get(to, sum), .b = more}));
    }
    kir_flow(to, K_END, 0);
}

const KFunc *kconditionalsums_move(Ctx *c, Arena *a, const KFunc *f) {
    Sums s = {.f = f};
    return kir_replace_loops(c, a, f, (KLoopPass){&s, &s.to, &s.map, is_candidate, replace_loop});
}
