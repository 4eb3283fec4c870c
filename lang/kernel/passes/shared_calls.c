/* shared_calls.c -- computes equal calls in functions that call themselves once.
 *
 *     moves = transfer(n-1, from, other, to)              moves = transfer(n-1)
 *     moves = moves + 1 + transfer(n-1, other, to, from)  moves = moves + 1 + moves
 *
 * An argument that the functions only pass on does not count: it is replaced by 0.  Then a call is replaced by an
 * earlier one of the same function with the same arguments, if that has certainly run before.  Argument 0, the number
 * of frames, is compared too, so a call that would fail is replaced only by one that has failed.
 *
 * The functions must write no memory except their own, so that equal calls give equal results. */
#include "lang/kernel/ir/kir.h"
#include "lang/kernel/passes/passes.h"

#include <string.h>

enum { MOST_CALLS = 64 };

typedef struct {
    KRef call; /* in the copy */
    uint64_t callee;
    KRef args[KIR_SLOTS]; /* in the copy; 0: it does not count */
} SharedCall;

typedef struct {
    Ctx *c;
    Arena *arena;
    KFunc **callees;
    int n;
    uint32_t *used; /* by function: bits of the inputs from which more is computed than arguments that do not count */
} Sharing;

static uint64_t callee_of(const KFunc *f, KRef arg) {
    while (f->ins[arg].op != K_CALL) arg++;
    return f->ins[arg].imm;
}

static bool counts(const Sharing *s, const KFunc *f, KRef arg) {
    uint64_t slot = f->ins[arg].imm;
    return !slot || s->used[callee_of(f, arg)] >> slot & 1;
}

static bool is_root(const Sharing *s, const KFunc *f, KRef r, const bool *live) {
    const KIns *i = &f->ins[r];
    switch ((KOp)i->op) {
    case K_LOCAL:
    case K_LARRAY: return false;
    case K_SET: return live[i->a];
    case K_ARG: return counts(s, f, r);
    default: return kir_ops[i->op].effect != KE_PURE && kir_ops[i->op].effect != KE_READ;
    }
}

/* Marks the instructions that have an effect; returns whether more inputs are used than known before. */
static bool mark_inputs(const Sharing *s, int n) {
    const KFunc *f = s->callees[n];
    bool *live = qarena_alloc(s->arena, f->nins), changed = true;
    uint32_t before = s->used[n];
    while (changed) {
        changed = false;
        for (KRef r = f->nins; --r;) {
            if (!live[r] && is_root(s, f, r, live)) live[r] = changed = true;
            for (int k = 0; live[r] && k < 3; k++) {
                KRef operand = f->ins[r].arg[k];
                if (operand && !live[operand]) live[operand] = changed = true;
            }
        }
    }
    for (KRef r = 1; r < f->nins; r++)
        if (live[r] && f->ins[r].op == K_INPUT) s->used[n] |= (uint32_t)1 << f->ins[r].imm;
    return s->used[n] != before;
}

static bool is_pure(const KFunc *f) {
    for (KRef r = 1; r < f->nins; r++) {
        uint8_t op = f->ins[r].op;
        bool own = op == K_LOCAL || op == K_SET || op == K_LARRAY || op == K_ASTORE || op == K_OUTPUT || op == K_ARG ||
                   op == K_CALL;
        bool writes = kir_ops[op].effect == KE_WRITE || kir_ops[op].effect == KE_SYNC;
        if (writes && !own) return false;
    }
    return true;
}

static KRef find_call(const SharedCall *known, int n, const SharedCall *call) {
    for (int i = 0; i < n; i++)
        if (known[i].callee == call->callee && !memcmp(known[i].args, call->args, sizeof call->args))
            return known[i].call;
    return 0;
}

/* Copies the arguments and the call that begin at r, unless the call is known.  Returns the CALL. */
static KRef copy_call(const Sharing *s, KFunc *to, const KFunc *f, KRef *map, KRef r, SharedCall *known, int *n) {
    SharedCall call = {.callee = callee_of(f, r)};
    KRef first = r;
    for (; f->ins[r].op != K_CALL; r++) call.args[f->ins[r].imm] = counts(s, f, r) ? map[f->ins[r].a] : 0;
    if ((map[r] = find_call(known, *n, &call))) return r;
    KRef args[KIR_SLOTS];
    for (KRef k = first; k < r; k++) {
        const KIns *i = &f->ins[k];
        args[i->imm] = call.args[i->imm] ? call.args[i->imm] : kir_zero(to, (qs_dtype)f->ins[i->a].dtype);
    }
    for (KRef k = first; k < r; k++) kir_copy(to, &f->ins[k], args[f->ins[k].imm], 0, 0);
    kir_copy_mapped(to, f, map, r);
    call.call = map[r];
    if (*n < MOST_CALLS) known[(*n)++] = call;
    return r;
}

static KFunc *copy_function(const Sharing *s, const KFunc *f) {
    KFunc *to = kir_shell_with(s->c, s->arena, f, f->params, f->nparams);
    KRef *map = qarena_alloc(s->arena, qmem_size(f->nins, sizeof *map, 0));
    int *before = qarena_alloc(s->arena, qmem_size(f->nins, sizeof *before, 0)), n = 0; /* by opener: known calls */
    SharedCall known[MOST_CALLS];
    for (KRef r = 1; r < f->nins; r++) {
        uint8_t op = f->ins[r].op;
        if (op == K_ARG) {
            r = copy_call(s, to, f, map, r, known, &n);
            continue;
        }
        if (op == K_ELSE || op == K_END) n = before[f->regions[r].opener];
        kir_copy_mapped(to, f, map, r);
        if (kir_opens(op)) before[r] = n;
        if (op == K_ELSE) before[r] = n;
    }
    kir_seal(to);
    return to;
}

/* ARGs directly precede their CALL. */
static bool has_plain_calls(const KFunc *f) {
    for (KRef r = 1; r < f->nins; r++)
        if (f->ins[r].op == K_ARG && f->ins[r + 1].op != K_ARG && f->ins[r + 1].op != K_CALL) return false;
    return true;
}

void ksharedcalls_find(Ctx *c, Arena *arena, KFunc **callees, int n) {
    Sharing s = {c, arena, callees, n, qarena_alloc(arena, qmem_size((size_t)n + 1, sizeof *s.used, 0))};
    bool changed = true;
    for (int i = 0; i < n; i++)
        if (!is_pure(callees[i]) || !has_plain_calls(callees[i])) return;
    while (changed) {
        changed = false;
        for (int i = 0; i < n; i++) changed |= mark_inputs(&s, i);
    }
    for (int i = 0; i < n; i++) callees[i] = copy_function(&s, callees[i]);
}
