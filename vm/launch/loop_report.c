/* loop_report.c -- reports about loops: --explain, errors of a loop, and refusals of {!parallel for}. */
#include "lang/kernel/passes/passes.h"
#include "vm/launch/loop_run.h"

#include <stdio.h>
#include <string.h>

static const Source *source_of(const Call *c) { return c->f->proto->func->unit->src; }

static int line_of(const Source *s, uint32_t pos) {
    int line, col;
    return qsource_line_col(s, pos, &line, &col), line;
}

/* -- --explain ----------------------------------------------------------------------------------------------------- */
static void explain_loop(const Call *c, const char *what, const char *why, const Source *src, uint32_t pos) {
    char line[32] = "";
    if (why[0] && src) snprintf(line, sizeof line, " (line %d)", line_of(src, pos));
    qreport_explain(c->vm, (Where){source_of(c), c->region->loop->pos}, "loop: %s%s%s%s", what, why[0] ? ": " : "", why,
                    line);
}

typedef struct {
    Call *call;
    uint32_t pos;
    const char *reason;
    bool reported;
} InnerLoop;

/* Reports an inner loop; those of called functions have positions in other texts. */
static void report_inner_loop(void *ud, Node **child) {
    InnerLoop *in = ud;
    Node *n = *child;
    if (!n || in->reported) return;
    if ((n->kind == N_FOR || n->kind == N_WHILE) && n->pos == in->pos) {
        qreport_explain(in->call->vm, (Where){source_of(in->call), n->pos}, "inner loop: not vectorised: %s",
                        in->reason);
        in->reported = true;
    }
    qast_children(n, report_inner_loop, ud);
}

static void report_serial_loop(void *ud, uint32_t pos, const char *reason) {
    Call *c = ud;
    Node *loop = c->region->loop;
    InnerLoop in = {c, pos, reason, false};
    if (pos != loop->pos) report_inner_loop(&in, &loop);
}

static void explain_inner_loops(Call *c) {
    const LoopResult *code = &c->v->code;
    bool serial = code->exact.func && !code->parallel.func && qvm(c->vm)->config.explain;
    if (serial)
        kserial_explain(qvm_ctx(c->vm), code->quick.func ? code->quick.func : code->exact.func, c, report_serial_loop);
}

/* Whether the report of another specialization has named the statement. */
static bool is_reported_leave(const Call *c, const Node *statement) {
    const LoopState *s = c->region->machine;
    for (const Specialization *v = s->forms.first; v; v = v->next) {
        const LoopSpec *form = (const LoopSpec *)v;
        for (int i = 0; form != c->v && form->reported && i < form->code.nleaves; i++)
            if (form->code.leaves[i].statement == statement) return true;
    }
    return false;
}

void qloop_report(Call *c) {
    static const char *const counted[] = {"", "one ", "two ", "three ", "four ", "five ", "six ", "seven ", "eight "};
    const LoopResult *code = &c->v->code;
    char parallel[48];
    if (c->v->reported) return;
    c->v->reported = true;
    snprintf(parallel, sizeof parallel, "parallel, %scounter%s", counted[code->depth], code->depth > 1 ? "s" : "");
    if (code->exact.func && code->parallel.func) explain_loop(c, parallel, "", NULL, 0);
    else
        explain_loop(c, code->exact.func ? "machine code, one iteration after the other" : "interpreted", code->why,
                     code->src ? code->src : source_of(c), code->why_pos);
    for (int i = 0; code->exact.func && i < code->nleaves; i++)
        if (!is_reported_leave(c, code->leaves[i].statement))
            explain_loop(c, "a statement in a branch is left to the interpreter", code->leaves[i].why,
                         code->leaves[i].src, code->leaves[i].why_pos);
    explain_inner_loops(c);
}

void qloop_report_many(Call *c) {
    explain_loop(c, "interpreted", "it has met too many combinations of kinds of values", NULL, 0);
}

void qloop_report_inner(Call *c) {
    explain_loop(c, "interpreted", "its work is in loops and array expressions inside it, which may be parallel", NULL,
                 0);
}

/* Was the loop never examined, because it had too little work with all types of values? */
static bool is_left(const LoopRegion *r) {
    const LoopState *s = r->machine;
    return !s || !s->forms.n;
}

