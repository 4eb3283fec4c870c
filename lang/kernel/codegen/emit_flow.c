/* emit_flow.c -- emits control flow as LLVM IR: IF, loops, CHECK, and calls of functions that call themselves. */
#include "lang/kernel/codegen/emit_llvm.h"
#include "lang/kernel/passes/plan.h"

/* -- control flow -------------------------------------------------------------------------------------------------- */
void emit_begin_if(Emit *e, KRef r) {
    uint32_t yes = emit_new(e), other = e->label[r] = emit_new(e);
    emit_branch(e, emit_arg(e, e->f->ins[r].a), yes, other);
    emit_label(e, yes);
}

void emit_begin_else(Emit *e, KRef r) {
    e->label[r] = emit_new(e);
    emit_jump(e, e->label[r]);
    emit_label(e, e->label[e->f->regions[r].opener]);
}

static EmitLoop *push_loop(Emit *e) {
    EmitLoop *l = &e->loop[e->depth++];
    l->loop = 0;
    l->head = emit_new(e), l->next = emit_new(e), l->out = emit_new(e), l->k = emit_new(e), l->k1 = emit_new(e);
    return l;
}

/* Whether the LOOP exists only to be left: its only iteration ends with a jump out of it. */
static bool runs_once(const Emit *e, KRef r) {
    KRef last = e->f->regions[r].end - 1;
    if (e->f->ins[last].op != K_BREAK && e->f->ins[last].op != K_RET) return false;
    for (KRef i = r + 1; i < last; i++)
        if (e->f->ins[i].op == K_CONTINUE && kir_jump_target(e->f, i) == r) return false;
    return true;
}

void emit_begin_loop(Emit *e, KRef r) {
    EmitLoop *l = push_loop(e);
    emit_label(e, l->head);
    if (e->poll && !runs_once(e, r)) e->poll(e);
}

/* Emits the number of iterations of a FOR, as an unsigned number. */
static Opnd count_iterations(Emit *e, const KIns *i, Opnd a, Opnd b, Opnd c) {
    double step = 0;
    bool known = kir_is_const(e->f, i->c, &step);
    if (known && step == 0) return emit_lit(0);
    Opnd up_ok = emit_bin(e, "icmp sle", "i64", a, b), down_ok = emit_bin(e, "icmp sge", "i64", a, b);
    Opnd up = emit_bin(e, "sub", "i64", b, a), down = emit_bin(e, "sub", "i64", a, b), ok, span, by;
    if (known) {
        ok = step > 0 ? up_ok : down_ok, span = step > 0 ? up : down;
        by = step > 0 ? c : emit_bin(e, "sub", "i64", emit_lit(0), c);
    } else {
        Opnd rising = emit_bin(e, "icmp sgt", "i64", c, emit_lit(0)),
             still = emit_bin(e, "icmp eq", "i64", c, emit_lit(0));
        ok = emit_select(e, still, "i1", emit_opnd("false"), emit_select(e, rising, "i1", up_ok, down_ok));
        span = emit_select(e, rising, "i64", up, down);
        by = emit_select(e, rising, "i64", c, emit_bin(e, "sub", "i64", emit_lit(0), c));
        by = emit_select(e, still, "i64", emit_lit(1), by);
    }
    Opnd steps = known && (step == 1 || step == -1) ? span : emit_bin(e, "udiv", "i64", span, by);
    return emit_select(e, ok, "i64", emit_bin(e, "add", "i64", steps, emit_lit(1)), emit_lit(0));
}

/* A loop must poll for interrupts, but a test in each iteration would prevent vectorization.  Therefore innermost loops
 * run in stretches of so many iterations, with a test before each stretch. */
enum { STRETCH = 1 << 16 };

static bool is_short(const KFunc *f, KRef loop) {
    const KIns *last = &f->ins[f->ins[loop].b];
    double most, first;
    bool limited = kir_is_const(f, f->ins[loop].a, &first) && last->op == K_MIN && kir_is_const(f, last->b, &most);
    return kplan_unrolls(f, loop) || (limited && most - first < STRETCH / 4);
}

static bool has_loop(const KFunc *f, KRef loop, bool is_loop(const KFunc *f, KRef r)) {
    for (KRef r = loop + 1; r < f->regions[loop].end; r++)
        if (f->ins[r].op == K_LOOP || (f->ins[r].op == K_FOR && is_loop(f, r))) return true;
    return false;
}

