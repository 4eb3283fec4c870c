/* emit_clike.h -- one printer for languages like C, and what it has to know of each.
 *
 * The text is OpenCL C in the words of a dialect: names of types, of memory spaces, of a kernel.  What OpenCL calls,
 * and the language has not, stands in the dialect's prelude under OpenCL's name (get_group_id, barrier, as_uint …), and
 * what the language has with another meaning than KIR is taken apart before (passes/legal.h).
 *
 * A new target of this kind is a dialect (emit_opencl.c is one, emit_c.c another), a device that loads and launches the
 * text (devices/device.h) and the table of its driver's functions: three files, and a row in compile.c. */
#ifndef LANG_EMIT_CLIKE_H
#define LANG_EMIT_CLIKE_H
#include "lang/kernel/codegen/emit.h"
#include "lang/kernel/passes/pipeline.h"

/* In texts of the printer $x stands for a word, by the letter x. */
typedef enum {
    WORD_LONG, /* $l: of 64 bits; without a sign $w */
    WORD_ULONG,
    WORD_UINT,   /* $u: of 32 bits */
    WORD_USHORT, /* $h */
    WORD_UCHAR,  /* $c */
    WORD_GLOBAL, /* $g: pointers to memory of arrays, with a blank behind it; "": there are no spaces */
    WORD_LOCAL,  /* $s: memory of a block */
    WORD_KERNEL, /* $k: what stands before the name of a kernel */
    WORD__COUNT
} Word;

typedef struct Clike Clike;
typedef struct {
    const char *words[WORD__COUNT];
    const char *types[QS_NDTYPES]; /* of elements in memory; of values, but for bool */
    const char *suffix;            /* of a constant of 64 bits: "L" */
    PipelineKind pipeline;         /* the passes that run before */
    /* Positions run in groups of work items, side by side.  Else the kernel walks over all of them itself, one after
     * the other: it has no barriers and no memory of a block. */
    bool groups;
    void (*head)(const Clike *, Text *out); /* what comes before all else */
} Dialect;

typedef struct {
    uint8_t op, dtype, local;
} ClikeMade;
enum { CLIKE_REF = 64, CLIKE_NREFS = 8 };

struct Clike {
    const KFunc *f;
    const Dialect *dialect;
    const KSplit *split; /* interior and border of f, or NULL */
    unsigned can;        /* what the language has with the meaning of KIR: LEGAL_* */
    Text body, lines;    /* lines: the position in the source of each line of body */
    uint32_t pos;        /* of the line to come; 0: none */
    int depth;
    uint64_t helpers[QS_NDTYPES]; /* bit h: helper h is needed for the dtype */
    Text atomics;                 /* functions made for the operators met; each is recorded below */
    ClikeMade made[KA__COUNT * QS_NDTYPES * 2];
    int nmade;
    bool fp64, atom64, exact, ending, fault;
    uint8_t *marks; /* per instruction: MARK_* */
    char refs[CLIKE_NREFS][CLIKE_REF];
    int nextref;
};

/* The element of an array, as a value. */
void kclike_element(Text *out, const Dialect *d, qs_dtype elem, const char *array, const char *index);
/* The kernel, as a function of the name `entry`; parameters are described in emit_clike.c. */
void kclike_print(Ctx *c, const Dialect *d, const KFunc *f, const char *entry, Text *out, Text *lines);
#endif
