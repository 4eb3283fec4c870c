/* pipeline.c -- see pipeline.h. */
#include "lang/kernel/passes/pipeline.h"

typedef struct {
    Ctx *c;
    Arena *arena;
    PipelineResult *r;
} Pipeline;

/* OpenCL rounds quotients and roots of float32 as it likes, so that bits are kept in float64 only. */
static void run_float32_if_fast(Pipeline *p) {
    if (p->r->func->fast) p->r->func = kfloat32_narrow(p->c, p->arena, p->r->func);
}
static void run_jam_positions(Pipeline *p) {
    if (!p->r->split) p->r->func = kjam_positions(p->c, p->arena, p->r->func, &p->r->jam);
}
static void run_rounded_sums(Pipeline *p) {
    if (!p->r->split && !p->r->jam.lanes) p->r->func = kroundedsums_block(p->c, p->arena, p->r->func);
}

/* Splits the kernel; rows: positions run in rows along the last axis. */
static void split_interior(Pipeline *p, bool rows) {
    KSplit *split = qarena_alloc(p->arena, sizeof *split);
    if (!kopt_interior(p->c, p->arena, p->r->func, rows, split)) return;
    if (!rows && !split->box.given) return; /* only the CPU gains by collapsed axes alone */
    p->r->split = split, p->r->func = split->func;
}
static void run_interior_rows(Pipeline *p) { split_interior(p, true); }
static void run_interior(Pipeline *p) {
    if (!p->r->func->serial) split_interior(p, false);
}

static void run_row_extremes(Pipeline *p) { p->r->func = kextremes_free_rows(p->c, p->arena, p->r->func, p->r->split); }
static void run_row_terms(Pipeline *p) { p->r->func = krowterms_block(p->c, p->arena, p->r->func, p->r->split); }
static void run_legal(Pipeline *p) { p->r->func = klegal(p->c, p->arena, p->r->func, p->r->can, p->r->split); }
static void run_narrow_bits(Pipeline *p) { p->r->bits = knarrow_bits(p->arena, p->r->func); }
static void run_narrow_indices(Pipeline *p) { p->r->bits = knarrow_indices(p->arena, p->r->func); }

typedef struct {
    const char *name, *reason;
    void (*run)(Pipeline *p); /* NULL: transform */
    const KFunc *(*transform)(Ctx *c, Arena *a, const KFunc *f);
} Pass;

/* legal comes after the pass that splits, which looks for index tests as KIR has them.  narrow comes last, because its
 * result is a table by instruction, which a copy of the function would invalidate. */
