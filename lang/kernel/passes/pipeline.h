/* pipeline.h -- the list of passes that each kind of target runs between verified KIR and its emitter.
 *
 * A new pass is a file of this folder, one function in pipeline.c and one row of a list there.  The emitters print what
 * comes out; they run no passes of their own, except that the CPU's emitters ask plan.c how to cut a range of
 * instructions into loops, because that depends on the loop that they are printing. */
#ifndef LANG_KERNEL_PIPELINE_H
#define LANG_KERNEL_PIPELINE_H
#include "lang/kernel/passes/legal.h"
#include "lang/kernel/passes/opt.h"
#include "lang/kernel/passes/passes.h"

typedef enum {
    PIPELINE_CPU,    /* LLVM: positions run in loops, which become vectors */
    PIPELINE_CALLEE, /* LLVM: a function that a CPU kernel calls */
    PIPELINE_GPU,    /* LLVM: each position is a thread */
    PIPELINE_OPENCL, /* OpenCL C: positions run side by side in groups */
    PIPELINE_C,      /* C: the kernel loops over its positions */
} PipelineKind;

typedef struct {
    const KFunc *func;
    KSplit *split; /* the interior and border of func; NULL: it has none */
    KJam jam;      /* positions that func computes together */
    unsigned can;  /* what the target has with the meaning of KIR: LEGAL_* */
    uint8_t *bits; /* by instruction: the width that its value needs (knarrow_bits); NULL: the target does not ask */
} PipelineResult;

/* Runs the passes of a target on f.  trace: if it is not NULL, f and the KIR after each pass are printed there, with
 * the name of the pass and its reason. */
void kpipeline_run(Ctx *c, Arena *arena, const KFunc *f, PipelineKind kind, PipelineResult *out, Text *trace);
#endif