static bool is_any(const KFunc *f, KRef loop) { return (void)f, (void)loop, true; }
static bool is_long(const KFunc *f, KRef loop) { return !is_short(f, loop); }

static bool runs_in_stretches(const Emit *e, KRef loop) {
    return e->poll && !is_short(e->f, loop) && !has_loop(e->f, loop, is_long);
}

/* Whether the iterations of a short loop of known length fill a vector: they store elements, or sum elements at indices
 * that are elements, which LLVM otherwise loads one by one. */
static bool fills_vector(const KFunc *f, KRef loop) {
    enum { SHORT = 8 };
    bool stores = false, sets = false, gathers = false;
    for (KRef r = loop + 1; r < f->regions[loop].end; r++) {
        const KIns *i = &f->ins[r];
        if (i->op == K_SET && i->a < loop) sets = true;
        if (i->op == K_SET && i->a < loop && kplan_is_recurrence(f, loop, r)) return false;
        stores |= i->op == K_STORE || i->op == K_ASTORE;
        gathers |= i->op == K_LOAD && f->ins[kir_uncast(f, i->a)].op == K_LOAD;
    }
    return (gathers || (stores && !sets)) && kplan_iterations(f, loop) >= SHORT;
}

/* Begins or ends accesses that LLVM may reorder, because iterations are independent. */
static void declare_independent(Emit *e, KRef loop, EmitLoop *l) {
    unsigned flag = e->f->ins[loop].flag;
    bool free_order = e->f->strict && e->poll && (flag == KFLAG_REASSOC || flag == KFLAG_AHEAD);
    bool flagged = free_order && (!kplan_unrolls(e->f, loop) || fills_vector(e->f, loop));
    l->group = e->group;
    bool independent =
        flagged && !has_loop(e->f, loop, is_any) && kplan_stores_last(e->f, loop + 1, e->f->regions[loop].end);
    l->loop = independent ? loop : 0;
    if (independent) e->group = ", !llvm.access.group !0", e->parallel++;
}

/* Begins a loop over stretches and returns the first iteration and the limit of a stretch. */
static void begin_stretch(Emit *e, const EmitLoop *l, uint32_t before, Opnd n, Opnd *first, Opnd *limit,
                          uint32_t *from) {
    uint32_t outer = l->stretch, go = emit_new(e), ready = emit_new(e);
    emit_label(e, outer);
    /* The next stretch begins at `limit`.  If it began at the counter, this use after the loop would keep LLVM from
     * putting the remainder of a stretch into vectors. */
    *limit = emit_opnd("%%t%u", emit_new(e));
    *first = emit_def(e, "phi i64 [ 0, %%L%u ], [ %s, %%L%u ]", before, limit->s, l->head);
    emit_branch(e, emit_def(e, "icmp ult i64 %s, %s", first->s, n.s), go, l->out);
    emit_label(e, go);
    e->poll(e);
    Opnd far = emit_def(e, "add nuw i64 %s, %d", first->s, STRETCH);
    emit_put(e, "%s = select i1 %s, i64 %s, i64 %s", limit->s, emit_bin(e, "icmp ult", "i64", far, n).s, far.s, n.s);
    emit_label(e, ready);
    *from = ready;
}

void emit_begin_for(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Opnd a = emit_wide(e, i->a), b = emit_wide(e, i->b), c = emit_wide(e, i->c), n = count_iterations(e, i, a, b, c);
    const char *wrap = i->dtype == QS_I32 ? " nsw" : ""; /* int64 can hold every value of an int counter */
    EmitLoop *l = push_loop(e);
    declare_independent(e, r, l);
    uint32_t before = emit_new(e), body = emit_new(e), from = before;
    Opnd first = emit_lit(0), limit = n;
    l->stretch = runs_in_stretches(e, r) ? emit_new(e) : 0;
    emit_label(e, before);
    if (l->stretch) begin_stretch(e, l, before, n, &first, &limit, &from);
    emit_label(e, l->head);
    emit_put(e, "%%t%u = phi i64 [ %s, %%L%u ], [ %%t%u, %%L%u ]", l->k, first.s, from, l->k1, l->next);
    emit_branch(e, emit_def(e, "icmp ult i64 %%t%u, %s", l->k, limit.s), body, l->stretch ? l->stretch : l->out);
    emit_label(e, body);
    Opnd far = emit_def(e, "mul%s i64 %%t%u, %s", wrap, l->k, c.s);
    emit_set_index(e, r, emit_def(e, "add%s i64 %s, %s", wrap, a.s, far.s));
}