static const struct {
    unsigned can;
    Pass pass[32]; /* the last one has no name */
} pipelines[] = {
    [PIPELINE_CPU] =
        {LEGAL_ALL & ~(unsigned)LEGAL_DIVIDE,
         {{"chosen_elements", "the element at an index that a loop chooses is in a variable",
           .transform = kchosenelements_keep},
          {"unused", "passes count the uses of variables", .transform = kunused_remove},
          {"single_runs", "stores in a LOOP that runs once would not be vectorized", .transform = ksingleruns_open},
          {"index_sets", "inner loops have no conditions on their counters", .transform = kindexsets_split},
          {"index_tests", "inner loops whose index tests can be made in front of them have none",
           .transform = kindextests_hoist},
          {"float32", "loops compute in the precision of the elements where bits or fast math allow it",
           .transform = kfloat32_narrow},
          {"root_cubes", "with fast math, quotients have the range of float32", .transform = krootcubes_divide},
          {"interchange", "the innermost loop has independent iterations", .transform = kinterchange_loops},
          {"columns", "loops that go down columns go along rows", .transform = kcolumns_interchange},
          {"promote", "an element that all iterations of a loop change is in a variable",
           .transform = kpromote_elements},
          {"conditional_sums", "sums in branches do not keep a loop from vectors", .transform = kconditionalsums_move},
          {"extremes", "searches for the largest or smallest value compare in any order", .transform = kextremes_free},
          {"hoist_loads", "an element that all iterations of a loop read is loaded in front of them",
           .transform = khoist_loads},
          {"selections", "cheap branches are selections, which are not predicted", .transform = kselections_make},
          {"wavefront", "rows that depend on their neighbours run together, shifted", .transform = kwavefront_rows},
          {"jam", "chains of dependent operations of several iterations overlap", .transform = kjam_loops},
          {"split_loops", "loops end where they store an element that they all read", .transform = ksplit_loops},
          {"unroll", "inner loops have constant bounds, and loops over channels do not keep a kernel from vectors",
           .transform = kunroll_short_loops},
          {"known_lengths", "loops whose bounds differ by a constant have constant bounds",
           .transform = kknown_lengths},
          {"window_sums", "neighbouring positions share sums over rows of a window", .transform = kwindowsums_regroup},
          {"early_exits", "positions that run in vectors leave a LOOP at different times",
           .transform = kearlyexits_loop},
          {"interior", "most positions need no index tests, nor short branches", run_interior_rows},
          {"row_extremes", "searches along a row of a kernel compare in any order", run_row_extremes},
          {"row_terms", "terms of sums along a row of a kernel are computed in vectors", run_row_terms},
          {"legal", "LLVM's division is undefined for some operands", run_legal},
          {"jam_positions", "chains of dependent operations of several positions overlap", run_jam_positions},
          {"rounded_sums", "sums that each iteration rounds are exact in blocks, and so in vectors", run_rounded_sums},
          {"narrow", "small integers in fewer bits: a vector holds more of them", run_narrow_bits}}},
    [PIPELINE_CALLEE] = {LEGAL_ALL & ~(unsigned)LEGAL_DIVIDE,
                         {{"legal", "LLVM's division is undefined for some operands", run_legal},
                          {"narrow", "small integers in fewer bits", run_narrow_bits}}},
    [PIPELINE_GPU] = {LEGAL_ALL & ~(unsigned)LEGAL_DIVIDE,
                      {{"float32", "loops compute in the precision of the elements where bits or fast math allow it",
                        .transform = kfloat32_narrow},
                       {"promote", "an element that all iterations of a loop change is in a variable",
                        .transform = kpromote_elements},
                       {"legal", "LLVM's division is undefined for some operands", run_legal},
                       {"narrow", "GPUs have no 64-bit arithmetic: indices in 32 bits", run_narrow_indices}}},
    [PIPELINE_OPENCL] = {LEGAL_EXTREME | LEGAL_SATURATE | LEGAL_ATOMIC,
                         {{"float32", "loops compute in the precision of the elements where bits or fast math allow it",
                           run_float32_if_fast},
                          {"root_cubes", "with fast math, quotients have the range of float32",
                           .transform = krootcubes_divide},
                          {"interior", "groups of positions inside the arrays need no index tests", run_interior},
                          {"legal", "instructions that OpenCL C lacks, or defines differently", run_legal}}},
    [PIPELINE_C] = {0, {{"legal", "instructions that C lacks, or defines differently", run_legal}}},
};

static void print_pass(const Pass *pass, const PipelineResult *before, const PipelineResult *now, Text *trace) {
    qtext_printf(trace, "; after %s: %s\n", pass->name, pass->reason);
    if (now->func != before->func) kir_print(now->func, trace);
    else if (now->bits == before->bits) qtext_puts(trace, "; no change\n");
    if (now->bits == before->bits) return;
    for (KRef r = 1; r < now->func->nins; r++)
        if (now->bits[r]) qtext_printf(trace, ";   %%%u needs %d bits\n", (unsigned)r, now->bits[r]);
}

void kpipeline_run(Ctx *c, Arena *arena, const KFunc *f, PipelineKind kind, PipelineResult *out, Text *trace) {
    *out = (PipelineResult){.func = f, .can = pipelines[kind].can};
    Pipeline p = {c, arena, out};
    if (trace) kir_print(f, trace);
    for (const Pass *pass = pipelines[kind].pass; pass->name; pass++) {
        PipelineResult before = *out;
        if (pass->run) pass->run(&p);
        else out->func = pass->transform(c, arena, out->func);
        if (trace) print_pass(pass, &before, out, trace);
    }
}
