/* extremes.c -- lets loops that look for a maximum or minimum become vectors.
 *
 *     FOR i = a..b                        best = -inf
 *       IF s < x[i]                       FOR i = a..b
 *         s = x[i]                 =>       best = max(best, x[i])      of numbers, in any order
 *         n = i                           END
 *       END                               IF s < best
 *     END                                   k = the first i with x[i] == best
 *                                           s = x[k]
 *                                           n = k
 *                                         END
 *
 * Values and bits stay the same: NaN never wins, the first of equal values wins (for <= the last one), and a zero has
 * the sign that the loop would have given it.  `s = max(s, x[i])` needs no index, only the sign of a zero; if
 * there was no number, the loop runs once more as it was written.  So does a short loop.  In kernels, `max` of two
 * zeros may be either of them.
 *
 * In `if x[i] < a, a = x[i]  elseif b < x[i], b = x[i]` the second test does not depend on the first one if a <= b
 * when the loop begins, because then a <= b holds in each iteration.  Otherwise the loop runs as it was written. */
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/passes/opt.h"
#include "lang/kernel/passes/plan.h"

#include <math.h>
#include <stdlib.h>

enum {
    EXTREMES = 4 /* of a loop */,
    LONGEST = 24 /* instructions that compute a value */,
    FEWEST = 32 /* iterations */,
    CHANNELS = 4 /* most elements between those that neighbouring iterations load */
};

typedef struct {
    KRef variable, value; /* of f; an iteration compares this value */
    KRef compare;         /* MIN, MAX, LT or LE */
    KRef branch, end;     /* IF … END with what happens if the value wins; the SET itself if there is none */
    bool most, last;      /* the largest value; the last of equal ones */
    bool more;            /* the branch sets other variables, too */
    KRef first;           /* the IF whose ELSE contains the branch; 0: none */
    KRef best;            /* in the copy: the extreme of the numbers */
} Extreme;

typedef struct {
    Arena *arena;
    const KFunc *f;
    KFunc *to;
    KRef *map;      /* by instruction of f: its copy */
    KRef loop, end; /* the FOR that is looked at */
    bool rows;      /* of a kernel: loops have no flags, and zeros no order */
    Extreme extreme[EXTREMES];
    int n;
} Search;

static const KIns *get_ins(const Search *s, KRef r) { return &s->f->ins[r]; }
static bool is_inside(const Search *s, KRef r) { return r > s->loop && r < s->end; }
static bool is_get(const Search *s, KRef r, KRef variable) {
    return is_inside(s, r) && get_ins(s, r)->op == K_GET && get_ins(s, r)->a == variable;
}

/* -- conditions ---------------------------------------------------------------------------------------------------- */
typedef struct {
    int sets, reads; /* reads: operands that are GETs */
    bool free;       /* each SET adds in any order */
} Uses;

static Uses count_uses(const Search *s, KRef variable) {
    Uses u = {.free = true};
    for (KRef r = s->loop + 1; r < s->end; r++) {
        const KIns *i = get_ins(s, r);
        if (i->op == K_SET && i->a == variable) u.sets++, u.free &= get_ins(s, i->b)->flag == KFLAG_REASSOC;
        for (int k = 0; k < 3; k++) u.reads += is_get(s, i->arg[k], variable);
    }
    return u;
}

/* The number of instructions of the body that compute r, all outside of branches but `branch` and the ELSE around it;
 * LONGEST: too many, or they are expensive, or depend on other iterations. */
static int count_steps(const Search *s, KRef r, KRef branch) {
    const KIns *i = get_ins(s, r);
    int n = i->op != K_CONST;
    if (!is_inside(s, r)) return 0;
    bool reads = (i->op == K_LOAD && !i->b) || (i->op == K_GET && !count_uses(s, i->a).sets);
    KRef around = s->f->regions[r].around;
    bool open = around == s->loop || around == branch || (branch && around == s->f->regions[branch].around);
    if (!open || i->op == K_MATH) return LONGEST;
    if (!reads && kir_ops[i->op].effect != KE_PURE) return LONGEST;
    for (int k = 0; k < 3 && n < LONGEST; k++) n += i->op == K_GET ? 0 : count_steps(s, i->arg[k], branch);
    return n;
}