static void note_longest(qs_vm *vm, const Proto *p, const LoopRegion *r) {
    Machine *m = qvm(vm);
    const LoopState *s = r->machine;
    const Source *src = p->func->unit->src;
    if (!s || s->work <= m->longest_left) return;
    m->longest_left = s->work;
    snprintf(m->longest_at, sizeof m->longest_at, "%s:%d", src->path, line_of(src, r->loop->pos));
}

void qloop_count_left(qs_vm *vm, const Proto *p) {
    const Chunk *c = &p->chunk;
    if (!qvm(vm)->config.explain || p->func->unit->src->library) return;
    for (uint32_t i = 0; i < c->nloops; i++) {
        bool left = is_left(&c->loops[i]);
        for (uint32_t k = 0; left && k < c->nloops; k++) /* a loop inside a compiled one is compiled with it */
            left = is_left(&c->loops[k]) || c->loops[i].start < c->loops[k].start || c->loops[i].end > c->loops[k].end;
        qvm(vm)->loops_left += left;
        if (left) note_longest(vm, p, &c->loops[i]);
    }
}

void qloop_report_left(qs_vm *vm) {
    char line[400];
    int n = qvm(vm)->loops_left;
    bool any = qvm(vm)->longest_left > 0;
    if (!qvm(vm)->config.explain || qvm(vm)->loop_least == INT64_MAX || !n) return;
    int len = snprintf(line, sizeof line,
                       "%d loop%s had too little work, or none, and %s left to the interpreter%s%s; "
                       "--loops always compiles every loop\n",
                       n, n == 1 ? "" : "s", n == 1 ? "was" : "were",
                       !any     ? ""
                       : n == 1 ? ": "
                                : ", the longest at ",
                       any ? qvm(vm)->longest_at : "");
    qvm_diagnostic(vm, line, (size_t)len);
}

/* -- {!parallel for} ----------------------------------------------------------------------------------------------- */
bool qloop_is_demanded(const LoopRegion *r) {
    const Attr *a = r->loop->kind == N_FOR ? r->loop->u.loop.attr : NULL;
    return a && !strcmp(a->name->s, "parallel");
}

static qs_status refuse_parallel(const Call *c, const char *why, const Source *src, uint32_t pos) {
    char line[32] = "";
    if (src) snprintf(line, sizeof line, " (line %d)", line_of(src, pos));
    return qerr_at(qvm_ctx(c->vm), QS_EVALUE, (Where){source_of(c), c->region->loop->pos},
                   "this loop cannot run in parallel: %s%s", why, line);
}

qs_status qloop_demand(const Call *c) {
    const LoopResult *code = &c->v->code;
    if (!qloop_is_demanded(c->region) || (code->exact.func && code->parallel.func)) return QS_OK;
    return refuse_parallel(c, code->why, code->src ? code->src : source_of(c), code->why_pos);
}

void qloop_because(Call *c, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->order, sizeof c->order, fmt, ap);
    va_end(ap);
}

qs_status qloop_in_order(Call *c) {
    if (!c->order[0]) return QS_OK;
    if (qloop_is_demanded(c->region)) return refuse_parallel(c, c->order, c->order_src, c->order_pos);
    uint32_t reason = c->order_src ? c->order_pos + 1 : UINT32_MAX;
    if (c->v->reported_order != reason)
        explain_loop(c, "this time one iteration after the other", c->order, c->order_src, c->order_pos);
    return c->v->reported_order = reason, QS_OK;
}

/* -- errors of the loop -------------------------------------------------------------------------------------------- */
/* Sets the frame's pc to the line where the loop failed, so that the call chain shows it. */
static void move_to(Frame *f, const LoopRegion *r, uint32_t pos) {
    const Chunk *c = &f->proto->chunk;
    for (uint32_t i = 0; i < c->nlines; i++)
        if (c->lines[i].pos == pos && c->lines[i].pc >= r->start && c->lines[i].pc < r->end)
            f->pc = c->code + c->lines[i].pc + 1;
}

qs_status qloop_fault(Call *c) {
    const LoopPlace *at = &qloop_code(c->v, (LoopVersion)c->run.which)->places[c->run.fault.pos - 1];
    qs_status s = qlaunch_fault(&c->run, qast_where(at->func->unit, at->pos));
    for (; at->caller; at = at->caller) qerr_frame(qvm_ctx(c->vm), qast_where(at->func->unit, at->pos), at->func->name);
    return move_to(c->f, c->region, at->pos), s;
}
