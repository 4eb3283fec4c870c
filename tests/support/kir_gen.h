/* kir_gen.h -- kernels with arguments for testing that two ways of running KIR agree.
 *
 *     KCase *c = kgen_random(&ctx, &arena, seed, features);        or one of kgen_suite(…)
 *     kgen_evaluate(c)                    what must come out: fills c's written arrays by the reference evaluator
 *     KCase *d = kgen_copy(before);       run it elsewhere: kgen_launch(device, code, d)
 *     kgen_same(c, d, &why)
 *
 * Everything generated is verified, ends, and has one right result on every backend: no races but atomics that commute
 * exactly, no float whose rounding could differ except in arrays that carry a tolerance. */
#ifndef TESTS_SUPPORT_KIR_GEN_H
#define TESTS_SUPPORT_KIR_GEN_H
#include "devices/device.h"
#include "lang/kernel/ir/kir.h"

/* ENDING: positions end (RET, CHECK) in kernels with barriers, too.  PARTING: loops that positions of a row leave at
 * different times, and nothing that keeps the row from vectors. */
enum {
    KGEN_FP64 = 1,
    KGEN_BARRIER = 2,
    KGEN_CHECK = 4,
    KGEN_FETCH = 16,
    KGEN_ALL = 23,
    KGEN_ENDING = 8,
    KGEN_PARTING = 32
};

typedef struct {
    char *block;
    size_t nbytes; /* NULL: the parameter is a number */
    size_t offset; /* bytes from the block to the first element */
    double ulps;   /* allowed distance in units of the last place; 0: exact */
    double slack;  /* allowed distance relative to max(1, |value|) */
} KBlock;

typedef struct {
    Ctx *ctx;
    Arena *arena;
    const char *what; /* the suite's name of the case */
    KFunc *func;
    KArg *args;
    KBlock *blocks; /* one per parameter */
    KLaunch launch;
    KFault fault;
    bool fp64; /* needs float64 */
} KCase;

/* -- making: kir_gen.c (random), kir_suite.c (every instruction on edge values, by dtype) -------------------------- */
KCase *kgen_random(Ctx *c, Arena *arena, uint64_t seed, unsigned features);
int kgen_suite_size(void);
KCase *kgen_suite(Ctx *c, Arena *arena, int number);

/* -- building blocks: kir_case.c ----------------------------------------------------------------------------------- */
KCase *kgen_case(Ctx *c, Arena *arena, const char *name, int rank);
int kgen_number(KCase *c, qs_dtype d, KSlot value);
/* A row-major array with `first` elements before and `room` elements in all; strides NULL: packed, room and first 0. */
int kgen_array(KCase *c, qs_dtype d, int rank, const int64_t *dims, const int64_t *strides, size_t first, size_t room);
char *kgen_data(const KCase *c, int param); /* its block */
KRef kgen_load(KCase *c, int param, KRef index, KRef guard);
KRef kgen_store(KCase *c, int param, KRef index, KRef value, KRef guard);
KRef kgen_op(KCase *c, KOp op, KRef a, KRef b, KRef x); /* flag 0, dtype from the operands */
KRef kgen_cast(KCase *c, qs_dtype d, KRef a);
KRef kgen_i64(KCase *c, int64_t v);

/* -- running and comparing ----------------------------------------------------------------------------------------- */
qs_status kgen_finish(KCase *c);  /* seals and verifies */
KCase *kgen_copy(const KCase *c); /* the same kernel on its own copy of the arrays */
qs_status kgen_evaluate(KCase *c);
qs_status kgen_launch(Device *d, Program *p, KCase *c); /* uploads, launches, downloads */
bool kgen_same(const KCase *want, const KCase *got, Text *why);

/* -- programs of cases: kir_each.c --------------------------------------------------------------------------------- */
/* Tries cases first, first+step … below first+n: of the suite when features is 0, else random ones with these seeds. */
typedef void KTry(KCase *k, const char *kind, uint64_t number);
void kgen_each(Ctx *c, uint64_t first, uint64_t n, uint64_t step, unsigned features, KTry *f);
/* The whole suite and `count` seeds; with arguments [seed [count]] only seeds. */
void kgen_program(Ctx *c, int argc, char **argv, uint64_t count, unsigned features, KTry *f);
/* Whether the copy of k that `run` has run equals the evaluator's result for k; if not, it prints the difference. */
bool kgen_agrees(KCase *k, qs_status (*run)(KCase *), const char *kind, uint64_t number);
#endif