uint32_t emit_loop_metadata(Emit *e, const char *properties) {
    uint32_t n = ++e->metadata;
    qtext_printf(&e->tail, "!%u = distinct !{!%u%s}\n", n, n, properties);
    return n;
}

static void back_edge(Emit *e, KRef loop, uint32_t head, bool parallel) {
    bool unrolls = kplan_unrolls(e->f, loop);
    const char *how = unrolls ? ", !{!\"llvm.loop.unroll.full\"}" : parallel ? ", !1" : NULL;
    if (unrolls && parallel) how = ", !1, !4, !5, !6"; /* it becomes vectors first */
    if (e->loops == LOOPS_SHORT) how = ", !{!\"llvm.loop.unroll.disable\"}";
    bool far = e->split && e->split->near.given && !e->near; /* rarely executed */
    if (e->loops == LOOPS_RARE && (far || !kplan_is_small(e->f, loop)))
        how = ", !{!\"llvm.loop.unroll.disable\"}, !{!\"llvm.loop.vectorize.enable\", i1 false}";
    if (how) emit_put(e, "br label %%L%u, !llvm.loop !%u", head, emit_loop_metadata(e, how));
    else emit_put(e, "br label %%L%u", head);
    e->dead = true;
}

void emit_end_region(Emit *e, KRef r) {
    KRef open = e->f->regions[r].opener;
    uint8_t op = e->f->ins[open].op;
    if (op == K_IF || op == K_ELSE) {
        emit_label(e, e->label[open]);
        return;
    }
    EmitLoop *l = &e->loop[--e->depth];
    emit_label(e, l->next);
    if (op == K_FOR) emit_put(e, "%%t%u = add nuw i64 %%t%u, 1", l->k1, l->k);
    back_edge(e, open, l->head, l->loop);
    if (l->loop) e->group = l->group, e->parallel--;
    emit_label(e, l->out);
}

void emit_check(Emit *e, const KIns *i) {
    uint32_t bad = emit_new(e), good = emit_new(e);
    emit_branch(e, emit_arg(e, i->a), good, bad);
    emit_label(e, bad);
    e->fault(e, i);
    e->leave(e);
    emit_label(e, good);
}

/* -- functions that call themselves -------------------------------------------------------------------------------- */
void emit_signature(const KFunc *callee, Text *out) {
    for (int i = 0; i < callee->noutputs; i++)
        qtext_printf(out, "%s%s", i ? ", " : "{ ", emit_type((qs_dtype)callee->outputs[i]));
    qtext_puts(out, " }");
}

/* The temporary of all results is kept in `wide`. */
void emit_call(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    const KFunc *callee = e->source->callees[i->imm];
    Text type, args;
    qtext_init(&type, e->c), qtext_init(&args, e->c);
    emit_signature(callee, &type);
    for (int k = 0; k < callee->ninputs; k++)
        qtext_printf(&args, ", %s %s", emit_type((qs_dtype)callee->inputs[k]), e->args[k].s);
    if (e->guard) e->guard(e);
    Opnd all = emit_def(e, "call fastcc %s @f%llu.%d(ptr %%args, ptr %%run%s)", type.s, (unsigned long long)i->imm,
                        e->callee_copy, args.s ? args.s : "");
    emit_set(e, r, emit_def(e, "extractvalue %s %s, 0", type.s, all.s));
    e->wide[r] = emit_number(all);
    qtext_free(&type), qtext_free(&args);
}

void emit_result(Emit *e, KRef r) {
    const KIns *i = &e->f->ins[r];
    Text type;
    qtext_init(&type, e->c);
    emit_signature(e->source->callees[e->f->ins[i->a].imm], &type);
    emit_set(e, r, emit_def(e, "extractvalue %s %%t%u, %llu", type.s, e->wide[i->a], (unsigned long long)i->imm));
    qtext_free(&type);
}