/* Sets compare, value, most and last from `s < e`, `e <= s` …; the variable is s. */
static bool is_comparison(const Search *s, KRef r, Extreme *e) {
    const KIns *i = get_ins(s, r);
    e->compare = r, e->most = is_get(s, i->a, e->variable), e->last = i->op == K_LE;
    e->value = e->most ? i->b : i->a;
    return is_inside(s, r) && (i->op == K_LT || i->op == K_LE) && (e->most || is_get(s, i->b, e->variable));
}

/* The loop has no stores, so that equal LOADs have the same value. */
static bool is_same(const Search *s, KRef a, KRef b) {
    const KIns *x = get_ins(s, a), *y = get_ins(s, b);
    if (a == b) return true;
    if (!is_inside(s, a) || !is_inside(s, b) || (kir_ops[x->op].effect != KE_PURE && x->op != K_LOAD)) return false;
    if (x->op != y->op || x->dtype != y->dtype || x->flag != y->flag || x->imm != y->imm) return false;
    for (int k = 0; k < 3; k++)
        if (!is_same(s, x->arg[k], y->arg[k])) return false;
    return true;
}

/* Whether the ELSE contains values, and the branch of another extreme. */
static bool has_alternative(const Search *s, KRef other) {
    int branches = 0;
    for (KRef r = other + 1; r < s->f->regions[other].end; r++) {
        const KIns *i = get_ins(s, r);
        if (i->op == K_IF) branches++, r = s->f->regions[r].end;
        else if (kir_ops[i->op].effect == KE_WRITE || kir_ops[i->op].effect == KE_FLOW) return false;
    }
    return branches == 1;
}

static int count_operands(const Search *s, KRef value) {
    int uses = 0;
    for (KRef r = s->loop + 1; r < s->end; r++)
        for (int k = 0; k < 3; k++) uses += get_ins(s, r)->arg[k] == value;
    return uses;
}

/* Whether the branch of the comparison only sets variables that the loop does not read, and nothing else uses the
 * comparison. */
static bool is_branch(const Search *s, KRef set, Extreme *e) {
    e->branch = s->f->regions[set].around, e->end = s->f->regions[e->branch].end;
    const KIns *i = get_ins(s, e->branch);
    KRef around = s->f->regions[e->branch].around;
    if (get_ins(s, around)->op == K_ELSE)
        e->first = s->f->regions[around].opener, around = s->f->regions[around].around;
    if (i->op != K_IF || around != s->loop) return false;
    if (get_ins(s, e->end)->op != K_END && !has_alternative(s, e->end)) return false;
    if (!is_comparison(s, i->a, e) || !is_same(s, get_ins(s, set)->b, e->value)) return false;
    if (count_operands(s, i->a) != 1) return false;
    for (KRef r = e->branch + 1; r < e->end; r++) {
        i = get_ins(s, r);
        if (i->op == K_SET && r != set) {
            Uses u = count_uses(s, i->a);
            if (i->a > s->loop || u.sets != 1 || u.reads || count_steps(s, i->b, e->branch) >= LONGEST) return false;
            e->more = true;
        } else if (i->op != K_SET && count_steps(s, r, e->branch) >= LONGEST) return false;
    }
    return true;
}

/* Whether r is `n = s < e ? i : n`, which goes with `s = s < e ? e : s`. */
static bool is_companion(const Search *s, const Extreme *e, KRef r) {
    const KIns *set = get_ins(s, r), *i = get_ins(s, set->b);
    bool chooses = set->op == K_SET && is_inside(s, set->b) && i->op == K_SELECT && i->a == e->compare;
    return chooses && r != e->branch && e->branch == e->end && is_get(s, i->c, set->a);
}

/* Finds the other variables that the comparison sets; false: it is used otherwise, too. */
static bool find_companions(const Search *s, Extreme *e) {
    int companions = 0;
    for (KRef r = s->loop + 1; r < s->end; r++) {
        if (!is_companion(s, e, r)) continue;
        Uses u = count_uses(s, get_ins(s, r)->a);
        KRef value = get_ins(s, get_ins(s, r)->b)->b;
        if (get_ins(s, r)->a > s->loop || u.sets != 1 || u.reads != 1 || count_steps(s, value, 0) >= LONGEST)
            return false;
        companions++;
    }
    e->more = companions > 0;
    return count_operands(s, e->compare) == 1 + companions;
}

/* s = max(s, e), s = s < e ? e : s */
static bool is_choice(const Search *s, KRef set, Extreme *e) {
    KRef v = get_ins(s, set)->b;
    const KIns *i = get_ins(s, v);
    e->branch = e->end = set;
    if (s->f->regions[set].around != s->loop || !is_inside(s, v)) return false;
    if (i->op == K_SELECT)
        return is_comparison(s, i->a, e) && is_same(s, i->b, e->value) && is_get(s, i->c, e->variable) &&
               find_companions(s, e);
    e->compare = v, e->most = i->op == K_MAX, e->value = is_get(s, i->a, e->variable) ? i->b : i->a;
    return (i->op == K_MAX || i->op == K_MIN) && kir_is_float((qs_dtype)i->dtype) &&
           (is_get(s, i->a, e->variable) || is_get(s, i->b, e->variable));
}

static bool is_extreme(const Search *s, KRef set, Extreme *e) {
    Uses u = count_uses(s, get_ins(s, set)->a);
    *e = (Extreme){.variable = get_ins(s, set)->a};
    if (u.sets != 1 || !(is_choice(s, set, e) || is_branch(s, set, e))) return false;
    qs_dtype d = (qs_dtype)get_ins(s, e->value)->dtype;
    int reads = get_ins(s, get_ins(s, set)->b)->op == K_SELECT ? 2 : 1;
    KRef around = s->f->regions[e->branch].around; /* the loop or an ELSE */
    bool computed = is_inside(s, e->value) && count_steps(s, e->value, around) < LONGEST;
    return u.reads == reads && computed && (kir_is_float(d) || (e->more && (d == QS_I64 || d == QS_I32)));
}

/* Whether the body has no loops and stores, and neighbouring iterations load neighbouring elements or pixels. */
static bool is_plain(const Search *s) {
    Invariants same = {.arena = s->arena, .f = s->f, .loop = s->loop, .end = s->end};
    int64_t step;
    for (KRef r = s->loop + 1; r < s->end; r++) {
        const KIns *i = get_ins(s, r);
        bool flow = i->op == K_IF || i->op == K_ELSE || i->op == K_END;
        bool local = i->op == K_LOCAL || i->op == K_GET || i->op == K_SET;
        bool load = i->op == K_LOAD && !i->b && kaffine_stride(&same, i->a, &step) && llabs(step) <= CHANNELS;
        if (!flow && !local && !load && kir_ops[i->op].effect != KE_PURE) return false;
    }
    return true;
}

/* Returns the extreme to which the SET belongs; NULL: none. */
static const Extreme *find_owner(const Search *s, KRef set) {
    for (const Extreme *e = s->extreme; e < s->extreme + s->n; e++)
        if ((set >= e->branch && set <= e->end) || is_companion(s, e, set)) return e;
    return NULL;
}

/* Whether the branches of two extremes exclude each other if the smallest value is not above the largest. */
static bool are_alternatives(const Search *s, const Extreme *first, const Extreme *second) {
    return first->branch == second->first && first->most != second->most && !(first->last && second->last) &&
           is_same(s, first->value, second->value);
}

/* Whether each branch with an ELSE is followed by the extreme in this ELSE, and the other way round. */
static bool has_pairs(const Search *s) {
    for (int k = 0; k < s->n; k++) {
        const Extreme *e = &s->extreme[k];
        bool has_else = get_ins(s, e->end)->op == K_ELSE;
        if (has_else && !(k + 1 < s->n && are_alternatives(s, e, e + 1))) return false;
        if (e->first && !(k > 0 && are_alternatives(s, e - 1, e))) return false;
    }
    return true;
}

/* Iterations of the loop must be independent but for extremes and sums in any order. */
static bool is_candidate(void *pass, KRef loop) {
    Search *s = pass;
    const KIns *i = get_ins(s, loop), *set;
    double step;
    int64_t iterations = kplan_iterations(s->f, loop);
    s->loop = loop, s->end = s->f->regions[loop].end, s->n = 0;
    if (!kir_is_const(s->f, i->c, &step) || step != 1 || (i->flag != KFLAG_REASSOC && !s->rows)) return false;
    if ((iterations >= 0 && iterations < FEWEST) || !is_plain(s)) return false;
    for (KRef r = loop + 1; r < s->end && s->n < EXTREMES; r++)
        if (get_ins(s, r)->op == K_SET && get_ins(s, r)->a < loop && is_extreme(s, r, &s->extreme[s->n])) s->n++;
    for (KRef r = loop + 1; r < s->end; r++) {
        set = get_ins(s, r);
        if (set->op != K_SET || set->a > loop || find_owner(s, r)) continue;
        Uses u = count_uses(s, set->a);
        if (u.reads && !u.free) return false;
    }
    return s->n > 0 && has_pairs(s);
}

/* -- the copy ------------------------------------------------------------------------------------------------------ */
static bool is_float(const Search *s, const Extreme *e) { return kir_is_float((qs_dtype)get_ins(s, e->value)->dtype); }

/* The value that loses against all others. */
static KRef make_worst(Search *s, const Extreme *e) {
    qs_dtype d = (qs_dtype)get_ins(s, e->value)->dtype;
    if (is_float(s, e)) return kir_const_num(s->to, d, e->most ? -INFINITY : INFINITY, s->to->pos);
    int64_t least = d == QS_I64 ? INT64_MIN : INT32_MIN;
    return kir_const_int(s->to, d, e->most ? least : -1 - least, s->to->pos);
}

/* Adds the value of an iteration to `best`. */
static void compare_value(Search *s, const Extreme *e) {
    KRef v = s->map[e->value];
    if (is_float(s, e)) v = kir_select(s->to, kir_op(s->to, K_EQ, v, v), v, make_worst(s, e));
    KMake next = {e->most ? K_MAX : K_MIN, .flag = is_float(s, e) ? KFLAG_REASSOC : 0, .a = kir_get(s->to, e->best)};
    next.b = v;
    kir_set(s->to, e->best, kir_emit(s->to, next));
}

/* Whether r ends an ELSE that is not copied. */
static bool is_end_of_else(const Search *s, KRef r) {
    for (int k = 0; k < s->n; k++)
        if (s->extreme[k].first && s->f->regions[s->extreme[k - 1].end].end == r) return true;
    return false;
}

static void copy_comparing(Search *s) {
    kir_copy_mapped(s->to, s->f, s->map, s->loop);
    for (KRef r = s->loop + 1; r < s->end; r++) {
        const Extreme *e = find_owner(s, r);
        if (is_end_of_else(s, r)) continue;
        if (!e) kir_copy_mapped(s->to, s->f, s->map, r);
        else if (r == e->branch) compare_value(s, e), r = e->end;
    }
    kir_flow(s->to, K_END, 0);
}

/* Copies r and what it is computed from. */
static KRef copy_value(Search *s, KRef r) {
    const KIns *i = get_ins(s, r);
    if (!is_inside(s, r)) return s->map[r];
    KRef v[3];
    for (int k = 0; k < 3; k++) v[k] = i->op == K_GET ? s->map[i->arg[k]] : copy_value(s, i->arg[k]);
    return s->map[r] = kir_copy(s->to, i, v[0], v[1], v[2]);
}

/* Begins the loop once more; returns the value of an iteration. */
static KRef begin_again(Search *s, const Extreme *e) {
    const KIns *i = get_ins(s, s->loop);
    s->map[s->loop] = kir_copy(s->to, i, s->map[i->a], s->map[i->b], s->map[i->c]);
    return copy_value(s, e->value);
}

/* The first or last counter of the loop, as int64. */
static KRef get_bound(Search *s, KRef r) { return kir_cast(s->to, QS_I64, s->map[r]); }

/* Executes the branch for the first iteration, or the last one, with the value `best`. */
static void find_index(Search *s, const Extreme *e, KRef best) {
    KFunc *to = s->to;
    KRef a = get_bound(s, get_ins(s, s->loop)->a), b = get_bound(s, get_ins(s, s->loop)->b), one = kir_int(to, 1);
    KRef none = e->last ? kir_op(to, K_SUB, a, one) : kir_op(to, K_ADD, b, one), index = kir_local(to, none);
    KRef v = begin_again(s, e), counter = kir_cast(to, QS_I64, s->map[s->loop]);
    KRef at = kir_select(to, kir_op(to, K_EQ, v, best), counter, none);
    kir_set(to, index, kir_op(to, e->last ? K_MAX : K_MIN, kir_get(to, index), at));
    kir_flow(to, K_END, 0);
    KRef found = kir_get(to, index);
    kir_flow(to, K_IF, e->last ? kir_op(to, K_LE, a, found) : kir_op(to, K_LE, found, b));
    s->map[s->loop] = kir_cast(to, (qs_dtype)get_ins(s, s->loop)->dtype, found);
    v = copy_value(s, e->value);
    if (e->branch == e->end) kir_set(to, s->map[e->variable], v);
    for (KRef r = e->branch + 1; r < e->end; r++) {
        const KIns *i = get_ins(s, r);
        if (i->op == K_SET) kir_set(to, s->map[i->a], copy_value(s, i->b));
    }
    for (KRef r = s->loop + 1; r < s->end; r++) {
        const KIns *i = get_ins(s, r);
        if (is_companion(s, e, r)) kir_set(to, s->map[i->a], copy_value(s, get_ins(s, i->b)->b));
    }
    kir_flow(to, K_END, 0);
}

static KRef is_zero(Search *s, KRef v) {
    return kir_op(s->to, K_EQ, v, kir_const_num(s->to, (qs_dtype)s->to->ins[v].dtype, 0, s->to->pos));
}

/* `if s < e, s = e`, and the like */
static void choose_best(Search *s, const Extreme *e, KRef best) {
    KFunc *to = s->to;
    KRef old = kir_get(to, s->map[e->variable]);
    kir_flow(to, K_IF, kir_op(to, e->last ? K_LE : K_LT, e->most ? old : best, e->most ? best : old));
    if (e->more) find_index(s, e, best);
    else {
        kir_flow(to, K_IF, is_zero(s, best));
        find_index(s, e, best);
        kir_flow(to, K_ELSE, 0);
        kir_set(to, s->map[e->variable], best);
        kir_flow(to, K_END, 0);
    }
    kir_flow(to, K_END, 0);
}

/* `best` is a zero: gives it the sign of the zero that the loop would have chosen.  1/v has the sign of a zero, and no
 * other value has that sign, because it would have won. */
static void set_sign(Search *s, const Extreme *e) {
    KFunc *to = s->to;
    qs_dtype d = (qs_dtype)get_ins(s, e->value)->dtype;
    KRef zero = kir_const_num(to, d, 0, to->pos), minus = kir_const_num(to, d, -0.0, to->pos);
    KRef any = kir_local(to, kir_int(to, 0)), v = begin_again(s, e);
    KRef sign = kir_op(to, K_DIV, kir_const_num(to, d, 1, to->pos), v);
    KRef wins = e->most ? kir_op(to, K_LT, zero, sign) : kir_op(to, K_LT, sign, zero);
    kir_set(to, any, kir_op(to, K_MAX, kir_get(to, any), kir_select(to, wins, kir_int(to, 1), kir_int(to, 0))));
    kir_flow(to, K_END, 0);
    wins = kir_op(to, K_LT, kir_int(to, 0), kir_get(to, any));
    kir_set(to, e->best, kir_select(to, wins, e->most ? zero : minus, e->most ? minus : zero));
}

/* s = max(s, e) */
static void combine_best(Search *s, const Extreme *e, KRef best) {
    KFunc *to = s->to;
    KOp op = (KOp)get_ins(s, e->compare)->op;
    KRef variable = s->map[e->variable];
    kir_flow(to, K_IF, kir_op(to, K_EQ, best, make_worst(s, e)));
    KRef v = begin_again(s, e);
    kir_set(to, variable, kir_op(to, op, kir_get(to, variable), v));
    kir_flow(to, K_END, 0);
    kir_flow(to, K_ELSE, 0);
    if (!s->rows) {
        kir_flow(to, K_IF, is_zero(s, best));
        set_sign(s, e);
        kir_flow(to, K_END, 0);
    }
    kir_set(to, variable, kir_op(to, op, kir_get(to, variable), kir_get(to, e->best)));
    kir_flow(to, K_END, 0);
}

/* Whether the loop runs as it was written: it is short, or a smallest value is above the largest. */
static KRef keeps_loop(Search *s) {
    KFunc *to = s->to;
    const KIns *i = get_ins(s, s->loop);
    KRef keeps = kir_op(to, K_LT, kir_op(to, K_SUB, get_bound(s, i->b), get_bound(s, i->a)), kir_int(to, FEWEST));
    for (const Extreme *e = s->extreme; e < s->extreme + s->n; e++) {
        if (!e->first) continue;
        KRef before = kir_get(to, s->map[e[-1].variable]), now = kir_get(to, s->map[e->variable]);
        keeps = kir_op(to, K_OR, keeps, kir_op(to, K_LT, e->most ? now : before, e->most ? before : now));
    }
    return keeps;
}

static void replace_loop(void *pass) {
    Search *s = pass;
    KFunc *to = s->to;
    to->pos = get_ins(s, s->loop)->pos;
    kir_flow(to, K_IF, keeps_loop(s));
    for (KRef r = s->loop; r <= s->end; r++) kir_copy_mapped(to, s->f, s->map, r);
    kir_flow(to, K_ELSE, 0);
    for (int k = 0; k < s->n; k++) s->extreme[k].best = kir_local(to, make_worst(s, &s->extreme[k]));
    copy_comparing(s);
    for (int k = 0; k < s->n; k++) {
        const Extreme *e = &s->extreme[k];
        KOp op = (KOp)get_ins(s, e->compare)->op;
        KRef best = kir_get(to, e->best);
        if (op == K_LT || op == K_LE) choose_best(s, e, best);
        else combine_best(s, e, best);
    }
    kir_flow(to, K_END, 0);
}

const KFunc *kextremes_free(Ctx *c, Arena *a, const KFunc *f) {
    Search s = {.arena = a, .f = f};
    return kir_replace_loops(c, a, f, (KLoopPass){&s, &s.to, &s.map, is_candidate, replace_loop});
}

const KFunc *kextremes_free_rows(Ctx *c, Arena *a, const KFunc *f, KSplit *split) {
    Search s = {.arena = a, .f = f, .rows = true};
    if (f->strict || f->rounds) return f;
    return kopt_replace_row_loops(c, a, f, split, (KLoopPass){&s, &s.to, &s.map, is_candidate, replace_loop});
}
